//! Learning from a session that a person made: recorded once, kept, and given its parameters from what was typed.
//!
//! It is never made again by itself. What is kept before its parameters are known names what was typed after the fields it was
//! typed in (`search`, and `search#2` for what stood there later); naming them is a function of that recording, so it can be done
//! in a later run.

use std::{collections::BTreeMap, sync::Arc};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::{
    context::LearnContext,
    task::{Source, Task, fill},
    task_file::StoredTask,
};
use commis_artifacts::{
    kinds::Kind,
    recording::{Action, ActionKind, Place, ResourceType, SessionRecording},
    store::{ArtifactState, Stamp, json_sha256},
};
use commis_base::{
    error::{Code, Error, Result},
    settings::Display,
};
use commis_browser::{
    Browser, Choice, Element, FieldEdit, Fill, Step, Tick, Wait, find_visible_chromium,
    is_interactive, named_key,
};
use commis_redact::{RedactedRecording, redact};
use commis_stages::table::{STAGES, Stage};

/// More edits than this are not offered as parameters: the last ones are.
const MAX_TYPED: usize = 100;

/// Opens a window on the task's page and records until it is closed. `told` gets lines for a person, not redacted.
///
/// Fails with `DISPLAY_MISSING`, `BROWSER_MISSING`, `NETWORK_DISABLED` and what opening a page fails with.
pub async fn watch(
    task: &Task,
    cx: &LearnContext,
    told: &(dyn Fn(&str) + Send + Sync),
) -> Result<RedactedRecording> {
    let Source::Live { url, by_hand: true, .. } = &task.source else {
        return Err(Error::new(Code::Internal, "not a task that is recorded by hand"));
    };
    if cx.settings.egress.no_network {
        let err = Error::new(Code::NetworkDisabled, "recording by hand needs the network");
        return Err(err.hint("leave out --no-network, or learn from a HAR"));
    }
    let settings = &cx.settings.browser;
    let display = Display::find()?;
    let exe = find_visible_chromium(settings.path.as_deref())?;
    let browser = Browser::launch_visible(&exe, Arc::clone(&cx.policy), settings, &display).await?;
    let seen = async {
        let mut context = browser.context().await?;
        told("recording; close the window when done; Ctrl-C cancels");
        context.watch(&task.sentence, url, task.timeout, told).await
    };
    let seen = seen.await;
    // It is going away either way.
    let _ = browser.close().await;
    let seen = seen?;
    let mut raw = seen.recording;
    raw.typed = candidates(&seen.typed);
    Ok(redact(raw, &cx.settings.redact))
}

/// What was typed, by field; what stood in a field later is numbered.
fn candidates(typed: &[FieldEdit]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for it in &typed[typed.len().saturating_sub(MAX_TYPED)..] {
        let field = slug(&it.field);
        let n = counts.entry(field.clone()).or_default();
        *n += 1;
        let key = if *n == 1 { field } else { format!("{field}#{n}") };
        out.insert(key, it.value.clone());
    }
    out
}

/// `Search products` → `search_products`.
fn slug(name: &str) -> String {
    let words = name.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let out = words.map(str::to_lowercase).collect::<Vec<_>>().join("_");
    let out: String = out.chars().take(40).collect();
    if out.is_empty() { "field".to_owned() } else { out }
}

/// The recording that was kept of this task, if it was made by hand, on that page.
///
/// Fails with `ARTIFACT_CORRUPT` or `ARTIFACT_SCHEMA_MISMATCH`, and with `USAGE` when it is another recording.
pub fn load_recording(task: &Task, cx: &LearnContext) -> Result<Option<SessionRecording>> {
    let Some(folder) = cx.store.peek(&task.id)? else { return Ok(None) };
    if matches!(folder.find(Kind::SessionRecording)?, ArtifactState::Absent) {
        return Ok(None);
    }
    let recording: SessionRecording = folder.get()?;
    let same = StoredTask::read(&folder, &task.id)?.is_some_and(|it| it.same_page(task));
    if !same {
        let message = format!("task {} was recorded in another way, or on another page", task.id);
        return Err(Error::new(Code::Usage, message)
            .hint("give another --name, or record it again with --force"));
    }
    Ok(Some(recording))
}

