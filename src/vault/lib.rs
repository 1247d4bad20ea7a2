//! Logins, each under a name and of one site: its cookies and what its pages store, sealed on disk.
//!
//! Values leave here into a browser's context alone: [`LoginData`] can be neither shown nor serialised, and is wiped. What may be shown
//! of a login is its [`LoginSummary`]. The last three states of each are kept, and one with fewer cookies replaces a fuller one only where
//! that is asked for: a login that was lost is not noticed when it is written over.

pub mod browsers;
mod check;
mod cookies;
mod encrypted_file;
mod key;
mod login;
mod login_data;
mod login_http;
mod refresh;

use std::{
    fmt,
    path::PathBuf,
    str::FromStr,
    time::{Duration, Instant},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::key::Key;
pub use self::{
    check::{LoginProbe, judge_probe},
    cookies::parse_set_cookie,
    login::{Login, Logins},
    login_data::{BasicAuth, Cookie, LoginData, Refresh, StorageItem, TokenMapping},
    login_http::LoginHttp,
};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
    settings::Home,
};
use commis_state::now_ms;

/// States of a login that are kept.
const KEPT: usize = 3;
/// Bytes of a sealed file.
const MAX_FILE: usize = 24 << 20;
/// Logins in a vault.
const MOST: usize = 1000;
const SEALED: &str = ".sealed";
const CHECKED: &str = "checked.json";
/// Locked by whoever renews a login.
const REFRESH: &str = "refresh";

/// What a login is called: 1 to 64 of `a-z`, `0-9`, `-`, `_` and `.`, with a letter or digit at both ends. Safe as a folder's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LoginName(String);

impl FromStr for LoginName {
    type Err = Error;

    /// Fails with `PARAM_INVALID`.
    fn from_str(text: &str) -> Result<Self> {
        let plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
        let bytes = text.as_bytes();
        let ends = bytes.first().zip(bytes.last()).is_some_and(|it| plain(*it.0) && plain(*it.1));
        let inner = bytes.iter().all(|it| plain(*it) || b"-_.".contains(it));
        if ends && inner && text.len() <= 64 && !text.contains("..") {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::new(Code::ParamInvalid, "this is not a valid name of a login")
            .hint("use 1 to 64 of a-z, 0-9, -, _ and ., with a letter or a digit at both ends"))
    }
}

impl LoginName {
    /// The name of a site's login, where nobody gave another.
    pub fn for_site(site: &str) -> Result<Self> {
        let plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '.';
        let text: String =
            site.chars().map(|it| if plain(it) { it } else { '-' }).take(64).collect();
        text.trim_matches(['-', '.']).parse()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LoginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What may be shown of a login.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoginSummary {
    pub name: String,
    /// Registrable domain, or host, that all of it belongs to.
    pub site: String,
    pub cookies: usize,
    /// Of those, the ones that have no end of their own.
    pub session_cookies: usize,
    /// What pages stored.
    pub stored: usize,
    /// When the first of the cookies ends, milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ends_ms: Option<i64>,
    /// When the last of them does; absent where one has no end of its own, or there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ends_ms: Option<i64>,
    pub taken_ms: i64,
    /// When an answer last changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renewed_ms: Option<i64>,
    /// Whether runs can renew it as its site's pages do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub renewable: bool,
    /// It holds a name and password that the site's servers ask for by HTTP Basic.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub basic: bool,
    /// Where it came from: `form`, `window`, `context`, or a browser's name.
    pub from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<LoginCheckRecord>,
    /// Why it cannot be opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// What the last look at its site said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoginCheckRecord {
    pub at_ms: i64,
    pub holds: bool,
    /// In a few words of ours.
    pub why: String,
}

/// What a request changed in a login.
#[derive(Default)]
pub struct Changes {
    /// One that is over is taken out.
    pub cookies: Vec<Cookie>,
    pub stored: Vec<StorageItem>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty() && self.stored.is_empty()
    }
}

/// The logins of one home.
#[derive(Clone)]
pub struct Vault {
    folder: PathBuf,
    key: Key,
}

impl Vault {
    pub fn new(home: &Home) -> Self {
        Self { folder: home.vault.clone(), key: Key::new(home) }
    }

    fn dir(&self, name: &LoginName, create: bool) -> Result<Option<Dir>> {
        Dir::open(&self.folder.join(name.as_str()), create)
    }

    /// Numbers of its states, the oldest first.
    fn states(dir: &Dir) -> Result<Vec<u64>> {
        let mut out: Vec<u64> =
            dir.names()?.iter().filter_map(|it| it.strip_suffix(SEALED)?.parse().ok()).collect();
        out.sort_unstable();
        Ok(out)
    }

