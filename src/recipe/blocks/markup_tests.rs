//! Texts that stand beside each other in one element, cells that stand in several rows, and what of them is a field of its own.

use scraper::{ElementRef, Html};
use serde_json::{Value, json};

use super::{
    element_text::text,
    find, parse_bounded,
    read::HtmlReader,
    table::Grid,
    tests::{check, each, page, read},
};

#[test]
fn a_mark_beside_another_element_is_a_text_of_its_own() {
    check(
        |q, n| {
            let items = each(n, |i| format!("<li><b>{q} {i}</b> <span>1.23{i},50 €</span></li>"));
            format!("<ul id='out'>{items}</ul>")
        },
        &json!([
            {"b": "Calypso 0", "text": "1.230,50 €"},
            {"b": "Calypso 1", "text": "1.231,50 €"},
            {"b": "Calypso 2", "text": "1.232,50 €"},
        ]),
    );
    check(
        |q, n| {
            let item = |i: usize| {
                format!("<li class='dish'><a href='/{i}'>{q} {i}</a><small>10{i} kcal</small></li>")
            };
            format!("<ul>{}</ul>", each(n, item))
        },
        &json!([
            {"link": "Calypso 0", "url": "/0", "small": "100 kcal"},
            {"link": "Calypso 1", "url": "/1", "small": "101 kcal"},
            {"link": "Calypso 2", "url": "/2", "small": "102 kcal"},
        ]),
    );
}

#[test]
fn a_mark_that_stands_alone_in_some_items_is_the_same_text() {
    let make = |q: &str, n: usize| {
        let price =
            |i: usize| if i == 1 { String::new() } else { format!("<span>{i}2 €</span>") };
        format!("<ul>{}</ul>", each(n, |i| format!("<li><b>{q} {i}</b>{}</li>", price(i))))
    };
    let got = read(&make("Aurora", 5), &make("Calypso", 3));
    let got: serde_json::Value = got.into_iter().map(serde_json::Value::Object).collect();
    let first = json!({"b": "Calypso 0", "text": "02 €"});
    assert_eq!(got[0], first, "{got:#}");
    assert_eq!(got[2], json!({"b": "Calypso 2", "text": "22 €"}), "{got:#}");
}

