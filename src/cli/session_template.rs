//! `commis session template`: what is taken of a page, kept by name and used again.

use clap::Subcommand;
use serde_json::{Value, json};

use super::context;
use commis_base::error::Result;
use commis_client::client::Client;

#[derive(Subcommand)]
pub enum Command {
    /// Save the choice of a list or record of the page, and show its data
    Save {
        /// Name of the template
        name: String,
        /// Words of the wanted list or record (default: the main one)
        #[arg(long, default_value = "")]
        about: String,
        /// A `JMESPath` expression that is applied to the data
        #[arg(long, value_name = "EXPRESSION")]
        extract: Option<String>,
    },
    /// Extract the same data from a page, as JSON
    Apply {
        /// The template's name: `commis session template ls` has them
        name: String,
        /// Open this page first
        #[arg(long)]
        url: Option<String>,
    },
    /// List templates
    Ls,
    /// Show a template with its selectors
    Show {
        /// The template's name
        name: String,
    },
    /// Remove a template
    Rm {
        /// The template's name
        name: String,
    },
}

pub async fn run(client: &Client, command: Command, context: &str, as_json: bool) -> Result<u8> {
    let (what, body) = match &command {
        Command::Save { name, about, extract } => {
            let mut body = json!({"name": name, "context": context, "about": about});
            if let Some(it) = extract {
                body["extract"] = it.as_str().into();
            }
            ("save", body)
        }
        Command::Apply { name, url } => {
            let mut body = json!({"name": name, "context": context});
            if let Some(it) = url {
                body["url"] = it.as_str().into();
            }
            ("apply", body)
        }
        Command::Ls => ("list", json!({})),
        Command::Show { name } => ("show", json!({"name": name})),
        Command::Rm { name } => ("remove", json!({"name": name})),
    };
    let mut answer = client.post(&format!("/api/sessions/templates/{what}"), &body).await?;
    let data: Value = answer["data"].take();
    let text = |it: &Value| context::clean(it.as_str().unwrap_or_default());
    match command {
        _ if as_json => context::out(&data),
        Command::Save { .. } | Command::Apply { .. } => context::out(&data["data"]),
        Command::Ls => {
            for it in data["templates"].as_array().into_iter().flatten() {
                context::line(&format!("{}  {}", text(&it["name"]), text(&it["url"])));
            }
        }
        Command::Show { .. } => context::out(&data),
        Command::Rm { .. } => context::line("removed"),
    }
    Ok(0)
}
