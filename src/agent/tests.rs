//! The loop, with a model that plays a list and hands that play a site: seed 002's criteria by their numbers.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{
    Action, ActionResult, AgentRun, BrowserDriver, Goal, HumanInput, HumanPrompt, Limits,
    NoHumanInput, PageView, PausedRequest, Reply, RunContext, RunEvent, RunOutcome, TaskPolicy,
    Usage,
    human_input::PromptKind,
    playbook::{Playbook, parse},
};
use commis_base::error::{Code, Error, Result};
use commis_model::{Call, ChatModel, ChatReply, EndReason as Ended, FailedCall, Tool, Turn};

/// What the model says, turn by turn; the last again and again.
struct Script {
    says: Vec<ScriptedReply>,
    asked: Mutex<Vec<Vec<Turn>>>,
    tools: Mutex<Vec<String>>,
}

#[derive(Clone)]
enum ScriptedReply {
    Calls(Vec<(&'static str, Value)>),
    Text(&'static str),
    Fails(bool),
}

fn call(name: &'static str, arguments: Value) -> ScriptedReply {
    ScriptedReply::Calls(vec![(name, arguments)])
}

fn done(evidence: &str) -> ScriptedReply {
    call(
        "complete_task",
        json!({"status": "success", "reason": "it is done", "evidence": evidence}),
    )
}

impl Script {
    fn new(says: &[ScriptedReply]) -> Self {
        Self { says: says.to_vec(), asked: Mutex::default(), tools: Mutex::default() }
    }

    fn asked(&self) -> Vec<Vec<Turn>> {
        self.asked.lock().unwrap().clone()
    }
}

impl ChatModel for Script {
    fn name(&self) -> &'static str {
        "script/1"
    }

    fn reply<'a>(
        &'a self,
        _: &'a str,
        turns: &'a [Turn],
        tools: &'a [Tool],
    ) -> BoxFuture<'a, Result<ChatReply, FailedCall>> {
        Box::pin(async move {
            *self.tools.lock().unwrap() = tools.iter().map(|it| it.name.clone()).collect();
            let n = {
                let mut asked = self.asked.lock().unwrap();
                asked.push(turns.to_vec());
                asked.len() - 1
            };
            let (text, calls) = match self.says.get(n).or(self.says.last()).unwrap() {
                ScriptedReply::Fails(passing) => {
                    let err = Error::new(Code::ModelFailed, "the model did not answer in time");
                    // The provider counts what was asked, whatever became of it.
                    let error = err.lasting(!passing);
                    return Err(FailedCall { error, tokens_in: 90, tokens_out: 1 });
                }
                ScriptedReply::Text(it) => (*it, Vec::new()),
                ScriptedReply::Calls(all) => ("", all.clone()),
            };
            let calls = calls.into_iter().enumerate().map(|(i, (name, arguments))| Call {
                id: format!("c{n}-{i}"),
                name: name.to_owned(),
                arguments,
                kept: Vec::new(),
            });
            Ok(ChatReply {
                text: text.to_owned(),
                calls: calls.collect(),
                end: Ended::Complete,
                stop: String::new(),
                tokens_in: 100,
                tokens_out: 10,
            })
        })
    }
}

/// A site: what each action leads to.
#[derive(Default)]
struct Site {
    /// What the page shows after so many actions; the last stays. Each `{looks}` in it is how often it was looked at.
    pages: Vec<&'static str>,
    looks: u32,
    urls: BTreeMap<usize, &'static str>,
    did: Arc<Mutex<Vec<Action>>>,
    fails: BTreeMap<&'static str, Code>,
    holds: Option<PausedRequest>,
    pictures: u32,
    windows: Vec<&'static str>,
}

impl Site {
    fn new(pages: &[&'static str]) -> Self {
        Self { pages: pages.to_vec(), ..Self::default() }
    }
}

impl BrowserDriver for Site {
    fn tools(&self) -> Vec<Tool> {
        let tool = |name: &str| Tool {
            name: name.to_owned(),
            help: String::new(),
            input: json!({"type": "object"}),
        };
        ["goto", "click", "fill", "press"].map(tool).to_vec()
    }

