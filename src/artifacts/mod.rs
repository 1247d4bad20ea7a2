//! What stages leave on disk for one another: payload types, envelope, store.
mod canonical;
pub mod failure;
pub mod kinds;
mod lease;
pub mod migrate;
pub mod payloads;
pub mod recording;
pub mod retention;
pub mod store;

#[cfg(test)]
mod tests;
