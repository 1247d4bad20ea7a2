//! A Hurl file: the only plain form with words for a value of an earlier answer (captures) and for what must hold (asserts).
//!
//! Hurl encodes values of queries and forms, and puts text into JSON as JSON has it; names and paths it sends as they are. So does
//! it with names in JSON (seen with 8.0): what has to be escaped in one goes as text that is JSON already.

use std::{collections::BTreeMap, fmt::Write as _};

use jmespath::ast::Ast;
use serde_json::Value;

use super::{
    ExportOutput,
    chain::{step_recipes, steps_obstacle, unsupported_steps},
    escaping,
    hurl_steps::{AnswerReading, CapturedNames, read_slots, read_step},
    hurl_syntax::{
        escape_edges, escape_json, escape_unquoted, escape_url, json_string_body, key, quote,
        quote_inline, walk,
    },
    proof_line,
    refusal::{Refusal, RefusalCode},
    resolved_request::{Body, RequestParts, commis_only_reason, sample, values},
    task,
    variables::{VariableTable, render_template},
};
use commis_base::error::Result;
use commis_recipe::{
    model::{Auth, AuthKind, Pair, ParamType, Recipe, ResponseType, Slot, SlotSource},
    request::CompiledRequest,
    steps::split_step_name,
    template::{Piece, Template},
    values::{ValueLookup, Values},
};

pub fn write(
    recipes: &[Recipe],
    given: &BTreeMap<String, String>,
    out: &mut ExportOutput,
) -> Result<()> {
    for recipe in recipes {
        let steps = step_recipes(recipe);
        let mut requests: Vec<RequestParts<'_>> =
            steps.iter().map(RequestParts::from_recipe).collect::<Result<_>>()?;
        requests.push(RequestParts::from_recipe(recipe)?);
        let why = commis_only_reason(recipe).or_else(|| requests.iter().find_map(obstacle));
        let why = why.or_else(|| steps_obstacle(recipe, "Hurl"));
        let written = match (why, sample(recipe, given)) {
            (Some(why), _) | (None, Err(why)) => Err(why),
            (None, Ok(sample)) => file(recipe, &requests, &values(recipe, &sample)?),
        };
        match written {
            Ok(text) => out.push(format!("{}.hurl", recipe.name), text),
            Err(why) => out.refuse(recipe, why),
        }
    }
    Ok(())
}

/// Whether a value of that name comes from an earlier answer.
fn is_fetched(recipe: &Recipe, name: &str) -> bool {
    recipe.parameters.iter().all(|it| it.name != name)
}

fn obstacle(asked: &RequestParts<'_>) -> Option<Refusal> {
    for slot in &asked.slots {
        if let SlotSource::Response { path, .. } = &slot.from
            && jmespath::parse(path).ok().and_then(|it| walk(&it, "$")).is_none()
        {
            let why = format!(
                "`{}` comes from an earlier answer by an expression that JSONPath has no words for",
                slot.name
            );
            return Some(Refusal::new(RefusalCode::UnknownExpression, why));
        }
    }
    let earlier = |why: &str| Some(Refusal::new(RefusalCode::EarlierValue, why));
    let of_earlier = |it: &Template| it.names().any(|name| is_fetched(asked.recipe, name));
    let is_spelled = |it: &Template| it.has_filters() && of_earlier(it);
    let mut spelled = asked.path.iter().chain(asked.query.iter().map(|it| &it.1));
    let mut headers = asked.headers.iter().map(|it| &it.1);
    let in_body = match &asked.body {
        Some(Body::Json(it)) => {
            if has_escaped_name(it) && any_template(it, &of_earlier) {
                return earlier(
                    "a value of an earlier answer stands in JSON with a name that has to be escaped, which Hurl cannot do",
                );
            }
            any_template(it, &|it| {
                let is_digits = it.is_number()
                    && it.pieces().all(|it| matches!(it, Piece::Value(_, all) if all.len() == 1));
                is_spelled(it) && !is_digits
            })
        }
        Some(Body::Form(all)) => all.iter().any(|it| is_spelled(&it.1)),
        Some(Body::Text(it)) => is_spelled(it),
        None => false,
    };
    if in_body || spelled.any(is_spelled) || headers.any(is_spelled) {
        return earlier("a value of an earlier answer is spelled anew, which Hurl cannot do");
    }
    None
}

