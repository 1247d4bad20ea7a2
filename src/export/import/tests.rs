//! What becomes of documents and files, and what is refused.

use serde_json::json;

use super::*;
use crate::{
    ExportFormat, export,
    resolved_request::{fill_request, sample},
};
use commis_base::error::Code;
use commis_recipe::{library, model::AuthKind, yaml};

const HEAD: &str = "openapi: 3.0.3\ninfo: {title: t, version: '1'}\nservers: [{url: 'https://api.shop.test/v1'}]\n";

fn openapi(text: &str) -> ImportResult {
    from_openapi(&format!("{HEAD}{text}"), None).unwrap()
}

fn hurl(text: &str) -> ImportResult {
    from_hurl(text, "given").unwrap()
}

#[test]
fn an_operation_is_a_draft() {
    let mut out = openapi(
        "paths:
  /items/{itemId}/parts:
    parameters: [{$ref: '#/components/parameters/id'}]
    get:
      operationId: findParts
      summary: Find {x} parts
      parameters:
        - {name: q, in: query, required: true, schema: {type: string, maxLength: 50}, examples: {a: {value: lamp}, b: {value: hose}}}
        - {name: page, in: query, schema: {type: integer, minimum: 1, default: 1}}
        - {name: sort, in: query, schema: {type: string, enum: [up, down]}}
        - {name: nothing, in: query, schema: {type: string}}
        - {name: X-Shape, in: header, required: true, schema: {type: string, const: wide}}
      responses: {200: {description: ok, content: {application/json: {schema: {}}}}}
components:
  parameters:
    id: {name: itemId, in: path, required: true, example: 7, schema: {type: integer}}
",
    );
    assert_eq!(out.refused, []);
    let it = out.drafts.remove(0);
    let recipe = &it.recipe;
    assert_eq!(recipe.name.as_str(), "find-parts");
    assert_eq!(recipe.task, "Find x parts");
    assert_eq!(recipe.request.url, "https://api.shop.test/v1/items/{itemid}/parts");
    let query: Vec<(&str, &str)> =
        recipe.request.query.iter().map(|it| (it.name.as_str(), it.value.as_str())).collect();
    assert_eq!(query, [("q", "{q}"), ("page", "{page}"), ("sort", "{sort}")]);
    assert_eq!(recipe.request.headers["x-shape"], "wide");
    assert_eq!(recipe.request.allowed_domains, ["api.shop.test"]);
    assert_eq!(recipe.source_url, "https://api.shop.test/");
    let of = |name: &str| recipe.parameters.iter().find(|it| it.name == name).unwrap();
    assert_eq!(of("q").examples, ["lamp", "hose"]);
    assert_eq!((of("page").default.as_deref(), of("page").required), (Some("1"), false));
    assert_eq!(of("sort").constraints.one_of, ["up", "down"]);
    assert_eq!(of("itemid").kind, ParamType::Int);
    assert_eq!(recipe.status, Status::Draft);
    assert!(it.notes.iter().any(|it| it.contains("`nothing` is left out")), "{:?}", it.notes);
    assert!(it.notes.iter().any(|it| it.contains("`itemid` has one example")), "{:?}", it.notes);
}

#[test]
fn what_is_not_taken_is_told() {
    let check = |operation: &str, why: &str| {
        let out = openapi(&format!("paths:\n  /x:\n    {operation}\n"));
        let told = out.refused.first().map_or("", |it| it.why.as_str());
        assert!(out.drafts.is_empty() && told.contains(why), "{told}: {operation}");
    };
    check("post: {responses: {}}", "nothing shows that it only reads");
    check("delete: {responses: {}}", "nothing shows that it only reads");
    check("get: {parameters: [{$ref: 'http://evil.test/x'}]}", "leads out of the file");
    check("get: {parameters: [{$ref: '#/nowhere'}]}", "leads nowhere");
    check(
        "get: {parameters: [{name: sid, in: cookie, required: true, schema: {}}]}",
        "needs a cookie",
    );
    check(
        "get: {parameters: [{name: X-Api-Key, in: header, required: true, schema: {type: string, const: abcdefg}}]}",
        "becomes `auth`",
    );
    check("get: {servers: [{url: /v2}]}", "no server in full");
    check("get: {servers: [{url: 'ftp://x'}]}", "no server in full");
    check("get: {servers: [{url: 'https://{h}/'}]}", "not written out");
    check("get: {responses: {'200': {content: {text/html: {}}}}}", "its answer is a page");
    check("get: {responses: {'200': {content: {image/png: {}}}}}", "its answer is image/png");
    check(
        "get: {parameters: [{name: a, in: query, required: true, schema: {type: object}}]}",
        "a list or an object",
    );
    for text in ["", "[]", "swagger: '2.0'", "{", "openapi: 3.0.0\na: &x 1\nb: *x"] {
        assert_eq!(from_openapi(text, None).unwrap_err().code(), Code::Usage, "{text}");
    }
    let circle = "paths: {/x: {get: {parameters: [{$ref: '#/components/a'}]}}}\ncomponents: {a: {$ref: '#/components/a'}}";
    assert!(openapi(circle).refused[0].why.contains("circle"));
    let many: Vec<String> = (0..300).map(|it| format!("  /p{it}: {{get: {{}}}}\n")).collect();
    let out = openapi(&format!("paths:\n{}", many.concat()));
    assert_eq!((out.drafts.len(), out.refused.len()), (MAX_DRAFTS, 100));
}

