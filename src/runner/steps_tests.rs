//! Recipes of several requests run against a chat on loopback.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::{Path, Query as Q, State},
    http::StatusCode,
    response::IntoResponse,
    routing::get,
};
use serde_json::{Value, json};

use super::*;
use crate::{CompiledRecipe, RecipeRunResult, compile, run};
use commis_base::settings::EgressSettings;
use commis_net::{egress::EgressPolicy, transport::public_http::PublicHttp};
use commis_recipe::yaml;

type Strings = BTreeMap<String, String>;
type Log = Arc<Mutex<Vec<String>>>;

fn strings(all: &[(&str, &str)]) -> Strings {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A chat: channels by number, with two of one name in two teams; people by number, one of them gone.
async fn chat() -> (PublicHttp, Log) {
    let log = Log::default();
    let note = |log: &Log, what: String| log.lock().unwrap().push(what);
    let channels = move |State(log): State<Log>| async move {
        note(&log, "channels".to_owned());
        Json(json!({"channels": [
            {"id": 7, "name": "general", "team": {"name": "red"}, "archived": false, "token": "T-7"},
            {"id": 8, "name": "general", "team": {"name": "blue"}, "archived": true, "token": "T-8"},
            {"id": 9, "name": "Off Topic", "team": {"name": "red"}, "archived": false, "token": "T-9"},
        ]}))
    };
    let messages = move |State(log): State<Log>, Path(id): Path<u32>, Q(query): Q<Strings>| async move {
        note(&log, format!("messages {id} {query:?}"));
        if id == 8 {
            return StatusCode::FORBIDDEN.into_response();
        }
        Json(json!({"messages": [{"text": format!("hello {id}")}, {"text": "bye"}]}))
            .into_response()
    };
    let people = move |State(log): State<Log>| async move {
        note(&log, "people".to_owned());
        Json(json!({"ids": [1, 2, 3]}))
    };
    let person = move |State(log): State<Log>, Path(id): Path<u32>| async move {
        note(&log, format!("person {id}"));
        Json(if id == 2 { Value::Null } else { json!({"name": format!("P{id}")}) })
    };
    let job = move |State(log): State<Log>, Path(id): Path<u32>| async move {
        note(&log, format!("job {id}"));
        let asked = log.lock().unwrap().iter().filter(|it| it.starts_with("job")).count();
        let state = if asked > 1 && id == 1 { "done" } else { "waiting" };
        Json(json!({"state": state, "result": 3}))
    };
    let batch = move |State(log): State<Log>, Path(ids): Path<String>| async move {
        note(&log, format!("batch {ids}"));
        Json(json!({"found": ids.split(',').collect::<Vec<_>>()}))
    };
    let links = || async {
        Json(json!({"links": {
            "Path": "/people/1",
            "whole": "http://chat.test/people/1#top",
            "other": "//evil.test/people/1",
            "scheme": "ftp://chat.test/people/1",
            "user": "http://me:word@chat.test/people/1",
            "override": "/people/1?_method=delete",
        }}))
    };
    let many = || async { Json(json!({"ids": (1..=130).collect::<Vec<_>>()})) };
    let app = Router::new()
        .route("/jobs/{id}", get(job))
        .route("/batch/{ids}", get(batch))
        .route("/many", get(many))
        .route("/links", get(links))
        .route("/channels", get(channels))
        .route("/channels/{id}/messages", get(messages))
        .route("/people", get(people))
        .route("/people/{id}", get(person))
        .with_state(Arc::clone(&log));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let settings = EgressSettings {
        test_hosts: vec![format!("chat.test={addr}")],
        ..EgressSettings::default()
    };
    (PublicHttp::new(Arc::new(EgressPolicy::new(&settings).unwrap())).unwrap(), log)
}

const HEAD: &str = "version: 2\nname: chat\ntask: messages of {channel}\nstatus: draft\nsource_url: http://chat.test/\nparameters:\n\
  - { name: channel, type: str, required: true, source: task_input }\n- { name: team, type: str, required: false, source: task_input, default: red }\n";

/// A recipe of these steps: name, path and the rest of the step.
fn recipe(steps: &[(&str, &str, &str)], rest: &str) -> CompiledRecipe {
    let steps: Vec<String> = steps
        .iter()
        .map(|(name, path, more)| {
            format!("  - {{ name: {name}, request: {{ method: GET, url: 'http://chat.test{path}', allowed_domains: [chat.test] }}, {more} }}\n")
        })
        .collect();
    let text = format!("{HEAD}steps:\n{}{rest}\n", steps.concat());
    compile(&yaml::parse(&text).unwrap_or_else(|err| panic!("{text}\n{err}"))).unwrap()
}

fn by_name(choose: &str) -> CompiledRecipe {
    recipe(
        &[
            (
                "chan",
                "/channels",
                &format!("response: {{ type: json, extract: channels }}, choose: {choose}"),
            ),
            (
                "messages",
                "/channels/{chan.id}/messages",
                "response: { type: json, extract: messages }",
            ),
        ],
        "",
    )
}

async fn ran(
    compiled: &CompiledRecipe,
    params: &[(&str, &str)],
    http: &PublicHttp,
) -> RecipeRunResult {
    run(compiled, &strings(params), &Strings::new(), http).await
}

#[tokio::test]
async fn the_item_that_is_named_gives_the_value() {
    let (http, log) = chat().await;
    let named = by_name("{ where: { name: '{channel}' } }");
    for name in ["Off Topic", "off  topic"] {
        let out = ran(&named, &[("channel", name)], &http).await;
        assert_eq!(out.error, None);
        assert_eq!(out.data, json!([{"text": "hello 9"}, {"text": "bye"}]), "{name}");
        assert_eq!(out.items, Some(2));
    }
    assert_eq!(log.lock().unwrap()[..2], ["channels", "messages 9 {}"]);
    let named = by_name("{ where: { name: '{channel}', team.name: '{team}', archived: false } }");
    let out = ran(&named, &[("channel", "general")], &http).await;
    assert_eq!(out.data[0], json!({"text": "hello 7"}));
}

#[tokio::test]
async fn a_choice_that_is_none_is_an_error_that_lists_what_there_was() {
    let (http, log) = chat().await;
    let named = by_name("{ where: { name: '{channel}' } }");
    let out = ran(&named, &[("channel", "general")], &http).await;
    assert_eq!(out.error_code, Some("CHOICE_AMBIGUOUS"));
    let why = out.error.unwrap();
    assert_eq!(
        why,
        "step `chan`: 2 items have name \"general\": name \"general\", archived false, id 7, team.name \"red\"; name \"general\", archived true, id 8, team.name \"blue\""
    );
    let out = ran(&named, &[("channel", "random")], &http).await;
    assert_eq!((out.error_code, out.success), (Some("NOT_FOUND"), false));
    assert!(out.hint.unwrap().contains("name \"Off Topic\""));
    let out = ran(&by_name("only"), &[("channel", "general")], &http).await;
    assert_eq!(out.error_code, Some("CHOICE_AMBIGUOUS"));
    // Nothing was asked for by a guess.
    assert!(log.lock().unwrap().iter().all(|it| it == "channels"));
    let out = ran(&by_name("first"), &[("channel", "x")], &http).await;
    assert_eq!(out.data[0], json!({"text": "hello 7"}));
}

#[tokio::test]
async fn what_a_step_lacks_or_is_refused_is_told() {
    let (http, _) = chat().await;
    let refused = by_name("{ where: { name: '{channel}', archived: true } }");
    let out = ran(&refused, &[("channel", "general")], &http).await;
    assert_eq!((out.error_code, out.status_code), (Some("AUTH_REQUIRED"), Some(403)));
    let lacking = recipe(
        &[
            ("list", "/channels", "response: { type: json, extract: channels }"),
            ("messages", "/channels/{list.id}/messages", "response: { type: json }"),
        ],
        "",
    );
    let out = ran(&lacking, &[("channel", "x")], &http).await;
    assert_eq!(out.error_code, Some("EXTRACT_EMPTY"));
    assert!(out.hint.unwrap().contains("choose"));
}

#[tokio::test]
async fn two_choices_of_one_answer_are_asked_for_once() {
    let (http, log) = chat().await;
    let two = recipe(
        &[
            (
                "from",
                "/channels",
                "response: { type: json, extract: channels }, choose: { where: { name: '{channel}' } }",
            ),
            (
                "to",
                "/channels",
                "response: { type: json, extract: channels }, choose: { where: { id: 7 } }",
            ),
            (
                "messages",
                "/channels/{from.id}/messages",
                "response: { type: json, extract: 'messages[0]' }",
            ),
        ],
        "output: '{to: to.name, first: messages.text, from: from.id}'",
    );
    let out = ran(&two, &[("channel", "Off Topic")], &http).await;
    assert_eq!(out.data, json!({"to": "general", "first": "hello 9", "from": 9}));
    assert_eq!(*log.lock().unwrap(), ["channels", "messages 9 {}"]);
}

#[tokio::test]
async fn what_may_be_missing_is_null_and_said() {
    let (http, _) = chat().await;
    let answer = "response: { type: json }";
    let joined = |first: &str, path: &str, output: &str| {
        recipe(&[("votes", path, first), ("people", "/people", answer)], output)
    };
    let output = "output: '{all: people.ids, votes: votes}'";
    let optional = "response: { type: json }, optional: true";
    let out = ran(&joined(optional, "/nowhere", output), &[("channel", "x")], &http).await;
    assert_eq!(out.data, json!({"all": [1, 2, 3], "votes": null}));
    assert_eq!((out.success, out.complete), (true, Some(false)));
    assert!(out.warnings[0].contains("`votes`"), "{:?}", out.warnings);
    let out = ran(&joined(optional, "/people/1", output), &[("channel", "x")], &http).await;
    assert_eq!(out.data["votes"], json!({"name": "P1"}));
    assert_eq!((out.complete, out.warnings.len()), (None, 0));
    // Refused is not missing, and neither is what need not be there.
    let out =
        ran(&joined(optional, "/channels/8/messages", output), &[("channel", "x")], &http).await;
    assert_eq!((out.success, out.error_code), (false, Some("AUTH_REQUIRED")));
    let out = ran(&joined(answer, "/nowhere", output), &[("channel", "x")], &http).await;
    assert_eq!((out.success, out.error_code), (false, Some("NOT_FOUND")));
}

#[test]
fn what_may_be_missing_is_needed_by_no_step() {
    let why = |steps: &str, output: &str| {
        let step = |it: &str| format!("{{{it}, response: {{type: json}}}}");
        let steps: Vec<String> = steps.split(';').map(step).collect();
        let text = format!(
            "{{version: 2, name: a, task: t, status: draft, source_url: 'http://a.test/', parameters: [], steps: [{}]{output}}}",
            steps.join(", ")
        );
        yaml::parse(&text).map(|_| ()).map_err(|err| err.message().to_owned())
    };
    let get = |name: &str, path: &str| {
        format!(
            "name: {name}, request: {{method: GET, url: 'http://a.test/{path}', allowed_domains: [a.test]}}"
        )
    };
    let (a, b, joined) = (get("a", "a"), get("b", "b"), ", output: '{a: a, b: b}'");
    assert_eq!(why(&format!("{a}, optional: true;{b}"), joined), Ok(()));
    for (steps, output, want) in [
        (format!("{a}, optional: true;{b}"), "", "needs `output`"),
        (format!("{a};{b}, optional: true"), joined, "before the last"),
        (format!("{a}, optional: true;{}", get("b", "{a.id}")), joined, "no later step"),
    ] {
        let why = why(&steps, output).unwrap_err();
        assert!(why.contains(want), "{why}");
    }
}

#[tokio::test]
async fn one_call_for_each_item_in_their_order() {
    let (http, log) = chat().await;
    let each = |into: &str| {
        recipe(
            &[
                ("ids", "/people", "response: { type: json, extract: ids }"),
                (
                    "person",
                    "/people/{ids}",
                    &format!("for_each: ids{into}, response: {{ type: json }}"),
                ),
            ],
            "",
        )
    };
    let out = ran(&each(", into: who"), &[("channel", "x")], &http).await;
    assert_eq!(
        out.data,
        json!([{"ids": 1, "who": {"name": "P1"}}, {"ids": 2, "who": null}, {"ids": 3, "who": {"name": "P3"}}])
    );
    assert_eq!((out.items, out.total, out.complete), (Some(3), Some(3), Some(true)));
    assert_eq!(*log.lock().unwrap(), ["people", "person 1", "person 2", "person 3"]);
    let out = ran(&each(""), &[("channel", "x")], &http).await;
    assert_eq!(out.data, json!([{"name": "P1"}, null, {"name": "P3"}]));
    let out = ran(&each(", position: at"), &[("channel", "x")], &http).await;
    assert_eq!(out.data, json!([{"name": "P1", "at": 1}, {"name": "P3", "at": 3}]));
    assert_eq!((out.items, out.total), (Some(2), Some(3)));
    assert_eq!(out.warnings, ["the site has no answer for 1 of 3 items"]);
}

#[tokio::test]
async fn all_items_go_into_one_request() {
    let (http, log) = chat().await;
    let of = |path: &str, extract: &str, separator: &str| {
        let list = format!(
            "response: {{ type: json, extract: '{extract}' }}, choose: {{ all: '{separator}' }}"
        );
        let last = "response: { type: json, extract: found }";
        recipe(&[("all", path, &list), ("batch", "/batch/{all}", last)], "")
    };
    let given = [("channel", "x")];
    let out = ran(&of("/people", "ids", ","), &given, &http).await;
    assert_eq!((out.error, out.data), (None, json!(["1", "2", "3"])));
    // Nothing is asked for where there is nothing.
    log.lock().unwrap().clear();
    let out = ran(&of("/people", "ids[?@ > `5`]", ","), &given, &http).await;
    assert_eq!((out.error, out.data, out.items), (None, json!([]), Some(0)));
    assert_eq!(log.lock().unwrap()[..], ["people"]);
    // Two values are never read as three.
    let out = ran(&of("/channels", "channels[].name", " "), &given, &http).await;
    assert_eq!(out.error_code, Some("EXTRACT_EMPTY"));
    assert!(out.error.unwrap().contains("stands between two"));
    let out = ran(&of("/channels", "channels", ","), &given, &http).await;
    assert_eq!(out.error_code, Some("EXTRACT_EMPTY"));
    // What does not go into it is told.
    let out = ran(&of("/many", "ids", ","), &given, &http).await;
    assert_eq!((out.items, out.complete), (Some(100), Some(false)));
    assert!(out.warnings[0].contains("30 are left out"), "{:?}", out.warnings);
}

#[test]
fn values_of_a_list() {
    let items = [json!({"id": 7, "to": {"k": "a"}}), json!({"id": 8, "to": {"k": "b"}})];
    let of = |name: &str, separator: &str| all_values(&items, name, separator).ok();
    assert_eq!(of("s.to.k", "|"), Some(("a|b".to_owned(), None)));
    assert_eq!(of("s.id", ""), Some(("[7,8]".to_owned(), Some(json!([7, 8])))));
    assert_eq!(of("s.none", ""), None);
}

#[tokio::test]
async fn a_job_is_asked_for_until_it_is_done() {
    let (http, log) = chat().await;
    let job = |id: u32| {
        let poll = "response: { type: json }, poll: { until: \"state == 'done'\", at_most: 2 }";
        recipe(
            &[
                ("job", &format!("/jobs/{id}"), poll),
                ("person", "/people/{job.result}", "response: { type: json }"),
            ],
            "",
        )
    };
    let out = ran(&job(1), &[("channel", "x")], &http).await;
    assert_eq!(out.data, json!({"name": "P3"}));
    assert_eq!(*log.lock().unwrap(), ["job 1", "job 1", "person 3"]);
    let late = ran(&job(2), &[("channel", "x")], &http).await;
    assert_eq!(late.error_code, Some("EXTRACT_EMPTY"));
    let why = late.error.unwrap();
    assert!(why.contains("step `job`") && why.contains("not ready after 2 requests"), "{why}");
}

#[test]
fn what_steps_must_be() {
    let step = |name: &str, path: &str, more: &str| {
        format!(
            "  - {{ name: {name}, request: {{ method: GET, url: 'http://chat.test{path}', allowed_domains: [chat.test] }}, response: {{ type: json }}{more} }}\n"
        )
    };
    let one = step("a", "/a", "");
    let two = step("b", "/b/{a.id}", "");
    let parsed = |text: String| match yaml::parse(&text) {
        Ok(it) => {
            // As it was written.
            assert_eq!(yaml::parse(&it.to_yaml().unwrap()).unwrap(), it);
            "ok".to_owned()
        }
        Err(err) => err.message().to_owned(),
    };
    let of = |steps: &[&str]| parsed(format!("{HEAD}steps:\n{}", steps.concat()));
    assert_eq!(of(&[&one, &two]), "ok");
    for (steps, why) in [
        (vec![one.clone()], "2 to 4 steps"),
        (vec![one.clone(), one.clone()], "used twice"),
        (vec![two.clone(), one.clone()], "neither a parameter"),
        (vec![step("channel", "/a", ""), two.clone()], "used twice"),
        (vec![one.clone(), step("b", "/b", ", choose: only")], "`choose` belongs to"),
        (vec![step("a", "/a", ", choose: { where: {} }"), two.clone()], "1 to 4 conditions"),
        (
            vec![step("a", "/a", ", choose: { where: { name: '{x}' } }"), two.clone()],
            "neither a parameter",
        ),
        (vec![one.clone(), step("b", "/b", ", into: x")], "need `for_each`"),
        (vec![one.clone(), step("b", "/b", ", for_each: c")], "not the name of a step before"),
        (
            vec![step("a", "/a", ", choose: only"), step("b", "/b", ", for_each: a")],
            "takes all items",
        ),
        (
            vec![
                one.clone(),
                two.clone(),
                step("c", "/c", ""),
                step("d", "/d", ""),
                step("e", "/e", ""),
            ],
            "2 to 4 steps",
        ),
    ] {
        let all: Vec<&str> = steps.iter().map(String::as_str).collect();
        assert!(of(&all).contains(why), "{} is not {why}", of(&all));
    }
    let old = format!("{}steps:\n{one}{two}", HEAD.replace("version: 2", "version: 1"));
    assert!(parsed(old).contains("needs version 2"));
    let both = format!(
        "{HEAD}request: {{ method: GET, url: 'http://chat.test/', allowed_domains: [chat.test] }}\nresponse: {{ type: json }}\nsteps:\n{one}{two}"
    );
    assert!(parsed(both).contains("in place of"));
}

/// A recipe whose last address is what `/links` gives.
fn by_address(choose: &str) -> CompiledRecipe {
    let first = format!("response: {{ type: json, extract: links }}, choose: {choose}");
    let last = "name: last, request: { method: GET, url: 'http://chat.test/', address: '{links}', allowed_domains: [chat.test] }, \
         response: { type: json }";
    let text = format!(
        "{HEAD}steps:\n  - {{ name: links, request: {{ method: GET, url: 'http://chat.test/links', allowed_domains: [chat.test] }}, {first} }}\n  - {{ {last} }}\n"
    );
    compile(&yaml::parse(&text).unwrap_or_else(|err| panic!("{text}\n{err}"))).unwrap()
}

#[tokio::test]
async fn an_answer_gives_the_whole_address_in_a_member_that_is_named() {
    let (http, log) = chat().await;
    let named = by_address("{ key: '{channel}' }");
    for name in ["Path", "path", "whole"] {
        let out = ran(&named, &[("channel", name)], &http).await;
        assert_eq!(out.error, None, "{name}");
        assert_eq!(out.data, json!({"name": "P1"}), "{name}");
    }
    assert_eq!(log.lock().unwrap().last().unwrap(), "person 1");
    let asked = log.lock().unwrap().len();
    let said = async |name: &str| {
        let out = ran(&named, &[("channel", name)], &http).await;
        (out.error_code.unwrap_or_default(), format!("{:?} {:?}", out.error, out.hint))
    };
    let (code, why) = said("other").await;
    assert_eq!(code, "DOMAIN_NOT_ALLOWED");
    assert!(why.contains("http://evil.test"), "{why}");
    assert_eq!(said("scheme").await.0, "DOMAIN_NOT_ALLOWED");
    assert_eq!(said("user").await.0, "DOMAIN_NOT_ALLOWED");
    assert_eq!(said("override").await.0, "METHOD_NOT_ALLOWED");
    assert_eq!(log.lock().unwrap().len(), asked);
    let (code, why) = said("none").await;
    assert_eq!(code, "NOT_FOUND");
    assert!(why.contains("Path"), "{why}");
}
