//! Who may go to hosts of one's own: hand-picked cases, and the shared vectors with such lines present.

use super::*;
use crate::egress::{
    stub::{DnsTable, SsrfVector},
    tests::{code, walk},
};

const LINES: &[(&str, &str)] = &[
    ("localhost:8001", "127.0.0.1"),
    ("wiki.lan:443", "192.168.1.5"),
    ("127.0.0.1:8002", "127.0.0.1"),
    ("intranet.example.com:8443", "10.0.0.5"),
    ("[fd12::5]:80", "fd12::5"),
];

fn settings(lines: &[(&str, &str)]) -> EgressSettings {
    let own = lines.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    EgressSettings { own, ..EgressSettings::default() }
}

fn policy(lines: &[(&str, &str)], table: DnsTable) -> EgressPolicy {
    EgressPolicy::with_lookup(&settings(lines), Box::new(table)).unwrap()
}

#[test]
fn what_may_be_a_host_of_ones_own() {
    for (place, address, why) in [
        ("localhost:8001", "127.0.0.1", ""),
        ("localhost:8001", "::1", ""),
        ("wiki:80", "10.1.2.3", ""),
        ("wiki.example.com:8443", "172.16.0.1", ""),
        ("192.168.1.5:8080", "192.168.1.5", ""),
        ("[fd12::5]:8080", "fd12::5", ""),
        ("wiki.lan", "10.0.0.1", "is written `wiki.lan:80`"),
        ("Wiki.lan:80", "10.0.0.1", "is written `wiki.lan:80`"),
        ("wiki.lan.:80", "10.0.0.1", "is written `wiki.lan:80`"),
        ("wiki.lan:080", "10.0.0.1", "is written `wiki.lan:80`"),
        ("2130706433:80", "127.0.0.1", "is written `127.0.0.1:80`"),
        ("wiki.lan:80/x", "10.0.0.1", "is written"),
        ("u@wiki.lan:80", "10.0.0.1", "user name or password"),
        ("*:80", "10.0.0.1", "character that host names cannot have"),
        ("*.lan:80", "10.0.0.1", "character that host names cannot have"),
        (":80", "10.0.0.1", "not a usable URL"),
        ("wiki.lan:6379", "10.0.0.1", "another protocol"),
        ("wiki.test:80", "127.0.0.1", "--test-host"),
        ("localhost:80", "192.168.1.5", "this machine"),
        ("a.localhost:80", "192.168.1.5", "this machine"),
        ("192.168.1.5:80", "192.168.1.6", "another one"),
        ("metadata.google.internal:80", "10.0.0.1", "metadata"),
        ("wiki.lan:80", "wiki", "not an IPv4 or IPv6 address"),
        ("wiki.lan:80", "10.0.0.0/8", "not an IPv4 or IPv6 address"),
        ("wiki.lan:80", "10.1", "not an IPv4 or IPv6 address"),
        ("wiki.lan:80", "8.8.8.8", "public"),
        ("wiki.lan:80", "2606:4700::1", "public"),
        ("wiki.lan:80", "0.0.0.0", "this network"),
        ("wiki.lan:80", "::", "unspecified"),
        ("wiki.lan:80", "255.255.255.255", "reserved"),
        ("wiki.lan:80", "224.0.0.1", "multicast"),
        ("wiki.lan:80", "ff02::1", "multicast"),
        ("wiki.lan:80", "169.254.169.254", "link-local"),
        ("wiki.lan:80", "fe80::1", "link-local"),
        ("wiki.lan:80", "168.63.129.16", "metadata"),
        ("wiki.lan:80", "100.100.100.200", "carrier-grade"),
        ("wiki.lan:80", "192.0.0.192", "protocol assignments"),
        ("wiki.lan:80", "::ffff:127.0.0.1", "mapped"),
        ("wiki.lan:80", "fd00:ec2::254", "AWS"),
        ("wiki.lan:80", "fd00:ec2::23", "AWS"),
        ("wiki.lan:80", "fd20:ce::254", "Google"),
        ("wiki.lan:80", "fd00:c1::a9fe:a9fe", "Oracle"),
        ("wiki.lan:80", "fd00:42::42", "Scaleway"),
        ("wiki.lan:80", "fd00:a9fe:a9fe::1", "Akamai"),
        ("wiki.lan:80", "fd00:100::100:200", "Alibaba"),
    ] {
        match (parse_own_hosts(&settings(&[(place, address)])), why) {
            (Ok(_), "") => {}
            (Err(err), why) if !why.is_empty() && err.message().contains(why) => {
                assert_eq!(err.code(), Code::SettingsInvalid);
            }
            (got, why) => panic!("{place} at {address}: {got:?}, expected {why:?}"),
        }
    }
}

