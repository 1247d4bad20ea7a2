//! The daemon: one process for a home, which agents, scripts and people ask over one socket. Its faces (REST, MCP, the
//! dashboard) are made of one table of operations.

pub mod answer;
mod book;
pub mod bridge;
mod channels;
pub mod client;
mod connections;
pub mod dashboard;
mod dashboard_auth;
mod database;
mod desks;
mod doing;
mod ending;
mod events;
mod guard;
pub mod lifecycle;
mod lookers;
pub mod mcp;
mod openapi;
mod operation;
pub mod operations;
mod page_commands;
mod page_query;
mod pantry;
mod perform;
mod principal;
mod queue;
mod rates;
#[cfg(test)]
mod reference;
mod refusal;
mod remote;
mod remote_listener;
mod rest;
mod server;
pub mod state_file;
mod stream_limiter;
mod task_access;
mod tokens;
mod watch;
mod watching;
mod workers;
mod world;

pub use daemon::Daemon;
pub use server::{ServeOptions, serve};

mod daemon;
