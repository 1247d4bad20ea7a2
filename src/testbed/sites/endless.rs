//! `endless.test`: answers that test the patience and the limits of a client.

use std::io::Write;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::stream;
use serde_json::{Value, json};

use crate::shell::{self, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::SeededRng;

const SITE: Site = Site {
    name: "Endless",
    description: "Answers of unusual size.",
    layout: Layout::Plain,
    nav: &[],
    main: "<h1>Nothing here ends well</h1>",
    script: ("", ""),
    extras: &[],
};

const DRIP: Duration = Duration::from_millis(300);
/// One minute of drips.
const DRIPS: u32 = 200;
const BOMB: usize = 10 << 20;
const BIG: usize = 1_500_000;
const MAX_DELAY: u64 = 120_000;

/// How long to wait before the answer begins.
pub fn delay(ask: &SiteRequest) -> Duration {
    let asked = ask.param("ms").and_then(|ms| ms.parse().ok()).unwrap_or(0);
    let ms: u64 = if ask.path == "/slow" { asked } else { 0 };
    Duration::from_millis(ms.min(MAX_DELAY))
}

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    if let Some(code) = ask.path.strip_prefix("/status/") {
        // Below 200 an answer is not final; the client would go on waiting.
        return match code.parse() {
            Ok(code @ 200..) => match StatusCode::from_u16(code) {
                Ok(status) => wire::json_status(status, &json!({ "status": code })),
                Err(_) => wire::missing("code"),
            },
            _ => wire::missing("code"),
        };
    }
    match ask.route() {
        ("GET", "/drip") => wire::text(StatusCode::OK, drip()),
        ("GET", "/bomb.gz") => {
            let response = wire::answer(StatusCode::OK, "application/json", bomb());
            wire::with(response, "content-encoding", "gzip")
        }
        ("GET", "/big.json") => wire::json(&big()),
        ("GET", "/loop") => wire::redirect("/loop"),
        ("GET", "/to-private") => wire::redirect("http://127.0.0.1/"),
        ("GET", "/to-metadata") => wire::redirect("http://169.254.169.254/"),
        // As a wall does that knows clients by their handshake: the connection breaks for all but browsers.
        ("GET", "/browsers-only") => match ask.header("user-agent") {
            Some(it) if it.starts_with("Mozilla/") => wire::json(&json!({ "browser": true })),
            _ => wire::text(StatusCode::OK, broken()),
        },
        ("GET", "/slow") => wire::json(&json!({ "waited_ms": delay(ask).as_millis() as u64 })),
        _ => shell::answer(&SITE, ask),
    }
}

fn drip() -> Body {
    Body::from_stream(stream::unfold(0, |sent| async move {
        if sent == DRIPS {
            return None;
        }
        tokio::time::sleep(DRIP).await;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from_static(b".")), sent + 1))
    }))
}

fn broken() -> Body {
    Body::from_stream(stream::iter([Err::<Bytes, _>(std::io::Error::other("gone"))]))
}

/// About 10 KB that unpack to ten megabytes.
fn bomb() -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to a Vec cannot fail.
    let _ = packer.write_all(&vec![0; BOMB]);
    packer.finish().unwrap_or_default()
}

fn big() -> Value {
    let mut items = Vec::new();
    let mut size = 0;
    while size < BIG {
        let mut rng = SeededRng::new(&["big", &items.len().to_string()]);
        let item = json!({
            "id": items.len(), "title": rng.title("large"), "text": rng.sentence("patient readers"),
            "owner": rng.person(),
        });
        size += item.to_string().len() + 1;
        items.push(item);
    }
    json!({ "items": items })
}
