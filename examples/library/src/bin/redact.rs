//! Makes a HAR fit to be shared: `cargo run --bin redact -- in.har out.har`.

use std::{env, fs, process::ExitCode};

use commis::{RedactOptions, redact_har};

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let [from, to] = args.as_slice() else {
        eprintln!("usage: redact IN.har OUT.har");
        return ExitCode::from(2);
    };
    let Ok(har) = fs::read(from) else {
        eprintln!("cannot read {from}");
        return ExitCode::from(2);
    };
    match redact_har(&har, &RedactOptions::default()) {
        Ok((out, report)) => {
            if fs::write(to, out).is_err() {
                eprintln!("cannot write {to}");
                return ExitCode::from(3);
            }
            println!("{} of {} entries touched", report.entries_touched, report.entries);
            for (why, n) in report.by_reason {
                println!("{n:6} by {why}");
            }
            ExitCode::SUCCESS
        }
        Err(err) => {
            eprintln!("{} {err}", err.code());
            ExitCode::from(err.code().class().exit_code())
        }
    }
}
