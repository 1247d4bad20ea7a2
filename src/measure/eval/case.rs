//! A corpus: one folder a case, with the recording, the response stubs, and what is right.
//!
//! A person wrote down what is right. It is never what some version of the stages did.

use super::{
    request_parts::split,
    stubs::{self, Stubs},
};
use commis_artifacts::{
    payloads::{Outcome, Reason, SecondRecording},
    recording::SessionRecording,
    store::sha256,
};
use commis_base::{
    error::{Code, Error, Result},
    files::read_bounded,
};
use commis_recipe::model::TransportKind;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

pub const RECORDING: &str = "recording.json";
pub const SECOND: &str = "recording_second.json";
pub const CANDIDATES: &str = "candidates.json";
pub const DRAFT: &str = "expected_draft.json";
pub const FINGERPRINT: &str = "expected_fingerprint.json";
pub const STUBS: &str = "response_stub.json";
pub const METADATA: &str = "metadata.yaml";
const MAX_FILE: u64 = 64 << 20;
const MAX_YAML: u64 = 1 << 20;

/// `metadata.yaml`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// What kind of call it is; results are counted by it.
    pub kind: String,
    /// How the task should end, and why.
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    pub auth_required: bool,
    pub volatility: Volatility,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_transport: Option<TransportKind>,
    pub expected_recipe_type: RecipeType,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// What the task's author expects of the answer, as in a manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_paths: Vec<String>,
    /// Examples after the second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<BTreeMap<String, String>>,
}

/// Whether two equal calls get equal answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Volatility {
    Low,
    High,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecipeType {
    Api,
    Html,
    /// Nothing to learn.
    None,
}

/// `expected_draft.json`: the right request and what it must give.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedDraft {
    pub request: Option<ExpectedRequest>,
    /// Names of the values that a caller gives.
    #[serde(default)]
    pub parameters: BTreeSet<String>,
    /// Texts that the data for the first example must hold.
    #[serde(default)]
    pub extract_contains: Vec<String>,
    /// JMESPath from the right answer's JSON to all that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// The same for a page: a CSS selector of the items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRequest {
    pub method: String,
    /// Without query; `*` is a segment that varies.
    pub url: String,
    /// GraphQL operation or RPC method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

/// `candidates.json`: the exchanges that are the right request; a right ranking puts one of them first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedCandidates {
    pub right: BTreeSet<u32>,
}

/// `expected_fingerprint.json`: the shape of the right answer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFingerprint {
    /// Typed paths of the whole JSON answer to the first example; empty where it is not JSON.
    pub shape: Vec<String>,
}

impl ExpectedRequest {
    /// Whether a recorded request is this one; its URL may have a query.
    pub fn matches(&self, method: &str, url: &str, operation: Option<&str>) -> bool {
        let url = url.split(['?', '#']).next().unwrap_or("");
        let (Some((origin, path)), Some((wanted, pattern))) = (split(url), split(&self.url)) else {
            return false;
        };
        let (path, pattern): (Vec<&str>, Vec<&str>) =
            (path.split('/').collect(), pattern.split('/').collect());
        method == self.method
            && origin == wanted
            && path.len() == pattern.len()
            && pattern.iter().zip(&path).all(|(wanted, it)| *wanted == "*" || wanted == it)
            && self.operation.as_deref().is_none_or(|it| operation == Some(it))
    }
}

/// A case as read.
pub struct Case {
    pub id: String,
    pub recording: SessionRecording,
    pub second: SecondRecording,
    pub right: ExpectedCandidates,
    pub draft: ExpectedDraft,
    pub fingerprint: ExpectedFingerprint,
    pub stubs: Stubs,
    pub metadata: Metadata,
    /// Over all of its files.
    pub input_sha256: String,
}

impl Case {
    /// Reads a case's folder. Fails with [`Code::Usage`], naming the file.
    pub fn read(dir: &Path) -> Result<Self> {
        let id = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut digests = String::new();
        let mut read = |name: &str, max: u64| {
            let path = dir.join(name);
            let bytes = read_bounded(&path, max)?;
            digests.push_str(&sha256(&bytes));
            Ok::<_, Error>((path, bytes))
        };
        // The digest is over the files' digests in this order.
        let recording = json(&read(RECORDING, MAX_FILE)?)?;
        let second = json(&read(SECOND, MAX_FILE)?)?;
        let right = json(&read(CANDIDATES, MAX_FILE)?)?;
        let draft = json(&read(DRAFT, MAX_FILE)?)?;
        let fingerprint = json(&read(FINGERPRINT, MAX_FILE)?)?;
        let (path, bytes) = read(STUBS, stubs::MAX_FILE)?;
        let stubs = Stubs::parse(&path, &bytes)?;
        let (path, bytes) = read(METADATA, MAX_YAML)?;
        let metadata = parse_yaml(&path, &bytes)?;
        let input_sha256 = sha256(digests.as_bytes());
        Ok(Self { id, recording, second, right, draft, fingerprint, stubs, metadata, input_sha256 })
    }
}

/// Names of the case folders, sorted: those with a recording. Fails with [`Code::Usage`] when there is none.
pub fn names(dir: &Path) -> Result<Vec<String>> {
    let usage = |why: &str| {
        Error::new(Code::Usage, format!("{} {why}", dir.display()))
            .hint("a corpus is a folder of case folders, or HAR files with `cases.jsonl`")
    };
    let entries = std::fs::read_dir(dir).map_err(|err| usage("cannot be read").source(err))?;
    let mut out: Vec<String> = entries
        .filter_map(std::result::Result::ok)
        .filter(|it| it.path().join(RECORDING).is_file())
        .filter_map(|it| it.file_name().into_string().ok())
        .collect();
    out.sort_unstable();
    if out.is_empty() { Err(usage("holds no case")) } else { Ok(out) }
}

fn json<T: DeserializeOwned>((path, bytes): &(PathBuf, Vec<u8>)) -> Result<T> {
    serde_json::from_slice(bytes)
        .map_err(|err| Error::new(Code::Usage, format!("{}: {err}", path.display())))
}

/// Reads YAML within bounds. Fails with [`Code::Usage`].
pub fn yaml<T: DeserializeOwned>(path: &Path) -> Result<T> {
    parse_yaml(path, &read_bounded(path, MAX_YAML)?)
}

fn parse_yaml<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_nodes: 100_000, max_depth: 16, max_aliases: 0, max_anchors: 0 }
    };
    serde_saphyr::from_str_with_options(&String::from_utf8_lossy(bytes), options)
        .map_err(|err| Error::new(Code::Usage, format!("{}: {err}", path.display())))
}
