//! Operations as an OpenAPI 3.1 document.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde_json::{Map, Value, json};

use super::{
    Group, Options, Report,
    call::{Answer, Auth, Call, SentBody, is_key_name},
    operation::Family,
    paths::Piece,
    schema_inference::InferredSchema,
    segments,
    string_formats::Values,
    string_formats::is_redacted,
};
use commis_recipe::trackers::is_cache_buster;
use commis_recipe::{model::Framing, shape};

/// Of a body that is shown as an example.
const MAX_EXAMPLE: usize = 2 * 1024;
/// Ways to sign in that one operation tells.
const MAX_WAYS: usize = 4;

/// Writes the document; `report` is told how many paths and operations it has.
pub fn write(groups: &[Group], report: &mut Report, options: &Options) -> Value {
    let main = groups.first().map_or("", |it| it.origin.as_str());
    let mut out = DocumentWriter { schemes: BTreeMap::new(), names: BTreeSet::new() };
    // Path and origin: what has one item.
    let mut paths: Map<String, Value> = Map::new();
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    for group in groups {
        let (path, parameters) = template(group);
        let mut key = with_fragment(&path, &group.fragment);
        if owners.get(&key).is_some_and(|it| *it != group.origin) {
            let server = group.origin.split("://").nth(1).unwrap_or(&group.origin);
            key = with_fragment(&key, &format!("server={server}"));
        }
        // The same host by http and https.
        if owners.get(&key).is_some_and(|it| *it != group.origin) {
            key = with_fragment(&key, "scheme=http");
        }
        owners.insert(key.clone(), &group.origin);
        let operation = out.operation(group, &path, parameters, options);
        let item = paths.entry(key).or_insert_with(|| json!({}));
        if group.origin != main && item.get("servers").is_none() {
            item["servers"] = json!([{"url": group.origin}]);
        }
        item[group.method.to_ascii_lowercase()] = operation;
        *report.origins.entry(group.origin.clone()).or_default() += 1;
    }
    report.paths = paths.len();
    report.operations = groups.len();
    let host = main.split("://").nth(1).unwrap_or(main);
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": format!("{host} as recorded"),
            "version": "0.0.0",
            "description": "Made from recorded traffic: it tells what was seen, and no more. Secrets were removed.",
        },
        "servers": [{"url": main}],
        "paths": paths,
    });
    if !out.schemes.is_empty() {
        document["components"] = json!({"securitySchemes": out.schemes});
    }
    document
}

fn with_fragment(path: &str, fragment: &str) -> String {
    match (fragment.is_empty(), path.contains('#')) {
        (true, _) => path.to_owned(),
        (false, false) => format!("{path}#{fragment}"),
        (false, true) => format!("{path}&{fragment}"),
    }
}

/// The path with names in braces, and each name with what stood there.
fn template(group: &Group) -> (String, Vec<(String, Values)>) {
    let mut path = String::new();
    let mut used: Vec<String> = Vec::new();
    let mut parameters = Vec::new();
    let mut before: Option<&str> = None;
    for (i, piece) in group.path.iter().enumerate() {
        path.push('/');
        match piece {
            Piece::Literal(it) => {
                path.push_str(it);
                before = Some(it);
            }
            Piece::Parameter { class, start, ending } => {
                let mut values = Values::default();
                let stems: Vec<&str> = group
                    .calls
                    .iter()
                    .filter_map(|it| {
                        let own = it.segments.get(i)?.strip_prefix(start.as_str())?;
                        own.strip_suffix(ending.as_str())
                    })
                    .collect();
                for it in &stems {
                    values.observe(&segments::decode(it));
                }
                let set = start.strip_suffix('(').or(before);
                let name = segments::parameter_name(set, *class, &stems, &used);
                let _ = write!(path, "{start}{{{name}}}{ending}");
                used.push(name.clone());
                parameters.push((name, values));
                before = None;
            }
        }
    }
    (path, parameters)
}

struct DocumentWriter {
    schemes: BTreeMap<String, Value>,
    /// Ids of operations.
    names: BTreeSet<String>,
}

