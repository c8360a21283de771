//! How a user ends or degrades its WebSocket: close, cut, half-open silence, slow reading.

use engine::Io;

use super::client::{Doing, Line, SlowReader};
use super::clock::NEVER;
use super::interpret::Flow;
use super::program::Program;
use super::sessions::CLOSE_TIMEOUT;
use super::shard::Shard;
use crate::observe::Nanos;

impl Shard {
    /// Closes with the closing handshake; messages that arrive before the peer's answer still count.
    pub(super) fn close_step(&mut self, io: &mut Io<'_, Self>, place: u32, code: u16, reason: &str) -> Flow {
        let now = self.now();
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        if client.line != Line::Open {
            return self.not_ready(place, "close: no WebSocket is open");
        }
        client.doing = Doing::Closing;
        client.step_due = now.saturating_add(CLOSE_TIMEOUT);
        self.send_close(io, place, code, reason);
        Flow::Waits
    }

    /// Drops the connection: the peer sees a reset.
    pub(super) fn cut(&mut self, io: &mut Io<'_, Self>, place: u32, program: &Program) -> Flow {
        let now = self.now();
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        if client.line != Line::Open {
            return self.not_ready(place, "cut: no WebSocket is open");
        }
        // The user stays connected until now, whatever other users were due to be cut at the same time.
        let due = std::mem::replace(&mut client.ready_at, now);
        // If the next step waits for an answer, it is delayed until all the others are cut, so the cut counts as part
        // of a burst. If the user pauses first, nothing measured is delayed: nobody waits for an answer to a cut.
        let next = program.operations.get(client.position as usize);
        if next.is_some_and(|next| !next.is_pause()) {
            self.crowds.begin(due, now, true);
        }
        self.cut_now(io, place, now);
        Flow::Next
    }

    /// Neither sends nor reads for a while.
    pub(super) fn half_open(&mut self, io: &mut Io<'_, Self>, place: u32, pause: Nanos) -> Flow {
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let Some(socket) = client.socket.filter(|_| client.line == Line::Open) else {
            return self.not_ready(place, "half_open: no WebSocket is open");
        };
        client.line = Line::Mute;
        client.doing = Doing::HalfOpen;
        client.heartbeat_due = NEVER;
        client.step_due = client.ready_at.saturating_add(pause);
        io.pause_reading(socket);
        self.depart(place);
        Flow::Waits
    }

    pub(super) fn half_open_is_over(&mut self, io: &mut Io<'_, Self>, place: u32, due: Nanos) {
        let now = self.now();
        self.cut_now(io, place, now);
        self.step_done(io, place, due);
    }

    /// Reads slowly from now on, or at full speed again.
    pub(super) fn read_slowly(&mut self, io: &mut Io<'_, Self>, place: u32, rate: Option<u64>) -> Flow {
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let Some(socket) = client.socket.filter(|_| client.line == Line::Open) else {
            return self.not_ready(place, "slow_reader: no WebSocket is open");
        };
        match rate {
            None => self.resume(io, place),
            Some(bytes_per_second) => {
                client.rare_mut().slow_reader = Some(SlowReader { bytes_per_second, resumes_at: NEVER });
                if bytes_per_second == 0 {
                    io.pause_reading(socket);
                }
            }
        }
        Flow::Next
    }

    /// Pauses a slow reader that has read `bytes` for as long as they take at its rate.
    pub(super) fn slow_down(&mut self, io: &mut Io<'_, Self>, place: u32, bytes: usize) {
        let Some(client) = self.clients.item(place).filter(|client| client.slow_reader().is_some()) else {
            return;
        };
        let Some(socket) = client.socket.filter(|_| bytes > 0) else { return };
        let now = self.now();
        let Some(client) = self.clients.item_mut(place) else { return };
        let Some(slow) = client.rare.as_mut().and_then(|rare| rare.slow_reader.as_mut()) else { return };
        // A reader with rate 0 is paused already.
        let nanos = (bytes as u64).saturating_mul(1_000_000_000).checked_div(slow.bytes_per_second);
        if let Some(pause) = nanos {
            slow.resumes_at = now.saturating_add(pause);
            io.pause_reading(socket);
        }
    }

    /// Resumes a slow reader whose pause is over.
    pub(super) fn read_again(&mut self, io: &mut Io<'_, Self>, place: u32, now: Nanos) {
        let Some(client) = self.clients.item_mut(place) else { return };
        let socket = client.socket;
        let Some(slow) = client.rare.as_mut().and_then(|rare| rare.slow_reader.as_mut()) else { return };
        if slow.resumes_at <= now {
            slow.resumes_at = NEVER;
            if let Some(socket) = socket {
                io.resume_reading(socket);
            }
        }
    }

    /// Reads at full speed again.
    pub(super) fn resume(&mut self, io: &mut Io<'_, Self>, place: u32) {
        let Some(client) = self.clients.item_mut(place) else { return };
        let slow = client.rare.as_mut().and_then(|rare| rare.slow_reader.take());
        if let Some(socket) = client.socket.filter(|_| slow.is_some()) {
            io.resume_reading(socket);
        }
    }
}
