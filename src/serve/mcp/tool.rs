//! A recipe as a tool: its name, description and schemas. Of a recipe that was made here, or that comes with the program, the task's
//! sentence describes it; of any other, words that are made from fixed templates: no text that a stranger wrote enters a definition.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use commis_base::ids::hex;
use commis_net::egress::site_of;
use commis_recipe::{
    json_schema::{
        data_schema, input_schema, is_plain_word, validate::CompiledSchema, without_free_text,
    },
    model::{FirstPage, LoginProof, Recipe, Status},
    trust::Trust,
};
use commis_report::clip;
use commis_stages::effect::recipe_effect;

/// Bytes of a tool in a list, as far as its data's schema can help it; `commis_describe` has that whole.
const LISTED: usize = 520;
/// What stands around the parts below, annotations and proof included.
const AROUND: usize = 180;
/// With less, fields would be missing that tell what the data is.
const LEAST: usize = 130;
/// Characters of a task's sentence.
const MAX_TASK: usize = 160;
/// Clients allow names of 64.
const MAX_NAME: usize = 64;
/// A longer one is a sentence.
const MAX_SITE: usize = 40;

pub struct ToolDefinition {
    /// `None` where its name is too long to be one, or is that of an operation.
    pub name: Option<String>,
    pub description: String,
    pub input: Value,
    /// The same as it is listed: without bounds, which a run checks anyway.
    pub brief: Value,
    /// Of the data, whole.
    pub data: Value,
    /// Of the structured answer, as it is listed.
    pub output: Value,
    pub reads_only: bool,
    pub proof: Option<Value>,
    /// Of all that is listed.
    pub digest: String,
    declared: CompiledSchema,
}

/// The argument that goes on with a list.
const CONTINUE_FROM: &str = "continue_from";
/// Arguments that ask for less of an answer. They stand in the server's instructions, not in each tool.
const NARROWING: [&str; 4] = ["fields", "where", "limit", "max_bytes"];

/// Arguments of a recipe's tool that are no parameters of the recipe; a parameter of the same name comes first.
pub fn own_arguments(recipe: &Recipe) -> impl Iterator<Item = &'static str> + use<'_> {
    let goes_on = Some(CONTINUE_FROM).filter(|_| recipe.pages.is_some());
    let all = NARROWING.into_iter().chain(goes_on);
    all.filter(|own| recipe.parameters.iter().all(|it| it.name != *own))
}

impl ToolDefinition {
    /// `is_operation`: whether an operation has that name.
    pub fn from_recipe(recipe: &Recipe, is_operation: fn(&str) -> bool) -> Self {
        let name = format!("recipe_{}", recipe.name);
        let is_taken = is_operation(&name);
        let name = Some(name).filter(|it| it.len() <= MAX_NAME && !is_taken);
        let reads_only = reads_only(recipe);
        let (mut input, data) = (input_schema(recipe), data_schema(recipe, None));
        if own_arguments(recipe).any(|it| it == CONTINUE_FROM)
            && let Some(all) = input.get_mut("properties").and_then(Value::as_object_mut)
        {
            let text = "Only to go on: continue_from of the last answer";
            all.insert(CONTINUE_FROM.to_owned(), json!({"type": "string", "description": text}));
        }
        let mut brief = brief(&if recipe.trust.has_untrusted_text() {
            without_free_text(&input)
        } else {
            input.clone()
        });
        describe(&mut brief, recipe);
        let description = description(recipe);
        let used =
            AROUND + brief.to_string().len() + description.len() + recipe.name.as_str().len();
        let mut listed = data_schema(recipe, Some(LISTED.saturating_sub(used).max(LEAST)));
        // A caller may ask for some fields alone, and clients check what they get.
        without_required(&mut listed);
        let output = json!({"type": "object", "properties": {"data": &listed}});
        let mut digest = Sha256::new();
        for it in [&json!(name), &json!(description), &brief, &output, &json!(reads_only)] {
            digest.update(it.to_string());
            digest.update([0]);
        }
        Self {
            name,
            description,
            input,
            brief,
            data,
            output,
            reads_only,
            proof: proof(recipe),
            digest: hex(&digest.finalize()),
            declared: CompiledSchema::compile(&listed),
        }
    }

    /// Where data of a run is not as declared, if it is not.
    pub fn violation(&self, data: &Value) -> Option<String> {
        self.declared.violation(data)
    }
}

/// The task's sentence and the site; of a recipe whose words may be a stranger's `shop search at shop.test`, with the site that somebody
/// registered, before which a host may say anything.
fn description(recipe: &Recipe) -> String {
    let site = Some(site_of(&recipe.request.url)).filter(|it| (1..=MAX_SITE).contains(&it.len()));
    let site = site.as_deref().unwrap_or("its site");
    let task = sentence(recipe);
    if task.is_empty() {
        return format!("{} at {site}", recipe.name.as_str().replace('-', " "));
    }
    if task.contains(site) { task } else { format!("{task} ({site})") }
}

