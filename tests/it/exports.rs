//! Recipes in the forms of others, and back: files, exit codes, what is told. `ci/exports` runs what is written.

use serde_json::{Value, json};

use crate::support::{Home, write};

const SHOP: &str = "{version: 1, name: shop, task: 'Search the shop for {query}', status: draft, source_url: 'http://shop.test/', \
     parameters: [{name: query, type: str, required: true, source: task_input, examples: [lantern, garden hose]}], \
     request: {method: GET, url: 'http://shop.test/api/search', query: [{name: q, value: '{query}'}], allowed_domains: [shop.test]}, \
     response: {type: json, extract: 'items[].{title: title, price: price}', min_items: 1}}";
const LOGIN: &str = "{version: 1, name: login, task: t, status: draft, source_url: 'http://shop.test/', \
     request: {method: GET, url: 'http://shop.test/x', query: [{name: t, value: '{t}'}], allowed_domains: [shop.test]}, \
     slots: [{name: t, from: {cookie: {name: sid}}}], response: {type: json}}";

fn run(home: &Home, args: &[&str]) -> (i32, String, String) {
    let out = home.run(args);
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn where_exports_go_and_what_is_refused_by_name() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    home.recipe("shop", SHOP);
    home.recipe("login", LOGIN);
    let (code, out, said) =
        run(&home, &["recipe", "export", "shop", "--as", "curl", "-p", "query=it's"]);
    assert_eq!(code, 0, "{said}");
    assert!(out.ends_with("  'http://shop.test/api/search?q=it%27s'\n"), "{out}");

    // Asked for by name: the others are written, and the code says that one is not.
    let folder = home.path().join("out");
    let place = folder.to_str().unwrap();
    let (code, out, said) = run(
        &home,
        &["recipe", "export", "login", "shop", "hn-search", "--as", "curl", "--out", place],
    );
    assert_eq!((code, out.lines().count()), (1, 2), "{out} {said}");
    assert!(said.contains("login is not exported: it needs a browser's session"), "{said}");
    let mode = |it: &std::path::Path| it.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("shop.sh"))), (0o700, 0o600));

    let (code, _, said) = run(&home, &["recipe", "export", "shop", "hn-search", "--as", "curl"]);
    assert!(code == 2 && said.contains("--out"), "{said}");
    let (code, out) = home.json(&["recipe", "export", "--all", "--as", "curl", "--json"]);
    assert_eq!(code, 0);
    assert_eq!(out["refused"].as_array().unwrap().len(), 1, "{}", out["refused"]);
    // Drafts of the library are left out.
    assert_eq!(out["files"].as_array().unwrap().len(), 1, "{}", out["files"]);

    let file = home.path().join("one.py");
    let (code, _, said) = run(
        &home,
        &["recipe", "export", "shop", "--as", "python", "--out", file.to_str().unwrap()],
    );
    assert_eq!(code, 0, "{said}");
    assert!(std::fs::read_to_string(file).unwrap().contains("def shop(query: str)"));
    let skills = home.path().join("skills");
    let (code, ..) = run(
        &home,
        &["recipe", "export", "shop", "--as", "skill", "--out", skills.to_str().unwrap()],
    );
    assert!(code == 0 && skills.join("shop/SKILL.md").is_file());
}

#[test]
fn an_export_comes_back_as_a_draft_that_proves() {
    let (home, other) = (Home::new(), Home::new());
    home.recipe("shop", SHOP);
    let (_, out) = home.json(&["recipe", "export", "shop", "--as", "openapi", "--json"]);
    let file = other.path().join("api.json");
    write(&file, out["files"][0]["text"].as_str().unwrap());
    let file = file.to_str().unwrap();
    let (code, said) = other.json(&["import", file, "--dry-run", "--json", "--testbed"]);
    assert_eq!((code, &said["drafts"][0]["path"]), (0, &Value::Null), "{said}");
    let (code, said) = other.json(&["import", file, "--json", "--testbed"]);
    assert_eq!(
        (code, &said["refused"], &said["drafts"][0]["notes"]),
        (0, &json!([]), &json!([])),
        "{said}"
    );
    let (code, said) = other.json(&["recipe", "verify", "shop", "--json", "--testbed"]);
    assert_eq!(code, 0, "{said}");

    // It is there now.
    let (code, said) = other.json(&["import", file, "--json", "--testbed"]);
    assert!(
        code == 1 && said["refused"][0]["why"].as_str().unwrap().contains("of that name"),
        "{said}"
    );
}

#[test]
fn what_is_inside_and_what_is_secret_does_not_come_in() {
    let home = Home::new();
    let check = |server: &str, more: &str, why: &str| {
        let file = home.path().join("api.yaml");
        write(
            &file,
            &format!(
                "openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\nservers: [{{url: '{server}'}}]\npaths: {{/x: {{get: {{{more}}}}}}}\n"
            ),
        );
        let (code, said) = home.json(&["import", file.to_str().unwrap(), "--json"]);
        let told = said["refused"][0]["why"].as_str().unwrap_or_default();
        assert!(code == 1 && told.contains(why), "{server} {more}: {said}");
    };
    check("http://169.254.169.254/", "", "blocked");
    check("http://localhost:8000/", "", "blocked");
    check("http://10.0.0.1/", "", "blocked");
    let query = |name: &str, value: &str| {
        format!(
            "parameters: [{{name: {name}, in: query, required: true, schema: {{type: string, const: '{value}'}}}}]"
        )
    };
    check("https://a.example.com/", &query("password", "hunter2hunter2"), "write `auth`");
    check(
        "https://a.example.com/",
        &query("t", "ghp_0123456789abcdefghijABCDEFGHIJ012345"),
        "write `auth`",
    );
}
