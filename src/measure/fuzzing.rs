//! What strangers' bytes are thrown at: one function a target, which panics when something does not hold.
//!
//! `fuzz/` calls these under libFuzzer, the tests below with the seeds and mutations of them. Nothing here sends, reads or
//! writes anything. An input that a target takes apart is taken apart at line breaks, so that seeds can be read and written
//! by hand.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    path::Path,
};

use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use commis_artifacts::{
    kinds::{Artifact, Kind},
    payloads::{
        BaselineFingerprint, CandidateSet, CandidateSummary, Judged, MinimizationReport,
        ModelAnswer, RecipeAnalysis, RecipeDraft, RecipeDraftMinimized, SecondRecording,
        VerificationReport,
    },
    recording::{
        Driver, Initiator, InitiatorKind, ResourceType, SessionRecording, TargetKind, Timing,
    },
    store::{self, ArtifactState, Envelope},
};
use commis_base::{
    ids,
    settings::{EgressSettings, RankingSettings, RedactSettings},
};
use commis_batch::manifest;
use commis_export::{
    ExportFormat, export,
    import::{from_hurl, from_openapi},
};
use commis_learn::Source;
use commis_net::egress::{EgressPolicy, SafeUrl};
use commis_recipe::{
    check,
    document::Document,
    framing, inline_script_json,
    model::{
        BodyTemplate, Constraints, HtmlSpec, Pair, ParamSource, ParamType, Parameter,
        RequestTemplate, ResponseSpec, ResponseType,
    },
    projection::FieldMask,
    request::{CompiledRequest, PreparedRequest, bind, prepare_request},
    template, yaml,
};
use commis_redact::{
    har,
    raw::{RawBody, RawExchange, RawPage, RawRecording},
};
use commis_runner::extract::{HttpAnswer, extract, fingerprint};
use commis_stages::rank;

/// Panics when something does not hold for the bytes.
pub type Target = fn(&[u8]);

/// Every target by its name in `fuzz/fuzz_targets`, `fuzz/seeds` and `fuzz/dict`.
pub const TARGETS: &[(&str, Target)] = &[
    ("artifact", artifact),
    ("extract", extraction),
    ("framing", frames),
    ("har", import),
    ("import", described),
    ("manifest", manifest_file),
    ("recipe", recipe_file),
    ("redact", redaction),
    ("template", substitution),
    ("url", urls),
];

/// An OpenAPI document, or a Hurl file: each draft is a recipe that saves, and goes into every form without a panic.
pub fn described(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let all = [from_openapi(text, Some("https://shop.test")), from_hurl(text, "given")];
    for it in all.into_iter().flatten().flat_map(|it| it.drafts) {
        let text = yaml::to_yaml(&it.recipe).expect("a draft is written");
        let back = yaml::parse(&text).unwrap_or_else(|err| panic!("{err}: {text}"));
        assert_eq!(back, it.recipe);
        for form in ExportFormat::ALL {
            let made = export(std::slice::from_ref(&back), *form, &BTreeMap::new());
            let made = made.expect("a recipe is written or refused");
            assert!(made.files.is_empty() != made.refused.is_empty());
        }
    }
}

/// First line: a URL; the rest: where an answer from there redirects to.
///
/// What the policy allows reads back as itself, is public by a second opinion, and redirects stay on allowed hosts and on the
/// scheme.
pub fn urls(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (first, location) = text.split_once('\n').unwrap_or((text, ""));
    let settings = EgressSettings {
        test_hosts: vec!["shop.test=127.0.0.1:8123".to_owned()],
        allowed_ports: vec![8443],
        ..EgressSettings::default()
    };
    let policy = EgressPolicy::new(&settings).expect("the settings are right");
    let Ok(from) = policy.check(first) else { return };
    allowed(&policy, &from);
    let also = ["b.example.com".to_owned()];
    let Ok(to) = policy.redirect(&from, location, &also) else { return };
    allowed(&policy, &to);
    assert_eq!(to.scheme(), from.scheme(), "{location:?}");
    assert!(to.host() == from.host() || to.host() == also[0], "{location:?}");
}

