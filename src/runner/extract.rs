//! From an answer's bytes to data, and to the fingerprint of its shape. Pure: stages call it on recorded bodies, too.

use std::{borrow::Cow, collections::BTreeMap};

use scraper::Html;
use serde_json::Value;

use crate::MIN_SIMILARITY_BP;
use commis_base::error::{Code, Error, Result};
use commis_recipe::{
    blocks::{self, read::HtmlReader},
    document::Document,
    expression::Query,
    file_facts,
    framing::{self, unframe},
    inline_script_json::find_assignments,
    matching::Selector,
    model::{Between, EmptyAnswer, Framing, ResponseSpec, ResponseType},
    pagination::{
        Length, PageInfoReader, is_continuation, length_from_headers, next_address,
        next_url_in_headers,
    },
    paging::{PageBy, Pages},
    projection::FieldMask,
    selector,
    shape::{self, nesting},
};

/// What an answer held.
#[derive(Clone, Debug, PartialEq)]
pub struct Extraction {
    pub data: Value,
    /// Length of `data` when it is a list.
    pub items: Option<u64>,
    /// The parsed JSON root (of the answer or of the embedded script), where it was asked for.
    pub whole: Option<Value>,
    /// What the answer says of the length of its list.
    pub length: Length,
    /// What it says that it was asked for, by parameter.
    pub echoed: BTreeMap<String, Value>,
    /// What leads to the next page, where pages are followed: a cursor, an address, a flag. `None` where nothing does.
    pub next: Option<Value>,
}

impl Extraction {
    /// Of a list that there is nothing in; that it is whole is not known.
    pub fn no_items() -> Self {
        Self {
            data: Value::Array(Vec::new()),
            items: Some(0),
            whole: None,
            length: Length::default(),
            echoed: BTreeMap::new(),
            next: None,
        }
    }
}

/// Where the way to the next page stands.
#[derive(Clone, Debug)]
enum NextPage {
    Json(Query),
    Header,
    Link,
}

/// A `ResponseSpec` with its expression and selectors compiled.
#[derive(Clone, Debug)]
pub struct Extractor {
    kind: ResponseType,
    framing: Option<Framing>,
    media_type: Option<String>,
    query: Option<Query>,
    /// What a JSON document is looked at for.
    reach: FieldMask,
    embedded: Option<Selector>,
    variable: Option<String>,
    html: Option<HtmlReader>,
    /// One thing and not a list.
    single: bool,
    between: Option<Between>,
    header: Option<String>,
    min_items: Option<u32>,
    empty: Option<EmptyAnswer>,
    /// What is true of every answer, also of one without items.
    holds: Vec<Query>,
    /// As written, and read.
    required_paths: Vec<(String, Vec<PathStep>)>,
    page_info: PageInfoReader,
    echo: Vec<(String, Query)>,
    next: Option<NextPage>,
}

/// One step of a required path.
#[derive(Clone, Debug)]
enum PathStep {
    Field(String),
    /// Into any element.
    Element,
    /// What is not there whatever the answer is: a key that does not read.
    Nowhere,
}

/// An answer as it came.
#[derive(Clone, Copy)]
pub struct HttpAnswer<'a> {
    /// MIME essence: it only makes messages better.
    pub mime: &'a str,
    /// Names in lower case.
    pub headers: &'a [(String, String)],
    /// Where it was found.
    pub url: &'a str,
    pub body: &'a [u8],
}

impl<'a> HttpAnswer<'a> {
    /// A body of which nothing more is known.
    pub const fn from_body(mime: &'a str, body: &'a [u8]) -> Self {
        Self { mime, headers: &[], url: "", body }
    }
}

/// [`Extractor::apply`] for one use, and with the whole document.
pub fn extract(spec: &ResponseSpec, answer: HttpAnswer<'_>) -> Result<Extraction> {
    Extractor::new(spec)?.read(answer, true)
}

/// The same of a page of a list.
pub fn extract_page(
    spec: &ResponseSpec,
    pages: &Pages,
    answer: HttpAnswer<'_>,
) -> Result<Extraction> {
    Extractor::new(spec)?.with_pages(pages)?.read(answer, true)
}

