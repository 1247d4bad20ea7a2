//! What the plots of all pages share: a scale and its axis, pieces, lines, marks and their legend.
//!
//! Nothing is told by colour alone: pieces have a texture besides, lines a dash, states a shape and a word. Textures are dashed lines over
//! the piece: a pattern would have to be pointed to, and pages point to nothing.

use maud::{Markup, html};

/// How a piece is filled: a colour of the style sheet, and a texture (0 is none).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill(pub &'static str, pub u8);

pub(super) const COLOURS: [&str; 7] = ["blue", "orange", "green", "purple", "grey", "red", "navy"];

impl Fill {
    /// The n-th of many: all colours, then all with another texture; after 28 they begin again.
    pub fn nth(n: usize) -> Self {
        Self(COLOURS[n % COLOURS.len()], (n / COLOURS.len() % 4) as u8)
    }
}

/// Where values lie in a plot.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub from: f64,
    pub to: f64,
    pub left: f64,
    pub right: f64,
}

impl Scale {
    /// How much of the way a value has gone, 0 to 1 within the scale.
    pub fn share(&self, at: f64) -> f64 {
        (at - self.from) / (self.to - self.from).max(f64::MIN_POSITIVE)
    }

    pub fn x(&self, at: f64) -> f64 {
        round_tenth(self.left + self.share(at) * (self.right - self.left))
    }

    /// Which of so many equal parts a value falls into.
    pub fn part(&self, at: f64, parts: usize) -> usize {
        ((self.share(at) * parts as f64) as usize).min(parts.saturating_sub(1))
    }
}

/// Lines down through the plot, each with its words below.
pub fn axis(
    scale: &Scale,
    marks: impl Iterator<Item = (f64, String)>,
    top: f64,
    bottom: f64,
) -> Markup {
    html! {
        @for (at, text) in marks {
            @let x = scale.x(at);
            line.grid x1=(x) x2=(x) y1=(top) y2=(bottom) {}
            text.mid x=(x) y=(bottom + 14.0) { (text) }
        }
    }
}

/// Marks of a scale of milliseconds from 0, at most ten.
pub fn times(span_ms: i64) -> impl Iterator<Item = i64> {
    const STEPS: &[i64] =
        &[1, 5, 10, 50, 100, 500, 1000, 5000, 15_000, 60_000, 300_000, 900_000, 3_600_000];
    let step = STEPS.iter().copied().find(|it| span_ms / it <= 10).unwrap_or(span_ms / 10).max(1);
    (0..=span_ms.max(0) / step).map(move |it| it * step)
}

/// A filled piece; `title` is told where the pointer rests.
pub fn piece(fill: Fill, [x, y, width, height]: [f64; 4], title: &str) -> Markup {
    let [x, y, width, height] = [x, y, width, height].map(round_tenth);
    html! {
        rect class=(fill.0) x=(x) y=(y) width=(width) height=(height) { @if !title.is_empty() { title { (title) } } }
        @if fill.1 > 0 {
            // Along the longer side, so that a thin piece has its texture too.
            @if width >= height {
                line class={ "cut t" (fill.1) } x1=(x) x2=(x + width) y1=(y + height / 2.0) y2=(y + height / 2.0) stroke-width=(height) pointer-events="none" {}
            } @else {
                line class={ "cut t" (fill.1) } x1=(x + width / 2.0) x2=(x + width / 2.0) y1=(y) y2=(y + height) stroke-width=(width) pointer-events="none" {}
            }
        }
    }
}

/// Parts of a whole beside each other, each with what it is; `label` says it all for who does not see it.
pub fn stack(parts: &[(Fill, f64, String)], label: &str) -> Markup {
    let whole: f64 = parts.iter().map(|it| it.1.max(0.0)).sum();
    let mut at = 0.0;
    let mut pieces = Vec::new();
    for (fill, part, title) in parts.iter().filter(|it| it.1 > 0.0) {
        let wide = part / whole.max(f64::MIN_POSITIVE) * 200.0;
        pieces.push((*fill, at, wide, title));
        at += wide;
    }
    html! {
        svg.stack viewBox="0 0 200 12" preserveAspectRatio="none" role="img" aria-label=(label) {
            rect.track width="200" height="12" {}
            // A gap between two, so that they are two.
            @for (fill, at, wide, title) in pieces { (piece(fill, [at, 0.0, (wide - 0.8).max(0.6), 12.0], title)) }
        }
    }
}

