//! What recipes of the corpus declare of their answers, held to all answers that a case has.

use std::path::Path;

use serde_json::Value;

use super::*;
use crate::eval::case::names;
use commis_artifacts::payloads::VerificationReport;
use commis_recipe::{
    json_schema::{answer_schema, data_schema, input_schema, validate::CompiledSchema},
    model::{Recipe, ResponseType, TransportKind, Verification},
    shape::profile::Profile,
    yaml,
};

/// The parts of a published recipe that schemas are made of.
fn recipe(draft: &RecipeDraftMinimized, report: &VerificationReport, profile: Profile) -> Recipe {
    let mut out = yaml::parse(
        "{version: 1, name: x, task: t, status: draft, source_url: 'https://a.com/', \
         request: {method: GET, url: 'https://a.com/', allowed_domains: [a.com]}, response: {type: json}}",
    )
    .unwrap();
    let is_kept = |it: &&commis_recipe::model::Parameter| !report.frozen.contains(&it.name);
    out.parameters = draft.parameters.iter().filter(is_kept).cloned().collect();
    out.response = draft.response.clone();
    out.verification = Some(Verification {
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
    });
    // As it is written and read.
    let text = yaml::to_yaml(&out).unwrap();
    assert_eq!(serde_saphyr::from_str::<Recipe>(&text).unwrap(), out, "{text}");
    out
}

/// Values that a caller may give: each example, one with a value of another, the next page, and what nobody has.
fn calls(case: &Case, draft: &RecipeDraftMinimized) -> Vec<BTreeMap<String, String>> {
    let mut out = vec![draft.first.clone()];
    let first = out[0].clone();
    out.extend(draft.second.clone());
    out.extend(case.metadata.further.clone());
    for it in &draft.parameters {
        let mut one = first.clone();
        if it.required {
            let others = draft.second.iter().filter_map(|second| second.get(&it.name).cloned());
            for other in others.chain(["zzzqx".to_owned()]) {
                one.insert(it.name.clone(), other);
                out.push(one.clone());
            }
        } else if let Some(n) = it.default.as_ref().and_then(|it| it.parse::<i64>().ok()) {
            for other in [n + 1, n / 2] {
                one.insert(it.name.clone(), other.to_string());
                out.push(one.clone());
            }
        }
    }
    out
}

fn is_valid(schema: &Value, data: &Value) -> Result<(), String> {
    let theirs = jsonschema::draft202012::new(schema).unwrap();
    let ours = CompiledSchema::compile(schema).violation(data);
    assert_eq!(theirs.is_valid(data), ours.is_none(), "{schema} {data} {ours:?}");
    ours.map_or(Ok(()), Err)
}

fn median(mut all: Vec<usize>) -> usize {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0)
}

#[test]
fn answers_are_as_declared() {
    let corpus = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus"));
    let settings = Settings::default();
    let (mut verified, mut typed, mut held, mut wholes) = (0, 0, 0, 0);
    let (mut open, mut none) = (BTreeMap::new(), BTreeMap::new());
    let mut wrong = Vec::new();
    let mut unseen = BTreeMap::<&str, (u32, Vec<String>)>::new();
    let mut sizes = BTreeMap::<&str, Vec<usize>>::new();
    for name in names(corpus).unwrap() {
        let case = Case::read(&corpus.join(&name)).unwrap();
        let expect = Expectation {
            min_items: case.metadata.min_items,
            required_paths: case.metadata.required_paths.clone(),
            further: case.metadata.further.clone(),
        };
        let mut replayer = StubReplayer::new(&case.stubs, settings.learning.max_replays);
        let Ok(trace) = block_on(in_memory::run(
            &case.recording,
            &case.second,
            &settings,
            &expect,
            &mut replayer,
        )) else {
            continue;
        };
        let (Some(Judged::Done(draft)), Some(report)) = (&trace.parameterized, &trace.report)
        else {
            continue;
        };
        let Some(profile) = report.profile.clone().filter(|_| report.verified) else {
            assert!(!report.verified, "{name} was proven and kept nothing");
            assert_eq!(report.profile, None, "{name}");
            continue;
        };
        verified += 1;
        let answers: Vec<Extraction> = calls(&case, draft)
            .iter()
            .filter_map(|values| {
                let reply = answer(&case, &trace, draft, values)?;
                commis_runner::check_status(&reply).ok()?;
                extract(&draft.response, HttpAnswer::from_body(&reply.mime(), &reply.body)).ok()
            })
            .collect();
        let full = recipe(draft, report, profile.clone());
        let schema = data_schema(&full, None);
        let text = schema.to_string();
        typed += u32::from(
            ["string", "integer", "number", "boolean"].iter().any(|it| text.contains(it)),
        );
        let mut size = |what, it: usize| sizes.entry(what).or_default().push(it);
        size("input_schema", input_schema(&full).to_string().len());
        size("data_schema", text.len());
        size("data_schema of 150", data_schema(&full, Some(150)).to_string().len());
        size("profile lines", profile.lines().len());
        let mut whole = Profile::default();
        answers.iter().filter_map(|it| it.whole.as_ref()).for_each(|it| whole.observe(it));
        if draft.response.extract.is_some() {
            size("profile lines where there is `extract`", profile.lines().len());
            size("profile lines of the whole answers of those", whole.lines().len());
        }
        for it in &answers {
            held += 1;
            for budget in [None, Some(150)] {
                if let Err(at) = is_valid(&data_schema(&full, budget), &it.data) {
                    wrong.push(format!("{name}: {at} is not as in {schema}"));
                }
            }
        }
        match answer_schema(&full) {
            Ok(declared) => {
                size("answer_schema", declared.schema.to_string().len());
                for it in declared.open {
                    *open.entry(it).or_insert(0) += 1;
                }
                for it in answers.iter().filter_map(|it| it.whole.as_ref()) {
                    wholes += 1;
                    if let Err(at) = is_valid(&declared.schema, it) {
                        wrong.push(format!("{name}: whole: {at} is not as in {}", declared.schema));
                    }
                }
            }
            Err(why) => *none.entry(why).or_insert(0) += 1,
        }
        assert!(
            draft.response.kind != ResponseType::Json || answer_schema(&full).is_ok(),
            "{name}"
        );
        // Of fewer answers than were seen.
        for (what, few) in [("of A alone", 1), ("of A and B", 2)] {
            let mut profile = Profile::default();
            answers.iter().take(few).for_each(|it| profile.observe(&it.data));
            let schema = data_schema(&recipe(draft, report, profile), None);
            let count = unseen.entry(what).or_default();
            for it in answers.iter().skip(few) {
                count.0 += 1;
                if let Err(at) = is_valid(&schema, &it.data) {
                    count.1.push(format!("{name}: {at}"));
                }
            }
        }
    }
    eprintln!("{verified} verified, {typed} with types, {held} answers held to them");
    eprintln!("{wholes} whole answers; none for {none:?}; left open: {open:?}");
    for (what, (all, violated)) in &unseen {
        eprintln!(
            "declared {what}: {} of {all} other answers are not so: {violated:?}",
            violated.len()
        );
    }
    for (what, all) in &sizes {
        eprintln!("{what}: median {}, most {}", median(all.clone()), all.iter().max().unwrap());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(verified > 30 && typed == verified);
    assert!(median(sizes["data_schema of 150"].clone()) <= 150);
}
