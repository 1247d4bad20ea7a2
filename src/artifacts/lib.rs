//! What stages leave on disk for one another: payload types, envelope, store.
mod canonical;
#[cfg(unix)]
pub mod clearing;
pub mod digest;
pub mod failure;
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
pub mod shelf;
#[cfg(unix)]
pub mod signed;
#[cfg(unix)]
pub mod store;

#[cfg(test)]
mod tests;
