//! A user's HTTP requests (RFC 9112): its own connection, kept alive if both sides agree, one request at a time.

use std::io::Write as _;

use engine::{ConnectionId, EndCause, Io};

use super::client::{Doing, Line};
use super::clock::nanos;
use super::interpret::{Flow, scene};
use super::program::Operation;
use super::response::{RequestTraits, Response};
use super::shard::{Peer, Shard};
use crate::observe::{Kind, Nanos, Observation, Outcome};
use crate::scenario::plan::{HttpRequest, TargetId};

const USER_AGENT: &str = concat!("stampede/", env!("CARGO_PKG_VERSION"));

/// An HTTP connection and its current request.
#[derive(Debug)]
pub(crate) struct Request {
    socket: ConnectionId,
    target: TargetId,
    is_established: bool,
    /// Whether the connection has carried a request before: then the server may have closed it just as this one was
    /// sent.
    is_reused: bool,
    /// The request, until its response is complete; empty between requests.
    text: Vec<u8>,
    /// `None` between requests.
    response: Option<Response>,
}

impl Shard {
    /// Sends an HTTP request.
    pub(super) fn request(&mut self, io: &mut Io<'_, Self>, place: u32, request: &HttpRequest) -> Flow {
        let now = self.now();
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        client.intended = client.take_intended();
        self.begins(place, now);
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        client.step_began = now;
        let host = &self.stage.targets.target(client.target).host;
        let url = scene(&self.stage, host, b"").text(&request.url, client);
        let own = client.target;
        let found = match !url.starts_with('/') && url.contains("://") {
            true => self.stage.targets.of_url(&url).map(|(target, path)| (target, path.to_owned())),
            false => {
                let slash = if url.starts_with('/') { "" } else { "/" };
                Some((own, format!("{}{slash}{url}", self.stage.targets.target(own).base_path)))
            }
        };
        let Some((target, path)) = found else {
            return self.not_ready(place, "http: the URL is not one of the scenario's targets");
        };
        let text = self.request_text(place, target, &path, request);
        let asked = self.asked(place, request);
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        client.doing = Doing::Requesting;
        client.step_due = now.saturating_add(nanos(request.timeout));
        let idle = client.rare.as_mut().and_then(|rare| rare.request.as_mut());
        if let Some(kept) = idle.filter(|kept| kept.target == target && kept.is_established) {
            io.send(kept.socket, &text);
            kept.text = text;
            kept.is_reused = true;
            kept.response = Some(Response::new(asked));
            return Flow::Waits;
        }
        client.step_due = now.saturating_add(nanos(request.connect_timeout));
        self.drop_request(io, place);
        match self.open_request(io, place, target, text, asked) {
            Ok(()) => Flow::Waits,
            // A limit of the generator would fail the next request at once as well.
            Err((outcome, text)) => {
                self.report_request(place, outcome, 0, 0, text);
                Flow::Ends(outcome)
            }
        }
    }

    fn open_request(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        target: TargetId,
        text: Vec<u8>,
        asked: RequestTraits,
    ) -> Result<(), (Outcome, String)> {
        let socket = self.dial(io, place, target, Peer::Http(place), None)?;
        if let Some(client) = self.clients.item_mut(place) {
            let response = Some(Response::new(asked));
            let request = Request { socket, target, is_established: false, is_reused: false, text, response };
            client.rare_mut().request = Some(Box::new(request));
        }
        Ok(())
    }

    fn asked(&self, place: u32, request: &HttpRequest) -> RequestTraits {
        let client = self.clients.item(place);
        let program = client.and_then(|client| self.programs.get(usize::from(client.session.0)));
        let captures = program.is_some_and(|program| program.captures);
        let body_kept_max = if captures { self.stage.plan.limits.body_bytes_max as usize } else { 0 };
        RequestTraits {
            is_head: request.method.eq_ignore_ascii_case("HEAD"),
            keeps_headers: captures,
            body_kept_max,
        }
    }