impl Extractor {
    /// Fails with `RECIPE_INVALID`.
    pub fn new(spec: &ResponseSpec) -> Result<Self> {
        let html = spec.html.as_ref().map(HtmlReader::new).transpose()?;
        let query = spec.extract.as_deref().map(Query::compile).transpose()?;
        let required_paths: Vec<_> =
            spec.required_paths.iter().map(|it| (it.clone(), parse_path(it))).collect();
        let page_info =
            spec.page_info.as_ref().map(PageInfoReader::new).transpose()?.unwrap_or_default();
        let echo: Vec<(String, Query)> = spec
            .echo
            .iter()
            .map(|(name, it)| Ok((name.clone(), Query::compile(it)?)))
            .collect::<Result<_>>()?;
        let holds = spec.empty.iter().flat_map(|it| &it.holds);
        let holds: Vec<Query> = holds.map(|it| Query::compile(it)).collect::<Result<_>>()?;
        let found =
            query.as_ref().map_or(FieldMask::ALL, Query::reach).clone().union(page_info.reach());
        let found = echo.iter().fold(found, |out, it| out.union(it.1.reach().clone()));
        let found = holds.iter().fold(found, |out, it| out.union(it.reach().clone()));
        Ok(Self {
            kind: spec.kind,
            framing: spec.framing,
            media_type: spec.media_type.clone(),
            query,
            reach: required_paths.iter().fold(found, |out, it| out.union(reach_of_path(&it.1))),
            embedded: spec.embedded.as_deref().map(selector::compile).transpose()?,
            variable: spec.variable.clone(),
            html,
            between: spec.between.clone(),
            header: spec.header.clone(),
            single: spec.html.as_ref().is_some_and(|it| it.single),
            min_items: spec.min_items,
            empty: spec.empty.clone(),
            holds,
            required_paths,
            page_info,
            echo,
            next: None,
        })
    }

    /// The same, which also says what leads to the next page. Fails with `RECIPE_INVALID`.
    pub fn with_pages(mut self, pages: &Pages) -> Result<Self> {
        self.next = match (pages.by, &pages.next) {
            (PageBy::LinkHeader, _) => Some(NextPage::Header),
            (PageBy::PageLink, _) => Some(NextPage::Link),
            (_, Some(it)) => Some(NextPage::Json(Query::compile(it)?)),
            (_, None) => None,
        };
        if let Some(NextPage::Json(it)) = &self.next {
            self.reach = self.reach.union(it.reach().clone());
        }
        Ok(self)
    }

    /// Reads the body by the recipe's type. Text is read as UTF-8. Of JSON only what is looked at is kept; all of it must be
    /// JSON.
    ///
    /// Fails with `PARSE_ERROR` when the body is not what the recipe says, with `RESPONSE_TOO_LARGE` when `extract` or the
    /// selectors repeat parts of it until they are four times what an answer may weigh, and `EXTRACT_EMPTY` when nothing matches: a `null`
    /// result, nothing but nulls, a required path that is missing, fewer than `min_items`. An empty list is an answer; only
    /// for HTML, where "no results" and "another layout" look the same, it must be allowed by `min_items: 0`, be like the page
    /// in `empty`, or be stated by the page in the line in which it gave its totals when the recipe was learned.
    pub fn apply(&self, answer: HttpAnswer<'_>) -> Result<Extraction> {
        self.read(answer, false)
    }

    fn read(&self, answer: HttpAnswer<'_>, with_whole: bool) -> Result<Extraction> {
        let mut out = self.extract_data(answer, with_whole)?;
        if matches!(self.next, Some(NextPage::Header)) {
            out.next = next_url_in_headers(answer.headers).map(Value::from);
        }
        let said = length_from_headers(answer.headers, out.items.unwrap_or(0));
        if out.items.is_some() && said.complete == Some(false) {
            out.length = Length { total: out.length.total.or(said.total), ..said };
        } else if out.items.is_some() && out.length.complete.is_none() {
            out.length = said;
        }
        Ok(out)
    }

    /// Whether the bytes are the answer, and not what was recorded of them.
    fn is_file(&self, mime: &str) -> bool {
        self.framing == Some(Framing::File) && mime != file_facts::RECORDED
    }

    /// What can be said of a file. Fails with `PARSE_ERROR` where the answer cannot be the file that was recorded.
    fn file(&self, answer: HttpAnswer<'_>) -> Result<Value> {
        let HttpAnswer { mime, headers, url, body } = answer;
        match file_facts::find_mismatch(mime, self.media_type.as_deref(), body) {
            Some(why) => Err(Error::new(Code::ParseError, why)
                .hint("its address may have ended; the site may have changed")),
            None => Ok(file_facts::describe(mime, headers, url, body)),
        }
    }

