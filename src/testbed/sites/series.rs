//! Lists that go on in four more ways: `quarry.test` says the next page in a `Link` header, `orrery.test` is a GraphQL connection,
//! `ledgers.test` is asked as DataTables asks, and `hallmarks.test` loads more by a POST.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const QUARRY: Site = Site {
    name: "Old Quarry",
    description: "Blocks of stone, sawn and rough.",
    layout: Layout::Classic,
    nav: &["Blocks", "Slabs", "Carriage"],
    main: r#"<h1>Blocks in the yard</h1>
<form id="ask"><label>Stone <input type="text" id="q"></label> <button>Show blocks</button></form>
<p id="status" role="status"></p><ul id="rows"></ul><button id="more" type="button" hidden>More blocks</button>"#,
    script: ("/js/quarry.js", include_str!("../pages/quarry.js")),
    extras: &[Extra::Locale, Extra::Tracker],
};

const ORRERY: Site = Site {
    name: "The Orrery",
    description: "Bodies that were seen from the hill.",
    layout: Layout::App,
    nav: &["Bodies", "Nights", "Lenses"],
    main: r#"<h1>Seen from the hill</h1>
<form id="ask"><label>Constellation <input type="text" id="q"></label> <button>Show bodies</button></form>
<p id="status" role="status"></p><ul id="rows"></ul><button id="more" type="button" hidden>More bodies</button>"#,
    script: ("/js/orrery.js", include_str!("../pages/orrery.js")),
    extras: &[Extra::Flags, Extra::Anonymous],
};

const LEDGERS: Site = Site {
    name: "Guild Ledgers",
    description: "What the guilds wrote down.",
    layout: Layout::Classic,
    nav: &["Ledgers", "Guilds", "Scripts"],
    main: r#"<h1>Entries of the guilds</h1>
<form id="ask"><label>Trade <input type="text" id="q"></label> <button>Show entries</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Year</th><th>Entry</th><th>Clerk</th><th>Shillings</th></tr></thead><tbody id="rows"></tbody></table>
<button id="more" type="button" hidden>Next entries</button>"#,
    script: ("/js/ledgers.js", include_str!("../pages/ledgers.js")),
    extras: &[Extra::Locale, Extra::Anonymous],
};

const HALLMARKS: Site = Site {
    name: "Hallmarks",
    description: "Silver by its marks.",
    layout: Layout::App,
    nav: &["Pieces", "Marks", "Towns"],
    main: r#"<h1>Silver by maker</h1>
<form id="ask"><label>Maker <input type="text" id="q"></label> <button>Show pieces</button></form>
<p id="status" role="status"></p><ul id="rows"></ul><button id="more" type="button" hidden>Load more pieces</button>"#,
    script: ("/js/hallmarks.js", include_str!("../pages/hallmarks.js")),
    extras: &[Extra::Tracker, Extra::Flags],
};

const PAGE: u64 = 7;

/// The number of the page whose first item stands behind so many others.
const fn page_after(skipped: u64) -> u64 {
    skipped / PAGE + 1
}

pub fn quarry(ask: &SiteRequest, _: &TestbedState) -> Response {
    let ("GET", "/api/blocks") = ask.route() else { return shell::answer(&QUARRY, ask) };
    let Some(stone) = ask.param("stone") else { return wire::missing("stone") };
    let page = ask.number("page", 1, 100);
    let found = words::search("blocks", stone, page, PAGE);
    let block = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "mark": format!("Q{:04}", rng.between(1, 9999)),
            "title": rng.title(stone),
            "face": rng.pick(&["rough", "sawn", "honed", "split"]),
            "tonnes": rng.cents(50, 900),
            "mason": rng.name(),
        })
    };
    let blocks: Vec<Value> = found.hits.into_iter().map(block).collect();
    let out = wire::with(wire::json(&json!(blocks)), "x-total-count", &found.total.to_string());
    if page >= found.pages {
        return out;
    }
    let stone: String = url::form_urlencoded::byte_serialize(stone.as_bytes()).collect();
    let at = |page: u64| format!("<http://quarry.test/api/blocks?stone={stone}&page={page}>");
    let link = format!("{}; rel=\"next\", {}; rel=\"last\"", at(page + 1), at(found.pages));
    wire::with(out, "link", &link)
}

