//! The codecs: recorded inputs, the fuzz targets' corpora, and generated messages.

mod corpus;
#[allow(unreachable_pub, reason = "shared with the fuzz targets")]
mod properties;
mod round_trips;
mod vectors;
