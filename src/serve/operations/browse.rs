//! A page that stays: opened, read, acted on, learned from.

use std::path::PathBuf;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Asked, Kind, Meta, Params, Row, Spec, Tool, Verb,
    files::{self, Saved},
    plain, row, spec,
    trail::{self, LearnRequest, Trail},
};
use crate::{
    answer::Trouble,
    book::TaskView,
    desks::{Desks, key},
    lookers,
    principal::{Area, Need, Right, page_name},
};
use commis_base::error::{Code, Error, Result};
use commis_browser::{
    desk::{
        Asks, Command, Desk, Device, Effect, Last, Look, Picture, Said, Scheme, Target, Until, Way,
        Wish,
    },
    sessions::audit::Finding,
};

type Out<T> = std::result::Result<(T, Meta), Box<Trouble>>;

const READ: Need = Need::May(Area::Browse, Right::Read);
const WRITE: Need = Need::May(Area::Browse, Right::Write);

/// What a command answers.
#[derive(Serialize, JsonSchema)]
struct Shown {
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

fn newest(last: u32, all: bool) -> Last {
    Last { most: last.clamp(1, 1000) as usize, all }
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
    asks: Asks,
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
    device: Option<Device>,
    /// Which colours pages are asked for.
    color_scheme: Option<Scheme>,
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

pub fn rows(out: &mut Vec<Row>) {
    let read = |name, path, help| spec(name, path, READ, Kind::Read, help);
    let act = |name, path, help| spec(name, path, WRITE, Kind::Write, help);
    out.extend([
        row(
            act("browse_goto", &[(Verb::Post, "/api/browse/goto")], "Open a page.\nOn a page that stays: its context keeps cookies and history until it is closed, or unused for half an hour."),
            goto,
        ),
        row(
            act("browse_back", &[(Verb::Post, "/api/browse/back")], "Go back to the page before."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Back)),
        ),
        row(
            act("browse_forward", &[(Verb::Post, "/api/browse/forward")], "Go forward again."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Forward)),
        ),
        row(
            act("browse_reload", &[(Verb::Post, "/api/browse/reload")], "Load the page again."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Reload)),
        ),
        row(
            read("browse_snapshot", &[(Verb::Post, "/api/browse/snapshot")], "Show what is on the page, a line an element, with refs to act on.\nFrames and shadow roots are in it. A ref means that element in that place, or is refused."),
            |asked, it: Snapshot| {
                let wish = Wish {
                    interactive: it.interactive,
                    changed: it.changed,
                    compact: it.compact,
                    max_chars: it.max_chars.map(|it| it as usize),
                };
                let command = Command::Snapshot { wish, clickable: it.clickable, within: it.within };
                run(asked, it.context, Ok(command))
            },
        ),
        row(
            read("browse_text", &[(Verb::Post, "/api/browse/text")], "Show the text of the page, or of an element."),
            |asked, it: Of| run(asked, it.context, it.target.map(|it| it.parse()).transpose().map(Command::Text)),
        ),
        row(
            read("browse_html", &[(Verb::Post, "/api/browse/html")], "Show the markup of the page, or of an element."),
            |asked, it: Of| run(asked, it.context, it.target.map(|it| it.parse()).transpose().map(Command::Html)),
        ),
        row(
            read("browse_url", &[(Verb::Post, "/api/browse/url")], "Say the page's address."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Url)),
        ),
        row(
            read("browse_title", &[(Verb::Post, "/api/browse/title")], "Say the page's title."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Title)),
        ),
        row(
            read("browse_links", &[(Verb::Post, "/api/browse/links")], "List the page's links."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Links)),
        ),
        row(
            read("browse_attrs", &[(Verb::Post, "/api/browse/attrs")], "List an element's attributes."),
            |asked, it: On| run(asked, it.context, it.target.parse().map(Command::Attrs)),
        ),
        row(
            read("browse_is", &[(Verb::Post, "/api/browse/is")], "Say whether an element is visible, enabled, checked, editable, focused, in view."),
            |asked, it: Is| run(asked, it.context, it.target.parse().map(|of| Command::Is(of, it.asks))),
        ),
        row(
            read("browse_forms", &[(Verb::Post, "/api/browse/forms")], "List the page's forms and their fields, without what stands in them."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Forms)),
        ),
        row(
            read("browse_cookies", &[(Verb::Post, "/api/browse/cookies")], "List the context's cookies: names, hosts and when they end, never values."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Cookies)),
        ),
        row(
            read("browse_storage", &[(Verb::Post, "/api/browse/storage")], "List what the page stores: names and lengths, never values."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Storage)),
        ),
        row(
            read("browse_blocked", &[(Verb::Post, "/api/browse/blocked")], "List what the egress policy refused to the page."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Blocked)),
        ),
        row(
            act("browse_viewport", &[(Verb::Post, "/api/browse/viewport")], "Make the window another size."),
            |asked, it: Viewport| {
                let size = Some((it.width, it.height));
                let look = Look { size, mobile: it.mobile, ..Look::default() };
                run(asked, it.context, Ok(Command::Emulate(look)))
            },
        ),
        row(
            act("browse_emulate", &[(Verb::Post, "/api/browse/emulate")], "Make the window that of a device, or ask pages for other colours, less motion, or what they print."),
            |asked, it: Emulate| {
                let look = it.device.map(Device::look).unwrap_or_default();
                let look = Look { scheme: it.color_scheme, less_motion: it.reduced_motion, print: it.print, ..look };
                run(asked, it.context, Ok(Command::Emulate(look)))
            },
        ),
        row(
            read("browse_tabs", &[(Verb::Post, "/api/browse/tabs")], "List the context's tabs. `*` is the one that commands are about."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Tabs)),
        ),
        row(
            act("browse_tab", &[(Verb::Post, "/api/browse/tab")], "Turn to another tab."),
            |asked, it: TabAt| run(asked, it.context, Ok(Command::Tab(it.tab))),
        ),
        row(
            act("browse_newtab", &[(Verb::Post, "/api/browse/newtab")], "Open another tab, and a page in it.\nPopups are tabs, too; the act that opened one says so."),
            |asked, it: NewTab| run(asked, it.context, Ok(Command::NewTab(it.url))),
        ),
        row(
            act("browse_closetab", &[(Verb::Post, "/api/browse/closetab")], "Close a tab."),
            |asked, it: TabOf| run(asked, it.context, Ok(Command::CloseTab(it.tab))),
        ),
        row(
            read("browse_pdf", &[(Verb::Post, "/api/browse/pdf")], "Print the page as PDF."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Pdf)),
        ),
        row(
            act("browse_download", &[(Verb::Post, "/api/browse/download")], "Click an element, or open an address, and keep the file that is saved.\nIt comes into `downloads` of the home; everything else that pages want to save is refused."),
            |asked, it: Save| {
                let folder = asked.daemon.home.downloads.clone();
                run(asked, it.context, download(&it.target, it.retarget, folder))
            },
        ),
        row(
            read("browse_screenshot", &[(Verb::Post, "/api/browse/screenshot")], "Take a picture of what the window shows."),
            |asked, it: Shot| {
                let of = it.target.map(|it| it.parse()).transpose();
                run(asked, it.context, of.map(|of| Command::Screenshot(Picture { full: it.full, of, marks: it.annotate })))
            },
        ),
        row(
            read("browse_console", &[(Verb::Post, "/api/browse/console")], "Show what the page wrote to its console."),
            |asked, it: Newest| run(asked, it.context, Ok(Command::Console(newest(it.last, true)))),
        ),
        row(
            read("browse_network", &[(Verb::Post, "/api/browse/network")], "List the documents and data that the page asked for."),
            |asked, it: Requests| run(asked, it.context, Ok(Command::Network(newest(it.last, it.all)))),
        ),
        row(
            read("browse_dialogs", &[(Verb::Post, "/api/browse/dialogs")], "List the dialogs that the page opened, and how they were answered."),
            |asked, it: Newest| run(asked, it.context, Ok(Command::Dialogs(newest(it.last, true)))),
        ),
        row(
            read("browse_status", &[(Verb::Post, "/api/browse/status")], "Say where the page is and how many steps were noted."),
            |asked, it: Bare| run(asked, it.context, Ok(Command::Status)),
        ),
        row(
            act("browse_click", &[(Verb::Post, "/api/browse/click")], "Click an element.\nThe answer says what it did: where the page went, what it asked for, whether it changed."),
            |asked, it: On| run(asked, it.context, meant(&it.target, it.retarget).map(Command::Click)),
        ),
        row(
            act("browse_dblclick", &[(Verb::Post, "/api/browse/dblclick")], "Click an element twice."),
            |asked, it: On| run(asked, it.context, meant(&it.target, it.retarget).map(Command::DoubleClick)),
        ),
        row(
            act("browse_hover", &[(Verb::Post, "/api/browse/hover")], "Move the mouse over an element."),
            |asked, it: On| run(asked, it.context, meant(&it.target, it.retarget).map(Command::Hover)),
        ),
        row(
            act("browse_focus", &[(Verb::Post, "/api/browse/focus")], "Put the focus on an element."),
            |asked, it: On| run(asked, it.context, meant(&it.target, it.retarget).map(Command::Focus)),
        ),
        row(
            act("browse_check", &[(Verb::Post, "/api/browse/check")], "Tick a box, or choose a radio button."),
            |asked, it: On| run(asked, it.context, meant(&it.target, it.retarget).map(Command::Check)),
        ),
        row(
            act("browse_uncheck", &[(Verb::Post, "/api/browse/uncheck")], "Take the tick out of a box."),
            |asked, it: On| run(asked, it.context, meant(&it.target, it.retarget).map(Command::Uncheck)),
        ),
        row(
            act("browse_drag", &[(Verb::Post, "/api/browse/drag")], "Drag an element to another, also where the window never shows both."),
            |asked, it: Drag| {
                let command = it.from.parse().and_then(|from| Ok(Command::Drag(from, it.to.parse()?)));
                run(asked, it.context, command)
            },
        ),
        row(
            act("browse_fill", &[(Verb::Post, "/api/browse/fill")], "Empty a field and type into it.\nWhere the field does not hold that afterwards, the answer says what it holds."),
            |asked, it: Fill| run(asked, it.context, meant(&it.target, it.retarget).map(|at| Command::Fill(at, it.value))),
        ),
        row(
            act("browse_select", &[(Verb::Post, "/api/browse/select")], "Choose an option of a list.\nWhere several are called so it is refused, and the answer says how to tell them apart."),
            |asked, it: Choose| run(asked, it.context, meant(&it.target, it.retarget).map(|at| Command::Select(at, it.option))),
        ),
        row(
            act("browse_unselect", &[(Verb::Post, "/api/browse/unselect")], "Take an option of a list back that takes several."),
            |asked, it: Choose| run(asked, it.context, meant(&it.target, it.retarget).map(|at| Command::Unselect(at, it.option))),
        ),
        row(
            act("browse_upload", &[(Verb::Post, "/api/browse/upload")], "Give files to a field for files.\nOnly those in folders that the settings name (`browse.uploads`); none by default."),
            |asked, it: Upload| async move {
                let world = asked.daemon.world();
                let all = files::given(&world.settings.browse.uploads, &it.files)?;
                let command = it.target.parse().map(|at| Command::Upload(at, all));
                run(asked, it.context, command).await
            },
        ),
        row(
            act("browse_js", &[(Verb::Post, "/api/browse/js")], "Run a script in the page, where the settings allow it (`browse.allow_js`)."),
            |asked, it: Script| async move {
                if !asked.daemon.world().settings.browse.allow_js {
                    let err = Error::new(Code::Forbidden, "scripts of callers are not run in pages");
                    return Err(err.hint("the other commands do most of it; `commis settings set browse.allow_js true` allows it").into());
                }
                run(asked, it.context, Ok(Command::Js(it.script))).await
            },
        ),
        row(
            act("browse_diff", &[(Verb::Post, "/api/browse/diff")], "Show what another page shows and this one does not, and the other way round.\nThe other is opened in a tab beside, and closed again."),
            |asked, it: At| run(asked, it.context, Ok(Command::Diff(it.url))),
        ),
        row(
            read("browse_downloads", &[(Verb::Post, "/api/browse/downloads")], "List the files that pages saved where that was asked for."),
            downloads,
        ),
        row(
            act("browse_type", &[(Verb::Post, "/api/browse/type")], "Type where the focus is, key by key."),
            |asked, it: Type| run(asked, it.context, Ok(Command::Type(it.text))),
        ),
        row(
            act("browse_press", &[(Verb::Post, "/api/browse/press")], "Press a key."),
            |asked, it: Press| run(asked, it.context, Ok(Command::Press(it.key))),
        ),
        row(
            act("browse_scroll", &[(Verb::Post, "/api/browse/scroll")], "Scroll the page, a part of it, or to an element.\nThe answer says what scrolled, where it is now, and whether that is its end."),
            |asked, it: Scroll| run(asked, it.context, scroll(&it.to, it.within.as_deref())),
        ),
        row(
            read("browse_wait", &[(Verb::Post, "/api/browse/wait")], "Wait until the page shows a text, until a selector matches, or for a time."),
            |asked, it: Wait| {
                let until = match (it.text, it.selector, it.ms) {
                    (Some(it), None, None) => Ok(Until::Text(it)),
                    (None, Some(it), None) => Ok(Until::Selector(it)),
                    (None, None, Some(ms)) => Ok(Until::Passed(std::time::Duration::from_millis(ms.into()))),
                    _ => Err(Error::new(Code::ParamInvalid, "give one of `text`, `selector`, `ms`")),
                };
                run(asked, it.context, until.map(Command::Wait))
            },
        ),
        row(
            act("browse_dialog", &[(Verb::Post, "/api/browse/dialog")], "Say how the page's next dialog is answered."),
            |asked, it: Dialog| run(asked, it.context, Ok(Command::Dialog(it.accept, it.text))),
        ),
        row(
            read("browse_steps", &[(Verb::Post, "/api/browse/steps")], "Show what was done since the task began, as steps of a manifest."),
            steps,
        ),
        row(
            act("browse_clear", &[(Verb::Post, "/api/browse/clear")], "Forget the steps: the next page that is opened begins another task."),
            clear,
        ),
        row(
            read("browse_audit", &[(Verb::Post, "/api/browse/audit")], "Say what the traffic of the context shows of how its sites keep logins: cookies, forms, addresses, redirects, headers.\nNo value is shown."),
            audit,
        ),
        row(
            act("browse_learn", &[(Verb::Post, "/api/browse/learn")], "Learn what was done since the task began, as a recipe.\nValues that were typed or chosen become parameters where `params` says so; the steps are driven anew, with these values and with the second ones. Needs `learn:write`, too."),
            learn,
        ),
        row(
            act("browse_handoff", &[(Verb::Post, "/api/browse/handoff")], "Give the page to a person, in a window.\nA page without a window moves into one: cookies and what it stores with it, not what its scripts hold in memory. What acts is refused from then on (`PAGE_HANDED_OFF`), what reads is answered."),
            handoff,
        ),
        row(
            act("browse_resume", &[(Verb::Post, "/api/browse/resume")], "Take the page back from a person.\nIt keeps its window. What the person did cannot be learned."),
            resume,
        ),
        row(
            Spec { tool: Tool::Never, ..read("browse_watch", &[(Verb::Post, "/api/browse/watch")], "Make an address at which a person looks on at a page, once, within a minute.\nWhat it opens lasts half an hour: what happens there, as it happens, and pictures. Nobody can act with it. `GET /api/browse/events?context=NAME` is the stream for programs.") },
            watch,
        ),
        row(
            act("browse_close", &[(Verb::Post, "/api/browse/close")], "Close the page and forget its context."),
            close,
        ),
    ]);
}

