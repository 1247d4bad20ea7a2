//! Operations that share one address: GraphQL by the operation's name, JSON-RPC by its method.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::string_formats::is_redacted;
use commis_report::is_unsafe_char;

const MAX_NAME: usize = 80;
/// A longer document is told without.
const MAX_DOCUMENT: usize = 8 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    GraphQl,
    JsonRpc,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    pub family: Family,
    /// What tells it from the others at this address, and is safe in a path's fragment.
    pub name: String,
    /// Of GraphQL: `query`, `mutation`, `subscription`.
    pub kind: &'static str,
    pub document: Option<String>,
    /// The document is known to the server by a digest or an id.
    pub persisted: bool,
}

impl Operation {
    /// As it stands behind the path.
    pub fn fragment(&self) -> String {
        let key = match self.family {
            Family::GraphQl => "operationName",
            Family::JsonRpc => "method",
        };
        format!("{key}={}", self.name)
    }

    pub fn to_json(&self) -> Value {
        match self.family {
            Family::GraphQl => {
                let mut out = Map::new();
                out.insert("operation".to_owned(), self.kind.into());
                out.insert("name".to_owned(), self.name.clone().into());
                if self.persisted {
                    out.insert("persisted".to_owned(), true.into());
                }
                if let Some(it) = &self.document {
                    out.insert("document".to_owned(), it.clone().into());
                }
                out.into()
            }
            Family::JsonRpc => json!({"method": self.name}),
        }
    }
}

/// The operation that a JSON body asks for.
pub fn find_in_json(body: &Value) -> Option<Operation> {
    let fields = body.as_object()?;
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    if let Some(method) = text("method")
        && (fields.contains_key("jsonrpc")
            || (fields.contains_key("id") && fields.contains_key("params")))
    {
        let name = path_safe_name(method)?;
        return Some(Operation {
            family: Family::JsonRpc,
            name,
            kind: "call",
            document: None,
            persisted: false,
        });
    }
    let extensions = fields.get("extensions").filter(|it| it.is_object());
    let id = ["id", "queryId", "doc_id", "documentId", "hash", "sha256Hash"]
        .iter()
        .find_map(|it| text(it));
    graphql(text("query"), text("operationName"), extensions, id, fields.contains_key("variables"))
}

/// The same of a query string or a form.
pub fn find_in_fields(fields: &[(String, String)]) -> Option<Operation> {
    let all: BTreeMap<&str, &str> =
        fields.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    let get = |key: &str| all.get(key).copied().filter(|it| !it.is_empty());
    let extensions = get("extensions").and_then(|it| serde_json::from_str::<Value>(it).ok());
    let name = get("operationName").or_else(|| get("fb_api_req_friendly_name"));
    let id = get("doc_id").or_else(|| get("queryId")).or_else(|| get("query_hash"));
    let variables = get("variables").is_some_and(|it| it.trim_start().starts_with('{'));
    graphql(get("query"), name, extensions.as_ref(), id, variables)
}

fn graphql(
    query: Option<&str>,
    name: Option<&str>,
    extensions: Option<&Value>,
    id: Option<&str>,
    has_variables: bool,
) -> Option<Operation> {
    let parsed = query.and_then(document);
    let digest = extensions
        .and_then(|it| it.pointer("/persistedQuery/sha256Hash"))
        .and_then(Value::as_str)
        .or(id.filter(|_| has_variables || name.is_some()));
    // A search sends a `query`, too, and some forms an `operationName`.
    if parsed.is_none() && digest.is_none() && !(name.is_some() && has_variables) {
        return None;
    }
    let (kind, own, first) = parsed.unwrap_or(("query", None, None));
    let name = name
        .and_then(path_safe_name)
        .or_else(|| own.and_then(path_safe_name))
        .or_else(|| first.and_then(path_safe_name))
        .or_else(|| digest.and_then(path_safe_name).map(|it| it.chars().take(16).collect()))
        .unwrap_or_else(|| "anonymous".to_owned());
    let is_whole = |it: &&str| {
        it.len() <= MAX_DOCUMENT
            && !it.chars().any(|c| c != '\n' && c != '\t' && c != '\r' && is_unsafe_char(c))
    };
    let document = query.filter(|_| parsed.is_some()).filter(is_whole).map(str::to_owned);
    Some(Operation { family: Family::GraphQl, name, kind, persisted: parsed.is_none(), document })
}

