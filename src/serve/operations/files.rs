//! Files between pages and the home: what pages saved, and what they are given.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::OperationContext;
use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
};
use commis_browser::page_session::UploadFile;

/// Files of a page's, as they are on disk; nobody's secret is told by a name.
#[derive(Serialize, JsonSchema)]
pub(super) struct DownloadList {
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
pub(super) fn downloads(cx: &OperationContext) -> Result<DownloadList> {
    let folder = &cx.daemon.home.downloads;
    let mut files = Vec::new();
    if let Some(dir) = Dir::open(folder, false)? {
        for name in dir.names()? {
            if let Some((bytes, ..)) = dir.stat(&name)? {
                files.push(SavedFile { name, bytes });
            }
        }
    }
    let lines: Vec<String> = files.iter().map(|it| format!("{} {}", it.bytes, it.name)).collect();
    Ok(DownloadList { folder: folder.display().to_string(), files, text: lines.join("\n") })
}

/// Reads files for a page. Fails with `FORBIDDEN` for one that the settings do not name, also by a link.
pub(super) fn read_uploads(allowed: &[PathBuf], files: &[PathBuf]) -> Result<Vec<UploadFile>> {
    const MOST: usize = 100 << 20;
    let allowed: Vec<PathBuf> = allowed.iter().filter_map(|it| it.canonicalize().ok()).collect();
    let mut out = Vec::new();
    for file in files {
        let shown = file.display().to_string();
        let missing = || {
            Error::new(Code::Forbidden, format!("{shown} is outside the folders of browse.uploads"))
                .hint("add its folder with `commis settings set browse.uploads '[\"/a/folder\"]'`, and give the whole path")
        };
        // Whether there is such a file is nobody's business elsewhere.
        let whole = file.canonicalize().map_err(|_| missing())?;
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(missing());
        };
        let named = allowed.iter().any(|it| folder.starts_with(it));
        if !file.is_absolute() || !named || !whole.is_file() {
            return Err(missing());
        }
        let name = name.to_str().ok_or_else(missing)?.to_owned();
        let dir = Dir::open(folder, false)?.ok_or_else(missing)?;
        let bytes = dir.read(&name, MOST)?.ok_or_else(missing)?;
        out.push(UploadFile { name, bytes });
    }
    if out.is_empty() || out.len() > 20 {
        return Err(Error::new(Code::ParamInvalid, "give 1 to 20 files"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_named_folders_are_given_whatever_leads_to_them() {
        let home = tempfile::tempdir().unwrap();
        let at = |it: &str| home.path().join(it);
        for it in ["open/inner", "closed"] {
            commis_base::files::ensure_private_dir(&at(it)).unwrap();
        }
        for it in ["open/a.txt", "open/inner/b.txt", "closed/c.txt"] {
            let path = at(it);
            let name = path.file_name().unwrap().to_str().unwrap();
            commis_base::files::write_atomic(path.parent().unwrap(), name, it.as_bytes()).unwrap();
        }
        std::os::unix::fs::symlink(at("closed/c.txt"), at("open/link.txt")).unwrap();
        std::os::unix::fs::symlink(at("closed"), at("open/folder")).unwrap();
        let allowed = [at("open"), at("nowhere")];
        let given = |it: PathBuf| read_uploads(&allowed, &[it]).map(|it| it[0].bytes.clone());
        assert_eq!(given(at("open/a.txt")).unwrap(), b"open/a.txt");
        assert_eq!(given(at("open/inner/../inner/b.txt")).unwrap(), b"open/inner/b.txt");
        for it in [
            at("closed/c.txt"),
            at("open/../closed/c.txt"),
            at("open/link.txt"),
            at("open/folder/c.txt"),
            at("open/none.txt"),
            at("open/inner"),
            "open/a.txt".into(),
        ] {
            let err = given(it.clone()).unwrap_err();
            assert_eq!(err.code(), Code::Forbidden, "{}", it.display());
        }
        assert!(super::read_uploads(&[], &[at("open/a.txt")]).is_err());
    }
}
