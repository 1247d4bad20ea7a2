//! From a verified (or at least validated) draft to a recipe.

use std::collections::BTreeMap;

use percent_encoding::utf8_percent_encode;
use serde_json::Value;
use url::Url;

use super::{
    request::put_in_json, request_weaver::PATH_SEGMENT, trace::name_of, verify::Expectation,
};
use commis_artifacts::{
    payloads::{BaselineFingerprint, RecipeDraftMinimized, VerificationReport},
    recording::SessionRecording,
};
use commis_base::{error::Code, ids::RecipeName};
use commis_net::egress::site_of;
use commis_recipe::{
    model::{
        BodyTemplate, Completeness, Framing, LANGUAGE, LANGUAGE_2, LoginNeed, Recipe,
        RequestTemplate, ResponseSpec, SlotSource, Status, TransportKind, Verification, Witness,
    },
    shape::fingerprint,
    steps::{Assembly, Chain, Step, split_step_name},
    template::escape,
    trust::Trust,
};

/// What a recipe says of the task it came from.
pub struct RecipeInfo<'a> {
    pub name: &'a RecipeName,
    /// With `{parameter}` where example values go.
    pub sentence: &'a str,
    pub category: Option<&'a str>,
    pub expect: &'a Expectation,
}

/// The recipe that the artifacts prove. `verified_at` is when the verification was written.
pub fn publish(
    about: &RecipeInfo<'_>,
    recording: &SessionRecording,
    draft: &RecipeDraftMinimized,
    baseline: &BaselineFingerprint,
    report: &VerificationReport,
    verified_at: &str,
) -> Recipe {
    let (steps, mut request) = without(draft, &draft.taken, &report.needless);
    let (frozen, mut parameters): (Vec<_>, Vec<_>) =
        draft.parameters.iter().cloned().partition(|it| report.frozen.contains(&it.name));
    // The first two examples are what a recipe is proven again with.
    for it in &mut parameters {
        if let Some(value) = report.second.as_ref().and_then(|second| second.get(&it.name))
            && draft.first.get(&it.name) != Some(value)
        {
            it.examples.retain(|example| example != value);
            it.examples.insert(it.examples.len().min(1), value.clone());
        }
    }
    for it in &frozen {
        freeze(&mut request, &it.name, it.default.as_deref().unwrap_or(""));
    }
    // The hosts that slots are fetched from are reached too.
    for slot in &draft.slots {
        if let SlotSource::Document { url, .. } | SlotSource::Response { url, .. } = &slot.from {
            let host = Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned));
            add(&mut request.allowed_domains, host.unwrap_or_default());
            add(&mut request.allowed_sites, site_of(url));
        }
    }
    let chain = (!steps.is_empty()).then(|| {
        let is_free = |name: &str| {
            steps.iter().all(|it| it.name != name) && parameters.iter().all(|it| it.name != name)
        };
        let per_item = draft.assembly.as_ref().and_then(Assembly::per_item);
        let joined = match &draft.assembly {
            Some(Assembly::Output(it)) => Some(it),
            _ => None,
        };
        let last = joined.map_or_else(|| name_of(&request, is_free), |it| it.last.clone());
        Chain {
            before: steps,
            last,
            for_each: per_item.map(|it| it.step.clone()),
            into: per_item.and_then(|it| it.into.clone()),
            position: per_item.and_then(|it| it.position.clone()),
            output: joined.map(|it| it.expression.clone()),
        }
    });
    let is_second = report.pages.is_some() || chain.is_some() || request.host.is_some();
    Recipe {
        version: if is_second { LANGUAGE_2 } else { LANGUAGE },
        name: about.name.clone(),
        task: commis_redact::redact_written(about.sentence),
        category: about.category.map(str::to_owned),
        status: if report.verified { Status::Verified } else { Status::Draft },
        source_url: recording.url.clone(),
        own_host: None,
        parameters,
        request,
        chain,
        slots: draft.slots.clone(),
        login: login(recording, draft, report),
        auth: None,
        response: response(about.expect, draft, report),
        pages: report.pages.clone(),
        refused: refusal_reason(report),
        verification: Some(Verification {
            fingerprint_version: baseline.fingerprint_version,
            fingerprint_sha256: match &report.shape {
                Some(it) => fingerprint(it),
                None => baseline.fingerprint_sha256.clone(),
            },
            shape: report.shape.clone().unwrap_or_else(|| baseline.shape.clone()),
            profile: report.profile.clone(),
            verified_at: report.verified.then(|| verified_at.to_owned()),
            // Nothing was sent offline; the least risky transport is what a run tries.
            transport: match report.transport {
                TransportKind::Stub => TransportKind::PublicHttp,
                it => it,
            },
            requires_session: report.requires_session,
            browser_ms: (recording.duration_ms > 0).then_some(recording.duration_ms),
            witness: report.verified.then(|| {
                let got_file =
                    draft.response.framing == Some(Framing::File) && draft.captured.is_some();
                let is_seen = got_file || !report.coverage.is_empty();
                if is_seen { Witness::Page } else { Witness::None }
            }),
            proof: report.login,
            complete: complete(draft, report),
            examples: if report.verified { report.examples.clone() } else { Vec::new() },
            substitute: report.substitute.clone().filter(|_| report.verified),
            first_page: report.first_page.clone().filter(|_| report.verified),
        }),
        demotion: None,
        trust: if report.verified { Trust::Proven } else { Trust::Learned },
    }
}

