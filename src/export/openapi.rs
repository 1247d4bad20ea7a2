//! OpenAPI 3.1: a document for each origin, what is sent as parameters and bodies, and the whole answer's schema, which is had
//! by turning `extract` round.
//!
//! A path has each method once, so what is there already goes into a second document of that origin: nothing is lost.

use serde_json::{Map, Value, json};

use super::{
    ExportOutput,
    escaping::{self, comment},
    identifier, proof,
    resolved_request::{Body, RequestParts, commis_only_reason},
    task,
};
use commis_base::error::Result;
use commis_recipe::{
    json_schema::{answer_schema, data_schema, input_schema},
    model::{Auth, AuthKind, Pair, ParamType, Parameter, Recipe, ResponseType},
    template::{Filter, Piece, Template, apply_filters},
    values,
};

/// A document that is being made.
struct Document {
    origin: String,
    host: String,
    /// Which of its origin's, from 1.
    nth: usize,
    /// Paths without the names in them, and methods.
    taken: Vec<(String, String)>,
    paths: Map<String, Value>,
    tags: Vec<String>,
    schemes: Map<String, Value>,
    operations: usize,
}

/// Documents that are being made.
#[derive(Default)]
pub struct Documents(Vec<Document>);

impl Documents {
    /// Puts an operation into the first document of its origin where its path and method are free; returns which.
    pub fn add(&mut self, asked: &RequestParts<'_>, path: &str, operation: Value) -> usize {
        let documents = &mut self.0;
        let method = asked.recipe.request.method.to_ascii_lowercase();
        let bare = mask_names(path);
        let is_free = |it: &Document| {
            it.origin == asked.origin && !it.taken.iter().any(|it| it.0 == bare && it.1 == method)
        };
        let of_origin = documents.iter().filter(|it| it.origin == asked.origin).count();
        let at = documents.iter().position(is_free).unwrap_or_else(|| {
            documents.push(Document {
                origin: asked.origin.to_owned(),
                host: asked.host.clone(),
                nth: of_origin + 1,
                taken: Vec::new(),
                paths: Map::new(),
                tags: Vec::new(),
                schemes: Map::new(),
                operations: 0,
            });
            documents.len() - 1
        });
        documents[at].taken.push((bare, method.clone()));
        documents[at].add(asked.recipe, path, &method, operation);
        at
    }

    /// Names of files, and the documents.
    pub fn files(&self) -> Vec<(String, Value)> {
        self.0.iter().map(|it| (it.file(), it.text())).collect()
    }
}

pub fn write(recipes: &[Recipe], out: &mut ExportOutput) -> Result<()> {
    let mut documents = Documents::default();
    for recipe in recipes {
        let asked = RequestParts::from_recipe(recipe)?;
        let why = commis_only_reason(recipe).or_else(|| asked.earlier_answer_slot("OpenAPI"));
        if let Some(why) = why {
            out.refuse(recipe, why);
            continue;
        }
        let (path, operation) = operation(&asked);
        let at = documents.add(&asked, &path, operation);
        let document = &documents.0[at];
        if document.nth > 1 {
            out.notes.push(format!(
                "{} stands in {}: another recipe has {} {} of that host",
                recipe.name,
                document.file(),
                recipe.request.method,
                comment(&path)
            ));
        }
    }
    for (file, it) in documents.files() {
        let text = serde_json::to_string_pretty(&it).unwrap_or_default();
        out.push(file, text + "\n");
    }
    Ok(())
}

impl Document {
    /// `shop.example.json`, `http-shop.example-8080-2.json`.
    fn file(&self) -> String {
        let place = self.origin.strip_prefix("https://").unwrap_or(&self.origin);
        let place: String = place
            .replace("://", "-")
            .chars()
            .map(|it| if it.is_ascii_alphanumeric() || it == '.' { it } else { '-' })
            .collect();
        let nth = if self.nth > 1 { format!("-{}", self.nth) } else { String::new() };
        format!("{}{nth}.json", place.trim_matches(['-', '.']))
    }

    fn add(&mut self, recipe: &Recipe, path: &str, method: &str, mut operation: Value) {
        let tag = recipe.category.as_deref().map_or("other".to_owned(), comment);
        operation["tags"] = json!([tag]);
        if !self.tags.contains(&tag) {
            self.tags.push(tag);
        }
        if let Some(auth) = &recipe.auth {
            let name = scheme_name(auth);
            operation["security"] = json!([{&name: []}]);
            self.schemes.insert(name, scheme(auth));
        }
        let item = self.paths.entry(path.to_owned()).or_insert_with(|| json!({}));
        item[method] = operation;
        self.operations += 1;
    }

