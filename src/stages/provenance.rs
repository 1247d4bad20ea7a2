//! Where in earlier answers a value of a request stands, and how the item that it stands in was chosen.
//!
//! Of two recordings both must agree: the same field of the same list, in the item that each example's typed value names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::{
    chained::{collect_sent_values, follows_typed, header_of, same_endpoint},
    effect::judge_recorded,
    endpoint::operation,
};
use commis_artifacts::recording::{BodyStatus, Excerpt, Exchange, SessionRecording};
use commis_recipe::{
    model::{Between, ResponseSpec, ResponseType},
    shape::similarity_bp,
    steps::{Choose, MAX_STEPS, field, text},
    template::is_field,
};
use commis_runner::steps::is_alike;

/// Places of one value in one answer that are looked at.
pub(super) const MAX_PLACES: usize = 40;
/// Fields within fields of an item that it may be chosen by.
const MAX_DEPTH: usize = 3;
/// Characters before a value in a text that tell where it stands, and of the value itself.
const MAX_BEFORE: usize = 80;
const MIN_IN_TEXT: usize = 3;
/// Of all ways to a value one in a text is the last to be thought of.
const IN_TEXT: (u8, u32) = (9, 0);
/// What sites put between the values of a list that is sent as one text.
const SEPARATORS: [&str; 5] = [",", "|", ";", " ", "+"];
/// Values of such a text.
const MIN_LIST: usize = 2;
const MAX_LIST: usize = 100;
/// How alike the answers of one request are, basis points.
const ALIKE_BP: u32 = 8500;

/// Both recordings, and what was typed in each.
#[derive(Clone, Copy)]
pub struct Examples<'a> {
    pub first: &'a SessionRecording,
    pub second: Option<&'a SessionRecording>,
    pub typed: &'a BTreeMap<String, String>,
    pub second_typed: &'a BTreeMap<String, String>,
}

/// A way to a value: which answer, what of it, which item, which field.
#[derive(Clone, Debug)]
pub struct ValueSource<'a> {
    pub exchange: &'a Exchange,
    pub twin: Option<&'a Exchange>,
    /// How the answer is read: the list that the item is of, or a part of a text.
    pub response: ResponseSpec,
    pub choose: Option<Choose>,
    /// Of the item, or of the whole answer; the item itself where there is none.
    pub field: Option<String>,
    /// Parameters that the item is chosen by.
    pub names: Vec<String>,
}

impl<'a> ValueSource<'a> {
    /// What `response` reads is the value: no item of it, no field.
    pub fn whole(
        exchange: &'a Exchange,
        twin: Option<&'a Exchange>,
        response: ResponseSpec,
    ) -> Self {
        Self { exchange, twin, response, choose: None, field: None, names: Vec::new() }
    }
}

/// A way to a value in a member that what was typed names.
struct ByKey {
    /// Takes the object out of the answer.
    extract: Option<String>,
    key: String,
    /// Of the member; the member itself where there is none.
    field: Option<String>,
    /// The parameter.
    name: String,
}

/// A step on the way to a value in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathKey {
    Field(String),
    Index(usize),
}

impl<'a> Examples<'a> {
    /// Ways to the value that the request sent, and its twin as `theirs`, the surest first: an item that what was typed
    /// names, a place of its own, the only or the first item of an answer to what was typed.
    pub fn sources(
        &self,
        asked: &Exchange,
        ours: &str,
        theirs: Option<&str>,
    ) -> Vec<ValueSource<'a>> {
        let mut out: Vec<((u8, u32), ValueSource<'a>)> = Vec::new();
        for exchange in self.first.exchanges.iter().filter(|it| it.id < asked.id) {
            // A list that goes on is no chain.
            if same_endpoint(exchange, asked) {
                continue;
            }
            if !matches!(exchange.status, Some(200..300)) {
                continue;
            }
            // What a request itself sent, its answer only echoes.
            if sends(exchange, ours) || !judge_recorded(exchange, self.first).is_read() {
                continue;
            }
            for it in self.in_texts(exchange, ours, theirs) {
                out.push((IN_TEXT, it));
            }
            for it in self.in_addresses(exchange, ours, theirs) {
                out.push((IN_TEXT, it));
            }
            let Some(answer) = answer(exchange) else { continue };
            let mut places = Vec::new();
            find(answer, ours, &mut Vec::new(), &mut places);
            for place in places {
                for twin in self.twins(exchange) {
                    let at = (exchange, answer, place.as_slice());
                    if let Some((order, it)) = self.source(at, ours, twin.zip(theirs)) {
                        out.push(((order, exchange.id), it));
                    }
                }
            }
        }
        out.sort_by_key(|it| it.0);
        out.into_iter().map(|it| it.1).collect()
    }

