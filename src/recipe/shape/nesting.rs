//! Refuses HTML that would keep the parser busy for seconds or fill the memory, before it is parsed.
//!
//! html5ever walks its stack of open elements at almost every tag (measured: 100,000 nested `<div>` take 13.8 s), compares
//! every attribute with those before it, and reopens unclosed formatting elements in every block that follows (so
//! `<div><b 1></div><div><b 2></div>…` makes quadratically many). This scan follows the tokenizer and the tree
//! construction (WHATWG HTML 13.2.5 and 13.2.6) closely enough that what it counts as closed is closed for the parser;
//! where it is unsure it counts too much, which costs only pages with hundreds of unclosed elements.

use std::{borrow::Cow, sync::LazyLock};

use super::fragment;

/// Levels of open elements.
const MAX_DEPTH: usize = 512;
/// Attributes of one tag.
const MAX_ATTRIBUTES: usize = 1_000;
/// Formatting elements waiting to be reopened.
const MAX_FORMATTING: usize = 64;
/// Elements that the parser may make.
const MAX_ELEMENTS: usize = 1_000_000;

const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input",
    "keygen", "link", "meta", "param", "source", "track", "wbr",
];
/// Their start tag closes the one before, so they nest only inside something that is counted.
const SELF_NESTING_NEVER: &[&str] = &[
    "body", "colgroup", "dd", "dt", "head", "html", "li", "option", "p", "tbody", "td", "tfoot",
    "th", "thead", "tr",
];
/// Their end tag closes them alone (the adoption agency), not what is open inside. So does that of a form.
const FORMATTING: &[&str] = &[
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];
/// An end tag does not reach past these ("has an element in scope"). A few more than the standard's.
const BOUNDARY: &[&str] = &[
    "annotation-xml",
    "applet",
    "button",
    "caption",
    "desc",
    "foreignobject",
    "marquee",
    "math",
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "object",
    "select",
    "svg",
    "table",
    "template",
    "title",
];
/// Their end tags close what is in scope; the end tag of any other element stops at one of these.
const SPECIAL: &[&str] = &[
    "address",
    "applet",
    "article",
    "aside",
    "blockquote",
    "button",
    "caption",
    "center",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "listing",
    "main",
    "marquee",
    "menu",
    "nav",
    "noscript",
    "object",
    "ol",
    "plaintext",
    "pre",
    "search",
    "section",
    "select",
    "summary",
    "table",
    "template",
    "ul",
];
const RAW_TEXT: &[&str] =
    &["iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"];
/// HTML again inside SVG or MathML.
const INTEGRATION: &[&str] =
    &["annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title"];

/// Lists that a name is in, a bit each.
type Lists = u16;
const IS_VOID: Lists = 1;
const NESTS_NEVER: Lists = 1 << 1;
const IS_FORMATTING: Lists = 1 << 2;
const IS_BOUNDARY: Lists = 1 << 3;
const IS_SPECIAL: Lists = 1 << 4;
const IS_RAW_TEXT: Lists = 1 << 5;
const IS_INTEGRATION: Lists = 1 << 6;
const IS_FOREIGN: Lists = 1 << 7;
/// Closed by their own end tag only.
const CLOSES_ITSELF: Lists = 1 << 8;

/// Each tag is looked up once: there are thousands in a page, and the lists are long. By first letter.
static LISTS: LazyLock<[Vec<(&str, Lists)>; 26]> = LazyLock::new(|| {
    let mut out: [Vec<(&str, Lists)>; 26] = Default::default();
    for (names, list) in [
        (VOID, IS_VOID),
        (SELF_NESTING_NEVER, NESTS_NEVER),
        (FORMATTING, IS_FORMATTING),
        (BOUNDARY, IS_BOUNDARY),
        (SPECIAL, IS_SPECIAL),
        (RAW_TEXT, IS_RAW_TEXT),
        (INTEGRATION, IS_INTEGRATION),
        (&["svg", "math"], IS_FOREIGN),
        (&["table", "template", "svg", "math"], CLOSES_ITSELF),
    ] {
        for name in names {
            let alike = &mut out[usize::from(name.as_bytes()[0] - b'a')];
            match alike.iter_mut().find(|it| it.0 == *name) {
                Some(it) => it.1 |= list,
                None => alike.push((name, list)),
            }
        }
    }
    out
});

