//! RFC 8785 canonical JSON, hashed while it is written: no copy of a payload is made for its hash.
//!
//! `serde_json` writes it, but for two things that RFC 8785 wants otherwise: keys in the order of their UTF-16 code units,
//! and numbers as ECMAScript prints doubles.

use std::{
    fmt,
    io::{self, Write},
};

use serde::{
    Serialize, Serializer,
    de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor},
    ser::SerializeMap as _,
};
use serde_json::{Value, ser::Formatter, value::RawValue};
use sha2::{Digest as _, Sha256};

use commis_base::ids::hex;

/// SHA-256 over the canonical form, lower-case hexadecimal.
pub fn sha256(value: &Value) -> String {
    let mut sink = HashWriter::new();
    // Neither the sink nor a `Value` can fail.
    let _ = write_value(value, &mut sink);
    sink.end()
}

/// The same of a JSON text, without a tree of it as long as each object's keys stand in order, as they do in what is written
/// here. Fails where it is no JSON.
pub fn canonical_sha256_of_text(text: &RawValue) -> serde_json::Result<String> {
    let mut sink = HashWriter::new();
    let mut from = serde_json::Deserializer::from_str(text.get());
    if CanonicalWriter(&mut sink).deserialize(&mut from).and_then(|()| from.end()).is_ok() {
        return Ok(sink.end());
    }
    // Another order, a key twice, or no JSON: a tree tells which.
    serde_json::from_str(text.get()).map(|it| sha256(&it))
}

fn write_value(value: &Value, to: &mut HashWriter) -> serde_json::Result<()> {
    SortedValue(value).serialize(&mut serde_json::Serializer::with_formatter(to, EcmaScriptNumbers))
}

/// Writes the canonical form of what it reads, as it reads it.
struct CanonicalWriter<'a>(&'a mut HashWriter);

impl CanonicalWriter<'_> {
    /// One that holds no others.
    fn write_leaf<E: serde::de::Error>(self, it: &Value) -> Result<(), E> {
        write_value(it, self.0).map_err(E::custom)
    }

    fn write_text<E: serde::de::Error>(&mut self, it: &str) -> Result<(), E> {
        serde_json::to_writer(&mut *self.0, it).map_err(E::custom)
    }

    fn write_bytes(&mut self, bytes: &[u8]) {
        // It cannot fail.
        let _ = self.0.write(bytes);
    }
}

impl<'de> DeserializeSeed<'de> for CanonicalWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CanonicalWriter<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.write_leaf(&Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, it: bool) -> Result<(), E> {
        self.write_leaf(&it.into())
    }

    fn visit_u64<E: serde::de::Error>(self, it: u64) -> Result<(), E> {
        self.write_leaf(&it.into())
    }

    fn visit_i64<E: serde::de::Error>(self, it: i64) -> Result<(), E> {
        self.write_leaf(&it.into())
    }

    fn visit_f64<E: serde::de::Error>(self, it: f64) -> Result<(), E> {
        self.write_leaf(&it.into())
    }

    fn visit_str<E: serde::de::Error>(mut self, it: &str) -> Result<(), E> {
        self.write_text(it)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let mut between: &[u8] = b"[";
        loop {
            // Nothing of a list that is empty was written before its end is known.
            if items.next_element_seed(PrefixedItem(between, &mut *self.0))?.is_none() {
                break;
            }
            between = b",";
        }
        self.write_bytes(if between == b"[" { b"[]" } else { b"]" });
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        self.write_bytes(b"{");
        let mut last: Option<String> = None;
        while let Some(key) = fields.next_key::<String>()? {
            if let Some(last) = &last {
                if !last.encode_utf16().lt(key.encode_utf16()) {
                    return Err(A::Error::custom("keys out of order"));
                }
                self.write_bytes(b",");
            }
            self.write_text(&key)?;
            self.write_bytes(b":");
            fields.next_value_seed(CanonicalWriter(&mut *self.0))?;
            last = Some(key);
        }
        self.write_bytes(b"}");
        Ok(())
    }
}

/// An item of a list, with what stands before it.
struct PrefixedItem<'a>(&'static [u8], &'a mut HashWriter);

