//! Pages that show one thing: what is read of it is read from another of its kind.

use serde_json::{Value, json};

use super::{
    find, parse_bounded,
    read::HtmlReader,
    tests::{each, page},
};

/// The weightiest record of a page that is asked for one thing, and what is read by it from another.
#[track_caller]
fn thing(first: &str, second: &str) -> Value {
    let (first, second) =
        (parse_bounded(&page(first)).unwrap(), parse_bounded(&page(second)).unwrap());
    let all = find(&first, true, true);
    let spec = all.into_iter().find_map(|it| it.spec.filter(|it| it.single)).expect("a thing");
    let out = HtmlReader::new(&spec).unwrap().read(&second).unwrap();
    Value::Object(out.into_iter().next().unwrap_or_default())
}

#[test]
fn an_article_is_more_than_its_list() {
    let make = |q: &str, n: usize| {
        format!(
            "<div role='article'><div class='bar'><h2>{q} care</h2></div><div class='note'><p>Notes on the {q}.</p><ul>{}</ul></div></div>",
            each(n, |i| format!("<li>Grease the {q} {i} with wax</li>"))
        )
    };
    assert_eq!(
        thing(&make("Aurora", 6), &make("Calypso", 2)),
        json!({"title": "Calypso care", "text_2": "Notes on the Calypso.",
            "text": ["Grease the Calypso 0 with wax", "Grease the Calypso 1 with wax"]})
    );
    // Items of several texts are what is asked for.
    let cards = |q: &str| {
        let card = |i: usize| format!("<li><h3>{q} {i}</h3><p>Kiel {i}</p></li>");
        format!(
            "<article><h2>{q}</h2><p>Ships of {q} that are for sale.</p><ul>{}</ul></article>",
            each(5, card)
        )
    };
    assert!(
        find(&parse_bounded(&page(&cards("Aurora"))).unwrap(), true, true)[0]
            .spec
            .as_ref()
            .is_some_and(|it| !it.single)
    );
}

#[test]
fn a_page_that_is_one_preformatted_text() {
    let log = |q: &str| format!("<pre>{}</pre>", each(4, |i| format!("10:0{i} {q} checked\n")));
    let bare = |text: &str| parse_bounded(&format!("<html><body>{text}</body></html>")).unwrap();
    let first = find(&bare(&log("crane")), true, true);
    let spec = first[0].spec.as_ref().expect("a way to read it");
    let read = HtmlReader::new(spec).unwrap().read(&bare(&log("ferry"))).unwrap();
    let text = "10:00 ferry checked 10:01 ferry checked 10:02 ferry checked 10:03 ferry checked";
    assert_eq!(read[0].values().collect::<Vec<_>>(), [text]);
    // A text among others is a part of the page.
    let beside =
        format!("<p>{}</p>{}", "How to read a log, and what to do then. ".repeat(4), log("crane"));
    assert!(find(&bare(&beside), true, true).is_empty());
}

#[test]
fn points_of_one_thing_are_one_field() {
    let make = |q: &str, n: usize| {
        format!(
            "<article><h1>{q}</h1><dl><dt>Town</dt><dd>Kiel of {q}</dd><dt>Price</dt><dd>{n} crowns</dd></dl>             <h2>Ingredients</h2><ul>{}</ul></article>",
            each(n, |i| format!("<li>{q} {i} g</li>"))
        )
    };
    assert_eq!(
        thing(&make("Aurora", 5), &make("Calypso", 3)),
        json!({"title": "Ingredients", "title_2": "Calypso", "town": "Kiel of Calypso", "price": "3 crowns",
            "text": ["Calypso 0 g", "Calypso 1 g", "Calypso 2 g"]})
    );
}

