//! Cookies of the person's own browser: which profiles there are, and what their cookie files hold, read from a copy.
//!
//! A cookie file is a database of whoever wrote it: it is bounded, only real tables are asked, a query that goes on is stopped, and
//! a value of another type than a cookie's is left out and counted. Only folders that these browsers are known to use are looked at.

mod chromium;
mod copy;
mod firefox;
mod keyring;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, Row, types::ValueRef};
use zeroize::Zeroizing;

use super::Cookie;
use commis_base::error::{Code, Error, Result};

/// Rows of a cookie file.
const MOST: usize = 100_000;
/// Bytes of a text of it; a browser keeps 4096 of a name and a value together.
const LONGEST: usize = 16 << 10;
/// For all that is asked of one file.
const PATIENCE: Duration = Duration::from_secs(20);

/// A browser whose cookie files are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Brand {
    Firefox,
    Chromium,
    Chrome,
    Brave,
    Edge,
}

impl Brand {
    pub const ALL: [Self; 5] =
        [Self::Firefox, Self::Chromium, Self::Chrome, Self::Brave, Self::Edge];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Firefox => "firefox",
            Self::Chromium => "chromium",
            Self::Chrome => "chrome",
            Self::Brave => "brave",
            Self::Edge => "edge",
        }
    }

    /// Below the home folder, and below that of settings.
    fn folders(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Firefox => (
                &[
                    ".mozilla/firefox",
                    "snap/firefox/common/.mozilla/firefox",
                    ".var/app/org.mozilla.firefox/.mozilla/firefox",
                ],
                &["mozilla/firefox"],
            ),
            Self::Chromium => (
                &[
                    "snap/chromium/common/chromium",
                    ".var/app/org.chromium.Chromium/config/chromium",
                ],
                &["chromium"],
            ),
            Self::Chrome => {
                (&[".var/app/com.google.Chrome/config/google-chrome"], &["google-chrome"])
            }
            Self::Brave => (
                &[".var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser"],
                &["BraveSoftware/Brave-Browser"],
            ),
            Self::Edge => {
                (&[".var/app/com.microsoft.Edge/config/microsoft-edge"], &["microsoft-edge"])
            }
        }
    }
}

/// A profile that has a cookie file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub brand: Brand,
    /// Its folder's name.
    pub name: String,
    file: PathBuf,
}

/// What a cookie file holds.
#[derive(Default)]
pub struct CookieFileContents {
    pub cookies: Vec<Cookie>,
    /// How many are encrypted with a key that the system's keyring has, where it was not asked.
    pub locked: usize,
    /// How many are none: of another type, too long, of a container, or damaged.
    pub strange: usize,
}

/// Profiles below the home folder of a person, whose settings are in `config`.
pub fn find_profiles(home: &Path, config: &Path, brand: Option<Brand>) -> Vec<Profile> {
    let mut out = Vec::new();
    for brand in Brand::ALL.into_iter().filter(|it| brand.is_none_or(|only| only == *it)) {
        let (below_home, below_config) = brand.folders();
        let folders = below_home.iter().map(|it| home.join(it));
        for folder in folders.chain(below_config.iter().map(|it| config.join(it))) {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            let mut names: Vec<_> = entries
                .flatten()
                .take(1000)
                .filter_map(|it| it.file_name().into_string().ok())
                .collect();
            names.sort_unstable();
            for name in names {
                let files: &[&str] = match brand {
                    Brand::Firefox => &["cookies.sqlite"],
                    _ => &["Network/Cookies", "Cookies"],
                };
                let file =
                    files.iter().map(|it| folder.join(&name).join(it)).find(|it| it.is_file());
                out.extend(file.map(|file| Profile { brand, name, file }));
            }
        }
    }
    out
}

impl Profile {
    /// The cookies of it. Fails with `ARTIFACT_CORRUPT` where the file is no
    /// cookie file, and with `ARTIFACT_IO` and `USAGE` where it cannot be read.
    pub fn read_cookies(&self) -> Result<CookieFileContents> {
        self.read_with(None)
    }

