//! Requests that others described, as drafts of recipes: what is not known to work yet, until `recipe verify` proves it.
//!
//! A file is a stranger's: its size, its depth and what it counts are bounded, nothing outside of it is read, and each draft
//! passes the checks that every recipe passes. What cannot be a draft is told by name, with the reason.

mod hurl;
mod openapi;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use url::Url;

pub use self::{hurl::read as from_hurl, openapi::read as from_openapi};
use commis_base::{error::Result, ids::RecipeName};
use commis_recipe::{
    check::check,
    model::{
        Auth, BodyTemplate, Constraints, LANGUAGE, Pair, ParamSource, ParamType, Parameter, Recipe,
        RequestTemplate, ResponseSpec, ResponseType, Status,
    },
    template::{escape, is_name},
    trust::Trust,
    values,
};

/// Bytes of a file.
pub const MAX_FILE: usize = 8 * 1024 * 1024;
/// Drafts of one file.
const MAX_DRAFTS: usize = 200;
/// Of one parameter.
const MAX_EXAMPLES: usize = 4;
const MAX_TASK: usize = 200;

/// What a file held.
#[derive(Debug, Default, Serialize)]
pub struct ImportResult {
    pub drafts: Vec<Draft>,
    pub refused: Vec<RejectedEntry>,
}

#[derive(Debug, Serialize)]
pub struct Draft {
    pub recipe: Recipe,
    /// What was left out, and what it lacks to be verified.
    pub notes: Vec<String>,
}

/// What could not be a draft.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct RejectedEntry {
    /// As the file calls it, in a line.
    pub name: String,
    pub why: String,
}

impl ImportResult {
    fn refuse(&mut self, name: &str, why: impl Into<String>) {
        self.refused.push(RejectedEntry { name: super::escaping::comment(name), why: why.into() });
    }

    /// Takes a draft, checked as every recipe is, under a name that no other draft of the file has.
    fn add_draft(&mut self, made: std::result::Result<DraftBuilder, String>, shown: &str) {
        let made = match made {
            Ok(it) => it,
            Err(why) => return self.refuse(shown, why),
        };
        if self.drafts.len() >= MAX_DRAFTS {
            return self.refuse(shown, format!("a file gives at most {MAX_DRAFTS} drafts"));
        }
        match made.finish(&self.drafts) {
            Ok(it) => self.drafts.push(it),
            Err(err) => {
                let hint = err.hint_text().map_or(String::new(), |it| format!("; {it}"));
                self.refuse(shown, format!("{}{hint}", err.message()));
            }
        }
    }
}

/// A draft while it is read.
#[derive(Debug)]
struct DraftBuilder {
    name: RecipeName,
    task: String,
    /// Scheme, host and path as a template.
    url: String,
    source_url: Option<String>,
    method: String,
    parameters: Vec<Parameter>,
    query: Vec<Pair>,
    headers: BTreeMap<String, String>,
    body: Option<BodyTemplate>,
    auth: Option<Auth>,
    response: ResponseSpec,
    notes: Vec<String>,
}

impl DraftBuilder {
    fn new(name: RecipeName, method: &str, url: String) -> Self {
        Self {
            name,
            task: String::new(),
            url,
            source_url: None,
            method: method.to_owned(),
            parameters: Vec::new(),
            query: Vec::new(),
            headers: BTreeMap::new(),
            body: None,
            auth: None,
            response: ResponseSpec::new(ResponseType::Json),
            notes: Vec::new(),
        }
    }

