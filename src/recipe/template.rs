//! Templates: text in which `{name}` stands for a value and `{{`, `}}` for braces.
//!
//! `{name|filter}` spells the value as the place needs it: `slug`, `lower`, `date_dmy` and others of [`Filter`], and `json` and
//! `url` inside a value that is JSON or a form itself; several apply from left to right. Parsed once into segments. What a value may do where it lands (path, query, header, JSON) is `request`'s business; a
//! template itself never interprets values.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::transforms;
use commis_base::error::{Code, Error, Result};

/// Names of parameters and slots.
const MAX_NAME: usize = 40;
const MAX_FIELD: usize = 80;
const MAX_FILTERS: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Name(String, Vec<Filter>),
}

/// How a value is spelled where it lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Lower case, everything but letters and digits as single hyphens: `new-york` of `New York`.
    Slug,
    Lower,
    Upper,
    /// `New York` of ` new york `.
    Title,
    /// The first letter alone.
    Capital,
    /// Without white space at the ends, runs of it as one blank.
    Trim,
    /// White space as `-`, `_`, `+` or nothing.
    Hyphen,
    Underscore,
    Plus,
    Compact,
    /// Composed and decomposed characters (UAX 15).
    Nfc,
    Nfd,
    /// Letters without their accents: `Jamtland` of `Jämtland`.
    Unaccent,
    /// A date of any order as `2026-11-22`, `22.11.2026`, `2.1.2026`, `22/11/2026`, `11/22/2026`, `1/2/2026`, `20261122`.
    DateIso,
    DateDmy,
    DateDmyShort,
    DateDmySlash,
    DateMdy,
    DateMdyShort,
    DateYmd,
    /// A date's midnight in UTC since 1970.
    EpochS,
    EpochMs,
    /// `30.0` and `30.00` of `30`.
    Decimal1,
    Decimal2,
    /// `1234.5` of `1,234.5`.
    Ungroup,
    /// `11.81` of `11,81`.
    Point,
    /// `1181` of `11.81`, and back.
    Minor,
    Major,
    /// One of several words.
    Word1,
    Word2,
    Word3,
    Word4,
    /// The text's bytes in UTF-8: in base64 with padding, in its alphabet for addresses without, in lower-case hexadecimal.
    Base64,
    Base64Url,
    Hex,
    /// In JSON: a number, not text.
    Number,
    /// The inside of a JSON string.
    Json,
    /// Percent-encoded but for RFC 3986 "unreserved".
    Url,
}

