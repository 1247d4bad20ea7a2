//! What a name says: of an operation, of a control, of a task. A verb counts where verbs stand; a noun that is also a verb
//! (`order_book`, `rateLimits`, "Order history") says nothing.

use super::verbs::{
    ALSO, ASKS, BEHIND, BOTH, CHANGING, FORMS, HEADS, ISSUED, LOOSE, NOUNS, PREFIXES, READING,
    REPORTS, SHOWS, UI, VERBS, VIEWS, WRITES, is_in_lists, is_strong, words,
};

/// What a name says of what is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameMeaning {
    Reads,
    /// The verb.
    Changes(String),
    Nothing,
}

impl NameMeaning {
    /// The verb of a change.
    pub fn verb(&self) -> Option<&str> {
        match self {
            Self::Changes(it) => Some(it),
            Self::Reads | Self::Nothing => None,
        }
    }
}

/// Words of a name without the numbers in it.
fn words_without_numbers(name: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in words(name) {
        let all = word.split(|it: char| it.is_ascii_digit()).filter(|it| !it.is_empty());
        out.extend(all.map(str::to_owned));
    }
    out
}

fn is_action_verb(word: &str) -> bool {
    is_in_lists(word, &[VERBS, LOOSE, BEHIND, FORMS, WRITES, CHANGING])
        && !is_in_lists(word, &[BOTH, ALSO, NOUNS])
}

fn is_question_word(word: &str) -> bool {
    is_in_lists(word, &[ASKS, SHOWS, READING])
}

/// What an operation's name says: `firms.find`, `DynamoDB_20120810.Query`, `addToCart`, `pkg.Books/ListBooks`.
pub fn operation_meaning(name: &str) -> NameMeaning {
    let name = name.trim_matches(|it: char| !it.is_alphanumeric());
    let parts = name.split(['.', '/', ':', '#', '?', '!', '|', '\\', '$']);
    let all: Vec<Vec<String>> =
        parts.map(words_without_numbers).filter(|it| !it.is_empty()).collect();
    let Some(last) = all.last() else { return NameMeaning::Nothing };
    match judge_word(last, all.len() > 1) {
        NameMeaning::Nothing if all.len() > 1 => {
            // `user/search/v2`, and not `search/thing`, where the thing is what is done.
            let before = judge_word(&all[all.len() - 2], true);
            match before {
                NameMeaning::Changes(_) => before,
                NameMeaning::Reads if is_version(last) => before,
                _ => NameMeaning::Nothing,
            }
        }
        it => it,
    }
}

/// Verbs by which programs ask, and nothing else.
const GETS: &[&str] = &["fetch", "find", "get", "list", "lookup", "query", "retrieve", "search"];

/// A verb and its thing in one word, as some protocols write them: `getblockcount`.
fn is_joined_verb(word: &str) -> bool {
    let rest = word.strip_prefix("get").filter(|it| it.len() >= 5);
    rest.is_some_and(|it| {
        !["add", "create", "del", "new", "or", "set", "update"].iter().any(|verb| it.contains(verb))
    })
}

fn is_version(all: &[String]) -> bool {
    matches!(all, [one] if one.len() <= 2 || matches!(one.as_str(), "all" | "json" | "xml"))
}