/// Whether this recording is the one on disk, as the answer to what the task asks. Fails with `ARTIFACT_IO`.
pub fn is_stored(task: &Task, cx: &LearnContext, recording: &SessionRecording) -> Result<bool> {
    let Some(folder) = cx.store.peek(&task.id)? else { return Ok(false) };
    let ArtifactState::Intact(it) = folder.find(Kind::SessionRecording)? else { return Ok(false) };
    let asked = task.settings_sha256(Stage::Record, &cx.settings);
    Ok(it.settings_sha256 == asked && it.payload_sha256 == json_sha256(recording))
}

/// Keeps a recording whose parameters are not known yet. Fails with `ARTIFACT_IO`, or `TASK_BUSY`.
pub fn keep(task: &Task, cx: &LearnContext, recording: &SessionRecording) -> Result<()> {
    let folder = cx.store.task(&task.id)?;
    StoredTask::new(task, None)?.write(&folder)?;
    let spec = &STAGES[Stage::Record as usize];
    let stamp = Stamp {
        source_url: recording.url.clone(),
        stage: spec.stage.as_str().into(),
        stage_version: spec.version,
        inputs: BTreeMap::new(),
        settings_sha256: json_sha256(&task.question(Stage::Record, &cx.settings)),
    };
    folder.put(recording, stamp)?;
    folder.sync()
}

/// Names what was typed as the task's parameters: a value of `given` is found by itself; a `{name}` of the sentence that is not
/// given takes what was typed last in the field whose name fits it, or in the only field.
///
/// Fails with `USAGE`, saying what was typed, and with `SECRET_IN_TASK` when what was typed is masked.
pub fn assign(
    recording: &SessionRecording,
    sentence: &str,
    names: &[String],
    given: &BTreeMap<String, String>,
) -> Result<(SessionRecording, BTreeMap<String, String>)> {
    let typed = TypedFields::from_recording(recording);
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    let mut missing = Vec::new();
    for name in given.keys().chain(names.iter().filter(|it| !given.contains_key(*it))) {
        let key = match given.get(name) {
            Some(value) => typed.with(value, name),
            None => typed.fitting(name, &taken),
        };
        match key {
            Some(key) => _ = taken.insert(key.to_owned(), name.clone()),
            None => missing.push(format!("{{{name}}}")),
        }
    }
    if !missing.is_empty() {
        let message = format!(
            "it is not clear what was typed for {}; {}",
            missing.join(", "),
            typed.describe()
        );
        let err = Error::new(Code::Usage, message);
        if typed.0.is_empty() {
            return Err(err.hint("nothing was stored; record again and type the value"));
        }
        let name = missing[0].trim_matches(['{', '}']);
        return Err(err.hint(format!(
            "the recording is stored: repeat the command with --resume and -p {name}=VALUE, where VALUE is a text that you typed"
        )));
    }
    let mut out = recording.clone();
    let renamed = |it: &String| taken.get(it).cloned();
    out.typed = std::mem::take(&mut out.typed)
        .into_iter()
        .filter_map(|(key, value)| Some((renamed(&key)?, value)))
        .collect();
    if let Some((name, _)) = out.typed.iter().find(|it| it.1.contains("[REDACTED:")) {
        let message = format!("what was typed for `{name}` seems to be a secret");
        return Err(Error::new(Code::SecretInTask, message)
            .hint("a secret cannot be a parameter; record again without it"));
    }
    for it in &mut out.exchanges {
        let hits = &mut it.measures.typed_in_request;
        hits.retain_mut(|hit| renamed(&hit.name).map(|name| hit.name = name).is_some());
        let hits = std::mem::take(&mut it.measures.typed_in_response);
        it.measures.typed_in_response = hits.iter().filter_map(renamed).collect();
        it.measures.typed_in_response.sort();
    }
    out.task = fill(&commis_redact::redact_written(sentence), &out.typed);
    let values = out.typed.clone();
    Ok((out, values))
}

