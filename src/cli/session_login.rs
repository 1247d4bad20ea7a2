//! `commis session login`: a person logs in once, or a form does, and what the site keeps of it is sealed.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use zeroize::Zeroizing;

use super::{Global, context, daemon, vault_import::sealed};
use commis_base::{
    error::{Code, Error, Result},
    settings::Display,
};
use commis_browser::{
    Browser, Element, Fill, Plan, Prompt, RecordingEvent, Step, Wait, asked_value,
    find_visible_chromium, page_session::Target,
};
use commis_learn::{BrowserPool, TaskSecrets};
use commis_net::egress::EgressPolicy;
use commis_vault::{LoginData, LoginName, Vault};

const OPEN: Duration = Duration::from_secs(30);

/// Log in once and store the login: in a window, by a form, or from an open page
///
/// With an address alone a window opens; log in, then close it or press Enter here. --fill fills in the
/// form without a window. It takes values from variables, or asks for them here when the field appears
/// (ask:CODE). It waits for a field that appears only after the one before was sent. --basic sends name
/// and password to the server of the site (HTTP Basic). Without an address, the command stores the login
/// of the page in the context of `commis browse`. It seals only cookies and stored values of that site
/// on disk; `--as NAME` uses them.
///
/// Examples:
///   commis session login shop https://shop.test/login
///   commis session login bank https://bank.test/ --fill 'css=#user=env:NAME' --fill 'css=#pin=env:PIN' --fill 'css=#code=ask:CODE'
///   commis session login wiki https://wiki.test/login --basic env:NAME,env:WORD
///   commis session login shop https://shop.test/login --fill 'textbox "Email"=env:MAIL' --fill 'css=#pw=env:WORD'
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Name of the login
    name: String,
    /// The login page; without it, the login of the open page is stored
    url: Option<String>,
    /// A field, as `commis browse` names elements, and the variable that holds its value, or what to ask for. Repeatable
    #[arg(long, value_name = "TARGET=env:NAME|ask:WHAT", requires = "url")]
    fill: Vec<String>,
    /// Variables with the name and the password for the site's server
    #[arg(long, value_name = "env:NAME,env:NAME", requires = "url")]
    basic: Option<String>,
    /// The element to click after the fields are filled (default: press Enter)
    #[arg(long, value_name = "TARGET", requires = "fill")]
    click: Option<String>,
    /// Wait until the page shows it
    #[arg(long, value_name = "TEXT", requires = "fill")]
    until: Option<String>,
    /// Replace a login that has more cookies
    #[arg(long)]
    force: bool,
}

pub async fn run(args: &Args, context: &str, as_json: bool, global: &Global) -> Result<u8> {
    let name: LoginName = args.name.parse()?;
    let Some(url) = args.url.clone() else {
        let (client, _) = daemon::client(global).await?;
        let body = json!({"name": name.as_str(), "context": context, "force": args.force});
        let card = client.post("/api/vault/save", &body).await?["data"].take();
        print_login(&card, as_json);
        return Ok(0);
    };
    let place = context::open(global).await?;
    let policy = Arc::new(EgressPolicy::new(&place.settings.egress)?);
    // Before anybody takes the trouble.
    policy.check(&url)?;
    let basic = args.basic.as_deref().map(basic).transpose()?;
    let held = if args.fill.is_empty() && basic.is_none() {
        by_window(&url, policy, &place.settings.browser).await?
    } else {
        let plan = plan(args, &url)?;
        let pool = BrowserPool::new(policy, place.settings.browser.clone());
        let held = by_form(plan, basic.as_ref(), &pool).await;
        pool.close().await;
        held?
    };
    let card = Vault::new(&place.home).seal(&name, &held, args.force)?;
    print_login(&serde_json::to_value(card).unwrap_or_default(), as_json);
    Ok(0)
}

