//! Reading a page that stays.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::json;

use super::{
    CommandOutput, LogKind, LogQuery, PageController, ScreenshotOptions, SnapshotOptions, Target,
    annotated_screenshot, clickable, effect, hidden_text, prompt_injection, snapshot,
    target_resolution::STILL_FRAMES,
    text_sanitizer::{plain, quoted},
    tree::{self, Item, ItemKind},
};
use crate::{controls, lookup, page, pointer};
use commis_base::error::{Code, Error, Result};

const TEXT: &str = "function (max) { return (this.innerText ?? this.textContent ?? '').slice(0, max).toWellFormed(); }";
const HTML: &str = "function (max) { return (this.outerHTML ?? '').slice(0, max).toWellFormed(); }";
const PAGE_HTML: &str = "function (max) { return (document.documentElement?.outerHTML ?? '').slice(0, max).toWellFormed(); }";
const MAX_HTML: usize = 512 * 1024;
/// Where an element is in its document, in the document's pixels.
const BOX: &str = "function () {
  const it = this.getBoundingClientRect();
  let [x, y] = [it.x, it.y];
  for (let at = window; at !== at.top && at.frameElement; at = at.parent) {
    const frame = at.frameElement.getBoundingClientRect();
    [x, y] = [x + frame.x + at.frameElement.clientLeft, y + frame.y + at.frameElement.clientTop];
  }
  return [x + scrollX, y + scrollY, it.width, it.height];
}";
/// Pixels of a picture's side.
const HIGHEST: f64 = 16_000.0;
/// Bytes of a text that are shown.
const MAX_TEXT: usize = 64 * 1024;

/// How large the page is, and where in it the window is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    css_content_size: Size,
    css_layout_viewport: Viewport,
}

#[derive(Deserialize)]
struct Size {
    width: f64,
    height: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Viewport {
    page_x: f64,
    page_y: f64,
}

impl PageController {
    pub(super) async fn text(&mut self, of: Option<Target>) -> Result<CommandOutput> {
        let shared = self.shared();
        let text = if let Some(it) = of {
            let found = self.resolve_for_act(&it).await?.found;
            self.call(&found, TEXT, &[MAX_TEXT.into()]).await?
        } else {
            let frames = shared.frames().await?;
            page::summary(&shared.cdp, &frames).await.visible_text
        };
        let lines: Vec<String> = commis_redact::message(&text).lines().map(plain).collect();
        let mut out = lines.join("\n");
        while out.contains("\n\n\n") {
            out = out.replace("\n\n\n", "\n\n");
        }
        Ok(out.trim().to_owned().into())
    }

    pub(super) async fn html(&mut self, of: Option<Target>) -> Result<CommandOutput> {
        let shared = self.shared();
        let html: String = if let Some(it) = of {
            let found = self.resolve_for_act(&it).await?.found;
            self.call(&found, HTML, &[MAX_HTML.into()]).await?
        } else {
            let frame = shared.main_frame().await?;
            page::call(&shared.cdp, &frame, PAGE_HTML, &[MAX_HTML.into()], page::PATIENCE).await?
        };
        let lines: Vec<String> = commis_redact::message(&html).lines().map(plain).collect();
        Ok(lines.join("\n").into())
    }

    pub(super) async fn links(&mut self) -> Result<CommandOutput> {
        let (read, items) = self.read_items(false).await?;
        let links: Vec<&Item> =
            items.iter().filter(|it| it.what == ItemKind::Control && it.role == "link").collect();
        let lines: Vec<String> =
            links.iter().map(|it| snapshot::line(it, self.refs.ref_of(&read, it), false)).collect();
        Ok(commis_redact::lines(&lines).join("\n").into())
    }

