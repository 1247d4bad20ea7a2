//! What a run writes of itself: each thing that happens, and every few seconds where it is.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;
use serde_json::{Value, json};

use super::{PlaybookRef, RunRecord, RunStatus};
use crate::{
    RunEvent, Usage,
    actions::COMPLETE,
    transcript::{Transcript, masked},
};
use commis_base::{
    error::{Error, Result},
    files,
};
use commis_state::now_ms;

/// How often a run that works gives a sign.
pub const BEAT: Duration = Duration::from_secs(2);
/// Characters of a text that are kept, and bytes of an answer.
const TEXT: usize = 300;
const ANSWER: usize = 4096;

/// Written to by the run and by nobody else. The last one that is dropped ends what had no end.
#[derive(Clone)]
pub struct Journal(Arc<Mutex<JournalState>>);

struct JournalState {
    transcript: Transcript,
    folder: PathBuf,
    record: RunRecord,
    /// When it began or went on, and how long it was at work before.
    from_ms: i64,
    before_ms: u64,
    /// That it cannot be written was told.
    told: bool,
}

/// What a run came to, for now or for good.
pub struct RunSummary {
    pub status: RunStatus,
    pub reason: String,
    pub detail: Option<String>,
    pub usage: Usage,
    pub cost: Option<f64>,
    pub ms: u64,
    pub page: String,
    pub answer: Option<Value>,
}

