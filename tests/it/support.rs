//! Running the program, and finding what a test needs.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

/// What all machines of these tests have in common.
pub const STORE_KEY: &str = "a key of all machines of these tests";

/// The limit of every wait for another process. It only ends a test that would hang, and is far above what a loaded machine takes.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Looks until there is a value. Panics after [`PATIENCE`] with `what` and the last reason.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let begun = Instant::now();
    loop {
        match look() {
            Ok(it) => return it,
            Err(why) => assert!(begun.elapsed() < PATIENCE, "no {what}: {why}"),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Looks until the condition holds. Panics after [`PATIENCE`].
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || if holds() { Ok(()) } else { Err("it does not hold".to_owned()) });
}

/// A folder of its own for settings, recipes and artifacts.
pub struct Home(tempfile::TempDir);

impl Home {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where a web of this home writes whom its hosts are signed by.
    pub fn ca(&self) -> PathBuf {
        self.path().join("ca.pem")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "the tests run the program")]
        let mut out = Command::new(env!("CARGO_BIN_EXE_commis"));
        out.args(args)
            .env("COMMIS_HOME", self.path())
            .env_remove("COMMIS_TEST_HOSTS")
            .env_remove("COMMIS_TEST_CA")
            .env_remove("COMMIS_MODEL")
            .env("COMMIS_STORE_KEY", STORE_KEY);
        // Where a test web was started for this home.
        if self.ca().exists() {
            out.env("COMMIS_TEST_CA", self.ca());
        }
        out
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs and parses stdout as JSON; the exit code is for the caller to judge.
    pub fn json(&self, args: &[&str]) -> (i32, Value) {
        let out = self.run(args);
        let text = String::from_utf8_lossy(&out.stdout);
        let value = serde_json::from_str(&text).unwrap_or_else(|err| {
            panic!("{args:?}: {err}\n{text}\n{}", String::from_utf8_lossy(&out.stderr))
        });
        (out.status.code().unwrap_or(-1), value)
    }

    /// Runs `learn-batch --json`: its totals, with what each task came to in `entries`, in the order of the manifest.
    pub fn batch(&self, args: &[&str]) -> (i32, Value) {
        let out = self.run(args);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        let report = batch_report(&String::from_utf8_lossy(&out.stdout));
        let report = report.unwrap_or_else(|| panic!("{args:?}: no totals\n{said}"));
        (out.status.code().unwrap_or(-1), report)
    }

    /// A recipe written by hand.
    pub fn recipe(&self, name: &str, yaml: &str) {
        let folder = self.path().join("recipes");
        std::fs::create_dir_all(&folder).unwrap();
        write(&folder.join(format!("{name}.yaml")), yaml);
    }

    /// The same as if it had been learned and proven here.
    pub fn proven(&self, name: &str, yaml: &str) {
        self.recipe(name, yaml);
        let registry = commis::Registry::open(&self.path().join("recipes"));
        let mut it = registry.read_user_file(&commis::RecipeName::new(name).unwrap()).unwrap();
        it.trust = commis::Trust::Proven;
        registry.save(&it).unwrap();
    }

    /// Every file below the artifacts folder of a task, by name; its page, which is drawn anew, is none of its work.
    pub fn artifacts(&self, task: &str) -> std::collections::BTreeMap<String, Vec<u8>> {
        let folder = self.path().join("artifacts").join(task);
        std::fs::read_dir(folder)
            .unwrap()
            .map(|it| it.unwrap())
            .filter(|it| it.file_name() != "page.html")
            .map(|it| (it.file_name().into_string().unwrap(), std::fs::read(it.path()).unwrap()))
            .collect()
    }
}

/// What the events of a batch say: its totals, with what each task came to in `entries`.
pub fn batch_report(events: &str) -> Option<Value> {
    let mut entries = std::collections::BTreeMap::new();
    let mut totals = None;
    for line in events.lines() {
        let mut event: Value = serde_json::from_str(line).ok()?;
        match event["event"].as_str()? {
            "task_finished" => {
                entries.insert(event["position"].as_u64()?, event["entry"].take());
            }
            "batch_finished" => totals = Some(event),
            _ => {}
        }
    }
    let mut out = totals?;
    out["entries"] = entries.into_values().collect();
    Some(out)
}

#[expect(clippy::disallowed_methods, reason = "a user's own file")]
pub fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

/// `commis testbed serve` in a process of its own, so that what it counts survives the program under test.
pub struct Web {
    child: Child,
    pub test_host: String,
    pub nameserver: String,
    /// The hosts of the server that lies: `wild.test`, `away.test` and `h2.wild.test`.
    pub wild: [String; 3],
}

impl Web {
    pub fn start(home: &Home) -> Self {
        let mut child = home
            .command(&["testbed", "serve", "--port", "0", "--dns", "0", "--ca"])
            .arg(home.ca())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut value = |flag: &str| {
            let line = lines.next().unwrap().unwrap();
            line.strip_prefix(flag).unwrap_or_else(|| panic!("{line}")).trim().to_owned()
        };
        let test_host = value("--test-host ");
        let nameserver = value("--nameserver ");
        let wild = [(); 3].map(|()| value("--test-host "));
        // It is written by now.
        value("--test-ca ");
        Self { child, test_host, nameserver, wild }
    }

    /// What the web counted, read through the program itself.
    pub fn control(&self, home: &Home, what: &str) -> Value {
        home.recipe(
            "control",
            &format!(
                "version: 1\nname: control\ntask: Read a counter\nstatus: draft\nsource_url: http://control.test/\nrequest:\n  method: GET\n  url: http://control.test/{what}\n  allowed_domains: [control.test]\nresponse: {{ type: json }}\n"
            ),
        );
        let (_, out) = home.json(&[
            "recipe",
            "run",
            "control",
            "--draft",
            "--json",
            "--test-host",
            &self.test_host,
        ]);
        assert_eq!(out["success"], true, "{out}");
        out["data"].clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// False, with a line saying so, on a machine without Chromium. Panics there with `COMMIS_REQUIRE_ALL=1`.
pub fn has_chromium() -> bool {
    let found = ["/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium"]
        .iter()
        .any(|it| Path::new(it).exists());
    if !found {
        commis_base::testing::skip_without("Chromium");
    }
    found
}

/// The folder of shared data, or `None` with a line saying so.
pub use commis_base::testing::shared;
