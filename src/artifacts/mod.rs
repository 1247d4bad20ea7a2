//! What stages leave on disk for one another: payload types, envelope, store.
mod canonical;
#[cfg(feature = "cli")]
pub mod clearing;
pub mod digest;
pub mod failure;
pub mod kinds;
#[cfg(feature = "cli")]
mod lease;
#[cfg(feature = "cli")]
pub mod migrate;
pub mod payloads;
pub mod recording;
#[cfg(feature = "cli")]
pub mod retention;
#[cfg(feature = "cli")]
pub mod shelf;
#[cfg(feature = "cli")]
pub mod store;

#[cfg(test)]
mod tests;
