//! Whether a value is a secret, by its key, its format or its entropy.
//!
//! The entropy rule alone destroys half of the harmless values, so shapes that are identifiers (UUID, hash, SRI, ETag,
//! cursor, data URL) and anything that reads like words are kept unless the key says secret.

use std::sync::LazyLock;

use super::{bytes::ByteKinds, formats, identifiers, keys::KeyClass};

/// Why a value was taken for a secret; the order is the order of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretReason {
    /// Typed into a password field.
    Password,
    Header,
    Cookie,
    Key,
    Format,
    /// The words around it say what it is.
    Context,
    /// Holds a secret in an encoded form.
    Container,
    Entropy,
}

/// The verdict over a whole value, which is not a container that could be opened.
pub fn verdict(class: KeyClass, value: &str) -> Option<SecretReason> {
    verdict_of(class, value, ByteKinds::from_text(value))
}

/// The same where the kinds of its bytes are known.
pub fn verdict_of(class: KeyClass, value: &str, bytes: ByteKinds) -> Option<SecretReason> {
    let told = matches!(class, KeyClass::Always | KeyClass::Code | KeyClass::Likely);
    // No format and no entropy is told from less.
    if matches!(class, KeyClass::Silent | KeyClass::Harmless) && value.len() < 15 {
        return None;
    }
    if trivial(value, bytes) || monotonous(value) && !(told && filled_in(value)) {
        return None;
    }
    match class {
        KeyClass::Always if value.len() >= 3 => return Some(SecretReason::Key),
        KeyClass::Code if is_typed_code(value) => return Some(SecretReason::Key),
        KeyClass::Likely if could_be(value) || formats::prefixed(value) => {
            return Some(SecretReason::Key);
        }
        KeyClass::Perhaps
            if value.len() >= 10
                && !identifiers::is_content(value)
                && !identifiers::is_timed(value)
                && ((erratic(value) && (!reads(value) || is_hex(value)))
                    || (value.len() >= 16 && issued(value))
                    || counts_up(value)
                    || grouped(value)) =>
        {
            return Some(SecretReason::Key);
        }
        _ => {}
    }
    if formats::known_of(value, bytes).is_some() {
        return Some(SecretReason::Format);
    }
    (class == KeyClass::Silent && !bytes.spaced(value) && entropic(value))
        .then_some(SecretReason::Entropy)
}

/// As people type codes from a message or a sheet: digits, capitals, groups; no words, no date, no number of a thing.
fn is_typed_code(value: &str) -> bool {
    let chars = value.bytes().filter(u8::is_ascii_alphanumeric).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let plain = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"- _".contains(&b));
    let upper = value.bytes().all(|b| !b.is_ascii_lowercase());
    plain
        && (4..=64).contains(&chars)
        && (digits == chars && chars != 5
            || digits > 0 && chars >= 6 && !natural(value)
            || upper && grouped_in_two(value)
            || chars >= 8 && (!natural(value) || is_odd(value)))
        && !super::announced::is_date(value)
}

/// `WDJB-MJHT`
fn grouped_in_two(value: &str) -> bool {
    value.split_once('-').is_some_and(|(a, b)| (4..=6).contains(&a.len()) && a.len() == b.len())
}

/// One character repeated: `xxxx`, `********`.
fn monotonous(value: &str) -> bool {
    let trimmed = value.trim();
    let mut distinct = [false; 128];
    let mut count = 0;
    for b in trimmed.bytes() {
        let seen = &mut distinct[usize::from(b & 127)];
        if !*seen && b != b'-' {
            *seen = true;
            count += 1;
            if count > 2 {
                return false;
            }
        }
    }
    count <= 1 || (trimmed.len() >= 16 && count <= 2)
}

/// One letter repeated that does not stand for a value left out: people fill in test keys so.
fn filled_in(value: &str) -> bool {
    value.len() >= 16
        && value.starts_with(|c: char| c.is_ascii_alphanumeric() && !"xX0".contains(c))
}

