//! Tabs of a desk, what its pages save, and what they are made to look like.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    CommandOutput, Effect, LOAD, PageController, QUIET, ReachableTarget, Target, cut, plain, quoted,
};
use crate::{
    aim::PressWatch,
    context_state::{ContextState, MAX_SAVED, SavedFile},
    page,
    plan::Step,
    pointer,
};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
};

/// Pixels of a side.
const SIDES: std::ops::RangeInclusive<u32> = 100..=4000;
/// A popup may take so long to come up.
const COMES: Duration = Duration::from_secs(2);
/// A page may take so long to begin to save something.
const BEGINS: Duration = Duration::from_secs(5);
/// Characters of a file's name.
const NAME: usize = 100;

/// What a window is made to look like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmulationOptions {
    pub size: Option<(u32, u32)>,
    /// Pixels of the device for one of the page.
    pub scale: Option<f64>,
    /// A finger, the page's own width, and a telephone's `User-Agent`.
    pub mobile: bool,
    pub scheme: Option<ColorScheme>,
    pub less_motion: bool,
    pub print: bool,
}

/// Which colours the page is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColorScheme {
    Light,
    Dark,
}

/// Windows that are known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DevicePreset {
    /// 1280 by 720.
    Desktop,
    /// 412 by 915 at 2.625, with a finger.
    Phone,
    /// 800 by 1280 at 2, with a finger.
    Tablet,
}

impl DevicePreset {
    pub fn emulation_options(self) -> EmulationOptions {
        let (size, scale, mobile) = match self {
            Self::Desktop => ((1280, 720), 1.0, false),
            Self::Phone => ((412, 915), 2.625, true),
            Self::Tablet => ((800, 1280), 2.0, true),
        };
        EmulationOptions {
            size: Some(size),
            scale: Some(scale),
            mobile,
            ..EmulationOptions::default()
        }
    }
}

impl PageController {
    pub(super) async fn tabs(&self) -> Result<CommandOutput> {
        let shared = self.shared();
        let (now, all) = {
            let state = shared.lock();
            let all: Vec<_> = state
                .tabs
                .iter()
                .flat_map(|it| &it.all)
                .map(|it| (it.number, it.page.clone()))
                .collect();
            (state.tab(), all)
        };
        let mut lines = Vec::new();
        for (number, it) in all {
            // One that hangs is listed without what it shows.
            let main = page::MainDocument { session: &it.session, frame: &it.target, last: None };
            let (url, title) = match page::head(&shared.cdp, main).await {
                Ok((_, it)) => it,
                Err(_) => Default::default(),
            };
            let mark = if number == now { "*" } else { " " };
            let url = cut(&plain(&commis_redact::message(&url)), 200);
            lines.push(format!(
                "{mark} tab {number} {url} {}",
                quoted(&plain(&commis_redact::message(&title)))
            ));
        }
        Ok(lines.join("\n").into())
    }

    /// Fails with `PARAM_INVALID` where there is no such tab.
    pub(super) async fn tab(&mut self, number: u32) -> Result<CommandOutput> {
        let shared = self.shared();
        if !shared.lock().turn_to(number) {
            return Err(no_tab(number));
        }
        self.went_to(number);
        self.arrived()?;
        Ok(format!("tab {number}: {}", self.url().await?).into())
    }

    pub(super) async fn new_tab(&mut self, url: Option<String>) -> Result<CommandOutput> {
        let shared = self.shared();
        let last = shared.lock().tabs.as_ref().map_or(0, |it| it.last);
        if !shared.lock().takes_tabs() {
            return Err(Error::new(Code::QueueFull, "the context has reached its limit of tabs")
                .hint("`browse closetab` closes one"));
        }
        let params = json!({ "url": "about:blank", "browserContextId": shared.id });
        shared.cdp.run(None, "Target.createTarget", params).await?;
        let newer =
            |it: &ContextState| it.tabs.as_ref().and_then(|it| it.newer(last)).map(|it| it.number);
        shared.until(Instant::now() + self.timeout, |it| newer(it).is_some()).await?;
        let number = newer(&shared.lock());
        let number = number
            .ok_or_else(|| Error::new(Code::BrowserFailed, "the browser did not open a new tab"))?;
        shared.lock().turn_to(number);
        self.dress().await?;
        let Some(url) = url else { return Ok(format!("tab {number} is empty").into()) };
        let mut said = self.goto(&url).await?;
        said.text = format!("tab {number}: {}", said.text);
        Ok(said)
    }

