//! What pages that stay wrote to their console, asked for and said in dialogs: the newest of each, redacted as they come in, and a
//! second later in files.
//!
//! The guard only notes what it heard; whoever keeps the rings takes it in. So no request waits for a disk, and a page that says
//! much costs no more than what is kept. The files are for whoever asks afterwards what happened: a crash loses a second.

use std::{
    collections::VecDeque,
    io::Write as _,
    path::{Path, PathBuf},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::Serialize;
use tokio::task::JoinHandle;

use super::{
    context_state::ContextInner,
    log_buffer::{LogBuffer, LogKind, MOST},
};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
};

/// In a file; then it is written anew, with what the ring holds.
const MOST_LINES: usize = 2 * MOST;
/// Characters of an entry.
const LONGEST: usize = 500;
const EVERY: Duration = Duration::from_secs(1);

const FILES: [&str; 3] = ["console.ndjson", "network.ndjson", "dialogs.ndjson"];

/// One line of a ring, and of its file.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    pub at_ms: i64,
    /// Of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// A document, or what a script asked for.
    #[serde(skip)]
    pub is_data: bool,
    pub text: String,
}

#[derive(Default)]
struct RingBuffer {
    kept: VecDeque<Entry>,
    /// Of the kept ones, the newest, which are in no file yet.
    fresh: usize,
    lines: usize,
    /// Those that are not kept any more.
    gone: u64,
}

/// The three rings of a context.
#[derive(Default)]
pub struct EventLog {
    all: [RingBuffer; 3],
    folder: Option<(PathBuf, Dir)>,
    lost: u64,
}

impl EventLog {
    /// `folder`: where the files go; those that were there are another's and go away. Fails with `ARTIFACT_IO`.
    pub fn new(folder: Option<&Path>) -> Result<Self> {
        let Some(folder) = folder else { return Ok(Self::default()) };
        let dir = files::open_or_create(folder)?;
        for it in FILES {
            dir.discard(it)?;
        }
        Ok(Self { folder: Some((folder.to_owned(), dir)), ..Self::default() })
    }

    fn take_in(&mut self, heard: LogBuffer) {
        self.lost += heard.lost;
        for it in heard.lines {
            let ring = &mut self.all[it.of as usize];
            if ring.kept.len() == MOST {
                ring.kept.pop_front();
                ring.gone += 1;
                ring.fresh = ring.fresh.min(MOST - 1);
            }
            let text: String = commis_redact::message(&it.text).chars().take(LONGEST).collect();
            let (id, is_data) = it.request.map_or((None, false), |it| (Some(it.0), it.1));
            ring.kept.push_back(Entry { at_ms: it.at_ms, id, is_data, text });
            ring.fresh += 1;
        }
    }

    /// The newest of those that are `wanted`, oldest first, and how many there are besides.
    pub fn last(
        &self,
        of: LogKind,
        most: usize,
        wanted: impl Fn(&Entry) -> bool,
    ) -> (Vec<Entry>, u64) {
        let ring = &self.all[of as usize];
        let all: Vec<&Entry> = ring.kept.iter().filter(|it| wanted(it)).collect();
        let from = all.len().saturating_sub(most);
        let shown = all[from..].iter().map(|it| (*it).clone()).collect();
        (shown, ring.gone + from as u64)
    }

    /// Adds what is new to the files. Fails with `ARTIFACT_IO`; what was not written is tried again.
    fn write(&mut self) -> Result<()> {
        let Some((_, dir)) = &self.folder else { return Ok(()) };
        for (ring, name) in self.all.iter_mut().zip(FILES) {
            if ring.fresh == 0 {
                continue;
            }
            let anew = ring.lines + ring.fresh > MOST_LINES;
            let from = if anew { 0 } else { ring.kept.len() - ring.fresh };
            let mut text = String::new();
            for it in ring.kept.range(from..) {
                text.push_str(&serde_json::to_string(it).unwrap_or_default());
                text.push('\n');
            }
            if anew {
                dir.write_unsynced(name, text.as_bytes())?;
                ring.lines = ring.kept.len();
            } else {
                let mut file = dir.open_to_append(name)?;
                file.write_all(text.as_bytes()).map_err(|err| {
                    Error::new(Code::ArtifactIo, format!("{name} cannot be written")).source(err)
                })?;
                ring.lines += ring.fresh;
            }
            ring.fresh = 0;
        }
        Ok(())
    }

    /// Removes the files: what they are about has ended as it should.
    pub fn forget(&mut self) {
        let Some((path, dir)) = self.folder.take() else { return };
        if let (Some(parent), Some(name)) = (path.parent(), path.file_name())
            && let Ok(Some(parent)) = Dir::open(parent, false)
            && let Some(name) = name.to_str()
        {
            let _ = parent.remove_folder(name, &dir);
        }
    }
}

/// The rings of a context while it is open.
pub struct EventLogWriter {
    shared: Arc<ContextInner>,
    rings: Arc<Mutex<EventLog>>,
    task: JoinHandle<()>,
}

