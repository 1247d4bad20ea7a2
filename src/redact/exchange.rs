//! One exchange through both passes.

use serde_json::Value;
use url::Url;

use super::{
    ExchangeSecrets, Writer,
    body::{self, JsonFrame, MAX_STORED, ParsedBody, cut, essence},
    class::{Place, SecretReason},
    html, markup,
    measures::{BodyMeasures, Meter},
    randomness::{erratic, random},
    raw::{RawBody, RawExchange},
    rules::{RedactRules, SecretSink as _, Walk},
    scan::{auth_scheme, base64_text},
    text_kind::TextKind,
    typed_values::TypedValues,
    urls::PartReplacer,
};
use commis_artifacts::recording::{
    BodyStatus, Excerpt, Exchange, Header, Initiator, Measures, ResourceType,
};
use commis_recipe::{file_facts, model::Framing, script_data, shape};

/// What `shape::truncate` keeps of an array that does not fit.
const MAX_ITEMS: usize = 20;
/// Longer scripts are programs: nobody looks for data in them.
const MAX_SCRIPT: usize = 512 * 1024;
const MAX_HEADERS: usize = 64;
const MAX_HEADER_VALUE: usize = 2048;

/// First pass over everything of an exchange.
pub fn learn(raw: &RawExchange, parsed: &ParsedBody, rules: &RedactRules) -> ExchangeSecrets {
    let mut noted = ExchangeSecrets::default();
    request_and_headers(raw, &mut Walk::new(rules, &mut noted));
    noted.seen = noted.secrets.len();
    answer(parsed, &raw.mime, &mut Walk::new(rules, &mut noted));
    noted
}

fn request_and_headers(raw: &RawExchange, walk: &mut Walk<'_>) {
    for (name, value) in raw.request_headers.iter().chain(&raw.response_headers) {
        let name = name.to_ascii_lowercase();
        header_name(&name, walk);
        header(&name, value, walk);
    }
    address(&raw.url, walk);
    if let Some(bytes) = &raw.request_body {
        body::request(bytes, content_type(raw), walk);
    }
}

fn answer(parsed: &ParsedBody, mime: &str, walk: &mut Walk<'_>) {
    match parsed {
        ParsedBody::Json(value, _) => walk.look_through(value),
        ParsedBody::Html(text) => {
            markup::named_values(text, |_, name, value| {
                walk.leaf(name, value, Place::Json);
            });
            walk.text(text, TextKind::Markup);
            // JSON in an attribute.
            if text.contains("&quot;") || text.contains("&#34;") || text.contains("&#x22;") {
                walk.text(&markup::entities(text), TextKind::Code);
            }
        }
        ParsedBody::Text(text) => _ = walk.lines(text, TextKind::detect(text, mime)),
        ParsedBody::Code(text) => _ = walk.text(text, TextKind::Code),
        ParsedBody::Binary | ParsedBody::None => {}
    }
}

/// One cookie's value is a known secret when it is long enough to be one.
pub fn cookie(name: &str, value: &str, walk: &mut Walk<'_>) {
    let value = value.trim_matches('"');
    if value.len() >= 8 && !walk.rules.is_allowed(name) {
        walk.sink.secret(name, value, SecretReason::Cookie);
        let plain = super::encode::decode_percent(value);
        if plain != value {
            walk.sink.secret(name, &plain, SecretReason::Cookie);
        }
    }
    walk.leaf(name, value, Place::Header);
}

