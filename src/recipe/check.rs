//! What a recipe must be beyond parsing: the rules that a hand-written file, a model's draft and a saved recipe all pass.

use std::collections::BTreeSet;

use url::Url;

use super::{
    auth,
    expression::Query,
    headers::{is_forbidden, is_override_field, is_override_header, is_token},
    host_choice::{self, is_canonical_host},
    inline_script_json,
    model::{
        BodyTemplate, LANGUAGE, LANGUAGE_2, Parameter, Recipe, RequestTemplate, ResponseType,
        SlotSource, Status,
    },
    page_request,
    paging::{PageBy, Pages, Position},
    request::CompiledRequest,
    response_model::ResponseSpec,
    selector,
    steps::{self, Step},
    template::{Template, is_name},
    values,
};
use commis_base::error::{Code, Error, Result};

const MAX_PARAMETERS: usize = 32;
const MAX_SLOTS: usize = 16;
const MAX_PAIRS: usize = 200;
const MAX_FIELDS: usize = 100;
const MAX_TASK: usize = 2_000;
const MAX_URL: usize = 8 * 1024;

/// A header so named holds a secret, so its value comes from a slot or parameter.
const SECRET_WORDS: &[&str] = &[
    "api-key",
    "apikey",
    "auth",
    "credential",
    "csrf",
    "password",
    "secret",
    "session",
    "signature",
    "token",
    "xsrf",
];

/// What to do where a rule has nothing better to say.
pub const HINT: &str =
    "see a valid recipe with `commis recipe list --source library` and `commis recipe get NAME`";

/// Fails with `RECIPE_INVALID` or, for the method, `METHOD_NOT_ALLOWED`; always with a hint.
pub fn check(recipe: &Recipe) -> Result<()> {
    check_rules(recipe).map_err(|err| err.or_hint(HINT))
}

fn check_rules(recipe: &Recipe) -> Result<()> {
    if !(LANGUAGE..=LANGUAGE_2).contains(&recipe.version) {
        let why = format!("version {} is not {LANGUAGE} or {LANGUAGE_2}", recipe.version);
        return Err(invalid(why).hint("this commis reads other versions of the recipe language"));
    }
    if recipe.task.trim().is_empty() || recipe.task.len() > MAX_TASK {
        return Err(invalid(format!("task must have 1 to {MAX_TASK} bytes")));
    }
    check_web_url("source_url", &recipe.source_url)?;
    check_own_host(recipe)?;
    let mut names = template_names(recipe)?;
    if let Some(chain) = &recipe.chain {
        if recipe.version < LANGUAGE_2 {
            return Err(invalid(format!("`steps` needs version {LANGUAGE_2}")));
        }
        steps::check(chain, recipe, &names)?;
        for (at, it) in chain.before.iter().enumerate() {
            let what = format!("step `{}`", it.name);
            let before = &chain.before[..at];
            check_request(&it.request, &names)
                .and_then(|()| check_address(&it.request, before))
                .and_then(|()| check_response(&it.response))
                .map_err(|err| err.context(&what))?;
            names.insert(&it.name);
        }
    }
    check_request(&recipe.request, &names)?;
    check_address(&recipe.request, recipe.steps_before())?;
    for request in recipe.requests().filter(|it| it.host.is_some()) {
        if recipe.version < LANGUAGE_2 {
            return Err(invalid(format!("`host` needs version {LANGUAGE_2}")));
        }
        host_choice::check(request, &recipe.parameters, recipe.own_host.is_some())?;
    }
    for slot in &recipe.slots {
        check_slot(&slot.name, &slot.from, &recipe.request)?;
    }
    check_authorization(recipe)?;
    if let Some(it) = &recipe.auth {
        auth::check(it, recipe)?;
    }
    check_response(&recipe.response)?;
    if let Some(it) = &recipe.pages {
        check_pages(it, recipe)?;
    }
    if recipe.status == Status::Verified && recipe.verification.is_none() {
        return Err(invalid("status is verified and `verification` is missing".to_owned())
            .hint("write `status: draft`; `commis recipe verify` proves it"));
    }
    if recipe.demotion.is_some() && recipe.status != Status::Deprecated {
        return Err(invalid("`demotion` belongs to status deprecated".to_owned()));
    }
    Ok(())
}

