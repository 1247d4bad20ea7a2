//! Which page of a list a request asks for. A recipe learned from the second page would leave out the first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::{cursors::in_lists, endpoint::is_answer_lost, validate::captured};
use commis_artifacts::payloads::Moved;
use commis_artifacts::recording::{Excerpt, Exchange, RequestBody, SessionRecording};
use commis_recipe::{
    model::ResponseSpec, positions::is_position, shape::similarity_bp, values::is_date,
};

/// Two pages of a list have one shape, to so many basis points.
const ALIKE_BP: u32 = 8500;
/// Characters of a position that no name gives away.
const MIN_GIVEN: usize = 4;
/// Digits of a clock or of chance: such values differ between any two calls.
const CHANCE: usize = 10;

/// Whether `later` goes on with the list that `earlier`, an earlier request of the same endpoint, asked for: the two differ in
/// nothing but a position in the list, and `earlier` gives none or the first. A position has the name of one, or is what the answer to
/// `earlier` gives for it.
pub fn continues(later: &Exchange, earlier: &Exchange) -> bool {
    if earlier.id >= later.id || !asks_alike(later, earlier) {
        return false;
    }
    let (Some(now), Some(before)) = (parts(later), parts(earlier)) else { return false };
    let names: BTreeSet<&String> = now.keys().chain(before.keys()).collect();
    let mut moved = false;
    for name in names {
        let (now, before) = (now.get(name), before.get(name));
        if now == before {
            continue;
        }
        if is_position(name) && goes_on(name, now, before)
            || before.is_none() && now.is_some_and(|it| is_given(earlier, it))
        {
            moved = true;
        } else if !(now.is_some_and(|it| by_chance(it)) && before.is_some_and(|it| by_chance(it))) {
            return false;
        }
    }
    moved
}

/// Whether both hold the same of what was typed, and were answered in one shape, as far as the later answer is known.
fn asks_alike(later: &Exchange, earlier: &Exchange) -> bool {
    let typed = |it: &Exchange| -> Vec<(String, String)> {
        it.measures.typed_in_request.iter().map(|it| (it.name.clone(), it.key.clone())).collect()
    };
    later.method == earlier.method
        && typed(later) == typed(earlier)
        && (is_answer_lost(later)
            || similarity_bp(&later.measures.shape, &earlier.measures.shape) >= ALIKE_BP)
}

/// What was captured of the call's answer, and of those to calls that went on with its list.
pub fn pages(
    recording: &SessionRecording,
    exchange: &Exchange,
    response: &ResponseSpec,
) -> Vec<Value> {
    let further = recording.exchanges.iter().filter(|it| continues(it, exchange));
    let data = |it| captured(it, response).map(|it| it.data);
    let Some(own) = data(exchange) else { return Vec::new() };
    std::iter::once(own).chain(further.filter_map(data)).collect()
}

/// How many items calls that went on with the list gave that its first page, the first of [`pages`], does not hold. A parameter that
/// the site ignores gives the same ones.
pub fn further_items(pages: &[Value]) -> u32 {
    let mut lists = pages.iter().filter_map(Value::as_array);
    let Some(own) = lists.next() else { return 0 };
    lists.flatten().filter(|it| !own.contains(it)).count() as u32
}

/// The part of the request by which the recording asked for two parts of one list, though its name does not say that it is a position:
/// a number that was counted on by one, or by the items of the earlier answer, and gave items of one shape of which none is the same.
/// Such a number may also name a category, so nobody knows which part is meant.
pub fn counted_part(
    recording: &SessionRecording,
    exchange: &Exchange,
    response: &ResponseSpec,
) -> Option<String> {
    let list = |it| captured(it, response)?.data.as_array().filter(|it| !it.is_empty()).cloned();
    let own = list(exchange)?;
    recording.exchanges.iter().filter(|it| it.id != exchange.id).find_map(|other| {
        let (later, earlier) =
            if other.id > exchange.id { (other, exchange) } else { (exchange, other) };
        if !asks_alike(later, earlier) || continues(later, earlier) {
            return None;
        }
        if is_answer_lost(later) {
            return counted_on(later, earlier, own.len() as i64);
        }
        let theirs = list(other)?;
        let (many, few) = if other.id > exchange.id { (&own, &theirs) } else { (&theirs, &own) };
        let name = counted_on(later, earlier, many.len() as i64)?;
        (many.len() >= few.len() && !few.iter().any(|it| many.contains(it))).then_some(name)
    })
}

