//! `SessionRecording`: what one watched session looked like, redacted, bounded, with the measurements that ranking needs.
//!
//! Everything that can only be computed from whole or secret values (full shape, overlap with the page, where a token came
//! from) is computed while redacting and stored here; no later stage sees a raw byte.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use commis_base::error::{Code, Error, Result};
use commis_recipe::model::{Framing, HtmlSpec, StorageArea};

/// Written by record, twice when a second example was driven (`01_…`, `01b_…`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionRecording {
    /// The task sentence with this example's values filled in.
    pub task: String,
    /// Where the session started, redacted.
    pub url: String,
    pub driver: Driver,
    /// The example's values by parameter name: what a person typed.
    pub typed: BTreeMap<String, String>,
    pub actions: Vec<Action>,
    /// The answer an agent gave, if an agent drove.
    pub final_answer: Option<String>,
    pub page: FinalPage,
    /// In the order the requests were sent.
    pub exchanges: Vec<Exchange>,
    /// Requests the egress policy stopped.
    pub blocked: Vec<BlockedRequest>,
    /// What is to be known of how it was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The site of the login that the pages were opened with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login_site: Option<String>,
    /// From the first navigation to the end of the last step, milliseconds. 0 for an import.
    pub duration_ms: u64,
    /// The browser's product string or the HAR's creator.
    pub producer: String,
}

