//! The manifest: what to learn. Bounded before parsing, checked after; an error names the entry.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{
    manifest_error::{HINT, invalid},
    secrets::{check_named, set_apart},
};
use commis_base::{
    error::{Code, Error, Result},
    files::read_bounded,
    ids::{RecipeName, TaskId},
};
use commis_browser::Step;
use commis_learn::{Source, Task, TaskSecrets};
use commis_recipe::{template, yaml};
use commis_stages::verify::Expectation;

const MAX_BYTES: u64 = 16 * 1024 * 1024;
const MAX_TASK: usize = 500;
/// Each beyond the second is one or two replays.
const MAX_EXAMPLES: usize = 10;

/// What to learn.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Manifest")]
struct File {
    /// Of the format: 1.
    version: u32,
    #[serde(default)]
    defaults: Defaults,
    /// The tasks, each of which may become a recipe; at least one.
    recipes: Vec<Entry>,
}

/// What holds for every task.
#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Defaults {
    /// Seconds between two recordings on one host; 5, and at most 3,600.
    delay_s: Option<f64>,
    /// Seconds that one step may take at most; 60, and at most 600.
    timeout_s: Option<u64>,
    /// Seconds that one task may take, all its stages together; ten times `timeout_s`, and at most a day.
    deadline_s: Option<u64>,
    /// Further attempts at a task that failed with something that may pass; 1, and at most 10.
    retries: Option<u32>,
}

/// One task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The recipe's name: a-z, 0-9 and hyphens; each once in a manifest.
    name: String,
    /// The task in a sentence of at most 500 bytes, with `{parameter}` where values go.
    task: String,
    /// The page that it begins on, http or https. Either this or `har`.
    url: Option<String>,
    /// A recording to learn from, beside the manifest. Either this or `url`.
    har: Option<String>,
    /// Values by parameter, at most ten sets of them. The first is recorded, the second proves; all give the same parameters.
    #[serde(default)]
    examples: Vec<BTreeMap<String, String>>,
    /// What a person would do, one step after another.
    #[serde(default)]
    record: Vec<Step>,
    #[serde(default)]
    expect: Expect,
    /// A word to list recipes by.
    category: Option<String>,
    /// The site wants a login: without `login`, the task is not learned, and says so.
    #[serde(default)]
    requires_auth: bool,
    /// The login of the vault that its pages are opened with.
    login: Option<String>,
    /// Another account's login, which must be refused or get something else.
    second_login: Option<String>,
    /// What is to be known of parameters besides their values.
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
}

/// What is to be known of a parameter besides its values.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ManifestParameter")]
struct Parameter {
    /// Its values stay in memory.
    #[serde(default)]
    secret: bool,
}

/// What an answer must have.
#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    /// Fewer items than this are no answer.
    min_items: Option<u32>,
    /// Paths (`hits[].title`) that its shape must have.
    required_paths: Vec<String>,
}

/// The format as JSON Schema, for editors.
pub fn schema() -> Value {
    schemars::schema_for!(File).to_value()
}

/// A checked manifest.
pub struct Manifest {
    /// File name without extension; part of each task's id.
    pub name: String,
    /// Between two recordings on one host.
    pub delay: Duration,
    /// One task may take so long, all its stages together.
    pub deadline: Duration,
    /// Further attempts at a task that failed with something that may pass.
    pub retries: u32,
    pub tasks: Vec<Task>,
}

/// Reads and checks a manifest. Fails with [`Code::ManifestInvalid`] or [`Code::SecretInTask`].
/// Where secrets are allowed, what seems to be one is used and kept out of what is stored.
pub fn load(path: &Path, allow_secrets: bool) -> Result<Manifest> {
    let shown = path.display();
    let bytes = read_bounded(path, MAX_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| invalid(format!("{shown} is not UTF-8")))?;
    parse(&text, path, allow_secrets, Source::har)
}

