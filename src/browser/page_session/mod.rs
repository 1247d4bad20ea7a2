//! A page that stays: commands one after the other, each with what it did, on what a snapshot showed.

mod acts;
mod annotated_screenshot;
mod clickable;
mod event_stream;
mod evidence;
mod handoff;
mod hidden_text;
mod login;
mod picture;
mod prints;
mod privileged;
mod queries;
mod refs;
mod replay;
mod replay_model;
mod request_approval;
mod session_recording;
mod single_element;
mod snapshot;
mod state;
mod tabs;
mod target;
mod target_resolution;
mod traffic;
mod tree;
mod untrusted_text;
mod volatile_text;

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;

pub use self::{
    privileged::UploadFile,
    replay_model::{ReplayOptions, ReplayOutcome, ReplayedAction},
    snapshot::SnapshotOptions,
    state::ElementStateQuery,
    tabs::{ColorScheme, DevicePreset, EmulationOptions},
    target::Target,
};
use self::{
    refs::RefTable,
    target_resolution::{ReachableTarget, ResolvedTarget},
    tree::{FrameTree, Item},
};
use super::{
    aim::{self, PointerTarget, PressCheck},
    context::Context,
    context_state::{ContextInner, ContextState},
    effect,
    element::Element,
    event_log::EventLogWriter,
    guard,
    log_buffer::LogKind,
    page,
    plan::{DialogAnswer, Step},
    prompt_injection,
    recorder::Recorder,
    sessions::{SessionRecorder, fingerprint::Fingerprint},
    text_sanitizer::{self, cut, plain, quoted},
};
pub use super::{
    effect::Effect,
    event_stream::{EventKind, Feed, PageStatus},
};
use commis_base::error::{Code, Error, Result};
use commis_vault::LoginName;

/// How long what an act set off is waited for, and how long there has to be no news.
const SETTLE: Duration = Duration::from_secs(5);
const QUIET: Duration = Duration::from_millis(40);
/// A page may go on loading so long before the next command.
const LOAD: Duration = Duration::from_secs(3);
/// A page that asks for another document has its request seen by then; what opens a program of the system has none.
const LEAVES: Duration = Duration::from_secs(1);
/// What an act sets off at once has begun by then, on a page that is not busy.
const BEGUN: Duration = Duration::from_millis(500);
/// What a command takes beyond its own time is the page's fault: it is given up, and the page stays.
const BUSY: Duration = Duration::from_secs(8);
/// The end of a page is told so long after it.
const GONE: Duration = Duration::from_secs(2);
/// What an act sets off at once has begun by then.
const TURN: &str = concat!(
    "function () { return new Promise(done => (",
    page::turn!(),
    ")(false, () => done(true))); }"
);
/// Steps that are remembered.
const MAX_STEPS: usize = 1000;

/// What may be asked of a page.
#[derive(Clone, Debug)]
pub enum Command {
    Goto(String),
    Back,
    Forward,
    Reload,
    Url,
    Title,
    Text(Option<Target>),
    Html(Option<Target>),
    Links,
    Attrs(Target),
    Is(Target, ElementStateQuery),
    Forms,
    Cookies,
    Storage,
    Blocked,
    Emulate(EmulationOptions),
    Tabs,
    Tab(u32),
    NewTab(Option<String>),
    CloseTab(Option<u32>),
    Pdf,
    /// The element, and the folder that what it saves comes into.
    Download(Target, std::path::PathBuf),
    /// An address that answers with a file, and the folder for it.
    DownloadFrom(String, std::path::PathBuf),
    Snapshot {
        wish: SnapshotOptions,
        clickable: bool,
        within: Option<String>,
    },
    Screenshot(ScreenshotOptions),
    Click(Target),
    DoubleClick(Target),
    Hover(Target),
    Drag(Target, Target),
    Upload(Target, Vec<UploadFile>),
    /// A script of the caller's, in the page's own world.
    Js(String),
    /// What another page shows and this one does not.
    Diff(String),
    Fill(Target, String),
    Type(String),
    Press(String),
    Select(Target, String),
    /// Takes an option back, of a list that takes several.
    Unselect(Target, String),
    Check(Target),
    Uncheck(Target),
    Focus(Target),
    ScrollTo(Target),
    Scroll(ScrollDirection),
    /// Of what scrolls of an element.
    ScrollIn(Target, ScrollDirection),
    Wait(WaitCondition),
    /// Whether it is accepted, and what is typed into one that asks.
    Dialog(bool, Option<String>),
    Console(LogQuery),
    Network(LogQuery),
    Dialogs(LogQuery),
    Status,
}

