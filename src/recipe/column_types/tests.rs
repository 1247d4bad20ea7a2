//! Which texts are numbers, money and dates, and what they are read as.

use serde_json::json;

use super::*;
use crate::yaml;

fn fields(names: &[&str]) -> BTreeMap<String, String> {
    names.iter().map(|it| ((*it).to_owned(), "td".to_owned())).collect()
}

/// The type of one column.
fn infer(texts: &[&str]) -> Option<ColumnType> {
    let items: Vec<Value> = texts.iter().map(|it| json!({"a": it})).collect();
    infer_types(&fields(&["a"]), &[&items.into()]).remove("a")
}

#[expect(clippy::unnecessary_wraps, reason = "rows of a table that has `None`, too")]
fn number(decimal: Option<DecimalSign>) -> Option<ColumnType> {
    Some(ColumnType::Number(NumberFormat { decimal, unit: false }))
}

#[expect(clippy::unnecessary_wraps, reason = "rows of a table that has `None`, too")]
fn money(decimal: Option<DecimalSign>) -> Option<ColumnType> {
    Some(ColumnType::Money(NumberFormat { decimal, unit: false }))
}

#[test]
fn numbers_that_can_be_read_in_one_way_alone() {
    use DecimalSign::{Comma, Point};
    let unit = |decimal| Some(ColumnType::Number(NumberFormat { decimal, unit: true }));
    for (texts, expected) in [
        (&["12", "7", "150"][..], number(None)),
        (&["12", "7", "1,150", "2.5"], number(Some(Point))),
        (&["1.234,50", "12,00"], number(Some(Comma))),
        (&["1.234.567", "12"], number(Some(Comma))),
        (&["12,34,567", "8,90,123"], number(Some(Point))),
        (&["12,34,567.00", "8,90,123.50"], number(Some(Point))),
        (&["1 234,5", "12,25"], number(Some(Comma))),
        (&["1\u{202f}234,5", "12,0"], number(Some(Comma))),
        (&["1'234.50", "9.00"], number(Some(Point))),
        (&["\u{2212}3.5", "4.25"], number(Some(Point))),
        (&["12 kg", "7.5 kg"], unit(Some(Point))),
        (&["12 %", "7 %"], unit(None)),
        (&["£5.00", "£1,200.00"], money(Some(Point))),
        (&["5,00 €", "1.200,00 €"], money(Some(Comma))),
        (&["US$5", "US$70"], money(None)),
        (&["EUR 5.10", "GBP 7.20"], money(Some(Point))),
        (&["-£5.10", "£-7.20"], money(Some(Point))),
        // A thousand or one; groups that are none; names, versions, times and addresses.
        (&["1,234", "5,678"], None),
        (&["1.250", "3.125"], None),
        (&["12,5", "12.5"], None),
        (&["007", "012"], None),
        (&["1.9", "1.10"], None),
        (&["Room 12", "Room 14"], None),
        (&["5 MB", "3 GB"], None),
        (&["1st", "2nd"], None),
        (&["10:30", "11:45"], None),
        (&["10.0.0.1", "10.0.0.2"], None),
        (&["555-1234", "555-4321"], None),
        (&["1234567890123456", "1234567890123457"], None),
        (&["12", "12"], None),
        (&["12", "sold out"], None),
        (&["£5 £6", "£7 £8"], None),
        (&["A4", "A5"], None),
        (&[".50", ".75"], None),
        (&["1,2,3", "4,5,6"], None),
    ] {
        assert_eq!(infer(texts), expected, "{texts:?}");
    }
}

