#![no_main]
#![allow(dead_code, reason = "each target uses one of the properties")]

#[path = "../../crates/proto/tests/suite/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::phoenix::v1_agrees_with_a_json_tree(data));
