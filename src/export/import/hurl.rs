//! Hurl: exactly one request, read by the part of the grammar that says what is sent.
//!
//! The whole grammar has its own crate; of it a draft needs the method, the address, headers, four sections and a body, whose
//! texts are read here in the same way. What is sent in another way, and what depends on another answer, is refused.

use std::collections::BTreeMap;

use serde_json::Value;
use url::form_urlencoded;

use super::{DraftBuilder, ImportResult, MAX_FILE, ParameterValues, pair};
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};
use commis_recipe::{
    check::is_credential_header,
    headers::is_forbidden,
    model::{BodyTemplate, Constraints, Pair, ParamType},
    template::escape,
};

type ReadResult<T> = std::result::Result<T, String>;

/// A draft of the one request. `name` is the draft's.
///
/// Fails with `USAGE` for a file that is too large.
pub fn read(text: &str, name: &str) -> Result<ImportResult> {
    if text.len() > MAX_FILE {
        return Err(Error::new(Code::Usage, format!("the file is larger than {MAX_FILE} bytes")));
    }
    let mut out = ImportResult::default();
    out.add_draft(request(text, name), name);
    Ok(out)
}

/// Variables and their values, and which of them are numbers.
type Variables = BTreeMap<String, (ParamType, String)>;

fn request(text: &str, name: &str) -> ReadResult<DraftBuilder> {
    let mut lines = text.lines().filter(|it| !is_blank(it)).peekable();
    let first = lines.next().ok_or("it has no request")?;
    let (method, url) = first.split_once(' ').ok_or("its first line is not a request")?;
    if !matches!(method, "GET" | "POST") {
        return Err("it is neither a GET nor a POST".to_owned());
    }
    let mut made = DraftBuilder::new(RecipeName::slug(name), method, String::new());
    let comments =
        text.lines().take_while(|it| is_blank(it)).find_map(|it| it.trim().strip_prefix('#'));
    if let Some(it) = comments {
        let it = it.trim();
        let named = format!("{}: ", made.name);
        it.strip_prefix(&named).unwrap_or(it).clone_into(&mut made.task);
    }
    let (mut headers, mut query, mut form) = (Vec::new(), Vec::new(), Vec::new());
    let mut variables = Variables::new();
    let mut section = String::new();
    let mut body: Option<String> = None;
    while let Some(line) = lines.next() {
        let it = line.trim();
        if it.starts_with("HTTP") {
            break;
        }
        if let Some(it) = it.strip_prefix('[').and_then(|it| it.strip_suffix(']'))
            && it.bytes().all(|it| it.is_ascii_alphabetic())
        {
            it.clone_into(&mut section);
            let known = ["Query", "QueryStringParams", "Form", "FormParams", "Options"];
            if !known.contains(&section.as_str()) {
                return Err(refusal(&section));
            }
            continue;
        }
        if let Some(text) = it.strip_prefix("```") {
            // A language may be named; the text ends with the fence.
            let mut all = Vec::new();
            if let Some(one) = text.strip_suffix("```") {
                all.push(one);
            } else {
                all.extend(lines.by_ref().take_while(|it| it.trim() != "```"));
            }
            body = Some(all.join("\n"));
        } else if let Some(text) = it.strip_prefix('`').and_then(|it| it.strip_suffix('`')) {
            body = Some(text.to_owned());
        } else if it.starts_with(['{', '[']) || it.starts_with('"') {
            let mut all = vec![line];
            while lines.peek().is_some_and(|it| !it.trim_start().starts_with("HTTP")) {
                all.extend(lines.next());
            }
            body = Some(all.join("\n"));
        } else {
            let (key, value) = split(it).ok_or_else(|| {
                format!("a line of it is not understood: {}", super::super::escaping::comment(it))
            })?;
            match section.as_str() {
                "" => headers.push((key, value)),
                "Query" | "QueryStringParams" => query.push((key, value)),
                "Form" | "FormParams" => form.push((key, value)),
                _ => option(&key, &value, &mut variables)?,
            }
        }
    }
    for it in lines {
        if it
            .split(' ')
            .next()
            .is_some_and(|it| it.len() > 2 && it.bytes().all(|it| it.is_ascii_uppercase()))
            && it.contains("://")
        {
            return Err("it describes more than one request; learn the chain instead".to_owned());
        }
        if it.trim() == "[Captures]" {
            return Err("it captures values for another request".to_owned());
        }
    }
    let mut place = TemplateReader { made: &mut made, variables: &variables };
    place.url(url.trim())?;
    for (name, value) in query {
        let value = place.template(&value)?;
        place.made.query.push(pair(&decode_name(&name)?, value));
    }
    for (name, value) in headers {
        place.header(&name.to_ascii_lowercase(), &value)?;
    }
    if !form.is_empty() {
        let all: ReadResult<Vec<Pair>> = form
            .iter()
            .map(|(name, value)| Ok(pair(&decode_name(name)?, place.template(value)?)))
            .collect();
        place.made.body = Some(BodyTemplate::Form(all?));
    } else if let Some(text) = body {
        place.body(&text)?;
    }
    Ok(made)
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

fn refusal(section: &str) -> String {
    match section {
        "BasicAuth" => {
            "it holds a login; write `auth` with type basic, which names a variable".to_owned()
        }
        "Cookies" => {
            "it sends cookies, which no recipe holds; learn it, or put the login into the vault"
                .to_owned()
        }
        "Multipart" | "MultipartFormData" => "it sends a form in parts".to_owned(),
        it => format!("its section [{}] is not understood", super::super::escaping::comment(it)),
    }
}

/// Name and value at the first colon that is not escaped; a comment at the end is left out.
fn split(line: &str) -> Option<(String, String)> {
    let mut before = ' ';
    let at = line.char_indices().find(|(_, it)| {
        let is_it = *it == ':' && before != '\\';
        before = *it;
        is_it
    })?;
    let (key, value) = (line[..at.0].trim(), line[at.0 + 1..].trim());
    let mut before = ' ';
    let end = value.char_indices().find(|(_, it)| {
        let is_it = *it == '#' && before == ' ';
        before = *it;
        is_it
    });
    let value = end.map_or(value, |it| value[..it.0].trim_end());
    (!key.is_empty()).then(|| (key.to_owned(), value.to_owned()))
}

/// `variable: q="lantern"`; what says how a request is sent is passed over.
fn option(key: &str, value: &str, variables: &mut Variables) -> ReadResult<()> {
    match key {
        "variable" => {
            let (name, value) = value.split_once('=').ok_or("a variable has no value")?;
            let value = value.trim();
            let (kind, text) = match value.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
                Some(it) => (ParamType::Str, unescape(it)?),
                None if value.parse::<i64>().is_ok() => (ParamType::Int, value.to_owned()),
                None if value.parse::<f64>().is_ok() => (ParamType::Float, value.to_owned()),
                None if matches!(value, "true" | "false") => (ParamType::Bool, value.to_owned()),
                None => (ParamType::Str, unescape(value)?),
            };
            variables.insert(name.trim().to_owned(), (kind, text));
            Ok(())
        }
        "user" => Err(refusal("BasicAuth")),
        "proxy" | "insecure" | "cacert" | "cert" | "key" | "connect-to" | "resolve"
        | "unix-socket" => {
            Err(format!("its option `{key}` is the sender's business, not a recipe's"))
        }
        _ => Ok(()),
    }
}

