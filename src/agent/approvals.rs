//! What waits for approval, on disk: one file each, every change under one lock, and never the same request let go twice.
//!
//! Whoever has the page holds a lock of its own for as long as it lives. A file whose holder is gone is told as what it is by whoever
//! looks next, in whichever process: what waited is lost, what was being sent was perhaps sent. So no restart has to come first, and one
//! process that begins takes nothing away from another.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::pending::{
    ApprovalDraft, ApprovalEvent, ApprovalRequest, ApprovalState, Decider, Element, PageInfo,
    VERSION, step,
};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir, Lock},
    ids,
};

/// No file of ours is larger.
const FILE: usize = 256 * 1024;
/// Requests of one principal that wait at once.
const WAITING: usize = 20;
/// How long what is settled can be looked up.
const KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// What has waited for the lock so often, a few milliseconds each time, waits for somebody who stands still.
const TRIES: u32 = 2000;
const TRY: Duration = Duration::from_millis(2);
const HOLDER: &str = "holder-";

/// What waits, in one folder that several processes use.
pub struct Approvals {
    folder: PathBuf,
    /// Of this process, once it has a page that waits.
    holder: Mutex<Option<Holder>>,
    #[cfg(test)]
    fault: tests::Fault,
}

struct Holder {
    word: String,
    /// Gone with the process.
    _lock: Lock,
}

/// How it looks just before a request is let go.
#[derive(Clone, Debug)]
pub struct ReleaseSnapshot {
    /// Of the request that is held now.
    pub digest: String,
    pub page: PageInfo,
    pub element: Option<Element>,
}

/// What became of a request that was let go.
#[derive(Clone, Debug)]
pub enum SendOutcome {
    Answered(u16),
    /// It is certain that it did not leave.
    Failed(String),
    Unclear,
}

