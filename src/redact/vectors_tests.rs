//! Made-up values in the formats that services publish, under ordinary names and under names of secrets: what is found of the
//! secrets, and how often an identifier is taken for one. Every other name of a list is held back from those that rules were
//! made with, and no value is written down here.

use fastrand::Rng;
use serde_json::json;

use super::*;

const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BASE64URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const CROCKFORD: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BASE83: &str =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";
const HEX: &str = "0123456789abcdef";
const DIGITS: &str = "0123456789";
const LOWER: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn run(dice: &mut Rng, letters: &str, len: usize) -> String {
    let all: Vec<char> = letters.chars().collect();
    (0..len).map(|_| all[dice.usize(..all.len())]).collect()
}

fn bytes(dice: &mut Rng, front: &[u8], len: usize) -> Vec<u8> {
    front.iter().copied().chain((0..len).map(|_| dice.u8(..))).collect()
}

fn base64(bytes: &[u8]) -> String {
    use ::base64::{Engine as _, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}

/// A number in another base, with leading zeros.
fn digits(mut number: u128, letters: &str, len: usize) -> String {
    let all: Vec<char> = letters.chars().collect();
    let mut out = vec![all[0]; len];
    for it in out.iter_mut().rev() {
        *it = all[(number % all.len() as u128) as usize];
        number /= all.len() as u128;
    }
    out.into_iter().collect()
}

/// Milliseconds between 2015 and 2026.
fn ms(dice: &mut Rng) -> u64 {
    dice.u64(1_420_000_000_000..1_790_000_000_000)
}

fn ulid(dice: &mut Rng) -> String {
    digits(u128::from(ms(dice)), CROCKFORD, 10) + &run(dice, CROCKFORD, 16)
}

/// What tells by itself that it is an identifier, an address or a picture.
fn shaped(kind: usize, dice: &mut Rng) -> String {
    match kind {
        0 => (((ms(dice) - 1_288_834_974_657) << 22) | dice.u64(..1 << 22)).to_string(),
        1 => ulid(dice),
        2 => ulid(dice).to_lowercase(),
        3 => {
            format!("{}_{}", run(dice, "abcdefghijklmnopqrstuvwxyz", 5), ulid(dice).to_lowercase())
        }
        4 => {
            let stamp = u128::from(ms(dice) / 1000 - 1_400_000_000);
            ksuid(stamp as u32, dice)
        }
        5 => format!("spotify:track:{}", run(dice, BASE62, 22)),
        6 => format!("did:plc:{}", run(dice, "234567abcdefghijklmnopqrstuvwxyz", 24)),
        7 => format!(
            "at://did:plc:{}/app.bsky.feed.post/3{}",
            run(dice, "234567abcdefghijklmnopqrstuvwxyz", 24),
            run(dice, "234567abcdefghijklmnopqrstuvwxyz", 12)
        ),
        8 => format!("gid://shopify/Product/{}", run(dice, DIGITS, 13)),
        9 => blurhash(dice),
        10 => thumbhash(dice),
        11 => base64(&bytes(dice, b"\xff\xd8\xff\xe0\0\x10JFIF", 120)),
        12 => base64(&bytes(dice, b"\x89PNG\r\n\x1a\n", 90)),
        13 => base64(&bytes(dice, b"RIFF\x24\0\0\0WEBPVP8 ", 60)),
        14 => base64(&bytes(dice, b"\0\0\0\x20ftypavif", 80)),
        15 => base64(&bytes(dice, b"\x1f\x8b\x08\0\0\0\0\0\0\x03", 70)),
        16 => vin(dice),
        17 => format!("Qm{}", run(dice, BASE58, 44)),
        18 => format!("bafybei{}", run(dice, "234567abcdefghijklmnopqrstuvwxyz", 52)),
        19 => iban(dice),
        20 => format!("urn:li:activity:{}", run(dice, DIGITS, 19)),
        21 => format!("1Z{}", run(dice, UPPER, 6)) + &run(dice, DIGITS, 10),
        22 => format!("data:image/webp;base64,{}", base64(&bytes(dice, b"RIFF", 40))),
        23 => format!("0x{}", run(dice, HEX, 40)),
        24 => format!("-N{}", run(dice, BASE64URL, 18)),
        25 => base64(&bytes(dice, b"BM\x46\0\0\0\0\0\0\0", 50)),
        26 => base64(&bytes(dice, b"%PDF-1.7\n%\xe2\xe3", 60)),
        27 => base64(&bytes(dice, b"wOF2\0\x01\0\0", 60)),
        _ => format!("magnet:?xt=urn:btih:{}", run(dice, HEX, 40)),
    }
}
const SHAPED: usize = 29;

fn ksuid(stamp: u32, dice: &mut Rng) -> String {
    // 20 bytes to base 62, by long division.
    let mut number: Vec<u8> = bytes(dice, &stamp.to_be_bytes(), 16);
    let all: Vec<char> = BASE62.chars().collect();
    let mut out = Vec::new();
    for _ in 0..27 {
        let mut rest = 0_u32;
        for it in &mut number {
            let all = rest << 8 | u32::from(*it);
            *it = (all / 62) as u8;
            rest = all % 62;
        }
        out.push(all[rest as usize]);
    }
    out.into_iter().rev().collect()
}

fn blurhash(dice: &mut Rng) -> String {
    let (x, y) = (dice.usize(3..6), dice.usize(3..5));
    digits((x - 1 + 9 * (y - 1)) as u128, BASE83, 1) + &run(dice, BASE83, 5 + 2 * (x * y - 1))
}

fn thumbhash(dice: &mut Rng) -> String {
    // Landscape, without transparency: 7 by 5 frequencies of light.
    let mut it = bytes(dice, &[], 24);
    it[2] &= 0x7f;
    it[3] = it[3] & 0xf8 | 5;
    it[4] |= 0x80;
    let light = (0..5).map(|y| (0..7).filter(|x| (*x, y) != (0, 0) && x * 5 < 7 * (5 - y)).count());
    it.truncate(5 + (light.sum::<usize>() + 10).div_ceil(2));
    base64(&it)
}

fn vin(dice: &mut Rng) -> String {
    const LETTERS: &str = "0123456789ABCDEFGHJKLMNPRSTUVWXYZ";
    run(dice, "WSTVJKLM12345", 1) + &run(dice, LETTERS, 10) + &run(dice, DIGITS, 6)
}

fn iban(dice: &mut Rng) -> String {
    let bank = run(dice, UPPER, 4);
    let number = run(dice, DIGITS, 14);
    let text: String = format!("{bank}{number}GB00")
        .chars()
        .map(|c| c.to_digit(36).unwrap().to_string())
        .collect();
    let rest = text.bytes().fold(0_u32, |it, b| (it * 10 + u32::from(b - b'0')) % 97);
    format!("GB{:02}{bank}{number}", 98 - rest)
}

/// Random by itself: what it is, only its name says.
fn unshaped(kind: usize, dice: &mut Rng) -> String {
    match kind {
        0 => run(dice, BASE62, 22),
        1 => run(dice, BASE64URL, 21),
        2 => format!("UC{}", run(dice, BASE64URL, 22)),
        3 => format!("PL{}", run(dice, BASE64URL, 32)),
        4 => format!("ChIJ{}", run(dice, BASE64URL, 23)),
        5 => format!("1{}", run(dice, BASE64URL, 43)),
        6 => format!("c{}", run(dice, LOWER, 24)),
        7 => run(dice, "0123456789abcdefghijklmnopqrstuv", 20),
        8 => format!("PR_kwDO{}", run(dice, BASE64URL, 12)),
        9 => base64(&bytes(dice, b"\x08\x01\x12", 30)),
        10 => run(dice, BASE62, 43),
        _ => format!("001{}", run(dice, BASE62, 15)),
    }
}
const UNSHAPED: usize = 12;

fn secret(kind: usize, dice: &mut Rng) -> String {
    match kind {
        0 => run(dice, HEX, 32),
        1 => run(dice, HEX, 40),
        2 => run(dice, HEX, 64),
        3 => run(dice, BASE62, 20),
        4 => run(dice, BASE62, 32),
        5 => run(dice, BASE62, 48),
        6 => run(dice, BASE64URL, 43),
        7 => base64(&bytes(dice, b"", 32)),
        8 => run(dice, LOWER, 24),
        9 => run(dice, UPPER, 24),
        10 => format!(
            "{}-{}-4{}-a{}-{}",
            run(dice, HEX, 8),
            run(dice, HEX, 4),
            run(dice, HEX, 3),
            run(dice, HEX, 3),
            run(dice, HEX, 12)
        ),
        _ => format!("{}.{}", run(dice, BASE62, 16), run(dice, BASE62, 24)),
    }
}
const SECRETS: usize = 12;

/// Names of things; what stands under them is theirs.
const THINGS: &str = "tweet status video clip track song album playlist artist channel episode show media asset playback \
    preview thumbnail placeholder blurhash thumbhash lqip poster cover image photo avatar banner place venue location node item \
    product listing offer variant sku barcode serial vin vehicle chassis order shipment parcel tracking container document page \
    row record reference entity object message thread post comment room board card user owner creator parent root wallet block \
    transaction contract cid iban account_number next_page marker cursor continuation event deal property story pin_board \
    mainImage heroVideo coverPhoto trackUri videoUri previewData encodedPreview vehicleNumber parentItem message_ref \
    twitter_status youtube_video spotify_track discord_channel vimeo_clip instagram_post tiktok_video";
/// Names that say nothing, of data.
const PLAIN: &str = "title label value text content data detail info entry result summary first second left right source target \
    kind group field note extra body input output current default main primary x y z a1 item_1 displayValue rawValue";
/// A word of secrets is in them, and they are none.
const TRAPS: &[(&str, &str)] = &[
    ("token_count", "8192"),
    ("tokenizer", "cl100k_base_2023_v2"),
    ("keyboard", "qwerty-us-international-104"),
    ("session_title", "Keynote: the state of Rust in 2026"),
    ("sessionTitle", "Scaling-Postgres-to-100TB"),
    ("authority", "europe-central-registry-2024"),
    ("passenger", "Mr-J-Doe-Seat-24A"),
    ("passengers", "adults:2,children:1"),
    ("compass", "north-north-west-315"),
    ("bypass_valve", "DN25-PN16-brass-2024"),
    ("passport_country", "DE-AT-CH"),
    ("secretary", "Anna-Maria Schmidt-Huber"),
    ("cookie_banner", "shown-v2-2024-03"),
    ("signature_dish", "Kaiserschmarrn-mit-Apfelmus"),
    ("ticket_price", "129.50 EUR"),
    ("ticket_class", "second-class-flex-2024"),
    ("grant_amount", "1500000.00"),
    ("license_plate", "B-MW 1234 E"),
    ("license_url", "https://creativecommons.org/licenses/by-sa/4.0/"),
    ("codec", "avc1.64001f,mp4a.40.2"),
    ("postcode", "SW1A 1AA"),
    ("country_code", "DE"),
    ("state_name", "Mecklenburg-Vorpommern"),
    ("api_version", "2024-10-21-preview"),
    ("access_level", "read-only-public"),
    ("private_room", "double-with-bath-2"),
    ("key_features", "waterproof-ip68,usb-c-3.2"),
    ("keynote_speaker", "Dr-Jane-Q-Public"),
    ("tokens_used", "4096"),
    ("session_speakers", "jane-doe,john-roe"),
    ("secret_garden", "open-from-9-to-17"),
    ("password_length", "12"),
    ("sidebar", "left-collapsed-240px"),
    ("signal_strength", "-67dBm-2.4GHz"),
    ("bearing", "6204-2RS1-C3"),
    ("hash_tags", "rustlang,webdev2024"),
    ("captcha_enabled", "false"),
    ("token_symbol", "USDC"),
    ("token_address", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
    ("session_id_count", "12"),
    ("cert_authority", "ISRG-Root-X1"),
    ("pin_count", "40-pin-DIP"),
    ("passing_yards", "4,183"),
    ("code_style", "google-java-format-1.22"),
    ("author_token_name", "jdoe-laptop-2024"),
    ("promo_code", "SPRING-SALE-2024"),
    ("state", "north-rhine-westphalia"),
    ("stateCode", "CA-94103"),
    ("monkey_species", "Macaca-fascicularis-2n42"),
    ("assignment", "chapter-4-exercise-12b"),
];
/// Names of secrets.
const NAMES: &str = "password passwd db_password userPassword secret client_secret clientSecret app_secret token access_token \
    accessToken refresh_token id_token auth_token x-auth-token csrf_token csrfToken _csrf authenticity_token xsrf-token api_key \
    apiKey apikey x-api-key API_KEY access_key secret_key private_key session session_id sessionid sid PHPSESSID jsessionid \
    bearer authorization credential signature sig hmac jwt webhook_secret signing_key encryption_key master_key auth_key \
    subscription-key Ocp-Apim-Subscription-Key service_key account_key otp_secret magic_token reset_token invite_token \
    device_token push_token flumpaz_key flumpazApiKey FLUMPAZ_TOKEN flumpaz-secret zorblat_access_token ZORBLAT_KEY \
    github_token stripe_key slack_webhook_token mailgun_api_key openai_key sentry_auth_token npm_token X-Amz-Security-Token \
    X-Goog-Signature saml_response code_verifier login_ticket sessionToken userToken bot_token";

fn caught(name: &str, value: &str, place: Place) -> bool {
    let mut it = Redactor::new(&RedactSettings::default());
    let both = |it: &mut Redactor| {
        let mut json = json!({ name: value });
        match place {
            Place::Json | Place::Answer => it.json(&mut json, place),
            _ => it.redact_named(name, value, place).is_some(),
        }
    };
    both(&mut it);
    it.write();
    both(&mut it)
}

#[derive(Default)]
struct Tally {
    all: usize,
    wrong: usize,
    kinds: BTreeMap<String, usize>,
}

impl Tally {
    fn count(&mut self, wrong: bool, kind: String) {
        self.all += 1;
        if wrong {
            self.wrong += 1;
            *self.kinds.entry(kind).or_default() += 1;
        }
    }

    fn share(&self) -> f64 {
        self.wrong as f64 / self.all as f64
    }
}

/// False positives and misses of one half of the names.
fn half(which: usize, place: Place, seed: u64) -> (Tally, Tally) {
    let mut dice = Rng::with_seed(seed);
    let own = |names: &'static str| names.split_whitespace().skip(which).step_by(2);
    let (mut harmless, mut secrets) = (Tally::default(), Tally::default());
    for name in own(THINGS) {
        for kind in 0..SHAPED + UNSHAPED {
            let value = match kind.checked_sub(SHAPED) {
                None => shaped(kind, &mut dice),
                Some(kind) => unshaped(kind, &mut dice),
            };
            harmless.count(caught(name, &value, place), format!("thing {name} {kind} {value}"));
        }
    }
    for name in own(PLAIN) {
        for kind in 0..SHAPED {
            let value = shaped(kind, &mut dice);
            harmless.count(caught(name, &value, place), format!("plain {name} {kind} {value}"));
        }
    }
    for (name, value) in TRAPS.iter().skip(which).step_by(2) {
        // As often as the others together weigh.
        for _ in 0..10 {
            harmless.count(caught(name, value, place), format!("trap {name} {value}"));
        }
    }
    for name in own(NAMES) {
        for kind in 0..SECRETS {
            let value = secret(kind, &mut dice);
            secrets.count(!caught(name, &value, place), format!("secret {name} {kind} {value}"));
        }
    }
    for name in own(PLAIN) {
        for kind in 4..8 {
            let value = secret(kind, &mut dice);
            secrets.count(!caught(name, &value, place), format!("silent {name} {kind} {value}"));
        }
    }
    (harmless, secrets)
}

#[test]
fn made_up_values_are_told_apart() {
    for place in [Place::Json, Place::Query, Place::Form] {
        for (which, name) in [(0, "known"), (1, "held back")] {
            let (harmless, secrets) = half(which, place, 20_261_123 + which as u64);
            let (recall, wrong) = (1.0 - secrets.share(), harmless.share());
            println!(
                "{place:?}, {name}: recall {recall:.4} of {}, false positives {wrong:.4} of {}",
                secrets.all, harmless.all
            );
            for it in harmless.kinds.keys().chain(secrets.kinds.keys()) {
                println!("  {it:.100}");
            }
            assert!(recall >= 0.98 && wrong <= 0.026, "{place:?} {name}: {recall} {wrong}");
        }
    }
}
