//! Secrets in running text: as `name = value`, after an authentication scheme, or by their format.

use std::borrow::Cow;

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::{
    LITTLE,
    assignments::assignments,
    byte_classes::ByteKinds,
    class::{KeyClass, Place, SecretReason},
    commands, configs,
    detector::verdict,
    elements::each_leaf,
    encode::{decode_escapes, decode_percent, percent},
    formats, identifiers,
    labels::LabelledValues,
    markup::{self, Replacement},
    messages,
    randomness::{erratic, is_scattered, is_uuid, natural, random},
    rules::{MAX_OPEN, Walk},
    step_counter,
    text_kind::TextKind,
    triggers::Triggers,
};
use commis_base::work;

/// Whether a tag begins in a text, in small letters or capitals.
fn has_tag(text: &str, tag: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), tag.as_bytes()).is_some()
        || memchr::memmem::find(text.as_bytes(), tag.to_ascii_uppercase().as_bytes()).is_some()
}

/// Of programs that keep something.
const STORED: u16 =
    Triggers::CALL | Triggers::CALLED | Triggers::COOKIE | Triggers::ASSIGN | Triggers::NAMED;

/// What a text is, as far as it matters for what is a secret in it.
#[derive(Clone, Copy)]
pub struct TextContext {
    pub prose: TextKind,
    pub place: Place,
    /// How many containers it stood in.
    pub depth: u32,
    /// Lines may be `name=value`, JSON, or an event's.
    pub lined: bool,
    /// Values of fields are judged whatever they are called, and so is JSON in scripts.
    pub every: bool,
}

/// Values of a text's tags by what is to be done with them; names beside them.
#[derive(Default)]
struct TagValues<'t> {
    /// Of a name that stands in a tag, such as that of a field.
    named: Vec<(&'t str, &'t str)>,
    /// Packed: JSON, a query.
    opened: Vec<(&'t str, &'t str)>,
    /// In base64.
    coded: Vec<(&'t str, &'t str)>,
    /// In base64, of pictures that may show a key.
    pictures: Vec<&'t str>,
    /// What codes of one use are made of.
    seeds: Vec<&'t str>,
    addresses: Vec<&'t str>,
    labelled: LabelledValues<'t>,
}

