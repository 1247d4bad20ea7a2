//! Published formats of credentials: secret whatever their key is called.

use std::sync::LazyLock;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{
    byte_classes::ByteKinds,
    randomness::{bits, is_hex, random, reads},
    step_counter,
};

/// What it is, the least length of the whole, and its prefixes. What follows must not read like words.
const PREFIXES: &[(&str, usize, &str)] = &[
    // Models and their tools.
    (
        "API key",
        20,
        "sk- sk_ pk- pplx- gsk_ xai- nvapi- csk- esecret_ tgp_v1_ fc- tvly- jina_ voyage- lsv2_pt_ lsv2_sk_ r8_ \
      hcaik_ pcsk_ key_live_ key_test_ sk.eyJ gAAAAA mk_live_ msy_ cog_ AIK_CI_ sgamp_ tskey-",
    ),
    ("Hugging Face token", 30, "hf_ api_org_"),
    // Code hosts, registries, builds.
    ("GitHub token", 30, "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_"),
    (
        "GitLab token",
        20,
        "glpat- gldt- glrt- glrtr- glft- glimt- glagent- gloas- glcbt- glptt- glsoat- glffct- glwt- _gitlab_session= GR1348941",
    ),
    ("Bitbucket token", 24, "ATBB BBDC- ATCTT3xFfG ATATT3xFf"),
    (
        "package registry token",
        24,
        "npm_ pypi- rubygems_ CLOJARS_ oy2 dckr_pat_ dckr_oat_ packagist_ ovsxat_ ovsxp_ AKCp cmVmdGtu jfrt@",
    ),
    (
        "build token",
        24,
        "CCIPAT_ CCIPRJ_ bkua_ bkat_ bkct_ sqp_ squ_ sqa_ sgp_ slk_ sgd_ pul- pnu_ pnb_ HRKU- nfp_ vcp_ vci_ vca_ vcr_ \
      vck_ rnd_ ddp_ ddo_ mka_ sntrys_ sntryu_ sntrya_ sntryi_ glsa_ glc_ eyJrIjoi dt0c01. dt0s16. dp.pt. dp.st. dp.ct. \
      dp.sa. dp.scim. dp.audit. doppler_ pat.- tfp_ PMAK- PMAT- rdme_ spkl_ hawk. dnkey- endr+ ico- sedpub_",
    ),
    // Clouds.
    ("Google credential", 24, "AIza GOCSPX- ya29. 1//0 4/0A AQ.Ab"),
    (
        "cloud credential",
        20,
        "LTAI AKID AKLT AQVN y0_Ag y0_AQ YCAJE YCO tk-us- dop_v1_ doo_v1_ dor_v1_ ABSK IQoJb3JpZ2lu \
      FwoGZXIvYXdz AZDO v1.0-",
    ),
    ("Vault token", 24, "hvs. hvb. hvr. s."),
    ("Databricks token", 36, "dapi dkea dose ddbc"),
    (
        "database credential",
        24,
        "pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_otkn_ mdb_sa_sk_ napi_ xau_ CCDB1_ sbp_ sb_secret_ sb_publishable_ \
      cflt/ fo1_ fm1r_ fm2_ fm1a_ oci_ unkey_ nats- ops_eyJ A3- db-",
    ),
    // Messages and mail.
    (
        "Slack token",
        15,
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xoxt- xapp- xwfp-",
    ),
    ("mail key", 24, "SG. xkeysib- xsmtpsib- mlsn. CFPAT-"),
    ("Telnyx key", 40, "KEY0 KEYU"),
    // Money.
    (
        "payment key",
        18,
        "sk_live_ sk_test_ sk_prod_ pk_live_ pk_test_ rk_live_ rk_test_ rk_prod_ ek_live_ whsec_ sq0atp- sq0csp- sq0idp- \
      EZAK EZTK FLWSECK_TEST- FLWPUBK_TEST- FLWSECK- FLWPUBK- access_token$production$ access_token$sandbox$ shippo_live_ \
      shippo_test_ rzp_live_ rzp_test_ duffel_live_ duffel_test_ live_pub_ test_pub_ access-sandbox- access-development- \
      access-production- pdl_ polar_pat_ polar_oat_ polar_at_ APP_USR- flb_live_ ramp_tok_ ramp_sec_",
    ),
    ("payment key", 40, "EAAA EAAl live_ ion_ rh-api-"),
    (
        "shop token",
        30,
        "shpat_ shpss_ shpca_ shppa_ shptka_ shpua_ amzn.mws. atna amzn1.oa2-cs.v1. Atza| Atzr| swell_",
    ),
    // Everything else.
    (
        "API key",
        20,
        "lin_api_ lin_oauth_ figd_ figdr_ figo_ phx_ phc_ phs_ ntn_ secret_ aio_ RGAPI- zpka_ waka_ vtwn_ rpa_ runpod_ \
      scp-live- scp-test- secret-live- secret-test- NRAK- NRII- NRJS- NRRA- NRAA- NRIQ- NRBR- patk_ pub_live_ \
      persona_ retool_ rootly_ s-s4t2ud- s-s4t2af- fio-u- sm_aat_ sm_pat_ sm_sat_ ATTA jca_ sl. sl.u. tkn.v1_ twp_ dnsimple_u_ \
      dnsimple_a_ scauth_ authress_ CAIS ucat_ NF- logfire_ pylf_v logtail_ instill_ uat_ bscv_ bsp_ cfat_ cfut_ \
      wandb_v1_ ory_at_ ory_rt_ ory_ac_ ory_st_ ory_pat_ workos_ knock_ courier_ svix_ testsk_ cal_live_ \
      thog-key- bb_pr_ bb_ma_ nylas_ nyk_v0_ liveblocks_ pk_prod_ pk_dev_ sk_dev_ privy- api_live. api_sandbox. hcb_ e2b_ mint_dsk_ pit- \
      apify_api_ apify_ds_ odt_ shltm_ p8e- bedrock-api-key- ak_live_ at_live_ sdk- mob- tr_pat_",
    ),
    ("Facebook token", 40, "EAACEdEose0cBA EAA"),
    ("Twitter bearer", 80, "AAAAAAAAAAAAAAAAAAAA"),
    ("HubSpot token", 40, "pat-na1- pat-na2- pat-eu1- pat-ap1-"),
    ("private key", 40, "LS0tLS1CRUdJTi"),
    ("wallet key", 107, "xprv yprv zprv tprv uprv vprv Yprv Zprv"),
];

