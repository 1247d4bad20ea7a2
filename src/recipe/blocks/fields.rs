//! What each item of a group has to say: its texts, links, times and pictures, as columns over all items.

use std::collections::{BTreeMap, BTreeSet};

use ego_tree::NodeId;
use scraper::ElementRef;

use super::{
    Item,
    column::{Column, ColumnSource, MAX_COLUMNS, SAID, VALUE},
    element_text::{
        chars, children, has_own_text, is_attached, is_heading, is_hidden, is_inline, text,
    },
    stable_names::{classes, field_name, segment},
};

/// As often as this in every item, the same kind of element is a column each time; more often it is a list.
const MAX_POSITIONS: usize = 8;
/// Ends of names of `data-` attributes that say something of the item.
const DATA: &[&str] = &[
    "id", "key", "price", "value", "date", "time", "name", "title", "sku", "lat", "lon", "rating",
    "count", "amount",
];

struct FieldValue<'a> {
    path: String,
    element: ElementRef<'a>,
    attribute: Option<String>,
    text: String,
    /// All of it stands in marks: it is one text where others at its place are.
    is_marked: bool,
    /// The mark that all of it stands in, and its path: it is the text of the mark where others have more beside theirs.
    mark: Option<(String, ElementRef<'a>)>,
}

pub fn column(
    name: String,
    place: ColumnSource,
    attribute: Option<String>,
    elements: Vec<Vec<ElementRef<'_>>>,
    is_list: bool,
) -> Column<'_> {
    let texts = elements
        .iter()
        .map(|all| {
            let texts: Vec<String> = all
                .iter()
                .map(|it| match &attribute {
                    None => text(*it),
                    Some(name) => it.attr(name).unwrap_or("").trim().to_owned(),
                })
                .filter(|it| !it.is_empty())
                .collect();
            (!texts.is_empty()).then(|| texts.join(" "))
        })
        .collect();
    Column { name, place, attribute, elements, texts, is_list }
}

/// The first picture or sign in an element that says something by this attribute, and is no control.
pub fn find_picture_by<'a>(element: ElementRef<'a>, attribute: &str) -> Option<ElementRef<'a>> {
    let is_used = |it: ElementRef<'_>| {
        matches!(it.value().name(), "input" | "button" | "a" | "select" | "label" | "option")
    };
    descendants(element).skip(1).find(|it| {
        let has = it.attr(attribute).is_some_and(|it| !it.trim().is_empty());
        let within = it.ancestors().filter_map(ElementRef::wrap);
        has && !is_hidden(*it) && !std::iter::once(*it).chain(within).any(is_used)
    })
}

/// What an element without a text says by a picture in it, and the attribute that says it.
pub fn find_picture_text(element: ElementRef<'_>) -> Option<(ElementRef<'_>, &'static str)> {
    if chars(element) > 0 {
        return None;
    }
    // A field that nobody can fill in shows a value.
    let is_shown = |it: &ElementRef<'_>| {
        it.value().name() == "input"
            && it.attr("readonly").is_some()
            && matches!(
                it.attr("type").unwrap_or("text"),
                "text" | "email" | "tel" | "url" | "number"
            )
            && it.attr("value").is_some_and(|it| !it.trim().is_empty())
            && !is_hidden(*it)
    };
    if let Some(it) = descendants(element).skip(1).find(is_shown) {
        return Some((it, VALUE));
    }
    SAID.iter().find_map(|it| Some((find_picture_by(element, it)?, *it)))
}

pub fn descendants(element: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    element.descendants().filter_map(ElementRef::wrap)
}

pub fn is_link(element: &ElementRef<'_>) -> bool {
    element.value().name() == "a"
        && element.attr("href").is_some_and(|it| {
            let it = it.trim();
            !it.is_empty()
                && !it.starts_with('#')
                && !it.to_ascii_lowercase().starts_with("javascript:")
        })
}

