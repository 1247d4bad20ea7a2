//! `commis browse`: a page that stays in the daemon's browser, command by command.

use std::{collections::BTreeMap, io::Read as _, path::PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::Parser;
use serde_json::{Value, json};

use super::{Global, context, daemon, learn_wait, names};
use commis_base::{
    error::{Code, Error, Result},
    files,
};
use commis_client::{
    browse::{self, Command, print_answer},
    client::Client,
};
use commis_serve::operations::find;

pub use commis_client::browse::Args;

/// One line of a chain.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct ChainLine {
    #[command(subcommand)]
    command: Command,
}

/// The command with its help, which the table of operations has, and with the names that a shell may complete.
pub fn with_operation_help(command: clap::Command) -> clap::Command {
    // In place: what is changed by its name goes to the end of the help.
    let with_names = |it: clap::Arg| match it.get_id().as_str() {
        "login" | "second_login" => it.add(names::logins()),
        _ => it,
    };
    command.mut_args(with_names).mut_subcommands(|it| {
        let it = it.mut_args(with_names);
        match find(&format!("browse_{}", it.get_name())) {
            Some(row) => it.about(row.spec.summary()),
            None => it,
        }
    })
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let Args { context, login, json, command } = args;
    let (client, _) = daemon::client(global).await?;
    super::vault::mount(&client, login.as_deref(), &context).await?;
    let page = PageClient { client, context, json };
    if !matches!(command, Command::Chain) {
        return page.run(command).await;
    }
    let mut text = String::new();
    let read = std::io::stdin().take(1 << 20).read_to_string(&mut text);
    read.map_err(|err| Error::new(Code::Usage, "stdin cannot be read").source(err))?;
    for (n, line) in text.lines().enumerate() {
        let at = |err: Error| {
            let out = Error::new(err.code(), format!("line {}: {}", n + 1, err.message()));
            match err.hint_text() {
                Some(hint) => out.hint(hint.to_owned()),
                None => out,
            }
        };
        let wrong = |why: String| at(Error::new(Code::Usage, why));
        let words = shlex::split(line).ok_or_else(|| wrong("a quote is not closed".to_owned()))?;
        if words.is_empty() {
            continue;
        }
        let line =
            ChainLine::try_parse_from(words).map_err(|err| wrong(err.render().to_string()))?;
        if matches!(line.command, Command::Chain) {
            return Err(wrong("a chain in a chain".to_owned()));
        }
        let code = page.run(line.command).await.map_err(at)?;
        if code != 0 {
            return Ok(code);
        }
    }
    Ok(0)
}

struct PageClient {
    client: Client,
    context: String,
    json: bool,
}

impl PageClient {
    async fn call(&self, command: &str, args: Value) -> Result<Value> {
        browse::call(&self.client, &self.context, command, args).await
    }

    async fn run(&self, command: Command) -> Result<u8> {
        let command = match command.into_operation() {
            Ok((name, args)) => return self.show(name, args).await,
            Err(it) => it,
        };
        match command {
            Command::Pdf { file } => self.file(("pdf", json!({})), "pdf_base64", file).await,
            Command::Screenshot { file, target, full, annotate } => {
                let args = json!({"target": target, "full": full, "annotate": annotate});
                self.file(("screenshot", args), "png_base64", file).await
            }
            Command::Steps => self.steps().await,
            Command::Learn { task, name, param, second, second_login } => {
                let values =
                    |all: Vec<(String, String)>| all.into_iter().collect::<BTreeMap<_, _>>();
                let mut args =
                    json!({"task": task, "params": values(param), "second": values(second)});
                if let Some(it) = name {
                    args["name"] = it.into();
                }
                if let Some(it) = second_login {
                    args["second_login"] = it.into();
                }
                self.learn(args).await
            }
            Command::Watch { page: false } => self.watch().await,
            _ => Err(Error::new(Code::Internal, "a chain cannot contain another chain")),
        }
    }

    /// Calls an operation of the page and prints what it says. 1 for the answer no.
    async fn show(&self, name: &str, args: Value) -> Result<u8> {
        let data = self.call(name, args).await?;
        Ok(print_answer(name, &data, self.json))
    }

    /// Prints events until the page is closed. What breaks is taken up again where it broke.
    async fn watch(&self) -> Result<u8> {
        let path = format!("/api/browse/events?context={}", self.context);
        let mut after = None;
        loop {
            let mut events = match self.client.stream(&path, after).await {
                // Closed meanwhile.
                Err(err) if after.is_some() && err.code() == Code::TaskNotFound => return Ok(0),
                it => it?,
            };
            while let Some(it) = events.next().await {
                after = it["id"].as_u64();
                let kind = it["kind"].as_str().unwrap_or_default();
                if self.json {
                    context::event(&it.to_string());
                } else {
                    let text = it["text"].as_str().unwrap_or_default();
                    context::line(&context::clean(&format!("{kind:<10} {text}")));
                }
                if kind == "closed" {
                    return Ok(0);
                }
            }
        }
    }

    /// Puts what a command answers into a file.
    async fn file(&self, (command, args): (&str, Value), at: &str, file: PathBuf) -> Result<u8> {
        let data = self.call(command, args).await?;
        let bytes = data[at].as_str().and_then(|it| STANDARD.decode(it).ok());
        let bytes =
            bytes.ok_or_else(|| Error::new(Code::BrowserFailed, "the browser sent no file"))?;
        let file = std::path::absolute(&file).unwrap_or(file);
        let (Some(folder), Some(name)) =
            (file.parent(), file.file_name().and_then(|it| it.to_str()))
        else {
            return Err(Error::new(Code::Usage, "this is not a regular file"));
        };
        files::write_atomic(folder, name, &bytes)?;
        if self.json {
            context::out(&json!({"file": file, "bytes": bytes.len()}));
        } else {
            context::say(&format!(
                "{} bytes in {}",
                bytes.len(),
                context::clean(&file.to_string_lossy())
            ));
        }
        Ok(0)
    }

    async fn steps(&self) -> Result<u8> {
        let data = self.call("steps", json!({})).await?;
        if self.json {
            context::out(&data);
            return Ok(0);
        }
        let yaml = json!({"url": data["url"], "steps": data["steps"]});
        let yaml = serde_saphyr::to_string(&yaml).map_err(|err| {
            Error::new(Code::Internal, "steps cannot be written as YAML").source(err)
        })?;
        context::line(context::clean(&yaml).trim_end());
        for it in data["lost"].as_array().into_iter().flatten() {
            context::say(&context::clean(&format!(
                "not among them: {}",
                it.as_str().unwrap_or_default()
            )));
        }
        Ok(0)
    }

    /// Begins to learn, and waits until it has ended.
    async fn learn(&self, args: Value) -> Result<u8> {
        let task = self.call("learn", args).await?;
        learn_wait::wait(&self.client, &task, self.json).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args as _;

    use commis_serve::operations::TABLE;

    #[test]
    fn every_operation_on_a_page_is_a_command_and_has_its_help() {
        let all = with_operation_help(Args::augment_args(clap::Command::new("browse")));
        for it in all.get_subcommands() {
            assert!(it.get_about().is_some(), "{} has no help", it.get_name());
        }
        for row in TABLE.iter().filter_map(|it| it.spec.name.strip_prefix("browse_")) {
            assert!(all.find_subcommand(row).is_some(), "`browse {row}` is missing");
        }
    }
}
