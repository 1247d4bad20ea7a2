//! What a page is to somebody who may act on it: its accessibility tree and those of its frames, in the order of the document.
//!
//! The browser computes roles and names, in closed shadow roots and frames of other processes, too. What is made of them here is
//! plain: lines, and for each element what it stands in, so that two buttons of one name are two things.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};

use super::text_sanitizer::{cut, plain};
use crate::{
    cdp::Reply,
    context_state::ContextInner,
    page::{self, Frame},
    tabs::Page,
};
use commis_base::error::{Code, Error, Result};

/// For the tree of one frame; a large page takes a while.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of a name, and of the label of what an element stands in.
const NAME: usize = 120;
const LABEL: usize = 60;
/// How far up is looked for what an element stands in, and how much of it is read.
const UP: usize = 14;
const DOWN: usize = 400;
/// Options of a closed list that are told.
pub const OPTIONS: usize = 12;

/// Roles that people act on.
const CONTROLS: &[&str] = &[
    "button",
    "checkbox",
    "ColorWell",
    "combobox",
    "Date",
    "DateTime",
    "DisclosureTriangle",
    "InputTime",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
];
/// Roles of one among several alike.
const ROWS: &[&str] = &["listitem", "row", "article", "treeitem", "figure", "gridcell", "cell"];
/// Named ones of these are worth a line.
const PLACES: &[&str] = &[
    "alert",
    "alertdialog",
    "banner",
    "complementary",
    "contentinfo",
    "dialog",
    "form",
    "main",
    "navigation",
    "region",
    "search",
    "tabpanel",
    "group",
    "radiogroup",
    "table",
    "list",
];

/// What each frame stands in, as an element would that stood in its place.
pub fn rows_of_frames(all: &[FrameTree]) -> Vec<Option<String>> {
    let row = |of: &FrameTree| {
        let owner = of.owner?;
        // Numbers are a process's own, and owners were asked of the page's.
        let mut around = all.iter().filter(|it| it.frame.session == all[0].frame.session);
        around.find_map(|it| {
            let at = it.nodes.iter().position(|node| node.backend == Some(owner))?;
            Document::new(&it.nodes).row(at, "")
        })
    };
    all.iter().map(row).collect()
}

/// One line of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub what: ItemKind,
    pub role: String,
    pub name: String,
    /// What stands in a field.
    pub value: Option<String>,
    /// `checked`, `expanded`, `disabled` and so on.
    pub states: Vec<String>,
    /// Of a closed list.
    pub options: Vec<String>,
    /// Which frame it is in, as they were given.
    pub frame: usize,
    pub backend: i64,
    /// What it stands in: the heading of its row, or what is written next to it.
    pub row: Option<String>,
    /// The form, dialog or group around it.
    pub form: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    Control,
    Heading,
    Text,
    /// A part of the page that has a name, or a frame.
    Place,
    Image,
}

/// A frame, and the element that it is in.
pub struct FrameTree {
    pub frame: Frame,
    pub nodes: Vec<Node>,
    /// Number of its element, in the frame around it.
    pub owner: Option<i64>,
}

#[derive(Deserialize)]
pub struct Nodes {
    pub nodes: Vec<Node>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    #[serde(rename = "nodeId")]
    id: String,
    #[serde(default)]
    ignored: bool,
    role: Option<AxValue>,
    name: Option<AxValue>,
    value: Option<AxValue>,
    #[serde(default)]
    properties: Vec<AxProperty>,
    #[serde(default)]
    child_ids: Vec<String>,
    #[serde(rename = "backendDOMNodeId")]
    backend: Option<i64>,
}

#[derive(Clone, Deserialize)]
struct AxValue {
    #[serde(default)]
    value: Value,
}

#[derive(Clone, Deserialize)]
struct AxProperty {
    name: String,
    value: AxValue,
}

impl Node {
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn backend(&self) -> Option<i64> {
        self.backend
    }

    /// Whether a snapshot would call it so.
    pub fn is_control(&self, role: &str, name: &str) -> bool {
        !self.ignored && self.acting() == role && cut(&plain(self.name()), NAME) == name
    }

