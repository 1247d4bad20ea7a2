//! Answers that later requests of a Hurl file take values of: captures, what has to hold of them, and requests that are repeated.
//!
//! Nothing is guessed: where a run would select one item, the file fails for none and for more than one. It fails, too, where an
//! item has the very text and others have it but for case and white space, because JSONPath cannot prefer the first.

use std::fmt::Write as _;

use jmespath::ast::{Ast, Comparator};
use serde_json::Value;

use super::{
    client::take_free_name,
    hurl_syntax::{quote, walk},
};
use commis_recipe::{
    model::{Recipe, ResponseType, Slot, SlotSource},
    steps::{Choose, Step, split_step_name},
    template::Template,
    values::{ValueLookup, Values},
};

const UNKNOWN: &str = "an expression that JSONPath has no words for";
/// What keeps a slash of a value in its segment; `urlEncode` leaves it.
const IN_PATH: &str = "urlEncode replace \"/\" \"%2F\"";

/// Variables of the file that hold values of earlier answers, by the name in templates. A path takes another one, because Hurl puts
/// values into it as they are.
#[derive(Default)]
pub struct CapturedNames(Vec<CapturedName>);

struct CapturedName {
    of: String,
    text: String,
    in_path: Option<String>,
}

impl CapturedNames {
    /// `names` are those that requests use and no parameter has, with whether a path has them.
    pub fn new(recipe: &Recipe, names: &[(String, bool)]) -> Self {
        // `q_2` is what another spelling of `q` is called.
        let mut taken: Vec<String> = Vec::new();
        for it in &recipe.parameters {
            taken.push(it.name.clone());
            taken.extend((2..20).map(|n| format!("{}_{n}", it.name)));
        }
        let mut out = Vec::new();
        for (name, in_path) in names {
            let plain = name.replace(|it: char| !it.is_ascii_alphanumeric(), "_");
            let begins = plain.starts_with(|it: char| it.is_ascii_alphabetic());
            let plain = if begins { plain } else { format!("v{plain}") };
            let text = take_free_name(plain.clone(), &mut taken);
            let in_path = in_path.then(|| take_free_name(format!("{plain}_in_path"), &mut taken));
            out.push(CapturedName { of: name.clone(), text, in_path });
        }
        Self(out)
    }

    pub fn text<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.iter().find(|it| it.of == name).map_or(name, |it| &it.text)
    }

    pub fn in_path<'a>(&'a self, name: &'a str) -> &'a str {
        let found = self.0.iter().find(|it| it.of == name);
        found.and_then(|it| it.in_path.as_deref()).unwrap_or(name)
    }

    /// Lines of captures: the value, and as a path has it.
    fn write(&self, name: &str, query: &str, out: &mut String) {
        let _ = writeln!(out, "{}: {query}", self.text(name));
        if let Some(it) = self.0.iter().find(|it| it.of == name).and_then(|it| it.in_path.as_ref())
        {
            let _ = writeln!(out, "{it}: {query} {IN_PATH}");
        }
    }
}

/// What the file reads of an answer.
#[derive(Default)]
pub struct AnswerReading {
    /// Lines of `[Options]`.
    pub options: String,
    /// Lines of `[Captures]`.
    pub captures: String,
    /// Lines of `[Asserts]`.
    pub asserts: String,
}

impl AnswerReading {
    /// Reads what another reading of the same answer reads, too.
    pub fn extend(&mut self, other: &Self) {
        self.captures.push_str(&other.captures);
        self.asserts.push_str(&other.asserts);
    }

    /// What stands behind the line of the status.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (head, lines) in [("Captures", &self.captures), ("Asserts", &self.asserts)] {
            if !lines.is_empty() {
                let _ = write!(out, "[{head}]\n{lines}");
            }
        }
        out
    }
}

