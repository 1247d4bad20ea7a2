//! Whether a task is done: what the model says of it is a claim, and the pages decide.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Action, PageView,
    playbook::{self, Playbook},
    spelling::{MatchKind, SearchableText, normalize_text},
};

/// Characters of what was seen that are remembered.
const MOST: usize = 2_000_000;
/// A shorter piece of evidence stands on every page.
const SHORTEST: usize = 3;

/// Every text that was seen, as it is compared.
#[derive(Debug, Default)]
pub struct ObservedText {
    lines: BTreeSet<String>,
    /// The same, in order.
    text: SearchableText,
}

impl ObservedText {
    pub fn add_page(&mut self, it: &PageView) {
        it.content.lines().for_each(|it| self.read(&without_marks(it)));
    }

    /// Text of a page as it is drawn, which is no snapshot.
    pub fn saw_text(&mut self, text: &str) {
        text.lines().for_each(|it| self.read(it));
    }

    fn read(&mut self, line: &str) {
        // Most of a page is as it was.
        if self.text.len() + line.len() < MOST && !self.lines.contains(line) {
            self.text.push(line);
            self.lines.insert(line.to_owned());
        }
    }
}

/// A line of a snapshot without what is not the page's: its ref, and states outside of quotation marks.
fn without_marks(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut quoted, mut escaped) = (false, false);
    let mut rest = line;
    while let Some(it) = rest.chars().next() {
        if it == '['
            && !quoted
            && let Some(end) = state(rest)
        {
            rest = &rest[end..];
            continue;
        }
        quoted ^= it == '"' && !escaped;
        escaped = it == '\\' && !escaped;
        out.push(it);
        rest = &rest[it.len_utf8()..];
    }
    let is_ref = |it: &str| {
        let it = it.strip_prefix("@e").or_else(|| it.strip_prefix("@c"));
        it.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    out.split(' ').filter(|it| !is_ref(it)).collect::<Vec<_>>().join(" ")
}

/// Where a state that the text begins with, as snapshots write them, ends: `[level 2]`, `[ref=e3]`.
fn state(text: &str) -> Option<usize> {
    let (inner, _) = text.strip_prefix('[')?.split_once(']')?;
    let is_word = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || " ,=-".contains(it);
    let is_state =
        inner.starts_with(|it: char| it.is_ascii_lowercase()) && inner.chars().all(is_word);
    is_state.then_some(inner.len() + 2)
}

/// What a claim of success comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum CompletionVerdict {
    Verified {
        answer: Option<Value>,
    },
    /// What the model is told; it may go on.
    Unproven(String),
}

/// Judges a `complete_task` that says success. A playbook's indicators decide where there is one; else the text that the model
/// gives as evidence has to stand on the present page. What it answers must have been seen, whole words and whole numbers, with or
/// without a playbook. `drawn`: the present page's text as it is drawn, where that is known.
pub fn judge(
    act: &Action,
    now: &PageView,
    drawn: &str,
    all: &ObservedText,
    playbook: Option<&Playbook>,
) -> CompletionVerdict {
    let answer = act.arguments.get("answer").filter(|it| !is_nothing(it));
    if let Some(it) = answer {
        let mut unseen = Vec::new();
        if !visit_texts(it, &mut |text| match all.text.find_match(text) {
            MatchKind::Whole => {}
            other => unseen.push((text.to_owned(), other)),
        }) {
            return CompletionVerdict::Unproven("`answer` is a text or a list of texts".to_owned());
        }
        if let Some((it, standing)) = unseen.first() {
            let cut = |it: &str| it.chars().take(100).collect::<String>();
            let it = cut(it);
            return CompletionVerdict::Unproven(match standing {
                MatchKind::Piece(of) => format!(
                    "{it:?} is a piece of {:?}: answer with whole words and whole numbers, as a page shows them",
                    cut(of)
                ),
                _ => format!(
                    "no page that was seen says {it:?}: answer word for word as a page shows it"
                ),
            });
        }
    }
    let proven = CompletionVerdict::Verified { answer: answer.cloned() };
    match playbook.map(|it| it.outcome(now)) {
        Some(playbook::PageOutcome::Succeeded(_)) => return proven,
        Some(playbook::PageOutcome::Failed(which)) => {
            return CompletionVerdict::Unproven(format!(
                "the page shows that it failed ({which}); its address is {}",
                now.url
            ));
        }
        Some(playbook::PageOutcome::Neither)
            if playbook.is_some_and(|it| !it.success.is_empty()) =>
        {
            return CompletionVerdict::Unproven(format!(
                "success cannot be verified: the page does not show what it shows after success. Its address is {}. Look at it \
                 and try again, or call complete_task with status failed",
                now.url
            ));
        }
        _ => {}
    }
    let mut page = SearchableText::new(drawn);
    now.content.lines().for_each(|it| page.push(it));
    page.push(&now.title);
    let evidence = act.text("evidence").map(normalize_text).unwrap_or_default();
    if evidence.chars().count() < SHORTEST {
        // What was asked for and stands on the page is evidence enough.
        let mut here = answer.is_some();
        if let Some(it) = answer {
            visit_texts(it, &mut |text| here &= page.find_match(text) == MatchKind::Whole);
        }
        return if here {
            proven
        } else {
            CompletionVerdict::Unproven(
                "give as `evidence` a text that stands on the present page and shows that it is done"
                    .to_owned(),
            )
        };
    }
    if page.contains(&evidence) {
        return proven;
    }
    CompletionVerdict::Unproven(format!(
        "the present page, {}, does not say what `evidence` says",
        now.url
    ))
}

