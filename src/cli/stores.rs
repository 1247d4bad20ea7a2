//! What `--store` names: a folder that machines share. Object stores come with the program that is built with them, and so do
//! engines.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use url::Url;
use zeroize::Zeroizing;

use super::{Global, context};
use commis_artifacts::{
    shared_store::{self, SharedFolder, SharedStore},
    signed_store::SignedStore,
};
use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
    mac::{KEY_LEN, MacKey},
    settings::{self, Home},
};
use commis_batch::remote::Engine;

/// Opens a store of another kind than a folder, by its URL; `None` when it knows none of that scheme.
pub type StoreOpener = fn(&Url) -> Option<Result<Arc<dyn SharedStore>>>;

/// An engine of that name, and what is told of it after a colon; `None` when it knows none of that name.
pub type EngineOpener = fn(&str, Option<&str>) -> Option<Result<Arc<dyn Engine>>>;

/// What a program was built with, beside folders and this machine.
#[derive(Clone, Copy, Default)]
pub struct Extensions {
    pub stores: Option<StoreOpener>,
    pub engines: Option<EngineOpener>,
}

/// Flags of commands that learn beside other machines.
#[derive(clap::Args)]
pub struct SharedStoreArgs {
    /// Share artifacts with other machines through this store: a folder (default: this machine alone)
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// Let this model choose if the heuristics cannot decide (default: [model] in the settings) [env: COMMIS_MODEL]
    #[arg(long, value_name = "PROVIDER/NAME")]
    model: Option<String>,
    /// Send nothing: HAR entries only, nothing is verified
    #[arg(long)]
    no_network: bool,
    /// Accept tasks that seem to hold a secret; the secret is used, and stored redacted
    #[arg(long)]
    pub allow_task_secrets: bool,
}

impl SharedStoreArgs {
    /// Folders and settings with these flags over them. Fails as [`context::open`] does.
    pub async fn place(&self, global: &Global) -> Result<context::Environment> {
        let mut place = context::open(global).await?;
        place.settings.egress.no_network = self.no_network;
        if let Some(model) = &self.model {
            place.settings.model.choose(model)?;
        }
        Ok(place)
    }

    /// The store, probed. Fails as [`open`] does.
    pub fn shared_store(
        &self,
        global: &Global,
        home: &Home,
    ) -> Result<Option<Arc<dyn SharedStore>>> {
        self.store.as_deref().map(|it| open(it, global, home)).transpose()
    }
}

/// `--engine NAME[:MORE]`. Fails with `USAGE`.
pub fn engine(text: &str, global: &Global) -> Result<Arc<dyn Engine>> {
    let (name, more) = match text.split_once(':') {
        Some((name, more)) => (name, Some(more)),
        None => (text, None),
    };
    let known = global.built.engines.and_then(|it| it(name, more));
    known.unwrap_or_else(|| {
        let name = context::clean(name);
        Err(Error::new(Code::Usage, format!("this program does not include the engine `{name}`"))
            .hint("run the same command with commis-worker, which includes `temporal`; see docs/scale.md"))
    })
}

/// The store, whose objects are those of this fleet alone. Fails with `USAGE` for what is no store of this program's, with
/// `STORE_KEY_MISSING`, `STORE_UNSAFE`, and as the store does.
pub fn open(text: &str, global: &Global, home: &Home) -> Result<Arc<dyn SharedStore>> {
    let bad = |why: &str| {
        Error::new(Code::Usage, format!("--store {why}")).hint("give a folder, or file:///… of one")
    };
    let url = if text.contains("://") {
        Some(Url::parse(text).map_err(|err| bad("is no URL").source(err))?)
    } else {
        None
    };
    let opened: Arc<dyn SharedStore> = match url {
        None => folder(PathBuf::from(text), home)?,
        Some(it) if it.scheme() == "file" => {
            folder(it.to_file_path().map_err(|()| bad("names no folder of this machine"))?, home)?
        }
        Some(it) => global.built.stores.and_then(|open| open(&it)).unwrap_or_else(|| {
            let scheme = it.scheme();
            Err(bad(&format!("is of a kind that this program does not know, {scheme}"))
                .hint("give a folder, or use commis-worker, which supports s3, gs and az"))
        })?,
    };
    let opened = SignedStore::new(opened, fleet_key()?);
    shared_store::probe(&opened)?;
    Ok(Arc::new(opened))
}

/// The variable that holds the fleet's key, and the one that names its file.
const KEY: &str = "COMMIS_STORE_KEY";
const KEY_FILE: &str = "COMMIS_STORE_KEY_FILE";

/// The key that every machine of a fleet has, from the environment or from a file that nobody else can read. Fails with
/// `STORE_KEY_MISSING`.
pub fn fleet_key() -> Result<MacKey> {
    let missing = |why: String| {
        Error::new(Code::StoreKeyMissing, why).hint(format!(
            "make one for all machines with `openssl rand -hex 32` and put it into ${KEY}, or the path of its file (0600) into ${KEY_FILE}; see docs/scale.md"
        ))
    };
    let short = || format!("has fewer than {KEY_LEN} characters");
    if let Some(text) = settings::secret(KEY) {
        return MacKey::new(text.trim().as_bytes())
            .ok_or_else(|| missing(format!("${KEY} {}", short())));
    }
    let Some(path) = settings::secret(KEY_FILE) else {
        return Err(missing(
            "what others put into a store is believed by its key alone, and there is none"
                .to_owned(),
        ));
    };
    let path = PathBuf::from(path.as_str());
    let (folder, name) = (path.parent(), path.file_name().and_then(|it| it.to_str()));
    let (Some(folder), Some(name)) = (folder, name) else {
        return Err(missing(format!("${KEY_FILE} names no file")));
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let bytes = match Dir::open(folder, false)? {
        Some(it) => it.read_private(name, MAX_KEY)?.map(Zeroizing::new),
        None => None,
    };
    let bytes =
        bytes.ok_or_else(|| missing(format!("${KEY_FILE}: there is no {}", path.display())))?;
    MacKey::new(bytes.trim_ascii())
        .ok_or_else(|| missing(format!("{} {}", path.display(), short())))
}

const MAX_KEY: usize = 4096;

fn folder(path: PathBuf, home: &Home) -> Result<Arc<dyn SharedStore>> {
    let it = SharedFolder::open(&path)?;
    let real = |it: &std::path::Path| it.canonicalize().ok();
    if real(&path).is_some_and(|it| Some(it) == real(&home.artifacts)) {
        return Err(Error::new(
            Code::Usage,
            "--store is the artifacts folder of this machine, which has another format",
        )
        .hint("leave --store out, or give a folder of its own"));
    }
    Ok(Arc::new(it))
}
