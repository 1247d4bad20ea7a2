//! `commis recipe check`

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Global,
    check_progress::{CheckProgress, FEW, table},
    check_remote::RemoteCheck,
    check_row::{Row, Verdict},
    checker::{CheckTarget, Checker},
    context, junit,
    learn_batch::shard,
    names, run, stores,
};
use commis_base::{
    error::{Class, Code, Result},
    files,
    ids::{RecipeName, shard_of},
};
use commis_learn::{BrowserPool, Sessions};
use commis_recipe::{model::Status, registry::Source};
use commis_state::{State, now_ms};
use commis_vault::{Login, Vault};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Run verified recipes once each and say which still work, for cron and CI
///
/// Each recipe is called with its defaults and each of its examples, within the limits of runs. The answers are compared with
/// the verified shape, and with the earlier answers to the examples: number of items, keys, values. If those differ the verdict
/// is `changed`: the site has other data, or another meaning; `recipe verify` accepts it. Drift puts a recipe out of service at
/// once, and so does the fifth failure in a row by its own fault; `recipe verify` proves it again. A check counts as a run.
///
/// Hosts take turns. Each host gets one recipe at a time, when its limit allows, so a slow host delays no other. If five
/// recipes of a host in a row get no connection, the rest of that host is not tried. Use --shard to split thousands by host,
/// and --unchecked-for to continue an interrupted check.
///
/// Exit code 0: all recipes work. 1: at least one drifted or failed. 3: none did, but some are unknown, because of the network,
/// a limit, a missing key, or a missing example.
///
/// With --json: a list of {name, source, verdict, demoted, blame, error_code, error, similarity_bp, items, total_ms}.
#[derive(clap::Args)]
pub struct Args {
    /// Names of recipes: `commis list` has them
    #[arg(add = names::recipes(), required_unless_present = "all")]
    names: Vec<String>,
    /// Every verified recipe, your own and the library's
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Recipes at a time, at most limits.runs (default: that)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Only this part, of N parts; all recipes of a host are in one part
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(u32, u32)>,
    /// Skip recipes that ran in the last HOURS hours, to continue an interrupted check
    #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u16).range(1..))]
    unchecked_for: Option<u16>,
    /// Let the workers of this engine call the recipes; they share the store: temporal, or temporal:QUEUE (default: commis);
    /// needs commis-worker
    #[arg(long, value_name = "NAME", requires = "store", conflicts_with = "jobs")]
    engine: Option<String>,
    /// With --engine: the store that the workers share
    #[arg(long, value_name = "URL", requires = "engine")]
    store: Option<String>,
    /// Check the recipes that need a login with this one; give the login that they were learned with
    #[arg(add = names::logins(), long = "as", value_name = "LOGIN", conflicts_with = "engine")]
    login: Option<String>,
    /// Write the verdicts to this file as JUnit XML, for CI
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let place = context::open(global).await?;
    let registry = context::registry(&place.home)?;
    let names: Vec<RecipeName> = if args.all {
        // A file that cannot be read is not known to be well.
        let wanted = registry.list()?.into_iter().filter(|it| {
            it.recipe.as_ref().map_or(true, |recipe| recipe.status == Status::Verified)
        });
        wanted.filter_map(|it| RecipeName::new(it.name).ok()).collect()
    } else {
        args.names.into_iter().map(RecipeName::new).collect::<Result<_>>()?
    };
    let state = State::open(&place.home.artifacts);
    let mut all: Vec<CheckTarget> =
        names.into_iter().map(|it| CheckTarget::new(it, &registry)).collect();
    let known = all.len();
    if let Some((i, n)) = args.shard {
        all.retain(|it| shard_of(it.shard_key(), n) == i - 1);
    }
    if let (Some(hours), Ok(state)) = (args.unchecked_for, &state) {
        leave_out_checked(&mut all, hours, state)?;
    }
    if all.is_empty() {
        let none = if known == 0 {
            "there are no verified recipes"
        } else {
            "none of them is left to check"
        };
        context::say(none);
    }
    let few = all.len() <= FEW;
    let caller = if few { run::caller(&place)? } else { run::quiet_caller(&place)? };
    let browser = &place.settings.browser;
    let pool = BrowserPool::new(Arc::clone(caller.policy()), browser.clone());
    let logged_in = match &args.login {
        Some(name) => {
            let login = Login::open(Vault::new(&place.home), &name.parse()?)?;
            Some(Sessions::new(pool.clone(), browser.session_ttl()).logged_in(login))
        }
        None => None,
    };
    let sessions = Sessions::new(pool, browser.session_ttl());
    let rows: Arc<Mutex<Vec<(usize, Row)>>> = Arc::default();
    let progress = CheckProgress::new(all.len());
    let progress_shown = progress.clone();
    let check =
        Checker { caller, sessions, logged_in, state, registry, progress: progress_shown, place };
    check.tell_estimate(&all);
    let jobs = check.jobs(args.jobs.map(usize::from), &all);
    let seen = Arc::clone(&rows);
    let wanted = all.len();
    let remote = match (&args.engine, &args.store) {
        (Some(engine), Some(store)) => Some(RemoteCheck {
            shared_store: stores::open(store, global, &check.place.home)?,
            engine: stores::engine(engine, global)?,
        }),
        _ => None,
    };
    let work = move || async move {
        let ended = match &remote {
            None => check.check_all(&all, jobs, &seen).await,
            Some(it) => check.remote(it, &all, &seen).await,
        };
        check.sessions.close().await;
        ended
    };
    let ended =
        context::run_interruptible("what was seen is noted; --unchecked-for leaves it out", work)
            .await;
    progress.finish();
    let mut rows = std::mem::take(&mut *rows.lock().unwrap_or_else(PoisonError::into_inner));
    rows.sort_by_key(|it| it.0);
    let rows: Vec<Row> = rows.into_iter().map(|it| it.1).collect();
    let interrupted = match ended {
        Err(err) if err.code() == Code::Interrupted => true,
        ended => ended.map(|()| false)?,
    };
    if let Some(file) = &args.junit {
        files::save(file, junit::report(&rows).as_bytes())?;
    }
    if args.json {
        context::out(&rows);
    } else if !rows.is_empty() {
        table(&rows);
    }
    if interrupted {
        let n = rows.len();
        context::say(&format!(
            "interrupted: {n} of {wanted} checked; --unchecked-for leaves them out"
        ));
        return Ok(Class::Interrupted.exit_code());
    }
    Ok(exit_code(rows.iter().map(|it| it.verdict)))
}

