//! Our own browser as the loop's hands: a page of the daemon that stays, behind the contract's judge.

use std::{path::PathBuf, sync::Arc};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::{Daemon, page_sessions::PageSessions, principal::Principal};
use commis_agent::{Action, ActionResult, BrowserDriver, PageView, PausedRequest};
use commis_base::{
    error::{Code, Error, Result},
    files,
};
use commis_browser::{
    named_key,
    page_session::{
        Command, PageController, ScreenshotOptions, ScrollDirection, SnapshotOptions, Target,
        WaitCondition,
    },
    paused_requests::{HeldRequest, RequestJudge},
};
use commis_model::Tool;
use commis_net::egress::site_of;

/// Characters of a page.
const MOST: usize = 40_000;

/// Closes its page when it is dropped, unless it is left open.
pub struct LocalDriver {
    daemon: Arc<Daemon>,
    principal: Principal,
    context: String,
    judge: Option<RequestJudge>,
    /// Where pictures come.
    folder: PathBuf,
    pictures: u32,
    stays: bool,
}

impl LocalDriver {
    /// `context`: a page of that caller's that is not open.
    pub fn new(
        daemon: Arc<Daemon>,
        principal: Principal,
        context: String,
        judge: RequestJudge,
        folder: PathBuf,
    ) -> Self {
        let judge = Some(judge);
        Self { daemon, principal, context, judge, folder, pictures: 0, stays: false }
    }

    /// The page stays open, and with it what waits there.
    pub fn leave_open(mut self) {
        self.stays = true;
    }

    /// The same page again, which was left open.
    pub fn reattach(
        daemon: Arc<Daemon>,
        principal: Principal,
        context: String,
        folder: PathBuf,
    ) -> Self {
        Self { daemon, principal, context, judge: None, folder, pictures: 0, stays: false }
    }

    /// Puts that login into the page, before anything is done there.
    pub async fn log_in(&mut self, (name, held): &super::request::NamedLogin) -> Result<()> {
        self.with(async |controller: &mut PageController| {
            controller.mount(name, held).await.map(drop)
        })
        .await
    }

    async fn with<T>(
        &mut self,
        what: impl AsyncFnOnce(&mut PageController) -> Result<T>,
    ) -> Result<T> {
        let judge = self.judge.take();
        PageSessions::with(
            &self.daemon,
            (&self.principal, &self.context),
            async |controller: &mut PageController| {
                match judge {
                    // Before its first page.
                    Some(it) => controller.hold(it),
                    // It crashed, hung or went with its browser: another page would hold nothing back.
                    None if !controller.is_holding() => {
                        return Err(Error::new(
                            Code::BrowserFailed,
                            "the page of the task was closed",
                        )
                        .hint("start the task again"));
                    }
                    None => {}
                }
                what(controller).await
            },
        )
        .await
    }
}

impl Drop for LocalDriver {
    fn drop(&mut self) {
        if !self.stays {
            self.daemon.page_sessions.close(&self.principal, &self.context);
        }
    }
}

/// A request as the loop knows it.
pub fn to_held_request_data(it: &HeldRequest) -> PausedRequest {
    PausedRequest {
        id: it.number.to_string(),
        method: it.method.clone(),
        url: it.url.clone(),
        headers: it.headers.clone(),
        body: it.body.clone(),
        is_opaque: it.is_opaque,
        why: it.why.clone(),
        cookies: it.cookies.clone(),
    }
}

fn tool(name: &str, help: &str, properties: Value, required: &[&str]) -> Tool {
    let input = json!({"type": "object", "properties": properties, "required": required});
    Tool { name: name.to_owned(), help: help.to_owned(), input }
}

