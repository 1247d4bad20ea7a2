//! One recipe: what it asks and answers, how it was proven and chosen, how it does, and a form to run it.

use axum::extract::Path;
use maud::{Markup, html};
use serde_json::Value;

use super::{
    DashboardContext, PageResult, candidate_table, chart, format,
    layout::{self, NavItem},
    logins,
    recipes::RecipeEntry,
};
use crate::recipe_cache::CachedRecipe;
use commis_base::ids::RecipeName;
use commis_learn::{choice, refusal_error};
use commis_recipe::{
    model::{
        Auth, AuthKind, BodyTemplate, Constraints, Format, LoginNeed, LoginProof, Pair, ParamType,
        Parameter, Recipe, ResponseSpec, ResponseType, Slot, SlotSource, Status, StrangerAnswer,
        Verification, Witness,
    },
    paging::{PageBy, PageEnd, Pages},
    registry::Source,
    status::RecipeState,
};
use commis_state::{KEPT_DAYS, day_of};
use commis_vault::{LoginSummary, Vault};

const MAX_SCHEMA: usize = 12_000;

pub async fn page(cx: DashboardContext, Path(name): Path<String>) -> PageResult {
    let name = RecipeName::new(name)?;
    let after = layout::after(&cx).await;
    let kept = load_entry(&cx, &name)?;
    let known = &kept.known;
    let recipe = &known.recipe;
    let chosen = candidate_table::task_of(&cx.daemon, &name)
        .and_then(|it| candidate_table::read(&cx.daemon, &it));
    let body = html! {
        p.crumbs { a href="/recipes" { "Recipes" } }
        h1 { (recipe.name) }
        p.lead.said { (recipe.task) }
        section #state data-live aria-label="Where it stands" { (status_section(&kept, cx.now_ms)) }
        (run_form(recipe))
        section #health data-live aria-labelledby="health-head" {
            h2 #health-head { "How it does" }
            (health(&kept, cx.now_ms))
        }
        section aria-labelledby="parameters-head" {
            h2 #parameters-head { "Parameters" }
            (parameters(&recipe.parameters))
        }
        section aria-labelledby="request-head" {
            h2 #request-head { "What it asks" }
            (request(recipe))
        }
        section aria-labelledby="answer-head" {
            h2 #answer-head { "What it answers" }
            (response(&recipe.response))
            (schemas(known))
        }
        @if let Some(it) = &recipe.pages {
            section #pages aria-labelledby="pages-head" {
                h2 #pages-head { "How it follows pages" }
                (pages(it))
            }
        }
        @if let Some(it) = &recipe.login {
            section #login aria-labelledby="login-head" {
                h2 #login-head { "Login" }
                (login(it, recipe, &cx))
            }
        }
        section aria-labelledby="proof-head" {
            h2 #proof-head { "How it was proven" }
            (proof(recipe, cx.now_ms))
        }
        section aria-labelledby="chosen-head" {
            h2 #chosen-head { "How it was chosen" }
            @match &chosen {
                Some(it) => {
                    (candidate_table::table(it, None))
                    p.soft { code { "commis recipe debug --task-id " (it.task) } " says more." }
                }
                None => (format::empty("What it was learned from is not here.", &html! {
                    p { "The recording of a recipe that came from the library or from another machine stays where it was made." }
                })),
            }
        }
    };
    Ok(layout::page(&cx, NavItem::Recipes, recipe.name.as_str(), after, &body))
}

fn load_entry(cx: &DashboardContext, name: &RecipeName) -> commis_base::error::Result<RecipeEntry> {
    let known = cx.daemon.recipes.get(name)?;
    let today = day_of(cx.now_ms);
    let state = cx.daemon.state.as_ref().ok();
    let source = known.source.as_str();
    let health = state.and_then(|it| it.health(name.as_str(), source).ok().flatten());
    let days =
        state.and_then(|it| it.health_days(name.as_str(), source, today - KEPT_DAYS + 1).ok());
    Ok(RecipeEntry { health, days: days.unwrap_or_default(), today, known })
}

