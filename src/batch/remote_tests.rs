//! A batch whose stages another machine runs: the same report, recipes here, and nothing handed over twice.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use futures::FutureExt as _;

use super::*;
use commis_artifacts::{shared_store::SharedFolder, signed_store::SignedStore};
use commis_base::{
    ids::{RecipeName, TaskId},
    mac::MacKey,
    settings::{Home, Settings},
};
use commis_learn::{BrowserPool, Source, Span, run_until_stopped, stages};
use commis_net::egress::EgressPolicy;
use commis_state::Status;

fn tasks() -> Vec<Task> {
    let har = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/books.har");
    let values = || vec![BTreeMap::from([("query".to_owned(), "harbour".to_owned())])];
    let task = |name: &str| {
        let source = Source::har(har.clone()).unwrap();
        let sentence = "Find books about {query}".to_owned();
        Task::new(RecipeName::new(name).unwrap(), sentence, source, values())
    };
    vec![task("books"), task("more-books")]
}

fn machine(place: &Path, name: &str, elsewhere: bool) -> Arc<LearnContext> {
    let root = place.join(name);
    let home = Home::find(Some(&root)).unwrap();
    let mut settings = Settings::default();
    settings.egress.no_network = true;
    let policy = Arc::new(EgressPolicy::new(&settings.egress).unwrap());
    let browser = BrowserPool::new(policy, settings.browser.clone());
    let shared_store = Some(Arc::new(SharedFolder::open(&place.join("store")).unwrap()) as _);
    let how = (None, Duration::ZERO);
    let told = Box::new(move |_: &Task, _| assert!(!elsewhere, "a stage was run here"));
    LearnContext::open_with(&home, &settings, browser, how, (shared_store, elsewhere), told)
        .unwrap()
}

/// Has each task done by another machine, or says that it failed with that code.
struct FakeEngine {
    cx: Arc<LearnContext>,
    fails: Option<Code>,
    handed: Mutex<usize>,
}

impl Engine for FakeEngine {
    fn learn(
        &self,
        all: WorkRequest,
        tell: mpsc::UnboundedSender<EngineEvent>,
    ) -> BoxFuture<'_, Result<()>> {
        async move {
            *self.handed.lock().unwrap_or_else(PoisonError::into_inner) += all.tasks.len();
            for it in all.tasks {
                // Read at once, whatever the batch leaves between two visits to a site.
                assert_eq!((&it.host, it.delay_ms), (&None, 0));
                tell.send(EngineEvent::Began { id: it.id.clone() }).unwrap();
                let (id, key) = (TaskId::parse(&it.id).unwrap(), it.entry);
                let key = ObjectKey::parse(&key, &id).unwrap();
                let bytes = self.cx.shared_store.as_ref().unwrap().read(&key, 1 << 20)?.unwrap();
                let task = StoredTask::parse(&bytes, &id)?.task().unwrap();
                if let Some(code) = self.fails {
                    let err = Error::new(code, "it did not work").hint("try");
                    tell.send(EngineEvent::Ended(TaskOutcome::from_error(&it.id, 2, &err)))
                        .unwrap();
                    continue;
                }
                let cx = Arc::clone(&self.cx);
                let work = move || async move { stages(&task, &cx, Span::ALL).await };
                let came = run_until_stopped(work, std::future::pending()).await?;
                let ran =
                    came.stages.iter().map(|it| StageRun { stage: it.stage, how: it.how, ms: 3 });
                let (id, ran) = (it.id, ran.collect());
                let ended = TaskOutcome {
                    id,
                    failed: None,
                    ran,
                    live_values_lost: false,
                    model: None,
                    attempts: 1,
                    code: None,
                };
                // As it comes back from the engine.
                let text = serde_json::to_string(&ended).unwrap();
                assert!(text.len() < 700, "{text}");
                tell.send(EngineEvent::Ended(serde_json::from_str(&text).unwrap())).unwrap();
            }
            Ok(())
        }
        .boxed()
    }
}