    /// Fails with `PARAM_INVALID` where there is no such tab, or no other one.
    pub(super) async fn close_tab(&mut self, number: Option<u32>) -> Result<CommandOutput> {
        let shared = self.shared();
        let (number, target) = {
            let state = shared.lock();
            let number = number.unwrap_or_else(|| state.tab());
            let all = state.tabs.as_ref().map(|it| &it.all[..]).unwrap_or_default();
            let Some(it) = all.iter().find(|it| it.number == number) else {
                return Err(no_tab(number));
            };
            if all.len() == 1 {
                return Err(Error::new(Code::ParamInvalid, "this is the only tab")
                    .hint("`browse close` closes the context"));
            }
            (number, it.page.target.clone())
        };
        shared.cdp.run(None, "Target.closeTarget", json!({ "targetId": target })).await?;
        let gone = |it: &ContextState| {
            it.tabs.as_ref().is_none_or(|it| it.all.iter().all(|it| it.number != number))
        };
        shared.until(Instant::now() + self.timeout, gone).await?;
        let now = shared.lock().tab();
        self.went_to(now);
        self.arrived()?;
        Ok(format!("closed tab {number}; now in tab {now}: {}", self.url().await?).into())
    }

    /// A page that hangs is closed alone, and an empty one takes its place. Fails with `QUEUE_FULL` and `BROWSER_FAILED`.
    pub(super) async fn leave_behind(&mut self) -> Result<()> {
        let shared = self.shared();
        let old = shared.page()?;
        self.new_tab(None).await?;
        shared.cdp.run(None, "Target.closeTarget", json!({ "targetId": old.target })).await?;
        let gone = |it: &ContextState| {
            it.tabs.as_ref().is_none_or(|it| it.by_session(&old.session).is_none())
        };
        shared.until(Instant::now() + self.timeout, gone).await?;
        if !self.steps.is_empty() {
            self.lost.push("a page that stopped responding".to_owned());
        }
        Ok(())
    }

    /// What an act did to the tabs: one that came is the page from here on.
    pub(super) async fn turned(&mut self, before: (u32, u32), out: &mut Effect) -> Result<bool> {
        let (tab, last) = before;
        let shared = self.shared();
        let come = |it: &ContextState| it.tabs.as_ref().is_none_or(|it| !it.coming);
        shared.until(Instant::now() + COMES, come).await?;
        let newer = {
            let mut state = shared.lock();
            let newer = state.tabs.as_ref().and_then(|it| it.newer(last)).map(|it| it.number);
            if let Some(it) = newer {
                state.turn_to(it);
                state.popup = None;
            }
            newer
        };
        let now = shared.lock().tab();
        if now == tab {
            return Ok(false);
        }
        out.tab = Some(now);
        if newer.is_some() {
            self.dress().await?;
            self.context.silence(QUIET, Instant::now() + LOAD).await;
        } else {
            self.lost.push("a tab that closed itself".to_owned());
        }
        let (_, page::DocumentState { url, .. }) = shared.read_document_state().await?;
        if newer.is_some() && url.starts_with("http") {
            // Where popups are closed, that is how it is come to.
            self.note(Step::Navigate(url));
            self.aside = Some((tab, self.steps.len()));
            let loaded = |it: &ContextState| {
                it.tabs.as_ref().is_none_or(|tabs| {
                    tabs.all.iter().find(|it| it.number == now).is_none_or(|it| it.loaded)
                })
            };
            shared.until(Instant::now() + LOAD, loaded).await?;
        }
        self.arrived()?;
        Ok(true)
    }

    /// A task has one page: what was opened aside and left as it was is none of its steps.
    fn went_to(&mut self, tab: u32) {
        match self.aside.take() {
            Some(it) if it == (tab, self.steps.len()) => {
                self.steps.pop();
            }
            _ => self.lost.push("a change of tab".to_owned()),
        }
    }

    /// Another page is the page; a window that is seen shows it.
    fn arrived(&self) -> Result<()> {
        let shared = self.shared();
        let session = shared.page()?.session;
        shared.cdp.post(Some(&session), "Page.bringToFront", json!({}));
        Ok(())
    }

