//! `commis token`

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Subcommand;
use serde_json::{Value, json};

use super::{Global, context, daemon, table::ruled};
use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
};

/// Bytes of a file with a token.
const MAX_TOKEN: usize = 4096;

/// Make, list and revoke tokens of the daemon
#[derive(Subcommand)]
pub enum Command {
    /// Make a token with the given scopes
    ///
    /// The token is printed once, on stdout, or written to a file that nobody else can read. commis stores only its digest.
    ///
    /// With --json: {token, id, scopes, note, created_ms, expires_ms}, without the token where a file has it.
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
        /// Write the token to this file, with mode 0600: `commis mcp --token-file` reads it
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
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

/// Writes a token to a file of mode 0600. Fails with `USAGE` for a path without a name, and with `ARTIFACT_IO`.
fn write_token(path: &Path, token: &str) -> Result<()> {
    let (folder, name) = folder_and_name(path)?;
    match Dir::open(&folder, false)? {
        Some(it) => it.write(&name, format!("{token}\n").as_bytes()),
        None => Err(no_folder(&folder)),
    }
}

/// The token in a file that nobody else can read. Fails with `USAGE` where there is none, and with `ARTIFACT_IO`.
pub fn read_token(path: &Path) -> Result<String> {
    let (folder, name) = folder_and_name(path)?;
    let dir = Dir::open(&folder, false)?.ok_or_else(|| no_folder(&folder))?;
    let bytes = dir.read_private(&name, MAX_TOKEN)?.ok_or_else(|| {
        Error::new(Code::Usage, format!("there is no file {}", path.display()))
            .hint("`commis token create --can … --out FILE` makes one")
    })?;
    let token = String::from_utf8_lossy(&bytes).trim().to_owned();
    if token.is_empty() || token.contains(char::is_whitespace) {
        return Err(Error::new(Code::Usage, format!("{} holds no token", path.display())));
    }
    Ok(token)
}

fn folder_and_name(path: &Path) -> Result<(PathBuf, String)> {
    let name = path.file_name().and_then(|it| it.to_str()).ok_or_else(|| {
        Error::new(Code::Usage, format!("{} is no name of a file", path.display()))
    })?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    Ok((folder.unwrap_or(Path::new(".")).to_owned(), name.to_owned()))
}

fn no_folder(folder: &Path) -> Error {
    Error::new(Code::Usage, format!("there is no folder {}", folder.display()))
}

pub async fn run(command: Command, global: &Global) -> Result<u8> {
    let (client, _) = daemon::client(global).await?;
    match command {
        Command::Create { can, expires, note, out, json } => {
            let mut asked = json!({"can": can, "note": note});
            if let Some(it) = expires {
                asked["expires_sec"] = it.as_secs().into();
            }
            let mut made = client.post("/api/tokens", &asked).await?;
            let made = &mut made["data"];
            if let Some(path) = &out {
                let token = made["token"].as_str().unwrap_or_default().to_owned();
                write_token(path, &token)?;
                made.as_object_mut().map(|it| it.remove("token"));
            }
            if json {
                context::out(made);
            } else if let Some(path) = &out {
                context::say(&format!("{}: written to {}", text(&made["id"]), path.display()));
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