fn allowed(policy: &EgressPolicy, url: &SafeUrl) {
    let text = url.as_str();
    let again = policy.check(text).unwrap_or_else(|err| panic!("{text:?} was allowed: {err}"));
    assert_eq!(&again, url);
    let parsed = Url::parse(text).expect("it was parsed before");
    assert!(matches!(parsed.scheme(), "http" | "https"), "{text:?}");
    assert!(parsed.username().is_empty() && parsed.password().is_none(), "{text:?}");
    assert!(matches!(url.port(), 80 | 443 | 8123 | 8443), "{text:?}");
    let host = url.host();
    match url.literal() {
        Some(IpAddr::V4(it)) => assert!(
            !(it.is_loopback()
                || it.is_private()
                || it.is_link_local()
                || it.is_multicast()
                || it.is_broadcast()
                || it.is_unspecified()
                || it.is_documentation()
                || it.octets()[0] == 0),
            "{text:?}"
        ),
        Some(IpAddr::V6(it)) => {
            assert!(
                (0x2000..0x4000).contains(&it.segments()[0]) && it.to_ipv4().is_none(),
                "{text:?}"
            );
        }
        None => {
            assert!(!host.ends_with('.') && host.contains('.'), "{text:?}");
            assert!(
                host.bytes().all(|b| b.is_ascii_lowercase()
                    || b.is_ascii_digit()
                    || matches!(b, b'-' | b'_' | b'.')),
                "{text:?}"
            );
            let last = host.rsplit('.').next().unwrap_or("");
            assert!(
                !matches!(last, "localhost" | "local" | "internal" | "arpa" | "onion"),
                "{text:?}"
            );
            assert!(last != "test" || host == "shop.test", "{text:?}");
        }
    }
}

/// Lines: path, query value, header value, body (JSON, else text), each a template over `{q}`; the rest: the value.
///
/// A value changes what stands in its place and nothing beside it: the request is held against the one of a harmless value.
pub fn substitution(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut parts = text.splitn(5, '\n');
    let mut next = || parts.next().unwrap_or("");
    let (path, query, header, body, value) = (next(), next(), next(), next(), next());
    let request = RequestTemplate {
        method: if body.is_empty() { "GET" } else { "POST" }.to_owned(),
        url: format!("https://shop.test:8443/{path}"),
        query: vec![
            Pair { name: "a".to_owned(), value: query.to_owned(), ..Pair::default() },
            Pair { name: "z".to_owned(), value: "last".to_owned(), ..Pair::default() },
        ],
        headers: BTreeMap::from([("x-a".to_owned(), header.to_owned())]),
        body: match serde_json::from_str(body) {
            _ if body.is_empty() => None,
            Ok(json) => Some(BodyTemplate::Json(json)),
            Err(_) => Some(BodyTemplate::Form(vec![
                Pair { name: "a".to_owned(), value: body.to_owned(), ..Pair::default() },
                Pair { name: "z".to_owned(), value: "last".to_owned(), ..Pair::default() },
            ])),
        },
        host: None,
        address: None,
        charset: None,
        allowed_domains: vec!["shop.test".to_owned()],
        allowed_sites: vec![],
    };
    let parameter = Parameter {
        name: "q".to_owned(),
        kind: ParamType::Str,
        required: true,
        source: ParamSource::TaskInput,
        default: None,
        constraints: Constraints::default(),
        examples: vec![],
    };
    let fill = |value: &str| {
        let given = BTreeMap::from([("q".to_owned(), value.to_owned())]);
        prepare_request(&request, std::slice::from_ref(&parameter), &given)
    };
    let Ok(out) = fill(value) else { return };
    let url = Url::parse(&out.url).expect("a request's URL parses");
    assert_eq!((url.scheme(), url.host_str()), ("https", Some("shop.test")), "{text:?}");
    assert_eq!((url.port(), url.fragment()), (Some(8443), None), "{text:?}");
    assert!(url.username().is_empty() && url.password().is_none(), "{text:?}");
    for (name, value) in &out.headers {
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{text:?}");
        assert!(!value.chars().any(|it| it.is_control() && it != '\t'), "{text:?}");
    }
    let Ok(plain) = fill("x") else { return };
    assert_eq!(outline(&out, &request), outline(&plain, &request), "{text:?}");
}

