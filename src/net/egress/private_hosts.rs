//! Hosts of one's own: a name and port that the settings file gives an address inside, and who may go there.
//!
//! Such a host is not allowed in general: to every page, recipe and redirect it is as blocked as any name inside. Only what
//! goes on *at* it may reach it, which is a policy of its own ([`EgressPolicy::for_own_host`]): a page that the user had opened
//! there, and a recipe that was learned there. One policy is at one such host at most.

use std::{collections::BTreeMap, net::IpAddr, path::Path};

use super::{EgressPolicy, SafeUrl, address, blocked_error, is_under_test, names, url};
use commis_base::{
    error::{Code, Error, Result},
    settings::EgressSettings,
};

/// By canonical `host:port`.
pub type OwnHosts = BTreeMap<String, IpAddr>;

const HINT: &str = "a line below [egress.own] is \"NAME:PORT\" = \"ADDRESS\", such as \"wiki.lan:443\" = \"192.168.1.5\"";

/// The lines of the settings, checked. Fails with `SETTINGS_INVALID`.
pub fn parse_own_hosts(settings: &EgressSettings) -> Result<OwnHosts> {
    let checked = |(place, address): (&String, &String)| {
        parse_own_host(place, address).map_err(|why| {
            let message = format!(
                "egress.own: `{}` = `{}`: {why}",
                url::display_text(place),
                url::display_text(address)
            );
            Error::new(Code::SettingsInvalid, message).hint(HINT)
        })
    };
    settings.own.iter().map(checked).collect()
}

/// One line; what is wrong with it, in words.
fn parse_own_host(place: &str, address: &str) -> Result<(String, IpAddr), String> {
    let host = url::parse(&format!("http://{place}/")).map_err(|err| err.message().to_owned())?;
    if own_host_key(&host) != place {
        return Err(format!("the name is written `{}`", own_host_key(&host)));
    }
    if names::is_metadata(host.host()) {
        return Err("the metadata service of a cloud cannot be opened".to_owned());
    }
    if is_under_test(host.host()) {
        return Err("a host under .test is pinned with --test-host".to_owned());
    }
    if names::is_bad_port(host.port()) {
        return Err(format!("port {} belongs to another protocol", host.port()));
    }
    let address: IpAddr =
        address.parse().map_err(|_| "the address is not an IPv4 or IPv6 address".to_owned())?;
    if let Some(why) = address::own_host_refusal(address) {
        return Err(why);
    }
    if host.literal().is_some_and(|it| it != address) {
        return Err("the name is an address itself, and another one".to_owned());
    }
    if names::is_localhost(host.host()) && !address.is_loopback() {
        return Err("localhost is this machine (RFC 6761)".to_owned());
    }
    Ok((place.to_owned(), address))
}

/// `host:port`, as a line names it.
pub(super) fn own_host_key(url: &SafeUrl) -> String {
    format!("{}:{}", url.host(), url.port())
}

/// Whether the text names host and port as the line does, but for the case of letters: neither a final dot, nor another
/// spelling of an address, nor escapes.
fn is_spelled_out(text: &str, url: &SafeUrl) -> bool {
    let rest = text.split_once("://").map_or("", |it| it.1);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or("").to_ascii_lowercase();
    authority == url.host() && url.url().port().is_none() || authority == own_host_key(url)
}

impl EgressPolicy {
    /// The same policy for what goes on at that host of one's own, named `host:port`; with `None` at no such host, which is what
    /// every policy begins as. It opens nothing that the settings do not name.
    #[must_use]
    pub fn for_own_host(&self, own: Option<&str>) -> Self {
        Self { inner: self.inner.clone(), at: own.map(Into::into) }
    }

    /// The host of one's own that this policy is at.
    pub fn current_own_host(&self) -> Option<&str> {
        self.at.as_deref()
    }

    /// The `host:port` of the URL where the settings name it. For URLs that are the user's own word alone.
    pub fn find_own_host(&self, text: &str) -> Option<String> {
        let url = url::parse(text).ok()?;
        let key = own_host_key(&url);
        (self.inner.own.contains_key(&key) && is_spelled_out(text, &url)).then_some(key)
    }

    /// Whether the URL is of the host of one's own that this policy is at.
    pub fn is_at_own_host(&self, url: &SafeUrl) -> bool {
        self.at.as_deref() == Some(&*own_host_key(url))
    }

    /// What is to be said of the URL where it is of a host of one's own, `None` for all others.
    pub(super) fn check_own_url(&self, text: &str, url: &SafeUrl) -> Option<Result<()>> {
        let key = own_host_key(url);
        let at = self.at.as_deref() == Some(&*key);
        Some(match (self.inner.own.contains_key(&key), at) {
            (false, false) => return None,
            (false, true) => Err(self.with_own_host_hint(
                blocked_error(url, &format!("the settings do not name `{key}` as a host of your own")),
                url,
                None,
            )),
            (true, false) => Err(blocked_error(url, &format!("only pages and recipes of `{key}` itself may reach that host of your own"))
                .hint(format!("learn from the page of that host, by steps or by hand; such a recipe has `own_host: {key}`"))),
            (true, true) if !is_spelled_out(text, url) => {
                Err(blocked_error(url, &format!("a host of your own is written as in its line, `{key}`")))
            }
            (true, true) => Ok(()),
        })
    }

    /// Where the URL leads when it is of a host of one's own. Fails with `URL_BLOCKED` for a policy that is not there.
    pub(super) fn find_own_address(&self, url: &SafeUrl) -> Result<Option<IpAddr>> {
        let Some(address) = self.inner.own.get(&own_host_key(url)) else { return Ok(None) };
        if self.is_at_own_host(url) {
            return Ok(Some(*address));
        }
        Err(blocked_error(url, "a host of your own, which is reached from itself alone"))
    }

    /// Adds to a refusal how a user names the host as their own, where it can be: `address` is where it leads, if that is known.
    pub(super) fn with_own_host_hint(
        &self,
        err: Error,
        url: &SafeUrl,
        address: Option<IpAddr>,
    ) -> Error {
        let key = own_host_key(url);
        let loopback = names::is_localhost(url.host()).then_some(IpAddr::from([127, 0, 0, 1]));
        let known = url.literal().or(loopback).or(address);
        // For a name, any address will do to see whether it could be.
        let tried = known.unwrap_or(IpAddr::from([10, 0, 0, 1])).to_string();
        if parse_own_host(&key, &tried).is_err() {
            return err;
        }
        let address = known.map_or("ADDRESS".to_owned(), |it| it.to_string());
        // The command knows what is known here.
        let said = known.filter(|_| url.literal().is_some() || loopback.is_some());
        let given = if said.is_some() { String::new() } else { format!(" {address}") };
        let file = self.inner.file.as_deref().map(Path::display);
        let file = file.map_or("the settings file".to_owned(), |it| it.to_string());
        if let Some(why) = &self.inner.own_refused {
            return err
                .hint(format!("{file} names hosts of your own, but commis ignores them: {why}"));
        }
        err.hint(format!(
            "if this host is yours, `commis settings own add {key}{given}` opens it to its own pages and recipes; \
             it writes the line \"{key}\" = \"{address}\" below [egress.own] in {file}"
        ))
    }
}

#[cfg(test)]
#[path = "private_hosts_tests.rs"]
mod tests;