/// Not a value at all: empty, a truth value, a template.
fn trivial(value: &str, bytes: ByteKinds) -> bool {
    let trimmed = value.trim();
    matches!(
        trimmed,
        "true"
            | "false"
            | "null"
            | "none"
            | "None"
            | "undefined"
            | "NaN"
            | "REDACTED"
            | "yes"
            | "off"
            | "N/A"
            | "n/a"
    ) || trimmed.starts_with("${")
        || trimmed.starts_with("{{")
        || trimmed.starts_with("#{")
        || super::vault::is_placeholder(trimmed)
        || (trimmed.starts_with('$')
            && trimmed[1..].starts_with(|c: char| c.is_ascii_uppercase() || c == '_'))
        || (trimmed.starts_with('<') && trimmed.ends_with('>'))
        || bytes.any(ByteKinds::STAR) && trimmed.contains("***")
}

/// Under a name such as `token`: long enough, and neither words, a small number, an address, a date nor an e-mail.
fn could_be(value: &str) -> bool {
    if value.len() < 6 {
        return false;
    }
    if value.contains(char::is_whitespace) {
        return value.split_whitespace().any(|it| it.len() >= 12 && erratic(it));
    }
    let number = value.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
    if number {
        let digits = value.bytes().all(|b| b.is_ascii_digit());
        // Seconds and milliseconds of this age are times.
        let time = matches!(value.len(), 10 | 13) && value.starts_with(['1', '2']);
        return value.len() >= 16 || (digits && value.len() >= 9 && !time);
    }
    if is_hex(value) && value.len() >= 16 || typed_in(value) {
        return true;
    }
    // Short ones are names and sizes unless their characters are mixed: `PSY.D.`, `300x250`.
    let (digit, upper, lower) = (
        value.bytes().any(|b| b.is_ascii_digit()),
        value.bytes().any(|b| b.is_ascii_uppercase()),
        value.bytes().any(|b| b.is_ascii_lowercase()),
    );
    let size = value.split_once('x').is_some_and(|(a, b)| {
        a.bytes().all(|b| b.is_ascii_digit()) && b.bytes().all(|b| b.is_ascii_digit())
    });
    if size || (value.len() < 10 && !digit && !(upper && lower)) {
        return false;
    }
    !(natural(value) && !choppy(value) && !grouped(value)
        || is_date(value)
        || is_host(value)
        || is_path(value)
        || is_email(value))
}

/// As people make up a secret: a run of letters longer than words are, or what says of itself that it is one.
fn typed_in(value: &str) -> bool {
    let one_case = value.bytes().all(|b| b.is_ascii_lowercase())
        || value.bytes().all(|b| b.is_ascii_uppercase());
    // The names of ways to log in say so, too: `client_secret_basic`.
    let lower = value.to_ascii_lowercase();
    let says = lower.contains("secret") && !lower.contains("client") && value.len() >= 12;
    value.len() >= 28 && one_case || says && value.bytes().all(|b| b.is_ascii_graphic())
}

/// Letters and digits in order, as in keys that were typed for a test: `abcdef1234567890`.
fn counts_up(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let all: Vec<u8> = lower.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let next = all
        .windows(2)
        .filter(|it| it[1] == it[0] || it[1] == it[0] + 1 || *it == [b'9', b'0'])
        .count();
    all.len() >= 12
        && all.iter().any(u8::is_ascii_lowercase)
        && !value.contains(char::is_whitespace)
        && next * 4 >= all.len() * 3
}

/// As licences are written: three or more groups of one length, of capitals and digits.
fn grouped(value: &str) -> bool {
    let mut groups = value.split('-');
    let len = groups.next().map_or(0, str::len);
    (4..=8).contains(&len)
        && value.len() > 3 * len + 1
        && groups.all(|it| it.len() == len)
        && value.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-')
        && value.bytes().any(|b| b.is_ascii_uppercase())
}

/// Many small words in camel case without one that is long: hardly a name.
fn choppy(value: &str) -> bool {
    let parts = PartCounts::count(value);
    value.len() >= 16
        && value.bytes().all(|b| b.is_ascii_alphabetic())
        && parts.upper >= 4
        && parts.mean() < 4.0
        && parts.longest_word < 9
}

/// Long, of letters and digits, and not mostly words.
fn issued(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=+/.~".contains(&b))
        && value.bytes().any(|b| b.is_ascii_digit())
        && !reads(value)
        && could_be(value)
}