impl Journal {
    /// Begins one: `record` says what the run is about, `head` is the first line of what happened. Where the folder cannot be used,
    /// that is said in the log, and nothing is kept.
    pub fn begin(folder: &Path, record: RunRecord, head: &impl Serialize) -> Self {
        let at_ms = now_ms();
        let mut transcript = Transcript::begin(folder, &record.run);
        transcript.note(at_ms, head);
        let record = RunRecord { begun_ms: at_ms, status: RunStatus::Working, ..record };
        let mut it = JournalState {
            transcript,
            folder: folder.to_owned(),
            record,
            from_ms: at_ms,
            before_ms: 0,
            told: false,
        };
        it.turns_to("opens the first page", at_ms);
        it.write(at_ms, true);
        Self(Arc::new(Mutex::new(it)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, JournalState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The playbook that it is done by.
    pub fn playbook(&self) -> Option<PlaybookRef> {
        self.lock().record.playbook.clone()
    }

    /// Something happened.
    pub fn note(&self, note: &RunEvent) {
        let at_ms = now_ms();
        let mut it = self.lock();
        it.transcript.note(at_ms, note);
        it.heed(note, at_ms);
        it.write(at_ms, false);
    }

    /// It works.
    pub fn beat(&self) {
        self.lock().write(now_ms(), false);
    }

    /// It goes on after it waited.
    pub fn goes_on(&self, what: &impl Serialize) {
        let at_ms = now_ms();
        let mut it = self.lock();
        it.transcript.note(at_ms, what);
        it.record.status = RunStatus::Working;
        (it.from_ms, it.before_ms) = (at_ms, it.record.ms);
        (it.record.reason, it.record.detail) = (None, None);
        it.turns_to("asks the model", at_ms);
        it.write(at_ms, true);
    }

    /// It is about to wait for a person, who may be quicker than [`Journal::ends`].
    pub fn waits(&self) {
        let mut it = self.lock();
        it.record.status = RunStatus::WaitingForApproval;
        it.write(now_ms(), true);
    }

    /// It ended, or waits for a person; `line` is what is told of that.
    pub fn ends(&self, ending: RunSummary, line: &impl Serialize) {
        let at_ms = now_ms();
        let mut it = self.lock();
        it.transcript.note(at_ms, line);
        let waits = ending.status == RunStatus::WaitingForApproval;
        if !waits || it.record.status == RunStatus::WaitingForApproval {
            it.ends(ending, at_ms);
        }
    }

    /// An error ended it.
    pub fn fail(&self, err: &Error) {
        let (at_ms, message) = (now_ms(), err.to_string());
        let mut it = self.lock();
        let line = json!({"kind": "failed", "code": err.code().as_str(), "message": message});
        it.transcript.note(at_ms, &line);
        it.breaks(err.code().as_str(), &message, at_ms);
    }

    /// A person, or time, ended it while it waited.
    pub fn closes(&self, status: RunStatus, reason: &str) {
        let at_ms = now_ms();
        let mut it = self.lock();
        if it.record.status != RunStatus::WaitingForApproval {
            return;
        }
        it.transcript
            .note(at_ms, &json!({"kind": "end", "status": status.as_str(), "reason": reason}));
        (it.record.status, it.record.reason) = (status, Some(reason.to_owned()));
        it.write(at_ms, true);
    }
}

impl JournalState {
    fn turns_to(&mut self, now: &str, at_ms: i64) {
        self.record.now = clip(now);
        self.record.since_ms = at_ms;
    }

    /// What follows from a note for where it is.
    fn heed(&mut self, note: &RunEvent, at_ms: i64) {
        match note {
            RunEvent::Model { turn, tokens_in, tokens_out, .. } => {
                self.record.turns = *turn;
                self.record.tokens_in += tokens_in;
                self.record.tokens_out += tokens_out;
            }
            RunEvent::Act { act, page, .. } => {
                // What it claims is no action.
                if !act.starts_with(COMPLETE) {
                    self.record.actions += 1;
                    self.record.last_action = Some(clip(act));
                }
                self.record.page = clip(page);
                self.turns_to(act, at_ms);
            }
            RunEvent::Asked { text, .. } => self.turns_to(&format!("asks a person: {text}"), at_ms),
            RunEvent::Held { request, .. } => {
                self.turns_to(&format!("held back: {request}"), at_ms);
            }
            RunEvent::Did { .. }
            | RunEvent::Refused { .. }
            | RunEvent::Claim { verified: false, .. } => {
                self.turns_to("asks the model", at_ms);
            }
            RunEvent::Claim { .. } => self.turns_to("ends", at_ms),
        }
    }

    fn ends(&mut self, it: RunSummary, at_ms: i64) {
        let answer = it.answer.filter(|it| it.to_string().len() <= ANSWER);
        self.record = RunRecord {
            status: it.status,
            reason: Some(it.reason),
            detail: it.detail.map(|it| clip(&it)),
            turns: it.usage.turns,
            tokens_in: it.usage.tokens_in,
            tokens_out: it.usage.tokens_out,
            cost: it.cost,
            ms: it.ms,
            page: clip(&it.page),
            answer,
            ..std::mem::take(&mut self.record)
        };
        self.write(at_ms, true);
    }

    fn breaks(&mut self, reason: &str, detail: &str, at_ms: i64) {
        self.record.status = RunStatus::Failed;
        self.record.reason = Some(reason.to_owned());
        self.record.detail = Some(clip(detail));
        self.write(at_ms, true);
    }

    /// Writes where it is; `stays`: a power cut may not take it back.
    fn write(&mut self, at_ms: i64, stays: bool) {
        self.record.at_ms = at_ms;
        if self.record.status == RunStatus::Working {
            self.record.ms = self.before_ms + (at_ms - self.from_ms).max(0) as u64;
        }
        let Err(err) = self.try_write(stays) else { return };
        // The next time there may be room again; that it was not written is told once.
        if !std::mem::replace(&mut self.told, true) {
            tracing::error!(error = %err, "where a run is was not written down");
        }
    }

    fn try_write(&self, stays: bool) -> Result<()> {
        let mut it = serde_json::to_value(&self.record).unwrap_or_default();
        for (name, value) in it.as_object_mut().into_iter().flatten() {
            // These are ours and the settings', and may look like secrets.
            if !matches!(name.as_str(), "run" | "process" | "playbook" | "model") {
                masked(value);
            }
        }
        let name = format!("{}.json", self.record.run);
        let folder = files::open_or_create(&self.folder)?;
        let bytes = it.to_string().into_bytes();
        if stays { folder.write(&name, &bytes) } else { folder.write_unsynced(&name, &bytes) }
    }
}

impl Drop for JournalState {
    /// Whoever did it gave it up without a word, a panic with them. What waits for a person is ended by who closes it.
    fn drop(&mut self) {
        if self.record.status == RunStatus::Working {
            self.breaks("given_up", "whoever did it gave it up", now_ms());
        }
    }
}

fn clip(text: &str) -> String {
    text.chars().take(TEXT).collect()
}
