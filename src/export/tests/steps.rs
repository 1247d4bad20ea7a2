//! Recipes of several requests as Hurl files and as Arazzo workflows.

use super::*;

/// Two steps of one request, a job that is waited for, and a value in each place.
const HURL_STEPS: &str = "version: 2
name: shop-walk
task: Show the parts of {q}
status: draft
source_url: https://shop.test/
parameters: [{name: q, type: str, required: true, source: task_input, examples: [Garden hose]}]
steps:
- name: shop
  request: {method: GET, url: 'https://shop.test/shops', allowed_domains: [shop.test]}
  response: {type: json, extract: 'shops[].{no: id, name: title}'}
  choose: {where: {name: '{q}'}}
- name: first
  request: {method: GET, url: 'https://shop.test/shops', allowed_domains: [shop.test]}
  response: {type: json, extract: shops}
  choose: first
- name: job
  request: {method: GET, url: 'https://shop.test/jobs/{shop.no}', allowed_domains: [shop.test]}
  response: {type: json, extract: job}
  poll: {until: \"state == 'done'\", at_most: 5}
- name: parts
  request: {method: POST, url: 'https://shop.test/parts', body: {json: ['{shop.no}', '{job.id|number}', 'n{first.team.id}']}, allowed_domains: [shop.test]}
  response: {type: json, extract: parts}
";

#[test]
fn hurl_holds_steps() {
    let text = one(ExportFormat::Hurl, yaml::parse(HURL_STEPS).unwrap());
    let item = r"$['shops'][?(@['title'] == 'Garden hose' || match(@['title'], '(?i)\u{5c}\u{5c}s*Garden\u{5c}\u{5c}s+hose\u{5c}\u{5c}s*'))]";
    let expected = format!(
        r#"
GET https://shop.test/shops
[Options]
location: true
compressed: true
HTTP 200
[Captures]
shop_no: jsonpath "{item}['id']" toString
shop_no_in_path: jsonpath "{item}['id']" toString urlEncode replace "/" "%2F"
first_team_id: jsonpath "$['shops'][0]['team']['id']" toString
[Asserts]
jsonpath "{item}" isObject
jsonpath "{item}['id']" != null
jsonpath "$['shops'][0]['team']['id']" != null

GET https://shop.test/jobs/{{{{shop_no_in_path}}}}
[Options]
location: true
compressed: true
retry: 4
retry-interval: 1s
HTTP 200
[Captures]
job_id: jsonpath "$['job']['id']" toString
[Asserts]
jsonpath "$['job']['state']" == "done"
jsonpath "$['job']['id']" != null

POST https://shop.test/parts
content-type: application/json
[Options]
location: true
compressed: true
["{{{{shop_no}}}}", {{{{job_id}}}}, "n{{{{first_team_id}}}}"]
HTTP 200
[Asserts]
jsonpath "$['parts']" exists
"#
    );
    assert_eq!(text.split_once("\n\n").map(|it| format!("\n{}", it.1)), Some(expected));
}

#[test]
fn arazzo_holds_steps() {
    let text = HURL_STEPS
        .replace("choose: {where: {name: '{q}'}}", "choose: first")
        .replace("{job.id|number}", "{job.id}");
    let out = exported(ExportFormat::Arazzo, &[yaml::parse(&text).unwrap()]);
    let names: Vec<&str> = out.files.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(names, ["shop-walk.arazzo.json", "shop-walk.shop.test.json"]);
    let it: Value = serde_json::from_str(&out.files[0].text).unwrap();
    let steps = &it["workflows"][0]["steps"];
    assert_eq!(steps[0]["outputs"], json!({"no": "$response.body#/shops/0/id"}));
    // The same request is the same operation.
    assert_eq!(steps[1]["operationId"], "shop_walk_shop");
    assert_eq!(steps[1]["outputs"], json!({"team_id": "$response.body#/shops/0/team/id"}));
    assert_eq!(
        steps[2]["parameters"],
        json!([{"name": "shop_no", "in": "path", "value": "$steps.shop.outputs.no"}])
    );
    assert_eq!(steps[2]["successCriteria"][1]["condition"], "$response.body#/job/state == 'done'");
    assert_eq!(steps[2]["onFailure"][0]["retryLimit"], 4);
    assert_eq!(
        steps[3]["requestBody"]["payload"],
        json!([
            "{$steps.shop.outputs.no}",
            "{$steps.job.outputs.id}",
            "n{$steps.first.outputs.team_id}"
        ])
    );
    assert_eq!(steps[3]["outputs"]["data"], "$response.body#/parts");
    let source: Value = serde_json::from_str(&out.files[1].text).unwrap();
    assert!(source["paths"]["/jobs/{shop_no}"]["get"].is_object(), "{source}");
    let one = exported(ExportFormat::Arazzo, &[search()]);
    let it: Value = serde_json::from_str(&one.files[0].text).unwrap();
    let inputs = &it["workflows"][0]["inputs"];
    let mut required: Vec<&str> =
        inputs["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    required.sort_unstable();
    assert_eq!(required, ["n", "q", "q_slug"]);
    assert_eq!(inputs["properties"]["q_slug"]["examples"][0], "garden-hose");
}

#[test]
fn steps_that_a_form_has_no_words_for_are_refused_with_a_code() {
    for (form, old, new, why) in [
        (ExportFormat::Hurl, "choose: first", "choose: {all: ','}", "the values of all items"),
        (ExportFormat::Hurl, "state == 'done'", "a || b", "a wait until"),
        (ExportFormat::Hurl, "extract: shops", "extract: 'sort_by(shops, &id)'", "an expression"),
        (ExportFormat::Hurl, "  choose: first\n", "", ""),
        (ExportFormat::Arazzo, "choose: first", "choose: only", "found by its fields"),
        (ExportFormat::Postman, "", "", "several requests, and this form holds one"),
        (ExportFormat::Openapi, "", "", "several requests, and this form holds one"),
    ] {
        let text = HURL_STEPS.replace(old, new);
        assert!(old.is_empty() || text != HURL_STEPS, "{old}");
        let out = exported(form, &[yaml::parse(&text).unwrap()]);
        let told = out.refused.first().map(|it| (it.code, it.why.contains(why)));
        let expected = (!why.is_empty()).then_some((RefusalCode::SeveralRequests, true));
        assert_eq!(told, expected, "{:?}", out.refused);
    }
    let each = exported(ExportFormat::Hurl, &[yaml::parse(STEPS).unwrap()]);
    assert!(each.refused[0].why.contains("one request for each item"), "{:?}", each.refused);
    let written = serde_json::to_value(&each.refused[0]).unwrap();
    assert_eq!(written["code"], "SEVERAL_REQUESTS");
}
