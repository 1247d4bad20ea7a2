//! Calls whose arguments have no names: a password among them is told by the name of what is called.
//!
//! XML-RPC, SOAP as generated without names (`<arg1>`), JSON-RPC with a list, GWT-RPC.

use serde_json::{Map, Value};

use super::names::words;

/// Whether the argument at this place is a credential. Who logs in comes first, and what proves it after.
pub fn is_credential(method: &str, at: usize) -> bool {
    if method.len() > 120 {
        return false;
    }
    let last = method.rsplit(['.', '/', ':', '#']).next().unwrap_or(method);
    let family = method.split('.').next().unwrap_or("");
    // WordPress and the APIs before it: blog, user, password.
    if ["wp", "metaWeblog", "blogger", "mt"].contains(&family) && family.len() < method.len() {
        return at == if method == "wp.getUsersBlogs" { 1 } else { 2 };
    }
    // Odoo: database, user, password.
    if matches!(last, "execute_kw" | "execute" | "exec_workflow") {
        return at == 2;
    }
    let lower = last.to_ascii_lowercase();
    // Most names are told at once.
    if !["log", "sign", "auth", "pass", "session"].iter().any(|it| lower.contains(it)) {
        return false;
    }
    let joined = lower.replace(['_', '-'], "");
    let words = words(last);
    let has = |list: &[&str]| words.iter().any(|it| list.contains(&it.as_str()));
    if joined.contains("password") {
        return !["forgot", "request", "policy", "validate", "strength"]
            .iter()
            .any(|it| joined.contains(it));
    }
    let begins = ["login", "logon", "signin", "dologin", "userlogin"];
    let opens = has(&["create", "open", "start", "begin", "new"]) && joined.contains("session");
    let logs_in = has(&["login", "logon", "signin", "authenticate", "auth"])
        || begins.iter().any(|it| joined.starts_with(it))
        || opens;
    logs_in && at >= 1
}

/// Whether anything that is called so takes a credential.
pub fn takes_credential(method: &str) -> bool {
    (0..3).any(|it| is_credential(method, it))
}

/// The list of arguments in `{"method": …, "params": […]}` and the name of what is called, where it takes a credential.
pub fn arguments(fields: &Map<String, Value>) -> Option<(&'static str, &str)> {
    const CALLED: &[&str] =
        &["method", "methodName", "m", "action", "procedure", "function", "operation", "command"];
    const GIVEN: &[&str] = &["params", "args", "arguments", "parameters", "p", "data"];
    if fields.len() > 12 {
        return None;
    }
    // Most objects have no list, and need no look-up.
    let lists = fields.iter().filter(|it| it.1.is_array());
    let list = GIVEN[lists.filter_map(|it| GIVEN.iter().position(|name| name == it.0)).min()?];
    let method = CALLED.iter().find_map(|it| fields.get(*it)?.as_str())?;
    takes_credential(method).then_some((list, method))
}

/// Credentials in a call of GWT-RPC: `7|0|6|base|policy|service|method|type|value|1|2|…`.
pub fn in_gwt(text: &str) -> Option<Vec<&str>> {
    let mut parts = text.split('|');
    let digits =
        |it: &str| !it.is_empty() && it.len() <= 5 && it.bytes().all(|b| b.is_ascii_digit());
    let [_, _, count] = [parts.next()?, parts.next()?, parts.next()?]
        .map(Some)
        .map(|it| it.filter(|it| digits(it)));
    let count: usize = count?.parse().ok()?;
    let strings: Vec<&str> = parts.take(count).collect();
    let [_, _, service, method, given @ ..] = &strings[..] else { return None };
    if strings.len() < count || !service.contains('.') {
        return None;
    }
    // `java.lang.String/2004016611` is the type of a value.
    let is_type = |it: &str| {
        it.rsplit_once('/').is_some_and(|(name, n)| {
            name.contains('.') && n.len() <= 10 && n.bytes().all(|b| b.is_ascii_digit())
        }) || it.is_empty()
    };
    let values = given.iter().filter(|it| !is_type(it)).enumerate();
    Some(values.filter(|it| is_credential(method, it.0)).map(|it| *it.1).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_argument_proves_who_calls() {
        for (method, places) in [
            ("login", "01111"),
            ("User.login", "01111"),
            ("auth.signIn", "01111"),
            ("createSession", "01111"),
            ("wp.getPosts", "00100"),
            ("wp.getUsersBlogs", "01000"),
            ("metaWeblog.newPost", "00100"),
            ("execute_kw", "00100"),
            ("changePassword", "11111"),
            ("listLogs", "00000"),
            ("catalog.search", "00000"),
            ("author.find", "00000"),
            ("requestPasswordReset", "00000"),
            ("getDesign", "00000"),
            ("session.list", "00000"),
        ] {
            let found: String =
                (0..5).map(|it| if is_credential(method, it) { '1' } else { '0' }).collect();
            assert_eq!(found, places, "{method}");
        }
    }

    #[test]
    fn credentials_of_gwt() {
        for (text, expected) in [
            (
                "7|0|7|https://a.example/m/|29F4|com.a.LoginService|login|java.lang.String/2004016611|bob|hunter2|1|2|3|4|2|5|5|6|7|",
                Some(vec!["hunter2"]),
            ),
            (
                "7|0|6|https://a.example/m/|29F4|com.a.Shop|search|java.lang.String/2004016611|lamp|1|2|3|4|1|5|6|",
                Some(vec![]),
            ),
            ("7|0|9|a|b", None),
            ("1|2|3", None),
        ] {
            assert_eq!(in_gwt(text), expected, "{text}");
        }
    }
}