    fn act<'a>(&'a mut self, act: &'a Action, _: &'a str) -> BoxFuture<'a, Result<ActionResult>> {
        Box::pin(async move {
            if let Some(code) = self.fails.get(act.name.as_str()) {
                return Err(Error::new(*code, "that did not work"));
            }
            self.did.lock().unwrap().push(act.clone());
            let held = self.holds.take_if(|_| act.name == "click").into_iter().collect();
            Ok(ActionResult { text: format!("did {}", act.name), held })
        })
    }

    fn snapshot(&mut self) -> BoxFuture<'_, Result<PageView>> {
        Box::pin(async move {
            self.looks += 1;
            let n = self.did.lock().unwrap().len().saturating_sub(1);
            let content = self.pages.get(n).or(self.pages.last()).unwrap_or(&"");
            let content = content.replace("{looks}", &format!("12:00:{:02}", self.looks));
            let url = self.urls.range(..=n).next_back().map_or("http://shop.test/", |it| it.1);
            PageView::new(Some(url), Some("Shop"), Some(&content))
        })
    }

    fn picture(&mut self) -> BoxFuture<'_, Result<Option<PathBuf>>> {
        self.pictures += 1;
        Box::pin(std::future::ready(Ok(Some(PathBuf::from("page.png")))))
    }

    fn hand_over(&mut self, _: &str) -> BoxFuture<'_, bool> {
        self.windows.push("given");
        Box::pin(std::future::ready(true))
    }

    fn take_back(&mut self) -> BoxFuture<'_, Result<()>> {
        self.windows.push("taken back");
        Box::pin(std::future::ready(Ok(())))
    }
}

struct Person {
    replies: Mutex<Vec<Reply>>,
    asked: Mutex<Vec<HumanPrompt>>,
}

impl Person {
    fn new(replies: &[Reply]) -> Self {
        Self { replies: Mutex::new(replies.to_vec()), asked: Mutex::default() }
    }
}

impl HumanInput for Person {
    fn ask(&self, it: HumanPrompt) -> BoxFuture<'_, Reply> {
        self.asked.lock().unwrap().push(it);
        let reply = self.replies.lock().unwrap().pop().unwrap_or(Reply::Nobody);
        Box::pin(std::future::ready(reply))
    }
}

fn limits() -> Limits {
    Limits {
        turns: 20,
        tokens: None,
        cost: None,
        first_only: false,
        no_checkpoints: false,
        agrees: false,
    }
}

fn doing_with(limits: Limits, playbook: Option<Playbook>) -> AgentRun {
    let playbook = playbook.map(Arc::new);
    let said = ["Find a lantern"];
    let task_policy = TaskPolicy::new("http://shop.test/", &[], playbook.clone(), &said).unwrap();
    let goal = Goal { text: "Find a lantern".into(), url: "http://shop.test/".into(), playbook };
    AgentRun::new(goal, limits, task_policy, "zzcanaryzz".into())
}

fn agent_run() -> AgentRun {
    doing_with(limits(), None)
}

async fn begun(
    agent_run: &mut AgentRun,
    model: &Script,
    site: &mut Site,
    human_input: &dyn HumanInput,
) -> RunOutcome {
    let mut tell = |_: RunEvent| {};
    agent_run
        .begin(RunContext { chat_model: model, driver: site, human_input, tell: &mut tell })
        .await
        .unwrap()
}

fn reason(end: &RunOutcome) -> &str {
    match end {
        RunOutcome::Stopped { reason, .. } => reason,
        _ => "",
    }
}

fn playbook(more: &str) -> Playbook {
    let text = format!(
        "version: 1\nname: buy-lantern\ntask: Buy a lantern\nurl: http://shop.test/\ngoal: Buy one.\n\
         success:\n  - {{ text: thank you }}\nfailure:\n  - {{ text: something went wrong }}\n{more}"
    );
    parse(&text).unwrap()
}

