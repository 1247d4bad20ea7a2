//! `commis completions`

use clap_complete::env::Shells;

use super::context;
use commis_base::error::{Code, Error, Result};

/// Print a completion script for commands, flags, and names of recipes, logins and sessions
///
/// The script calls this program for each word, so new recipes are completed at once.
///
/// Example: commis completions bash > ~/.local/share/bash-completion/completions/commis
#[derive(clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

pub fn run(args: &Args) -> Result<u8> {
    let shells = Shells::builtins();
    let shell = shells
        .completer(&args.shell)
        .ok_or_else(|| Error::new(Code::Usage, format!("there is no shell {}", args.shell)))?;
    let mut out = Vec::new();
    shell
        .write_registration("COMPLETE", "commis", "commis", "commis", &mut out)
        .map_err(|err| Error::new(Code::Internal, "cannot write for that shell").source(err))?;
    context::line(String::from_utf8_lossy(&out).trim_end());
    Ok(0)
}
