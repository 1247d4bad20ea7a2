//! Which elements of a page are its results: the repeated group whose texts the page showed.

use std::collections::{BTreeMap, BTreeSet};

use scraper::{ElementRef, Html, Selector};

use crate::recipe::model::HtmlSpec;

/// Fewer alike siblings are not a list.
const MIN_ITEMS: usize = 2;
/// A field must be in this share of the items, per cent.
const FIELD_SHARE: usize = 60;
/// Texts below this many characters do not tell results from navigation.
const MIN_TEXT: usize = 12;

/// A selector for the items and one for each field, or `None` when no group stands out.
pub fn find(html: &str, visible_text: &str) -> Option<HtmlSpec> {
    let page = Html::parse_document(html);
    let visible = squeeze(visible_text);
    let mut best: Option<(usize, String, Vec<ElementRef<'_>>)> = None;
    for parent in page.root_element().descendants().filter_map(ElementRef::wrap) {
        if in_furniture(parent) {
            continue;
        }
        let mut groups: BTreeMap<String, Vec<ElementRef<'_>>> = BTreeMap::new();
        for child in parent.children().filter_map(ElementRef::wrap) {
            groups.entry(signature(child)).or_default().push(child);
        }
        for (signature, items) in groups {
            if items.len() < MIN_ITEMS {
                continue;
            }
            // Characters of item text that the page showed: results are long and seen, menus are short.
            let weight: usize = items
                .iter()
                .map(|it| squeeze(&it.text().collect::<Vec<_>>().join(" ")))
                .filter(|it| it.len() >= MIN_TEXT && (visible.is_empty() || shown(it, &visible)))
                .map(|it| it.len().min(400))
                .sum();
            if weight > best.as_ref().map_or(MIN_TEXT * MIN_ITEMS, |it| it.0) {
                best = Some((weight, format!("{} > {signature}", anchor(parent)), items));
            }
        }
    }
    let (_, first_guess, items) = best?;
    let items_selector = telling(&page, first_guess, &items)?;
    let fields = fields(&items);
    (!fields.is_empty()).then_some(HtmlSpec { items: items_selector, fields })
}

/// Navigation, headers and footers repeat too.
fn in_furniture(element: ElementRef<'_>) -> bool {
    let furniture = |it: ElementRef<'_>| {
        matches!(
            it.value().name(),
            "nav" | "header" | "footer" | "aside" | "head" | "select" | "form"
        ) || it
            .value()
            .attr("role")
            .is_some_and(|it| matches!(it, "navigation" | "banner" | "contentinfo"))
    };
    furniture(element) || element.ancestors().filter_map(ElementRef::wrap).any(furniture)
}

