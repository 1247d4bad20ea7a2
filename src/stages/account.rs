//! Values of a request that are the account's: a name in a public address, an id that signing in was answered with.
//!
//! Whoever ran such a recipe would get the things of the one who recorded it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::client_generated::{is_client_generated, is_uuid};
use super::request::template;
use super::template_match::{literal_of, read_back};
use commis_artifacts::recording::{
    Action, ActionKind, Driver, Excerpt, Exchange, RequestBody, ResourceType, SessionRecording,
};
use commis_recipe::model::{BodyTemplate, RequestTemplate};

/// Shorter values stand in a request by chance.
const LEAST: usize = 2;
const MOST: usize = 64;
/// Headers that say who asks.
const SIGNS: &[&str] = &["cookie", "authorization"];
/// Members that only a record of an account has.
const NAMES: &[&str] =
    &["email", "handle", "login", "nickname", "preferred_username", "user_name", "username"];
/// Placeholders of what a password field sent.
const PASSWORDS: &[&str] = &["[REDACTED:pass", "[REDACTED:pwd", "[REDACTED:pin"];
/// Last segments of addresses that ask who is signed in, without dashes.
const WHO: &[&str] = &[
    "me",
    "whoami",
    "userinfo",
    "currentuser",
    "viewer",
    "myself",
    "session",
    "profile",
    "account",
];
/// Letters alone: shorter ones are words that name how things are asked for.
const LEAST_TELLING: usize = 5;

/// Whether a constant of the request came from signing in: it was typed beside a password and is no parameter, or the answer to
/// that gave it, and no request before held it. Never where nobody signed in.
pub fn names_account(recording: &SessionRecording, request: &RequestTemplate) -> bool {
    if recording.login_site.is_some() {
        return repeats_answer(recording, request);
    }
    if recording.driver == Driver::Har && names_signed_in(recording, request) {
        return true;
    }
    let is_password = |it: &Action| it.control.as_ref().is_some_and(|it| it.kind == "password");
    let Some(signed_in) = recording.actions.iter().position(is_password) else { return false };
    let typed: BTreeSet<String> = recording.typed.values().map(|it| it.to_lowercase()).collect();
    let beside = recording.actions[..=signed_in].iter().filter(|it| it.kind == ActionKind::Fill);
    let mut known: BTreeSet<String> =
        beside.filter_map(|it| it.value.as_ref()).map(|it| it.to_lowercase()).collect();
    let after = |it: &Exchange| it.after_action.is_some_and(|at| at as usize > signed_in);
    // Of the action that sent the password, where others follow it.
    let goes_on = recording.actions.len() > signed_in + 2;
    let last = if goes_on { signed_in as u32 + 1 } else { u32::MAX };
    for it in &recording.exchanges {
        let is_answer = it.method == "POST" && after(it) && it.after_action <= Some(last);
        if let (true, Some(Excerpt::Json(answer))) = (is_answer, &it.excerpt) {
            scalars(answer, &mut known);
        }
    }
    known.retain(|it| !typed.contains(it) && (LEAST..=MOST).contains(&it.chars().count()));
    let before: BTreeSet<String> = recording
        .exchanges
        .iter()
        .filter(|it| !after(it))
        .flat_map(|it| parts_of(&it.url))
        .collect();
    constants(request).iter().any(|it| known.contains(it) && !before.contains(it))
}

/// Whether a constant of the request names who was signed in when a HAR was recorded: it was sent beside a password, or a request with
/// a cookie or an authorization was answered with one record that has the name of an account, and nothing that the person opened or
/// typed holds that name.
fn names_signed_in(recording: &SessionRecording, request: &RequestTemplate) -> bool {
    let is_signed =
        |it: &Exchange| it.request_headers.iter().any(|it| SIGNS.contains(&it.name.as_str()));
    let mut known = BTreeSet::new();
    for it in &recording.exchanges {
        if let Some(Excerpt::Json(answer)) = &it.excerpt
            && is_signed(it)
            && it.measures.typed_in_request.is_empty()
        {
            account_names(answer, &mut known);
            if asks_who(&it.url) {
                identities(answer, &mut known);
                keys_of(answer, &mut known);
            }
        }
    }
    let typed: BTreeSet<String> = recording.typed.values().map(|it| it.to_lowercase()).collect();
    let documents =
        recording.exchanges.iter().filter(|it| it.resource_type == ResourceType::Document);
    let opened: BTreeSet<String> = documents
        .map(|it| it.url.as_str())
        .chain([recording.url.as_str(), recording.page.url.as_str()])
        .flat_map(parts_of)
        .collect();
    known.retain(|it| !opened.contains(it));
    // Signing in may lead to an address with that name.
    for it in &recording.exchanges {
        sent_beside_password(it, &mut known);
    }
    known.retain(|it| !typed.contains(it) && (LEAST + 1..=MOST).contains(&it.chars().count()));
    constants(request).iter().any(|it| known.contains(it))
}