/// The draft's steps and request without these steps: what was taken of them is written down.
pub fn without(
    draft: &RecipeDraftMinimized,
    taken: &BTreeMap<String, String>,
    left_out: &[String],
) -> (Vec<Step>, RequestTemplate) {
    let mut steps = draft.steps.clone();
    steps.retain(|it| !left_out.contains(&it.name));
    let mut request = draft.request.clone();
    let all = steps.iter_mut().map(|it| &mut it.request).chain([&mut request]);
    for request in all {
        for (name, value) in taken {
            if left_out.iter().any(|it| *it == split_step_name(name).0) {
                put_back(request, name, value);
            }
        }
    }
    (steps, request)
}

/// The login that the recipe needs, as far as is proven; of a recorded session that was logged in, as far as strangers are refused.
fn login(
    recording: &SessionRecording,
    draft: &RecipeDraftMinimized,
    report: &VerificationReport,
) -> Option<LoginNeed> {
    let recorded = draft.needs_login.then(|| site_of(&recording.url));
    report.login.and(recording.login_site.clone()).or(recorded).map(|site| LoginNeed {
        site,
        stranger: report.stranger,
        stranger_sha256: report.stranger_sha256.clone(),
    })
}

/// How the answer is read, with what the manifest expects of it and what a run can tell a changed site by.
fn response(
    expect: &Expectation,
    draft: &RecipeDraftMinimized,
    report: &VerificationReport,
) -> ResponseSpec {
    if let Some(it) = &draft.assembly {
        return it.response().clone();
    }
    let mut out = draft.response.clone();
    if report.html.is_some() {
        out.html.clone_from(&report.html);
    }
    if let Some(it) = out.html.as_mut().filter(|_| report.verified) {
        it.types.clone_from(&report.types);
    }
    out.min_items = out.min_items.max(expect.min_items);
    out.empty.clone_from(&report.empty);
    out.page_info.clone_from(&report.page_info);
    out.echo.clone_from(&report.echo);
    // No answer without items was seen, so that none is known to be one.
    if report.verified && is_list(draft, report) && out.empty.is_none() && out.html.is_none() {
        out.min_items = out.min_items.max(Some(1));
    }
    for it in expect.required_paths.iter().cloned().chain(way(&out)) {
        add(&mut out.required_paths, it);
    }
    out
}

