//! A list followed from page to page: what of each answer is new, where the next one is, and whether the list has ended.
//!
//! Pure: who follows sends the requests. Proofs and runs share it, so that what was proven is what runs.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::Value;

use commis_base::error::{Code, Error, Result};
use commis_recipe::{
    model::Recipe,
    page_request,
    paging::{PageBy, PageEnd, Pages, Position, Resumption},
};

/// Items of a page whose marks a continuation token keeps.
const MAX_MARKS: usize = 200;

/// What one page answered.
pub struct PageAnswer {
    pub items: Vec<Value>,
    /// What leads to the next page.
    pub next: Option<Value>,
    /// Items that the site says there are.
    pub total: Option<u64>,
}

/// The state of following a list.
pub struct PageWalk {
    pages: Pages,
    /// Ends that are accepted without a word: those that were proven. A proof accepts all.
    is_proof: bool,
    position: Option<Position>,
    next: Option<Position>,
    end: Option<PageEnd>,
    /// Marks of the items so far, and of those of the last page.
    seen: BTreeSet<u64>,
    last: Vec<u64>,
    /// Items before the page that came last, and the marks of the page before it.
    before: (u64, Vec<u64>),
    /// Items of the page that comes now that were given before.
    skip: u64,
    asked: BTreeSet<u64>,
    given: u64,
    repeated: u64,
    /// Items came a second time, and not because one page begins with what ended the last, as was seen when it was proven.
    scattered: bool,
    count: u64,
    total: Option<u64>,
    totals: BTreeSet<u64>,
}

impl PageWalk {
    /// From the first page, or from where a call before ended.
    pub fn new(pages: &Pages, from: Option<Resumption>, is_proof: bool) -> Self {
        let (position, given, skip, last) =
            from.map_or((None, 0, 0, Vec::new()), |it| (it.at, it.after, it.skip, it.last));
        Self {
            pages: pages.clone(),
            is_proof,
            position,
            next: None,
            end: None,
            seen: last.iter().copied().collect(),
            before: (given, last.clone()),
            skip,
            last,
            asked: BTreeSet::new(),
            given,
            repeated: 0,
            scattered: false,
            count: 0,
            total: None,
            totals: BTreeSet::new(),
        }
    }

    /// The recipe that asks for the page that comes now. Fails as [`page_request::request_at_position`].
    pub fn page_recipe(&self, recipe: &Recipe) -> Result<Recipe> {
        let mut out = recipe.clone();
        let Some(position) = &self.position else { return Ok(out) };
        out.request = page_request::request_at_position(&recipe.request, &self.pages, position)?;
        // Further pages may be short, and the one after the last has nothing.
        out.response.min_items = Some(0);
        out.response.required_paths.clear();
        // Its examples were answered by first pages.
        if let Some(it) = &mut out.verification {
            it.examples.clear();
        }
        Ok(out)
    }

    /// Where the page that comes now stands; `None` for the first.
    pub const fn position(&self) -> Option<&Position> {
        self.position.as_ref()
    }

    /// The items of a page that are new. Fails with `PAGE_REPEATED` where the site goes round in circles.
    pub fn take(&mut self, answer: PageAnswer) -> Result<Vec<Value>> {
        let PageAnswer { items, next, total } = answer;
        self.total = total.or(self.total);
        self.totals.extend(total);
        let count = items.len() as u64;
        let marks: Vec<u64> =
            items.iter().map(|it| item_hash(it, self.pages.key.as_deref())).collect();
        let is_again =
            count > 0 && !self.seen.is_empty() && marks.iter().all(|it| self.seen.contains(it));
        if count == 0 && self.position.is_some() {
            return self.finish(PageEnd::Empty).map(|()| Vec::new());
        }
        if is_again {
            // A cursor that leads to itself: the page that it was sent for is the last one.
            if self.is_sent(next.as_ref()) && self.may_end(PageEnd::Same) {
                return self.finish(PageEnd::Same).map(|()| Vec::new());
            }
            // A site that has no further page may give the last one again.
            let is_last = marks == self.last && self.pages.by.is_computable();
            if !is_last || !self.may_end(PageEnd::Repeats) {
                return Err(self.repeat_error());
            }
            return self.finish(PageEnd::Repeats).map(|()| Vec::new());
        }
        let known = marks.iter().filter(|it| self.seen.contains(it)).count();
        let overlaps = self.last.ends_with(marks.get(..known).unwrap_or_default());
        let is_known_to_overlap = self.is_proof || self.pages.seen.repeated > 0;
        self.scattered |= known > 0 && !self.pages.alike && !(overlaps && is_known_to_overlap);
        let mut new = Vec::with_capacity(items.len());
        for (item, mark) in items.into_iter().zip(&marks) {
            // Within one page, what is alike is two things.
            let is_known = self.seen.contains(mark);
            self.repeated += u64::from(is_known);
            if !is_known || self.pages.alike {
                new.push(item);
            }
        }
        self.before = (self.given, std::mem::take(&mut self.last));
        self.seen.extend(&marks);
        self.last = marks;
        self.count += 1;
        self.given += new.len() as u64;
        new.drain(..new.len().min(self.skip as usize));
        self.skip = 0;
        self.step(count, next.as_ref())?;
        Ok(new)
    }

