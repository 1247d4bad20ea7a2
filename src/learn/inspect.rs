//! A recipe looked over without sending anything: what a run would refuse, and what makes it less safe or less useful.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::render;
use commis_base::{
    error::{Class, Error},
    settings::{self, Settings},
};
use commis_net::egress::EgressPolicy;
use commis_recipe::{
    auth,
    model::{Recipe, SlotSource, Status},
    request::CompiledRequest,
    shape,
    steps::Choose,
    template::Template,
};

/// One thing that is wrong, or doubtful.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// An error code, or what a warning is about.
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Inspection {
    /// What a run would refuse.
    pub errors: Vec<Finding>,
    pub warnings: Vec<Finding>,
}

/// What is wrong with the recipe, as opposed to with asking about it.
pub fn is_finding(err: &Error) -> bool {
    use commis_base::error::Code::{MethodNotAllowed, RecipeInvalid};
    matches!(err.code(), RecipeInvalid | MethodNotAllowed)
}

impl Finding {
    pub fn from_error(err: &Error) -> Self {
        debug_assert!(err.code().class() != Class::Bug, "{err}");
        Self {
            code: err.code().as_str().to_owned(),
            message: err.to_string(),
            hint: err.hint_text().map(str::to_owned),
        }
    }
}

/// What is wrong with a recipe, and what is doubtful; with values, also of the request that they make.
pub fn inspect(
    recipe: &Recipe,
    params: &BTreeMap<String, String>,
    policy: &EgressPolicy,
    settings: &Settings,
) -> Inspection {
    let tried = commis_runner::compile(recipe)
        .and_then(|compiled| match &recipe.auth {
            Some(key) => auth::check_auth_host(key, compiled.host(), &settings.auth),
            None => Ok(()),
        })
        .and_then(|()| {
            policy.for_own_host(recipe.own_host.as_deref()).judge(&recipe.source_url).map(drop)
        })
        .and_then(|()| match (params.is_empty(), recipe.example()) {
            (true, None) => Ok(()),
            (true, Some(examples)) => render(recipe, &examples, policy, settings).map(drop),
            (false, _) => render(recipe, params, policy, settings).map(drop),
        });
    Inspection {
        errors: tried.err().iter().map(Finding::from_error).collect(),
        warnings: doubts(recipe),
    }
}

fn doubts(recipe: &Recipe) -> Vec<Finding> {
    let mut out = Vec::new();
    let mut doubt = |code: &str, message: String, hint: &str| {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        out.push(Finding { code: code.to_owned(), message, hint });
    };
    let used = names(recipe);
    for it in &recipe.parameters {
        let name = &it.name;
        if !used.contains(name) {
            doubt("unused_parameter", format!("parameter `{name}` is used nowhere"), "remove it");
        }
        let distinct: BTreeSet<&String> = it.examples.iter().collect();
        if it.required && distinct.len() < 2 {
            doubt(
                "few_examples",
                format!("parameter `{name}` has {} distinct examples", distinct.len()),
                "two let `recipe verify` prove that it has an effect",
            );
        }
    }
    for it in &recipe.slots {
        if !used.contains(&it.name) {
            doubt("unused_slot", format!("slot `{}` is used nowhere", it.name), "remove it");
        }
    }
    let needed = needed_hosts(recipe);
    let domains = recipe.requests().flat_map(|it| &it.allowed_domains);
    for it in domains.filter(|it| !needed.contains(*it)) {
        doubt(
            "wide_domains",
            format!("allowed_domains holds `{it}`, which neither request nor slots name"),
            "keep it only if the site redirects there",
        );
    }
    if recipe.requests().any(|it| it.url.starts_with("http://")) {
        doubt("plain_http", "the request is sent unencrypted".to_owned(), "");
    }
    if let Some(it) = &recipe.auth {
        if settings::secret(&it.env).is_none() {
            doubt("no_key", format!("${} is not set here", it.env), "set it before it runs");
        }
        if let Some(it) = recipe.requests().find(|it| it.method != "GET") {
            doubt(
                "key_may_change",
                format!("it sends a {} with your key", it.method),
                "make sure that it only reads",
            );
        }
    }
    let response = &recipe.response;
    if response.min_items.is_none()
        && response.required_paths.is_empty()
        && recipe.verification.is_none()
    {
        doubt(
            "nothing_required",
            "any answer that parses counts as good".to_owned(),
            "give response.required_paths or min_items",
        );
    }
    if recipe.status != Status::Verified {
        doubt(
            "not_verified",
            format!("it is {}", recipe.status.as_str()),
            "`commis recipe verify` proves it on its examples",
        );
    }
    if let Some(it) = &recipe.verification
        && !it.shape.is_empty()
        && it.fingerprint_sha256 != shape::fingerprint(&it.shape)
    {
        doubt(
            "fingerprint_mismatch",
            "verification.shape is not what the fingerprint was taken of".to_owned(),
            "the proof was edited; verify it again",
        );
    }
    out
}

/// Names that its requests use, and what items are chosen by.
fn names(recipe: &Recipe) -> BTreeSet<String> {
    let of_request = |it| {
        CompiledRequest::new(it)
            .map(|it| it.names().into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let mut out: BTreeSet<String> =
        recipe.requests().filter_map(|it| of_request(it).ok()).flatten().collect();
    for step in recipe.steps_before() {
        let Some(Choose::Where(all)) = &step.choose else { continue };
        let texts = all.values().filter_map(|it| Template::parse(it.as_str()?).ok());
        out.extend(texts.flat_map(|it| it.names().map(str::to_owned).collect::<Vec<_>>()));
    }
    out
}

/// Hosts of the requests and of what its slots fetch.
fn needed_hosts(recipe: &Recipe) -> BTreeSet<String> {
    let slots = recipe.slots.iter().filter_map(|it| match &it.from {
        SlotSource::Document { url, .. } | SlotSource::Response { url, .. } => Some(url.as_str()),
        _ => None,
    });
    recipe
        .requests()
        .map(|it| it.url.as_str())
        .chain(slots)
        .filter_map(|it| {
            // A template may stand in the path, never in the host.
            let end = it.find("://").map_or(0, |at| at + 3);
            let host = it[end..].split('/').next()?;
            let host = url::Url::parse(&format!("http://{host}/")).ok()?.host_str()?.to_owned();
            Some(host)
        })
        .collect()
}