fn status_section(kept: &RecipeEntry, now_ms: i64) -> Markup {
    let recipe = &kept.known.recipe;
    let may_be_proven = recipe.state().may_be_proven();
    html! {
        p.line {
            (format::recipe_status(recipe))
            @if let Some(it) = &recipe.category { span.badge { (format::clip(it, 40)) } }
            span.soft { (if kept.known.source == Source::User { "yours" } else { "of the library" }) " · learned at " (format::link(&recipe.source_url)) }
        }
        @if recipe.state() != RecipeState::Verified {
            @let why = refusal_error(recipe);
            div.notice.warn {
                p { (why.to_string()) @if let Some(it) = &recipe.refused { ": " (it) } }
                @if let Some(hint) = why.hint_text() { p { (hint) } }
            }
        }
        @if kept.needs_a_look() { p.soft { (kept.trouble(now_ms)) } }
        @if may_be_proven && recipe.state() != RecipeState::Verified {
            p { button type="button" data-post={ "/api/recipes/" (recipe.name) "/verify" } data-then="task" { "Prove it on its examples" } }
            p.notice hidden role="alert" data-trouble {}
        }
    }
}

/// A form that runs a recipe in service, or a draft.
pub fn run_form(recipe: &Recipe) -> Markup {
    let draft = recipe.status == Status::Draft;
    html! {
        section aria-labelledby="run-head" {
            h2 #run-head { "Run it" }
            @if recipe.status == Status::Deprecated {
                p.soft { "It is out of service, so it cannot be run." }
            } @else {
                form #run.run data-run={ "/api/recipes/" (recipe.name) "/run" } data-draft=[draft.then_some("")] {
                    @for it in &recipe.parameters { (field(it)) }
                    div.buttons { button.main type="submit" { @if draft { "Run the draft" } @else { "Run" } } }
                    noscript { p.soft { "Running needs this page's script. In a terminal: " code { "commis recipe run " (recipe.name) } } }
                }
                p #run-said.notice hidden role="status" {}
                div #run-data hidden {}
            }
        }
    }
}

fn field(it: &Parameter) -> Markup {
    let id = format!("p-{}", it.name);
    let needed = it.required && it.default.is_none();
    let example = it.examples.first().map_or("", String::as_str);
    let words: Vec<&str> = if it.constraints.map.is_empty() {
        it.constraints.one_of.iter().map(String::as_str).collect()
    } else {
        it.constraints.map.keys().map(String::as_str).collect()
    };
    let kind = match (it.kind, it.constraints.format) {
        (_, Some(Format::Date)) => "date",
        _ => "text",
    };
    let mode = match it.kind {
        ParamType::Int => Some("numeric"),
        ParamType::Float => Some("decimal"),
        ParamType::Str | ParamType::Bool => None,
    };
    html! {
        div.field {
            label for=(id) { (it.name) @if !needed { span.soft { " · may be left out" } } }
            @if !words.is_empty() || it.kind == ParamType::Bool {
                select id=(id) data-param=(it.name) required[needed] {
                    option value="" { "choose" }
                    @for word in if words.is_empty() { vec!["true", "false"] } else { words } { option value=(word) { (word) } }
                }
            } @else {
                input id=(id) type=(kind) data-param=(it.name) required[needed] inputmode=[mode] maxlength="2000"
                    autocomplete="off" placeholder=[(!example.is_empty()).then_some(example)];
            }
            @if let Some(it) = &it.default { span.hint { "else " code { (it) } } }
        }
    }
}

fn health(kept: &RecipeEntry, now_ms: i64) -> Markup {
    let Some(it) = &kept.health else {
        return format::empty(
            "It has not been run yet.",
            &html! { p { "Runs are counted from the first one on, whoever asks for them." } },
        );
    };
    html! {
        @if kept.days.is_empty() {
            p.soft { "Days are counted since this version of commis; none has had a run yet." }
        } @else {
            (chart::chart(&kept.days, kept.today, KEPT_DAYS))
        }
        dl.facts {
            dt { "Runs" } dd { (it.runs) ", " (it.failed) " failed" }
            dt { "Last run" } dd { (format::ago(it.last_run_ms, now_ms)) @if let Some(code) = &it.last_code { ", failed with " code { (code) } } @else { ", worked" } }
            @if let Some(at) = it.last_ok_ms { dt { "Last worked" } dd { (format::ago(at, now_ms)) } }
            @if let Some(bp) = it.last_similarity_bp { dt { "Last answer" } dd { (format!("{:.0}\u{a0}%", f64::from(bp) / 100.0)) " like the one that was proven" } }
        }
        @if !kept.days.is_empty() { (chart::table(&kept.days)) }
    }
}

