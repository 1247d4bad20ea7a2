#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| commis::fuzzing::recipe_file(data));
