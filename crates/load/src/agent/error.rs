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
            Self::Busy => f.write_str("it is busy with another controller; wait until that has ended"),
            Self::Version { version, protocol } => write!(
                f,
                "it is of version {version} (protocol {protocol}) and this is {} (protocol {PROTOCOL}); install the \
                 same version on both",
                env!("CARGO_PKG_VERSION")
            ),
            Self::Token => f.write_str("the token is not the agent's; give both the same --token"),
        }
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tls(error) => write!(f, "--agent-ca: {error}"),
            Self::Bundle(error) => error.fmt(f),
            Self::Twice { agent } => write!(f, "the agent {agent} is named twice"),
            Self::Connect { agent, error } => write!(f, "agent {agent}: {error}"),
            Self::Refused { agent, why } => write!(f, "agent {agent} refuses: {why}"),
            Self::Link { agent, error } => write!(f, "agent {agent}: {error}"),
            Self::Failed { agent, reason } => write!(f, "agent {agent}: {reason}"),
            Self::OutOfTurn { agent, expected } => {
                write!(
                    f,
                    "agent {agent} said something else than its {expected}; is it an agent of Stampede?"
                )
            }
            Self::Thread(error) => write!(f, "a thread cannot be started: {error}"),
        }
    }
}

impl std::error::Error for AgentError {}
