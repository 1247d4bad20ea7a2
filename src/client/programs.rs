//! Where the two programs of an installation are: `commis`, which people call, and `commis-core`, which holds everything.

use std::path::{Path, PathBuf};

const FRONT: &str = "commis";
const CORE: &str = "commis-core";
/// Where a system's package puts a program that nobody calls by its name, seen from the folder of those that people call.
const LIBEXEC: &str = "../libexec/commis";

/// The whole program of the installation that this one belongs to: beside it, or where a system's package puts it.
pub fn core() -> Option<PathBuf> {
    let folder = folder()?;
    [folder.join(CORE), folder.join(LIBEXEC).join(CORE)].into_iter().find(|it| it.is_file())
}

/// What to call to begin this program again: the small one of the same installation, or this one where there is none.
/// Fails where the system does not say where this program is.
pub fn command() -> std::io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    if own.file_name().is_none_or(|it| it != CORE) {
        return Ok(own);
    }
    let folder = own.parent().unwrap_or(Path::new("/"));
    // From `libexec/commis` two folders up.
    let beside = [folder.join(FRONT), folder.join("../../bin").join(FRONT)];
    let found = beside.into_iter().find_map(|it| it.canonicalize().ok().filter(|it| it.is_file()));
    Ok(found.unwrap_or(own))
}

fn folder() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    // Linux has followed links already.
    let own = if cfg!(target_os = "linux") { own } else { own.canonicalize().ok()? };
    own.parent().map(Path::to_owned)
}
