//! Hosts of the user's own: from a refusal to a verified recipe, and who else gets there. A small site on loopback is the host.

use std::{
    io::{BufRead as _, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Output,
    sync::{Arc, Mutex},
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use serde_json::json;

use crate::support::{Home, has_chromium, write};

const PAGE: &str = "<!doctype html><title>Shelf</title><h1>Shelf</h1>
<label>Search <input type=search id=q></label><ul id=out></ul>
<script>
q.addEventListener('keydown', async it => {
  if (it.key !== 'Enter') return;
  const found = await (await fetch('/api/find?q=' + encodeURIComponent(q.value))).json();
  out.innerHTML = found.books.map(it => '<li><h2>' + it.title + '</h2><p>' + it.shelf + '</p></li>').join('');
});
</script>";

/// Requests by method, target and `Host`, as they came.
type RequestLog = Arc<Mutex<Vec<String>>>;

struct BookServer {
    port: u16,
    seen: RequestLog,
}

impl BookServer {
    fn start() -> Self {
        Self::serve(|stream, log| answer(stream, log).unwrap_or_default())
    }

    /// Over TLS, for `localhost`; the second is the certificate of the authority behind it.
    fn start_tls() -> (Self, String) {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let leaf = leaf.signed_by(&key, &*authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.into()], key)
            .unwrap();
        let config = Arc::new(config);
        let shelf = Self::serve(move |stream, log| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            answer(&mut stream, log);
            stream.conn.send_close_notify();
            let _ = stream.flush();
        });
        (shelf, authority.pem())
    }

    fn serve(each: impl Fn(TcpStream, &RequestLog) + Clone + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, seen) = (listener.local_addr().unwrap().port(), RequestLog::default());
        let log = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, each) = (Arc::clone(&log), each.clone());
                std::thread::spawn(move || each(stream, &log));
            }
        });
        Self { port, seen }
    }

    fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn forget(&self) {
        self.seen.lock().unwrap().clear();
    }
}