/// How much of what was said is told.
#[derive(Clone, Copy, Debug)]
pub struct LogQuery {
    /// The newest so many.
    pub most: usize,
    /// Also what is not told otherwise: pictures, styles and scripts that a page asked for.
    pub all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollDirection {
    Top,
    Bottom,
    Up,
    Down,
    Left,
    Right,
}

impl ScrollDirection {
    pub const ALL: [Self; 6] =
        [Self::Top, Self::Bottom, Self::Up, Self::Down, Self::Left, Self::Right];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Top => "top",
            Self::Bottom => "bottom",
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    /// `None` for what names none.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

#[derive(Clone, Debug)]
pub enum WaitCondition {
    Text(String),
    Selector(String),
    Passed(Duration),
}

/// What a command came to.
#[derive(Debug, Default)]
pub struct CommandOutput {
    /// For whoever reads.
    pub text: String,
    /// Of an act.
    pub effect: Option<Effect>,
    pub png: Option<Vec<u8>>,
    pub pdf: Option<Vec<u8>>,
}

impl CommandOutput {
    /// What was done, and what it did.
    fn from_effect(told: &str, effect: Effect) -> Self {
        Self {
            text: format!("{told}: {}", effect.describe()),
            effect: Some(effect),
            ..Self::default()
        }
    }
}

/// What a picture shows.
#[derive(Clone, Debug, Default)]
pub struct ScreenshotOptions {
    /// Also what the window does not show.
    pub full: bool,
    /// That element alone.
    pub of: Option<Target>,
    /// With the refs of what can be acted on.
    pub marks: bool,
}

impl From<String> for CommandOutput {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// One page in a context of its own, and what was done on it.
pub struct PageController {
    context: Context,
    refs: RefTable,
    clicks: RefTable,
    /// What the last snapshot found: the page's lines, and those of what can be clicked.
    shown: [Vec<String>; 2],
    /// How large the page was for it.
    nodes: usize,
    steps: Vec<Step>,
    /// Where the steps begin.
    begun_at: Option<String>,
    /// What of it a task cannot do again, and why.
    lost: Vec<String>,
    /// For one command.
    timeout: Duration,
    /// Where all of it is kept.
    keep: Option<SessionRecorder>,
    /// What the act is on, where it is kept.
    touched: Option<Fingerprint>,
    /// The tab that a popup came from, and how many steps there were with it.
    aside: Option<(u32, usize)>,
    /// What each page is made to look like.
    look: Option<EmulationOptions>,
    rings: EventLogWriter,
    /// Requests of the session whose traffic is on disk.
    on_disk: u32,
    /// How often files were given to a page.
    given: u32,
    /// Who looks on is told there.
    feed: Option<Feed>,
    /// A person has the page.
    handed: Option<handoff::Handoff>,
    /// It stands in a window.
    visible: bool,
    /// Whose cookies it began with.
    login: Option<LoginName>,
    /// What was done last that a change may follow from, where changes wait.
    acting: Option<Command>,
}

/// How things stood before an act.
struct PreActState {
    url: String,
    world: i64,
    /// As [`page::DocumentState`] has it.
    changes: u64,
    seen: usize,
    loads: u64,
    dialogs: usize,
    /// The tab, and the newest one.
    tabs: (u32, u32),
}

impl PageController {
    /// Begins to listen to a context. `rings`: the folder for what is said and asked for there.
    pub fn new(context: Context, timeout: Duration, rings: Option<&Path>) -> Result<Self> {
        let shared = context.shared();
        let rings = EventLogWriter::begin(shared, rings)?;
        context.listen()?;
        context.keep_tabs()?;
        guard::hear(shared, &shared.page()?.session);
        Ok(Self {
            rings,
            given: 0,
            on_disk: 0,
            context,
            refs: RefTable::default(),
            clicks: RefTable::default(),
            shown: [const { Vec::new() }; 2],
            nodes: 0,
            steps: Vec::new(),
            begun_at: None,
            lost: Vec::new(),
            timeout,
            keep: None,
            touched: None,
            aside: None,
            look: None,
            feed: None,
            handed: None,
            visible: false,
            login: None,
            acting: None,
        })
    }

