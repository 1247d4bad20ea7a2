//! A recipe proven on its examples, and that noted: what `recipe verify` does.

use std::time::{Duration, Instant};

use super::{Fallback, HealthUpdate, OnProgress, ReverifyResult, call_alone, reverify};
use commis_artifacts::store::now;
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
    settings::Settings,
};
use commis_recipe::{
    model::Recipe,
    registry::{RegisteredRecipe, Registry, Source},
    status::RecipeEvent,
};
use commis_runner::call::Caller;
use commis_stages::effect::recipe_effect;
use commis_vault::Login;

/// Asks a person whether the recipe's request may be sent three times, which is not known to read: why it may change something.
pub type Consent<'a> = dyn Fn(&Recipe, &str) -> bool + Send + Sync + 'a;

/// Where nobody is there to be asked.
pub fn nobody_consents(_: &Recipe, _: &str) -> bool {
    false
}

/// Proves one recipe, with a login where one is given, and notes that it was. Fails with what reading and compiling it fails with,
/// with `RECIPE_MAY_CHANGE`, and with `BROWSER_*`.
pub async fn prove(
    registry: &Registry,
    name: &RecipeName,
    (caller, settings, tell): (&Caller, &Settings, &OnProgress),
    (consent, login): (&Consent<'_>, Option<&Login>),
) -> Result<(ReverifyResult, Source, HealthUpdate)> {
    let RegisteredRecipe { mut recipe, source, .. } = registry.get(name)?;
    // It may have been taken back because the request changes something: nothing is sent to find out.
    if !recipe.state().may_be_proven() {
        return Err(Error::new(
            Code::RecipeNotVerified,
            format!("`{name}` was withdrawn when its task was learned again"),
        )
        .hint("learn the task again; `recipe debug` says why it was withdrawn"));
    }
    // The page that spoke against it is not here to be asked again.
    if let Some(why) = &recipe.refused {
        return Err(Error::new(
            Code::RecipeNotVerified,
            format!("learning declined `{name}`: {why}"),
        )
        .hint("its examples cannot prove it; learn the task again, or choose another candidate"));
    }
    let compiled = caller.compiled(&recipe)?;
    if !recipe.trust.is_known_to_read()
        && let Err(why) = recipe_effect(&recipe, false).into_result()
        && !consent(&recipe, &why)
    {
        return Err(Error::new(
            Code::RecipeMayChange,
            format!("`{name}` was not learned here, and {why}; a proof would send it three times"),
        )
        .hint(format!("check it with `commis recipe explain {name}`; at a terminal, `commis recipe verify {name}` asks before it sends")));
    }
    let gap = if caller.policy().is_test_host(compiled.host()) {
        Duration::ZERO
    } else {
        Duration::from_millis(settings.learning.pace_ms)
    };
    let mut last: Option<Instant> = None;
    let out = reverify(&recipe, async |values| {
        if let Some(last) = last {
            tokio::time::sleep(gap.saturating_sub(last.elapsed())).await;
        }
        last = Some(Instant::now());
        call_alone(&recipe, values, (caller, &settings.browser, tell), (Fallback::Never, login))
            .await
    })
    .await?;
    let mut noted = HealthUpdate::default();
    if out.verified {
        let proof = out.prove(&recipe, now());
        if source == Source::Library {
            registry.record_verification(name, &proof)?;
        } else {
            recipe.set_state(recipe.state().apply(RecipeEvent::Proven), "");
            recipe.verification = Some(proof);
            recipe.trust = recipe.trust.after_proof();
            registry.save(&recipe)?;
        }
    } else if out.drifted {
        noted.demoted = registry.demote(&recipe, source, RecipeEvent::Drifted, &now())?;
    }
    Ok((out, source, noted))
}