/// Two thirds of its letters are in words that stand by themselves.
pub fn reads(value: &str) -> bool {
    let (mut words, mut all) = (0, 0);
    for piece in value.split(|c: char| !c.is_alphanumeric()) {
        let letters = piece.chars().filter(|c| c.is_alphabetic()).count();
        all += letters;
        let word = piece.trim_end_matches(|c: char| c.is_ascii_digit());
        if piece.len() - word.len() <= 4 && word.chars().count() == letters && natural(word) {
            words += letters;
        }
    }
    all * 4 >= value.len() && words * 3 >= all * 2
}

/// Does not read like words: letters and digits alternate, or consonants pile up.
pub fn erratic(value: &str) -> bool {
    if value.contains(char::is_whitespace) || is_date(value) || is_host(value) {
        return false;
    }
    if is_hex(value) && value.len() >= 16 || is_uuid(value) {
        return true;
    }
    let parts = PartCounts::count(value);
    (parts.letters > 0 && parts.digits > 0 && parts.mean() < 4.0 && parts.longest_word < 9)
        || unpronounceable(value)
}

/// The entropy rule: more than 3.5 bits a character over 16 or more, and no known harmless shape.
fn entropic(value: &str) -> bool {
    if value.len() < 16
        || value.len() > 8192
        || harmless_shape(value)
        || identifiers::is_public(value)
    {
        return false;
    }
    value.split(|c: char| !(c.is_ascii_alphanumeric() || "_-+/=~!*$".contains(c))).any(|it| {
        it.len() >= 16
            && !is_hex(it)
            && random(it)
            && !contains_hash(it)
            && !in_groups(it)
            && has_bits(it, 3.5)
    })
}

/// A run of letters and digits that no one wrote by hand.
pub fn random(run: &str) -> bool {
    let parts = PartCounts::count(run);
    let mixed = parts.digits > 0 && parts.letters > 0 || parts.upper > 1 && parts.lower > 1;
    // The longer a run, the longer the words that chance puts into it.
    let longest = if run.len() < 32 || parts.separators > 0 { 10 } else { run.len() / 3 };
    mixed
        && (parts.mean() < 3.0 && parts.longest_word < longest || strange(run))
        && (parts.separators * 6 <= run.len())
        && parts.letters * 5 >= run.len()
        && !sequence(run)
}

/// Words, possibly joined by separators or camel case; numbers among them are fine.
pub fn natural(value: &str) -> bool {
    let parts = PartCounts::count(value);
    if parts.letters == 0 || unpronounceable(value) || strange(value) || alphabetical(value) {
        return false;
    }
    if parts.digits == 0 && parts.symbols == 0 {
        return parts.mean() >= 3.0 || value.len() < 6;
    }
    // `spring-sale-2024`: words that are separated from their numbers.
    parts.symbols == 0
        && value.split(|c: char| "-_ .:/+#,".contains(c)).filter(|it| !it.is_empty()).all(|it| {
            it.bytes().all(|b| b.is_ascii_digit()) && it.len() <= 8
                || it.chars().all(char::is_alphabetic)
        })
        && parts.mean() >= 3.0
}

/// Shannon entropy in bits a byte.
pub fn bits(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for b in text.bytes() {
        counts[usize::from(b)] += 1;
    }
    let n = text.len() as f64;
    counts.iter().filter(|it| **it > 0).map(|it| f64::from(*it) / n).map(|p| -p * p.log2()).sum()
}

/// Whether [`bits`] are more than so many. Told from a table, but where it is that close that rounding decides.
fn has_bits(text: &str, least: f64) -> bool {
    /// `n log2 n`.
    static TABLE: LazyLock<[f64; 64]> = LazyLock::new(|| {
        std::array::from_fn(|n| if n == 0 { 0.0 } else { n as f64 * (n as f64).log2() })
    });
    let Some(whole) = TABLE.get(text.len()) else { return bits(text) > least };
    let mut counts = [0_u8; 256];
    let mut sum = 0.0;
    // Each byte adds what it makes of the count of its kind.
    for b in text.bytes() {
        let n = usize::from(counts[usize::from(b)]);
        sum += TABLE[n + 1] - TABLE[n];
        counts[usize::from(b)] += 1;
    }
    let found = (whole - sum) / text.len() as f64;
    if (found - least).abs() < 1e-6 { bits(text) > least } else { found > least }
}

/// Short groups with signs between them, as makers number their parts: `DN25-PN16-brass-2024`.
fn in_groups(value: &str) -> bool {
    let mut groups = value.split(['-', '_', '.', '/']);
    groups.clone().count() >= 3 && groups.all(|it| it.len() <= 6)
}

