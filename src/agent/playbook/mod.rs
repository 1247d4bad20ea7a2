//! Playbooks: how a task is done at a site and how one sees that it was, as data that people write and no program of theirs.
//!
//! A playbook holds words, addresses and globs, never code, and says what may happen at most: what it names as a change is still
//! put to a person. What is absent on purpose: steps. A task whose steps are known is a recipe's.

mod check;
mod condition;
mod glob;
mod money;
mod registry;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use url::Url;

#[cfg(test)]
pub use self::check::parse;
use self::condition::FoldedPage;
pub use self::{
    condition::Condition,
    money::Money,
    registry::{Entry, Source, all, load},
};
use super::{Action, PageView};
use commis_base::{
    error::{Code, Error, Result},
    ids::{RecipeName, hex},
};
use commis_recipe::template::{Filter, Template};

/// Bytes of a value.
const MAX_VALUE: usize = 200;

/// Version 1 of the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Playbook {
    /// Of the format: 1.
    pub version: u32,
    /// As the file is called.
    pub name: RecipeName,
    /// The task in a sentence, with `{parameter}` where a value goes.
    pub task: String,
    /// Where it begins; values may stand in path and query.
    pub url: String,
    /// What the model is told to reach.
    pub goal: String,
    /// What it is told besides: what the site does to people.
    #[serde(default)]
    pub notes: String,
    /// Hosts that pages may be of. The one of `url` is always among them.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// GETs whose address speaks of a change and which are only pages, as globs over path and query.
    #[serde(default)]
    pub reads: Vec<String>,
    /// What may be changed. Each such request is still shown to a person.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// The greatest amount that may be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
    /// One of these shows that it is done.
    pub success: Vec<Condition>,
    /// One of these shows that it went wrong. They are looked at first.
    #[serde(default)]
    pub failure: Vec<Condition>,
    /// A person is asked before an action for which one of these holds.
    #[serde(default)]
    pub checkpoints: Vec<Condition>,
}

/// A request that changes something, and how often it may be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub method: Method,
    /// A glob over path and query.
    pub path: String,
    /// Where it is sent; absent: to the host of `url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(default = "once")]
    pub most: u32,
}

fn once() -> u32 {
    1
}

/// GET is one of them, for sites where a GET changes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    pub most: Money,
    /// Three capital letters, as ISO 4217 has them.
    pub currency: String,
}

