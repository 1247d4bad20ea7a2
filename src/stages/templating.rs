//! Puts parameters where typed values stand, at every level of encoding: in plain text, in JSON or a form that is itself the
//! text of a value, and in both at once. What stands around a value keeps its meaning, and so does the value.

use std::fmt::Write as _;

use serde_json::Value;
use url::form_urlencoded;

use commis_recipe::{
    model::ParamType,
    shape::is_part_of_word,
    template::{Filter, Template, escape},
};

/// A part of a request with parameters in it.
#[derive(Clone, Debug, PartialEq)]
pub struct WovenText {
    /// A template.
    pub text: String,
    pub found: Vec<FoundParameter>,
}

/// One parameter that was put in.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundParameter {
    pub name: String,
    /// What the parameter is set to for this example.
    pub value: String,
    pub kind: ParamType,
    /// What changed it on its way, if it was changed.
    pub chain: Vec<Filter>,
}

/// The changes that are taken for granted; any other must be proven by a second example.
pub const USUAL: &[&[Filter]] = &[&[Filter::Lower], &[Filter::Upper], &[Filter::Slug]];

/// Nested deeper than this is no request.
const MAX_LEVELS: usize = 3;
/// Stand for a parameter while the text around it is encoded; a text that holds them is left alone.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

enum Piece {
    Literal(String),
    Hole(usize, Vec<Filter>),
}

/// A literal text with each typed value (by name) replaced where it stands, changed by one of `chains` or not; `None` when
/// none of them does.
pub fn weave(literal: &str, typed: &[(&str, &str)], chains: &[&[Filter]]) -> Option<WovenText> {
    if literal.contains([OPEN, CLOSE]) {
        return None;
    }
    let mut found = Vec::new();
    let pieces = level(literal, (typed, chains), 0, &mut found);
    if found.is_empty() {
        return None;
    }
    let text = pieces
        .iter()
        .map(|it| match it {
            Piece::Literal(text) => escape(text),
            Piece::Hole(at, filters) => {
                let filters = filters.iter().map(|it| it.as_str());
                let parts: Vec<&str> =
                    std::iter::once(found[*at].name.as_str()).chain(filters).collect();
                format!("{{{}}}", parts.join("|"))
            }
        })
        .collect();
    Some(WovenText { text, found })
}

/// Whether a template makes that text of those values; inside JSON and forms the order and white space do not matter.
pub fn makes(template: &str, values: &impl Fn(&str) -> Option<String>, literal: &str) -> bool {
    let rendered =
        Template::parse(template).ok().and_then(|it| it.render(|it| values(it).ok_or(())).ok());
    rendered.is_some_and(|it| it == literal || same_inside(&it, literal, 0))
}

fn same_inside(a: &str, b: &str, depth: usize) -> bool {
    if depth >= MAX_LEVELS {
        return a == b;
    }
    match (json_of(a), json_of(b)) {
        (Some(a), Some(b)) => return same_json(&a, &b, depth),
        (None, None) => {}
        _ => return false,
    }
    match (form_of(a), form_of(b)) {
        (Some((x, a)), Some((y, b))) => {
            let pairs =
                |it: &str| form_urlencoded::parse(it.as_bytes()).into_owned().collect::<Vec<_>>();
            let (a, b) = (pairs(a), pairs(b));
            x == y
                && a.len() == b.len()
                && a.iter().zip(&b).all(|(a, b)| a.0 == b.0 && same_inside(&a.1, &b.1, depth + 1))
        }
        _ => a == b,
    }
}

fn same_json(a: &Value, b: &Value, depth: usize) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_json(a, b, depth))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_json(a, b, depth)))
        }
        (Value::String(a), Value::String(b)) => same_inside(a, b, depth + 1),
        _ => a == b,
    }
}

/// Typed values by name, and how they may have been changed.
type TypedWithChains<'a> = (&'a [(&'a str, &'a str)], &'a [&'a [Filter]]);