fn parameters(all: &[Parameter]) -> Markup {
    if all.is_empty() {
        return html! { p.soft { "It takes none." } };
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of parameters" {
            table {
                thead { tr { th scope="col" { "Name" } th scope="col" { "Type" } th scope="col" { "Needed" } th scope="col" { "Rules" } th scope="col" { "Examples" } } }
                tbody {
                    @for it in all {
                        tr {
                            th scope="row" { code { (it.name) } }
                            td { (it.kind.describe()) }
                            td { @match &it.default { Some(it) => { "no, else " code { (it) } }, None if it.required => "yes", None => "no" } }
                            td { (rules(&it.constraints)) }
                            td { @for (i, it) in it.examples.iter().take(6).enumerate() { @if i > 0 { ", " } span.said { (format::clip(it, 60)) } } }
                        }
                    }
                }
            }
        }
    }
}

fn rules(it: &Constraints) -> String {
    let mut out = Vec::new();
    let words: Vec<&str> =
        it.one_of.iter().chain(it.map.keys()).map(String::as_str).take(12).collect();
    if !words.is_empty() {
        out.push(format!("one of {}", words.join(", ")));
    }
    if it.format == Some(Format::Date) {
        out.push("a day such as 2026-03-28".to_owned());
    }
    for (what, n) in [("at least", it.min), ("at most", it.max)] {
        out.extend(n.map(|n| format!("{what} {n}")));
    }
    out.extend(it.max_len.map(|n| format!("at most {n} characters")));
    if out.is_empty() { "–".to_owned() } else { out.join("; ") }
}

fn request(recipe: &Recipe) -> Markup {
    let it = &recipe.request;
    html! {
        @for step in recipe.steps_before() {
            p.request { "Step " b { (step.name) } ": " b { (step.request.method) } " " code { (step.request.url) } }
            dl.facts {
                @if !step.request.query.is_empty() { dt { "Query" } dd { (pairs(&step.request.query)) } }
                @if let Some(choice) = choice(step) { dt { "Takes" } dd { (choice) } }
            }
        }
        p.request { b { (it.method) } " " code { (it.url) } }
        dl.facts {
            @if !it.query.is_empty() { dt { "Query" } dd { (pairs(&it.query)) } }
            @if !it.headers.is_empty() {
                dt { "Headers" }
                dd { ul.plain { @for (name, value) in &it.headers { li { code { (name) ": " (value) } } } } }
            }
            @match &it.body {
                None => {},
                Some(BodyTemplate::Json(body)) => { dt { "Body, JSON" } dd { (format::code_box("Body", &format::json(body, MAX_SCHEMA).0)) } },
                Some(BodyTemplate::Form(body)) => { dt { "Body, form" } dd { (pairs(body)) } },
                Some(BodyTemplate::Text(body)) => { dt { "Body, text" } dd { (format::code_box("Body", &format::clip(body, MAX_SCHEMA))) } },
            }
            @if !recipe.slots.is_empty() {
                dt { "Fetched each time" }
                dd { ul.plain { @for it in &recipe.slots { li { (slot(it)) } } } }
            }
            @if let Some(it) = &recipe.auth { dt { "Key" } dd { (auth(it)) } }
            dt { "Sent" } dd { (recipe.transport().as_str().replace('_', " ")) }
            dt { "May reach" } dd { (it.allowed_domains.join(", ")) }
            @if let Some(it) = &recipe.own_host { dt { "Your own host" } dd { (it) } }
        }
    }
}

fn pairs(all: &[Pair]) -> Markup {
    html! { ul.plain { @for it in all { li { code { (it.name) "=" (it.value) } } } } }
}

