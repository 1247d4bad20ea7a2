//! Runs a recipe: fills it, sends it, reads the answer, judges its shape.
//!
//! The result is data, not an `Err`: callers print it, store it and count it. [`run`] sends each request once; [`call`] is
//! what people use, within limits and with one more attempt.

pub mod call;
mod choices;
mod compile_cache;
mod credential;
pub mod extract;
pub mod pages;
mod recovery;
pub mod slots;
pub mod steps;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde::Serialize;
use serde_json::{Value, json};
use url::Url;

use self::{
    extract::{Extraction, Extractor, HttpAnswer, blank_fields, fingerprint, similarity_bp},
    recovery::{AuthRecovery, auth_recovery, blame_login_page},
    steps::{AnswerJoin, ITEM_PACE, ItemAnswers, MAX_CALLS, StepRun, Steps, is_gone},
};
use commis_base::{
    error::{Code, Error, Result},
    work,
};
use commis_net::transport::{PreparedRequest, Reply, Timings, Transport, retry::retry_after};
use commis_recipe::{
    check::check,
    examples, file_facts,
    model::{Framing, Parameter, Recipe, Slot, TransportKind},
    pagination::{Length, is_echo},
    request::{CompiledRequest, bind},
    shape::{self, VerifiedShape},
    trust::Trust,
    values,
};
use commis_redact::known_secrets::SecretFilter;

/// An answer less alike than this to the verified one has drifted (seed 1.3.1).
pub const MIN_SIMILARITY_BP: u32 = 8_500;
const MAX_RAW: usize = 64 * 1024;
/// A site that asks for a pause between the calls for items gets it, so often and for so long at most.
const MAX_PAUSES: u32 = 3;
const MAX_PAUSE_SEC: u64 = 10;
/// Of an error's page, which says little.
const MAX_REFUSAL: usize = 2 * 1024;

/// The pauses that a site may still ask for between the calls for items.
pub struct PauseBudget {
    left: u32,
}

impl Default for PauseBudget {
    fn default() -> Self {
        Self { left: MAX_PAUSES }
    }
}

impl PauseBudget {
    /// The pause to make before the same call is sent again, for an answer with this `Retry-After` in seconds. `None`: there was no
    /// such header, the pause is too long, or the site has asked too often.
    pub fn take(&mut self, retry_after_sec: Option<u64>) -> Option<Duration> {
        let pause = retry_after_sec.filter(|it| *it <= MAX_PAUSE_SEC)?;
        self.left = self.left.checked_sub(1)?;
        Some(Duration::from_secs(pause))
    }
}

/// A checked recipe with everything parsed that can be parsed before values are known. Runs share it.
pub struct CompiledRecipe {
    recipe: Recipe,
    /// Canonical, of the request.
    host: String,
    request: CompiledRequest,
    /// What is asked for before it.
    steps: Steps,
    joined: AnswerJoin,
    extractor: Extractor,
    /// What JSON is compared with, where it was verified.
    shape: Option<VerifiedShape>,
    /// Slots that the request mentions.
    slots: Vec<Slot>,
    /// Its request is known to read.
    repeatable: bool,
}

/// What a run came to.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RecipeRunResult {
    pub success: bool,
    /// Also there when only the shape has drifted.
    pub data: Value,
    /// The bytes of an answer that is a file.
    #[serde(skip)]
    pub file: Option<Vec<u8>>,
    /// The body as text, if no data could be extracted from it: at most 64 KiB, or 2 KiB if the status reports an error.
    pub raw_response: Option<String>,
    pub status_code: Option<u16>,
    pub error: Option<String>,
    pub error_code: Option<&'static str>,
    pub hint: Option<String>,
    /// The same call may succeed later.
    pub retryable: bool,
    /// Seconds, as the site or our own limit says, at most a day.
    pub retry_after_sec: Option<u64>,
    /// How often the run was tried: 0 when nothing was sent, 2 when a request was sent again; a fallback's are added.
    pub attempts: u32,
    /// The site answered 401 or 403.
    pub auth_recovery_triggered: bool,
    pub auth_recovery: Option<AuthRecovery>,
    pub transport_used: TransportKind,
    /// The transport that failed before `transport_used` was tried.
    pub fallback_from: Option<TransportKind>,
    /// Of the recipe's own request, not of those made for slots.
    pub redirect_hops: u32,
    pub timings_ms: RunTimings,
    /// Length of `data` when it is a list.
    pub items: Option<u64>,
    /// Items that were left out because they do not fit the caller's condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filtered: Option<u64>,
    /// Items that the site has, where its answer says so.
    pub total: Option<u64>,
    /// Pages that were followed, where the recipe knows how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// Where the list goes on: `--continue-from` takes it. Absent at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continue_from: Option<String>,
    /// What leads to the next page.
    #[serde(skip)]
    pub next: Option<Value>,
    /// Whether `data` holds all of them: false where the list goes on, null where nothing says.
    pub complete: Option<bool>,
    /// Why the data may not be what was asked for, each in a sentence: it is not as its examples were, or says that it was asked
    /// for something else.
    pub warnings: Vec<String>,
    /// The recipe's own example still works: what failed is these values'.
    #[serde(skip)]
    pub example_holds: bool,
    /// Fields that are there and empty, where they alone make a record unlike the verified one.
    #[serde(skip)]
    pub blank_fields: Vec<String>,
    /// How alike the data's shape is to the verified one, basis points; absent when there was nothing to compare.
    pub similarity_bp: Option<u32>,
}

