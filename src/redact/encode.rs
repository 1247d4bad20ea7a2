//! Percent-encoding, and the other guises in which a secret may stand.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use zeroize::Zeroizing;

use super::markup::{MAX_ENTITY, reference};

/// What `encodeURIComponent` leaves alone, and nothing more.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// For a value in a URL. [`decode_percent`] gives it back.
pub fn percent(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// Bytes that are not UTF-8 stay as they were written.
pub fn decode_percent(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}

/// The same text as other alphabets write it whole. Escapes of single characters are undone by [`DecodedLayer`] instead.
pub fn each_guise(secret: &str, mut found: impl FnMut(&[u8])) {
    let mut hex = Zeroizing::new(commis_base::ids::hex(secret.as_bytes()));
    found(hex.as_bytes());
    hex.make_ascii_uppercase();
    found(hex.as_bytes());
    for (from, to) in [("+", " "), (" ", "+")] {
        if secret.contains(from) {
            found(Zeroizing::new(secret.replace(from, to)).as_bytes());
        }
    }
}

/// The same as debuggers and people write it: from the end, in other capitals, letter by letter, as numbers, in two halves.
pub fn each_echo(secret: &str, mut found: impl FnMut(&[u8])) {
    if !secret.bytes().all(|b| b.is_ascii_graphic()) {
        return;
    }
    let mut told = |it: String| found(Zeroizing::new(it).as_bytes());
    told(secret.chars().rev().collect());
    for (is, other) in [
        (secret.bytes().any(|b| b.is_ascii_lowercase()), secret.to_ascii_uppercase()),
        (secret.bytes().any(|b| b.is_ascii_uppercase()), secret.to_ascii_lowercase()),
    ] {
        if is {
            told(other);
        }
    }
    let letters: Vec<String> = secret.chars().map(String::from).collect();
    let numbers: Vec<String> = secret.bytes().map(|b| b.to_string()).collect();
    let pairs: Vec<String> = secret.bytes().map(|b| format!("{b:02x}")).collect();
    for (all, sign) in [
        (&letters, " "),
        (&letters, "-"),
        (&letters, ", "),
        (&numbers, ", "),
        (&numbers, ","),
        (&numbers, " "),
        (&pairs, " "),
        (&pairs, ":"),
    ] {
        told(all.join(sign));
    }
    // In groups, as they are read out.
    let chars: Vec<char> = secret.chars().collect();
    for size in [4, 5, 6, 8] {
        let groups: Vec<String> = chars.chunks(size).map(|it| it.iter().collect()).collect();
        told(groups.join(" "));
        told(groups.join("-"));
    }
    told(secret.chars().map(swapped).collect());
    let coded = base32(secret.as_bytes());
    told(coded.to_ascii_lowercase());
    told(coded);
    let reversed = Zeroizing::new(secret.chars().rev().collect::<String>());
    told(STANDARD_NO_PAD.encode(&*reversed));
    told(commis_base::ids::hex(reversed.as_bytes()));
    if secret.len() >= 24 {
        let (front, back) = secret.split_at(secret.len() / 2);
        told(front.to_owned());
        told(back.to_owned());
    }
}

fn swapped(c: char) -> char {
    if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
}

/// RFC 4648, 6, but for what follows the last whole digit.
fn base32(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let (mut out, mut held, mut bits) = (String::with_capacity(bytes.len() * 2), 0_u32, 0);
    for b in bytes {
        held = held << 8 | u32::from(*b);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            out.push(char::from(LETTERS[(held >> bits & 31) as usize]));
        }
        held &= 0xff;
    }
    out
}

/// Text with one layer of escapes undone, and where each of its bytes stood: `%2F`, `\u002f`, `\x2f`, `\/`, `&#x2F;`,
/// `&amp;`, in any mixture.
pub struct DecodedLayer {
    pub bytes: Vec<u8>,
    /// For each byte, and for the end, the place in the text that [`DecodedLayer::decode`] was given first.
    pub at: Vec<usize>,
}

impl DecodedLayer {
    /// `None`: nothing is escaped.
    pub fn decode(text: &[u8]) -> Option<Self> {
        Self::undo(text, |i| i)
    }

    /// One more layer.
    pub fn deeper(&self) -> Option<Self> {
        Self::undo(&self.bytes, |i| self.at[i])
    }

