//! Tokens that a page keeps in a variable alone: each page asks for one with its cookies when it opens, and sends it from then on.
//!
//! What is sealed with the login is the newest token, and the request that gives another one: a run sends the token, and renews it as
//! the page does where it is refused.

use zeroize::Zeroizing;

use super::{
    Run,
    refresh::{pointer, request_of},
};
use commis_artifacts::recording::{BodyStatus, ResourceType};
use commis_base::error::Result;
use commis_net::egress::site_of;
use commis_recipe::model::StorageArea;
use commis_redact::raw::{
    RawBody, RawExchange, RawPage, RawRecording, RawStorageEntry, contains_value,
};
use commis_state::now_ms;
use commis_vault::{Changes, Login, Refresh, StorageItem, TokenMapping};

/// Shorter texts are no tokens.
const LEAST: usize = 16;

/// The request that gave a page its token.
struct TokenRequest {
    at: usize,
    /// Where in its answer.
    from: String,
    token: Zeroizing<String>,
}

impl Run<'_> {
    /// Seals the token of a recorded page with its login, and adds it to what the page stored, so that requests with it get a slot.
    /// Nothing happens where there is none, and where the login is renewed in another way. Fails as [`Login::save_changes`].
    pub(super) async fn keep_memory_token(
        &self,
        raw: &mut RawRecording,
        login: Option<&Login>,
    ) -> Result<()> {
        let Some(login) = login else { return Ok(()) };
        let origin = |it: &str| Some(url::Url::parse(it).ok()?.origin().ascii_serialization());
        let Some(own) = origin(&raw.url).filter(|it| Some(it) == origin(&raw.page.url).as_ref())
        else {
            return Ok(());
        };
        let Some(found) = token_request(raw) else { return Ok(()) };
        let held = login.contents();
        let asked = &raw.exchanges[found.at];
        let key = format!("{}{}", asked.url.path(), found.from);
        let given = |it: &Refresh| {
            it.gives.iter().any(|it| it.area == StorageArea::Memory && it.key == key)
        };
        if held.refresh().is_some_and(|it| !given(it)) {
            return Ok(());
        }
        let Ok(url) = self.cx.policy.check(asked.url.as_str()) else { return Ok(()) };
        let has_cookie = held.cookie_header(&url, now_ms()).is_some();
        if !has_cookie || site_of(asked.url.as_str()) != held.site() {
            return Ok(());
        }
        let alone = alone(raw, found.at, held.secrets());
        let Some((request, slots)) = request_of(alone, 0, &self.cx.settings.redact) else {
            return Ok(());
        };
        if !slots.is_empty() {
            return Ok(());
        }
        let gives = vec![TokenMapping {
            from: found.from,
            area: StorageArea::Memory,
            key: key.clone(),
            path: None,
        }];
        let item = StorageItem {
            origin: own.clone(),
            area: StorageArea::Memory,
            name: key.clone(),
            value: found.token.clone(),
            set_ms: now_ms(),
        };
        login.save_changes(Changes { cookies: Vec::new(), stored: vec![item] }).await?;
        login.set_refresh(Refresh { origin: own, request, slots, gives, cookies: Vec::new() })?;
        let entry = RawStorageEntry { area: StorageArea::Memory, key, value: found.token };
        raw.page.stored.push(entry);
        Ok(())
    }
}

/// The last POST by a script whose answer gave what later requests send in a header, where it holds nothing that was typed and the
/// page stores the token nowhere.
fn token_request(raw: &RawRecording) -> Option<TokenRequest> {
    let is_stored = |token: &str| {
        raw.page.stored.iter().any(|it| it.value.contains(token))
            || raw.page.cookies.iter().any(|it| it.1.contains(token))
    };
    let is_ok = |it: &RawExchange| it.status.is_some_and(|it| (200..300).contains(&it));
    let by_script =
        |it: &RawExchange| matches!(it.resource_type, ResourceType::Xhr | ResourceType::Fetch);
    let asks = |it: &RawExchange| {
        it.method == "POST"
            && is_ok(it)
            && by_script(it)
            && !contains_value(&it.url, it.request_body.as_deref(), &raw.typed)
    };
    let all = raw.exchanges.iter().enumerate().rev().filter(|it| asks(it.1));
    for (at, it) in all {
        let Some(answer) = it.body.bytes().and_then(|it| serde_json::from_slice(&it).ok()) else {
            continue;
        };
        let later = raw.exchanges[at + 1..].iter().flat_map(|it| &it.request_headers);
        for (name, value) in later.filter(|it| !it.0.eq_ignore_ascii_case("cookie")) {
            let token = value.rsplit(' ').next().unwrap_or_default();
            let is_new = token.len() >= LEAST && !name.starts_with(':') && !is_stored(token);
            if let Some(from) = pointer(&answer, token).filter(|_: &String| is_new) {
                return Some(TokenRequest { at, from, token: token.to_owned().into() });
            }
        }
    }
    None
}