/// What a request sends in fields beside a password, and what it is answered.
fn sent_beside_password(exchange: &Exchange, out: &mut BTreeSet<String>) {
    let fields: Vec<(&str, &str)> = match &exchange.request_body {
        Some(RequestBody::Form(all) | RequestBody::Multipart(all)) => {
            all.iter().map(|it| (it.name.as_str(), it.value.as_str())).collect()
        }
        Some(RequestBody::Json(Value::Object(all))) => {
            all.iter().filter_map(|it| Some((it.0.as_str(), it.1.as_str()?))).collect()
        }
        _ => return,
    };
    let is_password = |it: &str| PASSWORDS.iter().any(|label| it.starts_with(label));
    if fields.iter().any(|it| is_password(it.1)) {
        let names = fields.iter().filter(|it| !it.1.contains("[REDACTED:"));
        out.extend(names.map(|it| it.1.trim().to_lowercase()));
        if let Some(Excerpt::Json(answer)) = &exchange.excerpt {
            // Words of it may be how things are asked for: a language, a role.
            let mut given = BTreeSet::new();
            scalars(answer, &mut given);
            out.extend(given.into_iter().filter(|it| it.chars().any(|it| it.is_ascii_digit())));
            keys_of(answer, out);
        }
    }
}

/// Whether an address asks who is signed in, as is usual: `/api/me`, OpenID Connect's `userinfo`.
fn asks_who(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let last = url.path_segments().and_then(|mut it| it.rfind(|it| !it.is_empty()));
    last.is_some_and(|it| WHO.contains(&it.to_ascii_lowercase().replace(['-', '_'], "").as_str()))
}

/// Texts by which one record is told from others: under `key` or a name that ends in it, or in `id`.
fn keys_of(value: &Value, out: &mut BTreeSet<String>) {
    let Value::Object(all) = value else { return };
    for (key, it) in all {
        let key = key.to_ascii_lowercase();
        let is_key =
            ["id", "key", "uid", "slug", "code", "number"].iter().any(|it| key.ends_with(it));
        match it {
            Value::String(it) if is_key => _ = out.insert(it.to_lowercase()),
            it => keys_of(it, out),
        }
    }
}

/// What a record says of an account, where it has a name for one: the claims of OpenID Connect, and what sites call them.
fn account_names(value: &Value, out: &mut BTreeSet<String>) {
    let Value::Object(all) = value else { return };
    let is_account = all.keys().any(|it| NAMES.contains(&&*it.to_ascii_lowercase()));
    for (key, it) in all {
        let key = key.to_ascii_lowercase();
        let is_name =
            is_account && (NAMES.contains(&&*key) || matches!(&*key, "id" | "sub" | "uid"));
        match it {
            Value::String(it) if is_name => _ = out.insert(it.to_lowercase()),
            Value::Number(it) if is_name => _ = out.insert(it.to_string()),
            it => account_names(it, out),
        }
    }
}

/// Whether a constant of the request stands in the answer to another request of a session that began with a login: an account's
/// number from "who am I". What was typed is none, and what only says how things are asked for is too short.
fn repeats_answer(recording: &SessionRecording, request: &RequestTemplate) -> bool {
    let typed: BTreeSet<String> = recording.typed.values().map(|it| it.to_lowercase()).collect();
    let own = request.url.split('?').next().unwrap_or_default();
    let mut known = BTreeSet::new();
    for it in recording.exchanges.iter().filter(|it| !it.url.starts_with(own)) {
        if let Some(Excerpt::Json(answer)) = &it.excerpt {
            scalars(answer, &mut known);
        }
    }
    let tells = |it: &String| {
        let len = it.chars().count();
        len >= LEAST_TELLING || len > LEAST && it.chars().any(|it| it.is_ascii_digit())
    };
    known.retain(|it| tells(it) && it.chars().count() <= MOST);
    for it in recording.exchanges.iter().filter(|it| !it.url.starts_with(own)) {
        if let Some(Excerpt::Json(answer)) = &it.excerpt {
            identities(answer, &mut known);
        }
    }
    known.retain(|it| !typed.contains(it));
    constants(request).iter().any(|it| known.contains(it))
}

