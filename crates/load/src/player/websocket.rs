//! A user's WebSocket: how it opens, what goes out and comes in on it, and how it ends.

use std::io::ErrorKind;

use engine::{ConnectionId, Delivery, Dial, EndCause, Io};
use proto::handshake::client_key;
use proto::phoenix::{FrameKind, Version};
use proto::ws::{CloseCode, Decoder, Event, Limits, Opcode, Role, Step, encode_client_frame, encode_header};
use rustix::io::Errno;

use super::client::{Doing, Line, Spoken};
use super::clock::{NEVER, nanos};
use super::deliveries::{Membership, topic_tag};
use super::interpret::{Flow, scene};
use super::program::{Operation, Program};
use super::shard::{Peer, Shard};
use super::upgrade::{Answer, Expected, Request, judge};
use crate::observe::{Kind, NO_LABEL, NO_ROOM, Nanos, Observation, Outcome};
use crate::scenario::plan::{Connect, Dialect};

/// SO_RCVBUF of users that read slowly at some time: the kernel must not hide it from the server.
const SLOW_RECEIVE_BUFFER_BYTES: u32 = 4096;

/// How many times its compressed size a message may inflate to; what more does is an attack on the generator.
const INFLATE_RATIO_MAX: usize = 1000;

/// Bytes that a frame's header may have on top of a message's own limit.
const FRAME_OVERHEAD_BYTES: usize = 64;

impl Shard {
    /// Begins to open a user's WebSocket.
    pub(super) fn connect(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        connect: &Connect,
        program: &Program,
    ) -> Flow {
        let now = self.now();
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        if client.line != Line::Down {
            return self.not_ready(place, "connect: a WebSocket is open already");
        }
        client.intended = client.take_intended();
        client.step_began = now;
        client.doing = Doing::Connecting;
        client.pending = proto::ws::Pending::default();
        let target = client.target;
        let host = &self.stage.targets.target(target).host;
        let path = scene(&self.stage, host, b"").text(&connect.path, client);
        let path = request_target(&self.stage.targets.target(target).base_path, &path, connect.dialect);
        client.dialect = Spoken {
            phoenix: match connect.dialect {
                Dialect::Raw => None,
                Dialect::Phoenix { version, .. } => Some(version),
            },
            deflate: false,
            opened_by: client.position - 1,
        };
        client.rare_mut().path = Some(path.into_boxed_str());
        let buffer = program.reads_slowly.then_some(SLOW_RECEIVE_BUFFER_BYTES);
        match self.dial(io, place, target, Peer::WebSocket(place), buffer) {
            Ok(socket) => {
                let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
                client.socket = Some(socket);
                client.line = Line::Dialing;
                client.step_due = now.saturating_add(nanos(connect.connect_timeout));
                Flow::Waits
            }
            Err((outcome, text)) => {
                self.report_connect(place, outcome, 0, self.now(), || text);
                Flow::Ends(outcome)
            }
        }
    }

    /// Begins a connection to a target from the next source that is free.
    pub(super) fn dial(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        target: crate::scenario::plan::TargetId,
        peer: Peer,
        receive_buffer_bytes: Option<u32>,
    ) -> Result<ConnectionId, (Outcome, String)> {
        let resolved = self.stage.targets.target(target);
        let user = self.clients.item(place).map_or(0, |client| client.user);
        let remote = resolved.addresses[user as usize % resolved.addresses.len()];
        let tls = self.stage.targets.tls.as_ref().zip(resolved.server_name.clone());
        for _ in 0..self.sources.tries() {
            let source = self.sources.next(remote.is_ipv4());
            if let Some(client) = self.clients.item_mut(place) {
                client.source = source.index;
            }
            let dial = Dial { remote, local: source.address, tls: tls.clone(), receive_buffer_bytes };
            let error = match io.connect(&dial, peer) {
                Ok(id) => return Ok(id),
                Err(error) => error,
            };
            if !matches!(error.kind(), ErrorKind::AddrNotAvailable | ErrorKind::AddrInUse) {
                return Err((outcome_of_error(&error), format!("{remote}: {error}")));
            }
        }
        Err((Outcome::NoPort, format!("{remote}: no source address and port is free")))
    }

