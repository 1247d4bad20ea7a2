//! Recipes in the forms of others: what a program that knows nothing of commis can send, read or import; and back.
//!
//! Pure: recipes in, files out. A form says by name which recipe it cannot hold, and why; it never leaves something out in
//! silence. No secret and no cookie is in any of them: a key stands as the name of its variable. Every text of a recipe is
//! a stranger's, so whatever goes into code goes through `text`, which keeps it inside its literal or its comment.

mod arazzo;
mod chain;
mod client;
mod curl;
mod curl_words;
pub mod endpoints;
mod escaping;
mod expression;
mod hurl;
mod hurl_steps;
mod hurl_syntax;
pub mod import;
mod openapi;
mod page;
mod postman;
mod python;
mod refusal;
mod resolved_request;
mod shell_steps;
mod tools;
mod typescript;
mod variables;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use refusal::{Refusal, RefusalCode};

use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};
use commis_recipe::{
    auth::placeholder,
    model::{Framing, Recipe, Status},
};

/// What recipes are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum ExportFormat {
    /// OpenAPI 3.1, a document for each origin
    Openapi,
    /// Arazzo 1.0, a workflow each, with an OpenAPI document of its requests
    Arazzo,
    /// A shell command each
    Curl,
    /// A Hurl file each, with what must hold of the answer
    Hurl,
    /// One Python file of typed functions
    Python,
    /// One TypeScript file of typed functions over fetch
    Typescript,
    /// A Postman collection (v2.1)
    Postman,
    /// Function schemas for models, as OpenAI has them
    OpenaiTools,
    /// Tools of the Model Context Protocol
    Mcp,
    /// A skill's folder each
    Skill,
}

impl ExportFormat {
    /// In the order of the command's help.
    pub const ALL: &[Self] = &[
        Self::Openapi,
        Self::Arazzo,
        Self::Curl,
        Self::Hurl,
        Self::Python,
        Self::Typescript,
        Self::Postman,
        Self::OpenaiTools,
        Self::Mcp,
        Self::Skill,
    ];
}

/// A file, by its path within the folder that it is put into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportedFile {
    pub path: String,
    pub text: String,
}

/// A recipe that a form cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedRecipe {
    pub name: RecipeName,
    pub code: RefusalCode,
    pub why: String,
}

/// What became of recipes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExportOutput {
    pub files: Vec<ExportedFile>,
    pub refused: Vec<RefusedRecipe>,
    /// What there is to know of those that were not refused.
    pub notes: Vec<String>,
}

impl ExportOutput {
    fn push(&mut self, path: String, text: String) {
        self.files.push(ExportedFile { path, text });
    }

    fn refuse(&mut self, recipe: &Recipe, it: Refusal) {
        self.refused.push(RefusedRecipe { name: recipe.name.clone(), code: it.code, why: it.why });
    }
}