fn lists_of(name: &str) -> Lists {
    let Some(first) = name.bytes().next().filter(u8::is_ascii_lowercase) else { return 0 };
    let alike = &LISTS[usize::from(first - b'a')];
    alike.iter().find(|it| it.0 == name).map_or(0, |it| it.1)
}

/// The name of an element, in lower case.
struct Name<'a> {
    text: Cow<'a, str>,
    lists: Lists,
}

impl<'a> Name<'a> {
    fn new(written: &'a str) -> Self {
        let text = if written.bytes().any(|it| it.is_ascii_uppercase()) {
            Cow::Owned(written.to_ascii_lowercase())
        } else {
            Cow::Borrowed(written)
        };
        let lists = lists_of(&text);
        Self { text, lists }
    }

    fn is(&self, any_of: Lists) -> bool {
        self.lists & any_of != 0
    }
}

/// Whether the document may be parsed; otherwise why not.
pub fn check(html: &str) -> Result<(), &'static str> {
    let html = &*fragment::with_table_context(html);
    let bytes = html.as_bytes();
    let mut stack = Stack::default();
    let mut at = 0;
    while let Some(found) = html[at..].find('<') {
        at += found + 1;
        let is_end = html[at..].starts_with('/');
        let name_at = at + usize::from(is_end);
        if !bytes.get(name_at).is_some_and(u8::is_ascii_alphabetic) {
            if matches!(bytes.get(at), Some(b'!' | b'?' | b'/')) {
                at = after_comment(html, at, stack.foreign > 0);
            }
            continue;
        }
        let tag = scan_tag(html, name_at);
        at = tag.end;
        // Those of each further one are added to the first's, and looked for there.
        if matches!(&*tag.name.text, "body" | "html") {
            stack.root_attributes += tag.attributes;
        }
        if tag.attributes.max(stack.root_attributes) > MAX_ATTRIBUTES {
            return Err("a tag has more than 1000 attributes");
        }
        stack.elements += 1 + stack.formatting.len();
        if stack.elements > MAX_ELEMENTS {
            return Err("it would become more than a million elements");
        }
        if is_end {
            stack.close(&tag.name);
            continue;
        }
        if stack.foreign > 0 {
            if tag.self_closing && stack.integration == 0 {
                continue;
            }
        } else if tag.name.is(IS_RAW_TEXT) {
            at = after_raw_text(html, at, &tag.name.text);
            continue;
        } else if tag.name.is(IS_VOID | NESTS_NEVER) {
            continue;
        }
        stack.open(tag.name, &html[name_at..tag.end])?;
    }
    Ok(())
}

#[derive(Default)]
struct Stack<'a> {
    open: Vec<Name<'a>>,
    /// Of those: `svg` and `math`, and where HTML goes on within them.
    foreign: usize,
    integration: usize,
    /// The list of active formatting elements: name, and the tag's text that says which are alike.
    formatting: Vec<(Cow<'a, str>, &'a str)>,
    elements: usize,
    /// Of all tags of `html` and `body`.
    root_attributes: usize,
}

