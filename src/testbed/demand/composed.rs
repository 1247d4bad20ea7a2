//! Sites whose answers are put together: `ripples.test` goes on after the last item's number, `kiln.test` makes its answer while the
//! page asks again, `dossier.test` asks two independent calls for one record, and `estates.test` one call by the number that another gave.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{SCRIPT, page, rest};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::SeededRng;

/// Statuses on a page of `ripples.test`.
const PAGE: usize = 20;

/// `ripples.test`: statuses about a topic, newest first. The page asks for more as one scrolls, by the number of the last one shown.
pub fn ripples(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => page(
            "Ripples",
            r#"<h1>Ripples</h1><form id="ask"><label>Topic <input id="topic"></label><button>Show ripples</button></form><p id="status" role="status"></p><div id="list"></div><p id="end">…</p>"#,
            &[SCRIPT, r"
let topic = '', last = null, busy = false, ended = true;
const more = async () => {
  if (busy || ended) return;
  busy = true;
  const query = new URLSearchParams({ topic });
  if (last) query.set('max_id', last);
  const found = await (await fetch('/api/statuses?' + query)).json();
  document.getElementById('list').insertAdjacentHTML('beforeend', found.map(it => `<article><b>${it.by}</b> <time>${it.on}</time><p>${it.text}</p></article>`).join(''));
  ended = found.length < 20;
  last = found.at(-1)?.id;
  busy = false;
};
onAsk(async () => {
  topic = document.getElementById('topic').value;
  document.getElementById('list').innerHTML = '';
  last = null;
  ended = false;
  await more();
  say('Ripples about ' + topic);
});
new IntersectionObserver(seen => { if (seen[0].isIntersecting) more(); }).observe(document.getElementById('end'));"].concat(),
        ),
        ("GET", "/api/statuses") => {
            let all = statuses(ask.param("topic").unwrap_or_default());
            let all = all.as_array().cloned().unwrap_or_default();
            let most = ask.number("max_id", u64::MAX, u64::MAX);
            let shown = all.into_iter().filter(|it| it["id"].as_u64().is_some_and(|it| it < most));
            wire::json(&shown.take(PAGE).collect())
        }
        _ => rest(ask),
    }
}

/// All statuses about a topic, newest first.
pub fn statuses(topic: &str) -> Value {
    let count = 30 + SeededRng::new(&["statuses", topic]).roll() % 40;
    let mut id = 8_400_000 + SeededRng::new(&["first status", topic]).roll() % 90_000;
    let status = |n: u64| {
        let mut rng = SeededRng::new(&["status", topic, &n.to_string()]);
        id -= 1 + rng.roll() % 400;
        json!({ "id": id, "text": rng.sentence(topic), "by": rng.name(), "on": rng.date() })
    };
    (1..=count).map(status).collect()
}

/// Answers of `kiln.test` to one number before its work is done.
const ASKED_BEFORE: u64 = 2;

/// `kiln.test`: what a clay needs is worked out. The first call gives a number, and the page asks for that until the work is done.
pub fn kiln(ask: &SiteRequest, state: &TestbedState) -> Response {
    if let ("GET", Some(number)) = (&*ask.method, ask.path.strip_prefix("/plans/")) {
        let clay = number.split_once('-').and_then(|it| from_hex(it.1));
        let Some(clay) = clay else { return wire::not_found() };
        let key = format!("kiln.test {number}");
        let asked = 1 + state.fact(&key).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
        state.set_fact(&key, Some(&asked.to_string()));
        return wire::json(&if asked <= ASKED_BEFORE {
            json!({ "state": "working", "progress": 30 * asked, "firings": [] })
        } else {
            json!({ "state": "ready", "progress": 100, "firings": firings(&clay) })
        });
    }
    match ask.route() {
        ("GET", "/") => page(
            "Kiln",
            r#"<h1>Plan firings</h1><form id="ask"><label>Clay <input id="clay"></label><button>Plan</button></form><p id="status" role="status"></p><table><thead><tr><th>Glaze</th><th>Cone</th><th>Hours</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
onAsk(async () => {
  const clay = document.getElementById('clay').value;
  const { plan } = await (await fetch('/plan?' + new URLSearchParams({ clay }))).json();
  for (;;) {
    const found = await (await fetch('/plans/' + plan)).json();
    if (found.state === 'ready') { fill('rows', found.firings.map(it => [it.glaze, it.cone, it.hours])); break; }
    say(found.progress + ' % done');
    await new Promise(go => setTimeout(go, 150));
  }
  say('Firings for ' + clay);
});"].concat(),
        ),
        ("GET", "/plan") => match ask.param("clay") {
            Some(clay) => {
                let nth = 4_000 + state.count("kiln.test plans") * 7;
                wire::json(&json!({ "plan": format!("{nth}-{}", to_hex(clay)) }))
            }
            None => wire::missing("clay"),
        },
        _ => rest(ask),
    }
}

fn to_hex(text: &str) -> String {
    text.bytes().fold(String::new(), |out, it| out + &format!("{it:02x}"))
}

