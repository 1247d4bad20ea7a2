//! Finding elements as assistive technology does: by role and accessible name, in every frame.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    context::Shared,
    page::{self, Frame},
};

const PATIENCE: Duration = Duration::from_secs(5);
/// Roles that the hint of a missing element lists.
const INTERACTIVE: &[&str] = &[
    "button",
    "checkbox",
    "combobox",
    "link",
    "listbox",
    "menuitem",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
];

/// An element found by role and name.
pub struct Found {
    pub session: Arc<str>,
    pub backend: i64,
}

#[derive(Deserialize)]
struct AxNodes {
    nodes: Vec<AxNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AxNode {
    #[serde(default)]
    ignored: bool,
    role: Option<AxValue>,
    name: Option<AxValue>,
    #[serde(rename = "backendDOMNodeId")]
    backend: Option<i64>,
}

#[derive(Deserialize)]
struct AxValue {
    #[serde(default)]
    value: Value,
}

impl AxNode {
    fn text(value: Option<&AxValue>) -> String {
        let text = value.and_then(|it| it.value.as_str()).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Whether people act on elements of that role, named or not.
pub fn is_interactive(role: &str) -> bool {
    INTERACTIVE.contains(&role)
}

/// What the browser calls an element: role, name, and its number in the session.
pub async fn describe(
    shared: &Shared,
    session: &str,
    object: &str,
) -> Option<(String, String, i64)> {
    let params = json!({ "objectId": object, "fetchRelatives": false });
    let reply = shared.cdp.send(Some(session), "Accessibility.getPartialAXTree", params);
    let nodes: AxNodes = reply.read(PATIENCE).await.ok()?;
    let node = nodes.nodes.first()?;
    Some((AxNode::text(node.role.as_ref()), AxNode::text(node.name.as_ref()), node.backend?))
}

/// The first frame's best match: see [`best`].
pub async fn find(shared: &Shared, frames: &[Frame], role: &str, name: &str) -> Option<Found> {
    let wanted = name.split_whitespace().collect::<Vec<_>>().join(" ");
    for frame in frames {
        let nodes = query(shared, frame, Some(role)).await;
        if let Some(backend) = best(&nodes, &wanted) {
            return Some(Found { session: Arc::clone(&frame.session), backend });
        }
    }
    None
}

/// The name exactly; else in any case; else as a part. The first in document order.
fn best(nodes: &[AxNode], wanted: &str) -> Option<i64> {
    let lower = wanted.to_lowercase();
    let fits: [&dyn Fn(&str) -> bool; 3] =
        [&|it| it == wanted, &|it| it.to_lowercase() == lower, &|it| {
            !lower.is_empty() && it.to_lowercase().contains(&lower)
        }];
    fits.iter().find_map(|fit| {
        let node = nodes
            .iter()
            .find(|it| !it.ignored && it.backend.is_some() && fit(&AxNode::text(it.name.as_ref())));
        node?.backend
    })
}

/// The frame's accessibility nodes of a role, or all. A frame that is going away has none.
async fn query(shared: &Shared, frame: &Frame, role: Option<&str>) -> Vec<AxNode> {
    let Some(document) = page::document(&shared.cdp, frame).await else {
        return Vec::new();
    };
    let mut params = json!({ "objectId": document });
    if let Some(role) = role {
        params["role"] = role.into();
    }
    let reply = shared.cdp.send(Some(&frame.session), "Accessibility.queryAXTree", params);
    let nodes = reply.read(PATIENCE).await.map(|it: AxNodes| it.nodes);
    let params = json!({ "objectId": document });
    shared.cdp.post(Some(&frame.session), "Runtime.releaseObject", params);
    nodes.unwrap_or_default()
}

/// Up to eight interactive elements, for a hint.
pub async fn visible(shared: &Shared, frames: &[Frame]) -> String {
    let mut seen = BTreeSet::new();
    let mut pairs = Vec::new();
    for frame in frames {
        for node in query(shared, frame, None).await {
            let role = AxNode::text(node.role.as_ref());
            if node.ignored || !INTERACTIVE.contains(&&*role) {
                continue;
            }
            let name: String = AxNode::text(node.name.as_ref()).chars().take(60).collect();
            let pair = format!("{role} {name:?}");
            if seen.insert(pair.clone()) {
                pairs.push(pair);
            }
        }
    }
    pairs.truncate(8);
    pairs.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, ignored: bool, backend: i64) -> AxNode {
        AxNode {
            ignored,
            role: None,
            name: Some(AxValue { value: name.into() }),
            backend: Some(backend),
        }
    }

    #[test]
    fn the_exact_name_wins_over_the_first_that_contains_it() {
        let nodes = [
            node("Search", true, 1),
            node("Search all", false, 2),
            node("search", false, 3),
            node(" Search ", false, 4),
        ];
        assert_eq!(best(&nodes, "Search"), Some(4));
        assert_eq!(best(&nodes[..3], "Search"), Some(3));
        assert_eq!(best(&nodes[..2], "Search"), Some(2));
        assert_eq!(best(&nodes[..1], "Search"), None);
        assert_eq!(best(&nodes, ""), None);
    }
}
