//! The messages of a POST: reference section 5.3.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use proto::phoenix::FrameKind;

/// Number of lines of one request that are handled; more are dropped, as in Phoenix.
const LINES_MAX: usize = 100;
pub(super) const BODY_BYTES_MAX: usize = 8_000_000;
/// Total size of the bodies in memory at one time, in KiB: 64 of the largest.
pub(crate) const BODIES_KIB_MAX: u32 = 64 * (BODY_BYTES_MAX as u32).div_ceil(1 << 10);

/// Why a body is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    /// A line that is neither a V2 text frame nor base64, or text that is not UTF-8.
    Unreadable,
    /// A message larger than the mount allows.
    MessageTooLarge,
}

/// Splits a body into its messages, in order. `application/x-ndjson` has one message per line; anything else is one
/// text message.
pub(super) fn messages(
    content_type: Option<&str>,
    body: Bytes,
    message_bytes_max: usize,
) -> Result<Vec<(FrameKind, Bytes)>, BodyError> {
    if content_type != Some("application/x-ndjson") {
        return Ok(vec![bounded(text(body)?, message_bytes_max)?]);
    }
    let lines = body.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    // A trailing newline is not a message.
    let lines = lines.filter(|line| !line.is_empty()).take(LINES_MAX);
    let message = |line: &[u8]| if line[0] == b'[' { text(body.slice_ref(line)) } else { binary(line) };
    lines.map(|line| bounded(message(line)?, message_bytes_max)).collect()
}

fn bounded(message: (FrameKind, Bytes), bytes_max: usize) -> Result<(FrameKind, Bytes), BodyError> {
    if message.1.len() <= bytes_max { Ok(message) } else { Err(BodyError::MessageTooLarge) }
}

fn text(line: Bytes) -> Result<(FrameKind, Bytes), BodyError> {
    match std::str::from_utf8(&line) {
        Ok(_) => Ok((FrameKind::Text, line)),
        Err(_) => Err(BodyError::Unreadable),
    }
}

fn binary(line: &[u8]) -> Result<(FrameKind, Bytes), BodyError> {
    let bytes = STANDARD.decode(line).map_err(|_| BodyError::Unreadable)?;
    Ok((FrameKind::Binary, bytes.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(content_type: &str, body: &'static [u8]) -> Result<Vec<FrameKind>, BodyError> {
        let messages = messages(Some(content_type), Bytes::from_static(body), 5)?;
        Ok(messages.into_iter().map(|(kind, _)| kind).collect())
    }

    #[test]
    fn lines_are_text_frames_or_base64() {
        let body = b"[1]\r\nAAEC\n\n[2]\n";
        assert_eq!(
            kinds("application/x-ndjson", body),
            Ok(vec![FrameKind::Text, FrameKind::Binary, FrameKind::Text])
        );
        assert_eq!(kinds("application/x-ndjson", b"{}"), Err(BodyError::Unreadable));
    }

    #[test]
    fn another_content_type_is_one_message() {
        assert_eq!(kinds("application/x-ndjson; charset=utf-8", b"[1\n2]"), Ok(vec![FrameKind::Text]));
        assert_eq!(kinds("text/plain", b"\xff"), Err(BodyError::Unreadable));
    }

    #[test]
    fn the_limit_is_for_each_message_alone() {
        let too_large = Err(BodyError::MessageTooLarge);
        assert_eq!(kinds("application/x-ndjson", b"[123]\nAAECAwQ=").map(|kinds| kinds.len()), Ok(2));
        assert_eq!(kinds("application/x-ndjson", b"[1]\n[1234]"), too_large);
        assert_eq!(kinds("application/x-ndjson", b"AAECAwQF"), too_large);
        assert_eq!(kinds("text/plain", b"[1234]"), too_large);
    }

    #[test]
    fn a_hundred_lines_are_handled() {
        let body = "[]\n".repeat(101);
        let messages = messages(Some("application/x-ndjson"), Bytes::from(body), 2).expect("readable");
        assert_eq!(messages.len(), 100);
    }
}
