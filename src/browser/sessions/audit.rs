//! What a session's traffic shows of how its sites keep logins: cookies, forms, addresses, redirects, headers.
//!
//! A pure look at what was recorded; nothing is sent, so nothing is said of what was not visited. Names are told, values never.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::LazyLock,
};

use schemars::JsonSchema;
use scraper::{ElementRef, Html, Selector};
use serde::{Deserialize, Serialize};
use url::Url;

use super::{
    SessionAction, SessionRecorder, SessionStore, corrupt,
    file_layout::{self, AUDIT},
    network_expectations::site,
    traffic,
};
use commis_artifacts::recording::ResourceType;
use commis_base::error::{Code, Error, Result};
use commis_recipe::blocks;
use commis_redact::raw::{RawExchange, RawRecording};

/// Findings of one audit.
const MOST: usize = 200;
/// Bytes of one page that are read.
const PAGE: usize = 2 << 20;
/// Elements of one page that are looked at, of each kind.
const ELEMENTS: usize = 500;

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    High,
    Medium,
    Low,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule's name, such as `cookie-without-secure`.
    pub rule: String,
    pub severity: Severity,
    /// The action that led there, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<u32>,
    /// Its number in the traffic.
    pub request: u32,
    /// Method and address, without its query.
    pub place: String,
    pub why: String,
    /// What to do about it.
    pub todo: String,
}

impl Finding {
    /// In one line.
    pub fn describe(&self) -> String {
        let severity = match self.severity {
            Severity::High => "high",
            Severity::Medium => "medium",
            Severity::Low => "low",
        };
        let mut out = format!("{severity} {}", self.rule);
        if let Some(n) = self.action {
            // It cannot fail.
            let _ = write!(out, ", action {n}");
        }
        let _ = write!(out, ", {}: {}; {}", self.place, self.why, self.todo);
        out
    }
}

/// A cookie as an answer set it.
struct Cookie {
    name: String,
    value: String,
    secure: bool,
    http_only: bool,
    same_site: Option<String>,
    /// It is taken back.
    ends: bool,
}

impl Cookie {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        let mut out = Self {
            name: name.trim().to_owned(),
            value: value.trim().trim_matches('"').to_owned(),
            secure: false,
            http_only: false,
            same_site: None,
            ends: value.trim().is_empty(),
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match key.trim().to_ascii_lowercase().as_str() {
                "secure" => out.secure = true,
                "httponly" => out.http_only = true,
                "samesite" => out.same_site = Some(value.trim().to_ascii_lowercase()),
                "max-age" => out.ends |= value.trim().parse::<i64>().is_ok_and(|it| it <= 0),
                _ => {}
            }
        }
        Some(out)
    }

    /// Whether it stands for a login.
    fn is_session(&self) -> bool {
        !self.ends && stands_for_login(&self.name, &self.value)
    }

    fn is_kept_to_its_site(&self) -> bool {
        matches!(self.same_site.as_deref(), Some("lax" | "strict"))
    }
}

fn stands_for_login(name: &str, value: &str) -> bool {
    const NAMES: &[&str] = &["sess", "sid", "auth", "login", "jwt", "token", "remember"];
    let lower = name.to_ascii_lowercase();
    value.len() >= 8
        && !lower.contains("csrf")
        && !lower.contains("xsrf")
        && (NAMES.iter().any(|it| lower.contains(it))
            || commis_redact::typed_secret(name, value).is_some())
}

fn selector(css: &str) -> Option<Selector> {
    Selector::parse(css).ok()
}

static FORMS: LazyLock<Option<Selector>> = LazyLock::new(|| selector("form"));
static INPUTS: LazyLock<Option<Selector>> = LazyLock::new(|| selector("input,textarea"));
static LOADED: LazyLock<Option<Selector>> =
    LazyLock::new(|| selector("script[src],iframe[src],img[src],link[rel=stylesheet][href]"));

fn all<'a>(at: ElementRef<'a>, what: &'a LazyLock<Option<Selector>>) -> Vec<ElementRef<'a>> {
    what.iter().flat_map(|it| at.select(it)).take(ELEMENTS).collect()
}

/// What protects a form against being sent from elsewhere.
fn names_token(name: &str) -> bool {
    let name: String =
        name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    ["csrf", "xsrf", "authenticity", "verificationtoken", "nonce", "formtoken", "antiforgery"]
        .iter()
        .any(|it| name.contains(it))
        || name == "token"
        || name == "state"
}

/// Everything that was looked at.
struct Audit<'a> {
    lines: &'a [SessionAction],
    /// By host and name: whether it is kept to its site. Of those that stand for a login.
    cookies: BTreeMap<(String, String), bool>,
    told: BTreeSet<(&'static str, String)>,
    out: Vec<Finding>,
}

