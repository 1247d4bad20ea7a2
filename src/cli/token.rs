//! `commis token`

use std::time::Duration;

use clap::Subcommand;
use serde_json::{Value, json};

use super::{Global, context, daemon, table::ruled};
use commis_base::error::{Code, Error, Result};

/// Make, list and revoke tokens of the daemon
#[derive(Subcommand)]
pub enum Command {
    /// Make a token with the given scopes
    ///
    /// The token is printed once, on stdout. commis stores only its digest.
    ///
    /// With --json: {token, id, scopes, note, created_ms, expires_ms}.
    ///
    /// Example: commis token create --can run:shop-search --expires 1h
    Create {
        /// run:NAME or run:*; vault:NAME; recipes, tasks, learn, browse or approvals with :read or :write; browse:read:NAME or browse:write:NAME
        /// for your page of that name alone. Repeatable, or with commas
        #[arg(long, required = true, value_delimiter = ',', value_name = "SCOPE")]
        can: Vec<String>,
        /// Lifetime: 30m, 12h, 7d (default: unlimited)
        #[arg(long, value_parser = span)]
        expires: Option<Duration>,
        /// A note on its purpose
        #[arg(long, default_value = "")]
        note: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List valid tokens
    ///
    /// With --json: a list of {id, scopes, note, created_ms, expires_ms}.
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token
    Revoke {
        /// The token's id: `commis token list` has them
        id: String,
    },
}

impl Command {
    pub const fn wants_json(&self) -> bool {
        matches!(self, Self::Create { json: true, .. } | Self::List { json: true })
    }
}

/// `30m`, `12h`, `7d`.
pub fn span(text: &str) -> std::result::Result<Duration, String> {
    let wrong = || "give a number and s, m, h or d, such as 12h".to_owned();
    let at = text.find(|it: char| !it.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(at);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86400,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = number.checked_mul(unit).filter(|it| (1..=31_536_000).contains(it));
    seconds.map(Duration::from_secs).ok_or_else(|| "at least a second, at most a year".to_owned())
}

pub async fn run(command: Command, global: &Global) -> Result<u8> {
    let (client, _) = daemon::client(global).await?;
    match command {
        Command::Create { can, expires, note, json } => {
            let mut asked = json!({"can": can, "note": note});
            if let Some(it) = expires {
                asked["expires_sec"] = it.as_secs().into();
            }
            let made = client.post("/api/tokens", &asked).await?;
            let made = &made["data"];
            if json {
                context::out(made);
            } else {
                context::line(made["token"].as_str().unwrap_or_default());
                context::say(&format!("{}: shown once, so keep it", text(&made["id"])));
            }
        }
        Command::List { json } => {
            let all = client.get("/api/tokens").await?;
            let all = &all["data"]["tokens"];
            if json {
                context::out(all);
                return Ok(0);
            }
            let mut table = ruled(["id", "may", "for", "made", "holds until"]);
            for it in all.as_array().into_iter().flatten() {
                let scopes = it["scopes"].as_array().into_iter().flatten().map(text);
                table.add_row([
                    text(&it["id"]),
                    scopes.collect::<Vec<_>>().join(" "),
                    context::clean(&text(&it["note"])),
                    context::moment(it["created_ms"].as_i64().unwrap_or(0)),
                    it["expires_ms"]
                        .as_i64()
                        .map_or_else(|| "for good".to_owned(), context::moment),
                ]);
            }
            context::line(&table.to_string());
        }
        Command::Revoke { id } => {
            let plain = id.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
            if !plain {
                return Err(Error::new(Code::Usage, "this is not the id of a token")
                    .hint("`commis token list` shows them"));
            }
            client.delete(&format!("/api/tokens/{id}")).await?;
            context::say(&format!("{id} is taken back"));
        }
    }
    Ok(0)
}

fn text(it: &Value) -> String {
    it.as_str().unwrap_or_default().to_owned()
}
