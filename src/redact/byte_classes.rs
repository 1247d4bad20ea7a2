//! Which kinds of bytes a text holds, told in one pass: most rules cannot match most texts, and this says so cheaply.

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteKinds(u16);

impl ByteKinds {
    /// White space of ASCII.
    pub const SPACE: u16 = 1;
    /// Any byte that is not ASCII.
    pub const WIDE: u16 = 1 << 1;
    pub const COLON: u16 = 1 << 2;
    pub const EQUALS: u16 = 1 << 3;
    pub const PERCENT: u16 = 1 << 4;
    pub const SEMICOLON: u16 = 1 << 5;
    pub const SLASH: u16 = 1 << 6;
    /// `{` and `[`.
    pub const OPENS: u16 = 1 << 7;
    pub const ANGLE: u16 = 1 << 8;
    pub const QUOTE: u16 = 1 << 9;
    pub const DASH: u16 = 1 << 10;
    pub const STAR: u16 = 1 << 11;
    pub const DOT: u16 = 1 << 13;
    pub const BAR: u16 = 1 << 14;
    pub const DIGIT: u16 = 1 << 15;
    /// What never stands in base64 of either alphabet.
    pub const NO_BASE64: u16 = 1 << 12;

    pub fn from_text(text: &str) -> Self {
        Self(text.bytes().fold(0, |it, b| it | KINDS[usize::from(b)]))
    }

    /// Whether one of these is there.
    pub fn any(self, kinds: u16) -> bool {
        self.0 & kinds != 0
    }

    /// Whether white space of any script is in `text`, whose kinds these are.
    pub fn spaced(self, text: &str) -> bool {
        self.any(Self::SPACE) || self.any(Self::WIDE) && text.contains(char::is_whitespace)
    }
}

const KINDS: [u16; 256] = {
    let mut out = [0; 256];
    let mut b = 0;
    while b < 256 {
        let byte = b as u8;
        out[b] = match byte {
            b'\t'..=b'\r' | b' ' => ByteKinds::SPACE,
            b':' => ByteKinds::COLON,
            b'=' => ByteKinds::EQUALS,
            b'%' => ByteKinds::PERCENT,
            b';' => ByteKinds::SEMICOLON,
            b'/' => ByteKinds::SLASH,
            b'{' | b'[' => ByteKinds::OPENS,
            b'<' => ByteKinds::ANGLE,
            b'"' => ByteKinds::QUOTE,
            b'-' => ByteKinds::DASH,
            b'*' => ByteKinds::STAR,
            b'.' => ByteKinds::DOT,
            b'|' => ByteKinds::BAR,
            b'0'..=b'9' => ByteKinds::DIGIT,
            0x80.. => ByteKinds::WIDE,
            _ => 0,
        };
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')) {
            out[b] |= ByteKinds::NO_BASE64;
        }
        b += 1;
    }
    out
};

#[cfg(test)]
mod tests {
    use super::ByteKinds;

    #[test]
    fn kinds_of_every_character() {
        for c in (0..0x3100).filter_map(char::from_u32) {
            let text = format!("a{c}b");
            let it = ByteKinds::from_text(&text);
            assert_eq!(it.spaced(&text), c.is_whitespace(), "{c:?}");
            assert_eq!(it.any(ByteKinds::WIDE), !c.is_ascii(), "{c:?}");
            let base64 = c.is_ascii_alphanumeric() || "+/-_=".contains(c);
            assert_eq!(it.any(ByteKinds::NO_BASE64), !base64, "{c:?}");
            assert_eq!(it.any(ByteKinds::OPENS), "{[".contains(c), "{c:?}");
        }
    }
}
