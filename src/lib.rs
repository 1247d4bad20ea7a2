//! Learns a web task from one watched browser session and serves it without a browser.
//!
//! A *recipe* says which request carries the data of a task, how its parameters go into it and how the data comes out of the
//! answer; it is learned from a HAR, or from a browser by the `commis` program, and proven on a second input before it counts.
//!
//! ```no_run
//! # async fn example() -> commis::Result<()> {
//! let recipe = commis::Recipe::from_yaml("…")?;
//! let runner = commis::Runner::builder().build()?;
//! let answer = runner.run(&recipe, [("query", "lamp")]).await?;
//! println!("{}", answer.data);
//! # Ok(())
//! # }
//! ```
//!
//! | to | there is |
//! |---|---|
//! | run recipes | [`Runner`], [`Recipe`], [`Registry`] |
//! | learn one from a HAR | [`learn_from_har`] |
//! | give them to those who have no commis | [`export()`] |
//! | make a HAR fit to be shared | [`redact_har`] |
//! | send requests that cannot reach a private network | [`SafeClient`], [`EgressPolicy`] |
//!
//! Everything async wants a tokio runtime with time and I/O. The features `cli`, `browser`, `model` and `testbed`, on by default,
//! are the program's; a library wants none of them: `commis = { version = "…", default-features = false }`. Linux and macOS;
//! the library without features also compiles for Windows, untested.
//!
//! ARCHITECTURE.md is the map; a floor imports only floors below it.

#![cfg_attr(
    not(feature = "cli"),
    allow(
        dead_code,
        unused_imports,
        unfulfilled_lint_expectations,
        reason = "what the program alone uses stays beside what both use"
    )
)]

#[cfg(feature = "cli")]
mod agent;
mod artifacts;
#[cfg(feature = "cli")]
mod batch;
#[cfg(feature = "cli")]
mod bench;
mod blocks;
#[cfg(feature = "browser")]
mod browser;
#[cfg(feature = "cli")]
mod cli;
mod egress;
mod embed;
#[cfg(feature = "cli")]
mod endpoints;
mod error;
#[cfg(feature = "cli")]
mod eval;
mod export;
#[cfg(unix)]
mod files;
#[cfg(not(unix))]
#[path = "files/portable.rs"]
mod files;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod har;
mod ids;
#[cfg(feature = "model")]
mod model;
#[cfg(feature = "browser")]
mod page;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod parts;
mod pipeline;
#[cfg(feature = "cli")]
mod processes;
mod recipe;
mod redact;
mod runner;
#[cfg(feature = "cli")]
mod serve;
#[cfg(feature = "browser")]
mod sessions;
mod settings;
mod shape;
mod stages;
#[cfg(feature = "browser")]
mod state;
#[cfg(feature = "testbed")]
mod testbed;
mod transport;
#[cfg(feature = "browser")]
mod vault;

#[cfg(feature = "cli")]
pub use artifacts::shelf::{Key, Object, Shelf};
#[cfg(feature = "cli")]
pub use batch::afar::{Ended, Engine, Enlisted, Handed, Heard};
#[cfg(feature = "cli")]
pub use cli::{Built, Engines, Global, Opener, Station, StationArgs, main, main_with};
#[cfg(feature = "cli")]
pub use egress::leave::{Hold, clock};
pub use egress::{Pinned, SafeUrl};
pub use embed::*;
pub use error::{Class, Code, Error, Result};
pub use ids::RecipeName;
pub use recipe::{
    model::{
        Auth, AuthKind, BodyTemplate, Complete, Constraints, Demotion, DemotionReason, EmptyAnswer,
        Format, Framing, HtmlSpec, Pair, ParamSource, ParamType, Parameter, Recipe,
        RequestTemplate, ResponseSpec, ResponseType, Slot, SlotSource, Status, TransportKind,
        Verification,
    },
    registry::{Entry, Held, Registry, Source},
};
