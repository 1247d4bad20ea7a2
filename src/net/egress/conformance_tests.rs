//! The URL standard's own tests, through the parser calls that the policy makes, and what must hold of any URL.
//!
//! `urltestdata.json`, `toascii.json`: web-platform-tests. `psl_tests.txt`: the Public Suffix List's. None is part of the
//! repository.

use std::collections::BTreeSet;

use ::url::Url;
use proptest::prelude::*;
use serde_json::Value;

use super::{EgressPolicy, SafeUrl, site_of};
use commis_base::settings::EgressSettings;

fn vector_text(name: &str) -> Option<String> {
    let path = commis_base::testing::shared(&format!("vectors/{name}"))?;
    Some(std::fs::read_to_string(path).unwrap())
}

/// All but comments.
fn cases(name: &str) -> Option<Vec<Value>> {
    let all: Vec<Value> = serde_json::from_str(&vector_text(name)?).unwrap();
    let all: Vec<Value> = all.into_iter().filter(Value::is_object).collect();
    assert!(!all.is_empty());
    Some(all)
}

fn text<'a>(case: &'a Value, key: &str) -> Option<&'a str> {
    case.get(key).and_then(Value::as_str)
}

/// As [`super::url::parse`] and [`EgressPolicy::redirect`] do it.
fn parse(input: &str, base: Option<&str>) -> Option<Url> {
    match base {
        None => Url::parse(input).ok(),
        Some(base) => Url::parse(base).ok()?.join(input).ok(),
    }
}

/// First property in which the parse is not as expected.
fn find_deviation(case: &Value) -> Option<String> {
    use ::url::quirks;
    let url = parse(text(case, "input")?, text(case, "base"));
    if case["failure"] == true {
        return url.map(|it| format!("parses to {it}"));
    }
    let Some(url) = url else {
        return Some("does not parse".to_owned());
    };
    let got = [
        ("href", quirks::href(&url)),
        ("protocol", quirks::protocol(&url)),
        ("username", quirks::username(&url)),
        ("password", quirks::password(&url)),
        ("host", quirks::host(&url)),
        ("hostname", quirks::hostname(&url)),
        ("port", quirks::port(&url)),
        ("pathname", quirks::pathname(&url)),
        ("search", quirks::search(&url)),
        ("hash", quirks::hash(&url)),
    ];
    got.into_iter()
        .find(|(key, got)| text(case, key).is_some_and(|want| want != *got))
        .map(|(key, got)| format!("{key} is {got}"))
}

/// As the list of expected failures names a case.
fn label(case: &Value) -> String {
    let shown = |it: &str| {
        it.chars()
            .map(|c| match c {
                '\\' => "\\\\".to_owned(),
                '\n' => "\\n".to_owned(),
                '\r' => "\\r".to_owned(),
                '\t' => "\\t".to_owned(),
                c => c.to_string(),
            })
            .collect::<String>()
    };
    let input = shown(text(case, "input").unwrap_or(""));
    match text(case, "base") {
        None => format!("<{input}>"),
        Some(base) => format!("<{input}> against <{}>", shown(base)),
    }
}

/// Whether the deviation cannot lead a request astray: the policy refuses the URL altogether (the parser knows no such label,
/// the scheme is not ours), or what differs is how a `^` in a path is written, which the standard escapes since 2025.
fn harmless(case: &Value, policy: &EgressPolicy) -> bool {
    let Some(url) = parse(text(case, "input").unwrap(), text(case, "base")) else {
        return text(case, "href").is_some_and(|it| it.contains("xn--"));
    };
    let escaped = url.as_str().split(['?', '#']).next().unwrap().replace('^', "%5E");
    let front = |it: &str| it.split(['?', '#']).next().unwrap().to_owned();
    policy.judge(url.as_str()).is_err() && !matches!(url.scheme(), "http" | "https")
        || text(case, "href").is_some_and(|it| url.as_str().contains('^') && front(it) == escaped)
}

#[test]
fn urls_are_read_as_the_standard_says() {
    let (Some(all), Some(known)) =
        (cases("urltestdata.json"), vector_text("urltestdata.expected_failures.txt"))
    else {
        return;
    };
    let known: BTreeSet<&str> = known.lines().collect();
    let policy = lenient();
    let failed: Vec<(String, String, bool)> = all
        .iter()
        .filter_map(|it| Some((label(it), find_deviation(it)?, harmless(it, &policy))))
        .filter(|it| !known.contains(it.0.as_str()))
        .collect();
    println!("{} cases, beyond the list: {failed:#?}", all.len());
    assert!(failed.iter().all(|it| it.2), "{failed:#?}");
}

/// Of anything the policy lets through: its text is let through, and is the same.
fn check_idempotent(policy: &EgressPolicy, input: &str) -> Option<SafeUrl> {
    let url = policy.judge(input).ok()?;
    match policy.judge(url.as_str()) {
        Ok(again) => assert_eq!(again, url, "{input:?}"),
        Err(err) => panic!("{input:?} was allowed as {}, which is not: {err}", url.as_str()),
    }
    assert_eq!(policy.check(input).unwrap(), url, "{input:?}");
    Some(url)
}

fn lenient() -> EgressPolicy {
    EgressPolicy::new(&EgressSettings {
        test_hosts: vec!["*.test=127.0.0.1:8123".to_owned()],
        allowed_ports: vec![8080, 8443],
        ..EgressSettings::default()
    })
    .unwrap()
}