/// The one part in which two requests differ, but for values of chance, where it is a number that was counted on.
fn counted_on(later: &Exchange, earlier: &Exchange, items: i64) -> Option<String> {
    let parts = |it| {
        let mut out = parts(it)?;
        let path = out.remove("path")?.pop()?;
        let segments = path.split('/').enumerate();
        out.extend(segments.map(|(at, it)| (format!("path/{at}"), vec![it.to_owned()])));
        Some(out)
    };
    let (now, before) = (parts(later)?, parts(earlier)?);
    let names: BTreeSet<&String> = now.keys().chain(before.keys()).collect();
    let mut others = names.into_iter().filter(|it| is_other(now.get(*it), before.get(*it)));
    let (Some(name), None) = (others.next(), others.next()) else { return None };
    let number = |it: Option<&Vec<String>>| match it.map(Vec::as_slice) {
        Some([it]) => it.parse::<i64>().ok(),
        _ => None,
    };
    let to = number(now.get(name))?;
    let is_counted = match before.get(name) {
        None => matches!(to, 1 | 2) || to == items,
        it => number(it).is_some_and(|from| to == from + 1 || to == from + items),
    };
    is_counted.then(|| name.clone())
}

/// Whether a later request to the same path asks for something else than another page: it differs in more than chance, a position in
/// the list or one number that was counted on.
pub fn asks_otherwise(later: &Exchange, earlier: &Exchange) -> bool {
    let (Some(now), Some(before)) = (parts(later), parts(earlier)) else { return false };
    now.keys().chain(before.keys()).any(|it| is_other(now.get(it), before.get(it)))
        && !continues(later, earlier)
        && counted_on(later, earlier, 0).is_none()
}

/// What the first later call changed that goes on with this one's list.
pub fn moved(recording: &SessionRecording, exchange: &Exchange) -> Vec<Moved> {
    let later = recording.exchanges.iter().find(|it| continues(it, exchange));
    let Some((now, before)) = later.and_then(parts).zip(parts(exchange)) else { return Vec::new() };
    let is_moved = |name: &String, value: &Vec<String>| match before.get(name) {
        Some(it) => it != value && is_position(name),
        None => is_position(name) || is_given(exchange, value),
    };
    now.into_iter()
        .filter(|(name, value)| is_moved(name, value))
        .filter_map(|(name, mut value)| {
            let from = before.get(&name).and_then(|it| it.first()).cloned();
            let to = value.pop()?;
            Some(Moved { name, from, given: locate_value(exchange, &to), to })
        })
        .collect()
}

/// Where the lists of an answer hold a value for its next page.
fn locate_value(exchange: &Exchange, value: &str) -> Vec<String> {
    match &exchange.excerpt {
        Some(Excerpt::Json(answer)) => in_lists(answer, value),
        _ => Vec::new(),
    }
}

/// The answer gives the one value: too long to stand there by chance.
fn is_given(exchange: &Exchange, values: &[String]) -> bool {
    matches!(values, [it] if it.len() >= MIN_GIVEN && !locate_value(exchange, it).is_empty())
}

