//! Key presses as a keyboard would send them.

use serde_json::{Value, json};

/// Name, Windows virtual key code, and the text it types.
const NAMED: &[(&str, u16, &str)] = &[
    ("Enter", 13, "\r"),
    ("Tab", 9, ""),
    ("Escape", 27, ""),
    ("Backspace", 8, ""),
    ("Delete", 46, ""),
    ("Insert", 45, ""),
    ("ArrowLeft", 37, ""),
    ("ArrowUp", 38, ""),
    ("ArrowRight", 39, ""),
    ("ArrowDown", 40, ""),
    ("Home", 36, ""),
    ("End", 35, ""),
    ("PageUp", 33, ""),
    ("PageDown", 34, ""),
    ("ContextMenu", 93, ""),
    ("F1", 112, ""),
    ("F2", 113, ""),
    ("F3", 114, ""),
    ("F4", 115, ""),
    ("F5", 116, ""),
    ("F6", 117, ""),
    ("F7", 118, ""),
    ("F8", 119, ""),
    ("F9", 120, ""),
    ("F10", 121, ""),
    ("F11", 122, ""),
    ("F12", 123, ""),
];

/// What people also call them.
const ALSO: &[(&str, &str)] = &[
    ("Esc", "Escape"),
    ("Return", "Enter"),
    ("Del", "Delete"),
    ("Ins", "Insert"),
    ("Left", "ArrowLeft"),
    ("Up", "ArrowUp"),
    ("Right", "ArrowRight"),
    ("Down", "ArrowDown"),
    ("Spacebar", SPACE),
];

/// Whose key is its character.
const SPACE: &str = "Space";

/// Keys of a US keyboard that type neither a letter nor a digit: what they type, with Shift, their code, and their Windows virtual
/// key code.
const MARKS: &[(char, char, &str, u16)] = &[
    ('`', '~', "Backquote", 192),
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
];
/// What the keys of the digits from 0 type with Shift.
const SHIFTED_DIGITS: &str = ")!@#$%^&*(";

/// Bits of the keys that are held, as the protocol has them.
const ALT: u8 = 1;
const CONTROL: u8 = 2;
const META: u8 = 4;
const SHIFT: u8 = 8;
const HELD: &[(&str, u8)] = &[
    ("Alt", ALT),
    ("Option", ALT),
    ("Control", CONTROL),
    ("Ctrl", CONTROL),
    ("Meta", META),
    ("Cmd", META),
    ("Command", META),
    ("Shift", SHIFT),
];

/// Names that [`named`] knows.
pub fn names() -> String {
    let all: Vec<&str> = NAMED.iter().map(|it| it.0).chain([SPACE]).collect();
    all.join(", ")
}

/// Whether [`named`] knows it.
pub fn is_named(name: &str) -> bool {
    name == SPACE || NAMED.iter().any(|it| it.0 == name)
}

/// The name that [`named`] knows of a key that is written in another way; the text itself where there is none.
pub fn proper(text: &str) -> &str {
    let also = ALSO.iter().find(|it| it.0.eq_ignore_ascii_case(text)).map(|it| it.1);
    let known = NAMED.iter().map(|it| it.0).chain([SPACE]);
    also.or_else(|| known.into_iter().find(|it| it.eq_ignore_ascii_case(text))).unwrap_or(text)
}

/// `Input.dispatchKeyEvent` parameters, down and up, for a named key.
pub fn named_key_events(name: &str) -> Option<[Value; 2]> {
    if name == SPACE {
        return character(' ');
    }
    let (name, code, text) = NAMED.iter().find(|it| it.0 == name)?;
    Some(events(name, name, *code, text))
}

/// The same for a character that a US keyboard has, with Shift where it takes that; `None` for others, which are inserted as an
/// input method would.
pub fn character(it: char) -> Option<[Value; 2]> {
    let (code, virtual_key, shift) = key_of(it)?;
    let text = it.to_string();
    let mut out = events(&text, &code, virtual_key, &text);
    if shift {
        for it in &mut out {
            it["modifiers"] = SHIFT.into();
        }
    }
    Some(out)
}

/// The key that types a character: its code, its Windows virtual key code, and whether it takes Shift.
fn key_of(it: char) -> Option<(String, u16, bool)> {
    let upper = it.to_ascii_uppercase();
    if let Some(digit) = SHIFTED_DIGITS.chars().position(|shifted| shifted == it) {
        return Some((format!("Digit{digit}"), 48 + digit as u16, true));
    }
    Some(match it {
        'a'..='z' | 'A'..='Z' => (format!("Key{upper}"), upper as u16, it == upper),
        '0'..='9' => (format!("Digit{it}"), it as u16, false),
        ' ' => (SPACE.to_owned(), 32, false),
        _ => {
            let key = MARKS.iter().find(|key| key.0 == it || key.1 == it)?;
            (key.2.to_owned(), key.3, key.1 == it)
        }
    })
}

