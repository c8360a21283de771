//! Properties that must hold for any first bytes of a connection. The fuzz target calls this with generated input, a
//! test with the stored corpus.

use super::proxy_header::{PROXY_HEADER_BYTES_MAX, parse_proxy_header, proxy_header_bytes};

/// A header is parsed from the same bytes whatever follows it, and not from fewer; an error stays an error.
pub(crate) fn reading_does_not_depend_on_cuts(data: &[u8]) {
    match parse_proxy_header(data) {
        Ok(Some(header)) => {
            assert!(header.bytes <= data.len() && header.bytes <= PROXY_HEADER_BYTES_MAX);
            assert_eq!(proxy_header_bytes(data), Ok(Some(header.bytes)));
            assert_eq!(parse_proxy_header(&data[..header.bytes]), Ok(Some(header)));
            for length in 0..header.bytes {
                assert_eq!(parse_proxy_header(&data[..length]), Ok(None), "{length} bytes");
            }
        }
        Ok(None) => assert!(data.len() < PROXY_HEADER_BYTES_MAX),
        Err(error) => {
            let longer = [data, &[0; 64]].concat();
            assert_eq!(parse_proxy_header(&longer), Err(error));
        }
    }
}
