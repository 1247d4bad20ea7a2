//! Learns a recipe from a HAR and prints it: `cargo run --bin learn -- FILE.har "search the shop for {query}" query=lamp,cup`.
//! The first value was typed in the HAR, the second proves the recipe. Nothing is sent without `--replay`; with
//! `--replay 127.0.0.1:8600` hosts under `.test` are at that address.

use std::{env, fs, process::ExitCode};

use commis::{EgressPolicy, Error, HarTask, learn_from_har};

#[tokio::main]
async fn main() -> ExitCode {
    let mut args: Vec<String> = env::args().skip(1).collect();
    let replay = args.iter().position(|it| it == "--replay").map(|at| {
        args.remove(at);
        if at < args.len() { args.remove(at) } else { String::new() }
    });
    let [file, sentence, values @ ..] = args.as_slice() else {
        eprintln!("usage: learn FILE.har SENTENCE [NAME=TYPED,OTHER…] [--replay [127.0.0.1:PORT]]");
        return ExitCode::from(2);
    };
    let Ok(har) = fs::read(file) else {
        eprintln!("cannot read {file}");
        return ExitCode::from(2);
    };
    let mut task = HarTask::new("learned", sentence);
    for it in values {
        if let Some((name, (typed, other))) =
            it.split_once('=').and_then(|(name, both)| Some((name, both.split_once(',')?)))
        {
            task = task.parameter(name, typed, other);
        }
    }
    match learn(&har, &task, replay.as_deref()).await {
        Ok(verified) if verified => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(err) => {
            eprintln!("{} {err}", err.code());
            ExitCode::from(err.code().class().exit_code())
        }
    }
}

async fn learn(har: &[u8], task: &HarTask, replay: Option<&str>) -> Result<bool, Error> {
    let policy = match replay {
        None => None,
        Some(it) => Some(match it.parse() {
            Ok(at) => EgressPolicy::builder().test_host("*.test", at).build()?,
            Err(_) => EgressPolicy::public()?,
        }),
    };
    let out = learn_from_har(har, task, policy.as_ref()).await?;
    for it in &out.candidates {
        eprintln!("{:5} {} {}", it.confidence_bp, it.method, it.url);
    }
    eprintln!("{:?} {}", out.status, out.reason.as_deref().unwrap_or(""));
    if let Some(it) = &out.recipe {
        print!("{}", it.to_yaml()?);
    }
    Ok(out.status == commis::LearnStatus::Verified)
}