/// What no value may change: segments that hold no template, how many there are, names in query and form, keys in JSON,
/// names of headers.
fn outline(it: &PreparedRequest, request: &RequestTemplate) -> Vec<String> {
    let url = Url::parse(&it.url).expect("a request's URL parses");
    let fixed = |text: &str| template::Template::parse(text).is_ok_and(|it| it.is_literal());
    let template = request.url.split('/').skip(3);
    let mut out: Vec<String> = url.path().split('/').skip(1).map(str::to_owned).collect();
    // `.` and `..` in the template itself move segments; then only their number is compared.
    let moved = out.len() != template.clone().count();
    for (segment, template) in out.iter_mut().zip(template) {
        if moved || !fixed(template) {
            "*".clone_into(segment);
        }
    }
    out.extend(url.query_pairs().map(|it| format!("?{}", it.0)));
    out.extend(it.headers.iter().map(|it| it.0.clone()));
    let body = it.body.as_deref().unwrap_or_default();
    match &request.body {
        Some(BodyTemplate::Json(_)) => {
            fn keys(value: &Value, out: &mut Vec<String>) {
                match value {
                    Value::Object(all) => all.iter().for_each(|(key, it)| {
                        out.push(key.clone());
                        keys(it, out);
                    }),
                    Value::Array(all) => all.iter().for_each(|it| keys(it, out)),
                    _ => out.push("*".to_owned()),
                }
            }
            keys(&serde_json::from_slice(body).expect("a JSON body is JSON"), &mut out);
        }
        _ => out.extend(url::form_urlencoded::parse(body).map(|it| format!("={}", it.0))),
    }
    out
}

/// A HAR file. What is read from it is redacted and ranked, too.
pub fn import(data: &[u8]) {
    let typed = BTreeMap::from([("query".to_owned(), "lamps".to_owned())]);
    let Ok(it) = har::import(data, "search for lamps", typed) else { return };
    assert!(!it.recording.exchanges.is_empty());
    for exchange in &it.recording.exchanges {
        assert!(matches!(exchange.url.scheme(), "http" | "https") && exchange.url.has_host());
    }
    let recording = commis_redact::redact(it.recording, &RedactSettings::default()).recording;
    let count = recording.exchanges.len();
    assert!(
        recording
            .exchanges
            .iter()
            .all(|it| it.redirected_from.is_none_or(|it| (it as usize) < count))
    );
    let stored = serde_json::to_string(&recording).expect("a recording can be stored");
    let back: SessionRecording = serde_json::from_str(&stored).expect("and read");
    ranked(&back);
}

fn ranked(recording: &SessionRecording) {
    let second = SecondRecording::default();
    rank::rank(recording, &second, &RankingSettings::default());
}

/// The value that is a secret by its cookie; `%S` in the input stands for it.
const PLANTED: &str = "pl4nted-Q7w9Zx2Lk5Vb8Nm3";