    /// A parameter, under a name that is free; returns it as a template has it. A name that is there with the same values
    /// stands for both.
    fn parameter(
        &mut self,
        wanted: &str,
        kind: ParamType,
        limits: Constraints,
        given: ParameterValues,
    ) -> String {
        let bare = parameter_name(wanted);
        let mut name = bare.clone();
        let mut nth = 1;
        let mut out = Parameter {
            name: String::new(),
            kind,
            required: given.required,
            source: ParamSource::TaskInput,
            default: None,
            constraints: limits,
            examples: Vec::new(),
        };
        let fits = |it: &Parameter, text: &str| values::coerce(it, text).is_ok();
        out.default = given.default.filter(|it| fits(&out, it));
        for it in given.examples {
            if fits(&out, &it) && !out.examples.contains(&it) && out.examples.len() < MAX_EXAMPLES {
                out.examples.push(it);
            }
        }
        loop {
            out.name.clone_from(&name);
            match self.parameters.iter().find(|it| it.name == name) {
                Some(it) if it.examples == out.examples && it.kind == out.kind => break,
                Some(_) => {
                    nth += 1;
                    name = format!("{bare}_{nth}");
                }
                None => {
                    let lacks = match out.examples.len() {
                        0 => Some("no example: it cannot be verified until you write two"),
                        1 => Some("one example: verifying wants a second, other one"),
                        _ => None,
                    };
                    if out.required
                        && out.default.is_none()
                        && let Some(lacks) = lacks
                    {
                        self.notes.push(format!("`{name}` has {lacks}"));
                    }
                    self.parameters.push(out);
                    break;
                }
            }
        }
        format!("{{{name}}}")
    }

    /// Fails as `check` does.
    fn finish(self, others: &[Draft]) -> Result<Draft> {
        let mut name = self.name.clone();
        let mut nth = 1;
        while others.iter().any(|it| it.recipe.name == name) {
            nth += 1;
            let short: String = self.name.as_str().chars().take(58).collect();
            name = RecipeName::new(format!("{}-{nth}", short.trim_end_matches('-')))?;
        }
        let place = Url::parse(&self.url.replace(['{', '}'], "")).ok();
        let host = place.as_ref().and_then(Url::host_str).unwrap_or_default().to_owned();
        let root =
            place.map_or_else(String::new, |it| format!("{}/", it.origin().ascii_serialization()));
        let task = super::escaping::comment(&self.task.replace(['{', '}'], ""));
        let task: String = task.chars().take(MAX_TASK).collect();
        let recipe = Recipe {
            version: LANGUAGE,
            task: if task.is_empty() { name.as_str().replace('-', " ") } else { task },
            name,
            category: None,
            status: Status::Draft,
            source_url: self.source_url.unwrap_or(root),
            own_host: None,
            parameters: self.parameters,
            request: RequestTemplate {
                method: self.method,
                url: self.url,
                query: self.query,
                headers: self.headers,
                body: self.body,
                host: None,
                address: None,
                charset: None,
                allowed_domains: vec![host],
                allowed_sites: Vec::new(),
            },
            slots: Vec::new(),
            login: None,
            auth: self.auth,
            response: self.response,
            pages: None,
            chain: None,
            verification: None,
            refused: None,
            demotion: None,
            trust: Trust::Unknown,
        };
        check(&recipe)?;
        Ok(Draft { recipe, notes: self.notes })
    }
}

/// Values that a file gives for a parameter.
#[derive(Default)]
struct ParameterValues {
    required: bool,
    default: Option<String>,
    examples: Vec<String>,
}

/// The nearest name of a parameter.
fn parameter_name(text: &str) -> String {
    let mut out = String::new();
    for it in text.chars() {
        if it.is_ascii_alphanumeric() {
            out.push(it.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        if out.len() >= 36 {
            break;
        }
    }
    let out = out.trim_end_matches('_').to_owned();
    if is_name(&out) {
        return out;
    }
    let led = format!("p_{out}");
    if is_name(&led) { led } else { "value".to_owned() }
}

fn pair(name: &str, value: String) -> Pair {
    Pair { name: name.to_owned(), value, raw: String::new() }
}

/// A scalar of JSON as it is sent.
fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(it) => Some(it.clone()),
        Value::Number(it) => Some(it.to_string()),
        Value::Bool(it) => Some(it.to_string()),
        _ => None,
    }
}

/// A literal as a template's text.
fn literal(value: &Value) -> Option<String> {
    scalar_text(value).map(|it| escape(&it))
}

#[cfg(test)]
mod tests;
