//! A folder of HAR files with `cases.jsonl`: real traffic, each with the request that carries the data.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use futures::executor::block_on;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use commis_artifacts::{
    payloads::SecondRecording,
    recording::{Exchange, RequestBody, SessionRecording},
    store::sha256,
};
use commis_base::{
    error::{Code, Error, Result},
    files::read_bounded,
    settings::Settings,
};
use commis_learn::task::MAX_HAR;
use commis_redact::{har, redact};
use commis_stages::{
    in_memory::{self, Trace},
    stub::RecordingReplayer,
    verify::Expectation,
};

/// One line of `cases.jsonl`; what an eval does not need is not read.
#[derive(Deserialize)]
pub struct CaseLine {
    pub id: String,
    pub har: PathBuf,
    pub task: String,
    #[serde(default)]
    pub typed: Vec<TypedValue>,
    /// How honest the case is as a recording: `recorded`, `composite`, `stress-…`.
    pub made: String,
    #[serde(default)]
    pub site: String,
    pub expect: ExpectedResult,
}

/// What a person typed. The name in the file is that of a request field, which nobody types: it is not read.
#[derive(Deserialize)]
pub struct TypedValue {
    pub value: String,
}

#[derive(Deserialize)]
pub struct ExpectedResult {
    pub recipeable: bool,
    pub request: Option<RightRequest>,
}

#[derive(Deserialize)]
pub struct RightRequest {
    pub method: String,
    pub url_regex: String,
    pub body_regex: Option<String>,
}

