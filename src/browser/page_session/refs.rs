//! Refs: numbers of elements that mean what they meant when they were shown, or nothing.
//!
//! A ref is bound to the element, its document, its role and name, and what it stands in. Lists re-use their nodes, so that the
//! node alone says little: all of it is read again when a ref is used, and whatever is different refuses, but for a measure that
//! goes on in a row of its own (`volatile_text.rs`). Never another element silently.

use std::{collections::BTreeMap, time::Instant};

use super::{
    snapshot,
    text_sanitizer::quoted,
    tree::{FrameTree, Item, ItemKind},
    volatile_text,
};
use crate::page::Frame;
use commis_base::error::{Code, Error, Result};

/// Numbers that are remembered; the oldest are forgotten first.
const MOST: usize = 20_000;
/// Lines that a refusal shows.
const NEAR: usize = 3;

/// Where an element is, as long as its document is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ElementPlace {
    session: String,
    /// Our world in its document: another document has another.
    world: i64,
    backend: i64,
}

struct RefEntry {
    place: ElementPlace,
    item: Item,
    /// Which of those that are called alike it was when all were numbered, from 1; 0 where no other was. And when that was begun.
    nth: Option<(u32, Instant)>,
    /// No other was called so then, numbers aside.
    alone: bool,
}

#[derive(Default)]
pub struct RefTable {
    by_place: BTreeMap<ElementPlace, u32>,
    held: BTreeMap<u32, RefEntry>,
    last: u32,
}

impl RefTable {
    /// A number for each element: the one it had, if it was numbered before. 0 for what cannot be acted on.
    /// `begun`: when the page was asked for them.
    pub fn number(&mut self, read: &[FrameTree], items: &[Item], begun: Instant) -> Vec<u32> {
        let mut alike: BTreeMap<(&str, &str), Vec<u32>> = BTreeMap::new();
        let mut out = Vec::with_capacity(items.len());
        for it in items {
            let n = if it.what == ItemKind::Control { self.ref_of(read, it) } else { 0 };
            if n > 0 {
                alike.entry((&it.role, &it.name)).or_default().push(n);
            }
            out.push(n);
        }
        let mut kinds: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (it, n) in items.iter().zip(&out).filter(|it| *it.1 > 0) {
            kinds.entry(volatile_text::key(it)).or_default().push(*n);
        }
        for all in kinds.into_values().filter(|it| it.len() == 1) {
            if let Some(it) = self.held.get_mut(&all[0]) {
                it.alone = true;
            }
        }
        for all in alike.into_values() {
            let is_one = all.len() == 1;
            for (n, i) in all.iter().zip(1..) {
                if let Some(it) = self.held.get_mut(n) {
                    it.nth = Some((if is_one { 0 } else { i }, begun));
                }
            }
        }
        out
    }

    /// The number's element as it was when all were numbered last; which of those that were called alike it was, from 1, or 0 where no
    /// other was; and when that was begun.
    pub fn numbered(&self, n: u32) -> Option<(&Item, u32, Instant)> {
        let it = self.held.get(&n)?;
        it.nth.map(|(nth, begun)| (&it.item, nth, begun))
    }

    pub fn ref_of(&mut self, read: &[FrameTree], item: &Item) -> u32 {
        let place = place(read, item);
        let known = self.by_place.get(&place).copied();
        let n = known.unwrap_or_else(|| {
            self.last += 1;
            self.by_place.insert(place.clone(), self.last);
            self.last
        });
        self.held.insert(n, RefEntry { place, item: item.clone(), nth: None, alone: false });
        while self.held.len() > MOST {
            if let Some((_, old)) = self.held.pop_first() {
                self.by_place.remove(&old.place);
            }
        }
        n
    }

    /// In which of the frames the number's element was, and its number there; `None` where that document is gone.
    pub fn at(&self, n: u32, frames: &[Frame]) -> Option<(usize, i64)> {
        let at = &self.held.get(&n)?.place;
        let frame =
            frames.iter().position(|it| *it.session == *at.session && it.world == at.world)?;
        Some((frame, at.backend))
    }

    /// The session, the world and the node of the number's element, as it was found.
    pub fn place(&self, n: u32) -> Option<(String, i64, i64)> {
        let at = &self.held.get(&n)?.place;
        Some((at.session.clone(), at.world, at.backend))
    }

