//! Which requests serve measuring, advertising or caching rather than the page: by host, by words of the path, by query names.

use std::{collections::BTreeMap, sync::LazyLock};

use url::Url;

/// `host category` lines, sorted; see the head of the file.
const TRACKERS: &str = include_str!("trackers.txt");

pub const TRACKER_WORDS: &[&str] = &[
    "collect",
    "pixel",
    "beacon",
    "telemetry",
    "analytics",
    "track",
    "tracking",
    "rum",
    "metrics",
    "adsct",
    "impression",
    "impressions",
    "bid",
    "bids",
    "prebid",
    "gtm",
    "heartbeat",
    "stats_log",
    "csp_report",
    "logging",
    "logs",
    "errorlog",
];

/// Folders of files that are the same for everybody.
pub const STATIC_WORDS: &[&str] =
    &["static", "asset", "assets", "locales", "chunks", "build", "bundles", "fonts", "icons"];

/// Every word of a URL's path, short ones too.
pub fn path_words(url: &Url) -> Vec<String> {
    url.path()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|it| !it.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

/// What a listed host or a parent of it is in the business of.
pub fn tracker_category(host: &str) -> Option<&'static str> {
    static TABLE: LazyLock<BTreeMap<&'static str, &'static str>> = LazyLock::new(|| {
        TRACKERS
            .lines()
            .filter(|it| !it.starts_with('#'))
            .filter_map(|it| it.split_once(' '))
            .collect()
    });
    let mut rest = host;
    loop {
        if let Some(category) = TABLE.get(rest) {
            return Some(category);
        }
        rest = rest.split_once('.')?.1;
    }
}

pub fn is_telemetry(host: &str) -> bool {
    let listed = tracker_category(host).is_some();
    let first = host.split('.').next().unwrap_or("");
    listed
        || matches!(
            first,
            "metrics"
                | "telemetry"
                | "analytics"
                | "stats-collector"
                | "beacon"
                | "pixel"
                | "ads"
                | "tracking"
                | "tracker"
        )
}

/// Whether a word of the path is one that calls of trackers have.
pub fn is_tracker_path(url: &Url) -> bool {
    path_words(url).iter().any(|it| TRACKER_WORDS.contains(&it.as_str()))
}

/// Whether the path leads through a folder of files that are the same for everybody.
pub fn is_static_path(url: &Url) -> bool {
    path_words(url).iter().any(|it| STATIC_WORDS.contains(&it.as_str()))
}

/// `0.8273645123`, as `Math.random()` is written.
pub fn is_random_fraction(text: &str) -> bool {
    text.strip_prefix("0.")
        .is_some_and(|it| (10..=20).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_digit()))
}

/// Query names and values that only defeat caches (seed 1.3, phase A).
pub fn is_cache_buster(name: &str, value: &str) -> bool {
    const NAMES: &[&str] = &[
        "_",
        "_t",
        "t",
        "ts",
        "cb",
        "cachebust",
        "cachebuster",
        "nocache",
        "nonce",
        "rand",
        "random",
        "rnd",
        "timestamp",
        "cache",
        "time",
        "now",
        "_ts",
        "_dc",
        "dc",
        "_r",
    ];
    let name = name.to_ascii_lowercase();
    if is_random_fraction(value)
        && !matches!(name.as_str(), "lat" | "lon" | "lng" | "latitude" | "longitude" | "x" | "y")
    {
        return true;
    }
    let digits = value.chars().filter(char::is_ascii_digit).count();
    NAMES.contains(&name.as_str())
        && digits >= 6
        && value.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_busters() {
        assert!(is_cache_buster("_t", "1763762345123"));
        assert!(is_cache_buster("cb", "0.8273645123"));
        for (name, value) in
            [("t", "thread"), ("q", "1763762345123"), ("ts", "12"), ("page", "100000")]
        {
            assert!(!is_cache_buster(name, value), "{name}={value}");
        }
    }

    #[test]
    fn telemetry_by_host() {
        assert!(is_telemetry("www.google-analytics.com"));
        assert!(is_telemetry("metrics.tracker.test"));
        assert!(!is_telemetry("notgoogle-analytics.com"));
        assert!(!is_telemetry("api.github.com"));
    }
}
