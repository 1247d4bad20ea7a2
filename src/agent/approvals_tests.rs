//! One winner, one use, and the truth after a crash at every write.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{
        Barrier,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    super::{
        PausedRequest,
        pending::{Channel, LASTS_MS},
        render::{RenderOutcome, RenderedRequest, render},
    },
    *,
};

/// Where this process ends: at which write, and how far that got.
#[derive(Debug, Default)]
pub struct Fault {
    /// Writes that succeed first.
    left: AtomicU32,
    kind: AtomicU32,
}

const NOTHING: u32 = 1;
const HALF: u32 = 2;
const ALL: u32 = 3;

impl Fault {
    fn set(&self, left: u32, kind: u32) {
        self.left.store(left, Ordering::SeqCst);
        self.kind.store(kind, Ordering::SeqCst);
    }

    fn is_due(&self) -> Option<u32> {
        let kind = self.kind.load(Ordering::SeqCst);
        (kind != 0 && self.left.load(Ordering::SeqCst) == 0).then_some(kind)
    }

    pub fn before(&self, dir: &Dir, bytes: &[u8]) -> Result<()> {
        match self.is_due() {
            Some(NOTHING) => Err(killed()),
            Some(HALF) => {
                let temp = dir.path().join(".tmp-1-1");
                #[expect(clippy::disallowed_methods, reason = "what a crash in the middle leaves")]
                std::fs::write(temp, &bytes[..bytes.len() / 2]).unwrap();
                Err(killed())
            }
            _ => Ok(()),
        }
    }

    pub fn after(&self) -> Result<()> {
        if self.is_due() == Some(ALL) {
            return Err(killed());
        }
        let left = self.left.load(Ordering::SeqCst);
        self.left.store(left.saturating_sub(1), Ordering::SeqCst);
        Ok(())
    }
}

fn killed() -> Error {
    Error::new(Code::Interrupted, "killed here")
}

const NOW: i64 = 1_000_000;