fn level(
    text: &str,
    typed: TypedWithChains<'_>,
    depth: usize,
    found: &mut Vec<FoundParameter>,
) -> Vec<Piece> {
    // A typed URL or phrase that is the whole value is taken apart no further.
    let whole = typed.0.iter().any(|it| it.1.to_lowercase() == text.to_lowercase());
    if depth < MAX_LEVELS && !whole {
        if let Some(mut value) = json_of(text) {
            let from = found.len();
            let mut holes = Vec::new();
            in_json(&mut value, typed, depth, found, &mut holes);
            if found.len() > from {
                return split(&value.to_string(), holes);
            }
            return vec![Piece::Literal(text.to_owned())];
        }
        if let Some((before, form)) = form_of(text) {
            return in_form(before, form, typed, depth, found);
        }
    }
    weave_plain(text, typed, found)
}

/// An object or list.
fn json_of(text: &str) -> Option<Value> {
    let is_open = text.trim_start().starts_with(['{', '[']);
    let value: Value = if is_open { serde_json::from_str(text).ok()? } else { return None };
    Some(value)
}

/// `a=1&b=2`, or a URL with such a query: what is before the pairs, and the pairs.
fn form_of(text: &str) -> Option<(&str, &str)> {
    let (before, form) = match text.find('?') {
        Some(at) if text.starts_with(['h', '/']) => text.split_at(at + 1),
        _ => text.split_at(0),
    };
    let is_name = |it: &str| {
        !it.is_empty() && it.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.[]%".contains(&b))
    };
    let pairs = form.split('&').all(|it| it.split_once('=').is_some_and(|(name, _)| is_name(name)));
    // `title=rust lang` is a phrase of some query language; a form has no blanks.
    let encoded = !form.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>'));
    (pairs && encoded && (form.contains('&') || form.contains('%') || !before.is_empty()))
        .then_some((before, form))
}

fn in_json(
    value: &mut Value,
    typed: TypedWithChains<'_>,
    depth: usize,
    found: &mut Vec<FoundParameter>,
    holes: &mut Vec<Piece>,
) {
    match value {
        Value::Array(all) => {
            for it in all {
                in_json(it, typed, depth, found, holes);
            }
        }
        Value::Object(all) => {
            for it in all.values_mut() {
                in_json(it, typed, depth, found, holes);
            }
        }
        Value::String(text) => {
            let from = found.len();
            let pieces = level(text, typed, depth + 1, found);
            if found.len() > from {
                let mut out = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Literal(text) => out.push_str(&text),
                        Piece::Hole(at, mut filters) => {
                            filters.push(Filter::Json);
                            let _ = write!(out, "{OPEN}{}{CLOSE}", holes.len());
                            holes.push(Piece::Hole(at, filters));
                        }
                    }
                }
                *text = out;
            }
        }
        Value::Number(number) => {
            if let Some(it) = as_number(number, typed.0, typed.1) {
                // `#` takes the quotes away again.
                *value = Value::String(format!("{OPEN}#{}{CLOSE}", holes.len()));
                holes.push(Piece::Hole(found.len(), it.chain.clone()));
                found.push(it);
            }
        }
        _ => {}
    }
}

/// The typed value that a JSON number is.
pub fn as_number(
    number: &serde_json::Number,
    typed: &[(&str, &str)],
    chains: &[&[Filter]],
) -> Option<FoundParameter> {
    let text = number.to_string();
    let kind = if number.is_f64() { ParamType::Float } else { ParamType::Int };
    let found = |it: &(&str, &str), kind, chain: &[Filter]| FoundParameter {
        name: it.0.to_owned(),
        value: it.1.to_owned(),
        kind,
        chain: chain.to_vec(),
    };
    if let Some(it) = typed.iter().find(|it| it.1 == text) {
        return Some(found(it, kind, &[]));
    }
    chains.iter().find_map(|chain| {
        let it = typed.iter().find(|it| changed(it.1, chain).as_deref() == Some(&*text))?;
        Some(found(it, ParamType::Str, chain))
    })
}

