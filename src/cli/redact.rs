//! `commis redact`

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use super::{Global, context};
use commis_base::{
    error::{Code, Error, Result},
    files::{Dir, read_bounded},
};
use commis_redact::har;

/// Make a HAR safe to share: without cookies, keys, tokens, and bodies that are no text
///
/// The structure stays, placeholders replace the values, and equal values have equal placeholders. stderr lists what was
/// removed, never the values.
#[derive(clap::Args)]
pub struct Args {
    /// The HAR file, which is not changed
    file: PathBuf,
    /// Write there, readable by you alone; `-` or absent: stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// A parameter, header or field that is harmless, although it looks random. Repeatable
    #[arg(long, value_name = "NAME")]
    allow: Vec<String>,
    /// Print what was removed as JSON: on stdout, or on stderr where the HAR goes to stdout
    #[arg(long)]
    pub json: bool,
}

impl Args {
    /// Whether stdout is free for a report.
    pub fn to_file(&self) -> bool {
        self.out.as_ref().is_some_and(|it| it.as_os_str() != "-")
    }
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let (_, mut settings) = context::read(global)?;
    settings.redact.allow.extend(args.allow);
    let out = args.out.filter(|it| it.as_os_str() != "-");
    if let Some(out) = &out
        && same(out, &args.file)
    {
        return Err(Error::new(Code::Usage, "--out is the input file itself")
            .hint("give another file, check it, then replace the first one"));
    }
    let to_file = out.is_some();
    let work = move || async move {
        let bytes = read_bounded(&args.file, har::MAX_FILE as u64)?;
        let (shared, report) = har::share(&bytes, &settings.redact)?;
        // Its reader may take its time.
        if !to_file {
            context::data(&shared);
        }
        Ok((shared, report))
    };
    let hint = if to_file { "nothing was written" } else { "what was written is not all of it" };
    let (shared, report) = context::run_interruptible(hint, work).await?;
    if let Some(path) = &out {
        write(path, &shared)?;
    }
    match (args.json, &out) {
        (true, Some(_)) => context::out(&report),
        (true, None) => context::say(&serde_json::to_string(&report).unwrap_or_default()),
        (false, _) => context::say(&context::clean(&describe(&report))),
    }
    Ok(0)
}

pub fn same(a: &Path, b: &Path) -> bool {
    a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}

/// A file that the user names: whole or not at all, at 0600, never through a link. Fails with [`Code::Usage`].
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().and_then(|it| it.to_str());
    let name = name.ok_or_else(|| {
        Error::new(Code::Usage, format!("{} is not the path of a file", path.display()))
    })?;
    // Of a folder that the user names, links on the way are the user's business.
    let folder = folder.canonicalize().map_err(|err| {
        Error::new(Code::Usage, format!("there is no folder {}", folder.display())).source(err)
    })?;
    match Dir::open(&folder, false)? {
        Some(dir) => dir.write(name, bytes),
        None => Err(Error::new(Code::Usage, format!("there is no folder {}", folder.display()))),
    }
}

fn describe(report: &har::ShareReport) -> String {
    let counts = |all: Vec<(&str, u64)>| {
        all.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
    };
    let mut out = format!(
        "{} values removed in {} of {} entries, {} bodies that are no text left out; {} bytes became {}",
        report.removed.total(),
        report.entries_touched,
        report.entries,
        report.bodies_dropped,
        report.bytes_before,
        report.bytes_after,
    );
    let reasons = report.removed.by_reason.iter().map(|(name, n)| (*name, *n)).collect();
    let mut keys: Vec<(&str, u64)> =
        report.removed.by_key.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    keys.sort_by_key(|it| std::cmp::Reverse(it.1));
    let more = keys.len().saturating_sub(20);
    keys.truncate(20);
    let _ = write!(out, "\n  by reason: {}\n  by key: {}", counts(reasons), counts(keys));
    if more > 0 {
        let _ = write!(out, ", and {more} more");
    }
    out
}
