//! `commis approve` and `commis reject`: what waits for a person, shown, and decided about.

use std::io::{IsTerminal as _, Write as _};

use serde_json::{Value, json};

use super::{Global, daemon, doing, wire};
use commis_base::error::{Code, Error, Result};

/// Characters of a digest that are typed to say that it was read.
const TYPED: usize = 6;

/// Show a request that waits for you, and let it go once
///
/// Without an id it lists what waits. What is shown is made of the request's bytes; what a page or a model says stands in quotes.
/// You approve by typing the first six characters of its digest; then the page is looked at again, and if request, page and element
/// are what was shown, that one request is sent. A script gives the whole digest with --digest.
#[derive(clap::Args)]
pub struct Args {
    /// The approval's id
    id: Option<String>,
    /// The digest as it was shown, in place of the question
    #[arg(long, requires = "id")]
    digest: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// Say no to a request that waits: it is never sent
#[derive(clap::Args)]
pub struct RejectArgs {
    /// The approval's id
    id: String,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let (client, _) = daemon::client(global).await?;
    let client = client.patient();
    let Some(id) = args.id else {
        let all = client.get("/api/approvals").await?["data"].take();
        if args.json {
            wire::out(&all);
            return Ok(0);
        }
        let all = all["approvals"].as_array().cloned().unwrap_or_default();
        if all.is_empty() {
            wire::say("nothing waits for you");
        }
        for it in &all {
            let text = |name: &str| wire::clean(it[name].as_str().unwrap_or_default());
            let line = text("text").lines().nth(2).unwrap_or_default().to_owned();
            wire::line(&format!("{}  {:<12}  {line}", text("id"), text("state")));
        }
        return Ok(0);
    };
    let shown = client.get(&format!("/api/approvals/{id}")).await?["data"].take();
    let digest = match args.digest {
        Some(it) => it,
        None => confirm_digest(&shown).await?,
    };
    let body = json!({ "digest": digest });
    let task = client.begin(&format!("/api/approvals/{id}/approve"), &body).await?;
    let task = task["data"]["task_id"].as_str().unwrap_or_default().to_owned();
    let ran = doing::follow(&client, &task, false).await?;
    if args.json {
        wire::out(&ran);
    } else {
        doing::show(&ran);
    }
    Ok(doing::code(&ran))
}

/// Shows it and asks. The digest, where it was approved. Fails with `USAGE` where nobody is there, and `FORBIDDEN` where they said no.
async fn confirm_digest(shown: &Value) -> Result<String> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Error::new(Code::Usage, "nobody is there to be asked")
            .hint("in a script give the --digest that was shown to a person"));
    }
    let text = |name: &str| wire::clean(shown[name].as_str().unwrap_or_default());
    wire::say(&text("text"));
    let digest = text("digest");
    let first: String = digest.chars().take(TYPED).collect();
    let mut stderr = std::io::stderr();
    // A terminal that is gone answers nothing below.
    let _ = write!(stderr, "\nType {first} to send it once: ").and_then(|()| stderr.flush());
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let said = read.await.ok().and_then(std::result::Result::ok).unwrap_or_default();
    if said.trim() == first {
        return Ok(digest);
    }
    Err(Error::new(Code::Forbidden, "not approved; the request waits on")
        .hint("`commis reject` says no for good"))
}

pub async fn reject(args: RejectArgs, global: &Global) -> Result<u8> {
    let (client, _) = daemon::client(global).await?;
    let path = format!("/api/approvals/{}/reject", args.id);
    let it = client.post(&path, &json!({})).await?["data"].take();
    if args.json {
        wire::out(&it);
    } else {
        wire::say("rejected; it was not sent");
    }
    Ok(0)
}
