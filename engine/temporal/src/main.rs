//! `commis-worker`: all of `commis`, with object stores; and the machines that take tasks from Temporal.
//!
//! `worker` is one such machine, `submit` hands a manifest to them; everything else is `commis` itself, which this program ends as.

mod hosts;
mod store;
mod submit;
mod worker;

use std::process::ExitCode;

use commis::{Code, Error, Global};

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
    Submit(submit::Args),
}

fn main() -> ExitCode {
    let ours = std::env::args_os().any(|it| it == "worker" || it == "submit");
    if !ours {
        return commis::main_with(Some(store::open));
    }
    let Cli { global, command } = clap::Parser::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(it) => it,
        Err(err) => return told(&Error::new(Code::Internal, "cannot start").source(err)),
    };
    let end = runtime.block_on(async {
        match command {
            Command::Worker(args) => worker::run(args, &global).await,
            Command::Submit(args) => submit::run(args, &global).await,
        }
    });
    end.map_or_else(|err| told(&err), ExitCode::from)
}

/// As `commis` tells errors.
fn told(err: &Error) -> ExitCode {
    eprintln!("error: {err} [{}]", err.code());
    if let Some(hint) = err.hint_text() {
        eprintln!("  hint: {hint}");
    }
    ExitCode::from(err.code().class().exit_code())
}

/// A failure of the engine, which may pass.
fn engine(what: &str, err: impl std::fmt::Display) -> Error {
    Error::new(Code::ConnectFailed, format!("{what}: {err}"))
        .hint("TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or a profile in temporal.toml, say where Temporal is")
}
