//! Response stubs: a case's own small web, which answers by rule instead of by recording.
//!
//! A rule says which parts of a request a site looks at, and what it answers to their values, so that a stage that learns to
//! ask differently still gets the answer the site would give. What no rule covers is [`Code::NetworkDisabled`]: nothing here
//! can reach a network. There is no clock either; the budget is a count.

use std::{collections::BTreeMap, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::future::{BoxFuture, ready};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request_parts::RequestParts;
use commis_artifacts::payloads::Replay;
use commis_base::error::{Code, Error, Result};
use commis_net::transport::{PreparedRequest, Reply, Timings, Transport};
use commis_recipe::model::{Slot, SlotSource, TransportKind};
use commis_runner::slots;
use commis_stages::{ReplayCall, Replayer};

/// Bytes of a stub file.
pub const MAX_FILE: u64 = 16 << 20;
/// Decoded bytes of one answer, as the transports' cap.
const MAX_BODY: usize = 1 << 20;

/// `response_stub.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stubs {
    /// Transports that get through to the site, in ascending risk.
    pub transports: Vec<TransportKind>,
    /// What a session of the source page knows: `cookie:NAME`, `meta:NAME`, and `live:PLACEHOLDER` for what only the recorded
    /// session knew. The values stand for the real ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub session: BTreeMap<String, String>,
    pub rules: Vec<Rule>,
    /// The answers, by the names that rules call them.
    pub responses: BTreeMap<String, Response>,
}

/// What one call of a site does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub method: String,
    /// Scheme, host and path; `*` is any one segment.
    pub url: String,
    /// Tells calls to one URL apart (a GraphQL operation): parts and their values. A request that says otherwise is not meant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub is: BTreeMap<String, Value>,
    /// The answer to whoever is not in the session; absent where none is needed. In the session is who
    /// asks from its page or with its cookies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_session: Option<String>,
    /// Parts that must be there, tried in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// To values that no answer is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    pub part: String,
    /// The only value that will do; absent where any does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The answer when it is missing or another.
    pub otherwise: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Parts and their values; null is a part left out. Of several that hold, the one with most parts answers.
    pub when: BTreeMap<String, Value>,
    pub response: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    pub status: u16,
    pub mime: String,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    Json(Value),
    Text(String),
    Base64(String),
}

impl Stubs {
    /// Reads and checks a stub file, of which `path` is named in errors. Fails with [`Code::Usage`].
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let invalid = |why: String| Error::new(Code::Usage, format!("{}: {why}", path.display()));
        let out: Self = serde_json::from_slice(bytes).map_err(|err| invalid(err.to_string()))?;
        for rule in &out.rules {
            let named = rule
                .needs
                .iter()
                .map(|it| &it.otherwise)
                .chain(rule.answers.iter().map(|it| &it.response))
                .chain(&rule.default)
                .chain(&rule.outside_session);
            if let Some(name) = named.into_iter().find(|it| !out.responses.contains_key(*it)) {
                return Err(invalid(format!("there is no response `{name}`")));
            }
        }
        for (name, it) in &out.responses {
            let len =
                it.body.bytes().map_err(|err| invalid(format!("response `{name}`: {err}")))?;
            if len.len() > MAX_BODY {
                return Err(invalid(format!("response `{name}` is larger than {MAX_BODY} bytes")));
            }
        }
        Ok(out)
    }

    /// The site's answer. Fails with [`Code::NetworkDisabled`] where no rule has one.
    pub fn answer(&self, request: &PreparedRequest, in_session: bool) -> Result<Reply> {
        let nothing = || {
            Error::new(
                Code::NetworkDisabled,
                format!("no stub answers {} {}", request.method, request.url),
            )
        };
        let asked = RequestParts::from_request(request).ok_or_else(nothing)?;
        let rule = self.rule(&asked).ok_or_else(nothing)?;
        let name = rule.response(&asked, in_session).ok_or_else(nothing)?;
        let response = self.responses.get(name).ok_or_else(nothing)?;
        Ok(Reply {
            status: response.status,
            headers: vec![("content-type".to_owned(), response.mime.clone())],
            body: response.body.bytes().map_err(|_| nothing())?,
            url: request.url.clone(),
            hops: 0,
            timings: Timings::default(),
        })
    }

    /// The rule meant: of those at that URL the one whose marks the request bears most of, and lacks fewest of.
    fn rule(&self, asked: &RequestParts) -> Option<&Rule> {
        let marks = |rule: &Rule| {
            let borne = rule.is.iter().filter(|it| asked.values.get(it.0) == Some(it.1)).count();
            let given = rule.is.keys().filter(|it| asked.values.contains_key(*it)).count();
            (borne == given).then(|| (borne, std::cmp::Reverse(rule.is.len() - borne)))
        };
        let at = self.rules.iter().filter(|it| it.method == asked.method && asked.is_at(&it.url));
        // The first of equals: `max_by_key` gives the last.
        let meant = at.rev().filter_map(|it| Some((marks(it)?, it))).max_by_key(|it| it.0);
        meant.map(|it| it.1)
    }

    fn session_value(&self, key: &str) -> Option<&String> {
        self.session.get(key)
    }
}