    fn text(&self) -> Value {
        let mut tags = self.tags.clone();
        tags.sort_unstable();
        let tags: Vec<Value> = tags
            .iter()
            .map(|it| json!({"name": it, "description": format!("Recipes of the category {it}")}))
            .collect();
        let mut out = json!({
            "openapi": "3.1.1",
            "info": {
                "title": self.host,
                "version": "1.0.0",
                "summary": format!("{} learned and exported by commis", match self.operations {
                    1 => "One request,".to_owned(),
                    n => format!("{n} requests,"),
                }),
            },
            "servers": [{"url": self.origin}],
            "tags": tags,
            "paths": self.paths,
        });
        if !self.schemes.is_empty() {
            out["components"] = json!({"securitySchemes": self.schemes});
        }
        out
    }
}

fn scheme_name(auth: &Auth) -> String {
    auth.env.to_ascii_lowercase()
}

fn scheme(auth: &Auth) -> Value {
    let mut out = match (auth.kind, &auth.header, &auth.query) {
        (AuthKind::Bearer, ..) => json!({"type": "http", "scheme": "bearer"}),
        (AuthKind::Basic, ..) => json!({"type": "http", "scheme": "basic"}),
        (AuthKind::ApiKey, _, Some(name)) => {
            json!({"type": "apiKey", "in": "query", "name": name})
        }
        (AuthKind::ApiKey, name, None) => json!({"type": "apiKey", "in": "header", "name": name}),
    };
    out["description"] = format!("The key is in ${}", auth.env).into();
    out["x-commis-env"] = auth.env.as_str().into();
    out
}

/// The path without what is between braces.
fn mask_names(path: &str) -> String {
    let mut out = String::new();
    let mut within = false;
    for it in path.chars() {
        match it {
            '{' => within = true,
            '}' => within = false,
            _ if within => continue,
            _ => {}
        }
        out.push(it);
    }
    out
}

/// Path and operation.
pub fn operation(asked: &RequestParts<'_>) -> (String, Value) {
    let recipe = asked.recipe;
    let mut parameters: Vec<Value> = Vec::new();
    let path = path(asked, &mut parameters);
    query(asked, &mut parameters);
    for (name, template) in &asked.headers {
        // These three are said elsewhere in a document, and ignored here.
        if matches!(*name, "accept" | "content-type" | "authorization") {
            continue;
        }
        let (schema, extra) = schema_of(recipe, template);
        parameters.push(parameter(name, "header", is_needed(recipe, template), schema, extra));
    }
    let mut out = json!({
        "operationId": identifier(&recipe.name),
        "summary": task(recipe),
        "externalDocs": {"url": recipe.source_url, "description": "The page that it was learned on"},
    });
    if !parameters.is_empty() {
        out["parameters"] = parameters.into();
    }
    if let Some(body) = body(asked) {
        out["requestBody"] = body;
    }
    out["responses"] =
        json!({"200": answer(recipe), "4XX": {"description": "The site refuses it"}});
    out["security"] = json!([]);
    out["x-commis-recipe"] = recipe.name.as_str().into();
    out["x-commis-task"] = comment(&recipe.task).into();
    out["x-commis-proof"] = proof(recipe);
    let response = &recipe.response;
    if let Some(it) = &response.extract {
        out["x-commis-extract"] = it.as_str().into();
    }
    if let Some(it) = response.framing {
        out["x-commis-framing"] = json!(it);
    }
    out["x-commis-data"] = data_schema(recipe, None);
    (path, out)
}

fn answer(recipe: &Recipe) -> Value {
    let response = &recipe.response;
    let mut out = json!({"description": "What the site answers"});
    let (kind, schema) = match response.kind {
        ResponseType::Json if response.framing.is_none() => match answer_schema(recipe) {
            Ok(it) => {
                if !it.open.is_empty() {
                    out["x-commis-open"] = json!(it.open);
                }
                ("application/json", it.schema)
            }
            Err(_) => ("application/json", json!({})),
        },
        ResponseType::Html => {
            out["x-commis-html"] = json!({
                "html": response.html, "embedded": response.embedded, "variable": response.variable,
            });
            ("text/html", json!({"type": "string"}))
        }
        _ => ("text/plain", json!({"type": "string"})),
    };
    out["content"] = json!({kind: {"schema": schema}});
    out
}

/// What the caller must give, or what was always sent.
fn is_needed(recipe: &Recipe, template: &Template) -> bool {
    template.names().all(|name| {
        let found = recipe.parameters.iter().find(|it| it.name == name);
        found.is_none_or(|it| it.required || it.default.is_some())
    })
}

fn parameter(
    name: &str,
    place: &str,
    required: bool,
    schema: Value,
    extra: Map<String, Value>,
) -> Value {
    let mut out = json!({"name": name, "in": place, "required": required, "schema": schema});
    if let Some(all) = out.as_object_mut() {
        all.extend(extra);
    }
    out
}

