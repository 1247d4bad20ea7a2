//! Cookie files as browsers write them, and as nobody should.

use std::{os::unix::fs::PermissionsExt as _, path::PathBuf};

use aes::cipher::{BlockModeEncrypt as _, KeyIvInit as _, block_padding::Pkcs7};
use ring::pbkdf2;
use rusqlite::params;
use sha2::{Digest as _, Sha256};

use super::*;

/// The file of a profile below a home of its own.
fn file(home: &Path, below: &str) -> PathBuf {
    let path = home.join(below);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn one(home: &Path) -> Profile {
    let all = find_profiles(home, &home.join(".config"), None);
    assert_eq!(all.len(), 1);
    all.into_iter().next().unwrap()
}

fn in_clear(all: &[Cookie]) -> Vec<(&str, &str, &str)> {
    all.iter().map(|it| (&*it.domain, &*it.name, it.value.as_str())).collect()
}

/// As Firefox 153 makes it (version 17).
const FIREFOX: &str = "CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, originAttributes TEXT NOT NULL DEFAULT '', name TEXT,
  value TEXT, host TEXT, path TEXT, expiry INTEGER, lastAccessed INTEGER, creationTime INTEGER, isSecure INTEGER, isHttpOnly INTEGER,
  inBrowserElement INTEGER DEFAULT 0, sameSite INTEGER DEFAULT 0, schemeMap INTEGER DEFAULT 0, isPartitionedAttributeSet INTEGER DEFAULT 0,
  updateTime INTEGER, CONSTRAINT moz_uniqueid UNIQUE (name, host, path, originAttributes))";

#[test]
fn cookies_of_firefox_are_read_while_it_has_them_open() {
    let home = tempfile::tempdir().unwrap();
    let path = file(home.path(), ".mozilla/firefox/abcd.default/cookies.sqlite");
    // As Firefox holds it: what was written last is in the log beside it, and the file is locked.
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA journal_mode=WAL; PRAGMA locking_mode=EXCLUSIVE;").unwrap();
    db.execute_batch(FIREFOX).unwrap();
    let add = |name: &str, value: &str, host: &str, of: &str, expiry: i64| {
        let sql = "INSERT INTO moz_cookies (name, value, host, path, expiry, isSecure, isHttpOnly, sameSite, originAttributes)
          VALUES (?1, ?2, ?3, '/', ?4, 1, 1, 1, ?5)";
        db.execute(sql, params![name, value, host, expiry, of]).unwrap();
    };
    add("sid", "canary-1", ".shop.test", "", 4_000_000_000);
    add("newer", "canary-2", "city.test", "", 4_000_000_000_000);
    add("work", "canary-3", "city.test", "^userContextId=1", 4_000_000_000);
    add("bad\r\nname", "canary-4", "city.test", "", 4_000_000_000);
    db.execute("INSERT INTO moz_cookies (name, value, host, path, expiry) VALUES ('n', x'ff', 'a.test', '/', 'soon')", []).unwrap();
    let taken = one(home.path()).read_cookies().unwrap();
    assert_eq!(
        in_clear(&taken.cookies),
        [(".shop.test", "sid", "canary-1"), ("city.test", "newer", "canary-2")]
    );
    assert_eq!((taken.strange, taken.locked), (3, 0));
    assert!(taken.cookies.iter().all(|it| it.ends == Some(4_000_000_000)));
    assert_eq!(taken.cookies[0].same_site.as_deref(), Some("Lax"));
    let copy = copy::CookieFileCopy::new(&path).unwrap();
    let at = copy.path();
    let mode = std::fs::metadata(at.parent().unwrap()).unwrap().permissions().mode() & 0o777;
    assert_eq!((at.exists(), mode), (true, 0o700));
    drop(copy);
    assert!(!at.parent().unwrap().exists());
}

fn sealed(prefix: &str, host: Option<&str>, value: &str) -> Vec<u8> {
    let password: &[u8] = if prefix == "v11" { b"of the keyring" } else { b"peanuts" };
    let mut key = [0; 16];
    pbkdf2::derive(
        pbkdf2::PBKDF2_HMAC_SHA1,
        std::num::NonZeroU32::MIN,
        b"saltysalt",
        password,
        &mut key,
    );
    let mut text = host.map_or_else(Vec::new, |it| Sha256::digest(it.as_bytes()).to_vec());
    text.extend_from_slice(value.as_bytes());
    let long = text.len();
    text.resize(long + 16, 0);
    let cipher = cbc::Encryptor::<aes::Aes128>::new(&key.into(), &[b' '; 16].into());
    let out = cipher.encrypt_padded::<Pkcs7>(&mut text, long).unwrap();
    [prefix.as_bytes(), out].concat()
}