/// Milliseconds at microsecond resolution; requests made for slots are included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RunTimings {
    pub validate: f64,
    pub dns: f64,
    pub connect: f64,
    pub ttfb: f64,
    pub download: f64,
    pub extract: f64,
    /// Of the data, compared with the verified one.
    pub shape: f64,
    pub total: f64,
}

impl std::ops::AddAssign for RunTimings {
    fn add_assign(&mut self, it: Self) {
        self.validate += it.validate;
        self.dns += it.dns;
        self.connect += it.connect;
        self.ttfb += it.ttfb;
        self.download += it.download;
        self.extract += it.extract;
        self.shape += it.shape;
        self.total += it.total;
        self.round();
    }
}

impl RunTimings {
    fn add(&mut self, it: Timings) {
        self.validate += millis(it.validate);
        self.dns += millis(it.dns);
        self.connect += millis(it.connect);
        self.ttfb += millis(it.ttfb);
        self.download += millis(it.download);
    }

    fn round(&mut self) {
        for it in [
            &mut self.validate,
            &mut self.dns,
            &mut self.connect,
            &mut self.ttfb,
            &mut self.download,
            &mut self.extract,
            &mut self.shape,
            &mut self.total,
        ] {
            *it = (*it * 1000.0).round() / 1000.0;
        }
    }
}

/// Checks and parses a recipe. Fails with `RECIPE_INVALID` or `METHOD_NOT_ALLOWED`.
pub fn compile(recipe: &Recipe) -> Result<CompiledRecipe> {
    check(recipe)?;
    let request = CompiledRequest::new(&recipe.request)?;
    let joined = AnswerJoin::new(recipe.chain.as_ref())?;
    let steps = Steps::new(recipe.steps_before(), &request, joined.for_each())?;
    let used = || request.names().into_iter().chain(steps.names());
    let is_used = |it: &&Slot| used().any(|name| name == it.name);
    let slots = recipe.slots.iter().filter(is_used).cloned().collect();
    let host = Url::parse(&recipe.request.url).ok();
    let verified = recipe.verification.as_ref().filter(|it| !it.shape.is_empty());
    let extractor = Extractor::new(&recipe.response)?;
    let extractor = match &recipe.pages {
        Some(it) => extractor.with_pages(it)?,
        None => extractor,
    };
    Ok(CompiledRecipe {
        extractor,
        shape: verified.map(|it| VerifiedShape::new(&it.shape)),
        host: host.and_then(|it| it.host_str().map(str::to_owned)).unwrap_or_default(),
        recipe: recipe.clone(),
        request,
        steps,
        joined,
        slots,
        repeatable: commis_effect::recipe_effect(recipe, recipe.trust == Trust::Proven).is_read(),
    })
}

impl CompiledRecipe {
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether it sends a key.
    pub fn has_key(&self) -> bool {
        self.recipe.auth.is_some()
    }

    /// Whether its request may be sent twice: it is known to read, by itself or by what it was proven with here.
    pub fn is_repeatable(&self) -> bool {
        self.repeatable
    }
}

