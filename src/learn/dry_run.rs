//! The request that a run would send, for the eye: with nothing sent, and no secret read.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use commis_base::{
    error::{Code, Error, Result},
    settings::Settings,
};
use commis_net::egress::EgressPolicy;
use commis_recipe::{
    auth,
    model::{AuthKind, Recipe, SlotSource},
    request::{CompiledRequest, PreparedRequest, bind},
    steps::{Choose, Step, split_step_name},
};

/// A request for the eye.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RenderedRequest {
    /// What is sent before it, in that order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RenderedStep>,
    pub method: String,
    pub url: String,
    pub body: Option<String>,
    pub headers: BTreeMap<String, String>,
}

/// A request before the last one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RenderedStep {
    pub name: String,
    /// Which item of its answer goes on, in words; absent where all of it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chooses: Option<String>,
    pub method: String,
    pub url: String,
    pub body: Option<String>,
    pub headers: BTreeMap<String, String>,
}

/// The requests with these values, slots, answers of earlier steps and a key by where they come from, their URLs judged. Fails with
/// `PARAM_INVALID`, `URL_BLOCKED`, `URL_INVALID` or `AUTH_NOT_ALLOWED`.
pub fn render(
    recipe: &Recipe,
    params: &BTreeMap<String, String>,
    policy: &EgressPolicy,
    settings: &Settings,
) -> Result<RenderedRequest> {
    let requests: Vec<CompiledRequest> =
        recipe.requests().map(CompiledRequest::new).collect::<Result<_>>()?;
    let is_step = |name: &str| recipe.steps_before().iter().any(|it| it.name == name);
    // What is not known before the run, by name, and what is shown in its place.
    let slots = recipe.slots.iter().map(|it| (it.name.clone(), origin(&it.from)));
    let given = requests.iter().flat_map(CompiledRequest::names).filter_map(|name| {
        let (step, field) = split_step_name(name);
        let what = field.map_or_else(|| format!("step {step}"), |it| format!("step {step}: {it}"));
        is_step(step).then(|| (name.to_owned(), what))
    });
    let unknown: BTreeMap<String, String> = slots.chain(given).collect();
    // Letters and digits stand unchanged wherever they land, so the marks can be found again.
    let marks: Vec<(String, String)> =
        unknown.values().enumerate().map(|(i, it)| (format!("zqSlot{i}qz"), it.clone())).collect();
    let mut values = bind(recipe, params, &BTreeMap::new())?;
    for (name, (mark, _)) in unknown.keys().zip(&marks) {
        values.add_slot(name, mark)?;
    }
    let unmark = |text: &str| {
        marks.iter().fold(text.to_owned(), |text, (mark, from)| {
            text.replace(mark, &format!("<from {from}>"))
        })
    };
    let mut all = Vec::with_capacity(requests.len());
    for it in &requests {
        all.push(show_request(recipe, it.fill(&values)?, (policy, settings), &unmark)?);
    }
    let mut last =
        all.pop().ok_or_else(|| Error::new(Code::Internal, "the recipe has no request"))?;
    last.steps = recipe
        .steps_before()
        .iter()
        .zip(all)
        .map(|(step, it)| RenderedStep::from_preview(step, it))
        .collect();
    Ok(last)
}

fn show_request(
    recipe: &Recipe,
    outgoing: PreparedRequest,
    (policy, settings): (&EgressPolicy, &Settings),
    unmark: &dyn Fn(&str) -> String,
) -> Result<RenderedRequest> {
    let PreparedRequest { method, url, headers, body, .. } = outgoing;
    let policy = policy.for_own_host(recipe.own_host.as_deref());
    let host = policy.judge(&url)?.host().to_owned();
    let mut shown = RenderedRequest {
        steps: Vec::new(),
        method,
        url: unmark(&url),
        headers: headers.into_iter().map(|(name, value)| (name, unmark(&value))).collect(),
        body: body.map(|it| unmark(&String::from_utf8_lossy(&it))),
    };
    if let Some(it) = &recipe.auth {
        auth::check_auth_host(it, &host, &settings.auth)?;
        let value = auth::placeholder(it);
        match (it.kind, &it.query) {
            (_, Some(name)) => {
                let mark = "zqKeyqz";
                let mut url = url::Url::parse(&url).map_err(|err| {
                    Error::new(Code::UrlInvalid, format!("the request URL is invalid: {err}"))
                })?;
                url.query_pairs_mut().append_pair(name, mark);
                shown.url = unmark(url.as_str()).replace(mark, &value);
            }
            (AuthKind::Bearer, _) => shown.add("authorization", format!("Bearer {value}")),
            (AuthKind::Basic, _) => shown.add("authorization", format!("Basic {value}")),
            (AuthKind::ApiKey, _) => {
                shown.add(it.header.as_deref().unwrap_or_default(), value);
            }
        }
    }
    Ok(shown)
}

impl RenderedStep {
    fn from_preview(step: &Step, it: RenderedRequest) -> Self {
        let RenderedRequest { method, url, body, headers, .. } = it;
        Self { name: step.name.clone(), chooses: choice(step), method, url, body, headers }
    }
}

/// Which item of a step's answer goes on, in words.
pub fn choice(step: &Step) -> Option<String> {
    Some(match step.choose.as_ref()? {
        Choose::Only => "the only item of its answer".to_owned(),
        Choose::First => "the first item of its answer".to_owned(),
        Choose::All(separator) if separator.is_empty() => {
            "all items of its answer, as a JSON list".to_owned()
        }
        Choose::All(separator) => {
            format!("all items of its answer, with `{}` between them", separator.escape_debug())
        }
        Choose::Key(key) => format!("the member of its answer that is called {key}"),
        Choose::Where(all) => {
            let all = all.iter().map(|(path, it)| {
                format!("{path} = {}", it.as_str().map_or_else(|| it.to_string(), str::to_owned))
            });
            format!("the one item with {}", all.collect::<Vec<_>>().join(" and "))
        }
    })
}

impl RenderedRequest {
    fn add(&mut self, name: &str, value: String) {
        self.headers.insert(name.to_owned(), value);
    }
}

/// Where a slot's value comes from, in words.
pub fn origin(from: &SlotSource) -> String {
    match from {
        SlotSource::Cookie { name, .. } => format!("cookie {name}"),
        SlotSource::Meta { name } => format!("the page's meta {name}"),
        SlotSource::Storage { area, key, path } => {
            let path = path.as_ref().map_or(String::new(), |it| format!(", {it}"));
            format!("the page's {} storage {key}{path}", area.as_str())
        }
        SlotSource::Response { url, path } => format!("{path} in the answer of {url}"),
        SlotSource::Document { url, .. } => format!("the page {url}"),
        SlotSource::Live { .. } => "the recorded session only".to_owned(),
    }
}
