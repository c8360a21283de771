//! Drain: every connection is closed with 1012, and every long-poll session ended, each at its own random time within
//! the given duration, so that clients reconnect elsewhere one by one.

use super::driver::{ShardDriver, ShardIo};
use super::peer::Phase;
use crate::handshake::Rejection;
use crate::metrics::CloseReason;
use crate::relay::Reply;
use engine::ConnectionId;
use hub::ConnectionKey;
use proto::ws::CloseCode;
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(10);
/// How long after its close frame a connection may stay open: longer than the engine lingers. Connections that take
/// longer, for example clients that do not read, are cut.
const FAREWELL_MAX: Duration = Duration::from_secs(5);

pub(crate) struct Drain {
    /// Clients that are still to be closed, each with its time, the next one last.
    waiting: Vec<(Instant, Client)>,
    /// When the remaining ones are cut.
    deadline: Instant,
    /// The callers that wait for the end.
    replies: Vec<Reply<()>>,
}

/// A client to be closed.
#[derive(Clone, Copy)]
enum Client {
    Connection(ConnectionId),
    /// By its key: if it ends by itself meanwhile, its slot may be reused.
    Session(ConnectionKey),
}

impl ShardDriver {
    pub(crate) fn begin_drain(&mut self, io: &mut ShardIo<'_>, spread: Duration, reply: Reply<()>) {
        if let Some(drain) = &mut self.drain {
            return drain.replies.push(reply);
        }
        let connections = (0..io.slots()).filter_map(|slot| io.id_of(slot)).map(Client::Connection);
        let sessions = self.session_keys().into_iter().map(Client::Session);
        let moments = Moments::new(self.shared.hub.secret ^ u64::from(self.shard.0), spread);
        let moments = moments.map(|moment| io.now() + moment);
        let mut waiting: Vec<_> = moments.zip(connections.chain(sessions)).collect();
        waiting.sort_unstable_by_key(|(moment, _)| std::cmp::Reverse(*moment));
        let deadline = io.now() + spread + FAREWELL_MAX;
        self.drain = Some(Drain { waiting, deadline, replies: vec![reply] });
    }

    pub(crate) fn go_on_draining(&mut self, io: &mut ShardIo<'_>) {
        let now = io.now();
        while let Some(client) = self.drain.as_mut().and_then(|drain| drain.next_due(now)) {
            match client {
                Client::Connection(id) => self.drain_connection(io, id),
                Client::Session(key) => self.drain_session(io, key),
            }
        }
        let Some(is_late) = self.drain.as_ref().map(|drain| now >= drain.deadline) else { return };
        if is_late {
            self.session_keys().into_iter().for_each(|key| self.drain_session(io, key));
            let left: Vec<_> = (0..io.slots()).filter_map(|slot| io.id_of(slot)).collect();
            left.into_iter().for_each(|id| io.abort(id));
        }
        let nobody_is_left =
            io.connections() == 0 && self.sessions.is_empty() && self.shared.transits.are_over();
        if let Some(drain) = self.drain.as_mut().filter(|_| is_late || nobody_is_left) {
            drain.replies.drain(..).for_each(|reply| reply.send(()));
        }
    }

    /// Closes a socket that was on its way here when the drain began.
    pub(crate) fn drain_latecomer(&mut self, io: &mut ShardIo<'_>, id: ConnectionId) {
        if let Some(drain) = &mut self.drain {
            drain.deadline = drain.deadline.max(io.now() + FAREWELL_MAX);
            self.drain_connection(io, id);
        }
    }

    fn drain_connection(&mut self, io: &mut ShardIo<'_>, id: ConnectionId) {
        match io.peer(id).map(|peer| peer.phase) {
            Some(Phase::Channels | Phase::Echo) => {
                self.close(io, id, CloseCode::SERVICE_RESTART, CloseReason::Drained);
            }
            Some(Phase::ProxySilent | Phase::ProxyHead | Phase::Silent | Phase::Head) => {
                self.refuse(io, id, &Rejection::draining());
            }
            Some(Phase::Ending) | None => {}
        }
    }

    fn drain_session(&mut self, io: &mut ShardIo<'_>, key: ConnectionKey) {
        if let Some(place) = self.session_place(key) {
            self.end_session(io, place, CloseReason::Drained);
        }
    }

    pub(crate) fn drain_wake_up(&self) -> Option<Duration> {
        let drain = self.drain.as_ref()?;
        (!drain.replies.is_empty()).then_some(STEP)
    }
}

impl Drain {
    fn next_due(&mut self, now: Instant) -> Option<Client> {
        self.waiting.pop_if(|(moment, _)| *moment <= now).map(|(_, client)| client)
    }
}

/// Random times within a duration, from a generator that is good enough for spreading load.
struct Moments {
    state: u64,
    spread: Duration,
}

impl Moments {
    fn new(seed: u64, spread: Duration) -> Moments {
        Moments { state: seed, spread }
    }
}

impl Iterator for Moments {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(self.spread.mul_f64((self.state >> 33) as f64 / (1_u64 << 31) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_fill_the_spread_and_are_not_even() {
        let spread = Duration::from_secs(10);
        let moments: Vec<Duration> = Moments::new(7, spread).take(1000).collect();
        assert!(moments.iter().all(|moment| *moment < spread));
        for tenth in 0..10 {
            let (from, to) = (spread * tenth / 10, spread * (tenth + 1) / 10);
            let within = moments.iter().filter(|moment| (from..to).contains(moment)).count();
            assert!((50..200).contains(&within), "{within} of a thousand in a tenth of the time");
        }
        assert!(!moments.is_sorted(), "their order is random");
        assert!(Moments::new(7, Duration::ZERO).take(10).all(|moment| moment.is_zero()));
    }
}