    fn extract_data(&self, answer: HttpAnswer<'_>, with_whole: bool) -> Result<Extraction> {
        let HttpAnswer { mime, body, .. } = answer;
        let embedded;
        let document = match (self.kind, &self.html) {
            (ResponseType::Text, _) => return self.check_data(self.text(answer)?, None),
            (ResponseType::Html, Some(reader)) => {
                let page = parse_html(body)?;
                let items = self.items(&page, reader);
                let states_none = self.min_items.is_none()
                    && !self.single
                    && items.as_ref().is_err_and(|err| err.code() == Code::ExtractEmpty)
                    && self.page_info.states_none(&page, answer.url);
                let items = if states_none { Value::Array(Vec::new()) } else { items? };
                let mut out = self.check_data(items, None)?;
                if states_none {
                    out.length = Length { total: Some(0), complete: Some(true) };
                }
                if let Some(items) = out.items.filter(|it| *it > 0) {
                    out.length = self.page_info.read_page(&page, answer.url, items);
                }
                if matches!(self.next, Some(NextPage::Link)) {
                    out.next = next_address(&page, answer.url).map(Value::from);
                }
                return Ok(out);
            }
            (ResponseType::Html, None) => {
                embedded = self.embedded_json(body)?;
                Document::from(&embedded)
            }
            (ResponseType::Json, _) if self.is_file(mime) => {
                embedded = self.file(answer)?;
                Document::from(&embedded)
            }
            (ResponseType::Json, _) => {
                let reach = if with_whole { FieldMask::ALL } else { &self.reach };
                parse_json(mime, self.framing, body, reach)?
            }
        };
        let next = match &self.next {
            Some(NextPage::Json(it)) => Some(it.search(&document)?).filter(is_continuation),
            _ => None,
        };
        let Some(query) = &self.query else {
            let out = Extraction { next, ..self.check_data(document.into_value(), None)? };
            let whole = with_whole.then(|| out.data.clone());
            return Ok(Extraction { whole, ..out });
        };
        let data = query.search(&document)?;
        if is_void(&data) {
            return Err(empty_error("`extract` matches nothing in the answer".to_owned()));
        }
        let out = self.check_data(data, Some(&document))?;
        if out.items == Some(0) {
            self.check_empty(&document)?;
        }
        let length = out.items.map_or(out.length, |it| self.page_info.read_json(&document, it));
        let echoed = self.echo.iter().map(|(name, it)| Ok((name.clone(), it.search(&document)?)));
        let echoed = echoed.collect::<Result<_>>()?;
        Ok(Extraction {
            echoed,
            next,
            whole: with_whole.then(|| document.into_value()),
            length,
            ..out
        })
    }

