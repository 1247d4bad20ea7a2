//! A list whose items the page asked for one by one: the things are the data, the list is the way to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    chained::same_endpoint,
    effect::judge_recorded,
    minimize::used_slots,
    provenance::{PathKey, answer, expression, field_paths, find_lists, list, outline},
    replay::leaf_lines,
    request::{plain, template},
    request_weaver::RequestWeaver,
    templating::USUAL,
    trace::{RequestPlace, differing, literals, name_of, same_place, set_value},
};
use commis_artifacts::{
    payloads::{Captured, ListLength, RecipeDraftMinimized, SecondRecording},
    recording::{BodyStatus, Exchange, SessionRecording},
};
use commis_recipe::{
    model::{RequestTemplate, ResponseSpec, ResponseType},
    steps::{Assembly, MAX_STEPS, PerItem, Step, field, text},
    template::{Filter, escape},
};

/// Leaves of a captured answer that are kept to compare with.
pub(super) const MAX_LEAVES: usize = 60;

/// Fewer requests may carry a value of a list by chance.
const MIN_CALLS: usize = 3;
/// Of the calls whose answers have values on the page that the list has not, so many tenths must have one.
const MOST_TENTHS: usize = 6;
/// A shorter text stands on any page.
const MIN_TEXT: usize = 3;
/// What says where an item stands, the first that its answer does not have.
const POSITION: [&str; 3] = ["position", "place_in_list", "number_in_list"];
const ANSWER: &str = "answer";

/// A list and the calls for its items.
pub struct FanOut<'a> {
    /// JMESPath of the list.
    pub extract: Option<String>,
    /// What of each item its call takes; the item itself without it.
    pub field: Option<String>,
    /// One for each item that was seen, in their order.
    pub calls: Vec<&'a Exchange>,
    /// The items, as far as they were kept.
    items: Vec<Value>,
    /// Where in the call the value stands, and what stands around it there.
    at: RequestPlace,
    around: (String, String),
    is_number: bool,
}

impl FanOut<'_> {
    /// The items are values without fields, such as ids.
    fn is_bare(&self) -> bool {
        !self.items.iter().any(Value::is_object)
    }

    /// How the list itself is read.
    pub fn response(&self, list: &Exchange) -> ResponseSpec {
        ResponseSpec {
            framing: list.framing,
            extract: self.extract.clone(),
            ..ResponseSpec::new(ResponseType::Json)
        }
    }
}

/// Requests that are alike but for one part.
struct Series<'a> {
    at: RequestPlace,
    around: (String, String),
    is_number: bool,
    /// By the part's value; of two with one value the last.
    calls: BTreeMap<String, &'a Exchange>,
}

/// The calls that were made for the items of a list in that answer: for all of them, or for the first so many. A list of more
/// than bare ids counts only where the page showed of most answers what the list does not say.
pub fn fan_out<'a>(exchange: &Exchange, recording: &'a SessionRecording) -> Option<FanOut<'a>> {
    let document = answer(exchange)?;
    let mut lists = Vec::new();
    find_lists(document, MIN_CALLS, &mut Vec::new(), &mut lists);
    if lists.is_empty() {
        return None;
    }
    let is_cut = exchange.body_status == BodyStatus::Truncated;
    let length = |keys: &[PathKey]| {
        let path = expression(keys)?;
        let known = exchange.measures.lists.iter().find(|it| it.path == path && it.instances == 1);
        known.map(|it| it.len as usize)
    };
    for series in all_series(exchange, recording) {
        for keys in &lists {
            let items = list(document, keys);
            for path in field_paths(items.first()?) {
                let values: Option<Vec<String>> =
                    items.iter().map(|it| field(it, path.as_deref()).and_then(text)).collect();
                let Some(count) =
                    values.and_then(|it| asked_for(&it, &series, (is_cut, length(keys))))
                else {
                    continue;
                };
                let found = FanOut {
                    extract: Some(sliced(keys, count)?).filter(|it| it != "@"),
                    calls: calls(&items, path.as_deref(), &series),
                    items: items.iter().map(|it| (*it).clone()).collect(),
                    field: path,
                    at: series.at,
                    around: series.around,
                    is_number: series.is_number,
                };
                return (found.is_bare() || says_more(document, &found, recording))
                    .then_some(found);
            }
        }
    }
    None
}

fn calls<'a>(items: &[&Value], path: Option<&str>, series: &Series<'a>) -> Vec<&'a Exchange> {
    let value = |it: &&Value| field(it, path).and_then(text);
    items.iter().filter_map(value).filter_map(|it| series.calls.get(&it).copied()).collect()
}

