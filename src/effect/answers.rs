//! What an answer says: data, or a receipt for something that was done.

use serde_json::Value;

/// Members of an answer that only says how it went.
#[rustfmt::skip]
const RECEIPTS: &[&str] = &[
    "accepted", "access_token", "affected", "code", "csrf_token", "deleted", "done", "error", "errors", "expires_in", "guest_token", "id", "message", "modified", "msg", "ok", "pass", "passed", "refresh_token",
    "redirect", "result", "saved", "session", "session_id", "sessionid", "status", "success", "token", "token_type", "updated", "uuid",
];
/// Words by which a page says that something was done.
#[rustfmt::skip]
const DONE: &[&str] = &[
    "added to", "confirmed", "has been", "have been", "is booked", "is cancelled", "is confirmed", "is saved",
    "signed out", "logged out", "successfully", "thank you", "thanks for", "unsubscribed", "was added", "was deleted",
    "was removed", "was saved", "was sent", "were saved",
];

/// Whether a text says that something was done.
pub fn is_done(text: &str) -> bool {
    let lower: String = text.chars().take(2000).collect::<String>().to_lowercase();
    DONE.iter().any(|it| lower.contains(it))
}

/// By which a request or what was made is found again.
fn is_number_of(name: &str) -> bool {
    matches!(name, "requestid" | "traceid") || name.ends_with("_id") || name.ends_with("reference")
}

/// Whether an answer says how something went, and nothing else.
pub fn is_receipt(value: &Value) -> bool {
    match value {
        Value::Object(all) => all.iter().all(|(name, it)| {
            let lower = name.to_ascii_lowercase();
            let known = RECEIPTS.contains(&&*lower) || is_number_of(&lower);
            known && !it.is_array() && !it.is_object()
                || name == "data" && it.is_object() && is_receipt(it)
        }),
        Value::Array(_) => false,
        _ => true,
    }
}

#[cfg(test)]
/// Whether a list of objects, or of texts, stands in it.
pub fn has_list(text: &str) -> bool {
    fn holds(it: &Value) -> bool {
        match it {
            Value::Array(all) => {
                all.iter().any(|it| it.is_object() || it.is_string() || it.is_array())
            }
            Value::Object(all) => all.iter().any(|(name, it)| {
                let is_none = it.as_array().is_some_and(Vec::is_empty) && !name.starts_with("err");
                is_none || holds(it)
            }),
            _ => false,
        }
    }
    // What guards it stands before it.
    let at = text.find(['[', '{']).unwrap_or(0);
    let guarded = text.strip_prefix(")]}'").and_then(|it| it.find(['[', '{']));
    let at = guarded.map_or(at, |it| it + 4);
    serde_json::from_str::<Value>(&text[at..]).map_or_else(|_| text.contains("[{"), |it| holds(&it))
}