    /// All of them, by name; those that cannot be opened say why. Fails with `ARTIFACT_IO`.
    pub fn list(&self) -> Result<Vec<LoginSummary>> {
        let Some(folder) = Dir::open(&self.folder, false)? else { return Ok(Vec::new()) };
        let names = folder.names()?.into_iter().filter_map(|it| it.parse::<LoginName>().ok());
        let card = |name: LoginName| match self.open(&name) {
            Ok((card, _)) => Some(card),
            Err(err) if err.code() == Code::ParamInvalid => None,
            Err(err) => Some(LoginSummary {
                name: name.to_string(),
                site: String::new(),
                cookies: 0,
                session_cookies: 0,
                stored: 0,
                first_ends_ms: None,
                last_ends_ms: None,
                taken_ms: 0,
                renewed_ms: None,
                renewable: false,
                basic: false,
                from: String::new(),
                checked: None,
                trouble: Some(err.message().to_owned()),
            }),
        };
        Ok(names.take(MOST).filter_map(card).collect())
    }

    /// The newest state. Fails with `PARAM_INVALID` where there is no such login, with `ARTIFACT_CORRUPT` where it was changed or
    /// sealed with another key, and with `ARTIFACT_IO`.
    pub fn open(&self, name: &LoginName) -> Result<(LoginSummary, LoginData)> {
        let dir = self.dir(name, false)?.ok_or_else(|| unknown_login(name))?;
        let state = *Self::states(&dir)?.last().ok_or_else(|| unknown_login(name))?;
        let bytes = dir.read(&file(state), MAX_FILE)?.ok_or_else(|| unknown_login(name))?;
        let held = encrypted_file::open(&self.key.get(false)?, name, state, bytes)?;
        let checked = dir.read(CHECKED, 4096)?;
        let checked = checked.and_then(|it| serde_json::from_slice(&it).ok());
        Ok((held.summary(name, checked), held))
    }

    /// Seals it as the newest state. Fails with `PARAM_INVALID` where it holds nothing, is of another site than the login was, or,
    /// unless `force`, has fewer cookies that hold; and with `ARTIFACT_IO`.
    pub fn seal(&self, name: &LoginName, held: &LoginData, force: bool) -> Result<LoginSummary> {
        if held.is_empty() {
            return Err(Error::new(
                Code::ParamInvalid,
                format!(
                    "{} has no cookies and no stored values, so there is no login",
                    held.site()
                ),
            )
            .hint("log in first"));
        }
        if self.dir(name, false)?.is_none() && self.list_names()? >= MOST {
            return Err(Error::new(Code::QueueFull, format!("the vault holds {MOST} logins"))
                .hint("`commis vault rm` removes one"));
        }
        let key = self.key.get(true)?;
        let dir = files::open_or_create(&self.folder.join(name.as_str()))?;
        // Two that seal at once would take the same number.
        let _lock = lock(&dir)?;
        let states = Self::states(&dir)?;
        let mut held = held.clone();
        if !states.is_empty() {
            match self.open(name) {
                Ok((_, before)) => {
                    before.check_successor(&held, name, force)?;
                    // It holds no value of the login.
                    if held.refresh().is_none() {
                        held.set_refresh(before.refresh().cloned());
                    }
                }
                // What cannot be opened is lost anyway, and goes on lying beside.
                Err(_) if force => {}
                Err(err) => return Err(err.hint("--force seals beside it, as the newest state")),
            }
        }
        let state = states.last().map_or(1, |it| it + 1);
        let bytes = encrypted_file::seal(&key, name, state, &held)?;
        dir.write(&file(state), &bytes)?;
        dir.remove(CHECKED)?;
        let old = states.len().saturating_sub(KEPT - 1);
        for it in &states[..old] {
            dir.remove(&file(*it))?;
        }
        Ok(held.summary(name, None))
    }

    fn list_names(&self) -> Result<usize> {
        Ok(Dir::open(&self.folder, false)?.map_or(Ok(Vec::new()), |it| it.names())?.len())
    }

