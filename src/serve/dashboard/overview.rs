//! The first page: what runs now, what needs a look, how it went lately.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{
    DashboardContext, PageResult, chart, format,
    layout::{self, NavItem},
    recipes::{RecipeEntry, load_entries},
    tasks,
};
use crate::task_database::{TaskState, TaskView};
use commis_recipe::model::Status;
use commis_stages::STAGES;

/// Tasks of a state that are shown at once.
const SHOWN: u32 = 20;
const RECENT: u32 = 12;

pub async fn page(cx: DashboardContext) -> PageResult {
    let database = &cx.daemon.database;
    // First, so that what happens meanwhile is asked for again.
    let after = layout::after(&cx).await;
    let mut open = database.tasks(Some(TaskState::WaitingForApproval), None, SHOWN).await?;
    open.extend(database.tasks(Some(TaskState::Running), None, SHOWN).await?);
    // What waits longest is next.
    let mut queued = database.tasks(Some(TaskState::Queued), None, 1000).await?;
    queued.reverse();
    let waiting = queued.len();
    open.extend(queued.into_iter().take(SHOWN as usize));
    let mut recent = database.tasks(None, None, RECENT + 2 * SHOWN).await?;
    recent.retain(|it| it.state.has_ended());
    recent.truncate(RECENT as usize);
    let recipes = load_entries(&cx)?;
    let body = html! {
        h1 { "Overview" }
        (tiles(&recipes, &open, waiting))
        section #now data-live aria-labelledby="now-head" {
            h2 #now-head { "At work now" }
            (now(&open, waiting, cx.now_ms))
        }
        @let bad: Vec<&RecipeEntry> = recipes.iter().filter(|it| it.needs_a_look()).collect();
        section #look data-live aria-labelledby="look-head" {
            h2 #look-head { "Needs a look" }
            (attention_list(&bad, &recipes, cx.now_ms))
        }
        section #recent data-live aria-labelledby="recent-head" {
            h2 #recent-head { "Recent tasks" }
            @if recent.is_empty() {
                (format::empty("No task has ended yet.", &html! {
                    p { "A task is what takes longer than two seconds: learning a recipe, proving one, a slow run." }
                }))
            } @else {
                (tasks::table(&recent, cx.now_ms))
                p { a href="/tasks" { "All tasks" } }
            }
        }
    };
    Ok(layout::page(&cx, NavItem::Overview, "Overview", after, &body))
}

fn tiles(recipes: &[RecipeEntry], open: &[TaskView], waiting: usize) -> Markup {
    let of = |status: Status| recipes.iter().filter(|it| it.known.recipe.status == status).count();
    let running = open.iter().filter(|it| it.state == TaskState::Running).count();
    let approvals = open.iter().filter(|it| it.state == TaskState::WaitingForApproval).count();
    let week = recipes.iter().map(|it| chart::sums(it.since(7)));
    let (ok, failed) = week.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    let tile = |href: &str, figure: String, what: &str, class: &str| {
        html! { li class=(class) { a href=(href) { b { (figure) } span { (what) } } } }
    };
    html! {
        ul #tiles.tiles data-live aria-label="Totals" {
            (tile("/tasks?state=running", running.to_string(), "at work", if running > 0 { "now" } else { "" }))
            (tile("/tasks?state=queued", waiting.to_string(), "waiting for a turn", ""))
            @if approvals > 0 { (tile("/approvals", approvals.to_string(), "waiting for you", "warn")) }
            (tile("/recipes?status=verified", of(Status::Verified).to_string(), "recipes in service", ""))
            (tile("/recipes?status=draft", of(Status::Draft).to_string(), "drafts", ""))
            @let out = of(Status::Deprecated);
            (tile("/recipes?status=deprecated", out.to_string(), "out of service", if out > 0 { "bad" } else { "" }))
            li { a href="/recipes?health=run" { b { (ok + failed) } span { "runs in 7 days" } span { (failed) " failed" } } }
        }
    }
}

fn now(open: &[TaskView], waiting: usize, now_ms: i64) -> Markup {
    if open.is_empty() {
        return format::empty(
            "Nothing is at work.",
            &html! {
                p { "What agents, scripts and you ask for shows here while it goes on. To see something happen, run a recipe from " a href="/recipes" { "its page" } "." }
            },
        );
    }
    let shown = open.iter().filter(|it| it.state == TaskState::Queued).count();
    html! {
        ul.work {
            @for it in open { (at_work(it, now_ms)) }
        }
        @if waiting > shown { p.soft { "and " (waiting - shown) " more wait" } }
    }
}

fn at_work(it: &TaskView, now_ms: i64) -> Markup {
    html! {
        li data-task=(it.task_id) {
            div.line {
                a.name href={ "/tasks/" (it.task_id) } { (format::doing(it)) " " span.said { (format::about(it)) } }
                (format::state(it.state))
            }
            @if it.state == TaskState::Running { (progress(it, now_ms)) }
            @else { p.soft { "asked for " (format::ago(it.created_ms, now_ms)) } }
        }
    }
}

/// How far learning has come, in the middle of a stage; of what has no stages, that it goes on.
pub fn progress(it: &TaskView, now_ms: i64) -> Markup {
    let at = it
        .stage
        .as_deref()
        .and_then(|stage| STAGES.iter().position(|it| it.stage.as_str() == stage));
    let name = it.stage.as_deref().unwrap_or("").replace('_', " ");
    let learns = matches!(it.operation.as_str(), "recipe_learn" | "recipe_create_from_candidate");
    html! {
        @if learns {
            progress max=(STAGES.len()) value=(format!("{}.5", at.unwrap_or(0))) aria-label="stages done" {}
        }
        p.soft {
            span data-stage { @if learns { @if name.is_empty() { "about to begin" } @else { (name) ", stage " (at.map_or(0, |it| it + 1)) " of " (STAGES.len()) } } @else { "goes on" } }
            " · began " (format::ago(it.began_ms.unwrap_or(it.created_ms), now_ms))
        }
    }
}

fn attention_list(bad: &[&RecipeEntry], all: &[RecipeEntry], now_ms: i64) -> Markup {
    if all.is_empty() {
        return format::empty(
            "There are no recipes yet.",
            &html! {
                p { "A recipe is learned from a page that is used once. This learns some from the test web that commis brings along:" }
                pre.command { code { "commis recipe learn-batch --manifest manifests/quickstart.yaml --testbed" } }
            },
        );
    }
    if bad.is_empty() {
        return html! { p.fine { "No recipe is out of service, and none has failed the last time it ran." } };
    }
    let mut by: BTreeMap<(bool, &str), &RecipeEntry> = BTreeMap::new();
    for it in bad {
        by.insert((it.known.recipe.demotion.is_none(), it.known.recipe.name.as_str()), it);
    }
    html! {
        ul.work {
            @for it in by.values().take(SHOWN as usize) {
                li {
                    div.line {
                        a.name href={ "/recipes/" (it.known.recipe.name) } { (it.known.recipe.name) }
                        (format::recipe_status(&it.known.recipe))
                    }
                    p.soft { (it.trouble(now_ms)) }
                }
            }
        }
        @if by.len() > SHOWN as usize {
            p { a href="/recipes?health=failing" { "All " (by.len()) } }
        }
    }
}
