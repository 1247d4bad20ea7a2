//! Secrets of other ecosystems where only their surroundings tell, beside data that looks alike: `tests/vectors/leaks/*.jsonl`.
//! The file `held` was written with `seen`,
//! and `fresh` when the rules were done; neither was looked at before.
//!
//! In a body `{t}` stands for a token, `{h}` for hexadecimal, `{p}` for a password, `{s}` for a key of an authenticator, `{r}` for a
//! code of a list, `{22}` for what is kept of a password, `{c}` for a number, `{u}` for a UUID, `{w}` for words, and `{1}` for the
//! first of them again; `⟦b64:…⟧` is base64 of what it holds.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use fastrand::Rng;
use serde::Deserialize;

use super::{
    class::Place,
    encode::{decode_percent, percent},
    *,
};

const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const LOWER: &str = "0123456789abcdefghijklmnopqrstuvwxyz";

#[derive(Deserialize)]
struct Row {
    label: String,
    kind: String,
    mime: String,
    body: String,
}

fn run(dice: &mut Rng, letters: &str, len: usize) -> String {
    let all = letters.as_bytes();
    (0..len).map(|_| char::from(all[dice.usize(..all.len())])).collect()
}

fn value(kind: &str, dice: &mut Rng) -> String {
    const WORDS: &[&str] = &["copper", "Harbor", "violet", "Meadow", "trout", "Winter"];
    let number = |dice: &mut Rng, len| run(dice, "123456789", len);
    match kind {
        "t" => run(dice, BASE62, 30) + &number(dice, 2),
        "h" => run(dice, "0123456789abcdef", 40),
        "p" => {
            let (a, b) = (WORDS[dice.usize(..6)], WORDS[dice.usize(..6)]);
            format!("{a}.{b}{}!", number(dice, 4))
        }
        "s" => run(dice, BASE32, 30) + &run(dice, "234567", 2),
        "r" => format!("{}-{}{}", run(dice, LOWER, 5), run(dice, LOWER, 4), number(dice, 1)),
        "22" => run(dice, BASE62, 22),
        "c" => number(dice, 6),
        "u" => format!(
            "{}-{}-4{}-a{}-{}",
            run(dice, "0123456789abcdef", 8),
            run(dice, "0123456789abcdef", 4),
            run(dice, "0123456789abcdef", 3),
            run(dice, "0123456789abcdef", 3),
            run(dice, "0123456789abcdef", 12)
        ),
        "w" => ["two-columns", "by-name", "compact-list"][dice.usize(..3)].to_owned(),
        other => panic!("no value {other:?}"),
    }
}

fn base32(bytes: &[u8]) -> String {
    let bits = bytes.iter().map(|it| format!("{it:08b}")).collect::<Vec<_>>().concat();
    let letters = BASE32.as_bytes();
    bits.as_bytes()
        .chunks(5)
        .map(|it| format!("{:0<5}", std::str::from_utf8(it).unwrap()))
        .map(|it| char::from(letters[usize::from_str_radix(&it, 2).unwrap()]))
        .collect()
}

fn changed(how: &str, text: &str) -> String {
    let hex = || commis_base::ids::hex(text.as_bytes());
    match how {
        "b64" => STANDARD.encode(text),
        "b64u" => URL_SAFE_NO_PAD.encode(text),
        "b32" => base32(text.as_bytes()),
        "hex" => hex(),
        "hexu" => hex().to_uppercase(),
        "pct" => percent(text),
        "rev" => text.chars().rev().collect(),
        "up" => text.to_uppercase(),
        "g4" => text
            .as_bytes()
            .chunks(4)
            .map(|it| String::from_utf8_lossy(it))
            .collect::<Vec<_>>()
            .join(" "),
        "codes" => text.bytes().map(|it| it.to_string()).collect::<Vec<_>>().join(","),
        "swap" => text
            .chars()
            .map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
            .collect(),
        other => panic!("no change {other:?}"),
    }
}

