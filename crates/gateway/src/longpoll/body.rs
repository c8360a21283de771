//! The messages of a POST. Reference section 5.3.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use proto::phoenix::FrameKind;

/// Lines of one request that are handled; more are dropped, as Phoenix does.
const LINES_MAX: usize = 100;
pub(super) const BODY_BYTES_MAX: usize = 8_000_000;

/// A line that is neither a V2 text frame nor base64, or text that is not UTF-8.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

/// The messages of a body in order. `application/x-ndjson` has a message a line; anything else is one text message.
pub(super) fn messages(
    content_type: Option<&str>,
    body: Bytes,
) -> Result<Vec<(FrameKind, Bytes)>, Unreadable> {
    if content_type != Some("application/x-ndjson") {
        return Ok(vec![text(body)?]);
    }
    let lines = body.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    // A trailing newline makes no message.
    let lines = lines.filter(|line| !line.is_empty()).take(LINES_MAX);
    lines.map(|line| if line[0] == b'[' { text(body.slice_ref(line)) } else { binary(line) }).collect()
}

fn text(line: Bytes) -> Result<(FrameKind, Bytes), Unreadable> {
    match std::str::from_utf8(&line) {
        Ok(_) => Ok((FrameKind::Text, line)),
        Err(_) => Err(Unreadable),
    }
}

fn binary(line: &[u8]) -> Result<(FrameKind, Bytes), Unreadable> {
    let bytes = STANDARD.decode(line).map_err(|_| Unreadable)?;
    Ok((FrameKind::Binary, bytes.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(content_type: &str, body: &'static [u8]) -> Result<Vec<FrameKind>, Unreadable> {
        let messages = messages(Some(content_type), Bytes::from_static(body))?;
        Ok(messages.into_iter().map(|(kind, _)| kind).collect())
    }

    #[test]
    fn lines_are_text_frames_or_base64() {
        let body = b"[1]\r\nAAEC\n\n[2]\n";
        assert_eq!(
            kinds("application/x-ndjson", body),
            Ok(vec![FrameKind::Text, FrameKind::Binary, FrameKind::Text])
        );
        assert_eq!(kinds("application/x-ndjson", b"{}"), Err(Unreadable));
    }

    #[test]
    fn another_content_type_is_one_message() {
        assert_eq!(kinds("application/x-ndjson; charset=utf-8", b"[1]\n[2]"), Ok(vec![FrameKind::Text]));
        assert_eq!(kinds("text/plain", b"\xff"), Err(Unreadable));
    }

    #[test]
    fn a_hundred_lines_are_handled() {
        let body = "[]\n".repeat(101);
        let messages = messages(Some("application/x-ndjson"), Bytes::from(body)).expect("readable");
        assert_eq!(messages.len(), 100);
    }
}
