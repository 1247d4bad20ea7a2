//! Names that a shell completes: recipes, logins, sessions, parameters. Whatever cannot be read is not offered.

use std::{ffi::OsStr, path::PathBuf};

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use commis_base::{ids::RecipeName, settings::Home};
use commis_browser::sessions::SessionStore;
use commis_recipe::registry::{Registry, Source};
use commis_vault::Vault;

/// The user's own recipes first, then the library's.
pub fn recipes() -> ArgValueCompleter {
    ArgValueCompleter::new(|begun: &OsStr| {
        let entries = home().and_then(|it| Registry::for_home(&it).list().ok()).unwrap_or_default();
        let (own, library): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|it| it.source == Source::User);
        let all = own.into_iter().map(|it| (it, 0)).chain(library.into_iter().map(|it| (it, 1)));
        all.filter(|(it, _)| is_begun(&it.name, begun))
            .map(|(it, order)| {
                let task = it.recipe.ok().map(|it| commis_report::plain(&it.task).into());
                CompletionCandidate::new(it.name).help(task).display_order(Some(order))
            })
            .collect()
    })
}

/// `NAME=` of each parameter of the recipe that the line names.
pub fn parameters() -> ArgValueCompleter {
    ArgValueCompleter::new(|begun: &OsStr| {
        let Some(home) = home() else { return Vec::new() };
        let registry = Registry::for_home(&home);
        let words = std::env::args().filter_map(|it| RecipeName::new(it).ok());
        let recipe = words.filter_map(|it| registry.get(&it).ok()).next_back();
        let all = recipe.map(|it| it.recipe.parameters).unwrap_or_default();
        all.into_iter()
            .map(|it| format!("{}=", it.name))
            .filter(|it| is_begun(it, begun))
            .map(CompletionCandidate::new)
            .collect()
    })
}

pub fn logins() -> ArgValueCompleter {
    ArgValueCompleter::new(|begun: &OsStr| {
        let cards = home().and_then(|it| Vault::new(&it).list().ok()).unwrap_or_default();
        let all = cards.into_iter().map(|it| (it.name.as_str().to_owned(), it.site));
        all.filter(|it| is_begun(&it.0, begun))
            .map(|it| CompletionCandidate::new(it.0).help(Some(commis_report::plain(&it.1).into())))
            .collect()
    })
}

/// Ids of kept sessions.
pub fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(|begun: &OsStr| {
        let all = home().and_then(|it| SessionStore::new(&it.sessions).list(None, "").ok());
        let all = all.unwrap_or_default();
        all.into_iter()
            .filter(|it| is_begun(&it.id, begun))
            .map(|it| {
                CompletionCandidate::new(it.id).help(Some(commis_report::plain(&it.name).into()))
            })
            .collect()
    })
}

fn is_begun(name: &str, begun: &OsStr) -> bool {
    begun.to_str().is_some_and(|it| name.starts_with(it))
}

/// The home that the line names, else the usual one.
fn home() -> Option<Home> {
    let mut words = std::env::args().skip_while(|it| it != "--home" && !it.starts_with("--home="));
    let named = words.next().and_then(|it| match it.split_once('=') {
        Some((_, folder)) => Some(folder.to_owned()),
        None => words.next(),
    });
    Home::find(named.map(PathBuf::from).as_deref()).ok()
}
