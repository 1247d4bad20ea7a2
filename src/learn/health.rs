//! What a run says about its recipe: counted in the database, and a recipe that no longer works is put out of service.
//!
//! A lost database costs the count. What a recipe's file says of its status is written by [`Registry`] alone.

use commis_base::error::{Code, Error, Result};
use commis_recipe::{
    model::{DemotionReason, Recipe},
    registry::{Registry, Source},
    status::RecipeEvent,
};
use commis_runner::RecipeRunResult;
use commis_state::{Blame, RecipeRun, State, blame, now_ms};

/// What came of noting a run.
#[derive(Debug, Default)]
pub struct HealthUpdate {
    /// The recipe is out of service, because of this run.
    pub demoted: Option<DemotionReason>,
    /// Whose fault it was that the run failed.
    pub blame: Option<Blame>,
    /// It should have been demoted and its file could not be written.
    pub not_demoted: Option<Error>,
    /// The run was not counted.
    pub not_counted: Option<Error>,
}

/// Notes how a run of that recipe ended, an `Err` being one that came to no result. `now` is RFC 3339.
///
/// Drift demotes whether or not it can be counted, but for recipes behind a login; the fifth failure in a row by the recipe's fault is known to the counters
/// alone.
pub fn note(
    registry: &Registry,
    state: Result<&State, Error>,
    (ran, source): (&Recipe, Source),
    ended: Result<&RecipeRunResult, Code>,
    now: &str,
) -> HealthUpdate {
    let failed = match ended {
        Ok(it) if it.success => None,
        Ok(it) => Some(it.error_code.and_then(Code::from_wire).unwrap_or(Code::Internal)),
        Err(code) => Some(code),
    };
    let blame = failed.map(|it| blame(it, ran.auth.is_some() || ran.login.is_some()));
    let example_holds = ended.is_ok_and(|it| it.example_holds);
    let at_fault = blame == Some(Blame::Recipe) && !example_holds;
    let mut out = HealthUpdate { blame, ..HealthUpdate::default() };
    let run = RecipeRun {
        name: ran.name.as_str(),
        source: source.as_str(),
        proof: ran.verification.as_ref().and_then(|it| it.verified_at.as_deref()).unwrap_or(""),
        failed,
        at_fault,
        similarity_bp: ended.ok().and_then(|it| it.similarity_bp),
        at_ms: now_ms(),
    };
    // Nothing was sent: it says nothing of the recipe.
    if failed == Some(Code::ParamInvalid) {
        return out;
    }
    let in_a_row = match state.and_then(|it| it.record_run(&run)) {
        Ok(it) => it,
        Err(err) => {
            tracing::info!(recipe = run.name, error = %err, "the run was not counted");
            out.not_counted = Some(err);
            0
        }
    };
    let event = match failed {
        // What an account may not see is drawn in another way by some sites, and the example may be another account's.
        Some(Code::ShapeDrift) if at_fault && ran.login.is_none() => RecipeEvent::Drifted,
        Some(_) if at_fault => RecipeEvent::Failed { in_a_row },
        _ => return out,
    };
    match registry.demote(ran, source, event, now) {
        Ok(it) => out.demoted = it,
        Err(err) => out.not_demoted = Some(err),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_recipe::{model::TransportKind, status::RecipeState, trust::Trust, yaml};

    const NOW: &str = "2026-01-02T00:00:00Z";

    fn failed(code: Code) -> RecipeRunResult {
        RecipeRunResult::from_error(TransportKind::PublicHttp, &Error::new(code, "x"))
    }

    fn well() -> RecipeRunResult {
        let mut out = RecipeRunResult::new(TransportKind::PublicHttp);
        out.success = true;
        out
    }

    struct StoredRecipe {
        home: tempfile::TempDir,
        registry: Registry,
    }

    /// A recipe of that status, saved.
    fn stored_recipe(status: &str) -> StoredRecipe {
        let home = tempfile::tempdir().unwrap();
        let registry = Registry::open(&home.path().join("recipes"));
        let recipe = yaml::parse(&format!(
            "{{version: 1, name: x, task: t, status: {status}, source_url: 'https://a.com/', \
             request: {{method: GET, url: 'https://a.com/', allowed_domains: [a.com]}}, response: {{type: json}}, \
             verification: {{fingerprint_version: 1, fingerprint_sha256: x, verified_at: '2026-01-01T00:00:00Z', \
             transport: public_http, requires_session: false}}}}"
        ));
        let recipe = Recipe { trust: Trust::Proven, ..recipe.unwrap() };
        registry.save(&recipe).unwrap();
        StoredRecipe { home, registry }
    }

    impl StoredRecipe {
        fn recipe(&self) -> Recipe {
            self.registry.get(&commis_base::ids::RecipeName::new("x").unwrap()).unwrap().recipe
        }

        fn note(
            &self,
            state: Option<&State>,
            ended: Result<&RecipeRunResult, Code>,
        ) -> HealthUpdate {
            let state = state.ok_or_else(|| Error::new(Code::ArtifactIo, "lost"));
            note(&self.registry, state, (&self.recipe(), Source::User), ended, NOW)
        }

        fn after(&self, state: &State, ended: &[Code]) -> RecipeState {
            for code in ended {
                self.note(Some(state), Ok(&failed(*code)));
            }
            self.recipe().state()
        }
    }

    #[test]
    fn drift_demotes_at_once_even_when_nothing_can_be_counted() {
        let kept = stored_recipe("verified");
        let noted = kept.note(None, Ok(&failed(Code::ShapeDrift)));
        assert_eq!(noted.demoted, Some(DemotionReason::Drift));
        assert!(noted.not_counted.is_some());
        let now = kept.recipe();
        assert_eq!(now.state(), RecipeState::Demoted(DemotionReason::Drift));
        assert_eq!(now.demotion.unwrap().at, NOW);
        // It is said once.
        assert_eq!(kept.note(None, Ok(&failed(Code::ShapeDrift))).demoted, None);
    }

    #[test]
    fn behind_a_login_drift_counts_as_any_failure() {
        let kept = stored_recipe("verified");
        let state = State::open(kept.home.path()).unwrap();
        let site = "a.com".to_owned();
        let login =
            Some(commis_recipe::model::LoginNeed { site, stranger: None, stranger_sha256: None });
        let recipe = Recipe { login, ..kept.recipe() };
        kept.registry.save(&recipe).unwrap();
        assert_eq!(kept.after(&state, &[Code::ShapeDrift; 4]), RecipeState::Verified);
        kept.note(Some(&state), Ok(&failed(Code::ShapeDrift)));
        assert_eq!(kept.recipe().state(), RecipeState::Demoted(DemotionReason::Failures));
    }

    #[test]
    fn the_fifth_failure_in_a_row_by_its_own_fault_demotes() {
        let kept = stored_recipe("verified");
        let state = State::open(kept.home.path()).unwrap();
        let gone = Code::HttpStatus;
        assert_eq!(kept.after(&state, &[gone; 4]), RecipeState::Verified);
        kept.note(Some(&state), Ok(&well()));
        // What is the network's neither counts nor makes good.
        let six =
            [gone, Code::ParseError, Code::Timeout, Code::ExtractEmpty, gone, Code::DnsFailed];
        assert_eq!(kept.after(&state, &six), RecipeState::Verified);
        let fifth = kept.note(Some(&state), Err(Code::SessionRequired));
        assert_eq!(fifth.demoted, Some(DemotionReason::Failures));
        assert_eq!(kept.recipe().state(), RecipeState::Demoted(DemotionReason::Failures));
    }

    #[test]
    fn others_faults_and_drafts_are_not_demoted() {
        let kept = stored_recipe("verified");
        let state = State::open(kept.home.path()).unwrap();
        for code in Code::ALL.iter().filter(|it| blame(**it, false) != Blame::Recipe) {
            assert_eq!(kept.after(&state, &[*code; 7]), RecipeState::Verified, "{code}");
        }
        let kept = self::stored_recipe("draft");
        let ended = [[Code::HttpStatus; 7], [Code::ShapeDrift; 7]].concat();
        assert_eq!(kept.after(&state, &ended), RecipeState::Draft);
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let kept = stored_recipe("verified");
        let file = kept.home.path().join("recipes/x.yaml");
        let recipe = kept.recipe();
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("elsewhere", &file).unwrap();
        let lost = Err(Error::new(Code::ArtifactIo, "lost"));
        let drifted = failed(Code::ShapeDrift);
        let noted = note(&kept.registry, lost, (&recipe, Source::User), Ok(&drifted), NOW);
        assert!(noted.demoted.is_none() && noted.not_demoted.is_some(), "{noted:?}");
    }
}