/// What was typed, by its key in the recording.
struct TypedFields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> TypedFields<'a> {
    fn from_recording(recording: &'a SessionRecording) -> Self {
        let mut all: Vec<_> =
            recording.typed.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        // `#10` comes after `#9`.
        all.sort_by_key(|it| (field(it.0), turn(it.0)));
        Self(all)
    }

    fn with(&self, value: &str, name: &str) -> Option<&'a str> {
        let same = |it: &str| it == value;
        let alike = |it: &str| it.trim().to_lowercase() == value.trim().to_lowercase();
        let fits: [&dyn Fn(&str) -> bool; 2] = [&same, &alike];
        fits.iter().find_map(|fit| {
            let all: Vec<_> = self.0.iter().filter(|it| fit(it.1)).collect();
            let named = all.iter().rfind(|it| field(it.0) == name);
            named.or(all.last()).map(|it| it.0)
        })
    }

    fn fitting(&self, name: &str, taken: &BTreeMap<String, String>) -> Option<&'a str> {
        let last = |of: &str| self.0.iter().rfind(|it| field(it.0) == of).map(|it| it.0);
        let mut fields: Vec<&str> = self.0.iter().map(|it| field(it.0)).collect();
        fields.dedup();
        fields.retain(|it| !taken.keys().any(|key| field(key) == *it));
        if fields.contains(&name) {
            return last(name);
        }
        let words = |it: &str| it.split('_').map(str::to_owned).collect::<Vec<_>>();
        let own = words(name);
        let fits = |it: &&str| words(it).iter().any(|word| own.contains(word));
        let fitting: Vec<&str> = fields.iter().copied().filter(fits).collect();
        match (fitting.as_slice(), fields.as_slice()) {
            ([one], _) | ([], [one]) => last(one),
            _ => None,
        }
    }

    fn describe(&self) -> String {
        if self.0.is_empty() {
            return "nothing was typed, or only a password".to_owned();
        }
        let all: Vec<_> = self
            .0
            .iter()
            .rev()
            .take(10)
            .map(|(key, value)| {
                let value: String = value.chars().take(60).collect();
                format!("{value:?} in {}", field(key).replace('_', " "))
            })
            .collect();
        format!("typed were {}", all.join(", "))
    }
}

fn field(key: &str) -> &str {
    key.split('#').next().unwrap_or(key)
}

fn turn(key: &str) -> u32 {
    key.split_once('#').and_then(|it| it.1.parse().ok()).unwrap_or(1)
}

/// The steps that were done by hand, with `{name}` where a value of the recording's was typed; the page is open already.
///
/// Fails with [`Code::StepFailed`] when one cannot be told so that it would be done again.
pub fn steps(recording: &SessionRecording) -> Result<Vec<Step>> {
    let mut out = Vec::new();
    for (i, it) in recording.actions.iter().enumerate().skip(1) {
        match step(it, &recording.typed) {
            // A click beside everything.
            Ok(Step::Click(_))
                if !it.role.as_deref().is_some_and(is_interactive) && !has_effect(recording, i) => {
            }
            Err(_) if it.kind == ActionKind::Click && !has_effect(recording, i) => {}
            Ok(step) => {
                out.push(step);
                out.extend(suggestions(recording, i).map(Step::WaitFor));
            }
            Err(why) => {
                let message = format!("step {i} was done by hand and cannot be repeated: {why}");
                return Err(Error::new(Code::StepFailed, message).hint(
                    "without --second the recipe stays a draft; or write the steps and learn with --url and --steps",
                ));
            }
        }
    }
    Ok(out)
}

