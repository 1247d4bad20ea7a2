//! The file that says where the daemon of a home is, and which process it is.

use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
    processes,
    settings::Home,
};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FILE: &str = "daemon.json";

const MAX_FILE: usize = 16 * 1024;

/// What the file says. It holds the root token, so it is 0600 in a folder that is 0700.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct StateFile {
    pub pid: u32,
    /// Clock ticks from the machine's start to the process', so that another process of that number is told apart.
    pub started: u64,
    pub port: u16,
    pub token: String,
    pub version: String,
    /// Which file the program is.
    pub binary: Option<String>,
}

impl StateFile {
    /// Fails with `DAEMON_FAILED` where the system does not say when this process began.
    pub fn of_this_process(port: u16, token: String) -> Result<Self> {
        let pid = std::process::id();
        let started = started(pid).ok_or_else(|| {
            Error::new(Code::DaemonFailed, "the start time of this process is unknown")
        })?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { pid, started, port, token, version, binary: binary() })
    }

    /// Fails with `ARTIFACT_IO`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(self).map_err(|err| {
            Error::new(Code::Internal, "cannot write the state as JSON").source(err)
        })?;
        files::write_atomic(folder, FILE, &bytes)
    }

    /// Takes the file away, if it is still this daemon's.
    pub fn remove(folder: &Path, own: &Self) {
        if let Ok(Some(dir)) = Dir::open(folder, false)
            && let Ok(Some(bytes)) = dir.read(FILE, MAX_FILE)
            && serde_json::from_slice::<Self>(&bytes).is_ok_and(|it| it == *own)
        {
            // What is left says of a process that is gone, and is seen to.
            let _ = dir.remove(FILE);
        }
    }

    /// The daemon of that home, if it is alive: the process that wrote the file, and of this user. Fails with `ARTIFACT_IO`.
    pub fn find(home: &Home) -> Result<Option<Self>> {
        let Some(dir) = Dir::open(&home.serve, false)? else { return Ok(None) };
        let Some(bytes) = dir.read(FILE, MAX_FILE)? else { return Ok(None) };
        let Ok(it) = serde_json::from_slice::<Self>(&bytes) else { return Ok(None) };
        Ok((started(it.pid) == Some(it.started)).then_some(it))
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The process, told apart from another of its number.
    pub fn process(&self) -> String {
        format_process_key(self.pid, Some(self.started))
    }
}

/// This process as [`StateFile::process`] has it.
pub fn this_process() -> String {
    let pid = std::process::id();
    format_process_key(pid, started(pid))
}

fn format_process_key(pid: u32, started: Option<u64>) -> String {
    format!("{pid}-{}", started.unwrap_or_default())
}

/// When a process of this user began; `None` when there is none, or it has ended and waits to be collected.
pub fn started(pid: u32) -> Option<u64> {
    processes::is_own(pid).then(|| processes::start_time(pid))?
}

/// Which file this process' program is, though another may have its name by now.
pub fn binary() -> Option<String> {
    identify_file(&processes::program()?)
}

/// Tells a program's file from another that has its name. It is not a digest, which each client would have to compute.
pub fn identify_file(program: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let it = std::fs::metadata(program).ok()?;
    Some(format!(
        "{:x}-{:x}-{:x}-{:x}.{:x}",
        it.dev(),
        it.ino(),
        it.size(),
        it.mtime(),
        it.mtime_nsec()
    ))
}
