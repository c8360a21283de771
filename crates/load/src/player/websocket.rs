//! A user's open WebSocket: sending, receiving, and how it ends.

use engine::{ConnectionId, Delivery, EndCause, Io};
use proto::phoenix::FrameKind;
use proto::ws::{CloseCode, Decoder, Event, Limits, Opcode, Role, Step, encode_client_frame, encode_header};

use super::client::{AfterClose, Doing, Line};
use super::clock::NEVER;
use super::connecting::outcome_of_error;
use super::interpret::Flow;
use super::shard::Shard;
use crate::observe::{Kind, NO_LABEL, NO_ROOM, Nanos, Observation, Outcome};

/// Maximum inflation ratio of a message; a higher one is treated as an attack on the generator.
const INFLATE_RATIO_MAX: usize = 1000;

/// Allowance for a frame header on top of the message size limit, in bytes.
const FRAME_OVERHEAD_BYTES: usize = 64;

impl Shard {
    /// Handles bytes received on a user's WebSocket. Returns how many are consumed.
    pub(super) fn socket_received(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        id: ConnectionId,
        bytes: &mut [u8],
    ) -> usize {
        let Some(client) = self.clients.item(place).filter(|client| client.socket == Some(id)) else {
            return bytes.len();
        };
        let mut used = 0;
        if client.line == Line::Upgrading {
            match self.response_head(io, place, bytes) {
                Some(head_bytes) => used = head_bytes,
                None => return 0,
            }
        }
        used += self.frames(io, place, id, &mut bytes[used..]);
        self.slow_down(io, place, used);
        self.set_timer(place);
        used
    }

    /// Cuts the connection and forgets it.
    pub(super) fn drop_socket(&mut self, io: &mut Io<'_, Self>, place: u32) {
        let Some(client) = self.clients.item_mut(place) else { return };
        let was_open = matches!(client.line, Line::Open | Line::Closing | Line::Mute);
        client.line = Line::Down;
        client.heartbeat_due = NEVER;
        client.heartbeat = 0;
        client.pending = proto::ws::Pending::default();
        if let Some(socket) = client.socket.take() {
            io.abort(socket);
        }
        if let Some(rare) = &mut client.rare {
            rare.slow_reader = None;
            rare.key = None;
            rare.path = None;
            rare.join = None;
        }
        if was_open {
            self.lower(|gauges| &gauges.connected);
        }
    }

    /// Decodes frames. Returns how many bytes are consumed.
    fn frames(&mut self, io: &mut Io<'_, Self>, place: u32, id: ConnectionId, bytes: &mut [u8]) -> usize {
        let message_bytes_max = self.stage.plan.limits.message_bytes_max as usize;
        let limits = Limits {
            frame_bytes_max: message_bytes_max.saturating_add(FRAME_OVERHEAD_BYTES),
            message_bytes_max,
            inflate_ratio_max: INFLATE_RATIO_MAX,
        };
        // Taken out of `self` because events borrow from it while they are handled with the whole shard.
        let mut inflater = std::mem::take(&mut self.inflater);
        let mut used = 0;
        while used < bytes.len() {
            let client = self.clients.item_mut(place).filter(|client| client.socket == Some(id));
            let Some(client) = client.filter(|client| matches!(client.line, Line::Open | Line::Closing))
            else {
                used = bytes.len();
                break;
            };
            let decoder = Decoder { role: Role::Client, limits, deflate: client.dialect.deflate };
            match decoder.decode(&mut client.pending, &mut inflater, &mut bytes[used..]) {
                Ok(Step { consumed: 0, event: None }) => break,
                Ok(Step { consumed, event }) => {
                    used += consumed;
                    if let Some(event) = event {
                        self.event(io, place, id, event);
                    }
                }
                Err(violation) => {
                    let text = format!("the server violated the WebSocket protocol: {violation}");
                    self.break_off(io, place, violation.close_code(), Outcome::Protocol, text);
                    used = bytes.len();
                }
            }
        }
        self.inflater = inflater;
        used
    }

    fn event(&mut self, io: &mut Io<'_, Self>, place: u32, id: ConnectionId, event: Event<'_>) {
        match event {
            Event::Text(text) => self.message(io, place, FrameKind::Text, text.as_bytes()),
            Event::Binary(bytes) => self.message(io, place, FrameKind::Binary, &bytes),
            Event::Ping(payload) => {
                self.body.clear();
                self.body.extend_from_slice(payload);
                self.transmit(io, place, Opcode::Pong);
            }
            Event::Pong(_) => {}
            Event::Close { code, reason } => self.peer_closes(io, place, id, code, reason),
        }
    }

