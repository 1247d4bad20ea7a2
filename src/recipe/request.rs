//! From a request template and values to a request, without the network.
//!
//! Values land encoded for where they land: whole in a path segment, as a pair in a query or form, as a leaf in JSON. Scheme,
//! host and port are text that no template reaches; that is checked on the parsed result, too.

use std::{borrow::Cow, collections::BTreeMap};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use url::{Url, form_urlencoded};

use super::{
    headers::is_override_field,
    model::{BodyTemplate, Pair, Parameter, Recipe, RequestTemplate},
    template::Template,
    values::{ValueLookup, Values},
};
use commis_base::{
    charset::{self, Charset},
    error::{Code, Error, Result},
};

/// RFC 3986 "unreserved"; everything else in a path segment is percent-encoded.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What a body says of itself where the recipe's headers do not.
pub const JSON: &str = "application/json";
pub const FORM: &str = "application/x-www-form-urlencoded";
pub const TEXT: &str = "text/plain;charset=UTF-8";
/// A form is sent in parts where this is the recipe's own `content-type` (RFC 7578).
pub const MULTIPART: &str = "multipart/form-data";

/// A request ready to send, not yet checked by the egress policy.
#[derive(Clone, PartialEq)]
pub struct PreparedRequest {
    pub method: String,
    pub url: String,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// Canonical hosts that this request and its redirects may reach; empty means the request's own host.
    pub allowed_domains: Vec<String>,
    /// The host of the user's own, `host:port`, that it is sent at; `None` for the public web.
    pub own_host: Option<String>,
}

/// A request whose templates are parsed.
#[derive(Clone, Debug)]
pub struct CompiledRequest {
    method: String,
    /// Scheme and authority, literally.
    origin: String,
    /// The same, parsed.
    base: Url,
    segments: Vec<Template>,
    /// Gives the host instead.
    host: Option<Template>,
    /// Gives the whole address instead.
    address: Option<Template>,
    query: Vec<QueryPair>,
    headers: Vec<(String, Template)>,
    body: Option<Body>,
    /// Of query and form; UTF-8 where there is none.
    charset: Option<&'static Charset>,
    allowed_domains: Vec<String>,
}

/// A pair of the query.
#[derive(Clone, Debug)]
struct QueryPair {
    name: String,
    value: Template,
    raw: String,
}

#[derive(Clone, Debug)]
enum Body {
    Json(JsonTemplate),
    Form(Vec<(String, Template)>),
    Multipart(Vec<(String, Template)>),
    Text(Template),
}

#[derive(Clone, Debug)]
enum JsonTemplate {
    Fixed(Value),
    Text(Template),
    List(Vec<JsonTemplate>),
    Object(Vec<(String, JsonTemplate)>),
}

/// Why a template has no text now.
enum MissingValue {
    /// An optional parameter was not given: what mentions it is left out.
    Absent(String),
    Failed(Error),
}

impl CompiledRequest {
    /// Fails with `RECIPE_INVALID` or `METHOD_NOT_ALLOWED`.
    pub fn new(request: &RequestTemplate) -> Result<Self> {
        if !matches!(request.method.as_str(), "GET" | "POST") {
            let shown: String = request.method.escape_default().take(20).collect();
            return Err(Error::new(
                Code::MethodNotAllowed,
                format!("method `{shown}` is not allowed in a recipe"),
            )
            .hint("use GET or POST"));
        }
        let (origin, path, base) = split_url(&request.url)?;
        Ok(Self {
            method: request.method.clone(),
            origin: origin.to_owned(),
            base,
            segments: path.split('/').map(Template::parse).collect::<Result<_>>()?,
            host: request.host.as_deref().map(Template::parse).transpose()?,
            address: request.address.as_deref().map(Template::parse).transpose()?,
            query: request
                .query
                .iter()
                .map(|it| {
                    let (name, raw) = (it.name.clone(), it.raw.clone());
                    Ok(QueryPair { name, value: Template::parse(&it.value)?, raw })
                })
                .collect::<Result<_>>()?,
            headers: request
                .headers
                .iter()
                .map(|(name, value)| Ok((name.clone(), Template::parse(value)?)))
                .collect::<Result<_>>()?,
            body: match &request.body {
                None => None,
                Some(BodyTemplate::Json(value)) => Some(Body::Json(JsonTemplate::new(value)?)),
                Some(BodyTemplate::Form(all)) if is_multipart(request) => {
                    Some(Body::Multipart(pairs(all)?))
                }
                Some(BodyTemplate::Form(all)) => Some(Body::Form(pairs(all)?)),
                Some(BodyTemplate::Text(text)) => Some(Body::Text(Template::parse(text)?)),
            },
            charset: match &request.charset {
                None => None,
                Some(label) => Some(charset::form_charset(label).ok_or_else(|| {
                    let shown: String = label.escape_debug().take(40).collect();
                    Error::new(
                        Code::RecipeInvalid,
                        format!("`{shown}` is not a charset that a form can be sent in"),
                    )
                })?),
            },
            allowed_domains: request.allowed_domains.clone(),
        })
    }

