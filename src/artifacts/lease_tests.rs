//! One holder at a time; a sleeper is relieved, and nothing else.

use std::{
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
};

use super::*;
use commis_base::files::open_or_create;

const TASK: &str = "shop-search-0011aabb";

/// What may be wrong with a sleeper's lease.
type Damage<'a> = &'a dyn Fn(&SilentHolder);

fn id() -> TaskId {
    TaskId::parse(TASK).unwrap()
}

fn root(home: &Path) -> Dir {
    open_or_create(&home.join("artifacts")).unwrap()
}

/// A holder that never beats: this process, by the name of it.
struct SilentHolder {
    dir: Dir,
    _lock: Lock,
}

impl SilentHolder {
    fn new(root: &Dir) -> Self {
        let dir = root.make_folder(TASK).unwrap();
        let lock = dir.try_lock().unwrap().unwrap();
        dir.write("01_done.json", b"done").unwrap();
        let it = Self { dir, _lock: lock };
        it.says(&serde_json::to_string(&Record::for_this_process()).unwrap());
        it.silent_for(2 * STALE);
        it
    }

    fn says(&self, lease: &str) {
        self.dir.write_unsynced(FILE, lease.as_bytes()).unwrap();
    }

    fn silent_for(&self, time: Duration) {
        self.dir.touch(FILE, monotonic_clock().saturating_sub(time)).unwrap();
    }
}

fn take(home: &Path) -> Result<Lease> {
    Lease::take(root(home), &id())
}

#[test]
fn who_holds_it_and_since_when_is_said() {
    let home = tempfile::tempdir().unwrap();
    let held = take(home.path()).unwrap();
    let err = take(home.path()).err().unwrap();
    assert_eq!(err.code(), Code::TaskBusy);
    let text = err.to_string();
    assert!(text.contains(&format!("process {}, since 2", std::process::id())), "{text}");
    assert!(text.contains("last heard of 0 s ago") || text.contains("last heard of 1"), "{text}");
    drop(held);
    assert_eq!(take(home.path()).unwrap().dir.names().unwrap(), [FILE]);
    let folder = home.path().join("artifacts").join(TASK);
    assert_eq!(
        std::fs::read_dir(folder).unwrap().count(),
        0,
        "a lease that was given back is gone"
    );
}

#[test]
fn a_sleeper_is_relieved_and_can_do_nothing_more() {
    let home = tempfile::tempdir().unwrap();
    let root = root(home.path());
    let sleeper = SilentHolder::new(&root);
    sleeper.dir.write("replays.jsonl", b"{}\n").unwrap();
    sleeper.dir.write(".tmp-1-1", b"half").unwrap();
    let held = take(home.path()).unwrap();
    assert_eq!(held.dir.names().unwrap(), ["01_done.json", FILE, "replays.jsonl"]);
    assert_eq!(held.dir.read("01_done.json", 9).unwrap().unwrap(), b"done");
    let folder = home.path().join("artifacts").join(TASK);
    let mode = |it: &Path| std::fs::metadata(it).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("01_done.json"))), (0o700, 0o600));
    // It wakes.
    assert_eq!(sleeper.dir.write("02_more.json", b"late").unwrap_err().code(), Code::ArtifactIo);
    assert_eq!(sleeper.dir.append("replays.jsonl", "{}").unwrap_err().code(), Code::ArtifactIo);
    assert!(sleeper.dir.touch(FILE, monotonic_clock()).is_err());
    assert_eq!(root.names().unwrap(), [TASK], "nothing of the takeover is left");
    assert!(held.check().is_ok());
    assert_eq!(take(home.path()).err().unwrap().code(), Code::TaskBusy, "the new one is awake");
}

#[test]
fn who_was_relieved_is_told() {
    let home = tempfile::tempdir().unwrap();
    let relieved = take(home.path()).unwrap();
    let held = loop {
        // Its own thread may have a beat in between.
        relieved.dir.touch(FILE, monotonic_clock().saturating_sub(2 * STALE)).unwrap();
        if let Ok(it) = take(home.path()) {
            break it;
        }
    };
    let err = relieved.check().unwrap_err();
    assert_eq!(err.code(), Code::TaskBusy);
    assert!(err.to_string().contains("took over"), "{err}");
    drop(relieved);
    assert_eq!(held.dir.names().unwrap(), [FILE], "it does not give back what is another's");
    assert!(held.check().is_ok());
}

