//! `commis tour`: a recipe from its learning to its healing, on the built-in test web, each step by the command that does it.

use clap::Parser as _;

use super::{Cli, CommandLine, Global, context};
use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
};
use commis_testbed::{Testbed, authority_pem};

const NAME: &str = "tour-shop";
const SITE: &str = "shop.test";
const STEPS: &str = "\
- fill: { role: searchbox, name: Search products, value: \"{query}\" }
- press: Enter
- wait_for: { text: \"results for {query}\" }
";

/// See commis work: learn the search of a shop, run it, let the shop change, and heal the recipe
///
/// It takes about a minute and needs a Chromium (check with `commis doctor`). The shop is part of the built-in test web, so
/// nothing leaves this machine. The recipe stays as tour-shop: `commis --testbed` runs it, `commis recipe delete tour-shop`
/// removes it.
#[derive(clap::Args)]
pub struct Args {}

/// 1 where a step did not come to what it should.
pub async fn run(_: Args, global: &Global) -> Result<u8> {
    let home = context::home(global)?;
    let testbed = Testbed::start(0).await.map_err(|err| {
        Error::new(Code::ConnectFailed, "cannot start the test web on loopback").source(err)
    })?;
    let dir = Dir::open(&home.serve, true)?;
    let dir = dir.ok_or_else(|| Error::new(Code::ArtifactIo, "the state folder was removed"))?;
    dir.write_unsynced("tour-steps.yaml", STEPS.as_bytes())?;
    dir.write_unsynced("tour-ca.pem", authority_pem().as_bytes())?;
    let global = Global {
        testbed: false,
        test_host: vec![format!("*.test={}", testbed.addr())],
        test_ca: Some(home.serve.join("tour-ca.pem")),
        ..global.clone()
    };
    let steps = home.serve.join("tour-steps.yaml").display().to_string();
    let task = "Search the shop for {query} and list the products with their prices";
    let named = global.home.as_ref().map(|it| format!(" --home {}", it.display()));
    let named = named.unwrap_or_default();
    let tour = Tour { global, prefix: format!("commis{named} --testbed") };

    context::say(
        "A shop that is built in (https://shop.test) stands for a site of yours. Nothing leaves this machine.",
    );
    tell("1. Learn its search. What a person would do, in steps:");
    for it in STEPS.lines() {
        context::say(&format!("   {it}"));
    }
    context::say(
        "   A headless Chromium does it twice, with two values, and the request that carried the data is found and proven.",
    );
    let learn = [
        "learn",
        "--name",
        NAME,
        "--url",
        "https://shop.test/",
        "--steps",
        &steps,
        "--task",
        task,
        "-p",
        "query=lantern",
        "--second",
        "query=garden hose",
        "--force",
    ];
    tour.does(0, &learn).await?;
    tell("2. Run it: the same answer for any value, in milliseconds, without a browser.");
    let run = ["run", NAME, "-p", "query=umbrella", "--fields", "title,price", "--limit", "2"];
    tour.does(0, &run).await?;
    tell("3. The shop moves its search to another address, as sites do. A check notices:");
    testbed.turn(SITE);
    tour.does(1, &["check", NAME]).await?;
    tell(
        "4. Heal: the steps are done again, and what is learned replaces the recipe if it means the same.",
    );
    tour.does(0, &["recipe", "heal", NAME]).await?;
    tour.does(0, &run).await?;
    let prefix = &tour.prefix;
    tell("That is all. Paste what you like:");
    for it in [
        format!("{prefix} run {NAME} -p query=kettle --out kettles.csv"),
        format!("{prefix} recipe explain {NAME}"),
        format!("commis{named} export {NAME} --as python"),
    ] {
        context::line(&format!("  {it}"));
    }
    context::say(&format!(
        "The recipe is in {}",
        home.recipes.join(format!("{NAME}.yaml")).display()
    ));
    context::say("A site of your own: commis learn --help, and docs/tutorial.md");
    Ok(0)
}

fn tell(text: &str) {
    let bold = anstyle::Style::new().bold();
    context::say(&format!("\n{bold}{text}{bold:#}"));
}

struct Tour {
    global: Global,
    /// As a reader types it.
    prefix: String,
}

impl Tour {
    /// Shows a command and does it. Fails as it does, and with `STEP_FAILED` where it ends in another way than the tour goes on from.
    async fn does(&self, expected: u8, words: &[&str]) -> Result<()> {
        let shown: Vec<_> = words.iter().filter_map(|it| shlex::try_quote(it).ok()).collect();
        context::say(&format!("$ {} {}", self.prefix, shown.join(" ")));
        let cli = Cli::<CommandLine>::try_parse_from([&["commis"], words].concat());
        let cli = cli.map_err(|err| {
            Error::new(Code::Internal, "cannot start a command of the tour").source(err)
        })?;
        let ended = Box::pin(super::perform(Cli::from(cli).command, &self.global)).await?;
        if ended == expected {
            return Ok(());
        }
        let first = words.iter().take(2).copied().collect::<Vec<_>>().join(" ");
        Err(Error::new(
            Code::StepFailed,
            format!("the tour stopped: `commis {first}` ended with {ended}"),
        )
        .hint("check this machine with `commis doctor`"))
    }
}
