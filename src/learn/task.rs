//! One thing to learn, checked and complete: what a manifest entry or the flags of `recipe learn` come to.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{page_address::split_address, secrets::TaskSecrets, stage_inputs};
use commis_artifacts::store::json_sha256;
use commis_base::{
    error::{Code, Error, Result},
    files,
    ids::{RecipeName, TaskId, hex},
    settings::Settings,
};
use commis_browser::Step;
use commis_net::egress::EgressPolicy;
use commis_recipe::model::{Recipe, SlotSource};
use commis_stages::verify::Expectation;
use commis_stages::{publish::RecipeInfo, table::Stage};
use commis_vault::LoginName;

pub struct Task {
    pub id: TaskId,
    pub name: RecipeName,
    /// With `{parameter}` where example values go.
    pub sentence: String,
    pub source: Source,
    /// The first is recorded, the second verifies.
    pub examples: Vec<BTreeMap<String, String>>,
    pub expect: Expectation,
    pub category: Option<String>,
    pub requires_auth: bool,
    /// The login of the vault that its pages are opened with, and a second one that must get something else.
    pub logins: Vec<LoginName>,
    /// Its steps are a model's: while they are driven nothing leaves that is not known to read.
    pub reads_only: bool,
    /// What whoever did it gave for an answer, with the first example.
    pub answer: Option<String>,
    pub timeout: Duration,
    /// Values that `examples` and steps only have something standing for.
    pub secrets: TaskSecrets,
}

/// Where the recording comes from.
pub enum Source {
    Live {
        url: String,
        steps: Vec<Step>,
        /// A person does it in a window, once; what is repeated are the steps that are found in that recording.
        by_hand: bool,
    },
    Har {
        /// Read again when it is imported: a batch of large files is not held in memory. Empty where the file was handed over.
        path: PathBuf,
        sha256: String,
        /// The file, where it was handed over: it is on disk nowhere, and gone once its recording is there.
        content: Option<Arc<[u8]>>,
    },
}

impl Source {
    /// A page and what is done there, with {name} for a value. Without steps, values that stand in the address become parameters in it:
    /// the page is opened without them first, as a person would open it.
    ///
    /// Fails with [`Code::Usage`] where nothing is done on the page and the address lacks a value: a second example of it would do
    /// the same as the first.
    pub fn page(url: String, steps: Vec<Step>, values: &BTreeMap<String, String>) -> Result<Self> {
        if !steps.is_empty() {
            return Ok(Self::Live { url, steps, by_hand: false });
        }
        let mut placed: BTreeSet<String> =
            values.keys().filter(|it| url.contains(&format!("{{{it}}}"))).cloned().collect();
        let found = split_address(&url, values, &mut placed);
        if let Some(name) = values.keys().find(|it| !placed.contains(*it)) {
            return Err(value_without_place(name));
        }
        let (url, steps) = match found {
            Some((start, opened)) => (start, vec![Step::Navigate(opened)]),
            None => (url, steps),
        };
        Ok(Self::Live { url, steps, by_hand: false })
    }

    /// Reads the file to know its hash. Fails with [`Code::Usage`] when it cannot be read or is larger than 256 MiB.
    pub fn har(path: PathBuf) -> Result<Self> {
        let sha256 = digest_bounded(&path, MAX_HAR)?;
        Ok(Self::Har { path, sha256, content: None })
    }

    /// A HAR that is in memory alone. Only its redacted recording is written to disk.
    pub fn har_content(bytes: Arc<[u8]>) -> Self {
        let sha256 = hex(&Sha256::digest(&bytes));
        Self::Har { path: PathBuf::new(), sha256, content: Some(bytes) }
    }
}

fn value_without_place(name: &str) -> Error {
    Error::new(Code::Usage, format!("nothing says where the value of `{name}` goes"))
        .hint(format!("write {{{name}}} in the address, or give steps that type it: `commis recipe steps URL` lists what the page has, ready to paste"))
}

