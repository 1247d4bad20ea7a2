//! What frameworks and protocols call, and by which name: the operation of a remote call, the control of a postback, the action of a
//! form.

use serde_json::Value;
use url::Url;

use super::{
    Call,
    address::Segment,
    body::Body,
    judge_before_send,
    names::{NameMeaning, control_meaning, operation_meaning},
    verbs::{is_action, is_in_lists, words},
};

/// Something that a request calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledOperation {
    pub name: String,
    pub says: NameMeaning,
}

impl CalledOperation {
    /// By a name that says nothing.
    pub fn opaque(name: &str) -> Self {
        Self { name: name.to_owned(), says: NameMeaning::Nothing }
    }

    fn reading(name: &str) -> Self {
        Self { name: name.to_owned(), says: NameMeaning::Reads }
    }

    fn operation(name: &str) -> Self {
        Self { name: name.to_owned(), says: operation_meaning(name) }
    }

    /// By what a button says, or else by what it is called.
    fn button(name: &str, label: &str) -> Self {
        let says = match operation_meaning(name.rsplit(['$', ':', '.']).next().unwrap_or(name)) {
            NameMeaning::Nothing => control_meaning("button", label),
            it => it,
        };
        let name = if label.is_empty() { name } else { label };
        Self { name: name.to_owned(), says }
    }

    /// For a person: short, on one line.
    pub fn describe(&self) -> String {
        commis_redact::message(&self.name).chars().filter(|it| !it.is_control()).take(60).collect()
    }
}

/// Whether every request of a batch reads; `None` where it is none.
pub fn judge_batch(url: &Url, body: &Body<'_>) -> Option<Result<(), String>> {
    super::body::judge_batch_parts(body, url, |it| judge_before_send(it, None))
}

/// Everything that a POST calls.
pub fn find_calls(
    call: &Call<'_>,
    url: &Url,
    segments: &[Segment],
    body: &Body<'_>,
) -> Vec<CalledOperation> {
    let mut out = Vec::new();
    collect_rpc(call, url, segments, body, &mut out);
    collect_postback(call, url, body, &mut out);
    collect_named_actions(url, body, &mut out);
    out
}

/// Whether it says that it is only tried: `dry_run=true`, `validateOnly=true`.
pub fn is_dry_run(url: &Url, body: &Body<'_>) -> bool {
    let is = |name: &str, value: &str| {
        let name = name.trim_start_matches('/').to_ascii_lowercase().replace(['-', '_'], "");
        matches!(&*name, "dryrun" | "validateonly" | "simulate" | "previewonly")
            && matches!(&*value.to_ascii_lowercase(), "1" | "all" | "true" | "yes")
    };
    url.query_pairs().any(|it| is(&it.0, &it.1)) || body.pairs().iter().any(|it| is(&it.0, &it.1))
}

/// Whether everything is called by its name here, whatever the path is: JSON-RPC and Ext Direct with nothing beside the call, GWT, ZK,
/// and the actions of pages by SvelteKit and Razor.
pub fn is_rpc_protocol(call: &Call<'_>, url: &Url, body: &Body<'_>) -> bool {
    const CALLS: &[&str] = &["auth", "id", "jsonrpc", "method", "params"];
    const DIRECT: &[&str] = &["action", "data", "method", "tid", "type"];
    if call.header("x-gwt-permutation").is_some()
        || body.value("dtid").is_some() && body.value("cmd_0").is_some()
    {
        return true;
    }
    let is = |it: &Value| {
        let all = it.as_object().map(|it| it.keys().map(String::as_str).collect::<Vec<_>>());
        let of =
            |list: &[&str]| all.as_ref().is_some_and(|it| it.iter().all(|it| list.contains(it)));
        it.get("method").is_some()
            && (it.get("jsonrpc").is_some() && of(CALLS) || it.get("tid").is_some() && of(DIRECT))
    };
    let is_rpc = !body.json.is_empty()
        && body.json.iter().all(|it| it.as_array().map_or_else(|| is(it), |it| it.iter().all(is)));
    is_rpc || url.query().is_some_and(|it| it.starts_with('/') || it.starts_with("handler="))
}

