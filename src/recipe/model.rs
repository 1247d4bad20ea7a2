//! The recipe language: what a `recipe.yaml` holds.
//!
//! A recipe holds definitions and portable proof, never counters and never a secret value: what a call needs and must not
//! be written down is a [`Slot`], which says where the value comes from.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    chain::{Chain, Step},
    paging::Pages,
    shape::profile::Profile,
    trust_level::Trust,
};
pub use super::{
    request_model::{BodyTemplate, Pair, RequestTemplate},
    response_model::{
        Between, EmptyAnswer, Framing, HtmlSpec, PageInfo, ResponseSpec, ResponseType,
    },
};
use commis_base::ids::RecipeName;

/// The language's first version: one request and its answer.
pub const LANGUAGE: u32 = 1;
/// The version with [`Pages`] and [`Chain`].
pub const LANGUAGE_2: u32 = 2;

// Its fields are described, and it is read and written, where files are: in `RecipeFile`.
/// A learned or hand-written shortcut, of one request or several.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    pub version: u32,
    pub name: RecipeName,
    pub task: String,
    pub category: Option<String>,
    pub status: Status,
    pub source_url: String,
    pub own_host: Option<String>,
    pub parameters: Vec<Parameter>,
    /// The only request, or the last one of several.
    pub request: RequestTemplate,
    /// What comes before it, where there are several.
    pub chain: Option<Chain>,
    pub slots: Vec<Slot>,
    pub login: Option<LoginNeed>,
    pub auth: Option<Auth>,
    /// What of the answer to `request` is the data.
    pub response: ResponseSpec,
    pub pages: Option<Pages>,
    pub verification: Option<Verification>,
    pub refused: Option<String>,
    pub demotion: Option<Demotion>,
    /// Who stands for it. In no file: of what was read from a text, nobody does.
    pub trust: Trust,
}

impl Recipe {
    /// How a run sends it: the way it was proven to work, else the least risky one that has what it needs. A session that
    /// does not need the page itself is lent to our client.
    pub fn transport(&self) -> TransportKind {
        let proven = self.verification.as_ref();
        let needs = |of: fn(&SlotSource) -> bool| self.slots.iter().any(|it| of(&it.from));
        match proven.map(|it| it.transport) {
            Some(it) if it.sends_cookies() => it,
            _ if proven.is_some_and(|it| it.requires_session)
                || needs(|it| matches!(it, SlotSource::Meta { .. })) =>
            {
                TransportKind::ContextRequest
            }
            _ if self.login.is_some() => TransportKind::LoginHttp,
            _ if needs(SlotSource::needs_session) => TransportKind::ContextRequest,
            _ => TransportKind::PublicHttp,
        }
    }
}

impl Recipe {
    /// Its first example had items when it was verified.
    pub fn had_items(&self) -> bool {
        self.verified_items() > 0
    }

    /// So many items for its first example are less than half of what it was verified with.
    pub fn has_too_few_items(&self, items: Option<u64>) -> bool {
        items.is_some_and(|it| it * 2 < self.verified_items())
    }

    /// The first example of what must be given. `None` when one has none.
    pub fn example(&self) -> Option<BTreeMap<String, String>> {
        let needed = self.parameters.iter().filter(|it| it.required && it.default.is_none());
        needed.map(|it| Some((it.name.clone(), it.examples.first()?.clone()))).collect()
    }

    /// Items of the answer to the first example when it was verified.
    fn verified_items(&self) -> u64 {
        let Some(proof) = &self.verification else { return 0 };
        let shown = proof.complete.as_ref().map(|it| u64::from(it.given));
        shown.or_else(|| proof.examples.first()?.items).unwrap_or(0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Draft,
    Verified,
    Deprecated,
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Verified => "verified",
            Self::Deprecated => "deprecated",
        }
    }
}

/// One input of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// `[a-z_][a-z0-9_]*`, at most 40 characters.
    pub name: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: ParamType,
    /// Whether a call must give it, unless there is a default.
    pub required: bool,
    /// Where its values come from: of the caller, `task_input`.
    pub source: ParamSource,
    /// Used when the caller gives none; as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Which values are taken.
    #[serde(default, skip_serializing_if = "Constraints::is_empty")]
    pub constraints: Constraints,
    /// Values that it was proven with; the first is what `recipe check` asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParamType {
    Str,
    Int,
    Float,
    Bool,
}

impl ParamType {
    /// For a person.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Str => "text",
            Self::Int => "a whole number",
            Self::Float => "a number",
            Self::Bool => "true or false",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParamSource {
    TaskInput,
    Session,
    Dom,
    Constant,
}

/// Checked before substitution. CR, LF, NUL and lengths over 2,000 bytes are refused always.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constraints {
    /// Characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_len: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    #[serde(default, rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// What each word is sent as, where that is something else: nothing but these words is taken.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub map: BTreeMap<String, String>,
}

