//! verify: does it answer inputs it was not learned from?
//!
//! Each transport in ascending risk runs A, B, A like a stranger would: no cookies of the recorded session, no cache. B must
//! have the baseline's shape, differ from A by more than A differs from itself, and hold something that the second page
//! showed. A parameter whose change changes nothing is not a parameter.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::judge::{
    Call, Observed, Replayer, data_difference_bp, holds_bp, leaf_lines, observe, passing,
};
use super::witness::{asks_for_order, coverage, named_group};
use commis_artifacts::{
    payloads::{
        BaselineFingerprint, Coverage, NO_EFFECT, RecipeDraftMinimized, Replay, VerificationReport,
    },
    recording::ShownBlock,
};
use commis_base::error::{Code, Error, Result};
use commis_recipe::{
    blocks,
    model::{EmptyAnswer, ParamType, Parameter, ResponseSpec, TransportKind},
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

/// Observes: between two and about a dozen replays, never from a cache.
pub async fn verify(
    replayer: &mut dyn Replayer,
    draft: &RecipeDraftMinimized,
    baseline: &BaselineFingerprint,
    expect: &Expectation,
) -> Result<VerificationReport> {
    let mut report = VerificationReport {
        verified: false,
        reason: None,
        transport: draft.transport,
        requires_session: draft.transport.in_session(),
        effective: Vec::new(),
        frozen: Vec::new(),
        replays: Vec::new(),
        fell_back: false,
        coverage: Vec::new(),
        empty: None,
        second: None,
        profile: None,
    };
    if draft.captured_only {
        report.reason = Some("captured_only".to_owned());
        freeze_optional(draft, &mut report);
        return Ok(report);
    }
    // Any two examples agree with it now, and none will tomorrow.
    if let Some(part) = &draft.moment {
        report.reason = Some(format!(
            "{part} is the time of the recording: the answer would be about that time for ever"
        ));
        freeze_optional(draft, &mut report);
        return Ok(report);
    }
    let required = draft.parameters.iter().filter(|it| it.required).count();
    if required > 0 && draft.second.is_none() {
        report.reason = Some(Code::NeedsSecondExampleForVerify.as_str().to_owned());
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
    for (i, transport) in
        replayer.transports().into_iter().filter(|it| *it != TransportKind::Stub).enumerate()
    {
        let mut run = Run {
            replayer,
            draft,
            baseline,
            response: &response,
            further: &expect.further,
            transport,
            report: &mut report,
            pages: Vec::new(),
            without: Vec::new(),
        };
        match run.all().await {
            Ok(()) => {
                report.verified = true;
                report.reason = None;
                report.transport = transport;
                report.requires_session = transport.in_session();
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
        return Err(Error::new(code, format!("could not be verified now: {text}"))
            .hint("run again with --resume"));
    }
    freeze_optional(draft, &mut report);
    Ok(report)
}

/// What was not shown to have an effect is published as a constant.
fn freeze_optional(draft: &RecipeDraftMinimized, report: &mut VerificationReport) {
    report.frozen = draft
        .parameters
        .iter()
        .filter(|it| !it.required && !report.effective.contains(&it.name))
        .map(|it| it.name.clone())
        .collect();
}

/// By how much more than A from itself B must differ from A, basis points: a counter or a stamp in the answer is not an effect.
pub const MARGIN_BP: u32 = 500;
/// Share of the captured leaves that a replay must hold. Redaction and change take some.
const HELD_BP: u32 = 5000;

/// What no site has anything on, and none takes for an attack.
const NOBODYS_WORDS: [&str; 2] = ["zqvwxkyj", "wkzjqyvx"];

const REORDERED: &str =
    "the page shows the items in another order than the answer, and the task asks for one";

const NOTHING_SEEN: &str =
    "the answer is not the one that was recorded, or none was, and no page shows that it is right";

/// Why a transport did not prove the draft.
struct Failure {
    text: String,
    /// No other transport can do better.
    is_final: bool,
    /// The code of a failure that may pass.
    transient: Option<Code>,
}

/// What ends a proof before its end.
enum Halt {
    /// The answers do not prove the draft.
    Refuted(Failure),
    /// The world failed; that says nothing of the draft.
    Failed(Error),
}

impl From<Failure> for Halt {
    fn from(it: Failure) -> Self {
        Self::Refuted(it)
    }
}

impl From<Error> for Halt {
    fn from(it: Error) -> Self {
        Self::Failed(it)
    }
}

type Proof<T> = std::result::Result<T, Halt>;

struct Run<'a, 'r> {
    replayer: &'r mut dyn Replayer,
    draft: &'a RecipeDraftMinimized,
    baseline: &'a BaselineFingerprint,
    response: &'a ResponseSpec,
    further: &'a [BTreeMap<String, String>],
    transport: TransportKind,
    report: &'r mut VerificationReport,
    /// The pages that A and B came in.
    pages: Vec<Vec<u8>>,
    /// Pages in which examples found nothing.
    without: Vec<Vec<u8>>,
}

/// An answer to values that differ from the first example's.
struct Other {
    values: BTreeMap<String, String>,
    data: Value,
}

impl Run<'_, '_> {
    async fn all(&mut self) -> Proof<()> {
        self.replayer.fresh();
        let first = self.draft.first.clone();
        let a = self.one("A", &first).await?;
        let Some(second) = self.draft.second.clone() else {
            // No parameter: two consecutive matching replays (seed 1.3.1).
            self.covers(&a, None)?;
            let again = self.one("A again", &first).await?;
            return self.optional(&first, &a, data_difference_bp(&a, &again)).await;
        };
        let b = self.second_answer(&second).await?;
        let again = self.one("A again", &first).await?;
        let noise = data_difference_bp(&a, &again);
        let differs = |it: &Value| data_difference_bp(&a, it) > noise + MARGIN_BP;
        let others = self.others(&first).await?;
        match &b {
            Some(b) if differs(b) => {
                let witnessed = self.covers(&a, Some(b))?;
                self.is_the_data(&a, b, &second, witnessed)?;
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
        let second = self.report.second.clone().unwrap_or(second);
        self.each(&first, &second, &others, &a, noise).await?;
        self.optional(&first, &a, noise).await?;
        if a.is_array() {
            self.report.empty = match self.response.html {
                Some(_) => self.nothing(&first).await?,
                // The list is there and holds nothing.
                None => Some(EmptyAnswer::default()),
            };
        }
        Ok(())
    }

    /// The answer to the second example; `None` where it finds nothing, which further examples may show to be right.
    async fn second_answer(&mut self, second: &BTreeMap<String, String>) -> Proof<Option<Value>> {
        match self.one("B", second).await {
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
    async fn others(&mut self, first: &BTreeMap<String, String>) -> Proof<Vec<Other>> {
        let mut out = Vec::new();
        for (i, values) in (3..).zip(self.further) {
            let is_secret = |it: &String| commis_redact::written(it) != *it;
            // Of a draft with other parameters than the task.
            if !values.keys().eq(first.keys()) || values == first || values.values().any(is_secret)
            {
                continue;
            }
            match self.one(&format!("example {i}"), values).await {
                // Finding nothing proves nothing of the others.
                Ok(data) if is_none(&data) => {}
                Ok(data) => out.push(Other { values: values.clone(), data }),
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

    /// An example is answered by a list without items, and the manifest does not ask for some.
    async fn finds_nothing(
        &mut self,
        what: &str,
        values: &BTreeMap<String, String>,
    ) -> Proof<bool> {
        let asked_for = self.response.min_items > self.draft.response.min_items;
        Ok(!asked_for && self.is_empty(what, values).await?)
    }

    /// The values are answered by a list without items. Its page is kept, to be looked at by [`say_so`](Self::say_so).
    async fn is_empty(&mut self, what: &str, values: &BTreeMap<String, String>) -> Proof<bool> {
        let mut response = self.response.clone();
        response.min_items = Some(0);
        response.required_paths.clear();
        let seen = self.ask(what, values, &response, None).await?;
        heard(what, &seen.replay)?;
        let is_empty = seen.good() && seen.data.as_ref().is_some_and(is_none);
        if is_empty && self.response.html.is_some() {
            self.without.push(seen.body);
        }
        Ok(is_empty)
    }

    /// Every page without items is built as those with some, and says what they do not say: a login, a challenge or a page that
    /// has changed is none.
    fn say_so(&self) -> Proof<()> {
        if self.without.is_empty() || self.empty_page(&[]).is_some() {
            return Ok(());
        }
        Err(final_("a page without items that an example got does not say that there are none")
            .into())
    }

    /// What tells the pages without items. `typed`: what they were asked for beside the examples.
    fn empty_page(&self, typed: &[&str]) -> Option<EmptyAnswer> {
        let page = |it: &Vec<u8>| blocks::parsed(&String::from_utf8_lossy(it));
        let with: Vec<_> = self.pages.iter().filter_map(page).collect();
        let without: Vec<_> = self.without.iter().map(page).collect::<Option<_>>()?;
        let examples = [Some(&self.draft.first), self.draft.second.as_ref()];
        let values = examples.into_iter().flatten().chain(self.further).flat_map(BTreeMap::values);
        let typed: Vec<&str> = values.map(String::as_str).chain(typed.iter().copied()).collect();
        blocks::empty::learn(
            &without.iter().collect::<Vec<_>>(),
            &with.iter().collect::<Vec<_>>(),
            self.items(),
            &typed,
        )
    }

    /// The selector of the items of a page.
    fn items(&self) -> &str {
        self.response.html.as_ref().map_or("", |it| &it.items)
    }

    /// How the site says that it has nothing, from its answers to words that nobody uses: such a page is no failure later. Two
    /// words, because a line that only one page has may be anything.
    async fn nothing(&mut self, first: &BTreeMap<String, String>) -> Proof<Option<EmptyAnswer>> {
        let is_word = |it: &&Parameter| {
            let limits = &it.constraints;
            it.required
                && it.kind == ParamType::Str
                && limits.one_of.is_empty()
                && limits.format.is_none()
                && first.get(&it.name).is_some_and(|it| it.chars().any(char::is_alphabetic))
        };
        if let Some(it) = self.draft.parameters.iter().find(is_word)
            && self.transport != TransportKind::Stub
        {
            for word in NOBODYS_WORDS {
                if self.without.len() >= NOBODYS_WORDS.len() || self.replayer.spent() {
                    break;
                }
                let mut values = first.clone();
                values.insert(it.name.clone(), word.to_owned());
                if !self.is_empty("nobody's word", &values).await? {
                    break;
                }
            }
        }
        if self.without.is_empty() {
            return Ok(None);
        }
        Ok(self.empty_page(&NOBODYS_WORDS))
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
                "the page shows two lists that follow the input, {:?} and {:?}; the task speaks of the second, which says far less",
                name(&witness.first),
                name(rival)
            )));
        }
        let pages = [(Some(a), Some(&witness.first)), (b, witness.second.as_ref())];
        let mut group = None;
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
                let why = lacking(&it)
                    .or_else(|| self.beside(data, shown))
                    .or_else(|| disordered.then(|| REORDERED.to_owned()));
                (it, why)
            };
            let (mut it, mut why) = judge(shown);
            // Of a list in groups the task may ask for one.
            if it.held < it.shown
                && let Some(one) = typed.and_then(|typed| named_group(shown, &witness.task, typed))
                && group.get_or_insert(one.heading.clone()) == &one.heading
            {
                (it, why) = judge(&one);
                it.left_out.push(format!("groups beside {:?}", one.heading.unwrap_or_default()));
            }
            self.report.coverage.push(it);
            if let Some(why) = why {
                return Err(final_(&why));
            }
        }
        Ok(b.is_some() && witness.second.is_some())
    }

    /// A page has no more items than it shows: what selectors find beside them is something else.
    fn beside(&self, data: &Value, shown: &ShownBlock) -> Option<String> {
        let html = self.response.html.as_ref().filter(|it| !it.single)?;
        let given = data.as_array()?.len();
        let most = shown.count as usize + shown.count as usize / 10 + 1;
        (given > most && !shown.is_record).then(|| {
            format!("`{}` means {given} items where the page showed {}", html.items, shown.count)
        })
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
        let mut evidence = self.draft.compared;
        if let Some(captured) = &self.draft.captured
            && !captured.first.is_empty()
            && !captured.second.is_empty()
            && holds_bp(a, &captured.first) >= HELD_BP
        {
            evidence = true;
            if holds_bp(b, &captured.second) < HELD_BP {
                return Err(final_(
                    "the second answer is not the one that the second recording captured",
                ));
            }
        }
        // Every item of the second page is more than a line of it.
        if witnessed {
            evidence = true;
        } else if !self.draft.second_seen.is_empty() {
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
        others: &[Other],
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
            let seen = self.look(&what, &values).await?;
            heard(&what, &seen.replay)?;
            let changed = match &seen.data {
                // An answer that is refused or empty has changed too.
                None => true,
                Some(it) => data_difference_bp(a, it) > noise + MARGIN_BP,
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
            let seen = self.look(&what, &values).await?;
            // A timeout says nothing of the parameter, and a constant in its place would stay.
            heard(&what, &seen.replay)?;
            let effect = seen.good()
                && seen
                    .data
                    .as_ref()
                    .is_some_and(|it| data_difference_bp(a, it) > noise + MARGIN_BP);
            if effect {
                self.report.effective.push(it.name.clone());
            } else {
                self.report.frozen.push(it.name.clone());
            }
        }
        Ok(())
    }

    async fn one(&mut self, what: &str, values: &BTreeMap<String, String>) -> Proof<Value> {
        let seen = self.look(what, values).await?;
        if self.response.html.is_some() && seen.replay.code.is_none() && self.pages.len() < 2 {
            self.pages.push(seen.body);
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

    async fn look(&mut self, what: &str, values: &BTreeMap<String, String>) -> Result<Observed> {
        self.ask(what, values, self.response, Some(&self.baseline.shape)).await
    }

    async fn ask(
        &mut self,
        what: &str,
        values: &BTreeMap<String, String>,
        response: &ResponseSpec,
        like: Option<&[String]>,
    ) -> Result<Observed> {
        let call = Call {
            transport: self.transport,
            request: &self.draft.request,
            parameters: &self.draft.parameters,
            values,
            slots: &self.draft.slots,
        };
        let n = self.report.replays.len() as u32 + 1;
        let seen = observe(self.replayer, call, response, like, n, what).await?;
        if let Some(data) = seen.data.as_ref().filter(|_| seen.good()) {
            self.report.profile.get_or_insert_default().see(data);
        }
        let replay: Replay = seen.replay.clone();
        self.report.replays.push(replay);
        Ok(seen)
    }
}

fn is_none(data: &Value) -> bool {
    data.as_array().is_some_and(Vec::is_empty)
}

fn final_(text: &str) -> Failure {
    Failure { text: text.to_owned(), is_final: true, transient: None }
}

/// Fails where the site could not be asked now, which says nothing of the draft. A 500 is an answer: sites give it to values that
/// they do not expect.
fn heard(what: &str, replay: &Replay) -> Proof<()> {
    match passing(replay).filter(|_| replay.status != Some(500)) {
        Some(code) => {
            Err(Failure { text: format!("{what}: {code}"), is_final: false, transient: Some(code) }
                .into())
        }
        None => Ok(()),
    }
}

/// Why an answer that covers so much of a page is not the data.
fn lacking(it: &Coverage) -> Option<String> {
    if it.is_whole() {
        return None;
    }
    if it.held == 0 {
        let missing = it.missing.as_deref().unwrap_or_default();
        return Some(format!("it is not what the page showed: {missing:?} is not in the answer"));
    }
    if it.held < it.shown {
        return Some(format!(
            "the answer is only part of what the page showed: {} of {} items, {:?} is missing",
            it.held,
            it.shown,
            it.missing.as_deref().unwrap_or_default()
        ));
    }
    Some(format!(
        "the answer lacks what the task asks for and the page showed: {}",
        it.left_out.join(", ")
    ))
}

/// Fewer characters beside what was typed are on many a page.
const MIN_REST: usize = 3;

/// Whether leaves that only B has stand in lines that only the second page had: two of them, or the only
/// one that B has, if it is no short number. What was typed is cut out of the lines, so it is cut out of leaves too; what then
/// is left of leaves of both, such as `results for`, proves nothing.
fn seen_on_page(
    (a, first): (&Value, &BTreeMap<String, String>),
    (b, second): (&Value, &BTreeMap<String, String>),
    lines: &[String],
) -> bool {
    let all_of_a = leaf_lines(a, usize::MAX);
    let rests_of_a: BTreeSet<String> = all_of_a.iter().filter_map(|it| rest(it, first)).collect();
    let common: BTreeSet<String> = all_of_a.into_iter().collect();
    let typed: Vec<String> = second.values().map(|it| it.to_lowercase()).collect();
    let own: BTreeSet<String> = leaf_lines(b, usize::MAX)
        .into_iter()
        .filter(|it| !common.contains(it))
        .filter_map(|it| match rest(&it, second) {
            Some(rest) => Some(rest).filter(|it| !rests_of_a.contains(it)),
            None => text_of(&it),
        })
        .filter(|it| {
            it.chars().count() >= 2 && !typed.iter().any(|typed| typed.contains(it.as_str()))
        })
        .collect();
    let bounded = |line: &str, leaf: &str| {
        line.match_indices(leaf).any(|(start, it)| {
            let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !word(line[..start].chars().next_back())
                && !word(line[start + it.len()..].chars().next())
        })
    };
    let seen: Vec<&String> =
        own.iter().filter(|leaf| lines.iter().any(|line| bounded(line, leaf))).take(2).collect();
    // A lone short number (a count) is on many a page.
    seen.len() == 2 || (own.len() == 1 && seen.first().is_some_and(|it| it.chars().count() >= 4))
}

/// The value of a leaf line, as pages are compared.
fn text_of(line: &str) -> Option<String> {
    line.split_once('=').map(|it| it.1.trim_matches('"').trim().to_lowercase())
}

/// What is left of a leaf that holds what was typed and more.
fn rest(line: &str, typed: &BTreeMap<String, String>) -> Option<String> {
    let text = text_of(line)?;
    let typed = typed.values().map(|it| it.to_lowercase()).filter(|it| !it.is_empty());
    let rest = typed.fold(text.clone(), |it, typed| it.replace(&typed, " "));
    (rest != text && rest.trim().chars().count() >= MIN_REST).then(|| rest.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn second_page_evidence() {
        let lines: Vec<String> = ["20 m, rolled — $19.90", "12 results for", "blue   — $7.50"]
            .map(str::to_owned)
            .to_vec();
        let values = |it: &str| BTreeMap::from([("q".to_owned(), it.to_owned())]);
        let (first, second) = (values("brass"), values("garden hose"));
        let a = json!([{"name": "lantern", "price": 3, "currency": "usd"}]);
        let check = |b: Value| seen_on_page((&a, &first), (&b, &second), &lines);
        assert!(check(
            json!([{"name": "Garden hose 20 m, rolled", "price": 19.9, "currency": "usd"}, {"name": "Blue garden hose"}])
        ));
        // An echo, a common word, another list.
        assert!(!check(json!({"query": "garden hose", "total": 12})));
        assert!(!check(json!([{"name": "lantern", "price": 3, "currency": "usd"}])));
        assert!(!check(json!([{"name": "Teapot"}, {"name": "Kettle"}])));
        // Leaves that say the same of any input.
        let a = json!({"title": "results for brass", "label": "blue brass"});
        let b = json!({"title": "results for garden hose", "label": "blue garden hose"});
        assert!(!seen_on_page((&a, &first), (&b, &second), &lines));
    }
}
