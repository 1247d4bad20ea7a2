//! Puts parameters into a request where typed values stand in it, and paging keys.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::{
    minimize::PAGING,
    request::identifier,
    templating::{FoundParameter, as_number, weave},
};
use commis_artifacts::recording::{Exchange, Place, TypedHit};
use commis_net::egress::site_of;
use commis_recipe::{
    model::{
        BodyTemplate, Constraints, Format, Pair, ParamSource, ParamType, Parameter, RequestTemplate,
    },
    template::{Filter, Template},
    values::is_date,
};

/// Objects within objects that are looked through for paging keys.
const PAGING_DEPTH: usize = 2;

/// A request that parameters are put into.
#[derive(Clone)]
pub struct RequestWeaver<'a> {
    pub request: RequestTemplate,
    pub parameters: Vec<Parameter>,
    /// Why each of them is one.
    pub evidence: BTreeMap<String, String>,
    /// What the parameters are in the first example.
    pub first: BTreeMap<String, String>,
    chains: &'a [&'a [Filter]],
    /// By which changes what was put in.
    pub used: Vec<(String, Vec<Filter>)>,
}

impl<'a> RequestWeaver<'a> {
    /// Puts parameters where typed values stand in one part. A part that was minimized away, or that holds a slot, is passed over.
    pub fn part(&mut self, place: Place, key: &str, typed: &[(&str, &str)]) {
        let before = self.request.clone();
        let what = (typed, self.chains);
        let woven = match (place, &mut self.request.body) {
            (Place::Path, _) => weave_path(&mut self.request.url, key, what),
            (Place::Host, _) => weave_host(&mut self.request, what),
            (Place::Query, _) => weave_pairs(&mut self.request.query, key, what),
            (Place::Form, Some(BodyTemplate::Form(fields))) => weave_pairs(fields, key, what),
            (Place::Json, Some(BodyTemplate::Json(body))) => match body.pointer_mut(key) {
                Some(Value::String(it)) => weave_template(it, what),
                Some(it @ Value::Number(_)) => weave_number(it, what),
                _ => None,
            },
            (Place::Text, Some(BodyTemplate::Text(it))) => weave_template(it, what),
            _ => None,
        };
        let Some(found) = woven else { return };
        // One parameter cannot be set to two values: the second place stays as it is, and the second recording decides.
        let differs = |it: &FoundParameter| {
            let known = found.iter().find(|known| known.name == it.name).map(|it| &it.value);
            self.first.get(&it.name).or(known).is_some_and(|known| *known != it.value)
        };
        if found.iter().any(differs) {
            self.request = before;
            return;
        }
        for it in found {
            if !it.chain.is_empty() {
                self.used.push((it.name.clone(), it.chain.clone()));
            }
            let why = format!("typed value found in {place:?} {key}").to_lowercase();
            self.add(it, &why);
        }
    }

    pub const fn new(request: RequestTemplate, chains: &'a [&'a [Filter]]) -> Self {
        Self {
            request,
            parameters: Vec::new(),
            evidence: BTreeMap::new(),
            first: BTreeMap::new(),
            chains,
            used: Vec::new(),
        }
    }

    /// Puts in what was typed, wherever it was found in that request.
    pub fn typed(&mut self, exchange: &Exchange, values: &BTreeMap<String, String>) {
        for (place, key, names) in parts(&exchange.measures.typed_in_request) {
            let typed: Vec<(&str, &str)> =
                names.into_iter().filter_map(|it| Some((it, values.get(it)?.as_str()))).collect();
            self.part(place, key, &typed);
        }
    }

    /// Whether each of them is a parameter.
    pub fn has_all<'n>(&self, mut names: impl Iterator<Item = &'n String>) -> bool {
        names.all(|it| self.first.contains_key(it))
    }

    /// Another request with the same parameters.
    pub fn fork(&self, request: RequestTemplate) -> Self {
        Self { request, ..self.clone() }
    }

    /// Takes over the parameters of another request.
    pub fn join(&mut self, other: Self) {
        let request = std::mem::replace(&mut self.request, other.request.clone());
        *self = Self { request, ..other };
    }

    /// A parameter, where it is none yet.
    pub fn add(&mut self, it: FoundParameter, why: &str) {
        if let Some(known) = self.parameters.iter_mut().find(|known| known.name == it.name) {
            // A number in one place is a number everywhere.
            if known.kind == ParamType::Str {
                known.kind = it.kind;
            }
            return;
        }
        self.evidence.insert(it.name.clone(), why.to_owned());
        self.first.insert(it.name.clone(), it.value.clone());
        self.parameters.push(Parameter {
            name: it.name,
            kind: it.kind,
            required: true,
            source: ParamSource::TaskInput,
            default: None,
            constraints: Constraints { max_len: Some(200), ..Constraints::default() },
            examples: vec![it.value],
        });
    }

    /// A parameter whose examples are dates takes dates.
    pub fn dates(&mut self) {
        for it in &mut self.parameters {
            if it.kind == ParamType::Str && it.examples.iter().all(|it| is_date(it)) {
                it.constraints.format = Some(Format::Date);
            }
        }
    }

    /// Paging keys with a whole number as value: optional, the recorded value is the default.
    pub fn paging(&mut self) {
        let mut found: Vec<(String, String, String)> = Vec::new();
        for it in &mut self.request.query {
            if let Some(value) = paging_value(&it.name, &it.value) {
                let name = unique(&self.parameters, &found, &it.name);
                it.value = format!("{{{name}}}");
                found.push((name, value, format!("query {}", it.name)));
            }
        }
        match &mut self.request.body {
            Some(BodyTemplate::Form(fields)) => {
                for it in fields {
                    if let Some(value) = paging_value(&it.name, &it.value) {
                        let name = unique(&self.parameters, &found, &it.name);
                        it.value = format!("{{{name}}}");
                        found.push((name, value, format!("form {}", it.name)));
                    }
                }
            }
            Some(BodyTemplate::Json(body)) => {
                paging_json(body, "", 0, &self.parameters, &mut found);
            }
            _ => {}
        }
        for (name, value, place) in found {
            self.evidence.insert(name.clone(), format!("paging key, {place}"));
            self.parameters.push(Parameter {
                name,
                kind: ParamType::Int,
                required: false,
                source: ParamSource::TaskInput,
                default: Some(value.clone()),
                constraints: Constraints {
                    min: Some(0),
                    max: Some(1000.max(value.parse().unwrap_or(0))),
                    ..Constraints::default()
                },
                examples: vec![value],
            });
        }
    }
}

