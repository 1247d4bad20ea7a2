//! Settings as files and shells write them: YAML, INI, TOML, properties, `.env`, `.netrc`, tables with a head.

use super::{
    class::{KeyClass, Place, SecretReason},
    detector::verdict,
    formats::known_format,
    keys::classify,
    markup::Replacement,
    messages::looks_chosen,
    randomness::{is_hex, natural, random},
    rules::Walk,
    stand_in::is_stand_in,
    step_counter,
};

/// Sections and mappings that are open at once.
const DEEPEST: usize = 24;
/// Bytes of a line that are read.
pub const LONGEST: usize = 16 * 1024;
const MAX_COLUMNS: usize = 512;

/// A line of settings: what it is called, what it holds, and the sign between.
struct Setting<'t> {
    indent: usize,
    name: &'t str,
    value: &'t str,
    sign: u8,
    quoted: bool,
}

impl Walk<'_> {
    /// Secrets in lines of settings. `strict`: in an answer, which may hold labels and prose.
    pub fn settings_in<'t>(
        &mut self,
        text: &'t str,
        place: Place,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
    ) {
        let sent = place != Place::Answer;
        let rules = self.rules;
        // Indent and name of what is open.
        let mut open: Vec<(usize, &str)> = Vec::new();
        let mut section = "";
        // `- name: DB_PASSWORD`, whose `value:` stands in the next line.
        let mut named: Option<(usize, &str)> = None;
        // `variable "db_password" {`, whose `default = …` stands further in.
        let mut variable = "";
        // A name whose value stands in the lines below, further in.
        let mut folded: Option<(usize, &str, KeyClass)> = None;
        for line in text.split('\n') {
            let line = line.trim_end();
            step_counter::record_bytes(line.len().min(LONGEST) + 1);
            if line.is_empty() || line.len() > LONGEST {
                continue;
            }
            let indent = line.len() - line.trim_start().len();
            if let Some((least, name, class)) = folded {
                if indent > least {
                    let value = line.trim();
                    if tells(class, value, true, sent) {
                        found.push((name, value, SecretReason::Key));
                    }
                    continue;
                }
                folded = None;
            }
            let bare = line.trim();
            if let Some(inner) = bare.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
                section = inner.trim_matches(['[', ']', '"', ' ']);
                section =
                    section.rsplit(['.', ' ', '/']).next().unwrap_or(section).trim_matches('"');
                open.clear();
                continue;
            }
            credentials_line(bare, found);
            if let Some(head) = bare.strip_prefix("variable \"") {
                variable = head.split_once("\" {").map_or("", |it| it.0);
            } else if bare == "}" {
                variable = "";
            }
            let Some(it) = setting(line) else { continue };
            if it.name == "default"
                && !variable.is_empty()
                && tells(rules.class(variable, Place::Form), it.value, it.quoted, sent)
            {
                found.push((variable, it.value, SecretReason::Key));
                continue;
            }
            let its = named.take().filter(|named| named.0 == it.indent && it.name == "value");
            if matches!(it.name, "name" | "key") && it.sign == b':' {
                named = Some((it.indent, it.value));
            }
            if let Some((_, name)) = its
                && tells(rules.class(name, Place::Form), it.value, true, sent)
            {
                found.push((name, it.value, SecretReason::Key));
                continue;
            }
            open.retain(|parent| parent.0 < it.indent);
            let parent = open.last().map_or(section, |it| it.1);
            let class = qualify_class(rules.class(it.name, Place::Form), parent, it.name);
            let mut value = it.value;
            // `PGPASSWORD=… psql`
            if it.sign == b'='
                && !it.quoted
                && it
                    .name
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
            {
                value = value.split(' ').next().unwrap_or(value);
            }
            if value.is_empty() || matches!(value, "|" | ">" | "|-" | ">-" | "|+" | ">+") {
                if it.sign == b':' && open.len() < DEEPEST {
                    if matches!(class, KeyClass::Always | KeyClass::Likely) {
                        folded = Some((it.indent, it.name, class));
                    }
                    open.push((it.indent, it.name));
                }
                continue;
            }
            // A connection's: `Driver={…};Server=…;UID=app;PWD=…;`
            if it.sign == b'=' && line.contains(';') {
                for part in line.split(';').skip(1).take(32).filter_map(setting) {
                    let class = rules.class(part.name, Place::Form);
                    if part.sign == b'=' && tells(class, part.value, part.quoted, sent) {
                        found.push((part.name, part.value, SecretReason::Key));
                    }
                }
            }
            if tells(class, value, it.quoted, sent) || is_password_hash(value) {
                found.push((it.name, value, SecretReason::Key));
            }
        }
        if text.contains("machine ") {
            netrc(text, found);
        }
    }

    /// Secrets in the columns of a table whose head names them: comma, semicolon, tab or bar between.
    pub fn columns_in(&mut self, text: &str, cuts: &mut Vec<Replacement>) {
        let head = text.lines().next().unwrap_or("").trim_start_matches('\u{feff}');
        let Some(split) = [b'\t', b';', b',', b'|']
            .into_iter()
            .find(|it| head.bytes().any(|b| b == *it))
            .filter(|_| head.len() <= 8192 && text.len() > head.len() + 2)
        else {
            return;
        };
        let plain = |it: &str| {
            let it = it.trim().trim_matches('"').trim();
            (1..=64).contains(&it.len())
                && it.chars().all(|c| c.is_alphanumeric() || "_-. /()#".contains(c))
                && it.chars().any(char::is_alphabetic)
        };
        let names: Vec<&str> = head.split(char::from(split)).collect();
        if names.len() < 2 || names.len() > MAX_COLUMNS || !names.iter().all(|it| plain(it)) {
            return;
        }
        let names: Vec<&str> = names.iter().map(|it| it.trim().trim_matches('"').trim()).collect();
        let classes: Vec<KeyClass> =
            names.iter().map(|it| self.rules.class(it, Place::Form)).collect();
        if !classes
            .iter()
            .any(|it| matches!(it, KeyClass::Always | KeyClass::Likely | KeyClass::Perhaps))
        {
            return;
        }
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(split)
            .flexible(true)
            .has_headers(true)
            .from_reader(text.as_bytes());
        let mut record = csv::StringRecord::new();
        let mut from = None;
        loop {
            let read = reader.read_record(&mut record);
            let end = reader.position().byte() as usize;
            match read {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => return,
            }
            let begin = record.position().map_or(0, |it| it.byte() as usize);
            from = from.or(Some(begin));
            // A sentence has commas, too: another count of columns is no table.
            if record.len() != names.len() {
                continue;
            }
            let Some(line) = text.get(begin..end.min(text.len())) else { continue };
            step_counter::record_bytes(line.len());
            let mut at = 0;
            for ((value, class), name) in record.iter().zip(&classes).zip(&names) {
                let told = tells(*class, value.trim(), true, false)
                    || *class == KeyClass::Perhaps && verdict(KeyClass::Perhaps, value).is_some();
                let Some(here) = line[at..].find(value) else { break };
                let here = at + here;
                at = here + value.len();
                if told && let Some(new) = self.sink.secret(name, value.trim(), SecretReason::Key) {
                    cuts.push((begin + here, begin + here + value.len(), new));
                }
            }
        }
    }
}

