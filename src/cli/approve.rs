//! `commis approve` and `commis reject`: what waits for a person, shown, and decided about.

use std::io::{IsTerminal as _, Write as _};

use serde_json::{Value, json};

use super::{Global, context, daemon, do_task, follow_task};
use commis_base::error::{Code, Error, Result};

/// Characters of a digest that are typed to say that it was read.
const TYPED: usize = 6;

/// Show a held request, and approve it to be sent once
///
/// Without an id it lists the held requests. The text is made of the request's bytes; words of a page or a model are quoted.
/// You approve by typing the first six characters of the digest. commis then compares request, page and element again. Only if
/// they are unchanged, it sends this one request. A script gives the whole digest with --digest.
#[derive(clap::Args)]
pub struct Args {
    /// The approval's id
    id: Option<String>,
    /// The digest that was shown, instead of a question
    #[arg(long, requires = "id")]
    digest: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// Reject a held request: it is never sent
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
            context::out(&all);
            return Ok(0);
        }
        let all = all["approvals"].as_array().cloned().unwrap_or_default();
        if all.is_empty() {
            context::say("nothing waits for you");
        }
        for it in &all {
            let text = |name: &str| context::clean(it[name].as_str().unwrap_or_default());
            let line = text("text").lines().nth(2).unwrap_or_default().to_owned();
            context::line(&format!("{}  {:<12}  {line}", text("id"), text("state")));
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
    let ran = follow_task::follow(&client, &task, false).await?;
    if args.json {
        context::out(&ran);
    } else {
        do_task::show(&ran);
    }
    Ok(do_task::code(&ran))
}

/// Shows it and asks. The digest, where it was approved. Fails with `USAGE` where nobody is there, and `FORBIDDEN` where they said no.
async fn confirm_digest(shown: &Value) -> Result<String> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Error::new(Code::Usage, "approving needs a terminal")
            .hint("in a script, give the digest that was shown: --digest"));
    }
    let text = |name: &str| context::clean(shown[name].as_str().unwrap_or_default());
    context::say(&text("text"));
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
    Err(Error::new(Code::Forbidden, "not approved; the request still waits")
        .hint("reject it with `commis reject ID`"))
}

pub async fn reject(args: RejectArgs, global: &Global) -> Result<u8> {
    let (client, _) = daemon::client(global).await?;
    let path = format!("/api/approvals/{}/reject", args.id);
    let it = client.post(&path, &json!({})).await?["data"].take();
    if args.json {
        context::out(&it);
    } else {
        context::say("rejected; it was not sent");
    }
    Ok(0)
}
