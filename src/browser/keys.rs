//! Key presses as a keyboard would send them.

use serde_json::{Value, json};

/// Name, Windows virtual key code, and the text it types.
const NAMED: &[(&str, u16, &str)] = &[
    ("Enter", 13, "\r"),
    ("Tab", 9, ""),
    ("Escape", 27, ""),
    ("Backspace", 8, ""),
    ("Delete", 46, ""),
    ("ArrowLeft", 37, ""),
    ("ArrowUp", 38, ""),
    ("ArrowRight", 39, ""),
    ("ArrowDown", 40, ""),
    ("Home", 36, ""),
    ("End", 35, ""),
    ("PageUp", 33, ""),
    ("PageDown", 34, ""),
];

/// Whose key is its character.
const SPACE: &str = "Space";

/// Names that [`named`] knows.
pub fn names() -> String {
    let all: Vec<&str> = NAMED.iter().map(|it| it.0).chain([SPACE]).collect();
    all.join(", ")
}

/// Whether [`named`] knows it.
pub fn is_named(name: &str) -> bool {
    name == SPACE || NAMED.iter().any(|it| it.0 == name)
}

/// `Input.dispatchKeyEvent` parameters, down and up, for a named key.
pub fn named(name: &str) -> Option<[Value; 2]> {
    if name == SPACE {
        return character(' ');
    }
    let (name, code, text) = NAMED.iter().find(|it| it.0 == name)?;
    Some(events(name, name, *code, text))
}

/// The same for a character that a plain keyboard has; `None` for others, which are inserted as an input method would.
pub fn character(it: char) -> Option<[Value; 2]> {
    let text = it.to_string();
    let upper = it.to_ascii_uppercase();
    match it {
        'a'..='z' | 'A'..='Z' => Some(events(&text, &format!("Key{upper}"), upper as u16, &text)),
        '0'..='9' => Some(events(&text, &format!("Digit{it}"), it as u16, &text)),
        ' ' => Some(events(" ", "Space", 32, " ")),
        '!'..='~' => Some(events(&text, "", 0, &text)),
        _ => None,
    }
}

/// The same for a named key or a character, with `Control+`, `Shift+`, `Alt+` and `Meta+` before it.
pub fn chord(text: &str) -> Option<[Value; 2]> {
    const HELD: [(&str, u8); 4] = [("Alt+", 1), ("Control+", 2), ("Meta+", 4), ("Shift+", 8)];
    let (mut rest, mut held) = (text, 0);
    while let Some((name, bit)) =
        HELD.iter().find(|it| rest.starts_with(it.0) && rest.len() > it.0.len())
    {
        rest = &rest[name.len()..];
        held |= bit;
    }
    let mut chars = rest.chars();
    let mut out = match (chars.next(), chars.next()) {
        (Some(it), None) => character(it)?,
        _ => named(rest)?,
    };
    if held == 0 {
        return Some(out);
    }
    for it in &mut out {
        it["modifiers"] = held.into();
        // With Control or Alt a key types nothing.
        if held & 7 != 0
            && it["type"] == "keyDown"
            && let Some(all) = it.as_object_mut()
        {
            all.remove("text");
            all.remove("unmodifiedText");
            all.insert("type".to_owned(), "rawKeyDown".into());
        }
    }
    let command = match (held, rest) {
        (2, "a") => "selectAll",
        (2, "c") => "copy",
        (2, "x") => "cut",
        (2, "v") => "paste",
        (2, "z") => "undo",
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
        assert_eq!(named("Enter").unwrap()[0]["text"], "\r");
        assert_eq!((&named("Space").unwrap()[0]["key"], is_named("Space")), (&json!(" "), true));
        assert_eq!(named("Tab").unwrap()[0]["type"], "rawKeyDown");
        assert_eq!(character('q').unwrap()[0]["code"], "KeyQ");
        let all = chord("Control+a").unwrap();
        assert_eq!((&all[0]["modifiers"], &all[0]["type"]), (&json!(2), &json!("rawKeyDown")));
        assert!(all[0].get("text").is_none() && chord("Hyper+a").is_none() && chord("").is_none());
        assert_eq!(chord("Shift+A").unwrap()[0]["text"], "A");
        assert_eq!(chord("+").unwrap()[0]["text"], "+");
        assert!(named("enter").is_none());
        assert!(character('é').is_none());
    }
}
