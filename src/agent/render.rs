//! A request for a person's eyes, made of its bytes and of nothing else.
//!
//! Whoever narrates a dialog decides what is agreed to: here it is neither the page nor the model. What cannot be shown whole (a
//! picture, another coding, more than fits) is not cut: it is [`RenderOutcome::TooLarge`] or [`RenderOutcome::Opaque`], and nobody can approve it,
//! since what waits for approval is made of a [`RenderedRequest`] alone.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::{
    PausedRequest,
    body_fields::{self, Field, FieldLocation, RenderError},
    display_value,
    provenance::{Provenance, ValueOrigin},
};
use commis_base::ids::hex;

/// A person reads no more.
const LINES: usize = 64;
const BYTES: usize = 8 * 1024;
/// Longer addresses are not looked at.
const ADDRESS: usize = 16 * 1024;
/// Of a path, that may be a secret.
const HIDDEN: usize = 256;

/// What a browser says of itself, or asks for in general; a page cannot say anything in most of these. Cookies are the session's.
const BROWSERS: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "access-control-request-headers",
    "access-control-request-method",
    "access-control-request-private-network",
    "cache-control",
    "connection",
    "content-length",
    "cookie",
    "dnt",
    "downlink",
    "host",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "purpose",
    "referer",
    "rtt",
    "save-data",
    "te",
    "upgrade-insecure-requests",
    "user-agent",
];

/// One name and value, safe to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenderedField {
    pub place: FieldLocation,
    pub name: String,
    /// With its quotes.
    pub value: String,
    /// A secret was left out of the value.
    pub hidden: bool,
    /// Where the value comes from; `None` where nobody kept track.
    pub origin: Option<ValueOrigin>,
}

impl std::fmt::Display for RenderedField {
    /// What is said of a value stands before it: behind it, a value could say it of itself.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.place.word(), self.name)?;
        match &self.origin {
            Some(ValueOrigin::User) => f.write_str(" (yours)")?,
            Some(ValueOrigin::Seen(site)) => write!(f, " (seen on {site})")?,
            Some(ValueOrigin::Invented) => f.write_str(" (neither yours nor seen)")?,
            None => {}
        }
        if self.hidden {
            f.write_str(" (a secret left out)")?;
        }
        write!(f, " = {}", self.value)
    }
}

/// A request as a person sees it: all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenderedRequest {
    pub method: String,
    /// Scheme, host (punycode) and port.
    pub origin: String,
    pub path: String,
    pub lines: Vec<RenderedField>,
    /// Over the bytes: what is approved.
    pub digest: String,
}

impl RenderedRequest {
    /// As every channel shows it: the request, then a line a value.
    pub fn text(&self) -> String {
        let mut out = format!("{} {}{}", self.method, self.origin, self.path);
        for it in &self.lines {
            out.push_str("\n  ");
            out.push_str(&it.to_string());
        }
        out
    }
}

/// What became of a request that was to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderOutcome {
    Whole(RenderedRequest),
    /// Nobody would read it. What is too large.
    TooLarge(String),
    /// It cannot be taken apart wholly. What cannot.
    Opaque(String),
}

/// Shows a request; `origins` says where its values come from.
pub fn render(paused: &PausedRequest, origins: Option<&Provenance>) -> RenderOutcome {
    match render_whole(paused, origins) {
        Ok(it) => RenderOutcome::Whole(it),
        Err(RenderError::TooLarge(what)) => RenderOutcome::TooLarge(what),
        Err(RenderError::Opaque(what)) => RenderOutcome::Opaque(what),
    }
}

