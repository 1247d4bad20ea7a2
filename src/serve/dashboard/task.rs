//! One task: where it stands, what happened, what it works with, what it came to.

use std::sync::Arc;

use axum::extract::Path;
use maud::{Markup, html};
use serde_json::Value;

use super::{
    DashboardContext, PageResult, candidate_table, format,
    layout::{self, NavItem},
    learn,
    overview::progress,
    recipe, tasks,
};
use crate::{
    operations::task_error,
    recipe_cache::CachedRecipe,
    task_database::{Event, TaskState, TaskView},
};
use commis_base::ids::{RecipeName, TaskId};
use commis_stages::STAGES;

/// Bytes of a result that are shown; the rest is fetched.
const MAX_RESULT: usize = 20_000;
const MAX_ARGS: usize = 4_000;

pub async fn page(cx: DashboardContext, Path(id): Path<String>) -> PageResult {
    let database = &cx.daemon.database;
    let after = layout::after(&cx).await;
    let task = database.task(&id).await?;
    let events = database.events_after(Some(&task.task_id), 0).await?;
    // A damaged result must not hide the task.
    let result = if task.state == TaskState::Done {
        database.result(&task.task_id).await.ok().flatten()
    } else {
        None
    };
    let body = html! {
        p.crumbs { a href="/tasks" { "Tasks" } }
        h1 { (format::doing(&task)) " " span.said { (format::about(&task)) } }
        section #state data-live data-task=(task.task_id) aria-label="Where it stands" { (status_line(&task, cx.now_ms)) }
        @if !task.state.has_ended() { (cancel(&task)) }
        div #ends data-live { (end(&cx, &task, result.as_ref())) }
        // Once it is there it stays: what a person writes into it is theirs.
        div #try data-live data-once { @if let Some(it) = result.as_ref() { (try_it(&cx, it)) } }
        section #timeline data-live aria-labelledby="timeline-head" {
            h2 #timeline-head { "What happened" }
            (timeline(&events, &task, cx.now_ms))
        }
        section aria-labelledby="args-head" {
            h2 #args-head { "What it works with" }
            (arguments(&task.args))
        }
    };
    let title = format!("{} {}", format::doing(&task), format::clip(&format::about(&task), 60));
    Ok(layout::page(&cx, NavItem::Tasks, &title, after, &body))
}

fn status_line(task: &TaskView, now_ms: i64) -> Markup {
    html! {
        p.line { (format::state(task.state)) span.soft { "asked for by " (tasks::requester(task)) ", " (format::ago(task.created_ms, now_ms)) } }
        @if task.state == TaskState::Running { (progress(task, now_ms)) }
        dl.facts {
            dt { "Id" } dd { code { (task.task_id) } }
            @if let Some(began) = task.began_ms {
                dt { "Waited" } dd { (format::format_duration(began - task.created_ms)) }
                dt { "Took" } dd { (tasks::took(task, now_ms)) }
            }
            @if let Some(stage) = &task.stage { dt { @if task.state.has_ended() { "Ended in" } @else { "Stage" } } dd { (stage.replace('_', " ")) } }
            @if let Some(name) = recipe_of(task) { dt { "Recipe" } dd { a href={ "/recipes/" (name) } { (name) } } }
        }
    }
}

/// The recipe that a task names, where it is one's name.
fn recipe_of(task: &TaskView) -> Option<RecipeName> {
    let runs = matches!(task.operation.as_str(), "recipe_run" | "recipe_verify");
    task.args["name"].as_str().filter(|_| runs).and_then(|it| RecipeName::new(it).ok())
}

fn cancel(task: &TaskView) -> Markup {
    html! {
        div #cancel data-live {
            button.danger type="button" data-dialog="cancel-dialog" { "Cancel this task" }
        }
        // Beside what is kept up to date: a script reads it as something else than a page without one does.
        noscript { p.soft { "That needs this page's script; or " code { "POST /api/tasks/" (task.task_id) "/cancel" } "." } }
        dialog #cancel-dialog aria-labelledby="cancel-head" {
            h2 #cancel-head { "Cancel this task?" }
            p { "What is under way ends where it next waits. What it has changed stays changed." }
            p.notice hidden role="alert" data-trouble {}
            div.buttons {
                button type="button" data-close autofocus { "Let it go on" }
                button.danger type="button" data-post={ "/api/tasks/" (task.task_id) "/cancel" } data-then="close" { "Cancel it" }
            }
        }
    }
}

