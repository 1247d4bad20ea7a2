//! Texts in which only a measure goes on: a countdown, a price, "seen 3 s ago". A number that names something is none: `Order 17` is
//! another order than `Order 18`.

use super::tree::{Item, ItemKind};

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Words(&'a str),
    /// Digits, with what stands between them.
    Number(&'a str),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let digit = |it: Option<char>| it.is_some_and(|it| it.is_ascii_digit());
    let mut out = Vec::new();
    let (mut begun, mut in_number) = (0, false);
    for (at, it) in text.char_indices() {
        let next = || text[at + it.len_utf8()..].chars().next();
        let number = it.is_ascii_digit() || in_number && ".,:'".contains(it) && digit(next());
        if number != in_number {
            if at > begun {
                let piece = &text[begun..at];
                out.push(if in_number { Piece::Number(piece) } else { Piece::Words(piece) });
            }
            (begun, in_number) = (at, number);
        }
    }
    if begun < text.len() {
        let piece = &text[begun..];
        out.push(if in_number { Piece::Number(piece) } else { Piece::Words(piece) });
    }
    out
}

/// The text with each number as `#`.
pub fn masked(text: &str) -> String {
    let of = |it: Piece<'_>| match it {
        Piece::Words(it) => it.to_owned(),
        Piece::Number(_) => "#".to_owned(),
    };
    pieces(text).into_iter().map(of).collect()
}

/// Whether both are the same text, but for measures in it.
pub fn same(was: &str, now: &str) -> bool {
    if was == now {
        return true;
    }
    let (a, b) = (pieces(was), pieces(now));
    if a.len() != b.len() {
        return false;
    }
    let words = |it: Option<&Piece>| match it {
        Some(Piece::Words(it)) => (*it).to_owned(),
        _ => String::new(),
    };
    a.iter().zip(&b).enumerate().all(|(i, pair)| match pair {
        (Piece::Words(a), Piece::Words(b)) => a == b,
        (Piece::Number(x), Piece::Number(y)) => {
            let before = words(i.checked_sub(1).and_then(|it| a.get(it)));
            let after = words(a.get(i + 1));
            x == y || [x, y].iter().all(|it| is_measure(&before, it, &after))
        }
        _ => false,
    })
}

/// Whether a number is how much or how long, by what stands beside it.
fn is_measure(before: &str, number: &str, after: &str) -> bool {
    // Unicode's currency signs, as far as they are in use.
    let currency = |it: char| matches!(it, '$' | '£' | '¤' | '¥' | '₠'..='⃀');
    let (left, right) = (before.trim_end(), after.trim_start());
    let (last, next) = (left.chars().next_back(), right.chars().next());
    if number.contains(':')
        || last.is_some_and(currency)
        || next.is_some_and(|it| currency(it) || "%‰°".contains(it))
    {
        return true;
    }
    let word = left.trim_end_matches('.');
    let word = word.rsplit(|it: char| !it.is_alphabetic()).next().unwrap_or_default();
    let names = word.chars().next().is_some_and(char::is_uppercase)
        || last.is_some_and(|it| "#№".contains(it));
    !names && next.is_some_and(char::is_alphabetic)
}

/// Whether an element is what it was, but for measures in its name and its row.
pub fn is_same(was: &Item, now: &Item) -> bool {
    let row = match (&was.row, &now.row) {
        (Some(was), Some(now)) => same(was, now),
        (was, now) => was == now,
    };
    was.role == now.role && was.form == now.form && row && same(&was.name, &now.name)
}

/// What tells elements apart where measures go on.
pub fn key(it: &Item) -> (&str, String, Option<String>, Option<&str>) {
    (&it.role, masked(&it.name), it.row.as_deref().map(masked), it.form.as_deref())
}

/// Whether no other element of the page is called so, but for numbers.
pub fn is_alone(it: &Item, items: &[Item]) -> bool {
    let own = key(it);
    items
        .iter()
        .filter(|it| it.what == ItemKind::Control && it.role == *own.0 && key(it) == own)
        .count()
        == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_goes_on_and_a_name_does_not() {
        for (was, now) in [
            ("Lamp - ends in 1:38", "Lamp - ends in 0:59"),
            ("Lamp € 301.00", "Lamp € 1,304.50"),
            ("Bid € 84", "Bid € 83"),
            ("Lamp 84 €", "Lamp 85 €"),
            ("Lamp seen 3 s ago", "Lamp seen 12 s ago"),
            ("84 watching", "85 watching"),
            ("CPU at 3%", "CPU at 97%"),
            ("Lamp", "Lamp"),
        ] {
            assert!(same(was, now), "{was} / {now}");
        }
        for (was, now) in [
            ("Order 17", "Order 18"),
            ("Order 17 shipped", "Order 18 shipped"),
            ("Lantern 1", "Lantern 20"),
            ("order #17 left", "order #18 left"),
            ("No. 17 left", "No. 18 left"),
            ("Section 1.2", "Section 1.3"),
            ("17", "18"),
            ("Room 12 at 9:00", "Room 13 at 9:00"),
            ("Lamp € 3", "Clock € 3"),
            ("Lamp 3 left", "Lamp gone"),
            ("", "3 left"),
        ] {
            assert!(!same(was, now), "{was} / {now}");
        }
        assert_eq!(masked("Lamp € 1,304.50, 3 left"), "Lamp € #, # left");
    }
}