/// The report, the names of events, and how many tasks were handed over.
async fn learned(place: &Path, fails: Option<Code>) -> (Report, Vec<String>, usize) {
    let cx = machine(place, "here", true);
    let state = Arc::new(State::open(cx.store.root()).unwrap());
    let events: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&events);
    let tell = move |event: &Event<'_>| {
        let line: serde_json::Value = serde_json::from_str(&event.to_json_line()).unwrap();
        told.lock().unwrap().push(line["event"].as_str().unwrap().to_owned());
    };
    let monitor = Arc::new(BatchMonitor::new(Arc::clone(&state), Box::new(tell)));
    let (delay, deadline) = (Duration::from_secs(5), Duration::from_secs(60));
    let options = Options { jobs: 2, per_host: 1, delay, retries: 1, deadline };
    let other = machine(place, "other", false);
    let engine = Arc::new(FakeEngine { cx: other, fails, handed: Mutex::default() });
    let report =
        run("mine", tasks(), cx, state, monitor, options, Arc::clone(&engine) as _).await.unwrap();
    let handed = *engine.handed.lock().unwrap();
    let events = events.lock().unwrap().clone();
    (report, events, handed)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_learn_is_reported_and_published_here() {
    let place = tempfile::tempdir().unwrap();
    let (report, events, handed) = learned(place.path(), None).await;
    assert_eq!((report.totals.count(Status::Draft), handed), (2, 2));
    assert_eq!(report.totals.exit_code(), 0);
    for (name, n) in
        [("task_started", 2), ("stage_started", 22), ("stage_finished", 22), ("task_finished", 2)]
    {
        assert_eq!(events.iter().filter(|it| *it == name).count(), n, "{name}: {events:?}");
    }
    for it in report.lines() {
        let it = it.unwrap();
        assert_eq!((it.ran.len(), it.reused.len()), (11, 0), "{it:?}");
        assert!(place.path().join(format!("here/recipes/{}.yaml", it.name)).exists());
    }
    // Again: it is in the store, and nobody else is asked.
    let (report, _, handed) = learned(place.path(), Some(Code::Internal)).await;
    assert_eq!((report.totals.count(Status::Draft), handed), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_elsewhere_fails_here() {
    for (code, exit) in [(Code::HarInvalid, 1), (Code::BrowserMissing, 3)] {
        let place = tempfile::tempdir().unwrap();
        let (report, _, handed) = learned(place.path(), Some(code)).await;
        assert_eq!((report.totals.count(Status::Failed), handed), (2, 2));
        assert_eq!((report.totals.exit_code(), report.totals.retries), (exit, 2));
        let line = report.lines().next().unwrap().unwrap();
        assert_eq!(
            (line.error_code.as_deref(), line.hint.as_deref()),
            (Some(code.as_str()), Some("try"))
        );
    }
}

#[test]
fn what_no_machine_of_the_fleet_said_is_a_failure() {
    let home = tempfile::tempdir().unwrap();
    let folder = || Arc::new(SharedFolder::open(home.path()).unwrap());
    let of = |n: u8| SignedStore::new(folder(), MacKey::new(&[n; 32]).unwrap());
    let (ours, theirs) = (of(1), of(2));
    let failed = TaskOutcome::from_error("a-0", 1, &Error::new(Code::HttpStatus, "404").hint("h"));
    let done = TaskOutcome { failed: None, ..failed.clone() };
    let code = |it: TaskOutcome| it.verify_signature(&ours).code();
    assert_eq!(code(done.clone().sign(&ours)), None);
    assert_eq!(code(failed.clone().sign(&ours)), Some(Code::HttpStatus));
    let moved = TaskOutcome { id: "b-0".to_owned(), ..done.clone().sign(&ours) };
    let turned = TaskOutcome { failed: None, ..failed.clone().sign(&ours) };
    for forged in [done.clone(), failed, done.sign(&theirs), moved, turned] {
        assert_eq!(code(forged), Some(Code::StoreUntrusted));
    }
    // What workflows make themselves keeps its code, and not its words.
    let late =
        TaskOutcome::from_error("a-0", 1, &Error::new(Code::Timeout, "run this: x").hint("run x"));
    let heard = late.verify_signature(&ours);
    assert_eq!(heard.code(), Some(Code::Timeout));
    assert!(!format!("{heard:?}").contains("run this"));
    // Without a key nobody is told apart.
    assert_eq!(
        TaskOutcome::from_error("a-0", 1, &Error::new(Code::HttpStatus, ""))
            .verify_signature(&*folder())
            .code(),
        Some(Code::HttpStatus)
    );
}