impl Walk<'_> {
    /// Text in which secrets stand as `name = value`, by their format, or by what is said of them.
    pub fn text(&mut self, text: &str, prose: TextKind) -> Option<String> {
        let kind =
            TextContext { prose, place: Place::Answer, depth: 0, lined: false, every: false };
        self.text_of(text, ByteKinds::from_text(text), kind)
    }

    /// The same of a text that is a whole body: each line may be a value of its own.
    pub fn lines(&mut self, text: &str, prose: TextKind) -> Option<String> {
        let kind = TextContext { prose, place: Place::Answer, depth: 0, lined: true, every: false };
        self.text_of(text, ByteKinds::from_text(text), kind)
    }

    /// The same of a page or another document with tags.
    pub fn markup(&mut self, text: &str) -> Option<String> {
        let kind = TextContext {
            prose: TextKind::Markup,
            place: Place::Answer,
            depth: 0,
            lined: false,
            every: true,
        };
        self.text_of(text, ByteKinds::from_text(text), kind)
    }

    /// The same where the kinds of its bytes are known. A large text is looked through side by side.
    pub fn text_of(&mut self, text: &str, bytes: ByteKinds, kind: TextContext) -> Option<String> {
        let mut found: Vec<(&str, &str, SecretReason)> = Vec::new();
        let mut cuts: Vec<Replacement> = Vec::new();
        let of_format = || {
            let mut out: Vec<(&str, &str, SecretReason)> = Vec::new();
            formats::in_text(text, bytes, |value, _| {
                out.push(("token", value, SecretReason::Format));
            });
            out
        };
        if text.len() < LITTLE {
            self.names_in(text, bytes, kind, &mut found, &mut cuts);
            found.extend(of_format());
        } else {
            let mut told = Vec::new();
            let budget = work::share();
            rayon::in_place_scope(|scope| {
                scope.spawn(|_| told = budget.run(of_format));
                self.names_in(text, bytes, kind, &mut found, &mut cuts);
            });
            found.extend(told);
        }
        self.replace(text, found, cuts)
    }

    /// Secrets under their names: `name = value`, elements and attributes, lines.
    fn names_in<'t>(
        &mut self,
        text: &'t str,
        bytes: ByteKinds,
        kind: TextContext,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
        cuts: &mut Vec<Replacement>,
    ) {
        let rules = self.rules;
        let wanted = |key: &str| {
            let class = rules.class(key, Place::Json);
            matches!(class, KeyClass::Always | KeyClass::Likely | KeyClass::Perhaps)
                .then_some(class)
        };
        let prose = kind.prose;
        let assigns = if bytes.any(ByteKinds::COLON | ByteKinds::EQUALS) { text } else { "" };
        assignments(assigns, wanted, |class, key, value, quoted| {
            if in_text(class, value, quoted, prose) && verdict(KeyClass::Always, value).is_some() {
                found.push((key, value, SecretReason::Key));
            }
        });
        if bytes.any(ByteKinds::ANGLE) && prose != TextKind::Code {
            self.tagged(text, kind, found, cuts);
        }
        if kind.lined && kind.depth < MAX_OPEN {
            self.events_in(text, kind, cuts);
            self.columns_in(text, cuts);
        }
        self.find_unnamed(text, bytes, kind, found, cuts);
    }

    /// What a text says by more than its names: addresses, settings, commands, programs, messages.
    fn find_unnamed<'t>(
        &mut self,
        text: &'t str,
        bytes: ByteKinds,
        kind: TextContext,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
        cuts: &mut Vec<Replacement>,
    ) {
        let marked = kind.prose == TextKind::Markup;
        let has = Triggers::from_text(text);
        if has.any(Triggers::LINK | Triggers::ORACLE | Triggers::DATA) {
            // In a file or a log an address is what a program asked for, with a key of its own.
            let is_log = kind.lined && kind.prose == TextKind::Spoken && kind.depth == 0;
            let place = if is_log { Place::Query } else { Place::Answer };
            self.links_in(text, marked, (place, kind.depth), has, cuts);
        }
        if has.any(Triggers::COOKIELESS) {
            Self::cookieless_in(text, found);
        }
        if has.any(Triggers::NETWORK) {
            Self::network_in(text, found);
        }
        if has.any(STORED) {
            self.stored_in(text, has, found);
            if kind.depth < MAX_OPEN {
                self.literals_in(text, kind, cuts);
            }
        }
        if kind.prose == TextKind::Code && !kind.lined {
            return;
        }
        if marked && has.any(Triggers::WRITTEN) && kind.depth < MAX_OPEN {
            for part in markup::preformatted_texts(text) {
                if !self.json_in(text, part, kind, cuts) {
                    self.settings_in(part, kind.place, found);
                    commands::find_in_commands(part, found);
                    self.escaped_in(part, found);
                }
            }
        } else if !marked {
            if kind.lined && kind.depth < MAX_OPEN {
                self.settings_in(text, kind.place, found);
                self.find_in_rows(text, found);
            }
            if has.any(Triggers::OPTION) {
                commands::find_in_commands(text, found);
            }
        }
        if bytes.any(ByteKinds::PERCENT) && kind.depth < MAX_OPEN {
            self.percent_in(text, kind, cuts);
        }
        if bytes.any(ByteKinds::DIGIT) || text.len() >= 60 && may_have_phrase(text) {
            self.messages_in(text, kind, found);
        }
    }

    /// JSON that is percent-encoded in the middle of a text: `payload=%7B%22…`.
    fn percent_in(&mut self, text: &str, kind: TextContext, cuts: &mut Vec<Replacement>) {
        let mut done = 0;
        for (at, _) in text.match_indices("%7B%") {
            if at < done {
                continue;
            }
            let inside = |b: &u8| b.is_ascii_alphanumeric() || b"-_.~%!*'()+".contains(b);
            let len = text.as_bytes()[at..].iter().take_while(|b| inside(b)).count();
            step_counter::record_bytes(len);
            done = at + len;
            let part = &text[at..done];
            let Ok(mut json) = serde_json::from_str(&decode_percent(part)) else { continue };
            if self.json_of("", &mut json, kind.place, kind.depth + 1) {
                cuts.push(cut(text, part, percent(&json.to_string())));
            }
        }
    }

    /// Elements that are shown as text: `&lt;string name="api_key"&gt;…&lt;/string&gt;`.
    fn escaped_in<'t>(&mut self, text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
        for line in text.lines().filter(|it| it.len() <= 4096 && it.contains("&lt;/")) {
            step_counter::record_bytes(line.len());
            let mut rest = line;
            while let Some((_, tag)) = rest.split_once("&lt;") {
                rest = tag;
                let Some((head, after)) = tag.split_once("&gt;") else { break };
                let Some((value, _)) = after.split_once("&lt;/") else { break };
                let named = ["name=", "key="]
                    .iter()
                    .find_map(|it| head.split_once(it))
                    .map(|it| it.1.trim_start_matches("&quot;").trim_start_matches(['"', '\'']));
                let name = named.unwrap_or(head);
                let end = name.find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)));
                let name = &name[..end.unwrap_or(name.len())];
                let class = self.rules.class(name, Place::Form);
                if configs::tells(class, value, false, false) && !value.contains(['<', '&']) {
                    found.push((name, value, SecretReason::Key));
                }
            }
        }
    }

    /// ASP.NET's session in an address without a host: `/(S(lit3py55t21z5v55vlm25s55))/page.aspx`.
    fn cookieless_in<'t>(text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
        for (at, mark) in text.match_indices("/(S(") {
            let rest = &text[at + mark.len()..];
            let len = rest.bytes().take(65).take_while(u8::is_ascii_alphanumeric).count();
            step_counter::record_bytes(len);
            if (16..=64).contains(&len) && rest[len..].starts_with(')') {
                found.push(("session", &rest[..len], SecretReason::Key));
            }
        }
    }

    /// A network's address for pictures that telephones read: `WIFI:T:WPA;S:Lamp;P:…;;`.
    fn network_in<'t>(text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
        for (at, mark) in text.match_indices("WIFI:") {
            let rest = &text[at + mark.len()..];
            let rest = super::body::cut(rest, 300);
            step_counter::record_bytes(rest.len());
            let end = rest.find(";;").unwrap_or(rest.len());
            let of_word = rest[..end].split(';').find_map(|it| it.strip_prefix("P:"));
            if let Some(value) = of_word.filter(|it| it.len() >= 4) {
                found.push(("password", value, SecretReason::Key));
            }
        }
    }

    /// JSON that is all that an element holds, as browsers show it. Returns whether it is that.
    fn json_in(
        &mut self,
        text: &str,
        part: &str,
        kind: TextContext,
        cuts: &mut Vec<Replacement>,
    ) -> bool {
        if !part.trim_start().starts_with(['{', '[']) {
            return false;
        }
        let plain = markup::entities(part.trim());
        let Ok(mut json) = serde_json::from_str(&plain) else { return false };
        // Where a browser shows JSON in a page of its own, it is the whole answer.
        let is_whole = memchr::memmem::find(text.as_bytes(), b"json-formatter-container").is_some();
        let depth = if is_whole { kind.depth } else { kind.depth + 1 };
        if self.json_of("", &mut json, kind.place, depth) {
            cuts.push(cut(text, part, attribute(&json.to_string())));
        }
        true
    }

    /// What a message tells its reader to type.
    fn messages_in<'t>(
        &mut self,
        text: &'t str,
        kind: TextContext,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
    ) {
        if kind.prose != TextKind::Markup {
            let all = messages::find(text);
            found.extend(
                all.iter().map(|it| (it.name, &text[it.from..it.to], SecretReason::Context)),
            );
            return;
        }
        let shown = markup::VisibleText::from_html(text);
        for it in messages::find(&shown.text) {
            // What stands once more is known by then.
            shown.places(it.from, it.to, |part| found.push((it.name, part, SecretReason::Context)));
            let value = &shown.text[it.from..it.to];
            if value.contains([' ', '\n']) {
                self.sink.secret(it.name, value, SecretReason::Context);
            }
        }
    }

    /// Secrets in elements and attributes.
    fn tagged<'t>(
        &mut self,
        text: &'t str,
        kind: TextContext,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
        cuts: &mut Vec<Replacement>,
    ) {
        let rules = self.rules;
        // What a person sends has names that mean what they say; answers also hold labels: `<password>Wachtwoord</password>`.
        let sent = kind.place != Place::Answer;
        let told = |key: &str, value: &str| {
            let class = match rules.class(key, Place::Json) {
                KeyClass::Always if sent => KeyClass::Always,
                KeyClass::Code => KeyClass::Code,
                KeyClass::Always | KeyClass::Likely => KeyClass::Likely,
                KeyClass::Perhaps => KeyClass::Perhaps,
                KeyClass::Silent | KeyClass::Harmless => return false,
            };
            // `a<b` in a script begins what looks like a tag, and its "attributes" are code: `x=function(e){return`.
            let is_code = value.contains("){") || value.contains("=>");
            verdict(class, value).is_some()
                && is_plain_name(key)
                && (sent || !value.contains(char::is_whitespace) && !is_code)
        };
        if kind.depth < MAX_OPEN && (has_tag(text, "<td") || has_tag(text, "<dd")) {
            self.cells_in(text, found);
        }
        each_leaf(text, |it| {
            if it.credential && verdict(KeyClass::Always, it.value).is_some() {
                found.push(("password", it.value, SecretReason::Key));
            }
            for key in [Some(it.key), it.named].into_iter().flatten() {
                if told(key, it.value) {
                    found.push((key, it.value, SecretReason::Key));
                } else if it.value.contains(char::is_whitespace)
                    && matches!(rules.class(key, Place::Json), KeyClass::Always | KeyClass::Likely)
                {
                    // `<secret>{shop 9f0c…}</secret>`: what is no word of it.
                    let words =
                        it.value.split(|c: char| c.is_whitespace() || "{}()<>,;\"'".contains(c));
                    let mixed = |it: &&str| {
                        it.bytes().any(|b| b.is_ascii_digit()) && it.len() >= 24 && !natural(it)
                    };
                    let issued = words
                        .filter(|it| it.len() >= 12 && (random(it) || erratic(it)) || mixed(it));
                    found.extend(issued.map(|word| (key, word, SecretReason::Key)));
                }
            }
        });
        let mut tags = TagValues::default();
        markup::each_tag(text, |tag, attributes| {
            tags.labelled.add(text, tag, attributes);
            for it in attributes {
                if it.value.len() >= 3 && it.name.len() <= 64 && told(it.name, it.value) {
                    found.push((it.name, it.value, SecretReason::Key));
                } else if is_packed(it.value) {
                    tags.opened.push((it.name, it.value));
                } else if is_relative(it.value) {
                    tags.addresses.push(it.value);
                } else if it.name.starts_with("data-") && is_coded(it.value) {
                    tags.coded.push((it.name, it.value));
                }
            }
            let get = |name: &str| attributes.iter().find(|it| it.name.eq_ignore_ascii_case(name));
            if get("type").is_some_and(|it| it.value.eq_ignore_ascii_case("password"))
                && let Some(it) = get("value").filter(|it| it.value.len() >= 3)
                && verdict(KeyClass::Always, it.value).is_some()
            {
                found.push(("password", it.value, SecretReason::Key));
            }
            if let Some(it) = get("value").filter(|it| is_seed(it.value)) {
                tags.seeds.push(it.value);
            }
            if let Some(it) = get("src").filter(|it| it.value.starts_with("data:image/"))
                && !attributes.iter().any(|it| it.name != "src" && is_of_brand(it.value))
                && let Some((_, body)) = it.value.split_once("base64,")
            {
                tags.pictures.push(body);
            }
            tags.named
                .extend(markup::name_and_value(tag, attributes).filter(|it| it.0.len() <= 200));
        });
        self.judge_tags(text, kind, tags, found, cuts);
    }

    /// What the tags of a text hold: what is secret is found, what can be opened is cut where it has a secret.
    fn judge_tags<'t>(
        &mut self,
        text: &'t str,
        kind: TextContext,
        tags: TagValues<'t>,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
        cuts: &mut Vec<Replacement>,
    ) {
        tags.labelled.judge(self, found);
        // A picture of a key is the key.
        if !(tags.pictures.is_empty() && tags.seeds.is_empty())
            && messages::is_about_seeds(&markup::visible_text(text, text.len()))
        {
            found.extend(tags.seeds.into_iter().map(|it| ("seed", it, SecretReason::Context)));
            found.extend(tags.pictures.into_iter().map(|it| ("qr", it, SecretReason::Context)));
        }
        for value in tags.addresses {
            if kind.depth < MAX_OPEN {
                let plain = markup::entities(value);
                let new = self.url(&plain, Place::Answer, kind.depth + 1);
                cuts.extend(new.map(|new| cut(text, value, attribute(&new))));
            }
        }
        for (name, value) in tags.coded {
            let inner = Some(value).filter(|_| kind.depth < MAX_OPEN).and_then(base64_text);
            if inner.is_some_and(|it| self.holds_secret(name, &it, kind.depth + 1)) {
                found.push((name, value, SecretReason::Container));
            }
        }
        for (name, value) in tags.opened {
            if kind.depth < MAX_OPEN {
                let plain = decode_value(value).unwrap_or(value.into());
                let name = name.strip_prefix("data-").unwrap_or(name);
                let new = self.open(name, &plain, Place::Answer, kind.depth + 1);
                cuts.extend(new.map(|new| cut(text, value, attribute(&new))));
            }
        }
        for (name, value) in tags.named {
            let name = decode_value(name).unwrap_or(name.into());
            let class = self.rules.class(&name, Place::Json);
            let judged = match class {
                KeyClass::Always | KeyClass::Code | KeyClass::Likely | KeyClass::Perhaps => true,
                KeyClass::Silent => kind.every,
                KeyClass::Harmless => false,
            };
            if judged && kind.depth < MAX_OPEN {
                let plain = decode_value(value).unwrap_or(value.into());
                let new = self.open(&name, &plain, Place::Json, kind.depth + 1);
                cuts.extend(new.map(|new| cut(text, value, attribute(&new))));
            }
        }
    }

    /// Lines of a body that are JSON, by themselves or as an event's data.
    fn events_in(&mut self, text: &str, kind: TextContext, cuts: &mut Vec<Replacement>) {
        for line in text.split('\n') {
            let line = line.trim_end_matches('\r').trim();
            let value = line.strip_prefix("data:").unwrap_or(line).trim();
            if value.starts_with(['{', '['])
                && let Ok(mut json) = serde_json::from_str(value)
                && self.json_of("", &mut json, kind.place, kind.depth + 1)
            {
                cuts.push(cut(text, value, json.to_string()));
            }
        }
    }

    /// A challenge such as `Digest realm="…", nonce="…"`, or its answer: what is good for one exchange is taken out.
    pub fn challenge(&mut self, name: &str, value: &str) -> Option<String> {
        let once = |key: &str| {
            ["nonce", "nextnonce", "cnonce", "opaque", "rspauth", "response"]
                .iter()
                .any(|it| key.eq_ignore_ascii_case(it))
                .then_some(KeyClass::Always)
        };
        let mut found = Vec::new();
        assignments(value, once, |_, key, value, _| found.push((key, value, SecretReason::Key)));
        if let Some(token) = auth_scheme(value).filter(|it| !it.contains('"')) {
            found.push((name, token, SecretReason::Header));
        }
        self.replace(value, found, Vec::new())
    }

    /// The text with these parts of it replaced, and known values wherever they stand.
    pub fn replace(
        &mut self,
        text: &str,
        found: Vec<(&str, &str, SecretReason)>,
        mut cuts: Vec<Replacement>,
    ) -> Option<String> {
        for (key, value, why) in found {
            let plain = decode_value(value);
            if let Some(new) = self.sink.secret(key, plain.as_deref().unwrap_or(value), why) {
                cuts.push(cut(text, value, new));
            }
        }
        if cuts.is_empty() {
            return self.sink.replace_known(text);
        }
        cuts.sort();
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for (from, to, new) in cuts.into_iter().filter(|it| it.0 < it.1) {
            if from >= done {
                out.push_str(&text[done..from]);
                out.push_str(&new);
                done = to;
            }
        }
        out.push_str(&text[done..]);
        self.sink.replace_known(&out).or(Some(out))
    }
}

