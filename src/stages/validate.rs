//! validate: a canonical request from the chosen exchange, replayed at once. Nothing is saved that has not worked once.
//!
//! Only the chosen candidate is tried. Falling through to the next best would be a guess below the threshold.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    gaps::form,
    replay::{Observation, ReplayCall, Replayer, holds_bp, leaf_lines, observe, passing},
    request::template,
};
use commis_artifacts::{
    payloads::{Choice, Judged, Reason, RecipeAnalysis, RecipeDraft, Reject, Replay},
    recording::{Driver, EmbeddedJson, Excerpt, Exchange, Listing, Place, SessionRecording},
};
use commis_base::error::{Code, Error, Result};
use commis_recipe::{
    check::check_header,
    framing::{apply_framing, mime},
    model::{HtmlSpec, RequestTemplate, ResponseSpec, Slot, TransportKind},
    pagination::Length,
    shape::similarity_bp,
    template::escape,
};
use commis_runner::{
    MIN_SIMILARITY_BP,
    extract::{Extraction, HttpAnswer, extract, fingerprint},
};

/// Observes: sends the request by each transport, least risky first, until one answers like the recording, and that one once
/// more. An answer of the recorded shape with other values is asked for again with headers that sites answer by.
///
/// Rejects with `needs_login` or `replay_failed`. Fails with `BROWSER_*` and `LIVE_VALUES_LOST`.
pub async fn validate(
    replayer: &mut dyn Replayer,
    recording: &SessionRecording,
    analysis: &RecipeAnalysis,
) -> Result<Judged<RecipeDraft>> {
    let chosen = &analysis.chosen;
    let exchange = recording.exchange(chosen.exchange)?;
    let Some((mut request, slots)) = template(exchange) else {
        let why = "the request has a body of a kind that cannot be written as a template";
        return Ok(Judged::Rejected(Reject::new(Reason::ReplayFailed, why)));
    };
    let captured = captured_shape(exchange, &chosen.response);
    let values = BTreeMap::new();
    let mut sent_away = false;
    let transports = replayer.transports();
    let mut trials = Trials {
        replayer,
        exchange,
        response: &chosen.response,
        like: captured.as_deref(),
        replays: Vec::new(),
    };
    let draft = |request: RequestTemplate, transport| {
        unproven_draft(chosen, carries(exchange), (request, &slots), transport)
    };
    for transport in transports {
        let call = CallTemplate { transport, values: &values, slots: &slots };
        let mut first = trials.observe(call.with_request(&request), "as recorded").await?;
        let mut replay = first.replay.clone();
        if let Some(why) = unlike(exchange, &chosen.response, &first) {
            replay.code = Some(Code::ShapeDrift.as_str().to_owned());
            replay.detail = Some(why.to_owned());
        }
        let good = replay.ok();
        trials.replays.push(replay);
        if !good {
            sent_away |= first.redirected && exchange.redirected_from.is_none();
            continue;
        }
        let captured_only = transport == TransportKind::Stub;
        // The answer may depend on what every client writes in its own way.
        let mut is_other = differs(exchange, &chosen.response, &first);
        if !captured_only
            && is_other
            && let Some((with, seen)) = trials.with_recorded_headers(&call, &request).await?
        {
            (request, first, is_other) = (with, seen, false);
        }
        // A stranger gets an answer too, and a page that asks for a login may be built as the one that was recorded: unless it says
        // the same, only the session can show whether it is the account's.
        let is_strangers =
            trials.replayer.logins() > 0 && !transport.uses_session() && !captured_only;
        if is_strangers && (is_other || !says_the_same(exchange, &chosen.response, &first)) {
            continue;
        }
        let deterministic =
            captured_only || trials.repeats(call.with_request(&request), &first).await?;
        return Ok(Judged::Done(RecipeDraft {
            deterministic,
            captured_only,
            compared: !is_other
                && (captured.is_some()
                    || !first.root_shape.is_empty() && chosen.response.embedded.is_some()),
            shape: first.shape,
            items: first.replay.items,
            replays: trials.replays,
            ..draft(request, transport)
        }));
    }
    let Trials { replayer, replays, .. } = trials;
    // A failure that may pass says nothing about the task: it is an error, and a later run tries again. The last transport is the
    // one that can do most: while it was not heard, what the others said is no verdict.
    if let Some(code) = replays.last().and_then(passing) {
        return Err(not_now(code));
    }
    if recording.driver == Driver::Har
        && replayer.logins() == 0
        && is_signed_in(exchange)
        && let Some((answer, shape)) = self::captured(exchange, &chosen.response).zip(captured)
    {
        return Ok(Judged::Done(RecipeDraft {
            needs_login: true,
            shape,
            items: answer.items,
            replays,
            ..draft(request, TransportKind::ContextRequest)
        }));
    }
    Ok(Judged::Rejected(to_reject(&replays, sent_away)))
}