impl SessionRecording {
    /// The exchange of that id. Fails with [`Code::ArtifactCorrupt`]: only a file that was tampered with names another.
    pub fn exchange(&self, id: u32) -> Result<&Exchange> {
        self.exchanges.get(id as usize).ok_or_else(|| {
            Error::new(Code::ArtifactCorrupt, format!("the recording has no exchange {id}"))
                .hint("learn the task again with --force")
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// Scripted steps in live Chromium.
    Steps,
    /// A HAR file.
    Har,
}

/// Something done to the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    pub kind: ActionKind,
    /// Accessible role and name of the element, where there is one.
    pub role: Option<String>,
    pub name: Option<String>,
    /// Text typed, key pressed or URL opened, redacted.
    pub value: Option<String>,
    /// Milliseconds since the recording began.
    pub at_ms: u64,
    /// The form's control that was used, as the page declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
}

impl Action {
    /// Something done to the page itself, now.
    #[must_use]
    pub fn new(kind: ActionKind, value: Option<&str>) -> Self {
        let value = value.map(str::to_owned);
        Self { kind, role: None, name: None, value, at_ms: 0, control: None }
    }
}

/// A form's control, as its page declares it: never what stands in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Control {
    /// `select`, `textarea`, or the type of an input: `text`, `search`, `radio`, `checkbox`, `number`, `date`, `range`, …; `link` or
    /// `button` for one of several that differ in one value.
    pub kind: String,
    /// The form field's name; of a link the key in its address or `//` for its host, of a button the attribute without `data-`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// What may be chosen: of a list, of all radio buttons of one name, or offered to whoever types. At most 500.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ControlOption>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

impl Control {
    /// Each word that stands for one value, in the page's order.
    pub fn choices(&self) -> impl Iterator<Item = &ControlOption> {
        let once =
            |word: &str| self.options.iter().filter(|it| same_words(&it.label, word)).count() == 1;
        let whole = |it: &str| !it.is_empty() && !it.contains("[REDACTED:");
        self.options
            .iter()
            .filter(move |it| whole(&it.label) && whole(&it.value) && once(&it.label))
    }

    /// Whether one of its choices is called so, or sends that.
    pub fn offers(&self, word: &str) -> bool {
        self.choices().any(|it| same_words(&it.label, word) || it.value == word)
    }

    /// What the form sends for a word, where that is something else.
    pub fn sent_value(&self, word: &str) -> Option<&str> {
        let found = self.choices().find(|it| same_words(&it.label, word))?;
        (!same_words(&found.value, word)).then_some(found.value.as_str())
    }
}

/// But for case and white space.
fn same_words(a: &str, b: &str) -> bool {
    let plain = |it: &str| it.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    a == b || plain(a) == plain(b)
}

/// One choice: the word that a person sees, and what the form sends for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlOption {
    pub label: String,
    pub value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    Navigate,
    Fill,
    Press,
    Click,
    Select,
    Check,
    Uncheck,
    Hover,
    Scroll,
    WaitFor,
}

/// The last page, as a person saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FinalPage {
    pub url: String,
    pub title: String,
    /// `innerText` of the page and its frames, redacted, at most 32 KiB.
    pub visible_text: String,
    /// A password field was on the page: it asks for a login.
    pub has_password_field: bool,
    /// What repeated on the page as it was drawn, frames and shadow roots included, and what stood beside labels; weightiest
    /// first. What an answer must hold to be the data.
    #[serde(default)]
    pub shown: Vec<ShownBlock>,
    /// What of the page says that its list goes on: a link to the next page, a button that loads more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Items alike, or one thing with its properties, as the page showed them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShownBlock {
    /// Names of the columns; of a record, its labels.
    pub fields: Vec<String>,
    /// Redacted texts by item and column, at most 600 items; a record is one.
    pub rows: Vec<Vec<Option<String>>>,
    /// How many items there were.
    pub count: u32,
    pub is_record: bool,
    /// Of the heading before it.
    pub heading: Option<String>,
    /// What its markup calls it: words of classes and ids, and of the paths that most of its links share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    /// Characters of its items; less where it stands in what surrounds the content.
    pub weight: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockedRequest {
    pub url: String,
    /// A `Code` of the egress policy, such as `URL_BLOCKED`.
    pub code: String,
    pub reason: String,
}

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Position in the recording, from 0; the id that later artifacts use.
    pub id: u32,
    pub method: String,
    /// Absolute, canonical, without fragment, secrets replaced by placeholders.
    pub url: String,
    pub request_headers: Vec<Header>,
    pub request_body: Option<RequestBody>,
    /// The charset that query and form were sent in, where it was not UTF-8. They are kept in UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
    pub status: Option<u16>,
    pub response_headers: Vec<Header>,
    /// Essence of the response's MIME type, lower case, such as `application/json`.
    pub mime: String,
    /// What stood around the JSON of the answer; the excerpt is without it.
    #[serde(default)]
    pub framing: Option<Framing>,
    /// Name of the query parameter that named the JSONP callback.
    #[serde(default)]
    pub callback: Option<String>,
    pub resource_type: ResourceType,
    pub initiator: Initiator,
    pub timing: Timing,
    /// Index into `actions` of the last action before this request.
    pub after_action: Option<u32>,
    /// Id of the exchange whose redirect led here.
    pub redirected_from: Option<u32>,
    pub encoded_bytes: Option<u64>,
    pub decoded_bytes: Option<u64>,
    pub body_status: BodyStatus,
    /// What is kept of the answer; always valid in its kind, within 32 KiB.
    pub excerpt: Option<Excerpt>,
    pub measures: Measures,
    /// Where the secret values of this request came from.
    pub origins: Vec<ValueOrigin>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Lower case.
    pub name: String,
    pub value: String,
}

/// A request body by kind, redacted and bounded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestBody {
    Json(serde_json::Value),
    /// `application/x-www-form-urlencoded`, decoded, in order.
    Form(Vec<Field>),
    /// `multipart/form-data`: text fields by value, files by name only.
    Multipart(Vec<Field>),
    Text(String),
    /// Not text; only its size is kept.
    Binary {
        bytes: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    pub value: String,
    /// The value is the name of a file, whose content is not kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub file: bool,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ResourceType {
    Document,
    Iframe,
    Xhr,
    Fetch,
    Script,
    Stylesheet,
    Image,
    Font,
    Media,
    Websocket,
    EventSource,
    Ping,
    Preflight,
    Prefetch,
    Manifest,
    Other,
}

