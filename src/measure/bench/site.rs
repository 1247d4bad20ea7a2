//! The test web in a process of its own, so that the CPU clock of this one counts the client alone.

use std::{net::SocketAddr, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use commis_base::error::{Code, Error, Result};

const START: Duration = Duration::from_secs(30);

/// A running `commis testbed serve`; it ends when this is dropped, and when this process ends in whatever way.
pub struct Site {
    pub addr: SocketAddr,
    /// Whom its https is signed by.
    pub ca_pem: String,
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
            .args(["testbed", "serve", "--port", "0", "--until-eof", "--ca", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|err| failed("it does not start").source(err))?;
        let out = child.stdout.take().ok_or_else(|| failed("no output"))?;
        let mut out = BufReader::new(out).lines();
        let mut lines = Vec::new();
        let all = async {
            while let Some(line) = out.next_line().await? {
                let last = line == "-----END CERTIFICATE-----";
                lines.push(line);
                if last {
                    break;
                }
            }
            Ok(())
        };
        tokio::time::timeout(START, all)
            .await
            .map_err(|_| failed("it says nothing"))?
            .map_err(|err: std::io::Error| failed("its output").source(err))?;
        let line = lines.first().map(String::as_str).unwrap_or_default();
        let pem = lines.iter().position(|it| it.starts_with("-----BEGIN")).unwrap_or(lines.len());
        let ca_pem = lines[pem..].join("\n");
        let addr = line.trim().rsplit_once('=').and_then(|(_, addr)| addr.parse().ok());
        Ok(Self { addr: addr.ok_or_else(|| failed("no address"))?, ca_pem, _child: child })
    }
}
