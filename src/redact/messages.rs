//! What messages and pages tell people to type: codes that are good once, keys of authenticators, codes for when a device is lost,
//! passwords in a sentence. The words beside them say what they are ([`lexicon`](super::lexicon)), their form says which they are.

use super::{
    announced_secrets::{lists, phrases, seeds},
    dates::is_calendar_date,
    lexicon::{Sense, WordHit, senses},
    message_spans::{AsciiRun, MessageSecret, NEAR, touches},
    named_runs,
    randomness::{bits, erratic, is_hex, natural, random},
    step_counter,
};

/// Bytes before and after a code in which words about it stand.
const BEFORE: usize = 140;
const AFTER: usize = 70;

/// Bytes between the word for a password and one.
const FAR: usize = 90;
const MOST: usize = 256;

/// All of a text that people read; from left to right, not overlapping.
pub fn find(text: &str) -> Vec<MessageSecret> {
    step_counter::record_bytes(text.len());
    let runs = runs(text);
    let mut hits = Vec::new();
    // Words are looked for where something stands that they could speak of.
    let mut done = 0;
    let codes = candidates(text, &runs);
    for (from, to) in spots(text, &runs, &codes) {
        let (mut from, mut to) = (from.max(done), to.min(text.len()));
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        while !text.is_char_boundary(to) {
            to += 1;
        }
        if from < to {
            // A word that the edge cuts is none.
            let found = senses(&text[from..to]).into_iter();
            hits.extend(found.map(|it| WordHit { from: it.from + from, to: it.to + from, ..it }));
            done = to;
        }
    }
    let mut out = if hits.is_empty() { Vec::new() } else { find_by(text, &runs, &codes, &hits) };
    if text.contains(" #") && text.contains('@') {
        bound(text, &mut out);
    }
    let mut behind_words = Vec::new();
    named_runs::find(text, &runs, &mut behind_words);
    let is_free = |it: &MessageSecret, out: &[MessageSecret]| {
        out.iter().all(|other| other.to <= it.from || other.from >= it.to)
    };
    behind_words.retain(|it| is_free(it, &out));
    if !behind_words.is_empty() {
        out.append(&mut behind_words);
        out.sort();
    }
    out
}

/// The last line of a message for one site's form: `@shop.test #482913`.
fn bound(text: &str, out: &mut Vec<MessageSecret>) {
    for line in text.lines().filter(|it| it.starts_with('@') && it.len() <= 300) {
        let place = line.as_ptr() as usize - text.as_ptr() as usize;
        if let Some((host, code)) = line.split_once(" #")
            && host.contains('.')
            && !host.contains(' ')
        {
            let len = code.bytes().take_while(u8::is_ascii_alphanumeric).count();
            let from = place + host.len() + 2;
            if (4..=12).contains(&len)
                && out.iter().all(|it| it.to <= from || it.from >= from + len)
            {
                out.push(MessageSecret { from, to: from + len, name: "code" });
            }
        }
    }
    out.sort();
}

/// Parts of a text around what could be a secret, in order, not overlapping.
fn spots(text: &str, runs: &[AsciiRun], codes: &[CodeCandidate]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> =
        codes.iter().map(|it| (it.from.saturating_sub(BEFORE + 40), it.to + AFTER + 40)).collect();
    let mut add = |from: usize, to: usize, before: usize, after: usize| {
        all.push((from.saturating_sub(before), to + after));
    };
    let mut group = (0, 0);
    for it in runs {
        let len = it.to - it.from;
        if it.is_base32(text) && (it.digits > 0 || it.upper > 0 && !natural(it.text(text))) {
            add(it.from, it.to, NEAR, NEAR);
        }
        let in_base32 = |b: u8| b.is_ascii_alphabetic() || matches!(b, b'2'..=b'7');
        let is_key = it.hyphens > 0
            && (16..=80).contains(&len)
            && it.digits > 0
            && it.text(text).bytes().all(|b| in_base32(b) || b == b'-');
        if is_key {
            add(it.from, it.to, NEAR, NEAR);
        }
        if matches!(len, 4 | 8)
            && it.digits > 0
            && it.digits < 4
            && it.text(text).bytes().all(in_base32)
        {
            group = if it.from <= group.1 + 24 { (group.0 + 1, it.to) } else { (1, it.to) };
            if group.0 >= 2 {
                add(it.from, it.to, NEAR, NEAR);
            }
        }
        if it.digits > 0 && it.upper + it.lower > 0 && is_long_word(text, it) {
            add(it.from, it.to, FAR + 80, 8);
        }
    }
    // A list of codes: two of one form, not far from one another. It was announced before the first.
    let listed = |it: &&AsciiRun| {
        (4..=64).contains(&(it.to - it.from)) && it.digits > 0 && !is_calendar_date(it.text(text))
    };
    let mut last: Option<(&AsciiRun, bool)> = None;
    for it in runs.iter().filter(listed) {
        let alike = last.is_some_and(|(last, _)| {
            last.to - last.from == it.to - it.from
                && last.hyphens == it.hyphens
                && it.from - last.to < 200
        });
        if let Some((first, false)) = last
            && alike
        {
            add(first.from, it.to, NEAR, 0);
        }
        last = Some((it, alike));
    }
    if ["hrase", "mnemonic", "frase"].iter().any(|it| text.contains(it)) {
        all.push((0, text.len().min(64 * 1024)));
    }
    all.sort_unstable();
    let mut out: Vec<(usize, usize)> = Vec::new();
    for it in all {
        match out.last_mut() {
            Some(last) if it.0 <= last.1 => last.1 = last.1.max(it.1),
            _ => out.push(it),
        }
    }
    out
}

