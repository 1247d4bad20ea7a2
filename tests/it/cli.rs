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
        ("[learning]\nmax_seconds = 0\n", "between 1 and 3600"),
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

#[test]
fn a_setting_is_changed_and_the_rest_kept() {
    let home = Home::new();
    let config = home.path().join("config.toml");
    let said = |args: &[&str]| String::from_utf8(home.run(args).stdout).unwrap();
    assert_eq!(said(&["settings", "path"]).trim(), config.to_str().unwrap());
    let text = "# mine\n[learning]\npace_ms = 100 # slowly\n";
    write(&config, text);
    for (args, exit, part) in [
        (&["set", "learning.pace_ms", "500"][..], 0, ""),
        (&["set", "egress.allowed_ports", "[8443]"], 0, ""),
        (&["set", "model.name", "small"], 0, ""),
        (&["set", "learning.pace_ms", "fast"], 2, "SETTINGS_INVALID"),
        (&["set", "learning.max_seconds", "0"], 2, "SETTINGS_INVALID"),
        (&["set", "browser.args", "['--no-sandbox']"], 2, "SETTINGS_INVALID"),
        (&["set", "mood.good", "1"], 2, "SETTINGS_INVALID"),
        (&["set", "mood", "1"], 2, "USAGE"),
        (&["unset", "model.name"], 0, ""),
    ] {
        let out = home.run(&[&["settings"], args].concat());
        let err = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(exit), "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: {err}");
    }
    let after = std::fs::read_to_string(&config).unwrap();
    assert!(after.starts_with("# mine\n[learning]\npace_ms = 500 # slowly\n"), "{after}");
    assert!(after.contains("allowed_ports = [8443]") && !after.contains("small"), "{after}");
    let shown = said(&["settings", "show", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["learning"]["pace_ms"], 500);
    assert_eq!(shown["learning"]["max_replays"], 24);
    // What is shown can be put into the file.
    let toml = said(&["settings", "show"]);
    write(&config, &toml);
    assert_eq!(said(&["settings", "show"]), toml);
}

#[test]
fn completions_and_manual_name_every_command() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let out = String::from_utf8(home.run(&["completions", shell]).stdout).unwrap();
        assert!(out.contains("COMPLETE") && out.contains("commis"), "{shell}: {out}");
    }
    // What a shell asks then: the word that is begun is the last.
    let offered = |words: &[&str]| {
        let at = (words.len() - 1).to_string();
        let mut command = home.command(&[&["--", "commis"], &words[1..]].concat());
        command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", at).env("_CLAP_IFS", "\n");
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    for (words, expected) in [
        (&["commis", "recipe", "learn-b"][..], "learn-batch"),
        (&["commis", "run", "hn-se"], "hn-search"),
        (&["commis", "run", "hn-search", "-p", "qu"], "query="),
    ] {
        let all = offered(words);
        assert!(all.lines().any(|it| it == expected), "{words:?}: {all}");
    }
    let folder = home.path().join("man1");
    std::fs::create_dir(&folder).unwrap();
    let out = home.run(&["man", folder.to_str().unwrap()]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let page = std::fs::read_to_string(folder.join("commis-recipe-run.1")).unwrap();
    assert!(page.contains("Example") && page.contains("commis"), "{page}");
    assert!(folder.join("commis.1").exists() && !folder.join("commis-corpus.1").exists());
}

#[test]
fn colours_are_for_terminals() {
    let home = Home::new();
    let error =
        |args: &[&str]| home.run(&[args, &["recipe", "get", "nothing-here"]].concat()).stderr;
    let coloured = |args: &[&str]| error(args).contains(&0x1b);
    assert!(!coloured(&[]));
    assert!(!coloured(&["--color", "never"]));
    assert!(coloured(&["--color", "always"]));
}

#[test]
fn what_happened_is_in_a_log_without_secrets() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    write(
        &home.path().join("m.yaml"),
        "version: 1\nrecipes:\n  - { name: a, task: 'Look at {q}', url: 'http://10.0.0.1/', examples: [{ q: x }] }\n",
    );
    let manifest = home.path().join("m.yaml");
    let learn = ["recipe", "learn-batch", "--no-network", "--manifest", manifest.to_str().unwrap()];
    let quiet = home.run(&learn);
    assert!(!String::from_utf8_lossy(&quiet.stderr).contains("task ended"));
    let secret = "sk-proj-Zk3vQ9xT7bLm2pWc8RfYhN4sZk3vQ9xT7bLm2pWc8RfYhN4s";
    home.run(&["recipe", "get", secret]);
    let told = home.run(&[&learn[..], &["--resume", "-v"]].concat());
    assert!(String::from_utf8_lossy(&told.stderr).contains("task ended"));

    let folder = home.path().join("logs");
    let mode = |it: &std::path::Path| std::fs::metadata(it).unwrap().permissions().mode() & 0o777;
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains(secret), "{text}");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let ended = lines.iter().find(|it| it["fields"]["message"] == "task ended").unwrap();
    assert_eq!(ended["fields"]["why"], "NETWORK_DISABLED", "{ended}");
    assert!(ended["fields"]["task_id"].as_str().unwrap().starts_with("a-"), "{ended}");
    // A run is not slowed by it.
    let runs = Home::new();
    runs.run(&["recipe", "run", "nothing-here"]);
    assert!(!runs.path().join("logs").exists());
}
