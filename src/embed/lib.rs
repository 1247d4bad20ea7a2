//! The crate for other programs: recipes run, learned from HARs, redaction, and requests that stay out of private networks.
//!
//! What is here are thin coats over the floors below, with settings of their own, so that those may change as they like. Nothing
//! here reads the environment but for the keys that [`RunnerBuilder::key`] names, and nothing but a [`Registry`]
//! and a [`RunnerBuilder::state`] touches the disk.

mod client;
mod learn;
mod policy;
mod redaction;
mod runner;

pub use commis_export::{
    ExportFormat as ExportForm, ExportOutput, ExportedFile, RefusedRecipe as ExportRefused, export,
};

pub use self::{
    client::{ClientLimits, Request, Response, SafeClient},
    learn::{Candidate, HarTask, LearnResult, LearnStatus, learn_from_har},
    policy::{EgressPolicy, EgressPolicyBuilder},
    redaction::{RedactOptions, RedactReport, redact_har, redact_text},
    runner::{Answer, Limits, Runner, RunnerBuilder},
};
pub use commis_base::{
    error::{Class, Code, Error, Result},
    ids::RecipeName,
};
pub use commis_net::egress::{PinnedUrl, SafeUrl};
pub use commis_recipe::{
    model::{
        Auth, AuthKind, BodyTemplate, Completeness, Constraints, Demotion, DemotionReason,
        EmptyAnswer, Format, Framing, HtmlSpec, Pair, ParamSource, ParamType, Parameter, Recipe,
        RequestTemplate, ResponseSpec, ResponseType, Slot, SlotSource, Status, TransportKind,
        Verification,
    },
    registry::{Entry, RegisteredRecipe, Registry, Source},
    trust::Trust,
};
