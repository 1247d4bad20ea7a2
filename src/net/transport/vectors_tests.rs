//! The shared SSRF vectors through `public_http`, every connection led to a stand-in: no attempt at what is denied.

use std::{sync::Arc, time::Duration};

use super::{PreparedRequest, Transport as _, TransportLimits, public_http::PublicHttp};
use crate::egress::{
    EgressPolicy,
    stub::{DnsTable, OWN, SsrfVector, StubServers},
};
use commis_base::settings::EgressSettings;

/// What is wrong with how the vector ended, if anything is.
async fn judge(vector: &SsrfVector, own: &[(&str, &str)], at: Option<&str>) -> Option<String> {
    let stand_ins = StubServers::default();
    stand_ins.queue_redirects(vector.hops.clone());
    let table = DnsTable::new(vector.dns.clone());
    let asked = Arc::clone(&table.asked);
    let settings = EgressSettings {
        allowed_ports: vec![8443],
        own: own.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect(),
        ..EgressSettings::default()
    };
    let policy = EgressPolicy::with_stubs(&settings, table, stand_ins.clone());
    let caps = TransportLimits { total: Duration::from_secs(10), ..TransportLimits::DEFAULT };
    let http = PublicHttp::with_limits(Arc::new(policy), caps).unwrap();
    let host = vector.whatwg_host.as_deref().unwrap_or("").trim_end_matches('.').to_owned();
    let secret = |name: &str| (name.to_owned(), "secret".to_owned());
    let request = PreparedRequest {
        method: "GET".to_owned(),
        url: vector.input.clone(),
        headers: ["authorization", "cookie", "x-key"].map(secret).to_vec(),
        body: None,
        allowed_domains: vector.dns.keys().cloned().chain([host.clone()]).collect(),
        own_host: at.map(str::to_owned),
    };
    let result = http.send(&request).await;
    let connects = stand_ins.take();
    let here = vector.first_addresses();
    let wrong = |why: &str| {
        let end = result.as_ref().map_or_else(ToString::to_string, |it| it.status.to_string());
        Some(format!("{} {}: {why}; {end}, {connects:?}", vector.id, vector.input))
    };
    if asked.lock().unwrap().values().any(|n| *n != 1) {
        return wrong("looked up more than once");
    }
    let first = |head: &str| head.to_ascii_lowercase().contains(&format!("host: {host}"));
    if connects.iter().any(|it| it.head.contains("secret") && !first(&it.head)) {
        return wrong("a credential went to another origin");
    }
    if vector.is_allowed() {
        if vector.is_local_name() {
            return None;
        }
        let arrived = connects.first().is_some_and(|it| here.contains(&it.meant.ip()));
        // There is no TLS behind a stand-in.
        let ended = result.is_ok() || vector.input.to_ascii_lowercase().starts_with("https:");
        return if arrived && ended { None } else { wrong("blocked") };
    }
    // A chain of redirects may begin where it is allowed to, and nothing else may be tried.
    let strays = connects.iter().any(|it| vector.hops.is_empty() || !here.contains(&it.meant.ip()));
    // An answer that no client takes for a redirect ends the chain as well.
    let data = result.as_ref().is_ok_and(|it| it.status < 300);
    if strays || data { wrong("not blocked") } else { None }
}

#[tokio::test(flavor = "multi_thread")]
async fn ssrf_vectors_reach_nothing_that_is_denied() {
    let mut wrong = Vec::new();
    let all = SsrfVector::all();
    for it in &all {
        for own in [&[][..], OWN] {
            wrong.extend(judge(it, own, None).await);
            if !it.hops.is_empty() {
                wrong.extend(judge(&it.with_schemes_swapped(), own, None).await);
            }
        }
        // From a host of one's own, no place inside but that one.
        wrong.extend(judge(it, OWN, Some("localhost:8001")).await);
        if !it.hops.is_empty() {
            wrong.extend(judge(&it.with_schemes_swapped(), OWN, Some("127.0.0.1:80")).await);
        }
    }
    println!("{} vectors", all.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Without stand-ins there would be nothing to see: that they do see.
#[tokio::test]
async fn a_connect_to_a_denied_address_would_be_seen() {
    let stand_ins = StubServers::default();
    let denied = "127.0.0.1:80".parse().unwrap();
    let addr = stand_ins.listen_for(denied);
    let _ = tokio::net::TcpStream::connect(addr).await.unwrap();
    let deadline = std::time::Instant::now() + Duration::from_secs(120);
    let mut seen = stand_ins.take();
    while seen.is_empty() && std::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
        seen = stand_ins.take();
    }
    assert_eq!(seen.iter().map(|it| it.meant).collect::<Vec<_>>(), [denied]);
}

#[tokio::test]
async fn names_that_change_or_mix_are_refused_in_every_attempt() {
    let rows = |all: &[&[&str]]| -> Vec<Vec<String>> {
        all.iter().map(|row| row.iter().map(|it| (*it).to_owned()).collect()).collect()
    };
    for (rows, first, again, connects) in [
        // Rebinding between the check and the use: the address that was checked is used.
        (rows(&[&["1.2.3.4"], &["127.0.0.1"]]), "ok", "DNS_BLOCKED", 1),
        (rows(&[&["127.0.0.1"], &["1.2.3.4"]]), "DNS_BLOCKED", "ok", 1),
        (rows(&[&["1.2.3.4", "10.0.0.1"]]), "DNS_BLOCKED", "DNS_BLOCKED", 0),
        (rows(&[&["1.2.3.4", "fd00::1"]]), "DNS_BLOCKED", "DNS_BLOCKED", 0),
        (rows(&[&["2606:4700::1", "::ffff:127.0.0.1"]]), "DNS_BLOCKED", "DNS_BLOCKED", 0),
        (rows(&[&["1.2.3.4", "1.2.3.5"]]), "ok", "ok", 2),
        (rows(&[&[]]), "DNS_FAILED", "DNS_FAILED", 0),
    ] {
        let stand_ins = StubServers::default();
        let shown = format!("{rows:?}");
        let table = DnsTable::new([("a.example.net".to_owned(), rows)].into());
        let asked = Arc::clone(&table.asked);
        let policy = EgressPolicy::with_stubs(&EgressSettings::default(), table, stand_ins.clone());
        let policy = Arc::new(policy);
        let mut ends = Vec::new();
        for attempt in 1..=2 {
            // What a retry does.
            if attempt == 2 {
                let url = policy.check("http://a.example.net/").unwrap();
                let _ = policy.pin_fresh(&url).await;
            }
            let http = PublicHttp::new(Arc::clone(&policy)).unwrap();
            let request = PreparedRequest {
                method: "GET".to_owned(),
                url: "http://a.example.net/".to_owned(),
                headers: Vec::new(),
                body: None,
                allowed_domains: Vec::new(),
                own_host: None,
            };
            let result = http.send(&request).await;
            ends.push(result.err().map_or("ok", |it| it.code().as_str()));
            assert_eq!(asked.lock().unwrap()["a.example.net"], attempt, "{shown}");
        }
        assert_eq!(ends, [first, again], "{shown}");
        assert_eq!(stand_ins.take().len(), connects, "{shown}");
    }
}
