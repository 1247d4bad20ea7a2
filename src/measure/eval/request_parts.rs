//! A request taken apart, its parts named as the stages name them: `query:q`, `header:accept`, `form:q`, `json:/a/b`,
//! `text:`, and `path:2` for the third segment.
//!
//! Values are what they mean, not how they were written: decoded, and JSON leaves by their type.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use url::{Url, form_urlencoded};

use commis_net::transport::PreparedRequest;
use commis_recipe::{
    model::{BodyTemplate, Pair, RequestTemplate},
    template::escape,
};

const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A request by its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestParts {
    pub method: String,
    /// Scheme, host, and port where it is not the scheme's.
    pub origin: String,
    /// Segments of the path, decoded.
    pub path: Vec<String>,
    /// Every part by its name, path segments included.
    pub values: BTreeMap<String, Value>,
}

impl RequestParts {
    /// `None` when the URL is none.
    pub fn from_request(request: &PreparedRequest) -> Option<Self> {
        let url = Url::parse(&request.url).ok()?;
        let path: Vec<String> = url.path_segments().into_iter().flatten().map(decode).collect();
        let mut values = BTreeMap::new();
        for (i, segment) in path.iter().enumerate() {
            put(&mut values, format!("path:{i}"), Value::String(segment.clone()));
        }
        for (name, value) in url.query_pairs() {
            put(&mut values, format!("query:{name}"), Value::String(value.into_owned()));
        }
        for (name, value) in &request.headers {
            put(&mut values, format!("header:{name}"), Value::String(value.clone()));
        }
        if let Some(body) = &request.body {
            let kind = request.headers.iter().find(|it| it.0 == "content-type").map(|it| &it.1);
            let kind = kind.map_or("", String::as_str);
            if let Some(json) = Some(body)
                .filter(|_| kind.contains("json"))
                .and_then(|it| serde_json::from_slice::<Value>(it).ok())
            {
                collect_leaves(&json, &mut "json:".to_owned(), &mut values);
            } else if kind.starts_with("application/x-www-form-urlencoded") {
                for (name, value) in form_urlencoded::parse(body) {
                    put(&mut values, format!("form:{name}"), Value::String(value.into_owned()));
                }
            } else {
                let text = String::from_utf8_lossy(body).into_owned();
                put(&mut values, "text:".to_owned(), Value::String(text));
            }
        }
        Some(Self {
            method: request.method.clone(),
            origin: url.origin().ascii_serialization(),
            path,
            values,
        })
    }

    /// Whether the part is there; a JSON member also as the parent of others.
    pub fn has(&self, part: &str) -> bool {
        self.values.contains_key(part)
            || part.starts_with("json:") && {
                let below = format!("{part}/");
                self.values.range(below.clone()..).next().is_some_and(|it| it.0.starts_with(&below))
            }
    }

    /// Whether the URL, without its query, is of this pattern: `*` stands for one segment.
    pub fn is_at(&self, pattern: &str) -> bool {
        let Some((origin, path)) = split(pattern) else { return false };
        let wanted: Vec<&str> = path.split('/').collect();
        self.origin == origin
            && wanted.len() == self.path.len()
            && wanted
                .iter()
                .zip(&self.path)
                .all(|(wanted, it)| *wanted == "*" || decode(wanted) == *it)
    }
}

/// Origin and path (without its first slash) of a URL or a pattern of URLs.
pub fn split(url: &str) -> Option<(&str, &str)> {
    let start = url.find("://")? + 3;
    let slash = url[start..].find('/').map_or(url.len(), |it| it + start);
    Some((&url[..slash], url[slash..].strip_prefix('/').unwrap_or("")))
}