/// As systems keep passwords: `$2y$10$…`, `$apr1$…`.
fn is_password_hash(value: &str) -> bool {
    const LEADS: &[&str] = &[
        "$1$",
        "$2a$",
        "$2b$",
        "$2y$",
        "$5$",
        "$6$",
        "$7$",
        "$y$",
        "$argon2",
        "$apr1$",
        "$scrypt$",
        "$pbkdf2",
        "{SSHA",
        "{SHA}",
        "pbkdf2_sha",
        "scrypt:",
        "pbkdf2:",
    ];
    (20..=512).contains(&value.len()) && LEADS.iter().any(|it| value.starts_with(it))
}

/// One line, where it is one of settings.
fn setting(line: &str) -> Option<Setting<'_>> {
    let indent = line.len() - line.trim_start().len();
    let mut rest = line.trim_start();
    let (mut deeper, mut is_image) = (0, false);
    // Comments hold settings, too; lists and shells have signs before them.
    for mark in [
        "# ", "#", "// ", "; ", "- ", "$ ", "+ ", "export ", "set ", "setx ", "ENV ", "ARG ",
        "let ", "env ",
    ] {
        if let Some(it) = rest.strip_prefix(mark) {
            deeper += usize::from(mark == "- ") * 2;
            is_image |= mark == "ENV ";
            rest = it.trim_start();
        }
    }
    if is_image && let Some(it) = image_setting(rest, indent) {
        return Some(it);
    }
    let at = rest.find(['=', ':'])?;
    let mut sign = rest.as_bytes()[at];
    let mut name = rest[..at].trim_end();
    let mut after = &rest[at + 1..];
    // `//registry/:_authToken=…`
    if sign == b':' && after.starts_with('_') && after.contains('=') {
        let (front, back) = after.split_once('=')?;
        (name, after, sign) = (front, back, b'=');
    }
    if after.starts_with(['/', ':']) && sign == b':' && !after.starts_with("/ ") {
        return None;
    }
    let is_arrow = sign == b'=' && after.starts_with('>');
    after = after.strip_prefix(['>', '=']).unwrap_or(after);
    let name = name.trim_matches(['"', '\'', '`']).trim_end_matches(['?', ' ']);
    let words = name.split([' ', '\t']).count();
    let is_name = (2..=80).contains(&name.len())
        && name.chars().all(|c| c.is_alphanumeric() || "_-. /@\\".contains(c))
        && words <= 3;
    if !is_name {
        return None;
    }
    let value = after.trim();
    let (value, quoted) = unquoted(value);
    // `token=>value.length`: a function.
    if is_arrow && !quoted {
        return None;
    }
    Some(Setting { indent: indent + deeper, name, value, sign, quoted })
}

