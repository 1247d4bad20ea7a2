//! What a document of GraphQL does.

use serde_json::Value;
use url::Url;

use super::{
    address::Segment,
    body::Body,
    names::{NameMeaning, operation_meaning},
};

/// Members of a call. Which of two texts counts is for the server to choose, so there must be one.
const KEYS: &[&str] = &["query", "variables", "operationName", "extensions"];
/// Parameters of an address by which one is called, too.
const ASKED: &[&str] = &["query", "operationname", "extensions", "doc_id", "id", "hash"];

/// Whether a POST calls GraphQL: by its address, or by what stands in it where it goes to no other place or is answered.
pub fn is_graphql(url: &Url, segments: &[Segment], body: &Body<'_>, is_answered: bool) -> bool {
    let is = |it: &Segment| it.is(&["graphql", "gql", "graph"]);
    let by_path = match segments {
        [.., before, last] if last.is(&["query"]) => is(before),
        [.., last] => is(last),
        [] => false,
    };
    let by_host = || {
        let mut labels = url.host_str().unwrap_or_default().split('.');
        labels.any(|it| matches!(it, "gql" | "graphql"))
    };
    by_path
        || (is_answered || segments.is_empty() || by_host())
            && !body.json.is_empty()
            && json_calls(body).all(|it| {
                text(it).is_some_and(|it| begins_document(it) && Document::parse(it).is_some())
            })
}

/// As a document of GraphQL begins, and other query languages do not: `*[_type == "post"]{title}`.
fn begins_document(text: &str) -> bool {
    let text = text.trim_start();
    let named = ["fragment", "mutation", "query", "subscription"];
    text.starts_with(['{', '#']) || named.iter().any(|it| text.starts_with(it))
}

fn json_calls<'a>(body: &'a Body<'_>) -> impl Iterator<Item = &'a Value> {
    body.json.iter().flat_map(|it| match &**it {
        Value::Array(all) => all.iter().collect(),
        one => vec![one],
    })
}

/// A call in a form, as some send it: `doc_id=…&fb_api_req_friendly_name=SearchQuery`.
fn form_call(body: &Body<'_>) -> Option<Value> {
    if !body.json.is_empty() || body.is_empty() {
        return None;
    }
    let name = ["operationName", "fb_api_req_friendly_name", "operation_name"];
    let name = name.iter().find_map(|it| body.value(it))?;
    Some(serde_json::json!({ "operationName": name, "doc_id": "" }))
}

fn text(call: &Value) -> Option<&str> {
    call.get("query").and_then(Value::as_str).filter(|it| it.contains('{'))
}

