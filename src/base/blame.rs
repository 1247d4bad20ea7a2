//! Whose fault a failure is.

use serde::Serialize;

use crate::error::Code;

/// Whose fault a failed run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The site no longer answers as the recipe expects.
    Recipe,
    /// The site has trouble that may pass.
    Site,
    Network,
    /// The egress policy refused. A network that leads astray looks like that, too.
    Policy,
    /// The site's limits or ours.
    Limits,
    /// Values, settings, keys, or a recipe changed by hand.
    User,
    /// This machine: its disk, its browser, the program.
    Machine,
}

/// Whose fault it is that a run ended in that. `keyed`: the recipe sends a key or a login, which the user has to provide.
pub const fn blame(code: Code, keyed: bool) -> Blame {
    match code {
        // A key that is not accepted.
        Code::AuthRequired if keyed => Blame::User,
        Code::AuthRequired
        | Code::HttpStatus
        // Or the caller's; the recipe's own example says which.
        | Code::NotFound
        | Code::ParseError
        | Code::ExtractEmpty
        | Code::ShapeDrift
        | Code::TooManyRedirects
        | Code::ResponseTooLarge
        | Code::WorkLimit
        | Code::HeadersTooLarge
        // The page no longer holds what the request needs.
        | Code::SessionRequired => Blame::Recipe,
        Code::ServerError | Code::StepFailed | Code::DownloadBlocked | Code::PageRepeated => {
            Blame::Site
        },
        Code::DnsFailed
        | Code::ConnectFailed
        | Code::TlsFailed
        | Code::Timeout
        | Code::NetworkDisabled => Blame::Network,
        Code::UrlBlocked | Code::DnsBlocked | Code::RedirectBlocked | Code::DomainNotAllowed => {
            Blame::Policy
        }
        Code::RateLimited | Code::QueueFull | Code::Overloaded => Blame::Limits,
        Code::Usage
        | Code::SettingsInvalid
        | Code::ManifestInvalid
        | Code::RecipeInvalid
        | Code::RecipeNotFound
        | Code::RecipeReadOnly
        | Code::RecipeExists
        | Code::RecipeNotVerified
        | Code::RecipeMayChange
        | Code::LoginNotAllowed
        | Code::LoginExpired
        | Code::StoreKeyMissing
        | Code::ParamInvalid
        | Code::ChoiceAmbiguous
        | Code::PlaybookInvalid
        | Code::PlaybookNotFound
        | Code::SecretInTask
        | Code::HarInvalid
        | Code::ArtifactTooLarge
        | Code::TaskNotFound
        | Code::UrlInvalid
        | Code::MethodNotAllowed
        | Code::AuthNotAllowed
        | Code::AuthEnvMissing
        | Code::AuthEnvInvalid
        | Code::NeedsSecondExampleForVerify
        | Code::ModelKeyMissing
        | Code::Unauthorized
        | Code::Forbidden
        | Code::NoSuchAddress
        | Code::BodyTooLarge
        | Code::TaskNotDone
        | Code::KeyReused
        | Code::RefStale
        | Code::PageHandedOff
        | Code::ApprovalNotFound
        | Code::ApprovalStale
        | Code::ApprovalExpired
        | Code::ApprovalSettled
        | Code::ValueFromElsewhere
        | Code::LoginRequired
        | Code::WatchNotFound
        | Code::WatchExists
        | Code::WatchLimit
        | Code::Cancelled
        | Code::Interrupted => Blame::User,
        Code::DaemonFailed
        | Code::McpFailed
        | Code::Stopping
        | Code::ArtifactSchemaMismatch
        | Code::ArtifactCorrupt
        | Code::ArtifactMissing
        | Code::ArtifactIo
        | Code::StoreUnsafe
        | Code::StoreUntrusted
        | Code::TaskBusy
        | Code::LiveValuesLost
        | Code::BrowserMissing
        | Code::DisplayMissing
        | Code::BrowserFailed
        | Code::ModelFailed
        | Code::Internal => Blame::Machine,
    }
}
