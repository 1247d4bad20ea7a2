//! JSON whose values refer to one another by their numbers: how SvelteKit and Nuxt (devalue) and React Router (turbo-stream) send data.
//!
//! Such a list begins with the value that was sent; its objects and lists hold the places of what they hold, and what JSON has no
//! form for stands in a list behind its type: `["Date", "2024-05-01T00:00:00.000Z"]`. A list is read as one only where all of it
//! is: every number is a place in it, every place is used, and every type is known.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// So deep such a list may stand in an answer.
const DEPTH: usize = 4;
/// Fewer values are no list of that kind for certain.
const FEW_VALUES: usize = 6;
/// Beside one that is, or where a recipe says that there is one.
const LEAST_VALUES: usize = 2;
/// Levels of what is read, as `serde_json` has it.
const MAX_DEPTH: usize = 120;
/// What may be made of one answer, in bytes of text and so many for each value: what is used twice is written twice.
const MAX_SIZE: usize = 32 << 20;
const VALUE: usize = 32;
/// Characters of the name of a type.
const MAX_TYPE: usize = 24;

/// The answer with every such list in it as the value that it stands for; `None` where it holds none, or one that cannot be read.
pub fn resolve_detected(value: &Value) -> Option<Value> {
    holds_graph(value, FEW_VALUES, DEPTH).then(|| resolve(value))?
}

/// The same of an answer that is known to hold one, however short.
pub fn resolve(value: &Value) -> Option<Value> {
    let mut left = MAX_SIZE;
    holds_graph(value, LEAST_VALUES, DEPTH).then(|| resolve_within(value, DEPTH, &mut left))?
}

/// Whether JSON holds a list of values that refer to one another by their numbers, of types that may be unknown: its objects and
/// lists hold nothing but numbers, and what the numbers mean stands beside them.
pub fn holds_references(value: &Value) -> bool {
    fn go(value: &Value, depth: usize) -> bool {
        let below = |it: &Value| depth > 0 && go(it, depth - 1);
        match value {
            Value::Array(all) => looks_like_graph(all) || all.iter().any(below),
            Value::Object(all) => all.values().any(below),
            _ => false,
        }
    }
    go(value, DEPTH)
}

/// The value as such a list.
pub fn to_reference_list(value: &Value) -> Value {
    fn add(value: &Value, out: &mut Vec<Value>) -> usize {
        let at = out.len();
        out.push(Value::Null);
        out[at] = match value {
            Value::Array(all) => all.iter().map(|it| add(it, out)).collect(),
            Value::Object(all) => all
                .iter()
                .map(|(key, it)| (key.clone(), add(it, out).into()))
                .collect::<Map<_, _>>()
                .into(),
            other => other.clone(),
        };
        at
    }
    let mut out = Vec::new();
    add(value, &mut out);
    out.into()
}

fn looks_like_graph(all: &[Value]) -> bool {
    let refers = |it: &Value| match it {
        Value::Array(all) => {
            !all.is_empty() && (all.iter().all(is_whole) || type_of(all).is_some())
        }
        Value::Object(all) => !all.is_empty() && all.values().all(is_whole),
        _ => false,
    };
    let is_leaf = |it: &&Value| !it.is_array() && !it.is_object();
    let (leaves, others): (Vec<&Value>, Vec<&Value>) = all.iter().partition(is_leaf);
    let referring = others.iter().filter(|it| refers(it)).count();
    all.len() > FEW_VALUES
        && all.first().is_some_and(refers)
        && leaves.iter().any(|it| it.is_string())
        // An empty list is one all the same.
        && referring * 10 >= others.len() * 9
}

fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

/// The name of a type and what stands behind it, which is no list or object.
fn type_of(all: &[Value]) -> Option<(&str, &[Value])> {
    let (first, rest) = all.split_first()?;
    let name = first.as_str().filter(|it| {
        !it.is_empty() && it.len() <= MAX_TYPE && it.bytes().all(|b| b.is_ascii_alphanumeric())
    })?;
    (!rest.iter().any(|it| it.is_array() || it.is_object())).then_some((name, rest))
}

