//! A session as one file, `.tar.zst`: what is written has been redacted already, and what is read is held against its own hashes.

use std::{collections::BTreeMap, io::Read as _, path::Path};

use super::{
    Manifest, SessionAction, SessionState, SessionStore,
    file_layout::{self, MANIFEST, MAX_TRAJECTORY, TRAJECTORY, hash},
    is_id, pictures,
};
use commis_base::{
    error::{Code, Error, Result},
    files,
};

const LEVEL: i32 = 9;
/// Of an archive, unpacked.
const MOST: u64 = 3 * MAX_TRAJECTORY as u64;
/// 8 MiB, the window of the levels that people use.
const WINDOW_LOG: u32 = 23;

fn bad(why: impl Into<String>) -> Error {
    Error::new(
        Code::ArtifactCorrupt,
        format!("this is not an archive of a session: {}", why.into()),
    )
    .hint("`session export` writes one")
}

fn io(err: std::io::Error) -> Error {
    Error::new(Code::ArtifactIo, "a session's archive cannot be written").source(err)
}

impl SessionStore {
    /// All of a session that has ended, without its owner. Fails with `TASK_NOT_FOUND`, `ARTIFACT_CORRUPT`, `PARAM_INVALID`, and with
    /// `SECRET_IN_TASK` where the rules find something in it.
    pub fn export(&self, id: &str) -> Result<Vec<u8>> {
        let (mut manifest, _) = self.load(id)?;
        if manifest.state != SessionState::Complete {
            return Err(Error::new(Code::ParamInvalid, "the session has not ended")
                .hint("`session end` ends it"));
        }
        self.may_leave(id)?;
        (manifest.owner, manifest.context) = (String::new(), String::new());
        let dir = self.at(id)?;
        let yaml = serde_saphyr::to_string(&manifest).map_err(|err| {
            Error::new(Code::Internal, "a manifest cannot be written").source(err)
        })?;
        let mut all = vec![(MANIFEST, yaml.into_bytes())];
        for (name, expected) in &manifest.files {
            let bytes = file_layout::read(&dir, name)?.unwrap_or_default();
            if hash(&bytes) != *expected {
                return Err(super::corrupt(id));
            }
            all.push((name, bytes));
        }
        let mut tar = tar::Builder::new(Vec::new());
        for (name, bytes) in all {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o600);
            header.set_mtime(0);
            tar.append_data(&mut header, format!("{id}/{name}"), &*bytes).map_err(io)?;
        }
        zstd::encode_all(&*tar.into_inner().map_err(io)?, LEVEL).map_err(io)
    }

    /// Takes in what `export` wrote, under an id of its own. Fails with `ARTIFACT_CORRUPT` where a path, a size or a hash is not as it
    /// should be.
    pub fn import(&self, bytes: &[u8]) -> Result<Manifest> {
        let (id, all) = unpacked(bytes)?;
        let yaml = all.get(MANIFEST).ok_or_else(|| bad("it has no manifest"))?;
        let mut manifest: Manifest = std::str::from_utf8(yaml)
            .ok()
            .and_then(|it| serde_saphyr::from_str(it).ok())
            .ok_or_else(|| bad("its manifest cannot be read"))?;
        let others: Vec<&String> = all.keys().filter(|it| *it != MANIFEST).collect();
        if manifest.id != id
            || manifest.state != SessionState::Complete
            || !manifest.files.keys().eq(others)
            || !manifest.files.contains_key(TRAJECTORY)
        {
            return Err(bad("its manifest is another's"));
        }
        for (name, expected) in &manifest.files {
            if hash(&all[name]) != *expected {
                return Err(bad(format!("{name} was changed")));
            }
        }
        let text = std::str::from_utf8(&all[TRAJECTORY]).map_err(|_| bad("it is no text"))?;
        let lines: std::result::Result<Vec<SessionAction>, _> =
            text.lines().map(serde_json::from_str).collect();
        // A list would be read as the fields of an action, in their order.
        let are_objects = text.lines().all(|it| it.starts_with('{'));
        if !are_objects
            || !lines.is_ok_and(|it| it.len() == manifest.actions as usize)
            || text.is_empty()
        {
            return Err(bad("its actions cannot be read"));
        }
        // Lists have a line for each session.
        let told =
            [&mut manifest.name, &mut manifest.task, &mut manifest.url, &mut manifest.browser];
        for it in told {
            *it = it.chars().map(|it| if breaks_a_line(it) { ' ' } else { it }).collect();
        }
        let is_none = |it: &super::ParentSession| !is_id(&it.session);
        if manifest.redactions.keys().any(|it| it.chars().any(breaks_a_line))
            || manifest.parent.as_ref().is_some_and(is_none)
        {
            return Err(bad("its manifest is another's"));
        }
        let is_no_picture = |it: &(&String, &Vec<u8>)| {
            it.0.starts_with(file_layout::SCREENSHOTS) && !pictures::is_picture(it.1)
        };
        if all.iter().any(|it| is_no_picture(&it)) {
            return Err(bad("a picture in it is none"));
        }
        (manifest.owner, manifest.context) = (String::new(), String::new());
        // Its own number may be another's here.
        let name = id.rsplit_once('-').map_or(&*id, |it| it.0);
        let (id, dir) = self.create_dir(name)?;
        manifest.id = id;
        for name in manifest.files.keys() {
            file_layout::write(&dir, name, &all[name])?;
        }
        // Last: what has none is no session.
        super::write(&dir, &manifest)?;
        Ok(manifest)
    }
}

