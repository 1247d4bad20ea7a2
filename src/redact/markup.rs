//! Markup without a parser: enough to read its text, its tags and what they name, in one pass each.

use html5ever::data::NAMED_ENTITIES;
use memchr::{memchr, memchr3};

use super::step_counter;

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

/// What a person would read, and where each piece of it stands.
pub struct VisibleText<'t> {
    html: &'t str,
    pub text: String,
    /// Where a piece begins in the text and in the markup, and whether references were undone in it.
    pieces: Vec<(usize, usize, bool)>,
}

impl<'t> VisibleText<'t> {
    pub fn from_html(html: &'t str) -> Self {
        const BREAKS: &[&str] =
            &["p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "pre", "ul", "ol", "table"];
        const INLINE: &[&str] = &["b", "i", "em", "strong", "mark", "span", "u", "font", "wbr"];
        const SILENT: &[&str] = &["script", "style", "noscript", "template", "svg", "object"];
        let mut it = Self { html, text: String::with_capacity(html.len() / 2), pieces: Vec::new() };
        let mut at = 0;
        while at < html.len() {
            let open = html[at..].find('<').map_or(html.len(), |it| at + it);
            it.piece(at, open);
            let tag = &html[open..];
            step_counter::record_bytes(open - at + 1);
            if tag.is_empty() {
                break;
            }
            if let Some(comment) = tag.strip_prefix("<!--") {
                at = comment.find("-->").map_or(html.len(), |it| open + 4 + it + 3);
                continue;
            }
            let is_tag = |c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?');
            if !tag[1..].starts_with(is_tag) {
                it.text.push('<');
                at = open + 1;
                continue;
            }
            let Some(close) = tag_end(tag) else { break };
            let begin = 1 + usize::from(tag[1..].starts_with('/'));
            let len = tag.as_bytes()[begin..]
                .iter()
                .take(16)
                .take_while(|b| b.is_ascii_alphanumeric())
                .count();
            let name = &tag[begin..begin + len];
            let is = |list: &[&str]| list.iter().any(|it| name.eq_ignore_ascii_case(it));
            at = open + close + 1;
            if begin == 1 && is(SILENT) && !tag[..close].ends_with('/') {
                at = html.len() - skip_element(&html[at..], name).len();
            }
            if !is(INLINE) && !it.text.ends_with(['\n', ' ']) && !it.text.is_empty() {
                it.text.push(if is(BREAKS) { '\n' } else { ' ' });
            } else if is(BREAKS) && it.text.ends_with(' ') {
                it.text.push('\n');
            }
        }
        it
    }

    fn piece(&mut self, from: usize, to: usize) {
        let html = self.html;
        let piece = &html[from..to];
        if piece.is_empty() {
            return;
        }
        let decodes = piece.contains('&');
        self.pieces.push((self.text.len(), from, decodes));
        if decodes {
            self.text.push_str(&entities(piece));
        } else {
            self.text.push_str(piece);
        }
    }

    /// The parts of the markup that are this part of the text.
    pub fn places(&self, from: usize, to: usize, mut found: impl FnMut(&'t str)) {
        let first = self.pieces.partition_point(|it| it.0 <= from).saturating_sub(1);
        for (i, (at, raw, decodes)) in self.pieces.iter().enumerate().skip(first) {
            if *at >= to {
                break;
            }
            let end = self.pieces.get(i + 1).map_or(self.text.len(), |it| it.0);
            let (from, until) = (from.max(*at), to.min(end));
            let part = self.text.get(from..until).map_or("", str::trim);
            if part.is_empty() {
                continue;
            }
            let rest = &self.html[*raw..];
            if *decodes {
                // Its own words stand between the same tags.
                let piece = &rest[..rest.find('<').unwrap_or(rest.len())];
                step_counter::record_bytes(piece.len());
                if let Some(it) = piece.find(part) {
                    found(&piece[it..it + part.len()]);
                }
            } else {
                let skipped =
                    self.text[from..until].len() - self.text[from..until].trim_start().len();
                let begin = from - at + skipped;
                found(&rest[begin..begin + part.len()]);
            }
        }
    }
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

/// One attribute as it stands, its value without quotes and not decoded.
pub struct Attribute<'a> {
    pub name: &'a str,
    pub value: &'a str,
}

/// Each start tag: its name as written, its attributes.
pub fn each_tag<'a>(html: &'a str, mut found: impl FnMut(&'a str, &[Attribute<'a>])) {
    let mut rest = html;
    let mut attributes = Vec::new();
    while let Some(open) = rest.find('<') {
        let tag = &rest[open..];
        step_counter::record_bytes(open + 1);
        let len = tag[1..].bytes().take(64).take_while(|b| in_name(*b)).count();
        let name = &tag[1..=len];
        // In a program `a<b&&c` begins nothing.
        let ends = tag
            .as_bytes()
            .get(len + 1)
            .is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'/' | b'>'));
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !ends {
            rest = &tag[1..];
            continue;
        }
        let Some(close) = tag_end(tag) else { break };
        attributes.clear();
        if tag[..close].contains('=') {
            attributes_of(&tag[name.len() + 1..close], &mut attributes);
        }
        found(name, &attributes);
        rest = &tag[close + 1..];
        if ["script", "style"].iter().any(|it| name.eq_ignore_ascii_case(it)) {
            rest = skip_element(rest, name);
        }
    }
}