fn end(cx: &DashboardContext, task: &TaskView, result: Option<&Value>) -> Markup {
    html! {
        @if task.state.has_ended() && task.state != TaskState::Done {
            @let it = task_error(task);
            section.trouble aria-labelledby="error-head" {
                h2 #error-head { "Why it came to nothing" }
                p { (it.message) }
                @if let Some(hint) = &it.hint { p.soft { (hint) } }
                p { code { (it.error_code) } @if it.retryable { span.soft { " · the same may work later" } } }
                div.buttons { (learn::again(task, "Change it and learn again")) }
            }
        }
        @if let Some(it) = result {
            section aria-labelledby="result-head" {
                h2 #result-head { "What it came to" }
                (learning_result(cx, task, it))
                @let (text, whole) = format::json(it, MAX_RESULT);
                @if it["outcome"].is_string() {
                    details.more { summary { "All that is said of it" } (format::code_box("Result as JSON", &text)) }
                } @else { (format::code_box("Result as JSON", &text)) }
                @if !whole {
                    p { "That is the beginning. " a href={ "/api/tasks/" (task.task_id) "/result" } { "The whole result" } }
                }
            }
        }
    }
}

/// What learning came to, in words; where a person has to choose, what there is to choose from.
fn learning_result(cx: &DashboardContext, task: &TaskView, result: &Value) -> Markup {
    let text = |key: &str| result[key].as_str();
    let Some(outcome) = text("outcome") else { return html! {} };
    let name = text("name").and_then(|it| RecipeName::new(it).ok());
    let stored = text("task_id").and_then(|it| TaskId::parse(it).ok());
    html! {
        p {
            b { (outcome.replace('_', " ")) }
            @if let Some(why) = text("reason") { ": " (why.replace('_', " ")) }
            @if let Some(name) = name.filter(|_| result["recipe"].is_string()) {
                " · " a href={ "/recipes/" (name) } { "the recipe " (name) }
            }
        }
        @if let Some(it) = text("detail") { p.soft { (it) } }
        (next_step(cx, task, outcome, result))
        @if outcome == "needs_selection" {
            @if let Some(all) = stored.and_then(|it| candidate_table::read(&cx.daemon, &it)) {
                h3 { "Choose the request that carried the data" }
                (candidate_table::table(&all, Some(&task.task_id)))
                p.notice hidden role="alert" data-trouble {}
            }
        }
    }
}

/// What a person can do about an outcome.
fn next_step(cx: &DashboardContext, task: &TaskView, outcome: &str, result: &Value) -> Markup {
    let known = recipe_named(cx, result);
    let proves = known.as_ref().is_some_and(|it| it.recipe.state().may_be_proven());
    let has_two = known.as_ref().is_some_and(|it| {
        let given = it.recipe.parameters.iter().filter(|it| it.required);
        given.clone().count() > 0 && given.clone().all(|it| it.examples.len() > 1)
    });
    html! {
        @match outcome {
            "saved_draft" => {
                p {
                    "A draft runs, but nothing proved that its answers are right and whole. "
                    @if has_two { "It has two examples, so it can be proven." } @else { "A proof also needs a second example of each value." }
                }
                div.buttons {
                    @if proves && has_two && let Some(it) = &known {
                        button.main type="button" data-post={ "/api/recipes/" (it.recipe.name) "/verify" } data-then="task" { "Prove it on its examples" }
                    }
                    (learn::again(task, if has_two { "Change it and learn again" } else { "Give a second example" }))
                }
                p.notice hidden role="alert" data-trouble {}
            },
            "verified" => {},
            "needs_selection" => {
                p { "It could not be told which request carried the data. Choose one below, or say in the sentence what the data holds." }
                div.buttons { (learn::again(task, "Change it and learn again")) }
            },
            _ => div.buttons { (learn::again(task, "Change it and learn again")) },
        }
    }
}

