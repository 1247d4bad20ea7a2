//! A page that stays: opened, read, acted on, learned from.

use std::path::PathBuf;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    HttpMethod, Kind, Meta, Operation, OperationContext, Params, Spec, ToolExposure,
    action_history::{self, ActionHistory, LearnRequest},
    files::{self, DownloadList},
    row, spec, with_default_meta,
};
use crate::{
    answer::ApiError,
    page_sessions::{PageSessions, key},
    principal::{AccessRequirement, AccessRight, Area, page_name},
    task_database::TaskView,
    viewer_access,
};
use commis_base::error::{Code, Error, Result};
use commis_browser::{
    page_session::{
        ColorScheme, Command, CommandOutput, DevicePreset, Effect, ElementStateQuery,
        EmulationOptions, LogQuery, PageController, ScreenshotOptions, ScrollDirection,
        SnapshotOptions, Target, WaitCondition,
    },
    sessions::audit::Finding,
};

type OperationOutput<T> = std::result::Result<(T, Meta), Box<ApiError>>;

const READ: AccessRequirement = AccessRequirement::May(Area::Browse, AccessRight::Read);
const WRITE: AccessRequirement = AccessRequirement::May(Area::Browse, AccessRight::Write);

/// What a command answers.
#[derive(Serialize, JsonSchema)]
struct CommandResult {
    /// For whoever reads it. What a page says stands in quotes; it is a stranger's.
    text: String,
    /// What an act did.
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<Effect>,
    /// A picture, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    png_base64: Option<String>,
    /// The page as it would be printed, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pdf_base64: Option<String>,
}

/// Arguments of a command: the context, and what it takes.
macro_rules! arguments {
    ($name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty),* $(,)? }) => {
        #[derive(Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        struct $name {
            /// The page's context: contexts share nothing.
            #[serde(default = "first")]
            context: String,
            $($(#[$doc])* $field: $kind,)*
        }
    };
}

fn hundred() -> u32 {
    100
}

fn newest(last: u32, all: bool) -> LogQuery {
    LogQuery { most: last.clamp(1, 1000) as usize, all }
}

fn first() -> String {
    super::FIRST.to_owned()
}

