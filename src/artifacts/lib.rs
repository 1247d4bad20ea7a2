//! What stages leave on disk for one another: payload types, envelope, store.
mod canonical;
pub mod digest;
pub mod failure;
#[cfg(unix)]
pub mod gc;
pub mod kinds;
#[cfg(unix)]
mod lease;
#[cfg(unix)]
pub mod migrate;
pub mod offer;
pub mod payloads;
pub mod recording;
#[cfg(unix)]
pub mod retention;
#[cfg(unix)]
pub mod shared_store;
#[cfg(unix)]
pub mod signed_store;
#[cfg(unix)]
pub mod store;

#[cfg(test)]
mod tests;
