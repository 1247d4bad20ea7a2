//! What replays found anew, by host: an element as it was recorded, and as it was found when the wire proved it.
//!
//! Used from its second proof on, forgotten when it fails. The host is the one that the browser was at, so a page writes to its own
//! memory alone, and no host has more than its share. Losing it loses time and nothing else.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fingerprint::{Fingerprint, class};
use commis_base::{error::Result, files};
use commis_state::now_ms;

const FILE: &str = "elements.json";
const MAX_FILE: usize = 8 << 20;
/// Elements that are remembered, of all hosts and of one.
const MOST: usize = 2000;
const OF_A_HOST: usize = 200;
/// Bytes of one.
const LONGEST: usize = 4096;
/// Before that it is only counted.
const PROOFS: u32 = 2;

/// One writer at a time; the daemon is the only process that writes.
static WRITING: Mutex<()> = Mutex::new(());

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    owner: String,
    host: String,
    was: Fingerprint,
    now: Fingerprint,
    proven: u32,
    last_ms: i64,
    /// What was found before, and is not there any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    healed_from: Option<String>,
}

/// What is remembered of an element.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RememberedElement {
    /// The action that is on it.
    pub n: u32,
    pub host: String,
    /// As it was found.
    pub now: String,
    /// How often the wire proved it.
    pub proven: u32,
    /// When it last did.
    pub last_ms: i64,
    /// As it was found before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub healed_from: Option<String>,
}

/// Of one owner.
#[derive(Clone, Debug)]
pub struct ElementMemory {
    folder: PathBuf,
    owner: String,
}

/// The host of an address, as it is remembered under.
pub fn host(url: &str) -> Option<String> {
    url::Url::parse(url).ok()?.host_str().map(str::to_owned)
}

fn same(a: &Fingerprint, b: &Fingerprint) -> bool {
    (class(&a.role), &a.name, &a.row, &a.form) == (class(&b.role), &b.name, &b.row, &b.form)
}

impl ElementMemory {
    pub fn new(folder: &Path, owner: &str) -> Self {
        Self { folder: folder.to_owned(), owner: owner.to_owned() }
    }