arguments!(Bare {});
arguments!(At {
    /// An absolute address.
    url: String,
    /// In a window that people see, which the page keeps from then on; it takes a display.
    #[serde(default)]
    visible: bool,
});
arguments!(Handing {
    /// What the person is to do.
    #[serde(default)]
    note: String,
});
arguments!(On {
    /// `@e17` of a snapshot, `@c3` of one with `clickable`, a role and a name such as `button "Search"`, or `css=SELECTOR`. ` at X,Y`
    /// behind one of these is a point of it, in pixels from its upper left corner: `css=canvas at 120,80`.
    target: String,
    /// Where a ref's element is another now, act on the only one that is called as it was; the answer says so.
    #[serde(default)]
    retarget: bool,
});
arguments!(Save {
    /// As for `browse_click`, or the absolute address of a file.
    target: String,
    /// As for `browse_click`.
    #[serde(default)]
    retarget: bool,
});
arguments!(Is {
    /// As for `browse_click`.
    target: String,
    /// What is asked.
    asks: ElementStateQuery,
});
arguments!(Viewport {
    /// Pixels, 100 to 4000.
    width: u32,
    /// Likewise.
    height: u32,
    /// As a telephone: with a finger, and the page's own width.
    #[serde(default)]
    mobile: bool,
});
arguments!(Emulate {
    /// A window known by name.
    device: Option<DevicePreset>,
    /// Which colours pages are asked for.
    color_scheme: Option<ColorScheme>,
    /// Pages are asked not to move.
    #[serde(default)]
    reduced_motion: bool,
    /// As it would be printed.
    #[serde(default)]
    print: bool,
});
arguments!(TabAt {
    /// As `browse_tabs` lists them.
    tab: u32,
});
arguments!(TabOf {
    /// As `browse_tabs` lists them; the present one when absent.
    tab: Option<u32>,
});
arguments!(NewTab {
    /// An absolute address; an empty page when absent.
    url: Option<String>,
});
arguments!(Shot {
    /// As for `browse_click`: that element alone.
    target: Option<String>,
    /// Also what the window does not show.
    #[serde(default)]
    full: bool,
    /// With the refs of what can be acted on drawn in.
    #[serde(default)]
    annotate: bool,
});
arguments!(Of {
    /// As for `browse_click`; the whole page when absent.
    target: Option<String>,
});
arguments!(Fill {
    /// As for `browse_click`.
    target: String,
    /// As for `browse_click`.
    #[serde(default)]
    retarget: bool,
    /// What is to stand there.
    value: String,
});
arguments!(Choose {
    /// As for `browse_click`.
    target: String,
    /// As for `browse_click`.
    #[serde(default)]
    retarget: bool,
    /// The option's label, alone or as `Group > Label`, or the value that the form sends for it; `value=…` and `index=…` tell
    /// apart those that are called alike.
    option: String,
});
arguments!(Drag {
    /// As for `browse_click`.
    from: String,
    /// As for `browse_click`.
    to: String,
});
arguments!(Type {
    /// What is typed where the focus is.
    text: String,
});
arguments!(Press {
    /// `Enter`, `ArrowDown`, `F2`, `Control+a`, `Shift+/`, a character: as a US keyboard sends them.
    key: String,
});
arguments!(Scroll {
    /// `top`, `bottom`, `up`, `down`, `left`, `right`, or an element as for `browse_click`.
    to: String,
    /// What scrolls: that element, what scrolls in it, or what it stands in. The page when absent.
    within: Option<String>,
});
arguments!(Upload {
    /// A field for files, as for `browse_click`.
    target: String,
    /// Paths of files in folders that `browse.uploads` in the settings names.
    files: Vec<PathBuf>,
});
arguments!(Script {
    /// An expression, or several statements; the last one's value is the answer. A promise is waited for.
    script: String,
});
arguments!(Newest {
    /// The newest so many, 1000 at most.
    #[serde(default = "hundred")]
    last: u32,
});
arguments!(Requests {
    /// The newest so many, 1000 at most.
    #[serde(default = "hundred")]
    last: u32,
    /// Also pictures, styles and scripts.
    #[serde(default)]
    all: bool,
});
arguments!(Wait {
    /// Until the page shows it.
    text: Option<String>,
    /// Until it matches.
    selector: Option<String>,
    /// Milliseconds.
    ms: Option<u32>,
});
arguments!(Dialog {
    /// Whether the page's next dialog is accepted; without this each is dismissed.
    accept: bool,
    /// What is typed into one that asks for words.
    text: Option<String>,
});
arguments!(Snapshot {
    /// Only what can be acted on.
    #[serde(default)]
    interactive: bool,
    /// Also what can be clicked and has no role.
    #[serde(default)]
    clickable: bool,
    /// Only what changed since the last snapshot.
    #[serde(default)]
    changed: bool,
    /// Rows alike are shown twice and counted.
    #[serde(default)]
    compact: bool,
    /// Only what is in there: a CSS selector.
    within: Option<String>,
    /// At most so many characters; what is left out is said.
    max_chars: Option<u32>,
});
arguments!(Learn {
    /// What it is about, with `{parameter}` where values go.
    task: String,
    /// The recipe's name; else made of the task.
    name: Option<String>,
    /// Values that were typed or chosen, by parameter.
    #[serde(default)]
    params: Params,
    /// Other values, to prove the recipe on.
    #[serde(default)]
    second: Params,
    /// Another account's login, which must be refused or get something else; the first is the one that the page was opened with.
    second_login: Option<String>,
});

pub fn rows(out: &mut Vec<Operation>) {
    content_rows(out);
    view_rows(out);
    log_rows(out);
    element_rows(out);
    page_rows(out);
    task_rows(out);
}

