//! Heads of columns that another input's page writes in another way: such a column is read by its position.

use super::{numbers::without_numbers, select::title_column_selector, stable_names::field_name};
use crate::model::HtmlSpec;

/// Reads by position, in both specs, what stands under a head that only one of the pages has, where the other page has another
/// head at the same place. `heads` are the titles of the columns of the table that each spec reads.
///
/// A head with a count or a unit (`Total: 43 pages`) is the same column on each page. A table with further columns is none of
/// these: there the other page has no head of its own.
pub fn align(
    (own, heads): (&mut HtmlSpec, &[String]),
    (other, other_heads): (&mut HtmlSpec, &[String]),
) {
    if heads.len() != other_heads.len() {
        return;
    }
    for (at, (a, b)) in heads.iter().zip(other_heads).enumerate() {
        let is_known = |it: &String, all: &[String]| !it.is_empty() && all.contains(it);
        if a == b || is_known(a, other_heads) || is_known(b, heads) {
            continue;
        }
        let name = common_name(a, b).unwrap_or_else(|| format!("column_{}", at + 1));
        read_by_position(own, a, at, &name);
        read_by_position(other, b, at, &name);
    }
}

/// What both heads say.
fn common_name(a: &str, b: &str) -> Option<String> {
    let theirs: Vec<&str> = b.split_whitespace().collect();
    let common: Vec<&str> = a.split_whitespace().filter(|it| theirs.contains(it)).collect();
    Some(field_name(&without_numbers(&common.join(" ")))).filter(|it| !it.is_empty())
}

fn read_by_position(spec: &mut HtmlSpec, title: &str, at: usize, name: &str) {
    let (titled, placed) = (title_column_selector(title), format!(":column({})", at + 1));
    let meant: Vec<String> = spec
        .fields
        .iter()
        .filter(|it| it.1.starts_with(&titled) || it.1.split(' ').next() == Some(&placed))
        .map(|it| it.0.clone())
        .collect();
    for old in meant {
        let Some(selector) = spec.fields.remove(&old) else { continue };
        let is_text = !selector.contains('@');
        let wanted = match (is_text, old.as_str()) {
            (true, _) => name.to_owned(),
            (false, "url") => old.clone(),
            (false, _) => format!("{name}_url"),
        };
        let new = if spec.fields.contains_key(&wanted) { old.clone() } else { wanted };
        for it in spec.optional.iter_mut().filter(|it| **it == old) {
            it.clone_from(&new);
        }
        spec.fields.insert(new, selector.replacen(&titled, &placed, 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::numbers::has_varying_number;

    fn spec(fields: &[(&str, &str)], optional: &[&str]) -> HtmlSpec {
        let owned = |it: &&str| (*it).to_owned();
        HtmlSpec {
            items: "tr".to_owned(),
            run: false,
            single: false,
            group: None,
            fields: fields.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect(),
            optional: optional.iter().map(owned).collect(),
            types: std::collections::BTreeMap::new(),
        }
    }

    fn heads(all: &[&str]) -> Vec<String> {
        all.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn a_head_that_differs_is_read_by_position() {
        let mut a = spec(
            &[
                ("total_pages", ":column(\"Total: 43 pages\")"),
                ("url", ":column(\"Total: 43 pages\") a@href"),
                ("views", ":column(\"Views\")"),
            ],
            &["url"],
        );
        let mut b = spec(
            &[
                ("total_pages", ":column(\"Total: 48 pages\")"),
                ("url", ":column(\"Total: 48 pages\") a@href"),
                ("views", ":column(\"Views\")"),
            ],
            &[],
        );
        align(
            (&mut a, &heads(&["Total: 43 pages", "Views"])),
            (&mut b, &heads(&["Total: 48 pages", "Views"])),
        );
        assert_eq!(a.fields["total_pages"], ":column(1)");
        assert_eq!(a.fields["url"], ":column(1) a@href");
        assert_eq!(a.fields["views"], ":column(\"Views\")");
        assert_eq!(a.optional, ["url"]);
        assert_eq!(a.fields, b.fields);
    }

    #[test]
    fn a_name_holds_what_both_heads_say() {
        let mut a = spec(&[("price_in_eur", ":column(\"Price in EUR\")")], &["price_in_eur"]);
        let mut b = spec(&[("price_in_usd", ":column(\"Price in USD\")")], &[]);
        align((&mut a, &heads(&["Price in EUR"])), (&mut b, &heads(&["Price in USD"])));
        assert_eq!(a.fields["price_in"], ":column(1)");
        assert_eq!(a.optional, ["price_in"]);
        assert_eq!(a.fields, b.fields);
    }

    #[test]
    fn titles_that_count() {
        let titles = heads(&["Total: 43 pages", "Week 12", "Week 13", "2024", "Views"]);
        let counted: Vec<&String> =
            titles.iter().filter(|it| has_varying_number(it, &titles)).collect();
        assert_eq!(counted, ["Total: 43 pages"]);
    }

    #[test]
    fn further_columns_and_moved_ones_stay_as_they_are() {
        let fields = [("name", ":column(\"Name\")"), ("note", ":column(\"Note\")")];
        let (mut a, mut b) = (spec(&fields[..1], &[]), spec(&fields, &[]));
        align((&mut a, &heads(&["Name"])), (&mut b, &heads(&["Name", "Note"])));
        assert_eq!((a, b), (spec(&fields[..1], &[]), spec(&fields, &[])));
        let (mut a, mut b) = (spec(&fields, &[]), spec(&fields, &[]));
        align((&mut a, &heads(&["Name", "Note"])), (&mut b, &heads(&["Note", "Name"])));
        assert_eq!((a, b), (spec(&fields, &[]), spec(&fields, &[])));
    }
}
