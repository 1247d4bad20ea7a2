//! The table as an OpenAPI 3.1 document.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::{
    answer::{ApiError, Meta},
    har_uploads,
    operations::{
        ExecutionMode, HttpMethod, Operation, TABLE, output_schema, properties, requires, without,
    },
    task_database::TaskView,
    upload::HarUpload,
};

static DOCUMENT: LazyLock<Value> = LazyLock::new(build_document);

/// The document; the same for everybody.
pub fn document() -> &'static Value {
    &DOCUMENT
}

fn build_document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for row in TABLE.iter() {
        let Some((verb, path)) = row.spec.routes.first() else { continue };
        let at = paths.entry((*path).to_owned()).or_insert_with(|| json!({}));
        at[verb.as_str()] = operation(row, *verb);
    }
    for (path, name, summary, task) in [
        ("/api/events", "events", "Events of everything, as they come", false),
        (
            "/api/tasks/{task_id}/events",
            "task_events",
            "Events of a task, from its beginning",
            true,
        ),
    ] {
        paths.insert(path.to_owned(), events(name, summary, task));
    }
    paths.insert(har_uploads::PATH.to_owned(), upload());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "commis",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The daemon of commis: recipes learned from web sites, run in milliseconds. Every answer is `{ok, data, meta}` or `{ok: false, error}`.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [
            {"name": "recipes", "description": "Recipes: found, described, run, looked after."},
            {"name": "learning", "description": "Learning new recipes."},
            {"name": "browse", "description": "Pages that stay: opened, read, acted on, learned from."},
            {"name": "tasks", "description": "What takes longer than two seconds."},
            {"name": "daemon", "description": "The daemon about itself."},
        ],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Error": output_schema::<ApiError>(),
                "Meta": output_schema::<Meta>(),
                "Task": output_schema::<TaskView>(),
            },
            "responses": {
                "Refused": {
                    "description": "It came to nothing; the code says why.",
                    "content": {"application/json": {"schema": {
                        "type": "object",
                        "required": ["ok", "error"],
                        "properties": {
                            "ok": {"const": false},
                            "error": {"$ref": "#/components/schemas/Error"},
                        },
                    }}},
                },
                "Accepted": {
                    "description": "It is a task that goes on.",
                    "headers": {"Location": {"description": "Where it stands.", "schema": {"type": "string"}}},
                    "content": {"application/json": {"schema": answer(&json!({"$ref": "#/components/schemas/Task"}))}},
                },
            },
        },
    })
}

fn answer(data: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["ok", "data", "meta"],
        "properties": {
            "ok": {"const": true},
            "data": data,
            "meta": {"$ref": "#/components/schemas/Meta"},
        },
    })
}

fn tag(row: &Operation) -> &'static str {
    match row.spec.name {
        it if it.starts_with("task_") => "tasks",
        "recipe_learn" | "recipe_candidates" | "recipe_create_from_candidate" => "learning",
        "run" | "research" => "recipes",
        it if it.starts_with("recipe_") => "recipes",
        it if it.starts_with("browse_") || it.starts_with("session_") => "browse",
        _ => "daemon",
    }
}

fn operation(row: &Operation, verb: HttpMethod) -> Value {
    let in_path: Vec<&str> = row.in_path().collect();
    let known = properties(&row.input);
    let mut parameters = Vec::new();
    for (name, schema) in &known {
        let is_path = in_path.contains(&name.as_str());
        if !is_path && verb == HttpMethod::Post {
            continue;
        }
        let mut schema = without_null(schema);
        let description = schema.as_object_mut().and_then(|it| it.remove("description"));
        let mut it = json!({
            "name": name,
            "in": if is_path { "path" } else { "query" },
            "required": is_path || requires(&row.input, name),
            "schema": schema,
        });
        if let Some(text) = description {
            it["description"] = text;
        }
        parameters.push(it);
    }
    let lines: Vec<&str> = row.spec.help.lines().collect();
    let mut out = json!({
        "operationId": row.spec.name,
        "summary": row.spec.summary().trim_end_matches('.'),
        "description": lines.join(" "),
        "tags": [tag(row)],
        "responses": {
            "200": {
                "description": "Done.",
                "content": {"application/json": {"schema": answer(&row.output)}},
            },
        },
    });
    out["responses"] = refusals(row.spec.name, verb, out["responses"].take());
    if row.spec.length != ExecutionMode::Now {
        out["responses"]["202"] = json!({"$ref": "#/components/responses/Accepted"});
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "The same key with the same input within a day is the same task.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 200},
        }));
    }
    if row.spec.length == ExecutionMode::Run {
        parameters.push(json!({
            "name": "Prefer", "in": "header", "required": false,
            "description": "`respond-async`: a task at once, without two seconds of waiting.",
            "schema": {"type": "string"},
        }));
    }
    if row.spec.length == ExecutionMode::Task {
        let responses = out["responses"].as_object_mut();
        responses.and_then(|it| it.remove("200"));
    }
    if !parameters.is_empty() {
        out["parameters"] = json!(parameters);
    }
    if verb == HttpMethod::Post {
        let body = without(&row.input, &in_path);
        let needed = body.get("required").is_some();
        out["requestBody"] =
            json!({"required": needed, "content": {"application/json": {"schema": body}}});
    }
    out
}

