//! What a page that stays asked for, as a recording, while it goes on.

use std::time::{Duration, Instant};

use super::PageController;
use crate::{
    bodies,
    context_state::ContextState,
    failure, page,
    recorder::Recorder,
    sessions::{
        Manifest,
        audit::{self, Finding},
    },
    typed_secrets,
};
use commis_artifacts::recording::Driver;
use commis_base::error::{Code, Error, Result};
use commis_redact::raw::{RawPage, RawRecording};

/// For answers that are still being read.
const READ: Duration = Duration::from_secs(3);
const STORED: &str = "function () {
  const all = [];
  for (const get of [() => localStorage, () => sessionStorage]) {
    try {
      const it = get();
      for (let i = 0; i < it.length && i < 500; i++) {
        const name = it.key(i);
        all.push([name.slice(0, 200).toWellFormed(), (it.getItem(name) ?? '').slice(0, 4096).toWellFormed()]);
      }
    } catch { /* a document without an origin has none */ }
  }
  return all;
}";
const WINDOW: &str = "function () { return [innerWidth, innerHeight]; }";

impl PageController {
    /// The traffic since the desk, or its session, began, and the page as it is; raw.
    pub(super) async fn traffic(&self, task: &str) -> RawRecording {
        let shared = self.shared();
        bodies::read_waiting(&shared);
        let read = |it: &ContextState| it.recorder.as_ref().is_none_or(Recorder::has_read_all);
        // A page that is gone has taken the rest with it.
        let _ = shared.until(Instant::now() + READ, read).await;
        let page = failure::read_page(&shared).await;
        self.recorded(task, page)
    }

    /// The same without asking the page.
    fn recorded(&self, task: &str, page: RawPage) -> RawRecording {
        let shared = self.shared();
        let (so_far, begun, secrets) = {
            let state = shared.lock();
            let it = state.recorder.as_ref();
            (it.map(Recorder::so_far), it.map(Recorder::started_at), state.secrets.clone())
        };
        let (actions, exchanges) = so_far.unwrap_or_default();
        RawRecording {
            task: task.to_owned(),
            url: self.begun_at.clone().unwrap_or_default(),
            driver: Driver::Steps,
            typed: std::collections::BTreeMap::new(),
            actions,
            final_answer: None,
            page,
            secrets: typed_secrets::sent_parts(&secrets, &exchanges),
            exchanges,
            blocked: shared.blocked(),
            notes: Vec::new(),
            duration_ms: begun.map_or(0, |it| it.elapsed().as_millis() as u64),
            producer: self.context.producer().to_owned(),
        }
    }

    /// Traffic that has grown long goes to disk, and what comes is noted anew. Fails with `ARTIFACT_IO`.
    pub(super) async fn shorten(&mut self) -> Result<()> {
        let Some(rules) = self.keep.as_ref().map(|it| it.rules.clone()) else { return Ok(()) };
        if !self.shared().lock().is_long() {
            return Ok(());
        }
        let (recording, sealed) = commis_redact::sealed(self.traffic("").await, &rules);
        let count = recording.exchanges.len() as u32;
        if let Some(keep) = &mut self.keep {
            keep.part(recording, sealed)?;
        }
        self.on_disk += count;
        self.context.listen()
    }

    /// Ends the session that is kept, with its traffic. Fails with `PARAM_INVALID` where nothing is kept.
    pub async fn end(&mut self) -> Result<Manifest> {
        let task = match &self.keep {
            Some(it) => it.manifest().task.clone(),
            None => {
                return Err(Error::new(
                    Code::ParamInvalid,
                    "the actions of this page are not recorded",
                ));
            }
        };
        let raw = self.traffic(&task).await;
        let stored = self.read_storage().await;
        self.finish_session(raw, stored)
    }

    /// The same for a page that is being closed.
    pub(super) fn end_now(&mut self) -> Result<Manifest> {
        let task = self.keep.as_ref().map(|it| it.manifest().task.clone()).unwrap_or_default();
        let raw = self.recorded(&task, RawPage::default());
        self.finish_session(raw, Vec::new())
    }

    fn finish_session(
        &mut self,
        mut raw: RawRecording,
        stored: Vec<(String, String)>,
    ) -> Result<Manifest> {
        let gone = || Error::new(Code::ParamInvalid, "the actions of this page are not recorded");
        let mut keep = self.keep.take().ok_or_else(gone)?;
        self.tell_session();
        self.shared().lock().is_kept = false;
        // What was typed and may be told is no secret because a cookie remembers it.
        let lines = keep.lines()?;
        let typed = lines.iter().filter(|it| matches!(&*it.command, "fill" | "select"));
        raw.typed =
            typed.filter_map(|it| Some((format!("action-{}", it.n), it.value.clone()?))).collect();
        let found = audit::audit(&raw, &lines);
        let (recording, mut sealed) = commis_redact::sealed(raw, &keep.rules);
        for (name, value) in &stored {
            sealed.judge(name, value);
        }
        keep.traffic(recording, &mut sealed)?;
        keep.audited(&found)?;
        keep.gate(&mut sealed)?;
        keep.end()
    }

    /// What the page and its frames store: names and values.
    async fn read_storage(&self) -> Vec<(String, String)> {
        let shared = self.shared();
        let mut out = Vec::new();
        for frame in shared.frames().await.unwrap_or_default() {
            let all = page::call(&shared.cdp, &frame, STORED, &[], page::PATIENCE).await;
            out.extend::<Vec<(String, String)>>(all.unwrap_or_default());
        }
        out
    }

    /// Findings about the traffic so far.
    pub async fn audit(&self) -> Vec<Finding> {
        audit::audit(&self.traffic("").await, &[])
    }

    /// The page's address, and what it and its frames draw, as markup.
    pub async fn drawn(&self) -> Result<(String, Vec<String>)> {
        let shared = self.shared();
        let frames = shared.frames().await?;
        let page = page::summary(&shared.cdp, &frames).await;
        Ok((commis_redact::message(&page.url), page.documents))
    }

    /// Width and height of what the page is drawn in.
    pub(super) async fn window(&self) -> Option<[u32; 2]> {
        let shared = self.shared();
        let frame = shared.main_frame().await.ok()?;
        page::call(&shared.cdp, &frame, WINDOW, &[], page::PATIENCE).await.ok()
    }
}
