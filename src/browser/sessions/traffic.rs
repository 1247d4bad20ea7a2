//! The traffic of a session: written as the first stage of learning stores it, so that what reads one reads the other.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    SessionAction, SessionRecorder, SessionStore, corrupt,
    file_layout::{self, MAX_RECORDING, MOST_PARTS, RECORDING, traffic_of},
};
use commis_artifacts::{
    kinds::Kind,
    recording::{BodyStatus, SessionRecording},
    store::{Envelope, Producer, json_sha256, now},
};
use commis_base::{
    error::{Code, Error, Result},
    ids::TaskId,
};
use commis_redact::RecordingSecrets;

/// Requests that are shown.
const SHOWN: usize = 1000;

impl SessionRecorder {
    /// Writes it, without answers where it would be too large. Fails with `ARTIFACT_IO`.
    pub fn traffic(&mut self, it: SessionRecording, sealed: &mut RecordingSecrets) -> Result<()> {
        let part = self.parts;
        if part >= MOST_PARTS {
            self.find("more was asked for than is kept: later traffic is not in it");
            return Ok(());
        }
        self.parts += 1;
        // What only became known beside it, and before it.
        let cannot = |err: serde_json::Error| {
            Error::new(Code::Internal, "traffic cannot be written").source(err)
        };
        let mut whole = serde_json::to_value(&it).map_err(cannot)?;
        let mut found = sealed.hide_in(&mut whole);
        found += self.seals.iter_mut().map(|it| it.hide_in(&mut whole)).sum::<usize>();
        let mut it = if found > 0 { serde_json::from_value(whole).map_err(cannot)? } else { it };
        let mut bytes = self.envelope(&it)?;
        if bytes.len() > MAX_RECORDING {
            for one in &mut it.exchanges {
                if one.excerpt.take().is_some() {
                    one.body_status = BodyStatus::TooLarge;
                }
            }
            self.find("the answers of its traffic were too large to be kept");
            bytes = self.envelope(&it)?;
        }
        if bytes.len() > MAX_RECORDING {
            self.find("its traffic was too large to be kept");
            return Ok(());
        }
        file_layout::write(&self.dir, &format!("{RECORDING}/{}", traffic_of(part)), &bytes)
    }

    /// Writes what was asked for until now, of a session that goes on. Fails with `ARTIFACT_IO`.
    pub fn part(&mut self, it: SessionRecording, mut sealed: RecordingSecrets) -> Result<()> {
        self.traffic(it, &mut sealed)?;
        self.seals.push(sealed);
        Ok(())
    }

    /// Takes what is known to be secret out of a part that was written before that was known. Whether there was anything.
    pub(super) fn hide_in_part(
        &self,
        bytes: &[u8],
        sealed: &mut RecordingSecrets,
    ) -> Result<Option<Vec<u8>>> {
        let cannot = |err: serde_json::Error| {
            Error::new(Code::Internal, "traffic cannot be read").source(err)
        };
        let mut whole: serde_json::Value = serde_json::from_slice(bytes).map_err(cannot)?;
        let mut payload = whole["payload"].take();
        if sealed.hide_in(&mut payload) == 0 {
            return Ok(None);
        }
        self.envelope(&serde_json::from_value(payload).map_err(cannot)?).map(Some)
    }

    fn envelope(&self, it: &SessionRecording) -> Result<Vec<u8>> {
        let envelope = Envelope {
            artifact: Kind::SessionRecording,
            artifact_version: Kind::SessionRecording.version(),
            schema_hash: Kind::SessionRecording.schema_hash().to_owned(),
            task_id: TaskId::parse(&self.manifest.id)?,
            source_url: it.url.clone(),
            created_at: now(),
            producer: Producer {
                stage: "session".to_owned(),
                stage_version: 1,
                commis: env!("CARGO_PKG_VERSION").to_owned(),
            },
            inputs: BTreeMap::new(),
            settings_sha256: String::new(),
            payload_sha256: json_sha256(it),
            payload: it,
        };
        serde_json::to_vec(&envelope)
            .map_err(|err| Error::new(Code::Internal, "traffic cannot be written").source(err))
    }
}

/// A request of a session, for whoever looks.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RequestRow {
    /// Its number in the traffic, from 0.
    pub request: u32,
    /// The action that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<u32>,
    pub method: String,
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// As the browser's developer tools call it.
    pub kind: String,
    pub ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// The action whose request that is.
pub fn action_of(lines: &[SessionAction], request: u32) -> Option<u32> {
    let holds =
        |it: &&SessionAction| it.traffic.is_some_and(|it| (it[0]..it[1]).contains(&request));
    lines.iter().find(holds).map(|it| it.n)
}

/// The requests of a session, each with its action; the first thousand.
pub fn list_requests(recording: &SessionRecording, lines: &[SessionAction]) -> Vec<RequestRow> {
    let of = |it: &commis_artifacts::recording::Exchange| RequestRow {
        request: it.id,
        action: action_of(lines, it.id),
        method: it.method.clone(),
        url: it.url.clone(),
        status: it.status,
        kind: it.resource_type.as_str().to_owned(),
        ms: it.timing.total_ms,
        bytes: it.decoded_bytes.or(it.encoded_bytes),
    };
    recording.exchanges.iter().take(SHOWN).map(of).collect()
}

impl SessionStore {
    /// The traffic of a session; `None` where none was kept. Fails with `ARTIFACT_CORRUPT`.
    pub fn traffic(&self, id: &str) -> Result<Option<SessionRecording>> {
        let mut whole: Option<SessionRecording> = None;
        for part in 0..MOST_PARTS {
            let Some(it) = self.part(id, part)? else { break };
            let Some(before) = &mut whole else {
                whole = Some(it);
                continue;
            };
            // Its requests count on where those of the part before ended.
            let from = before.exchanges.len() as u32;
            before.exchanges.extend(it.exchanges.into_iter().map(|mut it| {
                it.id += from;
                it.redirected_from = it.redirected_from.map(|it| it + from);
                it
            }));
        }
        Ok(whole)
    }

    fn part(&self, id: &str, part: u32) -> Result<Option<SessionRecording>> {
        let name = format!("{RECORDING}/{}", traffic_of(part));
        let Some(bytes) = file_layout::read(&self.at(id)?, &name)? else { return Ok(None) };
        let envelope: Envelope<Box<RawValue>> =
            serde_json::from_slice(&bytes).map_err(|err| corrupt(id).source(err))?;
        let it: SessionRecording =
            serde_json::from_str(envelope.payload.get()).map_err(|err| corrupt(id).source(err))?;
        if envelope.artifact != Kind::SessionRecording
            || json_sha256(&it) != envelope.payload_sha256
        {
            return Err(corrupt(id));
        }
        Ok(Some(it))
    }
}
