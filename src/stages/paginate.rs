//! How the further pages of a list are asked for: found by what the answer, the page and the recording offer, and proven by following
//! both examples to the end.
//!
//! A way is proven where the second page goes on with the first, nothing is missing against the site's own total, and the end is
//! recognised. All else leaves the recipe with its first page.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    cursors::{cursors, in_lists, names_for},
    length::ProofAnswer,
    refutation::{Failure, Proof, require_answer},
    replay::{Observation, ReplayCall, Replayer, observe, passing},
};
use commis_artifacts::payloads::{Moved, RecipeDraftMinimized, Replay};
use commis_base::error::Code;
use commis_recipe::{
    blocks,
    document::Document,
    expression::Query,
    model::{
        BodyTemplate, PageInfo, Pair, ParamType, Parameter, RequestTemplate, ResponseSpec,
        TransportKind,
    },
    page_request,
    pagination::{expression, is_continuation, next_address, next_url_in_headers, scalars, words},
    paging::{PageBy, PagePlace, Pages, PagesSeen},
    positions::is_position,
    template::Template,
};
use commis_runner::pages::{PageAnswer, PageWalk};

/// Calls of one proof where the task asks for all items, and where it does not; and its time. A longer list stays unproven.
const MAX_CALLS: u32 = 80;
const USUAL_CALLS: u32 = 24;
const MAX_TIME: Duration = Duration::from_secs(120);
/// Ways that are tried.
const MAX_WAYS: usize = 12;
/// Per cent of the items that may come twice where pages overlap.
const OVERLAP: u64 = 20;
/// Names of positions that are tried where nothing shows one.
const USUAL: &[(PageBy, &str)] = &[
    (PageBy::Page, "page"),
    (PageBy::Offset, "offset"),
    (PageBy::Page, "p"),
    (PageBy::Offset, "start"),
    (PageBy::Offset, "skip"),
];

/// What a proof of pages works with.
pub struct PaginationProver<'a, 'r> {
    pub replayer: &'r mut dyn Replayer,
    pub draft: &'a RecipeDraftMinimized,
    pub response: &'a ResponseSpec,
    pub transport: TransportKind,
    /// Of the verified answers.
    pub shape: &'a [String],
    pub info: Option<&'a PageInfo>,
    /// Items that the page of the first example says there are.
    pub total: Option<u64>,
    pub replays: &'r mut Vec<Replay>,
    calls: u32,
    begun: Instant,
}

/// One example, followed to its end.
struct FollowedList {
    walk: PageWalk,
    /// No two items were the same.
    distinct: bool,
}

impl<'a, 'r> PaginationProver<'a, 'r> {
    pub fn new(
        replayer: &'r mut dyn Replayer,
        draft: &'a RecipeDraftMinimized,
        response: &'a ResponseSpec,
        transport: TransportKind,
        shape: &'a [String],
        replays: &'r mut Vec<Replay>,
    ) -> Self {
        Self {
            replayer,
            draft,
            response,
            transport,
            shape,
            info: None,
            total: draft.list.total,
            replays,
            calls: 0,
            begun: Instant::now(),
        }
    }

    /// The first way that is proven, from the first example's answer. The error is why the likeliest one is not.
    pub async fn prove(&mut self, first: &ProofAnswer) -> Proof<Result<Pages, String>> {
        let mut why = None;
        for way in ways(first, self.draft, self.info).into_iter().take(MAX_WAYS) {
            if self.is_spent() {
                break;
            }
            match self.way(way).await? {
                Ok(it) => return Ok(Ok(it)),
                Err(it) => why = why.or(it),
            }
        }
        Ok(Err(
            why.unwrap_or_else(|| "nothing shows how its further pages are asked for".to_owned())
        ))
    }

