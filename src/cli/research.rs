//! `commis research`: questions on a topic, answered by recipes and by browsing, and a report whose every sentence names its source.

use serde_json::{Value, json};

use super::{Global, context, daemon, follow_task};
use commis_agent::research::{ResearchReport, ResearchStatus, markdown};
use commis_base::error::{Code, Error, Result};

/// Research a topic: questions answered by recipes and by browsing, then a report with a source for every sentence
///
/// A model splits the topic into at most --max-searches questions, or --question gives them. If a recipe clearly matches a
/// question, it answers. Otherwise the model browses the sites of --url and --host, reading only. Each sentence of the report
/// must be supported by a fetched source; other sentences are left out and listed. --resume does only the remaining questions.
/// Exit code 0: all questions are done. 1: nothing was found, a question is open, or the model did not answer. 2: configuration. 3:
/// the daemon does not answer. 130: interrupted.
///
/// Example: commis research "Books about Rust, and what they cost" --url http://library.test/ --max-searches 3
#[derive(clap::Args)]
pub struct Args {
    /// What it is about, in a sentence
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    topic: Option<String>,
    /// Resume a research by its id
    #[arg(long, value_name = "ID", conflicts_with_all = ["questions", "urls", "hosts"])]
    resume: Option<String>,
    /// A question, instead of questions of the model. Repeatable
    #[arg(long = "question", value_name = "TEXT")]
    questions: Vec<String>,
    /// At most N questions of the model
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    max_searches: u32,
    /// A start page for browsing. Repeatable; without any, only recipes answer
    #[arg(long = "url")]
    urls: Vec<String>,
    /// Another host that pages may open. Repeatable
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// `PROVIDER/NAME`, or a name that begins with claude-, gpt- or gemini- [env: COMMIS_MODEL]
    #[arg(long)]
    model: Option<String>,
    /// At most N calls of the model for a question
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=50))]
    max_turns: u32,
    /// At most N minutes for this run
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=60))]
    max_minutes: u32,
    /// At most N calls of the model; this and the next two count over all runs of the research
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=500))]
    max_calls: u32,
    /// At most N tokens, in and out together
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// At most this cost, in the currency of the settings' prices
    #[arg(long, value_name = "N")]
    max_cost: Option<f64>,
    /// Print questions, report, sources and cost as JSON instead of Markdown
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let (client, _) = daemon::client(global).await?;
    let client = client.patient();
    let mut body = json!({
        "max_searches": args.max_searches, "model": args.model, "max_turns": args.max_turns,
        "max_minutes": args.max_minutes, "max_calls": args.max_calls, "max_tokens": args.max_tokens,
        "max_cost": args.max_cost, "topic": args.topic, "resume": args.resume,
    });
    if args.resume.is_none() {
        body["questions"] = json!(args.questions);
        body["urls"] = json!(args.urls);
        body["hosts"] = json!(args.hosts);
    }
    let task = client.begin("/api/research", &body).await?;
    let id = task["data"]["task_id"].as_str().unwrap_or_default().to_owned();
    let mut research = args.resume.clone();
    let mut tell = |it: &Value| {
        if let Some(it) = it["research"].as_str() {
            research = Some(context::clean(it));
        }
        line(it)
    };
    let done = tokio::select! {
        it = follow_task::follow_with(&client, &id, false, &mut tell) => Some(it),
        () = context::interrupted() => None,
    };
    let Some(done) = done else {
        client.post(&format!("/api/tasks/{id}/cancel"), &json!({})).await?;
        let err = Error::new(Code::Interrupted, "interrupted");
        return Err(match &research {
            Some(it) => err.hint(format!(
                "what was done is kept: `commis research --resume {it}` does the rest"
            )),
            None => err,
        });
    };
    let done = done?;
    let failed =
        |err| Error::new(Code::DaemonFailed, "the daemon's answer is not JSON").source(err);
    let told: ResearchReport = serde_json::from_value(done.clone()).map_err(failed)?;
    if args.json {
        context::out(&done);
    } else {
        context::line(context::clean(&markdown(&told)).trim_end());
    }
    let usage = told.usage;
    let cost = told.cost.map(|it| format!(", cost {it:.6}")).unwrap_or_default();
    context::say(&format!(
        "research {}: {} questions, {} sentences, {} left out, {} sources; {} calls, {} tokens in, {} out{cost}, {} ms",
        told.id,
        told.questions.len(),
        told.report.len(),
        told.left_out.len(),
        told.sources.len(),
        usage.calls,
        usage.tokens_in,
        usage.tokens_out,
        told.ms
    ));
    Ok(u8::from(told.status != ResearchStatus::Done))
}

/// What happened, as one line.
fn line(it: &Value) -> Option<String> {
    let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let n = &it["question"];
    Some(match it["kind"].as_str()? {
        "begin" => format!("research {}", text("research")),
        "plan" => format!("{} questions", it["questions"].as_array().map_or(0, Vec::len)),
        "question" => format!("[{n}] {}", text("text")),
        "act" => format!("[{n}]   {}", text("act")),
        "answered" => {
            let by = match (it["recipe"].as_str(), it["by"].as_str()) {
                (Some(name), _) => format!(" by recipe {name}"),
                (None, Some(by)) => format!(" by {by}"),
                _ => String::new(),
            };
            let why = it["why"].as_str().map(|it| format!(": {it}")).unwrap_or_default();
            let sources = it["sources"].as_array().map_or(0, Vec::len);
            format!("[{n}] {}{by}, {sources} sources{why}", text("status"))
        }
        _ => return None,
    })
}
