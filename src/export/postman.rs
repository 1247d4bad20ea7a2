//! A Postman collection (v2.1), which Bruno, Insomnia and Hoppscotch import, too. Values are variables of the collection; what
//! stands in an address or in JSON is written there as that place has it, because Postman puts it in as it is. No script but
//! one that looks at the status.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    ExportOutput,
    escaping::{self, comment},
    identifier, proof_line,
    refusal::{Refusal, RefusalCode},
    resolved_request::{Body, RequestParts, commis_only_reason, sample, values},
    task,
    variables::{VariableTable, render_template},
};
use commis_base::error::Result;
use commis_recipe::{
    model::{Auth, AuthKind, ParamType, Recipe},
    request::{is_raw, is_raw_in_value},
    template::{Filter, Template},
    values::{ValueLookup, Values},
};

const FILE: &str = "commis.postman_collection.json";
const SCHEMA: &str = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

pub fn write(
    recipes: &[Recipe],
    given: &BTreeMap<String, String>,
    out: &mut ExportOutput,
) -> Result<()> {
    let mut items: Vec<Value> = Vec::new();
    let mut spots = VariableTable::default();
    for recipe in recipes {
        let asked = RequestParts::from_recipe(recipe)?;
        let why = commis_only_reason(recipe)
            .or_else(|| asked.earlier_answer_slot("a collection without scripts"))
            .or_else(|| brace_obstacle(&asked));
        match (why, sample(recipe, given)) {
            (Some(why), _) | (None, Err(why)) => out.refuse(recipe, why),
            (None, Ok(sample)) => items.push(item(&asked, &values(recipe, &sample)?, &mut spots)),
        }
    }
    if items.is_empty() {
        return Ok(());
    }
    let variables: Vec<Value> =
        spots.all.iter().map(|it| json!({"key": it.0, "value": it.1, "type": "string"})).collect();
    let file = json!({
        "info": {
            "name": "Recipes of commis",
            "description": "Values stand in the collection's variables, in an address percent-encoded.",
            "schema": SCHEMA,
        },
        "item": items,
        "variable": variables,
    });
    out.push(FILE.to_owned(), serde_json::to_string_pretty(&file).unwrap_or_default() + "\n");
    Ok(())
}

/// `{{` begins a variable wherever it stands, and nothing escapes it.
fn brace_obstacle(asked: &RequestParts<'_>) -> Option<Refusal> {
    let has = |it: &Template| {
        it.pieces().any(
            |it| matches!(it, commis_recipe::template::Piece::Literal(it) if it.contains("{{")),
        )
    };
    let in_body = match &asked.body {
        Some(Body::Json(_)) | None => false,
        Some(Body::Form(all)) => all.iter().any(|it| has(&it.1)),
        Some(Body::Text(it)) => has(it),
    };
    (in_body || asked.headers.iter().any(|it| has(&it.1))).then(|| {
        let why = "it sends two braces, which mean a variable there";
        Refusal::new(RefusalCode::UnsendableRequest, why)
    })
}

fn item(asked: &RequestParts<'_>, values: &Values, spots: &mut VariableTable) -> Value {
    let recipe = asked.recipe;
    let prefix = identifier(&recipe.name);
    let mut named = |name: &str, text: Option<String>, encode: &dyn Fn(&str) -> String| {
        let text = text.map(|it| encode(&it)).unwrap_or_default();
        format!("{{{{{}}}}}", spots.name(&format!("{prefix}.{name}"), &text))
    };
    let mut segments: Vec<String> = Vec::new();
    for template in &asked.path {
        let it = render_template(template, values, escaping::encode_path, |name, text, _| {
            named(name, text, &escaping::encode_segment)
        });
        segments.push(it.unwrap_or_default());
    }
    let mut query: Vec<Value> = Vec::new();
    for (pair, template) in &asked.query {
        let it = render_template(
            template,
            values,
            |it| percent_encode(it, &pair.raw, is_raw),
            |name, text, _: &[Filter]| {
                named(name, text, &|it| percent_encode(it, &pair.raw, is_raw_in_value))
            },
        );
        if let Some(it) = it {
            query.push(json!({"key": percent_encode(&pair.name, &pair.raw, |it| is_raw(it) && it != '='), "value": it}));
        }
    }
    let as_is = |it: &str| it.to_owned();
    let mut headers: Vec<Value> = Vec::new();
    for (name, template) in &asked.headers {
        if let Some(it) =
            render_template(template, values, as_is, |name, text, _| named(name, text, &as_is))
        {
            headers.push(json!({"key": name, "value": it}));
        }
    }
    let body = match &asked.body {
        None => None,
        Some(Body::Form(all)) => {
            let mut each: Vec<Value> = Vec::new();
            for (pair, template) in all {
                let it = render_template(template, values, as_is, |name, text, _| {
                    named(name, text, &as_is)
                });
                if let Some(it) = it {
                    each.push(json!({"key": pair.name, "value": it, "type": "text"}));
                }
            }
            Some(json!({"mode": "urlencoded", "urlencoded": each}))
        }
        Some(Body::Json(it)) => {
            let raw = raw(it, recipe, values, &mut named).unwrap_or_default();
            Some(json!({"mode": "raw", "raw": raw, "options": {"raw": {"language": "json"}}}))
        }
        Some(Body::Text(it)) => {
            let raw = render_template(it, values, as_is, |name, text, _| named(name, text, &as_is));
            Some(
                json!({"mode": "raw", "raw": raw.unwrap_or_default(), "options": {"raw": {"language": "text"}}}),
            )
        }
    };
    let url = url(asked.origin, &segments, query);
    let mut request = json!({
        "method": recipe.request.method,
        "description": format!("{} ({}).", task(recipe), proof_line(recipe)),
        "header": headers,
        "url": url,
    });
    if let Some(body) = body {
        request["body"] = body;
    }
    if let Some(auth) = &recipe.auth {
        request["auth"] = key(auth);
    }
    json!({
        "name": comment(recipe.name.as_str()),
        "request": request,
        "event": [{"listen": "test", "script": {"type": "text/javascript",
            "exec": ["pm.test(\"it answers\", () => pm.response.to.have.status(200));"]}}],
    })
}

