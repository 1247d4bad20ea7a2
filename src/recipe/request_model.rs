//! The request of a recipe, with templates where values go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The request, with templates. In every template `{name}` is a parameter or slot, `{name|slug}` (or `lower`, `base64`,
/// `json`, `url` and others) the same spelled as its place needs it; `{{` and `}}` are literal braces.
/// A template never reaches scheme, host or port, but for `host` and `address`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestTemplate {
    /// GET or POST.
    pub method: String,
    /// Scheme, host and path; path segments are templates (values are percent-encoded whole).
    pub url: String,
    /// Query pairs in order, decoded; values are templates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<Pair>,
    /// Lower-case names from the allowlist; values are templates.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Of a POST.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<BodyTemplate>,
    /// The charset that query and form are sent in, where the site reads another than UTF-8: `windows-1251`. What it does not have
    /// is sent as `&#1234;`, as browsers do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
    /// The host, where a parameter chooses it from a closed list: a template of one name, such as `{language}.wiki.example`. Each of the
    /// parameter's choices gives one of `allowed_domains`; scheme and port are those of `url`, whose own host is one of the choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The whole address, which an earlier step gives: a template of one name, such as `{links.print}`. It is resolved against `url`,
    /// as a link of a page is, and has to be on one of `allowed_domains`; `url` has no query then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Canonical hosts this request and its redirects may reach.
    pub allowed_domains: Vec<String>,
    /// eTLD+1 of those hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_sites: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// As it is sent.
    pub name: String,
    /// A template.
    pub value: String,
    /// In a query: characters that are sent as they are although a form would encode them, such as `;:/`. With a blank among
    /// them a blank is sent as `%20`, else as `+`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub raw: String,
}

/// A request body with templates in its string leaves or values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BodyTemplate {
    /// A string leaf that is exactly `{name}` of an int, float or bool parameter becomes that JSON type.
    Json(serde_json::Value),
    /// Pairs, as a form sends them; in parts where the header `content-type` is `multipart/form-data`.
    Form(Vec<Pair>),
    /// A template, sent as it is.
    Text(String),
}
