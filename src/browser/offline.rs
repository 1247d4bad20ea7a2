//! A recorded page rendered again without any network: every request of it is answered from the recording, or not at all.
//!
//! Interception answers what it sees. What it does not see (WebSockets, connections made ahead) ends at the proxy, which lets
//! nothing out of such a context.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

pub use super::archive::Archive;
use super::{
    context::{Context, QUIET_WHEN_SHOWN},
    element::{Element, Locator},
    lookup, page,
    pending_requests::PAUSE,
    plan::{Choice, Fill, Plan, Step},
    scrolling,
};
use commis_artifacts::recording::Action;
use commis_base::error::{Code, Result};
use commis_redact::raw::RawPage;

/// Fields that the value is typed into, and tabs that are opened, one after the other.
const MAX_ELEMENTS: u32 = 3;
/// For opening the page, on a busy machine.
const OPEN_TIMEOUT: Duration = Duration::from_secs(20);
/// Pages ask for what was typed within so many times [`PAUSE`]. Their own clock runs faster, and so it is longer for them.
const PAUSES: u32 = 2;
/// A page at rest has not changed for so long.
const STILL: Duration = Duration::from_millis(100);
/// A page that never rests gets one part in so many of a step's time.
const REST_SHARE: u32 = 4;
/// For each step, at least: nothing is waited for that is not there.
const STEP_TIMEOUT: Duration = Duration::from_secs(2);
/// A step gets so many times what opening the page took: on a busy machine, and of a heavy page, all takes longer.
const STEP_SHARE: u32 = 5;
/// Fields that people type a search into.
const FIELDS: &str = ":is(input[type=search],input[type=text],input:not([type]),input[role=searchbox],input[role=combobox],textarea,[contenteditable][role=searchbox],[contenteditable][role=combobox]):not([aria-hidden=true],[readonly],[disabled])";
/// Which of them are tried first: a script asked for the data. What a form sends to its address rather leads to another page, and a
/// field without a name is never sent.
const FIELD_ORDER: [&str; 2] =
    [":is(:not([name]),:not(form[action] *))", "[name]:is(form[action] *)"];
/// Parts of a page that ask for their content when they are opened.
const TABS: &str =
    "[role=tab]:not([aria-selected=true]),summary,[aria-expanded=false][aria-controls]";

/// What plans of one recording have in common.
struct Ways {
    url: String,
    timeout: Duration,
    typed: BTreeMap<String, String>,
}

impl Ways {
    fn plan(&self, steps: Vec<Step>) -> Plan {
        Plan {
            task: String::new(),
            url: self.url.clone(),
            typed: self.typed.clone(),
            steps,
            secrets: Vec::new(),
            bound: Vec::new(),
            timeout: self.timeout,
        }
    }
}

/// Chooses a value in the list of that name, or in the first list where it has none.
fn select_step(name: &str, value: &str) -> Step {
    let css = match name {
        "" => "select".to_owned(),
        name => format!("select[name={}]", serde_json::Value::from(name)),
    };
    let element = Element { by: Locator::Css(css), nth: None };
    Step::Select(Choice { element, value: value.to_owned() })
}

fn nth(css: &str, nth: u32) -> Element {
    Element { by: Locator::Css(css.to_owned()), nth: Some(nth) }
}

