//! One replay, judged: sent, read, extracted, compared. And how much two answers differ.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use serde_json::Value;

use commis_artifacts::{digest::json_sha256, payloads::Replay};
use commis_base::error::{Code, Error, Result};
use commis_net::transport::Reply;
use commis_recipe::{
    model::{ExampleAnswer, Parameter, RequestTemplate, ResponseSpec, Slot, TransportKind},
    pagination::Length,
    shape,
    steps::{Assembly, Step},
};
use commis_runner::{
    MIN_SIMILARITY_BP, check_status,
    extract::{Extraction, HttpAnswer, extract, fingerprint, similarity_bp},
    steps::DraftRun,
};

/// What a replay sends. Cheap to build; templates are rendered by the replayer, since slots live there.
#[derive(Clone, Copy)]
pub struct ReplayCall<'a> {
    pub transport: TransportKind,
    pub request: &'a RequestTemplate,
    pub parameters: &'a [Parameter],
    pub values: &'a BTreeMap<String, String>,
    pub slots: &'a [Slot],
    /// What is asked for first; the request takes values of their answers.
    pub steps: &'a [Step],
    /// The request is sent once for each item of one of them, or its answer is one of several.
    pub assembly: Option<&'a Assembly>,
}

impl ReplayCall<'_> {
    /// It and its steps, ready to be sent. `given` holds parameters and slots. Fails as [`DraftRun::new`].
    pub fn draft(&self, given: &BTreeMap<String, String>) -> Result<DraftRun> {
        let request = (self.request, self.assembly);
        DraftRun::new(self.steps, request, (self.parameters, given))
    }
}

/// As whom a request is sent. Who has no login sends everything as a stranger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Identity {
    /// Without any login.
    Stranger,
    /// With the task's login.
    #[default]
    Login,
    /// With the second login.
    SecondLogin,
}

/// The part of the world that the replaying stages touch.
///
/// It owns live values, pacing and the browser. Fails with the codes of `Transport::send`, `LIVE_VALUES_LOST` and
/// `SESSION_REQUIRED`.
pub trait Replayer: Send {
    /// Transports that may be tried, in ascending risk.
    fn transports(&self) -> Vec<TransportKind>;
    fn send<'a>(&'a mut self, call: ReplayCall<'a>) -> BoxFuture<'a, Result<Reply>>;
    /// A stage begins: its budget is whole again. The world of a real run begins where the stage is known.
    fn begin(&mut self) {}
    /// Forgets cookies and pages: what follows starts like a stranger's run.
    fn fresh(&mut self);
    /// How many logins the task has: none, one, or two.
    fn logins(&self) -> usize {
        0
    }
    /// Forgets cookies and pages; what follows is sent as that one.
    fn act_as(&mut self, _: Identity) {
        self.fresh();
    }
    /// The stage's budget of replays or time is used up.
    fn spent(&self) -> bool;
    /// The judged replay under this key, from the journal of an interrupted run of the same stage on the same inputs.
    fn recall(&mut self, key: &str) -> Option<Replay>;
    /// Journals a judged replay. Fails with `ARTIFACT_IO`.
    fn note(&mut self, key: &str, replay: &Replay) -> Result<()>;
}

/// A replay and what it showed.
pub struct Observation {
    pub replay: Replay,
    pub data: Option<Value>,
    pub shape: Vec<String>,
    /// Shape of the whole JSON that `data` was extracted from; empty for HTML and text.
    pub root_shape: Vec<String>,
    /// That JSON.
    pub whole: Option<Value>,
    /// What the answer says of the length of its list.
    pub length: Length,
    /// The site sent the request elsewhere.
    pub redirected: bool,
    /// The answer as it came, where one did: from where, with what headers (lower-case names).
    pub body: Vec<u8>,
    pub url: String,
    pub headers: Vec<(String, String)>,
}