/// The names that come from earlier answers, and whether a path has them.
fn fetched_names(recipe: &Recipe, requests: &[RequestParts<'_>]) -> Result<Vec<(String, bool)>> {
    let mut out: Vec<(String, bool)> = Vec::new();
    for asked in requests {
        let compiled = CompiledRequest::new(&asked.recipe.request)?;
        for name in compiled.names() {
            let in_path = asked.path.iter().any(|it| it.names().any(|it| it == name));
            match out.iter_mut().find(|it| it.0 == name) {
                Some(it) => it.1 |= in_path,
                None if is_fetched(recipe, name) => out.push((name.to_owned(), in_path)),
                None => {}
            }
        }
    }
    Ok(out)
}

/// The file; the inner error is why it cannot be one.
fn file(
    recipe: &Recipe,
    requests: &[RequestParts<'_>],
    values: &Values,
) -> std::result::Result<String, Refusal> {
    let names = fetched_names(recipe, requests)
        .map_err(|err| Refusal::new(RefusalCode::UnsendableRequest, err.message()))?;
    let captured = CapturedNames::new(recipe, &names);
    let mut out = format!("# {}: {}\n# {}\n", recipe.name, task(recipe), proof_line(recipe));
    if let Some(auth) = &recipe.auth {
        let _ = writeln!(out, "# hurl --secret {0}=\"${0}\"", auth.env);
    }
    for (url, slots) in prefetched_slots(requests) {
        let _ = writeln!(out, "\nGET {}\nHTTP 200", escape_url(url));
        out.push_str(&read_slots(&slots, &captured).text());
    }
    let steps = recipe.chain.as_ref().map_or(&[][..], |it| &it.before);
    let mut entries: Vec<(usize, AnswerReading)> = Vec::new();
    for (at, asked) in requests.iter().enumerate() {
        let reading = match steps.get(at) {
            Some(step) => {
                let of_step = names.iter().map(|it| it.0.clone());
                let of_step: Vec<String> =
                    of_step.filter(|it| split_step_name(it).0 == step.name).collect();
                read_step(step, &of_step, values, &captured)
                    .map_err(|what| unsupported_steps("Hurl", what))?
            }
            None => AnswerReading { asserts: asserts(recipe), ..AnswerReading::default() },
        };
        // What an earlier step asked for in the same words is not asked for again, as in a run.
        let polled = |at: usize| steps.get(at).is_none_or(|it| it.poll.is_some());
        let same = (0..at).find(|it| {
            !polled(at) && !polled(*it) && requests[*it].recipe.request == asked.recipe.request
        });
        match same.and_then(|it| entries.iter_mut().find(|entry| entry.0 == it)) {
            Some((_, earlier)) => earlier.extend(&reading),
            None => entries.push((at, reading)),
        }
    }
    for (at, reading) in &entries {
        out.push('\n');
        out.push_str(&entry(&requests[*at], values, &captured, reading));
    }
    Ok(out)
}

/// What is fetched before all requests, each address once.
fn prefetched_slots<'a>(requests: &[RequestParts<'a>]) -> Vec<(&'a str, Vec<&'a Slot>)> {
    let mut out: Vec<(&str, Vec<&Slot>)> = Vec::new();
    for (url, slots) in requests.iter().flat_map(RequestParts::prefetched_slots) {
        let at = out.iter().position(|it| it.0 == url).unwrap_or_else(|| {
            out.push((url, Vec::new()));
            out.len() - 1
        });
        for slot in slots {
            if out[at].1.iter().all(|it| it.name != slot.name) {
                out[at].1.push(slot);
            }
        }
    }
    out
}

