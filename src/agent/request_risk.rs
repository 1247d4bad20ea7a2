//! How much hangs on a request: whether a question that some program may answer by itself is enough to let it go.
//!
//! A question that a client puts, and a button in a chat, prove no person: there are clients that say yes by themselves. So only what is
//! known to be small passes there, and all else needs the dashboard or a terminal. Small is what says so (one of the last two segments of
//! its path has a word of [`SMALL`]; what a button is called, others may have written) and says nothing else: no amount, no secret, no
//! long text, no word of [`HEAVY`] in it or on what was pressed, and no method but POST, PUT and PATCH. In doubt it is not small. A site
//! that moves money at `/star` is not told from one that does not.

use super::{ApprovalRequest, amounts, render::RenderedRequest};

/// What people take back with the next press.
#[rustfmt::skip]
const SMALL: &[&str] = &[
    "bag", "basket", "bookmark", "bookmarks", "cart", "draft", "drafts", "fave", "favorite", "favorites",
    "favourite", "favourites", "follow", "language", "like", "likes", "mute", "pin", "pins", "read", "seen",
    "star", "stars", "theme", "unfave", "unfollow", "unlike", "unmute", "unpin", "unread", "unstar",
    "unwatch", "watch", "watchlist", "wishlist",
];

/// Where one of these begins a word, it is not.
#[rustfmt::skip]
const HEAVY: &[&str] = &[
    // Money.
    "amount", "bank", "bid", "bill", "book", "buy", "card", "cash", "charge", "checkout", "coupon", "cost", "credit",
    "currency", "debit", "deposit", "donat", "fund", "gift", "hire", "iban", "invoice", "lease", "money", "order",
    "pay", "price", "purchas", "rent", "reorder", "reserv", "sell", "sold", "spend", "subscri", "sum", "tip",
    "total", "trade", "transfer", "voucher", "wire", "withdraw",
    // An end, or something that others have seen by then.
    "accept", "agree", "apply", "approv", "archiv", "ban", "block", "cancel", "clear", "clos", "comment", "commit",
    "complet", "confirm", "consent", "contract", "deactivat", "delet", "deploy", "destroy", "disabl", "discard",
    "drop", "email", "empt", "eras", "execut", "finish", "forward", "grant", "install", "invit", "kill", "leav",
    "logout", "mail", "merg", "messag", "overwrit", "permission", "plac", "post", "privileg", "publish", "purg",
    "quit", "reject", "releas", "remov", "reply", "report", "reset", "resign", "restart", "review", "revok", "role",
    "run", "send", "shar", "ship", "shutdown", "sign", "stop", "submit", "suspend", "terminat", "trash",
    "uninstall", "unsubscri", "upload", "verif", "vote", "wip",
    // Who somebody is, and what they get in with.
    "2fa", "access", "account", "address", "admin", "auth", "config", "key", "login", "mfa", "member", "otp", "passw",
    "phone", "preferenc", "profile", "secret", "secur", "setting", "token", "user",
    // The same in other languages.
    "abonn", "achet", "annul", "anular", "bestell", "bezahl", "borrar", "buch", "compr", "eliminar",
    "kauf", "kuend", "künd", "loesch", "lösch", "pagar", "payer", "storn", "supprim", "ueberweis", "verkauf",
    "versend", "überweis", "zahl",
];

/// A value of more characters is a text that somebody wrote.
const LONG: usize = 120;

/// Why it is not small; `None` where it is.
pub fn heavy(it: &ApprovalRequest) -> Option<String> {
    let request = &it.request;
    if !matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
        return Some(format!("{} is no small change", request.method));
    }
    if request.lines.iter().any(|it| it.hidden) {
        return Some("it carries a secret".to_owned());
    }
    if request.lines.iter().any(|it| it.value.chars().count() > LONG) {
        return Some("it carries a text".to_owned());
    }
    if let Some(it) = amounts(&request.text()).first() {
        return Some(format!("it names {it}"));
    }
    let pressed = it.element.as_ref().map(|it| it.name.as_str()).unwrap_or_default();
    if let Some(word) = texts(request).chain([pressed.to_owned()]).find_map(|it| first(&it)) {
        return Some(format!("it is about `{word}`"));
    }
    let path = decoded(&request.path);
    let ends = path.rsplit('/').filter(|it| !it.is_empty()).take(2);
    let is_small = ends.flat_map(words).any(|it| SMALL.contains(&&*it));
    (!is_small).then(|| "it is not known to be small".to_owned())
}

/// Everything in it that says what is done.
fn texts(it: &RenderedRequest) -> impl Iterator<Item = String> {
    let lines = it.lines.iter().flat_map(|it| [decoded(&it.name), decoded(&it.value)]);
    lines.chain([decoded(&it.path)])
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The first word of it that weighs.
fn first(text: &str) -> Option<&'static str> {
    let known = |word: &String| !SMALL.contains(&word.as_str());
    let begins = |word: String| HEAVY.iter().copied().find(|it| word.starts_with(it));
    words(text).filter(known).find_map(begins)
}

