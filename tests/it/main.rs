//! The one integration binary: the real program, run as a user runs it.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod blocked;
mod cli;
mod har;
mod quickstart;
mod support;
mod tidy;