#[test]
fn what_is_allowed_is_allowed_as_it_would_be_sent() {
    let policy = lenient();
    for (url, want) in [
        (format!("https://example.com/{}", "x".repeat(32_000)), true),
        (format!("https://example.com/{}", "x".repeat(33_000)), false),
        // Escaped, three times as long.
        (format!("https://example.com/{}", "ä".repeat(9_000)), false),
        // A name to the standard, an address without one of the dots.
        ("http://8.8.8.8../".to_owned(), false),
    ] {
        assert_eq!(policy.check(&url).is_ok(), want, "{}", &url[..30.min(url.len())]);
    }
}

#[test]
fn canonical_urls_are_their_own() {
    let Some(all) = cases("urltestdata.json") else {
        return;
    };
    let policy = lenient();
    let mut allowed = 0;
    for case in &all {
        let (input, base) = (text(case, "input").unwrap(), text(case, "base"));
        allowed += usize::from(check_idempotent(&policy, input).is_some());
        // What a redirect there would lead to.
        if let Some(from) = base.and_then(|it| policy.judge(it).ok())
            && let Ok(to) = policy.redirect(&from, input, &[])
        {
            check_idempotent(&policy, to.as_str()).unwrap();
            assert_eq!((to.host(), to.scheme()), (from.host(), from.scheme()), "{input:?}");
            allowed += 1;
        }
        // What parses is told apart the same way when it is read again.
        if let Some(url) = parse(input, base) {
            let (once, twice) = (policy.judge(url.as_str()), Url::parse(url.as_str()));
            assert_eq!(twice.as_ref(), Ok(&url), "{input:?}");
            assert_eq!(once.is_ok(), check_idempotent(&policy, url.as_str()).is_some());
        }
    }
    assert!(allowed > 0);
}

#[test]
fn names_become_ascii_as_the_standard_says() {
    let Some(all) = cases("toascii.json") else {
        return;
    };
    let policy = lenient();
    for case in &all {
        let input = text(case, "input").unwrap();
        // As the test's own harness: characters that end a host are encoded.
        let host: String = input
            .chars()
            .map(|c| match c {
                ':' | '/' | '?' | '#' | '\\' => format!("%{:02X}", u32::from(c)),
                c => c.to_string(),
            })
            .collect();
        let url = format!("https://{host}/x");
        let parsed = Url::parse(&url).ok();
        let got = parsed.as_ref().and_then(Url::host_str);
        // `xn--` before what is no Punycode is a name to the standard, and none to the parser: refused is safe.
        if got.is_some() || !input.to_ascii_lowercase().contains("xn--") {
            assert_eq!(got, text(case, "output"), "{input:?}");
        }
        if let Some(safe) = check_idempotent(&policy, &url) {
            assert_eq!(Some(safe.host()), got.map(|it| it.trim_end_matches('.')), "{input:?}");
        }
    }
}

#[test]
fn sites_are_the_public_suffix_lists() {
    let Some(list) = vector_text("psl_tests.txt") else {
        return;
    };
    let mut n = 0;
    for line in list.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [input, want] = words[..] else { continue };
        if input.starts_with("//") || input == "null" {
            continue;
        }
        if input.starts_with('.') {
            assert!(lenient().judge(&format!("http://{input}/")).is_err(), "{line}");
            continue;
        }
        // A name that is a suffix itself is its own site, here.
        let own =
            |it: &str| Url::parse(&format!("http://{it}/")).unwrap().host_str().unwrap().to_owned();
        let want = if want == "null" { own(input) } else { own(want) };
        assert_eq!(site_of(&format!("http://{input}/")), want, "{line}");
        n += 1;
    }
    assert!(n > 0);
}

/// Hosts, some of which are written in ways that mean another one.
fn host() -> impl Strategy<Value = String> {
    let label = "[a-zA-Z0-9ßäａ｡\u{200d}_-]{1,6}";
    prop_oneof![
        prop::collection::vec(label, 1..4).prop_map(|it| it.join(".")),
        prop::collection::vec("(0x)?[0-9a-f]{1,9}|%[2-7][0-9a-f]", 1..5)
            .prop_map(|it| it.join(".")),
        "\\[[0-9a-f:.]{2,20}\\]",
        Just("a.example.com".to_owned()),
        Just("b.example.com".to_owned()),
        Just("shop.test".to_owned()),
    ]
}

fn address() -> impl Strategy<Value = String> {
    let tail = "[/?#\\\\.%2eA-Cäß@: \t]{0,12}";
    let front = prop_oneof![
        Just("http://"),
        Just("https://"),
        Just("//"),
        Just("HTTPS:/"),
        Just("/"),
        Just(""),
        Just("http://u@"),
        Just("https://:@"),
        Just("ws://"),
        Just("javascript:"),
    ];
    (front, host(), "(\\.{0,3})", "(:[0-9]{0,5})?", tail)
        .prop_map(|(front, host, dots, port, tail)| format!("{front}{host}{dots}{port}{tail}"))
}

proptest! {
    #[test]
    fn any_allowed_url_is_canonical(input in address()) {
        check_idempotent(&lenient(), &input);
    }

    #[test]
    fn a_redirect_stays_where_it_may(location in address()) {
        let policy = lenient();
        let from = policy.check("https://a.example.com/x/y?z").unwrap();
        if let Ok(to) = policy.redirect(&from, &location, &["b.example.com".to_owned()]) {
            check_idempotent(&policy, to.as_str()).unwrap();
            prop_assert_eq!(to.scheme(), "https");
            prop_assert!(matches!(to.host(), "a.example.com" | "b.example.com"), "{}", to.host());
        }
        if let Ok(to) = policy.redirect(&from, &location, &[]) {
            prop_assert_eq!(to.host(), "a.example.com");
        }
    }
}
