//! Values of parameters and slots: bounded, checked and typed before anything is substituted.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::{Number, Value};

use super::model::{Format, ParamType, Parameter};
use commis_base::error::{Code, Error, Result};

/// `security.md`, "Hostile input": a length cap before substitution.
const MAX_PARAM: usize = 2_000;
/// Slots hold tokens and cookies, which sites make longer than anyone types.
const MAX_SLOT: usize = 8_192;

/// What the names of a template stand for. A parameter that is optional and was not given stands for nothing.
#[derive(Clone, Debug, Default)]
pub struct Values {
    by_name: BTreeMap<String, Option<BoundValue>>,
}

/// What a name stands for now.
#[derive(Clone, Copy, Debug)]
pub enum ValueLookup<'a> {
    Given(&'a BoundValue),
    /// Optional and not given.
    Absent,
    /// Nobody declared or gave it.
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BoundValue {
    pub text: String,
    /// The same as a JSON number or boolean, when its type is one.
    pub typed: Option<Value>,
}

impl Values {
    /// Checks `given` against the declarations and fills in defaults. Names that no parameter declares are ignored.
    /// Fails with `PARAM_INVALID`, naming the parameter.
    pub fn bind(parameters: &[Parameter], given: &BTreeMap<String, String>) -> Result<Self> {
        let mut by_name = BTreeMap::new();
        for parameter in parameters {
            let bound = match given.get(&parameter.name).or(parameter.default.as_ref()) {
                Some(text) => Some(coerce(parameter, text)?),
                None if parameter.required => return Err(missing(parameter)),
                None => None,
            };
            by_name.insert(parameter.name.clone(), bound);
        }
        Ok(Self { by_name })
    }

    /// Adds a slot's value; a parameter of that name wins. Fails with `PARAM_INVALID` when it can not be substituted.
    pub fn add_slot(&mut self, name: &str, text: &str) -> Result<()> {
        if !self.by_name.contains_key(name) {
            check_harmless(name, text, MAX_SLOT)?;
            let bound = BoundValue { text: text.to_owned(), typed: None };
            self.by_name.insert(name.to_owned(), Some(bound));
        }
        Ok(())
    }

    /// Adds the values of a list: as they stand in a text, and in JSON where that is given. Fails as [`Self::add_slot`].
    pub fn add_list(&mut self, name: &str, text: &str, list: Option<Value>) -> Result<()> {
        self.add_slot(name, text)?;
        if let (Some(list), Some(Some(it))) = (list, self.by_name.get_mut(name)) {
            it.typed = Some(list);
        }
        Ok(())
    }

    pub fn get(&self, name: &str) -> ValueLookup<'_> {
        match self.by_name.get(name) {
            Some(Some(bound)) => ValueLookup::Given(bound),
            Some(None) => ValueLookup::Absent,
            None => ValueLookup::Unknown,
        }
    }
}

