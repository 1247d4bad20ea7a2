//! Recipes that a site's change broke are learned again, in real Chromium.

use serde_json::{Value, json};

use crate::support::{Home, has_chromium, write};

const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/quickstart.yaml");

#[test]
fn what_a_change_broke_is_learned_again() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let learn = ["recipe", "learn-batch", "--manifest", MANIFEST, "--testbed", "--json"];
    let (code, report) = home.batch(&[&learn[..], &["--only", "shop-search"]].concat());
    assert_eq!(code, 0, "{report}");
    let path = home.path().join("recipes/shop-search.yaml");
    let text = || std::fs::read_to_string(&path).unwrap();
    let learned = text();
    let heal = || {
        let (code, rows) = home.json(&["recipe", "heal", "shop-search", "--testbed", "--json"]);
        (code, rows[0]["verdict"].clone(), rows)
    };
    assert_eq!((heal().0, heal().1), (0, json!("works")));

    // As if the site had moved since.
    let broken = learned.replace("/api/search", "/api/search/v0");
    assert_ne!(broken, learned);
    write(&path, &broken);
    let (code, verdict, rows) = heal();
    assert_eq!((code, verdict), (0, json!("healed")), "{rows}");
    assert!(text().contains("https://shop.test/api/search\n"), "{}", text());
    let old =
        std::fs::read_to_string(home.path().join("recipes/old/shop-search-old.yaml")).unwrap();
    assert!(old.contains("/api/search/v0"), "the old one is kept");
    let run = ["recipe", "run", "shop-search", "-p", "query=teapot", "--testbed", "--json"];
    let (code, out) = home.json(&run);
    assert_eq!((code, &out["success"]), (0, &Value::Bool(true)), "{out}");

    // What takes another parameter than callers give is not put in its place.
    write(&path, &broken.replace("name: query", "name: word").replace("{query}", "{word}"));
    let (code, verdict, rows) = heal();
    assert_eq!((code, verdict), (1, json!("broken")), "another task: {rows}");
    let task = "task: Search the shop for {word} and list the products with their prices";
    let same = "task: Search the shop for {query} and list the products with their prices";
    write(&path, &text().replace(task, same));
    let before = text();
    let (code, verdict, rows) = heal();
    assert_eq!((code, verdict), (1, json!("changed")), "{rows}");
    assert_eq!(text(), before, "it is for a person to decide");
    let other = std::fs::read_to_string(home.path().join("recipes/shop-search-changed.yaml"));
    assert!(other.unwrap().contains("status: draft"));
}
