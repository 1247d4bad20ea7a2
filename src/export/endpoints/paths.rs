//! Path templates of one origin: segments that vary become parameters.
//!
//! What is no word by itself (ids, dates) is a parameter wherever it stands. Words that stand at one place are one only if what
//! is asked below each of them answers alike, so that `/users/me` stays beside `/users/{user_id}`.

use std::{cell::Cell, collections::BTreeMap};

use super::segments::{self, Class};
use commis_recipe::shape::similarity_bp;

/// How alike answers are, in basis points, where the words look made up, and where they may be names of the interface.
const ALIKE_MADE_UP: u32 = 6_500;
const ALIKE_WORDS: u32 = 9_000;
/// Below this two answers are of different things.
const UNLIKE: u32 = 4_000;
/// Fewer typed paths than this say little: `{"ok": true}`.
const RICH: usize = 6;
/// Words at one place that are looked at.
const MAX_GROUPS: usize = 32;
/// Pairs of places that are compared at most; after them words stay words.
const MAX_COMPARED: u32 = 20_000;

/// A request by its path, and what came.
pub struct PathRequest<'a> {
    /// As written, between slashes.
    pub segments: Vec<&'a str>,
    /// Method and operation: what cannot be compared with one another.
    pub how: String,
    /// Typed paths of a good answer.
    pub shape: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Literal(String),
    /// A parameter, and what stands before and behind it in the segment.
    Parameter {
        class: Class,
        start: String,
        ending: String,
    },
}