/// The path with `{name}` where values go; one value in two spellings has two names.
fn path(asked: &RequestParts<'_>, parameters: &mut Vec<Value>) -> String {
    let values = path_values(asked);
    for (shown, name, filters) in &values {
        let (schema, extra) = value_schema(asked.recipe, name, filters);
        parameters.push(parameter(shown, "path", true, schema, extra));
    }
    let shown = |piece: Piece<'_>| match piece {
        Piece::Literal(it) => escaping::encode_path(it),
        Piece::Value(name, filters) => {
            let found = values.iter().find(|it| it.1 == name && it.2 == filters);
            format!("{{{}}}", found.map_or(name, |it| it.0.as_str()))
        }
    };
    let segments: Vec<String> =
        asked.path.iter().map(|it| it.pieces().map(shown).collect()).collect();
    segments.join("/")
}

/// What stands in the path: the name there, the name of the value, and how it is spelled.
pub fn path_values(asked: &RequestParts<'_>) -> Vec<(String, String, Vec<Filter>)> {
    let mut out: Vec<(String, String, Vec<Filter>)> = Vec::new();
    for piece in asked.path.iter().flat_map(Template::pieces) {
        let Piece::Value(name, filters) = piece else { continue };
        if out.iter().any(|it| it.1 == name && it.2 == filters) {
            continue;
        }
        let mut shown = name.replace('.', "_");
        while out.iter().any(|it| it.0 == shown) {
            shown.push('_');
        }
        out.push((shown, name.to_owned(), filters.to_vec()));
    }
    out
}

/// A name that stands twice becomes one list, as validators want it.
fn query(asked: &RequestParts<'_>, parameters: &mut Vec<Value>) {
    let recipe = asked.recipe;
    let mut names: Vec<&str> = Vec::new();
    for (pair, _) in &asked.query {
        if !names.contains(&pair.name.as_str()) {
            names.push(&pair.name);
        }
    }
    for name in names {
        let all: Vec<&(&Pair, Template)> =
            asked.query.iter().filter(|it| it.0.name == name).collect();
        let is_raw = all.iter().any(|it| !it.0.raw.is_empty());
        let needed = all.iter().any(|it| is_needed(recipe, &it.1));
        let mut out = if let [(_, template)] = all[..] {
            let (schema, extra) = schema_of(recipe, template);
            parameter(name, "query", needed, schema, extra)
        } else {
            let each: Vec<Value> = all.iter().map(|it| schema_of(recipe, &it.1).0).collect();
            let least = all.iter().filter(|it| is_needed(recipe, &it.1)).count();
            let schema = json!({
                "type": "array", "prefixItems": each, "items": {"type": "string"}, "minItems": least,
            });
            parameter(name, "query", needed, schema, Map::new())
        };
        if is_raw {
            out["allowReserved"] = true.into();
        }
        parameters.push(out);
    }
}

/// What may stand where a template is, and what is told beside.
fn schema_of(recipe: &Recipe, template: &Template) -> (Value, Map<String, Value>) {
    let pieces: Vec<Piece<'_>> = template.pieces().collect();
    match pieces[..] {
        [Piece::Value(name, filters)] => value_schema(recipe, name, filters),
        [] => (json!({"type": "string", "const": ""}), Map::new()),
        [Piece::Literal(it)] => (json!({"type": "string", "const": it}), Map::new()),
        _ => {
            let mut extra = Map::new();
            let shown = pieces.iter().map(|it| match it {
                Piece::Literal(text) => (*text).to_owned(),
                Piece::Value(name, filters) => spelled_name(name, filters),
            });
            let shown = comment(&shown.collect::<String>());
            extra.insert("description".to_owned(), format!("Written as `{shown}`").into());
            (json!({"type": "string"}), extra)
        }
    }
}

fn spelled_name(name: &str, filters: &[Filter]) -> String {
    let parts: Vec<&str> =
        std::iter::once(name).chain(filters.iter().map(|it| it.as_str())).collect();
    format!("{{{}}}", parts.join("|"))
}