impl Rule {
    /// The name of its answer.
    pub(super) fn response(&self, asked: &RequestParts, in_session: bool) -> Option<&String> {
        if let Some(it) = &self.outside_session
            && !in_session
        {
            return Some(it);
        }
        let unmet = |it: &&Need| match &it.value {
            None => !asked.has(&it.part),
            Some(value) => asked.values.get(&it.part) != Some(value),
        };
        if let Some(it) = self.needs.iter().find(unmet) {
            return Some(&it.otherwise);
        }
        let holds = |it: &&Answer| {
            it.when.iter().all(|(part, value)| match value {
                Value::Null => !asked.has(part) || asked.values.get(part) == Some(&Value::Null),
                value => asked.values.get(part) == Some(value),
            })
        };
        // The first of equals: `max_by_key` gives the last.
        let best = self.answers.iter().rev().filter(holds).max_by_key(|it| it.when.len());
        best.map(|it| &it.response).or(self.default.as_ref())
    }
}

impl Body {
    fn bytes(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::Json(it) => Ok(it.to_string().into_bytes()),
            Self::Text(it) => Ok(it.clone().into_bytes()),
            Self::Base64(it) => STANDARD.decode(it).map_err(|err| err.to_string()),
        }
    }
}

/// The part of the world that replaying stages touch, made of stubs.
pub struct StubReplayer<'a> {
    stubs: &'a Stubs,
    max_replays: u32,
    /// Calls since the stage began.
    replays: u32,
    /// Calls over all stages.
    pub sent: u32,
}

impl<'a> StubReplayer<'a> {
    pub fn new(stubs: &'a Stubs, max_replays: u32) -> Self {
        Self { stubs, max_replays, replays: 0, sent: 0 }
    }

    async fn send_now(&mut self, call: ReplayCall<'_>) -> Result<Reply> {
        let in_session = call.transport.sends_cookies();
        if !self.stubs.transports.contains(&call.transport) {
            return Err(Error::new(Code::NetworkDisabled, "no stub answers this transport"));
        }
        let mut values = call.values.clone();
        values.extend(fill(self.stubs, call.slots, in_session).await?);
        let draft = call.draft(&values)?;
        let mut walk = draft.start();
        while let Some(request) = walk.request()? {
            self.replays += 1;
            self.sent += 1;
            let reply = self.stubs.answer(&request, in_session)?;
            walk.take(request, reply)?;
        }
        walk.reply()
    }
}

/// Values of the slots, each from where a real run would take it.
pub async fn fill(
    stubs: &Stubs,
    slots: &[Slot],
    in_session: bool,
) -> Result<BTreeMap<String, String>> {
    let mut out = BTreeMap::new();
    let mut chained = Vec::new();
    for slot in slots {
        let key = match &slot.from {
            SlotSource::Live { placeholder } => format!("live:{placeholder}"),
            SlotSource::Cookie { name, .. } if in_session => format!("cookie:{name}"),
            SlotSource::Meta { name } if in_session => format!("meta:{name}"),
            SlotSource::Storage { area, key, .. } if in_session => {
                format!("storage:{}:{key}", area.as_str())
            }
            SlotSource::Cookie { .. } | SlotSource::Meta { .. } | SlotSource::Storage { .. } => {
                return Err(Error::new(
                    Code::SessionRequired,
                    format!("`{}` comes from a page", slot.name),
                ));
            }
            SlotSource::Response { .. } | SlotSource::Document { .. } => {
                chained.push(slot);
                continue;
            }
        };
        let value = stubs.session_value(&key).ok_or_else(|| {
            Error::new(Code::SessionRequired, format!("the stubs have no session value `{key}`"))
        })?;
        out.insert(slot.name.clone(), value.clone());
    }
    if !chained.is_empty() {
        out.extend(slots::fetch(chained, None, &SlotTransport(stubs, in_session), |_| ()).await?);
    }
    Ok(out)
}

/// Answers the plain GETs that slots are filled from.
struct SlotTransport<'a>(&'a Stubs, bool);

impl Transport for SlotTransport<'_> {
    fn kind(&self) -> TransportKind {
        TransportKind::PublicHttp
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(ready(self.0.answer(request, self.1)))
    }
}

impl Replayer for StubReplayer<'_> {
    fn transports(&self) -> Vec<TransportKind> {
        self.stubs.transports.clone()
    }

    fn send<'b>(&'b mut self, call: ReplayCall<'b>) -> BoxFuture<'b, Result<Reply>> {
        Box::pin(self.send_now(call))
    }

    fn begin(&mut self) {
        self.replays = 0;
    }

    fn fresh(&mut self) {}

    fn spent(&self) -> bool {
        self.replays >= self.max_replays
    }

    fn recall(&mut self, _key: &str) -> Option<Replay> {
        None
    }

    fn note(&mut self, _key: &str, _replay: &Replay) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "stubs_tests.rs"]
mod tests;