#[test]
fn numbers_of_elements_beside_each_other_are_not_one() {
    let line = |markup: &str| {
        let page = Html::parse_fragment(markup);
        let first = page.root_element().child_elements().next();
        first.map(|it: ElementRef<'_>| text(it))
    };
    let is = |markup: &str, expected: &str| assert_eq!(line(markup).as_deref(), Some(expected));
    is("<p><a href=/1>Soup 1</a><small>100 kcal</small></p>", "Soup 1 100 kcal");
    is("<p><b>20</b><span>40 pieces</span></p>", "20 40 pieces");
    // Nor are words parted that only look different in parts.
    is("<p><span>12</span><sup>50</sup></p>", "1250");
    is("<p><b>S</b><i>ofa</i></p>", "Sofa");
    is("<p>20<mark>1</mark><mark>1</mark></p>", "2011");
    is("<p><span>EUR</span><span>12</span></p>", "EUR 12");
}

#[test]
fn rows_under_a_cell_of_several_rows_and_a_row_that_names_them() {
    check(
        |q, n| {
            let rows = each(n, |i| {
                format!(
                    "<tr class='day'><td colspan=3>Day {i}</td></tr><tr><td rowspan=2>{q} {i}</td><td>0{i}:10</td><td>{i},50 €</td></tr>\
                     <tr><td>0{i}:40</td><td>{i},90 €</td></tr>"
                )
            });
            format!(
                "<table><thead><tr><th>Line</th><th>Time</th><th>Price</th></tr></thead><tbody>{rows}</tbody></table>"
            )
        },
        &json!([
            {"line": "Calypso 0", "time": "00:10", "price": "0,50 €", "group": "Day 0"},
            {"line": "Calypso 0", "time": "00:40", "price": "0,90 €", "group": "Day 0"},
            {"line": "Calypso 1", "time": "01:10", "price": "1,50 €", "group": "Day 1"},
            {"line": "Calypso 1", "time": "01:40", "price": "1,90 €", "group": "Day 1"},
            {"line": "Calypso 2", "time": "02:10", "price": "2,50 €", "group": "Day 2"},
            {"line": "Calypso 2", "time": "02:40", "price": "2,90 €", "group": "Day 2"},
        ]),
    );
}

#[test]
fn what_is_drawn_and_not_spoken() {
    check(
        |q, n| {
            let item = |i: usize| {
                format!(
                    "<div class='item'><h3>{q} {i}</h3><div class='price' aria-hidden='true'>{i}2,50 zł</div></div>"
                )
            };
            format!("<div class='list'>{}</div>", each(n, item))
        },
        &json!([
            {"title": "Calypso 0", "price": "02,50 zł"},
            {"title": "Calypso 1", "price": "12,50 zł"},
            {"title": "Calypso 2", "price": "22,50 zł"},
        ]),
    );
    let shown = |markup: &str, expected: &str| {
        let page = Html::parse_fragment(&format!("<p>Ship {markup}</p>"));
        let first = page.root_element().child_elements().next().unwrap();
        assert_eq!(text(first), expected);
    };
    shown("<b aria-hidden=true>Fast <i>one</i></b>", "Ship Fast one");
    // Something beside it says the same, in other words or in more.
    shown("<span aria-hidden=true><i>$</i>12<sup>99</sup></span> <em>$12.99</em>", "Ship $12.99");
    shown("<span aria-hidden=true>5h</span> <em>5 hours ago</em>", "Ship 5 hours ago");
    shown("<span aria-hidden=true>New</span> <em>New since today</em>", "Ship New since today");
    // Signs, icons, initials, and what may be closed or a copy.
    shown("<span aria-hidden=true>×</span>", "Ship");
    shown("<i aria-hidden=true>arrow_forward</i>", "Ship");
    shown("<span aria-hidden=true>JD</span>", "Ship");
    shown("<span role=tooltip aria-hidden=true>Not sold</span>", "Ship");
    shown("<span aria-hidden=true><a href=/>Menu 1</a></span>", "Ship");
}

#[test]
fn lists_of_the_same_labels_are_items() {
    let facts = |q: &str, i: usize| [format!("{q} {i}"), format!("{i}4"), format!("{i},90")];
    let labels = ["Name", "Stock", "Price"];
    let terms = |q: &str, i: usize| {
        let facts = facts(q, i);
        each(3, |at| format!("<dt>{}</dt><dd>{}</dd>", labels[at], facts[at]))
    };
    let plain = |q: &str| {
        format!("<h2>{q}</h2>{}", each(3, |i| format!("<dl class=hit>{}</dl>", terms(q, i))))
    };
    let cards = |q: &str| {
        each(3, |i| format!("<li class=card><h3>{q} {i}</h3><dl>{}</dl></li>", terms(q, i)))
    };
    let tables = |q: &str| {
        each(3, |i| {
            let facts = facts(q, i);
            let row = |at: usize| {
                format!("<tr><td>{}</td><td>{}</td></tr>", labels[at + 1], facts[at + 1])
            };
            format!("<table class=part><tr><th colspan=2>{q} {i}</th></tr>{}</table>", each(2, row))
        })
    };
    let pages: [&dyn Fn(&str) -> String; 3] =
        [&plain, &|q| format!("<ul>{}</ul>", cards(q)), &tables];
    for make in pages {
        let first = parse_bounded(&page(&make("oak"))).unwrap();
        let found = find(&first, true, false);
        let spec = found[0].spec.clone().expect("a list");
        let second = parse_bounded(&page(&make("fern"))).unwrap();
        let items = HtmlReader::new(&spec).unwrap().read(&second).unwrap();
        assert_eq!(items.len(), 3, "{spec:?}");
        let texts: Vec<&Value> = items[1].values().collect();
        for value in ["fern 1", "14", "1,90"] {
            assert!(texts.contains(&&json!(value)), "{value} is not in {:?}", items[1]);
        }
    }
}

#[test]
fn rows_that_add_up_others_are_no_items() {
    let row = |q: &str, i: usize| {
        format!("<tr><td>{q} {i}</td><td>{}</td><td>{}</td></tr>", i + 4, i + 4)
    };
    let totals: [fn(usize) -> String; 3] = [
        |sum| format!("<tr class='total'><td>Total</td><td>{sum}</td><td></td></tr>"),
        |sum| format!("<tr><td><b>Summe</b></td><td><b>{sum}</b></td><td></td></tr>"),
        |sum| format!("<tr class='subtotal'><td colspan='2'>Total Mon</td><td>{sum}</td></tr>"),
    ];
    for total in totals {
        for n in [1, 2, 5] {
            let sum = (0..n).map(|i| i + 4).sum::<usize>();
            let html = format!(
                "<table><tr><th>Name</th><th>Stock</th><th>Place</th></tr>{}{}</table>",
                each(n, |i| row("oak", i)),
                total(sum)
            );
            let page = Html::parse_document(&html);
            let table = page.root_element().descendants().filter_map(ElementRef::wrap);
            let table = table.into_iter().find(|it| it.value().name() == "table").unwrap();
            assert_eq!(Grid::new(table).unwrap().data_rows().len(), n, "{html}");
        }
    }
    // The row of a group beside its members has more than sums.
    let members = "<table><tr><th>Name</th><th>Sessions</th><th>Most</th><th>Check</th></tr><tr class=server><td>a</td><td>5</td><td>3</td><td>none</td></tr><tr class=server><td>b</td><td>7</td><td>4</td><td>none</td></tr><tr class=backend><td>Backend</td><td>12</td><td>5</td><td></td></tr></table>";
    let page = Html::parse_document(members);
    let table = page.root_element().descendants().filter_map(ElementRef::wrap);
    let table = table.into_iter().find(|it| it.value().name() == "table").unwrap();
    assert_eq!(Grid::new(table).unwrap().data_rows().len(), 3);
    // A row of data may be empty in part, and hold as much as those above it.
    let plain = "<table><tr><th>Name</th><th>Stock</th></tr><tr class=odd><td>a</td><td>5</td></tr><tr class=even><td>b</td><td>5</td></tr></table>";
    let page = Html::parse_document(plain);
    let table = page.root_element().descendants().filter_map(ElementRef::wrap);
    let table = table.into_iter().find(|it| it.value().name() == "table").unwrap();
    assert_eq!(Grid::new(table).unwrap().data_rows().len(), 2);
}
