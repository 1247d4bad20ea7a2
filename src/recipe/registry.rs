//! Recipes by name: the user's folder, one YAML file each, over the library that comes with the program.
//!
//! A user's recipe shadows a library one of the same name. Library recipes are read-only; that one was verified here is
//! written beside the user's recipes, in `library/NAME.json`, and holds for the text it was made with only; so is that runs
//! have since shown it to work no longer.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    check::check,
    library,
    model::{Demotion, DemotionReason, Recipe, Status, Verification},
    status::{RecipeEvent, RecipeState},
    trust::{NoteOwner, TrustNotes, TrustStore, digest},
    trust_level::Trust,
    yaml::{self, MAX_LEN},
};
use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
    ids::RecipeName,
    settings::Home,
};

/// A folder of recipes; it need not exist until something is saved.
#[derive(Clone, Debug)]
pub struct Registry {
    dir: PathBuf,
    ledger: TrustStore,
}

/// Where a recipe comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    User,
    Library,
}

impl Source {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Library => "library",
        }
    }
}

/// A recipe and whose it is.
#[derive(Debug)]
pub struct RegisteredRecipe {
    pub recipe: Recipe,
    pub source: Source,
    /// A user's recipe that stands before a library one.
    pub shadows: bool,
}

/// One line of a listing: a file that does not parse is listed with its error.
#[derive(Debug)]
pub struct Entry {
    /// The file's name without `.yaml`.
    pub name: String,
    pub source: Source,
    pub shadows: bool,
    /// `None` for a library recipe.
    pub path: Option<PathBuf>,
    pub recipe: Result<Recipe>,
}

/// What `library/NAME.json` holds: proof made on this machine, for one text of the recipe.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    recipe_sha256: String,
    verification: Verification,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    demotion: Option<Demotion>,
}

/// Folder of the records.
const RECORDS: &str = "library";

impl Entry {
    /// It can be read, and is verified.
    pub fn is_verified(&self) -> bool {
        self.recipe.as_ref().is_ok_and(|it| it.status == Status::Verified)
    }
}

impl Registry {
    /// The recipes of a home.
    pub fn for_home(home: &Home) -> Self {
        Self { dir: home.recipes.clone(), ledger: TrustStore::new(&home.trust) }
    }

