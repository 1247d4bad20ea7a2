//! A page as lines, short enough to be read by a model at each step.

use super::{
    prompt_injection,
    text_sanitizer::quoted,
    tree::{Item, ItemKind},
};

/// What of a page is wanted.
#[derive(Clone, Debug, Default)]
pub struct SnapshotOptions {
    /// Only what can be acted on.
    pub interactive: bool,
    /// Only what changed since the last snapshot.
    pub changed: bool,
    /// Rows alike are shown twice and counted.
    pub compact: bool,
    /// At most so many characters.
    pub max_chars: Option<usize>,
}

/// Role and name.
pub fn role_and_name(it: &Item) -> String {
    if it.name.is_empty() { it.role.clone() } else { format!("{} {}", it.role, quoted(&it.name)) }
}

/// One element, marked where its words instruct. `in_row`: with what it stands in.
pub fn line(it: &Item, n: u32, in_row: bool) -> String {
    let mut out = String::new();
    if n > 0 {
        out = format!("@e{n} ");
    }
    out.push_str(&role_and_name(it));
    if let Some(value) = it.value.as_ref().filter(|it| !it.is_empty()) {
        out = format!("{out} = {}", quoted(value));
    }
    // A list whose options are told beside it is closed.
    let is_said = |state: &&String| *state == "collapsed" && !it.options.is_empty();
    let states: Vec<&str> =
        it.states.iter().filter(|it| !is_said(it)).map(String::as_str).collect();
    if !states.is_empty() {
        out = format!("{out} [{}]", states.join(", "));
    }
    if !it.options.is_empty() {
        let all: Vec<String> = it.options.iter().map(|it| quoted(it)).collect();
        out = format!("{out} {{{}}}", all.join(", "));
    }
    let row = it.row.as_ref().filter(|_| in_row);
    if let Some(row) = row {
        out = format!("{out} in {}", quoted(row));
    }
    let words =
        [&it.name].into_iter().chain(&it.value).chain(&it.states).chain(&it.options).chain(row);
    let found = prompt_injection::judge(words.map(String::as_str)).iter().any(Option::is_some);
    marked(out, found)
}

fn marked(line: String, found: bool) -> String {
    if found && !line.starts_with(prompt_injection::MARK) {
        format!("{}{line}", prompt_injection::MARK)
    } else {
        line
    }
}

/// All of them, a line each. What stands in a row is told where the name alone is not enough. `found`: those whose words instruct,
/// together with their neighbours'.
pub fn lines(items: &[Item], numbers: &[u32], found: &[bool]) -> Vec<String> {
    let mut count = std::collections::BTreeMap::new();
    for it in items.iter().filter(|it| it.what == ItemKind::Control) {
        *count.entry((it.role.as_str(), it.name.as_str())).or_insert(0_u32) += 1;
    }
    let mut out = Vec::new();
    for ((it, n), found) in items.iter().zip(numbers).zip(found) {
        let line = match it.what {
            ItemKind::Control => {
                let several =
                    count.get(&(it.role.as_str(), it.name.as_str())).is_some_and(|it| *it > 1);
                line(it, *n, several || it.name.is_empty())
            }
            ItemKind::Text => quoted(&it.name),
            ItemKind::Heading | ItemKind::Image | ItemKind::Place => line(it, 0, false),
        };
        out.push(marked(line, *found));
    }
    out
}

/// Rows alike that are shown before the rest is counted, fewest that are folded, and lines that one may have.
const SHOWN: usize = 2;
const FEWEST: usize = 4;
const LONGEST: usize = 12;

/// Lines in which what repeats, and can be acted on, is shown twice and then counted. `items` and `lines` go together.
pub fn folded(items: &[Item], numbers: &[u32], lines: &[String]) -> Vec<String> {
    let kinds: Vec<(ItemKind, &str)> = items.iter().map(|it| (it.what, it.role.as_str())).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let times = |len: usize| {
            let Some(first) = kinds.get(at..at + len) else { return 0 };
            kinds[at..].chunks_exact(len).take_while(|it| *it == first).count()
        };
        let acts = |len: usize| kinds[at..at + len].iter().any(|it| it.0 == ItemKind::Control);
        // The shortest that covers most: two rows are no row.
        let best = (1..=LONGEST)
            .map(|len| (len, times(len)))
            .filter(|it| it.1 >= FEWEST && acts(it.0))
            .max_by_key(|(len, times)| (len * times, std::cmp::Reverse(*len)));
        let Some((len, times)) = best else {
            out.push(lines[at].clone());
            at += 1;
            continue;
        };
        out.extend_from_slice(&lines[at..at + SHOWN * len]);
        let rest = at + SHOWN * len..at + times * len;
        let what: Vec<&str> = kinds[at..at + len]
            .iter()
            .map(|it| if it.0 == ItemKind::Text { "text" } else { it.1 })
            .collect();
        let refs: Vec<u32> = numbers[rest.clone()].iter().copied().filter(|it| *it > 0).collect();
        let refs = match (refs.first(), refs.last()) {
            (Some(a), Some(b)) => format!("; @e{a} to @e{b}"),
            _ => String::new(),
        };
        out.push(format!("… ×{} like these {{{}}}{refs}", times - SHOWN, what.join(", ")));
        // What instructs is shown wherever it stands.
        out.extend(lines[rest].iter().filter(|it| it.starts_with(prompt_injection::MARK)).cloned());
        at += times * len;
    }
    out
}

