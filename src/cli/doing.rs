//! `commis do`: a task told in a sentence, answered by a recipe or done by a model, and followed while it is.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, Write as _},
    time::Duration,
};

use serde_json::{Value, json};

use super::{Global, daemon, learned, names, runs, runs_compare, runs_watch, wire};
use commis_base::error::{Code, Error, Result};
use commis_serve::client::{Client, EventStream};

/// Between two looks at a task whose events cannot be had.
const WITHOUT_STREAM: Duration = Duration::from_secs(1);

/// Do a task told in a sentence: from a recipe where one is meant, else with a model in a browser
///
/// A recipe that is meant clearly answers in milliseconds. Where there is none, and --url or --playbook says where to begin, a
/// model does the task once; then a recipe is learned from what it did, and the next time that answers. What may change something
/// is held back before it leaves: it is shown, and with --allow-submit waits for `commis approve`. Exit code 0: done, and seen to
/// be done; 1: not; 2: something is configured wrongly; 3: no connection; 130: interrupted.
///
/// Example: commis do "Find books about {query}" -p query=rust --url http://library.test/
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    kept: Option<RunsCommand>,
    /// What is to be done, with {name} where values of -p go
    #[arg(required_unless_present_any = ["playbooks", "log"])]
    task: Option<String>,
    /// List playbooks instead: what they do, what is wrong with them
    #[arg(long, exclusive = true)]
    playbooks: bool,
    /// Print instead what happened in a run with a model, a line of JSON each
    #[arg(long, value_name = "RUN", conflicts_with = "task")]
    log: Option<String>,
    /// A value. Repeatable
    #[arg(short, value_name = "NAME=VALUE", value_parser = super::browse::pair)]
    param: Vec<(String, String)>,
    /// Another value, to prove the recipe on. Repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::browse::pair)]
    second: Vec<(String, String)>,
    /// Where a model begins
    #[arg(long)]
    url: Option<String>,
    /// A playbook by name: where to begin, what success looks like, what may be changed
    #[arg(long, value_name = "NAME")]
    playbook: Option<String>,
    /// `PROVIDER/NAME`, or a name that begins with claude-, gpt- or gemini- [env: COMMIS_MODEL]
    #[arg(long)]
    model: Option<String>,
    /// What drives the browser
    #[arg(long, default_value = "commis", value_parser = ["commis", "playwright-mcp"])]
    backend: String,
    /// Begin the page with a login of the vault: `commis session login` makes one
    #[arg(add = names::logins(), long = "as", value_name = "LOGIN")]
    login: Option<String>,
    /// Calls of the model, at most
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    max_turns: u32,
    /// Tokens, in and out together, at most
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// In the currency of the settings' prices, at most
    #[arg(long, value_name = "N")]
    max_cost: Option<f64>,
    /// Another host where pages may be opened. Repeatable
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Tell what the model would do first, and stop
    #[arg(long)]
    dry_run: bool,
    /// Pass the playbook's checkpoints without asking
    #[arg(long)]
    no_checkpoint: bool,
    /// A request that may change something waits for your approval; without this it is only shown
    #[arg(long)]
    allow_submit: bool,
    /// Learn no recipe from it
    #[arg(long)]
    no_learn: bool,
    /// Ask a model though a recipe is meant
    #[arg(long)]
    no_recipe: bool,
    /// Print what it came to as JSON
    #[arg(long)]
    json: bool,
}

/// What was done before. A task that is one of these words alone stands behind `--`.
#[derive(clap::Subcommand)]
enum RunsCommand {
    Runs(runs::Args),
    Compare(runs_compare::Args),
    Watch(runs_watch::Args),
}

