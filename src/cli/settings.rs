//! `commis settings`

use clap::Subcommand;
use toml_edit::{DocumentMut, Item, Table, Value};

use super::{Global, context};
use commis_base::{
    error::{Code, Error, Result},
    files,
    settings::Settings,
};

#[derive(Subcommand)]
pub enum Command {
    /// Print the effective settings: file, environment and flags over the defaults
    Show {
        /// Print JSON instead of TOML
        #[arg(long)]
        json: bool,
    },
    /// Print where the settings file is, or would be
    Path,
    /// Change one setting in the file; the rest of the file stays unchanged
    ///
    /// Example: commis settings set learning.pace_ms 500
    Set {
        /// As in `settings show`, with dots: learning.pace_ms
        key: String,
        /// A number, true or false, a list as in TOML, or a text
        value: String,
    },
    /// Remove a setting from the file, so that its default applies
    Unset {
        /// As in `settings show`, with dots: learning.pace_ms
        key: String,
    },
    /// Hosts of your own, such as localhost:8001 or wiki.lan:443: open them to their own pages and recipes, or close them
    #[command(subcommand)]
    Own(OwnHostCommand),
}

#[derive(Subcommand)]
pub enum OwnHostCommand {
    /// Open a host: exactly this name and port, at this address
    ///
    /// Examples:
    ///   commis settings own add localhost:8001
    ///   commis settings own add wiki.lan:443 192.168.1.5
    #[command(verbatim_doc_comment)]
    Add {
        /// Name and port
        #[arg(value_name = "NAME:PORT")]
        place: String,
        /// IPv4 or IPv6, loopback or private; may be left out for localhost and for a name that is an address
        address: Option<String>,
    },
    /// Close a host again
    Remove {
        /// Name and port
        #[arg(value_name = "NAME:PORT")]
        place: String,
    },
}

impl Command {
    pub fn wants_json(&self) -> bool {
        matches!(self, Self::Show { json: true })
    }
}

pub fn run(command: Command, global: &Global) -> Result<u8> {
    match command {
        Command::Show { json } => {
            let (_, settings) = context::read(global)?;
            if json {
                context::out(&settings);
            } else {
                let text = toml::to_string(&settings).map_err(|err| {
                    Error::new(Code::Internal, "cannot write the settings as TOML").source(err)
                })?;
                context::line(text.trim_end());
            }
        }
        Command::Path => {
            context::line(&context::home(global)?.config.display().to_string());
        }
        Command::Set { key, value } => change(global, &split(&key)?, Some(&value))?,
        Command::Unset { key } => change(global, &split(&key)?, None)?,
        Command::Own(own) => change_own(own, global)?,
    }
    Ok(0)
}

fn change_own(own: OwnHostCommand, global: &Global) -> Result<()> {
    let key = |place: String| ["egress".to_owned(), "own".to_owned(), place];
    match own {
        OwnHostCommand::Add { place, address } => {
            // What is no address stays a text, for the check to name.
            let place = plain(&place);
            let address = match address {
                Some(it) => it,
                None => obvious(&place)?,
            };
            counts(global, &place)?;
            change(global, &key(place), Some(&format!("\"{address}\"")))?;
        }
        OwnHostCommand::Remove { place } => change(global, &key(plain(&place)), None)?,
    }
    let (_, settings) = context::read(global)?;
    if settings.egress.own.is_empty() && settings.egress.own_refused.is_none() {
        context::say("no hosts of your own are open");
    }
    context::say_own_hosts(&settings);
    Ok(())
}

/// `localhost:8021` of `http://localhost:8021/`; what is no address of a page stays as it is.
fn plain(place: &str) -> String {
    let url = url::Url::parse(place).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
    let named = url.as_ref().and_then(|it| Some((it.host_str()?, it.port_or_known_default()?)));
    named.map_or_else(|| place.to_owned(), |(host, port)| format!("{host}:{port}"))
}

