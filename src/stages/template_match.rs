//! The second recording's request, read by the template made of the first.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::templating::makes;
use commis_recipe::{
    model::{BodyTemplate, Pair, RequestTemplate},
    template::{Template, escape},
};

/// Reads the second request's path and query.
fn read_address(
    template: &RequestTemplate,
    twin: &RequestTemplate,
    read: &mut dyn FnMut(String, &str, &str) -> Result<(), String>,
) -> Result<(), String> {
    let decode = |it: &str| {
        let path = Url::parse(it).map_or_else(|_| it.to_owned(), |it| it.path().to_owned());
        path.split('/')
            .map(|it| percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned())
            .collect::<Vec<_>>()
    };
    let path_of = |it: &str| {
        let rest = it.split_once("://").map_or(it, |it| it.1);
        rest.split_once('/').map_or(String::new(), |it| format!("/{}", it.1))
    };
    let ours: Vec<String> = path_of(&template.url)
        .split('/')
        .map(|it| percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned())
        .collect();
    let theirs = decode(&twin.url.replace("{{", "{").replace("}}", "}"));
    if ours.len() != theirs.len() {
        return Err("the path".to_owned());
    }
    for (i, (a, b)) in ours.iter().zip(&theirs).enumerate() {
        read(format!("path segment {i}"), a, &escape(b))?;
    }
    let host = Url::parse(&twin.url).ok().and_then(|it| it.domain().map(str::to_owned));
    if let (Some(ours), Some(theirs)) = (&template.host, host) {
        read("the host".to_owned(), ours, &escape(&theirs))?;
    }
    for (pair, it) in paired(&template.query, &twin.query) {
        read(format!("query `{}`", pair.name), &pair.value, &it.value)?;
    }
    Ok(())
}

/// The values that make the template into the second request. A parameter that is spelled by filters has the value that was
/// typed, if that makes the part. `passing` are values that may differ. `Err` names a part that differs without holding a
/// parameter.
pub fn read_back(
    template: &RequestTemplate,
    twin: &RequestTemplate,
    typed: &BTreeMap<String, String>,
    passing: &dyn Fn(&str, &str, &str) -> bool,
) -> Result<BTreeMap<String, String>, String> {
    let mut out = BTreeMap::new();
    let mut read = |part: String, template: &str, literal: &str| {
        if read_part(template, literal, typed, &mut out) || passing(&part, template, literal) {
            Ok(())
        } else {
            Err(part)
        }
    };
    // An address that an earlier answer gave is another each time.
    if template.address.is_none() {
        read_address(template, twin, &mut read)?;
    }
    // Those that the answer did not need are gone.
    for (name, it) in &template.headers {
        if let Some(other) = twin.headers.get(name) {
            read(format!("header `{name}`"), it, other)?;
        }
    }
    match (&template.body, &twin.body) {
        (Some(BodyTemplate::Form(a)), Some(BodyTemplate::Form(b))) => {
            for (pair, it) in paired(a, b) {
                read(format!("form field `{}`", pair.name), &pair.value, &it.value)?;
            }
        }
        (Some(BodyTemplate::Json(a)), Some(BodyTemplate::Json(b))) => {
            read_json(a, b, "", &mut read)?;
        }
        (Some(BodyTemplate::Text(a)), Some(BodyTemplate::Text(b))) => {
            read("the body".to_owned(), a, b)?;
        }
        _ => {}
    }
    Ok(out)
}

/// Pairs of one name, the first with the first, the second with the second.
fn paired<'a>(ours: &'a [Pair], theirs: &'a [Pair]) -> impl Iterator<Item = (&'a Pair, &'a Pair)> {
    ours.iter().enumerate().filter_map(|(i, pair)| {
        let before = ours[..i].iter().filter(|it| it.name == pair.name).count();
        Some((pair, theirs.iter().filter(|it| it.name == pair.name).nth(before)?))
    })
}

fn read_json(
    a: &Value,
    b: &Value,
    pointer: &str,
    read: &mut impl FnMut(String, &str, &str) -> Result<(), String>,
) -> Result<(), String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                if let Some(other) = b.get(key) {
                    read_json(value, other, &format!("{pointer}/{key}"), read)?;
                }
            }
            Ok(())
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .try_for_each(|(i, (x, y))| read_json(x, y, &format!("{pointer}/{i}"), read)),
        (Value::String(a), Value::String(b)) => read(format!("body `{pointer}`"), a, b),
        (Value::String(a), Value::Number(b)) => {
            read(format!("body `{pointer}`"), a, &b.to_string())
        }
        (a, b) if a == b => Ok(()),
        (Value::Number(a), Value::Number(b)) => {
            read(format!("body `{pointer}`"), &a.to_string(), &b.to_string())
        }
        _ => Err(format!("body `{pointer}`")),
    }
}

/// The text of a template without parameters.
pub fn literal_of(template: &str) -> Option<String> {
    let template = Template::parse(template).ok().filter(Template::is_literal)?;
    template.render(|_| Err::<String, ()>(())).ok()
}

