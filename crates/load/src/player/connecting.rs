//! Opening a user's WebSocket: from the next free source over TCP and TLS to the end of the upgrade response, and how
//! failures are reported.

use std::io::ErrorKind;

use engine::{ConnectionId, Dial, Io};
use proto::handshake::client_key;
use proto::phoenix::Version;
use rustix::io::Errno;

use super::client::{Doing, Line, Spoken};
use super::clock::{NEVER, nanos};
use super::deliveries::{Membership, topic_tag};
use super::interpret::{Flow, scene};
use super::program::{Operation, Program};
use super::shard::{Peer, Shard};
use crate::observe::{Kind, NO_ROOM, Nanos, Observation, Outcome};
use crate::scenario::plan::{Connect, Dialect, TargetId};
use crate::upgrade::{Answer, Expected, Request, judge};

/// SO_RCVBUF of users whose session reads slowly at any time: kernel buffering must not hide the slow reading from the
/// server.
const SLOW_RECEIVE_BUFFER_BYTES: u32 = 4096;

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
            return self.not_ready(place, "connect: a WebSocket is already open");
        }
        client.intended = client.take_intended();
        self.begins(place, now);
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
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
                if self.comes_back(io, place, outcome) { Flow::Waits } else { Flow::Ends(outcome) }
            }
        }
    }

    /// Begins a connection to a target from the next free source.
    pub(super) fn dial(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        target: TargetId,
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
                let outcome = outcome_of_error(&error);
                let help =
                    if outcome == Outcome::NoDescriptor { self.more_descriptors() } else { String::new() };
                return Err((outcome, format!("{remote}: {error}{help}")));
            }
        }
        Err((Outcome::NoPort, format!("{remote}: no free source address and port")))
    }

    /// Returns advice for when there are more connections at once than the shards have descriptors for.
    fn more_descriptors(&self) -> String {
        let expected = self.stage.connections_expected;
        let expected = expected
            .map_or_else(String::new, |count| format!("{count} simultaneous connections were expected; "));
        format!("; {expected}use more --threads, or raise the limit of open files")
    }

    /// The connection is established: sends the upgrade request.
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

    /// Reads the response to the upgrade. Returns its length once it is complete, or the length of all bytes if it is
    /// refused.
    pub(super) fn response_head(&mut self, io: &mut Io<'_, Self>, place: u32, bytes: &[u8]) -> Option<usize> {
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
                rare.returns = 0;
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

    /// Makes a user a member of the named room and returns the room's number.
    pub(super) fn enter_room(
        &mut self,
        place: u32,
        name: &str,
        join_ref: u32,
        echo: bool,
        presence: bool,
    ) -> Option<u32> {
        // Once room numbers are exhausted there are no more rooms, and the traffic in this one is not judged.
        let room = self.stage.rooms.intern(name).ok()?;
        let tracker = self.stage.rooms.join(room);
        let topic = topic_tag(name);
        let elsewhere = self.elsewhere(self.now());
        let membership = Membership { tracker, room, join_ref, topic, echo, presence, elsewhere };
        self.clients.item_mut(place)?.enter(membership);
        Some(room)
    }

    /// The connection or the upgrade response timed out.
    pub(super) fn connect_timed_out(&mut self, io: &mut Io<'_, Self>, place: u32, _: Nanos) {
        let Some(client) = self.clients.item(place) else { return };
        let (outcome, text) = match client.line {
            Line::Upgrading => (Outcome::HandshakeTimeout, "no response to the upgrade"),
            Line::Down | Line::Dialing | Line::Open | Line::Closing | Line::Mute => {
                (Outcome::ConnectTimeout, "timeout before the connection was established")
            }
        };
        self.connect_failed(io, place, outcome, 0, text.to_owned());
    }

    pub(super) fn connect_failed(
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
        if !self.comes_back(io, place, outcome) {
            self.end_session(io, place, outcome);
        }
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
        let (began, count) = (client.step_began, client.begin_lag_us());
        // At this moment a user is in a room only if the URL selects the room.
        let room = client.memberships().next().map_or(NO_ROOM, |membership| membership.room);
        self.see(Observation { intended, began, count, code, label, room, ..seen }, text);
    }

    fn draw_key(&mut self) -> String {
        let (high, low) = (self.noise.bits(), self.noise.bits());
        client_key((u128::from(high) << 64 | u128::from(low)).to_ne_bytes())
    }
}

/// Returns the target for the request line.
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

/// Maps an I/O error to a user's outcome.
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
