//! Which block of a page the task was about.
//!
//! A block counts by what it says that the page of the other example did not say. Where a page has two lists of that kind, the
//! task's words decide; where they speak for a far lighter one in passing, nobody can tell, and it is named as a rival.

use std::collections::{BTreeMap, BTreeSet};

use super::item_text::{MIN_TEXT, plain_words, stem, words};
use commis_artifacts::{
    payloads::SecondRecording,
    recording::{
        Action, ActionKind, Driver, Exchange, FinalPage, ResourceType, SessionRecording, ShownBlock,
    },
};
use commis_recipe::blocks::{TaskCardinality, asks_for_fact, task_cardinality};

/// Words of a task that say what to do, not with what.
const ASKING: &[&str] = &[
    "show", "list", "look", "find", "search", "page", "this", "that", "what", "with", "from",
    "open", "read", "every", "give", "each", "display", "view",
];
/// Per cent of a list's items that must be new for it to be a rival.
const NEW: u64 = 50;
/// Items of a list that is one.
const MIN_ROWS: usize = 3;
/// Labels of a record that the task names, for it to be what is asked for.
const MIN_SAID: usize = 2;
/// So many times lighter, a list needs to be the very thing that the task names.
const CLOSE: u64 = 3;
/// Per cent of one block's items that the other says too: the same, shown twice.
const SAME: usize = 50;
/// Per cent of a block's items that came with one answer.
const MOST: usize = 60;
/// Per cent of a column's texts that are names of files.
const FILES: usize = 60;

/// What the page was asked for, as positions in [`FinalPage::shown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    pub at: usize,
    /// Another list, or a record, that follows the input too, of which the task speaks and not of this one.
    pub rival: Option<usize>,
}

/// [`of`] the page that a session ended at.
pub fn of_session(it: &SessionRecording, other: Option<&SessionRecording>) -> Option<Subject> {
    // Another example's page says better what follows the input.
    let early = if other.is_none() { early(it) } else { BTreeSet::new() };
    find_subject(&it.page, other.map(|it| &it.page), &it.task, &it.typed, &early)
}

/// The same of the first example, beside what was recorded second: another example tells what follows the input, and without one
/// another account's page what follows the account.
pub fn of_first(it: &SessionRecording, second: &SecondRecording) -> Option<Subject> {
    let beside = |other: &SessionRecording| of_session(it, Some(other));
    match (&second.recording, &second.second_login) {
        (None, Some(theirs)) => beside(theirs).or_else(|| of_session(it, None)),
        (other, _) => of_session(it, other.as_ref()),
    }
}

/// What the page showed the second login where it showed the first one the data, if that is built alike.
pub fn second_login_shown(
    recording: &SessionRecording,
    second: &SecondRecording,
) -> Option<ShownBlock> {
    let theirs = second.second_login.as_ref()?;
    let at = of_first(recording, second)?.at;
    let own = recording.page.shown.get(at)?;
    let block = theirs.page.shown.get(of_session(theirs, Some(recording))?.at)?;
    let alike = block.is_record == own.is_record && block.fields == own.fields;
    (alike && block.heading == own.heading).then(|| block.clone())
}

