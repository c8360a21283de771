//! Why agents cannot be made to play a run.

use std::fmt;

use super::bundle::BundleError;
use super::link::LinkError;
use super::protocol::{PROTOCOL, Refusal};
use super::transport::{ConnectError, TlsError};

/// Why agents cannot be made to play a run. Each names the agent, where it is one's fault.
#[derive(Debug)]
pub enum AgentError {
    /// The authority of the agents' certificates.
    Tls(TlsError),
    /// The scenario and its files.
    Bundle(BundleError),
    /// An agent is named twice.
    Twice {
        /// Its address.
        agent: String,
    },
    /// An agent cannot be reached.
    Connect {
        /// Its address.
        agent: String,
        /// Why.
        error: ConnectError,
    },
    /// An agent does not want this controller.
    Refused {
        /// Its address.
        agent: String,
        /// What it said.
        why: WhyRefused,
    },
    /// The connection to an agent is of no use any more.
    Link {
        /// Its address.
        agent: String,
        /// Why.
        error: LinkError,
    },
    /// An agent cannot do what was asked for.
    Failed {
        /// Its address.
        agent: String,
        /// What it said.
        reason: String,
    },
    /// An agent said something that it should not have said then.
    OutOfTurn {
        /// Its address.
        agent: String,
        /// What was waited for.
        expected: &'static str,
    },
    /// A thread cannot be started.
    Thread(std::io::Error),
}

/// Why an agent does not want a controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WhyRefused {
    /// It plays for another controller.
    Busy,
    /// It is of another version.
    Version {
        /// Its version.
        version: String,
        /// The protocol that it speaks.
        protocol: u32,
    },
    /// The token is not the agent's.
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