/// SHA-256 over method, address, content types, the headers that are shown, body, and the cookies that scripts can write; each with its
/// length before it, so that nothing can move from one to the next.
pub fn digest(paused: &PausedRequest) -> String {
    let mut hash = Sha256::new();
    let mut put = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    put(b"commis request 2");
    put(paused.method.as_bytes());
    put(paused.url.as_bytes());
    let kinds: Vec<&str> = content_types(paused).collect();
    put(&(kinds.len() as u64).to_be_bytes());
    for it in kinds {
        put(it.as_bytes());
    }
    let headers: Vec<&(String, String)> = pages_own(paused).collect();
    put(&(headers.len() as u64).to_be_bytes());
    for (name, value) in headers {
        put(name.to_ascii_lowercase().as_bytes());
        put(value.as_bytes());
    }
    put(&[u8::from(paused.body.is_some())]);
    put(paused.body.as_deref().unwrap_or_default());
    for (name, value) in &paused.cookies {
        put(name.as_bytes());
        put(value.as_bytes());
    }
    hex(&hash.finalize())
}

fn content_types(paused: &PausedRequest) -> impl Iterator<Item = &str> {
    paused
        .headers
        .iter()
        .filter(|it| it.0.eq_ignore_ascii_case("content-type"))
        .map(|it| it.1.as_str())
}

/// Headers by which a page says something, the type of the body aside.
fn pages_own(paused: &PausedRequest) -> impl Iterator<Item = &(String, String)> {
    paused.headers.iter().filter(|it| {
        let name = it.0.to_ascii_lowercase();
        name != "content-type" && !name.starts_with("sec-") && !BROWSERS.contains(&&*name)
    })
}

fn opaque(what: &str) -> RenderError {
    RenderError::Opaque(what.to_owned())
}

fn render_whole(
    paused: &PausedRequest,
    origins: Option<&Provenance>,
) -> Result<RenderedRequest, RenderError> {
    if paused.url.len() > ADDRESS {
        return Err(RenderError::TooLarge(format!("an address of {} bytes", paused.url.len())));
    }
    let known = |it: u8| it.is_ascii_alphabetic() || it == b'-';
    if paused.method.is_empty() || paused.method.len() > 20 || !paused.method.bytes().all(known) {
        return Err(opaque("a method that is none"));
    }
    let (origin, path, query) = address(&paused.url)?;
    let mut fields = body_fields::pairs(FieldLocation::Query, query.as_bytes())?;
    let kinds: Vec<&str> = content_types(paused).collect();
    if kinds.len() > 1 {
        return Err(opaque("a body of two types"));
    }
    for (name, value) in pages_own(paused) {
        if name.eq_ignore_ascii_case("content-encoding") {
            return Err(opaque("a body that is packed"));
        }
        fields.push(Field::new(FieldLocation::Header, name.to_ascii_lowercase(), value.as_bytes()));
    }
    if paused.is_opaque {
        return Err(opaque("a body that is not to be seen"));
    }
    match (&paused.body, kinds.first()) {
        (Some(body), kind) if !body.is_empty() => {
            fields.extend(body_fields::fields(kind.copied().unwrap_or_default(), body)?);
        }
        // A type of what is not there: there is something that was not handed over.
        (None, Some(_)) => return Err(opaque("a body that is not to be seen")),
        _ => {}
    }
    if fields.len() > LINES {
        return Err(RenderError::TooLarge(format!("{} values", fields.len())));
    }
    let mut lines: Vec<RenderedField> =
        fields.iter().map(|it| line(it, &paused.url, origins)).collect::<Result<_, _>>()?;
    lines.extend(cookies(paused));
    let without = commis_redact::message(path);
    if without.len() + HIDDEN < path.len() {
        return Err(opaque("a path that is not to be shown"));
    }
    let out = RenderedRequest {
        method: paused.method.clone(),
        origin,
        path: without,
        lines,
        digest: digest(paused),
    };
    let bytes = out.text().len();
    if bytes > BYTES {
        return Err(RenderError::TooLarge(format!("{bytes} bytes to be read")));
    }
    Ok(out)
}