#[tokio::test]
async fn ac_3_1_the_model_is_given_the_browsers_tools_and_ours() {
    let (model, mut site) = (Script::new(&[done("lantern")]), Site::new(&["text \"lantern\""]));
    begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    let tools = model.tools.lock().unwrap().clone();
    for name in ["goto", "click", "complete_task", "request_human_approval", "ask", "remember"] {
        assert!(tools.iter().any(|it| it == name), "{name}");
    }
    assert!(!tools.iter().any(|it| it.contains("approve")), "a model cannot approve");
}

#[tokio::test]
async fn ac_3_2_complete_task_ends_the_loop() {
    let (model, mut site) = (Script::new(&[done("lantern")]), Site::new(&["text \"lantern\""]));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert_eq!(end, RunOutcome::Done { answer: None, other: None });
    assert_eq!(model.asked().len(), 1);
}

#[tokio::test]
async fn ac_3_3_request_human_approval_waits_for_a_person() {
    let asks = call("request_human_approval", json!({"action": "buy", "reason": "it costs"}));
    for (reply, ends) in [(Reply::Yes, false), (Reply::No, true)] {
        let (model, mut site) =
            (Script::new(&[asks.clone(), done("lantern")]), Site::new(&["text \"lantern\""]));
        let person = Person::new(&[reply]);
        let end = begun(&mut agent_run(), &model, &mut site, &person).await;
        assert_eq!(end == RunOutcome::Rejected, ends);
        let asked = person.asked.lock().unwrap();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].kind, PromptKind::Checkpoint);
        assert!(asked[0].text.contains("\"buy\""));
    }
}

#[tokio::test]
async fn ac_4_1_only_the_first_call_is_done() {
    let two = ScriptedReply::Calls(vec![("click", json!({"target": "@e1"})), ("fill", json!({}))]);
    let (model, mut site) =
        (Script::new(&[two, done("lantern")]), Site::new(&["text \"lantern\""]));
    begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    let did: Vec<String> = site.did.lock().unwrap().iter().map(|it| it.name.clone()).collect();
    assert_eq!(did, ["goto", "click"]);
}

#[tokio::test]
async fn ac_4_2_turns_are_counted() {
    let says: Vec<ScriptedReply> =
        (0..40).map(|n| call("click", json!({"target": format!("@e{n}")}))).collect();
    let (model, mut site) = (Script::new(&says), Site::new(&[""]));
    let mut agent_run = agent_run();
    let end = begun(&mut agent_run, &model, &mut site, &NoHumanInput).await;
    assert_eq!(reason(&end), "max_turns_exceeded");
    assert_eq!((model.asked().len(), agent_run.usage().turns), (20, 20));
}

#[tokio::test]
async fn ac_4_3_history_grows_by_two_a_turn() {
    let says: Vec<ScriptedReply> = (0..4)
        .map(|n| call("click", json!({"target": format!("@e{n}")})))
        .chain([ScriptedReply::Text("hm"), done("lantern")])
        .collect();
    let (model, mut site) = (Script::new(&says), Site::new(&["text \"lantern\""]));
    begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    let sizes: Vec<usize> = model.asked().iter().map(Vec::len).collect();
    assert_eq!(sizes, [1, 3, 5, 7, 9, 11]);
}

#[tokio::test]
async fn ac_4_4_success_that_is_seen_is_success() {
    let claim = call(
        "complete_task",
        json!({"status": "success", "reason": "found", "answer": "Lantern, 12 €", "other_values": {"q": "rake"}}),
    );
    let (model, mut site) = (Script::new(&[claim]), Site::new(&["text \"Lantern, 12 €\""]));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    let answer = Some(json!("Lantern, 12 €"));
    assert_eq!(end, RunOutcome::Done { answer, other: Some(json!({"q": "rake"})) });
    let failed = call("complete_task", json!({"status": "failed", "reason": "there is none"}));
    let (model, mut site) = (Script::new(&[failed]), Site::new(&[""]));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert_eq!(end, RunOutcome::GaveUp("there is none".into()));
}

