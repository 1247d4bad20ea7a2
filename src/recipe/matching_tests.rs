//! What selectors mean on a page, and which of them are refused.

use std::time::Duration;

use super::*;
use commis_base::{
    error::Code,
    work::{Budget, STAGE, run_bounded},
};

#[test]
fn it_means_what_scraper_means() {
    let page = Html::parse_document(
        "<ul id=a class='x y'><li>1<li class=on>2<li>3</ul><p>a<!-- c --><p lang=en>b<div><p>c<b>d</b></div>\
         <svg><linearGradient class=' on\toff '></linearGradient></svg>",
    );
    for css in [
        "li",
        "li.on",
        "#a > li",
        "ul li + li",
        "li ~ li",
        "p:has(> b)",
        "div:has(b) p",
        "li:nth-child(2n+1)",
        "p:not(:has(b))",
        "[lang|=en]",
        ":is(ul, div) > *",
        ":root",
        "p:empty",
        "li:has(+ .on)",
        ":scope > p",
        "b:first-child",
        "LI.on",
        "li.On",
        "*.x.y",
        "p, li.on",
        "linearGradient.on",
        "lineargradient",
        "svg .on",
    ] {
        let (own, theirs) = (Selector::parse(css).unwrap(), scraper::Selector::parse(css).unwrap());
        let ids = |all: Vec<ElementRef<'_>>| all.iter().map(|it| it.id()).collect::<Vec<_>>();
        assert_eq!(
            ids(own.select_in_page(&page).collect()),
            ids(page.select(&theirs).collect()),
            "{css}"
        );
        let root = page.root_element();
        assert_eq!(
            ids(own.select_within(root).collect()),
            ids(root.select(&theirs).collect()),
            "{css}"
        );
        for it in root.descendants().filter_map(ElementRef::wrap) {
            assert_eq!(own.matches(it), theirs.matches(&it), "{css}");
        }
    }
}

#[test]
fn shapes_whose_work_is_the_square_of_a_page_are_refused() {
    for bad in [
        "p:not(:has(~ p u))",
        "p:has(~ u)",
        "p:has(~ p ~ p ~ u)",
        "div:has(p ~ p ~ p:has(i ~ u))",
        "div:has(> a ~ b)",
        "p:has(~ u) ~ p",
        ":has(~ * u) ~ *",
        "p:is(:has(~ u), i)",
        "p:where(:not(:has(+ b + u)))",
        ":not(a ~ p) ~ p",
        "p:nth-child(2 of a ~ b) ~ p",
        "u ~ p:nth-last-child(2) ~ p",
        "p:has(> a:nth-last-of-type(2n))",
        "a:has(b:has(c))",
        "p:has(:not(:has(i)))",
        "d:is(:is(:has(a b) c) d) e",
    ] {
        assert!(Selector::parse(bad).is_err(), "{bad}");
    }
    for good in [
        "h2 ~ p",
        "a ~ b ~ c > d ~ e",
        "tr:has(> td)",
        "li:has(+ li)",
        "li:has(> a:last-child) ~ li",
        "section:has(h2 a) article p",
        // Beside each other they do not multiply.
        "div:has(a b):not(:has(c d)) > i:has(x y):has(j k) z",
        "table tbody tr td a span",
        "div:not(.x):not(:has(a))",
    ] {
        assert!(Selector::parse(good).is_ok(), "{good}");
    }
}

/// What may still be quadratic ends with its budget.
#[test]
fn siblings_of_a_long_list_end_with_the_budget() {
    let page = Html::parse_document(&"<p>x".repeat(20_000));
    let selector = Selector::parse("u ~ p").unwrap();
    let all = || selector.select_in_page(&page).count();
    let spent = run_bounded(STAGE.with_steps(1_000_000), all).unwrap_err();
    assert_eq!(spent.code(), Code::WorkLimit);
    // Behind what is no element, too.
    let page =
        Html::parse_document(&format!("{}{}", "<!---->".repeat(5_000), "<p>x".repeat(5_000)));
    let spent = run_bounded(STAGE.with_steps(1_000_000), || selector.select_in_page(&page).count())
        .unwrap_err();
    assert_eq!(spent.code(), Code::WorkLimit);
    let time = Budget::new(Duration::from_millis(1));
    let page = Html::parse_document(&"<p>x".repeat(20_000));
    assert!(run_bounded(time, || selector.select_in_page(&page).count()).is_err());
}
