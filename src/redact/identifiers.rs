//! Published formats of what looks random and is no secret: identifiers made of a time, pictures and files in base64, addresses
//! of things, numbers with a check digit. Under a name that claims a secret they prove nothing.

use std::ops::RangeInclusive;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

/// Milliseconds since 1970 in which identifiers that are seen today were made: 2008 to 2040.
const TIMES: RangeInclusive<u64> = 1_199_145_600_000..=2_208_988_800_000;

/// Whether a whole value has such a format.
pub fn is_public(value: &str) -> bool {
    if value.len() < 15 || value.len() > 16_384 {
        return false;
    }
    let bare = value
        .rsplit_once(['_', '-'])
        .map_or(value, |(front, it)| if worded(front) { it } else { value });
    is_address(value)
        || is_ulid(bare)
        || is_ksuid(bare)
        || is_xid(bare)
        || is_cuid(bare)
        || is_push_id(value)
        || is_media(value)
        || is_packed(value)
        || is_certificate(value)
        || is_public_key(value)
        || is_event(value)
        || is_file(value)
        || is_blurhash(value)
        || is_thumbhash(value)
        || is_vehicle(value)
        || is_content_id(value)
        || is_account(value)
        || is_object(value)
        || is_coin_address(value)
}

/// Whether it is an address or a picture: no credential is written so, whatever its name claims a little.
pub fn is_content(value: &str) -> bool {
    is_address(value) || is_media(value)
}

/// Whether a time of these decades stands in it where a published format has one; of random values hardly one in 200 passes.
pub fn is_timed(value: &str) -> bool {
    let snowflake = (17..=19).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_digit())
        && value.parse::<i64>().is_ok();
    snowflake || is_ulid(value) || is_uuid7(value)
}

/// RFC 9562, 5.7: 48 bits of milliseconds, the version, random.
fn is_uuid7(value: &str) -> bool {
    super::randomness::is_uuid(value)
        && value.as_bytes()[14] == b'7'
        && u64::from_str_radix(&value[..13].replace('-', ""), 16)
            .is_ok_and(|it| TIMES.contains(&it))
}

/// Base64 of either alphabet, padded or not.
fn decoded(value: &str) -> Option<Vec<u8>> {
    let trimmed = value.trim_end_matches('=');
    let plain = trimmed.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/-_".contains(&b));
    let standard = || trimmed.replace('-', "+").replace('_', "/");
    if plain { STANDARD_NO_PAD.decode(standard()).ok() } else { None }
}

/// Seven bits a byte, the least first.
fn varint(rest: &mut &[u8]) -> Option<usize> {
    let end = rest.iter().take(9).position(|b| b & 0x80 == 0)?;
    let all = rest[..=end].iter().rev().fold(0, |it, b| it << 7 | usize::from(b & 0x7f));
    *rest = &rest[end + 1..];
    Some(all)
}

/// One field of a message of protocol buffers: `rest` begins after it then.
fn field(rest: &mut &[u8]) -> Option<()> {
    let tag = varint(rest)?;
    let len = match tag & 7 {
        0 => varint(rest).map(|_| 0)?,
        1 => 8,
        2 => varint(rest)?,
        5 => 4,
        _ => return None,
    };
    *rest = rest.get(len..).filter(|_| (1..20_000).contains(&(tag >> 3)))?;
    Some(())
}

/// A message of protocol buffers (their encoding, "Message Structure") with text in it, as pages keep what they ask for next:
/// field after field, each as long as it says, up to the very end.
fn is_packed(value: &str) -> bool {
    let Some(bytes) = decoded(value).filter(|it| (12..=4096).contains(&it.len())) else {
        return false;
    };
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        if field(&mut rest).is_none() {
            return false;
        }
    }
    let word = |b: &u8| b.is_ascii_alphanumeric() || b"_-.:/".contains(b);
    bytes.split(|b| !word(b)).any(|it| it.len() >= 6)
}

/// X.509 in base64 (RFC 5280, 4.1): a sequence that begins with a sequence. A private key begins with its version.
fn is_certificate(value: &str) -> bool {
    value.len() >= 300
        && value.starts_with("MII")
        && value
            .get(..12)
            .and_then(decoded)
            .is_some_and(|it| it[..2] == [0x30, 0x82] && it[4..6] == [0x30, 0x82])
}