    /// From here on, those who listen there are told what happens.
    pub fn told_to(&mut self, feed: Feed) {
        let of = Arc::downgrade(self.context.shared());
        feed.look_with(Box::new(move || {
            let gone = || Error::new(Code::BrowserFailed, "no page is open");
            let shared = of.upgrade().ok_or_else(gone)?;
            let session = shared.page()?.session;
            let params = json!({ "format": "jpeg", "quality": 60, "optimizeForSpeed": true });
            Ok(shared.cdp.send(Some(&session), "Page.captureScreenshot", params))
        }));
        self.shared().lock().feed = Some(feed.clone());
        self.feed = Some(feed);
    }

    pub fn is_alive(&self) -> bool {
        self.context.is_alive()
    }

    /// Where the steps begin, the steps since, and what of it cannot be done again.
    pub fn trail(&self) -> (Option<&str>, &[Step], &[String]) {
        (self.begun_at.as_deref(), &self.steps, &self.lost)
    }

    pub(super) fn shared(&self) -> Arc<ContextInner> {
        Arc::clone(self.context.shared())
    }

    /// Does it; what is said has no marks yet (`untrusted_text.rs`).
    async fn answer(&mut self, command: Command) -> Result<CommandOutput> {
        let shared = self.shared();
        shared.renew();
        {
            let mut state = shared.lock();
            state.is_acting = true;
            // A key goes to the control that was used last.
            let is_key = matches!(command, Command::Press(_) | Command::Type(_));
            if let Some(it) = &mut state.holding {
                it.begins(command.acts(), command.types());
                if !is_key {
                    it.presses(None);
                }
            }
        }
        let holds = command.acts() && shared.lock().holding.is_some();
        if holds {
            self.acting = Some(command.clone());
        }
        let limit = self.timeout + BUSY;
        let done = tokio::select! {
            it = tokio::time::timeout(limit, self.obey(command)) => it.unwrap_or_else(|_| {
                Err(Error::new(Code::Timeout, "the page was too busy to run the command; it is still open")
                    .hint("try again later, or go to another address"))
            }),
            never = Self::unblock(&shared), if holds => match never {},
        };
        shared.let_go();
        {
            let mut state = shared.lock();
            state.is_acting = false;
            state.holding.iter_mut().for_each(|it| it.ends(Instant::now()));
        }
        done
    }

    async fn obey(&mut self, command: Command) -> Result<CommandOutput> {
        match command {
            Command::Goto(url) => self.goto(&url).await,
            Command::Back => self.history(-1).await,
            Command::Forward => self.history(1).await,
            Command::Reload => self.reload().await,
            Command::Url => self.url().await.map(CommandOutput::from),
            Command::Title => Ok(self.head().await?.1.into()),
            Command::Text(of) => self.text(of).await,
            Command::Html(of) => self.html(of).await,
            Command::Links => self.links().await,
            Command::Attrs(of) => self.attrs(of).await,
            Command::Is(of, asks) => self.check_state(of, asks).await,
            Command::Forms => self.forms().await,
            Command::Cookies => self.cookies().await,
            Command::Storage => self.storage().await,
            Command::Blocked => Ok(self.blocked()),
            Command::Emulate(look) => self.emulate(look).await,
            Command::Tabs => self.tabs().await,
            Command::Tab(number) => self.tab(number).await,
            Command::NewTab(url) => self.new_tab(url).await,
            Command::CloseTab(number) => self.close_tab(number).await,
            Command::Pdf => self.pdf().await,
            Command::Download(target, folder) => self.download(target, folder).await,
            Command::DownloadFrom(url, folder) => self.download_from(url, folder).await,
            Command::Snapshot { wish, clickable, within } => {
                self.snapshot(&wish, clickable, within).await
            }
            Command::Screenshot(what) => self.screenshot(what).await,
            Command::Click(it) => self.press(it, 1).await,
            Command::DoubleClick(it) => self.press(it, 2).await,
            Command::Hover(it) => self.hover(it).await,
            Command::Drag(from, to) => self.drag(from, to).await,
            Command::Upload(it, files) => self.upload(it, files).await,
            Command::Js(script) => self.script(&script).await,
            Command::Diff(url) => self.differs(url).await,
            Command::Fill(it, value) => self.fill(it, value).await,
            Command::Type(text) => self.keys(text).await,
            Command::Press(key) => self.key(key).await,
            Command::Select(it, value) => self.select(it, value, true).await,
            Command::Unselect(it, value) => self.select(it, value, false).await,
            Command::Check(it) => self.tick(it, true).await,
            Command::Uncheck(it) => self.tick(it, false).await,
            Command::Focus(it) => self.focus(it).await,
            Command::ScrollTo(it) => self.scroll_to(it).await,
            Command::Scroll(way) => self.scroll(None, way).await,
            Command::ScrollIn(it, way) => self.scroll(Some(it), way).await,
            Command::Wait(until) => self.wait(until).await,
            Command::Dialog(accept, text) => {
                match &text {
                    Some(_) => self.lost.push("a dialog that was answered with words".to_owned()),
                    None if accept => self.note(Step::Dialog(DialogAnswer::Accept)),
                    None => self.note(Step::Dialog(DialogAnswer::Dismiss)),
                }
                self.shared().lock().dialog = Some((accept, text));
                Ok(format!("the next dialog is {}", if accept { "accepted" } else { "dismissed" })
                    .into())
            }
            Command::Console(last) => Ok(self.said_in(LogKind::Console, last)),
            Command::Network(last) => self.network(last).await,
            Command::Dialogs(last) => Ok(self.said_in(LogKind::Dialogs, last)),
            Command::Status => self.status().await,
        }
    }

