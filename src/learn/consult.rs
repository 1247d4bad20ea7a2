//! consult: ask the model which candidate it is, where the heuristics cannot tell. Observes the model and its cache.
//!
//! A choice is asked for twice, the second time with the candidates in reverse order, and counts where both name the same one: models,
//! small ones above all, prefer a place in a list to what stands there. One candidate alone has no order, and is asked about once. Each
//! question takes one more call when its answer could not be accepted. A model that cannot be reached is a failure, never an answer:
//! nothing is stored, and the next run asks again.

use commis_artifacts::{
    offer::Offer,
    payloads::{Attempt, CandidateSet, CandidateSummary, Consultation, ModelAnswer, Verdict},
    recording::SessionRecording,
    store::json_sha256,
};
use commis_base::error::Result;
use commis_model::{
    Cache, Model, PROMPT_VERSION, Question, parse_verdict, question, retry_question,
};
use commis_stages::model_options::offers;

/// Of each question.
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
    let mut offers = offers(recording, candidates, summaries)?;
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
    let mut attempts = Vec::new();
    let mut verdict = ask(model, &asked, &offers, &mut attempts).await?;
    if offers.len() > 1 && matches!(verdict, Verdict::Chosen { .. }) {
        offers.reverse();
        if let Some(reversed) = question(recording, &offers) {
            let again = ask(model, &reversed, &offers, &mut attempts).await?;
            verdict = combine_orders(verdict, again);
        }
    }
    let out = Consultation {
        model: model.name().to_owned(),
        prompt_version: PROMPT_VERSION,
        digest,
        prompt_bytes: asked.bytes() as u32,
        question: asked.text,
        attempts,
        verdict,
    };
    cache.put(&out)?;
    let calls = out.attempts.len() as u32;
    Ok((ModelAnswer { consultation: Some(out) }, calls))
}

/// What the model makes of one question. Fails with `MODEL_FAILED`.
async fn ask(
    model: &dyn Model,
    asked: &Question,
    offers: &[Offer<'_>],
    attempts: &mut Vec<Attempt>,
) -> Result<Verdict> {
    let mut now = asked.clone();
    for _ in 0..CALLS {
        let answer = model.ask(&now).await?;
        let verdict = parse_verdict(&answer, offers);
        attempts.push(Attempt {
            answer: commis_redact::message(&answer.text).chars().take(KEPT).collect(),
            stop: commis_redact::message(&answer.stop),
            refused: verdict.as_ref().err().map(|it| it.as_str().to_owned()),
            tokens_in: answer.tokens_in,
            tokens_out: answer.tokens_out,
        });
        match verdict {
            Ok(it) => return Ok(it),
            Err(wrong) => now = retry_question(asked, wrong),
        }
    }
    Ok(Verdict::Unusable)
}

/// What both orders say alike. Where they agree on the request but not on the path, the path is computed.
fn combine_orders(first: Verdict, second: Verdict) -> Verdict {
    match (first, second) {
        (
            Verdict::Chosen { exchange, path },
            Verdict::Chosen { exchange: again, path: path_again },
        ) if exchange == again => {
            Verdict::Chosen { exchange, path: path.filter(|it| path_again.as_ref() == Some(it)) }
        }
        (_, Verdict::Unusable) => Verdict::Unusable,
        _ => Verdict::Inconsistent,
    }
}

#[cfg(test)]
#[path = "consult_tests.rs"]
mod tests;
