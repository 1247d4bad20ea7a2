//! The policy against hand-picked cases and the public SSRF vectors.

use super::{
    stub::{DnsTable, SsrfVector, vectors},
    *,
};

fn policy(settings: &EgressSettings) -> EgressPolicy {
    EgressPolicy::with_lookup(settings, Box::new(DnsTable::default())).unwrap()
}

fn pinned_policy() -> EgressPolicy {
    policy(&EgressSettings {
        test_hosts: vec!["shop.test=127.0.0.1:8123".into(), "*.test=127.0.0.2:9000".into()],
        allowed_ports: vec![8443],
        ..EgressSettings::default()
    })
}

pub(super) fn code<T>(result: Result<T>) -> &'static str {
    result.err().map_or("ok", |it| it.code().as_str())
}

#[test]
fn urls() {
    let policy = policy(&EgressSettings { allowed_ports: vec![8443], ..EgressSettings::default() });
    for (url, want) in [
        ("https://example.com/a?b=c#d", "ok"),
        ("https://EXAMPLE.com./", "ok"),
        ("http://example.com:443/", "ok"),
        ("https://example.com:8443/", "ok"),
        ("https://example.com:8444/", "URL_BLOCKED"),
        ("https://example.com:22/", "URL_BLOCKED"),
        ("https://example.com/?q=a\\b", "ok"),
        ("https://bücher.example.com/", "ok"),
        ("https://example.com/a b", "URL_INVALID"),
        ("https://exam\nple.com/", "URL_INVALID"),
        ("https://example.com\\@10.0.0.1/", "ok"),
        ("https://10.0.0.1\\@example.com/", "URL_BLOCKED"),
        ("https://u@example.com\\@10.0.0.1/", "URL_BLOCKED"),
        ("https://example.com\\\\@10.0.0.1/", "URL_INVALID"),
        ("https://example.com\\/@10.0.0.1/", "URL_INVALID"),
        ("https://example.com/\\@10.0.0.1/", "URL_INVALID"),
        ("https://\\10.0.0.1/", "URL_INVALID"),
        ("https:\\\\10.0.0.1/", "URL_INVALID"),
        ("https:example.com", "URL_INVALID"),
        ("https:///example.com", "URL_INVALID"),
        ("https://a..example.com/", "URL_INVALID"),
        ("https://10.0.0.1;example.com/", "URL_INVALID"),
        ("https://example.com../", "URL_INVALID"),
        ("https://u:p@example.com/", "URL_BLOCKED"),
        ("https://@example.com/", "URL_BLOCKED"),
        ("ftp://example.com/", "URL_BLOCKED"),
        ("file:///etc/passwd", "URL_BLOCKED"),
        ("wss://example.com/", "URL_BLOCKED"),
        ("http://2130706433/", "URL_BLOCKED"),
        ("http://0x7f.1/", "URL_BLOCKED"),
        ("http://[::ffff:10.0.0.1]/", "URL_BLOCKED"),
        ("http://169.254.169.254/latest/", "URL_BLOCKED"),
        ("http://168.63.129.16/", "URL_BLOCKED"),
        ("http://metadata.google.internal/", "URL_BLOCKED"),
        ("http://metadata.google.internal./", "URL_BLOCKED"),
        ("http://localhost/", "URL_BLOCKED"),
        ("http://a.localhost/", "URL_BLOCKED"),
        ("http://printer.local/", "URL_BLOCKED"),
        ("http://router/", "URL_BLOCKED"),
        ("http://shop.test/", "URL_BLOCKED"),
        ("http://8.8.8.8/", "ok"),
        ("", "URL_INVALID"),
    ] {
        assert_eq!(code(policy.check(url)), want, "{url}");
    }
}

#[test]
fn metadata_services_have_many_names() {
    let policy = policy(&EgressSettings::default());
    for host in [
        "instance-data",
        "instance-data.eu-west-1.compute.internal",
        "metadata.goog",
        "metadata.google.internal",
        "eu.metadata.google.internal",
        "metadata.azure.com",
        "metadata.azure.us",
        "api.metadata.cloud.ibm.com",
        "api.service.softlayer.com",
        "metadata.tencentyun.com",
        "metadata.packet.net",
        "ny5.metadata.packet.net",
        "metadata.platformequinix.com",
        "METADATA.Packet.net.",
        "rancher-metadata",
        "kubernetes.default",
    ] {
        assert_eq!(code(policy.check(&format!("https://{host}/"))), "URL_BLOCKED", "{host}");
    }
    for host in
        ["metadata.example.com", "packet.net", "azure.com", "notmetadata.goog", "cloud.ibm.com"]
    {
        assert_eq!(code(policy.check(&format!("https://{host}/"))), "ok", "{host}");
    }
}

