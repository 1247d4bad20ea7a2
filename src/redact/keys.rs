//! What the name of a parameter, header or field says about its value.
//!
//! Names are split into words (`x-csrf-token`, `accessToken`, `API_KEY`), since substrings mislead: `author`, `monkey`,
//! `compass` and `secretary` are not secrets. The last word decides whether a name describes (`token_type`) or holds.

use std::sync::LazyLock;

use super::{
    headers::HARMLESS_HEADERS,
    names::{is_code, words},
    services::{is_led, of_service},
    things::{is_about, is_number, is_packed, is_picture, is_pictured, is_thing},
    walk::Place,
};

/// From the strongest claim to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyClass {
    /// Whatever stands there is a secret: `password`, `client_secret`.
    Always,
    /// A secret if it is one that people type from a message or a sheet: `backup_codes`, `otp_code`.
    Code,
    /// A secret if it could be one: `token`, `session`, `csrf`.
    Likely,
    /// A secret if it looks random: `bitbucket_key`, `code`, `state`.
    Perhaps,
    /// Says nothing; the value alone decides.
    Silent,
    /// Known to be harmless: `id`, `etag`, `cursor`, `sort_key`.
    Harmless,
}

const ALWAYS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "secret",
    "secrets",
    "otp",
    "totp",
    "cvv",
    "cvc",
    "ccv",
    "pswd",
    "psw",
    "pw",
    "puk",
    "sshpass",
    "mnemonic",
    // The same in other languages.
    "passwort",
    "kennwort",
    "wachtwoord",
    "contrasena",
    "contraseña",
    "senha",
    "mdp",
    "motdepasse",
    "parola",
    "haslo",
    "heslo",
    "losenord",
];
const ALWAYS_INSIDE: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "clientsecret",
    "privatekey",
    "secretkey",
    "secretaccesskey",
    "cardnumber",
    "securitycode",
    "seedphrase",
    "recoveryphrase",
];
/// Before `code` or `pin` these say that a short number is a secret.
#[rustfmt::skip]
const ONE_TIME: &[&str] = &[
    "verification", "sms", "mfa", "tfa", "fa", "factor", "twofactor", "security", "login", "signin", "activation",
    "recovery", "backup", "confirmation", "auth", "authentication", "user", "card", "device",
];
const LIKELY: &[&str] = &[
    "token",
    "tokens",
    "auth",
    "oauth",
    "session",
    "sess",
    "bearer",
    "jwt",
    "csrf",
    "xsrf",
    "apikey",
    "credential",
    "credentials",
    "signature",
    "cookie",
    "cookies",
    "sid",
    "assertion",
    "samlresponse",
    "nonce",
    "wpnonce",
    "authorization",
    "hmac",
    "sig",
    "captcha",
    "verifier",
    "accesskey",
    "appkey",
    "authkey",
    "sign",
    "saml",
    "clearance",
    "dpop",
    "sas",
    "connectionstring",
    "dsn",
    "jws",
    "jwe",
    "turnstile",
    "crumb",
    "cred",
    "creds",
    "passkey",
    "psk",
    "unseal",
    "presharedkey",
    // Of widely used sites and delivery networks.
    "dtsg",
    "sesskey",
    "formkey",
    "hdnea",
    "hdnts",
    "hdntl",
    "sapisid",
    "sapisidhash",
];
const LIKELY_INSIDE: &[&str] = &[
    "apikey",
    "token",
    "csrf",
    "xsrf",
    "sessid",
    "sessionid",
    "credential",
    "accesskey",
    "authkey",
    "subscriptionkey",
    "appkey",
    "secret",
    "samlresponse",
    "captcha",
    "accountkey",
    "sharedaccess",
    "viewstate",
    "eventvalidation",
    "relaystate",
];
const PERHAPS: &[&str] = &[
    "code", "state", "ticket", "pat", "license", "licence", "private", "webhook", "grant",
    "access", "api", "sec",
];
/// As the last word these turn a name into a description.
const DESCRIBES: &[&str] = &[
    "type",
    "types",
    "name",
    "names",
    "count",
    "counts",
    "length",
    "len",
    "size",
    "policy",
    "endpoint",
    "endpoints",
    "enabled",
    "disabled",
    "expires",
    "expiry",
    "expiration",
    "expire",
    "exp",
    "ttl",
    "in",
    "version",
    "file",
    "filename",
    "path",
    "vault",
    "status",
    "level",
    "limit",
    "index",
    "format",
    "alg",
    "algorithm",
    "method",
    "methods",
    "scheme",
    "required",
    "provider",
    "source",
    "domain",
    "hint",
    "label",
    "title",
    "message",
    "error",
    "description",
    "field",
    "column",
    "prefix",
    "suffix",
    "usage",
    "used",
    "remaining",
    "at",
    "time",
    "date",
    "timestamp",
    "created",
    "updated",
    "host",
    "hostname",
    "results",
    "result",
    "pressed",
    "store",
    "dir",
    "locations",
    "placeholder",
    "position",
    "strength",
    "valid",
    "validity",
    "verified",
    "settings",
    "options",
    "config",
    "mode",
    "supported",
    "country",
    "color",
    "colour",
    "list",
    "budget",
    "price",
    "symbol",
    "decimals",
    // Sessions of a conference or of work, rates, cookies and scopes as settings speak of them.
    "duration",
    "start",
    "end",
    "timeout",
    "minute",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "month",
    "rate",
    "quota",
    "scope",
    "scopes",
    "region",
    "style",
    "shown",
    "notes",
    "notice",
    "protection",
    // Rails names the field of its token so: `csrf-param`.
    "param",
    // What is shown of a token to tell it from others: `token_last_eight`.
    "eight",
    "four",
    "digits",
];
/// A value under such a last word may be as random as it likes.
const IDENTIFIES: &[&str] = &[
    "id",
    "ids",
    "uid",
    "uuid",
    "guid",
    "hash",
    "sha",
    "md",
    "checksum",
    "digest",
    "etag",
    "integrity",
    "cursor",
    "callback",
    "jsonp",
    "after",
    "before",
    "continuation",
    "fingerprint",
    "thumbprint",
    "url",
    "uri",
    "urls",
    "href",
    "link",
    "src",
    "image",
    "img",
    "icon",
    "thumbnail",
    "thumb",
    "photo",
    "avatar",
    "poster",
    "font",
    "build",
    "release",
    "revision",
    "rev",
    "commit",
    "version",
    "address",
    "slug",
    "kid",
    "trace",
    "traceparent",
    "tracestate",
    "span",
    "ray",
    "gclid",
    "fbclid",
    "msclkid",
    "dclid",
    "wbraid",
    "gbraid",
    "html",
    "svg",
    "css",
    "geometry",
    "polyline",
    "geohash",
    "isbn",
    "doi",
    "phone",
    "email",
    "filename",
    "file",
    "path",
    "handle",
    "permalink",
    "lsid",
    "urn",
    "arn",
    "useragent",
    "agent",
    "class",
    "classname",
    "selector",
    "xpath",
    "testid",
    "sequence",
    "inchikey",
    "smiles",
    // Published kinds of identifiers.
    "ulid",
    "ksuid",
    "cuid",
    "nanoid",
    "snowflake",
    "tsid",
    "xid",
    "oid",
    "objectid",
    "mbid",
    "typeid",
    "vid",
    "shortcode",
];
/// Before `key` these say that it is a data key.
const DATA_KEYS: &[&str] = &[
    "sort",
    "order",
    "partition",
    "cache",
    "react",
    "translation",
    "primary",
    "foreign",
    "row",
    "group",
    "object",
    "routing",
    "hot",
    "press",
    "dedupe",
    "lookup",
    "map",
    "storage",
    "tag",
    "feature",
    "event",
    "message",
    "label",
    "display",
    "issue",
    "project",
    "parent",
    "item",
    "resource",
    "dictionary",
    "unique",
    "natural",
    "shard",
    "composite",
    "index",
    "range",
    "usage",
    "taxon",
    "species",
    "genus",
    "dataset",
    "family",
    "class",
    "phylum",
    "kingdom",
    "accepted",
    "nub",
    "publishing",
    "text",
    "string",
    "category",
    "metric",
    "facet",
    "field",
    "name",
    "search",
    "query",
    "property",
    "locale",
    "answer",
    "component",
    "template",
    "type",
    "entity",
    "checklist",
    "basionym",
    "organization",
    "installation",
    "i18n",
    "page",
    "agg",
    "aggregation",
    "bucket",
    "work",
    "author",
    "edition",
    "cover",
    // Media, and what a page is made of.
    "video",
    "media",
    "asset",
    "image",
    "photo",
    "picture",
    "thumbnail",
    "trailer",
    "track",
    "song",
    "album",
    "artist",
    "episode",
    "movie",
    "url",
    "file",
    "document",
    "product",
    "variant",
    "child",
    "comment",
    "surface",
    "state",
];
/// Before `token` these say that it is a cursor or a count.
#[rustfmt::skip]
const DATA_TOKENS: &[&str] = &[
    "search", "query", "page", "next", "sync", "continuation", "cursor", "previous", "prev", "start",
    "resume", "delta", "max", "min", "num", "total", "input", "output", "prompt", "completion",
    "cached", "reasoning", "stop", "eos", "bos", "pad",
];
/// Before `hash` these say that it proves something.
const HASHED: &[&str] = &["auth", "token", "session", "api", "login", "hmac", "signature", "user"];
/// Names that services tell their users to set, beside those that speak for themselves.
const PUBLISHED: &[&str] =
    &["cctestreporterid", "bundleenterprisecontribsyscom", "bundlegemscontribsyscom"];
