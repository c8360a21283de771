//! Incremental parser of an HTTP/1.1 response (RFC 9112): head, body by its framing, end. No socket, no clock; memory
//! is bounded by how much of the body the user keeps.

use crate::upgrade::{HEAD_BYTES_MAX, HEADERS_MAX};

/// Maximum length of a chunk-size line with its extensions.
const CHUNK_LINE_BYTES_MAX: usize = 1024;

/// A partially received response.
#[derive(Debug)]
pub(crate) struct Response {
    /// Status of the final response; 0 before its head is complete.
    pub(crate) status: u16,
    /// The body, truncated to the number of bytes kept.
    pub(crate) body: Vec<u8>,
    /// Length of the whole body, in bytes.
    pub(crate) body_bytes: u64,
    /// Header lines, if they are to be kept.
    pub(crate) headers: Vec<(String, String)>,
    /// Whether the connection may carry another request.
    pub(crate) is_reusable: bool,
    is_head_request: bool,
    keeps_headers: bool,
    body_kept_max: usize,
    progress: Progress,
}

/// What is expected next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    Head,
    /// This many bytes of the body.
    Length(u64),
    /// A chunk-size line.
    ChunkSize,
    /// This many bytes of a chunk.
    Chunk(u64),
    /// The line end after a chunk.
    ChunkEnd,
    /// Trailer lines up to an empty one.
    Trailers,
    /// Everything until the connection ends.
    UntilEnd,
    Done,
}

/// The peer violated HTTP; the reason as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BadResponse(pub(crate) String);

/// The properties of the request that determine how the response is parsed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestTraits {
    /// A response to HEAD has no body (RFC 9112, section 6.3).
    pub(crate) is_head: bool,
    /// Whether header lines are kept.
    pub(crate) keeps_headers: bool,
    /// Maximum number of bytes of the body to keep.
    pub(crate) body_kept_max: usize,
}

impl Response {
    pub(crate) fn new(asked: RequestTraits) -> Self {
        Self {
            status: 0,
            body: Vec::new(),
            body_bytes: 0,
            headers: Vec::new(),
            is_reusable: false,
            is_head_request: asked.is_head,
            keeps_headers: asked.keeps_headers,
            body_kept_max: asked.body_kept_max,
            progress: Progress::Head,
        }
    }

    /// Returns whether the response is complete.
    pub(crate) fn is_done(&self) -> bool {
        self.progress == Progress::Done
    }

