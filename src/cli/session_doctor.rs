//! `commis session doctor`: the seven contracts that a kept session is held to, tried here and now on the test web.

use std::{path::Path, sync::Arc, time::Duration};

use serde::Serialize;

use super::{Global, context};
use commis_base::{
    error::{Code, Error, Result},
    files, ids,
    settings::{EgressSettings, Settings},
};
use commis_browser::{
    Browser, find_chromium,
    page_session::{Command, PageController, ReplayOptions, ReplayOutcome},
    sessions::{SessionAction, SessionState, SessionStore},
};
use commis_net::egress::EgressPolicy;
use commis_testbed::{Testbed, authority_pem, session_of};

const PATIENCE: Duration = Duration::from_secs(20);
const TASK: &str = "Search the shop for lanterns";
const SHOP: &str = "https://shop.test/";
/// Of nobody; typed where a password is asked for.
const PASSWORD: &str = "correct-horse-9";

#[derive(Serialize)]
struct ContractResult {
    n: usize,
    what: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// 0 where all seven hold.
pub async fn run(as_json: bool, global: &Global) -> Result<u8> {
    let (home, settings) = context::read(global)?;
    let folder = home.serve.join(format!("doctor-{}", &ids::random_token()?[..8]));
    files::ensure_private_dir(&folder)?;
    let found = tried(&folder, &settings).await;
    // What was kept for it is nobody's; nothing is lost where it stays.
    let _ = std::fs::remove_dir_all(&folder);
    let all = found?;
    let passed = all.iter().filter(|it| it.ok).count();
    if as_json {
        let told =
            serde_json::json!({ "passed": passed, "failed": all.len() - passed, "contracts": all });
        context::out(&told);
    } else {
        for it in &all {
            let why = it.why.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
            let ok = if it.ok { "ok" } else { "no" };
            context::line(&context::clean(&format!("{ok} {}. {}{why}", it.n, it.what)));
        }
        context::line(&format!("{passed} passed, {} failed", all.len() - passed));
    }
    Ok(u8::from(passed != all.len()))
}

fn must(holds: bool, why: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::new(Code::StepFailed, why)) }
}

async fn controller(browser: &Browser) -> Result<PageController> {
    PageController::new(browser.context().await?, PATIENCE, None)
}

async fn replayed(browser: &Browser, lines: &[SessionAction]) -> Result<()> {
    let done = controller(browser).await?.replay(lines, &ReplayOptions::default()).await?;
    let numbers = done.iter().map(|it| it.n).eq(lines.iter().map(|it| it.n));
    let differs = done
        .iter()
        .find(|it| matches!(it.outcome, ReplayOutcome::Refused | ReplayOutcome::Differs));
    match differs {
        Some(it) => Err(Error::new(Code::StepFailed, it.why.clone().unwrap_or_default())),
        None => must(numbers, "other actions were done"),
    }
}

async fn tried(folder: &Path, settings: &Settings) -> Result<Vec<ContractResult>> {
    let testbed = Testbed::start(0).await.map_err(|err| {
        Error::new(Code::ConnectFailed, "cannot start the test web on loopback").source(err)
    })?;
    let egress = EgressSettings {
        test_hosts: vec![format!("*.test={}", testbed.addr())],
        test_ca_pem: Some(authority_pem()),
        ..EgressSettings::default()
    };
    let exe = find_chromium(settings.browser.path.as_deref())?;
    let policy = Arc::new(EgressPolicy::new(&egress)?);
    let browser = Browser::launch_with(&exe, policy, &settings.browser).await?;
    let out = contracts(&browser, folder).await;
    // All has been seen.
    let _ = browser.close().await;
    Ok(out)
}

