//! A recipe proven again, or for the first time, without its recording: on the examples of its parameters.
//!
//! The bar is the one of verify: A, B, A; B of A's shape and different from A by more than A from itself; each parameter
//! alone with an effect. What is missing is the recording, so nothing is compared with what a page showed: the recipe's own
//! shape stands in where it was verified before, `required_paths` and `min_items` where it was not.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use commis_base::error::{Code, Result};
use commis_recipe::{
    model::{ExampleAnswer, Recipe, Verification, Witness},
    pagination::Length,
    shape::{self, profile::Profile},
};
use commis_runner::{
    MIN_SIMILARITY_BP, RecipeRunResult,
    extract::{Extraction, fingerprint, similarity_bp},
};
use commis_stages::{data_difference_bp, example_answer, verify::MARGIN_BP};

/// What calls with the examples showed.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ReverifyResult {
    pub verified: bool,
    /// A `Code` or a sentence when it was not.
    pub reason: Option<String>,
    /// The failure may pass by itself: it says nothing about the recipe.
    pub retryable: bool,
    /// An answer no longer had the shape that the recipe was verified with before.
    pub drifted: bool,
    pub calls: u32,
    /// Items of the first answer, where it is a list.
    pub items: Option<u64>,
    /// Parameters shown to change the data.
    pub effective: Vec<String>,
    /// Optional parameters whose second example changed nothing that could be seen.
    pub without_effect: Vec<String>,
    /// What of the answers to the examples is not as it was when the recipe was proven before.
    pub changed: Vec<String>,
    /// Typed paths of the first answer.
    #[serde(skip)]
    shape: Vec<String>,
    /// Of all answers.
    #[serde(skip)]
    profile: Profile,
    /// What the examples were answered.
    #[serde(skip)]
    examples: Vec<ExampleAnswer>,
}

type Values = BTreeMap<String, String>;

/// Calls `run` with the examples, three times and once more for each further parameter. Fails with what `run` fails with;
/// what the calls themselves end in is in the result.
pub async fn reverify(
    recipe: &Recipe,
    run: impl AsyncFnMut(&Values) -> Result<RecipeRunResult>,
) -> Result<ReverifyResult> {
    let mut proof = Proof {
        recipe,
        run,
        out: ReverifyResult {
            verified: false,
            reason: None,
            retryable: false,
            drifted: false,
            calls: 0,
            items: None,
            effective: Vec::new(),
            without_effect: Vec::new(),
            changed: Vec::new(),
            shape: Vec::new(),
            profile: Profile::default(),
            examples: Vec::new(),
        },
    };
    if let Err(why) = proof.all().await? {
        proof.out.reason = Some(why);
    } else {
        proof.out.verified = true;
    }
    Ok(proof.out)
}

impl ReverifyResult {
    /// The recipe with this proof. The shape that it was verified with before is kept: it is what the answers were held to.
    /// What is told of answers is what was true then and is now.
    pub fn prove(&self, recipe: &Recipe, verified_at: String) -> Verification {
        let held = recipe.verification.clone();
        let shape = held.as_ref().map(|it| it.shape.clone()).filter(|it| !it.is_empty());
        let shape = shape.unwrap_or_else(|| self.shape.clone());
        Verification {
            fingerprint_version: shape::FINGERPRINT_VERSION,
            fingerprint_sha256: shape::fingerprint(&shape),
            shape,
            profile: Some(match held.as_ref().and_then(|it| it.profile.clone()) {
                Some(before) => before.merge(self.profile.clone()),
                None => self.profile.clone(),
            }),
            verified_at: Some(verified_at),
            transport: recipe.transport(),
            requires_session: recipe.transport().uses_session(),
            browser_ms: held.as_ref().and_then(|it| it.browser_ms),
            witness: Some(held.as_ref().map_or(Witness::None, Verification::witness)),
            proof: held.as_ref().and_then(|it| it.proof),
            complete: held.as_ref().and_then(|it| it.complete.clone()),
            examples: self.examples.iter().map(|it| since(it, held.as_ref())).collect(),
            substitute: held.as_ref().and_then(|it| it.substitute.clone()),
            first_page: held.and_then(|it| it.first_page),
        }
    }
}

/// What of an example's answer stayed as it was when the recipe was proven before: the rest moves with time.
fn since(example: &ExampleAnswer, held: Option<&Verification>) -> ExampleAnswer {
    let before = held.iter().flat_map(|it| &it.examples).find(|it| it.values == example.values);
    match before {
        Some(before) => example.clone().intersect(before),
        None => example.clone(),
    }
}

struct Proof<'a, F> {
    recipe: &'a Recipe,
    run: F,
    out: ReverifyResult,
}

