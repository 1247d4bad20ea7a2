//! Finding elements as assistive technology does: by role and accessible name, in every frame.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use futures::future::join_all;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    context_state::ContextInner,
    element::{Element, Locator},
    page::{self, Frame, RemoteObject},
};
use commis_base::error::{Code, Error, Result};

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

/// Roles of a form's controls.
const CONTROLS: &[&str] = &[
    "checkbox",
    "ColorWell",
    "combobox",
    "Date",
    "DateTime",
    "InputTime",
    "listbox",
    "menuitemcheckbox",
    "menuitemradio",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "textbox",
];
/// More that fit equally well are not told apart.
const MAX_ALIKE: usize = 50;

/// What no accessibility tree is asked for, in document order, shadow roots last. `null`: not a selector.
const FIND: &str = "function (how, text, max) {
  const roots = [document];
  for (let i = 0; i < roots.length; i++)
    for (const it of roots[i].querySelectorAll('*')) if (it.shadowRoot && roots.length < 5000) roots.push(it.shadowRoot);
  const all = selector => roots.flatMap(it => Array.from(it.querySelectorAll(selector))).slice(0, 5000);
  const plain = it => (it ?? '').replace(/\\s+/g, ' ').trim();
  if (how === 'css') {
    try { return all(text).slice(0, max); } catch { return null; }
  }
  if (how === 'test_id') {
    const names = ['data-testid', 'data-test-id', 'data-test', 'data-qa', 'data-cy'];
    return all(names.map(it => '[' + it + '=\"' + CSS.escape(text) + '\"]').join()).slice(0, max);
  }
  const said = it => plain(it.getAttribute('placeholder') ?? it.getAttribute('aria-placeholder'));
  const fields = all('[placeholder],[aria-placeholder]');
  const wanted = plain(text), lower = wanted.toLowerCase();
  for (const fits of [it => it === wanted, it => it.toLowerCase() === lower, it => lower && it.toLowerCase().includes(lower)]) {
    const found = fields.filter(it => fits(said(it)));
    if (found.length) return found.slice(0, max);
  }
  return [];
}";

const PROBE: &str = "function () {
  const it = this instanceof Element ? this : this.parentElement;
  if (!it?.isConnected) return { visible: false, enabled: false, near: '' };
  const boxed = Array.from(it.getClientRects()).some(box => box.width >= 1 && box.height >= 1);
  const plain = it => (it.innerText ?? '').replace(/\\s+/g, ' ').trim();
  const own = plain(it);
  let near = it;
  while (near && (plain(near) === own || !plain(near))) near = near.parentElement ?? near.getRootNode().host;
  return {
    visible: boxed && getComputedStyle(it).visibility === 'visible',
    enabled: !it.disabled && it.getAttribute('aria-disabled') !== 'true',
    near: near ? plain(near).slice(0, 60).toWellFormed() : '',
  };
}";

/// An element of a page.
pub struct FoundElement {
    pub session: Arc<str>,
    /// Of our isolated world in its frame.
    pub world: i64,
    pub backend: i64,
    /// As a recording names it.
    pub role: Option<String>,
    pub name: Option<String>,
    /// As the browser does.
    pub called: Option<(String, String)>,
}

/// What a look at the page comes to.
pub enum FindResult {
    Found(FoundElement),
    /// These fit equally well: a line for each.
    Several(Vec<String>),
    Nothing,
}

struct Match {
    backend: i64,
    /// Not known where the accessibility tree was not asked.
    called: Option<(String, String)>,
}

/// How an element stands on its page.
#[derive(Deserialize)]
pub struct Probe {
    pub visible: bool,
    pub enabled: bool,
    /// The text around it.
    pub near: String,
}

