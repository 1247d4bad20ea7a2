//! `load.test` and every host under it: answers of known sizes, made once, for measuring speed. There are no pages.
//!
//! A query is accepted and ignored, so that what is measured is never the making of an answer.

use std::{io::Write as _, sync::LazyLock};

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

pub const JSON: &str = "application/json; charset=utf-8";

/// About 2 KB.
static SMALL: LazyLock<Bytes> = LazyLock::new(|| listing(9));
/// About 500 KB.
static LARGE: LazyLock<Bytes> = LazyLock::new(|| listing(2_350));
/// About 100 KB of JSON, as gzip.
static ZIPPED: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let _ = out.write_all(&listing(470));
    out.finish().unwrap_or_default().into()
});
/// About 30 KB.
static PAGE: LazyLock<Bytes> = LazyLock::new(|| page(100).into());

/// Whether the host is one of these.
pub fn serves(host: &str) -> bool {
    host.strip_suffix("load.test").is_some_and(|it| it.is_empty() || it.ends_with('.'))
}

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    let ok = |mime, body: &Bytes| wire::answer(StatusCode::OK, mime, body.clone());
    match ask.route() {
        ("GET", "/small.json") => ok(JSON, &SMALL),
        ("GET", "/large.json") => ok(JSON, &LARGE),
        ("GET", "/zipped.json") => wire::with(ok(JSON, &ZIPPED), "content-encoding", "gzip"),
        ("GET", "/page") => ok("text/html; charset=utf-8", &PAGE),
        ("GET", "/moved") => wire::redirect("/small.json"),
        ("POST", "/search") if ask.json()["query"].is_string() => ok(JSON, &SMALL),
        ("POST", "/search") => wire::missing("query"),
        _ => wire::not_found(),
    }
}

pub fn listing(items: u64) -> Bytes {
    let items: Vec<Value> = (0..items).map(item).collect();
    json!({ "total": items.len(), "page": 1, "items": items }).to_string().into()
}

fn item(n: u64) -> Value {
    let mut rng = SeededRng::new(&["load", &n.to_string()]);
    let title = rng.title("lantern");
    json!({
        "id": format!("SKU-{:05}", rng.between(0, 99_999)),
        "title": title,
        "description": rng.sentence("lantern"),
        "price": rng.cents(350, 19_900),
        "rating": rng.between(20, 50) as f64 / 10.0,
        "in_stock": rng.chance(80),
        "tags": [rng.pick(words::TAGS), rng.pick(words::TAGS)],
    })
}

fn page(items: u64) -> String {
    let mut out = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Load</title></head>\
         <body><header><nav><a href=\"/\">Home</a></nav></header><main><ul class=\"list\">\n",
    );
    for n in 0..items {
        let it = item(n);
        let text = |name: &str| wire::escape(it[name].as_str().unwrap_or_default());
        out += "<li class=\"card\"><a href=\"/p/";
        out += &text("id");
        out += "\"><h3 class=\"title\">";
        out += &text("title");
        out += "</h3></a><p class=\"text\">";
        out += &text("description");
        out += "</p><div class=\"foot\"><span class=\"price\">";
        out += &it["price"].to_string();
        out += " EUR</span><span class=\"rating\">";
        out += &it["rating"].to_string();
        out += "</span></div></li>\n";
    }
    out + "</ul></main><footer><p>That is all.</p></footer></body></html>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_of_the_sizes_that_are_said() {
        for (size, body) in [(2_000, &*SMALL), (500_000, &*LARGE), (30_000, &*PAGE)] {
            let share = body.len() as f64 / f64::from(size);
            assert!((0.8..1.3).contains(&share), "{size}: {}", body.len());
        }
        let mut text = String::new();
        let mut unzipped = flate2::read::GzDecoder::new(&ZIPPED[..]);
        std::io::Read::read_to_string(&mut unzipped, &mut text).unwrap();
        assert!((80_000..130_000).contains(&text.len()), "{}", text.len());
    }

    #[test]
    fn hosts_under_it_are_its_own() {
        for (host, own) in [
            ("load.test", true),
            ("s1.load.test", true),
            ("download.test", false),
            ("x.test", false),
        ] {
            assert_eq!(serves(host), own, "{host}");
        }
    }
}