fn kind<'a>(call: &Call<'a>) -> &'a str {
    call.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default().trim()
}

/// Remote calls: JSON-RPC, XML-RPC, SOAP, gRPC-web, Connect, tRPC, Livewire and others.
fn collect_rpc(
    call: &Call<'_>,
    url: &Url,
    segments: &[Segment],
    body: &Body<'_>,
    out: &mut Vec<CalledOperation>,
) {
    let kind = kind(call);
    let last = url.path_segments().and_then(Iterator::last).map(str::to_owned);
    let is_grpc = kind.starts_with("application/grpc")
        || kind.starts_with("application/connect+")
        || call.header("connect-protocol-version").is_some();
    if let Some(last) = last.filter(|_| is_grpc) {
        out.push(CalledOperation::operation(&last));
    }
    // Of tRPC a POST is a mutation; queries go by GET, but for long ones.
    if let Some(at) = segments.iter().position(|it| it.is(&["trpc"])) {
        let names = url.path_segments().into_iter().flatten().skip(at + 1);
        out.extend(names.flat_map(|it| it.split(',')).map(|it| match operation_meaning(it) {
            NameMeaning::Reads => CalledOperation::opaque(it),
            says => CalledOperation { name: it.to_owned(), says },
        }));
    }
    // Methods of resources (`documents:batchGet`) and of programs (`Orders.aspx/GetOrders`), and a query that stands in the body.
    let raw: Vec<&str> =
        url.path_segments().into_iter().flatten().filter(|it| !it.is_empty()).collect();
    if let Some((last, before)) = raw.split_last() {
        // `$rpc/pkg.v1.Service/Method`
        let is_service = before.last().is_some_and(|it| it.matches('.').count() >= 2)
            && last.starts_with(|it: char| it.is_ascii_uppercase());
        let of = |ends: &[&str]| {
            ends.iter()
                .any(|it| before.last().is_some_and(|end| end.to_ascii_lowercase().ends_with(it)))
        };
        if let Some((_, name)) = last.rsplit_once(':').filter(|it| !it.0.is_empty()) {
            out.push(CalledOperation::operation(name));
        } else if is_service || of(&[".aspx", ".asmx", ".svc", ".ashx"]) {
            out.push(CalledOperation::operation(last));
        } else if *last == "$query" && body.text.as_deref().is_some_and(|it| it.starts_with('$')) {
            out.push(CalledOperation::reading(last));
        }
    }
    if let Some(text) = body.text.as_deref() {
        out.extend(xml_call(text).map(|it| CalledOperation::operation(&it)));
        // GWT: a table of texts, of which the fourth is the method; DWR: lines of names and values.
        if kind.contains("gwt") || call.header("x-gwt-permutation").is_some() {
            out.push(CalledOperation::operation(text.split('|').nth(6).unwrap_or_default()));
        }
        let lines = text.lines().filter_map(|it| it.split_once("-methodName="));
        out.extend(lines.map(|it| CalledOperation::operation(it.1)));
    }
    for it in &body.json {
        let calls: Vec<&Value> =
            it.as_array().map_or_else(|| vec![&**it], |it| it.iter().collect());
        for call in calls {
            // Ethereum's protocol: a call without a transaction, which keeps nothing.
            const DRY_CALLS: &[&str] = &["eth_call", "eth_estimateGas"];
            // Odoo works out the other fields of a form by it.
            let is_odoo = segments.iter().any(|it| it.is(&["callkw"]));
            out.extend(remote_method(call).map(|it| match it {
                "onchange" if is_odoo => CalledOperation::reading(it),
                it if DRY_CALLS.contains(&it) => CalledOperation::reading(it),
                it => CalledOperation::operation(it),
            }));
            collect_components(call, out);
        }
    }
}

/// The method of a remote call. One that only passes a call on (`call`, `execute_kw`, `tools/call`) names it in its parameters.
fn remote_method(call: &Value) -> Option<&str> {
    let method = call.get("method").and_then(Value::as_str)?;
    let params = call.get("params");
    let inner = || ["method", "name"].iter().find_map(|it| params?.get(it)?.as_str());
    match inner().filter(|_| is_dispatcher(method)) {
        Some(it) => Some(it),
        None => (params.is_some() || call.get("jsonrpc").is_some()).then_some(method),
    }
}

