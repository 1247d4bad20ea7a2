//! Fetches an address that a stranger gave, and cannot be made to reach a private network: `cargo run --bin fetch -- URL`.

use std::{env, process::ExitCode};

use commis::{EgressPolicy, Error, Request, SafeClient};

#[tokio::main]
async fn main() -> ExitCode {
    let Some(url) = env::args().nth(1) else {
        eprintln!("usage: fetch URL");
        return ExitCode::from(2);
    };
    match fetch(&url).await {
        Ok(bytes) => {
            println!("{bytes} bytes");
            ExitCode::SUCCESS
        }
        Err(err) => {
            eprintln!("{} {err}", err.code());
            ExitCode::from(err.code().class().exit_code())
        }
    }
}

async fn fetch(url: &str) -> Result<usize, Error> {
    let client = SafeClient::new(&EgressPolicy::public()?)?;
    let answer = client.send(&Request::get(url)).await?;
    Ok(answer.body.len())
}
