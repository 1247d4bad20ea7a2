//! Elements of markup that hold text alone, and what names that text: the element, a `<name>` beside it, or its place in a call.

use super::{
    rpc_arguments::{is_credential, takes_credential},
    step_counter,
};

/// `<name>value</name>`, as XML has it.
pub struct LeafElement<'a> {
    /// The element's name without its prefix.
    pub key: &'a str,
    /// What a `<name>` or `<key>` before it says, as in `<member>` and property lists.
    pub named: Option<&'a str>,
    /// An argument that is a credential by its place.
    pub credential: bool,
    pub value: &'a str,
}

/// From left to right.
pub fn each_leaf<'a>(text: &'a str, mut found: impl FnMut(LeafElement<'a>)) {
    // Where the last tag began, and where it ended: a `>` before any `<` ends none.
    let (mut start, mut open): (Option<usize>, Option<usize>) = (None, None);
    let (mut named, mut method, mut given) = (None, None, 0);
    let mut at = 0;
    while let Some(found_at) = memchr::memchr2(b'<', b'>', &text.as_bytes()[at..]) {
        let i = at + found_at;
        step_counter::record_bytes(found_at + 1);
        at = i + 1;
        let rest = &text[i..];
        if rest.starts_with('>') {
            open = open.or(start.and(Some(i)));
            continue;
        }
        if rest.starts_with("<![CDATA[") {
            let Some(len) = rest.find("]]>") else { return };
            step_counter::record_bytes(len);
            at = i + len + 3;
            continue;
        }
        let (before, ended) = (start.replace(i), open.take());
        let Some((before, ended)) = before.zip(ended).filter(|it| it.1 - it.0 <= 512) else {
            continue;
        };
        let key = local(&text[before + 1..ended]);
        if key.is_empty() {
            continue;
        }
        if !rest.starts_with("</") {
            // `<login><arg0>…`
            if takes_credential(key) {
                (method, given) = (Some(key), 0);
            }
            continue;
        }
        let value = &text[ended + 1..i];
        if value.len() >= 8192 {
            continue;
        }
        let value = value.trim();
        let value = value
            .strip_prefix("<![CDATA[")
            .and_then(|it| it.strip_suffix("]]>"))
            .unwrap_or(value)
            .trim();
        if key == "methodName" {
            (method, given) = (takes_credential(value).then_some(value), 0);
        } else if key.eq_ignore_ascii_case("name") || key.eq_ignore_ascii_case("key") {
            named = (value.len() <= 64).then_some(value);
        } else {
            // `<string name="api_key">…</string>`
            let named = named.take().or_else(|| attribute(&text[before + 1..ended]));
            let credential = named.is_none()
                && method.is_some_and(|it| is_credential(it, given))
                && in_call(key);
            given += usize::from(named.is_none() && in_call(key));
            if value.len() >= 3 {
                found(LeafElement { key, named, credential, value });
            }
        }
    }
}

/// The name of a start tag without its prefix; empty for any other.
fn local(tag: &str) -> &str {
    let name = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or("");
    let name = name.rsplit(':').next().unwrap_or(name);
    if tag.starts_with(|c: char| c.is_alphabetic() || c == '_') { name } else { "" }
}

/// What a start tag calls its element, beside the name of the tag.
fn attribute(tag: &str) -> Option<&str> {
    let at = |name: &str| tag.find(name).map(|at| &tag[at + name.len()..]);
    let rest = [" name=", " key=", " id="].iter().find_map(|it| at(it))?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split_once(quote).map(|it| it.0).filter(|it| it.len() <= 64)
}

/// What arguments without names are called.
fn in_call(key: &str) -> bool {
    let word = key.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = matches!(word, "arg" | "in" | "param" | "parameter" | "args") && word != key;
    numbered || matches!(key, "string" | "value" | "int" | "i4" | "i8" | "boolean" | "double")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_text() {
        for (text, expected) in [
            ("<a:Password Type='x'>pw1</a:Password><b/>", "Password=pw1"),
            ("<p><![CDATA[a<b>c]]></p>", "p=a<b>c"),
            (
                "<member><name>password</name><value><string>pw1</string></value></member>",
                "string(password)=pw1",
            ),
            (
                "<key>pin</key><string>1234</string><string>abc</string>",
                "string(pin)=1234 string=abc",
            ),
            (
                "<methodName>login</methodName><params><param><value>bob</value></param><param><value>pw1</value></param></params>",
                "value=bob value!=pw1",
            ),
            ("<x:login><arg0>bob</arg0><arg1>pw1</arg1></x:login>", "arg0=bob arg1!=pw1"),
            (">C:*</E:<U <a></b>ccc</d> <![CDATA[", ""),
        ] {
            let mut out = Vec::new();
            each_leaf(text, |it| {
                let named = it.named.map_or(String::new(), |it| format!("({it})"));
                let mark = if it.credential { "!" } else { "" };
                out.push(format!("{}{named}{mark}={}", it.key, it.value));
            });
            assert_eq!(out.join(" "), expected, "{text}");
        }
    }
}
