//! The two kinds of connections that the control plane serves.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

pub(crate) enum ControlStream {
    /// With what a shard read of it before it came here.
    Plain {
        stream: TcpStream,
        unread: Vec<u8>,
        taken: usize,
    },
    Tls(Box<TlsStream<TcpStream>>),
}

impl ControlStream {
    pub(crate) fn plain(stream: TcpStream, unread: Vec<u8>) -> ControlStream {
        ControlStream::Plain { stream, unread, taken: 0 }
    }
}

impl AsyncRead for ControlStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ControlStream::Plain { unread, taken, .. } if *taken < unread.len() => {
                let rest = &unread[*taken..];
                let count = rest.len().min(buffer.remaining());
                buffer.put_slice(&rest[..count]);
                *taken += count;
                if *taken == unread.len() {
                    (*unread, *taken) = (Vec::new(), 0);
                }
                Poll::Ready(Ok(()))
            }
            ControlStream::Plain { stream, .. } => Pin::new(stream).poll_read(cx, buffer),
            ControlStream::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for ControlStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ControlStream::Plain { stream, .. } => Pin::new(stream).poll_write(cx, bytes),
            ControlStream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ControlStream::Plain { stream, .. } => Pin::new(stream).poll_flush(cx),
            ControlStream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ControlStream::Plain { stream, .. } => Pin::new(stream).poll_shutdown(cx),
            ControlStream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
