//! Properties that must hold for any input. The fuzz targets call these functions with generated data, the tests with
//! the stored corpus.

pub mod deflate;
pub mod frames;
pub mod handshake;
pub mod phoenix;

/// A property that takes any bytes.
pub type Property = fn(&[u8]);

/// Each fuzz target by the name of its corpus.
pub const TARGETS: [(&str, Property); 6] = [
    ("frames", frames::decoding_does_not_depend_on_cuts),
    ("deflate", deflate::messages_survive_and_junk_is_bounded),
    ("phoenix_v1", phoenix::v1_agrees_with_a_json_tree),
    ("phoenix_v2", phoenix::v2_agrees_with_a_json_tree),
    ("phoenix_binary", phoenix::binary_survives),
    ("handshake", handshake::values_are_judged),
];
