//! Values that stand for one: what a document leaves for its reader to fill in.

use super::{
    class::{KeyClass, Place},
    keys::classify,
    randomness::natural,
};

/// A value left for the reader to fill in: `password`, `YOUR_API_KEY`, `<token>`, `xxxx`, `changeme`.
pub fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let digits = bare.bytes().filter(u8::is_ascii_digit).count();
    let own = matches!(classify(bare, Place::Json), KeyClass::Always | KeyClass::Likely)
        && digits == 0
        && bare.split(['_', '-', ' ', '.']).all(|it| natural(it) || it.len() <= 4);
    own || [
        "your_",
        "your-",
        "yourpass",
        "my_",
        "my-",
        "mypass",
        "example",
        "changeme",
        "change-me",
        "change_me",
        "placeholder",
        "xxxx",
        "insert_",
        "replace_",
        "dummy",
        "todo",
    ]
    .iter()
    .any(|it| bare.starts_with(it) || it.len() > 6 && bare.contains(it))
        || value.starts_with(['<', '%']) && value.ends_with(['>', '%'])
        || value.starts_with("&lt;")
        || value.starts_with("$(")
        || value.contains("${")
        || value.contains("{{")
}
