//! HTML without a parser: enough to read its text, its `<meta>` and `<input>` values and its depth, in one pass each.

/// Elements whose text nobody sees.
const HIDDEN: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "head", "title", "textarea", "iframe",
    "object",
];
/// What a person would read, at most `limit` bytes; tags end words.
pub fn visible_text(html: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut rest = html;
    while !rest.is_empty() && out.len() < limit {
        let Some(open) = rest.find('<') else {
            push_text(&mut out, rest);
            break;
        };
        push_text(&mut out, &rest[..open]);
        let tag = &rest[open..];
        if let Some(comment) = tag.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |it| &comment[it + 3..]);
            continue;
        }
        if !tag[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
        {
            out.push('<');
            rest = &tag[1..];
            continue;
        }
        let Some(close) = tag_end(tag) else { break };
        let name = tag_name(tag);
        rest = &tag[close + 1..];
        if !tag.starts_with("</") && HIDDEN.contains(&name.as_str()) && !tag[..close].ends_with('/')
        {
            rest = skip_element(rest, &name);
        }
        if !out.ends_with([' ', '\n'])
            && !out.is_empty()
            && !matches!(name.as_str(), "b" | "i" | "em" | "strong" | "mark" | "span" | "u")
        {
            out.push(
                if matches!(name.as_str(), "p" | "div" | "br" | "li" | "tr" | "h1" | "h2" | "h3") {
                    '\n'
                } else {
                    ' '
                },
            );
        }
    }
    let mut end = out.len().min(limit);
    while !out.is_char_boundary(end) {
        end -= 1;
    }
    out.truncate(end);
    out
}

/// Content of the first `<title>`.
pub fn title(html: &str) -> Option<String> {
    let at = find_tag(html, "<title")?;
    let from = at + html[at..].find('>')? + 1;
    let end = html[from..].find("</").map_or(html.len(), |it| from + it);
    let mut out = String::new();
    push_text(&mut out, html.get(from..end)?);
    Some(out.trim().to_owned())
}

/// `<meta name|property content>` and `<input name value>`: element, name, value.
pub fn named_values(html: &str, mut found: impl FnMut(&str, &str, &str)) {
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        let tag = &rest[open..];
        let name = tag_name(tag);
        if name.is_empty() {
            rest = &tag[1..];
            continue;
        }
        let Some(close) = tag_end(tag) else { break };
        if name == "meta" || name == "input" {
            let attrs = attributes(&tag[..close]);
            let get = |key: &str| {
                attrs.iter().find(|it| it.0.eq_ignore_ascii_case(key)).map(|it| it.1.as_str())
            };
            let value = get(if name == "meta" { "content" } else { "value" });
            if let (Some(key), Some(value)) =
                (get("name").or_else(|| get("property")).or_else(|| get("id")), value)
            {
                found(&name, key, value);
            }
        }
        rest = &tag[close + 1..];
        if matches!(name.as_str(), "script" | "style") {
            rest = skip_element(rest, &name);
        }
    }
}

fn push_text(out: &mut String, text: &str) {
    let decoded;
    let text = if text.contains('&') {
        decoded = entities(text);
        decoded.as_str()
    } else {
        text
    };
    let mut space = text.starts_with(char::is_whitespace);
    for word in text.split_whitespace() {
        if space && !out.ends_with([' ', '\n']) && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        space = true;
    }
    if text.ends_with(char::is_whitespace) && !out.ends_with([' ', '\n']) && !out.is_empty() {
        out.push(' ');
    }
}

