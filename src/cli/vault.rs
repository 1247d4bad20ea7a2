//! `commis vault`: logins that are kept, as they may be shown.

use clap::Subcommand;
use serde_json::{Value, json};

use super::{Global, context, daemon, names, table::ruled, vault_import};
use commis_base::error::Result;
use commis_client::client::Client;
use commis_vault::LoginName;

/// List, check, save and remove stored logins
///
/// A login is the cookies and the page storage of one site, sealed on disk. `commis session login` makes one, `--as NAME` of
/// `commis browse` and `commis session` uses it. No command shows a value of a login.
///
/// Example: commis vault ls && commis browse --as shop goto https://shop.test/account
#[derive(clap::Args)]
pub struct Args {
    /// Print the answer as JSON
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List logins: names, sites, counts and expiry
    Ls,
    /// Open the page of a login and check that it still holds; exit code 1 if not
    Check {
        /// The login's name: `commis vault ls` has them
        #[arg(add = names::logins())]
        name: String,
    },
    /// Store the present login of a context
    Save {
        /// Name of the login
        #[arg(add = names::logins())]
        name: String,
        /// The page's context
        #[arg(long, default_value = "default", value_name = "NAME")]
        context: String,
        /// Replace a login that has more cookies
        #[arg(long)]
        force: bool,
    },
    /// Remove a login and all its states
    Rm {
        /// The login's name: `commis vault ls` has them
        #[arg(add = names::logins())]
        name: String,
    },
    Import(vault_import::Args),
}

/// 1 where a login does not hold.
pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let Args { json: as_json, command } = args;
    let command = match command {
        // Files of this person: no daemon is asked.
        Command::Import(args) => return vault_import::run(args, as_json, global),
        other => other,
    };
    // Before a daemon is asked.
    let name = match &command {
        Command::Ls | Command::Import(_) => None,
        Command::Check { name } | Command::Save { name, .. } | Command::Rm { name } => {
            Some(name.parse::<LoginName>()?)
        }
    };
    let name = name.as_ref().map(LoginName::as_str);
    let (client, _) = daemon::client(global).await?;
    let (path, body) = match &command {
        Command::Ls | Command::Import(_) => ("list", json!({})),
        Command::Check { .. } => ("check", json!({"name": name})),
        Command::Save { context, force, .. } => {
            ("save", json!({"name": name, "context": context, "force": force}))
        }
        Command::Rm { .. } => ("remove", json!({"name": name})),
    };
    let mut answer = client.post(&format!("/api/vault/{path}"), &body).await?;
    let data = answer["data"].take();
    let holds = data["holds"] != false;
    if as_json {
        context::out(&data);
        return Ok(u8::from(!holds));
    }
    let text = |it: &Value| context::clean(it.as_str().unwrap_or_default());
    match command {
        Command::Ls | Command::Import(_) => listed(&data["logins"]),
        Command::Check { .. } => {
            let verdict = if holds { "holds" } else { "does not hold" };
            context::line(&format!("{} {verdict}: {}", text(&data["name"]), text(&data["why"])));
        }
        Command::Save { .. } => context::line(&vault_import::sealed(&data)),
        Command::Rm { .. } => context::line("removed"),
    }
    Ok(u8::from(!holds))
}

fn listed(all: &Value) {
    let text = |it: &Value| context::clean(it.as_str().unwrap_or_default());
    let moment = |it: &Value| it.as_i64().map_or_else(String::new, context::moment);
    let mut table = ruled(["name", "site", "cookies", "stored", "first ends", "taken", "checked"]);
    for it in all.as_array().into_iter().flatten() {
        if it["trouble"].is_string() {
            context::say(&text(&it["trouble"]));
            continue;
        }
        let checked = &it["checked"];
        let holds = match checked["holds"].as_bool() {
            Some(true) => format!("holds, {}", moment(&checked["at_ms"])),
            Some(false) => format!("does not hold, {}", moment(&checked["at_ms"])),
            None => String::new(),
        };
        table.add_row([
            text(&it["name"]),
            text(&it["site"]),
            it["cookies"].to_string(),
            it["stored"].to_string(),
            moment(&it["first_ends_ms"]),
            format!("{}, {}", moment(&it["taken_ms"]), text(&it["from"])),
            holds,
        ]);
    }
    context::line(&table.to_string());
}

/// Puts a login into a context before its first command, where one is named.
pub async fn mount(client: &Client, login: Option<&str>, context: &str) -> Result<()> {
    let Some(login) = login else { return Ok(()) };
    let name: LoginName = login.parse()?;
    let body = json!({"name": name.as_str(), "context": context});
    let answer = client.post("/api/vault/mount", &body).await?;
    match answer["data"]["refused"].as_u64() {
        None | Some(0) => {}
        Some(n) => context::say(&format!("warning: the browser did not take {n} of its cookies")),
    }
    Ok(())
}
