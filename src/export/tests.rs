//! What each form says of literal recipes, and what it refuses.

use proptest::prelude::*;

use super::*;
use commis_recipe::{library, model::BodyTemplate, trust::Trust, yaml};

mod steps;

/// A recipe with these parts; `more` may be `slots`, `auth` and the like.
fn recipe(name: &str, parameters: &str, request: &str, response: &str, more: &str) -> Recipe {
    yaml::parse(&format!(
        "{{version: 1, name: {name}, task: 'Find {{q}} in the shop', status: draft, source_url: 'https://shop.test/', \
         parameters: [{parameters}], request: {{{request}, allowed_domains: [shop.test]}}, response: {response}{more}}}"
    ))
    .unwrap()
}

const Q: &str =
    "{name: q, type: str, required: true, source: task_input, examples: [\"garden hose\", it's]}";
const N: &str = "{name: n, type: int, required: false, source: task_input, default: '10', examples: ['10', '5']}";

fn search() -> Recipe {
    recipe(
        "shop-search",
        &format!("{Q}, {N}"),
        "method: GET, url: 'https://shop.test/api/{q|slug}/list', query: [{name: q, value: '{q}'}, {name: n, value: '{n}'}, \
         {name: 'f[]', value: a}, {name: 'f[]', value: b}], headers: {accept: application/json}",
        "{type: json, extract: 'hits[].{id: id, title: t}'}",
        "",
    )
}

fn posted() -> Recipe {
    recipe(
        "shop-graph",
        &format!("{Q}, {N}"),
        "method: POST, url: 'https://shop.test/graphql', body: {json: {query: 'query {{ a }}', variables: {q: '{q}', n: '{n}'}}}",
        "{type: json, extract: data.a}",
        "",
    )
}

fn keyed(auth: &str) -> Recipe {
    recipe(
        "shop-key",
        Q,
        "method: GET, url: 'https://shop.test/k', query: [{name: q, value: '{q}'}]",
        "{type: json}",
        &format!(", auth: {{{auth}, env: SHOP_KEY}}"),
    )
}

fn chained() -> Recipe {
    recipe(
        "shop-chain",
        Q,
        "method: GET, url: 'https://shop.test/c', query: [{name: q, value: '{q}'}, {name: t, value: '{tok}'}]",
        "{type: json, extract: hits}",
        ", slots: [{name: tok, from: {document: {url: 'https://shop.test/', after: 'key: \"', until: '\"'}}}]",
    )
}

fn cookie() -> Recipe {
    recipe(
        "shop-cookie",
        Q,
        "method: GET, url: 'https://shop.test/c', query: [{name: q, value: '{q}'}, {name: t, value: '{tok}'}]",
        "{type: json}",
        ", slots: [{name: tok, from: {cookie: {name: sid}}}]",
    )
}

fn page() -> Recipe {
    recipe(
        "shop-page",
        Q,
        "method: GET, url: 'https://shop.test/p', query: [{name: q, value: '{q}'}]",
        "{type: html, html: {items: li, fields: {name: h2}}}",
        "",
    )
}

/// A page's items with all that fields can say, but for labels.
fn table() -> Recipe {
    recipe(
        "shop-table",
        Q,
        "method: GET, url: 'https://shop.test/t', query: [{name: q, value: '{q}'}]",
        "{type: html, min_items: 0, html: {items: tr, run: true, group: h2, fields: {name: ':column(\"Lamp \\\"name\\\"\")', \
         link: 'td > a:nth-match(2)@href', tags: 'b[]', price: ':column(3)', it: ''}, \
         types: {price: {money: {decimal: comma}}}}}",
        "",
    )
}

fn labelled() -> Recipe {
    let mut out = page();
    let fields = &mut out.response.html.as_mut().unwrap().fields;
    fields.insert("built".to_owned(), ":labelled(\"Built\")".to_owned());
    out
}

/// Steps: a crew by its name, a job that is waited for, and one call for each of its parts.
const STEPS: &str = "version: 2
name: shop-steps
task: Show the parts of {q}
status: draft
source_url: https://shop.test/
parameters: [{name: q, type: str, required: true, source: task_input, examples: [hose]}]
steps:
- name: shops
  request: {method: GET, url: 'https://shop.test/shops', allowed_domains: [shop.test]}
  response: {type: json, extract: shops}
  choose: {where: {name: '{q|upper}', open: true, note: null}}
