//! Keeps what is done on a desk: a line of the session for each act, on disk before the act is answered.

use std::time::Instant;

use serde_json::Value;

use super::{
    Command, CommandOutput, PageController, ReplayOptions, ReplayOutcome, ScrollDirection,
    SnapshotOptions, Target, WaitCondition, prompt_injection, text_sanitizer::cut,
};
use crate::sessions::{
    Manifest, SessionAction, SessionRecorder,
    fingerprint::Fingerprint,
    network_expectations::{RequestTap, SentRequest},
};
use commis_base::error::{Code, Error, Result};

/// Characters of what a page shows that are kept.
const SEEN: usize = 20_000;
/// Places of a page that instruct their reader and are named in the findings.
const QUARANTINED: usize = 5;

/// The point of an element that is meant, as a line of a session has it.
fn point(of: &Target) -> Option<String> {
    of.offset().map(|(x, y)| format!("at {x},{y}"))
}

/// As `commis browse` calls it, and what it takes besides an element; `None` for what only reads.
fn act(command: &Command) -> Option<(&'static str, Option<String>)> {
    Some(match command {
        Command::Goto(url) => ("goto", Some(url.clone())),
        Command::Back => ("back", None),
        Command::Forward => ("forward", None),
        Command::Reload => ("reload", None),
        Command::Click(it) => ("click", point(it)),
        Command::DoubleClick(it) => ("dblclick", point(it)),
        Command::Hover(it) => ("hover", point(it)),
        Command::Drag(..) => ("drag", None),
        Command::Fill(_, value) => ("fill", Some(value.clone())),
        Command::Type(text) => ("type", Some(text.clone())),
        Command::Press(key) => ("press", Some(key.clone())),
        Command::Select(_, value) => ("select", Some(value.clone())),
        Command::Unselect(_, value) => ("unselect", Some(value.clone())),
        Command::Check(_) => ("check", None),
        Command::Uncheck(_) => ("uncheck", None),
        Command::Focus(_) => ("focus", None),
        Command::ScrollTo(_) => ("scroll_to", None),
        Command::Scroll(way) | Command::ScrollIn(_, way) => {
            ("scroll", Some(way.as_str().to_owned()))
        }
        Command::NewTab(url) => ("newtab", url.clone()),
        Command::Tab(it) => ("tab", Some(it.to_string())),
        Command::CloseTab(it) => ("closetab", it.map(|it| it.to_string())),
        Command::Wait(WaitCondition::Text(it)) => ("wait_text", Some(it.clone())),
        Command::Wait(WaitCondition::Selector(it)) => ("wait_selector", Some(it.clone())),
        Command::Dialog(accept, text) => {
            let answer = if *accept { "accept" } else { "dismiss" };
            let text = text.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
            ("dialog", Some(format!("{answer}{text}")))
        }
        _ => return None,
    })
}

/// What those who look on are told that it is.
pub(super) fn called(command: &Command) -> &'static str {
    match command {
        Command::Snapshot { .. } => "snapshot",
        Command::Screenshot(_) => "screenshot",
        Command::Text(_) => "text",
        Command::Html(_) => "html",
        Command::Wait(WaitCondition::Passed(_)) => "wait",
        Command::Download(..) | Command::DownloadFrom(..) => "download",
        Command::Emulate(_) => "emulate",
        Command::Pdf => "pdf",
        it => act(it).map_or("a look", |it| it.0),
    }
}

/// The command that a line of a session stands for, on that element.
pub(super) fn command(
    line: &SessionAction,
    on: Option<Target>,
    value: Option<String>,
) -> Result<Command> {
    let wrong = |what: &str| {
        Error::new(Code::StepFailed, format!("action {}: {} {what}", line.n, line.command))
    };
    let at = || on.clone().ok_or_else(|| wrong("has no element that can be found again"));
    let text = || value.clone().ok_or_else(|| wrong("took a value that was kept nowhere"));
    let aimed = || -> Result<Target> {
        let (x, y) = match value.as_deref().and_then(|it| it.strip_prefix("at ")?.split_once(',')) {
            Some((x, y)) => (x.parse(), y.parse()),
            None => return at(),
        };
        let (Ok(x), Ok(y)) = (x, y) else { return Err(wrong("names no point")) };
        Ok(Target::At(Box::new(at()?), (x, y)))
    };
    let number = |it: String| it.parse::<u32>().map_err(|_| wrong("names no tab"));
    Ok(match &*line.command {
        "goto" => Command::Goto(text()?),
        "back" => Command::Back,
        "forward" => Command::Forward,
        "reload" => Command::Reload,
        "click" => Command::Click(aimed()?),
        "dblclick" => Command::DoubleClick(aimed()?),
        "hover" => Command::Hover(aimed()?),
        "fill" => Command::Fill(at()?, text()?),
        "type" => Command::Type(text()?),
        "press" => Command::Press(text()?),
        "select" => Command::Select(at()?, text()?),
        "unselect" => Command::Unselect(at()?, text()?),
        "check" => Command::Check(at()?),
        "uncheck" => Command::Uncheck(at()?),
        "focus" => Command::Focus(at()?),
        "scroll_to" => Command::ScrollTo(at()?),
        "scroll" => {
            let way = ScrollDirection::parse(&text()?).unwrap_or(ScrollDirection::Down);
            on.clone().map_or(Command::Scroll(way), |it| Command::ScrollIn(it, way))
        }
        "newtab" => Command::NewTab(value.clone()),
        "tab" => Command::Tab(number(text()?)?),
        "closetab" => Command::CloseTab(value.clone().map(number).transpose()?),
        "wait_text" => Command::Wait(WaitCondition::Text(text()?)),
        "wait_selector" => Command::Wait(WaitCondition::Selector(text()?)),
        "dialog" => {
            let it = text()?;
            let (answer, text) = it.split_once(' ').map_or((&*it, None), |it| (it.0, Some(it.1)));
            Command::Dialog(answer == "accept", text.map(str::to_owned))
        }
        _ => return Err(wrong("cannot be done again")),
    })
}