#[tokio::test]
async fn a_host_of_ones_own_is_reached_from_itself_alone() {
    let closed = policy(LINES, DnsTable::default());
    for (at, url, want) in [
        (None, "http://localhost:8001/", "URL_BLOCKED"),
        (None, "https://wiki.lan/", "URL_BLOCKED"),
        (None, "http://127.0.0.1:8002/", "URL_BLOCKED"),
        (None, "https://intranet.example.com:8443/", "URL_BLOCKED"),
        (None, "http://[fd12::5]/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://localhost:8001/x?y", "127.0.0.1:8001"),
        (Some("localhost:8001"), "https://localhost:8001/", "127.0.0.1:8001"),
        (Some("localhost:8001"), "http://LOCALHOST:8001/", "127.0.0.1:8001"),
        (Some("localhost:8001"), "http://localhost.:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://localhost:08001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://loc%61lhost:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://ｌocalhost:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://localhost:8002/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://localhost/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://a.localhost:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://127.0.0.1:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://[::1]:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://[::ffff:127.0.0.1]:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://2130706433:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://0x7f.1:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://127.0.0.1:8002/", "URL_BLOCKED"),
        (Some("localhost:8001"), "https://wiki.lan/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://192.168.1.5/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://10.0.0.1/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://169.254.169.254/", "URL_BLOCKED"),
        (Some("localhost:8001"), "http://u@localhost:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "ws://localhost:8001/", "URL_BLOCKED"),
        (Some("localhost:8001"), "https://example.com/", "93.184.216.34:443"),
        (Some("127.0.0.1:8002"), "http://127.0.0.1:8002/", "127.0.0.1:8002"),
        (Some("127.0.0.1:8002"), "http://2130706434:8002/", "URL_BLOCKED"),
        (Some("127.0.0.1:8002"), "http://2130706433:8002/", "URL_BLOCKED"),
        (Some("127.0.0.1:8002"), "http://127.1:8002/", "URL_BLOCKED"),
        (Some("127.0.0.1:8002"), "http://localhost:8002/", "URL_BLOCKED"),
        (Some("wiki.lan:443"), "https://wiki.lan/", "192.168.1.5:443"),
        (Some("wiki.lan:443"), "https://Wiki.lan:443/", "192.168.1.5:443"),
        (Some("wiki.lan:443"), "http://wiki.lan/", "URL_BLOCKED"),
        (Some("wiki.lan:443"), "http://wiki.lan:443/", "192.168.1.5:443"),
        (Some("intranet.example.com:8443"), "https://intranet.example.com:8443/", "10.0.0.5:8443"),
        // The same name elsewhere is a public one, with public answers.
        (Some("intranet.example.com:8443"), "https://intranet.example.com/", "93.184.216.34:443"),
        (Some("[fd12::5]:80"), "http://[fd12::5]/", "[fd12::5]:80"),
        (Some("[fd12::5]:80"), "http://[fd12:0::5]/", "URL_BLOCKED"),
        // A recipe may say what it wants; what counts are the lines.
        (Some("localhost:9000"), "http://localhost:9000/", "URL_BLOCKED"),
        (Some("other.example.com:443"), "https://other.example.com/", "URL_BLOCKED"),
        (Some("shop.test:80"), "http://shop.test/", "URL_BLOCKED"),
    ] {
        let policy = closed.for_own_host(at);
        let got = match policy.check(url) {
            Ok(safe) => policy.pin(&safe).await.map(|it| it.addrs()[0].to_string()),
            Err(err) => Err(err),
        };
        let got = got.unwrap_or_else(|err| err.code().as_str().to_owned());
        assert_eq!(got, want, "{url} at {at:?}");
    }
}

#[tokio::test]
async fn what_one_policy_allowed_another_does_not_resolve() {
    let closed = policy(LINES, DnsTable::default());
    let url = closed.for_own_host(Some("localhost:8001")).check("http://localhost:8001/").unwrap();
    for other in [None, Some("wiki.lan:443")] {
        assert_eq!(code(closed.for_own_host(other).pin(&url).await), "URL_BLOCKED");
        assert_eq!(code(closed.for_own_host(other).pin_fresh(&url).await), "URL_BLOCKED");
    }
}

#[tokio::test]
async fn a_public_name_at_the_same_address_is_refused() {
    let rows = [("rebound.example.com", "127.0.0.1"), ("wiki.example.com", "192.168.1.5")];
    let rows = rows.map(|it| (it.0.to_owned(), vec![vec![it.1.to_owned()]]));
    let closed = policy(LINES, DnsTable::new(rows.into()));
    for at in [None, Some("localhost:8001"), Some("wiki.lan:443")] {
        let policy = closed.for_own_host(at);
        for name in ["rebound.example.com", "wiki.example.com"] {
            let url = policy.check(&format!("https://{name}/")).unwrap();
            let err = policy.pin(&url).await.unwrap_err();
            assert_eq!(err.code(), Code::DnsBlocked, "{name} at {at:?}");
            // Where it leads is known, so the line can be said whole.
            let hint = err.hint_text().unwrap_or("");
            assert!(hint.contains(&format!("\"{name}:443\" = \"1")), "{hint}");
        }
    }
}

#[test]
fn no_redirect_leads_to_a_host_of_ones_own_but_its_own() {
    let closed = policy(LINES, DnsTable::default());
    let all = ["localhost", "wiki.lan", "127.0.0.1", "intranet.example.com", "example.com"];
    let allowed = all.map(str::to_owned);
    for (at, from, location, want) in [
        (Some("localhost:8001"), "http://localhost:8001/a", "/b", "ok"),
        (Some("localhost:8001"), "http://localhost:8001/a", "http://localhost:8001/b", "ok"),
        (
            Some("localhost:8001"),
            "http://localhost:8001/a",
            "http://localhost.:8001/b",
            "REDIRECT_BLOCKED",
        ),
        (
            Some("localhost:8001"),
            "http://localhost:8001/a",
            "http://localhost:8002/",
            "REDIRECT_BLOCKED",
        ),
        (
            Some("localhost:8001"),
            "http://localhost:8001/a",
            "http://127.0.0.1:8001/",
            "REDIRECT_BLOCKED",
        ),
        (
            Some("localhost:8001"),
            "http://localhost:8001/a",
            "http://127.0.0.1:8002/",
            "REDIRECT_BLOCKED",
        ),
        (
            Some("localhost:8001"),
            "https://localhost:8001/a",
            "https://wiki.lan/",
            "REDIRECT_BLOCKED",
        ),
        (Some("localhost:8001"), "http://localhost:8001/a", "http://example.com/", "ok"),
        (
            Some("localhost:8001"),
            "http://example.com/",
            "http://localhost:8001/",
            "REDIRECT_BLOCKED",
        ),
        (
            Some("intranet.example.com:8443"),
            "https://intranet.example.com/",
            "https://intranet.example.com:8443/",
            "REDIRECT_BLOCKED",
        ),
        (None, "http://example.com/", "http://localhost:8001/", "REDIRECT_BLOCKED"),
        (None, "https://example.com/", "https://wiki.lan/", "REDIRECT_BLOCKED"),
    ] {
        let policy = closed.for_own_host(at);
        let from = policy.check(from).unwrap();
        let got = code(policy.redirect(&from, location, &allowed));
        assert_eq!(got, want, "{} to {location} at {at:?}", from.as_str());
    }
}

#[test]
fn the_refusal_names_the_line_to_write() {
    let mut settings = settings(LINES);
    settings.file = Some("/home/me/.config/commis/config.toml".into());
    let policy = EgressPolicy::with_lookup(&settings, Box::new(DnsTable::default())).unwrap();
    let hint = |url: &str| policy.check(url).unwrap_err().hint_text().unwrap_or("").to_owned();
    for (url, part) in [
        (
            "http://localhost:8003/",
            "\"localhost:8003\" = \"127.0.0.1\" below [egress.own] in /home/me/.config/commis/config.toml",
        ),
        ("http://localhost:8003/", "`commis settings own add localhost:8003`"),
        ("http://192.168.1.9/", "\"192.168.1.9:80\" = \"192.168.1.9\""),
        ("http://[::1]:8000/", "\"[::1]:8000\" = \"::1\""),
        ("https://printer.lan/", "\"printer.lan:443\" = \"ADDRESS\""),
        ("https://printer.lan/", "`commis settings own add printer.lan:443 ADDRESS`"),
        ("http://localhost:8001/", "`own_host: localhost:8001`"),
    ] {
        assert!(hint(url).contains(part), "{url}: {}", hint(url));
    }
    for url in
        ["http://169.254.169.254/", "http://metadata/", "http://localhost:22/", "http://x.test/"]
    {
        assert!(!hint(url).contains("own add"), "{url}: {}", hint(url));
    }
}

/// As a line, host and port of the text are written.
fn names_the_line(text: &str, line: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let port = if scheme == "https" { "443" } else { "80" };
    matches!(scheme, "http" | "https")
        && (authority == line || format!("{authority}:{port}") == line)
}

/// What the shared vectors want of all places inside holds with lines for the very places that they try; from there, the line's
/// own spelling is the only way in.
#[tokio::test]
async fn shared_vectors_with_hosts_of_ones_own() {
    const OPEN: &[(&str, &str)] = &[
        ("localhost:80", "127.0.0.1"),
        ("localhost:443", "127.0.0.1"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("127.0.0.1:443", "127.0.0.1"),
        ("10.0.0.1:80", "10.0.0.1"),
        ("10.0.0.1:443", "10.0.0.1"),
        ("192.168.0.1:80", "192.168.0.1"),
        ("[::1]:80", "::1"),
        ("[::1]:443", "::1"),
    ];
    let places = OPEN.iter().map(|it| Some(it.0)).chain([None, Some("localhost:8001")]);
    let (mut wrong, mut judged, mut opened) = (vec![], 0, 0);
    for at in places {
        for it in SsrfVector::all() {
            let table = DnsTable::new(it.dns.clone());
            let mut settings = settings(OPEN);
            settings.allowed_ports = vec![8443];
            let policy = EgressPolicy::with_lookup(&settings, Box::new(table)).unwrap();
            let by_line = at.is_some_and(|line| names_the_line(&it.input, line));
            judged += 1;
            match (it.is_allowed(), walk(&policy.for_own_host(at), &it).await) {
                (false, Ok(())) if by_line && it.hops.is_empty() => opened += 1,
                (false, Ok(())) => wrong.push(format!("{} at {at:?} passes", it.id)),
                (false, Err(err)) if by_line => wrong.push(format!("{} at {at:?}: {err}", it.id)),
                (true, Err(err)) if !it.is_local_name() => {
                    wrong.push(format!("{} at {at:?}: {err}", it.id));
                }
                _ => {}
            }
        }
    }
    println!("{judged} judged, {opened} opened by their line");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(judged == 0 || opened > 0);
}
