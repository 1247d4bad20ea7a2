//! What answers say of the length of their list, learned from the answers of a proof: how they state it, how an empty one looks, and
//! whether the first one is only a first page.

use serde_json::Value;

use super::replay::Observation;
use commis_artifacts::{payloads::ListLength, recording::ShownBlock};
use commis_recipe::{
    blocks,
    model::{EmptyAnswer, FirstPage, PageInfo, ResponseSpec},
    pagination::{self, JsonSample, Length, PageSample},
};

/// Sites put fewer items on a page only where these are large, and so few are often all.
const MIN_PAGE: u64 = 10;
/// Fields of an answer that must be as they were where it holds no items.
const MAX_FIELDS: usize = 8;
/// Characters of a text that says how an answer is meant, such as `ok`.
const MAX_TEXT: usize = 40;

/// An answer of a proof.
pub struct ProofAnswer {
    /// As it came.
    pub body: Vec<u8>,
    /// The JSON that it holds.
    pub whole: Option<Value>,
    pub items: u64,
    /// From where, with what headers.
    pub url: String,
    pub headers: Vec<(String, String)>,
}

impl ProofAnswer {
    /// The answer that was observed.
    pub fn from_observation(seen: Observation) -> Self {
        let Observation { body, whole, url, headers, replay, .. } = seen;
        Self { body, whole, items: replay.items.unwrap_or(0), url, headers }
    }
}

/// How these answers say how long their list is. `typed` is what they were asked for.
pub fn page_info(
    answers: &[&ProofAnswer],
    response: &ResponseSpec,
    typed: &[&str],
) -> Option<PageInfo> {
    let Some(html) = &response.html else {
        let samples: Vec<JsonSample<'_>> = answers
            .iter()
            .filter_map(|it| Some(JsonSample { document: it.whole.as_ref()?, items: it.items }))
            .collect();
        return pagination::learn(&samples);
    };
    let sample = |it: &&ProofAnswer| {
        let page = blocks::parse_bounded(&String::from_utf8_lossy(&it.body))?;
        Some(PageSample::from_page(&page, html, it.items))
    };
    let samples: Vec<PageSample> = answers.iter().filter_map(sample).collect();
    let line = pagination::learn_line(&samples, typed)?;
    let page_size = pagination::page_size(&samples, &line);
    Some(PageInfo { line: Some(line), page_size, ..PageInfo::default() })
}

/// The number of items, where a page showed fewer than nine in ten of them.
pub fn more_than_shown(data: &Value, shown: &ShownBlock) -> Option<u64> {
    let (given, count) = (data.as_array()?.len() as u64, u64::from(shown.count));
    (!shown.is_record && given > count + count / 10 + 1).then_some(given)
}

/// Whether the page or the answer counts that many items, or the page offers more than it shows: then the answer may have them.
pub fn is_counted(
    given: u64,
    length: &Length,
    page: &ListLength,
    answer: Option<&ProofAnswer>,
) -> bool {
    let counts = |it: &Value| pagination::states_total(it, given);
    page.next.is_some()
        || page.numbers.contains(&given)
        || length.total.or(page.total).is_some_and(|it| it >= given)
        || answer.and_then(|it| it.whole.as_ref()).is_some_and(counts)
}

/// What a proof found out about the list of its first answer.
pub struct ListFindings<'a> {
    pub items: u64,
    /// What the answer itself says.
    pub length: Length,
    /// Items that the page showed, where one was seen.
    pub shown: Option<u64>,
    /// Items, of the page or of the recording, that came by calls which went on with the list.
    pub further: u32,
    /// What the page says.
    pub page: &'a ListLength,
    /// The parameter whose next value gave further items.
    pub paged_by: Option<String>,
    /// The parameter that asks for so many items, where it was obeyed.
    pub sized_by: Option<String>,
    /// The answers to both inputs look like full pages: see [`are_full_pages`].
    pub full_pages: bool,
}

/// Whether the answers to two inputs hold equally many items, and so many as sites put on a page, or any number where the site has
/// pages (`turns_page`). A task that names the number asks for that many.
pub fn are_full_pages(answers: &[ProofAnswer], task: &str, turns_page: bool) -> bool {
    let [a, b] = answers else { return false };
    let is_usual =
        a.items >= MIN_PAGE && (a.items % 5 == 0 || a.items % 12 == 0) || turns_page && a.items > 1;
    let number = a.items.to_string();
    let is_named = task.split(|it: char| !it.is_ascii_digit()).any(|it| it == number);
    is_usual && a.items == b.items && a.body != b.body && !is_named
}

