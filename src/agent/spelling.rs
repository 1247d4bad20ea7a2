//! Spellings that are the same text to a reader, and whether a text stands whole in another.
//!
//! A model types straight quotes, plain hyphens and plain spaces where a page has others. A piece of a word or of a number is not
//! what the page says: `299.00` does not stand in `1,299.00`.

use icu_normalizer::{ComposingNormalizerBorrowed, properties::CanonicalCombiningClassMapBorrowed};

use commis_browser::is_unseen;

/// Stands for a space between two groups of digits of one number. As long as a space, and no character of a page.
const GROUP: char = '\u{1f}';
/// Marks between two digits that make one number, date, time or range of them.
const BETWEEN_DIGITS: &[char] = &['.', ',', ':', '/', '\'', '-', '·', '٫', '٬'];
/// Marks after a digit without which it is another number.
const OF_A_NUMBER: &[char] = &['%', '‰', '°'];

/// The text in one spelling: composed (NFC), lower case, one kind of dash, apostrophe and space, without quotation marks and
/// without what is not seen.
pub fn normalize_text(text: &str) -> String {
    spelled(text).replace(GROUP, " ")
}

fn spelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars().filter(|it| !is_unseen(*it)) {
        match it {
            // Those that a number is grouped by keep their kind for now.
            '\u{a0}' | '\u{202f}' | '\u{2007}' | '\u{2009}' => out.push(GROUP),
            it if it.is_whitespace() || it.is_control() => out.push(' '),
            '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '〝' | '〞' | '＂' | '\\' =>
            {
                out.push(' ');
            }
            '’' | '‘' | '‚' | '‛' | 'ʼ' | 'ʹ' | '′' | '´' | '`' | '＇' => {
                out.push('\'');
            }
            '‹' | '›' => out.push('\''),
            '\u{2010}'..='\u{2015}' | '−' | '﹘' | '﹣' | '－' => out.push('-'),
            '…' => out.push_str("..."),
            it => out.push(it),
        }
    }
    let out = ComposingNormalizerBorrowed::new_nfc().normalize(&out).to_lowercase();
    // The same letter, whether a word ends there or not.
    let all: Vec<char> = out.chars().map(|it| if it == 'ς' { 'σ' } else { it }).collect();
    let mut out = String::with_capacity(out.len());
    for (at, it) in all.iter().enumerate() {
        match it {
            &GROUP if groups(&all, at) => out.push(GROUP),
            ' ' | &GROUP => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            it => out.push(*it),
        }
    }
    out.truncate(out.trim_end_matches(' ').len());
    out
}

/// Whether that space stands between digits of one number: three follow it, and no more.
fn groups(all: &[char], at: usize) -> bool {
    let digit = |at: usize| all.get(at).is_some_and(|it| it.is_numeric());
    at > 0 && digit(at - 1) && (1..=3).all(|it| digit(at + it)) && !digit(at + 4)
}

/// Lines of text that can be searched for whole words and numbers.
#[derive(Debug, Default)]
pub struct SearchableText {
    /// With [`GROUP`] in it.
    text: String,
    /// The same with a space for each, byte for byte.
    plain: String,
}

/// How a text stands in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchKind {
    Whole,
    /// It is a piece of this.
    Piece(String),
    Absent,
}

impl SearchableText {
    pub fn new(text: &str) -> Self {
        let mut out = Self::default();
        text.lines().for_each(|it| out.push(it));
        out
    }

