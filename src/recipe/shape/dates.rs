//! Dates and times as answers hold them and as pages write them.

use jiff::civil::Date;

use super::normal::NormalizedValue;

/// A day, and the minute of it where it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    date: Date,
    minute: Option<u16>,
    /// The day in UTC, where the text names another zone.
    utc: Option<(Date, u16)>,
}

/// Bytes of `1 Jan 26 10:00 UT`.
const SHORTEST_MAIL: usize = 17;

impl Moment {
    /// `2026-11-22`, `2026-11-22T10:00:00.000Z`, `2026-11-22 10:00`, `2026-11-22T10:00+01:00`, `Sun, 22 Nov 2026 10:00:00 +0100`.
    /// `None` for others.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_iso(text).or_else(|| Self::parse_rfc5322(text))
    }

    /// As mails and HTTP write it: RFC 5322.
    fn parse_rfc5322(text: &str) -> Option<Self> {
        if text.len() < SHORTEST_MAIL || !text.ends_with(|c: char| c.is_ascii_alphanumeric()) {
            return None;
        }
        let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_zoned(text).ok()?;
        let minute = |it: &jiff::Zoned| it.hour() as u16 * 60 + it.minute() as u16;
        let utc = at.with_time_zone(jiff::tz::TimeZone::UTC);
        let utc = (utc.datetime() != at.datetime()).then(|| (utc.date(), minute(&utc)));
        Some(Self { date: at.date(), minute: Some(minute(&at)), utc })
    }

    fn parse_iso(text: &str) -> Option<Self> {
        let day = text.get(..10).filter(|it| is_iso(it))?;
        let date = parse_civil(day)?;
        let rest = &text[10..];
        if rest.is_empty() {
            return Some(Self { date, minute: None, utc: None });
        }
        let time = rest.strip_prefix(['T', 't', ' '])?;
        let hour: u16 = digits(time.get(..2)?)?.parse().ok().filter(|it| *it < 24)?;
        let minute: u16 =
            digits(time.get(3..5)?).filter(|_| time.as_bytes()[2] == b':')?.parse().ok()?;
        let of_day = (minute < 60).then_some(hour * 60 + minute)?;
        let zone = &time[5..];
        let offset = zone.rfind(['+', '-']).and_then(|at| {
            let sign = if zone[at..].starts_with('-') { -1 } else { 1 };
            let digits: String = zone[at + 1..].chars().filter(char::is_ascii_digit).collect();
            let hours: i32 = digits.get(..2)?.parse().ok()?;
            let minutes: i32 = digits.get(2..4).map_or(Some(0), |it| it.parse().ok())?;
            Some(sign * (hours * 60 + minutes)).filter(|it| it.abs() < 24 * 60)
        });
        let utc = offset.filter(|it| *it != 0).and_then(|it| {
            let at = i32::from(of_day) - it;
            let day = match at.div_euclid(1440) {
                -1 => date.yesterday().ok()?,
                0 => date,
                _ => date.tomorrow().ok()?,
            };
            Some((day, at.rem_euclid(1440) as u16))
        });
        Some(Self { date, minute: Some(of_day), utc })
    }

    /// Seconds or milliseconds since 1970, of a moment between 2000 and 2100.
    pub fn from_epoch(n: i64) -> Option<Self> {
        let seconds = match n {
            946_684_800..4_102_444_800 => n,
            946_684_800_000..4_102_444_800_000 => n / 1000,
            _ => return None,
        };
        let at = jiff::Timestamp::from_second(seconds).ok()?.to_zoned(jiff::tz::TimeZone::UTC);
        let minute = u16::from(at.hour() as u8) * 60 + u16::from(at.minute() as u8);
        Some(Self { date: at.date(), minute: Some(minute), utc: None })
    }

    /// Days since 1970.
    pub fn day(&self) -> i64 {
        let date = self.utc.map_or(self.date, |it| it.0);
        let epoch = Date::constant(1970, 1, 1);
        date.since(epoch).map_or(0, |it| i64::from(it.get_days()))
    }

    pub fn push_readings(&self, out: &mut Vec<NormalizedValue>) {
        let days = [Some((self.date, self.minute)), self.utc.map(|it| (it.0, Some(it.1)))];
        for (date, minute) in days.into_iter().flatten() {
            let (year, month, day) = (date.year(), date.month(), date.day());
            out.push(NormalizedValue::Date { year: Some(year), month, day });
            out.push(NormalizedValue::Date { year: None, month, day });
            out.push(NormalizedValue::Month(year, month));
            out.extend(minute.map(NormalizedValue::Time));
        }
    }

    pub fn push_spellings(&self, out: &mut Vec<String>) {
        let (y, m, d) = (self.date.year(), self.date.month(), self.date.day());
        out.push(format!("{y:04}-{m:02}-{d:02}"));
        for sep in ['.', '/', '-'] {
            out.push(format!("{d:02}{sep}{m:02}{sep}{y:04}"));
            out.push(format!("{d}{sep}{m}{sep}{y:04}"));
        }
        out.push(format!("{m:02}/{d:02}/{y:04}"));
        out.push(format!("{m}/{d}/{y:04}"));
        out.push(format!("{d}. {m}. {y:04}"));
        for name in [ENGLISH[m as usize - 1], &ENGLISH[m as usize - 1][..3]] {
            out.push(format!("{d} {name}"));
            out.push(format!("{d} {name} {y}"));
            out.push(format!("{name} {d}"));
            out.push(format!("{name} {d}, {y}"));
            out.push(format!("{name} {y}"));
        }
        out.push(format!("{d}. {} {y}", GERMAN[m as usize - 1]));
        if let Some(minute) = self.minute {
            let (h, min) = (minute / 60, minute % 60);
            out.push(format!("{h:02}:{min:02}"));
            let twelve = if h % 12 == 0 { 12 } else { h % 12 };
            out.push(format!("{twelve}:{min:02} {}", if h < 12 { "AM" } else { "PM" }));
        }
    }
}