#[test]
fn parts_are_canonical() {
    let policy = pinned_policy();
    for (url, host, port, site) in [
        ("https://A.Shop.Example.co.uk./x", "a.shop.example.co.uk", 443, "example.co.uk"),
        ("http://bücher.de/", "xn--bcher-kva.de", 80, "xn--bcher-kva.de"),
        ("http://a.b.shop.test/", "a.b.shop.test", 80, "shop.test"),
        ("http://shop.test:8123/", "shop.test", 8123, "shop.test"),
        ("http://[2606:4700::1]/", "[2606:4700::1]", 80, "[2606:4700::1]"),
        ("http://134744072/", "8.8.8.8", 80, "8.8.8.8"),
    ] {
        let got = policy.check(url).unwrap();
        assert_eq!((got.host(), got.port(), got.site().as_str()), (host, port, site), "{url}");
    }
}

#[tokio::test]
async fn test_hosts_reach_their_pin_only() {
    let policy = pinned_policy();
    for (url, want) in [
        ("http://shop.test/", "127.0.0.1:8123"),
        ("https://shop.test/", "127.0.0.1:8123"),
        ("http://shop.test:8123/", "127.0.0.1:8123"),
        ("http://shop.test:8443/", "127.0.0.1:8123"),
        ("http://SHOP.test./", "127.0.0.1:8123"),
        ("http://a.b.test/", "127.0.0.2:9000"),
    ] {
        let url = policy.check(url).unwrap();
        assert_eq!(policy.pin(&url).await.unwrap().addrs(), [want.parse().unwrap()]);
    }
    assert_eq!(code(policy.check("http://shop.test:8124/")), "URL_BLOCKED");
    assert_eq!(code(policy.check("http://shop.test:9000/")), "URL_BLOCKED");
    assert_eq!(code(policy.check("http://test/")), "URL_BLOCKED");
    assert!(policy.is_test_host("Shop.test.") && !policy.is_test_host("example.com"));
}

#[test]
fn test_hosts_are_test_names_at_loopback() {
    for (entry, want) in [
        ("shop.test=127.0.0.1:80", "ok"),
        ("a.b.test=[::1]:8000", "ok"),
        ("*.test=127.9.9.9:1", "ok"),
        ("shop.com=127.0.0.1:80", "SETTINGS_INVALID"),
        ("test=127.0.0.1:80", "SETTINGS_INVALID"),
        ("*=127.0.0.1:80", "SETTINGS_INVALID"),
        ("*.com=127.0.0.1:80", "SETTINGS_INVALID"),
        (".test=127.0.0.1:80", "SETTINGS_INVALID"),
        ("a/b.test=127.0.0.1:80", "SETTINGS_INVALID"),
        ("shop.test=10.0.0.1:80", "SETTINGS_INVALID"),
        ("shop.test=169.254.169.254:80", "SETTINGS_INVALID"),
        ("shop.test=127.0.0.1", "SETTINGS_INVALID"),
        ("shop.test=127.0.0.1:0", "SETTINGS_INVALID"),
        ("shop.test", "SETTINGS_INVALID"),
    ] {
        let settings =
            EgressSettings { test_hosts: vec![entry.into()], ..EgressSettings::default() };
        assert_eq!(code(EgressPolicy::new(&settings)), want, "{entry}");
    }
    let bad_port = EgressSettings { allowed_ports: vec![22], ..EgressSettings::default() };
    assert_eq!(code(EgressPolicy::new(&bad_port)), "SETTINGS_INVALID");
}

#[test]
fn a_test_ca_counts_for_pinned_test_hosts() {
    let settings = |pins: &[&str]| EgressSettings {
        test_hosts: pins.iter().map(|it| (*it).to_owned()).collect(),
        test_ca_pem: Some(commis_testbed::authority_pem()),
        ..EgressSettings::default()
    };
    let some = policy(&settings(&["shop.test=127.0.0.1:80"]));
    for (host, counts) in [
        ("shop.test", true),
        ("SHOP.test.", true),
        ("else.test", false),
        ("shop.test.com", false),
        ("shop.com", false),
        ("127.0.0.1", false),
    ] {
        assert_eq!(some.test_ca(host).is_some(), counts, "{host}");
    }
    assert!(some.has_vouched_hosts());
    assert!(policy(&settings(&["*.test=127.0.0.1:80"])).test_ca("a.b.test").is_some());
    assert!(!policy(&settings(&[])).has_vouched_hosts());
    for pem in ["", "no pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let wrong = EgressSettings { test_ca_pem: Some(pem.to_owned()), ..settings(&[]) };
        assert_eq!(code(EgressPolicy::new(&wrong)), "SETTINGS_INVALID", "{pem}");
    }
    let nowhere =
        EgressSettings { test_ca: Some("/nowhere/ca.pem".into()), ..EgressSettings::default() };
    assert_eq!(code(EgressPolicy::new(&nowhere)), "SETTINGS_INVALID");
}

