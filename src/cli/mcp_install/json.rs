//! One entry in JSON with comments, put in and taken out again.
//!
//! `jsonc-parser` says where each value, comma and comment stands; what is written goes between them. So that taking out undoes
//! putting in to the byte, a layout tells who made what: into an object that was there and empty the entry goes right behind
//! its brace, and an object whose first line breaks behind the brace, with nothing else in it, goes with the entry.

use std::{borrow::Cow, ops::Range};

use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult,
    ast::{Object, ObjectProp, Value},
    common::Ranged as _,
    parse_to_ast,
    tokens::Token,
};

use super::edit::{Change, EditOutcome, Entry, expect, foreign, invalid, is_ours, line_break};
use commis_base::error::Result;

/// As VS Code, Zed and Gemini CLI read their settings; stricter files are among these.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A token or a comment, and where it stands.
struct Part {
    at: Range<usize>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Comma,
    Line,
    Block,
    Other,
}

/// A text that was read.
struct ParsedJson<'a> {
    text: &'a str,
    parts: Vec<Part>,
    root: Option<Object<'a>>,
}

/// The text with halves of surrogate pairs in the place of which no character can be, though JSON has them, as another
/// character's escapes: as long, and of one that is in no name or path.
fn masked(text: &str) -> Cow<'_, str> {
    let unit = |at: usize| {
        let hex = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        let known = hex.bytes().all(|it| it.is_ascii_hexdigit());
        u16::from_str_radix(hex, 16).ok().filter(|_| known)
    };
    let mut out = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(next) = text[at..].find('\\') {
        at += next;
        at += match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.to_mut().replace_range(at..at + 6, "\\u0000");
                6
            }
            // What is escaped may be another of these.
            _ => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    out
}

/// Reads a text of which `masked` is the [`masked`] copy.
fn read<'a>(text: &'a str, masked: &'a str) -> Result<ParsedJson<'a>> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let ParseResult { value, tokens, .. } =
        parse_to_ast(masked, &collect, &OPTIONS).map_err(|err| {
            let what = err.kind().to_string();
            let mut chars = what.chars();
            let first = chars.next().map(|it| it.to_ascii_lowercase()).unwrap_or_default();
            invalid(text, err.range().start, &format!("{first}{}", chars.as_str()))
        })?;
    let parts = tokens.unwrap_or_default().into_iter().map(|it| Part {
        at: it.range.start..it.range.end,
        kind: match it.token {
            Token::Comma => Kind::Comma,
            Token::CommentLine(_) => Kind::Line,
            Token::CommentBlock(_) => Kind::Block,
            _ => Kind::Other,
        },
    });
    let root = match value {
        None => None,
        Some(Value::Object(it)) => Some(it),
        Some(other) => return Err(invalid(text, other.start(), "an object is expected")),
    };
    Ok(ParsedJson { text, parts: parts.collect(), root })
}

/// The one property of that name. Fails with `SETTINGS_INVALID` where there are two: readers disagree about which counts.
fn unique_property<'o, 'a>(
    text: &str,
    of: &'o Object<'a>,
    name: &str,
) -> Result<Option<&'o ObjectProp<'a>>> {
    let mut all = of.properties.iter().filter(|it| it.name.as_str() == name);
    let first = all.next();
    match all.next() {
        Some(it) => Err(invalid(text, it.start(), &format!("the key `{name}` appears twice"))),
        None => Ok(first),
    }
}

fn object<'o, 'a>(text: &str, of: &'o ObjectProp<'a>) -> Result<&'o Object<'a>> {
    match &of.value {
        Value::Object(it) => Ok(it),
        it => Err(invalid(text, it.start(), &format!("`{}` is no object", of.name.as_str()))),
    }
}