/// As elements and attributes are called; in a program `<` begins something else.
fn is_plain_name(key: &str) -> bool {
    key.chars().all(|c| c.is_alphanumeric() || "-_:.@".contains(c))
}

/// JSON, also percent-encoded or with references, or a connection string.
fn is_packed(value: &str) -> bool {
    let begins =
        ["{", "[", "%7B", "%5B", "%7b", "%5b", "&quot;"].iter().any(|it| value.starts_with(it));
    value.len() >= 12
        && (begins
            || value.contains(';')
                && value.contains('=')
                && !value.contains("://")
                && !value.contains('('))
}

/// An address of the page's own host with values in it: `/frame?access_token=…`.
fn is_relative(value: &str) -> bool {
    (8..=8192).contains(&value.len())
        && value.starts_with(['/', '?', '.'])
        && !value.contains(char::is_whitespace)
        && value.split_once(['?', '#']).is_some_and(|it| it.1.contains('='))
}

/// Whether a text may give the words of a wallet, which have no digits.
fn may_have_phrase(text: &str) -> bool {
    ["hrase", "nemonic", "frase"]
        .iter()
        .any(|it| memchr::memmem::find(text.as_bytes(), it.as_bytes()).is_some())
}

/// As keys of authenticators are written: base32 in capitals, with digits.
fn is_seed(value: &str) -> bool {
    (16..=64).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_uppercase() || matches!(b, b'2'..=b'7'))
        && value.bytes().filter(u8::is_ascii_digit).count() >= 2
        && random(value)
}

