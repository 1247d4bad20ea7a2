//! HTML answers: their texts, the markup that holds what the page showed, and the JSON inside their scripts.

use std::collections::BTreeSet;

use ego_tree::NodeId;
use html5ever::{LocalName, QualName, ns};
use scraper::{ElementRef, Html, Node, Selector};
use serde_json::Value;

use super::{body::MAX_STORED, class::Place, measures::Meter, rules::Walk};
use commis_artifacts::recording::{EmbeddedJson, Listing};
use commis_recipe::{
    blocks::{
        self,
        read::{HtmlReader, shape},
    },
    inline_script_json::{find_assignments, is_name},
    references::holds_references,
    shape as json_shape,
};

const MAX_EMBEDDED: usize = 16;
/// Elements that hold no text a person reads.
const DROPPED: &[&str] =
    &["script", "style", "noscript", "template", "svg", "iframe", "head", "object", "link", "meta"];
const KEPT_ATTRIBUTES: &[&str] = &["class", "id", "href", "name", "type", "role"];
const MAX_ATTRIBUTE: usize = 512;
/// Items of a listing that are kept.
const SAMPLE: usize = 8;
/// Characters of a text beyond which a page does not show it by chance.
const MIN_TELLING: usize = 6;
/// Texts of a listing that are looked for on the page.
const MAX_ASKED: usize = 400;

/// A parsed page with what the meter said about its elements, in document order.
pub struct Page {
    html: Html,
    elements: Vec<ElementWeight>,
    pub embedded: Vec<EmbeddedJson>,
    pub listings: Vec<Listing>,
}

#[derive(Clone, Copy, Default)]
struct ElementWeight {
    /// Text nodes below it that the final page showed.
    shown: u32,
    /// About what its markup takes when written.
    size: usize,
    /// Elements in its subtree, itself included.
    count: usize,
}

/// Parses and measures. The caller has bounded size and depth.
pub fn read(text: &str, meter: &mut Meter<'_>, one: bool) -> Page {
    let mut html = blocks::parse(text);
    unname(&mut html, meter.values);
    let mut elements = Vec::new();
    weigh(html.root_element(), meter, &mut elements);
    for it in undrawn(&html, meter) {
        hide(&mut html, it);
    }
    let embedded = embedded(&html, meter);
    let listings = listings(&html, meter, one);
    Page { html, elements, embedded, listings }
}

impl Page {
    /// The same of all of it, whatever was shown.
    pub fn start(&self, walk: &mut Walk<'_>) -> (String, bool) {
        let mut out = String::new();
        let complete = write(self.html.root_element(), walk, &mut out);
        (out, !complete)
    }

