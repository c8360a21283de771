//! Echoes messages of the C10K test: they have one fixed length and are sent back unmasked, because the client looks
//! for its own bytes.

use std::io;

/// Payload of a binary message of the test: `ping:` and three 32-bit numbers.
const PAYLOAD_BYTES: usize = 17;
const MASK_BYTES: usize = 4;
const HEAD_BYTES: usize = 2;
pub(crate) const MESSAGE_BYTES: usize = HEAD_BYTES + MASK_BYTES + PAYLOAD_BYTES;
const FIN_BINARY: u8 = 0x82;
/// Head of a data frame; anything else, such as a close frame, ends the pair.
const MESSAGE_HEAD: [u8; HEAD_BYTES] = [FIN_BINARY, 0x80 | PAYLOAD_BYTES as u8];

/// Returns the server's frames that echo `messages`, each of which must be complete; anything else is an error.
pub(crate) fn echoes(messages: &[u8]) -> io::Result<Vec<u8>> {
    let (messages, rest) = messages.as_chunks::<MESSAGE_BYTES>();
    if !rest.is_empty() || messages.iter().any(|message| !message.starts_with(&MESSAGE_HEAD)) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut frames = Vec::with_capacity(messages.len() * (HEAD_BYTES + PAYLOAD_BYTES));
    for message in messages {
        let (mask, payload) = message[HEAD_BYTES..].split_at(MASK_BYTES);
        frames.extend([FIN_BINARY, PAYLOAD_BYTES as u8]);
        frames.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_comes_back_as_it_was_before_its_mask() {
        let (mask, payload) = ([1, 2, 3, 4], *b"ping:0123456789ab");
        let masked: Vec<u8> = payload.iter().zip(mask.iter().cycle()).map(|(b, m)| b ^ m).collect();
        let message = [&MESSAGE_HEAD[..], &mask, &masked].concat();
        let echo = [&[FIN_BINARY, 17], &payload[..]].concat();
        assert_eq!(echoes(&message.repeat(2)).expect("both are whole"), echo.repeat(2));
    }

    #[test]
    fn a_close_frame_or_half_a_message_is_an_error() {
        assert!(echoes(&[0x88, 0x82, 1, 2, 3, 4, 2, 0xea]).is_err());
        assert!(echoes(&MESSAGE_HEAD).is_err());
    }
}
