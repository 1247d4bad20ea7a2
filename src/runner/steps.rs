//! The steps before a recipe's last request: what each asks for, which item of its answer is meant, and what goes on into the
//! later ones.
//!
//! Pure: who runs a recipe sends the requests. Proofs and runs share it, so that what was proven is what runs.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value};

pub use super::choices::{MAX_CALLS, is_alike};
use super::{
    check_status,
    choices::{CompiledChoice, all_values, choose, value},
    extract::{Extraction, Extractor, HttpAnswer},
};
use commis_base::error::{Code, Error, Result};
use commis_net::transport::{PreparedRequest, Reply, Timings};
use commis_recipe::{
    document::Document,
    expression::Query,
    model::{Parameter, RequestTemplate},
    request::CompiledRequest,
    steps::{Assembly, Chain, JoinedOutput, PerItem, Step, split_step_name, text},
    values::Values,
};

/// From one request for an answer that is not ready to the next.
const POLL_PACE: Duration = Duration::from_secs(1);
/// From one call for an item to the next, at least: no site is asked more than ten times in a second.
pub const ITEM_PACE: Duration = Duration::from_millis(100);

/// Steps whose templates and expressions are parsed.
#[derive(Default)]
pub struct Steps(Vec<CompiledStep>);

struct CompiledStep {
    name: String,
    request: CompiledRequest,
    extractor: Extractor,
    choose: Option<CompiledChoice>,
    /// What is true of an answer that is ready, and requests for it at most.
    poll: Option<(Query, u32)>,
    /// Names of later templates that are of this step, with their fields.
    wanted: Vec<String>,
    /// The site may have no answer.
    optional: bool,
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
                .filter(|it| split_step_name(it).0 == step.name)
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
                poll: match &it.poll {
                    Some(it) => Some((Query::compile(&it.until)?, it.limit())),
                    None => None,
                },
                wanted,
                optional: it.optional,
            })
        });
        Ok(Self(all.collect::<Result<_>>()?))
    }

    /// Every name that their templates mention, with repetitions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|it| {
            let of_choice = it.choose.iter().flat_map(CompiledChoice::names);
            it.request.names().into_iter().chain(of_choice)
        })
    }
}

/// One run through the steps.
pub struct StepRun<'a> {
    steps: &'a [CompiledStep],
    at: usize,
    values: Values,
    /// What was sent, and what came.
    known: Vec<(PreparedRequest, Reply)>,
    /// What of each answer is used, by step.
    answers: BTreeMap<String, Value>,
    /// How often the step that comes now was asked and its answer was not ready.
    polled: u32,
    /// The step whose list is empty, so that the requests for its items are not sent.
    empty: Option<&'a str>,
    /// Items of lists that go into one request, and are too many for it.
    left: usize,
    /// Optional steps that the site had no answer for.
    missing: Vec<&'a str>,
}

impl<'a> StepRun<'a> {
    /// `values` are those of parameters and slots.
    pub fn new(steps: &'a Steps, values: Values) -> Self {
        Self {
            steps: &steps.0,
            at: 0,
            values,
            known: Vec::new(),
            answers: BTreeMap::new(),
            polled: 0,
            empty: None,
            left: 0,
            missing: Vec::new(),
        }
    }

    /// The request that comes now; `None` where the last one can be sent. What an earlier step asked for in the same words is not
    /// asked for again. Fails as [`CompiledRequest::fill`], and as [`Self::take`].
    pub fn request(&mut self) -> Result<Option<PreparedRequest>> {
        while let Some(step) = self.steps.get(self.at) {
            let request =
                step.request.fill(&self.values).map_err(|err| err.context(&step.describe()))?;
            let known = self.known.iter().position(|it| it.0 == request);
            let Some(at) = known.filter(|_| self.polled == 0) else {
                return Ok(Some(request));
            };
            self.apply_answer(at)?;
        }
        Ok(None)
    }

    /// Takes the answer to the request that [`Self::request`] gave. Fails as [`check_status`] and `Extractor::apply`, with
    /// `CHOICE_AMBIGUOUS` where more than one item could be meant, `NOT_FOUND` where none is, and `EXTRACT_EMPTY` where a field is
    /// missing that a later request needs.
    pub fn take(&mut self, mut request: PreparedRequest, reply: Reply) -> Result<()> {
        // It is told by what was asked, not by who it is sent as.
        request.own_host = None;
        self.known.push((request, reply));
        self.apply_answer(self.known.len() - 1)
    }

