//! The files of one research: what was asked, the plan, a file for each question that was looked into, what was fetched, what was
//! spent, the report. Each is whole or not there, so that whoever goes on after a crash does only what has no file.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    Question, QuestionResult, RejectedSentence, ResearchRequest, Sentence, Source, new_id,
};
use commis_artifacts::store::sha256;
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir, Lock},
};

/// Bytes of one file that is read.
const MOST: usize = 4 << 20;

/// The report as it was made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StoredReport {
    pub report: Vec<Sentence>,
    pub left_out: Vec<RejectedSentence>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResearchUsage {
    /// Calls of the model, also those that came to nothing.
    pub calls: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
}

impl ResearchUsage {
    pub fn add(&mut self, it: Self) {
        self.calls += it.calls;
        self.tokens_in += it.tokens_in;
        self.tokens_out += it.tokens_out;
    }
}

/// Held by one at a time.
pub struct ResearchStore {
    dir: Dir,
    pub id: String,
    _held: Lock,
}

fn question(n: usize) -> String {
    format!("question-{n}.json")
}

impl ResearchStore {
    /// A new one. Fails with `ARTIFACT_IO`, `INTERNAL`.
    pub fn begin(folder: &Path, wish: &ResearchRequest) -> Result<Self> {
        let id = new_id()?;
        let dir = files::open_or_create(&folder.join(&id))?;
        let it = Self { _held: lock_folder(&dir, &id)?, dir, id };
        it.put("asked.json", wish)?;
        Ok(it)
    }

    /// One that was begun by `who`, and what was asked. Fails with `TASK_NOT_FOUND`, also where it is somebody else's, `TASK_BUSY` and
    /// `ARTIFACT_IO`.
    pub fn resume(folder: &Path, id: &str, who: Option<&str>) -> Result<(Self, ResearchRequest)> {
        let none = || Error::new(Code::TaskNotFound, "there is no such research");
        let is_id = id.len() == 13
            && id.starts_with('s')
            && id[1..].bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it));
        let dir = if is_id { Dir::open(&folder.join(id), false)? } else { None };
        let dir = dir.ok_or_else(none)?;
        let held = lock_folder(&dir, id)?;
        // What a crash left half written.
        dir.sweep()?;
        let it = Self { dir, id: id.to_owned(), _held: held };
        let wish: ResearchRequest = it.get("asked.json")?.ok_or_else(none)?;
        if who.is_some_and(|who| who != wish.who) {
            return Err(none());
        }
        Ok((it, wish))
    }

    pub fn plan(&self) -> Result<Option<Vec<Question>>> {
        self.get("plan.json")
    }

    pub fn put_plan(&self, it: &[Question]) -> Result<()> {
        self.put("plan.json", &it)
    }

    /// What that question came to, if it was looked into.
    pub fn result(&self, n: usize) -> Result<Option<QuestionResult>> {
        self.get(&question(n))
    }

    pub fn put_found(&self, it: &QuestionResult) -> Result<()> {
        self.put(&question(it.n), it)
    }

    /// Keeps what was fetched, before anything speaks of it.
    pub fn put_source(
        &self,
        id: String,
        url: &str,
        title: String,
        text: &str,
        fetched_at: String,
    ) -> Result<Source> {
        let file = format!("source-{id}.txt");
        self.dir.write(&file, text.as_bytes())?;
        Ok(Source {
            id,
            url: commis_redact::redact_written(url),
            title,
            sha256: sha256(text.as_bytes()),
            fetched_at,
            file,
            bytes: text.len() as u64,
        })
    }

    /// What was fetched, if it is what it was. Fails with `ARTIFACT_CORRUPT`, `ARTIFACT_MISSING`.
    pub fn text(&self, it: &Source) -> Result<String> {
        let bytes = self.dir.read(&it.file, MOST)?.ok_or_else(|| {
            Error::new(
                Code::ArtifactMissing,
                format!("{} of research {} is gone", it.file, self.id),
            )
        })?;
        if sha256(&bytes) != it.sha256 {
            let what = format!("{} of research {} is not what was fetched", it.file, self.id);
            return Err(Error::new(Code::ArtifactCorrupt, what)
                .hint("start the research again without --resume"));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn report(&self) -> Result<Option<StoredReport>> {
        self.get("report.json")
    }

    pub fn put_report(&self, it: &StoredReport) -> Result<()> {
        self.put("report.json", it)
    }

    /// Something is looked into again: the report is not of it.
    pub fn forget_report(&self) -> Result<()> {
        self.dir.remove("report.json").map(drop)
    }

    pub fn note_spent(&self, it: ResearchUsage) -> Result<()> {
        self.dir.append("spent.ndjson", &serde_json::to_string(&it).unwrap_or_default())
    }

    pub fn spent(&self) -> Result<ResearchUsage> {
        let mut out = ResearchUsage::default();
        let bytes = self.dir.read("spent.ndjson", MOST)?.unwrap_or_default();
        for line in String::from_utf8_lossy(&bytes).lines() {
            // A line that a crash cut short is none.
            if let Ok(it) = serde_json::from_str(line) {
                out.add(it);
            }
        }
        Ok(out)
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let Some(bytes) = self.dir.read(name, MOST)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|err| {
            let what = format!("{name} of research {} cannot be read", self.id);
            Error::new(Code::ArtifactCorrupt, what)
                .hint("start the research again without --resume")
                .source(err)
        })
    }

    fn put<T: Serialize>(&self, name: &str, it: &T) -> Result<()> {
        self.dir.write(name, &serde_json::to_vec_pretty(it).unwrap_or_default())
    }
}

fn lock_folder(dir: &Dir, id: &str) -> Result<Lock> {
    dir.try_lock()?.ok_or_else(|| {
        Error::new(Code::TaskBusy, format!("research {id} is running already"))
            .hint("wait for it, or cancel its task")
    })
}
