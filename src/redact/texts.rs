//! Texts without a recording around them: what a live page shows, a task, a message, a line of the log.

use serde_json::Value;

use super::{
    Learner, Writer,
    class::Place,
    log_filter,
    placeholders::SecretIndex,
    probable_secret,
    rules::{RedactRules, Walk},
    text_kind::{TextKind, is_tagged},
};
use commis_base::settings::RedactSettings;

/// One free text without its secrets, and without what this process types as a secret. It is read as what it is: JSON, a page,
/// settings, words.
pub fn text(value: &str, settings: &RedactSettings) -> String {
    let value = &*log_filter::without(value);
    // Words that somebody wrote look random at times; values of a document have names.
    let typed = (!is_json(value)).then_some(value);
    let rules = RedactRules::new(&settings.allow, typed.into_iter());
    let mut vault = SecretIndex::default();
    document(&mut Walk::new(&rules, &mut Learner(&mut vault)), value);
    // The second pass asks the same rules about the same text: where none of them found a secret, none does.
    if vault.is_empty() {
        return value.to_owned();
    }
    vault.seal(Vec::new());
    let mut writer = Writer::new(&mut vault);
    let new = document(&mut Walk::new(&rules, &mut writer), value);
    new.unwrap_or_else(|| value.to_owned())
}

/// What a person wrote (a task, an example value) as it may be stored: as it is, unless it seems to hold a secret. The
/// entropy rule alone would redact words that a person types.
pub fn redact_written(value: &str) -> String {
    if probable_secret(value).is_some() { message(value) } else { value.to_owned() }
}

/// [`text`] with the default settings: for messages and log lines.
pub fn message(value: &str) -> String {
    text(value, &RedactSettings::default())
}

/// The same of lines that belong together, such as those of a page: what one of them says of the next counts.
pub fn lines(all: &[String]) -> Vec<String> {
    let all: Vec<_> = all.iter().map(|it| log_filter::without(it)).collect();
    let rules = RedactRules::new(&[], std::iter::empty());
    let mut vault = SecretIndex::default();
    let whole = all.join("\n");
    let mut learner = Learner(&mut vault);
    let mut walk = Walk::new(&rules, &mut learner);
    walk.text(&whole, TextKind::Spoken);
    for it in &all {
        quoted(&mut walk, it);
    }
    let told = super::messages::find(&whole);
    vault.seal(Vec::new());
    let mut writer = Writer::new(&mut vault);
    let mut at = 0;
    let mut told = told.into_iter().peekable();
    all.iter()
        .map(|line| {
            let (from, to) = (at, at + line.len());
            at = to + 1;
            // What is told of one line in another, in its place.
            let mut cuts = Vec::new();
            while let Some(it) = told.next_if(|it| it.from < to) {
                if it.from >= from && it.to <= to {
                    let value = &whole[it.from..it.to];
                    let new = super::rules::SecretSink::secret(
                        &mut writer,
                        it.name,
                        value,
                        super::class::SecretReason::Context,
                    );
                    cuts.extend(new.map(|new| (it.from - from, it.to - from, new)));
                }
            }
            let mut walk = Walk::new(&rules, &mut writer);
            let new = walk.replace(line, Vec::new(), cuts);
            let now = new.as_deref().unwrap_or(line);
            let json = quoted(&mut walk, now);
            let now = json.as_deref().unwrap_or(now);
            walk.text(now, TextKind::Spoken).unwrap_or_else(|| now.to_owned())
        })
        .collect()
}

/// A text as what it is.
fn document(walk: &mut Walk<'_>, text: &str) -> Option<String> {
    if let Some(new) = json(walk, text) {
        return new;
    }
    if is_tagged(text) {
        return walk.markup(text);
    }
    let cut = cut_json(walk, text);
    let text = cut.as_deref().unwrap_or(text);
    let new = if text.contains('\n') {
        walk.lines(text, TextKind::Spoken)
    } else {
        walk.text(text, TextKind::Spoken)
    };
    new.or(cut)
}

