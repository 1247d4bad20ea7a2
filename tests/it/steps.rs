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
    let exported = said(&["recipe", "export", "roster", "--as", "hurl"]);
    assert!(exported.contains("[Captures]\ncrews_number: "), "{exported}");
    assert!(exported.contains("/api/crews/{{crews_number_in_path}}/roster"), "{exported}");
    let exported = said(&["recipe", "export", "roster", "--as", "curl", "-p", "crew=Dry dock"]);
    assert!(exported.contains("$(_uri "), "{exported}");
    let (code, proven) = home.json(&[&["recipe", "verify", "roster", "--json"][..], &at].concat());
    assert_eq!((code, &proven[0]["result"]["verified"]), (0, &json!(true)), "{proven}");
}

/// Learns a task of `stalls.test` on two values, and returns what came of it.
fn learn_stalls(
    home: &Home,
    at: &[&str],
    (name, task, steps): (&str, &str, &str),
    values: (&str, &str),
) -> (i32, serde_json::Value) {
    let file = home.path().join(format!("{name}.yaml"));
    write(&file, steps);
    let args = [
        "recipe",
        "learn",
        "--url",
        "http://stalls.test/",
        "--steps",
        file.to_str().unwrap(),
        "--task",
        task,
        "--name",
        name,
        "-p",
        values.0,
        "--second",
        values.1,
        "--json",
    ];
    home.json(&[&args[..], at].concat())
}

#[test]
fn the_ids_of_a_list_go_into_one_request() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    let at = ["--test-host", &web.test_host];
    let steps = |field: &str, button: &str, says: &str, name: &str| {
        format!(
            "- fill: {{role: textbox, name: {field}, value: '{{{name}}}'}}\n\
             - click: {{role: button, name: {button}}}\n- wait_for: {{text: '{says} {{{name}}}'}}\n"
        )
    };
    let market = steps("Market", "Show prices", "Prices in", "market");
    let task = "Show the prices of all stalls in the market {market}";
    let asked = ("prices", task, &*market);
    let (code, entry) = learn_stalls(&home, &at, asked, ("market=kalvik", "market=norby"));
    assert_eq!((code, &entry["outcome"]), (0, &json!("verified")), "{entry}");
    let run = |name: &str, value: &str| {
        home.json(&[&["recipe", "run", name, "-p", value, "--json"][..], &at].concat())
    };
    let (code, other) = run("prices", "market=norhaven");
    assert_eq!((code, &other["items"]), (0, &json!(6)), "{other}");
    // A market without stalls has no prices, and none is asked for.
    let (code, none) = run("prices", "market=eskholm");
    assert_eq!((code, &none["data"]), (0, &json!([])), "{none}");
    let out = home.run(&[&["recipe", "explain", "prices"][..], &at].concat());
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.contains("all items of its answer, with `,` between them"), "{said}");

    let auction = steps("Auction", "Show bids", "Bids of", "auction");
    let asked = ("bids", "Show the bids of the auction {auction}", &*auction);
    let (code, entry) = learn_stalls(&home, &at, asked, ("auction=spring", "auction=autumn day"));
    assert_eq!((code, &entry["outcome"]), (0, &json!("verified")), "{entry}");
    let (code, bids) = run("bids", "auction=winters");
    assert_eq!((code, &bids["items"]), (0, &json!(6)), "{bids}");

    // What the user types is no chain, though a list of the page holds each number.
    let numbers = steps("Stall numbers", "Compare stalls", "Comparison of", "numbers");
    let asked = ("compare", "Compare the stalls {numbers}", &*numbers);
    let (code, entry) = learn_stalls(&home, &at, asked, ("numbers=3,5,9", "numbers=2,7,11,12"));
    assert_eq!((code, &entry["outcome"]), (0, &json!("verified")), "{entry}");
    let (_, recipe) = home.json(&["recipe", "get", "compare", "--json"]);
    assert_eq!(recipe["version"], 1, "{recipe}");
}

#[test]
fn an_answer_that_is_made_while_the_page_asks_again_is_polled() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    let at = ["--test-host", &web.test_host];
    let steps = home.path().join("kiln.yaml");
    write(
        &steps,
        "- fill: {role: textbox, name: Clay, value: '{clay}'}\n- click: {role: button, name: Plan}\n\
         - wait_for: {text: 'Firings for {clay}'}\n",
    );
    let learn = [
        "recipe",
        "learn",
        "--url",
        "http://kiln.test/",
        "--steps",
        steps.to_str().unwrap(),
        "--task",
        "Plan the firings for {clay} with glaze, cone and hours",
        "--name",
        "firings",
        "-p",
        "clay=stoneware",
        "--second",
        "clay=raku",
        "--json",
    ];
    let (code, entry) = home.json(&[&learn[..], &at].concat());
    assert_eq!((code, &entry["outcome"]), (0, &json!("verified")), "{entry}");
    let (_, recipe) = home.json(&["recipe", "get", "firings", "--json"]);
    let polls: Vec<_> = recipe["steps"].as_array().unwrap().iter().map(|it| &it["poll"]).collect();
    assert_eq!(polls[1], &json!({"until": "state == `\"ready\"`"}), "{recipe}");
    let run = ["recipe", "run", "firings", "-p", "clay=porcelain", "--json"];
    let (code, out) = home.json(&[&run[..], &at].concat());
    assert_eq!((code, &out["items"]), (0, &json!(6)), "{out}");
}
