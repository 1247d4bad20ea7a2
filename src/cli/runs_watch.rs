//! `commis do watch`: runs with a model as they go on, from what they write of themselves; it needs no daemon that answers.

use std::{io::IsTerminal as _, time::Duration};

use indicatif::{MultiProgress, ProgressBar};
use serde_json::{Value, json};

use super::{Global, context, follow_task, runs};
use commis_agent::runs::{RunRecord, RunStatus, StoredRun};
use commis_base::{
    error::{Code, Error, Result},
    settings::Home,
};
use commis_state::now_ms;

/// Between two looks.
const EVERY: Duration = Duration::from_millis(250);

/// Follow runs with a model until they end
///
/// Without a run it follows all running ones. Exit code 0: all were done; 1: one was not.
#[derive(clap::Args)]
pub struct Args {
    /// As `commis do runs` lists it
    run: Option<String>,
    /// Print a line of JSON for what happens, for each change of what a run does, and for its end
    #[arg(long)]
    pub json: bool,
}

struct WatchedRun {
    id: String,
    /// Lines that were told.
    told: usize,
    pulse: Value,
    bar: Option<ProgressBar>,
    ended: Option<RunStatus>,
}

/// How it is shown.
struct WatchOutput {
    json: bool,
    bars: Option<MultiProgress>,
    /// Of several each line says of which it is.
    many: bool,
}

impl WatchOutput {
    fn line(&self, id: &str, text: &str) {
        let text = context::clean(text);
        let text = if self.many { format!("{id} {text}") } else { text };
        match &self.bars {
            // A terminal that is gone shows nothing.
            Some(it) => _ = it.println(text),
            None => context::line(&text),
        }
    }
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let home = context::home(global)?;
    let ids = if let Some(it) = args.run {
        vec![it]
    } else {
        let all = runs::all(&home)?.runs;
        let open = all.iter().filter(|it| it.status.is_open());
        let open: Vec<String> = open.map(|it| it.run.clone()).collect();
        if open.is_empty() {
            match all.first() {
                Some(it) => {
                    context::say(&context::clean(&format!("nothing runs now; {}", end(it))));
                }
                None => context::say("nothing runs now, and no run is kept"),
            }
            return Ok(0);
        }
        open
    };
    let terminal = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
    let bars = (terminal && !args.json).then(MultiProgress::new);
    let shown = WatchOutput { json: args.json, bars, many: ids.len() > 1 };
    let mut all: Vec<WatchedRun> = ids.into_iter().map(|id| watched(id, &shown)).collect();
    let looked = async {
        loop {
            for it in all.iter_mut().filter(|it| it.ended.is_none()) {
                print_news(&home, it, &shown)?;
            }
            if all.iter().all(|it| it.ended.is_some()) {
                return Ok(());
            }
            tokio::time::sleep(EVERY).await;
        }
    };
    let over: Result<()> = tokio::select! {
        it = looked => it,
        () = context::interrupted() => Err(Error::new(Code::Interrupted, "interrupted").hint("the runs continue")),
    };
    for it in all.iter().filter_map(|it| it.bar.as_ref()) {
        it.finish_and_clear();
    }
    over?;
    let well = |it: &WatchedRun| matches!(it.ended, Some(RunStatus::Done | RunStatus::DryRun));
    Ok(u8::from(!all.iter().all(well)))
}

fn watched(id: String, shown: &WatchOutput) -> WatchedRun {
    let bar = shown.bars.as_ref().map(|it| {
        let bar = it.add(ProgressBar::new_spinner());
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    });
    WatchedRun { id, told: 0, pulse: Value::Null, bar, ended: None }
}

/// Tells what is new of one. Fails with `TASK_NOT_FOUND` and `ARTIFACT_IO`.
fn print_news(home: &Home, it: &mut WatchedRun, shown: &WatchOutput) -> Result<()> {
    let StoredRun { record, lines, unread } = runs::load_run(home, &it.id)?;
    for line in lines.iter().skip(it.told) {
        if shown.json {
            let event = json!({"event": "happened", "run": it.id, "at_ms": line["at_ms"], "what": line["what"]});
            context::event(&event.to_string());
        } else if let Some(text) = follow_task::event_line(&line["what"]) {
            shown.line(&it.id, &text);
        }
    }
    it.told = it.told.max(lines.len());
    let pulse = json!([record.now, record.turns, record.status]);
    if shown.json && pulse != it.pulse {
        context::event(&json!({"event": "pulse", "run": it.id, "record": record}).to_string());
        it.pulse = pulse;
    }
    if let Some(bar) = &it.bar {
        bar.set_message(context::clean(&pulse_line(&record)));
    }
    if record.status.is_open() {
        return Ok(());
    }
    if shown.json {
        let event = json!({"event": "ended", "run": it.id, "record": record, "unread": unread});
        context::event(&event.to_string());
    } else {
        shown.line(&it.id, &end(&record));
        runs::print_unread(&unread);
    }
    if let Some(bar) = &it.bar {
        bar.finish_and_clear();
    }
    it.ended = Some(record.status);
    Ok(())
}

/// `turn 3 · click button "Search" · 4 s · 8200 tokens · http://…`
fn pulse_line(it: &RunRecord) -> String {
    let now = now_ms();
    let silent = it.silent_s(now);
    let waits = it.status == RunStatus::WaitingForApproval;
    let mut out = vec![
        it.run.clone(),
        format!("turn {}", it.turns),
        if waits { "waits for your approval".to_owned() } else { it.now.clone() },
        format!("{} s", (now - it.since_ms).max(0) / 1000),
        format!("{} tokens", it.tokens()),
        it.page.clone(),
    ];
    if !waits && silent >= 5 {
        out.push(format!("no sign for {silent} s"));
    }
    out.join(" · ")
}

/// What a run came to.
fn end(it: &RunRecord) -> String {
    let mark = if it.status == RunStatus::Done { "✓" } else { "✗" };
    let reason = it.reason.as_deref().unwrap_or_default();
    let detail = it.detail.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
    let at = match (&it.status, &it.last_action) {
        (RunStatus::Done, _) | (_, None) => String::new(),
        (_, Some(action)) => format!("; last action: {action}, on {}", it.page),
    };
    format!(
        "{mark} {} {} ({reason}{detail}; {} turns, {} tokens, {} ms){at}",
        it.run,
        it.status.as_str(),
        it.turns,
        it.tokens(),
        it.ms
    )
}
