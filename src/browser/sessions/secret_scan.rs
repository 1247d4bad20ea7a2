//! What a session has to pass before it has ended, and before it leaves: no file of it holds a secret that is known from the live
//! page, or that the rules find.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    SessionRecorder, SessionStore,
    file_layout::{self, MANIFEST, RECORDING, TRAJECTORY},
};
use commis_base::error::{Code, Error, Result};
use commis_redact::RecordingSecrets;

/// What stands for what was typed.
const TYPED: &str = "typed";

/// What is no text is judged when it is made.
fn is_text(name: &str) -> bool {
    std::path::Path::new(name).extension().is_none_or(|it| it != "png")
}

/// Looks at every text of a file, as its kind has them; whether one was changed.
fn each(name: &str, text: &str, look: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    fn walk(it: &mut Value, look: &mut dyn FnMut(&str) -> Option<String>) -> bool {
        match it {
            Value::String(text) => match look(text) {
                Some(new) => {
                    *text = new;
                    true
                }
                None => false,
            },
            Value::Array(all) => all.iter_mut().fold(false, |out, it| walk(it, look) | out),
            Value::Object(all) => {
                let names: Vec<(String, String)> =
                    all.keys().filter_map(|it| Some((it.clone(), look(it)?))).collect();
                let mut changed = !names.is_empty();
                for (name, new) in names {
                    if let Some(it) = all.remove(&name) {
                        all.insert(new, it);
                    }
                }
                for it in all.values_mut() {
                    changed |= walk(it, look);
                }
                changed
            }
            _ => false,
        }
    }
    let mut changed = false;
    let mut out = String::with_capacity(text.len());
    let json = name == TRAJECTORY || name == file_layout::AUDIT;
    for line in text.split_inclusive('\n') {
        let (bare, end) = line.strip_suffix('\n').map_or((line, ""), |it| (it, "\n"));
        let parsed = if json { serde_json::from_str::<Value>(bare).ok() } else { None };
        let new = match parsed {
            Some(mut it) => walk(&mut it, look).then(|| it.to_string()),
            None => look(bare),
        };
        changed |= new.is_some();
        out.push_str(new.as_deref().unwrap_or(bare));
        out.push_str(end);
    }
    changed.then_some(out)
}

/// By the rules alone.
fn by_rules(text: &str) -> Option<String> {
    let new = commis_redact::redact_written(text);
    (new != text).then_some(new)
}

impl SessionRecorder {
    /// Takes out of every file what is secret all the same, and says so; counts what was left out. Fails with `ARTIFACT_IO`.
    pub fn gate(&mut self, sealed: &mut RecordingSecrets) -> Result<()> {
        for it in &mut std::mem::take(&mut self.seals) {
            self.gate_by(it)?;
        }
        self.gate_by(sealed)
    }

    fn gate_by(&mut self, sealed: &mut RecordingSecrets) -> Result<()> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for it in &mut self.findings {
            *it = sealed.hide(it).into_owned();
        }
        for name in file_layout::names(&self.dir)?.into_iter().filter(|it| is_text(it)) {
            let Some(bytes) = file_layout::read(&self.dir, &name)? else { continue };
            let mut text = String::from_utf8_lossy(&bytes).into_owned();
            // The traffic was written without them, but for those that a later part told.
            if name.starts_with(RECORDING) {
                let new = if self.parts > 1 { self.hide_in_part(&bytes, sealed)? } else { None };
                if let Some(new) = new {
                    file_layout::write(&self.dir, &name, &new)?;
                    text = String::from_utf8_lossy(&new).into_owned();
                }
            } else {
                let mut found = 0;
                let mut look = |it: &str| {
                    let known = sealed.hide(it).into_owned();
                    let new = by_rules(&known).unwrap_or(known);
                    found += usize::from(new != it);
                    (new != it).then_some(new)
                };
                if let Some(new) = each(&name, &text, &mut look) {
                    file_layout::write(&self.dir, &name, new.as_bytes())?;
                    self.findings.push(format!(
                        "- {name}: {found} texts held a secret, which was taken out at the end"
                    ));
                    text = new;
                }
            }
            commis_redact::count(&text, &mut counts);
            let masked = text.matches("\"secret\":true").count() as u64;
            if name == TRAJECTORY && masked > 0 {
                *counts.entry(TYPED.to_owned()).or_default() += masked;
            }
        }
        let manifest = &mut self.manifest;
        for it in [&mut manifest.name, &mut manifest.task, &mut manifest.url] {
            *it = sealed.hide(it).into_owned();
        }
        manifest.redactions = counts;
        Ok(())
    }
}

