//! What a browser session lends to one call of our client: who it is, and its cookies.

use futures::future::BoxFuture;

use crate::egress::SafeUrl;
use commis_base::error::Result;

/// The session of one call. It is asked before each hop, and told of each hop's cookies, until a redirect leaves the origin:
/// from then on the call has no session, even when it comes back.
pub trait Session: Send + Sync {
    /// Headers that say who asks, for the first hop; lower-case names. What the request says itself is kept.
    fn identity_headers(&self, url: &SafeUrl) -> Vec<(&'static str, String)>;
    /// The `Cookie` header that the browser would send there, if any.
    fn cookies<'a>(&'a self, url: &'a SafeUrl) -> BoxFuture<'a, Result<Option<String>>>;
    /// Values of the `Set-Cookie` headers that came from there. Those that are not allowed are left out without a word.
    fn store_cookies<'a>(&'a self, url: &'a SafeUrl, set: Vec<String>)
    -> BoxFuture<'a, Result<()>>;
}
