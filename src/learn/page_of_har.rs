//! What the page of a HAR showed: it is opened again in Chromium, and answered from the file.

use super::BrowserPool;
use commis_base::error::{Code, Result};
use commis_browser::offline::Archive;
use commis_redact::raw::{RawPage, RawRecording};

const RENDERED: &str =
    "the page of the recording was opened again, answered from the recording alone";

/// Puts what the page shows into the recording, where it comes to the recorded requests; a note says so, or why not: without a page,
/// values decide.
///
/// Fails with `INTERRUPTED`, and with `BROWSER_FAILED` or `TIMEOUT` where a Chromium that is there fails twice: that says nothing about
/// the page.
pub async fn render(browser: &BrowserPool, raw: &mut RawRecording) -> Result<()> {
    let is_failure = |it: &Result<Option<RawPage>>| {
        it.as_ref().is_err_and(|err| matches!(err.code(), Code::BrowserFailed | Code::Timeout))
    };
    let Some(archive) = Archive::from_recording(raw) else { return Ok(()) };
    let mut drawn = page(browser, archive, raw).await;
    if is_failure(&drawn)
        && let Some(archive) = Archive::from_recording(raw)
    {
        drawn = page(browser, archive, raw).await;
    }
    let note = match drawn {
        Ok(Some(page)) => {
            raw.page = page;
            RENDERED.to_owned()
        }
        Ok(None) => {
            "the page of the recording did not ask for its data again: nothing is held to it"
                .to_owned()
        }
        Err(err)
            if matches!(err.code(), Code::Interrupted | Code::BrowserFailed | Code::Timeout) =>
        {
            return Err(err.context("the page of the recording was not opened again").hint(
                "try again; `commis doctor` checks the browser; `learning.render_har = false` learns without the page",
            ));
        }
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
) -> Result<Option<RawPage>> {
    let mut context = browser.context().await?;
    // What was drawn is known: nobody waits for the end of its context.
    context.render(archive, &raw.typed, &raw.actions).await
}
