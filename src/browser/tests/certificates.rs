//! One table of wrong certificates, run through every sender: our client, both transports of a session, and a page that is
//! opened. Each ends in `TLS_FAILED` with the reason and a hint, and nothing of the request arrives.

use std::{
    io::BufRead as _,
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use crate::{Browser, find_chromium};
use commis_base::{
    error::{Error, Result},
    settings::EgressSettings,
};
use commis_net::{
    egress::{
        EgressPolicy,
        stub::{ANY, DnsTable, StubServers},
    },
    transport::{PreparedRequest, Transport, public_http::PublicHttp},
};
use commis_testbed::{CertificateFault, Testbed, WRONG, authority_pem};

fn words(wrong: CertificateFault) -> &'static str {
    match wrong {
        CertificateFault::Expired => "has expired",
        CertificateFault::NotYetValid => "not valid yet",
        CertificateFault::OtherName => "for another name",
        CertificateFault::SelfSigned | CertificateFault::UnknownAuthority => "no trusted authority",
        CertificateFault::OldVersion | CertificateFault::VersionAlert => "no version of TLS",
    }
}

fn settings(web: &Testbed) -> EgressSettings {
    EgressSettings {
        test_hosts: vec![format!("*.test={}", web.addr())],
        test_ca_pem: Some(authority_pem()),
        ..EgressSettings::default()
    }
}

fn get(url: &str) -> PreparedRequest {
    PreparedRequest {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: vec![("x-secret".to_owned(), "1".to_owned())],
        body: None,
        allowed_domains: Vec::new(),
        own_host: None,
    }
}

/// What each sender says of a URL, by its name.
async fn all(
    policy: &Arc<EgressPolicy>,
    home: &str,
    urls: &[&str],
) -> Vec<(String, Option<Error>)> {
    let mut out = Vec::new();
    let http = PublicHttp::new(Arc::clone(policy)).unwrap();
    for url in urls {
        out.push((format!("public_http {url}"), http.send(&get(url)).await.err()));
    }
    let Ok(exe) = find_chromium(None) else {
        commis_base::testing::skip_without("Chromium");
        return out;
    };
    let browser = Browser::launch(&exe, Arc::clone(policy)).await.unwrap();
    let mut context = browser.context().await.unwrap();
    context.open(home, Duration::from_secs(20)).await.unwrap();
    let session: [Box<dyn Transport>; 2] =
        [Box::new(context.context_request()), Box::new(context.in_page_fetch())];
    for transport in &session {
        for url in urls {
            let name = format!("{:?} {url}", transport.kind());
            out.push((name, transport.send(&get(url)).await.err()));
        }
    }
    for url in urls {
        let opened: Result<()> = context.open(url, Duration::from_secs(20)).await;
        out.push((format!("page {url}"), opened.err()));
    }
    browser.close().await.unwrap();
    out
}