/// Control characters, and the line and paragraph separators.
fn breaks_a_line(it: char) -> bool {
    it.is_control() || matches!(it, '\u{2028}' | '\u{2029}')
}

/// The files of an archive by name, and the id that is their folder.
fn unpacked(bytes: &[u8]) -> Result<(String, BTreeMap<String, Vec<u8>>)> {
    let cannot = |_| bad("it cannot be unpacked");
    let mut decoder = zstd::Decoder::new(bytes).map_err(cannot)?;
    decoder.window_log_max(WINDOW_LOG).map_err(cannot)?;
    let mut tar = tar::Archive::new(decoder.take(MOST));
    let (mut id, mut out) = (None, BTreeMap::new());
    for entry in tar.entries().map_err(cannot)? {
        let mut entry = entry.map_err(cannot)?;
        let path = entry.path_bytes().into_owned();
        let told = String::from_utf8_lossy(&path).into_owned();
        let (folder, name) = told.split_once('/').unwrap_or_default();
        let most = file_layout::most(name).unwrap_or_default();
        let is_file = entry.header().entry_type() == tar::EntryType::Regular;
        if most == 0 || !is_file || !is_id(folder) || entry.size() > most as u64 {
            return Err(bad("it holds what no session has"));
        }
        if id.get_or_insert_with(|| folder.to_owned()) != folder || out.contains_key(name) {
            return Err(bad("it holds more than one"));
        }
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(cannot)?;
        out.insert(name.to_owned(), content);
    }
    id.map(|id| (id, out)).ok_or_else(|| bad("it is empty"))
}

/// Reads an archive that somebody names. Fails with `ARTIFACT_IO`, and beyond 64 MiB.
pub fn read_archive_file(path: &Path) -> Result<Vec<u8>> {
    files::read_bounded(path, MAX_TRAJECTORY as u64)
}

#[cfg(test)]
mod tests {
    use super::{super::file_layout::FINDINGS, *};

    fn ended(all: &SessionStore) -> String {
        let mut it = all.record("one", "Look", "http://a.test/", "somebody").unwrap();
        it.add(SessionAction { command: "goto".into(), ..SessionAction::default() }).unwrap();
        it.snapshot("@e1 link \"Home\"").unwrap();
        it.end().unwrap().id
    }