    /// Ways to the values of a list that the request sent as one text: of all items of an earlier answer in their order, or of the
    /// first so many, which are as many in both examples. With one example alone the answer is to what was typed, and all of
    /// its items were sent.
    pub fn lists(
        &self,
        asked: &Exchange,
        ours: &str,
        theirs: Option<&str>,
    ) -> Vec<ValueSource<'a>> {
        let mut out = Vec::new();
        if theirs == Some(ours) {
            return out;
        }
        for separator in SEPARATORS {
            let values = |text: &str| text.split(separator).map(str::to_owned).collect::<Vec<_>>();
            let (ours, theirs) = (values(ours), theirs.map(values));
            let is_list = |it: &Vec<String>| it.len() <= MAX_LIST;
            if ours.len() < MIN_LIST || !is_list(&ours) || !theirs.as_ref().is_none_or(is_list) {
                continue;
            }
            for exchange in self.first.exchanges.iter().filter(|it| it.id < asked.id) {
                if same_endpoint(exchange, asked) || !judge_recorded(exchange, self.first).is_read()
                {
                    continue;
                }
                let Some(own) = answer(exchange) else { continue };
                let mut lists = Vec::new();
                find_lists(own, MIN_LIST, &mut Vec::new(), &mut lists);
                for keys in lists {
                    let found = match (&theirs, self.second) {
                        (Some(theirs), Some(second)) => twin_of(exchange, second)
                            .and_then(|twin| Some((Some(twin), list(answer(twin)?, &keys), theirs)))
                            .and_then(|(twin, other, theirs)| {
                                let both = (list(own, &keys), other);
                                Some((twin, sent_values(&both, (&ours, theirs))?))
                            }),
                        (None, _) if !exchange.measures.typed_in_request.is_empty() => {
                            let items = list(own, &keys);
                            let both = (items.clone(), items);
                            sent_values(&both, (&ours, &ours))
                                .filter(|it| it.1.is_none() && ours.len() > MIN_LIST)
                                .map(|it| (None, it))
                        }
                        _ => None,
                    };
                    let Some((twin, (field, cut))) = found else { continue };
                    // What was not kept of a list may have been left out of the request, too.
                    let is_whole = |it: &Exchange| it.body_status != BodyStatus::Truncated;
                    if cut.is_none() && !(is_whole(exchange) && twin.is_none_or(is_whole)) {
                        continue;
                    }
                    let Some(extract) = expression(&keys) else { continue };
                    let extract = match cut {
                        None => Some(extract).filter(|it| it != "@"),
                        Some(count) if extract == "@" => Some(format!("[:{count}]")),
                        Some(count) => Some(format!("{extract}[:{count}]")),
                    };
                    let response = ResponseSpec {
                        framing: exchange.framing,
                        extract,
                        ..ResponseSpec::new(ResponseType::Json)
                    };
                    out.push(ValueSource {
                        choose: Some(Choose::All(separator.to_owned())),
                        field,
                        ..ValueSource::whole(exchange, twin, response)
                    });
                }
            }
        }
        out
    }

    /// Ways to a value in the headers of an answer, or between two texts of its page. Nothing but a second example, whose
    /// value stands there too, tells that it is one, or that nobody else can have made such a value that is all of a header.
    fn in_texts(
        &self,
        exchange: &'a Exchange,
        ours: &str,
        theirs: Option<&str>,
    ) -> Vec<ValueSource<'a>> {
        if ours.len() < MIN_IN_TEXT {
            return Vec::new();
        }
        if theirs.is_none() {
            return header_of(exchange, ours)
                .map(|name| {
                    let header = Some(name.to_owned());
                    let text = ResponseSpec { header, ..ResponseSpec::new(ResponseType::Text) };
                    ValueSource::whole(exchange, None, text)
                })
                .into_iter()
                .collect();
        }
        let Some((theirs, second)) = theirs.zip(self.second).filter(|it| it.0 != ours) else {
            return Vec::new();
        };
        let mut found: Vec<(ResponseSpec, &Exchange)> = Vec::new();
        let alike = |it: &&Exchange| {
            it.method == exchange.method
                && matches!(it.status, Some(200..300))
                && outline(&it.url) == outline(&exchange.url)
        };
        for twin in second.exchanges.iter().filter(alike) {
            let text = ResponseSpec::new(ResponseType::Text);
            for header in exchange.response_headers.iter().filter(|it| it.value.contains(ours)) {
                let other = twin.response_headers.iter().find(|it| it.name == header.name);
                let Some(other) = other else { continue };
                let spec = |between| ResponseSpec {
                    header: Some(header.name.clone()),
                    between,
                    ..text.clone()
                };
                if header.value == ours && other.value == theirs {
                    found.push((spec(None), twin));
                } else if let Some(it) = between((&header.value, ours), (&other.value, theirs)) {
                    found.push((spec(Some(it)), twin));
                }
            }
            if let (Some(own), Some(other)) = (page(exchange), page(twin))
                && let Some(it) = between((own, ours), (other, theirs))
            {
                found.push((ResponseSpec { between: Some(it), ..text }, twin));
            }
        }
        let source = |(response, twin)| ValueSource::whole(exchange, Some(twin), response);
        found.into_iter().map(source).collect()
    }

    /// Requests of the second recording that may be the same; `None` alone where there is no such recording.
    pub(super) fn twins(&self, exchange: &Exchange) -> Vec<Option<&'a Exchange>> {
        let Some(second) = self.second else { return vec![None] };
        let alike = |it: &&Exchange| {
            it.method == exchange.method
                && outline(&it.url) == outline(&exchange.url)
                && answer(it).is_some()
        };
        second.exchanges.iter().filter(alike).map(Some).collect()
    }

    fn source(
        &self,
        (exchange, answer_a, place): (&'a Exchange, &Value, &[PathKey]),
        ours: &str,
        twin: Option<(&'a Exchange, &str)>,
    ) -> Option<(u8, ValueSource<'a>)> {
        let follows = follows_typed(exchange, self.first, MAX_STEPS - 2);
        let mut last = place.iter().rposition(|it| matches!(it, PathKey::Index(_)));
        // A row of a table is an item, its columns are the fields.
        if let Some(at) = last.filter(|at| *at > 0 && matches!(place[at - 1], PathKey::Index(_)))
            && at + 1 == place.len()
        {
            last = Some(at - 1);
        }
        let source = |extract, choose, field, names| ValueSource {
            exchange,
            twin: twin.map(|it| it.0),
            response: ResponseSpec {
                framing: exchange.framing,
                extract,
                ..ResponseSpec::new(ResponseType::Json)
            },
            choose,
            field,
            names,
        };
        let Some(last) = last else {
            // A place of its own.
            let same = twin.map(|(it, theirs)| {
                let value = answer(it).and_then(|it| at_place(it, place)).and_then(text);
                value.as_deref() == Some(theirs)
            });
            if let Some(by_key) = self.keyed(place, twin)
                && same != Some(true)
            {
                let ByKey { extract, key, field, name } = by_key;
                let choose = Some(Choose::Key(key));
                return Some((0, source(extract, choose, field, vec![name])));
            }
            // Without a second example nothing but what was typed tells that it follows.
            if !same.unwrap_or(follows) {
                return None;
            }
            let path = fields(place);
            // What no template can name is taken out by the expression.
            let extract = if path.is_none() { Some(expression(place)?) } else { None };
            return Some((1, source(extract, None, path, Vec::new())));
        };
        let (list_keys, inner) = (&place[..last], &place[last + 1..]);
        let inner = if inner.is_empty() { None } else { Some(fields(inner)?) };
        let items = list(answer_a, list_keys);
        let theirs = match twin {
            Some((it, value)) => {
                let all = list(answer(it)?, list_keys);
                let holds = |it: &&&Value| has(it, inner.as_deref(), value);
                let chosen: Vec<&Value> = all.iter().filter(holds).copied().collect();
                Some((all, chosen))
            }
            None => None,
        };
        if theirs.as_ref().is_some_and(|it| it.1.is_empty()) {
            return None;
        }
        let own = items.iter().position(|it| has(it, inner.as_deref(), ours))?;
        let extract = Some(expression(list_keys)?).filter(|it| it != "@");
        if let Some((all, names)) = self.conditions(items[own], &items, theirs.as_ref()) {
            let choose = Some(Choose::Where(all));
            return Some((0, source(extract, choose, inner, names)));
        }
        // The page took what the site answered to the words.
        let is_first = |all: &[&Value], chosen: &[&Value]| {
            all.first().is_some_and(|it| chosen.iter().any(|other| std::ptr::eq(*it, *other)))
        };
        let both_first =
            own == 0 && theirs.as_ref().is_none_or(|(all, chosen)| is_first(all, chosen));
        let is_only = items.len() == 1 && theirs.as_ref().is_none_or(|it| it.0.len() == 1);
        // Of a list that was cut, what is first was moved.
        let is_whole = |it: &Exchange| it.body_status != BodyStatus::Truncated;
        let is_whole = is_whole(exchange) && twin.is_none_or(|it| is_whole(it.0));
        (follows && is_whole && both_first).then(|| {
            let (order, choose) = if is_only { (2, Choose::Only) } else { (3, Choose::First) };
            (order, source(extract, Some(choose), inner, Vec::new()))
        })
    }

    /// The way to a place where an object has a member that is called as what was typed.
    fn keyed(&self, place: &[PathKey], twin: Option<(&Exchange, &str)>) -> Option<ByKey> {
        place.iter().enumerate().find_map(|(at, key)| {
            let PathKey::Field(key) = key else { return None };
            let is_typed = |typed: &String| is_alike(&key.as_str().into(), &typed.as_str().into());
            let (name, _) = self.typed.iter().find(|it| is_typed(it.1))?;
            if let Some((exchange, theirs)) = twin {
                let typed = Value::from(self.second_typed.get(name)?.as_str());
                let members = at_place(answer(exchange)?, &place[..at])?.as_object()?;
                let (_, own) = members.iter().find(|it| is_alike(&it.0.as_str().into(), &typed))?;
                let value = at_place(own, &place[at + 1..]).and_then(text);
                if value.as_deref() != Some(theirs) {
                    return None;
                }
            }
            let inner = &place[at + 1..];
            Some(ByKey {
                extract: Some(expression(&place[..at])?).filter(|it| it != "@"),
                key: format!("{{{name}}}"),
                field: if inner.is_empty() { None } else { Some(fields(inner)?) },
                name: name.clone(),
            })
        })
    }

    /// Fields of the item that hold what was typed, so many that no other item of either list has them all.
    fn conditions(
        &self,
        item: &Value,
        items: &[&Value],
        theirs: Option<&(Vec<&Value>, Vec<&Value>)>,
    ) -> Option<(BTreeMap<String, Value>, Vec<String>)> {
        let mut known = Vec::new();
        collect_leaves(item, "", 0, &mut known);
        let mut all: Vec<(String, &String)> = Vec::new();
        for (name, typed) in self.typed {
            let other = self.second_typed.get(name);
            let wanted = Value::from(typed.as_str());
            let mut fits: Vec<&String> = known
                .iter()
                .filter(|(_, own)| is_alike(own, &wanted))
                .map(|it| &it.0)
                .filter(|path| match (theirs, other) {
                    (Some((_, chosen)), Some(other)) => {
                        let other = Value::from(other.as_str());
                        let own = |it: &&Value| field(it, Some(path)).cloned();
                        chosen.iter().any(|it| own(it).is_some_and(|it| is_alike(&it, &other)))
                    }
                    (Some(_), None) => false,
                    (None, _) => true,
                })
                .collect();
            fits.sort_by_key(|it| (it.matches('.').count(), it.len()));
            if let Some(path) = fits.first() {
                all.push(((*path).clone(), name));
            }
        }
        let count = |items: &[&Value], typed: &BTreeMap<String, String>, n: usize| {
            let fits = |it: &&&Value| {
                all[..n].iter().all(|(path, name)| {
                    let wanted = typed.get(*name).map(|it| Value::from(it.as_str()));
                    field(it, Some(path)).zip(wanted).is_some_and(|(own, it)| is_alike(own, &it))
                })
            };
            items.iter().filter(fits).count()
        };
        let n = (1..=all.len()).find(|n| {
            count(items, self.typed, *n) == 1
                && theirs.is_none_or(|it| count(&it.0, self.second_typed, *n) == 1)
        })?;
        let used = &all[..n];
        let conditions =
            used.iter().map(|(path, name)| (path.clone(), Value::from(format!("{{{name}}}"))));
        Some((conditions.collect(), used.iter().map(|it| it.1.clone()).collect()))
    }
}

/// The field of the items whose values were sent in both examples, and of how many of the first items, where it was not of all.
fn sent_values(
    (own, other): &(Vec<&Value>, Vec<&Value>),
    (ours, theirs): (&[String], &[String]),
) -> Option<(Option<String>, Option<usize>)> {
    let fits = |items: &[&Value], path: Option<&str>, sent: &[String]| {
        items.len() >= sent.len() && items.iter().zip(sent).all(|(it, sent)| has(it, path, sent))
    };
    let path = field_paths(own.first()?)
        .into_iter()
        .find(|it| fits(own, it.as_deref(), ours) && fits(other, it.as_deref(), theirs))?;
    if ours.len() == own.len() && theirs.len() == other.len() {
        return Some((path, None));
    }
    // So many at most: who has fewer sends all of them.
    let most = ours.len().max(theirs.len());
    let is_cut = |sent: usize, all: usize| sent == most.min(all);
    (is_cut(ours.len(), own.len()) && is_cut(theirs.len(), other.len()))
        .then_some((path, Some(most)))
}

/// Adds the paths of lists of at least so many items that stand in no other list.
pub fn find_lists(
    value: &Value,
    least: usize,
    path: &mut Vec<PathKey>,
    out: &mut Vec<Vec<PathKey>>,
) {
    match value {
        Value::Array(all) if all.len() >= least => out.push(path.clone()),
        Value::Object(all) => {
            for (key, it) in all {
                path.push(PathKey::Field(key.clone()));
                find_lists(it, least, path, out);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The request of the second recording that asked for the same, by its address and its answer's shape: the last one.
pub fn twin_of<'a>(exchange: &Exchange, second: &'a SessionRecording) -> Option<&'a Exchange> {
    let alike = |it: &&Exchange| {
        it.method == exchange.method
            && matches!(it.status, Some(200..300))
            && outline(&it.url) == outline(&exchange.url)
            && operation(it) == operation(exchange)
            && similarity_bp(&it.measures.shape, &exchange.measures.shape) >= ALIKE_BP
    };
    second.exchanges.iter().rfind(alike)
}

/// The JSON of a good answer.
pub(super) fn answer(exchange: &Exchange) -> Option<&Value> {
    match &exchange.excerpt {
        Some(Excerpt::Json(it)) if matches!(exchange.status, Some(200..300)) => Some(it),
        _ => None,
    }
}

fn sends(exchange: &Exchange, value: &str) -> bool {
    let mut all = BTreeSet::new();
    collect_sent_values(exchange, &mut all);
    all.contains(value)
}

/// Host, number of segments and names of the query: what two examples' requests for the same have in common.
pub(super) fn outline(url: &str) -> Option<(String, usize, Vec<String>)> {
    let url = Url::parse(url).ok()?;
    let mut names: Vec<String> = url.query_pairs().map(|it| it.0.into_owned()).collect();
    names.sort_unstable();
    Some((url.host_str()?.to_owned(), url.path_segments()?.count(), names))
}

fn find(value: &Value, wanted: &str, path: &mut Vec<PathKey>, out: &mut Vec<Vec<PathKey>>) {
    if out.len() >= MAX_PLACES {
        return;
    }
    match value {
        Value::Array(all) => {
            for (i, it) in all.iter().enumerate() {
                path.push(PathKey::Index(i));
                find(it, wanted, path, out);
                path.pop();
            }
        }
        Value::Object(all) => {
            for (key, it) in all {
                path.push(PathKey::Field(key.clone()));
                find(it, wanted, path, out);
                path.pop();
            }
        }
        it if text(it).as_deref() == Some(wanted) => out.push(path.clone()),
        _ => {}
    }
}

/// The path of a field in a template; `None` where its keys cannot stand there.
fn fields(keys: &[PathKey]) -> Option<String> {
    let keys: Option<Vec<String>> = keys
        .iter()
        .map(|it| match it {
            PathKey::Field(it) if !it.contains('.') => Some(it.clone()),
            PathKey::Field(_) => None,
            PathKey::Index(it) => Some(it.to_string()),
        })
        .collect();
    keys.map(|it| it.join(".")).filter(|it| is_field(it))
}

/// What stands there.
fn at_place<'v>(value: &'v Value, keys: &[PathKey]) -> Option<&'v Value> {
    keys.iter().try_fold(value, |it, key| match key {
        PathKey::Field(key) => it.get(key),
        PathKey::Index(at) => it.get(at),
    })
}

/// The markup or the text of an answer.
fn page(exchange: &Exchange) -> Option<&str> {
    match &exchange.excerpt {
        Some(Excerpt::Html(it) | Excerpt::Text(it)) => Some(it),
        _ => None,
    }
}

/// What stands around both values in their texts: before it a text that stands nowhere else, of its attribute or from the
/// beginning of its element or line; after it one sign.
fn between((ours, value): (&str, &str), (theirs, other): (&str, &str)) -> Option<Between> {
    let places = ours.match_indices(value).take(MAX_PLACES);
    places.map(|it| it.0).find_map(|at| {
        let next = ours[at + value.len()..].chars().next().filter(|it| !it.is_alphanumeric());
        let until = next.map_or_else(String::new, String::from);
        let line = &ours[..at];
        let limit = line.char_indices().rev().take(MAX_BEFORE).map(|it| it.0).last()?;
        let attribute = line.rfind([' ', '<', '>', '\n']).map_or(0, |it| it + 1);
        let element = line.rfind(['<', '\n']).unwrap_or(0);
        [attribute, element].into_iter().find_map(|start| {
            let after = line[start.max(limit)..].to_owned();
            let it = Between { after, until: until.clone() };
            let is_there = |text: &str, value: &str| {
                it.of(text) == Some(value) && text.matches(&it.after).take(2).count() == 1
            };
            let is_part = it.after.ends_with(|it: char| !it.is_alphanumeric());
            (is_part && is_there(ours, value) && is_there(theirs, other)).then_some(it)
        })
    })
}

/// The items of a list: where it stands in other lists, those of all of them.
pub(super) fn list<'v>(value: &'v Value, keys: &[PathKey]) -> Vec<&'v Value> {
    let mut all = vec![value];
    for key in keys {
        all = match key {
            PathKey::Field(key) => all.into_iter().filter_map(|it| it.get(key)).collect(),
            PathKey::Index(_) => all.into_iter().filter_map(Value::as_array).flatten().collect(),
        };
    }
    all.into_iter().filter_map(Value::as_array).flatten().collect()
}

