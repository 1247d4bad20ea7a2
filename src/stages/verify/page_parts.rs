//! Whether what is read of a page is all that it says of the data.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Run;
use crate::{
    extraction::widen_by_pages,
    labels::fact_before,
    refutation::{Failure, Proof, final_},
};

impl Run<'_, '_> {
    /// Looks at the second page for what the first has not, or has once, where no recording showed it before. Whether the answers are
    /// now read in another way.
    pub(super) async fn widens(&mut self, second: &BTreeMap<String, String>) -> Proof<bool> {
        if self.response.html.is_none() || self.draft.captured.is_some() {
            return Ok(false);
        }
        let seen = self.observe("B", second).await?;
        let first = self.answers.first();
        let wider = first.map(|it| widen_by_pages(&self.response, &it.body, &seen.body));
        if let Some(it) = wider.filter(|it| it.html != self.response.html) {
            self.report.html.clone_from(&it.html);
            self.response = it;
            Ok(true)
        } else {
            self.ahead = Some(seen);
            Ok(false)
        }
    }

    /// The page says nothing more of the one thing whose labels and values the answers are.
    pub(super) fn is_all_of_it(&self, a: &Value, b: &Value) -> Result<(), Failure> {
        let (Some(html), [first, second]) = (&self.response.html, &self.answers[..]) else {
            return Ok(());
        };
        match fact_before(html, &self.draft.first, (&first.body, a), (&second.body, b)) {
            None => Ok(()),
            Some((label, value)) => Err(final_(&format!(
                "the answer is labels and values, and before them the page says of the same thing: {label}: {value}"
            ))),
        }
    }
}
