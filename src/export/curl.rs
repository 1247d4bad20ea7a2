//! One shell command: the request as it is sent with the first examples, or with values that were given. Several requests are a
//! script.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{
    ExportOutput,
    chain::key_and_chain,
    curl_words::words,
    escaping::{comment, quote_shell},
    key_line, proof_line,
    refusal::{Refusal, RefusalCode},
    resolved_request::{RequestParts, commis_only_reason, fill_request, sample},
    shell_steps, task,
};
use commis_base::error::Result;
use commis_recipe::model::Recipe;

pub fn write(
    recipes: &[Recipe],
    given: &BTreeMap<String, String>,
    out: &mut ExportOutput,
) -> Result<()> {
    for recipe in recipes {
        let asked = RequestParts::from_recipe(recipe)?;
        let why = commis_only_reason(recipe).or_else(|| asked.earlier_answer_slot("a command"));
        let in_query = recipe.auth.as_ref().is_some_and(|it| it.query.is_some());
        let why = why.or_else(|| {
            (in_query && recipe.request.method != "GET").then(|| {
                let why = "its key stands in the query of a POST, where curl would not encode it";
                Refusal::new(RefusalCode::UnsendableRequest, why)
            })
        });
        let is_keyed = recipe.chain.is_some() && recipe.auth.is_some();
        let why = why.or_else(|| is_keyed.then(key_and_chain));
        match (why, sample(recipe, given)) {
            (Some(why), _) | (None, Err(why)) => out.refuse(recipe, why),
            (None, Ok(sample)) => match text(recipe, &sample)? {
                Ok(text) => out.push(format!("{}.sh", recipe.name), text),
                Err(what) => {
                    let why = format!(
                        "it makes several requests, with {what}, for which this form has no words; python and typescript have"
                    );
                    out.refuse(recipe, Refusal::new(RefusalCode::SeveralRequests, why));
                }
            },
        }
    }
    Ok(())
}

/// The command, or the script of several. The inner error is what a script has no words for; fails with `PARAM_INVALID`.
fn text(
    recipe: &Recipe,
    sample: &BTreeMap<String, String>,
) -> Result<std::result::Result<String, &'static str>> {
    let mut out = format!("# {}: {}\n# {}\n", recipe.name, task(recipe), proof_line(recipe));
    if let Some(extract) = &recipe.response.extract {
        let _ = writeln!(out, "# data: {} (JMESPath)", comment(extract));
    }
    if let Some(line) = key_line(recipe) {
        let _ = writeln!(out, "# {line}");
    }
    if recipe.chain.is_some() {
        return Ok(
            shell_steps::script(recipe, sample)?.map(|script| out + "# needs jq\n" + &script)
        );
    }
    let request = fill_request(recipe, sample)?;
    out.push_str(&words(recipe, &request, &|text, _| quote_shell(text)).join(" \\\n  "));
    out.push('\n');
    Ok(Ok(out))
}
