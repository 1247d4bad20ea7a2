//! Learns a web task from one watched browser session and serves it without a browser.
//!
//! ARCHITECTURE.md is the map; a floor imports only floors below it.

mod agent;
mod artifacts;
mod batch;
mod bench;
mod blocks;
mod browser;
mod cli;
mod egress;
mod error;
mod eval;
mod files;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod har;
mod ids;
mod model;
mod page;
#[doc(hidden)]
pub mod parts;
mod pipeline;
mod recipe;
mod redact;
mod runner;
mod serve;
mod sessions;
mod settings;
mod shape;
mod stages;
mod state;
mod testbed;
mod transport;
mod vault;

pub use cli::main;
