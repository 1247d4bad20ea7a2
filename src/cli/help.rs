//! Help: commands in groups, flags of every command last and short, and tips for words that are no command.
//!
//! All of it is made only where somebody asks for help or mistyped: setting it up takes longer than a run does.

use std::fmt::Write as _;

use clap::{
    Command,
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::command;

/// Short forms of commands of `recipe`.
#[cfg(test)]
pub const SHORT: &[&str] = &["learn", "run", "list", "check", "export"];

/// Which commands stand together in `commis --help`, in the order of a day's work.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Learn and run",
        &[
            "tour", "learn", "run", "list", "check", "watch", "export", "recipe", "import", "har",
            "redact",
        ],
    ),
    ("Serve", &["mcp", "serve", "daemon", "dashboard", "token", "remote"]),
    ("Browse", &["browse", "do", "research", "approve", "reject"]),
    ("Sessions and logins", &["session", "vault"]),
    ("Machine", &["doctor", "settings", "artifacts", "completions", "man"]),
    ("Developers", &["testbed", "stage", "eval", "bench"]),
];

/// A line of each in the list of all commands; the first line of their own help is longer.
const BRIEF: &[(&str, &str)] = &[
    ("tour", "See commis learn, run and heal a recipe, in a minute"),
    ("learn", "Learn a task from a page, a HAR, or what you do in a window"),
    ("run", "Run a recipe: data as JSON, NDJSON or CSV"),
    ("list", "List recipes"),
    ("check", "Check which recipes still work, for cron and CI"),
    ("watch", "Run recipes on a schedule and report what changed"),
    ("export", "Write recipes as OpenAPI, curl, Python, TypeScript, …"),
    ("recipe", "All commands for recipes: prove, heal, explain, map, …"),
    ("import", "Make drafts from an OpenAPI document or a Hurl file"),
    ("har", "Turn HAR files into OpenAPI documents"),
    ("redact", "Make a HAR safe to share"),
    ("mcp", "Serve an MCP client, or add commis to a client's settings"),
    ("serve", "Serve MCP, REST, events and the dashboard on a local socket"),
    ("token", "Make, list and revoke tokens of the daemon"),
    ("dashboard", "Print an address that opens the dashboard, once"),
    ("remote", "Open the daemon to other machines"),
    ("browse", "Drive a page: open it, read it, act on it"),
    ("do", "Do a task in a sentence"),
    ("research", "Research a topic: a report with a source for every sentence"),
    ("approve", "Show a held request, and approve it to be sent once"),
    ("reject", "Reject a held request"),
    ("session", "Record actions on a page, inspect and replay them"),
    ("vault", "List, check, save and remove stored logins"),
    ("artifacts", "List, check, migrate and remove artifacts of learning"),
    ("completions", "Print a completion script for a shell"),
    ("bench", "Measure a run beside its floor, on loopback"),
    ("stage", "Learn on more than one machine"),
];

/// Flags of every command as their last lines show them.
const GLOBAL: &str = "      \
      --home <DIR>    Keep everything under this folder [env: COMMIS_HOME]
  -v, --verbose       Print events on stderr; twice: every stage
      --color <WHEN>  auto, always or never";

/// Words that people try first, and what they mean by them.
const MEANT: &[(&str, &[&str])] = &[
    ("record", &["learn --manual URL", "session record"]),
    ("login", &["session login"]),
    ("search", &["list"]),
    ("find", &["list"]),
    ("config", &["settings"]),
    ("status", &["daemon status", "doctor"]),
    ("init", &["tour", "doctor"]),
    ("exec", &["run"]),
    ("call", &["run"]),
    ("test", &["check", "recipe verify"]),
    ("open", &["browse goto"]),
    ("click", &["browse click"]),
];

/// The groups in place of one long list.
pub fn grouped(root: Command) -> Command {
    let styles = root.get_styles().clone();
    let (head, word) = (styles.get_header(), styles.get_literal());
    let mut out = String::new();
    for (title, names) in GROUPS {
        let _ = write!(out, "\n{head}{title}:{head:#}\n");
        for name in *names {
            let of = root.find_subcommand(name).and_then(Command::get_about);
            let brief = BRIEF.iter().find(|it| it.0 == *name).map(|it| it.1.to_owned());
            let about = brief.or_else(|| of.map(ToString::to_string)).unwrap_or_default();
            let _ = writeln!(out, "  {word}{name:<12}{word:#} {about}");
        }
    }
    root.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} commis [OPTIONS] <COMMAND>\n{out}\n\
         {head}Options:{head:#}\n{GLOBAL}\n  -h, --help          `commis help COMMAND` describes a command\n  \
         -V, --version       Print the version\n\n\
         Start with `commis tour`. `commis learn` lists the ways to learn.\n"
    ))
}

/// Flags of every command as three lines at the end of each command's help, not between its own.
pub fn shortened(root: Command) -> Command {
    fn each(it: Command, last: &str) -> Command {
        let it = it.mut_subcommands(|of| each(of, last));
        it.help_template(format!(
            "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{all-args}}{{after-help}}\n\n{last}\n"
        ))
    }
    let head = *root.get_styles().get_header();
    let last = format!("{head}Options of every command:{head:#}\n{GLOBAL}");
    let root = root.propagate_version(false).mut_args(|it| {
        let is_global = it.is_global_set();
        it.hide(is_global)
    });
    root.mut_subcommands(|it| each(it, &last))
}

