//! `commis browse`: a page that stays in the daemon's browser, command by command.

use std::{collections::BTreeMap, io::Read as _, path::PathBuf, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::{Parser, Subcommand};
use serde_json::{Value, json};

use super::{Global, daemon, wire};
use crate::{
    error::{Code, Error, Result},
    files,
    serve::client::Client,
};

/// Drive a page that stays: open it, look at it, act on it, learn what was done
///
/// The daemon, which is started where there is none, keeps one browser; each command is one request to it. An act answers with
/// what it did: where the page went, what it asked for, whether it changed. Elements are named by refs of a snapshot (@e17, or @c3
/// of one with -C), by role and name ('button "Add to cart"'), or by css=SELECTOR. A ref means that element in that place; one
/// that has become another is refused.
///
/// Example: commis browse goto http://shop.test/ && commis browse snapshot
#[derive(clap::Args)]
pub struct Args {
    /// The page's context: contexts share nothing
    #[arg(long, default_value = "default", value_name = "NAME")]
    context: String,
    /// Begin the context with a login of the vault: `commis vault ls` lists them
    #[arg(long = "as", value_name = "LOGIN")]
    login: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    command: Command,
}

/// One line of a chain.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Open a page
    Goto { url: String },
    /// Go back to the page before
    Back,
    /// Go forward again
    Forward,
    /// Load the page again
    Reload,
    /// Print the page's address
    Url,
    /// Print its title
    Title,
    /// Print its text, or an element's
    Text { target: Option<String> },
    /// Print its markup, or an element's
    Html { target: Option<String> },
    /// List its links
    Links,
    /// List an element's attributes
    Attrs { target: String },
    /// Say whether an element is visible, enabled, checked, editable, focused, in_view; 1 where it is not
    Is {
        target: String,
        #[arg(value_parser = ["visible", "enabled", "checked", "editable", "focused", "in_view"])]
        asks: String,
    },
    /// List the page's forms and their fields
    Forms,
    /// List the context's cookies, without their values
    Cookies,
    /// List what the page stores, without its values
    Storage,
    /// List what the egress policy refused to it
    Blocked,
    /// Make the window another size
    Viewport {
        width: u32,
        height: u32,
        /// As a telephone
        #[arg(long)]
        mobile: bool,
    },
    /// Make the window that of a device, or ask pages for another look
    Emulate {
        #[arg(value_parser = ["desktop", "phone", "tablet"])]
        device: Option<String>,
        #[arg(long, value_parser = ["light", "dark"])]
        color_scheme: Option<String>,
        #[arg(long)]
        reduced_motion: bool,
        /// As it would be printed
        #[arg(long)]
        print: bool,
    },
    /// List the context's tabs; * is the one that commands are about
    Tabs,
    /// Turn to another tab
    Tab { tab: u32 },
    /// Open another tab, and a page in it
    Newtab { url: Option<String> },
    /// Close a tab (default: the present one)
    Closetab { tab: Option<u32> },
    /// Print the page into a PDF file
    Pdf { file: PathBuf },
    /// Click an element and keep the file that the page saves
    Download { target: String },
    /// Show what is on the page, a line an element, with refs to act on
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
        /// Only what is in there
        #[arg(short = 's', value_name = "CSS")]
        within: Option<String>,
        /// At most so many characters; what is left out is said
        #[arg(long)]
        max_chars: Option<u32>,
    },
    /// Click an element
    Click { target: String },
    /// Click it twice
    Dblclick { target: String },
    /// Move the mouse over it
    Hover { target: String },
    /// Put the focus on it
    Focus { target: String },
    /// Drag an element to another
    Drag { from: String, to: String },
    /// Empty a field and type into it
    Fill {
        target: String,
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Type where the focus is
    Type {
        #[arg(allow_hyphen_values = true)]
        text: String,
    },
    /// Press a key: Enter, ArrowDown, Control+a
    Press {
        #[arg(allow_hyphen_values = true)]
        key: String,
    },
    /// Choose an option of a list
    Select {
        target: String,
        #[arg(allow_hyphen_values = true)]
        option: String,
    },
    /// Tick a box, or choose a radio button
    Check { target: String },
    /// Take the tick out of a box
    Uncheck { target: String },
    /// Scroll to the top, the bottom, up, down, or to an element
    Scroll { to: Option<String> },
    /// Wait until the page shows a text, until a selector matches, or for a time
    Wait {
        #[arg(long, group = "until")]
        text: Option<String>,
        #[arg(long, group = "until", value_name = "CSS")]
        selector: Option<String>,
        /// Milliseconds
        #[arg(long, group = "until")]
        ms: Option<u32>,
    },
    /// Say how the page's next dialog is answered
    Dialog {
        #[arg(value_parser = ["accept", "dismiss"])]
        answer: String,
    },
    /// Take a picture of what the window shows
    Screenshot {
        /// A PNG file
        file: PathBuf,
        /// That element alone
        target: Option<String>,
        /// Also what the window does not show
        #[arg(long)]
        full: bool,
    },
    /// Print what the page wrote to its console
    Console,
    /// List the documents and data that it asked for
    Network,
    /// List its dialogs
    Dialogs,
    /// Say where the page is
    Status,
    /// Print what was done since the task began, as a manifest's steps
    Steps,
    /// Forget the steps: the next goto begins another task
    Clear,
    /// Learn what was done since the task began, as a recipe
    Learn {
        /// What it is about, with {parameter} where values go
        #[arg(long)]
        task: String,
        /// The recipe's name (default: made of the task)
        #[arg(long)]
        name: Option<String>,
        /// A value that was typed or chosen, as its parameter. Repeatable
        #[arg(short, value_name = "NAME=VALUE", value_parser = pair)]
        param: Vec<(String, String)>,
        /// Another value, to prove the recipe on. Repeatable
        #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
        second: Vec<(String, String)>,
    },
    /// Close the page and forget its context
    Close,
    /// Run commands from stdin, one a line, until one fails
    Chain,
}

