//! The recipe language: its data model, its YAML form and rules, its templates, the folder that recipes are kept in, and the
//! library that comes with the program.
//!
//! Everything here is pure except `registry`, which reads and writes the folder it is given.

pub mod auth;
pub mod blocks;
mod chain;
pub mod check;
pub mod column_types;
pub mod digits;
pub mod document;
pub mod examples;
pub mod expression;
mod file;
pub mod file_facts;
pub mod framing;
pub mod headers;
pub mod host_choice;
mod html_parser;
pub mod inline_script_json;
mod jmespath_eval;
pub mod json_schema;
pub mod library;
pub mod matching;
pub mod model;
pub mod narrowing;
mod next_page;
pub mod page_request;
pub mod pagination;
pub mod paging;
pub mod params;
pub mod positions;
pub mod projection;
pub mod references;
pub mod registry;
pub mod request;
mod request_model;
mod response_model;
pub mod script_data;
pub mod selector;
pub mod shape;
pub mod status;
pub mod steps;
pub mod template;
pub mod trackers;
mod transforms;
pub mod trust;
mod trust_level;
pub mod values;
pub mod xml;
pub mod yaml;
