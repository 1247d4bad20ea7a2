//! The command line: one file per command, and the only place that wires real effects together.

mod approve;
mod artifacts;
mod batch_progress;
mod bench;
mod bench_daemon;
mod browse;
mod candidates;
mod check;
mod check_progress;
mod check_remote;
mod check_row;
mod checker;
mod completions;
mod context;
mod corpus_record;
mod create_from_candidate;
mod daemon;
mod dashboard;
mod debug;
mod delete;
mod do_task;
mod doctor;
mod dry_run;
mod eval;
mod explain;
mod export;
mod follow_task;
mod fork;
mod front;
mod get;
mod har;
mod heal;
mod help;
mod import;
mod junit;
mod learn;
mod learn_args;
mod learn_batch;
mod learn_manual;
mod learn_result;
mod learn_wait;
mod list;
mod logs;
mod man;
mod map;
mod map_inputs;
mod mcp;
mod mcp_install;
mod names;
mod output_format;
#[cfg(test)]
mod outputs;
mod progress;
mod redact;
#[cfg(test)]
mod reference;
mod remote;
mod research;
mod run;
mod run_file;
mod runs;
mod runs_compare;
mod runs_watch;
mod schema;
mod serve;
mod session;
mod session_doctor;
mod session_login;
mod session_template;
mod settings;
mod stage;
mod steps;
mod stores;
mod table;
mod testbed_model;
mod testbed_serve;
mod token;
mod tour;
mod trust;
mod try_steps;
mod validate;
mod vault;
mod vault_import;
mod verify;
mod watch;
mod worker;
mod worker_units;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tokio::signal::unix::SignalKind;

use commis_base::error::{Error, Result};
use commis_client::output;

pub use context::say;
pub use front::main as front_main;
pub use stores::{EngineOpener, Extensions, StoreOpener};
pub use worker::{TaskWorker, WorkerArgs};

/// Learn a web task from one watched browser session; serve it without a browser.
#[derive(Parser)]
#[command(name = "commis", version, propagate_version = true, max_term_width = 100)]
struct Cli<T: Subcommand = Command> {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: T,
}

