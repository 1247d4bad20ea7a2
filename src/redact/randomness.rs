//! Whether a text reads like words, or like what nobody wrote by hand.

/// Two thirds of its letters are in words that stand by themselves.
pub fn reads(value: &str) -> bool {
    let (mut words, mut all) = (0, 0);
    for piece in value.split(|c: char| !c.is_alphanumeric()) {
        let letters = piece.chars().filter(|c| c.is_alphabetic()).count();
        all += letters;
        let word = piece.trim_end_matches(|c: char| c.is_ascii_digit());
        if piece.len() - word.len() <= 4 && word.chars().count() == letters && natural(word) {
            words += letters;
        }
    }
    all * 4 >= value.len() && words * 3 >= all * 2
}

/// Does not read like words: letters and digits alternate, or consonants pile up.
pub fn erratic(value: &str) -> bool {
    if value.contains(char::is_whitespace) || is_timestamp(value) || is_host(value) {
        return false;
    }
    if is_hex(value) && value.len() >= 16 || is_uuid(value) {
        return true;
    }
    let parts = PartCounts::count(value);
    (parts.letters > 0 && parts.digits > 0 && parts.mean() < 4.0 && parts.longest_word < 9)
        || unpronounceable(value)
}

/// A run of letters and digits that no one wrote by hand.
pub fn random(run: &str) -> bool {
    let parts = PartCounts::count(run);
    let mixed = parts.digits > 0 && parts.letters > 0 || parts.upper > 1 && parts.lower > 1;
    // The longer a run, the longer the words that chance puts into it.
    let longest = if run.len() < 32 || parts.separators > 0 { 10 } else { run.len() / 3 };
    mixed
        && (parts.mean() < 3.0 && parts.longest_word < longest || strange(run))
        && (parts.separators * 6 <= run.len())
        && parts.letters * 5 >= run.len()
        && !sequence(run)
}

/// Digits in three places and more of a long run without separators: hardly words with their numbers.
pub fn is_scattered(value: &str) -> bool {
    let digit = u8::is_ascii_digit;
    let groups = value.as_bytes().chunk_by(|a, b| digit(a) == digit(b)).filter(|it| digit(&it[0]));
    value.len() >= 24
        && value.bytes().all(|b| b.is_ascii_alphanumeric())
        && value.bytes().any(|b| b.is_ascii_alphabetic())
        && groups.count() >= 3
}

/// Words, possibly joined by separators or camel case; numbers among them are fine.
pub fn natural(value: &str) -> bool {
    let parts = PartCounts::count(value);
    if parts.letters == 0 || unpronounceable(value) || strange(value) || alphabetical(value) {
        return false;
    }
    if parts.digits == 0 && parts.symbols == 0 {
        return parts.mean() >= 3.0 || value.len() < 6;
    }
    // `spring-sale-2024`: words that are separated from their numbers.
    parts.symbols == 0
        && value.split(|c: char| "-_ .:/+#,".contains(c)).filter(|it| !it.is_empty()).all(|it| {
            it.bytes().all(|b| b.is_ascii_digit()) && it.len() <= 8
                || it.chars().all(char::is_alphabetic)
        })
        && parts.mean() >= 3.0
}

/// Shannon entropy in bits a byte.
pub fn bits(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for b in text.bytes() {
        counts[usize::from(b)] += 1;
    }
    let n = text.len() as f64;
    counts.iter().filter(|it| **it > 0).map(|it| f64::from(*it) / n).map(|p| -p * p.log2()).sum()
}

pub fn is_uuid(value: &str) -> bool {
    let b = value.as_bytes();
    b.len() == 36
        && b.iter().enumerate().all(|(i, b)| {
            if matches!(i, 8 | 13 | 18 | 23) { *b == b'-' } else { b.is_ascii_hexdigit() }
        })
}

/// Hexadecimal as hashes are written: in one case.
pub fn is_hex(value: &str) -> bool {
    value.len() >= 8
        && value.bytes().all(|b| b.is_ascii_hexdigit())
        && !(value.bytes().any(|b| b.is_ascii_lowercase())
            && value.bytes().any(|b| b.is_ascii_uppercase()))
}

pub fn is_timestamp(value: &str) -> bool {
    let b = value.as_bytes();
    b.len() >= 8
        && b[..4].iter().all(u8::is_ascii_digit)
        && value.bytes().all(|b| b.is_ascii_digit() || b"-:./TZ+ ".contains(&b))
}

/// A dotted name with a plausible end, port allowed.
pub fn is_host(value: &str) -> bool {
    let (name, port) = value.split_once([':', '/']).unwrap_or((value, ""));
    if !value[name.len()..].starts_with('/') && !port.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let Some((front, end)) = name.rsplit_once('.') else {
        return false;
    };
    !front.is_empty()
        && name.len() <= 253
        && (2..=18).contains(&end.len())
        && end.bytes().all(|b| b.is_ascii_alphabetic())
        && (end.bytes().all(|b| b.is_ascii_lowercase()))
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
        && front.split('.').all(|it| it.len() < 20 || !(random(it) || it.len() == 24 && is_hex(it)))
}

