//! `jobs.test`: a form sent by script with POST, with fields besides the one that was typed.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest, lookup};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "Good Work",
    description: "Jobs at firms of fewer than fifty people.",
    layout: Layout::Classic,
    nav: &["Jobs", "Employers", "Salaries", "Advice"],
    main: include_str!("../pages/jobs.html"),
    script: ("/dist/jobs.bundle.js", include_str!("../pages/jobs.js")),
    extras: &[Extra::Tracker, Extra::Ads, Extra::Anonymous, Extra::Trending],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/search") => {
            let form = ask.form();
            let Some(keywords) = lookup(&form, "keywords") else {
                return wire::missing("keywords");
            };
            wire::json(&jobs(keywords, lookup(&form, "sort") == Some("date")))
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn jobs(keywords: &str, by_date: bool) -> Value {
    let found = words::search("jobs", keywords, 1, 15);
    let job = |(at, mut rng): (u64, SeededRng)| {
        let salary = rng.between(28, 90) * 1000;
        json!({
            "reference": format!("GW{:06}", rng.between(1, 999_999)),
            "position": format!("{} {} {}", rng.pick(LEVELS), words::capitalised(keywords), rng.pick(ROLES)),
            "summary": rng.sentence(keywords),
            "employer": { "name": format!("{} & {}", rng.pick(words::LAST), rng.pick(words::LAST)), "staff": rng.between(3, 49) },
            "place": rng.pick(words::CITIES),
            "salary": { "from": salary, "to": salary + rng.between(2, 20) * 1000, "currency": "EUR" },
            "posted": rng.date(),
            "relevance": 100 - at,
            "link": format!("/jobs/{at}"),
        })
    };
    let mut jobs: Vec<Value> = found.hits.into_iter().map(job).collect();
    if by_date {
        jobs.sort_by_key(|job| std::cmp::Reverse(job["posted"].as_str().map(str::to_owned)));
    }
    json!({ "count": found.total, "jobs": jobs })
}

const LEVELS: &[&str] = &["Junior", "Senior", "Lead", "Assistant", "Part-time", "Night-shift"];
const ROLES: &[&str] =
    &["Engineer", "Technician", "Adviser", "Planner", "Trainer", "Clerk", "Inspector", "Designer"];