    /// The page after the last is not there.
    pub fn take_missing(&mut self) -> Result<()> {
        self.finish(PageEnd::NotFound)
    }

    fn step(&mut self, count: u64, next: Option<&Value>) -> Result<()> {
        let by = self.pages.by;
        let has_flag = by.is_computable() && self.pages.next.is_some();
        if next.is_none() && (has_flag || !by.is_computable()) {
            return self.finish(PageEnd::Missing);
        }
        let at = match self.position {
            Some(Position::Number(it)) => it,
            _ => self.pages.first.unwrap_or(0),
        };
        let text = next.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
        let next = match by {
            PageBy::Page => Position::Number(at.saturating_add(1)),
            PageBy::Offset => Position::Number(at.saturating_add(count)),
            PageBy::Cursor => Position::Cursor(text.unwrap_or_default()),
            PageBy::Url | PageBy::LinkHeader | PageBy::PageLink => {
                Position::Address(text.unwrap_or_default())
            }
        };
        if by.is_computable() && self.total.is_some_and(|it| self.given >= it) {
            return self.finish(PageEnd::Total);
        }
        if Some(&next) == self.position.as_ref() && self.may_end(PageEnd::Same) {
            return self.finish(PageEnd::Same);
        }
        if !self.asked.insert(hash(&next)) {
            return Err(self.repeat_error());
        }
        self.next = Some(next);
        Ok(())
    }

    /// What leads on is the cursor that was sent.
    fn is_sent(&self, next: Option<&Value>) -> bool {
        let text = next.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
        matches!((&self.position, text), (Some(Position::Cursor(sent)), Some(it)) if *sent == it)
    }

    fn may_end(&self, end: PageEnd) -> bool {
        self.is_proof || self.pages.ends.contains(&end)
    }

    #[expect(clippy::unnecessary_wraps, reason = "ends a step, which may fail")]
    fn finish(&mut self, end: PageEnd) -> Result<()> {
        self.next = None;
        self.end = Some(end);
        Ok(())
    }

    fn repeat_error(&self) -> Error {
        let why = format!("page {} repeats earlier items, so the list never ends", self.count + 1);
        Error::new(Code::PageRepeated, why).hint(
            "the list may have changed meanwhile: run again; if this recurs, learn the recipe again",
        )
    }

    /// Goes to the next page. `false` where there is none.
    pub fn advance(&mut self) -> bool {
        match self.next.take() {
            Some(it) => {
                self.position = Some(it);
                true
            }
            None => false,
        }
    }

    /// Items of the page that comes now that were given before.
    pub const fn skip(&self) -> u64 {
        self.skip
    }

    /// How the list ended; `None` while it goes on.
    pub const fn end(&self) -> Option<PageEnd> {
        self.end
    }

    /// Pages with items so far.
    pub const fn page_count(&self) -> u64 {
        self.count
    }

    /// Items so far, with those before the continuation.
    pub const fn item_count(&self) -> u64 {
        self.given
    }

    /// Items that came a second time.
    pub const fn repeated_count(&self) -> u64 {
        self.repeated
    }

    /// Items came a second time in a way that pages which overlap do not explain: others may be missing.
    pub const fn is_scattered(&self) -> bool {
        self.scattered
    }

    /// Items that the site says there are.
    pub const fn total(&self) -> Option<u64> {
        self.total
    }

    /// Whether all items came; `None` where nothing says so.
    pub fn is_complete(&self) -> Option<bool> {
        match (self.end, self.total) {
            (None, _) => Some(false),
            (Some(_), Some(total)) => Some(self.given >= total),
            (Some(_), None) if self.scattered => Some(false),
            (Some(end), None) => self.may_end(end).then_some(true),
        }
    }

