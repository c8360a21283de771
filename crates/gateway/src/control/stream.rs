//! The connections that the control plane serves, plain or TLS. A write fails if the peer takes nothing for too long.

use super::timed_stream::TimedStream;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// How much is read at once if the caller provides no buffer.
const READ_BYTES: usize = 4096;

/// A connection with a buffer of what was read but not consumed.
pub(crate) struct ControlStream {
    socket: Socket,
    unread: Vec<u8>,
    taken: usize,
}

pub(crate) enum Socket {
    Plain(TimedStream),
    Tls(Box<TlsStream<TimedStream>>),
}

impl ControlStream {
    /// Wraps a connection, with what a shard has read of it.
    pub(crate) fn plain(stream: TcpStream, unread: Vec<u8>) -> ControlStream {
        ControlStream { socket: Socket::Plain(TimedStream::new(stream)), unread, taken: 0 }
    }

    pub(crate) fn tls(stream: TlsStream<TimedStream>) -> ControlStream {
        ControlStream { socket: Socket::Tls(Box::new(stream)), unread: Vec::new(), taken: 0 }
    }

    /// Returns the socket, and what was read but not consumed.
    pub(crate) fn into_parts(self) -> (Socket, Vec<u8>) {
        let ControlStream { socket, mut unread, taken } = self;
        unread.drain(..taken);
        (socket, unread)
    }

    /// Returns what was read but not consumed.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.unread[self.taken..]
    }

    /// Consumes `count` bytes of the buffer. Its memory is released when it is empty.
    pub(crate) fn take(&mut self, count: usize) {
        self.taken += count;
        if self.taken >= self.unread.len() {
            (self.unread, self.taken) = (Vec::new(), 0);
        }
    }

    /// Reads more into the buffer and returns how much: 0 at the end of the stream. While there is nothing to read no
    /// buffer is held.
    pub(crate) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut space = [std::mem::MaybeUninit::uninit(); READ_BYTES];
        let mut buffer = ReadBuf::uninit(&mut space);
        ready!(self.socket.poll_read(cx, &mut buffer))?;
        self.unread.drain(..std::mem::take(&mut self.taken));
        self.unread.extend_from_slice(buffer.filled());
        Poll::Ready(Ok(buffer.filled().len()))
    }

    /// Awaits [`poll_fill`](ControlStream::poll_fill).
    pub(crate) async fn fill(&mut self) -> io::Result<usize> {
        std::future::poll_fn(|cx| self.poll_fill(cx)).await
    }
}

impl Socket {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Socket::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Socket::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncRead for ControlStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = self.get_mut();
        let unread = stream.unread();
        if unread.is_empty() {
            return stream.socket.poll_read(cx, buffer);
        }
        let count = unread.len().min(buffer.remaining());
        buffer.put_slice(&unread[..count]);
        stream.take(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ControlStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().socket {
            Socket::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Socket::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().socket {
            Socket::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Socket::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().socket {
            Socket::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Socket::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
