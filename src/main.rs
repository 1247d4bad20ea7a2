//! The `commis` command: everything is in the library.

fn main() -> std::process::ExitCode {
    commis::main()
}
