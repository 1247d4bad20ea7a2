//! minimize: the smallest request that still gets the answer.
//!
//! A pure machine ([`TrialPlan`]) says what to leave out next and judges what came back; a small loop owns the replays. Better
//! than one at a time (seed 1.3, phase B): all optional headers are tried at once first, so the usual request costs one
//! replay for all its headers.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::replay::{Observation, ReplayCall, Replayer, observe};
use commis_artifacts::payloads::{
    BaselineFingerprint, MinimizationReport, RecipeDraft, Replay, Trial,
};
use commis_base::error::Result;
use commis_recipe::model::{BodyTemplate, RequestTemplate, Slot};
use commis_recipe::trackers::is_cache_buster;
use commis_runner::MIN_SIMILARITY_BP;

/// Names that page through results. Leaving them out usually changes nothing, and callers want them as parameters.
pub const PAGING: &[&str] = &[
    "page",
    "p",
    "pagenumber",
    "page_number",
    "pageindex",
    "per_page",
    "perpage",
    "page_size",
    "pagesize",
    "hitsperpage",
    "limit",
    "offset",
    "start",
    "from",
    "size",
    "count",
    "rows",
    "skip",
    "first",
    "take",
];

/// Observes: at most the replayer's budget of replays, each trial recorded with why it was kept or dropped.
pub async fn minimize(
    replayer: &mut dyn Replayer,
    draft: &RecipeDraft,
    baseline: &BaselineFingerprint,
) -> Result<MinimizationReport> {
    let mut plan = TrialPlan::new(draft);
    if draft.captured_only {
        plan.drop_volatile();
        return Ok(plan.report(false));
    }
    let values = BTreeMap::new();
    while let Some(without) = plan.next() {
        let key = without.join(" ");
        let replay = if let Some(it) = replayer.recall(&key) {
            it
        } else {
            if replayer.spent() {
                return Ok(plan.report(true));
            }
            let request = plan.request_without(&without);
            let slots = used_slots(&request, &draft.slots);
            let call = ReplayCall {
                transport: draft.transport,
                request: &request,
                parameters: &[],
                values: &values,
                slots: &slots,
                steps: &[],
                assembly: None,
            };
            let n = plan.trials.len() as u32 + 1;
            let what = format!("without {}", summary(&without));
            let Observation { replay, .. } =
                observe(replayer, call, &draft.response, Some(&baseline.shape), n, &what).await?;
            replayer.note(&key, &replay)?;
            replay
        };
        plan.observe(without, replay);
    }
    Ok(plan.report(false))
}

fn summary(without: &[String]) -> String {
    match without {
        [one] => one.clone(),
        many => format!("{} parts", many.len()),
    }
}

/// Which parts are left to try, and what has been learned.
struct TrialPlan<'a> {
    draft: &'a RecipeDraft,
    expected: Option<&'a Replay>,
    request: RequestTemplate,
    trials: Vec<Trial>,
    queue: VecDeque<Vec<String>>,
}

impl<'a> TrialPlan<'a> {
    fn new(draft: &'a RecipeDraft) -> Self {
        let volatile = volatile(&draft.request, &draft.carries);
        let headers: Vec<String> = draft
            .request
            .headers
            .keys()
            .filter(|it| *it != "content-type" || draft.request.body.is_none())
            .map(|it| format!("header:{it}"))
            .filter(|it| !volatile.contains(it))
            .collect();
        let mut queue = VecDeque::new();
        if !volatile.is_empty() {
            queue.push_back(volatile.clone());
        }
        if !headers.is_empty() {
            queue.push_back(headers);
        }
        // Data can be compared only where two equal calls gave equal data.
        if draft.deterministic {
            let rest = parts(&draft.request).into_iter().filter(|it| {
                !volatile.contains(it)
                    && !draft.carries.iter().any(|held| is_or_holds(it, held))
                    && !is_paging(it)
            });
            queue.extend(rest.map(|it| vec![it]));
        }
        let expected = draft.replays.iter().rev().find(|it| it.ok());
        Self { draft, expected, request: draft.request.clone(), trials: Vec::new(), queue }
    }

