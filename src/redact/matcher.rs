//! Finds many known values in a text at once, also where their characters are escaped.

use std::cmp::Ordering;

use zeroize::Zeroizing;

use super::{
    encode::{DecodedLayer, each_base64_core, each_echo, each_guise},
    step_counter,
};

/// A bitmap over the first bytes rejects nearly every position; in ordered lists the longest pattern is found at the others,
/// however many begin alike, and however long they are: what shares [`LONG`] bytes with one is taken for it, so that no text is
/// compared over and over.
#[derive(Default)]
pub struct Matcher {
    /// Empty without patterns. Two bits for each pattern: one for its first four bytes, one for the four after its second.
    bitmap: Vec<u64>,
    /// Some pattern has fewer than six bytes.
    has_short: bool,
    /// Each in the order of its bytes, no two equal; each less than half as long as the one before.
    lists: Vec<Vec<Pattern>>,
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
    /// The longest other one in its list that it begins with.
    parent: u32,
    /// Found only between non-letters.
    bounded: bool,
    /// A part of its base64 form.
    core: bool,
}

pub struct SecretHit {
    pub from: usize,
    pub to: usize,
    pub known: usize,
    /// A part of its base64 form.
    pub core: bool,
}

const BITS: u32 = 20;
/// Percent-encoding in JSON in an attribute is 3.
const MAX_LAYERS: usize = 4;
/// So much of a long value is the value, cut off.
const LONG: usize = 128;
const NONE: u32 = u32::MAX;

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

    /// In order, without equal ones, of which the first stays; each with its parent.
    fn sort(&self, list: &mut Vec<Pattern>) {
        list.sort_by(|a, b| self.order(a, b));
        list.dedup_by(|b, a| self.order(a, b).is_eq());
        let mut open: Vec<u32> = Vec::new();
        for i in 0..list.len() {
            let bytes = self.bytes(&list[i]);
            while open.last().is_some_and(|it| !bytes.starts_with(self.bytes(&list[*it as usize])))
            {
                open.pop();
            }
            list[i].parent = open.last().copied().unwrap_or(NONE);
            open.push(i as u32);
        }
    }

    fn order(&self, a: &Pattern, b: &Pattern) -> Ordering {
        a.head.cmp(&b.head).then_with(|| self.bytes(a).cmp(self.bytes(b)))
    }

    /// The longest of an ordered list that stands in `bytes` at `at`, and how much of it does.
    fn longest(&self, list: &[Pattern], bytes: &[u8], at: usize) -> Option<(Pattern, usize)> {
        let text = &bytes[at..];
        let first = head(text);
        let end = list.partition_point(|it| {
            it.head.cmp(&first).then_with(|| self.bytes(it).cmp(text)).is_le()
        });
        // Whatever begins the text is the last one that is not after it in order, or that one begins with it.
        let shared = |it: &Pattern| shared(self.bytes(it), text);
        let before = end.checked_sub(1).map(|it| (list[it], shared(&list[it])));
        let after = list.get(end).map(|it| (*it, shared(it)));
        let mut whole = before;
        while let Some((it, len)) = whole {
            step_counter::record_bytes(1);
            if it.len as usize <= len && !(it.bounded && touches(bytes, at, at + it.len as usize)) {
                break;
            }
            whole = list.get(it.parent as usize).map(|it| (*it, len));
        }
        let whole = whole.map(|(it, _)| (it, it.len as usize));
        let cut = before.into_iter().chain(after).filter(|it| it.1 >= LONG).max_by_key(|it| it.1);
        whole.into_iter().chain(cut).reduce(|a, b| if b.1 > a.1 { b } else { a })
    }
}

/// How many bytes two texts begin with alike.
fn shared(a: &[u8], b: &[u8]) -> usize {
    let (a, b) = (&a[..a.len().min(b.len())], &b[..a.len().min(b.len())]);
    let (mut x, mut y) = (a.chunks_exact(32), b.chunks_exact(32));
    let alike = x.by_ref().zip(y.by_ref()).take_while(|it| it.0 == it.1).count() * 32;
    let more = a[alike..].iter().zip(&b[alike..]).take_while(|it| it.0 == it.1).count();
    step_counter::record_bytes(alike + more + 1);
    alike + more
}