    fn undo(text: &[u8], place: impl Fn(usize) -> usize) -> Option<Self> {
        let first = memchr::memchr3_iter(b'%', b'\\', b'&', text)
            .find(|it| escape(&text[*it..]).is_some())?;
        let mut out =
            Self { bytes: Vec::with_capacity(text.len()), at: Vec::with_capacity(text.len() + 1) };
        out.bytes.extend_from_slice(&text[..first]);
        out.at.extend((0..first).map(&place));
        let mut i = first;
        while i < text.len() {
            let (c, len) = match text[i] {
                b'%' | b'\\' | b'&' => escape(&text[i..]).unwrap_or((char::from(text[i]), 0)),
                b => (char::from(b), 0),
            };
            if len == 0 {
                out.bytes.push(text[i]);
                out.at.push(place(i));
                i += 1;
                continue;
            }
            if text[i] == b'%' {
                // A byte, perhaps one of several of a character.
                out.bytes.push(c as u8);
            } else {
                out.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            out.at.resize(out.bytes.len(), place(i));
            i += len;
        }
        out.at.push(if text.is_empty() { 0 } else { place(text.len()) });
        Some(out)
    }
}

/// One layer of escapes undone; `None` if there is none, or what comes out is no text.
pub fn decode_escapes(text: &str) -> Option<String> {
    String::from_utf8(DecodedLayer::decode(text.as_bytes())?.bytes).ok()
}

/// The character that an escape stands for, and how long it is.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let hex = |from: usize, len: usize| {
        let digits =
            text.get(from..from + len).filter(|it| it.iter().all(u8::is_ascii_hexdigit))?;
        char::from_u32(u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?)
    };
    match (text[0], text.get(1)?) {
        (b'%', _) => Some((hex(1, 2)?, 3)),
        (b'\\', b'u') => Some((hex(2, 4)?, 6)),
        (b'\\', b'x') => Some((hex(2, 2)?, 4)),
        (b'\\', c @ (b'/' | b'"' | b'\'' | b'\\' | b'&')) => Some((char::from(*c), 2)),
        (b'&', _) => {
            let most = text.len().min(MAX_ENTITY + 2);
            let ascii = text[..most].iter().take_while(|it| it.is_ascii()).count();
            let (c, more, len) = reference(std::str::from_utf8(&text[..ascii]).ok()?)?;
            more.is_none().then_some((c, len))
        }
        _ => None,
    }
}

/// What stands in base64 of anything that holds the secret: the part that does not depend on its neighbours, for each of
/// the three alignments and both alphabets. Parts under 10 characters prove nothing and are left out.
pub fn each_base64_core(secret: &str, mut found: impl FnMut(&[u8])) {
    let mut bytes = Zeroizing::new(vec![0; secret.len() + 2]);
    bytes[2..].copy_from_slice(secret.as_bytes());
    let mut out = Zeroizing::new(vec![0; bytes.len().div_ceil(3) * 4]);
    for skip in 0..3_usize {
        let from = (skip * 8).div_ceil(6);
        let to = (secret.len() + skip) * 8 / 6;
        if to.saturating_sub(from) < 10 {
            continue;
        }
        // It always fits.
        let _ = STANDARD_NO_PAD.encode_slice(&bytes[2 - skip..], &mut out);
        let core = &mut out[from..to];
        found(core);
        if core.iter().any(|it| matches!(it, b'+' | b'/')) {
            for it in &mut *core {
                *it = match *it {
                    b'+' => b'-',
                    b'/' => b'_',
                    it => it,
                };
            }
            found(core);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn a_secret_is_found_in_base64_of_its_surroundings() {
        for front in ["", "a", "ab", "abc", "user:"] {
            let all = STANDARD.encode(format!("{front}S3cr3t-Value-91 and more"));
            let mut found = false;
            each_base64_core("S3cr3t-Value-91", |it| {
                found |= all.contains(std::str::from_utf8(it).unwrap());
            });
            assert!(found, "{front}");
        }
    }

    #[test]
    fn escapes_are_undone_layer_by_layer() {
        for (text, plain) in [
            (r"a%2fb", "a/b"),
            (r"a\/b\u0026\x2Bc", "a/b&+c"),
            ("a&amp;b&#x2F;&#39;", "a&b/'"),
            ("%C3%A9", "é"),
            ("%252F", "%2F"),
        ] {
            let it = DecodedLayer::decode(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(it.bytes).unwrap(), plain, "{text}");
            assert_eq!(it.at.last(), Some(&text.len()));
        }
        let twice = DecodedLayer::decode(b"x%252Fy").unwrap().deeper().unwrap();
        assert_eq!((twice.bytes.as_slice(), &twice.at[..]), (&b"x/y"[..], &[0, 1, 6, 7][..]));
        assert!(DecodedLayer::decode(b"100% & \\ more").is_none());
    }

    #[test]
    fn percent_goes_there_and_back() {
        for text in ["[REDACTED:x#2]", "a b/ü?&", "plain"] {
            assert_eq!(decode_percent(&percent(text)), text);
        }
        assert_eq!(decode_percent("%ff"), "%ff");
    }
}
