//! `jobs.test`: a form sent by script with POST, with fields besides the one that was typed.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::wire::{self, SiteRequest, lookup};
use crate::words::{self, Dice};
use crate::world::TestbedState;

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
    let job = |(at, mut dice): (u64, Dice)| {
        let salary = dice.between(28, 90) * 1000;
        json!({
            "reference": format!("GW{:06}", dice.between(1, 999_999)),
            "position": format!("{} {} {}", dice.pick(LEVELS), words::capitalised(keywords), dice.pick(ROLES)),
            "summary": dice.sentence(keywords),
            "employer": { "name": format!("{} & {}", dice.pick(words::LAST), dice.pick(words::LAST)), "staff": dice.between(3, 49) },
            "place": dice.pick(words::CITIES),
            "salary": { "from": salary, "to": salary + dice.between(2, 20) * 1000, "currency": "EUR" },
            "posted": dice.date(),
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
