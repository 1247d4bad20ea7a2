//! Numbers in titles, which differ from page to page.

/// A title without the words that are nothing but a number.
pub fn without_numbers(title: &str) -> String {
    let is_number =
        |it: &&str| it.chars().any(|c| c.is_ascii_digit()) && !it.chars().any(char::is_alphabetic);
    title.split_whitespace().filter(|it| !is_number(it)).collect::<Vec<_>>().join(" ")
}

/// A title that holds a number beside words which no other title of the table has: the number may be another on the next page.
pub fn has_varying_number(title: &str, titles: &[String]) -> bool {
    let plain = without_numbers(title);
    !plain.is_empty()
        && plain != title
        && titles.iter().filter(|it| without_numbers(it) == plain).count() == 1
}