/// Why it reads, or why it may change something. `pressed`: the control before it. `is_answered`: there is an answer, so that a name
/// that asks is enough where the text is not there.
pub fn judge(
    url: &Url,
    segments: &[Segment],
    body: &Body<'_>,
    (pressed, task): (&NameMeaning, &NameMeaning),
    is_answered: bool,
) -> Result<&'static str, String> {
    const UNKNOWN: &str = "shows no evidence that it only reads";
    const HIDDEN: &str = "calls an operation whose text is not there";
    // A page asks for itself again when something was done; before there is an answer nobody knows which of them it was.
    if let (NameMeaning::Changes(word), false) = (pressed, is_answered) {
        return Err(format!("was caused by pressing something about `{word}`"));
    }
    if let Some(word) = earlier_verb(segments) {
        return Err(format!("is about `{word}`"));
    }
    let form = form_call(body);
    let mut calls = form.iter().chain(json_calls(body)).peekable();
    if calls.peek().is_none() {
        return Err(if body.is_empty() { HIDDEN } else { UNKNOWN }.to_owned());
    }
    let parameters: Vec<String> = url
        .query_pairs()
        .map(|it| it.0.to_ascii_lowercase())
        .filter(|it| ASKED.contains(&it.as_str()))
        .collect();
    for call in calls {
        let name = call.get("operationName").and_then(Value::as_str).unwrap_or_default();
        let Some(text) = text(call) else {
            if let NameMeaning::Changes(word) = operation_meaning(name) {
                return Err(format!("calls an operation about `{word}`"));
            }
            // Relay requires that names end in what they are, and some say it beside them.
            let is_told = name.ends_with("Query") && name.len() > 5
                || call.get("operationKind").and_then(Value::as_str) == Some("query");
            let asks = (operation_meaning(name) == NameMeaning::Reads
                && (is_answered || *pressed == NameMeaning::Reads)
                || is_told)
                && !matches!(pressed, NameMeaning::Changes(_));
            if asks {
                continue;
            }
            return Err(HIDDEN.to_owned());
        };
        let known =
            call.as_object().is_some_and(|it| it.keys().all(|it| KEYS.contains(&it.as_str())));
        if !known || !parameters.is_empty() {
            return Err(HIDDEN.to_owned());
        }
        let document = Document::parse(text).ok_or_else(|| UNKNOWN.to_owned())?;
        let chosen = document.select_operations(Some(name).filter(|it| !it.is_empty()));
        if let Some(it) = chosen.iter().find(|it| it.kind != "query") {
            return Err(format!("is a GraphQL {}", it.kind));
        }
        // By its protocol a query changes nothing; where what was done says otherwise, its fields are asked.
        for field in chosen.iter().flat_map(|it| &it.fields) {
            for said in [pressed, task] {
                if let NameMeaning::Changes(word) = said
                    && (matches!(operation_meaning(field), NameMeaning::Changes(_))
                        || field.to_lowercase().contains(word.as_str()))
                {
                    return Err(format!("calls `{field}`, and what was done is about `{word}`"));
                }
            }
        }
    }
    Ok("is a GraphQL query")
}

/// A verb before the last segment: `/account/delete/graphql`.
fn earlier_verb(segments: &[Segment]) -> Option<String> {
    let (last, before) = segments.split_last()?;
    let is_named = last.is(&["graphql", "gql", "graph", "query"]);
    match super::address::path_meaning(if is_named { before } else { segments }, true) {
        NameMeaning::Changes(word) => Some(word),
        _ => None,
    }
}

/// What a document holds, as far as it matters.
#[derive(Debug, Default)]
struct Document {
    operations: Vec<OperationDefinition>,
}

/// An operation of a document.
#[derive(Debug, Default)]
struct OperationDefinition {
    /// `query`, `mutation` or `subscription`.
    kind: String,
    name: String,
    /// Names of the fields at its root.
    fields: Vec<String>,
}

impl Document {
    /// The operation of that name, where there is one alone; else all.
    fn select_operations(&self, name: Option<&str>) -> Vec<&OperationDefinition> {
        let named: Vec<&OperationDefinition> =
            self.operations.iter().filter(|it| Some(it.name.as_str()) == name).collect();
        if named.len() == 1 { named } else { self.operations.iter().collect() }
    }