impl Args {
    pub fn wants_json(&self) -> bool {
        match &self.kept {
            None => self.json,
            Some(RunsCommand::Runs(it)) => it.json,
            Some(RunsCommand::Compare(it)) => it.json,
            Some(RunsCommand::Watch(it)) => it.json,
        }
    }
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    match args.kept {
        None => {}
        Some(RunsCommand::Runs(it)) => return runs::run(it, global),
        Some(RunsCommand::Compare(it)) => return runs_compare::run(it, global),
        Some(RunsCommand::Watch(it)) => return runs_watch::run(it, global).await,
    }
    let (client, _) = daemon::client(global).await?;
    if args.playbooks {
        return list(&client).await;
    }
    if let Some(run) = &args.log {
        let path = format!("/api/transcripts/{run}");
        for it in client.get(&path).await?["data"]["lines"].as_array().into_iter().flatten() {
            wire::event(&it.to_string());
        }
        return Ok(0);
    }
    let client = client.patient();
    let asks = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let values = |all: &[(String, String)]| all.iter().cloned().collect::<BTreeMap<_, _>>();
    let body = json!({
        "task": args.task, "params": values(&args.param), "second": values(&args.second),
        "url": args.url, "playbook": args.playbook, "model": args.model, "backend": args.backend, "as": args.login,
        "max_turns": args.max_turns, "max_tokens": args.max_tokens, "max_cost": args.max_cost,
        "hosts": args.hosts, "dry_run": args.dry_run, "no_checkpoint": args.no_checkpoint,
        "allow_submit": args.allow_submit, "no_learn": args.no_learn, "no_recipe": args.no_recipe,
        "interactive": asks,
    });
    let has_start = args.url.is_some() || args.playbook.is_some();
    let ran = if has_start {
        let task = client.begin("/api/runs", &body).await?;
        let id = task["data"]["task_id"].as_str().unwrap_or_default().to_owned();
        let done = tokio::select! {
            it = follow(&client, &id, asks) => it,
            () = wire::interrupted() => {
                // What is at work puts down what it has in hand.
                client.post(&format!("/api/tasks/{id}/cancel"), &json!({})).await?;
                Err(Error::new(Code::Interrupted, "interrupted").hint("its page was closed; what it had learned stays"))
            }
        };
        done?
    } else {
        client.post("/api/runs", &body).await?["data"].take()
    };
    let learns = ran["model"]["learns"].as_str().map(str::to_owned);
    if args.json {
        wire::out(&ran);
    } else {
        show(&ran);
    }
    if let Some(id) = learns {
        wire::say("learning a recipe from it");
        let outcome = learned::end(&client, &id).await;
        match outcome {
            Ok(it) if !args.json => {
                let text = |name: &str| wire::clean(it[name].as_str().unwrap_or_default());
                wire::say(&format!("recipe {}: {}", text("name"), text("outcome")));
            }
            Ok(_) => {}
            // The task itself is done.
            Err(err) => wire::say(&wire::clean(&format!("no recipe was learned: {err}"))),
        }
    }
    Ok(code(&ran))
}

async fn list(client: &Client) -> Result<u8> {
    let all = client.get("/api/playbooks").await?["data"].take();
    for it in all["playbooks"].as_array().into_iter().flatten() {
        let text = |name: &str| wire::clean(it[name].as_str().unwrap_or_default());
        let wrong = it["error"].as_str().map(|it| format!("cannot be used: {}", wire::clean(it)));
        let stands = match (it["graduated"].as_bool(), it["of"].as_u64()) {
            (_, None | Some(0)) => String::new(),
            (graduated, _) => {
                let word = if graduated == Some(true) { "graduated" } else { "not graduated" };
                format!(" ({word}: {} of its last {} runs passed)", it["passed"], it["of"])
            }
        };
        let told = wrong.unwrap_or_else(|| text("task"));
        wire::line(&format!("{:<24} {told}{stands}", text("name")));
    }
    Ok(0)
}

/// Seed 002, 2.8.4.
pub fn code(ran: &Value) -> u8 {
    match ran["status"].as_str() {
        Some("done" | "dry_run") => 0,
        _ if ran["reason"] == "llm_error" || ran["reason"] == "mcp_error" => 3,
        _ => 1,
    }
}

/// Tells what happens until the task has ended; what it asks is put to whoever sits here.
pub async fn follow(client: &Client, id: &str, asks: bool) -> Result<Value> {
    followed(client, id, asks, &mut line).await
}

/// The same with other lines for what happens. Fails with what the daemon refuses, and with the code that the task failed with.
pub async fn followed(
    client: &Client,
    id: &str,
    asks: bool,
    line: &mut dyn FnMut(&Value) -> Option<String>,
) -> Result<Value> {
    let path = format!("/api/tasks/{id}/events");
    let mut after = None;
    loop {
        let mut events = match client.stream(&path, after).await {
            Ok(it) => Some(it),
            // As many streams are open as may be; the task itself can still be looked at.
            Err(err) if err.code() == Code::RateLimited => None,
            Err(err) => return Err(err),
        };
        if events.is_none() {
            tokio::time::sleep(WITHOUT_STREAM).await;
        }
        while let Some(it) = next(&mut events).await {
            after = it["id"].as_u64().or(after);
            let data = &it["data"];
            if data["question"] == true && asks {
                let answer = prompt_approval(data).await;
                client.post(&format!("/api/tasks/{id}/answer"), &answer).await?;
            } else if let Some(line) = line(data) {
                wire::say(&wire::clean(&line));
            }
        }
        let task = client.get(&format!("/api/tasks/{id}")).await?;
        if !task["data"]["ended_ms"].is_null() {
            break;
        }
    }
    Ok(client.get(&format!("/api/tasks/{id}/result")).await?["data"].take())
}

