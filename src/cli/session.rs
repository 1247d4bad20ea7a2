//! `commis session`: what is done on a page that stays, kept and done again.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::Subcommand;
use serde_json::{Value, json};

use super::{
    Global, context, daemon, learn_wait, names, session_doctor, session_login, session_template,
};
use commis_base::{
    error::{Code, Error, Result},
    files,
};
use commis_browser::sessions::{
    Manifest, SessionAction, SessionStore, archive,
    audit::Finding,
    page,
    pictures::{self, Picture},
    traffic,
};

/// Record actions on a page, inspect and replay them
///
/// commis stores each action of `commis browse` between `record` and `end`. `replay` repeats them on the present page. It finds
/// the elements again and stops any action whose request is not the recorded one.
///
/// Example: commis session record search http://shop.test/ && commis browse click 'button "Search"' && commis session end
#[derive(clap::Args)]
pub struct Args {
    /// The page's context
    #[arg(long, default_value = "default", value_name = "NAME", global = true)]
    context: String,
    /// Open the context with a login of the vault: `commis vault ls` lists them
    #[arg(add = names::logins(), long = "as", value_name = "LOGIN", global = true)]
    login: Option<String>,
    /// Print the answer as JSON
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Open a page and record the actions on it
    Record {
        /// Name of the session
        name: String,
        /// The page to open
        url: String,
        /// What it is about
        #[arg(long, default_value = "")]
        task: String,
    },
    Login(session_login::Args),
    /// End the recording
    End,
    /// List sessions, the newest first
    Ls {
        /// Words of its name, task or address; best matches first
        #[arg(long, default_value = "")]
        query: String,
    },
    /// Show the actions of a session
    Show {
        /// The session's id: `commis session ls` has them
        #[arg(add = names::sessions())]
        id: String,
        /// As an HTML page
        #[arg(long)]
        html: bool,
        /// The page after that action, if it led elsewhere or failed
        #[arg(long, value_name = "N", conflicts_with = "html")]
        at: Option<u32>,
        /// The requests, each with its action
        #[arg(long)]
        requests: bool,
    },
    /// Learn a session as a recipe
    Learn {
        /// The session's id: `commis session ls` has them
        #[arg(add = names::sessions())]
        id: String,
        /// What it is about, with {parameter} where values go
        #[arg(long)]
        task: String,
        /// Name of the recipe (default: from the task)
        #[arg(long)]
        name: Option<String>,
        /// A parameter for a typed or chosen value. Repeatable
        #[arg(short, value_name = "NAME=VALUE", value_parser = context::pair)]
        param: Vec<(String, String)>,
        /// Another value, to prove the recipe on. Repeatable
        #[arg(long, value_name = "NAME=VALUE", value_parser = context::pair)]
        second: Vec<(String, String)>,
        /// Use this login of the vault
        #[arg(add = names::logins(), long, value_name = "NAME")]
        login: Option<String>,
        /// The login of another account, which must be refused or get other data
        #[arg(add = names::logins(), long, value_name = "NAME", requires = "login")]
        second_login: Option<String>,
    },
    /// Audit how sites keep logins, from the traffic of a session; exit code 1 if something was found
    Audit {
        /// The session's id: `commis session ls` has them
        #[arg(add = names::sessions())]
        id: String,
    },
    /// Repeat the first actions of a session, and continue recording as a new session
    Fork {
        /// The session's id: `commis session ls` has them
        #[arg(add = names::sessions())]
        id: String,
        /// Name of the new session
        name: String,
        /// Number of actions to repeat
        #[arg(long, value_name = "N")]
        at: u32,
        /// Allow the action of this number to change something. Repeatable
        #[arg(long, value_name = "N")]
        allow: Vec<u32>,
    },
    /// Compare the actions of two sessions; exit code 1 if they differ
    Diff {
        /// The session's id: `commis session ls` has them
        #[arg(add = names::sessions())]
        first: String,
        /// The other session's id
        #[arg(add = names::sessions())]
        second: String,
        /// Compare the pages as well: pixels and elements
        #[arg(long)]
        pictures: bool,
        /// Write pictures of the differing pixels into this folder
        #[arg(long, value_name = "DIR", requires = "pictures")]
        out: Option<PathBuf>,
    },
    /// Export a session to a file to share; asks first for one behind a login
    Export {
        /// The session's id: `commis session ls` has them
        #[arg(add = names::sessions())]
        id: String,
        /// The file to write: NAME.tar.zst
        file: PathBuf,
        /// Export a session behind a login without asking
        #[arg(long)]
        yes: bool,
    },
    /// Import a session that `export` wrote
    Import {
        /// A file that `export` wrote
        file: PathBuf,
    },
    /// Replay a session on the present page
    Replay {
        /// The session's id: `commis session ls` has them
        #[arg(add = names::sessions())]
        id: String,
        /// Another value, by the number of its action. Repeatable
        #[arg(long, value_name = "N=TEXT", value_parser = context::pair)]
        value: Vec<(String, String)>,
        /// Allow the action of this number to change something. Repeatable
        #[arg(long, value_name = "N")]
        allow: Vec<u32>,
        /// Another start page
        #[arg(long)]
        url: Option<String>,
    },
    /// Test the seven contracts of a session on the test web; exit code 1 if one fails
    Doctor,
    /// Templates: choices of a list or record of a page, by name
    #[command(subcommand)]
    Template(session_template::Command),
    /// Remove all of a session but its manifest
    Purge {
        /// The session's id: `commis session ls` has them
        #[arg(add = names::sessions())]
        id: String,
    },
}

