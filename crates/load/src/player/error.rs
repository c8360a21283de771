//! Why a run could not begin.

use std::fmt;
use std::io;
use std::path::PathBuf;

use engine::StartError;

/// Why a run could not begin. Nothing was sent to any target.
#[derive(Debug)]
pub enum PlayError {
    /// A target's name could not be resolved, or has no address of a family that the sources have.
    Resolve {
        /// The target's host.
        host: String,
        /// What the resolver said.
        error: io::Error,
    },
    /// A target's host cannot be the name of a TLS server.
    ServerName {
        /// The target's host.
        host: String,
    },
    /// The file with further authorities cannot be read, or holds no certificate.
    Authorities {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        text: String,
    },
    /// TLS cannot be set up.
    Tls(rustls::Error),
    /// A session nests loops and transactions too deep.
    TooDeep {
        /// The session's name.
        session: String,
        /// How deep it may be.
        depth_max: usize,
    },
    /// The plan wants more users than there are numbers for them.
    TooManyUsers {
        /// How many it wants.
        users: u64,
    },
    /// The share of this machine names a machine that is not there, or has no weight.
    Share,
    /// The engine could not be started.
    Engine(StartError),
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayError::Resolve { host, error } => write!(f, "cannot resolve the target {host}: {error}"),
            PlayError::ServerName { host } => write!(f, "{host} cannot be the name of a TLS server"),
            PlayError::Authorities { path, text } => {
                write!(f, "cannot read authorities from {}: {text}", path.display())
            }
            PlayError::Tls(error) => write!(f, "cannot set up TLS: {error}"),
            PlayError::TooDeep { session, depth_max } => {
                write!(f, "session {session} nests loops and transactions more than {depth_max} deep")
            }
            PlayError::TooManyUsers { users } => {
                write!(f, "{users} users are wanted, and there are numbers for {} only", u32::MAX)
            }
            PlayError::Share => f.write_str("the share of this machine names none of the run's machines"),
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
            PlayError::ServerName { .. }
            | PlayError::Authorities { .. }
            | PlayError::TooDeep { .. }
            | PlayError::TooManyUsers { .. }
            | PlayError::Share => None,
        }
    }
}

impl From<StartError> for PlayError {
    fn from(error: StartError) -> Self {
        Self::Engine(error)
    }
}