/// What a button of each item says: the same, or one of two things. The title of an accordion is another in each.
fn is_label_of_button(key: &FieldKey, elements: &[Vec<ElementRef<'_>>]) -> bool {
    let in_button = key.0.split('/').any(|it| it.split(['.', '#', '[']).next() == Some("button"));
    let texts = || elements.iter().flatten().map(|it| text(*it));
    let distinct: BTreeSet<String> = texts().collect();
    in_button && (distinct.len() < 3 || distinct.len() * 2 < texts().count())
}

/// Where in an item, and which attribute.
type FieldKey = (String, Option<String>);

/// `a` in most items and `a.dir` in the others, one of them in each: the same, marked in some.
fn merge(order: &mut Vec<FieldKey>, found: &mut BTreeMap<FieldKey, Vec<Vec<ElementRef<'_>>>>) {
    let plain: Vec<FieldKey> = order
        .iter()
        .filter(|it| !it.0.rsplit('/').next().unwrap_or("").contains('.'))
        .cloned()
        .collect();
    for key in plain {
        let marked: Vec<FieldKey> = order
            .iter()
            .filter(|it| {
                it.1 == key.1
                    && it
                        .0
                        .strip_prefix(&key.0)
                        .is_some_and(|it| it.starts_with('.') && !it.contains('/'))
            })
            .cloned()
            .collect();
        let has = |key: &FieldKey, i: usize| found.get(key).map_or(0, |it| it[i].len());
        let items = found[&key].len();
        let either =
            |i: usize| has(&key, i) + marked.iter().map(|it| has(it, i)).sum::<usize>() == 1;
        if marked.is_empty() || !(0..items).all(either) {
            continue;
        }
        for it in &marked {
            let theirs = found.remove(it).unwrap_or_default();
            let own = found.entry(key.clone()).or_default();
            own.iter_mut().zip(theirs).for_each(|(own, theirs)| own.extend(theirs));
        }
        order.retain(|it| !marked.contains(it));
    }
}

/// Adds to a text of most items those of the others, where all of it is a link: the same field, of which some lead elsewhere.
fn merge_linked(order: &[FieldKey], found: &mut BTreeMap<FieldKey, Vec<Vec<ElementRef<'_>>>>) {
    for key in order.iter().filter(|it| it.1.is_none()) {
        let own = &found[key];
        let missing: Vec<usize> = (0..own.len()).filter(|at| own[*at].is_empty()).collect();
        if missing.is_empty() || missing.len() * 2 > own.len() {
            continue;
        }
        let below = format!("{}/", key.0);
        let mut wrapped = Vec::new();
        for (path, theirs) in found.iter().filter(|it| it.0.1.is_none()) {
            let Some(rest) = path.0.strip_prefix(&below) else { continue };
            for at in &missing {
                let [one] = theirs[*at][..] else { continue };
                let above = one.ancestors().nth(rest.matches('/').count());
                let above = above.and_then(ElementRef::wrap);
                wrapped.extend(above.filter(|it| chars(*it) == chars(one)).map(|it| (*at, it)));
            }
        }
        let own = found.entry(key.clone()).or_default();
        for (at, it) in wrapped {
            if own[at].is_empty() {
                own[at].push(it);
            }
        }
    }
}

/// Points of one list, paragraphs of one text, links beside each other: of one thing, as many as it has.
fn are_one_list(elements: &[ElementRef<'_>]) -> bool {
    ["li", "p", "a"].iter().any(|tag| {
        let mut seen = BTreeSet::new();
        let mut parents = BTreeSet::new();
        let is_own = elements.iter().all(|it| {
            let own = std::iter::once(*it).chain(it.ancestors().filter_map(ElementRef::wrap));
            let point = own.into_iter().find(|it| it.value().name() == *tag);
            point.is_some_and(|it| {
                parents.extend(it.parent().map(|it| it.id()));
                seen.insert(it.id())
            })
        });
        is_own && elements.len() > 1 && parents.len() == 1
    })
}

/// Columns by where in the item they stand.
pub fn columns_by_path<'a>(items: &[Item<'a>], is_run: bool) -> Vec<Column<'a>> {
    let parts: BTreeSet<NodeId> =
        items.iter().flat_map(|it| it.parts.iter().map(|it| it.id())).collect();
    let mut units: Vec<Vec<FieldValue<'a>>> = items
        .iter()
        .map(|item| {
            let mut units = Vec::new();
            for part in &item.parts {
                let path = if is_run { segment(*part) } else { String::new() };
                collect(*part, &path, &mut units);
            }
            units.retain(|it| !it.text.is_empty());
            units
        })
        .collect();
    let is_own =
        |it: &&FieldValue<'_>| it.attribute.is_none() && !it.is_marked && it.mark.is_none();
    let apart: BTreeSet<String> =
        units.iter().flatten().filter(is_own).map(|it| it.path.clone()).collect();
    // Where there is one thing alone, no other says what stands where.
    for it in units.iter_mut().flatten().filter(|_| items.len() > 1) {
        if let Some((path, element)) = it.mark.take_if(|it| apart.contains(&it.0)) {
            (it.path, it.element) = (path, element);
        }
    }
    let all = || units.iter().flatten().filter(|it| it.attribute.is_none());
    let texts: BTreeSet<String> =
        all().filter(|it| !it.is_marked).map(|it| it.path.clone()).collect();
    let mut order: Vec<FieldKey> = Vec::new();
    let mut found: BTreeMap<FieldKey, Vec<Vec<ElementRef<'a>>>> = BTreeMap::new();
    for (i, units) in units.into_iter().enumerate() {
        for it in units {
            if it.is_marked && !texts.contains(&it.path) {
                continue;
            }
            let key = (it.path, it.attribute);
            let all = found.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                vec![Vec::new(); items.len()]
            });
            all[i].push(it.element);
        }
    }
    order.retain(|key| {
        let kept = !is_label_of_button(key, &found[key]);
        if !kept {
            found.remove(key);
        }
        kept
    });
    merge(&mut order, &mut found);
    merge_linked(&order, &mut found);
    let mut out = Vec::new();
    for key in order {
        let Some(all) = found.remove(&key) else { continue };
        let (_, attribute) = key;
        let counts: BTreeSet<usize> = all.iter().map(Vec::len).filter(|it| *it > 0).collect();
        let most = counts.last().copied().unwrap_or(0);
        // Of what is marked in some items, the mark is not the name.
        let Some(one) = all.iter().flatten().min_by_key(|it| classes(**it).next().is_some()) else {
            continue;
        };
        let own = std::iter::once(*one).chain(one.ancestors().filter_map(ElementRef::wrap));
        let top = own.into_iter().find(|it| parts.contains(&it.id())).unwrap_or(*one);
        let name = name(*one, top, attribute.as_deref());
        let is_listed = items.len() == 1 && are_one_list(&all[0]);
        if most == 1 || (counts.len() == 1 && most <= MAX_POSITIONS && !is_listed) {
            for at in 0..most {
                let elements =
                    all.iter().map(|it| it.get(at).copied().into_iter().collect()).collect();
                out.push(column(
                    name.clone(),
                    ColumnSource::Path(at),
                    attribute.clone(),
                    elements,
                    false,
                ));
            }
        } else {
            out.push(column(name, ColumnSource::Path(0), attribute, all, true));
        }
    }
    // Rarest last, so that the cap takes them.
    let held = |it: &Column<'_>| it.texts.iter().flatten().count();
    if out.len() > MAX_COLUMNS {
        out.sort_by_key(|it| std::cmp::Reverse(held(it)));
    }
    out
}

