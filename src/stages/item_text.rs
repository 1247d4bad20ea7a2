//! The texts of an item of the data, compared with texts of the page.

use serde_json::Value;
use std::collections::BTreeSet;

/// Per cent of an item's words that stand for it where its texts run together.
pub const SHARED: usize = 70;
/// Bytes of a text that is not stored to its end.
const LONG: usize = 380;
/// What a page sets for text that it leaves out.
pub const CUT: char = '…';
/// Fewer characters tell nothing.
pub const MIN_TEXT: usize = 2;

/// A text of the page.
pub struct Cell<'a> {
    pub raw: &'a str,
    pub plain: String,
}

/// What an item says.
pub struct ItemText {
    pub leaves: BTreeSet<String>,
    /// All of it, each text between bars.
    whole: String,
    pub words: BTreeSet<String>,
    values: Vec<Value>,
}

impl ItemText {
    pub fn from_value(value: &Value) -> Self {
        let mut values = Vec::new();
        collect_leaves(value, &mut values);
        let texts: Vec<String> = values
            .iter()
            .map(|it| match it {
                Value::String(it) if it.contains('<') && it.contains('>') => {
                    plain_words(&commis_redact::markup::visible_text(it, it.len()))
                }
                Value::String(it) => plain_words(it),
                other => plain_words(&other.to_string()),
            })
            .collect();
        let words = texts
            .iter()
            .flat_map(|it| it.split(' '))
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect();
        let whole = format!("| {} |", texts.join(" | "));
        Self {
            leaves: texts.into_iter().filter(|it| !it.is_empty()).collect(),
            whole,
            words,
            values,
        }
    }

    /// Per cent of the words of these texts, of two characters and more, that the item says; not counted are those that
    /// every item has.
    pub fn share_of(&self, cells: &[Cell<'_>], common: &BTreeSet<String>) -> usize {
        let all: BTreeSet<&str> = cells
            .iter()
            .flat_map(|it| it.plain.split(' '))
            .filter(|it| it.chars().nth(1).is_some() && !common.contains(*it))
            .collect();
        let said = all.iter().filter(|it| self.words.contains(**it)).count();
        if all.len() < 2 { 0 } else { said * 100 / all.len() }
    }

    /// A word as [`words`] gives it.
    pub fn says_word(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// A text in plain words.
    pub fn has_text(&self, plain: &str) -> bool {
        self.leaves.contains(plain) || self.whole.contains(&format!(" {plain} "))
    }

    /// Most words of a text.
    pub fn says_most(&self, cell: &str) -> bool {
        let own = words(cell);
        let said = own.iter().filter(|it| self.words.contains(*it)).count();
        own.len() > 1 && said * 100 >= own.len() * SHARED
    }

    /// A text as the page writes it.
    pub fn has_cell(&self, cell: &str) -> bool {
        let text = plain_words(cell);
        if text.is_empty() || self.has_text(&text) {
            return true;
        }
        // Cut where it is stored.
        if cell.len() >= LONG {
            let kept: Vec<&str> = text.split(' ').collect();
            let is_held = match &kept[..kept.len() - 1] {
                // A text without a space: a leaf begins with it.
                [] => self.leaves.iter().any(|it| it.starts_with(&text)),
                kept => {
                    self.whole.contains(&kept.join(" "))
                        || kept.iter().all(|it| self.words.contains(*it))
                }
            };
            if is_held {
                return true;
            }
        }
        // Cut short by the page.
        let cut = cell.trim_end();
        if let Some(start) = cut.strip_suffix(CUT).or_else(|| cut.strip_suffix("...")) {
            let start = plain_words(start);
            if start.chars().count() >= 8 && self.whole.contains(&format!(" {start}")) {
                return true;
            }
        }
        // Cut within: the leaf begins and ends as it does.
        if let Some((start, end)) = cut.split_once(CUT).filter(|it| !it.1.is_empty()) {
            let (start, end) = (start.trim_start(), end.trim_end());
            let is_cut = |it: &Value| {
                it.as_str().is_some_and(|it| {
                    it.len() > start.len() + end.len() && it.starts_with(start) && it.ends_with(end)
                })
            };
            if start.chars().count() >= 8 && self.values.iter().any(is_cut) {
                return true;
            }
        }
        self.values.iter().any(|it| commis_recipe::shape::display_forms::is_shown_as(it, cell))
    }
}

fn collect_leaves(value: &Value, out: &mut Vec<Value>) {
    match value {
        Value::Array(all) => all.iter().for_each(|it| collect_leaves(it, out)),
        Value::Object(all) => all.values().for_each(|it| collect_leaves(it, out)),
        Value::Null => {}
        other => out.push(other.clone()),
    }
}

/// An item whose fields have no names: a list of nothing but scalars, two and more.
fn is_row(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|all| all.len() > 1 && !all.iter().any(|it| it.is_array() || it.is_object()))
}

/// What could be an item: the list's own, or all that stand in lists; and those in lists within them.
pub fn items_of(data: &Value) -> Vec<ItemText> {
    fn go<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
        match value {
            Value::Array(all) => {
                for it in all {
                    if !it.is_array() || is_row(it) {
                        out.push(it);
                    }
                    go(it, out);
                }
            }
            Value::Object(all) => {
                // A map by id is a list too.
                let objects = all.values().filter(|it| it.is_object()).count();
                if objects >= 2 && objects == all.len() {
                    out.extend(all.values());
                }
                all.values().for_each(|it| go(it, out));
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    go(data, &mut all);
    if all.is_empty() {
        all.push(data);
    }
    all.into_iter().map(ItemText::from_value).collect()
}

/// Words in lower case with one space between them.
pub fn plain_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

pub fn words(text: &str) -> BTreeSet<String> {
    plain_words(text).split(' ').filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// Without an English plural's s, well enough to compare two words.
pub fn stem(word: &str) -> &str {
    word.trim_end_matches('s')
}