/// Whether the word around a run could be a password.
fn is_long_word(text: &str, it: &AsciiRun) -> bool {
    let bytes = text.as_bytes();
    let sign = |b: &u8| b.is_ascii_graphic();
    let before = bytes[..it.from].iter().rev().take(64).take_while(|b| sign(b)).count();
    let after = bytes[it.to..].iter().take(64).take_while(|b| sign(b)).count();
    let len = before + it.to - it.from + after;
    (6..=96).contains(&len) && looks_chosen(bare(&text[it.from - before..it.to + after]))
}

/// A word without what a sentence puts around it.
fn bare(word: &str) -> &str {
    let signs = ['"', '\'', '`', '(', ')', ',', ';', ':', '“', '”', '„', '«', '»', '<', '>'];
    let bare = word.trim_matches(signs);
    bare.strip_suffix('.').unwrap_or(bare)
}

/// Whether words about logging in, confirming or leaving stand in a text, or that nobody else may have it.
pub fn asks_to_follow(text: &str) -> bool {
    let hits = senses(text);
    let has = |sense: Sense| hits.iter().any(|it| it.sense == sense);
    has(Sense::Act) || has(Sense::Once) || has(Sense::Keep) || has(Sense::Yours) && has(Sense::Code)
}

/// Whether a text speaks of an authenticator.
pub fn is_about_seeds(text: &str) -> bool {
    senses(text).iter().any(|it| it.sense == Sense::Seed)
}

fn find_by(
    text: &str,
    runs: &[AsciiRun],
    candidates: &[CodeCandidate],
    hits: &[WordHit],
) -> Vec<MessageSecret> {
    let mut out = Vec::new();
    let has = |sense: Sense| hits.iter().any(|it| it.sense == sense);
    if has(Sense::Recovery) {
        lists(text, hits, &mut out);
    }
    if has(Sense::Seed) {
        seeds(text, runs, hits, &mut out);
    }
    if has(Sense::Phrase) {
        phrases(text, hits, &mut out);
    }
    if has(Sense::Password) {
        passwords(text, hits, &mut out);
    }
    if has(Sense::Once) || has(Sense::Code) || has(Sense::Use) || has(Sense::Keep) {
        codes(text, candidates, hits, &mut out);
    }
    out.sort();
    let mut done = 0;
    out.retain(|it| {
        let free = it.from >= done;
        done = if free { it.to } else { done };
        free
    });
    out.truncate(MOST);
    out
}

fn runs(text: &str) -> Vec<AsciiRun> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        if !bytes[i].is_ascii_alphanumeric() {
            i += 1;
            continue;
        }
        let mut it = AsciiRun { from: i, to: i, digits: 0, upper: 0, lower: 0, hyphens: 0 };
        while i < bytes.len() {
            match bytes[i] {
                b'0'..=b'9' => it.digits += 1,
                b'A'..=b'Z' => it.upper += 1,
                b'a'..=b'z' => it.lower += 1,
                b'-' if bytes.get(i + 1).is_some_and(u8::is_ascii_alphanumeric) => it.hyphens += 1,
                _ => break,
            }
            i += 1;
        }
        it.to = i;
        // Words of letters alone are of no interest unless they are long.
        if it.digits > 0 || it.upper >= 4 && it.lower == 0 || it.to - it.from >= 16 {
            out.push(it);
        }
    }
    out
}

