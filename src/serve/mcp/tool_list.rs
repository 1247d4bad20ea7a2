//! Which tools a client is shown, and how each is defined.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError},
};

use rmcp::model::{JsonObject, Tool as McpTool, ToolAnnotations};
use serde::Serialize;
use serde_json::{Value, json};

use super::selection::{RecipeSelection, ToolSelection};
use crate::{
    Daemon,
    operations::{Kind, Operation, TABLE, ToolExposure},
    principal::{AccessRequirement, Principal},
    recipe_cache::CachedRecipe,
    task_database::Event,
};
use commis_base::error::Result;

/// Recipes that are tools for that caller, by name. Fails with `ARTIFACT_IO`.
pub fn recipes(
    daemon: &Daemon,
    principal: &Principal,
    wanted: &RecipeSelection,
) -> Result<Vec<Arc<CachedRecipe>>> {
    let mut all = daemon.recipes.all()?;
    all.retain(|it| {
        it.is_served() && principal.sees(it.recipe.name.as_str()) && it.tool().name.is_some()
    });
    match wanted {
        RecipeSelection::All => {}
        RecipeSelection::None => all.clear(),
        RecipeSelection::Tag(tag) => all.retain(|it| it.recipe.category.as_ref() == Some(tag)),
        RecipeSelection::Top(n) if all.len() <= *n => {}
        RecipeSelection::Top(n) => {
            let health = daemon.state.as_ref().ok().and_then(|it| it.all_health().ok());
            let runs: BTreeMap<(String, String), i64> = health
                .unwrap_or_default()
                .into_iter()
                .map(|it| ((it.name, it.source), it.ok))
                .collect();
            let used = |it: &Arc<CachedRecipe>| {
                let key = (it.recipe.name.to_string(), it.source.as_str().to_owned());
                runs.get(&key).copied().unwrap_or(0)
            };
            // The order of names where they are used alike, so that lists are alike.
            all.sort_by_key(|it| std::cmp::Reverse(used(it)));
            all.truncate(*n);
            all.sort_by(|a, b| a.recipe.name.cmp(&b.recipe.name));
        }
    }
    Ok(all)
}

/// The tools of that caller, in the order of the table, then recipes by name. Fails with `ARTIFACT_IO`.
pub fn tools(
    daemon: &Daemon,
    principal: &Principal,
    wanted: &ToolSelection,
) -> Result<Vec<McpTool>> {
    let mut out: Vec<McpTool> = rows(wanted)
        .filter(|(_, row)| {
            row.is_for(principal) || matches!(row.spec.tool, ToolExposure::Always(_))
        })
        .filter(|(_, row)| !picks_a_login(row, principal))
        .map(|(name, row)| of_row(name, row))
        .collect();
    for it in recipes(daemon, principal, &wanted.recipes)? {
        out.extend(of_recipe(&it));
    }
    Ok(out)
}

/// Whether it uses a login that nobody named to whoever asks: a model with everybody's rights does not choose whose it is.
pub fn picks_a_login(row: &Operation, principal: &Principal) -> bool {
    row.spec.need == AccessRequirement::Login && principal.scopes.is_none()
}

/// Whether the arguments name a login to learn or to run with, where nobody named one to whoever asks.
pub fn names_a_login(row: &Operation, args: &JsonObject, principal: &Principal) -> bool {
    let named = |name: &str| args.get(name).is_some_and(|it| !it.is_null());
    let uses =
        matches!(row.spec.name, "recipe_run" | "watch_add") || row.spec.name.ends_with("_learn");
    principal.scopes.is_none() && uses && (named("login") || named("second_login"))
}

/// Operations that are tools, under their tools' names.
pub fn rows(
    wanted: &ToolSelection,
) -> impl Iterator<Item = (&'static str, &'static Operation)> + use<> {
    let (all, browse) = (wanted.all, wanted.browse);
    TABLE.iter().filter_map(move |row| match row.spec.tool {
        ToolExposure::Always(name) => Some((name, row)),
        ToolExposure::All if all => Some((row.spec.name, row)),
        ToolExposure::Browse if browse => Some((row.spec.name, row)),
        ToolExposure::All | ToolExposure::Browse | ToolExposure::Never => None,
    })
}

pub fn object(it: &Value) -> Arc<JsonObject> {
    Arc::new(it.as_object().cloned().unwrap_or_default())
}

