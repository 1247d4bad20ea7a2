//! Logins that are kept: made by a form, used in another process, and nowhere in plain.

use std::{fs, path::Path};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    daemon::{Daemon, UNLIMITED},
    support::{Home, Web, has_chromium, write},
};

const PASSWORD: &str = "marmalade-and-toast";

/// A web in a process of its own, which goes on knowing who is logged in.
struct VaultSetup {
    web: Web,
    daemon: Daemon,
}

fn place() -> Option<VaultSetup> {
    if !has_chromium() {
        return None;
    }
    let home = Home::new();
    write(&home.path().join("config.toml"), UNLIMITED);
    let web = Web::start(&home);
    let daemon = Daemon::start_in(home, &["--test-host", &web.test_host]);
    Some(VaultSetup { web, daemon })
}

impl VaultSetup {
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let pin = ["--test-host", &*self.web.test_host];
        let all: Vec<&str> = args.iter().copied().chain(pin).collect();
        let mut command = self.daemon.home.command(&all);
        command.env("ACCOUNTS_USER", "ada@accounts.test").env("ACCOUNTS_WORD", PASSWORD);
        let word = format!("plum-{}-ada-lund", &digest("password of ada-lund")[..8]);
        command.env("SHELF_NAME", "ada-lund").env("SHELF_WORD", word);
        let out = command.output().unwrap();
        let text = |it: &[u8]| String::from_utf8_lossy(it).trim_end().to_owned();
        (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
    }

    fn well(&self, args: &[&str]) -> String {
        let (code, out, err) = self.run(args);
        assert_eq!(code, 0, "{args:?}: {out} {err}");
        out
    }

    fn fails(&self, args: &[&str]) -> String {
        let (code, out, err) = self.run(args);
        assert_ne!(code, 0, "{args:?}: {out}");
        err
    }

    fn log_in(&self, name: &str) -> Value {
        let out = self.well(&[
            "session",
            "login",
            name,
            "http://accounts.test/",
            "--fill",
            "textbox \"Email\"=env:ACCOUNTS_USER",
            "--fill",
            "css=input[name=password]=env:ACCOUNTS_WORD",
            "--click",
            "button \"Sign in\"",
            "--until",
            "Signed in as ada",
            "--json",
        ]);
        serde_json::from_str(&out).unwrap()
    }

    /// The daemon is killed, and another serves the same home.
    fn restart(self) -> Self {
        let Self { web, daemon } = self;
        let home = daemon.kill();
        let daemon = Daemon::start_in(home, &["--test-host", &web.test_host]);
        Self { web, daemon }
    }
}

fn digest(label: &str) -> String {
    Sha256::digest(label.as_bytes())
        .iter()
        .fold(String::new(), |it, byte| it + &format!("{byte:02x}"))
}

