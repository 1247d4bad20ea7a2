//! From a recorded exchange to a request template: what is kept of it, and where its secrets come from.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use commis_artifacts::recording::{Exchange, Origin, RequestBody, ValueOrigin};
use commis_net::egress::site_of;
use commis_recipe::{
    check::{check_header, find_override},
    framing::CALLBACK,
    headers::{is_ambient, is_override_header},
    model::{BodyTemplate, Pair, RequestTemplate, Slot, SlotSource},
    request::{MULTIPART, is_raw},
    template::{Template, escape},
    trackers::is_cache_buster,
};

/// The request as recorded, its secrets as slots; `None` for one that a recipe cannot hold.
pub fn template(exchange: &Exchange) -> Option<(RequestTemplate, Vec<Slot>)> {
    let url = Url::parse(&exchange.url).ok()?;
    let mut slots = SlotBuilder { origins: &exchange.origins, slots: Vec::new() };
    let written = url.query().unwrap_or_default().split('&').filter(|it| !it.is_empty());
    let query: Vec<Pair> = url
        .query_pairs()
        .zip(written)
        .map(|((name, value), written)| Pair {
            raw: raw(written),
            // Pages make a new name each time; any will do, since only the data is read.
            value: if exchange.callback.as_deref() == Some(&*name) {
                CALLBACK.to_owned()
            } else {
                slots.fill(&format!("query:{name}"), &name, &value)
            },
            name: name.into_owned(),
        })
        .collect();
    let mut headers = BTreeMap::new();
    for header in &exchange.request_headers {
        let name = header.name.as_str();
        // Without it this would be another request, perhaps one that changes something.
        if is_override_header(name) {
            return None;
        }
        let is_lost = name == "authorization" && !slots.are_known(&header.value);
        if is_ambient(name) || is_lost || name.starts_with("sec-") || name.starts_with(':') {
            continue;
        }
        let value = slots.fill(&format!("header:{name}"), name, &header.value);
        // What a recipe may not hold is left out: the replay shows whether the answer needs it.
        if check_header(name, &value).is_ok() {
            headers.insert(name.to_owned(), value);
        }
    }
    let body = match &exchange.request_body {
        None => None,
        Some(RequestBody::Json(it)) => Some(BodyTemplate::Json(slots.fill_json(it, ""))),
        // What a file holds is not recorded.
        Some(RequestBody::Multipart(fields)) if fields.iter().any(|it| it.file) => return None,
        Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
            Some(BodyTemplate::Form(
                fields
                    .iter()
                    .map(|it| Pair {
                        name: it.name.clone(),
                        value: slots.fill(&format!("form:{}", it.name), &it.name, &it.value),
                        ..Pair::default()
                    })
                    .collect(),
            ))
        }
        Some(RequestBody::Text(it)) => Some(BodyTemplate::Text(slots.fill("text:", "text", it))),
        Some(RequestBody::Binary { .. }) => return None,
    };
    if let Some(RequestBody::Multipart(_)) = &exchange.request_body {
        // The boundary is another for each request.
        headers.insert("content-type".to_owned(), MULTIPART.to_owned());
    }
    let mut base = url.clone();
    base.set_query(None);
    base.set_fragment(None);
    let host = url.host_str()?.to_owned();
    let request = RequestTemplate {
        method: exchange.method.clone(),
        url: path(&mut slots, &base)?,
        query,
        headers,
        body,
        host: None,
        address: None,
        charset: exchange.charset.clone(),
        allowed_sites: vec![site_of(&exchange.url)],
        allowed_domains: vec![host],
    };
    // What a field makes another request of is none that a recipe may hold.
    find_override(&request).is_none().then_some((request, slots.slots))
}

/// Without what every client writes in its own way.
pub fn plain(mut request: RequestTemplate) -> RequestTemplate {
    request.headers.retain(|name, it| {
        Template::parse(it).is_ok_and(|it| it.is_literal()) && !(name == "accept" && it == "*/*")
    });
    request.query.retain(|it| !is_cache_buster(&it.name, &it.value));
    request
}

/// The characters of a pair that its page did not encode as a form does.
fn raw(written: &str) -> String {
    if written.contains("REDACTED") {
        return String::new();
    }
    let (name, value) = written.split_once('=').unwrap_or((written, ""));
    let marks = name.chars().chain(value.chars()).filter(|c| is_raw(*c));
    let mut out: Vec<char> = marks.collect();
    if written.contains("%20") && !written.contains('+') {
        out.push(' ');
    }
    out.sort_unstable();
    out.dedup();
    out.into_iter().collect()
}

