//! OpenAPI 3: one draft for each operation that reads. A GET does by its method; a POST where the document says that it was
//! proven (`x-commis-proof`).

use serde_json::{Map, Value};

use super::{
    DraftBuilder, ImportResult, MAX_FILE, ParameterValues, literal, pair, parameter_name,
    scalar_text,
};
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};
use commis_recipe::{
    auth::variable_for_host,
    check::is_credential_header,
    expression::Query,
    headers::{is_forbidden, is_token},
    model::{Auth, AuthKind, BodyTemplate, Constraints, Format, ParamType, ResponseType},
    template::escape,
    yaml::parse_strict,
};

const MAX_NODES: usize = 500_000;
const MAX_DEPTH: usize = 64;
const MAX_OPERATIONS: usize = 1_000;
/// References that lead to one another.
const MAX_HOPS: usize = 16;
const METHODS: &[&str] =
    &["get", "post", "put", "patch", "delete", "head", "options", "trace", "query"];
/// Of a body's schema.
const MAX_BODY: usize = 16;

type ReadResult<T> = std::result::Result<T, String>;

/// Drafts of a document, JSON or YAML. `server` stands in place of the servers that it names.
///
/// Fails with `USAGE` for what is no document of OpenAPI 3.
pub fn read(text: &str, server: Option<&str>) -> Result<ImportResult> {
    let wrong = |why: String| {
        Error::new(Code::Usage, why)
            .hint("OpenAPI 3.0 and 3.1 are read, as JSON or YAML without anchors")
    };
    if text.len() > MAX_FILE {
        return Err(wrong(format!("the document is larger than {MAX_FILE} bytes")));
    }
    let root: Value = if text.trim_start().starts_with('{') {
        serde_json::from_str(text)
            .map_err(|err| wrong(format!("the document does not parse, line {}", err.line())))?
    } else {
        parse_strict(text, MAX_NODES, MAX_DEPTH)
            .map_err(|why| wrong(format!("the document does not parse: {why}")))?
    };
    if !root["openapi"].as_str().is_some_and(|it| it.starts_with("3.")) {
        return Err(wrong("this is not an OpenAPI 3 document".to_owned()));
    }
    let file = File { root: &root, server };
    let mut out = ImportResult::default();
    let mut seen = 0;
    let paths = root["paths"].as_object();
    for (path, item) in paths.into_iter().flatten() {
        let item = match file.resolve_reference(item) {
            Ok(it) => it,
            Err(why) => {
                out.refuse(path, why);
                continue;
            }
        };
        for (method, operation) in item.as_object().into_iter().flatten() {
            if !METHODS.contains(&method.as_str()) {
                continue;
            }
            seen += 1;
            if seen > MAX_OPERATIONS {
                out.refuse(path, format!("more than {MAX_OPERATIONS} operations are not read"));
                return Ok(out);
            }
            let shown = format!("{} {path}", method.to_ascii_uppercase());
            out.add_draft(file.operation(path, method, item, operation), &shown);
        }
    }
    Ok(out)
}

struct File<'a> {
    root: &'a Value,
    server: Option<&'a str>,
}