/// Origin, path and query, the latter two as they are sent.
fn address(url: &str) -> Result<(String, &str, &str), RenderError> {
    let parsed = Url::parse(url).map_err(|_| opaque("an address that is none"))?;
    let plain = url.bytes().all(|it| it.is_ascii_graphic());
    let web = matches!(parsed.scheme(), "http" | "https");
    if !plain || !web || !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(opaque("an address that is not written as it is sent"));
    }
    let origin = parsed.origin().ascii_serialization();
    let rest = url.split('#').next().unwrap_or_default();
    // As text, and not as the parser would write it: what is shown is what is sent.
    let rest = rest
        .strip_prefix(&origin)
        .filter(|it| it.is_empty() || it.starts_with(['/', '?']))
        .ok_or_else(|| opaque("an address that is not written as it is sent"))?;
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    Ok((origin, if path.is_empty() { "/" } else { path }, query))
}

/// The cookies that scripts can write, by name: what they hold is compared and not shown.
fn cookies(paused: &PausedRequest) -> Option<RenderedField> {
    let all: Vec<String> =
        paused.cookies.iter().map(|it| display_value::quoted(it.0.as_bytes())).collect();
    let (place, name) = (FieldLocation::Cookies, "of scripts".to_owned());
    (!all.is_empty()).then(|| RenderedField {
        place,
        name,
        value: all.join(", "),
        hidden: false,
        origin: None,
    })
}

