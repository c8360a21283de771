//! Why a run could not be done.

use std::fmt;
use std::io;

use crate::agent::AgentError;
use crate::floor::FloorError;
use crate::live::dashboard::ServeError;
use crate::monitor::MonitorError;
use crate::player::PlayError;
use crate::record::FolderError;
use crate::report::ReportError;

/// Why a run could not be done. What its users met with is no error but a result.
#[derive(Debug)]
pub enum RunError {
    /// The floor was asked for and is not known.
    Floor(FloorError),
    /// A file of the run's folder.
    Folder(FolderError),
    /// The report.
    Report(ReportError),
    /// Something to watch cannot be watched.
    Monitor(MonitorError),
    /// A page cannot be served.
    Serve(ServeError),
    /// The users cannot be played.
    Play(PlayError),
    /// The agents cannot play them.
    Agent(AgentError),
    /// A thread cannot be started.
    Thread(io::Error),
    /// The machine has no randomness.
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
            Self::Thread(error) => write!(f, "a thread cannot be started: {error}"),
            Self::Random(error) => write!(f, "the machine gives no random bytes: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

/// Each of these errors has one meaning here.
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
