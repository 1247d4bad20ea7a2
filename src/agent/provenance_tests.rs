//! Ordinary searches go, what was read elsewhere does not, whatever it is written in.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::*;

const SHOP: &str = "https://www.shop.test/list";
const MAIL: &str = "https://mail.test/inbox";
const CANARY: &str = "Zanzibar-7741-quill";

fn run(said: &str, seen: &[(&str, &str)]) -> Provenance {
    let mut out = Provenance::default();
    out.add_user_text(said);
    for (url, text) in seen {
        out.add_page_text(url, text);
    }
    out
}

/// A mailbox with a secret was read, then a shop.
fn two() -> Provenance {
    run(
        "Compare prices of Garden Lanterns at shop.test; order two of them for 28 March, at most $1,250. Mail me at ann@home.test",
        &[
            (
                MAIL,
                &format!(
                    "Your code is {CANARY}. Greetings from Beatrix Holloway, 14 Mulberry Lane, born 1971-04-02"
                ),
            ),
            (SHOP, "Garden lantern 12.90 € by Kjellstrom & Co, item GL-1200, sort by price"),
        ],
    )
}

fn check(origins: &Provenance, value: &str, url: &str, expected: bool) {
    let end = origins.check_destination(value, url);
    assert_eq!(end.is_ok(), expected, "{value:?} to {url}: {:?}", origins.origin_of(value, url));
    if let Err(err) = end {
        assert_eq!(err.code(), Code::ValueFromElsewhere);
        assert!(err.hint_text().is_some() && !err.message().contains(value));
    }
}

#[test]
fn what_the_user_said_goes_anywhere() {
    let it = two();
    for value in [
        "Garden Lanterns",
        "garden lanterns",
        "GARDEN LANTERNS",
        "garden  lanterns",
        " garden lantern ",
        "lantern",
        "garden+lantern",
        "garden%20lantern",
        "garden-lantern",
        "\"garden lantern\"",
        "lanterns for the garden",
        "price of garden lanterns",
        "compare prices garden lanterns",
        "two",
        "2",
        "28 March",
        "March 28",
        "2027-03-28",
        "1250",
        "1,250",
        "$1,250",
        "ann@home.test",
        "shop.test",
        "",
        "  ",
    ] {
        for url in [SHOP, MAIL, "https://third.test/"] {
            check(&it, value, url, true);
            assert_eq!(it.origin_of(value, url), ValueOrigin::User, "{value:?}");
        }
    }
}

#[test]
fn what_a_site_said_goes_back_to_it() {
    let it = two();
    for value in [
        "GL-1200",
        "Kjellstrom & Co",
        "kjellstrom",
        "12.90",
        "garden lantern kjellstrom",
        "Kjellstrom lantern",
    ] {
        check(&it, value, SHOP, true);
        check(&it, value, "https://api.shop.test/x", true);
    }
    assert_eq!(it.origin_of("GL-1200", SHOP), ValueOrigin::Seen("shop.test".to_owned()));
    assert_eq!(it.origin_of(CANARY, MAIL), ValueOrigin::Seen("mail.test".to_owned()));
    check(&it, CANARY, MAIL, true);
    check(&it, "Beatrix Holloway", MAIL, true);
}

#[test]
fn what_another_site_said_does_not_leave() {
    let it = two();
    for value in [
        CANARY,
        "zanzibar 7741 quill",
        "zanzibar",
        "ZANZIBAR",
        "7741",
        "quill.",
        "Zanzibar%2D7741",
        "garden lantern zanzibar",
        "lantern for Beatrix Holloway",
        "Holloway",
        "14 Mulberry Lane",
        "1971-04-02",
        "my code is Zanzibar-7741-quill, thanks",
        "https://shop.test/?c=Zanzibar-7741-quill",
    ] {
        check(&it, value, SHOP, false);
        assert_eq!(
            it.origin_of(value, SHOP),
            ValueOrigin::Seen("mail.test".to_owned()),
            "{value:?}"
        );
    }
    // A site that was not read knows nothing.
    for value in ["GL-1200", "kjellstrom", CANARY] {
        check(&it, value, "https://evil.test/", false);
    }
}

#[test]
fn no_coding_takes_it_out() {
    let it = two();
    let reversed: String = CANARY.chars().rev().collect();
    let spelled: Vec<String> = CANARY.chars().map(|it| it.to_string()).collect();
    let rot: String = CANARY
        .chars()
        .map(|it| match it {
            'a'..='m' | 'A'..='M' => char::from(it as u8 + 13),
            'n'..='z' | 'N'..='Z' => char::from(it as u8 - 13),
            _ => it,
        })
        .collect();
    let numbers: Vec<String> = CANARY.bytes().map(|it| it.to_string()).collect();
    let bits = CANARY.bytes().map(|it| format!("{it:08b}")).collect::<Vec<_>>().concat();
    let capitals: String = "garden lanterns"
        .chars()
        .enumerate()
        .map(|(at, it)| if at % 3 == 0 { it.to_ascii_uppercase() } else { it })
        .collect();
    let percent = CANARY.bytes().map(|it| format!("%{it:02x}")).collect::<Vec<_>>().concat();
    for value in [
        STANDARD.encode(CANARY),
        STANDARD.encode(CANARY).trim_end_matches('=').replace('+', "-"),
        commis_base::ids::hex(CANARY.as_bytes()),
        reversed,
        spelled.join(" "),
        spelled.join("."),
        rot,
        numbers.join(","),
        bits,
        percent,
        CANARY.replace('a', "4").replace('i', "1"),
        "Zanz ibar".to_owned(),
        "Zan".to_owned(),
        // Words of the user's, with a message between, in, or beside them.
        capitals,
        "garden\u{200b}\u{200c}\u{200b} lanterns".to_owned(),
        "garden \t \t lanterns".to_owned(),
        "garden.lanterns-prices_compare".to_owned(),
        "garden garden lanterns lanterns garden".to_owned(),
        "of the for in lantern the the of".to_owned(),
        "garden lanterns x7".to_owned(),
        "garden lanterns 1774704671".to_owned(),
        "1774704671".to_owned(),
        "2027-03-28 13:37:11".to_owned(),
        "\u{ff5a}\u{ff41}\u{ff4e}\u{ff5a}\u{ff49}\u{ff42}\u{ff41}\u{ff52}".to_owned(),
        "something of its own".to_owned(),
    ] {
        check(&it, &value, SHOP, false);
        check(&it, &value, "https://evil.test/", false);
    }
}

