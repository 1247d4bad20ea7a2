//! Rules of the source that no compiler checks: files say what they are for and stay readable, codes are never renamed.

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|it| it == "rs") {
                out.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut out = Vec::new();
    walk(&root().join("src"), &mut out);
    walk(&root().join("engine/temporal/src"), &mut out);
    out
}

#[test]
fn files_say_what_they_are_for_and_stay_readable() {
    for (path, text) in sources() {
        assert!(text.starts_with("//!"), "{} does not open with //!", path.display());
        let lines = text.lines().count();
        assert!(
            lines <= 800,
            "{} has {lines} lines: look for the second room in it",
            path.display()
        );
    }
}

/// Participles, pronouns and adverbs that do not say what a type holds. The list only grows.
const NO_TYPE_NAMES: &[&str] = &[
    "About",
    "Again",
    "Answered",
    "Around",
    "Asked",
    "At",
    "Began",
    "Begun",
    "By",
    "Called",
    "Came",
    "Counted",
    "Described",
    "Did",
    "Doing",
    "Done",
    "Drawn",
    "Ended",
    "Enlisted",
    "Found",
    "Given",
    "Going",
    "Got",
    "Handed",
    "Heard",
    "Held",
    "How",
    "Inspected",
    "Kept",
    "Known",
    "Learned",
    "Left",
    "Lookers",
    "Made",
    "Meant",
    "Noted",
    "Nothing",
    "Of",
    "One",
    "Only",
    "Other",
    "Own",
    "Pantry",
    "Parking",
    "Purse",
    "Put",
    "Ran",
    "Read",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Sought",
    "Spent",
    "Spoken",
    "Standing",
    "Stands",
    "Station",
    "Stopped",
    "Taken",
    "Thrown",
    "To",
    "Told",
    "Tried",
    "Two",
    "Typed",
    "Until",
    "Wanted",
    "What",
    "Which",
    "Whole",
    "Why",
    "Within",
    "Written",
];

#[test]
fn names_of_types_say_what_they_hold() {
    let mut count = 0;
    for (path, text) in sources() {
        for line in text.lines() {
            let line = line.trim_start();
            let line = line.strip_prefix("pub").map_or(line, |it| {
                it.strip_prefix('(')
                    .and_then(|it| it.split_once(')'))
                    .map_or(it, |it| it.1)
                    .trim_start()
            });
            let mut words = line.split(|it: char| !it.is_alphanumeric() && it != '_');
            let is_type = words
                .next()
                .is_some_and(|it| ["struct", "enum", "trait", "type", "union"].contains(&it));
            let Some(name) = words.next().filter(|_| is_type) else { continue };
            count += 1;
            assert!(
                !NO_TYPE_NAMES.contains(&name),
                "{}: `{name}` does not say what it holds; a type is a noun",
                path.display()
            );
        }
    }
    assert!(count > 1_000, "{count} types were found");
}

#[test]
fn codes_are_only_ever_added() {
    let text = std::fs::read_to_string(root().join("src/base/error.rs")).unwrap();
    let now: Vec<&str> = text
        .lines()
        .filter_map(|it| it.trim().split_once(" = \"").map(|it| it.1))
        .filter_map(|it| it.split_once("\", ").map(|it| it.0))
        .collect();
    let golden = include_str!("../golden/codes.txt");
    let known: Vec<&str> = golden.lines().collect();
    assert!(now.len() > 20);
    for code in &known {
        assert!(now.contains(code), "{code} is gone; scripts branch on it");
    }
    for code in &now {
        assert!(known.contains(code), "add {code} to tests/golden/codes.txt");
    }
}

/// Folders of the crates, as the workspace has them.
fn crates() -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = std::fs::read_dir(root().join("src"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("Cargo.toml").exists())
        .collect();
    out.push(root().join("engine/temporal"));
    out.sort();
    out
}

#[test]
fn the_map_names_every_crate() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for folder in crates() {
        let folder = folder.strip_prefix(root()).unwrap().display().to_string();
        assert!(map.contains(&format!("`{folder}`")), "{folder} is not in the map");
    }
}

#[test]
fn every_crate_takes_lints_and_versions_from_the_workspace() {
    for folder in crates() {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for line in ["[lints]\nworkspace = true", "version.workspace", "rust-version.workspace"] {
            assert!(manifest.contains(line), "{}: {line}", folder.display());
        }
    }
}

#[test]
fn the_source_has_no_unsafe() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"forbid\""));
    for (path, text) in sources() {
        for line in text.lines().map(|it| it.split("//").next().unwrap()) {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            // In a string it may be a word.
            let token = words.into_iter().any(|it| it == "unsafe") && !line.contains('"');
            assert!(!token, "{}: {line}", path.display());
        }
    }
}
