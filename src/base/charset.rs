//! Text of answers in UTF-8, whatever charset the site sent, as a browser decodes it.
//!
//! The order is that of the HTML standard: a byte order mark, the charset of the content type, a `meta` element or an XML
//! declaration. JSON without a declaration, or that is UTF-8 all the same, stays as it is: `fetch` reads it so.

use std::borrow::Cow;

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, ISO_8859_2, ISO_8859_5, ISO_8859_7, KOI8_R,
    KOI8_U, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_874, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256, WINDOWS_1257,
    WINDOWS_1258, X_USER_DEFINED,
};

/// A charset.
pub type Charset = Encoding;

/// How far into a document a declaration is looked for (HTML standard, 13.2.3.2).
const PRESCAN: usize = 1024;

/// Charsets of forms that are tried, those of many sites first. UTF-8 is none of them: browsers send it as it is.
const OF_FORMS: &[&Encoding] = &[
    WINDOWS_1251,
    SHIFT_JIS,
    GBK,
    EUC_KR,
    BIG5,
    EUC_JP,
    KOI8_R,
    WINDOWS_1252,
    WINDOWS_1250,
    ISO_8859_2,
    WINDOWS_1254,
    WINDOWS_1253,
    WINDOWS_1255,
    WINDOWS_1256,
    ISO_8859_7,
    ISO_8859_5,
    WINDOWS_1257,
    WINDOWS_1258,
    WINDOWS_874,
    KOI8_U,
    GB18030,
];

/// A charset by its label that forms can be sent in and that is not UTF-8.
pub fn form_charset(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).filter(|it| it.output_encoding() == *it && *it != UTF_8)
}

/// The text in that charset. What it does not have is written as `&#1234;`, as browsers do (URL standard, 4.1).
pub fn encode<'a>(charset: &'static Encoding, text: &'a str) -> Cow<'a, [u8]> {
    charset.encode(text).0
}

/// The charset in which bytes of a form hold most of the texts; all of the bytes have a meaning in it. Of several, one of
/// `declared`, which are those of the form's page and of the answer: kana are the same bytes in EUC-JP and GBK. `None` for UTF-8.
pub fn guess(
    bytes: &[u8],
    texts: &[&str],
    declared: &[&'static Encoding],
) -> Option<&'static Encoding> {
    if std::str::from_utf8(bytes).is_ok() {
        return None;
    }
    let held = |charset: &&'static Encoding| {
        let all = charset.decode_without_bom_handling_and_without_replacement(bytes)?;
        Some(texts.iter().filter(|it| !it.is_ascii() && all.contains(**it)).count())
    };
    let all = declared.iter().chain(OF_FORMS).copied().filter(|it| *it != UTF_8);
    let mut best = None;
    for it in all {
        if let Some(count) = held(&it).filter(|count| best.is_none_or(|(most, _)| *count > most)) {
            best = Some((count, it));
        }
    }
    best.filter(|it| it.0 > 0).map(|it| it.1)
}

/// The charset that an answer declares: by its content type, else by the beginning of its document.
pub fn declared_charset(content_type: &str, body: &[u8]) -> Option<&'static Encoding> {
    let parameters = content_type.split_once(';').map_or("", |it| it.1);
    charset(parameters).or_else(|| declaration(body))
}

/// The body in UTF-8 where it is text in another charset; otherwise the body as it came. What cannot be decoded becomes U+FFFD.
pub fn to_utf8(content_type: &str, body: Vec<u8>) -> Vec<u8> {
    let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    let essence = essence.trim().to_ascii_lowercase();
    let is_json = essence.ends_with("json");
    let is_markup = essence.ends_with("html") || essence.ends_with("xml");
    let is_text = is_json
        || is_markup
        || essence.is_empty()
        || essence.starts_with("text/")
        || essence.ends_with("javascript");
    if !is_text || body.is_empty() {
        return body;
    }
    let is_utf8 = std::str::from_utf8(&body).is_ok();
    let declared = Encoding::for_bom(&body)
        .map(|it| it.0)
        .or_else(|| charset(parameters).filter(|_| !(is_json && is_utf8)))
        .or_else(|| if is_markup { declaration(&body) } else { None });
    let encoding = match declared {
        Some(it) => it,
        None if is_utf8 || is_json => return body,
        None => WINDOWS_1252,
    };
    if encoding == UTF_8 {
        return body;
    }
    encoding.decode(&body).0.into_owned().into_bytes()
}