/// Names of password hashes, as they stand before the salt.
const HASHES: &[&str] = &[
    "$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$7$", "$8$", "$9$", "$y$", "$apr1$", "$argon2",
    "$krb5", "$pbkdf2", "$scrypt$", "{SSHA", "{CRYPT}",
];

/// What published format a whole value has.
pub fn known_format(value: &str) -> Option<&'static str> {
    known_of(value, ByteKinds::from_text(value))
}

/// The same where the kinds of its bytes are known.
pub fn known_of(value: &str, kinds: ByteKinds) -> Option<&'static str> {
    if value.len() < 15 || value.len() > 16_384 {
        return None;
    }
    if kinds.any(ByteKinds::DASH) && kinds.any(ByteKinds::SPACE) && value.contains("-----BEGIN ") {
        return value.contains("PRIVATE KEY").then_some("private key");
    }
    if value.starts_with("AGE-SECRET-KEY-1") {
        return Some("private key");
    }
    // What a system keeps of a password or a ticket, in the form of crypt(3) and its relatives.
    if value.len() >= 25
        && value.starts_with(['$', '{'])
        && HASHES.iter().any(|it| value.starts_with(it))
        && !value.contains(char::is_whitespace)
    {
        return Some("password hash");
    }
    // Telegram: the bot's number, a colon, 35 characters.
    if kinds.any(ByteKinds::COLON)
        && let Some((bot, rest)) = value.split_once(':')
        && (5..=16).contains(&bot.len())
        && bot.bytes().all(|b| b.is_ascii_digit())
        && rest.len() == 35
        && random(rest)
    {
        return Some("bot token");
    }
    // Azure: 64 bytes in base64.
    if value.len() == 88 && value.ends_with("==") && bits(value) > 5.0 && value.contains(['+', '/'])
    {
        return Some("account key");
    }
    if kinds.any(NO_TOKEN) || !value.bytes().all(token_byte) {
        return None;
    }
    if value.starts_with("eyJ") {
        return is_jwt(value).then_some("JSON Web Token");
    }
    let bytes = value.as_bytes();
    if bytes.len() == 20
        && [b"AKIA", b"ASIA", b"ABIA", b"ACCA"].iter().any(|it| bytes.starts_with(*it))
        && bytes.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && bits(&value[4..]) > 2.5
    {
        return Some("AWS access key");
    }
    shaped(value, kinds).or_else(|| prefixes(value).find(|it| begins(value, it)).map(|it| it.what))
}