fn is_dispatcher(method: &str) -> bool {
    let all = words(method);
    all.last()
        .is_some_and(|it| is_in_lists(it, &[&["call", "dispatch", "execute", "invoke", "kw"]]))
}

/// The operation of a SOAP envelope or an XML-RPC call.
fn xml_call(text: &str) -> Option<String> {
    let text = text.trim_start();
    if !text.starts_with('<') {
        return None;
    }
    if let Some((_, rest)) = text.split_once("<methodName>") {
        return rest.split_once('<').map(|it| it.0.trim().to_owned());
    }
    // Of the services of maps the document is the call: `<wfs:GetFeature …>`.
    let tag = if let Some(at) = [":Body", "<Body"].iter().find_map(|it| text.find(it)) {
        text[at..].split_once('>')?.1.split_once('<')?.1
    } else {
        let root = text.strip_prefix("<?xml").and_then(|it| it.split_once("?>"));
        let root = root.map_or(text, |it| it.1.trim_start()).strip_prefix('<')?;
        let name = root.split(|it: char| it.is_whitespace() || matches!(it, '>' | '/')).next()?;
        return (operation_meaning(name.rsplit(':').next()?) != NameMeaning::Nothing)
            .then(|| name.rsplit(':').next().unwrap_or(name).to_owned());
    };
    let name = tag.split(|it: char| it.is_whitespace() || matches!(it, '>' | '/')).next()?;
    Some(name.rsplit(':').next().unwrap_or(name).to_owned())
}

/// Livewire's components: methods that are called, fields that are set.
fn collect_components(value: &Value, out: &mut Vec<CalledOperation>) {
    for it in value.get("components").and_then(Value::as_array).into_iter().flatten() {
        for call in it.get("calls").and_then(Value::as_array).into_iter().flatten() {
            out.extend(call.get("method").and_then(Value::as_str).map(called_method));
        }
        let set = it.get("updates").and_then(Value::as_object).into_iter().flatten();
        let sets: Vec<&str> = set.map(|it| it.0.as_str()).collect();
        out.extend(sets.into_iter().map(set_field));
    }
    for it in value.get("updates").and_then(Value::as_array).into_iter().flatten() {
        let payload = it.get("payload");
        let text = |name: &str| payload.and_then(|it| it.get(name)).and_then(Value::as_str);
        match it.get("type").and_then(Value::as_str) {
            Some("callMethod") => {
                out.extend(text("method").map(called_method));
            }
            Some("syncInput") => out.push(set_field(text("name").unwrap_or_default())),
            Some(_) => out.push(CalledOperation::opaque(text("event").unwrap_or("an event"))),
            None => {}
        }
    }
}

/// A method of a component.
fn called_method(name: &str) -> CalledOperation {
    // The framework's own.
    if name == "$refresh" {
        return CalledOperation::reading(name);
    }
    CalledOperation::operation(name.trim_start_matches('$'))
}

/// A field of a component that is set while it is typed in.
fn set_field(name: &str) -> CalledOperation {
    let says = match control_meaning("textbox", name) {
        NameMeaning::Reads => NameMeaning::Reads,
        _ => NameMeaning::Nothing,
    };
    CalledOperation { name: name.to_owned(), says }
}