/// Five consonants in a row, or hardly a vowel: no language does that. Latin letters only.
fn unpronounceable(value: &str) -> bool {
    let (mut run, mut worst, mut vowels, mut letters) = (0, 0, 0, 0);
    for c in value.chars() {
        if c.is_ascii_alphabetic() {
            letters += 1;
            if "aeiouyAEIOUY".contains(c) {
                vowels += 1;
                run = 0;
            } else {
                run += 1;
                worst = worst.max(run);
            }
        } else {
            if !c.is_ascii() {
                return false;
            }
            run = 0;
        }
    }
    letters >= 8 && (worst >= 6 || vowels * 7 < letters)
}

/// Made up of letters in the order of the alphabet, as placeholders for keys are: `abcdefg`.
fn alphabetical(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let letters: Vec<u8> = lower.bytes().filter(u8::is_ascii_lowercase).collect();
    let next = letters.windows(2).filter(|it| it[1] == it[0] + 1).count();
    letters.len() >= 7 && next * 4 >= letters.len() * 3
}

/// Too many neighbours among its letters that words hardly have: `xq`, `jv`. Of 16 random letters three in five are told,
/// and one in a thousand of words put together. A capital after a small letter begins a word.
fn strange(value: &str) -> bool {
    let (mut rare, mut all) = (0, 0);
    for pair in value.as_bytes().windows(2) {
        if !pair.iter().all(u8::is_ascii_alphabetic)
            || (pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        {
            continue;
        }
        let [a, b] = [pair[0], pair[1]].map(|it| it.to_ascii_lowercase() - b'a');
        all += 1;
        rare += usize::from(NEIGHBOURS[usize::from(a)] >> b & 1 == 0);
    }
    all >= 10 && rare >= 4 && rare * 20 >= all * 7
}

/// The alphabet or the digits in order: a table, not a value.
fn sequence(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    lower.contains("abcdefghijkl") || (lower.contains("0123456789") && lower.contains("abcdef"))
}

/// Counts over the parts of a value: `[A-Z]?[a-z]+`, `[A-Z]+`, `[0-9]+`.
pub struct PartCounts {
    letters: usize,
    pub upper: usize,
    lower: usize,
    digits: usize,
    separators: usize,
    symbols: usize,
    count: usize,
    pub longest_word: usize,
}

impl PartCounts {
    pub fn count(value: &str) -> Self {
        let mut it = Self {
            letters: 0,
            upper: 0,
            lower: 0,
            digits: 0,
            separators: 0,
            symbols: 0,
            count: 0,
            longest_word: 0,
        };
        let (mut last, mut len) = (' ', 0);
        for c in value.chars() {
            let kind = match c {
                '0'..='9' => '0',
                _ if c.is_uppercase() => 'A',
                _ if c.is_alphabetic() => 'a',
                '-' | '_' | '.' | ':' | '/' | '+' | '=' | '#' | ',' | ' ' | '~' => '-',
                _ => '!',
            };
            match kind {
                '0' => it.digits += 1,
                'A' => (it.letters, it.upper) = (it.letters + 1, it.upper + 1),
                'a' => (it.letters, it.lower) = (it.letters + 1, it.lower + 1),
                '-' => it.separators += 1,
                _ => it.symbols += 1,
            }
            if kind == last || (kind == 'a' && last == 'A' && len == 1) {
                len += 1;
            } else {
                len = 1;
                it.count += usize::from(matches!(kind, '0' | 'a' | 'A'));
            }
            if kind == 'a' {
                it.longest_word = it.longest_word.max(len);
            }
            last = kind;
        }
        it
    }

    pub fn mean(&self) -> f64 {
        (self.letters + self.digits) as f64 / self.count.max(1) as f64
    }
}

/// For each letter, as bits, the letters that follow it in words: more than once in 4,000 pairs, over the 17,000 words that
/// occur in two or more of 1,200 documents about software.
pub const NEIGHBOURS: [u32; 26] = [
    0x03fe_ffff,
    0x011e_591d,
    0x013e_ddbd,
    0x011e_f9ff,
    0x03ff_fdff,
    0x011e_5939,
    0x001e_79d5,
    0x011e_7911,
    0x02be_fe7f,
    0x0014_411d,
    0x011e_6991,
    0x013e_fd7f,
    0x0114_dd1f,
    0x033e_edff,
    0x01fe_ffff,
    0x011e_e9fd,
    0x0018_0000,
    0x017e_fdff,
    0x037e_fdff,
    0x03de_fdff,
    0x020e_fd7f,
    0x0004_4111,
    0x0006_6995,
    0x0008_8115,
    0x001c_f915,
    0x0000_4111,
];