/// One request of a recording as a recording of its own, without its answer.
fn alone(raw: &RawRecording, at: usize, secrets: Vec<Zeroizing<String>>) -> RawRecording {
    let it = &raw.exchanges[at];
    let exchange = RawExchange {
        method: it.method.clone(),
        url: it.url.clone(),
        request_headers: it.request_headers.clone(),
        request_body: it.request_body.clone(),
        status: it.status,
        response_headers: Vec::new(),
        mime: it.mime.clone(),
        resource_type: it.resource_type,
        initiator: it.initiator.clone(),
        timing: it.timing,
        after_action: None,
        redirected_from: None,
        encoded_bytes: None,
        body: RawBody::Missing(BodyStatus::Absent),
    };
    RawRecording {
        task: String::new(),
        url: raw.url.clone(),
        driver: raw.driver,
        typed: std::collections::BTreeMap::new(),
        actions: Vec::new(),
        final_answer: None,
        page: RawPage {
            url: raw.page.url.clone(),
            cookies: raw.page.cookies.clone(),
            ..RawPage::default()
        },
        exchanges: vec![exchange],
        blocked: Vec::new(),
        secrets,
        notes: Vec::new(),
        duration_ms: 0,
        producer: raw.producer.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_artifacts::recording::{Driver, Initiator, InitiatorKind, TargetKind, Timing};

    fn exchange(method: &str, url: &str, bearer: &str, answer: &str) -> RawExchange {
        RawExchange {
            method: method.to_owned(),
            url: url.parse().unwrap(),
            request_headers: vec![("authorization".to_owned(), bearer.to_owned())],
            request_body: None,
            status: Some(200),
            response_headers: Vec::new(),
            mime: "application/json".to_owned(),
            resource_type: ResourceType::Fetch,
            initiator: Initiator {
                kind: InitiatorKind::Script,
                has_stack: true,
                page_url: "http://a.test/".to_owned(),
                target: TargetKind::Page,
            },
            timing: Timing::default(),
            after_action: None,
            redirected_from: None,
            encoded_bytes: None,
            body: RawBody::Captured(answer.as_bytes().to_vec()),
        }
    }

    #[test]
    fn a_token_is_what_a_later_request_sends_and_nothing_stores() {
        const TOKEN: &str = "abcdefgh.ijklmnop.12345678";
        let answer = format!(r#"{{"access_token":"{TOKEN}","expires_in":300}}"#);
        let first = || exchange("POST", "http://a.test/auth/refresh", "", &answer);
        let later = || exchange("GET", "http://a.test/api", &format!("Bearer {TOKEN}"), "[]");
        let raw = |exchanges, stored: &[&str]| {
            let mut it = alone(
                &RawRecording {
                    task: String::new(),
                    url: "http://a.test/".to_owned(),
                    driver: Driver::Steps,
                    typed: std::collections::BTreeMap::new(),
                    actions: Vec::new(),
                    final_answer: None,
                    page: RawPage::default(),
                    exchanges: vec![first()],
                    blocked: Vec::new(),
                    secrets: Vec::new(),
                    notes: Vec::new(),
                    duration_ms: 0,
                    producer: String::new(),
                },
                0,
                Vec::new(),
            );
            it.exchanges = exchanges;
            let entry = |it: &&str| RawStorageEntry {
                area: StorageArea::Local,
                key: "t".to_owned(),
                value: (*it).to_owned().into(),
            };
            it.page.stored = stored.iter().map(entry).collect();
            it
        };
        let found = token_request(&raw(vec![first(), later()], &[])).unwrap();
        assert_eq!((found.at, &*found.from, &**found.token), (0, "/access_token", TOKEN));
        assert!(token_request(&raw(vec![later(), first()], &[])).is_none(), "sent before");
        let stored = format!("x {TOKEN}");
        assert!(token_request(&raw(vec![first(), later()], &[&stored])).is_none(), "stored");
        let by_get = exchange("GET", "http://a.test/token", "", &answer);
        assert!(token_request(&raw(vec![by_get, later()], &[])).is_none(), "a step gets it");
    }
}