fn print_login(card: &serde_json::Value, as_json: bool) {
    if as_json {
        context::out(card);
    } else {
        context::line(&sealed(card));
    }
}

async fn by_window(
    url: &str,
    policy: Arc<EgressPolicy>,
    settings: &commis_base::settings::BrowserSettings,
) -> Result<LoginData> {
    let display = Display::find()?;
    let exe = find_visible_chromium(settings.path.as_deref())?;
    let browser = Browser::launch_visible(&exe, policy, settings, &display).await?;
    let (said, done) = tokio::sync::oneshot::channel();
    // A thread of its own: nothing ends a read of the terminal.
    std::thread::spawn(move || {
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).is_ok_and(|it| it > 0) {
            let _ = said.send(());
        }
    });
    let done = async {
        if done.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    context::say("log in; then close the window, or press Enter here; Ctrl-C keeps nothing");
    let told = |line: &str| context::say(&context::clean(&commis_redact::message(line)));
    let held = async {
        let mut context = browser.context().await?;
        tokio::select! {
            held = context.log_in(url, OPEN, &told, done) => held,
            () = context::interrupted() => Err(Error::new(Code::Interrupted, "interrupted").hint("nothing was stored")),
        }
    };
    let held = held.await;
    // It is going away either way.
    let _ = browser.close().await;
    held
}

type Credentials = (Zeroizing<String>, Zeroizing<String>);

/// Name and password of two variables.
fn basic(text: &str) -> Result<Credentials> {
    let wrong = || {
        Error::new(Code::Usage, "--basic takes env:NAME,env:NAME")
            .hint("the first variable holds the name, the second the password")
    };
    let mut secrets = TaskSecrets::default();
    let (name, password) = text.split_once(',').ok_or_else(wrong)?;
    let mut value = |it: &str| -> Result<Zeroizing<String>> {
        let known = secrets.name(it);
        known.then(|| secrets.value(it)).transpose()?.flatten().ok_or_else(wrong)
    };
    Ok((value(name)?, value(password)?))
}

/// Asks at the terminal. Fails with `INTERRUPTED` where nobody answers.
fn at_terminal() -> Prompt {
    Box::new(|what| {
        Box::pin(async move {
            context::say(&context::clean(&format!("{what}: type it here, then press Enter")));
            let read = tokio::task::spawn_blocking(|| {
                let mut line = Zeroizing::new(String::new());
                std::io::stdin().read_line(&mut line).map(|_| line)
            });
            let line = read.await.ok().and_then(std::io::Result::ok).unwrap_or_default();
            let value = line.trim();
            if value.is_empty() {
                return Err(
                    Error::new(Code::Interrupted, "nothing was typed").hint("nothing was stored")
                );
            }
            Ok(Zeroizing::new(value.to_owned()))
        })
    })
}

async fn by_form(
    mut plan: Plan,
    basic: Option<&Credentials>,
    pool: &BrowserPool,
) -> Result<LoginData> {
    // A site that asks for the name first shows the next field when that was sent: each field but the first may take that.
    let fields = plan.steps.iter().filter(|it| matches!(it, Step::Fill(_))).count();
    for _ in 1..fields {
        let mut done = 0;
        match fill_form(&plan, basic, pool, &mut done).await {
            Err(err) if err.code() == Code::StepFailed && sends_first(&plan.steps, done) => {
                plan.steps.insert(done, Step::Press("Enter".to_owned()));
            }
            it => return it.map_err(another_way),
        }
    }
    fill_form(&plan, basic, pool, &mut 0).await.map_err(another_way)
}

/// Whether the step after so many fills in a field of a page that was not sent since the field before.
fn sends_first(steps: &[Step], done: usize) -> bool {
    let before = done.checked_sub(1).and_then(|it| steps.get(it));
    matches!((before, steps.get(done)), (Some(Step::Fill(_)), Some(Step::Fill(_))))
}