impl Observation {
    fn nothing(replay: Replay, redirected: bool) -> Self {
        Self {
            replay,
            redirected,
            data: None,
            shape: Vec::new(),
            root_shape: Vec::new(),
            whole: None,
            length: Length::default(),
            body: Vec::new(),
            url: String::new(),
            headers: Vec::new(),
        }
    }

    /// Answered, extracted, and of the expected shape.
    pub fn good(&self) -> bool {
        self.replay.ok()
    }
}

/// Sends once and judges. Failures of the world that say nothing about the request (browser gone, live values lost, network
/// disabled) are errors; everything the request itself caused is in the [`Replay`].
pub async fn observe(
    replayer: &mut dyn Replayer,
    call: ReplayCall<'_>,
    response: &ResponseSpec,
    like: Option<&[String]>,
    n: u32,
    what: &str,
) -> Result<Observation> {
    let mut replay = Replay {
        n,
        what: what.to_owned(),
        transport: call.transport,
        status: None,
        items: None,
        similarity_bp: None,
        data_sha256: None,
        code: None,
        detail: None,
    };
    let reply = match replayer.send(call).await {
        Ok(it) => it,
        Err(err) if is_environment_failure(err.code()) => return Err(err),
        Err(err) => {
            fail(&mut replay, &err);
            return Ok(Observation::nothing(replay, err.code() == Code::RedirectBlocked));
        }
    };
    replay.status = Some(reply.status);
    let (Extraction { data, whole, length, .. }, shape) = match read(&reply, response) {
        Ok((extracted, shape)) => {
            replay.items = extracted.items;
            (extracted, shape)
        }
        Err(err) => {
            fail(&mut replay, &err);
            return Ok(Observation::nothing(replay, reply.hops > 0));
        }
    };
    replay.data_sha256 = Some(json_sha256(&data));
    if let Some(like) = like {
        let similarity = similarity_bp(response, like, &shape);
        replay.similarity_bp = Some(similarity);
        if similarity < MIN_SIMILARITY_BP {
            replay.code = Some(Code::ShapeDrift.as_str().to_owned());
            replay.detail = Some("the answer has another shape".to_owned());
        }
    }
    let root_shape = whole.as_ref().map(shape::paths).unwrap_or_default();
    let redirected = reply.hops > 0;
    let Reply { body, url, headers, .. } = reply;
    let data = Some(data);
    Ok(Observation {
        replay,
        data,
        shape,
        root_shape,
        whole,
        length,
        redirected,
        body,
        url,
        headers,
    })
}

fn read(reply: &Reply, response: &ResponseSpec) -> Result<(Extraction, Vec<String>)> {
    check_status(reply)?;
    let source = HttpAnswer {
        mime: &reply.mime(),
        headers: &reply.headers,
        url: &reply.url,
        body: &reply.body,
    };
    let extracted = extract(response, source)?;
    let shape = fingerprint(response, &extracted);
    Ok((extracted, shape))
}

/// Codes after which trying another request is pointless.
fn is_environment_failure(code: Code) -> bool {
    matches!(
        code,
        Code::BrowserMissing
            | Code::BrowserFailed
            | Code::LiveValuesLost
            | Code::Interrupted
            | Code::Internal
    )
}

/// The code of a failure that may pass: it says nothing about the recipe.
pub fn passing(replay: &Replay) -> Option<Code> {
    Code::from_wire(replay.code.as_deref()?).filter(|it| it.retryable())
}

fn fail(replay: &mut Replay, err: &Error) {
    replay.code = Some(err.code().as_str().to_owned());
    replay.detail = Some(commis_redact::message(err.message()));
}

/// Basis points by which two answers must differ beyond their own noise: a counter or a time stamp is not an effect.
pub const MARGIN_BP: u32 = 500;

