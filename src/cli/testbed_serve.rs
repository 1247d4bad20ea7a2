//! `commis testbed serve`

use super::context;
use commis_base::error::{Code, Error, Result};
use commis_testbed::{Dns, HOSTILE_HOSTS, HOSTS, HostileServer, Testbed, authority_pem};

/// Serve the local test web until Ctrl-C
///
/// One port on loopback answers for every host under .test, over http and https. --ca writes the certificate that others need
/// to trust https. With --dns, a small name server gives out forbidden addresses (intranet.example.com, mixed.example.com, …),
/// to test the egress policy. wild.test sends false, slow, endless and redirecting answers; src/testbed/hostile/answers.rs lists
/// its paths.
#[derive(clap::Args)]
pub struct Args {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 8480)]
    port: u16,
    /// Serve DNS on this UDP and TCP port too; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    dns: Option<u16>,
    /// Write the certificate of the https authority there, `-` for stdout; its key ends with this process
    #[arg(long, value_name = "FILE")]
    ca: Option<std::path::PathBuf>,
    /// Add a line of JSON for each request to this file: at_ms, host, method, path, query
    #[arg(long, value_name = "FILE")]
    log: Option<std::path::PathBuf>,
    /// End when standard input closes, so that it does not outlive its parent
    #[arg(long)]
    until_eof: bool,
}

/// Why nothing is served on a port.
pub fn busy(port: u16) -> impl FnOnce(std::io::Error) -> Error {
    move |err| {
        Error::new(Code::ConnectFailed, format!("cannot listen on 127.0.0.1:{port}"))
            .hint("give another --port")
            .source(err)
    }
}

pub async fn run(args: Args) -> Result<u8> {
    let log = match &args.log {
        Some(path) => {
            let opened = std::fs::OpenOptions::new().create(true).append(true).open(path);
            Some(opened.map_err(|err| {
                Error::new(Code::Usage, format!("cannot write {}", path.display())).source(err)
            })?)
        }
        None => None,
    };
    let web = Testbed::start_logged(args.port, log).await.map_err(busy(args.port))?;
    let dns = match args.dns {
        Some(port) => Some(Dns::start(port).await.map_err(busy(port))?),
        None => None,
    };
    let hostile = HostileServer::start(0).await.map_err(busy(0))?;
    context::say(&format!("{} hosts: {}", HOSTS.len(), HOSTS.join(" ")));
    context::line(&format!("--test-host *.test={}", web.addr()));
    if let Some(dns) = &dns {
        context::line(&format!("--nameserver {}", dns.addr()));
    }
    // Exact names win over `*.test`.
    for host in HOSTILE_HOSTS {
        context::line(&format!("--test-host {host}={}", hostile.addr()));
    }
    if args.ca.as_ref().is_some_and(|it| it.as_os_str() == "-") {
        context::line(authority_pem().trim_end());
    } else if let Some(path) = &args.ca {
        super::redact::write(path, authority_pem().as_bytes())?;
        context::line(&format!("--test-ca {}", path.display()));
    }
    wait_for_end(args.until_eof).await;
    Ok(0)
}

/// Until Ctrl-C, or until whoever started it is gone.
pub async fn wait_for_end(until_eof: bool) {
    if until_eof {
        // The runtime would wait for a read of its own until somebody presses a key; this thread dies with the process.
        let (done, ended) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            let _ = done.send(());
        });
        let _ = futures::future::select(ended, Box::pin(tokio::signal::ctrl_c())).await;
    } else {
        // Ctrl-C is how it ends; an error to listen for it ends it too.
        let _ = tokio::signal::ctrl_c().await;
    }
}
