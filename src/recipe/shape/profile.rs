//! What all answers that a proof saw had in common: the kinds of values at each place, and which keys were always there.
//!
//! Sharper than [`paths`](super::paths), which later answers are compared with: every item counts and not three, whole numbers
//! are told from others, and a key that one object lacks is not promised. What is written is keys and kinds, never a value. A
//! key that is data, or is spelled like no name, has no line of its own, so that no sentence of a stranger's gets into one.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::keys;

/// Lines, which is places.
const MAX_PLACES: usize = 256;
const MAX_DEPTH: usize = 12;
/// A longer one may be a sentence.
const MAX_KEY: usize = 40;
/// An object with more keys than this at one place is a map.
const MAX_KEYS: usize = 64;
/// So many keys of one kind of which no object has all are a map, too: rates by currency.
const MAP_KEYS: usize = 12;
/// More objects than this say no more. Measured on 396 lists of 132 recorded sites: where ten, all alike, had a key, one of ten
/// others lacked it in 6 % of cases, where twenty had it, in 3 %.
pub const MANY: u8 = 20;

/// The kinds of values that stand at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    pub const STR: Self = Self(1);
    /// Numbers, all written without a fraction.
    pub const INT: Self = Self(2);
    /// Numbers of any kind.
    pub const NUM: Self = Self(4);
    pub const BOOL: Self = Self(8);
    pub const LIST: Self = Self(16);
    pub const OBJECT: Self = Self(32);
    pub const NULL: Self = Self(64);

    /// As they are written, in the order in which they are.
    const NAMES: [(Self, &'static str); 7] = [
        (Self::STR, "str"),
        (Self::INT, "int"),
        (Self::NUM, "num"),
        (Self::BOOL, "bool"),
        (Self::LIST, "list"),
        (Self::OBJECT, "object"),
        (Self::NULL, "null"),
    ];

    pub fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOL,
            // `3.0` says that there may be a fraction.
            Value::Number(it) if it.is_f64() => Self::NUM,
            Value::Number(_) => Self::INT,
            Value::String(_) => Self::STR,
            Value::Array(_) => Self::LIST,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both = Self(self.0 | other.0);
        if both.contains(Self::NUM) { Self(both.0 & !Self::INT.0) } else { both }
    }

    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Both, as they are.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// As profiles are written.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |it| self.contains(it.0)).map(|it| it.1)
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|it| it.1 == name).map(|it| it.0)
    }
}

/// One place in the data. The default is a place of which nothing is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    pub kinds: Kinds,
    /// Objects seen here, at most [`MANY`].
    pub objects: u8,
    pub fields: BTreeMap<String, Field>,
    /// What stands under keys that are data, or spelled like no name.
    pub others: Option<Box<Node>>,
    /// Elements of lists.
    pub items: Option<Box<Node>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Every object had it, be it null.
    pub always: bool,
    pub node: Node,
}

impl Node {
    /// Keys say nothing of what stands under them.
    pub fn is_map(&self) -> bool {
        self.fields.is_empty() && self.others.is_some()
    }

    fn observe(&mut self, value: &Value, depth: usize) {
        self.kinds = self.kinds.and(Kinds::from_value(value));
        let (is_first, is_map) = (self.objects == 0, self.is_map());
        if value.is_object() {
            self.objects = (self.objects + 1).min(MANY);
        }
        if depth >= MAX_DEPTH {
            return;
        }
        match value {
            Value::Array(all) => {
                for it in all {
                    self.items.get_or_insert_default().observe(it, depth + 1);
                }
            }
            Value::Object(all) => {
                for (key, it) in all {
                    if is_map || keys::is_data_key(key) || !is_plain(key) {
                        self.others.get_or_insert_default().observe(it, depth + 1);
                    } else if let Some(field) = self.fields.get_mut(key) {
                        field.node.observe(it, depth + 1);
                    } else {
                        let mut field = Field { always: is_first, ..Field::default() };
                        field.node.observe(it, depth + 1);
                        self.fields.insert(key.clone(), field);
                    }
                }
                for (key, field) in &mut self.fields {
                    field.always = field.always && all.contains_key(key);
                }
                if self.fields.len() > MAX_KEYS {
                    self.fold();
                }
            }
            _ => {}
        }
    }

