//! What the pages of all sites share: the frame around them, and the traffic that a real page
//! causes besides its data (flags, translations, the signed-in user, recommendations, trackers).
//!
//! Each site picks its own mix, so that no two look alike on the network.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::pictures;
use super::wire::{self, SiteRequest, escape};
use super::words::{self, SeededRng};

/// The looks and habits of one site.
pub struct Site {
    pub name: &'static str,
    pub description: &'static str,
    pub layout: Layout,
    pub nav: &'static [&'static str],
    /// HTML of the start page's main part.
    pub main: &'static str,
    /// Where the site's own script lies, and its text. No path, no script.
    pub script: (&'static str, &'static str),
    pub extras: &'static [Extra],
}

#[derive(Clone, Copy)]
pub enum Layout {
    /// Header, main, side column, footer.
    Classic,
    /// An empty root that scripts fill, as single-page applications have it.
    App,
    /// Little more than text.
    Plain,
}

/// Traffic besides the data.
#[derive(Clone, Copy, PartialEq)]
pub enum Extra {
    /// Script of metrics.tracker.test, which sends beacons.
    Tracker,
    /// A 1x1 GIF of metrics.tracker.test.
    Pixel,
    /// Script of ads.adnet.test, which asks for bids.
    Ads,
    /// `GET /api/feature-flags`.
    Flags,
    /// Script of config.flagsrv.test, which fetches flags across origins.
    RemoteFlags,
    /// `GET /locales/en.json`.
    Locale,
    /// `GET /api/users/me`, 401.
    Me,
    /// `GET /api/users/me`, 200 and nobody in particular.
    Anonymous,
    /// `GET /api/trending`, a short list beside the content.
    Trending,
    /// `GET /api/recommendations`, a long rich list.
    Recommended,
    /// `GET /api/notifications/unread`, thrice.
    Heartbeat,
    /// `<link rel=prefetch>` of two pages.
    Prefetch,
}

const CLASSIC: &str = include_str!("pages/classic.html");
const APP: &str = include_str!("pages/app.html");
const PLAIN: &str = include_str!("pages/plain.html");
const PREFETCH: &str = r#"<link rel="prefetch" href="/help"><link rel="prefetch" href="/about">"#;
const STYLE: &str = include_str!("pages/style.css");

/// The start page.
pub fn home(site: &Site, ask: &SiteRequest) -> Response {
    page(site, ask, "", site.main)
}

/// A page with something more in its head and its own main part.
pub fn page(site: &Site, ask: &SiteRequest, head: &str, main: &str) -> Response {
    let layout = match site.layout {
        Layout::Classic => CLASSIC,
        Layout::App => APP,
        Layout::Plain => PLAIN,
    };
    let nav: String = site.nav.iter().map(|entry| link(entry)).collect();
    let prefetch = if site.extras.contains(&Extra::Prefetch) { PREFETCH } else { "" };
    // `main` and `head` go last: what they hold must not be taken for a placeholder.
    let html = layout
        .replace("{{name}}", site.name)
        .replace("{{description}}", site.description)
        .replace("{{host}}", &escape(&ask.host))
        .replace("{{nav}}", &nav)
        .replace("{{prefetch}}", prefetch)
        .replace("{{scripts}}", &scripts(site, &ask.host))
        .replace("{{head}}", head)
        .replace("{{main}}", main);
    wire::html(html)
}

