//! A session as a task: where it begins, and its steps.

use serde_json::Value;

use super::SessionAction;
use commis_base::error::{Code, Error, Result};

/// What is learned from.
#[derive(Debug, Default)]
pub struct ActionHistory {
    pub url: Option<String>,
    /// As a manifest has them.
    pub steps: Vec<Value>,
    /// What was done and is not among them.
    pub lost: Vec<String>,
}

/// The steps that the actions come to. Fails with `PARAM_INVALID` where one says more than what was done.
pub fn trail(lines: &[SessionAction]) -> Result<ActionHistory> {
    let mut out = ActionHistory::default();
    for line in lines.iter().filter(|it| it.failed.is_none()) {
        if line.command == "goto" && out.steps.is_empty() {
            out = ActionHistory { url: line.value.clone(), ..ActionHistory::default() };
            continue;
        }
        let left = out.steps.len().saturating_sub(line.undone as usize);
        out.steps.truncate(left);
        out.steps.extend(line.steps.iter().cloned());
        out.lost.extend(line.lost.iter().cloned());
    }
    // Whoever wrote the session may be a stranger: what was typed names no variable of this machine.
    if out.steps.iter().any(names_variable) || out.url.as_deref().is_some_and(is_variable) {
        return Err(Error::new(
            Code::ParamInvalid,
            "the session asks for an environment variable of this machine",
        )
        .hint("a session may only type values that it holds; replace the variable by a value"));
    }
    Ok(out)
}

fn is_variable(it: &str) -> bool {
    it.starts_with("env:")
}

fn names_variable(it: &Value) -> bool {
    match it {
        Value::String(it) => is_variable(it),
        Value::Array(all) => all.iter().any(names_variable),
        Value::Object(all) => all.values().any(names_variable),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(command: &str, value: &str, steps: &[Value]) -> SessionAction {
        let value = Some(value.to_owned()).filter(|it| !it.is_empty());
        SessionAction {
            command: command.into(),
            value,
            steps: steps.to_vec(),
            ..SessionAction::default()
        }
    }

    #[test]
    fn steps_begin_at_the_last_page_that_was_opened_before_any() {
        let fill = json!({"fill": {"css": "#q", "value": "hat"}});
        let all = [
            line("goto", "http://a.test/", &[]),
            line("goto", "http://b.test/", &[json!({"navigate": "http://b.test/"})]),
            line("fill", "hat", std::slice::from_ref(&fill)),
            line("goto", "http://b.test/2", &[json!({"navigate": "http://b.test/2"})]),
            SessionAction { undone: 1, ..line("closetab", "", &[]) },
            SessionAction { failed: Some("STEP_FAILED".into()), ..line("click", "", &[json!(1)]) },
        ];
        let it = trail(&all).unwrap();
        assert_eq!((it.url.as_deref(), it.steps), (Some("http://b.test/"), vec![fill]));
    }

    #[test]
    fn a_session_of_a_stranger_reads_no_variable() {
        let step = json!({"fill": {"css": "#q", "value": "env:KEY"}});
        let err = trail(&[line("goto", "http://a.test/", &[]), line("fill", "x", &[step])]);
        assert_eq!(err.unwrap_err().code(), Code::ParamInvalid);
    }
}
