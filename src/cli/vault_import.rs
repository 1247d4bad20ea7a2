//! `commis vault import`: cookies of the person's own browser, site by site, become logins.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{IsTerminal as _, Write as _},
};

use serde_json::{Value, json};

use super::{Global, context, table::ruled};
use commis_base::{
    error::{Code, Error, Result},
    settings::UserFolders,
};
use commis_vault::{
    Cookie, LoginData, LoginName, Vault,
    browsers::{Brand, Profile, find_profiles},
};

/// Import cookies of your own browser, site by site
///
/// It searches the known folders of browsers below your home, copies their cookie files and reads the copies. It lists sites
/// and counts, never values. It asks for each site and seals it as a login. --site and --yes are for scripts.
///
/// Firefox does not store session cookies in a file. Chromium's cookies under a password of the system's keyring (v11) are
/// counted and skipped, unless --keyring reads that password (with secret-tool, of libsecret).
///
/// Example: commis vault import --from firefox --site shop.test
#[derive(clap::Args)]
pub struct Args {
    /// Which browser (default: all that are found)
    #[arg(long, value_name = "BROWSER", value_parser = ["firefox", "chromium", "chrome", "brave", "edge"])]
    from: Option<String>,
    /// The profile, by the name of its folder
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Only this site. Repeatable
    #[arg(long, value_name = "SITE")]
    site: Vec<String>,
    /// Do not ask; needs --site
    #[arg(long, requires = "site")]
    yes: bool,
    /// Name of the login, with one --site (default: the site)
    #[arg(long, value_name = "LOGIN", requires = "site")]
    name: Option<String>,
    /// Read the browser's password from the system's keyring
    #[arg(long)]
    keyring: bool,
    /// Replace a login that has more cookies
    #[arg(long)]
    force: bool,
}

/// A site in one profile.
struct SiteCookies {
    profile: Profile,
    site: String,
    cookies: Vec<Cookie>,
}

/// 1 where a site could not be sealed.
pub fn run(args: Args, as_json: bool, global: &Global) -> Result<u8> {
    let asks = std::io::stdin().is_terminal() && !args.yes;
    if args.name.is_some() && args.site.len() != 1 {
        return Err(Error::new(Code::Usage, "--name needs exactly one --site"));
    }
    let name = args.name.as_deref().map(str::parse::<LoginName>).transpose()?;
    let all = find_sites(&args)?;
    if !as_json {
        list(&all);
    }
    if !asks && !args.yes {
        return Err(Error::new(Code::Usage, "choosing sites needs a terminal")
            .hint("run it in a terminal, or name sites: --site SITE --yes"));
    }
    let wanted: BTreeSet<&str> = args.site.iter().map(String::as_str).collect();
    if let Some(missing) = wanted.iter().find(|site| all.iter().all(|it| it.site != **site)) {
        let shown = context::clean(missing);
        return Err(Error::new(Code::ParamInvalid, format!("no profile has cookies of `{shown}`"))
            .hint("give a site as listed, without subdomains"));
    }
    if args.yes && all.len() > wanted.len() {
        return Err(Error::new(Code::ParamInvalid, "several profiles have cookies of that site")
            .hint("choose one with --from and --profile"));
    }
    let vault = Vault::new(&context::home(global)?);
    let (mut done, mut failed) = (Vec::new(), 0_u8);
    for it in all {
        let name = name.clone().map_or_else(|| LoginName::for_site(&it.site), Ok)?;
        if !args.yes && !confirm(&it, &name)? {
            continue;
        }
        match into_login(it).and_then(|held| vault.seal(&name, &held, args.force)) {
            Ok(card) => done.push(serde_json::to_value(card).unwrap_or_default()),
            Err(err) => {
                failed = 1;
                context::say(&context::clean(&format!("{name}: {err}")));
                if let Some(hint) = err.hint_text() {
                    context::say(&format!("  hint: {hint}"));
                }
            }
        }
    }
    if as_json {
        context::out(&json!({ "logins": done }));
    } else {
        for it in &done {
            context::line(&sealed(it));
        }
    }
    Ok(failed)
}

