//! Sessions: what was done on a page that stays, kept as it happens, to be read and to be done again.
//!
//! A session is a folder: `manifest.yaml`, `trajectory.ndjson` with one line an action, and what `file_layout.rs` names, most of it
//! written when it ends. Each line is on disk before the act is answered; a crash loses none and leaves a container that says
//! `interrupted`.

pub mod archive;
pub mod audit;
pub mod compare;
pub mod file_layout;
mod find;
pub mod fingerprint;
pub mod learn;
pub mod locator_cache;
pub mod moment;
pub mod network_expectations;
pub mod page;
pub mod pictures;
pub mod pixels;
pub mod relocate;
mod secret_scan;
pub mod templates;
pub mod traffic;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::{
    file_layout::{
        FINDINGS, FOLDERS, HELD, MANIFEST, MAX_MANIFEST, MAX_SNAPSHOT, MAX_TRAJECTORY, SNAPSHOTS,
        TRAJECTORY, hash, snapshot_of,
    },
    fingerprint::Fingerprint,
    network_expectations::SentRequest,
};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir, Lock},
    ids::RecipeName,
    settings::RedactSettings,
};
use commis_redact::RecordingSecrets;
use commis_state::now_ms;

/// Snapshots of one session.
const MOST_SNAPSHOTS: usize = 500;
/// Characters of a name in its id.
const LONGEST: usize = 40;
/// Actions of one session.
const MOST: u32 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    Recording,
    Complete,
    /// Its daemon ended before it did.
    Interrupted,
    /// Only this is left of it.
    Purged,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub id: String,
    pub name: String,
    pub task: String,
    /// Where it begins.
    pub url: String,
    pub begun_ms: i64,
    pub state: SessionState,
    pub actions: u32,
    /// What it was begun from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentSession>,
    /// Whose it is; empty for the owner of the machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// What recorded it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub browser: String,
    /// Width and height of the window, in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewport: Option<[u32; 2]>,
    /// It was recorded behind a login: it holds what the account saw.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// What became of its actions, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// How often something was left out for a secret, by what it was called.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redactions: BTreeMap<String, u64>,
    /// The page that it was recorded at.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// SHA-256 of every other file, once it has ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All of it was done.
    Pass,
    /// Some of it was.
    Partial,
    Fail,
}

/// A session, and how many of its actions were done again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParentSession {
    pub session: String,
    pub actions: u32,
}

/// One action.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SessionAction {
    /// From 1.
    pub n: u32,
    /// As `commis browse` calls it.
    pub command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<Fingerprint>,
    /// What was typed, chosen, pressed or opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// There was a value, and it stays nowhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    pub url_before: String,
    pub url_after: String,
    pub ms: u64,
    /// What it had the page ask for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<SentRequest>,
    /// What pages asked for between the act before and this one: what that one had a timer begin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<SentRequest>,
    /// Its requests in the session's traffic: the first, and the one after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<[u32; 2]>,
    /// What it added to the steps of a task, as a manifest has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Value>,
    /// Steps that it took back.
    #[serde(skip_serializing_if = "is_zero")]
    pub undone: u32,
    /// What of it no task can do again, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Whether the page changed.
    pub changed: bool,
    /// The code that it failed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// A session that is being recorded.
pub struct SessionRecorder {
    dir: Dir,
    manifest: Manifest,
    findings: Vec<String>,
    snapshots: usize,
    pictures: usize,
    picture_bytes: usize,
    /// Actions that failed.
    failed: u32,
    pub rules: RedactSettings,
    /// The document that a secret was typed into last.
    pub secret_in: Option<String>,
    /// Parts of its traffic that were written, and what was known to be secret in them.
    parts: u32,
    seals: Vec<RecordingSecrets>,
    /// Given back when the process ends, in whatever way.
    _held: Lock,
}

/// All of them.
pub struct SessionStore {
    folder: PathBuf,
}

/// A slug of its name and a number: safe as the name of a folder, and nothing that looks like a key.
fn is_id(id: &str) -> bool {
    RecipeName::new(id).is_ok()
}

impl SessionStore {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn at(&self, id: &str) -> Result<Dir> {
        let missing = || {
            Error::new(Code::TaskNotFound, "there is no such session")
                .hint("`session ls` lists them")
        };
        if !is_id(id) {
            return Err(missing());
        }
        Dir::open(&self.folder.join(id), false)?.ok_or_else(missing)
    }

