//! Measuring: the evaluation of learning, the benchmarks, and the entry points of fuzzing.

pub mod bench;
#[cfg(test)]
mod corpus_tests;
pub mod eval;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
#[cfg(test)]
mod growth_tests;
pub mod parts;
