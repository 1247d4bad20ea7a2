//! Less of an answer: some fields of each item, the items that fit a condition, so many of them, so many bytes.
//!
//! Nothing is narrowed before an answer was held to its proof, and what was left out is always said.

use serde_json::{Map, Value, json};

use super::{document::Document, expression::Query};
use commis_base::error::{Code, Error, Result};

const MAX_FIELDS: usize = 200;
const MAX_DEPTH: usize = 16;
/// Of the fields that a refusal lists.
const MAX_LISTED: usize = 30;

/// What is wanted of an answer; the default wants all.
#[derive(Clone, Debug, Default)]
pub struct ResultFilter {
    pub fields: Option<Fields>,
    pub condition: Option<Condition>,
    /// Items at most, of those that fit the condition.
    pub limit: Option<u64>,
    /// Bytes of the data at most, as compact JSON.
    pub max_bytes: Option<u64>,
}

impl ResultFilter {
    /// Reads what a caller wrote. Fails with `PARAM_INVALID`.
    pub fn parse(
        fields: Option<&str>,
        condition: Option<&str>,
        limit: Option<u64>,
        max_bytes: Option<u64>,
    ) -> Result<Self> {
        let fields = fields.map(Fields::parse).transpose()?;
        let condition = condition.map(Condition::parse).transpose()?;
        Ok(Self { fields, condition, limit, max_bytes })
    }

    pub const fn is_all(&self) -> bool {
        self.fields.is_none()
            && self.condition.is_none()
            && self.limit.is_none()
            && self.max_bytes.is_none()
    }

    /// Refuses what does not go with the schema of the data: a field that it does not have, a condition or a limit where it is no list.
    /// Fails with `PARAM_INVALID`, and lists the fields that there are.
    pub fn check(&self, data_schema: &Value) -> Result<()> {
        if let Some(kind) = data_schema.get("type").and_then(Value::as_str)
            && kind != "array"
            && self.is_for_lists()
        {
            return Err(not_a_list_error(kind));
        }
        self.fields.as_ref().map_or(Ok(()), |it| it.check(data_schema))
    }

    const fn is_for_lists(&self) -> bool {
        self.condition.is_some() || self.limit.is_some()
    }

    /// Narrows an answer that is whole in memory. Fails with `PARAM_INVALID` where a condition or a limit is put to what is no
    /// list, or the condition to items that it does not fit, and with `RESPONSE_TOO_LARGE` where not one item fits the bytes.
    pub fn apply(&self, data: Value) -> Result<FilteredResult> {
        match data {
            Value::Array(items) => {
                let mut sieve = ItemFilter::new(self, None);
                let (items, taken) = sieve.take(items)?;
                Ok(FilteredResult {
                    data: items.into(),
                    filtered: sieve.filtered,
                    cut: taken.is_some(),
                })
            }
            record if self.is_for_lists() => Err(not_a_list_error(kind(&record))),
            record => {
                let data = self.pick(record);
                let is_large = self.max_bytes.is_some_and(|it| length(&data) > it);
                if is_large {
                    Err(too_large())
                } else {
                    Ok(FilteredResult { data, filtered: 0, cut: false })
                }
            }
        }
    }

    /// The schema of the data as it is narrowed.
    pub fn schema(&self, data_schema: &Value) -> Value {
        self.fields.as_ref().map_or_else(|| data_schema.clone(), |it| it.schema(data_schema))
    }

    fn pick(&self, it: Value) -> Value {
        match &self.fields {
            Some(fields) => fields.pick(it),
            None => it,
        }
    }
}

/// An answer of which something may be left out.
#[derive(Clone, Debug, PartialEq)]
pub struct FilteredResult {
    pub data: Value,
    /// Items that do not fit the condition.
    pub filtered: u64,
    /// More items fit it than are given.
    pub cut: bool,
}

/// Takes a list item by item, over all its pages.
#[derive(Debug)]
pub struct ItemFilter<'a> {
    narrowing: &'a ResultFilter,
    most: Option<u64>,
    given: u64,
    bytes: u64,
    filtered: u64,
}

impl<'a> ItemFilter<'a> {
    /// With `most`, so many items at most, besides the limit.
    pub fn new(narrowing: &'a ResultFilter, most: Option<u64>) -> Self {
        let most = most.into_iter().chain(narrowing.limit).min();
        // The brackets.
        Self { narrowing, most, given: 0, bytes: 2, filtered: 0 }
    }

    /// Items that do not fit the condition, so far.
    pub const fn filtered_count(&self) -> u64 {
        self.filtered
    }

