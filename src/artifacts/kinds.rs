//! The kinds of artifact: file name, version, checked-in schema.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::digest::sha256;

macro_rules! kinds {
    ($($name:ident = $wire:literal, $file:literal, v $version:literal;)*) => {
        /// One kind per stage output.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum Kind { $(#[serde(rename = $wire)] $name,)* }

        impl Kind {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// As in an envelope's `artifact` and `inputs`.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$name => $wire,)* } }

            /// File name within the task's folder.
            pub const fn file(self) -> &'static str { match self { $(Self::$name => concat!($file, ".json"),)* } }

            /// Version of the payload's meaning.
            pub const fn version(self) -> u32 { match self { $(Self::$name => $version,)* } }

            /// The checked-in JSON Schema of the payload, byte for byte.
            pub const fn schema(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("schemas/", $file, ".json")),)* }
            }

            /// SHA-256 of that, lower-case hexadecimal.
            pub fn schema_hash(self) -> &'static str {
                static HASHES: LazyLock<Vec<String>> =
                    LazyLock::new(|| Kind::ALL.iter().map(|it| sha256(it.schema().as_bytes())).collect());
                // As `ALL` lists them.
                &HASHES[self as usize]
            }
        }
    };
}

kinds! {
    SessionRecording     = "session_recording",      "01_session_recording",      v 1;
    SecondRecording      = "second_recording",       "01b_session_recording",     v 1;
    CandidateSet         = "candidate_set",          "02_candidate_set",          v 1;
    CandidateSummary     = "candidate_summary",      "02a_candidate_summary",     v 1;
    ModelAnswer          = "model_answer",           "02b_model_answer",          v 1;
    RecipeAnalysis       = "recipe_analysis",        "03_recipe_analysis",        v 2;
    RecipeDraft          = "recipe_draft",           "04_recipe_draft",           v 1;
    BaselineFingerprint  = "baseline_fingerprint",   "05_baseline_fingerprint",   v 1;
    MinimizationReport   = "minimization_report",    "06_minimization_report",    v 1;
    RecipeDraftMinimized = "recipe_draft_minimized", "07_recipe_draft_minimized", v 1;
    VerificationReport   = "verification_report",    "08_verification_report",    v 1;
}

/// A type that one stage writes and others read.
pub trait Artifact: Serialize + DeserializeOwned + JsonSchema {
    const KIND: Kind;
}