    pub(super) async fn emulate(&mut self, look: EmulationOptions) -> Result<CommandOutput> {
        if look.size.is_some_and(|(a, b)| !SIDES.contains(&a) || !SIDES.contains(&b)) {
            return Err(Error::new(Code::ParamInvalid, "a window has 100 to 4000 pixels a side"));
        }
        let before = self.before().await?;
        self.look = Some(look.clone());
        self.dress().await?;
        let told = match look.size {
            Some((width, height)) => format!("the window is {width} by {height}"),
            None => "the page is asked for another look".to_owned(),
        };
        self.acted(before, told).await
    }

    /// Gives the page the look that was asked for.
    async fn dress(&self) -> Result<()> {
        let Some(look) = &self.look else { return Ok(()) };
        let shared = self.shared();
        let session = shared.page()?.session;
        let ask = |method, params: Value| shared.cdp.run(Some(&session), method, params);
        if let Some((width, height)) = look.size {
            let params = json!({
                "width": width, "height": height, "mobile": look.mobile,
                "deviceScaleFactor": look.scale.unwrap_or(1.0),
            });
            ask("Emulation.setDeviceMetricsOverride", params).await?;
            let touch = json!({ "enabled": look.mobile });
            ask("Emulation.setTouchEmulationEnabled", touch).await?;
            let agent = if look.mobile { self.context.mobile_agent() } else { String::new() };
            ask("Emulation.setUserAgentOverride", json!({ "userAgent": agent })).await?;
        }
        let scheme = match look.scheme {
            None => "",
            Some(ColorScheme::Light) => "light",
            Some(ColorScheme::Dark) => "dark",
        };
        let motion = if look.less_motion { "reduce" } else { "" };
        let media = json!({
            "media": if look.print { "print" } else { "" },
            "features": [
                { "name": "prefers-color-scheme", "value": scheme },
                { "name": "prefers-reduced-motion", "value": motion },
            ],
        });
        ask("Emulation.setEmulatedMedia", media).await
    }

    pub(super) async fn pdf(&self) -> Result<CommandOutput> {
        #[derive(Deserialize)]
        struct PrintToPdfResult {
            data: String,
        }
        let shared = self.shared();
        let session = shared.page()?.session;
        let params = json!({ "printBackground": true, "preferCSSPageSize": true });
        let reply = shared.cdp.send(Some(&session), "Page.printToPDF", params);
        let pdf =
            super::queries::decoded(&reply.read::<PrintToPdfResult>(self.timeout).await?.data)?;
        Ok(CommandOutput {
            text: format!("{} bytes", pdf.len()),
            pdf: Some(pdf),
            ..CommandOutput::default()
        })
    }

    /// Clicks, and keeps what the page saves in a folder that is ours alone. Fails with `STEP_FAILED` where it saves nothing, or
    /// more than it may.
    pub(super) async fn download(
        &mut self,
        target: Target,
        folder: PathBuf,
    ) -> Result<CommandOutput> {
        let ReachableTarget { meant, step, aim, .. } =
            self.reached(&target, Step::Click, PressWatch::Strictly).await?;
        self.lost.push(format!("a download by {}", meant.told));
        let deadline = Instant::now() + self.timeout;
        let shared = self.shared();
        let click = pointer::click(&shared, &step, &meant.found, aim, deadline);
        let lines = self.keeping(&folder, click).await?;
        Ok(format!("clicked {}: {}", meant.told, lines.join("; ")).into())
    }

    /// The same of an address that answers with a file.
    pub(super) async fn download_from(
        &mut self,
        url: String,
        folder: PathBuf,
    ) -> Result<CommandOutput> {
        let shared = self.shared();
        shared.visit.begin_at(&url);
        let safe = shared.policy().check(&url)?;
        shared.policy().pin(&safe).await?;
        self.lost.push("a download by its address".to_owned());
        let page = shared.page()?;
        let ask = async {
            let params = json!({ "url": safe.as_str() });
            // What becomes a file is no navigation; that it is none is said as an error.
            let reply = shared.cdp.send(Some(&page.session), "Page.navigate", params);
            reply.raw(self.timeout).await.map(drop)
        };
        let lines = self.keeping(&folder, ask).await?;
        Ok(lines.join("; ").into())
    }

