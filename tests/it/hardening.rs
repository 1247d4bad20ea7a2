//! What stands in the way of a command that reads and writes: pipes, links, full disks, files that are no files of ours.

use std::{
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Output, Stdio},
    sync::mpsc,
    time::Duration,
};

use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::{Pid, Signal, kill_process},
};

use crate::support::{Home, write};

/// Runs it, and fails where it does not end: whoever opens a pipe waits for the other side for ever.
fn ends(mut command: Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_child(&child);
    let (done, out) = mpsc::channel();
    std::thread::spawn(move || done.send(child.wait_with_output()));
    let Ok(out) = out.recv_timeout(Duration::from_secs(60)) else {
        kill_process(pid, Signal::KILL).unwrap();
        panic!("{command:?} does not end");
    };
    out.unwrap()
}

fn output_text(out: &Output) -> (i32, String) {
    let text =
        format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    (out.status.code().unwrap_or(-1), text)
}

fn pipe(at: &Path) {
    mknodat(CWD, at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn a_pipe_where_a_file_belongs_is_named_and_nobody_waits_for_it() {
    let home = Home::new();
    let pipe_at = home.path().join("pipe.yaml");
    pipe(&pipe_at);
    let pipe_at = pipe_at.to_str().unwrap();
    let shop = "http://shop.test/";
    for args in [
        &["recipe", "learn-batch", "--manifest", pipe_at] as &[&str],
        &["recipe", "learn", "--har", pipe_at, "--task", "Look", "--no-network"],
        &["recipe", "learn", "--url", shop, "--steps", pipe_at, "--task", "Look"],
        &["recipe", "validate", pipe_at],
        &["redact", pipe_at],
        &["bench", "--har", pipe_at],
        // Without an end, not without a beginning.
        &["recipe", "validate", "/dev/zero"],
        &["redact", "/dev/zero"],
    ] {
        let (code, text) = output_text(&ends(home.command(args)));
        assert!(code == 2 && text.contains("not a regular file"), "{args:?}: {code} {text}");
    }
}

#[test]
fn settings_are_a_file_of_bounded_size() {
    for large in [false, true] {
        let home = Home::new();
        let config = home.path().join("config.toml");
        if large {
            write(&config, &"# much\n".repeat(100_000));
        } else {
            pipe(&config);
        }
        for args in [&["recipe", "list"] as &[&str], &["settings", "set", "learning.pace_ms", "1"]]
        {
            let (code, text) = output_text(&ends(home.command(args)));
            assert!(code == 2 && text.contains("SETTINGS_INVALID"), "{args:?}: {code} {text}");
            assert!(text.contains("hint: "), "{args:?}: {text}");
        }
    }
}

#[test]
fn the_log_is_a_file_of_ours_or_none() {
    let home = Home::new();
    let command = || home.command(&["settings", "path"]);
    assert_eq!(output_text(&ends(command())).0, 0);
    let logs = home.path().join("logs");
    let log = std::fs::read_dir(&logs).unwrap().next().unwrap().unwrap().path();
    assert!(log.extension().is_some_and(|it| it == "jsonl"), "{}", log.display());
    let precious = home.path().join("precious");
    write(&precious, "keep");
    for plant in [
        (|_, log| pipe(log)) as fn(&Path, &Path),
        |to, log| symlink(to, log).unwrap(),
        |to, log| std::fs::hard_link(to, log).unwrap(),
        |_, log| std::fs::create_dir(log).unwrap(),
    ] {
        let _ = std::fs::remove_file(&log);
        plant(&precious, &log);
        // A log that cannot be written stops nothing.
        let (code, text) = output_text(&ends(command()));
        assert_eq!(code, 0, "{text}");
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "keep");
    }
}

#[test]
fn old_logs_go() {
    let home = Home::new();
    assert_eq!(output_text(&ends(home.command(&["settings", "path"]))).0, 0);
    for day in 10..30 {
        write(&home.path().join(format!("logs/commis.2020-01-{day}.jsonl")), "{}\n");
    }
    write(&home.path().join("logs/another"), "kept");
    assert_eq!(output_text(&ends(home.command(&["settings", "path"]))).0, 0);
    let mut names: Vec<String> = std::fs::read_dir(home.path().join("logs"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 8, "{names:?}");
    assert_eq!((names[0].as_str(), names[1].as_str()), ("another", "commis.2020-01-24.jsonl"));
}

#[test]
fn a_parent_that_is_a_link_to_nowhere_is_named() {
    let home = Home::new();
    let nowhere = home.path().join("nowhere");
    symlink(home.path().join("absent/folder"), &nowhere).unwrap();
    let inside = nowhere.join("deep/home");
    let mut command = home.command(&["settings", "set", "learning.pace_ms", "1"]);
    command.args(["--home", inside.to_str().unwrap()]);
    let (code, text) = output_text(&ends(command));
    assert!(code == 3 && text.contains("ARTIFACT_IO") && text.contains("hint: "), "{code} {text}");
}

#[test]
fn a_full_stdout_is_no_success() {
    let home = Home::new();
    let har = home.path().join("a.har");
    write(&har, r#"{"log": {"entries": []}}"#);
    let har = har.to_str().unwrap();
    let recipe = home.path().join("no.yaml");
    write(&recipe, "version: 1\n");
    for (args, usual) in [
        (&["recipe", "list", "--source", "library"] as &[&str], 0),
        (&["recipe", "list", "--json"], 0),
        (&["recipe", "get", "hn-search"], 0),
        (&["recipe", "explain", "hn-search"], 0),
        (&["recipe", "dry-run", "hn-search", "-p", "query=x"], 0),
        (&["recipe", "validate", "hn-search"], 0),
        (&["recipe", "validate", recipe.to_str().unwrap(), "--json"], 1),
        (&["artifacts", "ls", "--json"], 0),
        (&["settings", "show"], 0),
        (&["settings", "show", "--json"], 0),
        (&["settings", "path"], 0),
        (&["completions", "bash"], 0),
        (&["redact", har], 0),
    ] {
        let (code, text) = output_text(&ends(home.command(args)));
        assert_eq!(code, usual, "{args:?}: {text}");
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let out = home.command(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let (code, text) = output_text(&out);
        assert!(code == 3 && text.contains("[ARTIFACT_IO]"), "{args:?}: {code} {text}");
        // Whoever has read enough may go.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let out = home.command(args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(out.status.code(), Some(usual), "{args:?}: {:?}", output_text(&out));
    }
}
