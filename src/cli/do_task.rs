//! `commis do`: a task told in a sentence, answered by a recipe or done by a model, and followed while it is.

use std::{collections::BTreeMap, io::IsTerminal as _};

use serde_json::{Value, json};

use super::{
    Global, context, daemon, follow_task::follow, learn_wait, names, runs, runs_compare, runs_watch,
};
use commis_base::error::{Code, Error, Result};
use commis_client::client::Client;

/// Do a task in a sentence: with a recipe if one matches, otherwise with a model in a browser
///
/// If one recipe clearly matches, it is run. Otherwise, if --url or --playbook names a start page, a model does the task once.
/// commis learns a recipe from it, which answers the next time. A request that may change something is held and shown. With
/// --allow-submit it waits for `commis approve`. Exit code 0: done and confirmed; 1: not done; 2: configuration; 3: no
/// connection; 130: interrupted.
///
/// Example: commis do "Find books about {query}" -p query=rust --url http://library.test/
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    kept: Option<RunsCommand>,
    /// The task, with {name} for values of -p
    #[arg(required_unless_present_any = ["playbooks", "log"])]
    task: Option<String>,
    /// List playbooks and their errors instead
    #[arg(long, exclusive = true)]
    playbooks: bool,
    /// Print the events of a run with a model instead, a line of JSON each
    #[arg(long, value_name = "RUN", conflicts_with = "task")]
    log: Option<String>,
    /// A value. Repeatable
    #[arg(short, value_name = "NAME=VALUE", value_parser = super::context::pair)]
    param: Vec<(String, String)>,
    /// Another value, to prove the recipe on. Repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::context::pair)]
    second: Vec<(String, String)>,
    /// The start page for a model
    #[arg(long)]
    url: Option<String>,
    /// A playbook by name: start page, conditions of success, allowed changes
    #[arg(long, value_name = "NAME")]
    playbook: Option<String>,
    /// `PROVIDER/NAME`, or a name that begins with claude-, gpt- or gemini- [env: COMMIS_MODEL]
    #[arg(long)]
    model: Option<String>,
    /// What drives the browser
    #[arg(long, default_value = "commis", value_parser = ["commis", "playwright-mcp"])]
    backend: String,
    /// Open the page with a login of the vault: `commis session login` makes one
    #[arg(add = names::logins(), long = "as", value_name = "LOGIN")]
    login: Option<String>,
    /// At most N calls of the model
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    max_turns: u32,
    /// At most N tokens, in and out together
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// At most this cost, in the currency of the settings' prices
    #[arg(long, value_name = "N")]
    max_cost: Option<f64>,
    /// Another host that pages may open. Repeatable
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Print the model's first action, and stop
    #[arg(long)]
    dry_run: bool,
    /// Do not ask at the checkpoints of the playbook
    #[arg(long)]
    no_checkpoint: bool,
    /// Let a request that may change something wait for your approval; without this it is only shown
    #[arg(long)]
    allow_submit: bool,
    /// Do not learn a recipe from it
    #[arg(long)]
    no_learn: bool,
    /// Use a model even if a recipe matches
    #[arg(long)]
    no_recipe: bool,
    /// Print the result as JSON
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
            context::event(&it.to_string());
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
            () = context::interrupted() => {
                // What is at work puts down what it has in hand.
                client.post(&format!("/api/tasks/{id}/cancel"), &json!({})).await?;
                Err(Error::new(Code::Interrupted, "interrupted").hint("its page was closed; recipes that were learned stay"))
            }
        };
        done?
    } else {
        client.post("/api/runs", &body).await?["data"].take()
    };
    let learns = ran["model"]["learns"].as_str().map(str::to_owned);
    if args.json {
        context::out(&ran);
    } else {
        show(&ran);
    }
    if let Some(id) = learns {
        context::say("learning a recipe from it");
        let outcome = learn_wait::end(&client, &id).await;
        match outcome {
            Ok(it) if !args.json => {
                let text = |name: &str| context::clean(it[name].as_str().unwrap_or_default());
                context::say(&format!("recipe {}: {}", text("name"), text("outcome")));
            }
            Ok(_) => {}
            // The task itself is done.
            Err(err) => context::say(&context::clean(&format!("no recipe was learned: {err}"))),
        }
    }
    Ok(code(&ran))
}

async fn list(client: &Client) -> Result<u8> {
    let all = client.get("/api/playbooks").await?["data"].take();
    for it in all["playbooks"].as_array().into_iter().flatten() {
        let text = |name: &str| context::clean(it[name].as_str().unwrap_or_default());
        let wrong =
            it["error"].as_str().map(|it| format!("cannot be used: {}", context::clean(it)));
        let stands = match (it["graduated"].as_bool(), it["of"].as_u64()) {
            (_, None | Some(0)) => String::new(),
            (graduated, _) => {
                let word = if graduated == Some(true) { "graduated" } else { "not graduated" };
                format!(" ({word}: {} of its last {} runs passed)", it["passed"], it["of"])
            }
        };
        let told = wrong.unwrap_or_else(|| text("task"));
        context::line(&format!("{:<24} {told}{stands}", text("name")));
    }
    Ok(0)
}

/// The exit code of a run.
pub fn code(ran: &Value) -> u8 {
    match ran["status"].as_str() {
        Some("done" | "dry_run") => 0,
        _ if ran["reason"] == "llm_error" || ran["reason"] == "mcp_error" => 3,
        _ => 1,
    }
}

/// What it came to, for a person.
pub fn show(ran: &Value) {
    let text = |it: &Value| context::clean(it.as_str().unwrap_or_default());
    let model = &ran["model"];
    for it in model["held"].as_array().into_iter().flatten() {
        let waits = model["approvals"].as_array().is_some_and(|it| !it.is_empty());
        context::say(&format!(
            "{}{}",
            if waits { "waits: " } else { "DRY RUN: would send " },
            text(it)
        ));
    }
    for it in model["approvals"].as_array().into_iter().flatten() {
        context::say(&format!("look at it and decide: commis approve {}", text(it)));
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
        context::say(&format!("playbook {name} {word}: {passed} of its last {of} runs passed"));
    }
    let mark = if ran["status"] == "done" { "✓" } else { "✗" };
    let detail = ran["detail"].as_str().map(|it| format!(": {}", context::clean(it)));
    context::say(&format!("{mark} {took}{}", detail.unwrap_or_default()));
    match &ran["data"] {
        Value::Null => {}
        Value::String(it) => context::line(&context::clean(it)),
        it => context::out(it),
    }
}