/// What a chain makes of a typed value, if it is another text.
pub fn changed(typed: &str, chain: &[Filter]) -> Option<String> {
    let out = chain.iter().fold(typed.to_owned(), |it, filter| filter.apply(&it));
    // One of one word is the word.
    let is_part = chain.iter().any(|it| it.word().is_some());
    let enough = !is_part || typed.split_whitespace().nth(1).is_some();
    (!out.is_empty() && out != typed && enough).then_some(out)
}

/// The pieces of a written JSON text in which holes stand by number.
fn split(text: &str, holes: Vec<Piece>) -> Vec<Piece> {
    let text = text.replace(&format!("\"{OPEN}#"), &format!("{OPEN}#"));
    let mut holes: Vec<Option<Piece>> = holes.into_iter().map(Some).collect();
    let mut out = Vec::new();
    let mut parts = text.split(OPEN);
    out.extend(parts.next().map(|it| Piece::Literal(it.to_owned())));
    for part in parts {
        let Some((number, rest)) = part.split_once(CLOSE) else { continue };
        let bare = number.strip_prefix('#');
        let at: Option<usize> = bare.unwrap_or(number).parse().ok();
        out.extend(at.and_then(|it| holes.get_mut(it)).and_then(Option::take));
        let rest = if bare.is_some() { rest.strip_prefix('"').unwrap_or(rest) } else { rest };
        out.push(Piece::Literal(rest.to_owned()));
    }
    out
}

fn in_form(
    before: &str,
    form: &str,
    typed: TypedWithChains<'_>,
    depth: usize,
    found: &mut Vec<FoundParameter>,
) -> Vec<Piece> {
    let mut out = vec![Piece::Literal(before.to_owned())];
    for (i, pair) in form.split('&').enumerate() {
        let joint = if i > 0 { "&" } else { "" };
        let decoded = form_urlencoded::parse(pair.as_bytes()).next().map(|it| it.1.into_owned());
        let from = found.len();
        let pieces = level(&decoded.unwrap_or_default(), typed, depth + 1, found);
        let name = pair.split('=').next().unwrap_or_default();
        if found.len() == from {
            out.push(Piece::Literal(format!("{joint}{pair}")));
            continue;
        }
        out.push(Piece::Literal(format!("{joint}{name}=")));
        out.extend(pieces.into_iter().map(|it| match it {
            Piece::Literal(text) => Piece::Literal(Filter::Url.apply(&text)),
            Piece::Hole(at, mut filters) => {
                filters.push(Filter::Url);
                Piece::Hole(at, filters)
            }
        }));
    }
    out
}

/// Each typed value in turn, in what the ones before left. All occurrences must be spelled alike.
fn weave_plain(
    text: &str,
    (typed, chains): TypedWithChains<'_>,
    found: &mut Vec<FoundParameter>,
) -> Vec<Piece> {
    let mut out = vec![Piece::Literal(text.to_owned())];
    for (name, typed) in typed {
        let literals: Vec<&str> = out
            .iter()
            .filter_map(|it| match it {
                Piece::Literal(it) => Some(it.as_str()),
                Piece::Hole(..) => None,
            })
            .collect();
        let Some(spelling) = spelling(&literals, typed, chains) else { continue };
        let hole = found.len();
        found.push(FoundParameter {
            name: (*name).to_owned(),
            value: spelling.value,
            kind: ParamType::Str,
            chain: spelling.filters.clone(),
        });
        out = out
            .into_iter()
            .flat_map(|it| match it {
                Piece::Literal(text) => cut(&text, &spelling.text, hole, &spelling.filters),
                hole @ Piece::Hole(..) => vec![hole],
            })
            .collect();
    }
    out
}

fn cut(text: &str, wanted: &str, hole: usize, filters: &[Filter]) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut at = 0;
    for range in occurrences(text, wanted) {
        out.push(Piece::Literal(text[at..range.start].to_owned()));
        out.push(Piece::Hole(hole, filters.to_vec()));
        at = range.end;
    }
    out.push(Piece::Literal(text[at..].to_owned()));
    out
}

/// How a typed value is spelled in a text.
struct Spelling {
    text: String,
    /// What makes that text of the value.
    filters: Vec<Filter>,
    /// What was typed, or the text where no filter makes it.
    value: String,
}

