//! Pages of many shapes: what is learned from one of them is read from another of its kind, whole.

use serde_json::{Map, Value, json};

use super::{TaskCardinality, find, parse_bounded, read::HtmlReader, task_cardinality};
use crate::model::HtmlSpec;

/// Items that are read whole.
pub fn spec(items: &str, run: bool) -> HtmlSpec {
    HtmlSpec {
        items: items.to_owned(),
        run,
        single: false,
        group: None,
        fields: [("text".to_owned(), String::new())].into(),
        optional: Vec::new(),
        types: std::collections::BTreeMap::new(),
    }
}

pub fn page(body: &str) -> String {
    format!(
        "<!doctype html><html><head><title>x</title></head><body><header><nav><ul><li><a href='/'>Home of the site</a></li>\
         <li><a href='/about'>About this site and us</a></li></ul></nav></header><main>{body}</main><footer><p>All rights reserved</p></footer></body></html>"
    )
}

/// Reads the second page by what was found as the weightiest block of the first.
#[track_caller]
pub fn read(first: &str, second: &str) -> Vec<Map<String, Value>> {
    let (first, second) =
        (parse_bounded(&page(first)).unwrap(), parse_bounded(&page(second)).unwrap());
    let block = find(&first, true, false).into_iter().next().expect("a block");
    let spec = block.spec.unwrap();
    let out = HtmlReader::new(&spec).unwrap().read(&second).unwrap();
    assert!(!out.is_empty(), "{spec:?}");
    out
}

#[track_caller]
pub fn check(make: impl Fn(&str, usize) -> String, expected: &Value) {
    let got = read(&make("Aurora", 5), &make("Calypso", 3));
    let got: Value = got.into_iter().map(Value::Object).collect();
    assert_eq!(&got, expected, "{got:#}");
}

pub fn each(n: usize, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect()
}

#[test]
fn rows_that_only_the_roles_of_their_cells_tell_from_heads() {
    let line = |role: &str, cells: [&str; 2]| {
        let cells = cells.map(|it| format!("<span role='{role}'>{it}</span>")).concat();
        format!("<div role='row'>{cells}</div>")
    };
    check(
        |q, n| {
            let ships = each(n, |i| line("cell", [&format!("{q} {i}"), "Kiel"]));
            format!("<div role='table'>{}{ships}</div>", line("columnheader", ["Name", "Port"]))
        },
        &json!([
            {"text": "Calypso 0", "text_2": "Kiel"},
            {"text": "Calypso 1", "text_2": "Kiel"},
            {"text": "Calypso 2", "text_2": "Kiel"},
        ]),
    );
}

#[test]
fn zebra_rows_without_names_for_columns() {
    check(
        |q, n| {
            let row = |i: usize| {
                let class = if i.is_multiple_of(2) { "dark" } else { "light" };
                format!("<tr class='{class}'><td>{q} {i}</td><td>Kiel {i}</td></tr>")
            };
            format!("<table id='t'><tbody>{}</tbody></table>", each(n, row))
        },
        &json!([{"column_1": "Calypso 0", "column_2": "Kiel 0"}, {"column_1": "Calypso 1", "column_2": "Kiel 1"},
            {"column_1": "Calypso 2", "column_2": "Kiel 2"}]),
    );
}

#[test]
fn a_table_of_one_head_stands_above_the_next() {
    let page = |q: &str, n: usize| {
        let row = |i: usize| format!("<tr><td>{q} {i}</td><td>{i}</td><td>{}</td></tr>", i * 7);
        let heads = "<tr><th>Server</th><th>Sessions that are open now</th><th>Bytes that were sent</th></tr>";
        let table = |at: usize| {
            format!(
                "<table class='t'><tr><th class='px'><a href='#{at}'>proxy {at}</a></th><th></th></tr></table>\
                 <table class='t'>{heads}{}</table><p></p>",
                each(n, row)
            )
        };
        each(3, table)
    };
    let got = read(&page("Aurora", 4), &page("Calypso", 4));
    let groups: Vec<&Value> = got.iter().map(|it| &it["group"]).collect();
    assert_eq!(groups[3..5], ["proxy 0", "proxy 1"], "{got:?}");
    assert_eq!((got.len(), &got[5]["server"]), (12, &json!("Calypso 1")));
}

