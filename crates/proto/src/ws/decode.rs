//! Decodes received bytes into messages.

use std::borrow::Cow;

use super::header::{Header, Opcode, Role};
use super::pending::Partial;
use super::{CloseCode, Inflater, Pending, Violation, deflate, mask};

/// How to decode a connection: settings without state, shared by all connections that negotiated the same.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    /// Our role, which determines whether frames must or must not be masked.
    pub role: Role,
    /// Bounds on what a peer can make us hold.
    pub limits: Limits,
    /// Whether permessage-deflate was negotiated; without it RSV1 is a violation.
    pub deflate: bool,
}

/// Bounds on what a peer sends. Exceeding one is a violation with close code 1009.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Header and payload of one frame, in bytes.
    pub frame_bytes_max: usize,
    /// A whole message, in bytes: its fragments together, before and after inflation.
    pub message_bytes_max: usize,
    /// Maximum ratio of a message's inflated size to its compressed size; small messages may reach
    /// [`deflate::INFLATE_FLOOR_BYTES`] at any ratio.
    pub inflate_ratio_max: usize,
}

/// One event from a peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event<'b> {
    /// A text message. Borrowed if it arrived whole, owned if it arrived in parts.
    Text(Cow<'b, str>),
    /// A binary message.
    Binary(Cow<'b, [u8]>),
    /// Must be answered with a Pong that carries the same bytes.
    Ping(&'b [u8]),
    /// The answer to a Ping, or unsolicited.
    Pong(&'b [u8]),
    /// The peer closes; what follows must not be read.
    Close {
        /// The code, if the peer gave one.
        code: Option<u16>,
        /// Often empty.
        reason: &'b str,
    },
}

/// The outcome of one call of [`Decoder::decode`].
#[derive(Debug)]
pub struct Step<'b> {
    /// How many bytes were consumed from the start of the input. If zero and without an event, more are needed.
    pub consumed: usize,
    /// A complete message, if these bytes completed one.
    pub event: Option<Event<'b>>,
}

impl Default for Limits {
    /// Phoenix's limit for a frame, 10,000,000 bytes, also for a message; inflation by up to a hundred times.
    fn default() -> Self {
        Limits { frame_bytes_max: 10_000_000, message_bytes_max: 10_000_000, inflate_ratio_max: 100 }
    }
}

impl Decoder {
    /// Decodes at most one event from the start of `input`. Call again with what was not consumed until a step neither
    /// consumes nor yields; then read more, keeping the rest: at most a header and the payload of a control frame.
    ///
    /// A frame that is complete in `input` is unmasked in place and borrowed; a partial one moves into `pending` as it
    /// arrives. After a violation, or after a Close, no more of the connection's bytes may be passed to the decoder.
    pub fn decode<'b>(
        &self,
        pending: &mut Pending,
        inflater: &'b mut Inflater,
        input: &'b mut [u8],
    ) -> Result<Step<'b>, Violation> {
        if pending.0.as_ref().is_some_and(|partial| partial.is_in_frame()) {
            return self.take_payload(pending, 0, inflater, input);
        }
        let Some(header) = Header::parse(input, self.role, self.deflate)? else { return Ok(Step::MORE) };
        if header.opcode.is_control() {
            return control(&header, input);
        }
        self.check(&header, pending)?;
        let is_whole = header.fin && pending.is_idle() && input.len() >= header.frame_bytes();
        if is_whole {
            return self.whole_message(&header, inflater, input);
        }
        pending.0.get_or_insert_with(|| Box::new(Partial::new(&header))).open(&header);
        self.take_payload(pending, header.header_bytes, inflater, input)
    }

    /// Checks whether a data frame may come here, and be that large.
    fn check(&self, header: &Header, pending: &Pending) -> Result<(), Violation> {
        match (&pending.0, header.opcode) {
            (None, Opcode::Continuation) => return Err(Violation::ContinuationUnexpected),
            (Some(_), Opcode::Text | Opcode::Binary) => return Err(Violation::ContinuationExpected),
            _ => {}
        }
        if header.frame_bytes() > self.limits.frame_bytes_max {
            return Err(Violation::FrameTooBig);
        }
        let held_bytes = pending.0.as_ref().map_or(0, |partial| partial.len());
        if held_bytes.saturating_add(header.payload_bytes) > self.limits.message_bytes_max {
            return Err(Violation::MessageTooBig);
        }
        Ok(())
    }

    /// Decodes an unfragmented message that is complete in `input`, without copying.
    fn whole_message<'b>(
        &self,
        header: &Header,
        inflater: &'b mut Inflater,
        input: &'b mut [u8],
    ) -> Result<Step<'b>, Violation> {
        let payload = unmasked(header, input);
        let text = header.opcode == Opcode::Text;
        let event = match (header.deflated, text) {
            (true, text) => deflate::inflate_message(text, payload, inflater, &self.limits)?,
            (false, true) => Event::Text(Cow::Borrowed(utf8(payload)?)),
            (false, false) => Event::Binary(Cow::Borrowed(payload)),
        };
        Ok(Step { consumed: header.frame_bytes(), event: Some(event) })
    }

    /// Moves payload of the open frame, which starts at `skip`, into `pending`.
    fn take_payload<'b>(
        &self,
        pending: &mut Pending,
        skip: usize,
        inflater: &'b mut Inflater,
        input: &'b mut [u8],
    ) -> Result<Step<'b>, Violation> {
        let Some(partial) = &mut pending.0 else { return Ok(Step::MORE) };
        let (taken, is_complete) = partial.take(&mut input[skip..])?;
        let event = match is_complete.then(|| pending.0.take()).flatten() {
            Some(partial) => Some(partial.finish(inflater, &self.limits)?),
            None => None,
        };
        Ok(Step { consumed: skip + taken, event })
    }
}

impl Step<'_> {
    const MORE: Step<'static> = Step { consumed: 0, event: None };
}

/// Decodes a Close, Ping or Pong, once it is complete: at most 125 bytes.
fn control<'b>(header: &Header, input: &'b mut [u8]) -> Result<Step<'b>, Violation> {
    if input.len() < header.frame_bytes() {
        return Ok(Step::MORE);
    }
    let payload = unmasked(header, input);
    let event = match header.opcode {
        Opcode::Ping => Event::Ping(payload),
        Opcode::Pong => Event::Pong(payload),
        Opcode::Close | Opcode::Continuation | Opcode::Text | Opcode::Binary => close(payload)?,
    };
    Ok(Step { consumed: header.frame_bytes(), event: Some(event) })
}

/// Parses a Close payload (RFC 6455 section 5.5.1): nothing, or a code and a reason in UTF-8.
fn close(payload: &[u8]) -> Result<Event<'_>, Violation> {
    if payload.is_empty() {
        return Ok(Event::Close { code: None, reason: "" });
    }
    let (&code, reason) = payload.split_first_chunk().ok_or(Violation::CloseTruncated)?;
    let code = u16::from_be_bytes(code);
    if !CloseCode::is_legal_on_the_wire(code) {
        return Err(Violation::CloseCode(code));
    }
    Ok(Event::Close { code: Some(code), reason: utf8(reason)? })
}

/// Returns the unmasked payload of a frame that is complete in `input`.
fn unmasked<'b>(header: &Header, input: &'b mut [u8]) -> &'b [u8] {
    let payload = &mut input[header.header_bytes..header.frame_bytes()];
    if let Some(mask) = header.mask {
        mask::apply(payload, mask);
    }
    payload
}

pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Violation> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| Violation::NotUtf8)
}
