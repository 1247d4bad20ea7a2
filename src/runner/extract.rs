//! From an answer's bytes to data, and to the fingerprint of its shape. Pure: stages call it on recorded bodies, too.

use scraper::{ElementRef, Html, Selector};
use serde_json::{Map, Value};

use crate::shape::nesting;
use crate::{
    error::{Code, Error, Result},
    recipe::{
        assigned::assigned,
        expression::{Document, MAX_TEXT, Query, out_of_proportion},
        framing::{self, unframed},
        model::{Framing, ResponseSpec, ResponseType},
        selector::{self, Field},
    },
    shape,
};

/// Elements that all fields of all items may look through. Items beside each other stay far below; 512 in each other with the
/// rest of the page in the last would be minutes of work.
const HTML_VISITS: usize = 16_000_000;

/// What an answer held.
#[derive(Clone, Debug, PartialEq)]
pub struct Extracted {
    pub data: Value,
    /// Length of `data` when it is a list.
    pub items: Option<u64>,
    /// The parsed JSON root (of the answer or of the embedded script).
    pub whole: Option<Value>,
}

/// A `ResponseSpec` with its expression and selectors compiled.
#[derive(Clone, Debug)]
pub struct Extractor {
    kind: ResponseType,
    framing: Option<Framing>,
    query: Option<Query>,
    embedded: Option<Selector>,
    variable: Option<String>,
    html: Option<(Selector, Vec<(String, Field)>)>,
    min_items: Option<u32>,
    required_paths: Vec<String>,
}

/// [`Extractor::apply`] for one use.
pub fn extract(spec: &ResponseSpec, mime: &str, body: &[u8]) -> Result<Extracted> {
    Extractor::new(spec)?.apply(mime, body)
}

impl Extractor {
    /// Fails with `RECIPE_INVALID`.
    pub fn new(spec: &ResponseSpec) -> Result<Self> {
        let html = match &spec.html {
            None => None,
            Some(html) => Some((
                selector::compile(&html.items)?,
                html.fields
                    .iter()
                    .map(|(name, text)| Ok((name.clone(), selector::compile_field(text)?)))
                    .collect::<Result<_>>()?,
            )),
        };
        Ok(Self {
            kind: spec.kind,
            framing: spec.framing,
            query: spec.extract.as_deref().map(Query::compile).transpose()?,
            embedded: spec.embedded.as_deref().map(selector::compile).transpose()?,
            variable: spec.variable.clone(),
            html,
            min_items: spec.min_items,
            required_paths: spec.required_paths.clone(),
        })
    }

    /// Reads the body by the recipe's type; `mime` (an essence) only makes messages better. Text is read as UTF-8.
    ///
    /// Fails with `PARSE_ERROR` when the body is not what the recipe says, with `RESPONSE_TOO_LARGE` when `extract` or the
    /// selectors repeat parts of it until they are four times what an answer may weigh, and `EXTRACT_EMPTY` when nothing matches: a `null`
    /// result, nothing but nulls, a required path that is missing, fewer than `min_items`. An empty list is an answer; only
    /// for HTML, where "no results" and "another layout" look the same, it must be allowed by `min_items: 0`.
    pub fn apply(&self, mime: &str, body: &[u8]) -> Result<Extracted> {
        let (data, whole) = match (self.kind, &self.html) {
            (ResponseType::Text, _) => (self.text(body)?, None),
            (ResponseType::Json, _) => self.query(parse_json(mime, self.framing, body)?)?,
            (ResponseType::Html, Some((items, fields))) => {
                let document = parse_html(body)?;
                (self.items(&document, items, fields)?, None)
            }
            (ResponseType::Html, None) => self.query(self.embedded_json(body)?)?,
        };
        let items = data.as_array().map(|it| it.len() as u64);
        if let Some(min) = self.min_items
            && items.unwrap_or(1) < u64::from(min)
        {
            return Err(empty(format!(
                "found {} items, expected at least {min}",
                items.unwrap_or(0)
            )));
        }
        let root = whole.as_ref().unwrap_or(&data);
        if let Some(path) = self.required_paths.iter().find(|it| !has_path(root, it)) {
            return Err(empty(format!("the answer has no `{path}`")));
        }
        Ok(Extracted { data, items, whole })
    }

    fn text(&self, body: &[u8]) -> Result<Value> {
        let text = String::from_utf8_lossy(body).trim().to_owned();
        if text.is_empty() && self.min_items != Some(0) {
            return Err(empty("the answer is empty".to_owned()));
        }
        Ok(Value::String(text))
    }