fn slot(it: &Slot) -> Markup {
    html! {
        code { (it.name) } " "
        @match &it.from {
            SlotSource::Cookie { name, .. } => { "from the cookie " code { (name) } },
            SlotSource::Meta { name } => { "from the page's meta " code { (name) } },
            SlotSource::Storage { area, key, .. } => { "from the page's " (area.as_str()) " storage " code { (key) } },
            SlotSource::Response { url, path } => { "from the answer of " code { (url) } " at " code { (path) } },
            SlotSource::Document { url, .. } => { "from the text of " code { (url) } },
            SlotSource::Live { .. } => "known only to the session that was recorded",
        }
    }
}

/// The name of the variable, never what it holds.
fn auth(it: &Auth) -> Markup {
    let kind = match it.kind {
        AuthKind::Bearer => "a bearer token",
        AuthKind::Basic => "a user's name and password",
        AuthKind::ApiKey => "an API key",
    };
    html! {
        (kind) " from the variable " code { (it.env) }
        @if let Some(name) = it.header.as_ref().or(it.query.as_ref()) { " as " code { (name) } }
    }
}

fn pages(it: &Pages) -> Markup {
    let by = match it.by {
        PageBy::Page => "a parameter that counts pages",
        PageBy::Offset => "a parameter that counts items",
        PageBy::Cursor => "a cursor that each answer gives",
        PageBy::Url => "an address that each answer gives",
        PageBy::LinkHeader => "the address in the header Link",
        PageBy::PageLink => "a link of the page",
    };
    let end = |it: PageEnd| match it {
        PageEnd::Total => "as many items as the site says that there are",
        PageEnd::Missing => "nothing leads further",
        PageEnd::Same => "the cursor stays the same",
        PageEnd::Empty => "a page without items",
        PageEnd::NotFound => "a page that is not there (404)",
        PageEnd::Repeats => "the last page comes again",
    };
    html! {
        dl.facts {
            dt { "From page to page" }
            dd { (by) @if let Some(name) = &it.parameter { ": " code { (name) } @if let Some(n) = it.first { ", from " (n) } } }
            @if let Some(next) = &it.next { dt { "Read at" } dd { code { (next) } } }
            dt { "The list ends with" }
            dd { ul.plain { @for it in &it.ends { li { (end(*it)) } } } }
            dt { "Items are told apart by" }
            dd { @match &it.key { Some(key) => code { (key) }, None if it.alike => "nothing: equal items are different ones", None => "all that they hold" } }
            dt { "A run gives" }
            dd { @if it.all { "all pages, unless it is told otherwise" } @else { "the first page; " code { "--all" } " gives all" } }
            dt { "Seen in the proof" }
            dd {
                (format::count(it.seen.items as i64, "item", "items")) " on " (format::count(it.seen.pages as i64, "page", "pages"))
                @if it.seen.repeated > 0 { ", " (it.seen.repeated) " of them twice" }
                @if it.seen.counted { ", as many as the site says" }
            }
        }
    }
}

/// What a recipe needs, and which logins of the vault are of that site. No value of one.
fn login(it: &LoginNeed, recipe: &Recipe, cx: &DashboardContext) -> Markup {
    let fitting: Vec<LoginSummary> = Vault::new(&cx.daemon.home)
        .list()
        .unwrap_or_default()
        .into_iter()
        .filter(|login| login.site == it.site)
        .collect();
    let stranger = it.stranger.map(|it| match it {
        StrangerAnswer::Refused => "is refused",
        StrangerAnswer::Empty => "gets an answer without items",
        StrangerAnswer::Other => "gets other data",
    });
    let proof = recipe.verification.as_ref().and_then(|it| it.proof);
    html! {
        dl.facts {
            dt { "Site" } dd { (it.site) }
            @if let Some(it) = stranger { dt { "Who is not logged in" } dd { (it) } }
            @if let Some(it) = proof { dt { "Proven with" } dd { @match it { LoginProof::OneLogin => "one login, and as a stranger", LoginProof::TwoLogins => "two logins, and as a stranger" } } }
            dt { "In the vault" }
            dd {
                @if fitting.is_empty() { "none; " code { "commis session login NAME URL" } " makes one" }
                @else {
                    ul.plain { @for it in &fitting { li { a href="/browser#logins" { (it.name) } " " (logins::state(it)) } } }
                }
            }
        }
    }
}