    /// Every name that some template mentions, with repetitions.
    pub fn names(&self) -> Vec<&str> {
        let mut out: Vec<&str> = Vec::new();
        for template in self
            .segments
            .iter()
            .chain(&self.host)
            .chain(&self.address)
            .chain(self.query.iter().map(|it| &it.value))
            .chain(self.headers.iter().map(|it| &it.1))
        {
            out.extend(template.names());
        }
        match &self.body {
            None => {}
            Some(Body::Json(it)) => it.names(&mut out),
            Some(Body::Form(all) | Body::Multipart(all)) => {
                out.extend(all.iter().flat_map(|it| it.1.names()));
            }
            Some(Body::Text(it)) => out.extend(it.names()),
        }
        out
    }

    /// Fails with `PARAM_INVALID` when a value can not stand where it lands, `SESSION_REQUIRED` when a name has no value.
    pub fn fill(&self, values: &Values) -> Result<PreparedRequest> {
        let url = self.fill_url(values)?;
        let mut headers = Vec::with_capacity(self.headers.len() + 1);
        for (name, template) in &self.headers {
            if let Some(value) = skip_absent(render_template(template, values))? {
                if value.chars().any(|it| it.is_control() && it != '\t') {
                    return Err(Error::new(
                        Code::ParamInvalid,
                        format!("header `{name}` would contain a control character"),
                    ));
                }
                headers.push((name.clone(), value));
            }
        }
        let body = match &self.body {
            None => None,
            Some(Body::Json(it)) => {
                Some((JSON, it.fill(values)?.unwrap_or(Value::Null).to_string()))
            }
            Some(Body::Form(all)) => {
                let encode: &dyn Fn(&str) -> Cow<'_, [u8]> =
                    &|text| to_charset_bytes(text, self.charset);
                let mut form = form_urlencoded::Serializer::new(String::new());
                form.encoding_override(Some(encode));
                for (name, value) in fill_pairs(all, values)? {
                    form.append_pair(name, &value);
                }
                Some((FORM, form.finish()))
            }
            Some(Body::Multipart(all)) => {
                let (boundary, parts) = write_parts(&fill_pairs(all, values)?);
                headers.retain(|it| it.0 != "content-type");
                let mime = format!("{MULTIPART}; boundary={boundary}");
                headers.push(("content-type".to_owned(), mime));
                Some((MULTIPART, parts))
            }
            Some(Body::Text(it)) => {
                Some((TEXT, skip_absent(render_template(it, values))?.unwrap_or_default()))
            }
        };
        if let Some((mime, _)) = &body
            && !headers.iter().any(|it| it.0 == "content-type")
        {
            headers.push(("content-type".to_owned(), (*mime).to_owned()));
        }
        Ok(PreparedRequest {
            method: self.method.clone(),
            url,
            headers,
            body: body.map(|it| it.1.into_bytes()),
            allowed_domains: self.allowed_domains.clone(),
            own_host: None,
        })
    }