    /// Parses received bytes; returns how many were consumed. The rest must be passed again, followed by more.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<usize, BadResponse> {
        let mut used = 0;
        while !self.is_done() {
            let step = self.take_some(&bytes[used..])?;
            used += step;
            if step == 0 {
                break;
            }
        }
        Ok(used)
    }

    /// The connection has ended. Returns whether that completes the response.
    pub(crate) fn end(&mut self) -> bool {
        if self.progress == Progress::UntilEnd {
            self.progress = Progress::Done;
        }
        self.is_done()
    }

    fn take_some(&mut self, bytes: &[u8]) -> Result<usize, BadResponse> {
        match self.progress {
            Progress::Head => self.take_head(bytes),
            Progress::Length(left) => {
                let taken = self.take_body(bytes, left);
                self.progress = after(left - taken, Progress::Length, Progress::Done);
                Ok(taken as usize)
            }
            Progress::ChunkSize => self.take_chunk_size(bytes),
            Progress::Chunk(left) => {
                let taken = self.take_body(bytes, left);
                self.progress = after(left - taken, Progress::Chunk, Progress::ChunkEnd);
                Ok(taken as usize)
            }
            Progress::ChunkEnd => match line(bytes)? {
                Some((b"", used)) => {
                    self.progress = Progress::ChunkSize;
                    Ok(used)
                }
                Some(_) => Err(BadResponse("a chunk is longer than its declared size".to_owned())),
                None => Ok(0),
            },
            Progress::Trailers => match line(bytes)? {
                Some((text, used)) => {
                    if text.is_empty() {
                        self.progress = Progress::Done;
                    }
                    Ok(used)
                }
                None => Ok(0),
            },
            Progress::UntilEnd => Ok(self.take_body(bytes, u64::MAX) as usize),
            Progress::Done => Ok(0),
        }
    }

    fn take_body(&mut self, bytes: &[u8], left: u64) -> u64 {
        let taken = (bytes.len() as u64).min(left);
        let room = self.body_kept_max - self.body.len();
        self.body.extend_from_slice(&bytes[..room.min(taken as usize)]);
        self.body_bytes += taken;
        taken
    }

    fn take_chunk_size(&mut self, bytes: &[u8]) -> Result<usize, BadResponse> {
        let Some((text, used)) = line(bytes)? else { return Ok(0) };
        let digits = text.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let bad = || BadResponse(format!("invalid chunk size {:?}", String::from_utf8_lossy(text)));
        let size =
            std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let size = size.and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or_else(bad)?;
        self.progress = if size == 0 { Progress::Trailers } else { Progress::Chunk(size) };
        Ok(used)
    }

    fn take_head(&mut self, bytes: &[u8]) -> Result<usize, BadResponse> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut head = httparse::Response::new(&mut headers);
        let used = match head.parse(bytes) {
            Ok(httparse::Status::Complete(used)) => used,
            Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Ok(0),
            Ok(httparse::Status::Partial) => {
                return Err(BadResponse(format!("the head is longer than {HEAD_BYTES_MAX} bytes")));
            }
            Err(error) => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
                return Err(BadResponse(format!("not an HTTP response ({error}): {start:?}")));
            }
        };
        let status = head.code.unwrap_or_default();
        // RFC 9110, section 15.2: a final response follows an interim one. A protocol switch was not requested.
        if (100..200).contains(&status) {
            return if status == 101 {
                Err(BadResponse("status 101 without an upgrade".to_owned()))
            } else {
                Ok(used)
            };
        }
        self.status = status;
        let is_1_1 = head.version == Some(1);
        self.frame_body(is_1_1, head.headers)?;
        if self.keeps_headers {
            let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
            self.headers =
                head.headers.iter().map(|header| (header.name.to_owned(), text(header.value))).collect();
        }
        Ok(used)
    }

    /// Determines the body's framing (RFC 9112, section 6.3) and whether the connection persists (section 9.3).
    fn frame_body(&mut self, is_1_1: bool, headers: &[httparse::Header<'_>]) -> Result<(), BadResponse> {
        let values = |name: &'static str| {
            let matching = headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
            matching.flat_map(|header| header.value.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii)
        };
        let says = |wanted: &[u8]| values("connection").any(|token| token.eq_ignore_ascii_case(wanted));
        self.is_reusable = if is_1_1 { !says(b"close") } else { says(b"keep-alive") };
        let has_no_body = self.is_head_request || matches!(self.status, 204 | 304);
        let last_coding = values("transfer-encoding").next_back();
        self.progress = if has_no_body {
            Progress::Done
        } else if let Some(coding) = last_coding {
            if coding.eq_ignore_ascii_case(b"chunked") { Progress::ChunkSize } else { Progress::UntilEnd }
        } else {
            content_length(values("content-length"))?
                .map_or(Progress::UntilEnd, |length| after(length, Progress::Length, Progress::Done))
        };
        self.is_reusable &= self.progress != Progress::UntilEnd;
        Ok(())
    }
}

fn after(left: u64, more: impl FnOnce(u64) -> Progress, next: Progress) -> Progress {
    if left == 0 { next } else { more(left) }
}

/// RFC 9112, section 6.3: several lengths that agree count as one; others are a framing error.
fn content_length<'v>(values: impl Iterator<Item = &'v [u8]>) -> Result<Option<u64>, BadResponse> {
    let mut length = None;
    for value in values {
        let text =
            std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let number = text.and_then(|text| text.parse().ok());
        if number.is_none() || length.is_some_and(|length| Some(length) != number) {
            return Err(BadResponse(format!("invalid Content-Length {:?}", String::from_utf8_lossy(value))));
        }
        length = number;
    }
    Ok(length)
}

