//! Close calls: cases in which the heuristics cannot tell which request it is. How many of them a model could settle, and what a model
//! makes of a sample.
//!
//! A model is offered what the stage `consult` offers it, and its choice is held to what `analyze` holds it to.

use std::{path::Path, time::Instant};

use rayon::prelude::*;
use serde::Serialize;

use super::{
    RightExchange,
    realworld::{self, CaseLine},
};
use commis_artifacts::{
    payloads::{CandidateSet, CandidateSummary, Judged, ModelAnswer, Reason, Reject, Verdict},
    recording::SessionRecording,
    store::sha256,
};
use commis_base::{
    error::{Code, Error, Result},
    settings::Settings,
};
use commis_learn::consult;
use commis_model::{Cache, Model};
use commis_stages::{Stage, model_options};

/// A case that is settled by nobody yet.
struct CloseCall {
    id: String,
    is_recipeable: bool,
    recording: SessionRecording,
    candidates: CandidateSet,
    summaries: CandidateSummary,
    reject: Reject,
    /// Numbers of the offered exchanges, and of those that are right.
    offered: Vec<u32>,
    right: Vec<u32>,
}

/// What close calls come to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CloseCalls {
    /// All cases of the corpus.
    pub cases: u32,
    pub close: u32,
    /// Close calls with something to learn, and those among them in which the right request is offered: a model that is never wrong
    /// would choose so many right.
    pub recipeable: u32,
    pub right_offered: u32,
    /// Those of them in which it is the heuristics' best.
    pub right_first: u32,
    /// Close calls in which nothing is offered.
    pub nothing_offered: u32,
    /// By case, in the order in which they were asked.
    pub answers: Vec<CloseAnswer>,
}

/// What a model made of one.
#[derive(Clone, Debug, Serialize)]
pub struct CloseAnswer {
    pub case: String,
    pub offered: u32,
    pub ending: CloseEnding,
    /// The heuristics' rank of the request that the model chose, from 1, and their confidence in it, basis points.
    pub chosen: Option<(u32, u32)>,
    /// None of the answers could be accepted.
    pub unusable: bool,
    /// Of this run; 0 where the answer was kept from an earlier one.
    pub seconds: f64,
    pub prompt_bytes: u32,
}

/// How a close call ended with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseEnding {
    Right,
    Wrong,
    /// It is still for a person to choose.
    Open,
}

/// A model, where its answers are kept, and how many close calls it is asked about.
pub struct ModelSample<'a> {
    pub model: &'a dyn Model,
    pub cache: &'a Cache,
    pub most: usize,
}

/// Looks for close calls in a folder of HAR files with `cases.jsonl`, and asks a model about some: always the same ones, in no order of
/// the corpus. `told` hears of each answer.
///
/// Fails with [`Code::Usage`] for a corpus of folders, with `MODEL_FAILED`, and with what a case fails with when its files cannot be read.
pub async fn close_calls(
    dir: &Path,
    settings: &Settings,
    asked: Option<ModelSample<'_>>,
    mut told: impl FnMut(&CloseAnswer),
) -> Result<CloseCalls> {
    if !dir.join("cases.jsonl").is_file() {
        return Err(Error::new(Code::Usage, "close calls are looked for in HAR files")
            .hint("name a folder with `cases.jsonl`"));
    }
    let lines = realworld::lines(dir)?;
    let found: Vec<Option<CloseCall>> =
        lines.par_iter().map(|it| close_call(dir, it, settings)).collect::<Result<_>>()?;
    let mut found: Vec<CloseCall> = found.into_iter().flatten().collect();
    found.sort_by_cached_key(|it| sha256(it.id.as_bytes()));
    let count = |is: &dyn Fn(&CloseCall) -> bool| found.iter().filter(|it| is(it)).count() as u32;
    let mut out = CloseCalls {
        cases: lines.len() as u32,
        close: found.len() as u32,
        recipeable: count(&|it| it.is_recipeable),
        right_offered: count(&|it| !it.right.is_empty()),
        right_first: count(&|it| it.offered.first().is_some_and(|best| it.right.contains(best))),
        nothing_offered: count(&|it| it.offered.is_empty()),
        answers: Vec::new(),
    };
    let Some(ModelSample { model, cache, most }) = asked else { return Ok(out) };
    for it in found.iter().filter(|it| !it.offered.is_empty()).take(most) {
        let begun = Instant::now();
        let (answer, calls) =
            consult(model, cache, &it.recording, &it.candidates, &it.summaries).await?;
        let seconds = if calls > 0 { begun.elapsed().as_secs_f64() } else { 0.0 };
        let ending = it.ending(&answer)?;
        let consultation = answer.consultation.as_ref();
        let answer = CloseAnswer {
            case: it.id.clone(),
            offered: it.offered.len() as u32,
            ending,
            chosen: it.choice(consultation.map(|it| &it.verdict)),
            unusable: consultation.is_some_and(|it| it.verdict == Verdict::Unusable),
            seconds,
            prompt_bytes: consultation.map_or(0, |it| it.prompt_bytes),
        };
        told(&answer);
        out.answers.push(answer);
    }
    Ok(out)
}

