#![no_main]
#![allow(dead_code, reason = "each target uses one of the properties")]

#[path = "../../crates/proto/tests/suite/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::deflate::messages_survive_and_junk_is_bounded(data));
