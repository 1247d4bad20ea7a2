//! What of a task is a secret: said so by the user, or by the name it goes under. It is taken out of the task's texts here, and
//! only what stands for it is left in them.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest_error::invalid;
use commis_base::error::{Code, Error, Result};
use commis_browser::{Element, Step, Wait};
use commis_learn::{Source, Task, TaskSecrets, variable};

/// Takes the secrets out of examples and steps. `named` are the parameters that the user calls secret; a value `env:NAME` says so
/// by itself. Fails with [`Code::SecretInTask`] for any other that seems to be one, unless they are allowed.
pub fn set_apart(task: &mut Task, named: &BTreeSet<String>, allowed: bool) -> Result<()> {
    task.secrets = TaskSecrets::default();
    let steps = match &mut task.source {
        Source::Live { steps, .. } => std::mem::take(steps),
        Source::Har { .. } => Vec::new(),
    };
    let mut secret = named.clone();
    let given = || task.examples.iter().flatten();
    secret.extend(given().filter(|it| variable(it.1).is_some()).map(|it| it.0.clone()));
    // The names that values go under: their parameter's, and those of the fields that they are typed into.
    let mut under: BTreeMap<&str, Vec<&str>> =
        given().map(|it| (it.0.as_str(), vec![it.0.as_str()])).collect();
    for (field, value) in steps.iter().filter_map(typed) {
        if let Some(it) = hole(value).and_then(|it| under.get_mut(it)) {
            it.push(field);
        }
    }
    let judged = |name: &str, value: &str| {
        under[name].iter().find_map(|under| commis_redact::typed_secret(under, value))
    };
    let doubtful: BTreeMap<String, &'static str> = given()
        .filter(|it| !secret.contains(it.0))
        .filter_map(|(name, value)| Some((name.clone(), judged(name, value)?)))
        .collect();
    let literal = |it: &Step| {
        typed(it)
            .filter(|(_, value)| !value.contains('{') && variable(value).is_none())
            .and_then(|(field, value)| commis_redact::typed_secret(field, value))
    };
    let in_text = texts(task, &steps).into_iter().find_map(commis_redact::probable_secret);
    let why = in_text
        .or_else(|| doubtful.values().next().copied())
        .or_else(|| steps.iter().find_map(literal));
    if let Some(why) = why.filter(|_| !allowed) {
        return Err(Error::new(
            Code::SecretInTask,
            format!("the task seems to hold a secret ({why})"),
        )
        .hint(HINT));
    }
    secret.extend(doubtful.into_keys());

    let mut secrets = TaskSecrets::default();
    secrets.in_text = in_text.is_some();
    for (name, value) in task.examples.iter_mut().flatten().filter(|it| secret.contains(it.0)) {
        *value = secrets.keep(name, value)?;
    }
    let mut taken = Vec::with_capacity(steps.len());
    for step in steps {
        let is_secret = typed(&step).is_some_and(|it| variable(it.1).is_some());
        taken.push(if is_secret || literal(&step).is_some() {
            step.try_map_value(|it| secrets.keep("password", it))?
        } else {
            step
        });
    }
    if let Source::Live { steps, .. } = &mut task.source {
        *steps = taken;
    }
    task.secrets = secrets;
    task.expect.further = (2..task.examples.len()).map(|it| task.example(it)).collect();
    Ok(())
}

const HINT: &str = "write env:NAME in its place: the value of that variable is typed and not stored; or give --allow-task-secrets to use it and store it redacted";

/// What a step types, and what it calls the field.
fn typed(step: &Step) -> Option<(&str, &str)> {
    step.element().map(Element::text).zip(step.value())
}

/// The parameter that stands for a whole value.
fn hole(value: &str) -> Option<&str> {
    value.strip_prefix('{')?.strip_suffix('}')
}

/// Everything else that a person wrote.
fn texts<'a>(task: &'a Task, steps: &'a [Step]) -> Vec<&'a str> {
    let mut out: Vec<&str> = vec![&task.sentence];
    if let Source::Live { url, .. } = &task.source {
        out.push(url);
    }
    for step in steps {
        match step {
            Step::Navigate(it) | Step::WaitFor(Wait::Text(it) | Wait::Request(it)) => out.push(it),
            _ => match (step.element(), step.value()) {
                // What is filled in from an example is judged there.
                (_, Some(value)) if value.contains('{') => out.push(value),
                (Some(it), None) => out.push(it.text()),
                _ => {}
            },
        }
    }
    out
}