/// The recipes in that form. `given` are values to stand where a form holds values, in place of the first examples.
///
/// Fails with `RECIPE_INVALID` for a recipe that no registry gives out, and with `PARAM_INVALID` for values that do not fit.
pub fn export(
    recipes: &[Recipe],
    form: ExportFormat,
    given: &BTreeMap<String, String>,
) -> Result<ExportOutput> {
    let known =
        |name: &String| recipes.iter().any(|it| it.parameters.iter().any(|it| it.name == *name));
    if let Some(name) = given.keys().find(|it| !known(it)) {
        let message = format!("no parameter is called `{}`", escaping::comment(name));
        return Err(Error::new(Code::ParamInvalid, message)
            .hint("see the parameters with `commis recipe get NAME`"));
    }
    let mut out = ExportOutput::default();
    let calls_commis =
        matches!(form, ExportFormat::OpenaiTools | ExportFormat::Mcp | ExportFormat::Skill);
    let mut held = Vec::with_capacity(recipes.len());
    let reads = matches!(form, ExportFormat::Python | ExportFormat::Typescript);
    for it in recipes {
        if reads && !is_readable_by_clients(it) {
            let why =
                "its answer is JSON in a form, or XML, that the runtime of this form does not read";
            out.refuse(it, Refusal::new(RefusalCode::UnreadableAnswer, why));
            continue;
        }
        let holds_several = reads
            || calls_commis
            || matches!(form, ExportFormat::Curl | ExportFormat::Hurl | ExportFormat::Arazzo);
        if it.chain.is_some() && !holds_several {
            let why = "it makes several requests, and this form holds one; arazzo, curl, hurl, python and typescript hold more";
            out.refuse(it, Refusal::new(RefusalCode::SeveralRequests, why));
            continue;
        }
        match &it.pages {
            Some(pages) if pages.all && !calls_commis => {
                let why = "its task asks for all items, and this form asks for one page";
                out.refuse(it, Refusal::new(RefusalCode::AllPages, why));
            }
            Some(_) if !calls_commis => {
                out.notes.push(format!("{}: the first page of its list", it.name));
                held.push(it.clone());
            }
            _ => held.push(it.clone()),
        }
    }
    let recipes = &held[..];
    match form {
        ExportFormat::Openapi => openapi::write(recipes, &mut out)?,
        ExportFormat::Arazzo => arazzo::write(recipes, &mut out)?,
        ExportFormat::Curl => curl::write(recipes, given, &mut out)?,
        ExportFormat::Hurl => hurl::write(recipes, given, &mut out)?,
        ExportFormat::Python => python::write(recipes, &mut out)?,
        ExportFormat::Typescript => typescript::write(recipes, &mut out)?,
        ExportFormat::Postman => postman::write(recipes, given, &mut out)?,
        ExportFormat::OpenaiTools => tools::openai(recipes, &mut out),
        ExportFormat::Mcp => tools::mcp(recipes, &mut out),
        ExportFormat::Skill => tools::skill(recipes, &mut out),
    }
    Ok(out)
}

/// Whether the runtimes in `runtime/` know how its answer carries its JSON.
fn is_readable_by_clients(recipe: &Recipe) -> bool {
    let steps = recipe.chain.iter().flat_map(|it| &it.before).map(|it| &it.response);
    steps.chain([&recipe.response]).all(|it| {
        matches!(it.framing, None | Some(Framing::Prefix | Framing::Jsonp | Framing::Lines))
    })
}

/// For people: that it was proven, when, and what answers looked like.
fn proof_line(recipe: &Recipe) -> String {
    let proof = recipe.verification.as_ref();
    match (recipe.status, proof.and_then(|it| it.verified_at.as_deref())) {
        (Status::Verified, Some(at)) => {
            let print = proof.and_then(|it| it.fingerprint_sha256.get(..16)).unwrap_or_default();
            format!("proven {}, fingerprint {}", escaping::comment(at), escaping::comment(print))
        }
        _ => "a draft that was not proven".to_owned(),
    }
}

/// For programs.
fn proof(recipe: &Recipe) -> Value {
    let it = recipe.verification.as_ref();
    json!({
        "status": recipe.status,
        "verified_at": it.and_then(|it| it.verified_at.as_ref()),
        "fingerprint": it.map(|it| &it.fingerprint_sha256),
    })
}

/// The task as a sentence for people, its braces gone.
fn task(recipe: &Recipe) -> String {
    escaping::comment(&recipe.task.replace(['{', '}'], ""))
}

/// A recipe's name where hyphens cannot stand.
fn identifier(name: &RecipeName) -> String {
    name.as_str().replace('-', "_")
}

/// What to know of the key.
fn key_line(recipe: &Recipe) -> Option<String> {
    recipe
        .auth
        .as_ref()
        .map(|it| format!("The key is in ${}; shown elsewhere as {}", it.env, placeholder(it)))
}

#[cfg(test)]
mod tests;
