//! Documents made of the table of operations; committed, and a test fails when they are stale. `SNAPSHOTS=overwrite cargo test
//! reference` writes them anew: then read the diff. What docs/stability.md says of changes holds for it.

use std::{fmt::Write as _, path::Path};

use serde_json::{Value, json};

use commis_base::testing::assert_files;

use super::{
    openapi,
    operations::{ExecutionMode, Kind, Operation, TABLE, ToolExposure, properties, requires},
    principal::{AccessRequirement, AccessRight, Area},
};

fn need(row: &Operation) -> &'static str {
    match row.spec.need {
        AccessRequirement::Any => "any",
        AccessRequirement::Run => "`run:NAME`",
        AccessRequirement::Login => "`vault:NAME`",
        AccessRequirement::Root => "root",
        AccessRequirement::Sessions(AccessRight::Read) => "`browse:read`",
        AccessRequirement::Sessions(AccessRight::Write) => "`browse:write`",
        AccessRequirement::May(area, right) => match (area, right) {
            (Area::Recipes, AccessRight::Read) => "`recipes:read`",
            (Area::Recipes, AccessRight::Write) => "`recipes:write`",
            (Area::Tasks, AccessRight::Read) => "`tasks:read`",
            (Area::Tasks, AccessRight::Write) => "`tasks:write`",
            (Area::Learn, AccessRight::Read) => "`learn:read`",
            (Area::Learn, AccessRight::Write) => "`learn:write`",
            (Area::Browse, AccessRight::Read) => "`browse:read`",
            (Area::Browse, AccessRight::Write) => "`browse:write`",
            (Area::Approvals, AccessRight::Read) => "`approvals:read`",
            (Area::Approvals, AccessRight::Write) => "`approvals:write`",
        },
    }
}

fn kind(row: &Operation) -> &'static str {
    match row.spec.kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Meta => "meta",
    }
}

fn length(row: &Operation) -> &'static str {
    match row.spec.length {
        ExecutionMode::Now => "answered at once",
        ExecutionMode::Run => "a task after two seconds",
        ExecutionMode::Task => "a task",
    }
}

fn tool(row: &Operation) -> String {
    match row.spec.tool {
        ToolExposure::Always(name) => format!("`{name}`, always"),
        ToolExposure::All => format!("`{}`, with `all`", row.spec.name),
        ToolExposure::Browse => format!("`{}`, with `browse`", row.spec.name),
        ToolExposure::Never => "none".to_owned(),
    }
}

/// `string`, `integer or null`, `list of object`
fn schema_text(schema: &Value) -> String {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(it) => vec![it],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    if let Some(all) = schema["enum"].as_array() {
        let all: Vec<String> =
            all.iter().filter_map(Value::as_str).map(|it| format!("`{it}`")).collect();
        return all.join(", ");
    }
    match kinds.as_slice() {
        [] => "any".to_owned(),
        ["array"] => format!("list of {}", schema_text(&schema["items"])),
        all => all.join(" or "),
    }
}

fn operations() -> String {
    let mut out = String::from(
        "# Operations of the daemon\n\nThe table in `src/serve/operations/` generates this page; do not edit it. Programs read `/api/openapi.json` instead.\n\n\
         Every answer is `{ok: true, data, meta}` or `{ok: false, error: {error_code, message, hint, retryable, …}}`. You may repeat a\n\
         `read`. Repeat a `write` only with the same `Idempotency-Key`. `meta` operations are about the daemon. A task is answered with\n\
         202. Its state is at `/api/tasks/{task_id}`, its events at `/api/tasks/{task_id}/events`; `/api/events` has those of all tasks.\n\n\
         | operation | route | kind | token | tool |\n|---|---|---|---|---|\n",
    );
    for row in TABLE.iter() {
        let (verb, path) = row.spec.routes[0];
        let _ = writeln!(
            out,
            "| [{0}](#{0}) | {1} `{path}` | {2} | {3} | {4} |",
            row.spec.name,
            verb.as_str().to_uppercase(),
            kind(row),
            need(row),
            tool(row),
        );
    }
    for row in TABLE.iter() {
        let (verb, path) = row.spec.routes[0];
        let _ = writeln!(out, "\n## {}\n", row.spec.name);
        let _ = writeln!(
            out,
            "`{} {path}`: {}, {}.\n",
            verb.as_str().to_uppercase(),
            kind(row),
            length(row)
        );
        for line in row.spec.help.lines() {
            // A page would take it for a tag.
            let _ = writeln!(out, "{}", line.replace('<', "&lt;"));
        }
        let known = properties(&row.input);
        if known.is_empty() {
            continue;
        }
        out.push_str("\n| argument | type | |\n|---|---|---|\n");
        for (name, schema) in &known {
            let text = schema["description"].as_str().unwrap_or("");
            let text = text.replace('\n', " ").replace('<', "&lt;");
            let must = if requires(&row.input, name) { "" } else { "?" };
            let _ = writeln!(out, "| `{name}`{must} | {} | {text} |", schema_text(schema));
        }
    }
    out
}

