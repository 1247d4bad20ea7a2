//! A recipe in words: what is sent where, where values come from, what is known about it.

use super::{choice, origin};
use commis_net::egress::site_of;
use commis_recipe::paging::{PageBy, Pages};
use commis_recipe::steps::Choose;
use commis_recipe::{
    auth,
    model::{
        Auth, AuthKind, Framing, LoginProof, Parameter, Recipe, RequestTemplate, ResponseSpec,
        ResponseType, Status, TransportKind, Verification, Witness,
    },
    registry::{RegisteredRecipe, Source},
    status::MAX_FAILURES,
    trust::Trust,
};
use commis_runner::MIN_SIMILARITY_BP;
use commis_state::Health;

/// The lines that explain it. They quote what strangers wrote.
pub fn words(held: &RegisteredRecipe) -> Vec<String> {
    let it = &held.recipe;
    let mut out = vec![format!("{}: {}", it.name, it.task)];
    out.push(match (held.source, held.shadows) {
        (Source::Library, _) => "a recipe of the library, read-only".to_owned(),
        (Source::User, true) => "your own, standing before a library recipe".to_owned(),
        (Source::User, false) => "your own".to_owned(),
    });
    out.push(format!("status: {}", status(it)));
    out.push(format!("transport: {}", transport(it)));
    let request = &it.request;
    for step in it.steps_before() {
        let missing = if step.optional { " (the site may have no answer)" } else { "" };
        out.push(format!("step {}{missing}:", step.name));
        asks(&step.request, &mut out);
        if step.request.body.is_some() {
            out.push("  and a body; `recipe dry-run` shows it".to_owned());
        }
        out.push(format!("  reads: {}", answer(&step.response)));
        let one = match step.choose {
            Some(Choose::All(_) | Choose::Key(_)) => "",
            _ => "; more than one is an error",
        };
        out.extend(choice(step).map(|it| format!("  takes {it}{one}")));
    }
    asks(request, &mut out);
    if let Some(chain) = &it.chain {
        out.extend(
            chain
                .for_each
                .as_ref()
                .map(|it| format!("  once for each item of step {it}, in their order")),
        );
    }
    if let Some(auth) = &it.auth {
        out.push(format!("  {}, to the origin of the request only", key(auth)));
    }
    if let Some(it) = &it.login {
        out.push(format!("login: one of {}; the answer is that of whoever is logged in", it.site));
    }
    if request.body.is_some() {
        out.push("  and a body; `recipe dry-run` shows it".to_owned());
    }
    out.push(format!(
        "may reach: {}, and no other host; a redirect elsewhere is refused",
        hosts(it).join(", ")
    ));
    if let Some(own) = &it.own_host {
        out.push(format!("at a host of your own: runs only where [egress.own] names {own}"));
    }
    if it.parameters.is_empty() {
        out.push("parameters: none; it always asks the same".to_owned());
    } else {
        out.push("parameters:".to_owned());
        out.extend(it.parameters.iter().map(parameter));
    }
    if !it.slots.is_empty() {
        out.push("values that are not written down:".to_owned());
        out.extend(
            it.slots.iter().map(|slot| format!("  {}: from {}", slot.name, origin(&slot.from))),
        );
    }
    out.push(format!("reads: {}", answer(&it.response)));
    if let Some(output) = it.chain.as_ref().and_then(|it| it.output.as_ref()) {
        out.push(format!("puts the answers together: {output}"));
    }
    out.extend(it.verification.iter().flat_map(|proof| proof_words(proof, it)));
    out
}

/// What a recipe's proof says.
fn proof_words(proof: &Verification, recipe: &Recipe) -> Vec<String> {
    let mut out = Vec::new();
    if proof.verified_at.is_some() && proof.witness() == Witness::None {
        out.push(
            "witness: none; no page was seen that showed the data, so whether an answer holds all of it is unknown"
                .to_owned(),
        );
    }
    out.extend(proof.proof.map(|it| {
        let how = match it {
            LoginProof::OneLogin => "a stranger was refused, or got something else",
            LoginProof::TwoLogins => {
                "a stranger and a second login were refused, or got something else"
            }
        };
        format!("proof: {}; {how}", it.as_str())
    }));
    if let Some(it) = &proof.first_page {
        out.push(format!(
            "whole: no; its first example gave {}: {}. Each run says whether its answer is whole",
            it.describe(),
            it.evidence
        ));
    }
    if let Some(it) = &recipe.pages {
        out.push(of_pages(it));
    }
    out.push(format!(
        "fingerprint: {} over {} typed paths (version {}); an answer less alike than {} % is reported as drift",
        proof.fingerprint_sha256,
        proof.shape.len(),
        proof.fingerprint_version,
        MIN_SIMILARITY_BP / 100
    ));
    out
}