/// The template of each request, in their order.
pub fn templates(all: &[PathRequest<'_>]) -> Vec<Vec<Piece>> {
    let mut root = Node::default();
    for (i, it) in all.iter().enumerate() {
        root.add(&it.segments, i, it);
    }
    let mut out = vec![Vec::new(); all.len()];
    root.write_templates(None, &Cell::new(MAX_COMPARED), &mut Vec::new(), &mut out);
    out
}

/// What stands before and behind a value in its segment.
type Affixes = (String, String);

#[derive(Default)]
struct Node {
    below: BTreeMap<String, Node>,
    /// By method: typed paths of the answers, united.
    answers: BTreeMap<String, Vec<String>>,
    ends: Vec<usize>,
}

impl Node {
    fn add(&mut self, segments: &[&str], at: usize, asked: &PathRequest<'_>) {
        let Some((first, rest)) = segments.split_first() else {
            self.ends.push(at);
            if let Some(shape) = &asked.shape {
                unite(self.answers.entry(asked.how.clone()).or_default(), shape);
            }
            return;
        };
        self.below.entry((*first).to_owned()).or_default().add(rest, at, asked);
    }

    /// Both as one place.
    fn merge(&mut self, other: Self) {
        self.ends.extend(other.ends);
        for (how, shape) in other.answers {
            unite(self.answers.entry(how).or_default(), &shape);
        }
        for (segment, node) in other.below {
            self.below.entry(segment).or_default().merge(node);
        }
    }

    /// `before` is the word that it stands behind, if it is one.
    fn write_templates(
        mut self,
        before: Option<&str>,
        left: &Cell<u32>,
        path: &mut Vec<Piece>,
        out: &mut [Vec<Piece>],
    ) {
        for at in std::mem::take(&mut self.ends) {
            out[at].clone_from(path);
        }
        let is_first = path.is_empty();
        for (piece, node) in self.group_children(before, is_first, left) {
            let own = match &piece {
                Piece::Literal(it) => Some(it.clone()),
                Piece::Parameter { .. } => None,
            };
            path.push(piece);
            node.write_templates(own.as_deref(), left, path, out);
            path.pop();
        }
    }

    /// What stands below, one item for all that is one place.
    fn group_children(
        self,
        before: Option<&str>,
        is_first: bool,
        left: &Cell<u32>,
    ) -> Vec<(Piece, Self)> {
        let mut out = Vec::new();
        // By what stands around the value.
        let mut values: BTreeMap<Affixes, Vec<(String, Class, Self)>> = BTreeMap::new();
        let mut words: BTreeMap<String, Vec<(String, Self)>> = BTreeMap::new();
        let versions = (is_first || before.is_some()) && self.is_version(before);
        for (segment, node) in self.below {
            if let Some((start, key, ending)) = segments::split_key(&segment) {
                let class = segments::classify(key);
                let around = (start.to_owned(), ending.to_owned());
                values.entry(around).or_default().push((segment, class, node));
                continue;
            }
            let (stem, ending) = segments::split_ending(&segment);
            match segments::classify(stem) {
                Class::Number if versions => out.push((Piece::Literal(segment), node)),
                Class::Word
                    if !segments::is_interface_word(stem)
                        && !segments::is_procedure(before, stem) =>
                {
                    words.entry(ending.to_owned()).or_default().push((segment, node));
                }
                Class::Word => out.push((Piece::Literal(segment), node)),
                class => {
                    let around = (String::new(), ending.to_owned());
                    values.entry(around).or_default().push((segment, class, node));
                }
            }
        }
        for (ending, mut all) in words {
            let (made_up, plain) = {
                let best = Self::best_group(&all, left);
                let (mut inside, mut rest) = (Vec::new(), Vec::new());
                for (i, it) in std::mem::take(&mut all).into_iter().enumerate() {
                    if best.contains(&i) { inside.push(it) } else { rest.push(it) }
                }
                (inside, rest)
            };
            out.extend(plain.into_iter().map(|(segment, node)| (Piece::Literal(segment), node)));
            if made_up.is_empty() {
                continue;
            }
            // One place has one parameter: beside ids that answer otherwise, words stay words.
            let ids = values.entry((String::new(), ending)).or_default();
            let fit =
                ids.iter().take(8).all(|it| are_alike(&it.2, &made_up[0].1, left) != Some(false));
            for (segment, node) in made_up {
                if fit {
                    ids.push((segment, Class::Word, node));
                } else {
                    out.push((Piece::Literal(segment), node));
                }
            }
        }
        for ((start, ending), all) in values {
            let classes: Vec<Class> = all.iter().map(|it| it.1).collect();
            let Some(first) = classes.first().copied() else { continue };
            let class =
                if classes.iter().all(|it| *it == first) { first } else { common(&classes) };
            let mut one = Self::default();
            for it in all {
                one.merge(it.2);
            }
            out.push((Piece::Parameter { class, start, ending }, one));
        }
        out
    }

    /// `/api/2/…`, `/1/indexes/…`: one small number that something always follows, and no noun for many things before it.
    fn is_version(&self, before: Option<&str>) -> bool {
        let mut numbers = self.below.iter().filter(|it| segments::classify(it.0) == Class::Number);
        let (Some((number, node)), None) = (numbers.next(), numbers.next()) else { return false };
        number.len() <= 2 && node.ends.is_empty() && !before.is_some_and(segments::is_plural)
    }

    /// The words that are values: the largest group of which all answer alike.
    fn best_group(all: &[(String, Self)], left: &Cell<u32>) -> Vec<usize> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (i, (word, node)) in all.iter().enumerate() {
            let fits = |group: &Vec<usize>| {
                let (other, own) = &all[group[0]];
                let made_up = segments::is_made_up(word) && segments::is_made_up(other);
                let least = if made_up { ALIKE_MADE_UP } else { ALIKE_WORDS };
                compare(node, own, 0, left).is_some_and(|it| it.is_enough(least, made_up))
            };
            match groups.iter().position(fits) {
                Some(at) => groups[at].push(i),
                None if groups.len() < MAX_GROUPS => groups.push(vec![i]),
                None => {}
            }
        }
        groups.into_iter().filter(|it| it.len() > 1).max_by_key(Vec::len).unwrap_or_default()
    }
}

/// What was found where two places were held against each other.
#[derive(Clone, Copy)]
struct PlaceComparison {
    least: u32,
    /// Typed paths of the richest pair.
    rich: usize,
}

impl PlaceComparison {
    fn combine(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), rich: self.rich.max(other.rich) }
    }

    fn is_enough(self, least: u32, made_up: bool) -> bool {
        self.least >= least && (made_up || self.rich >= RICH)
    }
}