/// Fails with `USAGE` where a line of this settings file opens nothing, before it is written.
fn counts(global: &Global, place: &str) -> Result<()> {
    let home = context::home(global)?;
    let Some(why) = home.not_the_users_word() else { return Ok(()) };
    let folder = home.config.parent().unwrap_or(&home.config).display();
    let message =
        format!("a host of your own would not be open by {}: {why}", home.config.display());
    Err(Error::new(Code::Usage, message).hint(format!(
        "`commis --home {folder} settings own add {place}` opens it to commands that have the same --home"
    )))
}

/// The address of a name that says it.
fn obvious(place: &str) -> Result<String> {
    let Some((host, _)) = place.rsplit_once(':').filter(|_| !place.contains('/')) else {
        return Err(Error::new(Code::Usage, "a host must have the form NAME:PORT")
            .hint("such as localhost:8001, or wiki.lan:443 for https://wiki.lan/"));
    };
    if host == "localhost" {
        return Ok("127.0.0.1".to_owned());
    }
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    match literal.parse::<std::net::IpAddr>() {
        Ok(it) => Ok(it.to_string()),
        Err(_) => Err(Error::new(Code::Usage, "an address is missing")
            .hint("such as: commis settings own add wiki.lan:443 192.168.1.5")),
    }
}

/// The new text is read as every command would read it before it replaces the old one.
fn change(global: &Global, keys: &[String], value: Option<&str>) -> Result<()> {
    let home = context::home(global)?;
    let path = &home.config;
    let shown = path.display();
    let cannot = |what: &str| Error::new(Code::SettingsInvalid, format!("cannot {what} {shown}"));
    let before = Settings::text(&home)?.unwrap_or_default();
    // Not the lines that it would show.
    let mut document: DocumentMut = before.parse().map_err(|err: toml_edit::TomlError| {
        let why = err.message().lines().next().unwrap_or_default().to_owned();
        Error::new(Code::SettingsInvalid, format!("{shown}: {why}"))
            .hint("see docs/reference/settings.md; without the file, defaults apply")
    })?;
    put(&mut document, keys, value)?;
    let after = document.to_string();
    let settings = Settings::parse(&after)
        .map_err(|err| err.hint("see `commis settings show`; the file was not changed"))?;
    context::check(&settings)?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(cannot("write"));
    };
    files::ensure_private_dir(folder)?;
    files::write_atomic(folder, &name.to_string_lossy(), after.as_bytes())
        .map_err(|err| cannot("write").source(err))
}

fn not_a_key() -> Error {
    Error::new(Code::Usage, "the name of a setting has dots, as in `commis settings show`")
        .hint("such as learning.pace_ms")
}

/// Fails with `USAGE` for a key that is none.
fn split(key: &str) -> Result<Vec<String>> {
    let keys: Vec<String> = key.split('.').map(str::to_owned).collect();
    if keys.len() < 2 || keys.iter().any(String::is_empty) {
        return Err(not_a_key());
    }
    Ok(keys)
}

/// Fails with `USAGE` where a key on the way is no table.
fn put(document: &mut DocumentMut, keys: &[String], value: Option<&str>) -> Result<()> {
    let (last, above) = keys.split_last().ok_or_else(not_a_key)?;
    let mut table: &mut Table = document.as_table_mut();
    for it in above {
        let next = table.entry(it).or_insert_with(|| Item::Table(Table::new()));
        table = next.as_table_mut().ok_or_else(not_a_key)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_host_and_port() {
        for (given, place) in [
            ("http://localhost:8021/", "localhost:8021"),
            ("https://wiki.lan/start?x=1", "wiki.lan:443"),
            ("http://[::1]:8000", "[::1]:8000"),
            ("localhost:8021", "localhost:8021"),
            ("ftp://wiki.lan/", "ftp://wiki.lan/"),
        ] {
            assert_eq!(plain(given), place);
        }
    }
}