    /// Proves one way; the error says why not, where it led to a second page at all.
    async fn way(&mut self, mut way: Pages) -> Proof<Result<Pages, Option<String>>> {
        let values = self.draft.first.clone();
        let first = match self.follow(&way, "A", &values, self.total).await? {
            Ok(it) if it.walk.page_count() > 1 => it,
            Ok(_) => return Ok(Err(None)),
            Err(why) => return Ok(Err(why)),
        };
        let mut all = vec![first];
        if let Some(second) = self.draft.second.clone() {
            match self.follow(&way, "B", &second, None).await? {
                Ok(it) => all.push(it),
                Err(why) => return Ok(Err(why)),
            }
        }
        let mut seen = PagesSeen { counted: true, ..PagesSeen::default() };
        let mut ends = BTreeSet::new();
        for FollowedList { walk, .. } in &all {
            seen.pages += walk.page_count();
            seen.items += walk.item_count();
            seen.repeated += walk.repeated_count();
            seen.counted &= walk.total().is_some();
            ends.extend(walk.end());
        }
        way.seen = seen;
        way.ends = ends.into_iter().collect();
        // Where two items of one list were the same, the same item may stand on two pages.
        way.alike = !all.iter().all(|it| it.distinct);
        way.all = self.draft.list.asked_for_all;
        Ok(Ok(way))
    }

    /// Follows one example. The error says why the way is not proven by it, where it led to a second page.
    async fn follow(
        &mut self,
        way: &Pages,
        example: &str,
        values: &BTreeMap<String, String>,
        stated: Option<u64>,
    ) -> Proof<Result<FollowedList, Option<String>>> {
        let own = with_number(&self.draft.request, way, &self.draft.parameters);
        let mut walk = PageWalk::new(way, None, true);
        let mut known = BTreeSet::new();
        let mut distinct = true;
        loop {
            if self.is_spent() {
                return Ok(Err(Some(format!(
                    "its end was not reached within {} pages",
                    walk.page_count()
                ))));
            }
            let request = match walk.position() {
                None => self.draft.request.clone(),
                Some(at) => match page_request::request_at_position(&own, way, at) {
                    Ok(it) => it,
                    Err(_) => return Ok(Err(None)),
                },
            };
            let number = walk.page_count() + 1;
            let what = format!("{example}, page {number} by {}", way.by.as_str());
            let seen = self.request_page(&what, &request, values, number == 2).await?;
            if number > 1 {
                require_answer(&what, &seen.replay)?;
            }
            let Some(Value::Array(items)) = seen.data.clone().filter(|_| seen.good()) else {
                let is_gone = matches!(seen.replay.status, Some(404 | 410))
                    || seen.replay.code.as_deref() == Some(Code::ExtractEmpty.as_str());
                if is_gone && number > 2 {
                    walk.take_missing()?;
                    break;
                }
                return Ok(Err(None));
            };
            let next = next_of(way, &seen);
            let total = seen.length.total.or_else(|| stated.filter(|_| walk.position().is_none()));
            let Ok(new) = walk.take(PageAnswer { items, next, total }) else {
                let why = (number > 2).then(|| format!("page {number} holds what came before"));
                return Ok(Err(why));
            };
            // Longer than may be followed here.
            let pages_left =
                total.unwrap_or(0).saturating_sub(walk.item_count()) / walk.item_count().max(1);
            if number == 1 && pages_left > u64::from(self.most()) {
                let total = total.unwrap_or(0);
                return Ok(Err(Some(format!(
                    "{total} items are too many pages to follow for a proof"
                ))));
            }
            distinct &= new.iter().all(|it| known.insert(it.to_string()));
            if !walk.advance() {
                break;
            }
        }
        let (given, repeated) = (walk.item_count(), walk.repeated_count());
        if repeated * 100 > given * OVERLAP {
            return Ok(Err(None));
        }
        if walk.is_scattered() && walk.total().is_none() {
            let why = "items of it come twice on different pages: its order is not stable";
            return Ok(Err(Some(why.to_owned())));
        }
        match walk.total() {
            Some(total) if given != total && walk.page_count() > 1 => {
                Ok(Err(Some(format!("its pages hold {given} items and the site says {total}"))))
            }
            _ => Ok(Ok(FollowedList { walk, distinct })),
        }
    }

    fn most(&self) -> u32 {
        if self.draft.list.asked_for_all { MAX_CALLS } else { USUAL_CALLS }
    }

    fn is_spent(&self) -> bool {
        self.calls >= self.most() || self.begun.elapsed() >= MAX_TIME
    }

