//! What a recipe may not hold.

use crate::headers::FORBIDDEN;
use serde_json::{Value, json};

use super::*;
use crate::{headers::HOP_BY_HOP, yaml};

const EXAMPLE: &str = "\
version: 1
name: search-mods
task: search mods for {q}
status: draft
source_url: https://www.example.com/mods
parameters:
  - name: q
    type: str
    required: true
    source: task_input
    constraints: { max_len: 100 }
    examples: [volume]
  - name: page
    type: int
    required: false
    source: constant
    default: \"1\"
request:
  method: POST
  url: https://api.example.com/v1/search/{page}
  query:
    - { name: q, value: '{q}' }
  headers:
    accept: application/json
    x-csrf-token: '{token}'
  body:
    json:
      query: '{q}'
      yes: no
      zip: 012
      n: 1_000
      page: '{page}'
  allowed_domains: [api.example.com, www.example.com]
  allowed_sites: [example.com]
slots:
  - name: token
    from:
      document: { url: 'https://www.example.com/', after: 'csrf=\"', until: '\"' }
response:
  type: json
  extract: 'hits[].{title: title}'
";

fn refusal_message(edit: &str, by: &str) -> String {
    assert!(EXAMPLE.contains(edit), "{edit}");
    yaml::parse(&EXAMPLE.replace(edit, by))
        .map_or_else(|err| format!("{} {}", err.code(), err.message()), |_| "ok".to_owned())
}

#[test]
fn yaml_reads_as_written() {
    let recipe = yaml::parse(EXAMPLE).unwrap();
    let Some(crate::model::BodyTemplate::Json(body)) = &recipe.request.body else { panic!() };
    let want = json!({"query": "{q}", "yes": "no", "zip": "012", "n": "1_000", "page": "{page}"});
    assert_eq!(*body, want);
}

#[test]
fn yaml_round_trips() {
    let mut recipe = yaml::parse(EXAMPLE).unwrap();
    let tricky: Vec<Value> = [
        "no",
        "~",
        "null",
        "012",
        "1_000",
        "0x1f",
        "1e3",
        ".5",
        "- a",
        "a: b",
        "#c",
        "",
        " ",
        "\ttab ",
        "ü\u{2028}",
        "\"'",
        "two\nlines\n",
        "%",
        "&a",
        "*a",
        "!t",
        "{{x}}",
        "2024-01-01",
        "true",
        "y",
        "=",
        "<<",
        "\u{1f600}",
        "trailing\n\n",
        "\u{85}",
        "|",
        ">",
        "---",
    ]
    .iter()
    .map(|it| json!(it))
    .chain([
        json!(1),
        json!(-1.5),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
        json!(9_007_199_254_740_993_u64),
    ])
    .collect();
    recipe.request.body = Some(crate::model::BodyTemplate::Json(json!({
        "list": tricky, "no": 1, "012": 2, "a b": {"~": [[{"x": 1.0}]]}
    })));
    recipe.task = "- {q}: # no\nmore".into();
    let text = yaml::to_yaml(&recipe).unwrap();
    assert_eq!(yaml::parse(&text).unwrap(), recipe, "{text}");
}