fn is_nothing(it: &Value) -> bool {
    match it {
        Value::Null => true,
        Value::String(it) => it.trim().is_empty(),
        Value::Array(all) => all.is_empty(),
        _ => false,
    }
}

/// Each text in it; whether there is nothing else in it.
fn visit_texts(it: &Value, each: &mut dyn FnMut(&str)) -> bool {
    match it {
        Value::String(it) => {
            each(it);
            true
        }
        Value::Number(it) => {
            each(&it.to_string());
            true
        }
        Value::Array(all) => all.iter().all(|it| visit_texts(it, each)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(content: &str) -> PageView {
        PageView { url: "http://a.test/x".into(), title: "Books".into(), content: content.into() }
    }

    fn claim(arguments: Value) -> Action {
        let Value::Object(arguments) = arguments else { panic!("no object") };
        Action { name: "complete_task".into(), arguments }
    }

    fn judged(arguments: Value, now: &str, before: &[&str]) -> bool {
        let mut all = ObservedText::default();
        for it in before {
            all.add_page(&page(it));
        }
        all.add_page(&page(now));
        matches!(
            judge(&claim(arguments), &page(now), "", &all, None),
            CompletionVerdict::Verified { .. }
        )
    }

    #[test]
    fn only_what_pages_show_is_believed() {
        let now = "heading \"Results\"\n  link \"Rust in  Action\" @e4\n  text \"€ 34.94\"";
        for (arguments, verified) in [
            (json!({"evidence": "Rust in action"}), true),
            (json!({"evidence": "Rust for Rustaceans"}), false),
            (json!({"evidence": "ru"}), false),
            (json!({}), false),
            (json!({"answer": "Rust in Action"}), true),
            (json!({"answer": ["Rust in Action", "€ 34.94"]}), true),
            (json!({"answer": ["Rust in Action", "€ 3.94"]}), false),
            (json!({"answer": {"title": "Rust in Action"}}), false),
            (json!({"answer": "Rust for Rustaceans", "evidence": "Results"}), false),
            // Seen before: needs evidence of the present page.
            (json!({"answer": "Old price 12"}), false),
            (json!({"answer": "Old price 12", "evidence": "Results"}), true),
            (json!({"answer": "", "evidence": "Results"}), true),
        ] {
            let told = arguments.to_string();
            assert_eq!(judged(arguments, now, &["text \"Old price 12\""]), verified, "{told}");
        }
    }

    #[test]
    fn an_answer_is_whole_words_and_numbers_of_a_page() {
        let now = "@e12 heading \"Travel kettle\" [level 2]\n\"Full price: 1,299.00 EUR\"\n\"it’s made by hand [1]\"";
        for (answer, verified) in [
            ("1,299.00 EUR", true),
            ("299.00", false),
            ("it's made by hand [1]", true),
            ("travel kettle", true),
            ("travel kett", false),
            // Marks of a snapshot are no text of the page.
            ("12", false),
            ("2", false),
            ("level 2", false),
        ] {
            assert_eq!(judged(json!({"answer": answer}), now, &[]), verified, "{answer}");
        }
        let mut all = ObservedText::default();
        all.add_page(&page(now));
        let piece = json!({"answer": "299.00"});
        let CompletionVerdict::Unproven(why) = judge(&claim(piece), &page(now), "", &all, None)
        else {
            panic!("a piece of a number was believed")
        };
        assert!(why.contains("\"1,299.00\""), "{why}");
    }

    #[test]
    fn pieces_that_are_drawn_as_one_text_are_one() {
        let (now, drawn) = (page("\"Col our: sea green\""), "Colour: seagreen");
        let answer = claim(json!({"answer": "Colour: seagreen"}));
        let mut all = ObservedText::default();
        all.add_page(&now);
        assert!(matches!(judge(&answer, &now, "", &all, None), CompletionVerdict::Unproven(_)));
        all.saw_text(drawn);
        assert!(matches!(
            judge(&answer, &now, drawn, &all, None),
            CompletionVerdict::Verified { .. }
        ));
    }
}
