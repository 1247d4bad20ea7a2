//! Freshness field by field, what depends on which setting, and the journal of replays.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::executor::block_on;
use serde_json::json;

use super::{
    BrowserPool, LearnContext, RedoScope, Source, Task, TaskSecrets,
    fresh::{Freshness, check_freshness},
    learn,
    replay_context::TaskReplayer,
};
use commis_artifacts::{
    kinds::{Artifact, Kind},
    payloads::{BaselineFingerprint, Judged, Reason, RecipeDraft, Reject, Replay, SecondRecording},
    recording::SessionRecording,
    store::{Stamp, Store, TaskFolder},
};
use commis_base::{
    error::Code,
    ids::{RecipeName, TaskId},
    settings::{Home, Settings},
};
use commis_browser::Step;
use commis_net::{egress::EgressPolicy, transport::public_http::PublicHttp};
use commis_recipe::{
    model::{Pair, RequestTemplate, TransportKind},
    registry::Registry,
};
use commis_redact::{har, redact};
use commis_stages::{ReplayCall, Replayer, replay_template, verify::Expectation};
use commis_stages::{STAGES, Stage, table::StageSpec};
use commis_vault::Vault;

fn with_folder(check: impl FnOnce(&TaskFolder)) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path().join("artifacts"));
    check(&store.task(&TaskId::parse("shop-search-0011aabb").unwrap()).unwrap());
}

fn spec(stage: Stage) -> &'static StageSpec {
    &STAGES[stage as usize]
}

/// What each input of a stage hashes to.
fn upstream(stage: Stage) -> BTreeMap<Kind, String> {
    spec(stage).reads.iter().map(|it| (*it, format!("hash of {}", it.as_str()))).collect()
}

/// Writes a payload as its stage would, with these settings and of that version.
fn put<A: Artifact>(folder: &TaskFolder, stage: Stage, version: u32, settings: &str, payload: &A) {
    let inputs = upstream(stage).into_iter().map(|it| (it.0.as_str().to_owned(), it.1)).collect();
    let stamp = Stamp {
        source_url: String::new(),
        stage: stage.as_str().into(),
        stage_version: version,
        inputs,
        settings_sha256: settings.to_owned(),
    };
    folder.put(payload, stamp).unwrap();
    folder.sync().unwrap();
}

fn draft() -> Judged<RecipeDraft> {
    Judged::Rejected(Reject::new(Reason::ReplayFailed, "no"))
}

fn empty() -> SecondRecording {
    SecondRecording::default()
}

#[test]
fn stale_says_what_changed() {
    with_folder(|folder| {
        let stage = Stage::Validate;
        let now = |upstream: &BTreeMap<Kind, String>, settings: &str| {
            check_freshness(folder, spec(stage), upstream, settings).unwrap().describe()
        };
        let same = upstream(stage);
        assert!(matches!(
            check_freshness(folder, spec(stage), &same, "s").unwrap(),
            Freshness::Missing
        ));
        put(folder, stage, spec(stage).version, "s", &draft());
        assert_eq!(now(&same, "s"), "fresh");
        assert_eq!(now(&same, "other"), "stale: settings changed");
        for kind in spec(stage).reads {
            let mut changed = same.clone();
            changed.insert(*kind, "another".to_owned());
            assert_eq!(now(&changed, "s"), format!("stale: {} changed", kind.as_str()));
            changed.remove(kind);
            assert_eq!(now(&changed, "s"), format!("stale: {} changed", kind.as_str()));
        }
        // What a stage does not read is nothing to it.
        let mut more = same.clone();
        more.insert(Kind::VerificationReport, "another".to_owned());
        assert_eq!(now(&more, "s"), "fresh");
        put(folder, stage, 99, "s", &draft());
        assert!(now(&same, "s").starts_with("stale: stage version was 99"), "{}", now(&same, "s"));
    });
}

#[test]
fn a_recording_of_another_version_or_a_damaged_one_is_not_made_again() {
    with_folder(|folder| {
        let now = |stage| check_freshness(folder, spec(stage), &upstream(stage), "s").unwrap();
        let code = |it: Freshness| match it {
            Freshness::Broken(err) => err.code(),
            other => panic!("{}", other.describe()),
        };
        put(folder, Stage::RecordSecond, 99, "s", &empty());
        assert_eq!(code(now(Stage::RecordSecond)), Code::ArtifactSchemaMismatch);
        // Another manifest entry asks for another recording.
        put(folder, Stage::RecordSecond, spec(Stage::RecordSecond).version, "other", &empty());
        assert_eq!(now(Stage::RecordSecond).describe(), "stale: the manifest entry changed");

        let base = BaselineFingerprint {
            fingerprint_version: 1,
            fingerprint_sha256: "00".to_owned(),
            shape: Vec::new(),
            items: None,
        };
        put(folder, Stage::Baseline, spec(Stage::Baseline).version, "s", &base);
        put(folder, Stage::Validate, spec(Stage::Validate).version, "s", &draft());
        for kind in [Kind::BaselineFingerprint, Kind::RecipeDraft] {
            damage(&folder.path(kind));
        }
        // Pure: computed again. Observed: said.
        assert!(matches!(now(Stage::Baseline), Freshness::Stale(_)));
        assert_eq!(code(now(Stage::Validate)), Code::ArtifactCorrupt);
    });
}

