//! The frame decoder: its outcome and its memory depend on the bytes alone.

use proto::ws::{
    CONTROL_PAYLOAD_BYTES_MAX, Decoder, Event, HEADER_BYTES_MAX, Inflater, Limits, Pending, Role, Violation,
};

/// What a stream contained, and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Reading {
    pub events: Vec<Received>,
    pub violation: Option<Violation>,
    /// Whether nothing was left over or incomplete.
    pub is_complete: bool,
}

/// An [`Event`] that outlives its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close { code: Option<u16>, reason: String },
}

impl From<Event<'_>> for Received {
    fn from(event: Event<'_>) -> Self {
        match event {
            Event::Text(text) => Received::Text(text.into_owned()),
            Event::Binary(bytes) => Received::Binary(bytes.into_owned()),
            Event::Ping(bytes) => Received::Ping(bytes.to_vec()),
            Event::Pong(bytes) => Received::Pong(bytes.to_vec()),
            Event::Close { code, reason } => Received::Close { code, reason: reason.to_owned() },
        }
    }
}

/// Reads a stream that arrives in `pieces`, like a connection: what is not consumed is kept for the next piece.
pub fn read<'a>(decoder: &Decoder, pieces: impl IntoIterator<Item = &'a [u8]>) -> Reading {
    let mut inflater = Inflater::default();
    let mut pending = Pending::default();
    let mut buffer: Vec<u8> = Vec::new();
    let mut reading = Reading { events: Vec::new(), violation: None, is_complete: false };
    let mut received_bytes = 0;
    for piece in pieces {
        received_bytes += piece.len();
        buffer.extend_from_slice(piece);
        let mut start = 0;
        loop {
            let step = match decoder.decode(&mut pending, &mut inflater, &mut buffer[start..]) {
                Ok(step) => step,
                Err(violation) => {
                    reading.violation = Some(violation);
                    return reading;
                }
            };
            if step.consumed == 0 {
                assert_eq!(step.event, None, "an event takes bytes");
                break;
            }
            start += step.consumed;
            reading.events.extend(step.event.map(Received::from));
            if let Some(Received::Close { .. }) = reading.events.last() {
                return reading;
            }
        }
        buffer.drain(..start);
        assert!(
            buffer.len() < HEADER_BYTES_MAX + CONTROL_PAYLOAD_BYTES_MAX,
            "more left over than a control frame"
        );
        assert!(pending.memory() <= 2 * received_bytes + 256, "memory for bytes that did not come");
    }
    reading.is_complete = buffer.is_empty() && pending.is_idle();
    reading
}

/// Small enough for a fuzzer to exceed.
const LIMITS: Limits = Limits { frame_bytes_max: 4096, message_bytes_max: 6000, inflate_ratio_max: 20 };

/// The first byte chooses the decoder, the second the size of the pieces; the rest is the stream.
pub fn decoding_does_not_depend_on_cuts(data: &[u8]) {
    let Some((&[setting, cut], stream)) = data.split_first_chunk() else { return };
    let role = if setting & 1 == 0 { Role::Server } else { Role::Client };
    let decoder = Decoder { role, limits: LIMITS, deflate: setting & 2 != 0 };
    let whole = read(&decoder, [stream]);
    let pieces = read(&decoder, stream.chunks(usize::from(cut).max(1)));
    assert_eq!(whole, pieces);
    assert!(whole.events.iter().all(|event| size(event) <= LIMITS.message_bytes_max));
}

fn size(event: &Received) -> usize {
    match event {
        Received::Text(text) => text.len(),
        Received::Binary(bytes) | Received::Ping(bytes) | Received::Pong(bytes) => bytes.len(),
        Received::Close { reason, .. } => reason.len(),
    }
}
