//! The one integration binary: the real program, run as a user runs it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests fail by panicking and say what they skip"
)]

mod bench;
mod blocked;
mod choose;
mod cli;
mod eval;
mod har;
mod learn;
mod library;
mod model;
mod quickstart;
mod support;
mod tidy;
