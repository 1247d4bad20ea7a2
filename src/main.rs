//! The `commis` command: everything is in the crate `commis-cli`.

fn main() -> std::process::ExitCode {
    commis_cli::main()
}