    /// What speaks against the whole list being right, in sentences.
    pub fn warnings(&self) -> Vec<String> {
        let mut out = Vec::new();
        if let (Some(least), Some(most)) = (self.totals.first(), self.totals.last())
            && least != most
        {
            out.push(format!("the list changed while it was read: {least} items, then {most}"));
        }
        if let (Some(end), Some(total)) = (self.end, self.total)
            && self.given < total
        {
            let how = if end == PageEnd::Missing { "without a way on" } else { "before its end" };
            out.push(format!(
                "the site stopped {how} after {} of {total} items: it may give no more to anyone",
                self.given
            ));
        }
        if self.scattered && self.total.is_none_or(|it| self.given < it) {
            out.push(
                "items occur on two pages: the order of the list is unstable, and items may be missing"
                    .to_owned(),
            );
        }
        if let Some(end) = self.end.filter(|it| !self.may_end(*it))
            && self.total.is_none()
        {
            out.push(format!("the list ended in a way that was not seen before ({end:?})"));
        }
        out
    }

    /// Where a later call goes on; `None` at the end.
    pub fn resumption(&self) -> Option<Resumption> {
        let at = self.next.clone()?;
        Some(Resumption {
            at: Some(at),
            after: self.given,
            skip: 0,
            last: self.item_hashes(&self.last),
        })
    }

    /// The page that came last once more, without its first `skip` items; the same page where it failed.
    pub fn resumption_at(&self, skip: u64, failed: bool) -> Resumption {
        let (after, last) =
            if failed { (self.given, &self.last) } else { (self.before.0, &self.before.1) };
        Resumption { at: self.position.clone(), after, skip, last: self.item_hashes(last) }
    }

    /// What of a page is kept to know its items again: nothing where pages were not seen to overlap.
    fn item_hashes(&self, last: &[u64]) -> Vec<u64> {
        let overlaps = self.pages.seen.repeated > 0 || self.repeated > 0;
        if overlaps { last.iter().copied().take(MAX_MARKS).collect() } else { Vec::new() }
    }
}

/// Tells items from one another: by their key, else by all that they hold.
fn item_hash(item: &Value, key: Option<&str>) -> u64 {
    match key.and_then(|it| item.get(it)) {
        Some(it) => hash(&it.to_string()),
        None => hash(&item.to_string()),
    }
}

