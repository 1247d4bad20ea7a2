//! `task.json`: what a task's folder says about the task itself, so that its id is enough to go on with it.
//!
//! It also holds what a person chose. It is no artifact of a stage: it is what the stages are asked. What seems to be a secret
//! is stored redacted; such a task can be gone on with, but not recorded again, from here.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    secrets::TaskSecrets,
    stage_inputs::redact,
    task::{Source, Task},
};
use commis_artifacts::store::TaskFolder;
use commis_base::{
    error::{Code, Error, Result},
    ids::{RecipeName, TaskId},
};
use commis_browser::Step;
use commis_stages::{select::Selection, verify::Expectation};

const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredTask {
    version: u32,
    task_id: TaskId,
    entry: StoredEntry,
    /// Something in `entry` was redacted: it is not the question any more, only a description of it.
    redacted: bool,
    pub choice: Option<StoredChoice>,
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredChoice {
    pub selection: Selection,
    /// The recipe's name, when it is not the task's.
    pub name: Option<RecipeName>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredEntry {
    name: RecipeName,
    task: String,
    source: StoredSource,
    examples: Vec<BTreeMap<String, String>>,
    min_items: Option<u32>,
    required_paths: Vec<String>,
    category: Option<String>,
    timeout_s: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    reads_only: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// Names alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    logins: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StoredSource {
    Live {
        url: String,
        steps: Vec<Step>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_hand: bool,
    },
    Har {
        path: PathBuf,
        sha256: String,
    },
}

impl StoredTask {
    /// Redacted as it must be.
    pub fn new(task: &Task, choice: Option<StoredChoice>) -> Result<Self> {
        let source = match &task.source {
            Source::Live { url, steps, by_hand } => {
                StoredSource::Live { url: url.clone(), steps: steps.clone(), by_hand: *by_hand }
            }
            Source::Har { path, sha256, .. } => StoredSource::Har {
                // The next command may be run in another folder.
                path: std::path::absolute(path).unwrap_or_else(|_| path.clone()),
                sha256: sha256.clone(),
            },
        };
        let entry = StoredEntry {
            name: task.name.clone(),
            task: task.sentence.clone(),
            source,
            examples: task.examples.clone(),
            min_items: task.expect.min_items,
            required_paths: task.expect.required_paths.clone(),
            category: task.category.clone(),
            timeout_s: task.timeout.as_secs(),
            reads_only: task.reads_only,
            answer: task.answer.clone(),
            logins: task.logins.iter().map(ToString::to_string).collect(),
        };
        let internal =
            |err| Error::new(Code::Internal, "a task cannot be written as JSON").source(err);
        let mut value = serde_json::to_value(&entry).map_err(internal)?;
        redact(&mut value);
        let written: StoredEntry = serde_json::from_value(value).map_err(internal)?;
        Ok(Self {
            version: VERSION,
            task_id: task.id.clone(),
            redacted: written != entry || task.secrets.are_given(),
            entry: written,
            choice,
        })
    }

    /// `None` when the folder has none. Fails with `ARTIFACT_CORRUPT` or `ARTIFACT_SCHEMA_MISMATCH`.
    pub fn read(folder: &TaskFolder, id: &TaskId) -> Result<Option<Self>> {
        folder.entry()?.map(|it| Self::parse(&it, id)).transpose()
    }

    /// Its recordings were made behind a login: they hold what the account saw.
    pub fn is_private(&self) -> bool {
        !self.entry.logins.is_empty()
    }

    /// What bytes say of the task, wherever they are from. Fails with `ARTIFACT_CORRUPT` or `ARTIFACT_SCHEMA_MISMATCH`.
    pub fn parse(bytes: &[u8], id: &TaskId) -> Result<Self> {
        let trouble = |code, why: String| {
            Error::new(code, format!("task.json of {id} {why}"))
                .hint("learn the task again with --force; a choice made for it is then forgotten")
        };
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|err| trouble(Code::ArtifactCorrupt, format!("is damaged ({err})")))?;
        if value.get("version").and_then(Value::as_u64) != Some(VERSION.into()) {
            let why = "was written by another version of commis".to_owned();
            return Err(trouble(Code::ArtifactSchemaMismatch, why));
        }
        let out: Self = serde_json::from_value(value)
            .map_err(|err| trouble(Code::ArtifactCorrupt, format!("is damaged ({err})")))?;
        if out.task_id != *id {
            let why = format!("belongs to task {}", out.task_id);
            return Err(trouble(Code::ArtifactCorrupt, why));
        }
        Ok(out)
    }

    /// As it is written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(self).map_err(|err| {
            Error::new(Code::Internal, "cannot write task.json as JSON").source(err)
        })?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Writes it, unless the folder says the same already. Fails with `ARTIFACT_IO`.
    pub fn write(&self, folder: &TaskFolder) -> Result<()> {
        let bytes = self.to_bytes()?;
        if folder.entry()?.as_deref() == Some(&bytes) {
            return Ok(());
        }
        folder.put_entry(&bytes)
    }

    pub fn name(&self) -> &RecipeName {
        &self.entry.name
    }

    /// The recipe's name, where a person gave it another than the task's.
    pub fn recipe_name(&self) -> &RecipeName {
        self.choice.as_ref().and_then(|it| it.name.as_ref()).unwrap_or(&self.entry.name)
    }

    /// As it is written down: secrets in it are redacted, as they are in the recipe.
    pub fn about(&self) -> (&str, Option<&str>) {
        (&self.entry.task, self.entry.category.as_deref())
    }

    /// The host that a live recording opens first.
    pub fn host(&self) -> Option<String> {
        let StoredSource::Live { url, .. } = &self.entry.source else { return None };
        url::Url::parse(url).ok()?.host_str().map(str::to_owned)
    }

    /// Whether it is recorded by hand, and on the page of that task.
    pub fn same_page(&self, task: &Task) -> bool {
        let Source::Live { url: asked, by_hand: true, .. } = &task.source else { return false };
        matches!(&self.entry.source, StoredSource::Live { url, by_hand: true, .. } if *url == commis_redact::redact_written(asked))
    }

    /// Whether a recipe with this task sentence was made from it.
    pub fn is_about(&self, sentence: &str) -> bool {
        self.entry.task == sentence
    }

    /// The task to go on with; `None` when a value of it was redacted.
    pub fn task(self) -> Option<Task> {
        let entry = self.entry;
        if self.redacted {
            return None;
        }
        let mut out = Task {
            id: self.task_id,
            name: entry.name,
            sentence: entry.task,
            source: match entry.source {
                StoredSource::Live { url, steps, by_hand } => Source::Live { url, steps, by_hand },
                StoredSource::Har { path, sha256 } => Source::Har { path, sha256, content: None },
            },
            expect: Expectation {
                min_items: entry.min_items,
                required_paths: entry.required_paths,
                further: Vec::new(),
            },
            examples: entry.examples,
            category: entry.category,
            // A task that wants a login is not begun.
            requires_auth: false,
            logins: entry.logins.iter().filter_map(|it| it.parse().ok()).collect(),
            reads_only: entry.reads_only,
            answer: entry.answer,
            timeout: Duration::from_secs(entry.timeout_s),
            secrets: TaskSecrets::default(),
        };
        out.name_variables();
        out.expect.further = (2..out.examples.len()).map(|it| out.example(it)).collect();
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_artifacts::store::Store;

    fn task(sentence: &str) -> Task {
        let name = RecipeName::new("shop").unwrap();
        Task {
            id: TaskId::new("m", &name),
            name,
            sentence: sentence.to_owned(),
            source: Source::Live {
                url: "http://shop.test/".to_owned(),
                steps: vec![Step::Press("Enter".to_owned())],
                by_hand: false,
            },
            examples: vec![BTreeMap::from([("q".to_owned(), "lantern".to_owned())])],
            expect: Expectation {
                min_items: Some(1),
                required_paths: vec!["a".to_owned()],
                ..Expectation::default()
            },
            category: Some("shopping".to_owned()),
            requires_auth: false,
            logins: Vec::new(),
            reads_only: false,
            answer: None,
            timeout: Duration::from_secs(30),
            secrets: TaskSecrets::default(),
        }
    }

    fn choice() -> StoredChoice {
        let selection = Selection { endpoint_key: "GET a?".to_owned(), extract: None };
        StoredChoice { selection, name: None }
    }

    #[test]
    fn the_task_comes_back_as_it_was_asked() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path().join("artifacts"));
        let asked = task("Search for {q}");
        let folder = store.task(&asked.id).unwrap();
        assert_eq!(StoredTask::read(&folder, &asked.id).unwrap(), None);
        StoredTask::new(&asked, Some(choice())).unwrap().write(&folder).unwrap();
        let stored = StoredTask::read(&folder, &asked.id).unwrap().unwrap();
        assert_eq!(stored.choice, Some(choice()));
        assert!(stored.is_about("Search for {q}") && !stored.is_about("Search"));
        let back = stored.task().unwrap();
        let settings = commis_base::settings::Settings::default();
        for spec in commis_stages::STAGES {
            let digest = |it: &Task| it.settings_sha256(spec.stage, &settings);
            assert_eq!(digest(&back), digest(&asked), "{:?}", spec.stage);
        }
        assert_eq!((back.category, back.timeout), (asked.category, asked.timeout));
    }

    #[test]
    fn a_task_by_hand_stays_one_and_knows_its_page() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path().join("artifacts"));
        let on = |url: &str, by_hand: bool| {
            let source = Source::Live { url: url.to_owned(), steps: Vec::new(), by_hand };
            Task { source, ..task("Search for {q}") }
        };
        let asked = on("http://shop.test/", true);
        let folder = store.task(&asked.id).unwrap();
        StoredTask::new(&asked, None).unwrap().write(&folder).unwrap();
        let stored = StoredTask::read(&folder, &asked.id).unwrap().unwrap();
        assert!(stored.same_page(&asked));
        assert!(!stored.same_page(&on("http://other.test/", true)));
        assert!(!stored.same_page(&on("http://shop.test/", false)));
        assert!(stored.task().unwrap().is_by_hand());
    }

    #[test]
    fn what_is_redacted_is_no_task() {
        let stored = StoredTask::new(&task("Log in with password=hunter2hunter2"), None).unwrap();
        assert!(!serde_json::to_string(&stored).unwrap().contains("hunter2hunter2"));
        assert!(stored.task().is_none());
    }

    #[test]
    fn damage_is_named() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path().join("artifacts"));
        let asked = task("Search for {q}");
        let folder = store.task(&asked.id).unwrap();
        let good = serde_json::to_value(StoredTask::new(&asked, None).unwrap()).unwrap();
        let code = |key: &str, value: Value| {
            let mut it = good.clone();
            it[key] = value;
            folder.put_entry(it.to_string().as_bytes()).unwrap();
            StoredTask::read(&folder, &asked.id).err().map(|it| it.code())
        };
        assert_eq!(code("version", 1.into()), None);
        assert_eq!(code("version", 2.into()), Some(Code::ArtifactSchemaMismatch));
        assert_eq!(code("task_id", "other-00000000".into()), Some(Code::ArtifactCorrupt));
        assert_eq!(code("more", true.into()), Some(Code::ArtifactCorrupt));
    }
}