    /// Those of a folder; what is known of them is noted in `trust` beside it.
    pub fn open(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), ledger: TrustStore::new(&dir.with_file_name("trust")) }
    }

    /// Whether nothing was ever noted of its recipes: they may be of a time when files were believed.
    #[doc(hidden)]
    pub fn is_new(&self) -> bool {
        self.ledger.is_new()
    }

    /// From here on nothing is believed that is not noted: `known` says of which recipes of an earlier time there is evidence, and
    /// `ran` which of the library ran here. Fails with `ARTIFACT_IO`.
    #[doc(hidden)]
    pub fn initialize_trust(
        &self,
        known: impl Fn(&Recipe) -> Option<Trust>,
        ran: impl Fn(&RecipeName) -> bool,
    ) -> Result<()> {
        let dir = Dir::open(&self.dir, false)?;
        for file in dir.as_ref().map_or(Ok(Vec::new()), Dir::names)? {
            let name = file.strip_suffix(".yaml").and_then(|it| RecipeName::new(it).ok());
            let (Some(name), Some(dir)) = (name, &dir) else { continue };
            let Ok(Some(recipe)) = read(dir, &name) else { continue };
            if let Some(trust) = known(&recipe) {
                self.ledger.note(NoteOwner::User, &name, &digest(&recipe)?, trust)?;
            }
        }
        if let Some(dir) = Dir::open(&self.dir.join(RECORDS), false)? {
            for file in dir.names()? {
                let name = file.strip_suffix(".json").and_then(|it| RecipeName::new(it).ok());
                let there = |it: &RecipeName| library::text(it.as_str()).is_some() && ran(it);
                let Some(name) = name.filter(there) else { continue };
                if let Ok(Some(bytes)) = dir.read(&file, MAX_LEN) {
                    self.ledger.note(NoteOwner::Library, &name, &sha256(&bytes), Trust::Proven)?;
                }
            }
        }
        self.ledger.create_key()
    }

    /// What changes when something else is noted of the user's recipe of that name, or of the library's.
    #[cfg(unix)]
    #[doc(hidden)]
    pub fn stamp(&self, name: &RecipeName, is_own: bool) -> Option<(u64, i64, u64, u64)> {
        self.ledger.stamp(if is_own { NoteOwner::User } else { NoteOwner::Library }, name)
    }

    /// All recipes by name, a library one left out where the user's shadows it. Fails with `ARTIFACT_IO`.
    pub fn list(&self) -> Result<Vec<Entry>> {
        let mut out = self.own_entries()?;
        for it in library::NAMES {
            if out.iter().all(|own| own.name != *it) {
                let recipe =
                    RecipeName::new(*it).and_then(|name| Ok((self.library_recipe(&name)?, name)));
                out.push(Entry {
                    name: (*it).to_owned(),
                    source: Source::Library,
                    shadows: false,
                    path: None,
                    recipe: recipe
                        .and_then(|(found, name)| found.ok_or_else(|| not_found(&name, &[]))),
                });
            }
        }
        out.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(out)
    }

    /// Names of all recipes, in order: files of the user's that are named like one, and the library's. Fails with `ARTIFACT_IO`.
    #[doc(hidden)]
    pub fn names(&self) -> Result<Vec<String>> {
        let mut out: Vec<String> = library::NAMES.iter().map(|it| (*it).to_owned()).collect();
        out.extend(
            self.files()?.iter().filter_map(|it| it.strip_suffix(".yaml")).map(str::to_owned),
        );
        out.sort_unstable();
        out.dedup();
        Ok(out)
    }

    fn own_entries(&self) -> Result<Vec<Entry>> {
        let Some(dir) = Dir::open(&self.dir, false)? else {
            return Ok(vec![]);
        };
        let mut out = Vec::new();
        let notes = self.ledger.read();
        for file in dir.names()? {
            if let Some(name) = file.strip_suffix(".yaml") {
                let recipe = RecipeName::new(name)
                    .and_then(|name| Ok((load(&dir, &name, &notes)?, name)))
                    .and_then(|(found, name)| found.ok_or_else(|| not_found(&name, &[])));
                out.push(Entry {
                    name: name.to_owned(),
                    source: Source::User,
                    shadows: library::text(name).is_some(),
                    path: Some(self.dir.join(&file)),
                    recipe,
                });
            }
        }
        Ok(out)
    }

    /// Where the user's recipes are kept.
    pub fn folder(&self) -> &Path {
        &self.dir
    }

    /// Where a user's recipe of that name is kept.
    pub fn path(&self, name: &RecipeName) -> PathBuf {
        self.dir.join(format!("{name}.yaml"))
    }

    /// The user's recipe, else the library's: one file is read, and one text parsed.
    ///
    /// Fails with `RECIPE_NOT_FOUND` (the hint lists names that are near), `RECIPE_INVALID` or `ARTIFACT_IO`.
    pub fn get(&self, name: &RecipeName) -> Result<RegisteredRecipe> {
        if let Some(recipe) = self.user_recipe(name)? {
            let shadows = library::text(name.as_str()).is_some();
            return Ok(RegisteredRecipe { recipe, source: Source::User, shadows });
        }
        if let Some(recipe) = self.library_recipe(name)? {
            return Ok(RegisteredRecipe { recipe, source: Source::Library, shadows: false });
        }
        Err(not_found(name, &self.files()?))
    }

    /// The user's recipe of that name, if there is one. Fails with `RECIPE_INVALID` or `ARTIFACT_IO`.
    pub fn user_recipe(&self, name: &RecipeName) -> Result<Option<Recipe>> {
        match Dir::open(&self.dir, false)? {
            Some(dir) => load(&dir, name, &self.ledger.read()),
            None => Ok(None),
        }
    }

    /// The user's recipe as its file says, whoever stands for it. Fails with `RECIPE_NOT_FOUND`, `RECIPE_INVALID` or `ARTIFACT_IO`.
    #[doc(hidden)]
    pub fn read_user_file(&self, name: &RecipeName) -> Result<Recipe> {
        let dir = Dir::open(&self.dir, false)?;
        let found = dir.map_or(Ok(None), |it| read(&it, name))?;
        found.ok_or_else(|| not_found(name, &[]))
    }

    /// Notes that a person stands for the recipe of that name, as long as it is `sha256`. Fails with `ARTIFACT_IO`.
    #[doc(hidden)]
    pub fn trust(&self, name: &RecipeName, sha256: &str) -> Result<()> {
        self.ledger.note(NoteOwner::User, name, sha256, Trust::Person)
    }

    fn files(&self) -> Result<Vec<String>> {
        Dir::open(&self.dir, false)?.map_or_else(|| Ok(Vec::new()), |it| it.names())
    }

    /// A library recipe, verified if it was verified here as it is today. A damaged record counts as none.
    fn library_recipe(&self, name: &RecipeName) -> Result<Option<Recipe>> {
        let Some(text) = library::text(name.as_str()) else { return Ok(None) };
        let mut recipe = yaml::parse(text)?;
        recipe.trust = Trust::Library;
        let record = match Dir::open(&self.dir.join(RECORDS), false)? {
            Some(dir) => dir.read(&format!("{name}.json"), MAX_LEN)?,
            None => None,
        };
        let noted = |it: &Vec<u8>| {
            self.ledger.read().trust_of(NoteOwner::Library, name, &sha256(it)).is_some()
        };
        let record = record.filter(noted);
        let record = record.and_then(|it| serde_json::from_slice::<Record>(&it).ok());
        if let Some(it) = record.filter(|it| it.recipe_sha256 == sha256(text.as_bytes())) {
            recipe.trust = Trust::Proven;
            recipe.verification = Some(it.verification);
            match it.demotion {
                None => recipe.set_state(RecipeState::Verified, ""),
                Some(it) => recipe.set_state(RecipeState::Demoted(it.reason), &it.at),
            }
        }
        Ok(Some(recipe))
    }

    /// Notes that a library recipe was verified here. Fails with `RECIPE_NOT_FOUND` or `ARTIFACT_IO`.
    #[doc(hidden)]
    pub fn record_verification(
        &self,
        name: &RecipeName,
        verification: &Verification,
    ) -> Result<PathBuf> {
        self.write_record(name, verification, None)
    }

    /// Puts a recipe out of service if that is what the event means for it, in its file or, for a library one, its record.
    ///
    /// `None`, and nothing is written, when it does not mean that, or when what is kept is no longer what `ran`: it was learned
    /// or proven anew meanwhile. Fails with `ARTIFACT_IO` and what reading it fails with.
    #[doc(hidden)]
    pub fn demote(
        &self,
        ran: &Recipe,
        source: Source,
        event: RecipeEvent,
        now: &str,
    ) -> Result<Option<DemotionReason>> {
        let standing = ran.state().apply(event);
        let RecipeState::Demoted(reason) = standing else { return Ok(None) };
        if ran.state() == standing {
            return Ok(None);
        }
        let held = match source {
            Source::User => self.user_recipe(&ran.name)?,
            Source::Library => self.library_recipe(&ran.name)?,
        };
        let Some(mut held) = held.filter(|it| it == ran) else { return Ok(None) };
        held.set_state(standing, now);
        match (source, &held.verification) {
            (Source::Library, Some(proof)) => {
                self.write_record(&held.name, proof, held.demotion.clone())?
            }
            _ => self.save(&held)?,
        };
        Ok(Some(reason))
    }

    fn write_record(
        &self,
        name: &RecipeName,
        verification: &Verification,
        demotion: Option<Demotion>,
    ) -> Result<PathBuf> {
        let text = library::text(name.as_str()).ok_or_else(|| not_found(name, &[]))?;
        let verification = verification.clone();
        let record = Record { recipe_sha256: sha256(text.as_bytes()), verification, demotion };
        let bytes = serde_json::to_vec_pretty(&record).map_err(|err| {
            Error::new(Code::Internal, "cannot write the record as JSON").source(err)
        })?;
        // The parent first: both are private folders of ours.
        drop(Dir::open(&self.dir, true)?);
        let dir = self.dir.join(RECORDS);
        commis_base::files::write_atomic(&dir, &format!("{name}.json"), &bytes)?;
        self.ledger.note(NoteOwner::Library, name, &sha256(&bytes), Trust::Proven)?;
        Ok(dir.join(format!("{name}.json")))
    }

    /// Writes the recipe whole or not at all, 0600, following no link, and notes who stands for it. After a crash between the two it
    /// is a draft. Fails with `RECIPE_INVALID` or `ARTIFACT_IO`.
    pub fn save(&self, recipe: &Recipe) -> Result<PathBuf> {
        check(recipe)?;
        let text = format!("{}\n{}", yaml::SCHEMA_LINE, yaml::to_yaml(recipe)?);
        let file = file_name(&recipe.name);
        commis_base::files::write_atomic(&self.dir, &file, text.as_bytes())?;
        // As it will be read: text may come back otherwise than it was written.
        let written = yaml::parse(&text)?;
        self.ledger.note(NoteOwner::User, &recipe.name, &digest(&written)?, recipe.trust)?;
        self.write_schema();
        Ok(self.dir.join(file))
    }

    /// What [`yaml::SCHEMA_LINE`] names. A recipe is none the worse without it, so it is only told where it cannot be written.
    fn write_schema(&self) {
        let text = format!("{:#}\n", yaml::schema());
        let known = Dir::open(&self.dir, false)
            .and_then(|it| it.map_or(Ok(None), |it| it.read(yaml::SCHEMA_FILE, MAX_LEN)));
        if known.is_ok_and(|it| it.as_deref() == Some(text.as_bytes())) {
            return;
        }
        let done = commis_base::files::write_atomic(&self.dir, yaml::SCHEMA_FILE, text.as_bytes());
        if let Err(err) = done {
            tracing::warn!(%err, "the schema of recipes was not written");
        }
    }

    /// Removes what crashes left beside the recipes. Fails with `ARTIFACT_IO`.
    #[doc(hidden)]
    pub fn sweep(&self) -> Result<()> {
        self.ledger.sweep()?;
        commis_base::files::sweep_shared(&self.dir)?;
        commis_base::files::sweep_shared(&self.dir.join(RECORDS))
    }

    /// Removes a user's recipe. Fails with `RECIPE_NOT_FOUND`, `RECIPE_READ_ONLY` for a library one, or `ARTIFACT_IO`.
    pub fn delete(&self, name: &RecipeName) -> Result<()> {
        if let Some(dir) = Dir::open(&self.dir, false)?
            && dir.remove(&file_name(name))?
        {
            return self.ledger.forget(NoteOwner::User, name);
        }
        if library::text(name.as_str()).is_some() {
            return Err(Error::new(
                Code::RecipeReadOnly,
                format!("`{name}` is a library recipe and cannot be deleted"),
            )
            .hint(format!(
                "`commis recipe fork {name} {name}` makes your own copy, which is used instead"
            )));
        }
        Err(not_found(name, &self.files()?))
    }
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    commis_base::ids::hex(&sha2::Sha256::digest(bytes))
}