/// Pages that can be asked for.
fn check_pages(pages: &Pages, recipe: &Recipe) -> Result<()> {
    if recipe.version < LANGUAGE_2 {
        return Err(invalid(format!("`pages` needs version {LANGUAGE_2}")));
    }
    let needs = |name: &str, is_there: bool, is_needed: bool| match (is_there, is_needed) {
        (false, true) => Err(invalid(format!("`pages` by {} needs `{name}`", pages.by.as_str()))),
        (true, false) => Err(invalid(format!("`pages` by {} has no `{name}`", pages.by.as_str()))),
        _ => Ok(()),
    };
    needs("parameter", pages.parameter.is_some(), !pages.by.is_address())?;
    needs("first", pages.first.is_some(), pages.by.is_computable())?;
    match pages.by {
        PageBy::Cursor | PageBy::Url => needs("next", pages.next.is_some(), true)?,
        PageBy::LinkHeader | PageBy::PageLink => needs("next", pages.next.is_some(), false)?,
        PageBy::Page | PageBy::Offset => {}
    }
    if pages.by == PageBy::PageLink && recipe.response.kind != ResponseType::Html {
        return Err(invalid("`pages` by page_link needs an answer of type html".to_owned()));
    }
    if pages.by.is_address() && recipe.request.method != "GET" {
        return Err(invalid("`pages` by address needs the method GET".to_owned()));
    }
    if pages.ends.is_empty() {
        return Err(invalid("`pages` needs `ends`".to_owned()));
    }
    if let Some(it) = &pages.next {
        Query::compile(it)?;
    }
    if !pages.by.is_address() {
        page_request::request_at_position(&recipe.request, pages, &Position::Number(1))?;
    }
    Ok(())
}

/// Whoever calls a recipe gives no credential: `authorization` is filled from slots and steps alone.
fn check_authorization(recipe: &Recipe) -> Result<()> {
    // What an earlier step of it was answered is no caller's either.
    let is_slot = |name: &str| {
        let (step, _) = steps::split_step_name(name);
        recipe.slots.iter().any(|it| it.name == name)
            || recipe.steps_before().iter().any(|it| it.name == step)
    };
    let mut all = recipe.requests().filter_map(|it| it.headers.get("authorization"));
    if all.try_fold(true, |out, it| {
        Ok::<_, Error>(out && Template::parse(it)?.names().all(is_slot))
    })? {
        return Ok(());
    }
    Err(invalid(
        "header `authorization` is filled from something else than slots and steps".to_owned(),
    )
    .hint("`auth` names the variable that holds a key"))
}

/// What is at a host of one's own is there with its page and its request.
fn check_own_host(recipe: &Recipe) -> Result<()> {
    let Some(own) = &recipe.own_host else { return Ok(()) };
    let place = |text: &str| {
        let url = Url::parse(text).ok()?;
        Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
    };
    // What another site says would steer a request inside.
    let fetched = recipe.slots.iter().filter_map(|it| match &it.from {
        SlotSource::Response { url, .. } | SlotSource::Document { url, .. } => Some(url.clone()),
        _ => None,
    });
    let requests = recipe.requests().map(|it| origin_of(&it.url));
    let all = std::iter::once(recipe.source_url.clone()).chain(requests);
    if all.chain(fetched).all(|it| place(&it).as_ref() == Some(own)) {
        return Ok(());
    }
    let shown: String = own.escape_debug().take(80).collect();
    Err(invalid(format!("own_host `{shown}` is not where source_url, request.url and slots are"))
        .hint("host and port, such as localhost:8001; all URLs are at it"))
}

