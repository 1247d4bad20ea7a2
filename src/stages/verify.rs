//! verify: does it answer inputs it was not learned from?
//!
//! Each transport in ascending risk runs A, B, A like a stranger would: no cookies of the recorded session, no cache. B must
//! have the baseline's shape, differ from A by more than A differs from itself, and hold something that the second page
//! showed. A parameter whose change changes nothing is not a parameter.

mod emptiness;
mod list_length;
mod needed;
mod page_parts;

use std::collections::BTreeMap;

use serde_json::Value;

pub use super::replay::MARGIN_BP;
use super::{
    follow::{measure_followed, only_repeats},
    gaps::{incomplete_reason, lost_columns_reason},
    length::{self, ProofAnswer, more_than_shown},
    login::OwnAnswer,
    page_evidence::seen_on_page,
    refutation::{Failure, Halt, Proof, final_, freeze_optional, require_answer},
    replay::{
        Observation, ReplayCall, Replayer, data_difference_bp, example_answer, holds_bp,
        is_reordered, observe, passing,
    },
    witness::{asks_for_order, coverage, named_group},
};
use commis_artifacts::{
    payloads::{BaselineFingerprint, NO_EFFECT, RecipeDraftMinimized, Replay, VerificationReport},
    recording::ShownBlock,
};
use commis_base::error::{Code, Error, Result};
use commis_recipe::{
    column_types::infer_types,
    model::{Framing, ResponseSpec, TransportKind},
    pagination::{Length, find_echoes},
};

/// What the manifest says of answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// Checked on every replay, as the paths are.
    pub min_items: Option<u32>,
    /// `hits[].title`
    pub required_paths: Vec<String>,
    /// Examples after the second: each has to be answered, and the first of them that has data stands in for a second
    /// example that rightly finds nothing, or the same.
    pub further: Vec<BTreeMap<String, String>>,
}

/// A report of which nothing is known yet.
fn blank_report(draft: &RecipeDraftMinimized) -> VerificationReport {
    VerificationReport {
        verified: false,
        reason: None,
        transport: draft.transport,
        requires_session: draft.transport.uses_session(),
        effective: Vec::new(),
        frozen: Vec::new(),
        needless: Vec::new(),
        shape: None,
        replays: Vec::new(),
        fell_back: false,
        coverage: Vec::new(),
        empty: None,
        substitute: None,
        second: None,
        profile: None,
        examples: Vec::new(),
        echo: BTreeMap::new(),
        page_info: None,
        first_page: None,
        pages: None,
        html: None,
        types: BTreeMap::new(),
        login: None,
        stranger: None,
        stranger_sha256: None,
    }
}

/// Why no replay can prove the draft.
fn unprovable(draft: &RecipeDraftMinimized, for_login: bool) -> Option<String> {
    if draft.captured_only {
        let why = if draft.needs_login { STRANGER_REFUSED } else { "captured_only" };
        return Some(why.to_owned());
    }
    // Any two examples agree with it now, and none will tomorrow.
    if let Some(part) = &draft.moment {
        return Some(format!(
            "{part} is the time of the recording: the answer would be about that time for ever"
        ));
    }
    if draft.second.is_none() && draft.parameters.iter().any(|it| it.required) {
        return Some(Code::NeedsSecondExampleForVerify.as_str().to_owned());
    }
    let part = draft.account_part.as_ref().filter(|_| for_login)?;
    Some(format!(
        "{part} came with a page of the login and may be its account's number: a second account's login tells, --second-login NAME"
    ))
}

