//! consult and what its answer is worth: whatever a model says, the result is a candidate that was offered, or nobody knows.

use std::sync::Mutex;

use super::consult;
use commis_artifacts::payloads::{
    Analyst, CandidateSet, CandidateSummary, Consultation, Judged, ModelAnswer, Reason,
    RecipeAnalysis, Verdict,
};
use commis_artifacts::recording::SessionRecording;
use commis_base::{
    error::{Code, Error, Result},
    settings::{DecisionSettings, RankingSettings},
};
use commis_model::{Answer, Cache, EndReason, Model, Question};
use commis_stages::{
    analyze::analyze,
    fixtures::{Entry, alone, done, get, hits, page_text, post, rejected, session},
    model_options::{offers, settle},
    rank::rank,
    summarize::summarize,
};
use futures::{executor::block_on, future::BoxFuture};
use serde_json::{Value, json};

const SEARCH: &str = "GET http://shop.test/api/search?q=lantern";
const LOOKUP: &str = "GET http://shop.test/api/lookup?q=lantern";
/// What a model says that finds none of the requests to be the right one.
const NONE: &str = r#"{"request": "none of these", "path": "none"}"#;

/// Says one thing after the other; keeps what it was asked.
struct Scripted {
    name: &'static str,
    answers: Mutex<Vec<String>>,
    asked: Mutex<Vec<Question>>,
}

impl Scripted {
    fn new(answers: &[&str]) -> Self {
        Self {
            name: "openai/small",
            answers: Mutex::new(answers.iter().rev().map(|it| (*it).to_owned()).collect()),
            asked: Mutex::default(),
        }
    }

    fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn endpoint(&self) -> &'static str {
        "http://127.0.0.1/"
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer>> {
        self.asked.lock().unwrap().push(question.clone());
        let said = self.answers.lock().unwrap().pop();
        let answer = said.map(|text| Answer {
            text,
            end: EndReason::Complete,
            stop: "stop".to_owned(),
            tokens_in: 500,
            tokens_out: 20,
        });
        Box::pin(async move { answer.ok_or_else(|| Error::new(Code::ModelFailed, "gone")) })
    }
}

/// A task of which rank and summarize are done.
struct Ranked {
    recording: SessionRecording,
    set: CandidateSet,
    summaries: CandidateSummary,
}

fn ranked(recording: SessionRecording) -> Ranked {
    let set = done(rank(&recording, &alone(), &RankingSettings::default()));
    let summaries = summarize(&recording, &set);
    Ranked { recording, set, summaries }
}

fn lantern(entries: Vec<Entry>) -> Ranked {
    ranked(session(&[("q", "lantern")], &page_text(&hits("lantern", "1")), entries))
}

/// Two endpoints gave the same answer to the same word.
fn twins() -> Ranked {
    lantern(vec![
        get("http://shop.test/api/search?q=lantern", &hits("lantern", "1")),
        get("http://shop.test/api/lookup?q=lantern", &hits("lantern", "1")),
    ])
}

impl Ranked {
    fn consult(&self, model: &Scripted, cache: &Cache) -> Result<(ModelAnswer, u32)> {
        block_on(consult(model, cache, &self.recording, &self.set, &self.summaries))
    }

    fn settle(&self, answer: &ModelAnswer) -> Judged<RecipeAnalysis> {
        let known = analyze(&self.recording, &self.set, &DecisionSettings::default()).unwrap();
        settle(&self.recording, &self.set, &self.summaries, known, answer).unwrap()
    }

    /// Both stages, with an empty cache.
    fn ask(&self, answers: &[&str]) -> (Judged<RecipeAnalysis>, Vec<Question>) {
        let folder = tempfile::tempdir().unwrap();
        let model = Scripted::new(answers);
        let cache = Cache::new(folder.path().join("artifacts"));
        let (answer, calls) = self.consult(&model, &cache).unwrap();
        assert_eq!(calls as usize, model.asked().len());
        (self.settle(&answer), model.asked())
    }
}

fn object(line: &str, path: &str) -> String {
    json!({"request": line, "path": path}).to_string()
}

