//! What the examples of a proof were answered, kept small: how many items, and digests of values that were the same each time.
//!
//! A shape says that an answer is built as it was. Whether it still means the same, holds as much and follows its input is said by
//! its values. Only digests are kept: no value of an answer gets into a recipe.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::model::ExampleAnswer;

/// Keys whose values are kept, and values of each.
const MAX_KEYS: usize = 24;
const MAX_VALUES: usize = 8;
/// Values of one key that tell its meaning.
const TELLING: usize = 3;
/// Of the items, per cent that have to be there still.
const ITEMS: u64 = 70;
/// Per cent of all values that say that an answer is the same data.
const SAME: usize = 50;
/// Per cent of an example's values that an answer to another input does not hold by chance.
const HELD: usize = 90;
/// Fewer values say nothing about another input.
const MANY: usize = 6;

impl ExampleAnswer {
    /// Of the answers to the same values, one after the other: what all of them hold.
    pub fn from_answers(values: &BTreeMap<String, String>, answers: &[&Value]) -> Self {
        let all: Vec<BTreeMap<String, BTreeSet<u32>>> =
            answers.iter().map(|it| digests(it)).collect();
        let mut kept = BTreeMap::new();
        for (key, own) in all.first().into_iter().flatten() {
            if kept.len() >= MAX_KEYS {
                break;
            }
            let in_all =
                |it: &&u32| all.iter().all(|all| all.get(key).is_some_and(|all| all.contains(*it)));
            let stable: Vec<String> =
                own.iter().filter(in_all).map(|it| format!("{it:08x}")).collect();
            // A key of which something moves tells nothing.
            if stable.len() == own.len() && !stable.is_empty() {
                kept.insert(key.clone(), stable[..stable.len().min(MAX_VALUES)].join(" "));
            }
        }
        Self {
            values: values.clone(),
            items: answers.first().and_then(|it| it.as_array()).map(|it| it.len() as u64),
            digests: kept,
        }
    }

    /// The same without the keys that another example's answers showed to move.
    #[must_use]
    pub fn retain_keys_except(mut self, keys: &BTreeSet<String>) -> Self {
        self.digests.retain(|key, _| keys.contains(key));
        self
    }

    /// What was kept before and is still so: what changed from one proof to the next is not stable.
    #[must_use]
    pub fn intersect(mut self, before: &Self) -> Self {
        self.digests.retain(|key, now| before.digests.get(key).is_some_and(|it| it == now));
        self
    }

    /// What of an answer to the same values is not as it was, each in a sentence.
    pub fn differences(&self, data: &Value) -> Vec<String> {
        let mut out = Vec::new();
        let items = data.as_array().map(|it| it.len() as u64);
        if let (Some(was), Some(is)) = (self.items, items)
            && is.saturating_mul(100) < was.saturating_mul(ITEMS)
        {
            out.push(format!("{is} items where there were {was}"));
        } else if let (Some(was), Some(is)) = (self.items, items)
            && is > was.saturating_mul(2).max(was.saturating_add(5))
        {
            out.push(format!(
                "{is} items where there were {was}: it may no longer follow its input"
            ));
        }
        let found = digests(data);
        let (mut all, mut kept, mut lost) = (0, 0, Vec::new());
        for (key, values) in self.parse_digests() {
            let own = found.get(key);
            let there = values.iter().filter(|it| own.is_some_and(|own| own.contains(it))).count();
            all += values.len();
            kept += there;
            if there == 0 && values.len() >= TELLING {
                lost.push(key);
            }
        }
        if kept * 100 < all * SAME {
            out.push(format!("{kept} of {all} values are as they were"));
        } else if !lost.is_empty() {
            lost.truncate(3);
            out.push(format!("no value of `{}` is as it was", lost.join("`, `")));
        }
        out
    }

    /// What another answer to the same values has otherwise, whatever its keys are called; `None` where it is about the same.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if let (Some(was), Some(is)) = (self.items, other.items)
            && is.saturating_mul(100) < was.saturating_mul(ITEMS)
        {
            return Some(format!("{is} items where there were {was}"));
        }
        // Both keep the smallest digests of each key, so that equal values are kept by both.
        let all = |it: &Self| -> BTreeSet<u32> { it.parse_digests().flat_map(|it| it.1).collect() };
        let (own, theirs) = (all(self), all(other));
        let is_lost = |values: &Vec<u32>| {
            values.len() >= TELLING && !values.iter().any(|it| theirs.contains(it))
        };
        if let Some((key, _)) = self.parse_digests().find(|it| is_lost(&it.1)) {
            return Some(format!("no value of `{key}` is as it was"));
        }
        let kept = own.intersection(&theirs).count();
        (kept * 100 < own.len() * SAME)
            .then(|| format!("{kept} of {} values are as they were", own.len()))
    }

    fn parse_digests(&self) -> impl Iterator<Item = (&str, Vec<u32>)> {
        self.digests.iter().map(|(key, values)| {
            let read = values.split(' ').filter_map(|it| u32::from_str_radix(it, 16).ok());
            (key.as_str(), read.collect())
        })
    }
}