    fn apply_answer(&mut self, at: usize) -> Result<()> {
        if is_gone(self.known[at].1.status) && self.skip() {
            return Ok(());
        }
        let (steps, reply) = (self.steps, &self.known[at].1);
        let Some(step) = steps.get(self.at) else { return Ok(()) };
        let found = step.read(reply, &self.values).map_err(|err| err.context(&step.describe()))?;
        if let Some((until, limit)) = &step.poll
            && until.search(&Document::from(&found))? != Value::Bool(true)
        {
            self.known.swap_remove(at);
            self.polled += 1;
            if self.polled < *limit {
                return Ok(());
            }
            let why = format!("its answer was not ready after {limit} requests");
            return Err(Error::new(Code::ExtractEmpty, why)
                .hint("run it again later, or raise `poll.at_most`")
                .context(&step.describe()));
        }
        self.polled = 0;
        let named = |err: Error| err.context(&step.describe());
        for name in &step.wanted {
            match (&step.choose, &found) {
                (Some(CompiledChoice::All(separator)), Value::Array(items)) => {
                    let (text, list) = all_values(items, name, separator).map_err(named)?;
                    self.values.add_list(name, &text, list).map_err(named)?;
                }
                _ => self.values.add_slot(name, &value(&found, name).map_err(named)?)?,
            }
        }
        self.at += 1;
        if let (Some(CompiledChoice::All(_)), Value::Array(items)) = (&step.choose, &found) {
            self.left += items.len().saturating_sub(MAX_CALLS);
            if items.is_empty() {
                self.empty = Some(&step.name);
                self.at = steps.len();
            }
        }
        self.answers.insert(step.name.clone(), found);
        Ok(())
    }

    /// Goes on without an answer to the step that comes now, where it is optional.
    pub fn skip(&mut self) -> bool {
        let Some(step) = self.steps.get(self.at).filter(|it| it.optional) else { return false };
        self.answers.insert(step.name.clone(), Value::Null);
        self.missing.push(&step.name);
        self.at += 1;
        true
    }

    /// Optional steps that the site had no answer for.
    pub fn missing(&self) -> &[&'a str] {
        &self.missing
    }

    /// The step whose list is empty: nothing more is asked for.
    pub const fn empty(&self) -> Option<&'a str> {
        self.empty
    }

    /// Items of lists beyond those that go into one request.
    pub const fn remaining_items(&self) -> usize {
        self.left
    }

    /// Waits before a step is asked again whose answer was not ready.
    pub async fn pace(&self) {
        if self.polled > 0 {
            tokio::time::sleep(POLL_PACE).await;
        }
    }

    /// The step that comes now, for errors.
    pub fn describe(&self) -> String {
        self.steps.get(self.at).map_or_else(String::new, CompiledStep::describe)
    }

    /// Whether every step was answered.
    const fn is_done(&self) -> bool {
        self.at >= self.steps.len()
    }

    /// What the templates of the last request stand for.
    pub const fn values(&self) -> &Values {
        &self.values
    }

    /// What of each answer is used, by step.
    pub const fn answers(&self) -> &BTreeMap<String, Value> {
        &self.answers
    }

    /// What the last request is sent for, one call for each item. Fails with `EXTRACT_EMPTY` where the answer is no list.
    pub fn per_item(&self, join: &AnswerJoin) -> Result<ItemCalls> {
        let name = join.for_each().unwrap_or_default();
        let items = self.answers.get(name).and_then(Value::as_array).ok_or_else(|| {
            Error::new(Code::ExtractEmpty, format!("step `{name}`: the answer is not a list"))
        })?;
        Ok(ItemCalls {
            step: name.to_owned(),
            base: self.values.clone(),
            total: items.len(),
            items: items.iter().take(MAX_CALLS).cloned().collect(),
            at: 0,
            joined: Vec::new(),
            missing: 0,
        })
    }
}

/// One call for each item of a list, in their order.
pub struct ItemCalls {
    step: String,
    base: Values,
    items: Vec<Value>,
    total: usize,
    at: usize,
    joined: Vec<Value>,
    missing: usize,
}

/// What the calls for all items gave.
pub struct ItemAnswers {
    pub data: Value,
    /// Items of the list.
    pub total: usize,
    /// Items that no call was made for: there are more than [`MAX_CALLS`].
    pub left: usize,
    /// Items that the site has no answer for.
    pub missing: usize,
}

impl ItemCalls {
    /// The values for the item that comes now: every field of it that has a text; `None` after the last. Fails with
    /// `PARAM_INVALID`.
    pub fn values(&self) -> Result<Option<Values>> {
        let Some(item) = self.items.get(self.at) else { return Ok(None) };
        let mut out = self.base.clone();
        let mut all = Vec::new();
        texts(&self.step, item, &mut all);
        for (name, value) in all {
            out.add_slot(&name, &value)?;
        }
        Ok(Some(out))
    }

