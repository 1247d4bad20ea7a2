//! `commis recipe dry-run`

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    Global,
    context::{self, clean},
    learn_args::pairs,
    names,
};
use commis_base::{error::Result, ids::RecipeName};
use commis_learn::{RenderedRequest, render};
use commis_net::egress::EgressPolicy;

/// Show the request that a run would send, without sending anything
///
/// A value that a run would fetch is shown as <from …>, a key as [from $VARIABLE]; the variable is not read. The egress policy
/// checks the form of the URL; names are not resolved.
///
/// For a recipe with several requests it shows each one; a value of an earlier step is <from step NAME: FIELD>.
///
/// With --json: {steps, method, url, body, headers, allowed_domains, requires_session, login}; `login` is the site of the login whose cookies go along.
#[derive(clap::Args)]
pub struct Args {
    /// The recipe's name: `commis list` has them
    #[arg(add = names::recipes())]
    name: String,
    /// A parameter of the recipe
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DryRunReport {
    #[serde(flatten)]
    shown: RenderedRequest,
    allowed_domains: Vec<String>,
    requires_session: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    login: Option<String>,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    // Started, when asked for, so that its hosts are judged as a run would judge them.
    let place = context::open(global).await?;
    let recipe = context::registry(&place.home)?.get(&RecipeName::new(args.name)?)?.recipe;
    let params = pairs(&args.param)?;
    commis_runner::compile(&recipe)?;
    let policy = EgressPolicy::new(&place.settings.egress)?;
    let shown = render(&recipe, &params, &policy, &place.settings)?;
    if args.json {
        let mut allowed_domains: Vec<String> = Vec::new();
        for it in recipe.requests().flat_map(|it| &it.allowed_domains) {
            if !allowed_domains.contains(it) {
                allowed_domains.push(it.clone());
            }
        }
        context::out(&DryRunReport {
            shown,
            requires_session: recipe.transport().uses_session(),
            login: recipe.login.map(|it| it.site),
            allowed_domains,
        });
        return Ok(0);
    }
    for it in &shown.steps {
        context::line(&clean(&format!("step {}: {} {}", it.name, it.method, it.url)));
        headers(&it.headers);
        if let Some(body) = &it.body {
            context::line(&clean(&format!("  {body}")));
        }
        if let Some(chooses) = &it.chooses {
            context::line(&clean(&format!("  takes {chooses}")));
        }
        context::line("");
    }
    context::line(&clean(&format!("{} {}", shown.method, shown.url)));
    headers(&shown.headers);
    if let Some(it) = &recipe.login {
        context::line(&clean(&format!("cookie: <from a login of {}>", it.site)));
    }
    if let Some(body) = &shown.body {
        context::line("");
        context::line(&clean(body));
    }
    Ok(0)
}

fn headers(all: &BTreeMap<String, String>) {
    for (name, value) in all {
        context::line(&clean(&format!("{name}: {value}")));
    }
}