/// Blocks whose items came before anything was typed, and not again after it: recommendations and the like.
fn early(recording: &SessionRecording) -> BTreeSet<usize> {
    let is_from_har = recording.driver == Driver::Har;
    let typed = if is_from_har {
        // A HAR does not tell what was done; the first script that sends what was typed does.
        let asks = |it: &Exchange| {
            matches!(it.resource_type, ResourceType::Xhr | ResourceType::Fetch)
                && !it.measures.typed_in_request.is_empty()
        };
        recording.exchanges.iter().position(asks)
    } else {
        let typing = |it: &Action| matches!(it.kind, ActionKind::Fill | ActionKind::Select);
        recording.actions.iter().position(typing)
    };
    let Some(typed) = typed else { return BTreeSet::new() };
    let is_early = |(at, it): (usize, &Exchange)| {
        if is_from_har {
            // A document that sends what was typed came after the typing.
            at < typed && it.measures.typed_in_request.is_empty()
        } else {
            it.after_action.is_none_or(|at| (at as usize) < typed)
        }
    };
    let most = |it: &Exchange, at: usize| {
        let held = it.measures.holds.get(at).copied().unwrap_or(0);
        let block = &recording.page.shown[at];
        !block.is_record && held as usize * 100 >= block.count as usize * MOST
    };
    let (before, after): (Vec<_>, Vec<_>) =
        recording.exchanges.iter().enumerate().partition(|it| is_early(*it));
    let any_holds = |all: &[(usize, &Exchange)], at| all.iter().any(|it| most(it.1, at));
    let blocks = || 0..recording.page.shown.len();
    // Of a HAR, only where the page shows an answer that came later.
    if is_from_har && !blocks().any(|at| any_holds(&after, at)) {
        return BTreeSet::new();
    }
    blocks().filter(|at| any_holds(&before, *at) && !any_holds(&after, *at)).collect()
}

/// The weightiest block by what only this page said, but for those that were there `early`. `None` when it shows none.
pub fn find_subject(
    page: &FinalPage,
    other: Option<&FinalPage>,
    task: &str,
    typed: &BTreeMap<String, String>,
    early: &BTreeSet<usize>,
) -> Option<Subject> {
    let known = other.map(texts_of).unwrap_or_default();
    let typed: Vec<String> = typed.values().map(|it| plain_words(it)).collect();
    let thing = plain_words(task).split(' ').find(|it| says_what(it)).map(|it| stem(it).to_owned());
    let order = plain_words(task).split(' ').map(str::to_owned).collect();
    let records = page.shown.iter().filter(|it| it.is_record).flat_map(|it| &it.fields);
    let labels = records.map(|it| plain_words(it)).collect();
    let alone = other.is_none();
    let asked = SubjectQuery {
        known,
        labels,
        alone,
        wanted: words(task),
        order,
        thing,
        asks: task_cardinality(task),
        typed,
    };
    // The answer to such a question is seldom a list.
    let fact = asks_for_fact(task) && !asked.many(task);
    // Where nothing was typed, only its words say that it is what was asked for.
    let untold = asked.typed.is_empty() && other.is_none();
    let weights: Vec<u64> = page
        .shown
        .iter()
        .enumerate()
        .map(|(at, it)| {
            if early.contains(&at) {
                return 0;
            }
            let aside = fact && !it.is_record && asked.speaks_of(it).is_empty();
            if aside || (untold && !asked.ties(it, &page.title)) { 0 } else { asked.weight(it) }
        })
        .collect();
    let best = (0..weights.len()).max_by_key(|at| (weights[*at], std::cmp::Reverse(*at)))?;
    if weights[best] == 0 {
        return None;
    }
    let best = asked.of_other_kind(page, &weights, best).unwrap_or(best);
    let speaks_for = |at: usize| asked.speaks_of(&page.shown[at]);
    let block = &page.shown[best];
    let is_list = |it: &ShownBlock| !it.is_record && it.rows.len() >= MIN_ROWS;
    let own = speaks_for(best);
    // A record most of whose labels the task names, beside a list of which it says a word.
    let record = (0..weights.len()).find(|at| {
        let it = &page.shown[*at];
        let labels = asked.named_labels(it).len();
        *at != best
            && weights[*at] > 0
            && is_list(block)
            && it.is_record
            && asked.share(it) >= NEW
            && labels > MIN_SAID
            && labels > own.len()
            && labels * 2 > it.fields.len()
            && asked.named_labels(block).is_empty()
    });
    let rival = (0..weights.len()).find(|at| {
        let it = &page.shown[*at];
        *at != best
            && weights[*at] > 0
            && (is_list(block) && is_list(it))
            && asked.share(it) >= NEW
            && own.is_subset(&speaks_for(*at))
            && own != speaks_for(*at)
            && !says_the_same(block, it)
            && !(asked.offers(it) && weights[*at] * CLOSE < weights[best])
    });
    let meant = |at: usize| {
        let thing = asked.thing.as_deref();
        weights[at] * CLOSE >= weights[best]
            || (thing.is_some_and(|it| speaks_for(at).contains(it) && !own.contains(it)))
    };
    Some(match rival {
        Some(at) if meant(at) => Subject { at, rival: None },
        rival => Subject { at: best, rival: rival.or(record) },
    })
}

