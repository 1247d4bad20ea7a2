//! What was done on a page, as the steps of a task, and learned from.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Meta, OperationContext, Params, with_default_meta};
use crate::{
    answer::ApiError,
    page_sessions::PageSessions,
    queue::{CallOptions, PerformOutcome},
    task_database::TaskView,
};
use commis_base::error::{Code, Error, Result};
use commis_browser::page_session::PageController;

type OperationOutput<T> = std::result::Result<(T, Meta), Box<ApiError>>;

#[derive(Serialize, JsonSchema)]
pub(crate) struct ActionHistory {
    /// Where they begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// As a manifest has them.
    pub(crate) steps: Vec<Value>,
    /// What was done and is not among them.
    pub(crate) lost: Vec<String>,
    /// The login of the vault that the page was opened with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) login: Option<String>,
}

/// What is to be learned of it.
pub(crate) struct LearnRequest {
    pub(crate) task: String,
    pub(crate) name: Option<String>,
    pub(crate) params: Params,
    pub(crate) second: Params,
    /// A model did it.
    pub(crate) reads_only: bool,
    /// What stands of that name is learned anew.
    pub(crate) force: bool,
    /// What it gave for an answer.
    pub(crate) answer: Option<String>,
    /// Another account's login, to prove it by.
    pub(crate) second_login: Option<String>,
}

/// The steps of that page's task so far.
pub(crate) async fn trail(cx: &OperationContext, context: &str) -> Result<ActionHistory> {
    PageSessions::with(
        &cx.daemon,
        (&cx.principal, context),
        async |controller: &mut PageController| {
            let (url, steps, lost) = controller.trail();
            let steps = steps.iter().filter_map(|it| serde_json::to_value(it).ok()).collect();
            let login = controller.login().map(ToString::to_string);
            Ok(ActionHistory { url: url.map(str::to_owned), steps, lost: lost.to_vec(), login })
        },
    )
    .await
}

/// Gives the steps to the queue, with parameters in place of values. Fails with `PARAM_INVALID` and what `recipe_learn` fails with.
pub(crate) async fn start_learning(
    cx: OperationContext,
    trail: ActionHistory,
    it: LearnRequest,
) -> OperationOutput<TaskView> {
    let Some(mut url) = trail.url else {
        return Err(Error::new(Code::ParamInvalid, "the page has no recorded actions")
            .hint("open the start page of the task with `browse goto` and do the task")
            .into());
    };
    if !trail.lost.is_empty() {
        let err = Error::new(Code::ParamInvalid, "some of the actions cannot be repeated");
        return Err(err
            .hint(format!(
                "clear the actions with `browse clear`, and do the task again without these: {}",
                trail.lost.join("; ")
            ))
            .into());
    }
    let params: std::collections::BTreeMap<String, String> = it.params.into();
    let second: std::collections::BTreeMap<String, String> = it.second.into();
    let mut steps = Value::Array(trail.steps);
    let mut used = std::collections::BTreeSet::new();
    parameters(&mut steps, &params, &mut used);
    if let Some((start, opened)) = commis_learn::split_address(&url, &params, &mut used)
        && let Some(all) = steps.as_array_mut()
    {
        all.insert(0, json!({"navigate": opened}));
        url = start;
    }
    if let Some(name) = params.keys().find(|it| !used.contains(*it)) {
        let err = Error::new(
            Code::ParamInvalid,
            format!("the value of `{name}` was neither typed nor chosen, nor is it in the address"),
        );
        return Err(err
            .hint("`browse steps` shows what was done since the page was opened")
            .into());
    }
    let mut args = json!({"task": it.task, "url": url, "steps": steps, "params": params});
    if !second.is_empty() {
        args["second"] = json!(second);
    }
    if it.reads_only {
        args["reads_only"] = true.into();
    }
    if it.force {
        args["force"] = true.into();
    }
    if let Some(it) = it.answer {
        args["answer"] = it.into();
    }
    if let Some(name) = it.name {
        args["name"] = name.into();
    }
    if let Some(login) = trail.login {
        args["login"] = login.into();
    }
    if let Some(login) = it.second_login {
        args["second_login"] = login.into();
    }
    let options = CallOptions { apart: true, ..CallOptions::default() };
    let daemon = &cx.daemon;
    match daemon
        .dispatcher
        .perform(daemon, "recipe_learn", args, cx.principal.clone(), options)
        .await?
    {
        PerformOutcome::Accepted(task) => with_default_meta(task),
        PerformOutcome::Done(_) => {
            Err(Error::new(Code::Internal, "`recipe_learn` returned a result instead of a task")
                .into())
        }
    }
}

/// `{name}` in place of its value, where that is all of what was typed, chosen or named.
fn parameters(
    it: &mut Value,
    params: &std::collections::BTreeMap<String, String>,
    used: &mut std::collections::BTreeSet<String>,
) {
    match it {
        Value::String(text) => {
            if let Some((name, _)) = params.iter().find(|it| *it.1 == *text) {
                used.insert(name.clone());
                *text = format!("{{{name}}}");
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|it| parameters(it, params, used)),
        Value::Object(all) => {
            for (key, it) in all {
                match it {
                    Value::Object(wait) if key == "wait_for" => {
                        // What a page shows of a value stands among other words.
                        for it in wait.values_mut() {
                            let Value::String(text) = it else { continue };
                            for (name, value) in params.iter().filter(|it| !it.1.is_empty()) {
                                *text = in_words(text, value, &format!("{{{name}}}"));
                            }
                        }
                    }
                    it => parameters(it, params, used),
                }
            }
        }
        _ => {}
    }
}

/// The text with its value's place taken. One letter or digit is meant only where it is a word of its own.
fn in_words(text: &str, value: &str, place: &str) -> String {
    if value.len() > 1 {
        return text.replace(value, place);
    }
    let words: Vec<&str> = text.split(' ').map(|it| if it == value { place } else { it }).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_parameters_where_they_were_typed_and_where_they_are_waited_for() {
        let mut steps = json!([
            {"fill": {"role": "searchbox", "name": "Search", "value": "hat"}},
            {"fill": {"role": "textbox", "name": "Note", "value": "a hat"}},
            {"wait_for": {"text": "3 results for hat"}},
        ]);
        let params = std::collections::BTreeMap::from([("q".to_owned(), "hat".to_owned())]);
        let mut used = std::collections::BTreeSet::new();
        parameters(&mut steps, &params, &mut used);
        assert_eq!(steps[0]["fill"]["value"], "{q}");
        assert_eq!(steps[1]["fill"]["value"], "a hat");
        assert_eq!(steps[2]["wait_for"]["text"], "3 results for {q}");
        assert!(used.contains("q"));
        assert_eq!(
            in_words("results for 4 berths and 240 EUR", "4", "{n}"),
            "results for {n} berths and 240 EUR"
        );
        assert_eq!(in_words("14 results", "4", "{n}"), "14 results");
    }
}
