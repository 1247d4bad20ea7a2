//! The pages of `docs/reference/` that are made of the program: commands from their flags, the languages of recipes and manifests
//! from their types, settings from theirs, codes from their table. A test fails when they are stale; `SNAPSHOTS=overwrite cargo
//! test reference` writes them anew.
//!
//! Operations of the daemon are in `serve/reference.rs`.

use std::{fmt::Write as _, path::Path};

use schemars::schema_for;
use serde_json::{Map, Value};

use super::{
    help::SHORT,
    man::{ENVIRONMENT, EXIT_CODES, FILES, commands},
};
use commis_base::{
    error::{Class, Code},
    settings::Settings,
    testing::assert_files,
};
use commis_batch::manifest;
use commis_recipe::yaml;
use commis_runner::RecipeRunResult;

/// The first line of each page, which the site does not show.
const MADE: &str = "<!-- Do not edit: `SNAPSHOTS=overwrite cargo test reference` makes this page of the program. -->";

/// Prose as Markdown shows it, and in a table's cell: what stands in backticks stays code.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        let is_code = i % 2 == 1;
        if is_code && part.contains('|') {
            let part = part.replace('<', "&lt;").replace('|', "&#124;");
            let _ = write!(out, "<code>{part}</code>");
        } else if is_code {
            let _ = write!(out, "`{part}`");
        } else {
            for c in part.chars() {
                match c {
                    '<' => out.push_str("&lt;"),
                    '|' => out.push_str("&#124;"),
                    '*' | '[' | ']' => {
                        out.push('\\');
                        out.push(c);
                    }
                    '\n' => out.push(' '),
                    c => out.push(c),
                }
            }
        }
    }
    // A link to an item of the source is its name.
    let out = out.replace("\\[`", "`").replace("`\\]", "`");
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A command's help: paragraphs, and what is indented as it stands.
fn help(text: &str) -> String {
    let mut out = String::new();
    for paragraph in text.split("\n\n") {
        let (mut words, mut code) = (Vec::new(), Vec::new());
        for line in paragraph.lines() {
            if let Some(it) = line.strip_prefix("Example: ") {
                words.push("Example:");
                code.push(it);
            } else if line.starts_with("  ") {
                code.push(line.trim_start());
            } else if code.is_empty() {
                words.push(line);
            } else {
                code.push(line.trim_start());
            }
        }
        if !words.is_empty() {
            let _ = writeln!(out, "{}\n", prose(&words.join(" ")));
        }
        if !code.is_empty() {
            let _ = writeln!(out, "```sh\n{}\n```\n", code.join("\n"));
        }
    }
    out
}

/// `-p`, `--param <NAME=VALUE>`, `<NAME>…`
fn spelled(it: &clap::Arg) -> String {
    let values: Vec<String> = it
        .get_value_names()
        .filter(|_| it.get_action().takes_values())
        .map(|all| all.iter().map(|name| format!("<{name}>")).collect())
        .unwrap_or_default();
    let flags =
        [it.get_short().map(|it| format!("-{it}")), it.get_long().map(|it| format!("--{it}"))];
    let mut parts: Vec<String> = flags.into_iter().flatten().map(|it| format!("`{it}`")).collect();
    if parts.is_empty() {
        return format!("`{}`", values.join(" "));
    }
    if !values.is_empty()
        && let Some(last) = parts.last_mut()
    {
        last.pop();
        let _ = write!(last, " {}`", values.join(" "));
    }
    parts.join(", ")
}

fn told_argument(it: &clap::Arg) -> String {
    let text = it.get_long_help().or_else(|| it.get_help()).map(ToString::to_string);
    let mut out = prose(&text.unwrap_or_default());
    let stop = |out: &mut String| {
        if !out.is_empty() && !out.ends_with(['.', '!', '?']) {
            out.push('.');
        }
    };
    let defaults: Vec<_> = it.get_default_values().iter().map(|it| it.to_string_lossy()).collect();
    if it.get_action().takes_values() && !defaults.is_empty() {
        stop(&mut out);
        let _ = write!(out, " Default: `{}`.", defaults.join(" "));
    }
    let possible: Vec<_> = it
        .get_possible_values()
        .iter()
        .filter(|one| !one.is_hide_set() && it.get_action().takes_values())
        .map(|it| format!("`{}`", it.get_name()))
        .collect();
    if !possible.is_empty() {
        stop(&mut out);
        let _ = write!(out, " One of {}.", possible.join(", "));
    }
    out.trim().to_owned()
}