fn asks(request: &RequestTemplate, out: &mut Vec<String>) {
    out.push(match &request.address {
        Some(it) => {
            format!("sends: {} the address {it}, as a link on {}", request.method, request.url)
        }
        None => format!("sends: {} {}", request.method, request.url),
    });
    if let Some(it) = &request.host {
        out.push(format!("  to the host {it}"));
    }
    for pair in &request.query {
        out.push(format!("  query {} = {}", pair.name, pair.value));
    }
    for (name, value) in &request.headers {
        out.push(format!("  header {name}: {value}"));
    }
}

/// Hosts that its requests may reach, each once.
fn hosts(it: &Recipe) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for host in it.requests().flat_map(|it| &it.allowed_domains) {
        if !out.contains(&host.as_str()) {
            out.push(host);
        }
    }
    out
}

/// How the recipe follows its list, and what that was proven by.
fn of_pages(it: &Pages) -> String {
    let way = match (&it.parameter, &it.next) {
        (Some(name), Some(next)) if it.by == PageBy::Cursor => format!("`{name}` takes `{next}`"),
        (Some(name), _) => {
            format!("`{name}` counts {}", if it.by == PageBy::Page { "pages" } else { "items" })
        }
        (None, Some(next)) => format!("`{next}` gives the address"),
        (None, None) if it.by == PageBy::LinkHeader => {
            "the header Link gives the address".to_owned()
        }
        (None, None) => "a link of the page gives the address".to_owned(),
    };
    let seen = it.seen;
    let counted = if seen.counted { ", as many as the site says" } else { "" };
    let usual = if it.all { "a run gives all pages" } else { "--all gives all pages" };
    format!(
        "pages: by {}, {way}; proven by {} items on {} pages{counted}; {usual}",
        it.by.as_str(),
        seen.items,
        seen.pages
    )
}

fn key(it: &Auth) -> String {
    let value = auth::placeholder(it);
    match (it.kind, &it.query, &it.header) {
        (AuthKind::Bearer, ..) => format!("key {value}, as a bearer token"),
        (AuthKind::Basic, ..) => format!("user and password {value}"),
        (AuthKind::ApiKey, Some(name), _) => format!("key {value}, as query {name}"),
        (AuthKind::ApiKey, None, name) => {
            format!("key {value}, as header {}", name.as_deref().unwrap_or_default())
        }
    }
}

fn status(it: &Recipe) -> String {
    let when = it.verification.as_ref().and_then(|it| it.verified_at.as_deref());
    let not_here = "; nothing here proves it: `recipe verify` does, or `recipe trust` where you know who proved it";
    match (it.status, when) {
        (Status::Draft, _) if it.trust == Trust::Claimed => {
            format!("draft: its file says that it was proven{not_here}")
        }
        (Status::Verified, Some(when)) if it.trust == Trust::Person => {
            format!("verified, says its file, on {when}; a person stands for it")
        }
        (Status::Verified, Some(when)) if it.trust.is_untrusted() => {
            format!("verified, says its file, on {when}{not_here}")
        }
        (Status::Verified, Some(when)) if it.parameters.iter().any(|it| it.required) => {
            format!("verified on {when}: on two inputs, the data changed with the input")
        }
        (Status::Verified, Some(when)) => format!("verified on {when}: twice, with equal shape"),
        (Status::Verified, None) => "verified".to_owned(),
        (Status::Draft, _) if it.verification.is_some() => {
            "draft: it was replayed or captured once, its second input was never proven".to_owned()
        }
        (Status::Draft, _) => "draft: written by hand, not yet proven here".to_owned(),
        (Status::Deprecated, when) if it.demotion.is_some() => demoted(it, when),
        (Status::Deprecated, Some(when)) => {
            format!("deprecated: it was verified on {when}, and learning no longer chooses it")
        }
        (Status::Deprecated, None) => "deprecated: learning no longer chooses it".to_owned(),
    }
}