/// The names that templates may use.
fn template_names(recipe: &Recipe) -> Result<BTreeSet<&str>> {
    if recipe.parameters.len() > MAX_PARAMETERS || recipe.slots.len() > MAX_SLOTS {
        return Err(invalid(format!("more than {MAX_PARAMETERS} parameters or {MAX_SLOTS} slots")));
    }
    let mut names = BTreeSet::new();
    let all = recipe.parameters.iter().map(|it| it.name.as_str());
    for name in all.chain(recipe.slots.iter().map(|it| it.name.as_str())) {
        if !is_name(name) {
            let shown: String = name.escape_debug().take(60).collect();
            return Err(invalid(format!("`{shown}` is not a name"))
                .hint("use a-z, 0-9 and _, at most 40, not starting with a digit"));
        }
        if !names.insert(name) {
            return Err(invalid(format!("the name `{name}` is used twice")));
        }
    }
    for parameter in &recipe.parameters {
        check_parameter(parameter)?;
    }
    Ok(names)
}

/// A default and the examples must be acceptable values.
fn check_parameter(parameter: &Parameter) -> Result<()> {
    for text in parameter.default.iter().chain(&parameter.examples) {
        values::coerce(parameter, text)
            .map_err(|err| invalid(format!("default or example: {}", err.message())))?;
    }
    let constraints = &parameter.constraints;
    for word in constraints.map.keys() {
        values::coerce(parameter, word)
            .map_err(|err| invalid(format!("map: {}", err.message())))?;
    }
    if let (Some(min), Some(max)) = (constraints.min, constraints.max)
        && min > max
    {
        return Err(invalid(format!("parameter `{}`: min is above max", parameter.name)));
    }
    Ok(())
}

fn check_request(request: &RequestTemplate, names: &BTreeSet<&str>) -> Result<()> {
    if request.url.len() > MAX_URL
        || request.query.len() > MAX_PAIRS
        || request.headers.len() > MAX_PAIRS
    {
        return Err(invalid("the request's URL, query or headers are too large".to_owned()));
    }
    let compiled = CompiledRequest::new(request)?;
    let is_known = |it: &&str| names.contains(steps::split_step_name(it).0);
    if let Some(name) = compiled.names().into_iter().find(|it| !is_known(it)) {
        return Err(invalid(format!("`{{{name}}}` is neither a parameter nor a slot"))
            .hint("declare it, or write {{ and }} for braces"));
    }
    for (name, value) in &request.headers {
        check_header(name, value)?;
    }
    if let Some(name) = find_override(request) {
        let shown: String = name.escape_debug().take(60).collect();
        return Err(invalid(format!("`{shown}` makes another request of this one")).hint(OVERRIDE));
    }
    if request.body.is_some() && request.method == "GET" {
        return Err(invalid("a GET request has no body".to_owned())
            .hint("write `method: POST`, or move the body to `query`"));
    }
    check_domains(request)
}

/// An address that an earlier step gives: all of it, of a request that only reads.
fn check_address(request: &RequestTemplate, before: &[Step]) -> Result<()> {
    let Some(address) = &request.address else { return Ok(()) };
    let template = Template::parse(address)?;
    let step = template.single_name().map(|it| steps::split_step_name(it).0);
    if !before.iter().any(|it| Some(&*it.name) == step) {
        return Err(invalid("`address` is not the name of an earlier step's value".to_owned())
            .hint("write `address: \"{step.field}\"`"));
    }
    if request.method != "GET" || !request.query.is_empty() {
        return Err(invalid("a request with `address` is a GET without `query`".to_owned()));
    }
    Ok(())
}

const OVERRIDE: &str = "write the real method and address; a header or field may not override them";

/// What of a request makes servers take it for another one: a header or a field, by its name.
pub fn find_override(request: &RequestTemplate) -> Option<&str> {
    let field = |it: &&str| is_override_field(it);
    let query = request.query.iter().map(|it| it.name.as_str());
    let in_body: Vec<&str> = match &request.body {
        Some(BodyTemplate::Form(fields)) => fields.iter().map(|it| it.name.as_str()).collect(),
        Some(BodyTemplate::Json(serde_json::Value::Object(all))) => {
            all.keys().map(String::as_str).collect()
        }
        // A form that was written out.
        Some(BodyTemplate::Text(text)) => {
            text.split(['&', '\r', '\n']).filter_map(|it| Some(it.split_once('=')?.0)).collect()
        }
        _ => Vec::new(),
    };
    let header = request.headers.keys().map(String::as_str).find(|it| is_override_header(it));
    header.or_else(|| query.chain(in_body).find(field))
}