fn harmless_shape(value: &str) -> bool {
    value.contains(char::is_whitespace)
        || value.starts_with("data:")
        || value.starts_with('/')
        || value.starts_with("arn:")
        || value.starts_with('"')
        || value.starts_with("W/\"")
        || value.starts_with("blob:")
        || [
            "sha256-",
            "sha384-",
            "sha512-",
            "md5=",
            "sha1-",
            "iVBORw0KGgo",
            "R0lGOD",
            "/9j/",
            "UklGR",
        ]
        .iter()
        .any(|it| value.starts_with(it))
        || is_uuid(value)
        || is_hex(value)
        || value.strip_prefix("0x").is_some_and(|it| it.bytes().all(|b| b.is_ascii_hexdigit()))
        || is_date(value)
        || is_host(value)
        || is_email(value)
        || value.contains(['(', '{', '<', '[', ';', '\\'])
        || value.bytes().any(|b| b >= 0x80)
        || contains_uuid(value)
}

pub fn is_uuid(value: &str) -> bool {
    let b = value.as_bytes();
    b.len() == 36
        && b.iter().enumerate().all(|(i, b)| {
            if matches!(i, 8 | 13 | 18 | 23) { *b == b'-' } else { b.is_ascii_hexdigit() }
        })
}

fn contains_uuid(value: &str) -> bool {
    let bytes = value.as_bytes();
    value.len() > 36
        && bytes.len() <= 256
        && (0..=bytes.len() - 36)
            .any(|i| bytes[i + 8] == b'-' && value.get(i..i + 36).is_some_and(is_uuid))
}

/// Part of it is a hash, as in `name-1.2.3.tgz-<sha1>`.
fn contains_hash(value: &str) -> bool {
    value.split(|c: char| !c.is_ascii_alphanumeric()).any(|it| it.len() >= 16 && is_hex(it))
}

/// Hexadecimal as hashes are written: in one case.
pub fn is_hex(value: &str) -> bool {
    value.len() >= 8
        && value.bytes().all(|b| b.is_ascii_hexdigit())
        && !(value.bytes().any(|b| b.is_ascii_lowercase())
            && value.bytes().any(|b| b.is_ascii_uppercase()))
}

fn is_date(value: &str) -> bool {
    let b = value.as_bytes();
    b.len() >= 8
        && b[..4].iter().all(u8::is_ascii_digit)
        && value.bytes().all(|b| b.is_ascii_digit() || b"-:./TZ+ ".contains(&b))
}

/// A dotted name with a plausible end, port allowed.
fn is_host(value: &str) -> bool {
    let (name, port) = value.split_once([':', '/']).unwrap_or((value, ""));
    if !value[name.len()..].starts_with('/') && !port.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let Some((front, end)) = name.rsplit_once('.') else {
        return false;
    };
    !front.is_empty()
        && name.len() <= 253
        && (2..=18).contains(&end.len())
        && end.bytes().all(|b| b.is_ascii_alphabetic())
        && (end.bytes().all(|b| b.is_ascii_lowercase()))
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
        && front.split('.').all(|it| it.len() < 20 || !(random(it) || it.len() == 24 && is_hex(it)))
}

/// A path none of whose parts looks random. Base64 may begin with a slash, too.
fn is_path(value: &str) -> bool {
    value.starts_with('/')
        && !value.contains(['+', '"', '<', '&'])
        && !value.ends_with('=')
        && !value.split('/').any(|it| it.len() >= 12 && erratic(it))
}

fn is_email(value: &str) -> bool {
    value
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !name.contains(':') && is_host(host))
}

/// The alphabet or the digits in order: a table, not a value.
fn sequence(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    lower.contains("abcdefghijkl") || (lower.contains("0123456789") && lower.contains("abcdef"))
}

/// Five consonants in a row, or hardly a vowel: no language does that. Latin letters only.
fn unpronounceable(value: &str) -> bool {
    let (mut run, mut worst, mut vowels, mut letters) = (0, 0, 0, 0);
    for c in value.chars() {
        if c.is_ascii_alphabetic() {
            letters += 1;
            if "aeiouyAEIOUY".contains(c) {
                vowels += 1;
                run = 0;
            } else {
                run += 1;
                worst = worst.max(run);
            }
        } else {
            if !c.is_ascii() {
                return false;
            }
            run = 0;
        }
    }
    letters >= 8 && (worst >= 6 || vowels * 7 < letters)
}