/// The recipe that learning came to.
fn recipe_named(cx: &DashboardContext, result: &Value) -> Option<Arc<CachedRecipe>> {
    let name = result["name"].as_str().filter(|_| result["recipe"].is_string())?;
    cx.daemon.recipes.get(&RecipeName::new(name).ok()?).ok()
}

/// A form that runs what was learned.
fn try_it(cx: &DashboardContext, result: &Value) -> Markup {
    let known = result["outcome"].as_str().and_then(|_| recipe_named(cx, result));
    html! { @if let Some(it) = known { (recipe::run_form(&it.recipe)) } }
}

/// Events in order; of stages also how long each took.
fn timeline(events: &[Event], task: &TaskView, now_ms: i64) -> Markup {
    if events.is_empty() {
        return format::empty(
            "Nothing is known any more.",
            &html! { p { "The oldest events of a task are forgotten first." } },
        );
    }
    let first = events.first().map_or(0, |it| it.at_ms);
    let last = task.ended_ms.unwrap_or(now_ms).max(first + 1);
    html! {
        ol.timeline {
            @for (i, it) in events.iter().enumerate() {
                @let until = events.get(i + 1).map_or(last, |it| it.at_ms);
                @let stays = matches!(it.kind.as_str(), "stage" | "running" | "queued") && until > it.at_ms;
                li class=(kind_class(&it.kind)) {
                    span.at { "+" (format::format_duration(it.at_ms - first)) }
                    span.what { (event_text(it)) }
                    @if stays {
                        @let place = |ms: i64| (ms - first) * 200 / (last - first);
                        span.n { (format::format_duration(until - it.at_ms)) }
                        svg.bar viewBox="0 0 200 8" preserveAspectRatio="none" aria-hidden="true" {
                            rect x=(place(it.at_ms).min(198)) y="1" width=((place(until) - place(it.at_ms)).max(2)) height="6" rx="1" {}
                        }
                    }
                }
            }
        }
    }
}

fn kind_class(kind: &str) -> &'static str {
    match kind {
        "done" => "good",
        "failed" => "bad",
        "cancelled" | "interrupted" => "warn",
        _ => "",
    }
}

fn event_text(it: &Event) -> Markup {
    let code = it.data["error_code"].as_str();
    html! {
        @match (it.kind.as_str(), it.data["stage"].as_str()) {
            ("stage", Some(stage)) => {
                (stage.replace('_', " "))
                @if let Some(at) = it.data["progress"].as_u64() { span.soft { " · stage " (at + 1) " of " (STAGES.len()) } }
            }
            (kind, _) => { b { (kind.replace('_', " ")) } }
        }
        @if let Some(code) = code { " " code { (code) } }
    }
}

fn arguments(args: &Value) -> Markup {
    let Some(all) = args.as_object().filter(|it| !it.is_empty()) else {
        return html! { p.soft { "It takes no arguments." } };
    };
    html! {
        dl.facts {
            @for (name, value) in all {
                dt { (name) }
                dd {
                    @match value {
                        Value::String(it) if name == "url" => (format::link(it)),
                        Value::String(it) => span.said { (format::clip(it, MAX_ARGS)) },
                        Value::Null => span.soft { "none" },
                        Value::Bool(_) | Value::Number(_) => code { (value) },
                        it if it.as_array().is_some_and(Vec::is_empty) || it.as_object().is_some_and(serde_json::Map::is_empty) => span.soft { "none" },
                        Value::Object(all) if all.values().all(|it| !it.is_array() && !it.is_object()) => {
                            ul.plain { @for (name, it) in all { li { (name) " = " code { (it.as_str().map_or_else(|| it.to_string(), |it| format::clip(it, MAX_ARGS))) } } } }
                        },
                        it => {
                            @let (text, whole) = format::json(it, MAX_ARGS);
                            (format::code_box(name, &text))
                            @if !whole { span.soft { "and more" } }
                        }
                    }
                }
            }
        }
    }
}
