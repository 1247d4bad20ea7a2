//! The form that begins to learn: from a page or a HAR file, with a sentence and examples. What becomes of it, the page of the
//! task shows.

use maud::{Markup, html};
use serde_json::Value;

use super::{
    DashboardContext, PageResult, format,
    layout::{self, NavItem},
};
use crate::har_uploads::MAX_UPLOAD;
use commis_vault::{LoginSummary, Vault};

/// Steps and values that a form offers at once; further ones are added.
const ROWS: usize = 1;

/// What can be done on a page, as the form offers it: the step's name, what a person reads, and whether it wants an element, a value.
const STEPS: &[(&str, &str, bool, bool)] = &[
    ("fill", "type into a field", true, true),
    ("press", "press a key", false, true),
    ("click", "click", true, false),
    ("select", "choose in a list", true, true),
    ("wait_for", "wait for a text", false, true),
];

/// Roles of elements that the form offers (WAI-ARIA); `label` finds a field by its label, whatever its role.
const ROLES: &[&str] =
    &["label", "searchbox", "textbox", "combobox", "button", "link", "checkbox", "tab"];

/// One row of the form's steps.
#[derive(Default)]
struct StepRow {
    kind: String,
    role: String,
    element: String,
    value: String,
}

pub async fn page(cx: DashboardContext) -> PageResult {
    // A task that is asked for again, with other words or examples.
    let again = match cx.query_value("again") {
        Some(id) => {
            let task = cx.daemon.database.task(id).await?;
            (task.operation == "recipe_learn" && !task.hidden).then_some(task.args)
        }
        None => None,
    };
    let is_again = again.is_some();
    let args = again.unwrap_or(Value::Null);
    let logins = Vault::new(&cx.daemon.home).list().unwrap_or_default();
    let body = html! {
        h1 { "Learn a recipe" }
        p.lead { "commis watches one visit, finds the request that carried the data, and proves on a second example that it can be repeated." }
        @if is_again { p.notice { "The form holds what was asked for before. Change what was missing, and learn again." } }
        (form(&args, &logins, is_again))
    };
    Ok(layout::page(&cx, NavItem::Learn, "Learn a recipe", None, &body))
}

fn form(args: &Value, logins: &[LoginSummary], is_again: bool) -> Markup {
    let text = |name: &str| args[name].as_str().unwrap_or("");
    let from_har = args["upload"].is_string() || args["har"].is_string();
    html! {
        form #learn.learn data-learn data-max=(MAX_UPLOAD) data-upload=[args["upload"].as_str()] novalidate {
            fieldset {
                legend { "Learn from" }
                div.choices {
                    label { input type="radio" name="source" value="url" checked[!from_har]; " a page" }
                    label { input type="radio" name="source" value="har" checked[from_har]; " a HAR file" }
                }
                div data-source="url" hidden[from_har] {
                    div.field {
                        label for="learn-url" { "Address of the page" }
                        input #learn-url type="url" inputmode="url" maxlength="2000" autocomplete="off" spellcheck="false"
                            value=(text("url")) placeholder="https://shop.example/search?q={query}" aria-describedby="learn-url-hint";
                        p #learn-url-hint.hint { "It is opened without your cookies. " code { "{query}" } " stands for a value from below." }
                    }
                    (steps(args))
                }
                div data-source="har" hidden[!from_har] {
                    div.field.drop data-drop {
                        label for="learn-har" { "HAR file" }
                        input #learn-har type="file" accept=".har,.json,application/json" aria-describedby="learn-har-hint learn-har-said";
                        p #learn-har-said.hint role="status" {
                            @if args["upload"].is_string() { "The file of before is used, where it is still held. Choose one to replace it." }
                            @else { "No file is chosen. Drop one anywhere on this page." }
                        }
                        p #learn-har-hint.hint {
                            "At most " (MAX_UPLOAD >> 20) " MiB. It stays on this machine and in memory; what is stored of it is the redacted recording. "
                            "In a browser: network panel, “Save all as HAR with content”."
                        }
                    }
                }
            }
            div.field {
                label for="learn-task" { "What the visit is for, in a sentence" }
                textarea #learn-task rows="2" maxlength="1000" required aria-describedby="learn-task-hint" placeholder="Search the shop for {query} and list the products with their prices" { (text("task")) }
                p #learn-task-hint.hint { "Write " code { "{query}" } " where a value goes; the value itself is an example below." }
            }
            (values(args))
            details.more open[is_again || args["login"].is_string()] {
                summary { "Name, login, and learning again" }
                div.field {
                    label for="learn-name" { "Name of the recipe" span.soft { " · may be left out" } }
                    input #learn-name type="text" maxlength="64" autocomplete="off" spellcheck="false" value=(text("name")) placeholder="shop-search";
                }
                div.field {
                    label for="learn-login" { "Login of the vault" span.soft { " · may be left out" } }
                    select #learn-login {
                        option value="" { "none" }
                        @for it in logins { option value=(it.name) selected[text("login") == it.name.as_str()] { (it.name) " · " (it.site) } }
                    }
                    @if logins.is_empty() { p.hint { "The vault is empty; " code { "commis session login NAME URL" } " logs in once and seals it." } }
                }
                label.check { input #learn-force type="checkbox" checked[is_again]; " Begin anew where a recipe of this name was begun before" }
            }
            p #learn-trouble.notice.bad hidden role="alert" {}
            div.buttons { button.main type="submit" { "Learn" } }
            p #learn-said.hint role="status" {}
            noscript { p.soft { "Learning needs this page's script. In a terminal: " code { "commis recipe learn" } } }
        }
    }
}