/// What the loop's model may do in our browser. No scripts, no files, no cookies, no other contexts.
fn tools() -> Vec<Tool> {
    let text = |help: &str| json!({"type": "string", "description": help});
    let target = || text("@e12 of the page, or a role and a name such as button \"Search\"");
    vec![
        tool("goto", "Open a page.", json!({"url": text("An absolute address")}), &["url"]),
        tool("back", "Go back to the page before.", json!({}), &[]),
        tool("snapshot", "Look at the page again.", json!({}), &[]),
        tool("text", "Read the page's text.", json!({}), &[]),
        tool("click", "Click an element.", json!({"target": target()}), &["target"]),
        tool(
            "fill",
            "Empty a field and type into it.",
            json!({"target": target(), "value": text("What is to stand there")}),
            &["target", "value"],
        ),
        tool("press", "Press a key.", json!({"key": text("Enter, Escape, ArrowDown")}), &["key"]),
        tool(
            "select",
            "Choose an option of a list.",
            json!({"target": target(), "option": text("The option's label")}),
            &["target", "option"],
        ),
        tool(
            "check",
            "Tick a box or choose a radio button.",
            json!({"target": target()}),
            &["target"],
        ),
        tool("uncheck", "Take the tick out of a box.", json!({"target": target()}), &["target"]),
        tool("scroll", "Scroll.", json!({"to": text("top, bottom, up, down")}), &["to"]),
        tool(
            "dialog",
            "Say how the page's next dialog is answered, before the action that opens it.",
            json!({"accept": {"type": "boolean"}}),
            &["accept"],
        ),
        tool(
            "wait",
            "Wait until the page shows a text.",
            json!({"text": text("The text")}),
            &["text"],
        ),
    ]
}

/// Fails with `PARAM_INVALID`.
fn command(act: &Action) -> Result<Command> {
    let text = |name: &str| {
        act.text(name).map(str::to_owned).ok_or_else(|| {
            Error::new(Code::ParamInvalid, format!("`{name}` is missing or not a text"))
        })
    };
    let target = || text("target").and_then(|it| it.parse::<Target>());
    Ok(match act.name.as_str() {
        "goto" => Command::Goto(text("url")?),
        "back" => Command::Back,
        "snapshot" => Command::Status,
        "text" => Command::Text(None),
        "click" => Command::Click(target()?),
        "fill" => Command::Fill(target()?, text("value")?),
        // A key that writes would write a value letter by letter, which nobody judges.
        "press" => match text("key")? {
            it if named_key(&it) => Command::Press(it),
            _ => {
                let why = "only keys that have a name are pressed here";
                return Err(Error::new(Code::ParamInvalid, why).hint("`fill` needs a `value`"));
            }
        },
        "select" => Command::Select(target()?, text("option")?),
        "check" => Command::Check(target()?),
        "uncheck" => Command::Uncheck(target()?),
        "scroll" => Command::Scroll(match act.text("to") {
            Some("top") => ScrollDirection::Top,
            Some("bottom") => ScrollDirection::Bottom,
            Some("up") => ScrollDirection::Up,
            Some("down") => ScrollDirection::Down,
            _ => return Err(Error::new(Code::ParamInvalid, "`to` is top, bottom, up or down")),
        }),
        "dialog" => Command::Dialog(act.arguments.get("accept") == Some(&Value::Bool(true)), None),
        "wait" => Command::Wait(WaitCondition::Text(text("text")?)),
        _ => return Err(Error::new(Code::ParamInvalid, "there is no such action")),
    })
}

impl BrowserDriver for LocalDriver {
    fn tools(&self) -> Vec<Tool> {
        tools()
    }

