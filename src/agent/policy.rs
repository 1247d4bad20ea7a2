//! What a run may do at most, settled before it begins: where it goes, what it types where, what leaves.
//!
//! It is made from the task and the playbook, never from what a page or a model says.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Map, Value};
use url::Url;

use super::{
    Action, PageView, PausedRequest,
    money_amounts::Amount,
    playbook::Playbook,
    provenance::{Provenance, ValueOrigin},
    typed_values::TypedValues,
};
use commis_base::error::{Code, Error, Result};
use commis_browser::paused_requests::{OutgoingRequest, RequestDecision, RequestJudge};
use commis_net::egress::site_of;
use commis_stages::effect::{Call, PressedControl, judge_before_send};

/// Arguments that come to stand in a page: ours, and those of Playwright MCP.
const TYPED: &[&str] = &["value", "text", "option", "values", "fields", "promptText"];
/// Actions that only wait or look: what they name is looked for, not typed.
const WAITS: &[&str] = &["wait", "browser_wait_for", "browser_find"];

pub struct TaskPolicy {
    sites: BTreeSet<String>,
    playbook: Option<Arc<Playbook>>,
    origins: Provenance,
    /// Shared with what decides about requests.
    typed: Arc<Mutex<TypedValues>>,
}

fn locked(it: &Mutex<TypedValues>) -> MutexGuard<'_, TypedValues> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TaskPolicy {
    /// For a task that begins there, at that site, those of the playbook and those that the user names. Fails with `URL_INVALID`,
    /// `PARAM_INVALID`.
    pub fn new(
        url: &str,
        hosts: &[String],
        playbook: Option<Arc<Playbook>>,
        said: &[&str],
    ) -> Result<Self> {
        let begins = Url::parse(url).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
        let begins = begins.ok_or_else(|| {
            Error::new(
                Code::UrlInvalid,
                "the start of a task must be an absolute http or https address",
            )
        })?;
        let mut sites = BTreeSet::from([site_of(begins.as_str())]);
        let named = playbook.as_ref().map(|it| it.all_hosts()).unwrap_or_default();
        for host in hosts.iter().chain(&named) {
            let site = site_of(&format!("https://{host}/"));
            if site.is_empty() || host.contains(['/', '@', '?', '#', ' ']) {
                return Err(Error::new(
                    Code::ParamInvalid,
                    format!("{host:?} is not a valid host"),
                ));
            }
            sites.insert(site);
        }
        let mut origins = Provenance::default();
        said.iter().chain([&url]).for_each(|it| origins.add_user_text(it));
        Ok(Self { sites, playbook, origins, typed: Arc::default() })
    }

    /// The sites where pages may be, by registrable domain.
    pub fn sites(&self) -> impl Iterator<Item = &str> {
        self.sites.iter().map(String::as_str)
    }

    pub fn origins(&self) -> &Provenance {
        &self.origins
    }

    /// The user said it: it may be typed anywhere.
    pub fn add_user_text(&mut self, text: &str) {
        self.origins.add_user_text(text);
    }

    /// The page was looked at: what it says may be typed at its site.
    pub fn add_page(&mut self, it: &PageView) {
        self.origins.add_page_text(&it.url, &it.content);
        self.origins.add_page_text(&it.url, &it.title);
        self.origins.add_page_text(&it.url, &it.url);
    }

    /// The action that opens a page.
    pub fn opens(url: &str) -> Action {
        let arguments = Map::from_iter([("url".to_owned(), Value::from(url))]);
        Action { name: "goto".to_owned(), arguments }
    }

    /// Whether an action may be tried on that page. Fails with `URL_BLOCKED` where it leads elsewhere or changes something by an
    /// address, and with `VALUE_FROM_ELSEWHERE`.
    pub fn allows(&self, act: &Action, view: &PageView) -> Result<()> {
        if let Some(url) = act.text("url") {
            let to = Url::parse(url).ok();
            let Some(to) = to.filter(|it| matches!(it.scheme(), "http" | "https")) else {
                return Err(Error::new(Code::UrlInvalid, "give an absolute http or https address"));
            };
            if !self.sites.contains(&site_of(to.as_str())) {
                return Err(self.elsewhere(to.host_str().unwrap_or_default()));
            }
            if let Err(why) = judge_before_send(&Call::get(to.as_str()), None).into_result()
                && !self.is_only_a_page(to.as_str())
            {
                return Err(Error::new(Code::UrlBlocked, format!("the page is not opened: {why}"))
                    .hint("use the links and buttons of the page instead"));
            }
            self.origins.allowed_address(to.as_str())?;
            locked(&self.typed).opens(to.as_str());
        }
        if WAITS.contains(&act.name.as_str()) {
            return Ok(());
        }
        let typed = act.arguments.iter().filter(|it| TYPED.contains(&it.0.as_str()));
        for value in typed.flat_map(|it| texts(it.1)) {
            self.names_no_other(value, &view.url)?;
            self.origins.check_destination(value, &view.url)?;
            if self.origins.origin_of(value, &view.url) != ValueOrigin::User {
                locked(&self.typed).add(&view.url, value);
            }
        }
        Ok(())
    }

    fn elsewhere(&self, host: &str) -> Error {
        let sites: Vec<&str> = self.sites().collect();
        Error::new(Code::UrlBlocked, format!("this task may not go to {host:?}"))
            .hint(format!("allowed are {}; the user adds others with --host", sites.join(", ")))
    }

    /// Text that names a host elsewhere is not typed unless the user said it: pages draw what is typed, and fetch what it names.
    fn names_no_other(&self, value: &str, at: &str) -> Result<()> {
        // As browsers read an address: slashes either way, and no blanks in it.
        let text: String = value
            .chars()
            .filter(|it| !matches!(it, '\t' | '\n' | '\r'))
            .map(|it| if it == '\\' { '/' } else { it.to_ascii_lowercase() })
            .collect();
        let own = |host: &str| {
            let host = host.trim_start_matches('/');
            Url::parse(&format!("https://{host}"))
                .is_ok_and(|it| self.sites.contains(&site_of(it.as_str())))
        };
        let names = |word: &str| {
            let rest =
                ["http:", "https:", "//"].iter().find_map(|it| word.split_once(it)).map(|it| it.1);
            let bare = word.find(['/', '?']).is_some_and(|at| {
                let last = word[..at].rsplit_once('.').map_or("", |it| it.1);
                last.len() > 1 && last.bytes().all(|it| it.is_ascii_alphabetic())
            });
            match rest {
                Some(rest) => !own(rest),
                None => (bare || word.starts_with("www.")) && !own(word),
            }
        };
        let between = |it: char| it.is_whitespace() || "()[]<>\"'`|,;".contains(it);
        let is_users = || self.origins.origin_of(value, at) == ValueOrigin::User;
        if !text.split(between).any(names) || is_users() {
            return Ok(());
        }
        Err(Error::new(
            Code::ValueFromElsewhere,
            "the text names another host, so commis does not type it",
        )
        .hint("to allow it, put the text into the task or give it with -p"))
    }

    fn is_only_a_page(&self, url: &str) -> bool {
        Url::parse(url).is_ok_and(|url| self.playbook.as_ref().is_some_and(|it| it.is_page(&url)))
    }

    /// What it allows, for a person: made from the task and the playbook alone.
    pub fn describe(&self) -> String {
        let sites: Vec<&str> = self.sites().collect();
        let mut out = vec![format!("pages of {}", sites.join(", "))];
        match &self.playbook {
            None => {
                out.push("each request that may change something is shown to you first".to_owned());
            }
            Some(book) => {
                for it in &book.changes {
                    let times = match it.most {
                        1 => "once".to_owned(),
                        most => format!("{most} times at most"),
                    };
                    out.push(format!("{} {} {times}", it.method.as_str(), it.path));
                }
                out.extend(
                    book.amount.iter().map(|it| format!("at most {} {}", it.most, it.currency)),
                );
                out.push("each of these is shown to you first".to_owned());
            }
        }
        out.join("; ")
    }

    /// Whether what is held may be put to a person at all: where a playbook says what may be changed, how often and for how much at
    /// most, nothing else may. `sent`: requests of this run that were let go. The error says why not.
    pub fn permits(
        &self,
        paused: &PausedRequest,
        amounts: &[Amount],
        sent: u32,
    ) -> Result<(), String> {
        let Some(book) = &self.playbook else { return Ok(()) };
        let url = Url::parse(&paused.url).map_err(|_| "its address cannot be read".to_owned())?;
        let Some(change) = book.change(&paused.method, &url) else {
            return Err("the playbook allows no such change".to_owned());
        };
        if sent >= change.most {
            return Err(format!("the playbook allows {} of these", change.most));
        }
        let Some(most) = &book.amount else { return Ok(()) };
        let over = amounts
            .iter()
            .find(|it| it.currency != most.currency || it.hundredths > most.most.hundredths());
        match over {
            Some(it) => Err(format!("{it} is not within {} {}", most.most, most.currency)),
            None => Ok(()),
        }
    }

    /// A value that the user did not say was typed, and there is another site that it could get to: what was asked about here would
    /// not be where the steps are driven again.
    pub fn is_told_apart(&self) -> bool {
        self.sites.len() > 1 && locked(&self.typed).has_any()
    }

    /// Decides what leaves the browser.
    pub fn judge(&self) -> RequestJudge {
        let (sites, playbook) = (self.sites.clone(), self.playbook.clone());
        let typed = Arc::clone(&self.typed);
        Arc::new(move |it| judge_request(it, &sites, playbook.as_deref(), &locked(&typed)))
    }
}

