//! Tells those who look on of each command.

use std::time::Instant;

use super::{Command, CommandOutput, PageController, session_recording};
use crate::event_stream::{EventDetails, EventKind};
use commis_base::error::Result;

/// A command on its way.
pub(super) struct RunningCommand {
    command: &'static str,
    at: Instant,
}

impl PageController {
    /// Tells those who look on.
    pub(super) fn begins(&self, command: &Command) -> RunningCommand {
        let command = session_recording::called(command);
        if let Some(feed) = &self.feed {
            let more = EventDetails { command: Some(command), ..EventDetails::default() };
            feed.emit(EventKind::Begun, command, more);
        }
        RunningCommand { command, at: Instant::now() }
    }

    /// The same of what it came to: of an act in a line, of what was read that it was.
    pub(super) fn tells(&self, begun: &RunningCommand, done: &Result<CommandOutput>) {
        let Some(feed) = &self.feed else { return };
        let mut more = EventDetails {
            command: Some(begun.command),
            ms: Some(begun.at.elapsed().as_millis() as u64),
            ..EventDetails::default()
        };
        let shared = self.shared();
        let state = shared.lock();
        match done {
            Ok(it) => {
                let text = match &it.effect {
                    Some(_) => it.text.lines().next().unwrap_or_default().to_owned(),
                    None => format!("{}: {} characters", begun.command, it.text.chars().count()),
                };
                more.effect.clone_from(&it.effect);
                for it in more.effect.iter_mut().flat_map(|it| &mut it.requests) {
                    it.path = state.masked(std::mem::take(&mut it.path));
                }
                feed.emit(EventKind::Done, &state.masked(text), more);
            }
            Err(err) => {
                more.error_code = Some(err.code().as_str());
                let text = format!("{} failed: {}", begun.command, err.message());
                feed.emit(EventKind::Failed, &state.display_text(&text), more);
            }
        }
    }
}