#[expect(clippy::disallowed_methods, reason = "the test damages a file")]
fn damage(path: &PathBuf) {
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, text.replacen("\"payload_sha256\": \"", "\"payload_sha256\": \"0", 1))
        .unwrap();
}

fn task() -> Task {
    let example = |value: &str| BTreeMap::from([("query".to_owned(), value.to_owned())]);
    let name = RecipeName::new("shop").unwrap();
    Task {
        id: TaskId::new("", &name),
        name,
        sentence: "Search for {query}".to_owned(),
        source: Source::Live {
            url: "http://shop.test/".to_owned(),
            steps: Vec::new(),
            by_hand: false,
        },
        examples: vec![example("lantern"), example("teapot")],
        expect: Expectation::default(),
        category: None,
        requires_auth: false,
        logins: Vec::new(),
        reads_only: false,
        answer: None,
        timeout: Duration::from_secs(1),
        secrets: TaskSecrets::default(),
    }
}

#[test]
fn what_depends_on_what() {
    use Stage::{Analyze, Consult, Minimize, Rank, Record, RecordSecond, Validate, Verify};
    let check = |change: &dyn Fn(&mut Task, &mut Settings), expected: &[Stage]| {
        let (mut after, mut settings) = (task(), Settings::default());
        change(&mut after, &mut settings);
        let changed: Vec<Stage> = STAGES
            .iter()
            .map(|it| it.stage)
            .filter(|it| {
                after.settings_sha256(*it, &settings)
                    != task().settings_sha256(*it, &Settings::default())
            })
            .collect();
        assert_eq!(changed, expected);
    };
    check(&|_, _| (), &[]);
    check(&|_, it| _ = it.ranking.weights.insert("has_list".to_owned(), 1), &[Rank]);
    check(&|_, it| it.decision.min_confidence_bp = 1, &[Analyze]);
    let with = |it: &mut Settings, text: &str| it.model.choose(text).unwrap();
    check(&|_, it| with(it, "openai/small"), &[Consult]);
    check(&|_, it| it.model.timeout_s = 1, &[]);
    // Offline nobody is asked, so it does not matter which model it is.
    let offline = |it: &mut Settings| it.egress.no_network = true;
    check(&|_, it| (with(it, "openai/small"), offline(it)).0, &[Validate, Minimize, Verify]);
    check(&|_, it| it.learning.max_replays = 1, &[Minimize]);
    check(&|_, it| it.learning.pace_ms = 1, &[]);
    check(&|_, it| it.egress.no_network = true, &[Validate, Minimize, Verify]);
    check(&|_, it| it.redact.allow.push("sid".to_owned()), &[Record, RecordSecond]);
    check(&|it, _| it.sentence.push('!'), &[Record, RecordSecond]);
    check(&|it, _| it.examples[0].clear(), &[Record]);
    check(&|it, _| it.examples[1].clear(), &[RecordSecond]);
    check(&|it, _| _ = it.examples.pop(), &[RecordSecond]);
    check(&|it, _| it.expect.min_items = Some(1), &[Verify]);
    check(&|it, _| it.expect.required_paths.push("a".to_owned()), &[Verify]);
    check(&|it, _| it.category = Some("shopping".to_owned()), &[]);
    let har = |sha256: &str| Source::Har {
        path: PathBuf::from("a.har"),
        sha256: sha256.to_owned(),
        content: None,
    };
    check(&|it, _| it.source = har("aa"), &[Record, RecordSecond]);
}

/// The task, to be done in a window.
fn task_by_hand(steps: Vec<Step>) -> Task {
    let source = Source::Live { url: "http://shop.test/".to_owned(), steps, by_hand: true };
    Task { source, ..task() }
}

#[test]
fn a_recording_by_hand_answers_a_question_without_steps() {
    let digest = |it: &Task| it.settings_sha256(Stage::Record, &Settings::default());
    let plain = task_by_hand(Vec::new());
    assert_eq!(digest(&plain), digest(&task_by_hand(vec![Step::Press("Enter".to_owned())])));
    assert_ne!(digest(&plain), digest(&task()));
}