fn entry(
    asked: &RequestParts<'_>,
    values: &Values,
    captured: &CapturedNames,
    reading: &AnswerReading,
) -> String {
    let recipe = asked.recipe;
    let mut spots = VariableTable::default();
    let mut named = |name: &str, text: Option<String>, encode: fn(&str) -> String| match text {
        Some(it) => format!("{{{{{}}}}}", spots.name(name, &encode(&it))),
        None => format!("{{{{{}}}}}", captured.text(name)),
    };
    let mut url = escape_url(asked.origin);
    for (n, template) in asked.path.iter().enumerate() {
        if n > 0 {
            url.push('/');
        }
        let it = render_template(
            template,
            values,
            |it| escape_url(&escaping::encode_path(it)),
            |name, text, _| match text {
                None => format!("{{{{{}}}}}", captured.in_path(name)),
                text => named(name, text, escaping::encode_segment),
            },
        );
        url.push_str(&it.unwrap_or_default());
    }
    let as_is = |it: &str| it.to_owned();
    let mut lines = |all: &[(&Pair, Template)], encode: bool| {
        let mut out = String::new();
        for (pair, template) in all {
            let it = render_template(template, values, escape_unquoted, |name, text, _| {
                named(name, text, as_is)
            });
            if let Some(it) = it {
                let name: String =
                    url::form_urlencoded::byte_serialize(pair.name.as_bytes()).collect();
                let _ = writeln!(
                    out,
                    "{}: {}",
                    key(if encode { &name } else { &pair.name }),
                    escape_edges(it)
                );
            }
        }
        out
    };
    let query = lines(&asked.query, true);
    let form = match &asked.body {
        Some(Body::Form(all)) => lines(all, true),
        _ => String::new(),
    };
    let mut headers = String::new();
    for (name, template) in &asked.headers {
        let it = render_template(template, values, escape_unquoted, |name, text, _| {
            named(name, text, as_is)
        });
        // The form says it itself.
        let is_said = *name == "content-type" && matches!(asked.body, Some(Body::Form(_)));
        if let Some(it) = it.filter(|_| !is_said) {
            let _ = writeln!(headers, "{name}: {}", escape_edges(it));
        }
    }
    let body = body_text(asked, values, captured, &mut spots);
    let mut out = format!("{} {url}\n{headers}", recipe.request.method);
    let mut key_line = String::new();
    let mut options = String::new();
    write_key(recipe.auth.as_ref(), &mut out, &mut key_line, &mut options);
    options.push_str("compressed: true\n");
    options.push_str(&reading.options);
    write_variables(recipe, &spots, &mut options);
    let _ = write!(out, "[Options]\n{options}");
    if !query.is_empty() || !key_line.is_empty() {
        let _ = write!(out, "[Query]\n{query}{key_line}");
    }
    if !form.is_empty() {
        let _ = write!(out, "[Form]\n{form}");
    }
    if let Some(it) = body {
        out.push_str(&it);
        out.push('\n');
    }
    out.push_str("HTTP 200\n");
    out.push_str(&reading.text());
    out
}

/// A body that is no form.
fn body_text(
    asked: &RequestParts<'_>,
    values: &Values,
    captured: &CapturedNames,
    spots: &mut VariableTable,
) -> Option<String> {
    match &asked.body {
        Some(Body::Json(it)) => {
            let (recipe, is_text) = (asked.recipe, has_escaped_name(it));
            let mut writing = JsonWriter { recipe, values, captured, spots, is_text };
            let it = writing.json(it).unwrap_or_default();
            Some(if is_text { format!("`{it}`") } else { it })
        }
        Some(Body::Text(it)) => {
            let it = render_template(it, values, quote_inline, |name, text, _| match text {
                Some(it) => format!("{{{{{}}}}}", spots.name(name, &it)),
                None => format!("{{{{{}}}}}", captured.text(name)),
            });
            Some(format!("`{}`", it.unwrap_or_default()))
        }
        _ => None,
    }
}

/// Where the key of a request goes; its value is a variable.
fn write_key(auth: Option<&Auth>, headers: &mut String, query: &mut String, options: &mut String) {
    if let Some(auth) = auth {
        let value = format!("{{{{{}}}}}", auth.env);
        match (auth.kind, &auth.header, &auth.query) {
            (AuthKind::Bearer, ..) => {
                let _ = writeln!(headers, "authorization: Bearer {value}");
            }
            (AuthKind::Basic, ..) => {
                let _ = writeln!(options, "user: {value}");
            }
            (AuthKind::ApiKey, _, Some(name)) => {
                let _ = writeln!(query, "{}: {value}", key(name));
            }
            (AuthKind::ApiKey, name, None) => {
                let _ =
                    writeln!(headers, "{}: {value}", name.as_deref().unwrap_or("authorization"));
            }
        }
    } else {
        // A key is for its origin alone.
        options.push_str("location: true\n");
    }
}

fn write_variables(recipe: &Recipe, spots: &VariableTable, out: &mut String) {
    for (name, text) in &spots.all {
        let is_bare = recipe
            .parameters
            .iter()
            .any(|it| it.name == *name && matches!(it.kind, ParamType::Int | ParamType::Bool));
        let value = if is_bare { text.clone() } else { quote(text) };
        let _ = writeln!(out, "variable: {name}={value}");
    }
}