#[test]
fn in_doubt_nothing_is_taken_over() {
    let ours = Record::for_this_process();
    let lease = |it: &Record| serde_json::to_string(it).unwrap();
    let before = Record { started: ours.started + 1, pid: ours.pid, since: ours.since.clone() };
    let undated = Record { since: "\u{1b}[31mlong ago".to_owned(), ..Record::for_this_process() };
    let cases: [(&str, Damage<'_>); 9] = [
        ("absent", &|it| _ = it.dir.discard(FILE).unwrap()),
        ("empty", &|it| it.says("")),
        ("cut", &|it| it.says(&lease(&ours)[..20])),
        ("endless", &|it| it.says(&" ".repeat(MAX_FILE + 1))),
        ("of a process that has ended", &|it| it.says(&lease(&before))),
        ("without a date", &|it| it.says(&lease(&undated))),
        ("a link", &|it| {
            it.dir.discard(FILE).unwrap();
            it.dir.write("elsewhere", lease(&ours).as_bytes()).unwrap();
            symlink("elsewhere", it.dir.path().join(FILE)).unwrap();
        }),
        ("from the future", &|it| it.dir.touch(FILE, monotonic_clock() + STALE).unwrap()),
        ("not old enough", &|it| it.silent_for(10 * BEAT)),
    ];
    for (what, damage) in cases {
        let home = tempfile::tempdir().unwrap();
        let root = root(home.path());
        let sleeper = SilentHolder::new(&root);
        let touch = what == "from the future" || what == "not old enough";
        damage(&sleeper);
        if !touch && what != "absent" {
            sleeper.silent_for(2 * STALE);
        }
        let err = take(home.path()).err().unwrap();
        assert_eq!(err.code(), Code::TaskBusy, "{what}: {err}");
        assert!(!err.to_string().contains('\u{1b}'), "{what}: {err:?}");
        assert!(root.is_current(TASK, &sleeper.dir).unwrap(), "{what}");
        assert_eq!(root.names().unwrap(), [TASK], "{what}");
    }
}

#[test]
fn of_many_that_relieve_one_succeeds_and_nothing_is_lost() {
    for _ in 0..20 {
        let home = tempfile::tempdir().unwrap();
        let root = root(home.path());
        let sleeper = SilentHolder::new(&root);
        let ends: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| take(home.path()))).collect();
            all.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let held: Vec<_> = ends.iter().filter_map(|it| it.as_ref().ok()).collect();
        assert_eq!(held.len(), 1);
        assert!(
            ends.iter().filter_map(|it| it.as_ref().err()).all(|it| it.code() == Code::TaskBusy)
        );
        assert_eq!(held[0].dir.read("01_done.json", 9).unwrap().unwrap(), b"done");
        assert!(held[0].check().is_ok());
        assert_eq!(root.names().unwrap(), [TASK]);
        drop(sleeper);
    }
}

#[test]
fn what_a_crash_left_of_a_takeover_is_swept_and_what_is_in_use_is_not() {
    let home = tempfile::tempdir().unwrap();
    let root = root(home.path());
    let place = format!("{TAKEN}{TASK}");
    // Died while it copied: the next that relieves the sleeper begins anew.
    let sleeper = SilentHolder::new(&root);
    let copy = root.make_folder(&place).unwrap();
    copy.write("01_done.json", b"half").unwrap();
    let held = take(home.path()).unwrap();
    assert_eq!(held.dir.read("01_done.json", 9).unwrap().unwrap(), b"done");
    drop((sleeper, held));
    // Died after the exchange, and the sleeper too.
    root.make_folder(&place).unwrap().write("01_done.json", b"old").unwrap();
    drop(take(home.path()).unwrap());
    assert_eq!(root.names().unwrap(), [TASK]);
    // Died after the exchange, while the sleeper sleeps on; or when everything in the folder had been removed.
    for name in [place.clone(), format!("{GONE}{TASK}")] {
        let relieved = root.make_folder(&name).unwrap();
        let lock = relieved.try_lock().unwrap();
        if name == place {
            relieved.write(FILE, b"{}").unwrap();
        }
        sweep(&root).unwrap();
        assert_eq!(root.names().unwrap(), [TASK]);
        drop(lock);
    }
    // Another one is at it.
    let sleeper = SilentHolder::new(&root);
    let copy = root.make_folder(&place).unwrap();
    let lock = copy.try_lock().unwrap();
    assert_eq!(take(home.path()).err().unwrap().code(), Code::TaskBusy);
    sweep(&root).unwrap();
    assert!(
        root.is_current(&place, &copy).unwrap() && root.is_current(TASK, &sleeper.dir).unwrap()
    );
    drop(lock);
    sweep(&root).unwrap();
    assert_eq!(root.names().unwrap(), [TASK]);
}

#[test]
fn a_takeover_that_fails_leaves_the_old_folder() {
    let home = tempfile::tempdir().unwrap();
    let root = root(home.path());
    let sleeper = SilentHolder::new(&root);
    symlink("01_done.json", sleeper.dir.path().join("02_planted.json")).unwrap();
    assert_eq!(take(home.path()).err().unwrap().code(), Code::ArtifactIo);
    assert!(root.is_current(TASK, &sleeper.dir).unwrap());
    assert_eq!(root.names().unwrap(), [TASK]);
}