    pub(super) async fn snapshot(
        &mut self,
        wish: &SnapshotOptions,
        clickable: bool,
        within: Option<String>,
    ) -> Result<CommandOutput> {
        let shared = self.shared();
        let begun = Instant::now();
        let asked = tree::request_trees(&shared)?;
        let clicks = clickable.then(|| clickable::request_snapshots(&shared)).transpose()?;
        let (read, head) = tokio::join!(asked.read(&shared), self.head());
        let read = read?;
        // What is numbered from the next snapshot on is known to be as it was, where nothing of them changes.
        for it in read.iter().take(STILL_FRAMES) {
            page::watch_document(&shared.cdp, &it.frame);
        }
        self.nodes = read.iter().map(|it| it.nodes.len()).sum();
        let mut items = tree::items(&read);
        if let Some(css) = within {
            let inside = self.inside(&css).await?;
            items.retain(|it| inside.contains(&(read[it.frame].frame.session.clone(), it.backend)));
        }
        let (found, left) = hidden_text::leave_out(&shared, &mut items).await;
        for it in items.iter_mut().filter(|it| has_alike(&it.options)) {
            let frame = &read[it.frame].frame;
            let (session, world) = (&frame.session, frame.world);
            let apart = controls::told_apart(&shared, session, world, it.backend, tree::OPTIONS);
            if let Some(all) = apart.await.filter(|it| !it.is_empty()) {
                let more = (it.options.len() > tree::OPTIONS).then(|| "…".to_owned());
                it.options = all.iter().map(|it| plain(it)).chain(more).collect();
            }
        }
        let numbers = self.refs.number(&read, &items, begun);
        let (url, title) = head?;
        let at = format!("{url} {}", quoted(&title));
        let mut lines = vec![prompt_injection::mark_if_suspicious(commis_redact::message(&at))];
        lines.extend(commis_redact::lines(&snapshot::lines(&items, &numbers, &found)));
        let mut shown_clicks = Vec::new();
        if let Some(clicks) = clicks {
            for it in &clicks.read(&read, &items).await {
                let n = self.clicks.ref_of(&read, it);
                shown_clicks.push(snapshot::line(it, n, false).replacen("@e", "@c", 1));
            }
            shown_clicks = commis_redact::lines(&shown_clicks);
        }
        let mut out = if wish.changed && !self.shown[0].is_empty() {
            let mut out = snapshot::changes(&self.shown[0], &lines);
            if clickable {
                out.extend(snapshot::changes(&self.shown[1], &shown_clicks));
            }
            out
        } else if wish.compact {
            let first = lines[..1].iter().cloned();
            let rest = snapshot::folded(&items, &numbers, &lines[1..]);
            first.chain(rest).chain(shown_clicks.iter().cloned()).collect()
        } else {
            lines.iter().chain(&shown_clicks).cloned().collect()
        };
        if wish.interactive {
            // The address, and what has a ref.
            let first = !wish.changed;
            let mut n = 0;
            out.retain(|it| {
                n += 1;
                let line = it.strip_prefix("+ ").or(it.strip_prefix("- ")).unwrap_or(it);
                prompt_injection::unmarked(line).starts_with(['@', '…']) || first && n == 1
            });
        }
        self.shown[0] = lines;
        if clickable {
            self.shown[1] = shown_clicks;
        }
        if out.is_empty() {
            return Ok("nothing changed".to_owned().into());
        }
        let marked = out.iter().filter(|it| it.contains(prompt_injection::MARK)).count();
        let said = [prompt_injection::counted(marked), hidden_text::counted(left)];
        let said = said.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let room = wish.max_chars.map(|it| it.saturating_sub(said.len() + 1));
        let mut out = snapshot::fitted(out, room);
        if !said.is_empty() {
            out = format!("{out}\n{said}");
        }
        Ok(out.into())
    }

    /// The lines of this page that another does not have, and of the other that this does not. The other is opened in a tab beside,
    /// and closed again.
    pub(super) async fn differs(&mut self, url: String) -> Result<CommandOutput> {
        let trail = (self.steps.clone(), self.lost.clone(), self.begun_at.clone());
        let here = self.unnumbered().await?;
        let tab = self.shared().lock().tab();
        let there = match self.new_tab(Some(url)).await {
            Ok(_) => self.unnumbered().await,
            Err(err) => Err(err),
        };
        let opened = self.shared().lock().tab();
        if opened != tab {
            self.close_tab(Some(opened)).await?;
            self.tab(tab).await?;
        }
        // Looking aside is none of a task's steps.
        (self.steps, self.lost, self.begun_at) = trail;
        let out = snapshot::changes(&here, &there?);
        Ok(if out.is_empty() { "both show the same".to_owned() } else { out.join("\n") }.into())
    }

    /// The lines of the page without refs, and without what nobody sees.
    async fn unnumbered(&self) -> Result<Vec<String>> {
        let (_, mut items) = self.read_items(false).await?;
        let (found, _) = hidden_text::leave_out(&self.shared(), &mut items).await;
        Ok(commis_redact::lines(&snapshot::lines(&items, &vec![0; items.len()], &found)))
    }

    /// Numbers of all elements below those that a selector matches.
    pub(super) async fn inside(&self, css: &str) -> Result<BTreeSet<(Arc<str>, i64)>> {
        let shared = self.shared();
        let frames = shared.frames().await?;
        let found = lookup::below(&shared, &frames, css).await?;
        if found.is_empty() {
            return Err(Error::new(Code::StepFailed, format!("{css:?} matches nothing")));
        }
        Ok(found)
    }