    async fn request_page(
        &mut self,
        what: &str,
        request: &RequestTemplate,
        values: &BTreeMap<String, String>,
        is_second: bool,
    ) -> Proof<Observation> {
        self.calls += 1;
        let mut response = self.response.clone();
        response.min_items = Some(0);
        response.required_paths.clear();
        let call = ReplayCall {
            transport: self.transport,
            request,
            parameters: &self.draft.parameters,
            values,
            slots: &self.draft.slots,
            steps: &self.draft.steps,
            assembly: self.draft.assembly.as_ref(),
        };
        let n = self.replays.len() as u32 + 1;
        let like = Some(self.shape).filter(|_| is_second);
        let seen = observe(self.replayer, call, &response, like, n, what).await?;
        self.replays.push(seen.replay.clone());
        match passing(&seen.replay).filter(|_| seen.replay.status.is_none()) {
            Some(code) => {
                let text = format!("{what}: {code}");
                Err(Failure { text, is_final: false, transient: Some(code) }.into())
            }
            None => Ok(seen),
        }
    }
}

/// The request with a number where a parameter that is one stands for the position, so that the position is sent as a number, too.
fn with_number(
    request: &RequestTemplate,
    way: &Pages,
    parameters: &[Parameter],
) -> RequestTemplate {
    let mut out = request.clone();
    let (PagePlace::Json, Some(BodyTemplate::Json(body))) = (way.place, &mut out.body) else {
        return out;
    };
    let place = way.parameter.as_deref().and_then(|it| body.pointer_mut(it));
    let Some(place) = place else { return out };
    let template = place.as_str().and_then(|it| Template::parse(it).ok());
    let name = template.as_ref().and_then(Template::single_name);
    let is_number = |it: &&Parameter| matches!(it.kind, ParamType::Int | ParamType::Float);
    if parameters.iter().filter(is_number).any(|it| name == Some(it.name.as_str())) {
        *place = Value::from(0);
    }
    out
}

/// What leads on from an answer.
fn next_of(pages: &Pages, seen: &Observation) -> Option<Value> {
    match (pages.by, &pages.next) {
        (PageBy::LinkHeader, _) => next_url_in_headers(&seen.headers).map(Value::from),
        (PageBy::PageLink, _) => {
            let page = blocks::parse_bounded(&String::from_utf8_lossy(&seen.body))?;
            next_address(&page, &seen.url).map(Value::from)
        }
        (_, Some(next)) => {
            let query = Query::compile(next).ok()?;
            query.search(&Document::from(seen.whole.as_ref()?)).ok().filter(is_continuation)
        }
        _ => None,
    }
}