/// Made up of letters in the order of the alphabet, as placeholders for keys are: `abcdefg`.
fn alphabetical(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let letters: Vec<u8> = lower.bytes().filter(u8::is_ascii_lowercase).collect();
    let next = letters.windows(2).filter(|it| it[1] == it[0] + 1).count();
    letters.len() >= 7 && next * 4 >= letters.len() * 3
}

/// Too many neighbours among its letters that words hardly have: `xq`, `jv`. Of 16 random letters three in five are told,
/// and one in a thousand of words put together. A capital after a small letter begins a word.
fn strange(value: &str) -> bool {
    let (mut rare, mut all) = (0, 0);
    for pair in value.as_bytes().windows(2) {
        if !pair.iter().all(u8::is_ascii_alphabetic)
            || (pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        {
            continue;
        }
        let [a, b] = [pair[0], pair[1]].map(|it| it.to_ascii_lowercase() - b'a');
        all += 1;
        rare += usize::from(NEIGHBOURS[usize::from(a)] >> b & 1 == 0);
    }
    all >= 10 && rare >= 4 && rare * 20 >= all * 7
}

/// Two such neighbours and more in one word: hardly one of a language.
fn is_odd(value: &str) -> bool {
    let pairs = value.as_bytes().windows(2).filter(|it| it.iter().all(u8::is_ascii_lowercase));
    let rare = |it: &[u8]| NEIGHBOURS[usize::from(it[0] - b'a')] >> (it[1] - b'a') & 1 == 0;
    pairs.filter(|it| rare(it)).count() >= 2
}

/// For each letter, as bits, the letters that follow it in words: more than once in 4,000 pairs, over the 17,000 words that
/// occur in two or more of 1,200 documents about software.
const NEIGHBOURS: [u32; 26] = [
    0x03fe_ffff,
    0x011e_591d,
    0x013e_ddbd,
    0x011e_f9ff,
    0x03ff_fdff,
    0x011e_5939,
    0x001e_79d5,
    0x011e_7911,
    0x02be_fe7f,
    0x0014_411d,
    0x011e_6991,
    0x013e_fd7f,
    0x0114_dd1f,
    0x033e_edff,
    0x01fe_ffff,
    0x011e_e9fd,
    0x0018_0000,
    0x017e_fdff,
    0x037e_fdff,
    0x03de_fdff,
    0x020e_fd7f,
    0x0004_4111,
    0x0006_6995,
    0x0008_8115,
    0x001c_f915,
    0x0000_4111,
];

/// Counts over the parts of a value: `[A-Z]?[a-z]+`, `[A-Z]+`, `[0-9]+`.
struct PartCounts {
    letters: usize,
    upper: usize,
    lower: usize,
    digits: usize,
    separators: usize,
    symbols: usize,
    count: usize,
    longest_word: usize,
}

impl PartCounts {
    fn count(value: &str) -> Self {
        let mut it = Self {
            letters: 0,
            upper: 0,
            lower: 0,
            digits: 0,
            separators: 0,
            symbols: 0,
            count: 0,
            longest_word: 0,
        };
        let (mut last, mut len) = (' ', 0);
        for c in value.chars() {
            let kind = match c {
                '0'..='9' => '0',
                _ if c.is_uppercase() => 'A',
                _ if c.is_alphabetic() => 'a',
                '-' | '_' | '.' | ':' | '/' | '+' | '=' | '#' | ',' | ' ' | '~' => '-',
                _ => '!',
            };
            match kind {
                '0' => it.digits += 1,
                'A' => (it.letters, it.upper) = (it.letters + 1, it.upper + 1),
                'a' => (it.letters, it.lower) = (it.letters + 1, it.lower + 1),
                '-' => it.separators += 1,
                _ => it.symbols += 1,
            }
            if kind == last || (kind == 'a' && last == 'A' && len == 1) {
                len += 1;
            } else {
                len = 1;
                it.count += usize::from(matches!(kind, '0' | 'a' | 'A'));
            }
            if kind == 'a' {
                it.longest_word = it.longest_word.max(len);
            }
            last = kind;
        }
        it
    }

    fn mean(&self) -> f64 {
        (self.letters + self.digits) as f64 / self.count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_a_key() {
        for (secret, value) in [
            (true, "gHjrT345rflePOKazE2Bj47hF56U9dsVwMdSiY73"),
            (true, "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
            (true, "2e11kyDIiLGCGkHX7pAdSvKuqrEcZtYf82HrSVZxCZ"),
            (false, "minecraft volume alpha"),
            (false, "e8e4df51-2054-49b0-ab1c-516ac95c691d"),
            (false, "d7db0ec3334230608d45644926b269c100305171"),
            (false, "spring_sale_2024_retargeting_lookalike_v3"),
            (false, "ThisIsALongCamelCaseIdentifierFromAGeneratedSdkModule"),
            (
                false,
                "sha512-KIjt+6IfysQ4GCv66xihEitBjvhU/bixbbbFxdJ1sqCp4uJ0wuZiYBPhksZoy4lfaF0k9cwNzY5upEW/VWdw3w==",
            ),
            (false, "2024-03-01T12:34:56.789012Z"),
            (false, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
            (false, "exp-checkout-redesign-variant-b-2024q1"),
            (false, "sk-learn-v2-tutorial-for-absolute-beginners-2024"),
            (true, "sk-ant-api03-abc123xyz-456def789ghij-klmnopqrstuvwx-3456yza7"),
            (true, "20c2F0d03201af478ca1aBE9515A1A4FEfb"),
            (true, "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"),
            (true, "xoxb-866913299240-6352635875"),
            (true, "ByDfulghxvvmHbArJSFfQhxemJPQHOwplxuydlKEEbfe"),
            (false, "RechtsschutzversicherungsGesellschaft24"),
            (false, "test-name-4c1b9ae1d2bbe870"),
            (true, "gr5xy7rdmoyxftun4ahfnkzklsy0p93q"),
        ] {
            assert_eq!(verdict(KeyClass::Silent, value).is_some(), secret, "{value}");
        }
    }

    #[test]
    fn values_under_a_telling_key() {
        for (class, secret, value) in [
            (KeyClass::Always, true, "correct horse battery staple"),
            (KeyClass::Always, false, "true"),
            (KeyClass::Always, false, "${PASSWORD}"),
            (KeyClass::Likely, true, "52acf265-3fc6-4ecd-304a-15940bd04653"),
            (KeyClass::Likely, true, "abcdef12345"),
            (KeyClass::Likely, true, "XY.ZW.1a2b3c4d5e6f1a2b3c4d5e6f.qwertyuiopas"),
            (KeyClass::Perhaps, false, "1541815603606036480"),
            (KeyClass::Likely, true, "ABCDEFG-HIJKLMN-OPQRSTU-VWXYZAB"),
            (KeyClass::Likely, true, "qzjxkvwpmbtghr"),
            (KeyClass::Likely, true, "DouyWfcYpqnuWRzRUSRi"),
            (KeyClass::Likely, false, "ThisIsALongCamelCaseIdentifier"),
            (KeyClass::Always, true, "aaaaaaaaaaaaaaaaaaaaaaa-"),
            (KeyClass::Likely, false, "xxxxxxxxxxxxxxxxxxxxxxxx"),
            (KeyClass::Perhaps, true, "abcdefghijklmnopqrst"),
            (KeyClass::Perhaps, true, "PSHD-TRNL-MKOA-BEIU"),
            (KeyClass::Perhaps, false, "NEW-YORK-CITY"),
            (KeyClass::Perhaps, true, "97483431218067457609"),
            (KeyClass::Always, true, "071"),
            (KeyClass::Always, false, "off"),
            (KeyClass::Likely, false, "bearer"),
            (KeyClass::Likely, false, "Keynote: the state of Rust"),
            (KeyClass::Likely, false, "18273"),
            (KeyClass::Likely, false, "/account/tokens"),
            (KeyClass::Likely, true, "/AA0aA+a0aA0a++AA+A00/="),
            (KeyClass::Perhaps, true, "SplxlOBeZQQYbYS6WxSbIA"),
            (KeyClass::Perhaps, true, "af0ifjsldkj"),
            (KeyClass::Perhaps, false, "California"),
            (KeyClass::Perhaps, false, "SPRING-SALE-2024"),
            (KeyClass::Harmless, false, "V1StGXR8_Z5jdHi6B-myT"),
        ] {
            assert_eq!(verdict(class, value).is_some(), secret, "{class:?} {value}");
        }
    }
}
