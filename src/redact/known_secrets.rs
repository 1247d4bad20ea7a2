//! Values that the program itself sends: hidden wherever an answer or a message repeats them.

use std::borrow::Cow;

use serde_json::Value;
use zeroize::Zeroizing;

use super::{matcher::Matcher, placeholders::base64_run};

/// Secrets under one placeholder. In memory only, silent in `Debug`.
pub struct SecretFilter {
    placeholder: String,
    plain: Vec<Zeroizing<String>>,
    /// Finds them escaped, percent-encoded and in base64.
    matcher: Matcher,
}

impl SecretFilter {
    /// Values of fewer than four bytes are not looked for.
    pub fn new(placeholder: String, values: &[&str]) -> Self {
        let mut matcher = Matcher::default();
        let mut plain: Vec<_> = values
            .iter()
            .filter(|it| it.len() >= 4)
            .map(|it| Zeroizing::new((*it).to_owned()))
            .collect();
        // The longest first: one may hold another.
        plain.sort_by_key(|it| std::cmp::Reverse(it.len()));
        for (at, value) in plain.iter().enumerate() {
            matcher.add(at, value);
        }
        matcher.settle();
        Self { placeholder, plain, matcher }
    }

    /// What is looked for.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.plain.iter().map(|it| it.as_str())
    }

    /// The text with the placeholder in their place.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for value in &self.plain {
            if let Some(hidden) = replaced(&out, value, &self.placeholder) {
                out = Cow::Owned(hidden);
            }
        }
        let hits = self.matcher.hits(&out);
        if hits.is_empty() {
            return out;
        }
        let (mut hidden, mut done) = (String::with_capacity(out.len()), 0);
        for hit in hits {
            let (mut from, mut to) = (hit.from, hit.to);
            if hit.core {
                (from, to) = base64_run(out.as_bytes(), from, to, done);
            }
            if from < done {
                continue;
            }
            hidden.push_str(&out[done..from]);
            hidden.push_str(&self.placeholder);
            done = to;
        }
        hidden.push_str(&out[done..]);
        Cow::Owned(hidden)
    }

    /// A body with the placeholder in their place; `None`: they are not in it. JSON is looked through as JSON, too, because
    /// there every character can be escaped in several ways; then it comes back written anew.
    pub fn hide_body(&self, body: &[u8]) -> Option<Vec<u8>> {
        let text = String::from_utf8_lossy(body);
        let hidden = self.hide(&text);
        if let Ok(mut json) = serde_json::from_str::<Value>(&hidden)
            && self.hide_in(&mut json)
        {
            return Some(json.to_string().into_bytes());
        }
        match hidden {
            Cow::Owned(it) => Some(it.into_bytes()),
            Cow::Borrowed(_) => None,
        }
    }

    /// The same for every text, key and number in it; whether there was one. All are visited.
    pub fn hide_in(&self, value: &mut Value) -> bool {
        match value {
            Value::String(it) => match self.hide(it) {
                Cow::Owned(hidden) => {
                    *it = hidden;
                    true
                }
                Cow::Borrowed(_) => false,
            },
            Value::Array(all) => {
                all.iter_mut().map(|it| self.hide_in(it)).filter(|it| *it).count() > 0
            }
            Value::Object(all) => {
                let in_keys = all.keys().any(|it| matches!(self.hide(it), Cow::Owned(_)));
                if in_keys {
                    let old = std::mem::take(all);
                    all.extend(old.into_iter().map(|(key, it)| (self.hide(&key).into_owned(), it)));
                }
                all.values_mut().map(|it| self.hide_in(it)).filter(|it| *it).count() > 0 || in_keys
            }
            Value::Number(it) => match self.hide(&it.to_string()) {
                Cow::Owned(hidden) => {
                    *value = Value::String(hidden);
                    true
                }
                Cow::Borrowed(_) => false,
            },
            Value::Null | Value::Bool(_) => false,
        }
    }
}

impl std::fmt::Debug for SecretFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.placeholder)
    }
}

/// With the value in any case replaced: a URL's host comes back in lower case. `None`: it is not in there.
fn replaced(text: &str, value: &str, placeholder: &str) -> Option<String> {
    let (lower, value) = (text.to_ascii_lowercase(), Zeroizing::new(value.to_ascii_lowercase()));
    let mut out = String::new();
    let mut done = 0;
    for (at, _) in lower.match_indices(value.as_str()) {
        out.push_str(&text[done..at]);
        out.push_str(placeholder);
        done = at + value.len();
    }
    (done > 0).then(|| out + &text[done..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_hidden_in_every_guise() {
        let known = SecretFilter::new("[K]".to_owned(), &["kitchen:Sesame/42=", "Sesame/42="]);
        for (text, want) in [
            ("nothing here", "nothing here"),
            ("a Sesame/42= b", "a [K] b"),
            ("xSesame/42=y", "x[K]y"),
            ("http://sesame/42=.test", "http://[K].test"),
            ("kitchen:Sesame/42=", "[K]"),
            ("?k=Sesame%2F42%3D&x", "?k=[K]&x"),
            (r"Sesame\/42=", "[K]"),
            ("Basic a2l0Y2hlbjpTZXNhbWUvNDI9", "Basic [K]"),
        ] {
            assert_eq!(known.hide(text), want, "{text}");
        }
        let mut data = json!({"Sesame/42=": [{"a": "is Sesame/42="}, 1, null]});
        assert!(known.hide_in(&mut data) && !known.hide_in(&mut data));
        assert_eq!(data, json!({"[K]": [{"a": "is [K]"}, 1, null]}));
        let body = br#"[1, "S\u0065same\/42\u003d", 2]"#;
        let hidden: Value = serde_json::from_slice(&known.hide_body(body).unwrap()).unwrap();
        assert_eq!(hidden, json!([1, "[K]", 2]));
        assert_eq!(known.hide_body(b"\xff Sesame/42="), Some("\u{fffd} [K]".into()));
        assert_eq!(known.hide_body(b"[1, 2.50]"), None);
        let digits = SecretFilter::new("[K]".to_owned(), &["12345678"]);
        let mut data = json!([12_345_678, 99]);
        digits.hide_in(&mut data);
        assert_eq!(data, json!(["[K]", 99]));
        assert!(!format!("{known:?}").contains("Sesame"));
    }
}
