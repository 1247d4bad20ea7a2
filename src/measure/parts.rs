//! Entry points for `benches/parts.rs`, and for nothing else: one function for each part whose speed has a name.
//!
//! A bench is a crate of its own, and modules here are private. Types are opaque, so nothing can be built on this.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::Value;

use commis_artifacts::{
    payloads::{Judged, SecondRecording},
    recording::SessionRecording,
    store::{Stamp, Store},
};
use commis_base::{
    error::Result,
    ids::TaskId,
    settings::{EgressSettings, RankingSettings, RedactSettings},
};
use commis_net::egress::EgressPolicy;
use commis_recipe::{model::ResponseSpec, shape, yaml};
use commis_redact::{har, raw::RawRecording};
use commis_runner::extract::{Extractor, HttpAnswer};
use commis_stages::rank;

/// The egress policy with every `.test` name pinned.
pub struct Egress(EgressPolicy);

/// A recording before and after redaction.
pub struct RawSession(RawRecording);
pub struct RedactedSession(SessionRecording);

/// A compiled way to read an answer.
pub struct CompiledExtractor(Extractor);

/// A store with one task.
pub struct TaskStore(Store, TaskId);

impl Egress {
    pub fn new() -> Option<Self> {
        let test_hosts = vec!["*.test=127.0.0.1:9".to_owned()];
        let settings = EgressSettings { test_hosts, ..EgressSettings::default() };
        EgressPolicy::new(&settings).ok().map(Self)
    }

    /// Canonical form and addresses; the look-up of a `.test` name or a literal address asks nobody. How many addresses.
    pub fn pin(&self, url: &str) -> Option<usize> {
        let pinned = async {
            let url = self.0.check(url)?;
            self.0.pin(&url).await
        };
        futures::executor::block_on(pinned).ok().map(|it| it.addrs().len())
    }
}

impl RawSession {
    pub fn read(har: &[u8], task: &str, typed: BTreeMap<String, String>) -> Option<Self> {
        har::import(har, task, typed).ok().map(|it| Self(it.recording))
    }

    pub fn redact(self) -> RedactedSession {
        RedactedSession(commis_redact::redact(self.0, &RedactSettings::default()).recording)
    }
}

impl RedactedSession {
    pub fn exchanges(&self) -> usize {
        self.0.exchanges.len()
    }

    /// Whether there are candidates.
    pub fn rank(&self) -> bool {
        let alone = SecondRecording::default();
        matches!(rank::rank(&self.0, &alone, &RankingSettings::default()), Judged::Done(_))
    }
}

impl CompiledExtractor {
    /// Of a recipe's text.
    pub fn compile(recipe: &str) -> Option<Self> {
        let spec: ResponseSpec = yaml::parse(recipe).ok()?.response;
        Extractor::new(&spec).ok().map(Self)
    }

    /// How many items the answer holds.
    pub fn apply(&self, mime: &str, body: &[u8]) -> Option<u64> {
        self.0.apply(HttpAnswer::from_body(mime, body)).ok()?.items
    }
}

impl TaskStore {
    pub fn new(folder: PathBuf) -> Option<Self> {
        let task = TaskId::parse("bench-00000000").ok()?;
        Some(Self(Store::new(folder), task))
    }

    pub fn write(&self, recorded: &RedactedSession) -> bool {
        let write = || -> Result<String> {
            let stamp = Stamp {
                source_url: "http://load.test/".to_owned(),
                stage: "record".into(),
                stage_version: 1,
                inputs: BTreeMap::new(),
                settings_sha256: String::new(),
            };
            self.0.task(&self.1)?.put(&recorded.0, stamp).map(|it| it.0)
        };
        write().is_ok()
    }
}

/// How many typed paths a value has.
pub fn shape(value: &Value) -> usize {
    shape::paths(value).len()
}