/// What must hold of the answer, where JSONPath can say it.
fn asserts(recipe: &Recipe) -> String {
    let response = &recipe.response;
    if response.kind != ResponseType::Json || response.framing.is_some() {
        return String::new();
    }
    let extract = response.extract.as_deref().unwrap_or("@");
    let Some((path, is_list)) = jmespath::parse(extract).ok().and_then(|it| list(&it)) else {
        return String::new();
    };
    let path = quote(&path);
    if is_list && (response.min_items.is_some_and(|it| it > 0) || recipe.had_items()) {
        format!("jsonpath {path} count > 0\n")
    } else {
        format!("jsonpath {path} exists\n")
    }
}

/// The list that an expression goes through, and whether it is one for sure.
fn list(node: &Ast) -> Option<(String, bool)> {
    match node {
        Ast::Projection { lhs, .. } => Some((list(lhs)?.0, true)),
        Ast::Flatten { node, .. } => Some((list(node)?.0, true)),
        it => Some((walk(it, "$")?, false)),
    }
}

/// Whether a name in it cannot stand as it is.
fn has_escaped_name(value: &Value) -> bool {
    match value {
        Value::Array(all) => all.iter().any(has_escaped_name),
        Value::Object(all) => {
            all.iter().any(|(name, it)| escape_json(name) != *name || has_escaped_name(it))
        }
        _ => false,
    }
}

/// Whether this is so of a text in it.
fn any_template(value: &Value, is_so: &dyn Fn(&Template) -> bool) -> bool {
    match value {
        Value::String(it) => Template::parse(it).is_ok_and(|it| is_so(&it)),
        Value::Array(all) => all.iter().any(|it| any_template(it, is_so)),
        Value::Object(all) => all.values().any(|it| any_template(it, is_so)),
        _ => false,
    }
}

struct JsonWriter<'a> {
    recipe: &'a Recipe,
    values: &'a Values,
    captured: &'a CapturedNames,
    spots: &'a mut VariableTable,
    /// As text between backquotes, which Hurl reads as that and fills in as it is.
    is_text: bool,
}

impl JsonWriter<'_> {
    /// JSON with variables in it; `None` where a value was not given.
    fn json(&mut self, value: &Value) -> Option<String> {
        match value {
            Value::String(it) => self.string(&Template::parse(it).ok()?),
            Value::Array(all) => {
                let all: Vec<String> = all.iter().filter_map(|it| self.json(it)).collect();
                Some(format!("[{}]", all.join(", ")))
            }
            Value::Object(all) => {
                let all: Vec<String> = all
                    .iter()
                    .filter_map(|(name, it)| {
                        Some(format!("\"{}\": {}", self.literal(name), self.json(it)?))
                    })
                    .collect();
                Some(format!("{{{}}}", all.join(", ")))
            }
            it => Some(it.to_string()),
        }
    }

    fn string(&mut self, template: &Template) -> Option<String> {
        let typed = template.single_name().and_then(|name| match self.values.get(name) {
            ValueLookup::Given(bound) => {
                let is_typed = self
                    .recipe
                    .parameters
                    .iter()
                    .any(|it| it.name == name && it.kind != ParamType::Str);
                is_typed.then(|| bound.typed.as_ref().map(|it| (name, it.to_string())))?
            }
            _ => None,
        });
        if let Some((name, text)) = typed {
            return Some(format!("{{{{{}}}}}", self.spots.name(name, &text)));
        }
        let is_text = self.is_text;
        let literal = |it: &str| literal(it, is_text);
        let it = render_template(template, self.values, literal, |name, text, _| match text {
            Some(it) => {
                let it = if is_text { json_string_body(&it) } else { it };
                format!("{{{{{}}}}}", self.spots.name(name, &it))
            }
            None => format!("{{{{{}}}}}", self.captured.text(name)),
        })?;
        Some(if template.is_number() { it } else { format!("\"{it}\"") })
    }

    fn literal(&self, text: &str) -> String {
        literal(text, self.is_text)
    }
}

fn literal(text: &str, is_text: bool) -> String {
    if is_text { quote_inline(&escape_json(text)) } else { escape_json(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_lists() {
        for (text, expected) in [
            ("hits", Some(("$['hits']", false))),
            ("a.b[0].c[].{x: y}", Some(("$['a']['b'][0]['c']", true))),
            ("@", Some(("$", false))),
            ("keys(a)", None),
            ("a[?b].c", Some(("$['a']", true))),
        ] {
            let found = list(&jmespath::parse(text).unwrap());
            assert_eq!(found.as_ref().map(|it| (it.0.as_str(), it.1)), expected, "{text}");
        }
    }
}
