//! The `commis` command: what is called often. It begins `commis-core` for everything else. The crate `commis-cli` has both.

fn main() -> std::process::ExitCode {
    commis_cli::front_main()
}