async fn contracts(browser: &Browser, folder: &Path) -> Vec<ContractResult> {
    let (here, there) =
        (SessionStore::new(&folder.join("here")), SessionStore::new(&folder.join("there")));
    let mut out = Vec::new();
    let mut put = |what: &'static str, held: Result<()>| {
        let why = held.err().map(|it| it.to_string());
        out.push(ContractResult { n: out.len() + 1, what, ok: why.is_none(), why });
    };
    let id = searched(browser, &here).await;
    let known =
        || id.as_ref().map(String::as_str).map_err(|err| Error::new(err.code(), err.message()));
    let moved = known().and_then(|id| there.import(&here.export(id)?)).map(|it| it.id);
    put(
        "a session is kept, and survives export and import",
        moved
            .as_ref()
            .map_err(|err| Error::new(err.code(), err.message()))
            .and_then(|it| must(there.load(it)?.1.len() == 3, "actions are missing")),
    );
    put(
        "it is found by its task",
        known().and_then(|id| {
            let found = here.list(None, "search lanterns")?;
            must(found.iter().take(3).any(|it| it.id == id), "it is not among the first three")
        }),
    );
    let login = login(browser, &here).await;
    put(
        "what was typed and is secret is in no file, and told",
        login.as_ref().map_err(|err| Error::new(err.code(), err.message())).and_then(|id| {
            let all = text(&here, id)?;
            must(!all.contains(PASSWORD), "it is there")?;
            must(here.findings(id)?.contains("is a secret"), "the findings do not say so")
        }),
    );
    put(
        "it is done again in another context",
        match known().and_then(|id| here.load(id)) {
            Ok((_, lines)) => Box::pin(replayed(browser, &lines)).await,
            Err(err) => Err(err),
        },
    );
    put(
        "no cookie of another site is in it",
        login.as_ref().map_err(|err| Error::new(err.code(), err.message())).and_then(|id| {
            must(!text(&here, id)?.contains(&session_of("forum", 1)), "it is there")
        }),
    );
    let imported = moved.and_then(|it| {
        std::fs::remove_dir_all(folder.join("here")).map_err(|err| {
            Error::new(Code::ArtifactIo, "the temporary home cannot be removed").source(err)
        })?;
        there.load(&it)
    });
    put(
        "the imported one is done without its first home",
        match &imported {
            Ok((_, lines)) => Box::pin(replayed(browser, lines)).await,
            Err(err) => Err(Error::new(err.code(), err.message())),
        },
    );
    put("what is missing or damaged is told", missing(&there, folder, imported.map(|it| it.0.id)));
    out
}

fn missing(all: &SessionStore, folder: &Path, id: Result<String>) -> Result<()> {
    let id = id?;
    let code = |it: Result<()>| it.err().map(|it| it.code());
    let no_browser = code(find_chromium(Some(&folder.join("chromium"))).map(|_| ()));
    must(no_browser == Some(Code::BrowserMissing), "a browser that is not there")?;
    let none = code(all.load("nothing-1").map(|_| ()));
    must(none == Some(Code::TaskNotFound), "a session that is not there")?;
    files::open_or_create(&folder.join("there").join(&id))?.append("trajectory.ndjson", "{}")?;
    let damaged = code(all.load(&id).map(|_| ()));
    must(damaged == Some(Code::ArtifactCorrupt), "a session that was changed")
}

fn text(all: &SessionStore, id: &str) -> Result<String> {
    let (manifest, lines) = all.load(id)?;
    must(manifest.state == SessionState::Complete, "it has not ended")?;
    let lines = serde_json::to_string(&lines)
        .map_err(|err| Error::new(Code::Internal, "actions cannot be written").source(err))?;
    Ok(lines + &all.findings(id)?)
}

async fn searched(browser: &Browser, all: &SessionStore) -> Result<String> {
    let mut controller = controller(browser).await?;
    controller.record(all.record("search", TASK, SHOP, "")?, SHOP).await?;
    let field = "searchbox \"Search products\"".parse()?;
    controller.run(Command::Fill(field, "lantern".to_owned())).await?;
    controller.run(Command::Click("button \"Search\"".parse()?)).await?;
    Ok(controller.end().await?.id)
}

async fn login(browser: &Browser, all: &SessionStore) -> Result<String> {
    let mut controller = controller(browser).await?;
    let url = "https://members.test/";
    controller.record(all.record("login", "Log in", url, "")?, url).await?;
    controller.run(Command::Fill("css=#name".parse()?, "Moreau".to_owned())).await?;
    controller.run(Command::Press("Enter".to_owned())).await?;
    let field = "css=input[name=password]".parse()?;
    controller.run(Command::Fill(field, PASSWORD.to_owned())).await?;
    controller.run(Command::Goto("https://forum.test/".to_owned())).await?;
    Ok(controller.end().await?.id)
}
