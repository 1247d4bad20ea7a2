//! Arguments as callers write them.

use serde_json::{Map, Value, json};

use super::{Kind, Operation, properties};
use crate::har_uploads;
use commis_base::error::{Code, Error, Result};
use commis_learn::variable;
pub use commis_recipe::params::Params;

/// Arguments of a request without a body: from its path and its query, where all is text, as the operation's schema has them.
/// Fails with `PARAM_INVALID` for a name that is given twice.
pub fn coerced(row: &Operation, given: impl Iterator<Item = (String, String)>) -> Result<Value> {
    let known = properties(&row.input);
    let mut out = Map::new();
    for (name, text) in given {
        let kind = known.get(&name).map(|it| it["type"].clone()).unwrap_or_default();
        let is = |wanted: &str| {
            kind == wanted || kind.as_array().is_some_and(|it| it.contains(&json!(wanted)))
        };
        let value = if is("integer") || is("number") || is("boolean") {
            let read = serde_json::from_str(&text).ok().filter(|it: &Value| !it.is_null());
            read.unwrap_or(Value::String(text))
        } else {
            Value::String(text)
        };
        if out.insert(name.clone(), value).is_some() {
            let shown: String = name.chars().filter(|it| !it.is_control()).take(60).collect();
            return Err(Error::new(Code::ParamInvalid, format!("`{shown}` is given twice")));
        }
    }
    Ok(Value::Object(out))
}

/// What a random value is called: in a task it is likely a secret, as a recipe's parameter it is as likely the name of a thing.
const RANDOM: &str = "a long random value";

fn is_digest(it: &Value) -> bool {
    let hex = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    it.as_str().is_some_and(|it| it.len() == 64 && it.bytes().all(hex))
}

/// Refuses arguments that seem to hold a secret: they are written down, and read by models. What names a variable (`env:NAME`)
/// holds none, and neither do ids of our own. Fails with `SECRET_IN_TASK`.
pub fn no_secrets(row: &Operation, args: &Value) -> Result<()> {
    fn walk(name: &str, value: &Value, of_params: bool) -> Option<&'static str> {
        match value {
            Value::String(it) if variable(it).is_some() => None,
            Value::String(it) => {
                let why = commis_redact::typed_secret(name, it)
                    .or_else(|| commis_redact::probable_secret(it));
                why.filter(|it| !of_params || *it != RANDOM)
            }
            Value::Number(it) => commis_redact::typed_secret(name, &it.to_string())
                .or_else(|| commis_redact::probable_secret(&it.to_string()))
                .filter(|it| !of_params || *it != RANDOM),
            Value::Object(all) => all.iter().find_map(|(name, it)| {
                commis_redact::probable_secret(name)
                    .filter(|it| *it != RANDOM)
                    .or_else(|| walk(name, it, of_params || name == "params"))
            }),
            Value::Array(all) => all.iter().find_map(|it| walk(name, it, of_params)),
            _ => None,
        }
    }
    if row.spec.kind == Kind::Meta {
        return Ok(());
    }
    let in_path: Vec<&str> = row.in_path().collect();
    let found = args.as_object().into_iter().flatten().find_map(|(name, it)| {
        // What is approved is named by its digest.
        let is_ours = name == "task_id"
            || name == "upload" && it.as_str().is_some_and(har_uploads::is_id)
            || name == "digest" && row.spec.name == "approval_approve" && is_digest(it);
        (!in_path.contains(&name.as_str()) && !is_ours).then(|| walk(name, it, name == "params"))?
    });
    match found {
        None => Ok(()),
        Some(why) => Err(Error::new(
            Code::SecretInTask,
            format!("the arguments seem to hold a secret ({why})"),
        )
        .hint(if row.spec.name == "recipe_learn" {
            "put it into a variable of the daemon that [auth.allow] binds to the host, and write env:NAME in its place"
        } else {
            "leave it out; a recipe names the environment variable of a key, and the daemon reads it"
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::find;

    #[test]
    fn secrets_are_refused_and_names_of_things_are_not() {
        let check = |operation: &str, args: Value, fits: bool| {
            let row = find(operation).unwrap();
            assert_eq!(no_secrets(row, &args).is_ok(), fits, "{operation} {args}");
        };
        let commit = "9b2f4c81d7e60a35fb12c84e90d7a6f3b5c1e2d8";
        check("recipe_run", json!({"name": "a", "params": {"commit": commit}}), true);
        check("recipe_run", json!({"name": "a", "params": {"password": "hunter2"}}), false);
        check(
            "recipe_run",
            json!({"name": "a", "params": {"password": "env:SITE_PASSWORD"}}),
            true,
        );
        check("recipe_learn", json!({"task": "log in with password=hunter2"}), false);
        check("recipe_find", json!({"words": "the weather in Lisbon on 2026-03-01"}), true);
        check("recipe_learn", json!({"task": "look", "upload": "har-2766b5bdf78a"}), true);
        check("recipe_learn", json!({"task": "look", "upload": commit}), false);
        check("task_cancel", json!({"task_id": "t-2766b5bdf78a9b2f4c81"}), true);
        check("token_revoke", json!({"id": "tok-2766b5bdf78a"}), true);
    }
}
