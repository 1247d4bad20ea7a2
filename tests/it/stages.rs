//! Stages of a task on more than one machine: each a home of its own, with a store in common.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::support::{Home, STORE_KEY, Web, batch_report, write};
use commis_base::mac::MacKey;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/books.har");
const STAGES: [&str; 11] = [
    "record",
    "record_second",
    "rank",
    "summarize",
    "consult",
    "analyze",
    "validate",
    "baseline",
    "minimize",
    "parameterize",
    "verify",
];

/// A store and a manifest of one task; they are seen by every machine.
struct SharedSetup {
    place: tempfile::TempDir,
}

impl SharedSetup {
    fn new() -> Self {
        let it = Self { place: tempfile::tempdir().unwrap() };
        it.set_task("Find books about {query}");
        it
    }

    fn set_task(&self, task: &str) {
        let text = format!(
            "version: 1\nrecipes:\n  - name: books\n    task: {task:?}\n    har: {FIXTURE}\n    examples: [{{ query: harbour }}]\n"
        );
        write(&self.manifest(), &text);
    }

    fn manifest(&self) -> PathBuf {
        self.place.path().join("batch.yaml")
    }

    fn store(&self) -> PathBuf {
        self.place.path().join("store")
    }

    fn args<'a>(&self, more: &[&'a str]) -> Vec<&'a str> {
        let own = |it: PathBuf| -> &'a str { Box::leak(it.to_str().unwrap().into()) };
        let store = own(self.store());
        [&["stage", "run", "--no-network", "--json", "--store", store], more].concat()
    }

    fn with_manifest<'a>(&self, more: &[&'a str]) -> Vec<&'a str> {
        let manifest: &'a str = Box::leak(self.manifest().to_str().unwrap().into());
        self.args(&[&["--manifest", manifest, "--task", "books"], more].concat())
    }

    /// Objects of the task by kind; one each, or it fails.
    fn objects(&self) -> BTreeMap<String, PathBuf> {
        let mut out = BTreeMap::new();
        let tasks = std::fs::read_dir(self.store()).unwrap().map(|it| it.unwrap().path());
        for task in tasks.filter(|it| !it.ends_with(".probe")) {
            for it in std::fs::read_dir(task).unwrap() {
                let path = it.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                assert!(!name.starts_with(".tmp-"), "{name} was left");
                let kind = name.split('.').next().unwrap().to_owned();
                assert!(out.insert(kind, path).is_none(), "two of {name}");
            }
        }
        out
    }

    fn batch(&self, home: &Home, more: &[&str]) -> (i32, Value) {
        let manifest = self.manifest();
        let all = ["recipe", "learn-batch", "--no-network", "--json", "--manifest"];
        home.batch(&[&all[..], &[manifest.to_str().unwrap()], more].concat())
    }
}

/// Payload hash by stage, and how each came to be.
fn stage_hashes(came: &Value) -> Vec<(String, String, String)> {
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let all = came["stages"].as_array().unwrap_or_else(|| panic!("{came}"));
    all.iter()
        .map(|it| (text(&it["stage"]), text(&it["payload_sha256"]), text(&it["how"])))
        .collect()
}

/// Payload hash by stage of what one machine learned alone.
fn alone(site: &SharedSetup, home: &Home) -> BTreeMap<String, String> {
    let (code, out) = site.batch(home, &[]);
    assert_eq!(code, 0, "{out}");
    let files = home.artifacts(out["entries"][0]["task_id"].as_str().unwrap());
    files
        .values()
        .filter_map(|it| serde_json::from_slice::<Value>(it).ok())
        .filter_map(|it| {
            let text = |it: &Value| it.as_str().map(str::to_owned);
            Some((text(&it["producer"]["stage"])?, text(&it["payload_sha256"])?))
        })
        .collect()
}

