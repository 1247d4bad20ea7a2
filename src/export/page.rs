//! What a page's items are read by, as clients in other languages take it.

use serde_json::{Map, Value, json};

use super::refusal::{Refusal, RefusalCode};
use commis_recipe::{
    model::{Recipe, ResponseType},
    selector::{FieldSource, split_field},
};

/// Why a client cannot read the answer with a selector library of its language.
pub fn obstacle(recipe: &Recipe) -> Option<Refusal> {
    let response = &recipe.response;
    if response.kind != ResponseType::Html {
        return None;
    }
    let refuse = |why: &str| Some(Refusal::new(RefusalCode::UnreadableAnswer, why));
    if response.variable.is_some() {
        return refuse(
            "its data is what a script of a page assigns, which this form does not read",
        );
    }
    let mut fields = response.html.iter().flat_map(|it| it.fields.values());
    let is_labelled =
        |text: &String| split_field(text).is_ok_and(|it| matches!(it.place, FieldSource::Label(_)));
    if fields.any(is_labelled) {
        return refuse(
            "a field of its page is told by the label beside it, which this form does not read",
        );
    }
    None
}

/// Whether any request of these recipes is answered by a page.
pub fn reads_page<'a>(mut recipes: impl Iterator<Item = &'a Recipe>) -> bool {
    recipes.any(|it| it.response.kind == ResponseType::Html)
}

/// `{items, fields: [[name, place, css, nth, attribute]], run?, single?, group?, least?, types?}`: `place` is the title of a column or
/// its number from 0, `nth` which element that matches, from 1; `null` in each place for none. `None` for an answer whose data is JSON in a
/// script.
pub fn spec(recipe: &Recipe) -> Option<Value> {
    let html = recipe.response.html.as_ref()?;
    let field = |(name, text): (&String, &String)| {
        let it = split_field(text).ok()?;
        let place = match it.place {
            FieldSource::Title(title) => json!(title),
            FieldSource::Column(at) => json!(at),
            FieldSource::Item | FieldSource::Label(_) => Value::Null,
        };
        Some(json!([name, place, it.css, it.nth, it.attribute]))
    };
    let fields: Vec<Value> = html.fields.iter().filter_map(field).collect();
    let mut out = Map::new();
    out.insert("items".to_owned(), html.items.clone().into());
    out.insert("fields".to_owned(), fields.into());
    for (name, is_so) in [("run", html.run), ("single", html.single)] {
        if is_so {
            out.insert(name.to_owned(), true.into());
        }
    }
    if let Some(it) = &html.group {
        out.insert("group".to_owned(), it.clone().into());
    }
    if let Some(it) = recipe.response.min_items.filter(|it| *it != 1) {
        out.insert("least".to_owned(), it.into());
    }
    if !html.types.is_empty() {
        out.insert("types".to_owned(), json!(html.types));
    }
    Some(out.into())
}
