//! Runs with a login against the sites of the test web that have accounts, while logins end. No browser takes part.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::{Fallback, RecipeRunner, Sessions, replay_context::BrowserPool};
use commis_base::settings::{AuthSettings, BrowserSettings, EgressSettings, Home, LimitsSettings};
use commis_net::{egress::limits::HostLimiter, transport::public_http::PublicHttp};
use commis_recipe::yaml;
use commis_testbed::Testbed;
use commis_vault::{Cookie, LoginName, Vault};

struct Site {
    _web: Testbed,
    home: tempfile::TempDir,
    policy: Arc<EgressPolicy>,
    http: PublicHttp,
    caller: Caller,
}

impl Site {
    async fn start() -> Self {
        let web = Testbed::start(0).await.unwrap();
        let settings = EgressSettings {
            test_hosts: vec![format!("*.test={}", web.addr())],
            ..EgressSettings::default()
        };
        let policy = Arc::new(EgressPolicy::new(&settings).unwrap());
        let http = PublicHttp::new(Arc::clone(&policy)).unwrap();
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("limits");
        let limits =
            HostLimiter::new(&LimitsSettings::default(), folder, Arc::clone(&policy)).unwrap();
        let quiet = Box::new(|_: &_| ());
        let caller =
            Caller::with_limits(Arc::clone(&policy), limits, AuthSettings::default(), quiet)
                .unwrap();
        Self { _web: web, home, policy, http, caller }
    }

    async fn control(&self, path: &str) -> Value {
        let request = get(&format!("http://control.test{path}"));
        let reply = self.http.call(&request, None).await.unwrap();
        serde_json::from_slice(&reply.body).unwrap_or_default()
    }

