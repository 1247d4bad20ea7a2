//! The request for a page of a list: the recipe's own with the position of that page in it.

use serde_json::Value;
use url::Url;

use super::{
    model::{BodyTemplate, Pair, RequestTemplate},
    paging::{PagePlace, Pages, Position},
    template::{Piece, Template},
};
use commis_base::error::{Code, Error, Result};

/// The request for the page at that position. Fails with `RESPONSE_INVALID` where a site's address leads elsewhere, and with
/// `RECIPE_INVALID` where the request has no place for it.
pub fn request_at_position(
    request: &RequestTemplate,
    pages: &Pages,
    position: &Position,
) -> Result<RequestTemplate> {
    let mut out = request.clone();
    let value = match position {
        Position::Address(it) => return request_at_address(request, it),
        Position::Number(it) => Value::from(*it),
        Position::Cursor(it) => Value::from(it.as_str()),
    };
    let name = pages.parameter.as_deref().unwrap_or_default();
    match (pages.place, &mut out.body) {
        (PagePlace::Query, _) => set_pair(&mut out.query, name, &value),
        (PagePlace::Form, Some(BodyTemplate::Form(pairs))) => set_pair(pairs, name, &value),
        (PagePlace::Json, Some(BodyTemplate::Json(body))) => {
            set_leaf(body, name, value).ok_or_else(|| missing_place_error(name))?;
        }
        (PagePlace::QueryJson, _) => {
            set_leaf_in_pair(&mut out.query, name, value)
                .ok_or_else(|| missing_place_error(name))?;
        }
        (PagePlace::FormJson, Some(BodyTemplate::Form(pairs))) => {
            set_leaf_in_pair(pairs, name, value).ok_or_else(|| missing_place_error(name))?;
        }
        _ => return Err(missing_place_error(name)),
    }
    Ok(out)
}

/// The parameter's pair: as it is in the request, or a new one at the end.
fn set_pair(pairs: &mut Vec<Pair>, name: &str, value: &Value) {
    let text = value.as_str().map_or_else(|| value.to_string(), escape_literal);
    match pairs.iter_mut().find(|it| it.name == name) {
        Some(it) => it.value = text,
        None => pairs.push(Pair { name: name.to_owned(), value: text, raw: String::new() }),
    }
}

/// Around a value of a template while the JSON around it is read: within a text, and in place of one.
const WITHIN: [char; 2] = ['\u{e000}', '\u{e001}'];
const INSTEAD: [char; 2] = ['\u{e002}', '\u{e003}'];

/// The JSON that the template of a pair holds, with marks in place of its names. `None` where it is no object.
fn marked_json(template: &str) -> Option<Value> {
    let mut text = String::new();
    let mut inside = false;
    for piece in Template::parse(template).ok()?.pieces() {
        match piece {
            Piece::Literal(it) if it.contains(is_mark) => return None,
            Piece::Literal(it) => {
                let mut escaped = false;
                for c in it.chars() {
                    inside ^= c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                }
                text.push_str(it);
            }
            Piece::Value(name, filters) => {
                let [open, close] = if inside { WITHIN } else { INSTEAD };
                let quote = if inside { "" } else { "\"" };
                text.push_str(quote);
                text.push(open);
                text.push_str(name);
                for it in filters {
                    text.push('|');
                    text.push_str(it.as_str());
                }
                text.push(close);
                text.push_str(quote);
            }
        }
    }
    serde_json::from_str(&text).ok().filter(Value::is_object)
}

fn is_mark(it: char) -> bool {
    WITHIN.contains(&it) || INSTEAD.contains(&it)
}

/// The JSON object that the template of a pair holds: its texts are templates, and a name outside of a text is one alone.
pub fn json_in_pair(template: &str) -> Option<Value> {
    fn unmark(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.values_mut().for_each(unmark),
            Value::Array(all) => all.iter_mut().for_each(unmark),
            Value::String(it) => {
                let text = escape_literal(it);
                *it = text
                    .replace([WITHIN[0], INSTEAD[0]], "{")
                    .replace([WITHIN[1], INSTEAD[1]], "}");
            }
            _ => {}
        }
    }
    let mut out = template.starts_with("{{").then(|| marked_json(template))??;
    unmark(&mut out);
    Some(out)
}