/// JSON in base64, or pairs of names and values.
fn is_coded(value: &str) -> bool {
    value.starts_with("eyJ")
        || (24..=64 * 1024).contains(&value.len())
            && value.bytes().any(|b| b.is_ascii_uppercase())
            && base64_text(value).is_some_and(|it| it.contains('=') && !it.contains(' '))
}

/// Whether an attribute says that a picture is what pages are adorned with.
fn is_of_brand(value: &str) -> bool {
    let lower = if value.len() <= 200 { value.to_ascii_lowercase() } else { return false };
    ["logo", "icon", "avatar", "brand", "flag", "banner"].iter().any(|it| lower.contains(it))
}

/// That part of the text replaced.
pub fn cut(text: &str, part: &str, new: String) -> Replacement {
    let at = part.as_ptr() as usize - text.as_ptr() as usize;
    (at, at + part.len(), new)
}

/// A value as JSON, scripts and markup write it: `\/`, `\u002f`, `&#x2f;`. `None`: it says what it is.
fn decode_value(value: &str) -> Option<Cow<'_, str>> {
    if value.contains('\\') {
        return decode_escapes(value).map(Cow::Owned);
    }
    value.contains('&').then(|| markup::entities(value)).filter(|it| it != value).map(Cow::Owned)
}