/// Texts as the grammar escapes them.
fn unescape(text: &str) -> ReadResult<String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(it) = chars.next() {
        if it != '\\' {
            out.push(it);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let code: String = chars
                    .by_ref()
                    .skip_while(|it| *it == '{')
                    .take_while(|it| *it != '}')
                    .collect();
                let code = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                out.push(code.ok_or("an escape in it is none")?);
            }
            Some(it) => out.push(it),
            None => return Err("a line of it ends in the middle of an escape".to_owned()),
        }
    }
    Ok(out)
}

/// Names of pairs are sent as they are, so whoever wrote the file encoded them.
fn decode_name(text: &str) -> ReadResult<String> {
    let text = unescape(text)?;
    Ok(percent_encoding::percent_decode_str(&text).decode_utf8_lossy().into_owned())
}

struct TemplateReader<'a> {
    made: &'a mut DraftBuilder,
    variables: &'a Variables,
}

impl TemplateReader<'_> {
    /// A parameter for a variable.
    fn variable(&mut self, name: &str, in_path: bool) -> ReadResult<String> {
        let name = name.trim();
        if name.contains(' ') {
            return Err("it computes a value".to_owned());
        }
        let (kind, examples) = match self.variables.get(name) {
            // Into an address it is put as it is.
            Some((kind, text)) if in_path => {
                let text = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
                (*kind, vec![text.into_owned()])
            }
            Some((kind, text)) => (*kind, vec![text.clone()]),
            None => (ParamType::Str, Vec::new()),
        };
        let given = ParameterValues { required: true, default: None, examples };
        Ok(self.made.parameter(name, kind, Constraints::default(), given))
    }

    /// Escaped text with variables in it, as a template.
    fn template(&mut self, text: &str) -> ReadResult<String> {
        self.template_in(text, false)
    }

    fn template_in(&mut self, text: &str, in_path: bool) -> ReadResult<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or("a variable in it is never closed")?;
            out.push_str(&escape(&unescape(before)?));
            out.push_str(&self.variable(name, in_path)?);
            rest = after;
        }
        Ok(out + &escape(&unescape(rest)?))
    }

    fn url(&mut self, text: &str) -> ReadResult<()> {
        let (address, query) = text.split_once('?').unwrap_or((text, ""));
        let path =
            address.find("://").and_then(|it| address[it + 3..].find('/').map(|at| it + 3 + at));
        let (origin, path) = address.split_at(path.unwrap_or(address.len()));
        if origin.contains('{') {
            return Err("its host is a variable; write it out".to_owned());
        }
        self.made.url = format!("{origin}{}", self.template_in(path, true)?);
        for it in query.split('&').filter(|it| !it.is_empty()) {
            let (name, value) = it.split_once('=').unwrap_or((it, ""));
            let decoded = |it: &str| -> String {
                form_urlencoded::parse(format!("x={it}").as_bytes())
                    .next()
                    .map(|it| it.1.into_owned())
                    .unwrap_or_default()
            };
            let value =
                if value.contains("{{") { self.template(value)? } else { escape(&decoded(value)) };
            self.made.query.push(pair(&decoded(name), value));
        }
        Ok(())
    }

    fn header(&mut self, name: &str, value: &str) -> ReadResult<()> {
        if name == "cookie" {
            return Err(refusal("Cookies"));
        }
        if name == "authorization" || is_credential_header(name) {
            return Err(format!(
                "its header `{}` carries a key: write `auth`, which names a variable",
                super::super::escaping::comment(name)
            ));
        }
        if !is_forbidden(name) && name != "user-agent" {
            let value = self.template(value)?;
            self.made.headers.insert(name.to_owned(), value);
        }
        Ok(())
    }

    fn body(&mut self, text: &str) -> ReadResult<()> {
        let kind = self.made.headers.get("content-type").cloned().unwrap_or_default();
        if kind.contains("json") || text.trim_start().starts_with(['{', '[']) {
            let (json, names) = mark_variables(text)?;
            let json: Value =
                serde_json::from_str(&json).map_err(|_| "its body does not parse as JSON")?;
            let json = self.json(json, &names)?;
            self.made.body = Some(BodyTemplate::Json(json));
            return Ok(());
        }
        let text = self.template(text)?;
        self.made.body = Some(BodyTemplate::Text(text));
        Ok(())
    }

    /// Strings with the variables that were marked in them, as templates.
    fn json(&mut self, value: Value, names: &[String]) -> ReadResult<Value> {
        Ok(match value {
            Value::String(it) => {
                let mut out = String::new();
                let mut rest = it.as_str();
                while let Some((before, after)) = rest.split_once(MARK) {
                    let (nth, after) = after.split_once(MARK).ok_or("its body does not parse")?;
                    let name = nth.parse().ok().and_then(|it: usize| names.get(it));
                    out.push_str(&escape(before));
                    out.push_str(&self.variable(name.ok_or("its body does not parse")?, false)?);
                    rest = after;
                }
                Value::String(out + &escape(rest))
            }
            Value::Array(all) => Value::Array(
                all.into_iter().map(|it| self.json(it, names)).collect::<ReadResult<_>>()?,
            ),
            Value::Object(all) => {
                let mut out = serde_json::Map::new();
                for (key, it) in all {
                    out.insert(key, self.json(it, names)?);
                }
                Value::Object(out)
            }
            it => it,
        })
    }
}