impl<'a> Stack<'a> {
    fn open(&mut self, name: Name<'a>, text: &'a str) -> Result<(), &'static str> {
        if name.is(IS_FORMATTING) {
            if matches!(&*name.text, "a" | "nobr") {
                self.formatting.retain(|it| it.0 != name.text);
            }
            // "Noah's Ark": at most three alike are reopened.
            if self.formatting.iter().filter(|it| it.1 == text).count() < 3 {
                self.formatting.push((name.text.clone(), text));
            }
        }
        self.foreign += usize::from(name.is(IS_FOREIGN));
        self.integration += usize::from(name.is(IS_INTEGRATION));
        self.open.push(name);
        if self.formatting.len() > MAX_FORMATTING {
            return Err("more than 64 formatting elements are left open");
        }
        if self.open.len() + self.formatting.len() > MAX_DEPTH {
            return Err("elements are nested more than 512 levels deep");
        }
        Ok(())
    }

    fn close(&mut self, name: &Name<'_>) {
        let formatting = name.is(IS_FORMATTING);
        if formatting && let Some(n) = self.formatting.iter().rposition(|it| it.0 == name.text) {
            self.formatting.remove(n);
        }
        for n in (0..self.open.len()).rev() {
            let it = &self.open[n];
            if it.text == name.text {
                let alone = formatting || name.text == "form";
                for gone in self.open.drain(n..if alone { n + 1 } else { self.open.len() }) {
                    self.foreign -= usize::from(gone.is(IS_FOREIGN));
                    self.integration -= usize::from(gone.is(IS_INTEGRATION));
                }
                return;
            }
            let stops = if name.is(CLOSES_ITSELF) {
                it.text == "template" || it.is(IS_INTEGRATION)
            } else {
                it.is(IS_BOUNDARY)
            };
            if stops || (!name.is(IS_SPECIAL | IS_FORMATTING) && it.is(IS_SPECIAL)) {
                return;
            }
        }
    }
}

struct Tag<'a> {
    name: Name<'a>,
    self_closing: bool,
    attributes: usize,
    /// Behind its `>`, or the end of the text.
    end: usize,
}

fn scan_tag(html: &str, start: usize) -> Tag<'_> {
    let bytes = html.as_bytes();
    let is_space = |b: u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
    let mut at = start;
    while at < bytes.len() && !is_space(bytes[at]) && !matches!(bytes[at], b'/' | b'>') {
        at += 1;
    }
    let name = Name::new(&html[start..at]);
    let mut attributes = 0;
    loop {
        while at < bytes.len() && (is_space(bytes[at]) || bytes[at] == b'/') {
            at += 1;
        }
        if at >= bytes.len() {
            break;
        }
        if bytes[at] == b'>' {
            let self_closing = bytes[at - 1] == b'/';
            return Tag { name, self_closing, attributes, end: at + 1 };
        }
        attributes += 1;
        // A leading `=` belongs to the name.
        at += 1;
        while at < bytes.len() && !is_space(bytes[at]) && !matches!(bytes[at], b'/' | b'>' | b'=') {
            at += 1;
        }
        let mut value = at;
        while value < bytes.len() && is_space(bytes[value]) {
            value += 1;
        }
        if bytes.get(value) != Some(&b'=') {
            continue;
        }
        at = value + 1;
        while at < bytes.len() && is_space(bytes[at]) {
            at += 1;
        }
        if let Some(quote @ (b'"' | b'\'')) = bytes.get(at) {
            let end = bytes[at + 1..].iter().position(|it| it == quote);
            at = end.map_or(bytes.len(), |it| at + 1 + it + 1);
            continue;
        }
        while at < bytes.len() && !is_space(bytes[at]) && bytes[at] != b'>' {
            at += 1;
        }
        // `<a b=c/>` has the value `c/` and closes nothing.
        if bytes.get(at) == Some(&b'>') {
            return Tag { name, self_closing: false, attributes, end: at + 1 };
        }
    }
    Tag { name, self_closing: false, attributes, end: bytes.len() }
}

/// Behind the comment, declaration or processing instruction whose `<` was just before `at`.
fn after_comment(html: &str, at: usize, foreign: bool) -> usize {
    let rest = &html[at..];
    let end_of = |text: &str, ends: &[&str]| -> Option<usize> {
        ends.iter().filter_map(|it| text.find(it).map(|n| n + it.len())).min()
    };
    let len = if let Some(body) = rest.strip_prefix("!--") {
        if body.starts_with('>') {
            Some(4)
        } else if body.starts_with("->") {
            Some(5)
        } else {
            end_of(body, &["-->", "--!>"]).map(|it| it + 3)
        }
    } else if foreign && rest.starts_with("![CDATA[") {
        end_of(rest, &["]]>"])
    } else {
        end_of(rest, &[">"])
    };
    len.map_or(html.len(), |it| at + it)
}