/// Arguments by which a person says something that is theirs to say: no model gives them.
const PERSONS: &[&str] = &["no_checkpoint"];

/// An argument that only a person gives, among those of a call.
pub fn persons(args: &JsonObject) -> Option<&'static str> {
    let is_given =
        |it: &&&str| args.get(**it).is_some_and(|it| it != &Value::Bool(false) && !it.is_null());
    PERSONS.iter().find(is_given).copied()
}

pub fn of_row(name: &'static str, row: &'static Operation) -> McpTool {
    let reads = row.spec.kind == Kind::Read;
    let mut input = Value::clone(&row.input);
    if let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !PERSONS.contains(&name.as_str()));
    }
    if let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut)
        && row.spec.length != crate::operations::ExecutionMode::Now
    {
        properties.insert(
            "idempotency_key".to_owned(),
            json!({"type": "string", "description": "The same key with the same input within a day is the same task.", "maxLength": 200}),
        );
    }
    let always = matches!(row.spec.tool, ToolExposure::Always(_));
    if always {
        brief(&mut input);
    } else {
        without_bounds(&mut input);
    }
    portable(&mut input, true);
    listed(&mut input);
    let mut out =
        McpTool::new(name, if always { row.spec.summary() } else { row.spec.help }, object(&input));
    if !always {
        let mut output = json!({
            "type": "object",
            "properties": {"data": outline(&row.output)},
        });
        portable(&mut output, false);
        out.output_schema = Some(object(&output));
    }
    let annotations = ToolAnnotations::new().read_only(reads);
    out.annotations = Some(if reads {
        annotations
    } else {
        annotations.destructive(row.spec.name == "recipe_delete")
    });
    out
}

/// Without descriptions: a list of tools is read by a model each time.
fn brief(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("description").is_some_and(Value::is_string) {
                fields.remove("description");
            }
            for it in ["default", "additionalProperties"] {
                if fields.get(it).is_some_and(|it| !it.is_object()) {
                    fields.remove(it);
                }
            }
            fields.values_mut().for_each(brief);
        }
        Value::Array(items) => items.iter_mut().for_each(brief),
        _ => {}
    }
}

/// Without bounds, defaults and what says that no other argument is taken: a call is checked anyway, and a list is read by a model each
/// time.
fn without_bounds(schema: &mut Value) {
    const BOUNDS: &[&str] = &[
        "default",
        "additionalProperties",
        "pattern",
        "maxLength",
        "minLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "format",
    ];
    let Value::Object(fields) = schema else { return };
    fields.retain(|key, it| !BOUNDS.contains(&key.as_str()) || it.is_object());
    if let Some(Value::String(it)) = fields.get_mut("description") {
        // The first sentence says what it is; the reference has the others.
        if let Some(end) = it.find(". ").filter(|end| *end >= 20) {
            it.truncate(end);
        }
        it.truncate(it.trim_end_matches('.').len());
    }
    for (key, it) in fields.iter_mut() {
        match (key.as_str(), it) {
            ("properties", Value::Object(all)) => all.values_mut().for_each(without_bounds),
            ("anyOf" | "oneOf", Value::Array(all)) => all.iter_mut().for_each(without_bounds),
            ("items" | "additionalProperties", it) => without_bounds(it),
            _ => {}
        }
    }
}

/// What an answer is made of, without its words: the fields of an object, and those of the items of a list, with their types. The OpenAPI
/// document has all of it. It is as true as the whole schema: it only says less.
fn outline(schema: &Value) -> Value {
    /// Fields that are listed of one object.
    const FIELDS: usize = 24;
    fn part(schema: &Value, deep: bool) -> Value {
        let mut out = serde_json::Map::new();
        if let Some(it) = schema.get("type") {
            out.insert("type".to_owned(), it.clone());
        }
        let known = schema["properties"].as_object().filter(|_| deep);
        if let Some(all) = known {
            let fields = all.iter().take(FIELDS).map(|(name, it)| (name.clone(), part(it, false)));
            out.insert("properties".to_owned(), Value::Object(fields.collect()));
        }
        if schema["type"] == "array" {
            let items =
                if schema["items"].is_object() { part(&schema["items"], false) } else { json!({}) };
            out.insert("items".to_owned(), items);
        }
        Value::Object(out)
    }
    part(schema, true)
}

