//! stub
pub fn page(_: &super::Evaluation) -> String { String::new() }