    /// Whether it is what it was when the number was given to it.
    pub fn is_unchanged(&self, n: u32, now: &Item) -> bool {
        self.held.get(&n).is_some_and(|it| {
            let was = &it.item;
            (&was.role, &was.name, &was.row, &was.form)
                == (&now.role, &now.name, &now.row, &now.form)
        })
    }

    /// The one element that is called as the number's was, in the row where it was; else the only one that is called so.
    pub fn like<'a>(&self, n: u32, items: &'a [Item]) -> Option<&'a Item> {
        let was = &self.held.get(&n)?.item;
        let alike =
            |it: &&Item| it.what == ItemKind::Control && it.role == was.role && it.name == was.name;
        let all: Vec<&Item> = items.iter().filter(alike).collect();
        let near: Vec<&Item> = all.iter().filter(|it| it.row == was.row).copied().collect();
        match (near.as_slice(), all.as_slice()) {
            ([one], _) | (_, [one]) => Some(one),
            _ => {
                let mut same = items.iter().filter(|it| {
                    it.what == ItemKind::Control
                        && volatile_text::is_same(was, it)
                        && volatile_text::is_alone(it, items)
                });
                same.next().filter(|_| same.next().is_none())
            }
        }
    }

    /// The element that the number stands for, as it is now. Fails with `REF_STALE`, and says what is different.
    pub fn resolve<'a>(
        &mut self,
        n: u32,
        read: &[FrameTree],
        items: &'a [Item],
    ) -> Result<&'a Item> {
        let Some(held) = self.held.get(&n) else {
            return Err(stale(format!("this session has no @e{n}")));
        };
        let (was, at, alone) = (held.item.clone(), held.place.clone(), held.alone);
        let controls = || items.iter().filter(|it| it.what == ItemKind::Control);
        let now = controls().find(|it| place(read, it) == at);
        let alike = |it: &&Item| it.role == was.role && it.name == was.name;
        let why = match now {
            None if read
                .iter()
                .any(|it| *it.frame.session == *at.session && it.frame.world == at.world) =>
            {
                "is not on the page any more".to_owned()
            }
            None => "belongs to a page that was left".to_owned(),
            // A countdown or a price went on, in the one row that is called so.
            Some(it)
                if alone
                    && volatile_text::is_same(&was, it)
                    && volatile_text::is_alone(it, items) =>
            {
                return Ok(it);
            }
            Some(it) if it.role != was.role => format!("was a {}, is now a {}", was.role, it.role),
            Some(it) if it.name != was.name => {
                format!("was called {}, is now called {}", quoted(&was.name), quoted(&it.name))
            }
            Some(it) if it.row != was.row => format!(
                "was in {}, is now in {}",
                describe_scope(was.row.as_deref()),
                describe_scope(it.row.as_deref())
            ),
            Some(it) if it.form != was.form => {
                format!(
                    "was part of {}, is now part of {}",
                    describe_scope(was.form.as_deref()),
                    describe_scope(it.form.as_deref())
                )
            }
            Some(it) => return Ok(it),
        };
        let mut near: Vec<&Item> = controls().filter(alike).collect();
        near.sort_by_key(|it| it.row != was.row);
        near.truncate(NEAR);
        let lines: Vec<String> =
            near.into_iter().map(|it| snapshot::line(it, self.ref_of(read, it), true)).collect();
        let hint = match lines.as_slice() {
            [] => "nothing on the page is called so; take a new snapshot".to_owned(),
            some => format!("similar elements: {}", some.join("; ")),
        };
        Err(stale(format!("@e{n} {} {why}", snapshot::role_and_name(&was))).hint(hint))
    }
}

fn describe_scope(it: Option<&str>) -> String {
    it.map_or_else(|| "nothing".to_owned(), quoted)
}

fn stale(why: String) -> Error {
    Error::new(Code::RefStale, why).hint("take a new snapshot")
}

fn place(read: &[FrameTree], item: &Item) -> ElementPlace {
    let frame = read.get(item.frame).map(|it| &it.frame);
    ElementPlace {
        session: frame.map(|it| it.session.to_string()).unwrap_or_default(),
        world: frame.map_or(0, |it| it.world),
        backend: item.backend,
    }
}