/// JSON that was cut, or that something else follows: as much of it as is whole is read by its names.
fn cut_json(walk: &mut Walk<'_>, text: &str) -> Option<String> {
    let (to, closing) = whole_part(text)?;
    let whole = format!("{}{closing}", &text[..to]);
    let mut value: Value = serde_json::from_str(&whole).ok()?;
    if !walk.json(&mut value, Place::Answer) {
        return None;
    }
    let mut new = value.to_string();
    new.truncate(new.len() - closing.len());
    new.push_str(&text[to..]);
    Some(new)
}

/// Where the last value ends that is whole, and what closes all that is open there. `None` for what does not begin as JSON.
fn whole_part(text: &str) -> Option<(usize, String)> {
    let (mut open, mut in_string, mut is_escaped) = (Vec::new(), false, false);
    let mut found = None;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' if open.pop() == Some(c) => {
                found = Some((at + 1, open.clone()));
                if open.is_empty() {
                    break;
                }
            }
            '}' | ']' => break,
            ',' => found = Some((at, open.clone())),
            _ if open.is_empty() => return None,
            _ => {}
        }
    }
    found.map(|(at, open)| (at, open.into_iter().rev().collect()))
}

/// JSON that is the whole of a text, as people read it where they did before.
#[expect(
    clippy::option_option,
    reason = "the outer says whether it is JSON, the inner what replaces it"
)]
fn json(walk: &mut Walk<'_>, text: &str) -> Option<Option<String>> {
    let trimmed = text.trim();
    if !is_json(trimmed) {
        return None;
    }
    let mut value: Value = serde_json::from_str(trimmed).ok()?;
    let changed = walk.json(&mut value, Place::Answer);
    let written = || {
        let pretty = trimmed.contains("\n  ").then(|| serde_json::to_string_pretty(&value).ok());
        pretty.flatten().unwrap_or_else(|| value.to_string())
    };
    Some(if changed { Some(written()) } else { walk.sink.replace_known(text) })
}

/// Whether it begins and ends as JSON does.
fn is_json(text: &str) -> bool {
    let it = text.trim();
    it.starts_with('{') && it.ends_with('}') || it.starts_with('[') && it.ends_with(']')
}

/// JSON between the first and the last quote of a line, where its own are escaped.
fn quoted(walk: &mut Walk<'_>, line: &str) -> Option<String> {
    let (from, to) = (line.find('"')? + 1, line.rfind('"')?);
    let inside = line.get(from..to).filter(|it| it.starts_with(['{', '[']) && it.contains('"'))?;
    let plain = inside.replace("\\\"", "\"").replace("\\\\", "\\");
    let new = match json(walk, &plain) {
        Some(it) => it?,
        None => cut_json(walk, &plain)?,
    };
    let new = new.replace('\\', "\\\\").replace('"', "\\\"");
    Some(format!("{}{new}{}", &line[..from], &line[to..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_was_cut_is_read_by_its_names() {
        let secret = "KizyjvGMLGGQuj";
        let packed = "eyJwYXNzd29yZCI6ICJLaXp5anZHTUxHR1F1aiJ9";
        for cut in [
            format!(r#"[{{"name": "password", "value": "{secret}"}}, ["session_to…"#),
            format!(r#"{{"a": {{"payload": "{packed}", "dat… Pretty-print"#),
            format!(r#"{{"name": "password", "value": "{secret}"}} Pretty-print"#),
        ] {
            let quoted = cut.replace('"', "\\\"");
            for text in [message(&cut), lines(&[format!("text \"{quoted}\"")]).concat()] {
                assert!(!text.contains(secret) && !text.contains(packed), "{text}");
                assert!(text.contains("REDACTED"), "{text}");
            }
        }
        for plain in ["[turn 1] read, and done", "{not json, at all", "[1, 2, 3", "{\"a\": 1, \"b"]
        {
            assert_eq!(message(plain), plain);
        }
    }
}