/// A text that could be a code that is good once.
#[derive(Clone, Copy)]
struct CodeCandidate {
    from: usize,
    to: usize,
    /// How much has to speak for it.
    least: i32,
}

fn codes(text: &str, candidates: &[CodeCandidate], hits: &[WordHit], out: &mut Vec<MessageSecret>) {
    let mut first = 0;
    for (i, it) in candidates.iter().enumerate() {
        while first < hits.len() && hits[first].to + BEFORE < it.from {
            first += 1;
        }
        let near = hits[first..].iter().take_while(|hit| hit.to <= it.to + AFTER + 40);
        step_counter::record_bytes(near.clone().count());
        let before = i.checked_sub(1).map(|at| candidates[at].to);
        let after = candidates.get(i + 1).map(|it| it.from);
        if speaks_for(text, it, near, before, after) >= it.least {
            out.push(MessageSecret { from: it.from, to: it.to, name: "code" });
        }
    }
}

/// Whether a word stands right beside a named one, or is a part of it.
fn stands_beside(hit: &WordHit, (from, to): (usize, usize)) -> bool {
    hit.to <= from && from - hit.to <= 2
        || hit.from >= to && hit.from - to <= 2
        || hit.from == from && hit.to < to
        || hit.from > from && hit.to == to
}

/// What stands behind a code that is to be entered: "enter 482913 to continue".
const ON: &[&str] = &[
    " to ",
    " ein",
    " para ",
    " pour ",
    " per ",
    " om ",
    " for ",
    " att ",
    " чтобы",
    " для",
    "を",
    " 입력",
];

/// What the words around a candidate say for it.
fn speaks_for<'h>(
    text: &str,
    it: &CodeCandidate,
    near: impl Iterator<Item = &'h WordHit> + Clone,
    before: Option<usize>,
    after: Option<usize>,
) -> i32 {
    let alone = is_alone(text, it.from, it.to);
    let (mut once, mut code, mut proof, mut yours, mut uses, mut act) = (0, 0, 0, 0, 0, 0);
    let mut keeps = 0;
    let mut other = false;
    // Where the code is named, in the words before and after.
    let mut named: Vec<(usize, usize)> = Vec::new();
    let mut acts: Vec<(usize, usize)> = Vec::new();
    for hit in near.clone() {
        let ahead = hit.to <= it.from;
        let far = if ahead {
            it.from - hit.to > BEFORE
        } else {
            hit.from < it.to || hit.from - it.to > AFTER
        };
        if far {
            continue;
        }
        let gap = if ahead { &text[hit.to..it.from] } else { &text[it.to..hit.from] };
        // Another code is nearer to what was said.
        if ahead && before.is_some_and(|at| at > hit.to) && hit.sense != Sense::Act
            || !ahead && after.is_some_and(|at| at < hit.from)
        {
            continue;
        }
        let same = !ends(gap);
        if !(same || ahead && alone || hit.sense == Sense::Keep) {
            continue;
        }
        match hit.sense {
            Sense::Once => {
                once = 3;
                code = code.max(i32::from(links(gap)));
                named.push((hit.from, hit.to));
            }
            Sense::Code => {
                // "482913 is your code", as well.
                code = code.max(1 + i32::from(ahead && links(gap) || !ahead && is_named(gap)));
                named.push((hit.from, hit.to));
            }
            Sense::Proof => proof = 2,
            Sense::Yours if same => yours = 1,
            Sense::Use if ahead => uses = uses.max(1 + i32::from(gap.trim().is_empty())),
            // "482913を入力", "482913 eingeben", "482913 — enter this"
            Sense::Use if gap.len() <= 6 && !gap.chars().any(char::is_alphanumeric) => uses = 2,
            Sense::Use if gap.len() <= 4 && !gap.is_ascii() => uses = 2,
            Sense::Keep => keeps = 2 + i32::from(ahead && links(gap)),
            Sense::Act => {
                act = 1;
                acts.push((hit.from, hit.to));
            }
            Sense::Other => {
                // `zip code`, `20 % off`; a word elsewhere in the sentence is about something else.
                other |= !ahead && gap.len() <= 24 || ahead && gap.len() <= 16;
            }
            _ => {}
        }
    }
    if named.is_empty() && uses < 2 {
        (proof, yours) = (0, 0);
    }
    // "The code to sign in is 482913": what it is for stands right after the word.
    let is_purpose = |act: &(usize, usize)| {
        let follows = |named: &(usize, usize)| named.1 <= act.0 && act.0 - named.1 <= 16;
        act.1 <= it.from && named.iter().any(follows)
    };
    if acts.iter().any(is_purpose) {
        act = 2;
    }
    // An offer's, a place's: what stands right before the word says so.
    other |= near
        .filter(|it| it.sense == Sense::Other)
        .any(|it| named.iter().any(|named| stands_beside(it, *named)));
    if other && once == 0 {
        return -5;
    }
    // "Enter 482913 to continue"; "enter FQML-GVSB".
    if uses == 2 && code == 0 {
        let is_odd = text[it.from..it.to].bytes().any(|b| b.is_ascii_alphabetic());
        let goes_on = act > 0 || ON.iter().any(|on| text[it.to..].starts_with(on));
        act += i32::from(goes_on) + i32::from(is_odd) * (1 + i32::from(alone));
    }
    // "PIN: 4821"; of six digits a place is called so in some countries.
    let number = &text[it.from..it.to];
    let is_pin = once == 0 && number.len() < 6 && near_pin(text, it.from);
    if is_pin {
        once = 3;
        code = 1;
    }
    once + code + proof + yours + uses + act + keeps + i32::from(alone) - i32::from(other) * 2
}