/// The request as stored, and each placeholder in it with its place.
pub fn request(
    id: usize,
    raw: &RawExchange,
    rules: &RedactRules,
    writer: &mut Writer<'_>,
    typed: &TypedValues,
) -> (Exchange, Vec<(String, String)>) {
    writer.forget();
    let mut request_headers = Vec::new();
    for (name, value) in stored_headers(&raw.request_headers) {
        let new = header(&name, value, &mut Walk::new(rules, writer));
        // The cookie header is known by its name; there is nothing to trace.
        if name == "cookie" {
            writer.forget();
        } else {
            writer.stands_at(&format!("header:{name}"));
        }
        let name = header_name(&name, &mut Walk::new(rules, writer)).unwrap_or(name);
        request_headers.push(stored_header(name, new.as_deref().unwrap_or(value)));
    }
    let mut walk = Walk::new(rules, writer);
    let url = address(&raw.url, &mut walk);
    let body_type = content_type(raw);
    let request_body = raw
        .request_body
        .as_ref()
        .filter(|it| !it.is_empty())
        .map(|it| body::request(it, body_type, &mut walk));
    let page_url = walk.leaf("", &raw.initiator.page_url, Place::Query);
    writer.forget();
    let places = writer.take_places();
    let stored = Exchange {
        id: id as u32,
        method: raw.method.to_ascii_uppercase(),
        url,
        request_headers,
        request_body,
        charset: None,
        status: raw.status,
        response_headers: Vec::new(),
        mime: essence(&raw.mime),
        framing: None,
        callback: None,
        resource_type: raw.resource_type,
        initiator: Initiator {
            page_url: page_url.unwrap_or_else(|| raw.initiator.page_url.clone()),
            ..raw.initiator.clone()
        },
        timing: raw.timing,
        after_action: raw.after_action,
        redirected_from: raw.redirected_from,
        encoded_bytes: raw.encoded_bytes,
        decoded_bytes: None,
        body_status: BodyStatus::Absent,
        excerpt: None,
        measures: Measures { typed_in_request: typed.find(raw, body_type), ..Measures::default() },
        origins: Vec::new(),
    };
    (stored, places)
}

/// An answer, opened as far as nothing has to be written for that.
pub enum Answer {
    /// What an excerpt is made of, without what that cannot hold, which need not be redacted; and whether anything was cut.
    Json(JsonFrame, shape::PrunedValue, bool),
    /// The markup, and what it comes to.
    Html(String, html::Page),
    Text(String),
    Binary,
    /// Nothing of it is kept.
    None,
}

/// Opens an answer and measures all of it; of JSON at most `share` bytes are kept, what was typed (in lower case) among it, and `one`
/// thing is asked for.
pub fn open_answer(
    raw: &RawExchange,
    parsed: ParsedBody,
    (share, typed): (usize, &[String]),
    mut meter: Meter<'_>,
    one: bool,
) -> (Answer, Option<BodyMeasures>) {
    match parsed {
        ParsedBody::Json(mut value, frame) => {
            meter.json(&value);
            let measured = meter.finish(Some(&value));
            if raw.body.len() > share {
                let is_typed = |it: &str| typed.contains(&it.trim().to_lowercase());
                shape::move_matches_first(&mut value, share, &is_typed);
            }
            let long = raw.body.len() > 4 * MAX_STORED && shorten(&mut value);
            (Answer::Json(frame, shape::PrunedValue::new(value, share), long), Some(measured))
        }
        ParsedBody::Html(text) => {
            let mut page = html::read(&text, &mut meter, one);
            let mut measured = meter.finish(None);
            measured.measures.embedded_json = std::mem::take(&mut page.embedded);
            measured.measures.listings = std::mem::take(&mut page.listings);
            (Answer::Html(text, page), Some(measured))
        }
        ParsedBody::Text(_) if is_text_file(raw) => describe_file(raw, share, meter),
        ParsedBody::Text(text) => {
            meter.words(&text);
            (Answer::Text(text), Some(meter.finish(None)))
        }
        ParsedBody::Code(text) => match data_of_script(raw, &text, typed) {
            Some(value) => {
                let frame = JsonFrame { framing: Some(Framing::Script), callback: None };
                (Answer::Json(frame, shape::PrunedValue::new(value, share), false), None)
            }
            None => (Answer::None, None),
        },
        ParsedBody::Binary if is_file(raw) => describe_file(raw, share, meter),
        ParsedBody::Binary => (Answer::Binary, None),
        ParsedBody::None => (Answer::None, None),
    }
}

