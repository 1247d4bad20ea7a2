//! `commis` does itself what is asked often, and begins `commis-core` for everything else: nobody can tell which did it.

use std::{
    os::unix::process::CommandExt as _,
    process::{Command, Output},
};

use crate::{
    daemon::{Daemon, UNLIMITED},
    polite::get,
    support::{Home, Web, has_chromium},
};

/// The exit code, stdout and stderr, with a stand-in for each number.
fn normalize_output(out: &Output) -> (Option<i32>, String, String) {
    let text = |it: &[u8]| {
        let text = String::from_utf8_lossy(it);
        // How long a run took differs.
        let words = text.split(' ').map(|it| if it.parse::<f64>().is_ok() { "N" } else { it });
        words.collect::<Vec<_>>().join(" ")
    };
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

/// The same command line given to both programs, which end with that code.
#[track_caller]
fn same(home: &Home, args: &[&str], code: i32) {
    let small = home.command(args);
    #[expect(clippy::disallowed_methods, reason = "the tests run the program")]
    let mut whole = Command::new(env!("CARGO_BIN_EXE_commis-core"));
    for (name, value) in small.get_envs() {
        match value {
            Some(it) => whole.env(name, it),
            None => whole.env_remove(name),
        };
    }
    whole.args(args).arg0(small.get_program());
    let mut small = small;
    let (small, whole) = (small.output().unwrap(), whole.output().unwrap());
    assert_eq!(normalize_output(&small), normalize_output(&whole), "{args:?}");
    assert_eq!(small.status.code(), Some(code), "{args:?}: {:?}", normalize_output(&small));
}

#[test]
fn both_programs_say_the_same() {
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe("it", &get("http://shop.test/", "response: { type: text }"));
    let pinned = ["--test-host", &web.test_host];
    for (args, code) in [
        (&["--version"][..], 0),
        (&["-V"], 0),
        (&["--help"], 0),
        (&["run", "--help"], 0),
        (&["rum"], 2),
        (&["browse"], 2),
        (&["browse", "golfing"], 2),
        (&["browse", "fill", "@e1"], 2),
        (&["run"], 2),
        (&["run", "none"], 2),
        (&["run", "none", "--json"], 2),
        (&["recipe", "run", "none"], 2),
        (&["--color", "always", "run", "none"], 2),
        (&["run", "it"], 2),
        (&["run", "it", "--draft"], 0),
        (&["run", "it", "--draft", "--format", "csv"], 0),
        (&["run", "it", "--draft", "-p", "wrong=lantern"], 2),
        (&["run", "it", "--draft", "--as", "nobody"], 2),
        (&["list"], 0),
        (&["daemon", "status"], 1),
    ] {
        let args: Vec<&str> = pinned.iter().copied().chain(args.iter().copied()).collect();
        same(&home, &args, code);
    }
}

#[test]
fn both_programs_say_the_same_of_a_daemon() {
    if !has_chromium() {
        return;
    }
    let daemon = Daemon::start(UNLIMITED, &[]);
    for (args, code) in [
        (&["browse", "url"][..], 0),
        (&["browse", "--json", "url"], 0),
        (&["browse", "is", "css=body", "checked"], 1),
        (&["browse", "--json", "click", "@e999"], 2),
        (&["browse", "click", "@e999"], 2),
        (&["browse", "steps"], 0),
        (&["browse", "--as", "nobody", "url"], 2),
        (&["browse", "--context", "other", "close"], 0),
    ] {
        same(&daemon.home, args, code);
    }
}

#[test]
fn without_its_other_half_it_says_what_is_missing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let alone = folder.path().join("commis");
    // A link, not a copy: a file that another test's child inherited open for writing can't be executed.
    std::fs::hard_link(env!("CARGO_BIN_EXE_commis"), &alone).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the tests run the program")]
    let out = Command::new(alone).arg("list").output().unwrap();
    let (code, _, err) = normalize_output(&out);
    assert_eq!(code, Some(3));
    assert!(err.contains("commis-core is missing") && err.contains("hint: install"), "{err}");
}
