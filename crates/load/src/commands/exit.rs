//! How a command ends.

use std::fmt::Display;
use std::process::{ExitCode, Termination};

/// How a command ended, as the process's exit status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// 0: it was done, and what had to hold holds.
    Success,
    /// 1: a threshold was missed, or a comparison found a regression.
    Missed,
    /// 2: the command line, a scenario or a file is wrong.
    Usage,
    /// 3: the run is INVALID, since the generator was the limit.
    Invalid,
    /// 4: it could not be done.
    Failure,
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Success => 0,
            Self::Missed => 1,
            Self::Usage => 2,
            Self::Invalid => 3,
            Self::Failure => 4,
        })
    }
}

/// Why a command was not done.
#[derive(Debug)]
pub(super) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    /// What was given is wrong.
    pub(super) fn usage(error: impl Display) -> Self {
        Self { exit: Exit::Usage, message: error.to_string() }
    }

    /// It could not be done.
    pub(super) fn failed(error: impl Display) -> Self {
        Self { exit: Exit::Failure, message: error.to_string() }
    }

    /// Says why, and how the process ends.
    pub(super) fn tell(self) -> Exit {
        let message = self.message.trim_end();
        // A scenario's faults are several and say so themselves.
        let prefix = if message.starts_with("error: ") { "" } else { "stampede: " };
        eprintln!("{prefix}{message}");
        self.exit
    }
}

/// What each command comes to.
pub(super) type Done = Result<Exit, Failure>;