/// The header allowlist, for drafts as well. Fails with `RECIPE_INVALID`.
pub fn check_header(name: &str, value: &str) -> Result<()> {
    let shown = || name.escape_debug().take(60).collect::<String>();
    if !is_token(name) {
        return Err(invalid(format!("`{}` is not a lower-case header name", shown())));
    }
    let template = Template::parse(value)?;
    // What a page stored may stand there, what somebody wrote down may not.
    let is_filled = name == "authorization" && !template.is_literal();
    if is_forbidden(name) && !is_filled {
        return Err(invalid(format!("header `{name}` is not allowed in a recipe"))
            .hint("sessions and connections are not part of a recipe"));
    }
    if is_override_header(name) {
        return Err(
            invalid(format!("header `{name}` makes another request of this one")).hint(OVERRIDE)
        );
    }
    if is_credential_header(name) && template.is_literal() && !value.is_empty() {
        return Err(invalid(format!("header `{name}` holds a literal secret"))
            .hint("let a slot or parameter provide the value"));
    }
    if value.chars().any(char::is_control) {
        return Err(invalid(format!("header `{name}` contains a control character")));
    }
    Ok(())
}

/// Whether a header of that lower-case name carries a credential.
pub fn is_credential_header(name: &str) -> bool {
    // `x-token-type` and the like would need a list of their own; asking for a slot there is harmless.
    SECRET_WORDS.iter().any(|it| name.contains(it)) || name.ends_with("-key") || name == "key"
}

fn check_domains(request: &RequestTemplate) -> Result<()> {
    let host = check_web_url("request.url", &origin_of(&request.url))?;
    let domains = &request.allowed_domains;
    for domain in domains {
        if !is_canonical_host(domain) {
            let shown: String = domain.escape_debug().take(80).collect();
            return Err(invalid(format!("allowed_domains: `{shown}` is not a canonical host"))
                .hint("write hosts as in a URL: lower case, without scheme, port and final dot"));
        }
        let sites = &request.allowed_sites;
        let in_site = |site: &String| {
            domain == site || domain.strip_suffix(site.as_str()).is_some_and(|it| it.ends_with('.'))
        };
        if !sites.is_empty() && !sites.iter().any(in_site) {
            return Err(invalid(format!("allowed_domains: `{domain}` is outside allowed_sites")));
        }
    }
    if domains.contains(&host) {
        Ok(())
    } else {
        Err(invalid(format!("allowed_domains does not hold the request's host `{host}`"))
            .hint("list every host that the recipe reaches"))
    }
}

fn origin_of(url: &str) -> String {
    let start = url.find("://").map_or(0, |it| it + 3);
    let end = url[start..].find('/').map_or(url.len(), |it| it + start);
    url[..end].to_owned()
}

/// The canonical host of an http(s) URL.
fn check_web_url(field: &str, text: &str) -> Result<String> {
    let url = Url::parse(text)
        .ok()
        .filter(|it| matches!(it.scheme(), "http" | "https") && text.len() <= MAX_URL);
    url.and_then(|it| it.host_str().map(|it| it.trim_end_matches('.').to_owned())).ok_or_else(
        || {
            let shown: String = text.escape_debug().take(80).collect();
            invalid(format!("{field} `{shown}` is not an http or https URL"))
                .hint("begin with http:// or https:// and a host that is written out")
        },
    )
}

