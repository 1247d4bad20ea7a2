//! Playbooks by name: the user's folder, one YAML file each, over those that come with the program.

use std::path::PathBuf;

use serde::Serialize;

use super::{
    Playbook,
    check::{invalid, parse, printable},
};
use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
    ids::RecipeName,
    settings::Home,
};

macro_rules! playbooks {
    ($($name:literal,)*) => {
        /// Sorted.
        pub const BUILT_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("library/", $name, ".yaml"))),)*];
    };
}

playbooks! {
    "cancel-membership",
    "look-up",
    "order-again",
}

const END: &str = ".yaml";
/// Bytes of a file that are read.
const MOST: usize = 1 << 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    User,
    BuiltIn,
}

/// One line of a listing: a file that is wrong is listed with its error.
#[derive(Debug)]
pub struct Entry {
    /// The file's name without `.yaml`.
    pub name: String,
    pub source: Source,
    /// `None` for one that comes with the program.
    pub path: Option<PathBuf>,
    pub playbook: Result<Playbook>,
}

/// The user's playbook of that name, or the one that comes with the program; a user's that is wrong is not passed over. Fails with
/// `PLAYBOOK_NOT_FOUND`, `PLAYBOOK_INVALID` or `ARTIFACT_IO`.
pub fn load(home: &Home, name: &str) -> Result<Playbook> {
    let found = match RecipeName::new(name) {
        Ok(name) => {
            let dir = Dir::open(&home.playbooks, false)?;
            let own = dir.map(|dir| own(&dir, &name)).transpose()?.flatten();
            own.or_else(|| built_in(name.as_str()))
        }
        Err(_) => None,
    };
    match found {
        Some(it) => it,
        None => Err(Error::new(
            Code::PlaybookNotFound,
            format!("there is no playbook `{}`", printable(name)),
        )
        .hint(format!("there are {}", names(home)?.join(", ")))),
    }
}

/// All of them by name, the user's instead of those that come with the program. Fails with `ARTIFACT_IO`.
pub fn all(home: &Home) -> Result<Vec<Entry>> {
    let dir = Dir::open(&home.playbooks, false)?;
    let mut out = Vec::new();
    for name in names(home)? {
        let own = match (&dir, RecipeName::new(&*name)) {
            (Some(dir), Ok(it)) => own(dir, &it)?,
            _ => None,
        };
        let (source, playbook) = match own {
            Some(it) => (Source::User, Some(it)),
            None => (Source::BuiltIn, built_in(&name)),
        };
        let path = (source == Source::User).then(|| home.playbooks.join(format!("{name}{END}")));
        out.extend(playbook.map(|playbook| Entry { name, source, path, playbook }));
    }
    Ok(out)
}

/// Sorted. A file that is not called like a playbook is none.
fn names(home: &Home) -> Result<Vec<String>> {
    let mut out: Vec<String> = BUILT_IN.iter().map(|it| it.0.to_owned()).collect();
    if let Some(dir) = Dir::open(&home.playbooks, false)? {
        let files = dir.names()?;
        let files = files.iter().filter_map(|it| it.strip_suffix(END));
        out.extend(files.filter(|it| RecipeName::new(*it).is_ok()).map(str::to_owned));
    }
    out.sort_unstable();
    out.dedup();
    Ok(out)
}

fn built_in(name: &str) -> Option<Result<Playbook>> {
    let at = BUILT_IN.binary_search_by(|it| it.0.cmp(name)).ok()?;
    Some(parse(BUILT_IN[at].1))
}

/// `None` where there is no such file; inside, what it holds.
fn own(dir: &Dir, name: &RecipeName) -> Result<Option<Result<Playbook>>> {
    let file = format!("{name}{END}");
    // Of the two bounds the one that `parse` has is met first: it is a fault of the file and not of the disk.
    let Some(bytes) = dir.read(&file, MOST)? else { return Ok(None) };
    let told = |err: &Error| invalid(format!("{file}: {}", err.message()));
    let read = || {
        let text = std::str::from_utf8(&bytes).map_err(|_| invalid("it is not UTF-8"))?;
        let it = parse(text)?;
        if it.name != *name {
            return Err(invalid(format!("it is called `{}` inside", it.name)));
        }
        Ok(it)
    };
    Ok(Some(read().map_err(|err| told(&err))))
}
