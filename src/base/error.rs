//! One error type for the whole crate.
//!
//! Callers branch on [`Code`]; people read the message and the hint. A message is a lower-case fragment that names the
//! thing and fits after "error: ". There is deliberately no `From<io::Error>`: the call site adds the path.

use std::{error, fmt};

/// Who can fix it. Decides the exit code and whether a batch goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The command line, a manifest, a recipe or settings are wrong: exit code 2, a batch stops.
    Usage,
    /// This task or request failed; others may work: exit code 1, a batch goes on.
    Task,
    /// The machine, disk, network or browser failed: exit code 3, a batch stops.
    Environment,
    /// We are wrong: exit code 70.
    Bug,
    /// The user pressed Ctrl-C: exit code 130.
    Interrupted,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $wire:literal, $class:ident, $retryable:literal;)*) => {
        /// A stable identifier for a kind of failure. Never renumber, never reuse; `tests/golden/codes.txt` lists all.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])+ $name,)* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The wire name: in `--json` output, reports and artifacts.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $wire,)* }
            }

            /// The code of that wire name.
            pub fn from_wire(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == name)
            }

            pub const fn class(self) -> Class {
                match self { $(Self::$name => Class::$class,)* }
            }

            /// What it means, for the reference.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+),)* }
            }

            /// Whether the same call may succeed later without anything being changed.
            pub const fn retryable(self) -> bool {
                match self { $(Self::$name => $retryable,)* }
            }
        }
    };
}