    /// The redacted markup of the smallest element that still holds nearly all of what was shown, within 32 KiB; and
    /// whether anything of the page was left out. `None` when the page showed nothing of it.
    pub fn excerpt(&self, walk: &mut Walk<'_>) -> Option<(String, bool)> {
        let (mut element, mut at) = (self.html.root_element(), 0);
        if self.elements.first()?.shown == 0 {
            return None;
        }
        loop {
            let whole = self.elements[at];
            let mut below = at + 1;
            let mut best: Option<(ElementRef<'_>, usize)> = None;
            for child in element.child_elements().filter(is_kept) {
                if best.is_none_or(|it| self.elements[below].shown > self.elements[it.1].shown) {
                    best = Some((child, below));
                }
                below += self.elements[below].count;
            }
            match best {
                // While too large, follow the child with most of it; afterwards only what loses nothing.
                Some((child, i))
                    if self.elements[i].shown == whole.shown
                        || (whole.size > MAX_STORED
                            && self.elements[i].shown * 5 >= whole.shown * 3) =>
                {
                    // `<ul>` is of more use than its only `<li>`.
                    if self.elements[i].shown == whole.shown && whole.size < MAX_STORED / 8 {
                        break;
                    }
                    (element, at) = (child, i);
                }
                _ => break,
            }
        }
        let mut out = String::new();
        let complete = write(element, walk, &mut out);
        Some((out, !(complete && at == 0)))
    }
}

/// Takes classes and ids away that hold what was typed: of another input they are others, so no selector may take them.
fn unname(html: &mut Html, typed: &[String]) {
    /// Fewer letters are a part of many a name.
    const LEAST: usize = 3;
    let plain = |it: &str| -> String {
        let parts = it.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
        format!("-{}-", parts.collect::<Vec<_>>().join("-").to_lowercase())
    };
    let typed: Vec<String> =
        typed.iter().map(|it| plain(it)).filter(|it| it.chars().count() >= LEAST + 2).collect();
    let is_typed = |name: &str| {
        let name = plain(name);
        typed.iter().any(|it| name.contains(it.as_str()))
    };
    if typed.is_empty() {
        return;
    }
    let named: Vec<NodeId> = html
        .root_element()
        .descendants()
        .filter_map(ElementRef::wrap)
        .filter(|it| {
            let names = ["id", "class"].into_iter().filter_map(|name| it.attr(name));
            names.flat_map(str::split_ascii_whitespace).any(is_typed)
        })
        .map(|it| it.id())
        .collect();
    for at in named {
        if let Some(mut node) = html.tree.get_mut(at)
            && let Node::Element(it) = node.value()
        {
            let mut attributes = it.attrs.clone();
            for (name, value) in &mut attributes {
                if matches!(&*name.local, "id" | "class") {
                    let kept = value.split_ascii_whitespace().filter(|it| !is_typed(it));
                    *value = kept.collect::<Vec<_>>().join(" ").into();
                }
            }
            attributes.retain(|it| &*it.0.local != "id" || !it.1.is_empty());
            // A new one: what an element is called is read once.
            let attributes = attributes.into_iter().map(|(name, value)| html5ever::Attribute {
                name,
                value: value.to_string().into(),
            });
            *it = scraper::node::Element::new(it.name.clone(), attributes.collect());
        }
    }
}

/// Elements among others alike that the page did not draw though it drew the others: a row to copy, one that a filter of a style
/// sheet hides. Only those that a class tells from all of the others.
fn undrawn(html: &Html, meter: &Meter<'_>) -> Vec<NodeId> {
    const LEAST: usize = 3;
    /// Of those that are drawn, one in so many.
    const FEW: usize = 4;
    let longest = |it: ElementRef<'_>| {
        let texts = it.text().map(str::trim).filter(|it| it.chars().nth(MIN_TELLING).is_some());
        texts.max_by_key(|it| it.len()).map(|it| meter.shows(it))
    };
    let parents = html.root_element().descendants().filter_map(ElementRef::wrap);
    let of = |parent: ElementRef<'_>| -> Vec<NodeId> {
        let first = parent.child_elements().nth(1).map(|it| it.value().name());
        let alike: Vec<ElementRef<'_>> =
            parent.child_elements().filter(|it| Some(it.value().name()) == first).collect();
        if alike.len() <= LEAST {
            return Vec::new();
        }
        let (mut drawn, mut others) = (Vec::new(), Vec::new());
        for it in alike {
            match longest(it) {
                Some(true) => drawn.push(it),
                Some(false) => others.push(it),
                None => {}
            }
        }
        if drawn.len() < LEAST || others.len() > drawn.len().div_ceil(FEW) {
            return Vec::new();
        }
        let classes: BTreeSet<&str> = drawn.iter().flat_map(|it| it.value().classes()).collect();
        others.retain(|it| it.value().classes().any(|it| !classes.contains(it)));
        others.iter().map(|it| it.id()).collect()
    };
    parents.flat_map(of).collect()
}

/// Marks an element as one that was not drawn.
fn hide(html: &mut Html, at: NodeId) {
    if let Some(mut node) = html.tree.get_mut(at)
        && let Node::Element(it) = node.value()
    {
        let name = QualName::new(None, ns!(), LocalName::from(blocks::UNDRAWN));
        // They are looked up by halving.
        let at = it.attrs.partition_point(|it| it.0 < name);
        it.attrs.insert(at, (name, "".into()));
    }
}

