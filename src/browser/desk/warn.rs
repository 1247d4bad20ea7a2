//! What leaves a desk: words of a page in quotes or behind `> `, and marked where they instruct whoever reads them.
//!
//! Every command goes through here, also those that fail: an error names elements, and elements are called what a page wants.

use super::{Command, Desk, Said, hidden, suspect, words::quoted};
use commis_base::error::{Error, Result};

/// What an answer consists of.
enum Made {
    /// Lines of ours that are marked already.
    Marked,
    /// Lines of ours, with words of the page in them.
    Told,
    Title,
    Text,
    Markup,
}

impl Desk {
    /// Does it. Fails with `STEP_FAILED`, `REF_STALE`, `PARAM_INVALID`, `BROWSER_FAILED`, and where a page is opened with the
    /// policy's codes.
    pub async fn run(&mut self, command: Command) -> Result<Said> {
        let begun = self.begins(&command);
        let done = match self.is_free_for(&command) {
            Ok(()) => self.marked(command).await,
            Err(err) => Err(err),
        };
        self.tells(&begun, &done);
        done
    }

    async fn marked(&mut self, command: Command) -> Result<Said> {
        let made = match command {
            Command::Snapshot { .. } | Command::Links => Made::Marked,
            Command::Title => Made::Title,
            Command::Text(_) | Command::Console(_) | Command::Js(_) => Made::Text,
            Command::Html(_) => Made::Markup,
            _ => Made::Told,
        };
        let mut said = self.kept(command).await.map_err(warned)?;
        let lines: Vec<String> = said.text.lines().map(str::to_owned).collect();
        said.text = match made {
            Made::Marked => said.text,
            Made::Title => suspect::told(quoted(&said.text)),
            Made::Told => lines.into_iter().map(suspect::told).collect::<Vec<_>>().join("\n"),
            Made::Markup => suspect::framed(&lines, &suspect::judge_markup(&lines)),
            Made::Text => {
                let (lines, left) = hidden::lines(&self.shared(), lines).await;
                let found = suspect::judge(lines.iter().map(String::as_str));
                let text = suspect::framed(&lines, &found);
                [Some(text).filter(|it| !it.is_empty()), hidden::counted(left)]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("\n")
            }
        };
        if let Some(effect) = &mut said.effect {
            for it in effect.dialogs.iter_mut().chain(&mut effect.refused) {
                *it = suspect::told(std::mem::take(it));
            }
        }
        Ok(said)
    }
}

/// An error whose words are a page's as much as ours.
fn warned(err: Error) -> Error {
    if !suspect::instructs_in_told(err.message()) {
        return err;
    }
    let out = Error::new(err.code(), suspect::told(err.message().to_owned()));
    let hint = err.hint_text().map(str::to_owned);
    let out = match hint {
        Some(it) => out.hint(it),
        None => out,
    };
    out.source(err)
}
