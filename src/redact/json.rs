//! JSON: each value is judged by the key that names it, wherever that key stands.

use serde_json::{Map, Number, Value};

use super::{
    Walk,
    cache::Memo,
    class::{KeyClass, Place, SecretReason},
    detector::verdict,
    fields::{are_pairs, bytes_of, has_numbered_keys, is_jwk, is_numbered_key, sibling_name},
    rpc_arguments,
    value_flags::{is_flagged, is_flagged_value, is_row_of_texts, table},
    walk::is_token,
};

/// A key of a megabyte must not be copied for each value under it.
const MAX_KEY: usize = 512;

/// What keys are called that are numbered.
const NUMBERED: &str = "secret_key";
/// What a value is called of which a flag says that it is one.
const FLAGGED: &str = "secret";

/// Where a value stands in JSON, by RFC 6901, of keys of any length only the beginning. Nothing is kept where nobody asks for it.
struct Pointer(Option<String>);

impl Pointer {
    /// Goes to a value below; returns the length to go back to with [`Self::truncate`].
    fn push(&mut self, key: &str) -> usize {
        let Some(text) = &mut self.0 else { return 0 };
        let len = text.len();
        text.push('/');
        text.push_str(&super::body::cut(key, MAX_KEY).replace('~', "~0").replace('/', "~1"));
        len
    }

    fn push_index(&mut self, at: usize) -> usize {
        if self.0.is_some() { self.push(&at.to_string()) } else { 0 }
    }

    fn truncate(&mut self, len: usize) {
        if let Some(text) = &mut self.0 {
            text.truncate(len);
        }
    }
}

/// What the fields of an object say of one another.
struct ObjectNames {
    /// What a field beside the value names it.
    sibling: Option<String>,
    /// The field with the arguments of a remote call, and the method.
    call: Option<(String, String)>,
    /// The heads of a table's columns, and the field with its rows.
    table: Option<(Vec<String>, String)>,
    is_jwk: bool,
    is_numbered: bool,
    is_flagged: bool,
}

impl ObjectNames {
    fn new(fields: &Map<String, Value>) -> Self {
        Self {
            sibling: sibling_name(fields).map(str::to_owned),
            call: rpc_arguments::arguments(fields).map(|it| (it.0.to_owned(), it.1.to_owned())),
            table: table(fields).map(|(heads, rows)| {
                (heads.into_iter().map(str::to_owned).collect(), rows.to_owned())
            }),
            is_jwk: is_jwk(fields),
            is_numbered: has_numbered_keys(fields),
            is_flagged: is_flagged(fields),
        }
    }
}

/// What an argument stands under: a text that is a credential by its place, under a name that says so.
fn argument<'k>(method: &str, at: usize, it: &Value, under: &'k str) -> &'k str {
    if it.is_string() && rpc_arguments::is_credential(method, at) { "password" } else { under }
}

/// What was looked at in one answer.
#[derive(Default)]
struct AnswerMemo<'v> {
    /// Texts in which no rule found a secret under a key of that class.
    clean: Memo<'v, KeyClass>,
    /// Names that are no credentials.
    names: Memo<'v, ()>,
}