/// What a legend explains.
pub enum LegendKey {
    Piece(Fill),
    /// Classes of a line.
    Course(&'static str),
    Mark(&'static str),
}

pub fn legend<T: AsRef<str>>(keys: &[(LegendKey, T)]) -> Markup {
    html! {
        div.legend {
            @for (key, text) in keys {
                span {
                    @match key {
                        LegendKey::Piece(fill) => svg.key viewBox="0 0 10 10" aria-hidden="true" { (piece(*fill, [0.0, 0.0, 10.0, 10.0], "")) },
                        LegendKey::Course(class) => svg.key.wide viewBox="0 0 22 10" aria-hidden="true" { line class=(class) x1="0" y1="5" x2="22" y2="5" {} },
                        LegendKey::Mark(name) => (mark(name)),
                    }
                    (text.as_ref())
                }
            }
        }
    }
}

/// A shape for a state: of the tasks of a batch, and `now` and `pending`.
pub fn mark(state: &str) -> Markup {
    const RING: &str = "M8 2a6 6 0 1 0 .01 0z";
    let (open, filled) = match state {
        "verified" | "right" => ("M2 9l4 4 8-10", ""),
        "draft" => (RING, "M8 2a6 6 0 1 0 0 12z"),
        "needs_selection" | "abstained" => ("", "M8 1l7 7-7 7-7-7z"),
        "non_recipeable" => ("M8 2a6 6 0 1 0 .01 0zM5 8h6", ""),
        "failed" | "wrong" => ("M3 3l10 10M13 3L3 13", ""),
        "now" => ("", "M4 2l10 6-10 6z"),
        _ => (RING, ""),
    };
    html! {
        svg class={ "mark m-" (state) } viewBox="0 0 16 16" aria-hidden="true" {
            @if !filled.is_empty() { path d=(filled) {} }
            @if !open.is_empty() { path.open d=(open) {} }
        }
    }
}

/// One decimal is enough for a screen.
pub fn round_tenth(it: f64) -> f64 {
    (it * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_a_few_marks() {
        for span in [0, 1, 900, 12_000, 70_000, 3_000_000, 80_000_000] {
            let all: Vec<i64> = times(span).collect();
            assert!(
                (1..=11).contains(&all.len()) && all.iter().all(|it| *it <= span),
                "{span}: {all:?}"
            );
        }
    }

    #[test]
    fn a_scale_says_where_a_value_lies() {
        let it = Scale { from: 1000.0, to: 2000.0, left: 40.0, right: 240.0 };
        let places = [1000.0, 1500.0, 2000.0].map(|at| it.x(at).to_string());
        assert_eq!(places, ["40", "140", "240"]);
        assert_eq!([1000.0, 1499.0, 1500.0, 2000.0].map(|at| it.part(at, 2)), [0, 0, 1, 1]);
        // Nothing took no time at all.
        let it = Scale { from: 5.0, to: 5.0, left: 0.0, right: 9.0 };
        assert_eq!((it.x(5.0), it.part(5.0, 4)), (0.0, 0));
    }

    #[test]
    fn many_pieces_differ() {
        let all: Vec<Fill> = (0..28).map(Fill::nth).collect();
        for (i, it) in all.iter().enumerate() {
            assert!(!all[..i].contains(it), "{it:?}");
        }
        assert_eq!(Fill::nth(28), Fill::nth(0));
    }

    #[test]
    fn states_have_shapes_of_their_own() {
        let all =
            ["verified", "draft", "needs_selection", "non_recipeable", "failed", "now", "pending"];
        let shapes: Vec<String> =
            all.iter().map(|it| mark(it).0.split_once('>').unwrap().1.to_owned()).collect();
        for (i, it) in shapes.iter().enumerate() {
            assert!(!shapes[..i].contains(it), "{}", all[i]);
        }
    }

    #[test]
    fn a_stack_is_as_wide_as_its_parts_and_points_to_nothing() {
        let parts = [
            (Fill("green", 0), 3.0, "<a>".to_owned()),
            (Fill("red", 1), 1.0, String::new()),
            (Fill("grey", 0), 0.0, String::new()),
        ];
        let text = stack(&parts, "3 and 1").0;
        assert!(text.contains(r#"class="green" x="0" y="0" width="149.2""#), "{text}");
        assert!(
            text.contains(r#"class="red" x="150" y="0" width="49.2""#) && text.contains("cut t1"),
            "{text}"
        );
        assert!(
            text.contains("&lt;a&gt;") && !text.contains("grey") && !text.contains("url("),
            "{text}"
        );
    }
}