/// An address whole, and in the parts that the form wants.
fn url(origin: &str, segments: &[String], query: Vec<Value>) -> Value {
    let mut address = format!("{}{}", origin, segments.join("/"));
    let pairs: Vec<String> = query
        .iter()
        .map(|it| {
            format!(
                "{}={}",
                it["key"].as_str().unwrap_or_default(),
                it["value"].as_str().unwrap_or_default()
            )
        })
        .collect();
    if !pairs.is_empty() {
        address.push('?');
        address.push_str(&pairs.join("&"));
    }
    let (protocol, rest) = origin.split_once("://").unwrap_or(("https", origin));
    let (host, port) = rest
        .rsplit_once(':')
        .filter(|it| !it.1.contains(']'))
        .map_or((rest, None), |it| (it.0, Some(it.1)));
    let mut url = json!({
        "raw": address,
        "protocol": protocol,
        "host": host.split('.').collect::<Vec<_>>(),
        "path": segments.get(1..).unwrap_or_default(),
    });
    if let Some(port) = port {
        url["port"] = port.into();
    }
    if !query.is_empty() {
        url["query"] = query.into();
    }
    url
}

/// A key as the name of a variable that whoever sends it fills in.
fn key(auth: &Auth) -> Value {
    let value = format!("{{{{{}}}}}", auth.env);
    let one = |key: &str, value: &str| json!({"key": key, "value": value, "type": "string"});
    match (auth.kind, &auth.header, &auth.query) {
        (AuthKind::Bearer, ..) => json!({"type": "bearer", "bearer": [one("token", &value)]}),
        (AuthKind::Basic, ..) => json!({"type": "basic", "basic": [
            one("username", &format!("{{{{{}_USER}}}}", auth.env)),
            one("password", &format!("{{{{{}_PASSWORD}}}}", auth.env)),
        ]}),
        (AuthKind::ApiKey, header, query) => {
            let name = query.as_deref().or(header.as_deref()).unwrap_or("authorization");
            let place = if query.is_some() { "query" } else { "header" };
            json!({"type": "apikey", "apikey": [one("key", name), one("value", &value), one("in", place)]})
        }
    }
}

/// As a run encodes it, blanks in the way that every server reads.
fn percent_encode(text: &str, raw: &str, may: fn(char) -> bool) -> String {
    let mut buffer = [0; 4];
    text.chars()
        .map(|it| {
            if may(it) && raw.contains(it) {
                it.to_string()
            } else {
                escaping::encode_segment(it.encode_utf8(&mut buffer))
            }
        })
        .collect()
}

/// Makes a variable of a name and of what stands for it, written in some way.
type VariableNamer<'a> = dyn FnMut(&str, Option<String>, &dyn Fn(&str) -> String) -> String + 'a;

/// JSON with variables in it; `None` where a value was not given.
fn raw(
    value: &Value,
    recipe: &Recipe,
    values: &Values,
    named: &mut VariableNamer<'_>,
) -> Option<String> {
    match value {
        Value::String(it) => {
            let template = Template::parse(it).ok()?;
            if let Some(name) = template.single_name()
                && let ValueLookup::Given(bound) = values.get(name)
                && let Some(typed) = &bound.typed
                && recipe.parameters.iter().any(|it| it.name == name && it.kind != ParamType::Str)
            {
                return Some(named(name, Some(typed.to_string()), &|it| it.to_owned()));
            }
            let is_number = template.is_number();
            let it = render_template(&template, values, escape_json, |name, text, _| {
                named(name, text, &escape_json)
            })?;
            Some(if is_number { it } else { format!("\"{it}\"") })
        }
        Value::Array(all) => {
            let all: Vec<String> =
                all.iter().filter_map(|it| raw(it, recipe, values, named)).collect();
            Some(format!("[{}]", all.join(", ")))
        }
        Value::Object(all) => {
            let all: Vec<String> = all
                .iter()
                .filter_map(|(key, it)| {
                    Some(format!("\"{}\": {}", escape_json(key), raw(it, recipe, values, named)?))
                })
                .collect();
            Some(format!("{{{}}}", all.join(", ")))
        }
        it => Some(it.to_string()),
    }
}

/// The inside of a string of JSON, in which no variable begins.
fn escape_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].replace("{{", "\\u007b\\u007b")
}