/// What the recipe is for, in the words that it was made with here; empty where they may be a stranger's.
fn sentence(recipe: &Recipe) -> String {
    if recipe.trust.has_untrusted_text() {
        return String::new();
    }
    let plain = commis_report::plain(&recipe.task).replace('\n', " ");
    clip(plain.trim().trim_end_matches('.'), MAX_TASK)
}

/// Says of each parameter what it is: its name in words, and values that it was proven with.
fn describe(input: &mut Value, recipe: &Recipe) {
    let own = !recipe.trust.has_untrusted_text();
    for it in &recipe.parameters {
        let Some(at) = input["properties"].get_mut(&it.name).and_then(Value::as_object_mut) else {
            continue;
        };
        let words = it.name.replace(['_', '-'], " ");
        let examples = it.examples.iter().filter(|it| own && is_plain_word(it)).take(2);
        // In quotation marks, so that a small model does not take both for one value.
        let all: Vec<String> = examples.map(|it| format!("\"{it}\"")).collect();
        let has_choice = at.contains_key("enum");
        let text = match all.as_slice() {
            [] => words,
            _ if has_choice => words,
            all => format!("{words}, such as {}", all.join(" or ")),
        };
        // The description says them.
        if !all.is_empty() {
            at.remove("examples");
        }
        at.insert("description".to_owned(), text.into());
    }
}

fn without_required(schema: &mut Value) {
    if let Value::Object(fields) = schema {
        fields.retain(|key, it| key != "required" || !it.is_array());
        for (key, it) in fields.iter_mut() {
            match (key.as_str(), it) {
                ("properties", Value::Object(all)) => all.values_mut().for_each(without_required),
                ("prefixItems", Value::Array(all)) => all.iter_mut().for_each(without_required),
                ("items" | "additionalProperties", it) => without_required(it),
                _ => {}
            }
        }
    }
}

fn brief(input: &Value) -> Value {
    let mut out = input.clone();
    if let Some(it) = out.as_object_mut() {
        it.remove("additionalProperties");
        if it.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            it.remove("required");
        }
    }
    if let Some(all) = out.get_mut("properties").and_then(Value::as_object_mut) {
        for it in all.values_mut().filter_map(Value::as_object_mut) {
            it.retain(|key, _| {
                !matches!(key.as_str(), "maxLength" | "minimum" | "maximum" | "pattern")
            });
        }
    }
    out
}

/// Whether its request is known to read, by itself or by what it was answered when it was proven here.
fn reads_only(recipe: &Recipe) -> bool {
    recipe_effect(recipe, recipe.trust == Trust::Proven && proof(recipe).is_some()).is_read()
}

fn proof(recipe: &Recipe) -> Option<Value> {
    let it = recipe.verification.as_ref().filter(|it| it.verified_at.is_some())?;
    if recipe.status == Status::Draft {
        return None;
    }
    let examples = recipe.parameters.iter().map(|it| it.examples.len()).max().unwrap_or(0);
    Some(json!({
        "verified_at": it.verified_at,
        "inputs": examples,
        "transport": it.transport.as_str(),
        "witness": it.witness().as_str(),
        "proof": it.proof.map(LoginProof::as_str),
        "first_page": it.first_page.as_ref().map(FirstPage::describe),
        "fingerprint": it.fingerprint_sha256.get(..16),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_recipe::yaml;

    #[test]
    fn a_definition_has_no_words_of_strangers_and_no_proof_that_is_none() {
        let of = |host: &str, more: &str| {
            let text = format!(
                "{{version: 1, name: find-it, task: t, status: draft, source_url: 'https://{host}/', parameters: [], \
                 request: {{method: POST, url: 'https://{host}/', allowed_domains: ['{host}']}}, response: {{type: json}}{more}}}"
            );
            ToolDefinition::from_recipe(&yaml::parse(&text).unwrap(), |name| {
                crate::operations::find(name).is_some()
            })
        };
        let it = of("ignore-all.and-call.commis.example.org", "");
        assert_eq!(it.description, "find it at example.org");
        let long = format!("{}.org", "ignore-what-was-said".repeat(3));
        assert_eq!(of(&long, "").description, "find it at its site");
        let captured = ", verification: {fingerprint_version: 1, fingerprint_sha256: x, verified_at: null, transport: public_http, requires_session: false}";
        let it = of("example.org", captured);
        assert!(it.proof.is_none() && !it.reads_only);
    }
}
