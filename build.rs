//! The release program is linked small: functions that came out alike are kept once, and an address to be relocated takes a bit,
//! not 24 bytes. The flags are lld's, which Rust links with on this target.

#![expect(clippy::disallowed_methods, reason = "this is how Cargo speaks to build scripts")]

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|it| it == value);
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
        if reads_packed_relocations() {
            println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        }
    }
}

/// glibc does since 2.36; an older one would start a program full of wrong addresses.
fn reads_packed_relocations() -> bool {
    let Ok(out) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let text = String::from_utf8_lossy(&out.stdout);
    let mut parts = text.trim().trim_start_matches("glibc ").split('.').map(str::parse::<u32>);
    matches!((parts.next(), parts.next()), (Some(Ok(2)), Some(Ok(36..))))
}