async fn run(asked: Asked, context: String, command: Result<Command>) -> Out<Shown> {
    plain(Desks::run(&asked.daemon, (&asked.who, &context), command?).await?.into())
}

impl From<Said> for Shown {
    fn from(said: Said) -> Self {
        Self {
            text: said.text,
            effect: said.effect,
            png_base64: said.png.map(|it| STANDARD.encode(it)),
            pdf_base64: said.pdf.map(|it| STANDARD.encode(it)),
        }
    }
}

async fn goto(asked: Asked, it: At) -> Out<Shown> {
    let (of, command) = ((&asked.who, &*it.context), Command::Goto(it.url));
    let said = if it.visible {
        Desks::in_window(&asked.daemon, of, async |desk: &mut Desk| desk.run(command).await).await
    } else {
        Desks::run(&asked.daemon, of, command).await
    };
    plain(said?.into())
}

async fn handoff(asked: Asked, it: Handing) -> Out<Shown> {
    let of = (&asked.who, &*it.context);
    plain(Desks::hand_off(&asked.daemon, of, &it.note).await?.into())
}

async fn resume(asked: Asked, it: Bare) -> Out<Shown> {
    let of = (&asked.who, &*it.context);
    let said = Desks::with(&asked.daemon, of, async |desk: &mut Desk| desk.resume().await);
    plain(said.await?.into())
}

