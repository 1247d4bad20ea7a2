//! A value over time, as a line of steps with a table beside it: a value holds until the next run says another.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::format;

/// Of the picture, which is stretched to where it stands; what is to be read stands beside it.
const WIDE: f64 = 600.0;
const HIGH: f64 = 160.0;
const EDGE: f64 = 10.0;
/// Lines of the table.
const ROWS: usize = 50;

/// A value from that moment on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub at_ms: i64,
    pub value: f64,
}

pub fn curve(field: &str, points: &[Point], now_ms: i64) -> Markup {
    let Some((first, last)) = points.first().zip(points.last()) else { return html! {} };
    let (low, high) = points
        .iter()
        .fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(it.value), high.max(it.value)));
    html! {
        div.curve {
            figure.chart {
                svg viewBox={ "0 0 " (WIDE) " " (HIGH) } preserveAspectRatio="none" role="img" aria-label=(words(field, points)) {
                    path.course d=(line(points, (low, high), now_ms)) {}
                }
                div.axis aria-hidden="true" {
                    span { (format::date(first.at_ms.div_euclid(86_400_000))) }
                    span { (number(low)) @if high > low { " to " (number(high)) } }
                    span { "now" }
                }
                figcaption.legend { span { (words(field, points)) } }
            }
            div.scroll tabindex="0" role="region" aria-label={ "Values of " (field) } {
                table {
                    thead { tr { th scope="col" { "Since" } th.n scope="col" { (field) } th.n scope="col" { "Change" } } }
                    tbody {
                        @for (i, it) in points.iter().enumerate().rev().take(ROWS) {
                            tr {
                                th scope="row" { (format::ago(it.at_ms, now_ms)) }
                                td.n { (number(it.value)) }
                                td.n { @if let Some(before) = i.checked_sub(1).map(|i| points[i].value) { (signed(it.value - before)) } }
                            }
                        }
                    }
                }
                @if points.len() > ROWS { p.soft { "the last " (ROWS) " of " (points.len()) } }
            }
        }
        @if first == last { p.soft { "It did not change since it was first seen." } }
    }
}

/// Steps from the first point to now.
fn line(points: &[Point], (low, high): (f64, f64), now_ms: i64) -> String {
    let start = points.first().map_or(0, |it| it.at_ms);
    let span = (now_ms - start).max(1) as f64;
    let x = |at_ms: i64| ((at_ms - start) as f64 / span).clamp(0.0, 1.0) * WIDE;
    let y = |value: f64| {
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        HIGH - EDGE - share * (HIGH - 2.0 * EDGE)
    };
    let mut out = String::new();
    for (i, it) in points.iter().enumerate() {
        let verb = if i == 0 { "M0" } else { "H" };
        // Writing into a string does not fail.
        let _ = match i {
            0 => write!(out, "{verb} {:.1}", y(it.value)),
            _ => write!(out, "{verb}{:.1}V{:.1}", x(it.at_ms), y(it.value)),
        };
    }
    let _ = write!(out, "H{WIDE}");
    out
}

/// The same in words.
fn words(field: &str, points: &[Point]) -> String {
    let values = points.iter().map(|it| it.value);
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let low = values.clone().fold(f64::MAX, f64::min);
    let high = values.fold(f64::MIN, f64::max);
    let changes = points.len() as i64 - 1;
    format!(
        "{field}: {} now, {} at first; between {} and {}, {}.",
        number(last.value),
        number(first.value),
        number(low),
        number(high),
        format::count(changes, "change", "changes")
    )
}

fn number(it: f64) -> String {
    let out = format!("{it:.4}");
    out.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn signed(it: f64) -> String {
    if it > 0.0 { format!("+{}", number(it)) } else { number(it).replace('-', "\u{2212}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_steps_and_says_in_words_what_it_shows() {
        let points = [Point { at_ms: 0, value: 31.97 }, Point { at_ms: 500, value: 29.0 }];
        assert_eq!(line(&points, (29.0, 31.97), 1000), "M0 10.0H300.0V150.0H600");
        assert_eq!(
            words("price", &points).replace('\u{a0}', " "),
            "price: 29 now, 31.97 at first; between 29 and 31.97, 1 change."
        );
        let made = curve("price", &points, 1000).0;
        assert!(made.contains("<table>") && made.contains("\u{2212}2.97"), "{made}");
        // One value is a line, too.
        assert_eq!(line(&points[..1], (31.97, 31.97), 0), "M0 80.0H600");
        assert_eq!(curve("price", &[], 0).0, "");
    }
}