/// Of a request that is sent before all others. The slots have paths that JSONPath has words for.
pub fn read_slots(slots: &[&Slot], captured: &CapturedNames) -> AnswerReading {
    let mut out = AnswerReading::default();
    for slot in slots {
        let query = match &slot.from {
            SlotSource::Document { after, until, .. } => body_regex(after, until, ""),
            SlotSource::Response { path, .. } => {
                let found = jmespath::parse(path).ok().and_then(|it| walk(&it, "$"));
                let path = quote(&found.unwrap_or_default());
                let _ = writeln!(out.asserts, "jsonpath {path} != null");
                format!("jsonpath {path} toString")
            }
            _ => continue,
        };
        captured.write(&slot.name, &query, &mut out.captures);
    }
    out
}

/// Of a step's answer: the values that later requests take. The error says what has no words.
pub fn read_step(
    step: &Step,
    wanted: &[String],
    values: &Values,
    captured: &CapturedNames,
) -> Result<AnswerReading, &'static str> {
    let mut out = AnswerReading::default();
    let response = &step.response;
    match response.kind {
        ResponseType::Text => read_text(step, wanted, captured, &mut out)?,
        ResponseType::Json if response.framing.is_none() => {
            read_json(step, wanted, values, captured, &mut out)?;
        }
        _ => return Err("an answer that is neither JSON alone nor a text"),
    }
    Ok(out)
}

fn read_text(
    step: &Step,
    wanted: &[String],
    captured: &CapturedNames,
    out: &mut AnswerReading,
) -> Result<(), &'static str> {
    let response = &step.response;
    if step.choose.is_some() || step.poll.is_some() {
        return Err("a text that is asked for again, or that an item is selected from");
    }
    let between = response.between.as_ref().map(|it| (it.after.as_str(), it.until.as_str()));
    let query = match (&response.header, between) {
        (Some(name), None) => format!("header {}", quote(name)),
        (Some(name), Some((after, until))) => {
            format!("header {} regex {}", quote(name), quote(&pattern(after, until, "\\s*")))
        }
        (None, None) => body_regex("", "", "\\s*"),
        (None, Some((after, until))) => body_regex(after, until, "\\s*"),
    };
    for name in wanted {
        if split_step_name(name).1.is_some() {
            return Err("a field of a text");
        }
        captured.write(name, &query, &mut out.captures);
        let _ = writeln!(out.asserts, "variable \"{}\" != \"\"", captured.text(name));
    }
    Ok(())
}

/// Where in a JSON answer a value is.
struct Place<'a> {
    /// JSONPath of what the rest starts from.
    base: String,
    shape: &'a Ast,
}

impl Place<'_> {
    /// JSONPath of a field of it.
    fn field(&self, keys: &[&str]) -> Option<String> {
        field(self.shape, &self.base, keys)
    }
}

fn read_json(
    step: &Step,
    wanted: &[String],
    values: &Values,
    captured: &CapturedNames,
    out: &mut AnswerReading,
) -> Result<(), &'static str> {
    let all = jmespath::parse(step.response.extract.as_deref().unwrap_or("@"));
    let all = all.map_err(|_| UNKNOWN)?;
    let identity = Ast::Identity { offset: 0 };
    let (list, shape) = match &all {
        Ast::Projection { lhs, rhs, .. } => {
            let inner = match &**lhs {
                Ast::Flatten { node, .. } => node,
                it => it,
            };
            (Some(walk(inner, "$").ok_or(UNKNOWN)?), &**rhs)
        }
        // What a choice is made from has to be a list.
        it if step.choose.is_some() => (Some(walk(it, "$").ok_or(UNKNOWN)?), &identity),
        it => (None, it),
    };
    let place = match (&step.choose, list) {
        (None, None) => Place { base: "$".to_owned(), shape },
        (None, Some(_)) => return Err("a list of which no item is selected"),
        (Some(Choose::All(_)), _) => return Err("the values of all items in one request"),
        (Some(Choose::Key(_)), _) => return Err("a member that a parameter names"),
        (Some(choice), list) => choose_item(choice, list.unwrap_or_default(), shape, values, out)?,
    };
    if let Some(poll) = &step.poll {
        let condition = until(&poll.until, &place).ok_or("a wait until what no assert can say")?;
        let _ = writeln!(out.options, "retry: {}\nretry-interval: 1s", poll.limit() - 1);
        out.asserts.push_str(&condition);
    }
    for name in wanted {
        let keys: Vec<&str> =
            split_step_name(name).1.map_or_else(Vec::new, |it| it.split('.').collect());
        let path = quote(&place.field(&keys).ok_or(UNKNOWN)?);
        captured.write(name, &format!("jsonpath {path} toString"), &mut out.captures);
        // A value that is `null` is no text.
        let _ = writeln!(out.asserts, "jsonpath {path} != null");
    }
    Ok(())
}

