//! `commis har openapi`

use std::{fmt::Write as _, path::PathBuf};

use clap::Subcommand;

use super::{Global, context, redact};
use commis_base::{
    error::{Code, Error, Result},
    files::read_bounded,
};
use commis_export::endpoints::{self, Options, Report};
use commis_redact::har;

#[derive(Subcommand)]
pub enum Command {
    Openapi(OpenapiArgs),
    Redact(redact::Args),
}

/// Write all data endpoints of a HAR as one OpenAPI 3.1 document
///
/// Variable path segments become parameters, and answers are merged into one schema for each status. GraphQL and JSON-RPC
/// operations are separate. The document says how requests authenticated, never with which value. Pages, files, trackers and
/// the like are left out and counted on stderr. Exit code 1: there is no data endpoint.
#[derive(clap::Args)]
pub struct OpenapiArgs {
    /// The HAR file
    file: PathBuf,
    /// Write there, readable by you alone; `-` or absent: stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// As YAML; so is a file whose name ends in .yaml or .yml
    #[arg(long)]
    yaml: bool,
    /// Only this host and its subdomains. Repeatable
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// Include a part of one answer and one request body as examples
    #[arg(long)]
    examples: bool,
    /// A parameter, header or field that is harmless, although it looks random. Repeatable
    #[arg(long, value_name = "NAME")]
    allow: Vec<String>,
    /// Print what became of the entries as JSON: on stdout, or on stderr where the document goes to stdout
    #[arg(long)]
    json: bool,
}

impl Command {
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Openapi(it) => it.json && it.to_file().is_some(),
            // Its stdout may be the HAR.
            Self::Redact(it) => it.json && it.to_file(),
        }
    }
}

impl OpenapiArgs {
    fn to_file(&self) -> Option<&PathBuf> {
        self.out.as_ref().filter(|it| it.as_os_str() != "-")
    }
}

pub async fn run(command: Command, global: &Global) -> Result<u8> {
    match command {
        Command::Openapi(args) => openapi(args, global).await,
        Command::Redact(args) => redact::run(args, global).await,
    }
}

async fn openapi(args: OpenapiArgs, global: &Global) -> Result<u8> {
    let (_, mut settings) = context::read(global)?;
    settings.redact.allow.extend(args.allow.iter().cloned());
    let out = args.to_file().cloned();
    if let Some(out) = &out
        && redact::same(out, &args.file)
    {
        return Err(
            Error::new(Code::Usage, "--out is the input file itself").hint("give another file")
        );
    }
    let hosts = args.host.iter().map(|it| it.trim().to_ascii_lowercase()).collect();
    let options = Options { hosts, examples: args.examples };
    let file = args.file;
    let work = move || async move {
        let bytes = read_bounded(&file, har::MAX_FILE as u64)?;
        endpoints::describe(&bytes, &settings.redact, &options)
    };
    let (document, report) = context::run_interruptible("nothing was written", work).await?;
    if let Some(document) = &document {
        let ends = |ending: &str| {
            out.as_ref().is_some_and(|it| it.extension().is_some_and(|it| it == ending))
        };
        let text = if args.yaml || ends("yaml") || ends("yml") {
            serde_saphyr::to_string(document).map_err(|err| {
                Error::new(Code::Internal, "the document cannot be written as YAML").source(err)
            })?
        } else {
            format!("{document:#}\n")
        };
        match &out {
            Some(path) => redact::write(path, text.as_bytes())?,
            None => context::data(text.as_bytes()),
        }
    }
    match (args.json, &out) {
        (true, Some(_)) => context::out(&report),
        (true, None) => context::say(&serde_json::to_string(&report).unwrap_or_default()),
        (false, _) => context::say(&context::clean(&describe_report(&report))),
    }
    Ok(u8::from(document.is_none()))
}

fn describe_report(report: &Report) -> String {
    let mut out = if report.operations == 0 {
        format!("no data endpoints in {} entries; nothing was written", report.entries)
    } else {
        format!(
            "{} operations at {} paths from {} of {} entries",
            report.operations, report.paths, report.described, report.entries
        )
    };
    let mut origins: Vec<(&String, &usize)> = report.origins.iter().collect();
    origins.sort_by_key(|it| std::cmp::Reverse(*it.1));
    for (origin, count) in origins.iter().take(12) {
        let _ = write!(out, "\n  {count} at {origin}");
    }
    if origins.len() > 12 {
        let _ = write!(out, "\n  and {} more origins", origins.len() - 12);
    }
    for (reason, it) in &report.left_out {
        let _ = write!(out, "\n  left out, {reason}: {}", it.count);
        if !it.hosts.is_empty() {
            let more = if it.hosts.len() == 5 { ", …" } else { "" };
            let _ = write!(out, " ({}{more})", it.hosts.join(", "));
        }
    }
    if report.operations == 0 {
        out.push_str("\n  hint: record with the answers' content, and use the page until it has shown its data");
    }
    let _ = write!(out, "\n  values removed as secrets: {}", report.removed.total());
    out
}
