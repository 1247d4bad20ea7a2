//! Pages that stay: which are open, one as it goes on, and what was kept of others.

use axum::{
    extract::{Path, Query},
    http::StatusCode,
    response::Response,
};
use maud::{Markup, html};

use super::{
    DashboardContext, PageResult, format,
    layout::{self, NavItem},
    logins,
    pager::Pager,
};
use crate::{
    Daemon,
    page_query::PageQuery,
    page_sessions::{OpenPage, PageKey},
    principal::Principal,
    viewer_access,
};
use commis_browser::sessions::{Manifest, SessionState, SessionStore, page as kept, traffic};
use commis_state::now_ms;

/// Sessions of a part of the list.
const SHOWN: usize = 50;

pub async fn page(cx: DashboardContext) -> PageResult {
    let open = cx.daemon.page_sessions.open();
    let words = cx.query_value("q").unwrap_or_default();
    let sessions = SessionStore::new(&cx.daemon.home.sessions).list(None, words)?;
    let mut pager = Pager::new(&cx, SHOWN);
    let part = pager.part(&sessions);
    let body = html! {
        h1 { "Browser" }
        section #open data-live aria-labelledby="open-head" {
            h2 #open-head { "Open now" }
            @if open.is_empty() {
                (format::empty("No page is open.", &html! { p { code { "commis browse goto URL" } " opens one, and so does an agent." } }))
            } @else { (table(&open, cx.now_ms)) }
        }
        (logins::section(&cx)?)
        section aria-labelledby="sessions-head" {
            h2 #sessions-head { "Sessions" }
            form.filter action="/browser" {
                label { span { "With these words" } input type="search" name="q" value=(words); }
                button type="submit" { "Search" }
            }
            @if sessions.is_empty() {
                (format::empty("No session is kept.", &html! { p { code { "commis session record NAME URL" } " begins one." } }))
            } @else {
                (listed(part, cx.now_ms))
                (pager.links(&cx, "/browser", part.len(), pager.skip() + part.len() < sessions.len(), Some(sessions.len())))
            }
        }
    };
    Ok(layout::kept_up(&cx, NavItem::Browser, "Browser", &body))
}

fn owner_of(key: &PageKey) -> &str {
    if key.0.is_empty() { "this machine" } else { &key.0 }
}

fn query(key: &PageKey) -> String {
    let mut out = url::form_urlencoded::Serializer::new(String::new());
    out.append_pair("context", &key.1);
    if !key.0.is_empty() {
        out.append_pair("of", &key.0);
    }
    out.finish()
}

fn badge(it: &OpenPage) -> Markup {
    let (class, text) = match (&it.standing.handed, it.busy) {
        (Some(_), _) => ("badge warn", "a person has it"),
        (None, true) => ("badge now", "at work"),
        (None, false) => ("badge", "waits"),
    };
    html! { span class=(class) { (text) } }
}

fn place(url: &str) -> Markup {
    if url.is_empty() {
        html! { span.soft { "no page yet" } }
    } else {
        html! { span.said { (format::clip(url, 200)) } }
    }
}

fn table(all: &[OpenPage], now_ms: i64) -> Markup {
    html! {
        table.rows {
            thead { tr {
                th scope="col" { "Page" }
                th scope="col" { "State" }
                th.wide scope="col" { "Whose" }
                th.wide.n scope="col" { "Open since" }
                th.n scope="col" { "Last command" }
            } }
            tbody {
                @for it in all {
                    tr {
                        th scope="row" {
                            a href={ "/browser/live?" (query(&it.key)) } { (it.key.1) }
                            span.task { (place(&it.standing.url)) }
                        }
                        td { (badge(it)) }
                        td.wide { (owner_of(&it.key)) }
                        td.wide.n { (format::ago(it.opened_ms, now_ms)) }
                        td.n { (format::ago(it.used_ms, now_ms)) }
                    }
                }
            }
        }
    }
}

fn state(it: SessionState) -> Markup {
    let (class, text) = match it {
        SessionState::Recording => ("badge now", "recorded now"),
        SessionState::Complete => ("badge good", "complete"),
        SessionState::Interrupted => ("badge warn", "interrupted"),
        SessionState::Purged => ("badge", "purged"),
    };
    html! { span class=(class) { (text) } }
}

fn listed(all: &[Manifest], now_ms: i64) -> Markup {
    html! {
        table.rows {
            thead { tr {
                th scope="col" { "Session" }
                th scope="col" { "State" }
                th.wide.n scope="col" { "Actions" }
                th.n scope="col" { "Begun" }
            } }
            tbody {
                @for it in all {
                    tr {
                        th scope="row" {
                            a href={ "/browser/sessions/" (it.id) } { (it.name) }
                            span.task { span.said { (format::clip(if it.task.is_empty() { &it.url } else { &it.task }, 200)) } }
                        }
                        td { (state(it.state)) }
                        td.wide.n { @if it.state == SessionState::Recording { "–" } @else { (it.actions) } }
                        td.n { (format::ago(it.begun_ms, now_ms)) }
                    }
                }
            }
        }
    }
}