impl SessionStore {
    /// Whether the rules find nothing in it. Fails with `SECRET_IN_TASK`, naming the file and its line.
    pub(super) fn may_leave(&self, id: &str) -> Result<()> {
        let dir = self.at(id)?;
        let mut names = file_layout::names(&dir)?;
        names.push(MANIFEST.to_owned());
        for name in names.iter().filter(|it| is_text(it) && !it.starts_with(RECORDING)) {
            let bytes = if name == MANIFEST {
                dir.read(name, file_layout::MAX_MANIFEST)?
            } else {
                file_layout::read(&dir, name)?
            };
            let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            for (n, line) in text.lines().enumerate() {
                let hash = name == MANIFEST && is_hash_of_a_file(line);
                if !hash && each(name, line, &mut by_rules).is_some() {
                    return Err(Error::new(
                        Code::SecretInTask,
                        format!("session {id} may hold a secret: {name}, line {}", n + 1),
                    )
                    .hint("check it with `session show`; `session purge` removes all but the manifest"));
                }
            }
        }
        Ok(())
    }
}

/// `  trajectory.ndjson: 3f…`: a name that sessions have and 64 hexadecimal digits, which rules take for a secret.
fn is_hash_of_a_file(line: &str) -> bool {
    let Some((name, hash)) = line.strip_prefix("  ").and_then(|it| it.split_once(": ")) else {
        return false;
    };
    let name = name.trim_matches(['"', '\'']);
    file_layout::most(name).is_some()
        && hash.len() == 64
        && hash.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::SessionAction;

    const KEY: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";

    fn sealed(known: &[(&str, &str)]) -> RecordingSecrets {
        let mut out = commis_redact::nothing();
        for it in known {
            out.judge(it.0, it.1);
        }
        out
    }

    #[test]
    fn what_is_known_and_what_rules_find_is_in_no_file() {
        let home = tempfile::tempdir().unwrap();
        let all = SessionStore::new(home.path());
        let token = "5f2b1c9d8e7a6f5b4c3d2e1f0a9b8c7d";
        let mut it = all.record("one", "Look", "http://a.test/", "").unwrap();
        let line = SessionAction {
            command: "goto".into(),
            url_after: format!("http://a.test/?t={token}"),
            value: Some(KEY.to_owned()),
            ..SessionAction::default()
        };
        it.add(line).unwrap();
        it.snapshot(&format!("text \"yours is {token}\"\ntext \"harmless\"")).unwrap();
        it.find(&format!("it is {token}"));
        it.gate(&mut sealed(&[("session_token", token), ("theme", "dark")])).unwrap();
        let id = it.end().unwrap().id;
        let manifest = all.manifest(&id).unwrap();
        assert!(manifest.redactions["session_token"] >= 2, "{:?}", manifest.redactions);
        for name in manifest.files.keys() {
            let text = std::fs::read_to_string(home.path().join(&id).join(name)).unwrap();
            assert!(!text.contains(token) && !text.contains(KEY), "{name}: {text}");
        }
        let findings = all.findings(&id).unwrap();
        assert!(findings.contains("trajectory.ndjson: 2 texts"), "{findings}");
        assert_eq!(all.load(&id).unwrap().1.len(), 1);
        assert!(all.snapshot(&id, 1).unwrap().unwrap().contains("harmless"));
        all.export(&id).unwrap();
    }

    #[test]
    fn what_may_hold_a_secret_does_not_leave() {
        let home = tempfile::tempdir().unwrap();
        let all = SessionStore::new(home.path());
        let mut it = all.record("one", "Look", "http://a.test/", "").unwrap();
        it.add(SessionAction { value: Some(format!("it is {KEY}")), ..SessionAction::default() })
            .unwrap();
        let id = it.end().unwrap().id;
        let err = all.export(&id).unwrap_err();
        assert_eq!(err.code(), Code::SecretInTask);
        assert!(
            err.message().contains("trajectory.ndjson, line 1") && !err.to_string().contains(KEY)
        );
    }
}