    fn message(&mut self, io: &mut Io<'_, Self>, place: u32, kind: FrameKind, body: &[u8]) {
        let at = self.now();
        self.has_read(io, at);
        let Some(client) = self.clients.item(place) else { return };
        match client.dialect.phoenix {
            Some(version) => self.phoenix_message(io, place, version, kind, body, at),
            None => {
                let room = client.memberships().next().map_or(NO_ROOM, |membership| membership.room);
                self.receive(place, room, body, at);
                self.keep_for_capture(place, body);
                self.match_wait(io, place, None, None, body, at);
            }
        }
    }

    /// Sends the contents of `body` as one frame, at once. Returns whether there was a connection to send it on.
    pub(super) fn transmit(&mut self, io: &mut Io<'_, Self>, place: u32, opcode: Opcode) -> bool {
        let mask = (self.noise.bits() as u32).to_ne_bytes();
        let Some(client) = self.clients.item(place) else { return false };
        let Some(socket) = client.socket else { return false };
        self.frame.clear();
        let is_data = matches!(opcode, Opcode::Text | Opcode::Binary);
        if !(client.dialect.deflate && is_data && self.append_compressed(opcode, mask)) {
            encode_client_frame(&mut self.frame, opcode, &self.body, mask);
        }
        let bytes = bytes::Bytes::copy_from_slice(&self.frame);
        match io.deliver(socket, &bytes) {
            Delivery::Written | Delivery::Queued => true,
            Delivery::Gone => false,
        }
    }