pub async fn session(cx: DashboardContext, Path(id): Path<String>) -> PageResult {
    let all = SessionStore::new(&cx.daemon.home.sessions);
    let (mut manifest, lines) = all.load(&id)?;
    // While it is recorded, they are counted in its other file.
    manifest.actions = manifest.actions.max(u32::try_from(lines.len()).unwrap_or(u32::MAX));
    let findings = all.findings(&id)?;
    let requests =
        all.traffic(&id)?.map(|it| traffic::list_requests(&it, &lines)).unwrap_or_default();
    let body = html! {
        p.crumbs { a href="/browser" { "Browser" } }
        (kept::content(&kept::SessionPage {
            manifest: &manifest,
            lines: &lines,
            findings: &findings,
            requests: &requests,
            // They would have to come from somewhere, and a page of the dashboard has nothing but itself.
            pictures: &[],
        }))
    };
    Ok(layout::page(&cx, NavItem::Browser, &format::clip(&manifest.name, 60), None, &body))
}

pub async fn live(cx: DashboardContext, Query(which): Query<PageQuery>) -> PageResult {
    let key = which.key(&Principal::root())?;
    let query = query(&key);
    let own = key.0.is_empty();
    let links = PageLinks {
        events: format!("/api/browse/events?{query}"),
        picture: format!("/browser/picture?{query}"),
        resumes: own,
        inside: true,
    };
    let body = html! {
        p.crumbs { a href="/browser" { "Browser" } }
        (page_view(&cx.daemon, &key, &links))
    };
    Ok(layout::kept_up(&cx, NavItem::Browser, &key.1, &body))
}

/// What somebody sees who may look at one page alone.
pub fn watched(daemon: &Daemon, key: &PageKey) -> Response {
    let links = PageLinks {
        events: format!("{}/events", viewer_access::PATH),
        picture: format!("{}/picture", viewer_access::PATH),
        resumes: false,
        inside: false,
    };
    layout::alone(StatusCode::OK, &key.1, true, &page_view(daemon, key, &links))
}

/// What somebody sees who may not, or not any more.
pub fn not_watched(status: StatusCode) -> Response {
    let body = html! {
        div.door {
            h1 { "Nothing to look at" }
            p { "Open this with the address that this command prints:" }
            pre.command { code { "commis browse watch --page" } }
            p.soft { "The address works once, within a minute. What it opens lasts for half an hour, and as long as whoever gave it may look." }
        }
    };
    layout::alone(status, "Nothing to look at", false, &body)
}

/// Where a page that is looked at comes from.
struct PageLinks {
    events: String,
    picture: String,
    /// It can be given back from here.
    resumes: bool,
    /// Other pages may be gone to.
    inside: bool,
}

fn page_view(daemon: &Daemon, key: &PageKey, links: &PageLinks) -> Markup {
    let now = now_ms();
    let found = daemon.page_sessions.open().into_iter().find(|it| it.key == *key);
    html! {
        h1 { (key.1) }
        section #standing data-live aria-label="How it stands" {
            @match &found {
                None => p.notice { "This page is closed." }
                Some(it) => {
                    p.line { (badge(it)) (place(&it.standing.url)) }
                    @if let Some(note) = &it.standing.handed {
                        div.notice.warn {
                            p { "A person has this page; commands that act wait until it is given back." }
                            @if !note.is_empty() { p.said { (note) } }
                            @if links.resumes {
                                p.notice.bad hidden role="alert" data-trouble {}
                                div.buttons {
                                    button type="button" data-post="/api/browse/resume" data-body=(serde_json::json!({"context": key.1})) data-then="close" { "Give it back" }
                                }
                            }
                        }
                    }
                    dl.facts {
                        dt { "Whose" } dd { (owner_of(key)) }
                        @if it.standing.visible { dt { "Where" } dd { "in a window" } }
                        dt { "Open since" } dd { (format::ago(it.opened_ms, now)) }
                        dt { "Last command" } dd { (format::ago(it.used_ms, now)) }
                        @if let Some(id) = &it.standing.session {
                            dt { "Session" } dd { @if links.inside { a href={ "/browser/sessions/" (id) } { (id) } } @else { (id) } }
                        }
                    }
                }
            }
        }
        @if found.is_some() {
            div.watch {
                figure.view {
                    img src=(links.picture) alt="What the page shows now" data-picture=(links.picture) width="1280" height="900";
                    figcaption.soft { "Renewed each second at most, and not while a command is at work." }
                }
                div {
                    h2 #events-head { "What happens" }
                    div.events tabindex="0" role="region" aria-labelledby="events-head" { ol #events data-stream=(links.events) {} }
                    noscript { p.soft { "That needs this page's script; " code { "commis browse watch" } " prints the same." } }
                }
            }
        }
    }
}