/// `is_called`: it stands behind what it is called on, so that a word alone is a verb.
fn judge_word(all: &[String], is_called: bool) -> NameMeaning {
    // `do_search`, `btnBuy`, `onSave`.
    let skip = all.iter().take_while(|it| is_in_lists(it, &[PREFIXES, &["on", "run"]])).count();
    // `execute_query` runs what asks.
    let runs = |it: &String| matches!(it.as_str(), "exec" | "execute");
    let runs = all.first().is_some_and(runs) && all.get(1).is_some_and(|it| is_question_word(it));
    let skip = skip.max(usize::from(runs && all.len() == 2));
    // A report is run to be read.
    if all.len() == 2 && all[0] == "run" && is_in_lists(&all[1], &[REPORTS]) {
        return NameMeaning::Reads;
    }
    let all = if skip < all.len() { &all[skip..] } else { all };
    let Some((first, last)) = all.first().zip(all.last()) else { return NameMeaning::Nothing };
    let changes = |word: &String| NameMeaning::Changes(word.clone());
    if all.len() == 1 && is_called && is_in_lists(first, &[BOTH]) && !is_in_lists(first, &[VIEWS]) {
        return changes(first);
    }
    let joins = |it: &String| matches!(it.as_str(), "and" | "or" | "then");
    // `getAccessToken`: it may be made for this.
    if all.len() > 1 && is_in_lists(last, &[ISSUED]) && !is_in_lists(first, &[CHANGING]) {
        return NameMeaning::Nothing;
    }
    if all.len() == 1 && is_joined_verb(first) {
        return NameMeaning::Reads;
    }
    if is_question_word(first) {
        // `findAndModify`, `getOrCreate`, `searchDelete`; `getCancelReasons` asks.
        let also = all.iter().position(joins).and_then(|at| all.get(at + 1));
        let also = also.filter(|it| is_action_verb(it) || is_in_lists(it, &[BOTH]));
        let end = Some(last).filter(|it| all.len() > 1 && is_change(it));
        return also.or(end).map_or(NameMeaning::Reads, changes);
    }
    if adjusts_view(all, true) {
        return NameMeaning::Reads;
    }
    if is_action_verb(first) {
        return changes(first);
    }
    if let Some(word) = all.iter().find(|it| is_change(it)) {
        // `Excel_Export_Save` says both.
        let is_both = !is_strong(word) && all.iter().any(|it| is_question_word(it));
        return if is_both { NameMeaning::Nothing } else { changes(word) };
    }
    // By itself, or before its thing: `purchase`, `refundOrder`, and not `refund_policy`.
    if is_in_lists(first, &[ALSO]) && !is_in_lists(last, &[HEADS, VIEWS]) && !last.ends_with('s') {
        return changes(first);
    }
    // Verbs that are nouns as well do something to what follows, unless that makes a noun of both: `bookRoom`, `orderBook`.
    let is_noun = all.len() > 1 && (is_in_lists(last, &[HEADS, VIEWS]) || is_question_word(last));
    if is_in_lists(first, &[BOTH]) && all.len() > 1 && !is_noun {
        return if last.ends_with('s') { NameMeaning::Nothing } else { changes(first) };
    }
    let entity = all.len() > 1 && is_in_lists(last, &[ASKS, READING, SHOWS]);
    if entity && !(is_in_lists(first, &[BOTH]) && is_in_lists(last, &[SHOWS, VIEWS])) {
        return NameMeaning::Reads;
    }
    let second = all.get(1).filter(|it| all.len() > 2 && is_question_word(it));
    if second.is_some() && !is_in_lists(first, &[BOTH]) {
        return NameMeaning::Reads;
    }
    // `Domain_Zone_GetAll`: the thing stands before what is asked.
    if all.iter().skip(1).any(|it| is_in_lists(it, &[GETS]))
        && !all.iter().any(|it| is_action_verb(it))
    {
        return NameMeaning::Reads;
    }
    match all.last() {
        Some(it) if all.len() > 1 && is_action_verb(it) && !is_in_lists(first, &[BOTH]) => {
            changes(it)
        }
        _ => NameMeaning::Nothing,
    }
}

/// What only changes what of a list is shown: `applyFilter`, "Clear filters", `setPage`.
pub fn adjusts_view(all: &[String], is_called: bool) -> bool {
    const VERBS: &[&str] = &[
        "add", "apply", "change", "clear", "edit", "remove", "reset", "set", "toggle", "undo",
        "update",
    ];
    const LISTS: &[&str] =
        &["facet", "facets", "filter", "filters", "result", "results", "sort", "sorting"];
    const TURNS: &[&str] =
        &["change", "first", "go", "goto", "last", "next", "prev", "previous", "set"];
    let Some((first, last)) = all.first().zip(all.last()).filter(|_| all.len() > 1) else {
        return false;
    };
    // "Remove filter Town"
    let of_list =
        is_in_lists(last, &[LISTS]) || all.len() <= 4 && matches!(&*all[1], "filter" | "filters");
    is_in_lists(first, &[VERBS]) && (of_list || !is_called && last == "search")
        || is_in_lists(first, &[TURNS]) && last == "page"
}