fn steps(args: &Value) -> Markup {
    let mut rows: Vec<StepRow> =
        args["steps"].as_array().into_iter().flatten().filter_map(step_row).collect();
    let known = args["steps"].as_array().map_or(0, Vec::len);
    let all_shown = rows.len() == known;
    if rows.is_empty() {
        rows.push(StepRow::default());
    }
    html! {
        details.more open[known > 0] {
            summary { "What is done on the page" span.soft { " · nothing, where the address is enough" } }
            @if !all_shown { p.notice.warn { "Some steps of before cannot be shown in this form; they are left out." } }
            p.hint { "In order. " code { "{query}" } " stands for a value. An element is named as a screen reader names it." }
            ol.rows-of data-rows="step" aria-label="Steps" { @for it in &rows { (step(it)) } }
            template data-row="step" { (step(&StepRow::default())) }
            button type="button" data-add="step" { "Add a step" }
        }
    }
}

/// A stored step as a row, where the form has its like.
fn step_row(it: &Value) -> Option<StepRow> {
    let (kind, body) = it.as_object().filter(|it| it.len() == 1)?.iter().next()?;
    let text = |it: &Value| it.as_str().map(str::to_owned);
    let mut out = StepRow { kind: kind.clone(), ..StepRow::default() };
    match (kind.as_str(), body) {
        ("press", Value::String(key)) => out.value.clone_from(key),
        ("wait_for", Value::Object(of)) if of.len() == 1 => out.value = text(of.get("text")?)?,
        ("fill" | "select" | "click", Value::Object(of)) => {
            let set: Vec<&str> = of
                .iter()
                .filter(|it| !it.1.is_null() && it.0 != "value")
                .map(|it| it.0.as_str())
                .collect();
            match set.as_slice() {
                ["label"] => ("label".clone_into(&mut out.role), out.element = text(&of["label"])?),
                ["name", "role"] | ["role", "name"] => {
                    (out.role = text(&of["role"])?, out.element = text(&of["name"])?)
                }
                _ => return None,
            };
            if kind != "click" {
                out.value = text(of.get("value")?)?;
            }
        }
        _ => return None,
    }
    Some(out)
}