/// Of `; charset=windows-1251; boundary=x`.
fn charset(parameters: &str) -> Option<&'static Encoding> {
    let value = parameters.split(';').find_map(|it| {
        let (name, value) = it.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })?;
    Encoding::for_label(value.trim().trim_matches(['"', '\'']).as_bytes())
}

/// What the beginning of a document says: `<meta charset=…>`, `<meta … content="text/html; charset=…">`, `<?xml encoding=…?>`.
fn declaration(body: &[u8]) -> Option<&'static Encoding> {
    let head: String =
        body.iter().take(PRESCAN).map(|it| char::from(*it).to_ascii_lowercase()).collect();
    let label = |text: &str, name: &str| {
        let rest = text.split_once(name)?.1.trim_start().strip_prefix('=')?;
        let rest = rest.trim_start().trim_start_matches(['"', '\'']);
        let end = rest.find(['"', '\'', ';', ' ', '/', '>', '?']).unwrap_or(rest.len());
        Encoding::for_label(&rest.as_bytes()[..end])
    };
    let of_xml =
        head.strip_prefix("<?xml").and_then(|it| label(it.split("?>").next()?, "encoding"));
    let of_meta = || {
        let tags = head.split("<meta").skip(1);
        tags.filter_map(|it| it.split('>').next()).find_map(|it| label(it, "charset"))
    };
    // Whoever could read this was not reading UTF-16.
    of_xml.or_else(of_meta).map(|it| match it {
        it if it == UTF_16BE || it == UTF_16LE => UTF_8,
        it if it == X_USER_DEFINED => WINDOWS_1252,
        it => it,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content_type: &str, body: &[u8]) -> String {
        String::from_utf8_lossy(&to_utf8(content_type, body.to_vec())).into_owned()
    }

    #[test]
    fn charsets_of_answers() {
        let russian = encoding_rs::WINDOWS_1251.encode("товар").0.into_owned();
        let japanese = encoding_rs::SHIFT_JIS.encode("商品").0.into_owned();
        let wide: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain("aж".encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        for (content_type, body, want) in [
            ("application/json; charset=windows-1251", &*russian, "товар"),
            ("text/html;charset=\"Windows-1251\"", &russian, "товар"),
            ("application/problem+json; charset=shift_jis", &japanese, "商品"),
            ("text/plain", "é".as_bytes(), "é"),
            ("text/html", b"caf\xe9", "café"),
            ("application/xml", &wide, "aж"),
            // What is UTF-8 is not read as something else because a server says so of all it sends.
            ("application/json; charset=iso-8859-1", "é".as_bytes(), "é"),
            ("text/html; charset=nonsense", "é".as_bytes(), "é"),
            ("image/png; charset=windows-1251", b"abc", "abc"),
            ("", "ж".as_bytes(), "ж"),
        ] {
            assert_eq!(
                text(content_type, body).trim_start_matches('\u{feff}'),
                want,
                "{content_type}"
            );
        }
    }

    #[test]
    fn charsets_that_documents_declare() {
        let russian = encoding_rs::WINDOWS_1251.encode("товар").0.into_owned();
        for head in [
            "<!doctype html><meta charset=windows-1251>",
            "<html><head><META http-equiv='Content-Type' content='text/html; charset=windows-1251'>",
            "<head><meta name=x content=y><meta charset = \"windows-1251\" />",
        ] {
            let body = [head.as_bytes(), &russian].concat();
            assert!(text("text/html", &body).ends_with("товар"), "{head}");
        }
        let xml =
            [b"<?xml version=\"1.0\" encoding='windows-1251'?><a>".as_slice(), &russian].concat();
        assert!(text("application/rss+xml", &xml).ends_with("товар"));
        let late = [" ".repeat(PRESCAN).as_bytes(), b"<meta charset=windows-1251>\xf2"].concat();
        assert!(text("text/html", &late).ends_with('ò'));
    }
}