/// One value of one parameter, checked. Fails with `PARAM_INVALID`.
pub fn coerce(parameter: &Parameter, text: &str) -> Result<BoundValue> {
    let name = &parameter.name;
    check_harmless(name, text, MAX_PARAM)?;
    let wrong = |what: &str| {
        Error::new(Code::ParamInvalid, format!("the value of `{name}` is {what}"))
            .hint(examples(parameter))
    };
    let constraints = &parameter.constraints;
    let (word, text) = if constraints.map.is_empty() {
        (text, text)
    } else {
        mapped_value(&constraints.map, text).ok_or_else(|| wrong("not one of the choices"))?
    };
    check_harmless(name, text, MAX_PARAM)?;
    let (bound, number) = match parameter.kind {
        ParamType::Str => (BoundValue { text: text.to_owned(), typed: None }, None),
        ParamType::Int => {
            let it: i64 = text.trim().parse().map_err(|_| wrong("not a whole number"))?;
            let bound = BoundValue { text: it.to_string(), typed: Some(it.into()) };
            (bound, Some(it as f64))
        }
        ParamType::Float => {
            let text = text.trim();
            let it: f64 = text.parse().map_err(|_| wrong("not a number"))?;
            // `3` stays `3`; `.5` is not JSON and becomes 0.5.
            let number = serde_json::from_str::<Number>(text)
                .ok()
                .or_else(|| Number::from_f64(it))
                .filter(|_| it.is_finite())
                .ok_or_else(|| wrong("not a finite number"))?;
            let bound = BoundValue { text: number.to_string(), typed: Some(number.into()) };
            (bound, Some(it))
        }
        ParamType::Bool => {
            let it = match text.trim().to_ascii_lowercase().as_str() {
                "true" => true,
                "false" => false,
                _ => return Err(wrong("neither true nor false")),
            };
            let bound = BoundValue { text: it.to_string(), typed: Some(it.into()) };
            (bound, None)
        }
    };
    if let Some(max) = constraints.max_len
        && bound.text.chars().count() > max as usize
    {
        return Err(wrong(&format!("longer than {max} characters")));
    }
    if constraints.format == Some(Format::Date) && !is_date(&bound.text) {
        return Err(wrong("not a date such as 2026-03-28"));
    }
    if let (Some(min), Some(it)) = (constraints.min, number)
        && it < min as f64
    {
        return Err(wrong(&format!("less than {min}")));
    }
    if let (Some(max), Some(it)) = (constraints.max, number)
        && it > max as f64
    {
        return Err(wrong(&format!("more than {max}")));
    }
    if !constraints.one_of.is_empty()
        && !constraints.one_of.contains(&bound.text)
        && !constraints.one_of.iter().any(|it| it == word)
    {
        return Err(wrong(&format!("not one of {}", constraints.one_of.join(", "))));
    }
    Ok(bound)
}

/// The values with each choice as its parameter declares it: the same choice in other case is the same value.
pub fn declared_words<'a>(
    parameters: &[Parameter],
    given: &'a BTreeMap<String, String>,
) -> Cow<'a, BTreeMap<String, String>> {
    let mut out = Cow::Borrowed(given);
    for it in parameters {
        let declared = given.get(&it.name).and_then(|text| {
            let (word, _) = mapped_value(&it.constraints.map, text)?;
            (word != text).then(|| word.to_owned())
        });
        if let Some(word) = declared {
            out.to_mut().insert(it.name.clone(), word);
        }
    }
    out
}

/// The word as it is declared, in whatever case it was given, and what is sent for it.
fn mapped_value<'a>(map: &'a BTreeMap<String, String>, text: &str) -> Option<(&'a str, &'a str)> {
    let exact = map.get_key_value(text);
    let lower = text.trim().to_lowercase();
    let found = exact.or_else(|| map.iter().find(|it| it.0.to_lowercase() == lower))?;
    Some((found.0, found.1))
}

/// Year, month and day of RFC 3339, of a day that exists.
pub fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn check_harmless(name: &str, text: &str, max: usize) -> Result<()> {
    if text.len() > max {
        return Err(Error::new(
            Code::ParamInvalid,
            format!("the value of `{name}` is longer than {max} bytes"),
        ));
    }
    if text.contains(['\r', '\n', '\0']) {
        return Err(Error::new(
            Code::ParamInvalid,
            format!("the value of `{name}` contains a line break or NUL"),
        ));
    }
    Ok(())
}

fn missing(parameter: &Parameter) -> Error {
    Error::new(Code::ParamInvalid, format!("parameter `{}` is missing", parameter.name))
        .hint(examples(parameter))
}