#[tokio::test]
async fn look_ups_are_cached_and_one_bad_answer_blocks() {
    let rows = |it: &[&[&str]]| -> Vec<Vec<String>> {
        it.iter().map(|row| row.iter().map(|it| (*it).to_owned()).collect()).collect()
    };
    let stub = DnsTable::new(
        [
            ("flip.com", rows(&[&["1.2.3.4"], &["127.0.0.1"]])),
            ("mixed.com", rows(&[&["1.2.3.4", "::1"]])),
            ("none.com", rows(&[&[]])),
        ]
        .map(|(name, rows)| (name.to_owned(), rows))
        .into(),
    );
    let asked = Arc::clone(&stub.asked);
    let policy = EgressPolicy::with_lookup(&EgressSettings::default(), Box::new(stub)).unwrap();
    let url = |it: &str| policy.check(it).unwrap();
    let flip = url("https://flip.com/");
    for _ in 0..3 {
        let pinned = policy.pin(&flip).await.unwrap();
        assert_eq!(pinned.addrs(), ["1.2.3.4:443".parse().unwrap()]);
    }
    assert_eq!(asked.lock().unwrap()["flip.com"], 1);
    assert_eq!(code(policy.pin_fresh(&flip).await), "DNS_BLOCKED");
    assert_eq!(code(policy.pin(&url("http://mixed.com/")).await), "DNS_BLOCKED");
    assert_eq!(code(policy.pin(&url("http://none.com/")).await), "DNS_FAILED");
}

#[test]
fn redirects() {
    let policy = pinned_policy();
    let from = policy.check("https://a.example.com/x/y").unwrap();
    for (location, want) in [
        ("/z", "ok"),
        ("z?q=1", "ok"),
        ("https://A.example.com./z", "ok"),
        ("https://b.example.com/", "ok"),
        ("//b.example.com/", "ok"),
        ("https://c.example.com/", "REDIRECT_BLOCKED"),
        ("http://a.example.com/", "REDIRECT_BLOCKED"),
        ("https://a.example.com:22/", "REDIRECT_BLOCKED"),
        ("https://127.0.0.1/", "REDIRECT_BLOCKED"),
        ("\\\\b.example.com/", "REDIRECT_BLOCKED"),
        ("https://u@a.example.com/", "REDIRECT_BLOCKED"),
        ("javascript:alert(1)", "REDIRECT_BLOCKED"),
        ("/a b", "REDIRECT_BLOCKED"),
        ("", "ok"),
    ] {
        let allowed = ["b.example.com".to_owned()];
        assert_eq!(code(policy.redirect(&from, location, &allowed)), want, "{location}");
    }
}

#[tokio::test]
async fn without_network_everything_ends_there() {
    let policy = policy(&EgressSettings { no_network: true, ..EgressSettings::default() });
    let url = policy.judge("https://example.com/").unwrap();
    assert_eq!(code(policy.check("https://example.com/")), "NETWORK_DISABLED");
    assert_eq!(code(policy.check("ftp://x")), "NETWORK_DISABLED");
    assert_eq!(code(policy.pin(&url).await), "NETWORK_DISABLED");
    assert_eq!(code(policy.redirect(&url, "/", &[])), "NETWORK_DISABLED");
}

#[tokio::test]
async fn shared_vectors() {
    let settings = EgressSettings { allowed_ports: vec![8443], ..EgressSettings::default() };
    let (mut bypassed, mut overblocked) = (vec![], vec![]);
    for it in SsrfVector::all() {
        let table = DnsTable::new(it.dns.clone());
        let asked = Arc::clone(&table.asked);
        let policy = EgressPolicy::with_lookup(&settings, Box::new(table)).unwrap();
        match (it.is_allowed(), walk(&policy, &it).await) {
            (false, Ok(())) => bypassed.push(it.id.clone()),
            (true, Err(err)) if it.is_local_name() => println!("stricter: {} {err}", it.id),
            (true, Err(err)) => overblocked.push(format!("{} {err}", it.id)),
            _ => {}
        }
        assert!(asked.lock().unwrap().values().all(|n| *n == 1), "{}", it.id);
    }
    assert!(
        bypassed.is_empty() && overblocked.is_empty(),
        "bypassed {bypassed:?}, overblocked {overblocked:#?}"
    );
}

