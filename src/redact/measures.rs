//! What is measured over a whole answer before anything is cut.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Map, Value};

use super::{
    cache::Memo,
    markup,
    page_text_index::{START_OF_TEXT, VisibleWords, each_word, hash_of, joined, words_of},
};
use commis_artifacts::recording::{ListMeasure, Measures};
use commis_recipe::shape;

const MAX_LISTS: usize = 32;
const MAX_LIST_DEPTH: usize = 24;
const MAX_KEYS: usize = 24;
const MAX_TOP_KEYS: usize = 32;
/// Paths kept while walking; those that hold most are chosen from them.
const MAX_PATHS: usize = 2048;
/// A key of a megabyte must not be copied for each list under it.
const MAX_PATH: usize = 1024;

/// Sees every text of one body, once.
pub struct Meter<'a> {
    visible: &'a VisibleWords,
    typed: &'a [(String, Vec<u64>)],
    /// The values themselves.
    pub values: &'a [String],
    typed_hit: Vec<bool>,
    covered: Vec<bool>,
    leaves: Vec<u64>,
    units: Vec<u64>,
    shown: Vec<u64>,
    scratch: Vec<u64>,
    nodes: u32,
    depth: u32,
    lists: BTreeMap<String, ListStats>,
    /// Text leaves of the JSON whose lists these are.
    total: u32,
}

struct ListStats {
    depth: usize,
    order: usize,
    len: u32,
    instances: u32,
    of_objects: bool,
    of_map: bool,
    keys: Vec<String>,
    leaves: u32,
    leaves_visible: u32,
    items_visible: u32,
}

/// Text leaves below a value: how many there are, and how many the page shows.
#[derive(Clone, Copy, Default)]
struct LeafCounts {
    all: u32,
    seen: u32,
}

impl std::ops::AddAssign for LeafCounts {
    fn add_assign(&mut self, it: Self) {
        self.all += it.all;
        self.seen += it.seen;
    }
}

/// The measures of one body, and the leaves that the page shows (hashes), for weighing across bodies.
pub struct BodyMeasures {
    pub measures: Measures,
    pub shown: Vec<u64>,
}

impl<'a> Meter<'a> {
    /// `typed` are the hashes of the words of each value.
    pub fn new(
        visible: &'a VisibleWords,
        typed: &'a [(String, Vec<u64>)],
        values: &'a [String],
    ) -> Self {
        Self {
            visible,
            typed,
            values,
            typed_hit: vec![false; typed.len()],
            covered: vec![false; visible.wanted_len()],
            leaves: Vec::new(),
            units: Vec::new(),
            shown: Vec::new(),
            scratch: Vec::new(),
            nodes: 0,
            depth: 0,
            lists: BTreeMap::new(),
            total: 0,
        }
    }

    /// Texts of an item of a listing, which go through several nodes: for what the page showed of items. How many items of
    /// each block stand in these texts.
    pub fn units<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Vec<u32> {
        let at = self.units.len();
        self.units.extend(texts.map(hash_of));
        self.visible.count_items(self.units[at..].iter().copied())
    }

    /// Whether the page's text holds this one.
    pub fn shows(&self, text: &str) -> bool {
        self.visible.holds(&words_of(text))
    }

    /// One text leaf. Returns whether the page shows it.
    pub fn leaf(&mut self, text: &str) -> bool {
        self.words(text);
        let words = &self.scratch;
        let digits = text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
        let least = if digits {
            text.bytes().filter(u8::is_ascii_digit).count()
        } else {
            text.chars().take(3).count()
        };
        if words.is_empty() || least < 3 {
            return false;
        }
        let hash = words.iter().fold(START_OF_TEXT, |it, word| joined(it, *word));
        self.leaves.push(hash);
        let seen = self.visible.holds(words);
        if seen {
            self.shown.push(hash);
        }
        seen
    }