/// The element that a target names. With `retarget` a ref may be another's.
fn meant(target: &str, retarget: bool) -> Result<Target> {
    let it = target.parse()?;
    Ok(match it {
        Target::Ref(n) if retarget => Target::Like(n),
        it => it,
    })
}

fn scroll(to: &str, within: Option<&str>) -> Result<Command> {
    Ok(match (Way::of(to), within) {
        (Some(way), Some(it)) => Command::ScrollIn(it.parse()?, way),
        (Some(way), None) => Command::Scroll(way),
        (None, None) => Command::ScrollTo(to.parse::<Target>()?),
        (None, Some(_)) => {
            return Err(Error::new(Code::ParamInvalid, "`within` goes with a way, such as `down`"));
        }
    })
}

/// An element that is clicked, or an address that answers with a file.
fn download(target: &str, retarget: bool, folder: PathBuf) -> Result<Command> {
    if target.starts_with("http://") || target.starts_with("https://") {
        return Ok(Command::DownloadFrom(target.to_owned(), folder));
    }
    meant(target, retarget).map(|at| Command::Download(at, folder))
}

#[derive(Serialize, JsonSchema)]
struct Audited {
    /// For whoever reads it.
    text: String,
    /// The gravest first.
    findings: Vec<Finding>,
}

