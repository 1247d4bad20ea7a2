//! The question, the check of answers, and the client against a local server that speaks the three wire formats.

mod converse;
mod question;
mod wire;

use std::collections::BTreeMap;

use super::{Answer, EndReason};
use commis_artifacts::offer::Offer;
use commis_artifacts::{
    payloads::{ListPath, Summary},
    recording::{Driver, FinalPage, SessionRecording},
};

fn recording(task: &str, typed: &[(&str, &str)], page: &str) -> SessionRecording {
    let text = |it: &&str| (*it).to_owned();
    SessionRecording {
        login_site: None,
        task: task.to_owned(),
        url: "http://shop.test/".to_owned(),
        driver: Driver::Har,
        typed: typed.iter().map(|it| (text(&it.0), text(&it.1))).collect::<BTreeMap<_, _>>(),
        actions: Vec::new(),
        final_answer: None,
        page: FinalPage { visible_text: page.to_owned(), ..FinalPage::default() },
        exchanges: Vec::new(),
        blocked: Vec::new(),
        notes: Vec::new(),
        duration_ms: 0,
        producer: "test".to_owned(),
    }
}

fn summary(exchange: u32, line: &str, paths: &[&str]) -> Summary {
    Summary {
        exchange,
        request_line: line.to_owned(),
        status: Some(200),
        content_type: "application/json".to_owned(),
        bytes: Some(1000),
        shape: vec!["$:object".to_owned()],
        paths: paths.iter().map(|it| listed(it)).collect(),
        carries: vec!["q".to_owned()],
    }
}

fn listed(path: &str) -> ListPath {
    ListPath {
        path: path.to_owned(),
        score_bp: 5000,
        reason: "12 of 12 items are on the page".to_owned(),
    }
}

fn offers(summaries: &[Summary]) -> Vec<Offer<'_>> {
    summaries
        .iter()
        .map(|it| Offer {
            exchange: it.exchange,
            line: it.request_line.clone(),
            paths: it.paths.iter().map(|it| it.path.clone()).collect(),
            summary: it,
        })
        .collect()
}

const SEARCH: &str = "GET http://shop.test/api/search?q=lantern";
const LOOKUP: &str = "GET http://shop.test/api/lookup?q=lantern";

fn two() -> [Summary; 2] {
    [summary(1, SEARCH, &["hits", "facets"]), summary(4, LOOKUP, &["items"])]
}

fn said(text: &str) -> Answer {
    Answer {
        text: text.to_owned(),
        end: EndReason::Complete,
        stop: "stop".to_owned(),
        tokens_in: 1,
        tokens_out: 1,
    }
}
