//! Several requests in a row: what is asked for before the last request, and what of each answer the later ones take.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use super::chain::{Assembly, Chain, Choose, JoinedOutput, PerItem, Poll, Step};
use super::{
    expression::Query,
    model::{Recipe, RequestTemplate, ResponseSpec},
    request::CompiledRequest,
    template::{Template, is_field, is_name},
};
use commis_base::error::{Code, Error, Result};

/// Requests of one recipe, at most.
pub const MAX_STEPS: usize = 4;
/// Requests for one answer that is not ready, at most.
const MAX_POLLS: u32 = 60;
/// Bytes between two values of a list.
const MAX_SEPARATOR: usize = 4;
/// Conditions of one choice, at most.
const MAX_CONDITIONS: usize = 4;

impl Chain {
    /// Takes the last step apart from the steps of a file. `Err` says what is wrong with them.
    pub fn from_steps(
        mut steps: Vec<Step>,
        output: Option<String>,
    ) -> Result<(Self, RequestTemplate, ResponseSpec), String> {
        let last = steps.pop().ok_or("`steps` is empty")?;
        if last.choose.is_some() {
            return Err("`choose` belongs to a step whose answer another step uses".to_owned());
        }
        if last.poll.is_some() {
            return Err("`poll` belongs to a step before the last".to_owned());
        }
        if last.optional {
            return Err("`optional` belongs to a step before the last".to_owned());
        }
        let Step { name, for_each, request, response, into, position, .. } = last;
        Ok((
            Self { before: steps, last: name, for_each, into, position, output },
            request,
            response,
        ))
    }

    /// The steps of a file.
    pub fn into_steps(self, request: RequestTemplate, response: ResponseSpec) -> Vec<Step> {
        let Self { before: mut steps, last, for_each, into, position, .. } = self;
        steps.push(Step {
            name: last,
            for_each,
            request,
            response,
            choose: None,
            poll: None,
            into,
            position,
            optional: false,
        });
        steps
    }
}

/// The step that a name in a template is of, and the field: `channel` and `team.id` of `channel.team.id`; no field means the
/// answer itself.
pub fn split_step_name(name: &str) -> (&str, Option<&str>) {
    name.split_once('.').map_or((name, None), |(step, field)| (step, Some(field)))
}

