//! HDR histograms as text: the V2 format, compressed, in base64, which every HdrHistogram library reads.

use std::fmt::{self, Display};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer, V2Serializer};
use hdrhistogram::{Counter, Histogram};

use super::limits::{HISTOGRAM_TEXT_BYTES_MAX, TIME_US_MAX};

/// Why a text is not a valid histogram.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HistogramError {
    /// Longer than [`HISTOGRAM_TEXT_BYTES_MAX`]; its length in bytes.
    TooLong(usize),
    /// Not base64.
    NotBase64,
    /// Not the V2 format, or corrupt; the library's message.
    Unreadable(String),
    /// Unexpected precision (significant digits) or range (maximum in microseconds).
    OtherShape(u8, u64),
}

impl Display for HistogramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(bytes) => {
                write!(f, "the histogram has {bytes} bytes, more than {HISTOGRAM_TEXT_BYTES_MAX}")
            }
            Self::NotBase64 => write!(f, "the histogram is not base64"),
            Self::Unreadable(why) => write!(f, "the histogram is not in HDR's V2 format: {why}"),
            Self::OtherShape(digits, high) => {
                write!(f, "the histogram has {digits} digits up to {high} µs, which Stampede never writes")
            }
        }
    }
}

impl std::error::Error for HistogramError {}

/// Encodes a histogram as text.
pub(super) fn to_text<T: Counter>(histogram: &Histogram<T>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("writing to memory does not fail");
    STANDARD.encode(bytes)
}

/// Decodes a histogram with this many significant digits from its text.
pub(super) fn from_text<T: Counter>(text: &str, digits: u8) -> Result<Histogram<T>, HistogramError> {
    if text.len() > HISTOGRAM_TEXT_BYTES_MAX {
        return Err(HistogramError::TooLong(text.len()));
    }
    let bytes = STANDARD.decode(text).map_err(|_| HistogramError::NotBase64)?;
    let histogram: Histogram<T> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| HistogramError::Unreadable(error.to_string()))?;
    // The library rounds the range up to a power of two times the precision, but never further.
    if histogram.sigfig() != digits || histogram.high() > 4 * TIME_US_MAX {
        return Err(HistogramError::OtherShape(histogram.sigfig(), histogram.high()));
    }
    Ok(histogram)
}

/// Encodes a histogram compactly for keeping it in memory.
pub(super) fn pack<T: Counter>(histogram: &Histogram<T>) -> Box<[u8]> {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(histogram, &mut bytes).expect("writing to memory does not fail");
    bytes.into_boxed_slice()
}

/// Decodes what [`pack`] encoded.
pub(super) fn unpack<T: Counter>(bytes: &[u8]) -> Histogram<T> {
    Deserializer::new().deserialize(&mut &*bytes).expect("bytes that this process packed itself")
}
