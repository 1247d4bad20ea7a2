//! The daemon of a home as a command finds it and asks it, and what commands print.

pub mod browse;
pub mod client;
pub mod output;
pub mod programs;
pub mod state_file;