    /// Text that is not a leaf of its own: only coverage and typed values are looked for.
    pub fn words(&mut self, text: &str) {
        let mut words = std::mem::take(&mut self.scratch);
        words.clear();
        let stripped;
        let text = if text.contains('<') && text.contains('>') {
            stripped = markup::visible_text(text, text.len());
            stripped.as_str()
        } else {
            text
        };
        each_word(text, |word, _| words.push(word));
        for (i, word) in words.iter().enumerate() {
            if let Some(at) = self.visible.coverage_index(*word) {
                self.covered[at] = true;
            }
            for (typed, hit) in self.typed.iter().zip(&mut self.typed_hit) {
                if !*hit && typed.1.first() == Some(word) && words[i..].starts_with(&typed.1) {
                    *hit = true;
                }
            }
        }
        self.scratch = words;
    }

    /// A JSON value with its lists. Returns how many of its leaves the page shows.
    pub fn json(&mut self, value: &Value) -> u32 {
        let mut path = String::new();
        let leaves = self.json_at(value, &mut path, 0, &mut Memo::default());
        self.total += leaves.all;
        leaves.seen
    }

    /// A leaf is counted when it has three characters or more.
    fn json_leaf(&mut self, text: &str) -> LeafCounts {
        LeafCounts {
            all: u32::from(text.chars().nth(2).is_some()),
            seen: u32::from(self.leaf(text)),
        }
    }

