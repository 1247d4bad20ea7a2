//! What frameworks and protocols call, and by which name: the operation of a remote call, the control of a postback, the action of a
//! form.

use serde_json::Value;
use url::Url;

use super::{
    Call,
    address::Segment,
    before,
    body::Body,
    names::{Says, control, operation},
    verbs::{ACTIONS, among, words},
};

/// Something that a request calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    pub name: String,
    pub says: Says,
}

impl Called {
    /// By a name that says nothing.
    pub fn opaque(name: &str) -> Self {
        Self { name: name.to_owned(), says: Says::Nothing }
    }

    fn reading(name: &str) -> Self {
        Self { name: name.to_owned(), says: Says::Reads }
    }

    fn operation(name: &str) -> Self {
        Self { name: name.to_owned(), says: operation(name) }
    }

    /// By what a button says, or else by what it is called.
    fn button(name: &str, label: &str) -> Self {
        let says = match operation(name.rsplit(['$', ':', '.']).next().unwrap_or(name)) {
            Says::Nothing => control("button", label),
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
pub fn batch(url: &Url, body: &Body<'_>) -> Option<Result<(), String>> {
    super::body::batch(body, url, |it| before(it, None))
}

/// Everything that a POST calls.
pub fn calls(call: &Call<'_>, url: &Url, segments: &[Segment], body: &Body<'_>) -> Vec<Called> {
    let mut out = Vec::new();
    rpc(call, url, segments, body, &mut out);
    postback(call, url, body, &mut out);
    named(url, body, &mut out);
    out
}

/// Whether it says that it is only tried: `dry_run=true`, `validateOnly=true`.
pub fn is_trial(url: &Url, body: &Body<'_>) -> bool {
    let is = |name: &str, value: &str| {
        let name = name.trim_start_matches('/').to_ascii_lowercase().replace(['-', '_'], "");
        matches!(&*name, "dryrun" | "validateonly" | "simulate" | "previewonly")
            && matches!(&*value.to_ascii_lowercase(), "1" | "all" | "true" | "yes")
    };
    url.query_pairs().any(|it| is(&it.0, &it.1)) || body.all().iter().any(|it| is(&it.0, &it.1))
}

/// Whether everything is called by its name here, whatever the path is: JSON-RPC and Ext Direct with nothing beside the call, GWT, ZK,
/// and the actions of pages by SvelteKit and Razor.
pub fn is_protocol(call: &Call<'_>, url: &Url, body: &Body<'_>) -> bool {
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
fn rpc(call: &Call<'_>, url: &Url, segments: &[Segment], body: &Body<'_>, out: &mut Vec<Called>) {
    let kind = kind(call);
    let last = url.path_segments().and_then(Iterator::last).map(str::to_owned);
    let is_grpc = kind.starts_with("application/grpc")
        || kind.starts_with("application/connect+")
        || call.header("connect-protocol-version").is_some();
    if let Some(last) = last.filter(|_| is_grpc) {
        out.push(Called::operation(&last));
    }
    // Of tRPC a POST is a mutation; queries go by GET, but for long ones.
    if let Some(at) = segments.iter().position(|it| it.is(&["trpc"])) {
        let names = url.path_segments().into_iter().flatten().skip(at + 1);
        out.extend(names.flat_map(|it| it.split(',')).map(|it| match operation(it) {
            Says::Reads => Called::opaque(it),
            says => Called { name: it.to_owned(), says },
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
            out.push(Called::operation(name));
        } else if is_service || of(&[".aspx", ".asmx", ".svc", ".ashx"]) {
            out.push(Called::operation(last));
        } else if *last == "$query" && body.text.as_deref().is_some_and(|it| it.starts_with('$')) {
            out.push(Called::reading(last));
        }
    }
    if let Some(text) = body.text.as_deref() {
        out.extend(xml_call(text).map(|it| Called::operation(&it)));
        // GWT: a table of texts, of which the fourth is the method; DWR: lines of names and values.
        if kind.contains("gwt") || call.header("x-gwt-permutation").is_some() {
            out.push(Called::operation(text.split('|').nth(6).unwrap_or_default()));
        }
        let lines = text.lines().filter_map(|it| it.split_once("-methodName="));
        out.extend(lines.map(|it| Called::operation(it.1)));
    }
    for it in &body.json {
        let calls: Vec<&Value> =
            it.as_array().map_or_else(|| vec![&**it], |it| it.iter().collect());
        for call in calls {
            // Odoo works out the other fields of a form by it.
            let is_odoo = segments.iter().any(|it| it.is(&["callkw"]));
            out.extend(remote(call).map(|it| match it {
                "onchange" if is_odoo => Called::reading(it),
                it => Called::operation(it),
            }));
            components(call, out);
        }
    }
}

/// The method of a remote call. One that only passes a call on (`call`, `execute_kw`, `tools/call`) names it in its parameters.
fn remote(call: &Value) -> Option<&str> {
    let method = call.get("method").and_then(Value::as_str)?;
    let params = call.get("params");
    let inner = || ["method", "name"].iter().find_map(|it| params?.get(it)?.as_str());
    match inner().filter(|_| passes_on(method)) {
        Some(it) => Some(it),
        None => (params.is_some() || call.get("jsonrpc").is_some()).then_some(method),
    }
}

fn passes_on(method: &str) -> bool {
    let all = words(method);
    all.last().is_some_and(|it| among(it, &[&["call", "dispatch", "execute", "invoke", "kw"]]))
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
        return (operation(name.rsplit(':').next()?) != Says::Nothing)
            .then(|| name.rsplit(':').next().unwrap_or(name).to_owned());
    };
    let name = tag.split(|it: char| it.is_whitespace() || matches!(it, '>' | '/')).next()?;
    Some(name.rsplit(':').next().unwrap_or(name).to_owned())
}

/// Livewire's components: methods that are called, fields that are set.
fn components(value: &Value, out: &mut Vec<Called>) {
    for it in value.get("components").and_then(Value::as_array).into_iter().flatten() {
        for call in it.get("calls").and_then(Value::as_array).into_iter().flatten() {
            out.extend(call.get("method").and_then(Value::as_str).map(method_called));
        }
        let set = it.get("updates").and_then(Value::as_object).into_iter().flatten();
        let sets: Vec<&str> = set.map(|it| it.0.as_str()).collect();
        out.extend(sets.into_iter().map(field_set));
    }
    for it in value.get("updates").and_then(Value::as_array).into_iter().flatten() {
        let payload = it.get("payload");
        let text = |name: &str| payload.and_then(|it| it.get(name)).and_then(Value::as_str);
        match it.get("type").and_then(Value::as_str) {
            Some("callMethod") => {
                out.extend(text("method").map(method_called));
            }
            Some("syncInput") => out.push(field_set(text("name").unwrap_or_default())),
            Some(_) => out.push(Called::opaque(text("event").unwrap_or("an event"))),
            None => {}
        }
    }
}

/// A method of a component.
fn method_called(name: &str) -> Called {
    // The framework's own.
    if name == "$refresh" {
        return Called::reading(name);
    }
    Called::operation(name.trim_start_matches('$'))
}

/// A field of a component that is set while it is typed in.
fn field_set(name: &str) -> Called {
    let says = match control("textbox", name) {
        Says::Reads => Says::Reads,
        _ => Says::Nothing,
    };
    Called { name: name.to_owned(), says }
}

/// A page that posts to itself: ASP.NET, JSF and its relatives, Wicket, Vaadin and others name the control that was used.
fn postback(call: &Call<'_>, url: &Url, body: &Body<'_>, out: &mut Vec<Called>) {
    let all = body.all();
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
        let says = if shows(it) { Says::Reads } else { operation(&it.to_ascii_lowercase()) };
        out.push(Called { name: it.to_owned(), says });
    } else if has("__VIEWSTATE") || has("__EVENTTARGET") {
        let before = out.len();
        if let Some(target) = of("__EVENTTARGET") {
            let says = match of("__EVENTARGUMENT").map(|it| it.split('$').next().unwrap_or(it)) {
                Some(it)
                    if among(
                        &it.to_ascii_lowercase(),
                        &[&["page", "sort", "select", "edit", "cancel", "expand"]],
                    ) =>
                {
                    Says::Reads
                }
                Some(it) if operation(it) != Says::Nothing => operation(it),
                _ => match operation(target.rsplit('$').next().unwrap_or(target)) {
                    // A list of which one is chosen, by which the page is filled anew.
                    Says::Nothing if is_choice(target) => Says::Reads,
                    it => it,
                },
            };
            out.push(Called { name: target.to_owned(), says });
        }
        out.extend(all.iter().filter(|it| is_button(&it.0)).map(|it| Called::button(&it.0, &it.1)));
        if out.len() == before {
            out.push(Called::opaque("a control of its page"));
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
        if all.iter().any(asks) || event.is_some_and(|it| among(it, &[SHOWN])) {
            out.push(Called::reading("a part of a list"));
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
            out.push(Called::button(short, if label == name { "" } else { label }));
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
        out.push(Called::operation(name.unwrap_or("a control of its page")));
    }
}

/// By what such controls are called before what they are about: `ddlCounty`.
fn is_choice(name: &str) -> bool {
    let all = words(name.rsplit(['$', ':']).next().unwrap_or(name));
    all.len() > 1 && among(&all[0], &[&["cbo", "cmb", "combo", "ddl", "dropdown", "lst"]])
}

fn is_button(name: &str) -> bool {
    const KINDS: &[&str] = &["btn", "button", "cmd", "ib", "img", "lb", "link", "lnk", "submit"];
    let all = words(name.rsplit(['$', ':']).next().unwrap_or(name));
    [all.first(), all.last()].into_iter().flatten().any(|it| among(it, &[KINDS]))
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

/// Whether a field or a parameter names what is done.
pub fn is_action(name: &str) -> bool {
    let it = name.trim_start_matches(['/', '_', '$']);
    if it.starts_with("javax.faces.") || it.starts_with("jakarta.faces.") {
        return false;
    }
    let it = it.rsplit(['/', '.']).next().unwrap_or_default().to_ascii_lowercase();
    among(
        &it,
        &[ACTIONS, &["intent", "button", "descriptor", "event", "handler", "meth", "methodname"]],
    ) && !among(&it, &[&["mode", "task", "function"]])
}

/// Actions that a form, an address or an object names itself: SvelteKit's `?/name`, `intent`, `_action`, `commit`, `op`, `do`.
fn named(url: &Url, body: &Body<'_>, out: &mut Vec<Called>) {
    if let Some(name) = url.query().and_then(|it| it.strip_prefix('/')) {
        let name = name.split(['&', '=']).next().unwrap_or_default();
        out.push(Called::operation(name));
    }
    let whole = |name: &str| body.value(name).filter(|it| !it.is_empty());
    // Ext: the class is called its action, and its method is named beside it.
    let is_class =
        whole("action").zip(whole("method")).is_some_and(|it| operation(it.0) == Says::Nothing);
    for (name, value) in body.all() {
        if is_class && name == "/action" {
            continue;
        }
        // Struts: the button's name.
        if let Some(method) = name.strip_prefix("method:") {
            out.push(Called::operation(method));
            continue;
        }
        // ZK: `cmd_0=onPaging`; others have a word before: `p_widget_action=PAGE`.
        let all = words(name.trim_start_matches('/'));
        let is_named = all.len() > 1
            && all.len() <= 4
            && !name[1..].contains(['/', '.', '['])
            && (all[0] == "cmd" || among(&all[all.len() - 1], &[&["action", "command", "method"]]))
            && !is_action(name);
        let says = match operation(value) {
            Says::Nothing
                if words(value)
                    .last()
                    .is_some_and(|it| among(it, &[&["page", "paging", "sort", "sorting"]])) =>
            {
                Says::Reads
            }
            it => it,
        };
        if is_named && says != Says::Nothing {
            out.push(Called { name: value.clone(), says });
            continue;
        }
        // A word that asks counts where one that says nothing does not: `task=search`.
        if among(name, &[&["task", "function"]]) && says == Says::Reads {
            out.push(Called { name: value.clone(), says });
            continue;
        }
        if value.is_empty() {
            if name.to_ascii_uppercase().starts_with("$ACTION_") {
                out.push(Called::opaque("an action of its page"));
            }
        } else if name.eq_ignore_ascii_case("commit") || name.eq_ignore_ascii_case("submit") {
            out.push(Called { name: value.clone(), says: control("button", value) });
        } else if is_action(name) && !passes_on(value) {
            out.push(Called::operation(value));
        }
    }
    let query = url.query_pairs().filter(|it| is_action(&it.0) && !it.1.is_empty());
    out.extend(query.map(|it| Called::operation(&it.1)));
}