/// Matrix (room versions 4 and later): a sigil, and the hash of what was said.
fn is_event(value: &str) -> bool {
    value.strip_prefix('$').is_some_and(|it| {
        it.len() == 43 && it.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    })
}

/// A file of a kind that pages show, whatever it is called.
fn is_file(value: &str) -> bool {
    const KINDS: &[&str] = &[
        "jpg", "jpeg", "png", "gif", "webp", "avif", "heic", "svg", "ico", "mp3", "m4a", "ogg",
        "wav", "mp4", "m4v", "mov", "webm", "m3u8", "pdf", "woff", "woff2", "ttf",
    ];
    let word = |b: u8| b.is_ascii_alphanumeric() || b"-_./@~+%".contains(&b);
    value.bytes().all(word)
        && value
            .rsplit_once('.')
            .is_some_and(|it| KINDS.contains(&it.1.to_ascii_lowercase().as_str()))
}

/// 32 bytes in base 58, as Solana and others write a public key, which is an account's address.
fn is_public_key(value: &str) -> bool {
    (value.len() == 43 || value.len() == 44 && value.as_bytes()[0] <= b'J')
        && value.bytes().all(|b| BASE58.contains(&b))
        && value.bytes().any(|b| b.is_ascii_digit())
}

/// Letters and separators: what a kind of object is called.
fn worded(text: &str) -> bool {
    text.len() <= 24 && text.bytes().all(|b| b.is_ascii_lowercase() || b"_-".contains(&b))
}

/// A value in an alphabet, as a number; `None`: another letter is in it, or it is too large.
fn number(text: &str, alphabet: &[u8]) -> Option<u128> {
    text.bytes().try_fold(0_u128, |it, b| {
        let digit = alphabet.iter().position(|known| *known == b)?;
        it.checked_mul(alphabet.len() as u128)?.checked_add(digit as u128)
    })
}

const BASE36: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BASE83: &[u8] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";

fn made_at(ms: u128) -> bool {
    u64::try_from(ms).is_ok_and(|it| TIMES.contains(&it))
}

/// ULID: 48 bits of milliseconds, 80 random, in Crockford's base 32.
fn is_ulid(value: &str) -> bool {
    const ALPHABET: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let one_case = !(value.bytes().any(|b| b.is_ascii_lowercase())
        && value.bytes().any(|b| b.is_ascii_uppercase()));
    let upper = value.to_ascii_uppercase();
    value.len() == 26 && one_case && number(&upper, ALPHABET).is_some_and(|it| made_at(it >> 80))
}

/// KSUID: 32 bits of seconds since May 2014, 128 random, in base 62.
fn is_ksuid(value: &str) -> bool {
    // Times between 2014 and 2029 begin so; the rest is random.
    value.len() == 27
        && value.bytes().all(|b| b.is_ascii_alphanumeric())
        && value.starts_with(['0', '1', '2', '3'])
}

/// xid: 32 bits of seconds, a machine, a counter, in base 32 with the digits first.
fn is_xid(value: &str) -> bool {
    value.len() == 20
        && value.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'v').contains(&b))
        && number(&value[..7], &BASE36[..32]).is_some_and(|it| made_at((it >> 3) * 1000))
}

/// cuid: `c`, milliseconds in base 36, a counter, random.
fn is_cuid(value: &str) -> bool {
    value.len() == 25
        && value.starts_with('c')
        && value.bytes().all(|b| BASE36.contains(&b))
        && number(&value[1..9], BASE36).is_some_and(made_at)
}

/// Firebase: 48 bits of milliseconds, 72 random.
fn is_push_id(value: &str) -> bool {
    const ALPHABET: &[u8] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    value.len() == 20
        && value.starts_with('-')
        && value.bytes().all(|b| ALPHABET.contains(&b))
        && number(&value[..8], ALPHABET).is_some_and(made_at)
}

