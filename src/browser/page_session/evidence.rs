//! What a page tells about a session that is done again on it: where its links lead, which recorded values it still has, and whether
//! it or a frame of it has changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use futures::future::join_all;
use serde::Deserialize;
use serde_json::Value;

use super::PageController;
use crate::{
    page::{self, Frame},
    sessions::{
        SessionAction,
        fingerprint::Fingerprint,
        moment::{self, VolatileContext},
        network_expectations::{self, SentRequest},
    },
};
use commis_state::now_ms;

const HREFS: &str = "function () {
  return Array.from(document.links, it => it.href.slice(0, 4000).toWellFormed()).slice(0, 3000);
}";
/// Which of these values stand in the document, whatever part of it; and those that it carries unseen, where it has one to a name.
const HELD: &str = "function (...values) {
  const roots = [document];
  for (let i = 0; i < roots.length; i++)
    for (const it of roots[i].querySelectorAll('*')) if (it.shadowRoot && roots.length < 500) roots.push(it.shadowRoot);
  const hidden = new Map();
  const put = (name, value) => {
    if (!name || !value || value.length > 4000) return;
    hidden.set(name, hidden.has(name) && hidden.get(name) !== value ? null : value);
  };
  for (const root of roots)
    for (const it of root.querySelectorAll('input[type=hidden],meta[content]'))
      put((it.getAttribute('name') ?? '') + ' ' + it.localName, it.localName === 'meta' ? it.content : it.value);
  const html = roots.map(it => it === document ? document.documentElement?.outerHTML ?? '' : it.innerHTML).join('\\n') + location.href;
  return {
    standing: values.filter(it => html.includes(it)),
    tokens: Array.from(hidden.values()).filter(it => it).slice(0, 200).map(it => it.slice(0, 120).toWellFormed()),
  };
}";
/// Recorded values that are looked for.
const MOST: usize = 200;
/// What came of an act that changed a page is waited for so long,
const LATE: Duration = Duration::from_secs(2);
/// and looked for so often.
const AGAIN: Duration = Duration::from_millis(150);

#[derive(Default, Deserialize)]
struct StoredValues {
    standing: BTreeSet<String>,
    tokens: BTreeSet<String>,
}

/// How many changes of each document of the page were seen, by frame.
pub(super) type ChangeCounts = BTreeMap<String, u64>;

impl PageController {
    /// Where the links of the page lead to.
    pub(super) async fn hrefs(&self) -> Vec<String> {
        // A page that goes away has none.
        self.shared().ask(HREFS, page::PATIENCE).await.map(|it| it.1).unwrap_or_default()
    }

    /// What tells the values of the moment among those that an act sent.
    pub(super) async fn moment(
        &self,
        line: &SessionAction,
        sent: &[&SentRequest],
    ) -> VolatileContext {
        let values = sent.iter().flat_map(|it| it.values()).filter(|it| moment::is_generated(it));
        let values: BTreeSet<&str> = values.take(MOST).collect();
        let values: Vec<Value> = values.into_iter().map(Value::from).collect();
        let mut out = VolatileContext {
            identity: line.element.as_ref().map(identity).unwrap_or_default(),
            now_ms: now_ms(),
            ..VolatileContext::default()
        };
        out.identity.push_str(&line.url_before);
        if values.is_empty() {
            return out;
        }
        let shared = self.shared();
        let frames = self.own_frames().await;
        let asked = frames
            .iter()
            .map(|it| page::call::<StoredValues>(&shared.cdp, it, HELD, &values, page::PATIENCE));
        for it in join_all(asked).await.into_iter().flatten() {
            out.standing.extend(it.standing);
            out.tokens.extend(it.tokens);
        }
        out
    }

    /// The page, and its frames that are of its own site.
    async fn own_frames(&self) -> Vec<Frame> {
        let mut all = self.shared().frames().await.unwrap_or_default();
        let site = match all.first() {
            Some(it) if !it.url.is_empty() => network_expectations::site(&it.url),
            _ => self.url().await.ok().and_then(|it| network_expectations::site(&it)),
        };
        let main = all.first().map(|it| it.id.clone());
        all.retain(|it| {
            let blank = it.url.starts_with("about:") || it.url.is_empty();
            Some(&it.id) == main.as_ref() || blank || network_expectations::site(&it.url) == site
        });
        all
    }

    /// Begins to watch the page and its frames, which is what tells that they change.
    pub(super) async fn watched(&self) -> ChangeCounts {
        let shared = self.shared();
        let frames = self.own_frames().await;
        let asked = frames.iter().map(async |it| {
            page::changes(&shared.cdp, it).await.map(|count| (it.id.clone(), count))
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// Whether something of the page or of a frame has changed since then, or does within a moment: on a machine with much to do it
    /// takes its time.
    pub(super) async fn changes_since(&self, begun: Instant, before: &ChangeCounts) -> bool {
        let until = Instant::now() + LATE;
        loop {
            let since = begun.elapsed();
            if self.still_for().await < since || self.watched().await != *before {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    pub(super) async fn still_for(&self) -> Duration {
        self.shared().read_document_state().await.map(|it| it.1.still).unwrap_or_default()
    }
}

/// All that names it.
fn identity(it: &Fingerprint) -> String {
    let row = it.row.iter().map(String::as_str);
    let attributes = ["href", "does", "id", "testid"].iter();
    let attributes = attributes.filter_map(|name| it.attributes.get(*name)).map(String::as_str);
    [it.name.as_str()].into_iter().chain(row).chain(attributes).collect::<Vec<_>>().join("\n")
}
