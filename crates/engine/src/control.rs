//! The control thread. It runs in the process's own descriptor table, passes sockets to shards that have their own
//! tables, and passes the connections that leave the shards to the [`Handoff`].

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use crate::control_path::{Departure, LINK_RETRY, report};
use crate::control_queue::{ControlQueue, ControlRequest};
use crate::handoff::Handoff;
use crate::mailbox::Bell;
use crate::transfer::{Link, PendingTransfers};

const BELL: Token = Token(usize::MAX);
const EVENTS_MAX: usize = 128;

pub(crate) struct Control {
    poll: Poll,
    control_queue: Arc<ControlQueue>,
    /// By shard; empty if all shards share one table.
    links: Vec<Link>,
    departures: Arc<PendingTransfers<Departure>>,
}

impl Control {
    pub(crate) fn new(links: Vec<Link>, departures: Arc<PendingTransfers<Departure>>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let bell = Bell::new()?;
        poll.registry().register(&mut SourceFd(&bell.as_raw_fd()), BELL, Interest::READABLE)?;
        for (shard, link) in links.iter().enumerate() {
            let directions = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(&mut SourceFd(&link.as_raw_fd()), Token(shard), directions)?;
        }
        let control_queue = Arc::new(ControlQueue::new(bell));
        Ok(Self { poll, control_queue, links, departures })
    }

    pub(crate) fn control_queue(&self) -> Arc<ControlQueue> {
        Arc::clone(&self.control_queue)
    }

    /// Runs until it is told to stop, then receives what is already on its way.
    pub(crate) fn run(mut self, handoff: &Handoff) {
        let mut events = Events::with_capacity(EVENTS_MAX);
        let mut requests = VecDeque::new();
        loop {
            self.wait(&mut events);
            for event in &events {
                self.welcome_from(event.token(), handoff);
            }
            self.control_queue.take_into(&mut requests);
            for request in requests.drain(..) {
                match request {
                    ControlRequest::Carry { shard, ticket, socket } => {
                        self.links[usize::from(shard.0)].push(ticket, socket);
                    }
                    ControlRequest::Welcome(handed_off) => handoff(handed_off),
                    ControlRequest::Stop => return self.welcome_the_last(handoff),
                }
            }
            for link in self.links.iter_mut().filter(|link| link.is_waiting()) {
                report(link.flush());
            }
        }
    }

    fn wait(&mut self, events: &mut Events) {
        let must_look = self.control_queue.announce_sleep();
        let must_retry = self.links.iter().any(Link::is_waiting);
        let patience = match (must_look, must_retry) {
            (true, _) => Some(std::time::Duration::ZERO),
            (false, true) => Some(LINK_RETRY),
            (false, false) => None,
        };
        if let Err(error) = self.poll.poll(events, patience)
            && error.kind() != io::ErrorKind::Interrupted
        {
            panic!("the control thread cannot wait: {error}");
        }
        self.control_queue.announce_awake();
    }

    fn welcome_the_last(&self, handoff: &Handoff) {
        for shard in 0..self.links.len() {
            self.welcome_from(Token(shard), handoff);
        }
    }

    fn welcome_from(&self, token: Token, handoff: &Handoff) {
        let Some(link) = self.links.get(token.0) else { return };
        let mut arrived = Vec::new();
        report(link.receive(&mut arrived));
        for (ticket, socket) in arrived {
            match (self.departures.claim(ticket), socket) {
                (Some(departure), Some(socket)) => handoff(departure.complete(socket)),
                (Some(_), None) => {
                    tracing::debug!("a connection was dropped: no descriptor is free in the main table")
                }
                (None, _) => {}
            }
        }
    }
}
