//! The steps before a recipe's last request: what each asks for, which item of its answer is meant, and what goes on into the
//! later ones.
//!
//! Pure: who runs a recipe sends the requests. Proofs and runs share it, so that what was proven is what runs.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    check_status,
    extract::{Extracted, Extractor, HttpAnswer},
};
use commis_base::error::{Code, Error, Result};
use commis_net::transport::{Outgoing, Reply};
use commis_recipe::{
    document::Document,
    expression::Query,
    model::{Parameter, RequestTemplate},
    request::CompiledRequest,
    steps::{Chain, Choose, Step, field, parts, text},
    template::Template,
    values::{Found, Values},
};

/// Things that an error about a choice names, and what it says of each.
const MAX_LISTED: usize = 10;
const MAX_FIELDS: usize = 4;
const MAX_TEXT: usize = 40;

/// Steps whose templates and expressions are parsed.
#[derive(Default)]
pub struct Steps(Vec<CompiledStep>);

struct CompiledStep {
    name: String,
    request: CompiledRequest,
    extractor: Extractor,
    choose: Option<CompiledChoice>,
    /// Names of later templates that are of this step, with their fields.
    wanted: Vec<String>,
}

enum CompiledChoice {
    Only,
    First,
    Where(Vec<(String, Condition)>),
}

enum Condition {
    Text(Template),
    Is(Value),
}

impl Steps {
    /// `last` is the request after them; of the step that it is sent for each item of, it takes a value from each. Fails with
    /// `RECIPE_INVALID`.
    pub fn new(before: &[Step], last: &CompiledRequest, for_each: Option<&str>) -> Result<Self> {
        let requests: Vec<CompiledRequest> =
            before.iter().map(|it| CompiledRequest::new(&it.request)).collect::<Result<_>>()?;
        let wanted = |step: &Step, at: usize| {
            let later = requests[at + 1..].iter().flat_map(CompiledRequest::names);
            let last = last.names().into_iter().filter(|_| for_each != Some(&*step.name));
            let mut out: Vec<String> = later
                .chain(last)
                .filter(|it| parts(it).0 == step.name)
                .map(str::to_owned)
                .collect();
            out.sort_unstable();
            out.dedup();
            out
        };
        let wanted: Vec<Vec<String>> =
            before.iter().enumerate().map(|(at, it)| wanted(it, at)).collect();
        let all = before.iter().zip(requests).zip(wanted).map(|((it, request), wanted)| {
            Ok(CompiledStep {
                name: it.name.clone(),
                request,
                extractor: Extractor::new(&it.response)?,
                choose: it.choose.as_ref().map(CompiledChoice::new).transpose()?,
                wanted,
            })
        });
        Ok(Self(all.collect::<Result<_>>()?))
    }

    /// Every name that their templates mention, with repetitions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|it| {
            let of_choice = match &it.choose {
                Some(CompiledChoice::Where(all)) => all.as_slice(),
                _ => &[],
            };
            let of_choice = of_choice.iter().filter_map(|it| match &it.1 {
                Condition::Text(it) => Some(it.names()),
                Condition::Is(_) => None,
            });
            it.request.names().into_iter().chain(of_choice.flatten())
        })
    }
}

impl CompiledChoice {
    fn new(it: &Choose) -> Result<Self> {
        Ok(match it {
            Choose::Only => Self::Only,
            Choose::First => Self::First,
            Choose::Where(all) => {
                let compiled = all.iter().map(|(path, wanted)| {
                    let wanted = match wanted {
                        Value::String(it) => Condition::Text(Template::parse(it)?),
                        other => Condition::Is(other.clone()),
                    };
                    Ok((path.clone(), wanted))
                });
                Self::Where(compiled.collect::<Result<_>>()?)
            }
        })
    }
}

/// One run through the steps.
pub struct StepRun<'a> {
    steps: &'a [CompiledStep],
    at: usize,
    values: Values,
    /// What was sent, and what came.
    known: Vec<(Outgoing, Reply)>,
    /// What of each answer is used, by step.
    answers: BTreeMap<String, Value>,
}

impl<'a> StepRun<'a> {
    /// `values` are those of parameters and slots.
    pub fn new(steps: &'a Steps, values: Values) -> Self {
        Self { steps: &steps.0, at: 0, values, known: Vec::new(), answers: BTreeMap::new() }
    }

