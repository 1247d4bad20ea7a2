//! Addresses inside a text, of any scheme, and what stands in them: credentials, and what is good for whoever has the address.

use std::borrow::Cow;

use super::{
    class::{Place, SecretReason},
    encode::decode_escapes,
    markup,
    markup::Replacement,
    messages,
    rules::{MAX_OPEN, Walk},
    scan::{base64_text, cut},
    step_counter,
    triggers::Triggers,
    urls::looks_issued,
};

/// Bytes of an address; longer ones are pictures.
const LONGEST: usize = 8192;
/// Bytes of a text before and after an address that speak of it.
const BEFORE: usize = 160;
const AFTER: usize = 90;

/// An address in a text: where it begins and ends.
struct Link {
    from: usize,
    to: usize,
    /// Its slashes are escaped, as in JSON.
    escaped: bool,
}

impl Walk<'_> {
    /// Each address in a text. `marked`: it has tags, and references in its addresses.
    pub fn links_in(
        &mut self,
        text: &str,
        marked: bool,
        (place, depth): (Place, u32),
        has: Triggers,
        cuts: &mut Vec<Replacement>,
    ) {
        if depth >= MAX_OPEN {
            return;
        }
        let all = links(text);
        for (i, it) in all.iter().enumerate() {
            let part = &text[it.from..it.to];
            let plain: Cow<'_, str> = match (it.escaped, marked && part.contains('&')) {
                (true, _) => decode_escapes(part).map_or(part.into(), Cow::Owned),
                (_, true) => markup::entities(part).into(),
                _ => part.into(),
            };
            let grants = is_open(&plain) && {
                let before = i.checked_sub(1).map_or(0, |at| all[at].to);
                let after = all.get(i + 1).map_or(text.len(), |it| it.from);
                is_to_follow(text, it, before, after, marked)
            };
            let was = std::mem::replace(&mut self.grants, grants);
            let new = self.url(&plain, place, depth + 1);
            self.grants = was;
            if let Some(new) = new {
                let new =
                    if marked && part.contains('&') { new.replace('&', "&amp;") } else { new };
                cuts.push(cut(text, part, new));
            }
        }
        if has.any(Triggers::ORACLE) {
            self.oracle(text, cuts);
        }
        if has.any(Triggers::DATA) {
            self.data_in(text, depth, cuts);
        }
    }

    /// `jdbc:oracle:thin:scott/tiger@host`
    fn oracle(&mut self, text: &str, cuts: &mut Vec<Replacement>) {
        for (at, found) in text.match_indices(":thin:") {
            let rest = &text[at + found.len()..];
            let end =
                rest.find(|c: char| c.is_whitespace() || "\"'<>".contains(c)).unwrap_or(rest.len());
            if let Some((user, rest)) = rest[..end].split_once('/')
                && let Some((password, _)) = rest.rsplit_once('@')
                && (1..=64).contains(&user.len())
                && let Some(new) = self.sink.secret("password", password, SecretReason::Key)
            {
                cuts.push(cut(text, password, new));
            }
        }
    }

    /// `data:image/svg+xml;base64,…` and the like, which hold text.
    fn data_in(&mut self, text: &str, depth: u32, cuts: &mut Vec<Replacement>) {
        for (at, _) in text.match_indices(";base64,") {
            let front = text.as_bytes()[at.saturating_sub(64)..at]
                .windows(5)
                .rposition(|it| it == b"data:");
            let Some(kind) = front.and_then(|it| text.get(at.saturating_sub(64) + it + 5..at))
            else {
                continue;
            };
            let textual = ["svg", "json", "text/", "xml"].iter().any(|it| kind.contains(it));
            let body = &text[at + 8..];
            let end = body
                .bytes()
                .position(|b| !(b.is_ascii_alphanumeric() || b"+/-_=".contains(&b)))
                .unwrap_or(body.len());
            step_counter::record_bytes(end);
            if !textual || end < 16 {
                continue;
            }
            let body = &body[..end];
            let Some(inner) = base64_text(body) else { continue };
            if self.holds_secret("", &inner, depth + 1)
                && let Some(new) = self.sink.secret("data", body, SecretReason::Container)
            {
                cuts.push(cut(text, body, new));
            }
        }
    }
}