/// Lines: MIME type, query, value of a request header, name of a response header; the rest: the body.
///
/// A secret does not come out wherever it was put, and what was redacted once stays as it is.
pub fn redaction(data: &[u8]) {
    let text = String::from_utf8_lossy(data).replace("%S", PLANTED);
    let mut parts = text.splitn(5, '\n');
    let mut next = || parts.next().unwrap_or("").to_owned();
    let (mime, query, header, name, body) = (next(), next(), next(), next(), next());
    let mut url = Url::parse("https://shop.example/api").expect("a URL");
    url.set_query(Some(&query));
    let recording = RawRecording {
        task: "search for lamps".to_owned(),
        url: "https://shop.example/".to_owned(),
        driver: Driver::Steps,
        typed: BTreeMap::from([("query".to_owned(), "lamps".to_owned())]),
        actions: Vec::new(),
        final_answer: Some(body.clone()),
        page: RawPage {
            url: url.to_string(),
            title: header.clone(),
            visible_text: body.clone(),
            ..RawPage::default()
        },
        exchanges: vec![RawExchange {
            method: "POST".to_owned(),
            url,
            request_headers: vec![
                ("Cookie".to_owned(), format!("theme=dark; sid={PLANTED}")),
                ("X-A".to_owned(), header.clone()),
            ],
            request_body: Some(body.clone().into_bytes()),
            status: Some(200),
            response_headers: vec![(name, header)],
            mime,
            resource_type: ResourceType::Fetch,
            initiator: Initiator {
                kind: InitiatorKind::Script,
                has_stack: false,
                page_url: "https://shop.example/".to_owned(),
                target: TargetKind::Page,
            },
            timing: Timing::default(),
            after_action: None,
            redirected_from: None,
            encoded_bytes: None,
            body: RawBody::Captured(body.clone().into_bytes()),
        }],
        blocked: Vec::new(),
        secrets: Vec::new(),
        notes: Vec::new(),
        duration_ms: 0,
        producer: "fuzzing".to_owned(),
    };
    let out = commis_redact::redact(recording, &RedactSettings::default()).recording;
    let stored = serde_json::to_string(&out).expect("a recording can be stored");
    for form in [stored.clone(), percent_decode_str(&stored).decode_utf8_lossy().into_owned()] {
        let at = form.find(PLANTED);
        let near = at.map(|it| form[..it].chars().rev().take(60).collect::<Vec<_>>());
        let near = near.map(|it| it.into_iter().rev().collect::<String>());
        assert!(
            near.is_none(),
            "{data:?} left it after {near:?}",
            data = data.escape_ascii().to_string()
        );
    }
    let once = commis_redact::message(&body);
    assert_eq!(commis_redact::message(&once), once, "of {body:?}");
}

/// An artifact's file, and the same bytes as a payload in an envelope whose hashes hold: read, refused, never a panic.
pub fn artifact(data: &[u8]) {
    if let Some(recording) = as_one::<SessionRecording>(data) {
        ranked(&recording);
    }
    as_one::<SecondRecording>(data);
    as_one::<Judged<CandidateSet>>(data);
    as_one::<CandidateSummary>(data);
    as_one::<ModelAnswer>(data);
    as_one::<Judged<RecipeAnalysis>>(data);
    as_one::<Judged<RecipeDraft>>(data);
    as_one::<BaselineFingerprint>(data);
    as_one::<MinimizationReport>(data);
    as_one::<Judged<RecipeDraftMinimized>>(data);
    as_one::<VerificationReport>(data);
}

/// Returns the payload when it is one of that kind.
fn as_one<A: Artifact>(data: &[u8]) -> Option<A> {
    let task = ids::TaskId::parse("a-00000000").expect("a task's id");
    store::inspect(data, A::KIND, &task);
    let Ok(mut payload) = serde_json::from_slice::<Value>(data) else { return None };
    if let Some(inner) = payload.get_mut("payload") {
        payload = inner.take();
    }
    let envelope = Envelope {
        artifact: A::KIND,
        artifact_version: A::KIND.version(),
        schema_hash: A::KIND.schema_hash().to_owned(),
        task_id: task.clone(),
        source_url: String::new(),
        created_at: String::new(),
        producer: store::Producer { stage: String::new(), stage_version: 1, commis: String::new() },
        inputs: BTreeMap::new(),
        settings_sha256: String::new(),
        payload_sha256: store::json_sha256(&payload),
        payload,
    };
    let bytes = serde_json::to_vec(&envelope).expect("JSON");
    let ArtifactState::Intact(found) = store::inspect(&bytes, A::KIND, &task) else {
        panic!("an envelope that holds is not taken as one");
    };
    for other in Kind::ALL.iter().filter(|it| **it != A::KIND) {
        assert!(matches!(store::inspect(&bytes, *other, &task), ArtifactState::Corrupt(_)));
    }
    let payload = serde_json::from_str::<A>(found.payload.get()).ok()?;
    let again = serde_json::to_value(&payload).expect("what was read can be stored");
    assert!(serde_json::from_value::<A>(again).is_ok());
    Some(payload)
}

/// A manifest. No HAR that it names is opened.
pub fn manifest_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let har = |path| Ok(Source::Har { path, sha256: String::new(), content: None });
    let Ok(it) = manifest::parse(text, Path::new("m.yaml"), true, har) else { return };
    assert!(!it.tasks.is_empty() && it.delay.as_secs() <= 3600);
    let names: BTreeSet<&str> = it.tasks.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), it.tasks.len());
    for task in &it.tasks {
        assert!((1..=600).contains(&task.timeout.as_secs()));
        let values = task.example(0);
        assert!(values.values().all(|it| !it.chars().any(char::is_control)));
        task.filled_sentence(0);
    }
}

