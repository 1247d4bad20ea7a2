//! `commis recipe try`

use std::{path::PathBuf, sync::Arc};

use serde_json::{Value, json};

use super::{Global, context, debug::failure, printable};
use commis_artifacts::recording::{FinalPage, ShownBlock};
use commis_base::{
    error::{Code, Error, Result},
    settings::Display,
};
use commis_browser::{
    Browser, Context, Plan, RecordingEvent, RequestSummary, find_visible_chromium,
};
use commis_learn::{DriveError, LearnContext, Source, Task};
use commis_redact::raw::RawRecording;

/// Requests that are listed for each step.
const MAX_REQUESTS: usize = 12;

/// Run the steps of a task and report each one, without learning
///
/// For each step it prints its duration, its element and its requests, then what the last page shows.
/// If a step fails, it prints what the step saw, as `recipe debug` does, and stores it with the task.
///
/// With --json: {success, steps, page}; a step has `step`, `ms`, `took` and `requests`, the page `blocks` with `items`, `fields`
/// and their `first` item. Where a step failed, `error_code`, `error`, `hint` and `failure` instead of the page.
///
/// Examples:
///   commis recipe try mine.yaml --only example-search
///   commis recipe try mine.yaml --only example-search --example 2 --headed
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The manifest (YAML)
    manifest: PathBuf,
    /// The task to try; optional if the manifest has one task
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Which of its examples, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    example: u8,
    /// Show the window, which stays open until Ctrl-C
    #[arg(long)]
    headed: bool,
    /// Type values that look like secrets, and do not store them
    #[arg(long)]
    allow_task_secrets: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let tasks = commis_batch::load(&args.manifest, args.allow_task_secrets)?.tasks;
    let task = choose_task(&tasks, args.only.as_deref())?;
    let example = usize::from(args.example) - 1;
    if example > 0 && example >= task.examples.len() {
        let many = task.examples.len();
        return Err(Error::new(Code::Usage, format!("the task has {many} examples")));
    }
    let Source::Live { url, steps, .. } = &task.source else {
        return Err(Error::new(Code::Usage, "the task is learned from a HAR; it has no steps"));
    };
    let place = context::open(global).await?;
    let cx = context::learning(&place, None, std::time::Duration::ZERO, Box::new(|_, _| ()))?;
    let plan = commis_learn::plan(task, url, steps, example, &cx)?;
    let its = Arc::clone(&cx);
    let work = move || async move {
        let mut teller = StepReporter { json: args.json, steps: Vec::new() };
        let (end, context, window) =
            driven(&its, (&plan, example), args.headed, &mut teller).await?;
        let end = end.map(|raw| commis_redact::redact(raw, &its.settings.redact).recording.page);
        Ok((end, context, window, teller))
    };
    let hint = "the same command drives the steps from the start";
    let (end, context, window, teller) = context::run_interruptible(hint, work).await?;
    let code = match end {
        Ok(page) => {
            teller.page(&page);
            0
        }
        Err(stopped) => teller.stopped(stopped, task, &cx)?,
    };
    // With it its page goes.
    let page = context;
    if let Some(browser) = window {
        if !args.json {
            context::say("the window stays open; Ctrl-C closes it");
            context::interrupted().await;
        }
        // It is going away either way.
        let _ = browser.close().await;
    }
    drop(page);
    cx.browser.close().await;
    Ok(code)
}

fn choose_task<'a>(tasks: &'a [Task], only: Option<&str>) -> Result<&'a Task> {
    let names = || tasks.iter().map(|it| it.name.as_str()).take(20).collect::<Vec<_>>().join(", ");
    match (only, tasks) {
        (Some(name), all) => all.iter().find(|it| it.name.as_str() == name).ok_or_else(|| {
            let name = context::clean(name);
            Error::new(Code::Usage, format!("the manifest has no task `{name}`"))
                .hint(format!("it has {}", names()))
        }),
        (None, [one]) => Ok(one),
        (None, _) => {
            Err(Error::new(Code::Usage, "the manifest has several tasks, and none is named")
                .hint(format!("name one with --only: {}", names())))
        }
    }
}

type DriveResult = (std::result::Result<RawRecording, DriveError>, Context, Option<Browser>);

/// In a window, or in a browser without one. A window outlives the steps.
async fn driven(
    cx: &LearnContext,
    plan: (&Plan, usize),
    headed: bool,
    teller: &mut StepReporter,
) -> Result<DriveResult> {
    let mut window = None;
    let mut context = if headed {
        let settings = &cx.settings.browser;
        let display = Display::find()?;
        let exe = find_visible_chromium(settings.path.as_deref())?;
        let policy = std::sync::Arc::clone(&cx.policy);
        let browser = Browser::launch_visible(&exe, policy, settings, &display).await?;
        let context = browser.context().await?;
        window = Some(browser);
        context
    } else {
        cx.browser.context().await?
    };
    let mut told = |it: RecordingEvent| teller.report(it);
    let redact = &cx.settings.redact;
    let end = commis_learn::drive(&mut context, plan, redact, &mut told, || ()).await;
    Ok((end, context, window))
}

