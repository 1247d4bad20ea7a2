//! What was found out about a text, for the next time that it stands in the same JSON: in large answers most texts do.

/// Bounded: of texts that share a place the last one is kept.
pub struct Memo<'v, T> {
    slots: Vec<Option<(&'v str, T)>>,
    kept: usize,
}

const LEAST: usize = 64;
const MOST: usize = 8192;

impl<T: Copy> Default for Memo<'_, T> {
    fn default() -> Self {
        Self { slots: Vec::new(), kept: 0 }
    }
}

impl<'v, T: Copy> Memo<'v, T> {
    pub fn get(&self, text: &str) -> Option<T> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.place(text)].filter(|it| it.0 == text).map(|it| it.1)
    }

    pub fn keep(&mut self, text: &'v str, known: T) {
        if self.kept >= self.slots.len() && self.slots.len() < MOST {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![None; (4 * old.len()).clamp(LEAST, MOST)];
            for it in old.into_iter().flatten() {
                let place = self.place(it.0);
                self.slots[place] = Some(it);
            }
        }
        self.kept += 1;
        let place = self.place(text);
        self.slots[place] = Some((text, known));
    }

    fn place(&self, text: &str) -> usize {
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        let step = |it: u64, word: u64| (it.rotate_left(23) ^ word).wrapping_mul(ODD);
        let hash =
            words.iter().fold(text.len() as u64, |it, word| step(it, u64::from_le_bytes(*word)));
        let hash = step(hash, rest.iter().fold(0, |it, b| it << 8 | u64::from(*b)));
        (hash >> 40) as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_last_is_known() {
        let texts: Vec<String> = (0..20_000).map(|i| format!("{i} and some more text")).collect();
        let mut it = Memo::default();
        for (i, text) in texts.iter().enumerate() {
            assert_eq!(it.get(text), None);
            it.keep(text, i);
            assert_eq!(it.get(text), Some(i));
        }
        let known = texts.iter().enumerate().filter(|(i, text)| it.get(text) == Some(*i)).count();
        assert!(known > MOST / 2 && it.slots.len() == MOST, "{known}");
        assert!(texts.iter().enumerate().all(|(i, text)| it.get(text).is_none_or(|it| it == i)));
    }
}
