//! The listening addresses from the builder.

use crate::control::TlsListener;
use crate::start_error::StartError;
use engine::SocketBuffers;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

/// An address for HTTP and WebSockets.
#[derive(Clone, Copy)]
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    /// Whether connections begin with a PROXY protocol header.
    pub(crate) announced: bool,
}

/// An address for TLS.
pub(crate) struct ListeningTls {
    pub(crate) listening: Listening,
    pub(crate) config: Arc<rustls::ServerConfig>,
}

/// Binds the listener for other nodes.
pub(crate) fn bind_for_nodes(address: SocketAddr) -> Result<TcpListener, StartError> {
    bind(address, None).map_err(|error| StartError::ListenForNodes(address, error))
}

impl ListeningTls {
    /// Binds the listener.
    pub(crate) fn bind(&self, buffers: Option<SocketBuffers>) -> Result<TlsListener, StartError> {
        let Listening { address, announced } = self.listening;
        let listener = bind(address, buffers).map_err(|error| StartError::ListenTls(address, error))?;
        Ok(TlsListener { listener, config: self.config.clone(), announced })
    }
}

/// Binds a listener. Accepted sockets inherit the limits of its buffers.
fn bind(address: SocketAddr, buffers: Option<SocketBuffers>) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    if let Some(buffers) = buffers {
        buffers.apply(&listener)?;
    }
    listener.set_nonblocking(true)?;
    Ok(listener)
}
