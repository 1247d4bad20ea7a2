//! The only road from a raw exchange to a stored one.
pub mod raw;