/// SHA-256 of a user's own file, which is not held. Fails as [`files::read_bounded`].
fn digest_bounded(path: &Path, max: u64) -> Result<String> {
    use std::io::Read as _;
    let shown = path.display();
    let mut file = files::open(path)?;
    let (mut hash, mut len, mut bytes) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        let n = file.read(&mut bytes).map_err(|err| {
            Error::new(Code::Usage, format!("cannot read {shown}"))
                .hint("give the name of a readable file")
                .source(err)
        })?;
        if n == 0 {
            return Ok(hex(&hash.finalize()));
        }
        len += n as u64;
        if len > max {
            return Err(Error::new(Code::Usage, format!("{shown} is larger than {max} bytes"))
                .hint("export the HAR of fewer pages"));
        }
        hash.update(&bytes[..n]);
    }
}

/// As the importer's own bound.
pub const MAX_HAR: u64 = 256 * 1024 * 1024;

impl Task {
    /// One of no manifest, about which nothing else is said; a step of it may take half a minute.
    pub fn new(
        name: RecipeName,
        sentence: String,
        source: Source,
        examples: Vec<BTreeMap<String, String>>,
    ) -> Self {
        Self {
            id: TaskId::new("", &name),
            name,
            sentence,
            source,
            examples,
            expect: Expectation::default(),
            category: None,
            requires_auth: false,
            logins: Vec::new(),
            reads_only: false,
            answer: None,
            timeout: Duration::from_secs(30),
            secrets: TaskSecrets::default(),
        }
    }

    /// What an example gives, its secrets left out: they are no parameters of a recipe.
    pub fn example(&self, i: usize) -> BTreeMap<String, String> {
        let mut out = self.examples.get(i).cloned().unwrap_or_default();
        out.retain(|_, value| !self.secrets.holds(value));
        out
    }

    /// The same with its secrets, to be typed. Fails with the codes of [`TaskSecrets::value`].
    pub fn example_with_secrets(&self, i: usize) -> Result<BTreeMap<String, String>> {
        let mut out = self.examples.get(i).cloned().unwrap_or_default();
        for value in out.values_mut() {
            if let Some(secret) = self.secrets.value(value)? {
                secret.as_str().clone_into(value);
            }
        }
        Ok(out)
    }

    /// Finds the variables that its values name.
    pub fn name_variables(&mut self) {
        let steps = match &self.source {
            Source::Live { steps, .. } => steps.as_slice(),
            Source::Har { .. } => &[],
        };
        let typed = steps.iter().filter_map(Step::value);
        let given = self.examples.iter().flat_map(BTreeMap::values).map(String::as_str);
        for it in given.chain(typed) {
            self.secrets.name(it);
        }
    }