    /// The same of a text that may stand in this JSON more than once: what it shows is counted once anyway.
    fn json_text<'v>(&mut self, text: &'v str, known: &mut Memo<'v, LeafCounts>) -> LeafCounts {
        known.get(text).unwrap_or_else(|| {
            let leaves = self.json_leaf(text);
            known.keep(text, leaves);
            leaves
        })
    }

    fn json_at<'v>(
        &mut self,
        value: &'v Value,
        path: &mut String,
        depth: usize,
        known: &mut Memo<'v, LeafCounts>,
    ) -> LeafCounts {
        self.nodes = self.nodes.saturating_add(1);
        self.depth = self.depth.max(depth as u32);
        match value {
            Value::String(text) => self.json_text(text, known),
            Value::Number(number) => self.json_leaf(&number.to_string()),
            Value::Object(fields) => {
                let len = path.len();
                let map = keyed(fields);
                let (mut leaves, mut shown_items) = (LeafCounts::default(), 0);
                for (key, item) in fields {
                    // Only lists need paths, and scalars hold none.
                    if matches!(item, Value::Array(_) | Value::Object(_)) {
                        if !path.is_empty() {
                            path.push('.');
                        }
                        match map {
                            None => push_key(path, key),
                            Some(_) => path.push('*'),
                        }
                    }
                    let below = self.json_at(item, path, depth + 1, known);
                    shown_items += u32::from(below.seen > 0);
                    leaves += below;
                    path.truncate(len);
                }
                if map == Some(MapKind::Objects) {
                    let items: Vec<&Value> = fields.values().filter(|it| it.is_object()).collect();
                    if path.len() <= MAX_PATH {
                        let values = values_of(path, items.len() == fields.len());
                        self.list((&values, true), depth, &items, leaves, shown_items);
                    }
                }
                leaves
            }
            Value::Array(items) => {
                let len = path.len();
                let tuple = is_tuple(items);
                let (mut leaves, mut shown_items) = (LeafCounts::default(), 0);
                for (i, item) in items.iter().enumerate() {
                    if tuple {
                        let _ = write!(path, "[{i}]");
                    } else {
                        path.push_str("[]");
                    }
                    let below = self.json_at(item, path, depth + 1, known);
                    shown_items += u32::from(below.seen > 0);
                    leaves += below;
                    path.truncate(len);
                }
                if !tuple {
                    let items: Vec<&Value> = items.iter().collect();
                    let path = if path.is_empty() { "@" } else { path };
                    self.list((path, false), depth, &items, leaves, shown_items);
                }
                leaves
            }
            _ => LeafCounts::default(),
        }
    }

    fn list(
        &mut self,
        (path, of_map): (&str, bool),
        depth: usize,
        items: &[&Value],
        leaves: LeafCounts,
        shown_items: u32,
    ) {
        let order = self.lists.len();
        if depth > MAX_LIST_DEPTH
            || path.len() > MAX_PATH
            || (order >= MAX_PATHS && !self.lists.contains_key(path))
        {
            return;
        }
        let list = self.lists.entry(path.to_owned()).or_insert_with(|| ListStats {
            depth,
            order,
            len: 0,
            instances: 0,
            of_objects: false,
            of_map,
            keys: Vec::new(),
            leaves: 0,
            leaves_visible: 0,
            items_visible: 0,
        });
        list.len = list.len.saturating_add(items.len() as u32);
        list.instances += 1;
        list.leaves += leaves.all;
        list.leaves_visible += leaves.seen;
        list.items_visible += shown_items;
        if list.instances <= 3 {
            for fields in items.iter().take(3).filter_map(|it| it.as_object()) {
                list.of_objects = true;
                for key in fields.keys().filter(|it| it.len() <= 200) {
                    if let Err(at) = list.keys.binary_search(key)
                        && list.keys.len() < 4 * MAX_KEYS
                    {
                        list.keys.insert(at, key.clone());
                    }
                }
            }
        }
    }

    /// The lists so far that hold most, outermost first, and starts anew.
    pub fn take_lists(&mut self) -> Vec<ListMeasure> {
        let mut all: Vec<(String, ListStats)> =
            std::mem::take(&mut self.lists).into_iter().collect();
        // A list that stands once can be the answer; of those, and of the others, what holds most.
        all.sort_by_key(|(_, it)| {
            let weight = std::cmp::Reverse((it.leaves_visible, it.leaves));
            (it.instances > 1, weight, it.depth, it.order)
        });
        all.truncate(MAX_LISTS);
        let total = std::mem::take(&mut self.total);
        all.sort_by_key(|(_, it)| (it.depth, it.order));
        all.into_iter()
            .map(|(path, it)| ListMeasure {
                path,
                len: it.len,
                of_objects: it.of_objects,
                instances: it.instances,
                keys: it.keys.into_iter().take(MAX_KEYS).collect(),
                of_map: it.of_map,
                share_bp: (u64::from(it.leaves) * 10_000 / u64::from(total.max(1))) as u32,
                leaves_visible: it.leaves_visible,
                items_visible: it.items_visible,
            })
            .collect()
    }

    /// Ends the body. `root` is its JSON, if it is JSON.
    pub fn finish(mut self, root: Option<&Value>) -> BodyMeasures {
        let lists = self.take_lists();
        self.leaves.sort_unstable();
        self.leaves.dedup();
        self.shown.sort_unstable();
        self.shown.dedup();
        let covered = self.covered.iter().filter(|it| **it).count();
        let typed =
            self.typed.iter().zip(&self.typed_hit).filter(|it| *it.1).map(|it| it.0.0.clone());
        let measures = Measures {
            shape: root.map(shape::paths).unwrap_or_default(),
            lists,
            leaves: self.leaves.len() as u32,
            leaves_visible: self.shown.len() as u32,
            visible_weight: 0,
            page_coverage_bp: (covered * 10_000).checked_div(self.covered.len()).unwrap_or(0)
                as u32,
            typed_in_request: Vec::new(),
            typed_in_response: typed.collect(),
            json_nodes: if root.is_some() { self.nodes } else { 0 },
            json_depth: if root.is_some() { self.depth } else { 0 },
            top_keys: root
                .and_then(Value::as_object)
                .map(|it| it.keys().take(MAX_TOP_KEYS).cloned().collect())
                .unwrap_or_default(),
            embedded_json: Vec::new(),
            listings: Vec::new(),
            holds: self.visible.count_items(self.leaves.iter().chain(&self.units).copied()),
        };
        BodyMeasures { measures, shown: self.shown }
    }
}

/// Weighs each shown leaf by how few bodies hold it.
pub fn weigh(bodies: &mut [Option<BodyMeasures>]) {
    let mut count = BTreeMap::<u64, u32>::new();
    for leaf in bodies.iter().flatten().flat_map(|it| &it.shown) {
        *count.entry(*leaf).or_default() += 1;
    }
    for body in bodies.iter_mut().flatten() {
        let weight = body.shown.iter().filter_map(|it| count.get(it)).map(|n| 1000 / n).sum();
        body.measures.visible_weight = weight;
    }
}

