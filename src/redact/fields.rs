//! What a field of an object in JSON stands under: its own name, what names it beside it, the object's name with it.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    class::{KeyClass, Place},
    configs, keys,
    randomness::{erratic, is_hex, natural, random},
    rules::Walk,
};

impl Walk<'_> {
    /// `["password", …]` among other things.
    pub fn is_told_pair(&self, item: &Value, place: Place) -> bool {
        match item.as_array().map(Vec::as_slice) {
            Some([Value::String(name), Value::String(_)]) => {
                (1..=64).contains(&name.len()) && tells(self.rules.class(name, place))
            }
            _ => false,
        }
    }

    /// What a field of an object stands under: its own name, what names it beside it, or the object's name with it.
    pub fn under<'k>(
        &self,
        object: &str,
        named: Option<&'k str>,
        name: &'k str,
        item: &Value,
        is_jwk: bool,
        place: Place,
    ) -> Cow<'k, str> {
        let text = matches!(item, Value::String(_) | Value::Number(_));
        // What somebody is asked who has lost their password, and the picture of an authenticator's key.
        if text && name == "answer" && is_security(object) {
            return "security_answer".into();
        }
        if text && name.to_ascii_lowercase().contains("qr") && is_second_factor(object) {
            return "totp_secret".into();
        }
        // `{"mfa": {"recovery": ["…", "…"]}}`
        if item.as_array().is_some_and(|it| it.iter().all(Value::is_string))
            && matches!(name, "backup" | "codes" | "emergency" | "recovery" | "rescue" | "scratch")
            && (is_second_factor(object) || is_of_recovery(object))
        {
            return "recovery_codes".into();
        }
        if is_jwk && text && name.len() <= 3 {
            // RFC 7518, 6: the private half, and what anybody may see.
            return if matches!(name, "d" | "p" | "q" | "dp" | "dq" | "qi" | "k") {
                "private_key".into()
            } else {
                "public_id".into()
            };
        }
        // `{"code": {"device": …, "user": …}}`
        if text
            && matches!(object, "code" | "codes" | "token" | "tokens" | "secret")
            && matches!(
                name,
                "device" | "user" | "access" | "refresh" | "client" | "id" | "session" | "api"
            )
            && !(name == "id" && object != "token" && object != "tokens")
        {
            return format!("{name}_{}", object.trim_end_matches('s')).into();
        }
        if text && name != "key" && configs::is_generic(name) {
            if let Some(named) = named
                && (name == "value" && item.is_string()
                    || tells(self.rules.class(named, place)) && !matches!(name, "id" | "number"))
            {
                return named.into();
            }
            // `{"password": {"old": …}}`
            let qualifies = || {
                let class = self.rules.class(object, Place::Json);
                !matches!(class, KeyClass::Silent | KeyClass::Harmless) || object == "card"
            };
            if !object.is_empty() && qualifies() {
                let class = self.rules.class(name, place);
                if tells(configs::qualify_class(class, object, name)) && !tells(class) {
                    return format!("{object}_{name}").into();
                }
            }
        }
        usable_name(name).into()
    }
}