/// Where something is.
#[derive(Clone, Copy)]
struct ExchangeRef<'a> {
    n: usize,
    exchange: &'a RawExchange,
}

impl ExchangeRef<'_> {
    fn host(&self) -> String {
        self.exchange.url.host_str().unwrap_or_default().to_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let all = &self.exchange.response_headers;
        all.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1.as_str())
    }

    fn request_header(&self, name: &str) -> Option<&str> {
        let all = &self.exchange.request_headers;
        all.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1.as_str())
    }

    fn place(&self) -> String {
        let url = &self.exchange.url;
        let path = commis_redact::message(url.path());
        format!("{} {}{path}", self.exchange.method, url.origin().ascii_serialization())
    }
}

impl Audit<'_> {
    /// `once` says what it is about: one of each is told.
    fn add_finding(
        &mut self,
        at: ExchangeRef<'_>,
        (rule, severity): (&'static str, Severity),
        once: &str,
        why: String,
        todo: &str,
    ) {
        if self.out.len() >= MOST || !self.told.insert((rule, format!("{} {once}", at.host()))) {
            return;
        }
        let request = at.n as u32;
        self.out.push(Finding {
            rule: rule.to_owned(),
            severity,
            action: traffic::action_of(self.lines, request),
            request,
            place: at.place(),
            why,
            todo: todo.to_owned(),
        });
    }

    fn cookies(&mut self, at: ExchangeRef<'_>) {
        let set = at.exchange.response_headers.iter();
        let set = set.filter(|it| it.0.eq_ignore_ascii_case("set-cookie"));
        let found: Vec<Cookie> =
            set.flat_map(|it| it.1.lines()).filter_map(Cookie::parse).collect();
        for it in found.iter().filter(|it| it.is_session()) {
            let name = commis_redact::message(&it.name);
            self.cookies.insert((at.host(), it.name.clone()), it.is_kept_to_its_site());
            if !it.secure {
                self.add_finding(
                    at,
                    ("cookie-without-secure", Severity::High),
                    &it.name,
                    format!(
                        "the cookie {name:?}, which stands for a login, is sent over http as well"
                    ),
                    "set Secure, and serve it over https alone",
                );
            }
            if !it.http_only {
                self.add_finding(
                    at,
                    ("cookie-without-httponly", Severity::Medium),
                    &it.name,
                    format!("scripts can read the cookie {name:?}, which stands for a login"),
                    "set HttpOnly",
                );
            }
            if !it.is_kept_to_its_site() {
                self.add_finding(at, ("cookie-without-samesite", Severity::Medium), &it.name, format!("the cookie {name:?}, which stands for a login, does not say that other sites' requests go without it"), "set SameSite=Lax or Strict");
            }
        }
    }

    fn address(&mut self, at: ExchangeRef<'_>) {
        let secret = |url: &Url| {
            let mut all = url.query_pairs();
            all.find(|(name, value)| {
                value.len() >= 4 && commis_redact::typed_secret(name, value).is_some()
            })
            .map(|it| commis_redact::message(&it.0))
        };
        let is_seen = matches!(
            at.exchange.resource_type,
            ResourceType::Document | ResourceType::Iframe | ResourceType::Xhr | ResourceType::Fetch
        );
        if let Some(name) = secret(&at.exchange.url).filter(|_| is_seen) {
            self.add_finding(at, ("secret-in-url", Severity::High), &name, format!("the address carries a secret as {name:?}, which histories, logs and Referer keep"), "send it in a body or a header");
        }
        let from = at.request_header("referer").and_then(|it| Url::parse(it).ok());
        if let Some(from) = from
            && site(from.as_str()) != site(at.exchange.url.as_str())
            && let Some(name) = secret(&from)
        {
            self.add_finding(
                at,
                ("secret-in-referer", Severity::High),
                &name,
                format!(
                    "another site is told the address of the page, with the secret {name:?} in it"
                ),
                "keep it out of the address, and set Referrer-Policy: no-referrer",
            );
        }
    }

    fn redirect(&mut self, at: ExchangeRef<'_>) {
        if !at.exchange.status.is_some_and(|it| (300..400).contains(&it)) {
            return;
        }
        let Some(to) = at.header("location").and_then(|it| at.exchange.url.join(it).ok()) else {
            return;
        };
        if to.origin() == at.exchange.url.origin() {
            return;
        }
        let given = at.exchange.url.query_pairs().any(|(_, value)| {
            Url::parse(&value).is_ok_and(|it| it.origin() == to.origin())
                || (value.starts_with("//")
                    && at.exchange.url.join(&value).is_ok_and(|it| it.origin() == to.origin()))
        });
        if given && site(to.as_str()) != site(at.exchange.url.as_str()) {
            self.add_finding(
                at,
                ("open-redirect", Severity::Medium),
                at.exchange.url.path(),
                "the address says to which other site it leads".to_owned(),
                "redirect to paths of the site's own, or to a list of known places",
            );
        }
        let carried = to
            .query_pairs()
            .find(|(name, value)| commis_redact::typed_secret(name, value).is_some());
        if let Some((name, _)) = carried {
            let name = commis_redact::message(&name);
            self.add_finding(
                at,
                ("redirect-with-secret", Severity::High),
                &name,
                format!("it leads to another origin with the secret {name:?} in the address"),
                "hand over a code that is used once, or post it",
            );
        }
    }

    fn change(&mut self, at: ExchangeRef<'_>) {
        let it = at.exchange;
        if matches!(&*it.method, "GET" | "HEAD" | "OPTIONS") {
            return;
        }
        let body = it.request_body.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let kind = at.request_header("content-type").unwrap_or_default().to_ascii_lowercase();
        let form = kind.starts_with("application/x-www-form-urlencoded");
        let fields: Vec<(String, String)> = if form {
            url::form_urlencoded::parse(body.as_bytes()).into_owned().collect()
        } else {
            Vec::new()
        };
        let password = fields.iter().any(|it| it.0.to_ascii_lowercase().contains("passw"))
            || (kind.contains("json") && body.to_ascii_lowercase().contains("\"password\""));
        if password && it.url.scheme() == "http" {
            self.login_over_http(at, "a password was sent over http");
        }
        // Other sites can send nothing else unasked.
        let simple =
            form || kind.starts_with("text/plain") || kind.starts_with("multipart/form-data");
        let token = fields.iter().any(|it| names_token(&it.0))
            || it.url.query_pairs().any(|it| names_token(&it.0))
            || (kind.starts_with("multipart/") && body.contains("csrf"))
            || it
                .request_headers
                .iter()
                .any(|it| names_token(&it.0) || it.0.eq_ignore_ascii_case("x-requested-with"));
        let sent = at.request_header("cookie").unwrap_or_default();
        let open =
            sent.split(';').filter_map(|it| it.trim().split_once('=')).any(|(name, value)| {
                stands_for_login(name, value)
                    && !self.cookies.get(&(at.host(), name.to_owned())).copied().unwrap_or(false)
            });
        if simple && !token && open {
            self.add_finding(at, ("request-without-csrf-token", Severity::High), it.url.path(), "it changes something for whoever is logged in, and another site could have sent it".to_owned(), "want a token that only the site's own pages know, or SameSite cookies");
        }
    }

    fn login_over_http(&mut self, at: ExchangeRef<'_>, why: &str) {
        self.add_finding(
            at,
            ("login-over-http", Severity::High),
            "",
            why.to_owned(),
            "serve the page and take the form over https alone",
        );
    }

    fn page(&mut self, at: ExchangeRef<'_>) {
        let it = at.exchange;
        if !matches!(it.resource_type, ResourceType::Document | ResourceType::Iframe) {
            return;
        }
        let Some(bytes) = it.body.bytes().filter(|_| it.mime.contains("html")) else { return };
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(PAGE)]);
        let Some(page) = blocks::parse_bounded(&text) else { return };
        self.document(at, &page);
    }

    fn document(&mut self, at: ExchangeRef<'_>, page: &Html) {
        let secure = at.exchange.url.scheme() == "https";
        let root = page.root_element();
        let is_password = |it: &ElementRef<'_>| {
            it.attr("type").is_some_and(|it| it.eq_ignore_ascii_case("password"))
        };
        let has_password = all(root, &INPUTS).iter().any(is_password);
        if has_password {
            self.headers(at, secure);
        }
        for form in all(root, &FORMS) {
            let action = form.attr("action").unwrap_or_default();
            let Ok(to) = at.exchange.url.join(action) else { continue };
            let inputs = all(form, &INPUTS);
            if inputs.iter().any(is_password) && to.scheme() == "http" {
                self.login_over_http(at, "a form sends a password over http");
            }
            if secure && to.scheme() == "http" {
                self.add_finding(
                    at,
                    ("mixed-content", Severity::Medium),
                    "form",
                    "a form of an https page is sent over http".to_owned(),
                    "send it over https",
                );
            }
            let posts = form.attr("method").is_some_and(|it| it.eq_ignore_ascii_case("post"));
            let own = site(to.as_str()) == site(at.exchange.url.as_str());
            let token = inputs.iter().filter_map(|it| it.attr("name")).any(names_token)
                || to.query_pairs().any(|it| names_token(&it.0));
            let host = at.host();
            let mut known = self.cookies.iter().filter(|it| it.0.0 == host).peekable();
            let open = known.peek().is_some() && known.any(|it| !*it.1);
            if posts && own && !token && open {
                let name = form.attr("name").or(form.attr("id")).unwrap_or(to.path());
                let name = commis_redact::message(name);
                self.add_finding(at, ("form-without-csrf-token", Severity::Medium), &name, format!("the form {name:?} is sent with a cookie that stands for a login, and nothing says that it came from here"), "put a token into it that only the site's own pages know, or set SameSite on the cookie");
            }
        }
        if secure {
            for it in all(root, &LOADED) {
                let from = it.attr("src").or(it.attr("href")).unwrap_or_default();
                if at.exchange.url.join(from).is_ok_and(|it| it.scheme() == "http") {
                    let kind = it.value().name().to_owned();
                    let severity = if kind == "img" { Severity::Low } else { Severity::High };
                    self.add_finding(
                        at,
                        ("mixed-content", severity),
                        &kind,
                        format!("an https page takes a {kind} over http"),
                        "take it over https",
                    );
                }
            }
        }
    }

    /// Of a page that asks for a password.
    fn headers(&mut self, at: ExchangeRef<'_>, secure: bool) {
        if !secure {
            self.login_over_http(at, "the page that asks for a password came over http");
        } else if at.header("strict-transport-security").is_none() {
            self.add_finding(
                at,
                ("missing-hsts", Severity::Medium),
                "",
                "the page asks for a password, and nothing keeps browsers to https".to_owned(),
                "send Strict-Transport-Security",
            );
        }
        let policy = at.header("content-security-policy").unwrap_or_default();
        if policy.is_empty() {
            self.add_finding(
                at,
                ("missing-csp", Severity::Low),
                "",
                "the page asks for a password, and any script may run in it".to_owned(),
                "send a Content-Security-Policy",
            );
        }
        if at.header("x-frame-options").is_none() && !policy.contains("frame-ancestors") {
            self.add_finding(
                at,
                ("missing-frame-options", Severity::Medium),
                "",
                "the page asks for a password, and other sites may show it in a frame".to_owned(),
                "send frame-ancestors in the Content-Security-Policy, or X-Frame-Options",
            );
        }
    }
}