fn link(entry: &str) -> String {
    format!(r#"<li><a href="/{}">{entry}</a></li>"#, words::slug(entry))
}

fn scripts(site: &Site, host: &str) -> String {
    let mut tags: Vec<&str> = site.extras.iter().map(|extra| tag(*extra)).collect();
    tags.push(r#"<script src="/js/start.4b1d.js"></script>"#);
    let (path, text) = site.script;
    let own = format!(r#"<script src="{path}"></script>"#);
    if !text.is_empty() {
        tags.push(&own);
    }
    tags.concat().replace("{{host}}", &escape(host))
}

/// What an extra adds to the page itself.
fn tag(extra: Extra) -> &'static str {
    match extra {
        Extra::Tracker => {
            r#"<script async src="//metrics.tracker.test/tag.js?property={{host}}"></script>"#
        }
        Extra::Pixel => {
            r#"<img src="//metrics.tracker.test/pixel.gif?page={{host}}&amp;v=3" width="1" height="1" alt="">"#
        }
        Extra::Ads => r#"<script async src="//ads.adnet.test/loader.js"></script>"#,
        Extra::RemoteFlags => {
            r#"<script async src="//config.flagsrv.test/sdk.js" data-project="{{host}}"></script>"#
        }
        _ => "",
    }
}

/// The script that causes the same-host extras.
fn start_script(site: &Site) -> String {
    let part = |extra: &Extra| match extra {
        Extra::Flags => include_str!("pages/flags.js"),
        Extra::Locale => include_str!("pages/locale.js"),
        Extra::Me | Extra::Anonymous => include_str!("pages/me.js"),
        Extra::Trending => include_str!("pages/trending.js"),
        Extra::Recommended => include_str!("pages/recommended.js"),
        Extra::Heartbeat => include_str!("pages/heartbeat.js"),
        _ => "",
    };
    site.extras.iter().map(part).collect()
}

/// Everything that a site does not answer itself: start page, assets, extras, plain pages.
pub fn answer(site: &Site, ask: &SiteRequest) -> Response {
    let has = |extra| site.extras.contains(&extra);
    match ask.route() {
        ("GET", "/") => home(site, ask),
        ("GET", "/js/start.4b1d.js") => wire::script(start_script(site)),
        ("GET", path) if path == site.script.0 => wire::script(site.script.1),
        ("GET", "/css/site.css") => wire::answer(StatusCode::OK, "text/css", STYLE),
        ("GET", "/favicon.ico") => picture(&ask.host),
        ("GET", "/manifest.webmanifest") => wire::json(&json!({ "name": site.name, "icons": [] })),
        ("GET", path) if path.starts_with("/img/") => picture(path),
        ("GET", path) if path.starts_with("/fonts/") => font(path),
        ("GET", "/api/feature-flags") if has(Extra::Flags) => wire::json(&flags(&ask.host)),
        ("GET", "/locales/en.json") if has(Extra::Locale) => wire::json(&locale(site.name)),
        ("GET", "/api/users/me") if has(Extra::Me) => {
            wire::error(StatusCode::UNAUTHORIZED, "not signed in")
        }
        ("GET", "/api/users/me") if has(Extra::Anonymous) => {
            wire::json(&json!({ "user": null, "anonymous": true, "locale": "en", "roles": [] }))
        }
        ("GET", "/api/trending") if has(Extra::Trending) => wire::json(&trending(&ask.host)),
        ("GET", "/api/recommendations") if has(Extra::Recommended) => {
            wire::json(&recommended(&ask.host))
        }
        ("GET", "/api/notifications/unread") if has(Extra::Heartbeat) => {
            wire::json(&json!({ "unread": 0, "next_poll_ms": 1500 }))
        }
        ("GET", path) if is_plain_page(site, path) => {
            let topic = path.trim_start_matches('/');
            let mut rng = SeededRng::new(&[&ask.host, path]);
            let text = [(); 6].map(|()| rng.sentence(topic)).join("</p><p>");
            page(site, ask, "", &format!("<h1>{}</h1><p>{text}</p>", words::capitalised(topic)))
        }
        _ => wire::not_found(),
    }
}

fn is_plain_page(site: &Site, path: &str) -> bool {
    let known = ["/help", "/about", "/privacy", "/terms", "/contact", "/careers"];
    let is = |entry: &&str| path.strip_prefix('/') == Some(&words::slug(entry));
    known.contains(&path) || site.nav.iter().any(is)
}

fn picture(label: &str) -> Response {
    let [r, g, b, ..] = SeededRng::new(&[label]).roll().to_le_bytes();
    let png = wire::answer(StatusCode::OK, "image/png", pictures::png([r, g, b]));
    wire::with(png, "cache-control", "public, max-age=86400")
}

/// Fetched like a font; its contents are none, so browsers fall back to their own.
fn font(path: &str) -> Response {
    let mut rng = SeededRng::new(&[path]);
    let noise = (0..512).flat_map(|_| rng.roll().to_le_bytes());
    let file: Vec<u8> = b"wOF2".iter().copied().chain(noise).collect();
    wire::answer(StatusCode::OK, "font/woff2", file)
}

fn flags(host: &str) -> Value {
    let mut rng = SeededRng::new(&["flags", host]);
    let names = ["new_header", "fast_checkout", "dark_mode", "search_v2", "chat", "beta_badge"];
    let flag = |name: &str| json!({ "key": name, "enabled": rng.chance(50), "variant": "a" });
    json!({ "flags": names.map(flag), "ttl": 300 })
}

fn locale(name: &str) -> Value {
    json!({
        "locale": "en",
        "messages": {
            "search.button": "Search", "search.empty": "Nothing found", "search.results": "results for",
            "footer.privacy": "Privacy", "footer.terms": "Terms", "footer.contact": "Contact",
            "welcome": format!("Welcome to {name}"), "cookies.accept": "Accept all",
            "errors.network": "Please try again", "items.one": "item", "items.other": "items",
        }
    })
}

fn trending(host: &str) -> Value {
    let topic = |at: u32| {
        let mut rng = SeededRng::new(&["trending", host, &at.to_string()]);
        let title = rng.title("weekly");
        json!({ "rank": at, "title": title, "url": format!("/t/{}", words::slug(&title)),
                "views": rng.between(900, 90_000) })
    };
    json!({ "window": "7d", "topics": (1..=6).map(topic).collect::<Vec<_>>() })
}

/// Richer than what any search here returns, and unrelated to it.
fn recommended(host: &str) -> Value {
    let item = |at: u32| {
        let mut rng = SeededRng::new(&["recommended", host, &at.to_string()]);
        let title = rng.title("editor's");
        json!({
            "id": format!("rec-{:05}", rng.between(1, 99_999)),
            "title": title,
            "subtitle": rng.sentence("everyone"),
            "description": rng.sentence("readers like you"),
            "url": format!("/r/{}", words::slug(&title)),
            "price": { "amount": rng.cents(300, 25_000), "currency": "EUR", "was": rng.cents(300, 30_000) },
            "rating": { "average": rng.cents(200, 500), "count": rng.between(1, 4000) },
            "author": rng.person(),
            "owner": { "team": rng.person(), "city": rng.pick(words::CITIES) },
            "tags": [rng.pick(words::TAGS), rng.pick(words::TAGS), rng.pick(words::TAGS)],
            "images": [{ "src": format!("/img/rec-{at}.png"), "width": 16, "height": 16 }],
            "published": rng.date(),
            "score": rng.cents(1, 100),
        })
    };
    json!({ "slot": "home", "model": "popular-v3", "items": (1..=24).map(item).collect::<Vec<_>>() })
}