/// Navigation, and what a page holds.
fn content_rows(out: &mut Vec<Operation>) {
    out.extend([
        row(
            act("browse_goto", &[(HttpMethod::Post, "/api/browse/goto")], "Open a page.\nOn a page that stays: its context keeps cookies and history until it is closed, or unused for half an hour."),
            goto,
        ),
        row(
            act("browse_back", &[(HttpMethod::Post, "/api/browse/back")], "Go back to the previous page."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Back)),
        ),
        row(
            act("browse_forward", &[(HttpMethod::Post, "/api/browse/forward")], "Go forward again."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Forward)),
        ),
        row(
            act("browse_reload", &[(HttpMethod::Post, "/api/browse/reload")], "Load the page again."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Reload)),
        ),
        row(
            read("browse_snapshot", &[(HttpMethod::Post, "/api/browse/snapshot")], "Show the page, one line per element, with refs to act on.\nIt includes frames and shadow roots. A ref means that element in that place; if the element changed, the ref is refused."),
            |cx, it: Snapshot| {
                let wish = SnapshotOptions {
                    interactive: it.interactive,
                    changed: it.changed,
                    compact: it.compact,
                    max_chars: it.max_chars.map(|it| it as usize),
                };
                let command = Command::Snapshot { wish, clickable: it.clickable, within: it.within };
                run(cx, it.context, Ok(command))
            },
        ),
        row(
            read("browse_text", &[(HttpMethod::Post, "/api/browse/text")], "Show the text of the page, or of an element."),
            |cx, it: Of| run(cx, it.context, it.target.map(|it| it.parse()).transpose().map(Command::Text)),
        ),
        row(
            read("browse_html", &[(HttpMethod::Post, "/api/browse/html")], "Show the markup of the page, or of an element."),
            |cx, it: Of| run(cx, it.context, it.target.map(|it| it.parse()).transpose().map(Command::Html)),
        ),
        row(
            read("browse_url", &[(HttpMethod::Post, "/api/browse/url")], "Print the page's address."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Url)),
        ),
        row(
            read("browse_title", &[(HttpMethod::Post, "/api/browse/title")], "Print the page's title."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Title)),
        ),
        row(
            read("browse_links", &[(HttpMethod::Post, "/api/browse/links")], "List the page's links."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Links)),
        ),
        row(
            read("browse_attrs", &[(HttpMethod::Post, "/api/browse/attrs")], "List an element's attributes."),
            |cx, it: On| run(cx, it.context, it.target.parse().map(Command::Attrs)),
        ),
        row(
            read("browse_is", &[(HttpMethod::Post, "/api/browse/is")], "Print whether an element is visible, enabled, checked, editable, focused or in view."),
            |cx, it: Is| run(cx, it.context, it.target.parse().map(|of| Command::Is(of, it.asks))),
        ),
        row(
            read("browse_forms", &[(HttpMethod::Post, "/api/browse/forms")], "List the page's forms and their fields, without their values."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Forms)),
        ),
        row(
            read("browse_cookies", &[(HttpMethod::Post, "/api/browse/cookies")], "List the context's cookies: names, hosts and when they end, never values."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Cookies)),
        ),
        row(
            read("browse_storage", &[(HttpMethod::Post, "/api/browse/storage")], "List what the page stores: names and lengths, never values."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Storage)),
        ),
        row(
            read("browse_blocked", &[(HttpMethod::Post, "/api/browse/blocked")], "List the requests of the page that the egress policy refused."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Blocked)),
        ),
    ]);
}

/// Appearance, tabs, files and pictures.
fn view_rows(out: &mut Vec<Operation>) {
    out.extend([
        row(
            act("browse_viewport", &[(HttpMethod::Post, "/api/browse/viewport")], "Set the size of the window."),
            |cx, it: Viewport| {
                let size = Some((it.width, it.height));
                let look = EmulationOptions { size, mobile: it.mobile, ..EmulationOptions::default() };
                run(cx, it.context, Ok(Command::Emulate(look)))
            },
        ),
        row(
            act("browse_emulate", &[(HttpMethod::Post, "/api/browse/emulate")], "Make the window that of a device, or ask pages for other colours, less motion, or what they print."),
            |cx, it: Emulate| {
                let look = it.device.map(DevicePreset::emulation_options).unwrap_or_default();
                let look = EmulationOptions { scheme: it.color_scheme, less_motion: it.reduced_motion, print: it.print, ..look };
                run(cx, it.context, Ok(Command::Emulate(look)))
            },
        ),
        row(
            read("browse_tabs", &[(HttpMethod::Post, "/api/browse/tabs")], "List the context's tabs. `*` marks the tab that commands act on."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Tabs)),
        ),
        row(
            act("browse_tab", &[(HttpMethod::Post, "/api/browse/tab")], "Switch to another tab."),
            |cx, it: TabAt| run(cx, it.context, Ok(Command::Tab(it.tab))),
        ),
        row(
            act("browse_newtab", &[(HttpMethod::Post, "/api/browse/newtab")], "Open a page in a new tab.\nPopups are tabs, too; the act that opened one says so."),
            |cx, it: NewTab| run(cx, it.context, Ok(Command::NewTab(it.url))),
        ),
        row(
            act("browse_closetab", &[(HttpMethod::Post, "/api/browse/closetab")], "Close a tab."),
            |cx, it: TabOf| run(cx, it.context, Ok(Command::CloseTab(it.tab))),
        ),
        row(
            read("browse_pdf", &[(HttpMethod::Post, "/api/browse/pdf")], "Print the page as PDF."),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Pdf)),
        ),
        row(
            act("browse_download", &[(HttpMethod::Post, "/api/browse/download")], "Click an element, or open an address, and keep the file that is saved.\nIt comes into `downloads` of the home; everything else that pages want to save is refused."),
            |cx, it: Save| {
                let folder = cx.daemon.home.downloads.clone();
                run(cx, it.context, download(&it.target, it.retarget, folder))
            },
        ),
        row(
            read("browse_screenshot", &[(HttpMethod::Post, "/api/browse/screenshot")], "Take a screenshot of the window."),
            |cx, it: Shot| {
                let of = it.target.map(|it| it.parse()).transpose();
                run(cx, it.context, of.map(|of| Command::Screenshot(ScreenshotOptions { full: it.full, of, marks: it.annotate })))
            },
        ),
    ]);
}

