//! A recorded page rendered again without any network: every request of it is answered from the recording, or not at all.
//!
//! Interception answers what it sees. What it does not see (WebSockets, connections made ahead) ends at the proxy, which lets
//! nothing out of such a context.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

pub use super::archive::Archive;
use super::{
    context::Context,
    element::{Element, Locator},
    plan::{Choice, Fill, Plan, Step, Wait},
};
use commis_artifacts::recording::Action;
use commis_base::error::{Code, Error, Result};
use commis_redact::raw::RawPage;

/// Fields that the value is typed into, and tabs that are opened, one after the other.
const MAX_ELEMENTS: u32 = 3;
/// For opening the page, on a busy machine.
const OPEN_TIMEOUT: Duration = Duration::from_secs(20);
/// For each step, at least: nothing is waited for that is not there.
const STEP_TIMEOUT: Duration = Duration::from_secs(2);
/// A step gets so many times what opening the page took: on a busy machine, and of a heavy page, all takes longer.
const STEP_SHARE: u32 = 5;
/// Number of the step after the one that opens the page.
const FIRST: u32 = 1;
/// Fields that people type a search into.
const FIELDS: &str = "input[type=search],[role=searchbox],[role=combobox]:not(select),input[type=text],input:not([type]),textarea";
/// Parts of a page that ask for their content when they are opened.
const TABS: &str =
    "[role=tab]:not([aria-selected=true]),summary,[aria-expanded=false][aria-controls]";