fn hash<T: Hash>(it: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    it.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use serde_json::json;

    use super::*;
    use commis_recipe::paging::PagesSeen;

    fn pages(by: PageBy, ends: &[PageEnd]) -> Pages {
        Pages {
            by,
            parameter: Some("p".to_owned()),
            place: commis_recipe::paging::PagePlace::default(),
            first: by.is_computable().then_some(1),
            next: None,
            ends: ends.to_vec(),
            key: Some("id".to_owned()),
            alike: false,
            all: false,
            seen: PagesSeen::default(),
        }
    }

    fn answer(ids: Range<u64>, next: Option<&str>, total: Option<u64>) -> PageAnswer {
        PageAnswer {
            items: ids.map(|id| json!({"id": id})).collect(),
            next: next.map(Value::from),
            total,
        }
    }

    /// Follows a list whose pages are given by position.
    fn follow(
        pages: &Pages,
        site: impl Fn(Option<&Position>) -> PageAnswer,
    ) -> (Vec<u64>, Result<PageWalk>) {
        let mut walk = PageWalk::new(pages, None, false);
        let mut ids = Vec::new();
        for _ in 0..20 {
            match walk.take(site(walk.position())) {
                Ok(new) => ids.extend(new.iter().filter_map(|it| it["id"].as_u64())),
                Err(err) => return (ids, Err(err)),
            }
            if !walk.advance() {
                return (ids, Ok(walk));
            }
        }
        panic!("never ends");
    }

    fn number(at: Option<&Position>) -> u64 {
        match at {
            Some(Position::Number(it)) => *it,
            None => 1,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn to_the_end_in_order() {
        let by_page = pages(PageBy::Page, &[PageEnd::Empty]);
        let site = |at: Option<&Position>| match number(at) {
            it @ 1..=3 => answer((it - 1) * 5..it * 5, None, None),
            4 => answer(15..17, None, None),
            _ => answer(0..0, None, None),
        };
        let (ids, walk) = follow(&by_page, site);
        let walk = walk.unwrap();
        assert_eq!(
            (ids, walk.is_complete(), walk.page_count()),
            ((0..17).collect(), Some(true), 4)
        );
        // A total saves the last call, and tells a cap from an end.
        for (total, complete) in [(15, Some(true)), (90, Some(false))] {
            let site = |at: Option<&Position>| match number(at) {
                it @ 1..=3 => answer((it - 1) * 5..it * 5, None, Some(total)),
                _ => answer(0..0, None, Some(total)),
            };
            let (ids, walk) = follow(&by_page, site);
            let walk = walk.unwrap();
            assert_eq!((ids.len(), walk.is_complete()), (15, complete));
            assert_eq!(walk.warnings().is_empty(), complete == Some(true));
        }
    }

    #[test]
    fn what_comes_twice_is_given_once() {
        let mut by_cursor = pages(PageBy::Cursor, &[PageEnd::Same]);
        by_cursor.seen.repeated = 1;
        let site = |at: Option<&Position>| match at {
            None => answer(0..5, Some("b"), None),
            Some(Position::Cursor(it)) if it == "b" => answer(3..8, Some("c"), None),
            _ => answer(8..10, Some("c"), None),
        };
        let (ids, walk) = follow(&by_cursor, site);
        let walk = walk.unwrap();
        assert_eq!(
            (ids, walk.repeated_count(), walk.is_complete()),
            ((0..10).collect(), 2, Some(true))
        );
        // Pages that did not overlap when it was proven.
        by_cursor.seen.repeated = 0;
        assert_eq!(follow(&by_cursor, site).1.unwrap().is_complete(), Some(false));
    }

    #[test]
    fn an_order_that_is_not_stable_is_no_whole_list() {
        let by_page = pages(PageBy::Page, &[PageEnd::Empty]);
        let site = |total: Option<u64>| {
            move |at: Option<&Position>| match number(at) {
                1 => answer(0..5, None, total),
                2 => PageAnswer {
                    items: [5, 2, 6].map(|id| json!({"id": id})).to_vec(),
                    next: None,
                    total,
                },
                _ => answer(0..0, None, total),
            }
        };
        let (ids, walk) = follow(&by_page, site(None));
        let walk = walk.unwrap();
        assert_eq!((ids, walk.is_complete()), (vec![0, 1, 2, 3, 4, 5, 6], Some(false)));
        assert!(walk.warnings()[0].contains("unstable"));
        assert_eq!(follow(&by_page, site(Some(7))).1.unwrap().is_complete(), Some(true));
    }

    #[test]
    fn circles_stop_at_once() {
        let by_page = pages(PageBy::Page, &[PageEnd::Empty]);
        let (ids, walk) = follow(&by_page, |_| answer(0..5, None, None));
        assert_eq!((ids.len(), walk.err().unwrap().code()), (5, Code::PageRepeated));
        let by_cursor = pages(PageBy::Cursor, &[PageEnd::Missing]);
        let site = |at: Option<&Position>| match at {
            None => answer(0..5, Some("a"), None),
            Some(Position::Cursor(it)) if it == "a" => answer(5..9, Some("b"), None),
            _ => answer(9..12, Some("a"), None),
        };
        assert_eq!(follow(&by_cursor, site).1.err().unwrap().code(), Code::PageRepeated);
        // A list of one page, whose cursor leads to itself.
        let by_cursor = pages(PageBy::Cursor, &[PageEnd::Same]);
        let (ids, walk) = follow(&by_cursor, |_| answer(0..4, Some("x"), None));
        assert_eq!((ids.len(), walk.unwrap().is_complete()), (4, Some(true)));
        // The last page again is an end where that was seen.
        let clamped = pages(PageBy::Page, &[PageEnd::Repeats]);
        let site = |at: Option<&Position>| match number(at) {
            1 => answer(0..5, None, None),
            _ => answer(5..8, None, None),
        };
        let (ids, walk) = follow(&clamped, site);
        assert_eq!((ids.len(), walk.unwrap().is_complete()), (8, Some(true)));
    }

    #[test]
    fn a_list_goes_on_where_it_was_left() {
        let mut by_cursor = pages(PageBy::Cursor, &[PageEnd::Missing]);
        by_cursor.seen.repeated = 2;
        let mut walk = PageWalk::new(&by_cursor, None, false);
        assert_eq!(walk.take(answer(0..5, Some("b"), None)).unwrap().len(), 5);
        let from = walk.resumption().unwrap();
        assert_eq!((&from.at, from.after), (&Some(Position::Cursor("b".to_owned())), 5));
        let mut later = PageWalk::new(&by_cursor, Some(from), false);
        let new = later.take(answer(3..8, None, None)).unwrap();
        assert_eq!((new.len(), later.item_count(), later.end()), (3, 8, Some(PageEnd::Missing)));
    }
}
