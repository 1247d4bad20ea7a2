//! An operation: what it is, what it works in, and how it is done.

use super::{
    Daemon,
    answer::{Answer, ApiError, Meta},
    principal::{AccessRequirement, Area, Principal},
};
use commis_base::{
    error::{Code, Error},
    settings::Settings,
};
use commis_recipe::params::as_whole_number;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::{
    pin::Pin,
    sync::{Arc, LazyLock},
};
use tokio_util::sync::CancellationToken;

/// What an operation does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It may be repeated.
    Read,
    /// It may not.
    Write,
    /// It is about the daemon.
    Meta,
}

/// How long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionMode {
    /// It is answered at once.
    Now,
    /// After two seconds it becomes a task.
    Run,
    /// It is a task from the start.
    Task,
}

/// Who is shown it as an MCP tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolExposure {
    /// Every client, under this name.
    Always(&'static str),
    /// Those that ask for all.
    All,
    /// Those that ask for pages that stay.
    Browse,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    Get,
    Post,
    Delete,
}

impl HttpMethod {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Delete => "delete",
        }
    }
}

/// What one row says of its operation.
#[derive(Clone, Copy)]
pub struct Spec {
    pub name: &'static str,
    pub kind: Kind,
    pub need: AccessRequirement,
    /// The first is the one that is documented.
    pub routes: &'static [(HttpMethod, &'static str)],
    pub tool: ToolExposure,
    pub length: ExecutionMode,
    /// One line, then what there is to know.
    pub help: &'static str,
}

/// One that answers at once, and that agents have as a tool of the browser.
pub(crate) const fn spec(
    name: &'static str,
    routes: &'static [(HttpMethod, &'static str)],
    need: AccessRequirement,
    kind: Kind,
    help: &'static str,
) -> Spec {
    Spec { name, kind, need, routes, tool: ToolExposure::Browse, length: ExecutionMode::Now, help }
}

impl Spec {
    pub fn summary(&self) -> &'static str {
        self.help.split('\n').next().unwrap_or_default()
    }
}

/// What an operation works in.
#[derive(Clone)]
pub struct OperationContext {
    pub daemon: Arc<Daemon>,
    pub principal: Principal,
    /// The task that it is, if it is one.
    pub job: Option<Job>,
}

/// A task at work.
#[derive(Clone)]
pub struct Job {
    pub id: String,
    pub cancel: CancellationToken,
    /// It had begun before, in a daemon that ended.
    pub again: bool,
}

pub type OperationResult = Result<Answer, Box<ApiError>>;

type OperationFuture = Pin<Box<dyn Future<Output = OperationResult> + Send>>;

type OperationFn = Box<dyn Fn(OperationContext, Value) -> OperationFuture + Send + Sync>;

type CheckFn =
    Box<dyn Fn(&Value, &Settings, &Principal) -> commis_base::error::Result<()> + Send + Sync>;

type SecretCheckFn = Box<dyn Fn(&Value) -> bool + Send + Sync>;

/// An operation: what it is, and how it is done.
pub struct Operation {
    pub spec: Spec,
    /// The schema of the arguments, an object; made at its first use, as most are never asked for.
    pub input: LazyLock<Value>,
    /// The schema of `data` in the answer.
    pub output: LazyLock<Value>,
    doer: OperationFn,
    checker: CheckFn,
    secret_check: SecretCheckFn,
}

impl Operation {
    /// Does it. Arguments that do not fit its schema are `PARAM_INVALID`.
    pub fn call(&self, cx: OperationContext, args: Value) -> OperationFuture {
        (self.doer)(cx, args)
    }

    /// Whether they may do it with these arguments, as far as can be told without doing it. Fails with `PARAM_INVALID`,
    /// `FORBIDDEN` and others.
    pub fn check(
        &self,
        args: &Value,
        settings: &Settings,
        principal: &Principal,
    ) -> commis_base::error::Result<()> {
        (self.checker)(args, settings, principal)
    }

    /// Whether the arguments hold a secret that only the operation itself can tell.
    pub fn hides(&self, args: &Value) -> bool {
        (self.secret_check)(args)
    }

    /// With more to look at than whether the arguments are of their types.
    pub(crate) fn checked<A: DeserializeOwned + 'static>(
        mut self,
        check: fn(A, &Settings, &Principal) -> commis_base::error::Result<()>,
    ) -> Self {
        self.checker = Box::new(move |args, settings, principal| {
            check(parsed::<A>(args.clone())?, settings, principal)
        });
        self
    }

    /// With more to tell secrets by than their names and their looks.
    pub(crate) fn hiding<A: DeserializeOwned + 'static>(mut self, hides: fn(A) -> bool) -> Self {
        self.secret_check = Box::new(move |args| parsed::<A>(args.clone()).is_ok_and(hides));
        self
    }

    /// The page that it is about with these arguments, where it is about no more than a page: what brings something else there is
    /// not covered by a scope of that page.
    pub fn page<'a>(&self, args: &'a Value) -> Option<&'a str> {
        if !self.is_of_page() || !args["as"].is_null() {
            return None;
        }
        match &args["context"] {
            Value::Null => Some(FIRST),
            it => it.as_str(),
        }
    }

    /// Whether it is about a page that stays.
    pub fn is_of_page(&self) -> bool {
        self.input["properties"]["context"].is_object()
    }

    /// Whether it is of use to that caller at all.
    pub fn is_for(&self, principal: &Principal) -> bool {
        let right = match self.spec.need {
            AccessRequirement::May(Area::Browse, right) if self.is_of_page() => {
                AccessRequirement::Sessions(right)
            }
            it => it,
        };
        principal.may(right, None)
    }

    /// Names of arguments that stand in its path.
    pub fn in_path(&self) -> impl Iterator<Item = &'static str> {
        let path = self.spec.routes.first().map_or("", |it| it.1);
        path.split('/').filter_map(|it| it.strip_prefix('{')?.strip_suffix('}'))
    }
}

