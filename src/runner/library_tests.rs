//! Every library recipe against its case by hand, and against real answers where they are at hand.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use crate::extract::{Extraction, HttpAnswer, extract, fingerprint, similarity_bp};
use commis_net::egress::site_of;
use commis_recipe::{
    json_schema::{answer_schema, data_schema, validate::CompiledSchema},
    library::{NAMES, text},
    model::{ParamSource, Recipe, Status, TransportKind, Verification},
    request::{CompiledRequest, bind},
    shape::profile::Profile,
    yaml,
};

fn all() -> impl Iterator<Item = Recipe> {
    NAMES
        .iter()
        .map(|it| yaml::parse(text(it).unwrap()).unwrap_or_else(|err| panic!("{it}: {err}")))
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../recipe/library"))
}

#[test]
fn the_table_is_the_folder() {
    assert!(NAMES.is_sorted());
    let stems = |folder: &Path, ending: &str| {
        let mut out: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|it| {
                let name = it.unwrap().file_name().into_string().unwrap();
                name.strip_suffix(ending).map(str::to_owned)
            })
            .collect();
        out.sort();
        out
    };
    assert_eq!(stems(folder(), ".yaml"), NAMES);
    assert_eq!(stems(&folder().join("cases"), ".json"), NAMES);
}

#[test]
fn what_every_library_recipe_has() {
    let mut categories: BTreeMap<String, u32> = BTreeMap::new();
    for (name, it) in NAMES.iter().zip(all()) {
        assert_eq!(it.name.as_str(), *name);
        assert_eq!((it.status, it.verification.as_ref()), (Status::Draft, None), "{name}");
        assert_eq!((it.request.method.as_str(), &it.request.body), ("GET", &None), "{name}");
        assert!(it.slots.is_empty() && it.request.url.starts_with("https://"), "{name}");
        assert!(it.source_url.starts_with("https://") && it.own_host.is_none(), "{name}");
        assert_eq!(it.request.allowed_sites, [site_of(&it.request.url)], "{name}");
        assert_eq!(it.request.allowed_domains.len(), 1, "{name}: no more hosts than its own");
        assert!(it.response.extract.is_some() && !it.response.required_paths.is_empty(), "{name}");
        *categories.entry(it.category.clone().expect(name)).or_default() += 1;
        let request = CompiledRequest::new(&it.request).unwrap();
        for parameter in &it.parameters {
            let what = format!("{name}: {}", parameter.name);
            assert!(request.names().contains(&parameter.name.as_str()), "{what} is not used");
            assert_eq!(parameter.source, ParamSource::TaskInput, "{what}");
            assert_eq!(parameter.required, parameter.default.is_none(), "{what}");
            assert!(!parameter.constraints.is_empty(), "{what} is not bounded");
            assert!(
                parameter.examples.len() == 2 && parameter.examples[0] != parameter.examples[1],
                "{what} needs two examples"
            );
            if parameter.required {
                assert!(it.task.contains(&format!("{{{}}}", parameter.name)), "{what}");
            }
        }
    }
    assert!(NAMES.len() >= 24 && categories.len() >= 5, "{categories:?}");
}

/// Reads an answer as a run would; the data, its fingerprint.
fn read(recipe: &Recipe, answer: &Value) -> (Extraction, Vec<String>) {
    let body = serde_json::to_vec(answer).unwrap();
    let out = extract(&recipe.response, HttpAnswer::from_body("application/json", &body))
        .unwrap_or_else(|err| panic!("{}: {err}", recipe.name));
    let shape = fingerprint(&recipe.response, &out);
    (out, shape)
}

#[test]
fn cases_by_hand() {
    for recipe in all() {
        let name = &recipe.name;
        let path = folder().join(format!("cases/{name}.json"));
        let case: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let request = CompiledRequest::new(&recipe.request).unwrap();
        let sides = ["a", "b"].map(|side| {
            let it = &case[side];
            let values: BTreeMap<String, String> =
                serde_json::from_value(it["values"].clone()).unwrap();
            let values = bind(&recipe, &values, &BTreeMap::new()).unwrap();
            let sent = request.fill(&values).unwrap();
            assert_eq!(sent.url, it["url"].as_str().unwrap(), "{name} {side}");
            let (out, shape) = read(&recipe, &it["answer"]);
            assert_eq!(out.data, it["data"], "{name} {side}");
            assert!(out.items.is_none_or(|it| it > 0), "{name} {side}");
            // What is required is missed when it is gone.
            let error = serde_json::to_vec(&serde_json::json!({"error": "no"})).unwrap();
            assert!(
                extract(&recipe.response, HttpAnswer::from_body("application/json", &error))
                    .is_err(),
                "{name}"
            );
            (out.data, shape)
        });
        assert_ne!(sides[0].0, sides[1].0, "{name}: B must differ from A");
        let alike = similarity_bp(&recipe.response, &sides[0].1, &sides[1].1);
        assert!(alike >= crate::MIN_SIMILARITY_BP, "{name}: {alike}");
    }
}

