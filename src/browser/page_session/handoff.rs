//! A person has the page: it stands in a window, and what acts waits until it is given back.
//!
//! A browser without windows cannot get one, so the page moves: its address is opened in a context of a browser that has them,
//! behind the same guard, with its cookies and what it stores, which go from one browser to the other in memory alone. What
//! scripts hold in memory stays behind. Where requests are held back, that goes on: what may change something leaves only where the
//! person pressed a key or a button just before.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Command, CommandOutput, PageController, plain};
use crate::{
    context::Context,
    event_stream::{EventKind, note_suffix},
    page,
    sessions::{SessionAction, network_expectations::RequestTap},
};
use commis_base::error::{Code, Error, Result};

/// Characters of what a person is told.
const NOTE: usize = 300;
/// All that a page stores, as texts.
const STORED: &str = "function (most) {
  const all = [];
  let left = most;
  for (const [kind, get] of [['local', () => localStorage], ['session', () => sessionStorage]]) {
    try {
      const it = get();
      for (let i = 0; i < it.length; i++) {
        const name = it.key(i);
        const value = it.getItem(name) ?? '';
        left -= name.length + value.length;
        if (left < 0) return all;
        all.push([kind, name, value]);
      }
    } catch { /* a document without an origin has none */ }
  }
  return all;
}";
/// The same put back, before a document of that origin runs.
const STORE: &str = "(function (origin, all) {
  if (location.origin !== origin || top !== window) return;
  for (const [kind, name, value] of all) {
    try { (kind === 'local' ? localStorage : sessionStorage).setItem(name, value); } catch { /* it is full */ }
  }
})";
/// Characters of it that are taken along.
const MOST: usize = 5 << 20;
/// What a cookie consists of, as it is set.
const COOKIE: &[&str] = &[
    "name",
    "value",
    "domain",
    "path",
    "secure",
    "httpOnly",
    "sameSite",
    "expires",
    "priority",
    "sourceScheme",
    "sourcePort",
    "partitionKey",
];

/// While a person has it.
pub struct Handoff {
    url: String,
    begun: Instant,
}

/// Whether it leaves the page as it is. What is not known to, acts.
fn reads(command: &Command) -> bool {
    matches!(
        command,
        Command::Url
            | Command::Title
            | Command::Text(_)
            | Command::Html(_)
            | Command::Links
            | Command::Attrs(_)
            | Command::Is(..)
            | Command::Forms
            | Command::Cookies
            | Command::Storage
            | Command::Blocked
            | Command::Tabs
            | Command::Pdf
            | Command::Snapshot { .. }
            | Command::Screenshot(_)
            | Command::Wait(_)
            | Command::Console(_)
            | Command::Network(_)
            | Command::Dialogs(_)
            | Command::Status
    )
}

impl PageController {
    /// Fails with `PAGE_HANDED_OFF` where a person has the page.
    pub(super) fn is_free(&self) -> Result<()> {
        if self.handed.is_none() {
            return Ok(());
        }
        Err(Error::new(Code::PageHandedOff, "a person is using this page")
            .hint("reading works meanwhile; `browse resume` takes the page back"))
    }

    /// The same where the command acts.
    pub(super) fn is_free_for(&self, command: &Command) -> Result<()> {
        if reads(command) { Ok(()) } else { self.is_free() }
    }

    /// Whether people can see it in a window.
    pub fn is_visible(&self) -> bool {
        self.visible
    }

    /// Goes on in that context, which has a window: with the same cookies, what the page stores, at the same address. Fails with
    /// what opening a page fails with; then it stays where it was.
    pub async fn move_to(&mut self, window: Context) -> Result<()> {
        self.is_free()?;
        window.listen()?;
        window.keep_tabs()?;
        let (old, new) = (self.shared(), std::sync::Arc::clone(window.shared()));
        let (frame, page::DocumentState { url, .. }) = old.read_document_state().await?;
        let cookies = cookie_params(
            &old.cdp
                .call(None, "Storage.getCookies", json!({ "browserContextId": old.id }))
                .await?,
        );
        let params = json!({ "browserContextId": new.id, "cookies": cookies });
        new.cdp.run(None, "Storage.setCookies", params).await?;
        new.hold_like(&old);
        new.lock().secrets = std::mem::take(&mut old.lock().secrets);
        if let Some(origin) =
            url::Url::parse(&url).ok().filter(|it| matches!(it.scheme(), "http" | "https"))
        {
            #[derive(Deserialize)]
            struct AddScriptResult {
                identifier: String,
            }
            let stored: Vec<(String, String, String)> =
                page::call(&old.cdp, &frame, STORED, &[MOST.into()], page::PATIENCE).await?;
            let session = new.page()?.session;
            let origin = json!(origin.origin().ascii_serialization());
            // In a world of its own: the page sees what is stored, and nothing of how it came there.
            let script = json!({ "source": format!("{STORE}({origin}, {})", json!(stored)), "worldName": "commis-move" });
            let added: AddScriptResult = new
                .cdp
                .call(Some(&session), "Page.addScriptToEvaluateOnNewDocument", script)
                .await?;
            let opened = new.navigate(&url, self.timeout).await;
            let once = json!({ "identifier": added.identifier });
            new.cdp.run(Some(&session), "Page.removeScriptToEvaluateOnNewDocument", once).await?;
            opened?;
        }
        // Its refs, its tabs and its looks were the other page's.
        self.rings.follow(&new)?;
        self.context = window;
        (self.aside, self.look, self.visible) = (None, None, true);
        if let Some(feed) = self.feed.clone() {
            feed.stand(|it| it.visible = true);
            self.told_to(feed);
        }
        Ok(())
    }

