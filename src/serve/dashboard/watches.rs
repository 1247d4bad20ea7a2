//! Watches: which there are, what one of them saw, and how a value of an item went.

use axum::extract::Path;
use maud::{Markup, html};
use serde_json::Value;

use super::{
    DashboardContext, PageResult, curve, format,
    layout::{self, NavItem},
};
use crate::watch::{
    Condition, diff,
    store::{Change, Outcome, RunRecord, Watch},
};
use commis_base::error::Result;

/// Watches of the list, runs of the log, changes of one run, and items to choose from.
const SHOWN: usize = 200;
const RUNS: u32 = 50;
const CHANGES: usize = 20;
const ITEMS: usize = 200;

pub async fn page(cx: DashboardContext) -> PageResult {
    let mut all = cx.daemon.watches.store.all().await?;
    // What needs a look first.
    all.sort_by_key(|it| it.paused || it.failures == 0);
    let body = html! {
        h1 { "Watches" }
        section #watches data-live aria-label="Watches" {
            @if all.is_empty() { (nothing()) }
            @else {
                p.soft {
                    (format::count(all.len() as i64, "watch", "watches"))
                    @if all.len() > SHOWN { ", the first " (SHOWN) " of them here: " code { "commis watch list" } " has all" }
                }
                (list(&all[..all.len().min(SHOWN)], cx.now_ms))
            }
        }
    };
    Ok(layout::kept_up(&cx, NavItem::Watches, "Watches", &body))
}

fn nothing() -> Markup {
    format::empty(
        "Nothing is watched yet.",
        &html! {
            p { "Run a verified recipe on a schedule and see what changes:" }
            pre.command { code { "commis watch add RECIPE -p name=value --every 1h" } }
        },
    )
}

fn list(all: &[Watch], now_ms: i64) -> Markup {
    html! {
        table.rows {
            thead {
                tr {
                    th scope="col" { "Watch" }
                    th scope="col" { "State" }
                    th.wide scope="col" { "Every" }
                    th.wide scope="col" { "Next run" }
                    th.wide.n scope="col" { "Items" }
                    th.wide.n scope="col" { "Last worked" }
                }
            }
            tbody {
                @for it in all {
                    tr {
                        th scope="row" {
                            a href={ "/watches/" (it.watch) } { (it.watch) }
                            span.task { (it.request.recipe) @for (name, value) in &it.request.params { " · " (name) " " (format::clip(value, 60)) } }
                        }
                        td { (state(it)) }
                        td.wide { (it.request.every) }
                        td.wide { (next(it, now_ms)) }
                        td.wide.n { @if let Some(n) = it.items { (n) } }
                        td.wide.n { @if let Some(at) = it.last_ok_ms { (format::ago(at, now_ms)) } @else { span.soft { "not yet" } } }
                    }
                }
            }
        }
    }
}

fn state(it: &Watch) -> Markup {
    let (class, text) = match it {
        it if it.paused => ("", "paused"),
        it if it.running => ("now", "running"),
        it if it.failures > 0 => ("bad", "fails"),
        it if it.last_ok_ms.is_none() => ("", "new"),
        _ => ("good", "works"),
    };
    html! {
        span class={ "badge " (class) } { (text) }
        @if it.private { " " span.badge.warn title="Its answers are an account's" { "private" } }
    }
}

/// In how long it runs again.
fn next(it: &Watch, now_ms: i64) -> Markup {
    let seconds = (it.next_ms - now_ms) / 1000;
    html! {
        @if it.paused { span.soft { "paused" } }
        @else if seconds <= 0 { "due" }
        @else if seconds < 90 { "in " (seconds) " s" }
        @else if seconds < 5400 { "in " (seconds / 60) " min" }
        @else if seconds < 172_800 { "in " (seconds / 3600) " h" }
        @else { "in " (seconds / 86_400) " d" }
    }
}

