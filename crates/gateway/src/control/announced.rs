//! The PROXY protocol header of a connection that the control plane accepts.

use crate::handshake::{PROXY_HEADER_BYTES_MAX, parse_proxy_header, proxy_header_bytes};
use crate::proxies::Proxies;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// Size of the part that contains the header's length; also the minimum size of a header.
const FIXED_BYTES: usize = 16;

/// Reads exactly the header, and returns the client's address: the proxy's own if the header names no client. Fails if
/// the proxy is not trusted, or sends something else.
pub(super) async fn client(
    proxies: &Proxies,
    stream: &TcpStream,
    proxy: SocketAddr,
) -> io::Result<SocketAddr> {
    if !proxies.trusts(proxy.ip()) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut header = [0; PROXY_HEADER_BYTES_MAX];
    read_exactly(stream, &mut header[..FIXED_BYTES]).await?;
    let length = proxy_header_bytes(&header[..FIXED_BYTES]).map_err(invalid)?.unwrap_or(FIXED_BYTES);
    read_exactly(stream, &mut header[FIXED_BYTES..length]).await?;
    let header = parse_proxy_header(&header[..length]).map_err(invalid)?;
    Ok(header.and_then(|header| header.client).unwrap_or(proxy))
}

fn invalid(error: crate::handshake::BadProxyHeader) -> io::Error {
    tracing::debug!(%error, "a proxy's connection was closed: invalid PROXY protocol header");
    io::ErrorKind::InvalidData.into()
}

async fn read_exactly(stream: &TcpStream, mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        stream.readable().await?;
        match stream.try_read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => buffer = &mut buffer[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