/// How much two answers differ, basis points: 10,000 less the Jaccard similarity of their multisets of scalar leaves (with
/// the key they stand under). Order does not count, repetition does.
pub fn data_difference_bp(a: &Value, b: &Value) -> u32 {
    let (mut left, mut right) = (BTreeMap::new(), BTreeMap::new());
    count_leaves(a, "", &mut left);
    count_leaves(b, "", &mut right);
    let mut same = 0_u64;
    let mut union = 0_u64;
    for (leaf, n) in &left {
        let m = right.get(leaf).copied().unwrap_or(0);
        same += (*n).min(m);
        union += (*n).max(m);
    }
    union += right.iter().filter(|(leaf, _)| !left.contains_key(*leaf)).map(|it| it.1).sum::<u64>();
    (same * 10_000).checked_div(union).map_or(0, |it| (10_000 - it) as u32)
}

/// What is kept of the answers to an example. No digest of a value is kept whose key names a secret: a short one could be found
/// out by trying.
pub fn example_answer(values: &BTreeMap<String, String>, answers: &[&Value]) -> ExampleAnswer {
    let mut out = ExampleAnswer::from_answers(values, answers);
    out.digests.retain(|key, _| !commis_redact::names_secret(key));
    out
}

/// Whether two lists hold the same items in another order: most of them stand at another place.
pub fn is_reordered(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.as_array(), b.as_array()) else { return false };
    let moved = a.iter().zip(b).filter(|it| it.0 != it.1).count();
    a.len() > 2 && a.len() == b.len() && moved * 2 > a.len() && a.iter().all(|it| b.contains(it))
}

/// Share of `wanted` (leaf lines as [`leaf_lines`] gives them) that the data holds, basis points; 10,000 when nothing is wanted.
pub fn holds_bp(data: &Value, wanted: &[String]) -> u32 {
    let have = leaf_lines(data, usize::MAX);
    let have: std::collections::BTreeSet<&String> = have.iter().collect();
    let found = wanted.iter().filter(|it| have.contains(it)).count();
    (found * 10_000).checked_div(wanted.len()).map_or(10_000, |it| it as u32)
}

/// Distinct scalar leaves with the key they stand under, sorted, at most `max`.
pub fn leaf_lines(data: &Value, max: usize) -> Vec<String> {
    let mut out = BTreeMap::new();
    count_leaves(data, "", &mut out);
    out.into_keys().take(max).collect()
}

fn count_leaves(value: &Value, key: &str, out: &mut BTreeMap<String, u64>) {
    match value {
        Value::Array(items) => items.iter().for_each(|it| count_leaves(it, key, out)),
        Value::Object(fields) => fields.iter().for_each(|(key, it)| count_leaves(it, key, out)),
        _ => *out.entry(format!("{key}={value}")).or_insert(0) += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_digest_of_a_secret_is_kept() {
        let answer =
            json!([{"title": "Lamp", "api_key": "1234"}, {"title": "Oak", "api_key": "99"}]);
        let kept = example_answer(&BTreeMap::new(), &[&answer]).digests;
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["title"]);
    }

    #[test]
    fn another_order() {
        let list = |all: [u32; 4]| json!(all.map(|it| json!({"id": it})));
        assert!(is_reordered(&list([1, 2, 3, 4]), &list([4, 3, 2, 1])));
        assert!(!is_reordered(&list([1, 2, 3, 4]), &list([1, 2, 3, 4])));
        assert!(!is_reordered(&list([1, 2, 3, 4]), &list([5, 6, 7, 8])));
    }

    #[test]
    fn differences() {
        let a = json!([{"t": "x", "n": 1}, {"t": "y", "n": 2}]);
        assert_eq!(data_difference_bp(&a, &a), 0);
        assert_eq!(data_difference_bp(&a, &json!([{"t": "y", "n": 2}, {"t": "x", "n": 1}])), 0);
        assert_eq!(data_difference_bp(&a, &json!([])), 10_000);
        assert_eq!(data_difference_bp(&json!([]), &json!([])), 0);
        assert!(data_difference_bp(&a, &json!([{"t": "x", "n": 1}, {"t": "z", "n": 2}])) > 3000);
    }
}
