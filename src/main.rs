//! The `commis` command: asks a running daemon, or begins `commis-core`. All of it is in the crate `commis-client`.

fn main() -> std::process::ExitCode {
    commis_client::main()
}
