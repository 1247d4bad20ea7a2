//! Small things that pages show: moments, times, links, JSON, states.

use std::fmt::Write as _;

use maud::{Markup, html};
use serde_json::Value;

use crate::task_database::{TaskState, TaskView};
use commis_recipe::{
    model::{DemotionReason, Recipe, Status},
    status::RecipeState,
};
use commis_report::is_unsafe_char;
pub use commis_report::{clip, format_duration};

/// A moment by how long ago it was; the page's script goes on with that, and says the moment itself.
pub fn ago(at_ms: i64, now_ms: i64) -> Markup {
    let seconds = (now_ms - at_ms).max(0) / 1000;
    let text = match seconds {
        ..10 => "just now".to_owned(),
        10..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    };
    html! { time.ago datetime=(stamp(at_ms)) title=(shown_stamp(at_ms)) { (text) } }
}

/// RFC 3339.
fn stamp(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms).map_or(String::new(), |it| it.to_string())
}

fn shown_stamp(at_ms: i64) -> String {
    let it = jiff::Timestamp::from_millisecond(at_ms);
    it.map_or(String::new(), |it| it.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// A moment of RFC 3339, as text of a recipe.
pub fn moment(text: &str, now_ms: i64) -> Markup {
    let Ok(it) = text.parse::<jiff::Timestamp>() else { return html! { (text) } };
    html! {
        (it.strftime("%Y-%m-%d").to_string()) " "
        span.soft { "(" (ago(it.as_millisecond(), now_ms)) ")" }
    }
}

/// `2026-03-28`
pub fn date(day: i64) -> String {
    let it = jiff::Timestamp::from_second(day.saturating_mul(86_400));
    it.map_or(String::new(), |it| it.strftime("%Y-%m-%d").to_string())
}

/// An address as a link, where it is one of the web; else as text.
pub fn link(address: &str) -> Markup {
    match url::Url::parse(address) {
        Ok(it)
            if matches!(it.scheme(), "http" | "https") && !address.chars().any(is_unsafe_char) =>
        {
            html! { a.said href=(it.as_str()) rel="noreferrer noopener" { (address) } }
        }
        _ => html! { code { (address) } },
    }
}

/// As JSON for a person, strange characters as JSON writes them; at most so many bytes, and whether that is all of it.
pub fn json(value: &Value, max: usize) -> (String, bool) {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut out = String::with_capacity(pretty.len().min(max + 16));
    for it in pretty.chars() {
        if out.len() >= max {
            return (out, false);
        }
        if is_unsafe_char(it) && it != '\n' {
            for unit in it.encode_utf16(&mut [0; 2]) {
                // Writing into a string does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(it);
        }
    }
    (out, true)
}

/// JSON of any length in a box that scrolls, with a name for who does not see it.
pub fn code_box(label: &str, text: &str) -> Markup {
    html! { pre.code tabindex="0" role="region" aria-label=(label) { code { (text) } } }
}

/// Where a task stands.
pub fn state(it: TaskState) -> Markup {
    html! { span class={ "badge " (state_class(it)) } { (state_text(it)) } }
}

pub fn state_text(it: TaskState) -> &'static str {
    match it {
        TaskState::WaitingForApproval => "waiting for you",
        it => it.as_str(),
    }
}

pub const fn state_class(it: TaskState) -> &'static str {
    match it {
        TaskState::Running => "now",
        TaskState::Done => "good",
        TaskState::Failed => "bad",
        TaskState::WaitingForApproval | TaskState::Interrupted => "warn",
        TaskState::Queued | TaskState::Cancelled => "",
    }
}

/// Where a recipe stands.
pub fn recipe_status(it: &Recipe) -> Markup {
    let (class, text) = match it.state() {
        RecipeState::Verified => ("good", "verified"),
        RecipeState::Draft => ("", "draft"),
        RecipeState::Demoted(DemotionReason::Drift) => ("bad", "drifted"),
        RecipeState::Demoted(DemotionReason::Failures) => ("bad", "failing"),
        RecipeState::TakenBack => ("warn", "taken back"),
    };
    html! { span class={ "badge " (class) } { (text) } }
}

pub const fn status_text(it: Status) -> &'static str {
    match it {
        Status::Draft => "draft",
        Status::Verified => "verified",
        Status::Deprecated => "out of service",
    }
}

/// What a task does, in a word or two.
pub fn doing(task: &TaskView) -> String {
    match task.operation.as_str() {
        "recipe_learn" => "Learn".to_owned(),
        "recipe_create_from_candidate" => "Learn from a candidate".to_owned(),
        "recipe_run" => "Run".to_owned(),
        "recipe_verify" => "Verify".to_owned(),
        other => {
            let words = other.replace('_', " ");
            let mut letters = words.chars();
            letters.next().map_or(String::new(), |it| it.to_uppercase().chain(letters).collect())
        }
    }
}

/// What a task is about: a recipe's name, or the sentence.
pub fn about(task: &TaskView) -> String {
    let text = |name: &str| task.args[name].as_str().filter(|it| !it.is_empty());
    let it = text("name").or_else(|| text("task")).or_else(|| text("task_id"));
    clip(it.unwrap_or(""), 120)
}

/// One of a few things of that kind.
pub fn count(n: i64, one: &str, many: &str) -> String {
    format!("{n}\u{a0}{}", if n == 1 { one } else { many })
}

/// What to do where there is nothing to show.
pub fn empty(head: &str, body: &Markup) -> Markup {
    html! { div.empty { p { b { (head) } } (body) } }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_addresses_of_the_web_are_links() {
        for good in ["https://shop.test/", "http://a.test/x?y=1&z=2"] {
            assert!(link(good).0.starts_with("<a "), "{good}");
        }
        for bad in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java\nscript:alert(1)",
            " javascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "//evil.test/",
            "https://a.test/\u{202e}gpj.exe",
            "\"><img src=x onerror=alert(1)>",
        ] {
            let made = link(bad).0;
            assert!(!made.contains("<a ") && !made.contains("<img"), "{bad}: {made}");
        }
        let quoted = link("https://a.test/\"onmouseover=\"alert(1)").0;
        assert!(!quoted.contains("\"onmouseover"), "{quoted}");
    }

    #[test]
    fn json_is_cut_and_plain() {
        let (text, whole) = json(&json!({"a": "\u{202e}x\u{1b}[2J\u{7f}"}), 1000);
        assert!(whole && text.contains("\\u202ex\\u001b[2J\\u007f"), "{text}");
        let (text, whole) = json(&json!(vec!["äöü"; 100]), 50);
        assert!(!whole && text.len() <= 54, "{}", text.len());
    }

    #[test]
    fn times_and_counts_read_well() {
        assert_eq!(count(1, "run", "runs"), "1\u{a0}run");
        assert_eq!(date(0), "1970-01-01");
        assert!(ago(0, 120_000).0.contains("2 min ago"));
    }
}