impl Approvals {
    /// `folder` is made when the first request waits.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            holder: Mutex::new(None),
            #[cfg(test)]
            fault: tests::Fault::default(),
        }
    }

    /// Lets a request wait, whose page this process has. Fails with `QUEUE_FULL` where as many wait as may, and `ARTIFACT_IO`.
    pub fn add(&self, draft: ApprovalDraft, now_ms: i64) -> Result<ApprovalRequest> {
        let dir = files::open_or_create(&self.folder)?;
        let _lock = lock(&dir)?;
        let waiting = self.all(&dir, now_ms)?;
        let waiting =
            waiting.iter().filter(|it| it.state.is_open() && it.principal == draft.principal);
        if waiting.count() >= WAITING {
            return Err(Error::new(
                Code::QueueFull,
                format!("{WAITING} requests wait for approval"),
            )
            .hint("`commis approve` shows them; approve or reject some"));
        }
        let id: String = ids::random_token()?.chars().take(16).collect();
        let it = draft.into_pending(id, self.hold(&dir)?, now_ms);
        self.write(&dir, &it)?;
        Ok(it)
    }

    /// One, as it stands now. `whose`: of whom; `None` is who owns the machine. Fails with `APPROVAL_NOT_FOUND`.
    pub fn get(&self, id: &str, whose: Option<&str>, now_ms: i64) -> Result<ApprovalRequest> {
        self.under_lock(id, |dir| self.find(dir, id, whose, now_ms))
    }

    /// All that are theirs to see, the oldest first.
    pub fn list(&self, whose: Option<&str>, now_ms: i64) -> Result<Vec<ApprovalRequest>> {
        let Some(dir) = Dir::open(&self.folder, false)? else { return Ok(Vec::new()) };
        let _lock = lock(&dir)?;
        let mut out = self.all(&dir, now_ms)?;
        out.retain(|it| whose.is_none_or(|whose| it.principal == whose));
        Ok(out)
    }

    /// A person approves what they were shown, by its digest. Of several at once one succeeds. Fails with `APPROVAL_NOT_FOUND`,
    /// `APPROVAL_STALE` (another digest, or what was shown is gone), `APPROVAL_EXPIRED`, `APPROVAL_SETTLED` and `ARTIFACT_IO`.
    pub fn approve(
        &self,
        id: &str,
        digest: &str,
        whose: Option<&str>,
        by: Decider,
    ) -> Result<ApprovalRequest> {
        let now_ms = by.at_ms;
        self.under_lock(id, |dir| {
            let it = self.find(dir, id, whose, now_ms)?;
            if it.state == ApprovalState::Waiting && digest != it.request.digest {
                return Err(Error::new(
                    Code::ApprovalStale,
                    "the held request is not the one that was shown",
                )
                .hint(
                    "run `commis approve` for it again: an approval is for a digest, not an id",
                ));
            }
            self.step(dir, it, ApprovalEvent::Approve(by))
        })
    }

    /// Fails as [`Self::approve`] does, but for the digest.
    pub fn reject(&self, id: &str, whose: Option<&str>, by: Decider) -> Result<ApprovalRequest> {
        let now_ms = by.at_ms;
        self.under_lock(id, |dir| {
            let it = self.find(dir, id, whose, now_ms)?;
            self.step(dir, it, ApprovalEvent::Reject(by))
        })
    }

    /// Whoever has the page looks again; when this returns, the request may go, this once. Fails with `APPROVAL_STALE` where page,
    /// element or request are no longer what was approved, which is an end of it, with `FORBIDDEN` where nobody approved, and as
    /// [`Self::approve`] does.
    pub fn releasing(
        &self,
        id: &str,
        again: ReleaseSnapshot,
        now_ms: i64,
    ) -> Result<ApprovalRequest> {
        self.under_lock(id, |dir| {
            let it = self.own(dir, id, now_ms)?;
            if let Some(why) = changed(&it, again)
                && it.state.is_open()
            {
                let stale = self.step(dir, it, ApprovalEvent::Change(why))?;
                return self.step(dir, stale, ApprovalEvent::Release);
            }
            self.step(dir, it, ApprovalEvent::Release)
        })
    }

    /// What became of it. Fails with `APPROVAL_SETTLED` where that is known.
    pub fn settled(&self, id: &str, end: SendOutcome, now_ms: i64) -> Result<ApprovalRequest> {
        let event = match end {
            SendOutcome::Answered(status) => ApprovalEvent::Answered(status),
            SendOutcome::Failed(reason) => ApprovalEvent::Failed(reason),
            SendOutcome::Unclear => ApprovalEvent::Unclear,
        };
        self.under_lock(id, |dir| {
            let it = self.own(dir, id, now_ms)?;
            self.step(dir, it, event)
        })
    }

    /// The page that it was on is gone or another now.
    pub fn stale(&self, id: &str, why: &str, now_ms: i64) -> Result<ApprovalRequest> {
        self.under_lock(id, |dir| {
            let it = self.own(dir, id, now_ms)?;
            self.step(dir, it, ApprovalEvent::Change(why.to_owned()))
        })
    }

    /// Tells the truth of everything whose holder is gone or whose time is over, and sweeps what a crash left. Returns what changed.
    pub fn recover(&self, now_ms: i64) -> Result<Vec<ApprovalRequest>> {
        let Some(dir) = Dir::open(&self.folder, false)? else { return Ok(Vec::new()) };
        let _lock = lock(&dir)?;
        // Nobody writes but under this lock.
        dir.sweep()?;
        let mut out = Vec::new();
        for id in ids_in(&dir)? {
            if let Some(was) = readable(&id, load(&dir, &id))
                && let now = self.truth(&dir, was.clone(), now_ms)?
                && now != was
            {
                out.push(now);
            }
        }
        Ok(out)
    }

    /// Forgets what was settled a week ago, and locks of processes that are gone. Returns how many requests.
    pub fn prune(&self, now_ms: i64) -> Result<usize> {
        let Some(dir) = Dir::open(&self.folder, false)? else { return Ok(0) };
        let _lock = lock(&dir)?;
        let mut forgotten = 0;
        let all = self.all(&dir, now_ms)?;
        for it in &all {
            if it.state.is_settled() && now_ms.saturating_sub(it.expires_ms) > KEPT_MS {
                forgotten += usize::from(dir.remove(&file(&it.id))?);
            }
        }
        for name in dir.names()?.iter().filter(|it| it.starts_with(HOLDER)) {
            if let Some(left) = dir.folder(name)?
                && let Some(_dead) = left.try_lock()?
            {
                dir.remove_folder(name, &left)?;
            }
        }
        Ok(forgotten)
    }

    fn under_lock<T>(&self, id: &str, work: impl FnOnce(&Dir) -> Result<T>) -> Result<T> {
        let dir = Dir::open(&self.folder, false)?.ok_or_else(|| not_found(id))?;
        let _lock = lock(&dir)?;
        work(&dir)
    }

    /// One that is theirs, as it stands.
    fn find(
        &self,
        dir: &Dir,
        id: &str,
        whose: Option<&str>,
        now_ms: i64,
    ) -> Result<ApprovalRequest> {
        let it = load(dir, id)?.ok_or_else(|| not_found(id))?;
        // Another's is as if it were not there.
        if whose.is_some_and(|whose| it.principal != whose) {
            return Err(not_found(id));
        }
        self.truth(dir, it, now_ms)
    }

    /// One whose page this process has.
    fn own(&self, dir: &Dir, id: &str, now_ms: i64) -> Result<ApprovalRequest> {
        let it = self.find(dir, id, None, now_ms)?;
        let holder = self.holder.lock().unwrap_or_else(PoisonError::into_inner);
        if holder.as_ref().is_none_or(|holder| holder.word != it.holder) {
            return Err(not_found(id));
        }
        Ok(it)
    }

    fn all(&self, dir: &Dir, now_ms: i64) -> Result<Vec<ApprovalRequest>> {
        let mut out = Vec::new();
        for id in ids_in(dir)? {
            if let Some(it) = readable(&id, load(dir, &id)) {
                out.push(self.truth(dir, it, now_ms)?);
            }
        }
        out.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        Ok(out)
    }

    /// What it has become while nobody looked, written down.
    fn truth(&self, dir: &Dir, it: ApprovalRequest, now_ms: i64) -> Result<ApprovalRequest> {
        if it.state.is_settled() {
            return Ok(it);
        }
        if !is_alive(dir, &it.holder)? {
            return self.step(dir, it, ApprovalEvent::Gone);
        }
        if it.state.is_open() && it.is_over(now_ms) {
            return self.step(dir, it, ApprovalEvent::Expire);
        }
        Ok(it)
    }

    fn step(
        &self,
        dir: &Dir,
        it: ApprovalRequest,
        event: ApprovalEvent,
    ) -> Result<ApprovalRequest> {
        let state = step(it.state.clone(), event)?;
        let it = ApprovalRequest { state, ..it };
        self.write(dir, &it)?;
        Ok(it)
    }

    #[cfg_attr(
        not(test),
        expect(clippy::unused_self, reason = "tests have it fail at a write of their choice")
    )]
    fn write(&self, dir: &Dir, it: &ApprovalRequest) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(it).map_err(|err| {
            Error::new(Code::Internal, "cannot write the held request as JSON").source(err)
        })?;
        if bytes.len() > FILE {
            return Err(Error::new(
                Code::ArtifactIo,
                format!("the approval would have {} bytes, which is too many", bytes.len()),
            )
            .hint("do less in one task"));
        }
        #[cfg(test)]
        self.fault.before(dir, &bytes)?;
        dir.write(&file(&it.id), &bytes)?;
        #[cfg(test)]
        self.fault.after()?;
        Ok(())
    }

    /// The lock by which others know that this process lives.
    fn hold(&self, dir: &Dir) -> Result<String> {
        let mut holder = self.holder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(it) = &*holder {
            return Ok(it.word.clone());
        }
        let word = ids::random_token()?;
        let folder = dir.make_folder(&format!("{HOLDER}{word}"))?;
        let lock = folder.try_lock()?.ok_or_else(|| {
            Error::new(Code::ArtifactIo, "another process holds the lock of this process")
        })?;
        *holder = Some(Holder { word: word.clone(), _lock: lock });
        Ok(word)
    }
}