impl<'de> DeserializeSeed<'de> for PrefixedItem<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        let mut to = CanonicalWriter(self.1);
        to.write_bytes(self.0);
        to.deserialize(from)
    }
}

const BUFFER: usize = 16 * 1024;

struct HashWriter {
    hash: Sha256,
    buffer: Vec<u8>,
}

impl HashWriter {
    fn new() -> Self {
        Self { hash: Sha256::new(), buffer: Vec::with_capacity(BUFFER) }
    }

    fn end(mut self) -> String {
        self.hash.update(&self.buffer);
        hex(&self.hash.finalize())
    }
}

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.hash.update(&self.buffer);
            self.buffer.clear();
        }
        if bytes.len() > BUFFER {
            self.hash.update(bytes);
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value whose objects are written in order.
struct SortedValue<'a>(&'a Value);

impl Serialize for SortedValue<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => to.collect_seq(items.iter().map(SortedValue)),
            Value::Object(fields) => {
                let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
                // Bytes are in the order of code units as long as all are ASCII.
                if fields.iter().all(|it| it.0.is_ascii()) {
                    fields.sort_unstable_by_key(|it| it.0);
                } else {
                    fields.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
                }
                let mut map = to.serialize_map(Some(fields.len()))?;
                for (key, value) in fields {
                    map.serialize_entry(key, &SortedValue(value))?;
                }
                map.end()
            }
            // Integers that a double holds are printed alike; all others are doubles to ECMAScript.
            Value::Number(it) => match (it.as_i64(), it.as_f64()) {
                (Some(it), _) if it.unsigned_abs() <= 1 << 53 => to.serialize_i64(it),
                (_, Some(it)) => to.serialize_f64(it),
                (_, None) => it.serialize(to),
            },
            it => it.serialize(to),
        }
    }
}

struct EcmaScriptNumbers;

impl Formatter for EcmaScriptNumbers {
    fn write_f64<W: ?Sized + Write>(&mut self, to: &mut W, value: f64) -> io::Result<()> {
        to.write_all(ryu_js::Buffer::new().format_finite(value).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sorted(mut it: Value) -> Value {
        it.sort_all_objects();
        it
    }

    #[test]
    fn a_text_is_judged_as_its_tree_is() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        for text in [
            r#"{"a":1,"a":2}"#,
            r#"{"b":1,"a":[{"d":1,"c":-0}]}"#,
            r#"{"a":1.50,"b":"\u00e9\/","c":[[],{},[1],[1,2]]}"#,
            r#""\ud800""#,
            "1e400",
            "-0.0",
            deep.as_str(),
        ] {
            let Ok(raw) = serde_json::from_str::<&RawValue>(text) else {
                assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
                continue;
            };
            let tree = serde_json::from_str::<Value>(text).map(|it| sha256(&it));
            assert_eq!(canonical_sha256_of_text(raw).ok(), tree.ok(), "{text}");
        }
    }

    #[test]
    fn it_is_what_another_implementation_writes() {
        let odd: Value = serde_json::from_str(
            r"[1e21, 1e-7, 123456789012345680000, -0.0, 5e-324, 9007199254740993, -9007199254740993,
                18446744073709551615, -9223372036854775808, 1.0, 4.50, 333333333.33333329, 1e300]",
        )
        .unwrap();
        for value in [
            odd,
            json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7}),
            json!({"b": [{"d": null, "c": [true, {}, []]}], "a": "\u{1}\u{7f}\"\\/\u{8}\u{c}\n\r\t é\u{2028}"}),
            json!([{"long": "x".repeat(3 * BUFFER), "short": "y"}]),
            json!("text"),
        ] {
            let other = serde_json_canonicalizer::to_vec(&value).unwrap();
            let hash = hex(&Sha256::digest(other));
            assert_eq!(sha256(&value), hash, "{value}");
            // As it is written, and in any other order and spacing.
            for text in
                [serde_json::to_string_pretty(&sorted(value.clone())).unwrap(), value.to_string()]
            {
                let text = RawValue::from_string(text).unwrap();
                assert_eq!(canonical_sha256_of_text(&text).unwrap(), hash, "{text}");
            }
        }
    }
}
