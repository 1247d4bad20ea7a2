//! Dates among codes.

/// A day: three numbers.
pub fn is_calendar_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '.', '/', ' ']).collect();
    parts.len() == 3
        && parts.iter().all(|it| it.bytes().all(|b| b.is_ascii_digit()))
        && (parts[0].len() == 4 && parts[1].len() == 2 && parts[2].len() == 2
            || parts[2].len() == 4 && parts[0].len() <= 2 && parts[1].len() <= 2)
}