    /// For errors: `item 3 of 30`.
    pub fn describe(&self) -> String {
        format!("item {} of {}", self.at + 1, self.total)
    }

    /// Takes the answer for that item; `None` where the site has none for it.
    pub fn take(&mut self, join: &AnswerJoin, answer: Option<Value>) {
        let Some(item) = self.items.get(self.at) else { return };
        let answer = answer.filter(|it| !it.is_null());
        self.at += 1;
        self.missing += usize::from(answer.is_none());
        self.joined.extend(join.join_item(self.at, item, answer));
    }

    /// Fails with `EXTRACT_EMPTY` where there are items and none was answered.
    pub fn finish(self) -> Result<ItemAnswers> {
        if self.missing > 0 && self.missing == self.items.len() {
            let why = format!("the site answered none of the {} items", self.missing);
            return Err(Error::new(Code::ExtractEmpty, why)
                .hint("the site may have changed; learn the recipe again"));
        }
        Ok(ItemAnswers {
            data: Value::Array(self.joined),
            total: self.total,
            left: self.total - self.items.len(),
            missing: self.missing,
        })
    }
}

/// Whether a refusal says that the site has nothing for one item (any more).
pub const fn is_gone(status: u16) -> bool {
    matches!(status, 404 | 410)
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
    fn describe(&self) -> String {
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
        choose(choice, found.data, values)
    }
}

/// How the answers become the data.
#[derive(Default)]
pub struct AnswerJoin {
    for_each: Option<String>,
    into: Option<String>,
    position: Option<String>,
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
            position: chain.position.clone(),
            last: chain.last.clone(),
            output: chain.output.as_deref().map(Query::compile).transpose()?,
        })
    }

    /// The step that the last request is sent for each item of.
    pub fn for_each(&self) -> Option<&str> {
        self.for_each.as_deref()
    }

    /// An error of the last request, which is one of several.
    pub fn with_step(&self, err: Error) -> Error {
        if self.last.is_empty() { err } else { err.context(&format!("step `{}`", self.last)) }
    }

    /// Of a draft. Fails with `RECIPE_INVALID`.
    pub fn of_draft(assembly: &Assembly) -> Result<Self> {
        Ok(match assembly {
            Assembly::PerItem(it) => Self::per_item(it),
            Assembly::Output(JoinedOutput { expression, last, .. }) => Self {
                last: last.clone(),
                output: Some(Query::compile(expression)?),
                ..Self::default()
            },
        })
    }

    /// Of the answers for the items of a list.
    fn per_item(it: &PerItem) -> Self {
        Self {
            for_each: Some(it.step.clone()),
            into: it.into.clone(),
            position: it.position.clone(),
            ..Self::default()
        }
    }

    /// An item with what the last request was answered for it, where it is given; `at` counts from 1.
    fn join_item(&self, at: usize, item: &Value, answer: Option<Value>) -> Option<Value> {
        if answer.is_none() && self.position.is_some() {
            return None;
        }
        let answer = answer.unwrap_or_default();
        let mut out = match (item, &self.into) {
            (Value::Object(all), _) => all.clone(),
            // The items are ids alone: nothing stands beside the answer but what it is called by.
            (_, None) => match (answer, &self.position) {
                (Value::Object(all), Some(_)) => return Some(self.placed(at, all)),
                (answer, _) => return Some(answer),
            },
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
        Some(self.placed(at, out))
    }

    fn placed(&self, at: usize, mut item: Map<String, Value>) -> Value {
        if let Some(name) = &self.position {
            item.insert(name.clone(), at.into());
        }
        item.into()
    }

    /// The data of a run. Fails as [`Query::search`], and with `EXTRACT_EMPTY` where `output` finds nothing.
    pub fn apply(&self, answers: &BTreeMap<String, Value>, last: Extraction) -> Result<Extraction> {
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
        Ok(Extraction { data, items, ..last })
    }
}

/// A draft's last request after its steps: what is sent one after the other while it is learned.
pub struct DraftRun {
    steps: Steps,
    request: CompiledRequest,
    values: Values,
    assembly: Option<(AnswerJoin, Extractor)>,
}