fn examples(parameter: &Parameter) -> String {
    if !parameter.constraints.map.is_empty() {
        let words: Vec<&str> = parameter.constraints.map.keys().map(String::as_str).collect();
        return format!("give one of {}", words.join(", "));
    }
    let kind = parameter.kind.describe();
    if parameter.examples.is_empty() {
        format!("give {kind}")
    } else {
        format!("give {kind}, for example {}", parameter.examples.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Constraints, ParamSource};

    fn check(kind: ParamType, constraints: Constraints, text: &str, want: Option<&str>) {
        let parameter = Parameter {
            name: "n".into(),
            kind,
            required: true,
            source: ParamSource::TaskInput,
            default: None,
            constraints,
            examples: vec!["7".into()],
        };
        let got = coerce(&parameter, text)
            .ok()
            .map(|it| it.typed.map_or(format!("{:?}", it.text), |it| it.to_string()));
        assert_eq!(got.as_deref(), want, "{kind:?} {text:?}");
    }

    #[test]
    fn a_choice_in_other_case_is_the_declared_one() {
        let map = [("Berg", "b"), ("Solvik", "s")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let parameter = Parameter {
            name: "town".into(),
            kind: ParamType::Str,
            required: true,
            source: ParamSource::TaskInput,
            default: None,
            constraints: Constraints { map: map.into(), ..Constraints::default() },
            examples: Vec::new(),
        };
        for (given, want) in [("berg", "Berg"), ("Berg", "Berg"), ("Nesset", "Nesset")] {
            let given = BTreeMap::from([("town".to_owned(), given.to_owned())]);
            assert_eq!(declared_words(std::slice::from_ref(&parameter), &given)["town"], want);
        }
    }

    #[test]
    fn coercion() {
        let free = Constraints::default;
        let range = || Constraints { min: Some(-1), max: Some(10), ..free() };
        let short = || Constraints { max_len: Some(3), ..free() };
        let one_of = || Constraints { one_of: vec!["new".into(), "7".into()], ..free() };
        check(ParamType::Str, free(), "a b", Some("\"a b\""));
        check(ParamType::Str, free(), "", Some("\"\""));
        check(ParamType::Str, free(), "a\nb", None);
        check(ParamType::Str, free(), "a\rb", None);
        check(ParamType::Str, free(), "a\0b", None);
        check(ParamType::Str, free(), &"x".repeat(2001), None);
        check(ParamType::Str, short(), "äöü", Some("\"äöü\""));
        check(ParamType::Str, short(), "äöüß", None);
        check(ParamType::Str, one_of(), "new", Some("\"new\""));
        check(ParamType::Str, one_of(), "NEW", None);
        let date = || Constraints { format: Some(Format::Date), ..free() };
        check(ParamType::Str, date(), "2028-02-29", Some("\"2028-02-29\""));
        for text in ["2027-02-29", "20280229", "tomorrow", "2028-02-29T10:00", ""] {
            check(ParamType::Str, date(), text, None);
        }
        let fish = || Constraints {
            map: [("Fish", "12"), ("Fowl", "7")].map(|it| (it.0.into(), it.1.into())).into(),
            one_of: vec!["Fish".into(), "Fowl".into()],
            ..free()
        };
        check(ParamType::Str, fish(), "Fish", Some("\"12\""));
        check(ParamType::Str, fish(), " fowl", Some("\"7\""));
        check(ParamType::Int, fish(), "Fish", Some("12"));
        for text in ["12", "Meat", ""] {
            check(ParamType::Str, fish(), text, None);
        }
        check(ParamType::Int, free(), "12", Some("12"));
        check(ParamType::Int, free(), " -3 ", Some("-3"));
        check(ParamType::Int, free(), "1.5", None);
        check(ParamType::Int, free(), "0x10", None);
        check(ParamType::Int, free(), "99999999999999999999", None);
        check(ParamType::Int, range(), "10", Some("10"));
        check(ParamType::Int, range(), "11", None);
        check(ParamType::Int, range(), "-2", None);
        check(ParamType::Int, one_of(), "07", Some("7"));
        check(ParamType::Float, free(), "3", Some("3"));
        check(ParamType::Float, free(), ".5", Some("0.5"));
        check(ParamType::Float, range(), "10.5", None);
        check(ParamType::Float, free(), "inf", None);
        check(ParamType::Float, free(), "NaN", None);
        check(ParamType::Float, free(), "1e999", None);
        check(ParamType::Bool, free(), "True", Some("true"));
        check(ParamType::Bool, free(), "1", None);
    }
}
