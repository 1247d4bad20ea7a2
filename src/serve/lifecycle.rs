//! Where a home's daemon is: the file that says so, and how a client finds, starts and replaces it.

use std::{
    io::Read as _,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
    processes,
    settings::Home,
};

const FILE: &str = "daemon.json";
const MAX_FILE: usize = 16 * 1024;
/// An answer goes out before the daemon that gave it ends.
pub const BEFORE_THE_END: Duration = Duration::from_millis(50);
/// How long a daemon may take to come up, and to end.
const PATIENCE: Duration = Duration::from_secs(10);

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
            Error::new(Code::DaemonFailed, "the system does not say when this process began")
        })?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { pid, started, port, token, version, binary: binary() })
    }

    /// Fails with `ARTIFACT_IO`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(self)
            .map_err(|err| Error::new(Code::Internal, "write the state as JSON").source(err))?;
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
fn started(pid: u32) -> Option<u64> {
    processes::is_own(pid).then(|| processes::start_time(pid))?
}

/// Which file this process' program is, though another may have its name by now. No digest: it would be taken by each client.
pub fn binary() -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let it = std::fs::metadata(processes::program()?).ok()?;
    Some(format!(
        "{:x}-{:x}-{:x}-{:x}.{:x}",
        it.dev(),
        it.ino(),
        it.size(),
        it.mtime(),
        it.mtime_nsec()
    ))
}

/// glibc: how many arenas memory is taken from.
const ARENAS: (&str, &str) = ("MALLOC_ARENA_MAX", "1");

/// Begins this program again with one arena to take memory from, where nothing was said of that. There would be several for each
/// core, and each keeps what it needed once: a page of many megabytes, read by one thread after the other, would be kept many times.
/// How many there are is decided when a program begins.
pub fn with_one_arena() {
    use std::os::unix::process::CommandExt as _;
    if commis_base::settings::has_variable(ARENAS.0) {
        return;
    }
    let mut args = std::env::args_os();
    if let (Ok(program), Some(name)) = (std::env::current_exe(), args.next()) {
        #[expect(clippy::disallowed_methods, reason = "the program begins itself again")]
        let mut again = Command::new(program);
        // Where that fails it goes on with what it has.
        let _ = again.arg0(name).args(args).env(ARENAS.0, ARENAS.1).exec();
    }
}

/// As many files as the system lets us have open: each connection is one.
pub fn raise_limits() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    let wanted = now.maximum.map_or(4096, |it| it.min(4096));
    if now.current.is_some_and(|it| it < wanted) {
        // With fewer, fewer connections are taken.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..now });
    }
}

/// How to start a daemon for a home.
#[derive(Clone)]
pub struct Starter {
    /// Arguments that say which home, and how it is served.
    pub args: Vec<String>,
    /// Who is told that a daemon which is there does not answer for a while.
    pub tell: fn(&str),
}

impl Starter {
    /// The daemon of that home, started if there is none; `(it, was there)`. One of another program than this is replaced when
    /// nothing is at work in it; what keeps it is returned. Fails with `DAEMON_FAILED`.
    pub async fn ensure(&self, home: &Home) -> Result<(StateFile, Option<String>)> {
        if let Some(it) = StateFile::find(home)? {
            let own = binary();
            if own.is_none() || it.binary == own {
                return Ok((it, None));
            }
            let client = super::client::Client::new(&it).telling(self.tell);
            let stopped = client.post("/api/shutdown", &serde_json::json!({"if_idle": true})).await;
            let running = match stopped {
                Ok(it) if it["data"]["stopping"] == true => None,
                Ok(it) if it["data"]["running"] == 0 => {
                    Some("its remote listener is open".to_owned())
                }
                Ok(it) => Some(format!("{} tasks are at work in it", it["data"]["running"])),
                Err(err) => Some(err.to_string()),
            };
            if let Some(why) = running {
                let version = &it.version;
                return Ok((
                    it.clone(),
                    Some(format!("the daemon is another commis ({version}) and stays: {why}")),
                ));
            }
            gone(&it).await?;
        }
        self.start(home).await.map(|it| (it, None))
    }

    /// Fails with `DAEMON_FAILED`, with what the daemon said last.
    pub async fn start(&self, home: &Home) -> Result<StateFile> {
        let failed = |why: &str| Error::new(Code::DaemonFailed, why.to_owned());
        let program = std::env::current_exe()
            .map_err(|err| failed("this program's own file is not known").source(err))?;
        files::ensure_private_dir(&home.serve)?;
        #[expect(clippy::disallowed_methods, reason = "the program starts itself")]
        let mut child = Command::new(program)
            .args(&self.args)
            .args(["serve", "--detached"])
            .env(ARENAS.0, ARENAS.1)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|err| failed("the daemon cannot be started").source(err))?;
        let begun = Instant::now();
        loop {
            if let Some(it) = StateFile::find(home)?
                && super::client::Client::new(&it).is_up().await
            {
                // It goes on without us; nobody waits for it.
                return Ok(it);
            }
            // One that ends well has seen another serve.
            if let Ok(Some(end)) = child.try_wait()
                && !end.success()
            {
                let mut said = String::new();
                if let Some(it) = child.stderr.take() {
                    let _ = it.take(4096).read_to_string(&mut said);
                }
                let said = said.lines().next().unwrap_or("it says nothing").to_owned();
                return Err(failed(&format!("the daemon did not start: {said}"))
                    .hint("`commis serve` in a terminal says more"));
            }
            if begun.elapsed() > PATIENCE {
                return Err(failed("the daemon did not come up in time")
                    .hint("`commis daemon logs` says what it did"));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Waits until that daemon's process is gone. Fails with `DAEMON_FAILED`.
pub async fn gone(it: &StateFile) -> Result<()> {
    let begun = Instant::now();
    while started(it.pid) == Some(it.started) {
        if begun.elapsed() > PATIENCE {
            return Err(Error::new(Code::DaemonFailed, "the daemon does not end")
                .hint(format!("look at process {}", it.pid)));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}
