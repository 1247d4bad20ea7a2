//! A login in use: its newest state, and the way back of what answers change in it.

use std::sync::{Arc, Mutex, PoisonError};

use zeroize::Zeroizing;

use super::{Changes, Held, Name, Stamp, Vault};
use commis_base::error::{Code, Error, Result};
use commis_recipe::model::StorageArea;

/// A login of the vault that requests are sent with. Cheap to clone; clones share their state.
#[derive(Clone)]
pub struct Login {
    vault: Arc<Vault>,
    name: Name,
    state: Arc<Mutex<State>>,
}

struct State {
    held: Arc<Held>,
    /// Of the file that it was read from.
    stamp: Option<Stamp>,
}

impl Login {
    /// Opens the newest state of a login, and hides its secrets from messages and the log. Fails as [`Vault::open`].
    pub fn open(vault: Vault, name: &Name) -> Result<Self> {
        // Before it is read: what is written meanwhile is read again.
        let stamp = vault.stamp(name)?;
        let (_, held) = vault.open(name)?;
        commis_redact::hide_all(&held.secrets());
        let state = State { held: Arc::new(held), stamp };
        Ok(Self { vault: Arc::new(vault), name: name.clone(), state: Arc::new(Mutex::new(state)) })
    }

    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Registrable domain, or host, that all of it belongs to.
    pub fn site(&self) -> String {
        self.held().site().to_owned()
    }

    /// What it holds now.
    pub fn held(&self) -> Arc<Held> {
        Arc::clone(&self.lock().held)
    }

    /// The value of a cookie that a request to `url` would carry.
    pub fn cookie(&self, name: &str, url: &commis_net::egress::SafeUrl) -> Option<String> {
        let held = self.held();
        let now = commis_state::now_ms();
        let mut all = held.cookies().iter().filter(|it| it.name == name && it.goes_to(url, now));
        all.next().map(|it| it.value.to_string())
    }

    /// Notes what a run showed of it, for whoever lists logins. Fails as [`Vault::checked`].
    pub fn note(&self, holds: bool, why: &str) -> Result<()> {
        self.vault.checked(&self.name, holds, why).map(drop)
    }

    /// Notes how the site's pages renew it. Fails as [`Vault::set_refresh`].
    pub fn set_refresh(&self, refresh: super::Refresh) -> Result<()> {
        self.vault.set_refresh(&self.name, refresh)?;
        self.reload()
    }

    pub(super) fn refresh_lock(&self) -> Result<Option<commis_base::files::Lock>> {
        self.vault.refresh_lock(&self.name)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads it again where another process has written it. Fails as [`Vault::open`].
    pub fn reload(&self) -> Result<()> {
        let stamp = self.vault.stamp(&self.name)?;
        if stamp == self.lock().stamp {
            return Ok(());
        }
        let (_, held) = self.vault.open(&self.name)?;
        self.replace(held, stamp);
        Ok(())
    }

    fn replace(&self, held: Held, stamp: Option<Stamp>) {
        commis_redact::hide_all(&held.secrets());
        *self.lock() = State { held: Arc::new(held), stamp };
    }

    /// What pages of the URL's origin stored under a key.
    pub fn stored(&self, url: &str, area: StorageArea, key: &str) -> Option<Zeroizing<String>> {
        let origin = url::Url::parse(url).ok()?.origin().ascii_serialization();
        self.held().stored_at(&origin, area, key).map(|it| it.value.clone())
    }

    /// Writes what was changed back, sealed, before anything else is done with the answer that set them. A newer value on disk stays,
    /// and so does a login that the person has made anew meanwhile. Fails with `ARTIFACT_IO`, `TASK_BUSY` and as [`Vault::open`].
    pub async fn keep(&self, set: Changes) -> Result<()> {
        if set.is_empty() {
            return Ok(());
        }
        let this = self.clone();
        let work = move || {
            let taken_ms = this.held().taken_ms();
            let held = this.vault.update(&this.name, taken_ms, &set)?;
            // Whoever writes between the two is read at the next call.
            let stamp = this.vault.stamp(&this.name)?;
            this.replace(held, stamp);
            Ok(())
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|err| Error::new(Code::Internal, "a login was not written back").source(err))?
    }

    /// Takes over what a browser's context holds of this login's site, where a request of that context has changed it.
    pub async fn absorb(&self, seen: &Held) -> Result<()> {
        let (own, now) = (self.held(), commis_state::now_ms());
        let cookies = own.cookies_changed_in(seen, now);
        self.keep(Changes { cookies, stored: own.stored_changed_in(seen, now) }).await
    }
}
