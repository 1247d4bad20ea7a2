//! A HAR file read from disk. A large one is never held: its entries are read one after the other, and bodies beyond what fits
//! are let go after the first pass and read again for the second.

use std::{
    cell::Cell,
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{self, BufRead as _, BufReader, Read},
    os::unix::fs::FileExt as _,
    path::Path,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rayon::prelude::*;
use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};
use sha2::{Digest as _, Sha256};

use super::{
    ImportedHar, MAX_BODIES, MAX_ENTRIES, MAX_FILE, entry::HarEntry, finish, import, invalid,
    no_har,
};
use crate as redact;
use crate::{RedactRules, raw::RawBody};
use commis_base::{
    error::{Code, Error, Result},
    files,
    ids::hex,
    settings::RedactSettings,
    work,
};

/// What is held at once.
#[derive(Clone, Copy)]
struct MemoryLimits {
    /// Smaller files are read whole.
    file: u64,
    /// Bodies between the passes, all together.
    bodies: usize,
}

const ROOM: MemoryLimits = MemoryLimits { file: 16 << 20, bodies: 4 << 20 };
/// Entries of about so many bytes are taken apart side by side.
const ROW: usize = 1 << 20;

/// Reads a HAR file whose SHA-256 is known. Whoever uses the recording asks [`ImportedHar::unchanged`] afterwards. Fails with
/// [`Code::Usage`] when the file cannot be read, with [`Code::HarInvalid`] when it is another one by now, and as [`import`].
pub fn open(
    path: &Path,
    sha256: &str,
    task: &str,
    typed: BTreeMap<String, String>,
    settings: &RedactSettings,
) -> Result<ImportedHar> {
    open_within(ROOM, path, sha256, task, typed, settings)
}

fn open_within(
    room: MemoryLimits,
    path: &Path,
    sha256: &str,
    task: &str,
    typed: BTreeMap<String, String>,
    settings: &RedactSettings,
) -> Result<ImportedHar> {
    let trouble = |verb: &str, err: io::Error| {
        Error::new(Code::Usage, format!("cannot {verb} {}", path.display())).source(err)
    };
    let file = files::open(path)?;
    let len = file.metadata().map_err(|err| trouble("read", err))?.len();
    if len > MAX_FILE as u64 {
        return Err(
            invalid("the HAR file is larger than 256 MiB").hint("export the HAR of fewer pages")
        );
    }
    if len <= room.file {
        let mut bytes = Vec::with_capacity(len as usize);
        (&file).take(room.file + 1).read_to_end(&mut bytes).map_err(|err| trouble("read", err))?;
        let budget = work::share();
        let import = || budget.run(|| import(&bytes, task, typed));
        let (hash, read) = rayon::join(|| hex(&Sha256::digest(&bytes)), import);
        return if hash == sha256 { read } else { Err(changed(path)) };
    }
    let rules = redact::rules(settings, task, &typed);
    let held = SourceFile { file, changed: AtomicBool::new(false) };
    let (read, hash) = entries(Arc::new(held), room.bodies, &rules)?;
    if hash != sha256 {
        return Err(changed(path));
    }
    let mut out = finish(read.entries, read.total, read.pages, read.creator, task, typed)?;
    out.unchanged = Some(read.held);
    Ok(out)
}

/// Fails with [`Code::HarInvalid`]: what was read is no longer what was asked for.
pub fn changed(path: &Path) -> Error {
    Error::new(Code::HarInvalid, format!("{} changed while commis read it", path.display()))
        .hint("give the file again to `commis recipe learn --har`")
}

/// The open file.
pub struct SourceFile {
    file: File,
    changed: AtomicBool,
}

impl SourceFile {
    pub fn is_unchanged(&self) -> bool {
        !self.changed.load(Ordering::SeqCst)
    }

    /// The body of the entry that stood at `at` and had this digest.
    fn body(&self, at: u64, len: usize, digest: [u8; 32]) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        let same = self.file.read_exact_at(&mut bytes, at).is_ok()
            && <[u8; 32]>::from(Sha256::digest(&bytes)) == digest;
        let entry = Some(bytes)
            .filter(|_| same)
            .and_then(|it| serde_json::from_slice::<Value>(&it).ok())
            .and_then(|it| HarEntry::read(&it));
        if let Some(RawBody::Captured(body)) = entry.map(|it| it.raw.body) {
            return Some(body);
        }
        self.changed.store(true, Ordering::SeqCst);
        None
    }
}

