//! The output of a schedule: who arrives when, what is due next, and why a load cannot be played.

use std::fmt;

use crate::observe::{Nanos, UserId};

/// The arrival of one user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Time of arrival.
    pub at: Nanos,
    /// The user.
    pub user: UserId,
    /// The phase, as an index into [`crate::scenario::plan::Load::phases`].
    pub phase: u16,
    /// The round, from 0.
    pub round: u32,
    /// Set in a closed phase: the user starts again when it has finished, up to this limit.
    pub repeat: Option<Repeat>,
}

/// How long a user of a closed phase continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repeat {
    /// Maximum number of sessions; `None` is unlimited.
    pub iterations: Option<u64>,
    /// No session begins from this time on; `None` is unlimited.
    pub until: Option<Nanos>,
}

/// The next event of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// The next user arrives at this time.
    At(Nanos),
    /// The next phase begins when all users of the run have finished, but not before `not_before`; then all shares must
    /// call [`super::Schedule::proceed`] with the same time.
    Waits {
        /// The phase's own end.
        not_before: Nanos,
    },
    /// No more users arrive; the last phase ends at `at`.
    Done {
        /// End of the last phase.
        at: Nanos,
    },
}

/// Why a load cannot be played.
#[derive(Clone, PartialEq, Debug)]
pub enum ScheduleError {
    /// A rate is negative, infinite or NaN.
    NotARate {
        /// Name of the phase.
        phase: String,
        /// The rate as given.
        rate: f64,
    },
    /// A ramp has no duration.
    RampWithoutDuration {
        /// Name of the phase.
        phase: String,
    },
    /// More phases than a 16-bit index can address.
    TooManyPhases {
        /// The number of phases.
        phases: usize,
    },
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotARate { phase, rate } => {
                write!(
                    f,
                    "phase `{phase}`: the rate is {rate} users per second; it must be a number, 0 or more"
                )
            }
            Self::RampWithoutDuration { phase } => {
                write!(f, "phase `{phase}`: a ramp needs a duration")
            }
            Self::TooManyPhases { phases } => write!(f, "too many phases: {phases}, at most {}", u16::MAX),
        }
    }
}

impl std::error::Error for ScheduleError {}
