//! What the page of a HAR showed: it is opened again in Chromium, and answered from the file.

use super::BrowserPool;
use commis_base::error::{Code, Error, Result};
use commis_browser::offline::Archive;
use commis_redact::raw::{RawPage, RawRecording};

const RENDERED: &str =
    "the page of the recording was opened again, answered from the recording alone";

/// Puts what the page shows into the recording, where it comes to the recorded requests; a note says so, or why not. Fails with
/// `INTERRUPTED` alone: without a page, values decide.
pub async fn render(browser: &BrowserPool, raw: &mut RawRecording) -> Result<()> {
    let Some(archive) = Archive::from_recording(raw) else { return Ok(()) };
    let note = match page(browser, archive, raw).await {
        Ok(Some(page)) => {
            raw.page = page;
            RENDERED.to_owned()
        }
        Ok(None) => {
            "the page of the recording did not ask for its data again: nothing is held to it"
                .to_owned()
        }
        Err(err) if err.code() == Code::Interrupted => return Err(err),
        // The code alone: the message may hold what Chromium printed, which differs from run to run.
        Err(err) => format!("the page of the recording was not opened again ({})", err.code()),
    };
    raw.notes.push(note);
    Ok(())
}

async fn page(
    browser: &BrowserPool,
    archive: Archive,
    raw: &RawRecording,
) -> Result<Option<RawPage>, Error> {
    let mut context = browser.context().await?;
    let page = context.render(archive, &raw.typed, &raw.actions).await;
    // What was drawn is known, whether its context ends well or not.
    let _ = context.dispose().await;
    page
}