impl PageController {
    /// Opens the page and keeps what is done from then on; what was kept before has ended.
    pub async fn record(&mut self, it: SessionRecorder, url: &str) -> Result<Manifest> {
        self.is_free()?;
        self.keep(it, true).await?;
        self.run(Command::Goto(url.to_owned())).await?;
        self.keep
            .as_ref()
            .map(|it| it.manifest().clone())
            .ok_or_else(|| Error::new(Code::Internal, "nothing is kept"))
    }

    /// Ends what was kept before, and keeps from here on; with traffic of its own where that is `anew`.
    async fn keep(&mut self, mut it: SessionRecorder, anew: bool) -> Result<()> {
        if self.keep.is_some() {
            self.end().await?;
        }
        if anew {
            self.context.listen()?;
        }
        self.on_disk = 0;
        {
            let shared = self.shared();
            let mut state = shared.lock();
            (state.is_kept, state.tap) = (true, None);
        }
        it.seen_in(self.context.producer(), self.window().await);
        if self.login.is_some() {
            it.behind_a_login();
        }
        self.keep = Some(it);
        self.tell_session();
        Ok(())
    }

    /// Does those actions again and keeps what is done from then on, as a session that begins with them. What was kept before has
    /// ended. Nothing is begun where one of them could not be done.
    pub async fn fork(
        &mut self,
        lines: &[SessionAction],
        how: &ReplayOptions,
        begin: impl FnOnce() -> Result<SessionRecorder>,
    ) -> Result<Manifest> {
        let done = self.replay(lines, how).await?;
        if let Some(it) = done
            .iter()
            .find(|it| matches!(it.outcome, ReplayOutcome::Refused | ReplayOutcome::Differs))
        {
            let why = it.why.as_deref().unwrap_or_default();
            return Err(Error::new(Code::StepFailed, format!("action {}: {why}", it.n))
                .hint("run `session replay` for details, or fork at an earlier action"));
        }
        let mut begun = begin()?;
        for line in lines.iter().filter(|it| it.failed.is_none()) {
            // Its requests were another session's.
            begun.add(SessionAction { traffic: None, ..line.clone() })?;
        }
        let manifest = begun.manifest().clone();
        self.keep(begun, false).await?;
        Ok(manifest)
    }

    /// Which session it is kept in, for those who look on.
    pub(super) fn tell_session(&self) {
        let id = self.keep.as_ref().map(|it| it.manifest().id.clone());
        self.feed.iter().for_each(|it| it.stand(|it| it.session.clone_from(&id)));
    }

