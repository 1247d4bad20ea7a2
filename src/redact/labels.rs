//! What a page calls its fields, and what its buttons copy: the text for people beside a value.

use std::collections::BTreeMap;

use super::{
    class::SecretReason,
    markup::{self, Attribute},
    rules::Walk,
    step_counter,
};

/// Values of a page that a label, or a text for people in their own tag, names.
#[derive(Default)]
pub struct LabelledValues<'t> {
    /// By the field that they are for.
    labels: BTreeMap<&'t str, &'t str>,
    values: Vec<LabelledValue<'t>>,
}

struct LabelledValue<'t> {
    id: Option<&'t str>,
    said: Option<&'t str>,
    value: &'t str,
}

impl<'t> LabelledValues<'t> {
    /// Looks at one more tag. `tag`: its name, a part of `html`.
    pub fn add(&mut self, html: &'t str, tag: &'t str, attributes: &[Attribute<'t>]) {
        let get = |name: &str| {
            let of = |it: &&Attribute<'t>| it.name.eq_ignore_ascii_case(name);
            attributes.iter().find(of).map(|it| it.value).filter(|it| !it.is_empty())
        };
        if tag.eq_ignore_ascii_case("label") {
            if let Some(id) = get("for") {
                self.labels.insert(id, text_after(html, tag));
            }
            return;
        }
        if tag.eq_ignore_ascii_case("input")
            && let Some(value) = get("value")
        {
            self.values.push(LabelledValue { id: get("id"), said: get("aria-label"), value });
        }
        let copied = attributes.iter().find(|it| it.name.contains("clipboard"));
        if let Some(it) = copied.filter(|it| !it.value.is_empty()) {
            let said = get("aria-label").or_else(|| get("title"));
            let said = said.or_else(|| Some(text_after(html, tag)));
            self.values.push(LabelledValue { id: None, said, value: it.value });
        }
    }

    /// Those that are secrets by what names them.
    pub fn judge(&self, walk: &mut Walk<'_>, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
        for it in &self.values {
            let label = it.id.and_then(|id| self.labels.get(id).copied());
            for name in [label, it.said].into_iter().flatten() {
                walk.judge_cell(Some(name), it.value, found);
            }
        }
    }
}

/// The text behind a start tag, up to the next tag.
fn text_after<'t>(html: &'t str, tag: &'t str) -> &'t str {
    let rest = &html[tag.as_ptr() as usize - html.as_ptr() as usize..];
    let inside = markup::tag_end(rest).map_or("", |at| &rest[at + 1..]);
    let end = inside.bytes().take(100).position(|b| b == b'<').unwrap_or(0);
    step_counter::record_bytes(end);
    inside[..end].trim()
}
