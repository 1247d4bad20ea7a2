//! `commis browse` as it is typed, and the operation of the daemon that each command is.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value, json};

use crate::{client::Client, output};
use commis_base::{error::Result, ids::plain};

/// Drive a page: open it, read it, act on it, learn from it
///
/// The daemon keeps one browser and is started if none is running. Each command is one request to it. An action answers with
/// its effect: navigation, requests, and whether the page changed. Name elements by refs of a snapshot (@e17, or @c3 of one
/// with -C), by role and name ('button "Add to cart"'), or by css=SELECTOR. "at X,Y" after one of these is a point in it
/// ('css=canvas at 120,80'). A ref means that element in that place; if it has changed, the command is refused.
///
/// Example: commis browse goto http://shop.test/ && commis browse snapshot
#[derive(clap::Args)]
pub struct Args {
    /// The page's context: contexts share nothing
    #[arg(long, default_value = "default", value_name = "NAME")]
    pub context: String,
    /// Open the context with a login of the vault: `commis vault ls` lists them
    #[arg(long = "as", value_name = "LOGIN")]
    pub login: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

// What each of them does is said by the table of operations, which the help is made of.
#[derive(Subcommand)]
pub enum Command {
    Goto {
        /// The page's address
        url: String,
        /// In a visible window, which the page keeps
        #[arg(long)]
        visible: bool,
    },
    Back,
    Forward,
    Reload,
    Url,
    Title,
    Text {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR; the whole page when absent
        target: Option<String>,
    },
    Html {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR; the whole page when absent
        target: Option<String>,
    },
    Links,
    Attrs {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
    },
    Is {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// What is asked of it
        #[arg(value_parser = ["visible", "enabled", "checked", "editable", "focused", "in_view"])]
        asks: String,
    },
    Forms,
    Cookies,
    Storage,
    Blocked,
    Viewport {
        /// In CSS pixels
        width: u32,
        /// In CSS pixels
        height: u32,
        /// As a telephone
        #[arg(long)]
        mobile: bool,
    },
    Emulate {
        /// What the page takes itself to be shown on
        #[arg(value_parser = ["desktop", "phone", "tablet"])]
        device: Option<String>,
        /// What the page takes the person to prefer
        #[arg(long, value_parser = ["light", "dark"])]
        color_scheme: Option<String>,
        /// The page takes the person to want no animations
        #[arg(long)]
        reduced_motion: bool,
        /// As it would be printed
        #[arg(long)]
        print: bool,
    },
    Tabs,
    Tab {
        /// The tab's number, as `browse tabs` shows it
        tab: u32,
    },
    Newtab {
        /// The page's address; an empty page when absent
        url: Option<String>,
    },
    Closetab {
        /// The tab's number, as `browse tabs` shows it
        tab: Option<u32>,
    },
    Pdf {
        /// The file that is written
        file: PathBuf,
    },
    Download {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR, or the absolute address of a file
        target: String,
    },
    Snapshot {
        /// Only what can be acted on
        #[arg(short)]
        interactive: bool,
        /// Also what can be clicked and has no role, as @c1
        #[arg(short = 'C')]
        clickable: bool,
        /// Only what changed since the last snapshot
        #[arg(short = 'D')]
        changed: bool,
        /// Rows alike are shown twice and counted
        #[arg(short)]
        compact: bool,
        /// Only what is in there
        #[arg(short = 's', value_name = "CSS")]
        within: Option<String>,
        /// At most so many characters; what is left out is said
        #[arg(long)]
        max_chars: Option<u32>,
    },
    Click {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// Where a ref's element is another now, act on the only one that is called so
        #[arg(long)]
        retarget: bool,
    },
    Dblclick {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// Where a ref's element is another now, act on the only one that is called so
        #[arg(long)]
        retarget: bool,
    },
    Hover {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// Where a ref's element is another now, act on the only one that is called so
        #[arg(long)]
        retarget: bool,
    },
    Focus {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// Where a ref's element is another now, act on the only one that is called so
        #[arg(long)]
        retarget: bool,
    },
    Drag {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        from: String,
        /// Where it is dropped, named in the same way
        to: String,
    },
    Fill {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// The text that the field has afterwards
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Where a ref's element is another now, act on the only one that is called so
        #[arg(long)]
        retarget: bool,
    },
    Upload {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// Files that are given to it
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    Js {
        /// An expression; its value is printed as JSON
        #[arg(allow_hyphen_values = true)]
        script: String,
    },
    Diff {
        /// The page that the open one is compared with
        url: String,
    },
    Downloads,
    Type {
        /// What is typed, key by key, where the focus is
        #[arg(allow_hyphen_values = true)]
        text: String,
    },
    Press {
        /// A key by its name, such as Enter or Control+A
        #[arg(allow_hyphen_values = true)]
        key: String,
    },
    Select {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// The option's label or value
        #[arg(allow_hyphen_values = true)]
        option: String,
        /// Where a ref's element is another now, act on the only one that is called so
        #[arg(long)]
        retarget: bool,
    },
    Unselect {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// The option's label or value
        #[arg(allow_hyphen_values = true)]
        option: String,
        /// Where a ref's element is another now, act on the only one that is called so
        #[arg(long)]
        retarget: bool,
    },
    Check {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// Where a ref's element is another now, act on the only one that is called so
        #[arg(long)]
        retarget: bool,
    },
    Uncheck {
        /// Which element: @e17 of a snapshot, 'button "Add to cart"', or css=SELECTOR
        target: String,
        /// Where a ref's element is another now, act on the only one that is called so
        #[arg(long)]
        retarget: bool,
    },
    Scroll {
        /// up, down, top, bottom, or an element that comes into view
        to: Option<String>,
        /// What scrolls: that element, what scrolls in it, or what it stands in
        #[arg(long = "in", value_name = "TARGET", allow_hyphen_values = true)]
        within: Option<String>,
    },
    Wait {
        /// Until the page shows this
        #[arg(long, group = "until")]
        text: Option<String>,
        /// Until there is such an element
        #[arg(long, group = "until", value_name = "CSS")]
        selector: Option<String>,
        /// Milliseconds
        #[arg(long, group = "until")]
        ms: Option<u32>,
    },
    Dialog {
        /// What the dialog is answered
        #[arg(value_parser = ["accept", "dismiss"])]
        answer: String,
        /// What is typed into one that asks for words
        text: Option<String>,
    },
    Screenshot {
        /// A PNG file
        file: PathBuf,
        /// That element alone
        target: Option<String>,
        /// Also what the window does not show
        #[arg(long)]
        full: bool,
        /// With the refs of what can be acted on
        #[arg(short)]
        annotate: bool,
    },
    Console {
        /// The newest so many
        #[arg(long, default_value_t = 100)]
        last: u32,
    },
    Network {
        /// The newest so many
        #[arg(long, default_value_t = 100)]
        last: u32,
        /// Also pictures, styles and scripts
        #[arg(long)]
        all: bool,
    },
    Dialogs {
        /// The newest so many
        #[arg(long, default_value_t = 100)]
        last: u32,
    },
    Status,
    Steps,
    Clear,
    Audit,
    Learn {
        /// What it is about, with {parameter} where values go
        #[arg(long)]
        task: String,
        /// Name of the recipe (default: from the task)
        #[arg(long)]
        name: Option<String>,
        /// A parameter for a typed or chosen value. Repeatable
        #[arg(short, value_name = "NAME=VALUE", value_parser = pair)]
        param: Vec<(String, String)>,
        /// Another value, to prove the recipe on. Repeatable
        #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
        second: Vec<(String, String)>,
        /// The login of another account, which must be refused or get other data
        #[arg(long, value_name = "NAME")]
        second_login: Option<String>,
    },
    Handoff {
        /// What the person is to do
        #[arg(long, default_value = "")]
        note: String,
    },
    Resume,
    Watch {
        /// Print an address instead, at which a person looks on in a browser: once, within a minute, for half an hour
        #[arg(long)]
        page: bool,
    },
    Close,
    /// Run commands from stdin, one a line, until one fails
    Chain,
}

impl Command {
    /// The daemon's operation that prints its text, with the arguments. The command itself where there is more to do.
    pub fn into_operation(self) -> std::result::Result<(&'static str, Value), Self> {
        let on = |target: String| json!({"target": target});
        let at = |target: String, retarget: bool| json!({"target": target, "retarget": retarget});
        let of = |target: Option<String>| target.map_or_else(|| json!({}), on);
        let none = || json!({});
        Ok(match self {
            Command::Goto { url, visible } => ("goto", json!({"url": url, "visible": visible})),
            Command::Back => ("back", none()),
            Command::Forward => ("forward", none()),
            Command::Reload => ("reload", none()),
            Command::Url => ("url", none()),
            Command::Title => ("title", none()),
            Command::Text { target } => ("text", of(target)),
            Command::Html { target } => ("html", of(target)),
            Command::Links => ("links", none()),
            Command::Attrs { target } => ("attrs", on(target)),
            Command::Is { target, asks } => ("is", json!({"target": target, "asks": asks})),
            Command::Forms => ("forms", none()),
            Command::Cookies => ("cookies", none()),
            Command::Storage => ("storage", none()),
            Command::Blocked => ("blocked", none()),
            Command::Viewport { width, height, mobile } => {
                ("viewport", json!({"width": width, "height": height, "mobile": mobile}))
            }
            Command::Emulate { device, color_scheme, reduced_motion, print } => {
                let args = json!({"device": device, "color_scheme": color_scheme,
                    "reduced_motion": reduced_motion, "print": print});
                ("emulate", args)
            }
            Command::Tabs => ("tabs", none()),
            Command::Tab { tab } => ("tab", json!({"tab": tab})),
            Command::Newtab { url } => ("newtab", json!({"url": url})),
            Command::Closetab { tab } => ("closetab", json!({"tab": tab})),
            Command::Download { target } => ("download", on(target)),
            Command::Snapshot { interactive, clickable, changed, compact, within, max_chars } => {
                let mut args = json!({"interactive": interactive, "clickable": clickable, "changed": changed, "compact": compact});
                if let Some(it) = within {
                    args["within"] = it.into();
                }
                if let Some(it) = max_chars {
                    args["max_chars"] = it.into();
                }
                ("snapshot", args)
            }
            Command::Click { target, retarget } => ("click", at(target, retarget)),
            Command::Dblclick { target, retarget } => ("dblclick", at(target, retarget)),
            Command::Hover { target, retarget } => ("hover", at(target, retarget)),
            Command::Focus { target, retarget } => ("focus", at(target, retarget)),
            Command::Drag { from, to } => ("drag", json!({"from": from, "to": to})),
            Command::Fill { target, value, retarget } => {
                ("fill", json!({"target": target, "value": value, "retarget": retarget}))
            }
            Command::Upload { target, files } => {
                let files: Vec<PathBuf> =
                    files.into_iter().map(|it| std::path::absolute(&it).unwrap_or(it)).collect();
                ("upload", json!({"target": target, "files": files}))
            }
            Command::Js { script } => ("js", json!({"script": script})),
            Command::Diff { url } => ("diff", json!({"url": url})),
            Command::Downloads => ("downloads", none()),
            Command::Type { text } => ("type", json!({"text": text})),
            Command::Press { key } => ("press", json!({"key": key})),
            Command::Select { target, option, retarget } => {
                ("select", json!({"target": target, "option": option, "retarget": retarget}))
            }
            Command::Unselect { target, option, retarget } => {
                ("unselect", json!({"target": target, "option": option, "retarget": retarget}))
            }
            Command::Check { target, retarget } => ("check", at(target, retarget)),
            Command::Uncheck { target, retarget } => ("uncheck", at(target, retarget)),
            Command::Scroll { to, within } => {
                let to = to.as_deref().unwrap_or("down");
                ("scroll", json!({"to": to, "within": within}))
            }
            Command::Wait { text, selector, ms } => {
                let args = match (text, selector, ms) {
                    (Some(it), ..) => json!({"text": it}),
                    (_, Some(it), _) => json!({"selector": it}),
                    (_, _, ms) => json!({"ms": ms.unwrap_or(1000)}),
                };
                ("wait", args)
            }
            Command::Dialog { answer, text } => {
                ("dialog", json!({"accept": answer == "accept", "text": text}))
            }
            Command::Console { last } => ("console", json!({"last": last})),
            Command::Network { last, all } => ("network", json!({"last": last, "all": all})),
            Command::Dialogs { last } => ("dialogs", json!({"last": last})),
            Command::Status => ("status", none()),
            Command::Clear => ("clear", none()),
            Command::Audit => ("audit", none()),
            Command::Handoff { note } => ("handoff", json!({"note": note})),
            Command::Resume => ("resume", none()),
            Command::Watch { page: true } => ("watch", none()),
            Command::Close => ("close", none()),
            it @ (Command::Pdf { .. }
            | Command::Screenshot { .. }
            | Command::Steps
            | Command::Learn { .. }
            | Command::Watch { page: false }
            | Command::Chain) => return Err(it),
        })
    }
}

/// Splits `NAME=VALUE`, as arguments give it.
pub fn pair(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').filter(|it| !it.0.is_empty()).ok_or("give NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Prints what the daemon answered that operation with. Returns the exit code: 1 for the answer no.
pub fn print_answer(operation: &str, data: &Value, json: bool) -> u8 {
    let no = operation == "is" && data["text"] == "false";
    if json {
        output::out(data);
    } else if let Some(text) = data["text"].as_str() {
        output::line(&plain(text));
    } else if let Some(url) = data["url"].as_str() {
        output::line(url);
    } else if data["closed"] == false {
        output::say("there was no such page");
    }
    u8::from(no)
}

/// Asks the daemon for an operation on a page, and returns its data. Fails as [`Client::post`].
pub async fn call(
    client: &Client,
    context: &str,
    operation: &str,
    mut args: Value,
) -> Result<Value> {
    args["context"] = context.into();
    let mut answer = client.post(&format!("/api/browse/{operation}"), &args).await?;
    Ok(answer["data"].take())
}
