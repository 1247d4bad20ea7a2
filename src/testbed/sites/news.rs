//! `news.test`: rendered by the server; the document itself is the data.

use std::fmt::Write;

use axum::http::StatusCode;
use axum::response::Response;

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{SiteRequest, escape};
use crate::words;

const SITE: Site = Site {
    name: "The Evening Lantern",
    description: "News of the county, printed daily since the flood.",
    layout: Layout::Plain,
    nav: &["County", "Business", "Letters", "Tides"],
    main: include_str!("../pages/news.html"),
    script: ("", ""),
    extras: &[Extra::Tracker, Extra::Pixel, Extra::Ads, Extra::Recommended],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/search") => {
            let Some(query) = ask.param("q") else {
                let page = shell::page(&SITE, ask, "", "<h1>What are you looking for?</h1>");
                let (mut head, body) = page.into_parts();
                head.status = StatusCode::BAD_REQUEST;
                return Response::from_parts(head, body);
            };
            let list = results(query, ask.number("page", 1, 100));
            shell::page(&SITE, ask, r#"<meta name="robots" content="noindex">"#, &list)
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn results(query: &str, page: u64) -> String {
    let found = words::search("articles", query, page, 10);
    let shown = escape(query);
    let mut html = format!(
        r#"{}<h1>{} results for {shown}</h1><ol class="results">"#,
        include_str!("../pages/news_form.html"),
        found.total
    );
    for (_, mut rng) in found.hits {
        let title = rng.title(query);
        // Writing to a String cannot fail.
        let _ = write!(
            html,
            r#"<li class="result"><h3><a href="/articles/{}">{}</a></h3><p class="summary">{}</p><span class="byline">{}</span> <span class="date">{}</span></li>"#,
            words::slug(&title),
            escape(&title),
            escape(&rng.sentence(query)),
            rng.name(),
            rng.date(),
        );
    }
    html += "</ol>";
    if page < found.pages {
        let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let _ = write!(
            html,
            r#"<a rel="next" href="/search?q={query}&amp;page={}">Older</a>"#,
            page + 1
        );
    }
    html
}
