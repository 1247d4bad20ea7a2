//! The targets on stable and in bounded time: every seed, and mutations of seeds with words of the dictionary.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use super::*;

/// One input: far more than any takes, and far less than what a bomb does.
const LONGEST: Duration = Duration::from_secs(20);

fn folder(what: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../fuzz", what].iter().collect()
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut folders = vec![folder("seeds").join(target)];
    if target == "artifact" {
        folders.push([env!("CARGO_MANIFEST_DIR"), "../../tests/golden/har-books"].iter().collect());
    }
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|it| std::fs::read_dir(it).unwrap())
        .map(|it| it.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(|it| std::fs::read(it).unwrap()).collect()
}

/// The dictionary's lines: JSON strings, which libFuzzer reads the same as long as nothing but `"` and `\` is escaped.
fn words(target: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder("dict").join(format!("{target}.dict"))).unwrap();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

#[derive(Clone, Debug)]
enum Edit {
    Remove(usize),
    Repeat(usize),
    Byte(u8),
    Word(prop::sample::Index),
    /// The end of another seed.
    Splice(prop::sample::Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (1..40_usize).prop_map(Edit::Remove),
        (1..40_usize).prop_map(Edit::Repeat),
        any::<u8>().prop_map(Edit::Byte),
        any::<prop::sample::Index>().prop_map(Edit::Word),
        any::<prop::sample::Index>().prop_map(Edit::Splice),
    ]
}

struct Input(Vec<u8>);

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

fn mutated(
    seeds: &[Vec<u8>],
    words: &[String],
    first: prop::sample::Index,
    edits: &[(prop::sample::Index, Edit)],
) -> Input {
    let mut out = first.get(seeds).clone();
    for (place, edit) in edits {
        let at = place.index(out.len() + 1);
        let until = |len: usize| (at + len).min(out.len());
        match edit {
            Edit::Remove(len) => drop(out.drain(at..until(*len))),
            Edit::Repeat(len) => {
                let again = out[at..until(*len)].to_vec();
                out.splice(at..at, again);
            }
            Edit::Byte(byte) => drop(out.splice(at..until(1), [*byte])),
            Edit::Word(word) => drop(out.splice(at..at, word.get(words).bytes())),
            Edit::Splice(seed) => {
                let other = seed.get(seeds);
                out.truncate(at);
                out.extend(&other[at.min(other.len())..]);
            }
        }
    }
    Input(out)
}

fn check(name: &str) {
    let (_, target) = TARGETS.iter().find(|it| it.0 == name).unwrap();
    let timed = |input: &[u8]| {
        let start = Instant::now();
        target(input);
        let took = start.elapsed();
        assert!(took < LONGEST, "{took:?} for {:?}", input.escape_ascii().to_string());
    };
    let (seeds, words) = (seeds(name), words(name));
    for seed in &seeds {
        timed(seed);
    }
    // 256 mutations, or as many as PROPTEST_CASES says, and the same every time: exploring is `ci/fuzz`'s business. What fails
    // there becomes a seed.
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let edits = prop::collection::vec((any::<prop::sample::Index>(), edit()), 1..8);
    let inputs = (any::<prop::sample::Index>(), edits)
        .prop_map(|(first, edits)| mutated(&seeds, &words, first, &edits));
    runner
        .run(&inputs, |input| {
            timed(&input.0);
            Ok(())
        })
        .unwrap_or_else(|err| panic!("{name}: {err}"));
}

macro_rules! targets_hold {
    ($($test:ident: $target:literal,)*) => {
        $(#[test] fn $test() { check($target); })*
        const TESTED: &[&str] = &[$($target),*];
    };
}

targets_hold! {
    any_artifact_is_read_or_refused: "artifact",
    any_document_is_searched_in_time: "extract",
    frames_read_as_they_were_recorded: "framing",
    any_har_is_imported_or_refused: "har",
    any_description_is_a_draft_or_refused: "import",
    any_manifest_is_read_or_refused: "manifest",
    any_recipe_is_read_or_refused: "recipe",
    a_planted_secret_never_comes_out: "redact",
    a_value_stays_in_its_place: "template",
    allowed_urls_read_back_and_redirects_stay: "url",
}

#[test]
fn every_target_has_a_test_a_binary_and_seeds() {
    for (name, _) in TARGETS {
        assert!(TESTED.contains(name), "{name}");
        assert!(folder("fuzz_targets").join(format!("{name}.rs")).exists(), "{name}");
        assert!(!seeds(name).is_empty() && !words(name).is_empty(), "{name}");
    }
}