/// Runs the recipe once. `slots` holds values that the caller has (from a session); those of kinds `document` and `response`
/// that it does not have are fetched first, through the same transport, each URL once.
pub async fn run(
    compiled: &CompiledRecipe,
    params: &BTreeMap<String, String>,
    slots: &BTreeMap<String, String>,
    transport: &dyn Transport,
) -> RecipeRunResult {
    let start = Instant::now();
    let mut out = RecipeRunResult::new(transport.kind());
    match attempt(compiled, params, slots, transport, &mut out).await {
        Ok(()) => out.success = true,
        Err(err) => out.fail(&err),
    }
    out.timings_ms.total = millis(start.elapsed().as_micros() as u64);
    out.timings_ms.round();
    out
}

async fn attempt(
    compiled: &CompiledRecipe,
    params: &BTreeMap<String, String>,
    slots: &BTreeMap<String, String>,
    transport: &dyn Transport,
    out: &mut RecipeRunResult,
) -> Result<()> {
    let start = Instant::now();
    let mut values = bind(&compiled.recipe, params, slots)?;
    out.timings_ms.validate += millis(start.elapsed().as_micros() as u64);
    let missing: Vec<&Slot> =
        compiled.slots.iter().filter(|it| !slots.contains_key(&it.name)).collect();
    let own = &compiled.recipe.own_host;
    let fetched = slots::fetch(missing, own.as_deref(), transport, |reply| {
        out.timings_ms.add(reply.timings);
        if check_status(reply).is_err() {
            out.status_code = Some(reply.status);
            out.retry_after_sec = retry_after(reply);
            out.recover(compiled, reply);
        }
    })
    .await?;
    for (name, value) in &fetched {
        values.add_slot(name, value)?;
    }

    let mut steps = StepRun::new(&compiled.steps, values);
    while let Some(mut request) = steps.request()? {
        request.own_host.clone_from(own);
        steps.pace().await;
        out.status_code = None;
        let reply = match send(compiled, params, &request, transport, out).await {
            Err(_) if out.status_code.is_some_and(is_gone) && steps.skip() => {
                out.raw_response = None;
                continue;
            }
            other => other.map_err(|err| err.context(&steps.describe()))?,
        };
        let start = Instant::now();
        work::compute(work::ANSWER, || steps.take(request, reply)).await??;
        out.timings_ms.extract += millis(start.elapsed().as_micros() as u64);
    }
    if steps.empty().is_some() {
        // Nothing is asked for where there is nothing to ask for.
        let none = Extraction::no_items();
        return work::compute(work::ANSWER, || {
            finish(compiled, params, steps.answers(), none.clone(), out)
        })
        .await?;
    }
    if compiled.joined.for_each().is_some() {
        return run_for_each(compiled, params, steps, transport, out).await;
    }

    let start = Instant::now();
    let mut request = compiled.request.fill(steps.values())?;
    request.own_host.clone_from(own);
    out.timings_ms.validate += millis(start.elapsed().as_micros() as u64);
    let reply = send(compiled, params, &request, transport, out).await;
    let reply = reply.map_err(|err| compiled.joined.with_step(err))?;
    out.redirect_hops = reply.hops;
    let found = compute_answer(&reply, || {
        read_answer(compiled, &reply, out)
            .and_then(|taken| finish(compiled, params, steps.answers(), taken, out))
            .map_err(|err| blame_login_page(err, &compiled.recipe, &reply))
    })
    .await;
    let found = found.and_then(|it| it);
    if found.is_err() && out.similarity_bp.is_none() {
        out.raw_response = Some(truncated_text(&reply.body, MAX_RAW));
    }
    if found.is_ok() && compiled.recipe.response.framing == Some(Framing::File) {
        out.file = Some(reply.body);
    }
    if !steps.missing().is_empty() {
        out.complete = Some(false);
        let missing = steps.missing().join("`, `");
        out.warnings.push(format!("the site has no answer for the step `{missing}`"));
    }
    if steps.remaining_items() > 0 {
        out.complete = Some(false);
        let left = steps.remaining_items();
        out.warnings.push(format!(
            "one request for the first {MAX_CALLS} items of a list; {left} are left out"
        ));
    }
    found
}