/// What was found, the gravest first.
pub fn audit(raw: &RawRecording, lines: &[SessionAction]) -> Vec<Finding> {
    let mut it = Audit { lines, cookies: BTreeMap::new(), told: BTreeSet::new(), out: Vec::new() };
    let all = || raw.exchanges.iter().enumerate().map(|(n, exchange)| ExchangeRef { n, exchange });
    // Forms are judged by cookies that may be set after them.
    all().for_each(|at| it.cookies(at));
    for at in all() {
        it.address(at);
        it.redirect(at);
        it.change(at);
        it.page(at);
    }
    it.out.sort_by(|a, b| a.severity.cmp(&b.severity).then(a.request.cmp(&b.request)));
    it.out
}

impl SessionRecorder {
    /// Keeps what an audit found, in a file of its own and among the findings. Fails with `ARTIFACT_IO`.
    pub fn audited(&mut self, found: &[Finding]) -> Result<()> {
        self.findings.extend(found.iter().map(|it| format!("- audit: {}", it.describe())));
        let bytes = serde_json::to_vec(found)
            .map_err(|err| Error::new(Code::Internal, "findings cannot be written").source(err))?;
        file_layout::write(&self.dir, AUDIT, &bytes)
    }
}

impl SessionStore {
    /// What an audit found when the session ended; `None` where there was none. Fails with `ARTIFACT_CORRUPT`.
    pub fn audit(&self, id: &str) -> Result<Option<Vec<Finding>>> {
        let Some(bytes) = file_layout::read(&self.at(id)?, AUDIT)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|err| corrupt(id).source(err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_read_as_they_are_set() {
        let it =
            Cookie::parse("sid=\"0123456789\"; Path=/; secure; HTTPONLY; samesite=None").unwrap();
        assert!(it.is_session() && it.secure && it.http_only && !it.is_kept_to_its_site());
        for harmless in [
            "theme=dark",
            "sid=; Max-Age=0",
            "sid=0123456789; Max-Age=-1",
            "csrf_token=0123456789",
            "sid=1",
        ] {
            assert!(!Cookie::parse(harmless).unwrap().is_session(), "{harmless}");
        }
        assert!(Cookie::parse("nothing").is_none());
    }

    #[test]
    fn a_token_of_a_form_is_known_by_its_name() {
        for name in [
            "_csrf",
            "csrfmiddlewaretoken",
            "__RequestVerificationToken",
            "authenticity_token",
            "X-XSRF-TOKEN",
            "state",
        ] {
            assert!(names_token(name), "{name}");
        }
        for name in ["password", "email", "tokens_left", "statement"] {
            assert!(!names_token(name), "{name}");
        }
    }
}