fn holds_graph(value: &Value, least: usize, depth: usize) -> bool {
    let below = |it: &Value| depth > 0 && holds_graph(it, least, depth - 1);
    match value {
        Value::Array(all) => is_graph(all, least) || all.iter().any(below),
        Value::Object(all) => all.values().any(below),
        _ => false,
    }
}

/// Every object and list in it holds places of it, and every place but the first is used.
fn is_graph(all: &[Value], least: usize) -> bool {
    let is_root = all.first().is_some_and(|it| match it {
        Value::Array(all) => !all.is_empty(),
        Value::Object(all) => !all.is_empty(),
        _ => false,
    });
    if !is_root || all.len() < least || !all.iter().any(Value::is_string) {
        return false;
    }
    let writer = GraphFormat::detect(all);
    let mut used = vec![false; all.len()];
    used[0] = true;
    for it in all {
        let Some(places) = writer.places(it) else { return false };
        for at in places {
            match at {
                Reference::At(at) if at < all.len() => used[at] = true,
                Reference::At(_) => return false,
                Reference::Constant => {}
            }
        }
    }
    used.into_iter().all(|it| it)
}

/// What a number stands for.
enum Reference {
    At(usize),
    /// What has no place of its own: `undefined`, `NaN`.
    Constant,
}

fn parse_reference(value: &Value) -> Option<Reference> {
    match value.as_i64()? {
        at @ 0.. => usize::try_from(at).ok().map(Reference::At),
        -9..0 => Some(Reference::Constant),
        _ => None,
    }
}

/// Who wrote the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GraphFormat {
    /// `{"name": 1}`
    Devalue,
    /// `{"_1": 2}`: names have places, too.
    TurboStream,
}

impl GraphFormat {
    fn detect(all: &[Value]) -> Self {
        let mut keys = all.iter().filter_map(Value::as_object).flat_map(Map::keys).peekable();
        let is_place = |it: &String| Self::key(it).is_some();
        if keys.peek().is_some() && keys.all(is_place) { Self::TurboStream } else { Self::Devalue }
    }

    fn key(text: &str) -> Option<usize> {
        text.strip_prefix('_').filter(|it| it.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
    }

    /// The places that a value uses; `None` where it is not of this form.
    fn places(self, value: &Value) -> Option<Vec<Reference>> {
        match value {
            Value::Array(all) if all.first().is_some_and(Value::is_string) => match type_of(all)? {
                (
                    "Date" | "D" | "BigInt" | "B" | "URL" | "U" | "EmptyRef" | "EmptyShallowRef",
                    _,
                ) => Some(Vec::new()),
                (_, rest) => rest.iter().filter(|it| is_whole(it)).map(parse_reference).collect(),
            },
            Value::Array(all) => all.iter().map(parse_reference).collect(),
            Value::Object(all) => {
                let keys = all.keys().filter(|_| self == Self::TurboStream);
                keys.map(|it| Self::key(it).map(Reference::At))
                    .chain(all.values().map(parse_reference))
                    .collect()
            }
            _ => Some(Vec::new()),
        }
    }
}

fn resolve_within(value: &Value, depth: usize, left: &mut usize) -> Option<Value> {
    Some(match value {
        Value::Array(all) if is_graph(all, LEAST_VALUES) => {
            Graph { all, writer: GraphFormat::detect(all), left }.resolve_at(0, 0)?
        }
        // One that cannot be read makes the answer one that cannot.
        Value::Array(all) if looks_like_graph(all) => return None,
        Value::Array(all) if depth > 0 => {
            all.iter().map(|it| resolve_within(it, depth - 1, left)).collect::<Option<_>>()?
        }
        Value::Object(all) if depth > 0 => all
            .iter()
            .map(|(key, it)| Some((key.clone(), resolve_within(it, depth - 1, left)?)))
            .collect::<Option<Map<_, _>>>()?
            .into(),
        other => other.clone(),
    })
}

struct Graph<'a> {
    all: &'a [Value],
    writer: GraphFormat,
    left: &'a mut usize,
}