/// Scheme, host and path. `None` when a placeholder is encoded in a way that cannot be told from text.
fn path(slots: &mut SlotBuilder<'_>, base: &Url) -> Option<String> {
    let text = base.as_str();
    if !text.contains("REDACTED") && !slots.origins.iter().any(|it| it.at == "path") {
        return Some(escape(text));
    }
    let origin_end = text.find("://").map(|it| it + 3)?;
    let path_start = origin_end + text[origin_end..].find('/')?;
    let (origin, segments) = text.split_at(path_start);
    let mut out = escape(origin);
    for segment in segments[1..].split('/') {
        out.push('/');
        let decoded = percent_encoding::percent_decode_str(segment).decode_utf8();
        if let Some(name) = decoded.as_ref().ok().and_then(|it| slots.built("path", it)) {
            out.push('{');
            out.push_str(&name);
            out.push('}');
        } else if let Some((before, name, after)) =
            decoded.as_ref().ok().and_then(|it| slots.built_part("path", it))
        {
            out.extend([&*escape(before), "{", &name, "}", &*escape(after)]);
        } else if segment.contains("REDACTED") {
            let decoded = decoded.ok()?;
            let filled = slots.fill("path", "path", &decoded);
            // Only a segment that is a placeholder whole can be told.
            if !(filled.starts_with("{slot_")
                && filled.ends_with('}')
                && filled.matches('{').count() == 1)
            {
                return None;
            }
            out.push_str(&filled);
        } else {
            out.push_str(&escape(segment));
        }
    }
    Some(out)
}

struct SlotBuilder<'a> {
    origins: &'a [ValueOrigin],
    slots: Vec<Slot>,
}

impl SlotBuilder<'_> {
    /// Whether the value has placeholders, and where each came from is known.
    fn are_known(&self, value: &str) -> bool {
        let mut all = value.match_indices("[REDACTED:").map(|(at, _)| {
            let end = value[at..].find(']').map_or(value.len(), |it| at + it + 1);
            &value[at..end]
        });
        let known = |it: &str| {
            self.origins.iter().any(|origin| origin.placeholder == it && origin.origin.is_some())
        };
        value.contains("[REDACTED:") && all.all(known)
    }

    /// The value as a template: literal text escaped, each placeholder a slot.
    fn fill(&mut self, at: &str, key: &str, value: &str) -> String {
        if let Some(name) = self.built(at, value) {
            return format!("{{{name}}}");
        }
        let mut out = String::new();
        let mut rest = value;
        while let Some(start) = rest.find("[REDACTED:") {
            let Some(len) = rest[start..].find(']') else {
                break;
            };
            let placeholder = &rest[start..=start + len];
            out.push_str(&escape(&rest[..start]));
            out.push('{');
            out.push_str(&self.slot(at, key, placeholder));
            out.push('}');
            rest = &rest[start + len + 1..];
        }
        out.push_str(&escape(rest));
        out
    }

    fn fill_json(&mut self, value: &Value, pointer: &str) -> Value {
        match value {
            Value::String(it) => {
                let key = pointer.rsplit('/').next().unwrap_or("value").to_owned();
                Value::String(self.fill(&format!("json:{pointer}"), &key, it))
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(i, it)| self.fill_json(it, &format!("{pointer}/{i}")))
                .collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, it)| {
                    let token = key.replace('~', "~0").replace('/', "~1");
                    (key.clone(), self.fill_json(it, &format!("{pointer}/{token}")))
                })
                .collect::<serde_json::Map<_, _>>()
                .into(),
            _ => value.clone(),
        }
    }

    /// The slot of a value that is no secret: one that names the site's build, as the page that held it says, or the account, as
    /// page storage, a cookie or an earlier answer says.
    fn built(&mut self, at: &str, value: &str) -> Option<String> {
        let known = self.origins.iter().find(|it| it.placeholder == value && it.at == at)?;
        let key = match known.origin.as_ref()? {
            Origin::Document { after, .. } => after.split('"').nth(1).unwrap_or("build").to_owned(),
            Origin::Storage { key, path, .. } => path.as_ref().unwrap_or(key).clone(),
            Origin::Cookie { name, .. } => name.clone(),
            Origin::Response { path, .. } => path.clone(),
            Origin::Meta { .. } => return None,
        };
        (!value.starts_with("[REDACTED:")).then(|| self.slot(at, &key, value))
    }

    /// The same of a part of a file's name, `1a2b3c4d` of `app.1a2b3c4d.js`, with what stands around it.
    fn built_part<'t>(&mut self, at: &str, text: &'t str) -> Option<(&'t str, String, &'t str)> {
        let is_sign = |it: Option<char>| matches!(it, None | Some('.' | '-' | '_'));
        let (before, value, after) = self.origins.iter().find_map(|it| {
            let (before, after) = text.split_once(&it.placeholder)?;
            let is_part = is_sign(before.chars().next_back()) && is_sign(after.chars().next());
            let is_built = it.at == at && !it.placeholder.starts_with("[REDACTED:");
            (is_built && is_part && it.origin.is_some())
                .then(|| (before, it.placeholder.clone(), after))
        })?;
        Some((before, self.slot(at, "build", &value), after))
    }

    fn slot(&mut self, at: &str, key: &str, placeholder: &str) -> String {
        let known = self.origins.iter().find(|it| it.placeholder == placeholder && it.at == at);
        let known = known.or_else(|| self.origins.iter().find(|it| it.placeholder == placeholder));
        let from = match known.and_then(|it| it.origin.clone()) {
            Some(Origin::Cookie { name, decoded }) => SlotSource::Cookie { name, decoded },
            Some(Origin::Meta { name }) => SlotSource::Meta { name },
            Some(Origin::Storage { area, key, path }) => SlotSource::Storage { area, key, path },
            Some(Origin::Response { url, path }) => SlotSource::Response { url, path },
            Some(Origin::Document { url, after, until }) => {
                SlotSource::Document { url, after, until }
            }
            None => SlotSource::Live { placeholder: placeholder.to_owned() },
        };
        if let Some(it) = self.slots.iter().find(|it| it.from == from) {
            return it.name.clone();
        }
        let base = format!("slot_{}", identifier(key));
        let mut name = base.clone();
        let mut n = 2;
        while self.slots.iter().any(|it| it.name == name) {
            name = format!("{base}_{n}");
            n += 1;
        }
        self.slots.push(Slot { name: name.clone(), from });
        name
    }
}