#[test]
fn names_in_small_print_above_their_values() {
    let make = |q: &str| {
        let cell = |name: &str, value: &str| {
            format!("<div class='col'><small>{name}</small><p>{value}</p></div>")
        };
        let cells = [("Due", ""), ("Priority", "2. High"), ("Status", "Open"), ("Queue", q)];
        let cells: String = cells.iter().map(|it| cell(it.0, it.1)).collect();
        // Outside of anything that is called the main thing of the page.
        format!(
            "</main><div class='card'><div class='bar'><h2>The gangway of {q} is stuck</h2></div><p>Seen by {q}.</p>             <div class='row'>{cells}</div></div>"
        )
    };
    assert_eq!(
        thing(&make("Aurora"), &make("Calypso")),
        json!({"title": "The gangway of Calypso is stuck", "text": "Seen by Calypso.", "priority": "2. High",
            "status": "Open", "queue": "Calypso", "col": "Due"})
    );
}

#[test]
fn labels_that_their_class_tells() {
    let make = |q: &str, n: usize| {
        let row = |name: &str, value: &str| {
            format!(
                "<div class='row field-{name}'><p class='body Labeled-label'><span>{name}</span></p>{value}</div>"
            )
        };
        let text = |it: &str| format!("<span class='body2'>{it}</span>");
        let bids = format!(
            "<div><table><thead><tr><th>Paddle</th><th>Amount</th></tr></thead><tbody>{}</tbody></table></div>",
            each(n, |i| format!("<tr><td>P{i}</td><td>{i}0.00 of {q}</td></tr>"))
        );
        let rows = [
            row("Title", &text(&format!("Lamp of {q}"))),
            row("Estimate", &text("€4,672.50")),
            row("Condition", &text("as new")),
            row("Bids", &bids),
        ];
        format!("<div class='stack'>{}</div>", rows.concat())
    };
    assert_eq!(
        thing(&make("Aurora", 4), &make("Calypso", 2)),
        json!({"title": "Lamp of Calypso", "estimate": "€4,672.50", "condition": "as new"})
    );
    let lists = find(&parse_bounded(&page(&make("Aurora", 4))).unwrap(), true, true);
    assert_eq!(lists.iter().find(|it| !it.is_record).unwrap().heading.as_deref(), Some("Bids"));
    // Tags of things are no labels.
    let things = each(6, |i| {
        format!(
            "<li><span class='label'>{}</span><a href='/{i}'>Thing {i}</a></li>",
            ["bug", "wish"][i % 2]
        )
    });
    let list = parse_bounded(&page(&format!("<ul>{things}</ul>"))).unwrap();
    assert!(find(&list, true, true)[0].spec.as_ref().is_some_and(|it| !it.single));
}

#[test]
fn values_that_are_links_or_pictures() {
    let make = |q: &str| {
        let row = |name: &str, value: &str| {
            format!(
                "<div class='form-row'><div class='flex'><label>{name}:</label><div class='readonly'>{value}</div></div></div>"
            )
        };
        let link = format!("<a href='/rooms/{q}'>Room of {q}</a>");
        let rows = [
            row("Number", q),
            row("Material", &format!("Wood of {q}")),
            row("Room", &link),
            row("Shown", "<img src='/yes.svg' alt='True'>"),
            row("From", &format!("<div><input type='text' value='{q}@boats.test' readonly></div>")),
            row("Note", &format!("Loan to {q}")),
        ];
        format!("<h1>{q}</h1><fieldset class='module'>{}</fieldset>", rows.concat())
    };
    assert_eq!(
        thing(&make("Aurora"), &make("Calypso")),
        json!({"title": "Calypso", "number": "Calypso", "material": "Wood of Calypso", "room": "Room of Calypso",
            "shown": "True", "from": "Calypso@boats.test", "note": "Loan to Calypso"})
    );
    // The same as a list of rows.
    let first = parse_bounded(&page(&make("Aurora"))).unwrap();
    let list = find(&first, true, false)
        .into_iter()
        .find_map(|it| it.spec.filter(|it| !it.single))
        .unwrap();
    let rows = HtmlReader::new(&list)
        .unwrap()
        .read(&parse_bounded(&page(&make("Calypso"))).unwrap())
        .unwrap();
    let values: Vec<Value> = rows.iter().map(|it| it["readonly"].clone()).collect();
    assert_eq!(values[..3], [json!("Calypso"), json!("Wood of Calypso"), json!("Room of Calypso")]);
}
