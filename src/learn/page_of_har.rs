//! What the page of a HAR showed: it is opened again in Chromium, and answered from the file.

use std::{fs::File, io::Read as _, path::Path};

use super::BrowserPool;
use commis_base::error::{Code, Result};
use commis_browser::offline::Archive;
use commis_redact::raw::{RawPage, RawRecording};

const RENDERED: &str =
    "the page of the recording was opened again, answered from the recording alone";

/// By so much of a HAR it is guessed whether it has a page. A browser records the page first.
const HEAD: u64 = 256 << 10;

/// Whether a HAR, the file or its content, rather begins with a page: then its browser can start while the rest is read. Without one
/// there would be nothing to render.
pub fn begins_with_page(path: &Path, content: Option<&[u8]>) -> bool {
    let mut read = Vec::new();
    let head = match content {
        Some(bytes) => &bytes[..bytes.len().min(HEAD as usize)],
        // A file that cannot be read has no page.
        None => match File::open(path).and_then(|it| it.take(HEAD).read_to_end(&mut read)) {
            Ok(_) => &read,
            Err(_) => return false,
        },
    };
    memchr::memmem::find(head, b"text/html").is_some()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_har_begins_with_its_page() {
        let har = |mime: &str| format!(r#"{{"log": {{"entries": [{{"mimeType": "{mime}"}}]}}}}"#);
        let page = har("text/html; charset=utf-8");
        assert!(begins_with_page(Path::new(""), Some(page.as_bytes())));
        assert!(!begins_with_page(Path::new(""), Some(har("application/json").as_bytes())));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.har");
        commis_base::files::save(&file, page.as_bytes()).unwrap();
        assert!(begins_with_page(&file, None));
        assert!(!begins_with_page(&folder.path().join("missing.har"), None));
    }
}
