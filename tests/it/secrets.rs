//! Secrets in what the user gives, and in what goes wrong: refused, or at least not repeated.

use serde_json::json;

use crate::support::{Home, write};

const CANARY: &str = "ghp_Zk3vQ9xT7bLm2pWc8RfYhN4sAa5Bb6Cc7Dd8";

const URL: &str = "http://shop.test/";

/// Runs, and expects that nothing printed or kept holds the canary.
fn silent(home: &Home, args: &[&str]) -> (i32, String) {
    let out = home.run(args);
    let said =
        format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(!said.contains(CANARY), "{args:?}: {said}");
    for folder in ["artifacts", "recipes"] {
        below(&home.path().join(folder));
    }
    (out.status.code().unwrap_or(-1), said)
}

fn below(folder: &std::path::Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path);
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(CANARY), "{}", path.display());
        }
    }
}

#[test]
fn a_secret_in_a_task_is_refused_wherever_it_stands() {
    let home = Home::new();
    let har = home.path().join("a.har");
    let entry = json!({"request": {"method": "GET", "url": "http://shop.test/api?q=x", "headers": []},
        "response": {"status": 200, "headers": [], "content": {"mimeType": "application/json", "text": "{\"a\":1}"}}});
    write(&har, &json!({"log": {"entries": [entry]}}).to_string());
    let har = har.to_str().unwrap();
    let typed = format!("query={CANARY}");
    let task = format!("Search with {CANARY} for {{query}}");
    let plain = "Search for {query}";
    for args in [
        vec!["--task", &task, "-p", "query=x"],
        vec!["--task", plain, "-p", &typed],
        vec!["--task", plain, "-p", "query=x", "--second", &typed],
        // A short one gives itself away by its name.
        vec!["--task", "Log in with {password}", "-p", "password=hunter2x"],
    ] {
        let learn = ["recipe", "learn", "--har", har, "--no-network", "--json"];
        let (code, said) = silent(&home, &[&learn[..], &args].concat());
        assert!(code == 2 && said.contains("SECRET_IN_TASK"), "{args:?}: {said}");
    }
    // Asked for, it is used, and kept out of what is stored.
    let (_, said) = silent(
        &home,
        &[
            "recipe",
            "learn",
            "--har",
            har,
            "--no-network",
            "--json",
            "--task",
            plain,
            "-p",
            &typed,
            "--allow-task-secrets",
        ],
    );
    assert!(!said.contains("SECRET_IN_TASK"), "{said}");

    let field = |record: &str| {
        format!(
            "version: 1\nrecipes:\n  - name: one\n    task: Look around\n    url: http://shop.test/\n    record: [{record}]\n    examples: [{{}}]\n"
        )
    };
    for record in [
        format!("{{ fill: {{ role: textbox, name: Search, value: \"{CANARY}\" }} }}"),
        "{ fill: { role: textbox, name: Password, value: hunter2x } }".to_owned(),
        format!("{{ navigate: \"http://shop.test/?token={CANARY}\" }}"),
        format!("{{ wait_for: {{ text: \"{CANARY}\" }} }}"),
        format!("{{ click: {{ role: link, name: \"{CANARY}\" }} }}"),
    ] {
        let manifest = home.path().join("m.yaml");
        write(&manifest, &field(&record));
        let (code, said) = silent(
            &home,
            &["recipe", "learn-batch", "--manifest", manifest.to_str().unwrap(), "--json"],
        );
        assert!(code == 2 && said.contains("SECRET_IN_TASK"), "{record}: {said}");
    }
}

/// A password that nothing gives away but where it stands.
#[test]
fn what_is_wrong_with_a_file_is_told_without_its_lines() {
    const WORD: &str = "marmalade";
    let home = Home::new();
    let file = home.path().join("file.yaml");
    let path = file.to_str().unwrap();
    for steps in [
        format!("- fill: {{ label: Password, valu: {WORD} }}"),
        format!("- press: Enter\n- fill: \"{WORD} and \\\"{WORD}\\\"\""),
        format!("- fill: {{ label: Password, value: \"{WORD}"),
        format!("- fill: {{ label: [{WORD}], value: {WORD} }}"),
        format!("- wait_for: {WORD}"),
        format!("- dialog: {WORD}"),
        "- press: [83920617, marmalade]".to_owned(),
        format!("{WORD}: 1"),
    ] {
        let manifest = format!(
            "version: 1\nrecipes:\n  - name: a\n    task: t\n    url: {URL}\n    record:\n{}",
            steps.lines().flat_map(|it| ["      ", it, "\n"]).collect::<String>()
        );
        for (text, args) in [
            (
                &steps,
                &["recipe", "learn", "--url", URL, "--task", "Look", "--steps", path] as &[&str],
            ),
            (&manifest, &["recipe", "learn-batch", "--manifest", path]),
            (&manifest, &["recipe", "validate", path]),
        ] {
            write(&file, text);
            let (code, said) = silent(&home, args);
            // The name of a field, or of a step, is told: that is how one finds what is wrong.
            let is_name = steps.starts_with(WORD) && said.contains(&format!("`{WORD}`"));
            assert!(code != 0 && said.contains("hint: "), "{text}: {said}");
            assert!(is_name || !said.contains(WORD), "{text}: {said}");
        }
    }
    let mut logs = String::new();
    for it in std::fs::read_dir(home.path().join("logs")).unwrap() {
        logs += &std::fs::read_to_string(it.unwrap().path()).unwrap();
    }
    assert!(
        logs.contains("MANIFEST_INVALID") && !logs.contains(&format!("value: {WORD}")),
        "{logs}"
    );
}