/// URNs and what is written like them: `urn:…`, `spotify:track:…`, `did:plc:…`, `at://…`, `magnet:?…`.
fn is_address(value: &str) -> bool {
    const SCHEMES: &[&str] = &[
        "urn", "did", "at", "tag", "magnet", "ipfs", "ipns", "ipld", "gid", "geo", "doi", "info",
        "mid", "cid", "blob", "data", "ni", "tel", "mailto", "sms", "xmpp", "sip", "isbn", "ark",
        "hdl", "swh", "pkg", "nostr", "matrix", "acct", "lbry", "steam", "content", "asset",
        "rtsp", "rtmp",
    ];
    let Some((scheme, rest)) = value.split_once(':') else { return false };
    let plain = |it: &str| {
        (2..=24).contains(&it.len())
            && it
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.')
            && it.starts_with(|c: char| c.is_ascii_lowercase())
    };
    let kind = rest.split_once(':').map(|it| it.0);
    SCHEMES.contains(&scheme) && !rest.is_empty()
        || plain(scheme)
            && kind.is_some_and(|it| plain(it) && it.bytes().all(|b| b.is_ascii_lowercase()))
            && !rest.contains(['@', '='])
}

/// Base64 of a picture, a sound, a font, a document or something compressed, by what such files begin with.
fn is_media(value: &str) -> bool {
    const BEGIN: &[&[u8]] = &[
        b"\xff\xd8\xff",
        b"\x89PNG",
        b"GIF87a",
        b"GIF89a",
        b"RIFF",
        b"BM",
        b"\0\0\x01\0",
        b"\0\0\0\x0cJXL ",
        b"wOFF",
        b"wOF2",
        b"OTTO",
        b"\0\x01\0\0\0",
        b"%PDF-",
        b"PK\x03\x04",
        b"\x1f\x8b\x08",
        b"\x28\xb5\x2f\xfd",
        b"BZh",
        b"\xfd7zXZ",
        b"OggS",
        b"ID3",
        b"fLaC",
        b"\x1aE\xdf\xa3",
        b"<svg",
        b"<?xml",
        b"\0asm",
        b"SQLite format 3",
    ];
    if value.len() < 32
        || !value.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/-_=".contains(&b))
    {
        return false;
    }
    let mut first = [0; 15];
    let standard: Vec<u8> = value.as_bytes()[..20]
        .iter()
        .map(|b| match b {
            b'-' => b'+',
            b'_' => b'/',
            b => *b,
        })
        .collect();
    if STANDARD_NO_PAD.decode_slice(&standard, &mut first).is_err() {
        return false;
    }
    // Two bytes alone could stand there by chance: a bitmap says how large it is, and keeps two words free.
    let begins = |it: &&[u8]| first.starts_with(it) && (it.len() > 2 || first[6..10] == [0; 4]);
    BEGIN.iter().any(begins) || &first[4..8] == b"ftyp"
}

/// Blurhash: the first character says how many there are. One without a sign is as likely something else.
fn is_blurhash(value: &str) -> bool {
    if !value.contains(|c: char| c.is_ascii_punctuation() && !"-_=+".contains(c)) {
        return false;
    }
    let Some(size) = value.bytes().next().and_then(|b| BASE83.iter().position(|it| *it == b))
    else {
        return false;
    };
    let (x, y) = (size % 9 + 1, size / 9 + 1);
    size < 81 && value.len() == 4 + 2 * x * y && value.bytes().all(|b| BASE83.contains(&b))
}

/// Thumbhash in base64: its head says how many frequencies follow.
fn is_thumbhash(value: &str) -> bool {
    let trimmed = value.trim_end_matches('=');
    // Longer ones without a sign are as often something else.
    if value.len() != 28 && !value.contains(['+', '/', '=']) {
        return false;
    }
    let Ok(bytes) = STANDARD_NO_PAD.decode(trimmed) else { return false };
    if !(12..=30).contains(&bytes.len()) {
        return false;
    }
    let has_alpha = bytes[2] >> 7 == 1;
    let (landscape, short) = (bytes[4] >> 7 == 1, usize::from(bytes[3] & 7));
    let long = if has_alpha { 5 } else { 7 };
    let (x, y) = if landscape { (long, short) } else { (short, long) };
    let (x, y) = (x.max(3), y.max(3));
    let light = (0..y)
        .map(|row| (0..x).filter(|it| (*it, row) != (0, 0) && it * y < x * (y - row)).count())
        .sum::<usize>();
    let all = light + 10 + if has_alpha { 14 } else { 0 };
    short >= 1 && bytes.len() == 5 + usize::from(has_alpha) + all.div_ceil(2)
}

