//! The daemon: one process for a home, which agents, scripts and people ask over one socket. Its faces (REST, MCP, the
//! dashboard) are made of one table of operations.

mod agent_runs;
pub mod answer;
pub mod bridge;
mod channels;
mod connections;
pub mod dashboard;
mod dashboard_auth;
mod database;
mod ending;
mod events;
mod guard;
mod har_uploads;
pub mod lifecycle;
mod live_view;
pub mod mcp;
mod openapi;
mod operation;
pub mod operations;
mod page_commands;
mod page_query;
mod page_sessions;
mod perform;
mod principal;
mod queue;
mod rates;
pub mod raw_client;
mod recipe_access;
mod recipe_cache;
#[cfg(test)]
mod reference;
mod refusal;
mod remote;
mod remote_listener;
mod rest;
mod runtime;
mod server;
mod stream_limiter;
mod task_access;
mod task_database;
mod tokens;
mod upload;
mod viewer_access;
mod watch;
mod workers;

pub use daemon::Daemon;
pub use server::{ServeOptions, serve};

mod daemon;
