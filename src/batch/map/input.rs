//! Lines of input, one after the other: a million of them are never in memory.

use std::{
    collections::BTreeMap,
    io::{BufRead, Read as _},
};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use commis_base::error::{Code, Error, Result};
use commis_learn::stage_inputs;
use commis_recipe::params::Params;

/// A line that is longer is none of parameters.
const MAX_LINE: u64 = 1 << 20;
/// What a random value is called. A parameter's is as likely the name of a thing as a secret.
const RANDOM: &str = "a long random value";

/// A line that is not empty.
pub struct Input {
    /// From 1; empty lines count.
    pub line: u64,
    /// As it may be written down, `null` where nothing could be read.
    pub shown: Value,
    /// Something of it is not shown.
    pub hidden: bool,
    pub params: Result<BTreeMap<String, String>>,
    /// Bytes up to its end.
    pub read: u64,
}

impl Input {
    /// One that was read before.
    pub fn from_value(line: u64, given: Value) -> Self {
        Self::parse(line, 0, given.to_string().as_bytes())
    }

    fn parse(line: u64, read: u64, text: &[u8]) -> Self {
        let bad = |why: String| {
            Error::new(Code::ParamInvalid, format!("line {line} {why}"))
                .hint("a line is one JSON object of parameters, such as {\"query\": \"lamp\"}")
        };
        let ((shown, hidden), params) = match serde_json::from_slice::<Value>(text) {
            Err(err) => {
                // What is wrong, not what is there.
                let why = format!("is not JSON (column {})", err.column());
                ((Value::Null, false), Err(bad(why)))
            }
            Ok(it) if !it.is_object() => {
                ((Value::Null, false), Err(bad("is no object".to_owned())))
            }
            Ok(it) => {
                let params = serde_json::from_value::<Params>(it.clone());
                let params =
                    params.map(Into::into).map_err(|err| bad(format!("has one that {err}")));
                (mask_secrets(it), params)
            }
        };
        Self { line, shown, hidden, params, read }
    }

    /// Tells inputs apart, as far as they are shown.
    pub fn shown_hash(&self) -> u64 {
        hash_value(&self.shown)
    }
}

/// Tells shown inputs apart.
pub fn hash_value(shown: &Value) -> u64 {
    let digest = Sha256::digest(shown.to_string().as_bytes());
    u64::from_be_bytes([
        digest[0], digest[1], digest[2], digest[3], digest[4], digest[5], digest[6], digest[7],
    ])
}

/// A run writes its parameters nowhere. A result says whose it is, without what seems to be a secret; and whether there was any.
fn mask_secrets(mut given: Value) -> (Value, bool) {
    let mut hidden = false;
    if let Value::Object(all) = &mut given {
        for (name, value) in all.iter_mut() {
            let text = match &*value {
                Value::String(it) => it.clone(),
                Value::Number(it) => it.to_string(),
                _ => {
                    stage_inputs::redact(value);
                    continue;
                }
            };
            if commis_redact::typed_secret(name, &text).is_some_and(|why| why != RANDOM) {
                hidden = true;
                let known = commis_redact::message(&text);
                *value = Value::String(if known == text {
                    format!("[REDACTED:{}]", name.to_lowercase())
                } else {
                    known
                });
            }
        }
    }
    (given, hidden)
}