fn check_slot(name: &str, from: &SlotSource, request: &RequestTemplate) -> Result<()> {
    let first = match from {
        SlotSource::Cookie { name: it, .. } | SlotSource::Meta { name: it } => {
            if it.is_empty() || it.len() > 256 || it.chars().any(char::is_control) {
                return Err(invalid(format!("slot `{name}`: not a cookie or meta name")));
            }
            return Ok(());
        }
        SlotSource::Storage { key, path, .. } => {
            if key.is_empty() || key.len() > 256 || key.chars().any(char::is_control) {
                return Err(invalid(format!("slot `{name}`: not a key of a page's storage")));
            }
            path.as_ref().map_or(Ok(()), |it| Query::compile(it).map(drop))?;
            return Ok(());
        }
        SlotSource::Live { .. } => {
            return Err(invalid(format!("slot `{name}` was known to the recorded session only"))
                .hint("such a request can be replayed during learning, but not stored"));
        }
        SlotSource::Response { url, path } => {
            Query::compile(path)?;
            url
        }
        SlotSource::Document { url, after, until } => {
            if after.is_empty() || until.is_empty() || after.len() + until.len() > 2_000 {
                return Err(invalid(format!(
                    "slot `{name}`: `after` and `until` must have 1 to 2000 bytes"
                )));
            }
            url
        }
    };
    let host = check_web_url("slot url", first)?;
    if request.allowed_domains.contains(&host) {
        Ok(())
    } else {
        Err(invalid(format!("slot `{name}`: `{host}` is not in allowed_domains"))
            .hint("list every host that the recipe reaches"))
    }
}

/// How an answer is read: expressions and selectors compile, and fit the type. Fails with `RECIPE_INVALID`.
pub fn check_response(response: &ResponseSpec) -> Result<()> {
    if let Some(text) = &response.extract {
        Query::compile(text)?;
    }
    if let Some(text) = &response.embedded {
        selector::compile(text)?;
    }
    if response.variable.as_deref().is_some_and(|it| !inline_script_json::is_name(it)) {
        return Err(invalid("`variable` is not the name of a variable".to_owned()));
    }
    if response.variable.is_some() && response.embedded.is_none() {
        return Err(invalid("`variable` needs `embedded`".to_owned()));
    }
    if let Some(html) = &response.html {
        if html.fields.is_empty() || html.fields.len() > MAX_FIELDS {
            return Err(invalid(format!("response.html: 1 to {MAX_FIELDS} fields are expected")));
        }
        selector::compile(&html.items)?;
        if let Some(group) = &html.group {
            selector::compile(group)?;
        }
        for (field, kind) in &html.types {
            if !html.fields.contains_key(field) {
                return Err(invalid(format!("response.html.types: there is no field `{field}`")));
            }
            if let Some(it) = kind.names(field).iter().find(|it| html.fields.contains_key(*it)) {
                return Err(invalid(format!(
                    "response.html.types: the type of `{field}` gives the field `{it}`, which is there already"
                )));
            }
            kind.check(field)?;
        }
        for text in html.fields.values() {
            selector::compile_field(text)?;
        }
    }
    if (response.between.is_some() || response.header.is_some())
        && response.kind != ResponseType::Text
    {
        return Err(invalid("`between` and `header` need `type: text`".to_owned()));
    }
    if let Some(it) = &response.between
        && (it.after.len().max(it.until.len()) > MAX_AROUND
            || it.after.is_empty() && it.until.is_empty())
    {
        return Err(invalid("`between` has `after` or `until`, each at most 1 KiB".to_owned()));
    }
    if response.header.as_ref().is_some_and(|it| !is_header(it)) {
        return Err(invalid("`header` is not the name of a header in lower case".to_owned()));
    }
    let html = response.kind == ResponseType::Html;
    if (response.embedded.is_some() || response.html.is_some()) && !html {
        return Err(invalid("`embedded` and `html` need `type: html`".to_owned()));
    }
    if response.framing.is_some() && response.kind != ResponseType::Json {
        return Err(invalid("`framing` needs `type: json`".to_owned()));
    }
    if html && response.embedded.is_some() == response.html.is_some() {
        return Err(invalid("`type: html` needs `embedded` or `html`, not both".to_owned()));
    }
    if response.extract.is_some() && response.kind == ResponseType::Text
        || response.extract.is_some() && response.html.is_some()
    {
        return Err(invalid("`extract` applies to JSON only".to_owned()));
    }
    Ok(())
}

/// Bytes of a text around a value, at most.
const MAX_AROUND: usize = 1024;

fn is_header(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 100
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

fn invalid(message: String) -> Error {
    Error::new(Code::RecipeInvalid, message)
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
