//! `city.test`: a weather forecast whose parameter is a part of the path.

use axum::response::Response;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::wire::{self, SiteRequest};
use crate::words::{self, Dice};
use crate::world::TestbedState;

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
    let mut dice = Dice::new(&["weather", &place]);
    let day = |at: u32| {
        let mut dice = Dice::new(&["weather", &place, &at.to_string()]);
        let low = dice.between(-8, 18);
        json!({
            "date": format!("2025-06-{:02}", at + 1),
            "low": low,
            "high": low + dice.between(2, 14),
            "summary": format!("{} with {}", dice.pick(SKY), dice.pick(WIND)),
            "precipitation": { "chance": dice.between(0, 100), "mm": dice.cents(0, 2500) },
            "wind": { "speed": dice.between(0, 60), "direction": dice.pick(&["N", "E", "S", "W"]) },
        })
    };
    json!({
        "location": {
            "name": words::capitalised(city),
            "country": dice.pick(words::COUNTRIES),
            "latitude": dice.cents(3500, 6900),
            "longitude": dice.cents(-900, 3000),
        },
        "station": { "id": format!("ST{:04}", dice.between(1, 9999)), "operator": dice.person() },
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
