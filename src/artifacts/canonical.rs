//! RFC 8785 canonical JSON, hashed while it is written: no copy of a payload is made for its hash.
//!
//! `serde_json` writes it, but for two things that RFC 8785 wants otherwise: keys in the order of their UTF-16 code units,
//! and numbers as ECMAScript prints doubles.

use std::io::{self, Write};

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Value, ser::Formatter};
use sha2::{Digest as _, Sha256};

use crate::ids::hex;

/// SHA-256 over the canonical form, lower-case hexadecimal.
pub fn sha256(value: &Value) -> String {
    let mut sink = Hashing { hash: Sha256::new(), buffer: Vec::with_capacity(BUFFER) };
    // Neither the sink nor a `Value` can fail.
    let _ = Canonical(value)
        .serialize(&mut serde_json::Serializer::with_formatter(&mut sink, EcmaScriptNumbers));
    sink.hash.update(&sink.buffer);
    hex(&sink.hash.finalize())
}

const BUFFER: usize = 16 * 1024;

struct Hashing {
    hash: Sha256,
    buffer: Vec<u8>,
}

impl Write for Hashing {
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
struct Canonical<'a>(&'a Value);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => to.collect_seq(items.iter().map(Canonical)),
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
                    map.serialize_entry(key, &Canonical(value))?;
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
            assert_eq!(sha256(&value), hex(&Sha256::digest(other)), "{value}");
        }
    }
}