fn arguments(it: &clap::Command, wanted: impl Fn(&clap::Arg) -> bool) -> String {
    let shown =
        // Flags of every command are told once here, also those that help leaves out.
        |it: &&clap::Arg| {
            (it.is_global_set() || !it.is_hide_set())
                && !["help", "version"].contains(&it.get_id().as_str())
        };
    let rows: Vec<String> = it
        .get_arguments()
        .filter(shown)
        .filter(|it| wanted(it))
        .map(|it| {
            let must = if it.is_required_set() { " (required)" } else { "" };
            format!("| {}{must} | {} |", spelled(it), told_argument(it))
        })
        .collect();
    if rows.is_empty() {
        String::new()
    } else {
        format!("| | |\n|---|---|\n{}\n\n", rows.join("\n"))
    }
}

fn command_page(it: &clap::Command, out: &mut String) {
    let name = it.get_bin_name().unwrap_or(it.get_name());
    let about = it.get_long_about().or_else(|| it.get_about()).map(ToString::to_string);
    let _ = writeln!(out, "\n## {name}\n\n{}", help(&about.unwrap_or_default()).trim_end());
    let usage = it.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned();
    if !it.is_subcommand_required_set() {
        let _ = writeln!(out, "\n```text\n{}\n```", usage.trim());
    }
    let _ = writeln!(out, "\n{}\n", arguments(it, |it| !it.is_global_set()).trim_end());
    if let Some(after) = it.get_after_long_help().or_else(|| it.get_after_help()) {
        let _ = writeln!(out, "{}", help(&after.to_string()));
    }
    for it in it.get_subcommands().filter(|it| !it.is_hide_set()) {
        command_page(it, out);
    }
}

fn cli() -> String {
    let root = commands();
    let mut out = format!(
        "{MADE}\n\n# Commands\n\nThe same as man pages: `commis man DIR`.\n\n## Flags of every command\n\n{}",
        arguments(&root, clap::Arg::is_global_set)
    );
    for it in root.get_subcommands().filter(|it| !it.is_hide_set()) {
        let name = it.get_name();
        if SHORT.contains(&name) {
            let _ = writeln!(
                out,
                "\n## commis {name}\n\nThe short form of [`commis recipe {name}`](#commis-recipe-{name})."
            );
        } else {
            command_page(it, &mut out);
        }
    }
    tidy(&out)
}

/// One blank line where there are several, and none at the end.
fn tidy(text: &str) -> String {
    let mut out = String::new();
    let mut blank = false;
    for line in text.lines() {
        if !line.is_empty() {
            out.push_str(if blank { "\n" } else { "" });
            out.push_str(line.trim_end());
            out.push('\n');
        }
        blank = line.is_empty();
    }
    out
}

/// Types as tables: the document's own first, then the others in the order in which they are met.
#[derive(Default)]
struct TypeTables {
    met: Vec<String>,
    out: String,
}

impl TypeTables {
    fn render(schema: &Value) -> String {
        let mut it = Self::default();
        it.body(schema);
        let mut next = 0;
        while let Some(name) = it.met.get(next).cloned() {
            let _ = writeln!(it.out, "\n## {name}\n");
            it.body(&schema["$defs"][&name]);
            next += 1;
        }
        tidy(&it.out)
    }

    fn body(&mut self, schema: &Value) {
        if let Some(it) = schema["description"].as_str() {
            let _ = writeln!(self.out, "{}\n", prose(it));
        }
        if let Some(all) = schema["properties"].as_object() {
            self.fields(all, schema);
        } else if let Some(all) = variants(schema) {
            self.out.push_str("| one of | |\n|---|---|\n");
            for it in all {
                let row = self.variant(it);
                self.out.push_str(&row);
            }
        } else {
            let kind = self.kind(schema);
            let _ = writeln!(self.out, "{kind}.");
        }
    }

