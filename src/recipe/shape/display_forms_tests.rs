//! Leaves and the words of pages: what is the same, what is not, and that every spelling is read back.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn leaves_as_pages_show_them() {
    for (leaf, shown) in [
        (json!(1181), "£11.81"),
        (json!(1181), "11,81 €"),
        (json!(1181), "CHF 11.81"),
        (json!(1181), "USD 1,181.00"),
        (json!(11.81), "$11.81 each"),
        (json!("11.81"), "now only 11.81 EUR"),
        (json!("11.8"), "£11.80"),
        (json!(1_234_567), "1,234,567 points"),
        (json!(1_234_567), "1.234.567"),
        (json!(1_234_567), "1 234 567"),
        (json!(1_234_567), "1’234’567"),
        (json!(1_234_567), "1.2M views"),
        (json!(12_345), "12.3k"),
        (json!(12_999), "12.9K stars"),
        (json!(1_572_864), "1.5 MB"),
        (json!(1234.5), "1.234,5"),
        (json!(-5.5), "−5.5 °C"),
        (json!(0.31), "31 %"),
        (json!(0.3141), "31.4%"),
        (json!(31), "31 % of all"),
        (json!(4.567), "4.57"),
        (json!("2026-11-22T10:30:00Z"), "22 Nov"),
        (json!("2026-11-22T10:30:00Z"), "Sunday, November 22nd, 2026"),
        (json!("2026-11-22T10:30:00Z"), "at 10:30"),
        (json!("2026-11-22T22:30:00Z"), "10:30 p.m."),
        (json!("2026-11-22"), "22.11.2026"),
        (json!("2026-11-22"), "11/22/2026"),
        (json!("2026-11-22"), "22. 11. 2026"),
        (json!("2026-11-22"), "22. November 2026"),
        (json!("2026-11-22"), "22 de noviembre de 2026"),
        (json!("2026-11-22"), "22-Nov-2026"),
        (json!("2026-11-22"), "November 2026"),
        (json!("2026-11-22"), "Posted Nov 22, 2026 by Ada"),
        (json!("2026-11-22T23:30:00-05:00"), "23 Nov 2026"),
        (json!("November 22, 2026"), "2026-11-22"),
        (json!(1_795_380_843), "22 Nov 2026"),
        (json!(1_795_380_843_000_i64), "22 Nov 2026"),
        (json!(true), "in stock"),
        (json!(true), "Available: Yes"),
        (json!(false), "sold out"),
        (json!("OUT_OF_STOCK"), "Out of stock"),
        (json!("https://schema.org/InStock"), "In stock"),
        (json!("inProgress"), "In progress"),
        (json!("Blue  Kettle"), "blue kettle"),
    ] {
        assert!(
            is_shown_as(&leaf, shown),
            "{leaf} {shown}: {:?} {:?}",
            readings(&leaf),
            normalize_text(shown)
        );
    }
}

#[test]
fn leaves_that_are_not_shown() {
    for (leaf, shown) in [
        (json!(1181), "£11.82"),
        (json!(1181), "11.8.1"),
        (json!(12), "mp12"),
        (json!(5), "-5"),
        (json!(0.31), "0.32"),
        (json!(31), "31st December"),
        (json!("2026-11-22"), "22 Nov 2025"),
        (json!("2026-11-22"), "21 Nov"),
        (json!("2026-02-30"), "30 Feb"),
        (json!("kettle 12"), "12"),
        (json!("in"), "in stock"),
        (json!(true), "sold out"),
        (json!(null), ""),
        (json!([1]), "1"),
        (json!(123_456_789_012_345_678_i64), "123"),
    ] {
        assert!(
            !is_shown_as(&leaf, shown),
            "{leaf} {shown}: {:?} {:?}",
            readings(&leaf),
            normalize_text(shown)
        );
    }
}

#[test]
fn what_proves_little() {
    let telling = |text: &str| normalize_text(text).iter().any(NormalizedValue::is_evidence);
    assert!(!telling("12") && !telling("10") && telling("$11.81") && telling("22 Nov"));
}

fn check_spellings(leaf: &Value) -> Result<(), TestCaseError> {
    for it in spellings(leaf) {
        prop_assert!(
            is_shown_as(leaf, &it),
            "{leaf} {it:?}: {:?} {:?}",
            readings(leaf),
            normalize_text(&it)
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn whole_numbers_are_read_as_they_are_spelled(n in -10_000_000_i64..10_000_000) {
        check_spellings(&json!(n))?;
    }

    #[test]
    fn decimals_are_read_as_they_are_spelled(whole in 0_i64..100_000, part in 1_u32..9999) {
        let leaf: Value = serde_json::from_str(&format!("{whole}.{part:04}")).unwrap();
        check_spellings(&leaf)?;
    }

    #[test]
    fn moments_are_read_as_they_are_spelled(seconds in 946_684_800_i64..4_102_444_800) {
        check_spellings(&json!(seconds))?;
        check_spellings(&json!(seconds * 1000))?;
        let at = jiff::Timestamp::from_second(seconds).unwrap().to_string();
        check_spellings(&json!(at))?;
        check_spellings(&json!(at[..10]))?;
    }

    #[test]
    fn texts_are_read_as_they_are_spelled(text in "[A-Za-zé0-9 _.,:-]{1,30}") {
        check_spellings(&json!(text))?;
    }

    #[test]
    fn any_text_is_read(text in ".{0,80}") {
        let _ = normalize_text(&text);
        let _ = readings(&json!(text));
    }
}