/// Where the insides of scripts begin and end.
pub fn scripts(html: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut from = 0;
    each_tag(html, |tag, _| {
        if tag.eq_ignore_ascii_case("script") {
            let at = tag.as_ptr() as usize - html.as_ptr() as usize;
            from = at + html[at..].find('>').map_or(0, |it| it + 1);
            let inside = &html[from..];
            let after = skip_element(inside, tag).len();
            // Whatever ends it, a tag ends what is in it.
            let to = html.len() - after;
            out.push((from, html[from..to].rfind("</").map_or(to, |it| from + it)));
        }
    });
    out
}

/// What stands in elements that keep their lines: `<pre>`, `<code>`, `<textarea>`.
pub fn preformatted_texts(html: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut done = 0;
    each_tag(html, |tag, _| {
        if ["pre", "code", "textarea"].iter().any(|it| tag.eq_ignore_ascii_case(it)) {
            let at = tag.as_ptr() as usize - html.as_ptr() as usize;
            if at < done {
                return;
            }
            let from = at + html[at..].find('>').map_or(0, |it| it + 1);
            let after = skip_element(&html[from..], tag).len();
            let to = html.len() - after;
            done = to;
            out.push(
                html[from..to].rfind("</").map_or(&html[from..to], |it| &html[from..from + it]),
            );
        }
    });
    out
}

fn in_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b':' | b'_' | b'-' | b'.')
}

/// What a tag names beside its value: `<meta name|property content>`, `<input name value>`, `<add key value>`.
pub fn name_and_value<'a>(tag: &str, attributes: &[Attribute<'a>]) -> Option<(&'a str, &'a str)> {
    let get = |key: &str| attributes.iter().find(|it| it.name.eq_ignore_ascii_case(key));
    let meta = tag.eq_ignore_ascii_case("meta");
    let by_id = || {
        let told = meta || tag.eq_ignore_ascii_case("input");
        get("property").or_else(|| get("id")).filter(|_| told)
    };
    let value = get(if meta { "content" } else { "value" })?;
    let name = get("name").or_else(by_id).or_else(|| get("key"))?;
    Some((name.value, value.value))
}

/// Of `<meta>` and `<input>` alone, decoded: element, name, value.
pub fn named_values(html: &str, mut found: impl FnMut(&str, &str, &str)) {
    each_tag(html, |tag, attributes| {
        let element = ["meta", "input"].into_iter().find(|it| tag.eq_ignore_ascii_case(it));
        if let Some(element) = element
            && let Some((name, value)) = name_and_value(tag, attributes)
        {
            found(element, &entities(name), &entities(value));
        }
    });
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

/// Longer names are not in the standard's table.
pub const MAX_ENTITY: usize = 33;

/// Character references as HTML reads them; what is none stays.
pub fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let len = if let Some((first, second, len)) = reference(rest) {
            out.push(first);
            out.extend(second);
            len
        } else {
            out.push('&');
            1
        };
        rest = &rest[len..];
    }
    out.push_str(rest);
    out
}

