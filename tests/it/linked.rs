//! What the built program needs of the system that it is to run on.

/// `DT_RELR` and its kin: relocations packed so that only glibc 2.36 and later read them. An older one would start the program
/// with addresses that nobody has put right.
const PACKED: [u64; 3] = [35, 36, 37];
const PT_DYNAMIC: u32 = 2;

/// The tags of the dynamic section of a 64-bit little-endian ELF file.
fn tags(elf: &[u8]) -> Vec<u64> {
    let at = |from: usize, len: usize| {
        let mut out = [0; 8];
        out[..len].copy_from_slice(&elf[from..from + len]);
        u64::from_le_bytes(out)
    };
    assert_eq!(&elf[..6], b"\x7fELF\x02\x01", "a 64-bit little-endian program");
    let (table, size, count) = (at(32, 8) as usize, at(54, 2) as usize, at(56, 2) as usize);
    let mut headers = (0..count).map(|it| table + it * size);
    let dynamic =
        headers.find(|it| at(*it, 4) as u32 == PT_DYNAMIC).expect("it is linked dynamically");
    let (from, len) = (at(dynamic + 8, 8) as usize, at(dynamic + 32, 8) as usize);
    (from..from + len).step_by(16).map(|it| at(it, 8)).take_while(|it| *it != 0).collect()
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn no_new_glibc_is_needed_for_relocations() {
    for program in [env!("CARGO_BIN_EXE_commis"), env!("CARGO_BIN_EXE_commis-core")] {
        let elf = std::fs::read(program).unwrap();
        let tags = tags(&elf);
        assert!(tags.len() > 10, "{program}: {tags:?}");
        assert!(!tags.iter().any(|it| PACKED.contains(it)), "{program}: {tags:?}");
        assert!(!contains(&elf, "GLIBC_ABI_DT_RELR"), "{program}");
    }
    // The release program is linked by other flags than this one may be; they stand in one place.
    let flags = include_str!("../../build.rs");
    assert!(!flags.contains("pack-relative-relocs") && !flags.contains("relr"));
}

/// What makes the whole program slow to begin. The linker leaves it out of the small one for as long as nothing there reaches it.
#[test]
fn the_small_program_has_neither_the_daemon_nor_the_test_web() {
    let read = |path: &str| std::fs::read(path).unwrap();
    let (small, whole) =
        (read(env!("CARGO_BIN_EXE_commis")), read(env!("CARGO_BIN_EXE_commis-core")));
    // A text of the test web, of the daemon, of batches and of measuring.
    for text in [
        "Tidewater Supply",
        "its remote listener is open",
        "a work unit has no valid key",
        "a line of the report cannot be read",
    ] {
        assert!(contains(&whole, text), "{text}");
        assert!(!contains(&small, text), "{text}");
    }
}

fn contains(file: &[u8], text: &str) -> bool {
    memchr::memmem::find(file, text.as_bytes()).is_some()
}