codes! {
    /// Bad flags, settings or arguments.
    Usage = "USAGE", Usage, false;
    /// The settings file does not parse, has an unknown setting, or a value is out of range.
    SettingsInvalid = "SETTINGS_INVALID", Usage, false;
    /// A manifest does not parse, or an entry breaks a rule; the message names the entry.
    ManifestInvalid = "MANIFEST_INVALID", Usage, false;
    /// A recipe does not parse, or breaks a rule of the language.
    RecipeInvalid = "RECIPE_INVALID", Usage, false;
    /// Neither the user nor the library has a recipe of that name.
    RecipeNotFound = "RECIPE_NOT_FOUND", Usage, false;
    /// The recipe is part of the library and cannot be changed.
    RecipeReadOnly = "RECIPE_READ_ONLY", Usage, false;
    /// You have a recipe of that name, which would be replaced.
    RecipeExists = "RECIPE_EXISTS", Usage, false;
    /// A draft was run without `--draft`, or the recipe is deprecated.
    RecipeNotVerified = "RECIPE_NOT_VERIFIED", Usage, false;
    /// A parameter is missing or unknown, or its value is not allowed.
    ParamInvalid = "PARAM_INVALID", Usage, false;
    /// A playbook does not parse, or breaks a rule of its format.
    PlaybookInvalid = "PLAYBOOK_INVALID", Usage, false;
    /// Neither the user nor the program has a playbook of that name.
    PlaybookNotFound = "PLAYBOOK_NOT_FOUND", Usage, false;
    /// A task, a value or an argument seems to hold a secret, which would be stored.
    SecretInTask = "SECRET_IN_TASK", Usage, false;
    /// The file is not a HAR, or has no web requests.
    HarInvalid = "HAR_INVALID", Task, false;
    /// There is no task of that id, or it belongs to another token.
    TaskNotFound = "TASK_NOT_FOUND", Usage, false;
    /// The file on disk was written by another version of the type.
    ArtifactSchemaMismatch = "ARTIFACT_SCHEMA_MISMATCH", Task, false;
    /// The file does not parse, or a hash in it is wrong.
    ArtifactCorrupt = "ARTIFACT_CORRUPT", Task, false;
    /// A stage needs the artifact of an earlier stage.
    ArtifactMissing = "ARTIFACT_MISSING", Task, false;
    /// The store cannot read or write: permissions, disk full, a link in the way.
    ArtifactIo = "ARTIFACT_IO", Environment, true;
    /// An artifact of the task is larger than the limit.
    ArtifactTooLarge = "ARTIFACT_TOO_LARGE", Task, false;
    /// The site has nothing for these values: it answered 404 or 410.
    NotFound = "NOT_FOUND", Task, false;
    /// The store lets two writers create the same object, so machines could not agree on a result.
    StoreUnsafe = "STORE_UNSAFE", Environment, false;
    /// Another process works on this task.
    TaskBusy = "TASK_BUSY", Task, true;
    /// The replay needs secrets that only an ended process had in memory.
    LiveValuesLost = "LIVE_VALUES_LOST", Task, false;
    /// It is not a valid http or https address.
    UrlInvalid = "URL_INVALID", Task, false;
    /// The egress policy forbids this URL.
    UrlBlocked = "URL_BLOCKED", Task, false;
    /// The name resolves to an address that is forbidden.
    DnsBlocked = "DNS_BLOCKED", Task, false;
    /// The name could not be resolved.
    DnsFailed = "DNS_FAILED", Task, true;
    /// A redirect leads to an address that the egress policy forbids.
    RedirectBlocked = "REDIRECT_BLOCKED", Task, false;
    /// More redirects than a call follows.
    TooManyRedirects = "TOO_MANY_REDIRECTS", Task, false;
    /// A request or a redirect goes to a host that the recipe does not list.
    DomainNotAllowed = "DOMAIN_NOT_ALLOWED", Task, false;
    /// A recipe uses a method other than GET or POST.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", Usage, false;
    /// `--no-network` was given, and this needs it.
    NetworkDisabled = "NETWORK_DISABLED", Task, false;
    /// The connection failed or was lost.
    ConnectFailed = "CONNECT_FAILED", Task, true;
    /// The host has no valid certificate, or no safe version of TLS.
    TlsFailed = "TLS_FAILED", Task, false;
    /// The time limit was exceeded.
    Timeout = "TIMEOUT", Task, true;
    /// The body is larger than the limit, compressed or decompressed.
    ResponseTooLarge = "RESPONSE_TOO_LARGE", Task, false;
    /// The headers of the answer are larger than the limit.
    HeadersTooLarge = "HEADERS_TOO_LARGE", Task, false;
    /// The site answered with an error status that has no code of its own.
    HttpStatus = "HTTP_STATUS", Task, false;
    /// Too many calls: 429 of the site, or a local limit; retry after `retry_after_sec`.
    RateLimited = "RATE_LIMITED", Task, true;
    /// 5xx.
    ServerError = "SERVER_ERROR", Task, true;
    /// 401 or 403.
    AuthRequired = "AUTH_REQUIRED", Task, false;
    /// A recipe names a variable that may not be sent to its host.
    AuthNotAllowed = "AUTH_NOT_ALLOWED", Usage, false;
    /// The variable that a recipe names is not set.
    AuthEnvMissing = "AUTH_ENV_MISSING", Usage, false;
    /// The value of the variable cannot be sent.
    AuthEnvInvalid = "AUTH_ENV_INVALID", Usage, false;
    /// The data, a selector or an expression takes more work than the limit.
    WorkLimit = "WORK_LIMIT", Task, false;
    /// Too many computations are running.
    Overloaded = "OVERLOADED", Task, true;
    /// The answer does not parse as its type.
    ParseError = "PARSE_ERROR", Task, false;
    /// The extraction path or selectors matched nothing.
    ExtractEmpty = "EXTRACT_EMPTY", Task, false;
    /// The answer no longer has the shape that was verified.
    ShapeDrift = "SHAPE_DRIFT", Task, false;
    /// A proof needs a second example, and there is only one.
    NeedsSecondExampleForVerify = "NEEDS_SECOND_EXAMPLE_FOR_VERIFY", Task, false;
    /// No Chromium was found.
    BrowserMissing = "BROWSER_MISSING", Environment, false;
    /// Chromium does not start, does not answer, or has ended.
    BrowserFailed = "BROWSER_FAILED", Environment, true;
    /// There is no desktop to open a window on, or it refuses access.
    DisplayMissing = "DISPLAY_MISSING", Environment, false;
    /// The page did not do what a scripted step expects.
    StepFailed = "STEP_FAILED", Task, true;
    /// The element of a ref is gone, or has changed.
    RefStale = "REF_STALE", Usage, false;
    /// A person is using the page; actions fail until it is given back.
    PageHandedOff = "PAGE_HANDED_OFF", Task, true;
    /// No held request has that id, or it belongs to another token.
    ApprovalNotFound = "APPROVAL_NOT_FOUND", Usage, false;
    /// The held request is no longer valid: it changed, or its page or run ended.
    ApprovalStale = "APPROVAL_STALE", Task, false;
    /// Nobody approved or rejected the request in time.
    ApprovalExpired = "APPROVAL_EXPIRED", Task, false;
    /// The request was decided or sent before.
    ApprovalSettled = "APPROVAL_SETTLED", Task, false;
    /// A value that was read on one site would be sent to another.
    ValueFromElsewhere = "VALUE_FROM_ELSEWHERE", Task, false;
    /// The page tried to save a file, which is not allowed.
    DownloadBlocked = "DOWNLOAD_BLOCKED", Task, false;
    /// The recipe needs a browser session, and none can be opened.
    SessionRequired = "SESSION_REQUIRED", Task, false;
    /// The model could not be reached, or its answer could not be read.
    ModelFailed = "MODEL_FAILED", Task, true;
    /// A model is configured, and the variable for its key is empty.
    ModelKeyMissing = "MODEL_KEY_MISSING", Usage, false;
    /// The MCP server that drives a browser cannot be started, or its connection is lost.
    McpFailed = "MCP_FAILED", Environment, true;
    /// The daemon cannot be started, or does not answer.
    DaemonFailed = "DAEMON_FAILED", Environment, true;
    /// A token is missing or wrong.
    Unauthorized = "UNAUTHORIZED", Usage, false;
    /// The token does not allow the operation, or the request came from a refused place.
    Forbidden = "FORBIDDEN", Usage, false;
    /// No operation of the daemon has that address.
    NoSuchAddress = "NO_SUCH_ADDRESS", Usage, false;
    /// The body of a request to the daemon is larger than the limit.
    BodyTooLarge = "BODY_TOO_LARGE", Usage, false;
    /// The queue is full.
    QueueFull = "QUEUE_FULL", Task, true;
    /// The task has no result yet.
    TaskNotDone = "TASK_NOT_DONE", Task, true;
    /// An idempotency key was used again with another input.
    KeyReused = "KEY_REUSED", Usage, false;
    /// Somebody cancelled the task.
    Cancelled = "CANCELLED", Task, false;
    /// The daemon is ending.
    Stopping = "STOPPING", Task, true;
    /// The recipe needs a login, and none was given.
    LoginRequired = "LOGIN_REQUIRED", Task, false;
    /// A page of a list repeats earlier items.
    PageRepeated = "PAGE_REPEATED", Task, true;
    /// There is no watch of that name.
    WatchNotFound = "WATCH_NOT_FOUND", Usage, false;
    /// There is a watch of that name already.
    WatchExists = "WATCH_EXISTS", Usage, false;
    /// The limit of `watch.most` watches is reached.
    WatchLimit = "WATCH_LIMIT", Usage, false;
    /// Ctrl-C, or the signal to end.
    Interrupted = "INTERRUPTED", Interrupted, true;
    /// A bug in commis.
    Internal = "INTERNAL", Bug, false;
    /// The recipe was not proven here and may change something; a person must confirm it.
    RecipeMayChange = "RECIPE_MAY_CHANGE", Usage, false;
    /// A recipe with a login reaches another site than that of the login.
    LoginNotAllowed = "LOGIN_NOT_ALLOWED", Usage, false;
    /// A store is used without the key of the fleet.
    StoreKeyMissing = "STORE_KEY_MISSING", Usage, false;
    /// An object of the store was not written by a machine with the key of the fleet.
    StoreUntrusted = "STORE_UNTRUSTED", Task, false;
    /// The login has expired: a request with it gets what a stranger gets.
    LoginExpired = "LOGIN_EXPIRED", Task, false;
    /// Several items of an earlier answer match; the message lists them.
    ChoiceAmbiguous = "CHOICE_AMBIGUOUS", Task, false;
}

impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Class {
    /// The process exit code (1 is also "done, and the answer is no").
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Task => 1,
            Self::Usage => 2,
            Self::Environment => 3,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }
}

/// What went wrong, for a program ([`Error::code`]) and for a person (message, hint).
pub struct Error(Box<Inner>);

struct Inner {
    code: Code,
    message: String,
    hint: Option<String>,
    /// The same call would fail again.
    lasting: bool,
    source: Option<Box<dyn error::Error + Send + Sync>>,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            message: message.into(),
            hint: None,
            lasting: false,
            source: None,
        }))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The hint, where it has none.
    #[must_use]
    pub fn or_hint(self, hint: &str) -> Self {
        if self.0.hint.is_some() { self } else { self.hint(hint) }
    }

    /// The same with what it is about before its message: `step "list": …`.
    #[must_use]
    pub fn context(mut self, what: &str) -> Self {
        self.0.message = format!("{what}: {}", self.0.message);
        self
    }

    #[must_use]
    pub fn source(mut self, err: impl Into<Box<dyn error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(err.into());
        self
    }

    /// Or not: a failure that its code calls passing, of which more is known.
    #[must_use]
    pub fn lasting(mut self, lasting: bool) -> Self {
        self.0.lasting = lasting;
        self
    }

    /// Whether the same call may succeed later without anything being changed.
    pub fn retryable(&self) -> bool {
        self.0.code.retryable() && !self.0.lasting
    }

    pub fn code(&self) -> Code {
        self.0.code
    }

    pub fn message(&self) -> &str {
        &self.0.message
    }

    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

/// The message, then the chain of causes, each after ": ".
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        let mut cause = error::Error::source(self);
        while let Some(it) = cause {
            write!(f, ": {it}")?;
            cause = it.source();
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.0.code)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.0.source.as_deref().map(|it| it as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_names_are_unique_and_upper_case() {
        let mut names: Vec<&str> = Code::ALL.iter().map(|it| it.as_str()).collect();
        assert!(names.iter().all(|it| it.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')));
        names.sort_unstable();
        let n = names.len();
        names.dedup();
        assert_eq!(n, names.len());
    }

    #[test]
    fn display_shows_causes() {
        let err =
            Error::new(Code::ArtifactIo, "read x").source(std::io::Error::other("disk on fire"));
        assert_eq!(err.to_string(), "read x: disk on fire");
    }
}