impl DocumentWriter {
    fn operation(
        &mut self,
        group: &Group,
        path: &str,
        in_path: Vec<(String, Values)>,
        options: &Options,
    ) -> Value {
        let mut out = Map::new();
        let mut parameters: Vec<Value> = in_path
            .into_iter()
            .map(|(name, values)| parameter("path", &name, true, values.schema(), values.example()))
            .collect();
        parameters.extend(query(&group.calls));
        parameters.extend(headers(&group.calls));
        out.insert("operationId".to_owned(), self.operation_id(group, path).into());
        if let Some(it) = group.calls[0].operation.as_ref() {
            let key = match it.family {
                Family::GraphQl => "x-graphql",
                Family::JsonRpc => "x-json-rpc",
            };
            out.insert("summary".to_owned(), format!("{} {}", it.kind, it.name).into());
            out.insert(key.to_owned(), it.to_json());
        }
        if group.calls.iter().any(|it| it.is_batch) {
            out.insert("x-batch".to_owned(), true.into());
        }
        if !parameters.is_empty() {
            out.insert("parameters".to_owned(), parameters.into());
        }
        if let Some(it) = request_body(group, options) {
            out.insert("requestBody".to_owned(), it);
        }
        out.insert("responses".to_owned(), responses(&group.calls, options));
        if let Some(it) = self.security(&group.calls) {
            out.insert("security".to_owned(), it);
        }
        out.insert("x-calls".to_owned(), group.calls.len().into());
        out.into()
    }

    /// `getUsersByUserId`, and a number behind it where another has that name.
    fn operation_id(&mut self, group: &Group, path: &str) -> String {
        let mut out = group.method.to_ascii_lowercase();
        let words = path.split([
            '/', '.', '-', '_', ':', '%', '~', '@', '+', '$', ',', '=', '\'', '(', ')', '*', '!',
            ';', ' ',
        ]);
        for word in words.flat_map(|it| match it.strip_prefix('{') {
            Some(it) => vec!["by", it],
            None => vec![it],
        }) {
            push_word(&mut out, word);
        }
        if !group.fragment.is_empty() {
            let value = group.fragment.split('=').nth(1).unwrap_or_default();
            value
                .split(|c: char| !c.is_ascii_alphanumeric())
                .for_each(|it| push_word(&mut out, it));
        }
        out.truncate(120);
        let free = (1..).map(|i| if i == 1 { out.clone() } else { format!("{out}{i}") });
        let name = free.into_iter().find(|it| !self.names.contains(it)).unwrap_or_default();
        self.names.insert(name.clone());
        name
    }

    /// Each way in which calls said who they are from; `{}` where some did not.
    fn security(&mut self, calls: &[Call]) -> Option<Value> {
        let ways: BTreeSet<&BTreeSet<Auth>> = calls.iter().map(|it| &it.auth).collect();
        if ways.iter().all(|it| it.is_empty()) {
            return None;
        }
        let mut out = Vec::new();
        for way in ways.into_iter().take(MAX_WAYS) {
            let mut all = Map::new();
            for auth in way {
                let (name, scheme) = scheme(auth);
                self.schemes.insert(name.clone(), scheme);
                all.insert(name, json!([]));
            }
            out.push(Value::Object(all));
        }
        Some(out.into())
    }
}

fn push_word(out: &mut String, word: &str) {
    let word: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    let mut letters = word.chars();
    if let Some(first) = letters.next() {
        out.push(first.to_ascii_uppercase());
        out.push_str(letters.as_str());
    }
}

fn scheme(auth: &Auth) -> (String, Value) {
    let spelled = |name: &str| -> String {
        name.chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect()
    };
    let key = |place: &str, name: &str| {
        (format!("{place}_{}", spelled(name)), json!({"type": "apiKey", "in": place, "name": name}))
    };
    match auth {
        Auth::Http(it) => (it.clone(), json!({"type": "http", "scheme": it})),
        Auth::Header(it) => key("header", it),
        Auth::Query(it) => key("query", it),
        Auth::Cookie(it) => key("cookie", it),
    }
}

fn parameter(
    place: &str,
    name: &str,
    required: bool,
    schema: Map<String, Value>,
    example: Option<Value>,
) -> Value {
    let mut out = Map::new();
    out.insert("name".to_owned(), name.into());
    out.insert("in".to_owned(), place.into());
    if required {
        out.insert("required".to_owned(), true.into());
    }
    out.insert("schema".to_owned(), schema.into());
    if let Some(it) = example {
        out.insert("example".to_owned(), it);
    }
    out.into()
}

