//! What the name of a parameter, header or field says about its value.
//!
//! Names are split into words (`x-csrf-token`, `accessToken`, `API_KEY`), since substrings mislead: `author`, `monkey`,
//! `compass` and `secretary` are not secrets. The last word decides whether a name describes (`token_type`) or holds.

use super::{
    class::{KeyClass, Place},
    domain_nouns::{is_about, is_number, is_packed, is_picture, is_pictured, is_thing},
    headers::HARMLESS_HEADERS,
    names::{is_code, words},
    services::{is_led, of_service},
    vocabulary::{
        ALWAYS, ALWAYS_INSIDE, ASKS, DATA_KEYS, DATA_TOKENS, DESCRIBES, HASHED, IDENTIFIES, LIKELY,
        LIKELY_INSIDE, ONE_TIME, PERHAPS, PINS, PUBLISHED,
    },
};

/// Names are not longer.
pub const MAX_KEY: usize = 200;

/// Always secret, whole.
pub const CREDENTIAL_HEADERS: &[&str] =
    &["cookie", "set-cookie", "authorization", "proxy-authorization"];

/// What `key` says in this place.
pub fn classify(key: &str, place: Place) -> KeyClass {
    if key.len() > MAX_KEY {
        return KeyClass::Silent;
    }
    let lower = key.to_ascii_lowercase();
    // What stands in place of a secret names no other value; else a second pass would take out more than the first.
    if lower.contains("[redacted:") {
        return KeyClass::Silent;
    }
    // A header's name means the same where headers are listed as data.
    if (place == Place::Header || lower.contains('-'))
        && (HARMLESS_HEADERS.contains(&lower.as_str())
            || (lower.starts_with("sec-") && lower != "sec-websocket-protocol")
            || lower.starts_with("content-security-policy")
            || lower.starts_with("access-control-"))
    {
        return KeyClass::Harmless;
    }
    // Browsers can send no other header with a WebSocket, so tokens go there.
    let prefixed = lower.starts_with("__host-") || lower.starts_with("__secure-");
    if prefixed || lower == "sec-websocket-protocol" {
        return KeyClass::Likely;
    }
    if place == Place::Header && CREDENTIAL_HEADERS.contains(&lower.as_str()) {
        return KeyClass::Always;
    }
    let mut words = words(key);
    // Where a text is cut at its colons, as in "the key is: …", a word that links is no name.
    if matches!(lower.as_str(), "is" | "was") && place != Place::Answer {
        return KeyClass::Perhaps;
    }
    // `token_v2`; numbers that are too large for JavaScript stand in `id_str`, too.
    if words.len() > 1 && words.last().is_some_and(|it| it == "v" || it == "str") {
        words.pop();
    }
    let Some(last) = words.last().map(String::as_str) else {
        return KeyClass::Silent;
    };
    let has = |list: &[&str]| words.iter().any(|it| list.contains(&it.as_str()));
    let joined: String = words.concat();
    let inside = |list: &[&str]| list.iter().any(|it| joined.contains(it));
    let thing = is_thing(last);
    // `secret_garden`, `cookie_banner`: a word of secrets describes a thing there, unless what stands there looks random.
    let told = |class| if thing && words.len() > 1 { KeyClass::Perhaps } else { class };
    let session = has(&["session", "sess", "sid"]) || joined.ends_with("sessid");
    let before_last = words.len().checked_sub(2).map_or("", |it| words[it].as_str());

    if matches!(&*joined, "mothersmaidenname" | "motherssurname" | "maidenname") {
        return KeyClass::Always;
    }
    // A vault is where secrets are, unless one of them is named.
    let vaulted = words.iter().any(|it| it == "vault")
        && matches!(last, "token" | "key" | "secret" | "password" | "auth");
    let asks = words.iter().any(|it| ASKS.contains(&it.as_str()) && !(vaulted && it == "vault"));
    if asks || (words.len() > 1 && (DESCRIBES.contains(&last) || is_about(last))) {
        return KeyClass::Harmless;
    }
    // A hash is what is kept of a password, and what signs a request.
    if matches!(last, "hash" | "digest") && words.len() > 1 && (has(ALWAYS) || has(HASHED)) {
        return KeyClass::Likely;
    }
    if PUBLISHED.iter().any(|it| joined.starts_with(it)) {
        return KeyClass::Always;
    }
    if IDENTIFIES.contains(&last)
        && !(session && words.len() <= 3 && before_last != "count" && last == "id")
    {
        return KeyClass::Harmless;
    }
    // In music; and Pinterest's for a picture is its MD5.
    if last == "signature" && (matches!(before_last, "key" | "time") || is_picture(before_last)) {
        return KeyClass::Harmless;
    }
    if ["secretar", "secretion", "secretive"].iter().any(|it| joined.contains(it))
        || joined.contains("tokeniz")
        || joined.ends_with("clid")
    {
        return KeyClass::Harmless;
    }
    if joined.ends_with("facesviewstate") {
        return KeyClass::Always;
    }
    if last == "pin" && words.len() > 1 && PINS.contains(&before_last) {
        return KeyClass::Always;
    }
    if place == Place::Answer && is_code(&words) {
        return KeyClass::Code;
    }
    // What somebody is asked who has lost their password.
    if matches!(last, "answer" | "answers")
        && has(&["security", "secret", "challenge", "recovery", "verification"])
    {
        return KeyClass::Always;
    }
    if has(ALWAYS)
        || inside(ALWAYS_INSIDE)
        || (last == "pass" && words.len() > 1)
        || ["userpass", "usernamepass", "dbpass"].iter().any(|it| joined.ends_with(it))
    {
        return told(KeyClass::Always);
    }
    if place != Place::Answer
        && (last == "pin" && (words.len() == 1 || has(ONE_TIME))
            || matches!(last, "code" | "codes") && has(ONE_TIME) && !has(&["device"]))
    {
        return KeyClass::Always;
    }
    // `search_access_token` is none of those.
    let grants = last == "token"
        && !DATA_TOKENS.contains(&before_last)
        && has(&["access", "auth", "api", "key", "secret", "refresh", "bearer", "client", "user"]);
    if matches!(last, "token" | "tokens") && has(DATA_TOKENS) && !grants {
        return KeyClass::Harmless;
    }
    if place != Place::Answer
        && let Some(class) = of_service(&words, &lower)
    {
        return class;
    }
    if matches!(last, "key" | "keys" | "pubkey" | "publickey") {
        let credential = has(&[
            "api",
            "app",
            "access",
            "private",
            "auth",
            "client",
            "subscription",
            "encryption",
            "signing",
            "master",
            "account",
            "apim",
            "service",
            "consumer",
            "application",
            "admin",
            "server",
            "functions",
            "preshared",
            "webhook",
            "hmac",
        ]);
        if credential {
            return KeyClass::Likely;
        }
        // The public half of a pair is meant to be seen.
        let public = matches!(last, "pubkey" | "publickey") || before_last == "public";
        // Services speak of search keys and project keys that open them.
        let opens = matches!(before_last, "search" | "query" | "storage" | "project" | "event");
        if opens && is_led(&words) && place != Place::Answer {
            return KeyClass::Perhaps;
        }
        if has(DATA_KEYS) || lower.contains("i18n") || (public && words.len() <= 2) {
            return KeyClass::Harmless;
        }
        // A public key that an API needs is redacted in requests; `key` names rows in answers.
        let vague = words.len() == 1 || has(&["public", "pub"]) || last != "key";
        return if vague && (place == Place::Answer || place == Place::Json && words.len() > 1) {
            KeyClass::Harmless
        } else {
            KeyClass::Perhaps
        };
    }
    if has(LIKELY) || inside(LIKELY_INSIDE) {
        return told(KeyClass::Likely);
    }
    // A form's `pass` is a password; in an answer one may be for a museum.
    if words.len() == 1 && last == "pass" && matches!(place, Place::Query | Place::Form)
        || last == "ticket" && has(&["login", "auth", "service", "proxy", "granting", "sso", "cas"])
    {
        return KeyClass::Likely;
    }
    // Where `login` is a field of an answer it is a user's name.
    if last == "pass" || (last == "login" && place != Place::Answer) {
        return KeyClass::Perhaps;
    }
    // `zip_code` and `country_state` are data; `device_code` is not.
    let exact = (words.len() == 1 && place != Place::Answer)
        || has(&["device", "authorization", "verification", "user", "sonar", "airtable"]);
    if (PERHAPS.contains(&last) && exact) || has(&["pat", "private"]) {
        return KeyClass::Perhaps;
    }
    // As one word: `trackid`, `imagehash`; a short one is an identifier unless it is a session's: `ixid`.
    let of_thing = ["id", "ids", "uri", "url", "hash"]
        .iter()
        .any(|it| last.strip_suffix(it).is_some_and(is_thing));
    let short = last.len() <= 6 && last.ends_with("id") && !last.ends_with("sid");
    if thing || of_thing || short || is_number(last) || is_pictured(&words) || is_packed(&words) {
        KeyClass::Harmless
    } else {
        KeyClass::Silent
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
