//! Where the two programs of an installation are: `commis`, which people call, and `commis-core`, which holds everything.

use std::path::{Path, PathBuf};

const FRONT: &str = "commis";
const CORE: &str = "commis-core";

/// The whole program of the installation that this one belongs to: beside it, or in `../libexec/commis`, where the package of a
/// system puts a program that nobody calls by its name. `None` where it is missing.
pub fn core() -> Option<PathBuf> {
    core_of(&own()?)
}

/// What to call to begin this program again: the small one of the same installation, or this one where there is none.
/// Fails where the system does not say where this program is.
pub fn command() -> std::io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(front_of(&own).unwrap_or(own))
}

/// This program's file, with links followed; Linux has followed them already.
fn own() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    if cfg!(target_os = "linux") { Some(own) } else { own.canonicalize().ok() }
}

fn core_of(front: &Path) -> Option<PathBuf> {
    let folder = front.parent()?;
    let mut places =
        [folder.join(CORE), folder.parent()?.join("libexec/commis").join(CORE)].into_iter();
    places.find(|it| it.is_file())
}

fn front_of(core: &Path) -> Option<PathBuf> {
    if core.file_name()? != CORE {
        return None;
    }
    let folder = core.parent()?;
    // Where it is in `libexec/commis`, two folders up.
    let up = folder.ends_with("libexec/commis").then(|| folder.join("../../bin"));
    let mut places = [Some(folder.to_owned()), up].into_iter().flatten();
    places.find_map(|it| it.join(FRONT).canonicalize().ok().filter(|it| it.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path) -> PathBuf {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path).unwrap();
        path.canonicalize().unwrap()
    }

    #[test]
    fn each_program_finds_the_other_beside_it_and_in_a_system_s_folders() {
        let folder = tempfile::tempdir().unwrap();
        for (front, core) in [
            ("here/commis", "here/commis-core"),
            ("usr/bin/commis", "usr/libexec/commis/commis-core"),
        ] {
            let front = put(&folder.path().join(front));
            assert_eq!(core_of(&front), None);
            let core = put(&folder.path().join(core));
            assert_eq!(core_of(&front).unwrap().canonicalize().unwrap(), core);
            assert_eq!(front_of(&core), Some(front));
        }
    }

    #[test]
    fn a_program_without_a_small_one_is_called_itself() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(front_of(&put(&folder.path().join("commis-core"))), None);
        // Another program that is built of the same parts.
        put(&folder.path().join("commis"));
        assert_eq!(front_of(&put(&folder.path().join("commis-worker"))), None);
    }
}