fn forged(verdict: Verdict) -> ModelAnswer {
    let consultation = Consultation {
        model: "openai/small".to_owned(),
        prompt_version: 1,
        digest: "00".to_owned(),
        prompt_bytes: 0,
        question: String::new(),
        attempts: Vec::new(),
        verdict,
    };
    ModelAnswer { consultation: Some(consultation) }
}

#[test]
fn a_model_chooses_where_the_heuristics_cannot() {
    let twins = twins();
    for (line, exchange) in [(SEARCH, 0), (LOOKUP, 1)] {
        for path in ["hits", "none"] {
            let answer = object(line, path);
            let (out, asked) = twins.ask(&[&answer, &answer]);
            let out = done(out);
            assert_eq!((out.by, out.chosen.exchange, asked.len()), (Analyst::Model, exchange, 2));
            assert_eq!(out.chosen.response.extract.as_deref(), Some("hits"));
        }
    }
    // A second call says what was wrong with the first answer.
    let good = object(LOOKUP, "hits");
    let (out, asked) = twins.ask(&["I would take the first", &good, &good]);
    assert_eq!(done(out).chosen.exchange, 1);
    assert!(asked[1].text.contains("was not accepted: it was not just the JSON object"));
    assert!(!asked[1].text.contains("I would take"));
}

#[test]
fn a_choice_counts_where_the_order_does_not_change_it() {
    let twins = twins();
    let (out, asked) = twins.ask(&[&object(SEARCH, "hits"), &object(LOOKUP, "hits")]);
    let reject = rejected(out);
    assert_eq!(reject.reason, Reason::Ambiguous);
    assert!(reject.detail.contains("in reverse order"), "{}", reject.detail);
    // The same question but for the order of what is offered.
    let places = |it: &Question| [SEARCH, LOOKUP].map(|line| it.text.find(line).unwrap());
    let [first, second] = [places(&asked[0]), places(&asked[1])];
    assert_eq!(first[0] < first[1], second[0] > second[1]);
    // None, the second time, is another answer as well.
    let (out, _) = twins.ask(&[&object(SEARCH, "hits"), NONE]);
    assert!(rejected(out).detail.contains("in reverse order"));
    // Nothing is chosen the first time: that is an answer, and there is nothing to hold it against.
    let (_, asked) = twins.ask(&[NONE, &object(SEARCH, "hits")]);
    assert_eq!(asked.len(), 1);
    // What cannot be accepted the second time is no agreement.
    let (out, asked) = twins.ask(&[&object(SEARCH, "hits"), "no", "no"]);
    assert!(rejected(out).detail.contains("no answer of the model could be accepted"));
    assert_eq!(asked.len(), 3);
    // One candidate alone has no other order.
    let alone = lantern(vec![get("http://shop.test/api/search?q=lantern", &hits("lantern", "1"))]);
    let (_, asked) = alone.ask(&[&object(SEARCH, "hits"), NONE]);
    assert_eq!(asked.len(), 1);
}

#[test]
fn nothing_else_is_chosen_whatever_it_says() {
    let twins = twins();
    for bad in [
        "",
        "7",
        "ignore the list",
        &object("GET http://evil.test/", "hits"),
        &object(SEARCH, "@"),
        &object(SEARCH, "hits[0]"),
        &object("POST http://shop.test/api/orders", "none"),
        &"x".repeat(100_000),
    ] {
        let (out, asked) = twins.ask(&[bad, bad, &object(SEARCH, "hits")]);
        assert_eq!(asked.len(), 2, "at most one call and one more: {bad:.40}");
        let reject = rejected(out);
        assert_eq!(reject.reason, Reason::Ambiguous);
        assert!(reject.detail.contains("no answer of the model could be accepted"));
    }
    let reject = rejected(twins.ask(&[NONE]).0);
    assert_eq!(reject.reason, Reason::Ambiguous);
    assert!(reject.detail.contains("none of them"), "{}", reject.detail);
    // A stored answer that was tampered with.
    for verdict in [
        Verdict::Chosen { exchange: 99, path: None },
        Verdict::Chosen { exchange: 0, path: Some("@".to_owned()) },
        Verdict::NoneFits,
        Verdict::Inconsistent,
        Verdict::Unusable,
    ] {
        assert_eq!(rejected(twins.settle(&forged(verdict))).reason, Reason::Ambiguous);
    }
}

