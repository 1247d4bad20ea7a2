//! `commis-core`: every command is in the crate `commis-cli`.

/// Documents of many small values are read in less time with it. A build that counts allocations brings its own.
#[cfg(not(feature = "count-allocations"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    commis_cli::main()
}
