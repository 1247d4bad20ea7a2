//! Takes a word apart into known ones.

use super::step_counter;

/// A word as a row of known ones, the longest first; `None` if it is not.
pub fn pieces<'a>(word: &'a str, known: &dyn Fn(&str) -> bool) -> Option<Vec<&'a str>> {
    if word.len() > 48 {
        return None;
    }
    let (mut out, mut dead) = (Vec::new(), 0);
    row(word, 0, known, &mut dead, &mut out).then_some(out)
}

/// `dead` has a bit for each place from which no row leads to the end.
fn row<'a>(
    word: &'a str,
    from: usize,
    known: &dyn Fn(&str) -> bool,
    dead: &mut u64,
    out: &mut Vec<&'a str>,
) -> bool {
    if from == word.len() {
        return true;
    }
    if *dead >> from & 1 == 1 {
        return false;
    }
    for end in (from + 2..=word.len()).rev().filter(|it| word.is_char_boundary(*it)) {
        step_counter::record_bytes(1);
        if known(&word[from..end]) {
            out.push(&word[from..end]);
            if row(word, end, known, dead, out) {
                return true;
            }
            out.pop();
        }
    }
    *dead |= 1 << from;
    false
}
