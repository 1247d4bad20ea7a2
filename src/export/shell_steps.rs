//! Several requests in a row as a shell script: curl asks, jq reads the answers.
//!
//! A request is filled as a run fills it, with a word in the place of each value of an earlier answer. The script puts the value
//! there, encoded as that place wants it. A value that is spelled anew on its way has no such place, and is refused.

use std::{collections::BTreeMap, fmt::Write as _};

use jmespath::ast::Ast;
use serde_json::Value;

use super::{
    curl_words::{self, Place},
    escaping::quote_shell,
    resolved_request,
};
use commis_base::error::Result;
use commis_recipe::{
    model::{Recipe, ResponseType},
    request::{CompiledRequest, PreparedRequest},
    steps::{Choose, Step, split_step_name},
    template::Template,
    values::{ValueLookup, Values},
};

/// Functions of the script, and of its filters: a value as an address has it, and as a text of JSON has it.
const FUNCTIONS: &str = "set -eu\n_uri() { jq -rn --arg it \"$1\" '$it|@uri'; }\n\
    _json() { jq -rn --arg it \"$1\" '$it|tojson|.[1:-1]'; }\n";
/// A text, a number, true or false as a request has it. What a program that counts in doubles has changed is no number.
const SAID: &str = "def said: if type == \"string\" then . elif type == \"boolean\" then tojson \
    elif type == \"number\" and (fabs < 9007199254740992) then tojson else null end; \
    def alike: ascii_downcase | [splits(\"\\\\s+\") | select(. != \"\")] | join(\" \"); ";

/// Items whose values one request takes, as in a run.
const MOST_ITEMS: usize = 100;

/// The script without its head. The inner error says what this form has no words for; fails with `PARAM_INVALID`.
pub fn script(
    recipe: &Recipe,
    sample: &BTreeMap<String, String>,
) -> Result<std::result::Result<String, &'static str>> {
    let Some(chain) = &recipe.chain else { return Ok(Err("one request")) };
    if chain.for_each.is_some() || chain.output.is_some() {
        return Ok(Err("one request for each item, or an `output`"));
    }
    if chain.before.iter().any(|it| it.poll.is_some()) {
        return Ok(Err("a step that is asked again"));
    }
    let mut places =
        Places { values: resolved_request::values(recipe, sample)?, names: Vec::new() };
    let mut requests = Vec::new();
    for template in chain.before.iter().map(|it| &it.request).chain([&recipe.request]) {
        let compiled = CompiledRequest::new(template)?;
        let is_of_step =
            |it: &&str| chain.before.iter().any(|step| step.name == split_step_name(it).0);
        let wanted: Vec<String> =
            compiled.names().into_iter().filter(is_of_step).map(str::to_owned).collect();
        for name in &wanted {
            places.add(name)?;
        }
        let request = compiled.fill(&places.values).ok();
        let Some(request) = request.filter(|it| wanted.iter().all(|name| places.has(name, it)))
        else {
            return Ok(Err("a value of an earlier answer that is spelled anew"));
        };
        requests.push((request, wanted));
    }
    let mut out = FUNCTIONS.to_owned();
    let ask = |request: &PreparedRequest| {
        curl_words::words(recipe, request, &|text, place| places.quote(text, place)).join(" \\\n  ")
    };
    for (at, step) in chain.before.iter().enumerate() {
        let filter = match read(step, &places.values) {
            Ok(it) => quote_shell(&format!("{SAID}{it}")),
            Err(why) => return Ok(Err(why)),
        };
        let _ = writeln!(out, "_answer=$({})", ask(&requests[at].0));
        let _ = writeln!(out, "_found=$(printf '%s' \"$_answer\" | jq -c {filter})");
        if matches!(step.choose, Some(Choose::All(_))) {
            out.push_str("if [ \"$_found\" = '[]' ]; then echo '[]'; exit; fi\n");
        }
        let later = requests[at + 1..].iter().flat_map(|it| &it.1);
        let mut named: Vec<&String> =
            later.filter(|it| split_step_name(it).0 == step.name).collect();
        named.sort_unstable();
        named.dedup();
        for name in named {
            let filter = quote_shell(&format!("{SAID}{}", value(step, name)));
            let variable = places.variable(name);
            let _ = writeln!(out, "{variable}=$(printf '%s' \"$_found\" | jq -r {filter})");
        }
    }
    if let Some((request, _)) = requests.last() {
        out.push_str(&ask(request));
        out.push('\n');
    }
    Ok(Ok(out))
}

