//! Sites that ask more than once for one thing. Of some the second request needs the first one's answer: `relics.test` (three calls),
//! `plates.test` (an address), `quarries.test` (a call for each item), `sluice.test` and `weirs.test` (a token in a header). Of the
//! others it only looks so: what stands in both was typed, is the same for everybody, or is not looked at by the server.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::demand::{SCRIPT, page, rest};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

/// A page with one field, and a table below it that `act` fills.
fn form_page(title: &str, label: &str, columns: &[&str], act: &str) -> Response {
    let heads = format!("<th>{}</th>", columns.join("</th><th>"));
    let main = format!(
        "<h1>{title}</h1><form id=\"ask\"><label>{label} <input id=\"q\"></label><button>Show</button></form>\
         <p id=\"status\" role=\"status\"></p><table><thead><tr>{heads}</tr></thead><tbody id=\"rows\"></tbody></table>"
    );
    let script = format!(
        "{SCRIPT}\nconst typed = () => document.getElementById('q').value.trim();\n\
         const get = async (path, query, headers) => (await fetch(path + (query ? '?' + new URLSearchParams(query) : ''), {{ headers }})).json();\n{act}"
    );
    page(title, &main, &script)
}

/// Rows of a kind of thing about a word.
fn rows<const N: usize>(
    kind: &str,
    of: &str,
    row: impl Fn(&mut SeededRng) -> [(&'static str, Value); N],
) -> Value {
    let count = 5 + SeededRng::new(&["rows", kind, of]).roll() % 8;
    let row = |n: u64| {
        let mut rng = SeededRng::new(&[kind, of, &n.to_string()]);
        Value::Object(row(&mut rng).into_iter().map(|it| (it.0.to_owned(), it.1)).collect())
    };
    (1..=count).map(row).collect()
}

/// `relics.test`: a saint's name leads to a key, the key to the inventory that counts today, and that to its entries.
pub fn relics(ask: &SiteRequest, _: &TestbedState) -> Response {
    let of_key = ask.path.strip_prefix("/saints/").and_then(|it| it.strip_suffix("/inventories"));
    if let ("GET", Some(key)) = (&*ask.method, of_key) {
        let edition = |n: u64| secret(&format!("inventory {n} of {key}"))[..10].to_owned();
        return wire::json(&json!({ "current": edition(2), "withdrawn": [edition(1)] }));
    }
    if let ("GET", Some(edition)) = (&*ask.method, ask.path.strip_prefix("/inventories/")) {
        let entry = |rng: &mut SeededRng| {
            [
                ("piece", rng.title("bone").into()),
                ("kept_in", rng.pick(words::CITIES).into()),
                ("first_listed", rng.date().into()),
            ]
        };
        return wire::json(&json!({ "entries": rows("relic", edition, entry) }));
    }
    match ask.route() {
        ("GET", "/") => form_page(
            "Relics",
            "Saint",
            &["Piece", "Kept in", "First listed"],
            r"onAsk(async () => {
  const { key } = await get('/saints', { named: typed() });
  const { current } = await get(`/saints/${key}/inventories`);
  const { entries } = await get('/inventories/' + current);
  fill('rows', entries.map(it => [it.piece, it.kept_in, it.first_listed]));
  say('Relics of ' + typed());
});",
        ),
        ("GET", "/saints") => match ask.param("named") {
            Some(name) => wire::json(&json!({ "key": &secret(&format!("saint {name}"))[..12] })),
            None => wire::missing("named"),
        },
        _ => rest(ask),
    }
}

/// `plates.test`: what is found says at which address its plates lie, with a signature that nobody else can make.
pub fn plates(ask: &SiteRequest, state: &TestbedState) -> Response {
    if let ("GET", Some(plate)) = (&*ask.method, ask.path.strip_prefix("/plates/")) {
        let is_known = |it| state.knows_session("plates.test", it);
        if !ask.param("signature").is_some_and(is_known) {
            return wire::error(StatusCode::FORBIDDEN, "not signed");
        }
        let colour = |rng: &mut SeededRng| {
            [
                ("colour", rng.title("ink").into()),
                ("plate", rng.between(1, 9).into()),
                ("maker", rng.name().into()),
            ]
        };
        return wire::json(&rows("plate", plate, colour));
    }
    match ask.route() {
        ("GET", "/") => form_page(
            "Plates",
            "Print",
            &["Colour", "Plate", "Maker"],
            r"onAsk(async () => {
  const { found } = await get('/api/prints', { title: typed() });
  const plates = await (await fetch(found.address)).json();
  fill('rows', plates.map(it => [it.colour, it.plate, it.maker]));
  say('Plates of ' + typed());
});",
        ),
        ("GET", "/api/prints") => match ask.param("title") {
            Some(title) => {
                let plate = &secret(&format!("print {title}"))[..12];
                let signature = state.open_session("plates.test");
                let address = format!("/plates/{plate}?part=all&signature={signature}");
                wire::json(&json!({ "found": { "title": title, "address": address } }))
            }
            None => wire::missing("title"),
        },
        _ => rest(ask),
    }
}