/// The request that brought what is chosen next, or what the session ended with, where it was sent as one typed: a person waits
/// for that without doing anything.
fn suggestions(recording: &SessionRecording, at: usize) -> Option<Wait> {
    let action = recording.actions.get(at).filter(|it| it.kind == ActionKind::Fill)?;
    let next = recording.actions.get(at + 1);
    let goes_on = next.is_none_or(|it| {
        let arrow = it.value.as_ref().is_some_and(|it| it.starts_with("Arrow"));
        it.kind == ActionKind::Click || (it.kind == ActionKind::Press && arrow)
    });
    let (name, _) = recording.typed.iter().find(|it| Some(it.1) == action.value.as_ref())?;
    let data = [ResourceType::Xhr, ResourceType::Fetch, ResourceType::Script];
    let sent = recording.exchanges.iter().rfind(|it| {
        it.after_action == Some(at as u32)
            && data.contains(&it.resource_type)
            && it.measures.typed_in_request.iter().any(|hit| hit.name == *name)
    });
    let sent = sent.filter(|_| goes_on)?;
    let url = Url::parse(&sent.url).ok()?;
    let mut hits = sent.measures.typed_in_request.iter();
    let typed_at = hits.find(|it| it.name == *name && it.place == Place::Path);
    let segments = typed_at.and_then(|it| it.key.parse().ok()).unwrap_or(usize::MAX);
    let all: Vec<&str> = url.path_segments()?.take(segments).collect();
    let end = if typed_at.is_some() { "/" } else { "" };
    Some(Wait::Request(format!("/{}{end}", all.join("/"))))
}

/// Some request followed it.
fn has_effect(recording: &SessionRecording, action: usize) -> bool {
    recording.exchanges.iter().any(|it| it.after_action == Some(action as u32))
}

fn step(it: &Action, typed: &BTreeMap<String, String>) -> Result<Step, String> {
    let name = it.name.clone().unwrap_or_default();
    let value = it.value.clone().unwrap_or_default();
    let element = || match &it.role {
        Some(role) => Ok(Element::with_name(role, &holes(&name, typed))),
        None if name.is_empty() => Err("the element has neither role nor name".to_owned()),
        None => Err(format!("the name {name:?} does not identify the element")),
    };
    if value.contains("[REDACTED:") {
        return Err("the typed value is not stored".to_owned());
    }
    match it.kind {
        ActionKind::Navigate => Ok(Step::Navigate(url_holes(&value, typed))),
        ActionKind::Fill => Ok(Step::Fill(Fill { element: element()?, value: hole(value, typed) })),
        ActionKind::Select => {
            Ok(Step::Select(Choice { element: element()?, value: hole(value, typed) }))
        }
        ActionKind::Check => Ok(Step::Check(Tick(element()?))),
        ActionKind::Uncheck => Ok(Step::Uncheck(Tick(element()?))),
        ActionKind::Press if named_key(&value) => Ok(Step::Press(value)),
        ActionKind::Press => Err(format!("the key {value:?} is not known")),
        ActionKind::Click => Ok(Step::Click(element()?)),
        ActionKind::Hover | ActionKind::Scroll => Err("it is not done by hand".to_owned()),
        ActionKind::WaitFor => Err("nobody waits by hand".to_owned()),
    }
}

/// The parameter, where the whole value is one's.
fn hole(value: String, typed: &BTreeMap<String, String>) -> String {
    let whole = typed.iter().find(|it| *it.1 == value);
    whole.map_or(value, |it| format!("{{{}}}", it.0))
}

/// A suggestion is called after what was typed.
fn holes(text: &str, typed: &BTreeMap<String, String>) -> String {
    typed
        .iter()
        .filter(|it| it.1.chars().count() >= 3)
        .fold(text.to_owned(), |text, (name, value)| text.replace(value, &format!("{{{name}}}")))
}