/// The item that is meant, and what has to hold for it to be one.
fn choose_item<'a>(
    choice: &Choose,
    list: String,
    shape: &'a Ast,
    values: &Values,
    out: &mut AnswerReading,
) -> Result<Place<'a>, &'static str> {
    let Choose::Where(all) = choice else {
        if matches!(choice, Choose::Only) {
            let _ = writeln!(out.asserts, "jsonpath {} count == 1", quote(&list));
        }
        return Ok(Place { base: format!("{list}[0]"), shape });
    };
    let item = Place { base: "@".to_owned(), shape };
    let mut conditions = Vec::new();
    for (path, wanted) in all {
        let keys: Vec<&str> = path.split('.').collect();
        let own = item.field(&keys).ok_or(UNKNOWN)?;
        conditions.push(condition(&own, wanted, values)?);
    }
    let base = format!("{list}[?{}]", conditions.join(" && "));
    // Several would be a list, none nothing.
    let _ = writeln!(out.asserts, "jsonpath {} isObject", quote(&base));
    Ok(Place { base, shape })
}

fn condition(own: &str, wanted: &Value, values: &Values) -> Result<String, &'static str> {
    let Value::String(template) = wanted else { return Ok(format!("{own} == {wanted}")) };
    let text = Template::parse(template).ok().and_then(|it| {
        let value = it.render(|name| match values.get(name) {
            ValueLookup::Given(it) => Ok(it.text.clone()),
            ValueLookup::Absent => Ok(String::new()),
            ValueLookup::Unknown => Err(()),
        });
        value.ok()
    });
    let text = text.ok_or("a condition on a value of an earlier answer")?;
    if text.chars().any(char::is_control) {
        return Err("a condition with a control character");
    }
    let mut any = vec![format!("{own} == {}", literal(&text))];
    // Values are compared as texts.
    let is_number = text.parse::<i64>().is_ok_and(|it| it.to_string() == text);
    if is_number || matches!(text.as_str(), "true" | "false") {
        any.push(format!("{own} == {text}"));
    }
    let words: Vec<String> = text.split_whitespace().map(regex_syntax::escape).collect();
    let pattern = format!("(?i)\\s*{}\\s*", words.join("\\s+"));
    any.push(format!("match({own}, {})", literal(&pattern)));
    Ok(format!("({})", any.join(" || ")))
}

/// A text in JSONPath.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// JSONPath of a field of what an expression makes; `None` where it makes no such field, or none by names and places.
fn field(shape: &Ast, base: &str, keys: &[&str]) -> Option<String> {
    match shape {
        Ast::MultiHash { elements, .. } => {
            let (first, rest) = keys.split_first()?;
            let found = elements.iter().find(|it| it.key == *first)?;
            field(&found.value, base, rest)
        }
        Ast::Subexpr { lhs, rhs, .. } if matches!(**rhs, Ast::MultiHash { .. }) => {
            field(rhs, &walk(lhs, base)?, keys)
        }
        it => {
            let mut out = walk(it, base)?;
            for key in keys {
                let _ = match key.parse::<u32>() {
                    Ok(at) => write!(out, "[{at}]"),
                    Err(_) => write!(out, "['{key}']"),
                };
            }
            Some(out)
        }
    }
}