    fn query(&self, whole: Value) -> Result<(Value, Option<Value>)> {
        let Some(query) = &self.query else {
            return Ok((whole.clone(), Some(whole)));
        };
        let data = query.search(&Document::new(&whole)?)?;
        if is_void(&data) {
            return Err(empty("`extract` matches nothing in the answer".to_owned()));
        }
        Ok((data, Some(whole)))
    }

    fn items(
        &self,
        document: &Html,
        items: &Selector,
        fields: &[(String, Field)],
    ) -> Result<Value> {
        let mut left = Left { text: MAX_TEXT, visits: HTML_VISITS };
        let mut out: Vec<Value> = document
            .select(items)
            .map(|item| {
                let visits = item.descendants().count() * fields.len();
                left.visits = left.visits.checked_sub(visits).ok_or_else(out_of_proportion)?;
                let all = fields
                    .iter()
                    .map(|(name, field)| Ok((name.clone(), left.field(item, name, field)?)))
                    .collect::<Result<Map<_, _>>>()?;
                Ok(all.into())
            })
            .collect::<Result<_>>()?;
        // A table's head has rows without cells.
        out.retain(|it| !is_void(it));
        if out.is_empty() && self.min_items != Some(0) {
            return Err(empty("the selectors match nothing in the page".to_owned()));
        }
        Ok(out.into())
    }

    fn embedded_json(&self, body: &[u8]) -> Result<Value> {
        let document = parse_html(body)?;
        let Some(selector) = &self.embedded else {
            return Err(Error::new(Code::RecipeInvalid, "`type: html` needs `embedded` or `html`"));
        };
        let mut seen = false;
        for script in document.select(selector) {
            seen = true;
            let text: String = script.text().collect();
            if let Some(value) = script_json(&text, self.variable.as_deref()) {
                return Ok(value);
            }
        }
        if seen {
            Err(Error::new(Code::ParseError, "the embedded script does not hold that JSON"))
        } else {
            Err(empty("`embedded` matches nothing in the page".to_owned()))
        }
    }
}

/// The JSON, or what a script assigns (`window.__STATE__ = {…};`).
fn script_json(text: &str, variable: Option<&str>) -> Option<Value> {
    let text = text.trim();
    if variable.is_none()
        && let Ok(value) = serde_json::from_str(text)
    {
        return Some(shape::sorted(value));
    }
    let mut all = assigned(text).filter(|it| variable.is_none_or(|name| name == it.0));
    all.next().map(|it| shape::sorted(it.1))
}

/// What selectors may still do on one page.
struct Left {
    /// Bytes of names and of text, before white space is taken out.
    text: usize,
    visits: usize,
}

impl Left {
    fn field(&mut self, item: ElementRef<'_>, name: &str, field: &Field) -> Result<Value> {
        self.take(name.len())?;
        let element = match &field.selector {
            None => Some(item),
            Some(selector) => item.select(selector).next(),
        };
        let Some(element) = element else {
            return Ok(Value::Null);
        };
        Ok(match &field.attribute {
            Some(attribute) => match element.attr(attribute) {
                Some(text) => {
                    self.take(text.len())?;
                    text.trim().into()
                }
                None => Value::Null,
            },
            None => self.collapsed(element)?.into(),
        })
    }

    /// The element's text with runs of white space as one space, as a reader sees it.
    fn collapsed(&mut self, element: ElementRef<'_>) -> Result<String> {
        let mut text = String::new();
        for it in element.text() {
            self.take(it.len())?;
            text.push_str(it);
        }
        Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn take(&mut self, bytes: usize) -> Result<()> {
        self.text = self.text.checked_sub(bytes).ok_or_else(out_of_proportion)?;
        Ok(())
    }
}

fn parse_html(body: &[u8]) -> Result<Html> {
    let text = String::from_utf8_lossy(body);
    nesting::check(&text)
        .map_err(|why| Error::new(Code::ParseError, format!("the page is not parsed: {why}")))?;
    Ok(Html::parse_document(&text))
}

/// JSON framed as said, behind a byte order mark. Fails with `PARSE_ERROR`.
fn parse_json(mime: &str, framing: Option<Framing>, body: &[u8]) -> Result<Value> {
    let text = std::str::from_utf8(body)
        .map_err(|err| Error::new(Code::ParseError, "the answer is not UTF-8").source(err))?;
    unframed(framing, text).map(shape::sorted).map_err(|err| {
        let kind = if mime.is_empty() { "the answer" } else { mime };
        let shown: String = kind.chars().filter(|it| !it.is_control()).take(60).collect();
        let what = match framing {
            Some(Framing::Jsonp) => "as JSONP",
            Some(Framing::Lines) => "as lines of JSON",
            None | Some(Framing::Prefix) => "as JSON",
        };
        let out = Error::new(Code::ParseError, format!("{shown} does not parse {what}"));
        let out = match err {
            Some(err) => out.source(err),
            None => out,
        };
        if mime.contains("html") {
            out.hint("the site sent a page: it may want a session, or the endpoint moved")
        } else {
            out
        }
    })
}

/// JSON in whatever frame it comes. Fails with `PARSE_ERROR`.
pub(super) fn any_json(mime: &str, body: &[u8]) -> Result<Value> {
    let text = String::from_utf8_lossy(body);
    let found = framing::detect(&text, mime, true).map(|it| shape::sorted(it.value));
    found.map_or_else(|| parse_json(mime, None, body), Ok)
}

/// Nothing was found: null, or a non-empty structure whose leaves are all null. A list of plain nulls is how some say that
/// there are no results, and stands in the answer as it is: JMESPath's own projections leave nulls out.
fn is_void(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(all) => all.iter().any(|it| !it.is_null()) && all.iter().all(is_void),
        Value::Object(all) => !all.is_empty() && all.values().all(is_void),
        _ => false,
    }
}