    /// An id that nobody had, and its folder. A purged one keeps its own.
    fn create_dir(&self, name: &str) -> Result<(String, Dir)> {
        let slug: String = RecipeName::slug(name).as_str().chars().take(LONGEST).collect();
        let slug = slug.trim_end_matches('-');
        let all = files::open_or_create(&self.folder)?;
        let names = all.names()?;
        let number = |it: &String| it.strip_prefix(slug)?.strip_prefix('-')?.parse::<u32>().ok();
        let mut next = names.iter().filter_map(number).max().unwrap_or(0);
        loop {
            next = next.saturating_add(1);
            let id = format!("{slug}-{next}");
            // Another may have taken it meanwhile.
            if let Some(dir) = all.create_folder(&id)? {
                return Ok((id, dir));
            }
        }
    }

    /// Begins one. Fails with `ARTIFACT_IO`.
    pub fn record(
        &self,
        name: &str,
        task: &str,
        url: &str,
        owner: &str,
    ) -> Result<SessionRecorder> {
        let (id, dir) = self.create_dir(name)?;
        let folder = self.folder.join(&id);
        let held = files::open_or_create(&folder.join(HELD))?.try_lock()?.ok_or_else(|| {
            Error::new(Code::ArtifactIo, "another process has locked the new session")
        })?;
        let manifest = Manifest {
            id,
            name: commis_redact::redact_written(name),
            task: commis_redact::redact_written(task),
            url: commis_redact::message(url),
            begun_ms: now_ms(),
            state: SessionState::Recording,
            actions: 0,
            parent: None,
            owner: owner.to_owned(),
            browser: String::new(),
            viewport: None,
            private: false,
            verdict: None,
            redactions: BTreeMap::new(),
            context: String::new(),
            files: BTreeMap::new(),
        };
        let it = SessionRecorder {
            dir,
            manifest,
            findings: Vec::new(),
            snapshots: 0,
            pictures: 0,
            picture_bytes: 0,
            failed: 0,
            rules: RedactSettings::default(),
            secret_in: None,
            parts: 0,
            seals: Vec::new(),
            _held: held,
        };
        it.write()?;
        Ok(it)
    }

    /// Fails with `TASK_NOT_FOUND`, `ARTIFACT_IO`, `ARTIFACT_CORRUPT`.
    pub fn manifest(&self, id: &str) -> Result<Manifest> {
        let dir = self.at(id)?;
        let bytes = dir.read(MANIFEST, MAX_MANIFEST)?.unwrap_or_default();
        let mut it: Manifest = serde_saphyr::from_str(&String::from_utf8_lossy(&bytes))
            .map_err(|err| corrupt(id).source(err))?;
        if it.state == SessionState::Recording
            && files::open_or_create(&self.folder.join(id).join(HELD))?.try_lock()?.is_some()
        {
            it.state = SessionState::Interrupted;
            it.actions = Self::lines_in(&dir, id)?.len() as u32;
            dir.sweep()?;
        }
        Ok(it)
    }

    fn lines_in(dir: &Dir, id: &str) -> Result<Vec<SessionAction>> {
        let bytes = dir.read(TRAJECTORY, MAX_TRAJECTORY)?.unwrap_or_default();
        let text = String::from_utf8(bytes).map_err(|_| corrupt(id))?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        // A line that a crash cut is the last, or was closed by the next.
        Ok(whole.lines().filter_map(|it| serde_json::from_str(it).ok()).collect())
    }

    /// The session and its actions, to the last one that was written whole.
    pub fn load(&self, id: &str) -> Result<(Manifest, Vec<SessionAction>)> {
        let manifest = self.manifest(id)?;
        let dir = self.at(id)?;
        if let Some(expected) = manifest.files.get(TRAJECTORY) {
            let bytes = dir.read(TRAJECTORY, MAX_TRAJECTORY)?.unwrap_or_default();
            if manifest.state == SessionState::Complete && hash(&bytes) != *expected {
                return Err(corrupt(id));
            }
        }
        let lines = Self::lines_in(&dir, id)?;
        Ok((manifest, lines))
    }

