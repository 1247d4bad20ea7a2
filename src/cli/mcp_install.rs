//! `commis mcp install` and `uninstall`: commis among the servers that an MCP client starts.
//!
//! What is written is the path of this program and its arguments: no token, which the server reads itself, and nothing of the
//! environment. Absent on purpose: a copy of the file, which an atomic write does not need, and asking the client's own command
//! to do it, which would be another program for each of them.

mod clients;
mod edit;
mod json;
mod toml;

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use serde_json::json;

use self::{
    clients::{CLIENTS, Client, Format},
    edit::{Change, EditOutcome, Entry},
};
use super::{Global, context, table, token};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, ForeignFile},
    settings::UserFolders,
};
use commis_serve::mcp::ToolSelection;

/// Bytes of a client's file.
const MAX_FILE: u64 = 4 << 20;

/// How often a file is looked at again that its client wrote meanwhile.
const ATTEMPTS: usize = 5;

const BOM: &str = "\u{feff}";

#[derive(Subcommand)]
pub enum Command {
    /// Add commis to the settings of a client; the rest of them stays unchanged
    ///
    /// With --json: {success, client, scope, file, name, result, written, entry, kept, changes}; with --list a list of {client, title, scope,
    /// file, entered}.
    ///
    /// Examples:
    ///   commis mcp install --list
    ///   commis mcp install --client claude-code --print
    ///   commis mcp install --client vscode --scope project
    #[command(verbatim_doc_comment)]
    Install(InstallArgs),
    /// Remove commis from the settings of a client
    ///
    /// With --json: as `mcp install`.
    ///
    /// Example: commis mcp uninstall --client claude-code
    Uninstall(UninstallArgs),
}

#[derive(clap::Args)]
pub struct InstallArgs {
    /// Which client
    #[arg(long, value_name = "CLIENT", required_unless_present = "list", value_parser = ids())]
    client: Option<String>,
    #[command(flatten)]
    at: EntryArgs,
    /// Tools to offer, handed on to the server: core, all or browse, and of recipes top:N, tag:CATEGORY or recipes, with commas
    #[arg(long, value_name = "WHICH")]
    tools: Option<String>,
    /// Serve the client with the token in this file, of `commis token create --out`; the client's settings hold its path alone
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// List the clients, their files, and which of them have commis
    #[arg(long, conflicts_with = "client")]
    list: bool,
}

#[derive(clap::Args)]
pub struct UninstallArgs {
    /// Which client
    #[arg(long, value_name = "CLIENT", value_parser = ids())]
    client: String,
    #[command(flatten)]
    at: EntryArgs,
}

/// Which entry of which file.
#[derive(clap::Args)]
struct EntryArgs {
    /// Your own settings, or those of the project in this folder
    #[arg(long, value_enum, default_value_t)]
    scope: Scope,
    /// Name of the entry
    #[arg(long, default_value = "commis")]
    name: String,
    /// Only show the new entry and its file
    #[arg(long)]
    print: bool,
    /// Replace an entry of that name that starts another program
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Scope {
    #[default]
    User,
    Project,
}

impl Scope {
    fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

fn ids() -> clap::builder::PossibleValuesParser {
    CLIENTS.iter().map(|it| it.id).collect::<Vec<_>>().into()
}

impl Command {
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Install(it) => it.at.json,
            Self::Uninstall(it) => it.at.json,
        }
    }
}

pub fn run(command: Command, global: &Global) -> Result<u8> {
    match command {
        Command::Install(it) => {
            let entry = entry(&it, global)?;
            let Some(client) = it.client.as_deref().map(find_client).transpose()? else {
                list(&it.at, &entry);
                return Ok(0);
            };
            let force = it.at.force;
            change(&it.at, client, &entry, |text, entry| put(text, client, entry, force))
        }
        Command::Uninstall(it) => {
            let entry = Entry {
                name: checked(&it.at.name)?,
                typed: false,
                command: this_program()?,
                args: Vec::new(),
            };
            let client = find_client(&it.client)?;
            change(&it.at, client, &entry, |text, entry| take(text, client, entry, it.at.force))
        }
    }
}

fn find_client(id: &str) -> Result<&'static Client> {
    let found = CLIENTS.iter().find(|it| it.id == id);
    found.ok_or_else(|| Error::new(Code::Usage, format!("commis does not know the client `{id}`")))
}

fn put(text: &str, client: &Client, entry: &Entry, force: bool) -> Result<Change> {
    let entry = Entry { typed: client.typed, ..entry.clone() };
    match client.format {
        Format::Json => json::put(text, client.key, &entry, force),
        Format::Toml => toml::put(text, client.key, &entry, force),
    }
}