/// For which items of a list calls were made.
#[derive(Clone, Copy)]
enum ItemSelection {
    All,
    First(usize),
}

/// `None` where calls were made for others, or for none.
fn asked_for(
    values: &[String],
    series: &Series<'_>,
    (is_cut, length): (bool, Option<usize>),
) -> Option<ItemSelection> {
    let distinct: BTreeSet<&String> = values.iter().collect();
    if distinct.len() < MIN_CALLS {
        return None;
    }
    let asked = values.iter().take_while(|it| series.calls.contains_key(*it)).count();
    let is_rest_unasked = !values[asked..].iter().any(|it| series.calls.contains_key(it));
    if asked < MIN_CALLS || !is_rest_unasked {
        return None;
    }
    let known = distinct.iter().filter(|it| series.calls.contains_key(**it)).count();
    // Each call is for one of the items, as far as they were kept.
    let all = series.calls.len();
    let is_cut = is_cut && asked == values.len();
    let is_part = asked < values.len() || is_cut && length.is_some_and(|it| it > all);
    let count = if is_cut { all } else { asked };
    (is_cut || known == all).then_some(if is_part {
        ItemSelection::First(count)
    } else {
        ItemSelection::All
    })
}

/// The list as JMESPath, or so many of its first items.
fn sliced(keys: &[PathKey], asked: ItemSelection) -> Option<String> {
    let all = expression(keys)?;
    Some(match asked {
        ItemSelection::All => all,
        ItemSelection::First(count) if all == "@" => format!("[:{count}]"),
        ItemSelection::First(count) => format!("{all}[:{count}]"),
    })
}

/// The page shows of most answers what the list does not say.
fn says_more(document: &Value, found: &FanOut<'_>, recording: &SessionRecording) -> bool {
    let mut known = BTreeSet::new();
    texts(document, &mut known);
    let shown: BTreeSet<String> = recording
        .page
        .shown
        .iter()
        .flat_map(|it| it.rows.iter().flatten().flatten())
        .map(|it| it.trim().to_lowercase())
        .collect();
    let is_new = |it: &&&Exchange| {
        let mut own = BTreeSet::new();
        if let Some(it) = answer(it) {
            texts(it, &mut own);
        }
        own.iter().any(|it| {
            it.chars().count() >= MIN_TEXT
                && !known.contains(it)
                && shown.iter().any(|cell| holds(cell, it))
        })
    };
    let new = found.calls.iter().filter(is_new).count();
    new >= MIN_CALLS && new * 10 >= found.calls.len() * MOST_TENTHS
}

/// A text stands in a line as words of its own.
fn holds(line: &str, text: &str) -> bool {
    let is_edge = |it: Option<char>| it.is_none_or(|it| !it.is_alphanumeric());
    line.match_indices(text).any(|(at, _)| {
        is_edge(line[..at].chars().next_back()) && is_edge(line[at + text.len()..].chars().next())
    })
}

fn texts(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|it| texts(it, out)),
        Value::Object(all) => all.values().for_each(|it| texts(it, out)),
        it => out.extend(text(it).map(|it| it.trim().to_lowercase())),
    }
}

/// Later requests that only read, by what they are alike in.
fn all_series<'a>(list: &Exchange, recording: &'a SessionRecording) -> Vec<Series<'a>> {
    let mut groups: BTreeMap<_, Vec<(&Exchange, RequestTemplate)>> = BTreeMap::new();
    for it in recording.exchanges.iter().filter(|it| it.id > list.id) {
        if same_endpoint(it, list)
            || answer(it).is_none()
            || !judge_recorded(it, recording).is_read()
        {
            continue;
        }
        let Some((request, slots)) = template(it) else { continue };
        if !matches!(request.method.as_str(), "GET" | "POST")
            || !used_slots(&request, &slots).is_empty()
        {
            continue;
        }
        let key = (it.method.clone(), outline(&it.url));
        groups.entry(key).or_default().push((it, plain(request)));
    }
    groups.into_values().filter_map(series).collect()
}

