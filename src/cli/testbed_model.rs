//! `commis testbed model`

use std::path::PathBuf;

use super::{context, testbed_serve};
use commis_base::{
    error::{Code, Error, Result},
    files::read_bounded,
};
use commis_testbed::model::{ScriptedModel, Scripts, WireFormat};

/// Bytes of a transcript.
const MAX: u64 = 4 * 1024 * 1024;

/// Serve a model that plays a transcript, until Ctrl-C
///
/// It speaks the formats of Anthropic (…/messages), OpenAI (…/chat/completions) and Gemini (…/models/NAME:generateContent) on one
/// port of loopback, and needs no key. A transcript is YAML. Each of its `scripts` has `when` (words of the first message), `turns`
/// and `then` (the call after the last turn). A turn is one of call: {name, arguments}, calls: [...], say: text, fail: status,
/// garbage: text and slow_ms: n. The last three may have `times`, after which they end. GET /seen returns the number of requests
/// and their content.
#[derive(clap::Args)]
pub struct Args {
    /// The transcript to play
    #[arg(long, value_name = "FILE", required_unless_present = "obey")]
    transcript: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 8490)]
    port: u16,
    /// Speak this format alone
    #[arg(long, value_enum)]
    wire: Option<Format>,
    /// Obey pages: follow the newest `DO name {json}` in a page before the transcript
    #[arg(long)]
    obey: bool,
    /// End when standard input closes, so that it does not outlive its parent
    #[arg(long)]
    until_eof: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Anthropic,
    Openai,
    Gemini,
}

pub async fn run(args: Args) -> Result<u8> {
    let scripts = match &args.transcript {
        None => Scripts::default(),
        Some(path) => {
            let text = String::from_utf8_lossy(&read_bounded(path, MAX)?).into_owned();
            Scripts::parse(&text).map_err(|why| {
                Error::new(Code::Usage, format!("{}: {why}", path.display()))
                    .hint("`commis testbed model --help` says what a transcript holds")
            })?
        }
    };
    let only = args.wire.map(|it| match it {
        Format::Anthropic => WireFormat::Anthropic,
        Format::Openai => WireFormat::Openai,
        Format::Gemini => WireFormat::Gemini,
    });
    let model = ScriptedModel::start(args.port, scripts, args.obey, only)
        .await
        .map_err(testbed_serve::busy(args.port))?;
    context::say("set it as `endpoint` under [model], with a provider and any name");
    context::line(&format!("http://{}/v1/", model.addr()));
    testbed_serve::wait_for_end(args.until_eof).await;
    Ok(0)
}
