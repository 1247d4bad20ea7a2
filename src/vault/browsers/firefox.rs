//! `cookies.sqlite`: values in clear. Cookies that end with the browser are not in it, and those of containers are left out: they
//! are other logins of the same sites.

use rusqlite::Connection;

use super::{CookieFileContents, MOST, columns, is_plausible, number, text};
use crate::Cookie;

/// From here on it is milliseconds, as newer versions have it.
const SECONDS: i64 = 100_000_000_000;

pub fn read_cookies(db: &Connection) -> rusqlite::Result<CookieFileContents> {
    let known = columns(db, "moz_cookies")?;
    let has = |it: &str| known.iter().any(|known| known == it);
    for it in ["name", "value", "host", "path", "expiry", "isSecure", "isHttpOnly"] {
        if !has(it) {
            return Err(rusqlite::Error::InvalidColumnName(it.to_owned()));
        }
    }
    let or = |it: &'static str, other: &'static str| if has(it) { it } else { other };
    let sql = format!(
        "SELECT name, value, host, path, expiry, isSecure, isHttpOnly, {}, {} FROM moz_cookies LIMIT {MOST}",
        or("sameSite", "NULL"),
        or("originAttributes", "''"),
    );
    let mut query = db.prepare(&sql)?;
    let mut rows = query.query([])?;
    let mut out = CookieFileContents::default();
    while let Some(row) = rows.next()? {
        let cookie = || {
            let contained = text(row, 8)?;
            let ends = number(row, 4)?;
            let cookie = Cookie {
                name: text(row, 0)?,
                value: text(row, 1)?.into(),
                domain: text(row, 2)?,
                path: text(row, 3)?,
                ends: (ends > 0).then_some(if ends > SECONDS { ends / 1000 } else { ends }),
                secure: number(row, 5)? != 0,
                http_only: number(row, 6)? != 0,
                same_site: same_site(number(row, 7)),
                partition: None,
                set_ms: 0,
            };
            Some(cookie).filter(|it| contained.is_empty() && is_plausible(it))
        };
        match cookie() {
            Some(it) => out.cookies.push(it),
            None => out.strange += 1,
        }
    }
    Ok(out)
}

/// 0 stands for `None` and, in older versions, for nothing said; which a browser takes for `Lax` unless it is secure.
fn same_site(it: Option<i64>) -> Option<String> {
    let name = match it? {
        1 => "Lax",
        2 => "Strict",
        _ => return None,
    };
    Some(name.to_owned())
}
