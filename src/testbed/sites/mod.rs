//! One file per site. Each answers its own calls and leaves the rest to [`super::shell::answer`].

pub mod archive;
pub mod city;
pub mod code;
pub mod docs;
pub mod endless;
pub mod flights;
pub mod forum;
pub mod frames;
pub mod hostile;
pub mod jobs;
pub mod library;
pub mod members;
pub mod news;
pub mod nothing;
pub mod recipes;
pub mod redirect;
pub mod shop;
pub mod stats;
pub mod store;
pub mod tickets;
pub mod worker;