fn digits(text: &str) -> Option<&str> {
    text.bytes().all(|b| b.is_ascii_digit()).then_some(text)
}

fn is_iso(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().all(|(i, b)| match i {
        4 | 7 => *b == b'-',
        _ => b.is_ascii_digit(),
    })
}

fn parse_civil(iso: &str) -> Option<Date> {
    Date::new(iso[..4].parse().ok()?, iso[5..7].parse().ok()?, iso[8..10].parse().ok()?).ok()
}

const ENGLISH: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const GERMAN: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];
/// Names of months in other languages, and how the months are cut short; lower case.
const OTHERS: &[(&str, i8)] = &[
    ("sept", 9),
    ("januar", 1),
    ("jänner", 1),
    ("februar", 2),
    ("märz", 3),
    ("mär", 3),
    ("mai", 5),
    ("juni", 6),
    ("juli", 7),
    ("oktober", 10),
    ("okt", 10),
    ("dezember", 12),
    ("dez", 12),
    ("janvier", 1),
    ("janv", 1),
    ("février", 2),
    ("févr", 2),
    ("mars", 3),
    ("avril", 4),
    ("avr", 4),
    ("juin", 6),
    ("juillet", 7),
    ("juil", 7),
    ("août", 8),
    ("septembre", 9),
    ("octobre", 10),
    ("novembre", 11),
    ("décembre", 12),
    ("déc", 12),
    ("enero", 1),
    ("ene", 1),
    ("febrero", 2),
    ("marzo", 3),
    ("abril", 4),
    ("abr", 4),
    ("mayo", 5),
    ("junio", 6),
    ("julio", 7),
    ("agosto", 8),
    ("ago", 8),
    ("septiembre", 9),
    ("octubre", 10),
    ("noviembre", 11),
    ("diciembre", 12),
    ("dic", 12),
    ("gennaio", 1),
    ("febbraio", 2),
    ("aprile", 4),
    ("maggio", 5),
    ("giugno", 6),
    ("luglio", 7),
    ("settembre", 9),
    ("ottobre", 10),
    ("dicembre", 12),
    ("januari", 1),
    ("februari", 2),
    ("maart", 3),
    ("mei", 5),
    ("augustus", 8),
    ("desember", 12),
    ("des", 12),
];

/// Of a month's name, whole or cut short.
pub fn parse_month(word: &str) -> Option<i8> {
    if !(3..=12).contains(&word.len()) || word.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let english = ENGLISH.iter().position(|it| {
        word.eq_ignore_ascii_case(it) || (word.len() == 3 && word.eq_ignore_ascii_case(&it[..3]))
    });
    if let Some(at) = english {
        return Some(at as i8 + 1);
    }
    let low = word.to_lowercase();
    OTHERS.iter().find(|it| it.0 == low).map(|it| it.1)
}

/// Whether such a day exists, in a leap year where no year is known.
pub fn is_valid_day(year: Option<i16>, month: i8, day: i8) -> bool {
    Date::new(year.unwrap_or(2024), month, day).is_ok()
}