/// An object whose properties are listed, also where there are none: some providers drop a tool without them.
fn listed(input: &mut Value) {
    if let Value::Object(fields) = input {
        fields.entry("type").or_insert_with(|| json!("object"));
        fields.entry("properties").or_insert_with(|| json!({}));
    }
}

/// In words that every provider of models takes: one `type` each, no bare `true`. What may be left out of an input is not also
/// said to be null.
fn portable(schema: &mut Value, is_input: bool) {
    let Value::Object(fields) = schema else {
        if *schema == Value::Bool(true) {
            *schema = json!({});
        }
        return;
    };
    let required = fields.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (keyword, it) in fields.iter_mut() {
        match (keyword.as_str(), it) {
            ("properties", Value::Object(all)) => {
                for (name, it) in all {
                    let null = json!("null");
                    if is_input
                        && !required.iter().any(|it| it == name)
                        && let Some(types) = it.get_mut("type").and_then(Value::as_array_mut)
                    {
                        types.retain(|it| *it != null);
                    }
                    if is_input
                        && let Some(values) = it.get_mut("enum").and_then(Value::as_array_mut)
                    {
                        values.retain(|it| !it.is_null());
                    }
                    portable(it, is_input);
                }
            }
            ("items", it) | ("additionalProperties", it @ Value::Object(_)) => {
                portable(it, is_input);
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => {
                for it in all {
                    portable(it, is_input);
                }
            }
            _ => {}
        }
    }
    if let Some(Value::Array(types)) = fields.get("type").cloned() {
        if let [one] = types.as_slice() {
            fields.insert("type".to_owned(), one.clone());
        } else {
            fields.remove("type");
            let any = types.iter().map(|it| json!({"type": it})).collect();
            fields.insert("anyOf".to_owned(), Value::Array(any));
        }
    }
}

/// A recipe as it is listed.
pub fn of_recipe(known: &CachedRecipe) -> Option<McpTool> {
    let it = known.tool();
    let mut out = McpTool::new(it.name.clone()?, it.description.clone(), object(&it.brief));
    out.output_schema = Some(object(&it.output));
    out.annotations = Some(ToolAnnotations::new().read_only(it.reads_only));
    Some(out)
}

/// What is another since it was last looked at.
#[derive(Default, Serialize)]
pub struct ToolChanges {
    added: Vec<String>,
    /// Name, digest before, digest now.
    changed: Vec<(String, String, String)>,
    removed: Vec<String>,
}

/// Whether an event says that the caller's list is another: nobody is told of recipes that are not theirs to see.
pub fn concerns(event: &Event, principal: &Principal) -> bool {
    if event.kind != "tools" {
        return false;
    }
    let of = |what: &str| event.data[what].as_array().into_iter().flatten();
    let mut names = of("added")
        .chain(of("removed"))
        .chain(of("changed").filter_map(|it| it.get(0)))
        .filter_map(Value::as_str)
        .peekable();
    let sees = |it: &str| it.strip_prefix("recipe_").is_some_and(|it| principal.sees(it));
    names.peek().is_none() || names.any(sees)
}

/// Compares the definitions of all tools with those of the time before, and pins them; `None` when all are alike.
pub async fn compare(daemon: &Arc<Daemon>) -> Option<ToolChanges> {
    let daemon = Arc::clone(daemon);
    tokio::task::spawn_blocking(move || {
        let all = recipes(&daemon, &Principal::root(), &RecipeSelection::All).ok()?;
        let now: BTreeMap<String, String> = all
            .iter()
            .filter_map(|it| Some((it.tool().name.clone()?, it.tool().digest.clone())))
            .collect();
        let before = {
            let mut listed = daemon.tool_digests.lock().unwrap_or_else(PoisonError::into_inner);
            listed.replace(now.clone())
        };
        let mut out = ToolChanges::default();
        for (name, digest) in &now {
            match daemon.database.pin(name, digest) {
                Ok(Some(old)) if old != *digest => {
                    tracing::warn!(
                        tool = name,
                        was = old,
                        now = digest,
                        "a tool is defined in another way"
                    );
                    out.changed.push((name.clone(), old, digest.clone()));
                }
                Ok(_) if before.as_ref().is_some_and(|it| !it.contains_key(name)) => {
                    out.added.push(name.clone());
                }
                Ok(_) => {}
                Err(err) => tracing::error!(error = %err, "a definition was not pinned"),
            }
        }
        let gone = before.iter().flat_map(BTreeMap::keys).filter(|it| !now.contains_key(*it));
        out.removed = gone.cloned().collect();
        let alike = out.added.is_empty() && out.changed.is_empty() && out.removed.is_empty();
        (!alike).then_some(out)
    })
    .await
    .ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_person_says_is_no_argument_of_a_model() {
        for row in rows(&ToolSelection { all: true, browse: true, recipes: RecipeSelection::None })
        {
            let tool = of_row(row.0, row.1);
            let text = json!(tool.input_schema).to_string();
            assert!(!PERSONS.iter().any(|it| text.contains(&format!("\"{it}\""))), "{text}");
        }
        let given = |it: Value| persons(it.as_object().unwrap());
        assert_eq!(given(json!({"no_checkpoint": true})), Some("no_checkpoint"));
        assert_eq!(given(json!({"no_checkpoint": "yes"})), Some("no_checkpoint"));
        assert_eq!(given(json!({"no_checkpoint": false, "task": "x"})), None);
    }

    #[test]
    fn what_is_listed_is_taken_by_every_provider() {
        let mut it = json!({
            "type": "object",
            "properties": {
                "a": {"type": ["string", "null"]},
                "b": {"type": ["string", "null"]},
                "c": {"type": "array", "items": true},
                "type": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
            },
            "required": ["b"],
        });
        portable(&mut it, true);
        let all = &it["properties"];
        assert_eq!(all["a"], json!({"type": "string"}));
        assert_eq!(all["b"], json!({"anyOf": [{"type": "string"}, {"type": "null"}]}));
        assert_eq!(all["c"]["items"], json!({}));
        let any = json!({"anyOf": [{"type": "string"}, {"type": "number"}]});
        assert_eq!(all["type"]["additionalProperties"], any);
        for row in rows(&ToolSelection { all: true, browse: true, recipes: RecipeSelection::None })
        {
            let tool = of_row(row.0, row.1);
            let text = json!([tool.input_schema, tool.output_schema]).to_string();
            assert!(!text.contains(r#""type":["#) && !text.contains(r#""items":true"#), "{text}");
        }
    }

    /// What a provider of models refuses in one tool costs a client all of them.
    #[test]
    fn an_input_is_a_plain_object_in_every_tool() {
        fn walk(it: &Value, at: &str) {
            for word in ["$ref", "$defs", "definitions"] {
                assert!(it.get(word).is_none(), "{at} has {word}");
            }
            let values = it["enum"].as_array();
            assert!(values.is_none_or(|all| all.iter().all(Value::is_string)), "{at}: {values:?}");
            if it["type"] == "array" {
                assert!(it["items"].is_object(), "{at} has no items");
                walk(&it["items"], at);
            }
            for (name, inner) in it["properties"].as_object().into_iter().flatten() {
                walk(inner, &format!("{at}.{name}"));
            }
            for inner in it["anyOf"].as_array().into_iter().flatten() {
                walk(inner, at);
            }
        }
        let all = ToolSelection { all: true, browse: true, recipes: RecipeSelection::None };
        let mut count = 0;
        for (name, row) in rows(&all) {
            let input = Value::Object((*of_row(name, row).input_schema).clone());
            assert_eq!(input["type"], "object", "{name}");
            let properties = input["properties"].as_object();
            let properties = properties.unwrap_or_else(|| panic!("{name} has no properties"));
            for it in input["required"].as_array().into_iter().flatten() {
                assert!(it.as_str().is_some_and(|it| properties.contains_key(it)), "{name}: {it}");
            }
            for word in ["anyOf", "oneOf", "allOf", "not", "enum"] {
                assert!(input.get(word).is_none(), "{name} has {word}");
            }
            walk(&input, name);
            count += 1;
        }
        assert!(count > 80, "{count}");
    }

    /// They are read by a model in every conversation.
    #[test]
    fn the_tools_that_are_always_there_are_small() {
        let all =
            rows(&ToolSelection { all: false, browse: false, recipes: RecipeSelection::None });
        let size: usize = all.map(|(name, row)| json!(of_row(name, row)).to_string().len()).sum();
        assert!(size <= 1536, "{size} bytes");
    }
}