impl DraftRun {
    /// `given` holds parameters and live values side by side; what is no parameter counts as a slot. Fails with `RECIPE_INVALID`,
    /// `METHOD_NOT_ALLOWED` and `PARAM_INVALID`.
    pub fn new(
        steps: &[Step],
        (request, assembly): (&RequestTemplate, Option<&Assembly>),
        (parameters, given): (&[Parameter], &BTreeMap<String, String>),
    ) -> Result<Self> {
        let request = CompiledRequest::new(request)?;
        let mut values = Values::bind(parameters, given)?;
        for (name, text) in given {
            values.add_slot(name, text)?;
        }
        let for_each = assembly.and_then(Assembly::per_item).map(|it| it.step.as_str());
        let steps = Steps::new(steps, &request, for_each)?;
        let assembly = assembly
            .map(|it| Ok::<_, Error>((AnswerJoin::of_draft(it)?, Extractor::new(it.response())?)))
            .transpose()?;
        Ok(Self { steps, request, values, assembly })
    }

    /// Its requests, from the first.
    pub fn start(&self) -> DraftWalk<'_> {
        let steps = StepRun::new(&self.steps, self.values.clone());
        DraftWalk { draft: self, steps, items: None, last: None }
    }
}

/// The requests of a draft, one after the other.
pub struct DraftWalk<'a> {
    draft: &'a DraftRun,
    steps: StepRun<'a>,
    items: Option<ItemCalls>,
    last: Option<Reply>,
}

impl DraftWalk<'_> {
    /// The request that comes now; `None` after the last. Fails as [`StepRun::request`] and [`StepRun::per_item`].
    pub fn request(&mut self) -> Result<Option<PreparedRequest>> {
        if let Some(it) = self.steps.request()? {
            return Ok(Some(it));
        }
        let request = &self.draft.request;
        let per_item = self.draft.assembly.as_ref().filter(|it| it.0.for_each().is_some());
        let Some((join, _)) = per_item else {
            let is_sent = self.last.is_some() || self.steps.empty().is_some();
            return if is_sent { Ok(None) } else { request.fill(self.steps.values()).map(Some) };
        };
        if self.items.is_none() {
            self.items = Some(self.steps.per_item(join)?);
        }
        let values = self.items.as_ref().map_or(Ok(None), ItemCalls::values)?;
        values.map(|it| request.fill(&it)).transpose()
    }

    /// Waits before each call for an item after the first, and before a step is asked again.
    pub async fn pace(&self) {
        self.steps.pace().await;
        if self.items.as_ref().is_some_and(|it| it.at > 0) {
            tokio::time::sleep(ITEM_PACE).await;
        }
    }

    /// Takes the answer to the request that [`Self::request`] gave. Fails as [`StepRun::take`].
    pub fn take(&mut self, request: PreparedRequest, reply: Reply) -> Result<()> {
        let (Some(items), Some((join, extractor))) = (&mut self.items, &self.draft.assembly) else {
            if self.steps.is_done() {
                self.last = Some(reply);
                return Ok(());
            }
            return self.steps.take(request, reply);
        };
        let answer = if is_gone(reply.status) { None } else { read_item(extractor, &reply)? };
        items.take(join, answer);
        self.last = Some(reply);
        Ok(())
    }

    /// The answer to the last request; where it was sent for items or is one of several, the data as an answer. Fails as
    /// [`ItemCalls::finish`] and [`AnswerJoin::apply`].
    pub fn reply(self) -> Result<Reply> {
        if let Some(items) = self.items {
            let url = self.last.map(|it| it.url).unwrap_or_default();
            return Ok(as_reply(&items.finish()?.data, url));
        }
        let empty = self.steps.empty();
        let last = self.last.ok_or_else(|| match empty {
            Some(it) => Error::new(Code::ExtractEmpty, format!("step `{it}`: its list is empty")),
            None => Error::new(Code::Internal, "the steps ended before a request was sent"),
        })?;
        // What the site refuses is judged as it came.
        let Some((join, extractor)) = &self.draft.assembly else { return Ok(last) };
        if check_status(&last).is_err() {
            return Ok(last);
        }
        let found = extractor.apply(HttpAnswer {
            mime: &last.mime(),
            headers: &last.headers,
            url: &last.url,
            body: &last.body,
        })?;
        Ok(as_reply(&join.apply(self.steps.answers(), found)?.data, last.url))
    }
}

/// Data that several answers gave, as an answer.
fn as_reply(data: &Value, url: String) -> Reply {
    Reply {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: data.to_string().into_bytes(),
        url,
        hops: 0,
        timings: Timings::default(),
    }
}

/// What of the answer for one item is used; `None` where there is nothing in it.
fn read_item(extractor: &Extractor, reply: &Reply) -> Result<Option<Value>> {
    check_status(reply)?;
    let found = extractor.apply(HttpAnswer {
        mime: &reply.mime(),
        headers: &reply.headers,
        url: &reply.url,
        body: &reply.body,
    });
    match found {
        Ok(it) => Ok(Some(it.data)),
        Err(err) if err.code() == Code::ExtractEmpty => Ok(None),
        Err(err) => Err(err),
    }
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