/// A verb that is none of a noun's words anywhere: `delete`, `create`, `save`.
fn is_change(word: &str) -> bool {
    is_strong(word) || is_in_lists(word, &[CHANGING])
}

/// What a control's name says. What is typed into a field changes nothing by itself; a message is sent from one, too.
pub fn control_meaning(role: &str, name: &str) -> NameMeaning {
    let all = words_without_numbers(name);
    let Some(last) = all.last() else {
        // A page of a list.
        let is_page =
            role == "link" && !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit());
        return if is_page { NameMeaning::Reads } else { NameMeaning::Nothing };
    };
    if matches!(role, "textbox" | "searchbox" | "combobox" | "spinbutton" | "option" | "listbox") {
        let searches =
            role == "searchbox" || all.iter().any(|it| is_in_lists(it, &[ASKS, READING, UI]));
        let keeps = matches!(last.as_str(), "message" | "comment" | "reply" | "note" | "post");
        return match (searches, keeps && role == "textbox") {
            (true, _) => NameMeaning::Reads,
            (_, true) => NameMeaning::Changes(last.clone()),
            _ => NameMeaning::Nothing,
        };
    }
    // A column is sorted, whatever its head says that pressing does: "Price: activate to sort".
    if role == "columnheader" {
        return NameMeaning::Reads;
    }
    // Titles are links, and rows may be long.
    let is_title = role == "link" && all.len() > 4;
    if is_title {
        return NameMeaning::Nothing;
    }
    label_meaning(&all)
}

/// What any form or filter says of itself.
const PLAIN: &[&str] = &[
    "apply", "change", "clear", "close", "copy", "edit", "execute", "reset", "run", "set", "start",
    "submit", "update",
];

fn label_meaning(all: &[String]) -> NameMeaning {
    // "Bulk retrieve vendors".
    let is_many =
        all.len() > 2 && matches!(&*all[0], "batch" | "bulk") && is_question_word(&all[1]);
    let all = if is_many { &all[1..] } else { all };
    let Some((first, last)) = all.first().zip(all.last()) else { return NameMeaning::Nothing };
    let changes = |word: &String| NameMeaning::Changes(word.clone());
    let joins = |it: &String| matches!(it.as_str(), "and" | "or" | "then");
    let also = all.iter().position(joins).and_then(|at| all.get(at + 1));
    // "Fetch and resolve".
    if let Some(word) =
        also.filter(|it| (is_action_verb(it) || is_in_lists(it, &[BOTH])) && *it != "resolve")
    {
        return changes(word);
    }
    // Of a form in steps these send what was filled in.
    if all.len() == 1 && matches!(first.as_str(), "back" | "next" | "prev" | "previous" | "more") {
        return NameMeaning::Nothing;
    }
    // "Run query".
    let runs = matches!(first.as_str(), "execute" | "go" | "run" | "start" | "submit");
    if runs && all.len() == 2 && is_in_lists(last, &[ASKS]) {
        return NameMeaning::Reads;
    }
    // "Get started", "Select plan".
    let is_weak = matches!(
        first.as_str(),
        "get" | "select" | "load" | "is" | "has" | "head" | "scan" | "info" | "status" | "read"
    );
    let is_shown = all.iter().skip(1).any(|it| is_in_lists(it, &[UI, ASKS, READING]));
    if is_question_word(first) && (!is_weak || is_shown) || is_in_lists(first, &[UI]) {
        return NameMeaning::Reads;
    }
    if is_weak {
        return NameMeaning::Nothing;
    }
    if adjusts_view(all, false) {
        return NameMeaning::Reads;
    }
    // What any form or filter says; "Edit" opens an editor.
    if first == "edit" {
        return NameMeaning::Nothing;
    }
    if all.len() == 1 && is_in_lists(first, &[PLAIN]) {
        return NameMeaning::Nothing;
    }
    if is_in_lists(first, &[BOTH]) {
        let is_noun = all.get(1).is_some_and(|it| {
            is_in_lists(it, &[HEADS, VIEWS]) || is_question_word(it) || it == "by"
        });
        return if is_noun && is_question_word(last) {
            NameMeaning::Reads
        } else if is_noun {
            NameMeaning::Nothing
        } else {
            changes(first)
        };
    }
    if is_action_verb(first) || is_strong(first) || is_in_lists(first, &[ALSO]) {
        return changes(first);
    }
    if is_question_word(last) || is_in_lists(last, &[UI]) {
        return NameMeaning::Reads;
    }
    // "Yes, delete it", "One-click buy".
    let most = all.len() <= 6;
    all.iter()
        .find(|it| most && (is_change(it) || matches!(it.as_str(), "buy" | "pay" | "checkout")))
        .map_or(NameMeaning::Nothing, changes)
}

