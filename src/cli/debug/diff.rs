//! Two tasks side by side: another attempt at the same, or one that went better.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    BOLD,
    facts::{OUTCOME, facts},
    task_view::StageRow,
    terminal_text::cut,
};
use crate::{context, table::ruled};
use commis_stages::{STAGES, Stage};

/// Facts of one stage that a terminal gets.
const MOST: usize = 40;

/// One stage of both.
#[derive(Debug, Serialize)]
pub struct StageDiff {
    pub stage: &'static str,
    pub same: bool,
    /// Those that differ; all of them when one stage was asked for.
    pub facts: Vec<FactDiff>,
}

#[derive(Debug, Serialize)]
pub struct FactDiff {
    pub fact: String,
    /// `null` where there is no such thing.
    pub this: Option<String>,
    pub other: Option<String>,
}

/// Stage by stage; only `stage`, when one is given.
pub fn compare(this: &[StageRow], other: &[StageRow], stage: Option<Stage>) -> Vec<StageDiff> {
    STAGES
        .iter()
        .filter(|it| stage.is_none_or(|wanted| wanted == it.stage))
        .map(|spec| {
            let of =
                |rows: &[StageRow]| facts(rows.iter().find(|it| it.spec.stage == spec.stage), rows);
            let mut facts = paired(of(this), of(other));
            let same = facts.iter().all(|it| it.this == it.other);
            if stage.is_none() {
                facts.retain(|it| it.this != it.other);
                // Where only one of them came so far, that is the difference.
                if facts.first().is_some_and(|it| it.fact == OUTCOME) {
                    facts.truncate(1);
                }
            }
            StageDiff { stage: spec.stage.as_str(), same, facts }
        })
        .collect()
}

/// By name: in the order of the first, then what only the second has.
fn paired(this: Vec<(String, String)>, other: Vec<(String, String)>) -> Vec<FactDiff> {
    let order: Vec<String> = other.iter().map(|it| it.0.clone()).collect();
    let mut other: BTreeMap<String, String> = other.into_iter().collect();
    let mut out: Vec<FactDiff> = this
        .into_iter()
        .map(|(fact, this)| FactDiff { other: other.remove(&fact), fact, this: Some(this) })
        .collect();
    for fact in order {
        if let Some(it) = other.remove(&fact) {
            out.push(FactDiff { fact, this: None, other: Some(it) });
        }
    }
    out
}

/// A table a stage; a line for those in which nothing differs.
pub fn print(this: &str, other: &str, all: &[StageDiff]) {
    context::line(&format!("{BOLD}{this}{BOLD:#} beside {BOLD}{other}{BOLD:#}"));
    for it in all {
        if it.facts.is_empty() {
            context::line(&format!("\n{BOLD}{}{BOLD:#}  the same", it.stage));
            continue;
        }
        let word = if it.same { "the same" } else { "differs" };
        context::line(&format!("\n{BOLD}{}{BOLD:#}  {word}", it.stage));
        let mut table = ruled(["", cut(this, 60).as_str(), cut(other, 60).as_str()]);
        let told = |it: &Option<String>| it.as_deref().map_or("—".to_owned(), |it| cut(it, 120));
        for it in it.facts.iter().take(MOST) {
            table.add_row([cut(&it.fact, 80), told(&it.this), told(&it.other)]);
        }
        context::line(&table.to_string());
        if it.facts.len() > MOST {
            context::line(&format!("  and {} more", it.facts.len() - MOST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_paired_by_name() {
        let of = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            all.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect()
        };
        let pairs = paired(of(&[("b", "1"), ("a", "2")]), of(&[("c", "3"), ("a", "4")]));
        let told: Vec<(&str, Option<&str>, Option<&str>)> = pairs
            .iter()
            .map(|it| (it.fact.as_str(), it.this.as_deref(), it.other.as_deref()))
            .collect();
        let expected =
            [("b", Some("1"), None), ("a", Some("2"), Some("4")), ("c", None, Some("3"))];
        assert_eq!(told, expected);
    }
}