/// Numbers that one record goes by, however short: those of lists' items are none of whoever asked.
fn identities(value: &Value, out: &mut BTreeSet<String>) {
    let Value::Object(all) = value else { return };
    for (key, it) in all {
        let is_id = key == "id" || key.ends_with("_id") || key.ends_with("Id") || key == "uid";
        match it {
            Value::Number(it) if is_id => _ = out.insert(it.to_string()),
            it => identities(it, out),
        }
    }
}

fn scalars(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::String(it) => _ = out.insert(it.to_lowercase()),
        Value::Number(it) => _ = out.insert(it.to_string()),
        Value::Array(all) => all.iter().for_each(|it| scalars(it, out)),
        Value::Object(all) => all.values().for_each(|it| scalars(it, out)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// What a second login's session says of the constants of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum AccountPart {
    /// This part is another there.
    Named(String),
    /// The second login's page asked for the same.
    None,
    /// There was no such session, or no such request in it.
    Unknown,
}

/// Holds the request, with the values of the first example, against what the second login's page asked for in its place.
pub fn named_by_second_login(
    request: &RequestTemplate,
    own: &Exchange,
    second_login: Option<&SessionRecording>,
    values: &BTreeMap<String, String>,
) -> AccountPart {
    let Some(theirs) = second_login else { return AccountPart::Unknown };
    let asked = |it: &&Exchange| it.method == own.method && outline(&it.url) == outline(&own.url);
    // What a page makes up differs anyway; an account's number may be a UUID.
    let passing = |part: &str, a: &str, b: &str| {
        is_client_generated(part, a, b) && literal_of(a).is_none_or(|it| !is_uuid(&it))
    };
    let mut named = None;
    for it in theirs.exchanges.iter().filter(asked) {
        let Some((asked, _)) = template(it) else { continue };
        match read_back(request, &asked, values, &passing) {
            Ok(read)
                if read.iter().all(|(name, it)| values.get(name).is_none_or(|own| own == it)) =>
            {
                return AccountPart::None;
            }
            Err(part)
                if (it.after_action, it.resource_type) == (own.after_action, own.resource_type) =>
            {
                named = Some(part);
            }
            _ => {}
        }
    }
    named.map_or(AccountPart::Unknown, AccountPart::Named)
}

/// Host, number of segments and names of the query: what two accounts' requests for the same have in common.
fn outline(url: &str) -> Option<(String, usize, Vec<String>)> {
    let url = Url::parse(url).ok()?;
    let mut names: Vec<String> = url.query_pairs().map(|it| it.0.into_owned()).collect();
    names.sort_unstable();
    Some((url.host_str()?.to_owned(), url.path_segments()?.count(), names))
}

/// A constant of an address that a page behind a login gave, and that may be its account's number: nobody wrote it into the steps.
pub fn given_by_page(
    request: &RequestTemplate,
    own: &Exchange,
    recording: &SessionRecording,
) -> Option<String> {
    recording.login_site.as_ref()?;
    // A HAR does not tell which address was written by the person.
    let by_page = recording.driver == Driver::Har || {
        let action = recording.actions.get(own.after_action? as usize)?;
        action.kind != ActionKind::Navigate
    };
    if own.resource_type != ResourceType::Document || !by_page {
        return None;
    }
    let opened = recording.actions.iter().filter(|it| it.kind == ActionKind::Navigate);
    let written: BTreeSet<String> = std::iter::once(recording.url.as_str())
        .chain(opened.filter_map(|it| it.value.as_deref()))
        .flat_map(parts_of)
        .chain(recording.typed.values().map(|it| it.to_lowercase()))
        .collect();
    let is_number = |it: &str| {
        let is_word = |it: char| it.is_alphanumeric() || it == '-' || it == '_';
        it.chars().all(is_word) && it.chars().any(|it| it.is_ascii_digit())
    };
    let unknown = |it: &str| is_number(it) && !written.contains(&it.to_lowercase());
    let query = request.query.iter().map(|it| (format!("`{}`", it.name), it.value.clone()));
    let path = parts_of(&request.url).into_iter().map(|it| ("the path".to_owned(), it));
    let found = query.chain(path).find(|it| unknown(&it.1));
    found.map(|(part, value)| format!("{value:?} in {part}"))
}

/// Segments and query values of an address, in lower case.
fn parts_of(url: &str) -> Vec<String> {
    let Ok(url) = Url::parse(url) else { return Vec::new() };
    let decoded =
        |it: &str| percent_encoding::percent_decode_str(it).decode_utf8_lossy().to_lowercase();
    let segments = url.path_segments().into_iter().flatten().map(decoded);
    segments.chain(url.query_pairs().map(|it| it.1.to_lowercase())).collect()
}

/// What of a request is written down, in lower case.
fn constants(request: &RequestTemplate) -> Vec<String> {
    let mut out = parts_of(&request.url);
    out.extend(request.query.iter().map(|it| it.value.to_lowercase()));
    match &request.body {
        Some(BodyTemplate::Form(pairs)) => {
            out.extend(pairs.iter().map(|it| it.value.to_lowercase()));
        }
        Some(BodyTemplate::Json(it)) => {
            let mut found = BTreeSet::new();
            scalars(it, &mut found);
            out.extend(found);
        }
        Some(BodyTemplate::Text(_)) | None => {}
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pages::tests::exchange;
    use commis_artifacts::recording::{Control, Header};

    #[test]
    fn what_signing_in_gave_is_no_constant() {
        let fill = |value: &str, kind: &str| Action {
            control: Some(Control { kind: kind.to_owned(), ..Control::default() }),
            ..Action::new(ActionKind::Fill, Some(value))
        };
        let mut recording: SessionRecording = serde_json::from_value(json!({
            "task": "List my orders", "url": "http://a.test/", "driver": "steps", "typed": {"year": "2026"}, "actions": [],
            "final_answer": null, "page": {"url": "", "title": "", "visible_text": "", "has_password_field": false},
            "exchanges": [], "blocked": [], "duration_ms": 1, "producer": "x"
        }))
        .unwrap();
        let mut login = exchange(1, "", Some(json!({"user": "mira"})));
        login.after_action = Some(2);
        login.excerpt = Some(Excerpt::Json(json!({"id": 4711, "ok": true})));
        recording.exchanges = vec![exchange(0, "page=1", None), login];
        let of = |recording: &SessionRecording, url: &str| {
            let request = serde_json::from_value(
                json!({"method": "GET", "url": url, "allowed_domains": ["a.test"]}),
            );
            names_account(recording, &request.unwrap())
        };
        assert!(!of(&recording, "http://a.test/users/mira"), "nobody signed in");
        recording.actions =
            vec![fill("Mira", "text"), fill("", "password"), Action::new(ActionKind::Press, None)];
        assert!(of(&recording, "http://a.test/users/mira"));
        assert!(of(&recording, "http://a.test/users/4711/orders"));
        assert!(!of(&recording, "http://a.test/api/list"));
        assert!(!of(&recording, "http://a.test/orders/2026"), "it was typed as a parameter");
    }

    #[test]
    fn what_a_har_sent_beside_a_password_is_no_constant() {
        let mut recording: SessionRecording = serde_json::from_value(json!({
            "task": "List my orders", "url": "http://a.test/", "driver": "har", "typed": {}, "actions": [],
            "final_answer": null, "page": {"url": "", "title": "", "visible_text": "", "has_password_field": false},
            "exchanges": [], "blocked": [], "duration_ms": 1, "producer": "x"
        }))
        .unwrap();
        let mut login = exchange(0, "", None);
        login.request_body = Some(RequestBody::Json(
            json!({"who": "tester-41", "key": "[REDACTED:password]", "lang": "en-US"}),
        ));
        login.excerpt = Some(Excerpt::Json(json!({"person": 41877, "role": "member"})));
        let mut me = exchange(1, "", None);
        me.excerpt = Some(Excerpt::Json(json!({"key": "usr_77", "plan": "free"})));
        me.url = "http://a.test/api/me".to_owned();
        me.request_headers =
            vec![Header { name: "cookie".to_owned(), value: "[REDACTED:cookie]".to_owned() }];
        recording.exchanges = vec![login, me];
        let of = |url: &str| {
            let request = json!({"method": "GET", "url": url, "allowed_domains": ["a.test"]});
            names_account(&recording, &serde_json::from_value(request).unwrap())
        };
        assert!(of("http://a.test/users/tester-41/orders"), "typed");
        assert!(of("http://a.test/users/41877/orders"), "answered");
        assert!(of("http://a.test/orders/usr_77"), "who is signed in");
        assert!(!of("http://a.test/free/member"), "words");
    }

    fn signed_in(url: &str, after: ActionKind) -> SessionRecording {
        let mut it: SessionRecording = serde_json::from_value(json!({
            "task": "List my issues", "url": "http://a.test/", "driver": "steps", "typed": {}, "actions": [],
            "final_answer": null, "page": {"url": "", "title": "", "visible_text": "", "has_password_field": false},
            "exchanges": [], "blocked": [], "login_site": "a.test", "duration_ms": 1, "producer": "x"
        }))
        .unwrap();
        it.actions = vec![
            Action::new(ActionKind::Navigate, Some("http://a.test/")),
            Action::new(after, None),
        ];
        let mut asked = exchange(0, "", None);
        (asked.url, asked.after_action) = (url.to_owned(), Some(1));
        asked.resource_type = ResourceType::Document;
        it.exchanges = vec![asked];
        it
    }

    fn request(it: &SessionRecording) -> RequestTemplate {
        template(&it.exchanges[0]).unwrap().0
    }

    #[test]
    fn a_second_login_tells_whose_a_constant_is() {
        let of = |ours: &str, theirs: &str| {
            let own = signed_in(ours, ActionKind::Click);
            let second = signed_in(theirs, ActionKind::Click);
            named_by_second_login(
                &request(&own),
                &own.exchanges[0],
                Some(&second),
                &BTreeMap::new(),
            )
        };
        let list = "http://a.test/issue?assigned=3&sort=date";
        assert_eq!(of(list, list), AccountPart::None);
        let named = |part: &str| AccountPart::Named(part.to_owned());
        assert_eq!(of(list, "http://a.test/issue?assigned=4&sort=date"), named("query `assigned`"));
        assert_eq!(of("http://a.test/users/3", "http://a.test/users/4"), named("path segment 2"));
        assert_eq!(of(list, "http://a.test/login"), AccountPart::Unknown);
        let uuid =
            |last: char| format!("http://a.test/o?u=0f2b7f0e-6c5e-4c1e-9f0c-1a2b3c4d5e6{last}");
        assert_eq!(of(&uuid('a'), &uuid('b')), named("query `u`"), "a page makes none up here");
    }

    #[test]
    fn with_one_login_a_number_that_a_page_gave_is_in_doubt() {
        let of = |url: &str, after: ActionKind| {
            let it = signed_in(url, after);
            given_by_page(&request(&it), &it.exchanges[0], &it)
        };
        let list = "http://a.test/issue?assigned=3&sort=date";
        assert!(of(list, ActionKind::Click).unwrap().contains("`assigned`"));
        assert_eq!(of(list, ActionKind::Navigate), None, "the person wrote it");
        assert_eq!(of("http://a.test/issue?status=1,2,3", ActionKind::Click), None);
        assert_eq!(of("http://a.test/orders", ActionKind::Click), None);
    }

    #[test]
    fn a_har_of_a_signed_in_page_names_its_account() {
        let of = |me: Value, signed: bool, opened: &str| {
            let mut it = signed_in("http://a.test/api/anna-nowak/orders", ActionKind::Click);
            (it.login_site, it.driver) = (None, Driver::Har);
            it.exchanges[0].resource_type = ResourceType::Fetch;
            it.url = opened.to_owned();
            let mut asked = exchange(1, "", None);
            asked.url = "http://a.test/api/me".to_owned();
            asked.excerpt = Some(Excerpt::Json(me));
            if signed {
                let value = "${REDACTED_COOKIE_1}".to_owned();
                asked.request_headers = vec![Header { name: "cookie".to_owned(), value }];
            }
            it.exchanges.push(asked);
            names_account(&it, &request(&it))
        };
        let me = json!({"user": {"login": "anna-nowak", "email": "anna@nowak.test"}});
        assert!(of(me.clone(), true, "http://a.test/"));
        assert!(!of(me.clone(), false, "http://a.test/"), "nobody was signed in");
        assert!(!of(me, true, "http://a.test/anna-nowak"), "the person opened it");
        assert!(!of(json!({"title": "anna-nowak"}), true, "http://a.test/"), "no account");
        let others = json!({"team": [{"login": "anna-nowak"}]});
        assert!(!of(others, true, "http://a.test/"), "one of many");
    }

    #[test]
    fn a_short_number_is_the_account_s_where_one_record_goes_by_it() {
        let mut it = signed_in("http://a.test/users/3/orders", ActionKind::Click);
        let mut me = exchange(1, "", None);
        me.url = "http://a.test/me".to_owned();
        me.excerpt = Some(Excerpt::Json(json!({"user": {"id": 3}, "unread": 7})));
        it.exchanges.push(me.clone());
        assert!(names_account(&it, &request(&it)));
        me.excerpt = Some(Excerpt::Json(json!({"orders": [{"id": 3}], "unread": 3})));
        it.exchanges[1] = me;
        assert!(!names_account(&it, &request(&it)), "an item of a list, and a count");
    }
}
