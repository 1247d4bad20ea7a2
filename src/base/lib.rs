//! What every other crate stands on: errors, identifiers, files, codes of authentication, settings, processes, and work within a budget.

pub mod blame;
pub mod charset;
pub mod error;
#[cfg(unix)]
pub mod files;
#[cfg(not(unix))]
#[path = "files/portable.rs"]
pub mod files;
pub mod ids;
pub mod mac;
#[cfg(unix)]
pub mod processes;
pub mod settings;
#[cfg(any(test, feature = "test-support"))]
pub mod testing;
pub mod work;
