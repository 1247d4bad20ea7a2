//! `commis man`, and what its pages and the reference say of exit codes, files and the environment.

use std::{fmt::Write as _, path::PathBuf};

use super::{command, context};
use commis_base::{
    error::{Code, Error, Result},
    files,
};

/// Write the manual: a page for each command
///
/// Example: commis man ~/.local/share/man/man1
#[derive(clap::Args)]
pub struct Args {
    /// The folder for the pages; it is created for its owner alone
    folder: PathBuf,
}

/// What a process ends with.
pub const EXIT_CODES: &[(u8, &str)] = &[
    (0, "Done."),
    (1, "Done, and the answer is no: a task failed, a recipe did not pass, nothing was found."),
    (2, "The command line, a manifest, a recipe or the settings are wrong."),
    (3, "The machine, the disk, the network or the browser failed."),
    (70, "A bug in commis."),
    (130, "Interrupted by Ctrl-C, or told to end."),
];

/// What is kept: below the home, where it is without one, and what it is.
pub const FILES: &[(&str, &str, &str)] = &[
    (
        "config.toml",
        "~/.config/commis/config.toml",
        "Settings. Read, and written by `commis settings`.",
    ),
    ("vault.key", "~/.config/commis/vault.key", "The key that logins are sealed with."),
    (
        "recipes/",
        "~/.config/commis/recipes/",
        "Your recipes, NAME.yaml, and their JSON Schema for editors. `old/` has recipes that `heal` replaced, `library/` the status of library recipes on this machine.",
    ),
    (
        "trust/",
        "~/.local/state/commis/trust/",
        "Notes on recipes that were learned, proven or trusted here: a digest each, and the key that signs them. Without it all recipes are drafts.",
    ),
    (
        "playbooks/",
        "~/.config/commis/playbooks/",
        "Your playbooks, NAME.yaml. Written by you alone.",
    ),
    (
        "artifacts/",
        "~/.local/state/commis/artifacts/",
        "A folder for each task with a file for each stage; reports of batches; answers of a model; `state.db`, which counts runs and may be lost. Removed after `artifacts.retention_days`.",
    ),
    (
        "limits/",
        "~/.local/state/commis/limits/",
        "The time of the last requests to each host. You may remove it.",
    ),
    (
        "logs/",
        "~/.local/state/commis/logs/",
        "The redacted log: a JSON object a line, a file a day, seven files.",
    ),
    (
        "serve/",
        "~/.local/state/commis/serve/",
        "Files of the daemon: its address, its tasks and results, digests of tokens.",
    ),
    ("sessions/", "~/.local/state/commis/sessions/", "Recorded sessions."),
    (
        "downloads/",
        "~/.local/state/commis/downloads/",
        "Files that `commis browse download` saved.",
    ),
    ("browse/", "~/.local/state/commis/browse/", "Console, requests and dialogs of open pages."),
    ("vault/", "~/.local/state/commis/vault/", "Sealed logins; the last three states of each."),
    (
        "runs/",
        "~/.local/state/commis/runs/",
        "Runs with a model, a file each. Removed after `agent.retention_days`.",
    ),
    (
        "approvals/",
        "~/.local/state/commis/approvals/",
        "Requests that a person approves or has decided.",
    ),
    (
        "research/",
        "~/.local/state/commis/research/",
        "Research: questions, sources, report; a folder each.",
    ),
];