impl<'a> ParsedJson<'a> {
    /// The object of servers, and in it the entry.
    fn find(
        &self,
        key: &str,
        name: &str,
    ) -> Result<(Option<&ObjectProp<'a>>, Option<&ObjectProp<'a>>)> {
        let Some(root) = &self.root else { return Ok((None, None)) };
        let Some(servers) = unique_property(self.text, root, key)? else { return Ok((None, None)) };
        let entry = unique_property(self.text, object(self.text, servers)?, name)?;
        Ok((Some(servers), entry))
    }

    /// What stands last before `at`; `None` at the beginning.
    fn before(&self, at: usize) -> Option<&Part> {
        self.parts.iter().rev().find(|it| it.at.end <= at)
    }

    /// The first that is no comment from `at` on, or the last before it.
    fn after_comments(&self, at: usize) -> Option<&Part> {
        self.parts.iter().find(|it| it.at.start >= at && it.kind.is_code())
    }

    fn before_comments(&self, at: usize) -> Option<&Part> {
        self.parts.iter().rev().find(|it| it.at.end <= at && it.kind.is_code())
    }

    /// White space that the line of `at` begins with.
    fn indent(&self, at: usize) -> &'a str {
        let line = &self.text[self.text[..at].rfind('\n').map_or(0, |it| it + 1)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// What one level is set in by: what the first property is.
    fn unit(&self) -> &'a str {
        let first = self.root.as_ref().and_then(|it| it.properties.first());
        match first.map(|it| self.indent(it.start())) {
            Some(it) if !it.is_empty() => it,
            _ => "  ",
        }
    }

    /// Adds a property behind all that an object holds, its comments included.
    fn insert(&self, into: &Object<'_>, name: &str, value: &Node, change: &mut Change) {
        let close = into.end() - 1;
        let Some(last_part) = self.before(close) else { return };
        let behind = last_part.at.end;
        let line_break = line_break(self.text);
        let child = format!("{line_break}{}{}", self.indent(into.start()), self.unit());
        let broken = self.text[behind..close].contains('\n') || last_part.kind == Kind::Line;
        let Some(last) = into.properties.last() else {
            let gap = match last_part.kind {
                Kind::Other => String::new(),
                _ if broken => child,
                _ => " ".to_owned(),
            };
            let indent = match last_part.kind {
                Kind::Other => self.indent(into.start()).to_owned(),
                _ => format!("{}{}", self.indent(into.start()), self.unit()),
            };
            let value = value.lines(&indent, self.unit(), line_break);
            change.make(behind..behind, &format!("{gap}{}: {value}", quoted(name)));
            return;
        };
        // As the one before it is set.
        let from = self.before(last.start()).map_or(0, |it| it.at.end);
        let mut gap = match self.text[from..last.start()].rfind('\n') {
            Some(_) => format!("{line_break}{}", self.indent(last.start())),
            None => self.text[from..last.start()].to_owned(),
        };
        if last_part.kind == Kind::Line && !gap.contains('\n') {
            gap = child;
        }
        let value = if gap.contains('\n') {
            value.lines(gap.trim_start_matches(['\r', '\n']), self.unit(), line_break)
        } else if value.is_nested() {
            value.lines(self.indent(into.start()), self.unit(), line_break)
        } else {
            value.line()
        };
        let trailing = self.after_comments(last.end()).is_some_and(|it| it.kind == Kind::Comma);
        let tail = if trailing { "," } else { "" };
        let text = format!("{gap}{}: {value}{tail}", quoted(name));
        if trailing || behind != last.end() {
            change.make(behind..behind, &text);
            if !trailing {
                change.make(last.end()..last.end(), ",");
            }
        } else {
            change.make(behind..behind, &format!(",{text}"));
        }
    }