#[tokio::test]
async fn ac_4_5_three_turns_without_an_action_end_it() {
    let (model, mut site) = (Script::new(&[ScriptedReply::Text("I think")]), Site::new(&[""]));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert_eq!(reason(&end), "llm_no_action");
    assert_eq!(model.asked().len(), 3);
    // One in between begins the count anew.
    let says = [
        ScriptedReply::Text(""),
        ScriptedReply::Text(""),
        call("click", json!({"target": "@e1"})),
        ScriptedReply::Text(""),
        ScriptedReply::Text(""),
        done("lantern"),
    ];
    let (model, mut site) = (Script::new(&says), Site::new(&["lantern"]));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
}

#[tokio::test]
async fn ac_4_6_an_error_of_an_action_goes_back_to_the_model() {
    let says = [call("fill", json!({"target": "@e1", "value": "lantern"})), done("lantern")];
    let (model, mut site) = (Script::new(&says), Site::new(&["lantern"]));
    site.fails.insert("fill", Code::StepFailed);
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
    let asked = model.asked();
    let Some(Turn::Tool { text, .. }) = asked[1].last() else { panic!("{asked:?}") };
    let told: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(told, json!({"error": true, "message": "that did not work"}));
    // What the browser itself cannot do any more is no news for the model.
    let (model, mut site) = (Script::new(&says), Site::new(&["lantern"]));
    site.fails.insert("fill", Code::BrowserFailed);
    let mut tell = |_: RunEvent| {};
    let parts = RunContext {
        chat_model: &model,
        driver: &mut site,
        human_input: &NoHumanInput,
        tell: &mut tell,
    };
    assert_eq!(agent_run().begin(parts).await.unwrap_err().code(), Code::BrowserFailed);
}

/// Says no, and looks how much was done by then.
struct RefusingPerson(Arc<Mutex<Vec<Action>>>, Mutex<usize>);
impl HumanInput for RefusingPerson {
    fn ask(&self, _: HumanPrompt) -> BoxFuture<'_, Reply> {
        *self.1.lock().unwrap() = self.0.lock().unwrap().len();
        Box::pin(std::future::ready(Reply::No))
    }
}

#[tokio::test]
async fn ac_5_1_a_checkpoint_comes_before_the_action() {
    let book = playbook("checkpoints:\n  - { action: click, target: finish }\n");
    let says = [call("click", json!({"target": "button \"Finish\""})), done("x")];
    let (model, mut site) = (Script::new(&says), Site::new(&["button \"Finish\" @e1"]));
    let did = Arc::clone(&site.did);
    let person = RefusingPerson(Arc::clone(&did), Mutex::new(99));
    let mut agent_run = doing_with(limits(), Some(book.clone()));
    assert_eq!(begun(&mut agent_run, &model, &mut site, &person).await, RunOutcome::Rejected);
    assert_eq!(*person.1.lock().unwrap(), 1, "only the page was opened");
    assert_eq!(did.lock().unwrap().len(), 1);
    // Without checkpoints nobody is asked.
    let (model, mut site) = (Script::new(&says), Site::new(&["button \"Finish\"", "thank you"]));
    let mut agent_run = doing_with(Limits { no_checkpoints: true, ..limits() }, Some(book));
    let end = begun(&mut agent_run, &model, &mut site, &NoHumanInput).await;
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
}

#[tokio::test]
async fn ac_5_2_and_5_3_a_person_decides_at_a_checkpoint() {
    for (reply, done_is) in [(Reply::Yes, true), (Reply::No, false), (Reply::Nobody, false)] {
        let book = playbook("checkpoints:\n  - { action: click, target: finish }\n");
        let says = [call("click", json!({"target": "button \"Finish\""})), done("x")];
        let (model, mut site) =
            (Script::new(&says), Site::new(&["button \"Finish\"", "thank you"]));
        let person = Person::new(std::slice::from_ref(&reply));
        let mut agent_run = doing_with(limits(), Some(book));
        let end = begun(&mut agent_run, &model, &mut site, &person).await;
        assert_eq!(matches!(end, RunOutcome::Done { .. }), done_is, "{reply:?} {end:?}");
        assert_eq!(site.did.lock().unwrap().len(), if done_is { 2 } else { 1 });
        if reply == Reply::Nobody {
            assert!(matches!(end, RunOutcome::Nobody(_)));
        }
    }
}