fn check(wrong: &mut Vec<String>, name: &str, err: Option<&Error>, words: &str) {
    let found = err.map(|it| (it.code().as_str(), it.message().contains(words), it.hint_text()));
    if !matches!(found, Some(("TLS_FAILED", true, Some(_)))) {
        wrong.push(format!("{name}: {err:?}, not {words}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_certificates_end_alike() {
    let web = Testbed::start(0).await.unwrap();
    let rsa = RsaKeys::start();
    let mut settings = settings(&web);
    if let Some(it) = &rsa {
        settings.test_hosts.push(format!("weak.rsa.test={}", it.weak));
        settings.test_hosts.push(format!("strong.rsa.test={}", it.strong));
        settings.test_ca_pem = settings.test_ca_pem.map(|pem| pem + &it.ca_pem);
    }
    let policy = Arc::new(EgressPolicy::new(&settings).unwrap());
    let mut table: Vec<(String, &str)> =
        WRONG.iter().map(|it| (format!("https://{}/", it.0), words(it.1))).collect();
    if rsa.is_some() {
        table.push(("https://weak.rsa.test/".to_owned(), "weak key"));
        // Nothing is wrong but its size.
        table.push(("https://strong.rsa.test/".to_owned(), ""));
    }
    let urls: Vec<&str> = table.iter().map(|it| &*it.0).collect();
    let mut wrong = Vec::new();
    for (name, err) in all(&policy, "https://shop.test/", &urls).await {
        let words = table.iter().find(|it| name.ends_with(&it.0)).unwrap().1;
        if words.is_empty() && !name.starts_with("public_http") {
            // That server takes one connection at a time, and browsers hold some open.
            continue;
        }
        println!("{name}: {err:?}");
        match err {
            None if words.is_empty() => {}
            err => check(&mut wrong, &name, err.as_ref(), words),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let arrived: Vec<String> =
        web.hits().into_keys().filter(|it| it.contains("wrong.test")).collect();
    assert!(arrived.is_empty(), "{arrived:?}");
}

/// Chromium judges by itself where there is no test CA.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_test_ca_no_test_host_is_trusted() {
    let web = Testbed::start(0).await.unwrap();
    let settings = EgressSettings { test_ca_pem: None, ..settings(&web) };
    let policy = Arc::new(EgressPolicy::new(&settings).unwrap());
    let urls = [
        "https://library.test/",
        "https://self-signed.wrong.test/",
        "https://old-version.wrong.test/",
    ];
    let mut wrong = Vec::new();
    for (name, err) in all(&policy, "http://shop.test/", &urls).await {
        println!("{name}: {err:?}");
        let words =
            if name.contains("old-version") { "no version of TLS" } else { "no trusted authority" };
        check(&mut wrong, &name, err.as_ref(), words);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same authority, the same server, another name: the test CA is nobody's there, also in the browser that trusts it
/// for test hosts. Nor is it where a `.test` name is not pinned.
#[tokio::test(flavor = "multi_thread")]
async fn the_test_ca_vouches_for_pinned_test_hosts_alone() {
    let web = Testbed::start(0).await.unwrap();
    let stand_ins = StubServers::default();
    stand_ins.forward(SocketAddr::new(ANY, 443), web.addr());
    let mut settings = settings(&web);
    settings.test_hosts = vec![format!("shop.test={}", web.addr())];
    let policy =
        Arc::new(EgressPolicy::with_stubs(&settings, DnsTable::default(), stand_ins.clone()));
    let mut wrong = Vec::new();
    let urls = ["https://bank.example.com/", "https://library.test/"];
    for (name, err) in all(&policy, "https://shop.test/", &urls).await {
        println!("{name}: {err:?}");
        if name.ends_with("library.test/") {
            let code = err.as_ref().map(|it| it.code().as_str());
            if code != Some("URL_BLOCKED") {
                wrong.push(format!("{name}: {err:?}"));
            }
        } else {
            check(&mut wrong, &name, err.as_ref(), "no trusted authority");
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let arrived: Vec<String> = web
        .hits()
        .into_keys()
        .filter(|it| !it.contains("shop.test") && !it.contains("tracker"))
        .collect();
    assert!(
        arrived.iter().all(|it| !it.contains("bank") && !it.contains("library")),
        "{arrived:?}"
    );
}

/// Servers whose certificates hold RSA keys, one of them of 1,024 bits, which none of our own libraries makes; and the
/// authority that signed both.
struct RsaKeys {
    children: Vec<Child>,
    weak: SocketAddr,
    strong: SocketAddr,
    ca_pem: String,
    _folder: tempfile::TempDir,
}

impl RsaKeys {
    /// `None`, with a line saying so, where there is no `openssl`.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let openssl = |args: &str| {
            #[expect(
                clippy::disallowed_methods,
                reason = "a test makes a key that no library of ours makes"
            )]
            let mut out = Command::new("openssl");
            out.args(args.split(' ')).current_dir(folder.path());
            out.stdin(Stdio::piped()).stderr(Stdio::null());
            out
        };
        let made = |args: &str| openssl(args).status().is_ok_and(|it| it.success());
        let ca =
            "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj /CN=RSA";
        let leaf = |name: &str, bits: u32| {
            format!(
                "req -x509 -CA ca.pem -CAkey ca.key -newkey rsa:{bits} -nodes -keyout {name}.key -out {name}.pem -days 30 \
                 -subj /CN={name}.rsa.test -addext subjectAltName=DNS:{name}.rsa.test -addext basicConstraints=CA:FALSE"
            )
        };
        if !(made(ca) && made(&leaf("weak", 1024)) && made(&leaf("strong", 2048))) {
            println!("no openssl here: a weak key is not tested");
            return None;
        }
        let ca_pem = std::fs::read_to_string(folder.path().join("ca.pem")).unwrap();
        let mut children = Vec::new();
        let mut serve = |name: &str| {
            let args = format!(
                "s_server -accept 127.0.0.1:0 -key {name}.key -cert {name}.pem -cipher DEFAULT@SECLEVEL=0 -www"
            );
            let mut child = openssl(&args).stdout(Stdio::piped()).spawn().unwrap();
            let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
            let line = lines.map_while(Result::ok).find(|it| it.starts_with("ACCEPT ")).unwrap();
            children.push(child);
            line.trim_start_matches("ACCEPT ").trim().parse().unwrap()
        };
        let (weak, strong) = (serve("weak"), serve("strong"));
        Some(Self { children, weak, strong, ca_pem, _folder: folder })
    }
}

impl Drop for RsaKeys {
    fn drop(&mut self) {
        for it in &mut self.children {
            let _ = it.kill();
            let _ = it.wait();
        }
    }
}
