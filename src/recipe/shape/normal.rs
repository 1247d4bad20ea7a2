//! The normal form of a value that a page shows.

/// One reading of a leaf or of a part of a text. Amounts are in millionths.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NormalizedValue {
    Number(i128),
    /// An amount beside a currency, or with two decimals; which currency is not kept.
    Money(i128),
    Percent(i128),
    /// A count as `12.3k`: hundredths of the unit, and how often a thousand.
    About(i64, u8),
    /// A file's size as `1.5 MB`: hundredths of the unit, and how often a thousand (or 1024).
    Size(i64, u8),
    /// The year only where it stands there.
    Date {
        year: Option<i16>,
        month: i8,
        day: i8,
    },
    /// A month of a year.
    Month(i16, i8),
    /// Minutes of a day.
    Time(u16),
    /// `yes`, `in stock`, a check mark.
    Truth(bool),
    /// Lower-case words with one blank between them.
    Text(String),
}
