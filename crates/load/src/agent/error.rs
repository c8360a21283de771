//! Why a run cannot be played by agents.

use std::fmt;

use super::bundle::BundleError;
use super::link::LinkError;
use super::protocol::{PROTOCOL, Refusal};
use super::transport::{ConnectError, TlsError};

/// Why a run cannot be played by agents. Where one agent is at fault, the error names it.
#[derive(Debug)]
pub enum AgentError {
    /// The certificate authority file for the agents.
    Tls(TlsError),
    /// The scenario and its files.
    Bundle(BundleError),
    /// An agent is listed twice.
    Twice {
        /// Its address.
        agent: String,
    },
    /// An agent cannot be reached.
    Connect {
        /// Its address.
        agent: String,
        /// The cause.
        error: ConnectError,
    },
    /// An agent refuses this controller.
    Refused {
        /// Its address.
        agent: String,
        /// The reason it gave.
        why: WhyRefused,
    },
    /// The connection to an agent has failed.
    Link {
        /// Its address.
        agent: String,
        /// The cause.
        error: LinkError,
    },
    /// An agent cannot do what was requested.
    Failed {
        /// Its address.
        agent: String,
        /// The reason it gave.
        reason: String,
    },
    /// An agent sent a message that is not valid at that point.
    OutOfTurn {
        /// Its address.
        agent: String,
        /// The message that was expected.
        expected: &'static str,
    },
    /// A thread cannot be started.
    Thread(std::io::Error),
}

/// Why an agent refuses a controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WhyRefused {
    /// It is serving another controller.
    Busy,
    /// It has a different version.
    Version {
        /// Its version.
        version: String,
        /// Its protocol version.
        protocol: u32,
    },
    /// The token does not match the agent's.
    Token,
}

impl From<Refusal> for WhyRefused {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Busy => Self::Busy,
            Refusal::Version { version, protocol } => Self::Version { version, protocol },
            Refusal::Token => Self::Token,
        }
    }
}

impl fmt::Display for WhyRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("it is serving another controller; wait until that run has ended"),
            Self::Version { version, protocol } => write!(
                f,
                "its version is {version} (protocol {protocol}), the controller's is {} (protocol \
                 {PROTOCOL}); install the same version on both",
                env!("CARGO_PKG_VERSION")
            ),
            Self::Token => {
                f.write_str("the tokens differ; give the agent and the controller the same --token")
            }
        }
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tls(error) => write!(f, "--agent-ca: {error}"),
            Self::Bundle(error) => error.fmt(f),
            Self::Twice { agent } => write!(f, "agent {agent} is listed twice"),
            Self::Connect { agent, error } => write!(f, "agent {agent}: {error}"),
            Self::Refused { agent, why } => write!(f, "agent {agent} refused the connection: {why}"),
            Self::Link { agent, error } => write!(f, "agent {agent}: {error}"),
            Self::Failed { agent, reason } => write!(f, "agent {agent}: {reason}"),
            Self::OutOfTurn { agent, expected } => {
                write!(
                    f,
                    "unexpected answer from agent {agent} instead of its {expected}; is it a Stampede agent?"
                )
            }
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
        }
    }
}

impl std::error::Error for AgentError {}
