//! What was sent from a page's password fields, in recordings that do not say what was typed: HARs.

use std::collections::BTreeSet;

use memchr::memmem;
use serde_json::Value;
use zeroize::Zeroizing;

use super::{
    markup,
    placeholder::is_placeholder,
    raw::{RawBody, RawExchange},
};

/// More names are those of no login.
const MAX_NAMES: usize = 64;
/// Bytes of a body that a form sends at most.
const MAX_BODY: usize = 64 * 1024;
/// Shorter values are not looked for elsewhere: they stand everywhere.
const LEAST: usize = 4;

/// The names of the password fields of some pages.
#[derive(Debug, Default)]
pub struct PasswordFields(BTreeSet<String>);

impl PasswordFields {
    /// Adds the password fields of a page.
    pub fn add_page(&mut self, html: &[u8]) {
        let may_have = [&b"password"[..], b"PASSWORD", b"Password"];
        if !may_have.iter().any(|it| memmem::find(html, it).is_some()) {
            return;
        }
        markup::each_tag(&String::from_utf8_lossy(html), |tag, attributes| {
            let get = |name: &str| {
                attributes.iter().find(|it| it.name.eq_ignore_ascii_case(name)).map(|it| it.value)
            };
            let is_field = tag.eq_ignore_ascii_case("input")
                && get("type").is_some_and(|it| it.trim().eq_ignore_ascii_case("password"));
            for name in [get("name"), get("id")].into_iter().flatten().filter(|_| is_field) {
                if !name.is_empty() && self.0.len() < MAX_NAMES {
                    self.0.insert(name.to_owned());
                }
            }
        });
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a form or an object with fields of these names sends in them. Each value is given as it was typed.
    pub fn sent_values(&self, body: &[u8]) -> Vec<Zeroizing<String>> {
        if self.is_empty() || body.len() > MAX_BODY {
            return Vec::new();
        }
        let mut out = Vec::new();
        let mut add = |name: &str, value: &str| {
            if self.0.contains(name) && value.len() >= LEAST && !is_placeholder(value) {
                out.push(Zeroizing::new(value.to_owned()));
            }
        };
        if let Ok(it) = serde_json::from_slice::<Value>(body) {
            each_member(&it, &mut add);
        } else {
            for (name, value) in url::form_urlencoded::parse(body) {
                add(&name, &value);
            }
        }
        out
    }
}

fn each_member(value: &Value, found: &mut impl FnMut(&str, &str)) {
    match value {
        Value::Object(all) => {
            for (name, it) in all {
                match it {
                    Value::String(text) => found(name, text),
                    it => each_member(it, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|it| each_member(it, found)),
        _ => {}
    }
}

/// What the exchanges send from password fields of their own pages.
pub fn sent_passwords(exchanges: &[RawExchange]) -> Vec<Zeroizing<String>> {
    let bodies: Vec<&[u8]> = exchanges.iter().filter_map(|it| it.request_body.as_deref()).collect();
    if bodies.is_empty() {
        return Vec::new();
    }
    let mut fields = PasswordFields::default();
    for it in exchanges.iter().filter(|it| it.mime.contains("html")) {
        match &it.body {
            RawBody::Captured(bytes) => fields.add_page(bytes),
            RawBody::Elsewhere(it) => {
                if let Some(bytes) = (it.again)() {
                    fields.add_page(&bytes);
                }
            }
            RawBody::Missing(_) => {}
        }
    }
    bodies.iter().flat_map(|it| fields.sent_values(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_password_fields_only() {
        let mut fields = PasswordFields::default();
        fields.add_page(b"<form><input name=who><input TYPE='Password' name=pass id=k></form>");
        fields.add_page(b"<p>no field for a password</p>");
        let sent = |body: &str| -> Vec<String> {
            fields.sent_values(body.as_bytes()).iter().map(|it| it.to_string()).collect()
        };
        assert_eq!(sent("who=lee&pass=plain+words"), ["plain words"]);
        assert_eq!(sent(r#"{"user": {"k": "plain words", "who": "lee"}}"#), ["plain words"]);
        assert!(sent("who=lee&pass=abc").is_empty(), "too short to be looked for");
        assert!(sent("ticket=plain+words").is_empty());
        assert!(PasswordFields::default().sent_values(b"pass=plain+words").is_empty());
    }
}