fn spelling(literals: &[&str], typed: &str, chains: &[&[Filter]]) -> Option<Spelling> {
    // `30.0` of `30` is a number, not a text with `30` in it.
    if let [whole] = literals
        && *whole != typed
        && let Some(chain) = chains.iter().find(|it| changed(typed, it).as_deref() == Some(*whole))
    {
        let text = (*whole).to_owned();
        return Some(Spelling { text, filters: chain.to_vec(), value: typed.to_owned() });
    }
    let mut loose = None;
    for form in forms(typed) {
        let mut all = literals
            .iter()
            .flat_map(|text| occurrences(text, &form).into_iter().map(|it| &text[it]));
        let Some(first) = all.next() else { continue };
        if all.any(|it| it != first) {
            return None;
        }
        let text = first.to_owned();
        let chain = chains.iter().find(|it| changed(typed, it).as_deref() == Some(&*text));
        if text == typed {
            return Some(Spelling { text, filters: Vec::new(), value: typed.to_owned() });
        }
        if let Some(it) = chain {
            return Some(Spelling { text, filters: it.to_vec(), value: typed.to_owned() });
        }
        loose = Some(Spelling { value: text.clone(), text, filters: Vec::new() });
        break;
    }
    let by_chain = || {
        chains.iter().filter(|it| **it != [Filter::Lower]).find_map(|chain| {
            let text = changed(typed, chain)?;
            let stands = literals.iter().any(|it| {
                let is_long = text.chars().count() >= LEAST_PART;
                *it == text
                    || (is_long && occurrences(it, &text).iter().any(|at| it[at.clone()] == text))
            });
            stands.then(|| Spelling { text, filters: chain.to_vec(), value: typed.to_owned() })
        })
    };
    loose.or_else(by_chain)
}

/// What was typed and changed must be so long to be found inside another text.
const LEAST_PART: usize = 4;

/// The value as typed, as a slug, and as paths and old-fashioned queries spell its spaces.
pub fn forms(typed: &str) -> Vec<String> {
    let mut out = vec![typed.to_owned(), Filter::Slug.apply(typed)];
    if typed.contains(' ') {
        out.extend(["-", "_", "+"].map(|it| typed.replace(' ', it)));
    }
    out.retain(|it| !it.is_empty());
    out
}

