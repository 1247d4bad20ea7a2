//! `recipe run --out`: a list written to a file page by page, so that a run that was ended goes on where it stopped.

use std::{
    fs::File,
    io::{Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use commis_base::error::{Code, Error, Result};

/// Beside the file while it is not whole.
const STATE: &str = ".commis-part";

/// A file that takes items, a line each, and what is known of it.
pub struct ItemFile {
    file: File,
    folder: PathBuf,
    state_name: String,
    state: State,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    /// The recipe and its values, to tell calls from one another.
    call: String,
    /// Bytes of whole pages.
    bytes: u64,
    items: u64,
    /// Where the list goes on; none before its first page.
    continue_from: Option<String>,
    /// Its last page is written.
    whole: bool,
}

impl ItemFile {
    /// Opens the file for that call: a new one, or the one that an earlier run of the same call did not finish, cut back to its last
    /// whole page. Fails with `USAGE` where the file is there and is not of this call.
    pub fn open(path: &Path, call: &str) -> Result<Self> {
        let failed = |err: std::io::Error| {
            Error::new(Code::Usage, format!("{} cannot be written", path.display())).source(err)
        };
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.unwrap_or_else(|| Path::new(".")).to_owned();
        let state_name = format!("{name}{STATE}");
        let before = std::fs::read(folder.join(&state_name)).ok();
        let before = before.and_then(|it| serde_json::from_slice::<State>(&it).ok());
        let state = match before {
            Some(it) if it.call == call => it,
            Some(_) => {
                return Err(Error::new(
                    Code::Usage,
                    format!("{} holds a part of the list of another run", path.display()),
                )
                .hint(format!("finish it with the same values, or remove {state_name}")));
            }
            None if path.exists() => {
                return Err(Error::new(Code::Usage, format!("{} exists already", path.display()))
                    .hint("--out takes the name of a new file"));
            }
            None => State::new(call),
        };
        // The state comes first: a file without one is somebody else's.
        note(&folder, &state_name, &state)?;
        let mut file =
            File::options().write(true).create(true).truncate(false).open(path).map_err(failed)?;
        // What came after the last whole page is asked for again.
        file.set_len(state.bytes).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { file, folder, state_name, state })
    }

    /// Where the list goes on.
    pub fn continue_from(&self) -> Option<&str> {
        self.state.continue_from.as_deref()
    }

    /// An earlier run wrote the last page, and was ended before it could say so.
    pub const fn is_whole(&self) -> bool {
        self.state.whole
    }

    /// Items of earlier runs and of this one.
    pub const fn items(&self) -> u64 {
        self.state.items
    }

    /// Writes a page. It counts as soon as it is on the disk whole. Fails with `ARTIFACT_IO`.
    pub fn page(&mut self, items: &[Value], continue_from: Option<&str>) -> Result<()> {
        let mut text = String::new();
        for it in items {
            text.push_str(&it.to_string());
            text.push('\n');
        }
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|err| {
            Error::new(Code::ArtifactIo, "the items cannot be written").source(err)
        })?;
        self.state.bytes += text.len() as u64;
        self.state.items += items.len() as u64;
        self.state.continue_from = continue_from.map(str::to_owned);
        self.state.whole = continue_from.is_none();
        note(&self.folder, &self.state_name, &self.state)
    }

    /// The list is whole.
    pub fn finish(self) -> Result<()> {
        let removed = std::fs::remove_file(self.folder.join(&self.state_name));
        removed.map_err(|err| {
            Error::new(Code::ArtifactIo, "the file with the position in the list cannot be removed")
                .source(err)
        })
    }
}

impl State {
    fn new(call: &str) -> Self {
        Self { call: call.to_owned(), bytes: 0, items: 0, continue_from: None, whole: false }
    }
}

#[expect(clippy::disallowed_methods, reason = "a user's own folder")]
fn note(folder: &Path, name: &str, state: &State) -> Result<()> {
    let text = serde_json::to_vec(state).map_err(|err| {
        Error::new(Code::Internal, "cannot write the position in the list as JSON").source(err)
    })?;
    let new = folder.join(format!("{name}.new"));
    let write = || {
        let mut file = File::create(&new)?;
        file.write_all(&text)?;
        file.sync_data()?;
        std::fs::rename(&new, folder.join(name))
    };
    write().map_err(|err| {
        Error::new(Code::ArtifactIo, "the file with the position in the list cannot be written")
            .source(err)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_that_was_ended_goes_on_after_its_last_whole_page() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("items.ndjson");
        let mut first = ItemFile::open(&path, "a").unwrap();
        first.page(&[json!(1), json!(2)], Some("t1")).unwrap();
        // A page that was cut in the middle of being written.
        first.file.write_all(b"{\"torn\":").unwrap();
        drop(first);
        assert_eq!(ItemFile::open(&path, "b").err().unwrap().code(), Code::Usage);
        let mut later = ItemFile::open(&path, "a").unwrap();
        assert_eq!((later.continue_from(), later.items()), (Some("t1"), 2));
        later.page(&[json!(3)], None).unwrap();
        drop(later);
        let later = ItemFile::open(&path, "a").unwrap();
        assert!(later.is_whole());
        later.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n3\n");
        // A list that is whole is not written over.
        assert_eq!(ItemFile::open(&path, "a").err().unwrap().code(), Code::Usage);
    }
}
