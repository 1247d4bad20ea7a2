//! Finds many known values in a text at once, also where their characters are escaped.

use std::cmp::Ordering;

use zeroize::Zeroizing;

use super::encode::{Layer, each_base64_core, each_guise};

/// A bitmap over the first bytes rejects nearly every position; in an ordered list the longest pattern is found at the others,
/// however many begin alike.
pub struct Matcher {
    /// Two bits for each pattern: one for its first four bytes, one for the four after its second.
    bitmap: Vec<u64>,
    /// Some pattern has fewer than six bytes.
    has_short: bool,
    /// In the order of their bytes, no two equal.
    patterns: Vec<Pattern>,
    /// The same for those that came after the first [`settle`](Self::settle); merged into the others from time to time.
    late: Vec<Pattern>,
    waiting: Vec<Pattern>,
    text: Arena,
}

#[derive(Clone, Copy)]
struct Pattern {
    /// Its first eight bytes as a number, which is compared before the rest.
    head: u64,
    chunk: u32,
    from: u32,
    len: u32,
    known: u32,
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
const MAX_LATE: usize = 1024;

impl Default for Matcher {
    fn default() -> Self {
        Self {
            bitmap: vec![0; 1 << (BITS - 6)],
            has_short: false,
            patterns: Vec::new(),
            late: Vec::new(),
            waiting: Vec::new(),
            text: Arena::default(),
        }
    }
}

/// The bytes of all patterns. No chunk grows beyond what it was made for, which would leave a copy behind.
#[derive(Default)]
struct Arena(Vec<Zeroizing<Vec<u8>>>);

impl Arena {
    /// Where the bytes stand now: chunk and place in it.
    fn keep(&mut self, bytes: &[u8]) -> (u32, u32) {
        if self.0.last().is_none_or(|it| it.capacity() - it.len() < bytes.len()) {
            let room = 1024_usize << self.0.len().min(8);
            self.0.push(Zeroizing::new(Vec::with_capacity(room.max(bytes.len()))));
        }
        let at = self.0.len() - 1;
        let from = self.0[at].len();
        self.0[at].extend_from_slice(bytes);
        (at as u32, from as u32)
    }

    fn bytes(&self, it: &Pattern) -> &[u8] {
        &self.0[it.chunk as usize][it.from as usize..][..it.len as usize]
    }

    /// Puts those of `from` among those of `list`. Of equal ones the first stays, and those of `list` before those of `from`.
    fn merge(&self, list: &mut Vec<Pattern>, from: &mut Vec<Pattern>) {
        list.append(from);
        list.sort_by(|a, b| self.order(a, b));
        list.dedup_by(|b, a| self.order(a, b).is_eq());
    }

    fn order(&self, a: &Pattern, b: &Pattern) -> Ordering {
        a.head.cmp(&b.head).then_with(|| self.bytes(a).cmp(self.bytes(b)))
    }

    /// The longest of an ordered list that stands in `bytes` at `at`.
    fn longest(&self, list: &[Pattern], bytes: &[u8], at: usize) -> Option<Pattern> {
        let mut text = &bytes[at..];
        let mut list = list;
        loop {
            // Whatever begins the text is not after it in order; and if the last one that is not after it shares only
            // so much with the text, nothing longer does.
            let first = head(text);
            let end = list.partition_point(|it| {
                it.head.cmp(&first).then_with(|| self.bytes(it).cmp(text)).is_le()
            });
            list = &list[..end];
            let pattern = list.last()?;
            let shared = self.bytes(pattern).iter().zip(text).take_while(|(a, b)| a == b).count();
            let whole = shared == pattern.len as usize;
            if whole && !(pattern.bounded && touches(bytes, at, at + shared)) {
                return Some(*pattern);
            }
            text = &text[..if whole { shared - 1 } else { shared }];
            if text.len() < 4 {
                return None;
            }
        }
    }
}

impl Matcher {
    /// A value in every guise. Found from the next [`settle`](Self::settle) on.
    pub fn add(&mut self, known: usize, value: &str) {
        let bounded = value.len() < 10 || value.bytes().all(|b| b.is_ascii_digit());
        self.pattern(value.as_bytes(), known, bounded, false);
        if value.len() <= 4096 {
            each_guise(value, |it| self.pattern(it, known, bounded, false));
            each_base64_core(value, |it| self.pattern(it, known, false, true));
        }
    }

    fn pattern(&mut self, text: &[u8], known: usize, bounded: bool, core: bool) {
        let Some(four) = text.first_chunk::<4>() else {
            return;
        };
        self.mark(slot(*four));
        match text.get(2..).and_then(<[u8]>::first_chunk::<4>) {
            Some(next) => self.mark(next_slot(*next)),
            None => self.has_short = true,
        }
        let (chunk, from) = self.text.keep(text);
        let (len, known) = (text.len() as u32, known as u32);
        self.waiting.push(Pattern { head: head(text), chunk, from, len, known, bounded, core });
    }

    fn mark(&mut self, slot: usize) {
        self.bitmap[slot >> 6] |= 1 << (slot & 63);
    }

    fn is_marked(&self, slot: usize) -> bool {
        self.bitmap[slot >> 6] >> (slot & 63) & 1 == 1
    }

    /// Ends a row of additions. Of equal patterns the first stays.
    pub fn settle(&mut self) {
        let Self { text, patterns, late, waiting, .. } = self;
        if patterns.is_empty() {
            text.merge(patterns, waiting);
            return;
        }
        for it in waiting.drain(..) {
            let place = |list: &[Pattern]| list.binary_search_by(|that| text.order(that, &it));
            if let (Err(_), Err(at)) = (place(patterns), place(late)) {
                late.insert(at, it);
            }
        }
        if late.len() > MAX_LATE {
            text.merge(patterns, late);
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
        while let Some(four) = bytes.get(i..).and_then(<[u8]>::first_chunk::<4>) {
            let found = if self.is_marked(slot(*four)) { self.longest(bytes, i) } else { None };
            if let Some(it) = found {
                let (to, known) = (i + it.len as usize, it.known as usize);
                out.push(Hit { from: i, to, known, core: it.core });
                i = to;
            } else {
                i += 1;
            }
        }
        out
    }

    /// The longest pattern that stands at `at`.
    fn longest(&self, bytes: &[u8], at: usize) -> Option<Pattern> {
        let next = bytes.get(at + 2..).and_then(<[u8]>::first_chunk::<4>);
        if !self.has_short && next.is_none_or(|it| !self.is_marked(next_slot(*it))) {
            return None;
        }
        let [first, late] = [&self.patterns, &self.late].map(|it| self.text.longest(it, bytes, at));
        first.into_iter().chain(late).max_by_key(|it| it.len)
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

/// Of the four bytes after the second.
fn next_slot(bytes: [u8; 4]) -> usize {
    slot(bytes.map(|it| !it))
}

/// The first eight bytes, in whose order texts are; zeros where there are fewer.
fn head(text: &[u8]) -> u64 {
    if let Some(it) = text.first_chunk::<8>() {
        return u64::from_be_bytes(*it);
    }
    let mut first = [0; 8];
    first[..text.len()].copy_from_slice(text);
    u64::from_be_bytes(first)
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