/// A draft that no answer has proven yet.
fn unproven_draft(
    chosen: &Choice,
    carries: Vec<String>,
    (request, slots): (RequestTemplate, &[Slot]),
    transport: TransportKind,
) -> RecipeDraft {
    RecipeDraft {
        exchange: chosen.exchange,
        second_exchange: chosen.second_exchange,
        request,
        slots: slots.to_vec(),
        response: chosen.response.clone(),
        transport,
        deterministic: true,
        captured_only: true,
        needs_login: false,
        carries,
        compared: false,
        shape: Vec::new(),
        items: None,
        replays: Vec::new(),
    }
}

/// Replays of one request, and what came of them.
struct Trials<'a> {
    replayer: &'a mut dyn Replayer,
    exchange: &'a Exchange,
    response: &'a ResponseSpec,
    /// The recorded shape.
    like: Option<&'a [String]>,
    replays: Vec<Replay>,
}

impl Trials<'_> {
    /// Sends it; the replay is not kept yet. Fails as [`observe`].
    async fn observe(&mut self, call: ReplayCall<'_>, what: &str) -> Result<Observation> {
        let n = self.replays.len() as u32 + 1;
        observe(self.replayer, call, self.response, self.like, n, what).await
    }

    /// The request with recorded headers by which the site gives what was recorded, and its answer. Fails as [`observe`], and with the
    /// code of a failure that may pass.
    async fn with_recorded_headers(
        &mut self,
        call: &CallTemplate<'_>,
        request: &RequestTemplate,
    ) -> Result<Option<(RequestTemplate, Observation)>> {
        for (what, with) in with_ambient_headers(self.exchange, request) {
            if self.replayer.spent() {
                break;
            }
            let seen = self.observe(call.with_request(&with), &what).await?;
            if let Some(code) = passing(&seen.replay) {
                return Err(not_now(code));
            }
            self.replays.push(seen.replay.clone());
            if seen.good() && !differs(self.exchange, self.response, &seen) {
                return Ok(Some((with, seen)));
            }
        }
        Ok(None)
    }

    /// Whether the same data comes once more. Fails as [`Self::with_recorded_headers`].
    async fn repeats(&mut self, call: ReplayCall<'_>, first: &Observation) -> Result<bool> {
        let again = self.observe(call, "as recorded, again").await?;
        if let Some(code) = passing(&again.replay) {
            return Err(not_now(code));
        }
        let same = again.good() && again.replay.data_sha256 == first.replay.data_sha256;
        self.replays.push(again.replay);
        Ok(same)
    }
}

/// Whether the request said who asks.
fn is_signed_in(exchange: &Exchange) -> bool {
    exchange.request_headers.iter().any(|it| {
        matches!(it.name.as_str(), "cookie" | "authorization") && it.value.contains("REDACTED")
    })
}

/// What all replays of one transport have in common.
struct CallTemplate<'a> {
    transport: TransportKind,
    values: &'a BTreeMap<String, String>,
    slots: &'a [Slot],
}

impl CallTemplate<'_> {
    fn with_request<'b>(&'b self, request: &'b RequestTemplate) -> ReplayCall<'b> {
        let Self { transport, values, slots } = *self;
        ReplayCall {
            transport,
            request,
            parameters: &[],
            values,
            slots,
            steps: &[],
            assembly: None,
        }
    }
}

/// Share of the recorded values that the first replay must hold, basis points; the rest may have changed meanwhile.
const SAME_BP: u32 = 8_000;
/// Fewer values are no evidence.
const FEW_VALUES: usize = 3;
/// Recordings cut no value of fewer characters.
const NEVER_CUT: usize = 20;

/// Whether the answer holds other values than the recorded one. What the recording does not hold differs in nothing.
fn differs(exchange: &Exchange, response: &ResponseSpec, seen: &Observation) -> bool {
    let Some((recorded, now)) = captured(exchange, response).zip(seen.data.as_ref()) else {
        return false;
    };
    let is_whole = |line: &String| {
        let value = line.split_once('=').map_or("", |it| it.1);
        value.chars().count() < NEVER_CUT && !value.contains("REDACTED")
    };
    let mut wanted: Vec<String> =
        leaf_lines(&recorded.data, usize::MAX).into_iter().filter(is_whole).collect();
    without_clocks(&mut wanted, &leaf_lines(now, usize::MAX));
    wanted.len() >= FEW_VALUES && holds_bp(now, &wanted) < SAME_BP
}

