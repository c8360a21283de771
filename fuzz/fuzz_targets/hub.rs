#![no_main]
#![allow(dead_code, reason = "the tests use other parts of the model")]

#[path = "../../crates/hub/tests/suite/model/mod.rs"]
mod model;

libfuzzer_sys::fuzz_target!(|data: &[u8]| model::run(&model::operation::operations(data)));