/// The responses of an operation, with what it can be refused with by number: what any request can, and what its own codes come to
/// (`answer::status`). What is not named is wrong with the daemon.
fn refusals(name: &str, verb: HttpMethod, mut responses: Value) -> Value {
    let own: &[u16] = match name {
        "recipe_run" | "run" | "research" | "task_result" => &[409, 410, 422, 424],
        "recipe_get" | "recipe_explain" | "recipe_export" | "recipe_delete" | "reload"
        | "har_upload" => &[422],
        "recipe_dry_run" => &[422, 424],
        "recipe_fork" | "recipe_learn" | "recipe_verify" | "recipe_heal" => &[409, 422],
        "recipe_create_from_candidate" => &[409],
        "recipe_candidates" | "remote_on" => &[424],
        it if it.starts_with("browse_") => &[409, 422, 424],
        "session_record" | "session_end" | "session_replay" | "session_fork" => {
            &[404, 409, 422, 424]
        }
        it if it.starts_with("session_") => &[404, 409],
        _ => &[],
    };
    // 404: on the remote listener what a token's scopes do not name is not there.
    let any: &[u16] = &[400, 401, 403, 404, 429];
    let of_bodies: &[u16] = if verb == HttpMethod::Post { &[408, 413, 415] } else { &[] };
    let mut all = [any, own, of_bodies].concat();
    all.sort_unstable();
    for it in all {
        responses[it.to_string()] = json!({"$ref": "#/components/responses/Refused"});
    }
    responses["default"] = json!({"$ref": "#/components/responses/Refused"});
    responses
}

/// Of an argument that stands in an address: it is text there, or absent, and `null` is four letters.
fn without_null(schema: &Value) -> Value {
    let mut out = schema.clone();
    for word in ["type", "enum", "anyOf"] {
        let Some(all) = out.get_mut(word).and_then(Value::as_array_mut) else { continue };
        all.retain(|it| !(it.is_null() || it == "null" || it["type"] == "null"));
        let [one] = all.as_slice() else { continue };
        let one = one.clone();
        match (one, out.as_object_mut()) {
            (Value::Object(one), Some(out)) => {
                out.remove(word);
                for (name, it) in one {
                    out.entry(name).or_insert(it);
                }
            }
            (one, Some(out)) if word == "type" => {
                out.insert(word.to_owned(), one);
            }
            _ => {}
        }
    }
    out
}

fn upload() -> Value {
    let done = json!({
        "200": {
            "description": "It is held.",
            "content": {"application/json": {"schema": answer(&output_schema::<HarUpload>())}},
        },
    });
    json!({"post": {
        "operationId": "har_upload",
        "summary": "Hand over a HAR file to learn from",
        "description": "The body is the file, at most 64 MiB. It is held in memory alone, for the caller and for 15 minutes after its last use; `upload` of `recipe_learn` names it. Only the redacted recording comes to disk. For the root token and the dashboard.",
        "tags": ["learning"],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {
            "type": "object",
            "required": ["log"],
            "properties": {"log": {"type": "object", "required": ["entries"], "properties": {"entries": {"type": "array", "items": {}}}}},
        }}}},
        "responses": refusals("har_upload", HttpMethod::Post, done),
    }})
}

fn events(name: &str, summary: &str, task: bool) -> Value {
    let mut parameters = vec![json!({
        "name": "Last-Event-ID", "in": "header", "required": false,
        "description": "What came after that event first.",
        "schema": {"type": "integer"},
    })];
    if task {
        parameters.push(json!({
            "name": "task_id", "in": "path", "required": true, "schema": {"type": "string"},
            "description": "The task's id.",
        }));
    }
    let done = json!({
        "200": {"description": "A stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
    });
    json!({"get": {
        "operationId": name,
        "summary": summary,
        "description": "Server-sent events with ids that grow; a comment each 15 seconds.",
        "tags": ["tasks"],
        "parameters": parameters,
        "responses": refusals(name, HttpMethod::Get, done),
    }})
}