/// Whether the answer holds the recorded values. What the recording does not hold is no evidence; of long ones it holds the beginning.
fn says_the_same(exchange: &Exchange, response: &ResponseSpec, seen: &Observation) -> bool {
    let Some((recorded, now)) = captured(exchange, response).zip(seen.data.as_ref()) else {
        return false;
    };
    let now = leaf_lines(now, usize::MAX);
    let mut wanted = leaf_lines(&recorded.data, usize::MAX);
    wanted.retain(|it| !it.contains("REDACTED"));
    without_clocks(&mut wanted, &now);
    let beginning = |line: &str| -> String {
        let (key, value) = line.split_once('=').unwrap_or(("", line));
        format!("{key}={}", value.chars().take(NEVER_CUT).collect::<String>())
    };
    let now: BTreeSet<String> = now.iter().map(|it| beginning(it)).collect();
    let held = wanted.iter().filter(|it| now.contains(&beginning(it))).count();
    held > 0 && held * 10_000 >= wanted.len() * SAME_BP as usize
}

/// Leaves out the fields that go on by themselves, such as a duration in days, hours, minutes and seconds: of no value the answer
/// holds the same, of each one that differs in its numbers alone.
fn without_clocks(wanted: &mut Vec<String>, now: &[String]) {
    let key = |line: &str| line.split_once('=').map_or("", |it| it.0).to_owned();
    let forms: BTreeSet<String> = now.iter().map(|it| form(it)).collect();
    let mut runs: BTreeMap<String, bool> = BTreeMap::new();
    for line in &*wanted {
        let form = form(line);
        let goes_on = !now.contains(line) && is_clock(&form) && forms.contains(&form);
        let all = runs.entry(key(line)).or_insert(true);
        *all = *all && goes_on;
    }
    wanted.retain(|it| !runs[&key(it)]);
}

/// Several numbers with units or colons between them; an amount has points and commas.
fn is_clock(form: &str) -> bool {
    let value = form.split_once('=').map_or("", |it| it.1);
    let between: Vec<&str> = value.split('#').collect();
    let inner = between.get(1..between.len() - 1).unwrap_or_default();
    inner.iter().any(|it| it.contains(|c: char| c == ':' || c.is_alphabetic()))
}

/// Headers that clients write by themselves and sites answer by, those first that change an answer most often.
const ANSWERED_BY: [&str; 4] = ["accept-language", "referer", "origin", "user-agent"];

/// The request with one such header as it was recorded, for each, and with all of them.
fn with_ambient_headers(
    exchange: &Exchange,
    request: &RequestTemplate,
) -> Vec<(String, RequestTemplate)> {
    let recorded = ANSWERED_BY.iter().filter_map(|name| {
        let header = exchange.request_headers.iter().find(|it| it.name == *name)?;
        let value = escape(&header.value);
        let may_be_kept = !value.contains("REDACTED") && check_header(name, &value).is_ok();
        may_be_kept.then(|| ((*name).to_owned(), value))
    });
    let all: Vec<(String, String)> = recorded.collect();
    let with = |some: &[(String, String)]| {
        let mut out = request.clone();
        out.headers.extend(some.iter().cloned());
        out
    };
    let mut out: Vec<_> =
        all.iter().map(|it| (format!("with {}", it.0), with(std::slice::from_ref(it)))).collect();
    if all.len() > 1 {
        out.push(("with all headers".to_owned(), with(&all)));
    }
    out
}

fn not_now(code: Code) -> Error {
    Error::new(code, "the request could not be replayed now")
        .hint("run the same command again with --resume")
}

/// What the shape alone does not tell: JSON in a page of another shape, or a page whose items are other elements.
fn unlike(
    exchange: &Exchange,
    response: &ResponseSpec,
    seen: &Observation,
) -> Option<&'static str> {
    if let Some(selector) = &response.embedded {
        let is_meant =
            |it: &&EmbeddedJson| it.selector == *selector && it.variable == response.variable;
        let recorded = exchange.measures.embedded_json.iter().find(is_meant)?;
        let alike = similarity_bp(&recorded.shape, &seen.root_shape);
        return (alike < MIN_SIMILARITY_BP).then_some("the JSON in the page has another shape");
    }
    if let Some(html) = response.html.as_ref().filter(|it| !it.single) {
        let recorded = u64::from(listing(exchange, html)?.items);
        let now = seen.replay.items.unwrap_or(0);
        // A page may have changed a little; another list differs a lot.
        let near = now.abs_diff(recorded) * 4 <= recorded.max(now);
        return (!near).then_some("the page has another number of items");
    }
    // An empty list has no shape that could differ.
    let is_emptied = seen.replay.items == Some(0)
        && captured(exchange, response).is_some_and(|it| it.items.is_some_and(|it| it > 0));
    is_emptied.then_some("the answer has no items, and the recorded one has")
}

