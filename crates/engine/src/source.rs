//! The sources of readiness events, and their tokens.

use mio::Token;

use crate::driver::{ConnectionId, ListenerIndex};

/// A source of readiness. Its token has the slot in the low half and the generation in the high half, so that an event
/// for a connection that ended earlier in the same batch refers to nothing. No connection has the last slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    Connection(ConnectionId),
    Listener(ListenerIndex),
    /// A refused connection that waits for its answer, by its ticket.
    TurnedAway(u16),
    Bell,
    Link,
    Timer,
}

const NOT_A_SLOT: u32 = u32::MAX;
/// The first value above the listeners' indices.
const TURNED_AWAY: u32 = 1 << 16;
const BELL: u32 = u32::MAX;
const LINK: u32 = u32::MAX - 1;
const TIMER: u32 = u32::MAX - 2;

const _: () = assert!(usize::BITS == 64, "a token holds a slot and a generation");

impl Source {
    pub(crate) fn token(self) -> Token {
        let (slot, above) = match self {
            Self::Connection(id) => (id.slot, id.generation),
            Self::Listener(listener) => (NOT_A_SLOT, u32::from(listener.0)),
            Self::TurnedAway(ticket) => (NOT_A_SLOT, TURNED_AWAY | u32::from(ticket)),
            Self::Bell => (NOT_A_SLOT, BELL),
            Self::Link => (NOT_A_SLOT, LINK),
            Self::Timer => (NOT_A_SLOT, TIMER),
        };
        Token((above as usize) << 32 | slot as usize)
    }

    pub(crate) fn from_token(token: Token) -> Self {
        let slot = token.0 as u32;
        let above = (token.0 >> 32) as u32;
        match (slot, above) {
            (NOT_A_SLOT, BELL) => Self::Bell,
            (NOT_A_SLOT, LINK) => Self::Link,
            (NOT_A_SLOT, TIMER) => Self::Timer,
            (NOT_A_SLOT, ticket) if ticket >= TURNED_AWAY => Self::TurnedAway(ticket as u16),
            (NOT_A_SLOT, listener) => Self::Listener(ListenerIndex(listener as u16)),
            (slot, generation) => Self::Connection(ConnectionId { slot, generation }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gives_back_its_source() {
        let last = ConnectionId { slot: u32::MAX - 1, generation: u32::MAX };
        let first = ConnectionId { slot: 0, generation: 0 };
        for source in [
            Source::Connection(first),
            Source::Connection(last),
            Source::Listener(ListenerIndex(0)),
            Source::Listener(ListenerIndex(u16::MAX)),
            Source::TurnedAway(0),
            Source::TurnedAway(u16::MAX),
            Source::Bell,
            Source::Link,
            Source::Timer,
        ] {
            assert_eq!(Source::from_token(source.token()), source);
        }
    }
}