impl<F: AsyncFnMut(&Values) -> Result<RecipeRunResult>> Proof<'_, F> {
    async fn all(&mut self) -> Result<Result<(), String>> {
        let Some((first, second)) = examples(self.recipe) else {
            return Ok(Err(Code::NeedsSecondExampleForVerify.as_str().to_owned()));
        };
        let a = match self.call_checked("A", &first).await? {
            Ok(it) => it,
            Err(why) => return Ok(Err(why)),
        };
        let parts = if first.is_empty() {
            Vec::new()
        } else {
            let b = match self.call_checked("B", &second).await? {
                Ok(it) => it,
                Err(why) => return Ok(Err(why)),
            };
            vec![b]
        };
        let again = match self.call_checked("A again", &first).await? {
            Ok(it) => it,
            Err(why) => return Ok(Err(why)),
        };
        let own = example_answer(&first, &[&a, &again]);
        let stable = own.digests.keys().cloned().collect();
        let other =
            parts.first().map(|b| example_answer(&second, &[b]).retain_keys_except(&stable));
        self.out.examples = std::iter::once(own).chain(other).collect();
        let before = self.recipe.verification.iter().flat_map(|it| &it.examples);
        for (values, data) in [(&first, Some(&a)), (&second, parts.first())] {
            let known = before.clone().find(|it| it.values == *values);
            if let (Some(known), Some(data)) = (known, data) {
                self.out.changed.extend(known.differences(data));
            }
        }
        let noise = data_difference_bp(&a, &again);
        let changed = |it: &Value| data_difference_bp(&a, it) > noise + MARGIN_BP;
        if let Some(b) = parts.first() {
            if !changed(b) {
                return Ok(Err(
                    "the second example gives the same data: the parameters have no effect"
                        .to_owned(),
                ));
            }
            if first.len() == 1 {
                self.out.effective.extend(first.keys().cloned());
            } else {
                for name in first.keys() {
                    let mut values = first.clone();
                    values.insert(name.clone(), second[name].clone());
                    let seen = self.call(&values).await?;
                    if seen.retryable {
                        return Ok(Err(
                            self.describe_failure(&format!("A with {name} of B"), &seen)
                        ));
                    }
                    // An answer that is refused or empty has changed too.
                    if seen.success && !changed(&seen.data) {
                        return Ok(Err(format!("parameter `{name}` has no effect")));
                    }
                    self.out.effective.push(name.clone());
                }
            }
        }
        for it in self.recipe.parameters.iter().filter(|it| !is_needed(it)) {
            let Some(other) = it.examples.iter().find(|text| Some(*text) != it.default.as_ref())
            else {
                continue;
            };
            let mut values = first.clone();
            values.insert(it.name.clone(), other.clone());
            let seen = self.call(&values).await?;
            let all = if seen.success && changed(&seen.data) {
                &mut self.out.effective
            } else {
                &mut self.out.without_effect
            };
            all.push(it.name.clone());
        }
        Ok(Ok(()))
    }

    /// A call that must give data, of the shape of the first.
    async fn call_checked(&mut self, what: &str, values: &Values) -> Result<Result<Value, String>> {
        let seen = self.call(values).await?;
        if !seen.success {
            return Ok(Err(self.describe_failure(what, &seen)));
        }
        if seen.items == Some(0) {
            // It held some when it was learned.
            self.out.drifted = self.recipe.had_items();
            return Ok(Err(format!("{what}: the answer holds no items, which proves nothing")));
        }
        // What was proven on a page holds as much as that page showed, or nearly.
        if what == "A" && self.recipe.has_too_few_items(seen.items) {
            return Ok(Err(format!(
                "{what}: the answer holds {} items, far fewer than when it was learned",
                seen.items.unwrap_or(0)
            )));
        }
        let extracted = Extraction {
            data: seen.data,
            items: seen.items,
            whole: None,
            length: Length::default(),
            echoed: BTreeMap::new(),
            next: None,
        };
        let shape = fingerprint(&self.recipe.response, &extracted);
        if self.out.shape.is_empty() {
            self.out.items = extracted.items;
            self.out.shape = shape;
        } else if similarity_bp(&self.recipe.response, &self.out.shape, &shape) < MIN_SIMILARITY_BP
        {
            return Ok(Err(format!("{what}: {} (unlike the first answer)", Code::ShapeDrift)));
        }
        Ok(Ok(extracted.data))
    }

    async fn call(&mut self, values: &Values) -> Result<RecipeRunResult> {
        self.out.calls += 1;
        let seen = (self.run)(values).await?;
        if seen.success {
            self.out.profile.observe(&seen.data);
        }
        Ok(seen)
    }

    fn describe_failure(&mut self, what: &str, seen: &RecipeRunResult) -> String {
        self.out.retryable = seen.retryable;
        self.out.drifted = seen.error_code == Some(Code::ShapeDrift.as_str());
        let code = seen.error_code.unwrap_or("?");
        format!("{what}: {code} ({})", seen.error.as_deref().unwrap_or(""))
    }
}

fn is_needed(it: &commis_recipe::model::Parameter) -> bool {
    it.required && it.default.is_none()
}

