//! Whether two documents say the same apart from one entry, however each is written. The crate `toml` reads and compares them.

use toml::{Table, Value};

/// The entry `name` of the table `key`.
pub fn entry(text: &str, key: &str, name: &str) -> Option<Table> {
    let mut document: Table = text.parse().ok()?;
    match document.get_mut(key)?.as_table_mut()?.remove(name)? {
        Value::Table(it) => Some(it),
        _ => None,
    }
}

/// Whether nothing but the entry `name` of the table `key` tells the two apart. No table and an empty one are the same: the
/// last entry with a heading takes its table with it.
pub fn but_for(one: &str, other: &str, key: &str, name: &str) -> bool {
    let rest = |text: &str| {
        let mut document: Table = text.parse().ok()?;
        if let Some(servers) = document.get_mut(key).and_then(Value::as_table_mut) {
            servers.remove(name);
            if servers.is_empty() {
                document.remove(key);
            }
        }
        Some(document)
    };
    rest(one).zip(rest(other)).is_some_and(|(one, other)| same(&one, &other))
}

/// Whether two tables say the same. As text, because a value that is not a number is not equal to itself.
pub fn same(one: &Table, other: &Table) -> bool {
    one == other || one.to_string() == other.to_string()
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
            (all.replace("y.z = \"\"", "y = {z = ''}"), true),
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
            assert_eq!(but_for(all, &other, "s", "ours"), same, "{other}");
            assert_eq!(but_for(&other, all, "s", "ours"), same, "{other}");
        }
        let (one, two) = ("a = 1\n[s.ours]\nx = 1\n", "a = 1\n");
        assert!(but_for(one, two, "s", "ours") && !but_for(one, two, "s", "x"));
    }
}
