//! Whether two documents say the same apart from one entry, however each is written.

use toml_edit::{Document, Item, TableLike, Value};

/// Whether nothing but the entry `name` of the table `key` tells the two apart. No table and an empty one are the same: the
/// last entry with a heading takes its table with it.
pub fn but_for(one: &Document<&str>, other: &Document<&str>, key: &str, name: &str) -> bool {
    let servers = |it| Document::as_table(it).get(key).and_then(Item::as_table_like);
    tables(Some(one.as_table()), Some(other.as_table()), &[key])
        && tables(servers(one), servers(other), &[name])
}

/// Whether two tables say the same apart from the keys in `but`.
pub fn tables(one: Option<&dyn TableLike>, other: Option<&dyn TableLike>, but: &[&str]) -> bool {
    let rest = |it: Option<&dyn TableLike>| -> usize {
        it.map_or(0, |it| it.iter().filter(|(name, _)| !but.contains(name)).count())
    };
    let same = |(name, it): (&str, &Item)| {
        let other = other.and_then(|other| other.get(name));
        but.contains(&name) || other.is_some_and(|other| items(it, other))
    };
    rest(one) == rest(other) && one.is_none_or(|it| it.iter().all(same))
}

fn items(one: &Item, other: &Item) -> bool {
    match (one, other) {
        (Item::Value(one), Item::Value(other)) => values(one, other),
        (Item::Table(one), Item::Table(other)) => tables(Some(one), Some(other), &[]),
        (Item::ArrayOfTables(one), Item::ArrayOfTables(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| tables(Some(one), Some(other), &[]))
        }
        _ => false,
    }
}

/// Whether two values are the same.
pub fn values(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one.value() == other.value(),
        (Value::Integer(one), Value::Integer(other)) => one.value() == other.value(),
        // By their bits: what is no number is not equal to itself.
        (Value::Float(one), Value::Float(other)) => {
            one.value().to_bits() == other.value().to_bits()
        }
        (Value::Boolean(one), Value::Boolean(other)) => one.value() == other.value(),
        (Value::Datetime(one), Value::Datetime(other)) => one.value() == other.value(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| values(one, other))
        }
        (Value::InlineTable(one), Value::InlineTable(other)) => tables(Some(one), Some(other), &[]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_entry_may_tell_two_documents_apart() {
        let all = "f = -nan\nd = 2026-01-01\nb = [1, {c = true}]\n[s.ours]\nx = 1\n[s.a]\ny.z = \"\"\n[[m]]\n[[m]]\ne = 0.5\n";
        for (other, same) in [
            (all.to_owned(), true),
            (all.replace("x = 1", "x.y = []"), true),
            (all.replace("[s.ours]\nx = 1\n", ""), true),
            (all.replace("y.z = \"\"", "y = {z = ''}"), false),
            (all.replace("z = \"\"", "z = ''"), true),
            (all.replace("z = \"\"", "z = ''\ny.x = 1"), false),
            (all.replace("[s.a]\ny.z = \"\"\n", ""), false),
            (all.replace("[s.a]", "[s.b]"), false),
            (all.replace("[s.a]", "[t.a]"), false),
            (all.replace("-nan", "1.0"), false),
            (all.replace("01-01", "01-02"), false),
            (all.replace("[1,", "[2,"), false),
            (all.replace("true", "false"), false),
            (all.replace("true", "'true'"), false),
            (all.replace("[[m]]\n[[m]]", "[[m]]"), false),
            (all.replace("0.5", "0.25"), false),
            (all.replace("f =", "g ="), false),
        ] {
            let (one, two) = (Document::parse(all).unwrap(), Document::parse(&*other).unwrap());
            assert_eq!(but_for(&one, &two, "s", "ours"), same, "{other}");
            assert_eq!(but_for(&two, &one, "s", "ours"), same, "{other}");
        }
        let (one, two) = ("a = 1\n[s.ours]\nx = 1\n", "a = 1\n");
        let (one, two) = (Document::parse(one).unwrap(), Document::parse(two).unwrap());
        assert!(but_for(&one, &two, "s", "ours") && !but_for(&one, &two, "s", "x"));
    }
}