/// Says what is done, or gathers it.
struct StepReporter {
    json: bool,
    steps: Vec<Value>,
}

impl StepReporter {
    fn report(&mut self, it: RecordingEvent) {
        match it {
            RecordingEvent::Step { what, ms, took } => {
                let (what, took) = (printable(&what), took.as_deref().map(printable));
                if !self.json {
                    let took = took.as_ref().map(|it| format!(" → {it}")).unwrap_or_default();
                    context::line(&format!("✓ {what}  {ms} ms{took}"));
                }
                self.steps.push(json!({"step": what, "ms": ms, "took": took, "requests": []}));
            }
            RecordingEvent::Requests(all) => {
                let told: Vec<String> = all.iter().map(request).collect();
                if !self.json {
                    let data = all.iter().filter(|it| it.is_data).take(MAX_REQUESTS).map(request);
                    let data: Vec<String> = data.collect();
                    for it in &data {
                        context::line(&format!("    {it}"));
                    }
                    let more = told.len() - data.len();
                    if more > 0 {
                        context::line(&format!(
                            "    and {more} others: pictures, scripts and the like"
                        ));
                    }
                }
                if let Some(last) = self.steps.last_mut()
                    && let Some(list) = last["requests"].as_array_mut()
                {
                    list.extend(told.into_iter().map(Value::from));
                }
            }
        }
    }

    fn page(&self, page: &FinalPage) {
        if self.json {
            let blocks: Vec<Value> = page.shown.iter().map(block).collect();
            let page = json!({"url": page.url, "title": page.title, "blocks": blocks});
            context::out(&json!({"success": true, "steps": self.steps, "page": page}));
            return;
        }
        context::line(&context::clean(&format!("\nthe page: {} — {}", page.title, page.url)));
        if page.shown.is_empty() {
            context::line("  it shows no lists, tables or records");
        }
        for it in &page.shown {
            context::line(&context::clean(&describe_block(it)));
        }
    }

    fn stopped(&self, stopped: DriveError, task: &Task, cx: &LearnContext) -> Result<u8> {
        // Somebody may be learning it: then it is told, and not kept.
        let failure = stopped.seen.as_ref().map(|it| it.0.clone());
        let (err, kept) = match cx.store.task(&task.id) {
            Ok(folder) => (stopped.keep(&folder), folder.failure()?),
            Err(_) => (stopped.err, None),
        };
        let seen = failure.map(|it| (it, kept.and_then(|it| it.1)));
        if !self.json {
            let (message, hint) = (printable(&err.to_string()), err.hint_text().map(printable));
            context::line(&format!("✗ {message} [{}]", err.code()));
            if let Some(hint) = hint {
                context::line(&format!("  hint: {hint}"));
            }
            if let Some((failure, picture)) = &seen {
                failure::print(failure, picture.as_deref());
            }
            return Ok(err.code().class().exit_code());
        }
        context::out(&json!({
            "success": false,
            "error_code": err.code().as_str(),
            "error": printable(&err.to_string()),
            "hint": err.hint_text().map(printable),
            "steps": self.steps,
            "failure": seen.as_ref().map(failure::as_json),
        }));
        Ok(err.code().class().exit_code())
    }
}

fn request(it: &RequestSummary) -> String {
    let status = it.status.map_or_else(|| "…".to_owned(), |it| it.to_string());
    let url: String = printable(&it.url).chars().take(200).collect();
    format!("{} {url} {status}", it.method)
}

fn block(it: &ShownBlock) -> Value {
    json!({
        "items": it.count, "fields": it.fields, "heading": it.heading, "is_record": it.is_record,
        "first": it.rows.first(),
    })
}

/// `12 items × 3 columns (name, price, url) under "Results"`, and the first of them.
fn describe_block(it: &ShownBlock) -> String {
    let cut = |it: &str| it.chars().take(60).collect::<String>().replace('\n', " ");
    let fields = it.fields.iter().map(|it| cut(it)).collect::<Vec<_>>().join(", ");
    let under = it.heading.as_ref().map(|it| format!(" under {:?}", cut(it))).unwrap_or_default();
    let many = if it.is_record { "one record".to_owned() } else { format!("{} items", it.count) };
    let first = it.rows.first().map(|row| {
        let cells = row.iter().map(|it| it.as_deref().map_or("–".to_owned(), cut));
        format!("\n    {}", cells.collect::<Vec<_>>().join(" | "))
    });
    format!("  {many} × {} columns ({fields}){under}{}", it.fields.len(), first.unwrap_or_default())
}