/// Variables that commis itself reads. A recipe's key and a model's are read by the names that recipe and settings give.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "COMMIS_HOME",
        "The folder for everything, as `--home`. Hosts of your own and channels for approvals do not count there.",
    ),
    ("COMMIS_TEST_HOSTS", "Test hosts, as `--test-host`, with commas."),
    ("COMMIS_TEST_CA", "The authority of test hosts, as `--test-ca`."),
    (
        "COMMIS_STORE_KEY, COMMIS_STORE_KEY_FILE",
        "The key of all machines that share a store: 32 characters or more, or the file (0600) that holds it.",
    ),
    ("COMMIS_CHROMIUM", "The Chromium to start; overrides `browser.path`."),
    ("COMMIS_MODEL", "The model, PROVIDER/NAME; overrides `[model]`."),
    ("HOME, XDG_CONFIG_HOME, XDG_STATE_HOME", "The folders for everything, without a home."),
    ("NO_COLOR", "No colours."),
    ("SSL_CERT_FILE", "The trusted authorities, instead of the machine's."),
    ("DISPLAY, WAYLAND_DISPLAY, XAUTHORITY, XDG_RUNTIME_DIR", "The desktop for windows."),
    (
        "PATH, LANG, NODE_EXTRA_CA_CERTS",
        "Passed on to other programs, such as Playwright's server.",
    ),
];

/// All commands without `help` as one: it says what `--help` says.
pub fn commands() -> clap::Command {
    fn without_help(it: clap::Command) -> clap::Command {
        it.disable_help_subcommand(true).mut_subcommands(without_help)
    }
    let mut root = without_help(command());
    root.build();
    root
}

pub fn run(args: &Args) -> Result<u8> {
    let mut left = vec![commands()];
    let mut pages = 0;
    while let Some(it) = left.pop() {
        left.extend(it.get_subcommands().filter(|it| !it.is_hide_set()).cloned());
        let page = clap_mangen::Man::new(it);
        let text = rendered(&page)
            .map_err(|err| Error::new(Code::Internal, "cannot write a page").source(err))?;
        files::write_atomic(&args.folder, &page.get_filename(), text.as_bytes())?;
        pages += 1;
    }
    context::say(&format!("{pages} pages in {}", args.folder.display()));
    Ok(0)
}

/// The page as it comes from the flags, then what holds for every command.
fn rendered(page: &clap_mangen::Man) -> std::io::Result<String> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    let mut text = String::from_utf8_lossy(&text).into_owned();
    let mut section = |title: &str, rows: &mut dyn Iterator<Item = (String, String)>| {
        let _ = writeln!(text, ".SH \"{title}\"");
        for (head, says) in rows {
            let _ = writeln!(text, ".TP\n\\fB{}\\fR\n{}", roff(&head), roff(&says));
        }
    };
    section("EXIT STATUS", &mut EXIT_CODES.iter().map(|it| (it.0.to_string(), it.1.to_owned())));
    section("FILES", &mut FILES.iter().map(|it| (it.1.to_owned(), it.2.to_owned())));
    section("ENVIRONMENT", &mut ENVIRONMENT.iter().map(|it| (it.0.to_owned(), it.1.to_owned())));
    Ok(text)
}

/// Text that roff takes for nothing else.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('`', "");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &clap::Command, into: &mut Vec<String>) {
        into.push(of.get_name().to_owned());
        of.get_subcommands().for_each(|it| names(it, into));
    }

    #[test]
    fn no_page_is_about_help_and_each_says_how_it_ends() {
        let root = commands();
        let mut all = Vec::new();
        names(&root, &mut all);
        assert!(all.len() > 40 && all.iter().all(|it| it != "help"), "{all:?}");
        let run = root.find_subcommand("recipe").and_then(|it| it.find_subcommand("run")).unwrap();
        let page = rendered(&clap_mangen::Man::new(run.clone())).unwrap();
        for part in [
            ".TH commis-recipe-run 1",
            ".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\nDone.",
            ".SH \"FILES\"",
            "~/.config/commis/config.toml",
            ".SH \"ENVIRONMENT\"",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let group = root.find_subcommand("recipe").unwrap().clone();
        let page = rendered(&clap_mangen::Man::new(group)).unwrap();
        assert!(!page.contains("recipe\\-help"), "{page}");
    }

    #[test]
    fn text_is_no_request_of_roff() {
        for (text, expected) in
            [(".x", "\\&.x"), ("'x", "\\&'x"), ("a\\b", "a\\eb"), ("`a-b`", "a\\-b")]
        {
            assert_eq!(roff(text), expected);
        }
    }
}