/// `None` where nothing below the two can be compared.
fn compare(a: &Node, b: &Node, depth: usize, left: &Cell<u32>) -> Option<PlaceComparison> {
    left.set(left.get().checked_sub(1)?);
    let join = |a: Option<PlaceComparison>, b: Option<PlaceComparison>| match (a, b) {
        (Some(a), Some(b)) => Some(a.combine(b)),
        (a, b) => a.or(b),
    };
    let mut out = None;
    for (how, shape) in &a.answers {
        if let Some(other) = b.answers.get(how) {
            let found = PlaceComparison {
                least: similarity_bp(shape, other),
                rich: shape.len().min(other.len()),
            };
            out = join(out, Some(found));
        }
    }
    if depth >= 4 {
        return out;
    }
    let mut others = Vec::new();
    for (segment, node) in &a.below {
        match b.below.get(segment) {
            Some(other) => out = join(out, compare(node, other, depth + 1, left)),
            None => others.push(node),
        }
    }
    let rest: Vec<&Node> =
        b.below.iter().filter(|it| !a.below.contains_key(it.0)).map(|it| it.1).collect();
    // `/repos/a/x/issues` and `/repos/b/y/issues`: what varies below varies, too.
    if out.is_none() && others.len() <= 4 && rest.len() <= 4 {
        let pairs = others.iter().flat_map(|a| rest.iter().map(move |b| (a, b)));
        out = pairs.filter_map(|(a, b)| compare(a, b, depth + 1, left)).max_by_key(|it| it.least);
    }
    out
}

/// `None`: it cannot be told.
fn are_alike(a: &Node, b: &Node, left: &Cell<u32>) -> Option<bool> {
    compare(a, b, 0, left).map(|it| it.least >= UNLIKE)
}

fn common(classes: &[Class]) -> Class {
    let named = classes.iter().all(|it| matches!(it, Class::Word | Class::Text));
    if named { Class::Word } else { Class::Random }
}