impl<'a> File<'a> {
    /// What a reference within the file leads to.
    fn resolve_reference(&self, value: &'a Value) -> ReadResult<&'a Value> {
        let mut value = value;
        for _ in 0..MAX_HOPS {
            let Some(to) = value.get("$ref") else { return Ok(value) };
            let to = to.as_str().unwrap_or_default();
            let pointer = to
                .strip_prefix('#')
                .ok_or("a $ref leads out of the file, which is not followed")?;
            let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
            value = self.root.pointer(&pointer).ok_or("a $ref leads nowhere")?;
        }
        Err("its $refs lead in a circle".to_owned())
    }

    fn operation(
        &self,
        path: &str,
        method: &str,
        item: &'a Value,
        operation: &'a Value,
    ) -> ReadResult<DraftBuilder> {
        let is_said_to_read = operation["x-commis-proof"].is_object();
        match method {
            "get" => {}
            "post" if is_said_to_read => {}
            _ => return Err("it is not a GET, and nothing shows that it only reads".to_owned()),
        }
        let server = self.server_of(item, operation)?;
        let name = operation["x-commis-recipe"].as_str().and_then(|it| RecipeName::new(it).ok());
        let name = name.unwrap_or_else(|| match operation["operationId"].as_str() {
            Some(it) => RecipeName::slug(&split_camel_case(it)),
            None => RecipeName::slug(&format!("{method} {path}")),
        });
        let mut made = DraftBuilder::new(name, &method.to_ascii_uppercase(), String::new());
        let told = ["x-commis-task", "summary", "description"];
        let told = told.iter().find_map(|it| operation[*it].as_str()).unwrap_or_default();
        told.lines().next().unwrap_or_default().clone_into(&mut made.task);
        let page = operation["externalDocs"]["url"].as_str();
        made.source_url = page.filter(|it| it.starts_with("http")).map(str::to_owned);
        let mut in_path: Vec<(String, String)> = Vec::new();
        let auth = self.auth(operation, &server)?;
        let carries = |name: &str| {
            auth.as_ref().is_some_and(|it| {
                it.header.as_deref() == Some(name) || it.query.as_deref() == Some(name)
            })
        };
        for it in self.parameters(item, operation)? {
            let (name, place) =
                (it["name"].as_str().unwrap_or_default(), it["in"].as_str().unwrap_or_default());
            if carries(name) || carries(&name.to_ascii_lowercase()) {
                continue;
            }
            match place {
                "path" => {
                    let value = self.value(&mut made, it, true)?;
                    in_path.push((
                        name.to_owned(),
                        value.ok_or_else(|| format!("`{name}` has no value"))?,
                    ));
                }
                "query" => self.query(&mut made, it)?,
                "header" => self.header(&mut made, it)?,
                "cookie" if it["required"] == true => {
                    return Err(
                        "it needs a cookie; learn it, or put the login into the vault".to_owned()
                    );
                }
                _ => {}
            }
        }
        made.url = format!("{server}{}", path_template(path, &in_path)?);
        if method == "post" {
            self.body(&mut made, operation)?;
        }
        self.response(&mut made, operation)?;
        made.auth = auth;
        Ok(made)
    }

    /// Scheme, host and base path.
    fn server_of(&self, item: &'a Value, operation: &'a Value) -> ReadResult<String> {
        let first = |it: &'a Value| it["servers"].as_array().and_then(|all| all.first());
        let found = first(operation).or_else(|| first(item)).or_else(|| first(self.root));
        let mut url = match (self.server, found) {
            (Some(given), _) => given.to_owned(),
            (None, Some(it)) => it["url"].as_str().unwrap_or_default().to_owned(),
            (None, None) => String::new(),
        };
        if self.server.is_none()
            && let Some(variables) = found.and_then(|it| it["variables"].as_object())
        {
            for (name, it) in variables {
                url =
                    url.replace(&format!("{{{name}}}"), it["default"].as_str().unwrap_or_default());
            }
        }
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err("the document names no server in full; name one with --server".to_owned());
        }
        if url.contains(['{', '}', '?', '#']) {
            return Err("its server is not written out; name one with --server".to_owned());
        }
        Ok(url.trim_end_matches('/').to_owned())
    }