/// The entities that pages use; others stay.
pub fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|b| b == b';');
        let found = end.and_then(|end| {
            let name = &rest[1..end];
            let c = match name {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                "nbsp" => ' ',
                "ndash" => '–',
                "mdash" => '—',
                "hellip" => '…',
                "rsquo" => '’',
                "lsquo" => '‘',
                "middot" => '·',
                "copy" => '©',
                "eacute" => 'é',
                "auml" => 'ä',
                "ouml" => 'ö',
                "uuml" => 'ü',
                "szlig" => 'ß',
                _ => {
                    let number = name.strip_prefix('#')?;
                    let code = match number.strip_prefix(['x', 'X']) {
                        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                        None => number.parse().ok()?,
                    };
                    char::from_u32(code)?
                }
            };
            Some((c, end + 1))
        });
        let (c, len) = found.unwrap_or(('&', 1));
        out.push(c);
        rest = &rest[len..];
    }
    out.push_str(rest);
    out
}

/// Past the end tag of an element that was just opened.
fn skip_element<'a>(rest: &'a str, name: &str) -> &'a str {
    let mut from = 0;
    while let Some(at) = rest[from..].find("</") {
        let at = from + at;
        let tag = &rest.as_bytes()[at + 2..];
        if tag.len() >= name.len() && tag[..name.len()].eq_ignore_ascii_case(name.as_bytes()) {
            return rest[at..].find('>').map_or("", |it| &rest[at + it + 1..]);
        }
        from = at + 2;
    }
    ""
}

fn tag_name(tag: &str) -> String {
    tag[1..]
        .trim_start_matches('/')
        .bytes()
        .take(32)
        .take_while(u8::is_ascii_alphanumeric)
        .map(|b| b.to_ascii_lowercase() as char)
        .collect()
}

/// Position of the `>` that ends a tag, quotes respected up to a bound.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = 0_u8;
    for (i, b) in tag.bytes().enumerate().take(65_536) {
        match b {
            b'>' if quote == 0 => return Some(i),
            b'"' | b'\'' if quote == 0 => quote = b,
            _ if b == quote => quote = 0,
            _ => {}
        }
    }
    tag.find('>')
}

fn find_tag(html: &str, open: &str) -> Option<usize> {
    html.as_bytes().windows(open.len()).position(|it| it.eq_ignore_ascii_case(open.as_bytes()))
}

fn attributes(tag: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut rest = tag[1..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    while out.len() < 64 {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        if end == 0 {
            break;
        }
        let name = &rest[..end];
        rest = rest[end..].trim_start();
        let Some(after) = rest.strip_prefix('=') else {
            continue;
        };
        let after = after.trim_start();
        let value;
        if let Some(quote @ ('"' | '\'')) = after.chars().next() {
            let body = &after[1..];
            let close = body.find(quote).unwrap_or(body.len());
            value = &body[..close];
            rest = body.get(close + 1..).unwrap_or("");
        } else {
            let close = after.find(char::is_whitespace).unwrap_or(after.len());
            value = &after[..close];
            rest = &after[close..];
        }
        out.push((name.to_owned(), entities(value)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_markup() {
        for (html, text) in [
            (
                "<p>Hello <b>wor</b>ld</p><script>x=1<2</script><p>A&amp;B &#233;</p>",
                "Hello world\nA&B é ",
            ),
            ("a < b and <!-- no --> c", "a < b and c"),
            ("<style>p{}</style><div title='a>b'>ok", "ok"),
            ("<script>never closed", ""),
            ("<svg><svg></svg>logo</svg>after", "logo after"),
            ("plain", "plain"),
        ] {
            assert_eq!(visible_text(html, 1000).trim_end(), text.trim_end(), "{html}");
        }
    }

    #[test]
    fn named_values_and_title() {
        let html = "<html><head><title> A &amp; B </title><meta name=csrf-token content='x&amp;y'>\
                    <input type=hidden value=\"v\" name=\"k\"></head>";
        let mut all = Vec::new();
        named_values(html, |tag, name, value| {
            all.push(format!("{tag} {name} {value}"));
        });
        assert_eq!(all, ["meta csrf-token x&y", "input k v"]);
        assert_eq!(title(html).unwrap(), "A & B");
    }
}