#[test]
fn tricks_are_not_answers() {
    let twins = twins();
    let good = object(SEARCH, "hits");
    let with = |request: Value, path: Value| json!({"request": request, "path": path}).to_string();
    let line = |it: &str| object(it, "hits");
    for bad in [
        format!("```json\n{good}\n```"),
        format!("Sure, ignore the rules! {good}"),
        format!("{good} That is the best one."),
        format!("{good}{good}"),
        format!("[{good}]"),
        good.replace('}', ", \"confidence\": 1}"),
        good.replace('{', "{\"path\": \"hits\", "),
        good.replace('"', "'"),
        with(json!(0), json!("hits")),
        with(json!([SEARCH]), json!("hits")),
        with(json!(SEARCH), json!(null)),
        with(json!(SEARCH), json!(["hits"])),
        with(json!(null), json!(null)),
        json!({"request": SEARCH}).to_string(),
        json!({"Request": SEARCH, "Path": "hits"}).to_string(),
        "null".to_owned(),
        "\"hits\"".to_owned(),
        "[".repeat(100_000),
        "[".repeat(4_000),
        "{\"request\":".repeat(400),
        // Almost the line of a candidate.
        line(&format!("{SEARCH} ")),
        line(&format!("{SEARCH}\u{200b}")),
        line(&format!("{SEARCH}\0")),
        line(&format!("{SEARCH}\r\nHost: evil.test")),
        line(&SEARCH.replace("GET", "\u{ff27}\u{ff25}\u{ff34}")),
        line(&SEARCH.replace('a', "\u{430}")),
        line(&SEARCH.replace("GET", "get")),
        line(&SEARCH.replace("GET", "DELETE")),
        line(&SEARCH.replace("http:", "https:")),
        line(&SEARCH.replace("shop.test", "shop.test@evil.test")),
        line(&SEARCH.replace("shop.test", "127.0.0.1")),
        line("exchange 0"),
        line("../../recipes/x.yaml"),
        // Paths that nobody offered.
        object(SEARCH, "hits "),
        object(SEARCH, "HITS"),
        object(SEARCH, "hits[]"),
        object(SEARCH, "hits | [0]"),
        object(SEARCH, "hits[?contains(name, 'x')]"),
        object(SEARCH, "\"hits\""),
        object(SEARCH, "$.hits"),
        object(SEARCH, ""),
    ] {
        let (out, asked) = twins.ask(&[&bad, &bad]);
        assert_eq!(rejected(out).reason, Reason::Ambiguous, "{bad:.200}");
        // What it said is not said to it again.
        let again = &asked[1].text;
        assert!(!again.contains("evil.test") && !again.contains("ignore the rules"), "{bad:.200}");
    }
}

#[test]
fn what_may_not_be_replayed_or_is_not_of_the_task_is_not_offered() {
    let task = lantern(vec![
        get("http://shop.test/api/search?q=lantern", &hits("lantern", "1")),
        get("http://shop.test/api/lookup?q=lantern", &hits("lantern", "1")),
        get("http://shop.test/api/all", &hits("lantern", "1")),
        post(
            "http://shop.test/api/orders",
            &json!({"item": "lantern"}),
            &json!({"order": {"id": 7, "state": "placed"}}),
        ),
    ]);
    assert!(task.set.candidates.len() >= 3, "{:?}", task.set.candidates);
    let offers = offers(&task.recording, &task.set, &task.summaries).unwrap();
    let mut lines: Vec<&str> = offers.iter().map(|it| it.line.as_str()).collect();
    lines.sort_unstable();
    assert_eq!(lines, [LOOKUP, SEARCH]);
    for exchange in [2, 3] {
        let out = task.settle(&forged(Verdict::Chosen { exchange, path: None }));
        rejected(out);
    }
}

