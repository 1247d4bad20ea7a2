//! Bad input gets a stable code, a hint and an exit code, and nothing is lost.

use crate::support::{Home, write};

#[test]
fn mistakes_are_named() {
    let home = Home::new();
    write(
        &home.path().join("bad.yaml"),
        "version: 1\nrecipes:\n  - { name: a, task: t, url: 'http://a.test/', nope: 1 }\n",
    );
    write(
        &home.path().join("secret.yaml"),
        "version: 1\nrecipes:\n  - { name: a, task: 'log in with password=hunter2hunter2', url: 'http://a.test/' }\n",
    );
    write(&home.path().join("cut.har"), "{\"log\": {\"entries\": [");
    let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["recipe", "run", "nothing-here"], 2, "RECIPE_NOT_FOUND"),
        (&["recipe", "run", "../../etc/passwd"], 2, "RECIPE_INVALID"),
        (&["recipe", "get", "nothing-here"], 2, "RECIPE_NOT_FOUND"),
        (&["recipe", "delete", "nothing-here"], 2, "RECIPE_NOT_FOUND"),
        (&["recipe", "debug", "--task-id", "nothing"], 2, "TASK_NOT_FOUND"),
        (&["recipe", "debug", "--task-id", "../x"], 2, "TASK_NOT_FOUND"),
        (&["recipe", "learn-batch", "--manifest", &at("absent.yaml")], 2, "USAGE"),
        (&["recipe", "learn-batch", "--manifest", &at("bad.yaml")], 2, "MANIFEST_INVALID"),
        (&["recipe", "learn-batch", "--manifest", &at("secret.yaml")], 2, "SECRET_IN_TASK"),
        (&["recipe", "learn", "--har", &at("cut.har"), "--task", "x"], 1, "HAR_INVALID"),
        (&["recipe", "learn", "--har", &at("cut.har"), "--task", "x", "-p", "oops"], 2, "USAGE"),
        (
            &["--test-host", "intranet.corp=127.0.0.1:80", "recipe", "run", "x"],
            2,
            "RECIPE_NOT_FOUND",
        ),
        (&["--test-host", "intranet.corp=127.0.0.1:80", "doctor"], 2, "SETTINGS_INVALID"),
    ];
    for (args, exit, code) in cases {
        let out = home.run(args);
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(*exit), "{args:?}: {text}");
        assert!(text.contains(&format!("[{code}]")), "{args:?}: {text}");
        assert!(text.contains("hint: ") || *code == "USAGE", "{args:?}: {text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[test]
fn settings_are_checked() {
    let home = Home::new();
    for (text, part) in [
        ("[ranking.weights]\nmood = 3\n", "no signal `mood`"),
        ("[ranking\n", "config.toml"),
        ("[browser]\nraw_args = ['--no-sandbox']\n", "raw_args"),
    ] {
        write(&home.path().join("config.toml"), text);
        let out = home.run(&["recipe", "list"]);
        let err = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{err}");
        assert!(err.contains(part) && err.contains("[SETTINGS_INVALID]"), "{err}");
    }
}

#[test]
fn a_missing_browser_says_how_to_get_one() {
    let home = Home::new();
    write(
        &home.path().join("m.yaml"),
        "version: 1\nrecipes:\n  - { name: a, task: t, url: 'http://shop.test/' }\n",
    );
    let manifest = home.path().join("m.yaml");
    let out = home
        .command(&["recipe", "learn-batch", "--testbed", "--manifest", manifest.to_str().unwrap()])
        .env("COMMIS_CHROMIUM", "/nowhere/chromium")
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(3), "{text}");
    assert!(text.contains("BROWSER_MISSING"), "{text}");
}

#[test]
fn settings_cannot_weaken_the_browser() {
    let home = Home::new();
    for (line, why) in [
        ("args = ['--no-sandbox']", "sandbox"),
        ("args = ['--remote-debugging-port=9222']", "debugging port"),
        ("args = ['--anything']", "not allowed"),
        ("cdp_url = 'http://127.0.0.1:9222'", "not offered"),
        ("ignore_https_errors = true", "not offered"),
    ] {
        write(&home.path().join("config.toml"), &format!("[browser]\n{line}\n"));
        let out = home.run(&["recipe", "run", "shop-search"]);
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{line}: {text}");
        assert!(text.contains("SETTINGS_INVALID") && text.contains(why), "{line}: {text}");
    }
}

#[test]
fn recipes_are_listed_shown_and_deleted() {
    let home = Home::new();
    home.recipe(
        "mine",
        "version: 1\nname: mine\ntask: Mine\nstatus: draft\nsource_url: http://shop.test/\nrequest:\n  method: GET\n  url: http://shop.test/\n  allowed_domains: [shop.test]\nresponse: { type: text }\n",
    );
    home.recipe("broken", "version: [");
    let (code, list) = home.json(&["recipe", "list", "--json", "--source", "user"]);
    assert_eq!(code, 0);
    let names: Vec<_> =
        list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap_or("?")).collect();
    assert!(names.contains(&"mine") && list.as_array().unwrap().len() == 2, "{list}");
    assert!(
        String::from_utf8_lossy(&home.run(&["recipe", "get", "mine"]).stdout)
            .contains("name: mine")
    );
    let out = home.run(&["recipe", "run", "mine"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("[RECIPE_NOT_VERIFIED]"));
    assert_eq!(home.run(&["recipe", "delete", "mine"]).status.code(), Some(0));
    assert_eq!(home.run(&["recipe", "get", "mine"]).status.code(), Some(2));
}