/// What a task sentence says, by the verb that it begins with.
pub fn task_meaning(task: &str) -> NameMeaning {
    if is_read_task(task) {
        return NameMeaning::Reads;
    }
    let all: Vec<String> = words_without_numbers(task).into_iter().take(12).collect();
    let polite =
        |it: &&String| matches!(it.as_str(), "please" | "now" | "then" | "go" | "to" | "the");
    let skip = all.iter().take_while(polite).count();
    match label_meaning(&all[skip..]) {
        NameMeaning::Changes(word) => NameMeaning::Changes(word),
        _ => NameMeaning::Nothing,
    }
}

/// Whether a task asks for something: it begins by asking to see, or names what is wanted ("departures from the station").
pub fn asks_for_data(task: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "above", "after", "at", "before", "below", "between", "by", "called", "for", "from", "in", "named", "near", "of", "on", "per", "since", "that", "under", "which",
        "whose", "within", "without",
    ];
    // No command begins with these: "my orders", "the price of tea".
    const DETERMINERS: &[&str] =
        &["a", "an", "every", "my", "our", "the", "their", "these", "this"];
    // "Every mail as read", "lamps into the basket" are commands without a verb.
    const DIRECTIONS: &[&str] = &["as", "back", "into", "off", "onto"];
    // A question in words: "is the shop open", and not "can you close it".
    const ASKING: &[&str] =
        &["am", "are", "did", "does", "has", "have", "is", "may", "was", "were", "why"];
    const ACTS: &[&str] = &["a", "an", "the", "my", "this", "all", "me", "it", "up", "out"];
    const VERBS: &[&str] = &[
        "choose", "enter", "fill", "give", "join", "keep", "leave", "let", "load", "make", "pick",
        "play", "put", "record", "store", "take", "tell", "try", "turn", "use",
    ];
    let words: Vec<String> = task.split_whitespace().map(str::to_lowercase).collect();
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|it| is_in_lists(it, &[list]));
    // "orders", "prices of lamps": no verb ends so.
    let is_plural = |at: usize| {
        words.get(at).is_some_and(|it| {
            it.len() > 3
                && it.ends_with('s')
                && !["ss", "us", "is"].iter().any(|end| it.ends_with(end))
        })
    };
    let is_moved = words.iter().any(|it| is_in_lists(it, &[DIRECTIONS]));
    let is_question = is(0, ASKING) && !words.iter().any(|it| it == "you" || it == "please");
    is_read_task(task)
        || self::task_meaning(task) == NameMeaning::Nothing
            && (is(1, NAMES)
                || is(2, NAMES) && !is(1, ACTS)
                || is_question
                || (is_plural(0) || is(0, DETERMINERS)) && !is_moved)
            && !is(0, VERBS)
}

