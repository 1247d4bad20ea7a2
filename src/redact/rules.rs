//! The rules of a walk, what it does with secrets, and its state.

use super::{
    class::{KeyClass, Place, SecretReason},
    keys::{self, classify},
    step_counter,
};
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError, RwLock},
};

/// What is done with a secret, and with text that is none by itself.
pub trait SecretSink {
    /// A secret found under `name`. The answer replaces it.
    fn secret(&mut self, name: &str, value: &str, why: SecretReason) -> Option<String>;
    /// Text in which known secrets may stand. The answer replaces it.
    fn replace_known(&mut self, text: &str) -> Option<String>;
    /// A long value under a name that says identifier, in a request: what only looks random elsewhere is no secret then.
    fn identifier(&mut self, _value: &str) {}
    /// Every rule was asked about this text of a JSON value. Returns whether one found a secret, as far as that is known.
    fn finish_value(&mut self, _value: &str) -> bool {
        true
    }
    /// What was replaced since the last call stands here: `header:NAME`, `query:NAME`, `json:/pointer`, `form:NAME`.
    fn stands_at(&mut self, _place: &str) {}
}

/// What the user and the task say about values. Each thread has its own: what was asked for is remembered.
#[derive(Clone)]
pub struct RedactRules {
    pub allow: Vec<String>,
    /// Lower case. Exempt from the entropy rule alone.
    typed: Vec<String>,
    /// By place, then by name; of all threads.
    classes: Arc<RwLock<BTreeMap<Place, BTreeMap<String, KeyClass>>>>,
    /// The same for names that were asked for lately, by their hash: one of them stands at each place. Made when enough names
    /// were asked for; a line of text has none.
    recent: RefCell<Vec<Option<CachedClass>>>,
    asked: Cell<u32>,
}

/// What a name at a place says.
type CachedClass = (Place, Box<str>, KeyClass);

const RECENT: usize = 4096;

const ENOUGH: u32 = 256;

/// How deep containers are opened: JSON in a form in a query is 3.
pub const MAX_OPEN: u32 = 5;

impl RedactRules {
    pub fn new<'a>(allow: &[String], typed: impl Iterator<Item = &'a str>) -> Self {
        Self {
            allow: allow.iter().map(|it| it.to_lowercase()).collect(),
            typed: typed.map(str::to_lowercase).filter(|it| it.len() >= 2).collect(),
            classes: Arc::default(),
            recent: RefCell::default(),
            asked: Cell::new(0),
        }
    }

    pub fn is_allowed(&self, key: &str) -> bool {
        !self.allow.is_empty() && self.allow.contains(&key.to_lowercase())
    }

    pub fn class(&self, key: &str, place: Place) -> KeyClass {
        if key.len() > keys::MAX_KEY {
            return KeyClass::Silent;
        }
        step_counter::record_bytes(key.len());
        let hash =
            key.bytes().fold(place as u32, |it, b| (it ^ u32::from(b)).wrapping_mul(0x0100_0193));
        let at = (hash ^ (hash >> 15)) as usize % RECENT;
        if let Some(Some((its, name, class))) = self.recent.borrow().get(at)
            && *its == place
            && **name == *key
        {
            return *class;
        }
        let class = self.classified(key, place);
        let mut recent = self.recent.borrow_mut();
        if recent.is_empty() {
            self.asked.set(self.asked.get() + 1);
            if self.asked.get() >= ENOUGH {
                recent.resize(RECENT, None);
            }
        } else if key.len() <= 64 {
            recent[at] = Some((place, key.into(), class));
        }
        class
    }

    fn classified(&self, key: &str, place: Place) -> KeyClass {
        let known = |classes: &BTreeMap<Place, BTreeMap<String, KeyClass>>| {
            classes.get(&place).and_then(|it| it.get(key)).copied()
        };
        // What a thread that ended badly has written is as good as any.
        if let Some(class) = known(&self.classes.read().unwrap_or_else(PoisonError::into_inner)) {
            return class;
        }
        let class = if self.is_allowed(key) { KeyClass::Harmless } else { classify(key, place) };
        let mut classes = self.classes.write().unwrap_or_else(PoisonError::into_inner);
        let classes = classes.entry(place).or_default();
        // A hostile answer with a million different keys must not fill the memory.
        if classes.len() < 20_000 {
            classes.insert(key.to_owned(), class);
        }
        class
    }

    pub fn was_typed(&self, value: &str) -> bool {
        let lower = value.to_lowercase();
        self.typed
            .iter()
            .any(|it| it.contains(&lower) || (lower.contains(it) && it.len() * 2 >= lower.len()))
    }
}

/// A traversal with one sink.
pub struct Walk<'a> {
    pub rules: &'a RedactRules,
    pub sink: &'a mut dyn SecretSink,
    /// The texts of this answer in which a rule found a secret in the first pass (see [`mark`]). In all others only secrets are
    /// left that are known from elsewhere.
    pub judged: Option<BTreeSet<u64>>,
    /// Words around an address say that it logs in, confirms, or the like.
    pub grants: bool,
}

impl<'a> Walk<'a> {
    pub fn new(rules: &'a RedactRules, sink: &'a mut dyn SecretSink) -> Self {
        Self { rules, sink, judged: None, grants: false }
    }
}
