//! `commis recipe validate`

use std::{collections::BTreeSet, path::Path};

use serde::Serialize;
use serde_json::json;

use super::{
    Global, dry_run,
    learn::pairs,
    wire::{self, clean},
};
use crate::{
    egress::EgressPolicy,
    error::{Class, Error, Result},
    files::read_bounded,
    ids::RecipeName,
    recipe::{
        auth,
        model::{Recipe, SlotSource, Status},
        registry::Registry,
        request::CompiledRequest,
        yaml,
    },
    runner, settings, shape,
};

/// Check a recipe without sending anything
///
/// Errors are what a run would refuse, warnings what makes it less safe or less useful. With values, the request that they
/// make is checked, too. Exit code 1 when there are errors.
#[derive(clap::Args)]
pub struct Args {
    /// A recipe's name, or a file (with a slash, or ending in .yaml)
    recipe: String,
    /// A parameter of the recipe
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Finding {
    /// An error code, or what a warning is about.
    code: &'static str,
    message: String,
    hint: Option<String>,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    // Started, when asked for, so that its hosts are judged as a run would judge them.
    let place = wire::open(global).await?;
    let params = pairs(&args.param)?;
    let policy = EgressPolicy::new(&place.settings.egress)?;
    let mut errors = Vec::new();
    let mut warnings = Vec::new();
    let recipe = match read(&args.recipe, &Registry::open(&place.home.recipes)) {
        Ok(it) => Some(it),
        Err(err) if is_finding(&err) => {
            errors.push(finding(&err));
            None
        }
        Err(err) => return Err(err),
    };
    if let Some(it) = &recipe {
        let tried = runner::compile(it)
            .and_then(|compiled| match &it.auth {
                Some(key) => auth::allow(key, compiled.host(), &place.settings.auth),
                None => Ok(()),
            })
            .and_then(|()| policy.visiting(it.own_host.as_deref()).judge(&it.source_url).map(drop))
            .and_then(|()| match (params.is_empty(), first_examples(it)) {
                (true, None) => Ok(()),
                (true, Some(examples)) => {
                    dry_run::render(it, &examples, &policy, &place.settings).map(drop)
                }
                (false, _) => dry_run::render(it, &params, &policy, &place.settings).map(drop),
            });
        errors.extend(tried.err().as_ref().map(finding));
        warnings = doubts(it);
    }
    if args.json {
        wire::out(&json!({"valid": errors.is_empty(), "errors": errors, "warnings": warnings}));
    } else {
        for (kind, all) in [("error", &errors), ("warning", &warnings)] {
            for it in all {
                wire::line(&clean(&format!("{kind}: {} [{}]", it.message, it.code)));
                if let Some(hint) = &it.hint {
                    wire::line(&clean(&format!("  hint: {hint}")));
                }
            }
        }
        if errors.is_empty() {
            wire::line(&format!("{}: valid, {} warnings", clean(&args.recipe), warnings.len()));
        }
    }
    Ok(u8::from(!errors.is_empty()))
}

fn read(what: &str, registry: &Registry) -> Result<Recipe> {
    let is_file = what.contains('/') || Path::new(what).extension().is_some_and(|it| it == "yaml");
    if !is_file {
        return Ok(registry.get(&RecipeName::new(what)?)?.recipe);
    }
    let bytes = read_bounded(Path::new(what), yaml::MAX_LEN as u64)?;
    yaml::parse(&String::from_utf8_lossy(&bytes))
}

/// What is wrong with the recipe, as opposed to with asking about it.
fn is_finding(err: &Error) -> bool {
    use crate::error::Code::{MethodNotAllowed, RecipeInvalid};
    matches!(err.code(), RecipeInvalid | MethodNotAllowed)
}

fn finding(err: &Error) -> Finding {
    debug_assert!(err.code().class() != Class::Bug, "{err}");
    Finding {
        code: err.code().as_str(),
        message: err.to_string(),
        hint: err.hint_text().map(str::to_owned),
    }
}

/// The first example of every required parameter, where each has one.
fn first_examples(recipe: &Recipe) -> Option<std::collections::BTreeMap<String, String>> {
    recipe
        .parameters
        .iter()
        .filter(|it| it.required && it.default.is_none())
        .map(|it| Some((it.name.clone(), it.examples.first()?.clone())))
        .collect()
}

fn doubts(recipe: &Recipe) -> Vec<Finding> {
    let mut out = Vec::new();
    let mut doubt = |code, message: String, hint: &str| {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        out.push(Finding { code, message, hint });
    };
    let used: BTreeSet<String> = CompiledRequest::new(&recipe.request)
        .map(|it| it.names().into_iter().map(str::to_owned).collect())
        .unwrap_or_default();
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
    for it in recipe.request.allowed_domains.iter().filter(|it| !needed.contains(*it)) {
        doubt(
            "wide_domains",
            format!("allowed_domains holds `{it}`, which neither request nor slots name"),
            "keep it only if the site redirects there",
        );
    }
    if recipe.request.url.starts_with("http://") {
        doubt("plain_http", "the request is sent unencrypted".to_owned(), "");
    }
    if let Some(it) = &recipe.auth {
        if settings::secret(&it.env).is_none() {
            doubt("no_key", format!("${} is not set here", it.env), "set it before it runs");
        }
        if recipe.request.method != "GET" {
            doubt(
                "key_may_change",
                format!("it sends a {} with your key", recipe.request.method),
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

/// Hosts of the request and of what its slots fetch.
pub fn needed_hosts(recipe: &Recipe) -> BTreeSet<String> {
    let slots = recipe.slots.iter().filter_map(|it| match &it.from {
        SlotSource::Document { url, .. } | SlotSource::Response { url, .. } => Some(url.as_str()),
        _ => None,
    });
    std::iter::once(recipe.request.url.as_str())
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
