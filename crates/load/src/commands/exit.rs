//! The exit status of a command.

use std::fmt::Display;
use std::process::{ExitCode, Termination};

/// How a command ended, as the process's exit status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// 0: the command succeeded and all conditions hold.
    Success,
    /// 1: a threshold was missed, or a comparison found a regression.
    Missed,
    /// 2: the command line, a scenario or a file is wrong.
    Usage,
    /// 3: the run is INVALID because the generator was the bottleneck.
    Invalid,
    /// 4: the command failed.
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

/// Why a command failed.
#[derive(Debug)]
pub(super) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    /// The input is wrong.
    pub(super) fn usage(error: impl Display) -> Self {
        Self { exit: Exit::Usage, message: error.to_string() }
    }

    /// The operation failed.
    pub(super) fn failed(error: impl Display) -> Self {
        Self { exit: Exit::Failure, message: error.to_string() }
    }

    /// Prints the message and returns the exit status.
    pub(super) fn tell(self) -> Exit {
        let message = self.message.trim_end();
        // Scenario errors can be several, and carry their own prefix.
        let prefix = if message.starts_with("error: ") { "" } else { "stampede: " };
        eprintln!("{prefix}{message}");
        self.exit
    }
}

/// The result of a command.
pub(super) type Done = Result<Exit, Failure>;