/// Kind, name and first field of a GraphQL document; `None` when it is none.
fn document(text: &str) -> Option<(&'static str, Option<&str>, Option<&str>)> {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix('#') {
        rest = comment.split_once('\n')?.1.trim_start();
    }
    // Fragments may come first.
    if rest.starts_with("fragment ") {
        let at = ["query", "mutation", "subscription"]
            .iter()
            .filter_map(|it| {
                [format!("}}\n{it} "), format!("}} {it} "), format!("}}{it} ")]
                    .iter()
                    .find_map(|it| rest.find(it.as_str()))
            })
            .min()?;
        rest = rest[at + 1..].trim_start();
    }
    for kind in ["query", "mutation", "subscription"] {
        let Some(more) = rest.strip_prefix(kind) else { continue };
        if !more.starts_with(|c: char| c.is_whitespace() || c == '{' || c == '(')
            || !more.contains('{')
        {
            continue;
        }
        let name = word(more.trim_start());
        return Some((kind, name, field(more)));
    }
    let is_short = rest.starts_with('{') && rest.trim_end().ends_with('}');
    (is_short && !rest[1..].trim_start().starts_with(['"', '}']))
        .then(|| ("query", None, field(rest)))
}

/// The first field that is asked for.
fn field(text: &str) -> Option<&str> {
    // Default values of variables have braces, too, behind their parenthesis.
    let text = match (text.find('('), text.find('{')) {
        (Some(a), Some(b)) if a < b => text.split_once(')').map_or(text, |it| it.1),
        _ => text,
    };
    word(text.split_once('{')?.1.trim_start())
}

fn word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    Some(&text[..end]).filter(|it| !it.is_empty())
}

/// A name that may stand in a path.
fn path_safe_name(text: &str) -> Option<String> {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:$".contains(c));
    (plain && !text.is_empty() && text.len() <= MAX_NAME && !is_redacted(text))
        .then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(it: Option<Operation>) -> Option<String> {
        it.map(|it| {
            format!("{} {}{}", it.kind, it.fragment(), if it.persisted { " persisted" } else { "" })
        })
    }

    #[test]
    fn operations_of_bodies() {
        for (body, expected) in [
            (
                json!({"query": "query GetUser($id: ID = {a: 1}) { user(id: $id) { name } }"}),
                Some("query operationName=GetUser"),
            ),
            (
                json!({"query": "\n# x\nmutation Save{save{ok}}", "variables": {}}),
                Some("mutation operationName=Save"),
            ),
            (json!({"query": "{ user { name } }"}), Some("query operationName=user")),
            (
                json!({"query": "query media($id:Int){Media(id:$id){id}}", "operationName": "Other"}),
                Some("query operationName=Other"),
            ),
            (
                json!({"query": "query ($id:Int){Media(id:$id){id}}"}),
                Some("query operationName=Media"),
            ),
            (
                json!({"query": "fragment F on U { id }\nquery Q { u { ...F } }"}),
                Some("query operationName=Q"),
            ),
            (
                json!({"operationName": "Q", "variables": {}, "extensions": {"persistedQuery": {"version": 1, "sha256Hash": "ab12"}}}),
                Some("query operationName=Q persisted"),
            ),
            (
                json!({"extensions": {"persistedQuery": {"sha256Hash": "ab12ab12ab12ab12ab12"}}}),
                Some("query operationName=ab12ab12ab12ab12 persisted"),
            ),
            (
                json!({"id": "abc", "variables": {"a": 1}}),
                Some("query operationName=abc persisted"),
            ),
            (
                json!({"jsonrpc": "2.0", "method": "eth_call", "params": [], "id": 1}),
                Some("call method=eth_call"),
            ),
            (json!({"method": "getBlock", "params": {}, "id": 1}), Some("call method=getBlock")),
            (json!({"query": "lamps"}), None),
            (json!({"query": "query lamps"}), None),
            (json!({"query": {"match": {}}}), None),
            (json!({"method": "GET", "url": "/"}), None),
            (json!({"id": "abc"}), None),
            (json!([1]), None),
        ] {
            assert_eq!(told(find_in_json(&body)).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn operations_of_addresses() {
        let check = |query: &str, expected: Option<&str>| {
            let all: Vec<(String, String)> =
                url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
            assert_eq!(told(find_in_fields(&all)).as_deref(), expected, "{query}");
        };
        check("query=%7BwsiForecast(l:1)%7Ba%7D%7D", Some("query operationName=wsiForecast"));
        check(
            "operationName=Q&variables=%7B%7D&extensions=%7B%22persistedQuery%22:%7B%22sha256Hash%22:%22ab%22%7D%7D",
            Some("query operationName=Q persisted"),
        );
        check(
            "fb_api_req_friendly_name=Feed&doc_id=12&variables=%7B%7D",
            Some("query operationName=Feed persisted"),
        );
        check("query=lamps", None);
        check("query=%7B%22a%22:1%7D", None);
        check("id=1&variables=a", None);
    }
}
