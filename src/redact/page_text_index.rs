//! What the final page showed, indexed once, so that asking whether it shows a leaf costs a look-up.
//!
//! Text is compared as a sequence of lower-case words (letters and digits; each ideograph is a word of its own), which
//! ignores whitespace, punctuation and markup between them and never matches inside a word.

use std::collections::{BTreeMap, BTreeSet};

use commis_recipe::blocks::Block;

/// Words of the final page and of the final answer.
pub struct VisibleWords {
    words: Vec<u64>,
    at: BTreeMap<u64, Vec<u32>>,
    /// The distinct words that coverage is measured over, sorted.
    wanted: Vec<u64>,
    filter: Vec<u64>,
    /// By hash of a text that tells an item of the page's blocks apart: which items of which block have it.
    items: BTreeMap<u64, Vec<(u32, u32)>>,
    blocks: usize,
}

/// A text that so many items of a block have does not tell them apart.
const MAX_SHARED: usize = 2;
/// Coverage is measured over so many of the rarest words.
const WANTED: usize = 512;
/// Text beyond this is not indexed.
const MAX_WORDS: usize = 200_000;

impl VisibleWords {
    pub fn new(texts: &[&str]) -> Self {
        let mut words = Vec::new();
        let mut long = BTreeMap::<u64, (u32, usize)>::new();
        for text in texts {
            each_word(text, |word, chars| {
                if words.len() < MAX_WORDS {
                    words.push(word);
                    if chars >= 3 {
                        long.entry(word).or_insert((0, chars)).0 += 1;
                    }
                }
            });
            // No phrase goes from one text into the next.
            words.push(0);
        }
        // `1,234` is also 1234.
        for text in texts {
            for run in text.split(|c: char| {
                !(c.is_ascii_digit() || c == ',' || c == '.' || c == '\u{202f}' || c == '\u{a0}')
            }) {
                let groups: Vec<&str> = run.split(|c: char| !c.is_ascii_digit()).collect();
                if groups.len() > 1
                    && (1..=3).contains(&groups[0].len())
                    && groups[1..].iter().all(|it| it.len() == 3)
                    && words.len() < MAX_WORDS
                {
                    each_word(&groups.concat(), |word, _| words.push(word));
                    words.push(0);
                }
            }
        }
        let mut at = BTreeMap::<u64, Vec<u32>>::new();
        let mut filter = vec![0_u64; 1024];
        for (i, word) in words.iter().enumerate() {
            at.entry(*word).or_default().push(i as u32);
            filter[(*word >> 6) as usize & 1023] |= 1 << (*word & 63);
        }
        let mut ranked: Vec<(u32, std::cmp::Reverse<usize>, u64)> = long
            .into_iter()
            .map(|(word, (n, chars))| (n, std::cmp::Reverse(chars), word))
            .collect();
        ranked.sort_unstable();
        let mut wanted: Vec<u64> = ranked.into_iter().take(WANTED).map(|it| it.2).collect();
        wanted.sort_unstable();
        Self { words, at, wanted, filter, items: BTreeMap::new(), blocks: 0 }
    }

    /// The same with the blocks that the page showed, so that answers can be asked how many of their items they hold.
    pub fn with_blocks(mut self, blocks: &[Block]) -> Self {
        self.blocks = blocks.len();
        for (i, block) in blocks.iter().enumerate() {
            let mut texts: BTreeMap<u64, Vec<(u32, u32)>> = BTreeMap::new();
            for (n, row) in block.rows.iter().enumerate() {
                for (at, cell) in row.iter().enumerate() {
                    let Some(cell) = cell.as_ref().filter(|it| it.chars().nth(2).is_some()) else {
                        continue;
                    };
                    // Of a record, each value counts.
                    let n = if block.is_record { at } else { n };
                    texts.entry(hash_of(cell)).or_default().push((i as u32, n as u32));
                }
            }
            for (text, places) in texts.into_iter().filter(|it| it.1.len() <= MAX_SHARED) {
                self.items.entry(text).or_default().extend(places);
            }
        }
        self
    }

