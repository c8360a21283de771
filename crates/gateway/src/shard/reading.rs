//! Reads the frames of an open WebSocket.

use super::driver::{ShardDriver, ShardIo, key};
use super::peer::Phase;
use crate::metrics::CloseReason;
use engine::ConnectionId;
use hub::Ticket;
use proto::phoenix::FrameKind;
use proto::ws::{CloseCode, Event, Opcode, Pending, encode_close, encode_frame, encode_header};
use std::sync::atomic::Ordering::Relaxed;

/// Whether to continue after a frame.
enum AfterFrame {
    GoOn,
    Stop,
}

impl ShardDriver {
    /// Handles every complete frame and returns how many bytes were consumed.
    pub(crate) fn read_frames(&mut self, io: &mut ShardIo<'_>, id: ConnectionId, bytes: &mut [u8]) -> usize {
        let Some(peer) = io.peer(id) else { return bytes.len() };
        let (phase, bits) = (peer.phase, peer.window_bits);
        let decoder = self.decoders[usize::from(peer.mount.0)][usize::from(bits > 0)];
        let mut pending = std::mem::take(&mut peer.pending);
        let kept_before = pending.memory();
        // Taken out while a frame that it inflated is lent to the hub.
        let mut inflater = std::mem::take(&mut self.inflater);
        let mut consumed = 0;
        let done = loop {
            let step = match decoder.decode(&mut pending, &mut inflater, &mut bytes[consumed..]) {
                Ok(step) => step,
                Err(violation) => {
                    self.close(io, id, violation.close_code(), CloseReason::Violation);
                    break bytes.len();
                }
            };
            consumed += step.consumed;
            match step.event {
                Some(event) => match self.frame(io, id, phase, bits, event) {
                    AfterFrame::GoOn => {}
                    AfterFrame::Stop => break bytes.len(),
                },
                None if step.consumed == 0 => break consumed,
                None => {}
            }
        };
        self.inflater = inflater;
        if self.is_too_much(pending.memory(), kept_before) {
            drop(pending);
            self.count_partial(kept_before, 0);
            self.close(io, id, CloseCode::TRY_AGAIN_LATER, CloseReason::MemoryBudget);
            return bytes.len();
        }
        self.keep(io, id, pending, kept_before);
        done
    }

    /// Returns whether an incomplete message has grown beyond what its connection may keep: half of what is left of the
    /// shard's bound, so that the largest messages are refused first.
    fn is_too_much(&self, kept: usize, kept_before: usize) -> bool {
        if kept <= kept_before || self.shared.partial_bytes_max == usize::MAX {
            return false;
        }
        let all = self.metrics().partial_bytes.load(Relaxed) as usize + kept - kept_before;
        kept > self.shared.partial_bytes_max.saturating_sub(all) / 2
    }

    fn keep(&self, io: &mut ShardIo<'_>, id: ConnectionId, pending: Pending, kept_before: usize) {
        let kept = io.peer(id).map_or(0, |peer| {
            peer.pending = pending;
            peer.pending.memory()
        });
        self.count_partial(kept_before, kept);
    }

    /// Updates the count of bytes kept for incomplete messages, for one connection.
    pub(crate) fn count_partial(&self, before: usize, after: usize) {
        if before != after {
            let bytes = &self.metrics().partial_bytes;
            // Only this shard writes it.
            bytes.store(bytes.load(Relaxed) + after as u64 - before as u64, Relaxed);
        }
    }

    fn frame(
        &mut self,
        io: &mut ShardIo<'_>,
        id: ConnectionId,
        phase: Phase,
        bits: u8,
        event: Event<'_>,
    ) -> AfterFrame {
        match event {
            Event::Text(text) if phase == Phase::Echo => {
                self.echo(io, id, bits, Opcode::Text, text.as_bytes())
            }
            Event::Binary(bytes) if phase == Phase::Echo => self.echo(io, id, bits, Opcode::Binary, &bytes),
            Event::Text(text) => return self.message(io, id, FrameKind::Text, text.as_bytes()),
            Event::Binary(bytes) => return self.message(io, id, FrameKind::Binary, &bytes),
            Event::Ping(bytes) => {
                self.scratch.clear();
                encode_frame(&mut self.scratch, Opcode::Pong, bytes);
                io.send(id, &self.scratch);
            }
            Event::Pong(_) => {}
            Event::Close { code, .. } => {
                self.answer_close(io, id, code);
                return AfterFrame::Stop;
            }
        }
        AfterFrame::GoOn
    }

    fn message(
        &mut self,
        io: &mut ShardIo<'_>,
        id: ConnectionId,
        kind: FrameKind,
        bytes: &[u8],
    ) -> AfterFrame {
        self.handle(io, hub::Event::Frame { key: key(id), kind, bytes, ticket: Ticket::NONE });
        let is_open = io.peer(id).is_some_and(|peer| peer.phase == Phase::Channels);
        if is_open { AfterFrame::GoOn } else { AfterFrame::Stop }
    }

    fn echo(&mut self, io: &mut ShardIo<'_>, id: ConnectionId, bits: u8, opcode: Opcode, payload: &[u8]) {
        self.scratch.clear();
        if bits == 0 {
            encode_frame(&mut self.scratch, opcode, payload);
        } else {
            let mut compressed = Vec::with_capacity(payload.len());
            self.deflater.compress_within(bits, payload, &mut compressed);
            encode_header(&mut self.scratch, opcode, true, true, compressed.len(), None);
            self.scratch.extend_from_slice(&compressed);
        }
        io.send(id, &self.scratch);
    }

    /// Echoes a legal close code and closes the connection: RFC 6455 section 5.5.1.
    fn answer_close(&mut self, io: &mut ShardIo<'_>, id: ConnectionId, code: Option<u16>) {
        if !self.begin_ending(io, id, CloseReason::Client) {
            return;
        }
        let code = code.filter(|&code| CloseCode::is_legal_on_the_wire(code));
        self.scratch.clear();
        encode_close(&mut self.scratch, code, "");
        io.send(id, &self.scratch);
        io.close(id);
    }
}
