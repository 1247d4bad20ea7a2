//! Runs a recipe file: `cargo run --bin run -- recipe.yaml query=lamp`. The test web of `commis testbed serve --port 8600`
//! is reached when its address is given as `--test 127.0.0.1:8600`.

use std::{env, fs, process::ExitCode};

use commis::{EgressPolicy, Error, Recipe, Runner};

#[tokio::main]
async fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    let (mut file, mut values, mut test) = (None, Vec::new(), None);
    while let Some(it) = args.next() {
        match it.split_once('=') {
            _ if it == "--test" => test = args.next().and_then(|it| it.parse().ok()),
            Some((name, value)) => values.push((name.to_owned(), value.to_owned())),
            None => file = Some(it),
        }
    }
    let Some(text) = file.and_then(|it| fs::read_to_string(it).ok()) else {
        eprintln!("usage: run RECIPE.yaml [NAME=VALUE…] [--test 127.0.0.1:PORT]");
        return ExitCode::from(2);
    };
    match run(&text, values, test).await {
        Ok(data) => {
            println!("{data}");
            ExitCode::SUCCESS
        }
        Err(err) => {
            // The code is for programs, the hint for people.
            eprintln!("{} {err}", err.code());
            err.hint_text().into_iter().for_each(|it| eprintln!("hint: {it}"));
            ExitCode::from(err.code().class().exit_code())
        }
    }
}

async fn run(
    recipe: &str,
    values: Vec<(String, String)>,
    test: Option<std::net::SocketAddr>,
) -> Result<String, Error> {
    let recipe = Recipe::from_yaml(recipe)?;
    let policy = match test {
        Some(it) => EgressPolicy::builder().test_host("*.test", it).build()?,
        None => EgressPolicy::public()?,
    };
    let runner = Runner::builder().policy(&policy).build()?;
    let answer = runner.run(&recipe, values).await?;
    eprintln!("{} items in {:?}", answer.items.unwrap_or(1), answer.took);
    Ok(answer.data.to_string())
}
