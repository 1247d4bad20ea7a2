//! Elements as a session knows them.

use std::collections::BTreeMap;

use super::{
    PageController, ResolvedTarget,
    tree::{self, FrameTree, Item, ItemKind},
};
use crate::{
    lookup::FoundElement,
    sessions::fingerprint::{Fingerprint, class, mark_of},
};
use commis_base::error::Result;

/// See the file.
const ATTRIBUTES: &str = include_str!("prints.js");
/// Others on the page that are remembered.
const OTHERS: usize = 300;

/// Attributes apart; with the number of each among the lines of the page. What is in a frame stands in what the frame stands in, too.
pub(super) fn fingerprints(read: &[FrameTree], items: &[Item]) -> Vec<(usize, Fingerprint)> {
    let framed = tree::rows_of_frames(read);
    let controls: Vec<usize> =
        (0..items.len()).filter(|it| items[*it].what == ItemKind::Control).collect();
    let name = |at: usize| commis_redact::message(&items[at].name);
    let mut called: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for at in &controls {
        *called.entry((class(&items[*at].role), &items[*at].name)).or_default() += 1;
    }
    let of = |(i, at): (usize, &usize)| {
        let it = &items[*at];
        let around = [i.checked_sub(1), Some(i + 1)];
        let near = around.iter().flatten().filter_map(|it| controls.get(*it)).map(|it| name(*it));
        let print = Fingerprint {
            role: it.role.clone(),
            name: name(*at),
            alone: called.get(&(class(&it.role), &*it.name)) == Some(&1),
            row: it.row.as_deref().or(framed[it.frame].as_deref()).map(commis_redact::message),
            form: it.form.as_deref().map(commis_redact::message),
            near: near.filter(|it| !it.is_empty()).collect(),
            others: Vec::new(),
            attributes: BTreeMap::new(),
        };
        (*at, print)
    };
    controls.iter().enumerate().map(of).collect()
}

impl PageController {
    pub(super) async fn attributes(&self, found: &FoundElement) -> BTreeMap<String, String> {
        let all: BTreeMap<String, String> =
            self.call(found, ATTRIBUTES, &[]).await.unwrap_or_default();
        all.into_iter().map(|(name, it)| (name, commis_redact::message(&it))).collect()
    }

    /// The element as a session knows it; `None` for what has no line of its own.
    pub(super) async fn fingerprint_of(&self, found: &FoundElement) -> Result<Option<Fingerprint>> {
        let (read, items) = self.read_items(false).await?;
        let is = |it: &Item| {
            it.backend == found.backend && read[it.frame].frame.session == found.session
        };
        let all = fingerprints(&read, &items);
        let Some((_, mut it)) = all.iter().find(|it| is(&items[it.0])).cloned() else {
            return Ok(None);
        };
        let others = all.iter().map(|it| &it.1);
        let others = others.filter(|other| it.is_of_class(other) && other.name != it.name);
        let mut others: Vec<u32> = others.filter_map(|it| mark_of(&it.name)).collect();
        others.sort_unstable();
        others.dedup();
        others.truncate(OTHERS);
        it.others = others;
        it.attributes = self.attributes(found).await;
        Ok(Some(it))
    }

    /// What is found at that line of the page.
    pub(super) fn found_at(read: &[FrameTree], item: &Item) -> FoundElement {
        ResolvedTarget::new(&read[item.frame].frame, item, None, None).found
    }
}