/// Returns the first line without its line end, and its length including the line end.
fn line(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, BadResponse> {
    match memchr::memchr(b'\n', bytes) {
        Some(end) => {
            let text = &bytes[..end];
            Ok(Some((text.strip_suffix(b"\r").unwrap_or(text), end + 1)))
        }
        None if bytes.len() > CHUNK_LINE_BYTES_MAX => Err(BadResponse(format!(
            "a line within a chunked body is longer than {CHUNK_LINE_BYTES_MAX} bytes"
        ))),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ASKED: RequestTraits = RequestTraits { is_head: false, keeps_headers: true, body_kept_max: 8 };

    fn whole(asked: RequestTraits, text: &str) -> (Response, usize) {
        let mut response = Response::new(asked);
        let used = response.take(text.as_bytes()).expect(text);
        (response, used)
    }

    #[test]
    fn a_body_ends_by_its_length() {
        let (response, used) = whole(ASKED, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1");
        assert!(response.is_done() && response.is_reusable);
        assert_eq!((response.status, &response.body[..], response.body_bytes), (200, &b"hello"[..], 5));
        assert_eq!(used, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".len());
        assert_eq!(response.headers, [("Content-Length".to_owned(), "5".to_owned())]);
    }

    #[test]
    fn a_chunked_body_ends_by_its_last_chunk_and_trailers() {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=1\r\nwiki\r\n6\r\npedia \r\n0\r\nX: y\r\n\r\n";
        let (response, used) = whole(ASKED, text);
        assert!(response.is_done() && response.is_reusable);
        assert_eq!((&response.body[..], response.body_bytes, used), (&b"wikipedi"[..], 10, text.len()));
    }

    #[test]
    fn a_body_without_framing_ends_with_the_connection() {
        let (mut response, _) = whole(ASKED, "HTTP/1.1 200 OK\r\n\r\nhello");
        assert!(!response.is_done());
        assert!(response.end() && !response.is_reusable);
        let (mut cut, _) = whole(ASKED, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello");
        assert!(!cut.end());
    }

    #[test]
    fn responses_that_have_no_body_end_with_their_head() {
        let head = RequestTraits { is_head: true, ..ASKED };
        for (asked, text) in [
            (head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
            (ASKED, "HTTP/1.1 204 No Content\r\n\r\n"),
            (ASKED, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
            (ASKED, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ] {
            assert!(whole(asked, text).0.is_done(), "{text}");
        }
    }

    #[test]
    fn interim_responses_are_skipped() {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
        let (response, used) = whole(ASKED, text);
        assert_eq!((response.status, used), (404, text.len()));
    }

    #[test]
    fn a_connection_is_kept_only_where_both_agree() {
        for (text, kept) in [
            ("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", true),
        ] {
            assert_eq!(whole(ASKED, text).0.is_reusable, kept, "{text}");
        }
    }

    #[test]
    fn what_breaks_http_is_refused() {
        for text in [
            "garbage\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n",
        ] {
            assert!(Response::new(ASKED).take(text.as_bytes()).is_err(), "{text}");
        }
        let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(HEAD_BYTES_MAX));
        assert!(Response::new(ASKED).take(endless.as_bytes()).is_err());
        let endless = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1{}", ";".repeat(2000));
        assert!(Response::new(ASKED).take(endless.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn a_response_is_the_same_in_any_pieces(sizes in prop::collection::vec(1usize..7, 1..60)) {
            let text: &[u8] = b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
            let mut response = Response::new(ASKED);
            let (mut kept, mut rest) = (Vec::new(), text);
            for size in sizes.iter().cycle() {
                let (piece, tail) = rest.split_at((*size).min(rest.len()));
                kept.extend_from_slice(piece);
                let used = response.take(&kept).expect("a good response");
                kept.drain(..used);
                rest = tail;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert!(response.is_done());
            prop_assert_eq!(&response.body[..], b"abcde");
        }
    }
}