    /// Takes a property out of an object, with the comma that was for it.
    fn remove(&self, of: &ObjectProp<'_>, change: &mut Change) {
        let before = self.before(of.start());
        // What goes on in the line must not come to stand behind a comment.
        let goes_on = self.parts.iter().find(|it| it.at.start >= of.end()).is_some_and(|it| {
            it.kind != Kind::Comma && !self.text[of.end()..it.at.start].contains('\n')
        }) || self.after_comments(of.end()).is_some_and(|it| {
            let rest = &self.text[it.at.end..];
            let line = rest.split('\n').next().unwrap_or_default();
            it.kind == Kind::Comma && !line.trim().is_empty()
        });
        let from = match before {
            Some(it) if it.kind == Kind::Line && goes_on => of.start(),
            _ => before.map_or(0, |it| it.at.end),
        };
        let next = self.after_comments(of.end()).filter(|it| it.kind == Kind::Comma);
        let previous = self.before_comments(of.start()).filter(|it| it.kind == Kind::Comma);
        match (next, previous) {
            (Some(comma), _)
                if self.before(comma.at.start).is_some_and(|it| it.at.end <= of.end()) =>
            {
                change.make(from..comma.at.end, "");
            }
            (Some(comma), _) => {
                change.make(comma.at.clone(), "");
                change.make(from..of.end(), "");
            }
            (None, Some(comma)) if comma.at.end == from => {
                change.make(comma.at.start..of.end(), "");
            }
            (None, Some(comma)) => {
                change.make(from..of.end(), "");
                change.make(comma.at.clone(), "");
            }
            (None, None) => change.make(from..of.end(), ""),
        }
    }

    /// Whether an object came with the one property that it has.
    fn came_with(&self, whole: &Object<'_>, of: &ObjectProp<'_>) -> bool {
        let comments = self.parts.iter().any(|it| {
            !it.kind.is_code()
                && (whole.start()..whole.end()).contains(&it.at.start)
                && !(of.start()..of.end()).contains(&it.at.start)
        });
        whole.properties.len() == 1
            && !comments
            && self.text[whole.start() + 1..of.start()].contains('\n')
    }
}

impl Kind {
    fn is_code(self) -> bool {
        !matches!(self, Self::Line | Self::Block)
    }
}

