//! The daemon: one process for a home, which agents, scripts and people ask over one socket. Its faces (REST, MCP, the
//! dashboard) are made of one table of operations.

pub mod answer;
mod book;
pub mod bridge;
mod channels;
pub mod client;
mod connections;
pub mod dashboard;
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
pub mod operations;
mod pantry;
mod principal;
mod queue;
mod rates;
#[cfg(test)]
mod reference;
mod remote;
mod rest;
mod watch;
mod watching;
mod world;

pub use daemon::{Daemon, ServeOptions, serve};

mod daemon;
