//! What the store promises when somebody else is there: another process, one that stands still, strange umasks and limits,
//! things that stand where files of ours belong. `ci/durability` adds kills, errors, full disks and power cuts.

use std::{
    collections::BTreeMap,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, SystemTime},
};

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::support::{Home, wait_until, write};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/books.har");

fn learn(har: &str) -> [&str; 10] {
    let task = "Find books about {query}";
    [
        "recipe",
        "learn",
        "--har",
        har,
        "--task",
        task,
        "-p",
        "query=harbour",
        "--no-network",
        "--json",
    ]
}

/// The small recording with so many more requests that importing it takes a while.
fn large_har(home: &Home) -> String {
    let mut har: Value = serde_json::from_str(&std::fs::read_to_string(FIXTURE).unwrap()).unwrap();
    let entries = har["log"]["entries"].as_array_mut().unwrap();
    for i in 0..200 {
        let mut it = entries[0].clone();
        it["request"]["url"] = json!(format!("https://books.example/page/{i}"));
        it["response"]["content"]["text"] =
            json!(format!("<p>{}</p>", "words and more ".repeat(500)));
        entries.push(it);
    }
    let path = home.path().join("books.har");
    write(&path, &har.to_string());
    path.to_str().unwrap().to_owned()
}

fn files(home: &Home, pattern: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for it in std::fs::read_dir(folder).into_iter().flatten() {
            let path = it.unwrap().path();
            if path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
                walk(&path, out);
            }
            out.push(path);
        }
    }
    let mut out = Vec::new();
    walk(home.path(), &mut out);
    out.retain(|it| it.to_str().unwrap().contains(pattern));
    out
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Ends with the test, also when that fails while it is stopped.
struct RunningProgram(Child);

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // It has ended already, most times.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts learning and stops it as soon as it has the task.
fn stopped(home: &Home, har: &str) -> (RunningProgram, PathBuf) {
    let mut command = home.command(&learn(har));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let child = RunningProgram(child);
    wait_until("a lease", || !files(home, "lease.json").is_empty());
    signal(&child.0, Signal::STOP);
    let lease = files(home, "lease.json").remove(0);
    (child, lease)
}

/// Sets back when the holder was last heard of; it counts from the start of the machine.
fn silent_for(lease: &Path, seconds: i64) {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic).tv_sec;
    let heard = now - seconds;
    let age = Duration::from_secs(heard.unsigned_abs());
    let epoch = SystemTime::UNIX_EPOCH;
    let at = if heard < 0 { epoch - age } else { epoch + age };
    std::fs::File::options().write(true).open(lease).unwrap().set_modified(at).unwrap();
}

#[test]
fn a_second_process_is_told_who_has_the_task() {
    let home = Home::new();
    let har = large_har(&home);
    let (holder, lease) = stopped(&home, &har);
    silent_for(&lease, 30);
    let (code, out) = home.json(&[&learn(&har)[..], &["--resume"]].concat());
    assert_eq!((code, &out["error_code"]), (1, &json!("TASK_BUSY")), "{out}");
    let error = out["error"].as_str().unwrap();
    assert!(error.contains(&format!("by process {}, since 2", holder.0.id())), "{error}");
    assert!(error.contains("last heard of 3"), "{error}");
    // A dead one is no holder, whatever its lease says.
    drop(holder);
    assert_eq!(home.json(&[&learn(&har)[..], &["--resume"]].concat()).0, 0);
    assert_eq!(files(&home, "lease.json").len(), 0);
}

#[test]
fn a_stopped_process_is_relieved_and_writes_nothing_when_it_wakes() {
    let home = Home::new();
    let har = large_har(&home);
    let (mut sleeper, lease) = stopped(&home, &har);
    silent_for(&lease, 90);
    let (code, out) = home.json(&[&learn(&har)[..], &["--resume"]].concat());
    assert_eq!((code, &out["outcome"]), (0, &json!("saved_draft")), "{out}");
    let id = out["task_id"].as_str().unwrap();
    let all = || -> BTreeMap<PathBuf, (Vec<u8>, u64)> {
        files(&home, "artifacts")
            .into_iter()
            .chain(files(&home, ".yaml"))
            .filter(|it| it.is_file())
            .map(|it| (it.clone(), (std::fs::read(&it).unwrap(), it.metadata().unwrap().ino())))
            .collect()
    };
    let before = all();
    assert!(before.len() >= 12, "{:?}", before.keys());
    signal(&sleeper.0, Signal::CONT);
    let end = sleeper.0.wait().unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut sleeper.0.stdout.take().unwrap(), &mut said).unwrap();
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((end.code(), &said["error_code"]), (Some(1), &json!("TASK_BUSY")), "{said}");
    assert!(said["error"].as_str().unwrap().contains(&format!("took over task {id}")), "{said}");
    assert!(all() == before, "what woke up wrote something");
    assert!(files(&home, ".taken-").is_empty());
}

