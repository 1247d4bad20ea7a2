//! What of an answer is the data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::column_types::{self, ColumnType};

/// How to read the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResponseSpec {
    /// What the answer is.
    #[serde(rename = "type")]
    pub kind: ResponseType,
    /// For JSON: what stands around it. Absent for plain JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// For a file: its MIME type. An answer of another type is a failed extraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// JMESPath over the JSON (or the embedded JSON), at most 1 KiB. Without it the JSON is returned whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract: Option<String>,
    /// For text: what stands between two texts of it, the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<Between>,
    /// For text: the header of the answer that is read instead of its body, in lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// For HTML whose data is JSON in a `<script>`: its CSS selector. Then `extract` applies to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded: Option<String>,
    /// With `embedded`: the name that the script assigns the JSON to, such as `window.__STATE__`. Without it the first JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// For HTML: which elements are the items, and each field's selector within an item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<HtmlSpec>,
    /// Fewer items than this is a failed extraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u32>,
    /// How an answer looks that has no items, where one was seen: it is an answer then, whatever `min_items` says. Without it,
    /// HTML without items is a failed extraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<EmptyAnswer>,
    /// Paths (`hits[].title`) that the answer's shape must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_paths: Vec<String>,
    /// For JSON: JMESPath of what the answer says that it was asked for, by parameter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub echo: BTreeMap<String, String>,
    /// How an answer says how long its list is, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_info: Option<PageInfo>,
}

impl ResponseSpec {
    /// Adds to each item of a page the numbers, amounts and dates that its texts are. Returns a warning for each column that has a
    /// text which cannot be read; its values are `null` there.
    pub fn add_values(&self, data: &mut Value) -> Vec<String> {
        match &self.html {
            Some(it) if !it.types.is_empty() => column_types::add_values(&it.types, data),
            _ => Vec::new(),
        }
    }

    /// An answer of that kind, of which nothing more is known.
    pub const fn new(kind: ResponseType) -> Self {
        Self {
            kind,
            framing: None,
            media_type: None,
            extract: None,
            between: None,
            header: None,
            embedded: None,
            variable: None,
            html: None,
            min_items: None,
            empty: None,
            required_paths: Vec::new(),
            echo: BTreeMap::new(),
            page_info: None,
        }
    }
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Between {
    /// What stands before it, at most 1 KiB; empty for the beginning.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
    /// What stands after it, at most 1 KiB; empty for the end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub until: String,
}

impl Between {
    /// `None` where one of the two does not stand there.
    pub fn of<'t>(&self, text: &'t str) -> Option<&'t str> {
        let start = text.find(&self.after)? + self.after.len();
        let rest = &text[start..];
        Some(if self.until.is_empty() { rest } else { &rest[..rest.find(&self.until)?] })
    }
}

/// Where an answer says how many items there are, or that more follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageInfo {
    /// For JSON: JMESPath of the number of all items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
    /// For JSON: JMESPath of what is true, or not empty, while further pages follow: a flag, a cursor, an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// For HTML: words around the number of all items in a line of the page, `# of {total} results`. `#` is any other number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Items of a full page. An answer with as many may be continued; one with fewer is the last page, unless `line` is missing in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseType {
    Json,
    Html,
    Text,
}

/// What carries the JSON of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// A guard against inclusion as a script stands before it: `)]}'`, `while(1);`, `for(;;);`, `{}&&`.
    Prefix,
    /// A function is called with it: `callback({…});`.
    Jsonp,
    /// One value a line (NDJSON, JSON lines); read as an array.
    Lines,
    /// A document of JSON written as the one text of an object: `{"d": "{…}"}`.
    Text,
    /// JSON as some sites write it and JSON5 allows: `NaN` and `Infinity` (read as `null`), commas at the end, comments, single
    /// quotes, names without quotes.
    Lenient,
    /// A list of values that refer to one another by their numbers, as devalue and turbo-stream write it (SvelteKit, Nuxt, React
    /// Router); read as the value that they make. Dates are texts, sets are lists, what JSON has no value for is `null`.
    References,
    /// XML, converted to a JSON value, for feeds and XML interfaces. Attributes and elements become fields by name. An element with
    /// only text becomes that text. Sibling elements of one name become a list. DTDs are ignored.
    Xml,
    /// A script, read as an object of what it assigns to names: texts, JSON, and tables packed into one text
    /// (`ports = 'NRB:Norby|KAL:Kalvik|…'`) as lists of rows. Nothing is executed.
    Script,
    /// A file. Its data is what can be said of it: `{name, type, size, sha256}`, the digest in hexadecimal. A run writes the bytes
    /// where the caller wants them.
    File,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HtmlSpec {
    /// CSS selector of one item.
    pub items: String,
    /// An item goes on with the siblings after it, up to the next item: a `<dt>` with its `<dd>`, rows in pairs.
    #[serde(default, skip_serializing_if = "is_false")]
    pub run: bool,
    /// One thing and not a list: the data is the first item's fields.
    #[serde(default, skip_serializing_if = "is_false")]
    pub single: bool,
    /// CSS selector of headings: each item has the text of the last one before it as its field `group`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Field name to CSS selector within the item, `@attr` at the end for an attribute, empty selector for the item itself.
    /// `:column("Title")` is the cell of the row under that title, and `:column(2)` the cell in that column. `:labelled("Label")` is
    /// the text beside that label. `CSS:nth-match(2)` is the second element that matches, and `CSS[]` a list of all.
    pub fields: BTreeMap<String, String>,
    /// Names of fields that an item may be without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub optional: Vec<String>,
    /// By field: the number, the amount of money or the date that its text is. An item has it beside the text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, ColumnType>,
}

/// What an answer without items was seen to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmptyAnswer {
    /// For HTML: kinds of elements (`main`, `form#search`, `div.content`) that pages with and without items have; they say that
    /// the site is as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<String>,
    /// For HTML: a line of text, or a part of one, that only the page without items has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// For JSON: JMESPath of what is true of every answer, with items or without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<String>,
    /// For HTML, in recipes of earlier versions: none was seen. No page counts then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unseen: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_false(it: &bool) -> bool {
    !*it
}