    /// Gives the page to a person. Fails with `PAGE_HANDED_OFF` where one has it.
    pub async fn hand_off(&mut self, note: &str) -> Result<CommandOutput> {
        self.is_free()?;
        let note: String = plain(&commis_redact::message(note)).chars().take(NOTE).collect();
        let url = self.url().await.unwrap_or_default();
        let shared = self.shared();
        let session = shared.page()?.session;
        shared.cdp.run(Some(&session), "Page.bringToFront", json!({})).await?;
        shared.lock().tap = Some(RequestTap::default());
        shared.lock().holding.iter_mut().for_each(|it| it.hands_over(true));
        self.handed = Some(Handoff { url, begun: Instant::now() });
        let text = format!("a person has the page{}", note_suffix(&note));
        if let Some(feed) = &self.feed {
            feed.stand(|it| it.handed = Some(note));
        }
        shared.lock().emit(EventKind::HandedOff, &text);
        Ok(text.into())
    }

    /// Takes it back. What the person did is in the traffic, and no task can do it again. Fails with `PARAM_INVALID` where nobody
    /// has it.
    pub async fn resume(&mut self) -> Result<CommandOutput> {
        let Some(it) = self.handed.take() else {
            return Err(Error::new(Code::ParamInvalid, "the page is not handed over")
                .hint("`browse handoff` gives it to a person"));
        };
        if let Some(feed) = &self.feed {
            feed.stand(|it| it.handed = None);
        }
        self.shared().lock().holding.iter_mut().for_each(|it| it.hands_over(false));
        let tap = self.shared().lock().tap.take();
        let requests = self.requests(tap);
        let asked = requests.len();
        self.lost.push("a person's part".to_owned());
        let now = self.url().await?;
        if self.keep.is_some() {
            let line = SessionAction {
                command: "handoff".to_owned(),
                url_before: self.without_secrets(it.url.clone()),
                url_after: self.without_secrets(now.clone()),
                ms: it.begun.elapsed().as_millis() as u64,
                requests,
                changed: true,
                ..SessionAction::default()
            };
            let seen = self.snapshot_text().await;
            if let Some(keep) = &mut self.keep {
                keep.add(line)?;
                keep.find(
                    "a person's part: it is not known what was done, and it is not done again",
                );
                if let Some(it) = seen {
                    keep.snapshot(&it)?;
                }
            }
        }
        let went = if now == it.url { "still at" } else { "now at" };
        let text =
            format!("the page is back, {went} {now}; the person's part asked for {asked} things");
        self.shared().lock().emit(EventKind::Resumed, &text);
        Ok(text.into())
    }
}

/// Cookies as they are set. One that ends with its context does so in the other, too.
fn cookie_params(all: &Value) -> Vec<Value> {
    let mut out = Vec::new();
    for it in all["cookies"].as_array().into_iter().flatten() {
        let Some(fields) = it.as_object() else { continue };
        let ends = fields.get("expires").and_then(Value::as_f64).is_some_and(|it| it > 0.0);
        let kept = fields.iter().filter(|(name, _)| {
            COOKIE.contains(&name.as_str()) && (ends || name.as_str() != "expires")
        });
        out.push(Value::Object(kept.map(|(name, it)| (name.clone(), it.clone())).collect()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_taken_along_as_it_was() {
        let all = json!({"cookies": [
            {"name": "a", "value": "1", "domain": ".shop.test", "path": "/", "expires": 1.9e9, "size": 2, "httpOnly": true,
             "secure": false, "session": false, "sameSite": "Strict"},
            {"name": "b", "value": "2", "domain": "shop.test", "path": "/", "expires": -1, "size": 2, "httpOnly": false,
             "secure": true, "session": true},
        ]});
        let taken = cookie_params(&all);
        assert_eq!(taken[0]["expires"], 1.9e9);
        assert_eq!(
            taken[1],
            json!({"name": "b", "value": "2", "domain": "shop.test", "path": "/", "httpOnly": false, "secure": true})
        );
        assert!(taken[0].get("size").is_none() && taken[0]["sameSite"] == "Strict");
    }

    #[test]
    fn what_is_not_known_to_read_acts() {
        assert!(reads(&Command::Url) && reads(&Command::Status));
        for it in
            [Command::Back, Command::Type("x".into()), Command::Dialog(true, None), Command::Tab(1)]
        {
            assert!(!reads(&it), "{it:?}");
        }
    }
}
