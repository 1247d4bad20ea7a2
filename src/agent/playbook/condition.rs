//! A condition over a page and what is about to be done there: words that must stand somewhere, as data, never code.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{Action, PageView, snapshot_parser};

/// Holds when all of its fields do; a field does when all of its words stand there. Upper and lower case, accents and the width of
/// blanks are no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// The page's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Words>,
    /// The page's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Words>,
    /// What the page shows, a line an element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Words>,
    /// The action that is about to be done, such as `click`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Words>,
    /// What it is done to, as the page calls it, or as the model does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Words>,
}

/// A text, or several of which each must stand there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Words {
    One(String),
    All(Vec<String>),
}

/// Arguments that say what an action is done to: ours, and those of Playwright MCP.
const TARGETS: &[&str] = &["target", "element", "ref", "selector"];

impl Condition {
    /// Words about an action stand nowhere when none is about to be done.
    #[cfg(test)]
    pub fn matches(&self, view: &PageView, act: Option<&Action>) -> bool {
        self.is_met(&FoldedPage::new(view), act)
    }

    pub(super) fn is_met(&self, page: &FoldedPage<'_>, act: Option<&Action>) -> bool {
        let stands = |words: &Option<Words>, there: &dyn Fn(&str) -> bool| {
            words
                .as_ref()
                .is_none_or(|it| it.all().iter().all(|it| there(&snapshot_parser::fold(it))))
        };
        let targets = match (&self.target, act) {
            (Some(_), Some(act)) => page.targets(act),
            _ => Vec::new(),
        };
        self.fields().next().is_some()
            && stands(&self.url, &|it| page.url.contains(it))
            && stands(&self.title, &|it| page.title.contains(it))
            && stands(&self.text, &|it| page.text.contains(it))
            && stands(&self.action, &|it| {
                act.is_some_and(|act| snapshot_parser::fold(&act.name).contains(it))
            })
            && stands(&self.target, &|it| targets.iter().any(|all| all.contains(it)))
    }

    /// Fields that are given.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &Words)> {
        let all = [
            ("url", &self.url),
            ("title", &self.title),
            ("text", &self.text),
            ("action", &self.action),
            ("target", &self.target),
        ];
        all.into_iter().filter_map(|(name, it)| Some((name, it.as_ref()?)))
    }

    /// Each text through `change`.
    pub(super) fn changed<E>(
        &self,
        mut change: impl FnMut(&str) -> Result<String, E>,
    ) -> Result<Self, E> {
        let mut out = self.clone();
        let all = [&mut out.url, &mut out.title, &mut out.text, &mut out.action, &mut out.target];
        for it in all.into_iter().flatten() {
            match it {
                Words::One(it) => *it = change(it)?,
                Words::All(all) => {
                    for it in all {
                        *it = change(it)?;
                    }
                }
            }
        }
        Ok(out)
    }
}

/// As people read it: `url "/cancelled" and text "membership", "ends"`.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, words)) in self.fields().enumerate() {
            let words: Vec<String> = words.all().iter().map(|it| format!("{it:?}")).collect();
            let and = if i > 0 { " and " } else { "" };
            write!(f, "{and}{name} {}", words.join(", "))?;
        }
        Ok(())
    }
}

/// A page as conditions compare it, folded once for all of them.
pub(super) struct FoldedPage<'a> {
    view: &'a PageView,
    url: String,
    title: String,
    text: String,
}

impl<'a> FoldedPage<'a> {
    pub fn new(view: &'a PageView) -> Self {
        let (url, title) = (snapshot_parser::fold(&view.url), snapshot_parser::fold(&view.title));
        Self { view, url, title, text: snapshot_parser::fold(&view.content) }
    }

    /// What an action is done to: what the model calls it, and the line of the page that its ref names, since a model may call an
    /// element anything.
    fn targets(&self, act: &Action) -> Vec<String> {
        let given: Vec<&str> = TARGETS.iter().filter_map(|it| act.text(it)).collect();
        let lines =
            given.iter().filter_map(|it| snapshot_parser::find_by_ref(&self.view.content, it));
        let lines: Vec<String> = lines.map(snapshot_parser::fold).collect();
        given.into_iter().map(snapshot_parser::fold).chain(lines).collect()
    }
}

impl Words {
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(it) => std::slice::from_ref(it),
            Self::All(all) => all,
        }
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct WordsVisitor;
        impl<'de> de::Visitor<'de> for WordsVisitor {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E: de::Error>(self, it: &str) -> Result<Words, E> {
                Ok(Words::One(it.to_owned()))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut all: A) -> Result<Words, A::Error> {
                let mut out = Vec::new();
                while let Some(it) = all.next_element()? {
                    out.push(it);
                }
                Ok(Words::All(out))
            }
        }
        from.deserialize_any(WordsVisitor)
    }
}