/// Whether `PIN` stands right before it, in capitals.
fn near_pin(text: &str, from: usize) -> bool {
    let front = text[..from].trim_end_matches([' ', ':', '=', '\u{a0}', '：']);
    let word = front.strip_suffix("PIN").filter(|_| from - front.len() <= 4);
    word.is_some_and(|it| !it.ends_with(|c: char| c.is_alphanumeric()))
}

/// Whether words for "is your" stand there and nothing else.
fn is_named(gap: &str) -> bool {
    let words = gap.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()).count();
    let said = senses(gap);
    let is = |sense: Sense| said.iter().any(|it| it.sense == sense);
    gap.len() <= 40 && words <= 4 && is(Sense::Is) && (is(Sense::Yours) || words <= 1)
}

/// Whether a sentence ends in it.
fn ends(gap: &str) -> bool {
    let bytes = gap.as_bytes();
    bytes
        .windows(2)
        .any(|it| matches!(it[0], b'.' | b'!' | b'?' | b';') && it[1].is_ascii_whitespace())
        || gap.contains(['。', '！', '？', '।'])
}

/// Nothing but a verb, signs and spaces: what follows is what was named.
fn links(gap: &str) -> bool {
    let letters = gap.chars().filter(|c| c.is_alphanumeric()).count();
    letters == 0 && gap.len() <= 24
        || gap.len() <= 40
            && letters <= 12
            && gap.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()).count() <= 2
            && senses(gap).iter().any(|it| it.sense == Sense::Is)
}

/// On a line, in an element or in quotes of its own.
fn is_alone(text: &str, from: usize, to: usize) -> bool {
    let skip = |c: char| matches!(c, ' ' | '\t' | '"' | '\'' | '*' | '`' | '\u{a0}' | '\r');
    let before = text[..from].trim_end_matches(skip);
    let after = text[to..].trim_start_matches(skip);
    (before.is_empty() || before.ends_with('\n')) && (after.is_empty() || after.starts_with('\n'))
}