    /// The request that comes now; `None` where the last one can be sent. What an earlier step asked for in the same words is not
    /// asked for again. Fails as [`CompiledRequest::fill`], and as [`Self::take`].
    pub fn request(&mut self) -> Result<Option<Outgoing>> {
        while let Some(step) = self.steps.get(self.at) {
            let request = step.request.fill(&self.values).map_err(|err| err.about(&step.what()))?;
            let Some(at) = self.known.iter().position(|it| it.0 == request) else {
                return Ok(Some(request));
            };
            self.answered(at)?;
        }
        Ok(None)
    }

    /// Takes the answer to the request that [`Self::request`] gave. Fails as [`check_status`] and `Extractor::apply`, with
    /// `CHOICE_AMBIGUOUS` where more than one item could be meant, `NOT_FOUND` where none is, and `EXTRACT_EMPTY` where a field is
    /// missing that a later request needs.
    pub fn take(&mut self, mut request: Outgoing, reply: Reply) -> Result<()> {
        // It is told by what was asked, not by who it is sent as.
        request.own_host = None;
        self.known.push((request, reply));
        self.answered(self.known.len() - 1)
    }

    fn answered(&mut self, at: usize) -> Result<()> {
        let (steps, reply) = (self.steps, &self.known[at].1);
        let Some(step) = steps.get(self.at) else { return Ok(()) };
        let found = step.read(reply, &self.values).map_err(|err| err.about(&step.what()))?;
        for name in &step.wanted {
            let value = value(&found, name).map_err(|err| err.about(&step.what()))?;
            self.values.add_slot(name, &value)?;
        }
        self.answers.insert(step.name.clone(), found);
        self.at += 1;
        Ok(())
    }

    /// What the templates of the last request stand for.
    pub const fn values(&self) -> &Values {
        &self.values
    }

    /// What of each answer is used, by step.
    pub const fn answers(&self) -> &BTreeMap<String, Value> {
        &self.answers
    }

    /// The items that the last request is sent for. Fails with `EXTRACT_EMPTY` where the answer is no list.
    pub fn items(&self, for_each: Option<&str>) -> Result<&[Value]> {
        let found = for_each.and_then(|it| self.answers.get(it)).and_then(Value::as_array);
        found.map(Vec::as_slice).ok_or_else(|| {
            let name = for_each.unwrap_or_default();
            Error::new(Code::ExtractEmpty, format!("step `{name}`: its answer is no list"))
        })
    }

    /// The values for one of those items: every field of it that has a text. Fails with `PARAM_INVALID`.
    pub fn values_with(&self, for_each: Option<&str>, item: &Value) -> Result<Values> {
        let mut out = self.values.clone();
        let Some(name) = for_each else { return Ok(out) };
        let mut all = Vec::new();
        texts(name, item, &mut all);
        for (name, value) in all {
            out.add_slot(&name, &value)?;
        }
        Ok(out)
    }
}

/// Every text of an item with its name in templates.
fn texts(name: &str, item: &Value, out: &mut Vec<(String, String)>) {
    match item {
        Value::Object(all) => {
            for (key, it) in all {
                texts(&format!("{name}.{key}"), it, out);
            }
        }
        it => out.extend(text(it).map(|it| (name.to_owned(), it))),
    }
}

impl CompiledStep {
    fn what(&self) -> String {
        format!("step `{}`", self.name)
    }

    /// What of the answer is used: the chosen item, or all of it.
    fn read(&self, reply: &Reply, values: &Values) -> Result<Value> {
        check_status(reply)?;
        let found = self.extractor.apply(HttpAnswer {
            mime: &reply.mime(),
            headers: &reply.headers,
            url: &reply.url,
            body: &reply.body,
        })?;
        let Some(choice) = &self.choose else { return Ok(found.data) };
        let Value::Array(items) = found.data else {
            return Err(Error::new(Code::ExtractEmpty, "its answer is no list to choose from"));
        };
        choose(choice, items, values)
    }
}

/// The text of a field that a later template names.
fn value(found: &Value, name: &str) -> Result<String> {
    let (_, path) = parts(name);
    field(found, path).and_then(text).ok_or_else(|| {
        let hint = if found.is_array() {
            "the answer is a list: `choose` says which of its items is meant"
        } else {
            "the site may have changed; learn the recipe again"
        };
        Error::new(Code::ExtractEmpty, format!("its answer has no text for `{{{name}}}`"))
            .hint(hint)
    })
}