impl CloseEnding {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Open => "open",
        }
    }
}

impl CloseCall {
    fn choice(&self, verdict: Option<&Verdict>) -> Option<(u32, u32)> {
        let Some(Verdict::Chosen { exchange, .. }) = verdict else { return None };
        let candidate = self.candidates.candidates.iter().find(|it| it.exchange == *exchange)?;
        Some((candidate.rank, candidate.confidence_bp))
    }

    fn ending(&self, answer: &ModelAnswer) -> Result<CloseEnding> {
        let open = Judged::Rejected(self.reject.clone());
        let settled = model_options::settle(
            &self.recording,
            &self.candidates,
            &self.summaries,
            open,
            answer,
        )?;
        Ok(match settled {
            Judged::Done(it) if self.right.contains(&it.chosen.exchange) => CloseEnding::Right,
            Judged::Done(_) => CloseEnding::Wrong,
            Judged::Rejected(_) => CloseEnding::Open,
        })
    }
}

/// The case, where it is one.
fn close_call(dir: &Path, line: &CaseLine, settings: &Settings) -> Result<Option<CloseCall>> {
    let (recording, trace) = realworld::learn(dir, line, settings)?;
    let Some((Stage::Analyze, reject)) = trace.reject else { return Ok(None) };
    if reject.reason != Reason::Ambiguous {
        return Ok(None);
    }
    let (Some(Judged::Done(candidates)), Some(summaries)) = (trace.candidates, trace.summary)
    else {
        return Ok(None);
    };
    let wanted = RightExchange::new(dir, line)?;
    let offers = model_options::offers(&recording, &candidates, &summaries)?;
    let offered: Vec<u32> = offers.iter().map(|it| it.exchange).collect();
    drop(offers);
    let is_right =
        |at: &u32| recording.exchanges.get(*at as usize).is_some_and(|it| wanted.matches(it));
    let right = offered.iter().copied().filter(|it| is_right(it)).collect();
    Ok(Some(CloseCall {
        id: line.id.clone(),
        is_recipeable: line.expect.recipeable,
        recording,
        candidates,
        summaries,
        reject,
        offered,
        right,
    }))
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;
    use serde_json::{Value, json};

    use commis_model::{Answer, EndReason, Question};

    use super::*;

    /// The cases themselves are waited for by another executor.
    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
    }

    /// Always answers the same; without an answer it cannot be reached.
    struct Constant(Option<Value>);

    impl Model for Constant {
        fn name(&self) -> &'static str {
            "openai/constant"
        }

        fn endpoint(&self) -> &'static str {
            "http://127.0.0.1/"
        }

        fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer>> {
            let answer = self.0.as_ref().map(|it| Answer {
                text: it.to_string(),
                end: EndReason::Complete,
                stop: "stop".to_owned(),
                tokens_in: 500,
                tokens_out: 20,
            });
            Box::pin(async move { answer.ok_or_else(|| Error::new(Code::ModelFailed, "gone")) })
        }
    }

    fn entry(url: &str, mime: &str, body: &str) -> Value {
        json!({
            "startedDateTime": "2026-01-01T00:00:00Z", "time": 1,
            "request": {"method": "GET", "url": url, "httpVersion": "HTTP/1.1", "headers": [], "cookies": [], "queryString": [],
                "headersSize": -1, "bodySize": -1},
            "response": {"status": 200, "statusText": "", "httpVersion": "HTTP/1.1", "headers": [], "cookies": [], "redirectURL": "",
                "headersSize": -1, "bodySize": -1, "content": {"size": body.len(), "mimeType": mime, "text": body}},
            "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0},
        })
    }

    /// Two endpoints give the same answer to the same word; the first is right.
    fn corpus() -> tempfile::TempDir {
        let hits = json!({"hits": [{"title": "Brass lantern", "price": 12.5}, {"title": "Tin lantern", "price": 9.25}]}).to_string();
        let page = "<!doctype html><title>Shop</title><form><input type=search></form>";
        let search = "http://shop.test/api/search?q=lantern";
        let entries = [
            entry("http://shop.test/", "text/html", page),
            entry(search, "application/json", &hits),
            entry("http://shop.test/api/lookup?q=lantern", "application/json", &hits),
        ];
        let har = json!({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries}});
        let case = json!({"id": "twins", "har": "twins.har", "task": "Search the shop for lantern", "made": "recorded", "site": "shop",
            "typed": [{"name": "q", "value": "lantern"}],
            "expect": {"recipeable": true, "request": {"method": "GET", "url_regex": "/api/search\\?q=lantern$"}}});
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            commis_base::files::save(&folder.path().join(name), text.as_bytes()).unwrap();
        };
        write("twins.har", har.to_string());
        write("cases.jsonl", format!("{case}\n"));
        folder
    }

    fn ending(answer: Value) -> (CloseEnding, bool) {
        let folder = corpus();
        let model = Constant(Some(answer));
        let cache = Cache::new(folder.path().join("artifacts"));
        let asked = ModelSample { model: &model, cache: &cache, most: 9 };
        let mut told = 0;
        let settings = Settings::default();
        let calls = close_calls(folder.path(), &settings, Some(asked), |_| told += 1);
        let done = block_on(calls).unwrap();
        assert_eq!((done.answers.len(), told), (1, 1));
        (done.answers[0].ending, done.answers[0].unusable)
    }

    #[test]
    fn what_a_model_makes_of_a_close_call() {
        let choice = |path: &str| json!({"request": format!("GET http://shop.test/api/{path}?q=lantern"), "path": "hits"});
        assert_eq!(ending(choice("search")), (CloseEnding::Right, false));
        assert_eq!(ending(choice("lookup")), (CloseEnding::Wrong, false));
        assert_eq!(ending(choice("elsewhere")), (CloseEnding::Open, true));
        assert_eq!(
            ending(json!({"request": "none of these", "path": "none"})),
            (CloseEnding::Open, false)
        );
    }

    #[test]
    fn a_model_that_is_never_wrong_needs_no_model() {
        let folder = corpus();
        let settings = Settings::default();
        let done = block_on(close_calls(folder.path(), &settings, None, |_| ())).unwrap();
        assert_eq!((done.cases, done.close, done.recipeable, done.right_offered), (1, 1, 1, 1));
        let gone = Constant(None);
        let cache = Cache::new(folder.path().join("artifacts"));
        let asked = ModelSample { model: &gone, cache: &cache, most: 1 };
        let failed = block_on(close_calls(folder.path(), &settings, Some(asked), |_| ()));
        assert_eq!(failed.unwrap_err().code(), Code::ModelFailed);
    }
}
