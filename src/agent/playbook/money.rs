//! Amounts of money, exactly: thousandths of the unit, since no currency in use has more than three decimals (ISO 4217).

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Thousandths of a euro, dollar, yen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(with = "String", extend("pattern" = r"^[0-9]{1,12}(\.[0-9]{1,3})?$"))]
pub struct Money(u64);

impl Money {
    /// As `amounts` counts, and never more than it is: this is a limit.
    pub const fn hundredths(self) -> u64 {
        self.0 / 10
    }
}

/// `50`, `34.94`, `1.5`: digits and one point, and nothing that might be read in two ways.
impl FromStr for Money {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |it: &str, most| {
            (1..=most).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_digit())
        };
        if !digits(whole, 12) || !digits(part, 3) {
            return Err(());
        }
        let whole: u64 = whole.parse().map_err(|_| ())?;
        let part: u64 = format!("{part:0<3}").parse().map_err(|_| ())?;
        Ok(Self(whole * 1000 + part))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / 1000, self.0 % 1000);
        match part % 10 {
            0 => write!(f, "{whole}.{:02}", part / 10),
            _ => write!(f, "{whole}.{part:03}"),
        }
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct MoneyVisitor;
        impl de::Visitor<'_> for MoneyVisitor {
            type Value = Money;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount such as 50 or 34.94")
            }

            fn visit_str<E: de::Error>(self, it: &str) -> Result<Money, E> {
                it.parse().map_err(|()| E::invalid_value(de::Unexpected::Str(it), &self))
            }

            fn visit_u64<E: de::Error>(self, it: u64) -> Result<Money, E> {
                self.visit_str(&it.to_string())
            }

            fn visit_i64<E: de::Error>(self, it: i64) -> Result<Money, E> {
                self.visit_str(&it.to_string())
            }

            // As it was written, to as many digits as count.
            fn visit_f64<E: de::Error>(self, it: f64) -> Result<Money, E> {
                self.visit_str(&it.to_string())
            }
        }
        from.deserialize_any(MoneyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_in_one_way() {
        for (text, want, shown) in [
            ("50", Some(50_000), "50.00"),
            ("34.94", Some(34_940), "34.94"),
            ("1.5", Some(1500), "1.50"),
            ("0.125", Some(125), "0.125"),
            ("999999999999.999", Some(999_999_999_999_999), "999999999999.999"),
            ("1000000000000", None, ""),
            ("1,5", None, ""),
            ("1.234,5", None, ""),
            ("1e3", None, ""),
            ("-1", None, ""),
            ("+1", None, ""),
            (".5", None, ""),
            ("5.", None, ""),
            ("0.0001", None, ""),
            ("", None, ""),
            ("inf", None, ""),
            ("٣", None, ""),
        ] {
            let it: Option<Money> = text.parse().ok();
            assert_eq!(it.map(|it| it.0), want, "{text}");
            assert_eq!(it.map_or(String::new(), |it| it.to_string()), shown, "{text}");
        }
        let read = |it: &str| serde_json::from_str::<Money>(it).ok().map(|it| it.0);
        assert_eq!(read("34.94"), Some(34_940));
        assert_eq!(read("\"34.94\""), Some(34_940));
        assert_eq!(read("50"), Some(50_000));
        assert_eq!(
            (read("-50"), read("1e300"), read("[1]"), read("0.00001")),
            (None, None, None, None)
        );
    }
}
