//! What an object or a list says of a value by something else than its name: a flag beside it, the argument before it.

use serde_json::{Map, Value};

use super::{
    class::{KeyClass, Place},
    configs::tells,
    messages::looks_chosen,
    randomness::{erratic, is_hex, random},
    rules::Walk,
    stand_in::is_stand_in,
};

/// Names that the value has which a flag speaks of.
pub fn is_flagged_value(name: &str) -> bool {
    matches!(
        name,
        "value" | "Value" | "val" | "content" | "current" | "default" | "defaultValue" | "text"
    )
}

/// Whether an object says of its value that it is a secret: `"sensitive": true`, `"type": "CONCEALED"`.
pub fn is_flagged(fields: &Map<String, Value>) -> bool {
    fields.len() <= 24
        && fields.keys().any(|it| is_flagged_value(it))
        && fields.iter().any(|(name, it)| match it {
            Value::Bool(true) => is_flag(name),
            Value::String(it) => is_kind(name) && is_secret_kind(it),
            _ => false,
        })
}

fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn is_flag(name: &str) -> bool {
    let it = plain(name);
    matches!(
        it.strip_prefix("is").unwrap_or(&it),
        "concealed" | "confidential" | "masked" | "secret" | "secure" | "sensitive"
    )
}

fn is_kind(name: &str) -> bool {
    matches!(&*plain(name), "type" | "kind" | "format" | "valuetype" | "fieldtype" | "inputtype")
}

fn is_secret_kind(text: &str) -> bool {
    text.len() <= 20
        && matches!(
            &*plain(text),
            "concealed" | "credential" | "password" | "secret" | "securestring" | "sensitive"
        )
}

/// Whether all of a list are texts of a command or of headers in turn.
pub fn is_row_of_texts(items: &[Value]) -> bool {
    (2..=256).contains(&items.len()) && items.iter().all(Value::is_string)
}

/// The names of a table's columns, and the field with its rows: `{"columns": ["id", "api_key"], "rows": [[1, "…"]]}`.
pub fn table(fields: &Map<String, Value>) -> Option<(Vec<&str>, &str)> {
    const NAMES: &[&str] = &["name", "id", "field", "key", "column", "label", "title"];
    fn name_of(it: &Value) -> Option<&str> {
        it.as_str().or_else(|| NAMES.iter().find_map(|name| it.get(name)?.as_str()))
    }
    fn names(it: &Value) -> Option<Vec<&str>> {
        let all = it.as_array().filter(|it| (1..=256).contains(&it.len()))?;
        all.iter().map(|it| name_of(it).filter(|it| it.len() <= 64)).collect()
    }
    let has_row = |it: &Value| it.get(0).is_some_and(Value::is_array);
    if fields.len() > 24 || !fields.values().any(has_row) {
        return None;
    }
    let is_row = |len: usize, it: &Value| it.as_array().is_some_and(|it| it.len() == len);
    let is_rows = |len: usize, it: &Value| {
        it.as_array().is_some_and(|it| !it.is_empty() && it.iter().all(|it| is_row(len, it)))
    };
    let rows = |len: usize| fields.iter().find(|it| is_rows(len, it.1)).map(|it| it.0.as_str());
    // `{"meta": {"cols": […]}, "data": […]}`
    let inner = fields.values().filter_map(Value::as_object).filter(|it| it.len() <= 8);
    let heads = fields.values().chain(inner.flat_map(Map::values)).filter_map(names);
    heads.take(4).find_map(|it| rows(it.len()).map(|rows| (it, rows)))
}

impl Walk<'_> {
    /// What a cell stands under; its table's name where the head says nothing.
    pub fn head<'k>(&self, heads: &[&'k str], at: usize, table: &'k str, place: Place) -> &'k str {
        let head = heads.get(at).copied().unwrap_or(table);
        match self.rules.class(head, place) {
            KeyClass::Silent => table,
            _ => head,
        }
    }

    /// The name that the text before it gives an item: `"--password", "…"`, or of pairs in one row `"x-api-key", "…"`.
    pub fn named_before<'v>(&self, items: &'v [Value], at: usize, place: Place) -> Option<&'v str> {
        let name = items.get(at.checked_sub(1)?)?.as_str()?;
        let value = items[at].as_str()?;
        let bare = name.trim_start_matches('-');
        if !(2..=48).contains(&bare.len())
            || value.starts_with('-')
            || value.len() < 4
            || !bare.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        {
            return None;
        }
        let class = self.rules.class(bare, Place::Json);
        let is_option = bare.len() < name.len();
        // What a list says in turn is said by all of it.
        let is_pair = items.len().is_multiple_of(2) && at % 2 == 1 && bare.contains(['-', '_']);
        let is_made = random(value) || erratic(value) || looks_chosen(value) || is_hex(value);
        let told = matches!(class, KeyClass::Always | KeyClass::Likely)
            && (is_option || is_pair)
            && is_made
            && !is_stand_in(value)
            && tells(class, value, true, place != Place::Answer);
        told.then_some(bare)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_object_says_of_its_value() {
        for (object, expected) in [
            (json!({"value": "x", "sensitive": true}), true),
            (json!({"value": "x", "sensitive": false}), false),
            (json!({"value": "x", "isSecret": true}), true),
            (json!({"label": "x", "value": "y", "type": "CONCEALED"}), true),
            (json!({"value": "y", "type": "text"}), false),
            (json!({"name": "y", "type": "password"}), false),
            (json!({"value": "y", "secure": true, "httpOnly": true}), true),
        ] {
            assert_eq!(is_flagged(object.as_object().unwrap()), expected, "{object}");
        }
    }
}