async fn audit(asked: Asked, it: Bare) -> Out<Audited> {
    let of = (&asked.who, &*it.context);
    let look = async |desk: &mut Desk| Ok(desk.audit().await);
    let findings = Desks::with(&asked.daemon, of, look).await?;
    let text = findings.iter().map(Finding::told).collect::<Vec<_>>().join("\n");
    plain(Audited { text, findings })
}

#[derive(Serialize, JsonSchema)]
struct Cleared {
    cleared: bool,
}

async fn clear(asked: Asked, it: Bare) -> Out<Cleared> {
    let of = (&asked.who, &*it.context);
    Desks::with(&asked.daemon, of, async |desk: &mut Desk| {
        desk.forget_steps();
        Ok(())
    })
    .await?;
    plain(Cleared { cleared: true })
}

#[derive(Serialize, JsonSchema)]
struct Closed {
    closed: bool,
}

async fn close(asked: Asked, it: Bare) -> Out<Closed> {
    plain(Closed { closed: asked.daemon.desks.close(&asked.who, &it.context) })
}

/// That a person may look on.
#[derive(Serialize, JsonSchema)]
struct Watched {
    /// For a browser; the code stands behind `#`.
    url: String,
    /// Seconds in which it has to be opened.
    holds_sec: u32,
}