    /// Puts what answers set into the newest state, in its place, and returns that state. `taken_ms` says which login the answers
    /// belong to: where the person has logged in again since, nothing is written. Waits for whoever is sealing. Fails as
    /// [`Vault::open`] and [`Vault::seal`].
    pub(crate) fn update(
        &self,
        name: &LoginName,
        taken_ms: i64,
        set: &Changes,
    ) -> Result<LoginData> {
        let dir = self.dir(name, false)?.ok_or_else(|| unknown_login(name))?;
        let _lock = lock_within(&dir, PATIENCE)?;
        let (_, before) = self.open(name)?;
        let mut held = before.clone();
        let now = now_ms();
        if before.taken_ms() != taken_ms {
            return Ok(before);
        }
        let mut changed = false;
        for it in &set.cookies {
            changed |= held.set_cookie(it, now);
        }
        for it in &set.stored {
            changed |= held.set_stored(it);
        }
        // A login without anything in it is none, and neither is what a site fills without end.
        if held.is_empty() || held.check_bounds().is_err() {
            return Ok(before);
        }
        if changed {
            let state = *Self::states(&dir)?.last().ok_or_else(|| unknown_login(name))?;
            dir.write(
                &file(state),
                &encrypted_file::seal(&self.key.get(false)?, name, state, &held)?,
            )?;
        }
        Ok(held)
    }

    /// Notes how the site's pages renew it. Fails as [`Vault::open`] and [`Vault::seal`].
    pub fn set_refresh(&self, name: &LoginName, refresh: Refresh) -> Result<()> {
        let dir = self.dir(name, false)?.ok_or_else(|| unknown_login(name))?;
        let _lock = lock_within(&dir, PATIENCE)?;
        let (_, mut held) = self.open(name)?;
        held.set_refresh(Some(refresh));
        let state = *Self::states(&dir)?.last().ok_or_else(|| unknown_login(name))?;
        dir.write(&file(state), &encrypted_file::seal(&self.key.get(false)?, name, state, &held)?)
    }

    /// The lock of whoever renews this login; `None` while another one does.
    pub(crate) fn refresh_lock(&self, name: &LoginName) -> Result<Option<files::Lock>> {
        let dir = self.dir(name, false)?.ok_or_else(|| unknown_login(name))?;
        dir.make_folder(REFRESH)?.try_lock()
    }

    /// What changes whenever the newest state is written. `None` where there is no such login.
    pub(crate) fn stamp(&self, name: &LoginName) -> Result<Option<Stamp>> {
        let Some(dir) = self.dir(name, false)? else { return Ok(None) };
        let Some(state) = Self::states(&dir)?.last().copied() else { return Ok(None) };
        Ok(dir.stat(&file(state))?.map(|it| (state, it)))
    }

    /// Notes what a look at its site said.
    pub fn record_check(
        &self,
        name: &LoginName,
        holds: bool,
        why: &str,
    ) -> Result<LoginCheckRecord> {
        let it = LoginCheckRecord { at_ms: now_ms(), holds, why: why.to_owned() };
        let dir = self.dir(name, false)?.ok_or_else(|| unknown_login(name))?;
        let bytes = serde_json::to_vec(&it)
            .map_err(|err| Error::new(Code::Internal, "a check cannot be written").source(err))?;
        dir.write(CHECKED, &bytes)?;
        Ok(it)
    }

    /// All states of it. Fails with `PARAM_INVALID` where there is none.
    pub fn remove(&self, name: &LoginName) -> Result<()> {
        let dir = self.dir(name, false)?.ok_or_else(|| unknown_login(name))?;
        let _lock = lock(&dir)?;
        if let Some(it) = dir.folder(REFRESH)? {
            dir.remove_folder(REFRESH, &it)?;
        }
        for it in dir.names()? {
            dir.remove(&it)?;
        }
        dir.sweep()?;
        std::fs::remove_dir(self.folder.join(name.as_str())).map_err(|err| {
            Error::new(Code::ArtifactIo, format!("cannot remove the folder of {name}")).source(err)
        })
    }
}

/// Number of the newest state, and its file's size, time and number.
pub(crate) type Stamp = (u64, (u64, i64, u64, u64));

/// How long a write waits for another one.
const PATIENCE: Duration = Duration::from_secs(5);

fn lock_within(dir: &Dir, patience: Duration) -> Result<files::Lock> {
    let begun = Instant::now();
    loop {
        match lock(dir) {
            Err(err) if err.code() == Code::TaskBusy && begun.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(5));
            }
            it => return it,
        }
    }
}

fn file(state: u64) -> String {
    format!("{state}{SEALED}")
}

fn lock(dir: &Dir) -> Result<files::Lock> {
    dir.try_lock()?.ok_or_else(|| {
        Error::new(Code::TaskBusy, "another process is writing this login")
            .hint("try again in a moment")
    })
}