    fn fields(&mut self, all: &Map<String, Value>, schema: &Value) {
        self.out.push_str("| field | type | |\n|---|---|---|\n");
        for (name, it) in all {
            let must =
                schema["required"].as_array().is_some_and(|it| it.iter().any(|it| it == name));
            let must = if must { "" } else { "?" };
            let kind = self.kind(it);
            let says = prose(it["description"].as_str().unwrap_or(""));
            let default = match &it["default"] {
                Value::Null => String::new(),
                it if matches!(it.to_string().as_str(), "false" | "[]" | "{}" | "\"\"") => {
                    String::new()
                }
                Value::Object(_) | Value::Array(_) => String::new(),
                it => format!(" Default: `{it}`."),
            };
            let _ = writeln!(self.out, "| `{name}`{must} | {kind} | {says}{default} |");
        }
    }

    /// `draft` of an enumeration, `{cookie: …}` of what is written with its name.
    fn variant(&mut self, it: &Value) -> String {
        let says = prose(it["description"].as_str().unwrap_or(""));
        if let Some(name) = it["const"].as_str() {
            return format!("| `{name}` | {says} |\n");
        }
        if let Some(names) = it["enum"].as_array() {
            let rows: Vec<String> = names
                .iter()
                .filter_map(Value::as_str)
                .map(|it| format!("| `{it}` | {says} |\n"))
                .collect();
            return rows.concat();
        }
        if let Some((name, held)) = it["properties"].as_object().and_then(|it| it.iter().next()) {
            let kind = match held["properties"].as_object() {
                Some(fields) => {
                    let all: Vec<String> = fields.keys().map(|it| format!("`{it}`")).collect();
                    format!("with {}", all.join(", "))
                }
                None => self.kind(held),
            };
            return format!("| `{name}:` {kind} | {says} |\n");
        }
        format!("| {} | {says} |\n", self.kind(it))
    }

    fn kind(&mut self, it: &Value) -> String {
        if let Some(name) = it["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
            if !self.met.iter().any(|it| it == name) {
                self.met.push(name.to_owned());
            }
            return format!("[{name}](#{})", name.to_lowercase());
        }
        if let Some(all) = it["allOf"].as_array().and_then(|it| it.first()) {
            return self.kind(all);
        }
        if let Some(all) = variants(it) {
            let all: Vec<String> =
                all.iter().filter(|it| it["type"] != "null").map(|it| self.kind(it)).collect();
            return all.join(" or ");
        }
        if let Some(it) = it["const"].as_str() {
            return format!("`{it}`");
        }
        if let Some(all) = it["enum"].as_array() {
            let all: Vec<String> =
                all.iter().filter_map(Value::as_str).map(|it| format!("`{it}`")).collect();
            return all.join(", ");
        }
        let kinds: Vec<&str> = match &it["type"] {
            Value::String(it) => vec![it],
            Value::Array(all) => {
                all.iter().filter_map(Value::as_str).filter(|it| *it != "null").collect()
            }
            _ => vec![],
        };
        match kinds.as_slice() {
            [] => "anything".to_owned(),
            ["string"] => "text".to_owned(),
            ["integer"] => "whole number".to_owned(),
            ["boolean"] => "true or false".to_owned(),
            ["array"] => format!("list of {}", self.kind(&it["items"])),
            ["object"] if it["additionalProperties"].is_object() => {
                format!("map of names to {}", self.kind(&it["additionalProperties"]))
            }
            all => all.join(" or "),
        }
    }
}

fn variants(it: &Value) -> Option<&Vec<Value>> {
    // `oneOf` with nothing but `required` says which fields exclude one another.
    it["oneOf"].as_array().or_else(|| it["anyOf"].as_array()).filter(|all| {
        all.iter().all(|it| {
            it.as_object()
                .is_some_and(|it| !it.contains_key("required") || it.contains_key("properties"))
        })
    })
}

fn language(title: &str, file: &str, command: &str, more: &str, schema: &Value) -> String {
    format!(
        "{MADE}\n\n# {title}\n\nAs JSON Schema: [{file}]({file}), or `{command}`.\n{more}\n\nA field with `?` is optional. Unknown fields, anchors, aliases, tags and several documents in one file are refused.\n\n{}",
        TypeTables::render(schema)
    )
}

