//! `commis watch`: recipes that the daemon runs on a schedule.

use clap::Subcommand;
use serde_json::{Value, json};

use super::{Global, context, daemon, learn_args::pairs, table::ruled};
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};

/// Run verified recipes on a schedule and report what changed, item by item
#[derive(Subcommand)]
pub enum Command {
    /// Add a watch: the daemon runs the recipe at once, and then at each interval
    ///
    /// The settings define webhooks and programs, under [watch].
    ///
    /// With --json: the watch.
    ///
    /// Example: commis watch add shop-search -p query=umbrella --every 1h --on change:'items[].price'
    Add {
        /// The recipe
        recipe: String,
        /// A value of one of its parameters; repeatable
        #[arg(short, long = "param", value_name = "NAME=VALUE")]
        params: Vec<String>,
        /// How often: 30m, 1h, 7d
        #[arg(long, value_name = "INTERVAL")]
        every: String,
        /// What counts: added, removed, change, or change:PATH for one field; repeatable (default: everything)
        #[arg(long, value_name = "WHAT")]
        on: Vec<String>,
        /// The field that identifies items (default: found from the answers)
        #[arg(long, value_name = "FIELD")]
        key: Option<String>,
        /// Name of the watch (default: from the recipe's name and the values)
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Where to send notifications: desktop, webhook, telegram or command:NAME; repeatable (default: watch.notify)
        #[arg(long, value_name = "CHANNEL")]
        notify: Vec<String>,
        /// Hours without notifications, local time, such as 22:00-07:00 (default: watch.quiet_hours)
        #[arg(long, value_name = "FROM-TO")]
        quiet: Option<String>,
        /// Run it with this login of the vault; its data is then private to that account
        #[arg(long = "as", value_name = "LOGIN")]
        login: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List watches with their next run and last result
    ///
    /// With --json: a list of watches.
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the runs of a watch, newest first
    ///
    /// Runs in a row without a change are one line. With --json: {watch, runs}.
    Log {
        /// The watch
        watch: String,
        /// Runs at most
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: u32,
        /// Only runs in which something changed
        #[arg(long)]
        changes: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a watch now, besides its schedule
    ///
    /// With --json: {watch, run}. Exit code 1 where the run failed.
    Run {
        /// The watch
        watch: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Pause a watch; its history stays
    Pause {
        /// The watch
        watch: String,
    },
    /// Resume a paused watch
    Resume {
        /// The watch
        watch: String,
    },
    /// Remove a watch and its history
    Rm {
        /// The watch
        watch: String,
    },
}

impl Command {
    pub const fn wants_json(&self) -> bool {
        matches!(
            self,
            Self::Add { json: true, .. }
                | Self::List { json: true }
                | Self::Log { json: true, .. }
                | Self::Run { json: true, .. }
        )
    }
}

pub async fn run(command: Command, global: &Global) -> Result<u8> {
    let (client, _) = daemon::client(global).await?;
    match command {
        Command::Add { recipe, params, every, on, key, name, notify, quiet, login, json } => {
            let mut body =
                json!({"recipe": recipe, "params": pairs(&params)?, "every": every, "on": on});
            let given = [("key", key), ("watch", name), ("quiet_hours", quiet), ("login", login)];
            for (name, it) in given {
                if let Some(it) = it {
                    body[name] = it.into();
                }
            }
            if !notify.is_empty() {
                body["notify"] = notify.into();
            }
            let made = client.post("/api/watches", &body).await?;
            let made = &made["data"];
            if json {
                context::out(made);
                return Ok(0);
            }
            let name = text(&made["watch"]);
            context::line(&format!("{name}: every {}, from now on", text(&made["every"])));
            context::say(&format!(
                "`commis watch log {name}` shows what it saw; it runs while the daemon does"
            ));
        }
        Command::List { json } => {
            let all = client.get("/api/watches").await?;
            let all = &all["data"]["watches"];
            if json {
                context::out(all);
                return Ok(0);
            }
            list(all);
        }
        Command::Log { watch, limit, changes, json } => {
            let path = format!("{}/log?limit={limit}&changes={changes}", path(&watch)?);
            let answer = client.get(&path).await?;
            if json {
                context::out(&answer["data"]);
                return Ok(0);
            }
            show_log(&answer["data"]);
        }
        Command::Run { watch, json } => {
            let answer =
                client.patient().post(&format!("{}/run", path(&watch)?), &json!({})).await?;
            let run = &answer["data"]["run"];
            if json {
                context::out(&answer["data"]);
            } else if answer["data"]["task_id"].is_string() {
                context::say(
                    "the run takes longer and goes on; `commis watch log` shows what came of it",
                );
            } else {
                context::line(&headline(run));
                lines(run);
            }
            return Ok(u8::from(run["outcome"] == "failed"));
        }
        Command::Pause { watch } => {
            client.post(&format!("{}/pause", path(&watch)?), &json!({})).await?;
            context::say(&format!(
                "{watch} is paused; `commis watch resume {watch}` goes on with it"
            ));
        }
        Command::Resume { watch } => {
            let resume = json!({"resume": true});
            let it = client.post(&format!("{}/pause", path(&watch)?), &resume).await?;
            context::say(&format!("{watch} runs next at {}", moment(&it["data"]["next_ms"])));
        }
        Command::Rm { watch } => {
            client.delete(&path(&watch)?).await?;
            context::say(&format!("{watch} is removed, with its history"));
        }
    }
    Ok(0)
}

/// Fails with `USAGE` for what is no name.
fn path(watch: &str) -> Result<String> {
    let name = RecipeName::new(watch.to_owned()).map_err(|_| {
        Error::new(Code::Usage, "this is not the name of a watch")
            .hint("`commis watch list` shows them")
    })?;
    Ok(format!("/api/watches/{name}"))
}

fn list(all: &Value) {
    let all = all.as_array().map(Vec::as_slice).unwrap_or_default();
    if all.is_empty() {
        context::say("nothing is watched; `commis watch add RECIPE --every 1h` adds a watch");
        return;
    }
    let mut table = ruled(["watch", "recipe", "every", "next run", "items", "last run"]);
    for it in all {
        let next = if it["paused"] == true { "paused".to_owned() } else { moment(&it["next_ms"]) };
        table.add_row([
            text(&it["watch"]),
            text(&it["recipe"]),
            text(&it["every"]),
            next,
            it["items"].as_i64().map_or_else(String::new, |it| it.to_string()),
            last(it),
        ]);
    }
    context::line(&table.to_string());
}

/// How the last run went.
fn last(it: &Value) -> String {
    match (it["error_code"].as_str(), it["last_ok_ms"].as_i64()) {
        (Some(code), _) => format!("{code}, {} in a row", it["failures"]),
        (None, Some(at)) => context::moment(at),
        (None, None) => "not yet".to_owned(),
    }
}

fn show_log(data: &Value) {
    let watch = &data["watch"];
    let key = watch["key_found"].as_array().into_iter().flatten().map(text).collect::<Vec<_>>();
    let matched = match key.as_slice() {
        [] => "all that they say".to_owned(),
        all => context::clean(&all.join(" and ")),
    };
    let state = if watch["paused"] == true {
        "paused".to_owned()
    } else {
        format!("next at {}", moment(&watch["next_ms"]))
    };
    let private = if watch["private"] == true { "; an account's, kept here alone" } else { "" };
    context::say(&format!("items are told apart by {matched}; {state}{private}"));
    let runs = data["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
    if runs.is_empty() {
        context::say("it did not run yet");
    }
    for it in runs {
        context::line(&format!("{}  {}", moment(&it["at_ms"]), headline(it)));
        lines(it);
    }
}

/// `changed: 1 added, 2 changed of 20 items`
fn headline(run: &Value) -> String {
    if run.is_null() {
        return "there was no room for the run; it is made soon".to_owned();
    }
    let n = run["runs"].as_i64().unwrap_or(1);
    let times = if n > 1 {
        format!(" ({n} runs, until {})", moment(&run["until_ms"]))
    } else {
        String::new()
    };
    let items = run["items"].as_i64().map_or_else(String::new, |it| format!(" of {it} items"));
    match run["outcome"].as_str().unwrap_or_default() {
        "first" => format!("first answer:{}", items.strip_prefix(" of").unwrap_or(" no items")),
        "changed" => {
            let counts = ["added", "removed", "changed"]
                .iter()
                .filter_map(|it| run[*it].as_i64().filter(|n| *n > 0).map(|n| format!("{n} {it}")));
            format!("changed: {}{items}", counts.collect::<Vec<_>>().join(", "))
        }
        "failed" => context::clean(&format!(
            "failed: {} [{}]{times}",
            text(&run["error"]),
            text(&run["error_code"])
        )),
        "empty" => {
            format!("no items, and no proof that there are none: compared with nothing{times}")
        }
        it => format!("{it}{times}"),
    }
}

fn lines(run: &Value) {
    for it in run["changes"].as_array().into_iter().flatten() {
        let item = text(&it["item"]).replace('\n', ", ");
        let line = match it["kind"].as_str() {
            Some("changed") => {
                format!(
                    "{item}: {} {} -> {}",
                    text(&it["path"]),
                    text(&it["old"]),
                    text(&it["new"])
                )
            }
            Some(kind) => format!("{kind}: {item}"),
            None => continue,
        };
        let line: String = context::clean(&line).chars().take(200).collect();
        context::line(&format!("    {line}"));
    }
}

fn moment(it: &Value) -> String {
    context::moment(it.as_i64().unwrap_or(0))
}

fn text(it: &Value) -> String {
    match it {
        Value::String(it) => it.clone(),
        Value::Null => "nothing".to_owned(),
        it => it.to_string(),
    }
}