    /// What a reader should know of it; empty until it has ended.
    pub fn findings(&self, id: &str) -> Result<String> {
        let bytes = self.at(id)?.read(FINDINGS, MAX_TRAJECTORY)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What the page showed after that action, where it was kept.
    pub fn snapshot(&self, id: &str, n: u32) -> Result<Option<String>> {
        let Some(folder) = self.at(id)?.folder(SNAPSHOTS)? else { return Ok(None) };
        let bytes = folder.read(&snapshot_of(n), MAX_SNAPSHOT)?;
        Ok(bytes.map(|it| String::from_utf8_lossy(&it).into_owned()))
    }

    /// Those of an owner, the newest first; with words those that share some, the best first. Damaged ones are left out.
    pub fn list(&self, owner: Option<&str>, query: &str) -> Result<Vec<Manifest>> {
        let Some(dir) = Dir::open(&self.folder, false)? else { return Ok(Vec::new()) };
        let names = dir.names()?;
        let all = names.iter().filter(|it| is_id(it)).filter_map(|it| self.manifest(it).ok());
        let all = all.filter(|it| owner.is_none_or(|owner| it.owner == owner)).collect();
        Ok(find::ranked(all, query))
    }

    /// Removes folders whose process was killed before there was a manifest in them, and what others that were killed had not written
    /// to its end; nothing in those that somebody holds. Returns how many folders. Fails with `ARTIFACT_IO`; not for what is damaged, or
    /// no session, which is left alone.
    pub fn sweep(&self) -> Result<usize> {
        let Some(all) = Dir::open(&self.folder, false)? else { return Ok(0) };
        let ids = all.names()?.into_iter().filter(|it| is_id(it));
        Ok(ids.filter(|id| swept(&all, id).unwrap_or(false)).count())
    }

    /// Removes what was done and leaves the manifest. Fails with `TASK_BUSY` while it is recorded.
    pub fn purge(&self, id: &str) -> Result<()> {
        let mut manifest = self.manifest(id)?;
        if manifest.state == SessionState::Recording {
            return Err(Error::new(Code::TaskBusy, "the session is still being recorded")
                .hint("`session end` ends it"));
        }
        let dir = self.at(id)?;
        file_layout::clear(&dir)?;
        manifest.state = SessionState::Purged;
        manifest.files.clear();
        write(&dir, &manifest)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(it: &u32) -> bool {
    *it == 0
}

fn corrupt(id: &str) -> Error {
    Error::new(Code::ArtifactCorrupt, format!("session {id} is damaged"))
        .hint("remove it with `session purge`")
}

fn write(dir: &Dir, manifest: &Manifest) -> Result<()> {
    let yaml = serde_saphyr::to_string(manifest)
        .map_err(|err| Error::new(Code::Internal, "a manifest cannot be written").source(err))?;
    dir.write(MANIFEST, yaml.as_bytes())
}

impl SessionRecorder {
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn write(&self) -> Result<()> {
        write(&self.dir, &self.manifest)
    }

    /// Adds an action, which gets the next number. Fails with `ARTIFACT_IO`, `PARAM_INVALID` beyond 10,000.
    pub fn add(&mut self, mut line: SessionAction) -> Result<()> {
        if self.manifest.actions >= MOST {
            return Err(Error::new(
                Code::ParamInvalid,
                format!("the session has {MOST} actions, which is the limit"),
            )
            .hint("end it with `session end` and record another"));
        }
        line.n = self.manifest.actions + 1;
        let text = serde_json::to_string(&line)
            .map_err(|err| Error::new(Code::Internal, "an action cannot be written").source(err))?;
        self.dir.append(TRAJECTORY, &text)?;
        self.manifest.actions = line.n;
        if line.secret {
            self.findings
                .push(format!("- action {}: what was typed is a secret and is not here", line.n));
        }
        self.failed += u32::from(line.failed.is_some());
        if let Some(code) = line.failed {
            self.findings.push(format!("- action {}: {} failed with {code}", line.n, line.command));
        }
        Ok(())
    }

    /// What records it.
    pub fn seen_in(&mut self, browser: &str, viewport: Option<[u32; 2]>) {
        browser.clone_into(&mut self.manifest.browser);
        self.manifest.viewport = viewport;
    }

    /// It is recorded behind a login.
    pub fn behind_a_login(&mut self) {
        self.manifest.private = true;
    }

    /// By these rules secrets are left out.
    #[must_use]
    pub fn by(mut self, rules: &RedactSettings) -> Self {
        self.rules.clone_from(rules);
        self
    }

    /// Names what it was begun from.
    pub fn of_parent(&mut self, session: &str, actions: u32) -> Result<()> {
        self.manifest.parent = Some(ParentSession { session: session.to_owned(), actions });
        self.write()
    }

    /// Names the page that it is recorded at.
    pub fn at_page(&mut self, context: &str) -> Result<()> {
        context.clone_into(&mut self.manifest.context);
        self.write()
    }

    /// What the page shows after the last action; beyond 500 it is left out, and beyond 64 KiB cut.
    pub fn snapshot(&mut self, text: &str) -> Result<()> {
        if self.snapshots >= MOST_SNAPSHOTS {
            return Ok(());
        }
        self.snapshots += 1;
        let most = text.len().min(MAX_SNAPSHOT);
        let end = (0..=most).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
        let text = &text[..end];
        let folder = self.dir.make_folder(SNAPSHOTS)?;
        folder.write(&snapshot_of(self.manifest.actions), text.as_bytes())
    }

    /// Its actions so far.
    pub fn lines(&self) -> Result<Vec<SessionAction>> {
        SessionStore::lines_in(&self.dir, &self.manifest.id)
    }

    /// Something that a reader should know.
    pub fn find(&mut self, what: &str) {
        self.findings.push(format!("- action {}: {what}", self.manifest.actions));
    }

    /// Ends it: all its files are on disk, and their hashes in the manifest.
    pub fn end(mut self) -> Result<Manifest> {
        let findings =
            if self.findings.is_empty() { "- none".to_owned() } else { self.findings.join("\n") };
        self.dir.write(FINDINGS, format!("# Findings\n\n{findings}\n").as_bytes())?;
        for name in file_layout::names(&self.dir)? {
            if let Some(bytes) = file_layout::read(&self.dir, &name)? {
                self.manifest.files.insert(name, hash(&bytes));
            }
        }
        self.manifest.verdict = Some(match (self.failed, self.manifest.actions) {
            (0, _) => Verdict::Pass,
            (failed, all) if failed < all => Verdict::Partial,
            _ => Verdict::Fail,
        });
        self.manifest.state = SessionState::Complete;
        self.write()?;
        Ok(self.manifest)
    }
}

/// Whether that folder was one without a manifest, and is gone.
fn swept(all: &Dir, id: &str) -> Result<bool> {
    let Some(dir) = all.folder(id)? else { return Ok(false) };
    if dir.stat(MANIFEST)?.is_some() {
        tidy(&dir)?;
        return Ok(false);
    }
    // What is not ours is left alone.
    if dir.names()?.iter().any(|it| it != HELD) {
        return Ok(false);
    }
    if let Some(held) = dir.folder(HELD)? {
        let Some(_lock) = held.try_lock()? else { return Ok(false) };
        dir.remove_folder(HELD, &held)?;
    }
    all.remove_folder(id, &dir)?;
    Ok(true)
}

/// Removes half-written files of a session that nobody records.
fn tidy(session: &Dir) -> Result<()> {
    let held = session.folder(HELD)?;
    let lock = held.as_ref().map(Dir::try_lock).transpose()?;
    if matches!(lock, Some(None)) {
        return Ok(());
    }
    let sweep = |it: &Dir| match it.try_lock()? {
        Some(_lock) => it.sweep().map(drop),
        None => Ok(()),
    };
    for part in FOLDERS {
        session.folder(part)?.as_ref().map_or(Ok(()), sweep)?;
    }
    sweep(session)
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn a_crash_leaves_a_session_that_says_so() {
        let home = tempfile::tempdir().unwrap();
        let all = SessionStore::new(home.path());
        let mut it = all.record("one", "Look", "http://a.test/", "").unwrap();
        let id = it.manifest().id.clone();
        it.add(SessionAction { command: "click".into(), ..SessionAction::default() }).unwrap();
        assert_eq!(all.manifest(&id).unwrap().state, SessionState::Recording);
        assert_eq!(all.purge(&id).unwrap_err().code(), Code::TaskBusy);
        drop(it);
        // As a crash leaves it: half a line at the end.
        let torn = home.path().join(&id).join(TRAJECTORY);
        std::fs::OpenOptions::new()
            .append(true)
            .open(torn)
            .unwrap()
            .write_all(b"{\"n\":2,")
            .unwrap();
        let (manifest, lines) = all.load(&id).unwrap();
        assert_eq!(
            (manifest.state, manifest.actions, lines.len()),
            (SessionState::Interrupted, 1, 1)
        );
        all.purge(&id).unwrap();
        assert_eq!(all.load(&id).unwrap().1.len(), 0);
    }

    #[test]
    fn what_was_killed_before_it_began_is_swept() {
        let home = tempfile::tempdir().unwrap();
        let all = SessionStore::new(home.path());
        assert_eq!(all.sweep().unwrap(), 0);
        let kept = all.record("kept", "", "http://a.test/", "").unwrap();
        let begun = all.record("begun", "", "http://a.test/", "").unwrap();
        let folder = home.path().join(&begun.manifest().id);
        rustix::fs::rename(folder.join(MANIFEST), folder.join(".tmp-1-1")).unwrap();
        assert_eq!(all.sweep().unwrap(), 0, "it is held");
        drop(begun);
        // A process that another test starts holds a copy of the lock until its `exec`.
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut swept = all.sweep().unwrap();
        while swept == 0 && Instant::now() < deadline {
            std::thread::yield_now();
            swept = all.sweep().unwrap();
        }
        assert_eq!(swept, 1);
        assert!(!folder.exists());
        assert!(home.path().join(&kept.manifest().id).join(MANIFEST).exists());
        let foreign = home.path().join("other-1");
        std::fs::create_dir(&foreign).unwrap();
        files::write_atomic(&foreign, "notes", b"mine").unwrap();
        assert_eq!(all.sweep().unwrap(), 0);
    }

    #[test]
    fn a_session_that_was_changed_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let all = SessionStore::new(home.path());
        let mut it = all.record("one", "Look at hats", "http://a.test/", "").unwrap();
        it.add(SessionAction { command: "click".into(), ..SessionAction::default() }).unwrap();
        it.snapshot(&"ä".repeat(MAX_SNAPSHOT)).unwrap();
        let id = it.end().unwrap().id;
        assert_eq!(all.load(&id).unwrap().1.len(), 1);
        assert_eq!(all.snapshot(&id, 1).unwrap().unwrap().len(), MAX_SNAPSHOT);
        assert_eq!(all.snapshot(&id, 2).unwrap(), None);
        assert_eq!(all.list(None, "HATS a.test").unwrap().len(), 1);
        assert!(all.list(None, "shoes").unwrap().is_empty());
        assert!(all.list(Some("someone"), "").unwrap().is_empty());
        let file = home.path().join(&id).join(TRAJECTORY);
        let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
        file.write_all(b"{\"command\":\"goto\"}\n").unwrap();
        assert_eq!(all.load(&id).unwrap_err().code(), Code::ArtifactCorrupt);
        for id in ["", "..", "../../etc", "ffff", "UPPER"] {
            assert_eq!(all.manifest(id).unwrap_err().code(), Code::TaskNotFound);
        }
    }

    #[test]
    fn what_was_half_written_is_swept_where_nobody_records() {
        let home = tempfile::tempdir().unwrap();
        let all = SessionStore::new(home.path());
        let mut it = all.record("one", "", "http://a.test/", "").unwrap();
        it.add(SessionAction { command: "click".into(), ..SessionAction::default() }).unwrap();
        it.snapshot("a page").unwrap();
        let folder = home.path().join(&it.manifest().id);
        let parts: Vec<_> = FOLDERS.iter().map(|it| folder.join(it)).collect();
        for it in &parts {
            commis_base::files::ensure_private_dir(it).unwrap();
        }
        let parts = parts.iter().map(|it| it.join(".tmp-1-2"));
        let halves: Vec<_> = parts.chain([folder.join(".tmp-1-1")]).collect();
        // A file of somebody's own is in nobody's way.
        let own = home.path().join("notes");
        for it in halves.iter().chain([&own]) {
            std::fs::File::create(it).unwrap();
        }
        all.sweep().unwrap();
        assert!(halves.iter().all(|it| it.exists()));
        // As a killed process leaves it: its lock is gone with it.
        let id = it.manifest().id.clone();
        drop(it);
        all.sweep().unwrap();
        assert!(own.exists() && !halves.iter().any(|it| it.exists()));
        assert_eq!(all.snapshot(&id, 1).unwrap().unwrap(), "a page");
    }
}