/// Sends one request of the recipe. Fails with what the transport fails with, and as [`check_status`].
async fn send(
    compiled: &CompiledRecipe,
    params: &BTreeMap<String, String>,
    request: &PreparedRequest,
    transport: &dyn Transport,
    out: &mut RecipeRunResult,
) -> Result<Reply> {
    let reply = transport.send(request).await?;
    out.timings_ms.add(reply.timings);
    out.status_code = Some(reply.status);
    if let Err(err) = check_status(&reply) {
        out.retry_after_sec = retry_after(&reply);
        out.recover(compiled, &reply);
        out.raw_response = Some(truncated_text(&reply.body, MAX_REFUSAL));
        return Err(blame_values(err, &reply, &compiled.recipe, params));
    }
    Ok(reply)
}

/// The last request, once for each item of an earlier answer, in their order.
async fn run_for_each(
    compiled: &CompiledRecipe,
    params: &BTreeMap<String, String>,
    steps: StepRun<'_>,
    transport: &dyn Transport,
    out: &mut RecipeRunResult,
) -> Result<()> {
    let join = &compiled.joined;
    let mut items = steps.per_item(join)?;
    let mut pauses = PauseBudget::default();
    let mut is_further = false;
    while let Some(values) = items.values()? {
        if is_further {
            tokio::time::sleep(ITEM_PACE).await;
        }
        is_further = true;
        let mut request = compiled.request.fill(&values)?;
        request.own_host.clone_from(&compiled.recipe.own_host);
        out.status_code = None;
        let reply = match send(compiled, params, &request, transport, out).await {
            Ok(it) => it,
            Err(_) if out.status_code.is_some_and(is_gone) => {
                items.take(join, None);
                continue;
            }
            Err(err) => {
                // The site says how long it wants to be left alone.
                if err.code() == Code::RateLimited
                    && let Some(pause) = pauses.take(out.retry_after_sec)
                {
                    tokio::time::sleep(pause).await;
                    continue;
                }
                return Err(err.context(&items.describe()));
            }
        };
        let taken = compute_answer(&reply, || read_answer(compiled, &reply, out)).await?;
        let answer = match taken {
            Ok(it) => Some(it.data),
            // The site has nothing for this one any more.
            Err(err) if err.code() == Code::ExtractEmpty => None,
            Err(err) => return Err(err.context(&items.describe())),
        };
        items.take(join, answer);
    }
    out.raw_response = None;
    out.retry_after_sec = None;
    let ItemAnswers { data, total, left, missing } = items.finish()?;
    let length = Length { total: Some(total as u64), complete: Some(left == 0) };
    let count = data.as_array().map(|it| it.len() as u64);
    let taken =
        Extraction { items: count, data, whole: None, length, echoed: BTreeMap::new(), next: None };
    work::compute(work::ANSWER, || finish(compiled, params, steps.answers(), taken, out)).await??;
    if missing > 0 {
        out.warnings.push(format!("the site has no answer for {missing} of {total} items"));
    }
    if left > 0 {
        out.warnings
            .push(format!("one call for each of the first {MAX_CALLS} items; {left} are left out"));
    }
    Ok(())
}

/// Bytes of an answer that is first read on the thread of its run, within a small budget.
const SHORT_ANSWER: usize = 64 * 1024;

/// Reads an answer within its budget. Fails as [`work::compute`].
async fn compute_answer<T>(reply: &Reply, read: impl FnMut() -> T + Send) -> Result<T> {
    if reply.body.len() <= SHORT_ANSWER {
        work::compute_short(work::ANSWER, read).await
    } else {
        work::compute(work::ANSWER, read).await
    }
}

/// Takes the data from the answer to the last request.
fn read_answer(
    compiled: &CompiledRecipe,
    reply: &Reply,
    out: &mut RecipeRunResult,
) -> Result<Extraction> {
    let start = Instant::now();
    let mime = reply.mime();
    // A recording says of a file what it was; a site may not say it in its place.
    if mime == file_facts::RECORDED && out.transport_used != TransportKind::Stub {
        return Err(Error::new(
            Code::ParseError,
            "the answer is not a file, it only describes one",
        )
        .hint("the site may have changed; learn the recipe again"));
    }
    let extracted = compiled.extractor.apply(HttpAnswer {
        mime: &mime,
        headers: &reply.headers,
        url: &reply.url,
        body: &reply.body,
    });
    out.timings_ms.extract += millis(start.elapsed().as_micros() as u64);
    extracted
}