/// The task sentence begins by asking to see something, and asks for no change after an "and" or a "then".
pub fn is_read_task(task: &str) -> bool {
    const SEE: &[&str] = &[
        "search",
        "find",
        "list",
        "show",
        "get",
        "look",
        "see",
        "count",
        "autocomplete",
        "suggest",
        "fetch",
        "browse",
        "view",
        "display",
        "read",
        "check",
        "compare",
        "what",
        "which",
        "how",
        "when",
        "where",
        "top",
        "geocode",
        "open",
        "watch",
        "who",
        "whose",
        "preview",
        "download",
        "export",
        "translate",
        "convert",
        "resolve",
        "locate",
    ];
    let lower = task.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let also = words.windows(2).filter(|it| matches!(it[0], "and" | "then")).map(|it| it[1]);
    words.first().is_some_and(|it| SEE.contains(it))
        && !also.into_iter().any(|it| {
            it != "resolve"
                && (matches!(operation_meaning(it), NameMeaning::Changes(_))
                    || is_in_lists(it, &[BOTH]))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(all: &[(&str, &str)], said: impl Fn(&str) -> NameMeaning) -> Vec<String> {
        let told = |it: &NameMeaning| match it {
            NameMeaning::Reads => "reads",
            NameMeaning::Changes(_) => "changes",
            NameMeaning::Nothing => "nothing",
        };
        let wrong = all.iter().filter(|(name, expected)| told(&said(name)) != *expected);
        wrong.map(|(name, _)| format!("{name}: {:?}", said(name))).collect()
    }

    #[test]
    fn nouns_of_operations_are_no_verbs() {
        let all = [
            ("order_book", "nothing"),
            ("orderBook", "nothing"),
            ("market.order_book", "nothing"),
            ("book_orders", "nothing"),
            ("orders", "nothing"),
            ("orders.list", "reads"),
            ("getOrderBook", "reads"),
            ("get_cart_items", "reads"),
            ("firms.find", "reads"),
            ("DynamoDB_20120810.Query", "reads"),
            ("pkg.Books/ListBooks", "reads"),
            ("\"http://tempuri.org/IShop/GetPrices\"", "reads"),
            ("getCancelReasons", "reads"),
            ("eth_getBalance", "reads"),
            ("search_read", "reads"),
            ("itemLookup", "reads"),
            ("btnSearch", "reads"),
            ("runQuery", "reads"),
            ("batchGet", "reads"),
            ("order.place", "changes"),
            ("Shop.PlaceOrder", "changes"),
            ("cart.put", "changes"),
            ("bookRoom", "changes"),
            ("rateProduct", "changes"),
            ("findAndModify", "changes"),
            ("getOrCreate", "changes"),
            ("search_delete", "changes"),
            ("itemDelete", "changes"),
            ("products_add_to_cart", "changes"),
            ("btnBuy", "changes"),
            ("buy17", "changes"),
            ("onSave", "changes"),
            ("markAsRead", "changes"),
            ("mark_read", "changes"),
            ("user.logout", "changes"),
            ("7f3a9c0de1", "nothing"),
            ("frontend_data", "nothing"),
        ];
        assert_eq!(wrong(&all, operation_meaning), Vec::<String>::new());
    }

    #[test]
    fn what_a_label_says() {
        let all = [
            ("Search", "reads"),
            ("Find orders", "reads"),
            ("Order lookup", "reads"),
            ("Book search", "reads"),
            ("Show more", "reads"),
            ("Next", "nothing"),
            ("Next page", "reads"),
            ("Clear filters", "reads"),
            ("Update results", "reads"),
            ("Apply", "nothing"),
            ("Go", "nothing"),
            ("Submit", "nothing"),
            ("Order history", "reads"),
            ("Order book", "nothing"),
            ("Books", "nothing"),
            ("Buy next", "changes"),
            ("Add to cart", "changes"),
            ("Delete my account", "changes"),
            ("Place order", "changes"),
            ("Order", "changes"),
            ("Book now", "changes"),
            ("Yes, delete it", "changes"),
            ("Search and delete", "changes"),
            ("Save search", "changes"),
            ("Send", "changes"),
            ("Pay $12.50", "changes"),
        ];
        assert_eq!(wrong(&all, |it| control_meaning("button", it)), Vec::<String>::new());
        assert_eq!(control_meaning("textbox", "Order number"), NameMeaning::Nothing);
        assert_eq!(control_meaning("searchbox", "Orders"), NameMeaning::Reads);
        assert!(matches!(control_meaning("textbox", "Message"), NameMeaning::Changes(_)));
        assert_eq!(
            control_meaning("link", "How to delete an account for good"),
            NameMeaning::Nothing
        );
    }

    #[test]
    fn what_a_task_says() {
        let all = [
            ("Find books about rust", "reads"),
            ("Order 2 lamps", "changes"),
            ("Order book of BTC", "nothing"),
            ("Delete my account x", "changes"),
            ("Please buy a lamp", "changes"),
            ("Prices of lamps", "nothing"),
        ];
        assert_eq!(wrong(&all, task_meaning), Vec::<String>::new());
    }
}
