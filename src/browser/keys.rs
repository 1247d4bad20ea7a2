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

/// Names that [`named`] knows.
pub fn names() -> String {
    let all: Vec<&str> = NAMED.iter().map(|it| it.0).collect();
    all.join(", ")
}

/// Whether [`named`] knows it.
pub fn is_named(name: &str) -> bool {
    NAMED.iter().any(|it| it.0 == name)
}

/// `Input.dispatchKeyEvent` parameters, down and up, for a named key.
pub fn named(name: &str) -> Option<[Value; 2]> {
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
        assert_eq!(named("Tab").unwrap()[0]["type"], "rawKeyDown");
        assert_eq!(character('q').unwrap()[0]["code"], "KeyQ");
        assert!(named("enter").is_none());
        assert!(character('é').is_none());
    }
}
