//! The logins of a task, opened when the first page needs one; and tasks that name none, though they need one.

use super::{LearnContext, LearnResult, Run, Source, Task};
use commis_artifacts::{
    payloads::{Outcome, Reason},
    recording::SessionRecording,
};
use commis_base::error::{Code, Error, Result};
use commis_browser::Context;
use commis_net::egress::site_of;
use commis_redact::raw::RawStorageEntry;
use commis_vault::{Login, LoginName, Vault};

impl Run<'_> {
    /// The task's logins, the one that it is recorded with first; empty where it has none. Fails with `PARAM_INVALID` for one that is
    /// not of the page's site, two that are the same, or a source that no login can be given to, and as `Vault::open`.
    pub(super) fn logins(&mut self) -> Result<Vec<Login>> {
        if let Some(it) = &self.logins {
            return Ok(it.clone());
        }
        let refused = |why: String| Err(Error::new(Code::ParamInvalid, why));
        let names = &self.task.logins;
        if let [first, second] = &names[..]
            && first == second
        {
            return refused(format!("the second login is the first one, `{first}`"));
        }
        let mut out = Vec::new();
        for name in names {
            let login = Login::open(Vault::clone(&self.cx.vault), name)?;
            if let Source::Live { url, .. } = &self.task.source {
                is_of_page(name, &login, url)?;
            }
            out.push(login);
        }
        self.logins = Some(out.clone());
        Ok(out)
    }

    /// The site of the login that a recording was made with. A HAR says only now whose pages it holds. Fails as [`Self::logins`].
    pub(super) fn login_site(&mut self, recording: &SessionRecording) -> Result<Option<String>> {
        let logins = self.logins()?;
        for (name, login) in self.task.logins.iter().zip(&logins) {
            is_of_page(name, login, &recording.url)?;
        }
        Ok(logins.first().map(Login::site))
    }
}

fn is_of_page(name: &LoginName, login: &Login, url: &str) -> Result<()> {
    let site = login.site();
    if site == site_of(url) {
        return Ok(());
    }
    let why = format!("the login `{name}` is one of {site}, and the page is of another site");
    Err(Error::new(Code::ParamInvalid, why))
}

/// Puts the login, as it is now, into a fresh context.
pub(super) async fn mount(login: Option<&Login>, context: &Context) -> Result<()> {
    let Some(it) = login else { return Ok(()) };
    it.reload()?;
    context.mount(&it.contents()).await.map(drop)
}

/// Writes back what requests of that context changed in the login.
pub(super) async fn absorb(login: Option<&Login>, context: &Context) -> Result<()> {
    let Some(it) = login else { return Ok(()) };
    it.absorb(&context.capture_login(Some(it.contents().url()), "context").await?).await
}

/// What a login has of the URL's origin, as a recorded page has it.
pub(super) fn stored_of(login: &Login, url: &str) -> Vec<RawStorageEntry> {
    let Ok(url) = url::Url::parse(url) else { return Vec::new() };
    let origin = url.origin().ascii_serialization();
    let held = login.contents();
    let own = held.stored().iter().filter(|it| it.origin == origin);
    own.map(|it| RawStorageEntry { area: it.area, key: it.name.clone(), value: it.value.clone() })
        .collect()
}

/// What the manifest says needs a login, and names none for, is not tried.
pub(super) fn needs_login(task: &Task, cx: &LearnContext) -> LearnResult {
    LearnResult {
        task_id: task.id.to_string(),
        name: task.name.to_string(),
        outcome: Outcome::NonRecipeable,
        reason: Some(Reason::NeedsLogin.as_str().to_owned()),
        detail: Some("the manifest says `requires_auth`; nothing was recorded".to_owned()),
        recipe: None,
        artifacts: cx.store.root().join(task.id.as_str()),
        ran: Vec::new(),
        reused: Vec::new(),
        live_values_lost: false,
        skipped_entries: 0,
        browser_ms: 0,
        transport: None,
        model: None,
    }
}
