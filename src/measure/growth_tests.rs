//! Every kind of bytes that strangers send, made to take long, at one size and at four times that: what it costs grows as it
//! does.
//!
//! Processor time of one thread is compared, the least of several. It says nothing of a machine that is busy, and the bound is
//! wide: eight times for what should be four, where the square would be sixteen.

use std::time::Duration;

use commis_recipe::{blocks, model::ResponseSpec, shape};
use commis_runner::extract::{Extractor, HttpAnswer};
use serde_json::{Value, json};

use super::fuzzing;

/// What four times the size may cost.
const MOST: u32 = 8;
/// Too little to be compared.
const NOISE: Duration = Duration::from_millis(40);
const TRIES: usize = 3;

/// A name, the text of about so many bytes, and what reads it.
type Kind = (&'static str, fn(usize) -> String, fn(&str));

fn rep(it: &str, n: usize) -> String {
    it.repeat((n / it.len()).max(1))
}

fn each(n: usize, it: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    let mut i = 0;
    while out.len() < n {
        out.push_str(&it(i));
        i += 1;
    }
    out
}

fn entry(url: &str, mime: &str, text: &str) -> Value {
    json!({
        "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 5, "timings": {},
        "request": {"method": "GET", "url": url, "headers": []},
        "response": {"status": 200, "headers": [], "content": {"mimeType": mime, "text": text}},
    })
}

fn har(entries: Vec<Value>) -> String {
    let log =
        json!({"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries});
    json!({ "log": log }).to_string()
}

/// A HAR whose one answer is that.
fn har_with_answer(mime: &str, text: &str) -> String {
    har(vec![
        entry("http://shop.test/", "text/html", "<title>shop</title>"),
        entry("http://shop.test/api/search?q=lamps", mime, text),
    ])
}

/// Imported, redacted, ranked.
fn import_and_rank(har: &str) {
    fuzzing::import(har.as_bytes());
}

/// The blocks of a page, and how they are read from the next.
fn looked_through(page: &str) {
    if let Some(page) = blocks::parse_bounded(page) {
        blocks::find(&page, true, true);
    }
}

fn read_by(items: &str, field: &str, page: &str) {
    let html = json!({"items": items, "fields": {"x": field}, "optional": ["x"]});
    let spec: ResponseSpec =
        serde_json::from_value(json!({"type": "html", "html": html})).expect("a response");
    // Refused when it is compiled, when it is read, or read.
    if let Ok(it) = Extractor::new(&spec) {
        let _ = it.apply(HttpAnswer::from_body("text/html", page.as_bytes()));
    }
}

fn found_by(path: &str, answer: &str) {
    let spec: ResponseSpec =
        serde_json::from_value(json!({"type": "json", "extract": path})).expect("a response");
    let it = Extractor::new(&spec).expect("the expression is accepted");
    let _ = it.apply(HttpAnswer::from_body("application/json", answer.as_bytes()));
}

fn compared(answer: &str) {
    let value: Value = serde_json::from_str(answer).expect("it is JSON");
    let paths = shape::paths(&value);
    shape::similarity_bp(&paths, &paths);
    shape::VerifiedShape::new(&paths).similarity_bp(&value);
}

const ROWS: fn(usize) -> String = |n| format!("<table>{}</table>", rep("<tr><td>a<td>12", n));
const SIBLINGS: fn(usize) -> String = |n| rep("<p><i>t</i></p>", n);
const NUMBERS: fn(usize) -> String = |n| format!("[{}0]", rep("10,", n));
const ITEMS: fn(usize) -> String =
    |n| format!("{{\"items\":[{}0]}}", each(n, |i| format!("{{\"t\":\"lamp {i}\",\"n\":{i}}},")));

fn kinds() -> Vec<Kind> {
    vec![
        // Selectors.
        ("selector u ~ p", SIBLINGS, |it| read_by("u ~ p", "", it)),
        ("selector a ~ b ~ c", SIBLINGS, |it| read_by("p ~ p ~ p", "", it)),
        ("selector :has(~)", SIBLINGS, |it| read_by("p:not(:has(~ p u))", "", it)),
        ("selector :has(+)", SIBLINGS, |it| read_by("p:has(+ p)", "i", it)),
        ("selector :nth-last-child", SIBLINGS, |it| read_by("p:nth-last-child(2n+1)", "i", it)),
        ("selector :nth-child(of)", SIBLINGS, |it| read_by("p:nth-child(2n of p)", "i", it)),
        ("selector field ~", SIBLINGS, |it| read_by("body", "u ~ p", it)),
        ("selector :column", ROWS, |it| read_by("tr", ":column(2)", it)),
        ("selector :labelled", ROWS, |it| read_by("table", ":labelled(\"z\")", it)),
        (
            "selector descendants",
            |n| rep(&format!("{}x{}", "<div>".repeat(200), "</div>".repeat(200)), n),
            |it| {
                read_by("div div div div div div u", "", it);
            },
        ),
        (
            "selector nested items",
            |n| rep(&format!("{}x{}", "<div>".repeat(200), "</div>".repeat(200)), n),
            |it| {
                read_by("div", "div div", it);
            },
        ),
        (
            "selector comments",
            |n| format!("{}{}", rep("<!---->", n / 2), rep("<p>", n / 2)),
            |it| {
                read_by("u ~ p", "", it);
            },
        ),
        // Expressions and JSON.
        ("expression doubled", NUMBERS, |it| found_by(&["[@,@]"; 6].join("|"), it)),
        ("expression filtered", ITEMS, |it| {
            found_by("items[?contains(t, 'lamp') && n > `3`].t", it);
        }),
        ("expression sorted", ITEMS, |it| found_by("sort_by(items[?t], &t)[].t | reverse(@)", it)),
        ("expression grouped", ITEMS, |it| found_by("items[].[t, n, to_string(@)][]", it)),
        ("json lists", |n| format!("[{}[]]", rep("[],", n)), compared),
        ("json keys", |n| format!("{{{}\"z\":0}}", each(n, |i| format!("\"k{i}\":1,"))), compared),
        ("json objects", |n| format!("[{}0]", each(n, |i| format!("{{\"k{i}\":1}},"))), compared),
        (
            "json deep",
            |n| format!("[{}0]", rep(&format!("{}{},", "[".repeat(60), "]".repeat(60)), n)),
            compared,
        ),
        // Frames.
        ("framed jsonp", |n| rep("cb(", n), |it| fuzzing::frames(it.as_bytes())),
        ("framed lines", |n| rep("{\"a\":1}\n", n), |it| fuzzing::frames(it.as_bytes())),
        (
            "framed json5",
            |n| format!("{{a:[{}", rep("{b:'c',},", n)),
            |it| fuzzing::frames(it.as_bytes()),
        ),
        ("framed script", |n| rep("a.b=[{\"c\":", n), |it| fuzzing::frames(it.as_bytes())),
        // Pages.
        (
            "page lists in lists",
            |n| rep(&format!("{}x{}", "<div>".repeat(200), "</div>".repeat(200)), n),
            looked_through,
        ),
        ("page siblings", SIBLINGS, looked_through),
        ("page rows", ROWS, looked_through),
        (
            "page wide rows",
            |n| format!("<table><tr>{}<tr>{}", rep("<th>h", n / 2), rep("<td>1", n / 2)),
            looked_through,
        ),
        (
            "page spans",
            |n| format!("<table>{}", rep("<tr><td rowspan=65534 colspan=1000>l<td>k", n)),
            looked_through,
        ),
        ("page tables", |n| rep("<table><tr><td>a<td>1<tr><td>b<td>2</table>", n), looked_through),
        (
            "page kinds",
            |n| each(n, |i| format!("<x{}>lamp</x{}>", i % 997, i % 997)),
            looked_through,
        ),
        (
            "page classes",
            |n| each(n, |i| format!("<div class='c{i} d{}'>lamp {i}</div>", i % 7)),
            looked_through,
        ),
        (
            "page one class",
            |n| format!("<p class='{}'>x", each(n, |i| format!("c{i} "))),
            looked_through,
        ),
        ("page headings", |n| each(n, |i| format!("<h2>g{i}</h2><p>lamp {i}</p>")), looked_through),
        (
            "page labels",
            |n| each(n, |i| format!("<div><label>L{i}</label><span>v</span></div>")),
            looked_through,
        ),
        (
            "page terms",
            |n| format!("<dl>{}", each(n, |i| format!("<dt>L{i}<dd>v"))),
            looked_through,
        ),
        (
            "page cards",
            |n| {
                each(n, |i| {
                    format!(
                        "<div class=card><h3><a href=/p/{i}>lamp {i}</a></h3><b>{i}</b><p>text</p></div>"
                    )
                })
            },
            looked_through,
        ),
        ("page links", |n| each(n, |i| format!("<a href='?page={i}'>{i}</a>")), looked_through),
        ("page text", |n| format!("<p>{}", rep("lamp<br>", n)), looked_through),
        (
            "page scripts",
            |n| rep("<script type=application/ld+json>{\"@type\":\"X\"}</script>", n),
            looked_through,
        ),
        ("page tags", |n| rep("<", n), looked_through),
        ("page formatting", |n| rep("<p><b><i><u>", n), looked_through),
        // Recordings.
        (
            "har texts",
            |n| {
                har_with_answer(
                    "application/json",
                    &json!({"items": [{"t": rep("lamps ", n)}]}).to_string(),
                )
            },
            import_and_rank,
        ),
        ("har items", |n| har_with_answer("application/json", &ITEMS(n)), import_and_rank),
        (
            "har keys",
            |n| {
                har_with_answer(
                    "application/json",
                    &format!(
                        "{{{}\"z\":0}}",
                        each(n, |i| format!("\"k{i}\":{{\"t\":\"lamps {i}\"}},"))
                    ),
                )
            },
            import_and_rank,
        ),
        (
            "har tokens",
            |n| {
                har_with_answer(
                    "application/json",
                    &format!("[{}0]", each(n, |i| format!("{{\"token\":\"q9Zx{i}Kd81uw3mZ\"}},"))),
                )
            },
            import_and_rank,
        ),
        (
            "har pages",
            |n| {
                har_with_answer(
                    "text/html",
                    &each(n, |i| format!("<div class=card><h3>lamps {i}</h3><b>{i}</b></div>")),
                )
            },
            import_and_rank,
        ),
        (
            "har deep page",
            |n| {
                har_with_answer(
                    "text/html",
                    &rep(&format!("{}x{}", "<div>".repeat(200), "</div>".repeat(200)), n),
                )
            },
            import_and_rank,
        ),
        (
            "har xml",
            |n| har_with_answer("application/xml", &rep("<a b='c'>lamps</a>", n)),
            import_and_rank,
        ),
        ("har xml levels", |n| har_with_answer("application/xml", &rep("<a>", n)), import_and_rank),
        (
            "har entries",
            |n| {
                har((0..n / 300)
                    .map(|i| {
                        entry(
                            &format!("http://shop.test/api/{i}?q=lamps"),
                            "application/json",
                            "{\"items\":[{\"t\":\"lamps\"}]}",
                        )
                    })
                    .collect())
            },
            import_and_rank,
        ),
        (
            "har alike",
            |n| {
                har((0..n / 300)
                    .map(|_| {
                        entry(
                            "http://shop.test/api?q=lamps",
                            "application/json",
                            "{\"items\":[{\"t\":\"lamps\"}]}",
                        )
                    })
                    .collect())
            },
            import_and_rank,
        ),
        (
            "har query",
            |n| {
                har(vec![entry(
                    &format!("http://shop.test/api?q=lamps&{}", each(n, |i| format!("a{i}=b&"))),
                    "application/json",
                    "{\"t\":\"lamps\"}",
                )])
            },
            import_and_rank,
        ),
        (
            "har path",
            |n| {
                har(vec![entry(
                    &format!("http://shop.test/{}", rep("a/", n)),
                    "application/json",
                    "{\"t\":\"lamps\"}",
                )])
            },
            import_and_rank,
        ),
        (
            "har chain",
            |n| {
                har((0..n / 400).map(|i| entry(&format!("http://shop.test/api/s{i}?q=lamps&csrf=q9Zx{i}Kd81uw3mZ0pL"), "application/json", &format!("{{\"csrf_token\":\"q9Zx{}Kd81uw3mZ0pL\",\"items\":[{{\"t\":\"lamps\"}}]}}", i + 1))).collect())
            },
            import_and_rank,
        ),
        // What else is read from files.
        (
            "redaction",
            |n| format!("text/plain\n\n\n\n{}", rep("token=q9ZxKd81uw3mZ ", n)),
            |it| fuzzing::redaction(it.as_bytes()),
        ),
        (
            "redaction of one word",
            |n| format!("text/html\n\n\n\n{}", rep("pl4nted", n)),
            |it| fuzzing::redaction(it.as_bytes()),
        ),
        (
            "manifest",
            |n| {
                format!(
                    "tasks:\n{}",
                    each(n, |i| format!(
                        "- {{name: t{i}, url: 'http://shop.test/', task: 'Search', steps: []}}\n"
                    ))
                )
            },
            |it| fuzzing::manifest_file(it.as_bytes()),
        ),
        ("manifest levels", |n| rep("[", n), |it| fuzzing::manifest_file(it.as_bytes())),
        (
            "recipe",
            |n| format!("version: 1\nname: a\ntask: '{}'\n", rep("lamp ", n)),
            |it| fuzzing::recipe_file(it.as_bytes()),
        ),
        (
            "openapi",
            |n| {
                json!({"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": (0..n / 100).map(|i| (format!("/a{i}"), json!({"get": {"responses": {"200": {"description": "x"}}}}))).collect::<serde_json::Map<_, _>>()}).to_string()
            },
            |it| fuzzing::described(it.as_bytes()),
        ),
        (
            "charset",
            |n| rep("\u{e9}\u{1b}$B", n),
            |it| {
                for charset in ["shift_jis", "iso-2022-jp", "gb18030", "utf-16le"] {
                    commis_base::charset::to_utf8(
                        &format!("text/plain; charset={charset}"),
                        it.as_bytes().to_vec(),
                    );
                }
            },
        ),
    ]
}

fn processor_time() -> Duration {
    let it = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(it.tv_sec.unsigned_abs(), u32::try_from(it.tv_nsec).unwrap_or(0))
}

/// The least of several tries; one where it took long enough to be no noise.
fn cost(text: &str, read: fn(&str)) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..TRIES {
        let begun = processor_time();
        read(text);
        least = least.min(processor_time().saturating_sub(begun));
        if least > 10 * NOISE {
            break;
        }
    }
    least
}

/// Kinds whose cost at four times the size is out of proportion.
fn out_of_proportion(size: usize) -> Vec<String> {
    // What reads side by side does it on this thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let too_much = |(name, make, read): Kind| {
        let [small, large] = [size, 4 * size].map(|n| cost(&make(n), read));
        eprintln!(
            "{name:28} {:9.1} ms {:9.1} ms",
            small.as_secs_f64() * 1e3,
            large.as_secs_f64() * 1e3
        );
        (large > MOST * small + NOISE).then(|| format!("{name}: {small:?}, {large:?}"))
    };
    pool.install(|| kinds().into_iter().filter_map(too_much).collect())
}

#[test]
fn four_times_as_much_takes_four_times_as_long() {
    assert_eq!(out_of_proportion(24 * 1024), [""; 0]);
}