/// What the page logged and sent.
fn log_rows(out: &mut Vec<Operation>) {
    out.extend([
        row(
            read(
                "browse_console",
                &[(HttpMethod::Post, "/api/browse/console")],
                "Show what the page wrote to its console.",
            ),
            |cx, it: Newest| run(cx, it.context, Ok(Command::Console(newest(it.last, true)))),
        ),
        row(
            read(
                "browse_network",
                &[(HttpMethod::Post, "/api/browse/network")],
                "List the documents and data that the page asked for.",
            ),
            |cx, it: Requests| run(cx, it.context, Ok(Command::Network(newest(it.last, it.all)))),
        ),
        row(
            read(
                "browse_dialogs",
                &[(HttpMethod::Post, "/api/browse/dialogs")],
                "List the dialogs that the page opened, and how they were answered.",
            ),
            |cx, it: Newest| run(cx, it.context, Ok(Command::Dialogs(newest(it.last, true)))),
        ),
        row(
            read(
                "browse_status",
                &[(HttpMethod::Post, "/api/browse/status")],
                "Print the page's address and the number of recorded steps.",
            ),
            |cx, it: Bare| run(cx, it.context, Ok(Command::Status)),
        ),
    ]);
}

/// Actions on elements.
fn element_rows(out: &mut Vec<Operation>) {
    out.extend([
        row(
            act("browse_click", &[(HttpMethod::Post, "/api/browse/click")], "Click an element.\nThe answer says what it did: where the page went, what it asked for, whether it changed."),
            |cx, it: On| run(cx, it.context, parse_target(&it.target, it.retarget).map(Command::Click)),
        ),
        row(
            act("browse_dblclick", &[(HttpMethod::Post, "/api/browse/dblclick")], "Click an element twice."),
            |cx, it: On| run(cx, it.context, parse_target(&it.target, it.retarget).map(Command::DoubleClick)),
        ),
        row(
            act("browse_hover", &[(HttpMethod::Post, "/api/browse/hover")], "Move the mouse over an element."),
            |cx, it: On| run(cx, it.context, parse_target(&it.target, it.retarget).map(Command::Hover)),
        ),
        row(
            act("browse_focus", &[(HttpMethod::Post, "/api/browse/focus")], "Put the focus on an element."),
            |cx, it: On| run(cx, it.context, parse_target(&it.target, it.retarget).map(Command::Focus)),
        ),
        row(
            act("browse_check", &[(HttpMethod::Post, "/api/browse/check")], "Tick a box, or choose a radio button."),
            |cx, it: On| run(cx, it.context, parse_target(&it.target, it.retarget).map(Command::Check)),
        ),
        row(
            act("browse_uncheck", &[(HttpMethod::Post, "/api/browse/uncheck")], "Untick a box."),
            |cx, it: On| run(cx, it.context, parse_target(&it.target, it.retarget).map(Command::Uncheck)),
        ),
        row(
            act("browse_drag", &[(HttpMethod::Post, "/api/browse/drag")], "Drag an element to another; both need not fit in the window."),
            |cx, it: Drag| {
                let command = it.from.parse().and_then(|from| Ok(Command::Drag(from, it.to.parse()?)));
                run(cx, it.context, command)
            },
        ),
        row(
            act("browse_fill", &[(HttpMethod::Post, "/api/browse/fill")], "Empty a field and type into it.\nWhere the field does not hold that afterwards, the answer says what it holds."),
            |cx, it: Fill| run(cx, it.context, parse_target(&it.target, it.retarget).map(|at| Command::Fill(at, it.value))),
        ),
        row(
            act("browse_select", &[(HttpMethod::Post, "/api/browse/select")], "Choose an option of a list.\nWhere several are called so it is refused, and the answer says how to tell them apart."),
            |cx, it: Choose| run(cx, it.context, parse_target(&it.target, it.retarget).map(|at| Command::Select(at, it.option))),
        ),
        row(
            act("browse_unselect", &[(HttpMethod::Post, "/api/browse/unselect")], "Remove one choice of a list that takes several."),
            |cx, it: Choose| run(cx, it.context, parse_target(&it.target, it.retarget).map(|at| Command::Unselect(at, it.option))),
        ),
        row(
            act("browse_upload", &[(HttpMethod::Post, "/api/browse/upload")], "Choose files for a file field.\nOnly those in folders that the settings name (`browse.uploads`); none by default."),
            |cx, it: Upload| async move {
                let runtime = cx.daemon.runtime();
                let all = files::read_uploads(&runtime.settings.browse.uploads, &it.files)?;
                let command = it.target.parse().map(|at| Command::Upload(at, all));
                run(cx, it.context, command).await
            },
        ),
    ]);
}

