//! The release program is linked small: functions that came out alike are kept once. The flag is lld's, which Rust links with on
//! this target. Relocations are not packed: that would make it smaller still, and need a glibc of 2.36 or later.

#![expect(clippy::disallowed_methods, reason = "this is how Cargo speaks to build scripts")]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|it| it == value);
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}