/// Byte ranges of whole-word matches, ignoring case; none where lower-casing changes lengths.
fn occurrences(text: &str, wanted: &str) -> Vec<std::ops::Range<usize>> {
    let (lower, wanted) = (text.to_lowercase(), wanted.to_lowercase());
    if lower.len() != text.len() || wanted.is_empty() {
        return Vec::new();
    }
    lower
        .match_indices(&wanted)
        .map(|(start, it)| start..start + it.len())
        .filter(|it| text.is_char_boundary(it.start) && text.is_char_boundary(it.end))
        .filter(|it| {
            let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let before = &text[..it.start];
            let begins = !word(before.chars().next_back()) || is_part_of_word(before, &wanted);
            begins && !word(text[it.end..].chars().next())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(literal: &str, typed: &[(&str, &str)]) -> Option<String> {
        weave(literal, typed, USUAL).map(|it| it.text)
    }

    /// The template, and that it makes the second text of the second value.
    fn check(literal: &str, typed: &str, template: &str, other: &str, second: &str) {
        let woven = weave(literal, &[("q", typed)], Filter::CHAINS).unwrap();
        assert_eq!(woven.text, template, "{literal}");
        let first = woven.found[0].value.clone();
        assert!(makes(template, &|_| Some(first.clone()), literal), "{literal}");
        assert!(makes(template, &|_| Some(other.to_owned()), second), "{second}");
        assert!(!makes(template, &|_| Some("else".to_owned()), second), "{second}");
    }

    #[test]
    fn every_level_is_escaped_as_it_needs() {
        check("rust", "rust", "{q}", "a{b", "a{b");
        check("title:rust", "rust", "title:{q}", "go", "title:go");
        check("issue12", "12", "issue{q}", "340", "issue340");
        assert!(weave("v12", &[("q", "12")], USUAL).is_none());
        check("rust lang in:title", "Rust Lang", "{q|lower} in:title", "Go", "go in:title");
        check("city/new-york", "New York", "city/{q|slug}", "San José", "city/san-josé");
        check(
            r#"{"q": "rust", "n": [1]}"#,
            "rust",
            r#"{{"q":"{q|json}","n":[1]}}"#,
            r#"a "b" \c"#,
            r#"{"q":"a \"b\" \\c","n":[1]}"#,
        );
        check(r#"{"year":1987}"#, "1987", r#"{{"year":{q}}}"#, "2003", r#"{"year":2003}"#);
        check(
            "query=rust%20lang&hitsPerPage=10",
            "rust lang",
            "query={q|url}&hitsPerPage=10",
            "a&b=c d",
            "query=a%26b%3Dc+d&hitsPerPage=10",
        );
        check(
            r#"{"requests":[{"params":"query=rust&page=0"}]}"#,
            "rust",
            r#"{{"requests":[{{"params":"query={q|url|json}&page=0"}}]}}"#,
            "a\"&b",
            r#"{"requests":[{"params":"query=a%22%26b&page=0"}]}"#,
        );
        check(
            "filters=%7B%22q%22%3A%22rust%22%7D&x=1",
            "rust",
            "filters=%7B%22q%22%3A%22{q|json|url}%22%7D&x=1",
            "a \"b\"",
            "filters=%7B%22q%22%3A%22a+%5C%22b%5C%22%22%7D&x=1",
        );
        check(
            "https://shop.test/s?q=rust&a=b",
            "rust",
            "https://shop.test/s?q={q|url}&a=b",
            "c++ & d",
            "https://shop.test/s?q=c%2B%2B%20%26%20d&a=b",
        );
    }

    #[test]
    fn values_changed_on_their_way() {
        check("Garden_hose", "garden hose", "{q|capital|underscore}", "red fern", "Red_fern");
        check("Garden Hose", "garden hose", "{q|title}", "red fern", "Red Fern");
        check("garden hose", " garden  hose ", "{q|trim}", "red  fern", "red fern");
        check("on:22.11.2026", "2026-11-22", "on:{q|date_dmy}", "2027-01-02", "on:02.01.2027");
        check("20261122", "2026-11-22", "{q|date_ymd}", "2027-01-02", "20270102");
        check("1795305600000", "2026-11-22", "{q|epoch_ms}", "1970-01-02", "86400000");
        check("30.0", "30", "{q|decimal1}", "45", "45.0");
        check("1234", "1,234", "{q|ungroup}", "5,600", "5600");
        check(r#"{"cents":1181}"#, "11.81", r#"{{"cents":{q|minor}}}"#, "9.5", r#"{"cents":950}"#);
        check("caf\u{e9}", "cafe\u{301}", "{q|nfc}", "the\u{300}", "th\u{e8}");
        check("hose", "garden hose", "{q|word2}", "red fern", "fern");
    }

    #[test]
    fn what_does_not_stand_is_not_woven() {
        for (literal, typed) in [
            ("trust", "rust"),
            ("Rust rust", "rust"),
            (r#"{"rust": 1}"#, "rust"),
            ("", "rust"),
            ("\u{e000}0\u{e001} rust", "rust"),
            ("rust", ""),
            (r#"{"n": 12}"#, "1"),
        ] {
            assert_eq!(text(literal, &[("q", typed)]), None, "{literal}");
        }
    }

    #[test]
    fn a_whole_value_is_one_value() {
        for typed in ["https://shop.test/p?id=5&x=1", "[1]", "a=1&b=2"] {
            assert_eq!(text(typed, &[("q", typed)]).unwrap(), "{q}");
        }
    }

    #[test]
    fn several_values_in_one_text() {
        let both = [("q", "rust"), ("city", "New York")];
        assert_eq!(text("q:rust in:new-york", &both).unwrap(), "q:{q} in:{city|slug}");
        assert_eq!(
            text("query=rust&city=New+York", &both).unwrap(),
            "query={q|url}&city={city|url}"
        );
    }
}
