//! What a second page proves of a second answer, as data: for `verify`'s comparison of leaves with lines.

use serde_json::{Value, json};

/// The answers to A and B, what was typed for each, the lines that only the second page had (typed text not cut out), and
/// whether they prove that B is what was asked for.
pub struct Case {
    pub what: &'static str,
    pub a: Value,
    pub b: Value,
    pub typed: (&'static str, &'static str),
    pub lines: &'static [&'static str],
    pub expected: bool,
}

fn named(names: &[&str]) -> Value {
    names.iter().map(|it| json!({"title": it, "type": "page"})).collect()
}

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            what: "names made of the typed word and a common rest, several of them",
            a: named(&["Bus jobs", "Bus strike in March", "Bus timetable"]),
            b: named(&["Ferry jobs", "Ferry strike in March", "Ferry timetable"]),
            typed: ("bus", "ferry"),
            lines: &["ferry jobs", "ferry strike in march", "ferry timetable"],
            expected: true,
        },
        Case {
            what: "whole lines that are leaves of B and none of A's, two of them",
            a: named(&["Bus jobs", "Bus strike in March"]),
            b: named(&["Ferry jobs", "Ferry strike in March"]),
            typed: ("bus", "ferry"),
            lines: &["ferry jobs", "ferry strike in march"],
            expected: true,
        },
        Case {
            what: "one such line beside one of its own",
            a: named(&["Bus jobs", "Night lines"]),
            b: named(&["Ferry jobs", "Harbour islands"]),
            typed: ("bus", "ferry"),
            lines: &["ferry jobs", "harbour islands"],
            expected: true,
        },
        Case {
            what: "a heading that echoes the question",
            a: json!({"title": "Results for bus", "items": [{"title": "Night lines"}]}),
            b: json!({"title": "Results for ferry", "items": [{"title": "Night lines"}]}),
            typed: ("bus", "ferry"),
            lines: &["results for ferry"],
            expected: false,
        },
        Case {
            what: "two echoes are no data",
            a: json!({"title": "Results for bus", "label": "Search: bus"}),
            b: json!({"title": "Results for ferry", "label": "Search: ferry"}),
            typed: ("bus", "ferry"),
            lines: &["results for ferry", "search: ferry"],
            expected: false,
        },
        Case {
            what: "leaves of B that the second page did not show",
            a: named(&["Bus jobs", "Bus strike in March", "Bus timetable"]),
            b: named(&["Ferry staff", "Ferry strike in May", "Ferry prices"]),
            typed: ("bus", "ferry"),
            lines: &["ferry jobs", "ferry strike in march", "ferry timetable"],
            expected: false,
        },
        Case {
            what: "amounts and days in the words of the page",
            a: json!([{"price": 990, "on": "2026-11-20"}]),
            b: json!([{"price": 1181, "on": "2026-11-22"}]),
            typed: ("bus", "ferry"),
            lines: &["£11.81", "sunday, 22 nov"],
            expected: true,
        },
    ]
}
