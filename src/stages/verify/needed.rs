//! Whether each step before the last request is needed: with what the first example took of it, the second example's answer must be
//! another. What a step gives to whatever was typed is of one visit: a site may take it for an hour, so that a value nobody was given
//! tells whether it looks at it.

use std::{borrow::Cow, collections::BTreeMap};

use commis_artifacts::payloads::RecipeDraftMinimized;
use commis_recipe::steps::{Assembly, Step, split_step_name};
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
        let list = self.draft.assembly.as_ref().and_then(Assembly::per_item).map(|it| &it.step);
        // What stands in the data by itself was found on the page.
        let is_asked_with = |it: &&Step| Some(&it.name) != list && !it.optional;
        for step in self.draft.steps.iter().rev().filter(is_asked_with) {
            let mut left_out = self.report.needless.clone();
            left_out.push(step.name.clone());
            let taken = if is_same_for_all(step, self.draft) {
                Cow::Owned(with_other_values(&self.draft.taken, &step.name))
            } else {
                Cow::Borrowed(&self.draft.taken)
            };
            let (steps, request) = without(self.draft, &taken, &left_out);
            let call = ReplayCall {
                transport: self.transport,
                request: &request,
                parameters: &self.draft.parameters,
                values: second,
                slots: &self.draft.slots,
                steps: &steps,
                assembly: self.draft.assembly.as_ref(),
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

/// Whether a step asks the same for every input.
fn is_same_for_all(step: &Step, draft: &RecipeDraftMinimized) -> bool {
    let text = serde_json::to_string(&step.request).unwrap_or_default();
    let parameters = draft.parameters.iter().map(|it| it.name.as_str());
    let mut names = parameters.chain(draft.steps.iter().map(|it| it.name.as_str()));
    let holds =
        |name: &str| ["}", "|", "."].iter().any(|end| text.contains(&format!("{{{name}{end}")));
    step.choose.is_none() && !names.any(holds)
}

/// With values of a step that the site never gave: as long, and of the same kinds of characters.
fn with_other_values(taken: &BTreeMap<String, String>, step: &str) -> BTreeMap<String, String> {
    let mut out = taken.clone();
    for (_, value) in out.iter_mut().filter(|it| split_step_name(it.0).0 == step) {
        *value = value.chars().map(next_of_kind).collect();
    }
    out
}

fn next_of_kind(c: char) -> char {
    match c {
        '9' => '0',
        'f' => 'a',
        'F' => 'A',
        'z' => 'g',
        'Z' => 'G',
        '0'..='8' | 'a'..='y' | 'A'..='Y' => char::from_u32(c as u32 + 1).unwrap_or(c),
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_value_looks_alike() {
        let other: String = "9f0-Zz/FA".chars().map(next_of_kind).collect();
        assert_eq!(other, "0a1-Gg/AB");
    }
}