fn url_holes(url: &str, typed: &BTreeMap<String, String>) -> String {
    let encoded = |it: &String| utf8_percent_encode(it, NON_ALPHANUMERIC).to_string();
    let encoded: BTreeMap<String, String> =
        typed.iter().map(|(name, it)| (name.clone(), encoded(it))).collect();
    holes(url, &encoded)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Fills of these fields, as a window would leave them.
    fn recording(typed: &[(&str, &str)]) -> SessionRecording {
        let typed: Vec<FieldEdit> = typed
            .iter()
            .map(|(field, value)| FieldEdit { field: (*field).into(), value: (*value).into() })
            .collect();
        let mut actions = vec![action("navigate", None, None, Some("http://a.test/"))];
        actions.extend(
            typed
                .iter()
                .map(|it| action("fill", Some("textbox"), Some(&it.field), Some(&it.value))),
        );
        serde_json::from_value(json!({
            "task": "Find {q}", "url": "http://a.test/", "driver": "steps", "typed": candidates(&typed),
            "final_answer": null, "actions": actions,
            "page": {"url": "", "title": "", "visible_text": "", "has_password_field": false},
            "exchanges": [], "blocked": [], "duration_ms": 0, "producer": ""
        }))
        .unwrap()
    }

    fn action(kind: &str, role: Option<&str>, name: Option<&str>, value: Option<&str>) -> Value {
        json!({"kind": kind, "role": role, "name": name, "value": value, "at_ms": 0})
    }

    fn check(
        typed: &[(&str, &str)],
        names: &[&str],
        given: &[(&str, &str)],
        expected: Result<&[(&str, &str)], Code>,
    ) {
        let own = |it: &[(&str, &str)]| {
            it.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect::<BTreeMap<_, _>>()
        };
        let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
        let recording = recording(typed);
        let got = assign(&recording, "Find {q}", &names, &own(given));
        match (got, expected) {
            (Ok((named, values)), Ok(expected)) => {
                assert_eq!(values, own(expected), "{typed:?}");
                // Naming what is named already changes nothing.
                let again = assign(&named, "Find {q}", &names, &own(given)).unwrap();
                assert_eq!(again.0, named);
            }
            (Err(err), Err(code)) => assert_eq!(err.code(), code, "{err}"),
            (got, expected) => panic!("{typed:?}: {:?} {expected:?}", got.map(|it| it.1)),
        }
    }

    #[test]
    fn what_was_typed_becomes_the_parameters() {
        let two = [("Search products", "lantern"), ("Colour", "green")];
        check(&two[..1], &["q"], &[], Ok(&[("q", "lantern")]));
        check(&two, &["colour"], &[], Ok(&[("colour", "green")]));
        check(&two, &["product", "colour"], &[], Err(Code::Usage));
        check(&two, &["search", "colour"], &[], Ok(&[("colour", "green"), ("search", "lantern")]));
        check(&two, &["q"], &[], Err(Code::Usage));
        check(&two, &["q"], &[("q", "green")], Ok(&[("q", "green")]));
        // The other field is the only one that is left.
        check(&two, &["q", "hue"], &[("hue", "green")], Ok(&[("hue", "green"), ("q", "lantern")]));
        check(&two, &[], &[("q", " Lantern")], Ok(&[("q", "lantern")]));
        check(&two, &[], &[("q", "hose")], Err(Code::Usage));
        check(&[], &["q"], &[], Err(Code::Usage));
        // The last edit counts, and an earlier one can be named.
        let twice = [("Search", "lan"), ("Search", "lantern"), ("Search", "hose")];
        check(&twice, &["q"], &[], Ok(&[("q", "hose")]));
        check(&twice, &["q"], &[("q", "lantern")], Ok(&[("q", "lantern")]));
        check(&[("Search", "[REDACTED:search]")], &["q"], &[], Err(Code::SecretInTask));
    }

    #[test]
    fn an_unclear_recording_says_what_was_typed() {
        let recording = recording(&[("Search products", "lantern"), ("Colour", "green")]);
        let err = assign(&recording, "Find {q}", &["q".to_owned()], &BTreeMap::new()).unwrap_err();
        for it in ["{q}", "\"lantern\" in search products", "\"green\" in colour"] {
            assert!(err.message().contains(it), "{err}");
        }
        assert!(err.hint_text().unwrap().contains("--resume and -p q="));
    }

    #[test]
    fn steps_have_holes_where_parameters_were_typed() {
        let mut it = recording(&[("Search", "lan tern")]);
        let more = [
            action("press", None, None, Some("Enter")),
            // Beside everything, and nothing came of it.
            action("click", None, Some("some text"), None),
            action("click", Some("heading"), Some("Offers"), None),
            action("click", Some("option"), Some("lan tern jack"), None),
            action("navigate", None, None, Some("http://a.test/?q=lan%20tern")),
        ];
        it.actions.extend(more.map(|it| serde_json::from_value(it).unwrap()));
        it.typed = BTreeMap::from([("q".to_owned(), "lan tern".to_owned())]);
        let element = Element::with_name("textbox", "Search");
        let fill = Fill { element, value: "{q}".into() };
        let option = Element::with_name("option", "{q} jack");
        assert_eq!(
            steps(&it).unwrap(),
            [
                Step::Fill(fill),
                Step::Press("Enter".into()),
                Step::Click(option),
                Step::Navigate("http://a.test/?q={q}".into())
            ]
        );
    }

    #[test]
    fn suggestions_are_waited_for() {
        let check = |next: Option<Value>, url: &str, place: &str, key: &str, wait: Option<&str>| {
            let mut it = recording(&[("Search", "lantern")]);
            it.typed = BTreeMap::from([("q".to_owned(), "lantern".to_owned())]);
            it.actions.extend(next.map(|it| serde_json::from_value(it).unwrap()));
            it.exchanges = vec![sent(url, place, key)];
            let waits: Vec<Step> = steps(&it).unwrap();
            let waits = waits.into_iter().filter(|it| matches!(it, Step::WaitFor(_)));
            let expected = wait.map(|it| Step::WaitFor(Wait::Request(it.to_owned())));
            assert_eq!(waits.collect::<Vec<_>>(), Vec::from_iter(expected), "{url}");
        };
        let query = "http://a.test/api/suggest?q=lantern";
        let option = action("click", Some("option"), Some("lantern jack"), None);
        check(Some(option), query, "query", "q", Some("/api/suggest"));
        check(None, query, "query", "q", Some("/api/suggest"));
        check(None, "http://a.test/api/of/lantern.json", "path", "2", Some("/api/of/"));
        check(Some(action("press", None, None, Some("Enter"))), query, "query", "q", None);
        check(
            Some(action("press", None, None, Some("ArrowDown"))),
            query,
            "query",
            "q",
            Some("/api/suggest"),
        );
    }

    /// A request after the first step in which `q` stands.
    fn sent(url: &str, place: &str, key: &str) -> commis_artifacts::recording::Exchange {
        serde_json::from_value(json!({
            "id": 0, "method": "GET", "url": url, "request_headers": [], "request_body": null, "status": 200,
            "response_headers": [], "mime": "application/json", "resource_type": "fetch",
            "initiator": {"kind": "script", "has_stack": true, "page_url": "", "target": "page"},
            "timing": {"start_ms": 0, "ttfb_ms": 0, "total_ms": 0}, "after_action": 1, "redirected_from": null,
            "encoded_bytes": null, "decoded_bytes": null, "body_status": "captured", "excerpt": null,
            "measures": {
                "shape": [], "lists": [], "leaves": 0, "leaves_visible": 0, "visible_weight": 0, "page_coverage_bp": 0,
                "typed_in_request": [{"name": "q", "place": place, "key": key, "exact": true}], "typed_in_response": [],
                "json_nodes": 0, "json_depth": 0, "top_keys": [], "embedded_json": []
            },
            "origins": []
        }))
        .unwrap()
    }

    #[test]
    fn what_cannot_be_done_again_says_why() {
        for (bad, why) in [
            (
                action("fill", Some("textbox"), Some("Word"), Some("[REDACTED:password]")),
                "not stored",
            ),
            (action("fill", None, Some("Word"), Some("x")), "does not identify"),
            (action("fill", None, None, Some("x")), "neither role nor name"),
            (action("press", None, None, Some("F13")), "F13"),
        ] {
            let mut it = recording(&[]);
            it.actions.push(serde_json::from_value(bad).unwrap());
            let err = steps(&it).unwrap_err();
            assert_eq!(err.code(), Code::StepFailed);
            assert!(err.message().contains(why), "{err}");
        }
    }
}