fn render_body(body: &str) -> RenderedRequest {
    let held = PausedRequest {
        id: "1".to_owned(),
        method: "POST".to_owned(),
        url: "https://shop.test/orders".to_owned(),
        headers: vec![("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned())],
        body: Some(body.as_bytes().to_vec()),
        is_opaque: false,
        why: String::new(),
        cookies: Vec::new(),
    };
    match render(&held, None) {
        RenderOutcome::Whole(it) => it,
        other => panic!("{other:?}"),
    }
}

fn page() -> PageInfo {
    PageInfo {
        url: "https://shop.test/cart".to_owned(),
        title: "Your cart".to_owned(),
        digest: "d1".to_owned(),
    }
}

fn element() -> Element {
    Element { role: "button".to_owned(), name: "Place order".to_owned() }
}

fn draft() -> ApprovalDraft {
    ApprovalDraft {
        principal: "ann".to_owned(),
        run: "run-1".to_owned(),
        request: render_body("item=17&qty=1"),
        page: page(),
        element: Some(element()),
        amounts: super::super::money_amounts::amounts("Total ₹34,944"),
        picture: None,
        history: vec![
            "open https://shop.test/cart".to_owned(),
            "click button \"Place\u{202e} order\"".to_owned(),
        ],
    }
}

fn by(at_ms: i64) -> Decider {
    Decider { who: "ann".to_owned(), channel: Channel::Terminal, at_ms }
}

fn again(it: &ApprovalRequest) -> ReleaseSnapshot {
    ReleaseSnapshot { digest: it.request.digest.clone(), page: page(), element: Some(element()) }
}

fn code<T: std::fmt::Debug>(end: Result<T>) -> &'static str {
    end.unwrap_err().code().as_str()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("approvals");
    (home, folder)
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_request_waits_is_approved_goes_and_is_settled() {
    let (_home, folder) = folder();
    let agent = Approvals::new(folder.clone());
    let person = Approvals::new(folder.clone());
    assert!(person.list(None, NOW).unwrap().is_empty() && !folder.exists());
    assert_eq!(code(person.get("0123456789abcdef", None, NOW)), "APPROVAL_NOT_FOUND");
    let it = agent.add(draft(), NOW).unwrap();
    assert_eq!((it.id.len(), it.expires_ms), (16, NOW + LASTS_MS));
    assert_eq!((mode(&folder), mode(&folder.join(format!("{}.json", it.id)))), (0o700, 0o600));
    assert_eq!(person.list(Some("ann"), NOW).unwrap(), std::slice::from_ref(&it));
    let text = person.get(&it.id, Some("ann"), NOW).unwrap().text();
    assert!(
        text.starts_with(
            "one request, sent once:\n\nPOST https://shop.test/orders\n  form item = \"17\"\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("\namounts 34944 INR\n")
            && text.contains("\n  \"click button \\\"Place order\\\"\""),
        "{text}"
    );
    // Not before somebody approved.
    assert_eq!(code(agent.releasing(&it.id, again(&it), NOW)), "FORBIDDEN");
    let approved = person.approve(&it.id, &it.request.digest, Some("ann"), by(NOW + 1)).unwrap();
    assert_eq!(approved.state, ApprovalState::Approved { by: by(NOW + 1) });
    // Only whoever has the page lets it go.
    assert_eq!(code(person.releasing(&it.id, again(&it), NOW + 2)), "APPROVAL_NOT_FOUND");
    assert_eq!(code(agent.settled(&it.id, SendOutcome::Answered(200), NOW + 2)), "INTERNAL");
    agent.releasing(&it.id, again(&it), NOW + 2).unwrap();
    assert_eq!(code(agent.releasing(&it.id, again(&it), NOW + 2)), "APPROVAL_SETTLED");
    let sent = agent.settled(&it.id, SendOutcome::Answered(303), NOW + 3).unwrap();
    assert_eq!(sent.state, ApprovalState::Sent { by: by(NOW + 1), status: 303 });
    assert_eq!(person.get(&it.id, None, NOW + LASTS_MS * 2).unwrap(), sent);
    for end in [
        person.approve(&it.id, &it.request.digest, None, by(NOW + 4)),
        person.reject(&it.id, None, by(NOW + 4)),
        agent.releasing(&it.id, again(&it), NOW + 4),
        agent.settled(&it.id, SendOutcome::Unclear, NOW + 4),
        agent.stale(&it.id, "closed", NOW + 4),
    ] {
        assert_eq!(code(end), "APPROVAL_SETTLED");
    }
    // A secret that was sent is in no file.
    let draft = ApprovalDraft { request: render_body("password=correct-horse-9"), ..draft() };
    let it = agent.add(draft, NOW).unwrap();
    let text = std::fs::read_to_string(folder.join(format!("{}.json", it.id))).unwrap();
    assert!(!text.contains("correct-horse") && text.contains("[REDACTED]"), "{text}");
}

#[test]
fn what_is_not_theirs_is_not_there() {
    let (_home, folder) = folder();
    let all = Approvals::new(folder);
    let it = all.add(draft(), NOW).unwrap();
    let digest = &it.request.digest;
    for whose in ["bob", "", "ANN"] {
        assert_eq!(code(all.get(&it.id, Some(whose), NOW)), "APPROVAL_NOT_FOUND");
        assert_eq!(code(all.approve(&it.id, digest, Some(whose), by(NOW))), "APPROVAL_NOT_FOUND");
        assert_eq!(code(all.reject(&it.id, Some(whose), by(NOW))), "APPROVAL_NOT_FOUND");
        assert!(all.list(Some(whose), NOW).unwrap().is_empty());
    }
    let long = "a".repeat(500);
    for id in
        ["", "x", "../state", "0123456789abcdeg", &long, "0123456789ABCDEF", "0123456789abcdef\n"]
    {
        assert_eq!(code(all.approve(id, digest, None, by(NOW))), "APPROVAL_NOT_FOUND", "{id}");
    }
    assert_eq!(all.get(&it.id, Some("ann"), NOW).unwrap().state, ApprovalState::Waiting);
}

#[test]
fn only_what_was_shown_is_approved() {
    let (_home, folder) = folder();
    let all = Approvals::new(folder);
    let it = all.add(draft(), NOW).unwrap();
    for digest in ["", "00", &it.request.digest[..40], &render_body("item=17&qty=2").digest] {
        assert_eq!(code(all.approve(&it.id, digest, None, by(NOW))), "APPROVAL_STALE");
    }
    assert_eq!(all.get(&it.id, None, NOW).unwrap().state, ApprovalState::Waiting);
    all.approve(&it.id, &it.request.digest, None, by(NOW)).unwrap();
}

#[test]
fn what_changed_since_is_not_sent() {
    let (_home, folder) = folder();
    let all = Approvals::new(folder);
    let base = || ReleaseSnapshot {
        digest: render_body("item=17&qty=1").digest,
        page: page(),
        element: Some(element()),
    };
    for (changed, why) in [
        (ReleaseSnapshot { digest: render_body("item=17&qty=9").digest, ..base() }, "request"),
        (
            ReleaseSnapshot { page: PageInfo { digest: "d2".to_owned(), ..page() }, ..base() },
            "page changed",
        ),
        (
            ReleaseSnapshot {
                page: PageInfo { url: "https://evil.test/".to_owned(), ..page() },
                ..base()
            },
            "address",
        ),
        (ReleaseSnapshot { element: None, ..base() }, "element"),
        (
            ReleaseSnapshot {
                element: Some(Element { name: "Delete".to_owned(), ..element() }),
                ..base()
            },
            "element",
        ),
    ] {
        let it = all.add(draft(), NOW).unwrap();
        all.approve(&it.id, &it.request.digest, None, by(NOW)).unwrap();
        let err = all.releasing(&it.id, changed, NOW).unwrap_err();
        assert!(err.code() == Code::ApprovalStale && err.message().contains(why), "{err}");
        // That was an end of it.
        assert_eq!(code(all.releasing(&it.id, base(), NOW)), "APPROVAL_STALE");
        let now = all.get(&it.id, None, NOW).unwrap().state;
        assert!(matches!(now, ApprovalState::Stale { approved: Some(_), .. }), "{now:?}");
    }
    // A title may count the seconds.
    let it = all.add(draft(), NOW).unwrap();
    all.approve(&it.id, &it.request.digest, None, by(NOW)).unwrap();
    let titled = PageInfo { title: "(1) Your cart".to_owned(), ..page() };
    all.releasing(&it.id, ReleaseSnapshot { page: titled, ..base() }, NOW).unwrap();
    let it = all.add(draft(), NOW).unwrap();
    all.stale(&it.id, "the page was left", NOW).unwrap();
    assert_eq!(code(all.approve(&it.id, &it.request.digest, None, by(NOW))), "APPROVAL_STALE");
}

#[test]
fn time_runs_out() {
    let (_home, folder) = folder();
    let all = Approvals::new(folder);
    for (at, fits) in
        [(0, true), (-1, true), (LASTS_MS - 1, true), (LASTS_MS, false), (-60_001, false)]
    {
        let it = all.add(draft(), NOW).unwrap();
        let end = all.approve(&it.id, &it.request.digest, None, by(NOW + at));
        assert_eq!(end.is_ok(), fits, "{at}");
        if let Err(err) = end {
            assert_eq!(err.code(), Code::ApprovalExpired);
            // Also when somebody sets the clock back.
            assert_eq!(
                code(all.approve(&it.id, &it.request.digest, None, by(NOW))),
                "APPROVAL_EXPIRED"
            );
            assert_eq!(code(all.reject(&it.id, None, by(NOW))), "APPROVAL_EXPIRED");
        }
    }
    // Approved in time, and let go too late.
    let it = all.add(draft(), NOW).unwrap();
    all.approve(&it.id, &it.request.digest, None, by(NOW)).unwrap();
    assert_eq!(code(all.releasing(&it.id, again(&it), NOW + LASTS_MS)), "APPROVAL_EXPIRED");
    // What is being sent does not expire.
    let it = all.add(draft(), NOW).unwrap();
    all.approve(&it.id, &it.request.digest, None, by(NOW)).unwrap();
    all.releasing(&it.id, again(&it), NOW).unwrap();
    assert!(matches!(
        all.get(&it.id, None, NOW + 2 * LASTS_MS).unwrap().state,
        ApprovalState::Releasing { .. }
    ));
    all.settled(&it.id, SendOutcome::Failed("no route".to_owned()), NOW + 2 * LASTS_MS).unwrap();
}

#[test]
fn of_many_at_once_one_wins() {
    let (_home, folder) = folder();
    let agent = Approvals::new(folder.clone());
    for round in 0..12 {
        let it = agent.add(draft(), NOW).unwrap();
        let start = Barrier::new(6);
        let ends: Vec<Result<ApprovalRequest>> = std::thread::scope(|scope| {
            let each = |at: i64| {
                let (start, it, folder) = (&start, &it, folder.clone());
                scope.spawn(move || {
                    // Of its own, as another process has it.
                    let person = Approvals::new(folder);
                    start.wait();
                    if at % 3 == 2 {
                        return person.reject(&it.id, None, by(NOW + at));
                    }
                    person.approve(&it.id, &it.request.digest, None, by(NOW + at))
                })
            };
            let all: Vec<_> = (0..6).map(each).collect();
            all.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let mut won = 0;
        for end in ends {
            match end {
                Ok(winner) => {
                    won += 1;
                    assert_eq!(agent.get(&it.id, None, NOW + 9).unwrap(), winner);
                }
                Err(err) => assert_eq!(err.code(), Code::ApprovalSettled, "{err}"),
            }
        }
        assert_eq!(won, 1, "round {round}");
        // And one of many that would let it go.
        let gone = agent.get(&it.id, None, NOW + 9).unwrap();
        let start = Barrier::new(4);
        let released: usize = std::thread::scope(|scope| {
            let each = || {
                scope.spawn(|| {
                    start.wait();
                    usize::from(agent.releasing(&it.id, again(&it), NOW + 9).is_ok())
                })
            };
            let all: Vec<_> = (0..4).map(|_| each()).collect();
            all.into_iter().map(|it| it.join().unwrap()).sum()
        });
        assert_eq!(released, usize::from(matches!(gone.state, ApprovalState::Approved { .. })));
        if released == 1 {
            agent.settled(&it.id, SendOutcome::Answered(200), NOW + 9).unwrap();
        }
    }
}

/// A whole life, up to where it is killed; how often the request went.
fn live(all: &Approvals, steps: u32) -> u32 {
    let mut sent = 0;
    let mut life = || -> Result<()> {
        let it = all.add(draft(), NOW)?;
        if steps >= 1 {
            all.approve(&it.id, &it.request.digest, Some("ann"), by(NOW))?;
        }
        if steps >= 2 {
            all.releasing(&it.id, again(&it), NOW)?;
        }
        if steps >= 3 {
            sent += 1;
        }
        if steps >= 4 {
            all.settled(&it.id, SendOutcome::Answered(200), NOW)?;
        }
        Ok(())
    };
    let _ = life();
    sent
}

/// Waits until nobody holds the lock of who was here: a process that another test starts has a copy of it until its `exec`.
fn wait_for_release(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let is_held = || {
        let all = Approvals::new(folder.to_owned()).list(None, NOW + 1).unwrap();
        all.iter().any(|it| matches!(it.state.word(), "waiting" | "approved" | "being sent"))
    };
    while is_held() && Instant::now() < deadline {
        std::thread::yield_now();
    }
}

/// What is said of it afterwards, by a person who looks or by a process that begins.
fn afterwards(folder: &Path, recovers: bool) -> Option<&'static str> {
    let later = Approvals::new(folder.to_owned());
    if recovers {
        later.recover(NOW + 1).unwrap();
        assert!(later.recover(NOW + 1).unwrap().is_empty());
        let left = Dir::open(folder, false).unwrap();
        assert!(left.is_none_or(|it| !it.has_leftovers("none").unwrap()));
    }
    let all = later.list(None, NOW + 1).unwrap();
    assert!(all.len() <= 1);
    for it in &all {
        // Nobody lets it go a second time.
        let end = later.approve(&it.id, &it.request.digest, None, by(NOW + 1)).unwrap_err();
        assert!(matches!(end.code(), Code::ApprovalStale | Code::ApprovalSettled), "{end}");
        assert!(later.releasing(&it.id, again(it), NOW + 1).is_err());
    }
    all.first().map(|it| it.state.word())
}

#[test]
fn after_a_kill_at_any_write_the_truth_is_told() {
    let (lost, perhaps, sent) = (Some("lost"), Some("perhaps sent"), Some("sent"));
    // At which write, how far that got; how often it went, what is said of it.
    let cases = [
        (0, NOTHING, 0, None),
        (0, HALF, 0, None),
        (0, ALL, 0, lost),
        (1, NOTHING, 0, lost),
        (1, HALF, 0, lost),
        (1, ALL, 0, lost),
        (2, NOTHING, 0, lost),
        (2, HALF, 0, lost),
        // It did not go, and nobody can know.
        (2, ALL, 0, perhaps),
        (3, NOTHING, 1, perhaps),
        (3, HALF, 1, perhaps),
        (3, ALL, 1, sent),
    ];
    for (write, kind, went, expected) in cases {
        for recovers in [true, false] {
            let (_home, folder) = folder();
            let all = Approvals::new(folder.clone());
            all.fault.set(write, kind);
            assert_eq!(live(&all, 4), went, "{write} {kind}");
            drop(all);
            wait_for_release(&folder);
            assert_eq!(afterwards(&folder, recovers), expected, "{write} {kind} {recovers}");
        }
    }
    // Between the writes.
    for (steps, went, expected) in
        [(0, 0, lost), (1, 0, lost), (2, 0, perhaps), (3, 1, perhaps), (4, 1, sent)]
    {
        let (_home, folder) = folder();
        let all = Approvals::new(folder.clone());
        assert_eq!(live(&all, steps), went);
        drop(all);
        wait_for_release(&folder);
        assert_eq!(afterwards(&folder, true), expected, "{steps}");
    }
    // Whoever recovers may be killed, too.
    for kind in [NOTHING, HALF, ALL] {
        let (_home, folder) = folder();
        let all = Approvals::new(folder.clone());
        live(&all, 3);
        drop(all);
        let second = Approvals::new(folder.clone());
        second.fault.set(0, kind);
        assert!(second.recover(NOW + 1).is_err());
        drop(second);
        wait_for_release(&folder);
        assert_eq!(afterwards(&folder, true), perhaps);
    }
}

#[test]
fn whoever_begins_takes_nothing_from_others() {
    let (_home, folder) = folder();
    let (one, other) = (Approvals::new(folder.clone()), Approvals::new(folder.clone()));
    let first = one.add(draft(), NOW).unwrap();
    let second = other.add(draft(), NOW + 1).unwrap();
    assert!(Approvals::new(folder.clone()).recover(NOW + 1).unwrap().is_empty());
    drop(one);
    let changed = other.recover(NOW + 1).unwrap();
    assert_eq!(changed.len(), 1);
    assert_eq!((changed[0].id.as_str(), changed[0].state.word()), (first.id.as_str(), "lost"));
    let it = other.get(&second.id, None, NOW + 1).unwrap();
    assert_eq!(it.state, ApprovalState::Waiting);
    // What another process has cannot be let go by this one.
    let third = Approvals::new(folder);
    third.add(draft(), NOW + 2).unwrap();
    third.approve(&second.id, &second.request.digest, None, by(NOW + 2)).unwrap();
    assert_eq!(code(third.releasing(&second.id, again(&second), NOW + 2)), "APPROVAL_NOT_FOUND");
    other.releasing(&second.id, again(&second), NOW + 2).unwrap();
}

#[test]
fn what_is_old_is_forgotten_and_what_waits_is_bounded() {
    let (_home, folder) = folder();
    let all = Approvals::new(folder.clone());
    let old = all.add(draft(), NOW).unwrap();
    all.reject(&old.id, None, by(NOW)).unwrap();
    let late = NOW + LASTS_MS + KEPT_MS + 1;
    assert_eq!(all.prune(late - 1).unwrap(), 0);
    let new = all.add(draft(), late).unwrap();
    drop(Approvals::new(folder.clone()).add(draft(), late).unwrap());
    assert_eq!(all.prune(late).unwrap(), 1);
    let names = Dir::open(&folder, false).unwrap().unwrap().names().unwrap();
    // One lock is left: of a process that lives.
    assert_eq!(names.iter().filter(|it| it.starts_with(HOLDER)).count(), 1, "{names:?}");
    assert_eq!(all.get(&new.id, None, late).unwrap().state, ApprovalState::Waiting);
    for _ in 1..WAITING {
        all.add(draft(), late).unwrap();
    }
    assert_eq!(code(all.add(draft(), late)), "QUEUE_FULL");
    all.add(ApprovalDraft { principal: "bob".to_owned(), ..draft() }, late).unwrap();
    all.reject(&new.id, None, by(late)).unwrap();
    all.add(draft(), late).unwrap();
}

#[test]
fn what_is_damaged_is_named_and_never_sent() {
    let (_home, folder) = folder();
    let all = Approvals::new(folder.clone());
    let it = all.add(draft(), NOW).unwrap();
    let name = file(&it.id);
    let good = std::fs::read(folder.join(&name)).unwrap();
    let text = String::from_utf8(good.clone()).unwrap();
    let as_another = text.replace(&it.id, "00000000000000000000");
    let newer = text.replacen("\"version\": 1", "\"version\": 2", 1);
    let extended = text.replacen('{', "{\"more\": 1,", 1);
    let half = text[..text.len() / 2].to_owned();
    for bad in [as_another, newer, extended, half, String::new()] {
        files::write_atomic(&folder, &name, bad.as_bytes()).unwrap();
        assert_eq!(
            code(all.approve(&it.id, &it.request.digest, None, by(NOW))),
            "ARTIFACT_CORRUPT"
        );
        assert!(all.list(None, NOW).unwrap().is_empty());
        assert!(all.recover(NOW).unwrap().is_empty());
    }
    // A holder's name that leads elsewhere is nobody's.
    let elsewhere = text.replacen(&it.holder, "../../x", 1);
    files::write_atomic(&folder, &name, elsewhere.as_bytes()).unwrap();
    assert_eq!(all.get(&it.id, None, NOW).unwrap().state.word(), "lost");
    files::write_atomic(&folder, &name, &good).unwrap();
    assert_eq!(all.get(&it.id, None, NOW).unwrap().state, ApprovalState::Waiting);
}
