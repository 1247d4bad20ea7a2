//! A session as a page to look at: what was done and when, what each act asked for, what a reader should know. No script, nothing
//! from elsewhere.

use maud::{Markup, html};

use super::{
    Manifest, SessionAction, SessionState, Verdict, compare,
    pictures::{self, Picture},
    traffic::RequestRow,
};
use commis_report::Page;

const STYLE: &str = "td:nth-child(2) { min-width: 14rem; } td img { display: block; max-width: 100%; border: 1px solid var(--line); border-radius: 8px; margin: .4rem 0; }
.bar { display: block; width: 10rem; height: .6rem; } .bar rect { fill: var(--blue); } td.failed { color: var(--bad); } td.failed::before { content: \"✗ \"; } pre { white-space: pre-wrap; }";
/// Of the longest act's bar.
const WIDE: u64 = 160;
/// Requests of one act that are listed.
const REQUESTS: usize = 100;

/// What a page shows.
pub struct SessionPage<'a> {
    pub manifest: &'a Manifest,
    pub lines: &'a [SessionAction],
    pub findings: &'a str,
    pub requests: &'a [RequestRow],
    pub pictures: &'a [Picture],
}

/// The whole page.
pub fn page(it: &SessionPage<'_>) -> String {
    let title = format!("{}, a session", it.manifest.name);
    Page { title: &title, style: STYLE, pictures: true, ..Page::default() }.render(&content(it))
}

/// What stands on it, without styles of its own.
pub fn content(it: &SessionPage<'_>) -> Markup {
    let SessionPage { manifest, lines, findings, .. } = it;
    let longest = lines.iter().map(|it| it.ms).max().unwrap_or(0).max(1);
    let state = match manifest.state {
        SessionState::Recording => "recording",
        SessionState::Complete => "complete",
        SessionState::Interrupted => "interrupted",
        SessionState::Purged => "purged",
    };
    let begun = jiff::Timestamp::from_second(manifest.begun_ms / 1000).unwrap_or_default();
    html! {
        h1 { (manifest.name) }
        dl.facts {
            dt { "Id" } dd { (manifest.id) }
            @if !manifest.task.is_empty() { dt { "Task" } dd { (manifest.task) } }
            dt { "Begins at" } dd { (manifest.url) }
            dt { "Begun" } dd { (begun) }
            dt { "State" } dd { (state) ", " (manifest.actions) " actions" }
            @if let Some(verdict) = manifest.verdict {
                dt { "Verdict" }
                dd { (match verdict { Verdict::Pass => "pass", Verdict::Partial => "partial", Verdict::Fail => "fail" }) }
            }
            @if !manifest.browser.is_empty() {
                dt { "Browser" }
                dd {
                    (manifest.browser)
                    @if let Some([width, height]) = manifest.viewport { ", " (width) " × " (height) }
                }
            }
            @if let Some(it) = &manifest.parent {
                dt { "Begun from" } dd { (it.session) ", after action " (it.actions) }
            }
        }
        h2 { "Actions" }
        div.scroll tabindex="0" role="region" aria-label="Actions" {
            table {
                thead { tr {
                    th scope="col" { "No." } th scope="col" { "Action" } th scope="col" { "Asked for" } th scope="col" { "Time" }
                } }
                tbody { @for line in *lines { (row(line, longest, it)) } }
            }
        }
        @if !findings.is_empty() { h2 { "Findings" } pre { (findings.trim_start_matches("# Findings").trim()) } }
    }
}

fn row(line: &SessionAction, longest: u64, seen: &SessionPage<'_>) -> Markup {
    let picture = seen.pictures.iter().find(|it| it.n == line.n);
    // Nothing but base64 is let into an address.
    let picture = picture.filter(|it| pictures::of_base64(&it.png_base64).is_ok());
    let own = |it: &&RequestRow| it.action == Some(line.n);
    let requests: Vec<&RequestRow> = seen.requests.iter().filter(own).take(REQUESTS).collect();
    let width = line.ms * WIDE / longest;
    let bare = SessionAction { requests: Vec::new(), ..line.clone() };
    html! {
        tr {
            td { (line.n) }
            td class=[line.failed.as_ref().map(|_| "failed")] {
                (compare::describe_action(&bare))
                @if line.url_after != line.url_before { br; small { "to " (line.url_after) } }
                @if let Some(it) = picture {
                    br;
                    img alt={ "The page after action " (line.n) } src={ "data:image/png;base64," (it.png_base64) };
                }
            }
            td {
                @for it in &line.requests { (it.describe()) br; }
                @if !requests.is_empty() {
                    details {
                        summary { (requests.len()) " requests" }
                        @for it in &requests {
                            (it.status.map_or_else(|| "-".to_owned(), |it| it.to_string())) " "
                            (it.method) " " (it.url) " " (it.kind) " " (it.ms) " ms" br;
                        }
                    }
                }
            }
            td {
                svg.bar viewBox={ "0 0 " (WIDE) " 10" } preserveAspectRatio="none" aria-hidden="true" { rect width=(width.max(1)) height="10" {} }
                " " (line.ms) " ms"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::SessionStore;

    #[test]
    fn what_a_page_was_called_is_text_in_it() {
        let home = tempfile::tempdir().unwrap();
        let all = SessionStore::new(home.path());
        let it = all.record("<script>1</script>", "a & b", "http://a.test/?<b>", "").unwrap();
        let line = SessionAction {
            n: 1,
            command: "fill".into(),
            value: Some("</td><img src=x onerror=alert(1)>".into()),
            ..SessionAction::default()
        };
        let request = RequestRow {
            request: 0,
            action: Some(1),
            method: "GET".into(),
            url: "http://a.test/<s>".into(),
            status: None,
            kind: "fetch".into(),
            ms: 1,
            bytes: None,
        };
        let picture = |png_base64: &str| Picture { n: 1, png_base64: png_base64.to_owned() };
        let with = |picture: Picture| {
            page(&SessionPage {
                manifest: it.manifest(),
                lines: std::slice::from_ref(&line),
                findings: "# Findings\n\n- <i>",
                requests: std::slice::from_ref(&request),
                pictures: &[picture],
            })
        };
        // Such an address would be a page of its own.
        assert!(!with(picture("PHN2Zz4=")).contains("data:image/png;base64,"));
        let text = with(picture("iVBORw0KGgo="));
        assert!(text.contains("data:image/png;base64,iVBORw0KGgo="));
        let text = text.replace("<img alt=\"The page after action 1\"", "");
        for bad in ["<script", "<img", "<b>", "<i>", "<s>"] {
            assert!(!text.contains(bad), "{bad} in {text}");
        }
        assert!(text.contains("a &amp; b") && text.contains("default-src 'none'"));
    }
}
