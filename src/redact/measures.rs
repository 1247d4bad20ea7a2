//! What is measured over a whole answer before anything is cut.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    markup,
    visible::{Visible, each_word},
};
use crate::artifacts::recording::{ListMeasure, Measures};
use crate::shape;

const MAX_LISTS: usize = 32;
const MAX_LIST_DEPTH: usize = 12;
const MAX_KEYS: usize = 24;
const MAX_TOP_KEYS: usize = 32;
/// Paths kept while walking; the outermost are chosen from them.
const MAX_PATHS: usize = 2048;

/// Sees every text of one body, once.
pub struct Meter<'a> {
    visible: &'a Visible,
    typed: &'a [(String, Vec<u64>)],
    typed_hit: Vec<bool>,
    covered: Vec<bool>,
    leaves: Vec<u64>,
    shown: Vec<u64>,
    scratch: Vec<u64>,
    nodes: u32,
    depth: u32,
    lists: BTreeMap<String, List>,
}

struct List {
    depth: usize,
    order: usize,
    len: u32,
    instances: u32,
    of_objects: bool,
    keys: Vec<String>,
    leaves_visible: u32,
    items_visible: u32,
}

/// The measures of one body, and the leaves that the page shows (hashes), for weighing across bodies.
pub struct Measured {
    pub measures: Measures,
    pub shown: Vec<u64>,
}

impl<'a> Meter<'a> {
    pub fn new(visible: &'a Visible, typed: &'a [(String, Vec<u64>)]) -> Self {
        Self {
            visible,
            typed,
            typed_hit: vec![false; typed.len()],
            covered: vec![false; visible.wanted_len()],
            leaves: Vec::new(),
            shown: Vec::new(),
            scratch: Vec::new(),
            nodes: 0,
            depth: 0,
            lists: BTreeMap::new(),
        }
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
        let hash = words.iter().fold(17_u64, |it, word| it.rotate_left(5).wrapping_mul(31) ^ word);
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
            if let Some(at) = self.visible.wanted(*word) {
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
        self.json_at(value, &mut path, 0)
    }

    fn json_at(&mut self, value: &Value, path: &mut String, depth: usize) -> u32 {
        self.nodes = self.nodes.saturating_add(1);
        self.depth = self.depth.max(depth as u32);
        match value {
            Value::String(text) => u32::from(self.leaf(text)),
            Value::Number(number) => u32::from(self.leaf(&number.to_string())),
            Value::Object(fields) => {
                let mut seen = 0;
                for (key, item) in fields {
                    let len = path.len();
                    // Only lists need paths, and scalars hold none.
                    if matches!(item, Value::Array(_) | Value::Object(_)) {
                        if !path.is_empty() {
                            path.push('.');
                        }
                        push_key(path, key);
                    }
                    seen += self.json_at(item, path, depth + 1);
                    path.truncate(len);
                }
                seen
            }
            Value::Array(items) => {
                let len = path.len();
                path.push_str("[]");
                let (mut seen, mut shown_items) = (0, 0);
                for item in items {
                    let n = self.json_at(item, path, depth + 1);
                    seen += n;
                    shown_items += u32::from(n > 0);
                }
                path.truncate(len);
                if depth <= MAX_LIST_DEPTH {
                    self.list(path, depth, items, seen, shown_items);
                }
                seen
            }
            _ => 0,
        }
    }

    fn list(&mut self, path: &str, depth: usize, items: &[Value], seen: u32, shown_items: u32) {
        let path = if path.is_empty() { "@" } else { path };
        let order = self.lists.len();
        if !self.lists.contains_key(path) {
            if order >= MAX_PATHS {
                return;
            }
            self.lists.insert(
                path.to_owned(),
                List {
                    depth,
                    order,
                    len: 0,
                    instances: 0,
                    of_objects: false,
                    keys: Vec::new(),
                    leaves_visible: 0,
                    items_visible: 0,
                },
            );
        }
        let Some(list) = self.lists.get_mut(path) else {
            return;
        };
        list.len = list.len.saturating_add(items.len() as u32);
        list.instances += 1;
        list.leaves_visible += seen;
        list.items_visible += shown_items;
        if list.instances <= 3 {
            for fields in items.iter().take(3).filter_map(Value::as_object) {
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

    /// The lists so far, outermost first, and starts anew.
    pub fn take_lists(&mut self) -> Vec<ListMeasure> {
        let mut all: Vec<(String, List)> = std::mem::take(&mut self.lists).into_iter().collect();
        all.sort_by_key(|(_, it)| (it.depth, it.order));
        all.truncate(MAX_LISTS);
        all.into_iter()
            .map(|(path, it)| ListMeasure {
                path,
                len: it.len,
                of_objects: it.of_objects,
                keys: it.keys.into_iter().take(MAX_KEYS).collect(),
                leaves_visible: it.leaves_visible,
                items_visible: it.items_visible,
            })
            .collect()
    }

    /// Ends the body. `root` is its JSON, if it is JSON.
    pub fn finish(mut self, root: Option<&Value>) -> Measured {
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
        };
        Measured { measures, shown: self.shown }
    }
}

/// Weighs each shown leaf by how few bodies hold it.
pub fn weigh(bodies: &mut [Option<Measured>]) {
    let mut count = BTreeMap::<u64, u32>::new();
    for leaf in bodies.iter().flatten().flat_map(|it| &it.shown) {
        *count.entry(*leaf).or_default() += 1;
    }
    for body in bodies.iter_mut().flatten() {
        let weight = body.shown.iter().filter_map(|it| count.get(it)).map(|n| 1000 / n).sum();
        body.measures.visible_weight = weight;
    }
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
        let visible = Visible::new(&[visible]);
        let typed = [("q".to_owned(), super::super::visible::words_of("rust lang"))];
        let mut meter = Meter::new(&visible, &typed);
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
