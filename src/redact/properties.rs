//! What holds for any document: nothing planted stays, nothing harmless goes, twice is once.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use url::Url;

use super::{tests::forms, *};
use commis_base::settings::RedactSettings;

/// A value that is secret by its shape and long enough to be looked for.
fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z0-9]{24,40}[0-9][A-Z][0-9]",
        "[0-9a-f]{40}",
        "[A-Za-z0-9/+]{20,30}[0-9]/=\"&<",
        "sk_live_[A-Za-z0-9]{24}[0-9]",
    ]
}

/// Words, numbers and identifiers: what answers are made of.
fn harmless() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("lantern of brass")),
        Just(json!("e8e4df51-2054-49b0-ab1c-516ac95c691d")),
        Just(json!("d7db0ec3334230608d45644926b269c100305171")),
        Just(json!("https://shop.example/p/red-lamp-1?page=2&sort=-price")),
        Just(json!("2024-03-01T12:34:56.789012Z")),
        Just(json!("spring_sale_2024_retargeting")),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "title",
        "items",
        "id",
        "author",
        "max_tokens",
        "sort_key",
        "keyword",
        "data",
        "n[a-z]{0,3}"
    ]
    .prop_map(|it| it)
}

fn document() -> impl Strategy<Value = Value> {
    harmless().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((key(), inner), 0..5)
                .prop_map(|it| Value::Object(it.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Places for a secret: under a telling name and, in one of its forms, inside the leaves that `picks` hits.
fn plant(value: &mut Value, forms: &[String], picks: &mut impl Iterator<Item = usize>) {
    match value {
        Value::String(text) => {
            let pick = picks.next().unwrap_or(0);
            if pick.is_multiple_of(3) {
                *text = format!("{text} {} and more", forms[pick / 3 % forms.len()]);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|it| plant(it, forms, picks)),
        Value::Object(all) => all.values_mut().for_each(|it| plant(it, forms, picks)),
        _ => {}
    }
}

fn both_passes(value: &mut Value, place: Place) -> Redactor {
    let mut it = Redactor::new(&RedactSettings::default());
    it.json(value, place);
    it.write();
    it.json(value, place);
    it
}

#[test]
fn what_stands_for_a_secret_names_no_other_value() {
    let label = "2024-03-01T12:34:56.789012Z [REDACTED:access_token] and more";
    let redacted = json!([[[label, "e8e4df51-2054-49b0-ab1c-516ac95c691d"]], {"access_token": "[REDACTED:access_token]"}]);
    let mut copy = redacted.clone();
    both_passes(&mut copy, Place::Json);
    assert_eq!(copy, redacted);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_planted_secret_stays_in_no_form(
        mut document in document(), secret in secret(), picks in prop::collection::vec(0_usize..90, 40), deep in 0..4,
    ) {
        let forms = forms(&secret);
        plant(&mut document, &forms, &mut picks.into_iter());
        let mut known = json!({"session": {"access_token": secret}});
        for i in 0..deep {
            known = match i % 3 {
                0 => json!({"inner": known.to_string()}),
                1 => json!({"body": format!("a=1&json={}", encode::percent(&known.to_string()))}),
                _ => json!([known]),
            };
        }
        let mut whole = json!([document, known]);
        both_passes(&mut whole, Place::Json);
        let text = whole.to_string();
        for form in &forms {
            prop_assert!(!text.contains(form.as_str()), "{form} in {text}");
        }
    }

    #[test]
    fn harmless_documents_stay_as_they_are(document in document()) {
        for place in [Place::Json, Place::Answer] {
            let mut copy = document.clone();
            let redactor = both_passes(&mut copy, place);
            prop_assert_eq!(&copy, &document);
            prop_assert_eq!(redactor.removed().total(), 0);
        }
    }

    #[test]
    fn twice_is_once(
        mut document in document(), secret in secret(), name in "(token|api_key|title|code|key|q|x-auth|next)",
        picks in prop::collection::vec(0_usize..90, 40),
    ) {
        plant(&mut document, &forms(&secret), &mut picks.into_iter());
        let url = format!("https://a.example/in/{}?{name}={}#access_token={0}", encode::percent(&secret), encode::percent(&format!("x{secret}")));
        let mut whole = json!([document, {"access_token": secret}, {name: format!("{secret}-2")}, {"url": url}]);
        both_passes(&mut whole, Place::Json);
        let once = whole.clone();
        both_passes(&mut whole, Place::Json);
        prop_assert_eq!(whole, once);
    }

    #[test]
    fn addresses_stay_addresses(
        path in "(/[a-z0-9%._~-]{0,12}){0,3}", pairs in prop::collection::vec(("[a-z_]{1,8}|token|sig", "[ -~]{0,30}"), 0..4),
        secret in secret(), fragment in "[a-z=&]{0,10}",
    ) {
        let query: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).append_pair("access_token", &secret).finish();
        let text = format!("https://a.example{path}?{query}#{fragment}");
        prop_assume!(Url::parse(&text).is_ok());
        let mut it = Redactor::new(&RedactSettings::default());
        it.url(&text);
        it.write();
        let new = it.url(&text).unwrap();
        let (old, new) = (Url::parse(&text).unwrap(), Url::parse(&new).unwrap());
        prop_assert_eq!((old.host_str(), old.path_segments().map(Iterator::count)), (new.host_str(), new.path_segments().map(Iterator::count)));
        prop_assert_eq!(old.query_pairs().count(), new.query_pairs().count());
        prop_assert!(!new.as_str().contains(&secret) && !new.as_str().contains(&encode::percent(&secret)));
    }

    #[test]
    fn any_body_and_header_is_survived(text in "\\PC{0,200}", mime in "(text/html|application/json|multipart/form-data; boundary=a|text/event-stream|)") {
        let mut it = Redactor::new(&RedactSettings::default());
        for _ in 0..2 {
            it.body(&text, &mime, Place::Answer);
            it.header("authorization", &text);
            it.header("set-cookie", &text);
            it.header("www-authenticate", &text);
            it.url(&text);
            it.write();
        }
    }
}