/// [`load`] of a text as if it stood in the file at `path`; `har` opens what an entry names.
pub fn parse(
    text: &str,
    path: &Path,
    allow_secrets: bool,
    har: impl Fn(PathBuf) -> Result<Source>,
) -> Result<Manifest> {
    let shown = path.display();
    let options = serde_saphyr::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        budget: serde_saphyr::budget! {
            max_nodes: 2_000_000,
            max_depth: 64,
            max_aliases: 0,
            max_anchors: 0,
            max_documents: 1,
            max_merge_keys: 0,
        },
        // It would show lines of the file, which may hold secrets.
        with_snippet: false,
    };
    let file: File = serde_saphyr::from_str_with_options(text, options)
        .map_err(|err| invalid(format!("{shown}: {}", yaml::describe_error(&err))))?;
    if file.version != 1 {
        return Err(invalid(format!("{shown}: version {} is unknown", file.version))
            .hint("this commis reads version 1"));
    }
    let name = path.file_stem().and_then(|it| it.to_str()).unwrap_or("manifest").to_owned();
    let timeout = Duration::from_secs(file.defaults.timeout_s.unwrap_or(60).clamp(1, 600));
    let mut seen = BTreeSet::new();
    let mut tasks = Vec::with_capacity(file.recipes.len());
    for (i, entry) in file.recipes.into_iter().enumerate() {
        let place = format!("{shown}: entry {} (`{}`)", i + 1, printable(&entry.name));
        let folder = path.parent().unwrap_or(Path::new("."));
        let task = check(entry, &name, timeout, allow_secrets, |it| har(folder.join(it)))
            .map_err(|err| relabel(&place, &err))?;
        if !seen.insert(task.name.clone()) {
            return Err(invalid(format!("{place}: the name is used twice")));
        }
        tasks.push(task);
    }
    if tasks.is_empty() {
        return Err(invalid(format!("{shown} has no recipes")));
    }
    let delay = file.defaults.delay_s.filter(|it| it.is_finite()).unwrap_or(5.0).clamp(0.0, 3600.0);
    // Two recordings, and replays that are bounded by themselves.
    let deadline = file.defaults.deadline_s.unwrap_or(timeout.as_secs() * 10).clamp(1, 86_400);
    Ok(Manifest {
        name,
        delay: Duration::from_secs_f64(delay),
        deadline: Duration::from_secs(deadline),
        retries: file.defaults.retries.unwrap_or(1).min(10),
        tasks,
    })
}

fn check(
    entry: Entry,
    manifest: &str,
    timeout: Duration,
    allow_secrets: bool,
    har_source: impl Fn(String) -> Result<Source>,
) -> Result<Task> {
    let name = RecipeName::new(entry.name)?;
    let source = match (entry.url, entry.har) {
        (Some(url), None) => Source::Live { url, steps: entry.record, by_hand: false },
        (None, Some(har)) => har_source(har)?,
        _ => return Err(invalid("give either url or har")),
    };
    if entry.login.is_none() && entry.second_login.is_some() {
        return Err(invalid("second_login needs login"));
    }
    let logins = entry.login.iter().chain(&entry.second_login);
    let logins = logins.map(|it| it.parse()).collect::<Result<_>>()?;
    let mut task = Task {
        id: TaskId::new(manifest, &name),
        name,
        sentence: entry.task,
        source,
        expect: Expectation {
            min_items: entry.expect.min_items,
            required_paths: entry.expect.required_paths,
            further: Vec::new(),
        },
        examples: entry.examples,
        category: entry.category,
        requires_auth: entry.requires_auth,
        logins,
        reads_only: false,
        answer: None,
        timeout,
        secrets: TaskSecrets::default(),
    };
    let named = entry.parameters.into_iter().filter(|it| it.1.secret).map(|it| it.0);
    check_task(&mut task, &named.collect(), allow_secrets)?;
    Ok(task)
}

