//! Encodes a response as the HTTP library would: header names in title case, for old clients, and a date.

use bytes::Bytes;
use hyper::Response;
use std::io::Write as _;
use std::time::SystemTime;

/// Returns the whole response. `is_last` tells the client that the connection ends after it.
pub(super) fn bytes_of(response: &Response<Bytes>, is_last: bool) -> Vec<u8> {
    let (status, body) = (response.status(), response.body());
    let mut out = Vec::with_capacity(256 + body.len());
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(status.as_str().as_bytes());
    out.extend_from_slice(b" ");
    out.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    for (name, value) in response.headers() {
        out.extend_from_slice(b"\r\n");
        title_case(name.as_str(), &mut out);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
    }
    if is_last {
        out.extend_from_slice(b"\r\nConnection: close");
    }
    let date = httpdate::HttpDate::from(SystemTime::now());
    // Writing to a vector cannot fail.
    let _ = write!(out, "\r\nContent-Length: {}\r\nDate: {date}\r\n\r\n", body.len());
    out.extend_from_slice(body);
    out
}

fn title_case(name: &str, out: &mut Vec<u8>) {
    let mut begins = true;
    for byte in name.bytes() {
        out.push(if begins { byte.to_ascii_uppercase() } else { byte });
        begins = byte == b'-';
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue};

    #[test]
    fn a_response_has_its_length_and_says_when_it_is_the_last() {
        let mut response = Response::new(Bytes::from_static(b"{}"));
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        let text = String::from_utf8(bytes_of(&response, true)).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let lines: Vec<&str> = head.split("\r\n").collect();
        assert_eq!(
            lines[..4],
            ["HTTP/1.1 200 OK", "Access-Control-Allow-Origin: *", "Connection: close", "Content-Length: 2"]
        );
        assert!(lines[4].starts_with("Date: ") && lines[4].ends_with(" GMT"), "{}", lines[4]);
        assert_eq!(body, "{}");
        assert!(!bytes_of(&response, false).windows(10).any(|window| window == b"Connection"));
    }
}
