//! Which item of a step's answer is meant, and what of it later requests take.

use serde_json::{Map, Value};

use commis_base::error::{Code, Error, Result};
use commis_recipe::{
    steps::{Choose, field, split_step_name, text},
    template::Template,
    values::{ValueLookup, Values},
};

/// Calls for the items of one list, and items that go into one request, at most.
pub const MAX_CALLS: usize = 100;
/// Things that an error about a choice names, and what it says of each.
const MAX_LISTED: usize = 10;
const MAX_FIELDS: usize = 4;
const MAX_TEXT: usize = 40;

/// A [`Choose`] whose templates are parsed.
pub enum CompiledChoice {
    Only,
    First,
    Where(Vec<(String, Condition)>),
    /// With what stands between their values.
    All(String),
    Key(Template),
}

/// What a field has to be.
pub enum Condition {
    Text(Template),
    Is(Value),
}

impl CompiledChoice {
    /// Fails with `RECIPE_INVALID`.
    pub fn new(it: &Choose) -> Result<Self> {
        Ok(match it {
            Choose::Only => Self::Only,
            Choose::First => Self::First,
            Choose::Where(all) => {
                let compiled = all.iter().map(|(path, wanted)| {
                    let wanted = match wanted {
                        Value::String(it) => Condition::Text(Template::parse(it)?),
                        other => Condition::Is(other.clone()),
                    };
                    Ok((path.clone(), wanted))
                });
                Self::Where(compiled.collect::<Result<_>>()?)
            }
            Choose::All(separator) => Self::All(separator.clone()),
            Choose::Key(it) => Self::Key(Template::parse(it)?),
        })
    }

    /// Every name that its templates mention, with repetitions.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Where(all) => {
                let templates = all.iter().filter_map(|it| match &it.1 {
                    Condition::Text(it) => Some(it.names()),
                    Condition::Is(_) => None,
                });
                templates.flatten().collect()
            }
            Self::Key(it) => it.names().collect(),
            Self::Only | Self::First | Self::All(_) => Vec::new(),
        }
    }
}

/// The text of a field that a later template names. Fails with `EXTRACT_EMPTY` where it has none.
pub fn value(found: &Value, name: &str) -> Result<String> {
    let (_, path) = split_step_name(name);
    field(found, path).and_then(text).ok_or_else(|| {
        let hint = if found.is_array() {
            "the answer is a list: select an item with `choose`"
        } else {
            "the site may have changed; learn the recipe again"
        };
        Error::new(Code::ExtractEmpty, format!("the answer has no text for `{{{name}}}`"))
            .hint(hint)
    })
}

/// The texts of a field of the first items, with what stands between them, and as a JSON list where that is nothing. Fails with
/// `EXTRACT_EMPTY` where an item has no text there, or one that could be read as two.
pub fn all_values(items: &[Value], name: &str, separator: &str) -> Result<(String, Option<Value>)> {
    let (_, path) = split_step_name(name);
    let items = &items[..items.len().min(MAX_CALLS)];
    if separator.is_empty() {
        let list: Option<Vec<Value>> = items
            .iter()
            .map(|it| field(it, path).filter(|it| text(it).is_some()).cloned())
            .collect();
        let list = Value::Array(list.ok_or_else(|| no_text(name))?);
        return Ok((list.to_string(), Some(list)));
    }
    let mut out = String::new();
    for (at, it) in items.iter().enumerate() {
        let text = field(it, path).and_then(text).ok_or_else(|| no_text(name))?;
        if text.contains(separator) {
            let why = format!("a text for `{{{name}}}` holds what stands between two of them");
            return Err(
                Error::new(Code::ExtractEmpty, why).hint("give another text in `choose: {all: …}`")
            );
        }
        if at > 0 {
            out.push_str(separator);
        }
        out.push_str(&text);
    }
    Ok((out, None))
}

fn no_text(name: &str) -> Error {
    Error::new(Code::ExtractEmpty, format!("an item of the answer has no text for `{{{name}}}`"))
        .hint("the site may have changed; learn the recipe again")
}

/// What is meant of an answer. Fails with `EXTRACT_EMPTY` where the answer has nothing to choose from, with `CHOICE_AMBIGUOUS` where
/// more than one thing is meant, with `NOT_FOUND` where none is.
pub fn choose(choice: &CompiledChoice, found: Value, values: &Values) -> Result<Value> {
    match (choice, found) {
        (CompiledChoice::Key(key), Value::Object(members)) => choose_member(key, members, values),
        (CompiledChoice::Key(_), _) => {
            Err(Error::new(Code::ExtractEmpty, "the answer has no object to choose a member of"))
        }
        (_, Value::Array(items)) => choose_item(choice, items, values),
        _ => Err(Error::new(Code::ExtractEmpty, "the answer has no list to choose from")),
    }
}

/// The member of that name; one that is the same but for case and white space counts where none is the same.
fn choose_member(
    key: &Template,
    mut members: Map<String, Value>,
    values: &Values,
) -> Result<Value> {
    let wanted = fill(key, values)?;
    if let Some(it) = wanted.as_str().and_then(|it| members.remove(it)) {
        return Ok(it);
    }
    let alike: Vec<String> =
        members.keys().filter(|it| is_alike(&Value::from(it.as_str()), &wanted)).cloned().collect();
    if let [only] = &alike[..] {
        return Ok(members.remove(only).unwrap_or_default());
    }
    let names: Vec<Value> = members.keys().map(|it| Value::from(it.as_str())).collect();
    let all: Vec<&Value> = names.iter().collect();
    let why = format!("no member is called {}", summarize_value(&wanted));
    Err(not_found(&why, &describe_items(&all, &[])))
}