async fn next(events: &mut Option<EventStream>) -> Option<Value> {
    events.as_mut()?.next().await
}

/// What happened, as one line.
pub fn line(it: &Value) -> Option<String> {
    let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let turn = &it["turn"];
    Some(match it["kind"].as_str()? {
        "act" => format!("[turn {turn}] {}", text("act")),
        "did" if it["failed"] == true => format!("           failed: {}", text("text")),
        "did" => format!("           {}", text("text").lines().next().unwrap_or_default()),
        "refused" => format!("           refused: {}", text("why")),
        "asked" => format!("           asks: {}", text("text")),
        "held" => format!("           held back: {} ({})", text("request"), text("why")),
        "claim" if it["verified"] == false => format!("           not verified: {}", text("why")),
        _ => return None,
    })
}

/// Seed 002, 2.5.4: what it is about, where, a picture, and `[y/N]`.
async fn prompt_approval(it: &Value) -> Value {
    let text = |name: &str| wire::clean(it[name].as_str().unwrap_or_default());
    let is_value = it["kind"] == "value";
    wire::say(&format!("A person is needed: {}", text("text")));
    wire::say(&format!("  page: {}", text("url")));
    if !it["picture"].is_null() {
        wire::say(&format!("  picture: {}", text("picture")));
    }
    let prompt = if is_value { "Value (empty: stop): " } else { "Go on? [y/N]: " };
    let mut stderr = std::io::stderr();
    // A terminal that is gone answers nothing below.
    let _ = stderr.write_all(prompt.as_bytes()).and_then(|()| stderr.flush());
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let said = read.await.ok().and_then(std::result::Result::ok).unwrap_or_default();
    let said = said.trim();
    if is_value && !said.is_empty() {
        return json!({ "value": said });
    }
    json!({ "yes": !is_value && said.eq_ignore_ascii_case("y") })
}

/// What it came to, for a person.
pub fn show(ran: &Value) {
    let text = |it: &Value| wire::clean(it.as_str().unwrap_or_default());
    let model = &ran["model"];
    for it in model["held"].as_array().into_iter().flatten() {
        let waits = model["approvals"].as_array().is_some_and(|it| !it.is_empty());
        wire::say(&format!(
            "{}{}",
            if waits { "waits: " } else { "DRY RUN: would send " },
            text(it)
        ));
    }
    for it in model["approvals"].as_array().into_iter().flatten() {
        wire::say(&format!("look at it and decide: commis approve {}", text(it)));
    }
    let took = if model.is_null() {
        let saved = &ran["saved"];
        let told = format!("answered by recipe {}", text(&ran["recipe"]));
        if saved.is_null() {
            told
        } else {
            format!(
                "{told}: saved {} turns, {} tokens, {} ms",
                saved["turns"], saved["tokens"], saved["ms"]
            )
        }
    } else {
        format!(
            "{} ({} turns, {} tokens in, {} out, {} ms)",
            text(&ran["reason"]),
            model["turns"],
            model["tokens_in"],
            model["tokens_out"],
            model["ms"]
        )
    };
    let book = &model["playbook"];
    if book.is_object() {
        let word = match (book["graduated"] == true, book["changed"] == true) {
            (true, true) => "graduates",
            (true, false) => "stays graduated",
            (false, true) => "is not graduated any more",
            (false, false) => "is not graduated",
        };
        let (passed, of) = (&book["passed"], &book["of"]);
        let name = text(&book["name"]);
        wire::say(&format!("playbook {name} {word}: {passed} of its last {of} runs passed"));
    }
    let mark = if ran["status"] == "done" { "✓" } else { "✗" };
    let detail = ran["detail"].as_str().map(|it| format!(": {}", wire::clean(it)));
    wire::say(&format!("{mark} {took}{}", detail.unwrap_or_default()));
    match &ran["data"] {
        Value::Null => {}
        Value::String(it) => wire::line(&wire::clean(it)),
        it => wire::out(it),
    }
}