/// `ENV API_TOKEN …`, as files for images of containers have it without a sign between.
fn image_setting(rest: &str, indent: usize) -> Option<Setting<'_>> {
    let (name, value) = rest.split_once([' ', '\t'])?;
    let is_name = name.len() >= 2
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    if !is_name {
        return None;
    }
    let (value, quoted) = unquoted(value.trim());
    Some(Setting { indent, name, value, sign: b'=', quoted })
}

/// Without quotes, and without what follows them.
fn unquoted(value: &str) -> (&str, bool) {
    let value = value.trim_end_matches([',', ';']).trim_end();
    for quote in ['"', '\'', '`'] {
        if let Some(inner) = value.strip_prefix(quote)
            && let Some(end) = inner.find(quote)
        {
            return (&inner[..end], true);
        }
    }
    // A comment after it.
    let end = value.find(" #").or_else(|| value.find("\t#")).unwrap_or(value.len());
    (value[..end].trim_end(), false)
}

/// What a name says, with the one that it stands under where it says little by itself.
pub fn qualify_class(class: KeyClass, parent: &str, name: &str) -> KeyClass {
    if matches!(class, KeyClass::Always | KeyClass::Likely)
        || parent.is_empty()
        || name.len() > 16
        || parent.len() > 64
        || !is_generic(name)
    {
        return class;
    }
    if !qualifies(parent) {
        return class;
    }
    let both = classify(&format!("{parent}_{name}"), Place::Json);
    match both {
        KeyClass::Always | KeyClass::Likely => both,
        _ => class,
    }
}

/// Whether a name says with another what neither says alone.
fn qualifies(parent: &str) -> bool {
    matches!(
        parent,
        "card"
            | "api"
            | "app"
            | "session"
            | "sms"
            | "otp"
            | "access"
            | "private"
            | "client"
            | "auth"
    ) || !matches!(classify(parent, Place::Json), KeyClass::Silent | KeyClass::Harmless)
}

/// Names that say no more than that something stands there.
pub fn is_generic(name: &str) -> bool {
    matches!(
        name,
        "value"
            | "Value"
            | "lhs"
            | "rhs"
            | "val"
            | "key"
            | "raw"
            | "plain"
            | "text"
            | "string"
            | "content"
            | "data"
            | "default"
            | "old"
            | "new"
            | "from"
            | "to"
            | "before"
            | "after"
            | "previous"
            | "current"
            | "number"
            | "id"
            | "hash"
            | "v"
            | "body"
            | "oldValue"
            | "newValue"
            | "old_value"
            | "new_value"
            | "code"
            | "answer"
            | "_value"
            | "$t"
            | "#text"
            | "_"
            | "contents"
            | "env"
            | "secret"
            | "token"
    )
}

/// Whether a value is a secret under such a name. Answers hold labels, too: words are none there.
pub fn tells(class: KeyClass, value: &str, quoted: bool, sent: bool) -> bool {
    let spaced = value.contains(char::is_whitespace);
    // An address is read for itself.
    if value.contains("://") {
        return false;
    }
    match class {
        KeyClass::Always if sent => verdict(class, value).is_some(),
        KeyClass::Always => {
            value.len() >= 4
                && !is_stand_in(value)
                && !is_label(value)
                && verdict(KeyClass::Always, value).is_some()
                && (!spaced || quoted && !value.split_whitespace().all(natural))
                && !is_code(value)
        }
        KeyClass::Likely => {
            (sent || !spaced)
                && !is_stand_in(value)
                && !is_code(value)
                && verdict(class, value).is_some()
        }
        KeyClass::Code => verdict(class, value).is_some(),
        KeyClass::Perhaps => value.len() >= 20 && !spaced && random(value),
        KeyClass::Silent | KeyClass::Harmless => false,
    }
}

/// Words for people: a capital begins a word, or there are several.
pub fn is_label(value: &str) -> bool {
    let value = value.trim().trim_end_matches(['.', '!', '?', '…', ':']);
    let mut words = value
        .split(|c: char| c.is_whitespace() || "()/,-–'’".contains(c))
        .filter(|it| !it.is_empty())
        .peekable();
    if words.peek().is_none() {
        return true;
    }
    let spaced = value.contains(char::is_whitespace);
    let word = |it: &str| {
        it.chars().all(char::is_alphabetic) && (natural(it) || it.len() <= 4 || !it.is_ascii())
            || spaced && it.len() <= 4 && it.bytes().all(|b| b.is_ascii_digit())
    };
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    letters >= 3
        && words.all(word)
        && (spaced || value.starts_with(char::is_uppercase) || !value.is_ascii())
}