impl ResourceType {
    /// As the browser's developer tools call it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Iframe => "iframe",
            Self::Xhr => "xhr",
            Self::Fetch => "fetch",
            Self::Script => "script",
            Self::Stylesheet => "stylesheet",
            Self::Image => "image",
            Self::Font => "font",
            Self::Media => "media",
            Self::Websocket => "websocket",
            Self::EventSource => "event stream",
            Self::Ping => "ping",
            Self::Preflight => "preflight",
            Self::Prefetch => "prefetch",
            Self::Manifest => "manifest",
            Self::Other => "other",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Initiator {
    pub kind: InitiatorKind,
    /// Script frames were on the stack.
    pub has_stack: bool,
    /// URL of the document that asked, redacted.
    pub page_url: String,
    /// Which kind of target sent it.
    pub target: TargetKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InitiatorKind {
    Parser,
    Script,
    Preload,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    Page,
    Iframe,
    Worker,
    SharedWorker,
    ServiceWorker,
}

/// Milliseconds since the recording began; 0 where unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    pub start_ms: u64,
    /// From sent to the first byte of the answer.
    pub ttfb_ms: u64,
    /// From sent to the last byte of the answer.
    pub total_ms: u64,
}

/// Whether the body of the answer was seen, and if not, why not.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BodyStatus {
    /// Seen whole and kept whole.
    Captured,
    /// Seen whole, measured whole, kept in part.
    Truncated,
    /// Over the recorder's cap; not read.
    TooLarge,
    /// Seen and not kept, since it is not text.
    Binary,
    /// The browser had dropped it before it could be read.
    Evicted,
    /// The request had not finished when the recording ended.
    Inflight,
    /// Withheld whole by redaction.
    Redacted,
    /// There is none: 204, 304, a redirect, HEAD, or a zero-length answer.
    Empty,
    /// The request failed or was blocked.
    Failed,
    /// The source (a HAR) does not hold it.
    Absent,
}

/// What is kept of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Excerpt {
    /// Structurally truncated: valid JSON; arrays and strings are cut, nothing is cut in the middle.
    /// Integers beyond 2^53 are kept as strings (RFC 8785 cannot hold them).
    Json(serde_json::Value),
    /// The redacted markup that holds what the page showed.
    Html(String),
    Text(String),
}

/// Measured over the whole answer and the raw request, before anything was cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measures {
    /// Typed JSON paths to depth 6, sorted; see `shape`. Empty when the body is not JSON.
    pub shape: Vec<String>,
    /// The arrays (and maps of objects) in a JSON body, outermost first, at most 32: those that hold most.
    pub lists: Vec<ListMeasure>,
    /// Text leaves (JSON) or text nodes (HTML), of 3 characters or more, distinct.
    pub leaves: u32,
    /// How many of those occur verbatim in the visible text of the final page (or the final answer).
    pub leaves_visible: u32,
    /// The same, each leaf weighted by its rarity: 1000 ÷ (number of exchanges whose body holds it).
    pub visible_weight: u32,
    /// Share of the visible text's distinct words (of 3 characters or more, rarest first) found in the body, basis points.
    pub page_coverage_bp: u32,
    /// Names of typed values found in URL, query or request body.
    pub typed_in_request: Vec<TypedHit>,
    /// Names of typed values found in the answer.
    pub typed_in_response: Vec<String>,
    /// Objects and arrays and scalars in a JSON body.
    pub json_nodes: u32,
    pub json_depth: u32,
    /// Top-level keys of a JSON object, at most 32.
    pub top_keys: Vec<String>,
    /// For HTML: data held in `<script>` elements as JSON.
    pub embedded_json: Vec<EmbeddedJson>,
    /// For HTML: what repeats in the whole document, weightiest first, and how it is read.
    #[serde(default)]
    pub listings: Vec<Listing>,
    /// How many items of each of the page's `shown` stand in the answer.
    #[serde(default)]
    pub holds: Vec<u32>,
}

/// Items alike in an HTML answer, or one record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    pub html: HtmlSpec,
    /// Other selectors that mean the same items of this document.
    pub ways: Vec<String>,
    /// Titles of the columns of the table that its items are rows of, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heads: Vec<String>,
    pub items: u32,
    pub weight: u32,
    /// Its fingerprint, over all items.
    pub shape: Vec<String>,
    /// The first items as they are read, redacted, at most 8.
    pub sample: Vec<serde_json::Value>,
    /// How many items of each of the page's `shown` stand in it.
    pub holds: Vec<u32>,
    /// Texts of it that the page's text held, in basis points.
    pub visible_bp: u32,
    /// Share of the document's text that it holds, in basis points.
    pub share_bp: u32,
}

