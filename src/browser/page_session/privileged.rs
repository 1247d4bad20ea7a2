//! What pages get only where the user's settings say so: files, and scripts that are nobody's but the caller's.

use std::os::unix::fs::{MetadataExt as _, chown};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{CommandOutput, PageController, Target, plain};
use commis_base::{
    error::{Code, Error, Result},
    files,
};

/// Characters of what a script comes to.
const RESULT: usize = 64 * 1024;

/// A file for a page: what it is called, and what is in it.
#[derive(Clone)]
pub struct UploadFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for UploadFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} bytes)", self.name, self.bytes.len())
    }
}

impl PageController {
    /// Gives files to a field for files. Fails with `STEP_FAILED` where the element takes none.
    pub(super) async fn upload(
        &mut self,
        target: Target,
        all: Vec<UploadFile>,
    ) -> Result<CommandOutput> {
        let meant = self.resolve_for_act(&target).await?;
        let before = self.before().await?;
        // The browser may be another user, who can read nothing of ours.
        let own = self.context.own_folder()?;
        self.given += 1;
        let folder = own.join(format!("given-{}-{}", self.shared().id, self.given));
        let dir = files::open_or_create(&folder)?;
        let failed =
            |err| Error::new(Code::BrowserFailed, "the browser did not take the file").source(err);
        let owner = own.metadata().map_err(failed)?;
        let theirs = |at: &std::path::Path| chown(at, Some(owner.uid()), Some(owner.gid()));
        theirs(&folder).map_err(failed)?;
        let mut paths = Vec::new();
        for it in &all {
            dir.write_unsynced(&it.name, &it.bytes)?;
            let at = folder.join(&it.name);
            theirs(&at).map_err(failed)?;
            paths.push(at);
        }
        let shared = self.shared();
        let params = json!({ "files": paths, "backendNodeId": meant.found.backend });
        let session = Some(&*meant.found.session);
        shared.cdp.run(session, "DOM.setFileInputFiles", params).await.map_err(|err| {
            Error::new(Code::StepFailed, format!("{} does not accept files", meant.told))
                .source(err)
                .hint("name the file field itself: see `browse forms`, or use css=input[type=file]")
        })?;
        self.lost.push(format!("files for {}", meant.told));
        let names: Vec<String> = all.iter().map(|it| plain(&it.name)).collect();
        self.acted(before, format!("gave {} to {}", names.join(", "), meant.told)).await
    }

    /// Runs a script in the page's own world, and says what it came to as JSON. Fails with `STEP_FAILED` where it throws.
    pub(super) async fn script(&mut self, script: &str) -> Result<CommandOutput> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct EvaluateResult {
            result: RemoteObject,
            exception_details: Option<ExceptionDetails>,
        }
        #[derive(Deserialize)]
        struct RemoteObject {
            #[serde(default)]
            value: Value,
            #[serde(default)]
            description: String,
        }
        #[derive(Deserialize)]
        struct ExceptionDetails {
            exception: Option<RemoteObject>,
        }
        let shared = self.shared();
        let session = shared.page()?.session;
        self.lost.push("a script".to_owned());
        let params = json!({
            "expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": false,
        });
        let reply = shared.cdp.send(Some(&session), "Runtime.evaluate", params);
        let it: EvaluateResult = reply.read(self.timeout).await?;
        if let Some(thrown) = it.exception_details {
            let what = thrown.exception.unwrap_or(it.result);
            let what: String = what.description.chars().take(400).collect();
            let why = format!("the script failed: {}", plain(&commis_redact::message(&what)));
            return Err(Error::new(Code::StepFailed, why));
        }
        let text = if it.result.value.is_null() && !it.result.description.is_empty() {
            it.result.description
        } else {
            serde_json::to_string(&it.result.value).unwrap_or_default()
        };
        let text: String = commis_redact::message(&text).chars().take(RESULT).collect();
        Ok(text.lines().map(plain).collect::<Vec<_>>().join("\n").into())
    }
}
