//! From an earlier schema to today's, where that can be done without asking the world again.
//!
//! Only what was observed is worth it: what is computed is computed again by itself. A migration that leaves the payload as it
//! is leaves its hash as it is, and everything made from it stays fresh.

use super::{
    kinds::{Artifact, Kind},
    payloads::SecondRecording,
    recording::SessionRecording,
    store::{Stamp, StoredEnvelope, TaskFolder},
};
use commis_base::error::Result;

struct Migration {
    kind: Kind,
    /// SHA-256 of the schema that is left behind.
    from: &'static str,
    put: fn(&TaskFolder, StoredEnvelope) -> Result<()>,
}

/// Between these schemas only optional fields were added that say something when present (`embedded[].variable`, an action's
/// `control`, `notes`, a listing's `heads`), and a `framing` that no recording had.
const MIGRATIONS: &[Migration] = &[
    Migration {
        kind: Kind::SessionRecording,
        from: "d14c0eed853092b422fcd62116f7babe251306b6b987bfe49a254946c4491855",
        put: put::<SessionRecording>,
    },
    Migration {
        kind: Kind::SecondRecording,
        from: "20ee57179c3dbc6025371e4a1621454f225b0a0b6e140ae2e2c9eefe24b48fc6",
        put: put::<SecondRecording>,
    },
    Migration {
        kind: Kind::SessionRecording,
        from: "ac4e4b735641c1ab14b088d147a694e3c2ac44d9ee9aec63c3ad23198289f8bd",
        put: put::<SessionRecording>,
    },
    Migration {
        kind: Kind::SecondRecording,
        from: "83871f79b9e25447e1553e973d448bdda7701c318078682361c1ec096615f060",
        put: put::<SecondRecording>,
    },
    Migration {
        kind: Kind::SessionRecording,
        from: "e01720e0ae4ce86bfee85368e11462bee788b29f8df668725bd25a86ee01036b",
        put: put::<SessionRecording>,
    },
    Migration {
        kind: Kind::SecondRecording,
        from: "fe91a401ed0a76b98a8bed7a7593b97f279666d494728a57aeff627f623c50b4",
        put: put::<SecondRecording>,
    },
    Migration {
        kind: Kind::SessionRecording,
        from: "7e36810c4d26492de02bc6cffad5264803ccdbf4fa38e76a232fded6596ebed9",
        put: put::<SessionRecording>,
    },
    Migration {
        kind: Kind::SecondRecording,
        from: "a13baebca059e47133ce9b229aa6ab904dee350398abc14fd61837c6bb955093",
        put: put::<SecondRecording>,
    },
];

/// Brings the artifact to today's schema; false when it is of no schema that can be. The rest of the envelope stays, but for
/// when and by which commis it was written. Fails with `ARTIFACT_IO`, and with `ARTIFACT_CORRUPT` when the payload is not what
/// its schema says.
pub fn migrate(folder: &TaskFolder, kind: Kind) -> Result<bool> {
    let Some(envelope) = folder.envelope(kind)? else { return Ok(false) };
    let found = MIGRATIONS.iter().find(|it| {
        it.kind == kind
            && it.from == envelope.schema_hash
            && envelope.artifact_version == kind.version()
    });
    let Some(it) = found else { return Ok(false) };
    (it.put)(folder, envelope)?;
    Ok(true)
}

fn put<A: Artifact>(folder: &TaskFolder, it: StoredEnvelope) -> Result<()> {
    let payload: A = serde_json::from_str(it.payload.get())
        .map_err(|err| folder.corrupt_error(A::KIND, &err.to_string()))?;
    let stamp = Stamp {
        source_url: it.source_url,
        stage: it.producer.stage.into(),
        stage_version: it.producer.stage_version,
        inputs: it.inputs,
        settings_sha256: it.settings_sha256,
    };
    folder.put(&payload, stamp)?;
    folder.sync()
}
