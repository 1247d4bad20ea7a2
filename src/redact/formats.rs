//! Published formats of credentials: secret whatever their key is called.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::detector::{bits, reads};

/// Prefix, the least length of the whole, and what it is. The rest must not read like words.
const PREFIXES: &[(&str, usize, &str)] = &[
    ("sk-", 20, "API key"),
    ("sk_live_", 20, "API key"),
    ("sk_test_", 20, "API key"),
    ("pk_live_", 20, "API key"),
    ("pk_test_", 20, "API key"),
    ("rk_live_", 20, "API key"),
    ("whsec_", 20, "webhook secret"),
    ("ghp_", 36, "GitHub token"),
    ("gho_", 36, "GitHub token"),
    ("ghu_", 36, "GitHub token"),
    ("ghs_", 36, "GitHub token"),
    ("ghr_", 36, "GitHub token"),
    ("github_pat_", 30, "GitHub token"),
    ("glpat-", 20, "GitLab token"),
    ("GR1348941", 20, "GitLab token"),
    ("AIza", 35, "Google API key"),
    ("ya29.", 30, "Google token"),
    ("GOCSPX-", 24, "Google secret"),
    ("xoxa-", 15, "Slack token"),
    ("xoxb-", 15, "Slack token"),
    ("xoxe-", 15, "Slack token"),
    ("xoxe.", 15, "Slack token"),
    ("xoxo-", 15, "Slack token"),
    ("xoxp-", 15, "Slack token"),
    ("xoxr-", 15, "Slack token"),
    ("xoxs-", 15, "Slack token"),
    ("xapp-", 15, "Slack token"),
    ("EAACEdEose0cBA", 40, "Facebook token"),
    ("EAAA", 40, "access token"),
    ("SG.", 40, "SendGrid key"),
    ("npm_", 30, "npm token"),
    ("pypi-", 40, "PyPI token"),
    ("dop_v1_", 40, "DigitalOcean token"),
    ("hf_", 30, "Hugging Face token"),
    ("api_org_", 30, "Hugging Face token"),
    ("shpat_", 30, "Shopify token"),
    ("shpss_", 30, "Shopify secret"),
    ("sqp_", 30, "SonarQube token"),
    ("squ_", 30, "SonarQube token"),
    ("sgp_", 30, "Sourcegraph token"),
    ("phx_", 30, "PostHog key"),
    ("phc_", 30, "PostHog key"),
    ("lin_api_", 30, "Linear key"),
    ("sbp_", 30, "Supabase token"),
    ("hvs.", 24, "Vault token"),
    ("fm1r_", 40, "Fly token"),
    ("fm2_", 40, "Fly token"),
    ("ops_eyJ", 40, "service token"),
    ("tkn.v1_", 40, "token"),
    ("NRAK-", 24, "New Relic key"),
    ("dapi", 36, "Databricks token"),
    ("figd_", 24, "Figma token"),
    ("glsa_", 30, "Grafana token"),
    ("KEY0", 40, "API key"),
];

/// What published format a whole value has.
pub fn known(value: &str) -> Option<&'static str> {
    if value.len() < 15 || value.len() > 16_384 {
        return None;
    }
    if value.contains("-----BEGIN ") {
        return value.contains("PRIVATE KEY").then_some("private key");
    }
    if value.starts_with("AGE-SECRET-KEY-1") {
        return Some("private key");
    }
    if !value
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"_-.~+/=|".contains(&b))
    {
        return None;
    }
    if value.starts_with("eyJ") {
        return is_jwt(value).then_some("JSON Web Token");
    }
    let bytes = value.as_bytes();
    if bytes.len() == 20
        && [b"AKIA", b"ASIA", b"ABIA", b"ACCA"]
            .iter()
            .any(|it| bytes.starts_with(*it))
        && bytes
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && bits(&value[4..]) > 2.5
    {
        return Some("AWS access key");
    }
    // Azure AD: three characters, a digit, `Q~`, 31 to 34 more.
    if (38..=40).contains(&bytes.len()) && bytes[3].is_ascii_digit() && &bytes[4..6] == b"Q~" {
        return Some("client secret");
    }
    // Facebook: application id, a bar, 27 characters.
    if let Some((app, rest)) = value.split_once('|')
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
    PREFIXES
        .iter()
        .find(|(prefix, least, _)| {
            value
                .strip_prefix(prefix)
                .is_some_and(|rest| value.len() >= *least && bits(rest) > 2.8 && !reads(rest))
        })
        .map(|it| it.2)
}

/// Three base64url parts, the first a JSON object with `alg`.
fn is_jwt(value: &str) -> bool {
    let Some((head, rest)) = value.split_once('.') else {
        return false;
    };
    rest.len() >= 8
        && URL_SAFE_NO_PAD
            .decode(head.trim_end_matches('='))
            .is_ok_and(|it| {
                it.starts_with(b"{") && it.windows(5).any(|w| w == b"\"alg\"" || w == b"\"enc\"")
            })
}

/// Runs of credential characters in a text that have a known format.
pub fn in_text<'a>(text: &'a str, mut found: impl FnMut(&'a str, &'static str)) {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !token_byte(bytes[i]) {
            i += 1;
            continue;
        }
        let start = i;
        while i < bytes.len() && token_byte(bytes[i]) {
            i += 1;
        }
        if i - start >= 15 {
            // ASCII bytes only, so these are character boundaries.
            let run = text[start..i].trim_matches(['.', '=', '/', '-']);
            for part in [Some(run), run.rsplit_once(['=', '/']).map(|it| it.1)]
                .into_iter()
                .flatten()
            {
                if let Some(what) = known(part) {
                    found(part, what);
                    break;
                }
            }
        }
    }
    let mut rest = if text.len() >= 40 { text } else { "" };
    while let Some(at) = rest.find("-----BEGIN ") {
        let from = &rest[at..];
        let end = from
            .find("-----END ")
            .and_then(|it| from[it + 9..].find("-----").map(|n| it + n + 14));
        let end = end.unwrap_or(from.len());
        if from[..end].contains("PRIVATE KEY") {
            found(&from[..end], "private key");
        }
        rest = &from[end.max(11)..];
    }
}

fn token_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"_-.~+/=|".contains(&b)
}
