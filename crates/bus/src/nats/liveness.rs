//! Node liveness: each node sends beats, and counts as live until it has been silent for the duration of a lease.
//!
//! A node's session begins with a beat of its own. A node that receives a later beat of a session that it does not
//! know, or that it has given up, must not simply accept it, because it does not know that node's people. Instead it
//! announces that the session is over, and the other node begins a new one, in which it sends all of its people to
//! everybody.
//!
//! Each beat contains the address where its node listens for the others.

use crate::announced;
use crate::frame::Reader;
use crate::port::NodeAddress;
use crate::session::{SessionContext, Standing};
use crate::times::Times;
use hub::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Messages on the subject that all nodes listen to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    Beat(Beat),
    /// A node has given up this session.
    Over {
        node: NodeId,
        session: u64,
    },
}

/// A sign of life of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Beat {
    pub(crate) node: NodeId,
    pub(crate) session: u64,
    /// Counts from 0 in each session.
    pub(crate) number: u64,
    /// The address where it listens for the others; the same in all beats of a session.
    pub(crate) listening: Option<NodeAddress>,
}

/// How a node classifies a beat that it receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BeatKind {
    Known,
    /// A new session: that node may not know this one, either.
    New,
    /// A session that was given up: it has to begin anew.
    Over,
}

/// Outlives sessions: nodes that were live when the server went away get time to come back.
#[derive(Default)]
pub(crate) struct Liveness(Mutex<State>);

#[derive(Default)]
struct State {
    known: BTreeMap<NodeId, Neighbour>,
    /// From when on this session has received a beat of every live node.
    settled: Option<Instant>,
    told: Option<Standing>,
}

struct Neighbour {
    session: u64,
    heard: Instant,
    listening: Option<NodeAddress>,
}

/// Returns how long a session listens before it knows which nodes are live.
pub(crate) fn listening_time(times: Times) -> Duration {
    times.lease / 5
}

/// Returns how long a node that does not answer may have been silent before it is given up.
pub(crate) fn patience(times: Times) -> Duration {
    times.lease * 3 / 7
}

impl Liveness {
    /// Begins a session of this node: known nodes count as heard now.
    pub(crate) fn begin(&self, settled: Instant, now: Instant) {
        let mut state = self.state();
        state.known.values_mut().for_each(|neighbour| neighbour.heard = now);
        (state.settled, state.told) = (Some(settled), None);
    }

    pub(crate) fn hear(&self, beat: Beat, now: Instant) -> BeatKind {
        let Beat { node, session, number, listening } = beat;
        let mut state = self.state();
        let is_settled = state.settled.is_some_and(|settled| now >= settled);
        match state.known.get_mut(&node) {
            Some(neighbour) if session == neighbour.session => {
                neighbour.heard = now;
                BeatKind::Known
            }
            // Said before the session that is known.
            Some(neighbour) if session < neighbour.session => BeatKind::Known,
            Some(_) | None if number > 0 && is_settled => {
                state.known.remove(&node);
                BeatKind::Over
            }
            Some(_) | None => {
                state.known.insert(node, Neighbour { session, heard: now, listening });
                BeatKind::New
            }
        }
    }

    /// Returns the other live nodes.
    pub(crate) fn others(&self) -> BTreeSet<NodeId> {
        self.state().known.keys().copied().collect()
    }

    /// Gives these nodes up if all of them have been silent for at least `patience`. Returns whether it did.
    pub(crate) fn give_up(&self, missing: &BTreeSet<NodeId>, patience: Duration, now: Instant) -> bool {
        let mut state = self.state();
        let is_silent = |node| {
            let neighbour = state.known.get(node);
            neighbour.is_none_or(|neighbour| now.duration_since(neighbour.heard) >= patience)
        };
        let are_silent = missing.iter().all(is_silent);
        if are_silent {
            state.known.retain(|node, _| !missing.contains(node));
        }
        are_silent
    }

