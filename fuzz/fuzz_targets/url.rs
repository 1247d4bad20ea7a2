#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| commis_measure::fuzzing::urls(data));
