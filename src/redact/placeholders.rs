//! The secrets of one recording: their placeholders, and finding them again wherever they stand.
//!
//! In memory only. A value gets one placeholder, `[REDACTED:key]` after the first name it was found under by the strongest
//! rule, `#2` when that name had another value already.

use std::collections::{BTreeMap, BTreeSet};

use zeroize::Zeroizing;

use super::{
    class::SecretReason,
    live::LiveValues,
    matcher::Matcher,
    placeholder::{ENDS, NAMELESS, label},
    randomness::{natural, random},
};

/// More secrets than this are still redacted where they stand, but not looked for elsewhere.
const MAX_PROPAGATED: usize = 20_000;
/// Of values that only look random so many are looked for as they may be repeated.
const MAX_ECHOED: usize = 200;
pub const MAX_IDENTIFIERS: usize = 1000;

#[derive(Default)]
pub struct SecretIndex {
    known: Vec<KnownSecret>,
    /// How many values that only look random are looked for everywhere.
    propagated: usize,
    /// By hash of the value, so that no value is copied into a key.
    index: BTreeMap<u64, Vec<usize>>,
    names: BTreeMap<String, u32>,
    /// Where the value of each placeholder is.
    placeholders: BTreeMap<String, usize>,
    /// Values that the user allowed or typed: never looked for elsewhere.
    harmless: Vec<String>,
    /// Values that requests send as identifiers, in lower case: looking random makes none of them a secret.
    identifiers: BTreeSet<String>,
    /// Cookies are looked for everywhere, also those made of words.
    thorough: bool,
    matcher: Matcher,
    sealed: bool,
}

struct KnownSecret {
    value: Zeroizing<String>,
    name: String,
    why: SecretReason,
    placeholder: String,
    dropped: bool,
}

impl SecretIndex {
    /// Keeps a value. A stronger rule renames it, as long as nothing was written.
    pub fn learn(&mut self, name: &str, value: &str, why: SecretReason) -> usize {
        if let Some(at) = self.find(value) {
            let known = &mut self.known[at];
            if why < known.why {
                known.why = why;
                if !self.sealed {
                    known.name = label(name);
                }
            }
            if known.dropped && why != SecretReason::Entropy {
                known.dropped = false;
                self.publish(at);
            }
            return at;
        }
        let at = self.known.len();
        self.known.push(KnownSecret {
            value: Zeroizing::new(value.to_owned()),
            name: label(name),
            why,
            placeholder: String::new(),
            dropped: false,
        });
        self.index.entry(hash(value.as_bytes())).or_default().push(at);
        if self.sealed {
            self.publish(at);
        }
        at
    }

    /// For what leaves this machine: no long value of a cookie stays anywhere, whatever it looks like.
    pub fn thorough() -> Self {
        Self { thorough: true, ..Self::default() }
    }

    /// Whether no secret was learned.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Keeps a value that a request sends as an identifier; bounded.
    pub fn identify(&mut self, value: &str) {
        if self.identifiers.len() < MAX_IDENTIFIERS {
            self.identifiers.insert(value.to_lowercase());
        }
    }

    /// Ends the first pass: names are given out, and every value can be looked for.
    pub fn seal(&mut self, harmless: Vec<String>) {
        self.harmless.extend(harmless);
        self.sealed = true;
        for known in &mut self.known {
            if known.why == SecretReason::Entropy {
                let value = known.value.to_lowercase();
                known.dropped = self.harmless.contains(&value) || self.identifiers.contains(&value);
            }
        }
        let kept: Vec<usize> =
            (0..self.known.len()).filter(|it| !self.known[*it].dropped).collect();
        for at in &kept {
            self.look_for(*at);
        }
        self.matcher.settle();
        for at in kept {
            self.name(at);
        }
    }

    fn publish(&mut self, at: usize) {
        self.look_for(at);
        self.matcher.settle();
        self.name(at);
    }

    /// Gives it its placeholder. A name that holds a secret itself is not repeated.
    fn name(&mut self, at: usize) {
        if self.known[at].placeholder.is_empty() {
            let mut name = self.known[at].name.clone();
            if self.holds_secret(&name) {
                NAMELESS.clone_into(&mut name);
            }
            let n = self.names.entry(name.clone()).or_default();
            *n += 1;
            self.known[at].placeholder = if *n == 1 {
                format!("[REDACTED:{name}]")
            } else {
                format!("[REDACTED:{name}#{n}]")
            };
            self.placeholders.insert(self.known[at].placeholder.clone(), at);
        }
    }