#[test]
fn what_a_person_did_is_not_recorded_unasked() {
    let home = tempfile::tempdir().unwrap();
    let settings = Settings::default();
    let policy = Arc::new(EgressPolicy::new(&settings.egress).unwrap());
    for redo in [None, Some(RedoScope::All), Some(RedoScope::From(Stage::Record))] {
        let cx = LearnContext {
            store: Store::new(home.path().join("artifacts")),
            shared_store: None,
            elsewhere: false,
            recipes: Registry::open(&home.path().join("recipes")),
            questions: OnceLock::new(),
            http: PublicHttp::new(Arc::clone(&policy)).unwrap(),
            browser: BrowserPool::new(Arc::clone(&policy), settings.browser.clone()),
            settings: settings.clone(),
            policy: Arc::clone(&policy),
            vault: Vault::new(&Home::find(Some(home.path())).unwrap()),
            pacer: commis_stages::pacer::Pacer::new(Duration::ZERO),
            model: None,
            redo,
            on_stage: Box::new(|_, _| ()),
        };
        let err = block_on(learn(&task_by_hand(Vec::new()), &cx)).err().unwrap();
        assert!(err.message().contains("by hand"), "{err}");
        assert_eq!(err.code(), Code::Usage);
    }
}

fn with_replayer(stub: Option<&SessionRecording>, check: impl FnOnce(TaskReplayer<'_>)) {
    with_folder(|folder| {
        let settings = Settings::default();
        let policy = Arc::new(EgressPolicy::new(&settings.egress).unwrap());
        let http = PublicHttp::new(Arc::clone(&policy)).unwrap();
        let pool = BrowserPool::new(Arc::clone(&policy), settings.browser.clone());
        let url = "http://shop.test/".to_owned();
        let timeout = Duration::from_secs(1);
        let mut replayer =
            TaskReplayer::new(&http, &policy, &pool, &settings.learning, folder, url, timeout);
        replayer.stub = stub;
        check(replayer);
    });
}

#[test]
fn the_journal_is_of_one_stage_run_and_survives_a_torn_line() {
    with_replayer(None, |mut replayer| {
        let replay = |n| Replay {
            n,
            what: "without header:a".to_owned(),
            transport: TransportKind::PublicHttp,
            status: Some(200),
            items: None,
            similarity_bp: Some(10_000),
            data_sha256: None,
            code: None,
            detail: None,
        };
        replayer.begin("run 1".to_owned()).unwrap();
        replayer.note("header:a", &replay(1)).unwrap();
        replayer.note("header:b", &replay(2)).unwrap();
        assert_eq!(replayer.recall("header:a"), None, "what was sent now is known already");
        replayer.begin("run 2".to_owned()).unwrap();
        assert_eq!(replayer.recall("header:a"), None);
        replayer.note("header:a", &replay(3)).unwrap();
        // A line that is no replay, and one that a crash cut short.
        replayer.folder.note(&json!({"run": "run 1", "key": "header:c", "replay": 5})).unwrap();
        append(
            &replayer.folder.path(Kind::RecipeDraft).with_file_name("replays.jsonl"),
            "{\"run\": \"run 1\", \"ke",
        );
        replayer.begin("run 1".to_owned()).unwrap();
        replayer.note("header:d", &replay(4)).unwrap();
        replayer.begin("run 1".to_owned()).unwrap();
        assert_eq!(replayer.recall("header:d"), Some(replay(4)), "written after the torn line");
        assert_eq!(replayer.recall("header:a"), Some(replay(1)));
        assert_eq!(replayer.recall("header:b"), Some(replay(2)));
        assert_eq!(replayer.recall("header:c"), None);
    });
}

fn append(path: &PathBuf, text: &str) {
    use std::io::Write as _;
    std::fs::OpenOptions::new()
        .append(true)
        .open(path)
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
}

fn recorded() -> SessionRecording {
    let typed = BTreeMap::from([("query".to_owned(), "harbour".to_owned())]);
    let bytes = include_bytes!("../../tests/fixtures/books.har");
    let imported = har::import(bytes, "Find books about harbour", typed).unwrap();
    redact(imported.recording, &Settings::default().redact).recording
}

#[test]
fn offline_only_the_recorded_request_is_answered() {
    let recording = recorded();
    let exchange = recording.exchanges.iter().find(|it| it.url.contains("/v1/books")).unwrap();
    let (request, slots) = replay_template(exchange).unwrap();
    with_replayer(Some(&recording), |mut replayer| {
        assert_eq!(replayer.transports(), [TransportKind::Stub]);
        let mut send = |request: &RequestTemplate| {
            let values = BTreeMap::new();
            let transport = TransportKind::Stub;
            let call = ReplayCall {
                transport,
                request,
                parameters: &[],
                values: &values,
                slots: &slots,
                steps: &[],
                assembly: None,
            };
            block_on(replayer.send(call)).map(|it| it.status).map_err(|it| it.code())
        };
        assert_eq!(send(&request), Ok(200));
        let mut others = vec![request.clone(), request.clone(), request.clone(), request.clone()];
        others[0].query.pop();
        others[1].query.push(Pair {
            name: "x".to_owned(),
            value: "1".to_owned(),
            ..Pair::default()
        });
        others[2].url.push('2');
        others[3].method = "POST".to_owned();
        for other in &others {
            assert_eq!(send(other), Err(Code::NetworkDisabled), "{other:?}");
        }
    });
}