/// What a model has to know, in no more words than it is worth. It is written by hand; a test holds it to the table.
const SKILL: &str = include_str!("../../skills/commis/SKILL.md");

/// Names, schemas and tools, as they are pinned.
fn pinned() -> String {
    let all: Vec<Value> = TABLE
        .iter()
        .map(|row| {
            let routes = row.spec.routes.iter().map(|(verb, path)| format!("{} {path}", verb.as_str()));
            json!({
                "name": row.spec.name, "kind": row.spec.kind, "length": row.spec.length, "tool": row.spec.tool,
                "routes": routes.collect::<Vec<_>>(), "input": *row.input, "output": *row.output,
            })
        })
        .collect();
    serde_json::to_string_pretty(&all).unwrap() + "\n"
}

#[test]
fn the_reference_is_what_the_table_says() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let openapi = serde_json::to_string_pretty(openapi::document()).unwrap() + "\n";
    assert_files(
        root,
        [
            ("docs/reference/operations.md", operations()),
            ("docs/reference/openapi.json", openapi),
            ("tests/golden/operations.json", pinned()),
        ],
    );
}

/// Routes and tools that the skill names are there, and it is short: 1,500 tokens are about 6,000 bytes.
#[test]
fn the_skill_is_short_and_names_nothing_that_is_not_there() {
    assert!(SKILL.len() <= 6000, "{}", SKILL.len());
    let is_tool = |it: &str| {
        TABLE.iter().any(|row| {
            row.spec.name == it || matches!(row.spec.tool, ToolExposure::Always(name) if name == it)
        })
    };
    for word in SKILL.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_')) {
        let is_name =
            ["recipe_", "commis_", "browse_", "watch_"].iter().any(|it| word.starts_with(it));
        assert!(!is_name || word == "recipe_NAME" || is_tool(word), "{word}");
    }
    for line in SKILL.lines().filter(|it| it.starts_with("| GET") || it.starts_with("| POST")) {
        let mut parts =
            line.trim_start_matches("| ").split([' ', '`', '?']).filter(|it| !it.is_empty());
        let (verb, path) = (parts.next().unwrap(), parts.next().unwrap());
        let known = TABLE.iter().flat_map(|row| row.spec.routes);
        let there =
            known.into_iter().any(|it| it.0.as_str().eq_ignore_ascii_case(verb) && it.1 == path);
        assert!(there || path == "/api/openapi.json", "{verb} {path}");
    }
}

#[test]
fn names_are_unique_and_the_three_that_are_always_there_are_small() {
    let mut names: Vec<&str> = TABLE.iter().map(|it| it.spec.name).collect();
    names.sort_unstable();
    let n = names.len();
    names.dedup();
    assert_eq!(n, names.len());
    let mut routes: Vec<_> =
        TABLE.iter().flat_map(|it| it.spec.routes).map(|it| (it.0.as_str(), it.1)).collect();
    routes.sort_unstable();
    let n = routes.len();
    routes.dedup();
    assert_eq!(n, routes.len());
}