#[tokio::test]
async fn ac_5_4_whoever_is_asked_is_shown_a_picture() {
    let asks = call("request_human_approval", json!({"action": "buy", "reason": "it costs"}));
    let (model, mut site) = (Script::new(&[asks]), Site::new(&[""]));
    let person = Person::new(&[Reply::No]);
    begun(&mut agent_run(), &model, &mut site, &person).await;
    assert_eq!(site.pictures, 1);
    assert_eq!(person.asked.lock().unwrap()[0].picture, Some(PathBuf::from("page.png")));
}

#[tokio::test]
async fn ac_6_3_success_that_the_playbook_sees_is_verified() {
    let (model, mut site) = (Script::new(&[done("")]), Site::new(&["heading \"Thank you\""]));
    let mut agent_run = doing_with(limits(), Some(playbook("")));
    let end = begun(&mut agent_run, &model, &mut site, &NoHumanInput).await;
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
}

#[tokio::test]
async fn ac_6_4_success_that_nobody_sees_goes_back_to_the_model() {
    for page in ["heading \"Basket\"", "Thank you? Something went wrong"] {
        let says = [done("Basket"), call("click", json!({"target": "@e1"})), done("")];
        let (model, mut site) = (Script::new(&says), Site::new(&[page, "thank you"]));
        let mut agent_run = doing_with(limits(), Some(playbook("")));
        let end = begun(&mut agent_run, &model, &mut site, &NoHumanInput).await;
        assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
        let asked = model.asked();
        let Some(Turn::Tool { text, .. }) = asked[1].last() else { panic!("{asked:?}") };
        assert!(text.contains("\"error\":true") && text.contains("http://shop.test/"), "{text}");
    }
    // Claimed to the end, and never seen.
    let (model, mut site) = (Script::new(&[done("Basket")]), Site::new(&["heading \"Basket\""]));
    let mut agent_run = doing_with(limits(), Some(playbook("")));
    let end = begun(&mut agent_run, &model, &mut site, &NoHumanInput).await;
    assert_eq!(reason(&end), "verification_failed");
}

#[tokio::test]
async fn the_contract_is_agreed_to_before_the_first_step() {
    let agrees = || doing_with(Limits { agrees: true, ..limits() }, None);
    let (model, mut site) = (Script::new(&[done("lantern")]), Site::new(&["lantern"]));
    let person = Person::new(&[Reply::No]);
    let end = begun(&mut agrees(), &model, &mut site, &person).await;
    assert_eq!(end, RunOutcome::Rejected);
    assert!(site.did.lock().unwrap().is_empty() && model.asked().is_empty());
    let asked: Vec<HumanPrompt> = person.asked.lock().unwrap().clone();
    assert_eq!(asked[0].kind, PromptKind::Contract);
    assert!(asked[0].text.starts_with("pages of shop.test; "), "{}", asked[0].text);
    let person = Person::new(&[Reply::Yes]);
    let end = begun(&mut agrees(), &model, &mut site, &person).await;
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
    // Who gave the command and is not there has agreed by it.
    let (model, mut site) = (Script::new(&[done("lantern")]), Site::new(&["lantern"]));
    let end = begun(&mut agrees(), &model, &mut site, &NoHumanInput).await;
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
}

