#![no_main]

#[path = "../../crates/identity/tests/properties/token.rs"]
mod property;
#[allow(dead_code, unused_imports, reason = "verifying uses what reading returns, and the property does not")]
#[path = "../../crates/identity/src/token/mod.rs"]
mod token;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::what_is_read_is_within_bounds(data));