fn step(it: &StepRow) -> Markup {
    html! {
        li.row data-step {
            label { span { "Do" }
                select data-field="kind" {
                    option value="" { "nothing" }
                    @for (name, words, element, value) in STEPS {
                        option value=(name) selected[it.kind == *name] data-element=(element) data-value=(value) { (words) }
                    }
                }
            }
            label { span { "Element" }
                select data-field="role" {
                    @for role in ROLES { option value=(role) selected[it.role == *role] { (if *role == "label" { "field labelled" } else { role }) } }
                    @if !it.role.is_empty() && !ROLES.contains(&it.role.as_str()) { option value=(it.role) selected { (it.role) } }
                }
            }
            label { span { "Its name" } input type="text" data-field="element" maxlength="200" autocomplete="off" value=(it.element); }
            label { span { "Value" } input type="text" data-field="value" maxlength="2000" autocomplete="off" value=(it.value); }
            button type="button" data-remove { "Remove" span.unseen { " this step" } }
        }
    }
}

fn values(args: &Value) -> Markup {
    let first = args["params"].as_object();
    let second = &args["second"];
    let of = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
    let mut rows: Vec<(String, String, String)> = first
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let other = second.get(name).filter(|it| !it.is_null()).map(of).unwrap_or_default();
            (name.clone(), of(value), other)
        })
        .collect();
    while rows.len() < ROWS {
        rows.push(Default::default());
    }
    html! {
        fieldset aria-describedby="learn-values-hint" {
            legend { "Example values" }
            p #learn-values-hint.hint { "What was typed, and a second example: without one the recipe stays a draft. They are stored with the recipe, so no passwords." }
            ol.rows-of data-rows="value" aria-label="Example values" { @for it in &rows { (value_row(it)) } }
            template data-row="value" { (value_row(&Default::default())) }
            button type="button" data-add="value" { "Add a value" }
        }
    }
}

fn value_row((name, first, second): &(String, String, String)) -> Markup {
    html! {
        li.row data-value {
            label { span { "Parameter" } input type="text" data-field="name" maxlength="64" autocomplete="off" spellcheck="false" value=(name) placeholder="query"; }
            label { span { "Value" } input type="text" data-field="first" maxlength="2000" autocomplete="off" value=(first) placeholder="lantern"; }
            label { span { "Second value" } input type="text" data-field="second" maxlength="2000" autocomplete="off" value=(second) placeholder="garden hose"; }
            button type="button" data-remove { "Remove" span.unseen { " this value" } }
        }
    }
}

/// A link to the form with what a task was asked for; nothing where it was not such a task.
pub fn again(task: &crate::task_database::TaskView, words: &str) -> Markup {
    html! {
        @if task.operation == "recipe_learn" && !task.hidden {
            a.button href={ "/learn?again=" (task.task_id) } { (words) }
        }
    }
}

/// That learning begins here.
pub fn invitation() -> Markup {
    format::empty(
        "There are no recipes yet.",
        &html! {
            p { a href="/learn" { "Learn one" } " from a page or from a HAR file. Or learn some from the test web that commis brings along:" }
            pre.command { code { "commis recipe learn-batch --manifest manifests/quickstart.yaml --testbed" } }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn steps_come_back_into_the_form_or_are_named_as_missing() {
        let check = |step: Value, shown: Option<[&str; 4]>| {
            let row = step_row(&step);
            let row = row.as_ref().map(|it| [&*it.kind, &*it.role, &*it.element, &*it.value]);
            assert_eq!(row, shown, "{step}");
        };
        check(
            json!({"fill": {"role": "searchbox", "name": "Search", "value": "{query}"}}),
            Some(["fill", "searchbox", "Search", "{query}"]),
        );
        check(
            json!({"fill": {"label": "From", "value": "{a}"}}),
            Some(["fill", "label", "From", "{a}"]),
        );
        check(json!({"press": "Enter"}), Some(["press", "", "", "Enter"]));
        check(
            json!({"click": {"role": "button", "name": "Go"}}),
            Some(["click", "button", "Go", ""]),
        );
        check(json!({"wait_for": {"text": "results"}}), Some(["wait_for", "", "", "results"]));
        check(json!({"wait_for": {"selector": "ul"}}), None);
        check(json!({"click": {"css": "#go"}}), None);
        check(json!({"click": {"role": "button", "name": "Go", "nth": 2}}), None);
        check(json!({"scroll": {"to": "bottom"}}), None);
        check(json!("text"), None);
    }
}