/// Whether it is as long as a published format wants it and begins as that does, whatever follows: enough of a sign under
/// a name such as `token`.
pub fn prefixed(value: &str) -> bool {
    prefixes(value).any(|it| {
        // Nothing else begins with such a prefix; a short or plain one also begins names.
        it.text.len() >= 4 && !it.is_plain() && value.starts_with(it.text)
    })
}

struct Prefix {
    text: &'static str,
    least: usize,
    what: &'static str,
}

impl Prefix {
    fn is_plain(&self) -> bool {
        self.text.bytes().all(|b| b.is_ascii_alphanumeric())
    }
}

/// Those with the value's first two bytes that it is long enough for.
fn prefixes(value: &str) -> impl Iterator<Item = &'static Prefix> {
    static BY_LETTER: LazyLock<Vec<Vec<Prefix>>> = LazyLock::new(|| {
        let mut all: Vec<Vec<Prefix>> = (0..256).map(|_| Vec::new()).collect();
        for (what, least, row) in PREFIXES {
            for prefix in row.split_ascii_whitespace() {
                let it = Prefix { text: prefix, least: *least, what };
                all[usize::from(prefix.as_bytes()[0])].push(it);
            }
        }
        all
    });
    let (len, second) = (value.len(), value.as_bytes().get(1));
    let letter = value.bytes().next().map(|it| &BY_LETTER[usize::from(it)]);
    letter
        .into_iter()
        .flatten()
        .filter(move |it| it.text.as_bytes().get(1) == second && len >= it.least)
}

fn begins(value: &str, it: &Prefix) -> bool {
    value.strip_prefix(it.text).is_some_and(|rest| {
        // A plain or very short prefix also begins names and other values.
        let enough =
            if it.is_plain() { it.text.len() >= 4 && rest.len() >= 28 } else { it.text.len() >= 3 };
        // A long plain one is no word.
        let unread = it.is_plain() && it.text.len() >= 12 || !reads(rest);
        rest.len() >= 8 && bits(rest) > 2.8 && unread && (enough || random(rest))
    })
}

