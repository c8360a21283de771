#![no_main]

#[path = "../../crates/gateway/tests/properties/proxy_header.rs"]
mod property;
#[allow(dead_code, reason = "the gateway tells what is wrong, the property does not")]
#[path = "../../crates/gateway/src/handshake/proxy_header.rs"]
mod proxy_header;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::reading_does_not_depend_on_cuts(data));