/// Why an answer to `values` may be wrong by what the examples were answered, each in a sentence. Cheap: it looks at the keys that
/// were kept.
pub fn warnings(
    examples: &[ExampleAnswer],
    values: &BTreeMap<String, String>,
    data: &Value,
) -> Vec<String> {
    let known =
        |it: &&ExampleAnswer| it.values.iter().all(|(name, value)| values.get(name) == Some(value));
    if let Some(own) = examples.iter().filter(|it| !it.values.is_empty()).find(known) {
        return own.differences(data);
    }
    let others: Vec<&ExampleAnswer> = examples.iter().filter(|it| !it.values.is_empty()).collect();
    if others.is_empty() || !others.iter().any(|it| it.digests.len() > 1) {
        return Vec::new();
    }
    let items = data.as_array().map(|it| it.len() as u64);
    let held = find_contained(&others, data);
    if others.len() > 1 && held.len() == others.len() {
        return vec![
            "it holds what both examples were answered: it may no longer follow its input"
                .to_owned(),
        ];
    }
    match held.first().filter(|it| it.items.is_some() && it.items == items) {
        Some(it) => {
            let values =
                it.values.values().map(|it| format!("{it:?}")).collect::<Vec<_>>().join(", ");
            vec![format!("it is the answer to the example {values}: the site may ignore the input")]
        }
        None => Vec::new(),
    }
}

/// Why an answer may be what the site gives if it finds nothing: it holds the items of the answer to a word that nobody uses.
pub fn substitute_warning(substitute: &ExampleAnswer, data: &Value) -> Option<String> {
    let items = data.as_array().map(|it| it.len() as u64);
    let is_held = !find_contained(&[substitute], data).is_empty();
    (is_held && substitute.items.is_some() && substitute.items == items).then(|| {
        "it is the answer to a word that nobody uses: the site may have found nothing and substituted these items"
            .to_owned()
    })
}

/// The examples of whose values nearly all stand in an answer to other values.
fn find_contained<'e>(examples: &[&'e ExampleAnswer], data: &Value) -> Vec<&'e ExampleAnswer> {
    /// Where digests are looked for: by key, each with the example and its place there.
    type DigestPositions<'e> = BTreeMap<&'e str, Vec<(u32, usize, usize)>>;
    fn go(value: &Value, key: &str, places: &DigestPositions<'_>, found: &mut [Vec<bool>]) {
        match value {
            Value::Array(all) => all.iter().for_each(|it| go(it, key, places, found)),
            Value::Object(all) => all.iter().for_each(|(key, it)| go(it, key, places, found)),
            other => {
                let Some(wanted) = places.get(key) else { return };
                let Some(digest) = digest(other) else { return };
                for (_, example, at) in wanted.iter().filter(|it| it.0 == digest) {
                    found[*example][*at] = true;
                }
            }
        }
    }
    let mut places = DigestPositions::new();
    let mut found: Vec<Vec<bool>> = Vec::new();
    for (example, it) in examples.iter().enumerate() {
        let mut count = 0;
        for (key, values) in it.parse_digests() {
            let all = places.entry(key).or_default();
            all.extend(values.into_iter().zip(count..).map(|(it, at)| (it, example, at)));
            count =
                all.iter().filter(|it| it.1 == example).map(|it| it.2 + 1).max().unwrap_or(count);
        }
        found.push(vec![false; count]);
    }
    go(data, "", &places, &mut found);
    let is_held = |it: &&(&&'e ExampleAnswer, Vec<bool>)| {
        let held = it.1.iter().filter(|it| **it).count();
        it.1.len() >= MANY && held * 100 >= it.1.len() * HELD
    };
    let all: Vec<(&&'e ExampleAnswer, Vec<bool>)> = examples.iter().zip(found).collect();
    all.iter().filter(is_held).map(|it| *it.0).collect()
}

fn digest(value: &Value) -> Option<u32> {
    match value {
        Value::String(it) => Some(crc32fast::hash(it.as_bytes())),
        Value::Number(it) => Some(crc32fast::hash(it.to_string().as_bytes())),
        _ => None,
    }
}

