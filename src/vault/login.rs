//! A login in use: its newest state, and the way back of what answers change in it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use zeroize::Zeroizing;

use super::{Changes, LoginData, LoginName, Stamp, Vault};
use commis_base::error::{Code, Error, Result};
use commis_recipe::model::StorageArea;

/// A login of the vault that requests are sent with. Cheap to clone; clones share their state.
#[derive(Clone)]
pub struct Login {
    vault: Arc<Vault>,
    name: LoginName,
    state: Arc<Mutex<State>>,
}

struct State {
    held: Arc<LoginData>,
    /// Of the file that it was read from.
    stamp: Option<Stamp>,
}

impl Login {
    /// Opens the newest state of a login, and hides its secrets from messages and the log. Fails as [`Vault::open`].
    pub fn open(vault: Vault, name: &LoginName) -> Result<Self> {
        // Before it is read: what is written meanwhile is read again.
        let stamp = vault.stamp(name)?;
        let (_, held) = vault.open(name)?;
        commis_redact::hide_all(&held.secrets());
        let state = State { held: Arc::new(held), stamp };
        Ok(Self { vault: Arc::new(vault), name: name.clone(), state: Arc::new(Mutex::new(state)) })
    }

    pub fn name(&self) -> &LoginName {
        &self.name
    }

    /// Registrable domain, or host, that all of it belongs to.
    pub fn site(&self) -> String {
        self.contents().site().to_owned()
    }

    /// What it holds now.
    pub fn contents(&self) -> Arc<LoginData> {
        Arc::clone(&self.lock().held)
    }

    /// The value of a cookie that a request to `url` would carry.
    pub fn cookie(&self, name: &str, url: &commis_net::egress::SafeUrl) -> Option<String> {
        let held = self.contents();
        let now = commis_state::now_ms();
        let mut all = held.cookies().iter().filter(|it| it.name == name && it.goes_to(url, now));
        all.next().map(|it| it.value.to_string())
    }

    /// Notes what a run showed of it, for whoever lists logins. Fails as [`Vault::record_check`].
    pub fn record_check(&self, holds: bool, why: &str) -> Result<()> {
        self.vault.record_check(&self.name, holds, why).map(drop)
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

    fn replace(&self, held: LoginData, stamp: Option<Stamp>) {
        commis_redact::hide_all(&held.secrets());
        *self.lock() = State { held: Arc::new(held), stamp };
    }

    /// What pages of the URL's origin stored under a key.
    pub fn stored(&self, url: &str, area: StorageArea, key: &str) -> Option<Zeroizing<String>> {
        let origin = url::Url::parse(url).ok()?.origin().ascii_serialization();
        self.contents().stored_at(&origin, area, key).map(|it| it.value.clone())
    }

    /// Writes what was changed back, sealed, before anything else is done with the answer that set them. A newer value on disk stays,
    /// and so does a login that the person has made anew meanwhile. Fails with `ARTIFACT_IO`, `TASK_BUSY` and as [`Vault::open`].
    pub async fn save_changes(&self, set: Changes) -> Result<()> {
        if set.is_empty() {
            return Ok(());
        }
        let this = self.clone();
        let work = move || {
            let taken_ms = this.contents().taken_ms();
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
    pub async fn absorb(&self, seen: &LoginData) -> Result<()> {
        let (own, now) = (self.contents(), commis_state::now_ms());
        let cookies = own.cookies_changed_in(seen, now);
        self.save_changes(Changes { cookies, stored: own.stored_changed_in(seen, now) }).await
    }
}

/// Logins that a process goes on using: each is read and unsealed once, and again where its file is another one.
pub struct Logins {
    vault: Vault,
    /// How long one is kept that nobody asks for.
    kept: Duration,
    open: Mutex<BTreeMap<LoginName, (Login, Instant)>>,
}

impl Logins {
    pub fn new(vault: Vault, kept: Duration) -> Self {
        Self { vault, kept, open: Mutex::default() }
    }

    /// The newest state of a login. Fails as [`Vault::open`].
    pub fn get(&self, name: &LoginName) -> Result<Login> {
        let known = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.retain(|_, (_, used)| used.elapsed() < self.kept);
            open.remove(name)
        };
        let login = match known {
            Some((it, _)) => {
                it.reload()?;
                it
            }
            None => Login::open(self.vault.clone(), name)?,
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(name.clone(), (login.clone(), Instant::now()));
        Ok(login)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StorageItem;
    use commis_base::settings::Home;

    #[test]
    fn a_login_that_is_kept_open_is_the_one_on_disk() {
        let home = tempfile::tempdir().unwrap();
        let vault = || Vault::new(&Home::find(Some(home.path())).unwrap());
        let name: LoginName = "one".parse().unwrap();
        let seal = |value: &str| {
            let item = StorageItem {
                origin: "https://shop.test".to_owned(),
                area: StorageArea::Local,
                name: "token".to_owned(),
                value: value.to_owned().into(),
                set_ms: 0,
            };
            let held =
                LoginData::new("https://shop.test/", "form", Vec::new(), vec![item]).unwrap();
            vault().seal(&name, &held, true).unwrap();
        };
        let logins = Logins::new(vault(), Duration::from_secs(600));
        let token = || {
            let login = logins.get(&name)?;
            let found = login.stored("https://shop.test/", StorageArea::Local, "token");
            Ok::<_, Error>(found.unwrap().to_string())
        };
        assert_eq!(token().unwrap_err().code(), Code::ParamInvalid);
        seal("first");
        assert_eq!(token().unwrap(), "first");
        assert_eq!(token().unwrap(), "first");
        seal("second");
        assert_eq!(token().unwrap(), "second");
        vault().remove(&name).unwrap();
        assert_eq!(token().unwrap_err().code(), Code::ParamInvalid);
        seal("third");
        assert_eq!(token().unwrap(), "third");
    }
}
