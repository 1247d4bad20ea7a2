//! `commis remote`

use clap::Subcommand;
use serde_json::{Value, json};

use super::{Global, context, daemon, token::span};
use commis_base::error::Result;

/// Open the daemon to other machines
#[derive(Subcommand)]
pub enum Command {
    /// Open the remote listener
    ///
    /// It accepts tokens with scopes, never the root token, and has no dashboard. The traffic is not encrypted: put TLS in
    /// front of it.
    On {
        /// Address and port to listen on
        #[arg(long, default_value = "127.0.0.1:0")]
        bind: String,
        /// Allow an address that other machines can reach
        #[arg(long)]
        allow_remote: bool,
    },
    /// Close the remote listener
    Off,
    /// Make a key that another machine exchanges for a token: once, within ten minutes
    Pair {
        /// What the token may do, as for `token create`
        #[arg(long, required = true, value_delimiter = ',', value_name = "SCOPE")]
        can: Vec<String>,
        /// Lifetime of the token: 30m, 12h, 7d (default: unlimited)
        #[arg(long, value_parser = span)]
        expires: Option<std::time::Duration>,
    },
}

pub async fn run(command: Command, global: &Global) -> Result<u8> {
    let (client, _) = daemon::client(global).await?;
    match command {
        Command::On { bind, allow_remote } => {
            let asked = json!({"bind": bind, "allow_remote": allow_remote});
            let it = client.post("/api/remote/on", &asked).await?;
            context::line(it["data"]["addr"].as_str().unwrap_or_default());
        }
        Command::Off => {
            client.post("/api/remote/off", &json!({})).await?;
            context::say("closed");
        }
        Command::Pair { can, expires } => {
            let expires = expires.map_or(Value::Null, |it| it.as_secs().into());
            let asked = json!({"can": can, "expires_sec": expires});
            let it = client.post("/api/remote/pair", &asked).await?;
            context::line(it["data"]["key"].as_str().unwrap_or_default());
            context::say(
                "POST {\"key\": …} to /connect of the remote listener, once, within ten minutes",
            );
        }
    }
    Ok(0)
}