    fn fill_url(&self, values: &Values) -> Result<String> {
        let mut text = self.origin.clone();
        for (n, template) in self.segments.iter().enumerate() {
            if n > 0 {
                text.push('/');
            }
            text.push_str(&render_segment(template, values)?);
        }
        let unusable = |why: &str| {
            Error::new(Code::RecipeInvalid, format!("the request URL is invalid: {why}"))
        };
        let mut url = Url::parse(&text).map_err(|err| unusable(&err.to_string()))?;
        let base = &self.base;
        let same_origin = url.scheme() == base.scheme()
            && url.host() == base.host()
            && url.port_or_known_default() == base.port_or_known_default();
        if !same_origin || url.query().is_some() || url.fragment().is_some() {
            return Err(unusable("a value reached beyond its path segment"));
        }
        if let Some(it) = &self.host {
            let host = self.render_host(it, values)?;
            url.set_host(Some(&host)).map_err(|err| unusable(&err.to_string()))?;
        }
        let mut query = String::new();
        for it in &self.query {
            let value = it.value.render_parts(
                |name| lookup(name, values).map(str::to_owned),
                |text| encode_form(text, &it.raw, is_raw, self.charset),
                |text| encode_form(text, &it.raw, is_raw_in_value, self.charset),
            );
            if let Some(value) = skip_absent(value)? {
                if !query.is_empty() {
                    query.push('&');
                }
                query.push_str(&encode_form(&it.name, &it.raw, is_raw_in_name, self.charset));
                query.push('=');
                query.push_str(&value);
            }
        }
        if !query.is_empty() {
            url.set_query(Some(&query));
        }
        match &self.address {
            Some(it) => self.resolve_address(&url, it, values),
            None => Ok(url.into()),
        }
    }

    /// The host that a parameter chose. Fails with `DOMAIN_NOT_ALLOWED` where the recipe does not name it.
    fn render_host(&self, host: &Template, values: &Values) -> Result<String> {
        let host = skip_absent(render_template(host, values))?.unwrap_or_default();
        if self.allowed_domains.contains(&host) {
            return Ok(host);
        }
        let shown: String = host.escape_debug().take(120).collect();
        Err(Error::new(Code::DomainNotAllowed, format!("`{shown}` is no host of the recipe"))
            .hint("`commis recipe get NAME` lists the hosts under allowed_domains"))
    }

    /// The address that an earlier answer gave, as a link on `base` would lead to it. Fails with `DOMAIN_NOT_ALLOWED` where it leads to
    /// another host than the recipe names, or to another scheme.
    fn resolve_address(&self, base: &Url, address: &Template, values: &Values) -> Result<String> {
        let given = skip_absent(render_template(address, values))?.unwrap_or_default();
        let mut url = base.join(given.trim()).map_err(|err| {
            Error::new(Code::ExtractEmpty, format!("an earlier answer gave no address: {err}"))
                .hint("the site may have changed; learn the recipe again")
        })?;
        url.set_fragment(None);
        if let Some(name) = url.query_pairs().map(|it| it.0).find(|it| is_override_field(it)) {
            let shown: String = name.escape_debug().take(60).collect();
            let why = format!(
                "an earlier answer's address has `{shown}`, which makes another request of it"
            );
            return Err(Error::new(Code::MethodNotAllowed, why));
        }
        let is_named =
            url.host_str().is_some_and(|host| self.allowed_domains.iter().any(|it| it == host));
        let is_same_kind = url.scheme() == base.scheme() && url.port() == base.port();
        if !is_named || !is_same_kind || !url.username().is_empty() || url.password().is_some() {
            let shown: String = url.origin().ascii_serialization().chars().take(120).collect();
            let why = format!("an earlier answer leads to {shown}, where the recipe may not go");
            return Err(Error::new(Code::DomainNotAllowed, why)
                .hint("the site may have moved; learn the recipe again"));
        }
        Ok(url.into())
    }
}

/// Whether a request sends its form in parts.
pub fn is_multipart(request: &RequestTemplate) -> bool {
    let kind = request.headers.get("content-type");
    kind.is_some_and(|it| it.trim().eq_ignore_ascii_case(MULTIPART))
}

/// The boundary, and a form in parts as browsers send it. Equal fields give equal bytes.
fn write_parts(fields: &[(&String, String)]) -> (String, String) {
    let is_free = |it: &String| !fields.iter().any(|field| field.1.contains(it.as_str()));
    let boundary =
        (0..u32::MAX).map(|n| format!("----FormBoundary{n:016}")).find(is_free).unwrap_or_default();
    let mut out = String::new();
    for (name, value) in fields {
        let name = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
        let head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        out.extend([head.as_str(), value, "\r\n"]);
    }
    out.extend(["--", &boundary, "--\r\n"]);
    (boundary, out)
}

impl JsonTemplate {
    fn new(value: &Value) -> Result<Self> {
        Ok(match value {
            Value::String(text) => Self::Text(Template::parse(text)?),
            Value::Array(all) => Self::List(all.iter().map(Self::new).collect::<Result<_>>()?),
            Value::Object(all) => Self::Object(
                all.iter()
                    .map(|(key, value)| Ok((key.clone(), Self::new(value)?)))
                    .collect::<Result<_>>()?,
            ),
            _ => Self::Fixed(value.clone()),
        })
    }

