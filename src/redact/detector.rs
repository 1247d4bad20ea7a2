//! Whether a value is a secret, by its key, its format or its entropy.
//!
//! The entropy rule alone destroys half of the harmless values, so shapes that are identifiers (UUID, hash, SRI, ETag,
//! cursor, data URL) and anything that reads like words are kept unless the key says secret.

use std::sync::LazyLock;

use super::{
    byte_classes::ByteKinds,
    class::{KeyClass, SecretReason},
    formats, identifiers,
    randomness::{
        NEIGHBOURS, PartCounts, bits, erratic, is_hex, is_host, is_timestamp, is_uuid, natural,
        random, reads,
    },
};

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
        && !super::dates::is_calendar_date(value)
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
        || super::placeholder::is_placeholder(trimmed)
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
        || is_timestamp(value)
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
        || is_timestamp(value)
        || is_host(value)
        || is_email(value)
        || value.contains(['(', '{', '<', '[', ';', '\\'])
        || value.bytes().any(|b| b >= 0x80)
        || contains_uuid(value)
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

/// Two such neighbours and more in one word: hardly one of a language.
fn is_odd(value: &str) -> bool {
    let pairs = value.as_bytes().windows(2).filter(|it| it.iter().all(u8::is_ascii_lowercase));
    let rare = |it: &[u8]| NEIGHBOURS[usize::from(it[0] - b'a')] >> (it[1] - b'a') & 1 == 0;
    pairs.filter(|it| rare(it)).count() >= 2
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