    pub fn role(&self) -> &str {
        self.role.as_ref().and_then(|it| it.value.as_str()).unwrap_or("")
    }

    fn name(&self) -> &str {
        self.name.as_ref().and_then(|it| it.value.as_str()).unwrap_or("")
    }

    fn property(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|it| it.name == name).map(|it| &it.value.value)
    }

    fn is_set(&self, name: &str) -> bool {
        self.property(name).is_some_and(|it| *it == true || *it == "true")
    }

    /// The role of what is typed into, where the page gave it none.
    fn acting(&self) -> &str {
        match self.role() {
            role if CONTROLS.contains(&role) => role,
            _ if self.property("editable").is_some() && self.is_set("focusable") => "textbox",
            role => role,
        }
    }
}

/// Trees that were asked for.
pub struct PendingTrees {
    page: Page,
    frames: page::PendingFrames,
    /// The page's own.
    tree: Reply,
}

/// Asks for the trees of the page and of its frames.
pub fn request_trees(shared: &ContextInner) -> Result<PendingTrees> {
    let page = shared.page()?;
    let frames = page::ask_frames(&shared.cdp, shared.frame_sessions()?, &page);
    let tree = tree_of(shared, &page.session, &page.target);
    Ok(PendingTrees { page, frames, tree })
}

fn tree_of(shared: &ContextInner, session: &str, frame: &str) -> Reply {
    let of = json!({ "frameId": frame });
    shared.cdp.send(Some(session), "Accessibility.getFullAXTree", of)
}

impl PendingTrees {
    /// The page's own first. A frame that is going away has none. Fails with `TIMEOUT` where the page itself does not answer.
    pub async fn read(self, shared: &ContextInner) -> Result<Vec<FrameTree>> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Owner {
            backend_node_id: i64,
        }
        let Self { page, frames, tree } = self;
        let mut frames = frames.read(&shared.cdp, &page).await.into_iter();
        let Some(main) = frames.next().filter(|it| it.id == page.target) else {
            // Frames of other processes may answer; what they hold is not the page.
            return Err(Error::new(Code::Timeout, "the page does not respond")
                .hint("try again later, or go to another address"));
        };
        let ask = |frame: Frame| {
            let tree = tree_of(shared, &frame.session, &frame.id);
            let of = json!({ "frameId": frame.id });
            let owner = shared.cdp.send(Some(&page.session), "DOM.getFrameOwner", of);
            (frame, tree, Some(owner))
        };
        let others: Vec<_> = frames.map(ask).collect();
        let mut out = Vec::with_capacity(1 + others.len());
        for (frame, tree, owner) in std::iter::once((main, tree, None)).chain(others) {
            let nodes = tree.read::<Nodes>(PATIENCE).await.map(|it| it.nodes).unwrap_or_default();
            let owner = match owner {
                Some(it) => it.read::<Owner>(PATIENCE).await.ok().map(|it| it.backend_node_id),
                None => None,
            };
            out.push(FrameTree { frame, nodes, owner });
        }
        Ok(out)
    }
}

/// What there is on the page, frames where they stand in it.
pub fn items(all: &[FrameTree]) -> Vec<Item> {
    let mut out = Vec::new();
    let mut done = vec![false; all.len()];
    // The page, and what its elements hold; frames whose element nobody knows come last.
    for at in 0..all.len() {
        if !done[at] {
            walk(all, at, &mut done, &mut out);
        }
    }
    // A link that is all of a heading says it.
    let is_said = |pair: &[Item]| {
        pair[0].what == ItemKind::Heading
            && pair[1].what == ItemKind::Control
            && pair[0].name == pair[1].name
    };
    let said: Vec<bool> = out.windows(2).map(is_said).chain([false]).collect();
    let mut said = said.into_iter();
    out.retain(|_| !said.next().unwrap_or(false));
    out
}