/// Observes: between two and about a dozen replays, never from a cache.
pub async fn verify(
    replayer: &mut dyn Replayer,
    draft: &RecipeDraftMinimized,
    baseline: &BaselineFingerprint,
    expect: &Expectation,
) -> Result<VerificationReport> {
    let mut report = blank_report(draft);
    // What less risky transports are answered was looked at before, and proves nothing of what a login gets.
    let for_login = replayer.logins() > 0 && draft.transport.sends_cookies();
    if let Some(why) = unprovable(draft, for_login) {
        report.reason = Some(why);
        freeze_optional(draft, &mut report);
        return Ok(report);
    }
    let mut response = draft.response.clone();
    response.min_items = response.min_items.max(expect.min_items);
    response.required_paths.clone_from(&expect.required_paths);
    // Whether an answer without items is one is asked for in the end.
    response.empty = None;
    // The first failure of a transport that may pass: while one was not heard, what the others said is no verdict.
    let mut transient = None;
    let mut refuted = false;
    let transports = replayer.transports().into_iter().filter(|it| *it != TransportKind::Stub);
    for (i, transport) in transports.filter(|it| *it >= draft.transport || !for_login).enumerate() {
        let mut run = Run {
            replayer,
            draft,
            baseline,
            response: response.clone(),
            ahead: None,
            further: &expect.further,
            transport,
            report: &mut report,
            answers: Vec::new(),
            without: Vec::new(),
            length: Length::default(),
            paged_by: None,
            sized_by: None,
            turns_page: false,
        };
        let proof = match run.all().await {
            Ok((answer, noise_bp)) if transport.sends_cookies() && run.replayer.logins() > 0 => {
                let response = run.response.clone();
                let own = OwnAnswer {
                    draft,
                    response: &response,
                    shape: &baseline.shape,
                    transport,
                    answer: &answer,
                    noise_bp,
                };
                own.proof(run.replayer, &mut run.report.replays).await
            }
            other => other.map(|_| None),
        };
        match proof {
            Ok(login) => {
                if let Some(it) = login {
                    it.note_in(&mut report);
                }
                report.verified = true;
                report.reason = None;
                report.transport = transport;
                report.requires_session = transport.uses_session();
                report.fell_back = i > 0;
                return Ok(report);
            }
            Err(Halt::Failed(err)) => return Err(err),
            Err(Halt::Refuted(why)) => {
                transient =
                    transient.or_else(|| why.transient.map(|code| (code, why.text.clone())));
                report.reason = Some(why.text);
                report.effective.clear();
                report.frozen.clear();
                report.empty = None;
                report.second = None;
                report.profile = None;
                report.examples.clear();
                report.echo.clear();
                report.page_info = None;
                report.first_page = None;
                report.pages = None;
                report.html = None;
                report.shape = None;
                // A parameter without effect by one transport has none by another.
                if why.is_final {
                    refuted = true;
                    break;
                }
            }
        }
    }
    // What is wrong by every transport stays wrong.
    if let Some((code, text)) = transient.filter(|_| !refuted) {
        return Err(Error::new(code, format!("the recipe could not be verified now: {text}"))
            .hint("run the same command again with --resume"));
    }
    freeze_optional(draft, &mut report);
    Ok(report)
}

/// Share of the captured leaves that a replay must hold. Redaction and change take some.
const HELD_BP: u32 = 5000;
/// All of them.
const ALL_BP: u32 = 10_000;

/// What no site has anything on, and none takes for an attack.
const NOBODYS_WORDS: [&str; 2] = ["zqvwxkyj", "wkzjqyvx"];

const STRANGER_REFUSED: &str = "a stranger is not answered as the recorded session was: seal a login of the site with `commis session login`, and learn again with --login NAME";

/// The first example once more.
const AGAIN: &str = "A again";

const REORDERED: &str =
    "the page shows the items in another order than the answer, and the task asks for one";

const ONLY_REPEATS: &str = "the answers to both examples differ in nothing but what was asked for: no value follows the input";

const NOTHING_SEEN: &str =
    "the answer is not the one that was recorded, or none was, and no page shows that it is right";

struct Run<'a, 'r> {
    replayer: &'r mut dyn Replayer,
    draft: &'a RecipeDraftMinimized,
    baseline: &'a BaselineFingerprint,
    response: ResponseSpec,
    /// The answer to the second example, where it was looked at before.
    ahead: Option<Observation>,
    further: &'a [BTreeMap<String, String>],
    transport: TransportKind,
    report: &'r mut VerificationReport,
    /// The answers A and B.
    answers: Vec<ProofAnswer>,
    /// Answers without items.
    without: Vec<ProofAnswer>,
    /// What A says of the length of its list.
    length: Length,
    /// The parameter whose next value gave further items, and the one that says how many there are at most.
    paged_by: Option<String>,
    sized_by: Option<String>,
    /// A parameter's next value asks for another part of the list, with items or without.
    turns_page: bool,
}