    fn look_for(&mut self, at: usize) {
        let known = &self.known[at];
        let certain = !matches!(known.why, SecretReason::Entropy);
        if (certain || self.propagated < MAX_PROPAGATED)
            && (propagates(&known.value, known.why) || (self.thorough && lasting(known)))
            && (known.why == SecretReason::Password
                || self.harmless.is_empty()
                || !self.harmless.contains(&known.value.to_lowercase()))
        {
            self.propagated += usize::from(!certain);
            // Chance makes no two alike.
            let most = if certain { 512 } else { 64 };
            let is_long = if certain { 14 } else { 20 } <= known.value.len();
            let is_echoed = is_long && known.value.len() <= most && random(&known.value);
            if is_echoed && (certain || self.propagated <= MAX_ECHOED) {
                self.matcher.add_echoes(at, &known.value);
            } else {
                self.matcher.add(at, &known.value);
            }
        }
    }

    /// The placeholder for a value that stands where secrets stand. `None`: it was allowed.
    pub fn placeholder(&mut self, name: &str, value: &str, why: SecretReason) -> Option<String> {
        let at = self.learn(name, value, why);
        let known = &self.known[at];
        (!known.dropped && !known.placeholder.is_empty()).then(|| known.placeholder.clone())
    }

    pub fn value(&self, placeholder: &str) -> Option<&str> {
        self.placeholders.get(placeholder).map(|at| self.known[*at].value.as_str())
    }

    /// The text with every known secret replaced; `None` if there is none. Says which placeholders it wrote.
    pub fn propagate(&mut self, text: &str, mut wrote: impl FnMut(&str)) -> Option<String> {
        let hits = self.matcher.hits(text);
        if hits.is_empty() {
            return None;
        }
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for hit in hits {
            let (mut from, mut to) = (hit.from, hit.to);
            if from < done {
                continue;
            }
            let mut at = hit.known;
            if hit.core {
                (from, to) = base64_run(text.as_bytes(), from, to, done);
                let name = self.known[at].name.clone();
                at = self.learn(&name, &text[from..to], SecretReason::Container);
            }
            let placeholder = self.known[at].placeholder.as_str();
            wrote(placeholder);
            out.push_str(&text[done..from]);
            out.push_str(placeholder);
            done = to;
        }
        out.push_str(&text[done..]);
        Some(out)
    }

    /// First places where known values stand as they are.
    pub fn plain_hits(&self, text: &str) -> Vec<(String, usize)> {
        let mut out: BTreeMap<usize, usize> = BTreeMap::new();
        for hit in self.matcher.scan(text.as_bytes()) {
            if !hit.core
                && text.as_bytes()[hit.from..hit.to] == *self.known[hit.known].value.as_bytes()
            {
                out.entry(hit.known).or_insert(hit.from);
            }
        }
        out.into_iter().map(|(known, at)| (self.known[known].value.to_string(), at)).collect()
    }

    pub fn holds_secret(&self, text: &str) -> bool {
        !self.matcher.hits(text).is_empty()
    }

    /// What stays in memory when the recording is stored.
    pub fn into_live(self) -> LiveValues {
        LiveValues::new(
            self.known
                .into_iter()
                .filter(|it| !it.placeholder.is_empty())
                .map(|it| (it.placeholder, it.value)),
        )
    }

    fn find(&self, value: &str) -> Option<usize> {
        self.index
            .get(&hash(value.as_bytes()))?
            .iter()
            .copied()
            .find(|it| *self.known[*it].value == value)
    }
}

/// Whether a placeholder stands in it: what is left was judged when that was written.
pub fn holds_placeholder(text: &str) -> bool {
    let named = |it: &str| (1..=48).contains(&it.len()) && it.bytes().all(labels);
    ENDS.into_iter().any(|(open, close)| {
        text.match_indices(open).any(|(at, _)| {
            let rest = text[at + open.len()..].split_once(close);
            rest.is_some_and(|(name, _)| named(&name.replace("%23", "#")))
        })
    })
}

/// What names in placeholders are made of, and the `#` before a number.
fn labels(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.#".contains(&b)
}

