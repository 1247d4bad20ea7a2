//! `Cookies` of Chromium and its kin: values encrypted by AES-128-CBC, with a key that is fixed where the browser keeps no secrets
//! of its own (`v10`), else with one that is made of a password in the system's keyring (`v11`). From version 24 of the file on, what is encrypted begins
//! with a digest of the cookie's host, so that a value is not moved to another.

use std::num::NonZeroU32;

use aes::cipher::{BlockModeDecrypt as _, KeyIvInit as _, block_padding::Pkcs7};
use ring::pbkdf2;
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::{CookieFileContents, MOST, bytes, columns, is_plausible, number, text};
use crate::Cookie;

type Key = Zeroizing<[u8; 16]>;

/// What the browser takes where the system keeps no secrets for it.
const FIXED: &[u8] = b"peanuts";
const SALT: &[u8] = b"saltysalt";
const BLANKS: [u8; 16] = [b' '; 16];
/// The file's version from which on values are bound to their host.
const BOUND: i64 = 24;
/// Between 1601, from which it counts, and 1970, in seconds.
const EPOCH: i64 = 11_644_473_600;

fn derive_key(password: &[u8]) -> Key {
    let mut out = Zeroizing::new([0; 16]);
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA1, NonZeroU32::MIN, SALT, password, &mut out[..]);
    out
}

fn decrypt(key: &Key, mut text: Zeroizing<Vec<u8>>) -> Option<Zeroizing<Vec<u8>>> {
    let cipher = cbc::Decryptor::<aes::Aes128>::new(&(**key).into(), &BLANKS.into());
    let long = cipher.decrypt_padded::<Pkcs7>(&mut text).ok()?.len();
    text.truncate(long);
    Some(text)
}

/// `password`: the keyring's, where it was asked.
pub fn read_cookies(
    db: &Connection,
    password: Option<&[u8]>,
) -> rusqlite::Result<CookieFileContents> {
    let known = columns(db, "cookies")?;
    let has = |it: &str| known.iter().any(|known| known == it);
    for it in
        ["host_key", "name", "encrypted_value", "path", "expires_utc", "is_secure", "is_httponly"]
    {
        if !has(it) {
            return Err(rusqlite::Error::InvalidColumnName(it.to_owned()));
        }
    }
    let version: i64 = if columns(db, "meta")?.iter().any(|it| it == "value") {
        let said = db.query_row(
            "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'version'",
            [],
            |it| it.get(0),
        );
        said.unwrap_or(0)
    } else {
        0
    };
    let or = |it: &'static str, other: &'static str| if has(it) { it } else { other };
    let sql = format!(
        "SELECT host_key, name, encrypted_value, path, expires_utc, is_secure, is_httponly, {}, {}, {} FROM cookies LIMIT {MOST}",
        or("value", "''"),
        or("samesite", "-1"),
        or("top_frame_site_key", "''"),
    );
    let (fixed, own) = (derive_key(FIXED), password.map(derive_key));
    let mut query = db.prepare(&sql)?;
    let mut rows = query.query([])?;
    let mut out = CookieFileContents::default();
    while let Some(row) = rows.next()? {
        let sealed = bytes(row, 2);
        let locked = sealed.as_ref().is_some_and(|it| it.starts_with(b"v11"));
        let Some(key) = (if locked { own.as_ref() } else { Some(&fixed) }) else {
            out.locked += 1;
            continue;
        };
        let cookie = || {
            let host = text(row, 0)?;
            let value = decrypt_value(key, &sealed?, version, &host)
                .or_else(|| text(row, 7).filter(|it| !it.is_empty()).map(Zeroizing::new))?;
            let ends = number(row, 4)?;
            let apart = text(row, 9)?;
            let cookie = Cookie {
                name: text(row, 1)?,
                value,
                domain: host,
                path: text(row, 3)?,
                ends: (ends > 0).then_some(ends / 1_000_000 - EPOCH),
                secure: number(row, 5)? != 0,
                http_only: number(row, 6)? != 0,
                same_site: same_site(number(row, 8)),
                partition: Some(apart).filter(|it| !it.is_empty()),
                set_ms: 0,
            };
            Some(cookie).filter(is_plausible)
        };
        match cookie() {
            Some(it) => out.cookies.push(it),
            None => out.strange += 1,
        }
    }
    Ok(out)
}

/// `None` where it is not encrypted, or with another key.
fn decrypt_value(key: &Key, sealed: &[u8], version: i64, host: &str) -> Option<Zeroizing<String>> {
    let text = sealed.strip_prefix(b"v10").or(sealed.strip_prefix(b"v11"))?;
    let text = decrypt(key, text.to_vec().into())?;
    let text = if version >= BOUND {
        text.strip_prefix(&*Sha256::digest(host.as_bytes()))?
    } else {
        &text[..]
    };
    String::from_utf8(text.to_vec()).ok().map(Zeroizing::new)
}

fn same_site(it: Option<i64>) -> Option<String> {
    let name = match it? {
        0 => "None",
        1 => "Lax",
        2 => "Strict",
        _ => return None,
    };
    Some(name.to_owned())
}
