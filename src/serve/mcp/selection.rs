//! Which tools the settings or an address ask for.

use commis_base::error::{Code, Error, Result};

/// What `serve.tools` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSelection {
    /// The seed's tools besides those that are always there.
    pub all: bool,
    /// Those for pages that stay.
    pub browse: bool,
    pub recipes: RecipeSelection,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecipeSelection {
    /// The most used.
    Top(usize),
    /// Of that category.
    Tag(String),
    All,
    None,
}

impl ToolSelection {
    /// Reads `core,top:30`. Fails with `SETTINGS_INVALID`.
    pub fn parse(text: &str) -> Result<Self> {
        let mut out = Self { all: false, browse: false, recipes: RecipeSelection::Top(30) };
        let known = |it: char| it.is_alphanumeric() || "_- .".contains(it);
        for it in text.split(',').map(str::trim) {
            match it.split_once(':') {
                Some(("top", n)) if n.bytes().all(|it| it.is_ascii_digit()) => {
                    out.recipes = RecipeSelection::Top(n.parse().map_err(|_| unknown(it))?);
                }
                Some(("tag", name)) if !name.is_empty() && name.chars().all(known) => {
                    out.recipes = RecipeSelection::Tag(name.to_owned());
                }
                _ if it == "all" => out.all = true,
                _ if it == "browse" => out.browse = true,
                _ if it == "recipes" => out.recipes = RecipeSelection::All,
                _ if it == "none" => out.recipes = RecipeSelection::None,
                _ if it == "core" => {}
                _ => return Err(unknown(it)),
            }
        }
        Ok(out)
    }
}

fn unknown(word: &str) -> Error {
    let word: String = word.chars().filter(|it| !it.is_control()).take(50).collect();
    Error::new(Code::SettingsInvalid, format!("`{word}` is not a set of tools"))
        .hint("use core, all, browse, top:N, tag:CATEGORY, recipes or none, separated by commas")
}