fn walk(all: &[FrameTree], at: usize, done: &mut [bool], out: &mut Vec<Item>) {
    if std::mem::replace(&mut done[at], true) {
        return;
    }
    let document = Document::new(&all[at].nodes);
    let mut stack: Vec<(usize, Surroundings)> = vec![(0, Surroundings::default())];
    while let Some((i, around)) = stack.pop() {
        let Some(node) = all[at].nodes.get(i) else { continue };
        let inner = document.item(i, at, &around, out);
        let framed = node.backend.and_then(|it| {
            let owned = all.iter().enumerate().skip(1);
            // Numbers are a process's own, and owners were asked of the page's.
            let is_pages = all[at].frame.session == all[0].frame.session;
            owned
                .filter(|(n, of)| is_pages && !done[*n] && of.owner == Some(it))
                .map(|it| it.0)
                .next()
        });
        if let Some(n) = framed {
            out.push(Item::bare(
                ItemKind::Place,
                "frame",
                &all[n].frame.name,
                at,
                node.backend.unwrap_or(0),
            ));
            walk(all, n, done, out);
            continue;
        }
        let Some(inner) = inner else { continue };
        for child in document.children[i].iter().rev() {
            stack.push((*child, inner.clone()));
        }
    }
}

/// What is around a node, on the way down.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// Words that were told already, by the line of an element around.
    told: Option<Arc<str>>,
    form: Option<Arc<str>>,
}

/// The part of a page that an element makes of itself, where it does: what stands in it is told as standing in that.
fn part(role: &str, name: &str) -> Option<Arc<str>> {
    match role {
        "status" => Some("status".into()),
        "alert" | "alertdialog" | "dialog" => Some(format!("{role} {name}").trim().into()),
        it if PLACES.contains(&it) && !name.is_empty() => Some(name.into()),
        "form" | "search" => Some(role.into()),
        _ => None,
    }
}

/// What is around the element below these, outermost first. `None` where one of them is told without what is in it.
pub fn around(above: &[Node]) -> Option<Surroundings> {
    let mut out = Surroundings::default();
    for it in above.iter().filter(|it| !it.ignored) {
        let role = it.acting();
        if role == "combobox" && !it.is_set("expanded")
            || matches!(role, "textbox" | "searchbox" | "spinbutton" | "slider")
        {
            return None;
        }
        out.form = part(role, &cut(&plain(it.name()), NAME)).or(out.form);
    }
    Some(out)
}

pub struct Document<'a> {
    nodes: &'a [Node],
    children: Vec<Vec<usize>>,
    parent: Vec<Option<usize>>,
    is_part: bool,
    /// Nodes whose children were wanted and are not here.
    missing: RefCell<BTreeSet<usize>>,
}

impl<'a> Document<'a> {
    /// Of some of a page's nodes; the first is the page.
    pub fn part(nodes: &'a [Node]) -> Self {
        Self { is_part: true, ..Self::new(nodes) }
    }