- name: job
  request: {method: GET, url: 'https://shop.test/jobs/{shops.team.id}', allowed_domains: [shop.test]}
  response: {type: json}
  poll: {until: done, at_most: 5}
- name: part
  request: {method: GET, url: 'https://shop.test/shops', allowed_domains: [shop.test]}
  response: {type: json, extract: parts}
- name: detail
  for_each: part
  request: {method: POST, url: 'https://shop.test/parts', body: {json: {id: '{part.id}', job: '{job.id}'}}, allowed_domains: [shop.test]}
  response: {type: json, extract: detail, min_items: 1}
  into: detail
output: '{shop: shops.name, parts: detail}'
";

fn exported(form: ExportFormat, recipes: &[Recipe]) -> ExportOutput {
    export(recipes, form, &BTreeMap::new()).unwrap()
}

fn one(form: ExportFormat, recipe: Recipe) -> String {
    let mut out = exported(form, &[recipe]);
    assert_eq!((out.files.len(), &out.refused[..]), (1, &[][..]));
    out.files.remove(0).text
}

#[test]
fn curl_sends_what_a_run_sends() {
    let expected = r"# shop-search: Find q in the shop
# a draft that was not proven
# data: hits[].{id: id, title: t} (JMESPath)
curl --fail-with-body --silent --show-error --compressed --globoff \
  --location \
  --header 'accept: application/json' \
  'https://shop.test/api/garden-hose/list?q=garden+hose&n=10&f%5B%5D=a&f%5B%5D=b'
";
    assert_eq!(one(ExportFormat::Curl, search()), expected);
    let text = one(ExportFormat::Curl, posted());
    assert!(text.contains("--header 'content-type: application/json'"), "{text}");
    assert!(text.contains("\"q\":\"garden hose\"") && text.contains("\"n\":10"), "{text}");
    assert!(!text.contains("--request"), "{text}");
}

#[test]
fn a_key_is_named_and_goes_to_its_origin_alone() {
    for (auth, expected) in [
        ("type: bearer", "--header 'authorization: Bearer '\"${SHOP_KEY:?}\""),
        ("type: basic", "--user \"${SHOP_KEY:?}\""),
        ("type: api_key, header: x-api-key", "--header 'x-api-key: '\"${SHOP_KEY:?}\""),
        ("type: api_key, query: key", "--get --data-urlencode 'key='\"${SHOP_KEY:?}\""),
    ] {
        let text = one(ExportFormat::Curl, keyed(auth));
        assert!(text.contains(expected) && !text.contains("--location"), "{text}");
    }
    let text = one(ExportFormat::Openapi, keyed("type: api_key, header: x-api-key"));
    let it: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(it["components"]["securitySchemes"]["shop_key"]["name"], "x-api-key");
    assert_eq!(it["paths"]["/k"]["get"]["security"], json!([{"shop_key": []}]));
}

#[test]
fn values_that_are_given_stand_in_place_of_examples() {
    let given = BTreeMap::from([("q".to_owned(), "a'b $(id)".to_owned())]);
    let text = export(&[search()], ExportFormat::Curl, &given).unwrap().files.remove(0).text;
    assert!(text.contains("q=a%27b+%24%28id%29"), "{text}");
    let wrong = BTreeMap::from([("x".to_owned(), String::new())]);
    assert_eq!(
        export(&[search()], ExportFormat::Curl, &wrong).unwrap_err().code(),
        Code::ParamInvalid
    );
}

