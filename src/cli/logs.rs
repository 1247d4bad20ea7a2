//! What happened, for later: one JSON object a line in a file a day, and with `-v` as text on stderr.
//!
//! Only our own events are written: libraries tell of headers. Every line is redacted and without control characters before
//! it goes anywhere. A log that cannot be written stops nothing.

use std::{
    fs::File,
    io::{self, Write},
    sync::Arc,
};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    Layer as _,
    filter::Targets,
    fmt::{self, MakeWriter},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use super::context;
use commis_base::{files::Dir, settings::Home};
use commis_state::now_ms;

/// Days that are kept.
const DAYS: usize = 7;
const PREFIX: &str = "commis.";
const SUFFIX: &str = ".jsonl";

/// Starts logging: to the file, when there is to be one, and to stderr from `-v` (what happens) or `-vv` (every stage).
pub fn start(home: Option<&Home>, verbose: u8) {
    let ours = |level| Targets::new().with_target("commis", level);
    let file = home.and_then(open).map(|it| {
        fmt::layer()
            .json()
            .with_target(false)
            .with_writer(RedactingMakeWriter(it))
            .with_filter(ours(LevelFilter::DEBUG))
    });
    let level = match verbose {
        0 => None,
        1 => Some(LevelFilter::INFO),
        _ => Some(LevelFilter::DEBUG),
    };
    let people = level.map(|level| {
        fmt::layer()
            .with_target(false)
            .with_ansi(false)
            .with_writer(RedactingMakeWriter(io::stderr))
            .with_filter(ours(level))
    });
    // Only tests of the program in one process could have started it before.
    let _ = tracing_subscriber::registry().with(file).with(people).try_init();
}

/// The file of today, in a folder that is ours alone; whoever works past midnight stays in it.
fn open(home: &Home) -> Option<Arc<File>> {
    let dir = Dir::open(&home.logs, true).ok()??;
    let today = context::moment(now_ms());
    let name = format!("{PREFIX}{}{SUFFIX}", today.split(' ').next()?);
    let file = dir.open_to_append(&name).ok()?;
    let mut all = dir.names().ok()?;
    all.retain(|it| it.starts_with(PREFIX) && it.ends_with(SUFFIX));
    for old in all.iter().rev().skip(DAYS) {
        // Another process may have.
        let _ = dir.discard(old);
    }
    Some(Arc::new(file))
}

/// Redacts what is written through it. An event comes as one write.
struct RedactingMakeWriter<M>(M);

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for RedactingMakeWriter<M> {
    type Writer = RedactingWriter<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        RedactingWriter(self.0.make_writer())
    }
}

struct RedactingWriter<W>(W);

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(harmless(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The line without secrets and control characters; JSON stays JSON.
fn harmless(line: &str) -> String {
    let line = line.trim_end_matches('\n');
    let mut out: String =
        commis_redact::message(line).chars().filter(|it| !context::is_unsafe_char(*it)).collect();
    let is_json = |it: &str| serde_json::from_str::<serde::de::IgnoredAny>(it).is_ok();
    if out != line && is_json(line) && !is_json(&out) {
        out = serde_json::json!({ "redacted": out }).to_string();
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_redacted_and_stays_a_line() {
        let secret = "sk-proj-Zk3vQ9xT7bLm2pWc8RfYhN4sZk3vQ9xT7bLm2pWc8RfYhN4s";
        for line in [
            format!("{{\"fields\":{{\"message\":\"token={secret}\"}}}}\n"),
            format!("told http://shop.test/?access_token={secret} \u{1b}[31mred\u{202e}\nnext\n"),
        ] {
            let out = harmless(&line);
            assert!(!out.contains(secret), "{out}");
            assert!(
                out.ends_with('\n') && out.trim_end().chars().all(|it| !it.is_control()),
                "{out:?}"
            );
            if line.starts_with('{') {
                serde_json::from_str::<serde_json::Value>(&out).unwrap();
            }
        }
    }
}
