//! The words of a curl command that sends one request.

use super::escaping::quote_shell;
use commis_recipe::{
    model::{AuthKind, Recipe},
    request::{FORM, JSON, PreparedRequest},
};

/// Where a text stands in a request.
#[derive(Clone, Copy)]
pub enum Place {
    Address,
    Header,
    Json,
    Text,
}

/// The words of the command for one of the recipe's requests; `quote` makes a word of a text, by the place that it has.
pub fn words(
    recipe: &Recipe,
    request: &PreparedRequest,
    quote: &dyn Fn(&str, Place) -> String,
) -> Vec<String> {
    let mut words =
        vec!["curl --fail-with-body --silent --show-error --compressed --globoff".to_owned()];
    // A key is for the origin alone, and curl carries headers along.
    if recipe.auth.is_none() {
        words.push("--location".to_owned());
    }
    if request.method != "GET" && request.body.is_none() {
        words.push(format!("--request {}", request.method));
    }
    for (name, value) in &request.headers {
        // Without a value curl leaves a header out, but for this.
        let line = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        words.push(format!("--header {}", quote(&line, Place::Header)));
    }
    if let Some(auth) = &recipe.auth {
        let key = format!("\"${{{}:?}}\"", auth.env);
        words.push(match (auth.kind, &auth.header, &auth.query) {
            (AuthKind::Bearer, ..) => format!("--header 'authorization: Bearer '{key}"),
            (AuthKind::Basic, ..) => format!("--user {key}"),
            (AuthKind::ApiKey, _, Some(name)) => {
                format!(
                    "--get --data-urlencode {}{key}",
                    quote_shell(&format!("{}=", encode_name(name)))
                )
            }
            (AuthKind::ApiKey, name, None) => {
                let name = name.as_deref().unwrap_or("authorization");
                format!("--header {}{key}", quote_shell(&format!("{name}: ")))
            }
        });
    }
    if let Some(body) = &request.body {
        let kind = request.headers.iter().find(|it| it.0 == "content-type");
        let place = match kind.map_or("", |it| it.1.split(';').next().unwrap_or_default()) {
            FORM => Place::Address,
            JSON => Place::Json,
            _ => Place::Text,
        };
        words.push(format!("--data-raw {}", quote(&String::from_utf8_lossy(body), place)));
    }
    words.push(quote(&request.url, Place::Address));
    words
}

/// curl encodes the value alone.
fn encode_name(name: &str) -> String {
    url::form_urlencoded::byte_serialize(name.as_bytes()).collect()
}