#[test]
fn each_stage_on_a_machine_of_its_own_leaves_what_one_machine_does() {
    let (site, one) = (SharedSetup::new(), Home::new());
    let alone = alone(&site, &one);
    assert_eq!(alone.len(), STAGES.len());
    let mut id = String::new();
    for stage in STAGES {
        let (code, out) = Home::new().json(&site.with_manifest(&["--stage", stage]));
        assert_eq!(code, 0, "{out}");
        let hash = alone[stage].clone();
        assert_eq!(stage_hashes(&out), [(stage.to_owned(), hash, "made".to_owned())]);
        out["task_id"].as_str().unwrap().clone_into(&mut id);
    }
    assert_eq!(site.objects().len(), STAGES.len() + 1);
    // Again, late, and without the manifest: the store knows the task.
    for stage in ["rank", "verify"] {
        let (code, out) = Home::new().json(&site.args(&["--task", &id, "--stage", stage]));
        assert_eq!(code, 0, "{out}");
        assert_eq!(
            stage_hashes(&out),
            [(stage.to_owned(), alone[stage].clone(), "there".to_owned())]
        );
        let decided = (stage == "verify").then_some("saved_draft");
        assert_eq!(out["decided"]["outcome"].as_str(), decided);
    }
    // The recipe is published where everything is taken.
    let last = Home::new();
    let store = site.store();
    let (code, out) = site.batch(&last, &["--resume", "--store", store.to_str().unwrap()]);
    assert_eq!(code, 0, "{out}");
    let entry = &out["entries"][0];
    assert_eq!((&entry["ran"], &entry["outcome"]), (&json!([]), &json!("saved_draft")), "{entry}");
    let recipe =
        |home: &Home| std::fs::read_to_string(home.path().join("recipes/books.yaml")).unwrap();
    assert_eq!(recipe(&last), recipe(&one));
}

#[test]
fn what_was_begun_alone_is_gone_on_with_elsewhere() {
    let (site, one, other) = (SharedSetup::new(), Home::new(), Home::new());
    let alone = alone(&site, &one);
    // What is here already is shared when a stage is asked for.
    let (_, out) = one.json(&site.with_manifest(&["--stage", "analyze"]));
    assert_eq!(
        stage_hashes(&out),
        [("analyze".to_owned(), alone["analyze"].clone(), "there".to_owned())]
    );
    assert_eq!(site.objects().len(), 6 + 1);
    let (code, out) =
        other.json(&site.with_manifest(&["--stage", "record", "--through", "verify"]));
    assert_eq!(code, 0, "{out}");
    let how: Vec<String> = stage_hashes(&out).into_iter().map(|it| it.2).collect();
    assert_eq!(how, [["there"; 6].as_slice(), &["made"; 5]].concat());
    for (stage, hash, _) in stage_hashes(&out) {
        assert_eq!(alone[&stage], hash);
    }
}

