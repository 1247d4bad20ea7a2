//! From a sentence to a recipe, and from what was done for a sentence to one with parameters.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use commis_base::error::Result;
use commis_model::{ChatModel, Tool, Turn};

/// Recipes that a model is asked to choose from.
pub const OFFERED: usize = 8;
const CHOOSE: &str = "choose_recipe";
const NONE: &str = "none";

/// A recipe that may be meant.
#[derive(Clone, Debug)]
pub struct Offer {
    pub name: String,
    pub task: String,
    pub parameters: Vec<String>,
}

/// A recipe that was chosen, with the values that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeChoice {
    pub name: String,
    pub params: BTreeMap<String, String>,
}

/// Which of these a sentence means, if any, by a model, and the tokens that it took. What it may say is one of their names, and values
/// that stand in the sentence as words of their own; all else is no choice. Fails with `MODEL_FAILED`.
pub async fn choose_recipe(
    chat_model: &dyn ChatModel,
    sentence: &str,
    given: &BTreeMap<String, String>,
    offers: &[Offer],
) -> Result<(Option<RecipeChoice>, u64)> {
    let offers = &offers[..offers.len().min(OFFERED)];
    let lines = offers
        .iter()
        .map(|it| json!({"name": it.name, "does": it.task, "takes": it.parameters}).to_string());
    let text = format!(
        "Which of these recipes does just what this task asks for?\nTask: {sentence:?}\nRecipes:\n{}",
        lines.collect::<Vec<_>>().join("\n")
    );
    let names: Vec<&str> = offers.iter().map(|it| it.name.as_str()).chain([NONE]).collect();
    let tool = Tool {
        name: CHOOSE.to_owned(),
        help: "Say which recipe it is, with its values as the task has them; none where it is none of them, or a value is missing."
            .to_owned(),
        input: json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "enum": names},
            "values": {"type": "object", "additionalProperties": {"type": "string"}}}}),
    };
    let system = "You choose among recipes. Call choose_recipe once. Choose none unless one clearly does what is asked for.";
    let spoken = chat_model.reply(system, &[Turn::User { text }], &[tool]).await?;
    let tokens = spoken.tokens_in + spoken.tokens_out;
    let said = spoken.calls.first().filter(|it| it.name == CHOOSE).map(|it| &it.arguments);
    Ok((said.and_then(|it| checked(it, sentence, given, offers)), tokens))
}

/// What a model said, where it is a choice.
fn checked(
    said: &Value,
    sentence: &str,
    given: &BTreeMap<String, String>,
    offers: &[Offer],
) -> Option<RecipeChoice> {
    let name = said.get("name")?.as_str()?;
    let offer = offers.iter().find(|it| it.name == name)?;
    let mut params = BTreeMap::new();
    for (name, value) in said.get("values").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str()?.trim();
        if !offer.parameters.contains(name) || value.is_empty() {
            return None;
        }
        let at = word_at(sentence, value).filter(|_| !given.contains_key(name));
        match at.and_then(|at| sentence.get(at..at + value.len())) {
            // As the person wrote it.
            Some(it) => _ = params.insert(name.clone(), it.to_owned()),
            None if given.get(name).is_some_and(|it| it == value) => {}
            None => return None,
        }
    }
    params.extend(given.clone());
    Some(RecipeChoice { name: name.to_owned(), params })
}

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
    use super::*;

    #[test]
    fn a_model_chooses_among_what_there_is_with_values_that_were_said() {
        let offers = [
            Offer {
                name: "find-books".into(),
                task: "Find books about {query}".into(),
                parameters: vec!["query".into(), "year".into()],
            },
            Offer { name: "list-tides".into(), task: "List tides".into(), parameters: vec![] },
        ];
        let check = |said: Value, given: &[(&str, &str)]| {
            let given = given.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
            let sentence = "I want something to read on Rust, from 2020";
            checked(&said, sentence, &given, &offers).map(|it| (it.name, it.params))
        };
        let books = |all: &[(&str, &str)]| {
            let all = all.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
            Some(("find-books".to_owned(), all))
        };
        let said = json!({"name": "find-books", "values": {"query": "rust", "year": "2020"}});
        assert_eq!(check(said, &[]), books(&[("query", "Rust"), ("year", "2020")]));
        let said = json!({"name": "find-books", "values": {"query": "rust"}});
        assert_eq!(check(said, &[("year", "1")]), books(&[("query", "Rust"), ("year", "1")]));
        assert_eq!(
            check(json!({"name": "list-tides"}), &[]),
            Some(("list-tides".to_owned(), BTreeMap::new()))
        );
        for (said, given) in [
            // Not said, a part of a word, of another recipe, no recipe, and nothing at all.
            (json!({"name": "find-books", "values": {"query": "beekeeping"}}), None),
            (json!({"name": "find-books", "values": {"query": "ust"}}), None),
            (json!({"name": "find-books", "values": {"query": ["rust"]}}), None),
            (json!({"name": "find-books", "values": {"author": "rust"}}), None),
            (json!({"name": "list-tides", "values": {"query": "rust"}}), None),
            (json!({"name": "none"}), None),
            (json!({"name": "delete-all"}), None),
            (json!({}), None),
            (json!("find-books"), None),
            // Another than was given.
            (json!({"name": "find-books", "values": {"query": "rust"}}), Some(("query", "go"))),
        ] {
            let given: Vec<_> = given.into_iter().collect();
            assert_eq!(check(said.clone(), &given), None, "{said}");
        }
    }

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
