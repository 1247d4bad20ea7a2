//! The folder of a user's recipes: one YAML file each, named after the recipe.

use std::path::{Path, PathBuf};

use super::{
    check::check,
    model::Recipe,
    yaml::{self, MAX_LEN},
};
use crate::{
    error::{Code, Error, Result},
    files::Dir,
    ids::RecipeName,
};

/// A folder of recipes; it need not exist until something is saved.
#[derive(Clone, Debug)]
pub struct Registry {
    dir: PathBuf,
}

/// One file of the folder: a file that does not parse is listed with its error.
#[derive(Debug)]
pub struct Entry {
    /// The file's name without `.yaml`.
    pub name: String,
    pub path: PathBuf,
    pub recipe: Result<Recipe>,
}

impl Registry {
    pub fn open(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// All recipes by name; none when the folder does not exist. Fails with `ARTIFACT_IO`.
    pub fn list(&self) -> Result<Vec<Entry>> {
        let Some(dir) = Dir::open(&self.dir, false)? else {
            return Ok(vec![]);
        };
        let mut out = Vec::new();
        for file in dir.names()? {
            if let Some(name) = file.strip_suffix(".yaml") {
                let recipe = RecipeName::new(name)
                    .and_then(|name| Ok((load(&dir, &name)?, name)))
                    .and_then(|(found, name)| found.ok_or_else(|| not_found(&name, &[])));
                out.push(Entry { name: name.to_owned(), path: self.dir.join(&file), recipe });
            }
        }
        Ok(out)
    }

    /// Where a recipe of that name is kept.
    pub fn path(&self, name: &RecipeName) -> PathBuf {
        self.dir.join(format!("{name}.yaml"))
    }

    /// Fails with `RECIPE_NOT_FOUND` (the hint lists names that are near), `RECIPE_INVALID` or `ARTIFACT_IO`.
    pub fn get(&self, name: &RecipeName) -> Result<Recipe> {
        let Some(dir) = Dir::open(&self.dir, false)? else {
            return Err(not_found(name, &[]));
        };
        match load(&dir, name)? {
            Some(recipe) => Ok(recipe),
            None => Err(not_found(name, &dir.names()?)),
        }
    }

    /// Writes the recipe whole or not at all, 0600, following no link. Fails with `RECIPE_INVALID` or `ARTIFACT_IO`.
    pub fn save(&self, recipe: &Recipe) -> Result<PathBuf> {
        check(recipe)?;
        let text = yaml::to_yaml(recipe)?;
        let file = file_of(&recipe.name);
        let dir = Dir::open(&self.dir, true)?
            .ok_or_else(|| Error::new(Code::ArtifactIo, "the recipe folder vanished"))?;
        dir.write(&file, text.as_bytes())?;
        Ok(self.dir.join(file))
    }

    /// Fails with `RECIPE_NOT_FOUND` or `ARTIFACT_IO`.
    pub fn delete(&self, name: &RecipeName) -> Result<()> {
        let Some(dir) = Dir::open(&self.dir, false)? else {
            return Err(not_found(name, &[]));
        };
        if dir.remove(&file_of(name))? { Ok(()) } else { Err(not_found(name, &dir.names()?)) }
    }
}

fn file_of(name: &RecipeName) -> String {
    format!("{name}.yaml")
}

fn load(dir: &Dir, name: &RecipeName) -> Result<Option<Recipe>> {
    let Some(bytes) = dir.read(&file_of(name), MAX_LEN)? else {
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
        .map(|it| (distance(name.as_str(), it), it))
        .filter(|(n, it)| {
            *n <= 2 + it.len() / 4 || it.contains(name.as_str()) || name.as_str().contains(it)
        })
        .collect();
    near.sort_unstable();
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
        assert!(registry.list().unwrap().is_empty());
        assert_eq!(registry.get(&name("x")).unwrap_err().code(), Code::RecipeNotFound);
        let path = registry.save(&recipe("search-mods")).unwrap();
        registry.save(&recipe("weather")).unwrap();
        registry.save(&recipe("search-mods")).unwrap();
        let mode = |it: &Path| std::fs::metadata(it).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&dir)), (0o600, 0o700));
        assert_eq!(registry.get(&name("weather")).unwrap(), recipe("weather"));
        let names: Vec<String> = registry.list().unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["search-mods", "weather"]);
        let err = registry.get(&name("serch-mods")).unwrap_err();
        assert_eq!(err.hint_text(), Some("did you mean search-mods?"));
        registry.delete(&name("weather")).unwrap();
        assert_eq!(registry.delete(&name("weather")).unwrap_err().code(), Code::RecipeNotFound);
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
            .map(|it| it.recipe.err().map(|it| it.code()))
            .collect();
        let invalid = Some(Code::RecipeInvalid);
        assert_eq!(codes, [invalid, None, invalid, Some(Code::ArtifactIo)]);

        let linked = home.path().join("linked");
        symlink(&dir, &linked).unwrap();
        let registry = Registry::open(&linked);
        assert_eq!(registry.save(&recipe("ok")).unwrap_err().code(), Code::ArtifactIo);
    }
}
