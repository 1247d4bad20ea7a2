//! Dates in texts, whichever language names their months, and whether a request or an answer is of the time that a task names.

use std::{collections::BTreeMap, sync::LazyLock};

use pure_rust_locales::{Locale, locale_match};

use super::folding::{fold, parts};

/// Dates of a text that are read.
const MOST: usize = 2000;
/// Letters of a word that stands between the numbers of a date: `de`, `of`, `to`, `bis`.
const SHORT: usize = 3;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// Whose months are known, one of each language that names them in letters.
#[rustfmt::skip]
const LANGUAGES: &[Locale] = &[
    Locale::af_ZA, Locale::ar_EG, Locale::az_AZ, Locale::be_BY, Locale::bg_BG, Locale::bs_BA, Locale::ca_ES, Locale::cs_CZ,
    Locale::da_DK, Locale::de_DE, Locale::de_AT, Locale::el_GR, Locale::en_US, Locale::es_ES, Locale::et_EE, Locale::eu_ES,
    Locale::fa_IR, Locale::fi_FI, Locale::fr_FR, Locale::ga_IE, Locale::gl_ES, Locale::he_IL, Locale::hi_IN, Locale::hr_HR,
    Locale::hu_HU, Locale::hy_AM, Locale::id_ID, Locale::is_IS, Locale::it_IT, Locale::ka_GE, Locale::kk_KZ, Locale::lt_LT,
    Locale::lv_LV, Locale::mk_MK, Locale::mn_MN, Locale::ms_MY, Locale::mt_MT, Locale::nb_NO, Locale::nl_NL, Locale::pl_PL,
    Locale::pt_BR, Locale::pt_PT, Locale::ro_RO, Locale::ru_RU, Locale::sk_SK, Locale::sl_SI, Locale::sq_AL, Locale::sr_RS,
    Locale::sv_SE, Locale::sw_KE, Locale::th_TH, Locale::tr_TR, Locale::uk_UA, Locale::uz_UZ, Locale::vi_VN,
];

/// Names of months, folded.
static MONTHS: LazyLock<BTreeMap<String, u8>> = LazyLock::new(|| {
    let mut out = BTreeMap::new();
    for it in LANGUAGES {
        let locale = *it;
        let names = locale_match!(locale => LC_TIME::MON);
        for (name, month) in names.iter().zip(1..) {
            let name = fold(name);
            if name.chars().count() >= 3 && name.chars().all(char::is_alphabetic) {
                out.entry(name).or_insert(month);
            }
        }
    }
    out
});

/// A day, a month or a year; a part that is not named is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    pub year: u16,
    pub month: u8,
    pub day: u8,
}

impl Date {
    fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let fits =
            (1900..2100).contains(&year) && month <= 12 && day <= 31 && (month > 0 || day == 0);
        fits.then_some(Self { year: year as u16, month: month as u8, day: day as u8 })
    }

    /// The other one is this day, or a part of this month or year.
    fn contains(self, other: Self) -> bool {
        self.year == other.year
            && (self.month == 0 || self.month == other.month)
            && (self.day == 0 || self.day == other.day)
    }
}

/// From the first date to the last; of one date both are the same.
type Period = (Date, Date);

/// How a text's dates agree with those of the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateAgreement {
    /// Thousandths of the ends of the task's periods that stand in it.
    pub ends: i32,
    /// One of its dates is in one of the periods.
    pub inside: bool,
    /// How many dates it has; one that may be read in two ways counts twice.
    pub dates: usize,
}

/// The times that a task names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskDates(Vec<Period>);