/// One part: by what stands where the parameters are, else by what was typed.
fn read_part(
    template: &str,
    literal: &str,
    typed: &BTreeMap<String, String>,
    out: &mut BTreeMap<String, String>,
) -> bool {
    let Ok(parsed) = Template::parse(template) else { return false };
    let mut read = out.clone();
    if !parsed.has_filters() && read_text(template, literal, &mut read) {
        *out = read;
        return true;
    }
    let names: Vec<&str> = parsed.names().collect();
    let agrees = |name: &&str| match (typed.get(*name), out.get(*name)) {
        (Some(typed), Some(known)) => typed == known,
        (typed, _) => typed.is_some(),
    };
    let plain = literal.replace("{{", "{").replace("}}", "}");
    if names.is_empty()
        || !names.iter().all(agrees)
        || !makes(template, &|it| typed.get(it).cloned(), &plain)
    {
        return false;
    }
    out.extend(names.iter().filter_map(|it| Some(((*it).to_owned(), typed.get(*it)?.clone()))));
    true
}

/// Matches a template against a literal template text. Slots match anything.
fn read_text(template: &str, literal: &str, out: &mut BTreeMap<String, String>) -> bool {
    let Some((before, name, after)) = split_hole(template) else {
        return template == literal;
    };
    let Some(rest) = literal.strip_prefix(before) else { return false };
    if name.starts_with("slot_") && split_hole(after).is_none() {
        return rest.ends_with(after);
    }
    // Up to the literal text before the next hole; the last hole takes what its tail leaves.
    let (end, tail) = match split_hole(after) {
        Some(("", _, _)) => return false,
        Some((literal_between, _, _)) => match rest.find(literal_between) {
            Some(end) => (end, after),
            None => return false,
        },
        None => match rest.strip_suffix(after) {
            Some(value) => (value.len(), after),
            None => return false,
        },
    };
    let value = rest[..end].replace("{{", "{").replace("}}", "}");
    let same = name.starts_with("slot_")
        || *out.entry(name.to_owned()).or_insert_with(|| value.clone()) == value;
    same && read_text(tail, &rest[end..], out)
}

/// The first `{name}` that is not an escaped brace.
fn split_hole(template: &str) -> Option<(&str, &str, &str)> {
    let bytes = template.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'{' | b'}' if bytes.get(i + 1) == Some(&bytes[i]) => i += 2,
            b'{' => {
                let end = i + template[i..].find('}')?;
                return Some((&template[..i], &template[i + 1..end], &template[end + 1..]));
            }
            _ => i += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_stands_in_the_holes() {
        for (template, other, second) in [
            ("{q}", "sqlite", "sqlite"),
            ("city/{q}", "city/san-francisco", "san-francisco"),
            ("x {q} y", "x c d y", "c d"),
            ("{q} in:title {q}", "go in:title go", "go"),
        ] {
            let mut out = BTreeMap::new();
            assert!(read_text(template, other, &mut out), "{other}");
            assert_eq!(out["q"], second);
        }
        let mut out = BTreeMap::new();
        assert!(!read_text("literal", "other", &mut out));
        assert!(!read_text("a{q}b", "xyz", &mut out));
        assert!(!read_text("{q} in:title {q}", "go in:title rust", &mut BTreeMap::new()));
    }

    #[test]
    fn pairs_of_one_name_are_read_in_order() {
        let request = |pairs: &[(&str, &str)]| -> RequestTemplate {
            let query: Vec<Value> =
                pairs.iter().map(|it| serde_json::json!({"name": it.0, "value": it.1})).collect();
            serde_json::from_value(serde_json::json!({
                "method": "GET", "url": "http://a.test/p", "allowed_domains": ["a.test"], "query": query
            }))
            .unwrap()
        };
        let ours = request(&[("t", "{a}"), ("x", "1"), ("t", "{b}")]);
        let theirs = request(&[("t", "go"), ("t", "rust"), ("x", "1")]);
        let values = read_back(&ours, &theirs, &BTreeMap::new(), &|_, _, _| false).unwrap();
        assert_eq!((values["a"].as_str(), values["b"].as_str()), ("go", "rust"));
    }

    #[test]
    fn filtered_parts_are_made_of_what_was_typed() {
        let typed = BTreeMap::from([("q".to_owned(), "San Jose".to_owned())]);
        let check = |template: &str, literal: &str| {
            let mut out = BTreeMap::new();
            read_part(template, &escape(literal), &typed, &mut out).then(|| out["q"].clone())
        };
        assert_eq!(check("{q|slug}.html", "san-jose.html").as_deref(), Some("San Jose"));
        assert_eq!(check("{q|slug}.html", "santa-fe.html"), None);
        assert_eq!(
            check(r#"{{"a":1,"q":"{q|json}"}}"#, r#"{"q": "San Jose", "a": 1}"#).as_deref(),
            Some("San Jose")
        );
        assert_eq!(check(r#"{{"a":1,"q":"{q|json}"}}"#, r#"{"q": "San Jose", "a": 2}"#), None);
    }
}