fn normalize_name(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// `securityQuestions`, `challenge_questions`
fn is_security(object: &str) -> bool {
    let it = normalize_name(object);
    it.contains("question")
        && ["security", "secret", "challenge", "recovery"].iter().any(|word| it.contains(word))
}

fn is_second_factor(object: &str) -> bool {
    let it = normalize_name(object);
    ["mfa", "2fa", "totp", "otp", "authenticator", "twofactor", "twostep"].contains(&&*it)
}

/// `generateRecoveryCodes`, `backup_codes`: what holds a list of them.
fn is_of_recovery(object: &str) -> bool {
    let it = normalize_name(object);
    it.contains("codes")
        && ["recovery", "backup", "scratch", "rescue"].iter().any(|word| it.contains(word))
}

pub fn tells(class: KeyClass) -> bool {
    matches!(class, KeyClass::Always | KeyClass::Code | KeyClass::Likely)
}

/// A key of RFC 7517.
pub fn is_jwk(fields: &Map<String, Value>) -> bool {
    (3..=16).contains(&fields.len()) && fields.get("kty").is_some_and(Value::is_string)
}

/// Bytes of ASCII as numbers: `[72, 88, 122, …]`.
pub fn bytes_of(items: &[Value]) -> Option<String> {
    if !(8..=1024).contains(&items.len()) {
        return None;
    }
    let byte =
        |it: &Value| it.as_u64().and_then(|it| u8::try_from(it).ok()).filter(u8::is_ascii_graphic);
    items.iter().map(|it| byte(it).map(char::from)).collect()
}

/// What a name says in an answer, which also holds labels for such a field, messages about it, and numbers of things.
pub fn answer_class(class: KeyClass, key: &str, value: &str) -> KeyClass {
    if class != KeyClass::Always {
        return class;
    }
    let lower = key.to_ascii_lowercase();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let short = lower.contains("card") && lower.contains("num") && digits < 12;
    let named = ["mnemonic", "phrase", "seed"].iter().any(|it| lower.contains(it));
    let fewest = if lower.contains("pass") { 4 } else { 12 };
    let is_word_list = named && is_word_list(value, fewest);
    let is_personal = lower.ends_with("answer") || lower.contains("maiden");
    let label = !is_personal && !is_word_list && configs::is_label(value);
    if short || label { KeyClass::Perhaps } else { class }
}

/// Words that stand for a key, as wallets and people who throw dice choose them: so many short ones or more, and nothing between.
fn is_word_list(value: &str, fewest: usize) -> bool {
    let is_word =
        |it: &str| (3..=8).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_lowercase());
    let mut words = value.split(' ');
    words.all(is_word) && (fewest..=25).contains(&value.split(' ').count())
}

/// What a key says of all that is under it: nothing, where it is longer than names are.
pub fn usable_name(key: &str) -> &str {
    if key.len() > keys::MAX_KEY { "" } else { key }
}

/// `[["user", …], ["password", …]]`
pub fn are_pairs(items: &[Value]) -> bool {
    let pair = |it: &Value| match it.as_array().map(Vec::as_slice) {
        Some([Value::String(name), _]) => (1..=64).contains(&name.len()),
        _ => false,
    };
    !items.is_empty() && items.iter().all(pair)
}

/// `{"name": "csrf", "value": …}` names its value beside it.
pub fn sibling_name(fields: &Map<String, Value>) -> Option<&str> {
    if fields.len() > 6 {
        return None;
    }
    let mut found = [None; 5];
    for (name, value) in fields {
        let at = match name.as_bytes() {
            b"name" | b"Name" => 0,
            b"key" | b"Key" | b"k" => 1,
            b"field" | b"Field" => 2,
            b"id" => 3,
            // RFC 6902, and how differences of objects are told.
            b"path" if fields.contains_key("op") || fields.contains_key("rhs") => 4,
            _ => continue,
        };
        found[at] = value.as_str().or_else(|| value.as_array()?.last()?.as_str());
    }
    let name = found.into_iter().flatten().next().filter(|it| it.len() <= 64)?;
    Some(if name.starts_with('/') { name.rsplit('/').next().unwrap_or(name) } else { name })
}

/// Whether two keys or more are numbered, as long as one another and made up: parts of one, or one and its successor.
pub fn has_numbered_keys(fields: &Map<String, Value>) -> bool {
    let made_up =
        |it: &str| it.len() >= 16 && (is_hex(it) || erratic(it) || random(it)) && !natural(it);
    let mut keys = fields.iter().filter(|it| is_numbered_key(it.0)).map(|it| it.1.as_str());
    let Some(Some(first)) = keys.next() else { return false };
    let mut count = 1;
    let alike = keys.all(|it| {
        count += 1;
        it.is_some_and(|it| it.len() == first.len() && it != first && made_up(it))
    });
    alike && count >= 2 && made_up(first)
}

/// `key1`, `key_2`, `keyB`, `primaryKey`
pub fn is_numbered_key(name: &str) -> bool {
    if matches!(name, "primaryKey" | "secondaryKey" | "primary_key" | "secondary_key") {
        return true;
    }
    let rest = name.strip_prefix("key").or_else(|| name.strip_prefix("Key"));
    let rest = rest.map(|it| it.trim_start_matches(['_', '-']));
    rest.is_some_and(|it| matches!(it.as_bytes(), [b'0'..=b'9' | b'A' | b'B' | b'a' | b'b']))
}
