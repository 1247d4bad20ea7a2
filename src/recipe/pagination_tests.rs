//! Totals, next pages and lines that state them, in the forms that sites use.

use serde_json::json;

use super::*;
use crate::blocks::tests::spec;

fn learn_expressions(answers: &[(Value, u64)]) -> Option<(Option<String>, Option<String>)> {
    let samples: Vec<JsonSample<'_>> =
        answers.iter().map(|(document, items)| JsonSample { document, items: *items }).collect();
    learn(&samples).map(|it| (it.total, it.next))
}

fn total(path: &str) -> (Option<String>, Option<String>) {
    (Some(path.to_owned()), None)
}

#[test]
fn totals_are_known_by_what_they_do() {
    let page = |n: u64, sum: u64| (json!({"took": 3, "rows": [], "anzahl": sum}), n);
    // Whatever it is called: it meets the count where the list is short, and moves.
    assert_eq!(learn_expressions(&[page(6, 15), page(4, 4)]), Some(total("anzahl")));
    assert_eq!(learn_expressions(&[page(6, 15), page(6, 22), page(0, 0)]), Some(total("anzahl")));
    // Always above the count, without a name for it.
    assert_eq!(learn_expressions(&[page(6, 15), page(6, 22)]), None);
    assert_eq!(learn_expressions(&[page(6, 15), page(6, 4)]), None);
    let named = |n: u64, sum: u64| (json!({"data": {"totalCount": sum, "limit": 6}}), n);
    assert_eq!(learn_expressions(&[named(6, 15), named(6, 22)]), Some(total("data.totalCount")));
    // The whole collection, whatever was asked for.
    let two = |n: u64, sum: u64| (json!({"recordsTotal": 900, "recordsFiltered": sum}), n);
    assert_eq!(learn_expressions(&[two(6, 15), two(3, 3)]), Some(total("recordsFiltered")));
    // The count of the page.
    let count = |n: u64| (json!({"count": n}), n);
    assert_eq!(learn_expressions(&[count(6), count(3)]), None);
}

#[test]
fn an_only_answer_among_answers() {
    let page =
        |n: u64, hits: u64| (json!({"results": [{"hits": [], "nbHits": hits, "page": 0}]}), n);
    assert_eq!(learn_expressions(&[page(6, 15), page(4, 4)]), Some(total("results[0].nbHits")));
}

#[test]
fn further_pages_are_announced() {
    let next = |it: Value, n: u64| (json!({"paging": {"next_cursor": it}}), n);
    let expected = Some((None, Some("paging.next_cursor".to_owned())));
    assert_eq!(learn_expressions(&[next("abc".into(), 6), next(Value::Null, 2)]), expected);
    let pages = |last: u64, n: u64| (json!({"page": 1, "total_pages": last}), n);
    let expected = Some((None, Some("total_pages > page".to_owned())));
    assert_eq!(learn_expressions(&[pages(3, 6), pages(1, 2)]), expected);
    let last = |it: bool, n: u64| (json!({"last": it}), n);
    assert_eq!(
        learn_expressions(&[last(false, 6), last(true, 2)]),
        Some((None, Some("last == `false`".to_owned())))
    );
}

#[test]
fn lengths_of_answers() {
    let info = PageInfo {
        total: Some("total".to_owned()),
        next: Some("next".to_owned()),
        ..PageInfo::default()
    };
    let reader = PageInfoReader::new(&info).unwrap();
    let length = |it: Value, n: u64| {
        let it = reader.read_json(&Document::from(&it), n);
        (it.total, it.complete)
    };
    assert_eq!(length(json!({"total": 15, "next": "x"}), 6), (Some(15), Some(false)));
    assert_eq!(length(json!({"total": 6, "next": null}), 6), (Some(6), Some(true)));
    assert_eq!(length(json!({"total": 6, "next": "x"}), 6), (Some(6), Some(false)));
    assert_eq!(length(json!({"other": 1}), 6), (None, Some(true)));
    let full =
        PageInfoReader::new(&PageInfo { page_size: Some(6), ..PageInfo::default() }).unwrap();
    let complete = |n: u64| full.read_json(Document::NULL, n).complete;
    assert_eq!((complete(6), complete(5)), (Some(false), Some(true)));
}

#[test]
fn headers_say_it_too() {
    let of = |name: &str, value: &str| {
        let it = length_from_headers(&[(name.to_owned(), value.to_owned())], 6);
        (it.total, it.complete)
    };
    assert_eq!(
        of("link", "<https://a.test/?page=2>; rel=\"next\", <x>; rel=last"),
        (None, Some(false))
    );
    assert_eq!(of("link", "<https://a.test/?page=1>; rel=prev"), (None, None));
    assert_eq!(of("content-range", "items 0-5/15"), (Some(15), Some(false)));
    assert_eq!(of("content-range", "bytes 0-5/15"), (None, None));
    assert_eq!(of("x-total-count", "6"), (Some(6), Some(true)));
}