/// Scripts, keys, scrolling, waiting and dialogs of the page.
fn page_rows(out: &mut Vec<Operation>) {
    out.extend([
        row(
            act("browse_js", &[(HttpMethod::Post, "/api/browse/js")], "Run a script in the page, where the settings allow it (`browse.allow_js`)."),
            |cx, it: Script| async move {
                if !cx.daemon.runtime().settings.browse.allow_js {
                    let err = Error::new(Code::Forbidden, "the settings do not allow `js`");
                    return Err(err.hint("use the other commands, or allow it with `commis settings set browse.allow_js true`").into());
                }
                run(cx, it.context, Ok(Command::Js(it.script))).await
            },
        ),
        row(
            act("browse_diff", &[(HttpMethod::Post, "/api/browse/diff")], "Compare this page with another: print the lines that only one of them has.\nThe other is opened in a tab beside, and closed again."),
            |cx, it: At| run(cx, it.context, Ok(Command::Diff(it.url))),
        ),
        row(
            read("browse_downloads", &[(HttpMethod::Post, "/api/browse/downloads")], "List the files that `download` saved."),
            downloads,
        ),
        row(
            act("browse_type", &[(HttpMethod::Post, "/api/browse/type")], "Type where the focus is, key by key."),
            |cx, it: Type| run(cx, it.context, Ok(Command::Type(it.text))),
        ),
        row(
            act("browse_press", &[(HttpMethod::Post, "/api/browse/press")], "Press a key."),
            |cx, it: Press| run(cx, it.context, Ok(Command::Press(it.key))),
        ),
        row(
            act("browse_scroll", &[(HttpMethod::Post, "/api/browse/scroll")], "Scroll the page, a part of it, or to an element.\nThe answer says what scrolled, where it is now, and whether that is its end."),
            |cx, it: Scroll| run(cx, it.context, scroll(&it.to, it.within.as_deref())),
        ),
        row(
            read("browse_wait", &[(HttpMethod::Post, "/api/browse/wait")], "Wait until the page shows a text, until a selector matches, or for a time."),
            |cx, it: Wait| {
                let until = match (it.text, it.selector, it.ms) {
                    (Some(it), None, None) => Ok(WaitCondition::Text(it)),
                    (None, Some(it), None) => Ok(WaitCondition::Selector(it)),
                    (None, None, Some(ms)) => Ok(WaitCondition::Passed(std::time::Duration::from_millis(ms.into()))),
                    _ => Err(Error::new(Code::ParamInvalid, "give one of `text`, `selector`, `ms`")),
                };
                run(cx, it.context, until.map(Command::Wait))
            },
        ),
        row(
            act("browse_dialog", &[(HttpMethod::Post, "/api/browse/dialog")], "Set the answer to the page's next dialog."),
            |cx, it: Dialog| run(cx, it.context, Ok(Command::Dialog(it.accept, it.text))),
        ),
    ]);
}

