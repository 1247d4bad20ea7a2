//! A picture of the window without secrets: fields for them are blackened in it, and nothing is written into the page for that.
//!
//! A picture cannot be redacted. There is none where a text of the page would be, and none of a page in which a secret was typed.

use futures::future::join_all;
use serde::Deserialize;
use serde_json::json;

use super::{PageController, ScreenshotOptions};
use crate::{page, sessions::pixels};
use commis_base::error::{Error, Result};

/// Fields of a page that are blackened.
const FIELDS: usize = 200;
/// What fields for secrets are called.
const NAMES: &[&str] = &[
    "passw", "pwd", "secret", "token", "otp", "api key", "api-key", "api_key", "apikey", "cvc",
    "cvv",
];

/// A node of the document, closed shadow roots and frames included.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct DomNode {
    backend_node_id: i64,
    local_name: String,
    /// Name and value in turn.
    attributes: Vec<String>,
    children: Vec<DomNode>,
    shadow_roots: Vec<DomNode>,
    content_document: Option<Box<DomNode>>,
}

#[derive(Deserialize)]
struct DescribeNodeResult {
    node: DomNode,
}

impl DomNode {
    fn attribute(&self, name: &str) -> &str {
        let at = self.attributes.chunks_exact(2).find(|it| it[0] == name);
        at.map_or("", |it| it[1].as_str())
    }

    /// Whether a secret is meant to stand in it: by its kind, or by what it is called.
    fn is_for_secret(&self) -> bool {
        if !matches!(&*self.local_name, "input" | "textarea") {
            return false;
        }
        let filled = self.attribute("autocomplete").to_lowercase();
        let named = ["name", "id", "aria-label", "placeholder"]
            .map(|it| self.attribute(it).to_lowercase())
            .join(" ");
        self.attribute("type").eq_ignore_ascii_case("password")
            || ["password", "one-time-code", "cc-"].iter().any(|it| filled.contains(it))
            || NAMES.iter().any(|it| named.contains(it))
            || named.split(|it: char| !it.is_alphanumeric()).any(|it| it == "pin")
    }
}

fn none(_: Error) -> &'static str {
    "the page does not answer"
}

impl PageController {
    /// The document that the page is now; another one after it went elsewhere.
    pub(super) async fn document(&self) -> Option<String> {
        let frame = self.shared().main_frame().await.ok()?;
        Some(format!("{} {}", frame.session, frame.world))
    }

    /// The window as a PNG, or why there is none.
    pub(super) async fn picture(&mut self) -> Result<Vec<u8>, &'static str> {
        if self.shows_secret().await {
            return Err("the page shows what looks like a secret");
        }
        let before = self.secret_places().await?;
        let said = self.screenshot(ScreenshotOptions::default()).await.map_err(none)?;
        let png = said.png.ok_or("the browser sent no picture")?;
        if self.secret_places().await? != before {
            return Err("fields for secrets were moving");
        }
        if before.is_empty() {
            return Ok(png);
        }
        let cannot = |_: Error| "fields for secrets could not be blackened";
        let mut pixels = pixels::decode(&png).map_err(cannot)?;
        let width = self.window().await.map_or(0, |it| it[0]);
        if width == 0 {
            return Err("fields for secrets could not be blackened");
        }
        // A telephone draws several pixels where a page has one.
        let scale = f64::from(pixels.width) / f64::from(width);
        for it in before {
            pixels.blacken(it.map(|it| it * scale));
        }
        pixels.encode().map_err(cannot)
    }

    /// Whether something that is drawn would be redacted.
    async fn shows_secret(&self) -> bool {
        let shared = self.shared();
        let Ok((_, items)) = self.read_items(false).await else { return true };
        let Ok(frames) = shared.frames().await else { return true };
        let text = page::summary(&shared.cdp, &frames).await.visible_text;
        let drawn = items.iter().flat_map(|it| {
            let all = it.options.iter().map(String::as_str);
            all.chain([it.name.as_str()]).chain(it.value.as_deref())
        });
        drawn
            .chain([text.as_str()])
            .any(|it| commis_redact::message(it) != it || self.without_secrets(it.to_owned()) != it)
    }

    /// Where fields for secrets are drawn: left, top, right, bottom.
    async fn secret_places(&self) -> Result<Vec<[f64; 4]>, &'static str> {
        #[derive(Deserialize)]
        struct BoxModelResult {
            model: BoxModel,
        }
        #[derive(Deserialize)]
        struct BoxModel {
            border: Vec<f64>,
        }
        let shared = self.shared();
        let page = shared.page().map_err(none)?.session;
        let (read, _) = self.read_items(false).await.map_err(none)?;
        let mut found = Vec::new();
        let mut known = std::collections::BTreeSet::new();
        for it in &read {
            let Some(root) = it.nodes.first().and_then(super::tree::Node::backend) else {
                continue;
            };
            let session = &it.frame.session;
            let params = json!({ "backendNodeId": root, "depth": -1, "pierce": true });
            let reply = shared.cdp.send(Some(session), "DOM.describeNode", params);
            let node = reply.read::<DescribeNodeResult>(page::PATIENCE).await.map_err(none)?.node;
            let mut stack = vec![node];
            while let Some(mut it) = stack.pop() {
                if it.is_for_secret() && known.insert((session.clone(), it.backend_node_id)) {
                    found.push((session.clone(), it.backend_node_id));
                }
                stack.append(&mut it.children);
                stack.append(&mut it.shadow_roots);
                stack.extend(it.content_document.map(|it| *it));
            }
        }
        if found.iter().any(|it| it.0 != page) || found.len() > FIELDS {
            return Err("fields for secrets could not be blackened in every frame");
        }
        found.sort_by_key(|it| it.1);
        let boxes = found.iter().map(|(session, node)| {
            let params = json!({ "backendNodeId": node });
            shared.cdp.send(Some(session), "DOM.getBoxModel", params)
        });
        let boxes: Vec<_> = boxes.map(|it| it.read::<BoxModelResult>(page::PATIENCE)).collect();
        // What is not drawn has none.
        let drawn = join_all(boxes).await.into_iter().flatten().filter_map(|it| {
            let (x, y): (Vec<f64>, Vec<f64>) =
                it.model.border.chunks_exact(2).map(|it| (it[0], it[1])).unzip();
            let least = |all: &[f64]| all.iter().copied().reduce(f64::min);
            let most = |all: &[f64]| all.iter().copied().reduce(f64::max);
            Some([least(&x)?, least(&y)?, most(&x)?, most(&y)?])
        });
        Ok(drawn.collect())
    }
}