impl Graph<'_> {
    fn value(&mut self, number: &Value, depth: usize) -> Option<Value> {
        match parse_reference(number)? {
            Reference::At(at) => self.resolve_at(at, depth + 1),
            // Zero below zero is a number; the others have no value in JSON.
            Reference::Constant => {
                let is_zero = match self.writer {
                    GraphFormat::Devalue => -6,
                    GraphFormat::TurboStream => -4,
                } == number.as_i64()?;
                Some(if is_zero { 0.into() } else { Value::Null })
            }
        }
    }

    fn resolve_at(&mut self, at: usize, depth: usize) -> Option<Value> {
        let value = self.all.get(at)?;
        let size = VALUE + value.as_str().map_or(0, str::len);
        *self.left = self.left.checked_sub(size)?;
        if depth > MAX_DEPTH {
            return None;
        }
        match value {
            Value::Array(all) => match all.first() {
                Some(Value::String(_)) => {
                    let (name, rest) = type_of(all)?;
                    self.resolve_typed(name, rest, depth)
                }
                _ => all.iter().map(|it| self.value(it, depth)).collect(),
            },
            Value::Object(all) => {
                let mut out = Map::new();
                for (key, it) in all {
                    let key = match self.writer {
                        GraphFormat::Devalue => key.clone(),
                        GraphFormat::TurboStream => {
                            self.all.get(GraphFormat::key(key)?)?.as_str()?.to_owned()
                        }
                    };
                    *self.left = self.left.checked_sub(key.len())?;
                    out.insert(key, self.value(it, depth)?);
                }
                Some(out.into())
            }
            other => Some(other.clone()),
        }
    }

    /// A value that JSON has no form for, in the form that JSON answers give it.
    fn resolve_typed(&mut self, name: &str, rest: &[Value], depth: usize) -> Option<Value> {
        match (name, rest) {
            ("Date" | "BigInt" | "B" | "URL" | "U", [Value::String(_)]) => Some(rest[0].clone()),
            ("D", [Value::Number(it)]) => {
                Some(Timestamp::from_millisecond(it.as_i64()?).ok()?.to_string().into())
            }
            // A date that is none.
            ("Date" | "D", [Value::Null]) => Some(Value::Null),
            ("Set" | "S", _) if rest.iter().all(is_whole) => {
                rest.iter().map(|it| self.value(it, depth)).collect()
            }
            ("Map" | "M" | "N", _) => self.pairs(rest, depth),
            // An object without a prototype.
            ("null", _) => {
                let mut out = Map::new();
                for pair in rest.chunks(2) {
                    let [Value::String(key), it] = pair else { return None };
                    out.insert(key.clone(), self.value(it, depth)?);
                }
                Some(out.into())
            }
            // Vue's wrappers around what is watched.
            ("Reactive" | "ShallowReactive" | "Ref" | "ShallowRef", [it]) if is_whole(it) => {
                self.value(it, depth)
            }
            ("EmptyRef" | "EmptyShallowRef", [Value::String(it)]) => match it.as_str() {
                "_" => Some(Value::Null),
                it => serde_json::from_str(it).ok(),
            },
            _ => None,
        }
    }

    /// Keys and values in turn, all keys texts.
    fn pairs(&mut self, rest: &[Value], depth: usize) -> Option<Value> {
        let mut out = Map::new();
        for pair in rest.chunks(2) {
            let [key, it] = pair else { return None };
            let Value::String(key) = self.value(key, depth)? else { return None };
            out.insert(key, self.value(it, depth)?);
        }
        Some(out.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_frameworks_send() {
        let turbo = json!([{"_1": 2}, "routes/prices", {"_3": 4}, "data", {"_5": 6}, "berths", [7, 12], {"_8": 9, "_10": 11},
            "name", "Malmo D17", "surveyed", ["D", 1_658_793_600_000_i64], {"_8": 13, "_10": -5}, "Varna B2"]);
        assert_eq!(
            resolve_detected(&turbo).unwrap(),
            json!({"routes/prices": {"data": {"berths": [{"name": "Malmo D17", "surveyed": "2022-07-26T00:00:00Z"},
                {"name": "Varna B2", "surveyed": null}]}}})
        );
        let kit = json!({"type": "data", "nodes": [null, {"type": "data", "uses": {"search_params": ["q", "page"]},
            "data": [{"query": 1, "total": 2, "trails": 3, "tags": 8, "of": 9}, "Heron", 1, [4], {"name": 5, "opened": 6, "km": 7},
                "Heron Loop 8", ["Date", "2005-12-25T00:00:00.000Z"], 31.4, ["Set", 1, 5], ["Map", 1, 2]]},
            {"type": "data", "data": [{"region": 1}, "Łęg"], "uses": {}}]});
        let data = |node: usize, it: &Value| it["nodes"][node]["data"].clone();
        let got = resolve_detected(&kit).unwrap();
        assert_eq!(
            data(1, &got),
            json!({"query": "Heron", "total": 1, "tags": ["Heron", "Heron Loop 8"], "of": {"Heron": 1},
                "trails": [{"name": "Heron Loop 8", "opened": "2005-12-25T00:00:00.000Z", "km": 31.4}]})
        );
        assert_eq!(
            (data(2, &got), &got["nodes"][1]["uses"]),
            (json!({"region": "Łęg"}), &kit["nodes"][1]["uses"])
        );
        let nuxt = json!([{"data": 1, "prerenderedAt": 8, "state": 9}, ["ShallowReactive", 2], {"$f": 3}, [4, 7], {"topic": 5, "title": 6},
            "smoking", "A guide", {"topic": 6, "title": 5}, 17, ["EmptyRef", "_"]]);
        assert_eq!(
            resolve_detected(&nuxt).unwrap(),
            json!({"data": {"$f": [{"topic": "smoking", "title": "A guide"}, {"topic": "A guide", "title": "smoking"}]},
                "prerenderedAt": 17, "state": null})
        );
    }

    #[test]
    fn all_of_it_is_read_or_none() {
        let with = |last: Value| json!([{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, "one", 2, "three", true, last]);
        assert!(resolve_detected(&with(json!(["Date", "2024-05-01T00:00:00.000Z"]))).is_some());
        for (last, seems) in [
            (json!(["Temperature", 1]), false),
            (json!(["P", 3]), false),
            (json!([7]), false),
            (json!({"text": "one"}), false),
        ] {
            let it = with(last);
            assert_eq!((resolve_detected(&it), holds_references(&it)), (None, seems), "{it}");
        }
        // Long enough to be seen, and not read: a promise.
        let mut all = with(json!(["P", 3])).as_array().unwrap().clone();
        all.push(json!("more"));
        assert!(resolve_detected(&json!(all)).is_none() && holds_references(&json!(all)));
        // Places that nothing uses, and a list that is none.
        for it in [
            json!([{"a": 1}, "one", "two", "three", "four", "five", "six"]),
            json!([{"id": 1, "n": "x"}, {"id": 2, "n": "y"}, "a", "b", "c", "d"]),
            json!([[1, 2], [2, 1], [1, 1], [0, 2], [2, 2], [0, 0], [1, 0]]),
            json!({"rows": [["name", "n"], ["one", 1], ["two", 2]], "n": 2}),
            json!([]),
        ] {
            assert_eq!(
                (resolve_detected(&it), holds_references(&it)),
                (None, it[1] == "one"),
                "{it}"
            );
        }
    }

    #[test]
    fn circles_and_repetition_end() {
        assert!(resolve_detected(&json!([{"a": 1, "b": 0}, "x"])).is_none());
        let circle = json!([{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, "x", {"up": 0}, 1, 2, 3]);
        assert!(resolve_detected(&circle).is_none());
        let mut bomb: Vec<Value> = (0..60).map(|at| json!([at + 1, at + 1])).collect();
        bomb.push(json!("x"));
        assert!(resolve_detected(&json!(bomb)).is_none());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,6}", inner, 0..5)
                    .prop_map(|it| Value::Object(it.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value in any_json()) {
            let value = json!({"value": value, "text": "x"});
            prop_assert_eq!(resolve(&to_reference_list(&value)), Some(value));
        }

        #[test]
        fn any_json_is_read_or_refused(value in any_json(), more in any_json()) {
            let _ = (resolve_detected(&value), resolve(&json!([value, more])));
        }
    }
}