pub(crate) fn row<A, O, F>(spec: Spec, call: fn(OperationContext, A) -> F) -> Operation
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema,
    F: Future<Output = Result<(O, Meta), Box<ApiError>>> + Send + 'static,
{
    let doer: OperationFn = Box::new(move |cx, args| {
        let args = parsed::<A>(args);
        Box::pin(async move {
            let (data, meta) = call(cx, args?).await?;
            let data = serde_json::to_value(data).map_err(|err| {
                Error::new(Code::Internal, "an answer cannot be written as JSON").source(err)
            })?;
            Ok(Answer { ok: true, data, meta })
        })
    });
    let checker: CheckFn = Box::new(|args, _, _| parsed::<A>(args.clone()).map(drop));
    Operation {
        spec,
        input: LazyLock::new(input_schema::<A>),
        output: LazyLock::new(output_schema::<O>),
        doer,
        checker,
        secret_check: Box::new(|_| false),
    }
}

fn parsed<A: DeserializeOwned>(args: Value) -> commis_base::error::Result<A> {
    let mut args = if args.is_null() { json!({}) } else { args };
    if let Some(all) = args.as_object_mut() {
        // JSON Schema knows no other difference: 5.0 is 5.
        for it in all.values_mut() {
            if let Some(n) = it.as_number().and_then(as_whole_number) {
                *it = n.into();
            }
        }
    }
    serde_json::from_value(args).map_err(|err| {
        // It quotes names and values of who asks.
        let message: String =
            err.to_string().chars().filter(|it| !it.is_control()).take(300).collect();
        Error::new(Code::ParamInvalid, message).hint("see /api/openapi.json for the arguments")
    })
}

/// The schema of what is answered, whole in itself.
pub fn output_schema<T: JsonSchema>() -> Value {
    schema::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// The schema of what is taken, whole in itself.
pub(crate) fn input_schema<T: JsonSchema>() -> Value {
    schema::<T>(SchemaSettings::draft2020_12())
}

fn schema<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    let mut out = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut out);
    out
}

/// Leaves out what validators of JavaScript warn about and what nobody reads.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.remove("title");
            if fields.get("format").is_some_and(|it| {
                it.as_str().is_some_and(|it| {
                    it.starts_with("uint") || it.starts_with("int") || it == "double"
                })
            }) {
                fields.remove("format");
            }
            // A property may be called like a keyword.
            for (name, it) in fields.iter_mut() {
                match (name.as_str(), it) {
                    ("properties", Value::Object(all)) => all.values_mut().for_each(tidy),
                    ("enum" | "const" | "default" | "examples", _) => {}
                    (_, it) => tidy(it),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// An object schema of arguments without some of its properties.
pub fn without(schema: &Value, names: &[&str]) -> Value {
    let mut out = schema.clone();
    if let Some(all) = out.get_mut("properties").and_then(Value::as_object_mut) {
        all.retain(|it, _| !names.contains(&it.as_str()));
    }
    if let Some(all) = out.get_mut("required").and_then(Value::as_array_mut) {
        all.retain(|it| it.as_str().is_some_and(|it| !names.contains(&it)));
        if all.is_empty()
            && let Some(it) = out.as_object_mut()
        {
            it.remove("required");
        }
    }
    out
}

/// The properties of an object schema.
pub fn properties(schema: &Value) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Whether an object schema wants that property.
pub fn requires(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|all| all.iter().any(|it| it == name))
}

/// A number from 1 to `most`. Fails with `PARAM_INVALID`.
pub(crate) fn within(name: &str, it: u32, most: u32) -> commis_base::error::Result<u32> {
    if (1..=most).contains(&it) {
        return Ok(it);
    }
    Err(Error::new(Code::ParamInvalid, format!("`{name}` is from 1 to {most}")))
}

/// An answer without more to say.
#[expect(clippy::unnecessary_wraps, reason = "what operations return")]
pub(crate) fn with_default_meta<T>(data: T) -> Result<(T, Meta), Box<ApiError>> {
    Ok((data, Meta::default()))
}

/// That the task is to end.
pub(crate) async fn stopped(cx: &OperationContext) -> Error {
    match &cx.job {
        Some(it) => it.cancel.cancelled().await,
        None => std::future::pending().await,
    }
    Error::new(Code::Cancelled, "the task was cancelled")
}

/// The page that is meant where none is named.
pub const FIRST: &str = "default";