/// A word that is no command, with the commands of that name that stand elsewhere; and a recipe that is not named, with the command
/// that lists them.
pub fn with_tip(mut err: clap::Error) -> clap::Error {
    if lacks_name(&err) {
        let tip = StyledStr::from("`commis list` has the names of your recipes");
        err.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        return err;
    }
    if err.kind() != ErrorKind::InvalidSubcommand {
        return err;
    }
    let Some(ContextValue::String(word)) = err.get(ContextKind::InvalidSubcommand) else {
        return err;
    };
    let tips = suggest(word);
    if tips.is_empty() {
        return err;
    }
    let styled = |it: &String| StyledStr::from(format!("try `commis {it}`"));
    let tips = tips.iter().map(styled).collect();
    err.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    err
}

/// Whether a command lacks the name of a recipe.
fn lacks_name(err: &clap::Error) -> bool {
    let usage = err.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let of_recipes = ["recipe", "run", "check", "export"];
    err.kind() == ErrorKind::MissingRequiredArgument
        && matches!(err.get(ContextKind::InvalidArg), Some(ContextValue::Strings(all)) if all.iter().any(|it| it.starts_with("<NAME")))
        && usage
            .split_whitespace()
            .skip_while(|it| *it != "commis")
            .nth(1)
            .is_some_and(|it| of_recipes.contains(&it))
}

/// What may be meant by a word, at most three commands, without the program's name.
fn suggest(word: &str) -> Vec<String> {
    let known = MEANT.iter().find(|it| it.0 == word);
    let mut out: Vec<String> =
        known.map(|it| it.1.iter().map(|it| (*it).to_owned()).collect()).unwrap_or_default();
    let mut found = Vec::new();
    find_by_last_word(&command(), word, "", &mut found);
    out.extend(found);
    out.truncate(3);
    out
}

/// Commands below this one whose last word is that one.
fn find_by_last_word(of: &Command, word: &str, above: &str, found: &mut Vec<String>) {
    for it in of.get_subcommands().filter(|it| !it.is_hide_set()) {
        let path = format!("{above}{}", it.get_name());
        if it.get_name() == word || it.get_all_aliases().any(|alias| alias == word) {
            found.push(path.clone());
        }
        find_by_last_word(it, word, &format!("{path} "), found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_stands_in_one_group() {
        let root = command();
        let all: Vec<&str> = GROUPS.iter().flat_map(|it| it.1.iter().copied()).collect();
        for it in root.get_subcommands().filter(|it| !it.is_hide_set()) {
            let times = all.iter().filter(|name| **name == it.get_name()).count();
            assert_eq!(times, 1, "{} stands in {times} groups", it.get_name());
        }
        for name in all.iter().chain(BRIEF.iter().map(|it| &it.0)) {
            assert!(root.find_subcommand(name).is_some(), "{name} is no command");
        }
        let help = root.clone().render_help().to_string();
        let widest = help.lines().map(|it| it.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?}: {help}");
    }

    #[test]
    fn what_is_meant_by_a_word_is_a_command() {
        for (word, first) in [
            ("verify", "recipe verify"),
            ("heal", "recipe heal"),
            ("goto", "browse goto"),
            ("login", "session login"),
            ("record", "learn --manual URL"),
        ] {
            assert_eq!(suggest(word).first().map(String::as_str), Some(first), "{word}");
        }
        assert!(suggest("nothing-of-the-kind").is_empty());
        let root = command();
        for path in MEANT.iter().flat_map(|it| it.1) {
            let mut at = &root;
            for word in path.split(' ').take_while(|it| !it.starts_with('-')) {
                at = at.find_subcommand(word).unwrap_or_else(|| panic!("{path}: {word}"));
            }
        }
    }

    #[test]
    fn every_argument_has_a_text() {
        fn each(it: &Command, above: &str, untold: &mut Vec<String>) {
            let path = format!("{above} {}", it.get_name());
            if it.get_about().is_none() {
                untold.push(path.clone());
            }
            for of in it.get_arguments() {
                if of.get_help().or(of.get_long_help()).is_none() && !of.is_hide_set() {
                    untold.push(format!("{path} {}", of.get_id()));
                }
            }
            it.get_subcommands().for_each(|it| each(it, &path, untold));
        }
        let mut untold = Vec::new();
        each(&command(), "", &mut untold);
        assert!(untold.is_empty(), "{untold:#?}");
    }

    #[test]
    fn flags_of_every_command_come_last() {
        let mut root = shortened(command());
        root.build();
        let run = root.find_subcommand_mut("run").unwrap();
        let help = run.render_long_help().to_string();
        let own = help.find("--continue-from").unwrap();
        assert!(help.find("--home").is_some_and(|it| it > own), "{help}");
        assert!(!help.contains("--test-ca"), "{help}");
        assert!(help.contains("--param") && help.contains("Options of every command:"), "{help}");
    }
}