impl Matcher {
    /// A value in every guise. Found from the next [`settle`](Self::settle) on.
    pub fn add(&mut self, known: usize, value: &str) {
        self.guises(known, value);
    }

    /// The same, and as it may be repeated by a debugger: of values that no one else's are by chance.
    pub fn add_echoes(&mut self, known: usize, value: &str) {
        self.guises(known, value);
        each_echo(value, |it| self.pattern(it, known, false, false));
    }

    fn guises(&mut self, known: usize, value: &str) {
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
        let head = head(text);
        self.waiting.push(Pattern { head, chunk, from, len, known, parent: NONE, bounded, core });
    }

    fn mark(&mut self, slot: usize) {
        if self.bitmap.is_empty() {
            self.bitmap = vec![0; 1 << (BITS - 6)];
        }
        self.bitmap[slot >> 6] |= 1 << (slot & 63);
    }

    fn is_marked(&self, slot: usize) -> bool {
        self.bitmap[slot >> 6] >> (slot & 63) & 1 == 1
    }

    /// Ends a row of additions. Of equal patterns the first stays.
    pub fn settle(&mut self) {
        let Self { text, lists, waiting, .. } = self;
        if waiting.is_empty() {
            return;
        }
        let mut new = std::mem::take(waiting);
        while let Some(mut last) = lists.pop_if(|it| it.len() <= 2 * new.len()) {
            last.append(&mut new);
            new = last;
        }
        text.sort(&mut new);
        lists.push(new);
    }

    /// From left to right, the longest at each place, not overlapping.
    pub fn hits(&self, text: &str) -> Vec<SecretHit> {
        if self.lists.is_empty() {
            return Vec::new();
        }
        debug_assert!(self.waiting.is_empty(), "not settled");
        let mut out = self.scan(text.as_bytes());
        let mut layer = DecodedLayer::decode(text.as_bytes());
        for _ in 0..MAX_LAYERS {
            let Some(it) = layer else { break };
            out.extend(self.scan(&it.bytes).into_iter().map(|hit| SecretHit {
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
    pub fn scan(&self, bytes: &[u8]) -> Vec<SecretHit> {
        let mut out = Vec::new();
        if self.bitmap.is_empty() {
            return out;
        }
        let mut i = 0;
        step_counter::record_bytes(bytes.len());
        while let Some(four) = bytes.get(i..).and_then(<[u8]>::first_chunk::<4>) {
            let found = if self.is_marked(slot(*four)) { self.longest(bytes, i) } else { None };
            if let Some((it, len)) = found {
                let (to, known) = (i + len, it.known as usize);
                out.push(SecretHit { from: i, to, known, core: it.core });
                i = to;
            } else {
                i += 1;
            }
        }
        out
    }

    /// The longest pattern that stands at `at`, and how much of it does.
    fn longest(&self, bytes: &[u8], at: usize) -> Option<(Pattern, usize)> {
        let next = bytes.get(at + 2..).and_then(<[u8]>::first_chunk::<4>);
        if !self.has_short && next.is_none_or(|it| !self.is_marked(next_slot(*it))) {
            return None;
        }
        let found = self.lists.iter().filter_map(|it| self.text.longest(it, bytes, at));
        let (it, mut len) = found.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
        // A part ends where a character does.
        while len < it.len as usize && bytes.get(at + len).is_some_and(|it| it & 0xc0 == 0x80) {
            len -= 1;
        }
        Some((it, len))
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
    fn a_long_value_that_is_cut_off_is_found() {
        let long = (0..60).map(|i| format!("q{i:03x}")).collect::<Vec<_>>().concat();
        let mut it = Matcher::default();
        it.add(0, &long);
        it.add(1, &long[..40]);
        it.settle();
        for (text, expected) in [
            (long.clone(), vec![(0, 240)]),
            (format!("{}é", &long[..200]), vec![(0, 200)]),
            (format!("{}-", &long[..100]), vec![(1, 40)]),
        ] {
            let found: Vec<_> = it.hits(&text).iter().map(|it| (it.known, it.to)).collect();
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
