//! A playbook's text, bounded before it is parsed and checked after.

use url::{Host, Url};

use super::{Condition, Playbook, acts};
use crate::snapshot_parser::fold;
use commis_base::error::{Code, Error, Result};
use commis_recipe::{template::Template, yaml};

/// Bytes of a file.
const MAX_LEN: usize = 64 * 1024;
/// Characters of a sentence, of a goal or of notes, of an address or a glob, of one text of a condition.
const MAX_TASK: usize = 500;
const MAX_GOAL: usize = 4000;
const MAX_PATH: usize = 500;
const MAX_WORDS: usize = 200;
/// Entries of a list.
const MAX_LIST: usize = 32;
/// How often a change may be made at most.
const MAX_TIMES: u32 = 20;

pub fn invalid(why: impl Into<String>) -> Error {
    Error::new(Code::PlaybookInvalid, why).hint("see docs/reference/playbooks.md for all fields")
}

/// Reads and checks a playbook. Fails with `PLAYBOOK_INVALID`.
pub fn parse(text: &str) -> Result<Playbook> {
    if text.len() > MAX_LEN {
        return Err(invalid(format!("the playbook is larger than {MAX_LEN} bytes")));
    }
    // It is small and flat.
    let it: Playbook = yaml::parse_strict(text, 2_000, 8)
        .map_err(|why| invalid(format!("the playbook does not parse: {why}")))?;
    check(&it)?;
    Ok(it)
}

/// What holds for every playbook. Fails with `PLAYBOOK_INVALID`.
fn check(it: &Playbook) -> Result<()> {
    if it.version != 1 {
        return Err(invalid(format!(
            "the playbook has version {}; this commis reads 1",
            it.version
        )));
    }
    readable("task", &it.task, 1, MAX_TASK)?;
    readable("goal", &it.goal, 1, MAX_GOAL)?;
    readable("notes", &it.notes, 0, MAX_GOAL)?;
    readable("url", &it.url, 1, MAX_PATH)?;
    for (what, text) in [("task", &it.task), ("goal", &it.goal)] {
        template(what, text)?;
    }
    // No value may reach the host: it is the same whatever the value is.
    let places = [parsed(&it.url, "x")?, parsed(&it.url, "7")?];
    if places[0].origin() != places[1].origin() {
        return Err(invalid("url: values may be in path and query only"));
    }
    for (what, len) in [
        ("hosts", it.hosts.len()),
        ("reads", it.reads.len()),
        ("changes", it.changes.len()),
        ("success", it.success.len()),
        ("failure", it.failure.len()),
        ("checkpoints", it.checkpoints.len()),
    ] {
        if len > MAX_LIST {
            return Err(invalid(format!("{what} has more than {MAX_LIST} entries")));
        }
    }
    for host in it.hosts.iter().chain(it.changes.iter().filter_map(|it| it.host.as_ref())) {
        // As addresses have it: small letters, no port; and one host, no pattern.
        let is_one = Host::parse(host).is_ok_and(|it| it.to_string() == *host);
        if !is_one || host.contains('*') {
            return Err(invalid(format!("`{}` is not the name of a host", printable(host))));
        }
    }
    let hosts = it.all_hosts();
    for it in it.changes.iter().filter_map(|it| it.host.as_ref()) {
        if !hosts.contains(it) {
            return Err(invalid(format!("changes: `{it}` is not among the hosts")));
        }
    }
    for (what, glob) in it
        .reads
        .iter()
        .map(|it| ("reads", it))
        .chain(it.changes.iter().map(|it| ("changes", &it.path)))
    {
        readable(what, glob, 1, MAX_PATH)?;
        if !glob.starts_with('/') {
            return Err(invalid(format!(
                "{what}: `{}` does not begin with a slash",
                printable(glob)
            )));
        }
    }
    if it.changes.iter().any(|it| !(1..=MAX_TIMES).contains(&it.most)) {
        return Err(invalid(format!("changes: most is 1 to {MAX_TIMES}")));
    }
    if let Some(it) = &it.amount
        && (it.currency.len() != 3 || !it.currency.bytes().all(|b| b.is_ascii_uppercase()))
    {
        return Err(invalid("amount: a currency is three capital letters, such as EUR"));
    }
    if it.success.is_empty() {
        return Err(invalid("success is empty, so nothing shows that the task is done"));
    }
    let of_page = [("success", &it.success), ("failure", &it.failure)];
    for (what, condition) in of_page.iter().flat_map(|(what, all)| all.iter().map(|it| (*what, it)))
    {
        words(what, condition)?;
        if condition.action.is_some() || condition.target.is_some() {
            return Err(invalid(format!("{what}: action and target are for checkpoints alone")));
        }
    }
    it.checkpoints.iter().try_for_each(|it| words("checkpoints", it))
}

fn words(what: &str, it: &Condition) -> Result<()> {
    if it.fields().next().is_none() {
        return Err(invalid(format!("{what}: a condition without a field always holds")));
    }
    for (field, words) in it.fields() {
        let all = words.all();
        if all.is_empty() || all.len() > MAX_LIST {
            return Err(invalid(format!("{what}: {field} has 1 to {MAX_LIST} texts")));
        }
        for text in all {
            let what = format!("{what}: {field}");
            readable(&what, text, 2, MAX_WORDS)?;
            template(&what, text)?;
            // One letter, or nothing that is seen, stands everywhere.
            if fold(text).chars().count() < 2 {
                return Err(invalid(format!("{what}: a text has two characters or more")));
            }
        }
    }
    Ok(())
}

fn template(what: &str, text: &str) -> Result<()> {
    Template::parse(text).map(drop).map_err(|err| invalid(format!("{what}: {}", err.message())))
}

/// The address with the same value everywhere. Fails with `PLAYBOOK_INVALID`.
pub fn parsed(url: &str, value: &str) -> Result<Url> {
    let template =
        Template::parse(url).map_err(|err| invalid(format!("url: {}", err.message())))?;
    let text = template.render(|_| Ok::<_, Error>(value.to_owned()))?;
    let out = Url::parse(&text).ok().filter(|it| {
        matches!(it.scheme(), "http" | "https")
            && it.host_str().is_some_and(|it| !it.is_empty())
            && it.username().is_empty()
            && it.password().is_none()
    });
    out.ok_or_else(|| invalid(format!("url: `{}` is not an http or https address", printable(url))))
}

fn readable(what: &str, text: &str, least: usize, most: usize) -> Result<()> {
    let len = text.trim().chars().count();
    if len < least || text.chars().count() > most {
        return Err(invalid(format!("{what} must have {least} to {most} characters")));
    }
    if text.chars().any(|it| acts(it) && it != '\n') {
        return Err(invalid(format!("{what} holds a character that acts on a terminal")));
    }
    Ok(())
}

/// A stranger's text in a message.
pub fn printable(text: &str) -> String {
    text.chars().filter(|it| !acts(*it)).take(80).collect()
}