/// Every scalar of the request by its place; texts that are JSON are taken apart.
fn parts(exchange: &Exchange) -> Option<BTreeMap<String, Vec<String>>> {
    let url = Url::parse(&exchange.url).ok()?;
    let mut out = BTreeMap::new();
    add_value(&mut out, "path", url.path());
    for (name, value) in url.query_pairs() {
        add_value(&mut out, &name, &value);
    }
    match &exchange.request_body {
        None => {}
        Some(RequestBody::Json(it)) => add_leaves(it, "body", &mut out),
        Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
            for it in fields {
                add_value(&mut out, &it.name, &it.value);
            }
        }
        Some(RequestBody::Text(it)) => add_value(&mut out, "body", it),
        Some(RequestBody::Binary { .. }) => return None,
    }
    Some(out)
}

fn add_value(out: &mut BTreeMap<String, Vec<String>>, name: &str, value: &str) {
    match serde_json::from_str::<Value>(value) {
        Ok(it) if it.is_object() || it.is_array() => add_leaves(&it, name, out),
        _ => out.entry(name.to_owned()).or_default().push(value.to_owned()),
    }
}

/// A member that is null is one that is not there.
fn add_leaves(value: &Value, at: &str, out: &mut BTreeMap<String, Vec<String>>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, it)| add_leaves(it, &format!("{at}/{key}"), out));
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(i, it)| add_leaves(it, &format!("{at}/{i}"), out));
        }
        Value::Null => {}
        Value::String(it) => add_value(out, at, it),
        other => out.entry(at.to_owned()).or_default().push(other.to_string()),
    }
}

fn goes_on(name: &str, now: Option<&Vec<String>>, before: Option<&Vec<String>>) -> bool {
    let number = |it: &str| it.parse::<i64>().ok();
    let Some([now]) = now.map(Vec::as_slice) else { return false };
    let before = match before.map(Vec::as_slice) {
        None => None,
        Some([it]) => Some(it.as_str()).filter(|it| !it.is_empty() && *it != "*"),
        Some(_) => return false,
    };
    match (number(now), before) {
        // `from=100` may be a price where nothing was said before.
        (Some(now), None) => now > 0 && !is_named(name, "from"),
        (Some(now), Some(before)) => {
            number(before).is_some_and(|it| matches!(it, 0 | 1) && it < now)
        }
        (None, None) => !now.is_empty() && !is_date(now) && !is_named(name, "from"),
        // A cursor after the first page's number.
        (None, Some(before)) => matches!(number(before), Some(0 | 1)),
    }
}

fn is_named(name: &str, last: &str) -> bool {
    name.rsplit('/').next().is_some_and(|it| it.eq_ignore_ascii_case(last))
}

/// Whether two values of one part differ in more than chance.
fn is_other(now: Option<&Vec<String>>, before: Option<&Vec<String>>) -> bool {
    let of_chance = |it: Option<&Vec<String>>| it.is_some_and(|it| by_chance(it));
    now != before && !(of_chance(now) && of_chance(before))
}

fn by_chance(values: &[String]) -> bool {
    values.iter().all(|it| {
        it.len() >= CHANCE && it.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'_')
    })
}

#[cfg(test)]
pub mod tests {
    use serde_json::json;

    use super::*;

    pub fn exchange(id: u32, query: &str, body: Option<Value>) -> Exchange {
        let method = if body.is_some() { "POST" } else { "GET" };
        serde_json::from_value(json!({
            "id": id, "method": method, "url": format!("http://a.test/api/list?{query}"), "request_headers": [],
            "request_body": body.map(|it| json!({"json": it})), "status": 200,
            "response_headers": [], "mime": "application/json", "resource_type": "fetch",
            "initiator": {"kind": "script", "has_stack": true, "page_url": "", "target": "page"},
            "timing": {"start_ms": 0, "ttfb_ms": 0, "total_ms": 0}, "after_action": null, "redirected_from": null,
            "encoded_bytes": null, "decoded_bytes": null, "body_status": "captured", "excerpt": null,
            "measures": {"shape": ["$:list"], "lists": [], "leaves": 0, "leaves_visible": 0, "visible_weight": 0,
                "page_coverage_bp": 0, "typed_in_request": [], "typed_in_response": [], "json_nodes": 0, "json_depth": 0,
                "top_keys": [], "embedded_json": []},
            "origins": []
        }))
        .unwrap()
    }

