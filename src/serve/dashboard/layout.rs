//! What stands around every page: its head, its way to the other pages, and the last look at its text.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use maud::{DOCTYPE, Markup, html};

use super::DashboardContext;

/// A page that the way leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NavItem {
    Overview,
    Tasks,
    Recipes,
    Learn,
    Watches,
    Browser,
    Approvals,
}

const PAGES: &[(NavItem, &str, &str)] = &[
    (NavItem::Overview, "/", "Overview"),
    (NavItem::Tasks, "/tasks", "Tasks"),
    (NavItem::Recipes, "/recipes", "Recipes"),
    (NavItem::Learn, "/learn", "Learn"),
    (NavItem::Watches, "/watches", "Watches"),
    (NavItem::Browser, "/browser", "Browser"),
    (NavItem::Approvals, "/approvals", "Approvals"),
];

/// A page for somebody who may look. `after` is the event that it is as of, where it is to stay as things are.
pub fn page(
    cx: &DashboardContext,
    here: NavItem,
    title: &str,
    after: Option<i64>,
    body: &Markup,
) -> Response {
    let head = html! {
        @if let Some(it) = &cx.csrf { meta name="csrf" content=(it); }
        @if let Some(it) = after { meta name="after" content=(it); }
    };
    whole(StatusCode::OK, title, &head, Some(here), body)
}

/// The same that is asked for again every few seconds: no event says when it is another.
pub fn kept_up(cx: &DashboardContext, here: NavItem, title: &str, body: &Markup) -> Response {
    let head = html! {
        @if let Some(it) = &cx.csrf { meta name="csrf" content=(it); }
        (EVERY)
    };
    whole(StatusCode::OK, title, &head, Some(here), body)
}

/// For the page's script.
const EVERY: maud::PreEscaped<&str> = maud::PreEscaped(r#"<meta name="every" content="5000">"#);

/// The event that a page which is made now is as of. Without it the page is not kept up to date.
pub async fn after(cx: &DashboardContext) -> Option<i64> {
    let known = cx.daemon.database.events_after(None, 0).await.ok()?;
    Some(known.last().map_or(0, |it| it.id))
}

/// A page that says something went wrong.
pub fn error_page(status: StatusCode, title: &str, body: &Markup) -> Response {
    whole(status, title, &html! {}, None, body)
}

/// What somebody is shown who may not look: how to get in, and nothing else.
pub fn access_page(status: StatusCode) -> Response {
    let title = if status == StatusCode::OK { "Dashboard" } else { "The dashboard is closed" };
    let body = html! {
        div.door {
            h1 { (title) }
            p { "Open it with the address that this command prints:" }
            pre.command { code { "commis dashboard" } }
            p.soft {
                "The address holds a code, which works once, within a minute. What it opens stays open for half an hour. "
                "A page that was open before is closed when that is over, and when the daemon starts again."
            }
            noscript { p { "The code is read by this page's script, so the browser has to allow it." } }
        }
    };
    let out = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, &html! {}))
            body { main #main { (body) } }
        }
    };
    answer(status, &out)
}

/// A page that leads to no other; `looks`: it is kept up to date while what opened it lasts.
pub fn alone(status: StatusCode, title: &str, looks: bool, body: &Markup) -> Response {
    let out = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, &html! { @if looks { (EVERY) } }))
            body {
                @if looks {
                    header.top { div.inner { span.brand { img src="/assets/icon.svg" alt="" width="28" height="28"; "commis" } span #live.live hidden {} } }
                    p #closed.notice hidden role="alert" {
                        "What opened this page is over. " code { "commis browse watch --page" } " prints an address that opens it again."
                    }
                }
                main #main tabindex="-1" data-signed[looks] { (body) }
                p #said.unseen role="status" {}
            }
        }
    };
    answer(status, &out)
}

fn head(title: &str, more: &Markup) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · commis" }
            link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
            link rel="stylesheet" href="/assets/app.css";
            script src="/assets/app.js" defer {}
            (more)
        }
    }
}

fn whole(
    status: StatusCode,
    title: &str,
    more: &Markup,
    here: Option<NavItem>,
    body: &Markup,
) -> Response {
    let out = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, more))
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    div.inner {
                        a.brand href="/" { img src="/assets/icon.svg" alt="" width="28" height="28"; "commis" }
                        nav aria-label="Pages" {
                            @for (page, href, name) in PAGES {
                                a href=(href) aria-current=[(here == Some(*page)).then_some("page")] { (name) }
                            }
                        }
                        span #live.live hidden {}
                    }
                }
                p #closed.notice hidden role="alert" {
                    "What opened this page is over. " code { "commis dashboard" } " prints an address that opens it again."
                }
                main #main tabindex="-1" data-signed { (body) }
                p #said.unseen role="status" {}
                footer.bottom { "commis " (env!("CARGO_PKG_VERSION")) " · times are yours, days are UTC" }
            }
        }
    };
    answer(status, &out)
}

/// The last look: what is strange in a text shows as such, wherever it came from. Our own markup has none of it.
fn answer(status: StatusCode, page: &Markup) -> Response {
    let text = commis_report::plain(&page.0);
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    (status, [(header::CONTENT_TYPE, kind)], text).into_response()
}
