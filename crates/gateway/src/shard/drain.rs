//! Drain: every connection is closed with 1012, spread over a time, in random order, so that clients come back
//! elsewhere one by one.

use super::driver::{ShardDriver, ShardIo};
use super::peer::Phase;
use crate::handshake::Rejection;
use crate::metrics::CloseReason;
use crate::relay::Reply;
use engine::ConnectionId;
use proto::ws::CloseCode;
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(10);

pub(crate) struct Drain {
    began: Instant,
    spread: Duration,
    /// Still to be closed, in random order, the next at the end.
    waiting: Vec<ConnectionId>,
    total: usize,
    reply: Option<Reply<()>>,
}

impl ShardDriver {
    pub(crate) fn begin_drain(&mut self, io: &mut ShardIo<'_>, spread: Duration, reply: Reply<()>) {
        if self.drain.is_some() {
            return;
        }
        let mut waiting: Vec<ConnectionId> = (0..io.slots()).filter_map(|slot| io.id_of(slot)).collect();
        shuffle(&mut waiting, self.shared.hub.secret ^ u64::from(self.shard.0));
        let total = waiting.len();
        self.drain = Some(Drain { began: io.now(), spread, waiting, total, reply: Some(reply) });
        for place in self.session_places() {
            self.end_session(io, place, CloseReason::Drained);
        }
    }

    pub(crate) fn go_on_draining(&mut self, io: &mut ShardIo<'_>) {
        let Some(drain) = &mut self.drain else { return };
        let elapsed = io.now().saturating_duration_since(drain.began);
        let part =
            if drain.spread.is_zero() { 1.0 } else { elapsed.as_secs_f64() / drain.spread.as_secs_f64() };
        let still = (drain.total as f64 * (1.0 - part.min(1.0))) as usize;
        let due = drain.waiting.split_off(still.min(drain.waiting.len()));
        let all_told = drain.waiting.is_empty();
        for id in due {
            self.drain_connection(io, id);
        }
        if all_told
            && io.connections() == 0
            && let Some(reply) = self.drain.as_mut().and_then(|drain| drain.reply.take())
        {
            reply.send(());
        }
    }

    fn drain_connection(&mut self, io: &mut ShardIo<'_>, id: ConnectionId) {
        match io.peer(id).map(|peer| peer.phase) {
            Some(Phase::Channels | Phase::Echo) => {
                self.close(io, id, CloseCode::SERVICE_RESTART, CloseReason::Drained);
            }
            Some(Phase::Silent | Phase::Head) => {
                let body = "the server is shutting down".to_owned();
                self.refuse(io, id, &Rejection { status: 503, body, reason: "draining" });
            }
            Some(Phase::Ending) | None => {}
        }
    }

    pub(crate) fn drain_wake_up(&self) -> Option<Duration> {
        let drain = self.drain.as_ref()?;
        drain.reply.is_some().then_some(STEP)
    }
}

/// Fisher and Yates' shuffle, with a generator that is good enough for spreading load.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed | 1;
    for last in (1..items.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        items.swap(last, ((state >> 33) as usize) % (last + 1));
    }
}