    /// Forgets how the keys are spelled.
    fn fold(&mut self) {
        let mut others = self.others.take().unwrap_or_default();
        for field in std::mem::take(&mut self.fields).into_values() {
            others.merge(field.node, false);
        }
        self.others = Some(others);
    }

    /// Folds what turned out to be a map when all was seen.
    fn fold_maps(&mut self) {
        let mut kinds = self.fields.values().map(|it| it.node.kinds.without(Kinds::NULL));
        let scalar = Kinds::LIST.and(Kinds::OBJECT);
        let first = kinds.next().unwrap_or_default();
        if self.fields.len() >= MAP_KEYS
            && self.fields.values().all(|it| !it.always)
            && first.without(scalar) == first
            && kinds.all(|it| it.and(first) == first || first.and(it) == it)
        {
            self.fold();
        }
        self.children_mut().for_each(Self::fold_maps);
    }

    /// What holds of both. The same places seen again are no more of them.
    fn merge(&mut self, other: Self, again: bool) {
        let is_map = self.is_map() || other.is_map();
        self.kinds = self.kinds.and(other.kinds);
        if let Some(items) = other.items {
            self.items.get_or_insert_default().merge(*items, again);
        }
        if let Some(others) = other.others {
            self.others.get_or_insert_default().merge(*others, again);
        }
        if self.objects > 0 && other.objects > 0 {
            for (key, field) in &mut self.fields {
                field.always = field.always && other.fields.get(key).is_some_and(|it| it.always);
            }
        }
        for (key, field) in other.fields {
            let always = field.always && self.objects == 0;
            let own = self.fields.entry(key).or_insert(Field { always, ..Field::default() });
            own.node.merge(field.node, again);
        }
        let sum = (self.objects + other.objects).min(MANY);
        self.objects = if again { self.objects.max(other.objects) } else { sum };
        if self.fields.len() > MAX_KEYS || (is_map && !self.fields.is_empty()) {
            self.fold();
        }
    }

    fn children_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        let boxed = [&mut self.items, &mut self.others].into_iter().flatten().map(AsMut::as_mut);
        self.fields.values_mut().map(|it| &mut it.node).chain(boxed)
    }

    /// Leaves out the deepest places, and of those on one level the last.
    fn keep_shallowest(&mut self, most: usize) {
        let mut left = most - 1;
        let mut level = VecDeque::from([self]);
        while let Some(node) = level.pop_front() {
            let mut keep = || {
                let is_left = left > 0;
                left = left.saturating_sub(1);
                is_left
            };
            node.items.take_if(|_| !keep());
            node.fields.retain(|_, _| keep());
            node.others.take_if(|_| !keep());
            let boxed = [&mut node.items, &mut node.others];
            level.extend(boxed.into_iter().flatten().map(AsMut::as_mut));
            level.extend(node.fields.values_mut().map(|it| &mut it.node));
        }
    }

    fn write(&self, path: &str, is_sure: bool, out: &mut Vec<String>) {
        let mut line = format!("{path}{}:", if is_sure { "" } else { "?" });
        for (i, name) in self.kinds.names().enumerate() {
            line.push_str(if i > 0 { "|" } else { "" });
            line.push_str(name);
        }
        if (1..MANY).contains(&self.objects) {
            // Writing to a string does not fail.
            let _ = write!(line, " {}", self.objects);
        }
        out.push(line);
        if let Some(it) = &self.items {
            it.write(&format!("{path}[]"), true, out);
        }
        for (key, field) in &self.fields {
            let quote = if key.contains(['.', ':']) { "\"" } else { "" };
            field.node.write(&format!("{path}.{quote}{key}{quote}"), field.always, out);
        }
        if let Some(it) = &self.others {
            it.write(&format!("{path}.*"), true, out);
        }
    }
}

/// Whether a key is a name as programs spell them: what else stands as a key is text, and of strangers.
pub fn is_plain(key: &str) -> bool {
    let name = key.strip_prefix(['@', '$', '#']).unwrap_or(key);
    key.len() <= MAX_KEY
        && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:".contains(&b))
}