    /// Fails with `STEP_FAILED` where an element has no place on the page.
    pub(super) async fn screenshot(&mut self, what: ScreenshotOptions) -> Result<CommandOutput> {
        #[derive(Deserialize)]
        struct CaptureScreenshotResult {
            data: String,
        }
        let shared = self.shared();
        let session = shared.page()?.session;
        let mut params = json!({ "format": "png", "captureBeyondViewport": what.full });
        let mut from = None;
        if let Some(of) = what.of {
            let found = self.resolve_for_act(&of).await?.found;
            pointer::scroll_into_view(&shared, &found).await?;
            let [x, y, width, height]: [f64; 4] = self.call(&found, BOX, &[]).await?;
            if width < 1.0 || height < 1.0 || found.session != session {
                return Err(Error::new(
                    Code::StepFailed,
                    "commis cannot take a picture of that element",
                )
                .hint("the element has no size, or is in a frame of another site"));
            }
            params["clip"] =
                json!({ "x": x, "y": y, "width": width, "height": height, "scale": 1 });
            from = Some([x, y]);
        }
        let metrics: Metrics =
            shared.cdp.call(Some(&session), "Page.getLayoutMetrics", json!({})).await?;
        let Viewport { page_x, page_y } = metrics.css_layout_viewport;
        if what.full && from.is_none() {
            let Size { width, height } = metrics.css_content_size;
            let (width, height) = (width.min(HIGHEST), height.min(HIGHEST));
            params["clip"] =
                json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
            from = Some([0.0, 0.0]);
        }
        let marks = if what.marks { Some(self.marks(true).await?) } else { None };
        let reply = shared.cdp.send(Some(&session), "Page.captureScreenshot", params);
        let mut png = decoded(&reply.read::<CaptureScreenshotResult>(self.timeout).await?.data)?;
        if let Some(marks) = marks {
            // Quads are in pixels of the window, pictures of a part in pixels of the document.
            let [x, y] = from.map_or([0.0, 0.0], |[x, y]| [x - page_x, y - page_y]);
            let scale = self.look.as_ref().and_then(|it| it.scale).unwrap_or(1.0);
            png = tokio::task::spawn_blocking(move || {
                annotated_screenshot::drawn(&png, &marks, [x, y], scale)
            })
            .await
            .map_err(|err| Error::new(Code::Internal, "the marks cannot be drawn").source(err))??;
        }
        Ok(CommandOutput {
            text: format!("{} bytes", png.len()),
            png: Some(png),
            ..CommandOutput::default()
        })
    }

    /// What was said, the newest last.
    pub(super) fn said_in(&self, of: LogKind, last: LogQuery) -> CommandOutput {
        let (all, more) = self.rings.now().last(of, last.most, |_| true);
        lines_output(all.into_iter().map(|it| plain(&it.text)).collect(), more)
    }

    /// What the page asked for and was answered, then what has not ended.
    pub(super) async fn network(&self, last: LogQuery) -> Result<CommandOutput> {
        let url = self.url().await?;
        let shared = self.shared();
        let wanted = |is_data: bool| is_data || last.all;
        let (ended, more) =
            self.rings.now().last(LogKind::Network, last.most, |it| wanted(it.is_data));
        let known: BTreeSet<u64> = ended.iter().filter_map(|it| it.id).collect();
        let open = shared
            .lock()
            .recorder
            .as_ref()
            .map(|it| it.told_from(0, Instant::now()).0)
            .unwrap_or_default();
        let open = open.into_iter().filter(|it| wanted(it.is_data) && it.status.is_none());
        let origin = url::Url::parse(&url).map(|it| it.origin().ascii_serialization());
        let own = origin.map_or_else(|_| String::new(), |it| format!(" {it}/"));
        let mut lines: Vec<String> = ended
            .iter()
            .map(|it| {
                let text = plain(&it.text);
                // A path is of the page's own host.
                let text = if own.is_empty() { text } else { text.replacen(&own, " /", 1) };
                format!("{} {text}", it.id.unwrap_or_default())
            })
            .collect();
        lines.extend(open.filter(|it| !known.contains(&it.id)).map(|it| {
            let it = effect::request(it, &url);
            format!("{} … {} {}", it.id, it.method, it.path)
        }));
        Ok(lines_output(lines, more))
    }

    pub(super) async fn status(&self) -> Result<CommandOutput> {
        let steps = self.steps.len();
        let marked =
            self.shown.iter().flatten().filter(|it| it.starts_with(prompt_injection::MARK)).count();
        let marked = prompt_injection::counted(marked)
            .map_or_else(String::new, |it| format!("; in the last snapshot {it}"));
        Ok(format!(
            "{}; {steps} steps since {}{marked}",
            self.url().await?,
            self.begun_at.as_deref().unwrap_or("the start")
        )
        .into())
    }
}

/// Whether two options of a list are called alike.
fn has_alike(options: &[String]) -> bool {
    options.iter().collect::<BTreeSet<_>>().len() < options.len()
}

fn lines_output(mut lines: Vec<String>, more: u64) -> CommandOutput {
    if more > 0 {
        lines.insert(0, format!("… {more} earlier ones"));
    }
    lines.join("\n").into()
}

/// What the browser sends as base64.
pub(super) fn decoded(data: &str) -> Result<Vec<u8>> {
    STANDARD
        .decode(data)
        .map_err(|err| Error::new(Code::BrowserFailed, "the browser sent no file").source(err))
}