/// How a page stands to a playbook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOutcome<'a> {
    Succeeded(&'a Condition),
    Failed(&'a Condition),
    Neither,
}

impl Method {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

impl Playbook {
    /// Tells one text of it from another: the first 16 hex digits of the digest of what it says.
    pub fn digest(&self) -> String {
        let said = serde_json::to_vec(self).unwrap_or_default();
        hex(&Sha256::digest(&said)[..8])
    }

    /// Failure is looked for first: a page that says both has failed. "Something went wrong, your membership is not cancelled" holds
    /// the words of success as well, and to take a failure for a success is the worse mistake: nobody looks again.
    pub fn outcome(&self, view: &PageView) -> PageOutcome<'_> {
        let page = FoldedPage::new(view);
        if let Some(it) = self.failure.iter().find(|it| it.is_met(&page, None)) {
            return PageOutcome::Failed(it);
        }
        let found = self.success.iter().find(|it| it.is_met(&page, None));
        found.map_or(PageOutcome::Neither, PageOutcome::Succeeded)
    }

    /// Why a person is to be asked before this action.
    pub fn stops(&self, act: &Action, view: &PageView) -> Option<&Condition> {
        let page = FoldedPage::new(view);
        self.checkpoints.iter().find(|it| it.is_met(&page, Some(act)))
    }

    /// Hosts that pages may be of.
    pub fn all_hosts(&self) -> BTreeSet<String> {
        self.hosts.iter().cloned().chain(self.host()).collect()
    }

    /// The one that it begins at; no value reaches it.
    fn host(&self) -> Option<String> {
        check::parsed(&self.url, "x").ok()?.host_str().map(str::to_owned)
    }

    /// Whether a GET of that address, whose words speak of a change, is only a page. One that is named as a change is none.
    pub fn is_page(&self, url: &Url) -> bool {
        let asked = glob_subject(url);
        url.host_str().is_some_and(|it| self.all_hosts().contains(it))
            && self.reads.iter().any(|it| glob::fits(it, &asked))
            && self.change("GET", url).is_none()
    }

    /// The change that a request is, where it is one that may be made.
    pub fn change(&self, method: &str, url: &Url) -> Option<&Change> {
        let (asked, own) = (glob_subject(url), self.host());
        self.changes.iter().find(|it| {
            it.method.as_str() == method
                && url.host_str() == it.host.as_deref().or(own.as_deref())
                && glob::fits(&it.path, &asked)
        })
    }

    /// Names of all values that it needs.
    pub fn parameters(&self) -> BTreeSet<String> {
        let conditions = self.success.iter().chain(&self.failure).chain(&self.checkpoints);
        let words = conditions.flat_map(Condition::fields).flat_map(|it| it.1.all());
        let texts = [&self.task, &self.url, &self.goal].into_iter().chain(words);
        let all = texts.filter_map(|it| Template::parse(it).ok());
        all.flat_map(|it| it.names().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// The same with values where parameters stood: in address, task, goal and conditions. Fails with `PARAM_INVALID` for one that is
    /// missing, unknown, empty, too long, or no text that a person could read.
    pub fn with_values(&self, values: &BTreeMap<String, String>) -> Result<Self> {
        let wanted = self.parameters();
        let wrong = |what: String| Error::new(Code::ParamInvalid, what);
        if let Some(name) = wanted.iter().find(|it| !values.contains_key(*it)) {
            return Err(wrong(format!("playbook `{}` needs a value for `{name}`", self.name))
                .hint(format!("give -p {name}=VALUE")));
        }
        if let Some(name) = values.keys().find(|it| !wanted.contains(*it)) {
            let names: Vec<&str> = wanted.iter().map(String::as_str).collect();
            let hint = if names.is_empty() {
                "it takes none".to_owned()
            } else {
                format!("it takes {}", names.join(", "))
            };
            let name = check::printable(name);
            return Err(
                wrong(format!("playbook `{}` has no parameter `{name}`", self.name)).hint(hint)
            );
        }
        for (name, value) in values {
            if value.trim().is_empty() || value.len() > MAX_VALUE || value.chars().any(acts) {
                return Err(wrong(format!(
                    "the value of `{name}` must be 1 to {MAX_VALUE} bytes of text, without control characters"
                )));
            }
        }
        let value = |name: &str| Ok::<_, Error>(values.get(name).cloned().unwrap_or_default());
        let text = |it: &str| Template::parse(it)?.render(value);
        let list = |all: &[Condition]| -> Result<Vec<Condition>> {
            all.iter().map(|it| it.changed(text)).collect()
        };
        let url = Template::parse(&self.url)?.render_encoded(value, |it| Filter::Url.apply(it))?;
        // A value that is a step up, or nothing, would be another address.
        let depth = |it: &Url| it.path_segments().map_or(0, Iterator::count);
        let meant = check::parsed(&self.url, "x")?;
        let url =
            Url::parse(&url).ok().filter(|it| depth(it) == depth(&meant)).ok_or_else(|| {
                wrong(format!("the values make no address of playbook `{}`", self.name))
            })?;
        Ok(Self {
            task: text(&self.task)?,
            goal: text(&self.goal)?,
            url: url.into(),
            success: list(&self.success)?,
            failure: list(&self.failure)?,
            checkpoints: list(&self.checkpoints)?,
            ..self.clone()
        })
    }
}

/// What globs are held against.
fn glob_subject(url: &Url) -> String {
    let query = url.query().map(|it| format!("?{it}")).unwrap_or_default();
    format!("{}{query}", url.path())
}

/// Characters that act on a terminal, or turn what is read around.
fn acts(it: char) -> bool {
    it.is_control()
        || matches!(it, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The format as JSON Schema.
pub fn schema() -> Value {
    schemars::schema_for!(Playbook).to_value()
}