/// What repeats in the whole page and can be read by selectors.
fn listings(html: &Html, meter: &mut Meter<'_>, one: bool) -> Vec<Listing> {
    blocks::find(html, true, one)
        .into_iter()
        .filter_map(|block| {
            let spec = block.spec?;
            let rows = HtmlReader::new(&spec).ok()?.read(html).ok()?;
            let texts = || block.rows.iter().flatten().flatten().map(String::as_str);
            let telling = |it: &&&str| it.chars().nth(MIN_TELLING).is_some();
            let (mut all, mut seen) = (0, 0);
            for it in texts().collect::<Vec<_>>().iter().filter(telling).take(MAX_ASKED) {
                all += 1;
                seen += u32::from(meter.shows(it));
            }
            Some(Listing {
                items: rows.len() as u32,
                weight: block.weight as u32,
                share_bp: block.share_bp,
                shape: shape(&spec, rows.iter()),
                holds: meter.units(texts()),
                visible_bp: (seen * 10_000).checked_div(all).unwrap_or(0),
                sample: rows.into_iter().take(SAMPLE).map(Value::Object).collect(),
                html: spec,
                ways: block.ways,
                heads: block.heads,
            })
        })
        .collect()
}

fn is_kept(element: &ElementRef<'_>) -> bool {
    !DROPPED.contains(&element.value().name())
}

fn weigh(element: ElementRef<'_>, meter: &mut Meter<'_>, out: &mut Vec<ElementWeight>) {
    let at = out.len();
    out.push(ElementWeight::default());
    let mut sum = ElementWeight { shown: 0, size: element.value().name().len() * 2 + 5, count: 1 };
    for (name, value) in element.value().attrs() {
        if keeps_attribute(name) {
            sum.size += name.len() + value.len().min(MAX_ATTRIBUTE) + 4;
        }
    }
    for child in element.children() {
        match child.value() {
            Node::Text(text) => {
                sum.size += text.len();
                if !text.trim().is_empty() {
                    sum.shown += u32::from(meter.leaf(text));
                }
            }
            Node::Element(_) => {
                if let Some(child) = ElementRef::wrap(child).filter(is_kept) {
                    let i = out.len();
                    weigh(child, meter, out);
                    sum.shown += out[i].shown;
                    sum.size += out[i].size;
                    sum.count += out[i].count;
                }
            }
            _ => {}
        }
    }
    out[at] = sum;
}

fn keeps_attribute(name: &str) -> bool {
    KEPT_ATTRIBUTES.contains(&name) || name.starts_with("data-")
}

/// Writes an element; false when trailing children were cut.
fn write(element: ElementRef<'_>, walk: &mut Walk<'_>, out: &mut String) -> bool {
    let name = element.value().name();
    let end = format!("</{name}>");
    out.push('<');
    out.push_str(name);
    for (key, value) in element.value().attrs().filter(|it| keeps_attribute(it.0)) {
        let new = walk.leaf(key.strip_prefix("data-").unwrap_or(key), value, Place::Answer);
        let value = super::body::cut(new.as_deref().unwrap_or(value), MAX_ATTRIBUTE);
        // Nested elements need room for their end tags too.
        if out.len() + value.len() + 1024 < MAX_STORED {
            out.push(' ');
            out.push_str(key);
            out.push_str("=\"");
            escape(value, out);
            out.push('"');
        }
    }
    out.push('>');
    let mut complete = true;
    for child in element.children() {
        if out.len() + 2048 > MAX_STORED {
            complete = false;
            break;
        }
        match child.value() {
            Node::Text(text) => {
                let new = walk.text(text, super::text_kind::TextKind::Spoken);
                let text = new.as_deref().unwrap_or(text);
                let kept = super::body::cut(text, MAX_STORED - 2048 - out.len());
                complete &= kept.len() == text.len();
                let space = |c: Option<char>| c.is_some_and(char::is_whitespace);
                if space(kept.chars().next()) && !out.ends_with(char::is_whitespace) {
                    out.push(' ');
                }
                let words: Vec<&str> = kept.split_whitespace().collect();
                escape(&words.join(" "), out);
                if !words.is_empty() && space(kept.chars().last()) {
                    out.push(' ');
                }
            }
            Node::Element(_) => {
                if let Some(child) = ElementRef::wrap(child).filter(is_kept) {
                    complete &= write(child, walk, out);
                }
            }
            _ => {}
        }
    }
    if !matches!(name, "br" | "hr" | "img" | "input" | "wbr" | "source") {
        out.push_str(&end);
    }
    complete
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
}

