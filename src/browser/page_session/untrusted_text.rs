//! What leaves a desk: words of a page in quotes or behind `> `, and marked where they instruct whoever reads them.
//!
//! Every command goes through here, also those that fail: an error names elements, and elements are called what a page wants.

use super::{
    Command, CommandOutput, PageController, hidden_text, prompt_injection, text_sanitizer::quoted,
};
use commis_base::error::{Error, Result};

/// What an answer consists of.
enum OutputKind {
    /// Lines of ours that are marked already.
    Marked,
    /// Lines of ours, with words of the page in them.
    Told,
    Title,
    Text,
    Markup,
}

impl PageController {
    /// Does it. Fails with `STEP_FAILED`, `REF_STALE`, `PARAM_INVALID`, `BROWSER_FAILED`, and where a page is opened with the
    /// policy's codes.
    pub async fn run(&mut self, command: Command) -> Result<CommandOutput> {
        let begun = self.begins(&command);
        let done = match self.is_free_for(&command) {
            Ok(()) => self.marked(command).await,
            Err(err) => Err(err),
        };
        self.tells(&begun, &done);
        done
    }

    async fn marked(&mut self, command: Command) -> Result<CommandOutput> {
        let made = match command {
            Command::Snapshot { .. } | Command::Links => OutputKind::Marked,
            Command::Title => OutputKind::Title,
            Command::Text(_) | Command::Console(_) | Command::Js(_) => OutputKind::Text,
            Command::Html(_) => OutputKind::Markup,
            _ => OutputKind::Told,
        };
        let mut said = self.run_recorded(command).await.map_err(warned)?;
        let lines: Vec<String> = said.text.lines().map(str::to_owned).collect();
        said.text = match made {
            OutputKind::Marked => said.text,
            OutputKind::Title => prompt_injection::mark_if_suspicious(quoted(&said.text)),
            OutputKind::Told => lines
                .into_iter()
                .map(prompt_injection::mark_if_suspicious)
                .collect::<Vec<_>>()
                .join("\n"),
            OutputKind::Markup => {
                prompt_injection::framed(&lines, &prompt_injection::judge_markup(&lines))
            }
            OutputKind::Text => {
                let (lines, left) = hidden_text::lines(&self.shared(), lines).await;
                let found = prompt_injection::judge(lines.iter().map(String::as_str));
                let text = prompt_injection::framed(&lines, &found);
                [Some(text).filter(|it| !it.is_empty()), hidden_text::counted(left)]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("\n")
            }
        };
        if let Some(effect) = &mut said.effect {
            for it in effect.dialogs.iter_mut().chain(&mut effect.refused) {
                *it = prompt_injection::mark_if_suspicious(std::mem::take(it));
            }
        }
        Ok(said)
    }
}

/// An error whose words are a page's as much as ours.
fn warned(err: Error) -> Error {
    if !prompt_injection::instructs_in_told(err.message()) {
        return err;
    }
    let out =
        Error::new(err.code(), prompt_injection::mark_if_suspicious(err.message().to_owned()));
    let hint = err.hint_text().map(str::to_owned);
    let out = match hint {
        Some(it) => out.hint(it),
        None => out,
    };
    out.source(err)
}