    /// The connection is established: the upgrade request goes.
    pub(super) fn socket_connected(&mut self, io: &mut Io<'_, Self>, place: u32, id: ConnectionId) {
        let now = self.now();
        let Some((program, position)) = self.running(place) else { return };
        let Some(Operation::Connect(_, connect)) = program.operations.get(position) else { return };
        let key = self.draw_key();
        let Some(client) = self.clients.item_mut(place).filter(|client| client.socket == Some(id)) else {
            return;
        };
        client.line = Line::Upgrading;
        client.step_due = now.saturating_add(nanos(connect.handshake_timeout));
        let host = &self.stage.targets.target(client.target).host;
        let scene = scene(&self.stage, host, b"");
        let origin = connect.origin.as_ref().map(|origin| scene.text(origin, client));
        let headers: Vec<(String, String)> =
            connect.headers.iter().map(|(name, value)| (name.clone(), scene.text(value, client))).collect();
        let rare = client.rare_mut();
        rare.key = Some(key.as_str().into());
        let request = Request {
            path: rare.path.as_deref().unwrap_or("/"),
            host,
            key: &key,
            subprotocols: &connect.subprotocols,
            origin: origin.as_deref(),
            headers: &headers,
            deflate: connect.deflate,
        };
        self.frame.clear();
        request.write(&mut self.frame);
        io.send(id, &self.frame);
        self.set_timer(place);
    }

    /// Bytes came on a user's WebSocket. Returns how many are done with.
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

    /// Reads the response to the upgrade. Returns its length when it is complete, or everything's when it is refused.
    fn response_head(&mut self, io: &mut Io<'_, Self>, place: u32, bytes: &[u8]) -> Option<usize> {
        let (program, position) = self.running(place)?;
        let Some(Operation::Connect(_, connect)) = program.operations.get(position) else {
            return Some(bytes.len());
        };
        let client = self.clients.item_mut(place)?;
        let key = client.rare.as_ref().and_then(|rare| rare.key.as_deref()).unwrap_or_default();
        let expected = Expected { key, subprotocols: &connect.subprotocols, deflate: connect.deflate };
        match judge(bytes, &expected) {
            Answer::Partial => None,
            Answer::Open { head_bytes, deflate } => {
                let at = self.now();
                let client = self.clients.item_mut(place)?;
                client.dialect.deflate = deflate;
                client.line = Line::Open;
                self.opened(io, place, connect, at);
                Some(head_bytes)
            }
            Answer::Refused(refusal) => {
                self.connect_failed(io, place, refusal.outcome, refusal.code, refusal.text);
                Some(bytes.len())
            }
        }
    }

    fn opened(&mut self, io: &mut Io<'_, Self>, place: u32, connect: &Connect, at: Nanos) {
        self.raise(|gauges| &gauges.connected);
        let Some(client) = self.clients.item_mut(place) else { return };
        let rare = client.rare_mut();
        rare.key = None;
        rare.path = None;
        match connect.dialect {
            Dialect::Raw => {
                let host = &self.stage.targets.target(client.target).host;
                let room = connect.room.as_ref().map(|room| scene(&self.stage, host, b"").text(room, client));
                if let Some(room) = room {
                    self.enter_room(place, &room, 0, connect.echo, false);
                }
            }
            Dialect::Phoenix { heartbeat, .. } => {
                client.heartbeat = 0;
                client.heartbeat_due = heartbeat.map_or(NEVER, |every| at.saturating_add(nanos(every)));
            }
        }
        self.report_connect(place, Outcome::Ok, 0, at, String::new);
        self.step_done(io, place, at);
    }

    /// A user becomes a member of the room of this name; returns its number.
    pub(super) fn enter_room(&mut self, place: u32, name: &str, join_ref: u32, echo: bool, presence: bool) {
        // Beyond the last number there are no more rooms; what goes on in this one is then not judged.
        let Ok(room) = self.stage.rooms.intern(name) else { return };
        let tracker = self.stage.rooms.join(room);
        let topic = topic_tag(name);
        if let Some(client) = self.clients.item_mut(place) {
            client.enter(Membership { tracker, room, join_ref, topic, echo, presence });
        }
    }

    /// The connection did not come up in time, or the response did not.
    pub(super) fn connect_timed_out(&mut self, io: &mut Io<'_, Self>, place: u32, _: Nanos) {
        let Some(client) = self.clients.item(place) else { return };
        let (outcome, text) = match client.line {
            Line::Upgrading => (Outcome::HandshakeTimeout, "no response to the upgrade"),
            Line::Down | Line::Dialing | Line::Open | Line::Closing | Line::Mute => {
                (Outcome::ConnectTimeout, "the connection was not established in time")
            }
        };
        self.connect_failed(io, place, outcome, 0, text.to_owned());
    }

