//! The errors of starting a gateway, with messages for people.

use crate::limits::BadLimit;
use crate::memory::BudgetTooSmall;
use crate::mount::BadMountPath;
use hub::PatternError;
use std::net::SocketAddr;
use std::{fmt, io};

/// Why a gateway did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// A limit lets nothing through, or cannot be represented.
    Limits(BadLimit),
    /// A mount's path is invalid.
    Path(BadMountPath),
    /// A topic pattern is invalid.
    Pattern(PatternError),
    /// The memory budget has no room for connections.
    MemoryBudget(BudgetTooSmall),
    /// The shards' sockets or threads could not be created; usually an address is in use.
    Engine(engine::StartError),
    /// A listener expects proxies, but none is trusted.
    NoTrustedProxy(SocketAddr),
    /// Listening at a TLS address failed.
    ListenTls(SocketAddr, io::Error),
    /// Listening at the address for other nodes failed.
    ListenForNodes(SocketAddr, io::Error),
    /// The system could not provide random numbers, a thread or a runtime.
    System(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Limits(error) => error.fmt(f),
            StartError::Path(error) => error.fmt(f),
            StartError::Pattern(error) => error.fmt(f),
            StartError::MemoryBudget(error) => error.fmt(f),
            StartError::Engine(error) => error.fmt(f),
            StartError::NoTrustedProxy(address) => {
                write!(
                    f,
                    "the listener {address} expects the PROXY protocol, but no proxy is trusted: configure their \
                     networks"
                )
            }
            StartError::ListenTls(address, error) => write!(f, "cannot listen on {address} for TLS: {error}"),
            StartError::ListenForNodes(address, error) => {
                write!(f, "cannot listen on {address} for other nodes: {error}")
            }
            StartError::System(error) => {
                write!(f, "the system denies a resource that the gateway needs: {error}")
            }
        }
    }
}

impl std::error::Error for StartError {}
