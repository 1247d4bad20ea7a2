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
    request::{CompiledRequest, Outgoing, bind},
};

/// A request for the eye.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Shown {
    pub method: String,
    pub url: String,
    pub body: Option<String>,
    pub headers: BTreeMap<String, String>,
}

/// The request with these values, slots and a key by where they come from, its URL judged. Fails with `PARAM_INVALID`,
/// `URL_BLOCKED`, `URL_INVALID` or `AUTH_NOT_ALLOWED`.
pub fn render(
    recipe: &Recipe,
    params: &BTreeMap<String, String>,
    policy: &EgressPolicy,
    settings: &Settings,
) -> Result<Shown> {
    // Letters and digits stand unchanged wherever they land, so the marks can be found again.
    let mark = |i: usize| format!("zqSlot{i}qz");
    let marks: BTreeMap<String, String> =
        recipe.slots.iter().enumerate().map(|(i, it)| (it.name.clone(), mark(i))).collect();
    let values = bind(recipe, params, &marks)?;
    let Outgoing { method, url, headers, body, .. } =
        CompiledRequest::new(&recipe.request)?.fill(&values)?;
    let policy = policy.visiting(recipe.own_host.as_deref());
    let host = policy.judge(&url)?.host().to_owned();
    let unmark = |text: &str| {
        recipe.slots.iter().enumerate().fold(text.to_owned(), |text, (i, slot)| {
            text.replace(&mark(i), &format!("<from {}>", origin(&slot.from)))
        })
    };
    let mut shown = Shown {
        method,
        url: unmark(&url),
        headers: headers.into_iter().map(|(name, value)| (name, unmark(&value))).collect(),
        body: body.map(|it| unmark(&String::from_utf8_lossy(&it))),
    };
    if let Some(it) = &recipe.auth {
        auth::allow(it, &host, &settings.auth)?;
        let value = auth::shown(it);
        match (it.kind, &it.query) {
            (_, Some(name)) => {
                let mark = mark(recipe.slots.len());
                let mut url = url::Url::parse(&url)
                    .map_err(|err| Error::new(Code::UrlInvalid, format!("request URL: {err}")))?;
                url.query_pairs_mut().append_pair(name, &mark);
                shown.url = unmark(url.as_str()).replace(&mark, &value);
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

impl Shown {
    fn add(&mut self, name: &str, value: String) {
        self.headers.insert(name.to_owned(), value);
    }
}

/// Where a slot's value comes from, in words.
pub fn origin(from: &SlotSource) -> String {
    match from {
        SlotSource::Cookie { name } => format!("cookie {name}"),
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
