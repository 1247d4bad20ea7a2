//! What of a page says that its list goes on: links to later pages and buttons that load more.

use std::collections::BTreeMap;

use scraper::{ElementRef, Html};
use url::Url;

use super::positions::is_position;

/// What buttons that load more items say, in the words that are usual for it.
const LOAD_MORE: &[&str] = &[
    "load more",
    "show more",
    "more results",
    "see more results",
    "view more",
    "mehr laden",
    "mehr anzeigen",
    "weitere anzeigen",
    "charger plus",
    "afficher plus",
    "voir plus",
    "cargar más",
    "ver más",
    "mostrar más",
    "carregar mais",
    "ver mais",
    "carica altri",
    "mostra altri",
    "meer laden",
    "toon meer",
    "visa fler",
    "показать ещё",
    "показать еще",
    "загрузить ещё",
    "загрузить еще",
    "pokaż więcej",
    "もっと見る",
    "加载更多",
    "더 보기",
];

/// What of a page may lead to the next part of its list. By name and not by selectors, and in one pass: each run looks for them.
struct Controls<'a> {
    /// Links, and other addresses of which the page says what they are to it.
    links: Vec<ElementRef<'a>>,
    /// Buttons, and links that lead nowhere by themselves.
    buttons: Vec<ElementRef<'a>>,
}

impl<'a> Controls<'a> {
    fn of_page(page: &'a Html) -> Self {
        let mut out = Self { links: Vec::new(), buttons: Vec::new() };
        let leads_nowhere = |href: &str| {
            href.is_empty() || href.starts_with('#') || href.starts_with("javascript:")
        };
        for it in elements(page) {
            let element = it.value();
            let is_button = match element.name() {
                "a" => {
                    let href = element.attr("href");
                    if href.is_some() {
                        out.links.push(it);
                    }
                    href.is_none_or(leads_nowhere)
                }
                "link" => {
                    if element.attr("href").is_some() && element.attr("rel").is_some() {
                        out.links.push(it);
                    }
                    false
                }
                "button" => true,
                _ => false,
            };
            // Not by `attr`, which makes a name of its argument for each element of the page.
            if is_button || element.attrs().any(|it| it == ("role", "button")) {
                out.buttons.push(it);
            }
        }
        out
    }

    /// What says that the list goes on: a link to the next page, or a button that loads more.
    fn next_page_hint(&self, url: &str) -> Option<String> {
        let is_off = |it: &ElementRef<'_>| {
            it.value().attr("disabled").is_some()
                || it.value().attr("aria-disabled") == Some("true")
        };
        next_link(&self.links, url).or_else(|| {
            let says = |it: &ElementRef<'_>| {
                let text = it.text().collect::<String>().to_lowercase();
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                text.chars().count() <= 40 && LOAD_MORE.iter().any(|it| text.starts_with(it))
            };
            // Several of them are the items' own.
            let mut found = self.buttons.iter().filter(|it| !is_off(it)).filter(|it| says(it));
            (found.next().is_some() && found.next().is_none())
                .then(|| "a button that loads more".to_owned())
        })
    }
}

/// All elements of a page, in the order in which the parser made them.
fn elements(page: &Html) -> impl Iterator<Item = ElementRef<'_>> {
    page.tree.nodes().filter_map(ElementRef::wrap).filter(|it| it.parent().is_some())
}

/// What of the page says that its list goes on: a link to the next page, or a button that loads more.
pub fn next_page_hint(page: &Html, url: &str) -> Option<String> {
    Controls::of_page(page).next_page_hint(url)
}

/// The address of the next page: of a link that says so, or the only one that a link to a later position has.
pub fn next_address(page: &Html, url: &str) -> Option<String> {
    let here = Url::parse(url).ok()?;
    let mut later_by = BTreeMap::new();
    for it in Controls::of_page(page).links {
        let href = it.value().attr("href").map_or("", str::trim);
        if href.is_empty() || href.starts_with('#') {
            continue;
        }
        let Ok(there) = here.join(href) else { continue };
        let mut relations = it.value().attr("rel").unwrap_or("").split_ascii_whitespace();
        if relations.any(|it| it.eq_ignore_ascii_case("next")) {
            return Some(there.into());
        }
        if it.value().name() != "a" {
            continue;
        }
        let text = it.text().collect::<String>().trim().to_lowercase();
        let says_next = is_named_next(&here, &there, &text);
        if says_next {
            return Some(there.into());
        }
        if let Some((name, value)) = later_position(&here, &there, &text) {
            later_by.entry((name, value)).or_insert(String::from(there));
        }
    }
    // The nearest of them.
    later_by.into_iter().min_by_key(|it| it.0.1).map(|it| it.1)
}