    /// Logs in by the site's form; the session's cookies come with the answer.
    async fn log_in(&self, host: &str, account: &str) -> Login {
        let name: LoginName =
            format!("{}-{account}", host.split('.').next().unwrap()).parse().unwrap();
        let vault = || Vault::new(&Home::find(Some(self.home.path())).unwrap());
        let first = Cookie {
            name: "theme".to_owned(),
            value: "dark".to_owned().into(),
            domain: host.to_owned(),
            path: "/".to_owned(),
            ends: None,
            secure: false,
            http_only: false,
            same_site: None,
            partition: None,
            set_ms: 0,
        };
        let url = format!("http://{host}/");
        let held = LoginData::new(&url, "form", vec![first], Vec::new()).unwrap();
        vault().seal(&name, &held, true).unwrap();
        let login = Login::open(vault(), &name).unwrap();
        let word = self.control(&format!("/password?account={account}")).await;
        let form = format!("name={account}&password={}", word["password"].as_str().unwrap());
        let headers =
            vec![("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned())];
        let request = PreparedRequest {
            method: "POST".to_owned(),
            headers,
            body: Some(form.into_bytes()),
            ..get(&format!("{url}login"))
        };
        LoginHttp::new(&self.http, Some(&login)).send(&request).await.unwrap();
        assert!(login.contents().cookies().len() > 1, "{host} {account}");
        login
    }

    async fn run(
        &self,
        recipe: &Recipe,
        login: &Login,
        params: &[(&str, &str)],
    ) -> RecipeRunResult {
        let pool = BrowserPool::new(Arc::clone(&self.policy), BrowserSettings::default());
        let sessions = Sessions::new(pool, Duration::from_secs(60)).logged_in(login.clone());
        let params = params.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        let runs = RecipeRunner { caller: &self.caller, sessions: &sessions, tell: &|_| () };
        runs.call(recipe, &params, Fallback::Never).await.unwrap()
    }

    async fn expire(&self, host: &str) {
        self.control(&format!("/expire?site={host}")).await;
    }
}

fn get(url: &str) -> PreparedRequest {
    PreparedRequest {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
        allowed_domains: Vec::new(),
        own_host: None,
    }
}

/// `stranger`: what a stranger got when it was proven.
fn loans(stranger: &str) -> Recipe {
    yaml::parse(&format!(
        "{{version: 1, name: loans, task: List my loans, status: draft, source_url: 'http://shelfmark.test/', \
         login: {{site: shelfmark.test, stranger: {stranger}}}, \
         request: {{method: GET, url: 'http://shelfmark.test/my/loans.json', allowed_domains: [shelfmark.test]}}, \
         response: {{type: json, extract: loans}}}}"
    ))
    .unwrap()
}

fn ticket() -> Recipe {
    yaml::parse(
        "{version: 1, name: ticket, task: 'Show ticket {number}', status: draft, source_url: 'http://desk.test/', \
         login: {site: desk.test, stranger: refused}, \
         parameters: [{name: number, type: int, required: true, source: task_input, examples: ['3', '11']}], \
         slots: [{name: slot_csrf, from: {cookie: {name: desk_csrf}}}], \
         request: {method: GET, url: 'http://desk.test/rest/tickets/{number}', headers: {x-csrf: '{slot_csrf}'}, allowed_domains: [desk.test]}, \
         response: {type: json}}",
    )
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_login_is_no_empty_answer_and_an_empty_account_is_no_ended_login() {
    let site = Site::start().await;
    for stranger in ["empty", "other"] {
        let recipe = loans(stranger);
        let ada = site.log_in("shelfmark.test", "ada-lund").await;
        let cleo = site.log_in("shelfmark.test", "cleo-marsh").await;
        let own = site.run(&recipe, &ada, &[]).await;
        assert_eq!(
            (own.success, own.items, own.transport_used),
            (true, Some(7), TransportKind::LoginHttp)
        );
        let nothing = site.run(&recipe, &cleo, &[]).await;
        assert_eq!((nothing.success, nothing.items), (true, Some(0)), "{:?}", nothing.error);
        site.expire("shelfmark.test").await;
        for login in [&ada, &cleo] {
            let ended = site.run(&recipe, login, &[]).await;
            assert_eq!(ended.error_code, Some("LOGIN_EXPIRED"));
            assert_eq!((ended.data, ended.items), (Value::Null, None));
            assert!(ended.hint.unwrap().contains("commis session login shelfmark-"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stranger_got_in_the_proof_is_no_data_of_an_account() {
    let site = Site::start().await;
    let mut recipe = loans("other");
    let need = recipe.login.as_mut().unwrap();
    need.stranger_sha256 = Some(json_sha256(&Value::Array(Vec::new())));
    let ada = site.log_in("shelfmark.test", "ada-lund").await;
    let cleo = site.log_in("shelfmark.test", "cleo-marsh").await;
    assert!(site.run(&recipe, &ada, &[]).await.success);
    let refused = site.run(&recipe, &cleo, &[]).await;
    assert_eq!(refused.error_code, Some("AUTH_REQUIRED"));
    assert_eq!((refused.data, refused.items), (Value::Null, None));
    site.expire("shelfmark.test").await;
    assert_eq!(site.run(&recipe, &cleo, &[]).await.error_code, Some("LOGIN_EXPIRED"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_this_account_may_not_see_is_no_ended_login() {
    let site = Site::start().await;
    let (recipe, ada) = (ticket(), site.log_in("desk.test", "ada-lund").await);
    let own = site.run(&recipe, &ada, &[("number", "3")]).await;
    assert!(own.success, "{:?}", own.error);
    // Another's ticket is refused in the same shape.
    let theirs = site.run(&recipe, &ada, &[("number", "4")]).await;
    assert_eq!(theirs.error_code, Some("NOT_FOUND"));
    site.expire("desk.test").await;
    for number in ["3", "4"] {
        let ended = site.run(&recipe, &ada, &[("number", number)]).await;
        assert_eq!(ended.error_code, Some("LOGIN_EXPIRED"), "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn records_that_an_account_may_not_see_do_not_put_a_recipe_out_of_service() {
    use crate::note;
    use commis_recipe::{
        registry::{Registry, Source},
        status::RecipeState,
        trust::Trust,
    };
    use commis_state::State;
    let site = Site::start().await;
    let ada = site.log_in("desk.test", "ada-lund").await;
    let proof = "{fingerprint_version: 1, fingerprint_sha256: x, verified_at: '2026-01-01T00:00:00Z', \
                 transport: login_http, requires_session: false}";
    let text = yaml::to_yaml(&ticket()).unwrap().replace("status: draft", "status: verified");
    let recipe = yaml::parse(&format!("{text}verification: {proof}\n")).unwrap();
    let recipe = Recipe { trust: Trust::Proven, ..recipe };
    let registry = Registry::open(&site.home.path().join("recipes"));
    registry.save(&recipe).unwrap();
    let state = State::open(site.home.path()).unwrap();
    let pool = BrowserPool::new(Arc::clone(&site.policy), BrowserSettings::default());
    let sessions = Sessions::new(pool, Duration::from_secs(60)).logged_in(ada);
    let runs = RecipeRunner { caller: &site.caller, sessions: &sessions, tell: &|_| () };
    let asked = async |number: &str| {
        let params = BTreeMap::from([("number".to_owned(), number.to_owned())]);
        let counted = (&registry, Ok(&state));
        let ran = runs.serve((&recipe, Source::User), &params, counted).await.unwrap();
        let noted = (&recipe, Source::User);
        note(&registry, Ok(&state), noted, Ok(&ran), "2026-01-02T00:00:00Z");
        ran
    };
    let standing = || registry.get(&recipe.name).unwrap().recipe.state();
    // Tickets of another account.
    for number in 1..=7 {
        let ran = asked(&(2 * number).to_string()).await;
        assert_eq!(ran.error_code, Some("NOT_FOUND"));
        assert_eq!(ran.example_holds, number == 5, "{number}");
        assert_eq!(standing(), RecipeState::Verified, "{number}");
    }
    // Where the example is gone as well, the site has changed.
    let other = Recipe {
        parameters: vec![commis_recipe::model::Parameter {
            examples: vec!["900".to_owned(), "902".to_owned()],
            ..recipe.parameters[0].clone()
        }],
        ..recipe.clone()
    };
    registry.save(&other).unwrap();
    let params = BTreeMap::from([("number".to_owned(), "4".to_owned())]);
    for _ in 0..5 {
        let counted = (&registry, Ok(&state));
        let ran = runs.serve((&other, Source::User), &params, counted).await.unwrap();
        note(&registry, Ok(&state), (&other, Source::User), Ok(&ran), "2026-01-02T00:00:00Z");
    }
    assert!(matches!(standing(), RecipeState::Demoted(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_sealed_meanwhile_is_used() {
    let site = Site::start().await;
    for (recipe, host) in [(loans("empty"), "shelfmark.test"), (ticket(), "desk.test")] {
        let old = site.log_in(host, "ada-lund").await;
        site.expire(host).await;
        let vault = Vault::new(&Home::find(Some(site.home.path())).unwrap());
        let open = Login::open(vault, old.name()).unwrap();
        site.log_in(host, "ada-lund").await;
        let params: &[(&str, &str)] = if host == "desk.test" { &[("number", "3")] } else { &[] };
        let ran = site.run(&recipe, &open, params).await;
        assert!(ran.success, "{host}: {:?}", ran.error);
    }
}

/// By HTTP Basic, without a cookie.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_for_name_and_password_itself_is_told_them() {
    let site = Site::start().await;
    let recipe = yaml::parse(
        "{version: 1, name: shifts, task: 'Show my shifts in week {week}', status: draft, source_url: 'http://annex.test/', \
         login: {site: annex.test, stranger: refused}, \
         parameters: [{name: week, type: int, required: true, source: task_input}], \
         request: {method: GET, url: 'http://annex.test/shifts.json', query: [{name: week, value: '{week}'}], allowed_domains: [annex.test]}, \
         response: {type: json, extract: shifts}}",
    )
    .unwrap();
    let login = async |account: &str, origin: &str| {
        let word = site.control(&format!("/password?account={account}")).await;
        let basic = commis_vault::BasicAuth {
            origins: [origin.to_owned()].into(),
            name: account.to_owned().into(),
            password: word["password"].as_str().unwrap().to_owned().into(),
        };
        let held = LoginData::new("http://annex.test/", "form", Vec::new(), Vec::new()).unwrap();
        let vault = || Vault::new(&Home::find(Some(site.home.path())).unwrap());
        let name: LoginName = format!("annex-{account}").parse().unwrap();
        vault().seal(&name, &held.with_basic(basic), true).unwrap();
        Login::open(vault(), &name).unwrap()
    };
    let ada = login("ada-lund", "http://annex.test").await;
    let ben = login("ben-okoro", "http://annex.test").await;
    let own = site.run(&recipe, &ada, &[("week", "12")]).await;
    let theirs = site.run(&recipe, &ben, &[("week", "12")]).await;
    assert_eq!((own.items, theirs.items), (Some(5), Some(5)), "{:?} {:?}", own.error, theirs.error);
    assert_ne!(own.data, theirs.data);
    // Another server of the site did not ask, and one of another site is not told.
    let elsewhere = login("ada-lund", "http://api.annex.test").await;
    let untold = site.run(&recipe, &elsewhere, &[("week", "12")]).await;
    assert_eq!(untold.error_code, Some("LOGIN_EXPIRED"));
    let strange = ada.contents().basic().unwrap().clone();
    let held = LoginData::new("http://shelfmark.test/", "form", Vec::new(), Vec::new()).unwrap();
    assert!(held.with_basic(strange).basic().is_none());
    // What is sealed is not told.
    let files =
        commis_base::files::open_or_create(&site.home.path().join("vault/annex-ada-lund")).unwrap();
    let sealed = files.read("1.sealed", 1 << 20).unwrap().unwrap();
    assert!(!sealed.windows(8).any(|it| it == b"ada-lund"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_ends_at_any_moment_gives_no_wrong_answer() {
    let site = Site::start().await;
    let (mut right, mut ended) = (0, 0);
    for n in 0..30 {
        let host = ["shelfmark.test", "desk.test"][n % 2];
        let login = site.log_in(host, "ada-lund").await;
        let recipe = if n % 2 == 0 { loans("empty") } else { ticket() };
        let params: &[(&str, &str)] = if n % 2 == 0 { &[] } else { &[("number", "11")] };
        let wait = Duration::from_micros(pause(n) * 100);
        let end = async {
            tokio::time::sleep(wait).await;
            site.expire(host).await;
        };
        let (result, ()) = tokio::join!(site.run(&recipe, &login, params), end);
        match result.error_code {
            None if n % 2 == 0 => assert_eq!(result.items, Some(7)),
            None => assert_eq!(result.data["number"], json!(11)),
            Some(code) => assert_eq!(code, "LOGIN_EXPIRED"),
        }
        if result.success {
            right += 1;
        } else {
            ended += 1;
        }
    }
    assert_eq!(right + ended, 30);
}

/// Other pauses for each, and the same in every run of the tests.
fn pause(n: usize) -> u64 {
    (n as u64).wrapping_mul(2_654_435_761) % 80
}
