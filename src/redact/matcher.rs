//! Finds many known values in a text at once.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use super::encode::{base64_cores, guises};

/// Many patterns at once: a bitmap over the first four bytes rejects nearly every position.
pub struct Matcher {
    bitmap: Vec<u64>,
    heads: BTreeMap<[u8; 4], Vec<Pattern>>,
}

struct Pattern {
    bytes: Zeroizing<Vec<u8>>,
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

impl Default for Matcher {
    fn default() -> Self {
        Self { bitmap: vec![0; 1 << (BITS - 6)], heads: BTreeMap::new() }
    }
}

impl Matcher {
    /// A value in every guise.
    pub fn add(&mut self, known: usize, value: &str) {
        let bounded = value.len() < 10 || value.bytes().all(|b| b.is_ascii_digit());
        self.pattern(known, value, bounded, false);
        if value.len() <= 4096 {
            for guise in guises(value) {
                self.pattern(known, &guise, bounded, false);
            }
            for core in base64_cores(value) {
                self.pattern(known, &core, false, true);
            }
        }
    }

    fn pattern(&mut self, known: usize, text: &str, bounded: bool, core: bool) {
        let Some(head) = text.as_bytes().first_chunk::<4>() else {
            return;
        };
        let slot = slot(*head);
        self.bitmap[slot >> 6] |= 1 << (slot & 63);
        let list = self.heads.entry(*head).or_default();
        if list.iter().any(|it| it.bytes.as_slice() == text.as_bytes()) {
            return;
        }
        // The longest first.
        let at = list.partition_point(|it| it.bytes.len() > text.len());
        list.insert(
            at,
            Pattern { bytes: Zeroizing::new(text.as_bytes().to_vec()), known, bounded, core },
        );
    }

    /// From left to right, the longest at each place, not overlapping.
    pub fn hits(&self, text: &str) -> Vec<Hit> {
        let bytes = text.as_bytes();
        let mut out = Vec::new();
        if self.heads.is_empty() {
            return out;
        }
        let mut i = 0;
        while i + 4 <= bytes.len() {
            let head = [bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]];
            let slot = slot(head);
            if self.bitmap[slot >> 6] & (1 << (slot & 63)) == 0 {
                i += 1;
                continue;
            }
            let hit = self.heads.get(&head).and_then(|list| {
                list.iter().find(|it| {
                    bytes[i..].starts_with(&it.bytes)
                        && !(it.bounded && touches(bytes, i, i + it.bytes.len()))
                        && text.is_char_boundary(i)
                })
            });
            match hit {
                Some(it) => {
                    let to = i + it.bytes.len();
                    out.push(Hit { from: i, to, known: it.known, core: it.core });
                    i = to;
                }
                None => i += 1,
            }
        }
        out
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
