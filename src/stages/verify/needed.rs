//! Whether each step before the last request is needed: with what the first example took of it, the second example's answer must be
//! another.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{MARGIN_BP, Run};
use crate::{
    publish::without,
    refutation::{Proof, require_answer},
    replay::{ReplayCall, data_difference_bp, observe},
};

impl Run<'_, '_> {
    /// Notes the steps that are not; the last first, since what they alone needed goes with them.
    pub(super) async fn needs_steps(
        &mut self,
        second: &BTreeMap<String, String>,
        b: &Value,
        noise: u32,
    ) -> Proof<()> {
        self.report.needless.clear();
        // With the same login an account's number answers as well as the step that it came from; with another it must not.
        if self.replayer.logins() > 0 {
            return Ok(());
        }
        // Of a list whose items are asked for one by one there is nothing to leave out.
        let list = self.draft.per_item.as_ref().map(|it| &it.step);
        for step in self.draft.steps.iter().rev().filter(|it| Some(&it.name) != list) {
            let mut left_out = self.report.needless.clone();
            left_out.push(step.name.clone());
            let (steps, request) = without(self.draft, &left_out);
            let call = ReplayCall {
                transport: self.transport,
                request: &request,
                parameters: &self.draft.parameters,
                values: second,
                slots: &self.draft.slots,
                steps: &steps,
                per_item: self.draft.per_item.as_ref(),
            };
            let what = format!("B without step `{}`", step.name);
            let n = self.report.replays.len() as u32 + 1;
            let like = self.like();
            let like = like.as_deref();
            let seen = observe(self.replayer, call, &self.response, like, n, &what).await?;
            self.report.replays.push(seen.replay.clone());
            require_answer(&what, &seen.replay)?;
            let is_same = |it: &Value| data_difference_bp(b, it) <= noise + MARGIN_BP;
            if seen.good() && seen.data.as_ref().is_some_and(is_same) {
                self.report.needless = left_out;
            }
        }
        Ok(())
    }
}
