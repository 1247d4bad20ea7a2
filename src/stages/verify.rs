//! verify: does it answer inputs it was not learned from?
//!
//! Each transport in ascending risk runs A, B, A like a stranger would: no cookies of the recorded session, no cache. B must
//! have the baseline's shape, differ from A by more than A differs from itself, and hold something that the second page
//! showed. A parameter whose change changes nothing is not a parameter.

use std::collections::BTreeMap;

use serde_json::Value;

use super::judge::{Call, Observed, Replayer, data_difference_bp, observe};
use crate::{
    artifacts::payloads::{BaselineFingerprint, RecipeDraftMinimized, Replay, VerificationReport},
    error::{Code, Result},
    recipe::model::{ResponseSpec, TransportKind},
};

/// What the manifest expects of the answer; checked on every replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    pub min_items: Option<u32>,
    /// `hits[].title`
    pub required_paths: Vec<String>,
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
        requires_session: draft.transport == TransportKind::InPageFetch,
        effective: Vec::new(),
        frozen: Vec::new(),
        replays: Vec::new(),
        fell_back: false,
    };
    if draft.captured_only {
        report.reason = Some("captured_only".to_owned());
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
    for (i, transport) in
        replayer.transports().into_iter().filter(|it| *it != TransportKind::Stub).enumerate()
    {
        let mut run = Run {
            replayer,
            draft,
            baseline,
            expect,
            response: &response,
            transport,
            report: &mut report,
        };
        match run.all().await? {
            Ok(()) => {
                report.verified = true;
                report.reason = None;
                report.transport = transport;
                report.requires_session = transport == TransportKind::InPageFetch;
                report.fell_back = i > 0;
                return Ok(report);
            }
            Err(why) => {
                report.reason = Some(why.text);
                report.effective.clear();
                report.frozen.clear();
                // A parameter without effect by one transport has none by another.
                if why.is_final {
                    break;
                }
            }
        }
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

struct Failure {
    text: String,
    is_final: bool,
}

struct Run<'a, 'r> {
    replayer: &'r mut dyn Replayer,
    draft: &'a RecipeDraftMinimized,
    baseline: &'a BaselineFingerprint,
    expect: &'a Expectation,
    response: &'a ResponseSpec,
    transport: TransportKind,
    report: &'r mut VerificationReport,
}

impl Run<'_, '_> {
    async fn all(&mut self) -> Result<Result<(), Failure>> {
        self.replayer.fresh();
        let first = self.draft.first.clone();
        let a = match self.one("A", &first).await? {
            Ok(it) => it,
            Err(why) => return Ok(Err(why)),
        };
        let Some(second) = self.draft.second.clone() else {
            // No parameter: two consecutive matching replays (seed 1.3.1).
            return Ok(match self.one("A again", &first).await? {
                Ok(_) => {
                    self.optional(&first, &a, 0).await?;
                    Ok(())
                }
                Err(why) => Err(why),
            });
        };
        let b = match self.one("B", &second).await? {
            Ok(it) => it,
            Err(why) => return Ok(Err(why)),
        };
        let again = match self.one("A again", &first).await? {
            Ok(it) => it,
            Err(why) => return Ok(Err(why)),
        };
        let noise = data_difference_bp(&a, &again);
        let effect = data_difference_bp(&a, &b);
        if effect <= noise {
            return Ok(Err(final_(
                "the second example gives the same data: the parameters have no effect",
            )));
        }
        if !self.draft.second_seen.is_empty() && !holds_any(&b, &self.draft.second_seen) {
            return Ok(Err(final_(
                "nothing of the second answer was on the second page: it is not the data asked for",
            )));
        }
        if let Err(why) = self.each(&first, &second, &a, noise).await? {
            return Ok(Err(why));
        }
        self.optional(&first, &a, noise).await?;
        Ok(Ok(()))
    }

    /// With several parameters, each alone must change the data.
    async fn each(
        &mut self,
        first: &BTreeMap<String, String>,
        second: &BTreeMap<String, String>,
        a: &Value,
        noise: u32,
    ) -> Result<Result<(), Failure>> {
        let differing: Vec<&String> = first
            .keys()
            .filter(|it| second.get(*it).is_some_and(|value| *value != first[*it]))
            .collect();
        if let Some(same) = first.keys().find(|it| !differing.contains(it)) {
            return Ok(Err(final_(&format!(
                "both examples give `{same}` the same value, so its effect is unknown"
            ))));
        }
        if differing.len() == 1 {
            self.report.effective.push(differing[0].clone());
            return Ok(Ok(()));
        }
        for name in differing {
            let mut values = first.clone();
            values.insert(name.clone(), second[name].clone());
            let seen = self.look(&format!("A with {name} of B"), &values).await?;
            let changed = match &seen.data {
                // An answer that is refused or empty has changed too.
                None => true,
                Some(it) => data_difference_bp(a, it) > noise,
            };
            if !changed {
                return Ok(Err(final_(&format!("parameter `{name}` has no effect"))));
            }
            self.report.effective.push(name.clone());
        }
        Ok(Ok(()))
    }

    /// Paging parameters stay only if the next value gives other data of the same shape.
    async fn optional(
        &mut self,
        first: &BTreeMap<String, String>,
        a: &Value,
        noise: u32,
    ) -> Result<()> {
        let optional = self.draft.parameters.iter().filter(|it| !it.required);
        for it in optional {
            let value: i64 = it.default.as_deref().and_then(|it| it.parse().ok()).unwrap_or(0);
            let is_size = value >= 5;
            let mut values = first.clone();
            values.insert(it.name.clone(), if is_size { value / 2 } else { value + 1 }.to_string());
            let seen = self.look(&format!("A with {} changed", it.name), &values).await?;
            let effect = seen.good()
                && seen.data.as_ref().is_some_and(|it| data_difference_bp(a, it) > noise);
            if effect {
                self.report.effective.push(it.name.clone());
            } else {
                self.report.frozen.push(it.name.clone());
            }
        }
        Ok(())
    }

    async fn one(
        &mut self,
        what: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<Result<Value, Failure>> {
        let seen = self.look(what, values).await?;
        if let Some(code) = &seen.replay.code {
            let detail = seen.replay.detail.clone().unwrap_or_default();
            return Ok(Err(Failure {
                text: format!("{what}: {code} ({detail})"),
                is_final: false,
            }));
        }
        for path in &self.expect.required_paths {
            if !has_path(&seen.shape, path) {
                return Ok(Err(Failure {
                    text: format!("{what}: the answer has no `{path}`"),
                    is_final: false,
                }));
            }
        }
        Ok(Ok(seen.data.unwrap_or(Value::Null)))
    }

    async fn look(&mut self, what: &str, values: &BTreeMap<String, String>) -> Result<Observed> {
        let call = Call {
            transport: self.transport,
            request: &self.draft.request,
            parameters: &self.draft.parameters,
            values,
            slots: &self.draft.slots,
        };
        let n = self.report.replays.len() as u32 + 1;
        let seen = observe(self.replayer, call, self.response, Some(&self.baseline.shape), n, what)
            .await?;
        let replay: Replay = seen.replay.clone();
        self.report.replays.push(replay);
        Ok(seen)
    }
}

fn final_(text: &str) -> Failure {
    Failure { text: text.to_owned(), is_final: true }
}

/// Whether a shape has `hits[].title` (from the root of the extracted data or below it).
pub fn has_path(paths: &[String], wanted: &str) -> bool {
    paths.iter().filter_map(|it| it.rsplit_once(':')).any(|(path, _)| {
        path == format!("$.{wanted}") || path == format!("$[].{wanted}") || path.ends_with(&format!(".{wanted}"))
            // `hits[].title` where extraction already gave the list `hits`.
            || wanted.split_once("[].").is_some_and(|(_, rest)| path == format!("$[].{rest}"))
    })
}

/// Some text leaf of the data stands in one of the lines.
fn holds_any(data: &Value, lines: &[String]) -> bool {
    let lines: Vec<String> = lines.iter().map(|it| it.to_lowercase()).collect();
    stands_in(data, &lines)
}

fn stands_in(value: &Value, lines: &[String]) -> bool {
    match value {
        Value::String(it) => {
            let text = it.trim().to_lowercase();
            text.chars().count() >= 3
                && lines.iter().any(|line| {
                    line.contains(&text) || (line.len() >= 8 && text.contains(line.as_str()))
                })
        }
        Value::Number(it) => {
            let text = it.to_string();
            text.len() >= 3 && lines.iter().any(|line| line.contains(&text))
        }
        Value::Array(items) => items.iter().any(|it| stands_in(it, lines)),
        Value::Object(fields) => fields.values().any(|it| stands_in(it, lines)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape;
    use serde_json::json;

    #[test]
    fn paths_in_shapes() {
        let shape = shape::paths(&json!([{"title": "x", "by": {"name": "y"}}]));
        for (wanted, has) in
            [("title", true), ("hits[].title", true), ("by.name", true), ("price", false)]
        {
            assert_eq!(has_path(&shape, wanted), has, "{wanted}");
        }
    }

    #[test]
    fn second_page_evidence() {
        let lines = vec!["Garden hose 20 m — $19.90".to_owned()];
        assert!(holds_any(&json!([{"name": "Garden hose 20 m"}]), &lines));
        assert!(!holds_any(&json!([{"name": "Lantern"}]), &lines));
    }
}