struct SubjectQuery {
    /// Texts of the other example's page.
    known: BTreeSet<String>,
    /// Names of the properties of the page's records.
    labels: BTreeSet<String>,
    /// There is no page of another example.
    alone: bool,
    /// Words of the task.
    wanted: BTreeSet<String>,
    /// Its words in order.
    order: Vec<String>,
    /// What it is to list or to show: its first word that says something.
    thing: Option<String>,
    asks: TaskCardinality,
    /// Plain texts that were typed.
    typed: Vec<String>,
}

impl SubjectQuery {
    /// A plural that was not typed, or "are".
    fn many(&self, task: &str) -> bool {
        let task = plain_words(task);
        let task = self.typed.iter().fold(task, |it, typed| it.replace(typed.as_str(), " "));
        task.split(' ').skip(1).any(|it| {
            it == "are"
                || (it.len() > 3
                    && it.ends_with('s')
                    && !["does", "this"].contains(&it)
                    && !["ss", "us", "is"].iter().any(|end| it.ends_with(end)))
        })
    }

    fn weight(&self, block: &ShownBlock) -> u64 {
        let named = block
            .fields
            .iter()
            .chain(&block.heading)
            .any(|it| words(it).iter().any(|it| it.len() > 3 && self.wanted.contains(it)));
        // Most of its items repeat what was typed.
        let echoing = block.rows.iter().filter(|row| {
            let text = plain_words(&row.iter().flatten().cloned().collect::<Vec<_>>().join(" "));
            self.typed
                .iter()
                .filter(|it| it.chars().count() >= 3)
                .any(|it| text.contains(it.as_str()))
        });
        let echoes = block.rows.len() > 2 && echoing.count() * 2 > block.rows.len();
        let fits = match (block.is_record, self.asks) {
            (true, TaskCardinality::One) => 300,
            (true, TaskCardinality::Either)
            | (false, TaskCardinality::Many | TaskCardinality::Either) => 100,
            (true, TaskCardinality::Many) => 60,
            (false, TaskCardinality::One) => 80,
        };
        let fits = if self.is_labelled(block) { fits / 2 } else { fits };
        u64::from(block.weight)
            * self.share(block)
            * fits
            * if named { 13 } else { 10 }
            * if echoes { 3 } else { 1 }
            / 100_000
    }

    /// Where one thing and a list stand side by side, and the task's words are those of the one that is lighter: the list whose
    /// heading says what is to be listed, the record whose labels are what is to be shown.
    fn of_other_kind(&self, page: &FinalPage, weights: &[u64], best: usize) -> Option<usize> {
        let own = &page.shown[best];
        let said = self.speaks_of(own);
        let thing = self.thing.as_deref()?;
        let fits = |it: &ShownBlock| {
            let speaks = self.speaks_of(it);
            match (own.is_record, self.asks) {
                (true, TaskCardinality::Many) => speaks.contains(thing) && !said.contains(thing),
                (true, _) => false,
                (false, TaskCardinality::One) if said.is_empty() => speaks.len() >= MIN_SAID,
                (false, _) => self.names_labels_first(it, own, &said),
            }
        };
        (0..weights.len())
            .filter(|at| weights[*at] > 0)
            .filter(|at| {
                let it = &page.shown[*at];
                it.is_record != own.is_record && self.share(it) >= NEW && fits(it)
            })
            .max_by_key(|at| (weights[*at], std::cmp::Reverse(*at)))
    }