/// Everything but RFC 3986 "unreserved".
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl Filter {
    const ALL: &[(&'static str, Self)] = &[
        ("slug", Self::Slug),
        ("lower", Self::Lower),
        ("upper", Self::Upper),
        ("title", Self::Title),
        ("capital", Self::Capital),
        ("trim", Self::Trim),
        ("hyphen", Self::Hyphen),
        ("underscore", Self::Underscore),
        ("plus", Self::Plus),
        ("compact", Self::Compact),
        ("nfc", Self::Nfc),
        ("nfd", Self::Nfd),
        ("unaccent", Self::Unaccent),
        ("date_iso", Self::DateIso),
        ("date_dmy", Self::DateDmy),
        ("date_dmy_short", Self::DateDmyShort),
        ("date_dmy_slash", Self::DateDmySlash),
        ("date_mdy", Self::DateMdy),
        ("date_mdy_short", Self::DateMdyShort),
        ("date_ymd", Self::DateYmd),
        ("epoch_s", Self::EpochS),
        ("epoch_ms", Self::EpochMs),
        ("decimal1", Self::Decimal1),
        ("decimal2", Self::Decimal2),
        ("ungroup", Self::Ungroup),
        ("point", Self::Point),
        ("minor", Self::Minor),
        ("major", Self::Major),
        ("word1", Self::Word1),
        ("word2", Self::Word2),
        ("word3", Self::Word3),
        ("word4", Self::Word4),
        ("base64", Self::Base64),
        ("base64url", Self::Base64Url),
        ("hex", Self::Hex),
        ("number", Self::Number),
        ("json", Self::Json),
        ("url", Self::Url),
    ];

    /// How pages spell what was typed, each from left to right, the likelier first: what learning tries.
    pub const CHAINS: &[&[Self]] = &[
        &[Self::Lower],
        &[Self::Upper],
        &[Self::Slug],
        &[Self::Trim],
        &[Self::Title],
        &[Self::Capital],
        &[Self::Hyphen],
        &[Self::Underscore],
        &[Self::Plus],
        &[Self::Compact],
        &[Self::Lower, Self::Title],
        &[Self::Lower, Self::Capital],
        &[Self::Lower, Self::Hyphen],
        &[Self::Lower, Self::Underscore],
        &[Self::Lower, Self::Plus],
        &[Self::Lower, Self::Compact],
        &[Self::Capital, Self::Underscore],
        &[Self::Title, Self::Underscore],
        &[Self::Title, Self::Hyphen],
        &[Self::Title, Self::Compact],
        &[Self::Upper, Self::Underscore],
        &[Self::Upper, Self::Compact],
        &[Self::Nfc],
        &[Self::Nfd],
        &[Self::Unaccent],
        &[Self::Unaccent, Self::Slug],
        &[Self::Unaccent, Self::Lower],
        &[Self::DateIso],
        &[Self::DateDmy],
        &[Self::DateDmyShort],
        &[Self::DateDmySlash],
        &[Self::DateMdy],
        &[Self::DateMdyShort],
        &[Self::DateYmd],
        &[Self::EpochS],
        &[Self::EpochMs],
        &[Self::Decimal1],
        &[Self::Decimal2],
        &[Self::Ungroup],
        &[Self::Point],
        &[Self::Minor],
        &[Self::Ungroup, Self::Minor],
        &[Self::Point, Self::Minor],
        &[Self::Major],
        &[Self::Base64],
        &[Self::Base64Url],
        &[Self::Hex],
        &[Self::Word1],
        &[Self::Word2],
        &[Self::Word3],
        &[Self::Word4],
        &[Self::Word1, Self::Lower],
        &[Self::Word2, Self::Lower],
        &[Self::Word3, Self::Lower],
        &[Self::Word4, Self::Lower],
    ];

    /// Which of several words it takes, from 1.
    pub const fn word(self) -> Option<usize> {
        match self {
            Self::Word1 => Some(1),
            Self::Word2 => Some(2),
            Self::Word3 => Some(3),
            Self::Word4 => Some(4),
            _ => None,
        }
    }

    /// What it makes shows nothing of the value, and of a short one may be any number or word.
    pub const fn is_encoding(self) -> bool {
        matches!(self, Self::Base64 | Self::Base64Url | Self::Hex)
    }

    /// As it is written in a template.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|it| it.1 == self).map_or("", |it| it.0)
    }

    pub fn apply(self, value: &str) -> String {
        match self {
            Self::Slug => {
                let words = value.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
                words.collect::<Vec<_>>().join("-").to_lowercase()
            }
            Self::Lower => value.to_lowercase(),
            Self::Upper => value.to_uppercase(),
            Self::Title => transforms::title_case(value),
            Self::Capital => transforms::capitalize(value),
            Self::Trim => transforms::join_words(value, " "),
            Self::Hyphen => transforms::join_words(value, "-"),
            Self::Underscore => transforms::join_words(value, "_"),
            Self::Plus => transforms::join_words(value, "+"),
            Self::Compact => transforms::join_words(value, ""),
            Self::Nfc => transforms::nfc(value),
            Self::Nfd => transforms::nfd(value),
            Self::Unaccent => transforms::remove_accents(value),
            Self::DateIso => {
                transforms::format_date(value, |y, m, d| format!("{y:04}-{m:02}-{d:02}"))
            }
            Self::DateDmy => {
                transforms::format_date(value, |y, m, d| format!("{d:02}.{m:02}.{y:04}"))
            }
            Self::DateDmyShort => {
                transforms::format_date(value, |y, m, d| format!("{d}.{m}.{y:04}"))
            }
            Self::DateDmySlash => {
                transforms::format_date(value, |y, m, d| format!("{d:02}/{m:02}/{y:04}"))
            }
            Self::DateMdy => {
                transforms::format_date(value, |y, m, d| format!("{m:02}/{d:02}/{y:04}"))
            }
            Self::DateMdyShort => {
                transforms::format_date(value, |y, m, d| format!("{m}/{d}/{y:04}"))
            }
            Self::DateYmd => {
                transforms::format_date(value, |y, m, d| format!("{y:04}{m:02}{d:02}"))
            }
            Self::EpochS => transforms::format_epoch(value, 1),
            Self::EpochMs => transforms::format_epoch(value, 1000),
            Self::Decimal1 => transforms::with_decimals(value, 1),
            Self::Decimal2 => transforms::with_decimals(value, 2),
            Self::Ungroup => transforms::remove_grouping(value),
            Self::Point => transforms::with_decimal_point(value),
            Self::Minor => transforms::to_minor_units(value),
            Self::Major => transforms::to_major_units(value),
            Self::Word1 | Self::Word2 | Self::Word3 | Self::Word4 => {
                transforms::nth_word(value, self.word().unwrap_or(1))
            }
            Self::Base64 => STANDARD.encode(value),
            Self::Base64Url => URL_SAFE_NO_PAD.encode(value),
            Self::Hex => transforms::to_hex(value),
            Self::Number => value.trim().to_owned(),
            Self::Json => {
                let quoted = serde_json::Value::from(value).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            }
            Self::Url => utf8_percent_encode(value, RESERVED).to_string(),
        }
    }
}

