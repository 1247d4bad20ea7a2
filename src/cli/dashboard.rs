//! `commis dashboard`

use serde_json::json;

use super::{Global, context, daemon};
use commis_base::error::Result;

/// Print an address that opens the dashboard in your browser, once, within a minute
///
/// With --json: {code, url}.
#[derive(clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let (client, _) = daemon::client(global).await?;
    let made = client.post("/api/dashboard/code", &json!({})).await?;
    if args.json {
        context::out(&made["data"]);
    } else {
        context::line(made["data"]["url"].as_str().unwrap_or_default());
    }
    Ok(0)
}
