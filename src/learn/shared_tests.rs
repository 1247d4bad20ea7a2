//! Two machines at one task: whoever is second goes on from what the first has.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::executor::block_on;

use super::{BrowserPool, LearnContext, Source, Span, Task, stages};
use commis_artifacts::{
    kinds::Kind,
    recording::SessionRecording,
    shared_store::{ObjectKey, ObjectMeta, SharedFolder, SharedStore, StageRequest},
    signed_store::SignedStore,
    store::{Stamp, Store},
};
use commis_base::{
    error::{Code, Result},
    ids::RecipeName,
    mac::MacKey,
    settings::{Home, Settings},
};
use commis_net::{egress::EgressPolicy, transport::public_http::PublicHttp};
use commis_recipe::registry::Registry;
use commis_stages::Stage;
use commis_vault::Vault;

fn task() -> Task {
    let har = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/books.har");
    Task::new(
        RecipeName::new("books").unwrap(),
        "Find books about {query}".to_owned(),
        Source::har(har).unwrap(),
        vec![BTreeMap::from([("query".to_owned(), "harbour".to_owned())])],
    )
}

/// A machine.
fn machine(home: &Path, shared_store: Arc<dyn SharedStore>) -> LearnContext {
    let mut settings = Settings::default();
    settings.egress.no_network = true;
    // No browser is started here.
    settings.learning.render_har = false;
    let policy = Arc::new(EgressPolicy::new(&settings.egress).unwrap());
    LearnContext {
        store: Store::new(home.join("artifacts")),
        shared_store: Some(shared_store),
        elsewhere: false,
        recipes: Registry::open(&home.join("recipes")),
        questions: OnceLock::from(None),
        http: PublicHttp::new(Arc::clone(&policy)).unwrap(),
        browser: BrowserPool::new(Arc::clone(&policy), settings.browser.clone()),
        vault: Vault::new(&Home::find(Some(home)).unwrap()),
        pacer: commis_stages::pacer::Pacer::new(Duration::ZERO),
        settings,
        policy,
        model: None,
        redo: None,
        on_stage: Box::new(|_, _| ()),
    }
}

/// Another machine puts its artifact there just before each of ours.
struct RacingStore {
    ours: SharedFolder,
    theirs: SharedFolder,
}

impl SharedStore for RacingStore {
    fn read(&self, key: &ObjectKey, max: usize) -> Result<Option<Vec<u8>>> {
        self.ours.read(key, max)
    }

    fn create(&self, key: &ObjectKey, bytes: Vec<u8>) -> Result<bool> {
        if let Some(it) = self.theirs.read(key, 1 << 30)? {
            self.ours.create(key, it)?;
        }
        self.ours.create(key, bytes)
    }

    fn remove(&self, key: &ObjectKey) -> Result<bool> {
        self.ours.remove(key)
    }

    fn list(&self, each: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        self.ours.list(each)
    }

    fn list_in(&self, folder: &str, each: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        self.ours.list_in(folder, each)
    }

    fn location(&self) -> String {
        "raced".to_owned()
    }
}

#[test]
fn who_comes_second_goes_on_from_what_the_first_has() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let shared_store = |name: &str| SharedFolder::open(&at(name)).unwrap();
    let task = task();
    let first = Span { first: Stage::Record, last: Stage::Record };
    let own = machine(&at("own"), Arc::new(shared_store("scratch")));
    block_on(stages(&task, &own, first)).unwrap();

    // The other machine's recording of the same session took longer.
    let folder = own.store.task(&task.id).unwrap();
    let mut recording: SessionRecording = folder.get().unwrap();
    recording.duration_ms += 1234;
    let settings_sha256 = task.settings_sha256(Stage::Record, &own.settings);
    let inputs = BTreeMap::new();
    let stamp = Stamp {
        source_url: String::new(),
        stage: "record".into(),
        stage_version: commis_stages::STAGES[0].version,
        inputs: inputs.clone(),
        settings_sha256: settings_sha256.clone(),
    };
    let (theirs, _) = folder.put(&recording, stamp).unwrap();
    let asked = StageRequest {
        task: &task.id,
        kind: Kind::SessionRecording,
        stage: "record",
        stage_version: commis_stages::STAGES[0].version,
        inputs: &inputs,
        settings_sha256: &settings_sha256,
        again: 0,
    };
    let bytes = folder.bytes(Kind::SessionRecording).unwrap().unwrap();
    shared_store("theirs").create(&asked.key(), bytes.clone()).unwrap();
    drop(folder);

    let raced =
        Arc::new(RacingStore { ours: shared_store("ours"), theirs: shared_store("theirs") });
    let late = machine(&at("late"), Arc::clone(&raced) as _);
    let came = block_on(stages(&task, &late, Span { last: Stage::Rank, ..first })).unwrap();
    let came = serde_json::to_value(came).unwrap();
    assert_eq!(
        (&came["stages"][0]["how"], &came["stages"][2]["how"]),
        (&"adopted".into(), &"made".into())
    );
    assert_eq!(came["stages"][0]["payload_sha256"], theirs);
    assert_eq!(came["stages"][0]["key"], asked.key().to_string());
    let folder = late.store.task(&task.id).unwrap();
    assert_eq!(folder.bytes(Kind::SessionRecording).unwrap().unwrap(), bytes);
    let rank = folder.envelope(Kind::CandidateSet).unwrap().unwrap();
    assert_eq!(rank.inputs["session_recording"], theirs);
    assert_eq!(raced.read(&asked.key(), 1 << 30).unwrap().unwrap(), bytes);
}