#[tokio::test]
async fn ac_7_2_and_7_3_a_login_page_stops_for_a_person_and_the_task_goes_on() {
    let login = "heading \"Log in\"\n@e1 textbox \"Email\"\n@e2 textbox \"Password\" [protected]\n@e3 button \"Log in\"";
    let (model, mut site) = (
        Script::new(&[call("click", json!({"target": "@e1"})), done("lantern")]),
        Site::new(&["lantern", login]),
    );
    site.urls = BTreeMap::from([(0, "http://shop.test/"), (1, "http://shop.test/login")]);
    let person = Person::new(&[Reply::Yes]);
    begun(&mut agent_run(), &model, &mut site, &person).await;
    let asked: Vec<PromptKind> = person.asked.lock().unwrap().iter().map(|it| it.kind).collect();
    assert_eq!(asked, [PromptKind::Wall]);
    assert!(model.asked().len() > 1, "the task went on");
    assert_eq!(site.windows, ["given", "taken back"]);
    let (model, mut site) =
        (Script::new(&[call("click", json!({"target": "@e1"}))]), Site::new(&["x", login]));
    site.urls = BTreeMap::from([(1, "http://shop.test/login")]);
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert!(matches!(end, RunOutcome::Wall(_)), "{end:?}");
    assert!(site.windows.is_empty(), "nobody was there");
}

#[tokio::test]
async fn ac_8_6_a_dry_run_tells_the_first_action_and_does_nothing() {
    let (model, mut site) =
        (Script::new(&[call("click", json!({"target": "@e1"}))]), Site::new(&["x"]));
    let mut agent_run = doing_with(Limits { first_only: true, ..limits() }, None);
    let end = begun(&mut agent_run, &model, &mut site, &NoHumanInput).await;
    let RunOutcome::First(act) = end else { panic!("{end:?}") };
    assert_eq!(act.describe(), "click @e1");
    assert_eq!(site.did.lock().unwrap().len(), 1, "only the page was opened");
}