fn answer(mut stream: impl Read + Write, log: &RequestLog) -> Option<()> {
    let mut lines = BufReader::new(&mut stream).lines();
    let first = lines.next()?.ok()?;
    let mut host = String::new();
    for line in lines.by_ref().map_while(Result::ok).take_while(|it| !it.is_empty()) {
        if let Some(it) = line.to_ascii_lowercase().strip_prefix("host:") {
            it.trim().clone_into(&mut host);
        }
    }
    let target = first.split(' ').nth(1)?;
    log.lock().unwrap().push(format!("{target} {host}"));
    let page = |kind: &str, body: String| (format!("200 OK\r\ncontent-type: {kind}"), body);
    let (head, body) = if let Some(word) = target.strip_prefix("/api/find?q=") {
        let books: Vec<_> = (1..=5)
            .map(|n| json!({"title": format!("The {word} book {n}"), "shelf": format!("{word}-{n}")}))
            .collect();
        page("application/json", json!({ "books": books }).to_string())
    } else if let Some((_, to)) = target.split_once("/to/") {
        (format!("302 Found\r\nlocation: http://{to}"), String::new())
    } else {
        page("text/html", PAGE.to_owned())
    };
    let rest = format!("content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    stream.write_all(format!("HTTP/1.1 {head}\r\n{rest}").as_bytes()).ok()
}

fn run(home: &Home, args: &[&str]) -> Output {
    run_with(home, args, &[])
}

/// With the folder given as a flag, and by no variable.
fn run_with(home: &Home, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = home.command(args);
    command.envs(variables.iter().copied());
    command.args(["--home", home.path().to_str().unwrap()]).env_remove("COMMIS_HOME");
    command.output().unwrap()
}

fn output_text(out: &Output) -> String {
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    format!("{:?}\n{}\n{}", out.status.code(), text(&out.stdout), text(&out.stderr))
}

fn recipe(own: &str, url: &str, host: &str) -> String {
    let own = if own.is_empty() { String::new() } else { format!("own_host: '{own}'\n") };
    format!(
        "version: 1\nname: try\ntask: Try it\nstatus: draft\nsource_url: {url}\n{own}request:\n  method: GET\n  url: {url}\n  allowed_domains: ['{host}']\nresponse: {{ type: text }}\n"
    )
}

fn learn(home: &Home, url: &str) -> Vec<String> {
    let steps = home.path().join("steps.yaml");
    write(
        &steps,
        "- fill: {role: searchbox, name: Search, value: '{query}'}\n- press: Enter\n- wait_for: {text: 'The {query} book 5'}\n",
    );
    let steps = steps.to_str().unwrap();
    let task = "Find the books about {query} on the shelf";
    let args =
        ["recipe", "learn", "--url", url, "--steps", steps, "--task", task, "--name", "shelf"];
    let examples = ["-p", "query=harbour", "--second", "query=lantern"];
    args.into_iter().chain(examples).map(str::to_owned).collect()
}

/// An authority that the machine trusts vouches for the host, in the browser and in what runs without one.
#[test]
fn a_host_of_ones_own_over_https() {
    if !has_chromium() {
        return;
    }
    let (home, (shelf, authority)) = (Home::new(), BookServer::start_tls());
    let place = format!("localhost:{}", shelf.port);
    let file = home.path().join("authority.pem");
    write(&file, &authority);
    let trusted = [("SSL_CERT_FILE", file.to_str().unwrap())];
    let learn = learn(&home, &format!("https://{place}/"));
    let learn: Vec<&str> = learn.iter().map(String::as_str).collect();
    let try_it = ["recipe", "run", "shelf", "-p", "query=anchor"];
    run(&home, &["settings", "own", "add", &place]);

    let unknown = output_text(&run(&home, &learn));
    assert!(
        unknown.contains("TLS_FAILED") && unknown.contains("no trusted authority"),
        "{unknown}"
    );
    assert!(shelf.requests().is_empty(), "{:?}", shelf.requests());
    let learned = output_text(&run_with(&home, &learn, &trusted));
    assert!(learned.contains("shelf: verified"), "{learned}");
    let ran = output_text(&run_with(&home, &try_it, &trusted));
    assert!(ran.contains("The anchor book 5"), "{ran}");
    shelf.forget();
    let unknown = output_text(&run(&home, &try_it));
    assert!(unknown.contains("TLS_FAILED") && unknown.contains("SSL_CERT_FILE"), "{unknown}");
    assert!(shelf.requests().is_empty(), "{:?}", shelf.requests());
}

#[test]
fn from_a_refusal_to_a_verified_recipe() {
    if !has_chromium() {
        return;
    }
    let (home, shelf) = (Home::new(), BookServer::start());
    let place = format!("localhost:{}", shelf.port);
    let learn = learn(&home, &format!("http://{place}/"));
    let learn: Vec<&str> = learn.iter().map(String::as_str).collect();
    let refused = output_text(&run(&home, &learn));
    let file = home.path().join("config.toml");
    let line = format!("\"{place}\" = \"127.0.0.1\" below [egress.own] in {}", file.display());
    let command = format!("commis settings own add {place}");
    assert!(refused.contains(&line) && refused.contains(&command), "{refused}");
    assert!(shelf.requests().is_empty(), "{:?}", shelf.requests());

    let added = output_text(&run(&home, &["settings", "own", "add", &place]));
    let told = format!("hosts of your own are open: {place} at 127.0.0.1");
    assert!(added.contains(&told), "{added}");
    let learned = output_text(&run(&home, &learn));
    // Only a terminal is told each time.
    assert!(learned.contains("shelf: verified") && !learned.contains(&told), "{learned}");
    assert!(shelf.requests().iter().all(|it| it.ends_with(&format!(" {place}"))));
    let text = std::fs::read_to_string(home.path().join("recipes/shelf.yaml")).unwrap();
    assert!(text.contains(&format!("own_host: {place}\n")), "{text}");

    let ran = output_text(&run(&home, &["recipe", "run", "shelf", "-p", "query=anchor"]));
    assert!(ran.contains("The anchor book 5"), "{ran}");
    // Without the line it runs no longer, and says what is missing.
    run(&home, &["settings", "own", "remove", &place]);
    shelf.forget();
    let closed = output_text(&run(&home, &["recipe", "run", "shelf", "-p", "query=anchor"]));
    assert!(closed.contains("URL_BLOCKED") && closed.contains(&command), "{closed}");
    assert!(shelf.requests().is_empty(), "{:?}", shelf.requests());
}

#[test]
fn a_recipe_from_elsewhere_does_not_reach_a_host_of_ones_own() {
    let (home, shelf) = (Home::new(), BookServer::start());
    let port = shelf.port;
    let (place, second) = (format!("localhost:{port}"), format!("127.0.0.1:{port}"));
    for it in [&place, &second] {
        run(&home, &["settings", "own", "add", it]);
    }
    let own = format!("http://{place}");
    let elsewhere = |path: &str| {
        recipe("", &format!("http://x.test{path}"), "x.test")
            .replace("['x.test']", "['x.test', 'localhost']")
    };
    let slot = format!(
        "{}slots:\n  - name: x\n    from:\n      document: {{ url: '{own}/slot', after: a, until: b }}\n",
        elsewhere("/{x}")
    );
    let pin = format!("x.test=127.0.0.1:{port}");
    for (text, code) in [
        (recipe(&place, &format!("{own}/fine"), "localhost"), ""),
        (recipe("", &format!("{own}/unmarked"), "localhost"), "URL_BLOCKED"),
        (recipe("", &format!("http://{second}/unmarked"), "127.0.0.1"), "URL_BLOCKED"),
        (recipe(&second, &format!("{own}/otherwise"), "localhost"), "RECIPE_INVALID"),
        (recipe(&place, &format!("http://{second}/other"), "127.0.0.1"), "RECIPE_INVALID"),
        (recipe(&place, &format!("http://localhost.:{port}/dot"), "localhost"), "RECIPE_INVALID"),
        (recipe(&place, &format!("{own}/to/{second}/hop"), "localhost"), "REDIRECT_BLOCKED"),
        (recipe(&place, &format!("{own}/to/localhost:1/hop"), "localhost"), "REDIRECT_BLOCKED"),
        (
            recipe(&place, &format!("{own}/to/localhost.:{port}/hop"), "localhost"),
            "REDIRECT_BLOCKED",
        ),
        (recipe(&place, &format!("{own}/to/{place}/own-hop"), "localhost"), ""),
        (elsewhere(&format!("/to/{place}/through")), "REDIRECT_BLOCKED"),
        (elsewhere("/fine"), ""),
        (slot, "URL_BLOCKED"),
    ] {
        home.recipe("try", &text);
        let args = ["recipe", "run", "try", "--draft", "--json", "--test-host", &pin];
        let out = run(&home, &args);
        let got: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        assert_eq!(got["error_code"].as_str().unwrap_or(""), code, "{text}\n{}", output_text(&out));
    }
    let asked = shelf.requests();
    for part in ["/unmarked", "/other", "/dot", "/hop", "/slot", "/through"] {
        assert!(!asked.iter().any(|it| it.starts_with(part)), "{part}: {asked:?}");
    }
    for part in ["/fine", "/own-hop"] {
        assert!(asked.iter().any(|it| it.starts_with(part)), "{part}: {asked:?}");
    }
}

#[test]
fn a_variable_opens_no_host_of_ones_own() {
    let (home, shelf) = (Home::new(), BookServer::start());
    let place = format!("localhost:{}", shelf.port);
    run(&home, &["settings", "own", "add", &place]);
    home.recipe("try", &recipe(&place, &format!("http://{place}/"), "localhost"));
    // The folder is named by COMMIS_HOME.
    let out = home.run(&["recipe", "run", "try", "--draft", "--json"]);
    let text = output_text(&out);
    assert!(text.contains("URL_BLOCKED") && text.contains("$COMMIS_HOME"), "{text}");
    assert!(shelf.requests().is_empty(), "{:?}", shelf.requests());
    let out = run(&home, &["recipe", "run", "try", "--draft", "--json"]);
    assert!(output_text(&out).contains("\"success\": true"), "{}", output_text(&out));
    let bad = run(&home, &["settings", "own", "add", "wiki.lan:443", "8.8.8.8"]);
    assert!(output_text(&bad).contains("neither loopback nor private"), "{}", output_text(&bad));
}