    /// `document` is what the data was found in, if it is not all of it.
    fn check_data(&self, data: Value, document: Option<&Document<'_>>) -> Result<Extraction> {
        let items = data.as_array().map(|it| it.len() as u64);
        if let Some(min) = self.min_items
            && items.unwrap_or(1) < u64::from(min)
            && !(items == Some(0) && self.empty.is_some())
        {
            return Err(empty_error(format!(
                "found {} items, expected at least {min}",
                items.unwrap_or(0)
            )));
        }
        let missing = |root: &Document<'_>| {
            self.required_paths.iter().find(|(_, steps)| !has_path(root, steps))
        };
        let missing = match document {
            Some(root) => missing(root),
            None if self.required_paths.is_empty() => None,
            None => missing(&Document::from(&data)),
        };
        if let Some((path, _)) = missing {
            return Err(empty_error(format!("the answer has no `{path}`")));
        }
        Ok(Extraction {
            data,
            items,
            whole: None,
            length: Length::default(),
            echoed: BTreeMap::new(),
            next: None,
        })
    }

    /// An answer without items has to look like one of the site's: what it says beside the list is as it was.
    fn check_empty(&self, document: &Document<'_>) -> Result<()> {
        for it in &self.holds {
            if it.search(document)? != Value::Bool(true) {
                let why =
                    "the answer holds no items, and is not like the site's answers without any";
                return Err(empty_error(why.to_owned()));
            }
        }
        if self.page_info.denies_empty(document) {
            return Err(empty_error(
                "the answer has no items, but states that there are some".to_owned(),
            ));
        }
        Ok(())
    }

    fn text(&self, answer: HttpAnswer<'_>) -> Result<Value> {
        let text = match &self.header {
            Some(name) => {
                let found = answer.headers.iter().find(|it| it.0 == *name);
                let found = found
                    .ok_or_else(|| empty_error(format!("the answer has no header `{name}`")))?;
                Cow::Borrowed(found.1.as_str())
            }
            None => String::from_utf8_lossy(answer.body),
        };
        let part = match &self.between {
            Some(it) => it.of(&text).ok_or_else(|| {
                empty_error("the answer does not have the texts of `between`".to_owned())
            })?,
            None => &text,
        };
        let text = part.trim().to_owned();
        if text.is_empty() && self.min_items != Some(0) {
            return Err(empty_error("the answer is empty".to_owned()));
        }
        Ok(Value::String(text))
    }

    fn items(&self, page: &Html, reader: &HtmlReader) -> Result<Value> {
        let mut all = reader.read(page)?;
        if all.is_empty() && self.min_items != Some(0) {
            return match &self.empty {
                Some(seen) if !self.single && blocks::no_results::is_empty_result(page, seen) => Ok(Value::Array(Vec::new())),
                Some(_) => Err(empty_error(
                    "the selectors match nothing in the page, and it is not like the one that had nothing to list".to_owned(),
                )),
                None => Err(empty_error("the selectors match nothing in the page".to_owned())),
            };
        }
        if self.single && !all.is_empty() {
            return Ok(all.swap_remove(0).into());
        }
        Ok(all.into_iter().map(Value::from).collect())
    }

    fn embedded_json(&self, body: &[u8]) -> Result<Value> {
        let document = parse_html(body)?;
        let Some(selector) = &self.embedded else {
            return Err(Error::new(Code::RecipeInvalid, "`type: html` needs `embedded` or `html`"));
        };
        let mut seen = false;
        for script in selector.select_in_page(&document) {
            seen = true;
            let text: String = script.text().collect();
            if let Some(value) = script_json(&text, self.variable.as_deref()) {
                return Ok(value);
            }
        }
        if seen {
            Err(Error::new(Code::ParseError, "the embedded script does not hold that JSON"))
        } else {
            Err(empty_error("`embedded` matches nothing in the page".to_owned()))
        }
    }
}

/// The JSON, or what a script assigns (`window.__STATE__ = {…};`).
fn script_json(text: &str, variable: Option<&str>) -> Option<Value> {
    let text = text.trim();
    if variable.is_none()
        && let Ok(value) = serde_json::from_str(text)
    {
        return Some(shape::with_sorted_keys(value));
    }
    let mut all = find_assignments(text).filter(|it| variable.is_none_or(|name| name == it.0));
    all.next().map(|it| shape::with_sorted_keys(it.1))
}

fn parse_html(body: &[u8]) -> Result<Html> {
    let text = String::from_utf8_lossy(body);
    nesting::check(&text)
        .map_err(|why| Error::new(Code::ParseError, format!("the page cannot be parsed: {why}")))?;
    Ok(blocks::parse(&text))
}