fn way(by: PageBy, parameter: &str, place: PagePlace) -> Pages {
    Pages {
        by,
        parameter: (!by.is_address()).then(|| parameter.to_owned()),
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

/// Ways to further pages, the likeliest first: addresses that the answer gives, what the recording moved, positions that the request
/// has, cursors of the answer, and names that are usual.
fn ways(first: &ProofAnswer, draft: &RecipeDraftMinimized, info: Option<&PageInfo>) -> Vec<Pages> {
    let request = &draft.request;
    let mut out = Vec::new();
    if request.method == "GET" {
        out.extend(by_address(first, draft));
    }
    let cursors = cursors(first, info);
    for it in &draft.list.moved {
        let mut given = it.given.clone();
        given.extend(first.whole.iter().flat_map(|whole| in_lists(whole, &it.to)));
        let given: Vec<_> = given.into_iter().map(|it| (Vec::new(), it)).collect();
        out.extend(by_recording(it, request, &given, &cursors));
    }
    for (name, place, value) in positions(draft) {
        match value.as_deref().map(str::parse::<u64>) {
            Some(Ok(first)) => out.extend(counted(&name, place, first)),
            _ => out.extend(by_cursor(&name, place, &cursors)),
        }
    }
    let has_query = request.method == "GET";
    if has_query {
        for (path, next) in &cursors {
            for name in names_for(path) {
                let it = way(PageBy::Cursor, &name, PagePlace::Query);
                out.push(Pages { next: Some(next.clone()), ..it });
            }
        }
        for (by, name) in USUAL.iter().filter(|it| !has_pair(&request.query, it.1)) {
            let first = u64::from(*by == PageBy::Page);
            out.push(Pages { first: Some(first), ..way(*by, name, PagePlace::Query) });
        }
    }
    let mut known = BTreeSet::new();
    out.retain(|it| {
        known.insert((it.by.as_str(), it.parameter.clone(), it.next.clone(), it.first))
    });
    out
}

fn has_pair(pairs: &[Pair], name: &str) -> bool {
    pairs.iter().any(|it| it.name == name)
}

/// Addresses of the next page: in a header, in the JSON, in a link of the page.
fn by_address(first: &ProofAnswer, draft: &RecipeDraftMinimized) -> Vec<Pages> {
    let mut out = Vec::new();
    if next_url_in_headers(&first.headers).is_some() {
        out.push(way(PageBy::LinkHeader, "", PagePlace::Query));
    }
    if let Some(whole) = &first.whole {
        let here = url::Url::parse(&first.url).ok();
        for (path, value) in scalars(whole) {
            let Some(text) = value.as_str() else { continue };
            let is_address =
                text.starts_with("http") || text.starts_with('/') || text.starts_with('?');
            let there = here.as_ref().filter(|_| is_address).and_then(|it| it.join(text).ok());
            let leads_on = path.last().is_some_and(|it| words(it).iter().any(|it| it == "next"));
            let is_own = there.zip(here.as_ref()).is_some_and(|(there, here)| {
                there.origin() == here.origin()
                    && there != *here
                    && (leads_on || there.path() == here.path())
            });
            let is_back = path.last().is_some_and(|it| {
                words(it).iter().any(|it| {
                    matches!(it.as_str(), "self" | "first" | "last" | "prev" | "previous")
                })
            });
            if is_own && !is_back {
                out.push(Pages {
                    next: Some(expression(&path)),
                    ..way(PageBy::Url, "", PagePlace::Query)
                });
            }
        }
    } else if draft.response.html.is_some() {
        let page = blocks::parse_bounded(&String::from_utf8_lossy(&first.body));
        if page.and_then(|it| next_address(&it, &first.url)).is_some() {
            out.push(way(PageBy::PageLink, "", PagePlace::Query));
        }
    }
    out
}

fn counted(name: &str, place: PagePlace, first: u64) -> Vec<Pages> {
    if first > 1 {
        return Vec::new();
    }
    let of = |by| Pages { first: Some(first), ..way(by, name, place) };
    vec![of(PageBy::Page), of(PageBy::Offset)]
}

fn by_cursor(name: &str, place: PagePlace, cursors: &[(Vec<String>, String)]) -> Vec<Pages> {
    let of = |next: &String| Pages { next: Some(next.clone()), ..way(PageBy::Cursor, name, place) };
    cursors.iter().map(|it| of(&it.1)).collect()
}

/// What the recording's own next call changed. `given` is where the first answer had the value that it sent.
fn by_recording(
    moved: &Moved,
    request: &RequestTemplate,
    given: &[(Vec<String>, String)],
    cursors: &[(Vec<String>, String)],
) -> Vec<Pages> {
    let (name, place) = match (moved.name.strip_prefix("body/"), &request.body) {
        (Some(rest), Some(BodyTemplate::Json(_))) => (format!("/{rest}"), PagePlace::Json),
        (_, Some(BodyTemplate::Form(pairs))) if has_pair(pairs, &moved.name) => {
            (moved.name.clone(), PagePlace::Form)
        }
        _ if has_pair(&request.query, &moved.name) => (moved.name.clone(), PagePlace::Query),
        // A pair that was dropped as needless comes back with the position.
        (_, body) => {
            let place = match (moved.name.contains('/'), body) {
                (true, Some(BodyTemplate::Form(_))) => PagePlace::FormJson,
                (true, None) => PagePlace::QueryJson,
                _ => PagePlace::Query,
            };
            (moved.name.clone(), place)
        }
    };
    let from = moved.from.as_deref().filter(|it| !it.is_empty());
    let mut out = match (from.map(str::parse::<u64>), moved.to.parse::<u64>()) {
        (Some(Ok(first)), Ok(_)) => counted(&name, place, first),
        // It begins where nothing is said.
        (None, Ok(to)) if to <= 2 => counted(&name, place, to.saturating_sub(1)),
        (None, Ok(_)) => vec![Pages { first: Some(0), ..way(PageBy::Offset, &name, place) }],
        _ => Vec::new(),
    };
    let is_counted = !out.is_empty();
    out.extend(by_cursor(&name, place, given));
    if !is_counted {
        out.extend(by_cursor(&name, place, cursors));
    }
    out
}

/// Parts of the request that are called like positions: name, place, and value in the first call, where it is a text or a number.
fn positions(draft: &RecipeDraftMinimized) -> Vec<(String, PagePlace, Option<String>)> {
    let request = &draft.request;
    let value = |text: &str| {
        let name = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        match name {
            Some(name) => {
                let mut all = draft.parameters.iter().filter(|it| !it.required);
                all.find(|it| it.name == name)?.default.clone()
            }
            None => Some(text.to_owned()),
        }
    };
    let mut out = Vec::new();
    let mut pairs = |pairs: &[Pair], place, json_place| {
        for it in pairs {
            if is_position(&it.name) {
                out.push((it.name.clone(), place, value(&it.value)));
            } else if let Some(body) = page_request::json_in_pair(&it.value) {
                in_json(&body, (&it.name, json_place), &mut out, &value);
            }
        }
    };
    pairs(&request.query, PagePlace::Query, PagePlace::QueryJson);
    match &request.body {
        Some(BodyTemplate::Form(all)) => pairs(all, PagePlace::Form, PagePlace::FormJson),
        Some(BodyTemplate::Json(body)) => {
            in_json(body, ("", PagePlace::Json), &mut out, &value);
            out.extend(declared(body));
        }
        _ => {}
    }
    out
}

/// Positions that a GraphQL document declares as variables, and that the first call did not send.
fn declared(body: &Value) -> Positions {
    let (Some(document), Some(given)) = (
        body.get("query").and_then(Value::as_str),
        body.get("variables").and_then(Value::as_object),
    ) else {
        return Vec::new();
    };
    // What stands before the selection declares the variables: `query Names($first: Int!, $after: String)`.
    let head = document.split_once('{').map_or(document, |it| it.0);
    let names = head.split('$').skip(1).filter_map(|it| it.split([':', ' ']).next());
    let unsent = names.filter(|it| is_position(it) && !given.contains_key(*it));
    unsent.map(|it| (format!("/variables/{it}"), PagePlace::Json, None)).collect()
}

type Positions = Vec<(String, PagePlace, Option<String>)>;

fn in_json(
    value: &Value,
    (at, place): (&str, PagePlace),
    out: &mut Positions,
    text: &dyn Fn(&str) -> Option<String>,
) {
    let Value::Object(fields) = value else { return };
    for (key, it) in fields {
        let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        match it {
            Value::Object(_) => in_json(it, (&at, place), out, text),
            Value::Array(_) => {}
            _ if is_position(key) => {
                let value = match it {
                    Value::String(it) => text(it),
                    Value::Null => None,
                    other => Some(other.to_string()),
                };
                out.push((at, place, value));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_position_that_is_a_number_is_sent_as_one() {
        let request = |leaf: Value| -> RequestTemplate {
            serde_json::from_value(json!({
                "method": "POST", "url": "http://a.test/find", "allowed_domains": ["a.test"],
                "body": {"json": {"skip": leaf}},
            }))
            .unwrap()
        };
        let parameters = |kind: &str| -> Vec<Parameter> {
            serde_json::from_value(json!([
                {"name": "skip", "type": kind, "required": false, "source": "constant", "default": "0"},
            ]))
            .unwrap()
        };
        let way = way(PageBy::Offset, "/skip", PagePlace::Json);
        let leaf = |request: &RequestTemplate| match &request.body {
            Some(BodyTemplate::Json(it)) => it["skip"].clone(),
            _ => Value::Null,
        };
        for (given, kind, expected) in [
            (json!("{skip}"), "int", json!(0)),
            (json!("{skip}"), "str", json!("{skip}")),
            (json!("{other}"), "int", json!("{other}")),
            (json!("0"), "int", json!("0")),
        ] {
            let out = with_number(&request(given), &way, &parameters(kind));
            assert_eq!(leaf(&out), expected);
        }
    }

    #[test]
    fn variables_that_a_document_declares() {
        let of = |query: &str, variables: Value| {
            let all = declared(&json!({"query": query, "variables": variables}));
            all.into_iter().map(|it| it.0).collect::<Vec<_>>()
        };
        let query = "query Names($first: Int!, $after: String) {{ names(after: $after) {{ id }} }}";
        assert_eq!(of(query, json!({"first": 6})), ["/variables/after"]);
        assert_eq!(of(query, json!({"first": 6, "after": null})), [""; 0]);
        assert_eq!(of("query Names($q: String) {{ names(q: $q) }}", json!({})), [""; 0]);
        assert_eq!(of("{{ names(after: 1) }}", json!({})), [""; 0]);
        assert!(declared(&json!({"query": "$after", "variables": null})).is_empty());
    }
}
