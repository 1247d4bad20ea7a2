//! Secrets in addresses: user information, path, query and fragment, other bytes untouched.

use std::fmt::Write as _;

use super::{
    class::{KeyClass, Place, SecretReason},
    detector::verdict,
    encode::{decode_percent, percent},
    formats,
    keys::classify,
    lexicon,
    randomness::{erratic, is_hex, is_uuid, natural, random},
    rules::Walk,
    stand_in::is_stand_in,
};

impl Walk<'_> {
    /// Text that is known to be an address, absolute or not.
    pub fn link(&mut self, text: &str) -> Option<String> {
        self.url(text, Place::Query, 0)
    }

    /// A URL in a value: user information, path, query and fragment, other bytes untouched.
    pub fn url(&mut self, text: &str, place: Place, depth: u32) -> Option<String> {
        let from = user_end(text);
        let split = |it: &'_ str, mark: char| it[from..].find(mark).map(|at| from + at);
        let fragment_at = split(text, '#');
        let fragment = fragment_at.map(|at| &text[at + 1..]);
        let front = &text[..fragment_at.unwrap_or(text.len())];
        let query_at = split(front, '?');
        let query = query_at.map(|at| &front[at + 1..]);
        let front = &front[..query_at.unwrap_or(front.len())];
        let mut changed = false;
        let (mut head, path) = match front.find("://") {
            Some(at) => {
                let rest = &front[at + 3..];
                let end = at + 3 + rest.find('/').unwrap_or(rest.len());
                // Where a program connects to, a password may hold a slash: the last `@` ends it.
                let web = ["http", "https", "ws", "wss"].contains(&&front[..at]);
                let end = match rest.rfind('@') {
                    Some(last) if !web && rest[..last].contains(':') => end.max(at + 3 + last + 1),
                    _ => end,
                };
                (front[..end].to_owned(), &front[end..])
            }
            None => (String::new(), front),
        };
        if let Some((user, host)) = head.rsplit_once('@')
            && let Some((scheme, rest)) = user.split_once("://")
            && let Some((name, password)) = rest.split_once(':')
            && verdict(KeyClass::Always, password).is_some()
            && !is_stand_in(password)
            && let Some(new) = self.sink.secret("password", password, SecretReason::Key)
        {
            head = format!("{scheme}://{name}:{new}@{host}");
            changed = true;
        }
        // `https://TOKEN@host`: where the user is no one's name.
        if let Some((user, host)) = head.rsplit_once('@')
            && let Some((scheme, name)) = user.split_once("://")
            && name.len() >= 12
            && looks_issued(name)
            && let Some(new) = self.sink.secret("user", &decode_percent(name), SecretReason::Key)
        {
            head = format!("{scheme}://{}@{host}", percent(&new));
            changed = true;
        }
        // All keys of an authenticator, as it hands them to another one.
        if head.starts_with("otpauth-migration:")
            && let Some(data) =
                query.and_then(|it| it.split('&').find_map(|it| it.strip_prefix("data=")))
        {
            self.sink.secret("seed", &decode_percent(data), SecretReason::Key);
        }
        // Web hooks are addressed by their secret, and so is a channel that is opened for one page.
        let opens = head.starts_with("ws://") || head.starts_with("wss://");
        let was = self.grants;
        self.grants |= opens;
        let new = self.path_at(path, head.contains("://hooks."));
        if let Some(query) = query {
            self.grant(path, query);
        }
        self.grants = was;
        if let Some(fragment) = fragment {
            self.fragment(fragment);
        }
        let mut out = head;
        changed |= new.is_some();
        out.push_str(new.as_deref().unwrap_or(path));
        for (mark, part) in [('?', query), ('#', fragment)] {
            let Some(part) = part else { continue };
            let new = self.query_at(
                part,
                if place == Place::Answer { place } else { Place::Query },
                depth,
            );
            changed |= new.is_some();
            let _ = write!(out, "{mark}{}", new.as_deref().unwrap_or(part));
        }
        if changed { Some(out) } else { self.sink.replace_known(text) }
    }

    /// A URL's path: known values anywhere, credentials by format, and what follows `reset` and the like.
    pub fn path(&mut self, path: &str) -> Option<String> {
        self.path_at(path, false)
    }

    fn path_at(&mut self, path: &str, mut hook: bool) -> Option<String> {
        if path.len() < 2 {
            return None;
        }
        let mut out = PartReplacer::new(path);
        let mut before = "";
        let last = path.rsplit('/').next();
        // A subscription to what is somebody's own.
        let feed = last.is_some_and(is_feed);
        for segment in path.split('/') {
            let plain = decode_percent(segment);
            let new = if let Some((name, value)) = plain.split_once('=')
                && let Some((_, name)) = name.rsplit_once(';')
                && verdict(classify(name, Place::Query), value).is_some()
            {
                // `;jsessionid=…`
                let new = self.sink.secret(name, value, SecretReason::Key);
                new.map(|new| percent(&plain.replace(value, &new)))
            } else if formats::known_format(&plain).is_some() {
                self.sink.secret("path", &plain, SecretReason::Format).map(|it| percent(&it))
            } else if hook
                && plain.len() >= 16
                && (looks_issued(&plain) || Some(segment) == last)
                && !is_asset(&plain)
            {
                self.sink.secret("webhook", &plain, SecretReason::Key).map(|it| percent(&it))
            } else if let Some(token) = of_bot(&plain) {
                let new = self.sink.secret("bot", token, SecretReason::Format);
                new.map(|new| percent(&plain.replacen(token, &new, 1)))
            } else if plain.starts_with('(') {
                self.cookieless(&plain)
            } else if plain.len() >= 16
                && (GRANTS.contains(&&*before.to_ascii_lowercase()) && looks_issued(&plain)
                    || before == "key" && is_made_up(&plain))
            {
                self.sink.secret(before, &plain, SecretReason::Key).map(|it| percent(&it))
            } else if plain.len() >= 8
                && is_grant(&plain)
                && is_granted(&path[..place(path, segment)])
            {
                self.sink.secret("link", &plain, SecretReason::Key).map(|it| percent(&it))
            } else if plain.len() >= 20
                && !plain.contains('.')
                && (feed && !is_uuid(&plain)
                    || self.grants && is_made_up(&plain)
                    || is_shared(before) && random(&plain)
                    || is_shared_by_words(before) && is_made_up(&plain))
                && looks_issued(&plain)
            {
                self.sink.secret("link", &plain, SecretReason::Key).map(|it| percent(&it))
            } else if let Some((word, value)) = plain.split_once('-')
                && is_shared(word)
                && value.len() >= 16
                && looks_issued(value)
            {
                let new = self.sink.secret("link", value, SecretReason::Key);
                new.map(|new| percent(&plain.replacen(value, &new, 1)))
            } else {
                None
            };
            let new = new.or_else(|| self.sink.replace_known(&plain).map(|it| percent(&it)));
            out.part(segment, new, '/');
            before = segment;
            hook |=
                segment.starts_with("webhook") || matches!(segment, "hook" | "hooks" | "incoming");
        }
        out.changed
    }

    /// `/reset?t=8f14e45fceea167a`: what a one-time address is for stands in its query, under whatever name.
    pub fn grant(&mut self, path: &str, query: &str) {
        let mut granted = None;
        for (name, value) in query.split('&').filter_map(|it| it.split_once('=')) {
            let plain = decode_percent(value);
            if (16..=512).contains(&plain.len())
                && is_one_word(&plain)
                && (looks_issued(&plain) || random(&plain))
                && self.rules.class(name, Place::Query) != KeyClass::Harmless
                && (self.grants && is_made_up(&plain)
                    || *granted.get_or_insert_with(|| is_granted(path)))
            {
                self.sink.secret(name, &plain, SecretReason::Key);
            }
        }
    }

    /// What a server never hears, and whoever has the address has: `#key=…`, or nothing but random.
    fn fragment(&mut self, fragment: &str) {
        // A route of a page that is one program: `#/reset/…`.
        let route = fragment.trim_start_matches('!');
        if route.starts_with('/') && !route.contains('=') {
            self.path_at(route, false);
            return;
        }
        if !fragment.contains('=') {
            let fragment = fragment.split('/').next().unwrap_or(fragment);
            let plain = fragment.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
            if plain && (20..=128).contains(&fragment.len()) && is_made_up(fragment) {
                self.sink.secret("fragment", fragment, SecretReason::Key);
            }
            return;
        }
        for (name, value) in fragment.split('&').filter_map(|it| it.split_once('=')) {
            let class = self.rules.class(name, Place::Query);
            let plain = decode_percent(value);
            if matches!(class, KeyClass::Perhaps | KeyClass::Likely | KeyClass::Always)
                && plain.len() >= 16
                && verdict(class, &plain).is_some()
            {
                self.sink.secret(name, &plain, SecretReason::Key);
            }
        }
    }

    /// ASP.NET without cookies: `/(S(lit3py55t21z5v55vlm25s55)F(…))/page.aspx`.
    fn cookieless(&mut self, segment: &str) -> Option<String> {
        let mut found = Vec::new();
        for part in segment.trim_start_matches('(').split(')') {
            if let Some((kind, value)) = part.split_once('(')
                && matches!(kind, "S" | "F" | "A" | "X")
                && value.len() >= 16
            {
                found.push(("session", value, SecretReason::Key));
            }
        }
        if found.is_empty() { None } else { self.replace(segment, found, Vec::new()) }
    }
}

