//! The addresses that a gateway listens on, as its builder was told.

use crate::control::TlsListener;
use crate::start_error::StartError;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

/// One address.
#[derive(Clone, Copy)]
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    /// Whether connections begin with a PROXY protocol header.
    pub(crate) announced: bool,
}

/// One address for TLS.
pub(crate) struct ListeningTls {
    pub(crate) listening: Listening,
    pub(crate) config: Arc<rustls::ServerConfig>,
}

/// Listens for other nodes.
pub(crate) fn bind_for_nodes(address: SocketAddr) -> Result<TcpListener, StartError> {
    bind(address).map_err(|error| StartError::ListenForNodes(address, error))
}

impl ListeningTls {
    /// Listens.
    pub(crate) fn bind(&self) -> Result<TlsListener, StartError> {
        let Listening { address, announced } = self.listening;
        let listener = bind(address).map_err(|error| StartError::ListenTls(address, error))?;
        Ok(TlsListener { listener, config: self.config.clone(), announced })
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