/// What stands in a template, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Literal(&'a str),
    Value(&'a str, &'a [Filter]),
}

/// A value as filters spell it, from left to right.
pub fn apply_filters(filters: &[Filter], value: &str) -> String {
    filters.iter().fold(value.to_owned(), |it, filter| filter.apply(&it))
}

impl Template {
    /// Fails with `RECIPE_INVALID` for a brace without a partner and for a name that is none.
    pub fn parse(text: &str) -> Result<Self> {
        let invalid = |why: &str| {
            let shown: String = text.chars().take(80).collect();
            Error::new(
                Code::RecipeInvalid,
                format!("the template `{}` is invalid: {why}", shown.escape_debug()),
            )
            .hint("write {name} for a value and {{ or }} for a brace")
        };
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                literal.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(invalid("`}` without `{`"));
            }
            let end = rest.find('}').ok_or_else(|| invalid("`{` is never closed"))?;
            let mut parts_of = rest[..end].split('|');
            let name = parts_of.next().unwrap_or_default();
            let filters: Option<Vec<Filter>> = parts_of
                .map(|it| Filter::ALL.iter().find(|known| known.0 == it).map(|it| it.1))
                .collect();
            let filters = filters
                .filter(|it| it.len() <= MAX_FILTERS)
                .ok_or_else(|| invalid("this is not a filter, or there are more than four"))?;
            if !is_reference(name) {
                return Err(invalid(
                    "a name is a-z, 0-9 and _, at most 40 characters; of a step, with .field behind it",
                ));
            }
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Name(name.to_owned(), filters));
            rest = &rest[end + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { parts })
    }

    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.parts.iter().map(|it| match it {
            Part::Literal(text) => Piece::Literal(text),
            Part::Name(name, filters) => Piece::Value(name, filters),
        })
    }

    /// The names in it, in order, with repetitions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|it| match it {
            Part::Name(name, _) => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// The name when the template is that name and nothing else.
    pub fn single_name(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Name(name, filters)] if filters.is_empty() => Some(name),
            _ => None,
        }
    }

    /// Whether some value is spelled by a filter.
    pub fn has_filters(&self) -> bool {
        self.parts.iter().any(|it| matches!(it, Part::Name(_, filters) if !filters.is_empty()))
    }

    /// Whether it is one name whose value is to be a JSON number.
    pub fn is_number(&self) -> bool {
        matches!(self.parts.as_slice(), [Part::Name(_, filters)] if filters.last() == Some(&Filter::Number))
    }

    /// Whether no value can change it.
    pub fn is_literal(&self) -> bool {
        self.names().next().is_none()
    }

    /// The text with every name replaced by what `value` returns for it; its first error otherwise.
    pub fn render<E>(&self, value: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
        self.render_encoded(value, str::to_owned)
    }

    /// [`Self::render`], each value encoded for its place after its filters; the literal text stands as it is.
    pub fn render_encoded<E>(
        &self,
        value: impl FnMut(&str) -> Result<String, E>,
        encode: impl Fn(&str) -> String,
    ) -> Result<String, E> {
        self.render_parts(value, str::to_owned, encode)
    }

    /// [`Self::render_encoded`] where the literal text is encoded too, in a way of its own.
    pub fn render_parts<E>(
        &self,
        mut value: impl FnMut(&str) -> Result<String, E>,
        literal: impl Fn(&str) -> String,
        encode: impl Fn(&str) -> String,
    ) -> Result<String, E> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(&literal(text)),
                Part::Name(name, filters) => {
                    out.push_str(&encode(&apply_filters(filters, &value(name)?)));
                }
            }
        }
        Ok(out)
    }
}

