//! Several requests in a row: learned on a site whose data is asked for by a number that only an earlier answer tells, and run.

use serde_json::json;

use crate::support::{Home, Web, has_chromium, write};

const STEPS: &str = "
- fill: {role: textbox, name: Crew, value: '{crew}'}
- click: {role: button, name: Show roster}
- wait_for: {selector: '#roster tr'}
";

#[test]
fn two_requests_are_learned_as_steps_and_a_choice_is_never_a_guess() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    let at = ["--test-host", &web.test_host];
    let steps = home.path().join("steps.yaml");
    write(&steps, STEPS);
    let learn = [
        "recipe",
        "learn",
        "--url",
        "http://rosters.test/",
        "--steps",
        steps.to_str().unwrap(),
        "--task",
        "Show the roster of the crew {crew} with officers and boats",
        "--name",
        "roster",
        "-p",
        "crew=North pier",
        "--second",
        "crew=Dry dock",
        "--json",
    ];
    let (code, entry) = home.json(&[&learn[..], &at].concat());
    assert_eq!((code, &entry["outcome"]), (0, &json!("verified")), "{entry}");

    let run = |crew: &str| {
        let value = format!("crew={crew}");
        home.json(&[&["recipe", "run", "roster", "-p", &value, "--json"][..], &at].concat())
    };
    let (code, other) = run("lighthouse");
    assert_eq!((code, &other["items"]), (0, &json!(6)), "{other}");
    assert_ne!(other["data"], run("North pier").1["data"]);
    // Two crews have that name: which is meant is said, and no roster is given.
    let (code, ambiguous) = run("South mole");
    assert_eq!((code, &ambiguous["error_code"]), (1, &json!("CHOICE_AMBIGUOUS")), "{ambiguous}");
    let why = ambiguous["error"].as_str().unwrap();
    assert!(why.contains("Eskholm") && why.contains("Norby"), "{why}");
    assert!(ambiguous["data"].is_null());
    let (code, nobody) = run("West gate");
    assert_eq!((code, &nobody["error_code"]), (1, &json!("NOT_FOUND")), "{nobody}");

    let said = |args: &[&str]| {
        let out = home.run(&[args, &at].concat());
        String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned()
    };
    let explained = said(&["recipe", "explain", "roster"]);
    assert!(explained.contains("takes the one item with name = {crew}"), "{explained}");
    let shown = said(&["recipe", "dry-run", "roster", "-p", "crew=Dry dock"]);
    assert!(shown.contains("GET http://rosters.test/api/crews\n"), "{shown}");
    assert!(shown.contains("<from step crews: number>"), "{shown}");
    let exported = said(&["recipe", "export", "roster", "--as", "curl"]);
    assert!(exported.contains("several requests"), "{exported}");
    let (code, proven) = home.json(&[&["recipe", "verify", "roster", "--json"][..], &at].concat());
    assert_eq!((code, &proven[0]["result"]["verified"]), (0, &json!(true)), "{proven}");
}
