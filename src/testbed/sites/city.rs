//! `city.test`: a weather forecast whose parameter is a part of the path.

use axum::response::Response;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "Barometer",
    description: "Weather for towns and cities, seven days ahead.",
    layout: Layout::App,
    nav: &["Forecast", "Radar", "Pollen", "Stations"],
    main: include_str!("../pages/city.html"),
    script: ("/build/index-c41e.js", include_str!("../pages/city.js")),
    extras: &[Extra::Tracker, Extra::RemoteFlags, Extra::Locale, Extra::Me, Extra::Trending],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    let city = ask.path.strip_prefix("/api/weather/v2/").and_then(|p| p.strip_suffix("/forecast"));
    let Some(city) = city.filter(|_| ask.method == "GET") else {
        return shell::answer(&SITE, ask);
    };
    let city = percent_decode_str(city).decode_utf8_lossy();
    match city.trim() {
        "" => wire::missing("city"),
        city => wire::json(&forecast(city)),
    }
}

fn forecast(city: &str) -> Value {
    let place = city.to_lowercase();
    let mut rng = SeededRng::new(&["weather", &place]);
    let day = |at: u32| {
        let mut rng = SeededRng::new(&["weather", &place, &at.to_string()]);
        let low = rng.between(-8, 18);
        json!({
            "date": format!("2025-06-{:02}", at + 1),
            "low": low,
            "high": low + rng.between(2, 14),
            "summary": format!("{} with {}", rng.pick(SKY), rng.pick(WIND)),
            "precipitation": { "chance": rng.between(0, 100), "mm": rng.cents(0, 2500) },
            "wind": { "speed": rng.between(0, 60), "direction": rng.pick(&["N", "E", "S", "W"]) },
        })
    };
    json!({
        "location": {
            "name": words::capitalised(city),
            "country": rng.pick(words::COUNTRIES),
            "latitude": rng.cents(3500, 6900),
            "longitude": rng.cents(-900, 3000),
        },
        "station": { "id": format!("ST{:04}", rng.between(1, 9999)), "operator": rng.person() },
        "units": { "temperature": "C", "wind": "km/h" },
        "days": (0..7).map(day).collect::<Vec<_>>(),
    })
}

const SKY: &[&str] = &[
    "Clear morning",
    "Scattered clouds",
    "Steady rain",
    "Fog until noon",
    "Thunder late",
    "Thin high cloud",
    "Snow on the hills",
    "Sunny spells",
    "Drizzle",
    "Overcast",
];
const WIND: &[&str] = &[
    "a light breeze",
    "hardly any wind",
    "gusts from the sea",
    "a cold northerly",
    "a warm southerly",
    "strong squalls",
    "changing winds",
];