    /// Numbers of nodes whose children are to be asked for, before what was told is right.
    pub fn missing(&self, most: usize) -> Vec<&'a str> {
        self.missing.borrow().iter().take(most).map(|it| self.nodes[*it].id()).collect()
    }

    fn new(nodes: &'a [Node]) -> Self {
        let by_id: BTreeMap<&str, usize> =
            nodes.iter().enumerate().map(|(i, it)| (it.id.as_str(), i)).collect();
        let mut parent = vec![None; nodes.len()];
        let mut children = vec![Vec::new(); nodes.len()];
        for (i, node) in nodes.iter().enumerate() {
            for it in &node.child_ids {
                // Each node has one parent, and no tree that a page makes us believe in has circles.
                if let Some(&child) = by_id.get(it.as_str())
                    && child != i
                    && child != 0
                    && parent[child].is_none()
                {
                    parent[child] = Some(i);
                    children[i].push(child);
                }
            }
        }
        Self { nodes, children, parent, is_part: false, missing: RefCell::default() }
    }

    /// Tells a node; what is around its children, or `None` where they are told with it.
    pub fn item(
        &self,
        i: usize,
        frame: usize,
        around: &Surroundings,
        out: &mut Vec<Item>,
    ) -> Option<Surroundings> {
        let node = &self.nodes[i];
        let mut inner = around.clone();
        if node.ignored {
            return Some(inner);
        }
        let role = node.acting();
        let name = cut(&plain(node.name()), NAME);
        let backend = node.backend.unwrap_or(0);
        if CONTROLS.contains(&role) {
            let mut it = Item::bare(ItemKind::Control, role, &name, frame, backend);
            it.states = states(node);
            let is_list = role == "combobox" && !self.children[i].is_empty();
            let field = matches!(
                role,
                "textbox"
                    | "searchbox"
                    | "combobox"
                    | "slider"
                    | "spinbutton"
                    | "Date"
                    | "DateTime"
                    | "InputTime"
                    | "ColorWell"
            );
            it.value = node.value.as_ref().filter(|_| field).map(|it| match &it.value {
                Value::String(it) => cut(&plain(it), NAME),
                other => other.to_string(),
            });
            if is_list {
                it.options = self.options(i);
            }
            (it.row, it.form) = (self.row(i, &name), around.form.as_deref().map(str::to_owned));
            out.push(it);
            if is_list && !self.nodes[i].is_set("expanded")
                || matches!(role, "textbox" | "searchbox" | "spinbutton" | "slider")
            {
                return None;
            }
            inner.told = Some(name.into());
            return Some(inner);
        }
        match role {
            "heading" => {
                let mut it = Item::bare(ItemKind::Heading, role, &name, frame, backend);
                it.states.extend(node.property("level").map(|it| format!("level {it}")));
                if !name.is_empty() {
                    // A link that is all of the heading says it, too.
                    out.push(it);
                }
                inner.told = Some(name.as_str().into());
            }
            "StaticText" => {
                let told = around.told.as_ref().is_some_and(|it| it.contains(name.as_str()));
                if !name.is_empty() && !told {
                    text(out, &name, frame, backend);
                }
                return None;
            }
            "image" | "img" | "graphics-symbol" if !name.is_empty() => {
                let told = around.told.as_ref().is_some_and(|it| it.contains(name.as_str()));
                if !told {
                    out.push(Item::bare(ItemKind::Image, "image", &name, frame, backend));
                }
            }
            "alert" | "alertdialog" | "dialog" => {
                out.push(Item::bare(ItemKind::Place, role, &name, frame, backend));
            }
            it if PLACES.contains(&it) && !name.is_empty() => {
                out.push(Item::bare(ItemKind::Place, it, &name, frame, backend));
            }
            _ => {}
        }
        inner.form = part(role, &name).or(inner.form);
        Some(inner)
    }

    /// Options of a closed list, behind their group's name where they are in one.
    fn options(&self, i: usize) -> Vec<String> {
        let mut out = Vec::new();
        let mut stack = vec![(i, None)];
        let mut seen = 0;
        while let Some((at, group)) = stack.pop() {
            seen += 1;
            if seen > DOWN {
                break;
            }
            let node = &self.nodes[at];
            if node.role() == "option" {
                if out.len() == OPTIONS {
                    out.push("…".to_owned());
                    break;
                }
                let name = cut(&plain(node.name()), LABEL);
                out.push(match group {
                    Some(it) => format!("{it} > {name}"),
                    None => name,
                });
                continue;
            }
            let named = cut(&plain(node.name()), LABEL);
            let group = if node.role() == "group" && !named.is_empty() && !node.ignored {
                Some(named)
            } else {
                group
            };
            stack.extend(self.children[at].iter().rev().map(|it| (*it, group.clone())));
        }
        out
    }

    /// What an element stands in: of the nearest node around it that says more than the element itself, a row before all, the
    /// heading, else its first link, else its first words.
    fn row(&self, i: usize, own: &str) -> Option<String> {
        let mut nearest = None;
        let mut at = i;
        for _ in 0..UP {
            let Some(up) = self.parent[at] else { break };
            at = up;
            let node = &self.nodes[at];
            let is_row = !node.ignored && ROWS.contains(&node.role());
            if is_row || nearest.is_none() {
                let label = self.label(at, i, own);
                if !self.missing.borrow().is_empty() {
                    return None;
                }
                if is_row && label.is_some() {
                    return label;
                }
                nearest = nearest.or(label);
            }
            if !node.ignored
                && matches!(node.role(), "RootWebArea" | "main" | "form" | "dialog" | "navigation")
            {
                break;
            }
        }
        nearest
    }

    fn label(&self, of: usize, but: usize, own: &str) -> Option<String> {
        let (mut heading, mut link, mut words) = (None, None, None);
        let mut stack = vec![of];
        let mut seen = 0;
        while let Some(at) = stack.pop() {
            seen += 1;
            if seen > DOWN || heading.is_some() {
                break;
            }
            if at == but {
                continue;
            }
            let node = &self.nodes[at];
            let name = node.name();
            if !node.ignored && !name.trim().is_empty() {
                let slot = match node.role() {
                    "heading" => Some(&mut heading),
                    "link" => Some(&mut link),
                    "StaticText" | "cell" | "gridcell" | "rowheader" | "LabelText" => {
                        Some(&mut words)
                    }
                    _ => None,
                };
                let name = match node.role() {
                    "StaticText" => cut(&plain(&self.line(at)), LABEL),
                    _ => cut(&plain(name), LABEL),
                };
                if let Some(slot) =
                    slot.filter(|it| it.is_none() && name != own && !name.is_empty())
                {
                    *slot = Some(name);
                }
            }
            // What somebody typed is no label.
            if matches!(
                node.acting(),
                "textbox" | "searchbox" | "combobox" | "listbox" | "spinbutton"
            ) {
                continue;
            }
            if self.is_part && self.children[at].len() < node.child_ids.len() {
                self.missing.borrow_mut().insert(at);
            }
            stack.extend(self.children[at].iter().rev());
        }
        heading.or(link).or(words)
    }

    /// A text and those that follow it in the same element: `Post ` and `12` are two where a script put the number in.
    fn line(&self, at: usize) -> String {
        let Some(up) = self.parent[at] else { return self.nodes[at].name().to_owned() };
        let siblings = self.children[up].iter().skip_while(|it| **it != at);
        siblings
            .map(|it| &self.nodes[*it])
            .take_while(|it| it.role() == "StaticText")
            .map(Node::name)
            .collect()
    }
}

