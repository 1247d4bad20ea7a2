//! Slots that a plain GET fills: public keys in a page or script, tokens in an earlier JSON answer.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use super::{check_status, extract};
use commis_base::{
    error::{Code, Error, Result},
    work,
};
use commis_net::transport::{PreparedRequest, Reply, Transport};
use commis_recipe::{
    document::Document,
    expression::Query,
    model::{Between, Slot, SlotSource},
};

/// Values of the slots of kinds `document` and `response`; each URL is fetched once, `seen` is told of each answer. Each GET
/// may reach its own host only, `own` being the host of the user's own that they are sent at.
///
/// Fails with `SESSION_REQUIRED` for a slot of another kind, `EXTRACT_EMPTY` when the answer no longer holds the value, and
/// what `Transport::send` and `check_status` fail with.
pub async fn fetch(
    slots: impl IntoIterator<Item = &Slot>,
    own: Option<&str>,
    transport: &dyn Transport,
    mut seen: impl FnMut(&Reply),
) -> Result<BTreeMap<String, String>> {
    let mut fetched: BTreeMap<&str, Reply> = BTreeMap::new();
    let mut out = BTreeMap::new();
    for slot in slots {
        let name = &slot.name;
        let (SlotSource::Document { url, .. } | SlotSource::Response { url, .. }) = &slot.from
        else {
            return Err(Error::new(
                Code::SessionRequired,
                format!("slot `{name}` needs a page in a browser, and this run has none"),
            )
            .hint("run it with `commis run`, which opens the page in a browser"));
        };
        if !fetched.contains_key(url.as_str()) {
            let request = PreparedRequest {
                method: "GET".to_owned(),
                url: url.clone(),
                headers: Vec::new(),
                body: None,
                allowed_domains: Vec::new(),
                own_host: own.map(str::to_owned),
            };
            let reply = transport.send(&request).await?;
            seen(&reply);
            check_status(&reply).map_err(|err| {
                Error::new(err.code(), format!("cannot fetch slot `{name}`: {}", err.message()))
            })?;
            fetched.insert(url, reply);
        }
        let value = work::compute(work::ANSWER, || value(slot, &fetched[url.as_str()]))
            .await??
            .ok_or_else(|| {
                Error::new(
                    Code::ExtractEmpty,
                    format!("the answer that slot `{name}` is read from does not contain it"),
                )
                .hint("the site may have changed; learn the recipe again")
            })?;
        out.insert(name.clone(), value);
    }
    Ok(out)
}

/// The text that a cookie slot takes of a cookie: as it is, or decoded, as scripts do it that repeat one in a header.
pub fn cookie_text(value: String, decoded: bool) -> String {
    if !decoded {
        return value;
    }
    let plain = value.trim_matches('"');
    let text = percent_encoding::percent_decode_str(plain).decode_utf8().map(Cow::into_owned);
    text.unwrap_or_else(|_| plain.to_owned())
}

/// The text that a storage slot takes of a stored value: all of it, or where it is JSON the text or number at `path`. Fails with
/// `RECIPE_INVALID` for a path that does not compile.
pub fn stored_text(value: &str, path: Option<&str>) -> Result<Option<String>> {
    let Some(path) = path else { return Ok(Some(value.to_owned())) };
    let Ok(json) = serde_json::from_str::<Value>(value) else { return Ok(None) };
    Ok(text(Query::compile(path)?.search(&Document::from(&json))?))
}

#[cfg(test)]
#[test]
fn a_cookie_is_decoded_only_where_the_request_had_it_so() {
    let of = |value: &str, decoded| cookie_text(value.to_owned(), decoded);
    assert_eq!(of("eyJpdiI6%3D%3D", false), "eyJpdiI6%3D%3D");
    assert_eq!(of("eyJpdiI6%3D%3D", true), "eyJpdiI6==");
    assert_eq!(of("\"a%20b\"", true), "a b");
    assert_eq!(of("%FF", true), "%FF");
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(it) => Some(it),
        it @ (Value::Number(_) | Value::Bool(_)) => Some(it.to_string()),
        _ => None,
    }
}

fn value(slot: &Slot, reply: &Reply) -> Result<Option<String>> {
    match &slot.from {
        SlotSource::Document { after, until, .. } => {
            let text = String::from_utf8_lossy(&reply.body);
            let between = Between { after: after.clone(), until: until.clone() };
            Ok(between.of(&text).map(str::to_owned))
        }
        SlotSource::Response { path, .. } => {
            let json = extract::parse_any_json(&reply.mime(), &reply.body)?;
            Ok(text(Query::compile(path)?.search(&Document::from(&json))?))
        }
        _ => Ok(None),
    }
}