#[test]
fn keys_become_names_of_variables() {
    let check = |scheme: &str, expected: Result<Auth, &str>| {
        let mut out = openapi(&format!(
            "paths: {{/x: {{get: {{security: [{{k: []}}]}}}}}}\ncomponents: {{securitySchemes: {{k: {scheme}}}}}"
        ));
        match expected {
            Ok(it) => assert_eq!(out.drafts.remove(0).recipe.auth, Some(it)),
            Err(why) => assert!(out.refused[0].why.contains(why), "{:?}", out.refused),
        }
    };
    let of = |kind: AuthKind, header: Option<&str>, query: Option<&str>| {
        let env = "COMMIS_AUTH_API_SHOP_TEST".to_owned();
        Ok(Auth { kind, header: header.map(Into::into), query: query.map(Into::into), env })
    };
    check("{type: http, scheme: Bearer}", of(AuthKind::Bearer, None, None));
    check("{type: http, scheme: basic}", of(AuthKind::Basic, None, None));
    check("{type: apiKey, in: header, name: X-Key}", of(AuthKind::ApiKey, Some("x-key"), None));
    check("{type: apiKey, in: query, name: key}", of(AuthKind::ApiKey, None, Some("key")));
    check("{type: oauth2}", Err("a key cannot replace"));
    check("{type: apiKey, in: cookie, name: sid}", Err("a key cannot replace"));
}

/// Method, address, query, body.
type SentRequest = (String, String, Vec<(String, String)>, Option<Vec<u8>>);

/// What is sent with the first examples, where each parameter has one.
fn sent_request(recipe: &Recipe) -> Option<SentRequest> {
    let given = sample(recipe, &BTreeMap::new()).ok()?;
    let it = fill_request(recipe, &given).unwrap();
    let url = Url::parse(&it.url).unwrap();
    let mut query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    query.sort_unstable();
    Some((it.method, url.path().to_owned(), query, it.body))
}

#[test]
fn what_was_exported_is_read_back() {
    for form in [ExportFormat::Openapi, ExportFormat::Hurl] {
        let mut compared = 0;
        for name in library::NAMES {
            let recipe = yaml::parse(library::text(name).unwrap()).unwrap();
            let file = export(std::slice::from_ref(&recipe), form, &BTreeMap::new())
                .unwrap()
                .files
                .remove(0);
            let mut out = match form {
                ExportFormat::Openapi => from_openapi(&file.text, None).unwrap(),
                _ => from_hurl(&file.text, name).unwrap(),
            };
            assert_eq!(out.refused, [], "{name}: {}", file.text);
            let back = out.drafts.remove(0).recipe;
            assert_eq!(back.name, recipe.name);
            if let Some(is) = sent_request(&back) {
                assert_eq!(sent_request(&recipe), Some(is), "{form:?} {name}");
                compared += 1;
            }
        }
        assert!(compared >= 45, "{form:?} {compared}");
    }
}

#[test]
fn one_request_of_hurl_is_a_draft() {
    let mut out = hurl(
        "# Find lamps\nPOST https://shop.test/a%20b/{{id}}?x=1+2&y={{y}} \naccept: application/json\n[Options]\nlocation: true\n\
         variable: id=\"a\\u{22}b\"\nvariable: n=10\n[Query]\nq: {{y}} \\# 1 # no\n{\"a\": {\"n\": {{n}}, \"t\": \"x {{y}} \\\" {\"}}\n\
         HTTP 200\n[Asserts]\njsonpath \"$.a\" exists\n",
    );
    assert_eq!(out.refused, []);
    let it = out.drafts.remove(0).recipe;
    assert_eq!(
        (it.task.as_str(), it.request.url.as_str()),
        ("Find lamps", "https://shop.test/a%20b/{id}")
    );
    let query: Vec<(&str, &str)> =
        it.request.query.iter().map(|it| (it.name.as_str(), it.value.as_str())).collect();
    assert_eq!(query, [("x", "1 2"), ("y", "{y}"), ("q", "{y} # 1")]);
    let body = json!({"a": {"n": "{n}", "t": "x {y} \" {{"}});
    assert_eq!(it.request.body, Some(BodyTemplate::Json(body)));
    let kinds: Vec<(&str, ParamType)> =
        it.parameters.iter().map(|it| (it.name.as_str(), it.kind)).collect();
    assert_eq!(kinds, [("id", ParamType::Str), ("y", ParamType::Str), ("n", ParamType::Int)]);
    assert_eq!(it.parameters[0].examples, ["a\"b"]);
    for (text, why) in [
        ("", "no request"),
        ("DELETE https://a.test/\nHTTP 200\n", "neither a GET nor a POST"),
        (
            "GET https://a.test/\nHTTP 200\n\nGET https://a.test/b\nHTTP 200\n",
            "more than one request",
        ),
        ("GET https://a.test/\nHTTP 200\n[Captures]\nx: header \"y\"\n", "captures values"),
        ("GET https://a.test/\nauthorization: Bearer abc\n", "write `auth`"),
        ("GET https://a.test/\nx-api-key: abc\n", "write `auth`"),
        ("GET https://a.test/\n[BasicAuth]\na: b\n", "write `auth`"),
        ("GET https://a.test/\n[Cookies]\na: b\n", "cookies"),
        ("GET https://{{host}}/\n", "host is a variable"),
        ("GET https://a.test/\n[Options]\ninsecure: true\n", "not a recipe's"),
        ("GET https://a.test/{{newUuid}\n", "never closed"),
        ("GET file:///etc/passwd\n", "http"),
    ] {
        let out = hurl(text);
        assert!(out.refused[0].why.contains(why), "{text}: {:?}", out.refused);
    }
}
