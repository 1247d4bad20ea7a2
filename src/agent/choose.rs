//! From a sentence to a recipe, and from what was done for a sentence to one with parameters.

use std::collections::BTreeMap;

use serde_json::Value;

/// Names a parameter has where a field has none that would do.
const UNNAMED: &str = "query";

/// The values that make `sentence` of `template` ("Find books about {query}"), where there is one way to read it so.
pub fn values(template: &str, sentence: &str) -> Option<BTreeMap<String, String>> {
    let mut out = BTreeMap::new();
    let sentence = squeezed(sentence);
    let template = squeezed(template);
    let (mut rest, mut at) = (sentence.as_str(), template.as_str());
    loop {
        let Some(open) = at.find('{') else {
            return same(rest, at).then_some(out);
        };
        let head = &at[..open];
        rest = rest.get(..head.len()).filter(|it| same(it, head)).map(|_| &rest[head.len()..])?;
        let close = at[open..].find('}')? + open;
        let name = at[open + 1..close].to_owned();
        at = &at[close + 1..];
        // Up to the words that follow it, which must be there once.
        let next = &at[..at.find('{').unwrap_or(at.len())];
        let value = if next.is_empty() {
            if !at.is_empty() {
                return None;
            }
            rest
        } else {
            let (lower, wanted) = (rest.to_lowercase(), next.to_lowercase());
            if lower.len() != rest.len() {
                return None;
            }
            let found = if at == next { lower.rfind(&wanted)? } else { lower.find(&wanted)? };
            if at == next && found + wanted.len() != lower.len() {
                return None;
            }
            &rest[..found]
        };
        let plain = value.trim_matches(['"', '“', '”', '\'', ' ']);
        if plain.is_empty() || out.insert(name, plain.to_owned()).is_some() {
            return None;
        }
        rest = &rest[value.len()..];
    }
}

fn squeezed(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.trim_end_matches(['.', '!', '?', ' ']).to_owned()
}

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// What was typed or chosen in the steps and stands in the sentence becomes a parameter. Returns the sentence with `{name}` in
/// place of the values, and the values; `None` where nothing of it stands there.
pub fn parameters(sentence: &str, steps: &[Value]) -> Option<(String, BTreeMap<String, String>)> {
    let mut task = sentence.replace(['{', '}'], "");
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    let typed = steps.iter().filter_map(|it| {
        let it = it.get("fill").or_else(|| it.get("select"))?;
        let is_search = it["role"] == "searchbox";
        let field = if is_search { "" } else { it["name"].as_str().unwrap_or_default() };
        Some((it["value"].as_str()?, field))
    });
    for (value, field) in typed {
        // One letter stands in a sentence by chance.
        let is_long = value.chars().count() > 1 || value.bytes().all(|it| it.is_ascii_digit());
        if !is_long || value.is_empty() || out.values().any(|it| it == value) {
            continue;
        }
        let Some(at) = word_at(&task, value) else { continue };
        let mut name = slug(field);
        while out.contains_key(&name) {
            name.push_str("_2");
        }
        task.replace_range(at..at + value.len(), &format!("{{{name}}}"));
        out.insert(name, value.to_owned());
    }
    (!out.is_empty()).then_some((task, out))
}

/// Where a value stands in a text as words of its own.
fn word_at(text: &str, value: &str) -> Option<usize> {
    let lower = text.to_lowercase();
    if lower.len() != text.len() {
        return text.find(value);
    }
    let wanted = value.to_lowercase();
    let ends = |it: Option<char>| it.is_none_or(|it| !it.is_alphanumeric());
    lower.match_indices(&wanted).map(|it| it.0).find(|at| {
        wanted.len() == value.len()
            && ends(lower[..*at].chars().next_back())
            && ends(lower[at + wanted.len()..].chars().next())
    })
}

fn slug(field: &str) -> String {
    let lower = field.to_ascii_lowercase();
    let words = lower.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let out: Vec<&str> = words.take(2).collect();
    let out = out.join("_");
    let asks = ["search", "find", "filter", "query", "look"];
    let named = !asks.iter().any(|it| out.starts_with(it))
        && out.bytes().next().is_some_and(|it| it.is_ascii_alphabetic())
        && out.len() <= 24;
    if named { out } else { UNNAMED.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sentence_is_read_by_its_template() {
        let of = |template: &str, sentence: &str| {
            values(template, sentence).map(|it| {
                it.into_iter().map(|it| format!("{}={}", it.0, it.1)).collect::<Vec<_>>().join(",")
            })
        };
        for (template, sentence, expected) in [
            (
                "Find books about {query}",
                "find books  about Rust in action.",
                Some("query=Rust in action"),
            ),
            ("Find books about {query}", "Find films about rust", None),
            ("Find books about {query}", "Find books about", None),
            ("Fares from {from} to {to}", "Fares from Bern to Basel", Some("from=Bern,to=Basel")),
            (
                "Fares from {from} to {to}",
                "Fares from \"Bern\" to Basel",
                Some("from=Bern,to=Basel"),
            ),
            ("Weather in {city} tomorrow", "weather in New York tomorrow?", Some("city=New York")),
            ("Weather in {city} tomorrow", "weather in New York", None),
            ("{a}{b}", "xy", None),
            ("{a} and {a}", "x and x", None),
            ("Newest films", "newest films", Some("")),
            ("Newest films", "newest books", None),
        ] {
            assert_eq!(of(template, sentence).as_deref(), expected, "{template} {sentence}");
        }
    }

    #[test]
    fn what_was_typed_and_told_is_a_parameter() {
        let steps = [
            json!({"fill": {"role": "searchbox", "name": "Search", "value": "rust"}}),
            json!({"select": {"role": "combobox", "name": "Kind of fare", "value": "Adult"}}),
            json!({"fill": {"role": "textbox", "name": "Note", "value": "elsewhere"}}),
            json!({"press": "Enter"}),
        ];
        let (task, values) = parameters("Find books about Rust for an adult", &steps).unwrap();
        assert_eq!(task, "Find books about {query} for an {kind_of}");
        assert_eq!(values["query"], "rust");
        assert_eq!(values["kind_of"], "Adult");
        assert_eq!(parameters("Find trusty books", &steps[..1]), None);
        assert_eq!(parameters("The newest films", &steps), None);
    }
}