    /// Does it, and keeps it where that is asked for.
    pub(super) async fn run_recorded(&mut self, command: Command) -> Result<CommandOutput> {
        let Some((name, value)) = act(&command).filter(|_| self.keep.is_some()) else {
            return self.answer(command).await;
        };
        self.touched = None;
        // What timers of the act before have begun since.
        let between = self.shared().lock().tap.replace(RequestTap::default());
        let between = self.requests(between);
        let url_before = self.url().await.unwrap_or_default();
        self.shorten().await?;
        let noted = (self.requested(), self.steps.len(), self.lost.len());
        let begun = Instant::now();
        let done = self.answer(command).await;
        let tap = self.shared().lock().tap.replace(RequestTap::default());
        let element = self.touched.take();
        let secret = value.as_ref().is_some_and(|it| self.is_secret(element.as_ref(), it));
        let (steps, undone, lost) = self.noted_since(noted.1, noted.2, secret);
        let line = SessionAction {
            n: 0,
            traffic: Some([noted.0, self.requested()]).filter(|it| it[0] < it[1]),
            steps,
            undone,
            lost,
            command: name.to_owned(),
            element,
            value: value.filter(|_| !secret),
            secret,
            url_before: self.without_secrets(url_before),
            url_after: self.without_secrets(self.url().await.unwrap_or_default()),
            ms: begun.elapsed().as_millis() as u64,
            requests: self.requests(tap),
            between,
            changed: done
                .as_ref()
                .ok()
                .and_then(|it| it.effect.as_ref())
                .is_some_and(|it| it.dom_changed),
            failed: done.as_ref().err().map(|it| it.code().as_str().to_owned()),
        };
        let led = done
            .as_ref()
            .map_or(true, |it| it.effect.as_ref().is_some_and(|it| it.navigated.is_some()));
        let here = if led || secret { self.document().await } else { None };
        if let Some(keep) = self.keep.as_mut().filter(|_| secret) {
            keep.secret_in.clone_from(&here);
        }
        let wanted = |it: &SessionRecorder| it.wants_picture() && it.secret_in != here;
        let drawn = led && here.is_some() && self.keep.as_ref().is_some_and(wanted);
        let seen = if led { self.snapshot_text().await } else { None };
        // Why there is none is no news: most often a page shows what looks like a secret.
        let picture = if drawn { self.picture().await.ok() } else { None };
        if let Some(keep) = &mut self.keep {
            keep.add(line)?;
            if let Some(it) = seen {
                keep.snapshot(&it)?;
                for line in
                    it.lines().filter(|it| it.contains(prompt_injection::MARK)).take(QUARANTINED)
                {
                    keep.find(&format!("quarantined: {}", cut(line.trim(), 200)));
                }
            }
            if let Some(it) = picture {
                keep.picture(&it)?;
            }
            if let Ok(CommandOutput { effect: Some(effect), .. }) = &done {
                effect.refused.iter().for_each(|it| keep.find(it));
            }
        }
        done
    }

    /// What the page shows; nobody's last snapshot is another for it.
    pub(super) async fn snapshot_text(&mut self) -> Option<String> {
        let shown = self.shown.clone();
        let wish = SnapshotOptions { max_chars: Some(SEEN), ..SnapshotOptions::default() };
        // A page that goes away shows nothing.
        let said = self.snapshot(&wish, false, None).await.ok();
        self.shown = shown;
        said.map(|it| self.without_secrets(it.text))
    }

    /// Requests so far.
    fn requested(&self) -> u32 {
        self.on_disk + self.shared().lock().recorder.as_ref().map_or(0, |it| it.requests() as u32)
    }

    /// What became of the steps of a task: those that were added, how many were taken back, and what cannot be one.
    fn noted_since(
        &self,
        steps: usize,
        lost: usize,
        secret: bool,
    ) -> (Vec<Value>, u32, Vec<String>) {
        let undone = steps.saturating_sub(self.steps.len()) as u32;
        let new = self.steps.iter().skip(steps).filter_map(|it| serde_json::to_value(it).ok());
        let new: Vec<Value> = new.collect();
        let mut lost: Vec<String> =
            self.lost.iter().skip(lost).map(|it| commis_redact::message(it)).collect();
        // A step names its element and its value as they are.
        if new.iter().any(|it| secret || self.tells_secret(it)) {
            lost.push("a step that holds what looks like a secret".to_owned());
            return (Vec::new(), undone, lost);
        }
        (new, undone, lost)
    }

    fn tells_secret(&self, it: &Value) -> bool {
        match it {
            Value::String(it) => {
                commis_redact::redact_written(it) != *it || self.without_secrets(it.clone()) != *it
            }
            Value::Array(all) => all.iter().any(|it| self.tells_secret(it)),
            Value::Object(all) => all.values().any(|it| self.tells_secret(it)),
            _ => false,
        }
    }

    /// What was typed and is secret is not repeated by what a page makes of it.
    pub(super) fn without_secrets(&self, text: String) -> String {
        self.shared().lock().masked(text)
    }

    pub(super) fn requests(&self, tap: Option<RequestTap>) -> Vec<SentRequest> {
        let mut out = tap.map_or_else(Vec::new, |it| it.sent);
        for it in &mut out {
            it.path = self.without_secrets(std::mem::take(&mut it.path));
            for value in it.parameters.values_mut() {
                *value = self.without_secrets(std::mem::take(value));
            }
        }
        out
    }

    fn is_secret(&self, element: Option<&Fingerprint>, value: &str) -> bool {
        let name = element.map_or("", |it| &it.name);
        let password =
            element.and_then(|it| it.attributes.get("type")).is_some_and(|it| it == "password");
        password
            || commis_redact::typed_secret(name, value).is_some()
            || commis_redact::message(value) != value
            || self.shared().lock().secrets.iter().any(|it| it.as_str() == value)
    }
}

impl Drop for PageController {
    /// A page that is closed while it is recorded ends its session.
    fn drop(&mut self) {
        if let Some(it) = &mut self.keep {
            it.find("the page was closed before the session was ended");
            // Where the disk refuses, it stays as a crash leaves it.
            let _ = self.end_now();
        }
    }
}
