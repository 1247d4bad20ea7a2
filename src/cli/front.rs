//! The small program in front of the whole one: what is called many times in a row, and no more.
//!
//! The whole program takes longer to begin than a command of `browse` takes the daemon, because its data is relocated page by page. The
//! linker leaves out of the small one what is not reached from here, so nothing here may reach the daemon or the test web.

use std::{
    ffi::{OsStr, OsString},
    os::unix::process::CommandExt as _,
    path::Path,
    process::ExitCode,
};

use clap::{CommandFactory as _, FromArgMatches as _, Subcommand};

use super::{Cli, Global, browse, context, prepare_process, print_outcome, run};
use commis_base::{error::Result, settings};
use commis_client::{
    browse::{call, print_answer},
    client::Client,
    programs,
    state_file::{StateFile, identify_file},
};

/// What this program understands, in parts: to set up one takes time. The whole program reads everything else, says what is wrong
/// with it, and has the help.
#[derive(Subcommand)]
enum BrowseCommand {
    Browse(browse::Args),
}

#[derive(Subcommand)]
enum RunCommand {
    Run(run::Args),
}

#[derive(Subcommand)]
enum RecipeCommand {
    #[command(subcommand)]
    Recipe(RunCommand),
}

/// Does what the arguments say, here or in the whole program. Returns its exit code.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if args.len() == 2 && (args[1] == "--version" || args[1] == "-V") {
        context::line(concat!("commis ", env!("CARGO_PKG_VERSION")));
        return ExitCode::SUCCESS;
    }
    prepare_process();
    let Some(core) = programs::core() else {
        context::say(
            "error: commis-core is missing: it has to be in the folder of commis, or in ../libexec/commis",
        );
        context::say("  hint: install commis again");
        return ExitCode::from(3);
    };
    match Work::read(&args, &core) {
        Some(it) => it.perform(),
        None => begin(&core, &args),
    }
}

/// Becomes the whole program.
fn begin(core: &Path, args: &[OsString]) -> ExitCode {
    let name = args.first().map_or(OsStr::new("commis"), |it| it);
    #[expect(clippy::disallowed_methods, reason = "the program begins its other half")]
    let err = std::process::Command::new(core).arg0(name).args(args.iter().skip(1)).exec();
    context::say(&format!("error: {} cannot be started: {err}", core.display()));
    ExitCode::from(3)
}

enum Work {
    Run(run::Args, Global),
    Operation(PageOperation),
}

/// One operation of a running daemon.
struct PageOperation {
    daemon: StateFile,
    context: String,
    name: &'static str,
    args: serde_json::Value,
    json: bool,
}

impl Work {
    /// `None` where the whole program is needed.
    fn read(args: &[OsString], core: &Path) -> Option<Self> {
        let has = |what: &str| args.iter().any(|it| it == what);
        // A shell that completes a line has the whole program do it.
        if settings::has_variable("COMPLETE") {
            return None;
        }
        if has("browse")
            && let Some((BrowseCommand::Browse(it), global)) = parse(args)
        {
            return PageOperation::read(it, &global, core).map(Self::Operation);
        }
        if !has("run") {
            return None;
        }
        let (RunCommand::Run(it), global) = if has("recipe") {
            let (RecipeCommand::Recipe(it), global) = parse(args)?;
            (it, global)
        } else {
            parse(args)?
        };
        Some(Self::Run(it, global))
    }

    fn perform(self) -> ExitCode {
        let json = match &self {
            Self::Run(it, _) => it.json,
            Self::Operation(it) => it.json,
        };
        let done = super::block_on(None, || async {
            match self {
                Self::Run(args, global) => {
                    let place = context::open_without_testbed(&global)?;
                    Box::pin(run::run(args, &place)).await
                }
                Self::Operation(it) => it.perform().await,
            }
        });
        print_outcome(done, (json, false))
    }
}

/// `None` for what this program does not understand. The log and the test web are not in it.
fn parse<T: Subcommand>(args: &[OsString]) -> Option<(T, Global)> {
    // Flags of all commands are copied into each; most people give them before it.
    let known = Cli::<T>::command().mut_args(|it| it.global(false));
    let found = known.try_get_matches_from(args).ok()?;
    let Cli { global, command } = Cli::<T>::from_arg_matches(&found).ok()?;
    if global.verbose > 0 || global.testbed {
        return None;
    }
    global.color.choose();
    Some((command, global))
}

impl PageOperation {
    /// `None` where there is more to do than to ask a daemon of this installation that runs.
    fn read(it: browse::Args, global: &Global, core: &Path) -> Option<Self> {
        let browse::Args { context, login: None, json, command } = it else { return None };
        let (name, args) = command.into_operation().ok()?;
        let daemon = StateFile::find(&context::home(global).ok()?).ok()??;
        // One of another program is replaced, or warned of.
        let is_ours = daemon.binary.is_some() && daemon.binary == identify_file(core);
        is_ours.then_some(Self { daemon, context, name, args, json })
    }

    async fn perform(self) -> Result<u8> {
        let client = Client::new(&self.daemon).telling(context::say);
        let data = call(&client, &self.context, self.name, self.args).await?;
        Ok(print_answer(self.name, &data, self.json))
    }
}
