//! The daemon as a command asks it, and the small program in front of the whole one.
//!
//! To begin the whole program takes longer than most commands of `commis browse` take the daemon. So `commis` is a small program
//! that knows those alone. It begins `commis-core` for everything else.

pub mod browse;
pub mod client;
mod front;
pub mod output;
pub mod programs;
pub mod state_file;

pub use front::main;
