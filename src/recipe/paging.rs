//! How a recipe asks for the further pages of a list, and where in the list a call stands.

use std::hash::{DefaultHasher, Hash, Hasher};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use commis_base::error::{Code, Error, Result};

/// Bytes of a continuation token.
const MAX_TOKEN: usize = 16 * 1024;

/// How further pages are asked for, as it was proven. Recipes of language 2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pages {
    /// What leads from one page to the next.
    pub by: PageBy,
    /// The part of the request that takes the position. A plain name is a pair of the query or the form. A JSON pointer
    /// (`/variables/after`) is a leaf of the JSON body. A name and a pointer (`variables/after`) are a leaf of the JSON in that pair.
    /// Absent if pages follow links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// Where that is.
    #[serde(default, skip_serializing_if = "PagePlace::is_query")]
    pub place: PagePlace,
    /// The position of the first page, where pages or items are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// For JSON: JMESPath of the cursor or the address of the next page; where pages or items are counted, of what is true, or
    /// not empty, while further pages follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How the list was seen to end.
    pub ends: Vec<PageEnd>,
    /// The field that tells the items from one another: an item that comes again on a later page is given once. Without it the
    /// whole item does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Different items may be alike: none is left out as one that came before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alike: bool,
    /// The task asks for all items: a run gives all pages unless it is told otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// What was seen when it was proven.
    pub seen: PagesSeen,
}

/// What leads from one page to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageBy {
    /// The parameter counts pages.
    Page,
    /// The parameter counts items.
    Offset,
    /// The parameter takes what `next` gives.
    Cursor,
    /// `next` gives the address.
    Url,
    /// The header `Link` gives the address (RFC 8288).
    LinkHeader,
    /// A link of the page gives the address.
    PageLink,
}

impl PageBy {
    /// The word that recipes have for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Offset => "offset",
            Self::Cursor => "cursor",
            Self::Url => "url",
            Self::LinkHeader => "link_header",
            Self::PageLink => "page_link",
        }
    }

    /// The next page has an address of its own.
    pub const fn is_address(self) -> bool {
        matches!(self, Self::Url | Self::LinkHeader | Self::PageLink)
    }

    /// The next position follows from the last one.
    pub const fn is_computable(self) -> bool {
        matches!(self, Self::Page | Self::Offset)
    }
}

/// Where the position of a page stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PagePlace {
    #[default]
    Query,
    Form,
    Json,
    /// In JSON that stands in a pair of the query.
    QueryJson,
    /// In JSON that stands in a pair of the form.
    FormJson,
}

impl PagePlace {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    fn is_query(&self) -> bool {
        *self == Self::Query
    }
}

/// How a list was seen to end.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PageEnd {
    /// The answer holds as many items as the site says that there are.
    Total,
    /// There is no cursor or link, or the flag says that nothing follows.
    Missing,
    /// The cursor is the one that was sent.
    Same,
    /// The page after the last has no items.
    Empty,
    /// The page after the last is not there (404).
    NotFound,
    /// The page after the last is the last again.
    Repeats,
}

/// What a proof of pages saw, over both examples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PagesSeen {
    /// Pages with items.
    pub pages: u64,
    /// Items, each once.
    pub items: u64,
    /// Items that came a second time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u64,
    /// The items were as many as the site says that there are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(it: &u64) -> bool {
    *it == 0
}

/// Where a call stands in a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    Number(u64),
    Cursor(String),
    Address(String),
}

/// Where a list goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumption {
    /// The page that comes next; none for the first.
    pub at: Option<Position>,
    /// Items that came before that page.
    pub after: u64,
    /// Items of that page that were given before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skip: u64,
    /// Marks of the items of the last page, where pages were seen to overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct ContinuationToken {
    /// Of what was asked for.
    of: String,
    #[serde(flatten)]
    from: Resumption,
}

/// A continuation token. `asked` is what it belongs to (the recipe and its values): with other values it is refused.
pub fn encode_token(asked: &str, from: &Resumption) -> String {
    let token = ContinuationToken { of: call_mark(asked), from: from.clone() };
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default())
}

/// What a token says. Fails with `PARAM_INVALID` where it is none, or one of another call.
pub fn decode_token(asked: &str, text: &str) -> Result<Resumption> {
    let refused = |why: &str| {
        Error::new(Code::ParamInvalid, why.to_owned())
            .hint("leave it out to begin with the first page; to go on, give the token of the last answer with the same recipe and values")
    };
    let read = || -> Option<ContinuationToken> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).ok()?;
        serde_json::from_slice(&bytes).ok()
    };
    let found = (text.len() <= MAX_TOKEN).then(read).flatten();
    let found = found.ok_or_else(|| refused("the continuation token cannot be read"))?;
    if found.of != call_mark(asked) {
        return Err(refused("the continuation token belongs to another call"));
    }
    Ok(found.from)
}

/// Tells calls from one another; no secret and no proof.
fn call_mark(asked: &str) -> String {
    let mut hasher = DefaultHasher::new();
    asked.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_belongs_to_its_call() {
        let at = Position::Cursor("c/5=".to_owned());
        let from = Resumption { at: Some(at), after: 40, skip: 3, last: vec![1, u64::MAX] };
        let text = encode_token("shop q=a", &from);
        assert_eq!(decode_token("shop q=a", &text).unwrap(), from);
        for (asked, text) in [("shop q=b", text.as_str()), ("shop q=a", "!"), ("shop q=a", "")] {
            assert_eq!(decode_token(asked, text).unwrap_err().code(), Code::ParamInvalid, "{text}");
        }
    }
}