/// JSON framed as said, behind a byte order mark. Fails with `PARSE_ERROR`.
fn parse_json<'a>(
    mime: &str,
    framing: Option<Framing>,
    body: &'a [u8],
    reach: &'a FieldMask,
) -> Result<Document<'a>> {
    let text = std::str::from_utf8(body)
        .map_err(|err| Error::new(Code::ParseError, "the answer is not UTF-8").source(err))?;
    unframe(framing, text, reach).map_err(|err| {
        let kind = if mime.is_empty() { "the answer" } else { mime };
        let shown: String = kind.chars().filter(|it| !it.is_control()).take(60).collect();
        let what = match framing {
            Some(Framing::Jsonp) => "as JSONP",
            Some(Framing::Lines) => "as lines of JSON",
            Some(Framing::Text) => "as JSON whose one text is JSON",
            Some(Framing::References) => "as JSON whose values refer to one another",
            Some(Framing::Lenient) => "as JSON, nor as JSON5",
            Some(Framing::Xml) => "as XML",
            Some(Framing::Script) => "as a script that assigns data",
            Some(Framing::File) => "as what was recorded of a file",
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
pub(super) fn parse_any_json(mime: &str, body: &[u8]) -> Result<Value> {
    let text = String::from_utf8_lossy(body);
    let found = framing::detect(&text, mime, true).map(|it| shape::with_sorted_keys(it.value));
    found.map_or_else(|| Ok(parse_json(mime, None, body, FieldMask::ALL)?.into_value()), Ok)
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

/// The steps of `hits[].title` (or `$.hits[].title`).
fn parse_path(path: &str) -> Vec<PathStep> {
    let mut out = Vec::new();
    let mut path = path;
    loop {
        path = path.strip_prefix('$').unwrap_or(path);
        path = path.strip_prefix('.').unwrap_or(path);
        if path.is_empty() {
            return out;
        }
        if let Some(rest) = path.strip_prefix("[]") {
            out.push(PathStep::Element);
            path = rest;
        } else if path.starts_with('"') {
            // As `shape::paths` writes keys with dots and the like.
            let mut keys = serde_json::Deserializer::from_str(path).into_iter::<String>();
            let Some(Ok(key)) = keys.next() else {
                out.push(PathStep::Nowhere);
                return out;
            };
            out.push(PathStep::Field(key));
            path = &path[keys.byte_offset()..];
        } else if path.starts_with('[') {
            out.push(PathStep::Nowhere);
            return out;
        } else {
            let end = path.find(['.', '[']).unwrap_or(path.len());
            out.push(PathStep::Field(path[..end].to_owned()));
            path = &path[end..];
        }
    }
}

/// What of a document must be known to say whether the path is there.
fn reach_of_path(steps: &[PathStep]) -> FieldMask {
    steps.iter().rfold(FieldMask::default(), |below, it| match it {
        PathStep::Field(name) => FieldMask::field(name, below),
        PathStep::Element => FieldMask::elements(below),
        PathStep::Nowhere => FieldMask::default(),
    })
}

/// Whether the path is there. What is below a null or in an empty list is unknown, not missing.
fn has_path(value: &Document<'_>, steps: &[PathStep]) -> bool {
    let Some((step, rest)) = steps.split_first().filter(|_| !value.is_null()) else {
        return true;
    };
    match step {
        PathStep::Field(name) => value.get(name).is_some_and(|it| has_path(it, rest)),
        PathStep::Element => value
            .as_list()
            .is_some_and(|all| all.is_empty() || all.iter().any(|it| has_path(it, rest))),
        PathStep::Nowhere => false,
    }
}

fn empty_error(message: String) -> Error {
    Error::new(Code::ExtractEmpty, message)
        .hint("there may be nothing for these values, or the site changed: `commis check` runs the recipe's own example")
}

/// What the shape of an answer is compared by, sorted: typed paths of the data, or for HTML items what
/// [`blocks::read::shape`] says of them.
pub fn fingerprint(spec: &ResponseSpec, extracted: &Extraction) -> Vec<String> {
    let Some(html) = &spec.html else {
        return shape::paths(&extracted.data);
    };
    let items = match &extracted.data {
        Value::Array(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    blocks::read::shape(html, items.iter().filter_map(Value::as_object))
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
    let optional = spec.html.as_ref().map(|it| it.optional.as_slice()).unwrap_or_default();
    similarity_without(optional, a, b)
}

/// The same with the fields of those names left out.
fn similarity_without(names: &[String], a: &[String], b: &[String]) -> u32 {
    let without_counts = |all: &[String]| -> Vec<String> {
        all.iter()
            .filter_map(|it| {
                let mut parts = it.rsplitn(3, ':');
                let (text, _, name) = (parts.next(), parts.next(), parts.next()?);
                let is_sure =
                    !name.strip_prefix('.').is_some_and(|it| names.iter().any(|name| name == it));
                is_sure.then(|| format!("{name}:{}", text.unwrap_or("")))
            })
            .collect()
    };
    shape::similarity_bp(&without_counts(a), &without_counts(b))
}

/// The empty fields of the only record of a page, where they alone make it unlike the verified one: their elements are there, and at
/// least as many others have text. Whether the site has left them empty, or fills them in another way by now, its example tells.
pub fn blank_fields(
    spec: &ResponseSpec,
    verified: &[String],
    extracted: &Extraction,
) -> Vec<String> {
    let record = match &extracted.data {
        Value::Array(all) if all.len() == 1 => &all[0],
        one => one,
    };
    let (Some(html), Some(record)) = (&spec.html, record.as_object()) else { return Vec::new() };
    let is_blank = |it: &&String| record.get(*it).and_then(Value::as_str) == Some("");
    let blank: Vec<String> = html.fields.keys().filter(is_blank).cloned().collect();
    let others = html.fields.len() - blank.len();
    let left_out: Vec<String> = html.optional.iter().chain(&blank).cloned().collect();
    let is_alike = || {
        similarity_without(&left_out, verified, &fingerprint(spec, extracted)) >= MIN_SIMILARITY_BP
    };
    if blank.len() <= others && is_alike() { blank } else { Vec::new() }
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