#[test]
fn what_a_form_cannot_hold_is_told_by_name() {
    let check = |form: ExportFormat, recipe: Recipe, why: &str| {
        let out = exported(form, &[recipe]);
        let told = out.refused.first().map_or("", |it| it.why.as_str());
        assert!(told.contains(why) && out.refused.len() == usize::from(!why.is_empty()), "{told}");
    };
    for form in [ExportFormat::Curl, ExportFormat::Openapi, ExportFormat::Postman] {
        check(form, cookie(), "browser's session");
        check(form, chained(), "`tok` comes from an earlier answer");
        check(form, page(), "");
    }
    for form in [ExportFormat::Python, ExportFormat::Typescript] {
        check(form, cookie(), "browser's session");
        check(form, chained(), "");
        check(form, page(), "");
        check(form, labelled(), "told by the label beside it");
        let mut both = chained();
        both.auth = keyed("type: bearer").auth;
        check(form, both, "both at once");
    }
    check(ExportFormat::Hurl, cookie(), "browser's session");
    check(ExportFormat::Hurl, chained(), "");
    check(ExportFormat::Hurl, page(), "");
    let mut odd = search();
    odd.response.extract = Some("max_by(hits, &n)".to_owned());
    check(ExportFormat::Typescript, odd.clone(), "max_by()");
    check(ExportFormat::Python, odd, "");
    for form in [ExportFormat::OpenaiTools, ExportFormat::Mcp, ExportFormat::Skill] {
        for it in [cookie(), chained(), page(), search()] {
            check(form, it, "");
        }
    }
    for form in ExportFormat::ALL {
        let mut out_of_service = search();
        out_of_service.status = Status::Deprecated;
        check(*form, out_of_service, "out of service");
    }
    let bare = "{name: q, type: str, required: true, source: task_input}";
    let bare = recipe("x", bare, "method: GET, url: 'https://shop.test/{q}'", "{type: json}", "");
    for form in [ExportFormat::Curl, ExportFormat::Hurl, ExportFormat::Postman] {
        check(form, bare.clone(), "`q` has no example");
    }
    check(ExportFormat::Openapi, bare, "");
    let key = keyed("type: api_key, query: key");
    let mut key = Recipe { name: RecipeName::new("p").unwrap(), ..key };
    key.request.method = "POST".to_owned();
    check(ExportFormat::Curl, key, "POST");
}