/// What an object holds that is a map: its keys are data, so a path with one of them fits this answer only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MapKind {
    /// Objects alike, which are a list then.
    Objects,
    /// Lists.
    Lists,
}

/// Whether an object is a map by id or name: keys that no program would name a field, values alike.
fn keyed(fields: &Map<String, Value>) -> Option<MapKind> {
    let odd = |key: &str| {
        let (mut digits, mut strange) = (0, false);
        for b in key.bytes() {
            digits += u32::from(b.is_ascii_digit());
            strange |= matches!(b, b'/' | b' ' | b'@') || !b.is_ascii();
        }
        strange || digits >= 4 || key.bytes().next().is_none_or(|b| b.is_ascii_digit())
    };
    let odd_keys = fields.keys().filter(|it| odd(it)).count();
    if odd_keys == 0 || odd_keys * 10 < fields.len() * 6 {
        return None;
    }
    if fields.values().all(Value::is_array) {
        return Some(MapKind::Lists);
    }
    let mut objects = fields.values().filter_map(Value::as_object);
    let first = objects.next()?;
    let (mut alike, mut others) = (1, 0);
    for it in objects {
        let same = it.keys().filter(|key| first.contains_key(*key)).count();
        if same * 2 >= first.len().max(it.len()) { alike += 1 } else { others += 1 }
    }
    (alike >= 3 && others * 4 <= alike && alike * 10 >= fields.len() * 8)
        .then_some(MapKind::Objects)
}

/// JMESPath of the objects in a map.
fn values_of(path: &str, only_objects: bool) -> String {
    match (path, only_objects) {
        ("", true) => "*".to_owned(),
        (_, true) => format!("{path}.*"),
        (_, false) => {
            let path = if path.is_empty() { "@" } else { path };
            format!("values({path})[?type(@) == 'object']")
        }
    }
}

/// A few values of different kinds, told apart by position: `["lamp", ["lamp oil", "lamp post"], {}]`.
fn is_tuple(items: &[Value]) -> bool {
    let has = |kind: fn(&Value) -> bool| items.iter().any(kind);
    let scalar = |it: &Value| it.is_string() || it.is_number() || it.is_boolean();
    let kinds = [has(Value::is_array), has(Value::is_object), has(scalar)];
    (2..=8).contains(&items.len())
        && (kinds[0] || kinds[1])
        && kinds.into_iter().filter(|it| *it).count() >= 2
}

/// A key in a JMESPath: quoted unless it is a plain name.
pub fn push_key(path: &mut String, key: &str) {
    let plain = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain {
        path.push_str(key);
    } else {
        path.push_str(&Value::from(key).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn measure(visible: &str, body: &Value) -> Measures {
        let visible = VisibleWords::new(&[visible]);
        let typed = [("q".to_owned(), super::super::page_text_index::words_of("rust lang"))];
        let mut meter = Meter::new(&visible, &typed, &[]);
        meter.json(body);
        meter.finish(Some(body)).measures
    }

    #[test]
    fn lists_have_paths_that_jmespath_reads() {
        let body = json!({
            "a-b": [{"t": "Rust lang", "tags": [{"n": "x1x"}]}, {"t": "Other", "tags": []}],
            "grid": [[1], [2]], "n": {"in": [1, 2]},
        });
        let it = measure("the Rust Lang page", &body);
        let paths: Vec<&str> = it.lists.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["\"a-b\"", "grid", "grid[]", "n.in", "\"a-b\"[].tags"]);
        for path in paths {
            let found = jmespath::compile(path).unwrap().search(&body).unwrap();
            assert!(found.is_array(), "{path}");
        }
        assert_eq!(
            (it.lists[0].len, it.lists[0].items_visible, it.lists[0].leaves_visible),
            (2, 1, 1)
        );
        assert_eq!(it.lists[0].keys, ["t", "tags"]);
        assert_eq!(it.typed_in_response, ["q"]);
        assert_eq!((it.leaves, it.leaves_visible), (3, 1));
        assert_eq!(it.page_coverage_bp, 5000);
        assert_eq!(measure("", &json!([{"a": 1}])).lists[0].path, "@");
    }
}