/// Texts and attributes of an element and below.
fn collect<'a>(element: ElementRef<'a>, path: &str, out: &mut Vec<FieldValue<'a>>) {
    let tag = element.value().name();
    let mut push = |attribute: Option<&str>, text: String, is_marked: bool, mark| {
        out.push(FieldValue {
            path: path.to_owned(),
            element,
            attribute: attribute.map(str::to_owned),
            text,
            is_marked,
            mark,
        });
    };
    let (marks, others): (Vec<_>, Vec<_>) =
        children(element).filter(|it| chars(*it) > 0).partition(|it| is_inline(*it));
    // Marks beside each other, or beside another element, with nothing between them are texts of their own. A raised or lowered
    // sign belongs to what it stands at.
    let apart = !has_own_text(element)
        && match marks[..] {
            [] => false,
            [one] => !others.is_empty() && !is_attached(one),
            _ => true,
        };
    let speaks = has_own_text(element) || (marks.len() == 1 && !apart);
    if speaks || is_marked(element) {
        let mark = match marks[..] {
            [one] if speaks && !has_own_text(element) && others.is_empty() => {
                Some((format!("{path}/{}", segment(one)), one))
            }
            _ => None,
        };
        push(None, text(element), !speaks, mark);
    }
    for (name, value) in element.value().attrs() {
        let wanted = match name {
            "href" => is_link(&element),
            "src" | "alt" => tag == "img",
            "datetime" => tag == "time",
            "content" => element.value().attr("itemprop").is_some(),
            "value" => matches!(tag, "data" | "meter" | "progress"),
            _ => name
                .strip_prefix("data-")
                .is_some_and(|it| DATA.contains(&it.rsplit('-').next().unwrap_or(it))),
        };
        if wanted && value.len() <= 2_000 {
            push(Some(name), value.trim().to_owned(), false, None);
        }
    }
    for child in children(element).filter(|it| apart || !is_inline(*it)) {
        let path = format!("{path}/{}", segment(child));
        collect(child, &path, out);
    }
}