/// Sets a leaf of the JSON that a pair holds: for `variables/after` the leaf `/after` of the pair `variables`.
/// A request without the pair gets it.
fn set_leaf_in_pair(pairs: &mut Vec<Pair>, name: &str, value: Value) -> Option<()> {
    if value.as_str().is_some_and(|it| it.contains(is_mark)) {
        return None;
    }
    let (name, pointer) = name.split_at_checked(name.find('/')?)?;
    let at = pairs.iter().position(|it| it.name == name).unwrap_or_else(|| {
        let empty = escape_literal("{}");
        pairs.push(Pair { name: name.to_owned(), value: empty, raw: String::new() });
        pairs.len() - 1
    });
    let pair = &mut pairs[at];
    let mut body = marked_json(&pair.value)?;
    let (parent, key) = pointer.rsplit_once('/')?;
    let parent = body.pointer_mut(parent)?.as_object_mut()?;
    let key = key.replace("~1", "/").replace("~0", "~");
    let is_text = parent.get(&key).is_some_and(Value::is_string);
    let value = if is_text && value.is_number() { Value::from(value.to_string()) } else { value };
    parent.insert(key, value);
    pair.value = escape_literal(&body.to_string())
        .replace(&format!("\"{}", INSTEAD[0]), "{")
        .replace(&format!("{}\"", INSTEAD[1]), "}")
        .replace(WITHIN[0], "{")
        .replace(WITHIN[1], "}");
    Some(())
}

/// Sets a leaf, in an object that is there. A number that was written as a text stays one.
fn set_leaf(body: &mut Value, pointer: &str, value: Value) -> Option<()> {
    let (parent, key) = pointer.rsplit_once('/')?;
    let parent = body.pointer_mut(parent)?.as_object_mut()?;
    let key = key.replace("~1", "/").replace("~0", "~");
    let is_text = parent.get(&key).is_some_and(Value::is_string);
    let value = match value {
        Value::String(it) => Value::from(escape_literal(&it)),
        it if is_text => Value::from(it.to_string()),
        it => it,
    };
    parent.insert(key, value);
    Some(())
}

/// The page at an address that the site gave: of the same origin, asked for as the first page is.
fn request_at_address(request: &RequestTemplate, address: &str) -> Result<RequestTemplate> {
    let elsewhere = |why: &str| {
        Err(Error::new(Code::ParseError, format!("the address of the next page {why}"))
            .hint("the site may have changed; learn the recipe again"))
    };
    let base = Url::parse(&request.url.replace(['{', '}'], "")).ok();
    let Some((base, url)) = base.and_then(|it| Some((it.clone(), it.join(address).ok()?))) else {
        return elsewhere("cannot be read");
    };
    if url.origin() != base.origin() || url.password().is_some() || !url.username().is_empty() {
        return elsewhere("leads to another site");
    }
    let mut out = request.clone();
    out.url = escape_literal(&format!(
        "{}{}",
        url.origin().ascii_serialization(),
        decode_path(url.path())
    ));
    out.query = url
        .query_pairs()
        .map(|(name, value)| Pair {
            name: name.into_owned(),
            value: escape_literal(&value),
            raw: String::new(),
        })
        .collect();
    Ok(out)
}