/// As it stands in an attribute, with either quotes.
fn attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('\'', "&#39;").replace('<', "&lt;")
}

/// Whether `name = value` in a text gives a secret away. Code says `password: o.password`, and labels say
/// `password: "Wachtwoord"`: there the value has to look random.
fn in_text(class: KeyClass, value: &str, quoted: bool, prose: TextKind) -> bool {
    let spaced = value.contains(char::is_whitespace);
    match (class, prose) {
        (KeyClass::Perhaps, TextKind::Spoken) if !quoted => {
            value.len() >= 24
                && (random(value) || is_scattered(value))
                && !(value.starts_with("//") || value.contains('@'))
                && !is_uuid(value)
                && !identifiers::is_public(value)
        }
        (KeyClass::Perhaps, _) => quoted && value.len() >= 16 && !spaced && random(value),
        (_, TextKind::Code | TextKind::Markup) if quoted => {
            value.len() >= 8
                && !spaced
                && erratic(value)
                && (value.len() >= 20 || !value.contains(['.', '/']))
        }
        (_, TextKind::Code | TextKind::Markup) => {
            value.len() >= 20 && erratic(value) && !value.contains(['.', '/'])
        }
        (_, TextKind::Spoken) if quoted => verdict(class, value).is_some(),
        (_, TextKind::Spoken) => {
            value.len() >= 8
                && value.bytes().any(|b| b.is_ascii_digit())
                && value.bytes().any(|b| b.is_ascii_alphabetic())
                && verdict(KeyClass::Likely, value).is_some()
        }
    }
}