/// Puts the answers together, and compares what that gives with what was verified.
fn finish(
    compiled: &CompiledRecipe,
    params: &BTreeMap<String, String>,
    answers: &BTreeMap<String, Value>,
    extracted: Extraction,
    out: &mut RecipeRunResult,
) -> Result<()> {
    let extracted = compiled.joined.apply(answers, extracted)?;
    let start = Instant::now();
    let alike = shape_similarity(compiled, &extracted);
    out.timings_ms.shape = millis(start.elapsed().as_micros() as u64);
    let warnings = warnings(&compiled.recipe, params, &extracted.data, &extracted.echoed);
    if let Some(it) = &compiled.recipe.verification
        && alike.is_some_and(|it| it < MIN_SIMILARITY_BP)
    {
        out.blank_fields = blank_fields(&compiled.recipe.response, &it.shape, &extracted);
    }
    out.similarity_bp = alike;
    out.items = extracted.items;
    out.total = extracted.length.total;
    out.complete = extracted.length.complete;
    out.next = extracted.next;
    out.data = extracted.data;
    out.warnings = warnings;
    alike.map_or(Ok(()), check_shape)
}

/// 401 and 403 are `AUTH_REQUIRED`, 429 `RATE_LIMITED`, 5xx `SERVER_ERROR`, all else outside 2xx `HTTP_STATUS`.
pub fn check_status(reply: &Reply) -> Result<()> {
    let status = reply.status;
    let (code, hint) = match status {
        200..=299 => return Ok(()),
        401 | 403 => (Code::AuthRequired, "the site requires a session, or refuses the request"),
        429 => (Code::RateLimited, "wait, then try again"),
        500..=599 => (Code::ServerError, "the site has an error; try again later"),
        _ => (Code::HttpStatus, "the site may have changed; learn the recipe again"),
    };
    Err(Error::new(code, format!("the site answered {status}")).hint(hint))
}

/// A request that the site calls wrong, where a value that the recipe needs was left empty: that is the caller's, and
/// `PARAM_INVALID`. Nothing at the address that values make is `NOT_FOUND`. All else is the error as it was.
fn blame_values(
    err: Error,
    reply: &Reply,
    recipe: &Recipe,
    params: &BTreeMap<String, String>,
) -> Error {
    let is_empty = |it: &&Parameter| {
        it.required && params.get(&it.name).is_some_and(|value| value.trim().is_empty())
    };
    let Some(empty) = recipe.parameters.iter().find(is_empty) else {
        let takes_values = recipe.parameters.iter().any(|it| it.required);
        return match reply.status {
            status @ (404 | 410) if takes_values => Error::new(
                Code::NotFound,
                format!("the site has no data for these values: it answered {status}"),
            )
            .hint("check the values; `commis recipe check` says whether the recipe works"),
            _ => err,
        };
    };
    if !matches!(reply.status, 400 | 404 | 422) {
        return err;
    }
    let (status, name) = (reply.status, &empty.name);
    Error::new(
        Code::ParamInvalid,
        format!("the site answered {status}, probably because `{name}` is empty"),
    )
    .hint(format!("give `{name}` a value"))
}

/// What of a verified recipe's data is not as its proof says.
fn warnings(
    recipe: &Recipe,
    params: &BTreeMap<String, String>,
    data: &Value,
    echoed: &BTreeMap<String, Value>,
) -> Vec<String> {
    let Some(proof) = &recipe.verification else { return Vec::new() };
    let declared = values::declared_words(&recipe.parameters, params);
    let mut out = examples::warnings(&proof.examples, declared.as_ref(), data);
    out.extend(proof.substitute.as_ref().and_then(|it| examples::substitute_warning(it, data)));
    for (name, said) in echoed {
        if let Some(value) = params.get(name).filter(|value| !is_echo(said, value)) {
            let said: String = said.to_string().chars().take(60).collect();
            out.push(format!("the answer is for {said}, not for {value:?}"));
        }
    }
    out
}

/// How alike the data is to what was verified, basis points; `None` when nothing was.
fn shape_similarity(compiled: &CompiledRecipe, extracted: &Extraction) -> Option<u32> {
    let shape = compiled.shape.as_ref()?;
    let response = &compiled.recipe.response;
    let verified = compiled.recipe.verification.as_ref();
    if let Some(it) = verified
        && let Some(alike) = similarity_of_present_parts(compiled, &it.shape, &extracted.data)
    {
        return Some(alike);
    }
    Some(match verified.filter(|_| response.html.is_some()) {
        Some(it) => similarity_bp(response, &it.shape, &fingerprint(response, extracted)),
        None => shape.similarity_bp(&extracted.data),
    })
}

