//! What of an answer follows the input: what merely repeats it, or is the same for each, proves nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    item_text::{ItemText, MIN_TEXT, items_of, plain_words},
    replay::data_difference_bp,
    templating::forms,
};
use commis_artifacts::recording::ShownBlock;

/// One in so many of the texts that follow the input must be given.
const FEW: usize = 4;
/// Rows that are looked at, and items that each of their texts is looked for in.
const MAX_ROWS: usize = 100;
const MAX_ITEMS: usize = 400;

/// Whether two answers differ in nothing but what each was asked for, as a text of its own or within addresses.
pub fn only_repeats(
    (a, first): (&Value, &BTreeMap<String, String>),
    (b, second): (&Value, &BTreeMap<String, String>),
) -> bool {
    data_difference_bp(&without(a, first), &without(b, second)) == 0
}

/// The answer with a sign in place of what was asked for.
fn without(data: &Value, typed: &BTreeMap<String, String>) -> Value {
    match data {
        Value::Array(all) => all.iter().map(|it| without(it, typed)).collect(),
        Value::Object(all) => all
            .iter()
            .map(|(key, it)| (key.clone(), without(it, typed)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::String(it) => masked(it, typed).into(),
        Value::Number(it) => match masked(&it.to_string(), typed) {
            text if text == it.to_string() => data.clone(),
            text => text.into(),
        },
        other => other.clone(),
    }
}

fn masked(text: &str, typed: &BTreeMap<String, String>) -> String {
    let is_address = text.contains("://") || text.starts_with(['/', '?', '#', '.']);
    let mut out = text.to_lowercase();
    for (name, value) in typed {
        let encoded = |it: String| -> Vec<String> {
            let query: String = url::form_urlencoded::byte_serialize(it.as_bytes()).collect();
            vec![query.replace('+', "%20"), query, it]
        };
        for form in forms(value).into_iter().flat_map(encoded).map(|it| it.to_lowercase()) {
            if out == form {
                return format!("\u{1}{name}");
            }
            if is_address {
                out = replaced(&out, &form, &format!("\u{1}{name}"));
            }
        }
    }
    out
}

/// Replaces whole words.
fn replaced(text: &str, word: &str, with: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    for (at, it) in text.match_indices(word) {
        if is_word(text[..at].chars().next_back()) || is_word(text[at + it.len()..].chars().next())
        {
            continue;
        }
        out.push_str(&text[from..at]);
        out.push_str(with);
        from = at + it.len();
    }
    out + &text[from..]
}

/// Texts of a page's block that follow the input.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FollowedValues {
    pub following: usize,
    /// Those that the answer says.
    pub said: usize,
    /// Names of columns of which it says none.
    pub missing: Vec<String>,
}

impl FollowedValues {
    pub fn is_too_little(&self) -> bool {
        self.said * FEW < self.following
    }
}

/// How much the data says of the texts of `block` that stand in no row of `other`, the other example's. What was typed is none.
pub fn measure_followed(
    data: &Value,
    (block, typed): (&ShownBlock, &BTreeMap<String, String>),
    (other, typed_there): (&ShownBlock, &BTreeMap<String, String>),
) -> FollowedValues {
    let own = |text: &str, typed: &BTreeMap<String, String>| plain_words(&masked(text, typed));
    let cells = other.rows.iter().flatten().flatten();
    let known: BTreeSet<String> = cells.map(|it| own(it, typed_there)).collect();
    let items = items_of(data);
    let data = ItemText::from_value(data);
    let says =
        |it: &str| data.has_cell(it) || items.iter().take(MAX_ITEMS).any(|item| item.says_most(it));
    let mut out = FollowedValues::default();
    for (at, name) in block.fields.iter().enumerate() {
        let cells = block.rows.iter().take(MAX_ROWS).filter_map(|it| it.get(at)?.as_deref());
        let following: Vec<&str> = cells
            .filter(|it| {
                let text = own(it, typed);
                !text.is_empty() && !known.contains(&text)
            })
            .collect();
        let said = following.iter().filter(|it| says(it)).count();
        out.following += following.len();
        out.said += said;
        if said == 0 && !following.is_empty() {
            out.missing.push(name.clone());
        }
    }
    out
}

/// Leaves out a first row that both pages have and of which the answer says nothing, where the rows differ: names of the columns in
/// cells like any others.
pub fn without_head((first, second): (&mut ShownBlock, &mut ShownBlock), data: &Value) {
    let ([head, rest @ ..], [other, others @ ..]) = (&first.rows[..], &second.rows[..]) else {
        return;
    };
    let data = ItemText::from_value(data);
    let said = |it: &String| data.has_cell(it);
    let texts = || head.iter().flatten().filter(|it| plain_words(it).chars().count() >= MIN_TEXT);
    if first.is_record
        || head != other
        || rest.is_empty()
        || rest.first() == others.first()
        || texts().count() < 2
        || texts().any(said)
        || !rest.iter().flatten().flatten().any(said)
    {
        return;
    }
    for it in [first, second] {
        it.rows.remove(0);
        it.count = it.count.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::witness::tests::block, *};

    fn values(it: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("id".to_owned(), it.to_owned())])
    }

    #[test]
    fn what_was_asked_for_is_no_data() {
        let repeats =
            |a: Value, b: Value| only_repeats((&a, &values("12")), (&b, &values("New York")));
        assert!(repeats(
            json!([{"text": "No ticket", "url": "/tickets/12/add/", "of": 12, "more": "?q=12&n=3"}]),
            json!([{"text": "No ticket", "url": "/tickets/new-york/add/", "of": "new york", "more": "?q=New+York&n=3"}])
        ));
        assert!(!repeats(
            json!([{"url": "/t/12", "n": 3}]),
            json!([{"url": "/t/new-york", "n": 4}])
        ));
        // A text that holds it and more is one of the site's.
        assert!(!repeats(json!(["Ticket 12"]), json!(["Ticket New York"])));
        assert!(!repeats(json!(["/t/123"]), json!(["/t/124"])));
    }

    #[test]
    fn labels_and_one_value_are_not_the_data() {
        let page = |q: &str| {
            let rows: Vec<[String; 2]> = ["Number", "Name", "Room", "Year", "Worth", "Note"]
                .map(|it| [it.to_owned(), format!("{it} of {q}")])
                .into();
            let rows: Vec<Vec<&str>> =
                rows.iter().map(|it| it.iter().map(String::as_str).collect()).collect();
            block(&["label", "readonly"], &rows.iter().map(|it| &it[..]).collect::<Vec<_>>())
        };
        let (a, b) = (page("12"), page("77"));
        let given = |data: Value| measure_followed(&data, (&b, &values("77")), (&a, &values("12")));
        let little = given(json!([{"label": "Number"}, {"label": "Room", "link": "Room of 77"}]));
        assert_eq!((little.following, little.said, little.is_too_little()), (6, 1, true));
        let some = given(json!(["Number of 77", "Name of 77"]));
        assert!(!some.is_too_little() && some.missing.is_empty());
        // The same on both pages.
        let same = super::measure_followed(&json!([]), (&a, &values("77")), (&a, &values("12")));
        assert_eq!((same.following, same.is_too_little()), (0, false));
    }

    #[test]
    fn a_row_that_names_the_columns() {
        let page = |q: &str| {
            block(
                &["column_1", "column_2"],
                &[&["Number", "Started at"], &["Nr 1", q], &["Nr 2", q]],
            )
        };
        let left = |data: Value| {
            let (mut a, mut b) = (page("2024-05-01"), page("2024-06-02"));
            without_head((&mut a, &mut b), &data);
            (a.rows.len(), a.count, b.rows.len())
        };
        let data = json!([{"n": "Nr 1", "at": "2024-05-01"}, {"n": "Nr 2", "at": "2024-05-01"}]);
        assert_eq!(left(data), (2, 2, 2));
        // The answer says it, or nothing of the rows.
        assert_eq!(left(json!([["Number", "Started at"], ["Nr 1", "2024-05-01"]])), (3, 3, 3));
        assert_eq!(left(json!([{"other": "x"}])), (3, 3, 3));
    }
}
