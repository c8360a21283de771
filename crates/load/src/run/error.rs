//! Errors of a run as a whole.

use std::fmt;
use std::io;

use crate::agent::AgentError;
use crate::floor::FloorError;
use crate::live::dashboard::ServeError;
use crate::monitor::MonitorError;
use crate::player::PlayError;
use crate::record::FolderError;
use crate::report::ReportError;

/// Why a run could not be carried out. What its users experienced is a result, not an error.
#[derive(Debug)]
pub enum RunError {
    /// The floor was requested but could not be measured.
    Floor(FloorError),
    /// The run's folder.
    Folder(FolderError),
    /// Writing the report.
    Report(ReportError),
    /// A process or endpoint that was to be monitored cannot be.
    Monitor(MonitorError),
    /// A page cannot be served.
    Serve(ServeError),
    /// The users cannot be played.
    Play(PlayError),
    /// The agents cannot play the users.
    Agent(AgentError),
    /// A thread cannot be started.
    Thread(io::Error),
    /// The operating system's random number generator failed.
    Random(getrandom::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Floor(error) => error.fmt(f),
            Self::Folder(error) => error.fmt(f),
            Self::Report(error) => error.fmt(f),
            Self::Monitor(error) => error.fmt(f),
            Self::Serve(error) => error.fmt(f),
            Self::Play(error) => error.fmt(f),
            Self::Agent(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
            Self::Random(error) => write!(f, "cannot get random bytes from the operating system: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

/// Each of these error types maps to exactly one variant.
macro_rules! from {
    ($($error:ty => $variant:ident),* $(,)?) => {
        $(impl From<$error> for RunError {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

from!(
    FloorError => Floor,
    FolderError => Folder,
    ReportError => Report,
    MonitorError => Monitor,
    ServeError => Serve,
    PlayError => Play,
    AgentError => Agent,
);