/// Gives the part a literal value, or leaves it out. A path segment cannot be left out; a part that is not there is added
/// to the query, the headers or the form, never to JSON.
pub fn edit(request: &mut RequestTemplate, part: &str, value: Option<&Value>) {
    let Some((place, key)) = part.split_once(':') else { return };
    let text = value.map(text_of);
    match (place, &mut request.body) {
        ("query", _) => set(&mut request.query, key, texts(value)),
        ("form", Some(BodyTemplate::Form(fields))) => set(fields, key, texts(value)),
        ("header", _) => {
            request.headers.remove(key);
            request.headers.extend(text.map(|it| (key.to_owned(), it)));
        }
        ("path", _) => {
            let (Some(text), Ok(i)) = (value.and_then(Value::as_str), key.parse::<usize>()) else {
                return;
            };
            if let Some((origin, path)) = split(&request.url) {
                let mut segments: Vec<String> = path.split('/').map(str::to_owned).collect();
                if let Some(it) = segments.get_mut(i) {
                    *it = utf8_percent_encode(text, SEGMENT).to_string();
                }
                request.url = format!("{origin}/{}", segments.join("/"));
            }
        }
        ("text", Some(BodyTemplate::Text(body))) => *body = text.unwrap_or_default(),
        ("json", Some(BodyTemplate::Json(body))) => {
            let Some((parent, last)) = key.rsplit_once('/') else { return };
            let last = last.replace("~1", "/").replace("~0", "~");
            let value = value.map(|it| match it {
                Value::String(it) => Value::String(escape(it)),
                other => other.clone(),
            });
            match body.pointer_mut(parent) {
                Some(Value::Object(fields)) => match value {
                    Some(it) => _ = fields.insert(last, it),
                    None => _ = fields.remove(&last),
                },
                Some(Value::Array(items)) => {
                    if let (Ok(i), Some(it)) = (last.parse::<usize>(), value)
                        && i < items.len()
                    {
                        items[i] = it;
                    }
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// As literal templates: a list is a name that comes more than once.
fn texts(value: Option<&Value>) -> Vec<String> {
    let all = match value {
        Some(Value::Array(all)) => all.iter().collect(),
        other => Vec::from_iter(other),
    };
    all.into_iter().map(text_of).collect()
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(it) => escape(it),
        other => other.to_string(),
    }
}

fn set(pairs: &mut Vec<Pair>, name: &str, values: Vec<String>) {
    let at = pairs.iter().position(|it| it.name == name);
    pairs.retain(|it| it.name != name);
    let at = at.unwrap_or(pairs.len()).min(pairs.len());
    let new =
        values.into_iter().map(|value| Pair { name: name.to_owned(), value, ..Pair::default() });
    pairs.splice(at..at, new);
}

pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// A name that comes twice has a list of values.
fn put(values: &mut BTreeMap<String, Value>, name: String, value: Value) {
    match values.get_mut(&name) {
        None => _ = values.insert(name, value),
        Some(Value::Array(all)) => all.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}

fn collect_leaves(value: &Value, at: &mut String, out: &mut BTreeMap<String, Value>) {
    let len = at.len();
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, it) in fields {
                at.push('/');
                at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                collect_leaves(it, at, out);
                at.truncate(len);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (i, it) in items.iter().enumerate() {
                at.push('/');
                at.push_str(&i.to_string());
                collect_leaves(it, at, out);
                at.truncate(len);
            }
        }
        _ => _ = out.insert(at.clone(), value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use commis_recipe::request::prepare_request;

    fn template(value: Value) -> RequestTemplate {
        serde_json::from_value(value).unwrap()
    }

    fn parts(template: &RequestTemplate) -> RequestParts {
        RequestParts::from_request(&prepare_request(template, &[], &BTreeMap::new()).unwrap())
            .unwrap()
    }

    #[test]
    fn values_are_what_they_mean() {
        let it = parts(&template(json!({
            "method": "POST", "url": "http://a.test/caf%C3%A9/x", "allowed_domains": ["a.test"],
            "query": [{"name": "q", "value": "garden hose"}, {"name": "t", "value": "1"}, {"name": "t", "value": "2"}],
            "headers": {"accept": "*/*"},
            "body": {"json": {"a": {"b": 1, "c/d": "x"}, "e": [], "f": ["y"]}}
        })));
        assert_eq!(it.path, ["café", "x"]);
        let expected = [
            ("header:accept", json!("*/*")),
            ("header:content-type", json!("application/json")),
            ("json:/a/b", json!(1)),
            ("json:/a/c~1d", json!("x")),
            ("json:/e", json!([])),
            ("json:/f/0", json!("y")),
            ("path:0", json!("café")),
            ("path:1", json!("x")),
            ("query:q", json!("garden hose")),
            ("query:t", json!(["1", "2"])),
        ];
        assert_eq!(it.values, expected.map(|it| (it.0.to_owned(), it.1)).into());
        assert!(
            it.has("json:/a") && it.has("query:q") && !it.has("json:/a/b/c") && !it.has("form:q")
        );
        assert!(it.is_at("http://a.test/*/x") && it.is_at("http://a.test/caf%C3%A9/x"));
        assert!(!it.is_at("http://a.test/*") && !it.is_at("http://b.test/*/x"));
    }

    #[test]
    fn parts_can_be_changed_and_left_out() {
        let mut it = template(json!({
            "method": "POST", "url": "http://a.test/city/Oslo", "allowed_domains": ["a.test"],
            "query": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}],
            "headers": {"x": "1"}, "body": {"json": {"a": {"b": "c"}, "l": [1, 2]}}
        }));
        for (part, value) in [
            ("path:1", Some(json!("São {Paulo}"))),
            ("query:a", Some(json!("{x}"))),
            ("query:b", None),
            ("header:x", None),
            ("json:/a/b", Some(json!("{d}"))),
            ("json:/l/1", Some(json!(3))),
        ] {
            edit(&mut it, part, value.as_ref());
        }
        let now = parts(&it);
        assert_eq!(now.values["path:1"], "São {Paulo}");
        assert_eq!(now.values["query:a"], "{x}");
        assert_eq!(now.values["json:/a/b"], "{d}");
        assert_eq!(now.values["json:/l/1"], 3);
        assert!(!now.has("query:b") && !now.has("header:x"));
        edit(&mut it, "query:t", Some(&json!(["x", "{y}"])));
        assert_eq!(parts(&it).values["query:t"], json!(["x", "{y}"]));
        edit(&mut it, "json:/a", None);
        assert!(!parts(&it).has("json:/a"));
    }
}