/// What is known of one name in query strings or forms.
#[derive(Default)]
struct NamedValues {
    /// In how many calls it was.
    calls: usize,
    values: Values,
    /// One call had it more than once.
    many: bool,
    json: JsonEvidence,
    is_file: bool,
    cache_buster: bool,
}

/// Whether values are JSON.
#[derive(Default)]
enum JsonEvidence {
    #[default]
    Unknown,
    All(Box<InferredSchema>),
    No,
}

impl JsonEvidence {
    fn observe(&mut self, text: &str) {
        let start = text.trim_start();
        match (start.starts_with(['{', '[']).then(|| serde_json::from_str(start)), &mut *self) {
            (Some(Ok(it)), Self::All(seen)) => seen.observe(&it),
            (Some(Ok(it)), Self::Unknown) => {
                let mut seen = Box::<InferredSchema>::default();
                seen.observe(&it);
                *self = Self::All(seen);
            }
            _ if text.is_empty() || is_redacted(text) => {}
            _ => *self = Self::No,
        }
    }
}

impl NamedValues {
    fn observe(&mut self, name: &str, value: &str) {
        // Whom a client's id lets in nobody knows: it is told without its value.
        let is_id =
            is_key_name(name) && value.len() >= 16 && value.bytes().any(|b| b.is_ascii_digit());
        self.values.observe(if is_id { "[REDACTED:value]" } else { value });
        self.cache_buster |= is_cache_buster(name, value);
        self.json.observe(value);
    }

    fn schema(&self) -> Map<String, Value> {
        let one = if self.is_file { file() } else { self.values.schema() };
        if !self.many {
            return one;
        }
        let mut out = Map::new();
        out.insert("type".to_owned(), "array".into());
        out.insert("items".to_owned(), one.into());
        out
    }
}

fn file() -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("type".to_owned(), "string".into());
    out.insert("contentMediaType".to_owned(), "application/octet-stream".into());
    out
}

/// Names of several lists of pairs, in the order in which they were first seen.
fn collect_named<'a>(
    lists: impl Iterator<Item = Vec<(&'a str, &'a str, bool)>>,
) -> Vec<(&'a str, NamedValues)> {
    let mut out: Vec<(&str, NamedValues)> = Vec::new();
    for list in lists {
        let mut here: BTreeSet<&str> = BTreeSet::new();
        for (name, value, is_file) in list {
            let at = out.iter().position(|it| it.0 == name).unwrap_or(out.len());
            if at == out.len() {
                out.push((name, NamedValues::default()));
            }
            let it = &mut out[at].1;
            if here.insert(name) {
                it.calls += 1;
            } else {
                it.many = true;
            }
            it.is_file |= is_file;
            it.observe(name, value);
        }
    }
    out
}

fn query(calls: &[Call]) -> Vec<Value> {
    let all = collect_named(
        calls
            .iter()
            .map(|it| it.query.iter().map(|(a, b)| (a.as_str(), b.as_str(), false)).collect()),
    );
    let mut out = Vec::new();
    for (name, it) in all {
        // It changes with each call and means nothing.
        if it.cache_buster {
            continue;
        }
        // Of one call nobody can tell.
        let required = calls.len() > 1 && it.calls == calls.len();
        let mut told = parameter(
            "query",
            name,
            required,
            it.schema(),
            it.values.example().filter(|_| !it.many),
        );
        if !it.many
            && let JsonEvidence::All(seen) = it.json
            && let Some(told) = told.as_object_mut()
        {
            told.shift_remove("schema");
            told.shift_remove("example");
            told.insert(
                "content".to_owned(),
                json!({"application/json": {"schema": seen.into_schema()}}),
            );
        }
        out.push(told);
    }
    out
}

fn headers(calls: &[Call]) -> Vec<Value> {
    let all = collect_named(
        calls
            .iter()
            .map(|it| it.headers.iter().map(|(a, b)| (a.as_str(), b.as_str(), false)).collect()),
    );
    let told = all.into_iter().map(|(name, it)| {
        let required = calls.len() > 1 && it.calls == calls.len();
        parameter("header", name, required, it.values.schema(), it.values.example())
    });
    told.collect()
}

