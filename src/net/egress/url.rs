//! [`SafeUrl`]: a URL that was parsed once and passed every check that needs no DNS.

use std::net::IpAddr;

use url::{Host, Url};

use commis_base::error::{Code, Error, Result};

/// Longer URLs are refused unread.
const MAX_LEN: usize = 32 * 1024;

/// A URL that the policy allows, host canonical (lower case, punycode, no trailing dot). Only `EgressPolicy` makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeUrl {
    url: Url,
    port: u16,
}

impl SafeUrl {
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Canonical; an IPv6 address has its brackets.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or("")
    }

    /// The port in the URL or the scheme's own. A test host's connection goes to its pinned port instead.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.url.scheme()
    }

    /// eTLD+1 by the public suffix list. An IP address or a public suffix is its own site; under `.test` it is the last
    /// two labels.
    #[cfg(any(test, feature = "test-support"))]
    pub fn site(&self) -> String {
        if self.literal().is_some() {
            return self.host().to_owned();
        }
        host_site(self.host()).to_owned()
    }

    /// Scheme, host and port are the same.
    pub fn same_origin(&self, other: &Self) -> bool {
        self.scheme() == other.scheme() && self.host() == other.host() && self.port == other.port
    }

    /// The address when the host is one.
    pub fn literal(&self) -> Option<IpAddr> {
        match self.url.host() {
            Some(Host::Ipv4(it)) => Some(it.into()),
            Some(Host::Ipv6(it)) => Some(it.into()),
            _ => None,
        }
    }
}

/// The site (eTLD+1, see [`SafeUrl::site`]) of any URL, allowed or not; empty when it has no host.
pub fn site_of(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return String::new() };
    match url.host() {
        Some(Host::Domain(name)) => host_site(name.trim_end_matches('.')).to_owned(),
        _ => url.host_str().unwrap_or("").to_owned(),
    }
}

/// Whether nobody's cookies may span that name: it is a public suffix (under `.test` a single label).
pub fn is_public_suffix(name: &str) -> bool {
    psl::suffix_str(name).is_none_or(|it| it == name)
}

fn host_site(name: &str) -> &str {
    if let Some(rest) = name.strip_suffix(".test") {
        let start = rest.rfind('.').map_or(0, |at| at + 1);
        return &name[start..];
    }
    psl::domain_str(name).unwrap_or(name)
}

/// Steps of the policy that look at the text alone: raw characters, one WHATWG parse, userinfo, scheme, canonical host.
/// Ports, names and addresses are judged by the caller.
///
/// Fails with `URL_INVALID` and, for userinfo and schemes other than http(s), `URL_BLOCKED`.
pub(super) fn parse(text: &str) -> Result<SafeUrl> {
    let invalid = |why: &str| {
        Error::new(Code::UrlInvalid, format!("`{}` is not a usable URL: {why}", display_text(text)))
    };
    if text.len() > MAX_LEN {
        return Err(invalid("it is longer than 32 KiB"));
    }
    if text.chars().any(|it| it.is_control() || it == ' ') {
        return Err(invalid("it contains a control character or a space"));
    }
    if has_odd_backslash(text) {
        return Err(invalid("it contains a backslash"));
    }
    let mut url = Url::parse(text).map_err(|err| invalid(&err.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Error::new(
            Code::UrlBlocked,
            format!("scheme `{}` is not allowed", display_text(url.scheme())),
        )
        .hint("use http or https"));
    }
    // WHATWG also reads `http:host` and `http:///host`; nobody means that.
    let after = text.get(url.scheme().len()..).unwrap_or("");
    if !after.starts_with("://") || after.starts_with(":///") {
        return Err(invalid("expected `//` and a host after the scheme"));
    }
    if !url.username().is_empty() || url.password().is_some() || has_userinfo(after) {
        return Err(Error::new(
            Code::UrlBlocked,
            format!(
                "the URL of `{}` carries a user name or password",
                display_text(url.host_str().unwrap_or(""))
            ),
        ));
    }
    if let Some(Host::Domain(name)) = url.host()
        && let Some(name) = name.strip_suffix('.').map(str::to_owned)
    {
        // `8.8.8.8..` is a name to the standard; without one dot it would be an address.
        if name.ends_with('.') {
            return Err(invalid("a label of the host is empty"));
        }
        url.set_host(Some(&name)).map_err(|err| invalid(&err.to_string()))?;
    }
    match url.host() {
        None => return Err(invalid("it has no host")),
        Some(Host::Domain(name)) => {
            if name.is_empty() || name.len() > 253 {
                return Err(invalid("the host name is empty or longer than 253 characters"));
            }
            if name.split('.').any(|it| it.is_empty() || it.len() > 63) {
                return Err(invalid("a label of the host is empty or longer than 63 characters"));
            }
            // WHATWG lets `a;b` and `a,b` through; no public name has more than these.
            if !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')) {
                return Err(invalid("the host has a character that host names cannot have"));
            }
        }
        Some(_) => {}
    }
    // Escapes make it longer; what is allowed must be allowed when it is read again.
    if url.as_str().len() > MAX_LEN {
        return Err(invalid("it is longer than 32 KiB"));
    }
    let port = url.port_or_known_default().ok_or_else(|| invalid("it has no port"))?;
    Ok(SafeUrl { url, port })
}

/// Browsers read a backslash as a slash and other parsers do not. In query and fragment all agree. One that ends the
/// authority begins the path: nobody reads it another way, because only the parsed URL is ever sent. Anywhere else, or with
/// another slash behind it, it is there to look like a second authority.
fn has_odd_backslash(text: &str) -> bool {
    let text = text.split(['?', '#']).next().unwrap_or("");
    let (scheme, rest) = text.split_once("://").unwrap_or((text, ""));
    let path = rest.split_once(['/', '\\']).map_or("", |it| it.1);
    let authority = &rest[..rest.len() - path.len()];
    let nothing_between = authority == "\\" || path.starts_with('/');
    scheme.contains('\\') || path.contains('\\') || (authority.ends_with('\\') && nothing_between)
}

/// `http://@host/` parses to an empty user name, so the text is asked.
fn has_userinfo(after_scheme: &str) -> bool {
    after_scheme[3..].split(['/', '\\', '?', '#']).next().is_some_and(|it| it.contains('@'))
}

/// For messages: no query (it may hold secrets), no control characters, at most 80 characters.
pub(super) fn display_text(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or("");
    let text = match (text.find("://"), text.rfind('@')) {
        (Some(start), Some(at)) if at > start => {
            format!("{}{}", &text[..start + 3], &text[at + 1..])
        }
        _ => text.to_owned(),
    };
    text.chars().map(|it| if it.is_control() { '?' } else { it }).take(80).collect()
}