/// A shell around the program, as limits and umask are inherited.
fn under(home: &Home, before: &str, args: &[&str]) -> std::process::Output {
    let program = home.command(args);
    #[expect(clippy::disallowed_methods, reason = "the shell sets what the program inherits")]
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{before}; exec \"$0\" \"$@\"")).arg(program.get_program());
    shell.args(program.get_args()).env("COMMIS_HOME", home.path().join("home"));
    shell.output().unwrap()
}

#[test]
fn modes_are_private_under_any_umask() {
    for umask in ["000", "0777", "022"] {
        let home = Home::new();
        let out = under(&home, &format!("umask {umask}"), &learn(FIXTURE));
        assert!(out.status.success(), "{umask}: {}", String::from_utf8_lossy(&out.stderr));
        let all = files(&home, "/home");
        assert!(all.len() > 12);
        for it in all {
            let stat = it.metadata().unwrap();
            let wanted = if stat.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(stat.permissions().mode() & 0o7777, wanted, "{umask}: {}", it.display());
        }
    }
}

#[test]
fn a_limit_on_files_is_an_error_with_a_code() {
    for (limit, hint) in [("ulimit -f 2", "ulimit -f"), ("ulimit -n 12", "ulimit -n")] {
        let home = Home::new();
        let out = under(&home, limit, &learn(FIXTURE));
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(3), "{limit}: {said}");
        assert!(said.contains("[ARTIFACT_IO]") && said.contains(hint), "{limit}: {said}");
        assert!(files(&home, ".tmp-").is_empty(), "{limit}");
        let out = under(&home, "true", &[&learn(FIXTURE)[..], &["--resume"]].concat());
        assert_eq!(out.status.code(), Some(0), "{limit}");
    }
}

#[test]
fn what_stands_in_the_way_is_named_and_left_alone() {
    let done = Home::new();
    assert_eq!(done.json(&learn(FIXTURE)).0, 0);
    let names = files(&done, "").into_iter().filter(|it| it.is_file());
    let below: Vec<PathBuf> =
        names.map(|it| it.strip_prefix(done.path()).unwrap().to_owned()).collect();
    let folder = below.iter().find(|it| it.ends_with("task.json")).unwrap().parent().unwrap();
    // A recipe, the first and the last artifact, and the files that are no artifact.
    let mut places: Vec<PathBuf> =
        below.iter().filter(|it| it.extension().is_some_and(|it| it == "yaml")).cloned().collect();
    for name in ["01_session_recording.json", "task.json", "lease.json"] {
        places.push(folder.join(name));
    }
    assert_eq!(places.len(), 4, "{below:?}");
    std::thread::scope(|scope| {
        for place in &places {
            scope.spawn(|| planted(place));
        }
    });
}

fn planted(place: &Path) {
    for what in ["link", "folder", "pipe", "second name"] {
        let home = Home::new();
        let at = home.path().join(place);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        let precious = home.path().join("precious");
        write(&precious, "keep");
        match what {
            "link" => symlink(&precious, &at).unwrap(),
            "folder" => std::fs::create_dir(&at).unwrap(),
            "second name" => std::fs::hard_link(&precious, &at).unwrap(),
            _ => {
                let fifo = rustix::fs::FileType::Fifo;
                let mode = rustix::fs::Mode::RWXU;
                rustix::fs::mknodat(rustix::fs::CWD, &at, fifo, mode, 0).unwrap();
            }
        }
        let out = home.run(&[&learn(FIXTURE)[..], &["--force"]].concat());
        let said = String::from_utf8_lossy(&out.stderr);
        let shown = place.display();
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "keep", "{what} at {shown}");
        if what == "second name" {
            // The name is ours and gets our file; the other name keeps what it had.
            assert!(!said.contains("panicked") && out.status.code() < Some(70), "{said}");
        } else {
            assert!(!out.status.success(), "{what} at {shown}: {said}");
            assert!(said.contains("[ARTIFACT_IO]"), "{what} at {shown}: {said}");
            assert!(said.contains(place.file_name().unwrap().to_str().unwrap()), "{said}");
        }
    }
}