/// 1 where a replay did not pass.
pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let Args { context, login, json: as_json, command } = args;
    // Files: as large as they are, and no daemon is asked.
    let all = || context::home(global).map(|it| SessionStore::new(&it.sessions));
    match &command {
        Command::Export { id, file, yes } => {
            may_export(&all()?, id, *yes)?;
            let bytes = all()?.export(id)?;
            write_file(file, &bytes)?;
            let data =
                json!({ "id": id, "file": file.display().to_string(), "bytes": bytes.len() });
            return Ok(told_one(as_json, &data, &format!("{id}: {} bytes", bytes.len())));
        }
        Command::Import { file } => {
            let it = all()?.import(&archive::read_archive_file(file)?)?;
            let told = format!("{}: {} actions", it.id, it.actions);
            let data = serde_json::to_value(&it).unwrap_or_default();
            return Ok(told_one(as_json, &data, &told));
        }
        Command::Doctor => return Box::pin(session_doctor::run(as_json, global)).await,
        Command::Login(args) => return session_login::run(args, &context, as_json, global).await,
        _ => {}
    }
    let (client, _) = daemon::client(global).await?;
    super::vault::mount(&client, login.as_deref(), &context).await?;
    if let Command::Template(command) = command {
        return session_template::run(&client, command, &context, as_json).await;
    }
    let Some((name, body)) = operation(&command, &context) else { return Ok(0) };
    let client = if matches!(name, "replay" | "fork") { client.patient() } else { client };
    let mut answer = client.post(&format!("/api/sessions/{name}"), &body).await?;
    let mut data: Value = answer["data"].take();
    if matches!(command, Command::Learn { .. }) {
        return learn_wait::wait(&client, &data, as_json).await;
    }
    if let Command::Diff { out: Some(folder), .. } = &command {
        for step in data["steps"].as_array_mut().into_iter().flatten() {
            if let Some(it) = step["png_base64"].take().as_str() {
                let name = format!("{:05}.png", step["n"].as_u64().unwrap_or_default());
                files::write_atomic(folder, &name, &pictures::of_base64(it)?)?;
                step["file"] = folder.join(name).display().to_string().into();
            }
        }
    }
    if matches!(command, Command::Show { html: true, .. }) {
        context::line(&as_page(data.take())?);
    } else if as_json {
        context::out(&data);
    } else {
        for it in describe_result(&command, &data) {
            context::line(&context::clean(&it));
        }
    }
    let failed = match command {
        Command::Replay { .. } => data["verdict"] != "pass",
        Command::Diff { .. } => data["same"] != true,
        Command::Audit { .. } => data["findings"].as_array().is_some_and(|it| !it.is_empty()),
        _ => false,
    };
    Ok(u8::from(failed))
}