/// Recipe, recording, part of the URL whose answer it holds, and how many items a good reading finds at least.
const REAL: &[(&str, &str, &str, u64)] = &[
    ("deribit-instruments", "deribit-instruments", "/public/get_instruments", 2),
    ("gbif-literature", "gbif-literature", "/literature/search", 10),
    ("gbif-species", "gbif-species-suggest", "/species/suggest", 10),
    ("hn-newest", "hn-algolia-search-stories", "/search_by_date", 10),
    ("hn-search", "hn-algolia-search-stories", "/search_by_date", 10),
    ("inaturalist-observations", "inaturalist-get-observations", "/v1/observations?", 1),
    ("lichess-broadcasts", "lichess-broadcasts", "/broadcast/search", 10),
    ("lichess-teams", "lichess-team-search", "/team/search", 10),
    ("media-ccc-talks", "media-ccc-search", "/events/search", 10),
    ("musicbrainz-tracks", "musicbrainz-release", "/ws/2/release/", 5),
    ("obis-occurrences", "obis-occurrences", "/v3/occurrence", 3),
    ("place-search", "nominatim-geocode", "format=geojson", 5),
    ("plos-search", "plos-search", "rows=200", 100),
    ("remotive-jobs", "remotive-jobs-devops", "/api/remote-jobs", 10),
    ("usgs-earthquakes", "usgs-earthquakes-search", "minmagnitude=6.6", 1),
];

#[test]
fn real_answers() {
    let Some(hars) = commis_base::testing::shared("realworld/hars") else { return };
    let (mut held, mut unlike) = (0, Vec::new());
    for (name, file, part, at_least) in REAL {
        let recipe = yaml::parse(text(name).unwrap()).unwrap();
        let har = std::fs::read(hars.join(format!("{file}.har"))).unwrap();
        let har: Value = serde_json::from_slice(&har).unwrap();
        let entries = har["log"]["entries"].as_array().unwrap();
        let url = |it: &Value| it["request"]["url"].as_str().unwrap().to_owned();
        let entry = entries.iter().find(|it| url(it).contains(part)).expect(name);
        let answer: Value =
            serde_json::from_str(entry["response"]["content"]["text"].as_str().unwrap()).unwrap();
        let (out, _) = read(&recipe, &answer);
        assert!(out.items >= Some(*at_least), "{name}: {:?}", out.items);
        // What a part of the items tells is true of the others, and of the answer.
        let all = out.data.as_array().unwrap();
        for part in [1, 3, all.len() / 2, all.len() * 3 / 4] {
            let mut profile = Profile::default();
            profile.observe(&all[..part.min(all.len())].to_vec().into());
            let mut known = recipe.clone();
            known.verification = Some(proof(profile));
            held += 1;
            let declared = data_schema(&known, None);
            if let Some(at) = CompiledSchema::compile(&declared).violation(&out.data) {
                unlike.push(format!("{name}, {part} of {}: {at}", all.len()));
            }
            let declared = answer_schema(&known).unwrap().schema;
            if let Some(at) = CompiledSchema::compile(&declared).violation(&answer) {
                unlike.push(format!("{name}, whole, {part} of {}: {at}", all.len()));
            }
        }
        // Each field that the case by hand has is somewhere in the real answer, too.
        let first = &out.data[0];
        let empty: Vec<&String> = first
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| out.data.as_array().unwrap().iter().all(|it| it[*key].is_null()))
            .collect();
        // One recording asked for ids only, the other's stories are questions, which have no URL.
        let excused = matches!(*name, "plos-search" | "hn-newest" | "hn-search");
        assert!(empty.is_empty() || excused, "{name}: nothing has {empty:?}");
    }
    eprintln!("declared of a part: {held} times, not so {}: {unlike:#?}", unlike.len());
    assert!(unlike.len() * 20 < held, "{unlike:#?}");
}

fn proof(profile: Profile) -> Verification {
    Verification {
        fingerprint_version: 1,
        fingerprint_sha256: String::new(),
        shape: Vec::new(),
        profile: Some(profile),
        verified_at: None,
        transport: TransportKind::PublicHttp,
        requires_session: false,
        browser_ms: None,
        witness: None,
        proof: None,
        complete: None,
        substitute: None,
        first_page: None,
        examples: Vec::new(),
    }
}
