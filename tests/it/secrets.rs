//! Secrets in what the user gives, and in what goes wrong: refused, or at least not repeated.

use serde_json::json;

use crate::support::{Home, write};

const CANARY: &str = "ghp_Zk3vQ9xT7bLm2pWc8RfYhN4sAa5Bb6Cc7Dd8";

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