/// The daemon's operation for a command, with its arguments. `None` for those that are no operation.
fn operation(command: &Command, context: &str) -> Option<(&'static str, Value)> {
    Some(match command {
        Command::Record { name, url, task } => {
            ("record", json!({"context": context, "name": name, "url": url, "task": task}))
        }
        Command::End => ("end", json!({"context": context})),
        Command::Ls { query } => ("list", json!({"query": query})),
        Command::Show { id, at, requests, html } => {
            let mut body = json!({"id": id, "requests": requests | html, "pictures": html});
            if let Some(n) = at {
                body["at"] = (*n).into();
            }
            ("show", body)
        }
        Command::Learn { id, task, name, param, second, login, second_login } => {
            let values = |all: &[(String, String)]| -> BTreeMap<String, String> {
                all.iter().cloned().collect()
            };
            let (params, second) = (values(param), values(second));
            let mut body = json!({"id": id, "task": task, "params": params, "second": second});
            for (key, it) in [("name", name), ("login", login), ("second_login", second_login)] {
                if let Some(it) = it {
                    body[key] = it.as_str().into();
                }
            }
            ("learn", body)
        }
        Command::Fork { id, name, at, allow } => {
            ("fork", json!({"id": id, "name": name, "at": at, "allow": allow, "context": context}))
        }
        Command::Diff { first, second, pictures, out } => (
            "diff",
            json!({"first": first, "second": second, "pictures": pictures, "drawn": out.is_some()}),
        ),
        Command::Replay { id, value, allow, url } => {
            let values: BTreeMap<_, _> = value.iter().cloned().collect();
            let mut body = json!({"id": id, "context": context, "values": values, "allow": allow});
            if let Some(it) = url {
                body["url"] = it.as_str().into();
            }
            ("replay", body)
        }
        Command::Audit { id } => ("audit", json!({"id": id})),
        Command::Purge { id } => ("purge", json!({"id": id})),
        Command::Export { .. }
        | Command::Import { .. }
        | Command::Doctor
        | Command::Login(_)
        | Command::Template(_) => return None,
    })
}

/// Fails with `USAGE` where the session holds what an account saw, and nobody says that it may go.
fn may_export(all: &SessionStore, id: &str, yes: bool) -> Result<()> {
    if yes || !all.load(id)?.0.private {
        return Ok(());
    }
    let what = format!("{id} was recorded behind a login: it holds what the account saw");
    if context::confirmed(&format!("{what}; write it to a file?")) {
        return Ok(());
    }
    Err(Error::new(Code::Usage, what).hint("check its content, then export it with `--yes`"))
}

fn told_one(as_json: bool, data: &Value, told: &str) -> u8 {
    if as_json {
        context::out(data);
    } else {
        context::line(&context::clean(told));
    }
    0
}

fn write_file(file: &Path, bytes: &[u8]) -> Result<()> {
    let name = file.file_name().and_then(|it| it.to_str()).ok_or_else(|| {
        Error::new(Code::ParamInvalid, "give the file's name, such as search.tar.zst")
    })?;
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    files::write_atomic(folder, name, bytes)
}

fn as_page(mut data: Value) -> Result<String> {
    let unread = |err: serde_json::Error| {
        Error::new(Code::DaemonFailed, "the daemon's answer cannot be read").source(err)
    };
    let session: Manifest = serde_json::from_value(data["session"].take()).map_err(unread)?;
    let actions: Vec<SessionAction> =
        serde_json::from_value(data["actions"].take()).map_err(unread)?;
    let list = |it: Value| if it.is_null() { Value::Array(Vec::new()) } else { it };
    let requests: Vec<traffic::RequestRow> =
        serde_json::from_value(list(data["requests"].take())).map_err(unread)?;
    let pictures: Vec<Picture> =
        serde_json::from_value(list(data["pictures"].take())).map_err(unread)?;
    let findings = data["findings"].as_str().unwrap_or_default();
    Ok(page::page(&page::SessionPage {
        manifest: &session,
        lines: &actions,
        findings,
        requests: &requests,
        pictures: &pictures,
    }))
}

fn text(it: &Value) -> String {
    it.as_str().unwrap_or_default().to_owned()
}

fn describe_session(it: &Value) -> String {
    let (id, state) = (text(&it["id"]), text(&it["state"]));
    let (name, task) = (text(&it["name"]), text(&it["task"]));
    format!("{id}  {state}  {} actions  {name}  {task}", it["actions"])
}

