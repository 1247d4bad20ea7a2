//! Sites without accounts in shapes of their own, and one chain and one list of pages: `ebbflow.test`, `carvings.test`,
//! `scoreline.test`, `stoppost.test`, `plank.test`, `cogs.test`.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::cookies::{cells, things};
use super::{LOGIN, SCRIPT, account_of, log_in, page, rest, rng, see};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest, escape};
use crate::words::{self, SeededRng};

/// `ebbflow.test`: a form whose answer is a piece of HTML that the page puts into itself.
pub fn ebbflow(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => page(
            "Ebb and flow",
            r#"<h1>Tides</h1><form id="ask"><label>Harbour <input name="harbour"></label><label>Day <input name="day" placeholder="YYYY-MM-DD"></label><button>Show tides</button></form><div id="result"></div>"#,
            &[SCRIPT, r"
onAsk(async () => {
  const answer = await fetch('/tides', { method: 'POST', headers: { 'hx-request': 'true' }, body: new URLSearchParams(new FormData(document.getElementById('ask'))) });
  document.getElementById('result').innerHTML = await answer.text();
});"].concat(),
        ),
        ("POST", "/tides") => {
            let form = ask.form();
            let text = |name: &str| wire::lookup(&form, name).unwrap_or_default();
            let rows = cells(&tides(text("harbour"), text("day")), ["time", "water", "height"]);
            wire::html(format!(
                "<h2>Tides in {} on {}</h2><table><tr><th>Time</th><th>Water</th><th>Height</th></tr>{rows}</table>",
                escape(text("harbour")), escape(text("day"))
            ))
        }
        _ => rest(ask),
    }
}

pub fn tides(harbour: &str, day: &str) -> Value {
    let tide = |n: u64| {
        let mut rng = SeededRng::new(&["tide", &harbour.to_lowercase(), day, &n.to_string()]);
        json!({ "time": format!("{:02}:{:02}", 6 * (n - 1) + 2, rng.between(0, 59)), "water": if n % 2 == 1 { "high" } else { "low" }, "height": rng.cents(20, 480) })
    };
    (1..=4).map(tide).collect()
}

/// `carvings.test`: records whose maker stands in a second list of the answer, as JSON:API has it.
pub fn carvings(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => page(
            "Carvings",
            r#"<h1>Find carvings</h1><form id="ask"><label>Wood <input id="wood"></label><button>Find</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Title</th><th>Year</th><th>Maker</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
onAsk(async () => {
  const wood = document.getElementById('wood').value;
  const found = await (await fetch('/jsonapi/carvings?' + new URLSearchParams({ 'filter[wood]': wood, include: 'maker', 'page[limit]': 20 }))).json();
  const maker = Object.fromEntries(found.included.map(it => [it.id, it.attributes.name]));
  fill('rows', found.data.map(it => [it.attributes.title, it.attributes.year, maker[it.relationships.maker.data.id]]));
  say('Carvings in ' + wood);
});"].concat(),
        ),
        ("GET", "/jsonapi/carvings") => {
            let all = carved(ask.param("filter[wood]").unwrap_or_default());
            let all = all.as_array().cloned().unwrap_or_default();
            let data: Vec<Value> = all.iter().enumerate().map(|(n, it)| json!({
                "type": "carvings", "id": format!("{}", 400 + n), "attributes": { "title": it["title"], "year": it["year"] },
                "relationships": { "maker": { "data": { "type": "people", "id": it["maker_id"] } } },
            })).collect();
            let mut people: Vec<Value> = all.iter().map(|it| json!({ "type": "people", "id": it["maker_id"], "attributes": { "name": it["maker"] } })).collect();
            people.sort_by_key(|it| it["id"].as_str().unwrap_or_default().to_owned());
            people.dedup();
            wire::json(&json!({ "data": data, "included": people, "meta": { "count": data.len() } }))
        }
        _ => rest(ask),
    }
}

pub fn carved(wood: &str) -> Value {
    let carving = |n: u64| {
        let mut rng = SeededRng::new(&["carving", &wood.to_lowercase(), &n.to_string()]);
        let maker = rng.between(1, 9);
        json!({ "title": rng.title(wood), "year": rng.between(1600, 1990), "maker_id": format!("p{maker}"), "maker": SeededRng::new(&["maker", &maker.to_string()]).name() })
    };
    (1..=9).map(carving).collect()
}

