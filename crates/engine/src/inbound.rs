//! What other threads send to a shard: orders, mail, and sockets to adopt.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use crate::config::MAIL_PER_TICK_MAX;
use crate::control_path::{Arrival, ShardCommand};
use crate::counters::add;
use crate::driver::Driver;
use crate::io::Io;
use crate::shard::Shard;

impl<D: Driver> Shard<D> {
    pub(crate) fn handle_commands(&mut self) {
        if self.post.orders.waiting() == 0 {
            return;
        }
        let mut orders = VecDeque::new();
        self.post.orders.take_into(&mut orders);
        self.post.orders.handled(orders.len());
        for order in orders {
            match order {
                ShardCommand::Adopt(arrival, socket) => self.adopt(arrival, socket),
                ShardCommand::StopAccepting => self.stop_accepting(),
                ShardCommand::ShutDown => self.stopping = true,
            }
            self.after_callback();
        }
    }

    pub(crate) fn handle_mail(&mut self) {
        if !self.post.mailbox.has_mail() {
            return;
        }
        if self.inbox.len() < MAIL_PER_TICK_MAX {
            self.post.mailbox.take_into(&mut self.inbox);
        }
        let mut handled = 0;
        while handled < MAIL_PER_TICK_MAX
            && let Some(mail) = self.inbox.pop_front()
        {
            handled += 1;
            self.driver.mail(&mut Io::new(&mut self.sockets), mail);
            self.after_callback();
        }
        self.post.mailbox.handled(handled);
    }

    /// Adopts sockets that came through the kernel from the control plane's descriptor table.
    pub(crate) fn take_arrivals(&mut self) {
        for (arrival, socket) in self.passage.arrivals() {
            match socket {
                Some(socket) => self.adopt(arrival, socket),
                None => {
                    tracing::debug!(remote = %arrival.remote, "adoption refused: no descriptor is free");
                    add(&self.sockets.books.counters.refused_total, 1);
                }
            }
            self.after_callback();
        }
    }

    fn adopt(&mut self, arrival: Arrival<D::Seed>, socket: OwnedFd) {
        let Arrival { tls, remote, unread, seed } = arrival;
        if !self.sockets.capacity.enter(self.sockets.slab.len()) {
            tracing::debug!(%remote, "adoption refused: no room for more connections");
            add(&self.sockets.books.counters.refused_total, 1);
            return;
        }
        let peer = self.driver.peer_for(&seed);
        let id = self.sockets.insert_adopted(socket, peer, tls);
        self.driver.adopted(&mut Io::new(&mut self.sockets), id, seed);
        self.feed(id, &unread);
        self.begin_reading(id);
    }
}