/// In small letters; `addToCart` has three.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut was_small = false;
    for it in text.chars() {
        if !it.is_alphanumeric() || was_small && it.is_uppercase() {
            out.push(std::mem::take(&mut word));
        }
        was_small = it.is_lowercase();
        if it.is_alphanumeric() {
            word.extend(it.to_lowercase());
        }
    }
    out.push(word);
    out.into_iter().filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ApprovalDraft, Element, PageInfo, PausedRequest, RenderOutcome, body_fields::FieldLocation,
        render::render,
    };

    const FORM: &str = "application/x-www-form-urlencoded";

    fn pending(method: &str, url: &str, body: &str, pressed: &str) -> ApprovalRequest {
        let kind = if body.starts_with('{') { "application/json" } else { FORM };
        let headers = match body {
            "" => Vec::new(),
            _ => vec![("Content-Type".to_owned(), kind.to_owned())],
        };
        let held = PausedRequest {
            id: "1".to_owned(),
            method: method.to_owned(),
            url: url.to_owned(),
            headers,
            body: (!body.is_empty()).then(|| body.as_bytes().to_vec()),
            is_opaque: false,
            why: String::new(),
            cookies: Vec::new(),
        };
        let RenderOutcome::Whole(request) = render(&held, None) else { panic!("{held:?}") };
        let draft = ApprovalDraft {
            principal: "root".to_owned(),
            run: "r1".to_owned(),
            request,
            // A price stands on every page of a shop.
            page: PageInfo { url: url.to_owned(), title: "€3".to_owned(), digest: String::new() },
            element: Some(Element { role: "button".to_owned(), name: pressed.to_owned() }),
            amounts: Vec::new(),
            picture: None,
            history: Vec::new(),
        };
        draft.into_pending("0123456789abcdef".to_owned(), "0".repeat(32), 0)
    }

    #[test]
    fn only_what_says_that_it_is_small_is_small() {
        let check = |method: &str, path: &str, body: &str, pressed: &str, why: &str| {
            let it = pending(method, &format!("https://a.test{path}"), body, pressed);
            let said = heavy(&it).unwrap_or_default();
            assert_eq!(said, why, "{method} {path} {body} {pressed}");
        };
        check("POST", "/items/17/star", "", "Star", "");
        check("PUT", "/lists/3/bookmarks", "", "Keep", "");
        check("POST", "/cart/items", "item=17&qty=1", "Add to basket", "");
        check("POST", "/api/addToCart", r#"{"sku":"K-17"}"#, "Add", "");
        check(
            "PATCH",
            "/mail-less/drafts/3",
            r#"{"subject":"Hello"}"#,
            "Keep",
            "it is about `mail`",
        );
        check("PATCH", "/notes/drafts/3", r#"{"subject":"Hello"}"#, "Keep", "");

        check("DELETE", "/items/17/star", "", "Star", "DELETE is no small change");
        check("GET", "/items/17/star", "", "Star", "GET is no small change");
        check("POST", "/items/17", "", "Go on", "it is not known to be small");
        // Whoever writes in a forum may name a button.
        check("POST", "/x7", "id=17", "Follow", "it is not known to be small");
        check("POST", "/star/blog/x7", "id=17", "Star", "it is not known to be small");
        check("POST", "/star/settings", "on=0", "Star", "it is about `setting`");
        check(
            "POST",
            "/graphql",
            r#"{"query":"mutation { star }"}"#,
            "",
            "it is not known to be small",
        );
        check("POST", "/cart/checkout", "", "Go on", "it is about `checkout`");
        check("POST", "/cart/items", "item=17", "Buy now", "it is about `buy`");
        check("POST", "/cart/items", "item=17&payment=card", "Add", "it is about `pay`");
        check("POST", "/cart", "action=placeOrder", "Add", "it is about `plac`");
        check("POST", "/cart/%64elete", "", "Add", "it is about `delet`");
        check("POST", "/star?then=transferAll", "", "Star", "it is about `transfer`");
        check("POST", "/like", "do=l%C3%B6schen", "Like", "it is about `lösch`");
        check("POST", "/cart", "worth=%E2%82%AC69.88", "Add", "it names 69.88 EUR");
        check("POST", "/drafts", "password=correct-horse-9", "Keep", "it carries a secret");
        let long = format!("body={}", "word+".repeat(40));
        check("POST", "/drafts", &long, "Keep", "it carries a text");
    }

    #[test]
    fn a_name_is_looked_at_as_well_as_a_value() {
        let mut it = pending("POST", "https://a.test/star", "n=1", "Star");
        assert_eq!(heavy(&it), None);
        it.request.lines[0].name = "refund[total]".to_owned();
        assert_eq!(heavy(&it).unwrap(), "it is about `total`");
        it.request.lines[0].place = FieldLocation::Header;
        it.request.lines[0].name = "x-http-method-override".to_owned();
        it.request.lines[0].value = "\"DELETE\"".to_owned();
        assert_eq!(heavy(&it).unwrap(), "it is about `delet`");
    }
}
