//! Whether a page is the one that it was, but for clocks and counters that go on by themselves.

use super::PageView;

/// Whether two pages differ in numbers alone.
pub fn alike(a: &PageView, b: &PageView) -> bool {
    a.url == b.url
        && without_digits(&a.title).eq(without_digits(&b.title))
        && without_digits(&a.content).eq(without_digits(&b.content))
}

/// Whether each line that is another in one of these pages, which are alike, is another `now`, too, without anything having been done
/// since it was `seen`.
pub fn is_ticking(pages: &[&PageView], seen: &PageView, now: &PageView) -> bool {
    let same =
        |a: &PageView| a.content.lines().zip(seen.content.lines()).map(|(a, b)| a == b).collect();
    let still: Vec<bool> = same(now);
    let is_still = |at: usize| still.get(at).is_none_or(|it| *it);
    let has_changed = |it: &&PageView| -> bool {
        let same: Vec<bool> = same(it);
        same.iter().enumerate().any(|(at, same)| !same && is_still(at))
    };
    let title_ticks = seen.title != now.title || pages.iter().all(|it| it.title == seen.title);
    alike(seen, now) && title_ticks && !pages.iter().any(has_changed)
}

/// Numbers as one mark each, so that 9 and 10 are alike.
fn without_digits(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut was_digit = false;
    text.chars().filter_map(move |it| {
        let is_digit = it.is_numeric();
        let first = !std::mem::replace(&mut was_digit, is_digit);
        if is_digit { first.then_some('0') } else { Some(it) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(clock: &str, cart: &str) -> PageView {
        PageView {
            url: "http://shop.test/".into(),
            title: "Shop".into(),
            content: format!("text \"{clock}\"\ntext \"{cart} in the cart\""),
        }
    }

    #[test]
    fn a_clock_is_no_other_page_and_a_cart_is() {
        let (a, b) = (page("12:30:09", "1"), page("12:30:10", "1"));
        assert!(alike(&a, &b) && alike(&page("9 s ago", "1"), &page("10 s ago", "1")));
        assert!(!alike(&a, &page("soon", "1")));
        let now = page("12:30:12", "1");
        assert!(is_ticking(&[&a, &b], &b, &now));
        // The cart was another, and does not go on by itself.
        let full = page("12:30:10", "2");
        assert!(!is_ticking(&[&a, &full], &full, &page("12:30:12", "2")));
        assert!(!is_ticking(&[&a, &b], &b, &b), "nothing goes on");
    }
}