#[test]
fn the_last_of_several_recordings_counts() {
    let place = tempfile::tempdir().unwrap();
    let task = task();
    let shared_store = Arc::new(SharedFolder::open(&place.path().join("store")).unwrap());
    let cx = machine(&place.path().join("home"), Arc::clone(&shared_store) as _);
    let span = Span { first: Stage::Record, last: Stage::Record };
    let first = serde_json::to_value(block_on(stages(&task, &cx, span)).unwrap()).unwrap();
    // As another machine leaves it that had lost what only the session knew.
    let settings_sha256 = task.settings_sha256(Stage::Record, &cx.settings);
    let again = StageRequest {
        task: &task.id,
        kind: Kind::SessionRecording,
        stage: "record",
        stage_version: commis_stages::STAGES[0].version,
        inputs: &BTreeMap::new(),
        settings_sha256: &settings_sha256,
        again: 1,
    };
    let folder = cx.store.task(&task.id).unwrap();
    let mut recording: SessionRecording = folder.get().unwrap();
    recording.duration_ms += 77;
    let stamp = Stamp {
        source_url: String::new(),
        stage: "record".into(),
        stage_version: commis_stages::STAGES[0].version,
        inputs: BTreeMap::new(),
        settings_sha256: settings_sha256.clone(),
    };
    let (newer, _) = folder.put(&recording, stamp).unwrap();
    shared_store
        .create(&again.key(), folder.bytes(Kind::SessionRecording).unwrap().unwrap())
        .unwrap();
    drop(folder);
    let other = machine(&place.path().join("other"), Arc::clone(&shared_store) as _);
    let came = serde_json::to_value(block_on(stages(&task, &other, span)).unwrap()).unwrap();
    assert_ne!(first["stages"][0]["payload_sha256"], newer);
    assert_eq!(came["stages"][0]["payload_sha256"], newer);
    assert_eq!(came["stages"][0]["key"], again.key().to_string());
    assert_eq!(came["stages"][0]["how"], "there");
}

#[test]
fn a_task_that_wants_a_login_is_decided_and_one_without_its_inputs_is_not() {
    let place = tempfile::tempdir().unwrap();
    let shared_store = Arc::new(SharedFolder::open(&place.path().join("store")).unwrap());
    let cx = machine(&place.path().join("home"), shared_store);
    let span = Span { first: Stage::Verify, last: Stage::Verify };
    let login = Task { requires_auth: true, ..task() };
    let came = serde_json::to_value(block_on(stages(&login, &cx, span)).unwrap()).unwrap();
    assert_eq!(came["decided"]["reason"], "needs_login");
    let err = block_on(stages(&task(), &cx, span)).unwrap_err();
    assert_eq!(err.code(), Code::ArtifactMissing);
}

/// Who may write to the store changes what lies there, or is first: whatever hashes say, none of it is taken.
#[test]
fn twenty_objects_of_strangers_make_no_recipe() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let key = |n: u8| MacKey::new(&[n; 32]).unwrap();
    let signed = |name: &str, n: u8| -> Arc<dyn SharedStore> {
        Arc::new(SignedStore::new(Arc::new(SharedFolder::open(&at(name)).unwrap()), key(n)))
    };
    let task = task();
    let own = machine(&at("own"), signed("store", 1));
    block_on(super::learn(&task, &own)).unwrap();
    let folder = SharedFolder::open(&at("store")).unwrap();
    let mut keys = Vec::new();
    folder.list_in(task.id.as_str(), &mut |it| keys.push(it.name)).unwrap();
    keys.retain(|it| it != "task.json");
    keys.sort();
    let whole = |name: &str| {
        folder
            .read(&ObjectKey::for_name(task.id.as_str(), name).unwrap(), 1 << 30)
            .unwrap()
            .unwrap()
    };
    let body = |name: &str| whole(name).splitn(2, |it| *it == b'\n').nth(1).unwrap().to_vec();
    let evil =
        |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace("books", "evils").into_bytes();
    let mut tried = 0;
    for name in &keys {
        let other = keys.iter().find(|it| *it != name).unwrap();
        let mark = |bytes: Vec<u8>| {
            let head = &whole(name)[..whole(name).len() - body(name).len()];
            [head, &bytes].concat()
        };
        let foreign =
            SignedStore::new(Arc::new(SharedFolder::open(&at("foreign")).unwrap()), key(2));
        let object = ObjectKey::for_name(task.id.as_str(), name).unwrap();
        foreign.create(&object, body(name)).unwrap();
        let theirs = SharedFolder::open(&at("foreign")).unwrap().read(&object, 1 << 30).unwrap();
        for forged in [evil(body(name)), mark(evil(body(name))), theirs.unwrap(), whole(other)] {
            tried += 1;
            let store = format!("s{tried}");
            let copy = SharedFolder::open(&at(&store)).unwrap();
            for it in keys.iter().filter(|it| *it != name) {
                copy.create(&ObjectKey::for_name(task.id.as_str(), it).unwrap(), whole(it))
                    .unwrap();
            }
            copy.create(&object, forged).unwrap();
            let late = machine(&at(&format!("m{tried}")), signed(&store, 1));
            let err = block_on(super::learn(&task, &late)).map(|_| ()).unwrap_err();
            assert_eq!(err.code(), Code::StoreUntrusted, "{name}: {err}");
            assert!(late.recipes.user_recipe(&task.name).unwrap().is_none(), "{name}");
        }
    }
    assert!(tried >= 20, "{tried}");
}