/// The same, or a link with the number of a later page that moves a parameter by the items of so many pages, whatever the
/// parameter is called: `[2]` with `whence=20` below 20 items.
pub fn has_next_page(page: &Html, url: &str, items: u64) -> bool {
    let controls = Controls::of_page(page);
    controls.next_page_hint(url).is_some() || counted_link(&controls.links, url, items).is_some()
}

fn counted_link(links: &[ElementRef<'_>], url: &str, items: u64) -> Option<String> {
    let here = Url::parse(url).ok()?;
    let own: BTreeMap<String, String> = here.query_pairs().into_owned().collect();
    let number = |it: &str| it.parse::<u64>().ok();
    // A position that moves stands in a query.
    links.iter().filter(|it| it.value().attr("href").is_some_and(|it| it.contains('?'))).find_map(
        |it| {
            let text = it.text().collect::<String>();
            let later = number(text.trim_matches(|c: char| !c.is_alphanumeric()))?;
            let there = here.join(it.value().attr("href")?.trim()).ok()?;
            let by = items.checked_mul(later.checked_sub(1)?).filter(|it| items > 1 && *it > 0)?;
            if there.host() != here.host() || there.path() != here.path() {
                return None;
            }
            let other: BTreeMap<String, String> = there.query_pairs().into_owned().collect();
            let is_moved = |name: &String| other.get(name).and_then(|it| number(it)) == Some(by);
            let begins = own.iter().any(|it| number(it.1) == Some(0) && is_moved(it.0));
            let is_there = own.iter().any(|it| number(it.1) == Some(by) && is_moved(it.0));
            let moved =
                other.keys().find(|it| is_moved(it) && (begins || !own.contains_key(*it)))?;
            let mut kept = own
                .iter()
                .filter(|it| !it.1.is_empty() && (number(it.1) != Some(0) || !is_moved(it.0)));
            let is_same = kept.all(|(name, value)| other.get(name) == Some(value));
            (is_same && (begins || !is_there)).then(|| moved.clone())
        },
    )
}

/// A link of the page to one that goes on with its list: one that says so (`rel=next`), or one to the same address with a later
/// position.
fn next_link(links: &[ElementRef<'_>], url: &str) -> Option<String> {
    let here = Url::parse(url).ok();
    links.iter().find_map(|it| {
        let href = it.value().attr("href")?.trim();
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        let mut relations = it.value().attr("rel").unwrap_or("").split_ascii_whitespace();
        if relations.any(|it| it.eq_ignore_ascii_case("next")) {
            return Some("a link to the next page".to_owned());
        }
        // Most links lead elsewhere, which costs nothing to see.
        let may_go_on = href.contains('?') || href.contains("/page/");
        let here = here.as_ref().filter(|_| may_go_on && it.value().name() == "a")?;
        let there = here.join(href).ok()?;
        let text = it.text().collect::<String>().trim().to_lowercase();
        let named = || is_named_next(here, &there, &text).then(|| format!("a link {text:?}"));
        later_parameter(here, &there, &text)
            .map(|name| format!("a link to a later {name}"))
            .or_else(named)
    })
}

/// What links to the next part of a list say, whole.
const NEXT: &[&str] = &[
    ">",
    "›",
    "»",
    "→",
    "next",
    "next page",
    "more",
    "older",
    "weiter",
    "nächste",
    "suivant",
    "siguiente",
    "successiva",
    "próxima",
    "volgende",
    "nästa",
    "далее",
    "следующая",
    "вперёд",
    "вперед",
    "następna",
    "次へ",
    "下一页",
];

/// A link to the same address with another query, which says that it goes on.
fn is_named_next(here: &Url, there: &Url, text: &str) -> bool {
    let plain = text.trim_end_matches(['>', '›', '»', '→', '…', '.']).trim();
    let says = NEXT.contains(&text) || NEXT.contains(&plain);
    let pairs = |it: &Url| -> BTreeMap<String, String> { it.query_pairs().into_owned().collect() };
    let (own, other) = (pairs(here), pairs(there));
    let kept = own.iter().filter(|it| other.get(it.0) == Some(it.1)).count();
    let is_other = own.len() != other.len() || kept < own.len();
    says && here.host() == there.host()
        && here.path() == there.path()
        && is_other
        && kept + 1 >= own.len()
}

/// The position by which one address is later in a list than another. `text` is what the link says: pages may be counted from 0.
fn later_parameter(here: &Url, there: &Url, text: &str) -> Option<String> {
    later_position(here, there, text).map(|it| it.0)
}

/// The same, and its value there.
fn later_position(here: &Url, there: &Url, text: &str) -> Option<(String, u64)> {
    if here.host() != there.host() {
        return None;
    }
    let number = |it: Option<&String>| it.and_then(|it| it.parse::<u64>().ok());
    if here.path() != there.path() {
        let (own, other) = (here.path().trim_end_matches('/'), there.path().trim_end_matches('/'));
        let (head, page) = other.rsplit_once("/page/")?;
        let page = number(Some(&page.to_owned()))?;
        let (base, now) = match own.rsplit_once("/page/") {
            Some((base, now)) => (base, now.parse().unwrap_or(1)),
            None => (own, 1),
        };
        return (head == base && page > now).then(|| ("page".to_owned(), page));
    }
    let pairs = |it: &Url| -> BTreeMap<String, String> { it.query_pairs().into_owned().collect() };
    let (own, other) = (pairs(here), pairs(there));
    let kept = own
        .iter()
        .filter(|it| !it.1.is_empty() && !is_position(it.0))
        .all(|(name, value)| other.get(name) == Some(value));
    let moved = other.iter().find(|(name, value)| {
        is_position(name)
            && match (number(Some(value)), number(own.get(*name))) {
                (Some(page), Some(now)) => page > now,
                (Some(page), None) => {
                    page > 1 || (page == 1 && text.parse::<u64>().is_ok_and(|it| it > 1))
                }
                (None, _) => false,
            }
    });
    let value = |it: &str| it.parse().unwrap_or(u64::MAX);
    moved.filter(|_| kept).map(|it| (it.0.clone(), value(it.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_later_pages() {
        let found = |url: &str, link: &str| {
            let page = Html::parse_document(link);
            next_link(&Controls::of_page(&page).links, url).is_some()
        };
        let here = "https://a.test/list?q=fern";
        assert!(found(here, "<a rel='nofollow next' href='/list/2'>weiter</a>"));
        assert!(found(here, "<a href='?q=fern&page=2'>2</a>"));
        assert!(found("https://a.test/list?q=fern&page=2", "<a href='?q=fern&page=3'>3</a>"));
        assert!(found("https://a.test/blog/", "<a href='/blog/page/2/'>older</a>"));
        assert!(!found("https://a.test/list?q=fern&page=3", "<a href='?q=fern&page=2'>2</a>"));
        assert!(!found(here, "<a href='?q=oak&page=2'>2</a>"));
        assert!(!found(here, "<a href='/other?q=fern&page=2'>2</a>"));
        assert!(!found(here, "<a rel='next' href='#'>next</a>"));
        // Counted from 0; the size of a page grows.
        assert!(
            found(here, "<a href='?q=fern&page=1'>2</a>")
                && !found(here, "<a href='?q=fern&page=1'>1</a>")
        );
        assert!(found(here, "<a href='?q=fern&revcount=20'>more</a>"));
        assert!(!found(here, "<a href='/more'>more</a>"));
        let announced = |it: &str| next_page_hint(&Html::parse_document(it), here).is_some();
        assert!(
            announced("<button> Load  more</button>")
                && !announced("<button disabled>Load more</button>")
        );
        assert!(!announced("<button>Next</button>"));
        assert!(!announced("<li><a>Show more</a><li><a>Show more</a>"), "of each item");
    }

    #[test]
    fn a_numbered_link_moves_by_the_items_of_a_page() {
        let check = |here: &str, link: &str, items: u64| {
            let url = format!("https://a.test/find?{here}");
            has_next_page(&Html::parse_document(link), &url, items)
        };
        let second = "<a href='?query=x&max=20&whence=20&sort=score'>[2]</a>";
        assert!(check("query=x", second, 20) && check("query=x&whence=0", second, 20));
        // Another number of items; another page; another search; a way to sort.
        assert!(!check("query=x", second, 14));
        assert!(!check("query=x&whence=20", second, 20));
        assert!(!check("query=y", second, 20));
        assert!(!check("query=x", "<a href='?query=x&max=20&sort=date'>by date</a>", 20));
        assert!(!check("query=x", "<a href='/year?query=x&whence=20'>2</a>", 20));
    }
}