/// An answer to values that differ from the first example's.
struct OtherAnswer {
    values: BTreeMap<String, String>,
    data: Value,
}

impl Run<'_, '_> {
    /// The answer to the first example, and by how much it differs from itself, basis points.
    async fn all(&mut self) -> Proof<(Value, u32)> {
        self.replayer.fresh();
        let first = self.draft.first.clone();
        let mut a = self.observe_data("A", &first).await?;
        let Some(second) = self.draft.second.clone() else {
            // No parameter: two consecutive matching replays (seed 1.3.1).
            self.covers(&a, None)?;
            let again = self.observe_data(AGAIN, &first).await?;
            self.report.examples = vec![example_answer(&first, &[&a, &again])];
            let noise = data_difference_bp(&a, &again);
            self.optional(&first, &a, noise).await?;
            self.is_long_enough(&a).await?;
            return Ok((a, noise));
        };
        if self.widens(&second).await? {
            self.answers.clear();
            a = self.observe_data("A", &first).await?;
        }
        let b = self.second_answer(&second).await?;
        let again = self.observe_data(AGAIN, &first).await?;
        let noise = data_difference_bp(&a, &again);
        let differs = |it: &Value| data_difference_bp(&a, it) > noise + MARGIN_BP;
        let others = self.others(&first).await?;
        match &b {
            Some(b) if differs(b) => {
                let witnessed = self.covers(&a, Some(b))?;
                if only_repeats((&a, &first), (b, &second)) {
                    return Err(final_(ONLY_REPEATS).into());
                }
                self.is_the_data(&a, b, &second, witnessed)?;
                self.is_all_of_it(&a, b)?;
            }
            // It says the same of other values, and did so when it was recorded.
            Some(_) if !self.recorded_the_same() => return Err(final_(NO_EFFECT).into()),
            _ => {
                let Some(other) = others.iter().find(|it| differs(&it.data)) else {
                    return Err(final_(NO_EFFECT).into());
                };
                self.report.second = Some(other.values.clone());
                self.covers(&a, None)?;
                self.is_seen()?;
            }
        }
        self.say_so()?;
        if let Some(b) = &b {
            self.needs_steps(&second, b, noise).await?;
        }
        self.keep_examples((&first, &a, &again), b.as_ref().map(|it| (&second, it)));
        let second = self.report.second.clone().unwrap_or(second);
        self.each(&first, &second, &others, &a, noise).await?;
        self.optional(&first, &a, noise).await?;
        if a.is_array() && self.draft.assembly.is_none() {
            self.report.empty = self.nothing(&first).await?;
        }
        self.is_long_enough(&a).await?;
        Ok((a, noise))
    }

    /// Keeps what the examples were answered, and by what fields answers say what they were asked for.
    fn keep_examples(
        &mut self,
        (first, a, again): (&BTreeMap<String, String>, &Value, &Value),
        second: Option<(&BTreeMap<String, String>, &Value)>,
    ) {
        let own = example_answer(first, &[a, again]);
        let stable = own.digests.keys().cloned().collect();
        let other =
            second.map(|(values, b)| example_answer(values, &[b]).retain_keys_except(&stable));
        self.report.examples = std::iter::once(own).chain(other).collect();
        if let Some(html) = &self.response.html {
            let answers: Vec<&Value> = std::iter::once(a).chain(second.map(|it| it.1)).collect();
            self.report.types = infer_types(&html.fields, &answers);
        }
        if let (
            [ProofAnswer { whole: Some(a), .. }, ProofAnswer { whole: Some(b), .. }],
            Some((values, _)),
        ) = (&self.answers[..], second)
        {
            self.report.echo = find_echoes((a, first), (b, values));
        }
    }

