//! What `--store` names: a folder that machines share. Object stores come with the program that is built with them.

use std::{path::PathBuf, sync::Arc};

use url::Url;

use super::Global;
use crate::{
    artifacts::shelf::{self, SharedFolder, Shelf},
    error::{Code, Error, Result},
    settings::Home,
};

/// Opens a store of another kind than a folder, by its URL; `None` when it knows none of that scheme.
pub type Opener = fn(&Url) -> Option<Result<Arc<dyn Shelf>>>;

/// Fails with `USAGE` for what is no store of this program's, with `STORE_UNSAFE`, and as the store does.
pub fn open(text: &str, global: &Global, home: &Home) -> Result<Arc<dyn Shelf>> {
    let bad = |why: &str| {
        Error::new(Code::Usage, format!("--store {why}")).hint("give a folder, or file:///… of one")
    };
    let url = if text.contains("://") {
        Some(Url::parse(text).map_err(|err| bad("is no URL").source(err))?)
    } else {
        None
    };
    let opened: Arc<dyn Shelf> = match url {
        None => folder(PathBuf::from(text), home)?,
        Some(it) if it.scheme() == "file" => {
            folder(it.to_file_path().map_err(|()| bad("names no folder of this machine"))?, home)?
        }
        Some(it) => global.stores.and_then(|open| open(&it)).unwrap_or_else(|| {
            let scheme = it.scheme();
            Err(bad(&format!("is of a kind that this program does not know, {scheme}"))
                .hint("give a folder, or use commis-worker, which knows s3, gs and az"))
        })?,
    };
    shelf::probe(&*opened)?;
    Ok(opened)
}

fn folder(path: PathBuf, home: &Home) -> Result<Arc<dyn Shelf>> {
    let it = SharedFolder::open(&path)?;
    let real = |it: &std::path::Path| it.canonicalize().ok();
    if real(&path).is_some_and(|it| Some(it) == real(&home.artifacts)) {
        return Err(Error::new(
            Code::Usage,
            "--store names this machine's own artifacts, which have another form",
        )
        .hint("leave --store out, or give a folder of its own"));
    }
    Ok(Arc::new(it))
}