    /// Without any replay: leaves out what only defeats caches.
    fn drop_volatile(&mut self) {
        let without = volatile(&self.request, &self.draft.carries);
        if !without.is_empty() {
            self.request = self.request_without(&without);
            let why = "it only defeats caches; not replayed".to_owned();
            self.trials.push(Trial { without, dropped: true, why, replay: None });
        }
    }

    /// The parts to leave out next.
    fn next(&mut self) -> Option<Vec<String>> {
        self.queue.pop_front()
    }

    fn request_without(&self, without: &[String]) -> RequestTemplate {
        let mut out = self.request.clone();
        for part in without {
            leave_out(&mut out, part);
        }
        out
    }

    fn observe(&mut self, without: Vec<String>, replay: Replay) {
        let same_data = self.expected.is_some_and(|it| it.data_sha256 == replay.data_sha256);
        let (dropped, why) = if !replay.ok() {
            (false, replay.code.clone().unwrap_or_default())
        } else if same_data {
            (true, "same data without it".to_owned())
        } else if self.draft.deterministic {
            (false, "other data without it".to_owned())
        } else if replay.similarity_bp.is_some_and(|it| it >= MIN_SIMILARITY_BP)
            && self.expected.is_some_and(|it| it.items == replay.items)
        {
            (true, "same shape without it".to_owned())
        } else {
            (false, "another answer without it".to_owned())
        };
        if dropped {
            self.request = self.request_without(&without);
            // What went with it needs no trial of its own.
            self.queue.retain(|next| {
                !next.iter().all(|it| without.iter().any(|gone| is_or_holds(gone, it)))
            });
        } else if without.len() > 1 {
            // The group is needed as a whole, or one of it is: try one by one, before anything else.
            for part in without.iter().rev() {
                self.queue.push_front(vec![part.clone()]);
            }
        }
        self.trials.push(Trial { without, dropped, why, replay: Some(replay) });
    }

    fn report(self, budget_exhausted: bool) -> MinimizationReport {
        let slots = used_slots(&self.request, &self.draft.slots);
        MinimizationReport { trials: self.trials, request: self.request, slots, budget_exhausted }
    }
}

/// Slots that the request still names.
pub fn used_slots(request: &RequestTemplate, slots: &[Slot]) -> Vec<Slot> {
    let text = serde_json::to_string(request).unwrap_or_default();
    slots.iter().filter(|it| text.contains(&format!("{{{}}}", it.name))).cloned().collect()
}

/// Parts that only defeat caches or trace the call (seed 1.3, phase A).
fn volatile(request: &RequestTemplate, carries: &[String]) -> Vec<String> {
    let query = request
        .query
        .iter()
        .filter(|it| is_cache_buster(&it.name, &it.value))
        .map(|it| format!("query:{}", it.name));
    let headers = request
        .headers
        .keys()
        .filter(|it| {
            it.contains("request-id")
                || it.contains("trace")
                || it.contains("correlation-id")
                || it.contains("timestamp")
        })
        .map(|it| format!("header:{it}"));
    query.chain(headers).filter(|it| !carries.contains(it)).collect()
}

/// Query names, form fields, JSON members down to the third level.
fn parts(request: &RequestTemplate) -> Vec<String> {
    let mut out: Vec<String> =
        request.query.iter().map(|it| format!("query:{}", it.name)).collect();
    match &request.body {
        Some(BodyTemplate::Form(fields)) => {
            out.extend(fields.iter().map(|it| format!("form:{}", it.name)));
        }
        Some(BodyTemplate::Json(body)) => members(body, "", 0, &mut out),
        _ => {}
    }
    out.dedup();
    out
}