/// A body, and what must not be left of it.
fn filled(template: &str, dice: &mut Rng) -> (String, Vec<String>) {
    let mut values: Vec<String> = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let (front, back) = rest.split_at(at);
        text.push_str(front);
        let name = back[1..].split('}').next().unwrap_or("");
        if matches!(name, "t" | "h" | "p" | "s" | "r" | "22" | "c" | "u" | "w" | "1") {
            if name != "1" {
                values.push(value(name, dice));
            }
            text.push_str(if name == "1" { &values[0] } else { values.last().unwrap() });
            rest = &back[name.len() + 2..];
        } else {
            text.push('{');
            rest = &back[1..];
        }
    }
    text.push_str(rest);
    while let Some(to) = text.find('⟧') {
        let from = text[..to].rfind('⟦').unwrap();
        let (how, inner) = text[from + '⟦'.len_utf8()..to].split_once(':').unwrap();
        let holds = values.iter().any(|it| inner.contains(it.as_str()));
        let new = changed(how, inner);
        if holds {
            values.push(new.clone());
        }
        text.replace_range(from..to + '⟧'.len_utf8(), &new);
    }
    (text, values)
}

/// What a document to share and a live page make of it.
fn of(mime: &str, text: &str) -> Vec<String> {
    if let Some(name) = mime.strip_prefix("header:") {
        let mut it = Redactor::new(&RedactSettings::default());
        it.header(name, text);
        it.write();
        return vec![it.header(name, text).unwrap_or_else(|| text.to_owned())];
    }
    let mime = match mime {
        "json" => "application/json",
        "html" => "text/html",
        "xml" => "application/xml",
        "yaml" => "application/yaml",
        "js" => "application/javascript",
        _ => "text/plain",
    };
    let mut it = Redactor::new(&RedactSettings::default());
    it.body(text, mime, Place::Answer);
    it.write();
    let shared = it.body(text, mime, Place::Answer).unwrap_or_else(|| text.to_owned());
    vec![shared, message(text)]
}

fn is_left(text: &str, value: &str) -> bool {
    let mut text = std::borrow::Cow::from(text);
    for _ in 0..3 {
        if text.contains(value) {
            return true;
        }
        text = decode_percent(&text).into_owned().into();
    }
    false
}

struct Tally {
    missed: Vec<String>,
    secrets: usize,
    wrong: Vec<String>,
    data: usize,
}

fn tally(file: &str) -> Tally {
    let path = format!("{}/../../tests/vectors/leaks/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut out = Tally { missed: Vec::new(), secrets: 0, wrong: Vec::new(), data: 0 };
    for seed in [20_261_128, 4711, 99] {
        let mut dice = Rng::with_seed(seed);
        for row in text.lines().map(|it| serde_json::from_str::<Row>(it).unwrap()) {
            let (body, values) = filled(&row.body, &mut dice);
            for (at, it) in of(&row.mime, &body).into_iter().enumerate() {
                let told = || format!("{} {} {}: {it}", ["shared", "live"][at], row.kind, row.mime);
                if row.label == "secret" {
                    out.secrets += 1;
                    if values.iter().any(|value| is_left(&it, value)) {
                        out.missed.push(told());
                    }
                } else {
                    out.data += 1;
                    if it != body {
                        out.wrong.push(told());
                    }
                }
            }
        }
    }
    out
}

#[test]
fn what_other_ecosystems_keep_is_found() {
    let mut all = Vec::new();
    for file in ["seen", "held", "fresh"] {
        let it = tally(file);
        println!(
            "{file}: {} of {} missed, {} of {} wrong",
            it.missed.len(),
            it.secrets,
            it.wrong.len(),
            it.data
        );
        all.push((file, it));
    }
    for (file, it) in all {
        for line in it.missed.iter().chain(&it.wrong) {
            println!("  {file} {line:.300}");
        }
        assert!(it.missed.len() * 100 <= it.secrets, "{file}: secrets are missed");
        assert!(it.wrong.len() * 50 <= it.data, "{file}: data is taken for secrets");
    }
}