    pub fn about(&self) -> RecipeInfo<'_> {
        RecipeInfo {
            name: &self.name,
            sentence: &self.sentence,
            category: self.category.as_deref(),
            expect: &self.expect,
        }
    }

    pub fn is_by_hand(&self) -> bool {
        matches!(self.source, Source::Live { by_hand: true, .. })
    }

    /// The host that a live recording opens first.
    pub fn host(&self) -> Option<String> {
        let Source::Live { url, .. } = &self.source else { return None };
        url::Url::parse(url).ok()?.host_str().map(str::to_owned)
    }

    /// The host of the user's own that the task is at. Which page they had opened is their word; a HAR is not.
    pub fn own_host(&self, policy: &EgressPolicy, opened: &str) -> Option<String> {
        matches!(self.source, Source::Live { .. }).then(|| policy.find_own_host(opened))?
    }

    /// The same of a recipe that came of it. What a page of one's own shows may be a public host's answer: that is a recipe
    /// like any other.
    pub fn own_host_of(&self, recipe: &Recipe, policy: &EgressPolicy) -> Option<String> {
        let asked = self.own_host(policy, &recipe.request.url);
        let fetched = |own: &String| {
            recipe.slots.iter().all(|it| match &it.from {
                SlotSource::Document { url, .. } | SlotSource::Response { url, .. } => {
                    self.own_host(policy, url).as_ref() == Some(own)
                }
                _ => true,
            })
        };
        self.own_host(policy, &recipe.source_url)
            .filter(|it| asked.as_ref() == Some(it) && fetched(it))
    }

    /// Why nothing is replayed of a HAR that was recorded there.
    pub fn nothing_sent(&self, policy: &EgressPolicy, page: &str) -> Option<String> {
        let own =
            policy.find_own_host(page).filter(|_| matches!(self.source, Source::Har { .. }))?;
        Some(format!(
            "the HAR is of {own}, a host of your own, where nothing is sent for a file: learn from its page, with --url or --manual"
        ))
    }

    /// The task sentence for a person: this example's values filled in, and what stands for its secrets.
    pub fn filled_sentence(&self, example: usize) -> String {
        match self.examples.get(example) {
            Some(values) => fill(&self.sentence, values),
            None => self.sentence.clone(),
        }
    }

    /// Everything besides upstream artifacts that a stage's output depends on (`pipeline.md`, "What depends on what"). Without
    /// secrets, because a digest of it is stored.
    pub fn question(&self, stage: Stage, settings: &Settings) -> Value {
        let recorded = |example: usize| {
            let source = match &self.source {
                Source::Live { url, by_hand: true, .. } => json!({"by_hand": url}),
                Source::Live { url, steps, .. } => json!({"url": url, "steps": steps}),
                Source::Har { sha256, .. } => json!({"har": sha256}),
            };
            let given = self.examples.get(example).cloned().unwrap_or_default();
            let mut out = json!({
                "task": self.sentence, "source": source, "example": given,
                "allow": settings.redact.allow,
            });
            if matches!(self.source, Source::Har { .. }) && renders_har(settings) {
                out["rendered"] = true.into();
            }
            if self.secrets.in_text {
                stage_inputs::redact(&mut out);
            }
            if let Some(it) = self.logins.first() {
                out["login"] = it.as_str().into();
            }
            if let Some(it) = self.answer.as_ref().filter(|_| example == 0) {
                out["answer"] = commis_redact::redact_written(it).into();
            }
            out
        };
        match stage {
            Stage::Record => recorded(0),
            Stage::RecordSecond => {
                let mut out = json!({"second": self.examples.len() > 1, "of": recorded(1)});
                if let Some(it) = self.logins.get(1) {
                    out["second_login"] = it.as_str().into();
                }
                out
            }
            Stage::Verify => {
                let mut out = json!({
                    "min_items": self.expect.min_items, "paths": self.expect.required_paths,
                    "offline": settings.egress.no_network,
                });
                if !self.logins.is_empty() {
                    out["logins"] = self.logins.iter().map(LoginName::as_str).collect();
                }
                if !self.expect.further.is_empty() {
                    out["further"] = json!(self.expect.further);
                }
                out
            }
            _ => settings_question(stage, settings).unwrap_or_default(),
        }
    }

    /// Digest of [`stage_inputs`](Self::question).
    pub fn settings_sha256(&self, stage: Stage, settings: &Settings) -> String {
        json_sha256(&self.question(stage, settings))
    }
}

/// Whether the page of a HAR is opened again. Offline nothing is verified, so nothing is held to the page, and a browser would
/// cost more than all the rest.
pub fn renders_har(settings: &Settings) -> bool {
    settings.learning.render_har && !settings.egress.no_network
}

/// The same for the stages that depend on settings alone; `None` where the manifest entry counts too.
pub fn settings_question(stage: Stage, settings: &Settings) -> Option<Value> {
    Some(match stage {
        Stage::Record | Stage::RecordSecond | Stage::Verify => return None,
        Stage::Rank => json!(settings.ranking.weights),
        Stage::Consult => consulted(settings),
        Stage::Analyze => json!(settings.decision),
        Stage::Validate => json!({"offline": settings.egress.no_network}),
        Stage::Minimize => {
            json!({"replays": settings.learning.max_replays, "offline": settings.egress.no_network})
        }
        Stage::Summarize | Stage::Baseline | Stage::Parameterize => Value::Null,
    })
}

/// Digest of [`settings_question`].
pub fn settings_only(stage: Stage, settings: &Settings) -> Option<String> {
    settings_question(stage, settings).map(|it| json_sha256(&it))
}

/// Without a model nobody is asked, whatever the thresholds; offline neither.
fn consulted(settings: &Settings) -> Value {
    let model = &settings.model;
    match model.provider_and_name() {
        Some((provider, name)) if !settings.egress.no_network => json!({
            "provider": provider, "name": name, "endpoint": model.endpoint,
            "max_tokens": model.max_tokens, "decision": settings.decision,
        }),
        _ => Value::Null,
    }
}

/// Replaces `{name}` by its value; an unknown name stays as it is.
pub fn fill(text: &str, values: &BTreeMap<String, String>) -> String {
    values
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}