/// A request as the independent scorer reads it.
#[derive(Clone, Debug, Serialize)]
pub struct Prediction {
    pub case: String,
    pub outcome: &'static str,
    pub candidates: Vec<PredictedRequest>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PredictedRequest {
    pub method: String,
    pub url: String,
    pub body: Option<String>,
}

/// Reads `cases.jsonl`. Fails with [`Code::Usage`] when it is missing or a line is not a case.
pub fn lines(dir: &Path) -> Result<Vec<CaseLine>> {
    let path = dir.join("cases.jsonl");
    let bytes = read_bounded(&path, 64 << 20)?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .enumerate()
        .filter(|it| !it.1.trim().is_empty())
        .map(|(i, line)| {
            serde_json::from_str(line).map_err(|err| {
                Error::new(Code::Usage, format!("{} line {}: {err}", path.display(), i + 1))
                    .hint("each line is a case: id, har, task, typed, made, expect")
            })
        })
        .collect()
}

/// Over the case's HAR and its line.
pub fn input_sha256(dir: &Path, line: &CaseLine) -> Result<String> {
    let text = format!("{} {} {}", line.id, line.task, line.har.display());
    let mut bytes = read_bounded(&har_path(dir, line)?, MAX_HAR)?;
    bytes.extend_from_slice(text.as_bytes());
    Ok(sha256(&bytes))
}

/// The file stays within the corpus. Fails with [`Code::Usage`].
fn har_path(dir: &Path, line: &CaseLine) -> Result<PathBuf> {
    let plain = |it: Component<'_>| matches!(it, Component::Normal(_));
    if line.har.components().all(plain) {
        return Ok(dir.join(&line.har));
    }
    Err(Error::new(Code::Usage, format!("case {}: the file is outside the corpus", line.id))
        .hint("`har` is a path below the corpus folder"))
}

/// The case's HAR as a recording, redacted.
pub fn recording(dir: &Path, line: &CaseLine, settings: &Settings) -> Result<SessionRecording> {
    let typed: BTreeMap<String, String> = line
        .typed
        .iter()
        .enumerate()
        .map(|(i, it)| (format!("input_{}", i + 1), it.value.clone()))
        .collect();
    let bytes = read_bounded(&har_path(dir, line)?, MAX_HAR)?;
    let raw = har::import(&bytes, &line.task, typed)?.recording;
    drop(bytes);
    Ok(redact(raw, &settings.redact).recording)
}

/// JSON bodies of the case's HAR as they were sent: a recording does not keep the order of their fields, which an expression of a
/// case may depend on. Fails as reading the file does.
pub fn sent_bodies(dir: &Path, line: &CaseLine) -> Result<Vec<String>> {
    Ok(json_bodies(&read_bounded(&har_path(dir, line)?, MAX_HAR)?))
}

fn json_bodies(har: &[u8]) -> Vec<String> {
    let har = har.strip_prefix(b"\xef\xbb\xbf").unwrap_or(har);
    let har: Value = serde_json::from_slice(har).unwrap_or_default();
    let entries = har["log"]["entries"].as_array().into_iter().flatten();
    let text = |it: &Value| it["request"]["postData"]["text"].as_str().map(str::to_owned);
    entries.filter_map(text).filter(|it| it.starts_with(['{', '['])).collect()
}

/// Learns from the case's HAR as `recipe learn --har --no-network` does.
pub fn learn(
    dir: &Path,
    line: &CaseLine,
    settings: &Settings,
) -> Result<(SessionRecording, Trace)> {
    let recording = recording(dir, line, settings)?;
    let second = SecondRecording::default();
    let mut replayer = RecordingReplayer(&recording);
    let expect = Expectation::default();
    let trace = block_on(in_memory::run(&recording, &second, settings, &expect, &mut replayer))?;
    Ok((recording, trace))
}

/// `sent` are the [`sent_bodies`] of the case.
pub fn prediction(
    line: &CaseLine,
    recording: &SessionRecording,
    trace: &Trace,
    sent: &[String],
) -> Prediction {
    let ranked = trace.ranked().map(|it| it.candidates.as_slice()).unwrap_or_default();
    let candidates = ranked
        .iter()
        .filter_map(|it| recording.exchanges.get(it.exchange as usize))
        .map(|it| PredictedRequest {
            method: it.method.clone(),
            url: it.url.clone(),
            body: body(it, sent),
        })
        .collect();
    Prediction { case: line.id.clone(), outcome: trace.outcome().as_str(), candidates }
}

pub fn body(exchange: &Exchange, sent: &[String]) -> Option<String> {
    match exchange.request_body.as_ref()? {
        RequestBody::Json(it) => {
            let is_it =
                |text: &&String| serde_json::from_str(text).is_ok_and(|sent: Value| sent == *it);
            Some(sent.iter().find(is_it).cloned().unwrap_or_else(|| it.to_string()))
        }
        RequestBody::Form(fields) | RequestBody::Multipart(fields) => {
            let mut out = url::form_urlencoded::Serializer::new(String::new());
            out.extend_pairs(fields.iter().map(|it| (&it.name, &it.value)));
            Some(out.finish())
        }
        RequestBody::Text(it) => Some(it.clone()),
        RequestBody::Binary { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_matched_as_it_was_sent() {
        let body = r#"{"b":[],"a":1}"#;
        let har = serde_json::json!({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": [{
            "startedDateTime": "2026-01-01T00:00:00Z", "time": 1,
            "request": {"method": "POST", "url": "http://a.test/find", "httpVersion": "HTTP/1.1", "headers": [], "cookies": [],
                "queryString": [], "headersSize": -1, "bodySize": -1, "postData": {"mimeType": "application/json", "text": body}},
            "response": {"status": 200, "statusText": "", "httpVersion": "HTTP/1.1", "headers": [], "cookies": [], "redirectURL": "",
                "headersSize": -1, "bodySize": -1, "content": {"size": 2, "mimeType": "application/json", "text": "[]"}},
            "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0}}]}});
        let har = har.to_string().into_bytes();
        let raw = har::import(&har, "Find", BTreeMap::new()).unwrap().recording;
        let recording = redact(raw, &Settings::default().redact).recording;
        let sent = json_bodies(&har);
        assert_eq!(super::body(&recording.exchanges[0], &sent).as_deref(), Some(body));
    }
}