/// As programs are written: a call, a function, a member of something.
pub fn is_code(value: &str) -> bool {
    value.contains("){")
        || value.contains("=>")
        || value.contains("()")
        || value.ends_with('{')
        || value.contains('(') && value.ends_with(')')
        || value.starts_with(['(', '{', '['])
        || value.starts_with("function")
        || value.starts_with("process.env")
        || value.starts_with("os.environ")
        || value.split('.').count() > 1
            && value.split('.').all(|it| {
                it.len() >= 2
                    && it.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
                    && natural(it)
            })
}

/// `db.test:5432:shop:ann:…` of `.pgpass`, and a header in the settings of a server: `proxy_set_header Authorization "Bearer …";`
fn credentials_line<'t>(line: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
    if line.len() > 512 {
        return;
    }
    let mut parts = line.splitn(5, ':');
    if let [Some(host), Some(port), Some(_), Some(user), Some(password)] =
        [0; 5].map(|_| parts.next())
        && (host == "*" || host == "localhost" || host.contains('.'))
        && !host.contains([' ', '/', '"'])
        && (port == "*"
            || (3..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit()))
        && (2..=64).contains(&user.len())
        && !user.contains([' ', '"'])
        && !password.contains(char::is_whitespace)
        && (looks_chosen(password) || random(password) && password.len() >= 8)
        && !is_stand_in(password)
    {
        found.push(("password", password, SecretReason::Key));
    }
    // `[smtp.test]:587 ann:…` of a mail server.
    if let Some((host, login)) = line.strip_prefix('[').and_then(|it| it.split_once(' '))
        && let Some((_, port)) = host.split_once("]:")
        && !port.is_empty()
        && port.bytes().all(|b| b.is_ascii_digit())
        && let Some((user, password)) = login.trim().split_once(':')
        && !user.is_empty()
        && password.len() >= 4
        && !password.contains(char::is_whitespace)
        && !is_stand_in(password)
    {
        found.push(("password", password, SecretReason::Key));
    }
    // `enable secret 5 $1$…`, `username ann password 7 0822…`: how it is kept stands before it.
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        if matches!(word, "secret" | "password" | "key")
            && words
                .clone()
                .next()
                .is_some_and(|it| it.len() == 1 && it.as_bytes()[0].is_ascii_digit())
            && let Some(value) = words.clone().nth(1).filter(|it| it.len() >= 8)
            && (known_format(value).is_some() || is_hex(value))
        {
            found.push((word, value, SecretReason::Key));
        }
    }
    // A cookie in Netscape's format: host, yes or no, path, yes or no, time, name, value.
    let cookie: Vec<&str> = line.splitn(8, '\t').collect();
    if let [host, "TRUE" | "FALSE", path, "TRUE" | "FALSE", time, name, value] = cookie[..]
        && host.contains('.')
        && path.starts_with('/')
        && time.bytes().all(|b| b.is_ascii_digit())
        && (random(value) || tells(classify(name, Place::Json), value, true, false))
    {
        found.push((name, value, SecretReason::Cookie));
    }
    // `password "…"`, as some build tools have it.
    if let Some((name, rest)) = line.split_once(' ')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && let rest = rest.trim_start().trim_end_matches([',', ';'])
        && let Some(quote) = rest.chars().next().filter(|it| matches!(it, '"' | '\''))
        && let Some(value) = rest[1..].strip_suffix(quote)
        && !value.contains(quote)
        && tells(classify(name, Place::Form), value, true, false)
    {
        found.push((name, value, SecretReason::Key));
    }
    if let Some(at) = line.find("uthorization \"").or_else(|| line.find("uthorization '"))
        && let Some((scheme, value)) = line[at + 14..].split_once(' ')
        && matches!(scheme, "Bearer" | "Basic" | "Token")
    {
        let value = value.split(['"', '\'', ';']).next().unwrap_or(value);
        if value.len() >= 12 && !value.starts_with('$') && !is_stand_in(value) {
            found.push(("authorization", value, SecretReason::Key));
        }
    }
}

/// `machine HOST login NAME password VALUE`, on one line or several.
fn netrc<'t>(text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
    let mut words = text.split_whitespace();
    let mut machine = 0;
    while let Some(word) = words.next() {
        match word {
            "machine" | "default" => machine = 6,
            "password" | "account" if machine > 0 => {
                if let Some(value) = words.next().filter(|it| word == "password" && it.len() >= 3) {
                    found.push(("password", value, SecretReason::Key));
                }
            }
            _ if machine > 0 => machine -= 1,
            _ => {}
        }
    }
}