#[test]
fn questions_are_labels_of_a_record() {
    let page = |q: &str| {
        format!(
            "<h2>Service</h2><table><tr><td>Current status:</td><td>{q} OK</td></tr><tr><td>Last check:</td><td>noon</td></tr>\
             <tr><td>In downtime?</td><td>NO</td></tr></table>"
        )
    };
    let found = find(&parse_bounded(&self::page(&page("DISK"))).unwrap(), true, false);
    assert!(found[0].is_record, "{found:?}");
    assert_eq!(found[0].fields, ["title", "current_status", "last_check", "in_downtime"]);
}

#[test]
fn columns_of_a_layout_are_no_items() {
    let day = |q: &str, n: usize| {
        let entry = |i: usize| {
            let tags = each(i + 1, |it| format!("<span class='tag'>tag {it}</span>"));
            format!(
                "<div class='entry'><div class='name'><a href='/e/{i}'>{q} {i}</a></div><p>Berth {i}</p><div>{tags}</div></div>"
            )
        };
        let column = |of: std::ops::Range<usize>| {
            format!("<div class='third'>{}</div>", of.map(entry).collect::<String>())
        };
        let columns = column(0..1) + &column(1..3) + &column(3..n);
        format!("<div id='day'><div class='row'>{columns}</div></div>")
    };
    let got = read(&day("Aurora", 6), &day("Calypso", 4));
    assert_eq!(got.len(), 4, "{got:?}");
    assert_eq!(got[2]["link"], "Calypso 2");
    assert_eq!(got[1]["tag"], json!(["tag 0", "tag 1"]));
    // Entries that have little in common but their name.
    let sparse = |text: bool, tag: bool, i: usize| {
        let text = if text { format!("<div><p>Berth {i}</p></div>") } else { String::new() };
        let tag = if tag { "<span class='tag'>tag</span>" } else { "" };
        format!(
            "<div class='entry'><div class='name'><a href='/e/{i}'>Tern {i}</a></div><div class='said'>{text}</div><div>{tag}</div></div>"
        )
    };
    let columns = [
        sparse(true, false, 0),
        sparse(true, true, 1),
        sparse(false, true, 2) + &sparse(true, true, 3),
    ];
    let columns = columns.map(|it| format!("<div class='third'>{it}</div>")).concat();
    let found = find(
        &parse_bounded(&page(&format!("<div class='row'>{columns}</div>"))).unwrap(),
        true,
        false,
    );
    assert_eq!(found[0].rows.len(), 4, "{found:?}");
}

#[test]
fn a_word_lit_up_is_part_of_its_text() {
    let page = |q: &str, n: usize| {
        let tag = |it: &str| {
            let text = if it == q {
                format!("<span class='search-highlight'>{it}</span>")
            } else {
                it.to_owned()
            };
            format!("<span class='label'><a href='/t/{it}'>{text}</a></span>")
        };
        let item = |i: usize| {
            let tags: Vec<String> =
                ["kran", "werft", "hafen"][..=i % 3].iter().map(|it| tag(it)).collect();
            format!(
                "<div class='item'><h2>Blatt {i}</h2><div class='tags'>{}</div></div>",
                tags.join(" &middot; ")
            )
        };
        format!("<div id='list'>{}</div>", each(n, item))
    };
    let got = read(&page("kran", 6), &page("werft", 3));
    let links: Vec<&Value> = got.iter().map(|it| &it["link"]).collect();
    assert_eq!(
        json!(links),
        json!([["kran"], ["kran", "werft"], ["kran", "werft", "hafen"]]),
        "{got:?}"
    );
}

#[test]
fn what_a_run_goes_on_with_is_no_line_beside_it() {
    let run = "<dl><dt>One</dt><dd>Sat, 12 Jan 2024</dd><dt>Two</dt><dd>Sun, 2 Feb 2025</dd></dl>";
    let page = parse_bounded(&page(&format!("<h2>2 documents</h2>{run}"))).unwrap();
    let reader = HtmlReader::new(&spec("dl > dt", true)).unwrap();
    let lines = super::lines_without_items(&page, Some(&reader));
    assert!(lines.contains("2 documents"));
    assert!(!lines.iter().any(|it| it.contains("Jan") || it.contains("One")), "{lines:?}");
}