/// The credential after `Bearer ` and its like.
pub fn auth_scheme(value: &str) -> Option<&str> {
    let (scheme, rest) = value.split_once(' ')?;
    let scheme = scheme.trim_end_matches(',');
    if scheme.len() > 9 || rest.contains(' ') {
        return None;
    }
    let scheme = scheme.to_ascii_lowercase();
    (matches!(
        scheme.as_str(),
        "bearer" | "basic" | "token" | "jwt" | "apikey" | "splunk" | "negotiate"
    ) && rest.len() >= 8
        && !natural(rest))
    .then_some(rest)
}

/// Base64 of readable text: whatever it is, it can be looked into.
pub fn base64_text(value: &str) -> Option<String> {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
    const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);
    if value.len() > 1 << 20
        || !value.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/-_=".contains(&b))
    {
        return None;
    }
    let from = if value.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    // Most of what is no text shows that at once.
    let mut first = [0; 32];
    if let Ok(len) = from.decode_slice(&value[..value.len().min(32) & !3], &mut first)
        && first[..len]
            .iter()
            .any(|b| b.is_ascii_control() && !b.is_ascii_whitespace() && *b != 0x0b)
    {
        return None;
    }
    let bytes = from.decode(value).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let odd = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    (odd == 0 && text.bytes().filter(u8::is_ascii_graphic).count() * 10 >= text.len() * 8)
        .then_some(text)
}