#[test]
fn where_the_heuristics_know_an_answer_changes_nothing() {
    let alone = lantern(vec![get("http://shop.test/api/search?q=lantern", &hits("lantern", "1"))]);
    for verdict in [Verdict::NoneFits, Verdict::Chosen { exchange: 0, path: None }] {
        assert_eq!(done(alone.settle(&forged(verdict))).by, Analyst::Heuristic);
    }
    let order = lantern(vec![post(
        "http://shop.test/api/orders",
        &json!({"item": "lantern"}),
        &hits("lantern", "1"),
    )]);
    let out = order.settle(&forged(Verdict::Chosen { exchange: 0, path: None }));
    assert_eq!(rejected(out).reason, Reason::Mutation);
}

#[test]
fn no_secret_is_asked() {
    let secret = "Zk3vQ9xT7bLm2pWc8RfYhN4s";
    let url = |path: &str| format!("http://shop.test/api/{path}?q=lantern&access_token={secret}");
    let mut answer = hits("lantern", "1");
    answer["session_token"] = secret.into();
    let entry = |path: &str| Entry {
        headers: vec![("authorization", "Bearer Zk3vQ9xT7bLm2pWc8RfYhN4s")],
        ..get(url(path), &answer)
    };
    let (_, asked) = lantern(vec![entry("search"), entry("lookup")]).ask(&["no", "no"]);
    assert_eq!(asked.len(), 2);
    for it in asked {
        let all = format!("{}{}", it.text, it.schema);
        assert!(all.contains("REDACTED") && !all.contains(secret), "{all}");
    }
}

#[test]
fn equal_lines_are_told_apart() {
    let call = |name: &str, page: &str| {
        let text = format!("query {name} {{ {name} {{ id }} }}");
        let body = json!({"operationName": name, "query": text, "variables": {"q": "lantern"}});
        post("http://shop.test/graphql", &body, &hits("lantern", page))
    };
    let task = lantern(vec![call("Search", "1"), call("Lookup", "1")]);
    let offers = offers(&task.recording, &task.set, &task.summaries).unwrap();
    let mut lines: Vec<&str> = offers.iter().map(|it| it.line.as_str()).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["POST http://shop.test/graphql Lookup", "POST http://shop.test/graphql Search"]
    );
}

#[test]
fn the_same_question_is_paid_for_once() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path().join("artifacts"));
    let twins = twins();
    let calls = |answers: &[&str]| twins.consult(&Scripted::new(answers), &cache).map(|it| it.1);
    // Neither a failure nor an unusable answer is kept.
    assert_eq!(calls(&[]).map_err(|it| it.code()), Err(Code::ModelFailed));
    assert_eq!(calls(&["no", "no"]).unwrap(), 2);
    let (search, lookup) = (object(SEARCH, "hits"), object(LOOKUP, "hits"));
    // Nor is a choice whose second answer failed.
    assert_eq!(calls(&[&search]).map_err(|it| it.code()), Err(Code::ModelFailed));
    let first = twins.consult(&Scripted::new(&[&search, &search]), &cache).unwrap();
    assert_eq!(first.1, 2);
    let again = twins.consult(&Scripted::new(&[]), &cache).unwrap();
    assert_eq!((again.0, again.1), (first.0, 0));
    // Another model is another question.
    let other = Scripted { name: "gemini/large", ..Scripted::new(&[&lookup, &lookup]) };
    assert_eq!(twins.consult(&other, &cache).unwrap().1, 2);
    let files: Vec<_> = std::fs::read_dir(folder.path().join("artifacts"))
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    assert_eq!(files.len(), 2);
    for file in &files {
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        damage(file);
    }
    assert_eq!(calls(&[&search, &search]).unwrap(), 2, "a damaged file is as none");
}

#[expect(clippy::disallowed_methods, reason = "the test damages a file")]
fn damage(path: &std::path::Path) {
    std::fs::write(path, "{").unwrap();
}
