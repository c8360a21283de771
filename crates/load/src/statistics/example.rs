//! Observations for tests.

use crate::observe::{Kind, NO_LABEL, NO_ROOM, Observation, Outcome};

/// An observation in which nothing is set.
pub(crate) fn observation() -> Observation {
    Observation {
        at: 0,
        intended: 0,
        began: 0,
        message: 0,
        user: 0,
        room: NO_ROOM,
        bytes: 0,
        count: 0,
        label: NO_LABEL,
        source: 0,
        code: 0,
        kind: Kind::Arrival,
        outcome: Outcome::Ok,
    }
}