    /// Of the operation, before those of its path.
    fn parameters(&self, item: &'a Value, operation: &'a Value) -> ReadResult<Vec<&'a Value>> {
        let mut out: Vec<&Value> = Vec::new();
        for list in [operation, item] {
            for it in list["parameters"].as_array().into_iter().flatten() {
                let it = self.resolve_reference(it)?;
                if !out.iter().any(|seen| seen["name"] == it["name"] && seen["in"] == it["in"]) {
                    out.push(it);
                }
            }
        }
        Ok(out)
    }

    /// A template for what is declared; `None` for what may be left out and has no value.
    fn value(
        &self,
        made: &mut DraftBuilder,
        declared: &'a Value,
        always: bool,
    ) -> ReadResult<Option<String>> {
        let name = declared["name"].as_str().unwrap_or_default();
        let required = always || declared["required"] == true;
        let schema = self.resolve_reference(&declared["schema"])?;
        let mut examples: Vec<&Value> = Vec::new();
        for it in declared["examples"].as_object().into_iter().flat_map(Map::values) {
            examples.push(&self.resolve_reference(it)?["value"]);
        }
        examples.extend(declared.get("example"));
        Self::schema_value(made, name, schema, required, &examples)
    }

    fn schema_value(
        made: &mut DraftBuilder,
        name: &str,
        schema: &'a Value,
        required: bool,
        more: &[&'a Value],
    ) -> ReadResult<Option<String>> {
        if let Some(it) = schema.get("const") {
            return Ok(if required { literal(it) } else { None });
        }
        let kind = match param_type(schema) {
            Some(it) => it,
            None if required => {
                return Err(format!(
                    "`{}` is a list or an object",
                    super::super::escaping::comment(name)
                ));
            }
            None => return Ok(None),
        };
        let choices: Vec<String> =
            schema["enum"].as_array().into_iter().flatten().filter_map(scalar_text).collect();
        if let ([only], true) = (&choices[..], required) {
            return Ok(Some(escape(only)));
        }
        let mut examples: Vec<String> = more.iter().copied().filter_map(scalar_text).collect();
        examples
            .extend(schema["examples"].as_array().into_iter().flatten().filter_map(scalar_text));
        examples.extend(schema.get("example").and_then(scalar_text));
        let default = schema.get("default").and_then(scalar_text);
        examples.extend(default.clone());
        examples.extend(choices.iter().take(2).cloned());
        if !required && examples.is_empty() {
            made.notes.push(format!(
                "`{}` is left out: it is optional and has no example",
                super::super::escaping::comment(name)
            ));
            return Ok(None);
        }
        let whole = |key: &str| schema[key].as_i64();
        let limits = Constraints {
            max_len: (kind == ParamType::Str)
                .then(|| schema["maxLength"].as_u64())
                .flatten()
                .and_then(|it| u32::try_from(it).ok()),
            min: whole("minimum"),
            max: whole("maximum"),
            one_of: choices,
            format: (kind == ParamType::Str && schema["format"] == "date").then_some(Format::Date),
            map: std::collections::BTreeMap::new(),
        };
        Ok(Some(made.parameter(
            name,
            kind,
            limits,
            ParameterValues { required, default, examples },
        )))
    }

    fn query(&self, made: &mut DraftBuilder, declared: &'a Value) -> ReadResult<()> {
        let name = declared["name"].as_str().unwrap_or_default();
        let schema = self.resolve_reference(&declared["schema"])?;
        let before = made.query.len();
        // One name several times, as our own exports say it.
        for it in schema["prefixItems"].as_array().into_iter().flatten() {
            let it = self.resolve_reference(it)?;
            if let Some(value) = Self::schema_value(made, name, it, true, &[])? {
                made.query.push(pair(name, value));
            }
        }
        if made.query.len() == before
            && let Some(value) = self.value(made, declared, false)?
        {
            made.query.push(pair(name, value));
        }
        if declared["allowReserved"] == true {
            for it in &mut made.query[before..] {
                ":/,;".clone_into(&mut it.raw);
            }
        }
        Ok(())
    }

    fn header(&self, made: &mut DraftBuilder, declared: &'a Value) -> ReadResult<()> {
        let name = declared["name"].as_str().unwrap_or_default().to_ascii_lowercase();
        // OpenAPI says these elsewhere.
        if matches!(name.as_str(), "accept" | "content-type" | "authorization")
            || (is_forbidden(&name) && declared["required"] != true)
        {
            return Ok(());
        }
        if is_credential_header(&name) {
            return Err(format!(
                "its header `{}` carries a key: declare it as a security scheme, which becomes `auth` and names a variable",
                super::super::escaping::comment(&name)
            ));
        }
        if is_token(&name)
            && let Some(value) = self.value(made, declared, false)?
        {
            made.headers.insert(name, value);
        }
        Ok(())
    }

    fn auth(&self, operation: &'a Value, server: &str) -> ReadResult<Option<Auth>> {
        let security = operation.get("security").or_else(|| self.root.get("security"));
        let all = security.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // Nothing, or one that asks for nothing.
        if all.is_empty() || all.iter().any(|it| it.as_object().is_some_and(Map::is_empty)) {
            return Ok(None);
        }
        let mut why = String::new();
        for it in all {
            let mut names = it.as_object().into_iter().flat_map(Map::keys);
            let (Some(name), None) = (names.next(), names.next()) else {
                "it wants two keys at once".clone_into(&mut why);
                continue;
            };
            let scheme =
                self.resolve_reference(&self.root["components"]["securitySchemes"][name])?;
            let named = scheme["name"].as_str().unwrap_or_default();
            let (kind, header, query) =
                match (scheme["type"].as_str(), scheme["scheme"].as_str(), scheme["in"].as_str()) {
                    (Some("http"), Some(it), _) if it.eq_ignore_ascii_case("bearer") => {
                        (AuthKind::Bearer, None, None)
                    }
                    (Some("http"), Some(it), _) if it.eq_ignore_ascii_case("basic") => {
                        (AuthKind::Basic, None, None)
                    }
                    (Some("apiKey"), _, Some("header")) => {
                        (AuthKind::ApiKey, Some(named.to_ascii_lowercase()), None)
                    }
                    (Some("apiKey"), _, Some("query")) => {
                        (AuthKind::ApiKey, None, Some(named.to_owned()))
                    }
                    _ => {
                        "it needs a login that a key cannot replace".clone_into(&mut why);
                        continue;
                    }
                };
            let host = url::Url::parse(server).ok().and_then(|it| it.host_str().map(str::to_owned));
            let own = scheme["x-commis-env"].as_str().map(str::to_owned);
            let env = own.or_else(|| variable_for_host(&host.unwrap_or_default()));
            let env = env.ok_or("no variable is bound to its host; write `auth` by hand")?;
            return Ok(Some(Auth { kind, header, query, env }));
        }
        Err(why)
    }

    fn body(&self, made: &mut DraftBuilder, operation: &'a Value) -> ReadResult<()> {
        let Some(body) = operation.get("requestBody") else { return Ok(()) };
        let body = self.resolve_reference(body)?;
        let Some((kind, content)) = body["content"].as_object().and_then(|it| it.iter().next())
        else {
            return Ok(());
        };
        let schema = self.resolve_reference(&content["schema"])?;
        let (mime, is_plain) =
            (kind.split(';').next().unwrap_or_default().trim(), kind.starts_with("text/plain"));
        made.body = Some(if mime.ends_with("json") {
            BodyTemplate::Json(
                self.json_body(made, "body", schema, true, 0)?.unwrap_or(Value::Null),
            )
        } else if mime == "application/x-www-form-urlencoded" {
            let mut all = Vec::new();
            for (name, it) in schema["properties"].as_object().into_iter().flatten() {
                let it = self.resolve_reference(it)?;
                if let Some(value) =
                    Self::schema_value(made, name, it, is_required(schema, name), &[])?
                {
                    all.push(pair(name, value));
                }
            }
            BodyTemplate::Form(all)
        } else if is_plain {
            BodyTemplate::Text(
                Self::schema_value(made, "body", schema, true, &[])?.unwrap_or_default(),
            )
        } else {
            return Err(format!("its body is {}", super::super::escaping::comment(kind)));
        });
        Ok(())
    }

    fn json_body(
        &self,
        made: &mut DraftBuilder,
        name: &str,
        schema: &'a Value,
        required: bool,
        depth: usize,
    ) -> ReadResult<Option<Value>> {
        if depth > MAX_BODY {
            return Err("its body is too deep".to_owned());
        }
        let schema = self.resolve_reference(schema)?;
        if let Some(it) = schema.get("const") {
            return Ok(Some(as_template(it)));
        }
        if schema["type"] == "null" {
            return Ok(Some(Value::Null));
        }
        if let Some(all) = schema["properties"].as_object() {
            let mut out = Map::new();
            for (key, it) in all {
                if let Some(value) =
                    self.json_body(made, key, it, is_required(schema, key), depth + 1)?
                {
                    out.insert(key.clone(), value);
                }
            }
            return Ok(Some(out.into()));
        }
        if schema["type"] == "array" {
            let mut out = Vec::new();
            for it in schema["prefixItems"].as_array().into_iter().flatten() {
                out.extend(self.json_body(made, name, it, true, depth + 1)?);
            }
            return Ok((required || !out.is_empty()).then(|| out.into()));
        }
        Ok(Self::schema_value(made, name, schema, required, &[])?.map(Value::from))
    }

    fn response(&self, made: &mut DraftBuilder, operation: &'a Value) -> ReadResult<()> {
        let all = operation["responses"].as_object();
        let good = all.into_iter().flatten().find(|it| it.0.starts_with('2') || it.0 == "default");
        let Some((_, response)) = good else { return Ok(()) };
        let response = self.resolve_reference(response)?;
        if let Some(it) = operation["x-commis-extract"].as_str()
            && Query::compile(it).is_ok()
        {
            made.response.extract = Some(it.to_owned());
        }
        if let Ok(it) = serde_json::from_value(operation["x-commis-framing"].clone()) {
            made.response.framing = Some(it);
            return Ok(());
        }
        let kinds: Vec<&str> = response["content"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .map(String::as_str)
            .collect();
        let is = |wanted: &str| {
            kinds.iter().any(|it| it.split(';').next().is_some_and(|it| it.ends_with(wanted)))
        };
        if kinds.is_empty() || is("json") || is("*/*") {
            return Ok(());
        }
        if is("html") {
            let read = &response["x-commis-html"];
            made.response.kind = ResponseType::Html;
            made.response.html = serde_json::from_value(read["html"].clone()).ok();
            made.response.embedded = read["embedded"].as_str().map(str::to_owned);
            made.response.variable = read["variable"].as_str().map(str::to_owned);
            return if made.response.html.is_some() || made.response.embedded.is_some() {
                Ok(())
            } else {
                Err("its answer is a page, and nothing says which part to extract".to_owned())
            };
        }
        if is("text/plain") {
            made.response.kind = ResponseType::Text;
            return Ok(());
        }
        Err(format!(
            "its answer is {}",
            super::super::escaping::comment(kinds.first().copied().unwrap_or_default())
        ))
    }
}

/// Strings of JSON as templates.
fn as_template(value: &Value) -> Value {
    match value {
        Value::String(it) => escape(it).into(),
        Value::Array(all) => all.iter().map(as_template).collect(),
        Value::Object(all) => {
            Value::Object(all.iter().map(|(key, it)| (key.clone(), as_template(it))).collect())
        }
        it => it.clone(),
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|all| all.iter().any(|it| it == name))
}

/// The one type that is not null; text where none is said.
fn param_type(schema: &Value) -> Option<ParamType> {
    let said = match &schema["type"] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).find(|it| *it != "null"),
        it => it.as_str(),
    };
    match said.unwrap_or("string") {
        "string" => Some(ParamType::Str),
        "integer" => Some(ParamType::Int),
        "number" => Some(ParamType::Float),
        "boolean" => Some(ParamType::Bool),
        _ => None,
    }
}

/// The path as a template: names in braces become templates, other braces text.
fn path_template(path: &str, values: &[(String, String)]) -> ReadResult<String> {
    let mut out = String::new();
    let mut rest = path;
    if !path.starts_with('/') {
        out.push('/');
    }
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(&escape(before));
        let (name, after) =
            after.split_once('}').ok_or("its path has a brace without a partner")?;
        let value = values.iter().find(|it| it.0 == name);
        let value = value.ok_or_else(|| {
            format!("it does not describe `{}` of its path", parameter_name(name))
        })?;
        out.push_str(&value.1);
        rest = after;
    }
    Ok(out + &escape(rest))
}

/// `find pets by status` of `findPetsByStatus`.
fn split_camel_case(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for it in text.chars() {
        if it.is_uppercase() && before.is_lowercase() {
            out.push(' ');
        }
        out.push(it);
        before = it;
    }
    out
}