    fn act<'a>(&'a mut self, act: &'a Action, on: &'a str) -> BoxFuture<'a, Result<ActionResult>> {
        Box::pin(async move {
            let command = command(act)?;
            let stays = !matches!(command, Command::Goto(_));
            self.with(async |controller: &mut PageController| {
                if stays {
                    let now = controller.run(Command::Url).await?.text;
                    if site_of(&now) != site_of(on) {
                        let why = "the page is of another site now than when it was looked at";
                        return Err(Error::new(Code::RefStale, why).hint("take a new snapshot"));
                    }
                    controller.keep_to(site_of(on));
                }
                let done = controller.run(command).await;
                let held: Vec<PausedRequest> =
                    controller.waiting_now().await?.iter().map(to_held_request_data).collect();
                match done {
                    Ok(said) => Ok(ActionResult { text: said.text, held }),
                    // A page that waits for an answer may not answer itself.
                    Err(err) if !held.is_empty() => {
                        Ok(ActionResult { text: err.to_string(), held })
                    }
                    Err(err) => Err(err),
                }
            })
            .await
        })
    }

    fn snapshot(&mut self) -> BoxFuture<'_, Result<PageView>> {
        Box::pin(async move {
            let wish = SnapshotOptions { max_chars: Some(MOST), ..SnapshotOptions::default() };
            let command = Command::Snapshot { wish, clickable: false, within: None };
            let (url, title, content) = self
                .with(async |controller: &mut PageController| {
                    // What it shows and where it is have to be of one document.
                    let mut before = controller.run(Command::Url).await?.text;
                    for _ in 0..3 {
                        let content = controller.run(command.clone()).await?.text;
                        let title = controller.run(Command::Title).await?.text;
                        let url = controller.run(Command::Url).await?.text;
                        if url == before {
                            return Ok((url, title, content));
                        }
                        before = url;
                    }
                    Err(Error::new(
                        Code::StepFailed,
                        "the page keeps navigating to other addresses",
                    ))
                })
                .await?;
            // Its first line is address and title.
            let content = content.split_once('\n').map_or("", |it| it.1);
            PageView::new(Some(&url), Some(title.trim_matches('"')), Some(content))
        })
    }

    fn drawn(&mut self) -> BoxFuture<'_, Result<Option<String>>> {
        Box::pin(async move {
            let said = self
                .with(async |controller: &mut PageController| {
                    controller.run(Command::Text(None)).await
                })
                .await?;
            Ok(Some(said.text))
        })
    }

    fn picture(&mut self) -> BoxFuture<'_, Result<Option<PathBuf>>> {
        Box::pin(async move {
            let what = ScreenshotOptions::default();
            let said = self
                .with(async |controller: &mut PageController| {
                    controller.run(Command::Screenshot(what)).await
                })
                .await?;
            let Some(png) = said.png else { return Ok(None) };
            self.pictures += 1;
            let name = format!("{}-{}.png", self.context, self.pictures);
            let folder = self.folder.clone();
            let path = folder.join(&name);
            files::open_or_create(&folder)?.write_unsynced(&name, &png)?;
            Ok(Some(path))
        })
    }

    fn hand_over(&mut self, note: &str) -> BoxFuture<'_, bool> {
        let note = note.to_owned();
        Box::pin(async move {
            let of = (&self.principal, self.context.as_str());
            let handed = PageSessions::hand_off(&self.daemon, of, &note).await;
            if let Err(err) = &handed {
                tracing::info!(code = err.code().as_str(), "no window for a person");
            }
            handed.is_ok()
        })
    }

    fn take_back(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.with(async |controller: &mut PageController| controller.resume().await.map(drop))
                .await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_is_an_action_and_there_are_no_others() {
        let arguments = json!({"url": "http://a.test/", "target": "@e1", "value": "x", "key": "Enter",
            "option": "x", "to": "top", "accept": true, "text": "x"});
        let Value::Object(arguments) = arguments else { panic!("no object") };
        for it in tools() {
            let act = Action { name: it.name.clone(), arguments: arguments.clone() };
            assert!(command(&act).is_ok(), "{}", it.name);
        }
        for name in ["js", "upload", "download", "cookies", "storage", "approve", "newtab", "html"]
        {
            let act = Action { name: name.into(), arguments: arguments.clone() };
            assert!(command(&act).is_err(), "{name}");
        }
    }
}