/// `scoreline.test`: a page for each composer that holds its data as JSON, which a script draws.
pub fn scoreline(ask: &SiteRequest, _: &TestbedState) -> Response {
    if ask.route() == ("GET", "/") {
        return page("Scoreline", "<h1>Composers</h1><p>Each has a page: /composer/NAME.</p>", "");
    }
    match ask.path.strip_prefix("/composer/") {
        Some(composer) if ask.method == "GET" => {
            let data = json!({ "props": { "pageProps": { "composer": { "slug": composer, "works": works(composer) }, "menu": [{ "title": "Composers", "href": "/" }, { "title": "Help", "href": "/help" }] } }, "page": "/composer/[slug]", "buildId": "b7Qk2" });
            page(
                "Scoreline",
                &format!(
                    r#"<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{data}</script>"#
                ),
                r"
const { composer } = JSON.parse(document.getElementById('__NEXT_DATA__').textContent).props.pageProps;
document.getElementById('__next').innerHTML = `<h1>Works of ${composer.slug}</h1><table><thead><tr><th>Title</th><th>Key</th><th>Opus</th></tr></thead><tbody>` +
  composer.works.map(it => `<tr><td>${it.title}</td><td>${it.key}</td><td>${it.opus}</td></tr>`).join('') + '</tbody></table>';",
            )
        }
        _ => rest(ask),
    }
}

pub fn works(composer: &str) -> Value {
    let work = |n: u64| {
        let mut rng = SeededRng::new(&["work", composer, &n.to_string()]);
        json!({ "title": rng.title("sonata"), "key": rng.pick(&["C major", "A minor", "F sharp minor", "B flat major"]), "opus": rng.between(1, 140) })
    };
    (1..=7).map(work).collect()
}

/// `stoppost.test`: rows without names, whose columns are listed apart; the day is sent as `DD.MM.YYYY`.
pub fn stoppost(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => page(
            "Stoppost",
            r#"<h1>Departures</h1><form id="ask"><label>Stop <input id="stop"></label><label>Day <input id="day" placeholder="YYYY-MM-DD"></label><button>Show board</button></form>
<p id="status" role="status"></p><table><thead id="head"></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
onAsk(async () => {
  const stop = document.getElementById('stop').value, day = document.getElementById('day').value;
  const { cols, rows } = await (await fetch('/board.php?' + new URLSearchParams({ f: 'json', st: stop, d: day.split('-').reverse().join('.') }))).json();
  document.getElementById('head').innerHTML = '<tr>' + cols.map(it => `<th>${it}</th>`).join('') + '</tr>';
  fill('rows', rows);
  say(`Board of ${stop} on ${day}`);
});"].concat(),
        ),
        ("GET", "/board.php") => match (ask.param("st"), ask.param("d")) {
            (Some(stop), Some(day)) => {
                let day = day.split('.').rev().collect::<Vec<_>>().join("-");
                let all = board(stop, &day);
                let rows: Vec<Value> = all.as_array().into_iter().flatten().map(|it| json!([it["line"], it["to"], it["at"]])).collect();
                wire::json(&json!({ "cols": ["Line", "To", "At"], "rows": rows, "ok": 1 }))
            }
            _ => wire::missing("st or d"),
        },
        _ => rest(ask),
    }
}

pub fn board(stop: &str, day: &str) -> Value {
    let bus = |n: u64| {
        let mut rng = SeededRng::new(&["board", &stop.to_lowercase(), day, &n.to_string()]);
        json!({ "line": format!("{}{}", rng.between(1, 99), rng.pick(&["", "A", "N"])), "to": rng.pick(words::CITIES), "at": format!("{:02}:{:02}", 5 + 2 * n, rng.between(0, 59)) })
    };
    (1..=7).map(bus).collect()
}