fn take(text: &str, client: &Client, entry: &Entry, force: bool) -> Result<Change> {
    let (name, command) = (&entry.name, &entry.command);
    match client.format {
        Format::Json => json::take(text, client.key, name, command, force),
        Format::Toml => toml::take(text, client.key, name, command, force),
    }
}

/// What is entered. Fails with `USAGE`.
fn entry(args: &InstallArgs, global: &Global) -> Result<Entry> {
    let mut out = vec!["mcp".to_owned()];
    if let Some(tools) = &args.tools {
        if let Some(unknown) =
            tools.split(',').find(|it| it.contains(' ') || ToolSelection::parse(it).is_err())
        {
            let message = format!("--tools knows no `{}`", context::clean(unknown));
            return Err(Error::new(Code::Usage, message).hint(
                "use core, all, browse, top:N, tag:CATEGORY, recipes or none, separated by commas",
            ));
        }
        out.extend(["--tools".to_owned(), tools.clone()]);
    }
    if let Some(path) = &args.token_file {
        token::read_token(path)?;
        let path = std::path::absolute(path).map_err(|err| {
            Error::new(Code::Usage, "the absolute path of --token-file cannot be found").source(err)
        })?;
        out.extend(["--token-file".to_owned(), text_of_path(&path)?]);
    }
    match &global.home {
        Some(home) => {
            let home = std::path::absolute(home).map_err(|err| {
                Error::new(Code::Usage, "the absolute path of --home cannot be found")
                    .hint("give --home as an absolute path")
                    .source(err)
            })?;
            out.extend(["--home".to_owned(), text_of_path(&home)?]);
        }
        None if UserFolders::from_variable("COMMIS_HOME").is_some() && !args.list => {
            context::say("COMMIS_HOME is set here and not handed on; --home DIR would be");
        }
        None => {}
    }
    let name = checked(&args.at.name)?;
    Ok(Entry { name, typed: false, command: this_program()?, args: out })
}

/// A name that every client takes. Fails with `USAGE`.
fn checked(name: &str) -> Result<String> {
    let known = |it: u8| it.is_ascii_alphanumeric() || b"_-".contains(&it);
    if name.is_empty() || name.len() > 64 || !name.bytes().all(known) {
        return Err(Error::new(Code::Usage, "a name has letters, digits, _ and -, 64 at most")
            .hint("such as --name commis"));
    }
    Ok(name.to_owned())
}

/// Where this program is.
fn this_program() -> Result<String> {
    let path = commis_client::programs::command().map_err(|err| {
        Error::new(Code::ArtifactIo, "the path of this program is unknown")
            .hint("run it by its path")
            .source(err)
    })?;
    // Linux says of a file that was replaced since that it is deleted.
    if !path.is_file() {
        let message = format!("{} is gone since this program was started", path.display());
        return Err(Error::new(Code::ArtifactIo, message).hint("run this again"));
    }
    text_of_path(&path)
}

fn text_of_path(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::new(
            Code::Usage,
            format!("{} is not UTF-8, so a settings file cannot name it", path.display()),
        )
        .hint("give a path in UTF-8")
    })
}

/// The file, and the folder that it has to be in.
fn file_of(client: &Client, scope: Scope) -> Result<(PathBuf, Option<PathBuf>)> {
    match scope {
        Scope::User => Ok((client.user_file()?, None)),
        Scope::Project => {
            let here = std::env::current_dir().map_err(|err| {
                Error::new(Code::ArtifactIo, "the current folder cannot be found")
                    .hint("go to the project's folder")
                    .source(err)
            })?;
            let file = client.project_file(&here).ok_or_else(|| {
                let message = format!("{} has no settings for a project", client.title);
                Error::new(Code::Usage, message).hint("leave --scope out")
            })?;
            Ok((file, Some(here)))
        }
    }
}

/// A byte order mark, if there is one, and the text. Fails with `SETTINGS_INVALID` where it is no text.
fn text_of(file: &ForeignFile) -> Result<(&'static str, String)> {
    let bytes = file.bytes.clone().unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|_| {
        Error::new(Code::SettingsInvalid, "the file is not UTF-8")
            .hint("nothing was changed; save the file as UTF-8 text")
    })?;
    Ok(match text.strip_prefix(BOM) {
        Some(rest) => (BOM, rest.to_owned()),
        None => ("", text),
    })
}

/// The error with the file's name before it.
fn in_file(path: &Path, err: &Error) -> Error {
    Error::new(err.code(), format!("{}: {err}", path.display()))
        .hint(err.hint_text().unwrap_or("nothing was changed"))
}