#[test]
fn openapi_says_what_is_sent_and_what_comes() {
    let text = one(ExportFormat::Openapi, search());
    let it: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(it["servers"], json!([{"url": "https://shop.test"}]));
    let get = &it["paths"]["/api/{q}/list"]["get"];
    assert_eq!(get["operationId"], "shop_search");
    let named: Vec<(&str, &str, bool)> = get["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let text = |key: &str| it[key].as_str().unwrap();
            (text("name"), text("in"), it["required"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(
        named,
        [("q", "path", true), ("q", "query", true), ("n", "query", true), ("f[]", "query", true)]
    );
    assert_eq!(
        get["parameters"][0],
        json!({"name": "q", "in": "path", "required": true, "schema": {"type": "string"},
            "description": "`q` written as `{q|slug}`", "examples": {"1": {"value": "garden-hose"}}})
    );
    assert_eq!(get["parameters"][2]["schema"], json!({"type": "integer", "default": 10}));
    assert_eq!(
        get["parameters"][3]["schema"]["prefixItems"][1],
        json!({"type": "string", "const": "b"})
    );
    assert_eq!(
        get["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["hits"]["type"],
        "array"
    );
    assert_eq!(get["x-commis-proof"]["status"], "draft");
    let text = one(ExportFormat::Openapi, posted());
    let it: Value = serde_json::from_str(&text).unwrap();
    let body =
        &it["paths"]["/graphql"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(body["properties"]["query"], json!({"type": "string", "const": "query { a }"}));
    assert_eq!(body["properties"]["variables"]["properties"]["n"]["type"], "integer");
}

#[test]
fn one_path_with_two_tasks_is_two_documents() {
    let other = Recipe { name: RecipeName::new("shop-other").unwrap(), ..search() };
    let mut far = Recipe { name: RecipeName::new("far").unwrap(), ..search() };
    far.request.url = "http://far.test:8080/x".to_owned();
    let out = exported(ExportFormat::Openapi, &[search(), other, far]);
    let names: Vec<&str> = out.files.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(names, ["shop.test.json", "shop.test-2.json", "http-far.test-8080.json"]);
    assert_eq!(out.notes.len(), 1, "{:?}", out.notes);
    assert!(out.notes[0].starts_with("shop-other stands in shop.test-2.json"), "{:?}", out.notes);
}

#[test]
fn hurl_has_words_for_an_earlier_answer() {
    let expected = r#"# shop-chain: Find q in the shop
# a draft that was not proven

GET https://shop.test/
HTTP 200
[Captures]
tok: body regex "(?s)key: \u{22}(.*?)\u{22}"

GET https://shop.test/c
[Options]
location: true
compressed: true
variable: q="garden hose"
[Query]
q: {{q}}
t: {{tok}}
HTTP 200
[Asserts]
jsonpath "$['hits']" exists
"#;
    assert_eq!(one(ExportFormat::Hurl, chained()), expected);
    let text = one(ExportFormat::Hurl, search());
    assert!(text.contains("GET https://shop.test/api/{{q}}/list\n"), "{text}");
    assert!(
        text.contains("variable: q=\"garden-hose\"\nvariable: q_2=\"garden hose\"\n"),
        "{text}"
    );
    let text = one(ExportFormat::Hurl, posted());
    assert!(text.contains(r#"{"query": "query \u007b a \u007d", "variables": {"#), "{text}");
    assert!(text.contains(r#""n": {{n}}"#), "{text}");
    // Hurl sends names of JSON without their escapes: such JSON is text, and what goes into it is escaped here.
    let mut odd = posted();
    odd.request.body = Some(BodyTemplate::Json(json!({
        "a\"b\\": "x \" ` {q}", "deep": [{"n": "{n}"}, null, {}], "{{c}}": "{q}",
    })));
    let given = BTreeMap::from([("q".to_owned(), "5\" `é`".to_owned())]);
    let text = export(&[odd.clone()], ExportFormat::Hurl, &given).unwrap().files.remove(0).text;
    let expected = r#"
variable: q="5\u{5c}\u{22} `é`"
variable: n=10
`{"a\u{5c}"b\u{5c}\u{5c}": "x \u{5c}" \u{60} {{q}}", "deep": [{"n": {{n}}}, null, {}], "\u{5c}u007b\u{5c}u007bc\u{5c}u007d\u{5c}u007d": "{{q}}"}`
HTTP 200
"#;
    assert!(text.contains(&expected[1..]), "{text}");
    odd.slots = chained().slots;
    odd.request.body = Some(BodyTemplate::Json(json!({"a\"b": "{tok}"})));
    let why = exported(ExportFormat::Hurl, &[odd]).refused.remove(0).why;
    assert!(why.contains("has to be escaped"), "{why}");
    let text = one(ExportFormat::Hurl, keyed("type: bearer"));
    assert!(
        text.contains("authorization: Bearer {{SHOP_KEY}}") && !text.contains("location"),
        "{text}"
    );
}

#[test]
fn python_is_typed_functions() {
    let text = one(ExportFormat::Python, search());
    let (before, after) = text.split_once("def shop_search").unwrap();
    assert!(before.contains("import jmespath\n") && before.contains("import unicodedata\n"));
    assert!(before.contains("ShopSearchItem = typing.TypedDict("), "{before}");
    let expected = r#"(q: str, n: int = 10) -> list[ShopSearchItem]:
    "Find q in the shop (a draft that was not proven)."
    _answer = _ask(
        "GET",
        "https://shop.test/api/" + _segment(_slug(q)) + "/list",
        [("q", q), ("n", _text(n)), ("f[]", "a"), ("f[]", "b")],
        {"accept": "application/json"},
        None,
        ["shop.test"],
    )
    return _found(jmespath.search("hits[].{id: id, title: t}", _json(_answer)))
"#;
    assert!(after.starts_with(expected), "{after}");
    let text = one(ExportFormat::Python, chained());
    assert!(text.contains(r#"    tok = _between(_first, "key: \"", "\"")"#), "{text}");
    let text = one(ExportFormat::Python, keyed("type: basic"));
    let key = r#"("header", "authorization", "Basic " + base64.b64encode(os.environ["SHOP_KEY"].encode()).decode())"#;
    assert!(
        text.contains(key) && text.contains("import base64\nimport json\nimport os\n"),
        "{text}"
    );
}

#[test]
fn python_holds_steps() {
    let text = one(ExportFormat::Python, yaml::parse(STEPS).unwrap());
    let (_, after) = text.split_once("(a draft that was not proven).\"\n").unwrap();
    let expected = r#"    _answer_0 = _ask(
        "GET",
        "https://shop.test/shops",
        [],
        {},
        None,
        ["shop.test"],
    )
    _answer = _answer_0
    _step_shops = _choose(_found(jmespath.search("shops", _json(_answer))), {"name": _upper(q), "note": None, "open": True})
    shops_team_id = _value(_step_shops, "team.id")
    for _nth in range(5):
        _time.sleep(1 if _nth else 0)
        _answer_1 = _ask(
            "GET",
            "https://shop.test/jobs/" + _segment(shops_team_id),
            [],
            {},
            None,
            ["shop.test"],
        )
        _answer = _answer_1
        _step_job = _found(_json(_answer))
        if jmespath.search("done", _step_job) is True:
            break
    else:
        raise ValueError("an answer was not ready after 5 requests")
    job_id = _value(_step_job, "id")
    _answer_2 = _answer_0
    _answer = _answer_2
    _step_part = _found(jmespath.search("parts", _json(_answer)))
    _out, _count = [], 0
    for _at, _item in enumerate(_items(_step_part), 1):
        part_id = _value(_item, "id")
        _answer = _unless_gone(lambda: _ask(
            "POST",
            "https://shop.test/parts",
            [],
            {"content-type": "application/json"},
            _json_body({"id": part_id, "job": job_id}),
            ["shop.test"],
        ))
        _one = None if _answer is None else _filled(jmespath.search("detail", _json(_answer)), 1)
        _count += _one is not None
        _join(_out, _item, _one, "part", "detail", None, _at)
    return _found(jmespath.search("{shop: shops.name, parts: detail}", {"detail": _found(_answered(_step_part, _count, _out)), "job": _step_job, "part": _step_part, "shops": _step_shops}))
"#;
    assert!(after.starts_with(expected), "{after}");
    assert!(text.contains("import time as _time\n"), "{text}");
}

#[test]
fn typescript_holds_steps() {
    let text = one(ExportFormat::Typescript, yaml::parse(STEPS).unwrap());
    let lines = [
        r#"  const _step_shops = _choose(_found<Any>(_with(_json(_answer_0), (_json_) => _field(_json_, "shops"))), { ["name"]: _upper(q), ["note"]: null, ["open"]: true });"#,
        r#"  const shops_team_id = _value(_step_shops, "team.id");"#,
        r#"    if (_nth === 5) throw new Error("an answer was not ready after 5 requests");"#,
        r#"    if (_field(_step_job, "done") === true) break;"#,
        "  const _answer_2 = _answer_0;",
        "  for await (const _item of _items(_step_part)) {",
        r#"    _join(_out, _item, _one, "part", "detail", null, _at);"#,
    ];
    for it in lines {
        assert!(text.lines().any(|line| line == it), "{it}\n{text}");
    }
}

#[test]
fn a_script_holds_steps() {
    let text = "{version: 2, name: shop-parts, task: 'Find {q}', status: draft, source_url: 'https://shop.test/', \
        parameters: [{name: q, type: str, required: true, source: task_input, examples: [it's]}], steps: [\
        {name: shops, request: {method: GET, url: 'https://shop.test/shops', allowed_domains: [shop.test]}, \
         response: {type: json, extract: shops}, choose: {where: {name: '{q}', open: true}}}, \
        {name: parts, request: {method: GET, url: 'https://shop.test/{shops.id}/parts', allowed_domains: [shop.test]}, \
         response: {type: json}, choose: {all: ','}}, \
        {name: detail, request: {method: POST, url: 'https://shop.test/x', query: [{name: p, value: '{parts.no}'}], \
         body: {json: {of: 'shop {shops.id}'}}, allowed_domains: [shop.test]}, response: {type: json}}]}";
    let recipe = yaml::parse(text).unwrap();
    let script = one(ExportFormat::Curl, recipe.clone());
    for it in [
        "# needs jq\nset -eu\n",
        "  'https://shop.test/'\"$(_uri \"$_value_0\")\"'/parts')\n",
        "if [ \"$_found\" = '[]' ]; then echo '[]'; exit; fi\n",
        "  --data-raw '{\"of\":\"shop '\"$(_json \"$_value_0\")\"'\"}' \\\n",
        "  'https://shop.test/x?p='\"$(_uri \"$_value_1\")\"\n",
    ] {
        assert!(script.contains(it), "{it}\n{script}");
    }
    let mut odd = recipe;
    odd.request.query[0].value = "{parts.no|upper}".to_owned();
    let why = exported(ExportFormat::Curl, &[odd]).refused.remove(0).why;
    assert!(why.contains("spelled anew"), "{why}");
}

#[test]
fn steps_that_code_cannot_hold_are_refused() {
    let check = |form: ExportFormat, old: &str, new: &str, why: &str| {
        let text = STEPS.replace(old, new);
        assert!(old.is_empty() || text != STEPS, "{old}");
        let out = exported(form, &[yaml::parse(&text).unwrap()]);
        let told = out.refused.first().map_or("", |it| it.why.as_str());
        assert!(told.contains(why), "{told}");
    };
    let several = "several requests";
    for form in [ExportFormat::Curl, ExportFormat::Openapi, ExportFormat::Postman] {
        check(form, "", "", several);
    }
    check(ExportFormat::Hurl, "", "", several);
    for form in [ExportFormat::Python, ExportFormat::Typescript] {
        let script = "type: json, framing: script, extract: parts";
        check(form, "type: json, extract: parts", script, "JSON in a form");
        let header = "type: text, header: x-parts";
        check(form, "type: json, extract: shops", header, "a header of an answer");
        let page = "type: html, html: {items: li, fields: {id: ':labelled(\"No\")'}}";
        check(form, "type: json, extract: parts", page, "told by the label");
        let key = "steps:\n- name: shops";
        let keyed = "auth: {type: bearer, env: SHOP_KEY}\nsteps:\n- name: shops";
        check(form, key, keyed, "a key");
    }
}

#[test]
fn pages_are_read_by_a_selector_library() {
    let python = one(ExportFormat::Python, table());
    let spec = r#"_items_of(_answer, {"items": "tr", "fields": [["it", None, None, 1, None], ["link", None, "td > a", 2, "href"], ["name", "Lamp \"name\"", None, 1, None], ["price", 2, None, 1, None], ["tags", None, "b", None, None]], "run": True, "group": "h2", "least": 0, "types": {"price": {"money": {"decimal": "comma"}}}})"#;
    assert!(python.contains(spec), "{python}");
    assert!(python.contains("html5lib\nimport bs4\nimport soupsieve\n"), "{python}");
    let script = one(ExportFormat::Typescript, table());
    assert!(script.contains("import * as cheerio from \"cheerio\";"), "{script}");
    assert!(script.contains(r#"["tags", null, "b", null, null]"#), "{script}");
    // What has no page needs none of it.
    for form in [ExportFormat::Python, ExportFormat::Typescript] {
        let text = one(form, search());
        assert!(!text.contains("bs4") && !text.contains("cheerio"), "{text}");
    }
    let mut embedded = page();
    embedded.response.html = None;
    embedded.response.embedded = Some("script#data".to_owned());
    embedded.response.extract = Some("hits".to_owned());
    let text = one(ExportFormat::Python, embedded.clone());
    assert!(
        text.contains("jmespath.search(\"hits\", _script(_answer, \"script#data\"))"),
        "{text}"
    );
    embedded.response.variable = Some("state".to_owned());
    let why = exported(ExportFormat::Python, &[embedded]).refused.remove(0).why;
    assert!(why.contains("a script of a page assigns"), "{why}");
}

/// Of two functions of one name the second would be called for both.
#[test]
fn each_name_of_the_runtimes_stands_once() {
    let python = [
        include_str!("runtime/client.py"),
        include_str!("runtime/chain.py"),
        include_str!("runtime/filters.py"),
        include_str!("runtime/html.py"),
    ];
    let names: Vec<&str> = python
        .iter()
        .flat_map(|it| it.lines())
        .filter_map(|it| it.strip_prefix("def ").or_else(|| it.strip_prefix("class ")))
        .filter_map(|it| it.split(['(', ':']).next())
        .collect();
    let once: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!(names.len(), once.len(), "{names:?}");
}

#[test]
fn typescript_has_types_and_no_expression_left() {
    let text = one(ExportFormat::Typescript, search());
    let expected = r#"
export async function shopSearch(given: ShopSearchGiven, ask: typeof fetch = fetch): Promise<ShopSearch> {
  const { q, n = 10 } = given;
  const _answer = await _ask(
    ask,
    "GET",
    "https://shop.test/api/" + _segment(_slug(q)) + "/list",
    [["q", q], ["n", _text(n)], ["f[]", "a"], ["f[]", "b"]],
    {"accept": "application/json"},
    undefined,
    ["shop.test"],
  );
  const _json_ = _json(_answer);
  return _found<ShopSearch>(_each(_flat(_field(_json_, "hits")), (it1) => (it1 === null ? null : { ["id"]: _field(it1, "id"), ["title"]: _field(it1, "t") })));
}
"#;
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("  /** For example garden hose. */\n  q: string;\n"), "{text}");
    assert!(text.contains("export type ShopSearch = Array<{\n  \"id\": unknown;\n"), "{text}");
    let text = one(ExportFormat::Typescript, keyed("type: api_key, query: key"));
    assert!(text.contains(", key: string /* $SHOP_KEY */, ask"), "{text}");
    assert!(text.contains(r#"["shop.test"], ["query", "key", key],"#), "{text}");
}

#[test]
fn a_collection_has_variables_and_no_script_of_ours_but_one() {
    let text = one(ExportFormat::Postman, search());
    let it: Value = serde_json::from_str(&text).unwrap();
    let request = &it["item"][0]["request"];
    assert_eq!(
        request["url"]["raw"],
        "https://shop.test/api/{{shop_search.q}}/list?q={{shop_search.q_2}}&n={{shop_search.n}}&f%5B%5D=a&f%5B%5D=b"
    );
    assert_eq!(
        it["variable"][1],
        json!({"key": "shop_search.q_2", "value": "garden%20hose", "type": "string"})
    );
    let text = one(ExportFormat::Postman, posted());
    let it: Value = serde_json::from_str(&text).unwrap();
    let raw = it["item"][0]["request"]["body"]["raw"].as_str().unwrap();
    assert!(
        raw.contains(r#""n": {{shop_graph.n}}"#) && raw.contains(r#""query": "query { a }""#),
        "{raw}"
    );
}

#[test]
fn tools_and_skills_call_commis() {
    let it: Value = serde_json::from_str(&one(ExportFormat::OpenaiTools, search())).unwrap();
    let function = &it[0]["function"];
    assert_eq!(function["name"], "shop-search");
    assert_eq!(function["parameters"]["required"], json!(["q"]));
    // Words of a stranger are none of it.
    assert!(!function.to_string().contains("Find"), "{function}");
    let it: Value = serde_json::from_str(&one(ExportFormat::Mcp, cookie())).unwrap();
    assert_eq!(it[0]["outputSchema"]["required"], json!(["data"]));
    // Of one that nobody here stands for, no words and no examples.
    let out = exported(ExportFormat::Skill, &[search()]);
    assert!(!out.files[0].text.contains("Find"), "{}", out.files[0].text);
    let known = Recipe { trust: Trust::Proven, ..search() };
    let out = exported(ExportFormat::Skill, &[known]);
    assert_eq!(out.files[0].path, "shop-search/SKILL.md");
    let text = &out.files[0].text;
    assert!(
        text.starts_with("---\nname: shop-search\ndescription: \"Find q in the shop. Use"),
        "{text}"
    );
    assert!(text.contains("    commis recipe run shop-search -p q=VALUE --json\n"), "{text}");
    assert!(text.contains("| `n` | a whole number | no; 10 | 10 |"), "{text}");
}

#[test]
fn all_pages_go_into_the_forms_that_call_commis() {
    let pages = |all: bool| -> Recipe {
        let pages = serde_json::json!({
            "by": "page", "parameter": "page", "first": 1, "ends": ["empty"], "all": all, "seen": {"pages": 4, "items": 40},
        });
        Recipe { version: 2, pages: serde_json::from_value(pages).unwrap(), ..search() }
    };
    for form in ExportFormat::ALL {
        let calls_commis =
            matches!(form, ExportFormat::OpenaiTools | ExportFormat::Mcp | ExportFormat::Skill);
        let all = exported(*form, &[pages(true)]);
        assert_eq!(all.refused.is_empty(), calls_commis, "{form:?}");
        let first = exported(*form, &[pages(false)]);
        assert!(first.refused.is_empty() && first.notes.is_empty() == calls_commis, "{form:?}");
    }
}

#[test]
fn the_library_goes_into_every_form() {
    let all: Vec<Recipe> =
        library::NAMES.iter().map(|it| yaml::parse(library::text(it).unwrap()).unwrap()).collect();
    for form in ExportFormat::ALL {
        let out = exported(*form, &all);
        assert_eq!(out.refused, [], "{form:?}");
        assert!(!out.files.is_empty());
        assert_eq!(out, exported(*form, &all), "{form:?} is the same each time");
    }
}

/// Texts that end literals, comments and commands of some language.
fn hostile() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "'",
        "\"",
        "\"\"\"",
        "\\",
        "\n",
        "\r\n",
        "*/",
        "/*",
        "//",
        "#",
        "$(id)",
        "`id`",
        "${x}",
        "{{x}}",
        "}}",
        "%0a",
        "\u{2028}",
        "\u{202e}",
        "\u{1b}[2J",
        " ",
        "a",
        "é",
        ";",
        "&",
        "|",
        "---",
        "```",
        "</script>",
        "-p",
        "\\u{41}",
    ]);
    prop::collection::vec(odd, 0..8).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// A shell reads the words that were meant, whatever values, names and literals are.
    #[test]
    fn a_shell_reads_the_words_that_were_meant(value in hostile(), literal in hostile(), name in hostile(), task in hostile()) {
        let mut it = search();
        it.task = format!("x{task}");
        it.request.query[0].name = format!("n{name}");
        it.request.query[1].value = commis_recipe::template::escape(&literal);
        it.request.headers.clear();
        let value: String = value.chars().filter(|it| !"\n\r".contains(*it)).collect();
        let given = BTreeMap::from([("q".to_owned(), format!("v{value}"))]);
        let text = export(&[it.clone()], ExportFormat::Curl, &given).unwrap().files.remove(0).text;
        // A line that goes on; the crate makes a word of it.
        let words = shlex::split(&text.replace(" \\\n  ", " ")).unwrap();
        let request = resolved_request::fill_request(&it, &given).unwrap();
        let mut expected: Vec<String> = "curl --fail-with-body --silent --show-error --compressed --globoff --location"
            .split(' ')
            .map(str::to_owned)
            .collect();
        expected.push(request.url);
        prop_assert_eq!(words, expected);
    }

    /// Code has the lines that it has with plain texts: nothing of a stranger's begins one.
    #[test]
    fn code_has_no_lines_of_a_strangers(text in hostile()) {
        let with = |text: &str| {
            let mut it = chained();
            it.task = format!("x{text}");
            it.parameters[0].examples = vec![];
            it.request.query[0].name = format!("n{text}");
            it.request.query[1].value = format!("{}{{tok}}", commis_recipe::template::escape(text));
            it.slots[0].from = commis_recipe::model::SlotSource::Document {
                url: "https://shop.test/".to_owned(),
                after: format!("a{text}"),
                until: format!("b{text}"),
            };
            it
        };
        for form in [ExportFormat::Python, ExportFormat::Typescript] {
            let plain = exported(form, &[with("")]).files.remove(0).text;
            let odd = exported(form, &[with(&text)]).files.remove(0).text;
            let begins = |it: &str| -> Vec<String> {
                it.split(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}'])
                    .map(|it| {
                        if it.starts_with("/**") && it.ends_with("*/") {
                            return it.matches("*/").count().to_string();
                        }
                        it.chars().take_while(|it| *it != '"').take(12).collect()
                    })
                    .collect()
            };
            prop_assert_eq!(begins(&plain), begins(&odd), "{}", odd);
        }
    }
}
