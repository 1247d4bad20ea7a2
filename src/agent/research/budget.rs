//! What research may cost, and what it has cost: calls, tokens and money, over all questions and however often it is resumed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;

use super::store::{ResearchStore, ResearchUsage};
use commis_base::error::{Code, Error, Result};
use commis_model::{ChatModel, ChatReply, FailedCall, Tool, Turn};

/// Calls that are kept for the report: it is what all else is for.
const FOR_REPORT: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub calls: u32,
    /// In and out together.
    pub tokens: Option<u64>,
    /// In the currency of the settings' prices.
    pub cost: Option<f64>,
}

pub struct BudgetTracker {
    budget: Budget,
    /// Of a token, in and out.
    prices: Option<(f64, f64)>,
    spent: Mutex<ResearchUsage>,
    store: Arc<ResearchStore>,
}

impl BudgetTracker {
    /// With what was spent before. Fails with `ARTIFACT_IO`.
    pub fn new(
        budget: Budget,
        prices: Option<(f64, f64)>,
        store: Arc<ResearchStore>,
    ) -> Result<Self> {
        let spent = Mutex::new(store.spent()?);
        Ok(Self { budget, prices, spent, store })
    }

    pub fn spent(&self) -> ResearchUsage {
        *self.lock()
    }

    pub fn cost(&self) -> Option<f64> {
        self.prices.map(|prices| cost(self.spent(), prices))
    }

    /// Why nothing more may be asked; of questions a part of it all is kept back for the report.
    pub fn is_spent(&self, is_question: bool) -> Option<String> {
        is_spent(self.spent(), &self.budget, self.prices, is_question)
    }

    fn took(&self, it: ResearchUsage) -> Result<()> {
        self.lock().add(it);
        self.store.note_spent(it)
    }

    fn lock(&self) -> MutexGuard<'_, ResearchUsage> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cost(it: ResearchUsage, (per_in, per_out): (f64, f64)) -> f64 {
    it.tokens_in as f64 * per_in + it.tokens_out as f64 * per_out
}

fn is_spent(
    spent: ResearchUsage,
    budget: &Budget,
    prices: Option<(f64, f64)>,
    is_question: bool,
) -> Option<String> {
    let back = if is_question { FOR_REPORT.min(budget.calls / 2) } else { 0 };
    if spent.calls >= budget.calls.saturating_sub(back) {
        return Some(format!("{} calls of {}", spent.calls, budget.calls));
    }
    let all = spent.tokens_in + spent.tokens_out;
    if let Some(most) = budget.tokens
        && all >= if is_question { most / 4 * 3 } else { most }
    {
        return Some(format!("{all} tokens of {most}"));
    }
    let (most, prices) = budget.cost.zip(prices)?;
    let cost = cost(spent, prices);
    (cost >= if is_question { most * 0.75 } else { most })
        .then(|| format!("{cost:.4} of {most:.4}"))
}

/// A model whose calls are paid from the purse. What is spent is on disk before the answer is used.
pub struct MeteredModel<'a> {
    pub chat_model: &'a dyn ChatModel,
    pub budget_tracker: &'a BudgetTracker,
    pub is_question: bool,
}

impl ChatModel for MeteredModel<'_> {
    fn name(&self) -> &str {
        self.chat_model.name()
    }

    /// Fails with `CANCELLED` where the purse is empty.
    fn reply<'a>(
        &'a self,
        system: &'a str,
        turns: &'a [Turn],
        tools: &'a [Tool],
    ) -> BoxFuture<'a, Result<ChatReply, FailedCall>> {
        Box::pin(async move {
            if let Some(it) = self.budget_tracker.is_spent(self.is_question) {
                return Err(
                    Error::new(Code::Cancelled, format!("the budget is spent: {it}")).into()
                );
            }
            // Before it: a call that is cut off was paid, too.
            self.budget_tracker.took(ResearchUsage { calls: 1, ..ResearchUsage::default() })?;
            let came = self.chat_model.reply(system, turns, tools).await;
            let (tokens_in, tokens_out) = match &came {
                Ok(it) => (it.tokens_in, it.tokens_out),
                Err(it) => (it.tokens_in, it.tokens_out),
            };
            self.budget_tracker.took(ResearchUsage { calls: 0, tokens_in, tokens_out })?;
            came
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_kept_back_for_the_report() {
        let budget = Budget { calls: 20, tokens: Some(1000), cost: Some(0.1) };
        let prices = Some((1e-4, 1e-3));
        let spent = |calls, tokens_in, tokens_out| ResearchUsage { calls, tokens_in, tokens_out };
        for (it, question, report) in [
            (spent(0, 0, 0), false, false),
            (spent(16, 0, 0), false, false),
            (spent(17, 0, 0), true, false),
            (spent(20, 0, 0), true, true),
            (spent(1, 700, 0), false, false),
            (spent(1, 740, 10), true, false),
            (spent(1, 100, 70), true, false),
            (spent(1, 0, 100), true, true),
            (spent(1, 999, 1), true, true),
        ] {
            assert_eq!(is_spent(it, &budget, prices, true).is_some(), question, "{it:?}");
            assert_eq!(is_spent(it, &budget, prices, false).is_some(), report, "{it:?}");
        }
        let none = Budget { calls: 1, tokens: None, cost: None };
        assert!(is_spent(spent(0, 1 << 40, 0), &none, None, true).is_none());
    }
}