    /// Appends a compressed frame if that is smaller; returns whether it did.
    fn append_compressed(&mut self, opcode: Opcode, mask: [u8; 4]) -> bool {
        let mut payload = Vec::new();
        self.deflater.compress(&self.body, &mut payload);
        if payload.len() >= self.body.len() {
            return false;
        }
        for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
            *byte ^= mask;
        }
        encode_header(&mut self.frame, opcode, true, true, payload.len(), Some(mask));
        self.frame.extend_from_slice(&payload);
        true
    }

    /// Sends a close frame; the user keeps receiving until the peer has answered it.
    pub(super) fn send_close(&mut self, io: &mut Io<'_, Self>, place: u32, code: u16, reason: &str) {
        let reason = &reason[..reason.floor_char_boundary(CLOSE_REASON_BYTES_MAX)];
        self.body.clear();
        self.body.extend_from_slice(&code.to_be_bytes());
        self.body.extend_from_slice(reason.as_bytes());
        self.resume(io, place);
        self.transmit(io, place, Opcode::Close);
        self.depart(place);
        let Some(client) = self.clients.item_mut(place) else { return };
        client.line = Line::Closing;
        client.heartbeat_due = NEVER;
    }

    fn peer_closes(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        id: ConnectionId,
        code: Option<u16>,
        reason: &str,
    ) {
        let at = self.now();
        let Some(client) = self.clients.item(place) else { return };
        // RFC 6455, section 7.1.5: 1005 stands for a close frame without a code.
        let close_code = code.unwrap_or(1005);
        if client.line == Line::Closing {
            return self.closed(io, place, Outcome::Ok, close_code, at);
        }
        self.body.clear();
        self.body.extend_from_slice(code.map(u16::to_be_bytes).as_ref().map_or(&[][..], |code| code));
        self.transmit(io, place, Opcode::Close);
        if let Some(client) = self.clients.item_mut(place) {
            client.socket = None;
        }
        io.close(id);
        let text = format!("the server closed the connection with {close_code} {reason:?}");
        self.lost(io, place, Outcome::Closed, close_code, text);
    }

    /// The closing handshake that we began is over.
    pub(super) fn closed(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        outcome: Outcome,
        code: u16,
        at: Nanos,
    ) {
        let Some(client) = self.clients.item_mut(place) else { return };
        if let Some(socket) = client.socket.take() {
            io.close(socket);
        }
        let doing = client.doing;
        self.drop_socket(io, place);
        self.report_disconnect(place, outcome, code, at, || {
            "the server did not answer the close frame".to_owned()
        });
        self.settle_all(place, Outcome::Ok, at);
        self.go_on_after_close(io, place, doing.after_close(), at);
    }

    fn go_on_after_close(&mut self, io: &mut Io<'_, Self>, place: u32, next: Option<AfterClose>, at: Nanos) {
        match next {
            Some(AfterClose::Finish) => self.finish(io, place, at),
            Some(AfterClose::GoOn) => self.step_done(io, place, at),
            None => {}
        }
    }

    /// The server did not answer our close frame: the connection is treated as closed.
    pub(super) fn close_timed_out(&mut self, io: &mut Io<'_, Self>, place: u32, at: Nanos) {
        self.drop_socket(io, place);
        self.closed(io, place, Outcome::Timeout, 0, at);
    }

    /// Ends the connection because the peer violated the protocol, with a close frame that says so.
    pub(super) fn break_off(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        code: u16,
        outcome: Outcome,
        text: String,
    ) {
        self.body.clear();
        self.body.extend_from_slice(&code.to_be_bytes());
        self.transmit(io, place, Opcode::Close);
        if let Some(socket) = self.clients.item_mut(place).and_then(|client| client.socket.take()) {
            io.close(socket);
        }
        self.lost(io, place, outcome, code, text);
    }

    /// An open WebSocket has ended unexpectedly.
    fn lost(&mut self, io: &mut Io<'_, Self>, place: u32, outcome: Outcome, code: u16, text: String) {
        let at = self.now();
        let Some(client) = self.clients.item(place) else { return };
        let doing = client.doing;
        let was_closing = client.line == Line::Closing;
        self.drop_socket(io, place);
        self.report_disconnect(place, outcome, code, at, || text);
        let after_close = doing.after_close().filter(|_| was_closing);
        let is_wanted = doing != Doing::HalfOpen && after_close.is_none();
        if is_wanted && self.comes_back(io, place, outcome) {
            return;
        }
        self.settle_all(place, outcome, at);
        if doing == Doing::HalfOpen {
            return;
        }
        match after_close {
            None => self.end_session(io, place, outcome),
            // The connection was about to close anyway.
            next => self.go_on_after_close(io, place, next, at),
        }
    }

    fn report_disconnect(
        &mut self,
        place: u32,
        outcome: Outcome,
        code: u16,
        at: Nanos,
        text: impl FnOnce() -> String,
    ) {
        let seen = self.of_client(place, Kind::Disconnect, outcome, at);
        self.see(Observation { code, label: NO_LABEL, ..seen }, text);
    }

    /// The engine has ended a connection that a user still had.
    pub(super) fn socket_ended(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        id: ConnectionId,
        cause: EndCause,
    ) {
        let Some(client) = self.clients.item_mut(place).filter(|client| client.socket == Some(id)) else {
            return;
        };
        client.socket = None;
        let line = client.line;
        let (outcome, text) = self.outcome_of_end(io, line, cause);
        match line {
            Line::Dialing | Line::Upgrading => self.connect_failed(io, place, outcome, 0, text),
            Line::Closing if matches!(cause, EndCause::PeerClosed) => {
                let at = self.now();
                self.closed(io, place, Outcome::Ok, CloseCode::NORMAL, at);
            }
            Line::Open | Line::Closing | Line::Mute => self.lost(io, place, outcome, 0, text),
            Line::Down => {}
        }
        self.set_timer(place);
    }

    /// Maps the end of a connection to a user's outcome.
    pub(super) fn outcome_of_end(&self, io: &Io<'_, Self>, line: Line, cause: EndCause) -> (Outcome, String) {
        match cause {
            EndCause::PeerClosed if line == Line::Upgrading => {
                (Outcome::Ended, "the server closed the connection before it answered".to_owned())
            }
            EndCause::PeerClosed => {
                (Outcome::Ended, "the server closed the connection without a close frame".to_owned())
            }
            EndCause::Reset(kind) => {
                let error = std::io::Error::from(kind);
                (outcome_of_error(&error), error.to_string())
            }
            EndCause::Tls => {
                let text = io.tls_error().map_or_else(|| "TLS failed".to_owned(), ToString::to_string);
                (Outcome::Tls, text)
            }
            EndCause::Overflow => {
                (Outcome::Overflow, "the server read too slowly: the send buffer is full".to_owned())
            }
            EndCause::Unconsumed => (Outcome::Protocol, "data that is not a WebSocket message".to_owned()),
            EndCause::Local
            | EndCause::Lingered
            | EndCause::Aborted
            | EndCause::HandedOff
            | EndCause::Shutdown => (Outcome::Stopped, "the run ended".to_owned()),
        }
    }

    /// Reports that a step's precondition is missing, which ends the session.
    pub(super) fn not_ready(&mut self, place: u32, text: &'static str) -> Flow {
        let at = self.now();
        let mut seen = self.of_client(place, Kind::Step, Outcome::NotReady, at);
        seen.label = self.running_label(place);
        self.see(seen, || text.to_owned());
        Flow::Ends(Outcome::NotReady)
    }
}

/// Maximum length of the reason in a close frame (RFC 6455, section 5.5).
const CLOSE_REASON_BYTES_MAX: usize = 123;