#[test]
fn lines_state_totals() {
    for (line, items, expected) in [
        ("Showing 1 to 10 of 57 entries", 10, Some(57)),
        ("1–6 of 1,015 results", 6, Some(1015)),
        ("6 von 15 Treffern", 6, Some(15)),
        ("Найдено: 7-12 из 15", 6, Some(15)),
        ("6 guests, 2 rooms", 6, None),
        ("6.5 of 15", 6, None),
        ("$6 of 15", 6, None),
        ("106 rows", 100, None),
        ("18446744073709551615 to 18446744073709551615 of 3", 2, None),
    ] {
        assert_eq!(find_total(&tokens(line), items).map(|it| it.1), expected, "{line}");
    }
}

#[test]
fn a_page_says_how_long_its_list_is() {
    let page = |rows: u64, head: &str| {
        let items: Vec<String> = (0..rows).map(|it| format!("<li>item {it} of 99</li>")).collect();
        let items = items.concat();
        Html::parse_document(&format!("<h3>{head}</h3><p>took {} ms</p><ul>{items}</ul>", rows * 7))
    };
    let learned = |pages: &[(u64, String)]| {
        let sample = |it: &(u64, String)| {
            PageSample::from_page(&page(it.0, &it.1), &spec("li", false), it.0)
        };
        let samples: Vec<PageSample> = pages.iter().map(sample).collect();
        learn_line(&samples, &["fern", "oak"])
    };
    let rows = |n: u64, of: u64, word: &str| (n, format!("{of} rows where title has {word}"));
    let line = "{total} rows where title";
    assert_eq!(learned(&[rows(20, 106, "fern"), rows(7, 7, "oak")]).as_deref(), Some(line));
    assert_eq!(
        learned(&[rows(20, 106, "fern"), rows(20, 31, "oak"), rows(0, 0, "x")]).as_deref(),
        Some(line)
    );
    assert_eq!(learned(&[rows(20, 106, "fern"), rows(20, 31, "oak")]), None);
    // One that meets by chance: no page of 5 is cut where another has 6.
    assert_eq!(learned(&[rows(6, 6, "fern"), rows(5, 39, "oak")]), None);
    let reader =
        PageInfoReader::new(&PageInfo { line: Some(line.to_owned()), ..PageInfo::default() })
            .unwrap();
    let it = reader.read_page(&page(20, "1,106 rows where title has elm"), "https://a.test/", 20);
    assert_eq!(it, Length { total: Some(1106), complete: Some(false) });
}

#[test]
fn a_noun_that_changes_with_the_number_is_no_part_of_the_line() {
    let sample = |items: u64, line: &str| PageSample { lines: vec![line.to_owned()], items };
    let polish = |items: u64, n: u64, noun: &str, word: &str| {
        sample(items, &format!("Znaleziono {n} {noun} dla {word}"))
    };
    let samples = [
        polish(10, 43, "wyniki", "zupa"),
        polish(10, 27, "wyników", "ciasto"),
        polish(0, 0, "wyników", "brak"),
    ];
    let line = learn_line(&samples, &["zupa", "ciasto"]);
    assert_eq!(line.as_deref(), Some("znaleziono {total}"));
    assert_eq!(page_size(&samples, line.as_deref().unwrap()), Some(10));
    // The verb that changes with it.
    let french = [
        sample(10, "On a trouvé 43 fiches"),
        sample(1, "Il y a 1 fiches"),
        sample(0, "Rien : 0 fiches"),
    ];
    assert_eq!(learn_line(&french, &[]).as_deref(), Some("{total} fiches"));
    // Numbers that neither meet the count nor are none are no totals, whatever stands before them.
    assert_eq!(learn_line(&samples[..2], &["zupa", "ciasto"]), None);
    let prices = [sample(10, "Cena 43 zł"), sample(4, "Cena 27 euro")];
    assert_eq!(learn_line(&prices, &[]), None);
}

#[test]
fn a_total_in_other_words() {
    let learned = PageInfo {
        line: Some("# of exactly {total} matches".to_owned()),
        page_size: Some(10),
        ..PageInfo::default()
    };
    let reader = PageInfoReader::new(&learned).unwrap();
    let of = |line: &str, items: u64| {
        let page = Html::parse_document(&format!("<center>{line}</center>"));
        let it = reader.read_page(&page, "https://a.test/", items);
        (it.total, it.complete)
    };
    assert_eq!(of("1-10 of exactly 33 matches", 10), (Some(33), Some(false)));
    assert_eq!(of("1-10 of about 33 matches", 10), (Some(33), Some(false)));
    assert_eq!(of("1-4 of about 4 matches", 4), (Some(4), Some(true)));
    // Another line beside the count; and nothing at all. A full page goes on, and of another nobody knows.
    assert_eq!(of("10 boats, 33 berths free", 10), (None, Some(false)));
    assert_eq!(of("", 10), (None, Some(false)));
    assert_eq!(of("", 4), (None, None));
}

#[test]
fn a_full_page() {
    let page = |items: u64, line: &str| PageSample { lines: vec![line.to_owned()], items };
    let line = "of {total} matches";
    let (full, short) = (page(10, "1-10 of 33 matches"), page(4, "1-4 of 4 matches"));
    assert_eq!(page_size(&[full, short], line), Some(10));
    let (one, other) = (page(10, "1-10 of 33 matches"), page(8, "1-8 of 90 matches"));
    assert_eq!(page_size(&[one, other], line), None);
}
