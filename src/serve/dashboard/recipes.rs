//! The list of recipes, and how each has done.

use std::{collections::BTreeMap, sync::Arc};

use maud::{Markup, html};

use super::{
    DashboardContext, PageResult, chart, format,
    layout::{self, NavItem},
    learn,
    pager::Pager,
};
use crate::{mcp::find::ranked, recipe_cache::CachedRecipe};
use commis_base::error::Result;
use commis_recipe::{model::Status, registry::Source, status::RecipeState};
use commis_state::{DayCounts, Health, KEPT_DAYS, day_of};

/// Recipes of a part of the list.
const SHOWN: usize = 50;
/// Days of a recipe's line.
const SPARK: i64 = 30;

/// A recipe with what is known of its runs.
pub struct RecipeEntry {
    pub known: Arc<CachedRecipe>,
    pub health: Option<Health>,
    pub days: Vec<DayCounts>,
    pub today: i64,
}

impl RecipeEntry {
    /// The last so many days.
    pub fn since(&self, days: i64) -> &[DayCounts] {
        let from = self.days.partition_point(|it| it.at <= self.today - days);
        &self.days[from..]
    }

    fn fails(&self) -> bool {
        self.health.as_ref().is_some_and(|it| it.failed_in_a_row > 0)
    }

    fn was_run(&self) -> bool {
        self.health.as_ref().is_some_and(|it| it.runs > 0)
    }

    /// Runs put it out of service, or are about to.
    pub fn needs_a_look(&self) -> bool {
        matches!(self.known.recipe.state(), RecipeState::Demoted(_)) || self.fails()
    }

    /// What is the matter with it.
    pub fn trouble(&self, now_ms: i64) -> Markup {
        let failed = self.health.as_ref().filter(|it| it.failed_in_a_row > 0);
        html! {
            @if let Some(it) = &self.known.recipe.demotion { (it.reason.describe()) " · since " (format::moment(&it.at, now_ms)) }
            @else if let Some(it) = failed {
                "failed " (format::count(i64::from(it.failed_in_a_row), "time", "times")) " in a row"
                @if let Some(code) = &it.last_code { ", last with " code { (code) } }
                " · " (format::ago(it.last_run_ms, now_ms))
            }
        }
    }
}

/// All recipes by name. Fails with `ARTIFACT_IO`.
pub fn load_entries(cx: &DashboardContext) -> Result<Vec<RecipeEntry>> {
    let daemon = &cx.daemon;
    let today = day_of(cx.now_ms);
    // Without a database nothing is known of runs.
    let state = daemon.state.as_ref().ok();
    let mut health: BTreeMap<(String, String), Health> = BTreeMap::new();
    for it in state.and_then(|it| it.all_health().ok()).unwrap_or_default() {
        health.insert((it.name.clone(), it.source.clone()), it);
    }
    let mut days: BTreeMap<(String, String), Vec<DayCounts>> = BTreeMap::new();
    for (name, source, day) in
        state.and_then(|it| it.all_health_days(today - KEPT_DAYS + 1).ok()).unwrap_or_default()
    {
        days.entry((name, source)).or_default().push(day);
    }
    Ok(daemon
        .recipes
        .all()?
        .into_iter()
        .map(|known| {
            let key = (known.recipe.name.to_string(), known.source.as_str().to_owned());
            let (health, days) = (health.remove(&key), days.remove(&key).unwrap_or_default());
            RecipeEntry { known, health, days, today }
        })
        .collect())
}

