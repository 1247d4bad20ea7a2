//! `commis session`: what is done on a page that stays, kept and done again.

use std::collections::BTreeMap;

use clap::Subcommand;
use serde_json::{Value, json};

use super::{Global, daemon, wire};
use crate::error::Result;

/// Keep what is done on a page that stays, look at it, do it again
///
/// What is done with `commis browse` between `record` and `end` is kept, action by action. `replay` does it again on the page as
/// it is now: elements are found anew, and an act whose request is not the recorded one is stopped before it leaves.
///
/// Example: commis session record search http://shop.test/ && commis browse click 'button "Search"' && commis session end
#[derive(clap::Args)]
pub struct Args {
    /// The page's context
    #[arg(long, default_value = "default", value_name = "NAME", global = true)]
    context: String,
    /// Print the answer as JSON
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Open a page and keep what is done there
    Record {
        name: String,
        url: String,
        /// What it is about
        #[arg(long, default_value = "")]
        task: String,
    },
    /// End it
    End,
    /// List sessions, the newest first
    Ls {
        /// Words of its name, task or address
        #[arg(long, default_value = "")]
        query: String,
    },
    /// Show what was done
    Show { id: String },
    /// Do it again, on the page as it is now
    Replay {
        id: String,
        /// Another value, by number of the action that takes it. Repeatable
        #[arg(long, value_name = "N=TEXT", value_parser = pair)]
        value: Vec<(String, String)>,
        /// The number of an action that may change something. Repeatable
        #[arg(long, value_name = "N")]
        allow: Vec<u32>,
        /// Another address to begin at
        #[arg(long)]
        url: Option<String>,
    },
    /// Remove what was done, and leave the manifest
    Purge { id: String },
}

fn pair(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("give N=TEXT")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// 1 where a replay did not pass.
pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let Args { context, json: as_json, command } = args;
    let (client, _) = daemon::client(global).await?;
    let (name, body) = match &command {
        Command::Record { name, url, task } => {
            ("record", json!({"context": context, "name": name, "url": url, "task": task}))
        }
        Command::End => ("end", json!({"context": context})),
        Command::Ls { query } => ("list", json!({"query": query})),
        Command::Show { id } => ("show", json!({"id": id})),
        Command::Replay { id, value, allow, url } => {
            let values: BTreeMap<_, _> = value.iter().cloned().collect();
            let mut body = json!({"id": id, "context": context, "values": values, "allow": allow});
            if let Some(it) = url {
                body["url"] = it.as_str().into();
            }
            ("replay", body)
        }
        Command::Purge { id } => ("purge", json!({"id": id})),
    };
    let mut answer = client.post(&format!("/api/sessions/{name}"), &body).await?;
    let data: Value = answer["data"].take();
    if as_json {
        wire::out(&data);
    } else {
        for it in told(&command, &data) {
            wire::line(&wire::clean(&it));
        }
    }
    let failed = matches!(command, Command::Replay { .. }) && data["verdict"] != "pass";
    Ok(u8::from(failed))
}

fn told(command: &Command, data: &Value) -> Vec<String> {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let session = |it: &Value| {
        format!(
            "{}  {}  {} actions  {}  {}",
            text(&it["id"]),
            text(&it["state"]),
            it["actions"],
            text(&it["name"]),
            text(&it["task"])
        )
    };
    let action = |it: &Value| {
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
        format!(
            "{} {}{on} {} {}",
            it["n"],
            text(&it["command"]),
            text(&it["value"]),
            asked.join(", ")
        )
        .trim_end()
        .to_owned()
    };
    let all = |name: &str| data[name].as_array().cloned().unwrap_or_default();
    match command {
        Command::Record { .. } | Command::End => vec![session(data)],
        Command::Ls { .. } => all("sessions").iter().map(session).collect(),
        Command::Show { .. } => std::iter::once(session(&data["session"]))
            .chain(all("actions").iter().map(action))
            .collect(),
        Command::Replay { .. } => {
            let line = |it: &Value| {
                format!(
                    "{} {}: {} {}",
                    it["n"],
                    text(&it["command"]),
                    text(&it["outcome"]),
                    text(&it["why"])
                )
                .trim_end()
                .to_owned()
            };
            all("actions").iter().map(line).chain([text(&data["verdict"])]).collect()
        }
        Command::Purge { .. } => vec!["purged".to_owned()],
    }
}
