//! What a connection keeps while a message is incomplete.

use super::decode::{Event, Limits};
use super::header::{Header, Opcode};
use super::utf8::Utf8Buffer;
use super::{Inflater, Violation, deflate, mask};

/// State between reads. One pointer while nothing is incomplete; its memory grows with the bytes received, never with a
/// length that a header merely announces.
#[derive(Default)]
pub struct Pending(pub(super) Option<Box<Partial>>);

impl Pending {
    /// Returns whether no message is incomplete.
    pub fn is_idle(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the memory held behind the pointer, in bytes.
    pub fn memory(&self) -> usize {
        self.0.as_ref().map_or(0, |partial| size_of::<Partial>() + partial.body.capacity())
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending").field("memory", &self.memory()).finish()
    }
}

/// A message of which some frames, or part of one, have arrived.
pub(super) struct Partial {
    body: Body,
    frame: Option<OpenFrame>,
}

/// The frame whose payload is still arriving.
#[derive(Clone, Copy)]
struct OpenFrame {
    fin: bool,
    /// Rotated so that it applies to the next byte.
    mask: Option<[u8; 4]>,
    bytes_left: usize,
}

enum Body {
    Text(Utf8Buffer),
    Binary(Vec<u8>),
    /// Inflated only when complete, because the inflater is shared with other connections.
    Deflated {
        text: bool,
        bytes: Vec<u8>,
    },
}

impl Partial {
    /// Creates an empty message of the type that its first frame names.
    pub(super) fn new(first: &Header) -> Partial {
        let text = first.opcode == Opcode::Text;
        let body = match (first.deflated, text) {
            (true, text) => Body::Deflated { text, bytes: Vec::new() },
            (false, true) => Body::Text(Utf8Buffer::default()),
            (false, false) => Body::Binary(Vec::new()),
        };
        Partial { body, frame: None }
    }

    /// Begins the payload of a frame.
    pub(super) fn open(&mut self, header: &Header) {
        self.frame = Some(OpenFrame { fin: header.fin, mask: header.mask, bytes_left: header.payload_bytes });
    }

    /// Returns whether payload bytes come next, rather than a header.
    pub(super) fn is_in_frame(&self) -> bool {
        self.frame.is_some()
    }

    /// Returns the number of bytes collected so far.
    pub(super) fn len(&self) -> usize {
        self.body.len()
    }

    /// Takes what belongs to the open frame from the start of `input`. Returns how many bytes that was, and whether
    /// they complete the message.
    pub(super) fn take(&mut self, input: &mut [u8]) -> Result<(usize, bool), Violation> {
        let Some(mut frame) = self.frame.take() else { return Ok((0, false)) };
        let len = frame.bytes_left.min(input.len());
        let payload = &mut input[..len];
        if let Some(mask) = frame.mask {
            mask::apply(payload, mask);
            frame.mask = Some(mask::rotated(mask, len));
        }
        self.body.push(payload)?;
        frame.bytes_left -= len;
        if frame.bytes_left > 0 {
            self.frame = Some(frame);
            return Ok((len, false));
        }
        Ok((len, frame.fin))
    }

    /// Returns the complete message.
    pub(super) fn finish<'b>(
        self,
        inflater: &'b mut Inflater,
        limits: &Limits,
    ) -> Result<Event<'b>, Violation> {
        match self.body {
            Body::Text(buffer) => Ok(Event::Text(buffer.finish()?.into())),
            Body::Binary(bytes) => Ok(Event::Binary(bytes.into())),
            Body::Deflated { text, bytes } => deflate::inflate_message(text, &bytes, inflater, limits),
        }
    }
}

impl Body {
    fn push(&mut self, piece: &[u8]) -> Result<(), Violation> {
        match self {
            Body::Text(buffer) => buffer.push(piece),
            Body::Binary(bytes) | Body::Deflated { bytes, .. } => {
                bytes.extend_from_slice(piece);
                Ok(())
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Body::Text(buffer) => buffer.len(),
            Body::Binary(bytes) | Body::Deflated { bytes, .. } => bytes.len(),
        }
    }

    fn capacity(&self) -> usize {
        match self {
            Body::Text(buffer) => buffer.capacity(),
            Body::Binary(bytes) | Body::Deflated { bytes, .. } => bytes.capacity(),
        }
    }
}