/// Anywhere in a name: a yes or no, or a place to keep secrets.
const ASKS: &[&str] = &[
    "has",
    "is",
    "forgot",
    "forgotten",
    "show",
    "hide",
    "can",
    "needs",
    "requires",
    "vault",
    "no",
];

/// Before `pin` these say whose number it is.
#[rustfmt::skip]
const PINS: &[&str] = &[
    "phone", "telephone", "card", "sim", "user", "access", "login", "atm", "account", "unlock", "screen", "device",
    "bank", "door", "entry", "alarm", "mobile", "voicemail", "parental", "payment", "wallet", "patient", "customer",
];

/// Names are not longer.
pub const MAX_KEY: usize = 200;

/// Always secret, whole.
pub const CREDENTIAL_HEADERS: &[&str] =
    &["cookie", "set-cookie", "authorization", "proxy-authorization"];

/// Whether a word is one that these lists know.
pub fn vocabulary(word: &str) -> bool {
    const MORE: &[&str] = &[
        "key", "keys", "api", "app", "access", "client", "user", "job", "public", "to", "my",
        "end", "start", "next", "prev", "previous", "first", "last", "page", "web", "session",
        "sess",
    ];
    /// By the first two bytes, modulo 1024: a bit for each length of such a word, and the words.
    static ALL: LazyLock<Vec<(u64, Vec<&str>)>> = LazyLock::new(|| {
        let mut all = vec![(0, Vec::new()); 1024];
        for list in
            [ALWAYS, LIKELY, PERHAPS, DESCRIBES, IDENTIFIES, DATA_KEYS, DATA_TOKENS, ASKS, MORE]
        {
            for word in list {
                let (lengths, words) = &mut all[place(word)];
                *lengths |= 1 << word.len().min(63);
                words.push(*word);
            }
        }
        all
    });
    fn place(word: &str) -> usize {
        let mut bytes = word.bytes().map(usize::from);
        let (first, second) = (bytes.next().unwrap_or(0), bytes.next().unwrap_or(0));
        (first << 5 ^ second) & 1023
    }
    let (lengths, words) = &ALL[place(word)];
    lengths >> word.len().min(63) & 1 == 1 && words.contains(&word)
}

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
