//! The small program: a command that it knows is one request to a running daemon.

use std::{
    ffi::OsString,
    io::Write as _,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use clap::Parser;

use crate::{
    browse::{self, call, print_answer},
    client::Client,
    output, programs,
    state_file::{StateFile, identify_file},
};
use commis_base::{
    error::{Code, Error, Result},
    ids::plain,
    settings::{self, Home},
};

/// What this program understands. The whole one reads everything else, and says what is wrong with it.
#[derive(Parser)]
#[command(disable_help_flag = true, disable_help_subcommand = true)]
struct Cli {
    #[arg(long)]
    home: Option<PathBuf>,
    #[command(subcommand)]
    command: KnownCommand,
}

#[derive(clap::Subcommand)]
enum KnownCommand {
    #[command(disable_help_flag = true, disable_help_subcommand = true)]
    Browse(browse::Args),
}

/// Does what the arguments say, here or in the whole program. Returns its exit code.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if args.len() == 2 && (args[1] == "--version" || args[1] == "-V") {
        output::line(concat!("commis ", env!("CARGO_PKG_VERSION")));
        return ExitCode::SUCCESS;
    }
    let Some(core) = programs::core() else {
        output::say(
            "error: commis-core is missing: it has to be in the folder of commis, or in ../libexec/commis",
        );
        output::say("  hint: install commis again");
        return ExitCode::from(3);
    };
    match Request::read(&args, &core) {
        Some(it) => it.perform(),
        None => begin(&core, &args),
    }
}

/// Becomes the whole program.
fn begin(core: &Path, args: &[OsString]) -> ExitCode {
    let name = args.first().map_or_else(|| OsString::from("commis"), OsString::clone);
    #[expect(clippy::disallowed_methods, reason = "the program begins its other half")]
    let err = Command::new(core).arg0(name).args(args.iter().skip(1)).exec();
    let _ = writeln!(std::io::stderr(), "error: {} cannot be started: {err}", core.display());
    ExitCode::from(3)
}

/// One operation of a running daemon.
struct Request {
    daemon: StateFile,
    context: String,
    operation: &'static str,
    args: serde_json::Value,
    json: bool,
}

impl Request {
    /// `None` where there is more to do than to ask a daemon of this installation that runs.
    fn read(args: &[OsString], core: &Path) -> Option<Self> {
        // Only then is it worth to set up what reads arguments. A shell that completes a line has the whole program do it.
        if !args.iter().any(|it| it == "browse") || settings::has_variable("COMPLETE") {
            return None;
        }
        let Cli { home, command: KnownCommand::Browse(it) } = Cli::try_parse_from(args).ok()?;
        let browse::Args { context, login: None, json, command } = it else { return None };
        let (operation, args) = command.into_operation().ok()?;
        let daemon = StateFile::find(&Home::find(home.as_deref()).ok()?).ok()??;
        // One of another program is replaced, or warned of.
        let is_ours = daemon.binary.is_some() && daemon.binary == identify_file(core);
        is_ours.then_some(Self { daemon, context, operation, args, json })
    }

    fn perform(self) -> ExitCode {
        let json = self.json;
        match self.ask().and_then(|code| output::all_written().map(|()| code)) {
            Ok(code) => ExitCode::from(code),
            Err(err) => {
                // What the daemon says is redacted, and everything else is said here.
                let hint = err.hint_text().map(plain);
                output::report_error(
                    &err,
                    &plain(&err.to_string()),
                    hint.as_deref(),
                    (json, false),
                );
                ExitCode::from(err.code().class().exit_code())
            }
        }
    }

    fn ask(self) -> Result<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime
            .map_err(|err| Error::new(Code::Internal, "cannot start the runtime").source(err))?;
        let client = Client::new(&self.daemon).telling(output::say);
        let data = runtime.block_on(call(&client, &self.context, self.operation, self.args))?;
        Ok(print_answer(self.operation, &data, self.json))
    }
}