/// The values of earlier answers: a word that stands for each, until the script has it.
struct Places {
    values: Values,
    names: Vec<String>,
}

impl Places {
    fn add(&mut self, name: &str) -> Result<()> {
        if !self.names.iter().any(|it| it == name) {
            self.values.add_slot(name, &Self::word(self.names.len()))?;
            self.names.push(name.to_owned());
        }
        Ok(())
    }

    /// No encoding changes it.
    fn word(at: usize) -> String {
        format!("ofEarlierAnswer{at}X")
    }

    fn at(&self, name: &str) -> usize {
        self.names.iter().position(|it| it == name).unwrap_or_default()
    }

    fn variable(&self, name: &str) -> String {
        format!("_value_{}", self.at(name))
    }

    fn has(&self, name: &str, request: &PreparedRequest) -> bool {
        let word = Self::word(self.at(name));
        let body = String::from_utf8_lossy(request.body.as_deref().unwrap_or_default());
        request.url.contains(&word)
            || body.contains(&word)
            || request.headers.iter().any(|it| it.1.contains(&word))
    }

    /// A word of the shell, values in it.
    fn quote(&self, text: &str, place: Place) -> String {
        let mut parts = vec![(text, None)];
        for at in 0..self.names.len() {
            let word = Self::word(at);
            let mut split = Vec::new();
            for (text, value) in parts {
                for (n, piece) in text.split(&word).enumerate() {
                    if n > 0 {
                        split.push(("", Some(at)));
                    }
                    split.push((piece, None));
                }
                if let Some(it) = value {
                    split.push(("", Some(it)));
                }
            }
            parts = split;
        }
        let mut out = String::new();
        for (text, value) in parts {
            match value {
                Some(at) => {
                    let name = format!("\"$_value_{at}\"");
                    let _ = match place {
                        Place::Address => write!(out, "\"$(_uri {name})\""),
                        Place::Json => write!(out, "\"$(_json {name})\""),
                        Place::Header | Place::Text => write!(out, "{name}"),
                    };
                }
                None if text.is_empty() => {}
                None => out.push_str(&quote_shell(text)),
            }
        }
        if out.is_empty() { quote_shell("") } else { out }
    }
}

/// What of a step's answer is used, as a filter.
fn read(step: &Step, values: &Values) -> std::result::Result<String, &'static str> {
    let response = &step.response;
    if response.kind != ResponseType::Json || response.framing.is_some() {
        return Err("an answer that is not JSON alone");
    }
    let data = match &response.extract {
        None => ".".to_owned(),
        Some(it) => {
            const ODD: &str = "an expression that is more than names, places and lists";
            jmespath::parse(it).ok().and_then(|it| filter(&it)).ok_or(ODD)?
        }
    };
    let one = "if length == 1 then .[0] elif length == 0 then error(\"no item of the answer is the one that is meant\") \
        else error(\"\\(length) items of the answer could be meant\") end";
    Ok(match &step.choose {
        None | Some(Choose::Key(_)) => format!("{data} | values"),
        Some(Choose::Only) => format!("{data} | {one}"),
        Some(Choose::First) => format!("{data} | .[:1] | {one}"),
        Some(Choose::All(separator)) if separator.is_empty() => {
            return Err("a JSON list of all items");
        }
        Some(Choose::All(_)) => format!(
            "{data} | if length <= {MOST_ITEMS} then . else error(\"\\(length) items are too many for one request\") end"
        ),
        Some(Choose::Where(all)) => {
            let fits = |alike: bool| {
                let each: Option<Vec<String>> =
                    all.iter().map(|(path, it)| condition(path, it, values, alike)).collect();
                each.map(|it| format!("map(select({}))", it.join(" and ")))
            };
            let (same, alike) =
                fits(false).zip(fits(true)).ok_or("a condition that is null or no text")?;
            format!(
                "{data} | . as $all | ({same}) | if length > 0 then . else ($all | {alike}) end | {one}"
            )
        }
    })
}