    fn connect_failed(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        outcome: Outcome,
        code: u16,
        text: String,
    ) {
        let at = self.now();
        self.drop_socket(io, place);
        self.report_connect(place, outcome, code, at, || text);
        self.end_session(io, place, outcome);
    }

    fn report_connect(
        &mut self,
        place: u32,
        outcome: Outcome,
        code: u16,
        at: Nanos,
        text: impl FnOnce() -> String,
    ) {
        let label = self.running_label(place);
        let seen = self.of_client(place, Kind::Connect, outcome, at);
        let Some(client) = self.clients.item_mut(place) else { return };
        let intended = client.take_intended();
        let began = client.step_began;
        self.see(Observation { intended, began, code, label, ..seen }, text);
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

    /// Reads frames. Returns how many bytes are done with.
    fn frames(&mut self, io: &mut Io<'_, Self>, place: u32, id: ConnectionId, bytes: &mut [u8]) -> usize {
        let message_bytes_max = self.stage.plan.limits.message_bytes_max as usize;
        let limits = Limits {
            frame_bytes_max: message_bytes_max.saturating_add(FRAME_OVERHEAD_BYTES),
            message_bytes_max,
            inflate_ratio_max: INFLATE_RATIO_MAX,
        };
        // Taken out while events borrow from it, so that they can be handled with the whole shard at hand.
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
                    let text = format!("the server broke the framing: {violation}");
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

    /// Sends what stands in `body` as one frame, at once. Returns whether there was a connection to send it on.
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

    /// Makes a compressed frame; returns whether that is smaller.
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

    /// Sends a close frame; the user hears on until the peer has answered it.
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
        let text = format!("the server closed with {close_code} {reason:?}");
        self.lost(io, place, Outcome::Closed, close_code, text);
    }

    /// The closing handshake of ours is over.
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
        self.report_disconnect(place, outcome, code, at, || "the server did not answer the close".to_owned());
        self.settle_all(place, Outcome::Ok, at);
        match doing {
            Doing::Finishing => self.finish(io, place, at),
            Doing::Closing => self.step_done(io, place, at),
            Doing::Ready
            | Doing::Connecting
            | Doing::Joining
            | Doing::Leaving
            | Doing::Pushing
            | Doing::Matching
            | Doing::Pausing
            | Doing::AtBarrier
            | Doing::Requesting
            | Doing::HalfOpen
            | Doing::Staying
            | Doing::Draining
            | Doing::Resting => {}
        }
    }

    /// The server did not answer our close frame: it is gone for us all the same.
    pub(super) fn close_timed_out(&mut self, io: &mut Io<'_, Self>, place: u32, at: Nanos) {
        self.drop_socket(io, place);
        self.closed(io, place, Outcome::Timeout, 0, at);
    }

    /// The peer broke a rule: says so and ends the connection.
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