/// A vehicle's number, ISO 3779: 17 capitals and digits without I, O and Q, the last of them digits.
fn is_vehicle(value: &str) -> bool {
    value.len() == 17
        && value
            .bytes()
            .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase() && !b"IOQ".contains(&b))
        && value.bytes().rev().take_while(u8::is_ascii_digit).count() >= 4
        && value.bytes().any(|b| b.is_ascii_uppercase())
}

/// IPFS, by the hash of what is meant.
fn is_content_id(value: &str) -> bool {
    let base32 = |b: u8| b.is_ascii_lowercase() || (b'2'..=b'7').contains(&b);
    value.len() == 46 && value.starts_with("Qm") && value.bytes().all(|b| BASE58.contains(&b))
        || (50..=64).contains(&value.len())
            && ["bafy", "bafk", "bafz", "bagu"].iter().any(|it| value.starts_with(it))
            && value.bytes().all(base32)
}

/// Bank accounts and legal entities (ISO 13616, ISO 17442), with their check digits.
fn is_account(value: &str) -> bool {
    let plain: String = value.chars().filter(|c| *c != ' ').collect();
    let capitals = plain.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    if !capitals || !(15..=34).contains(&plain.len()) {
        return false;
    }
    let rest = |text: &mut dyn Iterator<Item = char>| {
        text.filter_map(|c| c.to_digit(36))
            .fold(0_u32, |it, n| (it * if n > 9 { 100 } else { 10 } + n) % 97)
    };
    let begins = plain.bytes().take(2).all(|b| b.is_ascii_uppercase())
        && plain.bytes().skip(2).take(2).all(|b| b.is_ascii_digit());
    begins && rest(&mut plain[4..].chars().chain(plain[..4].chars())) == 1
        || plain.len() == 20 && rest(&mut plain.chars()) == 1
        || plain.len() == 18 && plain.starts_with("1Z")
}