impl Context {
    /// What the last document of a recording shows when it is opened again and answered from the recording alone. Where the page
    /// asks for its data only when something is typed or opened, the example's value is typed into its fields, and its tabs are
    /// opened, in turn.
    ///
    /// `None` where it does not come to the recorded requests. Fails with `BROWSER_FAILED`.
    pub async fn render(
        &mut self,
        archive: Archive,
        typed: &BTreeMap<String, String>,
        actions: &[Action],
    ) -> Result<Option<RawPage>> {
        let archive = std::sync::Arc::new(archive);
        let shared = self.shared();
        shared.visit.go_offline();
        shared.lock().archive = Some(std::sync::Arc::clone(&archive));
        let plan_within = |timeout: Duration, steps: Vec<Step>| Plan {
            task: String::new(),
            url: archive.start().to_owned(),
            typed: BTreeMap::new(),
            steps,
            secrets: Vec::new(),
            bound: Vec::new(),
            timeout,
        };
        // Any other error says only that this way does not lead there.
        let is_fatal = |err: &Error| err.code() == Code::BrowserFailed;
        let start = Instant::now();
        let opening = plan_within(OPEN_TIMEOUT, Vec::new());
        let before = self.record_then(&opening, || ()).await?.page;
        let timeout = (start.elapsed() * STEP_SHARE).clamp(STEP_TIMEOUT, OPEN_TIMEOUT);
        let plan = |steps: Vec<Step>| plan_within(timeout, steps);
        if archive.is_rendered() {
            return Ok(Some(before));
        }
        let changed = |page: &RawPage| page.visible_text != before.visible_text;
        let with_before = |page: RawPage| {
            Ok(Some(RawPage { documents_before: before.documents.clone(), ..page }))
        };
        // Of several values it is not known which goes where.
        let mut values = typed.values();
        let (Some(value), None) = (values.next(), values.next()) else { return Ok(None) };
        let lists = actions.iter().filter_map(|it| it.control.as_ref());
        for it in lists.filter(|it| it.kind == "select" && it.sent_value(value).is_some()) {
            let css = match it.name.as_str() {
                "" => "select".to_owned(),
                name => format!("select[name={}]", serde_json::Value::from(name)),
            };
            let element = Element { by: Locator::Css(css), nth: None };
            let steps = vec![Step::Select(Choice { element, value: value.clone() })];
            match self.record_then(&plan(steps), || ()).await {
                Ok(it) if archive.is_rendered() => return with_before(it.page),
                Err(err) if is_fatal(&err) => return Err(err),
                Ok(_) | Err(_) => {}
            }
        }
        let nth = |css: &str, nth| Element { by: Locator::Css(css.to_owned()), nth: Some(nth) };
        let fill = |at| Step::Fill(Fill { element: nth(FIELDS, at), value: value.clone() });
        let awaited = archive.last_carrier().map(|it| Wait::Request(it.url.path().to_owned()));
        let wait = || awaited.clone().map(Step::WaitFor);
        // Pages that suggest as one types leave with the key that searches, and often wait for a pause in the typing first.
        let by_key = |at| vec![fill(at), Step::Press("Enter".to_owned())];
        let by_pause = |at| std::iter::once(fill(at)).chain(wait()).collect();
        let by_click = |at| vec![Step::Click(nth(TABS, at))];
        let ways: [&dyn Fn(u32) -> Vec<Step>; 3] = [&by_key, &by_pause, &by_click];
        // What it asked for may have gone again with a key.
        let mut unchanged = None;
        for steps in ways {
            for at in 1..=MAX_ELEMENTS {
                match self.record_then(&plan(steps(at)), || ()).await {
                    Ok(it) if archive.is_rendered() && changed(&it.page) => {
                        return with_before(it.page);
                    }
                    Ok(it) if archive.is_rendered() => unchanged = Some(it.page),
                    Err(err) if is_fatal(&err) => return Err(err),
                    // The first step failed, most often because there is no such element.
                    Err(_) if self.failure().is_none_or(|it| it.step == FIRST) => break,
                    Ok(_) | Err(_) => {}
                }
            }
        }
        if let Some(page) = unchanged {
            return with_before(page);
        }
        // Some pages ask on their own, but only after a while.
        let steps: Vec<Step> = wait().into_iter().collect();
        let late = self.record_then(&plan(steps), || ()).await;
        match late {
            Err(err) if is_fatal(&err) => Err(err),
            late => Ok(late.ok().filter(|_| archive.is_rendered()).map(|it| it.page)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, atomic::AtomicBool};

    use serde_json::json;
    use url::Url;

    use super::*;
    use crate::archive::Entry;

    fn entry(method: &str, url: &str, sent: Option<&str>, carries: bool) -> Entry {
        Entry {
            method: method.to_owned(),
            url: Url::parse(url).unwrap(),
            sent: sent.map(|it| it.as_bytes().to_vec()),
            status: 200,
            headers: vec![("Content-Encoding".to_owned(), "br".to_owned())],
            body: Vec::new(),
            carries,
        }
    }

    #[test]
    fn requests_are_answered_by_what_was_recorded_of_them() {
        let archive = Archive {
            entries: vec![
                entry("POST", "https://a.test/find", Some("q=oak"), true),
                entry("POST", "https://a.test/find", Some("q=fern"), true),
                entry("GET", "https://a.test/list?q=fern&_=1795388400123", None, true),
            ],
            start: 0,
            opened: AtomicBool::new(true),
            asked: Mutex::default(),
        };
        let at = |method: &str, url: &str, body: Option<&str>| {
            let found = archive.answer(method, url, body.map(str::as_bytes))?;
            archive.entries.iter().position(|it| std::ptr::eq(it, found))
        };
        assert!(!archive.is_rendered());
        assert_eq!(at("POST", "https://a.test/find", Some("q=fern")), Some(1));
        assert_eq!(at("POST", "https://a.test/find", Some("q=elm")), Some(0));
        assert_eq!(at("GET", "https://a.test/list?q=fern&_=1795399999999#x", None), Some(2));
        assert_eq!(at("GET", "https://a.test/list?q=elm&_=1795399999999", None), None);
        assert_eq!(at("GET", "https://b.test/find", None), None);
        assert!(archive.is_rendered());
        // It was sorted afterwards.
        let mut archive = archive;
        let sorted = "https://a.test/list?q=fern&_=1795388400124&sort=name";
        archive.entries.push(entry("GET", sorted, None, true));
        assert!(!archive.is_rendered());
        let it = archive.entries[0].fulfilled("1");
        assert_eq!(it["responseHeaders"], json!([]));
    }
}
