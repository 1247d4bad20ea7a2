//! Keys of objects that are data themselves: ids, versions, dates. Two answers have others, and yet one shape.

use std::borrow::Cow;

/// Fewer characters with a digit are a name: `h264_1080p`.
const LONG: usize = 12;
const DIGITS: usize = 4;

/// Whether a key names one thing among many (`0.1.7`, `2024-05-01`, `8123`, `LoadOrders_Aarhus_2024-05-01`) and no property.
pub fn is_data_key(key: &str) -> bool {
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    if digits == 0 {
        return false;
    }
    let apart = key.bytes().any(|b| matches!(b, b'.' | b'-' | b':'));
    let starts = key.as_bytes()[0].is_ascii_digit();
    digits == key.len() || (starts && apart) || (key.len() >= LONG && digits >= DIGITS)
}

/// A key as it is compared.
pub fn normalize_key(key: &str) -> &str {
    if is_data_key(key) { "*" } else { key }
}

/// Letters and words of a key or a heading that can be no more than a name.
const NAME: usize = 64;
const WORDS: usize = 8;

/// Whether what a page or an answer calls something is a name, and not a text: it may be written down where others read it.
pub fn is_plain_name(name: &str) -> bool {
    let plain = |it: char| it.is_alphanumeric() || it == ' ' || ASIDE.contains(it);
    name.is_ascii()
        && name.len() <= 24
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        || (name.chars().count() <= NAME
            && name.split(' ').count() <= WORDS
            && !name.contains("//")
            && name.chars().all(plain))
}

/// Marks in names: `Price (EUR)`, `@type`, `og:title`, `km/h`, `50 %`.
const ASIDE: &str = "_-.,:;/()%#&+*'’°@$€£§?!=~·–²³№²†‡";

/// A path as [`super::paths`] writes it, with `*` for each key that is data.
pub fn normalize_path(path: &str) -> Cow<'_, str> {
    if !path.bytes().any(|b| b.is_ascii_digit()) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('.') {
        out.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        let end = if rest.starts_with('"') { quoted_key_end(rest) } else { rest.find(['.', '[']) };
        let (key, after) = rest.split_at(end.unwrap_or(rest.len()));
        let plain = key.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(key);
        out.push_str(if is_data_key(plain) { "*" } else { key });
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Where a quoted key ends.
fn quoted_key_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().enumerate().skip(1).find_map(|(i, b)| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends.then_some(i + 1)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::shape::{paths, similarity_bp};

    #[test]
    fn which_keys_are_data() {
        for key in [
            "0.1.7",
            "1.0.0-rc.1",
            "2024-05-01",
            "8123",
            "LoadOrders_Aarhus_2024-05-01",
            "550e8400-e29b-41d4",
        ] {
            assert!(is_data_key(key), "{key}");
        }
        for key in ["name", "h264_1080p", "md5", "temperature_2m_max", "x1", "@type", "line-1", ""]
        {
            assert!(!is_data_key(key), "{key}");
        }
    }

    #[test]
    fn paths_have_no_ids() {
        assert_eq!(
            normalize_path("$.versions.\"0.1.7\".keywords[].a.8123"),
            "$.versions.*.keywords[].a.*"
        );
        assert_eq!(normalize_path("$.a.\"b\\\".1\".c"), "$.a.\"b\\\".1\".c");
        assert_eq!(normalize_path("$.x1[].y"), "$.x1[].y");
    }

    #[test]
    fn maps_by_id_have_one_shape() {
        let one = json!({"jobs": {"Load_Aarhus_2024-05-01": {"state": "done", "after": ["a"]}}});
        let two = json!({"jobs": {"Load_Gdynia_2024-05-07": {"state": "late", "after": ["b"]}}});
        assert_eq!(similarity_bp(&paths(&one), &paths(&two)), 10_000);
        let other = json!({"jobs": {"Load_Gdynia_2024-05-07": {"name": "late"}}});
        assert!(similarity_bp(&paths(&one), &paths(&other)) < 7_000);
    }
}
