//! consult: ask the model which candidate it is, where the heuristics cannot tell. Observes the model and its cache.
//!
//! One call, and one more when the answer could not be accepted. A model that cannot be reached is a failure, never an answer:
//! nothing is stored, and the next run asks again.

use commis_artifacts::{
    payloads::{Attempt, CandidateSet, CandidateSummary, Consultation, ModelAnswer, Verdict},
    recording::SessionRecording,
    store::json_sha256,
};
use commis_base::error::Result;
use commis_model::{Cache, Model, PROMPT_VERSION, parse_verdict, question, retry_question};
use commis_stages::model_options::offers;

const CALLS: usize = 2;
/// Characters of an answer; a good one is shorter.
const KEPT: usize = 1000;

/// The answer and how many calls it took now: none when the cache knew, or when there is nothing to choose from. Fails with
/// `MODEL_FAILED` or `ARTIFACT_*`.
pub async fn consult(
    model: &dyn Model,
    cache: &Cache,
    recording: &SessionRecording,
    candidates: &CandidateSet,
    summaries: &CandidateSummary,
) -> Result<(ModelAnswer, u32)> {
    let offers = offers(recording, candidates, summaries)?;
    let asked = if offers.is_empty() { None } else { question(recording, &offers) };
    let Some(asked) = asked else { return Ok((ModelAnswer::default(), 0)) };
    // An answer names an exchange by its number, so equal questions about other numbers are other questions.
    let numbers: Vec<u32> = offers.iter().map(|it| it.exchange).collect();
    let digest = json_sha256(&(
        PROMPT_VERSION,
        model.name(),
        model.endpoint(),
        &asked.text,
        &asked.schema,
        numbers,
    ));
    if let Some(known) = cache.get(&digest)? {
        return Ok((ModelAnswer { consultation: Some(known) }, 0));
    }
    let mut out = Consultation {
        model: model.name().to_owned(),
        prompt_version: PROMPT_VERSION,
        digest,
        prompt_bytes: asked.bytes() as u32,
        question: asked.text.clone(),
        attempts: Vec::new(),
        verdict: Verdict::Unusable,
    };
    let mut now = asked.clone();
    while out.attempts.len() < CALLS {
        let answer = model.ask(&now).await?;
        let verdict = parse_verdict(&answer, &offers);
        out.attempts.push(Attempt {
            answer: commis_redact::message(&answer.text).chars().take(KEPT).collect(),
            stop: commis_redact::message(&answer.stop),
            refused: verdict.as_ref().err().map(|it| it.as_str().to_owned()),
            tokens_in: answer.tokens_in,
            tokens_out: answer.tokens_out,
        });
        match verdict {
            Ok(it) => {
                out.verdict = it;
                break;
            }
            Err(wrong) => now = retry_question(&asked, wrong),
        }
    }
    cache.put(&out)?;
    let calls = out.attempts.len() as u32;
    Ok((ModelAnswer { consultation: Some(out) }, calls))
}

#[cfg(test)]
#[path = "consult_tests.rs"]
mod tests;