fn request_body(group: &Group, options: &Options) -> Option<Value> {
    let mut json_bodies: BTreeMap<&str, (InferredSchema, Option<&Value>)> = BTreeMap::new();
    let (mut forms, mut multiparts) = (Vec::new(), Vec::new());
    let mut content: BTreeMap<String, Value> = BTreeMap::new();
    for call in &group.calls {
        match &call.sent {
            Some(SentBody::Json(mime, value)) => {
                let it = json_bodies.entry(mime).or_default();
                it.0.observe(value);
                it.1.get_or_insert(value);
            }
            Some(SentBody::Form(fields)) => {
                forms.push(fields.iter().map(|(a, b)| (a.as_str(), b.as_str(), false)).collect());
            }
            Some(SentBody::Multipart(fields)) => {
                multiparts
                    .push(fields.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), *c)).collect());
            }
            Some(SentBody::Other(mime)) => _ = content.insert(mime.clone(), json!({})),
            None => {}
        }
    }
    for (mime, (seen, first)) in json_bodies {
        let mut told = json!({"schema": seen.into_schema()});
        if options.examples
            && let Some(it) = first
        {
            told["example"] = shape::truncate(it, MAX_EXAMPLE).0;
        }
        content.insert(mime.to_owned(), told);
    }
    for (mime, lists) in
        [("application/x-www-form-urlencoded", forms), ("multipart/form-data", multiparts)]
    {
        if !lists.is_empty() {
            content.insert(mime.to_owned(), json!({"schema": fields(lists)}));
        }
    }
    if content.is_empty() {
        return None;
    }
    let sent = group.calls.iter().filter(|it| it.sent.is_some()).count();
    let mut out = json!({"content": content});
    if sent == group.calls.len() {
        out["required"] = true.into();
    }
    Some(out)
}

fn fields(lists: Vec<Vec<(&str, &str, bool)>>) -> Value {
    let calls = lists.len();
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, it) in collect_named(lists.into_iter()) {
        let mut schema = it.schema();
        if let Some(example) = it.values.example().filter(|_| !it.many && !it.is_file) {
            schema.insert("examples".to_owned(), json!([example]));
        }
        properties.insert(name.to_owned(), schema.into());
        if calls > 1 && it.calls == calls {
            required.push(name);
        }
    }
    let mut out = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        out["required"] = required.into();
    }
    out
}

fn responses(calls: &[Call], options: &Options) -> Value {
    type MediaTypes<'a> =
        BTreeMap<&'a str, (Option<InferredSchema>, Option<Framing>, Option<&'a Value>)>;
    let mut all: BTreeMap<u16, MediaTypes<'_>> = BTreeMap::new();
    for call in calls {
        let Some(status) = call.status else { continue };
        let here = all.entry(status).or_default();
        match &call.answer {
            Answer::Json { mime, value, framing } => {
                let it = here.entry(mime).or_default();
                it.0.get_or_insert_default().observe(value);
                it.1 = it.1.or(*framing);
                it.2.get_or_insert(value);
            }
            Answer::Media(mime) => _ = here.entry(mime).or_default(),
            Answer::None => {}
        }
    }
    let mut out = Map::new();
    for (status, media) in all {
        let reason =
            reqwest::StatusCode::from_u16(status).ok().and_then(|it| it.canonical_reason());
        let mut told = json!({"description": reason.unwrap_or("as recorded")});
        let mut content = Map::new();
        for (mime, (seen, framing, first)) in media {
            let mut media = json!({});
            match (seen, framing) {
                (Some(seen), None) => media["schema"] = seen.into_schema(),
                // What is around the JSON makes it text.
                (Some(seen), Some(framing)) => {
                    let text = json!({"type": "string", "contentMediaType": "application/json", "contentSchema": seen.into_schema()});
                    media["schema"] = match framing {
                        Framing::Text => {
                            json!({"type": "object", "additionalProperties": text, "minProperties": 1, "maxProperties": 1})
                        }
                        Framing::Xml => json!({"type": "string", "contentMediaType": mime}),
                        _ => text,
                    };
                    media["x-framing"] = json!(framing);
                }
                (None, _) => {}
            }
            if options.examples
                && framing.is_none()
                && let Some(it) = first
            {
                media["example"] = shape::truncate(it, MAX_EXAMPLE).0;
            }
            content.insert(mime.to_owned(), media);
        }
        if !content.is_empty() {
            told["content"] = content.into();
        }
        out.insert(status.to_string(), told);
    }
    if out.is_empty() {
        out.insert("default".to_owned(), json!({"description": "none was recorded"}));
    }
    out.into()
}