/// Shape of the captured answer after extraction; `None` when the recording does not hold enough of it.
pub fn captured_shape(exchange: &Exchange, response: &ResponseSpec) -> Option<Vec<String>> {
    if let Some(html) = &response.html {
        return listing(exchange, html).map(|it| it.shape.clone());
    }
    captured(exchange, response).map(|it| fingerprint(response, &it))
}

/// What the recording holds of these items, whatever it says of those that an item may be without.
fn listing<'a>(exchange: &'a Exchange, html: &HtmlSpec) -> Option<&'a Listing> {
    exchange.measures.listings.iter().find(|it| it.html == *html)
}

/// The captured answer, extracted.
pub fn captured(exchange: &Exchange, response: &ResponseSpec) -> Option<Extraction> {
    if response.embedded.is_some() {
        return None;
    }
    if let Some(html) = &response.html {
        let it = listing(exchange, html)?;
        let data = if html.single { it.sample.first()?.clone() } else { it.sample.clone().into() };
        return Some(Extraction {
            data,
            items: (!html.single).then_some(u64::from(it.items)),
            whole: None,
            length: Length::default(),
            echoed: BTreeMap::new(),
            next: None,
        });
    }
    let (kind, body) = match exchange.excerpt.as_ref()? {
        Excerpt::Json(it) => {
            (mime(response.framing), apply_framing(response.framing, it).into_bytes())
        }
        Excerpt::Html(it) => ("text/html", it.clone().into_bytes()),
        Excerpt::Text(it) => ("text/plain", it.clone().into_bytes()),
    };
    extract(response, HttpAnswer::from_body(kind, &body)).ok()
}

fn carries(exchange: &Exchange) -> Vec<String> {
    let mut out: Vec<String> = exchange
        .measures
        .typed_in_request
        .iter()
        .map(|it| {
            let place = match it.place {
                Place::Path => "path",
                Place::Query => "query",
                Place::Json => "json",
                Place::Form => "form",
                Place::Text => "text",
                Place::Header => "header",
                Place::Host => "host",
            };
            format!("{place}:{}", it.key)
        })
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// The most telling failure: a wall means login, whatever else was tried. So does a redirect where the recorded session got the
/// answer itself (`sent_away`).
fn to_reject(replays: &[Replay], sent_away: bool) -> Reject {
    let walled = sent_away
        || replays.iter().any(|it| it.code.as_deref() == Some(Code::AuthRequired.as_str()));
    let tried: Vec<String> = replays
        .iter()
        .map(|it| format!("{} {}", it.transport.as_str(), it.code.as_deref().unwrap_or("?")))
        .collect();
    let reason = if walled { Reason::NeedsLogin } else { Reason::ReplayFailed };
    Reject::new(reason, format!("the request could not be replayed ({})", tried.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_no_other_value() {
        let lines = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let left = |recorded: &[&str], now: &[&str]| {
            let mut wanted = lines(recorded);
            without_clocks(&mut wanted, &lines(now));
            wanted
        };
        let recorded = ["duration=\"0d 0h 12m 5s\"", "duration=\"0d 0h 9m 59s\"", "host=\"db1\""];
        let now = ["duration=\"0d 0h 13m 41s\"", "duration=\"0d 0h 11m 35s\"", "host=\"db1\""];
        assert_eq!(left(&recorded, &now), ["host=\"db1\""]);
        // One that stands still, an amount, and what is written in another way.
        let still = ["duration=\"0d 0h 12m 5s\"", "duration=\"0d 0h 10m 2s\""];
        assert_eq!(left(&recorded, &still).len(), 3);
        let amounts = ["price=\"1,299.00 €\"", "price=\"17.50 €\""];
        assert_eq!(left(&amounts, &["price=\"1,288.00 €\"", "price=\"16.50 €\""]).len(), 2);
        assert_eq!(left(&recorded[..1], &["duration=\"12 min, 5 s\""]).len(), 1);
    }
}