fn response(it: &ResponseSpec) -> Markup {
    let kind = match it.kind {
        ResponseType::Json => "JSON",
        ResponseType::Html => "HTML",
        ResponseType::Text => "text",
    };
    html! {
        dl.facts {
            dt { "Read from" } dd { (kind) }
            @if let Some(it) = &it.embedded { dt { "JSON in" } dd { code { (it) } } }
            @if let Some(it) = &it.extract { dt { "Taken of it" } dd { code { (it) } } }
            @if let Some(it) = &it.html {
                dt { "Items" } dd { code { (it.items) } }
                dt { "Fields" }
                dd { ul.plain { @for (name, selector) in &it.fields { li { (name) ": " code { (if selector.is_empty() { "the item itself" } else { selector.as_str() }) } } } } }
            }
            @if let Some(n) = it.min_items { dt { "At least" } dd { (format::count(i64::from(n), "item", "items")) } }
        }
    }
}

fn schemas(known: &CachedRecipe) -> Markup {
    let tool = known.tool();
    let one = |title: &str, schema: &Value| {
        let (text, whole) = format::json(schema, MAX_SCHEMA);
        html! {
            details.more {
                summary { (title) }
                (format::code_box(&format!("{title} as JSON"), &text))
                @if !whole { p.soft { "and more: " a href={ "/api/recipes/" (known.recipe.name) } { "the whole of it" } } }
            }
        }
    };
    let says_nothing = |it: &Value| it.as_object().is_none_or(serde_json::Map::is_empty);
    html! {
        (one("Input schema", &tool.input))
        @if !says_nothing(&tool.data) { (one("Output schema", &tool.data)) }
    }
}

fn proof(recipe: &Recipe, now_ms: i64) -> Markup {
    let Some(it) = &recipe.verification else {
        return format::empty(
            "It was not proven.",
            &html! { p { "Two examples are needed for that: it is called with the first, the second, and the first again. " code { "commis recipe verify " (recipe.name) } " does it." } },
        );
    };
    proven(recipe, it, now_ms)
}

fn proven(recipe: &Recipe, it: &Verification, now_ms: i64) -> Markup {
    let inputs = recipe.parameters.iter().map(|it| it.examples.len()).max().unwrap_or(0);
    html! {
        dl.facts {
            @if let Some(at) = &it.verified_at { dt { "When" } dd { (format::moment(at, now_ms)) } }
            dt { "On" } dd { (format::count(inputs as i64, "input", "inputs")) }
            dt { "Sent" } dd { (it.transport.as_str().replace('_', " ")) @if it.requires_session { ", with a session of the page" } }
            dt { "Witness" } dd { @match it.witness() { Witness::Page => "a page that showed the items", Witness::None => "none: no page was seen, so whether answers are whole is unknown" } }
            @if let Some(it) = &it.complete {
                dt { "Whole" }
                dd {
                    "the page showed " (format::count(i64::from(it.shown), "item", "items")) ", the answer gave " (it.given)
                    "; " (it.fields_given) " of " (format::count(i64::from(it.fields_shown), "column", "columns"))
                    @if !it.leaves_out.is_empty() { p.soft { "It leaves out: " (it.leaves_out.join(", ")) } }
                }
            }
            @if let Some(it) = &it.first_page { dt { "First page" } dd { (it.describe()) ": " (it.evidence) } }
            @if let Some(ms) = it.browser_ms { dt { "In a browser" } dd { (format::format_duration(ms as i64)) } }
            dt { "Shape" } dd { code { (format::clip(&it.fingerprint_sha256, 17)) } span.soft { " · " (format::count(it.shape.len() as i64, "path", "paths")) } }
        }
        @if !it.shape.is_empty() {
            details.more {
                summary { "The paths that later answers are compared with" }
                (format::code_box("Paths", &format::clip(&it.shape.join("\n"), MAX_SCHEMA)))
            }
        }
    }
}
