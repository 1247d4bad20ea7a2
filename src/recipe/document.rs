//! A JSON document as expressions see it: text borrowed from the answer, keys in order, and only what is looked at.
//!
//! Read like `serde_json::Value`: of equal keys the last counts, 128 levels, and what is left out must be JSON as well.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::projection::FieldMask;

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Document<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Document<'a>>),
    /// By key, each once.
    Object(Vec<(Cow<'a, str>, Document<'a>)>),
}

impl<'a> Document<'a> {
    pub const NULL: &'static Document<'static> = &Document::Null;

    /// Reads a text of JSON, and keeps what is in reach. Fails as `serde_json::from_str` does for a `Value`.
    pub fn parse(text: &'a str, reach: &'a FieldMask) -> Result<Self, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let out = ValueSeed(reach).deserialize(&mut reader)?;
        reader.end()?;
        Ok(out)
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The field of an object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(all) = self else { return None };
        let at = all.binary_search_by(|it| it.0.as_ref().cmp(name)).ok()?;
        Some(&all[at].1)
    }

    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(all) => Some(all),
            _ => None,
        }
    }

    /// Of how many values it is made.
    pub fn size(&self) -> u64 {
        match self {
            Self::List(all) => all.iter().map(Self::size).sum::<u64>() + 1,
            Self::Object(all) => all.iter().map(|it| it.1.size()).sum::<u64>() + 1,
            _ => 1,
        }
    }

    /// The same, with texts of its own.
    pub fn into_owned(self) -> Document<'static> {
        let text = |it: Cow<'_, str>| Cow::Owned(it.into_owned());
        match self {
            Self::Null => Document::Null,
            Self::Bool(it) => Document::Bool(it),
            Self::Number(it) => Document::Number(it),
            Self::Text(it) => Document::Text(text(it)),
            Self::List(all) => Document::List(all.into_iter().map(Document::into_owned).collect()),
            Self::Object(all) => Document::Object(
                all.into_iter().map(|(key, it)| (text(key), it.into_owned())).collect(),
            ),
        }
    }

    /// The same as a value of its own, keys in order.
    pub fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(it) => it.into(),
            Self::Number(it) => it.into(),
            Self::Text(it) => it.into_owned().into(),
            Self::List(all) => all.into_iter().map(Self::into_value).collect(),
            Self::Object(all) => {
                let mut out = Map::with_capacity(all.len());
                out.extend(all.into_iter().map(|(key, it)| (key.into_owned(), it.into_value())));
                out.into()
            }
        }
    }
}

impl<'a> From<&'a Value> for Document<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(it) => Self::Bool(*it),
            Value::Number(it) => Self::Number(it.clone()),
            Value::String(it) => Self::Text(it.into()),
            Value::Array(all) => Self::List(all.iter().map(Self::from).collect()),
            Value::Object(all) => {
                Self::Object(sort_by_key(all.iter().map(|(k, it)| (k.into(), it.into())).collect()))
            }
        }
    }
}

/// By key; of equal ones the last.
fn sort_by_key<'a>(
    mut all: Vec<(Cow<'a, str>, Document<'a>)>,
) -> Vec<(Cow<'a, str>, Document<'a>)> {
    if !all.is_sorted_by(|a, b| a.0 < b.0) {
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
    }
    all
}

/// Reads a value and keeps so much of it.
#[derive(Clone, Copy)]
struct ValueSeed<'a>(&'a FieldMask);

impl<'a> DeserializeSeed<'a> for ValueSeed<'a> {
    type Value = Document<'a>;

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<Document<'a>, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for ValueSeed<'a> {
    type Value = Document<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<Document<'a>, E> {
        Ok(Document::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Document<'a>, E> {
        Ok(Document::Bool(it))
    }

    fn visit_i64<E>(self, it: i64) -> Result<Document<'a>, E> {
        Ok(Document::Number(it.into()))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Document<'a>, E> {
        Ok(Document::Number(it.into()))
    }

    fn visit_f64<E>(self, it: f64) -> Result<Document<'a>, E> {
        Ok(Number::from_f64(it).map_or(Document::Null, Document::Number))
    }

    fn visit_str<E>(self, it: &str) -> Result<Document<'a>, E> {
        Ok(Document::Text(it.to_owned().into()))
    }

    fn visit_borrowed_str<E>(self, it: &'a str) -> Result<Document<'a>, E> {
        Ok(Document::Text(it.into()))
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut all: A) -> Result<Document<'a>, A::Error> {
        let mut out = Vec::new();
        match self.0.get_elements() {
            Some(reach) => {
                while let Some(it) = all.next_element_seed(ValueSeed(reach))? {
                    out.push(it);
                }
            }
            None => while all.next_element_seed(SkipSeed)?.is_some() {},
        }
        Ok(Document::List(out))
    }

    fn visit_map<A: MapAccess<'a>>(self, mut all: A) -> Result<Document<'a>, A::Error> {
        let mut out = Vec::with_capacity(self.0.field_count().unwrap_or(0));
        while let Some(key) = all.next_key_seed(KeySeed(self.0))? {
            match key {
                Some((key, reach)) => out.push((key, all.next_value_seed(ValueSeed(reach))?)),
                None => all.next_value_seed(SkipSeed)?,
            }
        }
        Ok(Document::Object(sort_by_key(out)))
    }
}

/// Reads a key; `None` when the field is not kept.
struct KeySeed<'a>(&'a FieldMask);

impl<'a> DeserializeSeed<'a> for KeySeed<'a> {
    type Value = Option<(Cow<'a, str>, &'a FieldMask)>;

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'a> Visitor<'a> for KeySeed<'a> {
    type Value = Option<(Cow<'a, str>, &'a FieldMask)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.get_field(key).map(|it| (key.to_owned().into(), it)))
    }

    fn visit_borrowed_str<E>(self, key: &'a str) -> Result<Self::Value, E> {
        Ok(self.0.get_field(key).map(|it| (key.into(), it)))
    }
}

/// Reads a value as closely as any other and keeps nothing. (`IgnoredAny` looks less closely: not at depth, at surrogates or
/// at the size of numbers.)
#[derive(Clone, Copy)]
struct SkipSeed;

impl<'a> DeserializeSeed<'a> for SkipSeed {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for SkipSeed {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut all: A) -> Result<(), A::Error> {
        while all.next_element_seed(Self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'a>>(self, mut all: A) -> Result<(), A::Error> {
        while all.next_key_seed(Self)?.is_some() {
            all.next_value_seed(Self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