#[test]
fn cookies_of_chromium_are_decrypted_by_the_version_of_their_file() {
    for (version, bound) in [(23, false), (24, true)] {
        let home = tempfile::tempdir().unwrap();
        let path = file(home.path(), ".config/chromium/Profile 1/Network/Cookies");
        let db = Connection::open(&path).unwrap();
        db.execute_batch("CREATE TABLE meta (key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR);
          CREATE TABLE cookies (host_key TEXT, top_frame_site_key TEXT, name TEXT, value TEXT, encrypted_value BLOB, path TEXT,
            expires_utc INTEGER, is_secure INTEGER, is_httponly INTEGER, samesite INTEGER)").unwrap();
        db.execute("INSERT INTO meta VALUES ('version', ?1)", [version.to_string()]).unwrap();
        let add = |host: &str, name: &str, encrypted: Vec<u8>| {
            let sql =
                "INSERT INTO cookies VALUES (?1, '', ?2, '', ?3, '/', 13440120226601791, 1, 1, 2)";
            db.execute(sql, params![host, name, encrypted]).unwrap();
        };
        let host = |it: &'static str| Some(it).filter(|_| bound);
        add(".shop.test", "sid", sealed("v10", host(".shop.test"), "canary-1"));
        add("city.test", "locked", sealed("v11", host("city.test"), "canary-2"));
        add("city.test", "cut", vec![b'v', b'1', b'0', 1, 2, 3]);
        add("city.test", "plain", b"nothing of it".to_vec());
        // Moved here from another host.
        if bound {
            add("city.test", "moved", sealed("v10", Some(".shop.test"), "canary-3"));
        }
        let profile = one(home.path());
        assert_eq!((profile.brand, &*profile.name), (Brand::Chromium, "Profile 1"));
        let taken = profile.read_cookies().unwrap();
        assert_eq!(in_clear(&taken.cookies), [(".shop.test", "sid", "canary-1")]);
        assert_eq!((taken.strange, taken.locked), (if bound { 3 } else { 2 }, 1));
        assert_eq!(taken.cookies[0].ends, Some(1_795_646_626));
        let taken = profile.read_with(Some(b"of the keyring")).unwrap();
        let both = [(".shop.test", "sid", "canary-1"), ("city.test", "locked", "canary-2")];
        assert_eq!((in_clear(&taken.cookies), taken.locked), (both.to_vec(), 0));
        let other = profile.read_with(Some(b"another")).unwrap();
        assert_eq!((other.cookies.len(), other.locked), (1, 0));
    }
}

#[test]
fn files_that_are_no_cookie_files_are_errors_that_quote_nothing() {
    let check = |make: &dyn Fn(&Path)| {
        let home = tempfile::tempdir().unwrap();
        let path = file(home.path(), ".mozilla/firefox/x/cookies.sqlite");
        make(&path);
        let err = one(home.path()).read_cookies().err().unwrap();
        assert_eq!(err.code(), Code::ArtifactCorrupt, "{err}");
        assert!(err.hint_text().is_some() && !err.to_string().contains("canary"), "{err}");
    };
    let raw = |path: &Path, bytes: &[u8]| {
        #[expect(clippy::disallowed_methods, reason = "a stranger's file")]
        std::fs::write(path, bytes).unwrap();
    };
    let sql =
        |path: &Path, text: &str| Connection::open(path).unwrap().execute_batch(text).unwrap();
    check(&|it| raw(it, b""));
    check(&|it| raw(it, b"canary canary canary"));
    check(&|it| raw(it, &[b"SQLite format 3\0".as_slice(), &[0xff; 4000]].concat()));
    check(&|it| sql(it, "CREATE TABLE other (canary)"));
    check(&|it| sql(it, "CREATE TABLE moz_cookies (canary)"));
    // What would compute for ever, or something else than cookies.
    check(&|it| {
        sql(it, "CREATE VIEW moz_cookies AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x)
          SELECT 'n' name, 'canary' value, 'a.test' host, '/' path, n expiry, 1 isSecure, 1 isHttpOnly FROM x WHERE n < 0");
    });
    check(&|it| {
        let computed =
            FIREFOX.replace("value TEXT", "value TEXT GENERATED ALWAYS AS ('canary') VIRTUAL");
        sql(it, &computed);
    });
    check(&|it| {
        sql(it, FIREFOX);
        let mut bytes = std::fs::read(it).unwrap();
        bytes.truncate(bytes.len() / 2);
        raw(it, &bytes);
    });
    let home = tempfile::tempdir().unwrap();
    assert!(find_profiles(home.path(), &home.path().join(".config"), None).is_empty());
}