/// Whether something stands in it that could be good for whoever has the address.
fn is_open(link: &str) -> bool {
    link.split(['/', '?', '&', '=', '#'])
        .skip(3)
        .any(|it| it.len() >= 16 && it.bytes().any(|b| b.is_ascii_digit()) && looks_issued(it))
}

/// Whether the words around an address say to follow it to log in, confirm, join, reset, leave. `before`, `after`: the ends of its
/// neighbours.
fn is_to_follow(text: &str, it: &Link, before: usize, after: usize, marked: bool) -> bool {
    let mut from = it.from.saturating_sub(if marked { 2 * BEFORE } else { BEFORE }).max(before);
    let mut to = (it.to + if marked { 3 * AFTER } else { AFTER }).min(after).max(it.to);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    let (mut front, mut back) = (&text[from..it.from], &text[it.to..to]);
    step_counter::record_bytes(to - from);
    if !marked {
        // Brackets around the address are its own: `<https://…>`.
        front = front.trim_end_matches(['<', '(', '[']);
        back = back.trim_start_matches(['>', ')', ']']);
        // Where a value begins or ends, another begins to speak.
        let edge = |c: char| matches!(c, '"' | '{' | '}' | '&' | '<' | '>');
        front = front.rfind(edge).map_or(front, |at| &front[at + 1..]);
        back = back.find(edge).map_or(back, |at| &back[..at]);
        return messages::asks_to_follow(front) || messages::asks_to_follow(back);
    }
    // Its own words, and those right before; another anchor's are not about it.
    if let Some(at) = front.rfind("</a") {
        front = &front[at..];
    }
    let inside = back.find('>').map_or("", |at| &back[at + 1..]);
    back = inside.find("</a").map_or(inside, |at| &inside[..at]);
    let said = |it: &str| {
        let at = it.find('>').filter(|at| it.find('<').is_none_or(|open| *at < open));
        let shown = markup::visible_text(&it[at.map_or(0, |at| at + 1)..], 400);
        messages::asks_to_follow(&shown)
    };
    said(back) || said(front)
}

fn links(text: &str) -> Vec<Link> {
    let bytes = text.as_bytes();
    let mut out: Vec<Link> = Vec::new();
    let mut done = 0;
    for (at, _) in text.match_indices(':') {
        if at < done {
            continue;
        }
        let rest = &bytes[at..];
        let escaped = rest.starts_with(b":\\/\\/");
        if !escaped && !rest.starts_with(b"://") {
            continue;
        }
        let scheme = bytes[done..at]
            .iter()
            .rev()
            .take(24)
            .take_while(|b| b.is_ascii_alphanumeric() || b"+.-".contains(b))
            .count();
        let from = at - scheme;
        step_counter::record_bytes(scheme);
        if !(2..24).contains(&scheme) || !bytes[from].is_ascii_alphabetic() {
            continue;
        }
        let inside = |i: usize, b: u8| match b {
            b'"' | b'\'' | b'<' | b'>' | b'`' | b'{' | b'}' | b'|' | b'^' => false,
            b'\\' => escaped && bytes.get(i + 1) == Some(&b'/'),
            _ => b.is_ascii_graphic(),
        };
        let mut to = at;
        while to < bytes.len() && to - from < LONGEST && inside(to, bytes[to]) {
            to += 1;
        }
        step_counter::record_bytes(to - at);
        // What ends a sentence, and a bracket around it.
        while to > at + 3 {
            let ends = match bytes[to - 1] {
                b'.' | b',' | b';' | b':' | b'?' => true,
                b')' => !text[at..to].contains('('),
                b']' => !text[at..to].contains('['),
                _ => false,
            };
            if !ends {
                break;
            }
            to -= 1;
        }
        if bytes[..to].ends_with(b"\\") {
            to -= 1;
        }
        done = to;
        if to > at + 5 {
            out.push(Link { from, to, escaped });
        }
    }
    out
}