/// The address of the document, without the part that scripts alone read.
fn address(page: &RawPage) -> &str {
    page.url.split('#').next().unwrap_or_default()
}

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
        let archive = Arc::new(archive);
        let shared = self.shared();
        shared.visit.go_offline();
        shared.lock().archive = Some(Arc::clone(&archive));
        let session = shared.page()?.session;
        page::watch_documents(&shared.cdp, &session);
        page::speed_up_clock(&shared.cdp, &session);
        let start = Instant::now();
        let mut ways =
            Ways { url: archive.start().to_owned(), timeout: OPEN_TIMEOUT, typed: typed.clone() };
        let before = self.record_then(&ways.plan(Vec::new()), || ()).await?.page;
        ways.timeout = (start.elapsed() * STEP_SHARE).clamp(STEP_TIMEOUT, OPEN_TIMEOUT);
        // Fields are drawn after the document came, and so is what it asked for.
        let before = self.at_rest(&ways, before).await?;
        if archive.is_rendered() {
            return Ok(Some(self.scroll(&archive, before).await));
        }
        // Of several values it is not known which goes where.
        let mut values = typed.values();
        let (Some(value), None) = (values.next(), values.next()) else { return Ok(None) };
        let documents_before = before.documents.clone();
        let found = self.ask_by_hand(&archive, &ways, (&before, value), actions).await?;
        let Some(page) = found else { return Ok(None) };
        let page = self.scroll(&archive, page).await;
        Ok(Some(RawPage { documents_before, ..page }))
    }

    /// Notes whether the list goes on as one scrolls.
    async fn scroll(&self, archive: &Archive, page: RawPage) -> RawPage {
        let shared = self.shared();
        let Ok(frame) = shared.main_frame().await else { return page };
        let grows = scrolling::asks_archive_for_more(shared, &frame, archive).await;
        RawPage { grows, ..page }
    }

    /// The fields into which something can be typed, in the order in which they are tried.
    async fn visible_fields(&self) -> Vec<Element> {
        let mut fields = Vec::new();
        for css in FIELD_ORDER.map(|it| format!("{FIELDS}{it}")) {
            let found = self.count_visible(&css).await;
            fields.extend((1..=found).map(|at| nth(&css, at)));
        }
        fields.truncate(MAX_ELEMENTS as usize);
        fields
    }

    /// What the page shows once it asked for its data because something was chosen, typed or opened in it, or some time had passed.
    async fn ask_by_hand(
        &mut self,
        archive: &Archive,
        ways: &Ways,
        (before, value): (&RawPage, &str),
        actions: &[Action],
    ) -> Result<Option<RawPage>> {
        let fields = self.visible_fields().await;
        let tabs = self.count_visible(TABS).await;
        let has_fields = !fields.is_empty();
        let lists = actions.iter().filter_map(|it| it.control.as_ref());
        let mut is_untouched = true;
        for it in lists.filter(|it| it.kind == "select" && it.sent_value(value).is_some()) {
            let steps = vec![select_step(&it.name, value)];
            let opens = !std::mem::take(&mut is_untouched);
            if let Some(page) = self.attempt(ways, steps, opens).await?
                && archive.is_rendered()
            {
                return self.at_rest(ways, page).await.map(Some);
            }
        }
        let is_answer =
            |page: &RawPage| archive.is_rendered() && page.visible_text != before.visible_text;
        // What it asked for may have gone again with a key.
        let mut unchanged = None;
        // A field into which was typed in vain: emptied again, it leaves the page as it was.
        let mut used: Option<Element> = None;
        for element in fields {
            let type_into = |element: &Element, value: &str| {
                Step::Fill(Fill { element: element.clone(), value: value.to_owned() })
            };
            let fill = || type_into(&element, value);
            let clear = used.take().map(|it| type_into(&it, ""));
            let opens = !std::mem::take(&mut is_untouched) && clear.is_none();
            let asked = archive.count_requests();
            let steps = clear.into_iter().chain([fill(), Step::Press("Enter".to_owned())]);
            // A field that takes no text: those after it are most often of the same kind.
            let typed = self.type_and_pause(archive, ways, steps.collect(), opens).await?;
            let Some(page) = typed else { break };
            let is_same =
                address(&page) == address(before) && page.visible_text == before.visible_text;
            if is_same && archive.count_requests() == asked {
                used = Some(element.clone());
            }
            if is_answer(&page) {
                return Ok(Some(page));
            }
            // Those that suggest as one types leave with the key that searches, or close what they suggested.
            if archive.is_rendered() || address(&page) != address(before) {
                unchanged = archive.is_rendered().then_some(page).or(unchanged);
                let typed = self.type_and_pause(archive, ways, vec![fill()], true).await?;
                if let Some(page) = typed.filter(|it| is_answer(it)) {
                    return Ok(Some(page));
                }
            }
            // It was sorted or narrowed afterwards, by what no field does.
            if archive.is_near() && !archive.is_rendered() {
                return Ok(None);
            }
        }
        for at in 1..=tabs {
            let opens = !std::mem::take(&mut is_untouched);
            let steps = vec![Step::Click(nth(TABS, at))];
            let Some(mut page) = self.attempt(ways, steps, opens).await? else { break };
            if archive.is_rendered() {
                page = self.at_rest(ways, page).await?;
            }
            if is_answer(&page) {
                return Ok(Some(page));
            }
            unchanged = archive.is_rendered().then_some(page).or(unchanged);
        }
        if unchanged.is_some() {
            return Ok(unchanged);
        }
        // Some pages ask on their own, but only after a while; where something was typed, it was granted.
        if has_fields || archive.last_carrier().is_none() {
            return Ok(None);
        }
        if !is_untouched && self.attempt(ways, Vec::new(), true).await?.is_none() {
            return Ok(None);
        }
        self.typing_pause(ways.timeout).await;
        if !archive.is_rendered() {
            return Ok(None);
        }
        self.wait_for_rest(ways).await;
        match self.read_page().await {
            Err(err) if err.code() == Code::BrowserFailed => Err(err),
            // A page that is gone shows nothing.
            read => Ok(read.ok()),
        }
    }

    /// [`Self::attempt`] of steps that type, and what the page shows at rest once it asked for that; most pages ask once the typing
    /// pauses.
    async fn type_and_pause(
        &mut self,
        archive: &Archive,
        ways: &Ways,
        steps: Vec<Step>,
        opens: bool,
    ) -> Result<Option<RawPage>> {
        let typed = self.attempt(ways, steps, opens).await?;
        let Some(page) = typed else { return Ok(None) };
        if archive.is_rendered() {
            return self.at_rest(ways, page).await.map(Some);
        }
        self.typing_pause(PAUSE * PAUSES).await;
        // What was asked for a moment ago is in flight.
        tokio::time::sleep(QUIET_WHEN_SHOWN).await;
        self.wait_for_rest(ways).await;
        self.read(page).await.map(Some)
    }

    /// What the page shows after these steps, on the page opened again where it `opens`; `None` where a step failed, which says only
    /// that this way does not lead there. Fails with `BROWSER_FAILED`.
    async fn attempt(
        &mut self,
        ways: &Ways,
        steps: Vec<Step>,
        opens: bool,
    ) -> Result<Option<RawPage>> {
        let plan = ways.plan(steps);
        let done = if opens {
            self.record_then(&plan, || ()).await
        } else {
            self.record_open_page(&plan).await
        };
        match done {
            Err(err) if err.code() == Code::BrowserFailed => Err(err),
            done => Ok(done.ok().map(|it| it.page)),
        }
    }

    /// The page once nothing of it changes any more: what came is drawn later than it came. `page` is what it was a moment ago, perhaps
    /// before it asked. Fails with `BROWSER_FAILED`.
    async fn at_rest(&self, ways: &Ways, page: RawPage) -> Result<RawPage> {
        self.wait_for_rest(ways).await;
        self.read(page).await
    }

    /// Waits until nothing is in flight and nothing of the page changes any more. A page that never rests is granted a part of a step's
    /// time.
    async fn wait_for_rest(&self, ways: &Ways) {
        let shared = self.shared();
        let Ok(frame) = shared.main_frame().await else { return };
        let deadline = Instant::now() + ways.timeout / REST_SHARE;
        loop {
            self.silence(QUIET_WHEN_SHOWN, deadline).await;
            let still = page::still_for(&shared.cdp, &frame).await;
            if still >= STILL || Instant::now() >= deadline {
                return;
            }
            tokio::time::sleep(STILL / 4).await;
        }
    }

    /// What the page shows now, or `page` where it cannot be read. Fails with `BROWSER_FAILED`.
    async fn read(&self, page: RawPage) -> Result<RawPage> {
        match self.read_page().await {
            Err(err) if err.code() == Code::BrowserFailed => Err(err),
            read => Ok(read.unwrap_or(page)),
        }
    }

    /// How many visible elements of the open page a selector finds, up to `MAX_ELEMENTS`; where that cannot be told, that many.
    async fn count_visible(&self, css: &str) -> u32 {
        let shared = self.shared();
        let Ok(frames) = shared.frames_within().await else { return MAX_ELEMENTS };
        let found = lookup::count_visible(shared, &frames, css).await;
        found.map_or(MAX_ELEMENTS, |it| it.min(MAX_ELEMENTS as usize) as u32)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use serde_json::json;
    use url::Url;

    use super::*;
    use crate::archive::{Entry, Request, find_counters};

    fn entry(method: &str, url: &str, sent: Option<&str>, carries: bool) -> Entry {
        Entry {
            request: Request {
                method: method.to_owned(),
                url: Url::parse(url).unwrap(),
                body: sent.map(|it| it.as_bytes().to_vec()),
            },
            status: 200,
            headers: vec![("Content-Encoding".to_owned(), "br".to_owned())],
            body: Vec::new(),
            carries,
        }
    }

    fn opened(entries: Vec<Entry>) -> Archive {
        let archive = Archive::new(entries, 0);
        archive.opened.store(true, Ordering::Relaxed);
        archive
    }

    #[test]
    fn requests_are_answered_by_what_was_recorded_of_them() {
        let archive = opened(vec![
            entry("POST", "https://a.test/find", Some("q=oak"), true),
            entry("POST", "https://a.test/find", Some("q=fern"), true),
            entry("GET", "https://a.test/list?q=fern&_=1795388400123", None, true),
        ]);
        let at = |method: &str, url: &str, body: Option<&str>| {
            let found = archive.answer(method, url, body.map(str::as_bytes))?;
            archive.entries.iter().position(|it| std::ptr::eq(it, found.entry))
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
        // Or sorted the other way, by what it sends.
        let sends = |body| entry("POST", "https://a.test/find", Some(body), true);
        archive.entries.extend([
            sends(r#"{"q":"fern","at":1795388400123,"by":["asc"]}"#),
            sends(r#"{"q":"fern","at":1795388400124,"by":["desc"]}"#),
        ]);
        let ask = |body: &str| {
            archive.answer("POST", "https://a.test/find", Some(body.as_bytes())).unwrap();
            archive.is_rendered()
        };
        assert!(!ask(r#"{"q":"fern","at":1795388400123,"by":["asc"]}"#));
        assert!(archive.is_near());
        assert!(ask(r#"{"q":"fern","at":1795388400124,"by":["desc"]}"#));
        let by_chance = sends(r#"{"at":1795399999999,"q":"fern","by":["desc"]}"#);
        assert!(by_chance.request.asks_as(&archive.entries[5].request, &archive.counters));
        let found = archive.answer("POST", "https://a.test/find", Some(b"q=oak")).unwrap();
        let it = found.fulfilled("1");
        assert_eq!(it["responseHeaders"], json!([]));
    }

    #[test]
    fn a_number_of_requests_is_no_part_of_what_is_asked() {
        let counters = |sent: &[&str]| {
            let of = |it: &&str| match it.strip_prefix("POST ") {
                Some(body) => entry("POST", "https://a.test/rows", Some(body), false),
                None => entry("GET", &format!("https://a.test/rows?{it}"), None, false),
            };
            let all: Vec<Entry> = sent.iter().map(of).collect();
            find_counters(&all).into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            counters(&["draw=1&q=&start=0", "draw=2&q=o&start=0", "draw=3&q=oak&start=0"]),
            "draw"
        );
        assert_eq!(counters(&["POST draw=1&q=", "POST draw=2&q=oak"]), "draw");
        // Pages of one list, alone or by the clock, and pages that begin anew.
        assert_eq!(counters(&["page=1&q=oak&_=1795388400123", "page=2&q=oak&_=1795388400999"]), "");
        assert_eq!(counters(&["page=1&q=", "page=2&q=", "page=1&q=oak"]), "");
        assert_eq!(counters(&["draw=1&q=oak"]), "");

        let rows = |sent| entry("POST", "https://a.test/rows", Some(sent), true);
        let entries = vec![rows("draw=1&q="), rows("draw=2&q=o"), rows("draw=3&q=oak")];
        let archive = opened(entries);
        let at = |sent: &str| {
            let found = archive.answer("POST", "https://a.test/rows", Some(sent.as_bytes()))?;
            archive.entries.iter().position(|it| std::ptr::eq(it, found.entry))
        };
        assert_eq!(at("draw=2&q=o"), Some(1));
        assert!(!archive.is_rendered());
        assert_eq!(at("draw=2&q=oak"), Some(2));
        assert!(archive.is_rendered());
        assert_eq!(at("draw=2&q=elm"), Some(0));

        let mut archive = archive;
        archive.entries[2].body = br#"{"rows":[{"draw":3}],"draw":3,"error":"3"}"#.to_vec();
        let body = |sent: &str| {
            let found = archive.answer("POST", "https://a.test/rows", Some(sent.as_bytes()));
            String::from_utf8(found.unwrap().body.into_owned()).unwrap()
        };
        assert_eq!(body("draw=3&q=oak"), r#"{"rows":[{"draw":3}],"draw":3,"error":"3"}"#);
        assert_eq!(body("draw=7&q=oak"), r#"{"rows":[{"draw":3}],"draw":7,"error":"3"}"#);
    }

    #[tokio::test]
    async fn a_list_goes_on_where_its_endpoint_is_asked_for_something_else() {
        let start = entry("GET", "https://a.test/", None, false);
        let archive = opened(vec![start]);
        let goes_on = async |method: &str, url: &str, body: Option<&str>| {
            let before = archive.count_requests();
            archive.note_request(method, url, body.map(str::as_bytes));
            futures::FutureExt::now_or_never(archive.repeat_after(before)).is_some()
        };
        assert!(!goes_on("GET", "https://a.test/list?page=1&_=1795388400123", None).await);
        // The same again, and another endpoint.
        assert!(!goes_on("GET", "https://a.test/list?page=1&_=1795388400999", None).await);
        assert!(!goes_on("GET", "https://a.test/ads?page=2", None).await);
        assert!(!goes_on("POST", "https://a.test/list?page=1", Some("page=1")).await);
        assert!(goes_on("GET", "https://a.test/list?page=2&_=1795388401000", None).await);
        assert!(goes_on("POST", "https://a.test/list?page=1", Some("page=2")).await);
        archive.start();
        assert!(!goes_on("GET", "https://a.test/list?page=3&_=1", None).await);
    }
}