pub fn orrery(ask: &SiteRequest, _: &TestbedState) -> Response {
    let ("POST", "/graphql") = ask.route() else { return shell::answer(&ORRERY, ask) };
    let asked = ask.json();
    if !asked["query"].as_str().is_some_and(|it| it.contains("bodies(")) {
        return wire::json(&json!({"errors": [{"message": "Must provide query string."}]}));
    }
    let variables = &asked["variables"];
    let Some(sky) = variables["sky"].as_str() else {
        return wire::json(&json!({"errors": [{"message": "Variable \"$sky\" is required"}]}));
    };
    let of = |page: u64| secret(&format!("orrery {} {page}", sky.to_lowercase()))[..24].to_owned();
    let page = match variables["after"].as_str() {
        None => 1,
        Some(given) => match (1..=10).find(|page| of(*page) == given) {
            Some(page) => page + 1,
            None => return wire::json(&json!({"errors": [{"message": "Invalid cursor"}]})),
        },
    };
    let found = words::search("bodies", sky, page, PAGE);
    let edge = |(_, mut rng): (u64, SeededRng)| {
        json!({"node": {
            "name": rng.title("body"),
            "class": rng.pick(&["star", "nebula", "comet", "cluster"]),
            "magnitude": rng.cents(10, 1800),
            "observer": {"name": rng.name()},
            "night": rng.date(),
        }})
    };
    let edges: Vec<Value> = found.hits.into_iter().map(edge).collect();
    let page_info = json!({"hasNextPage": page < found.pages, "endCursor": of(page)});
    wire::json(&json!({"data": {"bodies": {
        "totalCount": found.total, "edges": edges, "pageInfo": page_info,
    }}}))
}

pub fn ledgers(ask: &SiteRequest, _: &TestbedState) -> Response {
    let ("GET", "/entries.json") = ask.route() else { return shell::answer(&LEDGERS, ask) };
    let trade = ask.param("search[value]").unwrap_or_default();
    let found = words::search("ledger", trade, page_after(ask.number("start", 0, 10_000)), PAGE);
    let entry = |(at, mut rng): (u64, SeededRng)| {
        json!({
            "DT_RowId": format!("row-{at}"),
            "year": rng.between(1490, 1780),
            "entry": rng.sentence(trade),
            "clerk": rng.name(),
            "shillings": rng.between(1, 900),
        })
    };
    wire::json(&json!({
        "draw": ask.number("draw", 1, 1_000_000),
        "recordsTotal": 48_211,
        "recordsFiltered": found.total,
        "data": found.hits.into_iter().map(entry).collect::<Vec<_>>(),
    }))
}

pub fn hallmarks(ask: &SiteRequest, _: &TestbedState) -> Response {
    let ("POST", "/api/pieces/search") = ask.route() else {
        return shell::answer(&HALLMARKS, ask);
    };
    let asked = ask.json();
    let Some(maker) = asked["maker"].as_str() else { return wire::missing("maker") };
    let skipped = asked["skip"].as_u64().unwrap_or(0).min(10_000);
    let found = words::search("pieces", maker, page_after(skipped), PAGE);
    let piece = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "lot": format!("H-{}", rng.between(1000, 9999)),
            "title": rng.title("bowl"),
            "town": rng.pick(words::CITIES),
            "year": rng.between(1660, 1890),
            "ounces": rng.cents(20, 900),
        })
    };
    let pieces: Vec<Value> = found.hits.into_iter().map(piece).collect();
    wire::json(&json!({"count": found.total, "pieces": pieces}))
}