fn candidates(text: &str, runs: &[AsciiRun]) -> Vec<CodeCandidate> {
    let mut out: Vec<CodeCandidate> = Vec::new();
    let mut i = 0;
    while i < runs.len() {
        let run = runs[i];
        i += 1;
        if run.digits == 0 && run.upper < 4 || touches(text, run.from, run.to) {
            continue;
        }
        // `482 913`, `48 29 13`, `4 8 2 9 1 3`: groups alike with one blank between.
        let mut to = run.to;
        let (mut groups, mut digits) = (1, run.digits);
        if run.digits == run.to - run.from && run.digits <= 4 {
            while let Some(next) = runs.get(i)
                && next.digits == next.to - next.from
                && next.digits == run.digits
                && matches!(&text[to..next.from], " " | "\u{a0}" | "\u{202f}" | "\u{2009}")
                && groups < 8
            {
                (to, groups, digits) = (next.to, groups + 1, digits + next.digits);
                i += 1;
            }
            if touches(text, run.from, to) {
                continue;
            }
        }
        let all = &text[run.from..to];
        let least = if groups > 1 {
            if !(4..=8).contains(&digits) || follows_a_number(text, run.from, to) {
                continue;
            }
            if digits == 6 { 3 } else { 4 }
        } else if run.digits == all.len() {
            if follows_a_number(text, run.from, to)
                || run.digits != 6 && follows_initials(text, run.from)
            {
                continue;
            }
            match run.digits {
                4 if all.starts_with("19") || all.starts_with("20") => continue,
                6 => 3,
                4 | 5 | 7 | 8 => 4,
                _ => continue,
            }
        } else if let Some(front) = all.strip_prefix(|c: char| c.is_ascii_uppercase())
            && let Some(number) = front.strip_prefix('-')
            && (4..=8).contains(&number.len())
            && number.bytes().all(|b| b.is_ascii_digit())
        {
            // `G-482913`
            let least = if number.len() == 6 { 3 } else { 4 };
            out.push(CodeCandidate { from: to - number.len(), to, least });
            continue;
        } else if let Some(least) = grouped(all) {
            least
        } else {
            continue;
        };
        out.push(CodeCandidate { from: run.from, to, least });
    }
    out
}

/// `482-913`, `N5DJ-ACYP`, `A7K2Q9`: how much has to speak for it.
fn grouped(run: &str) -> Option<i32> {
    let groups: Vec<&str> = run.split('-').collect();
    let len = groups[0].len();
    let alike = groups.iter().all(|it| it.len() == len);
    let upper = run.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-');
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let letters = run.bytes().filter(u8::is_ascii_uppercase).count();
    if groups.len() > 1 {
        let fits = alike && (2..=5).contains(&len) && (2..=4).contains(&groups.len());
        if letters == 0 {
            let least = if digits == 6 && len == 3 { 3 } else { 4 };
            return (fits && len != 2 && (6..=8).contains(&digits)).then_some(least);
        }
        return (fits && upper && len >= 3 && !natural_run(run)).then_some(4);
    }
    // Without a separator only what is mixed.
    let lower = run.bytes().filter(u8::is_ascii_lowercase).count();
    let mixed = digits >= 2 && letters >= 2 && upper || digits >= 1 && lower >= 2 && letters >= 2;
    ((5..=10).contains(&run.len()) && mixed && (digits >= 3 || erratic(run))).then_some(5)
}

fn natural_run(run: &str) -> bool {
    !run.bytes().any(|b| b.is_ascii_digit()) && natural(run) && bits(run) < 2.5
}

/// `RFC 5304`, `ISO 8601`: the number of a document.
fn follows_initials(text: &str, from: usize) -> bool {
    let word = text[..from].strip_suffix([' ', '-']).unwrap_or("");
    let len = word.bytes().rev().take(8).take_while(u8::is_ascii_uppercase).count();
    let word = &word[word.len() - len..];
    len >= 2 && !matches!(word, "PIN" | "OTP" | "TAN" | "CODE" | "IS")
}

/// More digits stand beside it: a telephone's, an account's, a card's number.
fn follows_a_number(text: &str, from: usize, to: usize) -> bool {
    let blank = |c: char| matches!(c, ' ' | '\u{a0}' | '-' | '(' | ')');
    let before = text[..from].trim_end_matches(blank);
    let after = text[to..].trim_start_matches(blank);
    let gap = |n: usize| (1..=3).contains(&n);
    let ahead =
        before.ends_with(|c: char| c.is_ascii_digit() || c == '+') && gap(from - before.len());
    let behind =
        after.starts_with(|c: char| c.is_ascii_digit()) && gap(text.len() - to - after.len());
    ahead || behind
}

