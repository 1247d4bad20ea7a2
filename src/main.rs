//! The `commis` command: everything is in the library.

/// Answers are made of many small pieces.
#[cfg(not(feature = "count-allocations"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    commis::main()
}