    /// Whether the task names labels of the record, more than words of the list, and the first of them before any of those.
    fn names_labels_first(
        &self,
        record: &ShownBlock,
        list: &ShownBlock,
        said: &BTreeSet<&str>,
    ) -> bool {
        let labels = self.named_labels(record);
        let place = |word: &str| self.order.iter().position(|it| stem(it) == stem(word));
        let first = labels.iter().flat_map(|it| words(it)).filter_map(|it| place(&it)).min();
        let of_list = said.iter().filter_map(|it| place(it)).min();
        labels.len() >= MIN_SAID
            && labels.len() > said.len()
            && self.named_labels(list).is_empty()
            && of_list.is_none_or(|it| first.is_some_and(|first| first < it))
    }

    /// Names of fields of which the task says every word.
    fn named_labels<'b>(&self, block: &'b ShownBlock) -> Vec<&'b String> {
        let is_said = |it: &String| {
            let typed = |word: &str| self.typed.iter().any(|it| it.split(' ').any(|it| it == word));
            let is_wanted = |word: &String| self.wanted.iter().any(|it| stem(it) == stem(word));
            let all = words(it);
            !all.is_empty() && all.iter().all(|it| is_wanted(it) && !typed(it))
        };
        block.fields.iter().filter(|it| is_said(it)).collect()
    }

    /// A list whose items begin as those of the other page do, each in its own way: labels, and the whole is one thing. Without
    /// another page, the names of a record's properties are labels where no list is asked for.
    fn is_labelled(&self, block: &ShownBlock) -> bool {
        let labels: Vec<String> =
            block.rows.iter().filter_map(|it| it.first()?.as_deref()).map(plain_words).collect();
        let distinct: BTreeSet<&String> = labels.iter().collect();
        !block.is_record
            && block.fields.len() > 1
            && labels.len() >= MIN_ROWS
            && labels.len() == block.rows.len()
            && distinct.len() == labels.len()
            && (labels.iter().all(|it| self.known.contains(it))
                || (self.alone
                    && self.asks != TaskCardinality::Many
                    && labels.iter().all(|it| {
                        self.labels.contains(&it.replace(' ', "_")) || self.labels.contains(it)
                    })))
    }

    /// Per cent of the items, or of a record's texts, that the other page did not say.
    fn share(&self, block: &ShownBlock) -> u64 {
        let (mut all, mut new) = (0, 0);
        for row in &block.rows {
            let cells = || {
                row.iter()
                    .flatten()
                    .map(|it| plain_words(it))
                    .filter(|it| it.chars().count() >= MIN_TEXT)
            };
            if block.is_record {
                all += cells().count();
                new += cells().filter(|it| !self.known.contains(it)).count();
            } else {
                all += 1;
                new += usize::from(cells().any(|it| !self.known.contains(&it)));
            }
        }
        let share = (new * 100).checked_div(all).unwrap_or(0);
        // Things of one kind have many properties in common.
        if block.is_record { share.max(100.min(25 * new)) as u64 } else { share as u64 }
    }

    /// What was typed is one of its items: a list that it was chosen from.
    fn offers(&self, block: &ShownBlock) -> bool {
        let cells = block.rows.iter().flatten().flatten();
        cells.map(|it| plain_words(it)).any(|it| self.typed.contains(&it))
    }

    /// A word of the page's title or of the block is one of the task.
    fn ties(&self, block: &ShownBlock, title: &String) -> bool {
        let texts =
            block.rows.iter().flatten().flatten().chain(&block.fields).chain(&block.heading);
        texts.chain([title]).flat_map(|it| words(it)).any(|it| self.word(&it).is_some())
    }

    /// The task's word for this one; none for words that say what to do.
    fn word(&self, it: &str) -> Option<&str> {
        says_what(it)
            .then(|| self.wanted.iter().find(|task| stem(task) == stem(it)))
            .flatten()
            .map(|it| stem(it))
    }

    /// Words of the task that say what kind of thing its items are: in names, heading and markup, and names of files. What was
    /// typed is none of them.
    fn speaks_of(&self, block: &ShownBlock) -> BTreeSet<&str> {
        let texts = block.fields.iter().chain(&block.heading).chain(&block.about);
        let mut out: BTreeSet<&str> = texts
            .flat_map(|it| words(it))
            .filter(|it| !self.typed.iter().any(|typed| typed.split(' ').any(|word| word == it)))
            .filter_map(|it| self.word(&it))
            .collect();
        if let Some(file) = self.wanted.iter().map(|it| stem(it)).find(|it| *it == "file")
            && names_files(block)
        {
            out.insert(file);
        }
        out
    }
}

