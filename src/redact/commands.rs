//! Secrets that commands take: in options, in what one prints into another, in what a shell sets.

use super::{
    class::{KeyClass, Place, SecretReason},
    configs::{LONGEST, tells},
    detector::verdict,
    keys::classify,
    messages::looks_chosen,
    randomness::{erratic, is_scattered, random},
    stand_in::is_stand_in,
    step_counter,
};

/// Programs that take a login on the command line, and the options that do.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("curl", &["-u", "--user", "-U", "--proxy-user", "--oauth2-bearer", "--pass"]),
    ("wget", &["--password", "--http-password", "--ftp-password", "--proxy-password"]),
    ("http", &["-a", "--auth"]),
    ("https", &["-a", "--auth"]),
    ("xh", &["-a", "--auth"]),
    ("mysql", &["-p", "--password"]),
    ("mysqldump", &["-p", "--password"]),
    ("mysqladmin", &["-p", "--password"]),
    ("mariadb", &["-p", "--password"]),
    ("mongo", &["-p", "--password"]),
    ("mongosh", &["-p", "--password"]),
    ("mongodump", &["-p", "--password"]),
    ("redis-cli", &["-a", "--pass"]),
    ("sshpass", &["-p"]),
    ("docker", &["-p", "--password"]),
    ("podman", &["-p", "--password"]),
    ("helm", &["--password"]),
    ("az", &["-p", "--password"]),
    ("smbclient", &["-U"]),
    ("ldapsearch", &["-w"]),
    ("ldapadd", &["-w"]),
    ("ldapmodify", &["-w"]),
    ("openssl", &["-passin", "-passout", "-pass", "-k"]),
    ("ansible-vault", &["--vault-password"]),
    ("influx", &["-t", "--token", "-p", "-password"]),
    ("vault", &["-token"]),
    ("gh", &["--token"]),
    ("npm", &["--otp"]),
    ("kubectl", &["--token", "--from-literal"]),
    ("oc", &["--token", "-p"]),
    ("sqlcmd", &["-P"]),
    ("lftp", &["-u"]),
    ("ncftp", &["-p"]),
    ("rsync", &["--password"]),
    ("restic", &["--password"]),
    ("psql", &["--password"]),
    ("isql", &["-P"]),
    ("bcp", &["-P"]),
    ("zip", &["-P", "--password"]),
    ("unzip", &["-P"]),
    ("7z", &["-p"]),
    ("gpg", &["--passphrase"]),
    ("htpasswd", &["-b"]),
    ("useradd", &["-p"]),
    ("mosquitto_pub", &["-P"]),
    ("mosquitto_sub", &["-P"]),
    ("ipmitool", &["-P"]),
    ("snmpwalk", &["-c", "-A", "-X"]),
    ("twine", &["-p", "--password"]),
    ("cargo", &["--token"]),
    ("dotnet", &["-k", "--api-key", "--password"]),
    ("nuget", &["-Password", "-ApiKey", "-k", "--api-key"]),
    ("flyctl", &["-t"]),
    ("sentry-cli", &["--auth-token"]),
    ("consul", &["-token"]),
    ("nomad", &["-token"]),
    ("etcdctl", &["--user", "--password"]),
    ("ftp", &["-u"]),
];

/// `ConvertTo-SecureString "…"`, `-String '…'`
fn secured<'t>(text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
    let of_shell = text.match_indices("ConvertTo-SecureString");
    // `CREATE USER app IDENTIFIED BY '…'`
    let of_sql =
        ["IDENTIFIED BY", "identified by"].into_iter().flat_map(|it| text.match_indices(it));
    for (at, mark) in of_shell.chain(of_sql) {
        let rest = text[at + mark.len()..].trim_start();
        let rest = rest.strip_prefix("-String").unwrap_or(rest).trim_start();
        let rest = rest.strip_prefix("&quot;").or_else(|| rest.strip_prefix(['"', '\'']));
        let Some(rest) = rest else { continue };
        let end = rest.bytes().take(256).position(|b| matches!(b, b'"' | b'\'' | b'&' | b'\n'));
        step_counter::record_bytes(end.unwrap_or(256));
        if let Some(value) = end.map(|end| &rest[..end])
            && value.len() >= 4
            && !value.starts_with('$')
            && !is_stand_in(value)
        {
            found.push(("password", value, SecretReason::Key));
        }
    }
}

/// What one command prints into another that takes it for a password: `echo '…' | docker login --password-stdin`.
fn piped<'t>(text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
    for line in text.lines().filter(|it| it.len() <= LONGEST) {
        let Some((front, back)) = line.split_once('|') else { continue };
        let takes = ["--password-stdin", "--token-stdin", "--passphrase-stdin"];
        if !takes.iter().any(|it| back.contains(it)) {
            continue;
        }
        step_counter::record_bytes(line.len());
        let Some((_, value)) = front.split_once("echo ").or_else(|| front.split_once("printf "))
        else {
            continue;
        };
        let value = value.trim().trim_start_matches("-n ").trim_matches(['"', '\'', '`', ' ']);
        if value.len() >= 6 && !value.starts_with('$') && !is_stand_in(value) {
            found.push(("password", value, SecretReason::Key));
        }
    }
}

