//! baseline: the fingerprint that every later answer is compared with.

use super::validate::captured_shape;
use commis_artifacts::{
    payloads::{BaselineFingerprint, RecipeDraft},
    recording::SessionRecording,
};
use commis_base::error::Result;
use commis_recipe::shape::{FINGERPRINT_VERSION, fingerprint};

/// Pure. Of the captured answer after extraction; of the first validated replay when the recording lost the answer.
pub fn baseline(recording: &SessionRecording, draft: &RecipeDraft) -> Result<BaselineFingerprint> {
    let exchange = recording.exchange(draft.exchange)?;
    let shape = captured_shape(exchange, &draft.response).unwrap_or_else(|| draft.shape.clone());
    Ok(BaselineFingerprint {
        fingerprint_version: FINGERPRINT_VERSION,
        fingerprint_sha256: fingerprint(&shape),
        shape,
        items: draft.items,
    })
}