impl Walk<'_> {
    /// JSON in place. Returns whether anything was replaced.
    pub fn json(&mut self, value: &mut Value, place: Place) -> bool {
        let mut pointer = Pointer((place == Place::Json).then(String::new));
        self.json_at("", value, place, 0, &mut pointer)
    }

    /// The same of JSON that stands within a value named `key`.
    pub fn json_of(&mut self, key: &str, value: &mut Value, place: Place, depth: u32) -> bool {
        self.json_at(key, value, place, depth, &mut Pointer(None))
    }

    fn json_at(
        &mut self,
        key: &str,
        value: &mut Value,
        place: Place,
        depth: u32,
        pointer: &mut Pointer,
    ) -> bool {
        let new = match value {
            Value::Object(fields) => return self.object(key, fields, place, depth, pointer),
            Value::Array(items) => {
                match bytes_of(items).and_then(|it| self.sink.replace_known(&it)) {
                    None => return self.array(key, items, place, depth, pointer),
                    new => new,
                }
            }
            Value::String(text) => {
                let new = self.open(key, text, place, depth);
                if depth == 0 {
                    self.sink.finish_value(text);
                }
                new
            }
            Value::Number(number) => self.number(key, number, inside(place)),
            Value::Null | Value::Bool(_) => None,
        };
        let Some(new) = new else { return false };
        *value = Value::String(new);
        if let Some(pointer) = &pointer.0 {
            self.sink.stands_at(&format!("json:{pointer}"));
        }
        true
    }

    fn object(
        &mut self,
        key: &str,
        fields: &mut Map<String, Value>,
        place: Place,
        depth: u32,
        pointer: &mut Pointer,
    ) -> bool {
        let inner = inside(place);
        let names = ObjectNames::new(fields);
        let mut changed = false;
        let mut renamed = Vec::new();
        for (name, item) in fields.iter_mut() {
            let under = self.under(key, names.sibling.as_deref(), name, item, names.is_jwk, inner);
            let under = if names.is_numbered && is_numbered_key(name) {
                NUMBERED
            } else if names.is_flagged && item.is_string() && is_flagged_value(name) {
                FLAGGED
            } else {
                &*under
            };
            let len = pointer.push(name);
            changed |= match (&names.table, &names.call, item) {
                (Some((heads, rows)), _, Value::Array(items)) if rows == name => {
                    self.rows(heads, under, items, inner, depth, pointer)
                }
                (_, Some((list, method)), Value::Array(given)) if list == name => {
                    let mut changed = false;
                    for (i, it) in given.iter_mut().enumerate() {
                        let under = argument(method, i, it, under);
                        let len = pointer.push_index(i);
                        changed |= self.json_at(under, it, inner, depth, pointer);
                        pointer.truncate(len);
                    }
                    changed
                }
                (_, _, item) => self.json_at(under, item, inner, depth, pointer),
            };
            pointer.truncate(len);
            if let Some(new) = self.name(name) {
                renamed.push((name.clone(), new));
            }
        }
        changed |= !renamed.is_empty();
        for (old, new) in renamed {
            if let Some(item) = fields.remove(&old) {
                fields.insert(new, item);
            }
        }
        changed
    }

    /// The rows of a table whose columns have their heads beside it.
    fn rows(
        &mut self,
        heads: &[String],
        key: &str,
        rows: &mut [Value],
        place: Place,
        depth: u32,
        pointer: &mut Pointer,
    ) -> bool {
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let mut changed = false;
        for (i, row) in rows.iter_mut().enumerate() {
            let cells = row.as_array_mut().into_iter().flatten();
            for (column, it) in cells.enumerate() {
                let under = self.head(&heads, column, key, place);
                let len = pointer.push_index(i);
                pointer.push_index(column);
                changed |= self.json_at(under, it, place, depth, pointer);
                pointer.truncate(len);
            }
        }
        changed
    }

    fn array(
        &mut self,
        key: &str,
        items: &mut [Value],
        place: Place,
        depth: u32,
        pointer: &mut Pointer,
    ) -> bool {
        let inner = inside(place);
        let pairs = are_pairs(items);
        let named: Vec<Option<String>> = if is_row_of_texts(items) {
            let named = |at| self.named_before(items, at, inner).map(str::to_owned);
            (0..items.len()).map(named).collect()
        } else {
            Vec::new()
        };
        let mut changed = false;
        for (i, item) in items.iter_mut().enumerate() {
            let len = pointer.push_index(i);
            if (pairs || self.is_told_pair(item, inner))
                && let Value::Array(pair) = item
                && let [Value::String(name), value] = &mut pair[..]
            {
                pointer.push_index(1);
                changed |= self.json_at(name, value, inner, depth, pointer);
                if let Some(new) = self.name(name) {
                    *name = new;
                    changed = true;
                }
            } else {
                let key = named.get(i).and_then(Option::as_deref).unwrap_or(key);
                changed |= self.json_at(key, item, place, depth, pointer);
            }
            pointer.truncate(len);
        }
        changed
    }

    /// `"pin": 492039`: a short number is a secret only where the name leaves no doubt.
    fn number(&mut self, key: &str, number: &Number, place: Place) -> Option<String> {
        let class = self.rules.class(key, place);
        let telling = matches!(class, KeyClass::Always | KeyClass::Code | KeyClass::Likely);
        if !telling && number.as_i64().is_some_and(|it| it.unsigned_abs() < 10_000_000_000) {
            return None;
        }
        let text = number.to_string();
        let secret = match class {
            KeyClass::Always => text.len() >= 3,
            KeyClass::Code | KeyClass::Likely => verdict(class, &text).is_some(),
            _ => false,
        };
        if secret {
            self.sink.secret(key, &text, SecretReason::Key)
        } else if text.len() >= 12 {
            self.sink.replace_known(&text)
        } else {
            None
        }
    }

    /// The first pass over the JSON of an answer: as [`json`](Self::json) at [`Place::Answer`], with a sink that replaces
    /// nothing.
    pub fn look_through(&mut self, answer: &Value) {
        self.look_through_at("", answer, &mut AnswerMemo::default());
    }

    fn look_through_at<'v>(&mut self, key: &str, value: &'v Value, seen: &mut AnswerMemo<'v>) {
        match value {
            Value::Object(fields) => {
                let named = sibling_name(fields);
                let call = rpc_arguments::arguments(fields);
                let is_jwk = is_jwk(fields);
                let numbered = has_numbered_keys(fields);
                let flagged = is_flagged(fields);
                let table = table(fields);
                for (name, item) in fields {
                    let under = self.under(key, named, name, item, is_jwk, Place::Answer);
                    let under = if numbered && is_numbered_key(name) {
                        NUMBERED
                    } else if flagged && item.is_string() && is_flagged_value(name) {
                        FLAGGED
                    } else {
                        &*under
                    };
                    match (call, item) {
                        (_, Value::Array(rows))
                            if table.as_ref().is_some_and(|it| it.1 == name) =>
                        {
                            let heads = table.as_ref().map_or(&[][..], |it| &it.0);
                            for row in rows {
                                for (at, it) in row.as_array().into_iter().flatten().enumerate() {
                                    let under = self.head(heads, at, under, Place::Answer);
                                    self.look_through_at(under, it, seen);
                                }
                            }
                        }
                        (Some((list, method)), Value::Array(given)) if list == name => {
                            for (i, it) in given.iter().enumerate() {
                                self.look_through_at(argument(method, i, it, under), it, seen);
                            }
                        }
                        _ => self.look_through_at(under, item, seen),
                    }
                    if name.len() >= 15 && seen.names.get(name).is_none() {
                        if is_token(name) {
                            self.sink.secret("key", name, SecretReason::Format);
                        } else {
                            seen.names.keep(name, ());
                        }
                    }
                }
            }
            Value::Array(items) => {
                let pairs = are_pairs(items);
                let is_row = is_row_of_texts(items);
                for (i, item) in items.iter().enumerate() {
                    match item {
                        Value::Array(pair) if pairs || self.is_told_pair(item, Place::Answer) => {
                            self.look_through_at(pair[0].as_str().unwrap_or(key), &pair[1], seen);
                        }
                        _ => {
                            let named = is_row
                                .then(|| self.named_before(items, i, Place::Answer))
                                .flatten();
                            self.look_through_at(named.unwrap_or(key), item, seen);
                        }
                    }
                }
            }
            Value::String(text) => {
                let class = self.rules.class(key, Place::Answer);
                // A key of the user's own, or one that was cut, says more than its class.
                let by_class = self.rules.allow.is_empty() && !key.ends_with(['_', '-']);
                if by_class && seen.clean.get(text) == Some(class) {
                    return;
                }
                self.open(key, text, Place::Answer, 0);
                if !self.sink.finish_value(text) && by_class {
                    seen.clean.keep(text, class);
                }
            }
            Value::Number(number) => _ = self.number(key, number, Place::Answer),
            Value::Null | Value::Bool(_) => {}
        }
    }
}

/// Where the values of JSON stand that was found at `place`.
fn inside(place: Place) -> Place {
    if place == Place::Answer { place } else { Place::Json }
}
