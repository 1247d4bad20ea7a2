//! `commis completions`

use clap_complete::Shell;

use super::{command, wire};

/// Print what a shell needs to complete commands and flags
///
/// Example: commis completions bash > ~/.local/share/bash-completion/completions/commis
#[derive(clap::Args)]
pub struct Args {
    shell: Shell,
}

pub fn run(args: &Args) -> u8 {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "commis", &mut out);
    wire::line(String::from_utf8_lossy(&out).trim_end());
    0
}
