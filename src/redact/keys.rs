//! What the name of a parameter, header or field says about its value.
//!
//! Names are split into words (`x-csrf-token`, `accessToken`, `API_KEY`), since substrings mislead: `author`, `monkey`,
//! `compass` and `secretary` are not secrets. The last word decides whether a name describes (`token_type`) or holds.

use super::{
    class::{KeyClass, Place},
    domain_nouns::{is_about, is_number, is_packed, is_picture, is_pictured, is_thing},
    headers::HARMLESS_HEADERS,
    names::{is_code, is_password_elsewhere, words},
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

/// Words before `key` that make it a credential.
const CREDENTIAL_KEYS: &[&str] = &[
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
];

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
    if let Some(class) = of_header(&lower, place) {
        return class;
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
    let Some(name) = Name::new(&lower, &words, place) else {
        return KeyClass::Silent;
    };
    name.of_description()
        .or_else(|| name.of_secret())
        .or_else(|| name.of_token())
        .or_else(|| name.of_service())
        .or_else(|| name.of_key())
        .or_else(|| name.of_login())
        .unwrap_or_else(|| name.of_thing())
}

/// What the name of a header says, also where headers are listed as data.
fn of_header(lower: &str, place: Place) -> Option<KeyClass> {
    if (place == Place::Header || lower.contains('-'))
        && (HARMLESS_HEADERS.contains(&lower)
            || (lower.starts_with("sec-") && lower != "sec-websocket-protocol")
            || lower.starts_with("content-security-policy")
            || lower.starts_with("access-control-"))
    {
        return Some(KeyClass::Harmless);
    }
    // Browsers can send no other header with a WebSocket, so tokens go there.
    let prefixed = lower.starts_with("__host-") || lower.starts_with("__secure-");
    if prefixed || lower == "sec-websocket-protocol" {
        return Some(KeyClass::Likely);
    }
    (place == Place::Header && CREDENTIAL_HEADERS.contains(&lower)).then_some(KeyClass::Always)
}

/// A name in its words. The methods are asked in the order in which [`classify`] has them: each rule relies on those before it.
struct Name<'n> {
    lower: &'n str,
    words: &'n [String],
    /// The words without what stands between them.
    joined: String,
    last: &'n str,
    /// Empty where there is one word.
    before_last: &'n str,
    /// The last word is a thing, not a secret.
    is_thing: bool,
    place: Place,
}

impl<'n> Name<'n> {
    /// `None` where there is no word.
    fn new(lower: &'n str, words: &'n [String], place: Place) -> Option<Self> {
        let last = words.last()?.as_str();
        let before_last = words.len().checked_sub(2).map_or("", |it| words[it].as_str());
        let (joined, is_thing) = (words.concat(), is_thing(last));
        Some(Self { lower, words, joined, last, before_last, is_thing, place })
    }

    fn has(&self, list: &[&str]) -> bool {
        self.words.iter().any(|it| list.contains(&it.as_str()))
    }

    fn contains_any(&self, list: &[&str]) -> bool {
        list.iter().any(|it| self.joined.contains(it))
    }

    fn is_in_answer(&self) -> bool {
        self.place == Place::Answer
    }

    /// `secret_garden`, `cookie_banner`: a word of secrets describes a thing there, unless what stands there looks random.
    fn unless_thing(&self, class: KeyClass) -> KeyClass {
        if self.is_thing && self.words.len() > 1 { KeyClass::Perhaps } else { class }
    }

    /// Names that describe or identify, and the secrets that look like such names.
    fn of_description(&self) -> Option<KeyClass> {
        let &Self { words, last, before_last, .. } = self;
        let several = words.len() > 1;
        if matches!(&*self.joined, "mothersmaidenname" | "motherssurname" | "maidenname") {
            return Some(KeyClass::Always);
        }
        // A vault is where secrets are, unless one of them is named.
        let vaulted = self.has(&["vault"])
            && matches!(last, "token" | "key" | "secret" | "password" | "auth");
        let mut asking = words.iter().filter(|it| ASKS.contains(&it.as_str()));
        if asking.any(|it| !(vaulted && it == "vault"))
            || (several && (DESCRIBES.contains(&last) || is_about(last)))
        {
            return Some(KeyClass::Harmless);
        }
        // A hash is what is kept of a password, and what signs a request.
        if matches!(last, "hash" | "digest") && several && (self.has(ALWAYS) || self.has(HASHED)) {
            return Some(KeyClass::Likely);
        }
        if PUBLISHED.iter().any(|it| self.joined.starts_with(it)) {
            return Some(KeyClass::Always);
        }
        let session = self.has(&["session", "sess", "sid"]) || self.joined.ends_with("sessid");
        // The half of a Vault role's login that is kept; elsewhere a name, which its value shows.
        if matches!(&*self.joined, "secretid") {
            return Some(KeyClass::Likely);
        }
        if IDENTIFIES.contains(&last)
            && !(session && words.len() <= 3 && before_last != "count" && last == "id")
        {
            return Some(KeyClass::Harmless);
        }
        // In music; and Pinterest's for a picture is its MD5.
        if last == "signature" && (matches!(before_last, "key" | "time") || is_picture(before_last))
        {
            return Some(KeyClass::Harmless);
        }
        // In Italian a keyword.
        if matches!(&*self.joined, "parolachiave" | "parolechiave") {
            return Some(KeyClass::Harmless);
        }
        (self.contains_any(&["secretar", "secretion", "secretive", "tokeniz"])
            || self.joined.ends_with("clid"))
        .then_some(KeyClass::Harmless)
    }

