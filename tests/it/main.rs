//! The one integration binary: the real program, run as a user runs it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests fail by panicking and say what they skip"
)]

mod batch;
mod bench;
mod blocked;
mod browse;
mod canaries;
mod canaries_login;
mod chains;
mod channels;
mod choose;
mod cli;
mod daemon;
mod dashboard;
mod debug;
mod doing;
mod doing_criteria;
mod doing_runs;
mod durable;
mod embedded;
mod eval;
mod exports;
mod failing;
mod forms;
mod har;
mod har_openapi;
mod hardening;
mod heal;
mod health;
mod hostile;
mod keys;
mod learn;
mod library;
mod linked;
mod lures;
mod malformed;
mod manual;
mod map;
mod mcp_install;
mod mcp_wire;
mod model;
mod outputs;
mod own;
mod pages;
mod polite;
mod quickstart;
mod redact;
mod research;
mod scripted;
mod secrets;
mod session;
mod session_depth;
mod stages;
mod steps;
mod stopping;
mod strangers;
mod support;
mod threats;
mod tidy;
mod tls;
mod two_programs;
mod vault;
mod watch;
mod watches;