/// What the key of a character types with Shift.
fn shifted(it: char) -> char {
    match it {
        '0'..='9' => SHIFTED_DIGITS.chars().nth(it as usize - 48).unwrap_or(it),
        _ => MARKS.iter().find(|key| key.0 == it).map_or(it.to_ascii_uppercase(), |key| key.1),
    }
}

/// The same for a named key or a character, with `Control+`, `Shift+`, `Alt+` and `Meta+` before it, in any case.
pub fn chord(text: &str) -> Option<[Value; 2]> {
    let (mut rest, mut held) = (text, 0);
    while let Some((name, after)) =
        rest.split_once('+').filter(|it| !it.0.is_empty() && !it.1.is_empty())
        && let Some((_, bit)) = HELD.iter().find(|it| it.0.eq_ignore_ascii_case(name))
    {
        rest = after;
        held |= bit;
    }
    let mut chars = rest.chars();
    let mut out = match (chars.next(), chars.next()) {
        (Some(it), None) if held & SHIFT != 0 => character(shifted(it))?,
        // With one of the others, a capital stands for its key.
        (Some(it), None) if held != 0 => character(it.to_ascii_lowercase())?,
        (Some(it), None) => character(it)?,
        _ => named_key_events(proper(rest))?,
    };
    if held == 0 {
        return Some(out);
    }
    for it in &mut out {
        let own = it["modifiers"].as_u64().unwrap_or(0);
        it["modifiers"] = (own | u64::from(held)).into();
        // With Control or Alt a key types nothing.
        if held & (ALT | CONTROL | META) != 0
            && it["type"] == "keyDown"
            && let Some(all) = it.as_object_mut()
        {
            all.remove("text");
            all.remove("unmodifiedText");
            all.insert("type".to_owned(), "rawKeyDown".into());
        }
    }
    let command = match (held, &*rest.to_ascii_lowercase()) {
        (CONTROL, "a") => "selectAll",
        (CONTROL, "c") => "copy",
        (CONTROL, "x") => "cut",
        (CONTROL, "v") => "paste",
        (CONTROL, "z") => "undo",
        _ => return Some(out),
    };
    // What a desktop's shortcuts would do, where there is no desktop.
    out[0]["commands"] = json!([command]);
    Some(out)
}

fn events(key: &str, code: &str, virtual_key: u16, text: &str) -> [Value; 2] {
    let mut down = json!({ "type": "rawKeyDown", "key": key, "code": code, "windowsVirtualKeyCode": virtual_key });
    let mut up = down.clone();
    up["type"] = "keyUp".into();
    if !text.is_empty() {
        down["type"] = "keyDown".into();
        down["text"] = text.into();
        down["unmodifiedText"] = text.into();
    }
    [down, up]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_type_and_keys_that_do_not() {
        assert_eq!(named_key_events("Enter").unwrap()[0]["text"], "\r");
        assert_eq!(
            (&named_key_events("Space").unwrap()[0]["key"], is_named("Space")),
            (&json!(" "), true)
        );
        assert_eq!(named_key_events("Tab").unwrap()[0]["type"], "rawKeyDown");
        assert_eq!(character('q').unwrap()[0]["code"], "KeyQ");
        let all = chord("Control+a").unwrap();
        assert_eq!((&all[0]["modifiers"], &all[0]["type"]), (&json!(2), &json!("rawKeyDown")));
        assert!(all[0].get("text").is_none() && chord("Hyper+a").is_none() && chord("").is_none());
        assert_eq!(chord("Shift+A").unwrap()[0]["text"], "A");
        assert_eq!(chord("+").unwrap()[0]["text"], "+");
        assert!(named_key_events("enter").is_none());
        assert!(character('é').is_none());
    }

    #[test]
    fn keys_are_those_of_a_us_keyboard() {
        for (chord_text, key, code, number, held) in [
            ("Control+/", "/", "Slash", 191, 2),
            ("Meta+[", "[", "BracketLeft", 219, 4),
            ("?", "?", "Slash", 191, 8),
            ("Shift+/", "?", "Slash", 191, 8),
            ("-", "-", "Minus", 189, 0),
            ("+", "+", "Equal", 187, 8),
            ("Control++", "+", "Equal", 187, 10),
            ("%", "%", "Digit5", 53, 8),
            ("K", "K", "KeyK", 75, 8),
            ("Control+K", "k", "KeyK", 75, 2),
            ("ctrl+shift+k", "K", "KeyK", 75, 10),
            ("F2", "F2", "F2", 113, 0),
            ("cmd+return", "Enter", "Enter", 13, 4),
            ("esc", "Escape", "Escape", 27, 0),
        ] {
            let it = &chord(chord_text).unwrap()[0];
            let told = (&it["key"], &it["code"], &it["windowsVirtualKeyCode"]);
            assert_eq!(told, (&json!(key), &json!(code), &json!(number)), "{chord_text}");
            assert_eq!(it["modifiers"].as_u64().unwrap_or(0), held, "{chord_text}");
        }
        for mark in ('!'..='~').filter(|it| !it.is_control()) {
            assert!(key_of(mark).is_some_and(|it| it.1 > 0), "{mark}");
        }
    }
}
