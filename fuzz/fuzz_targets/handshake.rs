#![no_main]
#![allow(dead_code, reason = "each target uses one of the properties")]

#[path = "../../crates/proto/tests/suite/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::handshake::values_are_judged(data));