/// Texts of an argument. Of a field of a form what is to stand in it: the rest says which one it is.
fn texts(it: &Value) -> Vec<&str> {
    match it {
        Value::String(it) => vec![it],
        Value::Array(all) => all.iter().flat_map(texts).collect(),
        Value::Object(all) => all.get("value").map(texts).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Pages stay at the sites of the task. What is not known to read waits where an act led to it and it goes to one of these sites;
/// all else of the kind is refused: what a page sends by itself, what goes elsewhere, what nobody will see the answer of. The same
/// where something that was typed leaves its site.
fn judge_request(
    it: &OutgoingRequest<'_>,
    sites: &BTreeSet<String>,
    playbook: Option<&Playbook>,
    typed: &TypedValues,
) -> RequestDecision {
    let effect = judge_before_send(
        &Call::from_outgoing((it.method, it.url), it.headers, it.body, it.is_opaque),
        it.pressed.map(PressedControl::from).as_ref(),
    );
    if it.has_person {
        return effect.into_result().map_or_else(RequestDecision::Hold, |()| RequestDecision::Go);
    }
    let site = site_of(it.url);
    let is_own = sites.contains(&site);
    if it.is_page && !is_own {
        return RequestDecision::Refuse(format!("pages of {site} are none of this task's"));
    }
    // What a frame shows and takes would count as the page's.
    if it.kind == "Document" && !it.is_page && it.at.is_none_or(|top| site_of(top) != site) {
        return RequestDecision::Refuse(format!(
            "frames of {site} are not opened in pages of others"
        ));
    }
    let why = match (leaking_site(it, typed), effect.into_result()) {
        (None, Ok(())) => return RequestDecision::Go,
        (Some(from), _) => format!("what was typed on {from} leaves to {site} with it"),
        (None, Err(why)) => {
            let is_page = |book: &Playbook| Url::parse(it.url).is_ok_and(|it| book.is_page(&it));
            if is_own && it.method == "GET" && playbook.is_some_and(is_page) {
                return RequestDecision::Go;
            }
            why
        }
    };
    if !is_own {
        return RequestDecision::Refuse(format!(
            "it goes to {site}, which is not a site of this task: {why}"
        ));
    }
    if !it.follows_act || !matches!(it.kind, "Document" | "XHR" | "Fetch") {
        return RequestDecision::Refuse(format!("the page sends it by itself: {why}"));
    }
    RequestDecision::Hold(why)
}

/// The site of which something that was typed leaves to another with it: to the letter, or perhaps, where an act has a page send
/// something there.
fn leaking_site<'a>(it: &OutgoingRequest<'_>, typed: &'a TypedValues) -> Option<&'a str> {
    let says = it.body.is_some() || it.url.contains('?');
    let sends = it.follows_act && (it.is_page || it.body.is_some()) && says;
    let perhaps = || typed.may_leave(it.at, it.url).filter(|_| sends);
    typed.find_leak(it.url, it.body).or_else(perhaps)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task_policy(hosts: &[&str]) -> TaskPolicy {
        let hosts: Vec<String> = hosts.iter().map(|it| (*it).to_owned()).collect();
        TaskPolicy::new("http://shop.test/", &hosts, None, &["find a lantern", "lantern"]).unwrap()
    }

    fn act(name: &str, arguments: Value) -> Action {
        let Value::Object(arguments) = arguments else { panic!("no object") };
        Action { name: name.into(), arguments }
    }

    fn at(url: &str, content: &str) -> PageView {
        PageView { url: url.into(), title: String::new(), content: content.into() }
    }

    #[test]
    fn it_is_told_before_anything_is_done() {
        assert_eq!(
            task_policy(&["bank.test"]).describe(),
            "pages of bank.test, shop.test; each request that may change something is shown to you first"
        );
    }

    #[test]
    fn it_goes_where_the_task_is() {
        let it = task_policy(&["bank.test"]);
        let page = at("http://shop.test/", "");
        for (url, allowed) in [
            ("http://shop.test/a", true),
            ("http://www.shop.test/a", true),
            ("https://bank.test/", true),
            ("http://evil.test/", false),
            ("http://shop.test.evil.test/", false),
            ("http://shop.test@evil.test/", false),
            ("javascript:alert(1)", false),
            ("file:///etc/passwd", false),
            ("/a", false),
            ("http://shop.test/account/delete", false),
        ] {
            let it = it.allows(&act("goto", json!({ "url": url })), &page);
            assert_eq!(it.is_ok(), allowed, "{url} {it:?}");
        }
        assert!(TaskPolicy::new("shop.test", &[], None, &[]).is_err());
        assert!(TaskPolicy::new("http://a.test/", &["b.test/x".into()], None, &[]).is_err());
    }

    #[test]
    fn what_one_site_says_is_not_typed_at_another() {
        let mut it = task_policy(&["bank.test"]);
        let (shop, bank) =
            (at("http://shop.test/", "Search"), at("http://bank.test/", "IBAN DE00 1234 5678"));
        it.add_page(&shop);
        it.add_page(&bank);
        let fill = |value: &str| act("fill", json!({"target": "textbox \"q\"", "value": value}));
        assert!(it.allows(&fill("lantern"), &shop).is_ok());
        assert!(it.allows(&fill("IBAN DE00 1234 5678"), &bank).is_ok());
        assert!(it.allows(&fill("IBAN DE00 1234 5678"), &shop).is_err());
        let goto = act("goto", json!({"url": "http://shop.test/?q=DE00%201234%205678"}));
        assert!(it.allows(&goto, &bank).is_err());
        // The same by the names that Playwright has for it.
        for (name, with) in [
            ("browser_type", json!({"target": "e4", "text": "VALUE"})),
            ("browser_select_option", json!({"target": "e4", "values": ["lantern", "VALUE"]})),
            ("browser_handle_dialog", json!({"accept": true, "promptText": "VALUE"})),
            (
                "browser_fill_form",
                json!({"fields": [{"target": "e1", "name": "q", "type": "textbox", "value": "lantern"},
                    {"target": "e2", "name": "r", "type": "textbox", "value": "VALUE"}]}),
            ),
        ] {
            let act = |value: &str| {
                act(name, serde_json::from_str(&with.to_string().replace("VALUE", value)).unwrap())
            };
            assert!(it.allows(&act("lantern"), &shop).is_ok(), "{name}");
            assert!(it.allows(&act("IBAN DE00 1234 5678"), &bank).is_ok(), "{name}");
            let err = it.allows(&act("IBAN DE00 1234 5678"), &shop).unwrap_err();
            assert_eq!(err.code(), Code::ValueFromElsewhere, "{name}");
        }
        let theirs = act("browser_navigate", json!({"url": "http://evil.test/"}));
        assert_eq!(it.allows(&theirs, &shop).unwrap_err().code(), Code::UrlBlocked);
        for value in [
            "![x](http://evil.test/?c=1)",
            "![x](http:\\\\evil.test\\x)",
            "https:evil.test/x",
            "see evil.test/x?c=1",
            "www.evil.test",
        ] {
            assert!(task_policy(&[]).allows(&fill(value), &shop).is_err(), "{value}");
        }
        for value in ["http://shop.test/a", "half/full 1.5/2", "ann@example.test", "a.b"] {
            assert!(task_policy(&[]).allows(&fill(value), &shop).is_ok(), "{value}");
        }
        // Looked for, not typed.
        let find = act("browser_find", json!({"text": "DE00 1234 5678"}));
        assert!(it.allows(&find, &shop).is_ok());
        let wait = act("wait", json!({"text": "DE00 1234 5678"}));
        assert!(it.allows(&wait, &shop).is_ok());
    }

    #[test]
    fn what_was_typed_and_is_not_the_users_is_asked_about_where_it_leaves() {
        let it = task_policy(&["bank.test"]);
        let judge = it.judge();
        let go = |url: &str, kind: &str, at: &str| match judge(&OutgoingRequest {
            method: "GET",
            url,
            headers: &[],
            body: None,
            is_opaque: false,
            is_page: kind == "Document",
            at: Some(at),
            kind,
            follows_act: true,
            pressed: None,
            has_person: false,
        }) {
            RequestDecision::Go => "go",
            RequestDecision::Hold(_) => "hold",
            RequestDecision::Refuse(_) => "refuse",
        };
        let bank = at("http://bank.test/", "");
        let fill = |value: &str| act("fill", json!({"target": "textbox \"q\"", "value": value}));
        let form = "http://shop.test/x?c=U0VDUkVU";
        it.allows(&fill("lantern"), &bank).unwrap();
        assert_eq!(go(form, "Document", &bank.url), "go", "the user said it");
        it.allows(&fill("DE00 1234 5678"), &bank).unwrap();
        for (url, kind, at, expected) in [
            // As it is, or in whatever coding.
            ("http://shop.test/x?c=DE00+1234+5678", "Document", "http://bank.test/", "hold"),
            (form, "Document", "http://bank.test/", "hold"),
            ("http://shop.test/x?c=DE00+1234+5678", "Fetch", "http://bank.test/", "hold"),
            ("http://shop.test/x?c=DE00+1234+5678", "Image", "http://bank.test/", "refuse"),
            ("http://cdn.test/x?c=DE00+1234+5678", "Fetch", "http://bank.test/", "refuse"),
            ("http://shop.test/x", "Document", "http://bank.test/", "go"),
            ("http://cdn.test/x.js?v=7", "Script", "http://bank.test/", "go"),
            ("http://bank.test/x?c=DE00+1234+5678", "Document", "http://bank.test/", "go"),
            ("http://shop.test/list?page=2", "Document", "http://shop.test/", "go"),
        ] {
            assert_eq!(go(url, kind, at), expected, "{url} {kind} {at}");
        }
    }

    #[test]
    fn what_leaves() {
        let it = task_policy(&[]);
        let judge = it.judge();
        let go = |method: &str, url: &str, kind: &str, follows_act: bool| {
            let is_page = kind == "Document";
            let body = (method == "POST").then_some(&b"a=1"[..]);
            let form = ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned());
            let headers = if method == "POST" { vec![form] } else { Vec::new() };
            match judge(&OutgoingRequest {
                method,
                url,
                headers: &headers,
                body,
                is_opaque: false,
                is_page,
                at: None,
                kind,
                follows_act,
                pressed: None,
                has_person: false,
            }) {
                RequestDecision::Go => "go",
                RequestDecision::Hold(_) => "hold",
                RequestDecision::Refuse(_) => "refuse",
            }
        };
        for (method, url, kind, acted, expected) in [
            ("GET", "http://shop.test/list", "Document", true, "go"),
            ("GET", "http://cdn.test/x.js", "Script", false, "go"),
            ("GET", "http://evil.test/", "Document", true, "refuse"),
            ("POST", "http://shop.test/orders", "Fetch", true, "hold"),
            ("POST", "http://shop.test/orders", "Document", true, "hold"),
            ("POST", "http://shop.test/orders", "Fetch", false, "refuse"),
            ("POST", "http://shop.test/orders", "Ping", true, "refuse"),
            ("POST", "http://evil.test/orders", "Fetch", true, "refuse"),
            ("DELETE", "http://shop.test/orders/7", "XHR", true, "hold"),
            ("GET", "http://shop.test/orders/7/delete", "Document", true, "hold"),
            ("GET", "http://shop.test/cart/add?id=7", "Image", true, "refuse"),
        ] {
            assert_eq!(go(method, url, kind, acted), expected, "{method} {url} {kind} {acted}");
        }
    }
}