fn recipe() -> String {
    language(
        "Recipes",
        "recipe.schema.json",
        "commis recipe schema",
        "The first line of a file that commis writes names the schema, which is in the same folder. An editor with yaml-language-server completes and checks the file by it. \
         `commis recipe validate FILE` checks the rest.",
        &yaml::schema(),
    )
}

fn of_manifest() -> String {
    language(
        "Manifests",
        "manifest.schema.json",
        "commis recipe schema --manifest",
        "For an editor, save it and start the manifest with `# yaml-language-server: $schema=manifest.schema.json`.",
        &manifest::schema(),
    )
}

/// A default as the settings file would say it.
fn default_of(it: &Value) -> String {
    match it {
        Value::Null => "none".to_owned(),
        Value::Object(it) if it.is_empty() => "none".to_owned(),
        it => format!("`{it}`"),
    }
}

fn settings() -> String {
    let schema = schema_for!(Settings).to_value();
    let defaults = serde_json::to_value(Settings::default()).unwrap();
    let ranges = Settings::default();
    let ranges = ranges.numbers();
    let mut out = format!(
        "{MADE}\n\n# Settings\n\nThey are in `config.toml` under `--home`, `COMMIS_HOME`, or `~/.config/commis`; all of them are optional. Flags \
         override the environment, the environment overrides the file, and the file overrides defaults.\n\n\
         ```sh\ncommis settings show             # the effective settings\ncommis settings path             # the path of the file\n\
         commis settings set KEY VALUE    # changes it, and keeps its comments\ncommis settings unset KEY\n```\n"
    );
    let resolved = |it: &Value| -> Value {
        let name = it["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/"));
        name.map_or_else(|| it.clone(), |it| schema["$defs"][it].clone())
    };
    for (section, it) in schema["properties"].as_object().unwrap() {
        let of = resolved(it);
        let says = it["description"]
            .as_str()
            .filter(|_| section == "egress")
            .or(of["description"].as_str());
        let _ = writeln!(
            out,
            "\n## {section}\n\n{}\n\n| key | type | default | |\n|---|---|---|---|",
            prose(says.unwrap_or(""))
        );
        rows(section, &of, &defaults[section], &ranges, &schema, &mut out);
    }
    out.push_str("\n## Environment\n\n| variable | |\n|---|---|\n");
    for (name, says) in ENVIRONMENT {
        let _ = writeln!(out, "| `{name}` | {} |", prose(says));
    }
    tidy(&out)
}