impl TaskDates {
    pub fn from_task(task: &str) -> Self {
        let words = parts(task);
        let mut out: Vec<Period> = Vec::new();
        let mut year_to_come = None;
        for at in (0..words.len()).rev() {
            let found = parse_named(&words, at, year_to_come).or_else(|| numeric(&words, at));
            if let Some((first, last)) = found {
                year_to_come = Some(u32::from(last.year));
                if !out.iter().any(|it| it.0 <= first && last <= it.1) {
                    out.push((first, last));
                }
            }
        }
        // Two days of one task are where a time begins and where it ends.
        if let [last, first] = out[..]
            && first.0 == first.1
            && last.0 == last.1
            && first.0.day > 0
            && first.0 < last.0
        {
            out = vec![(first.0, last.0)];
        }
        Self(out)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn agreement(&self, text: &str) -> DateAgreement {
        let dates = dates(text);
        let is_in = |it: &Date| {
            self.0.iter().any(|(first, last)| {
                first.contains(*it) || last.contains(*it) || (*first <= *it && *it <= *last)
            })
        };
        let mut ends: Vec<Date> = self.0.iter().flat_map(|it| [it.0, it.1]).collect();
        ends.dedup();
        let found = ends.iter().filter(|end| dates.iter().any(|it| end.contains(*it))).count();
        let inside = dates.iter().any(is_in);
        DateAgreement {
            ends: (1000 * found).checked_div(ends.len()).unwrap_or(0) as i32,
            inside,
            dates: dates.len(),
        }
    }
}

fn number(it: &str) -> Option<u32> {
    (it.len() <= 4 && it.bytes().all(|it| it.is_ascii_digit())).then(|| it.parse().ok()).flatten()
}

fn year(it: &str) -> Option<u32> {
    number(it).filter(|it| (1900..2100).contains(it))
}

fn day(it: &str) -> Option<u32> {
    number(it).filter(|it| (1..=31).contains(it))
}

/// The number before a place, with at most one short word between.
fn day_before(words: &[String], at: usize) -> Option<(usize, u32)> {
    let near = at.checked_sub(1)?;
    if let Some(it) = day(&words[near]) {
        return Some((near, it));
    }
    let far = near.checked_sub(1).filter(|_| words[near].chars().count() <= SHORT)?;
    day(&words[far]).map(|it| (far, it))
}

/// `19 May 2026`, `May 19, 2026`, `maio de 2026`, `1 to 5 March 2026`; without a year the one that the next date has.
fn parse_named(words: &[String], at: usize, year_to_come: Option<u32>) -> Option<Period> {
    let month = u32::from(*MONTHS.get(&words[at])?);
    let later = |n: usize| words.get(at + n).map(String::as_str).unwrap_or_default();
    let after = (1..=3).find_map(|n| year(later(n)));
    let before = at.checked_sub(1).and_then(|it| year(&words[it]));
    let own = day_before(words, at);
    let year = after.or(before).or(year_to_come.filter(|_| own.is_some()))?;
    if let Some((place, last)) = own {
        let date = |day: u32| Date::new(year, month, day);
        let first = day_before(words, place).filter(|it| it.1 < last).map_or(last, |it| it.1);
        return Some((date(first)?, date(last)?));
    }
    let next = day(later(1)).unwrap_or(0);
    let date = Date::new(year, month, next)?;
    Some((date, date))
}

/// `2026-05-19`, `19.5.2026`, `2026年5月`.
fn numeric(words: &[String], at: usize) -> Option<Period> {
    let of = |n: usize| words.get(at + n).and_then(|it| number(it));
    let is_mark = |n: usize, mark: &str| words.get(at + n).is_some_and(|it| *it == fold(mark));
    let is_year = |it: u32| (1900..2100).contains(&it);
    let date = match (of(0)?, of(1), of(2)) {
        (year, Some(month), Some(day)) if is_year(year) => Date::new(year, month.max(1), day),
        (day, Some(month), Some(year)) if is_year(year) && month > 0 => Date::new(year, month, day),
        (year, None, Some(month)) if is_year(year) && (is_mark(1, "年") || is_mark(1, "년")) => {
            Date::new(year, month, of(4).unwrap_or(0))
        }
        _ => None,
    }?;
    Some((date, date))
}

/// Dates of a text as requests and answers write them; one that may be read in two ways is both.
fn dates(text: &str) -> Vec<Date> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && out.len() < MOST {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let (first, end) = digits(bytes, at);
        at = end;
        match first.len() {
            4 => {
                let Some((month, end)) = next(bytes, end) else { continue };
                let day = next(bytes, end).filter(|it| it.0.len() <= 2);
                let value = day.map_or(0, |it| read(it.0));
                if month.len() <= 2 && read(month) > 0 {
                    out.extend(Date::new(read(first), read(month), value));
                    at = day.map_or(end, |it| it.1);
                }
            }
            1 | 2 => {
                let Some((second, end)) = next(bytes, end).filter(|it| it.0.len() <= 2) else {
                    continue;
                };
                let Some((year, end)) = next(bytes, end).filter(|it| it.0.len() == 4) else {
                    continue;
                };
                let (one, two, year) = (read(first), read(second), read(year));
                out.extend(Date::new(year, two, one).filter(|_| one > 0 && two > 0));
                out.extend(Date::new(year, one, two).filter(|_| one > 0 && two > 0 && one != two));
                at = end;
            }
            6 => out.extend(
                Date::new(read(&first[..4]), read(&first[4..]), 0).filter(|it| it.month > 0),
            ),
            8 => {
                let of = Date::new(read(&first[..4]), read(&first[4..6]), read(&first[6..]));
                out.extend(of.filter(|it| it.month > 0 && it.day > 0));
            }
            10 | 13 => out.extend(of_epoch(first)),
            _ => {}
        }
    }
    out
}

