//! Lists whose items are asked for one by one, and those that only look like it.

use super::*;
use crate::request::template;
use commis_artifacts::{payloads::Reason, recording::ShownBlock};
use commis_recipe::{
    model::{ResponseSpec, ResponseType},
    steps::Assembly,
};

const BOATS: [(u32, &str); 5] =
    [(811, "Tern"), (812, "Gannet"), (813, "Petrel"), (814, "Skua"), (815, "Fulmar")];

/// What a page about boats asked for, and what it showed.
struct Page {
    word: &'static str,
    list: Value,
    asked: Vec<u32>,
    shows_berths: bool,
}

fn boat(number: u32) -> Value {
    json!({"number": number, "berth": format!("Quay {}", number * 7), "length": number % 97})
}

fn recorded(page: &Page) -> SessionRecording {
    let list = get(format!("http://shop.test/api/boats?harbour={}", page.word), &page.list);
    let one = |it: &u32| get(format!("http://shop.test/api/boat/{it}.json"), &boat(*it));
    let entries = std::iter::once(list).chain(page.asked.iter().map(one)).collect();
    let mut out = session(&[("harbour", page.word)], "", entries);
    let rows = BOATS.iter().map(|(number, name)| {
        let berth = format!("Quay {}", number * 7);
        let shown = if page.shows_berths { berth } else { "moored".to_owned() };
        vec![Some((*name).to_owned()), Some(shown)]
    });
    out.page.shown = vec![ShownBlock {
        fields: vec!["boat".to_owned(), "berth".to_owned()],
        rows: rows.collect(),
        count: 5,
        is_record: false,
        heading: None,
        about: Vec::new(),
        weight: 100,
    }];
    out
}

fn named() -> Value {
    BOATS.iter().map(|(number, name)| json!({"number": number, "name": name})).collect()
}

fn bare() -> Value {
    BOATS.iter().map(|it| json!(it.0)).collect()
}

fn learned(page: impl Fn(&'static str) -> Page) -> Judged<RecipeDraftMinimized> {
    let (a, b) = (recorded(&page("Norby")), recorded(&page("Kalvik")));
    let (request, slots) = template(&a.exchanges[0]).unwrap();
    let draft = RecipeDraft {
        exchange: 0,
        second_exchange: Some(0),
        request,
        slots,
        response: ResponseSpec::new(ResponseType::Json),
        transport: TransportKind::PublicHttp,
        deterministic: true,
        captured_only: false,
        needs_login: false,
        carries: Vec::new(),
        compared: true,
        shape: Vec::new(),
        items: None,
        replays: Vec::new(),
    };
    parameterize(&a, &driven(&b), &draft, &unchanged(&draft)).unwrap()
}

fn all() -> Vec<u32> {
    BOATS.iter().map(|it| it.0).collect()
}

#[test]
fn bare_ids_and_named_items_are_asked_for_one_by_one() {
    // Of the bare ids their place is all that is known.
    for (list, name, position) in
        [(bare(), "{boats}", Some("position")), (named(), "{boats.number}", None)]
    {
        let page = |word| Page { word, list: list.clone(), asked: all(), shows_berths: true };
        let draft = done(learned(page));
        let item = draft.assembly.as_ref().and_then(Assembly::per_item).unwrap().clone();
        assert_eq!((&*item.step, item.position.as_deref()), ("boats", position));
        assert_eq!(item.into, None);
        assert_eq!(draft.request.url, format!("http://shop.test/api/boat/{name}.json"));
        assert_eq!(draft.steps.len(), 1);
        assert_eq!(draft.steps[0].request.query[0].value, "{harbour}");
        assert!(!draft.captured.unwrap().second.is_empty() && !draft.compared);
    }
}

#[test]
fn a_list_with_little_beside_it_and_only_its_first_items() {
    let list = json!({"time": 1, "boats": bare()});
    let page =
        |word| Page { word, list: list.clone(), asked: all()[..3].to_vec(), shows_berths: true };
    assert_eq!(done(learned(page)).steps[0].response.extract.as_deref(), Some("boats[:3]"));
}

#[test]
fn what_looks_like_calls_for_items_and_is_one_request() {
    let one = |page: Page| {
        let page = |word| Page { word, list: page.list.clone(), asked: page.asked.clone(), ..page };
        let draft = done(learned(page));
        assert!(draft.steps.is_empty() && draft.assembly.is_none());
        assert_eq!(draft.request.url, "http://shop.test/api/boats");
    };
    let page = Page { word: "", list: named(), asked: all(), shows_berths: true };
    // Fetched ahead, and nothing of it is on the page.
    one(Page { list: named(), asked: all(), shows_berths: false, ..page });
    // Opened here and there.
    one(Page { list: named(), asked: vec![812, 814, 815], ..page });
    // Of other things than the list's.
    one(Page { list: named(), asked: vec![11, 12, 13, 14], ..page });
    // Two may be an accident.
    one(Page { list: named(), asked: vec![811, 812], ..page });
    // The answers repeat what the list says.
    let repeated = BOATS.iter().map(|(number, name)| {
        let mut it = boat(*number);
        it["name"] = json!(name);
        it
    });
    one(Page { list: repeated.collect(), asked: all(), ..page });
}

#[test]
fn ids_that_the_second_example_does_not_ask_for() {
    let page = |word: &'static str| Page {
        word,
        list: bare(),
        asked: if word == "Norby" { all() } else { Vec::new() },
        shows_berths: true,
    };
    assert_eq!(rejected(learned(page)).reason, Reason::SeveralCalls);
}
