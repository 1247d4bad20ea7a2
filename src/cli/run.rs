//! `commis recipe run`

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{Global, learn::pairs, wire};
use crate::{
    browser::Context,
    egress::EgressPolicy,
    error::{Code, Error, Result},
    ids::RecipeName,
    pipeline::BrowserPool,
    recipe::{
        model::{Recipe, SlotSource, Status, TransportKind},
        registry::Registry,
    },
    runner::{self, RecipeRunResult},
    settings::BrowserSettings,
    transport::public_http::PublicHttp,
};

/// Run a recipe and print its data as JSON
///
/// Data goes to stdout, how long it took to stderr. With --json the whole result is printed: data, error code, transport,
/// redirects, and where the time went.
///
/// Example: commis recipe run shop-search -p query=lantern
#[derive(clap::Args)]
pub struct Args {
    name: String,
    /// A parameter of the recipe
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Run a recipe that was never verified
    #[arg(long)]
    draft: bool,
    /// Print the whole result as JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let params = pairs(&args.param)?;
    let name = RecipeName::new(args.name)?;
    let place = wire::open(global).await?;
    let held = Registry::open(&place.home.recipes).get(&name)?;
    if held.shadows {
        wire::say(&format!("info: your own {name} stands before the library's"));
    }
    let recipe = held.recipe;
    match recipe.status {
        Status::Verified => {}
        Status::Draft if args.draft => {}
        status => {
            return Err(Error::new(
                Code::RecipeNotVerified,
                format!("{name} is {}", status.as_str()),
            )
            .hint(if status == Status::Draft {
                format!("--draft runs it all the same; `commis recipe verify {name}` proves it on its examples")
            } else {
                "learn it again".to_owned()
            }));
        }
    }
    let compiled = runner::compile(&recipe)?;
    let policy = Arc::new(EgressPolicy::new(&place.settings.egress)?);
    let http = PublicHttp::new(Arc::clone(&policy))?;
    let result = call(&recipe, &compiled, &params, &http, policy, &place.settings.browser).await?;
    print(&result, &recipe, args.json);
    Ok(match result.error_code {
        None => 0,
        Some(code) => {
            Code::ALL.iter().find(|it| it.as_str() == code).map_or(1, |it| it.class().exit_code())
        }
    })
}

/// One call, by the client alone or in a session, as the recipe wants it.
pub async fn call(
    recipe: &Recipe,
    compiled: &runner::Compiled,
    params: &BTreeMap<String, String>,
    http: &PublicHttp,
    policy: Arc<EgressPolicy>,
    browser: &BrowserSettings,
) -> Result<RecipeRunResult> {
    let kind = recipe.transport();
    if kind.in_session() {
        in_session(recipe, kind, compiled, params, policy, browser.clone()).await
    } else {
        Ok(runner::run(compiled, params, &BTreeMap::new(), http).await)
    }
}

/// Opens the source page in a headless browser, takes from it what the call needs, and sends in its session.
async fn in_session(
    recipe: &Recipe,
    kind: TransportKind,
    compiled: &runner::Compiled,
    params: &BTreeMap<String, String>,
    policy: Arc<EgressPolicy>,
    settings: BrowserSettings,
) -> Result<RecipeRunResult> {
    let start = Instant::now();
    let pool = BrowserPool::new(policy, settings);
    let mut context = pool.context().await?;
    let end = async {
        context.open(&recipe.source_url, Duration::from_secs(30)).await?;
        let slots = slots(recipe, &context).await?;
        Ok(runner::run(compiled, params, &slots, &*context.transport(kind)).await)
    }
    .await;
    // It is going away either way.
    let _ = context.dispose().await;
    pool.close().await;
    wire::say(&format!("session: {} ms in a browser", start.elapsed().as_millis()));
    end
}

async fn slots(recipe: &Recipe, context: &Context) -> Result<BTreeMap<String, String>> {
    let mut out = BTreeMap::new();
    for slot in &recipe.slots {
        let (value, what) = match &slot.from {
            SlotSource::Cookie { name } => {
                (context.cookie(name).await?, format!("cookie `{name}`"))
            }
            SlotSource::Meta { name } => (context.meta(name).await?, format!("meta `{name}`")),
            _ => continue,
        };
        let value = value.ok_or_else(|| {
            Error::new(Code::SessionRequired, format!("{} has no {what}", recipe.source_url))
                .hint("the site may ask for a login, or it changed; learn the recipe again")
        })?;
        out.insert(slot.name.clone(), value);
    }
    Ok(out)
}

fn print(result: &RecipeRunResult, recipe: &Recipe, json: bool) {
    if json {
        wire::out(result);
        return;
    }
    if !result.data.is_null() {
        wire::out(&result.data);
    }
    let items = result.items.map_or(String::new(), |it| format!("{it} items in "));
    let browser = recipe.verification.as_ref().and_then(|it| it.browser_ms);
    let browser = browser
        .map_or(String::new(), |it| format!("; the browser took {it} ms when it was learned"));
    match (&result.error, result.error_code) {
        (Some(error), Some(code)) => {
            wire::say(&format!("error: {error} [{code}]"));
            if let Some(hint) = &result.hint {
                wire::say(&format!("  hint: {hint}"));
            }
        }
        _ => wire::say(&format!(
            "{}: {items}{:.1} ms by {}{browser}",
            recipe.name,
            result.timings_ms.total,
            result.transport_used.as_str()
        )),
    }
}