/// What one pass over the file found, and the file's SHA-256.
fn entries(
    held: Arc<SourceFile>,
    room: usize,
    rules: &RedactRules,
) -> Result<(EntryReader<'_>, String)> {
    let io = |err: io::Error| Error::new(Code::Usage, "the HAR file cannot be read").source(err);
    let file = held.file.try_clone().map_err(io)?;
    let count = Rc::new(Cell::new(0));
    let hashed = HashingReader { file, hash: Sha256::new() };
    let mut from =
        CountingReader { from: BufReader::with_capacity(1 << 16, hashed), count: count.clone() };
    if from.from.fill_buf().map_err(io)?.starts_with(b"\xef\xbb\xbf") {
        from.read_exact(&mut [0; 3]).map_err(io)?;
    }
    let mut reading = EntryReader {
        held,
        rules,
        count,
        row: Vec::new(),
        row_bytes: 0,
        entries: Vec::new(),
        total: 0,
        left: MAX_BODIES,
        room,
        creator: None,
        pages: None,
    };
    let mut json = serde_json::Deserializer::from_reader(&mut from);
    Document(&mut reading).deserialize(&mut json).and_then(|()| json.end()).map_err(no_har)?;
    if reading.total > MAX_ENTRIES {
        return Err(invalid("the HAR file has more than 20,000 entries")
            .hint("export the HAR of fewer pages"));
    }
    reading.take_apart();
    let hash = hex(&from.from.into_inner().hash.finalize());
    Ok((reading, hash))
}

/// An entry as it is written, and where it ends.
type RawEntry = (Box<RawValue>, u64);

struct EntryReader<'a> {
    held: Arc<SourceFile>,
    rules: &'a RedactRules,
    /// Bytes that were read so far.
    count: Rc<Cell<u64>>,
    /// Entries that were read and not yet taken apart.
    row: Vec<RawEntry>,
    row_bytes: usize,
    entries: Vec<HarEntry>,
    total: usize,
    left: usize,
    /// For bodies that are held.
    room: usize,
    creator: Option<Value>,
    pages: Option<Value>,
}

impl EntryReader<'_> {
    fn entry(&mut self, raw: Box<RawValue>) {
        self.total += 1;
        self.row_bytes += raw.get().len();
        self.row.push((raw, self.count.get()));
        if self.row_bytes >= ROW {
            self.take_apart();
        }
    }

    fn take_apart(&mut self) {
        let row = std::mem::take(&mut self.row);
        self.row_bytes = 0;
        let read: Vec<Option<HarEntry>> = row
            .par_iter()
            .map(|(raw, _)| HarEntry::read(&serde_json::from_str(raw.get()).ok()?))
            .collect();
        let mut read: Vec<(HarEntry, bool, &RawEntry)> = read
            .into_iter()
            .zip(&row)
            .filter_map(|(entry, raw)| {
                let entry = entry?.within(&mut self.left);
                let RawBody::Captured(body) = &entry.raw.body else {
                    return Some((entry, true, raw));
                };
                let fits = body.len() <= self.room;
                self.room -= if fits { body.len() } else { 0 };
                Some((entry, fits, raw))
            })
            .collect();
        let held = &self.held;
        read.par_iter_mut().filter(|it| !it.1).for_each_with(
            self.rules.clone(),
            |rules, (entry, _, (raw, end))| {
                let bytes = raw.get().as_bytes();
                let (held, len) = (held.clone(), bytes.len());
                let (at, digest) = (*end - len as u64, Sha256::digest(bytes).into());
                let again = Box::new(move || held.body(at, len, digest));
                redact::let_go(&mut entry.raw, rules, again);
            },
        );
        self.entries.extend(read.into_iter().map(|it| it.0));
    }
}

/// The reader that knows how far it was read; `serde_json` asks for one byte after the other and for none too many.
struct CountingReader {
    from: BufReader<HashingReader>,
    count: Rc<Cell<u64>>,
}

impl Read for CountingReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(out)?;
        self.count.set(self.count.get() + n as u64);
        Ok(n)
    }
}

struct HashingReader {
    file: File,
    hash: Sha256,
}

impl Read for HashingReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(out)?;
        self.hash.update(&out[..n]);
        Ok(n)
    }
}

/// `{"log": …}`; only the log is looked at.
struct Document<'a, 'b>(&'a mut EntryReader<'b>);
/// Only `entries` has to be there; the rest is read as far as it makes sense.
struct Log<'a, 'b>(&'a mut EntryReader<'b>);
struct Entries<'a, 'b>(&'a mut EntryReader<'b>);

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a log")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut found = false;
        while let Some(key) = map.next_key::<String>()? {
            match (key.as_str(), found) {
                ("log", false) => map.next_value_seed(Log(self.0))?,
                ("log", true) => return Err(A::Error::duplicate_field("log")),
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
            found |= key == "log";
        }
        if found { Ok(()) } else { Err(A::Error::missing_field("log")) }
    }
}

impl<'de> DeserializeSeed<'de> for Log<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Log<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with entries")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut found = false;
        let parse = |raw: Box<RawValue>| serde_json::from_str::<Value>(raw.get()).ok();
        while let Some(key) = map.next_key::<String>()? {
            match (key.as_str(), found) {
                ("entries", false) => map.next_value_seed(Entries(self.0))?,
                ("entries", true) => return Err(A::Error::duplicate_field("entries")),
                ("creator", _) => self.0.creator = parse(map.next_value()?),
                ("pages", _) => self.0.pages = parse(map.next_value()?),
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
            found |= key == "entries";
        }
        if found { Ok(()) } else { Err(A::Error::missing_field("entries")) }
    }
}