/// `quarries.test`: the first answer lists numbers alone, and the page asks for each.
pub fn quarries(ask: &SiteRequest, _: &TestbedState) -> Response {
    if let ("GET", Some(number)) = (&*ask.method, ask.path.strip_prefix("/api/quarries/")) {
        let mut rng = SeededRng::new(&["quarry", number]);
        return wire::json(&json!({
            "name": rng.title("quarry"),
            "depth_m": rng.between(8, 210),
            "owner": rng.name(),
        }));
    }
    match ask.route() {
        ("GET", "/") => form_page(
            "Quarries",
            "Stone",
            &["Quarry", "Depth", "Owner"],
            r"onAsk(async () => {
  const numbers = await get('/api/quarries', { stone: typed() });
  const quarries = await Promise.all(numbers.map(it => get('/api/quarries/' + it)));
  fill('rows', quarries.map(it => [it.name, it.depth_m, it.owner]));
  say('Quarries of ' + typed());
});",
        ),
        ("GET", "/api/quarries") => match ask.param("stone") {
            Some(stone) => {
                let count = 5 + SeededRng::new(&["quarries", stone]).roll() % 5;
                let number = |n: u64| {
                    20_000 + SeededRng::new(&["quarries", stone, &n.to_string()]).roll() % 70_000
                };
                wire::json(&(1..=count).map(number).collect())
            }
            None => wire::missing("stone"),
        },
        _ => rest(ask),
    }
}

/// `sluice.test` and `weirs.test`: the page gets a token in a header, and sends it in one. Without it nothing is given. The name of the
/// header says only at `weirs.test` that it is a secret.
pub fn sluice(ask: &SiteRequest, state: &TestbedState) -> Response {
    let header = if ask.host == "weirs.test" { "x-session-token" } else { "x-visit" };
    match ask.route() {
        ("GET", "/") => {
            let act = r"const greeted = fetch('/api/hello').then(it => it.headers.get('HEADER'));
onAsk(async () => {
  const found = await get('/api/sluices', { canal: typed() }, { 'HEADER': await greeted });
  fill('rows', found.sluices.map(it => [it.sluice, it.opens, it.keeper]));
  say('Sluices of ' + typed());
});"
            .replace("HEADER", header);
            form_page("Sluices", "Canal", &["Sluice", "Opens", "Keeper"], &act)
        }
        ("GET", "/api/hello") => {
            let visit = state.open_session(&ask.host);
            wire::with(wire::json(&json!({ "welcome": true })), header, &visit)
        }
        ("GET", "/api/sluices") => {
            if !ask.header(header).is_some_and(|it| state.knows_session(&ask.host, it)) {
                return wire::error(StatusCode::FORBIDDEN, "say hello first");
            }
            let sluice = |rng: &mut SeededRng| {
                [
                    ("sluice", rng.title("sluice").into()),
                    ("opens", format!("{:02}:30", rng.between(4, 9)).into()),
                    ("keeper", rng.name().into()),
                ]
            };
            match ask.param("canal") {
                Some(canal) => wire::json(&json!({ "sluices": rows("sluice", canal, sluice) })),
                None => wire::missing("canal"),
            }
        }
        _ => rest(ask),
    }
}

/// `mosses.test`: the first answer repeats what was typed, and the page sends that repetition.
pub fn mosses(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => form_page(
            "Mosses",
            "Place",
            &["Moss", "Seen", "By"],
            r"onAsk(async () => {
  const { read_as } = await get('/api/spelling', { text: typed() });
  const { mosses } = await get('/api/mosses', { place: read_as });
  fill('rows', mosses.map(it => [it.moss, it.seen, it.by]));
  say('Mosses of ' + typed());
});",
        ),
        ("GET", "/api/spelling") => {
            let text = ask.param("text").unwrap_or_default();
            wire::json(&json!({ "read_as": text, "language": "en", "sure": 0.98 }))
        }
        ("GET", "/api/mosses") => {
            let moss = |rng: &mut SeededRng| {
                [
                    ("moss", rng.title("moss").into()),
                    ("seen", rng.date().into()),
                    ("by", rng.name().into()),
                ]
            };
            match ask.param("place") {
                Some(place) => wire::json(&json!({ "mosses": rows("moss", place, moss) })),
                None => wire::missing("place"),
            }
        }
        _ => rest(ask),
    }
}