/// Of what stands for a variable in JSON that is being read: no text of a page has it.
const MARK: char = '\u{f8ff}';

/// JSON in which variables stand as strings, or within them, and their names.
fn mark_variables(text: &str) -> ReadResult<(String, Vec<String>)> {
    if text.contains(MARK) {
        return Err("its body holds a character that is none".to_owned());
    }
    let mut out = String::new();
    let mut names = Vec::new();
    let mut within = false;
    let mut rest = text;
    while let Some(it) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("{{") {
            // An object in an object has a blank or a quote between its braces, a variable a name.
            let name = after.split_once("}}").filter(|it| {
                !it.0.is_empty()
                    && it
                        .0
                        .trim()
                        .bytes()
                        .all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
            });
            if let Some((name, after)) = name {
                let mark = format!("{MARK}{}{MARK}", names.len());
                if within {
                    out.push_str(&mark);
                } else {
                    out.extend(["\"", &mark, "\""]);
                }
                names.push(name.trim().to_owned());
                rest = after;
                continue;
            }
        }
        if within && it == '\\' {
            let two: String = rest.chars().take(2).collect();
            out.push_str(&two);
            rest = &rest[two.len()..];
            continue;
        }
        if it == '"' {
            within = !within;
        }
        out.push(it);
        rest = &rest[it.len_utf8()..];
    }
    Ok((out, names))
}
