//! What a page commands the model: `DO name {"argument": …}`, wherever it stands and however it was quoted on the way.

use serde_json::{Map, Value};

use super::{script::Call, wires::Message};

/// Bytes of a command.
const MAX: usize = 8 * 1024;
/// How often quotes within quotes and the like are opened.
const DEPTH: u32 = 3;

/// The newest command of the conversation that the model has not followed yet. What it was told counts as well as what tools came
/// back with, and what came long ago as well: it forgets nothing.
pub fn newest(said: &[Message]) -> Option<Call> {
    let done = |it: &Call| {
        said.iter().any(|turn| match turn {
            Message::Model { calls } => {
                calls.iter().any(|did| did.name == it.name && did.arguments == it.arguments)
            }
            _ => false,
        })
    };
    said.iter().rev().find_map(|it| match it {
        Message::User(text) | Message::Result { text, .. } => {
            commands(text).into_iter().rev().find(|it| !done(it))
        }
        Message::Model { .. } => None,
    })
}

/// In the order in which they stand there.
fn commands(text: &str) -> Vec<Call> {
    let begins = |at: usize| !text[..at].ends_with(|it: char| it.is_alphanumeric());
    text.match_indices("DO")
        .filter(|it| begins(it.0))
        .filter_map(|it| command(&text[it.0 + 2..]))
        .collect()
}

fn command(rest: &str) -> Option<Call> {
    let named = rest.trim_start();
    if named.len() == rest.len() {
        return None;
    }
    let end = named.find(|it: char| !(it.is_ascii_alphanumeric() || "_-.".contains(it)))?;
    let (name, rest) = named.split_at(end);
    let mut most = rest.len().min(MAX);
    while !rest.is_char_boundary(most) {
        most -= 1;
    }
    let arguments = arguments(&rest[..most], DEPTH)?;
    (!name.is_empty()).then(|| Call { name: name.to_owned(), arguments: Value::Object(arguments) })
}

/// The object that the text begins with, as it is or once it is unwrapped.
fn arguments(text: &str, depth: u32) -> Option<Map<String, Value>> {
    let mut read = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
    if let Some(Ok(it)) = read.next() {
        return Some(it);
    }
    let deeper = depth.checked_sub(1)?;
    [unquoted(text), unescaped(text)].into_iter().flatten().find_map(|it| arguments(&it, deeper))
}

/// Of a text within quotes, what stood there before it was quoted.
fn unquoted(text: &str) -> Option<String> {
    let mut after = '\0';
    let mut end = text.len();
    for (at, it) in text.char_indices() {
        if it == '\n' || it == '"' && after != '\\' {
            end = at;
            break;
        }
        after = if after == '\\' { '\0' } else { it };
    }
    let out: String = serde_json::from_str(&format!("\"{}\"", &text[..end])).ok()?;
    (out != text).then_some(out)
}

/// Of a text in HTML, what a reader sees.
fn unescaped(text: &str) -> Option<String> {
    const NAMES: &[(&str, &str)] = &[
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#x22;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&apos;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#123;", "{"),
        ("&#125;", "}"),
        ("&nbsp;", " "),
        ("\u{a0}", " "),
        ("&amp;", "&"),
    ];
    let out = NAMES.iter().fold(text.to_owned(), |text, (name, it)| text.replace(name, it));
    (out != text).then_some(out)
}