    async fn url(&self) -> Result<String> {
        self.head().await.map(|it| it.0)
    }

    /// The page's address and its title.
    async fn head(&self) -> Result<(String, String)> {
        let (_, (url, title)) = self.shared().head().await?;
        Ok((plain(&commis_redact::message(&url)), plain(&commis_redact::message(&title))))
    }

    async fn before(&self) -> Result<PreActState> {
        self.before_still().await.map(|it| it.0)
    }

    /// The same, and for how long nothing of the page has changed.
    async fn before_still(&self) -> Result<(PreActState, Duration)> {
        let shared = self.shared();
        // The first look begins to watch.
        let (frame, stands) = shared.read_document_state().await?;
        Ok((self.before_as(frame.world, &stands), stands.still))
    }

    /// The same of the page's own document, which stands so.
    fn before_as(&self, world: i64, stands: &page::DocumentState) -> PreActState {
        let shared = self.shared();
        let mut state = shared.lock();
        state.refused.clear();
        state.leaving = None;
        PreActState {
            url: stands.url.clone(),
            world,
            changes: stands.changes,
            seen: state.recorder.as_ref().map_or(0, Recorder::requests),
            loads: state.loads,
            dialogs: state.dialogs_told,
            tabs: (state.tab(), state.tabs.as_ref().map_or(0, |it| it.last)),
        }
    }

    /// Waits until what was set off has ended, and says what it was.
    async fn after(&mut self, before: PreActState) -> Result<Effect> {
        // A document that goes away has nothing to say.
        let _ = self.shared().ask::<bool>(TURN, BEGUN).await;
        self.settled(before, None).await
    }

    /// The same of a press; and what that would have reached instead of the element, where something came under the mouse.
    async fn after_press(
        &mut self,
        before: PreActState,
        meant: &ResolvedTarget,
        aim: &PointerTarget,
    ) -> Result<std::result::Result<Effect, String>> {
        let shared = self.shared();
        let mut verdict = aim::verdict(&shared, &meant.found, aim, PressCheck::Turn, BEGUN).await;
        let stands = verdict.as_mut().and_then(|it| it.stands.take());
        let stands = stands.filter(|_| !aim.framed);
        let mut effect = self.settled(before, stands.map(page::DocumentState::from)).await?;
        if verdict.is_none() && effect.navigated.is_none() {
            verdict =
                aim::verdict(&shared, &meant.found, aim, PressCheck::End, page::PATIENCE).await;
        }
        if let Some(over) = verdict.and_then(|it| it.over) {
            return Ok(Err(over));
        }
        if !aim.state.is_empty()
            && let Some(now) = aim::state(&shared, &meant.found, aim).await
        {
            let how = if now == aim.state { effect::STILL } else { "now " };
            effect.state = Some(format!("{how}{now}"));
        }
        Ok(Ok(effect))
    }

