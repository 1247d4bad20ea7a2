//! What a model is asked while a task is learned, and what that cost.

use super::{ModelCalls, ModelUse, Run, reject};
use crate::consult;
use commis_artifacts::{
    kinds::Kind,
    payloads::{CandidateSet, ModelAnswer, Reason},
    store::ArtifactState,
};
use commis_base::error::Result;
use commis_model::Cache;
use commis_stages::analyze;

impl Run<'_> {
    /// A model is asked only what the heuristics cannot tell.
    pub(super) async fn consult(&mut self) -> Result<ModelAnswer> {
        let Some(model) = self.cx.model.as_ref().filter(|_| self.choice.is_none()) else {
            return Ok(ModelAnswer::default());
        };
        let recording = self.recording()?;
        // What an account saw goes to nobody else unasked.
        if recording.login_site.is_some() && !self.cx.settings.model.behind_login {
            self.notes.push(
                "no model was asked: the recording was made behind a login ([model] behind_login)"
                    .to_owned(),
            );
            return Ok(ModelAnswer::default());
        }
        let candidates = self.load_product::<CandidateSet>()?;
        let known = analyze::analyze(&recording, &candidates, &self.cx.settings.decision)?;
        if reject(known).is_none_or(|it| it.reason != Reason::Ambiguous) {
            return Ok(ModelAnswer::default());
        }
        let cache = Cache::new(self.cx.store.root().to_owned());
        let (answer, calls) =
            consult::consult(&**model, &cache, &recording, &candidates, &self.get()?).await?;
        self.paid.calls += calls;
        let attempts = answer.consultation.iter().flat_map(|it| &it.attempts);
        for it in attempts.take(calls as usize) {
            self.paid.tokens_in += it.tokens_in;
            self.paid.tokens_out += it.tokens_out;
        }
        Ok(answer)
    }

    /// The model of the stored answer, and what this run paid for.
    pub(super) fn model_use(&self) -> Result<Option<ModelUse>> {
        // A task that ended before has none.
        let ArtifactState::Intact(_) = self.folder.find(Kind::ModelAnswer)? else {
            return Ok(None);
        };
        let Some(asked) = self.get::<ModelAnswer>()?.consultation else { return Ok(None) };
        let ModelCalls { calls, tokens_in, tokens_out } = self.paid;
        let prices = &self.cx.settings.model;
        // A price per million tokens is a price in millionths per token.
        let cost = |price: Option<f64>, tokens: u64| price.map(|it| it * tokens as f64);
        let cost_micros = cost(prices.price_in_per_mtok, tokens_in)
            .zip(cost(prices.price_out_per_mtok, tokens_out))
            .map(|it| (it.0 + it.1).round() as u64);
        Ok(Some(ModelUse { name: asked.model, calls, tokens_in, tokens_out, cost_micros }))
    }
}