/// What holds for every task, from a manifest or from flags; its secrets, those of the `secret` parameters too, are set apart.
/// Fails with [`Code::ManifestInvalid`] or [`Code::SecretInTask`].
pub fn check_task(task: &mut Task, secret: &BTreeSet<String>, allow_secrets: bool) -> Result<()> {
    if task.sentence.trim().is_empty() || task.sentence.len() > MAX_TASK {
        return Err(invalid(format!("task must be a sentence of 1 to {MAX_TASK} bytes")));
    }
    if task.sentence.chars().any(|it| it.is_control() && !it.is_whitespace()) {
        return Err(invalid("task holds a control character"));
    }
    if task.examples.len() > MAX_EXAMPLES {
        return Err(invalid(format!("at most {MAX_EXAMPLES} examples")));
    }
    let mut names: Option<BTreeSet<&String>> = None;
    for example in &task.examples {
        let these: BTreeSet<&String> = example.keys().collect();
        if names.as_ref().is_some_and(|it| *it != these) {
            return Err(invalid("all examples must give the same parameters"));
        }
        for (name, value) in example {
            if !template::is_name(name) || name.starts_with("slot_") {
                return Err(invalid(format!("`{}` is not a parameter name", printable(name)))
                    .hint("use a-z, 0-9 and _, at most 40 characters, not starting with slot_"));
            }
            if value.is_empty() || value.len() > 200 || value.chars().any(char::is_control) {
                return Err(invalid(format!(
                    "example `{name}` must have 1 to 200 bytes without control characters"
                )));
            }
        }
        names = Some(these);
    }
    let names = names.unwrap_or_default();
    let mut texts: Vec<&str> = vec![&task.sentence];
    if let Source::Live { url, steps, .. } = &task.source {
        // `localhost:8001` has a scheme to a parser, and none to a person.
        if !url.contains("://") {
            return Err(invalid(format!("url `{}` has no scheme", printable(url)))
                .hint("write it as in the browser's address bar, with http:// or https://"));
        }
        let parsed = Url::parse(url).map_err(|err| invalid(format!("url: {err}")))?;
        // The parser drops line breaks and tabs without a word.
        if url.chars().any(char::is_control) {
            return Err(invalid("url holds a control character"));
        }
        let named = !parsed.username().is_empty() || parsed.password().is_some();
        if !matches!(parsed.scheme(), "http" | "https") || named {
            return Err(invalid("url must be http or https, without credentials"));
        }
        texts.push(url);
        for step in steps {
            match step {
                Step::Navigate(it) => texts.push(it),
                step => texts.extend(step.value()),
            }
        }
    }
    for text in texts {
        for hole in parameter_names(text) {
            if !names.contains(&hole) {
                return Err(invalid(format!(
                    "`{{{}}}` is used, but no example gives it",
                    printable(&hole)
                )));
            }
        }
    }
    check_named(secret, task)?;
    set_apart(task, secret, allow_secrets)
}

/// Names between single braces, as they stand in a task.
pub fn parameter_names(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, tail)) = after.split_once('}') else {
            break;
        };
        out.push(name.to_owned());
        rest = tail;
    }
    out
}

fn printable(text: &str) -> String {
    text.chars().filter(|it| !it.is_control()).take(60).collect()
}

