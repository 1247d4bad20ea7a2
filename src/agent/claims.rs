//! Whether a task is done: what the model says of it is a claim, and the pages decide.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Act, Seen,
    playbook::{Playbook, Standing},
};

/// Characters of what was seen that are remembered.
const MOST: usize = 2_000_000;
/// A shorter piece of evidence stands on every page.
const SHORTEST: usize = 3;

/// Every text that was seen, as it is compared.
#[derive(Debug, Default)]
pub struct Witnessed {
    lines: BTreeSet<String>,
    /// The same, in order.
    text: String,
}

impl Witnessed {
    pub fn saw(&mut self, it: &Seen) {
        for line in it.content.lines() {
            let line = plain(line);
            // Most of a page is as it was.
            if self.text.len() + line.len() < MOST && !self.lines.contains(&line) {
                self.text.push_str(&line);
                self.text.push('\n');
                self.lines.insert(line);
            }
        }
    }

    fn holds(&self, text: &str) -> bool {
        let text = plain(text);
        !text.is_empty() && self.text.contains(&text)
    }
}

/// Lower case, one space between words, without the marks that lines of a snapshot are written with.
pub(super) fn plain(text: &str) -> String {
    let text: String =
        text.chars().map(|it| if "\"“”„«»\\".contains(it) { ' ' } else { it }).collect();
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a claim of success comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    Verified {
        answer: Option<Value>,
    },
    /// What the model is told; it may go on.
    Unproven(String),
}

/// Judges a `complete_task` that says success. A playbook's indicators decide where there is one; else the text that the model
/// gives as evidence has to stand on the present page. What it answers must have been seen, with or without a playbook.
pub fn judge(act: &Act, now: &Seen, all: &Witnessed, playbook: Option<&Playbook>) -> Claim {
    let answer = act.arguments.get("answer").filter(|it| !is_nothing(it));
    if let Some(it) = answer {
        let mut unseen = Vec::new();
        if !leaves(it, &mut |text| {
            if !all.holds(text) {
                unseen.push(text.to_owned());
            }
        }) {
            return Claim::Unproven("`answer` is a text or a list of texts".to_owned());
        }
        if let Some(it) = unseen.first() {
            let it: String = it.chars().take(100).collect();
            return Claim::Unproven(format!(
                "no page that was seen says {it:?}: answer word for word as a page shows it"
            ));
        }
    }
    let proven = Claim::Verified { answer: answer.cloned() };
    match playbook.map(|it| it.outcome(now)) {
        Some(Standing::Succeeded(_)) => return proven,
        Some(Standing::Failed(which)) => {
            return Claim::Unproven(format!(
                "the page shows that it failed ({which}); its address is {}",
                now.url
            ));
        }
        Some(Standing::Neither) if playbook.is_some_and(|it| !it.success.is_empty()) => {
            return Claim::Unproven(format!(
                "success cannot be verified: the page does not show what it shows after success. Its address is {}. Look at it \
                 and try again, or call complete_task with status failed",
                now.url
            ));
        }
        _ => {}
    }
    let evidence = act.text("evidence").map(plain).unwrap_or_default();
    if evidence.chars().count() < SHORTEST {
        // What was asked for and stands on the page is evidence enough.
        let mut here = answer.is_some();
        if let Some(it) = answer {
            let page = plain(&now.content);
            leaves(it, &mut |text| here &= page.contains(&plain(text)));
        }
        return if here {
            proven
        } else {
            Claim::Unproven(
                "give as `evidence` a text that stands on the present page and shows that it is done"
                    .to_owned(),
            )
        };
    }
    let here = plain(&now.content).contains(&evidence) || plain(&now.title).contains(&evidence);
    if here {
        return proven;
    }
    Claim::Unproven(format!("the present page, {}, does not say what `evidence` says", now.url))
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
fn leaves(it: &Value, each: &mut dyn FnMut(&str)) -> bool {
    match it {
        Value::String(it) => {
            each(it);
            true
        }
        Value::Number(it) => {
            each(&it.to_string());
            true
        }
        Value::Array(all) => all.iter().all(|it| leaves(it, each)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(content: &str) -> Seen {
        Seen { url: "http://a.test/x".into(), title: "Books".into(), content: content.into() }
    }

    fn claim(arguments: Value) -> Act {
        let Value::Object(arguments) = arguments else { panic!("no object") };
        Act { name: "complete_task".into(), arguments }
    }

    fn judged(arguments: Value, now: &str, before: &[&str]) -> bool {
        let mut all = Witnessed::default();
        for it in before {
            all.saw(&page(it));
        }
        all.saw(&page(now));
        matches!(judge(&claim(arguments), &page(now), &all, None), Claim::Verified { .. })
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
}