/// Every file below, with its bytes.
fn files(folder: &Path, out: &mut Vec<(String, Vec<u8>)>) {
    for it in fs::read_dir(folder).unwrap() {
        let path = it.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap();
        if kind.is_dir() {
            files(&path, out);
        } else if kind.is_file() {
            out.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

#[test]
fn who_logged_in_once_is_logged_in_in_a_new_daemon() {
    let Some(place) = place() else { return };
    let card = place.log_in("shop");
    assert_eq!((&card["site"], &card["cookies"]), (&json!("accounts.test"), &json!(2)), "{card}");
    assert_eq!((&card["stored"], &card["from"]), (&json!(1), &json!("form")), "{card}");
    // Nobody is logged in who was not told to be.
    let text = place.well(&["browse", "goto", "http://accounts.test/"]);
    assert!(text.contains("/login"), "{text}");
    // A context in which something was done is not another's all at once.
    let err = place.fails(&["browse", "--as", "shop", "goto", "http://accounts.test/"]);
    assert!(
        err.contains("something was done in this context") && err.contains("browse close"),
        "{err}"
    );
    let place = place.restart();
    let text = place.well(&["browse", "--as", "shop", "goto", "http://accounts.test/"]);
    assert_eq!(text, "http://accounts.test/ \"Account\"");
    let text = place.well(&["browse", "--as", "shop", "text"]);
    // What was stored is there before the first script of the page.
    assert!(text.contains("Signed in as ada") && text.contains("and remembered"), "{text}");
    // What set it there is not in the history, and not among the requests.
    let asked = place.well(&["browse", "network"]);
    assert!(!asked.contains("login"), "{asked}");
    assert!(place.fails(&["browse", "back"]).contains("no such page"));
    // It goes to its own site alone.
    let told =
        place.well(&["browse", "--context", "two", "--as", "shop", "goto", "http://shop.test/"]);
    assert!(told.contains("Tidewater"), "{told}");
    let kept = place.well(&["browse", "--context", "two", "storage"]);
    assert!(!kept.contains("accounts_token"), "{kept}");
    let looked = place.well(&["vault", "check", "shop"]);
    assert!(looked.starts_with("shop holds: "), "{looked}");
    let listed = place.well(&["vault", "ls"]);
    assert!(listed.contains("accounts.test") && listed.contains("holds, "), "{listed}");
    // Logged out there, it holds no longer; and what is left of it replaces nothing.
    place.well(&["browse", "goto", "http://accounts.test/logout"]);
    let (code, looked, _) = place.run(&["vault", "check", "shop"]);
    assert!(code == 1 && looked.starts_with("shop does not hold: "), "{looked}");
    place.well(&["browse", "--context", "empty", "goto", "http://accounts.test/login"]);
    let err = place.fails(&["vault", "save", "shop", "--context", "empty"]);
    assert!(err.contains("accounts.test has no cookies"), "{err}");
    place.well(&["vault", "rm", "shop"]);
    let err = place.fails(&["browse", "--context", "x", "--as", "shop", "url"]);
    assert!(err.contains("no login is named `shop`"), "{err}");
}

#[test]
fn a_login_that_failed_is_not_kept_and_no_value_is_given_in_clear() {
    let Some(place) = place() else { return };
    let login = ["session", "login", "shop", "http://accounts.test/login"];
    let with = |more: &[&'static str]| {
        login.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>()
    };
    let err = place.fails(&with(&[
        "--fill",
        "textbox \"Email\"=env:ACCOUNTS_USER",
        "--fill",
        "textbox \"Password\"=env:ACCOUNTS_USER",
    ]));
    assert!(err.contains("still asks for a password"), "{err}");
    let err = place.fails(&with(&["--fill", "textbox \"Password\"=hunter2-hunter2"]));
    assert!(err.contains("TARGET=env:NAME") && !err.contains("hunter2"), "{err}");
    let err = place.fails(&["session", "login", "shop", "http://10.0.0.1/"]);
    assert!(err.contains("URL_BLOCKED"), "{err}");
    assert_eq!(place.well(&["vault", "ls", "--json"]), "{\n  \"logins\": []\n}");
}

#[test]
fn no_canary_of_a_login_leaves_the_vault() {
    let Some(place) = place() else { return };
    place.log_in("shop");
    place.well(&["browse", "--as", "shop", "goto", "http://accounts.test/many"]);
    let saved = place.well(&["session", "login", "many", "--context", "default", "--json"]);
    let saved: Value = serde_json::from_str(&saved).unwrap();
    assert_eq!((&saved["cookies"], &saved["stored"]), (&json!(34), &json!(33)), "{saved}");
    let place = place.restart();
    // Everything that is told or kept of a page that is logged in so.
    let mut told = String::new();
    let begun = place.well(&[
        "session",
        "record",
        "in",
        "http://accounts.test/many",
        "--as",
        "many",
        "--json",
    ]);
    let id: Value = serde_json::from_str(&begun).unwrap();
    told += &begun;
    for command in
        ["snapshot", "text", "html", "cookies", "storage", "network", "console", "status", "steps"]
    {
        told += &place.well(&["browse", command]);
        told += &place.well(&["browse", "--json", command]);
    }
    told += &place.well(&["browse", "goto", "http://accounts.test/"]);
    told += &place.well(&["session", "end"]);
    told += &place.well(&["session", "show", id["id"].as_str().unwrap(), "--json"]);
    let file = place.daemon.home.path().join("exported.tar.zst");
    told += &place.well(&[
        "session",
        "export",
        id["id"].as_str().unwrap(),
        file.to_str().unwrap(),
        "--yes",
    ]);
    for args in
        [&["vault", "ls"] as &[&str], &["vault", "ls", "--json"], &["vault", "check", "many"]]
    {
        told += &place.well(args);
    }
    let mut kept = Vec::new();
    files(place.daemon.home.path(), &mut kept);
    kept.push(("what was told".to_owned(), told.into_bytes()));
    let exported = zstd::decode_all(&*fs::read(&file).unwrap()).unwrap();
    kept.push(("what was exported".to_owned(), exported));
    assert!(kept.iter().any(|it| it.0.ends_with(".sealed")));
    let canaries = (0..64).map(|n| digest(&format!("accounts canary {n}")));
    let all = canaries.chain([digest("accounts token"), PASSWORD.to_owned()]);
    for canary in all {
        for (name, bytes) in &kept {
            let there = bytes.windows(canary.len()).any(|it| it == canary.as_bytes());
            assert!(!there, "{canary} is in {name}");
        }
    }
}

#[test]
fn a_login_is_used_by_whoever_its_token_names_and_picked_by_no_model() {
    let Some(place) = place() else { return };
    place.log_in("shop");
    place.log_in("bank");
    let daemon = &place.daemon;
    let token = |scopes: &[&str]| {
        let (_, it) = daemon.api("POST", "/api/tokens", &json!({"can": scopes, "note": ""}));
        it["data"]["token"].as_str().unwrap().to_owned()
    };
    let ask = |token: &str, path: &str, more: &[(&str, &str)], body: &Value| {
        let host = format!("127.0.0.1:{}", daemon.port);
        let bearer = format!("Bearer {token}");
        let mut headers = vec![
            ("Host", &*host),
            ("Authorization", &*bearer),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        headers.extend(more);
        let it = daemon.ask("POST", path, &headers, &body.to_string());
        (it.status, it.body)
    };
    let mount =
        |token: &str, name: &str| ask(token, "/api/vault/mount", &[], &json!({"name": name}));
    let browses = token(&["browse:write"]);
    assert_eq!(mount(&browses, "shop").0, 403);
    let one = token(&["browse:write", "vault:shop"]);
    assert_eq!(mount(&one, "bank").0, 403);
    assert_eq!(ask(&one, "/api/vault/list", &[], &json!({})).0, 403);
    assert_eq!(ask(&one, "/api/vault/save", &[], &json!({"name": "shop"})).0, 403);
    let (status, said) = mount(&one, "shop");
    assert_eq!(status, 200, "{said}");
    let (_, said) = ask(&one, "/api/browse/goto", &[], &json!({"url": "http://accounts.test/"}));
    assert!(said.contains("Account"), "{said}");
    // A model that may do everything may not do this.
    let call = |token: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let arguments = json!({"name": "bank", "context": "m"});
        let params = json!({"name": "vault_mount", "arguments": arguments, "_meta": meta});
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "vault_mount"),
        ];
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        ask(token, "/mcp", &headers, &body).1
    };
    let said = call(&daemon.token);
    assert!(said.contains("FORBIDDEN") && said.contains("vault:NAME"), "{said}");
    let said = call(&token(&["browse:write", "vault:bank"]));
    assert!(said.contains("accounts.test") && !said.contains("FORBIDDEN"), "{said}");
}

#[test]
fn a_recipe_is_run_with_a_login() {
    let Some(place) = place() else { return };
    place.log_in("shop");
    let proof = "{ fingerprint_version: 1, fingerprint_sha256: '', verified_at: null, transport: context_request, requires_session: true }";
    let recipe = format!(
        "version: 1\nname: orders\ntask: List my orders of something\nstatus: draft\n\
         source_url: http://accounts.test/\n\
         parameters: [{{name: q, type: str, required: true, source: task_input, examples: [garden]}}]\n\
         request:\n  method: GET\n  url: http://accounts.test/api/orders\n\
         \x20 query: [{{ name: q, value: '{{q}}' }}]\n  allowed_domains: [accounts.test]\n\
         response: {{ type: json }}\nverification: {proof}\n"
    );
    place.daemon.home.recipe("orders", &recipe);
    let run = ["recipe", "run", "orders", "--draft", "-p", "q=garden"];
    let (code, out, _) = place.run(&run);
    assert!(code != 0 && !out.contains("garden lamp"), "{out}");
    let with = |login: &'static str| run.iter().copied().chain(["--as", login]).collect::<Vec<_>>();
    assert!(place.well(&with("shop")).contains("garden lamp"));
    assert!(place.fails(&with("bank")).contains("no login is named `bank`"));
}

/// What a client is answered that begins a session over stdin and calls the tool of a recipe.
fn call_over_stdin(place: &VaultSetup, args: &[&str], tool: &str, arguments: &Value) -> String {
    use std::{io::Write as _, process::Stdio};
    let all = [args, &["--test-host", &place.web.test_host]].concat();
    let mut command = place.daemon.home.command(&all);
    let mut client =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let who = json!({"name": "a client", "version": "1"});
    let begin = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who});
    let mut input = client.stdin.take().unwrap();
    for line in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}),
    ] {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    String::from_utf8(client.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn a_site_with_a_login_is_a_client_s_tool_after_four_commands() {
    let Some(place) = place() else { return };
    let (folder, site) = (tempfile::tempdir().unwrap(), "http://shelfmark.test/");
    let steps = folder.path().join("steps.yaml");
    write(&steps, "- wait_for: { selector: \"#loans tr\" }\n");
    let token = folder.path().join("shelf.token");
    let (steps, token) = (steps.to_str().unwrap(), token.to_str().unwrap());
    let login = format!("{site}login");
    let fill = [
        "--fill",
        "textbox \"Name\"=env:SHELF_NAME",
        "--fill",
        "textbox \"Password\"=env:SHELF_WORD",
    ];
    place.well(&[&["session", "login", "shelf", &login], &fill[..]].concat());
    place.well(&[
        "recipe",
        "learn",
        "--url",
        site,
        "--steps",
        steps,
        "--task",
        "List my loans with their due dates",
        "--name",
        "loans",
        "--login",
        "shelf",
    ]);
    place.well(&["token", "create", "--can", "run:loans,vault:shelf", "--out", token]);
    let print = place.well(&[
        "mcp",
        "install",
        "--client",
        "claude-code",
        "--token-file",
        token,
        "--print",
    ]);
    assert!(print.contains("--token-file") && print.contains("shelf.token"), "{print}");
    let said = call_over_stdin(&place, &["mcp", "--token-file", token], "recipe_loans", &json!({}));
    assert!(said.contains("renewals"), "{said}");
    let told = fs::read_to_string(token).unwrap();
    assert!(!print.contains(told.trim()) && !said.contains(told.trim()));
    // The root token uses no login over MCP, and a file that others can read is no token's.
    let arguments = json!({"login": "shelf"});
    let said = call_over_stdin(&place, &["mcp"], "recipe_loans", &arguments);
    assert!(!said.contains("renewals"), "{said}");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    fs::set_permissions(token, open).unwrap();
    assert!(
        place.fails(&["mcp", "--token-file", token]).contains("can be read or written by others")
    );
}

/// Full Chromium and its headless shell write the same files; this one is the person's, with a folder of its own.
fn chromium(home: &Path, web: &Web, url: &str) {
    use std::os::unix::{fs::chown, process::CommandExt as _};
    let exe = "/usr/lib/chromium/chromium-headless-shell";
    let folder = home.join(".config/chromium");
    fs::create_dir_all(&folder).unwrap();
    let port = web.test_host.rsplit(':').next().unwrap();
    #[expect(clippy::disallowed_methods, reason = "the person's own browser")]
    let mut command = std::process::Command::new(exe);
    command
        .arg(format!("--user-data-dir={}", folder.display()))
        .arg(format!("--host-resolver-rules=MAP * 127.0.0.1:{port}"))
        .args(["--password-store=basic", "--dump-dom", url])
        .env("HOME", home)
        .current_dir(home);
    // It refuses to be sandboxed as root.
    if rustix::process::geteuid().is_root() {
        let nobody = 65534;
        let open = |at: &Path| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o711);
            fs::set_permissions(at, mode).unwrap();
        };
        open(home);
        open(&home.join(".config"));
        chown(&folder, Some(nobody), Some(nobody)).unwrap();
        command.uid(nobody).gid(nobody);
    }
    let out = command.output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.contains("Welcome back"), "{said} {}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn a_login_is_taken_over_from_the_cookies_that_chromium_wrote() {
    if !Path::new("/usr/lib/chromium/chromium-headless-shell").exists() {
        commis_base::testing::skip_without("the headless shell");
        return;
    }
    let Some(place) = place() else { return };
    let person = tempfile::tempdir().unwrap();
    chromium(person.path(), &place.web, "http://accounts.test/link");
    let import = |args: &[&str]| {
        let all: Vec<&str> = ["vault", "import"].iter().chain(args).copied().collect();
        let mut command = place.daemon.home.command(&all);
        command.env("HOME", person.path()).env_remove("XDG_CONFIG_HOME");
        let out = command.stdin(std::process::Stdio::null()).output().unwrap();
        let text = |it: &[u8]| String::from_utf8_lossy(it).trim_end().to_owned();
        (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
    };
    // Nothing is taken over that nobody agreed to.
    let (code, out, err) = import(&[]);
    assert!(code == 2 && err.contains("--site SITE --yes"), "{err}");
    assert!(out.contains("accounts.test") && out.contains("chromium"), "{out}");
    let (code, _, err) = import(&["--site", "shop.test", "--yes"]);
    assert!(code == 2 && err.contains("no profile has cookies of `shop.test`"), "{err}");
    assert!(!place.daemon.home.path().join("vault").exists());
    let (code, _, err) = import(&["--from", "firefox"]);
    assert!(code == 2 && err.contains("no such browser profile"), "{err}");
    let (code, out, err) = import(&["--site", "accounts.test", "--yes", "--name", "mine"]);
    assert!(code == 0 && out.contains("mine: 1 cookies"), "{out} {err}");
    let sid = digest("accounts session 1");
    assert!(!out.contains(&sid) && !err.contains(&sid));
    let told = place.well(&["browse", "--as", "mine", "goto", "http://accounts.test/"]);
    assert_eq!(told, "http://accounts.test/ \"Account\"");
}