fn relabel(place: &str, err: &Error) -> Error {
    let code = if err.code() == Code::SecretInTask { err.code() } else { Code::ManifestInvalid };
    let hint = err.hint_text().unwrap_or(HINT);
    Error::new(code, format!("{place}: {err}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Manifest> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.yaml");
        #[expect(clippy::disallowed_methods, reason = "a user's own file")]
        std::fs::write(&path, text).unwrap();
        load(&path, false)
    }

    #[test]
    fn a_manifest_is_read() {
        let it = parse(
            "version: 1\nrecipes:\n  - name: a\n    task: Find {q}\n    url: http://a.test/\n    examples: [{q: no}, {q: 012}]\n    record:\n      - fill: {role: searchbox, name: S, value: '{q}'}\n      - press: Enter\n      - wait_for: {text: ok}\n",
        )
        .unwrap();
        assert_eq!(it.tasks[0].examples[0]["q"], "no");
        assert_eq!(it.tasks[0].examples[1]["q"], "012");
        assert_eq!(it.delay, Duration::from_secs(5));
    }

    #[test]
    fn bad_manifests_are_named() {
        let head = "version: 1\nrecipes:\n";
        let cases = [
            ("version: 2\nrecipes: [{name: a, task: t, url: 'http://a.test/'}]", "version 2"),
            ("version: 1\nrecipes: []", "no recipes"),
            ("nonsense", "m.yaml"),
            (
                &format!("{head}  - {{name: ../x, task: t, url: 'http://a.test/'}}"),
                "not a recipe name",
            ),
            (&format!("{head}  - {{name: a, task: t}}"), "either url or har"),
            (
                &format!("{head}  - {{name: a, task: t, url: 'file:///etc/passwd'}}"),
                "http or https",
            ),
            (
                &format!("{head}  - {{name: a, task: 'find {{x}}', url: 'http://a.test/'}}"),
                "no example gives it",
            ),
            (&format!("{head}  - {{name: a, task: t, url: 'http://a.test/', nope: 1}}"), "nope"),
            (
                &format!(
                    "{head}  - {{name: a, task: t, url: 'http://a.test/'}}\n  - {{name: a, task: t, url: 'http://a.test/'}}"
                ),
                "used twice",
            ),
            (
                &format!(
                    "{head}  - {{name: a, task: t, url: 'http://a.test/', examples: [{{q: a}}, {{r: b}}]}}"
                ),
                "same parameters",
            ),
            (
                &format!("{head}  - &a {{name: a, task: t, url: 'http://a.test/'}}\n  - *a"),
                "m.yaml",
            ),
        ];
        for (text, part) in cases {
            let err = parse(text).err().expect(text);
            assert_eq!(err.code(), Code::ManifestInvalid, "{text}: {err}");
            assert!(err.to_string().contains(part), "{text}: {err}");
        }
    }

    #[test]
    fn a_name_has_one_spelling() {
        for name in [
            "..",
            ".",
            "../x",
            "a/b",
            "a\\\\b",
            "%2e%2e",
            "a.yaml",
            "~",
            "-a",
            "a-",
            " a",
            "A",
            "a_b",
            "a b",
            // Full width, Cyrillic, a ligature, zero width, right to left, and one letter written in two ways.
            "\u{ff41}",
            "\u{430}pple",
            "\u{fb01}x",
            "a\u{200b}b",
            "a\u{202e}b",
            "\u{e9}",
            "e\u{301}",
            "\u{131}",
            "a\\nb",
            "a\\tb",
            "a\\0b",
            "a\\eb",
        ] {
            let text = format!(
                "version: 1\nrecipes: [{{name: \"{name}\", task: t, url: 'http://a.test/'}}]"
            );
            let err = parse(&text).err().unwrap_or_else(|| panic!("{name:?} is taken"));
            assert_eq!(err.code(), Code::ManifestInvalid, "{name:?}: {err}");
            assert!(!err.to_string().contains(char::is_control), "{err}");
        }
    }

    #[test]
    fn yaml_does_only_what_it_says() {
        let entry = |more: &str| {
            format!("version: 1\nrecipes:\n  - {{name: a, task: t, url: 'http://a.test/'{more}}}\n")
        };
        let secret = "hunter2hunter2";
        for text in [
            // Anchors, aliases, merge keys, tags, several documents, keys that come twice.
            "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n".to_owned(),
            "version: 1\nrecipes:\n  - &a {name: a, task: t, url: 'http://a.test/'}\n  - {<<: *a, name: b}\n".to_owned(),
            entry(", <<: {category: x}"),
            entry(", name: b"),
            entry(", category: !!python/object/apply:os.system [id]"),
            entry(", examples: !!binary aGk="),
            format!("{}---\n{}", entry(""), entry("")),
            // Scalars of another type than is asked for.
            entry(", requires_auth: yes"),
            entry(", requires_auth: 1"),
            entry(", examples: {q: 1}"),
            entry(", examples: [{q: [1]}]"),
            entry(", record: [{press: Enter, click: x}]"),
            entry(", record: [{eval: 'alert(1)'}]"),
            // Control characters, and what looks like text and is not.
            entry("").replace("task: t", "task: \"t\\e[31m\""),
            entry("").replace("task: t", "task: \"t\\0\""),
            entry("").replace("'http://a.test/'", "\"http://a.te\\nst/\""),
            entry("").replace("http://a.test/", "http://user@a.test/"),
            entry("").replace("http://a.test/", "http://a b.test/"),
            entry("").replace("http://a.test/", "javascript:alert(1)"),
            entry(", examples: [{q: \"a\\r\\nb\"}]"),
            entry(", examples: [{'q\"': a}]"),
            entry(", examples: [{\u{430}: a}]"),
            "\0".to_owned(),
            "\t\t- x".to_owned(),
            "%YAML 9.9\n---\n".to_owned(),
            // Nested, wide, cut.
            format!("version: 1\nrecipes: {}{}", "[".repeat(100_000), "]".repeat(100_000)),
            format!("version: 1\nrecipes: [{}]", "{},".repeat(100_000)),
            entry("")[..40].to_owned(),
            format!("nonsense: [{secret}\n  x: {secret}"),
        ] {
            let shown: String = text.chars().take(300).collect();
            let err = parse(&text).err().unwrap_or_else(|| panic!("{shown:?} is taken"));
            assert_eq!(err.code(), Code::ManifestInvalid, "{shown:?}: {err}");
            let said = err.to_string();
            assert!(said.len() < 1000 && !said.contains(char::is_control), "{said}");
            assert!(!said.contains(secret), "{said}");
        }
        let huge = entry("") + &"#".repeat(MAX_BYTES as usize);
        assert_eq!(parse(&huge).err().map(|it| it.code()), Some(Code::Usage));
    }
}