/// Two sets of values that differ in every required parameter; both empty when none is required.
fn examples(recipe: &Recipe) -> Option<(Values, Values)> {
    let mut first = Values::new();
    let mut second = Values::new();
    for it in recipe.parameters.iter().filter(|it| is_needed(it)) {
        let mut seen = BTreeSet::new();
        let mut distinct = it.examples.iter().filter(|text| seen.insert(*text));
        first.insert(it.name.clone(), distinct.next()?.clone());
        second.insert(it.name.clone(), distinct.next()?.clone());
    }
    Some((first, second))
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use serde_json::json;

    use super::*;
    use commis_recipe::{model::TransportKind, yaml};

    fn recipe(parameters: &str) -> Recipe {
        yaml::parse(&format!(
            "{{version: 1, name: x, task: t, status: draft, source_url: 'https://a.com/', parameters: [{parameters}], \
             request: {{method: GET, url: 'https://a.com/', allowed_domains: [a.com]}}, response: {{type: json}}}}"
        ))
        .unwrap()
    }

    fn parameter(name: &str, examples: &str) -> String {
        format!(
            "{{name: {name}, type: str, required: true, source: task_input, examples: [{examples}]}}"
        )
    }

    fn answer(data: Value) -> RecipeRunResult {
        let mut out: RecipeRunResult = RecipeRunResult::new(TransportKind::PublicHttp);
        out.success = true;
        out.items = data.as_array().map(|it| it.len() as u64);
        out.data = data;
        out
    }

    fn check(recipe: &Recipe, mut site: impl FnMut(&Values) -> RecipeRunResult) -> ReverifyResult {
        block_on(reverify(recipe, async |values: &Values| Ok(site(values)))).unwrap()
    }

    #[test]
    fn proven_on_two_examples() {
        let it =
            check(&recipe(&parameter("q", "a, b")), |values| answer(json!([{"t": values["q"]}])));
        assert!(it.verified, "{it:?}");
        assert_eq!(
            (it.calls, it.items, it.effective.as_slice()),
            (3, Some(1), &["q".to_owned()][..])
        );
        let proof = it.prove(&recipe(""), "2026-01-01T00:00:00Z".to_owned());
        assert_eq!(proof.shape, ["$:list", "$[].t:str", "$[]:object"]);
        assert_eq!(proof.fingerprint_sha256, shape::fingerprint(&proof.shape));
        assert_eq!(
            proof.profile.as_ref().unwrap().lines(),
            ["$:list", "$[]:object 3", "$[].t:str"]
        );
        // What was true before and is not now is no longer told, and neither is what was not true then.
        let mut proven = recipe("");
        proven.verification = Some(proof);
        let now = check(&proven, |_| answer(json!([{"t": null, "u": 1}])));
        let lines = now.prove(&proven, String::new()).profile.unwrap().lines();
        assert_eq!(lines, ["$:list", "$[]:object 3", "$[].t:str|null", "$[].u?:int"]);
        // Without parameters the same answer twice is all there is to see.
        assert!(check(&recipe(""), |_| answer(json!({"t": 1}))).verified);
    }

    #[test]
    fn what_is_no_proof() {
        let q = recipe(&parameter("q", "a, b"));
        let reason = |recipe: &Recipe, site: &dyn Fn(&Values) -> RecipeRunResult| {
            let it = check(recipe, site);
            assert!(!it.verified);
            it.reason.unwrap()
        };
        assert_eq!(
            reason(&recipe(&parameter("q", "a, a")), &|_| answer(json!([1]))),
            "NEEDS_SECOND_EXAMPLE_FOR_VERIFY"
        );
        assert!(reason(&q, &|_| answer(json!([{"t": 1}]))).contains("no effect"));
        assert!(reason(&q, &|_| answer(json!([]))).contains("no items"));
        let drift = |values: &Values| match values["q"].as_str() {
            "a" => answer(json!([{"t": 1, "u": 2}])),
            _ => answer(json!([{"x": "y"}])),
        };
        assert!(reason(&q, &drift).contains("SHAPE_DRIFT"));
        let down = |_: &Values| {
            let mut it = RecipeRunResult::new(TransportKind::PublicHttp);
            it.error_code = Some("RATE_LIMITED");
            it.retryable = true;
            it
        };
        assert!(check(&q, down).retryable);
        // Two parameters, one of which nobody looks at.
        let two = recipe(&format!("{}, {}", parameter("q", "a, b"), parameter("r", "c, d")));
        let blind = |values: &Values| answer(json!([{"t": values["q"]}]));
        assert_eq!(reason(&two, &blind), "parameter `r` has no effect");
        let both = |values: &Values| answer(json!([{"t": values["q"], "u": values["r"]}]));
        let it = check(&two, both);
        assert_eq!((it.verified, it.calls), (true, 5));
        // A counter in the answer is no effect.
        let mut n = 0;
        let counting = check(&q, |_| {
            n += 1;
            answer(json!([{"n": n}]))
        });
        assert!(!counting.verified, "{counting:?}");
    }
}