    fn request_text(&mut self, place: u32, target: TargetId, path: &str, request: &HttpRequest) -> Vec<u8> {
        let resolved = self.stage.targets.target(target);
        let Some(client) = self.clients.item_mut(place) else { return Vec::new() };
        let scene = scene(&self.stage, &resolved.host, b"");
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut text = Vec::with_capacity(256);
        // Writing to memory cannot fail.
        let mut line = |arguments: std::fmt::Arguments<'_>| drop(text.write_fmt(arguments));
        line(format_args!("{} {slash}{path} HTTP/1.1\r\nHost: {}\r\n", request.method, resolved.host));
        if !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("user-agent")) {
            line(format_args!("User-Agent: {USER_AGENT}\r\n"));
        }
        for (name, value) in &request.headers {
            line(format_args!("{name}: {}\r\n", scene.text(value, client)));
        }
        if !request.keep_alive {
            line(format_args!("Connection: close\r\n"));
        }
        let mut body = Vec::new();
        if let Some(template) = &request.body {
            scene.render(template, client, &mut body);
        }
        // RFC 9110, section 8.6: methods that expect content send a Content-Length even without content.
        let expects_body = matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
        if !body.is_empty() || expects_body {
            line(format_args!("Content-Length: {}\r\n", body.len()));
        }
        line(format_args!("\r\n"));
        text.extend_from_slice(&body);
        text
    }

    /// The connection is established: sends the request.
    pub(super) fn request_connected(&mut self, io: &mut Io<'_, Self>, place: u32, id: ConnectionId) {
        let Some(request) = self.request_on(place, id) else { return };
        request.is_established = true;
        io.send(id, &request.text);
        let Some((program, position)) = self.running(place) else { return };
        let Some(Operation::Http(_, asked)) = program.operations.get(position) else { return };
        let Some(client) = self.clients.item_mut(place) else { return };
        client.step_due = client.step_began.saturating_add(nanos(asked.timeout));
        self.set_timer(place);
    }

    /// Handles bytes of a response. Returns how many are consumed.
    pub(super) fn response_received(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        id: ConnectionId,
        bytes: &mut [u8],
    ) -> usize {
        let Some(request) = self.request_on(place, id) else { return bytes.len() };
        let Some(response) = &mut request.response else {
            // A response without a request.
            self.drop_request(io, place);
            return bytes.len();
        };
        match response.take(bytes) {
            Ok(used) => {
                if response.is_done() {
                    let at = self.now();
                    self.has_read(io, at);
                    self.response_complete(io, place);
                }
                used
            }
            Err(error) => {
                self.drop_request(io, place);
                self.request_failed(io, place, Outcome::Protocol, error.0);
                bytes.len()
            }
        }
    }

    fn response_complete(&mut self, io: &mut Io<'_, Self>, place: u32) {
        let Some((program, position)) = self.running(place) else { return };
        let Some(Operation::Http(_, asked)) = program.operations.get(position) else { return };
        let Some(client) = self.clients.item_mut(place) else { return };
        let Some(request) = client.rare.as_mut().and_then(|rare| rare.request.as_mut()) else { return };
        let Some(response) = request.response.take() else { return };
        request.text = Vec::new();
        let is_kept = response.is_reusable && asked.keep_alive;
        let status = response.status;
        let is_expected = match &asked.expect[..] {
            [] => (200..400).contains(&status),
            expected => expected.contains(&status),
        };
        if program.captures {
            let rare = client.rare_mut();
            rare.last_message = Some(response.body.into_boxed_slice());
            rare.last_headers = response.headers;
        }
        if !is_kept {
            self.close_request(io, place);
        }
        let outcome = if is_expected { Outcome::Ok } else { Outcome::Rejected };
        let bytes = u32::try_from(response.body_bytes).unwrap_or(u32::MAX);
        self.report_request(place, outcome, status, bytes, format!("status {status}"));
        let at = self.now();
        self.step_done(io, place, at);
        self.set_timer(place);
    }

    /// Reports a failed request; the session continues.
    fn request_failed(&mut self, io: &mut Io<'_, Self>, place: u32, outcome: Outcome, text: String) {
        self.report_request(place, outcome, 0, 0, text);
        let at = self.now();
        self.step_done(io, place, at);
        self.set_timer(place);
    }

    pub(super) fn request_timed_out(&mut self, io: &mut Io<'_, Self>, place: u32, _: Nanos) {
        let Some(client) = self.clients.item(place) else { return };
        let request = client.rare.as_ref().and_then(|rare| rare.request.as_ref());
        let (outcome, text) = match request.is_some_and(|request| request.is_established) {
            true => (Outcome::Timeout, "timeout before the response was complete"),
            false => (Outcome::ConnectTimeout, "timeout before the connection was established"),
        };
        self.drop_request(io, place);
        self.request_failed(io, place, outcome, text.to_owned());
    }

    fn report_request(&mut self, place: u32, outcome: Outcome, code: u16, bytes: u32, text: String) {
        let at = self.now();
        let label = self.running_label(place);
        let seen = self.of_client(place, Kind::Http, outcome, at);
        let Some(client) = self.clients.item_mut(place) else { return };
        let intended = client.take_intended();
        let (began, count) = (client.step_began, client.begin_lag_us());
        self.see(Observation { intended, began, count, code, bytes, label, ..seen }, || text);
    }

    /// The engine has ended an HTTP connection that a user still had.
    pub(super) fn request_ended(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        id: ConnectionId,
        cause: EndCause,
    ) {
        let Some(request) = self.request_on(place, id) else { return };
        let line = if request.is_established { Line::Open } else { Line::Dialing };
        let Some(response) = &mut request.response else { return self.forget_request(place) };
        if matches!(cause, EndCause::PeerClosed) && response.end() {
            return self.response_complete(io, place);
        }
        // RFC 9110, section 9.2.2: a kept-alive connection may end just as the next request is sent. An idempotent
        // request that the server has not begun to answer is retried once on a new connection.
        let is_by_peer = matches!(cause, EndCause::PeerClosed | EndCause::Reset(_));
        let is_unanswered = is_by_peer && request.is_reused && response.status == 0;
        if is_unanswered
            && self.asks_idempotently(place)
            && let Some(request) = self.request_on(place, id)
        {
            let (target, text) = (request.target, std::mem::take(&mut request.text));
            self.forget_request(place);
            if let Err((outcome, text)) = self.ask_again(io, place, target, text) {
                self.request_failed(io, place, outcome, text);
            }
            return;
        }
        let (outcome, text) = self.outcome_of_end(io, line, cause);
        self.forget_request(place);
        self.request_failed(io, place, outcome, text);
    }

    /// RFC 9110, section 9.2.2; what other methods than its own do is not known.
    fn asks_idempotently(&self, place: u32) -> bool {
        let Some((program, position)) = self.running(place) else { return false };
        let Some(Operation::Http(_, request)) = program.operations.get(position) else { return false };
        ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(&request.method.as_str())
    }

    fn ask_again(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        target: TargetId,
        text: Vec<u8>,
    ) -> Result<(), (Outcome, String)> {
        let ended = || (Outcome::Ended, "the server closed the connection".to_owned());
        let (program, position) = self.running(place).ok_or_else(ended)?;
        let Some(Operation::Http(_, request)) = program.operations.get(position) else { return Err(ended()) };
        let asked = self.asked(place, request);
        self.open_request(io, place, target, text, asked)
    }

    /// Cuts a user's HTTP connection because the run ends. A request that was waiting for its response is reported.
    pub(super) fn stop_request(&mut self, io: &mut Io<'_, Self>, place: u32) {
        let Some(client) = self.clients.item(place) else { return };
        let request = client.rare.as_ref().and_then(|rare| rare.request.as_ref());
        let waits = request.is_some_and(|request| request.is_established && request.response.is_some());
        if waits && client.doing == Doing::Requesting {
            self.report_request(place, Outcome::Stopped, 0, 0, String::new());
        }
        self.drop_request(io, place);
    }

    /// Cuts a user's HTTP connection, if it has one.
    pub(super) fn drop_request(&mut self, io: &mut Io<'_, Self>, place: u32) {
        if let Some(socket) = self.take_request(place) {
            io.abort(socket);
        }
    }

    fn close_request(&mut self, io: &mut Io<'_, Self>, place: u32) {
        if let Some(socket) = self.take_request(place) {
            io.close(socket);
        }
    }

    fn forget_request(&mut self, place: u32) {
        self.take_request(place);
        self.set_timer(place);
    }

    fn take_request(&mut self, place: u32) -> Option<ConnectionId> {
        let rare = self.clients.item_mut(place)?.rare.as_mut()?;
        rare.request.take().map(|request| request.socket)
    }

    /// Returns the user's HTTP connection, if it is this one.
    fn request_on(&mut self, place: u32, id: ConnectionId) -> Option<&mut Request> {
        let request = self.clients.item_mut(place)?.rare.as_mut()?.request.as_deref_mut()?;
        (request.socket == id).then_some(request)
    }
}