/// Leaves out what ran within the last hours.
fn leave_out_checked(all: &mut Vec<CheckTarget>, hours: u16, state: &State) -> Result<()> {
    let since = now_ms() - i64::from(hours) * HOUR_MS;
    let ran: BTreeMap<(String, String), i64> =
        state.all_health()?.into_iter().map(|it| ((it.name, it.source), it.last_run_ms)).collect();
    all.retain(|it| {
        let source = it.source.map_or("", Source::as_str).to_owned();
        ran.get(&(it.name.to_string(), source)).is_none_or(|it| *it < since)
    });
    Ok(())
}

fn exit_code(verdicts: impl Iterator<Item = Verdict>) -> u8 {
    verdicts.fold(0, |code, it| match (code, it) {
        (1, _) | (_, Verdict::Changed | Verdict::Drifted | Verdict::Failed) => 1,
        (_, Verdict::Unknown) => 3,
        (code, Verdict::Ok) => code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_failure_and_no_success() {
        use Verdict::{Changed, Drifted, Failed, Ok, Unknown};
        for (verdicts, code) in [
            (&[][..], 0),
            (&[Ok, Ok], 0),
            (&[Ok, Unknown, Ok], 3),
            (&[Unknown, Drifted, Ok], 1),
            (&[Failed, Unknown], 1),
            (&[Ok, Changed], 1),
        ] {
            assert_eq!(exit_code(verdicts.iter().copied()), code);
        }
    }
}
