//! One element as a snapshot would tell it, without reading the whole page: what is above it, and of what is around it as much as
//! names it. A page of five thousand elements takes half a second to read, this a few milliseconds.

use std::{collections::BTreeSet, time::Duration};

use serde_json::json;

use super::tree::{self, Document, Item, ItemKind, Node, Nodes};
use crate::{
    context_state::ContextInner,
    lookup,
    page::{self, Frame},
};

const PATIENCE: Duration = Duration::from_secs(5);
/// Whether a word of a name is in the document once: in a text, or in an attribute that names an element. Names from elsewhere (a style
/// sheet, the browser's own words, a closed root) have no word in the document, so that `false` says nothing.
const HAS_WORD_ONCE: &str = "function (name) {
  const words = new Map(name.toLowerCase().split(/\\s+/).filter(it => it).map(it => [it, 0]));
  if (document.querySelector('input:is([type=submit], [type=reset]):not([value])')) return false;
  const note = text => {
    const low = text.toLowerCase();
    for (const [word, n] of words) if (low.includes(word)) { if (n) words.delete(word); else words.set(word, 1); }
    return words.size > 0;
  };
  const named = '[aria-label], [aria-labelledby], [aria-description], [title], [alt], [placeholder], [value], [label], [summary]';
  const naming = ['aria-label', 'aria-description', 'title', 'alt', 'placeholder', 'value', 'label', 'summary'];
  const quiet = /^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/;
  const roots = [document];
  for (const root of roots) {
    for (const it of root.querySelectorAll('*')) if (it.shadowRoot) roots.push(it.shadowRoot);
    for (const it of root.querySelectorAll(named)) {
      for (const of of naming) if (it.hasAttribute(of) && !note(it.getAttribute(of))) return false;
      for (const id of (it.getAttribute('aria-labelledby') ?? '').split(' '))
        if (id && !note(root.getElementById(id)?.textContent ?? '')) return false;
    }
    const all = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let it = all.nextNode(); it; it = all.nextNode()) {
      const text = it.data;
      if (/\\S/.test(text) && !quiet.test(it.parentNode.nodeName) && !note(text)) return false;
    }
  }
  return [...words.values()].includes(1);
}";
/// Elements that are named by all that they hold, and hold others of their kind: a word that is there once names several.
const NESTED: [&str; 5] = ["treeitem", "row", "cell", "gridcell", "listitem"];
/// Nodes whose children are asked for at once, and how often.
const AT_ONCE: usize = 64;
const ROUNDS: usize = 16;

/// `None` where it is gone, is no element that is acted on, or cannot be told without the whole page.
pub async fn item(shared: &ContextInner, frame: &Frame, at: usize, backend: i64) -> Option<Item> {
    let session = Some(&*frame.session);
    // The browser then keeps its tree, and the numbers of its nodes, between two questions.
    shared.cdp.post(session, "Accessibility.enable", json!({}));
    let of = json!({ "backendNodeId": backend });
    let above = shared.cdp.send(session, "Accessibility.getAXNodeAndAncestors", of);
    let mut nodes = above.read::<Nodes>(PATIENCE).await.ok()?.nodes;
    // A document inside another has no part in what is around it.
    let root = nodes.iter().position(|it| it.role() == "RootWebArea")?;
    nodes.truncate(root + 1);
    nodes.reverse();
    let this = nodes.len() - 1;
    let around = tree::around(&nodes[..this])?;
    let mut known: BTreeSet<String> = nodes.iter().map(|it| it.id().to_owned()).collect();
    for _ in 0..ROUNDS {
        let mut out = Vec::new();
        let document = Document::part(&nodes);
        document.item(this, at, &around, &mut out);
        let missing = document.missing(AT_ONCE);
        if missing.is_empty() {
            return out.pop().filter(|it| it.what == ItemKind::Control && it.backend == backend);
        }
        let asked: Vec<_> = missing
            .into_iter()
            .map(|it| json!({ "id": it, "frameId": frame.id }))
            .map(|it| shared.cdp.send(session, "Accessibility.getChildAXNodes", it))
            .collect();
        let before = nodes.len();
        for reply in asked {
            let children = reply.read::<Nodes>(PATIENCE).await.ok()?.nodes;
            nodes.extend(children.into_iter().filter(|it| known.insert(it.id().to_owned())));
        }
        if nodes.len() == before {
            return None;
        }
    }
    None
}

/// Which of those that are called alike it is, from 1; 0 where no other is. `None` where that takes the whole page.
pub async fn nth(shared: &ContextInner, frames: &[Frame], item: &Item) -> Option<u32> {
    // What a closed list holds is known to the browser and not told.
    if item.role == "option" {
        return None;
    }
    if let [frame] = frames
        && !NESTED.contains(&&*item.role)
        && page::call(&shared.cdp, frame, HAS_WORD_ONCE, &[(&*item.name).into()], PATIENCE)
            .await
            .unwrap_or(false)
    {
        return Some(0);
    }
    let mut own = Vec::new();
    for (i, frame) in frames.iter().enumerate() {
        let alike: Nodes = lookup::called(shared, frame, &item.name).await?;
        let alike = alike.nodes.iter().filter(|it| it.is_control(&item.role, &item.name));
        let alike: Vec<i64> = alike.filter_map(Node::backend).collect();
        if i == item.frame {
            own = alike;
        } else if !alike.is_empty() {
            return None;
        }
    }
    let position = own.iter().position(|it| *it == item.backend)?;
    if own.len() == 1 { Some(0) } else { u32::try_from(position + 1).ok() }
}

#[cfg(test)]
impl super::PageController {
    /// How many elements there are on the page, those that are another when they are read alone, and those whose number takes the
    /// whole page.
    pub async fn read_alone(&self) -> (usize, Vec<String>, Vec<String>) {
        let shared = self.shared();
        let (read, items) = self.read_items(false).await.unwrap();
        let frames = shared.frames().await.unwrap();
        let (mut count, mut wrong, mut whole) = (0, Vec::new(), Vec::new());
        for it in items.iter().filter(|it| it.what == ItemKind::Control) {
            count += 1;
            let Some(now) = item(&shared, &frames[it.frame], it.frame, it.backend).await else {
                wrong.push(format!("{it:?} is not found"));
                continue;
            };
            let options = it.options.clone();
            if (Item { options, ..now.clone() }) != *it {
                wrong.push(format!("{it:?} is {now:?}"));
            }
            let told = super::target_resolution::resolved_from_item(&read, &items, it, None)
                .element
                .and_then(|it| it.nth);
            match nth(&shared, &frames, it).await {
                Some(nth)
                    if super::target_resolution::is_name(&it.name)
                        && told != Some(nth).filter(|it| *it > 0) =>
                {
                    wrong.push(format!("{it:?} is number {nth} and not {told:?}"));
                }
                Some(_) => {}
                None => whole.push(it.name.clone()),
            }
        }
        (count, wrong, whole)
    }
}