fn is_alive(dir: &Dir, holder: &str) -> Result<bool> {
    if !is_id(holder) {
        return Ok(false);
    }
    match dir.folder(&format!("{HOLDER}{holder}"))? {
        Some(it) => Ok(it.try_lock()?.is_none()),
        None => Ok(false),
    }
}

/// What is another than what was shown.
fn changed(it: &ApprovalRequest, again: ReleaseSnapshot) -> Option<String> {
    let page = again.page.sanitize();
    let element = again.element.map(Element::sanitize);
    if again.digest != it.request.digest {
        return Some("the request is another".to_owned());
    }
    if page.url != it.page.url {
        return Some("the page has another address".to_owned());
    }
    if page.digest != it.page.digest {
        return Some("the page changed".to_owned());
    }
    (element != it.element).then(|| "what was pressed is another element".to_owned())
}

fn lock(dir: &Dir) -> Result<Lock> {
    for _ in 0..TRIES {
        if let Some(lock) = dir.try_lock()? {
            return Ok(lock);
        }
        std::thread::sleep(TRY);
    }
    Err(Error::new(Code::ArtifactIo, "another process has locked the approvals")
        .hint("a process of commis is stopped; nothing was sent"))
}

fn file(id: &str) -> String {
    format!("{id}.json")
}

fn is_id(text: &str) -> bool {
    let digit = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    (16..=32).contains(&text.len()) && text.bytes().all(digit)
}

fn ids_in(dir: &Dir) -> Result<Vec<String>> {
    let names = dir.names()?;
    let ids = names.iter().filter_map(|it| it.strip_suffix(".json")).filter(|it| is_id(it));
    Ok(ids.map(str::to_owned).collect())
}

fn not_found(id: &str) -> Error {
    let shown: String = id.chars().filter(|it| !it.is_control()).take(40).collect();
    Error::new(Code::ApprovalNotFound, format!("no request `{shown}` waits"))
        .hint("`commis approve` without an id shows what waits")
}

/// `None` where there is none of that name.
fn load(dir: &Dir, id: &str) -> Result<Option<ApprovalRequest>> {
    if !is_id(id) {
        return Ok(None);
    }
    let Some(bytes) = dir.read(&file(id), FILE)? else { return Ok(None) };
    let damaged = |why: &str| {
        Error::new(
            Code::ArtifactCorrupt,
            format!("the request {id} that waited is damaged ({why})"),
        )
        .hint("it is not sent; remove its file")
    };
    let it: ApprovalRequest =
        serde_json::from_slice(&bytes).map_err(|err| damaged("no JSON of ours").source(err))?;
    if it.version != VERSION {
        return Err(damaged("of another version"));
    }
    if it.id != id {
        return Err(damaged("another's"));
    }
    Ok(Some(it))
}

/// Among many a damaged one is passed over; whoever asks for it is told.
fn readable(id: &str, it: Result<Option<ApprovalRequest>>) -> Option<ApprovalRequest> {
    it.unwrap_or_else(|err| {
        tracing::warn!(id, %err, "cannot be read");
        None
    })
}

#[cfg(test)]
#[path = "approvals_tests.rs"]
mod tests;
