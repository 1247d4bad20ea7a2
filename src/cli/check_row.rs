//! The result of checking one recipe.

use commis_base::{
    error::{Error, Result},
    ids::RecipeName,
};
use commis_recipe::{
    model::{DemotionReason, ExampleAnswer},
    registry::Source,
};
use commis_runner::RecipeRunResult;
use commis_state::Blame;
use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Verdict {
    Ok,
    /// It works, and the answer to an example differs from the proof.
    Changed,
    Drifted,
    Failed,
    /// It could not be called, so nothing is known.
    Unknown,
}

/// The result of checking one recipe.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    pub(super) name: RecipeName,
    pub(super) source: Option<Source>,
    pub(super) verdict: Verdict,
    /// Put out of service by this check.
    pub(super) demoted: Option<DemotionReason>,
    pub(super) blame: Option<Blame>,
    pub(super) error_code: Option<&'static str>,
    pub(super) error: Option<String>,
    pub(super) similarity_bp: Option<u32>,
    pub(super) items: Option<u64>,
    /// Items that the site has, where its answer says so, and whether the answer holds all of them.
    pub(super) total: Option<u64>,
    pub(super) complete: Option<bool>,
    /// Milliseconds.
    pub(super) total_ms: Option<f64>,
}

impl Row {
    pub(super) fn new(name: &RecipeName, source: Option<Source>, verdict: Verdict) -> Self {
        Self {
            name: name.clone(),
            source,
            verdict,
            demoted: None,
            blame: None,
            error_code: None,
            error: None,
            similarity_bp: None,
            items: None,
            total: None,
            complete: None,
            total_ms: None,
        }
    }

    /// Marks a working recipe as changed if there are differences.
    pub(super) fn changed(self, how: Vec<String>) -> Self {
        if how.is_empty() {
            return self;
        }
        Self { verdict: Verdict::Changed, error: Some(how.join("; ")), ..self }
    }

    /// Adds the result of a further example. `given` is the answer to the first.
    pub(super) fn add_example(
        self,
        example: &ExampleAnswer,
        given: Option<&Value>,
        ended: Result<RecipeRunResult>,
    ) -> Self {
        let values: Vec<String> = example.values.values().map(|it| format!("{it:?}")).collect();
        let values = values.join(", ");
        match ended {
            Ok(it) if it.success && given == Some(&it.data) => {
                self.changed(vec![format!("{values} is answered as the first example is")])
            }
            Ok(it) if it.success => {
                let how = example.differences(&it.data).into_iter();
                self.changed(how.map(|it| format!("{values}: {it}")).collect())
            }
            // The example could not be compared.
            Ok(it) if it.retryable => Self {
                verdict: Verdict::Unknown,
                error_code: it.error_code,
                error: it.error.map(|it| format!("{values}: {it}")),
                ..self
            },
            Ok(it) => Self {
                verdict: Verdict::Failed,
                error_code: it.error_code,
                error: it.error.map(|it| format!("{values}: {it}")),
                ..self
            },
            Err(err) => Self { verdict: Verdict::Unknown, ..self.with_error(&err) },
        }
    }

    pub(super) fn with_error(self, err: &Error) -> Self {
        let error = commis_redact::message(&err.to_string());
        Self { error_code: Some(err.code().as_str()), error: Some(error), ..self }
    }
}
