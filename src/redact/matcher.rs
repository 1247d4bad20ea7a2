//! Finds many known values in a text at once, also where their characters are escaped.

use std::{
    borrow::Borrow,
    collections::BTreeMap,
    ops::Bound::{Included, Unbounded},
};

use zeroize::Zeroizing;

use super::encode::{Layer, base64_cores, guises};

/// A bitmap over the first four bytes rejects nearly every position; an ordered map finds the longest pattern at the others,
/// however many begin alike.
pub struct Matcher {
    bitmap: Vec<u64>,
    patterns: BTreeMap<Secret, Pattern>,
    /// Not yet among the others: sorting them all at once is cheaper than finding each its place.
    waiting: Vec<(Secret, Pattern)>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Secret(SecretBytes);

type SecretBytes = Box<[u8]>;

#[derive(Clone, Copy)]
struct Pattern {
    known: usize,
    /// Found only between non-letters.
    bounded: bool,
    /// A part of its base64 form.
    core: bool,
}

pub struct Hit {
    pub from: usize,
    pub to: usize,
    pub known: usize,
    /// A part of its base64 form.
    pub core: bool,
}

const BITS: u32 = 20;
/// Percent-encoding in JSON in an attribute is 3.
const MAX_LAYERS: usize = 4;

impl Default for Matcher {
    fn default() -> Self {
        Self { bitmap: vec![0; 1 << (BITS - 6)], patterns: BTreeMap::new(), waiting: Vec::new() }
    }
}

impl Borrow<[u8]> for Secret {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }
}

impl Matcher {
    /// A value in every guise. Found from the next [`settle`](Self::settle) on.
    pub fn add(&mut self, known: usize, value: &str) {
        let bounded = value.len() < 10 || value.bytes().all(|b| b.is_ascii_digit());
        self.pattern(value, Pattern { known, bounded, core: false });
        if value.len() <= 4096 {
            for guise in guises(value).into_iter().map(Zeroizing::new) {
                self.pattern(&guise, Pattern { known, bounded, core: false });
            }
            for core in base64_cores(value).into_iter().map(Zeroizing::new) {
                self.pattern(&core, Pattern { known, bounded: false, core: true });
            }
        }
    }

    fn pattern(&mut self, text: &str, pattern: Pattern) {
        let Some(head) = text.as_bytes().first_chunk::<4>() else {
            return;
        };
        let slot = slot(*head);
        self.bitmap[slot >> 6] |= 1 << (slot & 63);
        self.waiting.push((Secret(text.as_bytes().into()), pattern));
    }

    /// Ends a row of additions. Of equal patterns the first stays.
    pub fn settle(&mut self) {
        if self.patterns.is_empty() {
            // The last of equals stays in a map that is made of a list.
            self.patterns = self.waiting.drain(..).rev().collect();
        } else {
            for (secret, pattern) in self.waiting.drain(..) {
                self.patterns.entry(secret).or_insert(pattern);
            }
        }
    }

    /// From left to right, the longest at each place, not overlapping.
    pub fn hits(&self, text: &str) -> Vec<Hit> {
        if self.patterns.is_empty() {
            return Vec::new();
        }
        debug_assert!(self.waiting.is_empty(), "not settled");
        let mut out = self.scan(text.as_bytes());
        let mut layer = Layer::of(text.as_bytes());
        for _ in 0..MAX_LAYERS {
            let Some(it) = layer else { break };
            out.extend(self.scan(&it.bytes).into_iter().map(|hit| Hit {
                from: it.at[hit.from],
                to: it.at[hit.to],
                ..hit
            }));
            layer = it.deeper();
        }
        if out.is_empty() {
            return out;
        }
        out.sort_by_key(|it| (it.from, std::cmp::Reverse(it.to)));
        let mut done = 0;
        out.retain(|it| {
            let whole = text.is_char_boundary(it.from) && text.is_char_boundary(it.to);
            let free = it.from >= done && whole;
            done = if free { it.to } else { done };
            free
        });
        out
    }

    /// Where they stand unescaped, from left to right.
    pub fn scan(&self, bytes: &[u8]) -> Vec<Hit> {
        let mut out = Vec::new();
        let mut i = 0;
        while i + 4 <= bytes.len() {
            let slot = slot([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
            if self.bitmap[slot >> 6] & (1 << (slot & 63)) == 0 {
                i += 1;
                continue;
            }
            match self.longest(bytes, i) {
                Some((len, it)) => {
                    out.push(Hit { from: i, to: i + len, known: it.known, core: it.core });
                    i += len;
                }
                None => i += 1,
            }
        }
        out
    }

    /// The longest pattern that stands at `at`.
    fn longest(&self, bytes: &[u8], at: usize) -> Option<(usize, Pattern)> {
        let mut text = &bytes[at..];
        loop {
            // Whatever begins the text is not after it in order; and if the last one that is not after it shares only
            // so much with the text, nothing longer does.
            let range = (Unbounded, Included(text));
            let (secret, pattern) = self.patterns.range::<[u8], _>(range).next_back()?;
            let shared = secret.0.iter().zip(text).take_while(|(a, b)| a == b).count();
            let whole = shared == secret.0.len();
            if whole && !(pattern.bounded && touches(bytes, at, at + shared)) {
                return Some((shared, *pattern));
            }
            text = &text[..if whole { shared - 1 } else { shared }];
            if text.len() < 4 {
                return None;
            }
        }
    }
}

fn touches(bytes: &[u8], from: usize, to: usize) -> bool {
    let word = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    (word(from.checked_sub(1).and_then(|it| bytes.get(it))) && bytes[from].is_ascii_alphanumeric())
        || (word(bytes.get(to)) && bytes[to - 1].is_ascii_alphanumeric())
}

fn slot(head: [u8; 4]) -> usize {
    (u32::from_le_bytes(head).wrapping_mul(0x9E37_79B1) >> (32 - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_those_that_begin_alike() {
        let mut it = Matcher::default();
        for (i, value) in
            ["abcdefghij", "abcdefghijkl", "abcdefghijxx-yy", "abcd"].iter().enumerate()
        {
            it.add(i, value);
        }
        it.settle();
        for (text, expected) in [
            ("abcdefghijkl", vec![1]),
            ("abcdefghijkm abcdefghijxx-yy", vec![0, 2]),
            ("abcdefghi", vec![]),
            ("abcd abcdx abcdefghijxx-y", vec![3, 0]),
        ] {
            let found: Vec<usize> = it.hits(text).iter().map(|it| it.known).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn of_equal_patterns_the_first_stays() {
        let mut it = Matcher::default();
        for (i, value) in ["abc+defghij", "abc defghij"].iter().enumerate() {
            it.add(i, value);
        }
        it.settle();
        it.add(2, "abc+defghij");
        it.settle();
        let found: Vec<usize> =
            it.hits("abc+defghij; abc defghij").iter().map(|it| it.known).collect();
        assert_eq!(found, [0, 0]);
    }

    #[test]
    fn thousands_that_begin_alike_cost_no_more() {
        let mut it = Matcher::default();
        let value = |i: usize| {
            format!("eyJhbGciOiJIUzI1NiJ9.{:016x}", i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        };
        for i in 0..5_000 {
            it.add(i, &value(i));
        }
        it.settle();
        // Each was compared with every other once: 10^9 comparisons here.
        let text: String = (0..20_000).map(|i| value(i) + " ").collect();
        assert_eq!(it.hits(&text).len(), 5_000);
    }
}
