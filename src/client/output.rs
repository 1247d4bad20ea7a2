//! What commands print: data on stdout, words for a person on stderr, and no panic where a pipe was closed.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
    sync::OnceLock,
};

use serde::Serialize;

use commis_base::{
    error::{Class, Code, Error, Result},
    ids::is_unsafe_char,
};

/// One JSON document on stdout.
pub fn out<T: Serialize>(value: &T) {
    if let Ok(text) = serde_json::to_string_pretty(value) {
        line(&harmless(text));
    }
}

/// One JSON document that is one line, on stdout.
pub fn event(json: &str) {
    line(&harmless(json.to_owned()));
}

/// As [`event`]; false when whoever read it has gone away.
pub fn write_event(json: &str) -> bool {
    let text = harmless(json.to_owned());
    match writeln!(anstream::stdout(), "{}", upright(&text)) {
        Err(err) if err.kind() == io::ErrorKind::BrokenPipe => false,
        written => {
            note(written);
            UNWRITTEN.get().is_none()
        }
    }
}

/// JSON escapes the control characters of ASCII alone; terminals obey those after DEL as well. They can only stand in strings.
fn harmless(json: String) -> String {
    if !json.chars().any(|it| is_unsafe_char(it) && it != '\n') {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    for it in json.chars() {
        if is_unsafe_char(it) && it != '\n' {
            for unit in it.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(it);
        }
    }
    out
}

/// What of stdout could not be written, the first time.
static UNWRITTEN: OnceLock<io::Error> = OnceLock::new();

/// A line of data on stdout. A reader that has gone away is not an error; whatever else keeps it from being written is told
/// by [`all_written`].
pub fn line(text: &str) {
    note(writeln!(anstream::stdout(), "{}", upright(text)));
}

/// A file's text on stdout: on a terminal as [`line`] has it, elsewhere to the byte.
pub fn data(bytes: &[u8]) {
    if io::stdout().is_terminal() {
        line(String::from_utf8_lossy(bytes).trim_end());
    } else {
        note(io::stdout().write_all(bytes));
    }
}

fn note(written: io::Result<()>) {
    if let Err(err) = written
        && err.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = UNWRITTEN.set(err);
    }
}

/// Fails with `ARTIFACT_IO` when some of what was to be on stdout is not.
pub fn all_written() -> Result<()> {
    note(io::stdout().flush());
    let Some(err) = UNWRITTEN.get() else { return Ok(()) };
    // Kept where it is: an error of the system is no more than its number.
    let err = err.raw_os_error().map_or_else(|| err.kind().into(), io::Error::from_raw_os_error);
    Err(Error::new(Code::ArtifactIo, "cannot write to stdout")
        .hint("only the output was lost, the work is done; free some space, or write to another place")
        .source(err))
}

/// A line for a person on stderr.
pub fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", upright(text));
}

/// Styled text, in which nothing turns its surroundings around and nothing is unseen. Colours are control characters, so of those
/// it is for [`clean`] to take care.
fn upright(text: &str) -> Cow<'_, str> {
    let turns = |it: char| is_unsafe_char(it) && !it.is_control();
    if text.chars().any(turns) { text.replace(turns, "\u{fffd}").into() } else { text.into() }
}

/// `error: message`, then the hint, on stderr; and as JSON on stdout where the command was asked for JSON, on one line where it
/// prints lines. `message` and `hint` are those of the error, fit to be shown.
pub fn report_error(err: &Error, message: &str, hint: Option<&str>, (json, lines): (bool, bool)) {
    if json {
        let mut it = serde_json::json!({
            "success": false,
            "error_code": err.code().as_str(),
            "error": message,
            "hint": hint,
            "retryable": err.retryable(),
        });
        if lines {
            it["event"] = "error".into();
            event(&it.to_string());
        } else {
            out(&it);
        }
        // A person who sees both needs one.
        if io::stdout().is_terminal() {
            return;
        }
    }
    let red = anstyle::AnsiColor::Red.on_default().bold();
    say(&format!("{red}error{red:#}: {message} [{}]", err.code()));
    if let Some(hint) = hint {
        say(&format!("  hint: {hint}"));
    }
    if err.code().class() == Class::Bug {
        say("  this is a bug in commis; please report it with the command you ran");
    }
}