/// A page that posts to itself: ASP.NET, JSF and its relatives, Wicket, Vaadin and others name the control that was used.
fn collect_postback(call: &Call<'_>, url: &Url, body: &Body<'_>, out: &mut Vec<CalledOperation>) {
    let all = body.pairs();
    let of = |name: &str| body.value(name).filter(|it| !it.is_empty());
    let has = |name: &str| all.iter().any(|it| it.0.eq_ignore_ascii_case(name));
    // DevExpress: words of a call between marks.
    let marked = of("__CALLBACKPARAM").filter(|_| has("__CALLBACKID"));
    let shows = |it: &str| {
        ["PAGERONCLICK", "SORT", "FILTER", "EXPAND", "COLLAPSE"]
            .iter()
            .any(|lead| it.starts_with(lead))
    };
    let mut marks = marked.into_iter().flat_map(|it| it.split(['|', ':', ';']));
    if let Some(it) = marks.find(|it| {
        it.len() > 3 && it.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
    }) {
        let says = if shows(it) {
            NameMeaning::Reads
        } else {
            operation_meaning(&it.to_ascii_lowercase())
        };
        out.push(CalledOperation { name: it.to_owned(), says });
    } else if has("__VIEWSTATE") || has("__EVENTTARGET") {
        let before = out.len();
        if let Some(target) = of("__EVENTTARGET") {
            let says = match of("__EVENTARGUMENT").map(event_part) {
                Some(it)
                    if is_in_lists(
                        &it.to_ascii_lowercase(),
                        &[&["page", "sort", "select", "edit", "cancel", "expand"]],
                    ) =>
                {
                    NameMeaning::Reads
                }
                Some(it) if operation_meaning(it) != NameMeaning::Nothing => operation_meaning(it),
                _ => match operation_meaning(target.rsplit('$').next().unwrap_or(target)) {
                    // A list of which one is chosen, by which the page is filled anew.
                    NameMeaning::Nothing if is_choice(target) => NameMeaning::Reads,
                    it => it,
                },
            };
            out.push(CalledOperation { name: target.to_owned(), says });
        }
        out.extend(
            all.iter()
                .filter(|it| is_button(&it.0))
                .map(|it| CalledOperation::button(&it.0, &it.1)),
        );
        if out.len() == before {
            out.push(CalledOperation::opaque("a control of its page"));
        }
    }
    let faces = |it: &str| {
        let name = it.strip_prefix("javax.faces.").or_else(|| it.strip_prefix("jakarta.faces."));
        name.map(str::to_owned)
    };
    if all.iter().any(|it| faces(&it.0).is_some()) {
        let part = |name: &str| {
            all.iter().find(|it| faces(&it.0).as_deref() == Some(name)).map(|it| it.1.as_str())
        };
        let asks = |it: &(String, String)| {
            let end = it.0.rsplit('_').next().unwrap_or_default();
            it.1 == "true"
                && matches!(end, "pagination" | "sorting" | "filtering" | "scrolling" | "load")
                || end == "query" && it.0.contains(':')
        };
        let event = part("behavior.event").or_else(|| part("partial.event"));
        if all.iter().any(asks) || event.is_some_and(|it| is_in_lists(it, &[SHOWN])) {
            out.push(CalledOperation::reading("a part of a list"));
        } else {
            let source = part("source").or_else(|| {
                // A button without scripts is a field whose name is its own value.
                all.iter()
                    .find(|it| it.0.contains(':') && (it.0 == it.1 || is_button(&it.0)))
                    .map(|it| it.0.as_str())
            });
            let name = source.unwrap_or("a control of its page");
            let short = name.rsplit(':').next().unwrap_or(name);
            let label = source.and_then(of).unwrap_or_default();
            out.push(CalledOperation::button(short, if label == name { "" } else { label }));
        }
    }
    let wicket = url.query().filter(|it| {
        let lead = it.split(['.', '&', '=']).next().unwrap_or_default();
        lead.contains('-') && lead.bytes().all(|it| it.is_ascii_digit() || it == b'-')
    });
    let is_wicket =
        ["wicket-ajax", "wicket-ajax-baseurl"].iter().any(|it| call.header(it).is_some());
    if is_wicket || wicket.is_some_and(|it| it.contains('-')) {
        let path = wicket.unwrap_or_default().split('&').next().unwrap_or_default();
        let name = path.rsplit(['-', '.']).find(|it| it.bytes().any(|it| it.is_ascii_alphabetic()));
        out.push(CalledOperation::operation(name.unwrap_or("a control of its page")));
    }
}

/// The part of an event's argument that says what happened: `Page$3`, `FireCommand:grid;Page;3`. A change counts first.
fn event_part(argument: &str) -> &str {
    const MARKS: [char; 3] = ['$', ';', ':'];
    let changes = |it: &&str| matches!(operation_meaning(it), NameMeaning::Changes(_));
    let speaks = |it: &&str| {
        operation_meaning(it) != NameMeaning::Nothing
            || is_in_lists(&it.to_ascii_lowercase(), &[&["page", "sort"]])
    };
    // The name of the control stands before the first `;`.
    let behind = argument.split_once(';').map(|it| it.1);
    behind
        .and_then(|it| it.split(MARKS).find(changes).or_else(|| it.split(MARKS).rfind(speaks)))
        .or_else(|| argument.split(MARKS).next())
        .unwrap_or(argument)
}