/// The one part in which the requests of a group differ.
fn series(group: Vec<(&Exchange, RequestTemplate)>) -> Option<Series<'_>> {
    let (_, first) = group.first().filter(|_| group.len() >= MIN_CALLS)?;
    let mut out = None;
    for part in literals(first) {
        let values: Option<Vec<String>> =
            group.iter().map(|it| same_place(first, &it.1, &part.at)).collect();
        let values = values?;
        let Some(other) = values.iter().find(|it| **it != part.literal) else { continue };
        if out.is_some() {
            return None;
        }
        let (before, _, _, after) = differing(&part.literal, other);
        let inner = |it: &String| Some(it.strip_prefix(before)?.strip_suffix(after)?.to_owned());
        let values: Option<Vec<String>> = values.iter().map(inner).collect();
        let calls = values?.into_iter().zip(group.iter().map(|it| it.0)).collect();
        out = Some(Series {
            around: (before.to_owned(), after.to_owned()),
            is_number: part.is_number,
            at: part.at,
            calls,
        });
    }
    out.filter(|it| it.calls.len() >= MIN_CALLS)
}

/// Makes of a draft of a list that of its items, where the page asked for them. Fails with what the calls have that the list
/// cannot give.
pub fn spread(
    draft: &mut RecipeDraftMinimized,
    exchange: &Exchange,
    recording: &SessionRecording,
    (second, twin): (&SecondRecording, Option<&Exchange>),
) -> Result<(), &'static str> {
    let Some(found) = fan_out(exchange, recording) else { return Ok(()) };
    let failed = |why| if found.is_bare() { Err(why) } else { Ok(()) };
    let theirs = second.recording.as_ref().zip(twin).map(|(it, twin)| fan_out(twin, it));
    let is_alike = |it: &FanOut<'_>| it.field == found.field && it.at == found.at;
    if theirs.as_ref().is_some_and(|it| !it.as_ref().is_some_and(is_alike)) {
        return failed("the second example does not ask for its items in the same way");
    }
    if draft.steps.len() + 2 > MAX_STEPS {
        return failed("its values come from more than four requests in a row");
    }
    let Some(call) = found.calls.first() else { return Ok(()) };
    let Some((request, _)) = template(call) else {
        return failed("a call for an item cannot be written down");
    };
    let mut own = RequestWeaver::new(plain(request), USUAL);
    own.first.clone_from(&draft.first);
    own.parameters.clone_from(&draft.parameters);
    own.typed(call, &recording.typed);
    let is_free = |name: &str| {
        draft.steps.iter().all(|it| it.name != name) && !recording.typed.contains_key(name)
    };
    let step = name_of(&draft.request, is_free);
    let name = found.field.as_ref().map_or_else(|| step.clone(), |it| format!("{step}.{it}"));
    let filter =
        if found.is_number { format!("|{}", Filter::Number.as_str()) } else { String::new() };
    let (before, after) = &found.around;
    let hole = format!("{}{{{name}{filter}}}{}", escape(before), escape(after));
    set_value(&mut own.request, &found.at, hole);
    let request = std::mem::replace(&mut draft.request, own.request);
    draft.parameters = own.parameters;
    draft.steps.push(Step {
        name: step.clone(),
        for_each: None,
        request,
        response: found.response(exchange),
        choose: None,
        poll: None,
        into: None,
        position: None,
        optional: false,
    });
    let response = ResponseSpec { framing: call.framing, ..ResponseSpec::new(ResponseType::Json) };
    draft.assembly = Some(Assembly::PerItem(per_item(&found, step, response)));
    draft.response = ResponseSpec::new(ResponseType::Json);
    draft.compared = false;
    let lines = |it: &FanOut<'_>| {
        let all: Vec<Value> = it.calls.iter().filter_map(|it| answer(it).cloned()).collect();
        leaf_lines(&Value::Array(all), MAX_LEAVES)
    };
    draft.captured =
        theirs.flatten().map(|theirs| Captured { first: lines(&found), second: lines(&theirs) });
    draft.list = ListLength { asked_for_all: draft.list.asked_for_all, ..ListLength::default() };
    Ok(())
}

/// How each answer joins its item.
fn per_item(found: &FanOut<'_>, step: String, response: ResponseSpec) -> PerItem {
    let answers: Vec<&Value> = found.calls.iter().filter_map(|it| answer(it)).collect();
    let has = |name: &str| answers.iter().any(|it| it.get(name).is_some());
    // Of bare ids nothing but their order is known.
    let position = POSITION.into_iter().find(|it| found.is_bare() && !has(it)).map(str::to_owned);
    let is_scalar = |it: &&Value| !it.is_object() && !it.is_null();
    let is_other = |item: &Value, answer: &Value| {
        let Some(all) = item.as_object() else { return false };
        all.iter().any(|(key, own)| answer.get(key).is_some_and(|it| it != own))
    };
    let differs = found.items.iter().zip(&answers).any(|(item, it)| is_other(item, it));
    let into = (differs || answers.iter().any(is_scalar)).then(|| ANSWER.to_owned());
    PerItem { step, into, position, response }
}
