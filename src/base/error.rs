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
            pub const fn told(self) -> &'static str {
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
    /// The settings file does not parse, names a setting that is not offered, or a value is out of its range.
    SettingsInvalid = "SETTINGS_INVALID", Usage, false;
    /// A manifest does not parse, or an entry of it breaks a rule; the message names the entry.
    ManifestInvalid = "MANIFEST_INVALID", Usage, false;
    /// A recipe does not parse, or breaks a rule of the language.
    RecipeInvalid = "RECIPE_INVALID", Usage, false;
    /// Neither the user nor the library has a recipe of that name.
    RecipeNotFound = "RECIPE_NOT_FOUND", Usage, false;
    /// A recipe of the library, which is part of the program.
    RecipeReadOnly = "RECIPE_READ_ONLY", Usage, false;
    /// A user's recipe of that name would be lost.
    RecipeExists = "RECIPE_EXISTS", Usage, false;
    /// A draft was run without `--draft`, or the recipe is deprecated.
    RecipeNotVerified = "RECIPE_NOT_VERIFIED", Usage, false;
    /// A parameter is missing, unknown, or its value is not allowed.
    ParamInvalid = "PARAM_INVALID", Usage, false;
    /// A playbook does not parse, or breaks a rule of its format.
    PlaybookInvalid = "PLAYBOOK_INVALID", Usage, false;
    /// Neither the user nor the program has a playbook of that name.
    PlaybookNotFound = "PLAYBOOK_NOT_FOUND", Usage, false;
    /// What seems to be a secret stands in a task, a value or an argument, where it would be written down.
    SecretInTask = "SECRET_IN_TASK", Usage, false;
    /// The file is no HAR, or holds nothing of the web.
    HarInvalid = "HAR_INVALID", Task, false;
    /// No task of that id, or none of theirs.
    TaskNotFound = "TASK_NOT_FOUND", Usage, false;
    /// The file on disk was written by another version of the type.
    ArtifactSchemaMismatch = "ARTIFACT_SCHEMA_MISMATCH", Task, false;
    /// The file does not parse, or a hash in it does not hold.
    ArtifactCorrupt = "ARTIFACT_CORRUPT", Task, false;
    /// A stage needs what an earlier one should have left.
    ArtifactMissing = "ARTIFACT_MISSING", Task, false;
    /// The store cannot read or write: permissions, disk full, a link in the way.
    ArtifactIo = "ARTIFACT_IO", Environment, true;
    /// An artifact of the task would be larger than a file of the store may be.
    ArtifactTooLarge = "ARTIFACT_TOO_LARGE", Task, false;
    /// The site has nothing for these values: it answered 404 or 410.
    NotFound = "NOT_FOUND", Task, false;
    /// The store lets one object take the place of another, so two machines could not agree on what was done.
    StoreUnsafe = "STORE_UNSAFE", Environment, false;
    /// Another process works on this task.
    TaskBusy = "TASK_BUSY", Task, true;
    /// Replaying needs secrets that lived in the memory of a process that has ended.
    LiveValuesLost = "LIVE_VALUES_LOST", Task, false;
    /// It is no http or https address, or holds what no address may.
    UrlInvalid = "URL_INVALID", Task, false;
    /// The egress policy forbids this URL.
    UrlBlocked = "URL_BLOCKED", Task, false;
    /// The name resolves to an address that is forbidden.
    DnsBlocked = "DNS_BLOCKED", Task, false;
    /// The name could not be resolved.
    DnsFailed = "DNS_FAILED", Task, true;
    /// A redirect leads where the egress policy forbids.
    RedirectBlocked = "REDIRECT_BLOCKED", Task, false;
    /// More redirects than a call follows.
    TooManyRedirects = "TOO_MANY_REDIRECTS", Task, false;
    /// A request or a redirect would leave the hosts that the recipe lists.
    DomainNotAllowed = "DOMAIN_NOT_ALLOWED", Task, false;
    /// A recipe asks with something else than GET or POST.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", Usage, false;
    /// `--no-network` was given, and this needs it.
    NetworkDisabled = "NETWORK_DISABLED", Task, false;
    /// No connection came about, or it broke.
    ConnectFailed = "CONNECT_FAILED", Task, true;
    /// Whoever answers cannot show who they are, or speaks no TLS that is safe.
    TlsFailed = "TLS_FAILED", Task, false;
    /// It took longer than it may.
    Timeout = "TIMEOUT", Task, true;
    /// The body is larger than may be, packed or unpacked.
    ResponseTooLarge = "RESPONSE_TOO_LARGE", Task, false;
    /// The answer's headers are larger than may be.
    HeadersTooLarge = "HEADERS_TOO_LARGE", Task, false;
    /// A status that is neither success nor one of those with a code of its own.
    HttpStatus = "HTTP_STATUS", Task, false;
    /// Too many calls: 429 of the site, or our own limits; `retry_after_sec` says when.
    RateLimited = "RATE_LIMITED", Task, true;
    /// 5xx.
    ServerError = "SERVER_ERROR", Task, true;
    /// 401 or 403.
    AuthRequired = "AUTH_REQUIRED", Task, false;
    /// A recipe names a variable that may not be sent to its host.
    AuthNotAllowed = "AUTH_NOT_ALLOWED", Usage, false;
    /// The variable that a recipe names is not set.
    AuthEnvMissing = "AUTH_ENV_MISSING", Usage, false;
    /// The variable holds something that cannot be sent.
    AuthEnvInvalid = "AUTH_ENV_INVALID", Usage, false;
    /// Reading it takes more work than may be: bytes, a selector or an expression are built to take long.
    WorkLimit = "WORK_LIMIT", Task, false;
    /// So much is computed already that nothing more is begun.
    Overloaded = "OVERLOADED", Task, true;
    /// The answer is not what its type says.
    ParseError = "PARSE_ERROR", Task, false;
    /// The extraction path or selectors matched nothing.
    ExtractEmpty = "EXTRACT_EMPTY", Task, false;
    /// The answer no longer has the shape that was verified.
    ShapeDrift = "SHAPE_DRIFT", Task, false;
    /// Proof needs a second example, and the recipe or task has one alone.
    NeedsSecondExampleForVerify = "NEEDS_SECOND_EXAMPLE_FOR_VERIFY", Task, false;
    /// No Chromium was found.
    BrowserMissing = "BROWSER_MISSING", Environment, false;
    /// Chromium does not start, does not answer, or has ended.
    BrowserFailed = "BROWSER_FAILED", Environment, true;
    /// There is no desktop to open a window on, or it lets nobody in.
    DisplayMissing = "DISPLAY_MISSING", Environment, false;
    /// The page did not do what a scripted step expects.
    StepFailed = "STEP_FAILED", Task, true;
    /// What a ref stood for is no longer there, or is something else now.
    RefStale = "REF_STALE", Usage, false;
    /// A person has the page; what acts on it waits until it is given back.
    PageHandedOff = "PAGE_HANDED_OFF", Task, true;
    /// No request of that number waits, or none of theirs.
    ApprovalNotFound = "APPROVAL_NOT_FOUND", Usage, false;
    /// What was shown to a person is no longer what would be sent.
    ApprovalStale = "APPROVAL_STALE", Task, false;
    /// Nobody decided in time.
    ApprovalExpired = "APPROVAL_EXPIRED", Task, false;
    /// Somebody has decided, or it was sent.
    ApprovalSettled = "APPROVAL_SETTLED", Task, false;
    /// What was read on one site would leave to another.
    ValueFromElsewhere = "VALUE_FROM_ELSEWHERE", Task, false;
    /// The page offered a file, and nothing that a site sends becomes one.
    DownloadBlocked = "DOWNLOAD_BLOCKED", Task, false;
    /// The recipe needs a browser session and none can be opened.
    SessionRequired = "SESSION_REQUIRED", Task, false;
    /// The model could not be reached, or what came back was no answer of its wire format.
    ModelFailed = "MODEL_FAILED", Task, true;
    /// A model is configured and the variable that should hold its key is empty.
    ModelKeyMissing = "MODEL_KEY_MISSING", Usage, false;
    /// The MCP server that drives a browser cannot be started, or its connection is lost.
    McpFailed = "MCP_FAILED", Environment, true;
    /// The daemon cannot be started, or does not answer.
    DaemonFailed = "DAEMON_FAILED", Environment, true;
    /// A token is missing or wrong.
    Unauthorized = "UNAUTHORIZED", Usage, false;
    /// Who asks may not do that, or asks from a place that nobody may ask from.
    Forbidden = "FORBIDDEN", Usage, false;
    /// The daemon has nothing at that address.
    NoSuchAddress = "NO_SUCH_ADDRESS", Usage, false;
    /// The body of a request to the daemon is larger than may be.
    BodyTooLarge = "BODY_TOO_LARGE", Usage, false;
    /// As many tasks wait as may.
    QueueFull = "QUEUE_FULL", Task, true;
    /// The result of a task that has not ended was asked for.
    TaskNotDone = "TASK_NOT_DONE", Task, true;
    /// A key that stands for another input was used again.
    KeyReused = "KEY_REUSED", Usage, false;
    /// Somebody cancelled the task.
    Cancelled = "CANCELLED", Task, false;
    /// The daemon is ending.
    Stopping = "STOPPING", Task, true;
    /// The recipe answers whoever is logged in, and no login was given.
    LoginRequired = "LOGIN_REQUIRED", Task, false;
    /// A list goes round in circles: a page holds what came before.
    PageRepeated = "PAGE_REPEATED", Task, true;
    /// There is no watch of that name.
    WatchNotFound = "WATCH_NOT_FOUND", Usage, false;
    /// There is a watch of that name already.
    WatchExists = "WATCH_EXISTS", Usage, false;
    /// As many watches as `watch.most` allows exist already.
    WatchLimit = "WATCH_LIMIT", Usage, false;
    /// Ctrl-C, or the signal to end.
    Interrupted = "INTERRUPTED", Interrupted, true;
    /// A bug in commis.
    Internal = "INTERNAL", Bug, false;
    /// Nobody here has proven the recipe, and its request may change something: a person is asked first.
    RecipeMayChange = "RECIPE_MAY_CHANGE", Usage, false;
    /// With a login, a recipe reaches another site than the login's.
    LoginNotAllowed = "LOGIN_NOT_ALLOWED", Usage, false;
    /// A store that others can write is used without the key of the fleet.
    StoreKeyMissing = "STORE_KEY_MISSING", Usage, false;
    /// What lies in the store was not put there by a machine that has the key of the fleet.
    StoreUntrusted = "STORE_UNTRUSTED", Task, false;
    /// The site no longer takes the login: a request with it gets what a stranger gets.
    LoginExpired = "LOGIN_EXPIRED", Task, false;
    /// What one request of several was answered holds more than one thing that could be meant; the message lists them.
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