/// The places of all answers seen, written as a list of lines such as `$[]:object`, `$[].title:str`, `$[].note?:str|null`:
/// `?` where not every object has the key, `.*` for keys that are data, and a number where fewer than twenty objects were seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
#[schemars(with = "Vec<String>")]
pub struct Profile {
    root: Node,
}

impl Profile {
    /// One more answer.
    pub fn observe(&mut self, data: &Value) {
        self.root.observe(data, 0);
        self.root.fold_maps();
        self.root.keep_shallowest(MAX_PLACES);
    }

    /// What holds of this and of what was seen at another time.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.root.merge(other.root, true);
        self.root.keep_shallowest(MAX_PLACES);
        self
    }

    pub fn root(&self) -> &Node {
        &self.root
    }

    pub fn lines(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.root.write("$", true, &mut out);
        out
    }
}

impl From<Profile> for Vec<String> {
    fn from(it: Profile) -> Self {
        it.lines()
    }
}

impl TryFrom<Vec<String>> for Profile {
    type Error = &'static str;

    fn try_from(lines: Vec<String>) -> Result<Self, Self::Error> {
        if lines.len() > MAX_PLACES {
            return Err("a profile has at most 256 lines");
        }
        let mut root = Node::default();
        for line in &lines {
            insert_line(&mut root, line)
                .ok_or("a line of a profile is none, or stands before its place")?;
        }
        Ok(Self { root })
    }
}

/// Adds what a line says to the tree, in which the place above must be.
fn insert_line(root: &mut Node, line: &str) -> Option<()> {
    let (path, said) = line.rsplit_once(':')?;
    let (names, objects) = said.split_once(' ').map_or((said, None), |it| (it.0, Some(it.1)));
    let mut kinds = Kinds::default();
    for name in names.split('|').filter(|it| !it.is_empty()) {
        kinds = kinds.and(Kinds::from_name(name)?);
    }
    let objects = match objects {
        Some(it) => it.parse().ok().filter(|it| (1..MANY).contains(it))?,
        None if kinds.contains(Kinds::OBJECT) => MANY,
        None => 0,
    };
    let (path, always) = path.strip_suffix('?').map_or((path, true), |it| (it, false));
    let mut rest = path.strip_prefix('$')?;
    let mut node = root;
    let mut depth = 0;
    while !rest.is_empty() {
        let step;
        (step, rest) = next_step(rest)?;
        depth += 1;
        let is_new = rest.is_empty();
        let holder = if step == Step::Items { Kinds::LIST } else { Kinds::OBJECT };
        if depth > MAX_DEPTH || !node.kinds.contains(holder) {
            return None;
        }
        let boxed = match step {
            Step::Field(key) => {
                if is_new && !node.fields.contains_key(key) && is_plain(key) {
                    node.fields.insert(key.to_owned(), Field { always, ..Field::default() });
                }
                node = &mut node.fields.get_mut(key)?.node;
                continue;
            }
            Step::Items => &mut node.items,
            Step::Others => &mut node.others,
        };
        if is_new && boxed.is_none() {
            *boxed = Some(Box::default());
        }
        node = boxed.as_mut()?;
    }
    if *node != Node::default() {
        return None;
    }
    (node.kinds, node.objects) = (kinds, objects);
    Some(())
}

#[derive(PartialEq)]
enum Step<'a> {
    Field(&'a str),
    Items,
    Others,
}

/// The first step of a path, and what is left of it.
fn next_step(path: &str) -> Option<(Step<'_>, &str)> {
    if let Some(rest) = path.strip_prefix("[]") {
        return Some((Step::Items, rest));
    }
    let path = path.strip_prefix('.')?;
    if let Some(rest) = path.strip_prefix('*') {
        return Some((Step::Others, rest));
    }
    if let Some(path) = path.strip_prefix('"') {
        let (key, rest) = path.split_once('"')?;
        return Some((Step::Field(key), rest));
    }
    let (key, rest) = path.split_at(path.find(['.', '[']).unwrap_or(path.len()));
    Some((Step::Field(key), rest))
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