/// What is kept of a file: its facts.
fn describe_file(
    raw: &RawExchange,
    share: usize,
    mut meter: Meter<'_>,
) -> (Answer, Option<BodyMeasures>) {
    let Some(bytes) = raw.body.bytes() else { return (Answer::Binary, None) };
    let facts =
        file_facts::describe(&essence(&raw.mime), &raw.response_headers, raw.url.as_str(), &bytes);
    meter.json(&facts);
    let measured = meter.finish(Some(&facts));
    let frame = JsonFrame { framing: Some(Framing::File), callback: None };
    (Answer::Json(frame, shape::PrunedValue::new(facts, share), false), Some(measured))
}

/// Whether a text is a file that a page was left for, such as a CSV export. What scripts ask for is data, whatever it is named.
fn is_text_file(raw: &RawExchange) -> bool {
    matches!(raw.resource_type, ResourceType::Document | ResourceType::Iframe)
        && matches!(raw.status, Some(200..300))
        && (file_facts::is_attachment(&raw.response_headers)
            || file_facts::is_file_type(&essence(&raw.mime)))
}

/// Whether an answer is a file that the site gives, and no picture of its page.
fn is_file(raw: &RawExchange) -> bool {
    matches!(raw.status, Some(200..300))
        && (raw.resource_type == ResourceType::Document
            || file_facts::is_attachment(&raw.response_headers))
}

/// What a script assigns to names, as far as it holds what was typed; rows that hold it first.
fn data_of_script(raw: &RawExchange, text: &str, typed: &[String]) -> Option<Value> {
    if raw.resource_type != ResourceType::Script || text.len() > MAX_SCRIPT {
        return None;
    }
    let low = text.to_lowercase();
    if !typed.iter().any(|it| low.contains(it.as_str())) {
        return None;
    }
    let Value::Object(mut all) = script_data::read(text)? else { return None };
    all.retain(|_, it| holds(it, typed));
    for it in all.values_mut() {
        if let Value::Array(rows) = it {
            rows.sort_by_key(|it| !holds(it, typed));
        }
    }
    (!all.is_empty()).then(|| shape::with_sorted_keys(all.into()))
}

fn holds(value: &Value, typed: &[String]) -> bool {
    match value {
        Value::Array(all) => all.iter().any(|it| holds(it, typed)),
        Value::Object(all) => all.values().any(|it| holds(it, typed)),
        Value::String(it) => typed.contains(&it.trim().to_lowercase()),
        _ => false,
    }
}

/// Redacted JSON that is to be made as short as an excerpt is; and whether anything was cut before.
pub struct PrunedJson(shape::PrunedValue, bool);

impl PrunedJson {
    /// The excerpt, and whether it is all of the answer.
    pub fn excerpt(self) -> (Excerpt, bool) {
        let (kept, was_cut) = self.0.into_truncated();
        (Excerpt::Json(kept), !was_cut && !self.1)
    }
}