/// Formats that are told by their parts, not by a prefix.
fn shaped(value: &str, kinds: ByteKinds) -> Option<&'static str> {
    let bytes = value.as_bytes();
    let hex = |it: &str, len: usize| it.len() == len && is_hex(it);
    let word = |it: &str| it.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    // Azure AD: three characters, a digit, `Q~`, 31 to 34 more.
    if (37..=40).contains(&bytes.len()) && bytes[3].is_ascii_digit() && &bytes[4..6] == b"Q~" {
        return Some("client secret");
    }
    // Facebook: application id, a bar, 27 characters.
    if kinds.any(ByteKinds::BAR)
        && let Some((app, rest)) = value.split_once('|')
        && app.len() >= 12
        && app.bytes().all(|b| b.is_ascii_digit())
        && rest.len() >= 24
    {
        return Some("access token");
    }
    // Airtable: `pat` and 14, a dot, 64 hexadecimal digits.
    if value.starts_with("pat") && bytes.get(17) == Some(&b'.') && bytes.len() == 82 {
        return Some("access token");
    }
    // Terraform Cloud: 14, `.atlasv1.`, 60 and more.
    let dotted = kinds.any(ByteKinds::DOT);
    if dotted
        && value.split_once(".atlasv1.").is_some_and(|it| it.0.len() == 14 && it.1.len() >= 40)
    {
        return Some("access token");
    }
    // Mailchimp: an MD5 and the data centre.
    if kinds.any(ByteKinds::DASH)
        && value.rsplit_once("-us").is_some_and(|(key, n)| {
            hex(key, 32) && n.len() <= 2 && n.bytes().all(|b| b.is_ascii_digit())
        })
    {
        return Some("mail key");
    }
    // Twilio, Mailgun: an MD5 after two letters, `key-` or `pubkey-`.
    if ["SK", "key-", "pubkey-"]
        .iter()
        .any(|it| value.strip_prefix(it).is_some_and(|it| hex(it, 32)))
    {
        return Some("API key");
    }
    // dfuse: where it is used, and an MD5 (or nearly).
    if ["web_", "server_", "mobile_"]
        .iter()
        .any(|it| value.strip_prefix(it).is_some_and(|it| hex(it, 32) || hex(it, 31)))
    {
        return Some("API key");
    }
    // Zoho: the data centre, two MD5s.
    if let Some(rest) = value.strip_prefix("1000.")
        && rest.split_once('.').is_some_and(|(a, b)| hex(a, 32) && hex(b, 32))
    {
        return Some("access token");
    }
    // MaxMind: 29 and `_mmk`.
    if value.strip_suffix("_mmk").is_some_and(|it| it.len() >= 25 && word(it)) {
        return Some("licence key");
    }
    // RapidAPI: random, `msh`, random, `jsn`, random.
    if value.len() == 50 && value.get(10..13) == Some("msh") && value.contains("jsn") {
        return Some("API key");
    }
    // OpenAI, of whatever kind.
    if bytes.len() >= 40 && bytes.windows(8).any(|it| it == b"T3BlbkFJ") {
        return Some("API key");
    }
    // Mapbox and others: a kind before a JSON object in base64.
    if !dotted {
        return None;
    }
    if value.split_once(".eyJ").is_some_and(|it| it.0.len() == 2 && it.1.len() >= 40) {
        return Some("access token");
    }
    // Discord: an identifier in base64, a time stamp, an HMAC.
    let dots: Vec<&str> = value.split('.').collect();
    if let [id, time, mac] = dots[..]
        && (23..=28).contains(&id.len())
        && (6..=7).contains(&time.len())
        && (27..=40).contains(&mac.len())
        && dots.iter().all(|it| word(it))
        && random(mac)
    {
        return Some("bot token");
    }
    None
}

/// Three base64url parts, the first a JSON object with `alg`.
fn is_jwt(value: &str) -> bool {
    let Some((head, rest)) = value.split_once('.') else {
        return false;
    };
    rest.len() >= 8
        && URL_SAFE_NO_PAD.decode(head.trim_end_matches('=')).is_ok_and(|it| {
            it.starts_with(b"{") && it.windows(5).any(|w| w == b"\"alg\"" || w == b"\"enc\"")
        })
}

/// Runs of credential characters in a text that have a known format.
pub fn in_text<'a>(text: &'a str, kinds: ByteKinds, mut found: impl FnMut(&'a str, &'static str)) {
    let bytes = text.as_bytes();
    // Nothing up to here belongs to a run that is not yet seen.
    let mut from = 0;
    // A run of so many holds one of every so many bytes.
    while let Some(probe) = bytes.get(from + 14) {
        if !token_byte(*probe) {
            from += 15;
            continue;
        }
        let start = from + 14
            - bytes[from..from + 14].iter().rev().take_while(|it| token_byte(**it)).count();
        let mut i = from + 15;
        while i < bytes.len() && token_byte(bytes[i]) {
            i += 1;
        }
        from = i + 1;
        if i - start >= 15 {
            // ASCII bytes only, so these are character boundaries.
            let run = text[start..i].trim_matches(['.', '=', '/', '-']);
            for part in [
                Some(run),
                run.rsplit_once(['=', '/']).map(|it| it.1),
                run.split_once('.').map(|it| it.1),
            ]
            .into_iter()
            .flatten()
            {
                if let Some(what) = known_format(part) {
                    found(part, what);
                    break;
                }
            }
        }
    }
    hashes_in_text(text, &mut found);
    sessions_in_text(text, &mut found);
    bots_in_text(text, &mut found);
    let mut rest = if text.len() >= 40 && kinds.any(ByteKinds::DASH) { text } else { "" };
    if let Some(lines) = putty_private_lines(rest) {
        found(lines, "private key");
    }
    while let Some(at) = rest.find("-----BEGIN ") {
        let from = &rest[at..];
        let end =
            from.find("-----END ").and_then(|it| from[it + 9..].find("-----").map(|n| it + n + 14));
        let end = end.unwrap_or(from.len());
        if from[..end].contains("PRIVATE KEY") {
            found(&from[..end], "private key");
        }
        rest = &from[end.max(11)..];
    }
}