    #[test]
    fn parts_that_were_counted_on() {
        let counted =
            |before, now| counted_on(&exchange(2, now, None), &exchange(1, before, None), 6);
        for (before, now, expected) in [
            ("q=a&blad=1", "q=a&blad=2", Some("blad")),
            ("q=a&blad=0", "q=a&blad=6", Some("blad")),
            ("q=a", "q=a&blad=2", Some("blad")),
            ("q=a&blad=1&_=1795318414411", "q=a&blad=2&_=1795318415411", Some("blad")),
            ("q=a&blad=1", "q=a&blad=7", Some("blad")),
            ("q=a&kind=3", "q=a&kind=8", None),
            ("q=a&kind=used", "q=a&kind=new", None),
            ("q=a&blad=1&by=name", "q=a&blad=2&by=price", None),
            ("q=a", "q=a&most=300", None),
        ] {
            assert_eq!(counted(before, now).as_deref(), expected, "{before} {now}");
        }
    }

    #[test]
    fn items_of_later_pages() {
        let page = |all: &[u64]| Value::from(all.to_vec());
        assert_eq!(further_items(&[page(&[1, 2]), page(&[3, 4]), page(&[4, 5])]), 4);
        assert_eq!(further_items(&[page(&[1, 2]), page(&[2, 1])]), 0);
        assert_eq!(further_items(&[page(&[1, 2]), page(&[])]), 0);
        assert_eq!(further_items(&[json!({"a": 1}), json!({"a": 2})]), 0);
        assert_eq!(further_items(&[]), 0);
    }

    #[test]
    fn what_goes_on_with_a_list() {
        for (before, now, expected) in [
            ("q=a&offset=0&limit=6", "q=a&offset=6&limit=6", true),
            ("q=a", "q=a&page=2", true),
            ("q=a&pageNumber=1", "q=a&pageNumber=3", true),
            ("q=a", "q=a&cursor=c5d1db", true),
            ("q=a&_t=1795318414411", "q=a&_t=1795318415411&next_token=xyz", true),
            (r#"variables={"q":"a","after":null}"#, r#"variables={"q":"a","after":"xyz"}"#, true),
            ("from=0&size=10", "from=10&size=10", true),
            // Another question, another filter, the same page again.
            ("q=a&offset=0", "q=b&offset=6", false),
            ("q=a", "q=a&from=100", false),
            ("q=a", "q=a&after=2026-01-31", false),
            ("from=12", "from=15", false),
            ("q=a", "q=a&access_token=xyz123", false),
            ("q=a&offset=6", "q=a&offset=0", false),
            ("q=a&limit=6", "q=a&limit=12", false),
            ("q=a", "q=a", false),
        ] {
            let (earlier, later) = (exchange(1, before, None), exchange(2, now, None));
            assert_eq!(continues(&later, &earlier), expected, "{before} {now}");
            assert!(!continues(&earlier, &later), "{before} {now}");
        }
        // The number of the last item, and one of an item in between.
        let list = json!([{"id": 8459, "by": "Ada"}, {"id": 8321, "by": "Ben"}, {"id": 8100, "by": "Cleo"}]);
        for (now, expected) in
            [("q=a&max_id=8100", true), ("q=a&max_id=8321", false), ("q=a&x=810", false)]
        {
            let mut earlier = exchange(1, "q=a", None);
            earlier.excerpt = Some(Excerpt::Json(list.clone()));
            assert_eq!(continues(&exchange(2, now, None), &earlier), expected, "{now}");
        }
        let body = |page: u32| json!({"query": "a", "paging": {"page": page}});
        let (earlier, later) = (exchange(1, "", Some(body(1))), exchange(2, "", Some(body(2))));
        assert!(continues(&later, &earlier));
    }
}
