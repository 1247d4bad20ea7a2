//! Words of a recipe, as they are compared with what is asked.

use commis_recipe::model::Recipe;
use serde_json::Value;
use std::collections::BTreeSet;

/// Words of a recipe, as they are compared: those that say what it is about, and those that say what it takes and gives.
#[derive(Debug, Default)]
pub struct Terms {
    strong: BTreeSet<String>,
    weak: BTreeSet<String>,
    /// Names of its site that its own words use: whoever says one means it.
    pub site: BTreeSet<String>,
}

impl Terms {
    /// Name, task, category and site are what it is about; address, parameters, their examples and the fields of its data come
    /// after. `data`: JSON Schema of what it gives.
    pub fn from_recipe(recipe: &Recipe, data: &Value) -> Self {
        let host = url::Url::parse(&recipe.request.url).ok();
        let host = host.as_ref().and_then(|it| it.host_str()).unwrap_or_default();
        // What stands before the ending that sites share.
        let labels: Vec<&str> = host.split('.').collect();
        let site = labels[..labels.len().saturating_sub(1)].join(" ");
        let about = [
            recipe.name.as_str().replace('-', " "),
            recipe.task.clone(),
            recipe.category.clone().unwrap_or_default(),
            site,
        ];
        let mut out = Self::default();
        let own: BTreeSet<String> =
            about[..2].iter().flat_map(|it| with_pairs(&words(it))).collect();
        out.site =
            with_pairs(&words(&about[3])).into_iter().filter(|it| own.contains(it)).collect();
        for text in &about {
            out.strong.extend(with_pairs(&words(text)).iter().map(|it| stem(it)));
        }
        let mut more = recipe.request.url.split_once(host).map_or("", |it| it.1).to_owned();
        for it in &recipe.parameters {
            more = format!("{more} {} {}", it.name, it.examples.join(" "));
        }
        fields(data, 0, &mut more);
        out.weak.extend(words(&more).iter().map(|it| stem(it)));
        out
    }

    pub fn weight(&self, stem: &str) -> f64 {
        match (self.strong.contains(stem), self.weak.contains(stem)) {
            (true, _) => STRONG,
            (false, true) => WEAK,
            _ => 0.0,
        }
    }
}

/// What a word in one of them counts.
pub const STRONG: f64 = 3.0;

const WEAK: f64 = 1.0;

/// Words that say nothing.
pub const NOTHING: &[&str] = &[
    "the", "and", "for", "with", "from", "that", "this", "what", "get", "find", "show", "me",
    "all", "www", "com", "http", "https", "in", "on", "of", "to", "by", "a", "an", "is",
];

/// Words of asking, which say nothing of what is asked for.
const ASKING: &[&str] = &[
    "search", "list", "look", "up", "which", "who", "where", "when", "how", "does", "do", "did",
    "is", "are", "was", "were", "there", "have", "has", "now", "right", "my", "it", "its", "at",
    "about", "some", "any", "please", "want", "need", "give", "tell", "their", "or", "as", "be",
    "these", "those", "them", "api", "name", "named", "called", "by", "one", "two", "many", "much",
    "what", "can", "will", "would", "you", "your", "we", "our", "not", "query", "page", "limit",
    "offset", "json", "results", "result", "public", "data", "v1", "v2", "v3", "org", "net", "io",
    "dev",
];

/// Names of fields of a schema.
fn fields(schema: &Value, depth: usize, out: &mut String) {
    if depth > 4 || out.len() > 8000 {
        return;
    }
    for (name, it) in schema["properties"].as_object().into_iter().flatten() {
        out.push(' ');
        out.push_str(name);
        fields(it, depth + 1, out);
    }
    if schema["items"].is_object() {
        fields(&schema["items"], depth + 1, out);
    }
}

/// Words, and each two that follow one another as one: `Open Library` and `openlibrary`.
pub fn with_pairs(all: &[String]) -> Vec<String> {
    let pairs = all.windows(2).map(<[String]>::concat);
    all.iter().cloned().chain(pairs).collect()
}

/// Words in lower case, those that stand in any request left out; `camelCase` and `snake_case` are words.
pub fn words(text: &str) -> Vec<String> {
    let mut apart = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for it in text.chars() {
        if it.is_uppercase() && before.is_lowercase() {
            apart.push(' ');
        }
        apart.push(it);
        before = it;
    }
    apart
        .to_lowercase()
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| it.len() > 1 && !NOTHING.contains(it) && !ASKING.contains(it))
        .take(400)
        .map(str::to_owned)
        .collect()
}

pub fn stem(word: &str) -> String {
    rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English).stem(word).into_owned()
}