    fn packed(entries: &[(&str, &[u8], tar::EntryType)]) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for (path, bytes, kind) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_entry_type(*kind);
            // As a hostile writer does it: `append_data` would refuse such paths.
            header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            tar.append(&header, *bytes).unwrap();
        }
        zstd::encode_all(&*tar.into_inner().unwrap(), 1).unwrap()
    }

    #[test]
    fn a_session_goes_from_one_home_to_another() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (one, two) = (SessionStore::new(one.path()), SessionStore::new(two.path()));
        let id = ended(&one);
        let archive = one.export(&id).unwrap();
        let manifest = two.import(&archive).unwrap();
        assert_eq!((&*manifest.id, &*manifest.owner), (&*id, ""));
        assert_eq!(two.load(&id).unwrap().1.len(), 1);
        assert!(two.snapshot(&id, 1).unwrap().is_some());
        let again = two.import(&archive).unwrap().id;
        assert!(again != id && two.load(&again).unwrap().1.len() == 1);
        assert_eq!(two.export(&id).unwrap(), archive);
        let recording = one.record("two", "", "http://a.test/", "").unwrap();
        let err = one.export(&recording.manifest().id).unwrap_err();
        assert_eq!(err.code(), Code::ParamInvalid);
    }

    #[test]
    fn an_archive_of_a_stranger_writes_nothing_elsewhere() {
        let home = tempfile::tempdir().unwrap();
        let (from, all) =
            (SessionStore::new(&home.path().join("a")), SessionStore::new(&home.path().join("b")));
        let id = ended(&from);
        let (_, good) = unpacked(&from.export(&id).unwrap()).unwrap();
        let file = tar::EntryType::Regular;
        let own = |name: &str| format!("{id}/{name}");
        let snapshot = own("snapshots/00001.txt");
        let (manifest, lines, findings) = (own(MANIFEST), own(TRAJECTORY), own(FINDINGS));
        let whole = || {
            vec![
                (&*manifest, &*good[MANIFEST], file),
                (&*lines, &*good[TRAJECTORY], file),
                (&*findings, &*good[FINDINGS], file),
                (&*snapshot, &*good["snapshots/00001.txt"], file),
            ]
        };
        assert!(all.import(&packed(&whole())).is_ok());
        std::fs::remove_dir_all(home.path().join("b")).unwrap();
        let with = |more: (&'static str, &'static [u8], tar::EntryType)| {
            let mut out = whole();
            out.push(more);
            packed(&out)
        };
        let mut swapped = whole();
        swapped[1].1 = b"{}\n";
        for (what, bytes) in [
            ("a path", with(("../../x/manifest.yaml", b"x", file))),
            ("an absolute path", with(("/etc/passwd", b"x", file))),
            ("another file", with(("one-1/held", b"x", file))),
            ("a snapshot elsewhere", with(("one-1/snapshots/../x.txt", b"x", file))),
            ("a link", with(("one-1/findings.md", b"", tar::EntryType::Symlink))),
            ("a folder", with(("one-1/", b"", tar::EntryType::Directory))),
            ("another session", with(("one-2/findings.md", b"x", file))),
            ("the same twice", packed(&[whole(), whole()].concat())),
            ("changed actions", packed(&swapped)),
            ("no actions", packed(&whole()[..1])),
            ("no manifest", packed(&whole()[1..])),
            ("nothing", packed(&[])),
            ("no archive", b"hello".to_vec()),
            ("half of one", packed(&whole())[..200].to_vec()),
            ("a bomb", zstd::encode_all(std::io::repeat(0).take(1 << 28), 1).unwrap()),
        ] {
            assert_eq!(all.import(&bytes).unwrap_err().code(), Code::ArtifactCorrupt, "{what}");
        }
        assert!(!home.path().join("b").exists() || all.list(None, "").unwrap().is_empty());
        assert!(!home.path().join("x").exists());
    }

    /// A stranger's archive with such a manifest and actions, its hashes as they should be.
    fn made(manifest: &Manifest, lines: &[u8]) -> Vec<u8> {
        let mut manifest = manifest.clone();
        manifest.files = [(TRAJECTORY.to_owned(), super::super::file_layout::hash(lines))].into();
        let yaml = serde_saphyr::to_string(&manifest).unwrap();
        let at = |name: &str| format!("{}/{name}", manifest.id);
        let file = tar::EntryType::Regular;
        packed(&[(&at(MANIFEST), yaml.as_bytes(), file), (&at(TRAJECTORY), lines, file)])
    }

    #[test]
    fn thirty_archives_of_strangers_forge_nothing() {
        let home = tempfile::tempdir().unwrap();
        let all = SessionStore::new(home.path());
        let good = Manifest {
            id: "one-1".to_owned(),
            name: "one".to_owned(),
            state: SessionState::Complete,
            actions: 1,
            ..all.manifest(&ended(&all)).unwrap()
        };
        let line: &[u8] = b"{\"command\":\"goto\"}\n";
        assert!(all.import(&made(&good, line)).is_ok());
        let before = all.list(None, "").unwrap().len();
        // Actions that are none, or not as many as the manifest says.
        let actions: [&[u8]; 15] = [
            b"",
            b"\n",
            b"{",
            b"nothing\n",
            b"[]\n",
            b"null\n",
            b"1\n",
            b"\"goto\"\n",
            b"{\"command\":1}\n",
            b"{\"n\":-1}\n",
            b"{\"command\":\"goto\"}\n{\n",
            b"{\"command\":\"goto\"}\n{\"command\":\"goto\"}\n",
            b"{\"command\":\"goto\"} {\"command\":\"goto\"}\n",
            b"\xff\xfe\n",
            b"{\"steps\":{}}\n",
        ];
        for it in actions {
            let err = all.import(&made(&good, it)).map(|_| ()).unwrap_err();
            assert_eq!(err.code(), Code::ArtifactCorrupt, "{}", String::from_utf8_lossy(it));
        }
        for parent in ["../../x", "/etc", "", "a/b", "one-1\nx"] {
            let parent =
                Some(super::super::ParentSession { session: parent.to_owned(), actions: 1 });
            let err = all.import(&made(&Manifest { parent, ..good.clone() }, line)).map(|_| ());
            assert_eq!(err.unwrap_err().code(), Code::ArtifactCorrupt);
        }
        assert_eq!(all.list(None, "").unwrap().len(), before);
        // A line of a list is one session's, whatever it says of itself.
        for forged in
            ["x\nother-9  http://bank.test/", "x\r\ny", "x\u{2028}y", "x\u{85}y", "x\u{b}y"]
        {
            for i in 0..2 {
                let mut it = good.clone();
                *[&mut it.task, &mut it.url][i] = forged.to_owned();
                let it = all.import(&made(&it, line)).unwrap();
                let told = [&it.name, &it.task, &it.url];
                assert!(told.iter().all(|it| !it.chars().any(breaks_a_line)), "{told:?}");
            }
        }
    }
}