/// The first URL and every hop as a transport takes them; statuses that carry no redirect end the chain.
pub(super) async fn walk(policy: &EgressPolicy, vector: &SsrfVector) -> Result<()> {
    let mut url = policy.check(&vector.input)?;
    policy.pin(&url).await?;
    let mut visited = vec![url.clone()];
    for (status, location) in &vector.hops {
        match status {
            301 | 302 | 303 | 307 | 308 => {}
            300 | 305 => return Err(Error::new(Code::RedirectBlocked, "not followed")),
            _ => break,
        }
        let allowed: Vec<String> = vector.dns.keys().cloned().collect();
        url = policy.redirect(&url, location, &allowed)?;
        policy.pin(&url).await?;
        // A loop has not reached anything denied; the transport ends it by its count.
        if visited.contains(&url) || visited.len() > 5 {
            return Err(Error::new(Code::TooManyRedirects, "loops, or more than 5"));
        }
        visited.push(url.clone());
    }
    Ok(())
}

#[test]
fn the_bad_ports_are_the_standards() {
    let Some(list) = vectors("bad_ports.json") else {
        return;
    };
    let mut n = 0;
    for port in ["ports", "extra_policy"].iter().flat_map(|it| list[it].as_array().unwrap()) {
        assert!(names::is_bad_port(port.as_u64().unwrap() as u16), "{port}");
        n += 1;
    }
    assert!(n > 0);
}

#[test]
fn the_registries_are_covered() {
    let Some(blocks) = vectors("iana_special_purpose.json") else {
        return;
    };
    for it in blocks.as_array().unwrap() {
        let Ok(net) = it["block"].as_str().unwrap().parse::<ipnet::IpNet>() else {
            continue;
        };
        let allowed = it["policy"] == "allow";
        for address in [net.network(), net.broadcast()] {
            assert_eq!(address::denial_reason(address).is_none(), allowed, "{address}");
        }
    }
}

/// A name server on loopback: `A` answers by name, nothing for other types, NXDOMAIN for other names.
async fn name_server(names: &'static [(&str, [u8; 4])]) -> SocketAddr {
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let addr = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 1500];
        loop {
            let (n, from) = socket.recv_from(&mut buffer).await.unwrap();
            let query = &buffer[..n];
            // The question starts at byte 12: labels, zero, type, class.
            let (mut name, mut at) = (String::new(), 12);
            while query[at] != 0 {
                let len = usize::from(query[at]);
                name += &String::from_utf8_lossy(&query[at + 1..=at + len]).to_lowercase();
                name.push('.');
                at += len + 1;
            }
            let is_a = query[at + 2] == 1;
            let found = names.iter().find(|it| it.0 == name);
            let answers = u8::from(found.is_some() && is_a);
            let rcode = if found.is_some() { 0 } else { 3 };
            let mut reply = query[..2].to_vec();
            reply.extend([0x81, 0x80 | rcode, 0, 1, 0, answers, 0, 0, 0, 0]);
            reply.extend(&query[12..at + 5]);
            if let (Some((_, ip)), true) = (found, is_a) {
                reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
                reply.extend(ip);
            }
            socket.send_to(&reply, from).await.unwrap();
        }
    });
    addr
}

#[tokio::test]
async fn real_look_ups() {
    let server = name_server(&[
        ("ok.com.", [93, 184, 216, 34]),
        ("loop.com.", [127, 0, 0, 1]),
        ("cloud.com.", [169, 254, 169, 254]),
    ])
    .await;
    let policy = EgressPolicy::new(&EgressSettings {
        nameserver: Some(server),
        ..EgressSettings::default()
    })
    .unwrap();
    for (url, want) in [
        ("https://ok.com/", "ok"),
        ("https://OK.com./", "ok"),
        ("https://loop.com/", "DNS_BLOCKED"),
        ("https://cloud.com/", "DNS_BLOCKED"),
        ("https://gone.com/", "DNS_FAILED"),
    ] {
        let url = policy.check(url).unwrap();
        let pinned = policy.pin(&url).await;
        assert_eq!(
            code(pinned.as_ref().map_err(|err| Error::new(err.code(), ""))),
            want,
            "{url:?}"
        );
        if let Ok(pinned) = pinned {
            assert_eq!(pinned.addrs(), ["93.184.216.34:443".parse().unwrap()]);
        }
    }
}