fn says_what(word: &str) -> bool {
    word.len() > 3 && !ASKING.contains(&word)
}

/// A column of `capstan.c` and `notes.txt`.
fn names_files(block: &ShownBlock) -> bool {
    let is_file = |it: &String| {
        it.rsplit_once('.').is_some_and(|(name, kind)| {
            let kind_is = (1..=5).contains(&kind.len())
                && kind.bytes().all(|b| b.is_ascii_alphanumeric())
                && kind.bytes().any(|b| b.is_ascii_alphabetic());
            kind_is && !name.is_empty() && !name.contains(char::is_whitespace)
        })
    };
    (0..block.fields.len()).any(|at| {
        let files = block
            .rows
            .iter()
            .filter(|it| it.get(at).is_some_and(|it| it.as_ref().is_some_and(is_file)));
        files.count() * 100 >= block.rows.len() * FILES
    })
}

/// Most items of the smaller one stand in the other: one list for narrow and one for wide screens, or a part of it.
fn says_the_same(a: &ShownBlock, b: &ShownBlock) -> bool {
    let texts = |it: &ShownBlock| -> Vec<String> {
        it.rows
            .iter()
            .filter_map(|it| it.iter().flatten().max_by_key(|it| it.len()))
            .map(|it| plain_words(it))
            .collect()
    };
    let (a, b) = (texts(a), texts(b));
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let said = few.iter().filter(|it| {
        many.iter().any(|other| other.contains(it.as_str()) || it.contains(other.as_str()))
    });
    said.count() * 100 >= few.len() * SAME
}