#[test]
fn errors_do_not_repeat_secrets() {
    let home = Home::new();
    let file = |name: &str, text: &str| {
        write(&home.path().join(name), text);
        home.path().join(name).to_str().unwrap().to_owned()
    };
    let har = file("bad.har", &format!("{{\"log\": {{\"entries\": \"{CANARY}\"}}}}"));
    let cut = file(
        "cut.har",
        &format!(
            "{{\"log\": {{\"entries\": [{{\"request\": {{\"url\": \"http://shop.test/?token={CANARY}"
        ),
    );
    let manifest = file(
        "bad.yaml",
        &format!("version: 1\nrecipes:\n  - name: {CANARY}\n    token: {CANARY}\n"),
    );
    let odd = file("odd.yaml", &format!("version: {CANARY}\n"));
    let recipe = file(
        "bad-recipe.yaml",
        &format!(
            "version: 1\nname: bad\ntask: x\nsource_url: http://user:{CANARY}@shop.test/\nrequest:\n  method: GET\n  url: http://shop.test/?token={CANARY}\n  headers: {{ \"Authorization\": \"Bearer {CANARY}\" }}\n  allowed_domains: [shop.test]\nresponse: {{ type: json }}\n"
        ),
    );
    let steps = |name: &str, text: &str| file(name, text);
    let unknown =
        steps("unknown.yaml", &format!("- fill: {{ label: Password, valu: {CANARY} }}\n"));
    let odd_step = steps("odd-step.yaml", &format!("- press: Enter\n- fill: \"{CANARY}\"\n"));
    let open_step = steps("open.yaml", &format!("- fill: {{ label: Password, value: \"{CANARY}\n"));
    let with_user = format!("http://user:{CANARY}@shop.test/");
    let with_token = format!("http://10.0.0.1/?access_token={CANARY}");
    let name = format!("query={CANARY}");
    let strange = format!("{CANARY}=x");
    home.recipe(
        "plain",
        "version: 1\nname: plain\ntask: Get {query}\nstatus: draft\nsource_url: http://10.0.0.1/\nparameters: [{ name: query, required: true }]\nrequest:\n  method: GET\n  url: http://10.0.0.1/{query}\n  allowed_domains: [10.0.0.1]\nresponse: { type: json }\n",
    );
    for args in [
        vec!["recipe", "learn", "--har", &har, "--task", "Look", "--no-network"],
        vec!["recipe", "learn", "--har", &cut, "--task", "Look", "--no-network"],
        vec!["redact", &har],
        vec!["redact", &cut],
        vec!["recipe", "learn", "--url", &with_user, "--task", "Look", "--allow-task-secrets"],
        vec!["recipe", "learn", "--url", &with_token, "--task", "Look", "--allow-task-secrets"],
        vec!["recipe", "learn", "--url", URL, "--task", "Look", "--steps", &unknown],
        vec!["recipe", "learn", "--url", URL, "--task", "Look", "--steps", &odd_step],
        vec!["recipe", "learn", "--url", URL, "--task", "Look", "--steps", &open_step],
        vec!["recipe", "learn-batch", "--manifest", &manifest],
        vec!["recipe", "learn-batch", "--manifest", &odd],
        vec!["recipe", "validate", &recipe],
        vec!["recipe", "validate", &recipe, "--json"],
        vec!["recipe", "run", "plain", "--draft", "-p", &name],
        vec!["recipe", "run", "plain", "--draft", "-p", &name, "--json"],
        vec!["recipe", "run", "plain", "--draft", "-p", &strange],
        vec!["recipe", "dry-run", "plain", "-p", &strange],
        vec!["recipe", "run", CANARY],
        vec!["recipe", "get", CANARY],
        vec!["recipe", "list", "--category", CANARY],
        vec!["recipe", "debug", "--task-id", CANARY],
        vec!["--test-host", CANARY, "recipe", "run", "plain", "--draft", "-p", "query=x"],
    ] {
        let (code, said) = silent(&home, &args);
        assert!(code != 70 && code != 101, "{args:?}: {said}");
    }
}