/// The item that is meant. Texts that are the same but for case and white space count where none is the same.
fn choose(choice: &CompiledChoice, items: Vec<Value>, values: &Values) -> Result<Value> {
    let wanted = match choice {
        CompiledChoice::First => {
            return items.into_iter().next().ok_or_else(|| not_found("its answer is empty", &[]));
        }
        CompiledChoice::Only => {
            return match <[Value; 1]>::try_from(items) {
                Ok([it]) => Ok(it),
                Err(items) if items.is_empty() => Err(not_found("its answer is empty", &[])),
                Err(items) => {
                    let all: Vec<&Value> = items.iter().collect();
                    Err(ambiguous("one item was expected", &all, &[]))
                }
            };
        }
        CompiledChoice::Where(all) => all,
    };
    let mut conditions = Vec::with_capacity(wanted.len());
    for (path, it) in wanted {
        conditions.push((path.as_str(), it.filled(values)?));
    }
    let fits = |item: &Value, same: fn(&Value, &Value) -> bool| {
        conditions.iter().all(|(path, it)| field(item, Some(path)).is_some_and(|own| same(own, it)))
    };
    let mut found: Vec<usize> = Vec::new();
    for same in [is_same, is_alike] {
        found = (0..items.len()).filter(|at| fits(&items[*at], same)).collect();
        if !found.is_empty() {
            break;
        }
    }
    let paths: Vec<&str> = conditions.iter().map(|it| it.0).collect();
    let meant = || {
        let all = conditions.iter().map(|(path, it)| format!("{path} {}", short(it)));
        all.collect::<Vec<_>>().join(" and ")
    };
    match found[..] {
        [at] => Ok(items.into_iter().nth(at).unwrap_or_default()),
        [] => {
            let all: Vec<&Value> = items.iter().collect();
            Err(not_found(&format!("no item has {}", meant()), &describe_items(&all, &paths)))
        }
        _ => {
            let all: Vec<&Value> = found.iter().map(|at| &items[*at]).collect();
            Err(ambiguous(&format!("{} items have {}", all.len(), meant()), &all, &paths))
        }
    }
}

impl Condition {
    /// Fails with `SESSION_REQUIRED` for a name without a value.
    fn filled(&self, values: &Values) -> Result<Value> {
        match self {
            Self::Is(it) => Ok(it.clone()),
            Self::Text(it) => it
                .render(|name| match values.get(name) {
                    Found::Given(it) => Ok(it.text.clone()),
                    Found::Absent => Ok(String::new()),
                    Found::Unknown => {
                        Err(Error::new(Code::SessionRequired, format!("`{name}` has no value")))
                    }
                })
                .map(Value::from),
        }
    }
}

fn is_same(own: &Value, wanted: &Value) -> bool {
    own == wanted || (wanted.is_string() && text(own).as_deref() == wanted.as_str())
}

