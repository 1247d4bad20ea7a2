//! Templates filled: encodings, types, and that no value moves the host.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::{Constraints, ParamSource, ParamType};

fn parameter(name: &str, kind: ParamType, required: bool) -> Parameter {
    Parameter {
        name: name.into(),
        kind,
        required,
        source: ParamSource::TaskInput,
        default: None,
        constraints: Constraints::default(),
        examples: vec![],
    }
}

fn pair(name: &str, value: &str) -> Pair {
    Pair { name: name.into(), value: value.into(), ..Pair::default() }
}

fn request(url: &str) -> RequestTemplate {
    RequestTemplate {
        method: "GET".into(),
        url: url.into(),
        query: vec![],
        headers: BTreeMap::new(),
        body: None,
        host: None,
        address: None,
        charset: None,
        allowed_domains: vec!["a.com".into()],
        allowed_sites: vec![],
    }
}

fn given(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn url_of(request: &RequestTemplate, all: &[(&str, &str)]) -> String {
    let parameters = [parameter("q", ParamType::Str, true), parameter("o", ParamType::Str, false)];
    match prepare_request(request, &parameters, &given(all)) {
        Ok(it) => it.url,
        Err(err) => err.code().to_string(),
    }
}

#[test]
fn paths() {
    for (url, value, want) in [
        ("https://a.com/x/{q}", "b c", "https://a.com/x/b%20c"),
        ("https://a.com/x/{q}", "b/../c?d#e%2f", "https://a.com/x/b%2F..%2Fc%3Fd%23e%252f"),
        ("https://a.com/x/{q}", "ä\\", "https://a.com/x/%C3%A4%5C"),
        ("https://a.com/{q}.json", "..", "https://a.com/...json"),
        ("https://a.com/{q}", "..", "PARAM_INVALID"),
        ("https://a.com/{q}", ".", "PARAM_INVALID"),
        ("https://a.com/.{q}", ".", "PARAM_INVALID"),
        ("https://a.com/%2e{q}", ".", "PARAM_INVALID"),
        ("https://a.com/.%2{q}", "e", "PARAM_INVALID"),
        ("https://a.com/{q}/x", "", "PARAM_INVALID"),
        ("https://a.com/{o}/x", "unused", "PARAM_INVALID"),
        ("https://a.com/{{x}}/%C3%A4", "", "https://a.com/%7Bx%7D/%C3%A4"),
        ("https://a.com", "", "https://a.com/"),
        ("https://a.com:8443/y", "", "https://a.com:8443/y"),
        ("https://{q}.com/", "b", "RECIPE_INVALID"),
        ("https://a.com:{q}/", "1", "RECIPE_INVALID"),
        ("{q}://a.com/", "http", "RECIPE_INVALID"),
        ("https://a.com{q}/", ".b.com", "RECIPE_INVALID"),
        ("https://a.com/?x={q}", "b", "RECIPE_INVALID"),
        ("https://u@a.com/", "b", "RECIPE_INVALID"),
        ("ftp://a.com/", "b", "RECIPE_INVALID"),
        ("/x", "b", "RECIPE_INVALID"),
    ] {
        assert_eq!(url_of(&request(url), &[("q", value)]), want, "{url} {value}");
    }
}

#[test]
fn queries() {
    let mut request = request("https://a.com/s");
    request.query = vec![
        pair("q", "{q}"),
        pair("q", "in:{q}!"),
        pair("o", "{o}"),
        pair("empty", ""),
        pair("b&", "{{x}}"),
    ];
    assert_eq!(
        url_of(&request, &[("q", "a&b=c d#é")]),
        "https://a.com/s?q=a%26b%3Dc+d%23%C3%A9&q=in%3Aa%26b%3Dc+d%23%C3%A9%21&empty=&b%26=%7Bx%7D"
    );
    assert!(url_of(&request, &[("q", "1"), ("o", "2")]).contains("&o=2&"));
    assert_eq!(url_of(&request, &[]), "PARAM_INVALID");
    request.query.push(pair("t", "{token}"));
    assert_eq!(url_of(&request, &[("q", "1")]), "SESSION_REQUIRED");
    assert!(url_of(&request, &[("q", "1"), ("token", "T")]).ends_with("&t=T"));
}

#[test]
fn bodies() {
    let parameters = [
        parameter("q", ParamType::Str, true),
        parameter("n", ParamType::Int, true),
        parameter("f", ParamType::Float, true),
        parameter("b", ParamType::Bool, true),
        parameter("o", ParamType::Str, false),
    ];
    let values = given(&[("q", "a\"b&"), ("n", "3"), ("f", "2.5"), ("b", "true")]);
    let sent = |body: BodyTemplate| {
        let request = RequestTemplate {
            method: "POST".into(),
            body: Some(body),
            ..request("https://a.com/")
        };
        let out = prepare_request(&request, &parameters, &values).unwrap();
        (out.headers[0].1.clone(), String::from_utf8(out.body.unwrap()).unwrap())
    };
    let (mime, body) = sent(BodyTemplate::Json(json!({
        "q": "{q}", "n": "{n}", "s": "n={n}", "f": "{f}", "b": ["{b}", "{o}"], "o": "{o}", "k": 7, "{q}": "{{x}}"
    })));
    assert_eq!(mime, "application/json");
    assert_eq!(
        serde_json::from_str::<Value>(&body).unwrap(),
        json!({"q": "a\"b&", "n": 3, "s": "n=3", "f": 2.5, "b": [true], "k": 7, "{q}": "{x}"})
    );
    assert_eq!(
        sent(BodyTemplate::Form(vec![pair("a", "{q}"), pair("o", "{o}")])),
        ("application/x-www-form-urlencoded".to_owned(), "a=a%22b%26".to_owned())
    );
    assert_eq!(sent(BodyTemplate::Text("<{n}>".into())).1, "<3>");
}

#[test]
fn forms_in_parts() {
    let parameters = [parameter("q", ParamType::Str, true), parameter("o", ParamType::Str, false)];
    let sent = |q: &str| {
        let request = RequestTemplate {
            method: "POST".into(),
            headers: BTreeMap::from([("content-type".to_owned(), MULTIPART.to_owned())]),
            body: Some(BodyTemplate::Form(vec![
                pair("a\"b", "{q}"),
                pair("o", "{o}"),
                pair("scope", "all"),
            ])),
            ..request("https://a.com/")
        };
        let out = prepare_request(&request, &parameters, &given(&[("q", q)])).unwrap();
        assert_eq!(out.headers.len(), 1);
        (out.headers[0].1.clone(), String::from_utf8(out.body.unwrap()).unwrap())
    };
    let (mime, body) = sent("oak & fern");
    assert_eq!(mime, "multipart/form-data; boundary=----FormBoundary0000000000000000");
    assert_eq!(
        body,
        "------FormBoundary0000000000000000\r\nContent-Disposition: form-data; name=\"a%22b\"\r\n\r\noak & fern\r\n\
         ------FormBoundary0000000000000000\r\nContent-Disposition: form-data; name=\"scope\"\r\n\r\nall\r\n\
         ------FormBoundary0000000000000000--\r\n"
    );
    // A value that holds the boundary does not end its part.
    let (mime, body) = sent("x------FormBoundary0000000000000000");
    assert_eq!(mime, "multipart/form-data; boundary=----FormBoundary0000000000000001");
    assert_eq!(body.matches("------FormBoundary0000000000000001").count(), 3);
}

#[test]
fn headers_and_methods() {
    let mut request = request("https://a.com/");
    request.headers = [("x-q", "<{q}>"), ("x-o", "{o}")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let parameters = [parameter("q", ParamType::Str, true), parameter("o", ParamType::Str, false)];
    let out = prepare_request(&request, &parameters, &given(&[("q", "v")])).unwrap();
    assert_eq!(out.headers, [("x-q".to_owned(), "<v>".to_owned())]);
    let refused = prepare_request(&request, &parameters, &given(&[("q", "\u{1}")]));
    assert_eq!(refused.err().unwrap().code(), Code::ParamInvalid);
    request.method = "DELETE".into();
    let refused = prepare_request(&request, &parameters, &given(&[("q", "v")]));
    assert_eq!(refused.err().unwrap().code(), Code::MethodNotAllowed);
}

proptest! {
    /// Whatever the values, scheme, host, port and number of path segments stay.
    #[test]
    fn values_stay_in_their_place(q in ".{0,40}", o in "[./\\\\?#%@:a2eE\t ]{0,12}") {
        let mut request = request("https://a.com:8443/x/{q}/y{o}/z");
        request.query = vec![pair("k", "{q}"), pair("l", "{o}")];
        let out = url_of(&request, &[("q", &q), ("o", &o)]);
        if out != "PARAM_INVALID" {
            let url = Url::parse(&out).unwrap();
            prop_assert_eq!(url.scheme(), "https");
            prop_assert_eq!(url.host_str(), Some("a.com"));
            prop_assert_eq!(url.port(), Some(8443));
            prop_assert_eq!(url.path_segments().unwrap().count(), 4);
            prop_assert!(url.fragment().is_none() && url.username().is_empty());
            let pairs: Vec<_> = url.query_pairs().map(|it| it.1.into_owned()).collect();
            prop_assert_eq!(pairs, vec![q, o]);
        }
    }
}

#[test]
fn what_a_page_left_raw_in_a_query_is_sent_raw() {
    for (raw, value, given, sent) in [
        (";=", "x.git;a=history;f={q}", "pump.c", "p=x.git;a=history;f=pump.c"),
        (";=", "x.git;f={q}", "a;b=c&d#e", "p=x.git;f=a%3Bb%3Dc%26d%23e"),
        ("/:", "{q}", "src/a b:c", "p=src/a+b:c"),
        (" ,", "a b,{q}", "c d", "p=a%20b,c%20d"),
        ("", "a:b {q}", "é", "p=a%3Ab+%C3%A9"),
        ("&#%+", "a&b#c%20+{q}", "x&y", "p=a%26b%23c%2520%2Bx%26y"),
    ] {
        let mut request = request("http://a.test/g");
        request.query = vec![Pair { raw: raw.to_owned(), ..pair("p", value) }];
        let values = BTreeMap::from([("q".to_owned(), given.to_owned())]);
        let sent_url = prepare_request(&request, &[], &values).unwrap().url;
        assert_eq!(sent_url, format!("http://a.test/g?{sent}"));
    }
}

#[test]
fn forms_in_another_charset() {
    let sent = |charset: &str, method: &str, value: &str| {
        let mut request = request("http://a.test/find");
        request.charset = Some(charset.to_owned());
        let pair = Pair { name: "q".to_owned(), value: value.to_owned(), ..Pair::default() };
        request.method = method.to_owned();
        if method == "POST" {
            request.body = Some(BodyTemplate::Form(vec![pair]));
        } else {
            request.query = vec![pair];
        }
        let it = prepare_request(&request, &[], &BTreeMap::new()).unwrap();
        it.body.map_or(it.url, |it| String::from_utf8(it).unwrap())
    };
    assert_eq!(sent("windows-1251", "GET", "дуб"), "http://a.test/find?q=%E4%F3%E1");
    assert_eq!(sent("windows-1251", "POST", "дуб 1"), "q=%E4%F3%E1+1");
    // What the charset does not have.
    assert_eq!(sent("windows-1251", "POST", "東"), "q=%26%2326481%3B");
    let mut other = request("http://a.test/find");
    other.charset = Some("utf-7".to_owned());
    assert_eq!(CompiledRequest::new(&other).unwrap_err().code(), Code::RecipeInvalid);
}

#[test]
fn a_list_is_json_in_json_and_text_elsewhere() {
    let mut asked = request("https://a.com/x");
    asked.method = "POST".into();
    asked.query = vec![pair("all", "{s.id}")];
    asked.body = Some(BodyTemplate::Json(json!({"ids": "{s.id}", "as": "x{s.id}"})));
    let mut values = Values::default();
    values.add_list("s.id", "[1,\"b\"]", Some(json!([1, "b"]))).unwrap();
    let it = CompiledRequest::new(&asked).unwrap().fill(&values).unwrap();
    let body: Value = serde_json::from_slice(&it.body.unwrap()).unwrap();
    assert_eq!(body, json!({"ids": [1, "b"], "as": "x[1,\"b\"]"}));
    assert_eq!(it.url, "https://a.com/x?all=%5B1%2C%22b%22%5D");
}