impl EventLogWriter {
    /// From here on what the context's pages say is heard. `folder`: see [`EventLog::new`].
    pub fn begin(shared: &Arc<ContextInner>, folder: Option<&Path>) -> Result<Self> {
        let rings = Arc::new(Mutex::new(EventLog::new(folder)?));
        shared.lock().heard = Some(LogBuffer::default());
        let task = tokio::spawn(keep(Arc::clone(shared), Arc::clone(&rings)));
        Ok(Self { shared: Arc::clone(shared), rings, task })
    }

    /// Goes on with the pages of another context, whose rings these are from here on. Fails with `BROWSER_FAILED`.
    pub fn follow(&mut self, shared: &Arc<ContextInner>) -> Result<()> {
        drop(self.now());
        shared.lock().heard = Some(LogBuffer::default());
        for it in shared.frame_sessions()? {
            super::guard::hear(shared, &it);
        }
        self.task.abort();
        self.task = tokio::spawn(keep(Arc::clone(shared), Arc::clone(&self.rings)));
        self.shared = Arc::clone(shared);
        Ok(())
    }

    /// With all that was heard until now.
    pub fn now(&self) -> MutexGuard<'_, EventLog> {
        now(&self.shared, &self.rings)
    }
}

impl Drop for EventLogWriter {
    /// After a crash the files are for whoever asks what happened.
    fn drop(&mut self) {
        self.task.abort();
        if self.shared.page().is_ok() {
            self.rings.lock().unwrap_or_else(PoisonError::into_inner).forget();
        }
    }
}

fn now<'a>(shared: &ContextInner, rings: &'a Mutex<EventLog>) -> MutexGuard<'a, EventLog> {
    let mut rings = rings.lock().unwrap_or_else(PoisonError::into_inner);
    let heard = {
        let mut state = shared.lock();
        let mut heard = state.heard.as_mut().map(std::mem::take);
        if !state.secrets.is_empty() {
            for it in heard.iter_mut().flat_map(|it| &mut it.lines) {
                it.text = state.masked(std::mem::take(&mut it.text));
            }
        }
        heard
    };
    if let Some(heard) = heard {
        rings.take_in(heard);
    }
    rings
}

/// Takes in and writes out what is heard, a second after it began to be; sleeps while there is nothing.
async fn keep(shared: Arc<ContextInner>, rings: Arc<Mutex<EventLog>>) {
    let mut told = false;
    loop {
        loop {
            let mut news = pin!(shared.news.notified());
            news.as_mut().enable();
            if shared.lock().heard.as_ref().is_some_and(|it| !it.is_empty()) {
                break;
            }
            news.await;
        }
        tokio::time::sleep(EVERY).await;
        shared.renew();
        let (of, to) = (Arc::clone(&shared), Arc::clone(&rings));
        let done = tokio::task::spawn_blocking(move || now(&of, &to).write()).await;
        if let Ok(Err(err)) = done
            && !std::mem::replace(&mut told, true)
        {
            tracing::warn!(error = %err, "what pages said is kept in memory alone");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(of: LogKind, all: impl Iterator<Item = String>) -> LogBuffer {
        let mut it = LogBuffer::default();
        all.for_each(|text| it.add(of, text));
        it
    }

    fn lines(folder: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(folder.join(FILES[0])).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_newest_are_kept_and_files_hold_no_more_than_twice_as_many() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("default");
        let mut rings = EventLog::new(Some(&at)).unwrap();
        let mut n = 0;
        for _ in 0..5 {
            let all = (n..n + 30_000).map(|it| format!("log: line {it}"));
            n += 30_000;
            rings.take_in(heard(LogKind::Console, all));
            rings.write().unwrap();
            assert!(lines(&at).len() <= MOST_LINES);
        }
        let (last, more) = rings.last(LogKind::Console, 2, |_| true);
        let texts: Vec<&str> = last.iter().map(|it| &*it.text).collect();
        assert_eq!((texts, more), (vec!["log: line 149998", "log: line 149999"], 149_998));
        let all = lines(&at);
        assert!(all.last().unwrap().contains("line 149999"), "{:?}", all.last());
        assert!(all.windows(2).all(|it| it[0] != it[1]), "none is written twice");
        assert_eq!(rings.last(LogKind::Dialogs, 9, |_| true).0.len(), 0);
        rings.forget();
        assert!(!at.exists());
    }

    #[test]
    fn secrets_are_out_before_they_are_kept_and_more_is_heard_than_anybody_takes_in() {
        let mut rings = EventLog::default();
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
        rings.take_in(heard(LogKind::Console, [format!("log: token {token}")].into_iter()));
        let all = rings.last(LogKind::Console, 9, |_| true).0;
        assert!(
            !all[0].text.contains("dozjg") && all[0].text.starts_with("log: token "),
            "{all:?}"
        );

        let much = heard(LogKind::Network, (0..MOST + 7).map(|it| it.to_string()));
        assert_eq!((much.lines.len(), much.lost), (MOST, 7));
    }
}
