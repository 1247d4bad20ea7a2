//! One shell command: the request as it is sent with the first examples, or with values that were given. Several requests are a
//! script.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{
    ExportOutput,
    escaping::{comment, quote_shell},
    key_line, proof_line,
    resolved_request::{RequestParts, commis_only_reason, fill_request, sample},
    shell_steps::{self, Place},
    task,
};
use commis_base::error::Result;
use commis_recipe::{
    model::{AuthKind, Recipe},
    request::{FORM, JSON, PreparedRequest},
};

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
                "its key stands in the query of a POST, where curl would not encode it".to_owned()
            })
        });
        let is_keyed = recipe.chain.is_some() && recipe.auth.is_some();
        let why = why.or_else(|| {
            is_keyed.then(|| "it needs a key and makes several requests, both at once".to_owned())
        });
        match (why, sample(recipe, given)) {
            (Some(why), _) | (None, Err(why)) => out.refuse(recipe, why),
            (None, Ok(sample)) => match text(recipe, &sample)? {
                Ok(text) => out.push(format!("{}.sh", recipe.name), text),
                Err(what) => out.refuse(
                    recipe,
                    format!(
                        "it makes several requests, with {what}, for which this form has no words; python and typescript have"
                    ),
                ),
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

/// The words of the command for one of the recipe's requests; `quote` makes a word of a text, by the place that it has.
pub fn words(
    recipe: &Recipe,
    request: &PreparedRequest,
    quote: &dyn Fn(&str, Place) -> String,
) -> Vec<String> {
    let mut words =
        vec!["curl --fail-with-body --silent --show-error --compressed --globoff".to_owned()];
    // A key is for the origin alone, and curl carries headers along.
    if recipe.auth.is_none() {
        words.push("--location".to_owned());
    }
    if request.method != "GET" && request.body.is_none() {
        words.push(format!("--request {}", request.method));
    }
    for (name, value) in &request.headers {
        // Without a value curl leaves a header out, but for this.
        let line = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        words.push(format!("--header {}", quote(&line, Place::Header)));
    }
    if let Some(auth) = &recipe.auth {
        let key = format!("\"${{{}:?}}\"", auth.env);
        words.push(match (auth.kind, &auth.header, &auth.query) {
            (AuthKind::Bearer, ..) => format!("--header 'authorization: Bearer '{key}"),
            (AuthKind::Basic, ..) => format!("--user {key}"),
            (AuthKind::ApiKey, _, Some(name)) => {
                format!(
                    "--get --data-urlencode {}{key}",
                    quote_shell(&format!("{}=", encode_name(name)))
                )
            }
            (AuthKind::ApiKey, name, None) => {
                let name = name.as_deref().unwrap_or("authorization");
                format!("--header {}{key}", quote_shell(&format!("{name}: ")))
            }
        });
    }
    if let Some(body) = &request.body {
        let kind = request.headers.iter().find(|it| it.0 == "content-type");
        let place = match kind.map_or("", |it| it.1.split(';').next().unwrap_or_default()) {
            FORM => Place::Address,
            JSON => Place::Json,
            _ => Place::Text,
        };
        words.push(format!("--data-raw {}", quote(&String::from_utf8_lossy(body), place)));
    }
    words.push(quote(&request.url, Place::Address));
    words
}

/// curl encodes the value alone.
fn encode_name(name: &str) -> String {
    url::form_urlencoded::byte_serialize(name.as_bytes()).collect()
}
