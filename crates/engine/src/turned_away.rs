//! Refused connections. Each is answered once it has sent something: some clients do not accept an answer that arrives
//! before their request (nginx 1.22 takes it for the beginning of the answer of the next server that it asks), and
//! closing with bytes unread resets the connection, so that the peer may lose what it had not read yet.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Instant;

use bytes::Bytes;
use mio::Interest;
use mio::unix::SourceFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};

use crate::config::{TURNED_AWAY_MAX, TURNED_AWAY_PATIENCE};
use crate::counters::add;
use crate::driver::Driver;
use crate::shard::Shard;
use crate::source::Source;

/// Refused connections that have not sent anything yet, oldest first.
#[derive(Default)]
pub(crate) struct TurnedAway {
    /// `None` stands for one that has been answered. The first is never `None`.
    waiting: VecDeque<Option<Waiting>>,
    /// The ticket of the first; those of the others follow it, and wrap around.
    first: u16,
}

struct Waiting {
    socket: OwnedFd,
    answer: Bytes,
    deadline: Instant,
}

impl TurnedAway {
    /// Returns when the first is answered, whether it has sent something or not.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.waiting.front()?.as_ref().map(|waiting| waiting.deadline)
    }

    fn is_full(&self) -> bool {
        self.waiting.len() >= TURNED_AWAY_MAX
    }

    /// Adds a connection and returns its ticket.
    fn push(&mut self, waiting: Waiting) -> u16 {
        let ticket = self.first.wrapping_add(self.waiting.len() as u16);
        self.waiting.push_back(Some(waiting));
        ticket
    }

    fn place_of(&self, ticket: u16) -> usize {
        usize::from(ticket.wrapping_sub(self.first))
    }

    fn get(&self, ticket: u16) -> Option<&Waiting> {
        self.waiting.get(self.place_of(ticket))?.as_ref()
    }

    fn take(&mut self, ticket: u16) -> Option<Waiting> {
        let place = self.place_of(ticket);
        let taken = self.waiting.get_mut(place)?.take();
        while let Some(None) = self.waiting.front() {
            self.waiting.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        taken
    }
}

impl Waiting {
    /// Sends the answer, as far as the kernel accepts it, and closes.
    fn answer(self) {
        let _ = rustix::net::send(&self.socket, &self.answer, SendFlags::NOSIGNAL);
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }
}

impl<D: Driver> Shard<D> {
    /// Answers a connection at once if it has already sent something or its answer is empty; else when it sends
    /// something, when its time is over, or when its place is needed.
    pub(crate) fn turn_away(&mut self, socket: OwnedFd, answer: Bytes) {
        add(&self.sockets.books.counters.refused_total, 1);
        let waiting = Waiting { socket, answer, deadline: self.sockets.now + TURNED_AWAY_PATIENCE };
        if waiting.answer.is_empty() || has_spoken(&waiting.socket, &mut self.read_buffer) {
            return waiting.answer();
        }
        if self.turned_away.is_full() {
            self.answer_first_turned_away();
        }
        let number = waiting.socket.as_raw_fd();
        let ticket = self.turned_away.push(waiting);
        let token = Source::TurnedAway(ticket).token();
        if let Err(error) = self.poll.registry().register(&mut SourceFd(&number), token, Interest::READABLE) {
            tracing::debug!(%error, "somebody who is not let in is told before saying anything");
            self.turned_away.take(ticket).into_iter().for_each(Waiting::answer);
        }
    }

    /// Handles an event: answers the connection if it has sent something.
    pub(crate) fn hear_turned_away(&mut self, ticket: u16) {
        // The event may be for a connection that had the ticket before.
        let spoke = |waiting: &Waiting| has_spoken(&waiting.socket, &mut self.read_buffer);
        if self.turned_away.get(ticket).is_some_and(spoke) {
            self.turned_away.take(ticket).into_iter().for_each(Waiting::answer);
        }
    }

    pub(crate) fn answer_overdue(&mut self) {
        while self.turned_away.deadline().is_some_and(|deadline| deadline <= self.sockets.now) {
            self.answer_first_turned_away();
        }
    }

    pub(crate) fn answer_all_turned_away(&mut self) {
        while self.turned_away.deadline().is_some() {
            self.answer_first_turned_away();
        }
    }

    fn answer_first_turned_away(&mut self) {
        self.turned_away.take(self.turned_away.first).into_iter().for_each(Waiting::answer);
    }
}

/// Reads once. Returns whether the peer has sent something; an end of stream and an error count, too.
fn has_spoken(socket: &OwnedFd, buffer: &mut [u8]) -> bool {
    rustix::net::recv(socket, buffer, RecvFlags::empty()) != Err(Errno::AGAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn somebody() -> Waiting {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("any port is free").into();
        Waiting { socket, answer: Bytes::new(), deadline: Instant::now() }
    }

    #[test]
    fn tickets_find_their_own_in_any_order_and_past_the_last_number() {
        let mut line = TurnedAway { first: u16::MAX - 1, ..TurnedAway::default() };
        let tickets: Vec<_> = (0..4).map(|_| line.push(somebody())).collect();
        assert_eq!(tickets, [u16::MAX - 1, u16::MAX, 0, 1]);
        assert!(line.take(u16::MAX).is_some() && line.take(u16::MAX).is_none());
        assert!(line.get(0).is_some() && line.deadline().is_some());
        assert!(line.take(u16::MAX - 1).is_some(), "and the one behind it has gone already");
        assert_eq!((line.first, line.waiting.len()), (0, 2));
        assert!(line.get(u16::MAX).is_none() && line.get(2).is_none());
        assert!(line.take(0).is_some() && line.take(1).is_some() && line.deadline().is_none());
        assert_eq!(line.push(somebody()), 2);
    }
}