/// The digits that begin here, and where they end.
fn digits(bytes: &[u8], at: usize) -> (&[u8], usize) {
    let end =
        bytes[at..].iter().position(|it| !it.is_ascii_digit()).map_or(bytes.len(), |it| at + it);
    (&bytes[at..end], end)
}

/// The digits after one mark that parts a date.
fn next(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let is_mark = bytes.get(at).is_some_and(|it| b"-/.".contains(it));
    let begins = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
    (is_mark && begins).then(|| digits(bytes, at + 1))
}

fn read(digits: &[u8]) -> u32 {
    digits.iter().take(9).fold(0, |sum, it| 10 * sum + u32::from(it - b'0'))
}

/// Seconds or milliseconds since 1970, of this century.
fn of_epoch(digits: &[u8]) -> Option<Date> {
    let seconds = digits[..10].iter().fold(0_i64, |sum, it| 10 * sum + i64::from(it - b'0'));
    // Howard Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`.
    let days = seconds / DAY + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = years + 400 * era + i64::from(month <= 2);
    Date::new(year as u32, month as u32, day as u32).filter(|it| it.year >= 2001)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Day = (u16, u8, u8);

    fn times(task: &str) -> Vec<(Day, Day)> {
        let plain = |it: Date| (it.year, it.month, it.day);
        TaskDates::from_task(task).0.iter().map(|it| (plain(it.0), plain(it.1))).collect()
    }

    #[test]
    fn tasks_name_times_in_many_languages() {
        for (task, first, last) in [
            ("the rates on 19 May 2026", (2026, 5, 19), (2026, 5, 19)),
            ("rates of 2026-05-19", (2026, 5, 19), (2026, 5, 19)),
            ("kurz 19.5.2026", (2026, 5, 19), (2026, 5, 19)),
            ("from 2 to 5 January 2024", (2024, 1, 2), (2024, 1, 5)),
            ("from 30 April to 2 May 2024", (2024, 4, 30), (2024, 5, 2)),
            ("between 2024-01-02 and 2024-02-05", (2024, 1, 2), (2024, 2, 5)),
            ("las cotizaciones del 19 de marzo de 2026", (2026, 3, 19), (2026, 3, 19)),
            ("Tečajna lista od 2. do 6. siječnja 2023.", (2023, 1, 2), (2023, 1, 6)),
            ("Kursy od 1 do 5 marca 2026", (2026, 3, 1), (2026, 3, 5)),
            ("a taxa de maio de 2026", (2026, 5, 0), (2026, 5, 0)),
            ("döviz kurları, Mart 2026", (2026, 3, 0), (2026, 3, 0)),
            ("March 19, 2026", (2026, 3, 19), (2026, 3, 19)),
            ("2026年5月19日の為替", (2026, 5, 19), (2026, 5, 19)),
        ] {
            assert_eq!(times(task), [(first, last)], "{task}");
        }
        for task in ["what may I do", "10 march songs", "version 2.1.3 of 2026", "room 12"] {
            assert_eq!(times(task), [], "{task}");
        }
    }

    #[test]
    fn requests_and_answers_are_of_a_time() {
        let times = TaskDates::from_task("from 2 to 5 January 2024");
        let agreement = |text: &str| {
            let it = times.agreement(text);
            (it.ends, it.inside, it.dates)
        };
        assert_eq!(agreement("from=2024-01-02&to=2024-01-05"), (1000, true, 2));
        assert_eq!(agreement("from=02.01.2024"), (500, true, 2));
        assert_eq!(agreement("/01-03-2024"), (0, true, 2));
        assert_eq!(agreement("t=1704240000"), (0, true, 1));
        assert_eq!(agreement("20240102"), (500, true, 1));
        assert_eq!(agreement("2023-01-02 2023-01-03 2023-01-04"), (0, false, 3));
        assert_eq!(agreement("v1.2.3 10.0.0.1"), (0, false, 0));
        let month = TaskDates::from_task("May 2026");
        assert_eq!(month.agreement("2026-05-31").ends, 1000);
        assert!(!month.agreement("2026-06-01").inside);
    }
}