/// Short values and plain words occur everywhere by chance.
fn propagates(value: &str, why: SecretReason) -> bool {
    if why == SecretReason::Password {
        return true;
    }
    // As it was shown, on its own: hardly any number of six digits stands somewhere by chance.
    if why == SecretReason::Context {
        let digits = value.bytes().filter(u8::is_ascii_digit).count();
        return digits >= 6 || value.len() >= 6 && digits >= 1;
    }
    if value.len() < 6 {
        return false;
    }
    if value.contains(char::is_whitespace) {
        return value.len() >= 12 && (why != SecretReason::Cookie || !natural(value));
    }
    if value.len() < 8 {
        let class = |is: fn(&u8) -> bool| usize::from(value.as_bytes().iter().any(is));
        let classes = class(u8::is_ascii_lowercase)
            + class(u8::is_ascii_uppercase)
            + class(u8::is_ascii_digit)
            + class(u8::is_ascii_punctuation);
        return classes >= 3;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let number = value.bytes().all(|b| b.is_ascii_digit() || b".,-:".contains(&b));
    if number {
        return digits >= 8;
    }
    if why == SecretReason::Cookie
        && (value.contains("://")
            || value.starts_with('/')
            || value.starts_with("http")
            || value.len() < 8)
    {
        return false;
    }
    !natural(value)
}

/// A long cookie that is not an address.
fn lasting(known: &KnownSecret) -> bool {
    matches!(known.why, SecretReason::Cookie | SecretReason::Header)
        && known.value.len() >= 16
        && !known.value.contains("://")
        && !known.value.starts_with('/')
}

fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |it, b| (it ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

/// The whole run of base64 around a part of it.
pub fn base64_run(bytes: &[u8], mut from: usize, mut to: usize, least: usize) -> (usize, usize) {
    let in_run = |b: u8| b.is_ascii_alphanumeric() || b"+/-_".contains(&b);
    while from > least && in_run(bytes[from - 1]) {
        from -= 1;
    }
    while to < bytes.len() && (in_run(bytes[to]) || bytes[to] == b'=') {
        to += 1;
    }
    (from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placeholder::is_placeholder;

    fn vault(values: &[(&str, &str)]) -> SecretIndex {
        let mut it = SecretIndex::default();
        for (name, value) in values {
            it.learn(name, value, SecretReason::Key);
        }
        it.seal(Vec::new());
        it
    }

    #[test]
    fn the_same_value_has_the_same_placeholder() {
        let mut it = vault(&[
            ("x-csrf", "abc123def456"),
            ("token", "abc123def456"),
            ("X-CSRF", "zzz999yyy888"),
        ]);
        assert_eq!(
            it.placeholder("any", "abc123def456", SecretReason::Key).unwrap(),
            "[REDACTED:x-csrf]"
        );
        assert_eq!(
            it.placeholder("any", "zzz999yyy888", SecretReason::Key).unwrap(),
            "[REDACTED:x-csrf#2]"
        );
        assert_eq!(
            it.propagate("a abc123def456, xabc123def456 zzz999yyy888", |_| ()).unwrap(),
            "a [REDACTED:x-csrf], x[REDACTED:x-csrf] [REDACTED:x-csrf#2]"
        );
    }

    #[test]
    fn an_identifier_is_exempt_from_the_entropy_rule_alone() {
        for (why, hidden) in [
            (SecretReason::Cookie, true),
            (SecretReason::Key, true),
            (SecretReason::Format, true),
            (SecretReason::Entropy, false),
        ] {
            let mut it = SecretIndex::default();
            it.identify("q9zx-81kd-uw3m-e5vb");
            it.learn("sid", "q9zx-81kd-uw3m-e5vb", why);
            it.seal(Vec::new());
            assert_eq!(
                it.propagate("was q9zx-81kd-uw3m-e5vb", |_| ()).is_some(),
                hidden,
                "{why:?}"
            );
        }
    }

    #[test]
    fn values_are_found_in_other_encodings() {
        let mut it = vault(&[("t", "q/9+Zx\"81==Kd")]);
        for text in [
            "u=q%2F9%2BZx%2281%3D%3DKd",
            "u=q%2f9%2bZx%2281%3d%3dKd",
            r#"{"u":"q/9+Zx\"81==Kd"}"#,
            r#"{"u":"q\/9+Zx\"81==Kd"}"#,
            "<a u=\"q/9+Zx&quot;81==Kd\">",
            "<a u=\"q&#x2F;9&#43;Zx&#34;81&#x3D;=Kd\">",
            r#"{\"u\":\"q\/9\u002BZx\\\"81==Kd\"}"#,
            "712f392b5a782238313d3d4b64",
            "u=q%252F9%252BZx%252281%253D%253DKd",
        ] {
            assert!(it.propagate(text, |_| ()).is_some(), "{text}");
        }
    }

    #[test]
    fn only_what_is_written_here_is_a_placeholder() {
        for text in ["[REDACTED:x-csrf]", "[REDACTED:x-csrf#2]", "[REDACTED:value]"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in [
            "[REDACTED:]",
            "[REDACTED:x",
            "[REDACTED:x] y]",
            "[REDACTED:x#y]",
            "[REDACTED:X]",
            "[REDACTED:q9zx81kd7uw3me5vb2]",
        ] {
            assert!(!is_placeholder(text), "{text}");
        }
        let mut it = vault(&[("t", "q9zx-81kd"), ("x-q9zx-81kd", "other-99zz")]);
        assert_eq!(
            it.propagate("[REDACTED:q9zx-81kd] other-99zz", |_| ()).unwrap(),
            "[REDACTED:[REDACTED:t]] [REDACTED:value]"
        );
    }

    #[test]
    fn words_and_short_values_stay() {
        let mut it = vault(&[
            ("password", "letmein"),
            ("otp", "492039"),
            ("pin", "12ab"),
            ("key", "abc12345"),
        ]);
        assert_eq!(it.propagate("letmein 492039 12ab xabc12345", |_| ()), None);
        assert_eq!(it.propagate("abc12345!", |_| ()).unwrap(), "[REDACTED:key]!");
    }
}
