//! What a name says of a value, where the value stands, and why it is a secret.

/// From the strongest claim to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyClass {
    /// Whatever stands there is a secret: `password`, `client_secret`.
    Always,
    /// A secret if it is one that people type from a message or a sheet: `backup_codes`, `otp_code`.
    Code,
    /// A secret if it could be one: `token`, `session`, `csrf`.
    Likely,
    /// A secret if it looks random: `bitbucket_key`, `code`, `state`.
    Perhaps,
    /// Says nothing; the value alone decides.
    Silent,
    /// Known to be harmless: `id`, `etag`, `cursor`, `sort_key`.
    Harmless,
}

/// Where a value stands; some names mean different things in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Header,
    Query,
    Form,
    Json,
    /// A leaf of an answer: data, unless its name or its format says otherwise.
    Answer,
}

/// Why a value was taken for a secret; the order is the order of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretReason {
    /// Typed into a password field.
    Password,
    Header,
    Cookie,
    Key,
    Format,
    /// The words around it say what it is.
    Context,
    /// Holds a secret in an encoded form.
    Container,
    Entropy,
}