#[test]
fn rules() {
    for (edit, by, want) in [
        ("version: 1", "version: 3", "RECIPE_INVALID version 3"),
        ("task: search mods for {q}", "task: ' '", "RECIPE_INVALID task"),
        ("method: POST", "method: DELETE", "METHOD_NOT_ALLOWED"),
        ("method: POST", "method: GET", "RECIPE_INVALID a GET"),
        ("method: POST", "method: post", "METHOD_NOT_ALLOWED"),
        ("https://www.example.com/mods", "file:///etc", "RECIPE_INVALID source_url"),
        ("value: '{q}'", "value: '{r}'", "RECIPE_INVALID `{r}` is neither"),
        ("value: '{q}'", "value: '{q'", "RECIPE_INVALID the template"),
        ("  - name: page", "  - name: q", "RECIPE_INVALID the name `q` is used twice"),
        ("  - name: page", "  - name: token", "RECIPE_INVALID the name `token`"),
        ("  - name: page", "  - name: Page", "RECIPE_INVALID `Page` is not a name"),
        ("default: \"1\"", "default: one", "RECIPE_INVALID default or example"),
        ("accept: application/json", "cookie: '{token}'", "RECIPE_INVALID header `cookie`"),
        (
            "accept: application/json",
            "sec-fetch-mode: cors",
            "RECIPE_INVALID header `sec-fetch-mode`",
        ),
        ("accept: application/json", "proxy-x: y", "RECIPE_INVALID header `proxy-x`"),
        ("accept: application/json", "Accept: x", "RECIPE_INVALID `Accept` is not a lower-case"),
        ("accept: application/json", "x-api-key: abc", "RECIPE_INVALID header `x-api-key` holds"),
        ("accept: application/json", "x-api-key: '{token}'", "ok"),
        ("accept: application/json", "x-client: web", "ok"),
        (
            "accept: application/json",
            "x-client: \"a\\nb\"",
            "RECIPE_INVALID header `x-client` contains",
        ),
        (
            "https://api.example.com/v1",
            "https://{q}.example.com/v1",
            "RECIPE_INVALID the request URL",
        ),
        (
            "https://api.example.com/v1",
            "https://evil.com/v1",
            "RECIPE_INVALID allowed_domains does not",
        ),
        ("[api.example.com, www", "[API.example.com, www", "RECIPE_INVALID allowed_domains: `API"),
        (
            "[api.example.com, www",
            "[api.example.com/x, www",
            "RECIPE_INVALID allowed_domains: `api",
        ),
        (
            "allowed_sites: [example.com]",
            "allowed_sites: [ample.com]",
            "RECIPE_INVALID allowed_domains",
        ),
        (
            "'https://www.example.com/', after",
            "'https://evil.com/', after",
            "RECIPE_INVALID slot `token`",
        ),
        (
            "document: { url: 'https://www.example.com/', after: 'csrf=\"', until: '\"' }",
            "live: { placeholder: x }",
            "RECIPE_INVALID slot `token` was",
        ),
        ("hits[].{title: title}", "hits[", "RECIPE_INVALID the JMESPath"),
        (
            "type: json\n  extract: 'hits[].{title: title}'",
            "type: html",
            "RECIPE_INVALID `type: html` needs",
        ),
        (
            "type: json\n  extract: 'hits[].{title: title}'",
            "type: html\n  html: { items: 'li[', fields: { a: b } }",
            "RECIPE_INVALID selector",
        ),
        (
            "type: json\n  extract: 'hits[].{title: title}'",
            "type: html\n  html: { items: li, fields: { a: 'b@href' } }",
            "ok",
        ),
        ("type: json\n  extract", "type: text\n  extract", "RECIPE_INVALID `extract`"),
        ("status: draft", "status: verified", "RECIPE_INVALID status is verified"),
        ("status: draft", "status: draft\nextra: 1", "RECIPE_INVALID the recipe does not parse"),
        (
            "status: draft",
            "status: draft\nstatus: draft",
            "RECIPE_INVALID the recipe does not parse",
        ),
        ("name: search-mods", "name: ../x", "RECIPE_INVALID the recipe does not parse"),
        ("[volume]", "[&a volume]", "RECIPE_INVALID the recipe does not parse"),
        ("required: true", "required: yes", "RECIPE_INVALID the recipe does not parse"),
    ] {
        let got = refusal_message(edit, by);
        assert!(got.starts_with(want), "{by}: {got}");
    }
}

#[test]
fn a_parameter_has_its_place_in_path_query_header_and_body_alone() {
    let url = "https://api.example.com/v1/search/{page}";
    for by in [
        "{q}://api.example.com/v1/search/{page}",
        "http{q}://api.example.com/{page}",
        "https://{q}/{page}",
        "https://{q}api.example.com/{page}",
        "https://api.example.com{q}/{page}",
        "https://api.example.com:{q}/{page}",
        "https://{q}@api.example.com/{page}",
        "https://user:{q}@api.example.com/{page}",
        "https://api.example.com?{q}/{page}",
        "//api.example.com/{page}",
        "{q}",
        "https://127.0.0.1/{page}",
        "https://api.example.com\\\\@127.0.0.1/{page}",
        "https:\\\\127.0.0.1/{page}",
        "javascript:alert({page})",
    ] {
        let got = refusal_message(url, &format!("\"{by}\""));
        assert!(got.starts_with("RECIPE_INVALID"), "{by}: {got}");
    }
    for name in FORBIDDEN.iter().chain(&HOP_BY_HOP).chain(&[
        "content-length",
        "expect",
        "host",
        "sec-fetch-site",
    ]) {
        let got = refusal_message("accept: application/json", &format!("{name}: '{{q}}'"));
        assert!(got.starts_with(&format!("RECIPE_INVALID header `{name}`")), "{name}: {got}");
    }
    for value in ["'Bearer abc'", "'{q}'", "'Bearer {q}'"] {
        let got = refusal_message("accept: application/json", &format!("authorization: {value}"));
        assert!(got.starts_with("RECIPE_INVALID header `authorization`"), "{value}: {got}");
    }
    for header in
        ["'{q}': x", "'x-{q}': x", "\"x\\r\\ny\": z", "\"x: y\": z", "'': x", "x-\u{430}: y"]
    {
        let got = refusal_message("accept: application/json", header);
        assert!(got.starts_with("RECIPE_INVALID"), "{header}: {got}");
    }
    for slot in ["http://127.0.0.1/", "http://169.254.169.254/", "file:///etc/passwd", "{q}", "//x"]
    {
        let got = refusal_message("'https://www.example.com/', after", &format!("'{slot}', after"));
        assert!(got.starts_with("RECIPE_INVALID"), "{slot}: {got}");
    }
}