fn line(it: &Field, url: &str, origins: Option<&Provenance>) -> Result<RenderedField, RenderError> {
    let name = display_value::name(&it.name);
    let key = String::from_utf8_lossy(&it.name);
    // `/user/password` is a name of the last word.
    let key = key.rsplit('/').next().unwrap_or_default();
    let Some(mut told) = display_value::display_value(key, &it.value) else {
        return Err(RenderError::Opaque(format!(
            "{} {name}, which is not to be shown",
            it.place.word()
        )));
    };
    if it.bare && !told.hidden {
        told.text = String::from_utf8_lossy(&it.value).into_owned();
    }
    let value = std::str::from_utf8(&it.value).unwrap_or_default();
    let tracked = it.place != FieldLocation::Header && !value.trim().is_empty() && !told.hidden;
    let origin = origins.filter(|_| tracked).map(|all| all.origin_of(value, url));
    Ok(RenderedField { place: it.place, name, value: told.text, hidden: told.hidden, origin })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paused_request(method: &str, url: &str, kind: &str, body: Option<&[u8]>) -> PausedRequest {
        let mut headers = vec![
            ("User-Agent".to_owned(), "x".to_owned()),
            ("sec-fetch-mode".to_owned(), "cors".to_owned()),
            ("Referer".to_owned(), "http://shop.test/".to_owned()),
        ];
        if !kind.is_empty() {
            headers.push(("Content-Type".to_owned(), kind.to_owned()));
        }
        let (method, url) = (method.to_owned(), url.to_owned());
        PausedRequest {
            id: "1".to_owned(),
            method,
            url,
            headers,
            body: body.map(Vec::from),
            is_opaque: false,
            why: String::new(),
            cookies: Vec::new(),
        }
    }

    fn text(paused: &PausedRequest) -> String {
        match render(paused, None) {
            RenderOutcome::Whole(it) => it.text(),
            other => panic!("{other:?}"),
        }
    }

    const FORM: &str = "application/x-www-form-urlencoded";

    #[test]
    fn a_request_is_shown_from_its_bytes() {
        let it = paused_request(
            "POST",
            "https://shop.test:8443/orders?ref=home&x",
            FORM,
            Some(b"item=17&note=call+me&password=correct-horse-9"),
        );
        assert_eq!(
            text(&it),
            "POST https://shop.test:8443/orders\n  query ref = \"home\"\n  query x = \"\"\n  form item = \"17\"\n  form note = \"call me\"\n  form password (a secret left out) = [REDACTED]"
        );
        let it = paused_request(
            "PUT",
            "https://a.test/x",
            "application/json",
            Some(br#"{"qty":2,"to":"b\nc"}"#),
        );
        assert_eq!(text(&it), "PUT https://a.test/x\n  json /qty = 2\n  json /to = \"b\\nc\"");
        assert_eq!(
            text(&paused_request("DELETE", "https://a.test", "", None)),
            "DELETE https://a.test/"
        );
        let mut it = paused_request("POST", "https://a.test/x", "", None);
        it.headers.push(("X-HTTP-Method-Override".to_owned(), "DELETE".to_owned()));
        assert_eq!(
            text(&it),
            "POST https://a.test/x\n  header x-http-method-override = \"DELETE\""
        );
    }

    #[test]
    fn cookies_that_scripts_write_are_named() {
        let cookies = [("qty", "0a"), ("a\nform total", "0b")];
        let cookies = cookies.map(|it| (it.0.to_owned(), it.1.to_owned())).to_vec();
        let it = PausedRequest {
            cookies,
            ..paused_request("POST", "https://shop.test/orders", FORM, Some(b"sku=17"))
        };
        assert_eq!(
            text(&it),
            "POST https://shop.test/orders\n  form sku = \"17\"\n  cookies of scripts = \"qty\", \"a\\nform total\""
        );
    }

    #[test]
    fn no_value_looks_like_a_line_of_ours() {
        let body = "qty=1%22+(yours)%0A++form+total+%3D+%220%22&a%0Ab=1&total=9%E2%80%AE01";
        let it = paused_request("POST", "https://shop.test/pay", FORM, Some(body.as_bytes()));
        assert_eq!(
            text(&it),
            "POST https://shop.test/pay\n  form qty = \"1\\\" (yours)\\n \\u{20}form total = \\\"0\\\"\"\n  form \"a\\nb\" = \"1\"\n  form total = \"9\\u{202e}01\""
        );
    }

    #[test]
    fn hosts_are_shown_as_they_are() {
        // Cyrillic а in the host: the browser sends punycode.
        let it = paused_request("POST", "https://xn--pypal-4ve.test/pay", "", Some(b""));
        assert!(text(&it).starts_with("POST https://xn--pypal-4ve.test/pay"));
        for url in [
            "https://p\u{430}ypal.test/pay",
            "https://shop.test@evil.test/pay",
            "https://a:b@evil.test/pay",
            "https://SHOP.test/pay",
            "https:\\\\shop.test\\pay",
            "https://shop.test/a b",
            "ftp://shop.test/pay",
            "data:text/plain,x",
            "nothing",
            "https://shop.test:443/pay",
        ] {
            let end = render(&paused_request("POST", url, "", None), None);
            assert!(matches!(end, RenderOutcome::Opaque(_)), "{url}: {end:?}");
        }
    }

    #[test]
    fn what_cannot_be_shown_whole_is_not_shown() {
        let url = "https://shop.test/pay";
        let many = (0..65).map(|it| format!("a{it}=1&")).collect::<Vec<_>>().concat();
        let all_but = (0..64).map(|it| format!("a{it}=1&")).collect::<Vec<_>>().concat();
        let long = format!("note={}", "word ".repeat(1700));
        let escaped = format!("note={}", "%E2%80%8B".repeat(1100));
        for (body, fits) in [(&many, false), (&all_but, true), (&long, false), (&escaped, false)] {
            let end = render(&paused_request("POST", url, FORM, Some(body.as_bytes())), None);
            assert_eq!(matches!(end, RenderOutcome::Whole(_)), fits, "{end:?}");
            assert!(fits || matches!(end, RenderOutcome::TooLarge(_)), "{end:?}");
        }
        let long = format!("https://shop.test/{}", "a".repeat(20_000));
        assert!(matches!(
            render(&paused_request("POST", &long, "", None), None),
            RenderOutcome::TooLarge(_)
        ));
        let hidden = format!("csrf_token={}", "kJ8fQ2".repeat(400));
        let cases: [(&str, Option<&[u8]>); 5] = [
            ("image/png", Some(b"\x89PNG")),
            ("text/plain", Some(b"a\xffb")),
            (FORM, Some(hidden.as_bytes())),
            (FORM, None),
            ("application/json", Some(br#"{"to":1,"to":2}"#)),
        ];
        for (kind, body) in cases {
            let end = render(&paused_request("POST", url, kind, body), None);
            assert!(matches!(end, RenderOutcome::Opaque(_)), "{kind}: {end:?}");
        }
        let mut packed = paused_request("POST", url, FORM, Some(b"a=1"));
        packed.headers.push(("content-encoding".to_owned(), "gzip".to_owned()));
        assert!(matches!(render(&packed, None), RenderOutcome::Opaque(_)));
        let hidden = PausedRequest { is_opaque: true, ..paused_request("POST", url, "", None) };
        assert!(matches!(render(&hidden, None), RenderOutcome::Opaque(_)));
        let mut two = paused_request("POST", url, FORM, Some(b"a=1"));
        two.headers.push(("content-type".to_owned(), "text/plain".to_owned()));
        assert!(matches!(render(&two, None), RenderOutcome::Opaque(_)));
        assert!(matches!(
            render(&paused_request("PO ST", url, "", None), None),
            RenderOutcome::Opaque(_)
        ));
    }

    #[test]
    fn a_digest_is_of_one_request() {
        let base = paused_request("POST", "https://a.test/x", FORM, Some(b"a=1"));
        assert_eq!(digest(&base), digest(&base.clone()));
        assert_eq!(digest(&base).len(), 64);
        let with = |name: &str, value: &str| {
            let mut it = base.clone();
            it.headers.push((name.to_owned(), value.to_owned()));
            it
        };
        let with_cookie = |name: &str, digest: &str| {
            let cookies = vec![(name.to_owned(), digest.to_owned())];
            PausedRequest { cookies, ..base.clone() }
        };
        let others = [
            paused_request("PUT", "https://a.test/x", FORM, Some(b"a=1")),
            paused_request("POST", "https://a.test/xa", FORM, Some(b"=1")),
            paused_request("POST", "https://a.test/x?", FORM, Some(b"a=1")),
            paused_request("POST", "https://a.test/x", "text/plain", Some(b"a=1")),
            paused_request("POST", "https://a.test/x", FORM, Some(b"a=2")),
            paused_request("POST", "https://a.test/x", FORM, Some(b"a=1 ")),
            paused_request("POST", "https://a.test/x", FORM, Some(b"")),
            paused_request("POST", "https://a.test/x", FORM, None),
            paused_request("POST", "https://a.test/x", "", Some(b"a=1")),
            paused_request(
                "POST",
                "https://a.test/xapplication/x-www-form-urlencoded",
                "",
                Some(b"a=1"),
            ),
            with("x-http-method-override", "DELETE"),
            with("x-http-method-overrid", "eDELETE"),
            with("content-type", "text/plain"),
            with("content-encoding", "gzip"),
            with_cookie("qty", "1"),
            with_cookie("qty", "1000"),
            with_cookie("qt", "y1"),
        ];
        let mut all: Vec<String> = others.iter().map(digest).collect();
        all.push(digest(&base));
        let n = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), n);
        // What the browser says of itself is another thing each time.
        for name in ["User-Agent", "cookie", "Sec-Fetch-Site", "Accept", "Origin"] {
            assert_eq!(digest(&with(name, "y")), digest(&base), "{name}");
        }
    }

    #[test]
    fn each_value_says_where_it_comes_from() {
        let mut origins = Provenance::default();
        origins.add_user_text("Order 24 bags of Silver Oak");
        origins.add_page_text("https://shop.test/", "Silver Oak blend, item SO-17");
        let it = paused_request(
            "POST",
            "https://shop.test/orders",
            FORM,
            Some(b"item=SO-17&qty=24&ref=zzz9&empty="),
        );
        let RenderOutcome::Whole(shown) = render(&it, Some(&origins)) else { panic!() };
        let lines: Vec<String> = shown.lines.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "form item (seen on shop.test) = \"SO-17\"",
                "form qty (yours) = \"24\"",
                "form ref (neither yours nor seen) = \"zzz9\"",
                "form empty = \"\"",
            ]
        );
    }
}
