//! Which of a few strings a text holds, told in one pass: most recognisers begin with one of them.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// A set of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triggers(u16);

const ALL: &[(&str, u16)] = &[
    ("://", Triggers::LINK),
    (":\\/\\/", Triggers::LINK),
    (":thin:", Triggers::ORACLE),
    (";base64,", Triggers::DATA),
    ("('", Triggers::CALL),
    ("(\"", Triggers::CALL),
    ("(`", Triggers::CALL),
    ("( '", Triggers::CALL),
    ("( \"", Triggers::CALL),
    (".cookie", Triggers::COOKIE),
    ("var ", Triggers::ASSIGN),
    ("let ", Triggers::ASSIGN),
    ("const ", Triggers::ASSIGN),
    ("<pre", Triggers::WRITTEN),
    ("<code", Triggers::WRITTEN),
    ("<textarea", Triggers::WRITTEN),
    (" -", Triggers::OPTION),
    (" set ", Triggers::OPTION),
    ("setenv ", Triggers::OPTION),
    ("SetEnv ", Triggers::OPTION),
    ("cgi_param ", Triggers::OPTION),
    ("SecureString", Triggers::OPTION),
    ("IDENTIFIED BY", Triggers::OPTION),
    ("identified by", Triggers::OPTION),
    ("/(S(", Triggers::COOKIELESS),
    ("WIFI:", Triggers::NETWORK),
    ("Storage[", Triggers::ASSIGN),
    ("Storage.", Triggers::ASSIGN),
    ("')", Triggers::CALLED),
    ("\")", Triggers::CALLED),
    ("value:", Triggers::NAMED),
    ("earer ", Triggers::NAMED),
    ("'Basic ", Triggers::NAMED),
    ("\"Basic ", Triggers::NAMED),
    ("'Token ", Triggers::NAMED),
    ("\"Token ", Triggers::NAMED),
];

impl Triggers {
    pub const LINK: u16 = 1;
    pub const ORACLE: u16 = 1 << 1;
    pub const DATA: u16 = 1 << 2;
    pub const CALL: u16 = 1 << 3;
    pub const COOKIE: u16 = 1 << 4;
    pub const ASSIGN: u16 = 1 << 5;
    /// Elements that keep their lines.
    pub const WRITTEN: u16 = 1 << 6;
    /// As commands take them.
    pub const OPTION: u16 = 1 << 7;
    pub const COOKIELESS: u16 = 1 << 8;
    pub const NETWORK: u16 = 1 << 9;
    /// A text that is given last.
    pub const CALLED: u16 = 1 << 10;
    /// A pair of a name and its value, or what proves who asks.
    pub const NAMED: u16 = 1 << 11;
    const EVERY: u16 = (1 << 12) - 1;

    pub fn from_text(text: &str) -> Self {
        static FIND: LazyLock<Option<AhoCorasick>> =
            LazyLock::new(|| AhoCorasick::new(ALL.iter().map(|it| it.0)).ok());
        let Some(find) = &*FIND else { return Self(Self::EVERY) };
        let mut out = 0;
        for it in find.find_iter(text) {
            out |= ALL[it.pattern().as_usize()].1;
            if out == Self::EVERY {
                break;
            }
        }
        Self(out)
    }

    /// Whether one of these is there.
    pub fn any(self, kinds: u16) -> bool {
        self.0 & kinds != 0
    }
}