/// Most of the item's words are on the page.
fn shown(text: &str, visible: &str) -> bool {
    let words: Vec<&str> = text.split(' ').filter(|it| it.len() >= 3).take(40).collect();
    let seen = words.iter().filter(|it| visible.contains(**it)).count();
    !words.is_empty() && seen * 10 >= words.len() * 8
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// `tag.class`, with the first class that is a plain name.
fn signature(element: ElementRef<'_>) -> String {
    let tag = element.value().name();
    let class = element.value().classes().find(|it| plain(it));
    class.map_or_else(|| tag.to_owned(), |it| format!("{tag}.{it}"))
}

/// Classes made by a build (`css-1x2y3z`) change with every deployment.
fn plain(class: &str) -> bool {
    let digits = class.bytes().filter(u8::is_ascii_digit).count();
    !class.is_empty()
        && class.len() <= 40
        && digits <= 1
        && class.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && !class.as_bytes()[0].is_ascii_digit()
}

/// How an element is named in a selector: its id, else its signature.
fn anchor(element: ElementRef<'_>) -> String {
    match element.value().id().filter(|it| plain(it)) {
        Some(id) => format!("#{id}"),
        None => signature(element),
    }
}

/// Ancestors are put before the selector until it means exactly these items; `None` when no ancestor makes it so.
fn telling(page: &Html, mut selector: String, items: &[ElementRef<'_>]) -> Option<String> {
    let ids: BTreeSet<_> = items.iter().map(|it| it.id()).collect();
    let mut above = items[0].parent().and_then(ElementRef::wrap);
    loop {
        let parsed = Selector::parse(&selector).ok()?;
        if page.select(&parsed).map(|it| it.id()).collect::<BTreeSet<_>>() == ids {
            return Some(selector);
        }
        above = above?.parent().and_then(ElementRef::wrap);
        selector = format!("{} > {selector}", anchor(above?));
    }
}

/// Descendants with text of their own that most items have, named by class or tag; and the first link.
fn fields(items: &[ElementRef<'_>]) -> BTreeMap<String, String> {
    let mut counts: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for item in items {
        let mut seen = BTreeSet::new();
        for element in item.descendants().filter_map(ElementRef::wrap) {
            if element.id() == item.id() {
                continue;
            }
            let own_text = element
                .children()
                .any(|it| it.value().as_text().is_some_and(|it| !it.trim().is_empty()));
            if !own_text {
                continue;
            }
            let selector = field_selector(element, *item);
            if seen.insert(selector.clone()) {
                let name = field_name(element, *item);
                counts.entry(selector).or_insert((0, name)).0 += 1;
            }
        }
    }
    let mut out = BTreeMap::new();
    for (selector, (count, name)) in counts {
        if count * 100 >= items.len() * FIELD_SHARE
            && Selector::parse(&selector).is_ok()
            && out.len() < 12
        {
            let mut unique = name.clone();
            let mut n = 2;
            while out.contains_key(&unique) {
                unique = format!("{name}_{n}");
                n += 1;
            }
            out.insert(unique, selector);
        }
    }
    let link = |it: &&ElementRef<'_>| {
        it.descendants()
            .filter_map(ElementRef::wrap)
            .any(|it| it.value().name() == "a" && it.value().attr("href").is_some())
    };
    if items.iter().filter(link).count() * 100 >= items.len() * FIELD_SHARE {
        out.insert("url".to_owned(), "a@href".to_owned());
    }
    if out.is_empty() && items.iter().all(|it| it.text().any(|it| !it.trim().is_empty())) {
        out.insert("text".to_owned(), String::new());
    }
    out
}

fn field_selector(element: ElementRef<'_>, item: ElementRef<'_>) -> String {
    let own = signature(element);
    if own.contains('.') {
        return own;
    }
    match element.parent().and_then(ElementRef::wrap) {
        Some(up) if up.id() != item.id() => format!("{} > {own}", signature(up)),
        _ => own,
    }
}

/// The class says it best; a lone link or text in a heading is the title.
fn field_name(element: ElementRef<'_>, item: ElementRef<'_>) -> String {
    let class = element.value().classes().find(|it| plain(it)).map(str::to_owned);
    let raw = class.unwrap_or_else(|| {
        let heading = |it: ElementRef<'_>| {
            matches!(it.value().name(), "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
        };
        let in_heading = element
            .ancestors()
            .filter_map(ElementRef::wrap)
            .take_while(|it| it.id() != item.id())
            .chain([element])
            .any(heading);
        match element.value().name() {
            _ if in_heading => "title".to_owned(),
            "a" => "link".to_owned(),
            "p" => "text".to_owned(),
            "time" => "date".to_owned(),
            tag => tag.to_owned(),
        }
    });
    let name: String = raw
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect();
    name.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_not_navigation() {
        let item = |i: u32| {
            format!(
                r#"<li class="result"><h3><a href="/a/{i}">Headline number {i} about rust</a></h3><p class="summary">A longer summary, number {i}, of the article.</p></li>"#
            )
        };
        let html = format!(
            r#"<body><ul class="menu"><li>Home page of the site</li><li>About this very site</li><li>Contact us by letter or phone</li></ul>
            <ol class="results">{}{}{}</ol></body>"#,
            item(1),
            item(2),
            item(3)
        );
        let visible = "Home page of the site Headline number 1 about rust A longer summary, number 1, of the article. Headline number 2 about rust A longer summary, number 2, of the article. Headline number 3 about rust A longer summary, number 3, of the article.";
        let spec = find(&html, visible).unwrap();
        assert_eq!(spec.items, "ol.results > li.result");
        assert_eq!(spec.fields.get("title").unwrap(), "h3 > a");
        assert_eq!(spec.fields.get("summary").unwrap(), "p.summary");
        assert_eq!(spec.fields.get("url").unwrap(), "a@href");
    }

    #[test]
    fn a_selector_means_the_items_and_nothing_else() {
        let row = |i: u32| format!("<li>A rather long result number {i}</li>");
        let html = format!(
            "<body><nav><ul><li>Home page</li><li>About us</li></ul></nav><main><ul>{}{}</ul></main></body>",
            row(1),
            row(2)
        );
        let visible =
            "Home page About us A rather long result number 1 A rather long result number 2";
        assert_eq!(find(&html, visible).unwrap().items, "main > ul > li");
    }

    #[test]
    fn a_page_without_a_list() {
        assert!(
            find("<body><h1>Hello</h1><p>Nothing here</p></body>", "Hello Nothing here").is_none()
        );
    }
}