/// Passwords and tokens in a sentence: `the password is …`, `login: ann / …`.
fn passwords(text: &str, hits: &[WordHit], out: &mut Vec<MessageSecret>) {
    let mut done = 0;
    for hit in hits.iter().filter(|it| it.sense == Sense::Password) {
        if hit.to < done {
            continue;
        }
        let mut end = (hit.to + FAR + 80).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let window = &text[hit.to..end];
        step_counter::record_bytes(window.len());
        let place = |it: &str| it.as_ptr() as usize - window.as_ptr() as usize;
        let is_password = text[hit.from..hit.to].to_ascii_lowercase().starts_with("pass");
        // A name, a colon, somebody, a stroke.
        let mut linked = false;
        for word in window.split_whitespace() {
            let at = place(word);
            if at > FAR || word.contains("://") {
                break;
            }
            // "密码：…", where no blank follows the sign.
            let after_sign = word.trim_start_matches(['：', '→']);
            linked |= after_sign.len() < word.len();
            let word = after_sign;
            let bare = bare(word);
            // "user ann, password …": without a sign only what is nothing else.
            let direct =
                (1..=2).contains(&at) && bare.len() >= 8 && (sign_beside(bare) || random(bare));
            let quoted = word.starts_with(['"', '\'', '`', '“', '„', '«']);
            // A network's is made of words.
            let is_network = text[hit.from..hit.to].to_ascii_lowercase().starts_with(['w', 'n'])
                && (8..=63).contains(&bare.len())
                && bare.is_ascii()
                && bare.bytes().any(|b| b.is_ascii_digit())
                && bare.bytes().any(|b| b.is_ascii_alphabetic())
                && !bare.contains(['/', '.', '@']);
            // What is called is part of a program: `signature := encode(sum)`.
            let is_call = word.ends_with(')')
                && word.split_once('(').is_some_and(|(called, _)| {
                    called.len() > 3
                        && called.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b))
                });
            if is_call {
                break;
            }
            let fits = looks_chosen(bare) || is_network;
            if (linked || direct || at <= 2 && quoted) && fits {
                let from = hit.to + place(bare);
                out.push(MessageSecret { from, to: from + bare.len(), name: "password" });
                done = from + bare.len();
                break;
            }
            // `password=…` is read elsewhere.
            let sign = window[..at + word.len()].ends_with([':', '=', '：', '/', '→'])
                || matches!(word, "-" | "–")
                // "Log in as ann with …", and not "password hashing with …".
                || (at <= 2 || !is_password) && matches!(word, "with" | "mit" | "avec" | "con" | "com");
            linked |= sign
                || senses(word)
                    .iter()
                    .any(|it| it.sense == Sense::Is && it.to - it.from == word.len());
            if word.ends_with(['.', '!', '?', '。']) && !sign {
                break;
            }
        }
    }
}

/// As people choose a password, or services issue one: letters and digits, and signs or both cases among them.
pub fn looks_chosen(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    let letters = has(u8::is_ascii_alphabetic);
    let mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let sign = word.bytes().any(|b| b.is_ascii_punctuation());
    let number = word.trim_start_matches(['v', 'V']).starts_with(|c: char| c.is_ascii_digit());
    let version = number
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+'))
        && word.split('.').filter(|it| it.bytes().all(|b| b.is_ascii_digit())).count() > 1;
    let host = word.contains('@') && word.rsplit('@').next().is_some_and(|it| it.contains('.'));
    let odd = ["${", "{{", "%(", "<", "YOUR_", "://"].iter().any(|it| word.contains(it));
    let path = word.starts_with(['/', '~', '#', '@', '$', '-'])
        || word.starts_with("./")
        || word.matches('/').count() > 1;
    let file = word.rsplit_once('.').is_some_and(|(front, end)| {
        (2..=4).contains(&end.len())
            && end.bytes().all(|b| b.is_ascii_lowercase())
            && !front.is_empty()
            && !sign_beside(front)
    });
    let call = word.ends_with("()") || word.contains("](") || word.contains("=>");
    (6..=128).contains(&word.len())
        && word.is_ascii()
        && letters
        && has(u8::is_ascii_digit)
        && (mixed
            || sign
            || random(word)
            || is_hex(word) && word.len() >= 16
            || erratic(word) && word.len() >= 8)
        && !natural(word)
        && !(version || host || odd || path || file || call)
}

fn sign_beside(front: &str) -> bool {
    front.bytes().any(|b| matches!(b, b'!' | b'*' | b'$' | b'%' | b'^' | b'&' | b'#' | b'@' | b'?'))
}
