//! Texts of elements, as a reader sees them, and which elements stand around the content.

use scraper::{ElementRef, Node};

use commis_base::work::step;

/// Elements whose text nobody reads.
const UNREAD: &[&str] =
    &["script", "style", "noscript", "template", "svg", "head", "option", "datalist", "textarea"];
/// Elements that only change how letters look.
const INLINE: &[&str] = &[
    "abbr", "b", "bdi", "br", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "q",
    "s", "small", "strong", "sub", "sup", "tt", "u", "var", "wbr",
];
/// Words in classes and ids of what surrounds the content.
const AROUND: &[&str] = &[
    "nav",
    "navbar",
    "menu",
    "sidebar",
    "breadcrumb",
    "breadcrumbs",
    "pagination",
    "pager",
    "footer",
    "toolbar",
    "tabs",
    "toc",
    "facet",
    "facets",
    "filter",
    "filters",
    "banner",
    "cookie",
    "portlet",
];

/// Characters of a text that is drawn and not spoken, parts that it has, and elements beside it that may say the same.
const MAX_DRAWN: usize = 80;
const MAX_PARTS: usize = 8;

/// An attribute that marks what the browser did not draw, where that is known.
pub const UNDRAWN: &str = "data-commis-undrawn";

pub fn is_read(element: ElementRef<'_>) -> bool {
    step(1);
    let it = element.value();
    // A template with that attribute is a shadow root that the server wrote down.
    (!UNREAD.contains(&it.name()) || it.attr("shadowrootmode").is_some())
        && it.attrs().all(|it| it.0 != UNDRAWN)
        && !is_hidden(element)
}

/// The markup itself says that it is not shown.
///
/// Attributes are gone through: `Element::attr` makes a name of its argument first, which costs more than the few that there are.
pub fn is_hidden(element: ElementRef<'_>) -> bool {
    element.value().attrs().any(|(name, value)| match name {
        "hidden" => true,
        "aria-hidden" => value == "true" && !is_drawn_text(element),
        "style" => {
            let plain: String = value.chars().filter(|c| !c.is_whitespace()).collect();
            plain.to_ascii_lowercase().contains("display:none")
        }
        _ => false,
    })
}

/// Whether what is kept from screen readers is a text that a browser draws: a short one and nothing else, which nothing beside it
/// says as well. Dialogs, panels and copies of items are kept from them too, and nobody sees those. Neither are texts the one or two
/// letters of a picture, and the name by which a font knows its icon.
fn is_drawn_text(element: ElementRef<'_>) -> bool {
    let is_plain = |it: ElementRef<'_>| {
        matches!(it.value().name(), "span" | "time" | "data") || INLINE.contains(&it.value().name())
    };
    let mut below = element.descendants().skip(1).filter_map(ElementRef::wrap);
    if element.attr("role").is_some()
        || matches!(element.value().name(), "a" | "button" | "li" | "tr" | "td")
        || below.by_ref().take(MAX_PARTS).any(|it| !is_plain(it))
        || below.next().is_some()
    {
        return false;
    }
    let own: String = element.text().flat_map(str::chars).take(MAX_DRAWN + 1).collect();
    step(own.len());
    let (letters, digits) = (letters_and_digits(&own), digits(&own));
    let is_icon = own.trim().starts_with(|it: char| it.is_ascii_lowercase())
        && own
            .trim()
            .chars()
            .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, '_' | '-'));
    if own.chars().count() > MAX_DRAWN || is_icon || (digits.is_empty() && letters.len() < 3) {
        return false;
    }
    let says = |text: &str| match digits.as_str() {
        "" => letters_and_digits(text).contains(&letters),
        own => self::digits(text).contains(own),
    };
    let Some(parent) = element.parent() else { return false };
    let labels = |it: ElementRef<'_>| {
        it.value().attrs().any(|it| matches!(it.0, "aria-label" | "title") && says(it.1))
    };
    if ElementRef::wrap(parent).is_some_and(labels) {
        return false;
    }
    let near = element.prev_siblings().take(MAX_PARTS);
    let mut near = near.chain(element.next_siblings().take(MAX_PARTS));
    !near.any(|it| {
        step(4);
        match it.value() {
            Node::Text(it) => says(it),
            _ => ElementRef::wrap(it).is_some_and(|it| {
                let said: String = it.text().flat_map(str::chars).take(4 * MAX_DRAWN).collect();
                step(said.len() / 8);
                says(&said) || labels(it)
            }),
        }
    })
}

fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn digits(text: &str) -> String {
    text.chars().filter(|it| it.is_numeric()).collect()
}

/// Elements below that are read, in document order.
pub fn children(element: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    element.child_elements().filter(|it| is_read(*it))
}

