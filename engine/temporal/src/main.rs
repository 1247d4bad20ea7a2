//! `commis-worker`: all of `commis`, with object stores, Temporal as an engine of `learn-batch`; and `worker`, a machine that takes
//! tasks from it.

mod heart;
mod hosts;
mod metrics;
mod remote;
mod store;
mod worker;

use std::process::ExitCode;

use commis_base::error::{Code, Error};
use commis_cli::{Extensions, Global};

/// Learn on many machines
#[derive(clap::Parser)]
#[command(name = "commis-worker", version)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Worker(worker::Args),
}

fn main() -> ExitCode {
    // In that place alone: a recipe may have the name.
    if std::env::args_os().nth(1).is_none_or(|it| it != "worker") {
        return commis_cli::main_with(Extensions {
            stores: Some(store::open),
            engines: Some(remote::open),
        });
    }
    let Cli { global, command: Command::Worker(args) } = clap::Parser::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(it) => it,
        Err(err) => {
            return commis_cli::report_error(
                &Error::new(Code::Internal, "cannot start").source(err),
            );
        }
    };
    let end = runtime.block_on(worker::run(args, &global));
    end.map_or_else(|err| commis_cli::report_error(&err), ExitCode::from)
}

/// A failure of the engine, which may pass.
fn engine(what: &str, err: impl std::fmt::Display) -> Error {
    Error::new(Code::ConnectFailed, format!("{what}: {err}"))
        .hint("TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or a profile in temporal.toml, say where Temporal is")
}