    /// How many items of each block these texts (as [`hash_of`] gives them) hold.
    pub fn count_items(&self, texts: impl Iterator<Item = u64>) -> Vec<u32> {
        if self.items.is_empty() {
            return Vec::new();
        }
        let found: BTreeSet<(u32, u32)> =
            texts.filter_map(|it| self.items.get(&it)).flatten().copied().collect();
        let mut out = vec![0; self.blocks];
        for (block, _) in found {
            out[block as usize] += 1;
        }
        out
    }

    fn maybe(&self, word: u64) -> bool {
        self.filter[(word >> 6) as usize & 1023] & (1 << (word & 63)) != 0
    }

    /// Whether these words occur in this order.
    pub fn holds(&self, leaf: &[u64]) -> bool {
        if leaf.is_empty() || !leaf.iter().all(|it| self.maybe(*it)) {
            return false;
        }
        // The rarest of the first words leads.
        let mut best: Option<(usize, &Vec<u32>)> = None;
        for (i, word) in leaf.iter().take(6).enumerate() {
            let Some(list) = self.at.get(word) else {
                return false;
            };
            if best.is_none_or(|it| list.len() < it.1.len()) {
                best = Some((i, list));
            }
        }
        best.is_some_and(|(offset, list)| {
            // A page of one word a million times is not worth more than this.
            list.iter().take(2048).any(|at| {
                (*at as usize)
                    .checked_sub(offset)
                    .is_some_and(|from| self.words[from..].starts_with(leaf))
            })
        })
    }

    /// Position of a word in the coverage list.
    pub fn coverage_index(&self, word: u64) -> Option<usize> {
        if self.maybe(word) { self.wanted.binary_search(&word).ok() } else { None }
    }

    pub fn wanted_len(&self) -> usize {
        self.wanted.len()
    }
}

/// Hashes of the words of a text and how many characters each has.
pub fn each_word(text: &str, mut word: impl FnMut(u64, usize)) {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    let (mut hash, mut chars) = (START, 0);
    let step = |hash: u64, c: u32| (hash ^ u64::from(c)).wrapping_mul(0x0100_0000_01b3);
    // The low bits of FNV are weak; zero separates texts.
    let finish = |hash: u64| (hash ^ (hash >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15).max(1);
    for c in text.chars() {
        if c.is_ascii() {
            if c.is_ascii_alphanumeric() {
                hash = step(hash, u32::from(c.to_ascii_lowercase() as u8));
                chars += 1;
                continue;
            }
        } else if is_ideograph(c) {
            if chars > 0 {
                word(finish(hash), chars);
            }
            word(finish(step(START, c as u32)), 3);
            (hash, chars) = (START, 0);
            continue;
        } else if c.is_alphanumeric() {
            for low in c.to_lowercase() {
                hash = step(hash, low as u32);
            }
            chars += 1;
            continue;
        }
        if chars > 0 {
            word(finish(hash), chars);
            (hash, chars) = (START, 0);
        }
    }
    if chars > 0 {
        word(finish(hash), chars);
    }
}

/// One text by its words.
pub fn hash_of(text: &str) -> u64 {
    let mut hash = START_OF_TEXT;
    each_word(text, |word, _| hash = joined(hash, word));
    hash
}

pub const START_OF_TEXT: u64 = 17;

pub fn joined(hash: u64, word: u64) -> u64 {
    hash.rotate_left(5).wrapping_mul(31) ^ word
}

pub fn words_of(text: &str) -> Vec<u64> {
    let mut out = Vec::new();
    each_word(text, |word, _| out.push(word));
    out
}

/// Scripts that are written without spaces.
fn is_ideograph(c: char) -> bool {
    matches!(c as u32, 0x2E80..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF | 0x0E00..=0x0E7F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_on_the_page() {
        let it = VisibleWords::new(&[
            "Rust  1.90 released\nby The Team — 1,234 points. 日本語の本",
            "answer: 42",
        ]);
        for (seen, leaf) in [
            (true, "rust 1.90 RELEASED"),
            (true, "The Team"),
            (true, "1234"),
            (true, "points"),
            (true, "日本"),
            (false, "Rus"),
            (false, "team released"),
            (false, "本 answer"),
            (false, ""),
        ] {
            assert_eq!(it.holds(&words_of(leaf)), seen, "{leaf}");
        }
    }
}