/// The recorded task, and the page as a whole.
fn task_rows(out: &mut Vec<Operation>) {
    out.extend([
        row(
            read("browse_steps", &[(HttpMethod::Post, "/api/browse/steps")], "Print the actions since the task began, as steps of a manifest."),
            steps,
        ),
        row(
            act("browse_clear", &[(HttpMethod::Post, "/api/browse/clear")], "Forget the steps: the next page that is opened begins another task."),
            clear,
        ),
        row(
            read("browse_audit", &[(HttpMethod::Post, "/api/browse/audit")], "Say what the traffic of the context shows of how its sites keep logins: cookies, forms, addresses, redirects, headers.\nNo value is shown."),
            audit,
        ),
        row(
            act("browse_learn", &[(HttpMethod::Post, "/api/browse/learn")], "Learn a recipe from the actions since the task began.\nValues that were typed or chosen become parameters where `params` says so; the steps are driven anew, with these values and with the second ones. Needs `learn:write`, too."),
            learn,
        ),
        row(
            act("browse_handoff", &[(HttpMethod::Post, "/api/browse/handoff")], "Give the page to a person, in a window.\nA page without a window moves into one: cookies and what it stores with it, not what its scripts hold in memory. What acts is refused from then on (`PAGE_HANDED_OFF`), what reads is answered."),
            handoff,
        ),
        row(
            act("browse_resume", &[(HttpMethod::Post, "/api/browse/resume")], "Take the page back from a person.\nIt keeps its window. What the person did cannot be learned."),
            resume,
        ),
        row(
            Spec { tool: ToolExposure::Never, ..read("browse_watch", &[(HttpMethod::Post, "/api/browse/watch")], "Make an address where a person can watch the page; it opens once, within a minute.\nWhat it opens lasts half an hour: what happens there, as it happens, and pictures. Nobody can act with it. `GET /api/browse/events?context=NAME` is the stream for programs.") },
            watch,
        ),
        row(
            act("browse_close", &[(HttpMethod::Post, "/api/browse/close")], "Close the page and forget its context."),
            close,
        ),
    ]);
}

fn read(
    name: &'static str,
    routes: &'static [(HttpMethod, &'static str)],
    help: &'static str,
) -> Spec {
    spec(name, routes, READ, Kind::Read, help)
}

fn act(
    name: &'static str,
    routes: &'static [(HttpMethod, &'static str)],
    help: &'static str,
) -> Spec {
    spec(name, routes, WRITE, Kind::Write, help)
}

async fn run(
    cx: OperationContext,
    context: String,
    command: Result<Command>,
) -> OperationOutput<CommandResult> {
    with_default_meta(
        PageSessions::run(&cx.daemon, (&cx.principal, &context), command?).await?.into(),
    )
}

impl From<CommandOutput> for CommandResult {
    fn from(said: CommandOutput) -> Self {
        Self {
            text: said.text,
            effect: said.effect,
            png_base64: said.png.map(|it| STANDARD.encode(it)),
            pdf_base64: said.pdf.map(|it| STANDARD.encode(it)),
        }
    }
}

async fn goto(cx: OperationContext, it: At) -> OperationOutput<CommandResult> {
    let (of, command) = ((&cx.principal, &*it.context), Command::Goto(it.url));
    let said = if it.visible {
        PageSessions::in_window(&cx.daemon, of, async |controller: &mut PageController| {
            controller.run(command).await
        })
        .await
    } else {
        PageSessions::run(&cx.daemon, of, command).await
    };
    with_default_meta(said?.into())
}

async fn handoff(cx: OperationContext, it: Handing) -> OperationOutput<CommandResult> {
    let of = (&cx.principal, &*it.context);
    with_default_meta(PageSessions::hand_off(&cx.daemon, of, &it.note).await?.into())
}

async fn resume(cx: OperationContext, it: Bare) -> OperationOutput<CommandResult> {
    let of = (&cx.principal, &*it.context);
    let said = PageSessions::with(&cx.daemon, of, async |controller: &mut PageController| {
        controller.resume().await
    });
    with_default_meta(said.await?.into())
}

/// The element that a target names. With `retarget` a ref may be another's.
fn parse_target(target: &str, retarget: bool) -> Result<Target> {
    let it = target.parse()?;
    Ok(match it {
        Target::Ref(n) if retarget => Target::Like(n),
        it => it,
    })
}