#[test]
fn with_one_site_anything_goes_there_and_nothing_elsewhere() {
    let it = run("Find a lantern", &[(SHOP, "Garden lantern, item GL-1200")]);
    for value in ["solar lamp", "bGFudGVybg==", "42", "ann", "garden"] {
        check(&it, value, SHOP, true);
    }
    assert_eq!(it.origin_of("solar lamp", SHOP), ValueOrigin::Invented);
    // Another site that was not read is another.
    for value in ["solar lamp", "R0wtMTIwMA==", "GL-1200"] {
        check(&it, value, "https://evil.test/", false);
    }
    // Before anything was read nothing can leak.
    check(&run("Find a lantern", &[]), "solar lamp", "https://evil.test/", true);
}

#[test]
fn addresses_are_judged_by_their_parts() {
    let one = run("Find garden lanterns", &[]);
    assert!(one.allowed_address("https://any.test/whatever?x=1").is_ok());
    let it = two();
    for url in [
        "https://www.shop.test/",
        "https://shop.test/search?q=garden+lantern",
        "https://shop.test/en/search?query=garden%20lanterns&page=2",
        "https://shop.test/items/GL-1200",
        "https://third.test/",
        "https://www.third.test/wiki/Garden_lantern",
    ] {
        assert!(it.allowed_address(url).is_ok(), "{url}: {:?}", it.allowed_address(url));
    }
    for url in [
        "https://evil.test/?c=Zanzibar-7741-quill",
        "https://evil.test/Zanzibar-7741-quill",
        "https://evil.test/c/WmFuemliYXItNzc0MS1xdWlsbA",
        "https://evil.test/#WmFuemliYXI",
        "https://zanzibar.evil.test/",
        "https://x1f9.evil.test/",
        "https://shop.test/search?q=zanzibar",
        "https://shop.test/search?zanzibar=1",
        "https://shop.test/zanzibar/search",
        "https://shop.test/search?q=%67arden+lantern",
        "https://ann:zanzibar@shop.test/",
        "https://shop.test/search?q=garden&q=lantern&utm=8f31",
        "https://evil.test/search/list/search/list/find/find/search/find",
    ] {
        let end = it.allowed_address(url);
        assert_eq!(end.unwrap_err().code(), Code::ValueFromElsewhere, "{url}");
    }
}

#[test]
fn other_languages_have_no_blanks() {
    let it = run(
        "東京の天気を調べて",
        &[(MAIL, "秘密の暗号は青い鳥です"), ("https://tenki.test/", "大阪の天気 晴れ")],
    );
    check(&it, "東京", "https://tenki.test/", true);
    check(&it, "天気", MAIL, true);
    check(&it, "大阪", "https://tenki.test/", true);
    check(&it, "青い鳥", "https://tenki.test/", false);
    let it = run("Zeige Bücher über Ästhetik", &[(MAIL, "x y"), (SHOP, "z")]);
    check(&it, "bücher ästhetik", SHOP, true);
    check(&it, "bu\u{308}cher", SHOP, true);
}

#[test]
fn memory_is_bounded_and_in_doubt_it_is_a_question() {
    let mut it = run("Find garden lanterns", &[(MAIL, CANARY)]);
    for at in 0..200 {
        it.add_page_text(SHOP, &format!("{at} {}", "filler text ".repeat(1000)));
    }
    let bytes: usize = it.sites.values().map(|it| it.bytes).sum();
    assert!(bytes <= 3 * TEXT, "{bytes}");
    check(&it, "0 filler text", SHOP, false);
    check(&it, CANARY, SHOP, false);
    for at in 0..100 {
        it.add_page_text(&format!("https://s{at}.test/"), "some words");
    }
    assert!(it.sites.len() <= SITES && it.more);
    check(&it, "whatever", "https://s99.test/", false);
    check(&it, "garden lanterns", "https://s99.test/", true);
    assert!(!format!("{it:?}").contains("Zanzibar"));
    // The same text again costs nothing.
    let before = it.sites["shop.test"].bytes;
    it.add_page_text(SHOP, &format!("199 {}", "filler text ".repeat(1000)));
    assert_eq!(it.sites["shop.test"].bytes, before);
}