impl<'de> DeserializeSeed<'de> for Entries<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        while let Some(raw) = all.next_element::<Box<RawValue>>()? {
            if self.0.total > MAX_ENTRIES {
                // They are counted no further.
                continue;
            }
            self.0.entry(raw);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use serde_json::json;

    use super::*;

    /// Requests of a page: a log-in that hands out a token, answers that repeat it, an image.
    fn har() -> Vec<u8> {
        let entry = |url: &str, mime: &str, text: String| {
            json!({
                "pageref": "page_1",
                "request": {"method": "GET", "url": url, "headers": [
                    {"name": "x-csrf-token", "value": "q9zx81kd7uw3me5vb2tt"}]},
                "response": {"status": 200, "headers": [],
                    "content": {"mimeType": mime, "text": text}},
            })
        };
        let html = "<title>Lamps</title><meta name=csrf-token content=q9zx81kd7uw3me5vb2tt><p>Brass lantern 1";
        let answer = |n: usize| json!({"items": [{"name": format!("Brass lantern {n}"), "é": "q9zx81kd7uw3me5vb2tt"}]});
        let mut all = vec![
            entry("https://shop.example/", "text/html", html.to_owned()),
            json!("no request"),
            entry("https://shop.example/a.png", "image/png", "\u{0}\u{1}\u{fffd}".to_owned()),
        ];
        all.extend((0..40).map(|n| {
            let url = format!("https://shop.example/api/{n}?q=lantern");
            entry(&url, "application/json", answer(n).to_string())
        }));
        let pages = json!([{"id": "page_1", "title": "https://shop.example/start"}]);
        let log =
            json!({"version": "1.2", "entries": all, "pages": pages, "creator": {"name": "x"}});
        ("\u{feff} ".to_owned() + &json!({"a": 1, "log": log}).to_string() + "\n").into_bytes()
    }

    fn open_import(path: &Path, room: MemoryLimits, sha256: &str) -> Result<ImportedHar> {
        let typed = BTreeMap::from([("q".to_owned(), "lantern".to_owned())]);
        open_within(room, path, sha256, "Find lantern", typed, &RedactSettings::default())
    }

    #[test]
    fn what_is_read_in_parts_is_what_is_read_whole() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("session.har");
        let bytes = har();
        std::fs::File::create(&path).unwrap().write_all_at(&bytes, 0).unwrap();
        let hash = hex(&Sha256::digest(&bytes));
        let recording = |room: MemoryLimits| {
            let it = open_import(&path, room, &hash).unwrap();
            let (skipped, unchanged) = (it.skipped, it.unchanged());
            let let_go = it.recording.exchanges.iter();
            let let_go = let_go.filter(|it| matches!(it.body, RawBody::Elsewhere(_))).count();
            let out = redact::redact(it.recording, &RedactSettings::default()).recording;
            assert!(unchanged.is_unchanged());
            (let_go, skipped, serde_json::to_value(out).unwrap())
        };
        let (none, skipped, whole) = recording(ROOM);
        assert_eq!((none, skipped), (0, 1));
        for (bodies, at_least) in [(0, 42), (600, 20)] {
            let (let_go, skipped, parts) = recording(MemoryLimits { file: 0, bodies });
            assert!(let_go >= at_least && skipped == 1, "{let_go}");
            assert_eq!(parts, whole);
        }
        assert!(!whole.to_string().contains("q9zx81kd7uw3me5vb2tt"));
    }

    #[test]
    fn a_file_that_changes_is_noticed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("session.har");
        let bytes = har();
        let file = std::fs::File::create(&path).unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        let hash = hex(&Sha256::digest(&bytes));
        let room = MemoryLimits { file: 0, bodies: 0 };
        let it = open_import(&path, room, &hash).unwrap();
        let at = bytes.windows(16).rposition(|it| it == b"Brass lantern 17").unwrap();
        file.write_all_at(b"Steel", at as u64).unwrap();
        let unchanged = it.unchanged();
        drop(redact::redact(it.recording, &RedactSettings::default()));
        assert!(!unchanged.is_unchanged());
        for room in [room, ROOM] {
            let err = open_import(&path, room, &hash).map(|_| ()).unwrap_err();
            assert_eq!(err.code(), Code::HarInvalid);
        }
    }

    #[test]
    fn what_is_no_har_is_refused_in_parts_too() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("session.har");
        for text in [
            "",
            "[]",
            "{}",
            r#"{"log": {}}"#,
            r#"{"log": {"entries": {}}}"#,
            r#"{"log": {"entries": []}}"#,
            r#"{"log": {"entries": [1]}, "log": {"entries": []}}"#,
            r#"{"log": {"entries": [{"request": "#,
            r#"{"log": {"entries": [1]}} more"#,
        ] {
            let file = std::fs::File::create(&path).unwrap();
            file.write_all_at(text.as_bytes(), 0).unwrap();
            let hash = hex(&Sha256::digest(text));
            for room in [MemoryLimits { file: 0, bodies: 0 }, ROOM] {
                let err = open_import(&path, room, &hash).map(|_| ()).unwrap_err();
                assert_eq!(err.code(), Code::HarInvalid, "{text}");
            }
        }
    }
}
