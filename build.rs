//! The release program is linked small: functions that came out alike are kept once. The flag is lld's, which Rust links with on
//! this target unless someone names a linker: zig's, which packages are made with for the sake of old systems, refuses the flag.
//! Relocations are not packed: that would make it smaller still, and need a glibc of 2.36 or later.

#![expect(clippy::disallowed_methods, reason = "this is how Cargo speaks to build scripts")]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|it| it == value);
    let own_linker = std::env::var_os("RUSTC_LINKER").is_some();
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") && !own_linker {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}
