//! Percent-encoding, and the other guises in which a secret may stand.

use std::borrow::Cow;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What `encodeURIComponent` leaves alone, and nothing more.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// For a value in a URL. [`decode_percent`] gives it back.
pub fn percent(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// Bytes that are not UTF-8 stay as they were written.
pub fn decode_percent(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    percent_decode_str(text)
        .decode_utf8()
        .map_or_else(|_| text.to_owned(), Cow::into_owned)
}

/// The text of a secret in other encodings, without the plain one.
pub fn guises(secret: &str) -> Vec<String> {
    let component = percent(secret);
    let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let json = serde_json::Value::from(secret).to_string();
    let json = json.trim_matches('"').to_owned();
    let html = secret
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let mut all = vec![
        component.to_lowercase_escapes(),
        percent(&component),
        component,
        form,
        json.replace('/', "\\/"),
        secret.replace('/', "\\u002F"),
        json,
        html.replace('\'', "&#39;"),
        html,
        secret.replace('+', " "),
    ];
    all.retain(|it| it != secret);
    all.sort();
    all.dedup();
    all
}

trait Escapes {
    fn to_lowercase_escapes(&self) -> String;
}

impl Escapes for String {
    /// `%2F` as `%2f`.
    fn to_lowercase_escapes(&self) -> String {
        let mut out = String::with_capacity(self.len());
        let mut low = 0;
        for c in self.chars() {
            if low > 0 {
                low -= 1;
                out.push(c.to_ascii_lowercase());
            } else {
                low = if c == '%' { 2 } else { 0 };
                out.push(c);
            }
        }
        out
    }
}

/// What stands in base64 of anything that holds the secret: the part that does not depend on its neighbours, for each of
/// the three alignments and both alphabets. Parts under 10 characters prove nothing and are left out.
pub fn base64_cores(secret: &str) -> Vec<String> {
    let mut all = Vec::new();
    for skip in 0..3_usize {
        let mut bytes = vec![0; skip];
        bytes.extend_from_slice(secret.as_bytes());
        let from = (skip * 8).div_ceil(6);
        let to = bytes.len() * 8 / 6;
        for text in [
            STANDARD_NO_PAD.encode(&bytes),
            URL_SAFE_NO_PAD.encode(&bytes),
        ] {
            if to.saturating_sub(from) >= 10 {
                all.push(text[from..to].to_owned());
            }
        }
    }
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn a_secret_is_found_in_base64_of_its_surroundings() {
        for front in ["", "a", "ab", "abc", "user:"] {
            let all = STANDARD.encode(format!("{front}S3cr3t-Value-91 and more"));
            assert!(
                base64_cores("S3cr3t-Value-91")
                    .iter()
                    .any(|it| all.contains(it)),
                "{front}"
            );
        }
    }

    #[test]
    fn percent_goes_there_and_back() {
        for text in ["[REDACTED:x#2]", "a b/ü?&", "plain"] {
            assert_eq!(decode_percent(&percent(text)), text);
        }
        assert_eq!(decode_percent("%ff"), "%ff");
    }
}