/// Whether a value is what was asked for, but for case and white space.
pub fn is_alike(own: &Value, wanted: &Value) -> bool {
    let plain = |it: &Value| {
        let words = text(it)?.to_lowercase();
        Some(words.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    is_same(own, wanted)
        || (wanted.is_string() && plain(own).is_some() && plain(own) == plain(wanted))
}

fn ambiguous(why: &str, items: &[&Value], paths: &[&str]) -> Error {
    let all = describe_items(items, paths).join("; ");
    Error::new(Code::ChoiceAmbiguous, format!("{why}: {all}"))
        .hint("give a value that only one of them has")
}

fn not_found(why: &str, there: &[String]) -> Error {
    let err = Error::new(Code::NotFound, why.to_owned());
    if there.is_empty() {
        return err.hint("check the values");
    }
    err.hint(format!("there are: {}", there.join("; ")))
}

/// The first of them in a few words each: the fields that are chosen by, and others. What names a secret is left out.
fn describe_items(items: &[&Value], paths: &[&str]) -> Vec<String> {
    let mut out: Vec<String> =
        items.iter().take(MAX_LISTED).map(|it| describe_item(it, paths)).collect();
    if items.len() > MAX_LISTED {
        out.push(format!("and {} more", items.len() - MAX_LISTED));
    }
    out
}

fn describe_item(item: &Value, paths: &[&str]) -> String {
    let Value::Object(all) = item else { return short(item) };
    let mut fields: Vec<(String, &Value)> = Vec::new();
    for (key, it) in all {
        match it {
            Value::Object(inner) => {
                fields.extend(inner.iter().map(|(name, it)| (format!("{key}.{name}"), it)));
            }
            it => fields.push((key.clone(), it)),
        }
    }
    let is_secret = |name: &str| name.split('.').any(commis_redact::names_secret);
    fields.retain(|it| text(it.1).is_some() && !is_secret(&it.0));
    fields.sort_by_key(|it| !paths.contains(&it.0.as_str()));
    let all = fields.iter().take(MAX_FIELDS).map(|(name, it)| format!("{name} {}", short(it)));
    all.collect::<Vec<_>>().join(", ")
}

fn short(value: &Value) -> String {
    let text = text(value).unwrap_or_else(|| value.to_string());
    let kept: String = text.chars().filter(|it| !it.is_control()).take(MAX_TEXT).collect();
    if value.is_string() { format!("{kept:?}") } else { kept }
}

/// How the answers become the data.
#[derive(Default)]
pub struct AnswerJoin {
    for_each: Option<String>,
    into: Option<String>,
    last: String,
    output: Option<Query>,
}

impl AnswerJoin {
    /// Fails with `RECIPE_INVALID`.
    pub fn new(chain: Option<&Chain>) -> Result<Self> {
        let Some(chain) = chain else { return Ok(Self::default()) };
        Ok(Self {
            for_each: chain.for_each.clone(),
            into: chain.into.clone(),
            last: chain.last.clone(),
            output: chain.output.as_deref().map(Query::compile).transpose()?,
        })
    }

    /// The step that the last request is sent for each item of.
    pub fn for_each(&self) -> Option<&str> {
        self.for_each.as_deref()
    }

    /// An item with what the last request was answered for it.
    pub fn put(&self, item: &Value, answer: Value) -> Value {
        let mut out = match (item, &self.into) {
            (Value::Object(all), _) => all.clone(),
            // The items are ids alone: nothing stands beside the answer but what it is called by.
            (_, None) => return answer,
            (other, Some(_)) => {
                let name = self.for_each.clone().unwrap_or_default();
                Map::from_iter([(name, other.clone())])
            }
        };
        match (&self.into, answer) {
            (Some(name), answer) => _ = out.insert(name.clone(), answer),
            (None, Value::Object(all)) => out.extend(all),
            (None, _) => {}
        }
        out.into()
    }

    /// The data of a run. Fails as [`Query::search`], and with `EXTRACT_EMPTY` where `output` finds nothing.
    pub fn apply(&self, answers: &BTreeMap<String, Value>, last: Extracted) -> Result<Extracted> {
        let Some(query) = &self.output else { return Ok(last) };
        let mut all: Map<String, Value> =
            answers.iter().map(|(name, it)| (name.clone(), it.clone())).collect();
        all.insert(self.last.clone(), last.data.clone());
        let all = Value::Object(all);
        let data = query.search(&Document::from(&all))?;
        if data.is_null() {
            return Err(Error::new(Code::ExtractEmpty, "`output` matches nothing in the answers"));
        }
        let items = data.as_array().map(|it| it.len() as u64);
        Ok(Extracted { data, items, ..last })
    }
}

/// A draft's last request after its steps: what is sent one after the other while it is learned.
pub struct DraftRun {
    pub steps: Steps,
    pub request: CompiledRequest,
    pub values: Values,
}

impl DraftRun {
    /// `given` holds parameters and live values side by side; what is no parameter counts as a slot. Fails with `RECIPE_INVALID`,
    /// `METHOD_NOT_ALLOWED` and `PARAM_INVALID`.
    pub fn new(
        steps: &[Step],
        request: &RequestTemplate,
        (parameters, given): (&[Parameter], &BTreeMap<String, String>),
    ) -> Result<Self> {
        let request = CompiledRequest::new(request)?;
        let mut values = Values::bind(parameters, given)?;
        for (name, text) in given {
            values.add_slot(name, text)?;
        }
        Ok(Self { steps: Steps::new(steps, &request, None)?, request, values })
    }
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