/// Names of parameters that the user calls secret must be given. Fails with [`Code::ManifestInvalid`].
pub fn check_named(named: &BTreeSet<String>, task: &Task) -> Result<()> {
    let given = |name: &&String| task.examples.iter().any(|it| it.contains_key(*name));
    match named.iter().find(|it| !given(it)) {
        Some(name) => Err(invalid(format!("`{name}` is called secret, but no example gives it"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use commis_base::{
        ids::{RecipeName, TaskId},
        settings::Settings,
    };
    use commis_browser::Fill;
    use commis_learn::StoredTask;
    use commis_stages::{Stage, verify::Expectation};

    fn task(examples: &[&[(&str, &str)]], steps: &str) -> Task {
        let name = RecipeName::new("shop").unwrap();
        let own = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
        Task {
            id: TaskId::new("m", &name),
            name,
            sentence: "Log in as {user}".to_owned(),
            source: Source::Live {
                url: "http://shop.test/".to_owned(),
                steps: serde_saphyr::from_str(steps).unwrap(),
                by_hand: false,
            },
            examples: examples.iter().map(|it| it.iter().map(own).collect()).collect(),
            expect: Expectation::default(),
            category: None,
            requires_auth: false,
            logins: Vec::new(),
            reads_only: false,
            answer: None,
            timeout: Duration::from_secs(30),
            secrets: TaskSecrets::default(),
        }
    }

    const FILL: &str = "- fill: {label: Password, value: '{word}'}";

    /// The value must not be in anything that is written down of the task, nor in what a digest is taken over.
    fn check(
        mut task: Task,
        named: &[&str],
        allowed: bool,
        value: &str,
        expected: Result<&str, Code>,
    ) {
        let named = named.iter().map(|it| (*it).to_owned()).collect();
        match (set_apart(&mut task, &named, allowed), expected) {
            (Err(err), Err(code)) => {
                assert_eq!(err.code(), code, "{err}");
                assert!(!err.to_string().contains(value) && err.hint_text().is_some(), "{err}");
            }
            (Ok(()), Ok(stands)) => {
                let settings = Settings::default();
                let mut written =
                    serde_json::to_string(&StoredTask::new(&task, None).unwrap()).unwrap();
                for stage in [Stage::Record, Stage::RecordSecond, Stage::Verify] {
                    written += &task.question(stage, &settings).to_string();
                }
                assert!(!written.contains(value) && written.contains(stands), "{written}");
                assert!(!task.example(0).values().any(|it| it == stands));
                let back = StoredTask::new(&task, None).unwrap().task();
                assert_eq!(back.is_some(), stands.starts_with("env:"));
                if let Some(back) = back {
                    let digest = |it: &Task| it.settings_sha256(Stage::Record, &settings);
                    assert_eq!(digest(&back), digest(&task));
                    assert!(back.secrets.holds(stands) && back.example(0) == task.example(0));
                }
                let Source::Live { steps, .. } = &task.source else { panic!("a live one") };
                assert!(steps.iter().all(|it| it.value() != Some(value)));
            }
            (got, expected) => panic!("{got:?} {expected:?}"),
        }
    }

    #[test]
    fn secrets_are_taken_out_of_a_task() {
        let ada: &[&[(&str, &str)]] = &[&[("user", "ada"), ("word", "env:SHOP_WORD")]];
        check(task(ada, FILL), &[], false, "no such value", Ok("env:SHOP_WORD"));
        let clear: &[&[(&str, &str)]] = &[&[("user", "ada"), ("word", "marmalade")]];
        // By the field that it is typed into.
        check(task(clear, FILL), &[], false, "marmalade", Err(Code::SecretInTask));
        check(task(clear, FILL), &[], true, "marmalade", Ok("[REDACTED:word]"));
        // Because the user says so, wherever it is typed.
        let elsewhere = "- fill: {label: Colour, value: '{word}'}";
        check(task(clear, elsewhere), &["word"], false, "marmalade", Ok("[REDACTED:word]"));
        // By its own name, and in a step.
        let named: &[&[(&str, &str)]] = &[&[("user", "ada"), ("password", "marmalade")]];
        check(task(named, "[]"), &[], false, "marmalade", Err(Code::SecretInTask));
        check(task(named, "[]"), &[], true, "marmalade", Ok("[REDACTED:password]"));
        let plain: &[&[(&str, &str)]] = &[&[("user", "ada")]];
        let literal = "- fill: {label: Password, value: marmalade}";
        check(task(plain, literal), &[], false, "marmalade", Err(Code::SecretInTask));
        check(task(plain, literal), &[], true, "marmalade", Ok("[REDACTED:password]"));
        let variable = "- fill: {css: '#p', value: env:SHOP_WORD}";
        check(task(plain, variable), &[], false, "no such value", Ok("env:SHOP_WORD"));
        // What one example calls secret is one in all, also beyond the second.
        let many: &[&[(&str, &str)]] = &[
            &[("user", "ada"), ("word", "env:SHOP_WORD")],
            &[("user", "bob"), ("word", "marmalade")],
            &[("user", "cy"), ("word", "marmalade")],
        ];
        let mut it = task(many, FILL);
        set_apart(&mut it, &BTreeSet::new(), false).unwrap();
        let user = BTreeMap::from([("user".to_owned(), "cy".to_owned())]);
        assert_eq!((&it.example(2), &it.expect.further), (&user, &vec![user.clone()]));
        assert_eq!(it.example_with_secrets(1).unwrap()["word"], "marmalade");
        let Source::Live { steps, .. } = &it.source else { panic!("a live one") };
        assert!(matches!(&steps[0], Step::Fill(Fill { value, .. }) if value == "{word}"));
        // Too short to be found again.
        let short: &[&[(&str, &str)]] = &[&[("user", "ada"), ("word", "abc")]];
        check(task(short, elsewhere), &["word"], false, "\"abc\"", Err(Code::ManifestInvalid));
    }
}
