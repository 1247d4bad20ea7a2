//! What a recorder or an importer hands over: raw, in memory only.
//!
//! Deliberately not `Serialize`, and `Debug` shows no value: [`super::redact`] is the only road to disk.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use url::Url;
use zeroize::Zeroizing;

use super::ExchangeSecrets;
use commis_artifacts::{
    failure::Element,
    recording::{Action, BlockedRequest, BodyStatus, Driver, Initiator, ResourceType, Timing},
};
use commis_base::error::Code;
use commis_recipe::model::StorageArea;

/// A whole session before redaction.
pub struct RawRecording {
    /// Task sentence with the example's values filled in.
    pub task: String,
    pub url: String,
    pub driver: Driver,
    pub typed: BTreeMap<String, String>,
    pub actions: Vec<Action>,
    pub final_answer: Option<String>,
    pub page: RawPage,
    pub exchanges: Vec<RawExchange>,
    pub blocked: Vec<BlockedRequest>,
    /// What was typed into password fields, of four bytes and more: it stays nowhere, whatever it looks like.
    pub secrets: Vec<Zeroizing<String>>,
    /// What whoever reads the recording should know of how it was made, in the recorder's words.
    pub notes: Vec<String>,
    pub duration_ms: u64,
    pub producer: String,
}

/// What a session looked like when one of its steps failed.
pub struct RawFailure {
    /// All of it up to then.
    pub session: RawRecording,
    /// Which of how many steps, from 1.
    pub step: u32,
    pub steps: u32,
    pub what: String,
    pub waited_ms: u64,
    pub code: Code,
    pub error: String,
    pub hint: Option<String>,
    pub causes: Vec<String>,
    /// Nearest to what was asked for first.
    pub elements: Vec<Element>,
    pub console: Vec<String>,
    pub dialogs: Vec<String>,
    /// Every text that the browser draws, closed shadow roots included.
    pub drawn: Vec<String>,
    /// A PNG in which fields for secrets are blackened, or why there is none.
    pub picture: Result<Vec<u8>, String>,
}

/// The last page of a session.
#[derive(Default)]
pub struct RawPage {
    pub url: String,
    pub title: String,
    pub visible_text: String,
    pub has_password_field: bool,
    /// What each document showed when all was done, as markup: the page first, then its frames.
    pub documents: Vec<String>,
    /// The same before anything was typed, where that is known: what it showed then is no answer to it.
    pub documents_before: Vec<String>,
    /// It asked for more of something as it was scrolled to its end.
    pub grows: bool,
    /// Milliseconds that reading them took.
    pub drawn_ms: f64,
    /// `<meta name content>` pairs of the final page.
    pub metas: Vec<(String, String)>,
    /// Cookies of the context at the end: name and value.
    pub cookies: Vec<(String, String)>,
    /// What its origin stored.
    pub stored: Vec<RawStorageEntry>,
}

/// One stored value of a page.
pub struct RawStorageEntry {
    pub area: StorageArea,
    pub key: String,
    pub value: Zeroizing<String>,
}

/// One request and its answer, as seen.
pub struct RawExchange {
    pub method: String,
    pub url: Url,
    /// Names as sent; `redact` lowers them. With ExtraInfo headers (cookies) where the browser gave them.
    pub request_headers: Vec<(String, String)>,
    pub request_body: Option<Vec<u8>>,
    pub status: Option<u16>,
    pub response_headers: Vec<(String, String)>,
    /// MIME type as the browser or the header says, parameters allowed.
    pub mime: String,
    pub resource_type: ResourceType,
    pub initiator: Initiator,
    pub timing: Timing,
    pub after_action: Option<u32>,
    /// Index into `exchanges`.
    pub redirected_from: Option<u32>,
    pub encoded_bytes: Option<u64>,
    pub body: RawBody,
}

/// The answer's body, decoded from any content encoding.
pub enum RawBody {
    Captured(Vec<u8>),
    /// Never `Captured`, `Truncated` or `Redacted`.
    Missing(BodyStatus),
    Elsewhere(ReleasedBody),
}

/// A body that went through the first pass and was let go: the source still holds it.
pub struct ReleasedBody {
    pub noted: ExchangeSecrets,
    /// Bytes of the body.
    pub len: usize,
    /// It is no text: nothing of it is measured or kept.
    pub is_binary: bool,
    /// Reads it once more. `None`: the source has changed, which its owner has to tell whoever asked for the recording.
    pub again: Box<dyn Fn() -> Option<Vec<u8>> + Send + Sync>,
}

impl RawBody {
    /// How many bytes there are.
    #[expect(clippy::len_without_is_empty, reason = "a missing body is no empty one")]
    pub fn len(&self) -> usize {
        match self {
            Self::Captured(bytes) => bytes.len(),
            Self::Elsewhere(it) => it.len,
            Self::Missing(_) => 0,
        }
    }

    /// The bytes, if there are any; read once more where they were let go.
    pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Captured(bytes) => Some(Cow::Borrowed(bytes)),
            Self::Elsewhere(it) if !it.is_binary => (it.again)().map(Cow::Owned),
            Self::Elsewhere(_) | Self::Missing(_) => None,
        }
    }
}

/// Whether an address or a body says one of the values, in whatever case, encoded as in an address or not.
pub fn contains_value(url: &Url, body: Option<&[u8]>, values: &BTreeMap<String, String>) -> bool {
    let plain = |it: &[u8]| percent_encoding::percent_decode(it).decode_utf8_lossy().into_owned();
    let said = format!("{} {}", plain(url.as_str().as_bytes()), plain(body.unwrap_or_default()));
    let said = said.replace('+', " ").to_lowercase();
    values.values().any(|it| !it.is_empty() && said.contains(&it.to_lowercase()))
}

impl fmt::Debug for RawExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.host_str().unwrap_or("");
        write!(f, "RawExchange({} {host} {:?})", self.method, self.status)
    }
}