impl Measures {
    /// Every string that comes from keys and names of a stranger's data.
    pub fn names_mut(&mut self) -> impl Iterator<Item = &mut String> {
        fn of_list(it: &mut ListMeasure) -> impl Iterator<Item = &mut String> {
            std::iter::once(&mut it.path).chain(&mut it.keys)
        }
        let embedded = self.embedded_json.iter_mut().flat_map(|it| {
            std::iter::once(&mut it.selector)
                .chain(&mut it.shape)
                .chain(it.lists.iter_mut().flat_map(of_list))
        });
        self.shape
            .iter_mut()
            .chain(&mut self.top_keys)
            .chain(self.lists.iter_mut().flat_map(of_list))
            .chain(self.typed_in_request.iter_mut().map(|it| &mut it.key))
            .chain(embedded)
            .chain(self.listings.iter_mut().flat_map(|it| it.shape.iter_mut()))
    }
}

/// A list in a JSON answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListMeasure {
    /// JMESPath from the root, such as `data.search.nodes`; `@` for a root array, `results.*` for a map by id, `[1]` in an
    /// array whose elements differ in kind.
    pub path: String,
    pub len: u32,
    /// Arrays at this path; more than one only inside another list.
    #[serde(default = "once")]
    pub instances: u32,
    /// Elements are objects.
    pub of_objects: bool,
    /// Keys of the first elements, united, sorted, at most 24.
    pub keys: Vec<String>,
    /// It is an object whose values are alike objects.
    #[serde(default)]
    pub of_map: bool,
    /// Share of the JSON's text leaves (numbers too, 3 characters or more) that are below it, basis points.
    #[serde(default)]
    pub share_bp: u32,
    /// Text leaves below it that are visible on the final page.
    pub leaves_visible: u32,
    /// Elements with at least one such leaf.
    pub items_visible: u32,
}

fn once() -> u32 {
    1
}

/// A typed value and where in the request it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypedHit {
    /// Parameter name, from the example.
    pub name: String,
    pub place: Place,
    /// Query name, JSON pointer, form field name, or the 0-based path segment.
    pub key: String,
    /// The whole value equals what was typed; otherwise it contains it.
    pub exact: bool,
    /// It is what the form sends for the option of that name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub option: bool,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Path,
    Query,
    Json,
    Form,
    Text,
    Header,
    /// The host, or one of its labels; only for what was chosen of a list.
    Host,
}

/// JSON inside an HTML page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbeddedJson {
    /// CSS selector of the `<script>` element.
    pub selector: String,
    /// The name that the script assigns the JSON to; absent where the script is nothing but JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    pub shape: Vec<String>,
    pub lists: Vec<ListMeasure>,
    pub leaves_visible: u32,
}

/// Where a secret value of a request came from. The value is never recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValueOrigin {
    /// The placeholder that stands for the value, such as `[REDACTED:x-csrf-token]`.
    pub placeholder: String,
    /// `header:NAME`, `query:NAME`, `json:/pointer`, `form:NAME`.
    pub at: String,
    /// Absent when no source was found.
    pub origin: Option<Origin>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `document.cookie` of the page or a `Set-Cookie`.
    Cookie {
        name: String,
        /// The request holds it percent-decoded.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        decoded: bool,
    },
    /// `<meta name=… content=…>` of the page.
    Meta { name: String },
    /// What the source page's origin stored, by key, and by JMESPath where the value is JSON.
    Storage {
        area: StorageArea,
        key: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// A leaf of an earlier JSON answer to a plain GET.
    Response { url: String, path: String },
    /// A literal in an earlier HTML or script answer to a plain GET: the value stands between `after` and `until`.
    Document { url: String, after: String, until: String },
}
