//! Two sessions beside one another, action by action.

use schemars::JsonSchema;
use serde::Serialize;
use similar::{Algorithm, ChangeTag, TextDiff};

use super::SessionAction;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    Both,
    /// Only the first has it.
    First,
    Second,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComparedAction {
    #[serde(rename = "in")]
    pub place: Presence,
    /// What was done, on what, with what, and what it asked for.
    pub action: String,
}

/// An action as text: what makes it the same as another.
pub fn describe_action(line: &SessionAction) -> String {
    let on = line.element.as_ref().map(|it| format!(" {}", it.describe())).unwrap_or_default();
    let value = match (&line.value, line.secret) {
        (Some(it), _) => format!(" {it:?}"),
        (None, true) => " (a secret)".to_owned(),
        (None, false) => String::new(),
    };
    let asked: Vec<String> =
        line.requests.iter().map(|it| format!("{} {}", it.method, it.path)).collect();
    let asked = if asked.is_empty() { String::new() } else { format!(": {}", asked.join(", ")) };
    let failed = line.failed.as_ref().map(|it| format!(" failed with {it}")).unwrap_or_default();
    format!("{}{on}{value}{asked}{failed}", line.command)
}

/// What both did, in order, and what only one did.
pub fn compare(one: &[SessionAction], other: &[SessionAction]) -> Vec<ComparedAction> {
    let all =
        |lines: &[SessionAction]| -> Vec<String> { lines.iter().map(describe_action).collect() };
    let (one, other) = (all(one), all(other));
    let one: Vec<&str> = one.iter().map(String::as_str).collect();
    let other: Vec<&str> = other.iter().map(String::as_str).collect();
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_slices(&one, &other);
    diff.iter_all_changes()
        .map(|it| ComparedAction {
            place: match it.tag() {
                ChangeTag::Equal => Presence::Both,
                ChangeTag::Delete => Presence::First,
                ChangeTag::Insert => Presence::Second,
            },
            action: it.value().to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_one_did_stands_where_it_was_done() {
        let line = |command: &str, value: &str| SessionAction {
            command: command.into(),
            value: Some(value.into()),
            ..SessionAction::default()
        };
        let one = [line("goto", "http://a.test/"), line("fill", "hose"), line("press", "Enter")];
        let two = [line("goto", "http://a.test/"), line("fill", "ro\npe"), line("press", "Enter")];
        let places: Vec<Presence> = compare(&one, &two).iter().map(|it| it.place).collect();
        assert_eq!(places, [Presence::Both, Presence::First, Presence::Second, Presence::Both]);
        assert!(compare(&one, &one).iter().all(|it| it.place == Presence::Both));
        assert!(compare(&[], &[]).is_empty());
    }
}