/// Whether `hits[].title` (or `$.hits[].title`) is there. What is below a null or in an empty list is unknown, not missing.
fn has_path(value: &Value, path: &str) -> bool {
    let path = path.strip_prefix('$').unwrap_or(path);
    let path = path.strip_prefix('.').unwrap_or(path);
    if path.is_empty() || value.is_null() {
        return true;
    }
    if let Some(rest) = path.strip_prefix("[]") {
        return value
            .as_array()
            .is_some_and(|all| all.is_empty() || all.iter().any(|it| has_path(it, rest)));
    }
    let (key, rest) = if path.starts_with('"') {
        // As `shape::paths` writes keys with dots and the like.
        let mut keys = serde_json::Deserializer::from_str(path).into_iter::<String>();
        let Some(Ok(key)) = keys.next() else {
            return false;
        };
        let used = keys.byte_offset();
        (key, &path[used..])
    } else {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        (path[..end].to_owned(), &path[end..])
    };
    value.get(&key).is_some_and(|it| has_path(it, rest))
}

fn empty(message: String) -> Error {
    Error::new(Code::ExtractEmpty, message)
        .hint("the site may have changed; learn the recipe again")
}

/// What the shape of an answer is compared by, sorted: typed paths of the data, or for HTML items one
/// `field:how many:text or none` for `items` and each field (buckets 0, 1, 2-9, 10-99, 100+).
pub fn fingerprint(spec: &ResponseSpec, extracted: &Extracted) -> Vec<String> {
    let Some(html) = &spec.html else {
        return shape::paths(&extracted.data);
    };
    let items = extracted.data.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut out: Vec<String> = html
        .fields
        .keys()
        .map(|name| {
            let texts: Vec<&str> =
                items.iter().filter_map(|it| it.get(name).and_then(Value::as_str)).collect();
            let has_text = texts.iter().any(|it| !it.is_empty());
            line(&format!(".{name}"), texts.len(), has_text)
        })
        .collect();
    out.push(line("items", items.len(), !items.is_empty()));
    out.sort();
    out
}

fn line(name: &str, count: usize, has_text: bool) -> String {
    let bucket = match count {
        0 => "0",
        1 => "1",
        2..=9 => "2-9",
        10..=99 => "10-99",
        _ => "100+",
    };
    format!("{name}:{bucket}:{}", if has_text { "text" } else { "none" })
}

/// How alike two fingerprints of one recipe are, in basis points. How many items there are is not shape, so the buckets of
/// HTML fingerprints are left out; a page without items is like any.
pub fn similarity_bp(spec: &ResponseSpec, a: &[String], b: &[String]) -> u32 {
    if spec.html.is_none() {
        return shape::similarity_bp(a, b);
    }
    let is_empty = |it: &[String]| it.iter().any(|it| it == "items:0:none");
    if is_empty(a) || is_empty(b) {
        return 10_000;
    }
    let without_counts = |all: &[String]| -> Vec<String> {
        all.iter()
            .map(|it| {
                let mut parts = it.rsplitn(3, ':');
                let (text, _, name) = (parts.next(), parts.next(), parts.next());
                format!("{}:{}", name.unwrap_or(it), text.unwrap_or(""))
            })
            .collect()
    };
    shape::similarity_bp(&without_counts(a), &without_counts(b))
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
