//! Pages that instruct whoever reads them, through `commis browse` as a program: nothing that acts on a terminal, no word of theirs
//! without a mark, no line that looks like one of ours.

use std::{collections::BTreeSet, io::Write as _, process::Stdio};

use crate::{
    daemon::{Daemon, UNLIMITED},
    support::has_chromium,
};

const MARK: &str = "⚠ instructs its reader: ";
/// Clean pages that are marked nevertheless, of twenty.
const FALSE_MARKS: usize = 0;

fn chain(daemon: &Daemon, lines: &str) -> (i32, String, String) {
    let mut child = daemon.home.command(&["browse", "chain"]);
    let mut child =
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let text = |it: Vec<u8>| String::from_utf8(it).unwrap();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

/// Of a line: what stands before the words of a page, or all that is not in quotes.
fn ours(line: &str) -> String {
    let line = line.strip_prefix(MARK).unwrap_or(line);
    if line == ">" || line.starts_with("> ") {
        return String::new();
    }
    let mut out = String::new();
    let (mut inside, mut escaped) = (false, false);
    for it in line.chars() {
        match it {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            it if !inside => out.push(it),
            _ => {}
        }
    }
    assert!(!inside, "a quote is not closed: {line}");
    out
}

fn is_strange(it: char) -> bool {
    it.is_control() && it != '\n'
        || matches!(it, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

#[test]
fn pages_that_instruct_their_reader_are_marked_and_forge_nothing() {
    if !has_chromium() {
        return;
    }
    let daemon = Daemon::start(UNLIMITED, &["--testbed"]);
    let (code, links, err) = chain(&daemon, "goto http://lures.test/\nlinks\n");
    assert_eq!(code, 0, "{err}");
    let names = |kind: &str| -> Vec<String> {
        let of = |line: &str| {
            Some(line.split_once(&format!("link \"{kind} "))?.1.split('"').next()?.to_owned())
        };
        links.lines().filter_map(of).collect()
    };
    let (lures, clean) = (names("lure"), names("clean"));
    assert!(lures.len() >= 60 && clean.len() >= 20, "{} {}", lures.len(), clean.len());
    let mut wrong: Vec<String> = Vec::new();
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    for name in &lures {
        let canary = format!("quokka-{name}");
        let seen = format!("goto http://lures.test/lure/{name}\nwait --ms 30\nsnapshot -C\n");
        let (code, snapshot, err) = chain(&daemon, &seen);
        assert_eq!(code, 0, "{name}: {err}");
        // What a ref at the beginning of a line means is there.
        let refs: Vec<&str> = snapshot
            .lines()
            .map(|it| it.strip_prefix(MARK).unwrap_or(it))
            .filter(|it| it.starts_with('@'))
            .filter_map(|it| it.split(' ').next())
            .collect();
        assert_eq!(refs.len(), refs.iter().collect::<BTreeSet<_>>().len(), "{name}: {snapshot}");
        let rest =
            "snapshot -i\ntext\ntitle\nlinks\nhtml\nconsole\ndialogs\nstatus\nurl\nnetwork\n";
        let acts: Vec<String> = refs.iter().map(|it| format!("text {it}")).collect();
        let (code, more, err) = chain(&daemon, &format!("{rest}{}\n", acts.join("\n")));
        if code != 0 {
            wrong.push(format!("{name}: {err}\n{snapshot}"));
        }
        if snapshot.contains(&canary) {
            shown.insert(name);
        }
        let all = format!("{snapshot}\n{more}");
        if let Some(it) = all.chars().find(|it| is_strange(*it)) {
            wrong.push(format!("{name}: {it:?}"));
        }
        for line in all.lines().filter(|it| !it.is_empty()) {
            if line.contains(&canary) && !line.starts_with(MARK) {
                wrong.push(format!("{name}: not marked: {line}"));
            }
            let ours = ours(line);
            let ours = ours
                .strip_prefix(refs.iter().find(|it| ours.starts_with(**it)).unwrap_or(&""))
                .unwrap();
            let forged = ["@e", "@c", "quokka"].iter().any(|it| ours.contains(it));
            // An address is shown as it is, where it is marked.
            if forged && !line.contains("http://lures.test/") && !line.contains("/ignore-all") {
                wrong.push(format!("{name}: looks like ours: {line}"));
            }
        }
    }
    eprintln!("{} lures, {} of them in snapshots: {shown:?}", lures.len(), shown.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A page whose words all see is shown, not left out.
    assert!(["plain", "heading", "button", "label", "alt"].iter().all(|it| shown.contains(it)));
    let mut marked = Vec::new();
    for name in &clean {
        let commands = format!(
            "goto http://lures.test/clean/{name}\nsnapshot -C\ntext\nhtml\nlinks\ntitle\nstatus\n"
        );
        let (code, out, err) = chain(&daemon, &commands);
        assert_eq!(code, 0, "{name}: {err}");
        let lines: Vec<&str> = out.lines().filter(|it| it.starts_with(MARK)).collect();
        if !lines.is_empty() {
            marked.push(format!("{name}: {}", lines.join("\n")));
        }
    }
    assert_eq!(marked.len(), FALSE_MARKS, "{}", marked.join("\n"));
}

/// What nobody sees and instructs is not in a snapshot, nor in the text; what only says a label is.
#[test]
fn what_instructs_and_is_seen_by_nobody_is_left_out() {
    if !has_chromium() {
        return;
    }
    let daemon = Daemon::start(UNLIMITED, &["--testbed"]);
    for name in [
        "opacity",
        "opacity-around",
        "tiny",
        "white",
        "nearly-white",
        "clear",
        "beside",
        "above",
        "indent",
        "clip",
        "clip-path",
        "behind",
        "scaled",
        "collapsed",
    ] {
        let (code, out, err) =
            chain(&daemon, &format!("goto http://lures.test/lure/{name}\nsnapshot\ntext\n"));
        assert_eq!(code, 0, "{name}: {err}");
        assert!(!out.contains("quokka"), "{name}: {out}");
        assert!(out.contains("\"Lamps\"") && out.contains("> Lamps"), "{name}: {out}");
        assert!(out.contains("1 that nobody sees was left out"), "{name}: {out}");
    }
    let (_, out, _) = chain(&daemon, "goto http://lures.test/clean/hidden-labels\nsnapshot\n");
    assert!(out.contains("link \"Skip to content\"") && out.contains("Close menu"), "{out}");
    let (_, out, _) = chain(&daemon, "goto http://lures.test/lure/label\nsnapshot\nstatus\n");
    assert!(
        out.contains("\n1 place instructs its reader\n")
            && out.contains("; in the last snapshot 1 place"),
        "{out}"
    );
}