/// The first answer was a list.
fn is_list(draft: &RecipeDraftMinimized, report: &VerificationReport) -> bool {
    let single = draft.response.html.as_ref().is_some_and(|it| it.single);
    !single && report.replays.first().is_some_and(|it| it.items.is_some())
}

/// The way to a list through other lists: a projection over keys that are gone is empty, and so is one that finds nothing.
fn way(response: &ResponseSpec) -> Option<String> {
    let path = response.extract.as_ref()?;
    let plain = path.split('.').all(|it| {
        let key = it.strip_suffix("[]").unwrap_or(it);
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    (plain && path.contains("[].")).then(|| path.clone())
}

/// Why it was not proven, where trying again without the page would prove less than learning asked for.
fn refusal_reason(report: &VerificationReport) -> Option<String> {
    const OPEN: &[&str] = &["captured_only", Code::NeedsSecondExampleForVerify.as_str()];
    report.reason.clone().filter(|it| !report.verified && !OPEN.contains(&it.as_str()))
}

fn complete(draft: &RecipeDraftMinimized, report: &VerificationReport) -> Option<Completeness> {
    let it = report.coverage.first().filter(|_| report.verified)?;
    let items = report.replays.first().and_then(|it| it.items).unwrap_or(1);
    let mut leaves_out = it.left_out.clone();
    if it.reordered {
        leaves_out.push("the page's order".to_owned());
    }
    if let Some(further) = draft.witness.as_ref().map(|it| it.further).filter(|it| *it > 0) {
        leaves_out.push(format!("{further} items of further pages"));
    }
    Some(Completeness {
        shown: it.shown,
        given: items as u32,
        fields_shown: it.fields,
        fields_given: it.fields_held,
        leaves_out,
    })
}

fn add(list: &mut Vec<String>, item: String) {
    if !item.is_empty() && !list.contains(&item) {
        list.push(item);
    }
}

/// Writes down what a step was answered in the first example.
fn put_back(request: &mut RequestTemplate, name: &str, value: &str) {
    let hole = format!("{{{name}}}");
    let text = escape(value);
    let put = |it: &mut String| *it = it.replace(&hole, &text);
    let in_path = utf8_percent_encode(value, PATH_SEGMENT).to_string();
    request.url = request.url.replace(&hole, &escape(&in_path));
    request.query.iter_mut().for_each(|it| put(&mut it.value));
    request.address.iter_mut().for_each(put);
    request.headers.values_mut().for_each(put);
    match &mut request.body {
        Some(BodyTemplate::Form(fields)) => fields.iter_mut().for_each(|it| put(&mut it.value)),
        Some(BodyTemplate::Json(body)) => {
            freeze_json(body, &format!("{{{name}|number}}"), value);
            put_in_json(body, &put);
        }
        Some(BodyTemplate::Text(it)) => put(it),
        None => {}
    }
}

/// Puts the recorded value back where a parameter without effect stood; a JSON number becomes a number again.
fn freeze(request: &mut RequestTemplate, name: &str, value: &str) {
    let hole = format!("{{{name}}}");
    let put = |text: &mut String| *text = text.replace(&hole, value);
    put(&mut request.url);
    request.query.iter_mut().for_each(|it| put(&mut it.value));
    match &mut request.body {
        Some(BodyTemplate::Form(fields)) => fields.iter_mut().for_each(|it| put(&mut it.value)),
        Some(BodyTemplate::Json(body)) => freeze_json(body, &hole, value),
        Some(BodyTemplate::Text(it)) => put(it),
        None => {}
    }
}

fn freeze_json(body: &mut Value, hole: &str, value: &str) {
    match body {
        Value::String(it) if it == hole => {
            *body = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        }
        Value::Array(items) => items.iter_mut().for_each(|it| freeze_json(it, hole, value)),
        Value::Object(fields) => fields.values_mut().for_each(|it| freeze_json(it, hole, value)),
        _ => {}
    }
}
