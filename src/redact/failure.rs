//! What a failing step saw, as it may be kept: by the rules and with the secrets of the whole session.
//!
//! A picture cannot be redacted. It is kept only where nothing of what the page draws as text was: fields for secrets were
//! blackened before it was taken, and none is taken once a secret was typed. What a page draws as a picture itself is not read.

use super::{
    Learner, MAX_VISIBLE, Walk, Writer, address,
    body::{cut, parse},
    learn, names_secret,
    placeholders::SecretIndex,
    raw::{RawBody, RawFailure},
    rules, spoken,
    text_kind::TextKind,
};
use commis_artifacts::{
    failure::{Element, Failure, Request},
    recording::{BlockedRequest, BodyStatus, ResourceType},
};
use commis_base::settings::RedactSettings;

const MAX_TEXT: usize = 8 * 1024;
/// Of each line.
const MAX_LINE: usize = 600;
const MAX_URL: usize = 400;
const MAX_ELEMENTS: usize = 60;
const MAX_REQUESTS: usize = 30;
const MAX_LINES: usize = 30;

/// The failure without its secrets, and the picture where it shows none. The task's example and the time are the caller's.
pub fn failure(mut raw: RawFailure, settings: &RedactSettings) -> (Failure, Option<Vec<u8>>) {
    let session = &mut raw.session;
    let rules = rules(settings, &session.task, &session.typed);
    let parsed: Vec<_> = session.exchanges.iter().map(parse).collect();
    let mut vault = SecretIndex::default();
    learn(session, &parsed, &[], &rules, &mut vault);
    drop(parsed);
    let mut learner = Learner(&mut vault);
    let mut walk = Walk::new(&rules, &mut learner);
    let names = raw.elements.iter().flat_map(|it| [Some(&it.name), it.frame.as_ref()]).flatten();
    let said = raw.causes.iter().chain(&raw.console).chain(&raw.dialogs).chain(&raw.drawn);
    for it in names.chain(said).chain([&raw.error, &raw.what]).chain(&raw.hint) {
        walk.text(it, TextKind::Spoken);
    }
    let typed = session.typed.iter().filter(|it| !names_secret(it.0));
    vault.seal(typed.map(|it| it.1.to_lowercase()).collect());

    let mut writer = Writer::new(&mut vault);
    let mut walk = Walk::new(&rules, &mut writer);
    let visible = cut(&session.page.visible_text, MAX_VISIBLE);
    let text = spoken(&mut walk, visible);
    let mut shows_secret = text != visible;
    for it in &raw.drawn {
        shows_secret |= spoken(&mut walk, it) != *it;
    }
    let mut told = |it: &str| cut(&spoken(&mut walk, it), MAX_LINE).to_owned();
    let elements = raw.elements.iter().take(MAX_ELEMENTS).map(|it| Element {
        role: it.role.clone(),
        name: told(&it.name),
        frame: it.frame.as_deref().map(&mut told),
        state: it.state.clone(),
    });
    let elements: Vec<Element> = elements.collect();
    let mut lines = |all: &[String]| {
        let from = all.len().saturating_sub(MAX_LINES);
        all[from..].iter().map(|it| told(it)).collect::<Vec<_>>()
    };
    let (causes, console, dialogs) = (lines(&raw.causes), lines(&raw.console), lines(&raw.dialogs));
    let (what, error, hint) =
        (told(&raw.what), told(&raw.error), raw.hint.as_deref().map(&mut told));
    let title = told(&session.page.title);
    let mut place = |it: &str| cut(&address(&mut walk, it), MAX_URL).to_owned();
    let from = session.exchanges.len().saturating_sub(MAX_REQUESTS);
    let requests = session.exchanges[from..].iter().map(|it| Request {
        method: it.method.clone(),
        url: place(it.url.as_str()),
        status: it.status,
        end: match &it.body {
            _ if it.resource_type == ResourceType::Websocket => None,
            RawBody::Missing(BodyStatus::Inflight) => Some("has not ended".to_owned()),
            RawBody::Missing(BodyStatus::Failed) => Some("failed".to_owned()),
            _ => None,
        },
    });
    let requests = requests.collect();
    let blocked = session.blocked.iter().take(MAX_LINES).map(|it| BlockedRequest {
        url: place(&it.url),
        code: it.code.clone(),
        reason: it.reason.clone(),
    });
    let blocked = blocked.collect();
    let url = place(&session.page.url);
    let picture = match raw.picture {
        Ok(_) if shows_secret => Err("the page shows what looks like a secret".to_owned()),
        other => other,
    };
    let failure = Failure {
        step: raw.step,
        steps: raw.steps,
        what,
        waited_ms: raw.waited_ms,
        error_code: raw.code.as_str().to_owned(),
        error,
        hint,
        causes,
        url,
        title,
        text: cut(&text, MAX_TEXT).to_owned(),
        elements,
        requests,
        blocked,
        console,
        dialogs,
        no_picture: picture.as_ref().err().cloned(),
        ..Failure::default()
    };
    (failure, picture.ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::{RawPage, RawRecording};
    use commis_artifacts::recording::Driver;
    use commis_base::error::Code;

    const COOKIE: &str = "s3ss10nV4lu3Xq9ZkT7w";

    fn raw(text: &str, drawn: &[&str], console: &str) -> RawFailure {
        let page = RawPage {
            url: "http://shop.test/".to_owned(),
            visible_text: text.to_owned(),
            cookies: vec![("session".to_owned(), COOKIE.to_owned())],
            ..RawPage::default()
        };
        let session = RawRecording {
            task: "Search the shop".to_owned(),
            url: page.url.clone(),
            driver: Driver::Steps,
            typed: [("q".to_owned(), "lamp".to_owned())].into(),
            actions: Vec::new(),
            final_answer: None,
            page,
            exchanges: Vec::new(),
            blocked: Vec::new(),
            secrets: Vec::new(),
            notes: Vec::new(),
            duration_ms: 1,
            producer: String::new(),
        };
        RawFailure {
            session,
            step: 1,
            steps: 1,
            what: "press Enter".to_owned(),
            waited_ms: 1,
            code: Code::StepFailed,
            error: format!("press Enter: no {COOKIE}"),
            hint: None,
            causes: vec![format!("GET http://shop.test/?sid={COOKIE} failed")],
            elements: vec![Element {
                role: "button".to_owned(),
                name: COOKIE.to_owned(),
                ..Element::default()
            }],
            console: vec![console.to_owned()],
            dialogs: vec![format!("alert {COOKIE}")],
            drawn: drawn.iter().map(|it| (*it).to_owned()).collect(),
            picture: Ok(b"\x89PNG".to_vec()),
        }
    }

    #[test]
    fn a_picture_shows_no_secret() {
        let kept = |text: &str, drawn: &[&str]| {
            let (failure, picture) =
                failure(raw(text, drawn, "log: fine"), &RedactSettings::default());
            assert_eq!(picture.is_none(), failure.no_picture.is_some());
            picture.is_some()
        };
        assert!(kept("12 lamps found, from 12.50", &["12 lamps", "Order 4711", "lamp"]));
        // What the session knows as a secret, in the page's text, or only where assistive technology reads it.
        assert!(!kept(&format!("you are {COOKIE}"), &[]));
        assert!(!kept("fine", &[&format!("you are {COOKIE}")]));
        assert!(!kept("api_key: sk_live_4eC39HqLyjWDarjtT1zdp7dc", &[]));
        assert!(!kept("fine", &["ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"]));
    }

    #[test]
    fn what_is_kept_is_redacted_throughout() {
        let raw = raw("fine", &[], &format!("error: token {COOKIE} is no good"));
        let (failure, _) = failure(raw, &RedactSettings::default());
        let text = serde_json::to_string(&failure).unwrap();
        assert!(!text.contains(COOKIE), "{text}");
        assert!(failure.console[0].starts_with("error: token [REDACTED:"), "{text}");
        assert_eq!(failure.what, "press Enter");
    }
}
