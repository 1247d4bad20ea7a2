//! What can be clicked although the accessibility tree knows nothing of it: elements that listen to clicks, or look so.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::json;

use super::{
    text_sanitizer::{cut, plain, quoted},
    tree::{FrameTree, Item, ItemKind},
};
use crate::{cdp::Reply, context_state::ContextInner};
use commis_base::error::Result;

const PATIENCE: Duration = Duration::from_secs(10);
const LABEL: usize = 60;
/// Of one page.
const MOST: usize = 500;

#[derive(Deserialize)]
struct DomSnapshot {
    documents: Vec<SnapshotDocument>,
    strings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SnapshotDocument {
    frame_id: i64,
    nodes: SnapshotNodes,
    layout: Layout,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SnapshotNodes {
    parent_index: Vec<i64>,
    node_type: Vec<i64>,
    node_name: Vec<i64>,
    node_value: Vec<i64>,
    backend_node_id: Vec<i64>,
    attributes: Vec<Vec<i64>>,
    is_clickable: RareBooleans,
}

#[derive(Deserialize)]
struct RareBooleans {
    index: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layout {
    node_index: Vec<usize>,
    styles: Vec<Vec<i64>>,
    bounds: Vec<Vec<f64>>,
}

/// What was asked for of each process that draws a part of the page.
pub struct PendingSnapshots(Vec<Reply>);

pub fn request_snapshots(shared: &ContextInner) -> Result<PendingSnapshots> {
    let params = json!({ "computedStyles": ["cursor", "visibility"] });
    let send =
        |it: Arc<str>| shared.cdp.send(Some(&it), "DOMSnapshot.captureSnapshot", params.clone());
    Ok(PendingSnapshots(shared.frame_sessions()?.into_iter().map(send).collect()))
}

impl PendingSnapshots {
    /// Those of the page and its frames, beside what `known` numbers among the elements with a role.
    pub async fn read(self, read: &[FrameTree], known: &[Item]) -> Vec<Item> {
        let mut out = Vec::new();
        for reply in self.0 {
            let Ok(all) = reply.read::<DomSnapshot>(PATIENCE).await else { continue };
            for document in &all.documents {
                let id = string(&all.strings, document.frame_id);
                let Some(frame) = read.iter().position(|it| it.frame.id == id) else { continue };
                // Numbers are a process's own: two frames may have the same.
                let session = &read[frame].frame.session;
                let near = |it: &&Item| {
                    it.what == ItemKind::Control && read[it.frame].frame.session == *session
                };
                let controls = known.iter().filter(near).map(|it| it.backend).collect();
                collect_clickable(&all.strings, document, frame, &controls, &mut out);
            }
        }
        out.truncate(MOST);
        out
    }
}

fn string(all: &[String], at: i64) -> &str {
    usize::try_from(at).ok().and_then(|at| all.get(at)).map_or("", String::as_str)
}

/// Of each node: whether it has the pointer cursor, and its box (x, y, width, height, in CSS pixels) where it is drawn.
fn layout_of_nodes(
    strings: &[String],
    it: &SnapshotDocument,
) -> (Vec<bool>, Vec<Option<[f64; 4]>>) {
    let count = it.nodes.parent_index.len();
    let mut pointer = vec![false; count];
    let mut drawn = vec![None; count];
    for (n, i) in it.layout.node_index.iter().enumerate() {
        let style = |at: usize| {
            it.layout.styles.get(n).and_then(|it| it.get(at)).map_or("", |it| string(strings, *it))
        };
        if let (Some(slot), Some(bounds)) = (pointer.get_mut(*i), it.layout.bounds.get(n)) {
            *slot = style(0) == "pointer";
            drawn[*i] = match bounds.as_slice() {
                [x, y, w, h]
                    if *w >= 1.0
                        && *h >= 1.0
                        && x + w > 0.0
                        && y + h > 0.0
                        && style(1) == "visible" =>
                {
                    Some([*x, *y, *w, *h])
                }
                _ => None,
            };
        }
    }
    (pointer, drawn)
}

fn collect_clickable(
    strings: &[String],
    it: &SnapshotDocument,
    frame: usize,
    controls: &BTreeSet<i64>,
    out: &mut Vec<Item>,
) {
    let nodes = &it.nodes;
    let count = nodes.parent_index.len();
    let parent = |i: usize| usize::try_from(*nodes.parent_index.get(i)?).ok().filter(|up| *up < i);
    let listens: BTreeSet<usize> = nodes.is_clickable.index.iter().copied().collect();
    let (pointer, drawn) = layout_of_nodes(strings, it);
    let name = |i: usize| {
        string(strings, nodes.node_name.get(i).copied().unwrap_or(-1)).to_ascii_lowercase()
    };
    let is_control =
        |i: usize| nodes.backend_node_id.get(i).is_some_and(|it| controls.contains(it));
    let wanted = |i: usize| {
        nodes.node_type.get(i) == Some(&1)
            && drawn[i].is_some()
            && !matches!(
                &*name(i),
                "html" | "body" | "label" | "option" | "input" | "select" | "textarea" | "button"
            )
            // What is drawn there is acted on by its place alone.
            && (name(i) == "canvas"
                || listens.contains(&i)
                || pointer[i] && parent(i).is_none_or(|up| !pointer[up]))
    };
    let mut chosen: BTreeSet<usize> = (0..count).filter(|i| wanted(*i)).collect();
    // One around a control, or around others, only passes clicks on; one inside a control is the control.
    for i in 0..count {
        let inner = is_control(i) || chosen.contains(&i);
        let mut at = i;
        while let Some(up) = parent(at) {
            if inner {
                chosen.remove(&up);
            }
            if is_control(up) {
                chosen.remove(&i);
            }
            at = up;
        }
    }
    chosen.retain(|i| !is_control(*i));
    // Words of what is inside, put together in one pass: parents stand before their children.
    let mut words = vec![String::new(); count];
    for i in 0..count {
        if nodes.node_type.get(i) != Some(&3) {
            continue;
        }
        let text = string(strings, nodes.node_value.get(i).copied().unwrap_or(-1));
        let mut at = Some(i);
        while let Some(up) = at {
            if chosen.contains(&up) && words[up].len() < 4 * LABEL {
                words[up].push_str(text);
                words[up].push(' ');
            }
            at = parent(up);
        }
    }
    for i in chosen {
        let attribute = |wanted: &str| {
            let all = nodes.attributes.get(i)?;
            let pairs = all.chunks_exact(2).find(|it| string(strings, it[0]) == wanted)?;
            Some(plain(string(strings, pairs[1]))).filter(|it| !it.is_empty())
        };
        let said = Some(plain(&words[i])).filter(|it| !it.is_empty());
        let label =
            said.or_else(|| ["aria-label", "title", "alt"].iter().find_map(|it| attribute(it)));
        let mut item = Item::clickable(
            &name(i),
            label.as_deref().map(|it| cut(it, LABEL)),
            frame,
            nodes.backend_node_id[i],
        );
        if label.is_none() {
            // Nothing but looks tells it from others.
            let looks = ["id", "class", "fill", "style"]
                .iter()
                .filter_map(|it| Some(format!("{it}={}", quoted(&cut(&attribute(it)?, 40)))));
            item.states.extend(looks);
        }
        if let Some([x, y, w, h]) = drawn[i].filter(|_| label.is_none()) {
            item.states.push(format!("{w:.0}×{h:.0} at {x:.0},{y:.0}"));
        }
        out.push(item);
    }
}