fn embedded(html: &Html, meter: &mut Meter<'_>) -> Vec<EmbeddedJson> {
    let Ok(scripts) = Selector::parse("script") else {
        return Vec::new();
    };
    let all: Vec<ElementRef<'_>> = html.select(&scripts).take(512).collect();
    let mut out = Vec::new();
    for script in &all {
        let text: String = script.text().collect();
        let text = text.trim();
        if out.len() >= MAX_EMBEDDED {
            break;
        }
        if !text.starts_with(['{', '[']) {
            assignments(*script, text, &all, meter, &mut out);
            continue;
        }
        let Some(selector) = selector(*script, &all) else {
            continue;
        };
        let Ok(value) = serde_json::from_str(text).map(json_shape::with_sorted_keys) else {
            continue;
        };
        // What the page itself shows is easier to read.
        if holds_references(&value) {
            continue;
        }
        meter.take_lists();
        let leaves_visible = meter.json(&value);
        out.push(EmbeddedJson {
            selector,
            variable: None,
            shape: json_shape::paths(&value),
            lists: meter.take_lists(),
            leaves_visible,
        });
    }
    out
}

/// What a script assigns that the page showed something of, by a name that says no more than that it is one.
fn assignments(
    script: ElementRef<'_>,
    text: &str,
    all: &[ElementRef<'_>],
    meter: &mut Meter<'_>,
    out: &mut Vec<EmbeddedJson>,
) {
    for (name, value) in find_assignments(text).take(MAX_EMBEDDED) {
        let known = out.iter().any(|it| it.variable.as_deref() == Some(name));
        if !is_name(name) || known || super::randomness::erratic(name) || out.len() >= MAX_EMBEDDED
        {
            continue;
        }
        let value = json_shape::with_sorted_keys(value);
        meter.take_lists();
        let leaves_visible = meter.json(&value);
        let lists = meter.take_lists();
        if leaves_visible > 0 {
            out.push(EmbeddedJson {
                selector: selector(script, all).unwrap_or_else(|| "script".to_owned()),
                variable: Some(name.to_owned()),
                shape: json_shape::paths(&value),
                lists,
                leaves_visible,
            });
        }
    }
}

/// A selector that only this script matches, without counting positions.
fn selector(script: ElementRef<'_>, all: &[ElementRef<'_>]) -> Option<String> {
    let plain = |it: &str| {
        it.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && it.len() <= 64
            && it.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    if let Some(id) = script.attr("id").filter(|it| plain(it)) {
        return Some(format!("script#{id}"));
    }
    let only =
        |key: &str, value: &str| all.iter().filter(|it| it.attr(key) == Some(value)).count() == 1;
    let mut attrs: Vec<(&str, &str)> = script.value().attrs().collect();
    // The type first, then data attributes by name.
    attrs.sort_by_key(|it| (it.0 != "type", it.0.to_owned()));
    attrs
        .into_iter()
        .filter(|(key, value)| {
            (*key == "type" || *key == "class" || key.starts_with("data-"))
                && plain(key)
                && value.len() <= 64
                && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-/+. ".contains(&b))
                && !super::randomness::erratic(value)
        })
        .find(|(key, value)| only(key, value))
        .map(|(key, value)| format!("script[{key}=\"{value}\"]"))
}