#[derive(Deserialize)]
struct AxNodes {
    nodes: Vec<AxNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AxNode {
    #[serde(default)]
    pub ignored: bool,
    role: Option<AxValue>,
    name: Option<AxValue>,
    value: Option<AxValue>,
    #[serde(rename = "backendDOMNodeId")]
    pub backend: Option<i64>,
    #[serde(default)]
    properties: Vec<AxProperty>,
}

#[derive(Deserialize)]
struct AxProperty {
    name: String,
    value: AxValue,
}

#[derive(Deserialize)]
struct AxValue {
    #[serde(default)]
    value: Value,
}

impl AxNode {
    pub fn role(&self) -> String {
        Self::text(self.role.as_ref())
    }

    /// In white space of single blanks.
    pub fn name(&self) -> String {
        Self::text(self.name.as_ref())
    }

    /// What stands in a field.
    pub fn value(&self) -> String {
        Self::text(self.value.as_ref())
    }

    pub fn is_disabled(&self) -> bool {
        self.properties.iter().any(|it| it.name == "disabled" && it.value.value == true)
    }

    fn text(value: Option<&AxValue>) -> String {
        let text = value.and_then(|it| it.value.as_str()).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Whether people act on elements of that role, named or not.
pub fn is_interactive(role: &str) -> bool {
    INTERACTIVE.contains(&role)
}

/// What the browser calls an element: role, name, and its number in the session. `params` say which, as the protocol
/// wants it.
pub async fn describe(
    shared: &ContextInner,
    session: &str,
    mut params: Value,
) -> Option<(String, String, i64)> {
    params["fetchRelatives"] = false.into();
    let reply = shared.cdp.send(Some(session), "Accessibility.getPartialAXTree", params);
    let nodes: AxNodes = reply.read(PATIENCE).await.ok()?;
    let node = nodes.nodes.first()?;
    Some((node.role(), node.name(), node.backend?))
}

/// The first frame's best match: the name exactly; else in any case; else as a part. Of several, the one that is visible, and of
/// those the one that is enabled. Without a role, one of `roles`.
///
/// Fails with `STEP_FAILED` for what is no selector.
pub async fn find(
    shared: &ContextInner,
    frames: &[Frame],
    element: &Element,
    roles: &[&str],
) -> Result<FindResult> {
    for frame in frames {
        let matches = matches(shared, frame, element, roles).await?;
        match choose(shared, frame, matches, element.nth).await {
            FindResult::Nothing => {}
            FindResult::Found(mut it) => {
                if it.called.is_none() {
                    let node = json!({ "backendNodeId": it.backend });
                    let called = describe(shared, &it.session, node).await;
                    it.called = called.map(|it| (it.0, it.1));
                }
                (it.role, it.name) = it.called.clone().unzip();
                if let Locator::Role { role, name } = &element.by {
                    it.role = role.clone().or(it.role);
                    it.name = Some(name.clone());
                }
                return Ok(FindResult::Found(it));
            }
            several @ FindResult::Several(_) => return Ok(several),
        }
    }
    Ok(FindResult::Nothing)
}

async fn matches(
    shared: &ContextInner,
    frame: &Frame,
    element: &Element,
    roles: &[&str],
) -> Result<Vec<Match>> {
    let of = |nodes: Vec<AxNode>, roles: &[&str], name: &str| {
        let mut nodes = nodes;
        nodes.retain(|it| roles.contains(&&*it.role()));
        best(&nodes, name)
    };
    Ok(match &element.by {
        Locator::Role { role: Some(role), name } => {
            best(&query(shared, frame, Some(role)).await, name)
        }
        Locator::Role { role: None, name } => of(query(shared, frame, None).await, roles, name),
        Locator::Label(name) => of(query(shared, frame, None).await, CONTROLS, name),
        Locator::Placeholder(it) => snippet(shared, frame, "placeholder", it).await?,
        Locator::TestId(it) => snippet(shared, frame, "test_id", it).await?,
        Locator::Css(it) => snippet(shared, frame, "css", it).await?,
    })
}

/// Numbers of all nodes of the best rank, in document order.
fn best(nodes: &[AxNode], wanted: &str) -> Vec<Match> {
    let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = wanted.to_lowercase();
    let fits: [&dyn Fn(&str) -> bool; 3] =
        [&|it| it == wanted, &|it| it.to_lowercase() == lower, &|it| {
            !lower.is_empty() && it.to_lowercase().contains(&lower)
        }];
    let of = |fit: &&dyn Fn(&str) -> bool| {
        let mut out = Vec::new();
        for node in nodes.iter().filter(|it| !it.ignored) {
            let name = node.name();
            if let Some(backend) = node.backend.filter(|_| fit(&name)) {
                let called = Some((node.role(), name));
                out.push(Match { backend, called });
            }
        }
        out
    };
    fits.iter().map(of).find(|it| !it.is_empty()).unwrap_or_default()
}

/// How many visible elements a selector finds, in the frame that has the most. Fails with `STEP_FAILED` for what is no selector.
pub async fn count_visible(shared: &ContextInner, frames: &[Frame], css: &str) -> Result<usize> {
    let mut most = 0;
    for frame in frames {
        let matches = snippet(shared, frame, "css", css).await?;
        if matches.len() > most {
            let found = visible(shared, frame, matches).await;
            most = most.max(found.iter().filter(|it| it.1.visible).count());
        }
    }
    Ok(most)
}

/// Those that are visible, or all where none is, in document order; without those that are gone.
async fn visible(shared: &ContextInner, frame: &Frame, matches: Vec<Match>) -> Vec<(Match, Probe)> {
    let probes = matches.into_iter().take(MAX_ALIKE).map(async |it| {
        let probe = probe(shared, frame, it.backend).await?;
        Some((it, probe))
    });
    let mut all: Vec<_> = join_all(probes).await.into_iter().flatten().collect();
    if all.iter().any(|it| it.1.visible) {
        all.retain(|it| it.1.visible);
    }
    all
}

async fn choose(
    shared: &ContextInner,
    frame: &Frame,
    matches: Vec<Match>,
    nth: Option<u32>,
) -> FindResult {
    let found = |it: &Match| {
        let (session, world) = (Arc::clone(&frame.session), frame.world);
        let (backend, called) = (it.backend, it.called.clone());
        FindResult::Found(FoundElement { session, world, backend, role: None, name: None, called })
    };
    if let ([one], None) = (matches.as_slice(), nth) {
        return found(one);
    }
    let all = visible(shared, frame, matches).await;
    if let Some(nth) = nth {
        return all.get(nth as usize - 1).map_or(FindResult::Nothing, |it| found(&it.0));
    }
    let mut enabled = all.iter().filter(|it| it.1.enabled);
    match (all.as_slice(), enabled.next(), enabled.next()) {
        ([], ..) => FindResult::Nothing,
        ([(one, _)], ..) | (_, Some((one, _)), None) => found(one),
        _ => FindResult::Several(all.iter().enumerate().map(|(i, it)| line(i + 1, it)).collect()),
    }
}

fn line(n: usize, (it, probe): &(Match, Probe)) -> String {
    let called = it.called.as_ref().map(|(role, name)| {
        let name: String = name.chars().take(60).collect();
        format!("{role} {name:?} ")
    });
    format!("{n}: {}near {:?}", called.unwrap_or_default(), probe.near)
}

pub async fn probe(shared: &ContextInner, frame: &Frame, backend: i64) -> Option<Probe> {
    let object = resolve(shared, &frame.session, frame.world, backend).await.ok()??;
    page::call_on_object(&shared.cdp, &frame.session, &object, PROBE, &[]).await.ok()
}

/// The element as an object of that world; `None` when it has gone.
pub async fn resolve(
    shared: &ContextInner,
    session: &str,
    world: i64,
    backend: i64,
) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct ResolveNodeResult {
        object: RemoteObject,
    }
    let params = json!({ "backendNodeId": backend, "executionContextId": world, "objectGroup": page::OBJECTS });
    let reply = shared.cdp.send(Some(session), "DOM.resolveNode", params);
    let resolved: ResolveNodeResult = reply.read(PATIENCE).await?;
    Ok(resolved.object.object_id)
}

/// What [`FIND`] finds in a frame. One that is going away has nothing.
async fn snippet(
    shared: &ContextInner,
    frame: &Frame,
    how: &str,
    text: &str,
) -> Result<Vec<Match>> {
    let found = objects(shared, frame, how, text).await?;
    let nodes = join_all(found.iter().map(|it| node(shared, frame, it))).await;
    let all = nodes.into_iter().flatten();
    Ok(all.map(|it| Match { backend: it.backend_node_id, called: None }).collect())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    backend_node_id: i64,
    frame_id: Option<String>,
}

async fn node(shared: &ContextInner, frame: &Frame, object: &str) -> Option<Node> {
    #[derive(Deserialize)]
    struct DescribeNodeResult {
        node: Node,
    }
    let params = json!({ "objectId": object });
    let reply = shared.cdp.send(Some(&frame.session), "DOM.describeNode", params);
    Some(reply.read::<DescribeNodeResult>(PATIENCE).await.ok()?.node)
}

async fn objects(
    shared: &ContextInner,
    frame: &Frame,
    how: &str,
    text: &str,
) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct CallFunctionResult {
        result: RemoteObject,
    }
    #[derive(Deserialize)]
    struct Properties {
        result: Vec<Property>,
    }
    #[derive(Deserialize)]
    struct Property {
        name: String,
        value: Option<RemoteObject>,
    }
    let arguments = json!([{ "value": how }, { "value": text }, { "value": MAX_ALIKE }]);
    let params = json!({ "functionDeclaration": FIND, "executionContextId": frame.world,
        "arguments": arguments, "objectGroup": page::OBJECTS });
    let reply = shared.cdp.send(Some(&frame.session), "Runtime.callFunctionOn", params);
    let Ok(called) = reply.read::<CallFunctionResult>(PATIENCE).await else {
        return Ok(Vec::new());
    };
    let Some(array) = called.result.object_id else {
        return Err(Error::new(Code::StepFailed, format!("{text:?} is not a CSS selector")));
    };
    let params = json!({ "objectId": array, "ownProperties": true });
    let reply = shared.cdp.send(Some(&frame.session), "Runtime.getProperties", params);
    let Ok(all) = reply.read::<Properties>(PATIENCE).await else { return Ok(Vec::new()) };
    let elements = all.result.into_iter().filter(|it| it.name.parse::<u32>().is_ok());
    Ok(elements.filter_map(|it| it.value?.object_id).collect())
}

/// Ids of the frames whose elements a selector matches, in the first of these that has one.
pub async fn frame_ids(shared: &ContextInner, frames: &[Frame], css: &str) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for frame in frames {
        for it in objects(shared, frame, "css", css).await? {
            out.extend(node(shared, frame, &it).await.and_then(|it| it.frame_id));
        }
    }
    Ok(out)
}