/// An assert that holds where the answer is ready.
fn until(text: &str, place: &Place<'_>) -> Option<String> {
    let node = jmespath::parse(text).ok()?;
    let path = |node: &Ast| {
        let keys = names_of_path(node)?;
        place.field(&keys.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let Ast::Comparison { comparator, lhs, rhs, .. } = &node else {
        return Some(format!("jsonpath {} == true\n", quote(&path(&node)?)));
    };
    let Ast::Literal { value, .. } = &**rhs else { return None };
    let value = serde_json::to_value(value.as_ref()).ok()?;
    let sign = match comparator {
        Comparator::Equal => "==",
        Comparator::GreaterThan => ">",
        Comparator::GreaterThanEqual => ">=",
        Comparator::LessThan => "<",
        Comparator::LessThanEqual => "<=",
        // Of what is missing JMESPath says that it is not equal, and an assert that it is not there.
        Comparator::NotEqual => return None,
    };
    let shown = match &value {
        Value::String(it) if sign == "==" => quote(it),
        Value::Bool(_) if sign == "==" => value.to_string(),
        Value::Number(_) => value.to_string(),
        _ => return None,
    };
    Some(match &**lhs {
        Ast::Function { name, args, .. } if name == "length" && value.is_u64() => {
            format!("jsonpath {} count {sign} {shown}\n", quote(&path(args.first()?)?))
        }
        it => format!("jsonpath {} {sign} {shown}\n", quote(&path(it)?)),
    })
}

/// The names of a path that is made of names alone.
pub fn names_of_path(node: &Ast) -> Option<Vec<String>> {
    Some(match node {
        Ast::Identity { .. } => Vec::new(),
        // A number would be read as a place in a list, and a quote as the end of a name.
        Ast::Field { name, .. } if commis_recipe::template::is_field(name) => {
            name.parse::<u32>().is_err().then(|| vec![name.clone()])?
        }
        Ast::Subexpr { lhs, rhs, .. } => {
            let mut out = names_of_path(lhs)?;
            out.extend(names_of_path(rhs)?);
            out
        }
        _ => return None,
    })
}

fn body_regex(after: &str, until: &str, blank: &str) -> String {
    format!("body regex {}", quote(&pattern(after, until, blank)))
}

/// What stands between two texts the first time, `blank` at its ends left out.
fn pattern(after: &str, until: &str, blank: &str) -> String {
    let before = if after.is_empty() { "^".to_owned() } else { regex_syntax::escape(after) };
    let end = if until.is_empty() { "$".to_owned() } else { regex_syntax::escape(until) };
    format!("(?s){before}{blank}(.*?){blank}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_what_an_expression_makes() {
        for (text, keys, expected) in [
            ("a.b", &["c", "0"][..], Some("$['a']['b']['c'][0]")),
            ("{n: a.b, m: c}", &["n", "d"], Some("$['a']['b']['d']")),
            ("a.{n: b}", &["n"], Some("$['a']['b']")),
            ("{n: a}", &["m"], None),
            ("{n: a}", &[], None),
            ("{n: max(a)}", &["n"], None),
            ("@", &[], Some("$")),
        ] {
            let found = field(&jmespath::parse(text).unwrap(), "$", keys);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn when_an_answer_is_ready() {
        let identity = Ast::Identity { offset: 0 };
        let place = Place { base: "$".to_owned(), shape: &identity };
        for (text, expected) in [
            ("done", Some("jsonpath \"$['done']\" == true\n")),
            ("a.status == 'done'", Some("jsonpath \"$['a']['status']\" == \"done\"\n")),
            ("ready == `true`", Some("jsonpath \"$['ready']\" == true\n")),
            ("length(@) > `1`", Some("jsonpath \"$\" count > 1\n")),
            ("percent >= `100`", Some("jsonpath \"$['percent']\" >= 100\n")),
            ("status != 'queued'", None),
            ("a && b", None),
            ("result == `null`", None),
            ("a > 'b'", None),
        ] {
            assert_eq!(until(text, &place).as_deref(), expected, "{text}");
        }
    }
}
