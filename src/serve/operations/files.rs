//! Files between pages and the home: what pages saved, and what they are given.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::Asked;
use crate::{
    browser::desk::Given,
    error::{Code, Error, Result},
    files::Dir,
};

/// Files of a page's, as they are on disk; nobody's secret is told by a name.
#[derive(Serialize, JsonSchema)]
pub(super) struct Saved {
    /// Their folder, in the home.
    folder: String,
    files: Vec<SavedFile>,
    /// For whoever reads it.
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct SavedFile {
    name: String,
    bytes: u64,
}

/// Files that pages saved. Fails with `ARTIFACT_IO`.
pub(super) fn downloads(asked: &Asked) -> Result<Saved> {
    let folder = &asked.daemon.home.downloads;
    let mut files = Vec::new();
    if let Some(dir) = Dir::open(folder, false)? {
        for name in dir.names()? {
            if let Some((bytes, ..)) = dir.stat(&name)? {
                files.push(SavedFile { name, bytes });
            }
        }
    }
    let lines: Vec<String> = files.iter().map(|it| format!("{} {}", it.bytes, it.name)).collect();
    Ok(Saved { folder: folder.display().to_string(), files, text: lines.join("\n") })
}

/// Reads files for a page. Fails with `FORBIDDEN` for one that the settings do not name, also by a link.
pub(super) fn given(asked: &Asked, files: &[PathBuf]) -> Result<Vec<Given>> {
    const MOST: usize = 100 << 20;
    let world = asked.daemon.world();
    let allowed: Vec<PathBuf> =
        world.settings.browse.uploads.iter().filter_map(|it| it.canonicalize().ok()).collect();
    let mut out = Vec::new();
    for file in files {
        let shown = file.display().to_string();
        let missing = || {
            Error::new(Code::Forbidden, format!("{shown} is in no folder that may be given to pages"))
                .hint("`commis settings set browse.uploads '[\"/a/folder\"]'` names one; give the whole path")
        };
        // Whether there is such a file is nobody's business elsewhere.
        let whole = file.canonicalize().map_err(|_| missing())?;
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(missing());
        };
        if !file.is_absolute() || !allowed.iter().any(|it| folder.starts_with(it)) {
            return Err(missing());
        }
        let name = name.to_str().ok_or_else(missing)?.to_owned();
        let dir = Dir::open(folder, false)?.ok_or_else(missing)?;
        let bytes = dir.read(&name, MOST)?.ok_or_else(missing)?;
        out.push(Given { name, bytes });
    }
    if out.is_empty() || out.len() > 20 {
        return Err(Error::new(Code::ParamInvalid, "give 1 to 20 files"));
    }
    Ok(out)
}
