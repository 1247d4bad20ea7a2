//! `commis mcp`: the server that MCP clients start, and entering it into their settings.

use std::{path::PathBuf, sync::Arc};

use super::{Global, daemon, mcp_install, token};
use commis_base::error::Result;
use commis_serve::bridge;

/// Serve an MCP client over stdin and stdout, or add commis to the settings of clients
///
/// Without a subcommand, it forwards messages between the client and the daemon. It starts the daemon if none is running. The
/// daemon stays when the client ends.
#[derive(clap::Args)]
#[command(subcommand_precedence_over_arg = true, args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<mcp_install::Command>,
    /// Tools for the client: core, all or browse, and of recipes top:N, tag:CATEGORY or recipes, with commas (default:
    /// serve.tools of the settings)
    #[arg(long)]
    tools: Option<String>,
    /// Serve the client with the token in this file, of `commis token create --out`, in place of the root token: it may then use the
    /// logins that the token names
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl Args {
    pub fn wants_json(&self) -> bool {
        self.command.as_ref().is_some_and(mcp_install::Command::wants_json)
    }
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    if let Some(command) = args.command {
        return mcp_install::run(command, global);
    }
    let (home, starter) = (super::context::home(global)?, daemon::starter(global));
    let token = args.token_file.as_deref().map(token::read_token).transpose()?;
    let find = Arc::new(move || {
        let (home, starter, token) = (home.clone(), starter.clone(), token.clone());
        async move {
            let mut found = starter.ensure(&home).await?.0;
            if let Some(it) = token {
                found.token = it;
            }
            Ok(found)
        }
    });
    bridge::serve(find, args.tools.as_deref()).await?;
    Ok(0)
}