    /// The same once what was set off has begun. `stands`: how the page stood then, which is not asked again where nothing was waited
    /// for since.
    async fn settled(
        &mut self,
        before: PreActState,
        mut stands: Option<page::DocumentState>,
    ) -> Result<Effect> {
        let shared = self.shared();
        let deadline = Instant::now() + SETTLE;
        // A page that is gone leaves for nowhere; that comes out below.
        let leaves = Instant::now() + LEAVES;
        if shared.heed(leaves).await.is_ok() {
            let is_leaving = shared.lock().is_leaving();
            stands.take_if(|_| is_leaving);
            let _ = shared.until(leaves, |it| !it.is_leaving()).await;
        }
        self.context.silence(QUIET, deadline).await;
        let asked = shared.lock().recorder.as_ref().map_or(0, Recorder::requests);
        if asked > before.seen {
            stands = None;
            // What the page makes of the answers it makes in its own time.
            let _ = shared.ask::<bool>(TURN, Duration::from_millis(500)).await;
            self.context.silence(QUIET, deadline).await;
        }
        let mut out = Effect::default();
        let mut turned = self.turned(before.tabs, &mut out).await?;
        let is_there = !turned && shared.lock().loads == before.loads;
        let read = async || shared.read_document_state().await.map(|it| (it.0.world, it.1));
        let mut stands = match stands.filter(|_| is_there) {
            Some(it) => Ok((before.world, it)),
            None => read().await,
        };
        if stands.is_err() && !turned {
            // A tab that closes itself is gone a moment before that is told.
            let left = |it: &ContextState| it.page.is_none() || it.tab() != before.tabs.0;
            shared.until(Instant::now() + GONE, left).await?;
            turned = self.turned(before.tabs, &mut out).await?;
            stands = read().await;
        }
        let (mut world, mut stands) = stands?;
        let moved = world != before.world;
        if turned || moved {
            if !turned {
                let until = Instant::now() + LOAD;
                shared.until(until, |it| it.loads != before.loads).await?;
            }
            self.context.silence(QUIET, deadline).await;
            (world, stands) = read().await?;
        }
        let page::DocumentState { url, still, changes } = stands;
        let went = turned || world != before.world;
        if went || url != before.url {
            out.navigated = Some(plain(&commis_redact::message(&url)));
        }
        out.dom_changed = went || changes != before.changes || still.is_zero();
        out.changes = changes;
        let state = shared.lock();
        if let Some(recorder) = &state.recorder {
            out.requests(recorder.told_from(before.seen, Instant::now()).0, &url);
        }
        out.dialogs = state
            .dialogs
            .iter()
            .skip(state.dialogs.len().saturating_sub(state.dialogs_told - before.dialogs))
            .map(|it| plain(&commis_redact::message(it)))
            .collect();
        out.refused = state
            .refused
            .iter()
            .map(|(url, why)| {
                format!("{} was refused: {why}", cut(&plain(&commis_redact::message(url)), 100))
            })
            .collect();
        drop(state);
        let (popup, download) = {
            let mut state = shared.lock();
            (state.popup.take(), state.download.take())
        };
        let shown = |it: &str| cut(&plain(&commis_redact::message(it)), 100);
        out.refused.extend(
            popup.map(|it| format!("a popup to {} was closed: goto it instead", shown(&it))),
        );
        out.refused.extend(download.map(|it| format!("a download of {} was refused", shown(&it))));
        Ok(out)
    }

    async fn acted(&mut self, before: PreActState, told: String) -> Result<CommandOutput> {
        self.after(before).await.map(|effect| CommandOutput::from_effect(&told, effect))
    }

    fn note(&mut self, step: Step) {
        if self.steps.len() < MAX_STEPS {
            self.steps.push(step);
        }
    }

    /// Notes a step on an element, where the element can be named again.
    fn record_element_step(&mut self, meant: &ResolvedTarget, step: impl FnOnce(Element) -> Step) {
        match &meant.element {
            Some(it) => self.note(step(it.clone())),
            None => self.lost.push(meant.told.clone()),
        }
    }

    /// From here on steps are a new task's; the next `goto` is where it begins.
    pub fn forget_steps(&mut self) {
        (self.steps, self.lost, self.begun_at) = (Vec::new(), Vec::new(), None);
    }

    /// The page as it is now.
    async fn read_items(&self, clickable: bool) -> Result<(Vec<FrameTree>, Vec<Item>)> {
        let shared = self.shared();
        let asked = tree::request_trees(&shared)?;
        let clicks = clickable.then(|| clickable::request_snapshots(&shared)).transpose()?;
        let read = asked.read(&shared).await?;
        let mut items = tree::items(&read);
        if let Some(it) = clicks {
            items = it.read(&read, &items).await;
        }
        Ok((read, items))
    }
}