/// The answer: stored headers and excerpt, but for JSON, which the caller makes an excerpt of. What was measured holds texts of a
/// page, which are redacted, too.
pub fn response(
    stored: &mut Exchange,
    raw: &RawExchange,
    answer: Answer,
    measured: Option<&mut BodyMeasures>,
    mut walk: Walk<'_>,
) -> Option<PrunedJson> {
    let judged = walk.judged.take();
    for (name, value) in stored_headers(&raw.response_headers) {
        let new = header(&name, value, &mut walk);
        let name = header_name(&name, &mut walk).unwrap_or(name);
        stored.response_headers.push(stored_header(name, new.as_deref().unwrap_or(value)));
    }
    stored.body_status = match &raw.body {
        RawBody::Missing(status) => *status,
        RawBody::Captured(bytes) => {
            stored.decoded_bytes = Some(bytes.len() as u64);
            if bytes.is_empty() { BodyStatus::Empty } else { BodyStatus::Truncated }
        }
        RawBody::Elsewhere(it) => {
            stored.decoded_bytes = Some(it.len as u64);
            if it.is_binary { BodyStatus::Binary } else { BodyStatus::Truncated }
        }
    };
    // A page is opened in another way than it was looked through.
    walk.judged = judged.filter(|_| matches!(answer, Answer::Json(..)));
    match answer {
        Answer::Json(frame, mut pruned, long) => {
            stored.framing = frame.framing;
            stored.callback = frame.callback;
            // A digest looks like a secret and is none.
            let digest = match stored.framing {
                Some(Framing::File) => pruned.value_mut().get_mut("sha256").map(Value::take),
                _ => None,
            };
            walk.json(pruned.value_mut(), Place::Answer);
            if let Some(it) = digest {
                pruned.value_mut()["sha256"] = it;
            }
            return Some(PrunedJson(pruned, long));
        }
        Answer::Html(_, page) => {
            let listings = measured.map(|it| &mut it.measures.listings);
            // A page that nobody saw may still show what a script fetched for it.
            let fetched = matches!(raw.resource_type, ResourceType::Xhr | ResourceType::Fetch)
                && listings.as_ref().is_some_and(|it| !it.is_empty());
            let excerpt =
                page.excerpt(&mut walk).or_else(|| fetched.then(|| page.start(&mut walk)));
            if let Some((markup, was_cut)) = excerpt {
                stored.excerpt = Some(Excerpt::Html(markup));
                if !was_cut {
                    stored.body_status = BodyStatus::Captured;
                }
            }
            for it in listings.into_iter().flatten().flat_map(|it| &mut it.sample) {
                walk.json(it, Place::Answer);
            }
        }
        Answer::Text(text) => {
            let (kept, was_cut) = body::text_excerpt(&text, &raw.mime, &mut walk);
            stored.excerpt = Some(Excerpt::Text(kept));
            if !was_cut {
                stored.body_status = BodyStatus::Captured;
            }
        }
        Answer::Binary => stored.body_status = BodyStatus::Binary,
        Answer::None => {}
    }
    None
}

/// Cuts arrays to what `shape::truncate` keeps of them at most. Returns whether anything was cut.
fn shorten(value: &mut Value) -> bool {
    match value {
        Value::Array(items) => {
            let mut cut = items.len() > MAX_ITEMS;
            items.truncate(MAX_ITEMS);
            for item in items {
                cut |= shorten(item);
            }
            cut
        }
        Value::Object(fields) => {
            let mut cut = false;
            for item in fields.values_mut() {
                cut |= shorten(item);
            }
            cut
        }
        _ => false,
    }
}

/// Lower-case names in their order, without HTTP/2's pseudo headers.
fn stored_headers(headers: &[(String, String)]) -> impl Iterator<Item = (String, &str)> {
    headers
        .iter()
        .filter(|it| !it.0.is_empty() && !it.0.starts_with(':'))
        .take(MAX_HEADERS)
        .map(|(name, value)| (name.to_ascii_lowercase(), value.as_str()))
}

fn stored_header(name: String, value: &str) -> Header {
    Header { name: cut(&name, 256).to_owned(), value: cut(value, MAX_HEADER_VALUE).to_owned() }
}

/// A header's name of which a part is random: `x-auth-0c7hb3vq…`.
pub fn header_name(name: &str, walk: &mut Walk<'_>) -> Option<String> {
    let part = name.split(['-', '_']).find(|it| it.len() >= 16 && (random(it) || erratic(it)))?;
    let new = walk.sink.secret("header", part, SecretReason::Key)?;
    Some(name.replacen(part, &new, 1))
}

/// `'nonce-…'`: good for the scripts of one page.
fn nonces(value: &str, walk: &mut Walk<'_>) -> Option<String> {
    let all = value.split(['\'', ' ']).filter_map(|it| it.strip_prefix("nonce-"));
    let found = all.filter(|it| it.len() >= 8).map(|it| ("nonce", it, SecretReason::Key)).collect();
    walk.replace(value, found, Vec::new())
}

