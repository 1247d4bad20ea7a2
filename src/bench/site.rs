//! The test web in a process of its own, so that the CPU clock of this one counts the client alone.

use std::{net::SocketAddr, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::error::{Code, Error, Result};

const START: Duration = Duration::from_secs(30);

/// A running `commis testbed serve`; it ends when this is dropped, and when this process ends in whatever way.
pub struct Site {
    pub addr: SocketAddr,
    _child: Child,
}

impl Site {
    /// Fails with `CONNECT_FAILED`.
    pub async fn start() -> Result<Self> {
        let failed = |why: &str| {
            Error::new(Code::ConnectFailed, format!("cannot start the test web: {why}"))
        };
        let program = std::env::current_exe().map_err(|err| failed("no program").source(err))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "this program itself, to be measured against"
        )]
        let mut child = Command::new(program)
            .args(["testbed", "serve", "--port", "0", "--until-eof"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|err| failed("it does not start").source(err))?;
        let out = child.stdout.take().ok_or_else(|| failed("no output"))?;
        let mut line = String::new();
        let mut out = BufReader::new(out);
        tokio::time::timeout(START, out.read_line(&mut line))
            .await
            .map_err(|_| failed("it says nothing"))?
            .map_err(|err| failed("its output").source(err))?;
        let addr = line.trim().rsplit_once('=').and_then(|(_, addr)| addr.parse().ok());
        Ok(Self { addr: addr.ok_or_else(|| failed("no address"))?, _child: child })
    }
}
