//! What a recipe takes, as JSON Schema.

use serde_json::{Map, Value, json};

use crate::{
    model::{Format, ParamType, Parameter, Recipe},
    values,
};

/// More choices than this are not told; a value that is none of them is still refused.
const MAX_CHOICES: usize = 100;
const MAX_WORD: usize = 40;
/// More words are a sentence.
const MAX_WORDS: usize = 4;
/// So are choices of several words where they come to more than this: a stranger may have written them.
const MAX_ALL: usize = 80;

/// Schema of an object with the recipe's parameters, and no others. Values that are not plain words are left out, and choices
/// all of them if one is not.
pub fn input_schema(recipe: &Recipe) -> Value {
    let properties: Map<String, Value> =
        recipe.parameters.iter().map(|it| (it.name.clone(), parameter_schema(it))).collect();
    let needed = recipe.parameters.iter().filter(|it| it.required && it.default.is_none());
    let required: Vec<&str> = needed.map(|it| it.name.as_str()).collect();
    let mut out =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        out["required"] = required.into();
    }
    out
}

/// The same of a recipe whose words may be a stranger's: no example, no default and no choice that is text.
pub fn without_free_text(input: &Value) -> Value {
    let mut out = input.clone();
    let has_text = |it: &Value| match it {
        Value::Array(all) => all.iter().any(Value::is_string),
        it => it.is_string(),
    };
    let all = out.get_mut("properties").and_then(Value::as_object_mut);
    for it in all.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
        it.retain(|key, value| {
            !matches!(&**key, "examples" | "default" | "enum") || !has_text(value)
        });
    }
    out
}

fn parameter_schema(it: &Parameter) -> Value {
    let limits = &it.constraints;
    let is_choice = !limits.map.is_empty();
    let kind = match it.kind {
        // A choice is made by its word, whatever is sent for it.
        _ if is_choice => ParamType::Str,
        kind => kind,
    };
    let name = match kind {
        ParamType::Str => "string",
        ParamType::Int => "integer",
        ParamType::Float => "number",
        ParamType::Bool => "boolean",
    };
    let mut out = json!({"type": name});
    let told = |text: &String| is_plain_text(text).then(|| typed_value(it, kind, text)).flatten();
    let words: Vec<&String> =
        if is_choice { limits.map.keys().collect() } else { limits.one_of.iter().collect() };
    let choices: Option<Vec<Value>> = words.iter().map(|it| told(it)).collect();
    let are_words = words.iter().all(|it| !it.contains(' '));
    let few = words.iter().map(|it| it.len()).sum::<usize>() <= MAX_ALL;
    let fits = |it: &Vec<Value>| (1..=MAX_CHOICES).contains(&it.len()) && (are_words || few);
    if let Some(all) = choices.filter(fits) {
        out["enum"] = all.into();
    }
    match kind {
        ParamType::Str if !is_choice => {
            if let Some(max) = limits.max_len {
                out["maxLength"] = max.into();
            }
            if limits.format == Some(Format::Date) {
                out["format"] = "date".into();
            }
        }
        ParamType::Int | ParamType::Float => {
            if let Some(min) = limits.min {
                out["minimum"] = min.into();
            }
            if let Some(max) = limits.max {
                out["maximum"] = max.into();
            }
        }
        _ => {}
    }
    if let Some(default) = it.default.as_ref().and_then(told) {
        out["default"] = default;
    } else if out.get("enum").is_none()
        && let Some(example) = it.examples.iter().find_map(told)
    {
        out["examples"] = json!([example]);
    }
    out
}

/// The text as a value of the type.
fn typed_value(parameter: &Parameter, kind: ParamType, text: &str) -> Option<Value> {
    if kind == ParamType::Str {
        return Some(text.into());
    }
    values::coerce(parameter, text).ok()?.typed
}

/// Short words as people choose between, and numbers: too little to tell a model what to do.
pub fn is_plain_text(text: &str) -> bool {
    // Latin letters: other scripts say whole sentences in so few.
    let is_fine = |c: char| {
        c.is_ascii_digit() || (c.is_alphabetic() && c < '\u{250}') || " -_.,:/".contains(c)
    };
    !text.is_empty()
        && text.chars().count() <= MAX_WORD
        && text.split(' ').count() <= MAX_WORDS
        && text.trim() == text
        && text.chars().all(is_fine)
}
