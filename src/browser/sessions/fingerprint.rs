//! An element as it is known from outside: role, label, what it stands in, and what lasts when labels change.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two texts of a page are the same one, a little changed.
const AGREES: f64 = 0.8;
/// Attributes that tell where an element stands and how it is built. None of them is a label.
const BUILT: &[(&str, f64)] = &[
    ("type", 0.9),
    ("autocomplete", 0.8),
    ("tag", 0.3),
    ("path", 0.5),
    ("form", 1.0),
    ("does", 1.0),
    ("value", 1.2),
];
/// Those that are one element's alone.
const MARKS: &[(&str, f64)] = &[("testid", 1.8), ("name", 1.8), ("id", 1.2), ("href", 0.95)];

/// An element as it is known from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fingerprint {
    pub role: String,
    pub name: String,
    /// Nothing else of its class had that name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// What it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// The form, dialog or group around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Names of the elements before and after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
    /// Of the names of everything else of its class on the page, each as a hash: what is called so was another element.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<u32>,
    /// Those that last: `type`, `id`, `name`, `href`, `placeholder`, `testid`, `autocomplete`, `class`, `does`, `value` of a box and
    /// `options` of a list. And how it stands: `tag`, `form`, `path`, `shape` (the controls around it, by kind), `beside` (their names
    /// and ids) and `among` (how many of its kind the part of the page has).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
}