#[test]
fn heads_that_are_no_names_are_not_written_down() {
    let head =
        "<th>DO goto {&quot;url&quot;: 1}</th><th>Price (EUR)</th><th>x&#10;- run: y &#x202e;</th>";
    let make = |q: &str, n: usize| {
        let row = |i: usize| format!("<tr><td>{q} {i}</td><td>{i}.50</td><td>shelf {i}</td></tr>");
        format!(
            "<table><thead><tr>{head}</tr></thead><tbody>{}</tbody></table>
             <dl><dt>DO x {{}}</dt><dd>{q}</dd></dl>",
            each(n, row)
        )
    };
    check(
        make,
        &json!([{"column_1": "Calypso 0", "price_eur": "0.50", "column_3": "shelf 0"},
            {"column_1": "Calypso 1", "price_eur": "1.50", "column_3": "shelf 1"},
            {"column_1": "Calypso 2", "price_eur": "2.50", "column_3": "shelf 2"}]),
    );
    for block in find(&parse_bounded(&page(&make("Aurora", 5))).unwrap(), true, false) {
        let spec = format!("{:?}", block.spec);
        assert!(!spec.contains("DO") && !spec.contains("- run"), "{spec}");
    }
}

#[test]
fn how_a_table_is_sorted_is_no_name() {
    let table = |head: &str, q: &str| {
        let row = |i: usize| {
            format!(
                "<tr><td class='col-name'>{q} {i}</td><td class='col-x'>{i}.50</td><td>shelf {i}</td></tr>"
            )
        };
        format!("<table><thead><tr>{head}</tr></thead><tbody>{}</tbody></table>", each(3, row))
    };
    let down = "<th><a>name&nbsp;▼</a></th><th>⇅ Price</th><th>\u{25b2}</th>";
    let up = "<th><a>name</a></th><th>Price&nbsp;\u{2b06}\u{fe0f}</th><th></th>";
    for (learned, read_from) in [(down, up), (up, down), (down, down)] {
        let got = read(&table(learned, "Aurora"), &table(read_from, "Calypso"));
        assert_eq!(
            got.into_iter().map(Value::Object).collect::<Vec<_>>(),
            [
                json!({"name": "Calypso 0", "price": "0.50", "column_3": "shelf 0"}),
                json!({"name": "Calypso 1", "price": "1.50", "column_3": "shelf 1"}),
                json!({"name": "Calypso 2", "price": "2.50", "column_3": "shelf 2"}),
            ]
        );
    }
    let block = find(&parse_bounded(&page(&table(down, "Aurora"))).unwrap(), true, false).remove(0);
    let spec = format!("{:?}", block.spec);
    assert!(spec.contains(r#":column(\"name\")"#), "{spec}");
}

#[test]
fn a_table_with_a_head_of_two_rows_and_a_foot() {
    check(
        |q, n| {
            format!(
                "<table><thead><tr><th rowspan=2>Ship</th><th colspan=2>Size</th></tr><tr><th>Length</th><th>Width</th></tr></thead>\
                 <tbody>{}</tbody><tfoot><tr><td>Sum</td><td>9</td><td>9</td></tr></tfoot></table>",
                each(n, |i| format!(
                    "<tr><td><a href='/{i}'>{q} {i}</a></td><td>{i}0 m</td><td>{i} m</td></tr>"
                ))
            )
        },
        &json!([
            {"ship": "Calypso 0", "url": "/0", "size_length": "00 m", "size_width": "0 m"},
            {"ship": "Calypso 1", "url": "/1", "size_length": "10 m", "size_width": "1 m"},
            {"ship": "Calypso 2", "url": "/2", "size_length": "20 m", "size_width": "2 m"}]),
    );
}

#[test]
fn cells_that_span_rows_stand_in_each() {
    let make = |q: &str, n: usize| {
        format!(
            "<table><tr><th>Port</th><th>Ship</th></tr>{}</table>",
            each(n, |i| format!(
                "<tr><td rowspan=2>Port {i}</td><td>{q} {i} one</td></tr><tr><td>{q} {i} two</td></tr>"
            ))
        )
    };
    let got = read(&make("Aurora", 4), &make("Calypso", 2));
    let pairs: Vec<(&str, &str)> =
        got.iter().map(|it| (it["port"].as_str().unwrap(), it["ship"].as_str().unwrap())).collect();
    assert_eq!(
        pairs,
        [
            ("Port 0", "Calypso 0 one"),
            ("Port 0", "Calypso 0 two"),
            ("Port 1", "Calypso 1 one"),
            ("Port 1", "Calypso 1 two")
        ]
    );
}

#[test]
fn columns_are_found_by_title_wherever_they_stand() {
    let one = "<table><tr><th>Name</th><th>Price</th></tr><tr><td>Aurora one</td><td>12</td></tr><tr><td>Aurora two</td><td>13</td></tr></table>";
    let two = "<table><tr><th>Price</th><th>New</th><th>Name</th></tr><tr><td>7</td><td>x</td><td>Calypso</td></tr><tr><td>8</td><td>y</td><td>Dione</td></tr></table>";
    let got = read(one, two);
    assert_eq!(Value::from(got[0].clone()), json!({"name": "Calypso", "price": "7"}));
}

#[test]
fn rows_that_name_those_below_them() {
    check(
        |q, n| {
            let rows = each(n, |i| format!("<tr><td>{q} {i}</td><td>Master {i}</td></tr>"));
            format!(
                "<table><tr><th>Ship</th><th>Master</th></tr><tr><td colspan=2>In port</td></tr>{rows}<tr><td colspan=2>At sea</td></tr><tr><td>{q} far</td><td>Nobody</td></tr></table>"
            )
        },
        &json!([
            {"ship": "Calypso 0", "master": "Master 0", "group": "In port"}, {"ship": "Calypso 1", "master": "Master 1", "group": "In port"},
            {"ship": "Calypso 2", "master": "Master 2", "group": "In port"}, {"ship": "Calypso far", "master": "Nobody", "group": "At sea"}]),
    );
}

#[test]
fn terms_with_several_definitions() {
    check(
        |q, n| {
            format!(
                "<dl id='results'>{}</dl>",
                each(n, |i| format!(
                    "<dt><a href='/x/{i}'>{q} {i}</a></dt><dd class='s'>Moored at {i}</dd><dd>By <b>{i}</b> hands</dd>"
                ))
            )
        },
        &json!([
            {"link": "Calypso 0", "url": "/x/0", "s": "Moored at 0", "text": "By 0 hands"},
            {"link": "Calypso 1", "url": "/x/1", "s": "Moored at 1", "text": "By 1 hands"},
            {"link": "Calypso 2", "url": "/x/2", "s": "Moored at 2", "text": "By 2 hands"}]),
    );
}

#[test]
fn items_of_two_rows() {
    check(
        |q, n| {
            format!(
                "<table class='items'><tbody>{}</tbody></table>",
                each(n, |i| format!(
                    "<tr class='thing'><td class='rank'>{i}.</td><td class='title'><a href='/{i}'>{q} {i} sails</a></td></tr>\
                     <tr><td colspan=2 class='subtext'><span class='score'>{i} points</span> by <a class='user' href='/u'>ann</a></td></tr><tr class='spacer'></tr>"
                ))
            )
        },
        &json!([
            {"rank": "0.", "link": "Calypso 0 sails", "url": "/0", "subtext": "0 points by ann", "score": "0 points", "user": "ann", "url_2": "/u"},
            {"rank": "1.", "link": "Calypso 1 sails", "url": "/1", "subtext": "1 points by ann", "score": "1 points", "user": "ann", "url_2": "/u"},
            {"rank": "2.", "link": "Calypso 2 sails", "url": "/2", "subtext": "2 points by ann", "score": "2 points", "user": "ann", "url_2": "/u"}]),
    );
}

#[test]
fn headings_with_paragraphs_and_nothing_around_them() {
    check(
        |q, n| {
            each(n, |i| format!("<h3><a href='/{i}'>{q} {i}</a></h3><p>A ship of number {i}.</p>"))
        },
        &json!([
            {"title": "Calypso 0", "url": "/0", "text": "A ship of number 0."}, {"title": "Calypso 1", "url": "/1", "text": "A ship of number 1."},
            {"title": "Calypso 2", "url": "/2", "text": "A ship of number 2."}]),
    );
}

#[test]
fn two_lists_of_one_kind_are_one_in_groups() {
    check(
        |q, n| {
            ["Kiel", "Turku"]
                .map(|it| {
                    format!(
                        "<h2>{it}</h2><ul class='r'>{}</ul>",
                        each(n, |i| format!(
                            "<li><h3>{q} {it} {i}</h3><p>Berth {i} of {it}</p></li>"
                        ))
                    )
                })
                .concat()
        },
        &json!([
            {"title": "Calypso Kiel 0", "text": "Berth 0 of Kiel", "group": "Kiel"}, {"title": "Calypso Kiel 1", "text": "Berth 1 of Kiel", "group": "Kiel"},
            {"title": "Calypso Kiel 2", "text": "Berth 2 of Kiel", "group": "Kiel"}, {"title": "Calypso Turku 0", "text": "Berth 0 of Turku", "group": "Turku"},
            {"title": "Calypso Turku 1", "text": "Berth 1 of Turku", "group": "Turku"}, {"title": "Calypso Turku 2", "text": "Berth 2 of Turku", "group": "Turku"}]),
    );
}

#[test]
fn lists_under_headings_are_their_items_and_things_with_labels_are_not() {
    let section = |name: &str, items: &[&str]| {
        let all = each(items.len(), |i| format!("<p><b>{}</b> of the harbour</p>", items[i]));
        format!("<h2>{name}</h2><div id='{name}'>{all}</div>")
    };
    let blocks = |html: &str| find(&parse_bounded(&page(html)).unwrap(), false, false);
    let first = |html: &str| {
        let it = blocks(html).into_iter().next().unwrap();
        (it.rows.len(), it.fields)
    };
    let lists = section("Ships", &["Aurora", "Calypso", "Tern", "Gull"])
        + &section("Crew", &["Ada", "Bo", "Cleo", "Dov"]);
    assert_eq!(first(&lists), (8, vec!["text".to_owned(), "group".to_owned()]));
    let labels = ["Built", "Length", "Flag", "Owner"];
    let things = section("Aurora", &labels) + &section("Calypso", &labels);
    assert_eq!(first(&things).0, 2);
    // A sentence and a list have nothing in common.
    let parts = "<div id='a'>Water it every twelve days or so.</div><h2>Also</h2>        <div id='b'><p>Aloe, 4 EUR</p><p>Fern, 7 EUR</p><p>Palm, 9 EUR</p></div>";
    assert_eq!(first(parts).0, 3);
}

#[test]
fn nested_lists_are_their_items() {
    let make = |q: &str, n: usize| {
        format!(
            "<ul class='ports'>{}</ul>",
            each(3, |port| format!(
                "<li><b>Port {port}</b><ul>{}</ul></li>",
                each(n + port, |i| format!("<li><a href='/{i}'>{q} of port {port}, {i}</a></li>"))
            ))
        )
    };
    let got = read(&make("Aurora", 3), &make("Calypso", 2));
    assert_eq!(got.len(), 2 + 3 + 4);
    assert_eq!(got[0]["link"], "Calypso of port 0, 0");
}

#[test]
fn cards_with_classes_of_a_build() {
    check(
        |q, n| {
            format!(
                "<div class='sc-1a2b3c4d'>{}</div>",
                each(n, |i| format!(
                    "<div class='css-{i}x9q8z7'><img class='css-8h7g6f5d' src='/{i}.png' alt='{q} {i} at sea'><span class='css-1q2w3e4r'>{q} {i}</span><span class='css-9o8i7u6y'>Berth {i}</span></div>"
                ))
            )
        },
        &json!([
            {"image": "/0.png", "image_text": "Calypso 0 at sea", "text": "Calypso 0", "text_2": "Berth 0"},
            {"image": "/1.png", "image_text": "Calypso 1 at sea", "text": "Calypso 1", "text_2": "Berth 1"},
            {"image": "/2.png", "image_text": "Calypso 2 at sea", "text": "Calypso 2", "text_2": "Berth 2"}]),
    );
}

#[test]
fn properties_name_their_fields() {
    check(
        |q, n| {
            each(n, |i| {
                format!(
                    "<div itemscope itemtype='https://schema.org/Boat'><span itemprop='name'>{q} {i}</span><meta itemprop='sku' content='S{i}'>\
                     <time itemprop='launched' datetime='190{i}-01-01'>1 January 190{i}</time></div>"
                )
            })
        },
        &json!([
            {"name": "Calypso 0", "sku": "S0", "launched": "1 January 1900", "date": "1900-01-01"},
            {"name": "Calypso 1", "sku": "S1", "launched": "1 January 1901", "date": "1901-01-01"},
            {"name": "Calypso 2", "sku": "S2", "launched": "1 January 1902", "date": "1902-01-01"}]),
    );
}

#[test]
fn what_only_some_items_have_and_marks_in_the_text() {
    let make = |q: &str, n: usize| {
        let item = |i: usize| {
            let badge = if i == 1 { "<span class='badge'>new</span>" } else { "" };
            let name = if i.is_multiple_of(2) {
                format!("<b>{q}</b> ship {i}")
            } else {
                format!("ship {i} of {q}")
            };
            format!(
                "<li class='hit'><a href='/{i}'>{name}</a>{badge}<p>… the <b>{q}</b> lay at {i} …</p></li>"
            )
        };
        format!("<ol class='hits'>{}</ol>", each(n, item))
    };
    let got = read(&make("Aurora", 5), &make("Calypso", 3));
    assert_eq!(
        Value::from(got[0].clone()),
        json!({"link": "Calypso ship 0", "url": "/0", "badge": null, "text": "… the Calypso lay at 0 …"})
    );
    assert_eq!(got[1]["badge"], "new");
    assert_eq!(got[1]["link"], "ship 1 of Calypso");
}

#[test]
fn as_many_tags_as_there_are() {
    check(
        |q, n| {
            format!(
                "<div class='list'>{}</div>",
                each(n, |i| format!(
                    "<article><h2>{q} {i} lies in the harbour of Kiel since the spring of last year</h2><ul class='tags'>{}</ul></article>",
                    each(i + 1, |t| format!("<li class='tag'>tag{t}</li>"))
                ))
            )
        },
        &json!([{"title": "Calypso 0 lies in the harbour of Kiel since the spring of last year", "tag": ["tag0"]}, {"title": "Calypso 1 lies in the harbour of Kiel since the spring of last year", "tag": ["tag0", "tag1"]}, {"title": "Calypso 2 lies in the harbour of Kiel since the spring of last year", "tag": ["tag0", "tag1", "tag2"]}]),
    );
}

#[test]
fn one_thing_with_labels() {
    for make in [
        |q: &str| {
            format!(
                "<article><h2>{q}</h2><p class='lead'>A ship called {q}</p><table><tr><th>Price</th><td>{q} 5</td></tr><tr><th>Built</th><td>1901</td></tr></table></article>"
            )
        },
        |q: &str| {
            format!(
                "<article><h2>{q}</h2><p class='lead'>A ship called {q}</p><dl><dt>Price</dt><dd>{q} 5</dd><dt>Built</dt><dd>1901</dd></dl></article>"
            )
        },
        |q: &str| {
            format!(
                "<article><h2>{q}</h2><p class='lead'>A ship called {q}</p><div><div><span class='label'>Price</span><span class='value'>{q} 5</span></div><div><span class='label'>Built</span><span class='value'>1901</span></div></div></article>"
            )
        },
        |q: &str| {
            format!(
                "<article><h2>{q}</h2><p class='lead'>A ship called {q}</p><div><p><b>Price:</b> <span>{q} 5</span></p><p><b>Built:</b> <span>1901</span></p></div></article>"
            )
        },
    ] {
        let (first, second) = (
            parse_bounded(&page(&make("Aurora"))).unwrap(),
            parse_bounded(&page(&make("Calypso"))).unwrap(),
        );
        let record = find(&first, true, false)
            .into_iter()
            .find(|it| it.is_record)
            .unwrap_or_else(|| panic!("{}", make("x")));
        let got = HtmlReader::new(&record.spec.unwrap()).unwrap().read(&second).unwrap();
        assert_eq!(
            Value::from(got[0].clone()),
            json!({"title": "Calypso", "lead": "A ship called Calypso", "price": "Calypso 5", "built": "1901"})
        );
    }
}

#[test]
fn the_data_and_not_what_surrounds_it() {
    let got = read(
        "<div class='sidebar'><ul><li>Filter by the year of launch</li><li>Filter by the port of registry</li><li>Filter by nothing at all</li></ul></div>\
         <table><tr><th>Legend</th><th>Meaning</th></tr><tr><td>x</td><td>y</td></tr></table>\
         <div class='results'><div class='result'>Aurora of Kiel, a barge</div><div class='result featured'>Aurora of Turku, a yawl</div></div>",
        "<div class='results'><div class='result'>Calypso</div></div>",
    );
    assert_eq!(Value::from(got[0].clone()), json!({"result": "Calypso"}));
}

#[test]
fn a_page_without_a_list() {
    assert!(
        find(
            &parse_bounded("<body><h1>Hello</h1><p>Nothing here</p></body>").unwrap(),
            true,
            false
        )
        .is_empty()
    );
}

#[test]
fn nothing_found_is_told_from_another_page() {
    let shell = |inner: &str| {
        page(&format!("<form id='search'><input name=q></form><div class='content'>{inner}</div>"))
    };
    let with = |q: &str| {
        parse_bounded(&shell(&format!(
            "<p class='sum'>2 found</p><ul class='r'><li>{q} one</li><li>{q} two</li></ul>"
        )))
        .unwrap()
    };
    let without = |q: &str| {
        parse_bounded(&shell(&format!("<p class='none'>No ships found</p><p>Nothing for {q}</p>")))
            .unwrap()
    };
    let seen = super::no_results::learn(
        &[&without("zq")],
        &[&with("a"), &with("b")],
        &spec("ul.r > li", false),
        &["zq"],
    )
    .unwrap();
    assert_eq!(seen.says.as_deref(), Some("No ships found"));
    assert!(super::no_results::is_empty_result(&without("other"), &seen));
    let changed =
        parse_bounded(&page("<section class='new'><ol><li>Aurora one</li></ol></section>"))
            .unwrap();
    assert!(!super::no_results::is_empty_result(&changed, &seen));
    let renamed =
        parse_bounded(&shell("<p>2 found</p><ul class='s'><li class='x'>Aurora one</li></ul>"))
            .unwrap();
    assert!(!super::no_results::is_empty_result(&renamed, &seen));
}

#[test]
fn nothing_found_is_known_by_what_only_empty_pages_say() {
    let shell = |inner: &str| {
        page(&format!("<form><label>Find</label><input name=q></form><h1>Stores</h1>{inner}"))
    };
    let list =
        "<div class='hits'><article><h3>One</h3></article><article><h3>Two</h3></article></div>";
    let parsed = |html: &str| parse_bounded(html).unwrap();
    let with = parsed(&shell(list));
    let learn = |without: &[&str]| {
        let pages: Vec<_> = without.iter().map(|it| parsed(it)).collect();
        let pages: Vec<_> = pages.iter().collect();
        super::no_results::learn(
            &pages,
            &[&with, &with],
            &spec("div.hits > article", false),
            &["zqvw", "Wkzj"],
        )
    };
    // In any language; what was typed is no part of it.
    for (said, other, says) in [
        (
            "По запросу «zqvw» ничего не найдено",
            "По запросу «wkzj» ничего не найдено",
            "ничего не найдено",
        ),
        ("見つかりませんでした", "見つかりませんでした", "見つかりませんでした"),
        (
            "We couldn't find any matches",
            "We couldn't find any matches",
            "We couldn't find any matches",
        ),
    ] {
        let line = |it: &str| shell(&format!("<p>{it}</p>"));
        let seen = learn(&[&line(said), &line(other)]).unwrap();
        assert_eq!(seen.says.as_deref(), Some(says));
        assert!(!seen.around.iter().any(|it| ["div.hits", "article", "h3"].contains(&it.as_str())));
        assert!(super::no_results::is_empty_result(
            &parsed(&line(&said.replace("zqvw", "lamp"))),
            &seen
        ));
        // The items were renamed.
        let renamed = shell(&list.replace("article", "section"));
        assert!(!super::no_results::is_empty_result(&parsed(&renamed), &seen), "{says}");
    }
    // A line that only one of two empty pages has may be anything.
    let lines = [shell("<p>Lamps of the week</p>"), shell("<p>Chairs of the week, too</p>")];
    assert!(learn(&[&lines[0], &lines[1]]).is_none());
    // Built otherwise: a login, a challenge.
    let login = page("<section><h2>Log in</h2><p>No account yet?</p></section>");
    assert!(learn(&[&login, &login]).is_none());
    // Of a page that is nothing but its list, nothing is left to know it by.
    let bare = parsed(&format!("<body>{list}</body>"));
    let empty = parsed("<body><p>Nothing was found</p></body>");
    assert!(
        super::no_results::learn(&[&empty], &[&bare], &spec("div.hits > article", false), &[])
            .is_none()
    );
}

#[test]
fn a_large_page_is_found_in_time() {
    let rows = each(5_000, |i| {
        format!(
            "<tr data-x='{}'><td class=n>Ship {i}</td><td class=w>Berth {i}</td></tr>",
            "y".repeat(60)
        )
    });
    let it = parse_bounded(&page(&format!(
        "<table><thead><tr><th>Name</th><th>Where</th></tr></thead><tbody>{rows}</tbody></table>"
    )))
    .unwrap();
    let block = &find(&it, true, false)[0];
    assert_eq!((block.rows.len(), block.fields.len()), (5_000, 2));
}

#[test]
fn one_thing_or_many() {
    for (task, expected) in [
        ("Show ticket 12", TaskCardinality::One),
        ("What is the status of ticket 12", TaskCardinality::One),
        ("Show the details of the ship Aurora", TaskCardinality::One),
        ("Read the article on tides", TaskCardinality::One),
        ("Show the papers of the ship Aurora", TaskCardinality::Either),
        ("Show the rows of the table barges", TaskCardinality::Many),
        ("Show me commits by Ann", TaskCardinality::Many),
        ("List ticket 12", TaskCardinality::Many),
    ] {
        assert_eq!(task_cardinality(task), expected, "{task}");
    }
}

#[test]
fn links_of_which_some_are_marked() {
    check(
        |q, n| {
            let file = |i: usize| format!("<li><a href='/blob/{q}{i}.c'>{q}{i}.c</a></li>");
            format!(
                "<div class='tree'><ul><li><a href='/' class='dir'>..</a></li>{}</ul></div>",
                each(n, file)
            )
        },
        &json!([{"link": "Calypso0.c", "url": "/blob/Calypso0.c"},
            {"link": "Calypso1.c", "url": "/blob/Calypso1.c"}, {"link": "Calypso2.c", "url": "/blob/Calypso2.c"}]),
    );
}

#[test]
fn shadow_roots_that_the_server_wrote_down() {
    check(
        |q, n| {
            let card = |i: usize| {
                format!(
                    "<ship-card><template shadowrootmode=open><h3>{q} {i}</h3><p>Pier {i}</p></template></ship-card>"
                )
            };
            format!("<ship-list>{}</ship-list>", each(n, card))
        },
        &json!([{"title": "Calypso 0", "text": "Pier 0"}, {"title": "Calypso 1", "text": "Pier 1"}, {"title": "Calypso 2", "text": "Pier 2"}]),
    );
}

#[test]
fn striped_rows_keep_their_order() {
    for (odd, even) in [("row-odd", "row-even"), ("row stripe", "row")] {
        let row = |i: usize| {
            let class = if i.is_multiple_of(2) { even } else { odd };
            format!("<div class='{class}'><div>Ship {i}</div><div>Kiel {i}</div></div>")
        };
        let block = find(
            &parse_bounded(&page(&format!("<div>{}</div>", each(7, row)))).unwrap(),
            false,
            false,
        )
        .remove(0);
        let first: Vec<&str> = block.rows.iter().map(|it| it[0].as_deref().unwrap()).collect();
        assert_eq!(first, ["Ship 0", "Ship 1", "Ship 2", "Ship 3", "Ship 4", "Ship 5", "Ship 6"]);
    }
}

#[test]
fn rows_that_come_without_their_table() {
    let rows = |q: &str, n: usize| {
        each(n, |i| format!("<tr><td><a href='/{i}'>{q} {i}</a></td><td>{i} cm</td></tr>\n"))
    };
    let (first, second) =
        (parse_bounded(&rows("Aurora", 5)).unwrap(), parse_bounded(&rows("Calypso", 2)).unwrap());
    let spec = find(&first, true, false).remove(0).spec.unwrap();
    let got: Value = HtmlReader::new(&spec)
        .unwrap()
        .read(&second)
        .unwrap()
        .into_iter()
        .map(Value::Object)
        .collect();
    assert_eq!(
        got,
        json!([{"column_1": "Calypso 0", "column_2": "0 cm", "url": "/0"},
            {"column_1": "Calypso 1", "column_2": "1 cm", "url": "/1"}])
    );
}

#[test]
fn a_column_of_pictures_says_what_they_say() {
    let make = |q: &str, n: usize| {
        let row = |i: usize| {
            let shown = if i.is_multiple_of(2) { "True" } else { "False" };
            format!(
                "<tr><td><input type=checkbox aria-label='Select {i}'></td><td>{q} {i}</td><td><img src='/i.svg' alt='{shown}'></td>\
                 <td><i title='{q}-{i}'></i></td><td><a aria-label='Delete {i}'></a></td></tr>"
            )
        };
        format!(
            "<table><thead><tr><th></th><th>Name</th><th>Shown</th><th>Flag</th><th></th></tr></thead><tbody>{}</tbody></table>",
            each(n, row)
        )
    };
    check(
        make,
        &json!([{"name": "Calypso 0", "shown": "True", "flag": "Calypso-0"},
            {"name": "Calypso 1", "shown": "False", "flag": "Calypso-1"},
            {"name": "Calypso 2", "shown": "True", "flag": "Calypso-2"}]),
    );
    let block = find(&parse_bounded(&page(&make("Aurora", 3))).unwrap(), false, false).remove(0);
    assert_eq!(block.fields, ["name", "shown", "flag"]);
}
