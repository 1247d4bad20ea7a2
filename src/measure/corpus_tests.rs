//! The corpus is about this web: its two files name the same entries, and hosts that are served.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use url::Url;

use commis_artifacts::payloads::{Outcome, Reason};
use commis_learn::Source;
use commis_testbed::HOSTS;

/// What is right for an entry, as `corpus/expected.yaml` says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    outcome: Outcome,
    reason: Option<Reason>,
    method: Option<String>,
    url: Option<Url>,
    operation: Option<String>,
    #[serde(default)]
    parameters: BTreeSet<String>,
    #[serde(default)]
    extract_contains: Vec<String>,
    items: Option<String>,
    rows: Option<String>,
    kind: String,
}

#[test]
fn manifest_and_expectations_fit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let manifest = commis_batch::load(&folder.join("manifest.yaml"), false).unwrap();
    let text = std::fs::read_to_string(folder.join("expected.yaml")).unwrap();
    let mut expected: BTreeMap<String, Expected> = serde_saphyr::from_str(&text).unwrap();
    let served = |url: &Url| url.host_str().is_some_and(|host| HOSTS.contains(&host));
    let mut kinds = BTreeSet::new();
    for task in &manifest.tasks {
        let name = task.name.as_str();
        let right = expected.remove(name).unwrap_or_else(|| panic!("{name} is not expected"));
        let Source::Live { url, .. } = &task.source else { panic!("{name} has no url") };
        assert!(served(&Url::parse(url).unwrap()), "{name}: {url}");
        assert!(right.url.as_ref().is_none_or(served), "{name}: {:?}", right.url);
        assert_eq!(right.url.is_some(), right.method.is_some(), "{name}: method and url");
        if let Some(reason) = right.reason {
            assert_eq!(reason.outcome(), right.outcome, "{name}: {}", reason.as_str());
        }
        let learned = matches!(right.outcome, Outcome::Verified | Outcome::SavedDraft);
        assert_eq!(right.reason.is_none(), learned, "{name}: a reason");
        // Both examples of these find nothing.
        let shows = learned && !matches!(name, "shop-nothing" | "films-nothing");
        assert_eq!(right.extract_contains.len() >= 3, shows, "{name}: texts");
        if learned {
            let given: BTreeSet<String> = task.examples[0].keys().cloned().collect();
            assert_eq!(right.parameters, given, "{name}");
        }
        assert!(right.operation.is_none() || learned, "{name}: operation");
        // What is read on or asked for one by one, what no JSON path tells apart, what is not in the answer that was recorded, and files.
        let told = right.items.is_some() || right.rows.is_some();
        let untold = [
            "cogs-parts",
            "crier-scrolled",
            "dossier-member",
            "estates-house",
            "gallery-more",
            "harbour-vessels",
            "inspections-export",
            "notices-search",
            "permits-file",
            "quarries-stone",
        ];
        assert!(told == learned || untold.contains(&name), "{name}: all of the data");
        kinds.insert(right.kind);
    }
    assert!(expected.is_empty(), "no entries: {:?}", expected.keys());
    assert!(manifest.tasks.len() >= 65 && kinds.len() >= 37, "{} kinds", kinds.len());
}
