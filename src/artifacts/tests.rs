//! The store's failing cases, and the checked-in schemas.

use std::{collections::BTreeMap, os::unix::fs::PermissionsExt as _, path::Path};

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

use super::{
    kinds::{Artifact, Kind},
    payloads::*,
    recording::SessionRecording,
    store::{ArtifactState, Stamp, Store, TaskFolder, sha256},
};
use commis_base::{error::Code, ids::TaskId};

fn baseline(items: u64) -> BaselineFingerprint {
    BaselineFingerprint {
        fingerprint_version: 1,
        fingerprint_sha256: "00".to_owned(),
        shape: vec!["$:object".to_owned()],
        items: Some(items),
    }
}

fn stamp() -> Stamp {
    Stamp {
        source_url: "http://shop.test/".to_owned(),
        stage: "baseline".into(),
        stage_version: 1,
        inputs: BTreeMap::from([("recipe_draft".to_owned(), "aa".to_owned())]),
        settings_sha256: "bb".to_owned(),
    }
}

fn with_store(check: impl FnOnce(&Store, &TaskId)) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path().join("artifacts"));
    check(&store, &TaskId::parse("shop-search-0011aabb").unwrap());
}

fn put(task: &TaskFolder, it: &BaselineFingerprint) {
    task.put(it, stamp()).unwrap();
    task.sync().unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the test damages a file")]
fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn round_trip_modes_and_lock() {
    with_store(|store, id| {
        let task = store.task(id).unwrap();
        put(&task, &baseline(3));
        assert_eq!(task.get::<BaselineFingerprint>().unwrap(), baseline(3));
        let path = task.path(Kind::BaselineFingerprint);
        let mode = |it: &Path| std::fs::metadata(it).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(store.task(id).err().unwrap().code(), Code::TaskBusy);
        drop(task);
        store.task(id).unwrap();
        assert_eq!(store.tasks().unwrap(), std::slice::from_ref(id));
    });
}

#[test]
fn what_was_written_counts_here_at_once_and_elsewhere_when_it_is_settled() {
    with_store(|store, id| {
        let task = store.task(id).unwrap();
        let elsewhere = || store.peek(id).unwrap().unwrap().get::<BaselineFingerprint>();
        put(&task, &baseline(3));
        task.put(&baseline(4), stamp()).unwrap();
        task.put(&baseline(5), stamp()).unwrap();
        assert_eq!(task.get::<BaselineFingerprint>().unwrap(), baseline(5));
        assert_eq!(elsewhere().unwrap(), baseline(3), "until then a crash leaves what was there");
        task.sync().unwrap();
        assert_eq!(elsewhere().unwrap(), baseline(5));
        let left = || task.dir().has_leftovers("").unwrap();
        assert!(!left(), "what was replaced before it had its name");
        // The journal goes when what it led to is on the disk.
        task.note(&json!(1)).unwrap();
        task.put(&baseline(6), stamp()).unwrap();
        task.forget_journal().unwrap();
        assert_eq!(elsewhere().unwrap(), baseline(6));
        // Who stops loses nothing.
        task.put(&baseline(7), stamp()).unwrap();
        assert!(left());
        drop(task);
        assert_eq!(elsewhere().unwrap(), baseline(7));
    });
}

#[test]
fn damage_is_named() {
    let cases = [
        ("\"items\": 3", "\"items\": 4", Code::ArtifactCorrupt),
        (
            "\"artifact\": \"baseline_fingerprint\"",
            "\"artifact\": \"recipe_draft\"",
            Code::ArtifactCorrupt,
        ),
        ("\"task_id\": \"shop", "\"task_id\": \"shopp", Code::ArtifactCorrupt),
        ("{", "", Code::ArtifactCorrupt),
        ("\"artifact_version\": 1", "\"artifact_version\": 2", Code::ArtifactSchemaMismatch),
        ("\"schema_hash\": \"", "\"schema_hash\": \"0", Code::ArtifactSchemaMismatch),
    ];
    for (from, to, code) in cases {
        with_store(|store, id| {
            let task = store.task(id).unwrap();
            put(&task, &baseline(3));
            edit(&task.path(Kind::BaselineFingerprint), from, to);
            let err = task.get::<BaselineFingerprint>().unwrap_err();
            assert_eq!(err.code(), code, "{from} -> {to}: {err}");
            assert!(err.hint_text().is_some());
            put(&task, &baseline(3));
            assert!(task.get::<BaselineFingerprint>().is_ok(), "a write replaces it");
        });
    }
}

#[test]
fn a_cut_file_is_corrupt_and_an_absent_one_is_absent() {
    with_store(|store, id| {
        let task = store.task(id).unwrap();
        assert!(matches!(task.find(Kind::RecipeDraft).unwrap(), ArtifactState::Absent));
        assert_eq!(task.get::<BaselineFingerprint>().unwrap_err().code(), Code::ArtifactMissing);
        put(&task, &baseline(3));
        let path = task.path(Kind::BaselineFingerprint);
        let len = std::fs::metadata(&path).unwrap().len();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(len / 2).unwrap();
        assert_eq!(task.get::<BaselineFingerprint>().unwrap_err().code(), Code::ArtifactCorrupt);
    });
}

#[test]
fn planted_links_are_refused() {
    with_store(|store, id| {
        let task = store.task(id).unwrap();
        let path = task.path(Kind::BaselineFingerprint);
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert_eq!(task.put(&baseline(3), stamp()).unwrap_err().code(), Code::ArtifactIo);
        assert_eq!(task.get::<BaselineFingerprint>().unwrap_err().code(), Code::ArtifactIo);
        let other = TaskId::parse("linked-00000000").unwrap();
        std::os::unix::fs::symlink("/tmp", store.root().join("linked-00000000")).unwrap();
        assert_eq!(store.task(&other).err().unwrap().code(), Code::ArtifactIo);
    });
}

#[test]
fn floats_read_back_as_written() {
    with_store(|store, id| {
        let task = store.task(id).unwrap();
        let spec =
            json!({"a": 0.1 + 0.2, "b": 1e21, "c": 123_456_789.123_456_79, "d": -0.0, "e": 5e-324});
        let mut report = MinimizationReport {
            trials: vec![],
            request: serde_json::from_value(
                json!({"method": "POST", "url": "http://a.test/", "allowed_domains": []}),
            )
            .unwrap(),
            slots: vec![],
            budget_exhausted: false,
        };
        report.request.body = Some(commis_recipe::model::BodyTemplate::Json(spec));
        task.put(&report, stamp()).unwrap();
        task.get::<MinimizationReport>().unwrap();
    });
}

#[test]
fn the_journal_forgives_a_cut_line() {
    with_store(|store, id| {
        let task = store.task(id).unwrap();
        task.note(&json!({"n": 1})).unwrap();
        task.note(&json!({"n": 2})).unwrap();
        let path = task.path(Kind::RecipeDraft).with_file_name("replays.jsonl");
        let len = std::fs::metadata(&path).unwrap().len();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(len - 3).unwrap();
        assert_eq!(task.journal().unwrap(), [json!({"n": 1})]);
        task.note(&json!({"n": 3})).unwrap();
        assert_eq!(task.journal().unwrap(), [json!({"n": 1}), json!({"n": 3})]);
        task.forget_journal().unwrap();
        assert!(task.journal().unwrap().is_empty());
    });
}

/// `SNAPSHOTS=overwrite cargo test schemas` accepts a changed schema; then bump the kind's version and read the diff.
#[test]
fn checked_in_schemas_match_the_types() {
    fn schema<A: Artifact + JsonSchema>() -> (Kind, String) {
        let settings = SchemaSettings::draft2020_12();
        let schema = SchemaGenerator::new(settings).into_root_schema_for::<A>();
        let mut value = serde_json::to_value(schema).unwrap();
        strip_descriptions(&mut value);
        let canonical = serde_json_canonicalizer::to_string(&value).unwrap();
        let value: Value = serde_json::from_str(&canonical).unwrap();
        (A::KIND, serde_json::to_string_pretty(&value).unwrap() + "\n")
    }
    let all = [
        schema::<SessionRecording>(),
        schema::<SecondRecording>(),
        schema::<Judged<CandidateSet>>(),
        schema::<CandidateSummary>(),
        schema::<ModelAnswer>(),
        schema::<Judged<RecipeAnalysis>>(),
        schema::<Judged<RecipeDraft>>(),
        schema::<BaselineFingerprint>(),
        schema::<MinimizationReport>(),
        schema::<Judged<RecipeDraftMinimized>>(),
        schema::<VerificationReport>(),
    ];
    assert_eq!(all.iter().map(|it| it.0).collect::<Vec<_>>(), Kind::ALL);
    for (kind, text) in all {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(kind.file());
        snapbox::Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV).eq(
            text.clone(),
            snapbox::Data::read_from(&file, Some(snapbox::data::DataFormat::Text)),
        );
        assert_eq!(kind.schema_hash(), sha256(kind.schema().as_bytes()));
    }
}

/// A changed comment must not make every stored artifact foreign.
fn strip_descriptions(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("description").is_some_and(Value::is_string) {
                map.remove("description");
            }
            map.values_mut().for_each(strip_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_descriptions),
        _ => {}
    }
}
