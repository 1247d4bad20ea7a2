//! Keys by reference: where one goes, where it never shows, and what a stranger's recipe cannot get.

use std::{path::Path, process::Output};

use serde_json::{Value, json};

use crate::support::{Home, Web, write};

const KEY: &str = "night-Sky/42+open=";
/// Bound to api.observatory.test by its name.
const OWN: &str = "COMMIS_AUTH_API_OBSERVATORY_TEST";

fn recipe(auth: &str, path: &str) -> String {
    format!(
        "version: 1\nname: it\ntask: Read {{q}}\nstatus: draft\nsource_url: http://api.observatory.test/\nparameters:\n  - {{ name: q, type: str, required: true, source: task_input, examples: [moon, comet] }}\nrequest:\n  method: GET\n  url: http://api.observatory.test/v1/{path}\n  query: [{{ name: q, value: '{{q}}' }}]\n  allowed_domains: [api.observatory.test]\nauth: {auth}\nresponse: {{ type: json }}\n"
    )
}

/// Runs with variables set, and sees to it that no value of them is told or kept.
fn call(home: &Home, web: &Web, args: &[&str], variables: &[(&str, &str)]) -> (i32, Value, String) {
    let mut command = home.command(&[args, &["--test-host", &web.test_host]].concat());
    command.env_remove(OWN).envs(variables.iter().copied());
    let Output { status, stdout, stderr } = command.output().unwrap();
    let out = String::from_utf8(stdout).unwrap();
    let said = String::from_utf8(stderr).unwrap();
    for part in ["night-Sky", "Sky/42", "Sky%2F42", "d2FyZGVuOm5pZ2h0", "bmlnaHQtU2t5"] {
        assert!(!out.contains(part) && !said.contains(part), "{args:?} told {part}:\n{out}{said}");
        assert!(!keeps(home.path(), part), "{args:?} kept {part}");
    }
    let value = serde_json::from_str(&out).unwrap_or(Value::String(out));
    (status.code().unwrap(), value, said)
}

fn keeps(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).any(|it| {
        if it.is_dir() {
            return keeps(&it, text);
        }
        String::from_utf8_lossy(&std::fs::read(&it).unwrap()).contains(text)
    })
}

const RUN: &[&str] = &["recipe", "run", "it", "--draft", "--json", "-p", "q=moon"];

#[test]
fn each_kind_of_key_is_sent() {
    let home = Home::new();
    let web = Web::start(&home);
    let basic = format!("warden:{KEY}");
    for (auth, value, shown) in [
        ("type: bearer", KEY, "authorization: Bearer [from $COMMIS_AUTH_API_OBSERVATORY_TEST]"),
        ("type: basic", &basic, "authorization: Basic [from $COMMIS_AUTH_API_OBSERVATORY_TEST]"),
        (
            "type: api_key, header: x-api-key",
            KEY,
            "x-api-key: [from $COMMIS_AUTH_API_OBSERVATORY_TEST]",
        ),
        ("type: api_key, query: key", KEY, "?q=moon&key=[from $COMMIS_AUTH_API_OBSERVATORY_TEST]"),
    ] {
        home.recipe("it", &recipe(&format!("{{ {auth}, env: {OWN} }}"), "readings"));
        let set: &[_] = &[(OWN, value)];
        let (exit, out, _) = call(&home, &web, RUN, set);
        assert_eq!((exit, &out["success"]), (0, &json!(true)), "{auth}: {out}");
        let (exit, out, _) = call(&home, &web, &["recipe", "validate", "it", "--json"], set);
        assert_eq!((exit, &out["valid"]), (0, &json!(true)), "{auth}: {out}");
        let (_, out, _) = call(&home, &web, &["recipe", "dry-run", "it", "-p", "q=moon"], set);
        assert!(out.as_str().unwrap().contains(shown), "{auth}: {out}");
        let (_, out, _) = call(&home, &web, &["recipe", "explain", "it", "-p", "q=moon"], set);
        assert!(out.as_str().unwrap().contains("to the origin of the request only"), "{out}");
        let (exit, out, _) = call(&home, &web, &["recipe", "verify", "it", "--json"], set);
        assert_eq!((exit, &out[0]["result"]["verified"]), (0, &json!(true)), "{auth}: {out}");
        let (exit, out, _) = call(&home, &web, &["recipe", "run", "it", "-p", "q=comet"], set);
        assert_eq!(exit, 0, "{out}");
    }
}

#[test]
fn a_server_that_repeats_the_key_does_not_get_it_printed() {
    let home = Home::new();
    let web = Web::start(&home);
    let hidden = "[REDACTED:COMMIS_AUTH_API_OBSERVATORY_TEST]";
    let bearer = format!("{{ type: bearer, env: {OWN} }}");
    let query = format!("{{ type: api_key, query: key, env: {OWN} }}");
    for (auth, at) in [(&bearer, "/headers/authorization"), (&query, "/query/1/1")] {
        home.recipe("it", &recipe(auth, "echo"));
        let (_, out, _) = call(&home, &web, RUN, &[(OWN, KEY)]);
        assert_eq!(out["success"], true, "{out}");
        let told =
            out["data"].pointer(at).and_then(Value::as_str).unwrap_or_else(|| panic!("{out}"));
        assert!(told.contains(hidden), "{out}");
    }
    // Plain only after extraction.
    let page = recipe(&bearer, "page")
        .replace("type: json }", "type: html, embedded: script, extract: echo }");
    home.recipe("it", &page);
    assert_eq!(call(&home, &web, RUN, &[(OWN, KEY)]).1["data"], hidden);
    home.recipe("it", &recipe(&bearer, "fails"));
    let (exit, out, _) = call(&home, &web, RUN, &[(OWN, KEY)]);
    assert_eq!((exit, &out["error_code"]), (1, &json!("HTTP_STATUS")), "{out}");
    assert!(out["raw_response"].as_str().unwrap().contains(hidden), "{out}");
    // Verify keeps the shape of an answer, keys included: what is no name by its digest, here that of what stands for the key.
    home.recipe("it", &recipe(&bearer, "echo"));
    let (exit, out, _) = call(&home, &web, &["recipe", "verify", "it", "--json"], &[(OWN, KEY)]);
    assert_eq!(exit, 0, "{out}");
    assert!(keeps(&home.path().join("recipes"), "#e68d9a42"));
}