/// Roles that stand for one another when a page is built anew.
pub fn class(role: &str) -> &str {
    match role {
        "button" | "link" | "menuitem" | "tab" | "DisclosureTriangle" | "treeitem" => "press",
        "textbox" | "searchbox" | "spinbutton" => "text",
        "checkbox" | "switch" | "menuitemcheckbox" => "tick",
        "radio" | "menuitemradio" => "choose",
        "combobox" | "listbox" => "list",
        other => other,
    }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Dice's coefficient over pairs of characters, 0 to 1.
fn alike(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    if a == b {
        return 1.0;
    }
    let pairs = |it: &str| {
        let all: Vec<char> = it.chars().collect();
        all.windows(2).map(|it| (it[0], it[1])).collect::<Vec<_>>()
    };
    let (a, mut b) = (pairs(&a), pairs(&b));
    let total = a.len() + b.len();
    let both = a
        .iter()
        .filter(|it| b.iter().position(|other| other == *it).map(|at| b.swap_remove(at)).is_some())
        .count();
    if total == 0 { 0.0 } else { 2.0 * both as f64 / total as f64 }
}

fn both(a: Option<&str>, b: Option<&str>) -> f64 {
    match (a, b) {
        (None, None) => 1.0,
        (Some(a), Some(b)) => alike(a, b),
        _ => 0.0,
    }
}

impl Fingerprint {
    pub fn is_of_class(&self, other: &Self) -> bool {
        class(&self.role) == class(&other.role)
    }

    /// How much `now` is like this, 0 to 1.
    pub fn score(&self, now: &Self) -> f64 {
        let mut parts = vec![
            (2.85, alike(&self.name, &now.name)),
            (0.8, f64::from(u8::from(self.role == now.role))),
            (1.0, both(self.form.as_deref(), now.form.as_deref())),
        ];
        // What an element with a name of its own stands in is no more than a neighbour.
        if !self.alone {
            parts.push((1.45, both(self.row.as_deref(), now.row.as_deref())));
        }
        if !self.near.is_empty() {
            let found = self.near.iter().filter(|it| now.near.contains(it)).count();
            parts.push((1.45, found as f64 / self.near.len() as f64));
        }
        for (name, was) in &self.attributes {
            let weight = match name.as_str() {
                "type" | "placeholder" => 0.9,
                "href" => 0.95,
                "id" => 0.5,
                "name" | "testid" => 1.8,
                _ => continue,
            };
            parts.push((weight, f64::from(u8::from(now.attributes.get(name) == Some(was)))));
        }
        let all: f64 = parts.iter().map(|it| it.0).sum();
        parts.iter().map(|it| it.0 * it.1).sum::<f64>() / all
    }

    /// How much of what is no label is the same, 0 to 1. Labels around it count where they are the same and not where they are
    /// others: those of a page change together.
    pub fn evidence(&self, now: &Self) -> f64 {
        let has = |name: &str| self.attributes.get(name).filter(|it| !it.is_empty());
        let is = |name: &str| now.attributes.get(name).map_or("", String::as_str);
        let mut parts = vec![(0.8, share(self.role == now.role))];
        for (name, weight) in BUILT.iter().chain(MARKS) {
            parts.extend(has(name).map(|was| (*weight, share(was == is(name)))));
        }
        parts.extend(has("class").map(|was| (0.6, overlap(was, is("class")))));
        parts.extend(has("beside").map(|was| (1.0, overlap(was, is("beside")))));
        parts.extend(has("shape").map(|was| (1.4, shapes(was, is("shape")))));
        let mut same = |weight: f64, is: bool, needed: bool| {
            if is || needed {
                parts.push((weight, share(is)));
            }
        };
        same(1.45, self.row.is_some() && self.is_in_row(now), !self.alone && self.row.is_some());
        same(1.45, self.is_near(now), false);
        same(1.0, self.form.is_some() && self.form == now.form, false);
        let all: f64 = parts.iter().map(|it| it.0).sum();
        parts.iter().map(|it| it.0 * it.1).sum::<f64>() / all
    }

    /// Whether there is evidence of how it is built at all.
    pub fn is_built(&self) -> bool {
        self.attributes.contains_key("tag")
    }

    /// Whether it is of the same kind of control, its tag, role and type.
    pub fn is_of_kind(&self, now: &Self) -> bool {
        let kind =
            |it: &Self| own(it.attributes.get("shape").map_or("", String::as_str)).to_owned();
        kind(self) == kind(now)
    }

    /// Whether there were more of its kind beside it than there are beside that one.
    pub fn has_lost(&self, now: &Self) -> bool {
        let count = |it: &Self| it.attributes.get("among").and_then(|it| it.parse::<u32>().ok());
        match (count(self), count(now)) {
            (Some(was), Some(is)) => is < was,
            (was, is) => was.is_some_and(|it| it > 1) && is.is_none(),
        }
    }

    /// Whether it was there before, as another.
    pub fn was_another(&self, now: &Self) -> bool {
        !self.is_named_as(now) && mark_of(&now.name).is_some_and(|it| self.others.contains(&it))
    }

    pub fn is_named_as(&self, now: &Self) -> bool {
        !self.name.is_empty() && words(&self.name) == words(&now.name)
    }

    /// Whether it stands for something else: another answer of a question, another page that it leads to.
    pub fn contradicts(&self, now: &Self) -> bool {
        let path = |it: &str| it.split('?').next().unwrap_or_default().to_owned();
        ["value", "href"].iter().any(|name| {
            let both = self.attributes.get(*name).zip(now.attributes.get(*name));
            both.is_some_and(|(was, is)| path(was) != path(is))
        })
    }

    /// Whether something that lasts, and is one element's alone, is the same.
    pub fn shares_mark(&self, now: &Self) -> bool {
        let is_same = |name: &str| self.attributes.get(name) == now.attributes.get(name);
        ["testid", "id", "name", "href"].iter().any(|it| {
            // Boxes of one question have one name.
            let is_own = *it != "name" || is_same("value");
            self.attributes.get(*it).is_some_and(|it| !it.is_empty()) && is_same(it) && is_own
        })
    }

    /// Whether its text and that of another are of one row of a list, but for what tells rows apart.
    fn rows_agree(was: &str, is: &str) -> bool {
        let digits = |it: &str| it.chars().filter(char::is_ascii_digit).collect::<String>();
        alike(was, is) >= AGREES && digits(was) == digits(is)
    }

    pub fn leads_where(&self, now: &Self) -> bool {
        let was = self.attributes.get("href").filter(|it| !it.is_empty());
        was.is_some() && was == now.attributes.get("href")
    }

    pub fn is_in_row(&self, now: &Self) -> bool {
        match (&self.row, &now.row) {
            (Some(was), Some(is)) => Self::rows_agree(was, is),
            (was, is) => was.is_none() && is.is_none(),
        }
    }

    pub fn is_in_same_row(&self, now: &Self) -> bool {
        self.row.is_some() && self.row == now.row
    }

    /// By its label, or by what the form is for.
    pub fn is_in_form(&self, now: &Self) -> bool {
        let form = self.attributes.get("form").filter(|it| *it != "form");
        both(self.form.as_deref(), now.form.as_deref()) >= AGREES
            || (form.is_some() && form == now.attributes.get("form"))
    }

    pub fn is_near(&self, now: &Self) -> bool {
        self.near.iter().any(|it| now.near.contains(it))
    }

    pub fn describe(&self) -> String {
        let row = self.row.as_ref().map(|it| format!(" in {it:?}")).unwrap_or_default();
        format!("{} {:?}{row}", self.role, self.name)
    }
}

/// A name as it is remembered of what else there was: FNV-1a over its words. `None` for none.
pub fn mark_of(name: &str) -> Option<u32> {
    let name = words(name);
    let hash = |sum: u32, it: u8| (sum ^ u32::from(it)).wrapping_mul(16_777_619);
    (!name.is_empty()).then(|| name.bytes().fold(2_166_136_261, hash))
}

fn share(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// How many of the words of `was` are in `is`, 0 to 1.
fn overlap(was: &str, is: &str) -> f64 {
    let is: Vec<&str> = is.split(' ').collect();
    let was: Vec<&str> = was.split(' ').collect();
    was.iter().filter(|it| is.contains(it)).count() as f64 / was.len() as f64
}

/// The element itself in a list of controls.
fn own(shape: &str) -> &str {
    shape.split(' ').find_map(|it| it.strip_prefix('>')).unwrap_or("")
}

/// How much the controls around one are those around another, before and after it, 0 to 1.
fn shapes(was: &str, is: &str) -> f64 {
    let sides = |it: &str| -> (Vec<String>, Vec<String>) {
        let all: Vec<&str> = it.split(' ').collect();
        let at = all.iter().position(|it| it.starts_with('>')).unwrap_or(0);
        let owned = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect();
        (owned(&all[..at]), owned(all.get(at + 1..).unwrap_or_default()))
    };
    let ((before, after), (before_now, after_now)) = (sides(was), sides(is));
    let same =
        share(own(was) == own(is)) + common(&before, &before_now) + common(&after, &after_now);
    let most = |a: usize, b: usize| a.max(b) as f64;
    same / (1.0 + most(before.len(), before_now.len()) + most(after.len(), after_now.len()))
}

/// The length of the longest common subsequence.
fn common(a: &[String], b: &[String]) -> f64 {
    let mut row = vec![0_u32; b.len() + 1];
    for it in a {
        let mut left = 0;
        for (at, other) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if it == other { left + 1 } else { above.max(row[at]) };
            left = above;
        }
    }
    f64::from(row[b.len()])
}