/// In the body's objects and those within, such as GraphQL's variables.
fn paging_json(
    value: &mut Value,
    pointer: &str,
    depth: usize,
    taken: &[Parameter],
    found: &mut Vec<(String, String, String)>,
) {
    let Value::Object(fields) = value else { return };
    for (key, it) in fields {
        if it.is_u64()
            && let Some(value) = paging_value(key, &it.to_string())
        {
            let name = unique(taken, found, key);
            *it = Value::String(format!("{{{name}}}"));
            found.push((name, value, format!("json {pointer}/{key}")));
        } else if depth < PAGING_DEPTH {
            paging_json(it, &format!("{pointer}/{key}"), depth + 1, taken, found);
        }
    }
}

/// A name that no parameter has yet.
fn unique(taken: &[Parameter], found: &[(String, String, String)], key: &str) -> String {
    let base = identifier(key);
    let free = |name: &str| {
        !taken.iter().any(|it| it.name == name) && !found.iter().any(|it| it.0 == name)
    };
    let mut name = base.clone();
    let mut n = 2;
    while !free(&name) {
        name = format!("{base}_{n}");
        n += 1;
    }
    name
}

fn paging_value(name: &str, value: &str) -> Option<String> {
    let known = PAGING.contains(&name.to_ascii_lowercase().as_str());
    (known && value.len() <= 4 && !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()))
        .then(|| value.to_owned())
}

/// Typed values by name, and how they may have been changed.
type TypedWithChains<'a> = (&'a [(&'a str, &'a str)], &'a [&'a [Filter]]);

fn weave_template(text: &mut String, what: TypedWithChains<'_>) -> Option<Vec<FoundParameter>> {
    let template = Template::parse(text).ok().filter(Template::is_literal)?;
    let literal = template.render(|_| Err::<String, ()>(())).ok()?;
    // Of two values that differ in case alone, the one that is written so.
    let mut typed = what.0.to_vec();
    typed.sort_by_key(|it| (std::cmp::Reverse(it.1.len()), !literal.contains(it.1)));
    let woven = weave(&literal, &typed, what.1)?;
    *text = woven.text;
    Some(woven.found)
}

/// A name may come more than once, each time with a value of its own.
fn weave_pairs(
    pairs: &mut [Pair],
    name: &str,
    what: TypedWithChains<'_>,
) -> Option<Vec<FoundParameter>> {
    let named = pairs.iter_mut().filter(|it| it.name == name);
    let found: Vec<FoundParameter> =
        named.filter_map(|it| weave_template(&mut it.value, what)).flatten().collect();
    (!found.is_empty()).then_some(found)
}

/// A number stays a number.
fn weave_number(it: &mut Value, what: TypedWithChains<'_>) -> Option<Vec<FoundParameter>> {
    let Value::Number(number) = &*it else { return None };
    let found = as_number(number, what.0, what.1)?;
    let filters = found.chain.iter().map(|it| it.as_str());
    let mut parts: Vec<&str> = std::iter::once(found.name.as_str()).chain(filters).collect();
    if !found.chain.is_empty() {
        parts.push(Filter::Number.as_str());
    }
    *it = Value::String(format!("{{{}}}", parts.join("|")));
    Some(vec![found])
}

