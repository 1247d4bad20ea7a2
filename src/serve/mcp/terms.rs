//! Words of a recipe, as they are compared with what is asked.

use commis_recipe::model::Recipe;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Words of a recipe, as they are compared: those that say what it is about, and those that say what it takes and gives.
#[derive(Debug, Default)]
pub struct Terms {
    strong: BTreeSet<String>,
    weak: BTreeSet<String>,
    /// Of its name and its task, without proper names: the kind of thing that it is about.
    subject: BTreeSet<String>,
    /// Proper names in its task, in words: `Hacker News` is meant by both of them alone.
    names: Vec<Vec<String>>,
    /// Names of its site that its own words use: whoever says one means it.
    pub site: BTreeSet<String>,
    /// The stem of the first word of its task: `convert`, `search`.
    pub opening: Option<String>,
}

impl Terms {
    /// Name, task, category and site are what it is about; address, parameters, their examples and the fields of its data come
    /// after. `data`: JSON Schema of what it gives.
    pub fn from_recipe(recipe: &Recipe, data: &Value) -> Self {
        let host = url::Url::parse(&recipe.request.url).ok();
        let host = host.as_ref().and_then(|it| it.host_str()).unwrap_or_default();
        // What stands before the ending that sites share.
        let labels: Vec<&str> = host.split('.').collect();
        let parts_of_site = labels[..labels.len().saturating_sub(1)].join(" ");
        // One label is one name: `open` alone does not mean `open-meteo`.
        let site = parts_of_site.replace('-', "");
        let about = [
            recipe.name.as_str().replace('-', " "),
            without_slots(&recipe.task),
            recipe.category.clone().unwrap_or_default(),
            site,
        ];
        let mut out = Self::default();
        let own: BTreeSet<String> =
            about[..2].iter().flat_map(|it| with_pairs(&words(it))).collect();
        out.site =
            with_pairs(&words(&about[3])).into_iter().filter(|it| own.contains(it)).collect();
        out.names = proper_names(&about[1]);
        out.opening = opening(&about[1]);
        let of_site = out.site.iter().cloned().chain(words(&parts_of_site));
        let of_names: BTreeSet<String> =
            of_site.map(|it| stem(&it)).chain(out.names.iter().flatten().cloned()).collect();
        // A task that uses a word of the site's address as a plain word is about it: `Earthquakes` of `earthquake.usgs.gov`.
        let task_words = without_hosts(&about[1]);
        let in_names: BTreeSet<String> = out.names.iter().flatten().cloned().collect();
        for (text, names) in [(&about[0], &of_names), (&task_words, &in_names)] {
            let own = words(text).iter().map(|it| stem(it)).collect::<BTreeSet<_>>();
            out.subject.extend(own.difference(names).cloned());
        }
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

    /// Whether its name or its task has that word, and not as part of a proper name.
    pub fn is_about(&self, stem: &str) -> bool {
        self.subject.contains(stem)
    }

    /// Whether a sentence speaks of it: of the kind of thing that it is about, or by all of a name. `stems`: those of the sentence, and
    /// whether each tells recipes apart.
    pub fn is_meant(&self, stems: &BTreeMap<&str, bool>) -> bool {
        let has = |it: &String| stems.contains_key(it.as_str());
        let tells = |it: &String| stems.get(it.as_str()) == Some(&true);
        self.subject.iter().any(tells)
            || self.names.iter().any(|all| all.iter().all(has) && all.iter().any(tells))
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

/// Words of everyday requests, which no recipe is about.
const EVERYDAY: &[&str] = &[
    "could",
    "should",
    "might",
    "let",
    "us",
    "help",
    "using",
    "use",
    "used",
    "per",
    "over",
    "under",
    "between",
    "if",
    "so",
    "than",
    "then",
    "too",
    "very",
    "just",
    "also",
    "more",
    "most",
    "other",
    "into",
    "here",
    "new",
    "today",
    "week",
    "month",
    "year",
    "years",
    "day",
    "days",
    "tonight",
    "latest",
    "recent",
    "recently",
    "current",
    "like",
    "such",
    "others",
    "another",
    "anything",
    "else",
    "something",
    "work",
    "works",
    "working",
    "ll",
    "ve",
    "re",
    "don",
    "im",
];

/// What a sentence begins with that asks for a change, and not for an answer.
pub const CHANGES: &[&str] = &[
    "add",
    "assign",
    "book",
    "buy",
    "call",
    "cancel",
    "change",
    "close",
    "comment",
    "create",
    "decrease",
    "delete",
    "deploy",
    "dim",
    "draft",
    "email",
    "follow",
    "increase",
    "install",
    "invite",
    "lower",
    "make",
    "message",
    "move",
    "mute",
    "open",
    "order",
    "pause",
    "pay",
    "play",
    "post",
    "publish",
    "put",
    "raise",
    "remind",
    "remove",
    "rename",
    "reply",
    "reserve",
    "resize",
    "resume",
    "run",
    "save",
    "schedule",
    "send",
    "set",
    "start",
    "stop",
    "subscribe",
    "switch",
    "text",
    "transfer",
    "turn",
    "update",
    "upload",
    "wake",
    "write",
];

/// Proper names in the middle of a sentence: words with capitals that follow one another, with `of` between them.
fn proper_names(text: &str) -> Vec<Vec<String>> {
    let mut out: Vec<Vec<String>> = Vec::new();
    let mut goes_on = false;
    for (n, it) in text.split_whitespace().enumerate() {
        let bare = it.trim_matches(|it: char| !it.is_alphanumeric());
        let is_name = n > 0 && bare.starts_with(char::is_uppercase);
        if is_name {
            let stems: Vec<String> = words(bare).iter().map(|it| stem(it)).collect();
            match out.last_mut().filter(|_| goes_on) {
                Some(last) => last.extend(stems),
                None => out.push(stems),
            }
        }
        // A name ends where a comma or a bracket does.
        goes_on = is_name && it.ends_with(bare) || goes_on && bare == "of";
    }
    out.retain(|it| !it.is_empty());
    out
}

/// A task without the addresses in it.
fn without_hosts(task: &str) -> String {
    let is_host = |it: &&str| it.trim_matches(|it: char| !it.is_alphanumeric()).contains('.');
    task.split_whitespace().filter(|it| !is_host(it)).collect::<Vec<_>>().join(" ")
}

/// A task without the names of its parameters.
fn without_slots(task: &str) -> String {
    let mut out = String::with_capacity(task.len());
    for (n, part) in task.split('{').enumerate() {
        out.push_str(if n == 0 { part } else { part.split_once('}').map_or(part, |it| it.1) });
    }
    out
}

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
        .filter(|it| {
            it.len() > 1 && ![NOTHING, ASKING, EVERYDAY].iter().any(|all| all.contains(it))
        })
        .take(400)
        .map(str::to_owned)
        .collect()
}

/// The first word of a sentence, where it is its own stem, as a verb is that asks for something.
pub fn opening(sentence: &str) -> Option<String> {
    let first = sentence.split(|it: char| !it.is_alphanumeric()).find(|it| !it.is_empty())?;
    let first = first.to_lowercase();
    (stem(&first) == first).then_some(first)
}

pub fn stem(word: &str) -> String {
    rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English).stem(word).into_owned()
}
