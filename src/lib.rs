//! Learns a web task from one watched browser session and serves it without a browser.
//!
//! ARCHITECTURE.md is the map; a floor imports only floors below it.

mod artifacts;
mod error;
mod har;
mod ids;
mod recipe;
mod redact;
mod settings;
mod shape;
mod transport;
