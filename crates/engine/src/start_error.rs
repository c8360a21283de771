//! Why the engine did not start.

use std::net::SocketAddr;
use std::{error, fmt, io};

/// Why the engine did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// Another socket already listens on this address.
    AddressInUse(SocketAddr),
    /// This address cannot be listened on, for another reason.
    Listen(SocketAddr, io::Error),
    /// There must be between 1 and 65,535 shards.
    ShardCount(usize),
    /// The read buffer must hold between 32 KiB and 64 KiB.
    ReadBuffer(usize),
    /// The kernel did not provide the descriptors that the shards need.
    Resources(io::Error),
    /// A thread could not be spawned.
    Thread(io::Error),
    /// A shard could not leave the process's descriptor table; private tables need Linux 5.9 and the right to
    /// `unshare`.
    Table(io::Error),
}

impl StartError {
    pub(crate) fn listen(address: SocketAddr, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AddrInUse => Self::AddressInUse(address),
            _ => Self::Listen(address, error),
        }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddressInUse(address) => {
                write!(formatter, "address {address} is already in use by another server")
            }
            Self::Listen(address, error) => write!(formatter, "cannot listen on {address}: {error}"),
            Self::ShardCount(count) => {
                write!(formatter, "invalid number of shards {count}: choose 1 to 65535")
            }
            Self::ReadBuffer(bytes) => {
                write!(formatter, "invalid read buffer size of {bytes} bytes: choose 32768 to 65536")
            }
            Self::Resources(error) => write!(formatter, "cannot create the shards' descriptors: {error}"),
            Self::Thread(error) => write!(formatter, "cannot spawn a thread: {error}"),
            Self::Table(error) => write!(formatter, "cannot create a private descriptor table: {error}"),
        }
    }
}

impl error::Error for StartError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Listen(_, error) | Self::Resources(error) | Self::Thread(error) | Self::Table(error) => {
                Some(error)
            }
            Self::AddressInUse(_) | Self::ShardCount(_) | Self::ReadBuffer(_) => None,
        }
    }
}