/// The quoted addresses in a header.
fn reported(value: &str, walk: &mut Walk<'_>) -> Option<String> {
    let mut out = PartReplacer::new(value);
    for part in value.split('"') {
        let new = if part.contains("://") { walk.link(part) } else { None };
        out.part(part, new, '"');
    }
    out.changed
}

/// One header. `Bearer x` keeps its scheme, so that the credential's own origin can be told; everything else that
/// carries credentials is replaced whole.
pub fn header(name: &str, value: &str, walk: &mut Walk<'_>) -> Option<String> {
    if walk.rules.is_allowed(name) {
        return walk.sink.replace_known(value);
    }
    match name {
        "authorization" | "proxy-authorization" => {
            let secret = auth_scheme(value).unwrap_or(value);
            if let Some((user, password)) =
                base64_text(secret).as_deref().and_then(|it| it.split_once(':'))
            {
                walk.sink.secret("password", password, SecretReason::Key);
                walk.leaf("user", user, Place::Header);
            }
            let new = walk.sink.secret(name, secret, SecretReason::Header)?;
            Some(format!("{}{new}", &value[..value.len() - secret.len()]))
        }
        "cookie" => {
            for (name, value) in value.split(';').filter_map(|it| it.trim().split_once('=')) {
                cookie(name, value, walk);
            }
            walk.sink.secret(name, value, SecretReason::Header)
        }
        "set-cookie" => {
            for line in value.lines() {
                if let Some((name, value)) =
                    line.split(';').next().and_then(|it| it.split_once('='))
                {
                    cookie(name.trim(), value.trim(), walk);
                }
            }
            walk.sink.secret(name, value, SecretReason::Header)
        }
        "www-authenticate"
        | "proxy-authenticate"
        | "authentication-info"
        | "proxy-authentication-info" => walk.challenge(name, value),
        "location" | "content-location" | "referer" => walk.link(value),
        // Who may report there has the address from this header alone: what is made up in its path lets them.
        "report-to" | "reporting-endpoints" => {
            let was = std::mem::replace(&mut walk.grants, true);
            let new = reported(value, walk);
            walk.grants = was;
            new.or_else(|| walk.leaf(name, value, Place::Header))
        }
        "content-security-policy" | "content-security-policy-report-only" => {
            let leaf = walk.leaf(name, value, Place::Header);
            nonces(leaf.as_deref().unwrap_or(value), walk).or(leaf)
        }
        _ => walk.leaf(name, value, Place::Header),
    }
}

/// The request's own URL: canonical, without fragment and user information, byte for byte but for what is replaced.
/// Placeholders stand percent-encoded in it; [`super::LiveValues::resolve`] knows them.
fn address(url: &Url, walk: &mut Walk<'_>) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    if let Some(password) = url.password().map(super::encode::decode_percent) {
        walk.sink.secret("password", &password, SecretReason::Key);
        let _ = url.set_password(None);
    }
    if !url.username().is_empty() {
        walk.sink.secret("user", &super::encode::decode_percent(url.username()), SecretReason::Key);
        let _ = url.set_username("");
    }
    let query = url.query().map(str::to_owned);
    if let Some(new) = walk.path(url.path()) {
        url.set_path(&new);
        walk.sink.stands_at("path");
    }
    url.set_query(None);
    let front = url.to_string();
    let Some(query) = query else {
        return front;
    };
    walk.grant(url.path(), &query);
    let mut out = Vec::new();
    for pair in query.split('&') {
        let name = pair.split_once('=').map_or("", |it| it.0);
        let new = walk.query(pair);
        let name = name.replace('+', " ");
        let key = super::encode::decode_percent(&name);
        walk.sink.stands_at(&format!("query:{key}"));
        out.push(new.unwrap_or_else(|| pair.to_owned()));
    }
    format!("{front}?{}", out.join("&"))
}

fn content_type(raw: &RawExchange) -> &str {
    raw.request_headers
        .iter()
        .find(|it| it.0.eq_ignore_ascii_case("content-type"))
        .map_or("", |it| it.1.as_str())
}