/// A value that is written.
enum Node {
    Text(String),
    List(Vec<String>),
    Map(Vec<(String, Node)>),
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Node {
    fn from_entry(entry: &Entry) -> Self {
        Self::Map(Self::fields(entry).map(|(name, it)| (name.to_owned(), it)).collect())
    }

    fn fields(entry: &Entry) -> impl Iterator<Item = (&'static str, Self)> {
        let kind = entry.typed.then(|| ("type", Self::Text("stdio".to_owned())));
        kind.into_iter().chain([
            ("command", Self::Text(entry.command.clone())),
            ("args", Self::List(entry.args.clone())),
        ])
    }

    /// Whether it is an object with the entry in it, whose layout says that it came with it.
    fn is_nested(&self) -> bool {
        matches!(self, Self::Map(all) if all.iter().any(|it| matches!(it.1, Self::Map(_))))
    }

    /// On one line.
    fn line(&self) -> String {
        match self {
            Self::Text(it) => quoted(it),
            Self::List(all) => {
                format!("[{}]", all.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", "))
            }
            Self::Map(all) => {
                let all = all.iter().map(|(name, it)| format!("{}: {}", quoted(name), it.line()));
                format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// A property a line, in a place that is set in by `indent`.
    fn lines(&self, indent: &str, unit: &str, line_break: &str) -> String {
        let Self::Map(all) = self else { return self.line() };
        let inner = format!("{indent}{unit}");
        let all = all.iter().map(|(name, it)| {
            format!("{line_break}{inner}{}: {}", quoted(name), it.lines(&inner, unit, line_break))
        });
        format!("{{{}{line_break}{indent}}}", all.collect::<Vec<_>>().join(","))
    }

    fn matches(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Self::Text(it), Value::StringLit(value)) => *it == value.value,
            (Self::List(all), Value::Array(values)) => {
                let text = |it: &Value<'_>| it.as_string_lit().map(|it| it.value.to_string());
                all.iter().cloned().map(Some).eq(values.elements.iter().map(text))
            }
            _ => false,
        }
    }
}

/// Whether the entry starts commis.
fn ours(entry: &ObjectProp<'_>, wanted: &str) -> bool {
    let Value::Object(it) = &entry.value else { return false };
    it.get_string("command").is_some_and(|it| is_ours(&it.value, wanted))
}

/// Puts the entry under `key`. Fails with `SETTINGS_INVALID` for a text that is no such JSON, and with `USAGE` where the name
/// is somebody else's, unless `force`.
pub fn put(text: &str, key: &str, entry: &Entry, force: bool) -> Result<Change> {
    let mut out = Change::none(EditOutcome::Added, text);
    let masked = masked(text);
    let it = read(text, &masked)?;
    let value = Node::from_entry(entry);
    let whole = || Node::Map(vec![(entry.name.clone(), Node::from_entry(entry))]);
    match (&it.root, it.find(key, &entry.name)?) {
        (None, _) => {
            // After the comments that are all there is, if there are.
            let at = it.parts.last().map_or(0, |it| it.at.end);
            let gap = if it.parts.is_empty() { "" } else { line_break(text) };
            let root = Node::Map(vec![(key.to_owned(), whole())]);
            out.make(at..at, &format!("{gap}{}", root.lines("", "  ", line_break(text))));
        }
        (Some(root), (None, _)) => it.insert(root, key, &whole(), &mut out),
        (_, (Some(servers), None)) => {
            it.insert(object(text, servers)?, &entry.name, &value, &mut out);
        }
        (_, (_, Some(old))) if ours(old, &entry.command) => {
            out.done = EditOutcome::Unchanged;
            update(&mut out, key, entry)?;
        }
        (_, (_, Some(old))) => {
            if !force {
                return Err(foreign(text, old.start(), &entry.name));
            }
            out.done = EditOutcome::Updated;
            let value = value.lines(it.indent(old.start()), it.unit(), line_break(text));
            out.make(old.value.start()..old.value.end(), &value);
        }
    }
    expect(contains_entry(&out.text, key, entry))?;
    Ok(out)
}

/// Brings one field after the other up to date.
fn update(out: &mut Change, key: &str, entry: &Entry) -> Result<()> {
    for (name, value) in Node::fields(entry) {
        let text = out.text.clone();
        let masked = masked(&text);
        let it = read(&text, &masked)?;
        let (_, Some(old)) = it.find(key, &entry.name)? else { continue };
        let old = object(&text, old)?;
        match unique_property(&text, old, name)? {
            Some(field) if value.matches(&field.value) => continue,
            Some(field) => out.make(field.value.start()..field.value.end(), &value.line()),
            None => it.insert(old, name, &value, out),
        }
        out.done = EditOutcome::Updated;
    }
    let masked = masked(&out.text);
    let it = read(&out.text, &masked)?;
    if let (_, Some(Value::Object(all))) =
        it.find(key, &entry.name).map(|(servers, it)| (servers, it.map(|it| &it.value)))?
    {
        let names = all.properties.iter().map(|it| it.name.as_str().to_owned());
        out.kept = names.filter(|it| !["type", "command", "args"].contains(&it.as_str())).collect();
    }
    Ok(())
}

/// Whether the text has that entry.
fn contains_entry(text: &str, key: &str, entry: &Entry) -> bool {
    let masked = masked(text);
    let Ok(it) = read(text, &masked) else { return false };
    let Ok((_, Some(found))) = it.find(key, &entry.name) else { return false };
    let Value::Object(found) = &found.value else { return false };
    Node::fields(entry)
        .all(|(name, value)| found.get(name).is_some_and(|it| value.matches(&it.value)))
}

/// Takes the entry out. Fails as [`put`].
pub fn take(text: &str, key: &str, name: &str, command: &str, force: bool) -> Result<Change> {
    let mut out = Change::none(EditOutcome::Absent, text);
    let masked = masked(text);
    let it = read(text, &masked)?;
    let (Some(root), (Some(servers), Some(entry))) = (&it.root, it.find(key, name)?) else {
        return Ok(out);
    };
    if !force && !ours(entry, command) {
        return Err(foreign(text, entry.start(), name));
    }
    out.done = EditOutcome::Removed;
    if !it.came_with(object(text, servers)?, entry) {
        it.remove(entry, &mut out);
    } else if !it.came_with(root, servers) {
        it.remove(servers, &mut out);
    } else {
        out.empty = it.parts.iter().all(|it| (root.start()..root.end()).contains(&it.at.start));
        // Not nothing: a strict reader would fail.
        out.make(root.start()..root.end(), "{}");
    }
    let masked = self::masked(&out.text);
    let gone = read(&out.text, &masked).and_then(|it| it.find(key, name).map(|it| it.1.is_none()));
    expect(gone.unwrap_or(false))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::error::Code;

    fn entry() -> Entry {
        Entry {
            name: "commis".to_owned(),
            typed: false,
            command: "/opt/commis".to_owned(),
            args: vec!["mcp".to_owned()],
        }
    }

    fn added(text: &str) -> String {
        let out = put(text, "servers", &entry(), false).unwrap();
        assert_eq!(out.done, EditOutcome::Added, "{text}");
        let again = put(&out.text, "servers", &entry(), false).unwrap();
        assert_eq!((again.done, &again.text), (EditOutcome::Unchanged, &out.text));
        out.text
    }

    const ONE: &str = r#""command": "/opt/commis""#;
    const TWO: &str = r#""args": ["mcp"]"#;

    #[test]
    fn an_entry_is_set_as_its_neighbours_are() {
        let entry = format!("{{{ONE}, {TWO}}}");
        for (before, after) in [
            (
                "{\n\t// mine\n\t\"servers\": {\n\t\t\"a\": {} // first\n\t}\n}\n",
                format!(
                    "{{\n\t// mine\n\t\"servers\": {{\n\t\t\"a\": {{}}, // first\n\t\t\"commis\": {{\n\t\t\t{ONE},\n\t\t\t{TWO}\n\t\t}}\n\t}}\n}}\n"
                ),
            ),
            (
                r#"{"servers":{"a":1.50e3,"b":2}}"#,
                format!(r#"{{"servers":{{"a":1.50e3,"b":2,"commis": {entry}}}}}"#),
            ),
            (
                r#"{ "servers": { "a": 1 } }"#,
                format!(r#"{{ "servers": {{ "a": 1, "commis": {entry} }} }}"#),
            ),
            (
                "{\r\n  \"servers\": {\r\n    \"a\": 1,\r\n  },\r\n}",
                format!(
                    "{{\r\n  \"servers\": {{\r\n    \"a\": 1,\r\n    \"commis\": {{\r\n      {ONE},\r\n      {TWO}\r\n    }},\r\n  }},\r\n}}"
                ),
            ),
            (
                "",
                format!(
                    "{{\n  \"servers\": {{\n    \"commis\": {{\n      {ONE},\n      {TWO}\n    }}\n  }}\n}}"
                ),
            ),
        ] {
            assert_eq!(added(before), after, "{before}");
        }
    }

    #[test]
    fn taking_out_undoes_putting_in() {
        for before in [
            "{}",
            "{}\n",
            "{ }",
            "{\n}\n",
            "{\n  \n}",
            "{\"servers\":{}}",
            "{\n  \"servers\": {}\n}\n",
            "{\n  \"servers\": {\n  }\n}",
            "{\"a\":1}",
            "{\"a\":1,}",
            "{ \"a\": [1, 2.0, 1e400] , \"b\" : \"\\u00e9\" }",
            "{\n    \"a\": 1\n}",
            "{\n    \"a\": 1,\n}\n",
            "{\n  \"a\": 1 // why\n}",
            "{\n  \"a\": 1, // why\n  // and\n}",
            "{\n  \"a\": 1 // why\n  , // and\n}",
            "{\n  \"a\": 1 /* x */ /* y */ }",
            "{ // only this\n}",
            "{ /* only this */ }",
            "{\"servers\": { /* none */ }}",
            "{\"servers\": {\n // none\n }, \"z\": 1}",
            "{\n  \"servers\": {\n    \"a\": {\"command\": \"x\"} // last\n  },\n  \"z\": 1\n}\n",
            "{\r\n\t\"servers\": {\r\n\t\t\"a\": 1\r\n\t}\r\n}\r\n",
            "// head\n{\n  \"servers\": {\n    \"a\": 1\n  }\n}\n// tail\n",
            "{\"servers\":{\"a\":1 // x\n}}",
            "{\"serv\\u0065rs\": {\"a\": 1}}",
        ] {
            let text = added(before);
            let after = take(&text, "servers", "commis", "/opt/commis", false).unwrap();
            assert_eq!(after.done, EditOutcome::Removed, "{before}");
            assert_eq!(after.text, before, "{text}");
        }
    }

    #[test]
    fn an_entry_is_taken_from_between_others() {
        for (before, after) in [
            (
                "{\"servers\": {\"commis\": {\"command\": \"commis\"}, \"b\": 1}}",
                "{\"servers\": { \"b\": 1}}",
            ),
            (
                "{\"servers\": {\n  \"a\": 1,\n  \"commis\": {\"command\": \"commis\"}, // ours\n  \"b\": 1\n}}",
                "{\"servers\": {\n  \"a\": 1, // ours\n  \"b\": 1\n}}",
            ),
            (
                "{\"servers\": {\n  \"a\": 1, // a's\n  \"commis\": {\"command\": \"commis\"} /* x */ ,\n  \"b\": 1\n}}",
                "{\"servers\": {\n  \"a\": 1, // a's\n   /* x */ \n  \"b\": 1\n}}",
            ),
            (
                "{\n  // about\n  \"servers\": {\n    \"commis\": {\"command\": \"commis\"}\n  }\n}",
                "{\n  // about\n}",
            ),
            (
                "{\"servers\": { // x\n  \"commis\": {\"command\": \"commis\"}, \"b\": 1}}",
                "{\"servers\": { // x\n   \"b\": 1}}",
            ),
            (
                "{\"servers\": {\"a\": 1, // x\n  \"commis\": {\"command\": \"commis\"}}}",
                "{\"servers\": {\"a\": 1 // x\n  }}",
            ),
            (
                "{\"servers\": { // x\n  \"commis\": {\"command\": \"commis\"} /* y */ }}",
                "{\"servers\": { // x\n   /* y */ }}",
            ),
        ] {
            let out = take(before, "servers", "commis", "/x", false);
            // A comment of the line before must not swallow what follows.
            assert_eq!(out.unwrap().text, after, "{before}");
        }
    }

    #[test]
    fn only_a_file_with_nothing_else_in_it_is_empty() {
        let empty = |text: &str| take(text, "servers", "commis", "/x", false).unwrap().empty;
        assert!(empty(&added("")));
        assert!(!empty(&added("{}")));
        assert!(!empty(&added("// mine")));
        assert!(!empty(&added("{\"servers\": {}}")));
    }

    #[test]
    fn our_entry_is_brought_up_to_date_and_what_is_added_to_it_stays() {
        let typed = Entry { typed: true, ..entry() };
        let before = "{\"servers\": {\n  \"commis\": {\n    \"command\": \"/old/commis\", // here\n    \"env\": {\"A\": \"b\"}\n  }\n}}";
        let out = put(before, "servers", &typed, false).unwrap();
        assert_eq!((out.done, out.kept), (EditOutcome::Updated, vec!["env".to_owned()]));
        assert_eq!(
            out.text,
            "{\"servers\": {\n  \"commis\": {\n    \"command\": \"/opt/commis\", // here\n    \"env\": {\"A\": \"b\"},\n    \"type\": \"stdio\",\n    \"args\": [\"mcp\"]\n  }\n}}"
        );
        assert!(out.pieces.iter().all(|it| !format!("{it:?}").contains("env")));
    }

    #[test]
    fn an_entry_of_somebody_else_is_theirs() {
        for theirs in [
            "{\"command\": \"npx\"}",
            "{\"url\": \"http://x\"}",
            "{\"command\": [\"commis\"]}",
            "null",
            "{\"command\": \"/x/not-commis\"}",
        ] {
            let text = format!("{{\"servers\": {{\"commis\": {theirs}, \"b\": 1}}}}");
            for err in [
                put(&text, "servers", &entry(), false).unwrap_err(),
                take(&text, "servers", "commis", "/opt/commis", false).unwrap_err(),
            ] {
                assert_eq!(err.code(), Code::Usage);
                assert!(err.hint_text().is_some_and(|it| it.contains("--force")));
            }
            let forced = put(&text, "servers", &entry(), true).unwrap();
            assert_eq!(forced.done, EditOutcome::Updated);
            let out = take(&text, "servers", "commis", "/opt/commis", true).unwrap();
            assert_eq!(out.text, "{\"servers\": { \"b\": 1}}");
        }
    }

    /// `JSON.stringify` writes half of a pair as an escape, as of a text that was cut there.
    #[test]
    fn half_of_a_surrogate_pair_is_read_over_and_stays() {
        for before in [
            r#"{"history":["cut \ud83d"],"servers":{}}"#,
            r#"{"a":"\uDE00 \uD83D\ude00 \ud83d\ud83d\ude00 \\ud83d \ud83d\\", "\udfff": 1}"#,
            "{ // \\ud83d \\\n  \"a\": \"\\ud83d\" /* \\*/\n}",
            r#"{"servers":{"a":{"command":"\ud83d"}},"z":"\uD83D\n"}"#,
        ] {
            let text = added(before);
            let after = take(&text, "servers", "commis", "/opt/commis", false).unwrap();
            assert_eq!(after.text, before, "{text}");
        }
        let ours =
            r#"{"servers":{"commis":{"command":"/x/commis","args":["\ud83d"],"b":"\udc00"}}}"#;
        let out = put(ours, "servers", &entry(), false).unwrap();
        assert_eq!(
            out.text,
            r#"{"servers":{"commis":{"command":"/opt/commis","args":["mcp"],"b":"\udc00"}}}"#
        );
        for text in [r#"{"a": "\ud83"}"#, r#"{"a": "\ud8zz"}"#, r#"{"a": \ud83d}"#] {
            let err = put(text, "servers", &entry(), false).unwrap_err();
            assert_eq!(err.code(), Code::SettingsInvalid, "{text}");
        }
    }

    #[test]
    fn what_is_no_such_json_is_named_by_line_and_column() {
        for (text, part) in [
            ("{\n  \"a\" 1\n}", "line 2, column 7: expected colon"),
            ("{\"a\": 1", "line 1, column 1: unterminated object"),
            ("[1]", "line 1, column 1: an object is expected"),
            ("\"x\"", "an object is expected"),
            ("{\n\"servers\": []}", "line 2, column 12: `servers` is no object"),
            ("{\"servers\": null}", "`servers` is no object"),
            (
                "{\"servers\": {},\n \"servers\": {}}",
                "line 2, column 2: the key `servers` appears twice",
            ),
            (
                "{\"servers\": {\"commis\": 1, \"c\\u006fmmis\": 2}}",
                "the key `commis` appears twice",
            ),
            ("{a: 1}", "line 1, column 2"),
            ("{'a': 1}", "line 1, column 2"),
            ("{\"a\": 0x1}", "line 1, column 7"),
            ("{\"a\": 1 \"b\": 2}", "expected comma"),
            ("{} {}", "more than one"),
            ("\u{0}", "line 1, column 1"),
        ] {
            let err = put(text, "servers", &entry(), true).unwrap_err();
            assert_eq!(err.code(), Code::SettingsInvalid, "{text}");
            assert!(err.to_string().contains(part), "{text}: {err}");
        }
        let deep = "[".repeat(100_000);
        assert!(put(&format!("{{\"a\": {deep}"), "servers", &entry(), false).is_err());
    }

    proptest::proptest! {
        /// Whatever JSON is there, in whatever layout: what is put in can be taken out, and nothing else is touched.
        #[test]
        fn any_object_comes_back(mut value in object(3), layout in 0_usize..7) {
            if !value["servers"].is_object() {
                value.as_object_mut().unwrap().remove("servers");
            }
            let before = laid_out(&value, layout);
            let text = added(&before);
            if layout < 4 {
                let mut want = value.clone();
                want["servers"]["commis"] =
                    serde_json::json!({"command": "/opt/commis", "args": ["mcp"]});
                let read: serde_json::Value = serde_json::from_str(&text).unwrap();
                proptest::prop_assert_eq!(read, want);
            }
            let after = take(&text, "servers", "commis", "/opt/commis", false).unwrap();
            proptest::prop_assert_eq!(after.text, before);
        }
    }

    proptest::proptest! {
        /// Any text is edited or refused, and what was edited stays so.
        #[test]
        fn any_text_is_edited_or_refused(text in "([{}\\[\\],:\"/* \\r\\né1]|//|\"servers\":|\"commis\":|\"command\":|\"commis\"|\\{\\}){0,40}") {
            if let Ok(out) = put(&text, "servers", &entry(), false) {
                let again = put(&out.text, "servers", &entry(), false).unwrap();
                proptest::prop_assert_eq!(again.done, EditOutcome::Unchanged);
                let gone = take(&out.text, "servers", "commis", "/opt/commis", false).unwrap();
                let none = take(&gone.text, "servers", "commis", "/opt/commis", false).unwrap();
                proptest::prop_assert_eq!(none.done, EditOutcome::Absent);
            }
        }
    }

    fn laid_out(value: &serde_json::Value, layout: usize) -> String {
        match layout {
            0 => value.to_string(),
            1 => serde_json::to_string_pretty(value).unwrap(),
            2 => serde_json::to_string_pretty(value).unwrap().replace('\n', "\r\n") + "\r\n",
            3 => value.to_string().replace(',', " , ").replace('{', "{ "),
            // Strings have none of these characters in them.
            4 => laid_out(value, 1).replace(',', ", // x").replace("{\n", "{ // y\n"),
            5 => laid_out(value, 1).replace(',', " // x\n, // y").replace("\n}", " // z\n}"),
            _ => value.to_string().replace(',', "/* x */,").replace('}', "/* y */}"),
        }
    }

    fn object(depth: u32) -> impl proptest::strategy::Strategy<Value = serde_json::Value> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            any::<bool>().prop_map(serde_json::Value::from),
            any::<i32>().prop_map(serde_json::Value::from),
            "[a-z\"\\\\é ]{0,6}".prop_map(serde_json::Value::from),
        ];
        let name = prop_oneof![3 => "[a-z]{1,3}", 1 => Just("servers".to_owned())];
        let inner = leaf.prop_recursive(depth, 24, 4, move |it| {
            prop_oneof![
                prop::collection::vec(it.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::btree_map("[a-z]{1,3}", it, 0..4)
                    .prop_map(|it| it.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        });
        prop::collection::btree_map(name, inner, 0..4)
            .prop_map(|it| it.into_iter().collect::<serde_json::Map<_, _>>().into())
    }
}