fn demoted(it: &Recipe, when: Option<&str>) -> String {
    let Some(demotion) = &it.demotion else { return String::new() };
    let verified = when.map(|it| format!("verified on {it}, ")).unwrap_or_default();
    let (at, why) = (&demotion.at, demotion.reason.describe());
    format!(
        "deprecated: {verified}put out of service on {at}: {why}; `recipe verify` proves it again"
    )
}

/// How its runs went, in a line.
pub fn told_health(it: &Health) -> String {
    let mut parts = vec![format!("{} runs, {} failed", it.runs, it.failed)];
    parts.extend(it.last_ok_ms.map(|ms| format!("last ok {} UTC", moment(ms))));
    parts.extend(it.last_code.as_ref().map(|code| format!("the last one ended in {code}")));
    if it.failed_in_a_row > 0 {
        parts.push(format!(
            "failures in a row by its own fault: {} of {MAX_FAILURES}",
            it.failed_in_a_row
        ));
    }
    let alike = it.last_similarity_bp;
    parts.extend(alike.map(|it| format!("last answer {}.{:02} % alike", it / 100, it % 100)));
    format!("health: {}", parts.join("; "))
}

fn transport(it: &Recipe) -> String {
    let page = &it.source_url;
    match it.transport() {
        TransportKind::InPageFetch => format!(
            "a page: a headless browser opens {page} and fetches there, because the site wants its session"
        ),
        TransportKind::ContextRequest => format!(
            "the client with a session: a headless browser opens {page}, and its cookies go with the request"
        ),
        TransportKind::LoginHttp => {
            "the client with a login: cookies of a sealed login go with the request, and no browser starts"
                .to_owned()
        }
        _ => {
            let tried = if it.verification.is_none() { ", not tried yet" } else { "" };
            let page = if it.auth.is_none() && site_of(page) == site_of(&it.request.url) {
                format!("; where it gets no connection, once more in a browser that opens {page}")
            } else {
                String::new()
            };
            format!("the client alone{tried}: no browser, no cookies{page}")
        }
    }
}

fn parameter(it: &Parameter) -> String {
    let kind = if it.constraints.map.is_empty() { it.kind.describe() } else { "a choice" };
    let mut text = format!("  {}: {kind}", it.name);
    let mut add = |part: String| {
        text.push_str(", ");
        text.push_str(&part);
    };
    match &it.default {
        Some(default) => add(format!("{default} when it is not given")),
        None if it.required => add("required".to_owned()),
        None => add("left out when it is not given".to_owned()),
    }
    let limits = &it.constraints;
    if let Some(max) = limits.max_len {
        add(format!("at most {max} characters"));
    }
    if let Some(min) = limits.min {
        add(format!("at least {min}"));
    }
    if let Some(max) = limits.max {
        add(format!("at most {max}"));
    }
    if !limits.one_of.is_empty() {
        add(format!("one of {}", limits.one_of.join(", ")));
    }
    if !it.examples.is_empty() {
        add(format!("for example {}", it.examples.join(" or ")));
    }
    text
}

fn answer(it: &ResponseSpec) -> String {
    let kind = match it.kind {
        ResponseType::Json if it.framing == Some(Framing::File) => {
            format!("a file, {}", it.media_type.as_deref().unwrap_or("of any type"))
        }
        ResponseType::Json => "JSON".to_owned(),
        ResponseType::Text => "text".to_owned(),
        ResponseType::Html if it.embedded.is_some() => "JSON inside a page".to_owned(),
        ResponseType::Html => "a page's repeated elements".to_owned(),
    };
    let mut parts = vec![kind];
    if let Some(extract) = &it.extract {
        parts.push(format!("of it {extract}"));
    }
    if let Some(min) = it.min_items {
        parts.push(format!("fewer than {min} items is a failure"));
    }
    if !it.required_paths.is_empty() {
        parts.push(format!("there must be {}", it.required_paths.join(", ")));
    }
    parts.join("; ")
}

/// `2026-01-31 07:05` in UTC, of milliseconds since 1970; empty when that is no moment.
pub fn moment(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms)
        .map(|it| it.strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}
