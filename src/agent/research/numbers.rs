//! Figures of a text, as they are compared: `1,200.50` is `1200.5`, `1.2 million` is not `1.2`, and `12 %` is not `12`.

/// One figure, and where in the text it ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberMatch {
    /// Sign, value and scale, in one way of writing.
    pub value: String,
    pub is_percent: bool,
    pub end: usize,
}

/// Words that make a figure before them another one.
const SCALES: &[(&str, &str)] = &[
    ("thousand", "k"),
    ("million", "m"),
    ("millions", "m"),
    ("mn", "m"),
    ("mio", "m"),
    ("billion", "b"),
    ("billions", "b"),
    ("bn", "b"),
    ("trillion", "t"),
    ("trillions", "t"),
    ("dozen", "dozen"),
];

/// Figures that are written as words, and what they are as digits.
const WORDS: &[(&str, &str)] = &[
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("thirteen", "13"),
    ("fourteen", "14"),
    ("fifteen", "15"),
    ("sixteen", "16"),
    ("seventeen", "17"),
    ("eighteen", "18"),
    ("nineteen", "19"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("fifty", "50"),
    ("sixty", "60"),
    ("seventy", "70"),
    ("eighty", "80"),
    ("ninety", "90"),
    ("hundred", "100"),
    ("hundreds", ""),
    ("thousand", "1000"),
    ("thousands", ""),
    ("million", "1000000"),
    ("millions", ""),
    ("billion", "1000000000"),
    ("billions", ""),
    ("dozen", "12"),
    ("dozens", ""),
    ("half", ""),
    ("twice", ""),
    ("double", ""),
    ("triple", ""),
];

/// What a word is as digits, where it is a figure; empty where digits do not say it.
pub fn in_words(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|it| it.0 == word).map(|it| it.1)
}

/// All figures, in order.
pub fn figures(text: &str) -> Vec<NumberMatch> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(|it: char| it.is_ascii_digit()).map(|it| it + from) {
        let end = end_of(text, at);
        let mut value = value(&text[at..end]);
        if is_negative(&text[..at]) {
            value.insert(0, '-');
        }
        let (scale, after) = scale(&text[end..]);
        value.push_str(scale);
        let end = end + after;
        out.push(NumberMatch { value, is_percent: is_percent(&text[end..]), end });
        from = end;
    }
    out
}

/// Digits, and separators that have a digit on either side.
fn end_of(text: &str, at: usize) -> usize {
    let mut end = at;
    let mut pending = None;
    for (i, it) in text[at..].char_indices() {
        if it.is_ascii_digit() {
            end = at + i + 1;
            pending = None;
        } else if ".,'’\u{a0}\u{202f}".contains(it) && pending.is_none() {
            pending = Some(it);
        } else {
            break;
        }
    }
    end
}

/// Where a text can be read as one number, that number; else the text itself.
fn value(text: &str) -> String {
    let text: String = text.chars().filter(|it| !"'’\u{a0}\u{202f}".contains(*it)).collect();
    let (dots, commas) = (text.matches('.').count(), text.matches(',').count());
    let grouped = |by: char| {
        let mut parts = text.split(by);
        let first = parts.next().unwrap_or_default();
        (1..=3).contains(&first.len()) && first != "0" && parts.all(|it| it.len() == 3)
    };
    let plain = match (dots, commas) {
        (0, 0) => text.clone(),
        (_, 0) if dots > 1 && grouped('.') => text.replace('.', ""),
        (1, 0) => text.clone(),
        (0, _) if grouped(',') => text.replace(',', ""),
        (0, 1) => text.replace(',', "."),
        (_, _) if dots > 0 && commas > 0 => match (text.rfind('.'), text.rfind(',')) {
            (Some(dot), Some(comma)) if dot > comma && dots == 1 => text.replace(',', ""),
            (Some(dot), Some(comma)) if comma > dot && commas == 1 => {
                text.replace('.', "").replace(',', ".")
            }
            _ => return text,
        },
        _ => return text,
    };
    let (whole, part) = plain.split_once('.').unwrap_or((&plain, ""));
    let whole = whole.trim_start_matches('0');
    let part = part.trim_end_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
}

/// A sign stands by itself before the figure; a hyphen of `R-12` and of `5-7` does not.
fn is_negative(before: &str) -> bool {
    let mut back = before.chars().rev();
    matches!(back.next(), Some('-' | '−'))
        && back.next().is_none_or(|it| it.is_whitespace() || "(\"“:[".contains(it))
}

/// The scale behind a figure, and how many bytes it takes.
fn scale(rest: &str) -> (&'static str, usize) {
    let trimmed = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}', '-']);
    let gap = rest.len() - trimmed.len();
    let len = trimmed.find(|it: char| !it.is_alphabetic()).unwrap_or(trimmed.len());
    let word = trimmed[..len].to_lowercase();
    match SCALES.iter().find(|it| it.0 == word) {
        Some(it) => (it.1, gap + len),
        None => ("", 0),
    }
}

fn is_percent(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let word = rest.get(..7).unwrap_or_default().to_lowercase();
    rest.starts_with('%') || word == "percent" || rest.starts_with("per cent")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let told: Vec<String> = figures(text)
            .into_iter()
            .map(|it| format!("{}{}", it.value, if it.is_percent { "%" } else { "" }))
            .collect();
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn a_figure_is_one_however_it_is_written() {
        check("", &[]);
        check("no figures", &[]);
        check("1,200.50 and 1.200,50 and 1'200.5", &["1200.5", "1200.5", "1200.5"]);
        check("1,234 of 1,23 and 1.234", &["1234", "1.23", "1.234"]);
        check("1,234,567 or 1.234.567", &["1234567", "1234567"]);
        check("12.", &["12"]);
        check("0.50 and 007", &["0.5", "7"]);
        check("0,125", &["0.125"]);
        check("on 12.03.2026 at 14:30", &["12.03.2026", "14", "30"]);
        check("-5 °C, R-12, 5-7, (-3)", &["-5", "12", "5", "7", "-3"]);
        check("1.2 million of 1.2 and 3bn", &["1.2m", "1.2", "3b"]);
        check("12 % and 12% and 12 percent of 12 percents", &["12%", "12%", "12%", "12%"]);
        check("12 per cent", &["12%"]);
        check("1\u{a0}200 €", &["1200"]);
        check("ümläut 5é", &["5"]);
        check("1..2", &["1", "2"]);
    }
}