/// That list as JMESPath; `None` where a key has no plain name.
pub(super) fn expression(keys: &[PathKey]) -> Option<String> {
    let mut out = String::new();
    for key in keys {
        match key {
            PathKey::Field(key) => {
                let plain = !key.starts_with(|c: char| c.is_ascii_digit())
                    && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                let key = if plain { key.clone() } else { Value::from(key.as_str()).to_string() };
                out = if out.is_empty() { key } else { format!("{out}.{key}") };
            }
            PathKey::Index(_) => out.push_str("[]"),
        }
    }
    // Lists within lists become one.
    if keys.iter().any(|it| matches!(it, PathKey::Index(_))) {
        out.push_str("[]");
    }
    (out.len() <= 500).then(|| if out.is_empty() { "@".to_owned() } else { out })
}

fn has(item: &Value, path: Option<&str>, wanted: &str) -> bool {
    field(item, path).and_then(text).as_deref() == Some(wanted)
}

/// Paths of what can name an item: of its fields; of a bare value itself, `None`.
pub(super) fn field_paths(item: &Value) -> Vec<Option<String>> {
    if text(item).is_some() {
        return vec![None];
    }
    let mut all = Vec::new();
    collect_leaves(item, "", 0, &mut all);
    all.into_iter().map(|it| Some(it.0)).collect()
}

/// Texts of an item with their paths.
fn collect_leaves(value: &Value, path: &str, depth: usize, out: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(all) if depth < MAX_DEPTH => {
            for (key, it) in all.iter().filter(|it| !it.0.contains('.')) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect_leaves(it, &path, depth + 1, out);
            }
        }
        // The columns of a row.
        Value::Array(all) if depth == 0 && all.iter().all(|it| text(it).is_some()) => {
            out.extend(all.iter().enumerate().map(|(at, it)| (at.to_string(), it.clone())));
        }
        it if text(it).is_some() && is_field(path) => out.push((path.to_owned(), it.clone())),
        _ => {}
    }
}