/// Where coins are sent (BIP 173): a network, a one, 38 letters and more.
fn is_coin_address(value: &str) -> bool {
    ["bc1", "tb1", "ltc1"].iter().any(|it| value.starts_with(it))
        && (40..=64).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

/// Objects of services by the prefix and the length that they are given out with.
fn is_object(value: &str) -> bool {
    const PREFIXES: &[(&str, usize)] = &[
        ("UC", 24),
        ("UU", 24),
        ("LL", 24),
        ("FL", 24),
        ("PL", 34),
        ("OLAK5uy_", 41),
        ("ChIJ", 27),
    ];
    // Stripe's objects, by its API reference, and those who do likewise.
    const KINDS: &[&str] = &[
        "cus", "pi", "ch", "py", "price", "prod", "sub", "in", "ii", "evt", "acct", "pm", "seti",
        "si", "il", "txn", "po", "re", "card", "ba", "src", "dp", "file", "link", "plink", "promo",
        "txr", "we", "msg", "chatcmpl", "run", "thread", "asst", "batch", "org", "usr", "user",
        "team", "proj", "inv", "tr", "trr", "fca", "iauth", "ic", "ich", "ipi", "idp", "tmr",
        "tml", "qt", "cn", "du", "prv", "issfr", "rsl", "rsli", "vs", "vr", "mandate", "di", "pyr",
        "fee", "fr", "bps", "pmc", "pmd",
    ];
    // Twilio's resources, by its glossary; a key is `SK`.
    const SIDS: &[&str] = &[
        "AC", "AD", "AL", "AP", "BU", "CA", "CF", "CH", "CN", "CP", "CR", "EV", "FW", "HJ", "IM",
        "IS", "MB", "MG", "MM", "NO", "PA", "PN", "QU", "RE", "RM", "SM", "TK", "US", "VA", "WA",
        "WK", "WQ", "WR", "WS", "WT", "WW", "ZS",
    ];
    let word = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    let by_kind = value.split_once(['_', '-']).is_some_and(|(kind, rest)| {
        KINDS.contains(&kind)
            && (14..=32).contains(&rest.len())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    let by_sid = value.len() == 34
        && value.split_at_checked(2).is_some_and(|(kind, rest)| {
            SIDS.contains(&kind) && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        });
    // GitHub: the kind in capitals, and MessagePack.
    let node = value
        .split_once("_kwDO")
        .or_else(|| value.split_once("_kgDO"))
        .is_some_and(|it| it.0.len() <= 6 && it.0.bytes().all(|b| b.is_ascii_uppercase()));
    word && (by_kind
        || by_sid
        || node
        || PREFIXES.iter().any(|it| value.starts_with(it.0) && value.len() == it.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_no_keys() {
        let rest = "A".repeat(300);
        assert!(is_public(&format!("MIIDezCCAmOgAwIBAgIE{rest}")));
        assert!(!is_certificate(&format!("MIIEvQIBADANBgkqhkiG{rest}")));
    }

    #[test]
    fn times_in_identifiers() {
        for (timed, value) in [
            (true, "018f3b2c-7d4e-7a1b-9c2d-3e4f5a6b7c8d"),
            (false, "018f3b2c-7d4e-4a1b-9c2d-3e4f5a6b7c8d"),
            (false, "f18f3b2c-7d4e-7a1b-9c2d-3e4f5a6b7c8d"),
            (true, "1541815603606036480"),
            (false, "97483431218067457609"),
        ] {
            assert_eq!(is_timed(value), timed, "{value}");
        }
    }

    #[test]
    fn formats_of_identifiers() {
        for (public, value) in [
            (true, "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            (true, "01arz3ndektsv4rrffq69g5fav"),
            (true, "user_01h2xcejqtf2nbrexx3vqjhp41"),
            (false, "7ZZZ3NDEKTSV4RRFFQ69G5FAVX"),
            (true, "0ujtsYcgvSTl8PAuAdqWYSMnLOv"),
            (false, "zujtsYcgvSTl8PAuAdqWYSMnLOv"),
            (true, "9m4e2mr0ui3e8a215n4g"),
            (true, "cjld2cjxh0000qzrmn831i7rn"),
            (false, "zjld2cjxh0000qzrmn831i7rn"),
            (true, "-JhLeOlGIEjaIOFHR0xd"),
            (true, "LEHV6nWB2yk8pyo0adR*.7kCMdnj"),
            (false, "LEHV6nWB2yk8pyo0adR*.7kCMdn"),
            (true, "3OcRJYB4d3h/iIeHeEh3eIhw+j2w"),
            (true, "1HGCM82633A004352"),
            (false, "1HGCM82633A00435X"),
            (true, "GB82WEST12345698765432"),
            (false, "GB83WEST12345698765432"),
            (true, "spotify:track:4uLU6hMCjMI75M1A2tKUQC"),
            (true, "at://did:plc:z72i7hdynmk6r22z27h6tvur/app.bsky.feed.post/3l6oveex3ii2l"),
            (true, "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWFzpGp"),
            (true, "UCX6OQ3DkcsbYNE6H8uQQuVA"),
            (true, "LLX6OQ3DkcsbYNE6H8uQQuVA"),
            (true, "$Rqnc-F-dvnEYJTyHq_iKxU2bZ1CI92-kuZq3a5lr5Zg"),
            (true, "aJ7kQ2vXw9TzBn4LmRp8.webp"),
            (false, "aJ7kQ2vXw9TzBn4LmRp8.Qx7"),
            (true, "CgdsYW50ZXJuEgUIAhCQAw=="),
            (false, "CgdsYW50ZXJuEgUIAhCQ"),
            // 32 bytes of ones; a letter that the alphabet leaves out.
            (true, "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi"),
            (false, "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLl0"),
            (false, "N9qR4TxZ2LmWvBc7PjHs1KdYfGu3EaXn8CoQpMtV"),
            (true, "cus_NffrFeUfNV2Hib"),
            (false, "tok_NffrFeUfNV2Hib"),
            (true, "tr_1NffrFeUfNV2HibQ7w"),
            (true, "MG3f9a5f5292f5a0d9d965bee9ea09db54"),
            (false, "SK3f9a5f5292f5a0d9d965bee9ea09db54"),
            (true, "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAgGBgcGBQgHBwcJCQg"),
            (false, "gHjrT345rflePOKazE2Bj47hF56U9dsVwMdSiY73"),
        ] {
            assert_eq!(is_public(value), public, "{value}");
        }
    }
}
