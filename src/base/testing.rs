//! For tests: what lies outside the repository, and files of the project that tests make.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests alone compile it"
)]

use std::path::{Path, PathBuf};

/// A file or folder of the shared data, which is no part of the repository: beside it, or where `COMMIS_SHARED` says.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("COMMIS_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    skip_without(&path.display().to_string());
    None
}

/// Says that a test lacks something and so does not test. Panics where `COMMIS_REQUIRE_ALL=1` says that nothing may be missing.
pub fn skip_without(what: &str) {
    println!("skipped: {what} is missing");
    assert!(
        std::env::var_os("COMMIS_REQUIRE_ALL").is_none_or(|it| it != "1"),
        "{what} is missing, and COMMIS_REQUIRE_ALL=1"
    );
}

/// Files of the project are these texts, or are made so.
pub fn assert_files<const N: usize>(root: &Path, files: [(&str, String); N]) {
    let mut stale = Vec::new();
    for (file, text) in files {
        let path = root.join(file);
        if std::fs::read_to_string(&path).ok().as_ref() == Some(&text) {
            continue;
        }
        if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
        } else {
            stale.push(file);
        }
    }
    assert!(stale.is_empty(), "stale: {stale:?}; SNAPSHOTS=overwrite cargo test reference");
}