    /// Removes nodes that were silent for too long. Reports the live nodes, including this one with the address where
    /// it listens, if they have changed and all of them could be heard.
    pub(crate) fn tell(&self, context: &SessionContext, own: Option<&NodeAddress>, now: Instant) {
        let mut state = self.state();
        if state.settled.is_none_or(|settled| now < settled) {
            return;
        }
        state.known.retain(|_, neighbour| now.duration_since(neighbour.heard) < context.times.lease);
        let others = state.known.iter().map(|(node, neighbour)| (*node, neighbour.listening.clone()));
        let live: Standing = others.chain([(context.node, own.cloned())]).collect();
        if state.told.as_ref() != Some(&live) {
            context.tell_standing(&live);
            state.told = Some(live);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const BEAT: u8 = b'b';
const OVER: u8 = b'o';

impl Said {
    pub(crate) fn write(&self) -> Vec<u8> {
        let (kind, numbers, listening) = match self {
            Said::Beat(Beat { node, session, number, listening }) => {
                (BEAT, vec![node.0, *session, *number], listening.as_ref())
            }
            Said::Over { node, session } => (OVER, vec![node.0, *session], None),
        };
        let mut bytes = vec![kind];
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_be_bytes()));
        bytes.extend(listening.map(announced::write).unwrap_or_default().into_bytes());
        bytes
    }

    /// Returns `None` for a message that this version does not understand.
    pub(crate) fn read(bytes: &[u8]) -> Option<Said> {
        let mut reader = Reader(bytes);
        let kind = reader.byte()?;
        let (node, session) = (reader.node()?, reader.number()?);
        match kind {
            BEAT => {
                let number = reader.number()?;
                let listening = announced::read(std::str::from_utf8(reader.0).ok()?);
                Some(Said::Beat(Beat { node, session, number, listening }))
            }
            OVER => Some(Said::Over { node, session }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(1);

    fn beat(session: u64, number: u64) -> Beat {
        Beat { node: A, session, number, listening: None }
    }

    #[test]
    fn who_was_given_up_comes_back_only_with_another_session() {
        let (neighbours, start) = (Liveness::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        neighbours.begin(after(1), start);
        assert_eq!(neighbours.hear(beat(1, 40), start), BeatKind::New, "as long as it listens");
        assert_eq!(neighbours.hear(beat(1, 41), after(2)), BeatKind::Known);
        let missing = BTreeSet::from([A]);
        assert!(!neighbours.give_up(&missing, Duration::from_secs(3), after(4)));
        assert!(neighbours.give_up(&missing, Duration::from_secs(3), after(5)));
        assert_eq!(neighbours.others(), BTreeSet::new());
        assert_eq!(neighbours.hear(beat(1, 42), after(6)), BeatKind::Over);
        assert_eq!(neighbours.hear(beat(2, 0), after(6)), BeatKind::New);
        assert_eq!(neighbours.hear(beat(1, 43), after(6)), BeatKind::Known, "an old word changes nothing");
        assert_eq!(neighbours.others(), missing);
    }

    #[test]
    fn who_lived_when_the_server_went_away_is_waited_for() {
        let (neighbours, start) = (Liveness::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        neighbours.begin(start, start);
        neighbours.hear(beat(1, 0), start);
        neighbours.begin(after(101), after(100));
        assert!(!neighbours.give_up(&BTreeSet::from([A]), Duration::from_secs(3), after(102)));
        assert_eq!(neighbours.hear(beat(2, 0), after(102)), BeatKind::New);
    }

    #[test]
    fn what_is_said_is_read_as_it_was_written() {
        let address = "10.0.0.11:4002".parse().expect("an address");
        let listening = Some(NodeAddress { address, secret: "s3cret".into() });
        let beats = [beat(2, 3), Beat { listening, ..beat(2, 3) }].map(Said::Beat);
        for said in beats.into_iter().chain([Said::Over { node: A, session: 2 }]) {
            assert_eq!(Said::read(&said.write()), Some(said));
        }
        assert_eq!((Said::read(b""), Said::read(b"b123"), Said::read(&[b'x'; 30])), (None, None, None));
    }
}
