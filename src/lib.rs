//! Learns a web task from one watched browser session and serves it without a browser.
pub mod testbed;