/// The item that is meant. Texts that are the same but for case and white space count where none is the same.
fn choose_item(choice: &CompiledChoice, items: Vec<Value>, values: &Values) -> Result<Value> {
    let wanted = match choice {
        CompiledChoice::First => {
            return items.into_iter().next().ok_or_else(|| not_found("its answer is empty", &[]));
        }
        CompiledChoice::Only => {
            return match <[Value; 1]>::try_from(items) {
                Ok([it]) => Ok(it),
                Err(items) if items.is_empty() => Err(not_found("its answer is empty", &[])),
                Err(items) => {
                    let all: Vec<&Value> = items.iter().collect();
                    Err(ambiguous("one item was expected", &all, &[]))
                }
            };
        }
        CompiledChoice::All(_) | CompiledChoice::Key(_) => return Ok(Value::Array(items)),
        CompiledChoice::Where(all) => all,
    };
    let mut conditions = Vec::with_capacity(wanted.len());
    for (path, it) in wanted {
        conditions.push((path.as_str(), it.fill(values)?));
    }
    let fits = |item: &Value, same: fn(&Value, &Value) -> bool| {
        conditions.iter().all(|(path, it)| field(item, Some(path)).is_some_and(|own| same(own, it)))
    };
    let mut found: Vec<usize> = Vec::new();
    for same in [is_same, is_alike] {
        found = (0..items.len()).filter(|at| fits(&items[*at], same)).collect();
        if !found.is_empty() {
            break;
        }
    }
    let paths: Vec<&str> = conditions.iter().map(|it| it.0).collect();
    let meant = || {
        let all = conditions.iter().map(|(path, it)| format!("{path} {}", summarize_value(it)));
        all.collect::<Vec<_>>().join(" and ")
    };
    match found[..] {
        [at] => Ok(items.into_iter().nth(at).unwrap_or_default()),
        [] => {
            let all: Vec<&Value> = items.iter().collect();
            Err(not_found(&format!("no item has {}", meant()), &describe_items(&all, &paths)))
        }
        _ => {
            let all: Vec<&Value> = found.iter().map(|at| &items[*at]).collect();
            Err(ambiguous(&format!("{} items have {}", all.len(), meant()), &all, &paths))
        }
    }
}

impl Condition {
    /// Fails with `SESSION_REQUIRED` for a name without a value.
    fn fill(&self, values: &Values) -> Result<Value> {
        match self {
            Self::Is(it) => Ok(it.clone()),
            Self::Text(it) => fill(it, values),
        }
    }
}

/// Fails with `SESSION_REQUIRED` for a name without a value.
fn fill(template: &Template, values: &Values) -> Result<Value> {
    let text = template.render(|name| match values.get(name) {
        ValueLookup::Given(it) => Ok(it.text.clone()),
        ValueLookup::Absent => Ok(String::new()),
        ValueLookup::Unknown => Err(Error::new(
            Code::SessionRequired,
            format!("`{name}` has no value, because it comes from a browser session"),
        )),
    });
    text.map(Value::from)
}

fn is_same(own: &Value, wanted: &Value) -> bool {
    own == wanted || (wanted.is_string() && text(own).as_deref() == wanted.as_str())
}

/// Whether a value is what was asked for, but for case and white space.
pub fn is_alike(own: &Value, wanted: &Value) -> bool {
    let plain = |it: &Value| {
        let words = text(it)?.to_lowercase();
        Some(words.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    is_same(own, wanted)
        || (wanted.is_string() && plain(own).is_some() && plain(own) == plain(wanted))
}

fn ambiguous(why: &str, items: &[&Value], paths: &[&str]) -> Error {
    let all = describe_items(items, paths).join("; ");
    Error::new(Code::ChoiceAmbiguous, format!("{why}: {all}"))
        .hint("give a value that only one of them has")
}

fn not_found(why: &str, there: &[String]) -> Error {
    let err = Error::new(Code::NotFound, why.to_owned());
    if there.is_empty() {
        return err.hint("check the values");
    }
    err.hint(format!("the items are: {}", there.join("; ")))
}

/// The first of them in a few words each: the fields that are chosen by, and others. What names a secret is left out.
fn describe_items(items: &[&Value], paths: &[&str]) -> Vec<String> {
    let mut out: Vec<String> =
        items.iter().take(MAX_LISTED).map(|it| describe_item(it, paths)).collect();
    if items.len() > MAX_LISTED {
        out.push(format!("and {} more", items.len() - MAX_LISTED));
    }
    out
}

fn describe_item(item: &Value, paths: &[&str]) -> String {
    let Value::Object(all) = item else { return summarize_value(item) };
    let mut fields: Vec<(String, &Value)> = Vec::new();
    for (key, it) in all {
        match it {
            Value::Object(inner) => {
                fields.extend(inner.iter().map(|(name, it)| (format!("{key}.{name}"), it)));
            }
            it => fields.push((key.clone(), it)),
        }
    }
    let is_secret = |name: &str| name.split('.').any(commis_redact::names_secret);
    fields.retain(|it| text(it.1).is_some() && !is_secret(&it.0));
    fields.sort_by_key(|it| !paths.contains(&it.0.as_str()));
    let all =
        fields.iter().take(MAX_FIELDS).map(|(name, it)| format!("{name} {}", summarize_value(it)));
    all.collect::<Vec<_>>().join(", ")
}

fn summarize_value(value: &Value) -> String {
    let text = text(value).unwrap_or_else(|| value.to_string());
    let kept: String = text.chars().filter(|it| !it.is_control()).take(MAX_TEXT).collect();
    if value.is_string() { format!("{kept:?}") } else { kept }
}