/// What is in `now` and was not in `before`, and what is gone. Lines, each as often as it stands there.
pub fn changes(before: &[String], now: &[String]) -> Vec<String> {
    let count = |all: &[String]| {
        let mut out = std::collections::BTreeMap::<String, i32>::new();
        for it in all {
            *out.entry(it.clone()).or_default() += 1;
        }
        out
    };
    let (mut had, mut has) = (count(before), count(now));
    let mut out = Vec::new();
    for it in before {
        let left = has.get_mut(it).filter(|n| **n > 0);
        match left {
            Some(n) => *n -= 1,
            None => out.push(format!("- {it}")),
        }
    }
    for it in now {
        let left = had.get_mut(it).filter(|n| **n > 0);
        match left {
            Some(n) => *n -= 1,
            None => out.push(format!("+ {it}")),
        }
    }
    out
}

/// Within the budget; what is left out is said.
pub fn fitted(lines: Vec<String>, most: Option<usize>) -> String {
    let Some(most) = most else { return lines.join("\n") };
    let all = lines.len();
    let mut out = String::new();
    for (i, line) in lines.into_iter().enumerate() {
        // Room for what says so.
        if out.chars().count() + line.chars().count() + 60 > most && i > 0 {
            let said =
                format!("\n… {} lines more; -s CSS or a larger --max-chars shows them", all - i);
            out.push_str(&said);
            return out;
        }
        if i > 0 {
            out.push('\n');
        }
        out.push_str(&line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_as_often_as_they_are() {
        let of = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(changes(&of("a b b c"), &of("a b d c")), ["- b", "+ d"]);
        assert_eq!(changes(&of("a b"), &of("b a")), [] as [String; 0]);
    }

    #[test]
    fn rows_alike_are_shown_twice_and_counted() {
        let item = |what, role: &str, name: String| Item {
            what,
            role: role.to_owned(),
            name,
            value: None,
            states: Vec::new(),
            options: Vec::new(),
            frame: 0,
            backend: 0,
            row: None,
            form: None,
        };
        let mut items = vec![item(ItemKind::Heading, "heading", "20 results".to_owned())];
        for n in 1..=20 {
            items.push(item(ItemKind::Control, "link", format!("Lantern {n}")));
            items.push(item(ItemKind::Text, "StaticText", format!("$ {n}")));
            items.push(item(ItemKind::Control, "button", "Add".to_owned()));
        }
        items.push(item(ItemKind::Control, "button", "More".to_owned()));
        let numbers: Vec<u32> = items
            .iter()
            .scan(0, |n, it| {
                *n += u32::from(it.what == ItemKind::Control);
                Some(if it.what == ItemKind::Control { *n } else { 0 })
            })
            .collect();
        let lines: Vec<String> =
            items.iter().zip(&numbers).map(|(it, n)| line(it, *n, false)).collect();
        let out = folded(&items, &numbers, &lines);
        assert_eq!(
            (out.len(), &*out[7], &*out[8]),
            (9, "… ×18 like these {link, text, button}; @e5 to @e40", "@e41 button \"More\""),
            "{out:?}"
        );
        let few = folded(&items[..10], &numbers[..10], &lines[..10]);
        assert_eq!(few, lines[..10], "three rows are not worth it");
    }

    #[test]
    fn a_budget_holds_and_says_what_is_missing() {
        let lines: Vec<String> = (0..100).map(|i| format!("line {i}")).collect();
        let out = fitted(lines, Some(200));
        assert!(out.chars().count() <= 200 && out.contains("lines more"), "{out}");
    }
}