/// Both sets of sorted paths as one.
fn unite(own: &mut Vec<String>, more: &[String]) {
    if own.as_slice() == more {
        return;
    }
    own.extend(more.iter().cloned());
    own.sort_unstable();
    own.dedup();
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use commis_recipe::shape;

    fn told(all: &[(&str, Value)]) -> Vec<String> {
        let asked: Vec<PathRequest<'_>> = all
            .iter()
            .map(|(path, answer)| PathRequest {
                segments: path.trim_start_matches('/').split('/').collect(),
                how: "GET".to_owned(),
                shape: (!answer.is_null()).then(|| shape::paths(answer)),
            })
            .collect();
        let mut out: Vec<String> = templates(&asked)
            .into_iter()
            .map(|it| {
                let pieces = it.into_iter().map(|it| match it {
                    Piece::Literal(it) => format!("/{it}"),
                    Piece::Parameter { start, ending, .. } => format!("/{start}{{}}{ending}"),
                });
                pieces.collect()
            })
            .collect();
        out.sort();
        out.dedup();
        out
    }

    fn user(name: &str) -> Value {
        json!({"login": name, "id": 1, "name": name, "bio": null, "followers": 3, "url": "u", "plan": {"name": "x"}})
    }

    #[test]
    fn ids_are_parameters_and_words_are_not() {
        let check = |all: &[(&str, Value)], expected: &[&str]| assert_eq!(told(all), expected);
        let none = || Value::Null;
        check(&[("/users/12", none())], &["/users/{}"]);
        check(&[("/users/12", none()), ("/users/13", none())], &["/users/{}"]);
        check(
            &[("/users/12", user("a")), ("/users/me", json!({"session": {"token": 1}}))],
            &["/users/me", "/users/{}"],
        );
        // A word of the interface, however alike.
        check(&[("/users/12", user("a")), ("/users/me", user("b"))], &["/users/me", "/users/{}"]);
        check(&[("/items/1.json", none()), ("/items/2.json", none())], &["/items/{}.json"]);
        check(&[("/a/550e8400-e29b-41d4-a716-446655440000/b/2024-05-01", none())], &["/a/{}/b/{}"]);
        check(
            &[("/api/2/search", none()), ("/api/2/users/3", none())],
            &["/api/2/search", "/api/2/users/{}"],
        );
        check(&[("/1/indexes/pages/query", none())], &["/1/indexes/pages/query"]);
        check(&[("/users/1/posts", none())], &["/users/{}/posts"]);
        check(&[("/v1/search", none()), ("/v2/search", none())], &["/v1/search", "/v2/search"]);
        check(&[("/2019/05/29/a", none())], &["/{}/{}/{}/a"]);
    }

    #[test]
    fn words_that_answer_alike_are_one() {
        let check = |all: &[(&str, Value)], expected: &[&str]| assert_eq!(told(all), expected);
        check(&[("/users/torvalds", user("a")), ("/users/gvr", user("b"))], &["/users/{}"]);
        check(
            &[
                ("/posts/my-first-post", json!({"t": 1, "b": 2})),
                ("/posts/on-the-road", json!({"t": 1, "b": 2})),
            ],
            &["/posts/{}"],
        );
        // Little is said by little.
        check(
            &[("/flags/dark", json!({"ok": true})), ("/flags/light", json!({"ok": true}))],
            &["/flags/dark", "/flags/light"],
        );
        check(
            &[
                ("/api/users", json!([user("a")])),
                (
                    "/api/posts",
                    json!([{"title": "a", "body": "b", "tags": ["c"], "by": {"id": 1}}]),
                ),
            ],
            &["/api/posts", "/api/users"],
        );
        check(
            &[
                ("/repos/torvalds/linux/issues", json!([user("a")])),
                ("/repos/rust-lang/rust/issues", json!([user("b")])),
                ("/repos/rust-lang/rust/pulls", json!([{"diff": "x", "base": {"sha": 1}}])),
            ],
            &["/repos/{}/{}/issues", "/repos/{}/{}/pulls"],
        );
        // What cannot be compared stays.
        check(&[("/users/a", Value::Null), ("/users/b", Value::Null)], &["/users/a", "/users/b"]);
        // Words beside ids of the same answers join them; of others, they do not.
        check(
            &[("/users/12", user("a")), ("/users/gvr", user("b")), ("/users/torvalds", user("c"))],
            &["/users/{}"],
        );
        let other = || json!({"x": {"y": [1], "z": [2]}, "w": {"v": 1, "u": 2, "t": 3}});
        check(
            &[
                ("/users/12", user("a")),
                ("/users/active-by-day", other()),
                ("/users/active-by-week", other()),
            ],
            &["/users/active-by-day", "/users/active-by-week", "/users/{}"],
        );
    }

    #[test]
    fn keys_in_brackets_and_procedures() {
        let check = |all: &[(&str, Value)], expected: &[&str]| assert_eq!(told(all), expected);
        let none = || Value::Null;
        check(
            &[("/odata/Customers(4)", user("a")), ("/odata/Products(3)", user("b"))],
            &["/odata/Customers({})", "/odata/Products({})"],
        );
        check(
            &[("/odata/Orders(12)/Lines", none()), ("/odata/Orders(13)/Lines", none())],
            &["/odata/Orders({})/Lines"],
        );
        check(
            &[("/api/method/a.get_count", user("a")), ("/api/method/b.c.get_list", user("b"))],
            &["/api/method/a.get_count", "/api/method/b.c.get_list"],
        );
        check(
            &[("/trpc/user.me,cart.count", user("a")), ("/trpc/cart.count,find.all", user("b"))],
            &["/trpc/cart.count,find.all", "/trpc/user.me,cart.count"],
        );
    }

    #[test]
    fn many_words_take_no_time() {
        let all: Vec<(String, Value)> = (0..3000)
            .map(|i| (format!("/x/w{}", "ab".repeat(i % 40 + 1)), json!({"a": i})))
            .collect();
        let all: Vec<(&str, Value)> = all.iter().map(|it| (it.0.as_str(), it.1.clone())).collect();
        assert!(!told(&all).is_empty());
    }
}