/// What a text must be written like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// `2026-03-28`, a day that exists.
    Date,
}

impl Constraints {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A value the call needs that is not written down: where to get it, each run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// Template name; never the name of a parameter.
    pub name: String,
    /// Where its value comes from.
    pub from: SlotSource,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlotSource {
    /// A cookie of the session or of the login.
    Cookie {
        name: String,
        /// The request has its percent-encoded characters decoded, and no quotation marks around it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        decoded: bool,
    },
    /// `<meta name=…>` of the source page (needs a browser).
    Meta { name: String },
    /// What pages of the source page's origin stored: of the login, or of a page in a browser.
    Storage {
        area: StorageArea,
        key: String,
        /// Where the value is JSON: the JMESPath of the text in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// A leaf of a JSON answer to a plain GET made first.
    Response { url: String, path: String },
    /// The text between two literals in the answer to a plain GET made first.
    Document { url: String, after: String, until: String },
    /// Known only to the session that was recorded; such a request can be replayed while learning, never saved.
    Live { placeholder: String },
}

impl SlotSource {
    /// Whether a page or a login holds the value, so that no plain request can fetch it.
    pub const fn needs_session(&self) -> bool {
        matches!(self, Self::Cookie { .. } | Self::Meta { .. } | Self::Storage { .. })
    }
}

/// Where a page keeps a value.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StorageArea {
    /// `localStorage`.
    #[default]
    Local,
    /// `sessionStorage`.
    Session,
    /// A variable of a page, which no browser keeps: the site gives it when a login is renewed, and the login holds it.
    Memory,
}

impl StorageArea {
    /// The word that recipes have for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Session => "session",
            Self::Memory => "memory",
        }
    }
}

/// A key by the name of the environment variable that holds it. It is read when the recipe runs, and goes to the origin of
/// the request alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// How it is sent.
    #[serde(rename = "type")]
    pub kind: AuthKind,
    /// For `api_key`: the lower-case name of the header that carries the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// For `api_key`, instead: the name of the query parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The variable's name; for `basic` it holds `user:password`.
    pub env: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    /// `Authorization: Bearer VALUE` (RFC 6750).
    Bearer,
    /// `Authorization: Basic …` (RFC 7617).
    Basic,
    /// The bare value in a header or query parameter.
    ApiKey,
}

/// Portable proof that the recipe worked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    /// How the fingerprint is made.
    pub fingerprint_version: u32,
    /// Of the shape, in hexadecimal.
    pub fingerprint_sha256: String,
    /// The typed paths behind the fingerprint, at most 512: what later runs are compared with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shape: Vec<String>,
    /// What the data of all answers of the proof had in common: what is told of later ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// When: RFC 3339.
    pub verified_at: Option<String>,
    /// By what it was proven, and is sent.
    pub transport: TransportKind,
    /// Whether the source page is opened first.
    pub requires_session: bool,
    /// How long the browser took when the task was recorded, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_ms: Option<u64>,
    /// What the answers were held to. Absent in recipes of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// How the login was proven to be needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<LoginProof>,
    /// What the page of the first example showed, and how much of it the answer held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<Completeness>,
    /// What the examples were answered, as far as it was the same each time: what `recipe check` compares, and what runs doubt by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ExampleAnswer>,
    /// The answer to a word that nobody uses, if it had items: the site substitutes others if it finds nothing. Runs doubt such
    /// answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substitute: Option<ExampleAnswer>,
    /// Present where the answer to the first example was only the first page of its list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_page: Option<FirstPage>,
}

impl Verification {
    /// What the answers were held to, also where the recipe does not say it.
    pub fn witness(&self) -> Witness {
        let of_page = if self.complete.is_some() { Witness::Page } else { Witness::None };
        self.witness.unwrap_or(of_page)
    }
}

/// The login that a recipe needs: any of its site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginNeed {
    /// Registrable domain, or host, that the login is of.
    pub site: String,
    /// What a stranger got when it was proven: a run knows by it when its login has ended. Absent in recipes of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stranger: Option<StrangerAnswer>,
    /// SHA-256 over the data that a stranger got, where it had the shape of an answer: whoever gets the same is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stranger_sha256: Option<String>,
}

/// What a site answers to whoever is not logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StrangerAnswer {
    /// A refusal, or a page that asks for a login.
    Refused,
    /// An answer of the same shape without items.
    Empty,
    /// Other data of the same shape.
    Other,
}

/// How a recipe was proven to need a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoginProof {
    /// A stranger was refused, or got something else.
    OneLogin,
    /// So was, or did, a second login.
    TwoLogins,
}