    /// Does something, and keeps what the page saves then: a line for each file.
    async fn keeping(
        &self,
        folder: &std::path::Path,
        what: impl Future<Output = Result<()>>,
    ) -> Result<Vec<String>> {
        let ours = files::open_or_create(folder)?;
        let shared = self.shared();
        // The browser may be another user, who may not write where we do.
        let theirs = self.context.own_folder()?.join(&shared.id);
        shared.lock().saving = Some(Vec::new());
        let behavior = |behavior: &str| {
            json!({
                "behavior": behavior, "browserContextId": shared.id, "eventsEnabled": true,
                "downloadPath": theirs,
            })
        };
        let allow = shared.cdp.run(None, "Browser.setDownloadBehavior", behavior("allowAndName"));
        let done = match allow.await {
            Ok(()) => self.saved(what).await,
            Err(err) => Err(err),
        };
        // Before anything else is done there.
        let denied = shared.cdp.run(None, "Browser.setDownloadBehavior", behavior("deny")).await;
        let all = shared.lock().saving.take().unwrap_or_default();
        done?;
        denied?;
        let mut lines = Vec::new();
        if let Some(theirs) = Dir::open(&theirs, false)? {
            for it in &all {
                let bytes = theirs.read(&it.guid, MAX_SAVED as usize)?;
                theirs.discard(&it.guid)?;
                let Some(bytes) = bytes.filter(|_| it.complete == Some(true)) else { continue };
                let name = own_name(folder, &it.name);
                ours.write(&name, &bytes)?;
                let from = cut(&plain(&commis_redact::message(&it.url)), 100);
                let file = folder.join(&name);
                lines.push(format!("{} bytes of {from} in {}", bytes.len(), file.display()));
            }
        }
        if lines.is_empty() {
            return Err(Error::new(Code::StepFailed, "the page saved no complete file")
                .hint("a file may have 100 MB and take 20 seconds; open a page with `goto`"));
        }
        Ok(lines)
    }

    /// Waits until what it saves has come.
    async fn saved(&self, what: impl Future<Output = Result<()>>) -> Result<()> {
        what.await?;
        let shared = self.shared();
        let all = |it: &ContextState, holds: fn(&[SavedFile]) -> bool| {
            it.saving.as_ref().is_none_or(|it| holds(it))
        };
        shared.until(Instant::now() + BEGINS, |it| all(it, |it| !it.is_empty())).await?;
        let whole = |it: &[SavedFile]| it.iter().all(|it| it.complete.is_some());
        shared.until(Instant::now() + self.timeout, |it| all(it, whole)).await?;
        for it in shared.lock().saving.iter().flatten().filter(|it| it.complete.is_none()) {
            let params = json!({ "guid": it.guid, "browserContextId": shared.id });
            shared.cdp.post(None, "Browser.cancelDownload", params);
        }
        Ok(())
    }
}

fn no_tab(number: u32) -> Error {
    Error::new(Code::ParamInvalid, format!("the context has no tab {number}"))
        .hint("`browse tabs` lists them")
}

/// What a page calls a file, without what a file system or a terminal would take amiss; another where that is taken.
fn own_name(folder: &std::path::Path, name: &str) -> String {
    let fits = |it: char| it.is_alphanumeric() || "._- ()".contains(it);
    let name: String = name.chars().filter(|it| fits(*it)).take(NAME).collect();
    let name = name.trim_matches(['.', ' ', '-']);
    let name = if name.is_empty() { "download" } else { name };
    let (stem, end) = match name.rsplit_once('.') {
        Some((stem, end)) => (stem, format!(".{end}")),
        None => (name, String::new()),
    };
    let taken = |it: &String| folder.join(it).symlink_metadata().is_ok();
    let others = (2..).map(|n| format!("{stem}-{n}{end}"));
    std::iter::once(name.to_owned()).chain(others).find(|it| !taken(it)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_what_no_system_takes_amiss() {
        let folder = tempfile::tempdir().unwrap();
        for (name, own) in [
            ("report 1.csv", "report 1.csv"),
            ("../../etc/passwd", "etcpasswd"),
            ("a\u{202e}gpj.exe", "agpj.exe"),
            ("\u{1b}[31mred", "31mred"),
            (".bashrc", "bashrc"),
            ("--help", "help"),
            ("", "download"),
            ("...", "download"),
        ] {
            assert_eq!(own_name(folder.path(), name), own, "{name:?}");
        }
        assert_eq!(own_name(folder.path(), &"x".repeat(300)).len(), NAME);
        std::os::unix::fs::symlink("/nowhere", folder.path().join("a.txt")).unwrap();
        assert_eq!(own_name(folder.path(), "a.txt"), "a-2.txt");
    }
}