/// `lenses.test`: each visitor gets a number that the page sends along. The server counts by it, and gives the same without.
pub fn lenses(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => form_page(
            "Lenses",
            "Maker",
            &["Lens", "Focal length", "Price"],
            r"const visitor = get('/api/visitor').then(it => it.visitor);
onAsk(async () => {
  const { lenses } = await get('/api/lenses', { maker: typed(), visitor: await visitor });
  fill('rows', lenses.map(it => [it.lens, it.mm, it.price]));
  say('Lenses of ' + typed());
});",
        ),
        ("GET", "/api/visitor") => {
            wire::json(&json!({ "visitor": &state.open_session("lenses.test")[..16] }))
        }
        ("GET", "/api/lenses") => {
            let lens = |rng: &mut SeededRng| {
                [
                    ("lens", rng.title("lens").into()),
                    ("mm", rng.between(12, 600).into()),
                    ("price", rng.cents(9_900, 420_000).into()),
                ]
            };
            match ask.param("maker") {
                Some(maker) => wire::json(&json!({ "lenses": rows("lens", maker, lens) })),
                None => wire::missing("maker"),
            }
        }
        _ => rest(ask),
    }
}

/// Clocks that `clocks.test` gives at most, and towers that its first answer counts.
const CLOCKS: u64 = 24;

/// `clocks.test`: an earlier answer counts as many towers as the page asks clocks for.
pub fn clocks(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => form_page(
            "Tower clocks",
            "Founder",
            &["Clock", "Tower", "Made"],
            r"get('/api/summary').then(it => say(`${it.towers} towers, ${it.clocks} clocks`));
onAsk(async () => {
  const { clocks } = await get('/api/clocks', { founder: typed(), most: 24 });
  fill('rows', clocks.map(it => [it.clock, it.tower, it.made]));
  say('Clocks of ' + typed());
});",
        ),
        ("GET", "/api/summary") => wire::json(&json!({ "towers": CLOCKS, "clocks": 412 })),
        ("GET", "/api/clocks") => {
            let clock = |rng: &mut SeededRng| {
                [
                    ("clock", rng.title("clock").into()),
                    ("tower", rng.pick(words::CITIES).into()),
                    ("made", rng.between(1500, 1900).into()),
                ]
            };
            match (ask.param("founder"), ask.number("most", 3, CLOCKS)) {
                (Some(founder), most) => {
                    let all = rows("clock", founder, clock);
                    let shown = all.as_array().into_iter().flatten().take(most as usize);
                    wire::json(&json!({ "clocks": shown.collect::<Vec<_>>() }))
                }
                (None, _) => wire::missing("founder"),
            }
        }
        _ => rest(ask),
    }
}

/// `seals.test`: the page reads its settings first, and sends two of them. They are the same for everybody, and needed.
pub fn seals(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => form_page(
            "Seals",
            "Bearer",
            &["Seal", "Wax", "Year"],
            r"const settings = get('/settings.json');
onAsk(async () => {
  const { locale, edition } = await settings;
  const { seals } = await get('/api/seals', { bearer: typed(), locale, edition });
  fill('rows', seals.map(it => [it.seal, it.wax, it.year]));
  say('Seals of ' + typed());
});",
        ),
        ("GET", "/settings.json") => {
            wire::json(&json!({ "locale": "en-GB", "edition": "2026-spring", "beta": false }))
        }
        ("GET", "/api/seals") => {
            if ask.param("edition") != Some("2026-spring") || ask.param("locale").is_none() {
                return wire::missing("locale and edition");
            }
            let seal = |rng: &mut SeededRng| {
                [
                    ("seal", rng.title("seal").into()),
                    ("wax", rng.pick(words::ADJECTIVES).into()),
                    ("year", rng.between(1100, 1600).into()),
                ]
            };
            match ask.param("bearer") {
                Some(bearer) => wire::json(&json!({ "seals": rows("seal", bearer, seal) })),
                None => wire::missing("bearer"),
            }
        }
        _ => rest(ask),
    }
}

/// `ropes.test`: the page sends a token against forged requests with everything. Only what changes something is held to it.
pub fn ropes(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => form_page(
            "Ropes",
            "Use",
            &["Rope", "Strands", "Walk"],
            r"const token = get('/api/forgery').then(it => it.token);
onAsk(async () => {
  const { ropes } = await get('/api/ropes', { use: typed() }, { 'x-csrf-token': await token });
  fill('rows', ropes.map(it => [it.rope, it.strands, it.walk]));
  say('Ropes of ' + typed());
});",
        ),
        ("GET", "/api/forgery") => {
            wire::json(&json!({ "token": state.open_session("ropes.test") }))
        }
        ("POST", "/api/ropes") => wire::error(StatusCode::FORBIDDEN, "no token"),
        ("GET", "/api/ropes") => {
            let rope = |rng: &mut SeededRng| {
                [
                    ("rope", rng.title("rope").into()),
                    ("strands", rng.between(3, 9).into()),
                    ("walk", rng.pick(words::CITIES).into()),
                ]
            };
            match ask.param("use") {
                Some(it) => wire::json(&json!({ "ropes": rows("rope", it, rope) })),
                None => wire::missing("use"),
            }
        }
        _ => rest(ask),
    }
}