/// `plank.test`: a project's number is looked up by its name in the account's list, then its tasks are asked for.
pub fn plank(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "plank";
    let account = account_of(ask, state, COOKIE);
    if let ("GET", Some(below)) = (&*ask.method, ask.path.strip_prefix("/api/projects/")) {
        let Some(account) = account else {
            return wire::error(StatusCode::UNAUTHORIZED, "sign in");
        };
        let number = below.strip_suffix("/tasks").unwrap_or_default();
        let own = PROJECTS.into_iter().find(|it| project(account, it).to_string() == number);
        return match own {
            Some(name) => wire::json(&json!({ "tasks": tasks(account, name) })),
            None => wire::not_found(),
        };
    }
    match (ask.route(), account) {
        (("GET", "/login"), _) => page("Plank", LOGIN, ""),
        (("POST", "/login"), _) => log_in(ask, state, COOKIE, "Plank"),
        (("GET", "/"), None) => see("/login"),
        (("GET", "/"), Some(_)) => page(
            "Plank",
            r#"<h1>Tasks</h1><form id="ask"><label>Project <input id="project"></label><button>Show tasks</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Task</th><th>Due</th><th>For</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
onAsk(async () => {
  const name = document.getElementById('project').value;
  const { projects } = await (await fetch('/api/projects')).json();
  const { tasks } = await (await fetch(`/api/projects/${projects.find(it => it.name === name).id}/tasks`)).json();
  fill('rows', tasks.map(it => [it.task, it.due, it.for]));
  say('Tasks of ' + name);
});"].concat(),
        ),
        (("GET", "/api/projects"), Some(account)) => wire::json(&json!({ "projects": PROJECTS.map(|it| json!({ "id": project(account, it), "name": it })) })),
        (("GET", "/api/projects"), None) => wire::error(StatusCode::UNAUTHORIZED, "sign in"),
        _ => rest(ask),
    }
}

/// Each account has projects of these names.
const PROJECTS: [&str; 4] = ["attic", "garden", "kitchen", "roof"];

fn project(account: &str, name: &str) -> i64 {
    rng("project", &format!("{account} {name}"), 0).between(10_000, 99_999)
}

pub fn tasks(account: &str, name: &str) -> Value {
    if !PROJECTS.contains(&name) {
        return json!([]);
    }
    things(account, 5, |n| {
        let mut rng = rng("task", &format!("{account} {name}"), n);
        json!({ "task": rng.title(name), "due": rng.date(), "for": rng.name() })
    })
}

/// Parts on a page of `cogs.test`.
const PAGE: usize = 15;

/// `cogs.test`: numbered pages that the server makes; the page says how many there are in all.
pub fn cogs(ask: &SiteRequest, _: &TestbedState) -> Response {
    match (ask.route(), ask.param("maker")) {
        (("GET", "/"), None) => page(
            "Cogs",
            r#"<h1>Parts</h1><form action="/parts"><label>Maker <input name="maker"></label><button>Show parts</button></form>"#,
            "",
        ),
        (("GET", "/parts"), Some(maker)) => {
            let all = parts(maker);
            let all = all.as_array().cloned().unwrap_or_default();
            let at = ask.number("page", 1, 1000) as usize;
            let shown: Vec<Value> = all.iter().skip((at - 1) * PAGE).take(PAGE).cloned().collect();
            let rows = cells(&json!(shown), ["part", "teeth", "price"]);
            let next = if at * PAGE < all.len() {
                format!(
                    r#"<a rel="next" href="/parts?maker={}&amp;page={}">Next</a>"#,
                    escape(maker),
                    at + 1
                )
            } else {
                String::new()
            };
            page(
                "Cogs",
                &format!(
                    "<h1>Parts</h1><p>{} parts by {}</p><table><thead><tr><th>Part</th><th>Teeth</th><th>Price</th></tr></thead><tbody>{rows}</tbody></table><nav>{next}</nav>",
                    all.len(),
                    escape(maker)
                ),
                "",
            )
        }
        _ => rest(ask),
    }
}

/// All parts of a maker.
pub fn parts(maker: &str) -> Value {
    let count = 20 + SeededRng::new(&["parts", maker]).roll() % 30;
    let part = |n: u64| {
        let mut rng = SeededRng::new(&["part", maker, &n.to_string()]);
        json!({ "part": format!("{}-{}", rng.pick(&["CW", "SP", "RK"]), 1000 + n), "teeth": rng.between(8, 120), "price": rng.cents(100, 9900) })
    };
    (1..=count).map(part).collect()
}