    /// So many items were given as are wanted.
    pub fn is_full(&self) -> bool {
        self.most.is_some_and(|it| self.given >= it)
    }

    /// The items of a page that are wanted, and where in the page the first one stands that is too many. Fails as
    /// [`ResultFilter::apply`].
    pub fn take(&mut self, items: Vec<Value>) -> Result<(Vec<Value>, Option<usize>)> {
        let mut out = Vec::new();
        for (at, it) in items.into_iter().enumerate() {
            if let Some(condition) = &self.narrowing.condition
                && !condition.matches(&it)?
            {
                self.filtered += 1;
                continue;
            }
            if self.is_full() {
                return Ok((out, Some(at)));
            }
            let it = self.narrowing.pick(it);
            if let Some(most) = self.narrowing.max_bytes {
                // With its comma.
                let bytes = self.bytes + length(&it) + u64::from(self.given > 0);
                if bytes > most && self.given == 0 {
                    return Err(too_large());
                }
                if bytes > most {
                    return Ok((out, Some(at)));
                }
                self.bytes = bytes;
            }
            self.given += 1;
            out.push(it);
        }
        Ok((out, None))
    }
}

/// A JMESPath expression that an item fits or does not.
#[derive(Clone, Debug)]
pub struct Condition(Query);

impl Condition {
    /// Fails with `PARAM_INVALID`.
    pub fn parse(text: &str) -> Result<Self> {
        let query = Query::compile(text).map_err(|err| {
            Error::new(Code::ParamInvalid, err.to_string()).hint(
                "write a condition on one item, such as: price < `20` && contains(name, 'lamp')",
            )
        })?;
        Ok(Self(query))
    }

    /// By the truth of JMESPath: `false`, `null` and what is empty do not fit. Fails with `PARAM_INVALID` where a function of the
    /// expression cannot take what the item holds.
    pub fn matches(&self, item: &Value) -> Result<bool> {
        let found = self.0.search(&Document::from(item)).map_err(|err| {
            Error::new(Code::ParamInvalid, format!("the condition fails on an item: {err}"))
                .hint("use to_number(field) to compare a number in a text")
        })?;
        Ok(match found {
            Value::Null | Value::Bool(false) => false,
            Value::String(it) => !it.is_empty(),
            Value::Array(it) => !it.is_empty(),
            Value::Object(it) => !it.is_empty(),
            Value::Bool(true) | Value::Number(_) => true,
        })
    }
}

/// Names of fields, each with those in it that are wanted; none means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, Self)>);

impl Fields {
    /// Reads `name,price.amount,"odd.name"`: commas between fields, dots between a field and one in it, quotation marks around a name
    /// that holds one of these. Lists on the way are gone through. Fails with `PARAM_INVALID`.
    pub fn parse(text: &str) -> Result<Self> {
        let mut out = Self::default();
        let mut count = 0;
        for path in split(text, ',')? {
            let names = split(&path, '.')?;
            count += 1;
            if count > MAX_FIELDS || names.len() > MAX_DEPTH {
                return Err(invalid(&format!(
                    "there are more than {MAX_FIELDS} fields, or a field has more than {MAX_DEPTH} names"
                )));
            }
            out.add(&names)?;
        }
        Ok(out)
    }

    /// A field that is asked for whole and in part is asked for whole.
    fn add(&mut self, names: &[String]) -> Result<()> {
        let Some((first, rest)) = names.split_first() else { return Ok(()) };
        let name = unquote(first)?;
        let found = self.0.iter_mut().find(|it| it.0 == name);
        match (found, rest.is_empty()) {
            (Some((_, below)), true) => below.0.clear(),
            (Some((_, below)), false) if below.0.is_empty() => {}
            (Some((_, below)), false) => below.add(rest)?,
            (None, _) => {
                let mut below = Self::default();
                below.add(rest)?;
                self.0.push((name, below));
            }
        }
        Ok(())
    }

    /// What is wanted of a value; of a list, of each of its items. A field that is not there is left out.
    pub fn pick(&self, value: Value) -> Value {
        match value {
            _ if self.0.is_empty() => value,
            Value::Array(items) => items.into_iter().map(|it| self.pick(it)).collect(),
            Value::Object(mut all) => {
                let picked = self.0.iter().filter_map(|(name, below)| {
                    all.remove(name).map(|it| (name.clone(), below.pick(it)))
                });
                Value::Object(picked.collect())
            }
            plain => plain,
        }
    }