/// A recipe's YAML. One that is accepted is written and read as itself, and its request goes nowhere but where it says.
pub fn recipe_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(recipe) = yaml::parse(text) else { return };
    let written = yaml::to_yaml(&recipe).expect("a recipe can be written");
    match yaml::parse(&written) {
        Ok(again) => assert_eq!(again, recipe, "{written}"),
        Err(err) => panic!("{err} in {written}"),
    }
    for (name, value) in &recipe.request.headers {
        assert!(check::check_header(name, value).is_ok());
    }
    let given: BTreeMap<String, String> = recipe
        .parameters
        .iter()
        .map(|it| {
            (it.name.clone(), it.examples.first().map_or_else(|| "x".to_owned(), Clone::clone))
        })
        .collect();
    let slots = recipe.slots.iter().map(|it| (it.name.clone(), "y".to_owned())).collect();
    let compiled = CompiledRequest::new(&recipe.request).expect("an accepted request compiles");
    if let Ok(out) = bind(&recipe, &given, &slots).and_then(|it| compiled.fill(&it)) {
        let host = Url::parse(&out.url).ok().and_then(|it| it.host_str().map(str::to_owned));
        let host = host.expect("a request has a host");
        let host = host.trim_end_matches('.');
        assert!(recipe.request.allowed_domains.iter().any(|it| it == host), "{host} of {text:?}");
        assert!(matches!(out.method.as_str(), "GET" | "POST"));
    }
}

/// First line: JMESPath, or `items selector` after `<`, or `script selector` after `!`; the rest: the document.
pub fn extraction(data: &[u8]) {
    let at = data.iter().position(|it| *it == b'\n').unwrap_or(data.len());
    let (Ok(how), document) = (std::str::from_utf8(&data[..at]), data.get(at + 1..).unwrap_or(&[]))
    else {
        return;
    };
    let mut spec = ResponseSpec::new(ResponseType::Html);
    if let Some(css) = how.strip_prefix('<') {
        let (items, field) = css.split_once('|').unwrap_or((css, ""));
        let fields = BTreeMap::from([("a".to_owned(), field.to_owned())]);
        spec.html = Some(HtmlSpec {
            items: items.to_owned(),
            run: field.starts_with('+'),
            single: false,
            group: None,
            fields,
            optional: Vec::new(),
            types: BTreeMap::new(),
        });
    } else if let Some(css) = how.strip_prefix('!') {
        spec.embedded = Some(css.to_owned());
    } else {
        spec.kind = ResponseType::Json;
        spec.extract = Some(how.to_owned());
    }
    if check::check_response(&spec).is_err() {
        return;
    }
    // The transports' cap.
    let document = &document[..document.len().min(1 << 20)];
    if let Ok(it) = extract(&spec, HttpAnswer::from_body("text/html", document)) {
        assert!(it.data != Value::Null, "{how:?}");
        fingerprint(&spec, &it);
    }
}

/// First line: a MIME type; the rest: a text that may hold JSON in a frame, or a script that assigns some.
///
/// What the recording finds in a frame is what a run finds in it.
pub fn frames(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (mime, body) = text.split_once('\n').unwrap_or(("", text));
    for declared in [false, true] {
        let Some(it) = framing::detect(body, mime, declared) else { continue };
        let read = |text: &str| {
            let read = framing::unframe(it.framing, text, FieldMask::ALL);
            read.ok().map(Document::into_value)
        };
        assert_eq!(read(body).as_ref(), Some(&it.value), "{text:?}");
        let written = framing::apply_framing(it.framing, &it.value);
        assert_eq!(read(&written).as_ref(), Some(&it.value), "{text:?}");
    }
    for (name, value) in inline_script_json::find_assignments(body) {
        assert!(name.is_empty() || inline_script_json::is_name(name), "{text:?}");
        assert!(value.is_object() || value.is_array(), "{text:?}");
    }
}

#[cfg(test)]
#[path = "fuzzing_tests.rs"]
mod tests;