#[test]
fn expressions_and_selectors_are_bounded() {
    let extract = "'hits[].{title: title}'";
    for bomb in [
        "[".repeat(2_000),
        "(".repeat(200) + "a" + &")".repeat(200),
        "!".repeat(900),
        vec!["[@,@]"; 60].join("|"),
        "a".repeat(5_000),
        "a[-99999999999]".to_owned(),
        "\u{430}".to_owned(),
    ] {
        let got = refusal_message(extract, &format!("\"{bomb}\""));
        assert!(got.starts_with("RECIPE_INVALID"), "{bomb:.40}: {got}");
    }
    let html = "type: json\n  extract: 'hits[].{title: title}'";
    for bomb in
        [":not(".repeat(90), "a ".repeat(2_000), "a[".to_owned(), "a{}".to_owned(), String::new()]
    {
        let by = format!("type: html\n  html: {{ items: \"{bomb}\", fields: {{ a: b }} }}");
        let got = refusal_message(html, &by);
        assert!(got.starts_with("RECIPE_INVALID"), "{bomb:.40}: {got}");
    }
}

#[test]
fn bombs() {
    let deep = format!("{EXAMPLE}category: {}x{}", "[".repeat(200), "]".repeat(200));
    let wide = format!("{EXAMPLE}category: [{}]", "x, ".repeat(20_000));
    let long = format!("{EXAMPLE}# {}", "x".repeat(300_000));
    let laughs = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
    for text in [deep.as_str(), &wide, &long, laughs, "", "\0", "- 1", "{"] {
        let code = yaml::parse(text).err().map(|it| it.code());
        assert_eq!(code, Some(Code::RecipeInvalid));
    }
}

#[test]
fn a_recipe_of_ones_own_host_is_there_whole() {
    let of = |own: &str, source: &str, url: &str, host: &str| {
        let text = format!(
            "{{version: 1, name: x, task: t, status: draft, source_url: '{source}', own_host: '{own}', \
             request: {{method: GET, url: '{url}', allowed_domains: ['{host}']}}, response: {{type: json}}}}"
        );
        yaml::parse(&text).map_or_else(|err| err.message().to_owned(), |_| "ok".to_owned())
    };
    let local = "http://localhost:8001/x";
    for (own, source, url, host) in [
        ("localhost:8001", local, local, "localhost"),
        ("wiki.lan:443", "https://wiki.lan/", "https://wiki.lan/api/{{x}}", "wiki.lan"),
        ("192.168.1.5:80", "http://192.168.1.5/", "http://192.168.1.5/", "192.168.1.5"),
        ("[fd12::5]:8080", "http://[fd12::5]:8080/", "http://[fd12::5]:8080/", "[fd12::5]"),
    ] {
        assert_eq!(of(own, source, url, host), "ok", "{own}");
    }
    for (own, source, url, host) in [
        ("localhost:8001", "http://shop.example.com/", local, "localhost"),
        ("localhost:8001", local, "http://localhost:8002/x", "localhost"),
        ("localhost:8001", local, "http://localhost/x", "localhost"),
        ("localhost:8001", local, "https://api.example.com/", "api.example.com"),
        ("localhost", local, local, "localhost"),
        ("LOCALHOST:8001", local, local, "localhost"),
        ("true", local, local, "localhost"),
    ] {
        let got = of(own, source, url, host);
        assert!(got.starts_with("own_host `"), "{own} {url}: {got}");
    }
}