fn scroll(to: &str, within: Option<&str>) -> Result<Command> {
    Ok(match (ScrollDirection::parse(to), within) {
        (Some(way), Some(it)) => Command::ScrollIn(it.parse()?, way),
        (Some(way), None) => Command::Scroll(way),
        (None, None) => Command::ScrollTo(to.parse::<Target>()?),
        (None, Some(_)) => {
            return Err(Error::new(
                Code::ParamInvalid,
                "`within` needs `to` to be a direction, such as `down`",
            ));
        }
    })
}

/// An element that is clicked, or an address that answers with a file.
fn download(target: &str, retarget: bool, folder: PathBuf) -> Result<Command> {
    if target.starts_with("http://") || target.starts_with("https://") {
        return Ok(Command::DownloadFrom(target.to_owned(), folder));
    }
    parse_target(target, retarget).map(|at| Command::Download(at, folder))
}

#[derive(Serialize, JsonSchema)]
struct AuditResult {
    /// For whoever reads it.
    text: String,
    /// The gravest first.
    findings: Vec<Finding>,
}

async fn audit(cx: OperationContext, it: Bare) -> OperationOutput<AuditResult> {
    let of = (&cx.principal, &*it.context);
    let look = async |controller: &mut PageController| Ok(controller.audit().await);
    let findings = PageSessions::with(&cx.daemon, of, look).await?;
    let text = findings.iter().map(Finding::describe).collect::<Vec<_>>().join("\n");
    with_default_meta(AuditResult { text, findings })
}

#[derive(Serialize, JsonSchema)]
struct ClearResult {
    cleared: bool,
}

async fn clear(cx: OperationContext, it: Bare) -> OperationOutput<ClearResult> {
    let of = (&cx.principal, &*it.context);
    PageSessions::with(&cx.daemon, of, async |controller: &mut PageController| {
        controller.forget_steps();
        Ok(())
    })
    .await?;
    with_default_meta(ClearResult { cleared: true })
}

#[derive(Serialize, JsonSchema)]
struct CloseResult {
    closed: bool,
}

async fn close(cx: OperationContext, it: Bare) -> OperationOutput<CloseResult> {
    with_default_meta(CloseResult {
        closed: cx.daemon.page_sessions.close(&cx.principal, &it.context),
    })
}

/// That a person may look on.
#[derive(Serialize, JsonSchema)]
struct WatchLink {
    /// For a browser; the code stands behind `#`.
    url: String,
    /// Seconds in which it has to be opened.
    holds_sec: u32,
}

async fn watch(cx: OperationContext, it: Bare) -> OperationOutput<WatchLink> {
    let page = key(&cx.principal, page_name(&it.context)?);
    if cx.daemon.page_sessions.feed(&page).is_none() {
        return Err(Error::new(Code::TaskNotFound, "no page is open in this context")
            .hint("`browse goto` opens one")
            .into());
    }
    let (code, over) = cx.daemon.viewers.new_code(page)?;
    if cx.principal.scopes.is_some() {
        // Who may look no longer has nobody look on.
        let (daemon, id) = (std::sync::Arc::clone(&cx.daemon), cx.principal.id.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = daemon.wait_for_expiry(&id) => over.cancel(),
                () = tokio::time::sleep(viewer_access::LASTS) => {}
            }
        });
    }
    let url = format!("http://{}{}#{code}", cx.daemon.addr, viewer_access::PATH);
    with_default_meta(WatchLink { url, holds_sec: viewer_access::CODE.as_secs() as u32 })
}

async fn steps(cx: OperationContext, it: Bare) -> OperationOutput<ActionHistory> {
    with_default_meta(action_history::trail(&cx, &it.context).await?)
}

async fn learn(cx: OperationContext, it: Learn) -> OperationOutput<TaskView> {
    let trail = action_history::trail(&cx, &it.context).await?;
    let wanted = LearnRequest {
        task: it.task,
        name: it.name,
        params: it.params,
        second: it.second,
        reads_only: false,
        force: false,
        answer: None,
        second_login: it.second_login,
    };
    action_history::start_learning(cx, trail, wanted).await
}

async fn downloads(cx: OperationContext, _: Bare) -> OperationOutput<DownloadList> {
    with_default_meta(files::downloads(&cx)?)
}
