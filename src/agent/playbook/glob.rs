//! Globs over the path and query of a request: `*` is anything but a slash, `**` anything, all else is itself.

enum Part {
    Byte(u8),
    /// `*`
    Within,
    /// `**`
    Any,
}

/// Whether all of `text` is as the glob has it. Takes time in the product of both lengths at most.
pub fn fits(glob: &str, text: &str) -> bool {
    let parts = parts(glob);
    // Which beginnings of the glob fit what was read so far.
    let mut fit = vec![false; parts.len() + 1];
    fit[0] = true;
    skip(&parts, &mut fit);
    for byte in text.bytes() {
        let mut next = vec![false; parts.len() + 1];
        for (i, part) in parts.iter().enumerate().filter(|it| fit[it.0]) {
            match part {
                Part::Byte(it) => next[i + 1] |= *it == byte,
                Part::Within => next[i] |= byte != b'/',
                Part::Any => next[i] = true,
            }
        }
        fit = next;
        skip(&parts, &mut fit);
    }
    fit[parts.len()]
}

/// A star is also nothing.
fn skip(parts: &[Part], fit: &mut [bool]) {
    for (i, part) in parts.iter().enumerate() {
        fit[i + 1] |= fit[i] && !matches!(part, Part::Byte(_));
    }
}

fn parts(glob: &str) -> Vec<Part> {
    let mut out = Vec::with_capacity(glob.len());
    let mut bytes = glob.bytes().peekable();
    while let Some(it) = bytes.next() {
        out.push(match it {
            b'*' if bytes.next_if_eq(&b'*').is_some() => Part::Any,
            b'*' => Part::Within,
            it => Part::Byte(it),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_ends_at_a_slash_and_two_do_not() {
        for (glob, text, want) in [
            ("/account/cancel", "/account/cancel", true),
            ("/account/cancel", "/account/cancel?now=1", false),
            ("/account/cancel", "/account/cancel/", false),
            ("/account/cancel*", "/account/cancel", true),
            ("/account/cancel*", "/account/cancelled?from=menu", true),
            ("/account/cancel*", "/account/cancel/confirm", false),
            ("/account/cancel*", "/account/cancel?from=a/b", false),
            ("/account/**", "/account/cancel/confirm?a=b/c", true),
            ("/account/**", "/accounts", false),
            ("/a/*/c", "/a/b/c", true),
            ("/a/*/c", "/a/b/b/c", false),
            ("/a/**/c", "/a/b/b/c", true),
            ("/a/*b*c", "/a/xbxbxc", true),
            ("/orders?step=*", "/orders?step=2", true),
            ("/orders?step=*", "/ordersxstep=2", false),
            ("/", "/", true),
            ("", "", true),
            ("", "/", false),
            ("/é", "/é", true),
        ] {
            assert_eq!(fits(glob, text), want, "{glob} {text}");
        }
        let stars = format!("/{}b", "*a".repeat(100));
        assert!(!fits(&stars, &format!("/{}", "a".repeat(8000))), "and in time");
    }
}
