//! Settings as files and shells write them: YAML, INI, TOML, properties, `.env`, `.netrc`, tables with a head, commands.

use super::{
    class::{KeyClass, Place, SecretReason},
    detector::verdict,
    formats::known_format,
    keys::classify,
    markup::Replacement,
    messages::looks_chosen,
    randomness::{erratic, is_hex, natural, random},
    rules::Walk,
    step_counter,
};

/// Sections and mappings that are open at once.
const DEEPEST: usize = 24;
/// Bytes of a line that are read.
const LONGEST: usize = 16 * 1024;
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
            let Some(it) = setting(line) else { continue };
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

/// A value left for the reader to fill in: `password`, `YOUR_API_KEY`, `<token>`, `xxxx`, `changeme`.
pub fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let digits = bare.bytes().filter(u8::is_ascii_digit).count();
    let own = matches!(classify(bare, Place::Json), KeyClass::Always | KeyClass::Likely)
        && digits == 0
        && bare.split(['_', '-', ' ', '.']).all(|it| natural(it) || it.len() <= 4);
    own || [
        "your_",
        "your-",
        "yourpass",
        "my_",
        "my-",
        "mypass",
        "example",
        "changeme",
        "change-me",
        "change_me",
        "placeholder",
        "xxxx",
        "insert_",
        "replace_",
        "dummy",
        "todo",
    ]
    .iter()
    .any(|it| bare.starts_with(it) || it.len() > 6 && bare.contains(it))
        || value.starts_with(['<', '%']) && value.ends_with(['>', '%'])
        || value.starts_with("&lt;")
        || value.starts_with("$(")
        || value.contains("${")
        || value.contains("{{")
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
    ("nuget", &["-Password", "-ApiKey"]),
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
pub fn commands<'t>(text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
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
        && (random(value) || erratic(value) || looks_chosen(value));
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