fn unknown_login(name: &LoginName) -> Error {
    Error::new(Code::ParamInvalid, format!("no login is named `{name}`"))
        .hint("`commis vault ls` lists them; `commis session login` makes one")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use commis_recipe::model::StorageArea;

    fn vault(home: &std::path::Path) -> Vault {
        Vault::new(&Home::find(Some(home)).unwrap())
    }

    fn cookies(names: &[&str], ends: Option<i64>) -> Vec<Cookie> {
        let one = |name: &&str| Cookie {
            name: (*name).to_owned(),
            value: format!("canary-{name}").into(),
            domain: ".shop.test".to_owned(),
            path: "/".to_owned(),
            ends,
            secure: true,
            http_only: true,
            same_site: None,
            partition: None,
            set_ms: 0,
        };
        names.iter().map(one).collect()
    }

    fn login_data(cookies: Vec<Cookie>) -> LoginData {
        LoginData::new("https://www.shop.test/account?x=1#y", "form", cookies, Vec::new()).unwrap()
    }

    #[test]
    fn what_is_sealed_is_opened_again_and_stands_nowhere_in_plain() {
        let home = tempfile::tempdir().unwrap();
        let (it, name) = (vault(home.path()), "shop".parse::<LoginName>().unwrap());
        let card = it.seal(&name, &login_data(cookies(&["sid"], None)), false).unwrap();
        assert_eq!((&*card.site, card.cookies, card.session_cookies), ("shop.test", 1, 1));
        let (card, back) = vault(home.path()).open(&name).unwrap();
        assert_eq!(back.cookies()[0].value.as_str(), "canary-sid");
        assert_eq!(back.url(), "https://www.shop.test/account");
        assert_eq!(it.list().unwrap(), [card]);
        let bytes = std::fs::read(home.path().join("vault/shop/1.sealed")).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("canary"));
        let mode = |at: &str| {
            std::fs::metadata(home.path().join(at)).unwrap().permissions().mode() & 0o777
        };
        assert_eq!((mode("vault.key"), mode("vault/shop")), (0o600, 0o700));
        it.record_check(&name, true, "its page loaded").unwrap();
        assert!(it.open(&name).unwrap().0.checked.unwrap().holds);
        it.remove(&name).unwrap();
        assert_eq!(it.open(&name).err().unwrap().code(), Code::ParamInvalid);
        assert!(it.list().unwrap().is_empty());
    }

    #[test]
    fn an_emptier_state_never_replaces_a_fuller_one() {
        let home = tempfile::tempdir().unwrap();
        let (it, name) = (vault(home.path()), "shop".parse::<LoginName>().unwrap());
        let full = login_data(cookies(&["sid", "csrf"], None));
        it.seal(&name, &full, false).unwrap();
        let fewer = login_data(cookies(&["sid"], None));
        let err = it.seal(&name, &fewer, false).unwrap_err();
        assert!(err.message().contains("fewer cookies"), "{err}");
        // Those that have ended are none.
        let ended = login_data(cookies(&["sid", "csrf"], Some(1)));
        assert!(it.seal(&name, &ended, false).is_err());
        let other = LoginData::new("https://city.test/", "form", Vec::new(), Vec::new()).unwrap();
        assert!(it.seal(&name, &other, true).is_err());
        assert_eq!(it.open(&name).unwrap().0.cookies, 2);
        it.seal(&name, &fewer, true).unwrap();
        assert_eq!(it.open(&name).unwrap().0.cookies, 1);
        for _ in 0..3 {
            it.seal(&name, &full, false).unwrap();
        }
        let left = Vault::states(&it.dir(&name, false).unwrap().unwrap()).unwrap();
        assert_eq!(left, [3, 4, 5]);
        let mut of_city = cookies(&["sid"], None);
        of_city[0].domain = "city.test".to_owned();
        let city = LoginData::new("https://city.test/", "form", of_city, Vec::new()).unwrap();
        let err = it.seal(&name, &city, true).unwrap_err();
        assert!(err.message().contains("shop.test"), "{err}");
    }

    #[test]
    fn what_was_changed_or_is_another_logins_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let it = vault(home.path());
        let (a, b): (LoginName, LoginName) = ("a".parse().unwrap(), "b".parse().unwrap());
        it.seal(&a, &login_data(cookies(&["sid"], None)), false).unwrap();
        it.seal(&b, &login_data(cookies(&["other"], None)), false).unwrap();
        let at = |name: &LoginName| {
            files::open_or_create(&home.path().join("vault").join(name.as_str())).unwrap()
        };
        let sealed = at(&a).read("1.sealed", 1 << 20).unwrap().unwrap();
        let refused = |bytes: &[u8]| {
            at(&a).write("1.sealed", bytes).unwrap();
            let err = it.open(&a).err().unwrap();
            assert_eq!(err.code(), Code::ArtifactCorrupt, "{err}");
            assert!(err.hint_text().is_some() && !err.to_string().contains("canary"));
        };
        for n in [0, 20, sealed.len() / 2, sealed.len() - 1] {
            let mut changed = sealed.clone();
            changed[n] ^= 1;
            refused(&changed);
        }
        refused(b"");
        refused(&sealed[..sealed.len() - 1]);
        refused(&at(&b).read("1.sealed", 1 << 20).unwrap().unwrap());
        // An older state is not the newest one by another name.
        at(&a).write("1.sealed", &sealed).unwrap();
        it.open(&a).unwrap();
        at(&a).write("2.sealed", &sealed).unwrap();
        assert_eq!(it.open(&a).err().unwrap().code(), Code::ArtifactCorrupt);
        at(&a).remove("2.sealed").unwrap();
        // Another key.
        let root = files::open_or_create(home.path()).unwrap();
        root.write("vault.key", &[7; 32]).unwrap();
        let err = it.open(&a).err().unwrap();
        assert!(err.code() == Code::ArtifactCorrupt && err.message().contains("key"), "{err}");
        assert!(it.list().unwrap()[0].trouble.is_some());
    }

    #[test]
    fn a_key_that_others_can_read_or_that_is_a_link_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let (it, name) = (vault(home.path()), "shop".parse::<LoginName>().unwrap());
        it.seal(&name, &login_data(cookies(&["sid"], None)), false).unwrap();
        let key = home.path().join("vault.key");
        let mode = |mode| {
            std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(0o640);
        let err = it.open(&name).err().unwrap();
        assert!(err.message().contains("read by others"), "{err}");
        mode(0o600);
        it.open(&name).unwrap();
        std::fs::hard_link(&key, home.path().join("second")).unwrap();
        assert!(it.open(&name).is_err());
        std::fs::remove_file(home.path().join("second")).unwrap();
        let elsewhere = files::open_or_create(home.path()).unwrap();
        elsewhere.write("elsewhere", &elsewhere.read("vault.key", 99).unwrap().unwrap()).unwrap();
        std::fs::remove_file(&key).unwrap();
        std::os::unix::fs::symlink(home.path().join("elsewhere"), &key).unwrap();
        assert!(it.open(&name).is_err());
        std::fs::remove_file(&key).unwrap();
        let err = it.open(&name).err().unwrap();
        assert!(err.message().contains("key"), "{err}");
        // Nothing is sealed with a new key beside what the old one sealed.
        assert!(it.seal(&name, &login_data(cookies(&["sid"], None)), false).is_err());
    }

    #[test]
    fn what_is_hidden_is_no_word_of_a_page() {
        let mut all = cookies(&["a", "b", "c", "d"], None);
        all[0].value = "short-id".to_owned().into();
        for (it, value) in
            all[1..].iter_mut().zip(["Switzerland", "0123456789abcdef", "de-CH,de;q=0.9 en;q=0.8"])
        {
            it.http_only = false;
            it.value = value.to_owned().into();
        }
        let item = |value: &str| StorageItem {
            origin: "https://shop.test".to_owned(),
            area: StorageArea::Local,
            name: "n".to_owned(),
            value: value.to_owned().into(),
            set_ms: 0,
        };
        let stored = vec![
            item("{\"theme\":\"a-very-dark-one\",\"token\":[\"tok-0123456789abc\"]}"),
            item("light"),
        ];
        let held = LoginData::new("https://shop.test/", "form", all, stored).unwrap();
        let hidden = held.secrets();
        let hidden: Vec<&str> = hidden.iter().map(|it| it.as_str()).collect();
        assert_eq!(hidden, ["short-id", "0123456789abcdef", "tok-0123456789abc"]);
    }

    #[test]
    fn names_are_safe_as_names_of_folders() {
        for good in ["a", "shop", "shop.test", "my_shop-2"] {
            assert_eq!(good.parse::<LoginName>().unwrap().as_str(), good);
        }
        let long = "a".repeat(65);
        for bad in ["", ".", "..", "a..b", ".a", "a.", "A", "a/b", "a b", "ä", "-a", &*long] {
            assert!(bad.parse::<LoginName>().is_err(), "{bad}");
        }
        assert_eq!(LoginName::for_site("[::1]").unwrap().as_str(), "1");
        assert_eq!(LoginName::for_site("shop.test").unwrap().as_str(), "shop.test");
    }
}
