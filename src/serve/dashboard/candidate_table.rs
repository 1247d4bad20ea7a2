//! How a recipe was chosen: the requests of its recording that were weighed against each other, as far as they are kept.

use maud::{Markup, html};

use super::format;
use crate::Daemon;
use commis_artifacts::{
    kinds::Kind,
    payloads::{Analyst, CandidateSet, Judged, RecipeAnalysis},
    store::Store,
};
use commis_base::ids::{RecipeName, TaskId};

/// Signals of a candidate that are shown on each side.
const SIGNALS: usize = 6;

pub struct CandidateChoice {
    pub task: TaskId,
    set: CandidateSet,
    /// The exchange that was chosen, and by whom.
    by: Option<(u32, Analyst)>,
}

/// What is kept of that task's choice; `None` where it never came so far, or nothing of it can be read.
pub fn read(daemon: &Daemon, task: &TaskId) -> Option<CandidateChoice> {
    let folder = Store::new(daemon.home.artifacts.clone()).peek(task).ok()??;
    let Judged::Done(set) = folder.get::<Judged<CandidateSet>>().ok()? else { return None };
    let by = match folder.get::<Judged<RecipeAnalysis>>() {
        Ok(Judged::Done(it)) => Some((it.chosen.exchange, it.by)),
        _ => None,
    };
    Some(CandidateChoice { task: task.clone(), set, by })
}

/// The task that a recipe of that name was learned in last: its id is the name and eight hexadecimal digits.
pub fn task_of(daemon: &Daemon, name: &RecipeName) -> Option<TaskId> {
    let store = Store::new(daemon.home.artifacts.clone());
    let is_of = |it: &TaskId| {
        let rest = it.as_str().strip_prefix(name.as_str()).and_then(|it| it.strip_prefix('-'));
        rest.is_some_and(|it| it.len() == 8 && !it.contains('-'))
    };
    let at = |it: &TaskId| {
        let folder = store.peek(it).ok()??;
        folder.path(Kind::CandidateSet).symlink_metadata().ok()?.modified().ok()
    };
    let all = store.tasks().ok()?;
    all.into_iter()
        .filter(is_of)
        .filter_map(|it| Some((at(&it)?, it)))
        .max_by_key(|it| it.0)
        .map(|it| it.1)
}

/// What was said of the choice, and each candidate. With a task of the daemon, one can be chosen for it.
pub fn table(all: &CandidateChoice, choose_for: Option<&str>) -> Markup {
    let set = &all.set;
    let left_out: u32 = set.set_aside.values().sum();
    html! {
        p.soft {
            (format::count(i64::from(set.scored), "request was", "requests were")) " weighed"
            @if left_out > 0 {
                ", " (left_out) " left out before ("
                @for (i, (why, n)) in set.set_aside.iter().enumerate() { @if i > 0 { ", " } (why.replace('_', " ")) " " (n) }
                ")"
            }
            @if let Some((_, by)) = all.by { ". Chosen by " (analyst(by)) }
            "."
        }
        @if let Some(doubt) = &set.doubt { p.notice.warn { "Doubt about the first: " (doubt.replace('_', " ")) } }
        div.scroll tabindex="0" role="region" aria-label="Candidates" {
            table.candidates {
                thead {
                    tr {
                        // First, where a phone shows it without being scrolled.
                        @if choose_for.is_some() { th scope="col" { span.unseen { "Choose" } } } @else { th.n scope="col" { "#" } }
                        th scope="col" { "Request" }
                        th.n scope="col" { "How sure" }
                        th scope="col" { "Speaks for it" }
                        th scope="col" { "Speaks against it" }
                    }
                }
                tbody {
                    @for it in &set.candidates {
                        @let is_chosen = all.by.is_some_and(|by| by.0 == it.exchange);
                        tr class=[is_chosen.then_some("chosen")] {
                            @if let Some(task) = choose_for {
                                td { button type="button" data-post={ "/api/tasks/" (task) "/candidates/" (it.rank) "/recipe" } data-then="task" { "Choose " (it.rank) } }
                            } @else { td.n { (it.rank) } }
                            th scope="row" {
                                code { (it.method) " " (it.url_summary) }
                                @if let Some(name) = &it.operation { " " span.soft { (name) } }
                                @if is_chosen { " " span.badge.good { "chosen" } }
                                br; span.soft { (it.content_type) }
                            }
                            td.n { (percent(it.confidence_bp)) (sure(it.confidence_bp)) }
                            td { (signals(it.features.iter().filter(|it| *it.1 > 0))) }
                            td { (signals(it.features.iter().filter(|it| *it.1 < 0))) }
                        }
                    }
                }
            }
        }
    }
}

fn sure(bp: u32) -> Markup {
    html! {
        svg.sure viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" {
            rect.track width="100" height="6" rx="3" {}
            rect.fill width=(bp / 100) height="6" rx="3" {}
        }
    }
}

fn signals<'a>(all: impl Iterator<Item = (&'a String, &'a i32)>) -> Markup {
    let mut sorted: Vec<(&str, i32)> = all.map(|(name, share)| (name.as_str(), *share)).collect();
    if sorted.is_empty() {
        return html! { span.soft { "nothing" } };
    }
    sorted.sort_by_key(|it| std::cmp::Reverse(it.1.abs()));
    let shown = sorted.iter().take(SIGNALS).filter(|it| it.1.abs() >= 50).count();
    html! {
        ul.signals {
            @for (name, share) in sorted.iter().take(shown) {
                li { (name.replace('_', " ")) " " b { (if *share > 0 { "+" } else { "−" }) ((share.abs() + 50) / 100) } }
            }
            @if sorted.len() > shown { li.soft { @if shown > 0 { "and " (sorted.len() - shown) " smaller" } @else { "hardly anything" } } }
        }
    }
}

fn percent(bp: u32) -> String {
    format!("{:.1}\u{a0}%", f64::from(bp) / 100.0)
}

fn analyst(it: Analyst) -> &'static str {
    match it {
        Analyst::Heuristic => "the signals below",
        Analyst::Model => "a model",
        Analyst::Person => "a person",
    }
}