    /// Passwords, codes of one use, and the like.
    fn of_secret(&self) -> Option<KeyClass> {
        let &Self { words, last, .. } = self;
        if self.joined.ends_with("facesviewstate") {
            return Some(KeyClass::Always);
        }
        if last == "pin" && words.len() > 1 && PINS.contains(&self.before_last) {
            return Some(KeyClass::Always);
        }
        if self.is_in_answer() && is_code(words) {
            return Some(KeyClass::Code);
        }
        // What somebody is asked who has lost their password.
        if matches!(last, "answer" | "answers")
            && self.has(&["security", "secret", "challenge", "recovery", "verification"])
        {
            return Some(KeyClass::Always);
        }
        if self.has(ALWAYS)
            || self.contains_any(ALWAYS_INSIDE)
            || is_password_elsewhere(words)
            || (last == "pass" && words.len() > 1)
            || ["userpass", "usernamepass", "dbpass"].iter().any(|it| self.joined.ends_with(it))
        {
            return Some(self.unless_thing(KeyClass::Always));
        }
        let one_time = || self.has(ONE_TIME);
        (!self.is_in_answer()
            && (last == "pin" && (words.len() == 1 || one_time())
                || matches!(last, "code" | "codes") && one_time() && !self.has(&["device"])))
        .then_some(KeyClass::Always)
    }

    /// Tokens of data: `next_page_token`. `search_access_token` is none of those.
    fn of_token(&self) -> Option<KeyClass> {
        let grants = self.last == "token"
            && !DATA_TOKENS.contains(&self.before_last)
            && self.has(&[
                "access", "auth", "api", "key", "secret", "refresh", "bearer", "client", "user",
            ]);
        (matches!(self.last, "token" | "tokens") && self.has(DATA_TOKENS) && !grants)
            .then_some(KeyClass::Harmless)
    }

    fn of_service(&self) -> Option<KeyClass> {
        if self.is_in_answer() { None } else { of_service(self.words, self.lower) }
    }

    /// `key` as the last word: credentials, halves of pairs, rows of tables.
    fn of_key(&self) -> Option<KeyClass> {
        let &Self { words, last, before_last, place, .. } = self;
        if !matches!(last, "key" | "keys" | "pubkey" | "publickey") {
            return None;
        }
        if self.has(CREDENTIAL_KEYS) {
            return Some(KeyClass::Likely);
        }
        // The public half of a pair is meant to be seen.
        let public = matches!(last, "pubkey" | "publickey") || before_last == "public";
        // Services speak of search keys and project keys that open them.
        let opens = matches!(before_last, "search" | "query" | "storage" | "project" | "event");
        if opens && is_led(words) && !self.is_in_answer() {
            return Some(KeyClass::Perhaps);
        }
        if self.has(DATA_KEYS) || self.lower.contains("i18n") || (public && words.len() <= 2) {
            return Some(KeyClass::Harmless);
        }
        // A public key that an API needs is redacted in requests; `key` names rows in answers.
        let vague = words.len() == 1 || self.has(&["public", "pub"]) || last != "key";
        let named = place == Place::Answer || place == Place::Json && words.len() > 1;
        Some(if vague && named { KeyClass::Harmless } else { KeyClass::Perhaps })
    }

    /// What opens an account, by names that also stand for other things.
    fn of_login(&self) -> Option<KeyClass> {
        let &Self { words, last, place, .. } = self;
        if self.has(LIKELY) || self.contains_any(LIKELY_INSIDE) {
            return Some(self.unless_thing(KeyClass::Likely));
        }
        // A form's `pass` is a password; in an answer one may be for a museum.
        if words.len() == 1 && last == "pass" && matches!(place, Place::Query | Place::Form)
            || last == "ticket"
                && self.has(&["login", "auth", "service", "proxy", "granting", "sso", "cas"])
        {
            return Some(KeyClass::Likely);
        }
        // Where `login` is a field of an answer it is a user's name.
        if last == "pass" || (last == "login" && !self.is_in_answer()) {
            return Some(KeyClass::Perhaps);
        }
        // `zip_code` and `country_state` are data; `device_code` is not.
        let exact = (words.len() == 1 && !self.is_in_answer())
            || self.has(&["device", "authorization", "verification", "user", "sonar", "airtable"]);
        ((PERHAPS.contains(&last) && exact) || self.has(&["pat", "private"]))
            .then_some(KeyClass::Perhaps)
    }

    /// As one word: `trackid`, `imagehash`; a short one is an identifier unless it is a session's: `ixid`.
    fn of_thing(&self) -> KeyClass {
        let &Self { words, last, .. } = self;
        let of_thing = ["id", "ids", "uri", "url", "hash"]
            .iter()
            .any(|it| last.strip_suffix(it).is_some_and(is_thing));
        let short = last.len() <= 6 && last.ends_with("id") && !last.ends_with("sid");
        if self.is_thing
            || of_thing
            || short
            || is_number(last)
            || is_pictured(words)
            || is_packed(words)
        {
            KeyClass::Harmless
        } else {
            KeyClass::Silent
        }
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
