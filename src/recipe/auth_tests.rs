//! What a recipe may name, and which host it may go to.

use super::*;
use crate::yaml;

fn recipe(auth: &str, more: &str, url: &str) -> Result<Recipe> {
    let host = url.split('/').nth(2).unwrap_or_default();
    let more_hosts = if auth.contains("Wide") { ", b.com" } else { "" };
    let auth = auth.replace("Wide", "KEY");
    yaml::parse(&format!(
        "{{version: 1, name: x, task: t, status: draft, source_url: 'https://a.com/', auth: {auth}, {more} \
         request: {{method: GET, url: '{url}', allowed_domains: [{host}{more_hosts}], \
         headers: {{x-own: v}}, query: [{{name: own, value: v}}]}}, response: {{type: json}}}}"
    ))
}

#[test]
fn what_auth_may_say() {
    for (auth, fine) in [
        ("{type: bearer, env: KEY}", true),
        ("{type: basic, env: _k2}", true),
        ("{type: api_key, header: x-api-key, env: KEY}", true),
        ("{type: api_key, header: authorization, env: KEY}", true),
        ("{type: api_key, query: key, env: KEY}", true),
        ("{type: bearer, env: 'sk-live-1234'}", false),
        ("{type: bearer, env: ''}", false),
        ("{type: bearer, env: 2K}", false),
        ("{type: bearer, env: 'A=B'}", false),
        ("{type: bearer, value: secret, env: KEY}", false),
        ("{type: digest, env: KEY}", false),
        ("{type: bearer, header: x-a, env: KEY}", false),
        ("{type: basic, query: a, env: KEY}", false),
        ("{type: api_key, env: KEY}", false),
        ("{type: api_key, header: x-a, query: a, env: KEY}", false),
        ("{type: api_key, header: X-A, env: KEY}", false),
        ("{type: api_key, header: 'a\\nb', env: KEY}", false),
        ("{type: api_key, header: host, env: KEY}", false),
        ("{type: api_key, header: cookie, env: KEY}", false),
        ("{type: api_key, header: proxy-authorization, env: KEY}", false),
        // It would follow a redirect to another origin.
        ("{type: api_key, header: accept-language, env: KEY}", false),
        // Servers repeat these in links.
        ("{type: api_key, header: x-forwarded-host, env: KEY}", false),
        ("{type: api_key, header: forwarded, env: KEY}", false),
        // A redirect to the other host could repeat the query.
        ("{type: api_key, query: key, env: Wide}", false),
        ("{type: bearer, env: Wide}", false),
        ("{type: api_key, header: x-own, env: KEY}", false),
        ("{type: api_key, query: own, env: KEY}", false),
        ("{type: api_key, query: '', env: KEY}", false),
    ] {
        let got = recipe(auth, "", "https://a.com/").map(drop).map_err(|it| it.code());
        assert_eq!(got, if fine { Ok(()) } else { Err(Code::RecipeInvalid) }, "{auth}");
    }
    let bearer = "{type: bearer, env: KEY}";
    assert!(recipe(bearer, "", "http://a.test/").is_ok());
    assert!(recipe(bearer, "", "http://a.com/").is_err());
    for session in [
        "slots: [{name: s, from: {cookie: {name: sid}}}],",
        "verification: {fingerprint_version: 1, fingerprint_sha256: '', transport: in_page_fetch, requires_session: false},",
        "verification: {fingerprint_version: 1, fingerprint_sha256: '', transport: public_http, requires_session: true},",
    ] {
        let why = recipe(bearer, session, "https://a.com/").unwrap_err();
        assert!(why.message().contains("cannot use a session"), "{why}");
    }
}

#[test]
fn a_variable_is_bound_to_hosts() {
    let settings = |variable: &str, hosts: &[&str]| AuthSettings {
        allow: [(variable.to_owned(), hosts.iter().map(|it| (*it).to_owned()).collect())].into(),
    };
    let none = AuthSettings::default();
    let aws = "AWS_SECRET_ACCESS_KEY";
    let own = "COMMIS_AUTH_API_A__B_COM";
    for (variable, host, settings, fine) in [
        (own, "api.a-b.com", &none, true),
        (own, "api-a.b.com", &none, false),
        (own, "api.a-b.com.evil.com", &none, false),
        ("COMMIS_AUTH_GITHUB", "evil.com", &none, false),
        ("COMMIS_AUTH_", "evil.com", &none, false),
        (aws, "evil.com", &none, false),
        (aws, "a.com", &settings(aws, &["A.com"]), true),
        (aws, "b.a.com", &settings(aws, &["a.com"]), false),
        (aws, "evil.com", &settings(aws, &["a.com"]), false),
        (aws, "a.com", &settings("aws_secret_access_key", &["a.com"]), false),
        // The settings' word is the last one.
        (own, "api.a-b.com", &settings(own, &["c.com"]), false),
        (own, "api.a-b.com", &settings(own, &[]), false),
    ] {
        let auth =
            Auth { kind: AuthKind::Bearer, header: None, query: None, env: variable.to_owned() };
        let got = check_auth_host(&auth, host, settings).map_err(|it| it.code());
        let want = if fine { Ok(()) } else { Err(Code::AuthNotAllowed) };
        assert_eq!(got, want, "{variable} to {host}");
    }
}

#[test]
fn no_two_hosts_share_a_variable() {
    let hosts = [
        "a.com",
        "a-com",
        "a.b.com",
        "a-b.com",
        "a--b.com",
        "xn--a.com",
        "a.xn--b.com",
        "1.2.3.4",
        "a-b-c",
        "a.b-c",
        "a-b.c",
        "a.b.c",
    ];
    let names: std::collections::BTreeSet<_> =
        hosts.iter().map(|it| variable_for_host(it).unwrap()).collect();
    assert_eq!(names.len(), hosts.len());
    for host in ["a_b.com", "a-.com", "-a.com", "a..b", "", "A.com", "[::1]", "a.com."] {
        assert_eq!(variable_for_host(host), None, "{host}");
    }
}