pub async fn page(cx: DashboardContext) -> PageResult {
    let after = layout::after(&cx).await;
    let words = cx.query_value("q");
    let status = cx.query_value("status").and_then(|it| {
        [Status::Verified, Status::Draft, Status::Deprecated].into_iter().find(|s| s.as_str() == it)
    });
    let health = cx.query_value("health");
    let mut all = load_entries(&cx)?;
    let whole = all.len();
    all.retain(|it| {
        status.is_none_or(|status| it.known.recipe.status == status)
            && match health {
                Some("failing") => it.needs_a_look(),
                Some("run") => it.was_run(),
                Some("never") => !it.was_run(),
                _ => true,
            }
    });
    // What needs a look first, then what is in service.
    all.sort_by_key(|it| (!it.needs_a_look(), !it.known.is_served()));
    if let Some(words) = words {
        let order: BTreeMap<String, usize> = {
            let seen: Vec<&Arc<CachedRecipe>> = all.iter().map(|it| &it.known).collect();
            let found = ranked(words, &seen).into_iter().enumerate();
            found.map(|(i, it)| (it.recipe.name.to_string(), i)).collect()
        };
        let place = |it: &RecipeEntry| order.get(it.known.recipe.name.as_str()).copied();
        all.retain(|it| place(it).is_some());
        all.sort_by_key(place);
    }
    let is_filtered = words.is_some() || status.is_some() || health.is_some();
    let mut pager = Pager::new(&cx, SHOWN);
    let part = pager.part(&all);
    let body = html! {
        h1 { "Recipes" }
        (filter(words, status, health))
        section #recipes data-live aria-label="Recipes" {
            @if all.is_empty() { (nothing(is_filtered)) }
            @else {
                p.soft { @if is_filtered { (all.len()) " of " (whole) } @else { (format::count(whole as i64, "recipe", "recipes")) } }
                (table(part, cx.now_ms))
                (pager.links(&cx, "/recipes", part.len(), pager.skip() + part.len() < all.len(), Some(all.len())))
            }
        }
    };
    Ok(layout::page(&cx, NavItem::Recipes, "Recipes", after, &body))
}

fn filter(words: Option<&str>, status: Option<Status>, health: Option<&str>) -> Markup {
    html! {
        form.filter method="get" action="/recipes" role="search" {
            label { span { "Words" } input type="search" name="q" value=(words.unwrap_or("")) maxlength="200" placeholder="name, task, site"; }
            label {
                span { "Status" }
                select name="status" {
                    option value="" { "any" }
                    @for it in [Status::Verified, Status::Draft, Status::Deprecated] {
                        option value=(it.as_str()) selected[status == Some(it)] { (format::status_text(it)) }
                    }
                }
            }
            label {
                span { "Health" }
                select name="health" {
                    option value="" { "any" }
                    @for (value, text) in [("failing", "needs a look"), ("run", "was run"), ("never", "never run")] {
                        option value=(value) selected[health == Some(value)] { (text) }
                    }
                }
            }
            button type="submit" { "Search" }
        }
    }
}

fn nothing(is_filtered: bool) -> Markup {
    if is_filtered {
        return format::empty(
            "No recipe is like that.",
            &html! { p { a href="/recipes" { "Look at all of them" } } },
        );
    }
    learn::invitation()
}

fn table(all: &[RecipeEntry], now_ms: i64) -> Markup {
    html! {
        table.rows {
            thead {
                tr {
                    th scope="col" { "Recipe" }
                    th scope="col" { "Status" }
                    th.wide scope="col" { "Last " (SPARK) " days" }
                    th.wide.n scope="col" { "Runs" }
                    th.wide.n scope="col" { "Failed" }
                    th.wide.n scope="col" { "Last worked" }
                }
            }
            tbody {
                @for it in all {
                    @let recipe = &it.known.recipe;
                    tr {
                        th scope="row" {
                            a href={ "/recipes/" (recipe.name) } { (recipe.name) }
                            @if it.known.source == Source::Library { span.soft { " · library" } }
                            span.task.said { (format::clip(&recipe.task, 160)) }
                            @if it.needs_a_look() { span.task { (it.trouble(now_ms)) } }
                        }
                        td { (format::recipe_status(recipe)) }
                        td.wide { @if it.was_run() { (chart::spark(it.since(SPARK), it.today, SPARK)) } @else { span.soft { "never run" } } }
                        td.wide.n { @if let Some(health) = &it.health { (health.runs) } }
                        td.wide.n { @if let Some(health) = &it.health { (health.failed) } }
                        td.wide.n { @if let Some(at) = it.health.as_ref().and_then(|it| it.last_ok_ms) { (format::ago(at, now_ms)) } }
                    }
                }
            }
        }
    }
}