    fn names<'a>(&'a self, out: &mut Vec<&'a str>) {
        match self {
            Self::Fixed(_) => {}
            Self::Text(it) => out.extend(it.names()),
            Self::List(all) => all.iter().for_each(|it| it.names(out)),
            Self::Object(all) => all.iter().for_each(|it| it.1.names(out)),
        }
    }

    /// `None` when an optional value is absent: the field or element is left out.
    fn fill(&self, values: &Values) -> Result<Option<Value>> {
        Ok(Some(match self {
            Self::Fixed(it) => it.clone(),
            Self::Text(template) => {
                let typed = match template.single_name().map(|name| values.get(name)) {
                    Some(ValueLookup::Given(bound)) => bound.typed.clone(),
                    _ => None,
                };
                match typed {
                    Some(it) => it,
                    None if template.is_number() => {
                        match skip_absent(render_template(template, values))? {
                            None => return Ok(None),
                            Some(text) => {
                                Value::Number(serde_json::from_str(&text).map_err(|_| {
                                    Error::new(Code::ParamInvalid, "a parameter of type number has a value that is not a number")
                                        .hint("the request takes a number in this place")
                                })?)
                            }
                        }
                    }
                    None => {
                        return Ok(
                            skip_absent(render_template(template, values))?.map(Value::String)
                        );
                    }
                }
            }
            Self::List(all) => {
                let mut out = Vec::new();
                for it in all {
                    out.extend(it.fill(values)?);
                }
                Value::Array(out)
            }
            Self::Object(all) => {
                let mut out = serde_json::Map::new();
                for (key, it) in all {
                    if let Some(it) = it.fill(values)? {
                        out.insert(key.clone(), it);
                    }
                }
                Value::Object(out)
            }
        }))
    }
}

/// Origin and path of a request template's URL, and the origin parsed. Fails with `RECIPE_INVALID`.
pub fn split_url(url: &str) -> Result<(&str, &str, Url)> {
    let invalid = |why: &str| {
        let shown: String = url.chars().take(120).collect();
        Error::new(
            Code::RecipeInvalid,
            format!("the request URL `{}` is invalid: {why}", shown.escape_debug()),
        )
    };
    let start = url
        .find("://")
        .filter(|it| matches!(&url[..*it], "http" | "https"))
        .ok_or_else(|| invalid("expected http:// or https://"))?
        + 3;
    let path = url[start..].find(['/', '?', '#']).map(|it| it + start);
    let (origin, path) = path.map_or((url, "/"), |it| url.split_at(it));
    if origin.contains(['{', '}', '\\', '@']) {
        return Err(invalid("scheme, host and port take no template, user name or backslash"));
    }
    if path.contains(['?', '#', '\\']) {
        return Err(invalid("the query belongs into `query`"));
    }
    let base = Url::parse(origin).map_err(|_| invalid("not a host"))?;
    Ok((origin, path, base))
}

/// Whether a character may stand raw in a query although a form encodes it, and is one that a browser leaves so.
pub fn is_raw(c: char) -> bool {
    ";:/,!()@$?~|[]{}'=\\^`".contains(c)
}

/// In a name the first `=` would end it.
fn is_raw_in_name(c: char) -> bool {
    is_raw(c) && c != '='
}

/// A caller's value can not make another pair for a server that separates pairs by `;`.
pub fn is_raw_in_value(c: char) -> bool {
    is_raw(c) && !matches!(c, '=' | ';')
}

/// As a form has it, but for the characters in `raw` that may stand there.
fn encode_form(
    text: &str,
    raw: &str,
    may: fn(char) -> bool,
    charset: Option<&'static Charset>,
) -> String {
    if raw.is_empty() {
        return form_urlencoded::byte_serialize(&to_charset_bytes(text, charset)).collect();
    }
    let mut out = String::with_capacity(text.len());
    let mut buffer = [0; 4];
    for c in text.chars() {
        if c == ' ' && raw.contains(' ') {
            out.push_str("%20");
        } else if may(c) && raw.contains(c) {
            out.push(c);
        } else {
            out.extend(form_urlencoded::byte_serialize(&to_charset_bytes(
                c.encode_utf8(&mut buffer),
                charset,
            )));
        }
    }
    out
}

