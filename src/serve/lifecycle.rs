//! Where a home's daemon is: the file that says so, and how a client finds, starts and replaces it.

use std::{
    io::Read as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use commis_base::{
    error::{Code, Error, Result},
    files,
    settings::Home,
};
use commis_client::{
    client::Client,
    state_file::{StateFile, binary, started},
};

/// An answer goes out before the daemon that gave it ends.
pub const BEFORE_THE_END: Duration = Duration::from_millis(50);
/// How long a daemon may take to come up, and to end.
const PATIENCE: Duration = Duration::from_secs(10);

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
            let client = Client::new(&it).telling(self.tell);
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
            wait_until_gone(&it).await?;
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
                && Client::new(&it).is_up().await
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
                    .hint("run `commis serve` in a terminal to see why"));
            }
            if begun.elapsed() > PATIENCE {
                return Err(
                    failed("the daemon did not come up in time").hint("see `commis daemon logs`")
                );
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Waits until that daemon's process is gone. Fails with `DAEMON_FAILED`.
pub async fn wait_until_gone(it: &StateFile) -> Result<()> {
    let begun = Instant::now();
    while started(it.pid) == Some(it.started) {
        if begun.elapsed() > PATIENCE {
            return Err(Error::new(Code::DaemonFailed, "the daemon did not end in time")
                .hint(format!("check process {}", it.pid)));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}