/// The whole host, or one label of it that stands before the site's own name.
fn weave_host(
    request: &mut RequestTemplate,
    what: TypedWithChains<'_>,
) -> Option<Vec<FoundParameter>> {
    let url = Url::parse(&request.url).ok()?;
    let host = url.domain()?;
    let is_typed = |text: &str| what.0.iter().any(|it| it.1.eq_ignore_ascii_case(text));
    let own = host.strip_suffix(&site_of(&request.url)).unwrap_or_default();
    let mut labels: Vec<String> = own.split('.').map(str::to_owned).collect();
    let mut whole = host.to_owned();
    let (found, woven) = if is_typed(host) {
        (weave_template(&mut whole, what)?, whole)
    } else {
        let label = labels.iter_mut().find(|it| is_typed(it))?;
        let found = weave_template(label, what)?;
        (found, format!("{}{}", labels.join("."), &host[own.len()..]))
    };
    request.host = Some(woven);
    Some(found)
}

fn weave_path(
    url: &mut String,
    index: &str,
    what: TypedWithChains<'_>,
) -> Option<Vec<FoundParameter>> {
    let index: usize = index.parse().ok()?;
    let authority_end = url.find("://").map(|it| it + 3)?;
    let path_start = authority_end + url[authority_end..].find('/')?;
    let (base, path) = url.split_at(path_start);
    let mut segments: Vec<String> = path[1..].split('/').map(str::to_owned).collect();
    let segment = segments.get_mut(index)?;
    let mut decoded =
        percent_encoding::percent_decode_str(segment).decode_utf8().ok()?.into_owned();
    let found = weave_template(&mut decoded, what)?;
    // What stands around goes back to its percent-encoded form; braces, bars and names need none.
    *segment = percent_encoding::utf8_percent_encode(&decoded, PATH_SEGMENT).to_string();
    *url = format!("{base}/{}", segments.join("/"));
    Some(found)
}

/// The parts that typed values stand in, those first that hold nothing else, each with the names of its values.
pub fn parts(hits: &[TypedHit]) -> Vec<(Place, &str, Vec<&str>)> {
    let mut hits: Vec<&TypedHit> = hits.iter().collect();
    hits.sort_by_key(|it| (!it.exact, it.place));
    let mut out: Vec<(Place, &str, Vec<&str>)> = Vec::new();
    let mut whole: Vec<(Place, &str)> = Vec::new();
    for hit in hits {
        let part = (hit.place, hit.key.as_str());
        if hit.exact {
            whole.push(part);
        }
        match out.iter_mut().find(|it| (it.0, it.1) == part) {
            None => out.push((part.0, part.1, vec![&hit.name])),
            // Under a name that comes twice, each of two values can be a whole one.
            Some(_) if whole.contains(&part) && !hit.exact => {}
            Some(it) => it.2.push(&hit.name),
        }
    }
    out
}

/// What a path segment may not hold raw (WHATWG URL, path percent-encode set, and `/`).
pub const PATH_SEGMENT: &percent_encoding::AsciiSet = &percent_encoding::CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'/')
    .add(b'%');

#[cfg(test)]
mod tests {
    use super::{super::templating::USUAL, *};

    #[test]
    fn a_name_that_comes_twice_takes_two_values() {
        let pair = |value: &str| Pair {
            name: "tag".to_owned(),
            value: value.to_owned(),
            ..Pair::default()
        };
        let hit = |name: &str| TypedHit {
            name: name.to_owned(),
            place: Place::Query,
            key: "tag".to_owned(),
            exact: true,
            option: false,
        };
        let hits = [hit("first"), hit("second")];
        let (_, key, names) = parts(&hits).remove(0);
        assert_eq!((key, names), ("tag", vec!["first", "second"]));
        let typed: TypedWithChains = (&[("first", "sunset"), ("second", "pier")], USUAL);
        let mut pairs = [pair("sunset"), pair("sea"), pair("pier")];
        assert_eq!(weave_pairs(&mut pairs, "tag", typed).unwrap().len(), 2);
        assert_eq!(pairs, [pair("{first}"), pair("sea"), pair("{second}")]);
        assert!(weave_pairs(&mut pairs, "label", typed).is_none());
    }

    #[test]
    fn weaves_into_a_path_segment() {
        for (index, url, typed, woven, value) in [
            (
                "1",
                "http://city.test/api/New%20York/forecast",
                "New York",
                "http://city.test/api/{city}/forecast",
                "New York",
            ),
            (
                "0",
                "http://city.test/New%20York.html",
                "new york",
                "http://city.test/{city}.html",
                "New York",
            ),
            (
                "1",
                "http://city.test/in/new-york%2Fus",
                "New York",
                "http://city.test/in/{city|slug}%2Fus",
                "New York",
            ),
        ] {
            let mut text = url.to_owned();
            let found = weave_path(&mut text, index, (&[("city", typed)], USUAL)).unwrap();
            assert_eq!((text.as_str(), found[0].value.as_str()), (woven, value));
        }
    }
}