/// The first answer, where it is only the first page of its list.
pub fn first_page(found: &ListFindings<'_>) -> Option<FirstPage> {
    let ListFindings { items, length, page, .. } = *found;
    let of = |total: Option<u64>, evidence: String| Some(FirstPage { items, total, evidence });
    if length.complete == Some(false) {
        return of(length.total, "the answer says so".to_owned());
    }
    match page.total {
        Some(total) if total > items => return of(Some(total), "the page says so".to_owned()),
        Some(_) => return None,
        None => {}
    }
    if length.complete == Some(true) {
        return None;
    }
    if let Some(name) = &found.paged_by {
        return of(None, format!("the next value of `{name}` gives further items"));
    }
    if found.further > 0 {
        return of(None, "the page went on with the list by further calls".to_owned());
    }
    if let Some(name) = &found.sized_by {
        return of(None, format!("the answer holds as many items as `{name}` asks for"));
    }
    // What the page offers goes beyond what it shows, which the answer may hold as well.
    let shows_as_much = found.shown.is_some_and(|it| items <= it + it / 10 + 1);
    if let Some(it) = page.next.as_ref().filter(|_| shows_as_much) {
        return of(None, format!("the page has {it}"));
    }
    found.full_pages.then(|| FirstPage {
        items,
        total: None,
        evidence: format!("two inputs are answered with {items} items each"),
    })
}

/// How an answer without items looks that is one: what all answers say in the same way, with items or without. A site that refuses
/// may send an empty list as well, and says something else beside it.
pub fn empty_answer(full: &[&Value], empty: &[&Value]) -> EmptyAnswer {
    let mut holds = Vec::new();
    let Some(first) = full.first() else { return EmptyAnswer::default() };
    let says = |it: &Value| match it {
        Value::Null | Value::Bool(_) => true,
        Value::String(it) => {
            it.chars().count() <= MAX_TEXT && !it.chars().any(|c| c.is_ascii_digit())
        }
        _ => false,
    };
    for (path, value) in pagination::scalars(first) {
        let is_secret = path.iter().any(|it| commis_redact::names_secret(it))
            || value.as_str().is_some_and(|it| commis_redact::redact_written(it) != it);
        let equals = pagination::equals(&path, value);
        if is_secret || !pagination::is_expression(&equals) {
            continue;
        }
        let is_same = |it: &&Value| pagination::scalars(it).get(&path) == Some(&value);
        if says(value) && full.iter().chain(empty).all(is_same) && holds.len() < MAX_FIELDS {
            holds.push(equals);
        }
    }
    EmptyAnswer { holds, ..EmptyAnswer::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_all_answers_say_is_held_by_empty_ones() {
        let answer = |hits: &[&str], note: Option<&str>| json!({"status": "ok", "error": null, "version": "1.2", "note": note, "hits": hits, "took": 3});
        let (a, b) = (answer(&["x"], None), answer(&["y"], Some("two left")));
        let empty = answer(&[], None);
        let learned = empty_answer(&[&a, &b], &[&empty]);
        assert_eq!(learned.holds, ["error == `null`", "status == `\"ok\"`"]);
    }

    #[test]
    fn full_pages() {
        let answer = |items: u64, body: &str| ProofAnswer {
            body: body.as_bytes().to_vec(),
            whole: None,
            items,
            url: String::new(),
            headers: Vec::new(),
        };
        let full = |a: u64, b: u64, task: &str, turns_page: bool| {
            are_full_pages(&[answer(a, "a"), answer(b, "b")], task, turns_page)
        };
        let are = |a: u64, b: u64, task: &str| full(a, b, task, false);
        assert!(full(4, 4, "find oak", true) && !full(4, 3, "find oak", true));
        assert!(!full(1, 1, "find oak", true) && !full(4, 4, "the first 4 of oak", true));
        assert!(are(10, 10, "find oak") && are(24, 24, "find oak"));
        assert!(!are(10, 10, "the top 10 of oak"), "the task names the number");
        assert!(!are(10, 9, "find oak") && !are(7, 7, "the week of oak"));
        let same = [answer(10, "a"), answer(10, "a")];
        assert!(!are_full_pages(&same, "find oak", false), "one answer");
        assert!(!are_full_pages(&same[..1], "find oak", false));
    }

    #[test]
    fn first_pages() {
        let page = |total: Option<u64>, next: bool| ListLength {
            total,
            next: next.then(|| "a link to the next page".to_owned()),
            ..ListLength::default()
        };
        let found = |length: Length, page: &ListLength, shown: u64| {
            let found = ListFindings {
                items: 6,
                length,
                shown: Some(shown),
                further: 0,
                page,
                paged_by: None,
                sized_by: None,
                full_pages: false,
            };
            first_page(&found).map(|it| it.describe())
        };
        let says = |total: u64| Length { total: Some(total), complete: Some(total <= 6) };
        let none = Length::default();
        assert_eq!(
            found(says(15), &page(None, false), 6).as_deref(),
            Some("6 of 15 items, first page")
        );
        assert_eq!(found(says(6), &page(None, true), 6), None);
        assert_eq!(
            found(none, &page(None, true), 6).as_deref(),
            Some("6 items, and more may follow")
        );
        // The page shows three at a time of what it has.
        assert_eq!(found(none, &page(None, true), 3), None);
        assert_eq!(
            found(none, &page(Some(15), true), 6).as_deref(),
            Some("6 of 15 items, first page")
        );
        assert_eq!(found(none, &page(Some(6), true), 3), None);
    }
}