/// Telegram's bots, which a text names with the number before the colon.
fn bots_in_text<'a>(text: &'a str, found: &mut impl FnMut(&'a str, &'static str)) {
    let bytes = text.as_bytes();
    for at in memchr::memchr_iter(b':', bytes) {
        // Most colons have no digit before them.
        if at < 8 || !bytes[at - 8..at].iter().all(u8::is_ascii_digit) {
            continue;
        }
        let before = bytes[..at].iter().rev().take(13).take_while(|b| b.is_ascii_digit()).count();
        let holds = |b: &u8| b.is_ascii_alphanumeric() || b"_-".contains(b);
        let after = bytes[at + 1..].iter().take(36).take_while(|b| holds(b)).count();
        step_counter::record_bytes(before + after);
        if before <= 12 && after == 35 && random(&text[at + 1..at + 1 + after]) {
            found(&text[at - before..at + 1 + after], "bot token");
        }
    }
}

/// Salesforce's sessions: the organization's identifier, an exclamation mark, the session.
fn sessions_in_text<'a>(text: &'a str, found: &mut impl FnMut(&'a str, &'static str)) {
    for at in memchr::memchr_iter(b'!', text.as_bytes()) {
        let (front, rest) = (&text.as_bytes()[..at], &text.as_bytes()[at + 1..]);
        let before = front.iter().rev().take(19).take_while(|b| b.is_ascii_alphanumeric()).count();
        if !matches!(before, 15 | 18) || !front[at - before..].starts_with(b"00D") {
            continue;
        }
        let holds = |b: &u8| b.is_ascii_alphanumeric() || b"._".contains(b);
        let after = rest.iter().take(512).take_while(|b| holds(b)).count();
        step_counter::record_bytes(after);
        if after >= 40 {
            found(&text[at - before..at + 1 + after], "session");
        }
    }
}

/// What systems keep of passwords, anywhere in a text: `ann:$6$…:19000:0:`.
fn hashes_in_text<'a>(text: &'a str, found: &mut impl FnMut(&'a str, &'static str)) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for at in memchr::memchr_iter(b'$', bytes) {
        let rest = &text[at..];
        if at < done || !HASHES.iter().any(|it| rest.starts_with(it)) {
            continue;
        }
        // A ticket holds the name of whom it is for, with a colon behind it.
        let holds = |b: &u8| {
            b.is_ascii_alphanumeric()
                || b"$./+=,-_".contains(b)
                || rest.starts_with("$krb5") && b"*@:".contains(b)
        };
        let len = bytes[at..].iter().take(16_384).take_while(|b| holds(b)).count();
        step_counter::record_bytes(len);
        done = at + len;
        let hash = rest[..len].trim_end_matches(['.', ',', '-']);
        if hash.matches('$').count() >= 3
            && let Some(what) = known_format(hash)
        {
            found(hash, what);
        }
    }
}

/// The lines of the private half in a key file of PuTTY, which says before them how many they are.
fn putty_private_lines(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("Private-Lines: ")?;
    let (count, rest) = rest.split_once('\n')?;
    let count: usize = count.trim().parse().ok()?;
    let len = rest.split_inclusive('\n').take(count).map(str::len).sum();
    Some(rest[..len].trim_end()).filter(|it| !it.is_empty())
}

/// Kinds that no credential holds.
const NO_TOKEN: u16 = ByteKinds::SPACE
    | ByteKinds::WIDE
    | ByteKinds::COLON
    | ByteKinds::PERCENT
    | ByteKinds::SEMICOLON
    | ByteKinds::OPENS
    | ByteKinds::ANGLE
    | ByteKinds::QUOTE
    | ByteKinds::STAR;

fn token_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=' | b'|')
}