#[test]
fn of_many_at_once_one_commits() {
    let site = SharedSetup::new();
    let homes: Vec<Home> = (0..6).map(|_| Home::new()).collect();
    let args = site.with_manifest(&["--stage", "record", "--through", "verify"]);
    let all: Vec<_> = homes
        .iter()
        .map(|it| it.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
        .collect();
    let came: Vec<Value> = all
        .into_iter()
        .map(|it| serde_json::from_slice(&it.wait_with_output().unwrap().stdout).unwrap())
        .collect();
    assert_eq!(site.objects().len(), STAGES.len() + 1);
    let mut made: BTreeMap<String, usize> = BTreeMap::new();
    for it in &came {
        for ((stage, hash, how), first) in stage_hashes(it).into_iter().zip(stage_hashes(&came[0]))
        {
            assert_eq!((&stage, hash), (&first.0, first.1));
            *made.entry(stage).or_default() += usize::from(how == "made");
        }
    }
    assert_eq!(made.into_values().collect::<Vec<_>>(), [1; 11], "{came:#?}");
}

#[test]
fn two_on_one_machine_take_turns() {
    let (site, home) = (SharedSetup::new(), Home::new());
    let manifest = site.manifest();
    let args = ["stage", "run", "--no-network", "--json", "--task", "books"];
    let args = [
        &args[..],
        &["--stage", "record", "--through", "verify", "--manifest", manifest.to_str().unwrap()],
    ]
    .concat();
    let all: Vec<_> = (0..3)
        .map(|_| home.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
        .collect();
    let mut made = 0;
    for it in all {
        let out = it.wait_with_output().unwrap();
        assert!(out.status.success());
        let came: Value = serde_json::from_slice(&out.stdout).unwrap();
        made += stage_hashes(&came).iter().filter(|it| it.2 == "made").count();
        // As on a machine alone.
        let key = came["stages"][0]["key"].as_str().unwrap();
        assert!(key.ends_with("/01_session_recording.json"), "{key}");
    }
    assert_eq!(made, STAGES.len());
}

fn run_refused(home: &Home, args: &[&str]) -> (i32, String, String) {
    let (code, out) = home.json(args);
    let text = |it: &str| out[it].as_str().unwrap_or_default().to_owned();
    (code, text("error_code"), text("error"))
}

#[test]
fn an_input_that_is_not_there_torn_or_anothers_is_refused() {
    let site = SharedSetup::new();
    let rank = site.with_manifest(&["--stage", "rank"]);
    let (code, error, told) = run_refused(&Home::new(), &rank);
    assert_eq!((code, error.as_str()), (1, "ARTIFACT_MISSING"));
    assert!(told.contains("has no session_recording"), "{told}");
    assert_eq!(Home::new().json(&site.with_manifest(&["--stage", "record"])).0, 0);
    let (_, error, told) = run_refused(&Home::new(), &rank);
    assert_eq!(error, "ARTIFACT_MISSING");
    assert!(told.contains("has no second_recording"), "{told}");
    assert_eq!(Home::new().json(&site.with_manifest(&["--stage", "record_second"])).0, 0);
    let path = site.objects()["01_session_recording"].clone();
    let signed = std::fs::read_to_string(&path).unwrap();
    let (head, whole) = signed.split_once('\n').unwrap();
    // As a machine of the fleet would have put it there.
    let sign = |body: &str| {
        let of_task = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let key = format!("{of_task}/{}", path.file_name().unwrap().to_str().unwrap());
        let code = MacKey::new(STORE_KEY.as_bytes())
            .unwrap()
            .sign_hex("commis store 1", &[key.as_bytes(), body.as_bytes()]);
        format!("commis-mac-1 {code}\n{body}")
    };
    assert_eq!(sign(whole), signed);
    for (held, says) in [
        (whole[..whole.len() / 2].to_owned(), "not an artifact"),
        (whole.replace("harbour", "harvest"), "payload hash does not hold"),
        (
            whole.replacen("\"task_id\": \"books-", "\"task_id\": \"looks-", 1),
            "belongs to task looks-",
        ),
        (
            whole.replacen("\"stage\": \"record\"", "\"stage\": \"rank\"", 1),
            "another question: stage",
        ),
    ] {
        assert_ne!(held, whole);
        write(&path, &format!("{head}\n{held}"));
        assert_eq!(run_refused(&Home::new(), &rank).1, "STORE_UNTRUSTED");
        let held = sign(&held);
        write(&path, &held);
        let (code, error, told) = run_refused(&Home::new(), &rank);
        assert_eq!((code, error.as_str()), (1, "ARTIFACT_CORRUPT"), "{told}");
        assert!(told.contains(says), "{told}");
        // Nor is it built upon, nor replaced.
        assert_eq!(std::fs::read_to_string(&path).unwrap(), held);
        assert_eq!(site.objects().len(), 3);
    }
    // Taken away, it is made again as it was.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(Home::new().json(&site.with_manifest(&["--stage", "record"])).0, 0);
    assert_eq!(Home::new().json(&rank).0, 0);
}

#[test]
fn another_question_is_another_answer() {
    let site = SharedSetup::new();
    let through = site.with_manifest(&["--stage", "record", "--through", "rank"]);
    let first = stage_hashes(&Home::new().json(&through).1);
    site.set_task("Find works about {query}");
    let other = stage_hashes(&Home::new().json(&through).1);
    assert_ne!(first[0].1, other[0].1);
    assert!(other.iter().all(|it| it.2 == "made" || it.0 == "record_second"), "{other:?}");
    site.set_task("Find books about {query}");
    let back = stage_hashes(&Home::new().json(&through).1);
    assert!(back.iter().all(|it| it.2 == "there"), "{back:?}");
    assert_eq!(
        back.iter().map(|it| &it.1).collect::<Vec<_>>(),
        first.iter().map(|it| &it.1).collect::<Vec<_>>()
    );
}

#[test]
fn what_cannot_be_a_store_is_said() {
    let (site, home) = (SharedSetup::new(), Home::new());
    let manifest = site.manifest();
    let own = home.path().join("artifacts");
    std::fs::create_dir(&own).unwrap();
    let file = format!("file://{}", own.display());
    let run = |store: &str, more: &[&str]| {
        let args = ["stage", "run", "--json", "--no-network", "--task", "books", "--manifest"];
        let store = ["--store", store];
        run_refused(&home, &[&args[..], &[manifest.to_str().unwrap()], &store, more].concat())
    };
    for (store, says) in [
        ("s3://bucket/prefix", "kind that this program does not know, s3"),
        (own.to_str().unwrap(), "another form"),
        (&file, "another form"),
        ("file://elsewhere/x", "names no folder of this machine"),
    ] {
        let (code, error, told) = run(store, &["--stage", "rank"]);
        assert_eq!((code, error.as_str()), (2, "USAGE"), "{told}");
        assert!(told.contains(says), "{told}");
    }
    let shared = site.store();
    let (code, error, _) =
        run(shared.to_str().unwrap(), &["--stage", "rank", "--through", "record"]);
    assert_eq!((code, error.as_str()), (2, "USAGE"));
    let unknown = site.args(&["--task", "books-00000000", "--stage", "rank"]);
    assert_eq!(run_refused(&home, &unknown).1, "TASK_NOT_FOUND");
    write(Path::new(&shared.join("file")), "in the way");
    let (code, error, _) = run(shared.join("file").to_str().unwrap(), &["--stage", "rank"]);
    assert_eq!((code, error.as_str()), (3, "ARTIFACT_IO"));
}

/// Three machines with a third of a batch each, and one that takes all: `--shard` and `--store`.
#[test]
fn parts_of_a_batch_meet_in_the_store() {
    let site = SharedSetup::new();
    let entry = |i: u32| {
        format!(
            "  - name: books-{i}\n    task: \"Find books about {{query}}\"\n    har: {FIXTURE}\n    examples: [{{ query: harbour }}]\n"
        )
    };
    let all: String = (0..9).map(entry).collect();
    write(&site.manifest(), &format!("version: 1\nrecipes:\n{all}"));
    let store = site.store();
    let shared = ["--store", store.to_str().unwrap()];
    let mut done = 0;
    for part in ["1/3", "2/3", "3/3"] {
        let (code, out) = site.batch(&Home::new(), &[&shared[..], &["--shard", part]].concat());
        assert_eq!(code, 0, "{out}");
        done += out["entries"].as_array().unwrap().len();
    }
    assert_eq!(done, 9);
    let home = Home::new();
    let manifest = site.manifest();
    let args = ["recipe", "learn-batch", "--no-network", "--json", "--manifest"];
    let out = home.run(&[&args[..], &[manifest.to_str().unwrap(), "--resume"], &shared].concat());
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(!text.contains("\"stage_started\""), "{text}");
    let report = batch_report(&text).unwrap();
    let outcomes = report["entries"].as_array().unwrap();
    assert!(outcomes.iter().all(|it| it["outcome"] == "saved_draft" && it["ran"] == json!([])));
}

/// What only the process knew that recorded is never put anywhere: the one reason to record again, beside the first recording.
#[test]
fn what_a_session_knew_dies_with_its_process() {
    const SECRET: &str = "q7Zr4TnVb81LkXw0PdYs6HfCj2Mg95Ea";
    let (site, first) = (SharedSetup::new(), Home::new());
    let web = Web::start(&first);
    let host = ["--test-host", &web.test_host];
    first.recipe(
        "raw",
        "version: 1\nname: raw\ntask: Get it whole\nstatus: draft\nsource_url: http://shop.test/\nrequest:\n  method: GET\n  url: http://shop.test/api/search\n  query: [{ name: q, value: lantern }]\n  allowed_domains: [shop.test]\nresponse: { type: json }\n",
    );
    let run = ["recipe", "run", "raw", "--draft", "--json"];
    let body = first.json(&[&run[..], &host].concat()).1["data"].to_string();
    let har = json!({"log": {"creator": {"name": "test"}, "entries": [{
        "startedDateTime": "2026-11-20T10:00:00.000Z", "time": 5, "_resourceType": "fetch",
        "request": {"method": "GET", "url": "http://shop.test/api/search?q=lantern", "headers": [
            {"name": "x-api-token", "value": SECRET}]},
        "response": {"status": 200, "headers": [{"name": "content-type", "value": "application/json"}],
            "content": {"mimeType": "application/json", "text": body, "size": body.len()}}
    }]}});
    let path = first.path().join("shop.har");
    write(&path, &har.to_string());
    write(
        &site.manifest(),
        &format!(
            "version: 1\nrecipes:\n  - name: books\n    task: Search the shop for {{query}}\n    har: {}\n    examples: [{{ query: lantern }}, {{ query: teapot }}]\n",
            path.display()
        ),
    );
    let args = |more: &[&str]| {
        let (manifest, store) = (site.manifest(), site.store());
        let args = ["stage", "run", "--json", "--task", "books"];
        let files = ["--manifest", manifest.to_str().unwrap(), "--store", store.to_str().unwrap()];
        let all = [&args[..], &files, &host, more].concat();
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let on = |home: &Home, more: &[&str]| {
        let all = args(more);
        home.json(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (code, out) = on(&first, &["--stage", "record", "--through", "analyze"]);
    assert_eq!(code, 0, "{out}");
    let (code, out) = on(&Home::new(), &["--stage", "validate"]);
    assert_eq!((code, &out["error_code"]), (1, &json!("LIVE_VALUES_LOST")), "{out}");
    assert!(out["hint"].as_str().unwrap().contains("--through verify"), "{out}");
    let (code, out) = on(&Home::new(), &["--stage", "record", "--through", "verify"]);
    assert_eq!((code, &out["live_values_lost"]), (0, &json!(true)), "{out}");
    assert_eq!(out["decided"]["outcome"], "verified", "{out}");
    let (hash, key) = (out["stages"][0]["payload_sha256"].clone(), out["stages"][0]["key"].clone());
    // It counts from then on.
    let (code, out) = on(&Home::new(), &["--stage", "record", "--through", "verify"]);
    assert_eq!((code, &out["live_values_lost"]), (0, &json!(false)), "{out}");
    assert!(stage_hashes(&out).iter().all(|it| it.2 == "there"), "{out}");
    assert_eq!((&out["stages"][0]["payload_sha256"], &out["stages"][0]["key"]), (&hash, &key));
    let task = site.store().join(out["task_id"].as_str().unwrap());
    let mut recordings = 0;
    for it in std::fs::read_dir(task).unwrap() {
        let path = it.unwrap().path();
        recordings += usize::from(path.to_str().unwrap().contains("/01_session_recording."));
        assert!(!std::fs::read_to_string(path).unwrap().contains(SECRET));
    }
    assert_eq!(recordings, 2);
}

#[test]
fn engines_come_with_another_program() {
    let (site, home) = (SharedSetup::new(), Home::new());
    let manifest = site.manifest();
    let batch = ["recipe", "learn-batch", "--manifest", manifest.to_str().unwrap(), "--json"];
    let store = ["--store", "/nowhere"];
    let (code, out) = home.json(&[&batch[..], &["--engine", "temporal"], &store].concat());
    assert_eq!((code, &out["error_code"]), (2, &json!("USAGE")), "{out}");
    assert!(out["hint"].as_str().unwrap().contains("commis-worker"), "{out}");
    // Without a store machines have nothing in common.
    assert_eq!(
        home.command(&[&batch[..], &["--engine", "temporal"]].concat())
            .output()
            .unwrap()
            .status
            .code(),
        Some(2)
    );
}