/// Before the end tag of a raw text element.
fn after_raw_text(html: &str, at: usize, name: &str) -> usize {
    let bytes = html.as_bytes();
    let mut from = at;
    while let Some(found) = html[from..].find("</") {
        let start = from + found + 2;
        let end = start + name.len();
        let matches =
            bytes.get(start..end).is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()));
        let ends =
            bytes.get(end).is_none_or(|it| it.is_ascii_whitespace() || matches!(it, b'/' | b'>'));
        if matches && ends {
            return start - 2;
        }
        from = start;
    }
    html.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_or_not() {
        let n = 2000;
        let numbered = |text: &str| -> String {
            let all: Vec<String> = (0..n).map(|n| text.replace('#', &n.to_string())).collect();
            all.concat()
        };
        for (html, ok) in [
            ("<div>".repeat(500), true),
            ("<div>".repeat(n), false),
            ("<div>a</div>".repeat(n), true),
            ("<p>a<br><li>b<td>c".repeat(n), true),
            ("<div></x>".repeat(n), false),
            ("<a><div></a>".repeat(n), false),
            (format!("{}<object>{}", "<div>".repeat(n), "</div>".repeat(n)), false),
            ("<div><object></div>".repeat(n), false),
            ("<b title='>'></b>".repeat(n), true),
            ("<b \"><div>".repeat(n), false),
            ("<div/>".repeat(n), false),
            ("<!--><div>".repeat(n), false),
            ("<!-- <div> -->".repeat(n), true),
            ("<!x><div>".repeat(n), false),
            (format!("<script>{}</script>", "'<div>'".repeat(n)), true),
            (format!("<svg><style>{}", "<g>".repeat(n)), false),
            (format!("<svg>{}</svg>", "<path d='x'/>".repeat(n)), true),
            (format!("<svg><foreignObject>{}", "<div/>".repeat(n)), false),
            (format!("<svg>{}", "<option>".repeat(n)), false),
            (format!("<a {}>", "x ".repeat(n)), false),
            ("<div x=a/>".repeat(n), false),
            ("<div><b></div>".repeat(n), true),
            (numbered("<div><b x=#></div>"), false),
            (numbered("<li><a href=#>x"), false),
            (numbered("<body a#=1>"), false),
            ("<ul><li>a</ul>".repeat(n), true),
            ("<".repeat(n), true),
            ("ä</ <".repeat(n), true),
            ("<table><tr><td><div></td></tr></table>".repeat(n), true),
        ] {
            let shown: String = html.chars().take(40).collect();
            assert_eq!(check(&html).is_ok(), ok, "{shown}");
        }
    }

    /// The claim: what passes is shallow for the real parser as well.
    #[test]
    fn what_passes_is_shallow() {
        use proptest::prelude::*;
        const TAGS: &[&str] = &[
            "<div>",
            "</div>",
            "<a>",
            "</a>",
            "<b>",
            "</b>",
            "<p>",
            "</p>",
            "<table>",
            "</table>",
            "<td>",
            "<tr>",
            "<svg>",
            "</svg>",
            "<g>",
            "<g/>",
            "<object>",
            "</object>",
            "<li>",
            "<ul>",
            "</ul>",
            "<option>",
            "<select>",
            "</select>",
            "<template>",
            "</template>",
            "<foreignObject>",
            "<title>",
            "<style>",
            "</style>",
            "<button>",
            "</button>",
            "<math>",
            "<mi>",
            "</math>",
            "<span x=\">\">",
            "</span>",
            "<!-->",
            "x",
        ];
        let mut runner = proptest::test_runner::TestRunner::default();
        let pieces = proptest::collection::vec(proptest::sample::select(TAGS), 1..12);
        runner
            .run(&pieces, |pieces| {
                let html = pieces.concat().repeat(300);
                if check(&html).is_ok() {
                    let parsed = scraper::Html::parse_document(&html);
                    let deepest = parsed.tree.nodes().map(|it| it.ancestors().count()).max();
                    prop_assert!(deepest.unwrap_or(0) < 4 * MAX_DEPTH, "{pieces:?} {deepest:?}");
                }
                Ok(())
            })
            .unwrap();
    }
}