#[test]
fn dates_that_can_be_read_in_one_way_alone() {
    for (texts, expected) in [
        (&["2026-11-28", "2025-01-02"][..], Some("%Y-%m-%d")),
        (&["2026-11-28 14:05", "2025-01-02 00:30"], Some("%Y-%m-%d %H:%M")),
        (&["28.11.2026", "2.1.2025"], Some("%d.%m.%Y")),
        (&["28/11/2026", "02/01/2025"], Some("%d/%m/%Y")),
        (&["11/28/2026", "02/01/2025"], Some("%m/%d/%Y")),
        (&["28 Nov 2026", "3 June 2025"], Some("%d %B %Y")),
        (&["Nov 28, 2026", "Jun 3, 2025"], Some("%B %d, %Y")),
        (&["03/04/2026", "05/06/2026"], None),
        (&["28/11/2026", "11/28/2026"], None),
        (&["31.02.2026", "01.02.2026"], None),
        (&["2026", "2025"], None),
        (&["soon", "2026-11-28"], None),
    ] {
        let found = match infer(texts) {
            Some(ColumnType::Date(it)) => Some(it),
            _ => None,
        };
        assert_eq!(found.as_deref(), expected, "{texts:?}");
    }
}

#[test]
fn another_column_of_the_page_says_how_numbers_and_dates_are_written() {
    let items = json!([
        {"area": "1.234", "price": "12,50", "from": "03/04/2026", "to": "28/04/2026"},
        {"area": "5.678", "price": "7,00", "from": "05/06/2026", "to": "07/06/2026"},
    ]);
    let types = infer_types(&fields(&["area", "price", "from", "to"]), &[&items]);
    assert_eq!(types.get("area"), number(Some(DecimalSign::Comma)).as_ref());
    assert_eq!(types.get("from"), Some(&ColumnType::Date("%d/%m/%Y".into())));
    assert_eq!(types["area"].read("1.234"), Some(vec![json!(1234)]));
}

#[test]
fn both_answers_and_most_items_must_say_it() {
    let one = |it: &str| json!({"a": it});
    let types = |answers: &[Value]| {
        infer_types(&fields(&["a"]), &answers.iter().collect::<Vec<_>>()).contains_key("a")
    };
    assert!(types(&[one("5"), one("7")]));
    assert!(!types(&[one("5"), one("many")]));
    assert!(!types(&[one("5")]));
    assert!(!types(&[json!([{"a": "5"}, {"a": null}, {"a": ""}, {"a": "7"}, {"a": ""}])]));
    let taken = json!([{"a": "5", "a_number": "x"}, {"a": "7", "a_number": "y"}]);
    assert!(infer_types(&fields(&["a", "a_number"]), &[&taken]).is_empty());
}

#[test]
fn texts_stay_and_what_cannot_be_read_is_null() {
    let recipe = yaml::parse(
        "{version: 1, name: x, task: t, status: draft, source_url: 'https://a.com/', request: {method: GET, url: 'https://a.com/', \
         allowed_domains: [a.com]}, response: {type: html, html: {items: li, fields: {price: b, on: i}, optional: [price], \
         types: {price: {money: {decimal: comma}}, on: {date: '%d.%m.%Y'}}}}}",
    )
    .unwrap();
    let mut data = json!([
        {"price": "1.299,00 €", "on": "28.11.2026"},
        {"price": "sold out", "on": "8.1.2026"},
        {"price": null, "on": "11/28/2026"},
    ]);
    let warnings = recipe.response.add_values(&mut data);
    assert_eq!(
        data,
        json!([
            {"price": "1.299,00 €", "price_amount": 1299.0, "price_currency": "€", "on": "28.11.2026", "on_date": "2026-11-28"},
            {"price": "sold out", "price_amount": null, "price_currency": null, "on": "8.1.2026", "on_date": "2026-01-08"},
            {"price": null, "price_amount": null, "price_currency": null, "on": "11/28/2026", "on_date": null},
        ])
    );
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[1].starts_with("`price` of 1 items"), "{warnings:?}");
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    for pattern in
        ["", "%Q", "%d", "%Y-%m", "text", "%Y-%m-%d, at last and not only the day before"]
    {
        assert!(ColumnType::Date(pattern.to_owned()).check("on").is_err(), "{pattern}");
    }
    let amount = |unit| ColumnType::Money(NumberFormat { decimal: None, unit });
    assert!(amount(false).check("price").is_ok() && amount(true).check("price").is_err());
    assert!(ColumnType::Date("%d.%m.%Y".into()).check("on").is_ok());
}
