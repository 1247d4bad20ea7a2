//! The end of a daemon, which comes in time whatever its other threads do: a thread of its own hears signals and watches the
//! clock.

use std::{sync::mpsc, time::Duration};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use commis_base::error::{Code, Error, Result};

/// From the order to stop until the process is gone, if it has not ended by itself before: half a second less than is promised.
const LAST: Duration = Duration::from_millis(4500);

/// Hears SIGTERM and Ctrl-C, which cancel `stop`, and SIGHUP, which calls `reload`. When `stop` is cancelled, by whomever, and this is
/// not dropped in time, the process ends.
pub struct ShutdownGuard(CancellationToken);

impl ShutdownGuard {
    /// From here on signals are heard, and kill nobody. Fails with `DAEMON_FAILED`.
    pub fn watched(stop: CancellationToken, reload: impl Fn() + Send + 'static) -> Result<Self> {
        let failed = |why: &str| Error::new(Code::DaemonFailed, why.to_owned());
        let (tell, told) = mpsc::channel();
        let over = CancellationToken::new();
        let until = over.clone();
        let watch = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                let signals = match listen_for_signals() {
                    Ok(it) => it,
                    Err(err) => {
                        let _ = tell.send(Err(err));
                        return;
                    }
                };
                // Nobody waits for it who has gone.
                let _ = tell.send(Ok(()));
                tokio::select! {
                    () = until.cancelled() => {}
                    () = ends(signals, stop, reload) => force_exit(),
                }
            });
        };
        std::thread::Builder::new()
            .name("ending".to_owned())
            .spawn(watch)
            .map_err(|err| failed("no thread to hear signals on").source(err))?;
        match told.recv() {
            Ok(Ok(())) => Ok(Self(over)),
            Ok(Err(err)) => Err(failed("signals cannot be heard").source(err)),
            Err(err) => Err(failed("signals cannot be heard").source(err)),
        }
    }
}

impl Drop for ShutdownGuard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn listen_for_signals() -> std::io::Result<[Signal; 3]> {
    Ok([
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
        signal(SignalKind::hangup())?,
    ])
}

/// Until it should have ended.
async fn ends(
    [mut end, mut interrupt, mut hang_up]: [Signal; 3],
    stop: CancellationToken,
    reload: impl Fn(),
) {
    loop {
        tokio::select! {
            _ = hang_up.recv() => reload(),
            _ = end.recv() => break,
            _ = interrupt.recv() => break,
            () = stop.cancelled() => break,
        }
    }
    stop.cancel();
    tokio::time::sleep(LAST).await;
}

#[expect(clippy::exit, reason = "what computes on cannot be stopped in another way")]
fn force_exit() {
    tracing::warn!("something computes on; the process ends all the same");
    std::process::exit(0);
}
