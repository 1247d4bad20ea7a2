//! A signed POST for each request that waits, as Standard Webhooks has it: `webhook-id`, `webhook-timestamp` and `webhook-signature`,
//! which is `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`.
//!
//! It goes through the egress policy as all else does. The same id is sent again, with a new timestamp, until it was taken or the request
//! can no longer be decided about.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::hmac;
use zeroize::Zeroizing;

use commis_base::{
    error::{Code, Error, Result},
    settings::{WebhookSettings, secret},
};
use commis_net::{
    egress::EgressPolicy,
    transport::{PreparedRequest, Transport as _, TransportLimits, public_http::PublicHttp},
};
use commis_state::now_ms;

const CAPS: TransportLimits = TransportLimits {
    body: 64 * 1024,
    headers: 16 * 1024,
    redirects: 0,
    total: Duration::from_secs(15),
};

/// Of a secret, in bytes, as the scheme has it.
const SECRET: std::ops::RangeInclusive<usize> = 24..=64;

/// Fails with `SETTINGS_INVALID` for plain HTTP to a host of the public web, and as the policy does.
pub fn check(settings: &WebhookSettings, policy: &EgressPolicy) -> Result<()> {
    let own = policy.find_own_host(&settings.url);
    let url = policy.for_own_host(own.as_deref()).judge(&settings.url)?;
    // No other host under it gets here.
    let is_test = url.host().rsplit('.').next() == Some("test");
    if settings.url.starts_with("https:") || own.is_some() || is_test {
        return Ok(());
    }
    Err(Error::new(Code::SettingsInvalid, "webhook.url is plain HTTP to the public web")
        .hint("give an https address, or name the host with `commis settings own add`"))
}

/// Sends that, signed, once. Fails with what the policy and the network fail with, with `HTTP_STATUS` for an answer that does not take it
/// and `SETTINGS_INVALID` where nothing more is wanted.
pub async fn post(
    policy: &Arc<EgressPolicy>,
    settings: &WebhookSettings,
    id: &str,
    body: &[u8],
) -> Result<()> {
    let own_host = policy.find_own_host(&settings.url);
    let http = PublicHttp::with_limits(Arc::clone(policy), CAPS)?;
    let seconds = now_ms() / 1000;
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", signature(&key(&settings.secret_env)?, id, seconds, body)),
        ("webhook-id", id.to_owned()),
    ];
    let request = PreparedRequest {
        method: "POST".to_owned(),
        url: settings.url.clone(),
        headers: headers.into_iter().map(|it| (it.0.to_owned(), it.1)).collect(),
        body: Some(body.to_vec()),
        allowed_domains: Vec::new(),
        own_host,
    };
    let status = http.send(&request).await?.status;
    match status {
        200..=299 => Ok(()),
        410 => Err(Error::new(Code::SettingsInvalid, "the webhook answered 410 (gone)")),
        _ => {
            Err(Error::new(Code::HttpStatus, format!("the webhook answered with status {status}")))
        }
    }
}

/// What it is signed with. Fails with `SETTINGS_INVALID`; no part of it is shown.
pub fn key(variable: &str) -> Result<hmac::Key> {
    let invalid = |what: &str| {
        Error::new(Code::SettingsInvalid, format!("the environment variable `{variable}` {what}"))
            .hint("`whsec_` and the base64 of 24 to 64 random bytes; `commis daemon restart` gives the daemon a new environment")
    };
    let text = secret(variable).ok_or_else(|| invalid("holds no secret for the webhook"))?;
    let text = text.strip_prefix("whsec_").unwrap_or(&text);
    let bytes =
        STANDARD.decode(text).map_err(|_| invalid("holds no secret of a webhook's form"))?;
    let bytes = Zeroizing::new(bytes);
    if !SECRET.contains(&bytes.len()) {
        return Err(invalid("holds a secret of another length"));
    }
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

fn signature(key: &hmac::Key, id: &str, seconds: i64, body: &[u8]) -> String {
    let mut all = format!("{id}.{seconds}.").into_bytes();
    all.extend_from_slice(body);
    format!("v1,{}", STANDARD.encode(hmac::sign(key, &all)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::settings::EgressSettings;

    /// The vector of the scheme's own libraries.
    #[test]
    fn a_webhook_is_signed_as_the_scheme_has_it() {
        let bytes = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        let body = br#"{"test": 2432232314}"#;
        let said = signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(said, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_webhook_goes_where_the_policy_lets_it() {
        let policy = EgressPolicy::new(&EgressSettings {
            test_hosts: vec!["hook.test=127.0.0.1:9".to_owned()],
            own: [("127.0.0.1:8150".to_owned(), "127.0.0.1".to_owned())].into(),
            ..EgressSettings::default()
        })
        .unwrap();
        let check = |url: &str, code: Option<Code>| {
            let settings = WebhookSettings { url: url.to_owned(), secret_env: "X".to_owned() };
            assert_eq!(check(&settings, &policy).err().map(|it| it.code()), code, "{url}");
        };
        check("https://hooks.example.com/in?a=b", None);
        check("http://hook.test/in", None);
        check("http://127.0.0.1:8150/in", None);
        check("http://hooks.example.com/in", Some(Code::SettingsInvalid));
        check("http://127.0.0.1:8151/in", Some(Code::UrlBlocked));
        check("https://169.254.169.254/latest", Some(Code::UrlBlocked));
        check("https://10.0.0.1/in", Some(Code::UrlBlocked));
        check("http://other.test/in", Some(Code::UrlBlocked));
    }
}