    /// The same with the password that the system's keyring has for the browser. Also fails with `USAGE` and `PARAM_INVALID` where
    /// that cannot be had.
    pub fn read_with_keyring(&self) -> Result<CookieFileContents> {
        let password = keyring::read_password(self.brand)?;
        self.read_with(Some(&password))
    }

    fn read_with(&self, password: Option<&[u8]>) -> Result<CookieFileContents> {
        let copy = copy::CookieFileCopy::new(&self.file)?;
        let db = open(&copy.path()).map_err(|err| self.corrupt_error(&err))?;
        // Ends whatever is still at work then; one that has ended minds nothing.
        let (stop, (ended, end)) = (db.get_interrupt_handle(), std::sync::mpsc::channel::<()>());
        let timer = std::thread::spawn(move || {
            if end.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                stop.interrupt();
            }
        });
        let taken = match self.brand {
            Brand::Firefox => firefox::read_cookies(&db),
            _ => chromium::read_cookies(&db, password),
        };
        drop(ended);
        let _ = timer.join();
        taken.map_err(|err| self.corrupt_error(&err))
    }

    fn corrupt_error(&self, err: &rusqlite::Error) -> Error {
        // It may quote what stands there.
        let why = match err {
            rusqlite::Error::SqliteFailure(it, _) => format!("{:?}", it.code),
            _ => "it has not the tables that are known".to_owned(),
        };
        Error::new(
            Code::ArtifactCorrupt,
            format!(
                "the cookie file of {} profile `{}` cannot be read: {why}",
                self.brand.as_str(),
                self.name
            ),
        )
        .hint("close the browser and try again; otherwise its version may be unsupported")
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.execute_batch("PRAGMA trusted_schema=OFF; PRAGMA query_only=ON; PRAGMA mmap_size=0;")?;
    Ok(db)
}

/// Columns of a real table; none where there is no such table, or something else is called so.
fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let sql: Option<String> = db
        .query_row(
            "SELECT substr(sql, 1, 20000) FROM sqlite_schema WHERE type = 'table' AND name = ?1",
            [table],
            |row| row.get(0),
        )
        .or_else(|err| match err {
            rusqlite::Error::QueryReturnedNoRows => Ok(None),
            err => Err(err),
        })?;
    // Neither a module's, nor one whose columns compute.
    let plain = sql.is_some_and(|it| {
        let it = it.to_ascii_uppercase();
        it.starts_with("CREATE TABLE") && !it.contains("GENERATED") && !it.contains(" AS (")
    });
    if !plain {
        return Ok(Vec::new());
    }
    let mut query = db.prepare("SELECT name FROM pragma_table_info(?1) LIMIT 200")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

fn text(row: &Row<'_>, at: usize) -> Option<String> {
    match row.get_ref(at).ok()? {
        ValueRef::Text(it) if it.len() <= LONGEST => String::from_utf8(it.to_vec()).ok(),
        _ => None,
    }
}

fn bytes(row: &Row<'_>, at: usize) -> Option<Zeroizing<Vec<u8>>> {
    match row.get_ref(at).ok()? {
        ValueRef::Blob(it) | ValueRef::Text(it) if it.len() <= LONGEST => Some(it.to_vec().into()),
        ValueRef::Null => Some(Vec::new().into()),
        _ => None,
    }
}

fn number(row: &Row<'_>, at: usize) -> Option<i64> {
    match row.get_ref(at).ok()? {
        ValueRef::Integer(it) => Some(it),
        _ => None,
    }
}

/// One that a browser would keep: names and hosts are what they are in a request.
fn is_plausible(it: &Cookie) -> bool {
    let host = it.domain.strip_prefix('.').unwrap_or(&it.domain);
    let in_host = |it: u8| it.is_ascii_alphanumeric() || b".-_:[]".contains(&it);
    let plain = |text: &str| !text.chars().any(|it| it.is_control() || it == ';');
    !host.is_empty()
        && host.len() <= 255
        && host.bytes().all(in_host)
        && plain(&it.name)
        && plain(&it.value)
        && it.path.starts_with('/')
        && plain(&it.path)
}

#[cfg(test)]
mod tests;