/// A field of an item by its path; `None` where it is not there.
pub fn field<'a>(item: &'a Value, path: Option<&str>) -> Option<&'a Value> {
    let Some(path) = path else { return Some(item) };
    path.split('.').try_fold(item, |it, key| match it {
        Value::Array(all) => all.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

/// A value as a template puts it in: texts, numbers and booleans have a text.
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(it) => Some(it.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Names, number and expressions of the steps. `taken` are the names of parameters and slots. Fails with `RECIPE_INVALID`.
pub(super) fn check(chain: &Chain, recipe: &Recipe, taken: &BTreeSet<&str>) -> Result<()> {
    if chain.before.is_empty() || chain.before.len() >= MAX_STEPS {
        return Err(invalid(format!("`steps` has 2 to {MAX_STEPS} steps"))
            .hint("a recipe of one request has `request` and `response` instead"));
    }
    let mut known = BTreeSet::new();
    let names = chain.before.iter().map(|it| it.name.as_str()).chain([chain.last.as_str()]);
    for name in names {
        let shown: String = name.escape_debug().take(60).collect();
        if !is_name(name) {
            return Err(invalid(format!("`{shown}` is not a name of a step"))
                .hint("use a-z, 0-9 and _, at most 40, not starting with a digit"));
        }
        if taken.contains(name) || !known.insert(name) {
            return Err(invalid(format!("the name `{shown}` is used twice")));
        }
    }
    for it in &chain.before {
        if it.for_each.is_some() || it.into.is_some() || it.position.is_some() {
            return Err(invalid(format!(
                "step `{}`: `for_each` belongs to the last step",
                it.name
            )));
        }
        if let Some(poll) = &it.poll {
            Query::compile(&poll.until)?;
            if !(2..=MAX_POLLS).contains(&poll.limit()) {
                let why = format!("step `{}`: `at_most` is 2 to {MAX_POLLS}", it.name);
                return Err(invalid(why));
            }
        }
        match &it.choose {
            Some(Choose::Where(all)) => check_conditions(&it.name, all, taken)?,
            Some(Choose::Key(key)) => check_key(&it.name, key, taken)?,
            Some(Choose::All(separator)) if !is_separator(separator) => {
                return Err(invalid(format!(
                    "step `{}`: the separator in `all` is empty or 1 to {MAX_SEPARATOR} punctuation characters",
                    it.name
                ))
                .hint("use `,` or what the site takes, and nothing for a JSON list"));
            }
            _ => {}
        }
    }
    let before = |name: &str| chain.before.iter().find(|it| it.name == name);
    match &chain.for_each {
        None if chain.into.is_some() || chain.position.is_some() => {
            return Err(invalid("`into` and `position` need `for_each`".to_owned()));
        }
        Some(name) => {
            let step = before(name)
                .ok_or_else(|| invalid("`for_each` is not the name of a step before".to_owned()))?;
            if step.choose.is_some() {
                return Err(invalid(format!(
                    "`for_each: {name}` takes all items, and that step chooses one"
                )));
            }
        }
        None => {}
    }
    for (key, name) in [("into", &chain.into), ("position", &chain.position)] {
        if name.as_ref().is_some_and(|it| !is_field(it) || it.contains('.')) {
            return Err(invalid(format!("`{key}` is not the name of a field")));
        }
    }
    if chain.into.is_some() && chain.into == chain.position {
        return Err(invalid("`into` and `position` name the same field".to_owned()));
    }
    if let Some(it) = &chain.output {
        Query::compile(it)?;
    }
    check_optional(chain, recipe)?;
    if recipe.pages.is_some() && (chain.for_each.is_some() || chain.output.is_some()) {
        return Err(invalid("`pages` cannot be combined with `for_each` or `output`".to_owned()));
    }
    Ok(())
}

/// What may be missing is put into the data, and nothing is asked with it.
fn check_optional(chain: &Chain, recipe: &Recipe) -> Result<()> {
    for (at, step) in chain.before.iter().enumerate().filter(|it| it.1.optional) {
        let why = |what: &str| invalid(format!("step `{}`: `optional` {what}", step.name));
        if chain.output.is_none() {
            return Err(why("needs `output`"));
        }
        let later = chain.before[at + 1..].iter().map(|it| &it.request).chain([&recipe.request]);
        for request in later {
            let request = CompiledRequest::new(request)?;
            if request.names().into_iter().any(|it| split_step_name(it).0 == step.name) {
                return Err(why("goes with no later step that takes its answer"));
            }
        }
    }
    Ok(())
}

/// Signs that are part of no value, so that nobody reads two values as one.
fn is_separator(text: &str) -> bool {
    text.len() <= MAX_SEPARATOR
        && text.chars().all(|it| !it.is_alphanumeric() && !it.is_control() && it != '_')
}

fn check_conditions(
    step: &str,
    all: &BTreeMap<String, Value>,
    names: &BTreeSet<&str>,
) -> Result<()> {
    if all.is_empty() || all.len() > MAX_CONDITIONS {
        let why = format!("step `{step}`: `where` has 1 to {MAX_CONDITIONS} conditions");
        return Err(invalid(why));
    }
    for (path, wanted) in all {
        if !is_field(path) {
            let shown: String = path.escape_debug().take(60).collect();
            return Err(invalid(format!("step `{step}`: `{shown}` is not the path of a field")));
        }
        match wanted {
            Value::String(it) => check_names(step, &Template::parse(it)?, names)?,
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
            _ => {
                let why =
                    format!("step `{step}`: a condition is a text, a number, true, false or null");
                return Err(invalid(why));
            }
        }
    }
    Ok(())
}

fn check_key(step: &str, key: &str, names: &BTreeSet<&str>) -> Result<()> {
    let key = Template::parse(key)?;
    if key.names().next().is_none() {
        let why = format!("step `{step}`: `key` mentions no parameter");
        return Err(
            invalid(why).hint("a member whose name is always the same belongs in `extract`")
        );
    }
    check_names(step, &key, names)
}

fn check_names(step: &str, template: &Template, names: &BTreeSet<&str>) -> Result<()> {
    match template.names().find(|it| !names.contains(it)) {
        Some(name) => {
            Err(invalid(format!("step `{step}`: `{{{name}}}` is neither a parameter nor a slot")))
        }
        None => Ok(()),
    }
}

fn invalid(message: String) -> Error {
    Error::new(Code::RecipeInvalid, message)
}

#[cfg(test)]
mod tests {
    use crate::yaml;

    #[test]
    fn what_stands_between_values() {
        let of = |separator: &str| {
            let text = format!(
                "{{version: 2, name: a, task: t, status: draft, source_url: 'http://a.test/', parameters: [], steps: [\
                 {{name: ids, request: {{method: GET, url: 'http://a.test/ids', allowed_domains: [a.test]}}, response: {{type: json}}, choose: {{all: {separator}}}}}, \
                 {{name: all, request: {{method: GET, url: 'http://a.test/all', query: [{{name: ids, value: '{{ids}}'}}], allowed_domains: [a.test]}}, response: {{type: json}}}}]}}"
            );
            yaml::parse(&text).map(|_| ()).map_err(|err| err.message().to_owned())
        };
        for it in ["','", "', '", "'|'", "''"] {
            assert_eq!(of(it), Ok(()), "{it}");
        }
        for it in ["a", "'1'", "'_'", "',,,,,'", "\"\\n\""] {
            assert!(of(it).unwrap_err().contains("the separator in `all`"), "{it}");
        }
    }
}
