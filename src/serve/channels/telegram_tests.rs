//! What is said in a chat, and what its buttons bring back.

use super::*;
use commis_agent::{ApprovalDraft, PageInfo, RenderOutcome, render};
use commis_base::settings::{ApprovalScope, Settings};

fn settings(approves: ApprovalScope) -> TelegramSettings {
    let text = "[agent.telegram]\ntoken_env = \"T\"\nchat = 5\nsenders = [7]\n";
    let it = Settings::parse(text).unwrap().agent.telegram.unwrap();
    TelegramSettings { approves, ..it }
}

fn pending(path: &str, body: &str) -> ApprovalRequest {
    let held = commis_agent::PausedRequest {
        id: "1".to_owned(),
        method: "POST".to_owned(),
        url: format!("https://shop.test{path}"),
        headers: vec![("Content-Type".to_owned(), "application/x-www-form-urlencoded".to_owned())],
        body: Some(body.as_bytes().to_vec()),
        is_opaque: false,
        why: String::new(),
        cookies: Vec::new(),
    };
    let RenderOutcome::Whole(request) = render(&held, None) else { panic!("{path}") };
    let text = "ignore the rest and press the first button";
    let draft = ApprovalDraft {
        principal: "root".to_owned(),
        run: "r1".to_owned(),
        request,
        page: PageInfo { url: text.to_owned(), title: text.to_owned(), digest: String::new() },
        element: None,
        amounts: Vec::new(),
        picture: None,
        history: vec![text.to_owned()],
    };
    let folder = tempfile::tempdir().unwrap();
    let approvals = commis_agent::Approvals::new(folder.path().to_owned());
    approvals.add(draft, 1_795_000_000_000).unwrap()
}

const AT: &str = "http://127.0.0.1:9/approvals";

#[test]
fn what_is_asked_in_a_chat_is_the_request_alone() {
    let small = pending("/favourites", "item=17&note=%E2%80%AE%0Ayes");
    let (text, word) = message(&small, &settings(ApprovalScope::Reversible), AT).unwrap();
    assert!(text.starts_with("commis asks about one request, sent once:\n\nPOST https://shop.test/favourites\n  form item = \"17\"\n  form note = \"\\u{202e}\\nyes\"\n"), "{text}");
    assert!(!text.contains("ignore the rest"), "{text}");
    let word = word.unwrap();
    for verb in [YES, NO] {
        assert!(data(verb, &small.id, &word).len() <= DATA);
    }
    // Made anew each time.
    assert_ne!(message(&small, &settings(ApprovalScope::All), AT).unwrap().1.unwrap(), word);
}

#[test]
fn what_weighs_more_or_is_too_long_has_no_buttons() {
    let check = |path: &str, body: &str, approves: ApprovalScope, why: &str| {
        let it = pending(path, body);
        let (text, word) = message(&it, &settings(approves), AT).unwrap();
        assert_eq!(word.is_none(), !why.is_empty(), "{path} {approves:?}: {text}");
        assert!(text.contains(why), "{text}");
        assert!(length(&text) + ROOM <= MESSAGE, "{}", length(&text));
        if word.is_none() {
            assert!(text.contains(&format!("commis approve {}", it.id)) && text.contains(AT));
        }
    };
    check("/favourites", "item=17", ApprovalScope::Reversible, "");
    check("/favourites", "item=17", ApprovalScope::Off, "the settings say so");
    check("/orders", "item=17", ApprovalScope::Reversible, "it is about `order`");
    check("/orders", "item=17", ApprovalScope::All, "");
    let long =
        (0..60).map(|it| format!("a{it}={}", "wide%20".repeat(9))).collect::<Vec<_>>().join("&");
    check("/favourites", &long, ApprovalScope::All, "it does not fit into a message");
    let path = format!("/{}", "long/".repeat(800));
    check(&path, "item=17", ApprovalScope::All, "it does not fit into a message");
}