fn file_name(name: &RecipeName) -> String {
    format!("{name}.yaml")
}

/// The recipe as it stands here.
fn load(dir: &Dir, name: &RecipeName, notes: &TrustNotes) -> Result<Option<Recipe>> {
    let mut found = read(dir, name)?;
    if let Some(it) = &mut found {
        notes.apply_to(it)?;
    }
    Ok(found)
}

/// The recipe as its file says.
fn read(dir: &Dir, name: &RecipeName) -> Result<Option<Recipe>> {
    let Some(bytes) = dir.read(&file_name(name), MAX_LEN)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::new(Code::RecipeInvalid, format!("recipe `{name}` is not UTF-8")))?;
    let recipe = yaml::parse(&text)?;
    if recipe.name != *name {
        return Err(Error::new(
            Code::RecipeInvalid,
            format!("the file of `{name}` holds recipe `{}`", recipe.name),
        )
        .hint("rename the file or the recipe"));
    }
    Ok(Some(recipe))
}

fn not_found(name: &RecipeName, files: &[String]) -> Error {
    let err = Error::new(Code::RecipeNotFound, format!("there is no recipe `{name}`"));
    let mut near: Vec<(usize, &str)> = files
        .iter()
        .filter_map(|it| it.strip_suffix(".yaml"))
        .chain(library::NAMES.iter().copied())
        .map(|it| (distance(name.as_str(), it), it))
        .filter(|(n, it)| {
            *n <= 2 + it.len() / 4 || it.contains(name.as_str()) || name.as_str().contains(it)
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    if near.is_empty() {
        return err.hint("`commis recipe list` shows what there is");
    }
    let names: Vec<&str> = near.iter().take(5).map(|it| it.1).collect();
    err.hint(format!("did you mean {}?", names.join(" or ")))
}

/// Levenshtein's, over bytes: names are ASCII.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let cost = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::model::Status;

    fn recipe(name: &str) -> Recipe {
        yaml::parse(&format!(
            "{{version: 1, name: {name}, task: t, status: draft, source_url: 'https://a.com/', \
             request: {{method: GET, url: 'https://a.com/', allowed_domains: [a.com]}}, response: {{type: json}}}}"
        ))
        .unwrap()
    }

    fn name(text: &str) -> RecipeName {
        RecipeName::new(text).unwrap()
    }

    #[test]
    fn recipes_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("recipes");
        let registry = Registry::open(&dir);
        let own = || {
            let all = registry.list().unwrap().into_iter();
            all.filter(|it| it.source == Source::User).map(|it| it.name).collect::<Vec<_>>()
        };
        assert!(own().is_empty());
        assert_eq!(registry.get(&name("x")).unwrap_err().code(), Code::RecipeNotFound);
        let path = registry.save(&recipe("search-mods")).unwrap();
        registry.save(&recipe("weather")).unwrap();
        registry.save(&recipe("search-mods")).unwrap();
        let mode = |it: &Path| std::fs::metadata(it).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&dir)), (0o600, 0o700));
        assert_eq!(registry.get(&name("weather")).unwrap().recipe, recipe("weather"));
        assert_eq!(own(), ["search-mods", "weather"]);
        let err = registry.get(&name("serch-mods")).unwrap_err();
        assert_eq!(err.hint_text(), Some("did you mean search-mods?"));
        registry.delete(&name("weather")).unwrap();
        assert_eq!(registry.delete(&name("weather")).unwrap_err().code(), Code::RecipeNotFound);
    }

    #[test]
    fn an_editor_finds_the_schema_by_the_first_line() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("recipes");
        let registry = Registry::open(&dir);
        let path = registry.save(&recipe("weather")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let line = text.lines().next().unwrap();
        let file = line.strip_prefix("# yaml-language-server: $schema=").unwrap();
        let schema = dir.join(file);
        let read = |it: &Path| -> serde_json::Value {
            serde_json::from_slice(&std::fs::read(it).unwrap()).unwrap()
        };
        assert_eq!(read(&schema), yaml::schema());
        // One of an earlier version is brought up to date, and what cannot be written costs nothing but that.
        #[expect(clippy::disallowed_methods, reason = "as an earlier version left it")]
        std::fs::write(&schema, "{}").unwrap();
        registry.save(&recipe("weather")).unwrap();
        assert_eq!(read(&schema), yaml::schema());
        std::fs::remove_file(&schema).unwrap();
        std::fs::create_dir(&schema).unwrap();
        registry.save(&recipe("weather")).unwrap();
        assert_eq!(registry.get(&name("weather")).unwrap().recipe, recipe("weather"));
    }

    #[test]
    fn links_and_strangers() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("recipes");
        let registry = Registry::open(&dir);
        registry.save(&recipe("ok")).unwrap();
        let outside = home.path().join("outside.yaml");
        std::fs::copy(dir.join("ok.yaml"), &outside).unwrap();
        let before = std::fs::read(&outside).unwrap();
        symlink(&outside, dir.join("planted.yaml")).unwrap();
        assert_eq!(registry.save(&recipe("planted")).unwrap_err().code(), Code::ArtifactIo);
        assert_eq!(registry.get(&name("planted")).unwrap_err().code(), Code::ArtifactIo);
        assert_eq!(std::fs::read(&outside).unwrap(), before);

        std::fs::copy(dir.join("ok.yaml"), dir.join("other.yaml")).unwrap();
        std::fs::copy(dir.join("ok.yaml"), dir.join("Not A Name.yaml")).unwrap();
        let codes: Vec<_> = registry
            .list()
            .unwrap()
            .into_iter()
            .filter(|it| it.source == Source::User)
            .map(|it| it.recipe.err().map(|it| it.code()))
            .collect();
        let invalid = Some(Code::RecipeInvalid);
        assert_eq!(codes, [invalid, None, invalid, Some(Code::ArtifactIo)]);

        let linked = home.path().join("linked");
        symlink(&dir, &linked).unwrap();
        let registry = Registry::open(&linked);
        assert_eq!(registry.save(&recipe("ok")).unwrap_err().code(), Code::ArtifactIo);
    }

    #[test]
    fn what_was_replaced_meanwhile_is_not_demoted() {
        let home = tempfile::tempdir().unwrap();
        let registry = Registry::open(&home.path().join("recipes"));
        let mut ran = recipe("it");
        ran.verification = Some(proof());
        ran.status = Status::Verified;
        ran.trust = Trust::Proven;
        let failed = RecipeEvent::Failed { in_a_row: 5 };
        let demote = || registry.demote(&ran, Source::User, failed, "2026").unwrap();
        assert_eq!(demote(), None, "it is gone");
        let mut anew = ran.clone();
        anew.verification = Some(Verification { shape: vec![], ..proof() });
        registry.save(&anew).unwrap();
        assert_eq!(demote(), None);
        assert_eq!(registry.get(&name("it")).unwrap().recipe, anew);
        registry.save(&ran).unwrap();
        assert_eq!(demote(), Some(DemotionReason::Failures));
        let now = registry.get(&name("it")).unwrap().recipe;
        assert_eq!(now.state(), RecipeState::Demoted(DemotionReason::Failures));
        assert_eq!(demote(), None, "it was before");
    }

    fn proof() -> Verification {
        Verification {
            fingerprint_version: 1,
            fingerprint_sha256: "00".to_owned(),
            shape: vec!["$:list".to_owned()],
            profile: None,
            verified_at: Some("2026-01-01T00:00:00Z".to_owned()),
            transport: crate::model::TransportKind::PublicHttp,
            requires_session: false,
            browser_ms: None,
            witness: None,
            proof: None,
            complete: None,
            substitute: None,
            first_page: None,
            examples: Vec::new(),
        }
    }

    #[test]
    fn the_library_is_under_the_users_recipes() {
        let home = tempfile::tempdir().unwrap();
        let registry = Registry::open(&home.path().join("recipes"));
        let first = name(library::NAMES[0]);
        let held = registry.get(&first).unwrap();
        assert_eq!((held.source, held.shadows), (Source::Library, false));
        assert_eq!(registry.delete(&first).unwrap_err().code(), Code::RecipeReadOnly);

        // A record makes it verified, for this text only.
        let proof = proof();
        assert_eq!(held.recipe.status, Status::Draft);
        let path = registry.record_verification(&first, &proof).unwrap();
        let now = registry.get(&first).unwrap().recipe;
        assert_eq!((now.status, now.verification), (Status::Verified, Some(proof.clone())));
        let text = std::fs::read_to_string(&path).unwrap();
        let other = text.replacen("\"recipe_sha256\": \"", "\"recipe_sha256\": \"0", 1);
        for damaged in [other.as_str(), "{"] {
            let dir = Dir::open(path.parent().unwrap(), false).unwrap().unwrap();
            dir.write(&format!("{first}.json"), damaged.as_bytes()).unwrap();
            assert_eq!(registry.get(&first).unwrap().recipe.status, Status::Draft);
        }

        // A demotion is kept there, too, until it is proven again.
        registry.record_verification(&first, &proof).unwrap();
        let ran = registry.get(&first).unwrap().recipe;
        let at = "2026-01-02T00:00:00Z";
        let drift = registry.demote(&ran, Source::Library, RecipeEvent::Drifted, at).unwrap();
        assert_eq!(drift, Some(DemotionReason::Drift));
        let now = registry.get(&first).unwrap().recipe;
        assert_eq!(now.state(), RecipeState::Demoted(DemotionReason::Drift));
        assert_eq!((now.demotion.unwrap().at.as_str(), now.verification), (at, ran.verification));
        registry.record_verification(&first, &proof).unwrap();
        assert_eq!(registry.get(&first).unwrap().recipe.status, Status::Verified);

        registry.save(&recipe(first.as_str())).unwrap();
        let held = registry.get(&first).unwrap();
        assert_eq!((held.source, held.shadows), (Source::User, true));
        let listed: Vec<_> =
            registry.list().unwrap().into_iter().filter(|it| it.name == first.as_str()).collect();
        assert_eq!(listed.len(), 1);
        assert!(listed[0].shadows && listed[0].source == Source::User);
        registry.delete(&first).unwrap();
        assert_eq!(registry.get(&first).unwrap().source, Source::Library);
    }
}