/// By what such controls are called before what they are about: `ddlCounty`.
fn is_choice(name: &str) -> bool {
    let all = words(name.rsplit(['$', ':']).next().unwrap_or(name));
    all.len() > 1 && is_in_lists(&all[0], &[&["cbo", "cmb", "combo", "ddl", "dropdown", "lst"]])
}

fn is_button(name: &str) -> bool {
    const KINDS: &[&str] = &["btn", "button", "cmd", "ib", "img", "lb", "link", "lnk", "submit"];
    let all = words(name.rsplit(['$', ':']).next().unwrap_or(name));
    [all.first(), all.last()].into_iter().flatten().any(|it| is_in_lists(it, &[KINDS]))
}

/// Events of a component by which only what is shown changes.
const SHOWN: &[&str] = &[
    "blur",
    "collapse",
    "colReorder",
    "expand",
    "filter",
    "page",
    "query",
    "rowEditCancel",
    "rowEditInit",
    "rowSelect",
    "rowToggle",
    "rowUnselect",
    "sort",
    "tabChange",
];

/// Actions that a form, an address or an object names itself: SvelteKit's `?/name`, `intent`, `_action`, `commit`, `op`, `do`.
fn collect_named_actions(url: &Url, body: &Body<'_>, out: &mut Vec<CalledOperation>) {
    if let Some(name) = url.query().and_then(|it| it.strip_prefix('/')) {
        let name = name.split(['&', '=']).next().unwrap_or_default();
        out.push(CalledOperation::operation(name));
    }
    let whole = |name: &str| body.value(name).filter(|it| !it.is_empty());
    // Ext: the class is called its action, and its method is named beside it.
    let is_class = whole("action")
        .zip(whole("method"))
        .is_some_and(|it| operation_meaning(it.0) == NameMeaning::Nothing);
    for (name, value) in body.pairs() {
        if is_class && name == "/action" {
            continue;
        }
        // Struts: the button's name.
        if let Some(method) = name.strip_prefix("method:") {
            out.push(CalledOperation::operation(method));
            continue;
        }
        // ZK: `cmd_0=onPaging`; others have a word before: `p_widget_action=PAGE`.
        let all = words(name.trim_start_matches('/'));
        let is_named = all.len() > 1
            && all.len() <= 4
            && !name[1..].contains(['/', '.', '['])
            && (all[0] == "cmd"
                || is_in_lists(&all[all.len() - 1], &[&["action", "command", "method"]]))
            && !is_action(name);
        let says = match operation_meaning(value) {
            NameMeaning::Nothing
                if words(value).last().is_some_and(|it| {
                    is_in_lists(it, &[&["page", "paging", "sort", "sorting"]])
                }) =>
            {
                NameMeaning::Reads
            }
            it => it,
        };
        if is_named && says != NameMeaning::Nothing {
            out.push(CalledOperation { name: value.clone(), says });
            continue;
        }
        // A word that asks counts where one that says nothing does not: `task=search`.
        if is_in_lists(name, &[&["task", "function"]]) && says == NameMeaning::Reads {
            out.push(CalledOperation { name: value.clone(), says });
            continue;
        }
        if value.is_empty() {
            if name.to_ascii_uppercase().starts_with("$ACTION_") {
                out.push(CalledOperation::opaque("an action of its page"));
            }
        } else if name.eq_ignore_ascii_case("commit") || name.eq_ignore_ascii_case("submit") {
            out.push(CalledOperation {
                name: value.clone(),
                says: control_meaning("button", value),
            });
        } else if is_action(name) && !is_dispatcher(value) {
            out.push(CalledOperation::operation(value));
        }
    }
    let query = url.query_pairs().filter(|it| is_action(&it.0) && !it.1.is_empty());
    out.extend(query.map(|it| CalledOperation::operation(&it.1)));
}