fn to_charset_bytes<'a>(text: &'a str, charset: Option<&'static Charset>) -> Cow<'a, [u8]> {
    charset.map_or(Cow::Borrowed(text.as_bytes()), |it| charset::encode(it, text))
}

fn pairs(all: &[Pair]) -> Result<Vec<(String, Template)>> {
    all.iter().map(|it| Ok((it.name.clone(), Template::parse(&it.value)?))).collect()
}

/// The pairs whose values are there.
fn fill_pairs<'a>(
    pairs: &'a [(String, Template)],
    values: &Values,
) -> Result<Vec<(&'a String, String)>> {
    let mut out = Vec::with_capacity(pairs.len());
    for (name, template) in pairs {
        if let Some(value) = skip_absent(render_template(template, values))? {
            out.push((name, value));
        }
    }
    Ok(out)
}

fn lookup<'a>(name: &str, values: &'a Values) -> Result<&'a str, MissingValue> {
    match values.get(name) {
        ValueLookup::Given(bound) => Ok(&bound.text),
        ValueLookup::Absent => Err(MissingValue::Absent(name.to_owned())),
        ValueLookup::Unknown => Err(MissingValue::Failed(
            Error::new(
                Code::SessionRequired,
                format!("`{name}` has no value, because it comes from a browser session"),
            )
            .hint("run it with `commis run`, which opens the page in a browser"),
        )),
    }
}

fn render_template(template: &Template, values: &Values) -> Result<String, MissingValue> {
    template.render(|name| lookup(name, values).map(str::to_owned))
}

fn skip_absent(result: Result<String, MissingValue>) -> Result<Option<String>> {
    match result {
        Ok(it) => Ok(Some(it)),
        Err(MissingValue::Absent(_)) => Ok(None),
        Err(MissingValue::Failed(err)) => Err(err),
    }
}

/// One path segment. A value can not end it, leave it empty or turn it into `.` or `..`.
fn render_segment(template: &Template, values: &Values) -> Result<String> {
    let encoded = template.render_encoded(
        |name| lookup(name, values).map(str::to_owned),
        |it| utf8_percent_encode(it, SEGMENT).to_string(),
    );
    let text = encoded.map_err(|gap| match gap {
        MissingValue::Failed(err) => err,
        MissingValue::Absent(name) => Error::new(
            Code::ParamInvalid,
            format!("parameter `{name}` is missing and the path needs it"),
        ),
    })?;
    if let Some(name) = template.names().next() {
        let dots = text.to_ascii_lowercase().replace("%2e", ".");
        if dots.is_empty() || dots == "." || dots == ".." {
            return Err(Error::new(
                Code::ParamInvalid,
                format!("the value of `{name}` would become the path segment `{dots}`"),
            ));
        }
    }
    Ok(text)
}

/// Parameters and declared slots of a recipe as values. Fails with `PARAM_INVALID`.
pub fn bind(
    recipe: &Recipe,
    params: &BTreeMap<String, String>,
    slots: &BTreeMap<String, String>,
) -> Result<Values> {
    let known = || recipe.parameters.iter().map(|it| it.name.as_str());
    if let Some(name) = params.keys().find(|it| !known().any(|known| known == *it)) {
        let shown: String = name.escape_debug().take(60).collect();
        let hint = if recipe.parameters.is_empty() {
            "it takes none".to_owned()
        } else {
            format!("it takes {}", known().collect::<Vec<_>>().join(", "))
        };
        return Err(Error::new(
            Code::ParamInvalid,
            format!("recipe `{}` has no parameter `{shown}`", recipe.name),
        )
        .hint(hint));
    }
    let mut values = Values::bind(&recipe.parameters, params)?;
    for slot in &recipe.slots {
        if let Some(text) = slots.get(&slot.name) {
            values.add_slot(&slot.name, text)?;
        }
    }
    Ok(values)
}

/// A draft's request: `given` holds parameters and live values side by side; what is no parameter counts as a slot.
pub fn prepare_request(
    request: &RequestTemplate,
    parameters: &[Parameter],
    given: &BTreeMap<String, String>,
) -> Result<PreparedRequest> {
    let mut values = Values::bind(parameters, given)?;
    for (name, text) in given {
        values.add_slot(name, text)?;
    }
    CompiledRequest::new(request)?.fill(&values)
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