/// Flags that every command takes.
#[derive(Clone, clap::Args)]
pub struct Global {
    /// Keep everything (settings, recipes, artifacts) under this folder [env: COMMIS_HOME]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Pin a host under .test to a loopback address; the port stands in for 80 and 443. Repeatable; `*.test=…` pins all
    #[arg(long, global = true, hide = true, value_name = "NAME=IP:PORT")]
    test_host: Vec<String>,
    /// Trust this CA (PEM) for pinned .test hosts, and for no other host
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    test_ca: Option<PathBuf>,
    /// Start the built-in test web in this process and pin every .test host to it
    #[arg(long, global = true, hide = true, conflicts_with = "test_host")]
    testbed: bool,
    /// Use this DNS server instead of the system's
    #[arg(long, global = true, hide = true, value_name = "IP:PORT")]
    nameserver: Option<std::net::SocketAddr>,
    /// Print events on stderr; twice: every stage of every task. The log has them anyway (`logs` under --home)
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Colours: auto is for a terminal that has them, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    color: Colour,
    /// Stores and engines that the program was built with
    #[arg(skip)]
    built: Extensions,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

impl Colour {
    /// For everything that this process prints from here on.
    fn choose(self) {
        let choice = match self {
            Self::Auto => return,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
        console::set_colors_enabled_stderr(matches!(self, Self::Always));
    }
}

#[derive(Subcommand)]
enum Command {
    Tour(tour::Args),
    /// All that there is to do with recipes: prove, heal, explain, map, batches, …
    #[command(subcommand)]
    Recipe(RecipeCommand),
    /// The local web that demos and tests run against
    #[command(subcommand)]
    Testbed(TestbedCommand),
    /// List, show, check, migrate and remove artifacts of learning
    #[command(subcommand)]
    Artifacts(artifacts::Command),
    /// Learn on more than one machine: stages that share a store
    #[command(subcommand)]
    Stage(stage::Command),
    Serve(serve::Args),
    #[command(subcommand)]
    Daemon(daemon::Command),
    #[command(subcommand)]
    Token(token::Command),
    #[command(subcommand)]
    Watch(watch::Command),
    Dashboard(dashboard::Args),
    #[command(name = "do")]
    Do(do_task::Args),
    Research(research::Args),
    Approve(approve::Args),
    Reject(approve::RejectArgs),
    Browse(browse::Args),
    Session(session::Args),
    Vault(vault::Args),
    #[command(subcommand)]
    Remote(remote::Command),
    Eval(eval::Args),
    Bench(bench::Args),
    Redact(redact::Args),
    Import(import::Args),
    /// Turn HAR files into OpenAPI, or make them safe to share
    #[command(subcommand)]
    Har(har::Command),
    /// Make cases for `eval`
    #[command(subcommand, hide = true)]
    Corpus(CorpusCommand),
    Doctor(doctor::Args),
    /// Show and change settings
    #[command(subcommand)]
    Settings(settings::Command),
    Mcp(mcp::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// The command line: short forms of what is done every day, and all commands.
#[derive(Subcommand)]
enum CommandLine {
    Learn(learn_args::Args),
    Run(run::Args),
    #[command(alias = "ls")]
    List(list::Args),
    Check(check::Args),
    Export(export::Args),
    #[command(flatten)]
    Other(Command),
}

impl From<Cli<CommandLine>> for Cli {
    fn from(Cli { global, command }: Cli<CommandLine>) -> Self {
        let command = match command {
            CommandLine::Learn(it) => Command::Recipe(RecipeCommand::Learn(it)),
            CommandLine::Run(it) => Command::Recipe(RecipeCommand::Run(it)),
            CommandLine::List(it) => Command::Recipe(RecipeCommand::List(it)),
            CommandLine::Check(it) => Command::Recipe(RecipeCommand::Check(it)),
            CommandLine::Export(it) => Command::Recipe(RecipeCommand::Export(it)),
            CommandLine::Other(it) => it,
        };
        Self { global, command }
    }
}

#[derive(Subcommand)]
enum RecipeCommand {
    Learn(learn_args::Args),
    LearnBatch(learn_batch::Args),
    Try(try_steps::Args),
    Steps(steps::Args),
    CreateFromCandidate(create_from_candidate::Args),
    Run(run::Args),
    Map(map::Args),
    List(list::Args),
    Get(get::Args),
    Delete(delete::Args),
    Fork(fork::Args),
    Export(export::Args),
    Explain(explain::Args),
    Validate(validate::Args),
    DryRun(dry_run::Args),
    Verify(verify::Args),
    Trust(trust::Args),
    Check(check::Args),
    Heal(heal::Args),
    Debug(debug::Args),
    Schema(schema::Args),
}

#[derive(Subcommand)]
enum CorpusCommand {
    Record(corpus_record::Args),
}

#[derive(Subcommand)]
enum TestbedCommand {
    Serve(testbed_serve::Args),
    Model(testbed_model::Args),
}

/// The program's commands with all of their help.
fn command() -> clap::Command {
    help::grouped(
        Cli::<CommandLine>::command().mut_subcommand("browse", browse::with_operation_help),
    )
}

/// What was asked for; says what is wrong with it, and ends the process.
fn parse_args() -> Cli {
    let has = |all: &[&str]| std::env::args_os().any(|it| all.iter().any(|of| it == **of));
    // The table of operations takes its time, and only help shows it.
    let is_help = has(&["-h", "--help", "help"]) || std::env::args_os().len() < 2;
    let known = if is_help { help::shortened(command()) } else { Cli::<CommandLine>::command() };
    let found = known.try_get_matches().unwrap_or_else(|err| help::with_tip(err).exit());
    Cli::<CommandLine>::from_arg_matches(&found).unwrap_or_else(|err| err.exit()).into()
}

/// Runs the command and returns the exit code: 0 done, 1 done and the answer is no, 2 usage, 3 environment, 70 bug, 130
/// interrupted.
pub fn main() -> ExitCode {
    main_with(Extensions::default())
}

/// The same of a program that has further stores and engines.
pub fn main_with(built: Extensions) -> ExitCode {
    prepare_process();
    // A shell asks what may come next; ends the process where it does.
    clap_complete::CompleteEnv::with_factory(command).complete();
    let mut cli = parse_args();
    cli.global.built = built;
    cli.global.color.choose();
    let json = cli.command.wants_json();
    let lines = matches!(
        &cli.command,
        Command::Recipe(RecipeCommand::LearnBatch(_) | RecipeCommand::Map(_))
    );
    print_outcome(start(cli), (json, lines))
}

/// Whatever umask it was started under: files and folders are private from the moment they are made, and usable.
fn prepare_process() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Says what is to be said of the end of a command, and returns its exit code.
fn print_outcome(done: Result<u8>, (json, lines): (bool, bool)) -> ExitCode {
    match done.and_then(|code| context::all_written().map(|()| code)) {
        Ok(code) => {
            tracing::info!(exit = code, "ended");
            ExitCode::from(code)
        }
        Err(err) => {
            tracing::error!(code = %err.code(), message = %err, "failed");
            report(&err, json, lines);
            ExitCode::from(err.code().class().exit_code())
        }
    }
}

impl Command {
    fn wants_json(&self) -> bool {
        match self {
            Self::Recipe(RecipeCommand::Run(it)) => it.json,
            Self::Recipe(RecipeCommand::Map(it)) => it.json,
            Self::Recipe(RecipeCommand::Learn(it)) => it.json,
            Self::Recipe(RecipeCommand::LearnBatch(it)) => it.json,
            Self::Recipe(RecipeCommand::Try(it)) => it.json,
            Self::Recipe(RecipeCommand::Steps(it)) => it.json,
            Self::Recipe(RecipeCommand::CreateFromCandidate(it)) => it.json,
            Self::Recipe(RecipeCommand::List(it)) => it.json,
            Self::Recipe(RecipeCommand::Get(it)) => it.json,
            Self::Recipe(RecipeCommand::Export(it)) => it.json,
            Self::Recipe(RecipeCommand::Explain(it)) => it.json,
            Self::Recipe(RecipeCommand::Validate(it)) => it.json,
            Self::Recipe(RecipeCommand::DryRun(it)) => it.json,
            Self::Recipe(RecipeCommand::Verify(it)) => it.json,
            Self::Recipe(RecipeCommand::Check(it)) => it.json,
            Self::Recipe(RecipeCommand::Heal(it)) => it.json,
            Self::Recipe(RecipeCommand::Debug(it)) => it.json,
            Self::Doctor(it) => it.json,
            Self::Daemon(it) => it.wants_json(),
            Self::Token(it) => it.wants_json(),
            Self::Watch(it) => it.wants_json(),
            Self::Dashboard(it) => it.json,
            Self::Do(it) => it.wants_json(),
            Self::Research(it) => it.json,
            Self::Approve(it) => it.json,
            Self::Reject(it) => it.json,
            Self::Browse(it) => it.json,
            Self::Session(it) => it.json,
            Self::Vault(it) => it.json,
            Self::Eval(it) => it.json,
            Self::Import(it) => it.json,
            Self::Bench(it) => it.json,
            Self::Settings(it) => it.wants_json(),
            Self::Artifacts(it) => it.wants_json(),
            Self::Stage(it) => it.wants_json(),
            Self::Mcp(it) => it.wants_json(),
            // Its stdout may be the HAR.
            Self::Redact(it) => it.json && it.to_file(),
            Self::Har(it) => it.wants_json(),
            Self::Tour(_)
            | Self::Recipe(_)
            | Self::Testbed(_)
            | Self::Serve(_)
            | Self::Remote(_)
            | Self::Corpus(_)
            | Self::Completions(_)
            | Self::Man(_) => false,
        }
    }
}

/// What threads get at the end to put down what they have in hand.
const PUTS_DOWN: Duration = Duration::from_millis(500);

fn start(cli: Cli) -> Result<u8> {
    let workers = match &cli.command {
        // A run is one request: starting threads would cost more than it takes.
        Command::Recipe(RecipeCommand::Run(_)) if !cli.global.testbed => None,
        Command::Browse(_) => None,
        _ => Some(2),
    };
    block_on(workers, || async {
        begin_log(&cli);
        let global = &cli.global;
        Box::pin(perform(cli.command, global)).await
    })
}

/// Does work on so many threads, or on this one.
fn block_on<F: Future<Output = Result<u8>>>(
    workers: Option<usize>,
    work: impl FnOnce() -> F,
) -> Result<u8> {
    let runtime = match workers {
        None => tokio::runtime::Builder::new_current_thread().enable_all().build(),
        Some(n) => {
            tokio::runtime::Builder::new_multi_thread().worker_threads(n).enable_all().build()
        }
    };
    let runtime = runtime.map_err(|err| {
        Error::new(commis_base::error::Code::Internal, "cannot start the runtime").source(err)
    })?;
    let done = runtime.block_on(async {
        // A file that grows beyond `ulimit -f` is an error with a code, not the end. The handler stays when this is dropped; a
        // kernel without the signal has nothing to handle.
        let too_large = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        drop(tokio::signal::unix::signal(too_large));
        work().await
    });
    // What is written is; what computes on is not waited for.
    runtime.shutdown_timeout(PUTS_DOWN);
    done
}

/// Does what a command line says; the tour does several.
async fn perform(command: Command, global: &Global) -> Result<u8> {
    match command {
        Command::Tour(args) => tour::run(args, global).await,
        Command::Recipe(RecipeCommand::Learn(args)) => learn::run(args, global).await,
        Command::Recipe(RecipeCommand::LearnBatch(args)) => learn_batch::run(args, global).await,
        Command::Recipe(RecipeCommand::Try(args)) => try_steps::run(args, global).await,
        Command::Recipe(RecipeCommand::Steps(args)) => steps::run(args, global).await,
        Command::Recipe(RecipeCommand::CreateFromCandidate(args)) => {
            create_from_candidate::run(args, global).await
        }
        Command::Recipe(RecipeCommand::Run(args)) => {
            let place = context::open(global).await?;
            Box::pin(run::run(args, &place)).await
        }
        Command::Recipe(RecipeCommand::Map(args)) => map::run(args, global).await,
        Command::Recipe(RecipeCommand::List(args)) => list::run(args, global),
        Command::Recipe(RecipeCommand::Get(args)) => get::run(args, global),
        Command::Recipe(RecipeCommand::Delete(args)) => delete::run(args, global),
        Command::Recipe(RecipeCommand::Fork(args)) => fork::run(args, global),
        Command::Recipe(RecipeCommand::Export(args)) => export::run(args, global),
        Command::Recipe(RecipeCommand::Explain(args)) => explain::run(args, global).await,
        Command::Recipe(RecipeCommand::Validate(args)) => validate::run(args, global).await,
        Command::Recipe(RecipeCommand::DryRun(args)) => dry_run::run(args, global).await,
        Command::Recipe(RecipeCommand::Verify(args)) => verify::run(args, global).await,
        Command::Recipe(RecipeCommand::Trust(args)) => trust::run(args, global),
        Command::Recipe(RecipeCommand::Check(args)) => check::run(args, global).await,
        Command::Recipe(RecipeCommand::Heal(args)) => heal::run(args, global).await,
        Command::Recipe(RecipeCommand::Debug(args)) => debug::run(args, global),
        Command::Recipe(RecipeCommand::Schema(args)) => Ok(schema::run(&args)),
        Command::Testbed(TestbedCommand::Serve(args)) => testbed_serve::run(args).await,
        Command::Testbed(TestbedCommand::Model(args)) => testbed_model::run(args).await,
        Command::Corpus(CorpusCommand::Record(args)) => corpus_record::run(args, global).await,
        Command::Eval(args) => eval::run(&args, global).await,
        Command::Bench(args) => bench::run(&args).await,
        Command::Redact(args) => redact::run(args, global).await,
        Command::Import(args) => import::run(args, global).await,
        Command::Har(command) => har::run(command, global).await,
        Command::Serve(args) => serve::run(args, global).await,
        Command::Daemon(command) => daemon::run(command, global).await,
        Command::Token(command) => token::run(command, global).await,
        Command::Watch(command) => watch::run(command, global).await,
        Command::Remote(command) => remote::run(command, global).await,
        Command::Do(args) => do_task::run(args, global).await,
        Command::Research(args) => research::run(args, global).await,
        Command::Approve(args) => approve::run(args, global).await,
        Command::Reject(args) => approve::reject(args, global).await,
        Command::Browse(args) => browse::run(args, global).await,
        Command::Session(args) => session::run(args, global).await,
        Command::Vault(args) => vault::run(args, global).await,
        Command::Dashboard(args) => dashboard::run(args, global).await,
        Command::Doctor(args) => doctor::run(args, global).await,
        Command::Stage(command) => stage::run(command, global).await,
        Command::Artifacts(command) => artifacts::run(command, global),
        Command::Settings(command) => settings::run(command, global),
        Command::Mcp(args) => mcp::run(args, global).await,
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

fn begin_log(cli: &Cli) {
    // One request each, that print what there is to say of it, and what the daemon does it logs.
    let is_brief =
        matches!(&cli.command, Command::Recipe(RecipeCommand::Run(_)) | Command::Browse(_));
    if !is_brief || cli.global.verbose > 0 {
        let home = context::home(&cli.global).ok();
        logs::start(home.as_ref().filter(|_| !is_brief), cli.global.verbose);
    }
    tracing::info!(command = %std::env::args().skip(1).take(2).collect::<Vec<_>>().join(" "), "begun");
}

/// Redacted, without control characters but line breaks.
fn printable(text: &str) -> String {
    commis_redact::message(text)
        .chars()
        .filter(|it| *it == '\n' || !context::is_unsafe_char(*it))
        .collect()
}

/// Prints an error as every command does, on stderr. Returns the exit code of its class.
pub fn report_error(err: &Error) -> ExitCode {
    report(err, false, false);
    ExitCode::from(err.code().class().exit_code())
}

/// Prints an error without what it may quote of strangers.
fn report(err: &Error, json: bool, lines: bool) {
    let message = printable(&err.to_string());
    let hint = err.hint_text().map(printable);
    output::report_error(err, &message, hint.as_deref(), (json, lines));
}