/// The one or two characters that the reference stands for with which a text begins, and its length.
pub fn reference(text: &str) -> Option<(char, Option<char>, usize)> {
    let bytes = text.as_bytes();
    let len = bytes.iter().skip(1).take(MAX_ENTITY).take_while(|b| names(**b)).count();
    let name = &text[1..=len];
    let ended = bytes.get(len + 1) == Some(&b';');
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return Some((char::from_u32(code)?, None, len + 1 + usize::from(ended)));
    }
    // A few old names need no semicolon, and are none in an address: `?a=1&copy=2`.
    let found = if ended {
        NAMED_ENTITIES.get(&text[1..len + 2])
    } else if bytes.get(len + 1) != Some(&b'=') {
        NAMED_ENTITIES.get(name)
    } else {
        None
    };
    let (first, second) = found.copied().filter(|it| it.0 != 0)?;
    let second = char::from_u32(second).filter(|it| *it != '\0');
    Some((char::from_u32(first)?, second, len + 1 + usize::from(ended)))
}

fn names(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'#'
}

/// Past the end tag of an element that was just opened.
fn skip_element<'a>(rest: &'a str, name: &str) -> &'a str {
    let mut from = 0;
    while let Some(at) = rest[from..].find("</") {
        step_counter::record_bytes(at + 2);
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
pub fn tag_end(tag: &str) -> Option<usize> {
    let bytes = &tag.as_bytes()[..tag.len().min(65_536)];
    let mut at = 0;
    while let Some(found) = memchr3(b'>', b'"', b'\'', &bytes[at..]) {
        let i = at + found;
        step_counter::record_bytes(found + 1);
        if bytes[i] == b'>' {
            return Some(i);
        }
        let closed = memchr(bytes[i], &bytes[i + 1..]);
        step_counter::record_bytes(closed.unwrap_or(bytes.len() - i));
        let Some(closed) = closed else { break };
        at = i + closed + 2;
    }
    tag.find('>')
}

fn find_tag(html: &str, open: &str) -> Option<usize> {
    html.as_bytes().windows(open.len()).position(|it| it.eq_ignore_ascii_case(open.as_bytes()))
}

/// Of the inside of a tag. In a program's text quotes may stand escaped: `value=\"x\"`.
fn attributes_of<'a>(inside: &'a str, out: &mut Vec<Attribute<'a>>) {
    let mut rest = inside;
    while out.len() < 64 {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        step_counter::record_bytes(end);
        if end == 0 {
            break;
        }
        let name = &rest[..end];
        rest = rest[end..].trim_start();
        let Some(after) = rest.strip_prefix('=') else {
            continue;
        };
        let after = after.trim_start();
        let bare = after.strip_prefix('\\').unwrap_or(after);
        let value;
        if let Some(quote @ ('"' | '\'')) = bare.chars().next() {
            let body = &bare[1..];
            let close = body.find(quote).unwrap_or(body.len());
            value = if bare.len() < after.len() {
                body[..close].strip_suffix('\\').unwrap_or(&body[..close])
            } else {
                &body[..close]
            };
            step_counter::record_bytes(close);
            rest = body.get(close + 1..).unwrap_or("");
        } else {
            let close = after.find(char::is_whitespace).unwrap_or(after.len());
            step_counter::record_bytes(close);
            value = &after[..close];
            rest = &after[close..];
        }
        out.push(Attribute { name, value });
    }
}

/// A part of a text, from where to where, and what replaces it.
pub type Replacement = (usize, usize, String);

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

    #[test]
    fn character_references() {
        for (text, plain) in [
            ("a&sol;b&plus;&equals;&lowbar;&period;&NotEqualTilde;", "a/b+=_.\u{2242}\u{338}"),
            ("&amp;lt; &#x2F;&#47; &lt &ltx &copy=2&copy;", "&lt; // < &ltx &copy=2\u{a9}"),
            ("&nosuch; & &; &#; &#xD800;", "&nosuch; & &; &#; &#xD800;"),
        ] {
            assert_eq!(entities(text), plain);
        }
    }
}