fn another_way(err: Error) -> Error {
    if err.code() != Code::StepFailed {
        return err;
    }
    let known = err.hint_text().map(|it| format!("{it}; ")).unwrap_or_default();
    err.hint(format!(
        "{known}log in without --fill, in a window; or fill in the form with `commis browse fill`, then store that context with `commis session login NAME --context CONTEXT`"
    ))
}

/// Fills the form in and sends it. `done`: how many of its steps were.
async fn fill_form(
    plan: &Plan,
    basic: Option<&Credentials>,
    pool: &BrowserPool,
    done: &mut usize,
) -> Result<LoginData> {
    let mut context = pool.context().await?;
    context.asks(at_terminal());
    if let Some((name, password)) = basic {
        context.answer_basic(&plan.url, name.clone(), password.clone());
    }
    let work = async {
        // The page is opened first.
        let mut steps = 0_usize;
        let mut told =
            |it: RecordingEvent| steps += usize::from(matches!(it, RecordingEvent::Step { .. }));
        let seen = context.record_told(plan, &mut told, || ()).await;
        *done = steps.saturating_sub(1);
        if seen?.page.has_password_field {
            return Err(Error::new(
                Code::StepFailed,
                "the page still asks for a password; no login was stored",
            )
            .hint("check the variables, --click and --until; for a second factor, log in without --fill"));
        }
        let held = context.capture_login(Some(&plan.url), "form").await?;
        if basic.is_some() && held.basic().is_none() {
            let why = "the site's server did not ask for the name and the password, or did not take them: nothing was stored";
            return Err(Error::new(Code::StepFailed, why)
                .hint("check the variables; for a page with a form use --fill"));
        }
        Ok(held)
    };
    tokio::select! {
        held = work => held,
        () = context::interrupted() => Err(Error::new(Code::Interrupted, "interrupted").hint("nothing was stored")),
    }
}

/// The form as steps; what is typed is read from the environment, and hidden from here on.
fn plan(args: &Args, url: &str) -> Result<Plan> {
    let mut secrets = TaskSecrets::default();
    let mut values: Vec<Zeroizing<String>> = Vec::new();
    let mut steps = Vec::new();
    for it in &args.fill {
        let wrong = || {
            Error::new(Code::Usage, "--fill takes TARGET=env:NAME or TARGET=ask:WHAT")
                .hint("every process can read a value on the command line; put it into a variable")
        };
        let (target, value) = it.rsplit_once('=').ok_or_else(wrong)?;
        if let Some(what) = value.strip_prefix("ask:").filter(|it| !it.is_empty()) {
            steps.push(Step::Fill(Fill { element: element(target)?, value: asked_value(what) }));
            continue;
        }
        if !secrets.name(value) {
            return Err(wrong());
        }
        let value = secrets.value(value)?.ok_or_else(wrong)?;
        steps.push(Step::Fill(Fill { element: element(target)?, value: value.to_string() }));
        values.push(value);
    }
    match &args.click {
        Some(it) => steps.push(Step::Click(element(it)?)),
        None if steps.is_empty() => {}
        None => steps.push(Step::Press("Enter".to_owned())),
    }
    if let Some(it) = &args.until {
        steps.push(Step::WaitFor(Wait::Text(it.clone())));
    }
    Ok(Plan {
        task: "Log in".to_owned(),
        url: url.to_owned(),
        typed: std::collections::BTreeMap::new(),
        steps,
        secrets: values,
        bound: Vec::new(),
        timeout: OPEN,
    })
}

fn element(target: &str) -> Result<Element> {
    match target.parse()? {
        Target::Named { role, name, row: None } => Ok(Element::with_name(&role, &name)),
        Target::Css(it) => Ok(Element::css(&it)),
        _ => Err(Error::new(
            Code::ParamInvalid,
            "name the element of the form by role and name, or by css=SELECTOR",
        )
        .hint("such as 'textbox \"Email\"', or css=#password")),
    }
}