/// A text of which parts are replaced; copied from the first that is.
pub struct PartReplacer<'a> {
    text: &'a str,
    done: usize,
    pub changed: Option<String>,
}

impl<'a> PartReplacer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, done: 0, changed: None }
    }

    /// The next part, what replaces it, and what separates it from the one after.
    pub fn part(&mut self, part: &str, new: Option<String>, split: char) {
        let end = self.done + part.len();
        if new.is_some() && self.changed.is_none() {
            self.changed = Some(self.text[..self.done].to_owned());
        }
        self.done = end + split.len_utf8();
        if let Some(out) = &mut self.changed {
            out.push_str(new.as_deref().unwrap_or(part));
            if end < self.text.len() {
                out.push(split);
            }
        }
    }
}

/// Where the user information of an address ends: a password that nobody encoded may hold the marks of a query and a fragment.
fn user_end(text: &str) -> usize {
    let Some(at) = text.find("://").map(|at| at + 3) else { return 0 };
    let rest = &text[at..];
    let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
    let Some((user, host)) = authority.rsplit_once('@') else { return 0 };
    let Some((name, password)) = user.split_once(':') else { return 0 };
    let marked = password.find(['?', '#']);
    let is_port = marked.is_some_and(|at| password[..at].bytes().all(|b| b.is_ascii_digit()));
    let is_query = name.contains(['?', '#', '=']) || password.contains(['=', '&']);
    if host.is_empty() || is_query || is_port { 0 } else { at + user.len() }
}

