//! Why a run could not begin.

use std::fmt;
use std::io;
use std::path::PathBuf;

use engine::StartError;

use crate::schedule::{ScheduleError, ShareError};

/// Why a run could not begin. Nothing was sent to any target.
#[derive(Debug)]
pub enum PlayError {
    /// A target's name could not be resolved, or has no address in the address family of the sources.
    Resolve {
        /// The target's host.
        host: String,
        /// The resolver's error.
        error: io::Error,
    },
    /// A target's host is not a valid TLS server name.
    ServerName {
        /// The target's host.
        host: String,
    },
    /// The file with additional certificate authorities cannot be read, or contains no certificate.
    Authorities {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        text: String,
    },
    /// TLS cannot be set up.
    Tls(rustls::Error),
    /// A session nests loops and transactions too deeply.
    TooDeep {
        /// The session's name.
        session: String,
        /// The maximum depth.
        depth_max: usize,
    },
    /// The load cannot be played.
    Schedule(ScheduleError),
    /// The share of this machine refers to a machine that does not exist, or has invalid weights.
    Share(ShareError),
    /// The engine could not be started.
    Engine(StartError),
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayError::Resolve { host, error } => write!(f, "cannot resolve the target {host}: {error}"),
            PlayError::ServerName { host } => write!(f, "{host} is not a valid TLS server name"),
            PlayError::Authorities { path, text } => {
                write!(f, "cannot read certificate authorities from {}: {text}", path.display())
            }
            PlayError::Tls(error) => write!(f, "cannot set up TLS: {error}"),
            PlayError::TooDeep { session, depth_max } => {
                write!(f, "session {session} nests loops and transactions more than {depth_max} levels deep")
            }
            PlayError::Schedule(error) => write!(f, "cannot play the load: {error}"),
            PlayError::Share(error) => write!(f, "cannot compute this machine's share of the users: {error}"),
            PlayError::Engine(error) => write!(f, "cannot start: {error}"),
        }
    }
}

impl std::error::Error for PlayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PlayError::Resolve { error, .. } => Some(error),
            PlayError::Tls(error) => Some(error),
            PlayError::Engine(error) => Some(error),
            PlayError::Schedule(error) => Some(error),
            PlayError::Share(error) => Some(error),
            PlayError::ServerName { .. } | PlayError::Authorities { .. } | PlayError::TooDeep { .. } => None,
        }
    }
}

impl From<StartError> for PlayError {
    fn from(error: StartError) -> Self {
        Self::Engine(error)
    }
}