    pub fn push(&mut self, line: &str) {
        let line = spelled(line);
        self.plain.push_str(&line.replace(GROUP, " "));
        self.plain.push('\n');
        self.text.push_str(&line);
        self.text.push('\n');
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether it stands there at all, piece or not.
    pub fn contains(&self, text: &str) -> bool {
        let text = normalize_text(text);
        !text.is_empty() && self.plain.contains(&text)
    }

    pub fn find_match(&self, text: &str) -> MatchKind {
        let text = normalize_text(text);
        let Some(first) = text.chars().next() else { return MatchKind::Absent };
        let mut piece = None;
        let mut from = 0;
        while let Some(at) = self.plain[from..].find(&text).map(|it| it + from) {
            if self.is_whole(at, at + text.len()) {
                return MatchKind::Whole;
            }
            piece.get_or_insert(at);
            from = at + first.len_utf8();
        }
        piece.map_or(MatchKind::Absent, |at| MatchKind::Piece(self.around(at, at + text.len())))
    }

    /// The words that it is a piece of.
    fn around(&self, from: usize, to: usize) -> String {
        let ends = |it: char| it == ' ' || it == '\n';
        let begin = self.text[..from].rfind(ends).map_or(0, |it| it + 1);
        let end = self.text[to..].find(ends).map_or(self.text.len(), |it| to + it);
        self.plain[begin..end].to_owned()
    }

    fn is_whole(&self, from: usize, to: usize) -> bool {
        let (before, it, after) = (&self.text[..from], &self.text[from..to], &self.text[to..]);
        !begins_within(before, it) && !ends_within(it, after)
    }
}

/// Whether what stands before is of the same word or number.
fn begins_within(before: &str, it: &str) -> bool {
    let mut back = before.chars().rev();
    let (Some(last), next) = (back.next(), back.next()) else { return false };
    let mut chars = it.chars();
    let Some(first) = chars.next() else { return false };
    // A sign in the middle of a range or a name is none.
    let has_sign = matches!(first, '-' | '+' | '.' | ',');
    if has_sign && chars.next().is_some_and(char::is_numeric) {
        return is_letter(last);
    }
    if first.is_numeric() {
        let after_digit = next.is_some_and(char::is_numeric);
        return match last {
            '-' | '+' | GROUP => true,
            '.' if next.is_none_or(|it| !is_letter(it)) => true,
            it if BETWEEN_DIGITS.contains(&it) => after_digit,
            it => is_of_one_word(it, first),
        };
    }
    is_of_one_word(last, first)
}

/// Whether what stands after is of the same word or number.
fn ends_within(it: &str, after: &str) -> bool {
    let mut ahead = after.chars();
    let (Some(first), next) = (ahead.next(), ahead.next()) else { return false };
    let Some(last) = it.chars().next_back() else { return false };
    // What is said of a word in Korean is written at its end.
    if is_hangul(first) && (is_hangul(last) || last.is_numeric()) {
        return false;
    }
    if last.is_numeric() {
        let before_digit = next.is_some_and(char::is_numeric);
        return match first {
            GROUP => true,
            it if OF_A_NUMBER.contains(&it) => true,
            it if BETWEEN_DIGITS.contains(&it) => before_digit,
            it => is_of_one_word(last, it),
        };
    }
    is_of_one_word(last, first)
}

fn is_of_one_word(a: char, b: char) -> bool {
    if !is_letter(a) || !is_letter(b) {
        return false;
    }
    if is_katakana(a) || is_katakana(b) {
        return is_katakana(a) && is_katakana(b);
    }
    // A digit beside a Hangul syllable is counted by it.
    let counted = a.is_numeric() && is_hangul(b) || is_hangul(a) && b.is_numeric();
    !(has_no_spaces(a) || has_no_spaces(b) || counted)
}

/// A letter, a digit, or a mark on one.
fn is_letter(it: char) -> bool {
    it.is_alphanumeric() || it == '_' || CanonicalCombiningClassMapBorrowed::new().get_u8(it) != 0
}

fn is_hangul(it: char) -> bool {
    matches!(it, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}')
}

fn is_katakana(it: char) -> bool {
    matches!(it, '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9d}')
}

/// Of a script that is written without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, Hiragana, Han.
fn has_no_spaces(it: char) -> bool {
    matches!(it,
        '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{309f}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_are_the_same_text() {
        for (page, typed) in [
            ("it’s made in “Porto” – by hand", "it's made in \"Porto\" - by hand"),
            ("Weight: 1\u{202f}250\u{a0}g", "weight: 1 250 g"),
            ("2\u{2011}3 weeks \u{2212}5\u{a0}°C", "2-3 weeks -5 °C"),
            ("extra\u{ad}ordinary sea\u{200b}green", "extraordinary seagreen"),
            ("Cafe\u{301}", "Café"),
            ("Ho\u{302}\u{300}", "Hồ"),
            ("«Вечер»", "\"вечер\""),
            ("ΟΔΟΣ", "οδος"),
            ("l‘eau", "l'eau"),
            ("Mehr…", "Mehr..."),
        ] {
            assert_eq!(normalize_text(page), normalize_text(typed), "{page}");
        }
        assert_ne!(
            normalize_text("１２３"),
            normalize_text("123"),
            "composed, not made compatible"
        );
    }

    #[test]
    fn a_piece_of_a_word_or_a_number_does_not_stand() {
        let check = |page: &str, typed: &str, whole: bool| {
            let standing = SearchableText::new(page).find_match(typed);
            assert_eq!(standing == MatchKind::Whole, whole, "{typed:?} in {page:?}: {standing:?}");
            assert!(whole || matches!(standing, MatchKind::Piece(_)), "{typed:?} in {page:?}");
        };
        let is = |page: &str, typed: &str| check(page, typed, true);
        let is_not = |page: &str, typed: &str| check(page, typed, false);
        // Numbers.
        is("Full price: 1,299.00 EUR, since 2012", "1,299.00 EUR");
        is("Full price: 1,299.00 EUR, since 2012.", "2012");
        is_not("Full price: 1,299.00 EUR, since 2012", "299.00");
        is_not("Full price: 1,299.00 EUR", "1,299");
        is_not("since 2012", "12");
        is_not("1.299,00 €", "299,00 €");
        is_not("1\u{202f}299,00\u{a0}€", "299,00 €");
        is("1\u{202f}299,00\u{a0}€", "1 299,00 €");
        is("Zimmer 12\u{a0}250 Betten", "Zimmer 12 250 Betten");
        is_not("CHF 1’299.00", "299.00");
        is("$19.99", "19.99");
        is_not("−5\u{a0}°C", "5 °C");
        is("−5\u{a0}°C", "-5 °C");
        is_not("2–3 weeks", "3 weeks");
        is_not("2-5 °C", "-5 °C");
        is_not("on 2025-07-04", "07");
        is_not("at 12:30", "30");
        is_not("rated 4/5", "4");
        is_not("about .5 l", "5 l");
        is_not("12kg", "12");
        is_not("20% off", "20");
        is("20% off", "20%");
        is_not("WH-1000XM5", "1000");
        is_not("1.5 km", "1.5 k");
        is("costs 5. Then more", "5");
        // Elsewhere it stands whole.
        is("299.00 or 1,299.00", "299.00");
        // Words.
        is_not("Travel kettle", "ravel kett");
        is("Travel kettle", "travel kettle");
        is("a trip to l’Italia", "Italia");
        is_not("Schifffahrtsgesellschaft", "gesellschaft");
        is_not("Größenangabe", "Größe");
        is_not("Санкт-Петербургский", "Петербург");
        is("Санкт-Петербург", "Санкт-Петербург");
        is_not("Θεσσαλονίκης", "Θεσσαλονίκη");
        is_not("القاهرة", "قاهر");
        is_not("cafe\u{301}s", "caf");
        is_not("किताबें", "किताब");
        // Scripts without spaces, and those where more is written at the end of a word.
        is("価格は1,299円です", "1,299円");
        is_not("価格は1,299円です", "299円");
        is("東京都の天気", "東京都");
        is_not("コーヒーメーカー", "コーヒ");
        is("新しいコーヒーを", "コーヒー");
        is("ราคา 120 บาทต่อคืน", "120 บาท");
        is("서울은 맑음", "서울");
        is_not("북서울은", "서울");
        is("가격은 1,299원입니다", "1,299원");
    }

    #[test]
    fn what_it_is_a_piece_of_is_told() {
        let page = SearchableText::new("Full price: 1,299.00 EUR\n1\u{202f}250\u{a0}g");
        assert_eq!(page.find_match("299.00"), MatchKind::Piece("1,299.00".into()));
        assert_eq!(page.find_match("250 g"), MatchKind::Piece("1 250 g".into()));
        assert_eq!(page.find_match("EUR 1"), MatchKind::Absent);
        assert_eq!(page.find_match(" "), MatchKind::Absent);
    }
}
