//! Made-up catalogue contents: fixed word lists and arithmetic, so that any query has results of
//! its own and the same query always has the same ones.

use serde_json::{Value, json};

/// A stream of numbers that depends only on what it was made from.
pub struct SeededRng(u64);

impl SeededRng {
    pub fn new(parts: &[&str]) -> SeededRng {
        // FNV-1a; the separator keeps ("ab", "c") and ("a", "bc") apart.
        let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
        SeededRng(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    /// The next number (SplitMix64).
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.roll() % (high - low + 1) as u64) as i64
    }

    /// A number with two decimals, bounds in hundredths.
    pub fn cents(&mut self, low: i64, high: i64) -> f64 {
        self.between(low, high) as f64 / 100.0
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.roll() % 100 < percent
    }

    pub fn pick(&mut self, list: &[&'static str]) -> &'static str {
        list[(self.roll() % list.len() as u64) as usize]
    }

    /// A day of 2024 or 2025, `YYYY-MM-DD`.
    pub fn date(&mut self) -> String {
        let (year, month, day) =
            (self.between(2024, 2025), self.between(1, 12), self.between(1, 28));
        format!("{year}-{month:02}-{day:02}")
    }

    /// First and last name.
    pub fn name(&mut self) -> String {
        format!("{} {}", self.pick(FIRST), self.pick(LAST))
    }

    /// Somebody with an id, a name and a page.
    pub fn person(&mut self) -> Value {
        let name = self.name();
        let handle = name.to_lowercase().replace(' ', ".");
        json!({ "id": self.between(1000, 9999), "name": name, "url": format!("/people/{handle}") })
    }

    /// A sentence about a topic.
    pub fn sentence(&mut self, topic: &str) -> String {
        let (one, two) =
            (self.pick(ADJECTIVES).to_lowercase(), self.pick(ADJECTIVES).to_lowercase());
        let thing = self.pick(NOUNS).to_lowercase();
        let (city, name) = (self.pick(CITIES), self.name());
        let verb = self.pick(&["tested", "chosen", "checked", "reviewed", "packed", "written"]);
        match self.between(0, 4) {
            0 => format!("The {one} choice for {topic}, {verb} in {city} beside a {two} {thing}."),
            1 => format!("{name} of {city} on {topic}: {one}, {two}, and never without a {thing}."),
            2 => format!("Comes with a {one} {thing}; all about {topic}, {verb} by {name}."),
            3 => format!("From {city}, where {topic} meets the {two} {thing}. A {one} favourite."),
            _ => format!("Half {thing}, half {topic}: {one}, yet {two}, as they say in {city}."),
        }
    }

    /// A headline that names the topic.
    pub fn title(&mut self, topic: &str) -> String {
        let topic = capitalised(topic);
        format!("{} {topic} {}", self.pick(ADJECTIVES), self.pick(NOUNS))
    }
}

/// What a search found: how many, and the numbers behind each hit of one page.
pub struct SearchResult {
    pub total: u64,
    pub pages: u64,
    /// Position (counted from 1) and dice of each hit on the page.
    pub hits: Vec<(u64, SeededRng)>,
}

/// Looks up `query` in the catalogue called `kind`. Case and outer blanks do not matter.
pub fn search(kind: &str, query: &str, page: u64, per_page: u64) -> SearchResult {
    let query = query.trim().to_lowercase();
    let any = !query.starts_with("zzz");
    let total = if any { 7 + SeededRng::new(&[kind, &query]).roll() % 40 } else { 0 };
    // `page` is whatever the caller sent.
    let first = page.saturating_sub(1).saturating_mul(per_page).saturating_add(1);
    let last = first.saturating_add(per_page - 1).min(total);
    let hits = (first..=last).map(|at| (at, SeededRng::new(&[kind, &query, &at.to_string()])));
    SearchResult { total, pages: total.div_ceil(per_page), hits: hits.collect() }
}

/// Each word with a capital letter.
pub fn capitalised(text: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |c| c.to_uppercase().chain(letters).collect())
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Lower-case letters, digits and hyphens, for use in paths.
pub fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

pub const FIRST: &[&str] = &[
    "Ada", "Bruno", "Clara", "Dario", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Katya",
    "Liam", "Mara", "Nils", "Olga", "Pavel", "Quinn", "Rosa", "Sven", "Tomas", "Uma", "Viktor",
    "Wanda", "Yusuf", "Zofia",
];
pub const LAST: &[&str] = &[
    "Almeida",
    "Bergstrom",
    "Castellano",
    "Dvorak",
    "Eriksen",
    "Fontaine",
    "Gallagher",
    "Haddad",
    "Ivanova",
    "Jansen",
    "Kowalski",
    "Lindqvist",
    "Moreau",
    "Novak",
    "Okafor",
    "Petrov",
    "Quigley",
    "Rossi",
    "Schneider",
    "Takahashi",
    "Ueda",
    "Vasquez",
    "Winkler",
    "Yilmaz",
    "Zimmer",
];
pub const ADJECTIVES: &[&str] = &[
    "Amber",
    "Brisk",
    "Coastal",
    "Dusty",
    "Earnest",
    "Folding",
    "Gentle",
    "Hollow",
    "Ivory",
    "Jovial",
    "Keen",
    "Luminous",
    "Mellow",
    "Northern",
    "Oaken",
    "Patient",
    "Quiet",
    "Rugged",
    "Silver",
    "Timber",
    "Urban",
    "Velvet",
    "Woven",
    "Young",
    "Zesty",
    "Portable",
    "Practical",
    "Compact",
];
pub const NOUNS: &[&str] = &[
    "Almanac", "Bench", "Compass", "Drawer", "Engine", "Fixture", "Garden", "Handbook", "Island",
    "Journal", "Kettle", "Lantern", "Mirror", "Notebook", "Orchard", "Parcel", "Quarry", "Rocket",
    "Satchel", "Toolkit", "Umbrella", "Voyage", "Workshop", "Yard", "Harbour", "Bridge", "Signal",
    "Primer",
];
pub const CITIES: &[&str] = &[
    "Aarhus",
    "Bergamo",
    "Coimbra",
    "Dresden",
    "Espoo",
    "Fribourg",
    "Ghent",
    "Haarlem",
    "Izmir",
    "Jena",
    "Kaunas",
    "Leiden",
    "Malmo",
    "Nantes",
    "Ostrava",
    "Porto",
    "Quimper",
    "Rijeka",
    "Salamanca",
    "Tartu",
    "Utrecht",
    "Valencia",
    "Wroclaw",
    "York",
    "Zadar",
];
pub const COUNTRIES: &[&str] = &[
    "Austria", "Belgium", "Croatia", "Denmark", "Estonia", "Finland", "Greece", "Hungary",
    "Iceland", "Latvia", "Malta", "Norway", "Poland", "Romania", "Slovenia",
];
pub const TAGS: &[&str] = &[
    "archive",
    "beginner",
    "community",
    "daily",
    "essentials",
    "featured",
    "guide",
    "home",
    "indoor",
    "journey",
    "kids",
    "limited",
    "maker",
    "new",
    "outdoor",
    "popular",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_query_finds_the_same_and_another_finds_others() {
        let titles = |query: &str| -> Vec<String> {
            let found = search("books", query, 1, 5);
            found.hits.into_iter().map(|(_, mut rng)| rng.title("x")).collect()
        };
        assert_eq!(titles("rust"), titles(" Rust "));
        assert_ne!(titles("rust"), titles("sqlite"));
    }

    #[test]
    fn pages_follow_each_other_and_end() {
        let total = search("books", "rust", 1, 5).total;
        let at = |page| -> Vec<u64> {
            search("books", "rust", page, 5).hits.iter().map(|(at, _)| *at).collect()
        };
        assert_eq!(at(1), [1, 2, 3, 4, 5]);
        assert_eq!(at(2).first(), Some(&6));
        assert_eq!(at(total.div_ceil(5)).last(), Some(&total));
        assert!(at(u64::MAX).is_empty());
        assert!(search("books", "zzz nothing", 1, 5).hits.is_empty());
    }
}