/// As programs make them up: hexadecimal, a UUID, or no words.
pub fn looks_issued(text: &str) -> bool {
    is_hex(text) || is_uuid(text) || erratic(text) || text.len() >= 20 && random(text)
}

/// Whether a part of a path says that what follows is good for once.
fn is_granted(path: &str) -> bool {
    path.split('/').any(|it| lexicon::is_grant(&decode_percent(it)))
}

/// Where a part of a text begins.
fn place(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// What stands after a word such as `confirm` or `join`, and is no word itself.
fn is_grant(text: &str) -> bool {
    let digits = text.bytes().any(|b| b.is_ascii_digit());
    is_one_word(text)
        && !text.contains('.')
        && (digits && (looks_issued(text) || random(text)) && !natural(text)
            || text.len() >= 12 && random(text))
}

/// Random letters of both cases and digits: neither a hash, nor an identifier, nor a title. Words around an address say no more
/// than that one may follow it.
fn is_made_up(text: &str) -> bool {
    text.len() >= 20
        && is_one_word(text)
        && !is_hex(text)
        && !text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        && text.bytes().filter(|b| *b == b'-').count() <= 2
        && text.bytes().any(|b| b.is_ascii_lowercase())
        && text.bytes().any(|b| b.is_ascii_uppercase())
        && random(text)
}

fn is_one_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_~.=+/|:".contains(&b))
        && !text.contains("//")
}

/// What a path calls that which is there for whoever has the address.
fn is_shared(segment: &str) -> bool {
    matches!(
        segment,
        "share"
            | "shared"
            | "sharing"
            | "private"
            | "secret"
            | "s"
            | "u"
            | "feed"
            | "feeds"
            | "ical"
            | "rss"
            | "atom"
            | "calendar"
            | "ics"
            | "webcal"
            | "guest"
            | "public-link"
            | "magic"
            | "preview"
            | "draft"
            | "embed-private"
            | "unlisted"
            | "dl"
            | "drop"
            | "send"
    )
}

/// The same in words of its own, and where a program reports that it lives: `public-calendars`, `push`.
fn is_shared_by_words(segment: &str) -> bool {
    let lower = segment.to_ascii_lowercase();
    if matches!(&*lower, "push" | "ping" | "heartbeat" | "heartbeats" | "ingest" | "trigger") {
        return true;
    }
    let mut words = lower.split(['-', '_']).peekable();
    let first = words.next().unwrap_or("");
    words.peek().is_some()
        && std::iter::once(first).chain(words).any(|it| {
            matches!(
                it,
                "guest"
                    | "ical"
                    | "private"
                    | "public"
                    | "secret"
                    | "share"
                    | "shared"
                    | "unlisted"
            )
        })
}

/// A file that pages are made of: `8f14e45f.png`.
fn is_asset(segment: &str) -> bool {
    const ENDS: &[&str] =
        &["avif", "css", "gif", "ico", "jpeg", "jpg", "js", "map", "png", "svg", "webp", "woff2"];
    segment.rsplit_once('.').is_some_and(|it| ENDS.contains(&it.1))
}

/// Calendars and news that a program fetches again and again, without a login.
fn is_feed(segment: &str) -> bool {
    let name = segment.to_ascii_lowercase();
    let (front, end) = name.rsplit_once('.').unwrap_or((&name, ""));
    matches!(end, "ics" | "ical" | "ifb" | "vcs")
        || matches!(front, "feed" | "rss" | "atom" | "ical")
            && matches!(end, "" | "xml" | "rss" | "atom" | "json")
}

/// And so is one after these, or a session.
const GRANTS: &[&str] = &[
    "token",
    "tokens",
    "access-token",
    "access_token",
    "session",
    "sessions",
    "auth",
    "oauth",
    "oauth2",
    "login",
    "signin",
    "sso",
    "jwt",
    "ticket",
    "api-key",
    "api_key",
    "apikey",
];

/// `bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw`: what follows `bot`.
fn of_bot(segment: &str) -> Option<&str> {
    let rest = segment.strip_prefix("bot")?;
    let (number, token) = rest.split_once(':')?;
    let is_numbered = number.len() >= 5 && number.bytes().all(|b| b.is_ascii_digit());
    (formats::known_format(rest).is_some() || is_numbered && is_made_up(token)).then_some(rest)
}
