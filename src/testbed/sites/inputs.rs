//! `cabins.test`, `bikes.test`, `boats.test`, `wines.test` and `stock.test`: values that are not
//! free text (days, numbers, choices, a key that comes twice).

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const CABINS: Site = Site {
    name: "Cabin Post",
    description: "Cabins by the night, stove included.",
    layout: Layout::Classic,
    nav: &["Cabins", "Lakes", "House rules"],
    main: r#"<h1>When will you come?</h1>
<form id="ask"><label>Arrival <input type="text" id="arrival" placeholder="YYYY-MM-DD"></label>
<label>Departure <input type="text" id="departure" placeholder="YYYY-MM-DD"></label> <button>Show cabins</button></form>
<p id="status" role="status"></p><div id="cabins"></div>"#,
    script: ("/js/cabins.js", include_str!("../pages/cabins.js")),
    extras: &[Extra::Tracker, Extra::Ads, Extra::Anonymous],
};

const BIKES: Site = Site {
    name: "Second Wheel",
    description: "Used bicycles, looked over by a mechanic.",
    layout: Layout::App,
    nav: &["City", "Touring", "Cargo"],
    main: r#"<h1>What may it cost?</h1>
<form id="ask"><label>Minimum price <input type="number" id="min"></label>
<label>Maximum price <input type="number" id="max"></label> <button>Show bicycles</button></form>
<p id="status" role="status"></p><div id="bikes"></div>"#,
    script: ("/app/bikes.js", include_str!("../pages/bikes.js")),
    extras: &[Extra::RemoteFlags, Extra::Locale, Extra::Recommended],
};

const BOATS: Site = Site {
    name: "Slipway",
    description: "Boats that float, for hire.",
    layout: Layout::Plain,
    nav: &["Sail", "Motor", "Licences"],
    main: r#"<h1>Hire a boat</h1>
<form id="ask"><label>Berths <input type="number" id="berths"></label>
<label>Budget per day <input type="number" id="budget"></label> <button>Search boats</button></form>
<p id="status" role="status"></p><div id="boats"></div>"#,
    script: ("/slipway.js", include_str!("../pages/boats.js")),
    extras: &[Extra::Pixel, Extra::Flags],
};

const WINES: Site = Site {
    name: "Cellar Door",
    description: "Wines by colour and sweetness.",
    layout: Layout::Classic,
    nav: &["Wines", "Growers", "Tastings"],
    main: r#"<h1>The cellar</h1>
<form id="ask"><label>Colour <select id="colour"><option value="red">Red</option><option value="white">White</option>
<option value="rose">Rosé</option><option value="orange">Orange</option></select></label>
<fieldset><legend>Sweetness</legend><label><input type="radio" name="taste" value="dry" checked> dry</label>
<label><input type="radio" name="taste" value="semi-dry"> semi-dry</label> <label><input type="radio" name="taste" value="sweet"> sweet</label>
</fieldset><button>Show wines</button></form>
<p id="status" role="status"></p><div id="wines"></div>"#,
    script: ("/js/cellar.js", include_str!("../pages/wines.js")),
    extras: &[Extra::Tracker, Extra::Trending, Extra::Me],
};

const STOCK: Site = Site {
    name: "Lightbox",
    description: "Pictures for posters, by tag.",
    layout: Layout::App,
    nav: &["Pictures", "Licences", "Upload"],
    main: r#"<h1>Two tags find it</h1>
<form id="ask"><label>First tag <input type="text" id="one"></label> <label>Second tag <input type="text" id="two"></label>
<button>Find pictures</button></form><p id="status" role="status"></p><div id="pictures"></div>"#,
    script: ("/bundle/lightbox.js", include_str!("../pages/stock.js")),
    extras: &[Extra::Flags, Extra::Anonymous, Extra::Tracker],
};

/// 422: the value is there but is none of its type.
fn mistyped(name: &str) -> Response {
    wire::error(StatusCode::UNPROCESSABLE_ENTITY, &format!("wrong type: {name}"))
}

pub fn cabins(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/availability") => match (ask.param("check_in"), ask.param("check_out")) {
            (None, _) => wire::missing("check_in"),
            (_, None) => wire::missing("check_out"),
            (Some(from), Some(to)) if !is_day(from) || !is_day(to) => {
                mistyped("check_in, check_out")
            }
            (Some(from), Some(to)) => wire::json(&free_cabins(from, to)),
        },
        _ => shell::answer(&CABINS, ask),
    }
}

/// `YYYY-MM-DD`
fn is_day(text: &str) -> bool {
    text.parse::<jiff::civil::Date>().is_ok()
}

fn free_cabins(from: &str, to: &str) -> Value {
    // Nobody stays a negative number of nights.
    let stay = if from < to { format!("{from} {to}") } else { "zzz".to_owned() };
    let found = words::search("cabins", &stay, 1, 12);
    let cabin = |(at, mut rng): (u64, SeededRng)| {
        json!({
            "id": format!("cabin-{at}"),
            "name": format!("{} {}", rng.pick(words::ADJECTIVES), rng.pick(words::NOUNS)),
            "lake": format!("Lake {}", rng.pick(words::LAST)),
            "beds": rng.between(2, 8),
            "night": rng.cents(4000, 19_000),
            "host": rng.person(),
            "free_until": rng.date(),
        })
    };
    let cabins: Vec<Value> = found.hits.into_iter().map(cabin).collect();
    json!({ "check_in": from, "check_out": to, "available": found.total, "cabins": cabins })
}

