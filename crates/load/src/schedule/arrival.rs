//! What a schedule says: who comes when, what is due next, and why a load cannot be played.

use std::fmt;

use crate::observe::{Nanos, UserId};

/// A user comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When.
    pub at: Nanos,
    /// Who.
    pub user: UserId,
    /// In which phase, as an index into [`crate::scenario::plan::Load::phases`].
    pub phase: u16,
    /// In which round, from 0.
    pub round: u32,
    /// In a closed phase: that the user starts again when it has finished, and until when.
    pub repeat: Option<Repeat>,
}

/// How long a user of a closed phase goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repeat {
    /// So many sessions; `None` is without end.
    pub iterations: Option<u64>,
    /// No session begins from here on; `None` is without end.
    pub until: Option<Nanos>,
}

/// What a schedule has to say next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Somebody comes then.
    At(Nanos),
    /// The next phase begins when all users of the run have finished, and not before this; then
    /// [`super::Schedule::proceed`] is to be called, by all shares with the same moment.
    Waits {
        /// The phase's own end.
        not_before: Nanos,
    },
    /// Nobody comes any more; the last phase is over at this moment.
    Done {
        /// End of the last phase.
        at: Nanos,
    },
}

/// Why a load cannot be played.
#[derive(Clone, PartialEq, Debug)]
pub enum ScheduleError {
    /// A rate is negative, infinite or not a number.
    NotARate {
        /// Name of the phase.
        phase: String,
        /// As given.
        rate: f64,
    },
    /// A ramp needs a time over which it changes.
    RampWithoutDuration {
        /// Name of the phase.
        phase: String,
    },
    /// Phases are numbered by 16 bits.
    TooManyPhases {
        /// How many there are.
        phases: usize,
    },
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotARate { phase, rate } => {
                write!(f, "phase `{phase}`: {rate} users per second; a rate must be a number from 0 up")
            }
            Self::RampWithoutDuration { phase } => {
                write!(f, "phase `{phase}`: a ramp needs a duration over which the rate changes")
            }
            Self::TooManyPhases { phases } => write!(f, "{phases} phases; at most {} are possible", u16::MAX),
        }
    }
}

impl std::error::Error for ScheduleError {}