    /// What was typed into the answers of the proof, and more.
    fn typed<'t>(&'t self, more: &[&'t str]) -> Vec<&'t str> {
        let examples = [Some(&self.draft.first), self.draft.second.as_ref()];
        let values = examples.into_iter().flatten().chain(self.further).flat_map(BTreeMap::values);
        values.map(String::as_str).chain(more.iter().copied()).collect()
    }

    /// The answer to the second example; `None` where it finds nothing, which further examples may show to be right.
    async fn second_answer(&mut self, second: &BTreeMap<String, String>) -> Proof<Option<Value>> {
        match self.observe_data("B", second).await {
            Ok(it) if !is_none(&it) => Ok(Some(it)),
            Ok(_) if self.second_had_data() => Err(final_(
                "the second answer is empty, and what was recorded of it is not",
            )
            .into()),
            Ok(_) if self.further.is_empty() => Err(final_(
                "the second example finds nothing, which proves nothing: a third one may find something",
            )
            .into()),
            Ok(_) => Ok(None),
            Err(Halt::Refuted(why))
                if why.transient.is_none()
                    && !self.further.is_empty()
                    && !self.second_had_data() =>
            {
                if self.finds_nothing("B without items", second).await? {
                    Ok(None)
                } else {
                    Err(why.into())
                }
            }
            Err(why) => Err(why),
        }
    }

    /// Answers with data to the examples after the second. Each has to be answered; they may rightly find nothing.
    async fn others(&mut self, first: &BTreeMap<String, String>) -> Proof<Vec<OtherAnswer>> {
        let mut out = Vec::new();
        for (i, values) in (3..).zip(self.further) {
            let is_secret = |it: &String| commis_redact::redact_written(it) != *it;
            // Of a draft with other parameters than the task.
            if !values.keys().eq(first.keys()) || values == first || values.values().any(is_secret)
            {
                continue;
            }
            match self.observe_data(&format!("example {i}"), values).await {
                // Finding nothing proves nothing of the others.
                Ok(data) if is_none(&data) => {}
                Ok(data) => out.push(OtherAnswer { values: values.clone(), data }),
                Err(Halt::Refuted(why)) if why.transient.is_none() => {
                    if !self.finds_nothing(&format!("example {i} without items"), values).await? {
                        return Err(why.into());
                    }
                }
                Err(why) => return Err(why),
            }
        }
        Ok(out)
    }

    /// The answers hold what the pages showed, whole. Whether B's page said anything.
    fn covers(&mut self, a: &Value, b: Option<&Value>) -> Result<bool, Failure> {
        let Some(witness) = &self.draft.witness else { return Ok(false) };
        self.report.coverage.clear();
        if let Some(rival) = &witness.rival {
            let name = |it: &ShownBlock| -> String {
                let first = it.rows.first().into_iter().flatten().flatten().next();
                let text = it.heading.as_ref().or(first).map_or("", String::as_str);
                text.chars().take(60).collect()
            };
            return Err(final_(&format!(
                "the page shows two blocks that follow the input, {:?} and {:?}; the task speaks of the second, which says far less",
                name(&witness.first),
                name(rival)
            )));
        }
        let pages = [(Some(a), Some(&witness.first)), (b, witness.second.as_ref())];
        let mut group = None;
        let mut judged: Vec<ShownBlock> = Vec::new();
        for (data, shown) in pages {
            let (Some(data), Some(shown)) = (data, shown) else { continue };
            let typed = if self.report.coverage.is_empty() {
                Some(&self.draft.first)
            } else {
                self.draft.second.as_ref()
            };
            let judge = |shown: &ShownBlock| {
                let it = coverage(data, shown, &witness.task);
                let disordered = it.reordered && asks_for_order(&witness.task, &self.draft.first);
                let why = incomplete_reason(&it)
                    .or_else(|| self.beside(data, shown))
                    .or_else(|| {
                        lost_columns_reason(data, shown).filter(|_| {
                            self.response.kind == commis_recipe::model::ResponseType::Html
                        })
                    })
                    .or_else(|| disordered.then(|| REORDERED.to_owned()));
                (it, why)
            };
            let (mut it, mut why) = judge(shown);
            let mut block = shown.clone();
            // Of a list in groups the task may ask for one.
            if it.held < it.shown
                && let Some(one) = typed.and_then(|typed| named_group(shown, &witness.task, typed))
                && group.get_or_insert(one.heading.clone()) == &one.heading
            {
                (it, why) = judge(&one);
                block = one;
                let heading = block.heading.as_deref().unwrap_or_default();
                it.left_out.push(format!("groups beside {heading:?}"));
            }
            self.report.coverage.push(it);
            if let Some(why) = why {
                return Err(final_(&why));
            }
            judged.push(block);
        }
        let (Some(b), [first, second], Some(values)) = (b, &judged[..], &self.draft.second) else {
            return Ok(false);
        };
        let given = measure_followed(b, (second, values), (first, &self.draft.first));
        if given.is_too_little() {
            return Err(final_(&format!(
                "the answer lacks nearly all that follows the input on the page: {}",
                given.missing.join(", ")
            )));
        }
        // What both pages show alike is no evidence.
        Ok(given.following > 0)
    }

    /// A page has no more items than it shows: what selectors find beside them is something else.
    fn beside(&self, data: &Value, shown: &ShownBlock) -> Option<String> {
        let html = self.response.html.as_ref().filter(|it| !it.single)?;
        let given = more_than_shown(data, shown)?;
        Some(format!("`{}` means {given} items where the page showed {}", html.items, shown.count))
    }

    /// What the second recording captured, or its page, held items.
    fn second_had_data(&self) -> bool {
        self.draft.captured.as_ref().is_some_and(|it| !it.second.is_empty())
            || self.draft.witness.as_ref().is_some_and(|it| it.second.is_some())
    }

    /// The second recording captured the answer that the first did.
    fn recorded_the_same(&self) -> bool {
        self.draft.captured.as_ref().is_some_and(|it| !it.first.is_empty() && it.first == it.second)
    }

    /// The first answer was held against something of the recording.
    fn is_seen(&self) -> Result<(), Failure> {
        if self.draft.compared || self.draft.witness.is_some() {
            return Ok(());
        }
        Err(final_(NOTHING_SEEN))
    }

    /// B is what was asked for: what the second recording captured, and what its page showed.
    fn is_the_data(
        &self,
        a: &Value,
        b: &Value,
        values: &BTreeMap<String, String>,
        witnessed: bool,
    ) -> Result<(), Failure> {
        // A file is the one that the page got, or another one: no page shows a part of it.
        let is_file = self.response.framing == Some(Framing::File);
        let mut evidence = self.draft.compared && !(is_file && self.draft.captured.is_some());
        let bar = if is_file { ALL_BP } else { HELD_BP };
        if let Some(captured) = &self.draft.captured
            && !captured.first.is_empty()
            && !captured.second.is_empty()
            && holds_bp(a, &captured.first) >= bar
        {
            evidence = true;
            if holds_bp(b, &captured.second) < bar {
                return Err(final_(
                    "the second answer is not the one that the second recording captured",
                ));
            }
        }
        // Every item of the second page is more than a line of it.
        if witnessed {
            evidence = true;
        } else if !self.draft.second_seen.is_empty() && !is_file {
            evidence = true;
            if !seen_on_page((a, &self.draft.first), (b, values), &self.draft.second_seen) {
                return Err(final_(
                    "nothing of the second answer was on the second page: it is not the data asked for",
                ));
            }
        }
        if evidence { Ok(()) } else { Err(final_(NOTHING_SEEN)) }
    }

    /// With several parameters, each alone must change the data.
    async fn each(
        &mut self,
        first: &BTreeMap<String, String>,
        second: &BTreeMap<String, String>,
        others: &[OtherAnswer],
        a: &Value,
        noise: u32,
    ) -> Proof<()> {
        let mut differing = Vec::new();
        for (name, value) in first {
            let all = std::iter::once(second).chain(others.iter().map(|it| &it.values));
            let Some(other) = all.filter_map(|it| it.get(name)).find(|it| *it != value) else {
                return Err(final_(&format!(
                    "{} examples give `{name}` the same value, so its effect is unknown",
                    if others.is_empty() { "both" } else { "all" }
                ))
                .into());
            };
            differing.push((name, other));
        }
        if let [(name, _)] = differing[..] {
            self.report.effective.push(name.clone());
            return Ok(());
        }
        for (name, other) in differing {
            let mut values = first.clone();
            values.insert(name.clone(), other.clone());
            let what = format!("A with {name} of B");
            let seen = self.observe(&what, &values).await?;
            require_answer(&what, &seen.replay)?;
            let changed = match &seen.data {
                // An answer that is refused or empty has changed too.
                None => true,
                Some(it) => data_difference_bp(a, it) > noise + MARGIN_BP || is_reordered(a, it),
            };
            if !changed {
                return Err(final_(&format!("parameter `{name}` has no effect")).into());
            }
            self.report.effective.push(name.clone());
        }
        Ok(())
    }

    /// Paging parameters stay only if the next value gives other data of the same shape.
    async fn optional(
        &mut self,
        first: &BTreeMap<String, String>,
        a: &Value,
        noise: u32,
    ) -> Proof<()> {
        let optional = self.draft.parameters.iter().filter(|it| !it.required);
        for it in optional {
            let value: i64 = it.default.as_deref().and_then(|it| it.parse().ok()).unwrap_or(0);
            let is_size = value >= 5;
            let mut values = first.clone();
            values.insert(it.name.clone(), if is_size { value / 2 } else { value + 1 }.to_string());
            let what = format!("A with {} changed", it.name);
            let seen = self.observe(&what, &values).await?;
            // A timeout says nothing of the parameter, and a constant in its place would stay.
            require_answer(&what, &seen.replay)?;
            let effect = seen.good()
                && seen
                    .data
                    .as_ref()
                    .is_some_and(|it| data_difference_bp(a, it) > noise + MARGIN_BP);
            if effect {
                self.report.effective.push(it.name.clone());
                let items = a.as_array().map(Vec::len);
                let given = seen.replay.items.unwrap_or(0);
                self.turns_page |= !is_size;
                if is_size && items == usize::try_from(value).ok() && given == value as u64 / 2 {
                    self.sized_by = Some(it.name.clone());
                } else if !is_size && given > 0 {
                    self.paged_by = Some(it.name.clone());
                }
            } else {
                self.report.frozen.push(it.name.clone());
            }
        }
        Ok(())
    }

    async fn observe_data(
        &mut self,
        what: &str,
        values: &BTreeMap<String, String>,
    ) -> Proof<Value> {
        let seen = match self.ahead.take_if(|_| what == "B") {
            Some(it) => it,
            None => self.observe(what, values).await?,
        };
        if seen.replay.code.is_none() && self.answers.len() < 2 && what != AGAIN {
            if self.answers.is_empty() {
                self.length = seen.length;
                if self.draft.assembly.is_some() {
                    self.report.shape = Some(seen.shape.clone());
                }
            }
            let data = seen.data.clone();
            self.answers.push(ProofAnswer::from_observation(seen));
            return Ok(data.unwrap_or(Value::Null));
        }
        if let Some(code) = &seen.replay.code {
            let detail = seen.replay.detail.clone().unwrap_or_default();
            return Err(Failure {
                text: format!("{what}: {code} ({detail})"),
                is_final: false,
                transient: passing(&seen.replay),
            }
            .into());
        }
        Ok(seen.data.unwrap_or(Value::Null))
    }

    /// The shape that answers have to have; of a request that is sent for items, that of the first example's.
    fn like(&self) -> Option<Vec<String>> {
        match self.draft.assembly {
            Some(_) => self.report.shape.clone(),
            None => Some(self.baseline.shape.clone()),
        }
    }

    async fn observe(
        &mut self,
        what: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<Observation> {
        let response = self.response.clone();
        let like = self.like();
        self.observe_with(what, values, &response, like.as_deref()).await
    }

    async fn observe_with(
        &mut self,
        what: &str,
        values: &BTreeMap<String, String>,
        response: &ResponseSpec,
        like: Option<&[String]>,
    ) -> Result<Observation> {
        let call = ReplayCall {
            transport: self.transport,
            request: &self.draft.request,
            parameters: &self.draft.parameters,
            values,
            slots: &self.draft.slots,
            steps: &self.draft.steps,
            assembly: self.draft.assembly.as_ref(),
        };
        let n = self.report.replays.len() as u32 + 1;
        let seen = observe(self.replayer, call, response, like, n, what).await?;
        if let Some(data) = seen.data.as_ref().filter(|_| seen.good()) {
            self.report.profile.get_or_insert_default().observe(data);
        }
        let replay: Replay = seen.replay.clone();
        self.report.replays.push(replay);
        Ok(seen)
    }
}

pub fn is_none(data: &Value) -> bool {
    data.as_array().is_some_and(Vec::is_empty)
}
