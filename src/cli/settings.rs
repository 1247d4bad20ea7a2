//! `commis settings`

use clap::Subcommand;
use toml_edit::{DocumentMut, Item, Table, Value};

use super::{Global, wire};
use crate::{
    error::{Code, Error, Result},
    files,
    settings::Settings,
};

#[derive(Subcommand)]
pub enum Command {
    /// Print the settings in force: file, environment and flags over the defaults
    Show {
        /// Print JSON instead of TOML
        #[arg(long)]
        json: bool,
    },
    /// Print where the settings file is, or would be
    Path,
    /// Change one setting in the file; everything else in it stays as it is
    ///
    /// Example: commis settings set learning.pace_ms 500
    Set {
        /// As in `settings show`, with dots: learning.pace_ms
        key: String,
        /// A number, true or false, a list as in TOML, or a text
        value: String,
    },
    /// Take a setting out of the file: its default holds again
    Unset { key: String },
}

impl Command {
    pub fn wants_json(&self) -> bool {
        matches!(self, Self::Show { json: true })
    }
}

pub fn run(command: Command, global: &Global) -> Result<u8> {
    match command {
        Command::Show { json } => {
            let (_, settings) = wire::read(global)?;
            if json {
                wire::out(&settings);
            } else {
                let text = toml::to_string(&settings).map_err(|err| {
                    Error::new(Code::Internal, "cannot write the settings as TOML").source(err)
                })?;
                wire::line(text.trim_end());
            }
        }
        Command::Path => {
            wire::line(&wire::home(global)?.config.display().to_string());
        }
        Command::Set { key, value } => change(global, &key, Some(&value))?,
        Command::Unset { key } => change(global, &key, None)?,
    }
    Ok(0)
}

/// The new text is read as every command would read it before it replaces the old one.
fn change(global: &Global, key: &str, value: Option<&str>) -> Result<()> {
    let home = wire::home(global)?;
    let path = &home.config;
    let shown = path.display();
    let cannot = |what: &str| Error::new(Code::SettingsInvalid, format!("cannot {what} {shown}"));
    let before = Settings::text(&home)?.unwrap_or_default();
    // Not the lines that it would show.
    let mut document: DocumentMut = before.parse().map_err(|err: toml_edit::TomlError| {
        let why = err.message().lines().next().unwrap_or_default().to_owned();
        Error::new(Code::SettingsInvalid, format!("{shown}: {why}"))
            .hint("see \"Settings\" in README.md; an absent file means the defaults")
    })?;
    put(&mut document, key, value)?;
    let after = document.to_string();
    let settings = Settings::parse(&after).map_err(|err| {
        err.hint("`commis settings show` lists all of them; the file is as it was")
    })?;
    wire::check(&settings)?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(cannot("write"));
    };
    files::ensure_private_dir(folder)?;
    files::write_atomic(folder, &name.to_string_lossy(), after.as_bytes())
        .map_err(|err| cannot("write").source(err))
}

/// Fails with `USAGE` for a key that is none.
fn put(document: &mut DocumentMut, key: &str, value: Option<&str>) -> Result<()> {
    let wrong = || {
        Error::new(Code::Usage, "a setting is named as in `commis settings show`, with dots")
            .hint("such as learning.pace_ms")
    };
    let keys: Vec<&str> = key.split('.').collect();
    let (Some((last, above)), true) = (keys.split_last(), keys.iter().all(|it| !it.is_empty()))
    else {
        return Err(wrong());
    };
    if above.is_empty() {
        return Err(wrong());
    }
    let mut table: &mut Table = document.as_table_mut();
    for it in above {
        let next = table.entry(it).or_insert_with(|| Item::Table(Table::new()));
        table = next.as_table_mut().ok_or_else(wrong)?;
    }
    let Some(value) = value else {
        table.remove(last);
        return Ok(());
    };
    // What is no TOML is a text, so that nobody has to quote quotes.
    let value = value.parse().unwrap_or_else(|_| Value::from(value));
    match table.get_mut(last).and_then(Item::as_value_mut) {
        Some(old) => {
            // The comment behind it stays.
            let around = old.decor().clone();
            *old = value;
            *old.decor_mut() = around;
        }
        None => {
            table.insert(last, Item::Value(value));
        }
    }
    Ok(())
}
