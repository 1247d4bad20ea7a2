//! How runs went, day by day: what worked stands above the line, what failed hangs below it, so it can be told without colours.

use maud::{Markup, html};

use super::format;
use commis_report::plot::{Fill, LegendKey, legend};
use commis_state::DayCounts;

/// A day is so wide; the picture is stretched to where it stands, so what is to be read stands beside it.
const WIDE: i64 = 8;
const UP: i64 = 84;
const DOWN: i64 = 44;

/// The days before `today` and itself, as a picture with its words.
pub fn chart(days: &[DayCounts], today: i64, shown: i64) -> Markup {
    let from = today - shown + 1;
    let most = |of: fn(&DayCounts) -> i64| days.iter().map(of).max().unwrap_or(0).max(1);
    // One scale for both, as far as there is room.
    let scale =
        (UP as f64 / most(|it| it.ok) as f64).min(DOWN as f64 / most(|it| it.failed) as f64);
    let high = |n: i64| if n == 0 { 0 } else { ((n as f64 * scale) as i64).max(2) };
    // Of the lower half, as much as is used.
    let (width, below) =
        (shown * WIDE, high(days.iter().map(|it| it.failed).max().unwrap_or(0)).max(10));
    html! {
        figure.chart {
            svg viewBox={ "0 0 " (width) " " (UP + below + 1) } preserveAspectRatio="none" role="img" aria-label=(words(days, shown)) {
                @for it in days.iter().filter(|it| it.at >= from && it.at <= today) {
                    @let x = (it.at - from) * WIDE;
                    @if it.ok > 0 {
                        rect.green x=(x + 1) y=(UP - high(it.ok)) width=(WIDE - 2) height=(high(it.ok)) {
                            title { (format::date(it.at)) ": " (it.ok) " worked" }
                        }
                    }
                    @if it.failed > 0 {
                        rect.red x=(x + 1) y=(UP + 1) width=(WIDE - 2) height=(high(it.failed)) {
                            title { (format::date(it.at)) ": " (it.failed) " failed" }
                        }
                    }
                }
                rect.base x="0" y=(UP) width=(width) height="1" {}
            }
            div.axis aria-hidden="true" {
                span { (format::date(from)) }
                span { "at most " (most(|it| it.ok + it.failed)) " a day" }
                span { "today" }
            }
            figcaption.legend {
                (legend(&[(LegendKey::Piece(Fill("green", 0)), "worked, above"), (LegendKey::Piece(Fill("red", 0)), "failed, below")]))
                span { (words(days, shown)) }
            }
        }
    }
}

/// The same in words.
fn words(days: &[DayCounts], shown: i64) -> String {
    let (ok, failed) = sums(days);
    if ok + failed == 0 {
        return format!("No runs in the last {shown} days.");
    }
    let on = format::count(days.len() as i64, "day", "days");
    let runs = format::count(ok + failed, "run", "runs");
    let last = days.iter().rev().find(|it| it.failed > 0);
    let how = match (failed, last) {
        (0, _) | (_, None) => "all worked".to_owned(),
        (_, Some(last)) => format!("{failed} failed, the last on {}", format::date(last.at)),
    };
    format!("{runs} on {on} of the last {shown}; {how}.")
}

pub fn sums(days: &[DayCounts]) -> (i64, i64) {
    days.iter().fold((0, 0), |(ok, failed), it| (ok + it.ok, failed + it.failed))
}

/// The last days in a line of a list.
pub fn spark(days: &[DayCounts], today: i64, shown: i64) -> Markup {
    let from = today - shown + 1;
    let most = days.iter().map(|it| it.ok.max(it.failed)).max().unwrap_or(0).max(1);
    let high = |n: i64| if n == 0 { 0 } else { (n * 10 / most).max(2) };
    let (ok, failed) = sums(days);
    let label = match (ok + failed, failed) {
        (0, _) => format!("no runs in {shown} days"),
        (n, failed) => {
            format!("{} in {shown} days, {failed} failed", format::count(n, "run", "runs"))
        }
    };
    html! {
        svg.spark viewBox={ "0 0 " (shown * 4) " 22" } width=(shown * 4) height="22" role="img" aria-label=(label) {
            rect.base x="0" y="11" width=(shown * 4) height="1" {}
            @for it in days.iter().filter(|it| it.at >= from && it.at <= today) {
                @let x = (it.at - from) * 4;
                @if it.ok > 0 { rect.green x=(x) y=(11 - high(it.ok)) width="3" height=(high(it.ok)) {} }
                @if it.failed > 0 { rect.red x=(x) y="12" width="3" height=(high(it.failed)) {} }
            }
        }
    }
}

/// The same once more, for who would rather read.
pub fn table(days: &[DayCounts]) -> Markup {
    html! {
        details.more {
            summary { "The days as a table" }
            table {
                thead { tr { th scope="col" { "Day" } th.n scope="col" { "Worked" } th.n scope="col" { "Failed" } } }
                tbody {
                    @for it in days.iter().rev() {
                        tr { th scope="row" { (format::date(it.at)) } td.n { (it.ok) } td.n { (it.failed) } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_says_in_words_what_it_shows() {
        let days = [DayCounts { at: 95, ok: 3, failed: 0 }, DayCounts { at: 97, ok: 1, failed: 2 }];
        assert_eq!(
            words(&days, 90).replace('\u{a0}', " "),
            "6 runs on 2 days of the last 90; 2 failed, the last on 1970-04-08."
        );
        assert_eq!(words(&[], 90), "No runs in the last 90 days.");
        let made = chart(&days, 100, 90).0;
        assert_eq!(
            (made.matches("class=\"green\" x").count(), made.matches("class=\"red\" x").count()),
            (3, 2),
            "one of each in the legend"
        );
        assert!(!made.contains("style="));
        // Many runs of one kind leave the picture in its frame.
        let made = chart(&[DayCounts { at: 100, ok: 100_000, failed: 1 }], 100, 90).0;
        assert!(made.contains("height=\"84\"") && made.contains("height=\"2\""), "{made}");
    }
}