fn condition(path: &str, wanted: &Value, values: &Values, alike: bool) -> Option<String> {
    let own = format!("({} | said)", at(Some(path)));
    let text = match wanted {
        Value::String(it) => {
            let text = Template::parse(it).ok()?.render(|name| match values.get(name) {
                ValueLookup::Given(it) => Ok(it.text.clone()),
                ValueLookup::Absent => Ok(String::new()),
                ValueLookup::Unknown => Err(()),
            });
            Value::from(text.ok()?).to_string()
        }
        Value::Number(_) | Value::Bool(_) => {
            return Some(format!("{} == {wanted}", at(Some(path))));
        }
        _ => return None,
    };
    Some(if alike {
        format!("({own} | . != null and (alike == ({text} | alike)))")
    } else {
        format!("{own} == {text}")
    })
}

/// A field by its path, of an item or of a row.
fn at(path: Option<&str>) -> String {
    let mut out = ".".to_owned();
    for key in path.into_iter().flat_map(|it| it.split('.')) {
        let name = Value::from(key);
        let _ = if key.parse::<u32>().is_ok() {
            write!(out, " | (if type == \"array\" then .[{key}] else .[{name}]? end)")
        } else {
            write!(out, " | .[{name}]?")
        };
    }
    format!("({out})")
}

/// The text that a later request takes.
fn value(step: &Step, name: &str) -> String {
    let own = at(split_step_name(name).1);
    let lost = "error(\"an answer no longer holds a value that the next request needs\")";
    match &step.choose {
        Some(Choose::All(separator)) => {
            let separator = Value::from(separator.as_str());
            format!(
                "map({own} | said | if . == null then {lost} elif contains({separator}) then error(\"a text holds what stands between two of them\") else . end) | join({separator})"
            )
        }
        _ => format!("{own} | said | if . == null then {lost} else . end"),
    }
}

/// An expression as a filter of jq; `None` for what this form has no words for.
fn filter(node: &Ast) -> Option<String> {
    Some(match node {
        Ast::Identity { .. } => ".".to_owned(),
        Ast::Field { name, .. } => format!(".[{}]", Value::from(name.as_str())),
        Ast::Index { idx, .. } => format!(".[{idx}]"),
        Ast::Subexpr { lhs, rhs, .. } => format!("({} | {})", filter(lhs)?, filter(rhs)?),
        Ast::Flatten { node, .. } => {
            format!("[{} | .[] | if type == \"array\" then .[] else . end]", filter(node)?)
        }
        Ast::Slice { start, stop, step: 1, .. } => {
            let bound = |it: &Option<i32>| it.map_or_else(String::new, |it| it.to_string());
            if start.is_none() && stop.is_none() {
                ".".to_owned()
            } else {
                format!(".[{}:{}]", bound(start), bound(stop))
            }
        }
        Ast::Projection { lhs, rhs, .. } => {
            format!("[{} | .[] | {} | values]", filter(lhs)?, filter(rhs)?)
        }
        Ast::MultiHash { elements, .. } => {
            let all: Option<Vec<String>> = elements
                .iter()
                .map(|it| {
                    Some(format!("{}: ({})", Value::from(it.key.as_str()), filter(&it.value)?))
                })
                .collect();
            format!("{{{}}}", all?.join(", "))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_as_filters() {
        for (text, expected) in [
            ("@", Some(".")),
            ("a.b", Some(r#"(.["a"] | .["b"])"#)),
            ("a[:2]", Some(r#"(.["a"] | [.[:2] | .[] | . | values])"#)),
            (
                "a[].{n: b}",
                Some(
                    r#"[[.["a"] | .[] | if type == "array" then .[] else . end] | .[] | {"n": (.["b"])} | values]"#,
                ),
            ),
            ("a[?b]", None),
            ("length(a)", None),
        ] {
            assert_eq!(filter(&jmespath::parse(text).unwrap()).as_deref(), expected, "{text}");
        }
    }
}