fn members(value: &Value, pointer: &str, depth: usize, out: &mut Vec<String>) {
    if depth == 3 || out.len() >= 64 {
        return;
    }
    if let Value::Object(fields) = value {
        for (key, it) in fields {
            let at = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
            out.push(format!("json:{at}"));
            members(it, &at, depth + 1, out);
        }
    }
}

/// Whether `part` is `inner`, or a JSON member with `inner` somewhere below it.
fn is_or_holds(part: &str, inner: &str) -> bool {
    part == inner
        || (part.starts_with("json:")
            && inner.strip_prefix(part).is_some_and(|it| it.starts_with('/')))
}

fn is_paging(part: &str) -> bool {
    let name = part.rsplit([':', '/']).next().unwrap_or("").to_ascii_lowercase();
    PAGING.contains(&name.as_str())
}

fn leave_out(request: &mut RequestTemplate, part: &str) {
    let Some((place, key)) = part.split_once(':') else {
        return;
    };
    match (place, &mut request.body) {
        ("header", _) => _ = request.headers.remove(key),
        ("query", _) => request.query.retain(|it| it.name != key),
        ("form", Some(BodyTemplate::Form(fields))) => fields.retain(|it| it.name != key),
        ("json", Some(BodyTemplate::Json(body))) => {
            if let Some((parent, last)) = key.rsplit_once('/') {
                let last = last.replace("~1", "/").replace("~0", "~");
                if let Some(Value::Object(fields)) = body.pointer_mut(parent) {
                    fields.remove(&last);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_recipe::model::{ResponseSpec, ResponseType, TransportKind};
    use serde_json::json;

    fn replay(data: &str, code: Option<&str>) -> Replay {
        Replay {
            n: 1,
            what: String::new(),
            transport: TransportKind::PublicHttp,
            status: Some(200),
            items: Some(3),
            similarity_bp: Some(10_000),
            data_sha256: Some(data.to_owned()),
            code: code.map(str::to_owned),
            detail: None,
        }
    }

    fn draft() -> RecipeDraft {
        RecipeDraft {
            exchange: 0,
            second_exchange: None,
            request: serde_json::from_value(json!({
                "method": "POST", "url": "http://a.test/search", "allowed_domains": ["a.test"],
                "query": [{"name": "_t", "value": "1763762345123"}, {"name": "page", "value": "1"}, {"name": "v", "value": "2"}],
                "headers": {"x-needed": "1", "x-other": "1", "content-type": "application/json"},
                "body": {"json": {"q": "rust", "facets": ["*"], "page": 0}}
            })).unwrap(),
            slots: vec![],
            response: ResponseSpec::new(ResponseType::Json),
            transport: TransportKind::PublicHttp,
            deterministic: true,
            captured_only: false,
            needs_login: false,
            carries: vec!["json:/q".to_owned()],
            compared: true,
            shape: vec![],
            items: Some(3),
            replays: vec![replay("same", None)],
        }
    }

    /// Runs the machine against a server that needs `needed`.
    fn run(needed: &[&str]) -> MinimizationReport {
        let draft = draft();
        let mut plan = TrialPlan::new(&draft);
        while let Some(without) = plan.next() {
            let fails = without.iter().any(|it| needed.contains(&it.as_str()));
            plan.observe(without, if fails { replay("other", None) } else { replay("same", None) });
        }
        plan.report(false)
    }

    #[test]
    fn drops_what_the_answer_does_not_need() {
        let report = run(&["header:x-needed", "query:v"]);
        assert_eq!(report.request.headers.keys().collect::<Vec<_>>(), ["content-type", "x-needed"]);
        assert_eq!(
            report.request.query.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
            ["page", "v"]
        );
        assert_eq!(report.request.body, Some(BodyTemplate::Json(json!({"q": "rust", "page": 0}))));
    }

    #[test]
    fn one_trial_for_all_headers_when_none_is_needed() {
        let report = run(&[]);
        assert_eq!(
            report.trials.iter().filter(|it| it.without[0].starts_with("header:")).count(),
            1
        );
        assert!(report.request.headers.contains_key("content-type"));
    }
}