/// Before a name and its value, without a sign between them: in a shell, in settings of servers, in commands of programs.
const SETTERS: &[&str] = &["set", "setenv", "SetEnv", "fastcgi_param", "scgi_param"];

/// Secrets that commands take: `curl -u ann:…`, `mysql -p…`, `docker login -p …`.
pub fn find_in_commands<'t>(text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
    secured(text, found);
    if text.contains("-stdin") {
        piped(text, found);
    }
    for line in text.split(['\n', ';', '|']) {
        let has_words = line.contains('-') || SETTERS.iter().any(|it| line.contains(it));
        if !has_words || line.len() > LONGEST {
            continue;
        }
        command(line, found);
    }
}

/// A variable that a shell is given: its name and its value come first.
fn exported<'t>(words: &[&'t str]) -> Option<(&'t str, &'t str, SecretReason)> {
    let (name, value) = (*words.first()?, *words.get(1)?);
    let value = value.trim_matches(['"', '\'', '`', ';']);
    let value = value.split('<').next().unwrap_or(value);
    tells(classify(name, Place::Form), value, true, false).then_some((
        name,
        value,
        SecretReason::Key,
    ))
}

/// The value of an option, whatever the program: `--token …`, `--registration-token …`, `--authkey=…`.
fn token_option<'t>(word: &'t str, next: Option<&'t str>) -> Option<&'t str> {
    // Java's have one dash: `-storepass …`.
    let option =
        word.strip_prefix("--").or_else(|| word.strip_prefix('-').filter(|it| it.len() >= 6))?;
    let (name, given) = option.split_once('=').map_or((option, None), |it| (it.0, Some(it.1)));
    let value = trimmed(given.or(next).unwrap_or_default());
    let is_token = matches!(classify(name, Place::Form), KeyClass::Always | KeyClass::Likely)
        && value.len() >= 12
        && !value.starts_with(['$', '-', '{', '<', '@', '/'])
        && !is_stand_in(value)
        && (random(value) || erratic(value) || looks_chosen(value) || is_scattered(value));
    is_token.then_some(value)
}

/// A value without what quotes it, or continues the line.
fn trimmed(value: &str) -> &str {
    let value = value.trim_matches(['"', '\'', '`', ',', '<']).trim_end_matches('\\');
    value.split(['<', '"']).next().unwrap_or(value)
}

/// Secrets in the options of one command.
fn command<'t>(line: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
    step_counter::record_bytes(line.len());
    let words: Vec<&str> =
        line.split([' ', '\t', '\u{a0}']).filter(|it| !it.is_empty()).take(200).collect();
    let mut options: Option<&[&str]> = None;
    let mut i = 0;
    while i < words.len() {
        let word = words[i].trim_matches(['"', '\'', '`', '(', '$', '>']);
        i += 1;
        let program = word.rsplit(['/', '>', '"', '\\']).next().unwrap_or(word);
        // `set -x NAME VALUE`, `setenv NAME VALUE`
        let exports = word != "set" && SETTERS.contains(&word)
            || word == "set"
                && words.get(i).is_some_and(|it| it.starts_with('-') && it.contains('x'));
        if exports {
            found.extend(exported(&words[(i + usize::from(word == "set")).min(words.len())..]));
            continue;
        }
        // `aws configure set aws_session_token VALUE`
        if word == "set"
            && let Some(it) = exported(&words[i..])
            && it.0.contains(['_', '-', '.'])
            && (random(it.1) || erratic(it.1) || looks_chosen(it.1))
        {
            found.push(it);
            continue;
        }
        if let Some(value) = token_option(word, words.get(i).copied()) {
            found.push(("token", value, SecretReason::Key));
            continue;
        }
        if let Some(it) = PROGRAMS.iter().find(|it| it.0 == program) {
            options = Some(it.1);
            continue;
        }
        let Some(options) = options else { continue };
        let takes = |option: &&&str| {
            word == **option
                || word.strip_prefix(**option).is_some_and(|it| it.starts_with('='))
                || option.len() == 2
                    && word.len() > 4
                    && word.starts_with(**option)
                    && !word.starts_with("--")
                    && !word[2..].starts_with('-')
        };
        let Some(option) = options.iter().find(takes) else { continue };
        let mut value = word[option.len()..].trim_start_matches('=');
        if value.is_empty() {
            let Some(next) = words.get(i) else { break };
            value = next;
            i += 1;
        }
        let value = trimmed(value);
        let secret = match value.split_once([':', '%']) {
            Some((user, password)) if !user.contains('/') && !password.starts_with('/') => password,
            _ if matches!(*option, "-u" | "-U" | "--user" | "--auth" | "--proxy-user") => continue,
            _ => value,
        };
        let takes_one =
            options.len() == 1 && PROGRAMS.iter().any(|it| it.0 == "sshpass" && it.1 == options);
        let short = option.len() == 2 && *option != "-u" && !takes_one;
        let fits = if short {
            looks_chosen(secret) || secret.len() >= 8 && (random(secret) || erratic(secret))
        } else {
            secret.len() >= 4
        };
        if fits
            && !is_stand_in(secret)
            && verdict(KeyClass::Always, secret).is_some()
            && !secret.starts_with(['$', '-', '{'])
        {
            found.push(("password", secret, SecretReason::Key));
        }
    }
}