fn pair(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("give NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let Args { context, login, json, command } = args;
    let (client, _) = daemon::client(global).await?;
    super::vault::mount(&client, login.as_deref(), &context).await?;
    let desk = Desk { client, context, json };
    if !matches!(command, Command::Chain) {
        return desk.run(command).await;
    }
    let mut text = String::new();
    let read = std::io::stdin().take(1 << 20).read_to_string(&mut text);
    read.map_err(|err| Error::new(Code::Usage, "stdin cannot be read").source(err))?;
    for (n, line) in text.lines().enumerate() {
        let at = |err: Error| {
            let out = Error::new(err.code(), format!("line {}: {}", n + 1, err.message()));
            match err.hint_text() {
                Some(hint) => out.hint(hint.to_owned()),
                None => out,
            }
        };
        let wrong = |why: String| at(Error::new(Code::Usage, why));
        let words = shlex::split(line).ok_or_else(|| wrong("a quote is not closed".to_owned()))?;
        if words.is_empty() {
            continue;
        }
        let line = Line::try_parse_from(words).map_err(|err| wrong(err.render().to_string()))?;
        if matches!(line.command, Command::Chain) {
            return Err(wrong("a chain in a chain".to_owned()));
        }
        let code = desk.run(line.command).await.map_err(at)?;
        if code != 0 {
            return Ok(code);
        }
    }
    Ok(0)
}

struct Desk {
    client: Client,
    context: String,
    json: bool,
}

impl Desk {
    async fn ask(&self, command: &str, mut args: Value) -> Result<Value> {
        args["context"] = self.context.as_str().into();
        let mut answer = self.client.post(&format!("/api/browse/{command}"), &args).await?;
        Ok(answer["data"].take())
    }

    async fn run(&self, command: Command) -> Result<u8> {
        let on = |target: String| json!({"target": target});
        let of = |target: Option<String>| target.map_or_else(|| json!({}), on);
        let none = || json!({});
        let (name, args) = match command {
            Command::Goto { url } => ("goto", json!({"url": url})),
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
            Command::Pdf { file } => return self.file(("pdf", none()), "pdf_base64", file).await,
            Command::Download { target } => ("download", on(target)),
            Command::Snapshot { interactive, clickable, changed, within, max_chars } => {
                let mut args =
                    json!({"interactive": interactive, "clickable": clickable, "changed": changed});
                if let Some(it) = within {
                    args["within"] = it.into();
                }
                if let Some(it) = max_chars {
                    args["max_chars"] = it.into();
                }
                ("snapshot", args)
            }
            Command::Click { target } => ("click", on(target)),
            Command::Dblclick { target } => ("dblclick", on(target)),
            Command::Hover { target } => ("hover", on(target)),
            Command::Focus { target } => ("focus", on(target)),
            Command::Drag { from, to } => ("drag", json!({"from": from, "to": to})),
            Command::Fill { target, value } => ("fill", json!({"target": target, "value": value})),
            Command::Type { text } => ("type", json!({"text": text})),
            Command::Press { key } => ("press", json!({"key": key})),
            Command::Select { target, option } => {
                ("select", json!({"target": target, "option": option}))
            }
            Command::Check { target } => ("check", on(target)),
            Command::Uncheck { target } => ("uncheck", on(target)),
            Command::Scroll { to } => ("scroll", json!({"to": to.as_deref().unwrap_or("down")})),
            Command::Wait { text, selector, ms } => {
                let args = match (text, selector, ms) {
                    (Some(it), ..) => json!({"text": it}),
                    (_, Some(it), _) => json!({"selector": it}),
                    (_, _, ms) => json!({"ms": ms.unwrap_or(1000)}),
                };
                ("wait", args)
            }
            Command::Dialog { answer } => ("dialog", json!({"accept": answer == "accept"})),
            Command::Screenshot { file, target, full } => {
                let args = json!({"target": target, "full": full});
                return self.file(("screenshot", args), "png_base64", file).await;
            }
            Command::Console => ("console", none()),
            Command::Network => ("network", none()),
            Command::Dialogs => ("dialogs", none()),
            Command::Status => ("status", none()),
            Command::Steps => return self.steps().await,
            Command::Clear => ("clear", none()),
            Command::Learn { task, name, param, second } => {
                let values =
                    |all: Vec<(String, String)>| all.into_iter().collect::<BTreeMap<_, _>>();
                let mut args =
                    json!({"task": task, "params": values(param), "second": values(second)});
                if let Some(it) = name {
                    args["name"] = it.into();
                }
                return self.learn(args).await;
            }
            Command::Close => ("close", none()),
            Command::Chain => {
                return Err(Error::new(Code::Internal, "a chain is no command of a page"));
            }
        };
        let data = self.ask(name, args).await?;
        let no = name == "is" && data["text"] == "false";
        if self.json {
            wire::out(&data);
        } else if let Some(text) = data["text"].as_str() {
            wire::line(&wire::clean(text));
        } else if data["closed"] == false {
            wire::say("there was no such page");
        }
        Ok(u8::from(no))
    }

    /// Puts what a command answers into a file.
    async fn file(&self, (command, args): (&str, Value), at: &str, file: PathBuf) -> Result<u8> {
        let data = self.ask(command, args).await?;
        let bytes = data[at].as_str().and_then(|it| STANDARD.decode(it).ok());
        let bytes =
            bytes.ok_or_else(|| Error::new(Code::BrowserFailed, "the browser sent no file"))?;
        let file = std::path::absolute(&file).unwrap_or(file);
        let (Some(folder), Some(name)) =
            (file.parent(), file.file_name().and_then(|it| it.to_str()))
        else {
            return Err(Error::new(Code::Usage, "this is no file"));
        };
        files::write_atomic(folder, name, &bytes)?;
        if self.json {
            wire::out(&json!({"file": file, "bytes": bytes.len()}));
        } else {
            wire::say(&format!(
                "{} bytes in {}",
                bytes.len(),
                wire::clean(&file.to_string_lossy())
            ));
        }
        Ok(0)
    }

    async fn steps(&self) -> Result<u8> {
        let data = self.ask("steps", json!({})).await?;
        if self.json {
            wire::out(&data);
            return Ok(0);
        }
        let yaml = json!({"url": data["url"], "steps": data["steps"]});
        let yaml = serde_saphyr::to_string(&yaml).map_err(|err| {
            Error::new(Code::Internal, "steps cannot be written as YAML").source(err)
        })?;
        wire::line(wire::clean(&yaml).trim_end());
        for it in data["lost"].as_array().into_iter().flatten() {
            wire::say(&wire::clean(&format!(
                "not among them: {}",
                it.as_str().unwrap_or_default()
            )));
        }
        Ok(0)
    }

    /// Begins to learn, and waits until it has ended.
    async fn learn(&self, args: Value) -> Result<u8> {
        let task = self.ask("learn", args).await?;
        let id = task["task_id"].as_str().unwrap_or_default().to_owned();
        let mut stage = String::new();
        loop {
            let it = self.client.get(&format!("/api/tasks/{id}")).await?;
            let it = &it["data"];
            if let Some(now) = it["stage"].as_str().filter(|it| *it != stage) {
                wire::say(now);
                now.clone_into(&mut stage);
            }
            if !it["ended_ms"].is_null() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let done = self.client.get(&format!("/api/tasks/{id}/result")).await?;
        let learned = &done["data"];
        if self.json {
            wire::out(learned);
        } else {
            let text = |name: &str| wire::clean(learned[name].as_str().unwrap_or_default());
            wire::line(&format!("{}: {}", text("name"), text("outcome")));
        }
        Ok(0)
    }
}