/// Sites of the profiles that are meant, those that are meant.
fn find_sites(args: &Args) -> Result<Vec<SiteCookies>> {
    let brand = Brand::ALL.into_iter().find(|it| args.from.as_deref() == Some(it.as_str()));
    let folders = UserFolders::find()?;
    let mut profiles = find_profiles(&folders.home, &folders.config, brand);
    profiles.retain(|it| args.profile.as_ref().is_none_or(|name| *name == it.name));
    if profiles.is_empty() {
        return Err(Error::new(Code::ParamInvalid, "no such browser profile is below your home folder")
            .hint("commis looks in the usual folders of firefox, chromium, chrome, brave and edge (packages, snaps, flatpaks)"));
    }
    let mut out = Vec::new();
    for profile in profiles {
        let shown = context::clean(&format!("{} profile {}", profile.brand.as_str(), profile.name));
        // One that cannot be read does not keep the others back, unless it is the one that was asked for.
        let read = if args.keyring && profile.brand != Brand::Firefox {
            profile.read_with_keyring()
        } else {
            profile.read_cookies()
        };
        let taken = match read {
            Ok(it) => it,
            Err(err) if args.profile.is_some() => return Err(err),
            Err(err) => {
                context::say(&context::clean(&format!("warning: {err}")));
                continue;
            }
        };
        if taken.locked > 0 {
            let many = taken.locked;
            context::say(&format!(
                "{shown}: {many} cookies are encrypted with a key of the system's keyring, and left: --keyring asks it"
            ));
        }
        if taken.strange > 0 {
            context::say(&format!(
                "{shown}: {} entries are no cookies that can be taken over",
                taken.strange
            ));
        }
        let mut sites: BTreeMap<String, Vec<Cookie>> = BTreeMap::new();
        for it in taken.cookies {
            let site = it.site();
            if !site.is_empty() && (args.site.is_empty() || args.site.contains(&site)) {
                sites.entry(site).or_default().push(it);
            }
        }
        let of = |(site, cookies)| SiteCookies { profile: profile.clone(), site, cookies };
        out.extend(sites.into_iter().map(of));
    }
    Ok(out)
}

fn list(all: &[SiteCookies]) {
    let mut table = ruled(["site", "cookies", "browser", "profile"]);
    for it in all {
        table.add_row([
            context::clean(&it.site),
            it.cookies.len().to_string(),
            it.profile.brand.as_str().to_owned(),
            context::clean(&it.profile.name),
        ]);
    }
    context::line(&table.to_string());
}

fn confirm(it: &SiteCookies, name: &LoginName) -> Result<bool> {
    let mut to = anstream::stderr();
    let asked = format!("seal {} cookies of {} as `{name}`? [y/N] ", it.cookies.len(), it.site);
    // Who cannot be asked has not agreed.
    if write!(to, "{}", context::clean(&asked)).and_then(|()| to.flush()).is_err() {
        return Ok(false);
    }
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .map_err(|err| Error::new(Code::Usage, "the terminal cannot be read").source(err))?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Looked at later where most of its cookies are.
fn into_login(it: SiteCookies) -> Result<LoginData> {
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    for it in &it.cookies {
        *hosts.entry(it.domain.trim_start_matches('.')).or_default() += 1;
    }
    let host = hosts.into_iter().max_by_key(|it| it.1).map_or(&*it.site, |it| it.0).to_owned();
    let named = host.contains(|it: char| it.is_ascii_alphabetic());
    let secure = named || it.cookies.iter().any(|it| it.secure);
    let scheme = if secure { "https" } else { "http" };
    LoginData::new(
        &format!("{scheme}://{host}/"),
        it.profile.brand.as_str(),
        it.cookies,
        Vec::new(),
    )
}

/// What was sealed, in a line.
pub fn sealed(card: &Value) -> String {
    let text = |it: &Value| context::clean(it.as_str().unwrap_or_default());
    let ends = card["last_ends_ms"].as_i64();
    let ends = ends.map_or_else(String::new, |it| format!(", until {}", context::moment(it)));
    format!(
        "{}: {} cookies and {} stored values of {}{ends}",
        text(&card["name"]),
        card["cookies"],
        card["stored"],
        text(&card["site"])
    )
}