/// A path as templates have it, which are encoded segment by segment. A segment with an encoded slash stays as it is.
fn decode_path(path: &str) -> String {
    let segment = |it: &str| {
        let text = percent_encoding::percent_decode_str(it).decode_utf8();
        text.ok()
            .filter(|it| !it.contains('/'))
            .map_or_else(|| it.to_owned(), std::borrow::Cow::into_owned)
    };
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

/// A text of a site as a template that means nothing but itself.
fn escape_literal(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

fn missing_place_error(name: &str) -> Error {
    Error::new(Code::RecipeInvalid, format!("`pages`: the request does not use `{name}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        paging::{PageBy, PagesSeen},
        request::CompiledRequest,
    };

    fn pages(place: PagePlace, parameter: &str) -> Pages {
        Pages {
            by: PageBy::Cursor,
            parameter: Some(parameter.to_owned()),
            place,
            first: None,
            next: None,
            ends: Vec::new(),
            key: None,
            alike: false,
            all: false,
            seen: PagesSeen::default(),
        }
    }

    fn request(value: Value) -> RequestTemplate {
        let mut all = json!({"method": "GET", "url": "http://a.test/api/list", "allowed_domains": ["a.test"]});
        all.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        serde_json::from_value(all).unwrap()
    }

    #[track_caller]
    fn sent(request: &RequestTemplate) -> (String, String) {
        let it =
            CompiledRequest::new(request).unwrap().fill(&crate::values::Values::default()).unwrap();
        (it.url, String::from_utf8(it.body.unwrap_or_default()).unwrap())
    }

    #[test]
    fn positions_in_all_places() {
        let of = |request: &RequestTemplate, pages: &Pages, position| {
            sent(&request_at_position(request, pages, &position).unwrap())
        };
        let query = request(json!({"query": [{"name": "page", "value": "1"}]}));
        let number = Position::Number(2);
        assert_eq!(
            of(&query, &pages(PagePlace::Query, "page"), number.clone()).0,
            "http://a.test/api/list?page=2"
        );
        let hostile = Position::Cursor("{q}&x=1\r\n".to_owned());
        assert_eq!(
            of(&query, &pages(PagePlace::Query, "after"), hostile).0,
            "http://a.test/api/list?page=1&after=%7Bq%7D%26x%3D1%0D%0A"
        );
        let post = |body: Value| request(json!({"method": "POST", "body": body}));
        let form = post(json!({"form": [{"name": "start", "value": "0"}]}));
        assert_eq!(of(&form, &pages(PagePlace::Form, "start"), number.clone()).1, "start=2");
        let body = post(json!({"json": {"variables": {"first": 6}}}));
        let cursor = Position::Cursor("b}c".to_owned());
        assert_eq!(
            of(&body, &pages(PagePlace::Json, "/variables/after"), cursor).1,
            r#"{"variables":{"first":6,"after":"b}c"}}"#
        );
        assert!(request_at_position(&query, &pages(PagePlace::Json, "/x"), &number).is_err());
    }

    #[test]
    fn positions_in_json_of_a_pair() {
        let pair = |value: &str| json!([{"name": "variables", "value": value}]);
        let own = r#"{{"q":"a {word|json} b","n":{count},"note":"{{}}","at":{{"after":null}}}}"#;
        let value_of = |place, request: &RequestTemplate, parameter: &str, cursor: &str| {
            let position = Position::Cursor(cursor.to_owned());
            let out = request_at_position(request, &pages(place, parameter), &position).ok()?;
            match out.body {
                Some(BodyTemplate::Form(pairs)) => Some(pairs[0].value.clone()),
                _ => Some(out.query[0].value.clone()),
            }
        };
        let query = request(json!({"query": pair(own)}));
        let post = request(json!({"method": "POST", "body": {"form": pair(own)}}));
        let expected =
            r#"{{"q":"a {word|json} b","n":{count},"note":"{{}}","at":{{"after":"c\"{{q}}"}}}}"#;
        for (place, request) in [(PagePlace::QueryJson, &query), (PagePlace::FormJson, &post)] {
            let found = value_of(place, request, "variables/at/after", "c\"{q}");
            assert_eq!(found.as_deref(), Some(expected), "{place:?}");
        }
        // A member that the first page does not send.
        let plain = request(json!({"query": pair(r#"{{"count":10}}"#)}));
        let found = value_of(PagePlace::QueryJson, &plain, "variables/cursor", "x");
        assert_eq!(found.as_deref(), Some(r#"{{"count":10,"cursor":"x"}}"#));
        // And the whole pair.
        let found = value_of(PagePlace::QueryJson, &request(json!({})), "variables/cursor", "x");
        assert_eq!(found.as_deref(), Some(r#"{{"cursor":"x"}}"#));
        // No object there, no JSON, and a cursor that would read as a value of the recipe.
        for (request, parameter, cursor) in [
            (&query, "variables/none/after", "x"),
            (&request(json!({"query": pair("plain")})), "variables/after", "x"),
            (&query, "variables/after", "\u{e000}word\u{e001}"),
        ] {
            assert_eq!(value_of(PagePlace::QueryJson, request, parameter, cursor), None);
        }
    }

    #[test]
    fn addresses_stay_at_the_site() {
        let first = request(json!({"query": [{"name": "q", "value": "{q}"}]}));
        let of = |it: &str| {
            request_at_position(
                &first,
                &pages(PagePlace::Query, ""),
                &Position::Address(it.to_owned()),
            )
        };
        for (address, expected) in [
            ("?q=a&page=2", "http://a.test/api/list?q=a&page=2"),
            ("/list/a%20b/2?x=%7By%7D", "http://a.test/list/a%20b/2?x=%7By%7D"),
            ("http://a.test/n?after=b%2Bc", "http://a.test/n?after=b%2Bc"),
        ] {
            assert_eq!(sent(&of(address).unwrap()).0, expected);
        }
        for it in [
            "http://b.test/x",
            "//b.test/x",
            "https://a.test/x",
            "http://u:p@a.test/x",
            "javascript:x",
        ] {
            assert!(of(it).is_err(), "{it}");
        }
    }
}