fn rows(
    section: &str,
    of: &Value,
    defaults: &Value,
    ranges: &[(&'static str, u64, u64, u64)],
    schema: &Value,
    out: &mut String,
) {
    let mut types = TypeTables::default();
    for (name, it) in of["properties"].as_object().into_iter().flatten() {
        let key = format!("{section}.{name}");
        let reference = it["$ref"].as_str().or_else(|| it["anyOf"][0]["$ref"].as_str());
        let inner =
            reference.and_then(|it| it.strip_prefix("#/$defs/")).map(|it| &schema["$defs"][it]);
        if let Some(inner) = inner.filter(|it| it["properties"].is_object()) {
            rows(&key, inner, &defaults[name], ranges, schema, out);
            continue;
        }
        let kind = types.kind(inner.unwrap_or(it)).replace(" or ", ", ");
        let range = ranges.iter().find(|it| it.0 == key);
        let range = range.map_or(String::new(), |it| format!(", {} to {}", it.2, it.3));
        let says =
            it["description"].as_str().or_else(|| inner.and_then(|it| it["description"].as_str()));
        let _ = writeln!(
            out,
            "| `{key}` | {kind}{range} | {} | {} |",
            default_of(&defaults[name]),
            prose(says.unwrap_or(""))
        );
    }
}

fn class(it: Class) -> &'static str {
    match it {
        Class::Usage => "usage",
        Class::Task => "task",
        Class::Environment => "environment",
        Class::Bug => "bug",
        Class::Interrupted => "interrupted",
    }
}

fn codes() -> String {
    let mut out = format!(
        "{MADE}\n\n# Error codes\n\nA message has its code in brackets. `--json`, REST, MCP, artifacts and reports have it as `error_code`. No code is \
         renamed or reused. *Passing*: the same call may succeed later without a change; a particular failure may say \
         otherwise (`retryable`). The class of a code determines the [exit code](exit-codes.md).\n\n\
         | code | class | exit | passing | |\n|---|---|---|---|---|\n"
    );
    for it in Code::ALL {
        let _ = writeln!(
            out,
            "| `{it}` | {} | {} | {} | {} |",
            class(it.class()),
            it.class().exit_code(),
            if it.retryable() { "yes" } else { "" },
            prose(it.description())
        );
    }
    out
}

fn exit_codes() -> String {
    let mut out = format!("{MADE}\n\n# Exit codes\n\n| code | |\n|---|---|\n");
    for (code, says) in EXIT_CODES {
        let _ = writeln!(out, "| {code} | {} |", prose(says));
    }
    out.push_str(
        "\n[Error codes](error-codes.md) lists the class and the exit code of each error. These commands have more specific exit codes:\n\n\
         | command | |\n|---|---|\n",
    );
    each(&commands(), &mut |name, it| {
        let about = it
            .get_long_about()
            .or_else(|| it.get_about())
            .map(ToString::to_string)
            .unwrap_or_default();
        let flat = about.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(at) = flat.find("Exit code").or_else(|| flat.find("exit code")) {
            let _ = writeln!(
                out,
                "| [`{name}`](cli.md#{}) | {} |",
                name.replace(' ', "-"),
                prose(&until_example(&flat[at..]))
            );
        }
    });
    out
}

fn until_example(text: &str) -> String {
    let end = ["Example:", "Examples:", "With --json"].iter().filter_map(|it| text.find(it)).min();
    text[..end.unwrap_or(text.len())].trim().to_owned()
}

/// Commands by their long forms.
fn each(it: &clap::Command, with: &mut dyn FnMut(&str, &clap::Command)) {
    let name = it.get_bin_name().unwrap_or(it.get_name());
    with(name, it);
    let is_root = name == "commis";
    let wanted =
        |it: &&clap::Command| !(it.is_hide_set() || is_root && SHORT.contains(&it.get_name()));
    for it in it.get_subcommands().filter(wanted) {
        each(it, with);
    }
}

fn files() -> String {
    let mut out = format!(
        "{MADE}\n\n# Files\n\nThe files are below the folder of `--home` or `COMMIS_HOME`. Without one they are in the XDG folders; the second column has the defaults. Folders have mode 0700 and files \
         0600. Files are written whole or not at all, and links are not followed.\n\n| below the home | without a home | |\n|---|---|---|\n"
    );
    for (name, usual, says) in FILES {
        let _ = writeln!(out, "| `{name}` | `{usual}` | {} |", prose(says));
    }
    out.push_str(
        "\n## Remove commis\n\nRun `commis daemon stop`. Then remove the folders `~/.config/commis` and `~/.local/state/commis`, or your own home. `commis mcp uninstall --client NAME` \
         removes commis from a client's settings. commis writes no other files but those that you name: reports, exports, man pages, completions.\n",
    );
    out
}

fn json_output() -> String {
    let mut out = format!(
        "{MADE}\n\n# JSON output\n\nWith `--json` a command prints one document on stdout. `recipe learn-batch`, `recipe map`, `do watch` and `browse watch` print one document a line. \
         New fields may be added. Within a minor version no field is renamed or removed or changes its meaning ([stability](../stability.md)).\n\n\
         A command that fails prints `{{success: false, error_code, error, hint, retryable}}` instead. Its exit code is that of the [error code](error-codes.md).\n\n\
         ## Commands\n\n| command | output |\n|---|---|\n"
    );
    each(&commands(), &mut |name, it| {
        if it.get_arguments().any(|it| it.get_id() == "json" && !it.is_global_set())
            && !it.is_subcommand_required_set()
        {
            let about = it
                .get_long_about()
                .or_else(|| it.get_about())
                .map(ToString::to_string)
                .unwrap_or_default();
            let paragraph = about.split("\n\n").find_map(|it| Some(&it[it.find("With --json")?..]));
            let flag =
                it.get_arguments().find(|it| it.get_id() == "json").and_then(|it| it.get_help());
            let says = paragraph
                .map(str::to_owned)
                .or_else(|| flag.map(ToString::to_string))
                .unwrap_or_default();
            let _ = writeln!(
                out,
                "| [`{name}`](cli.md#{}) | {} |",
                name.replace(' ', "-"),
                prose(says.trim_start_matches("With --json: "))
            );
        }
    });
    let schemas = super::outputs::schemas();
    let named: Vec<String> = schemas["$defs"]
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .map(|it| format!("`{it}`"))
        .collect();
    let _ = writeln!(
        out,
        "\n[outputs.schema.json](outputs.schema.json) is the JSON Schema of these outputs: {}.",
        named.join(", ")
    );
    out.push_str("\nFor the operations of the daemon over REST see [the reference](operations.md) and [openapi.json](openapi.json).\n");
    for (title, schema) in [
        ("recipe run --json", schema_for!(RecipeRunResult).to_value()),
        ("recipe check --json, each", schema_for!(super::check_row::Row).to_value()),
        ("recipe heal --json, each", schema_for!(super::heal::Row).to_value()),
        ("doctor --json, each", schema_for!(super::doctor::Check).to_value()),
    ] {
        let types = TypeTables::render(&schema).replace("\n## ", "\n### ");
        let _ = writeln!(out, "\n## {title}\n\n{types}");
    }
    tidy(&out)
}

#[test]
fn the_reference_is_what_the_program_says() {
    let pretty = |it: &Value| format!("{it:#}\n");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    assert_files(
        &root,
        [
            ("cli.md", cli()),
            ("recipe.md", recipe()),
            ("recipe.schema.json", pretty(&yaml::schema())),
            ("manifest.md", of_manifest()),
            ("manifest.schema.json", pretty(&manifest::schema())),
            ("settings.md", settings()),
            ("error-codes.md", codes()),
            ("exit-codes.md", exit_codes()),
            ("json-output.md", json_output()),
            ("outputs.schema.json", pretty(&super::outputs::schemas())),
            ("files.md", files()),
        ],
    );
}

#[test]
fn every_setting_and_every_code_is_told() {
    let page = settings();
    for (key, ..) in Settings::default().numbers() {
        assert!(page.contains(&format!("| `{key}` |")), "{key}");
    }
    let untold: Vec<&str> = page.lines().filter(|it| it.ends_with("|  |")).collect();
    assert!(untold.is_empty(), "{untold:?}");
    assert!(Code::ALL.iter().all(|it| it.description().len() > 4));
}

#[test]
fn every_folder_and_every_variable_is_told() {
    let folder = Path::new("/h");
    let home = format!("{:?}", commis_base::settings::Home::find(Some(folder)).unwrap());
    for part in home.split("\"/h/").skip(1) {
        let name = part.split('"').next().unwrap();
        let told = FILES.iter().any(|it| it.0.trim_end_matches('/') == name);
        assert!(told, "{name}");
    }
    let source = include_str!("../base/settings.rs");
    for part in source.split("\"COMMIS_").skip(1) {
        let name = format!("COMMIS_{}", part.split('"').next().unwrap());
        assert!(ENVIRONMENT.iter().any(|it| it.0 == name), "{name}");
    }
}

#[test]
fn what_a_page_shows_is_what_was_said() {
    for (text, shown) in [
        ("shown as <from …>", "shown as &lt;from …>"),
        ("`a|b` or c|d", "<code>a&#124;b</code> or c&#124;d"),
        ("`*.test=…` pins all, * none", "`*.test=…` pins all, \\* none"),
        ("see [`check`]", "see `check`"),
        ("two\n  lines", "two lines"),
    ] {
        assert_eq!(prose(text), shown);
    }
    let text = "Say it\nagain\n\nExamples:\n  commis a\n  commis b\n\nExample: commis c";
    assert_eq!(
        help(text),
        "Say it again\n\nExamples:\n\n```sh\ncommis a\ncommis b\n```\n\nExample:\n\n```sh\ncommis c\n```\n\n"
    );
}
