//! `commis serve`

use std::time::Duration;

use super::{Global, context};
use commis_base::error::{Code, Error, Result};
use commis_serve::{ServeOptions, lifecycle::with_one_arena, serve};

/// Serve agents, scripts and people: MCP, REST, events and the dashboard on one local socket
///
/// One daemon serves one home, on 127.0.0.1 alone. Callers need a token; `commis daemon status` names the file of the root
/// token. It ends with Ctrl-C or SIGTERM, within five seconds. SIGHUP reads the settings again.
#[derive(clap::Args)]
pub struct Args {
    /// Port to listen on (default: serve.port of the settings; 0: any that is free)
    #[arg(long)]
    port: Option<u16>,
    /// As `commis daemon start` runs it: without a terminal, ending when nothing is asked of it for long
    #[arg(long, hide = true)]
    detached: bool,
    /// End after this many seconds without a request (default: never; in the background serve.idle_minutes of the settings)
    #[arg(long, value_name = "SECONDS")]
    idle: Option<u64>,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    with_one_arena();
    if args.detached {
        // A terminal that closes is nothing to it.
        let _ = rustix::process::setsid();
    }
    let place = context::open(global).await?;
    let idle = u64::from(place.settings.serve.idle_minutes) * 60;
    let (again, pinned) = (global.clone(), place.settings.egress.clone());
    let testbed = global.testbed;
    let options = ServeOptions {
        port: args.port.unwrap_or(place.settings.serve.port),
        idle: args
            .idle
            .or(args.detached.then_some(idle))
            .filter(|it| *it > 0)
            .map(Duration::from_secs),
        waits: args.detached,
        reload: Box::new(move || {
            let mut settings = context::read(&again)?.1;
            if testbed {
                settings.egress.test_hosts.clone_from(&pinned.test_hosts);
                settings.egress.test_ca_pem.clone_from(&pinned.test_ca_pem);
            }
            Ok(settings)
        }),
        up: Box::new(|url| context::say(&format!("serving at {url}"))),
    };
    // On the threads of the socket: where this thread took connections, each would wait for two.
    let served = tokio::spawn(serve(place.home.clone(), place.settings.clone(), options));
    let served = served.await.unwrap_or_else(|err| {
        Err(Error::new(Code::Internal, "the daemon ended by itself").source(err))
    });
    served.map_err(|err| {
        if err.code() == Code::DaemonFailed { err } else { Error::or_hint(err, "see the log") }
    })?;
    Ok(0)
}