pub fn bikes(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/bikes") => {
            let bound = |name| ask.param(name).map(str::parse::<u32>);
            match (bound("min_price"), bound("max_price")) {
                (None, _) => wire::missing("min_price"),
                (_, None) => wire::missing("max_price"),
                (Some(Ok(low)), Some(Ok(high))) => wire::json(&bikes_between(low, high)),
                _ => mistyped("min_price, max_price"),
            }
        }
        _ => shell::answer(&BIKES, ask),
    }
}

fn bikes_between(low: u32, high: u32) -> Value {
    let range = if low <= high { format!("{low}-{high}") } else { "zzz".to_owned() };
    let found = words::search("bikes", &range, 1, 12);
    let bike = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "frame": format!("SW{:06}", rng.between(1, 999_999)),
            "model": format!("{} {}", rng.pick(words::ADJECTIVES), rng.pick(words::NOUNS)),
            "gears": rng.between(1, 27),
            "price": rng.between(i64::from(low), i64::from(high)),
            "mechanic": rng.name(),
            "checked": rng.date(),
        })
    };
    let bikes: Vec<Value> = found.hits.into_iter().map(bike).collect();
    json!({ "total": found.total, "bikes": bikes })
}

pub fn boats(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/api/boats/search") => {
            let body = ask.json();
            // A number in quotes is none.
            match (body["berths"].as_u64(), body["budget"]["per_day"].as_u64()) {
                (Some(berths), Some(per_day)) => wire::json(&boats_for(berths, per_day)),
                _ => mistyped("berths, budget.per_day"),
            }
        }
        _ => shell::answer(&BOATS, ask),
    }
}

fn boats_for(berths: u64, per_day: u64) -> Value {
    let found = words::search("boats", &format!("{berths} for {per_day}"), 1, 10);
    let boat = |(at, mut rng): (u64, SeededRng)| {
        json!({
            "registration": format!("SL-{:04}", rng.between(1, 9999)),
            "name": rng.title("sea"),
            "berths": berths + at % 2,
            "day_rate": rng.between(1, per_day.clamp(1, 1 << 20) as i64),
            "home_port": rng.pick(words::CITIES),
            "owner": rng.person(),
        })
    };
    let boats: Vec<Value> = found.hits.into_iter().map(boat).collect();
    json!({ "count": found.total, "boats": boats })
}

pub fn wines(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/wines") => {
            let colours = ["red", "white", "rose", "orange"];
            let tastes = ["dry", "semi-dry", "sweet"];
            match (ask.param("colour"), ask.param("taste")) {
                (Some(colour), Some(taste))
                    if colours.contains(&colour) && tastes.contains(&taste) =>
                {
                    wire::json(&wine_list(colour, taste))
                }
                _ => mistyped("colour, taste"),
            }
        }
        _ => shell::answer(&WINES, ask),
    }
}

fn wine_list(colour: &str, taste: &str) -> Value {
    let found = words::search("wines", &format!("{colour} {taste}"), 1, 12);
    let wine = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "label": format!("{} {}", rng.pick(words::ADJECTIVES), rng.pick(words::NOUNS)),
            "grower": rng.person(),
            "country": rng.pick(words::COUNTRIES),
            "vintage": rng.between(1998, 2024),
            "bottle": rng.cents(500, 9000),
            "tasting": rng.sentence("the evening"),
        })
    };
    let wines: Vec<Value> = found.hits.into_iter().map(wine).collect();
    json!({ "filters": { "colour": colour, "taste": taste }, "total": found.total, "wines": wines })
}

pub fn stock(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/pictures") => {
            let tags = ask.query.iter().filter(|(key, _)| key == "tag");
            let tags: Vec<&str> =
                tags.map(|(_, tag)| tag.trim()).filter(|tag| !tag.is_empty()).collect();
            if tags.is_empty() { wire::missing("tag") } else { wire::json(&pictures(&tags)) }
        }
        _ => shell::answer(&STOCK, ask),
    }
}

fn pictures(tags: &[&str]) -> Value {
    let none = tags.iter().any(|tag| tag.to_lowercase().starts_with("zzz"));
    let key = if none { "zzz".to_owned() } else { tags.join(" and ") };
    let found = words::search("pictures", &key, 1, 12);
    let picture = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "number": rng.between(100_000, 999_999),
            "caption": rng.title(tags[0]),
            "photographer": rng.person(),
            "licence": rng.pick(&["editorial", "commercial", "free"]),
            "pixels": { "width": rng.between(8, 60) * 100, "height": rng.between(8, 60) * 100 },
            "story": rng.sentence(&key),
        })
    };
    let pictures: Vec<Value> = found.hits.into_iter().map(picture).collect();
    json!({ "tags": tags, "total": found.total, "pictures": pictures })
}