    /// What cannot be read is nothing.
    fn read(&self) -> Vec<Entry> {
        let dir = files::Dir::open(&self.folder, false).ok().flatten();
        let bytes = dir.and_then(|it| it.read(FILE, MAX_FILE).ok().flatten()).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn change(&self, with: impl FnOnce(&mut Vec<Entry>) -> bool) -> Result<()> {
        let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.read();
        if !with(&mut all) {
            return Ok(());
        }
        let text = serde_json::to_vec(&all).unwrap_or_default();
        files::open_or_create(&self.folder)?.write(FILE, &text)
    }

    fn matches(&self, it: &Entry, host: &str, was: &Fingerprint) -> bool {
        it.owner == self.owner && it.host == host && same(&it.was, was)
    }

    /// As it was found last, where that was proven twice.
    pub fn get(&self, host: &str, was: &Fingerprint) -> Option<Fingerprint> {
        let all = self.read();
        let found = all.into_iter().find(|it| self.matches(it, host, was) && it.proven >= PROOFS);
        found.map(|it| it.now)
    }

    /// The same for whoever looks, also what was proven once.
    pub fn describe(&self, n: u32, host: &str, was: &Fingerprint) -> Option<RememberedElement> {
        let it = self.read().into_iter().find(|it| self.matches(it, host, was))?;
        Some(RememberedElement {
            n,
            now: it.now.describe(),
            host: it.host,
            proven: it.proven,
            last_ms: it.last_ms,
            healed_from: it.healed_from,
        })
    }

    /// The wire proved it. Fails with `ARTIFACT_IO`.
    pub fn proven(&self, host: &str, was: &Fingerprint, now: &Fingerprint) -> Result<()> {
        // What else there was takes more room than all the rest.
        let bare = |it: &Fingerprint| {
            let mut it = Fingerprint { others: Vec::new(), ..it.clone() };
            it.attributes.remove("options");
            it
        };
        let (was, now) = (&bare(was), &bare(now));
        let long = |it: &Fingerprint| serde_json::to_vec(it).map_or(usize::MAX, |it| it.len());
        if long(was) + long(now) > LONGEST {
            return Ok(());
        }
        self.change(|all| {
            let mut entry = Entry {
                owner: self.owner.clone(),
                host: host.to_owned(),
                was: was.clone(),
                now: now.clone(),
                proven: 1,
                last_ms: now_ms(),
                healed_from: None,
            };
            if let Some(at) = all.iter().position(|it| self.matches(it, host, was)) {
                let before = all.remove(at);
                if same(&before.now, now) {
                    entry.proven = before.proven.saturating_add(1);
                    entry.healed_from = before.healed_from;
                } else {
                    entry.healed_from = Some(before.now.describe());
                }
            }
            // The last are the newest.
            all.push(entry);
            let of_host = all.iter().filter(|it| it.host == host).count();
            if of_host > OF_A_HOST
                && let Some(at) = all.iter().position(|it| it.host == host)
            {
                all.remove(at);
            }
            if all.len() > MOST {
                all.remove(0);
            }
            true
        })
    }

    /// It failed. Fails with `ARTIFACT_IO`.
    pub fn forget(&self, host: &str, was: &Fingerprint) -> Result<()> {
        self.change(|all| {
            let before = all.len();
            all.retain(|it| !self.matches(it, host, was));
            all.len() < before
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn button(name: &str) -> Fingerprint {
        Fingerprint { role: "button".into(), name: name.into(), ..Fingerprint::default() }
    }

    #[test]
    fn an_element_is_remembered_when_it_was_proven_twice_and_for_its_host_alone() {
        let home = tempfile::tempdir().unwrap();
        let it = ElementMemory::new(home.path(), "");
        let (was, now) = (button("Search"), button("Find"));
        it.proven("a.test", &was, &now).unwrap();
        assert!(it.get("a.test", &was).is_none());
        it.proven("a.test", &was, &now).unwrap();
        assert_eq!(it.get("a.test", &was).unwrap().name, "Find");
        assert!(it.get("b.test", &was).is_none() && it.get("a.test", &button("Other")).is_none());
        assert!(ElementMemory::new(home.path(), "somebody").get("a.test", &was).is_none());
        let mode = std::fs::metadata(home.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // Another one begins anew.
        it.proven("a.test", &was, &button("Seek")).unwrap();
        assert!(it.get("a.test", &was).is_none());
        let told = it.describe(3, "a.test", &was).unwrap();
        assert_eq!((told.proven, told.healed_from.as_deref()), (1, Some("button \"Find\"")));
        it.forget("a.test", &was).unwrap();
        assert!(it.describe(3, "a.test", &was).is_none());
    }

    #[test]
    fn no_host_crowds_out_another_and_damage_is_nothing() {
        let home = tempfile::tempdir().unwrap();
        let it = ElementMemory::new(home.path(), "");
        for _ in 0..2 {
            it.proven("good.test", &button("Buy"), &button("Order")).unwrap();
        }
        for n in 0..OF_A_HOST + 20 {
            it.proven("bad.test", &button(&format!("b{n}")), &button("x")).unwrap();
        }
        it.proven("bad.test", &button("long"), &button(&"x".repeat(LONGEST))).unwrap();
        assert!(it.get("good.test", &button("Buy")).is_some());
        assert_eq!(it.read().len(), OF_A_HOST + 1);
        files::write_atomic(home.path(), FILE, b"[{}]").unwrap();
        assert!(it.read().is_empty());
        it.proven("a.test", &button("a"), &button("b")).unwrap();
        assert_eq!(it.read().len(), 1);
    }
}