#[test]
fn a_key_stays_at_its_origin() {
    let home = Home::new();
    let web = Web::start(&home);
    let bearer = format!("{{ type: bearer, env: {OWN} }}");
    home.recipe("it", &recipe(&bearer, "moved"));
    let (_, out, _) = call(&home, &web, RUN, &[(OWN, KEY)]);
    assert_eq!((&out["success"], &out["redirect_hops"]), (&json!(true), &json!(1)), "{out}");
    // A key is told to one host: nothing else is asked, key or no key.
    home.recipe("it", &recipe(&bearer, "away"));
    let (_, out, _) = call(&home, &web, RUN, &[(OWN, KEY)]);
    assert_eq!(
        (&out["success"], &out["error_code"]),
        (&json!(false), &json!("REDIRECT_BLOCKED")),
        "{out}"
    );
}

#[test]
fn a_strangers_recipe_gets_no_variable_that_is_not_meant_for_its_host() {
    let home = Home::new();
    let web = Web::start(&home);
    let aws = "AWS_SECRET_ACCESS_KEY";
    let set: &[_] =
        &[(aws, KEY), ("COMMIS_AUTH_GITHUB", KEY), ("COMMIS_AUTH_API_OTHER_TEST", KEY), (OWN, KEY)];
    for variable in [aws, "COMMIS_AUTH_GITHUB", "COMMIS_AUTH_API_OTHER_TEST"] {
        home.recipe("it", &recipe(&format!("{{ type: bearer, env: {variable} }}"), "echo"));
        for args in [
            RUN,
            &["recipe", "verify", "it", "--json"],
            &["recipe", "dry-run", "it", "--json", "-p", "q=x"],
            &["recipe", "validate", "it", "--json"],
        ] {
            let (exit, out, said) = call(&home, &web, args, set);
            assert_ne!(exit, 0, "{args:?} {out}");
            assert!(format!("{out}{said}").contains("AUTH_NOT_ALLOWED"), "{args:?} {out} {said}");
        }
    }
    let hits = web.control(&Home::new(), "hits");
    assert!(hits.as_object().unwrap().keys().all(|it| it.starts_with("control.test ")), "{hits}");

    // The user may bind a variable, and then it goes there and nowhere else.
    home.recipe("it", &recipe(&format!("{{ type: bearer, env: {aws} }}"), "readings"));
    for (host, exit) in [("api.other.test", 2), ("api.observatory.test", 0)] {
        write(&home.path().join("config.toml"), &format!("[auth.allow]\n{aws} = [\"{host}\"]\n"));
        let (got, out, _) = call(&home, &web, RUN, set);
        assert_eq!(got, exit, "{host}: {out}");
    }
}

#[test]
fn a_key_that_is_missing_or_unusable_has_a_code() {
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe("it", &recipe(&format!("{{ type: bearer, env: {OWN} }}"), "readings"));
    let split = format!("{KEY}\r\nx-admin: 1");
    for (set, code) in [
        (&[][..], "AUTH_ENV_MISSING"),
        (&[(OWN, "")], "AUTH_ENV_MISSING"),
        (&[(OWN, split.as_str())], "AUTH_ENV_INVALID"),
    ] {
        let (exit, out, _) = call(&home, &web, RUN, set);
        assert_eq!(
            (exit, &out["error_code"], &out["attempts"]),
            (2, &json!(code), &json!(0)),
            "{out}"
        );
        assert!(!out["hint"].as_str().unwrap_or(" ").is_empty(), "{out}");
    }
    home.recipe("it", &recipe("{ type: bearer, value: abc, env: K }", "readings"));
    assert_eq!(call(&home, &web, RUN, &[]).1["error_code"], "RECIPE_INVALID");
}

#[test]
fn a_refusal_says_what_can_be_done() {
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe("it", &recipe("null", "readings"));
    let (exit, out, _) = call(&home, &web, RUN, &[]);
    assert_eq!(
        (exit, &out["error_code"], &out["attempts"]),
        (1, &json!("AUTH_REQUIRED"), &json!(1))
    );
    assert_eq!(out["auth_recovery_triggered"], true);
    let it = &out["auth_recovery"];
    assert_eq!((&it["status"], &it["scheme"]), (&json!(401), &json!("Bearer")), "{out}");
    assert!(it["next"].as_str().unwrap().contains(OWN), "{out}");

    home.recipe("it", &recipe(&format!("{{ type: bearer, env: {OWN} }}"), "readings"));
    let (_, _, said) =
        call(&home, &web, &["recipe", "run", "it", "--draft", "-p", "q=x"], &[(OWN, "an old key")]);
    assert!(said.contains("the site wants to know who asks by Bearer (401)"), "{said}");
    assert!(said.contains(&format!("does not accept what ${OWN} holds")), "{said}");

    let (_, out, _) = call(&home, &web, RUN, &[(OWN, KEY)]);
    assert_eq!(
        (&out["auth_recovery_triggered"], &out["auth_recovery"]),
        (&json!(false), &Value::Null)
    );
}