/// Digests of the scalars of an answer by the key that they stand under.
fn digests(data: &Value) -> BTreeMap<String, BTreeSet<u32>> {
    fn go<'v>(value: &'v Value, key: &'v str, out: &mut BTreeMap<&'v str, BTreeSet<u32>>) {
        match value {
            Value::Array(all) => all.iter().for_each(|it| go(it, key, out)),
            Value::Object(all) => all.iter().for_each(|(key, it)| go(it, key, out)),
            other => out.entry(key).or_default().extend(digest(other)),
        }
    }
    let mut out = BTreeMap::new();
    go(data, "", &mut out);
    out.into_iter().map(|(key, it)| (key.to_owned(), it)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn goods(names: &[&str], cents: bool) -> Value {
        let item = |(at, name): (usize, &&str)| {
            let price = 10 + at;
            json!({"name": name, "price": if cents { price * 100 } else { price }, "unit": "kg"})
        };
        names.iter().enumerate().map(item).collect()
    }

    fn example(value: &str, names: &[&str]) -> ExampleAnswer {
        let values = BTreeMap::from([("q".to_owned(), value.to_owned())]);
        let data = goods(names, false);
        ExampleAnswer::from_answers(&values, &[&data, &data])
    }

    const LAMPS: &[&str] = &["Aurora", "Fjord", "Sol", "Quill"];
    const CHAIRS: &[&str] = &["Vega", "Pine", "Elm", "Oak"];

    #[test]
    fn answers_that_are_not_as_they_were() {
        let it = example("lamp", LAMPS);
        let said = |data: Value| it.differences(&data).join("; ");
        assert_eq!(said(goods(LAMPS, false)), "");
        // One came, one went.
        assert_eq!(said(goods(&["Aurora", "Fjord", "Sol", "Moon", "Dune"], false)), "");
        assert_eq!(said(goods(&LAMPS[..2], false)), "2 items where there were 4");
        assert_eq!(said(goods(LAMPS, true)), "no value of `price` is as it was");
        assert_eq!(said(goods(&["a", "b", "c", "d"], true)), "1 of 9 values are as they were");
        assert!(said(json!(vec![goods(LAMPS, false)[0].clone(); 12])).starts_with("12 items"));
    }

    #[test]
    fn another_answer_means_the_same_whatever_its_keys_are_called() {
        let of = |data: Value| ExampleAnswer::from_answers(&BTreeMap::new(), &[&data]);
        let it = of(goods(LAMPS, false));
        let renamed: Value = goods(LAMPS, false)
            .as_array()
            .unwrap()
            .iter()
            .map(|it| json!({"label": it["name"], "amount": it["price"], "per": it["unit"]}))
            .collect();
        assert_eq!(it.difference(&of(renamed)), None);
        let other = it.difference(&of(goods(LAMPS, true)));
        assert_eq!(other.as_deref(), Some("no value of `price` is as it was"));
        let less = it.difference(&of(goods(&LAMPS[..2], false)));
        assert_eq!(less.as_deref(), Some("2 items where there were 4"));
    }

    #[test]
    fn what_moves_is_not_kept() {
        let (a, b) = (
            json!([{"n": "x", "at": 1}, {"n": "y", "at": 2}]),
            json!([{"n": "x", "at": 3}, {"n": "y", "at": 4}]),
        );
        let it = ExampleAnswer::from_answers(&BTreeMap::new(), &[&a, &b]);
        assert_eq!(it.digests.keys().collect::<Vec<_>>(), ["n"]);
    }

    #[test]
    fn inputs_that_are_ignored() {
        let examples = [example("lamp", LAMPS), example("chair", CHAIRS)];
        let said = |value: &str, names: &[&str]| {
            let values = BTreeMap::from([("q".to_owned(), value.to_owned())]);
            warnings(&examples, &values, &goods(names, false)).join("; ")
        };
        assert_eq!(said("rug", &["Dune", "Moon"]), "");
        assert_eq!(said("lamp", LAMPS), "");
        assert!(said("rug", &[LAMPS, CHAIRS].concat()).contains("both examples"));
        assert!(said("rug", LAMPS).contains("\"lamp\""));
        assert!(said("lamp", CHAIRS).contains("`name`"));
    }

    #[test]
    fn items_that_a_site_substitutes() {
        let popular = example("qzvxkjw", LAMPS);
        let is_doubted =
            |names: &[&str]| substitute_warning(&popular, &goods(names, false)).is_some();
        assert!(is_doubted(LAMPS));
        assert!(!is_doubted(CHAIRS));
        assert!(!is_doubted(&[LAMPS, CHAIRS].concat()), "all of them, and more");
    }
}