#[tokio::test(start_paused = true)]
async fn the_model_is_asked_three_times_and_then_no_more() {
    let begun_at = tokio::time::Instant::now();
    let (model, mut site) = (Script::new(&[ScriptedReply::Fails(true)]), Site::new(&["x"]));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert_eq!((reason(&end), model.asked().len()), ("llm_error", 3));
    assert_eq!(begun_at.elapsed().as_secs(), 3);
    let says = [ScriptedReply::Fails(true), ScriptedReply::Fails(true), done("lantern")];
    let (model, mut site) = (Script::new(&says), Site::new(&["lantern"]));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
    // What would fail again is not tried again.
    let (model, mut site) = (Script::new(&[ScriptedReply::Fails(false)]), Site::new(&["x"]));
    begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert_eq!(model.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_failed_calls_take_is_counted() {
    let says = [ScriptedReply::Fails(true), ScriptedReply::Fails(true), done("lantern")];
    let (model, mut site) = (Script::new(&says), Site::new(&["lantern"]));
    let mut it = agent_run();
    let mut notes = Vec::new();
    let mut tell = |it: RunEvent| notes.push(it);
    let parts = RunContext {
        chat_model: &model,
        driver: &mut site,
        human_input: &NoHumanInput,
        tell: &mut tell,
    };
    let end = it.begin(parts).await.unwrap();
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
    assert_eq!(it.usage(), Usage { turns: 1, tokens_in: 280, tokens_out: 12 });
    let told = notes.iter().find_map(|it| match it {
        RunEvent::Model { tokens_in, tokens_out, .. } => Some((*tokens_in, *tokens_out)),
        _ => None,
    });
    assert_eq!(told, Some((280, 12)));
    // Where they are the budget, it is not tried again.
    let (model, mut site) = (Script::new(&[ScriptedReply::Fails(true)]), Site::new(&["x"]));
    let mut it = doing_with(Limits { tokens: Some(150), ..limits() }, None);
    let end = begun(&mut it, &model, &mut site, &NoHumanInput).await;
    assert_eq!((reason(&end), model.asked().len()), ("llm_error", 2));
    assert_eq!(it.usage(), Usage { turns: 0, tokens_in: 180, tokens_out: 2 });
}

#[tokio::test(start_paused = true)]
async fn a_clock_does_not_hide_a_loop_and_a_counter_that_counts_is_none() {
    let same = call("click", json!({"target": "@e1"}));
    let (model, mut site) =
        (Script::new(std::slice::from_ref(&same)), Site::new(&["text \"{looks}\""]));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert_eq!((reason(&end), model.asked().len()), ("loop_detected", 3));
    let says = [same.clone(), same.clone(), same.clone(), same, done("5 in the cart")];
    let pages =
        ["1 in the cart", "2 in the cart", "3 in the cart", "4 in the cart", "5 in the cart"];
    let (model, mut site) = (Script::new(&says), Site::new(&pages));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
}

#[tokio::test]
async fn budgets_and_loops_end_it() {
    let says: Vec<ScriptedReply> =
        (0..40).map(|n| call("click", json!({"target": format!("@e{n}")}))).collect();
    let (model, mut site) = (Script::new(&says), Site::new(&[""]));
    let mut it = doing_with(Limits { tokens: Some(500), ..limits() }, None);
    assert_eq!(reason(&begun(&mut it, &model, &mut site, &NoHumanInput).await), "budget_exceeded");
    assert_eq!(it.usage().turns, 5);
    let (model, mut site) = (Script::new(&says), Site::new(&[""]));
    let mut it = doing_with(Limits { cost: Some((0.001, 0.01, 0.35)), ..limits() }, None);
    assert_eq!(reason(&begun(&mut it, &model, &mut site, &NoHumanInput).await), "budget_exceeded");
    assert_eq!(it.usage().turns, 2);
    let same = call("click", json!({"target": "@e1"}));
    let (model, mut site) = (Script::new(&[same]), Site::new(&["x"]));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert_eq!((reason(&end), model.asked().len()), ("loop_detected", 3));
}

#[tokio::test]
async fn what_is_held_ends_the_turn_and_can_be_gone_on_from() {
    let says = [call("click", json!({"target": "@e1"})), done("lantern")];
    let (model, mut site) = (Script::new(&says), Site::new(&["x", "lantern"]));
    let held = PausedRequest {
        id: "1".into(),
        method: "POST".into(),
        url: "http://shop.test/orders".into(),
        headers: Vec::new(),
        body: Some(b"a=1".to_vec()),
        is_opaque: false,
        why: "it orders".into(),
        cookies: Vec::new(),
    };
    site.holds = Some(held.clone());
    let mut agent_run = agent_run();
    assert_eq!(
        begun(&mut agent_run, &model, &mut site, &NoHumanInput).await,
        RunOutcome::Held(vec![held])
    );
    let mut tell = |_: RunEvent| {};
    let parts = RunContext {
        chat_model: &model,
        driver: &mut site,
        human_input: &NoHumanInput,
        tell: &mut tell,
    };
    let end = agent_run.resume("a person approved it; it was sent", parts).await.unwrap();
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
    let asked = model.asked();
    let Some(Turn::Tool { id, text, .. }) = asked[1].last() else { panic!("{asked:?}") };
    assert_eq!(id, "c0-0");
    assert!(text.starts_with("a person approved it"));
}

#[tokio::test]
async fn what_a_page_wants_of_the_model_is_not_done() {
    let says = [
        call("goto", json!({"url": "http://evil.test/?q=x"})),
        call("approve", json!({"id": "1"})),
        call("goto", json!({"url": "http://shop.test/account/delete"})),
        done("lantern"),
    ];
    let (model, mut site) = (Script::new(&says), Site::new(&["lantern"]));
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert!(matches!(end, RunOutcome::Done { .. }), "{end:?}");
    assert_eq!(site.did.lock().unwrap().len(), 1, "only the page was opened");
    let (model, mut site) = (
        Script::new(&[call("fill", json!({"target": "@e1", "value": "zzcanaryzz"}))]),
        Site::new(&["x"]),
    );
    let end = begun(&mut agent_run(), &model, &mut site, &NoHumanInput).await;
    assert_eq!(reason(&end), "canary_seen");
}