impl Item {
    fn bare(what: ItemKind, role: &str, name: &str, frame: usize, backend: i64) -> Self {
        Self {
            what,
            role: role.to_owned(),
            name: cut(&plain(name), NAME),
            value: None,
            states: Vec::new(),
            options: Vec::new(),
            frame,
            backend,
            row: None,
            form: None,
        }
    }

    /// An element that has no role but its tag.
    pub fn clickable(tag: &str, name: Option<String>, frame: usize, backend: i64) -> Self {
        Self::bare(ItemKind::Control, tag, &name.unwrap_or_default(), frame, backend)
    }
}

/// Words next to each other are one line.
fn text(out: &mut Vec<Item>, words: &str, frame: usize, backend: i64) {
    if let Some(last) = out.last_mut()
        && last.what == ItemKind::Text
        && last.frame == frame
        && last.name.len() + words.len() < 400
    {
        last.name.push(' ');
        last.name.push_str(words);
        return;
    }
    out.push(Item {
        name: words.to_owned(),
        ..Item::bare(ItemKind::Text, "text", "", frame, backend)
    });
}

fn states(node: &Node) -> Vec<String> {
    let mut out = Vec::new();
    for it in &node.properties {
        let value = &it.value.value;
        let on = *value == true || *value == "true";
        match &*it.name {
            "checked" | "pressed" if *value == "mixed" => out.push("mixed".to_owned()),
            "checked" | "pressed" | "selected" | "disabled" | "required" | "readonly"
            | "focused"
                if on =>
            {
                out.push(it.name.clone());
            }
            "expanded" => out.push(if on { "expanded" } else { "collapsed" }.to_owned()),
            "invalid" if on => out.push("invalid".to_owned()),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_which_nothing_could_be_read_has_nothing_on_it() {
        assert_eq!(items(&[]), []);
    }
}