/// Sessions and numbers of the elements that a selector matches, and of all that is in them: shadow roots and frames of the same
/// process, too. Fails with `STEP_FAILED` for what is no selector.
pub async fn below(
    shared: &ContextInner,
    frames: &[Frame],
    css: &str,
) -> Result<BTreeSet<(Arc<str>, i64)>> {
    #[derive(Deserialize)]
    struct DescribeNodeResult {
        node: DomNode,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct DomNode {
        backend_node_id: i64,
        #[serde(default)]
        children: Vec<DomNode>,
        #[serde(default)]
        shadow_roots: Vec<DomNode>,
        content_document: Option<Box<DomNode>>,
    }
    let mut out = BTreeSet::new();
    for frame in frames {
        for object in objects(shared, frame, "css", css).await? {
            let params = json!({ "objectId": object, "depth": -1, "pierce": true });
            let reply = shared.cdp.send(Some(&frame.session), "DOM.describeNode", params);
            let Ok(DescribeNodeResult { node }) = reply.read(PATIENCE).await else { continue };
            let mut stack = vec![node];
            while let Some(it) = stack.pop() {
                out.insert((Arc::clone(&frame.session), it.backend_node_id));
                stack.extend(it.children.into_iter().chain(it.shadow_roots));
                stack.extend(it.content_document.map(|it| *it));
            }
        }
    }
    Ok(out)
}

/// The frame's accessibility nodes of a role, or all. A frame that is going away has none.
pub async fn query(shared: &ContextInner, frame: &Frame, role: Option<&str>) -> Vec<AxNode> {
    let wanted = role.map_or_else(|| json!({}), |it| json!({ "role": it }));
    query_ax_tree(shared, frame, wanted).await.map(|it: AxNodes| it.nodes).unwrap_or_default()
}

/// As [`query`], the nodes that the page calls exactly so, in the order of the document.
pub async fn called<T: DeserializeOwned>(
    shared: &ContextInner,
    frame: &Frame,
    name: &str,
) -> Option<T> {
    query_ax_tree(shared, frame, json!({ "accessibleName": name })).await
}

async fn query_ax_tree<T: DeserializeOwned>(
    shared: &ContextInner,
    frame: &Frame,
    mut wanted: Value,
) -> Option<T> {
    // A query waits until its document is drawn. Frames that are hidden or out of sight never are; their whole tree is told at once.
    if shared.page().is_ok_and(|it| it.target != frame.id) {
        return sift(shared, frame, &wanted).await;
    }
    let document = page::document(&shared.cdp, frame).await?;
    wanted["objectId"] = document.as_str().into();
    let reply = shared.cdp.send(Some(&frame.session), "Accessibility.queryAXTree", wanted);
    let nodes = reply.read(PATIENCE).await.ok();
    let params = json!({ "objectId": document });
    shared.cdp.post(Some(&frame.session), "Runtime.releaseObject", params);
    nodes
}

/// What a query would answer, from the frame's whole tree.
async fn sift<T: DeserializeOwned>(
    shared: &ContextInner,
    frame: &Frame,
    wanted: &Value,
) -> Option<T> {
    #[derive(Deserialize)]
    struct Tree {
        nodes: Vec<Value>,
    }
    let params = json!({ "frameId": frame.id });
    let reply = shared.cdp.send(Some(&frame.session), "Accessibility.getFullAXTree", params);
    let mut nodes = reply.read::<Tree>(PATIENCE).await.ok()?.nodes;
    let by_id: BTreeMap<String, usize> = nodes
        .iter()
        .enumerate()
        .filter_map(|(at, it)| Some((it["nodeId"].as_str()?.to_owned(), at)))
        .collect();
    let fits = |it: &Value| {
        let is = |asked: &str, key: &str| {
            let asked = &wanted[asked];
            asked.is_null() || it[key]["value"] == *asked
        };
        is("role", "role") && is("accessibleName", "name")
    };
    let (mut out, mut next) = (Vec::new(), vec![0]);
    while let Some(at) = next.pop() {
        // Taken, so that a tree with a circle in it ends.
        let Some(node) = nodes.get_mut(at).map(Value::take).filter(|it| !it.is_null()) else {
            continue;
        };
        let children = node["childIds"].as_array().into_iter().flatten().rev();
        next.extend(children.filter_map(|it| by_id.get(it.as_str()?).copied()));
        if fits(&node) {
            out.push(node);
        }
    }
    serde_json::from_value(json!({ "nodes": out })).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, ignored: bool, backend: i64) -> AxNode {
        AxNode {
            ignored,
            properties: Vec::new(),
            value: None,
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
        let best = |nodes: &[AxNode], wanted: &str| {
            best(nodes, wanted).into_iter().map(|it| it.backend).collect::<Vec<_>>()
        };
        assert_eq!(best(&nodes, "Search"), [4]);
        assert_eq!(best(&nodes[..3], "Search"), [3]);
        assert_eq!(best(&nodes[..2], "Search"), [2]);
        assert_eq!(best(&nodes[..1], "Search"), [] as [i64; 0]);
        assert_eq!(best(&nodes, ""), [] as [i64; 0]);
        assert_eq!(best(&[node("A", false, 1), node("A", false, 2)], "A"), [1, 2]);
    }
}
