//! Learns a web task from one watched browser session and serves it without a browser.
//!
//! A *recipe* says which request carries the data of a task, how its parameters go into it and how the data comes out of the
//! answer; it is learned from a HAR, or from a browser by the `commis` program, and proven on a second input before it counts.
//!
//! ```no_run
//! # async fn example() -> commis::Result<()> {
//! let recipe = commis::Recipe::from_yaml("…")?;
//! let runner = commis::Runner::builder().build()?;
//! let answer = runner.run(&recipe, [("query", "lamp")]).await?;
//! println!("{}", answer.data);
//! # Ok(())
//! # }
//! ```
//!
//! | to | there is |
//! |---|---|
//! | run recipes | [`Runner`], [`Recipe`], [`Registry`] |
//! | learn one from a HAR | [`learn_from_har`] |
//! | give them to those who have no commis | [`export()`] |
//! | make a HAR fit to be shared | [`redact_har`] |
//! | send requests that cannot reach a private network | [`SafeClient`], [`EgressPolicy`] |
//!
//! Everything async needs a tokio runtime with time and I/O. The feature `cli`, on by default, brings the program; a library does
//! without: `commis = { version = "…", default-features = false }`. It runs on Linux and macOS, and compiles for Windows, untested.
//!
//! ARCHITECTURE.md is the map of the crates.

pub use commis_embed::*;