/// A value as it is sent. Examples are plain words and numbers; others would be words of a stranger's in a document that models
/// read.
pub fn value_schema(
    recipe: &Recipe,
    name: &str,
    filters: &[Filter],
) -> (Value, Map<String, Value>) {
    let mut extra = Map::new();
    let Some(it) = recipe.parameters.iter().find(|it| it.name == name) else {
        return (json!({"type": "string"}), extra);
    };
    let as_text = !filters.is_empty();
    let mut schema = if as_text {
        extra.insert(
            "description".to_owned(),
            format!("`{name}` written as `{}`", spelled_name(name, filters)).into(),
        );
        json!({"type": "string"})
    } else if it.constraints.map.is_empty() {
        input_schema(recipe)["properties"][name].clone()
    } else {
        sent_schema(it)
    };
    let fits = |text: &&String| commis_recipe::json_schema::is_plain_word(text);
    let examples: Vec<Value> = it
        .examples
        .iter()
        .filter(fits)
        .filter_map(|text| {
            let bound = values::coerce(it, text).ok()?;
            Some(match bound.typed {
                Some(typed) if !as_text => typed,
                _ => apply_filters(filters, &bound.text).into(),
            })
        })
        .collect();
    if let Some(all) = schema.as_object_mut() {
        all.remove("examples");
        if as_text
            && let Some(default) = &it.default
            && commis_recipe::json_schema::is_plain_word(default)
        {
            all.insert("default".to_owned(), apply_filters(filters, default).into());
        }
    }
    if !examples.is_empty() {
        let named: Map<String, Value> = examples
            .into_iter()
            .enumerate()
            .map(|(n, value)| ((n + 1).to_string(), json!({"value": value})))
            .collect();
        extra.insert("examples".to_owned(), named.into());
    }
    (schema, extra)
}

/// What is sent for the words of a choice.
fn sent_schema(it: &Parameter) -> Value {
    let kind = match it.kind {
        ParamType::Str => "string",
        ParamType::Int => "integer",
        ParamType::Float => "number",
        ParamType::Bool => "boolean",
    };
    let mut all: Vec<Value> = it
        .constraints
        .map
        .keys()
        .filter_map(|word| values::coerce(it, word).ok())
        .map(|it| it.typed.unwrap_or_else(|| it.text.into()))
        .collect();
    let mut seen = Vec::new();
    all.retain(|it| {
        let is_new = !seen.contains(it);
        seen.push(it.clone());
        is_new
    });
    json!({"type": kind, "enum": all})
}

fn body(asked: &RequestParts<'_>) -> Option<Value> {
    let recipe = asked.recipe;
    let kind = asked.headers.iter().find(|it| it.0 == "content-type");
    let kind = kind.and_then(|it| match it.1.pieces().next() {
        Some(Piece::Literal(text)) if it.1.is_literal() => Some(text.to_owned()),
        _ => None,
    });
    let kind = kind.unwrap_or_else(|| "application/octet-stream".to_owned());
    let schema = match asked.body.as_ref()? {
        Body::Json(it) => json_body(recipe, it),
        Body::Form(all) => {
            let mut properties = Map::new();
            let mut required: Vec<&str> = Vec::new();
            for (pair, template) in all {
                let schema = body_text_schema(recipe, template);
                // One name twice is a list.
                let schema = match properties.remove(&pair.name) {
                    None => schema,
                    Some(_) => json!({"type": "array", "items": {"type": "string"}}),
                };
                properties.insert(pair.name.clone(), schema);
                if is_needed(recipe, template) && !required.contains(&pair.name.as_str()) {
                    required.push(&pair.name);
                }
            }
            json!({"type": "object", "properties": properties, "required": required})
        }
        Body::Text(it) => body_text_schema(recipe, it),
    };
    Some(json!({"required": true, "content": {kind: {"schema": schema}}}))
}

/// A template's schema where examples can only stand within.
fn body_text_schema(recipe: &Recipe, template: &Template) -> Value {
    let (mut schema, extra) = schema_of(recipe, template);
    if let Some(all) = extra.get("examples").and_then(Value::as_object) {
        schema["examples"] = all.values().map(|it| it["value"].clone()).collect();
    }
    if let Some(it) = extra.get("description") {
        schema["description"] = it.clone();
    }
    schema
}

fn json_body(recipe: &Recipe, value: &Value) -> Value {
    match value {
        Value::Object(all) => {
            let properties: Map<String, Value> =
                all.iter().map(|(key, it)| (key.clone(), json_body(recipe, it))).collect();
            let is_needed = |it: &Value| match it {
                Value::String(text) => Template::parse(text).is_ok_and(|it| is_needed(recipe, &it)),
                _ => true,
            };
            let required: Vec<&String> =
                all.iter().filter(|it| is_needed(it.1)).map(|it| it.0).collect();
            json!({"type": "object", "properties": properties, "required": required})
        }
        Value::Array(all) if all.is_empty() => json!({"type": "array", "maxItems": 0}),
        Value::Array(all) => {
            let each: Vec<Value> = all.iter().map(|it| json_body(recipe, it)).collect();
            json!({"type": "array", "prefixItems": each, "items": {}})
        }
        Value::String(text) => match Template::parse(text) {
            Ok(it) => body_text_schema(recipe, &it),
            Err(_) => json!({"type": "string"}),
        },
        Value::Null => json!({"type": "null"}),
        it => json!({"const": it}),
    }
}