fn from_hex(text: &str) -> Option<String> {
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(pair).collect();
    String::from_utf8(bytes?).ok()
}

/// What a clay needs.
pub fn firings(clay: &str) -> Value {
    let firing = |n: u64| {
        let mut rng = SeededRng::new(&["firing", clay, &n.to_string()]);
        json!({ "glaze": rng.title("glaze"), "cone": rng.between(2, 14), "hours": rng.between(5, 40) })
    };
    (1..=6).map(firing).collect()
}

/// `estates.test`: one record of a house, of which the owner is asked for by the number that the first answer has.
pub fn estates(ask: &SiteRequest, _: &TestbedState) -> Response {
    if let ("GET", Some(number)) = (&*ask.method, ask.path.strip_prefix("/api/owners/")) {
        let Some(house) = number.split_once('-').and_then(|it| from_hex(it.1)) else {
            return wire::not_found();
        };
        return wire::json(&owner(&house));
    }
    match ask.route() {
        ("GET", "/") => page(
            "Estates",
            r#"<h1>Houses</h1><form id="ask"><label>House <input id="house"></label><button>Show house</button></form><p id="status" role="status"></p><dl id="about"></dl>"#,
            &[SCRIPT, r"
onAsk(async () => {
  const house = document.getElementById('house').value;
  const about = await fetch('/api/houses?' + new URLSearchParams({ house })).then(it => it.json());
  const owner = await fetch('/api/owners/' + about.owner).then(it => it.json());
  const shown = [['Street', about.street], ['Built', about.built], ['Owner', owner.name], ['Since', owner.since], ['Price', owner.price]];
  document.getElementById('about').innerHTML = shown.map(([label, it]) => `<dt>${label}</dt><dd>${it}</dd>`).join('');
  say('House ' + house);
});"].concat(),
        ),
        ("GET", "/api/houses") => match ask.param("house") {
            Some(it) => wire::json(&house(it)),
            None => wire::missing("house"),
        },
        _ => rest(ask),
    }
}

fn house(name: &str) -> Value {
    let mut rng = SeededRng::new(&["house", &name.to_lowercase()]);
    json!({ "street": rng.title("street"), "built": rng.between(1600, 1990), "owner": format!("{}-{}", rng.between(100, 999), to_hex(name)) })
}

fn owner(house: &str) -> Value {
    let mut rng = SeededRng::new(&["house owner", &house.to_lowercase()]);
    json!({ "name": rng.name(), "since": rng.date(), "price": rng.between(100_000, 900_000) })
}

/// The record of a house.
pub fn estate(name: &str) -> Value {
    let (house, owner) = (house(name), owner(name));
    json!({ "street": house["street"], "built": house["built"], "name": owner["name"], "since": owner["since"], "price": owner["price"] })
}

/// `dossier.test`: one record of a member, whose halves two calls give. Some members have no votes, and the second call says so.
pub fn dossier(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => page(
            "Dossier",
            r#"<h1>Members</h1><form id="ask"><label>Member <input id="name"></label><button>Show member</button></form><p id="status" role="status"></p><dl id="member"></dl>"#,
            &[SCRIPT, r"
onAsk(async () => {
  const name = document.getElementById('name').value, query = new URLSearchParams({ name });
  const [member, votes] = await Promise.all([fetch('/api/member?' + query).then(it => it.json()), fetch('/api/votes?' + query).then(it => it.ok ? it.json() : null)]);
  const shown = [['Office', member.office], ['Born', member.born], ['Seat', member.seat], ['Votes for', votes?.ayes ?? '–'], ['Votes against', votes?.noes ?? '–'], ['Last vote', votes?.last ?? '–']];
  document.getElementById('member').innerHTML = shown.map(([label, it]) => `<dt>${label}</dt><dd>${it}</dd>`).join('');
  say('Member ' + name);
});"].concat(),
        ),
        ("GET", "/api/member") => match ask.param("name") {
            Some(name) => wire::json(&member(name)),
            None => wire::missing("name"),
        },
        ("GET", "/api/votes") => match votes(ask.param("name").unwrap_or_default()) {
            Some(it) => wire::json(&it),
            None => wire::error(StatusCode::NOT_FOUND, "no votes"),
        },
        _ => rest(ask),
    }
}

fn member(name: &str) -> Value {
    let mut rng = SeededRng::new(&["member", name]);
    json!({ "office": rng.title("office"), "born": rng.date(), "seat": rng.between(1, 400) })
}

fn votes(name: &str) -> Option<Value> {
    let mut rng = SeededRng::new(&["votes", name]);
    let has = !name.starts_with('X');
    has.then(|| json!({ "ayes": rng.between(100, 900), "noes": rng.between(100, 900), "last": rng.date() }))
}

/// What the page shows of a member.
pub fn dossier_of(name: &str) -> Value {
    let mut out = member(name);
    if let (Some(all), Some(Value::Object(votes))) = (out.as_object_mut(), votes(name)) {
        all.extend(votes);
    }
    out
}
