//! A page that is about to have another document: it says so before the request for that is seen.

use serde::Deserialize;

use super::{
    cdp::Event,
    shared::{Shared, State},
};

/// How things stood when it said so.
pub struct Leaving {
    documents: usize,
    frames: u64,
}

/// A script, a link or a form of the page asks for another document in its place.
pub fn asked(shared: &Shared, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        frame_id: String,
        disposition: Option<String>,
    }
    let Some(it) = event.read::<Asked>() else { return };
    let mut state = shared.lock();
    let own = state.page.as_ref().is_some_and(|page| page.target == it.frame_id);
    if own && it.disposition.as_deref() == Some("currentTab") {
        state.leaving = Some(Leaving { documents: state.documents(), frames: state.frames });
    }
}

impl State {
    /// It was asked for, and neither its request nor the document has been seen.
    pub fn is_leaving(&self) -> bool {
        self.leaving
            .as_ref()
            .is_some_and(|it| it.documents == self.documents() && it.frames == self.frames)
    }

    fn documents(&self) -> usize {
        self.recorder.as_ref().map_or(0, super::recorder::Recorder::documents)
    }
}