/// The text with runs of white space as one space, without what is not read.
pub fn text(element: ElementRef<'_>) -> String {
    let mut raw = String::new();
    push_text(element, &mut raw);
    if is_tidy(&raw) {
        return raw;
    }
    let mut out = String::with_capacity(raw.len());
    for word in raw.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Whether a text has no white space but single spaces between words; one that is not ASCII may have other kinds of it.
fn is_tidy(text: &str) -> bool {
    let mut after_space = true;
    let fits = |it: u8| {
        let is_space = it == b' ';
        let fits = if is_space { !after_space } else { it.is_ascii_graphic() };
        after_space = is_space;
        fits
    };
    text.bytes().all(fits) && !text.ends_with(' ')
}

fn push_text(element: ElementRef<'_>, out: &mut String) {
    // An element of the same line ended just here.
    let mut before: Option<ElementRef<'_>> = None;
    for child in element.children() {
        match child.value() {
            Node::Text(it) => {
                step(1 + it.len() / 32);
                out.push_str(it);
                before = None;
            }
            Node::Element(it) => {
                if let Some(child) = ElementRef::wrap(child).filter(|it| is_read(*it)) {
                    // What stands in blocks of its own is no one word.
                    let apart = !INLINE.contains(&it.name()) && !is_phrase(child);
                    if apart || it.name() == "br" {
                        out.push(' ');
                    }
                    let from = out.len();
                    push_text(child, out);
                    if let (Some(last), Some(first)) =
                        (out[..from].chars().next_back(), out[from..].chars().next())
                        && before.is_some_and(|it| are_words(it, last, child, first))
                    {
                        out.insert(from, ' ');
                    }
                    if apart {
                        out.push(' ');
                    }
                    before = (!apart && !matches!(it.name(), "br" | "wbr")).then_some(child);
                }
            }
            _ => {}
        }
    }
}

/// An element of the line that holds a word or more.
fn is_phrase(element: ElementRef<'_>) -> bool {
    matches!(element.value().name(), "a" | "span" | "label" | "time")
}

/// A raised or lowered sign: a part of what it stands at.
pub fn is_attached(element: ElementRef<'_>) -> bool {
    matches!(element.value().name(), "sub" | "sup")
}

/// Whether two elements beside each other, of which one ends and the other begins so, are words of their own, which a style sheet
/// draws apart. Signs belong to what they stand at, and so do letters that only look different, unless two numbers would be one.
fn are_words(before: ElementRef<'_>, last: char, after: ElementRef<'_>, first: char) -> bool {
    if is_phrase(before) && is_phrase(after) {
        return last.is_alphanumeric() && first.is_alphanumeric();
    }
    // A word that was searched for is lit up in parts.
    let is_of_one_kind = before.value().name() == after.value().name()
        && before.value().classes().eq(after.value().classes());
    last.is_numeric()
        && first.is_numeric()
        && !is_of_one_kind
        && ![before, after].into_iter().any(is_attached)
}

/// Characters of its text that are not white space.
pub fn chars(element: ElementRef<'_>) -> usize {
    element
        .children()
        .map(|child| match child.value() {
            Node::Text(it) => {
                step(1 + it.len() / 32);
                it.chars().filter(|c| !c.is_whitespace()).count()
            }
            Node::Element(_) => ElementRef::wrap(child).filter(|it| is_read(*it)).map_or(0, chars),
            _ => 0,
        })
        .sum()
}

/// Nothing but marks, such as the `..` above a folder's files or the `»` behind the last page.
pub fn is_mark(element: ElementRef<'_>) -> bool {
    let mut said = element.text().flat_map(str::chars).filter(|it| !it.is_whitespace()).peekable();
    said.peek().is_some() && said.all(|c| c.is_ascii_punctuation() || "«»‹›…–—·•←→".contains(c))
}

pub fn has_own_text(element: ElementRef<'_>) -> bool {
    element.children().any(|it| it.value().as_text().is_some_and(|it| !it.trim().is_empty()))
}

pub fn is_inline(element: ElementRef<'_>) -> bool {
    INLINE.contains(&element.value().name()) && children(element).all(is_inline)
}

pub fn is_heading(element: ElementRef<'_>) -> bool {
    matches!(element.value().name(), "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "legend" | "caption")
}

/// How much of its weight an element keeps where it stands, per cent: nothing in navigation, little in what is named like it.
pub fn position_weight(element: ElementRef<'_>) -> usize {
    let mut out = 100;
    let mut in_form = false;
    for it in std::iter::once(element).chain(element.ancestors().filter_map(ElementRef::wrap)) {
        step(1);
        let (name, role) = (it.value().name(), it.value().attr("role").unwrap_or(""));
        in_form |= matches!(name, "form" | "search") || matches!(role, "search" | "listbox");
        let none = match name {
            "nav" | "head" | "select" | "datalist" | "dialog" => name != "dialog",
            // What a search in the head of a page offers; it is about that search.
            "header" if in_form => {
                out = out.min(25);
                false
            }
            // Those of an article are its own.
            "header" | "footer" => !it.ancestors().filter_map(ElementRef::wrap).any(|it| {
                matches!(it.value().name(), "article" | "section" | "main" | "li" | "td")
            }),
            _ => matches!(
                role,
                "navigation"
                    | "banner"
                    | "contentinfo"
                    | "menu"
                    | "menubar"
                    | "toolbar"
                    | "tablist"
            ),
        };
        if none {
            return 0;
        }
        if name == "aside" || role == "complementary" || role == "search" {
            out = out.min(25);
        }
        if !matches!(name, "body" | "html" | "main")
            && (has_layout_word(it.value().id().unwrap_or(""))
                || it.value().classes().any(has_layout_word))
        {
            out = out.min(25);
        }
    }
    out
}

fn has_layout_word(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|it| AROUND.iter().any(|around| it.eq_ignore_ascii_case(around)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tidy_text_is_the_one_that_tidying_leaves() {
        for raw in [
            "", "a", "a b", " a", "a ", "a  b", "a\tb", "\u{a0}a", "é b", "a\u{7f}b", " ",
            "a\u{85}",
        ] {
            let tidied = raw.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(!is_tidy(raw) || tidied == raw, "{raw:?}");
        }
        assert!(is_tidy("a b") && is_tidy(""));
    }
}
