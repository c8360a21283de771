//! Extracts complete texts from a byte stream of server frames (RFC 6455, section 5.2), for clients that must read
//! their messages. Owns the bytes of an incomplete frame. Throng sends no fragmented messages; one is an error.

use super::failure::Failure;

const OPCODE_TEXT: u8 = 1;
const OPCODE_CLOSE: u8 = 8;
const OPCODE_PING: u8 = 9;
const FINAL: u8 = 0x80;

/// Maximum payload length; a server of the benchmarks sends nothing longer.
const PAYLOAD_BYTES_MAX: usize = 1 << 20;

/// The position of one connection in its stream of frames.
#[derive(Debug, Default)]
pub(super) struct Texts {
    waiting: Vec<u8>,
}

impl Texts {
    /// Consumes the next bytes, and passes each complete text to `tell`.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut tell: impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.waiting.extend_from_slice(bytes);
        let mut taken = 0;
        while let Some((head, length)) = head_of(&self.waiting[taken..])? {
            let Some(payload) = self.waiting.get(taken + head..taken + head + length) else { break };
            match self.waiting[taken] {
                first if first == FINAL | OPCODE_TEXT => {
                    tell(std::str::from_utf8(payload).map_err(|_| Failure::Nonsense)?)?;
                }
                first if first == FINAL | OPCODE_CLOSE => return Err(Failure::Cut),
                first if first & !FINAL >= OPCODE_PING => {}
                _ => return Err(Failure::Nonsense),
            }
            taken += head + length;
        }
        self.waiting.drain(..taken);
        if self.waiting.is_empty() {
            // Twenty thousand clients are kept at a time; each should hold no more memory than it needs.
            self.waiting = Vec::new();
        }
        Ok(())
    }
}

/// Returns the lengths of the head and of the payload of the frame that begins here, if its head is complete.
fn head_of(bytes: &[u8]) -> Result<Option<(usize, usize)>, Failure> {
    let Some(second) = bytes.get(1) else { return Ok(None) };
    let (head, length) = match second & 0x7f {
        126 => (4, bytes.get(2..4).map(number)),
        127 => (10, bytes.get(2..10).map(number)),
        short => (2, Some(usize::from(short))),
    };
    match length {
        Some(length) if length > PAYLOAD_BYTES_MAX => Err(Failure::Nonsense),
        Some(length) => Ok(Some((head, length))),
        None => Ok(None),
    }
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::server_frame;

    #[test]
    fn texts_come_whole_wherever_the_reads_cut() {
        let said = ["".to_owned(), "short".to_owned(), "long ".repeat(100)];
        let stream: Vec<u8> = said.iter().flat_map(|text| server_frame(text)).collect();
        for cut in 1..stream.len() {
            let (mut texts, mut heard) = (Texts::default(), Vec::new());
            for part in stream.chunks(cut) {
                texts
                    .feed(part, |text| {
                        heard.push(text.to_owned());
                        Ok(())
                    })
                    .expect("they are texts");
            }
            assert_eq!(heard, said, "cut every {cut} bytes");
        }
    }

    #[test]
    fn pings_are_passed_over_and_a_close_ends_it() {
        let mut heard = 0;
        let mut count = |_: &str| {
            heard += 1;
            Ok(())
        };
        let mut texts = Texts::default();
        assert!(texts.feed(&[0x89, 1, b'!', 0x81, 1, b'a'], &mut count).is_ok());
        assert!(matches!(texts.feed(&[0x88, 0], &mut count), Err(Failure::Cut)));
        assert_eq!(heard, 1);
    }

    #[test]
    fn a_fragment_and_a_length_beyond_reason_are_nonsense() {
        for bytes in [&[0x01, 1, b'a'][..], &[0x81, 127, 1, 0, 0, 0, 0, 0, 0, 0]] {
            assert!(matches!(Texts::default().feed(bytes, |_| Ok(())), Err(Failure::Nonsense)));
        }
    }
}