    fn check(&self, schema: &Value) -> Result<()> {
        let Some(missing) = self.missing(schema) else { return Ok(()) };
        let mut known = Vec::new();
        collect_field_paths(schema, "", &mut known);
        known.truncate(MAX_LISTED);
        Err(Error::new(Code::ParamInvalid, format!("the data has no field `{missing}`"))
            .hint(format!("it has {}", known.join(", "))))
    }

    /// The first field that the schema says is never there.
    fn missing(&self, schema: &Value) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        if let Some(items) = schema.get("items") {
            return self.missing(items);
        }
        let known = schema.get("properties").and_then(Value::as_object)?;
        self.0.iter().find_map(|(name, below)| match known.get(name) {
            Some(it) => below.missing(it).map(|it| format!("{name}.{it}")),
            None if schema.get("additionalProperties").is_some_and(Value::is_object) => None,
            None => Some(name.clone()),
        })
    }

    fn schema(&self, schema: &Value) -> Value {
        if self.0.is_empty() {
            return schema.clone();
        }
        let mut out = schema.clone();
        if let Some(items) = schema.get("items") {
            out["items"] = self.schema(items);
        }
        if let Some(known) = schema.get("properties").and_then(Value::as_object) {
            let kept = self.0.iter().filter_map(|(name, below)| {
                known.get(name).map(|it| (name.clone(), below.schema(it)))
            });
            out["properties"] = Value::Object(kept.collect::<Map<_, _>>());
        }
        if let Some(required) = schema.get("required").and_then(Value::as_array) {
            let kept = required.iter().filter(|it| self.0.iter().any(|own| *it == own.0.as_str()));
            out["required"] = kept.cloned().collect();
        }
        out
    }
}

/// Parts between separators, without space around them; a separator within quotation marks is none.
fn split(text: &str, separator: char) -> Result<Vec<String>> {
    let mut out = vec![String::new()];
    let (mut quoted, mut escaped) = (false, false);
    for it in text.chars() {
        let last = out.last_mut().ok_or_else(|| invalid("no field"))?;
        match it {
            _ if it == separator && !quoted => {
                out.push(String::new());
                continue;
            }
            '"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = it == '\\' && quoted && !escaped;
        last.push(it);
    }
    let out: Vec<String> = out.into_iter().map(|it| it.trim().to_owned()).collect();
    if quoted || out.iter().any(String::is_empty) {
        return Err(invalid("an empty field, or a quotation mark without its other"));
    }
    Ok(out)
}

fn unquote(name: &str) -> Result<String> {
    if !name.starts_with('"') {
        return Ok(name.to_owned());
    }
    serde_json::from_str(name).map_err(|_| invalid("a quotation mark within a name"))
}

fn invalid(why: &str) -> Error {
    Error::new(Code::ParamInvalid, format!("`fields` cannot be parsed: {why}"))
        .hint("write name,price.amount,\"a name with a . in it\"")
}

/// Paths of the fields that a schema knows, as [`Fields::parse`] reads them.
fn collect_field_paths(schema: &Value, before: &str, out: &mut Vec<String>) {
    if let Some(items) = schema.get("items") {
        return collect_field_paths(items, before, out);
    }
    for (name, it) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let is_plain = !name.is_empty() && !name.contains(['.', ',', '"', ' ']);
        let name = if is_plain { name.clone() } else { json!(name).to_string() };
        let path = if before.is_empty() { name } else { format!("{before}.{name}") };
        let many = out.len();
        collect_field_paths(it, &path, out);
        if out.len() == many {
            out.push(path);
        }
    }
}

fn not_a_list_error(kind: &str) -> Error {
    Error::new(
        Code::ParamInvalid,
        format!("a condition or a limit needs a list, and the data is of type {kind}"),
    )
    .hint("use `fields` or `max_bytes` for a single object")
}

fn too_large() -> Error {
    Error::new(Code::ResponseTooLarge, "the data, or its first item, is larger than `max_bytes`")
        .hint("name fewer `fields`, or allow more bytes")
}