/// `[a-z_][a-z0-9_]*`, at most 40 characters.
pub fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// A name, or a step's with the path of a field: `channel.team.id`.
fn is_reference(text: &str) -> bool {
    match text.split_once('.') {
        None => is_name(text),
        Some((step, field)) => is_name(step) && is_field(field),
    }
}

/// The path of a field: keys of letters, digits, `_` and `-` with dots between them, at most 80 characters.
pub fn is_field(text: &str) -> bool {
    let is_key = |it: &str| {
        !it.is_empty() && it.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    text.len() <= MAX_FIELD && text.split('.').all(is_key)
}

/// A literal as template text: braces doubled.
pub fn escape(literal: &str) -> String {
    literal.replace('{', "{{").replace('}', "}}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn render(text: &str) -> String {
        match Template::parse(text) {
            Ok(it) => it.render(|name| Ok::<_, Error>(format!("<{name}>"))).unwrap(),
            Err(err) => err.code().to_string(),
        }
    }

    #[test]
    fn templates() {
        for (text, want) in [
            ("", ""),
            ("plain", "plain"),
            ("{q}", "<q>"),
            ("a{q}b{r_2}c", "a<q>b<r_2>c"),
            ("{{q}}", "{q}"),
            ("{{{q}}}", "{<q>}"),
            ("{{}}", "{}"),
            ("{q}}}", "<q>}"),
            ("{q", "RECIPE_INVALID"),
            ("q}", "RECIPE_INVALID"),
            ("{}", "RECIPE_INVALID"),
            ("{Q}", "RECIPE_INVALID"),
            ("{2q}", "RECIPE_INVALID"),
            ("{a b}", "RECIPE_INVALID"),
            ("{a.b}", "<a.b>"),
            ("{a.bC.d-e.0|upper}", "<A.BC.D-E.0>"),
            ("{a.}", "RECIPE_INVALID"),
            ("{a..b}", "RECIPE_INVALID"),
            ("{A.b}", "RECIPE_INVALID"),
            ("{a.b c}", "RECIPE_INVALID"),
            ("{q|upper}", "<Q>"),
            ("{q|json|url}", "%3Cq%3E"),
            ("{q|other}", "RECIPE_INVALID"),
            ("{q|}", "RECIPE_INVALID"),
            ("{q|url|url|url|url|url}", "RECIPE_INVALID"),
            ("{a{b}}", "RECIPE_INVALID"),
            ("{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}", "RECIPE_INVALID"),
        ] {
            assert_eq!(render(text), want, "{text}");
        }
    }

    #[test]
    fn filters() {
        for (filter, value, want) in [
            (Filter::Slug, "New  York, NY!", "new-york-ny"),
            (Filter::Slug, "Ærø", "ærø"),
            (Filter::Unaccent, "Ærø, Łęg, Straße, Jämtland", "AEro, Leg, Strasse, Jamtland"),
            (Filter::Unaccent, "日本 й", "日本 и"),
            (Filter::Lower, "RUST", "rust"),
            (Filter::Json, "a \"b\" \\ \u{7}", r#"a \"b\" \\ \u0007"#),
            (Filter::Url, "a b&c=d/é", "a%20b%26c%3Dd%2F%C3%A9"),
            (Filter::Title, "new york o'neill", "New York O'neill"),
            (Filter::Capital, "éclair au chocolat", "Éclair au chocolat"),
            (Filter::Trim, "  a   b ", "a b"),
            (Filter::Underscore, "New  York ", "New_York"),
            (Filter::Plus, "a b", "a+b"),
            (Filter::Compact, "a b c", "abc"),
            (Filter::Nfc, "e\u{301}", "\u{e9}"),
            (Filter::Nfd, "\u{e9}", "e\u{301}"),
            (Filter::DateIso, "22.11.2026", "2026-11-22"),
            (Filter::DateIso, "11/22/2026", "2026-11-22"),
            (Filter::DateIso, "22/11/2026", "2026-11-22"),
            (Filter::DateIso, "20261122", "2026-11-22"),
            (Filter::DateIso, "2026-02-30", "2026-02-30"),
            (Filter::DateDmy, "2026-01-02", "02.01.2026"),
            (Filter::DateDmyShort, "2026-01-02", "2.1.2026"),
            (Filter::DateMdy, "2026-11-22", "11/22/2026"),
            (Filter::DateYmd, "22.11.2026", "20261122"),
            (Filter::EpochS, "2026-11-22", "1795305600"),
            (Filter::EpochMs, "1970-01-02", "86400000"),
            (Filter::Decimal1, "30", "30.0"),
            (Filter::Decimal2, "30.5", "30.50"),
            (Filter::Decimal1, "many", "many"),
            (Filter::Ungroup, "1,234.5", "1234.5"),
            (Filter::Point, "11,81", "11.81"),
            (Filter::Minor, "11.81", "1181"),
            (Filter::Minor, "0.05", "5"),
            (Filter::Minor, "12", "1200"),
            (Filter::Minor, "1.234", "1.234"),
            (Filter::Major, "1181", "11.81"),
            (Filter::Major, "5", "0.05"),
            (Filter::Base64, "wérf?>", "d8OpcmY/Pg=="),
            (Filter::Base64Url, "wérf?>", "d8OpcmY_Pg"),
            (Filter::Hex, "wérf", "77c3a97266"),
            (Filter::Hex, "", ""),
            (Filter::Word2, "garden hose", "hose"),
            (Filter::Word3, "garden hose", ""),
        ] {
            assert_eq!(filter.apply(value), want, "{value}");
        }
    }

    proptest! {
        #[test]
        fn a_value_cannot_leave_its_string(value in ".*") {
            let inner = Filter::Json.apply(&value);
            prop_assert_eq!(serde_json::from_str::<String>(&format!("\"{inner}\"")).unwrap(), value.clone());
            let pair = format!("a={}&b=1", Filter::Url.apply(&value));
            let pairs: Vec<_> = url::form_urlencoded::parse(pair.as_bytes()).into_owned().collect();
            prop_assert_eq!(pairs, [("a".to_owned(), value), ("b".to_owned(), "1".to_owned())]);
        }

        #[test]
        fn escaped_literals_stay_themselves(text in ".*") {
            let template = Template::parse(&escape(&text)).unwrap();
            prop_assert!(template.is_literal());
            let back = template.render(|_| Err::<String, ()>(())).unwrap();
            prop_assert_eq!(back, text);
        }

        #[test]
        fn any_text_parses_or_is_refused(text in "[{}a-z]{0,30}") {
            let _ = Template::parse(&text);
        }
    }
}
