//! Recipes as YAML, bounded before they are parsed and checked after.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    check::{HINT, check},
    model::Recipe,
};
use commis_base::error::{Code, Error, Result};

/// Bytes of a recipe file.
pub const MAX_LEN: usize = 256 * 1024;

/// The language's JSON Schema, in the folder of the recipes.
pub const SCHEMA_FILE: &str = "recipe.schema.json";

/// The first line of a file that is written: editors find the schema by it, relative to the file.
pub const SCHEMA_LINE: &str = "# yaml-language-server: $schema=recipe.schema.json";

/// The language as JSON Schema, for editors. A file that it allows may still break a rule that [`parse`] checks.
pub fn schema() -> Value {
    schemars::schema_for!(Recipe).to_value()
}

/// Reads and checks a recipe. Fails with `RECIPE_INVALID` (with line and column where the parser knows them) or
/// `METHOD_NOT_ALLOWED`.
pub fn parse(text: &str) -> Result<Recipe> {
    if text.len() > MAX_LEN {
        let message = format!("the recipe is larger than {MAX_LEN} bytes");
        return Err(Error::new(Code::RecipeInvalid, message).hint(HINT));
    }
    let recipe: Recipe = parse_strict(text, 10_000, 64).map_err(|why| {
        Error::new(Code::RecipeInvalid, format!("the recipe does not parse: {why}")).hint(HINT)
    })?;
    check(&recipe)?;
    Ok(recipe)
}

/// One document of a stranger, of so many nodes and so deep at most, without aliases. The error says what is wrong with it, in a line.
pub fn parse_strict<T: DeserializeOwned>(
    text: &str,
    nodes: usize,
    depth: usize,
) -> std::result::Result<T, String> {
    // Without these three, untyped values read `no` as false, `012` as 12 and `1_000` as 1000.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: nodes,
            max_depth: depth,
            max_aliases: 0,
            max_anchors: 0,
            max_documents: 1,
            max_merge_keys: 0,
        },
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|err| describe_error(&err))
}

/// What is wrong with a file, in a line. Values of it are not repeated: any may be a secret that stands in the wrong place.
pub fn describe_error(err: &serde_saphyr::Error) -> String {
    let err = err.to_string();
    let line = err.lines().next().unwrap_or_default();
    let mut out = line.to_owned();
    let tip = tip(line).map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
    // As serde quotes what it found.
    for found in ["invalid type: ", "invalid value: ", "unknown variant "] {
        if let Some((before, after)) = line.split_once(found) {
            let kind = after.split(['"', '`']).next().unwrap_or_default().trim_end();
            let wanted = after.rfind(", expected").map_or("", |it| &after[it..]);
            out = format!("{before}{}{wanted}", format!("{found}{kind}").trim_end());
            break;
        }
    }
    let out = out.chars().filter(|it| !it.is_control()).take(300).collect::<String>();
    out + &tip
}

/// Words of other tools for what has another name here.
const MEANT: &[(&str, &str)] = &[
    ("goto", "navigate"),
    ("open", "navigate"),
    ("visit", "navigate"),
    ("type", "fill"),
    ("key", "press"),
    ("tick", "check"),
    ("wait", "wait_for"),
    ("iframe", "frame"),
];

/// The known name that is most like the one that serde does not know: `fill` for `fil`, `navigate` for `goto`.
fn tip(line: &str) -> Option<&str> {
    let (_, after) =
        ["unknown variant ", "unknown field "].iter().find_map(|it| line.split_once(it))?;
    let (found, wanted) = after.split_once(", expected ")?;
    let found = found.trim_matches(['`', '"', ' ']).to_lowercase();
    let known = wanted.split(" at line ").next().unwrap_or_default();
    let names = known.split([',', ' ']).map(|it| it.trim_matches(['`', '"']));
    let meant = MEANT.iter().find(|it| it.0 == found).map(|it| it.1);
    if let Some(it) = names.clone().find(|it| Some(*it) == meant) {
        return Some(it);
    }
    names
        .filter(|it| !["", "one", "of", "or"].contains(it))
        .map(|it| (strsim::jaro(&found, it), it))
        .filter(|it| it.0 > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|it| it.1)
}

/// Fails with `INTERNAL`, which the model's types should make impossible.
pub fn to_yaml(recipe: &Recipe) -> Result<String> {
    serde_saphyr::to_string(recipe).map_err(|err| {
        Error::new(Code::Internal, format!("cannot write the recipe as YAML: {err}"))
    })
}

impl Recipe {
    /// Reads and checks a recipe. Fails with `RECIPE_INVALID` (with line and column where the parser knows them) or
    /// `METHOD_NOT_ALLOWED`.
    pub fn from_yaml(text: &str) -> Result<Self> {
        parse(text)
    }

    /// As files hold it. Fails with `INTERNAL`.
    pub fn to_yaml(&self) -> Result<String> {
        to_yaml(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_is_meant_is_told() {
        let known = "expected one of `navigate`, `fill`, `press` at line 1, column 3";
        for (found, meant) in [
            ("fil", Some("fill")),
            ("Press", Some("press")),
            ("goto", Some("navigate")),
            ("tick", None),
            ("hunter2", None),
        ] {
            assert_eq!(tip(&format!("unknown variant `{found}`, {known}")), meant, "{found}");
            assert_eq!(tip(&format!("unknown field `{found}`, {known}")), meant, "{found}");
        }
        let err = parse("version: 1\nnmae: x\n").unwrap_err().to_string();
        assert!(err.ends_with("; did you mean `name`?"), "{err}");
    }
}
