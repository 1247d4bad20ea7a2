//! `commis man`

use std::path::PathBuf;

use super::{command, wire};
use crate::{
    error::{Code, Error, Result},
    files,
};

/// Write the manual: a page for each command
///
/// Example: commis man ~/.local/share/man/man1
#[derive(clap::Args)]
pub struct Args {
    /// Made when absent, for its owner alone
    folder: PathBuf,
}

pub fn run(args: &Args) -> Result<u8> {
    let mut root = command();
    root.build();
    let mut left = vec![root];
    let mut pages = 0;
    while let Some(it) = left.pop() {
        left.extend(it.get_subcommands().filter(|it| !it.is_hide_set()).cloned());
        let page = clap_mangen::Man::new(it);
        let mut text = Vec::new();
        page.render(&mut text)
            .map_err(|err| Error::new(Code::Internal, "cannot write a page").source(err))?;
        files::write_atomic(&args.folder, &page.get_filename(), &text)?;
        pages += 1;
    }
    wire::say(&format!("{pages} pages in {}", args.folder.display()));
    Ok(0)
}
