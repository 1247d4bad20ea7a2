//! Sites whose page does what nobody else can: `clipstream.test` signs its calls, `compass.test` makes none.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{page, rest};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

/// `clipstream.test`: parameters are sorted and digested with a key mixed from two texts of another call; these end.
pub fn clipstream(ask: &SiteRequest, state: &TestbedState) -> Response {
    let turn = state.turns("clipstream.test");
    let texts = [
        secret(&format!("clip left {turn}"))[..12].to_owned(),
        secret(&format!("clip right {turn}"))[..12].to_owned(),
    ];
    match ask.route() {
        ("GET", "/") => page(
            "Clipstream",
            r#"<h1>Search clips</h1><form id="ask"><label>Search <input id="q" type="search"></label><button>Search</button></form><p id="status" role="status"></p><ul id="clips"></ul>"#,
            include_str!("../pages/demand/clipstream.js"),
        ),
        ("GET", "/hello") => wire::json(&json!({ "left": texts[0], "right": texts[1] })),
        ("GET", "/search") => {
            let signed = |name: &str| ask.param(name).unwrap_or_default().to_owned();
            let text = format!("q={}&ts={}", signed("q"), signed("ts"));
            let key = mixed(&texts[0], &texts[1]);
            if ask.param("sig") != Some(&signature(&key, &text)) {
                return wire::error(StatusCode::FORBIDDEN, "bad signature");
            }
            wire::json(&json!({ "clips": clips(&signed("q")) }))
        }
        _ => rest(ask),
    }
}

/// The letters of two texts in turn.
fn mixed(left: &str, right: &str) -> String {
    left.chars().zip(right.chars()).flat_map(|(a, b)| [a, b]).collect()
}

/// What the page's script computes: FNV-1a of 32 bits, forwards and backwards.
fn signature(key: &str, text: &str) -> String {
    let digest = |bytes: &mut dyn Iterator<Item = u8>| {
        bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    };
    let all = format!("{key}|{text}");
    format!("{:08x}{:08x}", digest(&mut all.bytes()), digest(&mut all.bytes().rev()))
}

/// Clips that a word finds.
pub fn clips(query: &str) -> Value {
    let clip = |(_, mut rng): (u64, SeededRng)| json!({ "title": rng.title(query), "by": rng.name(), "seconds": rng.between(5, 600) });
    words::search("clips", query, 1, 12).hits.into_iter().map(clip).collect()
}

/// `compass.test`: geometry by script alone; a beacon tells how long the command was.
pub fn compass(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => page(
            "Compass",
            r#"<h1>Sketch</h1><form id="ask"><label>Command <input id="command"></label><button>Draw</button></form><p id="status" role="status"></p><svg id="sheet" width="300" height="200"></svg><ul id="objects"></ul>"#,
            include_str!("../pages/demand/compass.js"),
        ),
        ("POST", "/beacon") => wire::json(&json!({ "ok": true, "length": ask.json()["length"] })),
        _ => rest(ask),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_depends_on_key_and_text() {
        assert_eq!(mixed("abc", "xyz"), "axbycz");
        assert_ne!(signature("k", "q=a&ts=1"), signature("k", "q=b&ts=1"));
        assert_ne!(signature("k", "q=a&ts=1"), signature("l", "q=a&ts=1"));
    }
}