    /// By the tokens of the language: names, strings of one and of three quotes, comments, brackets. `None`: it is no document.
    fn parse(text: &str) -> Option<Self> {
        let mut out = Self::default();
        let mut open = Vec::new();
        // The definition that is being read; `None` between two.
        let mut now: Option<OperationDefinition> = None;
        let (mut word, mut previous) = (String::new(), ' ');
        let mut chars = text.chars().peekable();
        loop {
            let next = chars.next();
            if let Some(c) = next.filter(|it| it.is_alphanumeric() || *it == '_') {
                word.push(c);
                continue;
            }
            if !word.is_empty() {
                let name = std::mem::take(&mut word);
                if open.is_empty() {
                    match &mut now {
                        None if matches!(
                            &*name,
                            "query" | "mutation" | "subscription" | "fragment"
                        ) =>
                        {
                            now = Some(OperationDefinition {
                                kind: name,
                                ..OperationDefinition::default()
                            });
                        }
                        None => return None,
                        Some(it) if it.name.is_empty() && previous != '@' => it.name = name,
                        Some(_) => {}
                    }
                } else if open == ['{'] && !matches!(previous, '@' | '.' | '$') {
                    // An alias is followed by a colon; what it stands for counts.
                    let mut rest = chars.clone();
                    let follows = next
                        .filter(|it| !it.is_whitespace())
                        .or_else(|| rest.find(|it| !it.is_whitespace()));
                    if let Some(it) = now.as_mut().filter(|_| follows != Some(':')) {
                        it.fields.push(name);
                    }
                }
                previous = 'a';
            }
            let Some(c) = next else { break };
            match c {
                '{' | '(' | '[' => {
                    if c == '{' && now.is_none() {
                        now = Some(OperationDefinition {
                            kind: "query".to_owned(),
                            ..OperationDefinition::default()
                        });
                    }
                    open.push(c);
                }
                '}' | ')' | ']' => {
                    if !matches!((open.pop()?, c), ('{', '}') | ('(', ')') | ('[', ']')) {
                        return None;
                    }
                    if open.is_empty() && c == '}' {
                        out.operations.extend(now.take().filter(|it| it.kind != "fragment"));
                    }
                }
                '#' => _ = chars.by_ref().find(|it| matches!(it, '\n' | '\r')),
                '"' => skip_string(&mut chars)?,
                _ => {}
            }
            if !c.is_whitespace() && c != ',' {
                previous = c;
            }
        }
        (open.is_empty() && now.is_none() && !out.operations.is_empty()).then_some(out)
    }
}

/// Behind the first quote of a string.
fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<()> {
    if chars.peek() != Some(&'"') {
        loop {
            match chars.next()? {
                '\\' => _ = chars.next()?,
                '"' => return Some(()),
                '\n' | '\r' => return None,
                _ => {}
            }
        }
    }
    chars.next();
    if chars.peek() != Some(&'"') {
        return Some(());
    }
    chars.next();
    let (mut quotes, mut escaped) = (0, false);
    for c in chars.by_ref() {
        quotes = if c == '"' && !escaped { quotes + 1 } else { 0 };
        // Only `\"""` is an escape in there.
        escaped = c == '\\' || escaped && c == '"';
        if quotes == 3 {
            return Some(());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_read_by_its_tokens() {
        for (text, expected) in [
            ("{ items { id } }", "query  items"),
            ("query Q($mutation: Int) { items(first: $mutation) { id } }", "query Q items"),
            ("query Q { a: items(q: \"mutation { b }\") { id } other }", "query Q items other"),
            ("# mutation { x }\nquery { a @include(if: true) }", "query  a"),
            ("fragment F on A { b } query { ...F c }", "query  c"),
            ("mutation M { buy }", "mutation M buy"),
            ("query A { a } mutation B { b }", "query A a, mutation B b"),
            ("{ a(x: \"\"\" \\\"\"\" mutation \"\"\") }", "query  a"),
            ("{ a(x: \"\"\" \" \"\"\") } mutation { b }", "query  a, mutation  b"),
            ("subscription { s }", "subscription  s"),
        ] {
            let all = Document::parse(text).unwrap().operations;
            let told: Vec<String> = all
                .iter()
                .map(|it| format!("{} {} {}", it.kind, it.name, it.fields.join(" ")))
                .collect();
            assert_eq!(told.join(", "), expected, "{text}");
        }
        let two = Document::parse("query A { a } mutation B { b }").unwrap();
        let kinds = |name: Option<&str>| {
            two.select_operations(name).iter().map(|it| it.kind.clone()).collect::<Vec<_>>()
        };
        assert_eq!(kinds(Some("A")), ["query"]);
        assert_eq!(kinds(Some("B")), ["mutation"]);
        assert_eq!(kinds(None), ["query", "mutation"]);
        for text in [
            "",
            "items",
            "{ a",
            "{ a ]",
            "{ a(x: \"b\n\") }",
            "{ a } }",
            "{ a(x: \"\"\" ) }",
            "type A { b }",
        ] {
            assert!(Document::parse(text).is_none(), "{text}");
        }
    }
}