/// The same without the parts of the data that are missing, where steps may be: each is a field that is `null`.
fn similarity_of_present_parts(
    compiled: &CompiledRecipe,
    shape: &[String],
    data: &Value,
) -> Option<u32> {
    let has_optional = compiled.recipe.steps_before().iter().any(|it| it.optional);
    let mut present = data.as_object().filter(|_| has_optional)?.clone();
    let parts: Vec<String> = present
        .iter()
        .filter(|it| it.1.is_null())
        .flat_map(|it| shape::paths(&json!({ it.0: null })))
        .filter_map(|it| Some(it.strip_suffix(":null")?.to_owned()))
        .collect();
    if parts.is_empty() {
        return None;
    }
    present.retain(|_, it| !it.is_null());
    let is_part = |path: &&String| {
        parts.iter().any(|part| {
            path.strip_prefix(part.as_str()).is_some_and(|it| it.starts_with([':', '.', '[']))
        })
    };
    let left: Vec<String> = shape.iter().filter(|it| !is_part(it)).cloned().collect();
    Some(VerifiedShape::new(&left).similarity_bp(&Value::Object(present)))
}

/// Fails with `SHAPE_DRIFT` when that is not alike enough.
fn check_shape(alike: u32) -> Result<()> {
    if alike >= MIN_SIMILARITY_BP {
        return Ok(());
    }
    Err(Error::new(
        Code::ShapeDrift,
        format!(
            "the shape of the answer is only {}.{:02} % similar to the verified one",
            alike / 100,
            alike % 100
        ),
    )
    .hint("check the data; if the site changed, learn the recipe again"))
}

impl RecipeRunResult {
    /// A run of which nothing is known yet.
    pub fn new(transport: TransportKind) -> Self {
        Self {
            success: false,
            data: Value::Null,
            file: None,
            raw_response: None,
            status_code: None,
            error: None,
            error_code: None,
            hint: None,
            retryable: false,
            retry_after_sec: None,
            attempts: 0,
            auth_recovery_triggered: false,
            auth_recovery: None,
            transport_used: transport,
            fallback_from: None,
            redirect_hops: 0,
            timings_ms: RunTimings::default(),
            items: None,
            filtered: None,
            total: None,
            pages: None,
            continue_from: None,
            next: None,
            complete: None,
            warnings: Vec::new(),
            example_holds: false,
            blank_fields: Vec::new(),
            similarity_bp: None,
        }
    }

    /// One that ended before anything was sent.
    pub fn from_error(transport: TransportKind, err: &Error) -> Self {
        let mut out = Self::new(transport);
        out.fail(err);
        out
    }

    /// Replaces known values wherever the site's words are.
    fn hide(&mut self, known: &SecretFilter) {
        known.hide_in(&mut self.data);
        for it in [&mut self.raw_response, &mut self.error, &mut self.hint].into_iter().flatten() {
            *it = known.hide(it).into_owned();
        }
    }

    fn recover(&mut self, compiled: &CompiledRecipe, reply: &Reply) {
        self.auth_recovery = auth_recovery(&compiled.recipe, &compiled.host, reply);
        self.auth_recovery_triggered = self.auth_recovery.is_some();
    }

    /// A record with empty fields is the answer after all: the example still has text there.
    pub fn accept_blank_fields(&mut self) {
        self.success = true;
        (self.error, self.error_code, self.hint) = (None, None, None);
        self.warnings.extend(self.blank_fields.iter().map(|it| format!("`{it}` is empty")));
    }

    /// It ended in that.
    pub fn fail(&mut self, err: &Error) {
        self.success = false;
        self.error = Some(err.to_string().chars().filter(|it| !it.is_control()).collect());
        self.error_code = Some(err.code().as_str());
        let next = self.auth_recovery.as_ref().map(|it| it.next.clone());
        self.hint = next.or_else(|| err.hint_text().map(str::to_owned));
        self.retryable = err.code().retryable();
    }
}

fn truncated_text(body: &[u8], most: usize) -> String {
    let mut text = String::from_utf8_lossy(&body[..body.len().min(most)]).into_owned();
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

fn millis(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

#[cfg(test)]
mod conformance_tests;
#[cfg(test)]
mod json_schema_tests;
#[cfg(test)]
mod library_tests;
#[cfg(test)]
mod tests;