fn describe_action(it: &Value) -> String {
    let on = &it["element"];
    let on = if on.is_null() {
        String::new()
    } else {
        format!(" {} \"{}\"", text(&on["role"]), text(&on["name"]))
    };
    let asked: Vec<String> = it["requests"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| format!("{} {}", text(&it["method"]), text(&it["path"])))
        .collect();
    let (command, value) = (text(&it["command"]), text(&it["value"]));
    format!("{} {command}{on} {value} {}", it["n"], asked.join(", ")).trim_end().to_owned()
}

/// What differs between two sessions after one action: pixels, and elements.
fn describe_difference(it: &Value) -> Vec<String> {
    let share = it["pixels_bp"].as_u64().unwrap_or_default();
    let file = it["file"].as_str().map(|it| format!(": {it}")).unwrap_or_default();
    let share = (share > 0).then(|| {
        format!("{}: {}.{:02} % of the pixels differ{file}", it["n"], share / 100, share % 100)
    });
    let sides = |change: &Value| -> Vec<String> {
        let side = |mark: &str, it: &Value| it.as_str().map(|it| format!("  {mark} {it}"));
        [side("-", &change["was"]), side("+", &change["now"])].into_iter().flatten().collect()
    };
    let lines: Vec<String> =
        it["elements"].as_array().into_iter().flatten().flat_map(sides).collect();
    let head = (share.is_none() && !lines.is_empty()).then(|| format!("{}:", it["n"]));
    share.into_iter().chain(head).chain(lines).collect()
}

fn describe_request(it: &Value) -> String {
    let part = |it: &Value| match it {
        Value::Null => "-".to_owned(),
        Value::String(it) => it.clone(),
        it => it.to_string(),
    };
    let all = ["action", "status", "kind", "ms", "method", "url"];
    all.iter().map(|name| part(&it[*name])).collect::<Vec<_>>().join(" ")
}

fn describe_replayed(it: &Value) -> String {
    let why =
        if it["found_by"] == "memory" { "found by memory".to_owned() } else { text(&it["why"]) };
    let (command, outcome) = (text(&it["command"]), text(&it["outcome"]));
    format!("{} {command}: {outcome} {why}", it["n"]).trim_end().to_owned()
}

fn describe_result(command: &Command, data: &Value) -> Vec<String> {
    let all = |name: &str| data[name].as_array().cloned().unwrap_or_default();
    match command {
        Command::Record { .. } | Command::End | Command::Fork { .. } => {
            vec![describe_session(data)]
        }
        Command::Diff { .. } => all("actions")
            .iter()
            .map(|it| {
                let mark = match it["in"].as_str() {
                    Some("first") => "-",
                    Some("second") => "+",
                    _ => " ",
                };
                format!("{mark} {}", text(&it["action"]))
            })
            .chain(all("steps").iter().flat_map(describe_difference))
            .collect(),
        Command::Ls { .. } => all("sessions").iter().map(describe_session).collect(),
        Command::Show { at: Some(n), .. } => match data["snapshot"].as_str() {
            Some(it) => it.lines().map(str::to_owned).collect(),
            None => vec![format!("nothing was kept of what the page showed after action {n}")],
        },
        Command::Show { requests: true, .. } => {
            all("requests").iter().map(describe_request).collect()
        }
        Command::Show { .. } => std::iter::once(describe_session(&data["session"]))
            .chain(all("actions").iter().map(describe_action))
            .chain(all("remembered").iter().map(|it| {
                let known = format!("{} is now {}", it["n"], text(&it["now"]));
                format!("{known}: found by memory, proven {} times", it["proven"])
            }))
            .chain(data["findings"].as_str().into_iter().flat_map(str::lines).map(str::to_owned))
            .collect(),
        Command::Replay { .. } => {
            let lines = all("actions");
            lines.iter().map(describe_replayed).chain([text(&data["verdict"])]).collect()
        }
        Command::Audit { .. } => {
            let finding = |it: &Value| serde_json::from_value::<Finding>(it.clone()).ok();
            all("findings").iter().filter_map(finding).map(|it| it.describe()).collect()
        }
        Command::Purge { .. } => vec!["purged".to_owned()],
        Command::Learn { .. }
        | Command::Export { .. }
        | Command::Import { .. }
        | Command::Doctor
        | Command::Login(_)
        | Command::Template(_) => Vec::new(),
    }
}