pub async fn one(cx: DashboardContext, Path(name): Path<String>) -> PageResult {
    let store = &cx.daemon.watches.store;
    let watch = store.get(&name).await?;
    let runs = store.log(&name, RUNS, false).await?;
    let chosen = choose_item(&cx, &watch, &runs).await?;
    let now_ms = cx.now_ms;
    let body = html! {
        p.crumbs { a href="/watches" { "Watches" } }
        h1 { (watch.watch) }
        section #state data-live aria-label="Where it stands" { (facts(&watch, now_ms)) }
        section #curve data-live aria-labelledby="curve-head" {
            h2 #curve-head { "One item over time" }
            @match &chosen {
                Some(it) => (course(&watch, it, now_ms)),
                None => (format::empty("There is no number to draw yet.", &html! {
                    p { "A number of an item, such as a price, is drawn from the first answer on." }
                })),
            }
        }
        section #log data-live aria-labelledby="log-head" {
            h2 #log-head { "What it saw" }
            @if runs.is_empty() { (format::empty("It did not run yet.", &html! {})) }
            @else { (history(&runs, now_ms)) }
        }
    };
    Ok(layout::kept_up(&cx, NavItem::Watches, &watch.watch, &body))
}

fn facts(it: &Watch, now_ms: i64) -> Markup {
    let address = format!("/api/watches/{}", it.watch);
    html! {
        p.line { (state(it)) span.soft { "next run " (next(it, now_ms)) } }
        @if let (Some(code), Some(why)) = (&it.error_code, &it.error) {
            div.notice.warn { p { (format::clip(why, 300)) " " span.soft { code { (code) } " · " (format::count(i64::from(it.failures), "time", "times")) " in a row" } } }
        }
        dl.facts {
            dt { "Recipe" } dd { a href={ "/recipes/" (it.request.recipe) } { (it.request.recipe) } }
            @for (name, value) in &it.request.params { dt { (name) } dd.said { (format::clip(value, 200)) } }
            dt { "Every" } dd { (it.request.every) }
            dt { "Counts" } dd { @if it.request.on.is_empty() { "everything" } @else { code { (it.request.on.join(", ")) } } }
            dt { "Items told apart by" } dd {
                @if it.key_found.is_empty() { "all that they say" } @else { code { (it.key_found.join(", ")) } }
                @if it.request.key.is_some() { span.soft { " · as you said" } }
            }
            dt { "Tells" } dd { @if it.request.notify.is_empty() { "nobody" } @else { (it.request.notify.join(", ")) } }
        }
        div.buttons {
            button type="button" data-post={ (address) "/run" } { "Run now" }
            @if it.paused { button type="button" data-post={ (address) "/pause" } data-body=r#"{"resume":true}"# { "Resume" } }
            @else { button type="button" data-post={ (address) "/pause" } { "Pause" } }
        }
        p.notice hidden role="alert" data-trouble {}
    }
}

/// An item, a field of it, and its values.
struct Chosen {
    items: Vec<String>,
    item: String,
    field: String,
    points: Vec<curve::Point>,
}

/// The item of the address, else the one that changed last, else the first; of it the field that is watched, else its first number that
/// changed, else its first number. `None` where there is none.
async fn choose_item(
    cx: &DashboardContext,
    watch: &Watch,
    runs: &[RunRecord],
) -> Result<Option<Chosen>> {
    let store = &cx.daemon.watches.store;
    let Some((baseline, since_ms)) = store.baseline(&watch.watch).await? else { return Ok(None) };
    let all = diff::by_key(&baseline, &watch.key);
    let last = runs.iter().flat_map(|it| &it.changes).find(|it| it.kind == diff::Kind::Changed);
    let wanted = cx.query_value("item").map(str::to_owned).or(last.map(|it| it.item.clone()));
    let found = wanted.and_then(|it| all.iter().find(|(key, _)| *key == it));
    let Some((item, fields)) = found.or(all.first()) else { return Ok(None) };
    let changes = store.of_item(&watch.watch, item).await?;
    let is_number =
        |path: &str| fields.iter().any(|it| it.0 == path && diff::number(&it.1).is_some());
    let conditions = Condition::all(&watch.request.on);
    let watched = conditions.iter().filter_map(Condition::path).find(|it| is_number(it));
    let changed = changes.iter().map(|it| it.path.as_str()).find(|it| is_number(it));
    let first = fields
        .iter()
        .map(|it| it.0.as_str())
        .find(|it| is_number(it) && !watch.key.paths.iter().any(|key| key == it));
    let Some(field) = watched.or(changed).or(first).map(str::to_owned) else { return Ok(None) };
    let points = points(&changes, &field, fields, since_ms);
    let items = all.iter().take(ITEMS).map(|it| it.0.clone()).collect();
    Ok(Some(Chosen { items, item: item.clone(), field, points }))
}

/// The values of a field since the first answer: each from when it was first seen.
fn points(changes: &[Change], field: &str, now: &diff::Fields, since_ms: i64) -> Vec<curve::Point> {
    let of = changes.iter().filter(|it| it.kind == diff::Kind::Changed && it.path == field);
    let all: Vec<&Change> = of.collect();
    let value = |it: Option<&Value>| it.and_then(diff::number);
    let came = changes.iter().rev().find(|it| it.kind == diff::Kind::Added).map(|it| it.at_ms);
    let start = came.unwrap_or(since_ms);
    let is = now.iter().find(|it| it.0 == field).map(|it| &it.1);
    let first = all.first().map_or_else(|| value(is), |it| value(it.old.as_ref()));
    let mut out: Vec<curve::Point> =
        first.map(|value| curve::Point { at_ms: start, value }).into_iter().collect();
    out.extend(
        all.iter().filter_map(|it| {
            Some(curve::Point { at_ms: it.at_ms, value: value(it.new.as_ref())? })
        }),
    );
    out
}

fn course(watch: &Watch, it: &Chosen, now_ms: i64) -> Markup {
    html! {
        form.filter method="get" action={ "/watches/" (watch.watch) } {
            label {
                span { "Item" }
                select name="item" {
                    @for key in &it.items { option value=(key) selected[*key == it.item] { (format::clip(&key.replace('\n', ", "), 80)) } }
                }
            }
            button type="submit" { "Show" }
        }
        (curve::curve(&it.field, &it.points, now_ms))
    }
}

fn history(runs: &[RunRecord], now_ms: i64) -> Markup {
    html! {
        ol.work {
            @for it in runs {
                li {
                    div.line {
                        span.name { (outcome(it)) }
                        span.soft {
                            @if it.runs > 1 { (format::count(it.runs, "run", "runs")) ", the last " }
                            (format::ago(it.until_ms, now_ms))
                        }
                    }
                    @if let (Some(why), Some(code)) = (&it.error, &it.error_code) { p { (format::clip(why, 300)) " " code { (code) } } }
                    @if !it.changes.is_empty() { (changes(&it.changes, it.id)) }
                }
            }
        }
    }
}

fn outcome(it: &RunRecord) -> Markup {
    html! {
        @match it.outcome {
            Outcome::First => { "First answer" @if let Some(n) = it.items { ", " (format::count(n, "item", "items")) } }
            Outcome::Unchanged => { "Nothing new" }
            Outcome::Changed => {
                @let all = [(it.added, "added"), (it.removed, "removed"), (it.changed, "changed")];
                @for (i, (n, what)) in all.iter().filter(|it| it.0 > 0).enumerate() { @if i > 0 { ", " } (n) " " (what) }
            }
            Outcome::Empty => { "No items, and no proof that there are none" }
            Outcome::Failed => { span.badge.bad { "failed" } }
            Outcome::Interrupted => { "The daemon ended while it ran" }
        }
    }
}

fn changes(all: &[Change], run: i64) -> Markup {
    let text = |it: &Option<Value>| match it {
        Some(Value::String(it)) => format::clip(it, 80),
        Some(it) => format::clip(&it.to_string(), 80),
        None => "nothing".to_owned(),
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "What changed in run " (run) } {
            table {
                thead { tr { th scope="col" { "Item" } th scope="col" { "Field" } th scope="col" { "Change" } } }
                tbody {
                    @for it in all.iter().take(CHANGES) {
                        tr {
                            th.said scope="row" { (format::clip(&it.item.replace('\n', ", "), 80)) }
                            @if it.kind == diff::Kind::Changed {
                                td { (it.path) } td.said { (text(&it.old)) " → " (text(&it.new)) }
                            } @else { td colspan="2" { (it.kind.as_str()) } }
                        }
                    }
                }
            }
        }
        @if all.len() > CHANGES { p.soft { (all.len() - CHANGES) " more: " code { "commis watch log" } " shows them" } }
    }
}
