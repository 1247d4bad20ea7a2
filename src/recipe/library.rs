//! The recipes that come with the program: hand-checked, for public APIs that need no key.
//!
//! They are drafts until they have been verified where they are used. A text is parsed when it is asked for, so that a run
//! of a user's own recipe pays nothing for them.

macro_rules! library {
    ($($name:literal,)*) => {
        /// Sorted.
        pub const NAMES: &[&str] = &[$($name,)*];
        const TEXTS: &[&str] =
            &[$(include_str!(concat!("library/", $name, ".yaml")),)*];
    };
}

library! {
    "arbeitnow-jobs",
    "archive-search",
    "artic-artworks",
    "codeberg-repositories",
    "coinbase-price",
    "coinpaprika-search",
    "crossref-works",
    "datacite-dois",
    "deezer-tracks",
    "deribit-instruments",
    "dictionary-word",
    "europepmc-search",
    "frankfurter-latest",
    "frankfurter-on-date",
    "gbif-literature",
    "gbif-species",
    "github-repositories",
    "gitlab-projects",
    "hn-newest",
    "hn-search",
    "inaturalist-observations",
    "itunes-albums",
    "jobicy-jobs",
    "lichess-broadcasts",
    "lichess-teams",
    "media-ccc-talks",
    "met-museum-object",
    "musicbrainz-albums",
    "musicbrainz-artists",
    "musicbrainz-tracks",
    "nasa-images",
    "obis-occurrences",
    "open-meteo-air",
    "open-meteo-forecast",
    "open-meteo-places",
    "openlibrary-search",
    "place-search",
    "plos-search",
    "pubchem-compound",
    "remotive-jobs",
    "semanticscholar-papers",
    "stackoverflow-search",
    "themuse-jobs",
    "tvmaze-shows",
    "uniprot-proteins",
    "usgs-earthquakes",
    "weather-gov-alerts",
    "weather-gov-observation",
    "wikidata-entities",
    "wikipedia-search",
    "wikipedia-summary",
    "worldbank-indicator",
}

/// The YAML of a library recipe.
pub fn text(name: &str) -> Option<&'static str> {
    NAMES.binary_search(&name).ok().map(|it| TEXTS[it])
}