impl LoginProof {
    /// The word that recipes and `--json` have for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OneLogin => "one_login",
            Self::TwoLogins => "two_logins",
        }
    }
}

/// What the answers of a proof were held to, beside one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Witness {
    /// A page that showed the items, or got the file with the same digest.
    Page,
    /// No page was seen: the answers had the recorded values and shape. Whether they are whole is unknown.
    None,
}

impl Witness {
    /// The word that recipes and `--json` have for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::None => "none",
        }
    }
}

/// An answer held to the page it was learned from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Completeness {
    /// Items that the page showed; one for a single thing.
    pub shown: u32,
    /// Items of the answer to the same input; it may go on where the page ends.
    pub given: u32,
    /// Columns that the page showed.
    pub fields_shown: u32,
    /// Columns of those that the answer holds.
    pub fields_given: u32,
    /// Columns of the page that are not in the answer: they come from elsewhere, and the task does not ask for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves_out: Vec<String>,
}

/// The answer to an example, in digests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExampleAnswer {
    /// Of the parameters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// Items, where it was a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    /// By key: CRC-32 of some of the values that stood under it, in hexadecimal, with spaces between.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub digests: BTreeMap<String, String>,
}

/// The first page of a list that goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstPage {
    /// Items that the answer held.
    pub items: u64,
    /// Items that there are, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// What says so, for a person.
    pub evidence: String,
}

/// That runs showed a verified recipe to work no longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Demotion {
    /// What they showed.
    pub reason: DemotionReason,
    /// RFC 3339. A proof that is older does not lift it.
    pub at: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DemotionReason {
    /// An answer no longer had the shape that was verified.
    Drift,
    /// It failed several times in a row, by its own fault.
    Failures,
}

/// Ways to send a request, in ascending risk.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TransportKind {
    /// Our client, no session.
    PublicHttp,
    /// Our client with the cookies of a sealed login; no browser.
    LoginHttp,
    /// Our client with the cookies of a browser context that has opened the source page.
    ContextRequest,
    /// `fetch` in the page.
    InPageFetch,
    /// Answers from a recording; offline learning.
    Stub,
}

impl TransportKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PublicHttp => "public_http",
            Self::LoginHttp => "login_http",
            Self::ContextRequest => "context_request",
            Self::InPageFetch => "in_page_fetch",
            Self::Stub => "stub",
        }
    }

    /// Whether the source page is opened first, so that cookies and what the page holds are there.
    pub const fn uses_session(self) -> bool {
        matches!(self, Self::ContextRequest | Self::InPageFetch)
    }

    /// Whether cookies of a session go along, a browser's or a login's.
    pub const fn sends_cookies(self) -> bool {
        self.uses_session() || matches!(self, Self::LoginHttp)
    }
}

impl Recipe {
    /// The steps before the last request.
    pub fn steps_before(&self) -> &[Step] {
        self.chain.as_ref().map_or(&[], |it| &it.before)
    }

    /// Every request of it, in the order they are sent.
    pub fn requests(&self) -> impl Iterator<Item = &RequestTemplate> {
        self.steps_before().iter().map(|it| &it.request).chain([&self.request])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    #[test]
    fn how_a_recipe_is_sent() {
        let check = |slot: &str, proof: Option<(&str, bool)>, expected: TransportKind| {
            let proof = proof.map_or(String::new(), |(transport, session)| {
                format!(
                    ", verification: {{fingerprint_version: 1, fingerprint_sha256: x, verified_at: null, \
                     transport: {transport}, requires_session: {session}}}"
                )
            });
            let recipe = yaml::parse(&format!(
                "{{version: 1, name: x, task: t, status: draft, source_url: 'https://a.com/', slots: [{slot}], \
                 request: {{method: GET, url: 'https://a.com/', allowed_domains: [a.com]}}, response: {{type: json}}{proof}}}"
            ))
            .unwrap();
            assert_eq!(recipe.transport(), expected, "{slot} {proof}");
        };
        let token = "{name: slot_a, from: {meta: {name: csrf}}}";
        let key = "{name: slot_a, from: {document: {url: 'https://a.com/x', after: a, until: b}}}";
        check("", None, TransportKind::PublicHttp);
        check(key, None, TransportKind::PublicHttp);
        check(token, None, TransportKind::ContextRequest);
        check("", Some(("public_http", false)), TransportKind::PublicHttp);
        check("", Some(("public_http", true)), TransportKind::ContextRequest);
        check("", Some(("context_request", true)), TransportKind::ContextRequest);
        check("", Some(("login_http", false)), TransportKind::LoginHttp);
        check(token, Some(("in_page_fetch", true)), TransportKind::InPageFetch);
    }
}