fn texts_of(page: &FinalPage) -> BTreeSet<String> {
    page.shown
        .iter()
        .flat_map(|it| &it.rows)
        .flatten()
        .flatten()
        .map(|it| plain_words(it))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::tests::block;

    fn page(shown: Vec<ShownBlock>) -> FinalPage {
        FinalPage { shown, ..FinalPage::default() }
    }

    #[test]
    fn what_only_this_page_says() {
        let menu = block(&["text"], &[&["Home page of this site"], &["Ships and their harbours"]]);
        let results = |q: &str| {
            let (one, two) = (format!("{q} one"), format!("{q} two"));
            block(&["t"], &[&[one.as_str()][..], &[two.as_str()]])
        };
        let shows = |q: &str| page(vec![ShownBlock { weight: 9000, ..menu.clone() }, results(q)]);
        let at = |page: FinalPage, other: Option<FinalPage>, task: &str| {
            find_subject(&page, other.as_ref(), task, &BTreeMap::new(), &BTreeSet::new())
                .unwrap()
                .at
        };
        assert_eq!(at(shows("Tern"), Some(shows("Gull")), "Search birds"), 1);
        assert_eq!(at(shows("Tern"), None, "List ships"), 0);
        // It was there before anything was typed.
        let early = BTreeSet::from([0]);
        let typed = BTreeMap::from([("q".to_owned(), "Tern".to_owned())]);
        let main =
            |early| find_subject(&shows("Tern"), None, "Search birds", &typed, early).unwrap().at;
        assert_eq!((main(&BTreeSet::new()), main(&early)), (0, 1));
    }

    #[test]
    fn of_a_thing_and_a_list_the_task_decides() {
        let page = |n: &str, lines: usize| {
            let value = |it: &str| format!("{it} of {n}");
            let values = [value("Lamp"), value("4,672.50"), value("Kiel"), value("as new")];
            let thing = block(
                &["title", "estimate", "origin", "condition"],
                &[&values.each_ref().map(String::as_str)],
            );
            let all: Vec<[String; 2]> =
                (0..lines).map(|i| [format!("P{n}{i}"), format!("{i}0 {n}")]).collect();
            let rows: Vec<[&str; 2]> =
                all.iter().map(|it| it.each_ref().map(String::as_str)).collect();
            let bids =
                block(&["paddle", "amount"], &rows.iter().map(|it| &it[..]).collect::<Vec<_>>());
            page(vec![
                ShownBlock { is_record: true, weight: 150, ..thing },
                ShownBlock { heading: Some("Bids".to_owned()), weight: 24 * lines as u32, ..bids },
            ])
        };
        let ask = |task: &str, lines| {
            let (own, other) = (page("A", lines), page("B", 2));
            find_subject(&own, Some(&other), task, &BTreeMap::new(), &BTreeSet::new()).unwrap().at
        };
        for lines in [2, 30] {
            assert_eq!(ask("Show the lot {id} with estimate, origin and condition", lines), 0);
            assert_eq!(ask("List the bids on the lot {id}", lines), 1);
        }
        // Nothing of the task is what it is called.
        assert_eq!(ask("Show the lot {id}", 30), 1);
        // Labels in a task of any wording, also where the list's heading says a later word.
        assert_eq!(ask("Look up estimate, origin and condition of the lot {id} with bids", 30), 0);
        assert_eq!(ask("Affiche estimate et origin du lot {id}", 30), 0);
        assert_eq!(ask("Search the bids by estimate and origin of the lot {id}", 30), 1);
    }

    #[test]
    fn of_two_lists_the_task_decides() {
        let files = |n: &str| {
            let all: Vec<String> = (0..4).map(|i| format!("{n}-{i}.txt")).collect();
            let rows: Vec<[&str; 1]> = all.iter().map(|it| [it.as_str()]).collect();
            block(&["text"], &rows.iter().map(|it| &it[..]).collect::<Vec<_>>())
        };
        let commits = |n: &str, weight: u32| {
            let all: Vec<String> = (0..4).map(|i| format!("Mend the {n} part {i}")).collect();
            let rows: Vec<[&str; 1]> = all.iter().map(|it| [it.as_str()]).collect();
            let it = block(&["text"], &rows.iter().map(|it| &it[..]).collect::<Vec<_>>());
            ShownBlock { about: vec!["commit".to_owned()], weight, ..it }
        };
        let both = |n: &str, weight| page(vec![commits(n, weight), files(n)]);
        let ask = |task: &str, weight| {
            find_subject(
                &both("lib", weight),
                Some(&both("doc", weight)),
                task,
                &BTreeMap::new(),
                &BTreeSet::new(),
            )
            .unwrap()
        };
        let alone = |at| Subject { at, rival: None };
        assert_eq!(ask("List the commits of the folder", 2000), alone(0));
        assert_eq!(ask("List the files of the folder", 9000), alone(1));
        assert_eq!(ask("Open the folder with its files", 2000), alone(1));
        // Far lighter, and not the first word: it stays open.
        assert_eq!(ask("Open the folder with its files", 9000), Subject { at: 0, rival: Some(1) });
        // Nothing speaks for either.
        assert_eq!(ask("What is in the folder", 9000), alone(0));
    }
}
