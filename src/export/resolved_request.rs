//! A recipe's request with its templates read, and whether a form that sends it itself can.

use std::collections::BTreeMap;

use serde_json::Value;

use super::refusal::{Refusal, RefusalCode};
use commis_base::error::Result;
use commis_recipe::{
    model::{BodyTemplate, Framing, Pair, Recipe, ResponseType, Slot, SlotSource, Status},
    request::{self, CompiledRequest, PreparedRequest, bind, split_url},
    steps::{Choose, Step},
    template::Template,
    values::Values,
};

/// A request, its parts as templates.
pub struct RequestParts<'a> {
    pub recipe: &'a Recipe,
    /// `https://host`, with a port where there is one.
    pub origin: &'a str,
    pub host: String,
    /// What stands between the slashes.
    pub path: Vec<Template>,
    pub query: Vec<(&'a Pair, Template)>,
    /// With the type of the body.
    pub headers: Vec<(&'a str, Template)>,
    pub body: Option<Body<'a>>,
    /// Those that the request mentions.
    pub slots: Vec<&'a Slot>,
}

pub enum Body<'a> {
    Json(&'a Value),
    Form(Vec<(&'a Pair, Template)>),
    Text(Template),
}

impl<'a> RequestParts<'a> {
    /// Fails with `RECIPE_INVALID`.
    pub fn from_recipe(recipe: &'a Recipe) -> Result<Self> {
        let request = &recipe.request;
        let (origin, path, base) = split_url(&request.url)?;
        let pairs = |all: &'a [Pair]| -> Result<Vec<(&'a Pair, Template)>> {
            all.iter().map(|it| Ok((it, Template::parse(&it.value)?))).collect()
        };
        let (body, kind) = match &request.body {
            None => (None, None),
            Some(BodyTemplate::Json(it)) => (Some(Body::Json(it)), Some(request::JSON)),
            Some(BodyTemplate::Form(all)) => (Some(Body::Form(pairs(all)?)), Some(request::FORM)),
            Some(BodyTemplate::Text(it)) => {
                (Some(Body::Text(Template::parse(it)?)), Some(request::TEXT))
            }
        };
        let mut headers: Vec<(&str, Template)> = request
            .headers
            .iter()
            .map(|(name, value)| Ok((name.as_str(), Template::parse(value)?)))
            .collect::<Result<_>>()?;
        if let Some(kind) = kind
            && !request.headers.contains_key("content-type")
        {
            headers.push(("content-type", Template::parse(kind)?));
        }
        let compiled = CompiledRequest::new(request)?;
        let names = compiled.names();
        Ok(Self {
            recipe,
            origin,
            host: base.host_str().unwrap_or_default().to_owned(),
            path: path.split('/').map(Template::parse).collect::<Result<_>>()?,
            query: pairs(&request.query)?,
            headers,
            body,
            slots: recipe.slots.iter().filter(|it| names.contains(&it.name.as_str())).collect(),
        })
    }

    /// The slot that comes from an earlier answer, where a form has no words for that.
    pub fn earlier_answer_slot(&self, form: &str) -> Option<Refusal> {
        let slot = self.slots.first()?;
        let why = format!(
            "`{}` comes from an earlier answer, for which {form} has no words; hurl, python and typescript have",
            slot.name
        );
        Some(Refusal::new(RefusalCode::EarlierValue, why))
    }

    /// Names that are fetched first, each with where from: URLs are asked once.
    pub fn prefetched_slots(&self) -> Vec<(&'a str, Vec<&'a Slot>)> {
        let mut out: Vec<(&str, Vec<&Slot>)> = Vec::new();
        for slot in &self.slots {
            let (SlotSource::Document { url, .. } | SlotSource::Response { url, .. }) = &slot.from
            else {
                continue;
            };
            match out.iter_mut().find(|it| it.0 == url) {
                Some(it) => it.1.push(slot),
                None => out.push((url, vec![slot])),
            }
        }
        out
    }
}

/// Of a recipe that is deprecated.
pub fn out_of_service() -> Refusal {
    Refusal::new(RefusalCode::Deprecated, "it was put out of service")
}

/// Why nothing but commis can send it.
pub fn commis_only_reason(recipe: &Recipe) -> Option<Refusal> {
    if recipe.status == Status::Deprecated {
        return Some(out_of_service());
    }
    if let Some(charset) = &recipe.request.charset {
        let why = format!("it is asked in {charset}, which this form writes as UTF-8");
        return Some(Refusal::new(RefusalCode::UnsendableRequest, why));
    }
    if recipe.requests().any(request::is_multipart) {
        let why = "it sends a form in parts, which no form writes; openai-tools, mcp and skill call commis";
        return Some(Refusal::new(RefusalCode::UnsendableRequest, why));
    }
    if let Some(what) = commis_only_part(recipe) {
        let why = format!(
            "it {what}, for which no form has words; openai-tools, mcp and skill call commis"
        );
        return Some(Refusal::new(RefusalCode::UnsendableRequest, why));
    }
    let is_live = |it: &Slot| matches!(it.from, SlotSource::Live { .. }) || it.from.needs_session();
    if recipe.login.is_some() {
        return Some(Refusal::new(
            RefusalCode::NeedsSession,
            "it needs a login, and logins are never exported; openai-tools, mcp and skill call commis",
        ));
    }
    (recipe.transport().sends_cookies() || recipe.slots.iter().any(is_live)).then(|| {
        Refusal::new(
            RefusalCode::NeedsSession,
            "it needs a browser's session, and cookies are never exported; openai-tools, mcp and skill call commis",
        )
    })
}

/// What of the recipe language stands in no exported form.
fn commis_only_part(recipe: &Recipe) -> Option<&'static str> {
    let by_key = |it: &Step| matches!(it.choose, Some(Choose::Key(_)));
    if recipe.response.framing == Some(Framing::File) {
        Some("answers a file")
    } else if recipe.requests().any(|it| it.address.is_some()) {
        Some("goes to an address that an earlier answer gives")
    } else if recipe.requests().any(|it| it.host.is_some()) {
        Some("goes to the host that a parameter chooses")
    } else if recipe.steps_before().iter().any(by_key) {
        Some("takes a member of an answer that a parameter names")
    } else if recipe.steps_before().iter().any(|it| it.optional) {
        Some("goes on without an answer that the site may not have")
    } else {
        None
    }
}

/// Why code does not read an answer of that kind.
pub fn answer_reason(recipe: &Recipe) -> Option<Refusal> {
    let is_header = recipe.response.kind == ResponseType::Text && recipe.response.header.is_some();
    is_header.then(|| {
        let why = "it reads a header of an answer, which this form does not";
        Refusal::new(RefusalCode::UnreadableAnswer, why)
    })
}

/// Values for where a form holds values: given ones, else the first examples. The error names what has none.
pub fn sample(
    recipe: &Recipe,
    given: &BTreeMap<String, String>,
) -> std::result::Result<BTreeMap<String, String>, Refusal> {
    let mut out = BTreeMap::new();
    for it in &recipe.parameters {
        let text = given.get(&it.name).or_else(|| {
            (it.required && it.default.is_none()).then(|| it.examples.first()).flatten()
        });
        match text {
            Some(text) => _ = out.insert(it.name.clone(), text.clone()),
            None if it.required && it.default.is_none() => {
                let why = format!("`{0}` has no example; give it with -p {0}=…", it.name);
                return Err(Refusal::new(RefusalCode::NoExample, why));
            }
            None => {}
        }
    }
    if recipe.chain.is_some() {
        return Ok(out);
    }
    // What no request can hold, such as `..` in a path.
    let slots = recipe.slots.iter().map(|it| (it.name.clone(), "x".to_owned())).collect();
    let filled = bind(recipe, &out, &slots)
        .and_then(|values| CompiledRequest::new(&recipe.request)?.fill(&values));
    filled.map(|_| out).map_err(|err| Refusal::new(RefusalCode::NoExample, err.message()))
}

/// Its values, checked. Fails with `PARAM_INVALID`.
pub fn values(recipe: &Recipe, sample: &BTreeMap<String, String>) -> Result<Values> {
    bind(recipe, sample, &BTreeMap::new())
}

/// The request as it is sent with these values. Fails with `PARAM_INVALID`.
pub fn fill_request(recipe: &Recipe, sample: &BTreeMap<String, String>) -> Result<PreparedRequest> {
    CompiledRequest::new(&recipe.request)?.fill(&values(recipe, sample)?)
}
