//! What stands for a recipe here, and what only looks like it.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use super::*;
use crate::{registry::Registry, yaml};

fn recipe(name: &str, status: &str) -> Recipe {
    let proof = "verification: {fingerprint_version: 1, fingerprint_sha256: x, verified_at: '2026-01-01T00:00:00Z', \
                 transport: public_http, requires_session: false, witness: page}";
    yaml::parse(&format!(
        "{{version: 1, name: {name}, task: t, status: {status}, source_url: 'https://a.com/', \
         request: {{method: POST, url: 'https://a.com/', allowed_domains: [a.com]}}, response: {{type: json}}, {proof}}}"
    ))
    .unwrap()
}

fn name(text: &str) -> RecipeName {
    RecipeName::new(text).unwrap()
}

/// As a stranger's file comes to be there.
fn put(home: &Path, it: &Recipe) {
    let text = yaml::to_yaml(it).unwrap();
    files::write_atomic(&home.join("recipes"), &format!("{}.yaml", it.name), text.as_bytes())
        .unwrap();
}

#[test]
fn what_a_file_says_of_itself_is_a_claim() {
    let home = tempfile::tempdir().unwrap();
    let registry = Registry::open(&home.path().join("recipes"));
    let mut proven = recipe("proven", "verified");
    proven.trust = Trust::Proven;
    registry.save(&proven).unwrap();
    let get = |it: &str| registry.get(&name(it)).unwrap().recipe;
    assert_eq!(get("proven"), proven);

    // Not noted: of nobody, whatever it says, and also as a copy of what was proven.
    put(home.path(), &recipe("claims", "verified"));
    put(home.path(), &Recipe { name: name("copy"), ..proven.clone() });
    for it in ["claims", "copy"] {
        let it = get(it);
        assert_eq!((it.status, it.trust), (Status::Draft, Trust::Claimed));
        let proof = it.verification.unwrap();
        assert_eq!((proof.verified_at, proof.witness), (None, None));
    }
    // In place of what was proven, by another text of the same name.
    let mut other = proven.clone();
    other.request.url = "https://a.com/other".to_owned();
    put(home.path(), &other);
    assert_eq!((get("proven").status, get("proven").trust), (Status::Draft, Trust::Claimed));
    // The same text laid out otherwise is the same recipe.
    put(home.path(), &proven);
    assert_eq!(get("proven").trust, Trust::Proven);
    let listed = registry.list().unwrap();
    let verified =
        listed.iter().filter(|it| it.recipe.as_ref().is_ok_and(|it| it.status == Status::Verified));
    assert_eq!(verified.map(|it| it.name.as_str()).collect::<Vec<_>>(), ["proven"]);
}

#[test]
fn a_note_is_of_one_name_one_text_and_this_homes_key() {
    let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut it = recipe("it", "verified");
    it.trust = Trust::Proven;
    Registry::open(&other.path().join("recipes")).save(&it).unwrap();
    let registry = Registry::open(&home.path().join("recipes"));
    registry.save(&Recipe { name: name("own"), ..it.clone() }).unwrap();
    put(home.path(), &it);
    let trust = || registry.user_recipe(&name("it")).unwrap().unwrap().trust;
    let note = |bytes: &[u8]| {
        files::write_atomic(&home.path().join("trust"), "it.json", bytes).unwrap();
    };
    let read = |home: &Path, file: &str| std::fs::read(home.join("trust").join(file)).unwrap();
    // Another home's note, this home's of another name, one that was changed.
    note(&read(other.path(), "it.json"));
    assert_eq!(trust(), Trust::Claimed);
    note(&read(home.path(), "own.json"));
    assert_eq!(trust(), Trust::Claimed);
    registry.save(&it).unwrap();
    assert_eq!(trust(), Trust::Proven);
    let good = String::from_utf8(read(home.path(), "it.json")).unwrap();
    for bad in [
        good.replace("proven", "person"),
        good.replace("\"code\":\"", "\"code\":\"0"),
        "{".to_owned(),
    ] {
        note(bad.as_bytes());
        assert_eq!(trust(), Trust::Claimed, "{bad}");
    }
    note(good.as_bytes());
    assert_eq!(trust(), Trust::Proven);
    // Without the key, and with one that others can read, nothing is known.
    let key = home.path().join("trust/key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(trust(), Trust::Claimed);
    std::fs::remove_file(&key).unwrap();
    assert_eq!(trust(), Trust::Claimed);
}

#[test]
fn a_person_stands_for_a_text_and_not_for_a_name() {
    let home = tempfile::tempdir().unwrap();
    let registry = Registry::open(&home.path().join("recipes"));
    let it = recipe("it", "verified");
    put(home.path(), &it);
    let sha256 = digest(&registry.read_user_file(&it.name).unwrap()).unwrap();
    registry.trust(&it.name, &sha256).unwrap();
    let now = registry.user_recipe(&it.name).unwrap().unwrap();
    assert_eq!((now.status, now.trust), (Status::Verified, Trust::Person));
    put(home.path(), &Recipe { task: "another".to_owned(), ..it.clone() });
    assert_eq!(registry.user_recipe(&it.name).unwrap().unwrap().trust, Trust::Claimed);
    // What is deleted is forgotten.
    put(home.path(), &it);
    registry.delete(&it.name).unwrap();
    put(home.path(), &it);
    assert_eq!(registry.user_recipe(&it.name).unwrap().unwrap().trust, Trust::Claimed);
}

#[test]
fn a_home_begins_once() {
    let home = tempfile::tempdir().unwrap();
    let registry = Registry::open(&home.path().join("recipes"));
    put(home.path(), &recipe("known", "verified"));
    put(home.path(), &recipe("strange", "verified"));
    assert!(registry.is_new());
    let known = |it: &Recipe| (it.name.as_str() == "known").then_some(Trust::Proven);
    registry.initialize_trust(known, |_| false).unwrap();
    assert!(!registry.is_new());
    let status = |it: &str| registry.user_recipe(&name(it)).unwrap().unwrap().status;
    assert_eq!((status("known"), status("strange")), (Status::Verified, Status::Draft));
}

#[test]
fn a_digest_stays_the_same() {
    // What was noted by one version is known to the next.
    let expected = "e4554a4f771b5aa3d969c2b36107f0006e957be2a62aca5eac7e013365829ce6";
    assert_eq!(digest(&recipe("it", "verified")).unwrap(), expected);
}
