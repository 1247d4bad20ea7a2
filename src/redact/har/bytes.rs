//! Bodies as they were sent: base64 undone, compression undone.

use std::io::Read;

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// One decoded body; more is `TooLarge`.
pub const MAX_BODY: usize = 8 << 20;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Base64 as exporters write it: with or without padding and line breaks.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    if text.contains(char::is_whitespace) {
        let packed: String = text.split_whitespace().collect();
        return LENIENT.decode(packed).ok();
    }
    LENIENT.decode(text).ok()
}

/// A body in base64 of which nothing says so: a text that is not what its type says, and in base64 of such a thing.
pub fn unflagged(text: &str, mime: &str) -> Option<Vec<u8>> {
    let essence = mime.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let is_json = essence.ends_with("json");
    let is_markup = essence.ends_with("html") || essence.ends_with("xml");
    let text = text.trim_end();
    if !(is_json || is_markup)
        || text.len() < 8
        || !text.len().is_multiple_of(4)
        || text.starts_with(['{', '[', '<'])
        || !text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'='))
    {
        return None;
    }
    let bytes = LENIENT.decode(text).ok()?;
    let start = bytes.iter().find(|it| !it.is_ascii_whitespace() && it.is_ascii())?;
    let fits = if is_json { matches!(start, b'{' | b'[') } else { *start == b'<' };
    fits.then_some(bytes)
}

/// The body without its content encoding. Most exporters undo it and leave the header: a body that is readable, or that
/// does not decode, is taken as it is. `None`: decoded, it is larger than [`MAX_BODY`].
pub fn inflate(bytes: Vec<u8>, encoding: &str) -> Option<Vec<u8>> {
    let mut bytes = bytes;
    for coding in encoding.rsplit(',').map(|it| it.trim().to_ascii_lowercase()).take(3) {
        if bytes.is_empty() || std::str::from_utf8(&bytes).is_ok_and(|it| !it.contains('\0')) {
            return Some(bytes);
        }
        let decoded = match coding.as_str() {
            "gzip" | "x-gzip" if bytes.starts_with(&[0x1f, 0x8b]) => {
                read(flate2::read::MultiGzDecoder::new(&bytes[..]))
            }
            "deflate" => match read(flate2::read::ZlibDecoder::new(&bytes[..])) {
                DecodeResult::Broken => read(flate2::read::DeflateDecoder::new(&bytes[..])),
                it => it,
            },
            "br" => read(brotli_decompressor::Decompressor::new(&bytes[..], 4096)),
            "zstd" => {
                zstd::stream::read::Decoder::new(&bytes[..]).map_or(DecodeResult::Broken, read)
            }
            _ => DecodeResult::Broken,
        };
        match decoded {
            DecodeResult::Whole(it) => bytes = it,
            DecodeResult::TooLarge => return None,
            DecodeResult::Broken => return Some(bytes),
        }
    }
    Some(bytes)
}

enum DecodeResult {
    Whole(Vec<u8>),
    TooLarge,
    Broken,
}

fn read(from: impl Read) -> DecodeResult {
    let mut out = Vec::new();
    match from.take(MAX_BODY as u64 + 1).read_to_end(&mut out) {
        Ok(_) if out.len() > MAX_BODY => DecodeResult::TooLarge,
        Ok(_) if out.is_empty() => DecodeResult::Broken,
        Ok(_) => DecodeResult::Whole(out),
        Err(_) => DecodeResult::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn base64_without_a_word() {
        let json = base64::Engine::encode(&LENIENT, br#"{"a": [1, 2, 3]}"#);
        assert_eq!(unflagged(&json, "application/json").unwrap(), br#"{"a": [1, 2, 3]}"#);
        assert!(
            unflagged(&json, "text/plain").is_none() && unflagged(&json, "text/html").is_none()
        );
        for text in ["{}", "12345678", "nullnull", "\"abcdefgh\"", "aGVsbG8gd29ybGQ="] {
            assert!(unflagged(text, "application/json").is_none(), "{text}");
        }
    }

    #[test]
    fn compressed_bodies() {
        let plain = b"{\"a\": \"\xc3\xa9 and some more text\"}".to_vec();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        raw.write_all(&plain).unwrap();
        let mut br = Vec::new();
        brotli::BrotliCompress(
            &mut &plain[..],
            &mut br,
            &brotli::enc::BrotliEncoderParams::default(),
        )
        .unwrap();
        for (bytes, encoding) in [
            (plain.clone(), "gzip"),
            (gzip.finish().unwrap(), "gzip"),
            (raw.finish().unwrap(), "deflate"),
            (br, "br"),
            (zstd::encode_all(&plain[..], 3).unwrap(), "zstd"),
        ] {
            assert_eq!(inflate(bytes, encoding).unwrap(), plain, "{encoding}");
        }
        assert_eq!(inflate(vec![0xff, 0x00], "gzip").unwrap(), [0xff, 0x00]);
        let bomb = zstd::encode_all(&vec![0; MAX_BODY + 1][..], 3).unwrap();
        assert!(inflate(bomb, "zstd").is_none());
    }
}
