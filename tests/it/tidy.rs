//! The house's own rules, read off the source: imports point down, files say what they are for, codes are never renamed.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// As in ARCHITECTURE.md; a floor imports only floors below it (or its own module).
const FLOORS: &[(u8, &[&str])] = &[
    (9, &["cli"]),
    (8, &["serve"]),
    (7, &["agent", "batch", "bench", "endpoints", "eval"]),
    (6, &["pipeline"]),
    (5, &["stages"]),
    (4, &["runner", "browser", "har", "model"]),
    (3, &["transport", "redact", "vault"]),
    (2, &["egress", "artifacts", "blocks", "export"]),
    (1, &["recipe", "state"]),
    (0, &["error", "files", "ids", "page", "settings", "shape"]),
];

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
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut out);
    out
}

fn module(path: &Path) -> String {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let first =
        path.strip_prefix(src).unwrap().iter().next().unwrap().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn imports_point_down() {
    let floors: BTreeMap<&str, u8> =
        FLOORS.iter().flat_map(|(floor, names)| names.iter().map(|it| (*it, *floor))).collect();
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let own = module(&path);
        let Some(floor) = floors.get(own.as_str()) else {
            continue;
        };
        // Tests may look around.
        let text = text.split("#[cfg(test)]").next().unwrap();
        if path.file_stem().unwrap().to_string_lossy().ends_with("tests") {
            continue;
        }
        for used in crate_uses(text) {
            let Some(other) = floors.get(used.as_str()) else {
                continue;
            };
            if used != own && other >= floor && *floor > 0 {
                wrong.push(format!(
                    "{}: {own} (floor {floor}) uses {used} (floor {other})",
                    path.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// First segments after `crate::`, grouped imports included.
fn crate_uses(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut item = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => out.push(std::mem::take(&mut item)),
                    _ if depth == 0 => item.push(c),
                    _ => {}
                }
            }
            out.push(item);
        } else {
            out.push(rest.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect());
        }
    }
    out.into_iter()
        .map(|it| it.trim().split("::").next().unwrap().to_owned())
        .filter(|it| !it.is_empty())
        .collect()
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

#[test]
fn codes_are_only_ever_added() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/error.rs"))
        .unwrap();
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

#[test]
fn the_map_names_every_module() {
    let map =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md"))
            .unwrap();
    assert!(map.lines().count() <= 150);
    for (_, names) in FLOORS {
        for name in *names {
            assert!(
                map.contains(&format!("`{name}/`")) || map.contains(&format!("`{name}.rs`")),
                "{name} is not in the map"
            );
        }
    }
}

#[test]
fn the_source_has_no_unsafe() {
    let manifest =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
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
