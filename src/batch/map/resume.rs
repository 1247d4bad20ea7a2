//! What a file of results holds already: which lines are done, and up to where it is whole.
//!
//! A crash may leave half a line at the end, and a power cut something else there: that is cut off and done again. Anything strange
//! before a line that is whole was not written by us, and nothing is done to such a file.

use std::{collections::BTreeMap, io::BufRead};

use serde::Deserialize;
use serde_json::Value;

use super::input::hash_value;
use commis_base::error::{Code, Error, Result};

/// A result is not longer: an answer is not.
const MAX_RESULT: u64 = 256 << 20;

/// Lines that are done, by number, with what tells their inputs apart.
#[derive(Debug, Default)]
pub struct CompletedLines {
    done: BTreeMap<u64, u64>,
    /// Bytes of the lines that are whole.
    pub whole: u64,
    /// Of those, how many failed.
    pub failed: u64,
    /// Lines that failed with something that may pass, and are to be done again.
    pub again: u64,
}

/// A result, as far as it matters here.
#[derive(Deserialize)]
struct StoredResult {
    line: u64,
    input: Value,
    #[serde(default)]
    error: Option<StoredError>,
}

#[derive(Deserialize)]
struct StoredError {
    retryable: bool,
}

impl CompletedLines {
    /// Reads a file of results. `take` is handed each line that counts as done, with its end; with `again` those that failed with
    /// something that may pass do not. Fails with [`Code::ArtifactCorrupt`] for a file of something else, and with [`Code::ArtifactIo`].
    pub fn read(
        mut from: impl BufRead,
        again: bool,
        mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<Self> {
        let failed = |err| Error::new(Code::ArtifactIo, "cannot read the results").source(err);
        let mut out = Self::default();
        let (mut number, mut at) = (0_u64, 0_u64);
        // A line that is none; only the last may be.
        let mut torn: Option<u64> = None;
        let mut text = Vec::new();
        loop {
            text.clear();
            let got = std::io::Read::take(&mut from, MAX_RESULT)
                .read_until(b'\n', &mut text)
                .map_err(failed)?;
            if got == 0 {
                return Ok(out);
            }
            number += 1;
            at += got as u64;
            if let Some(line) = torn {
                return Err(foreign_error(line));
            }
            let result =
                if text.ends_with(b"\n") { serde_json::from_slice(&text).ok() } else { None };
            let Some(StoredResult { line, input, error }) = result else {
                if !is_ours(&text) {
                    return Err(foreign_error(number));
                }
                torn = Some(number);
                continue;
            };
            out.whole = at;
            let may_pass = error.as_ref().is_some_and(|it| it.retryable);
            if again && may_pass {
                out.again += 1;
                continue;
            }
            out.failed += u64::from(error.is_some());
            out.done.insert(line, hash_value(&input));
            take(&text).map_err(failed)?;
        }
    }

    /// How many lines are done.
    pub fn count(&self) -> u64 {
        self.done.len() as u64
    }

    /// Whether that line is done; it is forgotten, so that memory shrinks. Fails with [`Code::Usage`] when its input was another.
    pub fn take(&mut self, line: u64, mark: u64) -> Result<bool> {
        match self.done.remove(&line) {
            None => Ok(false),
            Some(it) if it == mark => Ok(true),
            Some(_) => Err(Error::new(
                Code::Usage,
                format!("line {line} of the inputs differs from the one that was run"),
            )
            .hint("--resume needs the same --inputs; for other inputs give another --out")),
        }
    }
}

/// Whether that may be what is left of a line of ours; a power cut leaves zeros.
fn is_ours(text: &[u8]) -> bool {
    const BEGINS: &[u8] = b"{\"line\":";
    let n = text.len().min(BEGINS.len());
    text[..n] == BEGINS[..n] || text.contains(&0)
}

fn foreign_error(line: u64) -> Error {
    Error::new(Code::ArtifactCorrupt, format!("line {line} of the results is not a result")).hint(
        "--out must name a file that this command wrote; remove the line, or give another file",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"line":1,"input":{"q":"a"},"data":[1]}"#;
    const TWO: &str = r#"{"line":2,"input":{"q":"b"},"error":{"code":"TIMEOUT","message":"m","hint":null,"retryable":true}}"#;
    const THREE: &str = r#"{"line":3,"input":null,"error":{"code":"PARAM_INVALID","message":"m","hint":null,"retryable":false}}"#;

    fn read(text: &str, again: bool) -> Result<(CompletedLines, String)> {
        let mut taken = Vec::new();
        let it = CompletedLines::read(text.as_bytes(), again, |line| {
            taken.extend_from_slice(line);
            Ok(())
        })?;
        Ok((it, String::from_utf8(taken).unwrap()))
    }

    #[test]
    fn a_torn_last_line_is_not_of_it_wherever_it_was_torn() {
        let whole = format!("{ONE}\n{TWO}\n");
        for cut in 0..=THREE.len() {
            let text = format!("{whole}{}", &THREE[..cut]);
            let (it, _) = read(&text, false).unwrap();
            assert_eq!((it.count(), it.whole), (2, whole.len() as u64), "{cut}");
        }
        let (it, taken) = read(&format!("{whole}{THREE}\n"), false).unwrap();
        assert_eq!((it.count(), it.failed, it.again), (3, 2, 0));
        assert_eq!(taken, format!("{whole}{THREE}\n"));
        // What a power cut left of blocks that never reached the disk.
        let (it, _) = read(&format!("{whole}\0\0\0\0\n"), false).unwrap();
        assert_eq!(it.whole, whole.len() as u64);
        assert_eq!(read("", false).unwrap().0.count(), 0);
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        for text in [
            format!("nothing\n{ONE}\n"),
            format!("{ONE}\n\n{TWO}\n"),
            "a note\n".to_owned(),
            "a note".to_owned(),
        ] {
            assert_eq!(read(&text, false).unwrap_err().code(), Code::ArtifactCorrupt, "{text}");
        }
    }

    #[test]
    fn what_may_pass_is_done_again_when_asked_for() {
        let text = format!("{TWO}\n{ONE}\n{THREE}\n");
        let (it, taken) = read(&text, true).unwrap();
        assert_eq!((it.count(), it.failed, it.again), (2, 1, 1));
        assert_eq!(taken, format!("{ONE}\n{THREE}\n"));
    }

    #[test]
    fn a_line_is_done_for_the_input_that_it_had() {
        let (mut it, _) = read(&format!("{ONE}\n{TWO}\n"), false).unwrap();
        let input = |q: &str| hash_value(&serde_json::json!({"q": q}));
        assert!(!it.take(7, input("a")).unwrap());
        assert!(it.take(1, input("a")).unwrap());
        assert!(!it.take(1, input("a")).unwrap(), "forgotten");
        assert_eq!(it.take(2, input("other")).unwrap_err().code(), Code::Usage);
    }
}
