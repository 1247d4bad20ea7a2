//! The parts that learning and running are made of, each by itself: a regression has a name.
//!
//! `cargo bench --bench parts`

use std::{collections::BTreeMap, hint::black_box};

use commis_measure::parts::{
    CompiledExtractor, Egress, RawSession, RedactedSession, TaskStore, shape,
};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};

const MB: usize = 1 << 20;

/// One thing in a list, as shops give it.
fn item(n: usize) -> Value {
    json!({
        "id": format!("SKU-{n:06}"),
        "title": format!("Brass lantern number {n}"),
        "description": "A lantern for the porch, with a handle that folds and glass on four sides.",
        "price": { "amount": 1999 + n, "currency": "EUR" },
        "rating": 4.5,
        "in_stock": true,
        "tags": ["garden", "light"],
        "seller": { "name": "Tidewater Supply", "city": "Emden" },
    })
}

/// A listing of at least so many bytes.
fn listing(bytes: usize) -> Value {
    let each = item(100_000).to_string().len() + 1;
    let items: Vec<Value> = (0..bytes.div_ceil(each)).map(item).collect();
    json!({ "total": items.len(), "items": items })
}

/// A HAR of so many exchanges, each answered with a listing of so many bytes; one of them is the search.
fn har(exchanges: usize, body: usize) -> Vec<u8> {
    let listing = listing(body).to_string();
    let entries: Vec<Value> = (0..exchanges).map(|n| entry(n, exchanges, &listing)).collect();
    json!({ "log": { "version": "1.2", "creator": { "name": "bench", "version": "1" }, "entries": entries } })
        .to_string()
        .into_bytes()
}

fn entry(n: usize, exchanges: usize, listing: &str) -> Value {
    let url = if n == exchanges / 2 {
        "https://shop.example/api/search?q=lantern&page=1".to_owned()
    } else {
        format!("https://shop.example/api/part-{n}?lang=en&v={n}")
    };
    json!({
        "startedDateTime": "2026-01-05T10:00:00.000Z",
        "time": 12,
        "request": {
            "method": "GET",
            "url": url,
            "httpVersion": "HTTP/2",
            "headers": [
                { "name": "accept", "value": "application/json" },
                { "name": "cookie", "value": format!("session=9f8e7d6c5b4a39281706f5e4d3c2b1a{n:03}") },
            ],
            "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0,
        },
        "response": {
            "status": 200, "statusText": "OK", "httpVersion": "HTTP/2",
            "headers": [{ "name": "content-type", "value": "application/json" }],
            "cookies": [], "redirectURL": "", "headersSize": -1, "bodySize": listing.len(),
            "content": { "size": listing.len(), "mimeType": "application/json", "text": listing },
        },
        "cache": {},
        "timings": { "send": 0, "wait": 10, "receive": 2 },
    })
}

fn raw(har: &[u8]) -> RawSession {
    let typed = BTreeMap::from([("query".to_owned(), "lantern".to_owned())]);
    RawSession::read(har, "Search for lantern", typed).expect("the HAR is one")
}

fn recorded(exchanges: usize, body: usize) -> RedactedSession {
    let out = raw(&har(exchanges, body)).redact();
    assert_eq!(out.exchanges(), exchanges);
    out
}

fn egress(c: &mut Criterion) {
    let egress = Egress::new().expect("a policy");
    let mut group = c.benchmark_group("canonicalise_and_pin");
    for (name, url) in [
        ("plain", "https://shop.test/api/search?q=lantern&page=1"),
        ("idn", "https://B\u{fc}cher.TEST/%7Ea/../suche?q=l%C3%A4mpchen#top"),
        ("address", "https://93.184.215.14/"),
    ] {
        assert!(egress.pin(url).is_some(), "{url}");
        group.bench_function(name, |b| b.iter(|| egress.pin(black_box(url))));
    }
    group.finish();
}

fn redact(c: &mut Criterion) {
    let har = har(1, MB);
    let mut group = c.benchmark_group("redact");
    group.sample_size(20).throughput(Throughput::Bytes(MB as u64));
    group.bench_function("1_mb", |b| {
        b.iter_batched(|| raw(&har), RawSession::redact, BatchSize::PerIteration);
    });
    group.finish();
}

fn shapes(c: &mut Criterion) {
    let value = listing(MB);
    assert!(shape(&value) > 8);
    let mut group = c.benchmark_group("shape");
    group.sample_size(20).throughput(Throughput::Bytes(MB as u64));
    group.bench_function("1_mb", |b| b.iter(|| shape(black_box(&value))));
    group.finish();
}

fn rank(c: &mut Criterion) {
    let recorded = recorded(500, 4096);
    assert!(recorded.rank());
    let mut group = c.benchmark_group("rank");
    group.sample_size(20);
    group.bench_function("500_exchanges", |b| b.iter(|| recorded.rank()));
    group.finish();
}

fn extract(c: &mut Criterion) {
    let recipe = |response: &str| {
        let text = format!(
            "version: 1\nname: bench\ntask: List\nstatus: draft\nsource_url: https://shop.test/\n\
             request: {{ method: GET, url: 'https://shop.test/', allowed_domains: [shop.test] }}\nresponse: {response}\n"
        );
        CompiledExtractor::compile(&text).expect("a recipe")
    };
    let fields =
        recipe("{ type: json, extract: 'items[].{id: id, title: title, price: price.amount}' }");
    let whole = recipe("{ type: json, extract: items }");
    let markup =
        recipe("{ type: html, html: { items: li.card, fields: { title: h3, link: 'a@href' } } }");
    let small = listing(2048).to_string();
    let large = listing(500 * 1024).to_string();
    let card = "<li class=card><a href=/p/1><h3>Brass lantern</h3></a><p>A lantern for the porch.</p></li>";
    let page = format!("<!doctype html><body><ul>{}</ul>", card.repeat(300));
    let mut group = c.benchmark_group("extract");
    group.sample_size(20);
    for (name, reading, mime, body) in [
        ("fields_2_kb", &fields, "application/json", &small),
        ("fields_500_kb", &fields, "application/json", &large),
        ("list_500_kb", &whole, "application/json", &large),
        ("html_300_items", &markup, "text/html", &page),
    ] {
        assert!(reading.apply(mime, body.as_bytes()) > Some(0), "{name}");
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_function(name, |b| b.iter(|| reading.apply(mime, black_box(body.as_bytes()))));
    }
    group.finish();
}

fn artifact(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let shelf = TaskStore::new(folder.path().to_owned()).expect("a store");
    let recorded = recorded(50, 16 * 1024);
    assert!(shelf.write(&recorded));
    let mut group = c.benchmark_group("artifact_write");
    group.sample_size(20);
    group.bench_function("50_exchanges", |b| b.iter(|| shelf.write(&recorded)));
    group.finish();
}

criterion_group!(parts, egress, redact, shapes, rank, extract, artifact);
criterion_main!(parts);
