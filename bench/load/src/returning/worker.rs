//! One thread's share of the clients: its readiness loop and their sockets.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::time::Duration;

use super::Returning;
use super::client::{Client, Happened};
use super::failure::Failure;
use super::tally::Tally;
use crate::sys::{self, Epoll, Ready};
use crate::{CONNECTIONS_PER_THREAD_MAX, wire};

/// Like that of a [`Crowd`](crate::Crowd): far below a listener's backlog, but enough to keep a server busy.
const HANDSHAKES_MAX: usize = 128;
/// Maximum number of connections from one source address: well below its 28,232 ephemeral ports, so that the kernel
/// finds a port quickly.
const CONNECTIONS_PER_SOURCE: usize = 10_000;
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// Maximum delay before the worker notices the stop flag or the last number.
const WAIT: Duration = Duration::from_millis(5);

/// A client and its socket.
#[derive(Debug)]
struct Place {
    client: Client,
    socket: Option<OwnedFd>,
    is_started: bool,
    /// Whether its first server has died; then it uses one of the others.
    was_cut: bool,
    is_complete: bool,
}

#[derive(Debug)]
pub(super) struct Worker<'a> {
    plan: &'a Returning,
    index: usize,
    tally: &'a Tally,
    epoll: Epoll,
    places: Vec<Place>,
    /// Clients that have to connect, in order.
    waiting: VecDeque<usize>,
    /// Number of handshakes in progress.
    under_way: usize,
    buffer: Box<[u8]>,
}

impl<'a> Worker<'a> {
    pub(super) fn start(
        plan: &'a Returning,
        index: usize,
        threads: usize,
        tally: &'a Tally,
    ) -> io::Result<Self> {
        sys::unshare_descriptor_table()?;
        let (begin, end) = (plan.connections * index / threads, plan.connections * (index + 1) / threads);
        let place = |nth: usize| Place {
            client: Client::new(format!("{}{}", plan.topic_prefix, nth % plan.rooms.max(1))),
            socket: None,
            is_started: false,
            was_cut: false,
            is_complete: false,
        };
        Ok(Self {
            plan,
            index,
            tally,
            epoll: Epoll::new()?,
            places: (begin..end).map(place).collect(),
            waiting: (0..end - begin).collect(),
            under_way: 0,
            buffer: vec![0; READ_BUFFER_BYTES].into_boxed_slice(),
        })
    }

    /// Runs until it is stopped; returns the clients with what they have received.
    pub(super) fn run(mut self) -> io::Result<Vec<Client>> {
        while !self.tally.is_stopped() {
            while self.under_way < HANDSHAKES_MAX
                && let Some(slot) = self.waiting.pop_front()
            {
                self.under_way += 1;
                if self.connect(slot).is_err() {
                    self.fails(slot);
                }
            }
            let wait = if self.waiting.is_empty() { WAIT } else { Duration::ZERO };
            for index in 0..self.epoll.wait(Some(wait))? {
                self.handle(self.epoll.ready(index));
            }
            if let Some(last) = self.tally.expected() {
                self.look_for_complete(last);
            }
        }
        for place in &self.places {
            // Otherwise, twenty thousand sockets closed at once would leave as many in TIME_WAIT.
            place.socket.iter().for_each(sys::reset_on_close);
        }
        Ok(self.places.into_iter().map(|place| place.client).collect())
    }

    fn connect(&mut self, slot: usize) -> io::Result<()> {
        let source = (self.index * CONNECTIONS_PER_THREAD_MAX + slot) / CONNECTIONS_PER_SOURCE;
        let source = Ipv4Addr::new(127, 1, (source / 250) as u8, (source % 250 + 1) as u8);
        let socket = sys::connect(source, self.target_of(slot))?;
        let place = &mut self.places[slot];
        place.client.connects();
        place.is_started = false;
        self.epoll.add(&socket, slot as u64, true)?;
        place.socket = Some(socket);
        Ok(())
    }

    fn handle(&mut self, ready: Ready) {
        let slot = ready.token as usize;
        let outcome = self.drive(slot, ready.hung_up);
        let was_here = self.places[slot].client.is_here();
        match outcome {
            Ok(()) => {}
            // A client lost its connection to the first server, which is what is being measured.
            Err(Failure::Cut) if was_here && !self.places[slot].was_cut => {
                self.close(slot);
                self.places[slot].was_cut = true;
                self.tally.was_cut();
                self.waiting.push_back(slot);
            }
            Err(Failure::Cut | Failure::Refused | Failure::Nonsense) => {
                // A client that had joined has no handshake in progress.
                self.under_way += usize::from(was_here);
                self.fails(slot);
            }
        }
    }

    fn fails(&mut self, slot: usize) {
        self.under_way -= 1;
        self.close(slot);
        self.tally.has_failed();
    }

    fn close(&mut self, slot: usize) {
        if let Some(socket) = self.places[slot].socket.take() {
            sys::reset_on_close(&socket);
        }
    }

    fn drive(&mut self, slot: usize, hung_up: bool) -> Result<(), Failure> {
        let target = self.target_of(slot);
        loop {
            let place = &mut self.places[slot];
            let Some(socket) = &place.socket else { return Ok(()) };
            if !place.is_started {
                let request = wire::request_head(&self.plan.path, &target.to_string());
                match sys::send(socket, &request) {
                    Ok(sent) if sent == request.len() => place.is_started = true,
                    Err(error) if is_early(&error) => return Ok(()),
                    Ok(_) | Err(_) => return Err(Failure::Cut),
                }
            }
            let read = match sys::receive(socket, &mut self.buffer) {
                Ok(0) => return Err(Failure::Cut),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(_) => return Err(Failure::Cut),
            };
            match place.client.receive(&self.buffer[..read])? {
                Happened::Nothing => {}
                Happened::Upgraded => {
                    let join = place.client.join();
                    if sys::send(socket, &join).ok() != Some(join.len()) {
                        return Err(Failure::Cut);
                    }
                }
                Happened::Joined => {
                    self.under_way -= 1;
                    self.tally.has_joined();
                }
                Happened::Returned { recovered } => {
                    self.under_way -= 1;
                    self.tally.is_back(recovered);
                }
            }
            // A short read means that nothing is left, except possibly the end of the stream.
            if read < self.buffer.len() && !hung_up {
                return Ok(());
            }
        }
    }

    fn target_of(&self, slot: usize) -> SocketAddrV4 {
        match (self.places[slot].was_cut, self.plan.others.as_slice()) {
            (true, others @ [_, ..]) => others[slot % others.len()],
            (true, []) | (false, _) => self.plan.first,
        }
    }

    fn look_for_complete(&mut self, last: u64) {
        let mut more = 0;
        for place in self.places.iter_mut().filter(|place| !place.is_complete && place.client.heard >= last) {
            place.is_complete = true;
            more += 1;
        }
        self.tally.are_complete(more);
    }
}

fn is_early(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected)
}
