//! An answer that is a file: what is said of it instead of its bytes, which no recording keeps.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use commis_base::ids::hex;

/// The type of a text that says what a recorded file was. No file has it.
pub const RECORDED: &str = "application/x.commis.recorded-file+json";

/// Bytes of a name.
const MAX_NAME: usize = 200;

/// Signatures of file formats, by MIME type.
const SIGNATURES: &[(&str, &[u8])] = &[
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("application/pdf", b"%PDF-"),
    ("application/zip", b"PK"),
    ("application/gzip", b"\x1f\x8b"),
];

/// Whether the site gives an answer as a file to keep: by its `Content-Disposition`.
pub fn is_attachment(headers: &[(String, String)]) -> bool {
    disposition(headers).is_some_and(|it| {
        it.split(';').next().unwrap_or("").trim().eq_ignore_ascii_case("attachment")
    })
}

/// Whether bytes of that MIME type are a file, even if they happen to be text.
pub fn is_file_type(mime: &str) -> bool {
    SIGNATURES.iter().any(|it| it.0 == mime)
}

/// `{name, type, size, sha256}`: the name that the site gives it, else the last part of its address; the MIME type, without
/// parameters; its bytes; their digest, in lower-case hexadecimal.
pub fn describe(mime: &str, headers: &[(String, String)], url: &str, body: &[u8]) -> Value {
    let name = disposition(headers).and_then(given_name).or_else(|| name_of_address(url));
    json!({
        "name": name.unwrap_or_else(|| "file".to_owned()),
        "type": mime,
        "size": body.len(),
        "sha256": hex(&Sha256::digest(body)),
    })
}

/// Why bytes of that type cannot be the file of that expected type: a site sends pages of errors under the names of files.
pub fn find_mismatch(mime: &str, expected: Option<&str>, body: &[u8]) -> Option<String> {
    if body.is_empty() {
        return Some("the file is empty".to_owned());
    }
    if let Some(expected) = expected.filter(|it| *it != mime) {
        return Some(format!("the answer is {}, not {expected}", describe_type(mime)));
    }
    let start = body.trim_ascii_start();
    let is_page = [&b"<!doctype html"[..], b"<html"]
        .iter()
        .any(|it| start.len() >= it.len() && start[..it.len()].eq_ignore_ascii_case(it));
    if is_page && !mime.contains("html") {
        return Some("the answer is a page, not a file".to_owned());
    }
    let signature = SIGNATURES.iter().find(|it| it.0 == mime)?;
    (!body.starts_with(signature.1)).then(|| format!("the answer is not what {mime} looks like"))
}

fn describe_type(mime: &str) -> String {
    if mime.is_empty() { "of no type".to_owned() } else { mime.escape_debug().take(60).collect() }
}

fn disposition(headers: &[(String, String)]) -> Option<&str> {
    let header = headers.iter().find(|it| it.0.eq_ignore_ascii_case("content-disposition"))?;
    Some(&header.1)
}

/// The name in a `Content-Disposition`: `filename*` before `filename` (RFC 6266).
fn given_name(header: &str) -> Option<String> {
    let mut plain = None;
    for part in split_parameters(header) {
        let Some((key, value)) = part.split_once('=') else { continue };
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "filename*" => {
                let encoded = value.splitn(3, '\'').nth(2)?;
                let text = percent_decode_str(encoded).decode_utf8_lossy();
                return file_name(&text);
            }
            "filename" => {
                let text = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
                plain = file_name(&text.unwrap_or(value).replace("\\\"", "\""));
            }
            _ => {}
        }
    }
    plain
}

/// Parts between semicolons that stand in no quotation.
fn split_parameters(header: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    header.split(move |it| {
        quoted ^= it == '"';
        it == ';' && !quoted
    })
}

fn name_of_address(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let last = url.path_segments()?.next_back()?;
    file_name(&percent_decode_str(last).decode_utf8_lossy())
}

/// A name without folders, control characters and dots in front; `None` where nothing is left.
fn file_name(text: &str) -> Option<String> {
    let last = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut name: String = last.chars().filter(|it| !it.is_control()).collect();
    while name.len() > MAX_NAME {
        name.pop();
    }
    let name = name.trim().trim_start_matches('.');
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(disposition: &str) -> Vec<(String, String)> {
        vec![("content-disposition".to_owned(), disposition.to_owned())]
    }

    #[test]
    fn a_file_is_called_as_its_site_says() {
        let name = |disposition: &str, url: &str| {
            describe("text/csv", &headers(disposition), url, b"a")["name"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let url = "https://a.test/x/rows%20of%20may.csv?seal=1";
        assert_eq!(name("attachment; filename=\"a; b.csv\"", url), "a; b.csv");
        assert_eq!(name("attachment; filename=c.csv", url), "c.csv");
        assert_eq!(
            name("attachment; filename=\"e.csv\"; filename*=UTF-8''%e2%82%ac%20d.csv", url),
            "€ d.csv"
        );
        assert_eq!(name("attachment; filename=\"../../etc/.passwd\"", url), "passwd");
        assert_eq!(name("attachment; filename=\"..\\\\..\\\\run.exe\"", url), "run.exe");
        assert_eq!(name("attachment", url), "rows of may.csv");
        assert_eq!(name("inline; filename=\"..\"", "https://a.test/"), "file");
    }

    #[test]
    fn an_attachment_is_told_by_its_header() {
        for (disposition, is) in
            [("attachment", true), ("ATTACHMENT; filename=a", true), ("inline", false)]
        {
            assert_eq!(is_attachment(&headers(disposition)), is, "{disposition}");
        }
        assert!(!is_attachment(&[]));
    }

    #[test]
    fn a_page_is_no_file() {
        let png = b"\x89PNG\r\n\x1a\nrest";
        assert_eq!(find_mismatch("image/png", Some("image/png"), png), None);
        assert_eq!(find_mismatch("application/x-thing", None, b"\0\x01"), None);
        let told = [
            ("text/html", Some("image/png"), &b"<h1>ended</h1>"[..]),
            ("image/png", None, b"  <!DOCTYPE html><h1>ended</h1>"),
            ("application/pdf", None, b"not a document"),
            ("image/png", None, b""),
        ];
        for (mime, expected, body) in told {
            assert!(find_mismatch(mime, expected, body).is_some(), "{mime}");
        }
    }

    #[test]
    fn the_digest_is_of_the_bytes() {
        let facts = describe("text/plain", &[], "https://a.test/abc.txt", b"abc");
        assert_eq!(facts["size"], 3);
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(facts["sha256"], digest);
    }
}
