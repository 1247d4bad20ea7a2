//! Values of a recipe's parameters as JSON has them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Values by name; numbers and truth values count as their text.
#[derive(Clone, Debug, Default)]
pub struct Params(BTreeMap<String, String>);

/// Up to here a number with a fraction of zero is the whole number that was meant.
const WHOLE: f64 = 9_007_199_254_740_992.0;

impl From<BTreeMap<String, String>> for Params {
    fn from(it: BTreeMap<String, String>) -> Self {
        Self(it)
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let given = BTreeMap::<String, Value>::deserialize(from)?;
        let mut out = BTreeMap::new();
        for (name, value) in given {
            let wrong = |what: &str| serde::de::Error::custom(format!("`{name}` {what}"));
            let text = match value {
                Value::String(it) => it,
                Value::Bool(it) => it.to_string(),
                Value::Number(it) => match as_whole_number(&it) {
                    Some(it) => it.to_string(),
                    None if it.as_f64().is_some_and(|it| it.abs() >= WHOLE) && it.is_f64() => {
                        return Err(wrong(
                            "is a number so large that some of it is lost: write it as text",
                        ));
                    }
                    None => it.to_string(),
                },
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    return Err(wrong("is neither a text nor a number, nor true or false"));
                }
            };
            out.insert(name, text);
        }
        Ok(Self(out))
    }
}

/// The whole number that a number with a fraction of zero stands for: JSON knows no other difference between the two.
pub fn as_whole_number(it: &serde_json::Number) -> Option<i64> {
    let float = it.as_f64().filter(|_| it.is_f64())?;
    #[expect(clippy::cast_possible_truncation, reason = "within what is exact")]
    (float.fract() == 0.0 && float.abs() < WHOLE).then_some(float as i64)
}

impl JsonSchema for Params {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Params".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "additionalProperties": {"type": ["string", "number", "boolean"]},
        })
    }
}

impl From<Params> for BTreeMap<String, String> {
    fn from(it: Params) -> Self {
        it.0
    }
}