    /// An open WebSocket has ended without our wanting it.
    fn lost(&mut self, io: &mut Io<'_, Self>, place: u32, outcome: Outcome, code: u16, text: String) {
        let at = self.now();
        let Some(client) = self.clients.item(place) else { return };
        let doing = client.doing;
        let was_closing = client.line == Line::Closing;
        self.drop_socket(io, place);
        self.report_disconnect(place, outcome, code, at, || text);
        self.settle_all(place, outcome, at);
        match doing {
            Doing::HalfOpen => {}
            // The end that it was about to make anyway.
            Doing::Finishing if was_closing => self.finish(io, place, at),
            Doing::Closing if was_closing => self.step_done(io, place, at),
            Doing::Ready
            | Doing::Connecting
            | Doing::Joining
            | Doing::Leaving
            | Doing::Pushing
            | Doing::Matching
            | Doing::Pausing
            | Doing::AtBarrier
            | Doing::Requesting
            | Doing::Closing
            | Doing::Finishing
            | Doing::Staying
            | Doing::Draining
            | Doing::Resting => self.end_session(io, place, outcome),
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

    /// The engine has no connection any more that a user still had.
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

    /// What the end of a connection means to a user.
    pub(super) fn outcome_of_end(&self, io: &Io<'_, Self>, line: Line, cause: EndCause) -> (Outcome, String) {
        match cause {
            EndCause::PeerClosed if line == Line::Upgrading => {
                (Outcome::Ended, "the server ended the connection before it had answered".to_owned())
            }
            EndCause::PeerClosed => {
                (Outcome::Ended, "the server ended the connection without a close frame".to_owned())
            }
            EndCause::Reset(kind) => {
                let error = std::io::Error::from(kind);
                (outcome_of_error(&error), error.to_string())
            }
            EndCause::Tls => {
                let text = io.tls_error().map_or_else(|| "TLS failed".to_owned(), ToString::to_string);
                (Outcome::Tls, text)
            }
            EndCause::Overflow => (Outcome::Overflow, "too much waited for the server to read it".to_owned()),
            EndCause::Unconsumed => (Outcome::Protocol, "what cannot be a message".to_owned()),
            EndCause::Local
            | EndCause::Lingered
            | EndCause::Aborted
            | EndCause::HandedOff
            | EndCause::Shutdown => (Outcome::Stopped, "the run ended".to_owned()),
        }
    }

    /// What a step needs is not there, which ends the session.
    pub(super) fn not_ready(&mut self, place: u32, text: &'static str) -> Flow {
        let at = self.now();
        let mut seen = self.of_client(place, Kind::Step, Outcome::NotReady, at);
        seen.label = self.running_label(place);
        self.see(seen, || text.to_owned());
        Flow::Ends(Outcome::NotReady)
    }

    fn draw_key(&mut self) -> String {
        let (high, low) = (self.noise.bits(), self.noise.bits());
        client_key((u128::from(high) << 64 | u128::from(low)).to_ne_bytes())
    }
}

/// The most text that a close frame has room for behind its code (RFC 6455, section 5.5).
const CLOSE_REASON_BYTES_MAX: usize = 123;

/// What goes into the request line.
fn request_target(base_path: &str, path: &str, dialect: Dialect) -> String {
    let slash = if path.is_empty() || path.starts_with(['/', '?']) { "" } else { "/" };
    let mut target = format!("{base_path}{slash}{path}");
    if target.is_empty() || target.starts_with('?') {
        target.insert(0, '/');
    }
    let Dialect::Phoenix { version, .. } = dialect else { return target };
    let query = target.split_once('?').map(|(_, query)| query);
    let has_version = query.is_some_and(|query| query.split('&').any(|pair| pair.starts_with("vsn=")));
    if !has_version {
        target.push(if query.is_some() { '&' } else { '?' });
        target.push_str(match version {
            Version::V1 => "vsn=1.0.0",
            Version::V2 => "vsn=2.0.0",
        });
    }
    target
}

/// What an error of the kernel's means to a user.
pub(super) fn outcome_of_error(error: &std::io::Error) -> Outcome {
    let errno = Errno::from_io_error(error);
    if matches!(errno, Some(Errno::MFILE | Errno::NFILE)) {
        return Outcome::NoDescriptor;
    }
    match error.kind() {
        ErrorKind::ConnectionRefused => Outcome::Refused,
        ErrorKind::TimedOut => Outcome::ConnectTimeout,
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
            Outcome::Unreachable
        }
        ErrorKind::AddrNotAvailable | ErrorKind::AddrInUse => Outcome::NoPort,
        ErrorKind::InvalidInput => Outcome::Tls,
        ErrorKind::UnexpectedEof => Outcome::Ended,
        _ => Outcome::Reset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_target_has_its_base_path_and_version() {
        let phoenix = |version| Dialect::Phoenix { version, heartbeat: None };
        let cases = [
            ("", "", Dialect::Raw, "/"),
            ("/base", "", Dialect::Raw, "/base"),
            ("", "room", Dialect::Raw, "/room"),
            ("", "?a=1", Dialect::Raw, "/?a=1"),
            ("", "/socket/websocket", phoenix(Version::V2), "/socket/websocket?vsn=2.0.0"),
            ("/app", "/s?token=1", phoenix(Version::V1), "/app/s?token=1&vsn=1.0.0"),
            ("", "/s?vsn=2.0.1", phoenix(Version::V2), "/s?vsn=2.0.1"),
        ];
        for (base_path, path, dialect, expected) in cases {
            assert_eq!(request_target(base_path, path, dialect), expected);
        }
    }
}