/// Reads line by line until there is no more, or `each` says that it wants no more. Fails with [`Code::Usage`].
pub fn read(mut from: impl BufRead, mut each: impl FnMut(Input) -> bool) -> Result<()> {
    let (mut line, mut read) = (0, 0);
    let mut text = Vec::new();
    loop {
        text.clear();
        let failed = |err| Error::new(Code::Usage, "cannot read the inputs").source(err);
        let got = (&mut from).take(MAX_LINE + 1).read_until(b'\n', &mut text).map_err(failed)?;
        if got == 0 {
            return Ok(());
        }
        line += 1;
        read += got as u64;
        let whole = text.ends_with(b"\n") || got as u64 <= MAX_LINE;
        if !whole {
            read += skip(&mut from).map_err(failed)?;
        }
        let mut given = text.trim_ascii();
        if line == 1 {
            given = given.strip_prefix(b"\xef\xbb\xbf").unwrap_or(given);
        }
        if given.is_empty() {
            continue;
        }
        let input = if whole {
            Input::parse(line, read, given)
        } else {
            let why = format!("line {line} is longer than {MAX_LINE} bytes");
            let params = Err(Error::new(Code::ParamInvalid, why));
            Input { line, shown: Value::Null, hidden: false, params, read }
        };
        if !each(input) {
            return Ok(());
        }
    }
}

/// Up to the end of the line; how much that was.
fn skip(from: &mut impl BufRead) -> std::io::Result<u64> {
    let mut gone = 0;
    loop {
        let there = from.fill_buf()?;
        let (n, ended) = match there.iter().position(|it| *it == b'\n') {
            Some(at) => (at + 1, true),
            None => (there.len(), there.is_empty()),
        };
        from.consume(n);
        gone += n as u64;
        if ended {
            return Ok(gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line, as it is shown, parameters or what is wrong.
    type ParsedLine = (u64, String, Result<BTreeMap<String, String>, String>);

    fn all(text: &[u8]) -> Vec<ParsedLine> {
        let mut out = Vec::new();
        let each = |it: Input| {
            out.push((it.line, it.shown.to_string(), it.params.map_err(|err| err.to_string())));
            true
        };
        read(text, each).unwrap();
        out
    }

    #[test]
    fn a_line_is_an_object_of_parameters() {
        let text = b"\xef\xbb\xbf{\"q\": \"lamp\", \"n\": 2.0}\r\n\n  \nnothing\n[1]\n{\"q\": null}\n{\"q\": \"last\"}";
        let got = all(text);
        let lines: Vec<u64> = got.iter().map(|it| it.0).collect();
        assert_eq!(lines, [1, 4, 5, 6, 7]);
        let params = got[0].2.as_ref().unwrap();
        assert_eq!((params["q"].as_str(), params["n"].as_str()), ("lamp", "2"));
        assert_eq!(got[0].1, r#"{"q":"lamp","n":2.0}"#);
        for (at, part) in [(1, "line 4 is not JSON"), (2, "no object"), (3, "`q` is neither")] {
            let err = got[at].2.as_ref().unwrap_err();
            assert!(err.contains(part) && !err.contains("nothing"), "{err}");
        }
        assert_eq!(got[4].2.as_ref().unwrap()["q"], "last");
    }

    #[test]
    fn a_line_without_end_is_one_bad_line() {
        let mut text = vec![b'x'; MAX_LINE as usize * 3];
        text.extend_from_slice(b"\n{\"q\":1}\n");
        let got = all(&text);
        assert_eq!(got.len(), 2);
        assert!(got[0].2.as_ref().unwrap_err().contains("longer than"));
        assert_eq!((got[1].0, got[1].2.as_ref().unwrap()["q"].as_str()), (2, "1"));
        // Just as long as may be.
        let mut text = vec![b' '; MAX_LINE as usize - 8];
        text.extend_from_slice(b"{\"q\":1}\n{}\n");
        assert!(all(&text).iter().all(|it| it.2.is_ok()));
    }

    #[test]
    fn what_seems_a_secret_is_not_written_down() {
        let shown = |text: &str| mask_secrets(serde_json::from_str(text).unwrap()).0.to_string();
        let same = r#"{"q":"lamp","id":"3f9a8c7e1b2d4f6a8c7e","n":3,"b":true}"#;
        assert_eq!(shown(same), same);
        let out = shown(r#"{"password":"hunter2","q":"lamp"}"#);
        assert_eq!(out, r#"{"password":"[REDACTED:password]","q":"lamp"}"#);
        assert_eq!(hash_value(&Value::Null), hash_value(&Value::Null));
    }
}