const fn kind(it: &Value) -> &'static str {
    match it {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn length(it: &Value) -> u64 {
    it.to_string().len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lamps() -> Value {
        json!([
            {"name": "Ash", "price": {"amount": 12, "currency": "EUR"}, "tags": [{"id": 1, "of": "x"}], "a.b": 1},
            {"name": "Elm", "price": {"amount": 30, "currency": "EUR"}, "tags": [], "a.b": 2},
            {"name": "Oak", "price": {"amount": 8, "currency": "EUR"}, "tags": [{"id": 3, "of": "z"}]},
        ])
    }

    #[test]
    fn fields_are_picked_through_lists_in_their_order() {
        let of = |text: &str| Fields::parse(text).unwrap().pick(lamps()).to_string();
        let found = of("tags.id, name , \"a.b\"");
        assert_eq!(
            found,
            r#"[{"tags":[{"id":1}],"name":"Ash","a.b":1},{"tags":[],"name":"Elm","a.b":2},{"tags":[{"id":3}],"name":"Oak"}]"#
        );
        assert!(of("price.amount,price").contains("EUR"));
        assert!(of("price,price.amount").contains("EUR"));
        for it in ["", "a,,b", "a.", "\"a", "\"a\"b", ","] {
            assert_eq!(Fields::parse(it).unwrap_err().code(), Code::ParamInvalid, "{it}");
        }
        assert!(Fields::parse(&"a.".repeat(20)).is_err());
    }

    #[test]
    fn a_condition_is_one_of_jmespath_on_an_item() {
        let of = |text: &str| {
            let condition = Some(Condition::parse(text).unwrap());
            ResultFilter { condition, ..ResultFilter::default() }.apply(lamps())
        };
        let cheap = of("price.amount < `20` && !contains(name, 'k')").unwrap();
        assert_eq!(
            (cheap.data.as_array().unwrap().len(), cheap.filtered, cheap.cut),
            (1, 2, false)
        );
        // What is empty does not fit.
        assert_eq!(of("tags").unwrap().filtered, 1);
        assert_eq!(of("abs(name) > `1`").unwrap_err().code(), Code::ParamInvalid);
        assert_eq!(Condition::parse("[?").unwrap_err().code(), Code::ParamInvalid);
    }

    #[test]
    fn what_is_cut_is_said() {
        let of = |limit, max_bytes, data| {
            ResultFilter { limit, max_bytes, ..ResultFilter::default() }.apply(data)
        };
        assert!(of(Some(2), None, lamps()).unwrap().cut);
        assert!(!of(Some(3), None, lamps()).unwrap().cut);
        let list = json!([1, 22, 333]);
        for (most, given) in [(3, 1), (5, 1), (6, 2), (9, 2), (10, 3)] {
            let it = of(None, Some(most), list.clone()).unwrap();
            assert_eq!((it.data.as_array().unwrap().len(), it.cut), (given, given < 3), "{most}");
            assert!(it.data.to_string().len() as u64 <= most);
        }
        assert_eq!(of(None, Some(2), list).unwrap_err().code(), Code::ResponseTooLarge);
        // One thing is never cut in two.
        assert_eq!(
            of(None, Some(5), json!({"a": "long"})).unwrap_err().code(),
            Code::ResponseTooLarge
        );
        assert_eq!(of(Some(1), None, json!({})).unwrap_err().code(), Code::ParamInvalid);
    }

    #[test]
    fn a_limit_counts_over_pages() {
        let narrowing = ResultFilter {
            condition: Some(Condition::parse("price.amount < `20`").unwrap()),
            limit: Some(3),
            ..ResultFilter::default()
        };
        let mut sieve = ItemFilter::new(&narrowing, Some(100));
        let pages = || lamps().as_array().unwrap().clone();
        let (first, rest) = sieve.take(pages()).unwrap();
        assert_eq!((first.len(), rest, sieve.is_full()), (2, None, false));
        let (second, rest) = sieve.take(pages()).unwrap();
        assert_eq!(
            (second.len(), rest, sieve.is_full(), sieve.filtered_count()),
            (1, Some(2), true, 2)
        );
    }

    #[test]
    fn fields_are_those_of_the_schema_and_narrow_it() {
        let schema = json!({"type": "array", "items": {"type": "object", "required": ["name", "price"], "properties": {
            "name": {"type": "string"}, "a.b": {"type": "integer"}, "free": {},
            "price": {"type": "object", "properties": {"amount": {}, "currency": {}}},
        }}});
        let fields = Fields::parse("price.amount,free.any,\"a.b\"").unwrap();
        fields.check(&schema).unwrap();
        let narrowed = fields.schema(&schema);
        assert_eq!(narrowed["items"]["required"], json!(["price"]));
        assert_eq!(narrowed["items"]["properties"]["price"]["properties"], json!({"amount": {}}));
        let err = Fields::parse("price.amont").unwrap().check(&schema).unwrap_err();
        assert_eq!(err.to_string(), "the data has no field `price.amont`");
        assert_eq!(
            err.hint_text(),
            Some("it has name, \"a.b\", free, price.amount, price.currency")
        );
        Fields::parse("anything").unwrap().check(&json!({})).unwrap();
    }
}