fn change(
    at: &EntryArgs,
    client: &Client,
    entry: &Entry,
    edit: impl Fn(&str, &Entry) -> Result<Change>,
) -> Result<u8> {
    let (path, within) = file_of(client, at.scope)?;
    for _ in 0..ATTEMPTS {
        let file = files::read_foreign(&path, MAX_FILE, within.as_deref())?;
        let read = text_of(&file).and_then(|(mark, text)| Ok((mark, edit(&text, entry)?, text)));
        let (mark, mut change, before) = read.map_err(|err| in_file(&path, &err))?;
        let nothing = matches!(change.done, EditOutcome::Unchanged | EditOutcome::Absent);
        if nothing || at.print {
            print_change(at, client, &file, entry, &change, false);
            return Ok(0);
        }
        // What nobody else wrote into goes whole, unless a link leads to it.
        let gone = change.empty && before.ends_with('\n') && !file.linked;
        if file.bytes.is_none() {
            change.text.push('\n');
        }
        let bytes = format!("{mark}{}", change.text);
        if file.replace((!gone).then_some(bytes.as_bytes()))? {
            print_change(at, client, &file, entry, &change, true);
            return Ok(0);
        }
    }
    let message = format!("{} changes faster than it can be written", path.display());
    Err(Error::new(Code::ArtifactIo, message).hint(format!("close {} first", client.title)))
}

fn print_change(
    at: &EntryArgs,
    client: &Client,
    file: &ForeignFile,
    entry: &Entry,
    change: &Change,
    written: bool,
) {
    let shown = file.real.display().to_string();
    if at.json {
        let removes = matches!(change.done, EditOutcome::Removed | EditOutcome::Absent);
        let what = json!({ "command": entry.command, "args": entry.args });
        return context::out(&json!({
            "success": true,
            "client": client.id,
            "scope": at.scope.as_str(),
            "file": shown,
            "name": entry.name,
            "result": change.done.as_str(),
            "written": written,
            "entry": if removes { serde_json::Value::Null } else { what },
            "kept": change.kept,
            "changes": change.pieces,
        }));
    }
    let name = &entry.name;
    let sentence = match (change.done, written) {
        (EditOutcome::Unchanged, _) => format!("{name} is in {shown} already; nothing was changed"),
        (EditOutcome::Absent, _) => format!("{name} is not in {shown}; nothing was changed"),
        (EditOutcome::Added, true) => format!("added {name} to {shown}"),
        (EditOutcome::Updated, true) => format!("updated {name} in {shown}"),
        (EditOutcome::Removed, true) => format!("removed {name} from {shown}"),
        (_, false) => format!("{shown}, not written:"),
    };
    context::line(&context::clean(&sentence));
    if !change.kept.is_empty() {
        let kept = format!("what else the entry says stays: {}", change.kept.join(", "));
        context::line(&context::clean(&kept));
    }
    if written && !client.then.is_empty() {
        context::line(client.then);
    }
    if !written {
        for it in &change.pieces {
            context::line(&format!("@ line {}", it.line));
            for (sign, text) in [('-', &it.removed), ('+', &it.added)] {
                for line in text.lines() {
                    context::line(&context::clean(&format!("{sign} {line}")));
                }
            }
        }
    }
}

/// Every client's files, and whether commis is in them.
fn list(at: &EntryArgs, entry: &Entry) {
    let mut rows = Vec::new();
    for client in CLIENTS {
        for scope in [Scope::User, Scope::Project] {
            let Ok((path, within)) = file_of(client, scope) else { continue };
            let state = files::read_foreign(&path, MAX_FILE, within.as_deref())
                .and_then(|file| text_of(&file).map(|it| it.1))
                .and_then(|text| put(&text, client, entry, false));
            let state = match state {
                Ok(it) if it.done == EditOutcome::Added => "no",
                Ok(it) if it.done == EditOutcome::Unchanged => "yes",
                Ok(_) => "with other arguments",
                Err(err) if err.code() == Code::Usage => "something else of that name",
                Err(_) => "cannot be read",
            };
            rows.push((client, scope, path, state));
        }
    }
    if at.json {
        let rows = rows.iter().map(|(client, scope, path, state)| {
            json!({
                "client": client.id,
                "title": client.title,
                "scope": scope.as_str(),
                "file": path.display().to_string(),
                "entered": state,
            })
        });
        return context::out(&rows.collect::<Vec<_>>());
    }
    let mut table = table::ruled(["client", "", "scope", "file", "entered"]);
    for (client, scope, path, state) in rows {
        let path = context::clean(&path.display().to_string());
        table.add_row([client.id, client.title, scope.as_str(), &path, state]);
    }
    context::line(&table.to_string());
}