/// An element of a kind of its own, all of whose text stands in marks: a word that was searched for, lit up. A bare container with
/// one in it is more often a place for another thing.
fn is_marked(element: ElementRef<'_>) -> bool {
    fn is_mark_tag(element: ElementRef<'_>) -> bool {
        (is_inline(element) || element.value().name() == "span")
            && children(element).all(is_mark_tag)
    }
    let is_bare = matches!(element.value().name(), "div" | "p" | "span" | "section");
    let mut parts = children(element).filter(|it| chars(*it) > 0).peekable();
    parts.peek().is_some()
        && parts.all(is_mark_tag)
        && (!is_bare || classes(element).next().is_some())
        && !has_own_text(element)
}

/// What a column is called: by what says most of its meaning.
fn name(element: ElementRef<'_>, item: ElementRef<'_>, attribute: Option<&str>) -> String {
    let value = element.value();
    let by = value
        .attr("itemprop")
        .or_else(|| value.attr("property"))
        .map(|it| it.rsplit(':').next().unwrap_or(it));
    let class = || classes(element).next();
    let in_heading = || {
        element
            .ancestors()
            .filter_map(ElementRef::wrap)
            .take_while(|it| it.id() != item.id())
            .chain([element, item])
            .any(is_heading)
    };
    match (attribute, by) {
        (None | Some("content"), Some(by)) => field_name(by),
        (Some("href"), _) => "url".to_owned(),
        (Some("src"), _) => "image".to_owned(),
        (Some("alt"), _) => "image_text".to_owned(),
        (Some("datetime"), _) => "date".to_owned(),
        (Some(it), _) if it.starts_with("data-") => field_name(&it["data-".len()..]),
        (Some(it), _) => field_name(it),
        (None, None) => match value.name() {
            _ if in_heading() => "title".to_owned(),
            "time" => "date".to_owned(),
            tag => match class() {
                Some(it) => field_name(it),
                None => match tag {
                    "a" => "link".to_owned(),
                    "dt" => "title".to_owned(),
                    "p" | "div" | "span" | "li" | "dd" => "text".to_owned(),
                    tag => field_name(tag),
                },
            },
        },
    }
}
