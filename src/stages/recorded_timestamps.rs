//! The time of the recording, written into a request that nobody typed it into: `from=2026-11-22T10:00`. A recipe that keeps it
//! answers about that time for ever.

use serde_json::Value;

use super::template_match::literal_of;
use commis_artifacts::recording::Exchange;
use commis_recipe::trackers::is_cache_buster;
use commis_recipe::{
    model::{BodyTemplate, RequestTemplate},
    shape::display_forms::parse_epoch_day,
};

/// Days between such a time and the answer.
const NEAR: i64 = 2;
/// A number is a time only under a name that says so; lower-case words of names.
const TIMES: &[&str] = &[
    "from",
    "to",
    "start",
    "end",
    "date",
    "day",
    "since",
    "until",
    "after",
    "before",
    "begin",
    "depart",
    "departure",
    "arrive",
    "arrival",
    "when",
    "at",
    "time",
    "datetime",
];
/// Dates that name a version, not a time.
const VERSIONS: &[&str] = &["version", "v", "ver", "api", "rev", "revision", "build"];

/// The part of the request that holds a literal near the time of the answer.
pub fn frozen_moment(request: &RequestTemplate, exchange: &Exchange) -> Option<String> {
    let date = exchange.response_headers.iter().find(|it| it.name == "date")?;
    let at = httpdate::parse_http_date(&date.value).ok()?;
    let today = at.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs() as i64 / 86_400;
    let near =
        |name: &str, text: &str| literal_of(text).is_some_and(|it| is_moment(name, &it, today));
    let path = request.url.splitn(4, '/').nth(3).unwrap_or_default();
    if let Some(i) = path.split('/').position(|it| near("", it)) {
        return Some(format!("path segment {i}"));
    }
    if let Some(i) = day_in_segments(path, today) {
        return Some(format!("path segments {i} to {}", i + 2));
    }
    if let Some(it) = request.query.iter().find(|it| near(&it.name, &it.value)) {
        return Some(format!("query `{}`", it.name));
    }
    match &request.body {
        Some(BodyTemplate::Form(fields)) => fields
            .iter()
            .find(|it| near(&it.name, &it.value))
            .map(|it| format!("form field `{}`", it.name)),
        Some(BodyTemplate::Json(body)) => in_json(body, "", "", &near),
        _ => None,
    }
}

/// The first of three segments that are a day near the answer: `/2026/11/28/`.
fn day_in_segments(path: &str, today: i64) -> Option<usize> {
    let segments: Vec<&str> = path.split('/').collect();
    segments.windows(3).position(|it| {
        let is_digits = |it: &str| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit());
        let [year, month, day] = [it[0], it[1], it[2]];
        year.len() == 4
            && [month, day].iter().all(|it| it.len() <= 2)
            && it.iter().all(|it| is_digits(it))
            && parse_epoch_day(&format!("{year}-{month:0>2}-{day:0>2}"))
                .is_some_and(|it| (it - today).abs() <= NEAR)
    })
}

fn in_json(
    value: &Value,
    name: &str,
    pointer: &str,
    near: &impl Fn(&str, &str) -> bool,
) -> Option<String> {
    let text = match value {
        Value::Object(fields) => {
            return fields
                .iter()
                .find_map(|(key, it)| in_json(it, key, &format!("{pointer}/{key}"), near));
        }
        Value::Array(items) => {
            return items
                .iter()
                .enumerate()
                .find_map(|(i, it)| in_json(it, name, &format!("{pointer}/{i}"), near));
        }
        Value::String(it) => it.clone(),
        Value::Number(it) => it.to_string(),
        _ => return None,
    };
    near(name, &text).then(|| format!("body `{pointer}`"))
}

fn is_moment(name: &str, text: &str, today: i64) -> bool {
    let words: Vec<String> = words_of(name);
    let named = |list: &[&str]| words.iter().any(|it| list.contains(&it.as_str()));
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    if named(VERSIONS) || is_cache_buster(name, text) || (digits && !named(TIMES)) {
        return false;
    }
    parse_epoch_day(text).is_some_and(|it| (it - today).abs() <= NEAR)
}

/// `departureTime` and `departure_time` as words, lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for c in name.chars() {
        if c.is_ascii_uppercase() || !c.is_ascii_alphanumeric() {
            out.push(String::new());
        }
        if c.is_ascii_alphanumeric() {
            out.last_mut().into_iter().for_each(|it| it.push(c.to_ascii_lowercase()));
        }
    }
    out.retain(|it| !it.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-22.
    const TODAY: i64 = 20_779;

    #[test]
    fn times_of_the_recording() {
        // 2026-11-22.
        for (name, text, expected) in [
            ("from", "2026-11-22T10:00", true),
            ("departureTime", "2026-11-22T10:00:00+01:00", true),
            ("x", "2026-11-21", true),
            ("from", "1795305600", true),
            ("start_ms", "1795380843000", true),
            ("from", "2026-10-01", false),
            ("api-version", "2026-11-22", false),
            ("_", "1795380843000", false),
            ("id", "1795305600", false),
            ("from", "12", false),
        ] {
            assert_eq!(is_moment(name, text, TODAY), expected, "{name}={text}");
        }
    }
    #[test]
    fn a_day_over_three_segments() {
        let at = |path: &str| day_in_segments(path, TODAY);
        assert_eq!(at("arrivals/2026/11/23/oslo"), Some(1));
        assert_eq!(at("arrivals/2024/11/23/oslo"), None);
        assert_eq!(at("parts/2026/11/2345"), None);
    }
}