/// A safe parameter or slot name: `[a-z_][a-z0-9_]*`, at most 40 characters.
pub fn identifier(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        if out.len() >= 32 {
            break;
        }
    }
    let out = out.trim_matches('_');
    match out.as_bytes().first() {
        None => "value".to_owned(),
        Some(b) if b.is_ascii_digit() => format!("p_{out}"),
        _ => out.to_owned(),
    }
}

/// Changes every text of a body.
pub fn put_in_json(body: &mut Value, put: &impl Fn(&mut String)) {
    match body {
        Value::String(it) => put(it),
        Value::Array(items) => items.iter_mut().for_each(|it| put_in_json(it, put)),
        Value::Object(fields) => fields.values_mut().for_each(|it| put_in_json(it, put)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_that_a_template_keeps() {
        let header = |name: &str, value: &str| json!({"name": name, "value": value});
        let exchange: Exchange = serde_json::from_value(json!({
            "id": 0, "method": "GET", "url": "http://a.test/x?q=%7B1%7D", "request_body": null, "status": 200,
            "request_headers": [
                header("accept", "application/json"), header("cookie", "[REDACTED:cookie]"), header("user-agent", "Mozilla"),
                header("sec-fetch-mode", "cors"), header("x-api-key", "SHORT"), header("x-csrf-token", "[REDACTED:x-csrf-token]"),
                header("x-requested-with", "XMLHttpRequest"), header("authorization", "Bearer [REDACTED:authorization]"),
            ],
            "response_headers": [], "mime": "application/json", "resource_type": "fetch",
            "initiator": {"kind": "script", "has_stack": true, "page_url": "", "target": "page"},
            "timing": {"start_ms": 0, "ttfb_ms": 0, "total_ms": 0}, "after_action": null, "redirected_from": null,
            "encoded_bytes": null, "decoded_bytes": null, "body_status": "captured", "excerpt": null,
            "measures": {"shape": [], "lists": [], "leaves": 0, "leaves_visible": 0, "visible_weight": 0,
                "page_coverage_bp": 0, "typed_in_request": [], "typed_in_response": [], "json_nodes": 0, "json_depth": 0,
                "top_keys": [], "embedded_json": []},
            "origins": [{"placeholder": "[REDACTED:x-csrf-token]", "at": "header:x-csrf-token", "origin": {"meta": {"name": "csrf"}}}]
        }))
        .unwrap();
        let lost = exchange;
        let mut exchange = lost.clone();
        let from = json!({"storage": {"area": "local", "key": "session", "path": "tokens.access"}});
        let origin = json!({"placeholder": "[REDACTED:authorization]", "at": "header:authorization", "origin": from});
        exchange.origins.push(serde_json::from_value(origin).unwrap());
        // What nobody knows the way to is left out: the replay shows whether the answer needs it.
        let (without, _) = template(&lost).unwrap();
        assert!(!without.headers.contains_key("authorization"));
        let (request, slots) = template(&exchange).unwrap();
        // A literal under a name that says secret is left out; a placeholder becomes a slot.
        let kept: Vec<(&str, &str)> =
            request.headers.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
        let expected = [
            ("accept", "application/json"),
            ("authorization", "Bearer {slot_authorization}"),
            ("x-csrf-token", "{slot_x_csrf_token}"),
            ("x-requested-with", "XMLHttpRequest"),
        ];
        assert_eq!(kept, expected);
        assert!(matches!(&slots[1].from, SlotSource::Storage { key, .. } if key == "session"));
        assert_eq!(slots[0].from, SlotSource::Meta { name: "csrf".to_owned() });
        assert_eq!(request.query[0].value, "{{1}}");
    }
}