async fn watch(asked: Asked, it: Bare) -> Out<Watched> {
    let page = key(&asked.who, page_name(&it.context)?);
    if asked.daemon.desks.feed(&page).is_none() {
        return Err(Error::new(Code::TaskNotFound, "no page of that name is open")
            .hint("`browse goto` opens one")
            .into());
    }
    let (code, over) = asked.daemon.lookers.new_code(page)?;
    if asked.who.scopes.is_some() {
        // Who may look no longer has nobody look on.
        let (daemon, id) = (std::sync::Arc::clone(&asked.daemon), asked.who.id.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = daemon.let_go(&id) => over.cancel(),
                () = tokio::time::sleep(lookers::LASTS) => {}
            }
        });
    }
    let url = format!("http://{}{}#{code}", asked.daemon.addr, lookers::PATH);
    plain(Watched { url, holds_sec: lookers::CODE.as_secs() as u32 })
}

async fn steps(asked: Asked, it: Bare) -> Out<Trail> {
    plain(trail::trail(&asked, &it.context).await?)
}

async fn learn(asked: Asked, it: Learn) -> Out<TaskView> {
    let trail = trail::trail(&asked, &it.context).await?;
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
    trail::learned(asked, trail, wanted).await
}

async fn downloads(asked: Asked, _: Bare) -> Out<Saved> {
    plain(files::downloads(&asked)?)
}
